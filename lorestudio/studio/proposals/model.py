"""Proposals as data: what was asked about which note, what came back, and what the note would say.

Nothing may be proposed for notes with a `locked` property, or on the studio's list of those that must not be edited
(what people ask for: users D1 to D3). The list is one JSON file for all vaults: the paths of notes, in the spelling of
`vault.files.place_key`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from enum import StrEnum
from pathlib import Path
from typing import Final, TypeAlias

from msgspec import Struct

from lorestudio.domain.entry import Entry
from lorestudio.domain.javascript import Json, fold, trim
from lorestudio.domain.records import Terse
from lorestudio.llm.messages import DRAFT, KEYS, SUMMARY, ChatRequest
from lorestudio.settings.files import SettingsError, bytes_if_there, json_bytes, parse_json, write_atomically
from lorestudio.studio.notes.book_entries import is_book_entry
from lorestudio.vault import front_matter
from lorestudio.vault.file_lock import locked
from lorestudio.vault.files import LOOK_THERE, SaveError, default_folder, place_key, refused

Value: TypeAlias = str | tuple[str, ...]
"""What a proposal is about: a summary or the text of a note, or a list of keys."""


class ProposalKind(StrEnum):
    """What is proposed; the names are those of the requests."""

    SUMMARY = SUMMARY
    KEYS = KEYS
    DRAFT = DRAFT

    @property
    def field(self) -> str:
        """The property that changes; "" where a note is made."""
        return _FIELDS.get(self, "")


_FIELDS: Final[Mapping[ProposalKind, str]] = {ProposalKind.SUMMARY: "summary", ProposalKind.KEYS: "keys"}


class Material(Terse, frozen=True):
    """A note as it is on disk when a proposal is made: its whole text, and what DeepLore reads in it."""

    unprinted = ("text",)

    path: Path
    entry: Entry
    text: str
    aliases: tuple[str, ...] = ()


def property_of(kind: ProposalKind, path: Path) -> str:
    """The property that a proposal is for, as a note or an entry of a lorebook calls it."""
    return "key" if kind is ProposalKind.KEYS and is_book_entry(path) else kind.field


class DraftPassage(Terse, frozen=True):
    """What a draft is written from. `numbers` are the indices of the messages in the chat file.

    `path` is the folder that the note goes to, inside its vault; `titles` are those that exist.
    """

    unprinted = ("titles",)

    folder: Path
    numbers: tuple[int, ...]
    titles: tuple[str, ...] = ()


class ProposalTask(Struct, frozen=True):
    """One proposal that is to be made. `about` is the note, or for a draft the passage."""

    kind: ProposalKind
    about: Material | DraftPassage
    request: ChatRequest

    @property
    def place(self) -> Path:
        """The note's file; for a draft the folder that it goes to."""
        return self.about.path if isinstance(self.about, Material) else self.about.folder

    @property
    def title(self) -> str:
        """The note, or the messages, for people."""
        if isinstance(self.about, Material):
            return self.about.entry.title
        numbers = self.about.numbers
        return f"#{numbers[0]}" if len(numbers) == 1 else f"#{numbers[0]} to #{numbers[-1]}"


class Skipped(Struct, frozen=True):
    """A note that nothing is proposed for, and why."""

    filename: str
    title: str
    reason: str


class ProposalPlan(Struct, frozen=True):
    """What is to be asked, and which notes are left out. Nothing was asked yet."""

    kind: ProposalKind
    tasks: tuple[ProposalTask, ...] = ()
    skipped: tuple[Skipped, ...] = ()


class ProposalRemark(Struct, frozen=True):
    """Something to know about a proposal. A serious one keeps it from being accepted together with others unseen."""

    text: str
    serious: bool = False


class KeyCount(Struct, frozen=True):
    """The messages of the open chat that a key is found in, by their indices in the chat file, each counted alone.

    `now` and `proposed` say on which side the key is.
    """

    key: str
    messages: tuple[int, ...]
    now: bool
    proposed: bool


