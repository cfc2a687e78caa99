"""Settings of the systems beside DeepLore, from files and from `NAME=VALUE`: checked against their declarations;
and which settings differ between two sets of them, and how a value is written for people.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final, TypeVar

from msgspec import Struct

from lorestudio.domain.javascript import Json, number_text
from lorestudio.domain.texts import figures, meant, shorten
from lorestudio.settings.declaration import Declaration, Section, Unit, Value, declared
from lorestudio.settings.deeplore import same, setting_value
from lorestudio.settings.files import SettingsError, parse_json, read_bytes

SectionT = TypeVar("SectionT", bound=Section)


def read_section(path: Path, kind: type[SectionT]) -> SectionT:
    """Settings from a JSON object of their keys; what is not in it has its default.

    Raises SettingsError naming file and key.
    """
    return section_in(read_bytes(path), path, kind)


def section_in(data: bytes, path: Path, kind: type[SectionT]) -> SectionT:
    """As `read_section`, out of the text of a file that `path` names in messages."""
    document = parse_json(data, path)
    if not isinstance(document, Mapping):
        raise SettingsError(f"{path}: the file holds no object of settings. Expected something like {{}}.")
    return section_of(document, kind, str(path))


def section_of(values: Mapping[str, Json], kind: type[SectionT], where: str) -> SectionT:
    """Settings from keys as files write them, or from names. Raises SettingsError naming `where` and the key."""
    known = {name: each for each in declared(kind) for name in (each.name, each.alias)}
    used: dict[str, Json] = {}
    for key, given in values.items():
        declaration = known.get(key)
        if declaration is None:
            raise SettingsError(f"{where}, “{key}”: there is no such setting.{meant(key, known)}")
        value = str(given) if declaration.type is str and isinstance(given, int | float) else given
        problem = value_problem(declaration, value)
        if problem:
            raise SettingsError(f"{where}, “{declaration.alias}”: {value!r} {problem}.")
        used[declaration.name] = in_type(declaration, value)
    return kind.model_validate(used)


def assigned(texts: Iterable[str], kind: type[SectionT], base: SectionT, option: str = "--set") -> SectionT:
    """`base` with settings as `NAME=VALUE` of an option gives them. Raises SettingsError naming option and text."""
    values: dict[str, Json] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals:
            raise SettingsError(f"{option}: “{text}” gives no value. Write {text.strip() or 'NAME'}=VALUE.")
        values[name.strip()] = parsed_value(value.strip())
    changed = section_of(values, kind, option)
    return base.model_copy(update={name: getattr(changed, name) for name in changed.model_fields_set})


def dump_section(settings: Section) -> dict[str, Json]:
    """What differs from the defaults, under the keys of files."""
    return {
        each.alias: value
        for each in declared(type(settings))
        if (value := getattr(settings, each.name)) != each.default
    }


def parsed_value(text: str) -> Value:
    """A value as it is typed: true or false, a number, else the text."""
    if text.lower() in {"true", "false"}:
        return text.lower() == "true"
    for number in (int, float):
        try:
            return number(text)
        except ValueError:
            continue
    return text


def _outside(known: Declaration, value: float) -> bool:
    """Whether a number is none of the choices that are the only ones, or beyond the limits."""
    if known.checked and known.choices:
        return value not in known.choices
    return known.low is not None and known.high is not None and not known.low <= value <= known.high


def value_problem(known: Declaration, value: Json) -> str:
    """What is wrong with a value of a setting, as in “is no number”, "" where nothing is."""
    if not isinstance(value, bool | int | float | str):
        return "is no value"
    if known.type is bool:
        return "" if isinstance(value, bool) else "is neither true nor false"
    if known.type is str:
        fits = isinstance(value, str) and (not known.choices or value in known.choices)
        return "" if fits else f"is none of {known.allowed}" if known.choices else "is no text"
    if isinstance(value, bool | str):
        return "is no number"
    if known.type is int and isinstance(value, float) and not value.is_integer():
        return "is no whole number"
    what = "is none of" if known.choices else "is not in the range"
    return f"{what} {known.allowed}" if _outside(known, value) else ""


def in_type(known: Declaration, value: Json) -> Json:
    """A value that has no problem in the type of its setting: 4.0 as the whole number that it is."""
    return int(value) if known.type is int and isinstance(value, float) else value


SHOWN: Final = 60
"""Characters of a text that stand in a line about it."""


class SettingChange(Struct, frozen=True):
    """One setting that has two values."""

    declaration: Declaration
    before: Value
    after: Value


def differences(before: Section, after: Section) -> tuple[SettingChange, ...]:
    """Every setting whose values differ between two settings of one system, in reading order."""
    if before is after:  # the window asks many times for each thing that happens
        return ()
    pairs = ((each, setting_value(before, each), setting_value(after, each)) for each in declared(type(before)))
    return tuple(SettingChange(each, one, other) for each, one, other in pairs if not same(one, other))


def naming_profile(settings: Section, profile: str) -> list[Declaration]:
    """The settings that name a provider profile."""
    return [each for each in declared(type(settings)) if each.profile and getattr(settings, each.name) == profile]


def with_profile(settings: SectionT, before: str, now: str) -> SectionT:
    """The settings where the provider profile `before` is called `now`."""
    return settings.model_copy(update={each.name: now for each in naming_profile(settings, before)})


def value_text(declaration: Declaration, value: Json) -> str:
    """A value in one line: `on`, `4 messages`, `no limit (0)`, `two-stage`, `1 (In the chat, at the depth below.)`.

    A value of another type than the setting's, as files may hold one, is written as it is.
    """
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, int | float):
        meaning = declaration.choices.get(int(value)) if declaration.choices and value == int(value) else None
        if meaning is not None:
            return f"{number_text(value)} ({meaning.rstrip('.')})"
        if declaration.least and value == declaration.low:
            return f"{declaration.least} ({number_text(value)})"
        return f"{figures(value)} {unit_for(declaration.unit, value)}".rstrip()
    if isinstance(value, str):
        if declaration.choices:
            return value or "(empty)"
        return f"“{shorten(value, SHOWN)}”" if value else "(empty)"
    return "null" if value is None else type(value).__name__


def unit_for(unit: Unit, value: float) -> str:
    """The unit in the form that goes with the amount: `1 entry`, `2 entries`."""
    if value != 1:
        return unit
    return _ONE.get(unit, unit)


_ONE: Final[dict[Unit, str]] = {
    "messages": "message", "tokens": "token", "entries": "entry", "generations": "generation", "seconds": "second",
    "characters": "character", "exchanges": "exchange", "days": "day",
}  # fmt: skip
