"""Inline messages: a bar inside the window that says what happened, why, and what can be done.

A strip of a tone, and one that says that only some rows are shown, and shows all again.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QSizePolicy, QWidget

from lorestudio.ui.shell.qt import plain
from lorestudio.ui.shell.theme import Theme
from lorestudio.ui.shell.words import Notice, Tone, tr
from lorestudio.ui.widgets.layouts import button, column, label, row, tight, tool
from lorestudio.ui.widgets.pane import drop_all

_ICONS = {"good": "check", "neutral": "info", "warning": "warning", "error": "error"}


class TonedBar(QFrame):
    """A strip on the soft ground of its tone. It paints that itself: Qt's palette has no room for it."""

    def __init__(self, theme: Theme, parent: QWidget | None = None, tone: str = "neutral") -> None:
        super().__init__(parent)
        self.setObjectName("Bar")
        self._theme, self._tone = theme, tone

    def set_tone(self, tone: str) -> None:
        """Paint it in another tone."""
        self._tone = tone
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Qt: the ground, and the line below it."""
        with QPainter(self) as painter:
            painter.fillRect(event.rect(), self._theme.color(f"{self._tone}_soft"))
        super().paintEvent(event)


class MessageBar(TonedBar):
    """One message with its buttons. `closed` follows a click on the cross, `pressed` carries the id of a button.

    A `stacked` bar has its buttons below the text, as a narrow pane needs it.
    """

    closed = Signal()
    pressed = Signal(str)

    def __init__(self, theme: Theme, parent: QWidget | None = None, *, stacked: bool = False) -> None:
        super().__init__(theme, parent)
        self._icon = QLabel(self)
        self.label = label(self)
        self.label.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        self.label.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self._buttons = QHBoxLayout()
        self._close = tool(self, tr("Dismiss this message"), self.closed, tip=tr("Dismiss"))
        upper = Qt.AlignmentFlag.AlignTop if stacked else Qt.AlignmentFlag.AlignVCenter
        line = row(spacing=8, margins=(10, 4, 6, 4))
        line.addWidget(self._icon, 0, upper)
        if stacked:
            line.addLayout(column(self.label, row(self._buttons, 1), spacing=4), 1)
        else:
            line.addWidget(self.label, 1)
            line.addLayout(self._buttons)
        line.addWidget(self._close, 0, upper)
        self.setLayout(line)
        theme.changed.connect(self._paint)
        self.hide()

    def say(
        self, text: str, tone: Tone = "neutral", buttons: tuple[tuple[str, str], ...] = (), details: str = ""
    ) -> None:
        """Show `text`; each button is its id and its title."""
        self.set_tone(tone)
        self.label.setText(text)
        self.label.setToolTip(plain(details))
        self.setAccessibleName(text)
        drop_all(self._buttons)
        for action, title in buttons:
            self._buttons.addWidget(button(self, title, partial(self.pressed.emit, action)))
        self._paint()
        self.show()

    def _paint(self) -> None:
        icon = self._theme.icon(_ICONS.get(self._tone, "info"), self._tone)
        self._icon.setPixmap(icon.pixmap(16, 16))
        self._close.setIcon(self._theme.icon("close", "text_muted"))


class BarStack(QWidget):
    """The messages of the window, newest on top, at most three; a notice with a known key replaces the older one."""

    pressed = Signal(str)
    MOST = 3

    def __init__(self, theme: Theme, title_of: Callable[[str], str], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme, self._title_of = theme, title_of
        self._column = tight(of=self)
        self._bars: list[tuple[Notice, MessageBar]] = []
        self.hide()

    @property
    def texts(self) -> list[str]:
        """What is said at present, newest first."""
        return [notice.text for notice, _bar in self._bars]

    def add(self, notice: Notice) -> None:
        """Show a notice."""
        for known, bar in list(self._bars):
            if known.text == notice.text or (notice.key and known.key == notice.key):
                self._remove(bar)
        bar = MessageBar(self._theme, self)
        bar.closed.connect(partial(self._remove, bar))
        bar.pressed.connect(self.pressed)
        buttons = tuple((action, self._title_of(action)) for action in notice.actions)
        if notice.details:
            buttons += (("help.details", tr("Details")),)
        bar.say(notice.text, notice.tone, buttons, notice.details)
        self._bars.insert(0, (notice, bar))
        self._column.insertWidget(0, bar)
        for _known, old in self._bars[self.MOST :]:
            self._remove(old)
        self.show()

    def drop(self, key: str) -> None:
        """Take the message with that key away: it is not true any more."""
        for known, bar in list(self._bars):
            if known.key == key:
                self._remove(bar)

    def clear(self) -> None:
        """Take all messages away."""
        for _notice, bar in list(self._bars):
            self._remove(bar)

    def details(self) -> str:
        """The details of the newest message that has some."""
        return next((notice.details for notice, _bar in self._bars if notice.details), "")

    def _remove(self, bar: MessageBar) -> None:
        self._bars = [pair for pair in self._bars if pair[1] is not bar]
        self._column.removeWidget(bar)
        bar.hide()
        bar.deleteLater()
        self.setVisible(bool(self._bars))


class FilterStrip(TonedBar):
    """`cleared` follows the button."""

    cleared = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(theme, parent)
        self.label = label(self, wrap=False)
        self.label.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.button = button(self, tr("Show all"), self.cleared, name=tr("Show all rows again"))
        self.setLayout(row((self.label, 1), self.button, margins=(10, 2, 6, 2)))
        self.hide()

    def say(self, words: str) -> None:
        """What the rows are that are left."""
        self.label.setText(tr("Only: {words}", words=words))
        self.label.setToolTip(plain(self.label.text()))
        self.setAccessibleName(self.label.text())
        self.show()
