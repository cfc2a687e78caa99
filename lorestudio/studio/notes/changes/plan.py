"""From a change set to steps on disk, each of which can be taken back.

Every file is compared first, and the order is such that no text is ever lost.
"""

from __future__ import annotations

import os
import stat
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, TypeAlias, TypeVar

from msgspec import Struct

from lorestudio.settings.files import READ_AT_MOST, read_whole
from lorestudio.studio.notes.changes.change_set import ChangedMeanwhileError, ChangeSet, NoteFileChange
from lorestudio.studio.notes.changes.journal import LoggedChange
from lorestudio.studio.notes.trash import Trash, Trashed
from lorestudio.vault.files import SaveError, refused
from lorestudio.vault.writer import digest_of, move_note, remove_note, same_place, save_note

_Item = TypeVar("_Item")

Look: TypeAlias = Callable[[int], object]
"""Is told how much of something is done, and stops it by what it raises."""

_OFTEN: Final = 64


def looked_after(items: Iterable[_Item], look: Look) -> Iterator[_Item]:
    """The items; of many, `look` is told now and then how many are done."""
    for done, item in enumerate(items):
        if done and done % _OFTEN == 0:
            look(done)
        yield item


@dataclass(slots=True)
class DiskStep(ABC):
    """One step, at a path. `do` and `undo` raise SaveError; `do` has then changed nothing."""

    path: Path

    @property
    def group(self) -> str:
        """Neighbouring steps of one group may be taken at the same time; "": only alone."""
        return ""

    @property
    def paths(self) -> tuple[Path, ...]:
        """The files that it touches."""
        return (self.path,)

    @abstractmethod
    def do(self) -> None:
        """Take the step."""

    @abstractmethod
    def undo(self) -> None:
        """Take it back."""


@dataclass(slots=True)
class MakeFolder(DiskStep):
    """A folder that a new path needs; the one above it exists."""

    @property
    def paths(self) -> tuple[Path, ...]:
        """None: a folder is no note."""
        return ()

    def do(self) -> None:
        """Make the folder."""
        advice = "Choose another name, or correct the permissions of the folder around it."
        with refused(SaveError, f"The folder “{self.path}” cannot be made ({{reason}}). {advice}"):
            self.path.mkdir(exist_ok=True)

    def undo(self) -> None:
        """Remove it if it is empty."""
        with suppress(OSError):  # somebody else has put something into it
            self.path.rmdir()


@dataclass(slots=True)
class Write(DiskStep):
    """A file gets the bytes `after`; `before` None: it is made, with the permission bits of `like`, if any."""

    after: bytes
    before: bytes | None
    like: Path | None = None

    @property
    def group(self) -> str:
        """What it may be taken together with."""
        return "make" if self.before is None else "change"

    def do(self) -> None:
        """Write the new content."""
        mode = None if self.like is None else _mode(self.like)
        save_note(self.path, self.after, None if self.before is None else digest_of(self.before), mode=mode)

    def undo(self) -> None:
        """Write the old content, or delete the file that was made."""
        written = digest_of(self.after)
        if self.before is None:
            remove_note(self.path, written)
        else:
            save_note(self.path, self.before, written)


@dataclass(slots=True)
class Move(DiskStep):
    """A file gets another name, its content as it is."""

    target: Path

    @property
    def group(self) -> str:
        """What it may be taken together with."""
        return "move"

    @property
    def paths(self) -> tuple[Path, ...]:
        """The files that it touches."""
        return (self.path, self.target)

    def do(self) -> None:
        """Give the file its new name."""
        move_note(self.path, self.target)

    def undo(self) -> None:
        """Give it its old name."""
        move_note(self.target, self.path)


@dataclass(slots=True)
class Remove(DiskStep):
    """A file goes: its text is at another place by now, or in the trash where `trash` is given.

    `keep_file`: a copy goes to the trash, and the file is written over by another step.
    """

    before: bytes
    trash: Trash | None = None
    vault: Path = Path()
    run: str = ""
    keep_file: bool = False
    _mode: int | None = field(default=None, init=False)
    _item: Trashed | None = field(default=None, init=False)

    @property
    def group(self) -> str:
        """What it may be taken together with."""
        return "copy" if self.keep_file else "remove"

    def do(self) -> None:
        """Delete the file, after a copy went to the trash."""
        self._mode = _mode(self.path)
        if self.trash is not None:
            self._item = self.trash.put(self.vault, self.path, self.before, self.run)
        if self.keep_file:
            return
        try:
            remove_note(self.path, digest_of(self.before))
        except SaveError:
            self._drop_item()
            raise

    def undo(self) -> None:
        """Write the file again and drop the copy."""
        if not self.keep_file:
            save_note(self.path, self.before, None, mode=self._mode)
        self._drop_item()

    def _drop_item(self) -> None:
        if self.trash is not None and self._item is not None:
            with suppress(SaveError):  # a copy too many in the trash does no harm
                self.trash.remove(self._item)


