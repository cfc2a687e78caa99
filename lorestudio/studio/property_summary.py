"""What the properties of several notes have in common, for changing one of them in all."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from lorestudio.domain.javascript import Json, to_string
from lorestudio.vault import VaultError, read_note
from lorestudio.vault.note_document import NoteDocument, PropertyKind


@dataclass(frozen=True, slots=True)
class PropertySummary:
    """One property over some notes. `value` is the common one where `same`; `present` counts the notes that have it.

    `kind` is how most of those notes write it; `items` are all items of its lists, the most frequent first.
    """

    name: str
    kind: PropertyKind
    value: Json
    same: bool
    values: int
    present: int
    total: int
    items: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class NotesSummary:
    """All properties that the notes have, the most frequent first; `failures` name the notes that cannot be read."""

    notes: int
    properties: tuple[PropertySummary, ...]
    failures: tuple[str, ...] = ()

    def find(self, name: str) -> PropertySummary | None:
        """A property by its name, in any letter case."""
        wanted = name.casefold()
        return next((one for one in self.properties if one.name.casefold() == wanted), None)


def summarise(paths: Sequence[Path], cancelled: Callable[[], bool] = lambda: False) -> NotesSummary:
    """Read these notes and compare their properties; a cancelled summary is what was read so far."""
    found: dict[str, list[tuple[PropertyKind, Json]]] = {}
    failures: list[str] = []
    read = 0
    for path in paths:
        if cancelled():
            break
        try:
            text, _ = read_note(path)
        except VaultError as error:
            failures.append(str(error))
            continue
        read += 1
        for item in {item.name: item for item in NoteDocument(text).properties}.values():
            found.setdefault(item.name, []).append((item.kind, item.value))
    summaries = [_summary(name, values, read) for name, values in found.items()]
    order = sorted(summaries, key=lambda one: -one.present)
    return NotesSummary(read, tuple(order), tuple(failures))


def shown_value(value: Json) -> str:
    """A value in one line, as people read it."""
    if value is None:
        return ""
    if isinstance(value, list | tuple):
        return ", ".join(shown_value(item) for item in value)
    if isinstance(value, dict):
        return json.dumps(value, ensure_ascii=False)
    return to_string(value)


def _summary(name: str, values: Sequence[tuple[PropertyKind, Json]], total: int) -> PropertySummary:
    kinds = [kind for kind, _ in values]
    texts = {(kind, shown_value(value)) for kind, value in values}
    items: dict[str, int] = {}
    for _, value in values:
        for item in value if isinstance(value, list | tuple) else ():
            text = to_string(item)
            items[text] = items.get(text, 0) + 1
    same = len(texts) == 1 and len(values) == total
    kind = max(dict.fromkeys(kinds), key=kinds.count)
    common = tuple(sorted(items, key=lambda item: -items[item]))
    return PropertySummary(name, kind, values[0][1] if same else None, same, len(texts), len(values), total, common)
