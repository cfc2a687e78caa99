"""A text that was changed here and there, on disk or in a lorebook: both beside each other, a choice for each place."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame, QGridLayout, QLabel, QPushButton, QRadioButton, QWidget

from lorestudio.ui.shell.theme import Theme, fixed_font
from lorestudio.ui.shell.words import count, tr
from lorestudio.ui.widgets.dialogs import Dialog
from lorestudio.ui.widgets.diff_view import DiffView, Span, marked_html, word_spans
from lorestudio.ui.widgets.layouts import able, column, holding, label, named, scrolled, tabbed, text_view
from lorestudio.vault.note.three_way_merge import MergePiece, Side, joined, three_way


class ConflictDialog(Dialog):
    """`merged` carries the text that a person made of both; closing the dialog changes nothing."""

    merged = Signal(str)

    def __init__(
        self,
        theme: Theme,
        name: str,
        texts: tuple[str, str, str],
        parent: QWidget | None = None,
        *,
        there: str = "",
        lines: bool = True,
    ) -> None:
        """`texts` are the version that both started from, one's own, and the other, which is `there`, else on disk.

        Only of texts of `lines` can both be taken.
        """
        super().__init__(parent, tr("Two versions of {name}", name=name), (860, 560))
        self._there, self._lines = there or tr("On disk"), lines
        self._theme = theme
        base, mine, theirs = texts
        self.pieces = three_way(base, mine, theirs)
        self._chosen: dict[int, str] = {}
        places = Counter(piece.side for piece in self.pieces)
        words = tr(
            "{mine} only here, {theirs} only there, {both} in both. What was changed in one place only is taken; "
            "where both changed the same lines, choose.",
            mine=count(places[Side.MINE], "place was changed", "places were changed"),
            theirs=count(places[Side.THEIRS], "place", "places"),
            both=count(places[Side.CONFLICT], "place", "places"),
        )
        self.diff = DiffView(theme, (self._there, tr("My text")), self)
        self.diff.show_texts(theirs, mine)
        self.outcome = text_view(self, tr("The merged text"), fixed=True)
        pages = (self._choices(), tr("Choose")), (self.diff, tr("Compare whole texts")), (self.outcome, tr("Result"))
        self.tabs = tabbed(self, tr("Versions of the note"), *pages)
        self.take = QPushButton(tr("Take the merged text"), self)
        column(label(self, words), (self.tabs, 1), self.answers(self.take), of=self)
        self._refresh()

    @property
    def text(self) -> str | None:
        """The merged text, None while a place is not decided."""
        try:
            return joined(self.pieces, self._chosen)
        except ValueError:
            return None

    def choose(self, place: int, side: str) -> None:
        """Decide the piece at `place`: mine, theirs or both."""
        piece = self.pieces[place]
        self._chosen[place] = {"mine": piece.mine, "theirs": piece.theirs, "both": _both(piece)}[side]
        self._refresh()

    def _choices(self) -> QWidget:
        changed = [place for place, piece in enumerate(self.pieces) if piece.side is not Side.NOBODY]
        cards = [self._card(number, len(changed), place) for number, place in enumerate(changed, start=1)]
        same = [] if cards else [label(self, tr("Both versions are the same."), wrap=False)]
        return scrolled(holding(column(*cards, *same, 1, spacing=10, margins=(2, 8, 8, 8))), tr("What differs"))

    def _card(self, number: int, total: int, place: int) -> QWidget:
        piece = self.pieces[place]
        card = QFrame(self)
        card.setObjectName("Card")
        grid = QGridLayout(card)
        grid.setColumnStretch(0, 1)
        grid.setColumnStretch(1, 1)
        words = {
            Side.MINE: tr("changed here only"),
            Side.THEIRS: tr("changed there only"),
            Side.BOTH_ALIKE: tr("changed alike"),
            Side.CONFLICT: tr("changed in both: choose"),
        }
        head = tr("Place {number} of {total}: {what}", number=number, total=total, what=words[piece.side])
        grid.addWidget(label(card, head, "section", wrap=False), 0, 0, 1, 2)
        spans = word_spans(piece.mine, piece.theirs)
        sides = (("mine", tr("Mine"), piece.mine), ("theirs", self._there, piece.theirs))
        for at, (side, title, text) in enumerate(sides):
            button = named(QRadioButton(title, card), tr("Place {number}: {title}", number=number, title=title))
            button.setAccessibleDescription(text)
            button.setChecked((piece.side is Side.THEIRS) == (side == "theirs") and piece.side is not Side.CONFLICT)
            button.clicked.connect(partial(self.choose, place, side))
            grid.addWidget(button, 1, at)
            grid.addWidget(self._excerpt(text, spans[at], card), 2, at)
        if self._lines and piece.side is Side.CONFLICT and piece.mine and piece.theirs:
            both = QRadioButton(tr("Both, mine first"), card)
            both.clicked.connect(partial(self.choose, place, "both"))
            grid.addWidget(both, 3, 0, 1, 2)
        return card

    def _excerpt(self, text: str, spans: Sequence[Span], parent: QWidget) -> QLabel:
        palette = self._theme.palette
        style = f"background-color: {palette.mark}; color: {palette.on_mark}"
        words = marked_html(text.rstrip("\r\n"), spans, style) if text else tr("(nothing)")
        shown = label(parent, words, rich=True, top=True)
        shown.setObjectName("Raw")
        shown.setFont(fixed_font(self.font().pointSizeF()))
        return shown

    def _refresh(self) -> None:
        text = self.text
        missing = sum(piece.merged is None and place not in self._chosen for place, piece in enumerate(self.pieces))
        able(self.take, text is not None, tr("Decide every place first."))
        waiting = tr("{places} not decided yet.", places=count(missing, "place is", "places are"))
        self.outcome.setPlainText(waiting if text is None else text)
        self.take.setToolTip(waiting if text is None else "")

    def accept(self) -> None:
        """Qt: hand the merged text over and close."""
        if self.text is not None:
            self.merged.emit(self.text)
            super().accept()


def _both(piece: MergePiece) -> str:
    mine = piece.mine
    if mine and not mine.endswith(("\n", "\r")):
        mine += "\n"
    return mine + piece.theirs
