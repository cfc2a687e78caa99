"""What to know about the run that is shown: too much matched, or notes could not be read.

The run under way in one line: the stage that works, for how long, and a way to stop it.

A run in one sentence, with each number leading to the entries that it counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QLabel, QSizePolicy, QWidget

from lorestudio.trace.model import Trace
from lorestudio.trace.summary import SummaryPiece, too_broad
from lorestudio.ui.shell.theme import Theme, glyph
from lorestudio.ui.shell.words import tr
from lorestudio.ui.widgets.bars import MessageBar
from lorestudio.ui.widgets.layouts import button, label, row


class LiveBar(QFrame):
    """Hidden while nothing runs. `cancelled` and `followed` follow its buttons."""

    cancelled = Signal()
    followed = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("Bar")
        self.setProperty("tone", "neutral")
        self._theme = theme
        self._icon, self.label, self.seconds = QLabel(self), QLabel(self), label(self, kind="small", wrap=False)
        self.label.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.seconds.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self.follow = button(
            self, tr("Go there"), self.followed, name=tr("Go to the reply that is running"),
            tip=tr("Choose the reply that is running and watch its stages fill"),
        )  # fmt: skip
        self.cancel = button(
            self, tr("Cancel"), self.cancelled, name=tr("Cancel the run"),
            tip=tr("Stop the replay; nothing of this generation is kept (Ctrl+.)"),
        )  # fmt: skip
        parts = (self._icon, (self.label, 1), self.seconds, self.follow, self.cancel)
        self.setLayout(row(*parts, spacing=8, margins=(10, 4, 8, 4)))
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
            doors = tuple((action, tr(title)) for remark in remarks for action, title in remark.actions)
            self.say(" ".join(tr(remark.text) for remark in remarks), "neutral", doors)
        else:
            self.hide()

    def _dismiss(self) -> None:
        self._dismissed = True
        self.hide()


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
