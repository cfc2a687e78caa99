"""A table of plain objects: features declare columns and rows; sorting, filtering, ticking and copying come with it.

What is chosen stays chosen by the key of its row, whatever becomes of the others. A list to tick has rows that say what
would change (settings to carry over, choices to write into a chat), and below how many are ticked, and buttons for all
and none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property, partial
from operator import attrgetter
from typing import Any, Final

from msgspec import Struct
from PySide6.QtCore import (
    QAbstractTableModel,
    QByteArray,
    QItemSelection,
    QItemSelectionModel,
    QMimeData,
    QModelIndex,
    QObject,
    QSettings,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import QGuiApplication, QKeyEvent, QKeySequence, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QHeaderView, QLineEdit, QMenu, QSizePolicy, QStyleOptionHeader, QTableView, QWidget

from lorestudio.domain.history import ranges_of
from lorestudio.domain.records import same_start
from lorestudio.domain.texts import comparable, reading_order
from lorestudio.settings.sections import SettingChange, value_text
from lorestudio.trace.text import markdown_table
from lorestudio.ui.shell.qt import CHECK, DISPLAY, HORIZONTAL, NO_INDEX, V_LEFT, Index, later
from lorestudio.ui.shell.theme import Theme
from lorestudio.ui.shell.words import count, tr
from lorestudio.ui.widgets.cells import FIT, CellDelegate, Cells, Column, as_text
from lorestudio.ui.widgets.layouts import able, button, column, filling, holding, label, letters, row, tight
from lorestudio.ui.widgets.rows import Offered, RowTable, kept_in_sight, passing_menu, turn_tick

ROW_HEIGHT: Final = 24


class RecordTable(QAbstractTableModel):
    """Rows with columns. `key` tells a row from the others, `text` is what a filter looks in.

    `spoken`, `tip` and `entry` are those of `Cells`. With `checkable`, the first column has boxes: `ticked` follows
    each tick. `changed` says that other rows are shown, or the same ones anew. While `movable` says so, rows can be
    dragged: `dropped` carries them by place, and the place before which they are put.
    """

    changed = Signal()
    ticked = Signal()
    dropped = Signal(list, int)

    def __init__(
        self,
        columns: Sequence[Column],
        *,
        theme: Theme | None = None,
        key: Callable[[Any], object] = id,
        spoken: Callable[[Any, Column], str] | None = None,
        tip: Callable[[Any, Column], str] | None = None,
        entry: Callable[[Any], int | None] | None = None,
        text: Callable[[Any], str] | None = None,
        checkable: bool = False,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._cells = Cells(tuple(columns), theme, spoken, tip, entry=entry)
        self.key_of, self._text, self.checkable = key, text, checkable
        self.rows: tuple[Any, ...] = ()
        self.sorted_by: tuple[int, bool] | None = None
        """The column and whether the order is descending; None for the order in which the rows came."""
        self._all: tuple[Any, ...] = ()
        self._order: Sequence[int] = ()
        self._texts: list[str] = []
        self._words: tuple[str, ...] = ()
        self._passes: Callable[[Any], bool] | None = None
        self._places: dict[object, int] = {}
        self._ticked: set[object] = set()
        self.movable: Callable[[], bool] = lambda: False
        self._dragged: list[int] = []

    # ---- content ----------------------------------------------------------------------------------------------------

    @property
    def columns(self) -> tuple[Column, ...]:
        """The columns."""
        return self._cells.columns

    def set_rows(self, rows: Sequence[Any], columns: Sequence[Column] | None = None) -> None:
        """Show other rows, and other columns where they are given. Rows that stay keep what is chosen of them."""
        ticked = set(self._ticked)
        if columns is not None and tuple(columns) != self.columns:
            self.beginResetModel()
            self._cells.columns = tuple(columns)
            self._take(rows)
            self.rows = self._arranged()
            self._number()
            self.endResetModel()
            self.changed.emit()
        else:
            self._take(rows)
            self._show()
        if self._ticked != ticked:
            self.ticked.emit()

    def set_filter(self, text: str) -> None:
        """Show only rows whose text has every one of these words, without regard to case."""
        words = tuple(comparable(text).split())
        if words != self._words:
            self._words = words
            self._show()

    def show_only(self, passes: Callable[[Any], bool] | None) -> None:
        """Show only rows that pass; None for all."""
        self._passes = passes
        self._show()

    @property
    def filtered(self) -> bool:
        """Whether a filter may hide rows."""
        return bool(self._words) or self._passes is not None

    def row(self, place: int) -> Any:  # noqa: ANN401  # whatever the table is made of
        """The row at a place, None where there is none."""
        return self.rows[place] if 0 <= place < len(self.rows) else None

    def place_of(self, key: object) -> int:
        """Where the row of this key is, -1 where it is nowhere."""
        return self._places.get(key, -1)

    def column_of(self, name: str) -> int:
        """The column of this name, -1 where there is none."""
        return next((place for place, column in enumerate(self.columns) if column.name == name), -1)

    def touch(self, key: object) -> None:
        """One row says something else."""
        if (place := self.place_of(key)) >= 0:
            self.dataChanged.emit(self.index(place, 0), self.index(place, len(self.columns) - 1))

    def touch_all(self, name: str = "") -> None:
        """All rows say something else, or only those cells of the column called `name`: it is sorted anew by it."""
        place = self.column_of(name) if name else -1
        if self.sorted_by is not None and self.sorted_by[0] == place:
            self.sort(*_as_order(self.sorted_by))
        else:
            self._tell_changed(place)

    def texts(self, places: Iterable[int] | None = None) -> list[list[str]]:
        """What the table shows as texts, headings first; only these rows where places are given."""
        return self._cells.texts(self.rows if places is None else [self.rows[place] for place in places])

    # ---- ticks ------------------------------------------------------------------------------------------------------

    @property
    def chosen(self) -> frozenset[Any]:
        """The keys of the ticked rows."""
        return frozenset(self._ticked)

    def choose(self, keys: Iterable[object]) -> None:
        """Tick exactly these."""
        self._ticked = {self.key_of(row) for row in self._all} & set(keys)
        if self.rows:
            self.dataChanged.emit(self.index(0, 0), self.index(len(self.rows) - 1, 0))
        self.ticked.emit()

    def choose_all(self, *, all_of_them: bool) -> None:
        """Tick every row, or none."""
        self.choose([self.key_of(row) for row in self._all] if all_of_them else ())

    def rowCount(self, parent: Index = NO_INDEX) -> int:
        """Qt: how many rows."""
        return 0 if parent.isValid() else len(self.rows)

    def columnCount(self, parent: Index = NO_INDEX) -> int:
        """Qt: how many columns."""
        return 0 if parent.isValid() else len(self.columns)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = DISPLAY) -> object:
        """Qt: the headings."""
        return self._cells.heading(section, role) if orientation == HORIZONTAL else None

    def flags(self, index: Index) -> Qt.ItemFlag:
        """Qt: every row can be chosen; the first column may have boxes."""
        if not index.isValid():
            return Qt.ItemFlag.ItemIsDropEnabled if self.movable() else Qt.ItemFlag.NoItemFlags
        flags = Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable
        if self.movable():
            flags |= Qt.ItemFlag.ItemIsDragEnabled
        return flags | Qt.ItemFlag.ItemIsUserCheckable if self.checkable and index.column() == 0 else flags

    def data(self, index: Index, role: int = DISPLAY) -> object:
        """Qt: a cell."""
        place = index.row()
        if not 0 <= place < len(self.rows):
            return None
        if role == CHECK:
            if not self.checkable or index.column():
                return None
            on = self.key_of(self.rows[place]) in self._ticked
            return Qt.CheckState.Checked if on else Qt.CheckState.Unchecked
        return self._cells.answer(self.rows[place], index.column(), role)

    def setData(self, index: Index, value: object, role: int = DISPLAY) -> bool:
        """Qt: tick a row, or not."""
        if role != CHECK or not self.checkable:
            return False
        key = self.key_of(self.rows[index.row()])
        if Qt.CheckState(value) is Qt.CheckState.Checked:
            self._ticked.add(key)
        else:
            self._ticked.discard(key)
        self.dataChanged.emit(index, index)
        self.ticked.emit()
        return True

    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        """Qt: another order of the rows; equal ones stay in the order in which they came."""
        if not 0 <= column < len(self.columns):
            return
        self.layoutAboutToBeChanged.emit()
        before = self.persistentIndexList()
        kept = [(index.column(), self.key_of(self.rows[index.row()])) for index in before]
        self.sorted_by = column, order is Qt.SortOrder.DescendingOrder
        self._order = ()
        self.rows = self._arranged()
        self._number()
        self.changePersistentIndexList(before, [self.index(self.place_of(key), place) for place, key in kept])
        self.layoutChanged.emit()

    def supportedDropActions(self) -> Qt.DropAction:
        """Qt: rows are moved."""
        return Qt.DropAction.MoveAction

    def mimeData(self, indexes: Sequence[QModelIndex]) -> QMimeData:
        """Qt: these rows are dragged."""
        self._dragged = sorted({index.row() for index in indexes})
        return super().mimeData(indexes)

    def dropMimeData(self, _data: QMimeData, _action: Qt.DropAction, row: int, _column: int, parent: Index) -> bool:
        """Qt: rows were dropped; what becomes of them, whoever follows `dropped` decides."""
        place = row if row >= 0 else parent.row() if parent.isValid() else len(self.rows)
        if self._dragged and self.movable():
            self.dropped.emit(self._dragged, place)
        self._dragged = []
        return False

    def _take(self, rows: Sequence[Any]) -> None:
        self._all, self._order, self._texts = tuple(rows), (), []
        self._ticked &= {self.key_of(row) for row in self._all} if self._ticked else set()

    def _arranged(self) -> tuple[Any, ...]:
        """All rows in order, and of them what the filters let through."""
        if not self._order:
            self._order = self._in_order() if self.sorted_by is not None else range(len(self._all))
        order: Iterable[int] = self._order
        if self._words:
            if not self._texts:
                self._texts = [comparable(self._text(row)) if self._text is not None else "" for row in self._all]
            texts = self._texts
            order = [place for place in order if all(word in texts[place] for word in self._words)]
        rows = (self._all[place] for place in order)
        return tuple(rows) if self._passes is None else tuple(filter(self._passes, rows))

    def _in_order(self) -> list[int]:
        """The places of all rows as the chosen column sorts them; those that it has nothing to say of come last."""
        place, descending = self.sorted_by or (0, False)
        column = self.columns[place]
        key = column.sort or (lambda row: reading_order(column.words(row)))
        keys = [key(row) for row in self._all]
        there = [at for at, each in enumerate(keys) if each is not None]
        there.sort(key=keys.__getitem__, reverse=descending)
        return there + [at for at, each in enumerate(keys) if each is None]

    def _number(self) -> None:
        self._places = {self.key_of(row): place for place, row in enumerate(self.rows)}

    def _show(self) -> None:
        """Show the rows as they are arranged now. Where rows only came or changed, views are told just that.

        Of rows that went they are told nothing: Qt would choose their neighbours, which nobody has wanted.
        """
        old, new = self.rows, self._arranged()
        before, after = [self.key_of(row) for row in old], [self.key_of(row) for row in new]
        same = same_start(before, after)
        come = len(after) - len(before)
        if before[same:] != after[same + max(0, come) :]:
            self.beginResetModel()
            self.rows = new
            self._number()
            self.endResetModel()
        else:
            if come:  # what stays is not changed in the same breath
                self.beginInsertRows(NO_INDEX, same, same + come - 1)
                self.rows = old[:same] + new[same : same + come] + old[same:]
                self._number()
                self.endInsertRows()
            self.rows = new
            self._tell_changed()
        self.changed.emit()

    def _tell_changed(self, place: int = -1) -> None:
        """Whatever was read off the rows may be something else, in one column or in all."""
        if self.rows:
            first, last = (place, place) if place >= 0 else (0, len(self.columns) - 1)
            self.dataChanged.emit(self.index(0, first), self.index(len(self.rows) - 1, last))


def _as_order(sorted_by: tuple[int, bool]) -> tuple[int, Qt.SortOrder]:
    column, descending = sorted_by
    return column, Qt.SortOrder.DescendingOrder if descending else Qt.SortOrder.AscendingOrder


def as_markdown(rows: Sequence[Sequence[str]]) -> str:
    """Texts of a table, headings first, as a table in Markdown."""
    return "\n".join(markdown_table(rows[0], rows[1:])) + "\n"


# ---- the view -------------------------------------------------------------------------------------------------------


_MEASURED: Final = 200
"""Rows whose widths decide that of a fitted column; Qt's thousand take a tenth of a second."""

