"""What a pane shows instead of nothing: what is missing, why, and what to do next."""

from __future__ import annotations

from functools import partial
from typing import Final

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from lorestudio.ui.layouts import drop_all
from lorestudio.ui.theme import Theme, glyph

TEXT_WIDTH: Final = 480
"""Longer lines are hard to read (device-independent pixels)."""


class EmptyState(QWidget):
    """A glyph, a title, a sentence and buttons. `pressed` carries the id of the chosen button."""

    pressed = Signal(str)

    def __init__(self, theme: Theme, icon: str, parent: QWidget | None = None, *, large: bool = False) -> None:
        super().__init__(parent)
        self._theme, self._icon_name, self._large = theme, icon, large
        column = QVBoxLayout(self)
        column.setContentsMargins(24, 18, 24, 18)
        column.setSpacing(8)
        self._icon = QLabel(self)
        self._icon.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        self.title = QLabel(self)
        self.title.setProperty("kind", "hero" if large else "title")
        self.text = QLabel(self)
        self.text.setProperty("kind", "muted")
        for label in (self.title, self.text):
            label.setAlignment(Qt.AlignmentFlag.AlignHCenter)
            label.setWordWrap(True)
            label.setMaximumWidth(TEXT_WIDTH)
            label.setMinimumWidth(0)
        self._buttons = QHBoxLayout()
        self._buttons.setSpacing(8)
        column.addStretch(2)
        column.addWidget(self._icon)
        for label in (self.title, self.text):
            line = QHBoxLayout()
            line.addStretch(1)
            line.addWidget(label, 100)
            line.addStretch(1)
            column.addLayout(line)
        column.addSpacing(4)
        column.addLayout(self._buttons)
        column.addStretch(3)
        self.setMinimumHeight(20)
        theme.changed.connect(self._paint)
        self._paint()

    def say(self, title: str, text: str, buttons: tuple[tuple[str, str], ...] = ()) -> None:
        """Show these words; each button is its id and its title, the first is the one that most people want."""
        self.title.setText(title)
        self.text.setText(text)
        self.setAccessibleName(title)
        self.setAccessibleDescription(text)
        drop_all(self._buttons)
        self._buttons.addStretch(1)
        for place, (action, caption) in enumerate(buttons):
            button = QPushButton(caption, self)
            if place == 0:
                button.setProperty("kind", "primary")
            button.clicked.connect(partial(self.pressed.emit, action))
            self._buttons.addWidget(button)
        self._buttons.addStretch(1)

    def focus_first(self) -> None:
        """Give the keyboard to the first button, where there is one."""
        for place in range(self._buttons.count()):
            item = self._buttons.itemAt(place)
            widget = item.widget() if item is not None else None
            if widget is not None:
                widget.setFocus()
                return

    def _paint(self) -> None:
        size, color = (56, "accent") if self._large else (28, "text_faint")
        self._icon.setPixmap(glyph(self._icon_name, getattr(self._theme.palette, color), size))
