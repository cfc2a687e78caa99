"""The vault as a tree: folders, entries with their state, and at the end the notes that gave no entry."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from operator import attrgetter
from typing import Final

from PySide6.QtCore import QByteArray, QMimeData, QModelIndex, QObject, QSize, Qt, Signal
from PySide6.QtGui import QFontMetricsF
from PySide6.QtWidgets import QStyleOptionViewItem, QTreeView, QWidget

from lorestudio.domain.entry import Entry, LeftOutNote, VaultIndex
from lorestudio.domain.texts import comparable, reading_order, shorten
from lorestudio.studio.notes.book_entries import ranked_by_order
from lorestudio.ui.features.vault.table import UNMARKED, Note, NoteMarks, other_name, search_text
from lorestudio.ui.shell.qt import ACCESSIBLE_TEXT, DISPLAY, EDIT, LOOK, MARK, Index
from lorestudio.ui.shell.theme import scaled
from lorestudio.ui.shell.words import count, number, tr
from lorestudio.ui.widgets.cells import CellDelegate, Column, Glyph, Look, Piece, Strip, Words
from lorestudio.ui.widgets.paint import Wrapper, entry_kind
from lorestudio.ui.widgets.tree import RecordTree, TreeRow

NOTES_TYPE: Final = "application/x-lorestudio-notes"
"""What dragged notes are called while they are dragged."""


class Branch(StrEnum):
    """What a row of the tree is."""

    FOLDER = "folder"
    GROUP = "group"
    ENTRY = "entry"
    LEFT_OUT = "left_out"


@dataclass(slots=True, eq=False)
class Node(TreeRow):
    """One row; `item` is the entry or left-out note behind it."""

    kind: Branch
    title: str
    item: Note | None = None
    amount: int = 0
    place: tuple[str, str] | None = None
    """The vault ("" where there is only one) and the path of a folder's row."""

    @property
    def entry(self) -> Entry | None:
        """The entry of an entry row."""
        return self.item if isinstance(self.item, Entry) else None

    @property
    def told_apart(self) -> str:
        """The file's name where a row above or below has the same title."""
        if not isinstance(self.item, Entry):
            return ""
        near = self.above.children[max(self.row - 1, 0) : self.row + 2]
        return other_name(self.item) if sum(each.title == self.title for each in near) > 1 else ""

    @property
    def notes(self) -> list[Note]:
        """The note of a row, or all notes that are shown below a folder's."""
        return [self.item] if self.item is not None else [one.item for one in self.below() if one.item is not None]

    @property
    def icon(self) -> str:
        """The row's glyph."""
        if isinstance(self.item, Entry):
            return entry_kind(self.item).icon
        if self.kind is Branch.FOLDER:
            return "folder"
        note = self.item or self.children[0].item
        return "broken" if isinstance(note, LeftOutNote) and note.problem.broken else "left-out"


AT_ONCE: Final = 1000
"""Of more notes the rows are made in a job."""

ONE_FOLDER: Final = 5000
"""More notes of one folder stand in ranges: Qt lays out all rows of a folder that is opened in one go."""

RANGE: Final = 1000


def filter_words(text: str) -> tuple[str, ...]:
    """The words that a filter looks for."""
    return tuple(comparable(text).split())


