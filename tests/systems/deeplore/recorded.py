"""Recorded inputs of the original as our objects (rules: deeplore 13)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from lorestudio.domain.entry import Entry

UNDEFINED: Final = "__undef"
INFINITY: Final = "__Infinity"

ENTRY_FIELDS: Final[Mapping[str, str]] = {
    "filename": "filename", "title": "title", "keys": "keys", "content": "content", "summary": "summary",
    "priority": "priority", "constant": "constant", "seed": "seed", "bootstrap": "bootstrap", "guide": "guide",
    "tokenEstimate": "tokens", "scanDepth": "scan_depth", "excludeRecursion": "exclude_recursion", "links": "links",
    "resolvedLinks": "resolved_links", "tags": "tags", "requires": "requires", "excludes": "excludes",
    "refineKeys": "refine_keys", "cascadeLinks": "cascade_links", "outlet": "outlet", "injectionPosition": "position",
    "injectionDepth": "depth", "injectionRole": "role", "cooldown": "cooldown", "warmup": "warmup",
    "probability": "probability", "folderPath": "folder", "vaultSource": "vault", "customFields": "custom_fields",
    "graph": "graph", "_contentHash": "content_hash",
}  # fmt: skip
"""Fields of a recorded entry and our attributes; what only says how the note was written is left out."""


def value_of(value: Any) -> Any:
    """Lists of texts as tuples, the spelled-out infinity as a number."""
    if isinstance(value, list):
        return tuple(map(value_of, value))
    return float("inf") if value == INFINITY else value


def entry_of(number: int, record: Mapping[str, Any]) -> Entry:
    values = {ENTRY_FIELDS[key]: value_of(value) for key, value in record.items() if key in ENTRY_FIELDS}
    fields = (
        {key: value for key, value in record.get("customFields", {}).items() if value != UNDEFINED}
        if (isinstance(record.get("customFields"), dict))
        else {}
    )
    return Entry(**{"filename": "", "vault": "", **values, "id": number, "custom_fields": fields})


def entries_of(records: Iterable[Mapping[str, Any]]) -> tuple[Entry, ...]:
    return tuple(entry_of(number, record) for number, record in enumerate(records))


def pairs(mapping: Mapping[str, Any]) -> list[list[Any]]:
    """A map as it was recorded."""
    return [[key, value] for key, value in mapping.items()]
