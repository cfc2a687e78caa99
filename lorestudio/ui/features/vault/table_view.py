"""The table of notes: a header that sorts and lets columns be chosen, rows as in the tree."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Final

from PySide6.QtCore import (
    QByteArray,
    QItemSelection,
    QItemSelectionModel,
    QObject,
    QPoint,
    QRectF,
    QSettings,
    QSize,
    Qt,
)
from PySide6.QtGui import QFontMetricsF, QPainter
from PySide6.QtWidgets import (
    QHeaderView,
    QMenu,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableView,
    QWidget,
)

from lorestudio.domain.entry import Entry, LeftOutNote
from lorestudio.ui.features.vault.table import ABOUT, COLUMNS, HIDDEN_AT_FIRST, Column, VaultTable, note_kind
from lorestudio.ui.shell.qt import DISPLAY, ITEM, MARK, Index
from lorestudio.ui.shell.theme import Theme
from lorestudio.ui.shell.words import tr
from lorestudio.ui.widgets.marks import Mark
from lorestudio.ui.widgets.paint import draw_glyph, draw_mark

ROW_HEIGHT: Final = 24
_LEFT = int(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft)
_RIGHT = int(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight)
_WIDTHS: Final = {
    Column.TITLE: 156,
    Column.STATE: 94,
    Column.FOLDER: 94,
    Column.VAULT: 90,
    Column.TAGS: 140,
    Column.MODIFIED: 116,
}
_NARROW: Final = 62
_QUIET: Final = {"not a candidate", "refused"}


class _NoteDelegate(QStyledItemDelegate):
    def __init__(self, theme: Theme, parent: QObject) -> None:
        super().__init__(parent)
        self._theme = theme

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        """Qt: all rows are equally tall."""
        return QSize(_NARROW, ROW_HEIGHT)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Qt: draw a cell."""
        note = index.data(ITEM)
        if not isinstance(note, Entry | LeftOutNote):
            return
        palette = self._theme.palette
        style = option.widget.style()
        style.drawPrimitive(QStyle.PrimitiveElement.PE_PanelItemViewItem, option, painter, option.widget)
        chosen = bool(option.state & QStyle.StateFlag.State_Selected)
        column = COLUMNS[index.column()]
        box = QRectF(option.rect).adjusted(6, 0, -6, 0)
        plain = isinstance(note, Entry) or column is Column.TITLE
        ink = palette.on_accent_soft if chosen else palette.text if plain else palette.text_muted
        painter.save()
        if column is Column.TITLE:
            box.setRight(self._right_side(painter, box, note, index))
        if column is Column.STATE:
            kind = note_kind(note)
            colour = palette.error if kind.icon == "broken" else palette.text_muted
            draw_glyph(painter, QRectF(box.left(), box.top(), 16, box.height()), kind.icon, colour, 14)
            box.setLeft(box.left() + 21)
        if column is Column.PROBLEMS and index.data(DISPLAY):
            place = QRectF(box.left(), box.top(), 16, box.height())
            draw_glyph(painter, place, "warning", palette.on_accent_soft if chosen else palette.warning, 13)
        painter.setFont(option.font)
        painter.setPen(ink)
        text = QFontMetricsF(option.font).elidedText(
            str(index.data(DISPLAY) or ""), Qt.TextElideMode.ElideRight, max(box.width(), 0)
        )
        painter.drawText(box, _RIGHT if ABOUT[column].numeric else _LEFT, text)
        painter.restore()

    def _right_side(self, painter: QPainter, box: QRectF, note: Entry | LeftOutNote, index: Index) -> float:
        right = box.right()
        mark = index.data(MARK)
        if isinstance(mark, Mark) and mark.word not in _QUIET:
            draw_mark(painter, QRectF(right - 17, box.top(), 17, box.height()), mark, self._theme, 16)
            right -= 21
        model = index.model()
        if isinstance(model, VaultTable) and model.is_dirty(note):
            place = QRectF(right - 12, box.top(), 12, box.height())
            draw_glyph(painter, place, "constant", self._theme.palette.accent, 11)
            right -= 15
        return right


