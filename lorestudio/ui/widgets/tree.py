"""A tree of plain objects: features declare columns, and rows with rows below them.

Places in notes are one of two levels: what they belong to, and below it the lines with what was found in them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Generic, TypeVar

from PySide6.QtCore import (
    QAbstractItemModel,
    QItemSelection,
    QItemSelectionModel,
    QModelIndex,
    QObject,
    QRect,
    QRectF,
    Qt,
    Signal,
)
from PySide6.QtGui import QGuiApplication, QKeyEvent, QKeySequence, QMouseEvent, QPainter
from PySide6.QtWidgets import QTreeView, QWidget

from lorestudio.ui.shell.qt import CHECK, DISPLAY, HORIZONTAL, NO_INDEX, Index
from lorestudio.ui.shell.theme import Theme
from lorestudio.ui.shell.words import number, tr
from lorestudio.ui.widgets.cells import CellDelegate, Cells, Column, Glyph, Look, Piece, Words, as_text, one_line
from lorestudio.ui.widgets.paint import draw_glyph
from lorestudio.ui.widgets.rows import RowTree, turn_tick


@dataclass(slots=True, eq=False)
class TreeRow:
    """One row. `place` is its place among the children of the row above; the invisible root's `above` is None."""

    above: Any = field(default=None, kw_only=True, repr=False)
    children: list[Any] = field(default_factory=list, kw_only=True, repr=False)
    row: int = field(default=0, kw_only=True)

    def add(self, *children: Any) -> None:  # noqa: ANN401  # rows of the same kind
        """Put rows below this one, behind the others."""
        for child in children:
            child.above, child.row = self, len(self.children)
            self.children.append(child)

    def below(self) -> Iterator[Any]:
        """All rows below this one, from top to bottom."""
        for child in self.children:
            yield child
            if child.children:
                yield from child.below()


@dataclass(slots=True, eq=False)
class ItemRow(TreeRow):
    """A row about an object that does not know of trees."""

    item: Any


R = TypeVar("R", bound=TreeRow)

_ROW: Final = Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable
_TICKED_ROW: Final = _ROW | Qt.ItemFlag.ItemIsUserCheckable


