"""A popup to pick something by a few of its letters: the command palette and the quick switcher."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from operator import attrgetter
from typing import Final

import numpy as np
from msgspec import Struct
from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QFrame, QLineEdit, QListView, QWidget

from lorestudio.domain.texts import comparable
from lorestudio.ui.shell.qt import ITEM, Index, later
from lorestudio.ui.shell.theme import Theme
from lorestudio.ui.shell.words import count, tr
from lorestudio.ui.widgets.cells import CellDelegate, Column, Look, Words, one_line
from lorestudio.ui.widgets.dialogs import Dialog
from lorestudio.ui.widgets.layouts import column, label, named, row, show_words
from lorestudio.ui.widgets.record_table import RecordTable

_PREFIX, _WORD, _INITIALS = 30, 20, 15
_WHOLE: Final = 0.1
"""Of titles that have the words alike, the one that says little else is meant."""
_INSIDE: Final = 70.0
"""Points for whoever says the words somewhere inside; a title that begins with them has more."""
SHOWN: Final = 300
"""A list shows so many at most: nobody scrolls further, and a view lays out every row."""
_CLOSELY: Final = 400
"""So many titles are compared closely at most, so that no keystroke waits."""
_WORTH_READING: Final = 3
"""With fewer letters nearly every text would have them."""
_BEFORE: Final = 30
"""So many letters of a text are shown before the word that was typed, and four times as many behind it."""


def score(query: str, text: str) -> float | None:
    """How well `query` fits `text`, None where its letters do not occur in order.

    Where the text or a word of it begins so, or the letters are those that words begin with, it fits best.
    """
    from rapidfuzz import fuzz  # noqa: PLC0415  # nothing is typed while the window begins
    from rapidfuzz.distance import LCSseq  # noqa: PLC0415  # as above

    typed, name = comparable(query).strip(), comparable(text)
    letters = typed.replace(" ", "")
    if not letters:
        return 0.0
    if LCSseq.similarity(letters, name) < len(letters):
        return None
    words = re.findall(r"\w+", name)
    points = fuzz.WRatio(typed, name) + fuzz.ratio(typed, name) * _WHOLE + _PREFIX * name.startswith(typed)
    points += _WORD * any(word.startswith(typed) for word in words)
    initials = "".join(word[0] for word in words)
    return points + _INITIALS * (LCSseq.similarity(letters, initials) == len(letters))


def ranked(query: str, texts: Iterable[str], more: Sequence[str] = (), favour: Sequence[float] = ()) -> list[int]:
    """The places of the texts that fit, best first; equally good ones stay in order.

    Of texts that say the same and more than was typed, one stands for all before others that a word begins so, too.
    A text also fits, but less well, where all words of the query are in what `more` says of it (in small letters).
    `favour` are points for texts that are likelier to be meant.
    """
    known = list(texts)
    letters = comparable(query).replace(" ", "")
    if not letters:
        return sorted(range(len(known)), key=lambda place: -favour[place] if favour else 0.0)
    from rapidfuzz import fuzz, process  # noqa: PLC0415  # nothing is typed while the window begins
    from rapidfuzz.distance import LCSseq  # noqa: PLC0415  # as above

    names = list(map(comparable, known))
    enough = process.cdist([letters], names, scorer=LCSseq.similarity, score_cutoff=len(letters), dtype=np.int32)
    points: dict[int, float] = {}
    found = enough[0].nonzero()[0].tolist()
    if len(found) > _CLOSELY:  # a letter or two fit nearly everything: only the likeliest are looked at closely
        typed = comparable(query).strip()
        near = process.cdist([typed], [names[place] for place in found], scorer=fuzz.WRatio, workers=1)[0].tolist()
        begins = [_WORD * (f" {typed}" in f" {names[place]}") for place in found]
        points = {place: near[at] + begins[at] - _PREFIX for at, place in enumerate(found)}
        found = sorted(found, key=lambda place: (-points[place], place))[:_CLOSELY]
    for place in found:
        fits = score(query, known[place])
        if fits is not None:
            points[place] = fits + (favour[place] if favour else 0.0)
    words = comparable(query).split()
    if len(letters) >= _WORTH_READING:
        for place, text in enumerate(more):
            if place not in points and text and all(word in text for word in words):
                points[place] = _INSIDE + (favour[place] if favour else 0.0)
    best, seen = sorted(points, key=lambda place: (-points[place], place)), set[str]()
    for place in best:
        name = names[place]
        if name in seen and name != comparable(query).strip():
            points[place] -= _PREFIX + _WORD
        seen.add(name)
    return sorted(best, key=lambda place: -points[place])


class Choice(Struct, frozen=True):
    """One thing to pick: what it is called, more about it, its shortcut, and what the picker hands back.

    `name` stays the same from one picker to the next, for those that were picked lately. `more` is searched, too;
    `favour` are points for one that is likelier to be meant.
    """

    title: str
    detail: str
    hint: str
    key: object
    enabled: bool = True
    name: str = ""
    more: str = ""
    favour: float = 0.0


def _passage(choice: Choice, typed: str) -> str:
    """What is told of a choice; where only `more` of it has what was typed, the place where that begins."""
    told, words = comparable(f"{choice.title} {choice.detail}"), comparable(typed).split()
    sought = next((word for word in words if word not in told), None)
    found = re.search(re.escape(sought), choice.more, re.IGNORECASE) if sought is not None else None
    if found is None:
        return choice.detail
    begin = choice.more.rfind(" ", 0, max(0, found.start() - _BEFORE)) + 1
    return f"{'…' if begin else ''}{' '.join(choice.more[begin : found.end() + 4 * _BEFORE].split())}"


_STEPS: Final = {Qt.Key.Key_Down: 1, Qt.Key.Key_Up: -1, Qt.Key.Key_PageDown: 8, Qt.Key.Key_PageUp: -8}


class Picker(Dialog):
    """Type, arrow keys, Enter. `picked` carries the key of the choice; Escape closes and picks nothing.

    `chosen` carries the whole `Choice`, before `picked` carries its key. `wanted_new` carries what was typed, where
    Shift+Enter asks for something new of that name.
    """

    picked = Signal(object)
    chosen = Signal(object)
    wanted_new = Signal(str)

    def __init__(
        self, theme: Theme, title: str, placeholder: str, choices: Sequence[Choice], parent: QWidget | None = None
    ) -> None:
        super().__init__(parent, title)
        self.setWindowFlags(Qt.WindowType.Popup)
        self.setAccessibleName(title)
        frame = QFrame(self)
        frame.setObjectName("Popup")
        column(frame, of=self, margins=0)
        self.field = named(QLineEdit(frame, placeholderText=placeholder, clearButtonEnabled=True), title)
        self._all = list(choices)
        self._more = [comparable(choice.more) for choice in self._all]
        self._found = 0
        self._model = RecordTable([Column("", attrgetter("title"), look=self._look, spoken=self._spoken)], parent=self)
        self.view = named(QListView(frame, uniformItemSizes=True), tr("Matches"))
        self.view.setModel(self._model)
        self.view.setItemDelegate(CellDelegate(theme, self.view, 30, 200))
        self.view.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # the arrow keys reach it through the field
        self._count, self._hint = (label(frame, kind="small", wrap=False) for _ in range(2))
        self._hint.hide()
        foot = row(self._count, 1, self._hint)
        column(self.field, (self.view, 1), foot, of=frame, spacing=6, margins=(8, 8, 8, 6))
        self.field.textChanged.connect(self._search)
        self.field.installEventFilter(self)
        self.view.clicked.connect(self._pick)
        self._search("")

    def set_hint(self, text: str) -> None:
        """Say which keys do what."""
        show_words(self._hint, text)

    def add(self, choices: Sequence[Choice]) -> None:
        """More to pick, found meanwhile; the row that the keyboard is on stays where it still fits."""
        chosen = self.view.currentIndex().data(ITEM)
        self._all += choices
        self._more += [comparable(choice.more) for choice in choices]
        self._rank(self.field.text())
        self.view.setCurrentIndex(self._model.index(max(self._model.place_of(id(chosen)), 0), 0))
        self._say_count()

    def open_over(self, window: QWidget) -> None:
        """Show the popup in the upper middle of `window`."""
        width = min(620, max(360, window.width() - 200))
        self.resize(width, min(420, max(240, window.height() - 200)))
        corner = window.mapToGlobal(window.rect().topLeft())
        self.move(corner.x() + (window.width() - width) // 2, corner.y() + 64)
        self.show()
        self.field.setFocus()
        later(self, lambda: score("a", "a")).start()  # loads what compares, before the first key is typed

    def pick_current(self) -> None:
        """Take the row that the keyboard is on."""
        self._pick(self.view.currentIndex())

    def replace(self, choices: Sequence[Choice]) -> None:
        """Say more about the choices; the row that the keyboard is on stays, whatever is said of it now."""
        place = self.view.currentIndex().row()
        self._all = list(choices)
        self._more = [comparable(choice.more) for choice in self._all]
        self._rank(self.field.text())
        self.view.setCurrentIndex(self._model.index(max(place, 0), 0))

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Qt: arrow keys move through the list while the field keeps the keyboard."""
        if watched is self.field and event.type() is QEvent.Type.KeyPress and isinstance(event, QKeyEvent):
            rows, step = self._model.rowCount(), _STEPS.get(Qt.Key(event.key()))
            if step is not None and rows:
                place = max(0, min(rows - 1, self.view.currentIndex().row() + step))
                self.view.setCurrentIndex(self._model.index(place, 0))
                return True
            if event.key() in {Qt.Key.Key_Return, Qt.Key.Key_Enter}:
                if event.modifiers() & Qt.KeyboardModifier.ShiftModifier and self._hint.isVisible():
                    self._want_new()
                    return True
                self.pick_current()
                return True
        return super().eventFilter(watched, event)

    def _look(self, choice: Choice) -> Look:
        tone = "text" if choice.enabled else "border_strong"
        title = Words(choice.title, tone=tone, steady=not choice.enabled, gap=10)
        detail = Words(_passage(choice, self.field.text()), tone="text_faint", scale=0.9, gap=10)
        hint = Words(choice.hint, tone="text_faint", scale=0.9, gap=0, share=0.4)
        return one_line(title, detail, right=(hint,), margin=12)

    def _spoken(self, choice: Choice) -> str:
        """What is not available is shown and cannot be picked, and says so."""
        passage = _passage(choice, self.field.text())
        parts = [choice.title, passage, choice.hint, "" if choice.enabled else tr("not available now")]
        return ", ".join(part for part in parts if part)

    def _search(self, text: str) -> None:
        self._rank(text)
        self.view.setCurrentIndex(self._model.index(0, 0))
        self._say_count()

    def _rank(self, text: str) -> None:
        favour = [choice.favour for choice in self._all]
        places = ranked(text, (choice.title for choice in self._all), self._more, favour if any(favour) else ())
        self._found = len(places)
        self._model.set_rows([self._all[place] for place in places[:SHOWN]])

    def _want_new(self) -> None:
        name = self.field.text().strip()
        if name:
            self.close()
            self.wanted_new.emit(name)

    def _say_count(self) -> None:
        said = count(self._found, "match", "matches")
        if self._found > SHOWN:
            said = tr("{matches}, of which the first {shown} are shown", matches=said, shown=SHOWN)
        sought = bool(self.field.text()) and not self._found
        self._count.setText(tr("Nothing has these letters in this order.") if sought else said)

    def _pick(self, index: Index) -> None:
        choice = index.data(ITEM)
        if isinstance(choice, Choice) and choice.enabled:
            self.close()
            self.chosen.emit(choice)
            self.picked.emit(choice.key)
