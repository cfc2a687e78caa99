"""Files that a command writes: what an earlier run made may be written again, what people wrote is left alone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from lorestudio.exchange.problems import InputError

_LORE: Final = frozenset({".jsonl", ".json", ".md", ".yaml", ".yml", ".png"})
"""How chats, lorebooks, settings, notes, expectations and cards end."""

_KEPT: Final = (".lorestudio.json", ".answers.jsonl", ".recap-queue.json", ".book.json")
"""How files end that the studio keeps beside chats and notes."""


@dataclass(frozen=True, slots=True)
class OutputFile:
    """Stands in the annotation of a parameter that names a file to write, with the endings of what is written."""

    endings: tuple[str, ...]

    def check(self, path: Path, values: Iterable[object]) -> None:
        """Raises InputError for a file that is there and no result of this kind, or that the command reads.

        `values` are those of all the command's parameters.
        """
        if not path.is_file():
            return
        places = [*_places(values)]
        named = sum(_same(path, place) for place in places) > 1
        note = path.suffix.lower() == ".md" and any(_inside(path, place) for place in places)
        if named or note or path.name.endswith(_KEPT):
            raise InputError(path, "this file is read, so it is not written over. Choose another name.")
        if path.suffix.lower() in _LORE.difference(self.endings):
            kinds = " or ".join(self.endings)
            raise InputError(path, f"this file is there and is no {kinds}, so it is left alone. Choose another name.")


def _places(values: Iterable[object]) -> Iterator[Path]:
    """What may be a file or a folder; before the colon of a text may stand a role, or a system."""
    for value in values:
        for each in value if isinstance(value, list) else (value,):
            if isinstance(each, str):
                yield from map(Path, filter(None, {each, each.partition(":")[2]}))
            elif isinstance(each, Path):
                yield each


def _same(path: Path, place: Path) -> bool:
    with suppress(OSError):  # most texts are no path
        return path.samefile(place)
    return False


def _inside(path: Path, place: Path) -> bool:
    return any(_same(folder, place) for folder in path.resolve().parents)
