"""The files of the session scribe in a vault (spec: deeplore-ai-and-tools 2.2)."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from lorestudio.memory.scribe import PastNote, SessionNote, newest_first, read_past
from lorestudio.settings.deeplore import DeepLoreSettings
from lorestudio.vault import ChangedOnDisk, SaveError, VaultError, read_note, save_note

_MOST_NAMESAKES: Final = 100


def scribe_folder(vault: Path, settings: DeepLoreSettings) -> Path:
    """Where a vault's session notes lie. Raises SaveError where the setting leads out of the vault."""
    parts = settings.scribe_folder.replace("\\", "/").split("/")
    folder = Path(os.path.normpath(vault.joinpath(*(part for part in parts if part))))
    if ".." in parts or not folder.is_relative_to(os.path.normpath(vault)):
        text = (
            f"The scribe's folder “{settings.scribe_folder}” leads out of the vault. Name a folder inside it in the "
            "settings of the session scribe."
        )
        raise SaveError(text)
    return folder


def save_session_note(vault: Path, note: SessionNote, settings: DeepLoreSettings) -> Path:
    """Write the note into the vault's scribe folder and return its path; no other file is touched.

    A name that is taken gets a number. Blocks for as long as the disk takes. Raises SaveError with what to do.
    """
    folder = scribe_folder(vault, settings)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        text = f"The scribe's folder “{folder}” cannot be made ({reason}). Choose another one, or make room for it."
        raise SaveError(text) from error
    name = Path(note.filename)
    for number in range(1, _MOST_NAMESAKES + 1):
        path = folder / (name.name if number == 1 else f"{name.stem} ({number}){name.suffix}")
        try:
            save_note(path, note.markdown, None)
        except ChangedOnDisk:
            continue
        return path
    text = f"“{folder}” has too many notes called “{name.stem}”. Move some of them away and save again."
    raise SaveError(text)


def read_session_notes(vault: Path, settings: DeepLoreSettings) -> tuple[PastNote, ...]:
    """All notes below the scribe folder, of every chat, newest first; one that cannot be read says why.

    File names are relative to the folder. Raises SaveError where the setting leads out of the vault. Reads every file,
    so a window calls it from a worker.
    """
    folder = scribe_folder(vault, settings)
    notes: list[PastNote] = []
    for path in folder.rglob("*.md"):
        filename = path.relative_to(folder).as_posix()
        if any(part.startswith(".") for part in filename.split("/")):
            continue
        try:
            text, _ = read_note(path)
        except VaultError as error:
            notes.append(PastNote(filename, problem=str(error)))
        else:
            notes.append(read_past(filename, text))
    return newest_first(notes)
