"""What a check of notes is, what it finds, what can be done about it, and a note as the checks see it.

All checks stand in one table, `resources/lint/checks.toml`. Of a note they see its entry, its raw front matter, and the
lines that things stand on.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Mapping
from enum import StrEnum
from functools import cache, cached_property
from types import MappingProxyType
from typing import Final, Literal, TypeAlias

from msgspec import Struct, field

from lorestudio.domain.entry import Entry, LeftOutNote, NoteKey, OfNote
from lorestudio.domain.javascript import Json, trim
from lorestudio.domain.records import replace
from lorestudio.domain.resources import resource
from lorestudio.settings.deeplore import DeepLoreSettings
from lorestudio.trace.wording import joined
from lorestudio.vault import front_matter
from lorestudio.vault.entries import ParseRules, field_name
from lorestudio.vault.front_matter import BOM
from lorestudio.vault.lint.keyforms import KeyRules
from lorestudio.vault.note.document import NoteDocument
from lorestudio.vault.note.text_edits import TextEdit
from lorestudio.vault.note.yaml_reading import certainly_alike


class Severity(StrEnum):
    """How bad a finding is; `rank` orders them, the worst first."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"

    @property
    def rank(self) -> int:
        """0 for the worst."""
        return _RANKS[self]


_RANKS: Final = {severity: place for place, severity in enumerate(Severity)}


class CheckGroup(StrEnum):
    """What a check is about; the order is that of the reference page."""

    PARSER = "Front matter"
    NOTE = "Notes that are no entries"
    ENTRY = "Entry configuration"
    GATING = "Requires, excludes and cascade links"
    FIELDS = "Gating fields"
    KEYWORDS = "Keys"
    WORLD_INFO = "World Info"
    LINKS = "Links"
    SIZE = "Size"
    AI = "AI selection"
    INJECTION = "Injection"
    CONTENT = "Text"
    SETTINGS = "Settings"
    CHAT = "The open chat"


class Check(Struct, frozen=True):
    """One check of the table. `source` is where its condition comes from: a place in the rules, or "own".

    `explanation` says when it reports something and why that matters; `advice` what to do.
    """

    code: str
    group: CheckGroup
    severity: Severity
    title: str
    explanation: str
    advice: str
    source: str = "own"


class Fix(Struct, frozen=True):
    """A change of one note or several: edits by file name within the finding's vault.

    `safe` says that what the author meant is beyond doubt, so that it can be done without looking at each.
    """

    title: str
    edits: Mapping[str, tuple[TextEdit, ...]] = field(default_factory=lambda: MappingProxyType({}))
    safe: bool = True


class Finding(OfNote, Struct, frozen=True, gc=False):  # no part of a cycle, and there are thousands of them
    """Something that a person should look at.

    `entry` is the id in the index, None for a note that gave no entry and for settings (then `filename` is ""; so it is
    for what concerns a whole vault). `field` is the front matter field as written, or "title" or "body", else "".
    `line` counts from 1; 0 where the text of the note is not known.
    """

    code: str
    severity: Severity
    vault: str
    filename: str
    entry: int | None
    field: str
    line: int
    message: str
    advice: str
    fix: Fix | None = None


FixValue: TypeAlias = str | int | float | bool | tuple[str, ...]


class FixSpec(Struct, frozen=True):
    """A fix before it is worked out on the note's text: what to do with the property `name`.

    `value` is what to set, or the new name; "list" is as "set", but where one text stood before, a list is written;
    "alike" writes what DeepLore reads so that YAML reads it too, "as_yaml" what YAML reads so that DeepLore does.
    """

    title: str
    action: Literal["set", "list", "rename", "remove", "alike", "as_yaml"]
    name: str
    value: FixValue = ""
    safe: bool = True


class Hit(Struct, frozen=True, gc=False):  # as a finding
    """What a check says about one note before it is placed: `item` is the piece of text that shows the line."""

    code: str
    message: str
    field: str = ""
    item: str = ""
    line: int = 0
    advice: str = ""
    fix: FixSpec | None = None


