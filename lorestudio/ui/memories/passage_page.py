"""The passages of the chat: which are kept, which wait, and why one failed."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from lorestudio.studio.facts.picture import FactsPicture, PassageRow
from lorestudio.ui.memories.history import STATES
from lorestudio.ui.memories.table import day_words
from lorestudio.ui.models.row_table import RowColumn, RowTable
from lorestudio.ui.theme import Theme
from lorestudio.ui.widgets.empty import EmptyState
from lorestudio.ui.widgets.row_view import RowView
from lorestudio.ui.words import count, shorten, tr

_KEPT: Final = {"dormant": "Kept", "closed": "Kept, closed"}


class PassagePage(QWidget):
    """`wanted` carries the key of a passage to be read, `jump` the message that it begins with."""

    wanted = Signal(str)
    jump = Signal(int)

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.setAccessibleName(tr("Passages"))
        self._reading = ""
        self._busy = False
        columns = (
            RowColumn("Messages", lambda row: tr("#{first} to #{last}", first=row.first, last=row.last)),
            RowColumn("State", self._state, icon=self._icon, tone=self._tone),
            RowColumn("Memories", lambda row: str(row.memories) if row.state else "", numeric=True),
            RowColumn("Ended", lambda row: day_words(row.ended)),
        )
        self.model = RowTable(theme, columns, lambda row: row.key, self._tip, self)
        self.view = RowView(theme, self.model, tr("Passages of the chat"), (104, 124, 74), self)
        self.empty = EmptyState(theme, "list", self)
        self.words = QLabel(self)
        self.words.setProperty("kind", "small")
        self.words.setWordWrap(True)
        self.words.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.read = QPushButton(tr("Draw out its facts"), self)
        self.read.setToolTip(tr("Read this passage only"))
        self.show_messages = QPushButton(tr("Show in the chat"), self)
        self.show_messages.setToolTip(tr("Go to its first message (Enter)"))
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.view, 1)
        column.addWidget(self.empty, 1)
        self.below = QWidget(self)
        lines = QVBoxLayout(self.below)
        lines.setContentsMargins(8, 5, 8, 6)
        lines.setSpacing(5)
        lines.addWidget(self.words)
        row = QHBoxLayout()
        row.setSpacing(6)
        for button in (self.read, self.show_messages):
            button.setProperty("kind", "small")
            row.addWidget(button)
        row.addStretch(1)
        lines.addLayout(row)
        column.addWidget(self.below)
        self.view.chosen.connect(self._show)
        self.view.pressed.connect(lambda row: self.jump.emit(row.first))
        self.show_messages.clicked.connect(lambda: self._with_row(lambda row: self.jump.emit(row.first)))
        self.read.clicked.connect(lambda: self._with_row(lambda row: self.wanted.emit(row.key)))
        self._show(None)

    def show_picture(self, picture: FactsPicture | None, *, chat_known: bool, chat: bool) -> None:
        """Show the passages of the chat."""
        rows = picture.passages if picture is not None else ()
        self.model.set_rows(rows)
        for widget in (self.view, self.below):
            widget.setVisible(bool(rows))
        self.empty.setVisible(not rows)
        if picture is None:
            self.empty.say(tr("Reading the memories…"), "")
        elif not chat:
            self.empty.say(tr("No chat open"), tr("Open a chat: it is read in passages, each up to a long silence."))
        elif not chat_known:
            text = tr("Memories are known by the name of their chat's file. Save the chat first.")
            self.empty.say(tr("The chat is in no file yet"), text, (("chat.save", tr("Save chat")),))
        else:
            self.empty.say(tr("Nothing to read"), tr("The chat has no messages that are read."))

    def show_work(self, passage: str, *, busy: bool) -> None:
        """Show which passage is being read."""
        if (passage, busy) != (self._reading, self._busy):
            self._reading, self._busy = passage, busy
            self.model.set_rows(self.model.rows)
            self._show(self.view.current)

    def _with_row(self, do: object) -> None:
        row = self.view.current
        if isinstance(row, PassageRow) and callable(do):
            do(row)

    def _show(self, row: object) -> None:
        there = row if isinstance(row, PassageRow) else None
        self.read.setEnabled(there is not None and there.waiting and not self._busy)
        self.show_messages.setEnabled(there is not None)
        self.words.setText(self._tip(there) if there is not None else tr("Choose a passage to read what became of it."))

    def _state(self, row: PassageRow) -> str:
        if row.key == self._reading:
            return tr("Reading…")
        if row.failures:
            return tr("Failed")
        if row.changed:
            return tr("Edited since")
        if row.waiting:
            return tr("Waiting")
        return tr(_KEPT.get(row.state, row.state))

    def _icon(self, row: PassageRow) -> tuple[str, str]:
        if row.key == self._reading:
            return "play", "accent"
        if row.failures:
            return "error", "error"
        if row.changed:
            return "pencil", "warning"
        return ("dash", "text_faint") if row.waiting else ("check", "good")

    def _tone(self, row: PassageRow) -> str:
        return "error" if row.failures and row.key != self._reading else ""

    def _tip(self, row: PassageRow) -> str:
        told = [tr("Messages #{first} to #{last}.", first=row.first, last=row.last)]
        if row.failures:
            times = count(row.failures, "attempt", "attempts")
            why = shorten(row.problem, 300) or tr("it is not known why")
            told.append(tr("{times} failed: {why}", times=times, why=why if why.endswith(".") else f"{why}."))
            told.append(
                tr("Nothing of it is kept. Look at the provider, or choose another one; then draw it out again.")
            )
        elif row.changed:
            told.append(tr("Its messages were edited since its facts were kept; it will be read again."))
        elif row.waiting and row.state:
            told.append(tr("Reading it was broken off; it will be read again."))
        elif row.waiting:
            told.append(tr("Its facts are not drawn out yet."))
        else:
            told.append(tr("It is {state}.", state=tr(STATES.get(row.state, row.state))))
            told.append(tr("{memories} came from it.", memories=count(row.memories, "memory", "memories")))
        return " ".join(told)


class ProfilePage(QWidget):
    """The fields that rules have filled."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.setAccessibleName(tr("Profile"))
        columns = (RowColumn("Field", lambda row: row[0]), RowColumn("Holds", lambda row: row[1]))
        self.model = RowTable(theme, columns, lambda row: row[0], lambda row: f"{row[0]}: {row[1]}", self)
        self.view = RowView(theme, self.model, tr("Fields of the profile"), (130,), self)
        self.empty = EmptyState(theme, "list", self)
        text = tr(
            "Rules put readings and lists into a profile: “Rules for the profile” in the settings of fact memory."
        )
        self.empty.say(tr("No profile"), text, (("memories.settings", tr("Settings of fact memory")),))
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self.view)
        column.addWidget(self.empty)
        self.show_picture(None)

    def show_picture(self, picture: FactsPicture | None) -> None:
        """Show an owner's profile."""
        self.model.set_rows(picture.profile if picture is not None else ())
        self.view.setVisible(bool(self.model.rows))
        self.empty.setVisible(not self.model.rows)
