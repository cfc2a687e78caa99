"""What a check is, what it finds, and what can be done about it."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Literal, TypeAlias

from msgspec import Struct, field

from lorestudio.vault.note.text_edits import TextEdit

NoteKey: TypeAlias = tuple[str, str]
"""A note: the name of its vault, and its file's name relative to it."""


class Severity(StrEnum):
    """How bad a finding is; `rank` orders them, the worst first."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"

    @property
    def rank(self) -> int:
        """0 for the worst."""
        return list(Severity).index(self)


class CheckGroup(StrEnum):
    """What a check is about; the order is that of the reference page."""

    PARSER = "Front matter"
    NOTE = "Notes that are no entries"
    ENTRY = "Entry configuration"
    GATING = "Requires, excludes and cascade links"
    FIELDS = "Gating fields"
    KEYWORDS = "Keys"
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


class Finding(Struct, frozen=True):
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

    @property
    def note(self) -> NoteKey:
        """The note it is about."""
        return self.vault, self.filename


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


class Hit(Struct, frozen=True):
    """What a check says about one note before it is placed: `item` is the piece of text that shows the line."""

    code: str
    message: str
    field: str = ""
    item: str = ""
    line: int = 0
    advice: str = ""
    fix: FixSpec | None = None