def _mode(path: Path) -> int | None:
    try:
        return stat.S_IMODE(path.stat().st_mode)
    except OSError:
        return None


class DiskPlan(Struct, frozen=True):
    """What a change set does on disk.

    `contents` are the bytes of the files that exist and are touched, `folders` those that have to be made, outermost
    first. Files and folders were as the set expects them when the plan was made; each step looks again.
    """

    actions: tuple[DiskStep, ...]
    contents: Mapping[Path, bytes]
    folders: tuple[Path, ...]


class Roots:
    """The folders of the vaults that may be changed."""

    def __init__(self, folders: Sequence[Path]) -> None:
        places = [(Path(os.path.abspath(folder)), folder) for folder in folders]  # noqa: PTH100  # links stay
        self._folders = (*places, *((Path(os.path.realpath(folder)), folder) for folder in folders))

    def of(self, path: Path) -> Path | None:
        """The vault's folder that `path` lies in, in the spelling of `path`; None where it lies in none."""
        if ".." in path.parts:
            return None
        inside = [place for place, _ in self._folders if path != place and path.is_relative_to(place)]
        return max(inside, key=lambda place: len(place.parts), default=None)

    def has(self, change: LoggedChange) -> bool:
        """Whether a change is about these vaults."""
        if change.home is not None:
            return self.of(change.home / change.path.name) is not None
        return all(self.of(place) is not None for place in (change.path, change.place))

    def check(self, path: Path, *, foreign: bool = False) -> Path:
        """The vault's folder that `path` lies in; of a `foreign` file its own folder.

        Raises SaveError where it lies in none, or where the vault's folder is not there.
        """
        root = path.parent if foreign else self.of(path)
        if root is None:
            raise SaveError(
                f"“{path}” lies outside the open vaults, so nothing was changed. Choose a place inside the vault."
            )
        if foreign and not root.is_dir():
            raise SaveError(f"“{path.name}” was not written: there is no folder “{root}”. Make it, or choose another.")
        if not root.is_dir():
            raise SaveError(
                f"“{path.name}” was not changed, because the vault's folder “{root}” is not there. "
                "Connect its disk or put the folder back, and try again."
            )
        return root


class RunRefusal(Struct, frozen=True):
    """How a person is told that a run was not carried out: what was not done, and what to do about it."""

    words: str
    advice: str


class _PlannedPath(Struct):
    """What becomes of one path: what has to be there, what is taken from it and what is put there."""

    path: Path
    taken: NoteFileChange | None = None
    put: NoteFileChange | None = None


