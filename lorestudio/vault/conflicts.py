"""What becomes of entries with the same title, in one vault or in several (spec: deeplore-engine 1.12, errata)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lorestudio.domain.entry import ParserWarning
from lorestudio.domain.javascript import Json, to_string, trim, truthy
from lorestudio.domain.tokens import CHARS_4

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from lorestudio.vault.entries import EntryFields


def resolve(entries: Sequence[EntryFields], mode: str) -> list[EntryFields]:
    """The entries that remain: titles are equal when their lower-case forms are.

    `first` keeps the first of each title; `last` the last one, at the first one's place; `merge` folds all into the
    first; every other mode keeps all.
    """
    if mode not in ("first", "last", "merge"):
        return list(entries)
    chosen: dict[str, EntryFields] = {}
    for entry in entries:
        title = entry["title"].lower()
        first = chosen.get(title)
        if first is None or mode == "last":
            chosen[title] = entry
        elif mode == "merge":
            chosen[title] = _merged(first, entry)
    return list(chosen.values())


def _merged(first: EntryFields, later: EntryFields) -> EntryFields:
    """A copy of `first` with what `later` adds; all that is not named here stays the first one's."""
    result = first.copy()
    result["keys"] = _union(first["keys"], later["keys"])
    result["tags"] = _union(first["tags"], later["tags"])
    result["links"] = _union(first["links"], later["links"])
    result["requires"] = _union(first["requires"], later["requires"])
    result["excludes"] = _union(first["excludes"], later["excludes"])
    result["constant"] = first["constant"] or later["constant"]
    result["seed"] = first["seed"] or later["seed"]
    result["bootstrap"] = first["bootstrap"] or later["bootstrap"]
    result["guide"] = first["guide"] or later["guide"]
    result["summary"] = first["summary"] or later["summary"]
    if trim(later["content"]):
        content = f"{first['content']}\n\n---\n\n{later['content']}"
        result["content"] = content
        result["tokens"] = CHARS_4.count(content)
    warnings: list[ParserWarning] = []
    result["custom_fields"] = _merged_fields(first, later, warnings)
    result["warnings"] = (*first["warnings"], *warnings)
    return result


def _union(first: tuple[str, ...], later: tuple[str, ...]) -> tuple[str, ...]:
    """Each text once, in order of appearance; a list that nothing is added to keeps its repetitions."""
    return tuple(dict.fromkeys((*first, *later))) if later else first


def _merged_fields(first: EntryFields, later: EntryFields, warnings: list[ParserWarning]) -> Mapping[str, Json]:
    fields = dict(first["custom_fields"])
    for name, value in later["custom_fields"].items():
        present = fields.get(name)
        if not isinstance(value, tuple):
            if present is None and value is not None:
                fields[name] = value
        elif value and isinstance(present, int | float) and truthy(present):
            # The original gives up on the whole index here.
            warnings.append(_merge_conflict(name, present, first, later))
        elif value:
            # A text counts as the list of its characters.
            existing = present if isinstance(present, str | tuple) else ()
            fields[name] = tuple(dict.fromkeys((*existing, *value)))
    return fields


def _merge_conflict(name: str, value: float, first: EntryFields, later: EntryFields) -> ParserWarning:
    return ParserWarning(
        "W_MERGE_CONFLICT",
        name,
        f"The list in “{later['filename']}” cannot be merged with the value {to_string(value)} in "
        f"“{first['filename']}”, so that value stays. DeepLore itself cannot build its index from these two notes.",
        f"Write {name} as a list in both notes.",
    )
