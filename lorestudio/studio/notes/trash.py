"""Deleted notes: kept in the studio's data folder, outside the vault, until somebody empties the trash."""

from __future__ import annotations

import json
import os
import re
import secrets
from collections.abc import Callable, Collection
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from msgspec import Struct

from lorestudio.domain.texts import text_digest
from lorestudio.settings.files import READ_AT_MOST, read_whole
from lorestudio.studio.notes.changes.change_set import ChangeSet, NameTakenError, NoteFileChange
from lorestudio.trace.storage.serialize import record_from_json, record_to_json
from lorestudio.vault.files import SaveError, VaultError, place_key, reason_of, refused, utc_now
from lorestudio.vault.folder import note_text
from lorestudio.vault.writer import digest_of, temporary_name

_MOST_NAMESAKES: Final = 1000
_LABEL: Final = ".json"
_UNUSUAL: Final = re.compile(r"[^\w.-]+")


class Trashed(Struct, frozen=True):
    """One note in the trash: the folder of its vault, where it lay, since when it is here, and where it lies now.

    `run` is what put it there, as the change log names it.
    """

    vault: Path
    path: Path
    time: datetime
    digest: str
    file: Path
    run: str = ""

    @property
    def filename(self) -> str:
        """Its name relative to the vault, with `/` between the parts."""
        return self.path.relative_to(self.vault).as_posix()


class Trash:
    """The deleted notes of all vaults, a folder for each. Everything waits for the disk."""

    def __init__(self, folder: Path, clock: Callable[[], datetime] = utc_now) -> None:
        self._folder = folder
        self._clock = clock
        self._problems: dict[str, None] = {}

    @property
    def problems(self) -> tuple[str, ...]:
        """Sentences about what could not be read so far; such files are left alone."""
        return tuple(self._problems)

    def put(self, vault: Path, path: Path, data: bytes, run: str = "") -> Trashed:
        """Keep a copy of the file, which lies below `vault`. Deleting the file itself is the caller's business.

        The caller has its text in the history. Raises SaveError.
        """
        time = self._clock()
        name = f"{time.astimezone(UTC):%Y%m%dT%H%M%S}-{secrets.token_hex(4)}"
        file = self._vault_folder(vault) / f"{name}{'.md' if path.suffix in {'', _LABEL} else path.suffix}"
        item = Trashed(vault, path, time, digest_of(data), file, run)
        try:
            file.parent.mkdir(0o700, parents=True, exist_ok=True)
            _write(file, data)
            _write(_label(file), json.dumps(record_to_json(item), indent=1).encode())
        except OSError as error:
            with suppress(OSError):
                file.unlink(missing_ok=True)
            raise SaveError(
                f"“{path.name}” was not deleted, because it could not be put into the trash at “{self._folder}” "
                f"({reason_of(error)}). Make room there or correct its permissions, and try again."
            ) from error
        return item

    def list(self, vault: Path | None = None) -> tuple[Trashed, ...]:
        """What is in the trash, of one vault or of all, newest first. Raises VaultError."""
        folder = self._folder if vault is None else self._vault_folder(vault)
        with refused(VaultError, f"The trash “{folder}” cannot be read ({{reason}}). Check its permissions."):
            labels = sorted(folder.glob("*/*.json" if vault is None else "*.json"))
        found = [item for label in labels if (item := self._read_label(label)) is not None]
        return tuple(sorted(found, key=lambda item: item.time, reverse=True))

    def read(self, item: Trashed) -> str:
        """The text of a deleted note. Raises VaultError where it is gone, damaged, or no UTF-8."""
        sentence = f"“{item.path.name}” cannot be read from the trash: {item.file} ({{reason}})."
        with refused(VaultError, f"{sentence} Its history may still have it."):
            data = read_whole(item.file, READ_AT_MOST)
        if digest_of(data) != item.digest:
            raise VaultError(
                f"“{item.path.name}” was changed in the trash: {item.file}. Look at that file, and copy from it by "
                "hand what you need; its history may have the note as it was."
            )
        return note_text(item.path.name, data)

    def restoring(self, item: Trashed, path: Path | None = None) -> ChangeSet:
        """The change set that puts the note back, under another name where `path` says so; nothing is changed yet.

        Raises NameTakenError, which offers another name, where a file is in the way, and VaultError.
        """
        target = path or item.path
        if os.path.lexists(target):
            offer = free_name(target)
            raise NameTakenError(
                target,
                offer,
                f"“{item.path.name}” was not put back, because there is a file of that name again. "
                f"Put it back as “{offer.name}”, or move the other file away first.",
            )
        return ChangeSet(f"Put {item.path.stem} back", (NoteFileChange(target, None, self.read(item)),))

    def remove(self, item: Trashed) -> None:
        """Delete one note for good. Raises SaveError."""
        sentence = f"“{item.path.name}” cannot be deleted from the trash: {item.file} ({{reason}})."
        with refused(SaveError, f"{sentence} Correct the permissions of that folder."):
            # The label goes last: a label without a note is told, a note without a label would be forgotten.
            item.file.unlink(missing_ok=True)
            _label(item.file).unlink(missing_ok=True)

    def remove_run(self, run: str, paths: Collection[Path]) -> None:
        """Delete what one run of the change log put here of these paths, after it was undone.

        Raises SaveError or VaultError.
        """
        for item in self.list():
            if run and item.run == run and item.path in paths:
                self.remove(item)

    def _vault_folder(self, vault: Path) -> Path:
        digest = text_digest(place_key(vault))[:8]
        return self._folder / f"{_UNUSUAL.sub('_', vault.name)[:60]}-{digest}"

    def _read_label(self, label: Path) -> Trashed | None:
        try:
            record = json.loads(read_whole(label))
            file = next(one for one in sorted(label.parent.glob(f"{label.stem}.*")) if one != label)
            item = record_from_json(Trashed, {**record, "file": str(file)}, "label")
            item.path.relative_to(item.vault)
        except FileNotFoundError:
            return None  # deleted by another window meanwhile
        except StopIteration:
            self._problems[f"“{label}” is in the trash without its note; delete the file."] = None
            return None
        except (OSError, ValueError, TypeError, RecursionError) as error:
            self._problems[
                f"“{label}” in the trash cannot be read ({reason_of(error)}). The note itself lies beside it."
            ] = None
            return None
        return item


def free_name(path: Path) -> Path:
    """A name in the same folder that no file has: the same with a number. Raises SaveError where there is none."""
    for number in range(2, _MOST_NAMESAKES):
        offer = path.with_name(f"{path.stem} ({number}){path.suffix}")
        if not os.path.lexists(offer):
            return offer
    raise SaveError(f"“{path.parent}” has too many notes called “{path.stem}”. Choose another name.")


def _write(file: Path, data: bytes) -> None:
    """A new file, whole or not there. The disk is not waited for: until it has it, the history has the same text."""
    temporary = file.with_name(temporary_name())
    try:
        temporary.write_bytes(data)
        temporary.replace(file)
    finally:
        temporary.unlink(missing_ok=True)


def _label(file: Path) -> Path:
    return file.with_suffix(_LABEL)