class Rows:
    """The rows of the notes that contain all `words`, made in any thread; `matches` counts the notes, `by_id` has
    entries' rows by their ids. `texts` are what entries contain, by id, as far as they were looked at.
    """

    def __init__(self, index: VaultIndex, words: tuple[str, ...] = (), texts: dict[int, str] | None = None) -> None:
        self.index, self.words, self.texts = index, words, {} if texts is None else texts
        self.root = Node(Branch.FOLDER, "")
        self.by_id: dict[int, Node] = {}
        folders: dict[tuple[str, str], Node] = {}
        several = len(index.vaults) > 1
        if len(index.entries) > ONE_FOLDER:  # in a job, and a filter wants all of them
            self.texts.update({entry.id: search_text(entry) for entry in index.entries if entry.id not in self.texts})
        shown = [entry for entry in index.entries if self._found(entry)] if words else index.entries
        self.matches = len(shown)
        for entry in shown:
            home = self._folder(folders, entry.vault if several else "", entry.filename.rpartition("/")[0])
            node = Node(Branch.ENTRY, entry.title, entry)
            home.add(node)
            self.by_id[entry.id] = node
        for title, broken in ((tr("Broken notes"), True), (tr("Left out"), False)):
            self._add_group(title, [note for note in index.left_out if note.problem.broken is broken])
        _arrange(self.root)

    def text(self, note: Note) -> str:
        """What a filter looks in."""
        entries = self.index.entries
        if isinstance(note, LeftOutNote) or not (note.id < len(entries) and entries[note.id] is note):
            return search_text(note)  # of another reading, perhaps
        text = self.texts.get(note.id)
        if text is None:
            text = self.texts[note.id] = search_text(note)
        return text

    def _found(self, note: Note) -> bool:
        """Whether the filter lets a note through."""
        text = self.text(note)
        return all(word in text for word in self.words)

    def _folder(self, folders: dict[tuple[str, str], Node], vault: str, path: str) -> Node:
        if not path and not vault:
            return self.root
        known = folders.get((vault, path))
        if known is None:
            above, _, name = path.rpartition("/")
            home = self._folder(folders, vault, above) if path else self.root
            known = folders[vault, path] = Node(Branch.FOLDER, name or vault, place=(vault, path))
            home.add(known)
        return known

    def _add_group(self, title: str, notes: list[LeftOutNote]) -> None:
        shown = [note for note in notes if self._found(note)]
        if shown:
            self.matches += len(shown)
            group = Node(Branch.GROUP, title)
            group.add(*(Node(Branch.LEFT_OUT, note.name, note) for note in shown))
            self.root.add(group)


