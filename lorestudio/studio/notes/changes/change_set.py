"""Changes to note files as data: what they do, in numbers and as differences, and what can go wrong with them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from enum import StrEnum
from pathlib import Path
from typing import Final

from msgspec import Struct

from lorestudio.domain.records import replace, same_ends
from lorestudio.vault.files import ChangedOnDisk, SaveError
from lorestudio.vault.links.canvas import CANVAS_SUFFIX, named
from lorestudio.vault.links.references import references
from lorestudio.vault.writer import encode_note

_HALF: Final = re.compile(rb"\xed[\xa0-\xbf]")
"""Half of a character as `surrogatepass` spells it."""


@dataclass(frozen=True, slots=True, init=False)
class NoteFileChange:
    """What happens to one file; the texts are as `read_note` gives them, with line ends and byte order mark.

    `before` None: the file is made. `after` None: it goes to the trash. `new_path`: it is moved there, with `after` as
    its text. `home`: it is no note but another program's file, written together with this vault's folder; it may lie
    anywhere unless it is moved, and its texts are its bytes as Latin-1.

    Bytes are held, of texts too: one emoji makes a text of Python's four times as large.
    """

    path: Path
    old: bytes | None
    new: bytes | None
    new_path: Path | None
    home: Path | None

    def __init__(
        self, path: Path, old: str | bytes | None, new: str | bytes | None,
        new_path: Path | None = None, home: Path | None = None,
    ) -> None:  # fmt: skip
        """Take in the texts before and after, or their bytes."""
        coding = "utf-8" if home is None else "latin-1"
        old, new = (text.encode(coding, "surrogatepass") if isinstance(text, str) else text for text in (old, new))
        for name, value in zip(self.__slots__, (path, old, new, new_path, home), strict=True):
            object.__setattr__(self, name, value)

    @property
    def before(self) -> str | None:
        """Its text from before."""
        return self._text(self.old)

    @property
    def after(self) -> str | None:
        """Its text afterwards."""
        return self._text(self.new)

    def _text(self, data: bytes | None) -> str | None:
        coding = "utf-8" if self.home is None else "latin-1"
        return None if data is None else data.decode(coding, "surrogatepass")

    def check(self) -> None:
        """Raises SaveError where a text cannot be written, because half of a character is in it."""
        for data in (self.old, self.new):
            if self.home is None and data is not None and _HALF.search(data):
                encode_note(self.path, data.decode("utf-8", "surrogatepass"))

    @property
    def place(self) -> Path:
        """Where the file is afterwards."""
        return self.new_path or self.path

    @property
    def is_idle(self) -> bool:
        """Whether it leaves the file as it is."""
        return self.old is not None and self.old == self.new and self.place == self.path

    @property
    def inverse(self) -> NoteFileChange:
        """What undoes it. Undoing the making of a note puts it into the trash."""
        if self.new_path is None:
            return NoteFileChange(self.path, self.new, self.old, home=self.home)
        return NoteFileChange(self.new_path, self.new, self.old, self.path, self.home)


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
        if change.old is None or change.new is None or change.old == change.new:
            continue
        before, after = (_named(change.path, text or "") for text in (change.before, change.after))
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
    if change.old == change.new:
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
