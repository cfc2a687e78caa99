"""A list of rows of different heights that measures only those in sight.

Qt's own list asks every row for its height before it shows the first one, which takes too long with thousands of
messages. Here a row out of sight has the height that its length suggests; it gets its true one when it comes into
sight, and what is being looked at stays where it is.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import Final

from PySide6.QtCore import (
    QAbstractItemModel,
    QItemSelection,
    QItemSelectionModel,
    QModelIndex,
    QPoint,
    QRect,
    Qt,
    QTimer,
)
from PySide6.QtGui import QMouseEvent, QPainter, QPaintEvent, QRegion, QResizeEvent
from PySide6.QtWidgets import QAbstractItemView, QListView, QStyle, QStyleOptionViewItem, QWidget

from lorestudio.ui.shell.qt import Index

ROUNDS: Final = 8
"""True heights bring other rows into sight, whose heights have to be asked for in turn; so often at most."""

Guess = Callable[[int, int], int]
"""The height in pixels of a text of so many characters, at a width in pixels."""


class MessageList(QListView):
    """Shows column 0 of a list model. `set_guess` says how long rows are and how high that makes them."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._lengths: Callable[[], Sequence[int]] = lambda: ()
        self._guess: Guess = lambda _length, _width: 40
        self._heights: list[int] = []
        self._true: set[int] = set()
        self._tops: list[int] = [0]  # one more than rows: the last is the height of all
        self._stale = True
        self.settling = False
        """Whether the list is finding out how high its rows are; it scrolls then without anybody having asked."""
        self._hover = -1
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)

    def set_guess(self, lengths: Callable[[], Sequence[int]], guess: Guess) -> None:
        """`lengths()` are the characters of all rows; quick, since it is asked for thousands at once."""
        self._lengths, self._guess = lengths, guess
        self._forget()

    def top(self) -> tuple[int, int]:
        """What is on top: a row, and how many pixels above its beginning the view begins (0 or less)."""
        self._settle()
        return self._anchor()

    def put_top(self, row: int, above: int) -> None:
        """Scroll so that `top()` is this again."""
        self._settle()
        if self._heights:
            self.verticalScrollBar().setValue(self._tops[min(row, len(self._heights) - 1)] - above)

    # ---- heights ----------------------------------------------------------------------------------------------------

    def _forget(self) -> None:
        self._stale = True
        self.viewport().update()

    def _follow_rows(self, first: int, gone: int, new: int) -> None:
        """Rows are gone or new at a place: what is in sight stays where it is."""
        row, above = self._anchor()
        end, more = first + gone, new - gone
        self._heights[first:end] = [0] * new
        self._true = {each if each < first else each + more for each in self._true if not first <= each < end}
        self._place()
        self._scroll(self._tops[row if row < first else max(first, row + more)] - above)
        self._forget()

    def _prepare(self) -> None:
        """Guess all heights where they are not known any more, keeping what is on top in its place."""
        if not self._stale or self.model() is None:
            return
        anchor, above = self._anchor()
        self._stale = False
        width, rows = self.viewport().width(), self.model().rowCount()
        known: dict[int, int] = {}
        lengths = [*self._lengths()][:rows]
        for length in lengths:
            if length not in known:
                known[length] = self._guess(length, width)
        self._heights = [known[length] for length in lengths] + [self._guess(0, width)] * (rows - len(lengths))
        self._true = set()
        self._place()
        self._scroll(self._tops[min(anchor, rows)] - above)

    def _anchor(self) -> tuple[int, int]:
        """The first row in sight whose height is true, or just the first, and how far above its top the view begins."""
        value = self.verticalScrollBar().value()
        rows = len(self._heights)
        first = min(max(0, bisect_right(self._tops, value) - 1), max(0, rows - 1))
        row, bottom = first, value + self.viewport().height()
        while row < rows and self._tops[row] < bottom:
            if row in self._true:
                return row, self._tops[row] - value
            row += 1
        return first, self._tops[first] - value

    def _place(self) -> None:
        self._tops = list(accumulate(self._heights, initial=0))

    def _scroll(self, value: int) -> None:
        """Take over the height of all, and scroll there; nothing is measured meanwhile."""
        bar, view = self.verticalScrollBar(), self.viewport().height()
        settling, self.settling = self.settling, True
        bar.setPageStep(view)
        bar.setRange(0, max(0, self._tops[-1] - view))
        bar.setValue(value)
        self.settling = settling

    def _settle(self) -> None:
        """Ask the rows in sight for their heights."""
        if self.settling or self.model() is None:
            return
        self.settling = True
        try:
            self._prepare()
            for _ in range(ROUNDS):
                anchor, above = self._anchor()
                if not self._measure(self._in_sight()):
                    break
                self._place()
                self._scroll(self._tops[anchor] - above)
        finally:
            self.settling = False

    def _in_sight(self) -> range:
        value = self.verticalScrollBar().value()
        first = max(0, bisect_right(self._tops, value) - 1)
        last = bisect_right(self._tops, value + self.viewport().height())
        return range(first, min(last, len(self._heights)))

    def _measure(self, rows: range) -> bool:
        """Measure these rows; whether any height was another than guessed."""
        option = QStyleOptionViewItem()
        self.initViewItemOption(option)
        different = False
        for row in rows:
            if row not in self._true:
                height = self.itemDelegate().sizeHint(option, self.model().index(row, 0)).height()
                different |= height != self._heights[row]
                self._heights[row] = height
                self._true.add(row)
        return different

    # ---- Qt: where things are ---------------------------------------------------------------------------------------

    def visualRect(self, index: Index) -> QRect:
        """Qt: where a row is in the viewport."""
        self._prepare()
        row = index.row()
        if not 0 <= row < len(self._heights):
            return QRect()
        top = self._tops[row] - self.verticalScrollBar().value()
        return QRect(0, top, self.viewport().width(), self._heights[row])

    def indexAt(self, point: QPoint) -> QModelIndex:
        """Qt: the row at a point of the viewport."""
        self._prepare()
        place = point.y() + self.verticalScrollBar().value()
        if self.model() is None:
            return QModelIndex()
        return self.model().index(bisect_right(self._tops, place) - 1, 0)

    def scrollTo(
        self, index: Index, hint: QAbstractItemView.ScrollHint = QAbstractItemView.ScrollHint.EnsureVisible
    ) -> None:
        """Qt: bring a row into sight."""
        self._settle()
        for _ in range(3):  # rows on the way turn out higher or lower
            rect, view = self.visualRect(index), self.viewport().height()
            value = self.verticalScrollBar().value()
            if not rect.isValid():
                return
            if hint is QAbstractItemView.ScrollHint.PositionAtCenter:
                wanted = value + rect.center().y() - view // 2
            elif hint is QAbstractItemView.ScrollHint.PositionAtTop or rect.top() < 0 or rect.height() > view:
                wanted = value + rect.top()
            elif hint is QAbstractItemView.ScrollHint.PositionAtBottom or rect.bottom() >= view:
                wanted = value + rect.bottom() + 1 - view
            else:
                return
            self.verticalScrollBar().setValue(wanted)
            self._settle()

    def verticalOffset(self) -> int:
        """Qt: how far it is scrolled."""
        return self.verticalScrollBar().value()

    def horizontalOffset(self) -> int:
        """Qt: it never scrolls sideways."""
        return 0

    def visualRegionForSelection(self, selection: QItemSelection) -> QRegion:
        """Qt: what has to be painted anew for these rows."""
        region = QRegion()
        for index in selection.indexes():
            region += QRegion(self.visualRect(index) & self.viewport().rect())
        return region

    def setSelection(self, rect: QRect, command: QItemSelectionModel.SelectionFlag) -> None:
        """Qt: choose the row at a place."""
        index = self.indexAt(rect.topLeft())
        if index.isValid():
            self.selectionModel().select(index, command)

    def moveCursor(self, action: QAbstractItemView.CursorAction, _modifiers: Qt.KeyboardModifier) -> QModelIndex:
        """Qt: where a key leads."""
        self._prepare()
        rows, row = len(self._heights), self.currentIndex().row()
        if not rows:
            return QModelIndex()
        keys = QAbstractItemView.CursorAction
        if action is keys.MoveHome or row < 0:
            row = 0
        elif action is keys.MoveEnd:
            row = rows - 1
        elif action in {keys.MovePageUp, keys.MovePageDown}:
            way = 1 if action is keys.MovePageDown else -1
            place = min(max(0, self._tops[row] + way * self.viewport().height()), self._tops[-1] - 1)
            row = way * max(way * (bisect_right(self._tops, place) - 1), way * (row + way))  # at least one row
        else:
            row += 1 if action in {keys.MoveDown, keys.MoveNext, keys.MoveRight} else -1
        return self.model().index(min(max(row, 0), rows - 1), 0)

    # ---- Qt: what changes -------------------------------------------------------------------------------------------

    def setModel(self, model: QAbstractItemModel | None) -> None:
        """Qt: show another model."""
        super().setModel(model)
        if model is not None:
            for signal in (model.rowsMoved, model.modelReset, model.layoutChanged):
                signal.connect(self._forget)
            model.rowsInserted.connect(lambda _parent, first, last: self._follow_rows(first, 0, last - first + 1))
            model.rowsRemoved.connect(lambda _parent, first, last: self._follow_rows(first, last - first + 1, 0))
        self._forget()

    def reset(self) -> None:
        """Qt: everything is another."""
        super().reset()
        self._forget()

    def doItemsLayout(self) -> None:
        """Qt: heights may be others."""
        self._forget()
        QAbstractItemView.doItemsLayout(self)  # it updates the geometries

    def dataChanged(self, first: Index, last: Index, roles: Sequence[int] = ()) -> None:
        """Qt: some rows are others."""
        QAbstractItemView.dataChanged(self, first, last, list(roles))
        self._true.difference_update(range(first.row(), last.row() + 1))
        self._settle()
        self.viewport().update()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Qt: another width breaks the lines anew; the chosen message stays in sight if it was."""
        rect, old, new = self.visualRect(self.currentIndex()), event.oldSize(), event.size()
        seen = rect.top() < old.height() and rect.bottom() >= 0
        QAbstractItemView.resizeEvent(self, event)
        if new.width() != old.width():
            self._forget()
        elif rect.top() < 0 or (rect.bottom() >= old.height() and rect.top() < new.height()):
            seen = False  # in part, as it still is
        if seen:
            QTimer.singleShot(0, self, lambda: self.scrollTo(self.currentIndex()))
        self.updateGeometries()

    def updateGeometries(self) -> None:
        """Qt: the scroll bar follows the rows."""
        self._settle()
        self._scroll(self.verticalScrollBar().value())
        self.updateEditorGeometries()

    def scrollContentsBy(self, _across: int, _down: int) -> None:
        """Qt: the scroll bar was moved."""
        self._settle()
        self.updateEditorGeometries()
        self.viewport().update()

    # ---- Qt: painting and the mouse ---------------------------------------------------------------------------------

    def paintEvent(self, event: QPaintEvent) -> None:
        """Qt: paint the rows in sight."""
        self._settle()
        with QPainter(self.viewport()) as painter:
            chosen, current = self.selectionModel(), self.currentIndex().row()
            for row in self._in_sight():
                index = self.model().index(row, 0)
                rect = self.visualRect(index)
                if not rect.intersects(event.rect()):
                    continue
                option = QStyleOptionViewItem()
                self.initViewItemOption(option)
                option.rect = rect
                option.state |= QStyle.StateFlag.State_Enabled
                if chosen.isSelected(index):
                    option.state |= QStyle.StateFlag.State_Selected
                if row == self._hover:
                    option.state |= QStyle.StateFlag.State_MouseOver
                if row == current and self.hasFocus():
                    option.state |= QStyle.StateFlag.State_HasFocus
                else:
                    option.state &= ~QStyle.StateFlag.State_HasFocus
                self.itemDelegate().paint(painter, option, index)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Qt: the row under the mouse is marked, and painted by Qt, as the one that was before."""
        self._hover = self.indexAt(event.position().toPoint()).row()
        super().mouseMoveEvent(event)

    def leaveEvent(self, event: object) -> None:
        """Qt: no row is under the mouse."""
        self._hover = -1
