"""Names that a note, a folder or a title can have, so that every system, Obsidian and DeepLore take them."""

from __future__ import annotations

import re
from collections.abc import Collection
from pathlib import Path
from typing import Final

from lorestudio.domain.javascript import fold, trim
from lorestudio.exchange.problems import InputError
from lorestudio.vault.link_targets import NOTE_SUFFIX

_NOT_IN_FILES: Final = '*"\\/<>:|?'
"""Signs that Windows has in no file name."""
_NOT_IN_LINKS: Final = "#^[]|"
"""Signs that mean something inside a link, so that no link could name the note."""
_RESERVED: Final = re.compile(r"(?:con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])(?:\..*)?", re.IGNORECASE)
_MOST_BYTES: Final = 255


def checked_name(name: str) -> str:
    """The base name of a note, trimmed. Raises InputError with what is wrong."""
    name = trim(name)
    _check_part(name, _NOT_IN_FILES + _NOT_IN_LINKS, "a note")
    if name.lower().endswith(NOTE_SUFFIX):
        raise InputError(name, f"give the name without {NOTE_SUFFIX}; the studio adds it.")
    return name


def checked_title(title: str) -> str:
    """A title that links can name, trimmed. Raises InputError with what is wrong."""
    title = trim(title)
    if not title:
        raise InputError("title", "a note needs a title. Write one.")
    if len(title.splitlines()) > 1:
        raise InputError(title, "a title is one line. Take the line break out.")
    _check_signs(title, _NOT_IN_LINKS, "a title, as no link could name it")
    return title


def checked_folder(folder: str) -> str:
    """A folder relative to the vault, "" for the vault itself, with `/`. Raises InputError with what is wrong."""
    parts = [part for part in folder.replace("\\", "/").split("/") if part not in ("", ".")]
    for part in parts:
        if part == "..":
            raise InputError(folder, "it has to be inside the vault. Give its path from the vault's own folder.")
        _check_part(part, _NOT_IN_FILES + _NOT_IN_LINKS, "a folder")
    return "/".join(parts)


def check_free(vault: Path, filename: str, own: Collection[str] = ()) -> None:
    """Raise InputError where a file of this name is there, also in other capital letters.

    On Windows and macOS those are one name. `own` are files that give up their names in the same step.
    """
    place = vault / filename
    free = {fold(name) for name in own}
    try:
        taken = [item.name for item in place.parent.iterdir()] if place.parent.is_dir() else []
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise InputError(place.parent, f"the folder cannot be read: {reason}. Check its permissions.") from error
    folder = filename.rpartition("/")[0]
    for name in taken:
        path = f"{folder}/{name}" if folder else name
        if fold(name) == fold(place.name) and fold(path) not in free:
            as_written = "" if name == place.name else f" (written “{name}”, which is the same name on some systems)"
            raise InputError(filename, f"there is a file of this name already{as_written}. Choose another name.")


def _check_part(name: str, signs: str, what: str) -> None:
    if not name:
        raise InputError("name", f"{what} needs a name. Write one.")
    _check_signs(name, signs, f"the name of {what}")
    if name.startswith("."):
        raise InputError(name, "names that begin with a dot are hidden from Obsidian and DeepLore. Take the dot away.")
    if name.endswith((".", " ")):
        raise InputError(name, "Windows has no names that end with a dot or a space. Take it away.")
    if _RESERVED.fullmatch(name):
        raise InputError(name, "Windows keeps this name for itself. Choose another one.")
    if len(f"{name}{NOTE_SUFFIX}".encode("utf-8", "surrogatepass")) > _MOST_BYTES:
        raise InputError(f"{name[:20]}…", f"the name is longer than {_MOST_BYTES} bytes. Choose a shorter one.")


def _check_signs(name: str, signs: str, what: str) -> None:
    found = [char for char in dict.fromkeys(name) if char in signs]
    hidden = [char for char in name if ord(char) < 32 or char == "\x7f" or "\ud800" <= char <= "\udfff"]
    if found or hidden:
        shown = " ".join([*found, *(f"U+{ord(char):04X}" for char in dict.fromkeys(hidden))])
        raise InputError(name, f"{shown} cannot stand in {what}. Leave out {' '.join(signs)} and control characters.")