_ARROW: Final = 12
"""Pixels for the arrow of the order; Qt leaves them out where a style sheet paints the head."""

_ROOM: Final = "\u00a0" * 4
"""As wide as that arrow, in letters of a heading."""

_READABLE: Final = 16
"""Columns that share the room have so many letters' width at least; a view that is narrower is scrolled."""


class _Head(QHeaderView):
    """Keeps the letters of a heading on the right out of the arrow of the order, which Qt paints over them."""

    def initStyleOptionForIndex(self, option: QStyleOptionHeader, section: int) -> None:
        """Qt: see the class."""
        super().initStyleOptionForIndex(option, section)
        arrow = self.isSortIndicatorShown() and section == self.sortIndicatorSection()
        if arrow and option.textAlignment & Qt.AlignmentFlag.AlignRight:
            option.text += _ROOM


class RecordView(RowTable):
    """`chosen` carries the row that is looked at, or None; `pressed` follows Enter or a double click.

    `picked` carries a row that a person has gone to. With `many`, several rows can be selected. `arranged` lets a
    person sort by the headings, move and hide columns.
    """

    chosen = Signal(object)
    picked = Signal(object)
    pressed = Signal(object)

    def __init__(
        self,
        theme: Theme,
        model: RecordTable,
        name: str,
        parent: QWidget | None = None,
        *,
        height: int = 0,
        many: bool = False,
        arranged: bool = False,
    ) -> None:
        super().__init__(parent, showGrid=False, wordWrap=False)
        self._rows = model
        self._fitted: tuple[Column, ...] = ()
        self._narrow = False
        self._key: object = None
        self._following = False
        self._settings: tuple[QSettings, str] | None = None
        self.setHorizontalHeader(_Head(HORIZONTAL, self, sectionsClickable=True))
        self.setModel(model)
        self.setAccessibleName(name)
        self.setSelectionBehavior(QTableView.SelectionBehavior.SelectRows)
        modes = QTableView.SelectionMode
        self.setSelectionMode(modes.ExtendedSelection if many else modes.SingleSelection)
        self.setTabKeyNavigation(False)
        self.setIconSize(QSize(14, 14))
        self.setVerticalScrollMode(QTableView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollMode(QTableView.ScrollMode.ScrollPerPixel)
        height = height or max(ROW_HEIGHT, self.fontMetrics().lineSpacing() + 8)
        self.setItemDelegate(CellDelegate(theme, self, height))
        rows = self.verticalHeader()
        rows.hide()
        rows.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        rows.setDefaultSectionSize(height)
        head = self.horizontalHeader()
        head.setHighlightSections(False)
        # Else the header asks of each column whether all its thousands of cells are selected.
        head.setSelectionModel(QItemSelectionModel(model, head))
        head.setAccessibleName(tr("Columns"))
        head.setDefaultAlignment(Qt.AlignmentFlag(V_LEFT))
        if arranged:
            self._let_arrange(head)
            self.setDragDropMode(QTableView.DragDropMode.DragDrop)
            self.setDefaultDropAction(Qt.DropAction.MoveAction)
            self.setDragDropOverwriteMode(False)
        self._fit_columns()
        soon = later(self, self._share_room)  # Qt is in the middle of it
        head.sectionResized.connect(lambda *_what: soon.start())
        # The current row alone also changes when the keyboard comes in, which is no choice.
        self.selectionModel().selectionChanged.connect(lambda *_both: self._changed())
        self.doubleClicked.connect(lambda index: self.pressed.emit(model.row(index.row())))
        model.modelReset.connect(self._fit_columns)
        model.changed.connect(self._find_again)
        model.dataChanged.connect(lambda *_all: self._tell())

    @property
    def current(self) -> Any:  # noqa: ANN401  # whatever the table is made of
        """The row that is looked at, None where none is."""
        places = self.selected_places()
        return self._rows.row(places[0]) if places else None

    def choose(self, key: object) -> None:
        """Look at the row of this key; nothing is emitted about it as a person's choice."""
        place = self._rows.place_of(key)
        self._following = True
        try:
            if place < 0:
                self.selectionModel().clear()
            elif self.current is not self._rows.row(place):
                self.select_places([place], place)
                self.scrollTo(self._rows.index(place, 0))
        finally:
            self._following = False
        self._tell()

    def select_places(self, places: Iterable[int], current: int) -> None:
        """Select these rows, with the keyboard on one of them."""
        selected, rows = self.selectionModel(), self._rows
        flags = selected.SelectionFlag
        selected.clearSelection()
        if current >= 0:
            selected.setCurrentIndex(rows.index(current, 0), flags.NoUpdate)
        selection, last = QItemSelection(), rows.columnCount() - 1
        for first, end in ranges_of(sorted(places)):
            selection.select(rows.index(first, 0), rows.index(end, last))
        selected.select(selection, flags.Select)

    def selected_places(self) -> list[int]:
        """The selected rows, from top to bottom; Qt's own answer takes seconds for thousands."""
        ranges = self.selectionModel().selection().toList()
        return sorted({row for one in ranges for row in range(one.top(), one.bottom() + 1)})

    def copy(self, write: Callable[[list[list[str]]], str] = as_text) -> None:
        """Put the selected rows, or all where none is, on the clipboard: as text, Markdown or CSV."""
        QGuiApplication.clipboard().setText(write(self._rows.texts(self.selected_places() or None)))

    def filtered_by(self, field: QLineEdit) -> None:
        """Where no row has the words of this field, say so in place of rows, with a button that empties it."""
        view = self.viewport()
        words = label(view, tr("No row fits the filter."), kind="muted")
        words.setAlignment(Qt.AlignmentFlag.AlignCenter)

        def clear() -> None:
            field.clear()
            field.setFocus()

        said = holding(column(1, words, row(1, button(view, tr("Clear the filter"), clear), 1), 1, margins=4), view)
        tight(said, of=view)
        said.hide()
        self._rows.changed.connect(lambda: said.setVisible(bool(field.text()) and not self._rows.rows))

    # ---- columns ----------------------------------------------------------------------------------------------------

    def keep_in(self, settings: QSettings, name: str) -> None:
        """Look as remembered under this name, and remember from now on."""
        self._settings = settings, name
        state, head = settings.value(name), self.horizontalHeader()
        if isinstance(state, QByteArray) and str(settings.value(f"{name}_of", "")) == self._layout_name():
            head.restoreState(state)
        for signal in (head.sectionResized, head.sectionMoved, head.sortIndicatorChanged):
            signal.connect(self._remember)
        self._rows.sort(max(0, head.sortIndicatorSection()), head.sortIndicatorOrder())

    def shown_columns(self) -> tuple[str, ...]:
        """The names of the columns in sight, as they stand."""
        head = self.horizontalHeader()
        places = (head.logicalIndex(place) for place in range(head.count()))
        return tuple(self._rows.columns[place].name for place in places if not head.isSectionHidden(place))

    def show_column(self, name: str, shown: bool) -> None:
        """Show or hide a column; the first one stays."""
        place = self._rows.column_of(name)
        if place > 0:
            self.horizontalHeader().setSectionHidden(place, not shown)
            self._remember()

    def columns_menu(self) -> QMenu:
        """A menu of all columns, ticked where they are in sight; it deletes itself when closed."""
        menu = passing_menu(self)
        shown = self.shown_columns()
        for place, each in enumerate(self._rows.columns):
            action = menu.addAction(tr(each.title))
            action.setCheckable(True)
            action.setChecked(each.name in shown)
            action.setEnabled(place > 0)
            action.toggled.connect(partial(self.show_column, each.name))
        return menu

    def _let_arrange(self, head: QHeaderView) -> None:
        head.setSectionsMovable(True)
        head.setSortIndicatorShown(True)
        head.setSectionsClickable(True)
        head.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        head.customContextMenuRequested.connect(lambda point: self.columns_menu().popup(head.mapToGlobal(point)))
        head.setSortIndicator(*_as_order(self._rows.sorted_by or (0, False)))
        head.sortIndicatorChanged.connect(self._rows.sort)

    def _fit_columns(self) -> None:
        """Give the columns their widths, once for each set of them."""
        columns = self._rows.columns
        if columns is self._fitted:
            return
        self._fitted, head, modes = columns, self.horizontalHeader(), QHeaderView.ResizeMode
        head.setResizeContentsPrecision(_MEASURED)
        for place, each in enumerate(columns):
            if each.width > 0:
                arrow = _ARROW if head.isSortIndicatorShown() else 0
                wide = max(round(each.width * letters(self)), head.sectionSizeHint(place) + arrow)
                head.resizeSection(place, wide)
            elif each.width == FIT:
                head.setSectionResizeMode(place, modes.ResizeToContents)
            elif place < len(columns) - 1:
                head.setSectionResizeMode(place, modes.Stretch)
            head.setSectionHidden(place, each.hidden)
        head.setStretchLastSection(bool(columns) and columns[-1].width == 0)
        self._narrow = False
        self._share_room()

    def _share_room(self) -> None:
        """Columns that take what is left keep their words readable, unless a person arranges them."""
        columns, head, modes = self._rows.columns, self.horizontalHeader(), QHeaderView.ResizeMode
        shared = [place for place, each in enumerate(columns) if each.width == 0 and not head.isSectionHidden(place)]
        least = _READABLE * self.fontMetrics().averageCharWidth()
        others = sum(head.sectionSize(place) for place in range(len(columns)) if place not in shared)
        narrow = self.viewport().width() - others < least * len(shared)
        if narrow == self._narrow or self._settings is not None:
            return
        self._narrow, last = narrow, len(columns) - 1
        head.setStretchLastSection(last in shared and not narrow)
        for place in shared:
            head.setSectionResizeMode(place, modes.Interactive if narrow or place == last else modes.Stretch)
            if narrow:
                head.resizeSection(place, least)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Qt: share the room anew."""
        with kept_in_sight(self, event.oldSize().height()):
            super().resizeEvent(event)
            self._share_room()

    def _remember(self, *_what: object) -> None:
        if self._settings is not None:
            settings, name = self._settings
            settings.setValue(name, self.horizontalHeader().saveState())
            settings.setValue(f"{name}_of", self._layout_name())

    def _layout_name(self) -> str:
        """What a remembered header fits: a state of other columns is left alone."""
        return ",".join(column.name for column in self._rows.columns)

    def _changed(self) -> None:
        row = self.current
        if row is not None:
            self._key = self._rows.key_of(row)
            if not self._following:
                self._tell()
                self.picked.emit(row)

    def _find_again(self) -> None:
        """The rows are other ones: the one that was looked at is looked at again."""
        if self._key is not None and self.selectionMode() is QTableView.SelectionMode.SingleSelection:
            self.choose(self._key)
        else:
            self._tell()

    def _tell(self) -> None:
        self.chosen.emit(self.current)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Qt: Enter goes on with the row, Space ticks it wherever in it the keyboard is, Copy takes all of it."""
        index = self.currentIndex()
        if event.matches(QKeySequence.StandardKey.InsertParagraphSeparator) and self.current is not None:
            self.activated.emit(index)
            self.pressed.emit(self.current)
        elif event.key() == Qt.Key.Key_Space and index.isValid() and self._rows.checkable:
            turn_tick(index.siblingAtColumn(0))
        elif event.matches(QKeySequence.StandardKey.Copy):
            self.copy()
        else:
            super().keyPressEvent(event)


class LateTable(QWidget):
    """A `RecordView` that is made when somebody first sees it or asks for it; few turn to every tab and see rows there.

    Its signals are those of the view, and what is `offered` for a row.
    """

    chosen = Signal(object)
    picked = Signal(object)
    pressed = Signal(object)

    def __init__(self, theme: Theme, model: RecordTable, name: str, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme, self.model, self._name = theme, model, name
        self.offered: list[Offered] = []
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        model.changed.connect(self._rows_changed)

    @cached_property
    def view(self) -> RecordView:
        """The table."""
        made = filling(self, RecordView(self._theme, self.model, self._name, self))
        made.offered = self.offered
        for mine, its in ((self.chosen, made.chosen), (self.picked, made.picked), (self.pressed, made.pressed)):
            its.connect(mine)
        self.setFocusProxy(made)
        return made

    @property
    def current(self) -> Any:  # noqa: ANN401  # whatever the table is made of
        """The row that is looked at, or None."""
        return self.view.current if self._is_made else None

    @property
    def _is_made(self) -> bool:
        return "view" in vars(self)

    def _rows_changed(self) -> None:
        """As the view does then: what is said of the chosen row is said anew."""
        if not self._is_made:
            self.chosen.emit(None)

    def showEvent(self, event: QShowEvent) -> None:
        """Qt: somebody sees it."""
        self.view  # noqa: B018 # made


class CheckRow(Struct, frozen=True):
    """One row. `key` names it for programs, `note` is said to whoever points at it."""

    key: str
    title: str
    before: str
    after: str
    note: str = ""


def setting_rows(changes: Sequence[SettingChange]) -> list[CheckRow]:
    """Rows of settings with both values."""
    rows = []
    for each in changes:
        setting = each.declaration
        before, after = value_text(setting, each.before), value_text(setting, each.after)
        rows.append(CheckRow(setting.alias, tr(setting.label), before, after, f"{setting.alias}: {tr(setting.help)}"))
    return rows


def change_columns(heads: tuple[str, str, str]) -> list[Column]:
    """What, before and after, under these headings."""
    return [Column(head, attrgetter(name)) for head, name in zip(heads, ("title", "before", "after"), strict=True)]


def change_table(heads: tuple[str, str, str], parent: QWidget, *, checkable: bool = True) -> RecordTable:
    """A table of `CheckRow`s."""
    return RecordTable(
        change_columns(heads),
        key=attrgetter("key"),
        spoken=lambda row, _column: tr(
            "{title}: {before}, then {after}", title=row.title, before=row.before, after=row.after
        ),
        tip=lambda row, _column: "\n".join(filter(None, (f"{row.before} → {row.after}", row.note))),
        checkable=checkable,
        parent=parent,
    )


class CheckList(QWidget):
    """Shows a table with the amount of ticked rows, and buttons to tick all and none."""

    def __init__(self, theme: Theme, model: RecordTable, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.model = model
        self.view = RecordView(theme, model, name, self)
        self.amount = label(self, kind="small", wrap=False)
        self.buttons = [
            button(self, text, partial(model.choose_all, all_of_them=every), kind="small", name=name)
            for text, name, every in ((tr("All"), tr("Tick all"), True), (tr("None"), tr("Tick none"), False))
        ]
        for each in self.buttons:
            each.setVisible(model.checkable)
        column((self.view, 1), row((self.amount, 1), *self.buttons), of=self, spacing=4, margins=0)
        for signal in (model.ticked, model.changed):
            signal.connect(self._say)
        self._say()

    def _say(self) -> None:
        rows = len(self.model.rows)
        if self.model.checkable:
            text = tr("{some} of {rows} chosen", some=len(self.model.chosen), rows=rows) if rows else ""
        else:
            text = count(rows, "difference", "differences")
        self.amount.setText(text)
        for each in self.buttons:
            able(each, rows > 0, tr("There is no row."))
