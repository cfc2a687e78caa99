"""What is said where a system has nothing to choose from yet, and the doors to where it is made."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from PySide6.QtWidgets import QApplication, QPushButton
from pytestqt.qtbot import QtBot

from lorestudio.settings.facts import FactsSettings
from lorestudio.trace.model import Phase, RunOutcome, StageRecord, StageStatus, Trace, Turn
from lorestudio.trace.remarks import remembers_nothing
from lorestudio.ui.main_window import MainWindow
from tests.ui.worlds import make_project


def recap_trace(note: str, left: tuple[int, ...] = ()) -> Trace:
    walk = StageRecord("inclusion walk", Phase.BUDGET, StageStatus.RAN, left, left, note=note)
    return Trace("recap", "", RunOutcome.INJECTED, Turn(2, 0, 1), {}, 0, (walk,))


def test_recap_memory_without_a_recap_remembers_nothing_unless_it_is_off() -> None:
    assert remembers_nothing(recap_trace("recap_walk"))
    assert not remembers_nothing(recap_trace("recap_walk", (1,)))
    assert not remembers_nothing(recap_trace("recap_off"))


def test_a_run_without_memories_leads_to_the_memories(
    make_window: Callable[..., MainWindow], tmp_path: Path, qtbot: QtBot
) -> None:
    project = replace(make_project(tmp_path / "vault"), chat_path=tmp_path / "Tale.jsonl")
    window = make_window(project)
    window.session.replays.configure({"facts": FactsSettings(store=str(tmp_path / "none.sqlite"))})
    window.run("system.facts")
    qtbot.waitUntil(lambda: not window.session.busy and window.session.jobs.idle and bool(window.session.runs.traces))
    window.show_pane("trace")
    QApplication.processEvents()
    remarks = window.trace.remarks
    assert remarks.isVisibleTo(window)
    assert "Have facts drawn out of it first" in remarks.label.text()
    next(button for button in remarks.findChildren(QPushButton) if button.text() == "Open Memories").click()
    assert window.memories.pane.isVisibleTo(window)
    window.run("system.deeplore")
    qtbot.waitUntil(lambda: not window.session.busy and window.session.jobs.idle)
    QApplication.processEvents()
    assert not remarks.isVisibleTo(window)
