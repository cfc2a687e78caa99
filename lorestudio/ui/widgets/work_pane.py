"""A pane of something that is made of the chat: buttons and progress on top, its parts as tabs below.

A running job: what it does, how far it came, and a way to stop it.

A recap as text that can be written, with buttons that appear once it was.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Final

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QAccessible, QAccessibleEvent, QAction, QKeyEvent
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLabel,
    QMenu,
    QPlainTextEdit,
    QProgressBar,
    QPushButton,
    QSizePolicy,
    QStackedWidget,
    QTabWidget,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from lorestudio.ui.shell.theme import Theme
from lorestudio.ui.shell.words import number, tr
from lorestudio.ui.widgets.pane import EmptyState, Pane


class SmallText(QPlainTextEdit):
    """A text that asks for three lines and makes do with two."""

    def sizeHint(self) -> QSize:
        """Qt: see the class."""
        return QSize(200, self.fontMetrics().lineSpacing() * 3 + 16)

    def minimumSizeHint(self) -> QSize:
        """Qt: see the class."""
        return QSize(80, self.fontMetrics().lineSpacing() * 2 + 16)


class _Lines(SmallText):
    """Ctrl+Enter keeps the text, Escape gives it up; Tab goes on."""

    kept = Signal()
    given_up = Signal()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Qt: see the class."""
        enter = event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter)
        if enter and event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            self.kept.emit()
        elif event.key() == Qt.Key.Key_Escape:
            self.given_up.emit()
        else:
            super().keyPressEvent(event)


class RecapText(QWidget):
    """Shows the text of something known by a key. `written` carries that key and another text for it.

    What a person has written and not kept is there again whenever the same thing is shown. `left` follows Escape where
    nothing is to be given up.
    """

    written = Signal(object, str)
    left = Signal()

    def __init__(self, name: str, parent: QWidget | None = None, *, tip: str = "") -> None:
        super().__init__(parent)
        self._key: object = None
        self._text = ""
        self._sent: str | None = None
        self._drafts: dict[object, str] = {}
        self.lines = _Lines(self)
        self.lines.setObjectName("Boxed")
        self.lines.setTabChangesFocus(True)
        self.lines.setAccessibleName(name)
        self.remark = QLabel(self)
        self.remark.setProperty("kind", "small")
        self.remark.setWordWrap(True)
        self.keep = QPushButton(tr("Keep"), self)
        self.keep.setProperty("kind", "primary")
        self.keep.setToolTip(tip or tr("Write it into the chat's file (Ctrl+Enter)"))
        self.back = QPushButton(tr("Back"), self)
        self.back.setToolTip(tr("Give up what was written (Esc)"))
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(4)
        column.addWidget(self.lines, 1)
        row = QHBoxLayout()
        row.setSpacing(6)
        row.addWidget(self.remark, 1)
        row.addWidget(self.keep)
        row.addWidget(self.back)
        column.addLayout(row)
        self.lines.textChanged.connect(self._show_buttons)
        self.lines.kept.connect(self._keep)
        self.lines.given_up.connect(self._give_up)
        self.keep.clicked.connect(self._keep)
        self.back.clicked.connect(self._give_up)
        self._show_buttons()

    @property
    def changed(self) -> bool:
        """Whether a person has written something that is not kept."""
        return self.lines.toPlainText() != self._text and not self.lines.isReadOnly()

    def show_text(self, key: object, text: str, *, editable: bool, placeholder: str = "", remark: str = "") -> None:
        """Show the text of another thing, or what the same one says by now."""
        if key == self._key and text != self._text and self.lines.toPlainText() == self._sent:
            self.taken()
        if self.changed and self._key is not None:
            self._drafts[self._key] = self.lines.toPlainText()
        draft = self._drafts.pop(key, text) if editable else text
        self._key, self._text = key, text
        if self.lines.toPlainText() != draft:
            self.lines.setPlainText(draft)
        self.lines.setReadOnly(not editable)
        self.lines.setPlaceholderText(placeholder)
        self.remark.setText(remark)
        self.remark.setVisible(bool(remark))
        self._show_buttons()

    def taken(self) -> None:
        """What was written last stands in the file now, whatever it was made of there."""
        if self.lines.toPlainText() == self._sent:
            self._text, self._sent = self._sent, None

    def forget(self) -> None:
        """Other things are shown from now on: what was written about the ones before is given up."""
        self._drafts.clear()
        self._key, self._text = None, ""
        self.lines.setPlainText("")

    def _show_buttons(self) -> None:
        for button in (self.keep, self.back):
            button.setVisible(self.changed)

    def _keep(self) -> None:
        if self.changed:
            self._sent = self.lines.toPlainText()
            self.written.emit(self._key, self._sent)

    def _give_up(self) -> None:
        if self.changed:
            self.lines.setPlainText(self._text)
        else:
            self.left.emit()


ANNOUNCE_SECONDS: Final = 1.0
"""Screen readers hear about progress at most this often."""


