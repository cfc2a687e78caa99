"""A folder read once, with nothing known of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from lorestudio.vault.files import NoteFile, VaultFiles
from lorestudio.vault.folder import scan_folder


def read_folder(path: Path, name: str | None = None, **more: Any) -> VaultFiles:
    """The texts of a vault; `more` goes to `scan_folder`."""
    read = scan_folder(path, {}, name, **more)
    return VaultFiles(read.name, tuple(NoteFile(file.filename, file.text or "") for file in read.files), read.left_out)
