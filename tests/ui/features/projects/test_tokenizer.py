"""Another tokenizer is chosen in the window: what the status bar says, and what is counted anew."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from lorestudio.llm.tokenizers import read_tokenizer
from lorestudio.studio.project.project import open_project
from lorestudio.ui.widgets.picker import Picker
from tests.ui.conftest import settle
from tests.ui.vaults import write_vault

if TYPE_CHECKING:
    from collections.abc import Callable

    from lorestudio.ui.shell.main_window import MainWindow

RANKS = Path(__file__).parents[3] / "cases" / "fixtures" / "tiny.tiktoken"


def picked(window: MainWindow, letters: str) -> None:
    """Press the button in the status bar, type, and press Enter."""
    QTest.mouseClick(window.status.basis, Qt.MouseButton.LeftButton)
    settle(window)
    [picker] = [each for each in QApplication.topLevelWidgets() if isinstance(each, Picker) and each.isVisible()]
    QTest.keyClicks(picker.field, letters)
    QTest.keyClick(picker.field, Qt.Key.Key_Return)
    settle(window)


@pytest.mark.always
def test_a_tokenizers_file_counts_from_the_status_bar_on(
    make_window: Callable[..., MainWindow], tmp_path: Path
) -> None:
    window = make_window(open_project([write_vault(tmp_path / "vault")]))
    status, session = window.status, window.session
    assert status.basis.text() == "≈ by script"
    assert "DeepLore 2.0.2" in status.basis.toolTip()
    session.choices.keep_in(window.settings)
    session.parts.count_with(str(RANKS))
    settle(window)
    assert status.basis.text() == "tiny (plain)"
    assert session.project is not None
    count = read_tokenizer(RANKS).tokens
    assert [each.tokens for each in session.project.index.entries] == [
        count(each.content) for each in session.project.index.entries
    ]
    assert session.choices.tokenizer(session.project.places) == str(RANKS)
    picked(window, "estimate by")
    assert status.basis.text() == "≈ by script"
    assert session.choices.tokenizer(session.project.places) == "estimate"
