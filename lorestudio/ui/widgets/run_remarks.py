"""What to know about the run that is shown: too much matched, or notes could not be read."""

from __future__ import annotations

from typing import Final, TypeAlias

from PySide6.QtWidgets import QWidget

from lorestudio.studio.project import Project
from lorestudio.trace.model import Trace
from lorestudio.trace.remarks import remembers_nothing, searched, too_broad, ways_to_widen
from lorestudio.ui.theme import Theme
from lorestudio.ui.widgets.bars import MessageBar
from lorestudio.ui.words import count, tr

_TIPS: Final = {
    "context-window": "To widen the search: give notes keys and aliases that the chat uses, or let the window read "
    "more of the conversation (Settings of the system).",
    "hybrid": "To widen the search: raise “Exchanges looked at”, add keys that the chat uses, or let vectors come "
    "first (Settings of the system).",
    "facts": "No memory came into question. Have facts drawn out of the chat in the Memories pane, or lower the "
    "thresholds (Settings of the system).",
    "world-info": "To widen the search: raise “Scan depth”, or add keys that the chat uses (Settings of the system).",
    "recap": "Recap memory tells what the chat remembers of itself; nothing was remembered before this reply. "
    "Have recaps made in the Recap pane.",
}


_DOORS: Final = {
    "facts": (
        "Fact memory puts in what it remembers of the chat. Have facts drawn out of it first.",
        (("memories.extract", "Draw out facts"), ("pane.memories", "Open Memories")),
    ),
    "recap": (
        "Recap memory puts in what happened in the chat, in short. Have recaps made of it first.",
        (("recap.run", "Make what is due"), ("pane.recap", "Open Recap")),
    ),
}
"""What to do where a system has nothing to choose from yet, and the actions that do it."""

Doors: TypeAlias = tuple[tuple[str, str], ...]


def doors(trace: Trace | None) -> Doors:
    """The actions, each with its title, that give a system something to choose from; () where it has that."""
    if trace is None or not remembers_nothing(trace):
        return ()
    return tuple((action, tr(title)) for action, title in _DOORS[trace.system][1])


def nothing_words(trace: Trace | None) -> str:
    """Why a run has no candidate: what was searched, and three ways to widen that."""
    if trace is None:
        return ""
    if trace.system in _TIPS:
        return tr(_TIPS[trace.system])
    where = searched(trace)
    found = tr("Searched: {where}. None occurs there.", where=where) if where else ""
    first, second, third = ways_to_widen(trace)
    ways = tr("To let more in: {first}; {second}; or {third}.", first=first, second=second, third=third)
    return f"{found} {ways}".strip()


class RunRemarks(MessageBar):
    """A bar for a run that matched nearly everything, or whose system has nothing to choose from yet.

    It is hidden in other runs. Dismissed, it stays away until then.
    """

    def __init__(self, theme: Theme, parent: QWidget | None = None, *, stacked: bool = False) -> None:
        super().__init__(theme, parent, stacked=stacked)
        self._dismissed = False
        self.closed.connect(self._dismiss)
        self.hide()

    def show_trace(self, trace: Trace) -> None:
        """Say what there is to say about this run."""
        breadth, empty = too_broad(trace), doors(trace)
        self._dismissed &= breadth is not None or bool(empty)
        if self._dismissed:
            self.hide()
        elif breadth is not None:
            self.say(tr(breadth.sentence), "warning")
        elif empty:
            self.say(tr(_DOORS[trace.system][0]), "neutral", empty)
        else:
            self.hide()

    def _dismiss(self) -> None:
        self._dismissed = True
        self.hide()


def broken_words(project: Project | None) -> str:
    """How many notes could not be read and take no part in any run, "" where there is none."""
    broken = sum(note.problem.broken for note in project.index.left_out) if project is not None else 0
    return tr("without {notes}", notes=count(broken, "broken note", "broken notes")) if broken else ""
