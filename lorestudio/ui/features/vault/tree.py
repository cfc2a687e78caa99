"""The vault as a tree: folders, entries with their state, and at the end the notes that gave no entry.

Rows of the vault tree: glyph, title, and on the right what matters this turn.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from PySide6.QtCore import QByteArray, QMimeData, QModelIndex, QObject, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFontMetricsF, QPainter
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from lorestudio.domain.entry import Entry, LeftOutNote, VaultIndex
from lorestudio.ui.shell.qt import (
    ACCESSIBLE_DESCRIPTION,
    ACCESSIBLE_TEXT,
    DISPLAY,
    EDIT,
    ENTRY_ID,
    ITEM,
    MARK,
    NO_INDEX,
    TOOLTIP,
    Index,
)
from lorestudio.ui.shell.theme import Theme, scaled
from lorestudio.ui.shell.words import count, number, tr
from lorestudio.ui.widgets.marks import Mark, entry_kind
from lorestudio.ui.widgets.paint import draw_glyph, draw_mark
from lorestudio.ui.widgets.tree import TreeModel

NOTES_TYPE: Final = "application/x-lorestudio-notes"
"""What dragged notes are called while they are dragged."""


class Branch(StrEnum):
    """What a row of the tree is."""

    FOLDER = "folder"
    GROUP = "group"
    ENTRY = "entry"
    LEFT_OUT = "left_out"


@dataclass(slots=True, eq=False)
class Node:
    """One row; `item` is the entry or left-out note behind it."""

    kind: Branch
    title: str
    parent: Node | None = None
    item: Entry | LeftOutNote | None = None
    children: list[Node] = field(default_factory=list)
    row: int = 0
    amount: int = 0
    place: tuple[str, str] | None = None
    """The vault ("" where there is only one) and the path of a folder's row."""

    @property
    def entry(self) -> Entry | None:
        """The entry of an entry row."""
        return self.item if isinstance(self.item, Entry) else None

    @property
    def icon(self) -> str:
        """The row's glyph."""
        if isinstance(self.item, Entry):
            return entry_kind(self.item).icon
        if self.kind is Branch.FOLDER:
            return "folder"
        note = self.item or self.children[0].item
        return "broken" if isinstance(note, LeftOutNote) and note.problem.broken else "left-out"


