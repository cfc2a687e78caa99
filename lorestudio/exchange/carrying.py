"""Carrying a system's settings to where they run: into SillyTavern's settings.json, or as its program reads them.

Into SillyTavern's file only the chosen keys go; everything else stays character for character.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from lorestudio.domain.javascript import Json
from lorestudio.exchange.json_file import change_of, read_file
from lorestudio.exchange.json_spelling import INDENT, set_members
from lorestudio.exchange.problems import InputError
from lorestudio.exchange.settings_files import KeyChange, Merge, host_document
from lorestudio.settings.declaration import Declaration, Section, declared
from lorestudio.settings.deeplore import in_file, same, setting_value
from lorestudio.settings.differences import SettingChange, differences

Place = tuple[str, ...]
"""The names on the way to an object in SillyTavern's settings.json."""


class Carrier(Protocol):
    """Settings of one system, to be carried over. Keys are those of files; values are as files hold them."""

    @property
    def not_there(self) -> str:
        """Why SillyTavern's settings.json has no place for them, "" where it has."""
        ...

    def differing(self) -> tuple[SettingChange, ...]:
        """What differs from the defaults."""
        ...

    def candidates(self, path: Path) -> tuple[SettingChange, ...]:
        """What has another value in SillyTavern's file at `path`. Waits for the disk. Raises InputError."""
        ...

    def prepared(self, keys: Collection[str]) -> tuple[dict[str, Json], tuple[str, ...]]:
        """The values of these keys, and a sentence for each that is mended or left out."""
        ...

    def plan(self, path: Path, values: Mapping[str, Json]) -> Merge:
        """What writing the values into SillyTavern's file would do. Waits for the disk. Raises InputError."""
        ...

    def snippet(self, values: Mapping[str, Json]) -> str:
        """The values as the system's program reads them."""
        ...

    def document(self, values: Mapping[str, Json]) -> Mapping[str, Json]:
        """The values as a settings file of lorestudio."""
        ...


@dataclass(frozen=True, slots=True)
class SectionCarrier:
    """Settings whose keys stand in objects of SillyTavern's file: `places` by key, the first that is there counts."""

    settings: Section = field(repr=False)
    places: Mapping[str, Sequence[Place]] = field(default_factory=dict)

    @property
    def not_there(self) -> str:  # noqa: D102  # as in Carrier
        return "" if self.places else "SillyTavern has no place for these settings; their own program reads a file."

    def _known(self) -> Mapping[str, Declaration]:
        every = {each.alias: each for each in declared(type(self.settings))}
        return {alias: every[alias] for alias in self.places} if self.places else every

    def differing(self) -> tuple[SettingChange, ...]:  # noqa: D102  # as in Carrier
        return differences(type(self.settings)(), self.settings)

    def candidates(self, path: Path) -> tuple[SettingChange, ...]:  # noqa: D102  # as in Carrier
        document = host_document(path, read_file(path))
        found = []
        for alias, each in self._known().items():
            _, there = self._there(document, path, alias)
            value = setting_value(self.settings, each)
            before = there.get(alias, each.default)
            if isinstance(before, bool | int | float | str) and not same(before, value):
                found.append(SettingChange(each, before, value))
        return tuple(found)

    def prepared(self, keys: Collection[str]) -> tuple[dict[str, Json], tuple[str, ...]]:  # noqa: D102  # as in Carrier
        known = self._known()
        values: dict[str, Json] = {
            alias: in_file(each, setting_value(self.settings, each)) for alias, each in known.items() if alias in keys
        }
        left = [f"{alias}: only lorestudio has this setting. It is left out." for alias in keys if alias not in known]
        return values, tuple(left)

    def plan(self, path: Path, values: Mapping[str, Json]) -> Merge:  # noqa: D102  # as in Carrier
        before = read_file(path)
        document, known = host_document(path, before), self._known()
        changes: list[KeyChange] = []
        missing: dict[Place, None] = {}
        text = before.decode("utf-8-sig")
        for alias, value in values.items():
            place, there = self._there(document, path, alias)
            if alias in there and same(there[alias], value):
                continue
            if not there:
                missing[place] = None
            changes.append(KeyChange(known[alias], there.get(alias, known[alias].default), value, alias in there))
            text = set_members(text, place, {alias: value})
        told = [
            f"There is no “{'.'.join(place)}” in this file yet; it is added. Is it in use there?" for place in missing
        ]
        after = text.encode("utf-8") if changes else before
        return Merge(tuple(changes), tuple(told), change_of(path, before, after))

    def snippet(self, values: Mapping[str, Json]) -> str:  # noqa: D102  # as in Carrier
        return json.dumps(dict(values), ensure_ascii=False, indent=INDENT) + "\n"

    def document(self, values: Mapping[str, Json]) -> Mapping[str, Json]:  # noqa: D102  # as in Carrier
        return dict(values)

    def _there(self, document: Mapping[str, Json], path: Path, alias: str) -> tuple[Place, Mapping[str, Json]]:
        """The place of a key, and the object that is there."""
        for place in self.places[alias]:
            found: Json = document
            for name in place:
                found = found.get(name, {}) if isinstance(found, Mapping) else None
            if not isinstance(found, Mapping):
                told = "no object stands here, so nothing is written. Use a backup."
                raise InputError(path, told, field=".".join(place))
            if found:
                return place, found
        return self.places[alias][0], {}