class ProgressStrip(QWidget):
    """Hidden while nothing runs. `cancelled` follows the stop button."""

    cancelled = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        row = QHBoxLayout(self)
        row.setContentsMargins(10, 3, 8, 3)
        row.setSpacing(10)
        self.label = QLabel(self)
        self.label.setProperty("kind", "small")
        self.bar = QProgressBar(self)
        self.bar.setTextVisible(False)
        self.bar.setAccessibleName(tr("Progress"))
        self.stop = QPushButton(tr("Stop"), self)
        self.stop.setToolTip(tr("Stop the replay (Ctrl+.)"))
        self.stop.clicked.connect(self.cancelled)
        row.addWidget(self.label)
        row.addWidget(self.bar, 1)
        row.addWidget(self.stop)
        self._announced = 0.0
        self._reply = ""
        self._left = ""
        self._before = 0
        self.hide()

    def start(self, text: str, *, stoppable: bool) -> None:
        """Show that something began; how long it takes is not known yet."""
        self._reply, self._left, self._before = text, "", 0
        self.label.setText(text)
        self.bar.setRange(0, 0)
        self.stop.setVisible(stoppable)
        self.stop.setEnabled(True)
        self.show()

    def set_outlook(self, left: str, before: int) -> None:
        """What the next progress says besides: how long it will take, and how many replies come before a range."""
        self._left, self._before = left, before

    def set_progress(self, done: int, total: int) -> None:
        """Show how far the replay came."""
        self.bar.setRange(0, max(total, 1))
        self.bar.setValue(done)
        if self._before:
            text = tr("{done} done, replies before the range first", done=number(done))
        else:
            text = tr("Reply {done} of {total}", done=number(done), total=number(total))
        text = " · ".join(part for part in (text, self._left) if part)
        self._reply = text
        self.label.setText(text)
        self.setAccessibleDescription(text)
        now = time.monotonic()
        if now - self._announced >= ANNOUNCE_SECONDS:
            self._announced = now
            QAccessible.updateAccessibility(QAccessibleEvent(self, QAccessible.Event.DescriptionChanged))

    def show_stage(self, stage: str, seconds: float) -> None:
        """Show the stage that takes its time; nothing while a stop is under way."""
        if self.stop.isEnabled() and stage:
            text = tr("{reply} · {stage} {seconds:.0f} s", reply=self._reply, stage=stage, seconds=seconds)
            self.label.setText(text)

    def stopping(self) -> None:
        """Show that the wish to stop was heard."""
        self.label.setText(tr("Stopping…"))
        self.stop.setEnabled(False)

    def finish(self) -> None:
        """Nothing runs any more."""
        self.hide()


_ANSWERS: Final = ("answers.stand-in", "answers.recorded", "answers.provider", "answers.typed")


class WorkPane(Pane):
    """`wanted` carries the id of an action that a button asks for; `again` follows the wish to try once more.

    `state` says how the work stands, `asked` who does it, `notice` what is wrong with what is shown; `empty` takes the
    place of everything where there is nothing to show.
    """

    wanted = Signal(str)
    again = Signal()

    def __init__(self, name: str, title: str, theme: Theme, icon: str) -> None:
        super().__init__(name, title, theme)
        self.tabs = QTabWidget(self)
        self.tabs.setDocumentMode(True)
        self.tabs.setUsesScrollButtons(True)
        self.empty = EmptyState(theme, icon, self)
        self.empty.pressed.connect(self._press)
        self.buttons: dict[str, QToolButton] = {}
        self.more, self.asked = QToolButton(self), QToolButton(self)
        self.state = QLabel(self)
        self.state.setProperty("kind", "small")
        self.state.setWordWrap(True)
        self.progress = QProgressBar(self)
        self.progress.setTextVisible(False)
        self.progress.hide()
        self.notice, self.notice_text, self.notice_button = QFrame(self), QLabel(self), QPushButton(self)
        self._whole = QWidget(self)
        column = QVBoxLayout(self._whole)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self._make_head())
        column.addWidget(self._make_notice())
        column.addWidget(self.tabs, 1)
        self._pages = QStackedWidget(self)
        self._pages.addWidget(self.empty)
        self._pages.addWidget(self._whole)
        self.column.addWidget(self._pages, 1)

    def _make_head(self) -> QWidget:
        """The buttons in a row with `more` and `asked`, and the progress."""
        raise NotImplementedError

    def _make_notice(self) -> QWidget:
        self.notice.setObjectName("Bar")
        self.notice.setProperty("tone", "warning")
        row = QHBoxLayout(self.notice)
        row.setContentsMargins(10, 5, 8, 5)
        self.notice_text.setWordWrap(True)
        self.notice_text.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        row.addWidget(self.notice_text, 1)
        row.addWidget(self.notice_button)
        self.notice.hide()
        return self.notice

    def _button_row(self, names: Sequence[str], with_text: Sequence[str], more: str, tip: str) -> QHBoxLayout:
        """A row of buttons for these actions and of `more`, which is called so."""
        row = QHBoxLayout()
        row.setSpacing(4)
        for name in names:
            self.buttons[name] = button = QToolButton(self)
            button.setIconSize(QSize(15, 15))
            if name in with_text:
                button.setProperty("kind", "text")
                button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
            row.addWidget(button)
        self.more.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.more.setAccessibleName(more)
        self.more.setToolTip(tip)
        row.addWidget(self.more)
        self.asked.setProperty("kind", "text")
        self.asked.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        return row

    def _take_actions(self, actions: Mapping[str, QAction], menu: Sequence[str]) -> None:
        """Give the buttons and the two menus their actions; "" in `menu` is a line between two."""
        for name, button in self.buttons.items():
            button.setDefaultAction(actions[name])
        for holder, names in ((self.more, menu), (self.asked, _ANSWERS)):
            made = QMenu(holder)
            for name in names:
                if name:
                    made.addAction(actions[name])
                else:
                    made.addSeparator()
            holder.setMenu(made)
        self.theme.changed.connect(self._paint)
        self._paint()

    def _press(self, name: str) -> None:
        if name == "again":
            self.again.emit()
        else:
            self.wanted.emit(name)

    def _paint(self) -> None:
        self.more.setIcon(self.theme.icon("chevron-down"))