@dataclass(slots=True)
class Planner:
    """Makes the plan of one run of a change set.

    Files in `unsaved` have a text in an editor that nobody may write over. What `look` raises stops it.
    """

    changes: ChangeSet
    roots: Roots
    trash: Trash
    run: str
    refusal: RunRefusal
    unsaved: Collection[Path] = ()
    look: Look = lambda _done: None
    _places: dict[Path, _PlannedPath] = field(default_factory=dict, init=False)
    _aliases: set[Path] = field(default_factory=set, init=False)

    def plan(self) -> DiskPlan:
        """Compare every file and lay out the steps.

        Raises ChangedMeanwhileError, which names every file that is not as expected, and SaveError.
        """
        for change in looked_after(self.changes.changes, self.look):
            self._take_in(change)
        contents = self._compare()
        folders = tuple(self._missing_folders())
        actions: list[DiskStep] = [MakeFolder(folder) for folder in folders]
        actions += self._writes(contents)
        actions += self._removals(contents)
        return DiskPlan(tuple(actions), contents, folders)

    def _take_in(self, change: NoteFileChange) -> None:
        if change.old is None and change.new is None:
            raise SaveError(f"“{change.path.name}”: a change must have a text before or after it.")
        if change.new_path is not None and (change.old is None or change.new is None):
            raise SaveError(f"“{change.path.name}”: a note that is moved has a text before and after it.")
        for path in {change.path, change.place}:
            self.roots.check(path, foreign=change.home is not None and change.new_path is None)
        change.check()
        if change.old is not None:
            place = self._place(change.path)
            if place.taken is not None:
                raise self._twice(change.path)
            place.taken = change
        if change.new is not None:
            place = self._place(change.place)
            if place.put is not None:
                raise self._twice(change.place)
            place.put = change
        if change.new_path is not None and same_place(change.path, change.new_path):
            self._aliases.add(change.new_path)

    def _place(self, path: Path) -> _PlannedPath:
        return self._places.setdefault(path, _PlannedPath(path))

    def _twice(self, path: Path) -> SaveError:
        return SaveError(
            f"“{self.changes.title}” was not done: “{path.name}” is named twice in it. Give each note its own name."
        )

    def _compare(self) -> Mapping[Path, bytes]:
        contents: dict[Path, bytes] = {}
        wrong: dict[int, tuple[Path, str]] = {}
        numbers = {id(change): number for number, change in enumerate(self.changes.changes)}
        for place in looked_after(self._places.values(), self.look):
            change = place.taken or place.put
            if change is None:
                continue
            if place.taken is None:
                if place.path not in self._aliases and os.path.lexists(place.path):
                    wrong.setdefault(numbers[id(change)], (place.path, "exists already"))
                continue
            data = read_bytes(place.path)
            if data is None:
                wrong[numbers[id(change)]] = (place.path, "has been deleted, moved or renamed")
            elif data != place.taken.old:
                wrong[numbers[id(change)]] = (place.path, "has changed on disk")
            elif place.path in self.unsaved:
                wrong[numbers[id(change)]] = (place.path, "has unsaved text, which would be written over")
            else:
                contents[place.path] = place.taken.old or data  # not what is there already twice
        if wrong:
            others = [change.path for number, change in enumerate(self.changes.changes) if number not in wrong]
            raise changed_meanwhile(self.changes.title, list(wrong.values()), others, self.refusal)
        return contents

    def _missing_folders(self) -> Iterator[Path]:
        seen: set[Path] = set()
        for place in looked_after(self._places.values(), self.look):
            if place.put is None:
                continue
            missing = []
            folder = place.path.parent
            while folder not in seen and not folder.exists():
                seen.add(folder)
                missing.append(folder)
                folder = folder.parent
            yield from reversed(missing)

    def _writes(self, contents: Mapping[Path, bytes]) -> Iterator[DiskStep]:
        """Free names first: what is moved has reached its new place before anything is put over the old one."""
        for place in sorted(self._places.values(), key=lambda place: place.taken is not None):
            change = place.put
            if change is None or change.new is None:
                continue
            if place.taken is not None:
                if place.taken.new is None:  # another note takes the name of one that goes to the trash
                    yield self._to_trash(place.taken, keep_file=True)
                if place.taken.old != change.new:
                    yield Write(place.path, change.new, contents[place.path])
            elif change.old is None:
                yield Write(place.path, change.new, None)
            elif self._is_moved_itself(change):
                if change.new != change.old:
                    yield Write(change.path, change.new, contents[change.path])
                yield Move(change.path, place.path)
            else:
                yield Write(place.path, change.new, None, like=change.path)

    def _removals(self, contents: Mapping[Path, bytes]) -> Iterator[DiskStep]:
        for place in self._places.values():
            change = place.taken
            if change is None or change.old is None or place.put is not None:
                continue
            if change.new is None:
                yield self._to_trash(change)
            elif not self._is_moved_itself(change):
                yield Remove(place.path, contents[place.path])

    def _is_moved_itself(self, change: NoteFileChange) -> bool:
        """Whether the file itself gets the new name: both are one on this disk, or neither is another note's in this
        set, and the text stays or lies behind a link, which would become a copy of it.
        """
        source, target = self._places[change.path], self._places[change.place]
        free = source.put is None and target.taken is None
        return change.place in self._aliases or (free and (change.old == change.new or change.path.is_symlink()))

    def _to_trash(self, change: NoteFileChange, *, keep_file: bool = False) -> DiskStep:
        root = self.roots.check(change.path, foreign=change.home is not None)
        return Remove(change.path, change.old or b"", self.trash, root, self.run, keep_file=keep_file)


def changed_meanwhile(
    title: str, wrong: Sequence[tuple[Path, str]], others: Sequence[Path], refusal: RunRefusal
) -> ChangedMeanwhileError:
    """One sentence for any number of files that are not what `title` expects."""
    path, what = wrong[0]
    more = f", and {len(wrong) - 1} more of its files are not as expected" if len(wrong) > 1 else ""
    told = f"“{title}” {refusal.words}, and nothing was changed: “{path.name}” {what}{more}. {refusal.advice}"
    return ChangedMeanwhileError([path for path, _ in wrong], others, told)


def read_bytes(path: Path) -> bytes | None:
    """What the file holds, None where there is no file. Raises SaveError where it cannot be read."""
    sentence = f"“{path.name}” cannot be read ({{reason}}), so nothing was changed. Check its permissions."
    with refused(SaveError, sentence), suppress(FileNotFoundError, NotADirectoryError):
        return read_whole(path, READ_AT_MOST)  # what was written from here can always be read
    return None
