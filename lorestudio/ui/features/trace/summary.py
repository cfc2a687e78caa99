"""A run in one sentence, with each number leading to the entries that it counts, and what else to know about it.

A run under way has a line: the stage that works, for how long, and a way to stop it.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from msgspec import Struct
from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QLabel, QWidget

from lorestudio.trace.model import Trace
from lorestudio.trace.summary import SummaryPiece, too_broad
from lorestudio.ui.shell.theme import Theme, glyph
from lorestudio.ui.shell.words import tr
from lorestudio.ui.widgets.layouts import button, label, row
from lorestudio.ui.widgets.pane import ElidedLabel, TonedBar


class LiveBar(TonedBar):
    """Hidden while nothing runs. `cancelled` and `followed` follow its buttons."""

    cancelled = Signal()
    followed = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(theme, parent)
        self._icon, self.label, self.seconds = QLabel(self), ElidedLabel(self), label(self, kind="small", wrap=False)
        self.seconds.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self.follow = button(
            self, tr("Go there"), self.followed, name=tr("Go to the reply that is running"),
            tip=tr("Choose the reply that is running and watch its stages fill"),
        )  # fmt: skip
        self.cancel = button(
            self, tr("Cancel"), self.cancelled, name=tr("Cancel the run"),
            tip=tr("Stop the replay; nothing of this reply is kept (Ctrl+.)"),
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
            self.setAccessibleName(text)
        self.seconds.setText(tr("{seconds:.1f} s", seconds=elapsed))
        self.show()

    def _paint(self) -> None:
        self._icon.setPixmap(glyph("live", self._theme.palette.accent, 16))


class Said(Struct, frozen=True):
    """A sentence about the run that is shown, in a tone of the palette, with actions by their ids and titles.

    One that is `passing` stands in place of the summary: an older run, or a text that is being tried out.
    """

    text: str
    tone: str = "neutral"
    actions: tuple[tuple[str, str], ...] = ()
    passing: bool = False


def said_of(trace: Trace) -> tuple[Said, ...]:
    """What to know about a run besides its outcome: nearly all matched, or nothing is there to choose from."""
    breadth = too_broad(trace)
    broad = (Said(tr(breadth.sentence), "warning"),) if breadth is not None else ()
    remarks = trace.words.remarks(trace)
    return (
        *broad,
        *(Said(tr(each.text), actions=tuple((do, tr(title)) for do, title in each.actions)) for each in remarks),
    )


class SummaryLine(QLabel):
    """`chosen` carries the entries of a number, and the words around it; `wanted` the id of an action.

    Tab and Enter work as the mouse does. What is passing takes the place of the sentence, so that nothing below moves.
    """

    chosen = Signal(tuple, str)
    wanted = Signal(str)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent, wordWrap=True, textFormat=Qt.TextFormat.RichText)
        self._theme = theme
        self._pieces: tuple[SummaryPiece, ...] = ()
        self.notes: tuple[Said, ...] = ()
        self.setProperty("kind", "summary")
        self.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextBrowserInteraction | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self.setAlignment(Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignLeft)
        self.setAccessibleName(tr("Summary"))
        self.linkActivated.connect(self._follow)
        theme.changed.connect(self._show)

    @property
    def plain(self) -> str:
        """The sentence without its links."""
        return "".join(piece.text for piece in self._pieces)

    @property
    def said(self) -> str:
        """What is said besides."""
        return "\n".join(note.text for note in self.notes)

    def set_pieces(self, pieces: Sequence[SummaryPiece]) -> None:
        """Show another sentence."""
        self._pieces = tuple(pieces)
        self._show()

    def set_notes(self, notes: Sequence[Said]) -> None:
        """Say something else besides."""
        if tuple(notes) != self.notes:
            self.notes = tuple(notes)
            self._show()

    def focusNextPrevChild(self, forward: bool) -> bool:
        """Qt: Tab goes from link to link, and on. Backwards, Qt alone never leaves a link that begins the text."""
        at_first = not forward and self.hasSelectedText() and self.selectionStart() == 0
        return QFrame.focusNextPrevChild(self, forward) if at_first else super().focusNextPrevChild(forward)

    def _show(self) -> None:
        color = self._theme.palette.accent
        parts = [
            f"<a href='{place}' style='color:{color}'>{escape(piece.text)}</a>" if piece.entries else escape(piece.text)
            for place, piece in enumerate(self._pieces)
        ]
        passing = [note for note in self.notes if note.passing]
        sentence = [] if passing else ["".join(parts)]
        self.setText(" ".join([*sentence, *map(self._note, passing or self.notes)]))
        self.setMinimumHeight(2 * self.fontMetrics().lineSpacing() + 2)
        self.setAccessibleDescription("\n".join(filter(None, ("" if passing else self.plain, self.said))))

    def _note(self, note: Said) -> str:
        palette = self._theme.palette
        ink = palette.text if note.tone == "neutral" else getattr(palette, note.tone)
        links = "".join(
            f" <a href='do:{do}' style='color:{palette.accent}'>{escape(title)}</a>" for do, title in note.actions
        )
        text = escape(note.text).replace("\n", "<br>")
        return f"<span style='color:{ink}'>{text}</span>{links}"

    def _follow(self, link: str) -> None:
        if link.startswith("do:"):
            self.wanted.emit(link.removeprefix("do:"))
            return
        place = int(link)
        after = self._pieces[place + 1].text if place + 1 < len(self._pieces) else ""
        before = self._pieces[place - 1].text if place else ""
        words = f"{before.rpartition(', ')[2]}{self._pieces[place].text}{after}".strip(" ,;.()")
        self.chosen.emit(self._pieces[place].entries, words)
