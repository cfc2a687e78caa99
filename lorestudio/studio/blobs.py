"""Contents of files by their digest, each kept once, compressed."""

from __future__ import annotations

import gzip
import os
import re
import zlib
from collections.abc import Collection, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Final

from lorestudio.vault import VaultError
from lorestudio.vault.temporary import temporary_name
from lorestudio.vault.writer import digest_of

GRACE_S: Final = 3600.0
"""A blob that was put so recently, in seconds, is kept even where nothing refers to it yet."""

_WAITING: Final = 16
"""How many threads wait for the disk."""

_NAME: Final = re.compile(r"[0-9a-f]{64}\.gz")
_DIGEST: Final = re.compile(r"[0-9a-f]{64}")


class Blobs:
    """A folder of blobs, named by the SHA-256 of what they hold. All methods wait for the disk."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def place(self, digest: str) -> Path:
        """The file that holds the content with this digest: gzip, which other programs can open."""
        return self._folder / digest[:2] / f"{digest}.gz"

    def put(self, contents: Iterable[bytes], *, sync: bool = True) -> None:
        """Keep contents; `sync` waits until the disk has them. Raises OSError."""
        written: list[tuple[Path, Path]] = []
        try:
            for data in contents:
                place = self.place(digest_of(data))
                if self._is_whole(place, data):
                    os.utime(place)
                    continue
                place.parent.mkdir(parents=True, exist_ok=True)
                temporary = place.with_name(temporary_name())
                written.append((temporary, place))
                temporary.write_bytes(gzip.compress(data, 6, mtime=0))
            if sync:  # all at once: the disk takes hardly longer for many files than for one
                with ThreadPoolExecutor(_WAITING) as pool:
                    list(pool.map(_wait_for_disk, (temporary for temporary, _ in written)))
            for temporary, place in written:
                temporary.replace(place)
        finally:
            for temporary, _ in written:
                with suppress(OSError):
                    temporary.unlink(missing_ok=True)

    def read(self, digest: str) -> bytes:
        """The content with this digest. Raises VaultError where it is gone or damaged."""
        place = self.place(digest) if _DIGEST.fullmatch(digest) else self._folder
        try:
            data = gzip.decompress(place.read_bytes())
        except FileNotFoundError as error:
            raise VaultError(
                f"The kept text is gone: “{place}” is not there. It may lie in a backup of that folder."
            ) from error
        except (OSError, EOFError, zlib.error) as error:
            raise VaultError(f"The kept text in “{place}” cannot be read ({error}). Take another version.") from error
        if digest_of(data) != digest:
            raise VaultError(f"The kept text in “{place}” is damaged. Take another version.")
        return data

    def discard_except(self, kept: Collection[str], now: float) -> int:
        """Delete what is not in `kept` and not fresh; `now` is in seconds since the epoch. Returns how many.

        Raises OSError.
        """
        count = 0
        for path in self._folder.glob("*/*"):
            ours = _NAME.fullmatch(path.name) is not None
            left_over = path.name.startswith(".") and path.name.endswith(".tmp")
            if (left_over or (ours and path.name.removesuffix(".gz") not in kept)) and _is_old(path, now):
                path.unlink(missing_ok=True)
                count += ours
        return count

    def _is_whole(self, place: Path, data: bytes) -> bool:
        try:
            return gzip.decompress(place.read_bytes()) == data
        except (OSError, EOFError, zlib.error):
            return False


def _wait_for_disk(path: Path) -> None:
    with path.open("rb+") as file:
        os.fsync(file.fileno())


def _is_old(path: Path, now: float) -> bool:
    try:
        return now - path.stat().st_mtime >= GRACE_S
    except FileNotFoundError:
        return False
