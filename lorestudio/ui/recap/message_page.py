"""The messages with their recaps: what became of each, and its text to write."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QCheckBox

from lorestudio.studio.recap.overview import MessageRow, RecapState
from lorestudio.studio.recap.picture import RecapPicture
from lorestudio.trace.reasons import explain
from lorestudio.ui.models.row_table import RowColumn
from lorestudio.ui.recap.page import Page
from lorestudio.ui.recap.text_field import RecapText
from lorestudio.ui.theme import Theme
from lorestudio.ui.words import shorten, tr

_STATES: Final = {
    RecapState.NONE: ("No recap", "dash", "text_faint", ""),
    RecapState.INCLUDED: ("Recap", "check", "good", ""),
    RecapState.KEPT: ("Recap, left out", "check", "warning", "text_muted"),
    RecapState.EXCLUDED: ("Excluded", "slash", "text_muted", "text_muted"),
    RecapState.FAILED: ("Failed", "error", "error", "error"),
}
"""Words, glyph, its colour, and the colour of the words ("" for that of all text)."""


class MessagePage(Page):
    """`written` carries a position and a text, `excluded` and `pinned` a position and whether it is wanted.

    `wanted` carries the position of a message whose recap is to be made.
    """

    written = Signal(int, str)
    excluded = Signal(int, bool)
    pinned = Signal(int, bool)
    wanted = Signal(int)

    def __init__(self, theme: Theme) -> None:
        columns = (
            RowColumn("#", lambda row: str(row.index), numeric=True),
            RowColumn("Recap", self._state, icon=_icon, tone=lambda row: _STATES[row.state][3]),
            RowColumn("Also", self._also),
            RowColumn("Message", lambda row: shorten(f"{row.speaker}: {row.text}", 160)),
        )
        self._picture: RecapPicture | None = None
        super().__init__(
            theme, columns, lambda row: row.index, self._tip, tr("Messages and their recaps"), (44, 112, 92)
        )
        self.text = RecapText(tr("Recap of the message"), self)
        self.exclude = QCheckBox(tr("Leave its recap out"), self)
        self.exclude.setToolTip(tr("Its recap stays in the file, and takes no part"))
        self.pin = QCheckBox(tr("Keep it hidden"), self)
        self.pin.setToolTip(tr("Hidden from the prompt, whatever hiding by scenes does"))
        self.below.addWidget(self.text, 1)
        self.text.left.connect(self.view.setFocus)
        self.again = self.small_button(tr("Make its recap"), tr("Ask for the recap of this message, also again"))
        self.add_row(self.exclude, self.pin, self.again)
        self.again.clicked.connect(lambda: self._with_row(lambda row: self.wanted.emit(row.index)))
        self.text.written.connect(lambda key, text: self.written.emit(int(key), text))
        self.exclude.clicked.connect(lambda on: self._with_row(lambda row: self.excluded.emit(row.index, on)))
        self.pin.clicked.connect(lambda on: self._with_row(lambda row: self.pinned.emit(row.index, on)))
        self.view.chosen.connect(self._show)
        self._show(None)

    def show_picture(self, picture: RecapPicture | None) -> None:
        """Show the messages of a chat."""
        self._picture = picture
        self.forget_others(picture, self.text)
        self.model.set_rows(picture.messages if picture is not None else ())

    def _with_row(self, do: Callable[[MessageRow], object]) -> None:
        row = self.view.current
        if isinstance(row, MessageRow):
            do(row)

    def _show(self, row: object) -> None:
        there = row if isinstance(row, MessageRow) else None
        for widget in (self.exclude, self.pin, self.again):
            widget.setEnabled(there is not None)
        self.exclude.setChecked(there is not None and there.state is RecapState.EXCLUDED)
        self.pin.setChecked(there is not None and there.pinned)
        if there is None:
            self.say(tr("Choose a message to read its recap, and to write it."))
            self.text.show_text(None, "", editable=False)
            return
        self.say(" ".join(self._sentences(there)))
        placeholder = tr("No recap yet. Write one, or have it made.")
        self.text.show_text(there.index, there.recap, editable=True, placeholder=placeholder)

    def _sentences(self, row: MessageRow) -> list[str]:
        """All that there is to say about a message."""
        told = [tr("#{number}, {name}.", number=row.index, name=row.speaker or tr("nobody"))]
        picture = self._picture
        if row.error:
            told.append(tr("The last attempt failed: {error}", error=row.error))
        if picture is not None and picture.trace is not None and row.index in picture.verdicts:
            why = explain(picture.verdicts[row.index], picture.trace)
            told += [part for part in (why.sentence, why.fix) if part]
        if row.stale:
            told.append(tr("The message was changed after its recap was made."))
        if row.edited:
            told.append(tr("The recap was written by hand."))
        if picture is not None and row.index in picture.in_running:
            told.append(tr("Its scene is part of the running recap."))
        if row.hidden:
            told.append(tr("It is hidden from the prompt."))
        return told

    def _state(self, row: MessageRow) -> str:
        return tr(_STATES[row.state][0])

    def _also(self, row: MessageRow) -> str:
        told = []
        if row.stale:
            told.append(tr("changed since"))
        if self._picture is not None and row.index in self._picture.in_running:
            told.append(tr("in running"))
        if row.hidden:
            told.append(tr("kept hidden") if row.pinned else tr("hidden"))
        if row.ends_scene:
            told.append(tr("ends scene"))
        if row.edited:
            told.append(tr("by hand"))
        return ", ".join(told)

    def _tip(self, row: MessageRow) -> str:
        return shorten(row.recap or row.text, 400)


def _icon(row: MessageRow) -> tuple[str, str]:
    return _STATES[row.state][1], _STATES[row.state][2]
