"""What to know about the run that is shown: too much matched, or notes could not be read."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from lorestudio.studio.project import Project
from lorestudio.trace.model import Trace
from lorestudio.trace.remarks import searched, too_broad, ways_to_widen
from lorestudio.ui.theme import Theme
from lorestudio.ui.widgets.bars import MessageBar
from lorestudio.ui.words import count, tr


def nothing_words(trace: Trace | None) -> str:
    """Why a run has no candidate: what was searched, and three ways to widen that."""
    if trace is None:
        return ""
    where = searched(trace)
    found = tr("Searched: {where}. None occurs there.", where=where) if where else ""
    first, second, third = ways_to_widen(trace)
    ways = tr("To let more in: {first}; {second}; or {third}.", first=first, second=second, third=third)
    return f"{found} {ways}".strip()


class RunRemarks(QWidget):
    """One bar for each thing that a person can do something about. `pressed` carries the id of an action."""

    pressed = Signal(str)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        self.broad, self.broken = MessageBar(theme, self), MessageBar(theme, self)
        self._dismissed: set[MessageBar] = set()
        for bar in (self.broad, self.broken):
            bar.pressed.connect(self.pressed)
            bar.closed.connect(lambda bar=bar: self._dismiss(bar))
            column.addWidget(bar)

    def show_trace(self, trace: Trace, project: Project | None) -> None:
        """Say what there is to say about this run."""
        breadth = too_broad(trace)
        if breadth is None:
            self._dismissed.discard(self.broad)
        self._say(self.broad, tr(breadth.sentence) if breadth is not None else "")
        broken = sum(note.problem.broken for note in project.index.left_out) if project is not None else 0
        if not broken:
            self._dismissed.discard(self.broken)
        notes = count(broken, "note could not be read and took", "notes could not be read and took")
        self._say(
            self.broken,
            tr("{notes} no part in this run.", notes=notes) if broken else "",
            (("pane.problems", tr("Show the problems")),),
        )

    def _say(self, bar: MessageBar, text: str, buttons: tuple[tuple[str, str], ...] = ()) -> None:
        if text and bar not in self._dismissed:
            bar.say(text, "warning", buttons)
        else:
            bar.hide()

    def _dismiss(self, bar: MessageBar) -> None:
        self._dismissed.add(bar)
        bar.hide()