class VaultTree(RecordTree[Node]):
    """`DISPLAY` is the title, `ITEM` the node, `MARK` what became of the entry in the chosen generation.

    Notes can be dragged into folders: `dropped` carries them, the vault ("" where there is only one) and the folder.
    The title of an entry can be typed over: `retitled` carries the entry and what was typed.
    """

    dropped = Signal(object, str, str)
    retitled = Signal(object, str)

    def __init__(self, parent: QObject | None = None, marks: NoteMarks = UNMARKED) -> None:
        self.marks = marks
        column = Column(
            "", attrgetter("title"), look=self._look, spoken=self._spoken, mark=lambda node: self.marks.of(node.item)
        )
        super().__init__(
            Node(Branch.FOLDER, ""), [column], tip=lambda node, _column: self._tip(node), about=_tooltip,
            entry=lambda node: node.entry.id if node.entry is not None else None, parent=parent,
        )  # fmt: skip
        self.rows = Rows(VaultIndex())
        self._dragged: tuple[Note, ...] = ()

    # ---- content ----------------------------------------------------------------------------------------------------

    def set_index(self, index: VaultIndex) -> None:
        """Show another vault."""
        self.show_rows(Rows(index, self.rows.words))

    def show_rows(self, rows: Rows) -> None:
        """Show these rows, whoever made them."""
        self.rows = rows
        self.show_root(rows.root)

    @property
    def filtered(self) -> bool:
        """Whether a filter hides rows."""
        return bool(self.rows.words)

    @property
    def matches(self) -> int:
        """How many notes are shown."""
        return self.rows.matches

    def refresh_marks(self) -> None:
        """The marks may have changed; views repaint what they show."""
        if self.root.children:
            last = len(self.root.children) - 1
            self.dataChanged.emit(self.index(0, 0), self.index(last, 0), [MARK, ACCESSIBLE_TEXT])

    def entries(self) -> list[int]:
        """Ids of all shown entries, in the tree's order."""
        return [node.item.id for node in self.root.below() if isinstance(node.item, Entry)]

    def index_of_note(self, note: Note) -> QModelIndex:
        """The row of a note of any kind, an invalid index where the filter hides it."""
        if isinstance(note, Entry):
            return self.index_of(self.rows.by_id.get(note.id))
        return self.index_of(next((node for node in self.root.below() if node.item is note), None))

    def ranges_of(self, notes: Sequence[Note]) -> list[tuple[QModelIndex, QModelIndex]]:
        """The rows of notes as ranges, first and last row of each; notes that are not shown are passed over."""
        wanted = {id(note) for note in notes}
        ranges: list[list[Node]] = []
        for node in self.root.below():
            if node.item is None or id(node.item) not in wanted:
                continue
            if ranges and ranges[-1][1].above is node.above and ranges[-1][1].row == node.row - 1:
                ranges[-1][1] = node
            else:
                ranges.append([node, node])
        return [(self.createIndex(one.row, 0, one), self.createIndex(two.row, 0, two)) for one, two in ranges]

    def folder_rows(self) -> list[QModelIndex]:
        """All rows of folders and groups."""
        return [self.createIndex(node.row, 0, node) for node in self.root.below() if node.children]

    def flags(self, index: Index) -> Qt.ItemFlag:
        """Qt: every row can be chosen, so that the keyboard reaches it; notes are dragged, folders take them."""
        return _FLAGS[self.node(index).kind] if index.isValid() else Qt.ItemFlag.ItemIsDropEnabled

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

    def setData(self, index: Index, value: object, role: int = EDIT) -> bool:
        """Qt: a title was typed; whoever hears `retitled` renames the note, and the tree follows."""
        entry, title = self.node(index).entry, str(value).strip()
        if role == EDIT and entry is not None and title and title != entry.title:
            self.retitled.emit(entry, title)
        return False  # the row keeps its title until the note has the new one

    def data(self, index: Index, role: int = DISPLAY) -> object:
        """Qt: a title is typed over as it is shown."""
        return super().data(index, DISPLAY if role == EDIT else role)

    def _look(self, node: Node) -> Look:
        """Glyph, title, and on the right what matters this turn."""
        note, folder = node.item, node.kind in {Branch.FOLDER, Branch.GROUP}
        tone = {"broken": "error", "constant": "accent"}.get(node.icon, "text_muted")
        pieces: list[Piece] = [Glyph(node.icon, tone, width=22, steady=True)]
        tone = "text_muted" if isinstance(note, LeftOutNote) else "text"
        pieces.append(Words(node.title, tone, bold=folder, wraps=not isinstance(note, LeftOutNote)))
        beside = note.message if isinstance(note, LeftOutNote) else node.told_apart
        if beside:
            pieces.append(Words(beside, "text_faint", 0.9, steady=True, gap=0))
        if folder or note is None:
            return _line(pieces, [Words(number(node.amount), "text_faint", steady=True, gap=0)])
        warned = isinstance(note, Entry) and bool(note.warnings)
        warnings = [Glyph("warning", "warning", 13, 17, steady=True)] if warned else []
        return _line(pieces, self.marks.pieces(note, *warnings, room=17))

    def _tip(self, node: Node) -> str:
        held = self.marks.expected(node.item)
        return "\n".join([_tooltip(node), *([held.words] if held is not None else [])])

    def _spoken(self, node: Node) -> str:
        entry = node.entry
        if entry is None:
            amount = count(node.amount, "note", "notes")
            return f"{node.title}, {amount}" if node.kind is not Branch.LEFT_OUT else _tooltip(node)
        parts = [*filter(None, (node.title, node.told_apart)), entry_kind(entry).word]
        if entry.warnings:
            parts.append(count(len(entry.warnings), "warning", "warnings"))
        if self.marks.is_dirty(entry):
            parts.append(tr("unsaved changes"))
        mark, held = self.marks.of(entry), self.marks.expected(entry)
        if held is not None:
            parts.append(held.words)
        if mark is not None:
            parts.append(tr("this turn: {word}", word=tr(mark.word)))
        return ", ".join(parts)