@cache
def all_checks() -> Mapping[str, Check]:
    """Every check by its code, in the order of the reference page."""
    groups = tomllib.loads(resource("lint", "checks.toml").read_text(encoding="utf-8"))
    return MappingProxyType({
        code: Check(code, CheckGroup[group], Severity(said.pop("severity")), **said)
        for group, checks in groups.items()
        for code, said in checks.items()
    })  # fmt: skip


def check_of(code: str) -> Check:
    """The check with that code; a parser warning of a kind that the table lacks is a warning by itself."""
    known = all_checks().get(code)
    return known if known is not None else Check(code, CheckGroup.PARSER, Severity.WARNING, "Parser warning", "", "")


_FIELD_START: Final = re.compile(r"^(?=\w)", re.ASCII | re.MULTILINE)
_PROPERTY: Final = re.compile(r"(\w[\w.-]*)\s*:", re.ASCII)
_HEADING: Final = re.compile(r"^#\s", re.MULTILINE)


class Places:
    """Lines count from 1. `body` is the end of `text` that lies behind the front matter."""

    def __init__(self, text: str, body: str) -> None:
        self._text, self._body = text, body
        self._body_start = len(text) - len(body)

    def line(self, field: str, item: str = "") -> int:
        """The line of `item` in a field ("title" and "body" are the body's), else of the field, else 1."""
        if field in {"title", "body"}:
            return self._in_body(field, item)
        if field.lower() not in self._spans:
            return 1
        lines, (first, last) = self._lines, self._spans[field.lower()]
        if item:
            lower = item.lower()
            for wanted, fold in ((item, False), (lower, True)):
                for number in range(first, last):
                    if wanted in (lines[number].lower() if fold else lines[number]):
                        return number + 1
        return first + 1

    @cached_property
    def _lines(self) -> list[str]:
        return self._text[: self._body_start].split("\n")

    def at(self, offset: int) -> int:
        """The line of an offset into the body."""
        return self._text.count("\n", 0, self._body_start + offset) + 1

    def _in_body(self, field: str, item: str) -> int:
        if field == "title":
            heading = _HEADING.search(self._body)
            return self.at(heading.start()) if heading is not None else 1
        found = self._body.find(item) if item else -1
        return self.at(found) if found >= 0 else self.at(0) if self._body.strip() else 1

    @cached_property
    def _spans(self) -> Mapping[str, tuple[int, int]]:
        """The lines of each field, from 0, the end excluded; of several of a name the last, which is the one read."""
        found: dict[str, tuple[int, int]] = {}
        name, start = "", 0
        for number, line in enumerate(self._lines[1:], 1):
            match = _PROPERTY.match(line)
            fence = line.startswith("---")
            if match is None and not fence:
                continue
            if name:
                found[name] = (start, number)
            name, start = ("" if match is None else match[1].lower()), number
            if fence:
                return found
        if name:
            found[name] = (start, len(self._lines))
        return found


class CheckedEntry(Struct, frozen=True):
    """An entry of a lorebook as the checks see it: with its plain keys alone, neither patterns nor such with macros.

    `hits` are what the system that scans it says of its fields.
    """

    entry: Entry
    keys: KeyRules
    hits: tuple[Hit, ...] = ()


class CheckedBooks(Struct, frozen=True):
    """The entries of lorebooks that take part. `names` are what they call the fields of notes.

    `hits` are about no single entry. `read` gives an entry with another text, None where that makes none.
    """

    notes: Mapping[NoteKey, CheckedEntry]
    read: Callable[[NoteKey, str], CheckedEntry | None]
    names: Mapping[str, str] = {}
    hits: tuple[Hit, ...] = ()


