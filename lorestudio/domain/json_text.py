"""JSON as text: read as JavaScript reads it, compact when written."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Final, NoReturn

from lorestudio.domain.javascript import Json


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON number")


def _whole(digits: str) -> int | float:
    # Python refuses to make an integer of thousands of digits; to JavaScript it is a number like others.
    return int(digits) if len(digits) < 400 else float(digits)


def _plain(value: object) -> dict[str, Json]:
    """Read-only mappings as dictionaries."""
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{type(value).__name__} is no JSON value")


DECODER: Final = json.JSONDecoder(parse_constant=_no_constant, parse_int=_whole)
"""Reads one value at a place of a text; no NaN, and numbers of any length."""


def parse_json(text: str) -> Json:
    """The value of a JSON text. Raises ValueError saying what is wrong, JSONDecodeError where a place can be named."""
    try:
        value: Json = DECODER.decode(text)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    return value


def spell(value: Json, *, ascii_only: bool = False, sort_keys: bool = False, loose: bool = False) -> str:
    """A JSON value as compact text, with blanks behind commas and colons where `loose` is set.

    Raises ValueError for NaN, infinities and nesting too deep, TypeError for what is no JSON.
    """
    separators = (", ", ": ") if loose else (",", ":")
    try:
        return json.dumps(
            value, ensure_ascii=ascii_only, sort_keys=sort_keys, separators=separators, default=_plain, allow_nan=False
        )
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