class Proposal(Terse, frozen=True):
    """What a note would say, beside what it says.

    `path` is the file that would change or, for a draft, be made. `source` is the note's whole text that the proposal
    was made from, None for a draft. With a `problem` it cannot be accepted as it stands; it says why and what to do.
    `reply` is the answer as it came, `said` the model's words in it. `searched` is how many messages the counts of keys
    went through. `more` are the other notes that the same answer drafts.
    """

    unprinted = ("source", "task", "reply", "said", "counts", "more")

    kind: ProposalKind
    path: Path
    title: str
    before: Value
    after: Value
    source: str | None
    task: ProposalTask
    reasoning: str = ""
    reply: str = ""
    said: str = ""
    answered_by: str = ""
    problem: str = ""
    remarks: tuple[ProposalRemark, ...] = ()
    counts: tuple[KeyCount, ...] = ()
    searched: int = 0
    more: tuple[Proposal, ...] = ()

    @property
    def acceptable(self) -> bool:
        """Whether it can be accepted."""
        return not self.problem

    @property
    def doubtful(self) -> bool:
        """Whether it should be looked at before it is accepted."""
        return any(remark.serious for remark in self.remarks)


PROPERTY: Final = "locked"
FORMAT: Final = "lorestudio-locked-notes"
FORMAT_VERSION: Final = 1

_OPEN: Final = frozenset({"", "false", "no", "off", "0", "null", "~"})
"""How a person may write that a note is not locked."""


def default_locks() -> Path:
    """The person's own list."""
    return default_folder() / "locked-notes.json"


def is_locked_itself(text: str) -> bool:
    """Whether the note says `locked`. Anything but a clear no counts: a lock fails to the safe side."""
    return any(name.lower() == PROPERTY and not _is_open(value) for name, value in front_matter.read(text)[0].items())


def _is_open(value: front_matter.Value) -> bool:
    if isinstance(value, list):
        return not any(trim(item) for item in value)
    return not value or (isinstance(value, str) and fold(trim(value)) in _OPEN)


class NoteLocks:
    """The studio's list at `path`; every method waits for the disk and raises SettingsError or SaveError."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def load(self) -> frozenset[str]:
        """The keys of all notes on the list; `is_locked` asks for one. A missing file has none."""
        return frozenset(self._read())

    def list(self, folder: Path) -> tuple[Path, ...]:
        """What is on the list of a folder, by name: notes, folders below it, lorebooks, itself, and what it lies in."""
        root = _root(folder)
        known = (path for key in self._read() if (path := Path(key)).is_relative_to(root) or root.is_relative_to(path))
        return tuple(sorted(known))

    def set(self, notes: Iterable[Path], *, locked_now: bool) -> None:
        """Put notes, folders or lorebooks on the list, or take them off it."""
        with locked(self.path.with_suffix(".lock")):
            keys = dict.fromkeys(self._read())
            for note in notes:
                key = str(_root(note)) if note.is_dir() else place_key(note)
                if locked_now:
                    keys[key] = None
                else:
                    keys.pop(key, None)
            document: dict[str, Json] = {"format": FORMAT, "version": FORMAT_VERSION, "notes": sorted(keys)}
            sentence = f"The list of locked notes “{self.path}” cannot be written ({{reason}})."
            with refused(SaveError, f"{sentence} {LOOK_THERE}"):
                write_atomically(self.path, json_bytes(document))

    def _read(self) -> tuple[str, ...]:
        data = bytes_if_there(self.path)
        if data is None:
            return ()
        document = parse_json(data, self.path)
        notes = document.get("notes") if isinstance(document, Mapping) else None
        version = document.get("version") if isinstance(document, Mapping) else None
        known = type(version) is int and version == FORMAT_VERSION
        if not known or not isinstance(notes, list) or not all(isinstance(note, str) for note in notes):
            raise SettingsError(
                f"{self.path} is no list of locked notes that this version knows. Until it is mended or removed, "
                "nothing is proposed, so that no locked note is touched."
            )
        return tuple(str(note) for note in notes)


def _root(folder: Path) -> Path:
    """A folder as the places of its notes spell it, whichever links lead to it."""
    return Path(place_key(folder / "x")).parent


def is_locked(path: Path, keys: Collection[str]) -> bool:
    """Whether the note, a folder above it or the book that it is an entry of is among the keys of `NoteLocks.load`."""
    return locked_by(path, keys) is not None


def locked_by(path: Path, keys: Collection[str]) -> Path | None:
    """What of it is on the list: the note itself, else the folder or the book; None for a note that is not locked."""
    place = Path(place_key(path))
    return next((each for each in (place, *place.parents) if str(each) in keys), None)
