"""The window's first line: the menu bar, the workspaces, the search field's button and the theme switch."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QMenuBar, QToolButton, QWidget

from lorestudio.ui.theme import Theme
from lorestudio.ui.words import tr


class TitleLine(QWidget):
    """`searched` asks for the palette, `theme_switched` for the other theme."""

    searched = Signal()
    theme_switched = Signal()

    def __init__(
        self, theme: Theme, bar: QMenuBar, make_workspaces: Callable[[QWidget], QToolButton], parent: QWidget
    ) -> None:
        super().__init__(parent)
        self._theme = theme
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 3, 8, 3)
        row.setSpacing(4)
        row.addWidget(bar)
        row.addStretch(1)
        self._search = QToolButton(self)
        self._search.setProperty("kind", "text")
        self._search.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self._search.setText(tr("Go to entry or command   Ctrl+P"))
        self._search.setAccessibleName(tr("Command palette"))
        self._search.clicked.connect(self.searched)
        self._switch = QToolButton(self)
        self._switch.setAccessibleName(tr("Switch between light and dark"))
        self._switch.setToolTip(tr("Switch between light and dark"))
        self._switch.clicked.connect(self.theme_switched)
        row.addWidget(make_workspaces(self))
        row.addWidget(self._search)
        row.addWidget(self._switch)
        theme.changed.connect(self._paint)
        self._paint()

    def _paint(self) -> None:
        self._search.setIcon(self._theme.icon("search"))
        self._switch.setIcon(self._theme.icon("contrast"))
