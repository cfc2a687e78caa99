"""A window that has all to show, and its dialogs one after the other, for tests that walk through everything."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication, QDialog, QFileDialog

from lorestudio.studio.project.project import demo_project
from lorestudio.studio.replay.simulator import Simulator
from lorestudio.ui.shell.main_window import MainWindow
from tests.ui.conftest import drain, settle


@pytest.fixture
def studio(make_window: Callable[..., MainWindow], tmp_path: Path) -> MainWindow:
    """The demo, replayed, with an entry of a reply."""
    window = make_window(demo_project(tmp_path / "demo"), make_simulator=Simulator)
    settle(window)
    generation = window.session.generations[-4]
    window.context.selection.choose_message(generation.message, generation)
    window.context.selection.choose_entry(6)
    settle(window)
    return window


def dialogs(window: MainWindow) -> Iterator[tuple[str, QDialog]]:
    """Each dialog that an action opens, but Qt's own, with the action; it is closed afterwards, and must be gone."""
    for name, action in window.commands.table.items():
        if not action.title.endswith("…") or not window.commands.actions[name].isEnabled():
            continue
        window.run(name)
        settle(window)
        for dialog in QApplication.topLevelWidgets():
            if isinstance(dialog, QDialog) and dialog.isVisible():
                if not isinstance(dialog, QFileDialog):
                    yield name, dialog
                dialog.close()
        drain()
        assert window.findChildren(QDialog) == [], name  # what is closed does not stay behind