class RecordTree(QAbstractItemModel, Generic[R]):
    """A tree below the invisible `root`. `ITEM` is the row; the callables are those of `Cells`, and read rows."""

    def __init__(
        self,
        root: R,
        columns: Sequence[Column],
        *,
        theme: Theme | None = None,
        spoken: Callable[[Any, Column], str] | None = None,
        tip: Callable[[Any, Column], str] | None = None,
        about: Callable[[Any], str] | None = None,
        entry: Callable[[Any], int | None] | None = None,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._cells = Cells(tuple(columns), theme, spoken, tip, about, entry)
        self.root = root

    def show_root(self, root: R) -> None:
        """Show another tree."""
        self.beginResetModel()
        self.root = root
        self.endResetModel()

    def refresh(self) -> None:
        """The rows are the same and say something else."""
        last = len(self._cells.columns) - 1
        for row in (self.root, *(row for row in self.root.below() if row.children)):
            if row.children:
                above = self.index_of(row)
                self.dataChanged.emit(self.index(0, 0, above), self.index(len(row.children) - 1, last, above))

    def node(self, index: Index) -> R:
        """The row behind an index; the invisible root for an invalid one."""
        item = index.internalPointer() if index.isValid() else None
        return item if isinstance(item, type(self.root)) else self.root

    def rows_in(self, selection: QItemSelection) -> list[R]:
        """The selected rows; Qt's own answer asks for index and flags of each, and takes long for thousands."""
        spans = [(self.node(span.parent()), span.top(), span.bottom()) for span in selection.toList()]
        return [row for above, first, last in spans for row in above.children[first : last + 1]]

    def index_of(self, row: TreeRow | None) -> QModelIndex:
        """The index of a row, an invalid one for the root and for None."""
        return QModelIndex() if row is None or row is self.root else self.createIndex(row.row, 0, row)

    def texts(self, rows: Iterable[R]) -> list[list[str]]:
        """What the tree shows of these rows as texts, headings first."""
        return self._cells.texts(rows)

    def index(self, row: int, column: int, parent: Index = NO_INDEX) -> QModelIndex:
        """Qt: the index of a child."""
        children = self.node(parent).children
        fits = 0 <= row < len(children) and 0 <= column < len(self._cells.columns)
        return self.createIndex(row, column, children[row]) if fits else QModelIndex()

    def parent(self, index: Index = NO_INDEX) -> QModelIndex:  # type: ignore[override] # the stubs know only QObject's
        """Qt: the index of the row above."""
        return self.index_of(self.node(index).above)

    def rowCount(self, parent: Index = NO_INDEX) -> int:
        """Qt: how many rows are below; only the first column has any."""
        return 0 if parent.isValid() and parent.column() > 0 else len(self.node(parent).children)

    def hasChildren(self, parent: Index = NO_INDEX) -> bool:
        """Qt: asked of every row that comes in sight, for which Qt itself would count rows and columns."""
        return parent.column() <= 0 and bool(self.node(parent).children)

    def columnCount(self, parent: Index = NO_INDEX) -> int:
        """Qt: the columns."""
        return len(self._cells.columns)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = DISPLAY) -> object:
        """Qt: the headings."""
        return self._cells.heading(section, role) if orientation == HORIZONTAL else None

    def flags(self, index: Index) -> Qt.ItemFlag:
        """Qt: every row can be chosen; some can be ticked."""
        if not index.isValid():
            return Qt.ItemFlag.NoItemFlags
        return _ROW if self._box(index) is None else _TICKED_ROW

    def data(self, index: Index, role: int = DISPLAY) -> object:
        """Qt: what a cell shows and says."""
        if not index.isValid():
            return None
        return self._box(index) if role == CHECK else self._cells.answer(self.node(index), index.column(), role)

    def _box(self, _index: Index) -> Qt.CheckState | None:
        """The box of a row, None for one that has none."""
        return None


