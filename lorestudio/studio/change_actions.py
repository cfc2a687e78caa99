"""The single steps of a change set on disk, each of which can be taken back."""

from __future__ import annotations

import stat
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from lorestudio.studio.note_data import reason_of
from lorestudio.studio.trash import Trash, Trashed
from lorestudio.vault import SaveError, save_note
from lorestudio.vault.writer import digest_of, encode_note, move_note, remove_note


class Action(Protocol):
    """One step. Both methods raise SaveError; `do` has then changed nothing."""

    @property
    def group(self) -> str:
        """Neighbouring steps of one group may be taken at the same time; "": only alone."""

    @property
    def paths(self) -> tuple[Path, ...]:
        """The files that it touches."""

    def do(self) -> None:
        """Take the step."""

    def undo(self) -> None:
        """Take it back."""


def text_digest(path: Path, text: str | None) -> str | None:
    """The digest of the file that holds this text, None for no file. Raises SaveError where no file can hold it."""
    return None if text is None else digest_of(encode_note(path, text))


@dataclass(slots=True)
class MakeFolder:
    """A folder that a new path needs; the one above it exists."""

    path: Path

    @property
    def group(self) -> str:
        """What it may be taken together with."""
        return ""

    @property
    def paths(self) -> tuple[Path, ...]:
        """The files that it touches."""
        return ()

    def do(self) -> None:
        """Make the folder."""
        try:
            self.path.mkdir(exist_ok=True)
        except OSError as error:
            raise SaveError(
                f"The folder “{self.path}” cannot be made ({reason_of(error)}). "
                "Choose another name, or correct the permissions of the folder around it."
            ) from error

    def undo(self) -> None:
        """Remove it if it is empty."""
        with suppress(OSError):  # somebody else has put something into it
            self.path.rmdir()


@dataclass(slots=True)
class Write:
    """A file gets a text; `before` None: it is made, with the permission bits of `like` where that is given."""

    path: Path
    before: str | None
    after: str
    like: Path | None = None

    @property
    def group(self) -> str:
        """What it may be taken together with."""
        return "make" if self.before is None else "change"

    @property
    def paths(self) -> tuple[Path, ...]:
        """The files that it touches."""
        return (self.path,)

    def do(self) -> None:
        """Write the new text."""
        mode = None if self.like is None else _mode(self.like)
        save_note(self.path, self.after, text_digest(self.path, self.before), mode=mode)

    def undo(self) -> None:
        """Write the old text, or delete the file that was made."""
        written = digest_of(encode_note(self.path, self.after))
        if self.before is None:
            remove_note(self.path, written)
        else:
            save_note(self.path, self.before, written)


@dataclass(slots=True)
class Move:
    """A file gets another name, its content as it is."""

    path: Path
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
class Remove:
    """A file goes: its text is at another place by now, or in the trash where `trash` is given.

    `keep_file`: a copy goes to the trash, and the file is written over by another step.
    """

    path: Path
    before: str
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

    @property
    def paths(self) -> tuple[Path, ...]:
        """The files that it touches."""
        return (self.path,)

    def do(self) -> None:
        """Delete the file, after a copy went to the trash."""
        self._mode = _mode(self.path)
        data = encode_note(self.path, self.before)
        if self.trash is not None:
            self._item = self.trash.put(self.vault, self.path, data, self.run)
        if self.keep_file:
            return
        try:
            remove_note(self.path, digest_of(data))
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
