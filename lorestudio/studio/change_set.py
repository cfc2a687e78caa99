"""Changes to note files as data, and what can go wrong with them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from lorestudio.vault import ChangedOnDisk, SaveError


@dataclass(frozen=True, slots=True)
class NoteChange:
    """What happens to one file; the texts are as `read_note` gives them, with line ends and byte order mark.

    `before` None: the file is made. `after` None: it goes to the trash. `new_path`: it is moved there, with `after` as
    its text.
    """

    path: Path
    before: str | None
    after: str | None
    new_path: Path | None = None

    @property
    def place(self) -> Path:
        """Where the file is afterwards."""
        return self.new_path or self.path

    @property
    def is_idle(self) -> bool:
        """Whether it leaves the file as it is."""
        return self.before is not None and self.before == self.after and self.place == self.path

    @property
    def inverse(self) -> NoteChange:
        """What undoes it. Undoing the making of a note puts it into the trash."""
        if self.new_path is None:
            return NoteChange(self.path, self.after, self.before)
        return NoteChange(self.new_path, self.after, self.before, self.path)


@dataclass(frozen=True, slots=True)
class ChangeSet:
    """One undoable step, e.g. "Rename Skarn to Skarn the Grey"."""

    title: str
    changes: tuple[NoteChange, ...]

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