class NoteTable(QTableView):
    """A view on a `VaultTable`. Its columns, their order and the sorting are remembered in `settings`."""

    def __init__(self, theme: Theme, model: VaultTable, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._settings: QSettings | None = None
        self._model = model
        self.setModel(model)
        self.setItemDelegate(_NoteDelegate(theme, self))
        self.setSelectionBehavior(QTableView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QTableView.SelectionMode.ExtendedSelection)
        self.setShowGrid(False)
        self.setWordWrap(False)
        self.setTabKeyNavigation(False)
        self.setAccessibleName(tr("Notes of the vault, as a table"))
        self.setVerticalScrollMode(QTableView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollMode(QTableView.ScrollMode.ScrollPerPixel)
        rows = self.verticalHeader()
        rows.hide()
        rows.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        rows.setDefaultSectionSize(ROW_HEIGHT)
        head = self.horizontalHeader()
        head.setSectionsMovable(True)
        head.setHighlightSections(False)
        head.setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        head.setSortIndicatorShown(True)
        head.setSectionsClickable(True)
        # Else the header asks of each column whether all its thousands of cells are selected.
        head.setSelectionModel(QItemSelectionModel(model, head))
        head.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        head.customContextMenuRequested.connect(self._show_columns_at)
        head.setAccessibleName(tr("Columns"))
        for place, column in enumerate(COLUMNS):
            head.resizeSection(place, _WIDTHS.get(column, _NARROW))
            head.setSectionHidden(place, column in HIDDEN_AT_FIRST)
        head.setSortIndicator(0, Qt.SortOrder.AscendingOrder)
        head.sortIndicatorChanged.connect(model.sort)
        theme.changed.connect(self.viewport().update)

    def keep_in(self, settings: QSettings) -> None:
        """Look as remembered, and remember from now on."""
        self._settings = settings
        state = settings.value("vault/columns")
        head = self.horizontalHeader()
        if isinstance(state, QByteArray) and str(settings.value("vault/columns_of", "")) == _layout_name():
            head.restoreState(state)
        head.setSortIndicatorShown(True)
        for signal in (head.sectionResized, head.sectionMoved, head.sortIndicatorChanged):
            signal.connect(self._remember)
        column, order = head.sortIndicatorSection(), head.sortIndicatorOrder()
        self._model.sort(column if 0 <= column < len(COLUMNS) else 0, order)

    def shown_columns(self) -> tuple[Column, ...]:
        """The columns in sight, as they stand."""
        head = self.horizontalHeader()
        places = (head.logicalIndex(place) for place in range(head.count()))
        return tuple(COLUMNS[place] for place in places if not head.isSectionHidden(place))

    def show_column(self, column: Column, shown: bool) -> None:
        """Show or hide a column; the titles stay."""
        if column is not Column.TITLE:
            self.horizontalHeader().setSectionHidden(COLUMNS.index(column), not shown)
            self._remember()

    def columns_menu(self) -> QMenu:
        """A menu of all columns, ticked where they are in sight; it deletes itself when closed."""
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        shown = self.shown_columns()
        for column in COLUMNS:
            action = menu.addAction(tr(ABOUT[column].title))
            action.setCheckable(True)
            action.setChecked(column in shown)
            action.setEnabled(column is not Column.TITLE)
            action.toggled.connect(partial(self.show_column, column))
        return menu

    def select_rows(self, rows: Iterable[int], current: int) -> None:
        """Select these rows, with the keyboard on one of them."""
        from_qt = self.selectionModel()
        flags = from_qt.SelectionFlag
        from_qt.clearSelection()
        if current >= 0:
            from_qt.setCurrentIndex(self._model.index(current, 0), flags.NoUpdate)
        last = self._model.columnCount() - 1
        selection = QItemSelection()
        for first, end in _runs(sorted(rows)):
            selection.select(self._model.index(first, 0), self._model.index(end, last))
        from_qt.select(selection, flags.Select)

    def selected_rows(self) -> list[int]:
        """The selected rows, from top to bottom; Qt's own answer takes seconds for thousands."""
        selection = self.selectionModel().selection()
        ranges = [selection.at(place) for place in range(selection.count())]
        return sorted({row for one in ranges for row in range(one.top(), one.bottom() + 1)})

    def _show_columns_at(self, point: QPoint) -> None:
        self.columns_menu().popup(self.horizontalHeader().mapToGlobal(point))

    def _remember(self, *_what: object) -> None:
        if self._settings is not None:
            self._settings.setValue("vault/columns", self.horizontalHeader().saveState())
            self._settings.setValue("vault/columns_of", _layout_name())


def _runs(rows: list[int]) -> list[tuple[int, int]]:
    """Rows that stand below one another, as first and last."""
    runs: list[tuple[int, int]] = []
    for row in rows:
        if runs and runs[-1][1] == row - 1:
            runs[-1] = (runs[-1][0], row)
        else:
            runs.append((row, row))
    return runs


def _layout_name() -> str:
    """What a remembered header fits: a state of other columns is left alone."""
    return ",".join(COLUMNS)
