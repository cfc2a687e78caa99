"""Names of files that every system takes, whatever a person calls a thing."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Final

from lorestudio.domain.texts import comparable

NOT_IN_FILES: Final = '*"\\/<>:|?'
"""Signs that Windows has in no file name."""
NOT_IN_LINKS: Final = "#^[]|"
"""Signs that mean something inside a link, so that no link could name the note."""

_CONTROL: Final = r"\x00-\x1f\x7f\ud800-\udfff"
_REFUSED: Final = re.compile(f"[{_CONTROL}{re.escape(NOT_IN_FILES)}]")
_REFUSED_OR_IN_LINKS: Final = re.compile(f"[{_CONTROL}{re.escape(NOT_IN_FILES + NOT_IN_LINKS)}]")
_DEVICE: Final = re.compile(
    r"\A(?:con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³]|conin\$|conout\$)(?= *(?:\.|\Z))", re.IGNORECASE
)
_MOST_LETTERS, _MOST_BYTES = 100, 200
_SHORTER: Final = 50
"""At four bytes each the whole stays below 255 bytes, with a date beside it."""


def is_device(name: str) -> bool:
    """Whether Windows keeps the name for a device, as it does with every ending: `con`, `con.txt`."""
    return _DEVICE.match(name) is not None


def same_name(path: str) -> str:
    """What paths have in common that some systems take for one: `Straße` and `STRASSE`."""
    return comparable(path)


def note_name(title: str, otherwise: str) -> str:
    """The name of a note, without its ending, that links can name too; `otherwise` where nothing of `title` is left."""
    name = " ".join(_REFUSED_OR_IN_LINKS.sub(" ", unicodedata.normalize("NFC", title)).split())
    name = name.lstrip(". ")[:_MOST_LETTERS].encode()[:_MOST_BYTES].decode("utf-8", "ignore")
    return _beside_devices(name.rstrip(". ") or otherwise)


def free_name(name: str, ending: str, taken: dict[str, int]) -> str:
    """The name with the ending, and with a number where that is taken, as `same_name` compares them; then it is.

    `taken` has for each such name the number up to which those of it are taken as well, 1 where nobody has looked: of
    thousands of one name none is tried twice.
    """
    free = f"{name}{ending}"
    first = same_name(free)
    number = taken.get(first, 0) + 1
    while number > 1 and same_name(free := f"{name} ({number}){ending}") in taken:
        number += 1
    taken[same_name(free)] = 1
    taken[first] = number
    return free


def free_path(folder: Path, named: Callable[[int], str]) -> Path:
    """The first path in a folder that no file has; `named` gives the file's name for a number, from 1."""
    paths = (folder / named(number) for number in count(1))
    return next(path for path in paths if not path.exists())


def underscored_name(name: str, otherwise: str) -> str:
    """`name` with `_` where a sign is refused, as DeepLore names files; `otherwise` where nothing is left.

    rules: deeplore-tools 2.1.
    """
    clean = _REFUSED.sub("_", " ".join(name.split()))[:_SHORTER].strip(". ")
    return _beside_devices(clean or otherwise)


def _beside_devices(name: str) -> str:
    return _DEVICE.sub(r"\g<0>_", name)
