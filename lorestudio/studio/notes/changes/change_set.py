"""Changes to note files as data: what they do, in numbers and as differences, and what can go wrong with them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from enum import StrEnum
from pathlib import Path

from msgspec import Struct

from lorestudio.domain.records import replace, same_ends
from lorestudio.vault.files import ChangedOnDisk, SaveError
from lorestudio.vault.links.canvas import CANVAS_SUFFIX, named
from lorestudio.vault.links.references import references
from lorestudio.vault.writer import encode_note


class NoteFileChange(Struct, frozen=True):
    """What happens to one file; the texts are as `read_note` gives them, with line ends and byte order mark.

    `before` None: the file is made. `after` None: it goes to the trash. `new_path`: it is moved there, with `after` as
    its text. `home`: it is no note but another program's file, written together with this vault's folder; it may lie
    anywhere unless it is moved, and its texts are its bytes as Latin-1.
    """

    path: Path
    before: str | None
    after: str | None
    new_path: Path | None = None
    home: Path | None = None

    @classmethod
    def of_bytes(cls, path: Path, before: bytes | None, after: bytes, home: Path) -> NoteFileChange:
        """What happens to a file of another program."""
        return cls(path, None if before is None else before.decode("latin-1"), after.decode("latin-1"), home=home)

    @property
    def coding(self) -> str:
        """How its texts are bytes."""
        return "utf-8" if self.home is None else "latin-1"

    def data(self, text: str) -> bytes:
        """The bytes that one of its texts has on disk. Raises SaveError where it has none."""
        return encode_note(self.path, text) if self.home is None else text.encode(self.coding)

    @property
    def place(self) -> Path:
        """Where the file is afterwards."""
        return self.new_path or self.path

    @property
    def is_idle(self) -> bool:
        """Whether it leaves the file as it is."""
        return self.before is not None and self.before == self.after and self.place == self.path

    @property
    def inverse(self) -> NoteFileChange:
        """What undoes it. Undoing the making of a note puts it into the trash."""
        if self.new_path is None:
            return NoteFileChange(self.path, self.after, self.before, home=self.home)
        return NoteFileChange(self.new_path, self.after, self.before, self.path, self.home)


class ChangeSet(Struct, frozen=True):
    """One undoable step, e.g. "Rename Skarn to Skarn the Grey"."""

    title: str
    changes: tuple[NoteFileChange, ...]

    @property
    def inverse(self) -> ChangeSet:
        """What undoes it; its inverse is this set again."""
        return ChangeSet(self.title, tuple(change.inverse for change in reversed(self.changes)))


class ChangedMeanwhileError(ChangedOnDisk):
    """Files are not what a change set says they are, so nothing was changed.

    `paths` are these files; `others` the files of the set that could be changed, as `undo(only=...)` takes them.
    """

    def __init__(self, paths: Sequence[Path], others: Sequence[Path], message: str) -> None:
        super().__init__(paths[0], message)
        self.paths = tuple(paths)
        self.others = tuple(others)


class NameTakenError(ChangedOnDisk):
    """A note cannot be put back because a file of its name exists; `offer` is a name that is free."""

    def __init__(self, path: Path, offer: Path, message: str) -> None:
        super().__init__(path, message)
        self.offer = offer


class HistoryError(SaveError):
    """The earlier version could not be kept, so nothing was changed.

    A person who wants to save all the same can be offered `vault.save_note`, which keeps no history.
    """


class RollBackError(SaveError):
    """A change set failed in the middle and could not be taken back wholly; the message says where the texts are."""


CONTEXT = 1
"""So many unchanged lines are shown around a difference."""


class DiffLineKind(StrEnum):
    """What a line of a difference is."""

    SAME = " "
    GONE = "-"
    NEW = "+"
    GAP = "…"


class DifferenceLine(Struct, frozen=True):
    """One line of a difference; `number` is the line in the new text, in the old one for a line that is gone."""

    kind: DiffLineKind
    number: int
    text: str


def changed_references(changes: ChangeSet) -> tuple[int, int]:
    """How many references another spelling gets, and in how many files."""
    links = files = 0
    for change in changes.changes:
        if change.before is None or change.after is None or change.before == change.after:
            continue
        before, after = (_named(change.path, text) for text in (change.before, change.after))
        amount = sum(old != new for old, new in zip(before, after, strict=False)) + abs(len(before) - len(after))
        links += amount
        files += amount > 0
    return links, files


def _named(path: Path, text: str) -> Sequence[object]:
    if path.suffix == CANVAS_SUFFIX:
        return named(text)
    return [(one.target, one.deeplore_name) for one in references(text)]


def difference(change: NoteFileChange) -> tuple[DifferenceLine, ...]:
    """What happens to the text of one note, with a little of what stays around it."""
    if change.before == change.after:
        return ()
    old, new = ((text or "").splitlines() for text in (change.before, change.after))
    return tuple(_lines(old, new))


def shown_name(path: Path, folders: tuple[Path, ...]) -> str:
    """A file's name relative to its vault, the inner of two; the whole path where it is in none of the folders."""
    inside = (path.relative_to(folder).as_posix() for folder in folders if path.is_relative_to(folder))
    return min(inside, key=len, default=str(path))


def _lines(old: list[str], new: list[str]) -> Iterator[DifferenceLine]:
    # Nearly all of a note stays, and comparing that line by line with everything would take long.
    head, tail = same_ends(old, new)
    first, last = max(head - CONTEXT, 0), max(tail - CONTEXT, 0)
    for line in _middle(old[first : len(old) - last], new[first : len(new) - last]):
        yield replace(line, number=line.number + first if line.number else 0)


def _middle(old: list[str], new: list[str]) -> Iterator[DifferenceLine]:
    matcher = SequenceMatcher(None, old, new, autojunk=False)
    for number, group in enumerate(matcher.get_grouped_opcodes(CONTEXT)):
        if number:
            yield DifferenceLine(DiffLineKind.GAP, 0, "")
        for tag, old_from, old_to, new_from, new_to in group:
            if tag == "equal":
                for place in range(new_from, new_to):
                    yield DifferenceLine(DiffLineKind.SAME, place + 1, new[place])
                continue
            for place in range(old_from, old_to):
                yield DifferenceLine(DiffLineKind.GONE, place + 1, old[place])
            for place in range(new_from, new_to):
                yield DifferenceLine(DiffLineKind.NEW, place + 1, new[place])
