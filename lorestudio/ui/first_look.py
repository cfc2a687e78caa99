"""What is looked at first, where nobody has chosen anything yet."""

from __future__ import annotations

from PySide6.QtCore import QObject

from lorestudio.studio.resources import resource
from lorestudio.trace.model import Outcome, Trace
from lorestudio.ui.selection import Selection
from lorestudio.ui.session import Session


def stopped_entry(trace: Trace) -> tuple[int, str] | None:
    """The entry that came furthest without going in, and the stage that stopped it; None where none was stopped."""
    for record in reversed(trace.stages):
        for verdict in record.verdicts:
            if verdict.outcome is Outcome.REMOVED:
                return verdict.entry, record.name
    return None


class FirstLook(QObject):
    """In the demo, chooses an entry that was stopped: every pane then shows what it is for. Once for each opening."""

    def __init__(self, session: Session, selection: Selection, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._session, self._selection = session, selection
        self._due = False
        session.project_changed.connect(self._begin)
        session.traces_changed.connect(lambda _generations: self._look())

    def _begin(self) -> None:
        project = self._session.project
        path = project.chat_path if project is not None else None
        self._due = path is not None and path.is_relative_to(resource("demo")) and not self._session.renewed
        self._look()

    def _look(self) -> None:
        trace = self._session.runs.trace(self._selection.generation) if self._due else None
        if trace is None:
            return
        self._due = False
        stopped = stopped_entry(trace)
        if stopped is not None and self._selection.entry is None and self._selection.left_out is None:
            self._selection.choose_entry(*stopped)
