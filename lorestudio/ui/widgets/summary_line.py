"""A run in one sentence, with each number leading to the entries that it counts."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QLabel, QWidget

from lorestudio.trace.summary import SummaryPiece
from lorestudio.ui.theme import Theme
from lorestudio.ui.words import tr


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
