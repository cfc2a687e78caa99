"""The vault as a table, one row per note: its name, where it lies, its state, and what a filter finds in it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Final, TypeAlias

from msgspec import Struct
from PySide6.QtCore import QObject, Qt

from lorestudio.domain.entry import Entry, LeftOutNote, NoteKey, NoteProblem, VaultIndex
from lorestudio.domain.records import replace
from lorestudio.domain.state import Usage
from lorestudio.domain.texts import comparable, reading_order
from lorestudio.studio.notes.book_entries import ranked_by_order
from lorestudio.studio.notes.usage import UNUSED
from lorestudio.trace.model import rank
from lorestudio.trace.timeline import NEVER, Fired
from lorestudio.trace.wording import time_words
from lorestudio.ui.shell.qt import DISPLAY
from lorestudio.ui.shell.words import count, number, tr
from lorestudio.ui.state.expected import ExpectedMark
from lorestudio.ui.widgets.cells import Column, Glyph, Look, Marked, Piece, Words, one_line, titled
from lorestudio.ui.widgets.paint import Kind, Mark, entry_kind
from lorestudio.ui.widgets.record_table import RecordTable

Note: TypeAlias = Entry | LeftOutNote

_LEFT_OUT = {
    NoteProblem.DISABLED: "disabled",
    NoteProblem.NEVER_INSERT: "never inserted",
    NoteProblem.NO_LOREBOOK_TAG: "no lorebook tag",
    NoteProblem.NO_FRONT_MATTER: "no properties",
}


def note_title(note: Note) -> str:
    """The title of an entry, the file's name of any other note."""
    return note.title if isinstance(note, Entry) else note.name.removesuffix(".md")


def other_name(entry: Entry) -> str:
    """The name of the entry's file, as other programs show the note; "" where it is the title, or it has no file."""
    name = entry.filename.rpartition("/")[2]
    return name if name.endswith(".md") and name != f"{entry.title}.md" else ""


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
    """What a filter looks at, without regard to case and accents' encoding."""
    if isinstance(note, Entry):
        parts: Sequence[str] = (note.title, note.filename, *note.keys, *note.refine_keys, *note.tags)
        return comparable("\n".join(parts))
    return comparable(f"{note.title}\n{note.filename}\n{note.message}\n{note.problem.value}")


QUIET: Final = {"not a candidate", "refused"}
"""Marks that are not shown in lists of notes."""


class NoteMarks(Struct, frozen=True):
    """What is marked at notes, asked for those in sight: what became of an entry in the chosen generation, which notes
    have unsaved text, and what is expected of an entry.
    """

    fate: Callable[[int], Mark | None] = lambda _entry: None
    is_dirty: Callable[[Note], bool] = lambda _note: False
    held: Callable[[int], ExpectedMark | None] = lambda _entry: None

    def of(self, note: Note | None) -> Mark | None:
        """What became of a note, None where that is not known."""
        return self.fate(note.id) if isinstance(note, Entry) else None

    def expected(self, note: Note | None) -> ExpectedMark | None:
        """What is expected of a note, None where nothing is."""
        return self.held(note.id) if isinstance(note, Entry) else None

    def pieces(self, note: Note, *warnings: Piece, room: float) -> list[Piece]:
        """The marks at the right end of a note's cell; that of what is expected has this room, in pixels."""
        dirty = [Glyph("constant", "accent", 11, 15, steady=True)] if self.is_dirty(note) else []
        held, mark = self.expected(note), self.of(note)
        expected = [Glyph(*held.glyph, 13, room, steady=True)] if held is not None else []
        fate = [Marked(mark, 16, 17)] if mark is not None and mark.word not in QUIET else []
        return [*dirty, *warnings, *expected, *fate]


UNMARKED: Final = NoteMarks()


