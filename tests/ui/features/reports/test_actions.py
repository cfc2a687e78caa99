"""Reports in the window: when there is something to copy and save, and where the dialog writes it."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QDialogButtonBox, QFileDialog

from lorestudio.ui.features.reports import actions
from lorestudio.ui.features.reports.dialog import PreviewDialog, ReportDialog, ScenarioDialog
from tests.ui.conftest import drain, settle
from tests.ui.worlds import make_project

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from lorestudio.ui.shell.main_window import MainWindow

ACTIONS = ("copy.text", "copy.redacted", "report.save", "report.redacted", "scenario.save")


@pytest.fixture
def window(share_window: Callable[..., MainWindow]) -> MainWindow:
    def prepare(window: MainWindow) -> None:
        window.chat.choose(5)
        settle(window)

    return share_window(lambda folder: make_project(folder / "vault"), prepare=prepare)


def opened(window: MainWindow) -> PreviewDialog:
    """The dialog that is in front, once it has made what it shows."""
    settle(window)
    (dialog,) = [each for each in window.findChildren(PreviewDialog) if each.isVisible()]
    return dialog


def test_only_of_a_run_there_is_something(window: MainWindow) -> None:
    def can() -> list[bool]:
        window.context.update_actions()
        return [window.commands.actions[name].isEnabled() for name in ACTIONS]

    assert can() == [True] * 5
    window.selection.choose_message(None, None)
    assert can() == [False] * 5
    before = QGuiApplication.clipboard().text()
    window.features.reports.copy_text()
    window.features.reports.copy_redacted()
    assert window.features.reports.save_report() is None
    settle(window)
    assert QGuiApplication.clipboard().text() == before


def test_what_is_copied_is_said(window: MainWindow) -> None:
    window.run("copy.text")
    assert window.status.currentMessage() == "The run was copied as text."
    assert "Skarn" in QGuiApplication.clipboard().text()
    window.run("copy.redacted")
    settle(window)
    assert window.status.currentMessage().startswith("A redacted report was copied: ")
    copied = QGuiApplication.clipboard().text()
    assert copied.startswith("# ")
    assert "Skarn" not in copied


@pytest.mark.parametrize(("action", "redacted"), [("report.save", False), ("report.redacted", True)])
def test_a_report_of_the_reply_or_of_the_chat(window: MainWindow, action: str, redacted: bool) -> None:
    window.run(action)
    dialog = opened(window)
    assert isinstance(dialog, ReportDialog)
    assert (dialog.redacted.isChecked(), dialog.scope.currentText()) == (redacted, "This reply")
    dialog.format.setCurrentIndex(dialog.format.findText("Plain text"))
    settle(window)
    one = dialog.text.toPlainText()
    dialog.scope.setCurrentIndex(1)
    settle(window)
    whole = dialog.text.toPlainText()
    assert len(one) < len(whole)
    assert [("Skarn" in text) for text in (one, whole)] == [not redacted] * 2
    QTest.keyClick(dialog, Qt.Key.Key_Escape)
    assert not dialog.isVisible()


def test_the_buttons_save_copy_and_cancel(window: MainWindow, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    window.run("report.save")
    dialog = opened(window)
    assert [each.text() for each in dialog.buttons.buttons() if each.isVisible()] == ["Save…", "Cancel", "Copy"]
    assert dialog.buttons.buttonRole(dialog.save_button) is QDialogButtonBox.ButtonRole.AcceptRole
    assert dialog.save_button.isDefault()
    offered: list[str] = []

    def choose(asked: QFileDialog) -> None:
        offered.append(asked.selectedFiles()[0].rpartition("/")[2])
        assert asked.defaultSuffix() == "html"
        asked.fileSelected.emit(str(tmp_path / "page.html"))
        asked.deleteLater()

    monkeypatch.setattr(QFileDialog, "open", choose)
    made = dialog.made.data
    QTest.keyClick(dialog.focusWidget(), Qt.Key.Key_Return)
    settle(window)
    assert offered == ["vault 5.html"]
    assert (tmp_path / "page.html").read_bytes() == made
    assert window.status.currentMessage() == "page.html was saved."
    assert not [each for each in window.findChildren(PreviewDialog) if each.isVisible()]


def test_a_scenario_needs_a_run_with_its_inputs(window: MainWindow) -> None:
    """These runs were made by hand: there is nothing to decide again."""
    window.run("scenario.save")
    dialog = opened(window)
    assert isinstance(dialog, ScenarioDialog)
    assert f"{dialog.windowTitle()}…" == window.commands.table["scenario.save"].title
    assert dialog.remark.text() == "Reply #2 was made by hand."
    assert not dialog.save_button.isEnabled()
    assert dialog.file_name() == "vault 5.json"
    dialog.reject()
    drain()


def test_a_scenario_that_decides_otherwise_says_in_which_generations(
    window: MainWindow, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = SimpleNamespace(scenario=None, remarks=("A note was left out.",), differing=(0, 2))
    monkeypatch.setattr(actions, "export_turn", lambda _runs, _generation: made)
    monkeypatch.setattr(actions, "scenario_bytes", lambda _scenario: b"{}")
    window.run("scenario.save")
    dialog = opened(window)
    told = "A note was left out. Run once more, 2 generations decided otherwise (1, 3): this is a fault."
    assert dialog.remark.text().endswith(told)
    dialog.reject()
    drain()