class VaultTree(TreeModel[Node]):
    """`DISPLAY` is the title, `ITEM` the node, `MARK` what became of the entry in the chosen generation.

    Notes can be dragged into folders: `dropped` carries them, the vault ("" where there is only one) and the folder.
    The title of an entry can be typed over: `retitled` carries the entry and what was typed.

    `set_filter` keeps what contains every word in its title, keys, tags, file name or problem; `matches` counts it.
    """

    dropped = Signal(object, str, str)
    retitled = Signal(object, str)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(Node(Branch.FOLDER, ""), parent)
        self._index = VaultIndex()
        self._words: tuple[str, ...] = ()
        self._texts: dict[int, str] = {}
        self._by_id: dict[int, Node] = {}
        self._fate: Callable[[int], Mark | None] = lambda _entry: None
        self._is_dirty: Callable[[Entry | LeftOutNote], bool] = lambda _note: False
        self.matches = 0
        self._dragged: tuple[Entry | LeftOutNote, ...] = ()

    # ---- content ----------------------------------------------------------------------------------------------------

    def set_index(self, index: VaultIndex) -> None:
        """Show another vault."""
        self._index = index
        self._texts = {}
        self._rebuild()

    def set_filter(self, text: str) -> None:
        """Show only what contains every word of `text`, without regard to case."""
        words = tuple(text.casefold().split())
        if words != self._words:
            self._words = words
            self._rebuild()

    @property
    def filtered(self) -> bool:
        """Whether a filter hides rows."""
        return bool(self._words)

    def set_marks(self, fate: Callable[[int], Mark | None], is_dirty: Callable[[Entry | LeftOutNote], bool]) -> None:
        """Where marks and dirty dots come from; asked for visible rows only."""
        self._fate, self._is_dirty = fate, is_dirty

    def refresh_marks(self) -> None:
        """The marks may have changed; views repaint what they show."""
        if self._root.children:
            last = len(self._root.children) - 1
            self.dataChanged.emit(self.index(0, 0), self.index(last, 0), [MARK, ACCESSIBLE_TEXT])

    def entries(self) -> list[int]:
        """Ids of all shown entries, in the tree's order."""
        return [node.item.id for node in _walk(self._root) if isinstance(node.item, Entry)]

    def index_of(self, entry: int | None) -> QModelIndex:
        """The row of an entry, an invalid index where the filter hides it."""
        node = self._by_id.get(entry) if entry is not None else None
        return self.createIndex(node.row, 0, node) if node is not None else QModelIndex()

    def index_of_note(self, note: Entry | LeftOutNote) -> QModelIndex:
        """The row of a note of any kind."""
        if isinstance(note, Entry):
            return self.index_of(note.id)
        node = next((node for node in _walk(self._root) if node.item is note), None)
        return self.createIndex(node.row, 0, node) if node is not None else QModelIndex()

    def ranges_of(self, notes: Sequence[Entry | LeftOutNote]) -> list[tuple[QModelIndex, QModelIndex]]:
        """The rows of notes as ranges, first and last row of each; notes that are not shown are passed over."""
        wanted = {id(note) for note in notes}
        ranges: list[list[Node]] = []
        for node in _walk(self._root):
            if node.item is None or id(node.item) not in wanted:
                continue
            if ranges and ranges[-1][1].parent is node.parent and ranges[-1][1].row == node.row - 1:
                ranges[-1][1] = node
            else:
                ranges.append([node, node])
        return [(self.createIndex(one.row, 0, one), self.createIndex(two.row, 0, two)) for one, two in ranges]

    def notes_below(self, index: Index) -> list[Entry | LeftOutNote]:
        """The note of a row, or all notes that are shown below a folder's."""
        node = self.node(index)
        return [node.item] if node.item is not None else [one.item for one in _walk(node) if one.item is not None]

    def folder_rows(self) -> list[QModelIndex]:
        """All rows of folders and groups."""
        return [self.createIndex(node.row, 0, node) for node in _walk(self._root) if node.children]

    def is_dirty(self, node: Node) -> bool:
        """Whether the row's note has unsaved text."""
        return node.item is not None and self._is_dirty(node.item)

    # ---- Qt ---------------------------------------------------------------------------------------------------------

    def columnCount(self, parent: Index = NO_INDEX) -> int:
        """Qt: one column."""
        return 1

    def flags(self, index: Index) -> Qt.ItemFlag:
        """Qt: every row can be chosen, so that the keyboard reaches it; notes are dragged, folders take them."""
        if not index.isValid():
            return Qt.ItemFlag.ItemIsDropEnabled
        node = self.node(index)
        flags = Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable
        if node.item is not None:
            flags |= Qt.ItemFlag.ItemIsDragEnabled
        if node.entry is not None:
            flags |= Qt.ItemFlag.ItemIsEditable
        return flags | Qt.ItemFlag.ItemIsDropEnabled if node.place is not None else flags

    def supportedDropActions(self) -> Qt.DropAction:
        """Qt: notes are moved."""
        return Qt.DropAction.MoveAction

    def mimeTypes(self) -> list[str]:
        """Qt: notes of this window only."""
        return [NOTES_TYPE]

    def mimeData(self, indexes: Sequence[QModelIndex]) -> QMimeData:
        """Qt: the notes that are dragged; they stay here, the data only says that there are some."""
        items = (self.node(index).item for index in indexes)
        self._dragged = tuple(item for item in items if item is not None)
        data = QMimeData()
        data.setData(NOTES_TYPE, QByteArray(str(len(self._dragged)).encode()))
        return data

    def dropMimeData(self, data: QMimeData, action: Qt.DropAction, row: int, column: int, parent: Index) -> bool:
        """Qt: notes were dropped; whoever hears `dropped` moves them, and the tree follows when it is read again."""
        place = self.node(parent).place if parent.isValid() else ("", "")
        if not data.hasFormat(NOTES_TYPE) or place is None or not self._dragged:
            return False
        self.dropped.emit(self._dragged, *place)
        return False  # Qt would take the rows away itself

    def data(self, index: Index, role: int = DISPLAY) -> object:
        """Qt: what a row shows and says."""
        node = self.node(index)
        if role in {DISPLAY, EDIT}:
            return node.title
        if role == ITEM:
            return node
        entry = node.entry
        if role == ENTRY_ID:
            return entry.id if entry is not None else None
        if role == MARK:
            return self._fate(entry.id) if entry is not None else None
        if role == ACCESSIBLE_TEXT:
            return self._spoken(node)
        if role in {TOOLTIP, ACCESSIBLE_DESCRIPTION}:
            return _tooltip(node)
        return None

    def setData(self, index: Index, value: object, role: int = EDIT) -> bool:
        """Qt: a title was typed; whoever hears `retitled` renames the note, and the tree follows."""
        entry, title = self.node(index).entry, str(value).strip()
        if role == EDIT and entry is not None and title and title != entry.title:
            self.retitled.emit(entry, title)
        return False  # the row keeps its title until the note has the new one

    # ---- inside -----------------------------------------------------------------------------------------------------

    def _spoken(self, node: Node) -> str:
        entry = node.entry
        if entry is None:
            amount = count(node.amount, "note", "notes")
            return f"{node.title}, {amount}" if node.kind is not Branch.LEFT_OUT else _tooltip(node)
        parts = [node.title, entry_kind(entry).word]
        if entry.warnings:
            parts.append(count(len(entry.warnings), "warning", "warnings"))
        if self._is_dirty(entry):
            parts.append(tr("unsaved changes"))
        mark = self._fate(entry.id)
        if mark is not None:
            parts.append(tr("this turn: {word}", word=tr(mark.word)))
        return ", ".join(parts)

    def _rebuild(self) -> None:
        self.beginResetModel()
        self._root = Node(Branch.FOLDER, "")
        self._by_id = {}
        folders: dict[tuple[str, str], Node] = {}
        several = len(self._index.vaults) > 1
        shown = [entry for entry in self._index.entries if self._found(entry)] if self._words else self._index.entries
        self.matches = len(shown)
        for entry in shown:
            home = self._folder(folders, entry.vault if several else "", entry.filename.rpartition("/")[0])
            node = Node(Branch.ENTRY, entry.title, home, entry)
            home.children.append(node)
            self._by_id[entry.id] = node
        for title, broken in ((tr("Broken notes"), True), (tr("Left out"), False)):
            self._add_group(title, [note for note in self._index.left_out if note.problem.broken is broken])
        _arrange(self._root)
        self.endResetModel()

    def _found(self, entry: Entry) -> bool:
        """Whether the filter lets an entry through."""
        text = self._texts.get(entry.id)
        if text is None:
            text = self._texts[entry.id] = _search_text(entry)
        return all(word in text for word in self._words)

    def _folder(self, folders: dict[tuple[str, str], Node], vault: str, path: str) -> Node:
        if not path and not vault:
            return self._root
        known = folders.get((vault, path))
        if known is None:
            above, _, name = path.rpartition("/")
            home = self._folder(folders, vault, above) if path else self._root
            known = folders[vault, path] = Node(Branch.FOLDER, name or vault, home, place=(vault, path))
            home.children.append(known)
        return known

    def _add_group(self, title: str, notes: list[LeftOutNote]) -> None:
        shown = [note for note in notes if all(word in _left_out_text(note) for word in self._words)]
        if shown:
            self.matches += len(shown)
            group = Node(Branch.GROUP, title, self._root)
            group.children = [
                Node(Branch.LEFT_OUT, note.filename.rpartition("/")[2] or note.filename, group, note) for note in shown
            ]
            self._root.children.append(group)


