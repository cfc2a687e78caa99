"""Small vaults of notes for tests of plans and searches."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from lorestudio.studio.notes.changes.log import ChangeLog
from lorestudio.studio.notes.vault_notes import Planned, VaultNotes, read_vault_notes


def write_vault(folder: Path, notes: Mapping[str, str]) -> VaultNotes:
    """Write these notes and read them as a vault."""
    folder.mkdir(exist_ok=True)
    for name, text in notes.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())
    return read_vault_notes(folder)


def applied(planned: Planned, *vaults: VaultNotes) -> dict[str, str]:
    """Carry the plan out as the studio does; the files of the vaults afterwards, by their names."""
    folder = vaults[0].folder.parent / "kept"
    ChangeLog(folder, [vault.folder for vault in vaults]).apply(planned.changes)
    return contents(*vaults)


def contents(*vaults: VaultNotes) -> dict[str, str]:
    """All files of the vaults."""
    return {
        path.relative_to(vault.folder).as_posix(): path.read_bytes().decode()
        for vault in vaults
        for path in sorted(vault.folder.rglob("*"))
        if path.is_file()
    }
