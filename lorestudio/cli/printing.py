"""Output in UTF-8, whatever the terminal's encoding is."""

from __future__ import annotations

import json

import typer


def as_bytes(text: str) -> bytes:
    """The text in UTF-8; half a surrogate pair becomes its JSON escape."""
    return text.encode("utf-8", "backslashreplace")


def json_bytes(value: object, indent: int | None = None) -> bytes:
    """JSON as a line, or indented."""
    return as_bytes(json.dumps(value, ensure_ascii=False, indent=indent)) + b"\n"


def print_json(value: object, indent: int | None = None) -> None:
    """The same on standard output."""
    typer.echo(json_bytes(value, indent), nl=False)
