"""A line of two parts that becomes two lines where both do not fit beside each other."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import QEvent, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QGridLayout, QLabel, QSizePolicy, QWidget

GAP: Final = 8


class ElidedLabel(QLabel):
    """One line that ends in "…" where there is no room for all of it; the whole text is its tooltip then."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)

    def minimumSizeHint(self) -> QSize:
        """Qt: it can be as narrow as a few letters."""
        return QSize(self.fontMetrics().averageCharWidth() * 3, super().minimumSizeHint().height())

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Qt: draw what there is room for."""
        painter = QPainter(self)
        room = self.contentsRect()
        shown = self.fontMetrics().elidedText(self.text(), Qt.TextElideMode.ElideRight, room.width())
        self.style().drawItemText(
            painter, room, int(self.alignment()), self.palette(), self.isEnabled(), shown, self.foregroundRole()
        )
        painter.end()


class FoldingRow(QWidget):
    """`first` takes the room that `second` leaves; where there is too little for both, `second` stands below.

    What they need is their size hint; it is asked for again whenever one of them changes.
    """

    def __init__(self, first: QWidget, second: QWidget, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.first, self.second = first, second
        self._grid = QGridLayout(self)
        self._grid.setHorizontalSpacing(GAP)
        self._grid.setVerticalSpacing(2)
        self._grid.setColumnStretch(0, 1)
        self._grid.addWidget(first, 0, 0)
        self._grid.addWidget(second, 0, 1)
        self.folded = False

    def set_margins(self, left: int, top: int, right: int, bottom: int) -> None:
        """Room around both, in pixels."""
        self._grid.setContentsMargins(left, top, right, bottom)

    def minimumSizeHint(self) -> QSize:
        """Qt: as narrow as the wider of the two can be."""
        margins = self._grid.contentsMargins()
        wide = max(self.first.minimumSizeHint().width(), self.second.minimumSizeHint().width())
        height = self._grid.minimumSize().height()
        return QSize(wide + margins.left() + margins.right(), height)

    def event(self, event: QEvent) -> bool:
        """Qt: a part became wider or narrower."""
        if event.type() is QEvent.Type.LayoutRequest:
            self._arrange()
        return super().event(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Qt: fold or unfold."""
        super().resizeEvent(event)
        self._arrange()

    def _arrange(self) -> None:
        margins = self._grid.contentsMargins()
        room = self.width() - margins.left() - margins.right()
        folded = self.first.sizeHint().width() + GAP + self.second.sizeHint().width() > room
        if folded != self.folded:
            self.folded = folded
            self._grid.removeWidget(self.second)
            self._grid.addWidget(self.second, int(folded), 0 if folded else 1)
