"""What to know about the run that is shown: too much matched, or notes could not be read.

The run under way in one line: the stage that works, for how long, and a way to stop it.

A run in one sentence, with each number leading to the entries that it counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import TypeAlias

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QSizePolicy, QWidget

from lorestudio.studio.project.project import Project
from lorestudio.trace.model import Trace
from lorestudio.trace.summary import SummaryPiece, too_broad
from lorestudio.ui.shell.theme import Theme, glyph
from lorestudio.ui.shell.words import count, tr
from lorestudio.ui.widgets.bars import MessageBar


class LiveBar(QFrame):
    """Hidden while nothing runs. `cancelled` and `followed` follow its buttons."""

    cancelled = Signal()
    followed = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("Bar")
        self.setProperty("tone", "neutral")
        self._theme = theme
        row = QHBoxLayout(self)
        row.setContentsMargins(10, 4, 8, 4)
        row.setSpacing(8)
        self._icon = QLabel(self)
        self.label = QLabel(self)
        self.label.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.seconds = QLabel(self)
        self.seconds.setProperty("kind", "small")
        self.seconds.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self.follow = QPushButton(tr("Go there"), self)
        self.follow.setAccessibleName(tr("Go to the reply that is running"))
        self.follow.setToolTip(tr("Choose the reply that is running and watch its stages fill"))
        self.follow.clicked.connect(self.followed)
        self.cancel = QPushButton(tr("Cancel"), self)
        self.cancel.setAccessibleName(tr("Cancel the run"))
        self.cancel.setToolTip(tr("Stop the replay; nothing of this generation is kept (Ctrl+.)"))
        self.cancel.clicked.connect(self.cancelled)
        row.addWidget(self._icon)
        row.addWidget(self.label, 1)
        row.addWidget(self.seconds)
        row.addWidget(self.follow)
        row.addWidget(self.cancel)
        theme.changed.connect(self._paint)
        self._paint()
        self.hide()

    def say(self, text: str, elapsed: float, *, elsewhere: bool = False) -> None:
        """Show what runs; `elapsed` is in seconds, `elsewhere` says that it is not the reply that is looked at."""
        self.follow.setVisible(elsewhere)
        if text != self.label.text():
            self.label.setText(text)
            self.label.setToolTip(text)
            self.setAccessibleName(text)
        self.seconds.setText(tr("{seconds:.1f} s", seconds=elapsed))
        self.show()

    def _paint(self) -> None:
        self._icon.setPixmap(glyph("live", self._theme.palette.accent, 16))


Doors: TypeAlias = tuple[tuple[str, str], ...]


def doors(trace: Trace | None) -> Doors:
    """The actions, each with its title, that give a system something to choose from; () where it has that."""
    remarks = trace.words.remarks(trace) if trace is not None else ()
    return tuple((action, tr(title)) for remark in remarks for action, title in remark.actions)


def nothing_words(trace: Trace | None) -> str:
    """Why a run has no candidate, and ways to change that."""
    return tr(trace.words.widening(trace)) if trace is not None else ""


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
        breadth, remarks = too_broad(trace), trace.words.remarks(trace)
        self._dismissed &= breadth is not None or bool(remarks)
        if self._dismissed:
            self.hide()
        elif breadth is not None:
            self.say(tr(breadth.sentence), "warning")
        elif remarks:
            self.say(" ".join(tr(remark.text) for remark in remarks), "neutral", doors(trace))
        else:
            self.hide()

    def _dismiss(self) -> None:
        self._dismissed = True
        self.hide()


def broken_words(project: Project | None) -> str:
    """How many notes could not be read and take no part in any run, "" where there is none."""
    broken = sum(note.problem.broken for note in project.index.left_out) if project is not None else 0
    return tr("without {notes}", notes=count(broken, "broken note", "broken notes")) if broken else ""


class SummaryLine(QLabel):
    """`chosen` carries the entries of a number, and the words around it. Tab and Enter work as the mouse does."""

    chosen = Signal(tuple, str)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._pieces: tuple[SummaryPiece, ...] = ()
        self.setProperty("kind", "summary")
        self.setWordWrap(True)
        self.setTextFormat(Qt.TextFormat.RichText)
        self.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextBrowserInteraction | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self.setContentsMargins(12, 8, 12, 6)
        self.setAccessibleName(tr("Summary"))
        self.linkActivated.connect(self._follow)
        theme.changed.connect(self._show)

    @property
    def plain(self) -> str:
        """The sentence without its links."""
        return "".join(piece.text for piece in self._pieces)

    def set_pieces(self, pieces: Sequence[SummaryPiece]) -> None:
        """Show another sentence."""
        self._pieces = tuple(pieces)
        self._show()

    def say(self, text: str) -> None:
        """Show a sentence that leads nowhere."""
        self.set_pieces((SummaryPiece(text),))

    def _show(self) -> None:
        color = self._theme.palette.accent
        parts = [
            f"<a href='{place}' style='color:{color}'>{escape(piece.text)}</a>" if piece.entries else escape(piece.text)
            for place, piece in enumerate(self._pieces)
        ]
        self.setText("".join(parts))
        self.setAccessibleDescription(self.plain)

    def _follow(self, link: str) -> None:
        place = int(link)
        after = self._pieces[place + 1].text if place + 1 < len(self._pieces) else ""
        before = self._pieces[place - 1].text if place else ""
        words = f"{before.rpartition(', ')[2]}{self._pieces[place].text}{after}".strip(" ,;.()")
        self.chosen.emit(self._pieces[place].entries, words)