class VaultTable(RecordTable):
    """One row a note, those without a number at the end. What became of it in the chosen generation is marked.

    Counts, marks and dirty dots are asked for visible rows, and for all when sorted by them.
    """

    def __init__(
        self,
        parent: QObject | None = None,
        fired: Callable[[int], Fired] = lambda _entry: NEVER,
        marks: NoteMarks = UNMARKED,
        text: Callable[[Note], str] = search_text,
    ) -> None:
        self._fired, self.marks = fired, marks
        self._recorded: Mapping[int, Usage] = {}
        self._modified: Mapping[NoteKey, float] = {}
        self._problems: Mapping[NoteKey, int] = {}
        self.exact = True
        self._by_order = False
        super().__init__(
            self._columns(), key=lambda note: note.note_key,
            entry=lambda note: note.id if isinstance(note, Entry) else None, spoken=titled("none"), text=text,
            parent=parent,
            tip=lambda note, column: note.message if isinstance(note, LeftOutNote) else column.words(note),
        )  # fmt: skip
        self.movable = self.in_order
        self.sort(0)

    def in_order(self) -> bool:
        """Whether the rows stand in the order of their priorities."""
        return self.sorted_by == (self.column_of("priority"), False)

    def _columns(self) -> list[Column]:
        def counted(
            name: str, help_: str, amount: Callable[[Note], float | None], words: Callable[[Note], str] | None = None
        ) -> Column:
            def shown(note: Note) -> str:
                value = amount(note)
                return "" if value is None or (value == 0 and name in _NOTHING) else number(value)

            words = words or shown
            return Column(
                name.capitalize(), words, name, help_, 62, numeric=True, sort=amount, look=partial(_number_look, words)
            )

        return [
            Column("Title", note_title, "title",
                   "The entry's title, or the file's name where the note is no entry", 156,
                   look=self._title_look, spoken=self._spoken, mark=self.marks.of),
            Column("State", lambda note: note_kind(note).word, "state",
                   "What sort of entry it is, or why it is none", 94, look=_state_look),
            _words_column("Folder", note_folder, "The folder inside the vault", 94),
            _words_column("Vault", lambda note: note.vault, "The vault that the note is in", 90, hidden=True),
            replace(
                counted("priority", "A lower number goes in first, in a lorebook a higher one; sorted by it, "
                        "rows can be dragged to another place", _of_entry(lambda entry: entry.priority)),
                sort=_of_entry(lambda entry: rank(entry.priority)),
            ),
            counted("tokens", "How long the injected text is", _of_entry(lambda entry: entry.tokens), self._tokens),
            counted("keys", "How many keys the entry has", _of_entry(lambda entry: len(entry.keys))),
            counted("injected", "In how many runs of this chat the entry went into the prompt",
                    _of_entry(lambda entry: self._fired(entry.id).injected)),
            counted("matched", "In how many runs of this chat the entry was found at all",
                    _of_entry(lambda entry: self._fired(entry.id).matched)),
            counted("recorded", "How often DeepLore has put the entry into prompts, in all chats, as its settings say",
                    _of_entry(lambda entry: self._recorded.get(entry.id, UNUSED).injected)),
            Column("Last used", self._last_used, "last used", "When DeepLore has found it last, in any chat", 116,
                   hidden=True, look=partial(_look, self._last_used),
                   sort=_of_entry(lambda entry: self._recorded.get(entry.id, UNUSED).last_triggered_ms)),
            Column("Problems", self._problem_words, "problems", "How many things about the note should be looked at",
                   62, numeric=True, sort=self._problem_count, look=self._problem_look),
            _words_column("Tags", lambda note: ", ".join(note.tags) if isinstance(note, Entry) else "",
                          "The note's tags", 140, hidden=True),
            Column("Modified", self._when, "modified", "When the file was last changed", 116,
                   sort=lambda note: self._modified.get(note.note_key, 0.0), look=partial(_look, self._when)),
        ]  # fmt: skip

    # ---- content ----------------------------------------------------------------------------------------------------

    def set_index(self, index: VaultIndex) -> None:
        """Show another vault, or the entries of lorebooks."""
        self._by_order = bool(index.entries) and ranked_by_order(index.entries[0])
        self.set_rows(sorted(index.notes, key=lambda note: reading_order(note_title(note))))
        self.headerDataChanged.emit(Qt.Orientation.Horizontal, 0, len(self.columns) - 1)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = DISPLAY) -> object:
        """Qt: the headings; what ranks the entries of a lorebook is called as everywhere else."""
        if self._by_order and role == DISPLAY and section == self.column_of("priority"):
            return tr("Order")
        return super().headerData(section, orientation, role)

    def set_modified(self, times: Mapping[NoteKey, float]) -> None:
        """When the files were last changed: seconds since 1970 by vault and file name."""
        self._modified = times
        self.touch_all("modified")

    def set_problems(self, counts: Mapping[NoteKey, int]) -> None:
        """How many problems the notes have, by vault and file name; those left out have as many as were warned of."""
        self._problems = counts
        self.touch_all("problems")

    def set_recorded(self, recorded: Mapping[int, Usage]) -> None:
        """How often DeepLore has counted entries, by their ids."""
        self._recorded = recorded
        self.touch_all("recorded")
        self.touch_all("last used")

    def refresh_fired(self) -> None:
        """The counts of runs are other ones."""
        self.touch_all("injected")
        self.touch_all("matched")

    def refresh_marks(self) -> None:
        """The marks may have changed; views repaint what they show."""
        self.touch_all("title" if self.sorted_by is not None and self.sorted_by[0] else "")

    # ---- cells ------------------------------------------------------------------------------------------------------

    def _tokens(self, note: Note) -> str:
        return ("" if self.exact else "≈ ") + number(note.tokens) if isinstance(note, Entry) else ""

    def _problem_count(self, note: Note) -> int:
        known = self._problems.get(note.note_key)
        if known is not None or not isinstance(note, Entry):
            return known or 0
        return len(note.warnings)

    def _problem_words(self, note: Note) -> str:
        amount = self._problem_count(note)
        return number(amount) if amount else ""

    def _when(self, note: Note) -> str:
        seconds = self._modified.get(note.note_key)
        return "" if seconds is None else when_words(seconds)

    def _last_used(self, note: Note) -> str:
        usage = self._recorded.get(note.id) if isinstance(note, Entry) else None
        return when_words(usage.last_triggered_ms / 1000) if usage is not None and usage.last_triggered_ms else ""

    def _title_look(self, note: Note) -> Look:
        return one_line(Words(note_title(note), gap=0), right=self.marks.pieces(note, room=15))

    def _problem_look(self, note: Note) -> Look:
        before = (Glyph("warning", "warning", 13),) if self._problem_count(note) else ()
        return _number_look(self._problem_words, note, *before)

    def _spoken(self, note: Note) -> str:
        parts = [note_title(note), note_kind(note).word]
        if problems := self._problem_count(note):
            parts.append(count(problems, "problem", "problems"))
        if self.marks.is_dirty(note):
            parts.append(tr("unsaved changes"))
        if (held := self.marks.expected(note)) is not None:
            parts.append(held.words)
        return ", ".join(parts)


