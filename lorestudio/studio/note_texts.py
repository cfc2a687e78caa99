"""The texts of a project's notes as they are on disk, read again only where a file has changed."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from lorestudio.domain.entry import LeftOutNote
from lorestudio.studio.project import Project
from lorestudio.vault import VaultError
from lorestudio.vault.folder import ReadingCancelledError, list_folder, read_listed
from lorestudio.vault.index import definition_path
from lorestudio.vault.known import Stamp
from lorestudio.vault.lint import NoteKey
from lorestudio.vault.scan import SETTLING_NS, file_stamp


@dataclass(frozen=True, slots=True)
class _Read:
    text: str
    stamp: Stamp | None


class NoteTexts:
    """Reads and remembers. Notes behind Obsidian's plugin have no text here. Not for several threads at once."""

    def __init__(self) -> None:
        self._known: dict[Path, _Read] = {}

    def read(
        self, project: Project, cancelled: Callable[[], bool] | None = None
    ) -> tuple[dict[NoteKey, str], tuple[str, ...]]:
        """Every note's text by vault and file name, a byte order mark included, and sentences about what failed.

        Raises ReadingCancelledError.
        """
        texts: dict[NoteKey, str] = {}
        failures: list[str] = []
        fresh: dict[Path, _Read] = {}
        for vault, folder in zip(project.index.vaults, project.vault_folders, strict=False):
            if folder is None:
                continue
            try:
                listing = list_folder(folder, vault, cancelled, definition_path=definition_path(project.settings))
            except VaultError as error:
                failures.append(str(error))
                continue
            for filename, path in listing.found:
                if cancelled is not None and cancelled():
                    raise ReadingCancelledError
                read = self._one(filename, path, vault) if filename.endswith(".md") else None
                if read is not None:
                    fresh[path] = read
                    texts[vault, filename] = read.text
        self._known = fresh
        return texts, tuple(failures)

    def _one(self, filename: str, path: Path, vault: str) -> _Read | None:
        """The text of a file, None where it cannot be read: the index says why."""
        stamp, now = file_stamp(path), time.time_ns()
        known = self._known.get(path)
        if known is not None and stamp is not None and known.stamp == stamp:
            return known
        note = read_listed(filename, path, vault, keep_bom=True)
        if isinstance(note, LeftOutNote):
            return None
        settled = stamp is not None and max(stamp.modified_ns, stamp.changed_ns) < now - SETTLING_NS
        return _Read(note.text, stamp if settled else None)
