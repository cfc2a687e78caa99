"""JSON as text: strict when read, compact when written."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import NoReturn

from lorestudio.domain.javascript import Json


def parse_json(text: str) -> Json:
    """Parse strict JSON. Raises ValueError, also for NaN and for nesting too deep to read."""
    try:
        value: Json = json.loads(text, parse_constant=_no_constant)
    except RecursionError:
        raise ValueError("nested too deeply") from None
    return value


def spell(value: Json, *, ascii_only: bool = False, sort_keys: bool = False) -> str:
    """A JSON value as compact text. Raises ValueError for NaN and infinities, TypeError for what is no JSON."""
    return json.dumps(
        value, ensure_ascii=ascii_only, sort_keys=sort_keys, separators=(",", ":"), default=_plain, allow_nan=False
    )


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON number")


def _plain(value: object) -> dict[str, Json]:
    """Read-only mappings as dictionaries."""
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{type(value).__name__} is no JSON value")
