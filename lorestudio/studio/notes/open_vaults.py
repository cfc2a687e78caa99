"""Whether a vault is open in another window: each holds a lock for every vault that it shows."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from lorestudio.domain.digests import text_digest
from lorestudio.vault.data_folder import place_key
from lorestudio.vault.file_lock import FileLock


class OpenVaults:
    """The locks of one window, in a folder that all windows share. Its methods wait for the disk."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._held: dict[Path, FileLock] = {}

    def show(self, vaults: Iterable[Path]) -> tuple[Path, ...]:
        """These are shown from now on, and no others; which of them another window shows already.

        Where the disk takes no lock, nothing is known and none is named.
        """
        wanted = dict.fromkeys(vaults)
        for gone in [vault for vault in self._held if vault not in wanted]:
            self._held.pop(gone).release(delete=True)
        return tuple(vault for vault in wanted if vault not in self._held and not self._take(vault))

    def _take(self, vault: Path) -> bool:
        key = text_digest(place_key(vault))[:32]
        lock = FileLock(self._folder / f"{key}.lock")
        with suppress(OSError):
            self._folder.mkdir(parents=True, exist_ok=True)
            if not lock.try_acquire():
                return False
            self._held[vault] = lock
        return True
