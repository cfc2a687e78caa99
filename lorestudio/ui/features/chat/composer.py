"""Where messages are written: a field under the chat, as whom, and above it a reply while it comes."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Final

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QActionGroup, QResizeEvent
from PySide6.QtWidgets import QApplication, QComboBox, QGridLayout, QMenu, QToolButton, QWidget

from lorestudio.domain.texts import shorten
from lorestudio.studio.chat.editing import Voice
from lorestudio.ui.shell.words import tr
from lorestudio.ui.widgets.layouts import (
    FinishedText,
    able,
    button,
    column,
    combo,
    holding,
    label,
    letters,
    named,
    row,
    show_words,
    text_field,
)

MOST_LINES: Final = 6
"""The field grows to so many lines."""

REPLY_LINES: Final = 5
_LONGEST: Final = 22
NARROW: Final = 430
"""A composer less wide than this (device-independent pixels) has its field above the rest."""

_BORDER: Final = 5
"""Pixels of border and margin around a field, as the style sheet has it."""


class MessageField(FinishedText):
    """The text of a message. `widened` says that it has another width, at which its lines break elsewhere."""

    widened = Signal()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Qt: lines are broken anew, which the document does not tell."""
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self.widened.emit()


class Composer(QWidget):
    """`written` carries a text and the voice it is written in; `wanted` the id of an action.

    `writer_chosen` carries who is to write replies: "" for the person, or an answer source's name. A reply grows in the
    list of messages; here is what goes on, and what came of one that is not whole, to be changed (`changed`), kept
    (`kept`, with its text) or thrown away. `shown` asks for the reply that is being written.
    """

    written = Signal(str, object)
    wanted = Signal(str)
    writer_chosen = Signal(str)
    kept = Signal(str)
    changed = Signal(str)
    thrown_away = Signal()
    shown = Signal()
    left = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._away = False
        reply = self._make_reply()
        self._grid = QGridLayout()
        self._grid.setSpacing(6)
        self._grid.setColumnStretch(1, 1)
        self.voice = combo(self, tr("Write as"), dict.fromkeys(Voice, ""))
        self.voice.setToolTip(tr("As whom you write. What the system says reaches the model, and is not searched."))
        self.voice.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        self.voice.setMaximumWidth(150)
        tip = tr("Enter puts it into the chat, Shift+Enter begins a new line, Escape goes back to the messages")
        field = MessageField(self, tabChangesFocus=True, placeholderText=tr("Write a message…"))
        self.field = named(field, tr("Message"), tip)
        self.field.sends = True
        self.field.setObjectName("Boxed")
        self.field.textChanged.connect(self._changed)
        self.field.widened.connect(self._changed)
        self.field.finished.connect(self.write)
        self.field.given_up.connect(self.left)
        self._buttons = self._make_buttons()
        self._narrow: bool | None = None
        self._arrange(narrow=False)
        self.hint = named(label(self, kind="small", rich=True), tr("About the last reply"))
        self.hint.linkActivated.connect(self.wanted)
        self.hint.hide()
        column(reply, self.hint, self._grid, of=self, spacing=4, margins=(8, 4, 8, 4))
        self._writers = QActionGroup(self)
        self.show_names("", "")
        self._changed()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Qt: a narrow composer has its field in a line of its own."""
        self._arrange(narrow=event.size().width() < NARROW * letters(self))

    def minimumSizeHint(self) -> QSize:
        """Qt: with room for all lines of what is said, for which a dock does not ask."""
        least, layout = super().minimumSizeHint(), self.layout()
        return least if layout is None else QSize(least.width(), layout.totalMinimumHeightForWidth(self.width()))

    def _arrange(self, *, narrow: bool) -> None:
        if narrow == self._narrow:
            return
        self._narrow = narrow
        below = 1 if narrow else 0
        for part in (self.voice, self.field, self._buttons):
            self._grid.removeWidget(part)  # else PySide takes what Qt makes later at the freed address for its item
        self._grid.addWidget(self.voice, below, 0, Qt.AlignmentFlag.AlignTop)
        self._grid.addWidget(self.field, 0, 0 if narrow else 1, 1, 3 if narrow else 1)
        self._grid.addWidget(self._buttons, below, 2, Qt.AlignmentFlag.AlignTop)

    # ---- writing ----------------------------------------------------------------------------------------------------

    def write(self) -> None:
        """Hand over what is written; nothing where nothing is."""
        text = self.field.toPlainText().strip()
        if text:
            self.tell("")
            self.field.clear()
            self.written.emit(text, Voice(self.voice.currentData()))  # Qt keeps it as a plain text

    def show_names(self, user: str, character: str) -> None:
        """Say who the two sides are."""
        words = {
            Voice.YOU: user or tr("You"),
            Voice.CHARACTER: character or tr("Character"),
            Voice.SYSTEM: tr("System"),
        }
        for place, voice in enumerate(Voice):
            self.voice.setItemText(place, shorten(words[voice], _LONGEST))

    def show_writers(self, names: Sequence[tuple[str, str]], chosen: str) -> None:
        """The choices for who writes replies: names with titles."""
        menu = self.reply_button.menu()
        menu.clear()
        for name, title in names:
            action = menu.addAction(title)
            action.setCheckable(True)
            action.setChecked(name == chosen)
            self._writers.addAction(action)
            action.triggered.connect(lambda _checked=False, name=name: self.writer_chosen.emit(name))
        menu.addSeparator()
        menu.addAction(tr("Provider profiles…"), partial(self.wanted.emit, "profiles.edit"))
        menu.addAction(tr("Card, persona and prompt…"), partial(self.wanted.emit, "chat.setup"))
        title = next((title for name, title in names if name == chosen), chosen)
        self.reply_button.setToolTip(tr("Replies: {writer}", writer=title))
        self.reply_button.setText(tr("Reply"))

    def offer_writers(self) -> None:
        """Open the menu that has who may write replies."""
        menu = self.reply_button.menu()
        menu.popup(self.reply_button.mapToGlobal(self.reply_button.rect().bottomLeft()))

    # ---- a reply that comes -----------------------------------------------------------------------------------------

    def tell(self, text: str) -> None:
        """Say this above the field, "" for nothing; links are ids of actions."""
        show_words(self.hint, text)

    def begin_reply(self) -> None:
        """A reply is asked for; `reply_label` says what is going on."""
        self.tell("")
        self._show_reply("", deciding=False)

    def offer_show(self, offered: bool) -> None:
        """Whether there is a button that leads to the reply."""
        self._away = offered
        self.show_reply.setVisible(offered and not self.deciding)

    def ask_about(self, text: str, came: str) -> None:
        """The reply is not whole: the person keeps what came, changed or not, or throws it away."""
        self.reply_text.setPlainText(came)
        self._show_reply(text, deciding=True)
        now = QApplication.focusWidget()
        if now is None or not now.testAttribute(Qt.WidgetAttribute.WA_InputMethodEnabled):  # nobody writes elsewhere
            self.reply_text.setFocus()

    def end_reply(self) -> None:
        """Nothing is being written any more."""
        self.reply_box.hide()

    @property
    def deciding(self) -> bool:
        """Whether a reply waits for the person to keep it or throw it away."""
        return not self.reply_box.isHidden() and not self.keep.isHidden()

    @property
    def begun(self) -> str:
        """What is being written and in no chat yet, in a sentence; "" for nothing."""
        if self.field.toPlainText().strip():
            return tr("The message that you began was not sent.")
        if self.reply_box.isHidden():
            return ""
        return tr("What came of the reply is not kept yet.") if self.deciding else tr("A reply is being written.")

    def give_up(self) -> None:
        """Throw away what is written here."""
        self.field.clear()
        if self.begun:
            self.thrown_away.emit()

    def _show_reply(self, text: str, *, deciding: bool) -> None:
        self.reply_label.setText(text)
        self.stop.setVisible(not deciding)
        self.reply_text.setVisible(deciding)
        self.show_reply.setVisible(self._away and not deciding)
        self.keep.setVisible(deciding)
        self.throw.setVisible(deciding)
        self.reply_box.show()

    def _make_reply(self) -> QWidget:
        self.reply_box = box = QWidget(self)
        self.reply_text = text_field(box, tr("What came of the reply"))
        self.reply_text.textChanged.connect(lambda: self.changed.emit(self.reply_text.toPlainText()))
        self.reply_text.setFixedHeight(self.reply_text.fontMetrics().lineSpacing() * REPLY_LINES + 12)
        self.reply_label = label(box, kind="small")
        self.stop = button(box, tr("Stop"), lambda: self.wanted.emit("reply.stop"))
        tip = tr("Scroll to the reply that is being written, and follow it")
        self.show_reply = button(box, tr("Show it"), self.shown, tip=tip)
        keep = tr("Keep what came")
        self.keep = button(box, keep, lambda: self.kept.emit(self.reply_text.toPlainText()), kind="primary")
        self.throw = button(box, tr("Throw away"), self.thrown_away)
        state = row((self.reply_label, 1), self.show_reply, self.stop)
        choice = row(1, self.throw, self.keep)  # below what went wrong, which has room for whole lines so
        column(self.reply_text, state, choice, of=box, spacing=4, margins=(0, 0, 0, 2))
        box.hide()
        return box

    def _make_buttons(self) -> QWidget:
        self.send = button(self, tr("Send"), self.write, tip=tr("Put the message into the chat (Enter)"))
        self.reply_button = made = named(QToolButton(self), tr("Get a reply, and choose who writes it"), kind="text")
        made.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        made.setPopupMode(QToolButton.ToolButtonPopupMode.MenuButtonPopup)
        made.setMenu(QMenu(made))
        made.setIconSize(QSize(14, 14))
        made.clicked.connect(lambda: self.wanted.emit("reply.get"))
        return holding(row(self.send, made, spacing=4, margins=0), self)

    def _changed(self) -> None:
        lines = min(MOST_LINES, max(1, round(self.field.document().size().height())))  # Qt counts in lines here
        margins = 2 * (self.field.document().documentMargin() + _BORDER) + 2
        self.field.setFixedHeight(round(self.field.fontMetrics().lineSpacing() * lines + margins))
        able(self.send, bool(self.field.toPlainText().strip()), tr("Write a message first."))
