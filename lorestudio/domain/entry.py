"""Entries, the notes that did not become entries, and the vault as one run sees it (rules: deeplore 5.2, 5.4)."""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum, StrEnum
from types import MappingProxyType
from typing import Final, Literal, TypeAlias

from msgspec import Struct, field

from lorestudio.domain.javascript import Json

FieldType = Literal["string", "number", "boolean"]


class FieldDefinition(Struct, frozen=True):
    """One gating field: how notes spell it and how its value is held against the chat's context.

    `inherits` says that the definition leaves the tolerance to the setting for all fields, which DeepLore overlooks.
    `operator` is one of match_any, match_all, not_any, exists, not_exists, eq, gt, lt; `tolerance` is strict, moderate
    or lenient, or None where only the global setting decides.
    """

    name: str
    label: str
    type: FieldType = "string"
    multi: bool = False
    gating: bool = True
    operator: str = "match_any"
    tolerance: str | None = "moderate"
    values: tuple[str, ...] = ()
    context_key: str = ""
    inherits: bool = False

    @property
    def key(self) -> str:
        """The key of the chat's context that this field is compared with."""
        return self.context_key or self.name


_BUILT_IN: Final = {
    "era": "Era", "location": "Location", "scene_type": "Scene Type", "character_present": "Characters Present",
}  # fmt: skip
BUILT_IN_FIELDS: Final = tuple(
    FieldDefinition(name, label, multi=True, context_key=name, inherits=True) for name, label in _BUILT_IN.items()
)
"""The four fields that exist without a definition file."""


EMPTY: Final[Mapping[str, Json]] = MappingProxyType({})


class Position(IntEnum):
    """Where an injection goes (rules: deeplore 0.4)."""

    OUTLET = -1
    AFTER = 0
    IN_CHAT = 1
    BEFORE = 2


MAX_DEPTH: Final = 10_000
"""DeepLore reads a larger depth as this one (rules: deeplore 0.4)."""


class Role(IntEnum):
    """Who speaks an injection."""

    SYSTEM = 0
    USER = 1
    ASSISTANT = 2


class ParserWarning(Struct, frozen=True):
    """Something in the front matter that was read in a way its author may not expect."""

    code: str
    field: str
    message: str
    suggested_fix: str


ANY_REFINE: Final = "and_any"
"""The refine logic of a note that does not say otherwise: one refine key is enough (rules: deeplore-newer 1.1)."""

REFINE_LOGICS: Final = (ANY_REFINE, "and_all", "not_all", "not_any")


OFF: Final = "wi_disable"
"""The property by which World Info leaves an entry out."""


NoteKey: TypeAlias = tuple[str, str]
"""What a note is known by in every reading of a vault: the vault's name, and the file's in there."""


class OfNote:
    """What is, or is about, one note of a vault."""

    __slots__ = ()
    vault: str
    filename: str

    @property
    def note_key(self) -> NoteKey:
        """What the note is known by."""
        return self.vault, self.filename


class Entry(OfNote, Struct, frozen=True, eq=False, gc=False):  # no part of a cycle, and there are thousands of them
    """One note of lore that takes part in retrieval; compared by identity (rules: deeplore 0.3).

    `id` is the position in the index. Numbers keep JavaScript's reading (fractions and infinities are possible).
    `content` is the cleaned body, `tokens` its count. Positions and roles are None where the settings decide.
    `system_fields` are the properties that only other systems than DeepLore read, `cw_weight` for one; `OFF` is what
    switches an entry of World Info off.
    The `written_*` lists are what the note says where titles that do not exist were taken out (rules: deeplore 1.13),
    else None.
    """

    id: int
    filename: str
    vault: str
    title: str
    content: str = ""
    keys: tuple[str, ...] = ()
    refine_keys: tuple[str, ...] = ()
    selective_logic: str = ANY_REFINE
    summary: str = ""
    priority: float = 100
    constant: bool = False
    seed: bool = False
    bootstrap: bool = False
    guide: bool = False
    tokens: int = 0
    scan_depth: float | None = None
    exclude_recursion: bool = False
    links: tuple[str, ...] = ()
    resolved_links: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    requires: tuple[str, ...] = ()
    excludes: tuple[str, ...] = ()
    cascade_links: tuple[str, ...] = ()
    outlet: str | None = None
    position: int | None = None
    depth: float | None = None
    role: int | None = None
    cooldown: float | None = None
    warmup: float | None = None
    probability: float | None = None
    folder: str | None = None
    custom_fields: Mapping[str, Json] = field(default_factory=lambda: EMPTY)
    graph: bool = True
    content_hash: str = ""
    warnings: tuple[ParserWarning, ...] = ()
    system_fields: Mapping[str, Json] = field(default_factory=lambda: EMPTY)
    written_requires: tuple[str, ...] | None = None
    written_excludes: tuple[str, ...] | None = None
    written_cascade_links: tuple[str, ...] | None = None

    @property
    def tracker_key(self) -> str:
        """The key of every tracker and of the exemption set: `vault:title`, exact."""
        return f"{self.vault}:{self.title}"

    @property
    def is_exempt(self) -> bool:
        """Whether gates let it pass whatever the chat and whatever it requires or excludes (rules: deeplore 5.1)."""
        return self.constant or self.seed or self.bootstrap

    def written(self, name: Literal["requires", "excludes", "cascade_links"]) -> tuple[str, ...]:
        """What the note says in a list of titles, missing ones included."""
        titles: tuple[str, ...] | None = getattr(self, f"written_{name}")
        kept: tuple[str, ...] = getattr(self, name)
        return kept if titles is None else titles