_GROUP: Final = Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable
_NOTE: Final = _GROUP | Qt.ItemFlag.ItemIsDragEnabled | Qt.ItemFlag.ItemNeverHasChildren
_FLAGS: Final = {
    Branch.FOLDER: _GROUP | Qt.ItemFlag.ItemIsDropEnabled,
    Branch.GROUP: _GROUP,
    Branch.ENTRY: _NOTE | Qt.ItemFlag.ItemIsEditable,
    Branch.LEFT_OUT: _NOTE,
}
"""Made once: Qt asks for those of each row of a folder when it is opened, and Python is slow to put flags together."""

_ORDER = {Branch.FOLDER: 0, Branch.ENTRY: 1, Branch.LEFT_OUT: 1, Branch.GROUP: 2}


def _arrange(node: Node) -> int:
    """Folders first, then notes by title, groups last; returns how many notes are below."""
    if node.above is None or node.kind is not Branch.GROUP:
        node.children.sort(
            key=lambda child: (_ORDER[child.kind], reading_order("" if child.kind is Branch.GROUP else child.title))
        )
    notes = [child for child in node.children if child.item is not None]
    if len(notes) > ONE_FOLDER:
        start = node.children.index(notes[0])
        after, node.children = node.children[start + len(notes) :], node.children[:start]
        for first in range(0, len(notes), RANGE):
            some = notes[first : first + RANGE]
            title = f"{shorten(some[0].title, 24)} – {shorten(some[-1].title, 24)}"
            node.add(made := Node(Branch.FOLDER, title))
            made.add(*some)
        node.children += after
    node.amount = 0
    for row, child in enumerate(node.children):
        child.row = row
        node.amount += _arrange(child) if child.children else 1
    return node.amount


def _tooltip(node: Node) -> str:
    if isinstance(node.item, LeftOutNote):
        return f"{node.item.filename}: {node.item.message}"
    entry = node.entry
    if entry is None:
        return count(node.amount, "note", "notes")
    rank = "{kind} · order {priority}" if ranked_by_order(entry) else "{kind} · priority {priority}"
    lines = [
        f"{entry.filename}",
        tr(rank, kind=entry_kind(entry).word, priority=number(entry.priority)),
        tr("keys: {keys}", keys=", ".join(entry.keys) or tr("none")),
    ]
    lines += [f"{warning.field}: {warning.message}" for warning in entry.warnings]
    return "\n".join(lines)


def _line(left: Sequence[Piece], right: Sequence[Piece]) -> Look:
    return Look((Strip(tuple(left), tuple(right)),), left=2, right=6)


_GLYPH_WIDTH: Final = 24


WRAPPED: Final = 500
"""In a vault of at most so many notes long titles take more lines; more rows are not measured one by one."""


class TitleDelegate(CellDelegate):
    """The field for a new title begins where the title does, and takes the rest of the row.

    A row is as high as its title needs where the rows of the tree differ in height.
    """

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        """Qt: see the class."""
        usual, tree, look = super().sizeHint(option, index), option.widget, index.data(LOOK)
        if not isinstance(tree, QTreeView) or tree.uniformRowHeights() or not isinstance(look, Look):
            return usual
        depth, above = 1, index.parent()
        while above.isValid():
            depth, above = depth + 1, above.parent()
        wide = tree.viewport().width() - depth * tree.indentation() - look.left - look.right
        strip = look.strips[0]
        title = next(piece for piece in strip.left if isinstance(piece, Words))
        font = scaled(option.font, 1.0, bold=title.bold)
        metrics = QFontMetricsF(font)
        beside = sum(piece.width or (metrics.horizontalAdvance(piece.text) if isinstance(piece, Words) else 0)
                     for piece in (*strip.left, *strip.right) if piece is not title)  # fmt: skip
        if metrics.horizontalAdvance(title.text) <= wide - beside or not title.wraps:
            return usual
        lines = Wrapper(font).lines(title.text, max(wide - beside, 20.0))
        return QSize(usual.width(), max(usual.height(), round(len(lines) * metrics.height()) + 7))

    def updateEditorGeometry(self, editor: QWidget, option: QStyleOptionViewItem, index: Index) -> None:
        """Qt: see the class."""
        editor.setGeometry(option.rect.adjusted(_GLYPH_WIDTH, 0, 0, 0))
