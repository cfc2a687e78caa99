"""Settings of the systems beside DeepLore, from files and from `NAME=VALUE`: checked against their declarations."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import TypeVar

from lorestudio.domain.javascript import Json
from lorestudio.settings.declaration import Declaration, Section, declared
from lorestudio.settings.files import SettingsError, parse_json, read_bytes

SectionT = TypeVar("SectionT", bound=Section)


def read_section(path: Path, kind: type[SectionT]) -> SectionT:
    """Settings from a JSON object of their keys; what is not in it has its default.

    Raises SettingsError naming file and key.
    """
    document = parse_json(read_bytes(path), path)
    if not isinstance(document, Mapping):
        raise SettingsError(f"{path}: the file holds no object of settings. Expected something like {{}}.")
    return section_of(document, kind, str(path))


def section_of(values: Mapping[str, Json], kind: type[SectionT], where: str) -> SectionT:
    """Settings from keys as files write them, or from names. Raises SettingsError naming `where` and the key."""
    known = {name: each for each in declared(kind) for name in (each.name, each.alias)}
    used: dict[str, Json] = {}
    for key, value in values.items():
        declaration = known.get(key)
        if declaration is None:
            near = get_close_matches(key, known, 1)
            hint = f" Did you mean “{near[0]}”?" if near else ""
            raise SettingsError(f"{where}, “{key}”: there is no such setting.{hint}")
        used[declaration.name] = _checked(declaration, value, where)
    return kind.model_validate(used)


def assigned(texts: Iterable[str], kind: type[SectionT], base: SectionT) -> SectionT:
    """`base` with settings as `NAME=VALUE` gives them. Raises SettingsError naming the text."""
    values: dict[str, Json] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals:
            raise SettingsError(f"“{text}”: write NAME=VALUE, as in total_token_budget=2000.")
        values[name.strip()] = _parsed(value.strip())
    changed = section_of(values, kind, "--set")
    return base.model_copy(update={name: getattr(changed, name) for name in changed.model_fields_set})


def dump_section(settings: Section) -> dict[str, Json]:
    """What differs from the defaults, under the keys of files."""
    return {
        each.alias: value
        for each in declared(type(settings))
        if (value := getattr(settings, each.name)) != each.default
    }


def _parsed(text: str) -> Json:
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


def _checked(known: Declaration, value: Json, where: str) -> Json:
    """The value in the type of its declaration. Raises SettingsError."""
    problem = ""
    if known.type is bool:
        problem = "" if isinstance(value, bool) else "is neither true nor false"
    elif known.type is str:
        value = value if isinstance(value, str) else str(value)
        problem = "" if not known.choices or value in known.choices else f"may be {known.allowed}"
    elif isinstance(value, bool) or not isinstance(value, int | float):
        problem = "is no number"
    elif known.type is int and isinstance(value, float) and not value.is_integer():
        problem = "is no whole number"
    elif _outside(known, value):
        problem = f"may be {known.allowed}"
    if problem:
        raise SettingsError(f"{where}, “{known.alias}”: {value!r} {problem}.")
    return int(value) if known.type is int and isinstance(value, float) else value
