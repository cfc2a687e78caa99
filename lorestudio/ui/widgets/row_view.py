"""The view of a `RowTable`: one row is chosen at a time, the last column takes what is left."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from PySide6.QtCore import QSize, Signal
from PySide6.QtGui import QKeyEvent, QKeySequence
from PySide6.QtWidgets import QHeaderView, QTableView, QWidget

from lorestudio.ui.models.row_table import RowTable
from lorestudio.ui.theme import Theme

ROW_HEIGHT: Final = 24


class RowView(QTableView):
    """`chosen` carries the row that is looked at, or None; `pressed` follows Enter or a double click.

    `picked` carries a row that a person has gone to.
    """

    chosen = Signal(object)
    picked = Signal(object)
    pressed = Signal(object)

    def __init__(
        self, theme: Theme, model: RowTable, name: str, widths: Sequence[int], parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._rows = model
        self._key: object = None
        self._following = False
        self.setModel(model)
        self.setAccessibleName(name)
        self.setSelectionBehavior(QTableView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QTableView.SelectionMode.SingleSelection)
        self.setShowGrid(False)
        self.setWordWrap(False)
        self.setTabKeyNavigation(False)
        self.setIconSize(QSize(14, 14))
        self.setVerticalScrollMode(QTableView.ScrollMode.ScrollPerPixel)
        rows = self.verticalHeader()
        rows.hide()
        rows.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        rows.setDefaultSectionSize(ROW_HEIGHT)
        head = self.horizontalHeader()
        head.setHighlightSections(False)
        head.setStretchLastSection(True)
        for place, width in enumerate(widths):
            head.resizeSection(place, width)
        # The current row alone also changes when the keyboard comes in, which is no choice.
        self.selectionModel().selectionChanged.connect(lambda *_both: self._changed())
        self.doubleClicked.connect(lambda index: self.pressed.emit(model.row(index.row())))
        model.modelReset.connect(self._find_again)
        model.dataChanged.connect(lambda *_all: self._tell())
        theme.changed.connect(self.viewport().update)

    @property
    def current(self) -> Any:  # noqa: ANN401  # whatever the table is made of
        """The row that is looked at, None where none is."""
        chosen = self.selectionModel().selectedRows()
        return self._rows.row(chosen[0].row()) if chosen else None

    def choose(self, key: object) -> None:
        """Look at the row of this key; nothing is emitted about it as a person's choice."""
        place = self._rows.place_of(key)
        self._following = True
        try:
            if place < 0:
                self.selectionModel().clear()
            elif self.current is not self._rows.row(place):
                self.selectRow(place)
                self.scrollTo(self._rows.index(place, 0))
        finally:
            self._following = False
        self._tell()

    def _changed(self) -> None:
        row = self.current
        if row is not None:
            self._key = self._rows.key_of(row)
            if not self._following:
                self._tell()
                self.picked.emit(row)

    def _find_again(self) -> None:
        """The rows are other ones: the one that was looked at is looked at again."""
        if self._key is not None:
            self.choose(self._key)
        else:
            self._tell()

    def _tell(self) -> None:
        self.chosen.emit(self.current)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Qt: Enter goes on with the row."""
        if event.matches(QKeySequence.StandardKey.InsertParagraphSeparator) and self.current is not None:
            self.pressed.emit(self.current)
            return
        super().keyPressEvent(event)
