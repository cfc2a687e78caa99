"""What is said where a system has nothing to choose from yet, and the doors to where it is made."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QPushButton, QWidget
from pytestqt.qtbot import QtBot

from lorestudio.domain.records import replace
from lorestudio.settings.facts import FactsSettings
from lorestudio.studio.replay.simulator import Simulator
from lorestudio.trace.summary import SummaryPiece
from lorestudio.ui.features.trace.summary import SummaryLine
from lorestudio.ui.shell.main_window import MainWindow
from lorestudio.ui.shell.theme import Theme
from tests.ui.worlds import SKARN, make_project


@pytest.mark.always
def test_a_run_without_memories_leads_to_the_memories(
    make_window: Callable[..., MainWindow], tmp_path: Path, qtbot: QtBot
) -> None:
    project = replace(make_project(tmp_path / "vault"), chat_path=tmp_path / "Tale.jsonl")
    window = make_window(project, make_simulator=Simulator)
    window.session.replays.configure({"facts": FactsSettings(store=str(tmp_path / "none.sqlite"))})
    window.run("system.facts")
    qtbot.waitUntil(lambda: not window.session.busy and window.session.jobs.idle and bool(window.session.runs.traces))
    window.show_pane("trace")
    QApplication.processEvents()
    summary = window.trace.summary
    (remark,) = summary.notes
    assert "Have facts drawn out of it first" in remark.text
    action = next(action for action, title in remark.actions if title == "Open Memories")
    assert f"do:{action}" in summary.text()
    summary.linkActivated.emit(f"do:{action}")
    assert window.features.memories.pane.isVisibleTo(window)
    window.run("system.deeplore")
    qtbot.waitUntil(lambda: not window.session.busy and window.session.jobs.idle)
    QApplication.processEvents()
    assert not summary.notes


def test_shift_tab_leaves_a_sentence_that_begins_with_a_link(theme: Theme, qtbot: QtBot) -> None:
    page = QWidget()
    qtbot.addWidget(page)
    before, line = QPushButton("before", page), SummaryLine(theme, page)
    line.set_pieces([SummaryPiece("10", (SKARN,)), SummaryPiece(" entries matched, "), SummaryPiece("1", (SKARN,))])
    page.show()
    page.activateWindow()
    qtbot.waitUntil(page.isActiveWindow)
    line.setFocus()
    reached = []
    for _ in range(3):
        QTest.keyClick(QApplication.focusWidget(), Qt.Key.Key_Backtab)
        reached.append((QApplication.focusWidget(), line.selectedText()))
    assert reached == [(line, "1"), (line, "10"), (before, "")]
