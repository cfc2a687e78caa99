"""The vault as a table: one row per note, sorted and filtered here, because a proxy would ask row by row.

Notes in lists: what they are called, where they lie, what state they are in, and what a filter finds in them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, TypeAlias

from PySide6.QtCore import QAbstractTableModel, QDateTime, QLocale, QObject, Qt

from lorestudio.domain.entry import Entry, LeftOutNote, NoteProblem, VaultIndex
from lorestudio.trace.timeline import NEVER, Fired
from lorestudio.ui.shell.qt import ACCESSIBLE_TEXT, DISPLAY, ENTRY_ID, HORIZONTAL, ITEM, MARK, NO_INDEX, TOOLTIP, Index
from lorestudio.ui.shell.words import count, number, tr
from lorestudio.ui.widgets.marks import Kind, Mark, entry_kind

Note: TypeAlias = Entry | LeftOutNote

_LEFT_OUT = {
    NoteProblem.DISABLED: "disabled",
    NoteProblem.NEVER_INSERT: "never inserted",
    NoteProblem.NO_LOREBOOK_TAG: "no lorebook tag",
    NoteProblem.NO_FRONT_MATTER: "no properties",
}


def note_key(note: Note) -> tuple[str, str]:
    """What a note is known by in every reading of a vault: the vault's name and the file."""
    return note.vault, note.filename


def note_title(note: Note) -> str:
    """The title of an entry, the file's name of any other note."""
    if isinstance(note, Entry):
        return note.title
    return note.filename.rpartition("/")[2].removesuffix(".md") or note.filename


def note_folder(note: Note) -> str:
    """The folder inside the vault, "" for the vault itself."""
    return note.filename.rpartition("/")[0]


def note_kind(note: Note) -> Kind:
    """The note's state: a glyph and a word or two."""
    if isinstance(note, Entry):
        kind = entry_kind(note)
        return Kind(kind.icon, kind.word.split(",")[0])
    if note.problem.broken:
        return Kind("broken", tr("broken"))
    icon = "slash" if note.problem is NoteProblem.DISABLED else "left-out"
    return Kind(icon, tr(_LEFT_OUT.get(note.problem, "left out")))


def search_text(note: Note) -> str:
    """What a filter looks at, in lower case."""
    if isinstance(note, Entry):
        parts: Sequence[str] = (note.title, note.filename, *note.keys, *note.refine_keys, *note.tags)
        return "\n".join(parts).casefold()
    return f"{note.filename}\n{note.message}\n{note.problem.value}".casefold()


class Column(StrEnum):
    """The columns, in the order in which they first stand."""

    TITLE = "title"
    STATE = "state"
    FOLDER = "folder"
    VAULT = "vault"
    PRIORITY = "priority"
    TOKENS = "tokens"
    KEYS = "keys"
    INJECTED = "injected"
    MATCHED = "matched"
    PROBLEMS = "problems"
    TAGS = "tags"
    MODIFIED = "modified"


@dataclass(frozen=True, slots=True)
class _About:
    title: str
    tip: str
    numeric: bool = False


ABOUT: Final[Mapping[Column, _About]] = {
    Column.TITLE: _About("Title", "The entry's title, or the file's name where the note is no entry"),
    Column.STATE: _About("State", "What sort of entry it is, or why it is none"),
    Column.FOLDER: _About("Folder", "The folder inside the vault"),
    Column.VAULT: _About("Vault", "The vault that the note is in"),
    Column.PRIORITY: _About("Priority", "A lower number goes in first", numeric=True),
    Column.TOKENS: _About("Tokens", "How long the injected text is", numeric=True),
    Column.KEYS: _About("Keys", "How many keys the entry has", numeric=True),
    Column.INJECTED: _About("Injected", "In how many runs of this chat the entry went into the prompt", numeric=True),
    Column.MATCHED: _About("Matched", "In how many runs of this chat the entry was found at all", numeric=True),
    Column.PROBLEMS: _About("Problems", "How many things about the note should be looked at", numeric=True),
    Column.TAGS: _About("Tags", "The note's tags"),
    Column.MODIFIED: _About("Modified", "When the file was last changed"),
}
COLUMNS: Final = tuple(Column)
HIDDEN_AT_FIRST: Final = frozenset({Column.VAULT, Column.TAGS})

_RIGHT = int(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight)
_LEFT = int(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft)
_ALIGNMENT = Qt.ItemDataRole.TextAlignmentRole


