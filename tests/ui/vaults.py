"""A small vault of real notes on disk, opened in a window that can change them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lorestudio.studio.project.project import open_project
from tests.ui.conftest import settle

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from lorestudio.ui.shell.main_window import MainWindow

NOTES = {
    "places/Dawnkeep.md": "---\ntags: [lorebook, place]\nkeys: [dawnkeep, fortress]\npriority: 40\n---\n# Dawnkeep\n\n"
    "The fortress above the pass. [[Skarn]] circles it.\n",
    "Skarn.md": "---\ntags: [lorebook]\nkeys: [skarn]\npriority: 20\n# a comment\naliases: [the red one]\n---\n"
    "# Skarn\n\nA dragon.\n",
    "items/Crown.md": "---\ntags: [lorebook]\nkeys: [crown]\nrequires: [Skarn]\n---\n# Crown\n\n"
    "Skarn took it. See [[Nobody]].\r\nIt lies in [[Dawnkeep|the keep]].\n",
    "Bell.md": "---\ntags: [lorebook]\nkeys: [bell]\nenabled: true\n---\n"
    "# Bell\n\nIt rings for the fortress and for Skarn.\n",
    "draft.md": "A thought without properties.\n",
}  # fmt: skip


def write_vault(folder: Path, notes: Mapping[str, str] = NOTES) -> Path:
    """The notes, byte for byte, below `folder`."""
    for name, text in notes.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())
    return folder


def contents(folder: Path) -> dict[str, str]:
    """All notes below a folder."""
    return {path.relative_to(folder).as_posix(): path.read_bytes().decode() for path in sorted(folder.rglob("*.md"))}


def open_vault(window: MainWindow, folder: Path, keep_in: Path) -> None:
    """Open the vault in the window and let its notes be changed."""
    window.features.vault.keep_in(keep_in)
    window.session.set_project(open_project([folder]))
    settle(window)


def choose(window: MainWindow, filename: str) -> None:
    """Look at the note of a file."""
    folder = window.session.project.vault_folders[0]
    note = window.session.note_at(folder / filename)
    if hasattr(note, "id"):
        window.selection.choose_entry(note.id)
    else:
        window.selection.choose_left_out(note)
    settle(window)


def chosen_file(window: MainWindow) -> str:
    """The file that is looked at."""
    note = window.session.entry(window.selection.entry) or window.selection.left_out
    return note.filename if note is not None else ""
