"""What DeepLore's parser itself complains about, and what it loses without a word where untidiness is not forgiven."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from lorestudio.domain.entry import LeftOutNote, ParserWarning
from lorestudio.domain.javascript import to_number
from lorestudio.domain.tokens import CHARS_4
from lorestudio.vault.entries import field_name, read_fields
from lorestudio.vault.lint.model import FixSpec, Hit
from lorestudio.vault.lint.note import Note, Rules

_LENIENT: Final = frozenset({"W_ALIAS_USED", "W_COMMA_SPLIT", "W_COERCED_NUM"})
"""What lenient authoring mends."""


def parser_warnings(note: Note, _rules: Rules) -> Iterator[Hit]:
    """The warnings that the entry was read with (W_...)."""
    for warning in note.entry.warnings:
        yield Hit(
            warning.code, warning.message, warning.field, advice=warning.suggested_fix, fix=_fix(note, warning)
        )  # fmt: skip


def strict_losses(note: Note, rules: Rules) -> Iterator[Hit]:
    """P51: what lenient authoring would have read, while it is switched off."""
    if rules.parse.lenient or note.text is None or not note.values:
        return
    forgiven = read_fields(note.text, note.filename, note.vault, rules.lenient, CHARS_4)
    if isinstance(forgiven, LeftOutNote):
        return
    for warning in forgiven["warnings"]:
        if warning.code in _LENIENT:
            message = f"{warning.field} is not read as it was meant, because lenient authoring is off."
            yield Hit("P51", message, warning.field, advice=warning.suggested_fix, fix=_fix(note, warning))


def _fix(note: Note, warning: ParserWarning) -> FixSpec | None:
    if note.text is None:
        return None
    name = note.written(warning.field)
    value = note.values.get(name)
    if warning.code == "W_ALIAS_USED":
        return FixSpec(f"Rename to {field_name(name)}", "rename", name, field_name(name))
    if warning.code == "W_COMMA_SPLIT" and isinstance(value, str):
        parts = tuple(part for piece in value.split(",") if (part := piece.strip()))
        return FixSpec("Write a list", "list", name, parts) if parts else None
    if warning.code == "W_COERCED_NUM" and isinstance(value, str):
        number = to_number(value)
        # Infinity has no spelling as a number.
        return FixSpec("Remove the quotes", "set", name, number) if abs(number) < 1e15 else None
    return None
