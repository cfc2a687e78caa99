"""Where a vault's notes come from: a folder on disk, or Obsidian."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Iterable, Mapping
from itertools import chain, count
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from msgspec import Struct

from lorestudio.domain.entry import NoteProblem
from lorestudio.domain.lifecycle import CancelToken
from lorestudio.domain.records import replace
from lorestudio.settings.files import real_path
from lorestudio.vault.files import VaultError, index_order
from lorestudio.vault.folder import KnownFile, ScannedFile, ScannedVault, scan_folder

if TYPE_CHECKING:
    from lorestudio.vault.obsidian import ObsidianVault

OnRead = Callable[[int, int], None]
"""Gets the number of files done and their total. For a folder it is called in a worker thread."""


class VaultSource(Protocol):
    """One vault, wherever it is."""

    @property
    def id(self) -> str:
        """Tells it from all others on this computer, over restarts."""

    @property
    def name(self) -> str:
        """What its entries call their vault."""

    @property
    def folder(self) -> Path | None:
        """Its folder on disk, None where it has none."""

    async def scan(
        self, known: Mapping[str, KnownFile], definition_path: str, on_progress: OnRead | None = None
    ) -> ScannedVault:
        """The vault as it is now; files in `known` need not be read again. Problems are a `failure` in the result."""


def vault_name(folder: Path, taken: Collection[str]) -> str:
    """What the vault in a folder is called: as the folder is, but for the names of the vaults before it."""
    name, above = folder.name, folder.parent.name
    names = chain((name, f"{name} ({above})"), (f"{name} {number}" for number in count(2)))
    return next(each for each in names if each not in taken)


def vault_names(folders: Iterable[Path]) -> dict[Path, str]:
    """What the vaults in these folders are called."""
    names: dict[Path, str] = {}
    for folder in folders:
        names[folder] = vault_name(folder, names.values())
    return names


class FolderSource(Struct, frozen=True):
    """A vault in a folder. It is called as the folder is, or `title`."""

    path: Path
    title: str = ""

    @property
    def id(self) -> str:
        """The folder's place."""
        return f"folder:{self.folder}"

    @property
    def name(self) -> str:
        """The vault's name."""
        return self.title or self.folder.name

    @property
    def folder(self) -> Path:
        """The folder."""
        return real_path(self.path)

    async def scan(
        self, known: Mapping[str, KnownFile], definition_path: str, on_progress: OnRead | None = None
    ) -> ScannedVault:
        """Look at the folder in a worker thread; a cancelled call stops it at the next file."""
        stop = CancelToken()

        def work() -> ScannedVault:
            return scan_folder(self.folder, known, self.name, on_progress, stop, definition_path=definition_path)

        try:
            return await asyncio.to_thread(work)
        except VaultError as error:
            return ScannedVault(self.name, failure=str(error))
        finally:
            stop.cancel()


class ObsidianSource(Struct, frozen=True):
    """A vault behind the Local REST API. All notes are fetched each time; the plugin has no cheaper way to compare."""

    vault: ObsidianVault

    @property
    def id(self) -> str:
        """The plugin's address."""
        return f"obsidian:{self.vault.address.url}"

    @property
    def name(self) -> str:
        """The vault's name."""
        return self.vault.address.name

    @property
    def folder(self) -> None:
        """None: it is somewhere else."""
        return

    async def scan(
        self, known: Mapping[str, KnownFile], definition_path: str, on_progress: OnRead | None = None
    ) -> ScannedVault:
        """Fetch the vault. A note that cannot be fetched stays as it is known; none at all counts as a failure."""
        try:
            scanned = ScannedVault.of(await self.vault.fetch(on_progress, definition_path=definition_path))
        except VaultError as error:
            return ScannedVault(self.name, failure=str(error))
        if not scanned.failure and not scanned.files:
            none = f"Obsidian lists no note in the vault “{self.name}”."
            scanned = replace(scanned, failure=next((note.message for note in scanned.left_out), none))
        if scanned.failure:
            return scanned
        unread = (note for note in scanned.left_out if note.problem is NoteProblem.UNREADABLE)
        kept = {note.filename: note for note in unread if note.filename in known}
        if not kept:
            return scanned
        files = {file.filename: file for file in scanned.files}
        files |= {name: ScannedFile(name, known[name].digest) for name in kept}
        return ScannedVault(
            self.name,
            [files[name] for name in sorted(files, key=lambda name: (not name.endswith(".md"), index_order(name)))],
            tuple(note for note in scanned.left_out if note.filename not in kept),
            remarks=tuple(f"{note.message} It stays as it was." for note in kept.values()),
        )