def _walk(node: Node) -> Iterator[Node]:
    for child in node.children:
        yield child
        yield from _walk(child)


_ORDER = {Branch.FOLDER: 0, Branch.ENTRY: 1, Branch.LEFT_OUT: 1, Branch.GROUP: 2}


def _arrange(node: Node) -> int:
    """Folders first, then notes by title, groups last; returns how many notes are below."""
    if node.parent is None or node.kind is not Branch.GROUP:
        node.children.sort(
            key=lambda child: (_ORDER[child.kind], "" if child.kind is Branch.GROUP else child.title.casefold())
        )
    node.amount = 0
    for row, child in enumerate(node.children):
        child.row = row
        node.amount += _arrange(child) if child.children else 1
    return node.amount


def _search_text(entry: Entry) -> str:
    parts = (entry.title, entry.filename, *entry.keys, *entry.refine_keys, *entry.tags)
    return "\n".join(parts).casefold()


def _left_out_text(note: LeftOutNote) -> str:
    return f"{note.filename}\n{note.message}\n{note.problem.value}".casefold()


def _tooltip(node: Node) -> str:
    if isinstance(node.item, LeftOutNote):
        return f"{node.item.filename}: {node.item.message}"
    entry = node.entry
    if entry is None:
        return count(node.amount, "note", "notes")
    lines = [
        f"{entry.filename}",
        tr("{kind} · priority {priority}", kind=entry_kind(entry).word, priority=number(entry.priority)),
        tr("keys: {keys}", keys=", ".join(entry.keys) or tr("none")),
    ]
    lines += [f"{warning.field}: {warning.message}" for warning in entry.warnings]
    return "\n".join(lines)