class NoteProblem(StrEnum):
    """Why a file of the vault is not an entry. The `SKIP_` codes are DeepLore's own."""

    NO_FRONT_MATTER = "SKIP_NO_FRONTMATTER"
    NO_LOREBOOK_TAG = "SKIP_NO_LOREBOOK_TAG"
    DISABLED = "SKIP_ENABLED_FALSE"
    NEVER_INSERT = "SKIP_NEVER_INSERT_TAG"
    EMPTY_TITLE = "BROKEN_EMPTY_TITLE"
    BLANK_TITLE = "SKIP_EMPTY_TITLE"
    TOO_LARGE = "BROKEN_TOO_LARGE"
    BAD_ENCODING = "BROKEN_ENCODING"
    UNREADABLE = "BROKEN_UNREADABLE"
    LOOP = "BROKEN_DIRECTORY_LOOP"
    TOO_DEEP = "BROKEN_TOO_DEEP"

    @property
    def broken(self) -> bool:
        """True where something is wrong with the file; false where leaving it out is what its author asked for."""
        return self.value.startswith("BROKEN_")

    @property
    def untagged(self) -> bool:
        """True for an ordinary note, which only lacks the lorebook tag (rules: deeplore 1.4)."""
        return self in {NoteProblem.NO_FRONT_MATTER, NoteProblem.NO_LOREBOOK_TAG}


class LeftOutNote(OfNote, Struct, frozen=True):
    """A file or folder that gave no entry: visible, with the reason and what to do.

    `title` is what the entry of a lorebook is called, whose `filename` nobody knows; "" for a file.
    """

    filename: str
    vault: str
    problem: NoteProblem
    message: str
    title: str = ""

    @property
    def name(self) -> str:
        """What people know it by."""
        return self.title or self.filename.rpartition("/")[2] or self.filename


class Folder(Struct, frozen=True):
    """A folder of the vault that holds entries, directly or below it."""

    path: str
    entry_count: int


class VaultIndex(Struct, frozen=True):
    """All entries in index order, finalised, with what was left out: the snapshot that a run takes.

    The order matters: it is the order of random draws, of stable sorts and of duplicate titles
    (rules: deeplore 1.1, 1.12, 1.13).
    """

    entries: tuple[Entry, ...] = ()
    left_out: tuple[LeftOutNote, ...] = ()
    folders: tuple[Folder, ...] = ()
    fields: tuple[FieldDefinition, ...] = BUILT_IN_FIELDS
    field_errors: tuple[str, ...] = ()
    vaults: tuple[str, ...] = ()
    digest: str = ""

    @property
    def notes(self) -> tuple[Entry | LeftOutNote, ...]:
        """All entries, and behind them the notes that gave none."""
        return *self.entries, *self.left_out

    @property
    def note_keys(self) -> frozenset[NoteKey]:
        """What the notes are known by."""
        return frozenset(note.note_key for note in self.notes)

    def note(self, key: NoteKey | None) -> Entry | LeftOutNote | None:
        """The first note that is known by this, None where there is none."""
        return next((note for note in self.notes if note.note_key == key), None)