class Rules(Struct, frozen=True):
    """What the checks go by: DeepLore's settings, how notes are read under them, what stands before token counts.

    `keys`: how the keys of notes are searched.
    """

    settings: DeepLoreSettings
    parse: ParseRules
    keys: KeyRules
    about: str = ""
    of_books: Mapping[NoteKey, KeyRules] = {}
    """How the keys of lorebook entries are searched."""

    def keys_of(self, entry: Entry) -> KeyRules:
        """How the keys of the entry are searched."""
        known = self.of_books.get(entry.note_key)
        keys, counted = self.keys, entry.warmup is not None
        return known or (keys if counted is keys.counted else replace(keys, counted=counted))

    @property
    def lenient(self) -> ParseRules:
        """The same rules with untidy front matter forgiven."""
        return replace(self.parse, lenient=True)


class Note(OfNote):
    """A note of the vault: an entry, or one that gave none. `read` gives its text, None where that is not known.

    An entry of a lorebook is read only when somebody wants to change it, and calls its fields by other `names`.
    """

    def __init__(
        self,
        vault: str,
        filename: str,
        read: Callable[[], str | None],
        item: Entry | LeftOutNote | None,
        names: Mapping[str, str] | None = None,
    ) -> None:
        self.vault, self.filename = vault, filename
        self.names, self._of_book = names or {}, names is not None
        self._read = read
        self.item = item

    @property
    def entry(self) -> Entry:
        """The note's entry. Raises TypeError where it gave none."""
        if not isinstance(self.item, Entry):
            message = f"{self.filename} gave no entry"
            raise TypeError(message)
        return self.item

    @cached_property
    def keys(self) -> tuple[str, ...]:
        """The entry's keys that are looked for, each once; empty for a note that gave no entry."""
        return tuple(dict.fromkeys(usable_keys(self.item))) if isinstance(self.item, Entry) else ()

    @cached_property
    def raw(self) -> str | None:
        """The text as it was read, a byte order mark included."""
        return self._read()

    @cached_property
    def text(self) -> str | None:
        """The text that is checked, None for an entry of a lorebook."""
        return None if self._of_book or self.raw is None else self.raw.removeprefix(BOM)

    @cached_property
    def _parts(self) -> tuple[str | None, str]:
        return front_matter.split(self.text or "")

    @property
    def yaml(self) -> str | None:
        """The text between the fences, None where there is no front matter."""
        return self._parts[0]

    @property
    def body(self) -> str:
        """The text behind the front matter."""
        return self._parts[1]

    @cached_property
    def values(self) -> Mapping[str, Json]:
        """The front matter as DeepLore's line reader has it, names as written."""
        return front_matter.parse(self.yaml) if self.yaml is not None else {}

    @cached_property
    def is_plain(self) -> bool:
        """Whether every field is spelled so plainly, and stands there but once, that nothing is to be looked into."""
        pieces = _FIELD_START.split(f"{self.yaml}\n")
        if pieces[0] or len(pieces) - 1 != len({field_name(name) for name in self.values}):
            return False
        closed = not self.body or (self.text or "").removesuffix(self.body).endswith("\n")
        return closed and all(certainly_alike(piece) for piece in pieces[1:])

    @cached_property
    def document(self) -> NoteDocument | None:
        """The text as properties, None where it is not known."""
        return None if self.raw is None else NoteDocument(self.raw)

    @cached_property
    def places(self) -> Places:
        """Where things stand."""
        return Places(self.text or "", self.body)

    def written(self, name: str) -> str:
        """How the note spells a field: as given, or with other capitals."""
        if name in self.values or name in self.names:
            return self.names.get(name, name)
        lower = name.lower()
        return next((other for other in self.values if other.lower() == lower), name)


def usable_keys(entry: Entry) -> tuple[str, ...]:
    """The keys that are looked for: those of nothing but white space are passed over (rules: deeplore 3.4)."""
    return tuple(key for key in entry.keys if trim(key))


NAMED: Final = 4
"""Of more titles than these the others are counted."""


def quoted(titles: tuple[str, ...] | list[str], most: int = NAMED, amount: int = 0) -> str:
    """Titles in quotes, the first few by name: “A”, “B” and 3 more. `amount` is how many they are, if not all these."""
    named = [f"“{title}”" for title in titles[:most]]
    rest = max(amount, len(titles)) - len(named)
    return f"{', '.join(named)} and {rest} more" if rest else joined(named)
