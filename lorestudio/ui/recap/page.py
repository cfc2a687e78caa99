"""What every page of the pane is: rows above, and below what there is to say about the chosen one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QSplitter, QVBoxLayout, QWidget

from lorestudio.studio.recap.picture import RecapPicture
from lorestudio.ui.models.row_table import RowColumn, RowTable
from lorestudio.ui.recap.text_field import RecapText
from lorestudio.ui.theme import Theme
from lorestudio.ui.widgets.empty import EmptyState
from lorestudio.ui.widgets.row_view import RowView


class Page(QWidget):
    """`view` is the table, `below` the column under it. Without rows, `empty` stands in the table's place."""

    def __init__(
        self,
        theme: Theme,
        columns: Sequence[RowColumn],
        key: Callable[[Any], object],
        tip: Callable[[Any], str],
        name: str,
        widths: Sequence[int],
    ) -> None:
        super().__init__()
        self.setAccessibleName(name)
        self.theme = theme
        self._path: Path | None = None
        self._divided = False
        self.model = RowTable(theme, columns, key, tip, self)
        self.view = RowView(theme, self.model, name, widths, self)
        self.empty = EmptyState(theme, "list", self)
        self.words = QLabel(self)
        self.words.setProperty("kind", "small")
        self.words.setWordWrap(True)
        self.words.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.detail = QWidget(self)
        self.below = QVBoxLayout(self.detail)
        self.below.setContentsMargins(8, 4, 8, 6)
        self.below.setSpacing(4)
        self.below.addWidget(self.words)
        upper = QWidget(self)
        stack = QVBoxLayout(upper)
        stack.setContentsMargins(0, 0, 0, 0)
        stack.addWidget(self.view)
        stack.addWidget(self.empty)
        self.splitter = QSplitter(Qt.Orientation.Vertical, self)
        self.splitter.addWidget(upper)
        self.splitter.addWidget(self.detail)
        self.splitter.setStretchFactor(0, 1)
        self.splitter.setStretchFactor(1, 0)
        self.splitter.setChildrenCollapsible(False)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self.splitter)
        self.model.modelReset.connect(self._show_rows)
        self._show_rows()

    def say(self, text: str) -> None:
        """What there is to say about the chosen row, or about all of them."""
        self.words.setText(text)
        self.words.setVisible(bool(text))

    def forget_others(self, picture: RecapPicture | None, text: RecapText) -> None:
        """Give up what was written about another chat."""
        path = picture.path if picture is not None else None
        if path != self._path:
            self._path = path
            text.forget()

    def add_row(self, *widgets: QWidget) -> None:
        """Put these beside each other at the bottom."""
        row = QHBoxLayout()
        row.setSpacing(6)
        for widget in widgets:
            row.addWidget(widget)
        row.addStretch(1)
        self.below.addLayout(row)

    def small_button(self, text: str, tip: str) -> QPushButton:
        """A small button of this page."""
        button = QPushButton(text, self)
        button.setProperty("kind", "small")
        button.setToolTip(tip)
        return button

    def showEvent(self, event: QShowEvent) -> None:
        """Qt: rows and what is said about one share the room."""
        super().showEvent(event)
        if not self._divided:
            self._divided = True
            self.splitter.setSizes([self.height() // 2, self.height() // 2])

    def _show_rows(self) -> None:
        there = bool(self.model.rows)
        self.view.setVisible(there)
        self.empty.setVisible(not there)
        self.detail.setVisible(there)
