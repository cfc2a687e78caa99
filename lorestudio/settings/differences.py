"""Which settings differ between two sets of them, and how a value is written for people."""

from __future__ import annotations

from typing import Final

from msgspec import Struct

from lorestudio.domain.javascript import Json, number_text
from lorestudio.settings.declaration import Declaration, Section, Unit, Value, declared
from lorestudio.settings.deeplore import same, setting_value

SHOWN: Final = 60
"""Characters of a text that stand in a line about it."""


class SettingChange(Struct, frozen=True):
    """One setting that has two values."""

    declaration: Declaration
    before: Value
    after: Value

    @property
    def text(self) -> str:
        """`Budget: Token budget: 3,072 tokens → 1,300 tokens`."""
        before, after = value_text(self.declaration, self.before), value_text(self.declaration, self.after)
        return f"{self.declaration.label}: {before} → {after}"


def differences(before: Section, after: Section) -> tuple[SettingChange, ...]:
    """Every setting whose values differ between two settings of one system, in reading order."""
    if before is after:  # the window asks many times for each thing that happens
        return ()
    pairs = ((each, setting_value(before, each), setting_value(after, each)) for each in declared(type(before)))
    return tuple(SettingChange(each, one, other) for each, one, other in pairs if not same(one, other))


def value_text(declaration: Declaration, value: Json) -> str:
    """A value in one line: `on`, `4 messages`, `two-stage`, `1 (In the chat, at the depth below.)`, `“text”`.

    A value of another type than the setting's, as files may hold one, is written as it is.
    """
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, int | float):
        meaning = declaration.choices.get(int(value)) if declaration.choices and value == int(value) else None
        if meaning is not None:
            return f"{number_text(value)} ({meaning.rstrip('.')})"
        text = f"{value:,}" if isinstance(value, int) else number_text(value)
        return f"{text} {unit_for(declaration.unit, value)}".rstrip()
    if isinstance(value, str):
        if declaration.choices:
            return value or "(empty)"
        line = " ".join(value.split())
        short = line if len(line) <= SHOWN else f"{line[: SHOWN - 1]}…"
        return f"“{short}”" if value else "(empty)"
    return "null" if value is None else type(value).__name__


def unit_for(unit: Unit, value: float) -> str:
    """The unit in the form that goes with the amount: `1 entry`, `2 entries`."""
    if value != 1:
        return unit
    return _ONE.get(unit, unit)


_ONE: Final[dict[Unit, str]] = {
    "messages": "message", "tokens": "token", "entries": "entry", "generations": "generation", "seconds": "second",
    "characters": "character",
}  # fmt: skip