class VaultTable(QAbstractTableModel):
    """`ITEM` is the note, `MARK` of the title what became of it in the chosen generation.

    `matches` counts the rows that the filter lets through.
    """

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._notes: tuple[Note, ...] = ()
        self._shown: list[Note] = []
        self._texts: list[str] = []
        self._words: tuple[str, ...] = ()
        self._sorted: tuple[Column, bool] = (Column.TITLE, False)
        self._order: list[int] = []
        self._rows: dict[tuple[str, str], int] = {}
        self._modified: Mapping[tuple[str, str], float] = {}
        self._problems: Mapping[tuple[str, str], int] = {}
        self._fired: Callable[[int], Fired] = lambda _entry: NEVER
        self._fate: Callable[[int], Mark | None] = lambda _entry: None
        self._is_dirty: Callable[[Note], bool] = lambda _note: False
        self.exact = True

    # ---- content ----------------------------------------------------------------------------------------------------

    def set_index(self, index: VaultIndex) -> None:
        """Show another vault."""
        self.beginResetModel()
        self._notes = (*index.entries, *index.left_out)
        self._texts = []
        self._arrange()
        self.endResetModel()

    def set_filter(self, text: str) -> None:
        """Show only what contains every word of `text`, without regard to case."""
        words = tuple(text.casefold().split())
        if words != self._words:
            self.beginResetModel()
            self._words = words
            self._show()
            self.endResetModel()

    def set_sources(
        self,
        fired: Callable[[int], Fired],
        fate: Callable[[int], Mark | None],
        is_dirty: Callable[[Note], bool],
    ) -> None:
        """Where counts, marks and dirty dots come from; asked for visible rows, and for all when sorted by them."""
        self._fired, self._fate, self._is_dirty = fired, fate, is_dirty

    def set_modified(self, times: Mapping[tuple[str, str], float]) -> None:
        """When the files were last changed: seconds since 1970 by vault and file name."""
        self._modified = times
        self._changed(Column.MODIFIED)

    def set_problems(self, counts: Mapping[tuple[str, str], int]) -> None:
        """How many problems the notes have, by vault and file name; those left out have as many as were warned of."""
        self._problems = counts
        self._changed(Column.PROBLEMS)

    def refresh_fired(self) -> None:
        """The counts of runs are other ones."""
        self._changed(Column.INJECTED)
        self._changed(Column.MATCHED)

    def refresh_marks(self) -> None:
        """The marks may have changed; views repaint what they show."""
        if self._shown:
            last = self.index(len(self._shown) - 1, 0)
            self.dataChanged.emit(self.index(0, 0), last, [MARK, ACCESSIBLE_TEXT])

    @property
    def matches(self) -> int:
        """How many rows are shown."""
        return len(self._shown)

    @property
    def filtered(self) -> bool:
        """Whether a filter hides rows."""
        return bool(self._words)

    @property
    def sorted_by(self) -> tuple[Column, bool]:
        """The column and whether the order is descending."""
        return self._sorted

    def note(self, row: int) -> Note | None:
        """The note of a row."""
        return self._shown[row] if 0 <= row < len(self._shown) else None

    def notes(self) -> Sequence[Note]:
        """All shown notes in the order of the rows."""
        return self._shown

    def row_of(self, note: Note | None) -> int:
        """The row of a note, by its file; -1 where it has none."""
        return self._rows.get(note_key(note), -1) if note is not None else -1

    def is_dirty(self, note: Note) -> bool:
        """Whether the note has unsaved text."""
        return self._is_dirty(note)

    # ---- Qt ---------------------------------------------------------------------------------------------------------

    def rowCount(self, parent: Index = NO_INDEX) -> int:
        """Qt: one row per note."""
        return 0 if parent.isValid() else len(self._shown)

    def columnCount(self, parent: Index = NO_INDEX) -> int:
        """Qt: all columns; the view hides some."""
        return 0 if parent.isValid() else len(COLUMNS)

    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        """Qt: sort by a column; equal rows stay in the order of their titles."""
        if not 0 <= column < len(COLUMNS):
            return
        self.layoutAboutToBeChanged.emit()
        before = self.persistentIndexList()
        kept = [(index.column(), self._shown[index.row()]) for index in before]
        self._sorted = (COLUMNS[column], order is Qt.SortOrder.DescendingOrder)
        self._arrange()
        after = [self.index(self._rows[note_key(note)], place) for place, note in kept]
        self.changePersistentIndexList(before, after)
        self.layoutChanged.emit()

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = DISPLAY) -> object:
        """Qt: the column's title, with what it means as a tooltip."""
        if orientation is not HORIZONTAL or not 0 <= section < len(COLUMNS):
            return None
        about = ABOUT[COLUMNS[section]]
        if role == DISPLAY:
            return tr(about.title)
        if role == TOOLTIP:
            return tr(about.tip)
        return (_RIGHT if about.numeric else _LEFT) if role == _ALIGNMENT else None

    def data(self, index: Index, role: int = DISPLAY) -> object:
        """Qt: what a cell shows and says."""
        note = self.note(index.row())
        if note is None or not 0 <= index.column() < len(COLUMNS):
            return None
        column = COLUMNS[index.column()]
        if role == DISPLAY:
            return self._text(note, column)
        if role == ITEM:
            return note
        if role == ENTRY_ID:
            return note.id if isinstance(note, Entry) else None
        if role == _ALIGNMENT:
            return _RIGHT if ABOUT[column].numeric else _LEFT
        if role == MARK and column is Column.TITLE and isinstance(note, Entry):
            return self._fate(note.id)
        if role == TOOLTIP:
            return note.message if isinstance(note, LeftOutNote) else self._text(note, column) or None
        return self._spoken(note, column) if role == ACCESSIBLE_TEXT else None

    # ---- inside -----------------------------------------------------------------------------------------------------

    def _text(self, note: Note, column: Column) -> str:
        if column is Column.TITLE:
            return note_title(note)
        if column is Column.STATE:
            return note_kind(note).word
        if column is Column.FOLDER:
            return note_folder(note)
        if column is Column.VAULT:
            return note.vault
        if column is Column.MODIFIED:
            seconds = self._modified.get(note_key(note))
            return "" if seconds is None else _when(seconds)
        value = self._number(note, column)
        if column is Column.TAGS:
            return ", ".join(note.tags) if isinstance(note, Entry) else ""
        if value is None or (value == 0 and column in {Column.PROBLEMS, Column.INJECTED, Column.MATCHED}):
            return ""
        return ("" if self.exact or column is not Column.TOKENS else "≈ ") + number(value)

    def _number(self, note: Note, column: Column) -> float | None:
        """The value of a numeric cell; None where the note has none."""
        if column is Column.PROBLEMS:
            known = self._problems.get(note_key(note))
            if known is not None or not isinstance(note, Entry):
                return known or 0
            return len(note.warnings)
        if not isinstance(note, Entry):
            return None
        if column is Column.PRIORITY:
            return note.priority
        if column is Column.TOKENS:
            return note.tokens
        if column is Column.KEYS:
            return len(note.keys)
        if column is Column.INJECTED:
            return self._fired(note.id).injected
        return self._fired(note.id).matched if column is Column.MATCHED else None

    def _spoken(self, note: Note, column: Column) -> str:
        if column is not Column.TITLE:
            return f"{tr(ABOUT[column].title)}: {self._text(note, column) or tr('none')}"
        parts = [note_title(note), note_kind(note).word]
        problems = self._number(note, Column.PROBLEMS)
        if problems:
            parts.append(count(int(problems), "problem", "problems"))
        if self._is_dirty(note):
            parts.append(tr("unsaved changes"))
        return ", ".join(parts)

    def _sort_key(self, note: Note) -> tuple[object, ...]:
        column, descending = self._sorted
        if ABOUT[column].numeric:  # notes without the number stay at the end
            value = self._number(note, column) or 0
            return (not isinstance(note, Entry) and column is not Column.PROBLEMS, -value if descending else value)
        if column is Column.MODIFIED:
            return (self._modified.get(note_key(note), 0.0),)
        return (self._text(note, column).casefold(),)

    def _arrange(self) -> None:
        """Put all notes in order, and of them show what the filter lets through."""
        column, descending = self._sorted
        notes = self._notes
        titles = [note_title(note).casefold() for note in notes]
        order = sorted(range(len(notes)), key=titles.__getitem__)
        if column is Column.TITLE:
            if descending:
                order.reverse()
        else:
            keys = [self._sort_key(note) for note in notes]
            order.sort(key=keys.__getitem__, reverse=descending and not ABOUT[column].numeric)
        self._order = order
        self._show()

    def _show(self) -> None:
        notes = self._notes
        if self._words:
            if not self._texts:
                self._texts = [search_text(note) for note in notes]
            texts, words = self._texts, self._words
            self._shown = [notes[place] for place in self._order if all(word in texts[place] for word in words)]
        else:
            self._shown = [notes[place] for place in self._order]
        self._rows = {(note.vault, note.filename): row for row, note in enumerate(self._shown)}

    def _changed(self, column: Column) -> None:
        """Cells of a column are other ones: sort anew where it is sorted by them."""
        place = COLUMNS.index(column)
        if self._sorted[0] is column:
            descending = self._sorted[1]
            self.sort(place, Qt.SortOrder.DescendingOrder if descending else Qt.SortOrder.AscendingOrder)
        elif self._shown:
            self.dataChanged.emit(self.index(0, place), self.index(len(self._shown) - 1, place), [DISPLAY])


def _when(seconds: float) -> str:
    return QLocale().toString(QDateTime.fromSecsSinceEpoch(int(seconds)), "yyyy-MM-dd HH:mm")