_NOTHING: Final = {"injected", "matched", "recorded"}


def _words_column(title: str, words: Callable[[Note], str], help_: str, width: int, *, hidden: bool = False) -> Column:
    return Column(title, words, title.lower(), help_, width, hidden=hidden, look=partial(_look, words))


def _of_entry(read: Callable[[Entry], float]) -> Callable[[Note], float | None]:
    return lambda note: read(note) if isinstance(note, Entry) else None


def _tone(note: Note) -> str:
    return "text" if isinstance(note, Entry) else "text_muted"


def _look(words: Callable[[Note], str], note: Note) -> Look:
    return one_line(Words(words(note), tone=_tone(note), gap=0))


def _number_look(words: Callable[[Note], str], note: Note, *before: Piece) -> Look:
    return one_line(*before, right=(Words(words(note), tone=_tone(note), gap=0),))


def _state_look(note: Note) -> Look:
    kind = note_kind(note)
    tone = "error" if kind.icon == "broken" else "text_muted"
    return one_line(Glyph(kind.icon, tone, width=21, steady=True), Words(kind.word, tone=_tone(note), gap=0))


def when_words(seconds: float) -> str:
    """A time, in seconds since 1970, as a date and a time of day."""
    return time_words(seconds * 1000, "%Y-%m-%d %H:%M")