_GLYPH_WIDTH: Final = 22
_QUIET = {"not a candidate", "refused"}


class VaultDelegate(QStyledItemDelegate):
    """Draws one `Node` with its mark; colours are the theme's."""

    def __init__(self, theme: Theme, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._theme = theme

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        """Qt: all rows are equally tall."""
        return QSize(120, max(24, round(QFontMetricsF(option.font).height()) + 7))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Qt: draw a row."""
        node, mark = index.data(ITEM), index.data(MARK)
        if not isinstance(node, Node):
            return
        theme, palette = self._theme, self._theme.palette
        primitive = QStyle.PrimitiveElement.PE_PanelItemViewItem
        option.widget.style().drawPrimitive(primitive, option, painter, option.widget)
        chosen = bool(option.state & QStyle.StateFlag.State_Selected)
        ink = palette.on_accent_soft if chosen else palette.text
        broken = isinstance(node.item, LeftOutNote) and node.item.problem.broken
        left_out = node.kind is Branch.LEFT_OUT
        icon_ink = palette.error if broken or node.icon == "broken" else palette.text_muted
        if node.icon == "constant":
            icon_ink = palette.accent
        box = QRectF(option.rect).adjusted(2, 0, -6, 0)
        draw_glyph(painter, QRectF(box.left(), box.top(), 18, box.height()), node.icon, icon_ink, 14)
        box.setLeft(box.left() + _GLYPH_WIDTH)
        box.setRight(self._right_side(painter, box, node, mark, index))
        painter.save()
        painter.setFont(scaled(option.font, 1.0, bold=node.kind in {Branch.FOLDER, Branch.GROUP}))
        painter.setPen(theme.color("text_muted") if left_out and not chosen else ink)
        metrics = QFontMetricsF(painter.font())
        text = metrics.elidedText(node.title, Qt.TextElideMode.ElideRight, box.width())
        painter.drawText(box, int(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft), text)
        if left_out and isinstance(node.item, LeftOutNote):
            used = metrics.horizontalAdvance(text) + 8
            rest = box.adjusted(used, 0, 0, 0)
            painter.setPen(theme.color("text_faint"))
            painter.setFont(scaled(option.font, 0.9))
            why = QFontMetricsF(painter.font()).elidedText(
                node.item.message, Qt.TextElideMode.ElideRight, max(rest.width(), 0)
            )
            painter.drawText(rest, int(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft), why)
        painter.restore()

    def updateEditorGeometry(self, editor: QWidget, option: QStyleOptionViewItem, index: Index) -> None:
        """Qt: the field for a new title begins where the title does, and takes the rest of the row."""
        del index
        editor.setGeometry(option.rect.adjusted(_GLYPH_WIDTH, 0, 0, 0))

    def _right_side(self, painter: QPainter, box: QRectF, node: Node, mark: object, index: Index) -> float:
        """Draw what stands on the right; returns where the title has to end."""
        palette, right = self._theme.palette, box.right()
        if node.kind in {Branch.FOLDER, Branch.GROUP}:
            text = number(node.amount)
            painter.save()
            painter.setPen(self._theme.color("text_faint"))
            painter.drawText(box, int(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight), text)
            painter.restore()
            return right - QFontMetricsF(painter.font()).horizontalAdvance(text) - 8
        if isinstance(mark, Mark) and mark.word not in _QUIET:
            draw_mark(painter, QRectF(right - 17, box.top(), 17, box.height()), mark, self._theme, 16)
            right -= 21
        entry = node.entry
        if entry is not None and entry.warnings:
            draw_glyph(painter, QRectF(right - 14, box.top(), 14, box.height()), "warning", palette.warning, 13)
            right -= 17
        model = index.model()
        if hasattr(model, "is_dirty") and model.is_dirty(node):
            draw_glyph(painter, QRectF(right - 12, box.top(), 12, box.height()), "constant", palette.accent, 11)
            right -= 15
        return right - 4