class RecordTreeView(RowTree):
    """A tree that shows with a chevron which rows can be opened. Enter or a double click does that; `pressed` carries a
    row without others below it at either.
    """

    pressed = Signal(object)

    def __init__(self, theme: Theme, model: RecordTree[Any], name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent, uniformRowHeights=True, expandsOnDoubleClick=False)
        self._theme, self._rows = theme, model
        self.setModel(model)
        self.setItemDelegate(CellDelegate(theme, self))
        self.setAccessibleName(name)
        self.header().setAccessibleName(tr("Columns"))
        self.setEditTriggers(QTreeView.EditTrigger.NoEditTriggers)
        self.setSelectionMode(QTreeView.SelectionMode.ExtendedSelection)  # several are copied at once
        self.doubleClicked.connect(self._press)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Qt: Enter goes on with the row, Copy takes all of it."""
        index = self.currentIndex()
        if event.matches(QKeySequence.StandardKey.Copy):
            self.copy()
        elif event.key() in {Qt.Key.Key_Return, Qt.Key.Key_Enter} and index.isValid():
            self._press(index)
        else:
            super().keyPressEvent(event)

    def _press(self, index: Index) -> None:
        row = self._rows.node(index)
        if row.children:
            self.turn(row)
        else:
            self.pressed.emit(row)

    def turn(self, row: TreeRow) -> None:
        """Open a row that is closed, or close it."""
        index = self._rows.index_of(row)
        self.setExpanded(index, not self.isExpanded(index))

    def selectAll(self) -> None:
        """Qt: choose every row that is unfolded, all below one row at once; Qt looks for the row above each."""
        model, chosen = self._rows, QItemSelection()
        left: list[TreeRow] = [model.root]
        while left:
            above, last = left.pop(), model.columnCount() - 1
            if above.children:
                first, end = above.children[0], above.children[-1]
                chosen.select(model.index_of(first), model.createIndex(end.row, last, end))
            left += [row for row in above.children if row.children and self.isExpanded(model.index_of(row))]
        self.selectionModel().select(chosen, QItemSelectionModel.SelectionFlag.ClearAndSelect)

    def copy(self) -> None:
        """Put the selected rows, or all where none is, on the clipboard."""
        chosen = set(self._rows.rows_in(self.selectionModel().selection()))
        rows = [row for row in self._rows.root.below() if row in chosen or not chosen]
        QGuiApplication.clipboard().setText(as_text(self._rows.texts(rows)))

    def drawBranches(self, painter: QPainter, rect: QRect, index: Index) -> None:
        """Qt: a chevron before a row with others below it; the window's stylesheet takes Qt's own signs away."""
        if self.model().hasChildren(index):
            icon = "chevron-down" if self.isExpanded(index) else "chevron-right"
            box = QRectF(rect.right() - 17, rect.top(), 16, rect.height())
            draw_glyph(painter, box, icon, self._theme.palette.text_muted, 12)


# ---- places in notes ------------------------------------------------------------------------------------------------


@dataclass(slots=True, eq=False)
class PlaceRow(TreeRow):
    """One row. A row with children is a group; `text[start:end]` is what was found, `title` what stands before it.

    `after` is shown on the right; `line` counts from 1, 0 for the note as such. `checked` None has no box. `key` is
    whatever the pane wants to know about the row.
    """

    title: str
    text: str = ""
    start: int = 0
    end: int = 0
    path: Path | None = None
    line: int = 0
    icon: str = ""
    after: str = ""
    new_text: str | None = None
    checked: bool | None = None
    key: object = None
    tip: str = ""


class PlaceTree(RecordTree[PlaceRow]):
    """Groups can be appended while others are shown already; `checks_changed` follows each tick."""

    checks_changed = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        column = Column("", _shown, look=_look, spoken=_spoken, tip=lambda row: row.tip)
        super().__init__(PlaceRow(""), [column], parent=parent)

    @property
    def groups(self) -> Sequence[PlaceRow]:
        """The rows of the first level."""
        return self.root.children

    def lines(self) -> Iterator[PlaceRow]:
        """The rows of the second level."""
        for group in self.root.children:
            yield from group.children

    def set_groups(self, groups: Sequence[PlaceRow]) -> None:
        """Show these groups, with the lines that were added to them."""
        root = PlaceRow("")
        root.add(*groups)
        self.show_root(root)

    def append(self, groups: Sequence[PlaceRow]) -> None:
        """Show these groups too, behind the others."""
        if groups:
            first = len(self.root.children)
            self.beginInsertRows(NO_INDEX, first, first + len(groups) - 1)
            self.root.add(*groups)
            self.endInsertRows()

    def set_checked(self, rows: Sequence[PlaceRow], checked: bool) -> None:
        """Tick or untick lines."""
        for row in rows:
            if row.checked is not None:
                row.checked = checked
        self.refresh()
        self.checks_changed.emit()

    def place(self, index: Index) -> PlaceRow | None:
        """The row behind an index."""
        row = self.node(index)
        return None if row is self.root else row

    def setData(self, index: Index, value: object, role: int = DISPLAY) -> bool:
        """Qt: a box was ticked; that of a group stands for all its lines."""
        row = self.place(index)
        if row is None or role != CHECK or self._box(index) is None:
            return False
        self.set_checked(row.children or [row], Qt.CheckState(value) is Qt.CheckState.Checked)
        return True

    def _box(self, index: Index) -> Qt.CheckState | None:
        """That of a group with ticked and unticked lines is ticked in part."""
        row = self.node(index)
        known = {line.checked for line in row.children or [row] if line.checked is not None}
        if not known:
            return None
        states = Qt.CheckState
        return states.PartiallyChecked if len(known) > 1 else states.Checked if known.pop() else states.Unchecked


def _shown(row: PlaceRow) -> str:
    return row.title if row.children else f"{row.title} {row.text}".strip()


def _spoken(row: PlaceRow) -> str:
    if row.children:
        return ", ".join(part for part in (row.title, row.after or number(len(row.children))) if part)
    parts = [row.title, tr("line {line}", line=number(row.line)) if row.line else "", row.text.strip(), row.after]
    if row.new_text is not None:
        parts.append(tr("becomes {new}", new=row.new_text or tr("nothing")))
    return ", ".join(part for part in parts if part)


BEFORE: Final = 16
"""So many characters of a long line are shown before what was found, so that it is in sight in a narrow pane, too."""


_BESIDE: Final = 0.45
"""What title and text before may each take of the room there is, so that what was found has some."""


def shown_part(row: PlaceRow) -> tuple[str, int, int]:
    """The part of a line around what was found, and where that is in it."""
    text, start, end = row.text, row.start, row.end
    cut = len(text) - len(text.lstrip())
    if start - cut > BEFORE and len(text) > 2 * BEFORE:
        space = text.find(" ", start - BEFORE, start)
        cut = space + 1 if space >= 0 else start - BEFORE
        return "…" + text[cut:], start - cut + 1, end - cut + 1
    cut = min(cut, start)
    return text[cut:], start - cut, end - cut


def _look(row: PlaceRow) -> Look:
    """Groups in bold with their number, lines with what was found marked in them, and what would take its place."""
    pieces: list[Piece] = [Glyph(row.icon, size=13)] if row.icon else []
    if row.title:
        whole = bool(row.children) or not row.text
        pieces.append(Words(row.title, bold=whole, share=1.0 if whole else _BESIDE))
    if row.text:
        text, start, end = shown_part(row)
        text = text.replace("\t", " ")  # a tabulator has no width of its own here
        replaced = row.new_text is not None
        found = Words(text[start:end], tone="text" if replaced else "on_mark", steady=True, gap=0,
                      ground="error_soft" if replaced else "mark", struck=replaced)  # fmt: skip
        new = " ".join((row.new_text or "").split("\n"))
        pieces += [Words(text[:start], gap=0, share=_BESIDE, middle=True), found]
        if new:
            pieces += [Words("", gap=3), Words(new, steady=True, ground="good_soft", gap=3)]
        pieces.append(Words(text[end:], gap=0))
    after = row.after or (number(len(row.children)) if row.children else "")
    right = (Words(after, tone="text_muted", scale=0.9, gap=0, share=0.5, middle=True),) if after else ()
    return one_line(*pieces, right=right, margin=3)


_BOX: Final = 20


class PlaceView(RecordTreeView):
    """`entered` carries the row that somebody wants to go to. A click on a box only ticks it."""

    entered = Signal(QModelIndex)

    def __init__(self, theme: Theme, model: PlaceTree, name: str, parent: QWidget | None = None) -> None:
        super().__init__(theme, model, name, parent)
        self.setHeaderHidden(True)
        self.setIndentation(13)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Qt: Enter goes to the place, Space ticks it."""
        index = self.currentIndex()
        if event.key() in {Qt.Key.Key_Return, Qt.Key.Key_Enter}:
            self.entered.emit(index)
        elif event.key() == Qt.Key.Key_Space:
            turn_tick(index)
        else:
            super().keyPressEvent(event)

    def _press(self, index: Index) -> None:
        """The first click of two has gone there already."""

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Qt: a click goes to the place, but for one on the box, which ticks it, and one that chooses several."""
        super().mouseReleaseEvent(event)
        if event.modifiers() & (Qt.KeyboardModifier.ShiftModifier | Qt.KeyboardModifier.ControlModifier):
            return
        point = event.position().toPoint()
        index = self.indexAt(point)
        rect = self.visualRect(index)
        on_box = index.data(CHECK) is not None and rect.left() <= point.x() < rect.left() + _BOX
        if event.button() is Qt.MouseButton.LeftButton and rect.contains(point) and not on_box:
            self.entered.emit(index)
