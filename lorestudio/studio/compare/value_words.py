"""Values of settings and choices in a word or two, to show what differs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from lorestudio.domain.state import EntryRule

_TEXT: Final = 80


def words_of(value: object) -> str:
    """A value in a word or two, never empty."""
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, tuple):
        items = [item.title if isinstance(item, EntryRule) else str(item) for item in value]
        return _short(", ".join(items)) or "none"
    if isinstance(value, Mapping):
        return _short(", ".join(f"{name}: {_json(item)}" for name, item in value.items())) or "none"
    return _short(_json(value)) or "none"


def _json(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, list):
        return ", ".join(str(item) for item in value)
    return f"{value:g}" if isinstance(value, float) else str(value)


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _TEXT else f"{line[: _TEXT - 1].rstrip()}…"
