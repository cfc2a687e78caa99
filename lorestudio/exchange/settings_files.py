"""Carrying settings to where they run, and taking them over from there (rules: deeplore-tools 4.3).

Into SillyTavern's settings.json only the chosen keys go; everything else stays character for character. Nothing here
prints values that may be secret: DeepLore's keys that hold them are none of the declared settings.
"""

from __future__ import annotations

import json
import re
from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from msgspec import Struct

from lorestudio.domain.javascript import Json
from lorestudio.domain.records import Terse
from lorestudio.exchange.json_file import INDENT, FileChange, change_of, read_file, set_members
from lorestudio.exchange.problems import InputError
from lorestudio.settings.declaration import Declaration, Section, Value, declared
from lorestudio.settings.deeplore import (
    SETTINGS_VERSIONS,
    DeepLoreSettings,
    declarations,
    effective_values,
    in_file,
    same,
    sanitise,
    setting_value,
)
from lorestudio.settings.files import SettingsError, parse_json, read_bytes
from lorestudio.settings.sections import SectionT, SettingChange, differences, value_text
from lorestudio.settings.store import (
    FORMAT,
    OF_SILLYTAVERN,
    SETTINGS_VERSION,
    Layout,
    Stored,
    new_document,
    read_stored,
)

PLACE: Final = ("extension_settings", "deeplore_enhanced")
"""Where DeepLore's settings are in SillyTavern's file (rules: deeplore-tools 4.1)."""

VERSION_KEY: Final = "settingsVersion"

_NOT_CARRIED: Final = frozenset({VERSION_KEY, "rules"})
"""What nobody chooses to carry over: the version is always written, and whose rules hold is the studio's to know."""

ADVICE: Final = (
    "Close SillyTavern first, or reload its page afterwards: it keeps its settings in memory and writes the whole file "
    "again."
)

_LOCALHOST = re.compile(r"^(https?://)localhost(?=[:/]|$)", re.IGNORECASE)
_EXACT_CHOICES: Final = frozenset({"optimize_keys_mode"})


class KeyChange(Struct, frozen=True):
    """One key of a file before and after. `written` is whether the file had it; else `before` is the default."""

    declaration: Declaration
    before: Json
    after: Json
    written: bool = True

    @property
    def text(self) -> str:
        """`maxTokensBudget: 3,072 tokens → 1,300 tokens`."""
        before = value_text(self.declaration, self.before) + ("" if self.written else " (not written)")
        return f"{self.declaration.alias}: {before} → {value_text(self.declaration, self.after)}"


class Merge(Terse, frozen=True):
    """What writing into a file would do: each key's change, what else the person should know, and the file's change."""

    unprinted = ("file",)

    changes: tuple[KeyChange, ...]
    remarks: tuple[str, ...]
    file: FileChange


def exportable() -> tuple[Declaration, ...]:
    """The settings that somebody can choose to carry over."""
    return tuple(each for each in declarations() if each.alias not in _NOT_CARRIED)


def never_carried(change: SettingChange) -> bool:
    """Whether nobody can choose to carry it over."""
    return change.declaration.alias in _NOT_CARRIED


_OFF: Final = ("enabled", False)


def by_default(changes: Sequence[SettingChange]) -> tuple[SettingChange, ...]:
    """Those that are carried over unless somebody says otherwise: not what belongs to one computer or window.

    Neither is that DeepLore is off: here all runs are as if it were on, and a new project has its default.
    """
    return tuple(
        each
        for each in changes
        if not each.declaration.local and not never_carried(each) and (each.declaration.name, each.after) != _OFF
    )


def _not_taken(each: Declaration, value: Value) -> str:
    if each.name.endswith(("_position", "_role")) and each.type is int and value not in (0, 1, 2):
        return f"{value_text(each, value)} is no place that DeepLore's own window knows."
    exact = each.checked or each.name in _EXACT_CHOICES
    if exact and value not in each.choices:
        return f"{value_text(each, value)} is none of {each.allowed}."
    return ""


def unknown_keys(keys: Collection[str]) -> list[str]:
    """Those of the keys that no setting has."""
    known = {each.alias for each in exportable()}
    return [key for key in keys if key not in known]


# ---- SillyTavern's file ---------------------------------------------------------------------------------------------


def _brought_up_to_date(raw: Mapping[str, Json], remarks: list[str]) -> dict[str, Value]:
    """What DeepLore would change when it meets an older version, which it will not do once the new one is written."""
    if not raw:
        return {}
    effective, by_alias = effective_values(raw), {each.alias: each for each in declarations()}
    moved: dict[str, Value] = {}
    for alias in ("librarianModel", "librarianConnectionMode"):
        value, before = effective[alias], raw.get(alias, by_alias[alias].default)
        if (
            isinstance(value, str)
            and not same(value, before)
            and not same(effective[VERSION_KEY], raw.get(VERSION_KEY))
        ):
            moved[alias] = value
            remarks.append(f"{alias}: an older version's value is carried on, as DeepLore would do itself.")
    return moved


def host_document(path: Path, data: bytes) -> Mapping[str, Json]:
    """What SillyTavern's settings.json holds. Raises InputError where it is another file."""
    try:
        document = parse_json(data, path)
    except SettingsError as error:
        raise InputError(path, str(error).removeprefix(f"{path}").lstrip(",: ")) from None
    if not isinstance(document, Mapping):
        raise InputError(path, "the file holds no JSON object, so it is not SillyTavern's settings.json.")
    if document.get("format") == FORMAT:
        raise InputError(path, "this is a settings file of lorestudio. Choose SillyTavern's settings.json.")
    if PLACE[0] not in document and not OF_SILLYTAVERN & document.keys():
        raise InputError(
            path,
            f'it has no field "{PLACE[0]}" and nothing else that SillyTavern writes. '
            "Choose the settings.json in data/default-user of SillyTavern.",
        )
    return document


def _object_at(document: Mapping[str, Json], place: Sequence[str], path: Path) -> Mapping[str, Json]:
    """The object that SillyTavern's file has there, an empty one where there is none. Raises InputError."""
    found = document
    for depth, key in enumerate(place, start=1):
        inner = found.get(key, {})
        if not isinstance(inner, Mapping):
            told = "no object stands here, so nothing is written. Use a backup."
            raise InputError(path, told, field=".".join(place[:depth]))
        found = inner
    return found


# ---- texts ----------------------------------------------------------------------------------------------------------


def changes_list(changes: Sequence[SettingChange]) -> str:
    """The changes for somebody who sets them by hand: by section, with DeepLore's key, whole texts below."""
    if not changes:
        return "No setting differs.\n"
    lines: list[str] = []
    group = ""
    for change in changes:
        each = change.declaration
        if each.group != group:
            group = each.group
            lines += ([""] if lines else []) + [group]
        before, after = value_text(each, change.before), value_text(each, change.after)
        lines.append(f"  {each.title} ({each.alias}): {before} → {after}")
        if isinstance(change.after, str) and each.long and change.after:
            lines += [f"    | {line}" for line in change.after.split("\n")]
    return "\n".join(lines) + "\n"


# ---- carriers -------------------------------------------------------------------------------------------------------

Place = tuple[str, ...]
"""The names on the way to an object in SillyTavern's settings.json."""


@dataclass(frozen=True, slots=True)
class Carrier(ABC):
    """Settings of one system, to be carried over. Keys are those of files; values are as files hold them."""

    settings: Section = field(repr=False)

    @property
    def not_there(self) -> str:
        """Why SillyTavern's settings.json has no place for them, "" where it has."""
        return ""

    def differing(self) -> tuple[SettingChange, ...]:
        """What differs from the defaults."""
        return differences(type(self.settings)(), self.settings)

    @abstractmethod
    def candidates(self, path: Path) -> tuple[SettingChange, ...]:
        """What has another value in SillyTavern's file at `path`. Waits for the disk. Raises InputError."""

    @abstractmethod
    def prepared(self, keys: Collection[str]) -> tuple[dict[str, Json], tuple[str, ...]]:
        """The values of these keys, and a sentence for each that is mended or left out."""

    @abstractmethod
    def plan(self, path: Path, values: Mapping[str, Json]) -> Merge:
        """What writing the values into SillyTavern's file would do. Waits for the disk. Raises InputError."""

    def snippet(self, values: Mapping[str, Json]) -> str:
        """The values as the system's program reads them."""
        return json.dumps(dict(values), ensure_ascii=False, indent=INDENT) + "\n"

    def document(self, values: Mapping[str, Json]) -> Mapping[str, Json]:
        """The values as a settings file of lorestudio."""
        return dict(values)


@dataclass(frozen=True, slots=True)
class DeepLoreCarrier(Carrier):
    """DeepLore's settings (rules: deeplore-tools 4.3)."""

    settings: DeepLoreSettings = field(repr=False)

    def candidates(self, path: Path) -> tuple[SettingChange, ...]:
        """Every setting that has another value in SillyTavern's file at `path`: from its value there to this one."""
        there = _object_at(host_document(path, read_file(path)), PLACE, path)
        found = differences(sanitise(dict(there)).settings, self.settings)
        return tuple(each for each in found if each.declaration.alias not in _NOT_CARRIED)

    def prepared(self, keys: Collection[str]) -> tuple[dict[str, Json], tuple[str, ...]]:
        """The values of the chosen keys as DeepLore takes them, and a sentence for each that is mended or left out.

        DeepLore checks little of what it reads, so what it would take wrongly is not written
        (rules: deeplore-tools 4.2 "Consistency rules").
        """
        values: dict[str, Json] = {}
        remarks: list[str] = []
        for each in exportable():
            if each.alias not in keys:
                continue
            value = setting_value(self.settings, each)
            if isinstance(value, str) and each.name.endswith("_proxy_url") and _LOCALHOST.match(value):
                value = _LOCALHOST.sub(r"\g<1>127.0.0.1", value)
                remarks.append(f"{each.alias}: DeepLore refuses the name localhost; 127.0.0.1 is written.")
            wrong = _not_taken(each, value)
            if wrong:
                remarks.append(f"{each.alias}: {wrong} It is left out.")
            else:
                values[each.alias] = in_file(each, value)
        return values, tuple(remarks)

    def plan(self, path: Path, values: Mapping[str, Json]) -> Merge:
        """What writing `values` into SillyTavern's settings.json at `path` would do. Nothing is written yet.

        Raises InputError where the file is not what it seems to be.
        """
        before = read_file(path)
        document = host_document(path, before)
        raw = _object_at(document, PLACE, path)
        by_alias = {each.alias: each for each in declarations()}
        changes: list[KeyChange] = []
        remarks: list[str] = []
        wanted: dict[str, Json] = {**_brought_up_to_date(raw, remarks), **values}
        for alias, value in wanted.items():
            each = by_alias[alias]
            if alias not in raw or not same(raw[alias], value):
                changes.append(
                    KeyChange(each, raw.get(alias, in_file(each, each.default)), value, written=alias in raw)
                )
        inner = document.get(PLACE[0])
        if not isinstance(inner, Mapping) or PLACE[1] not in inner:
            added = "; they are added" if changes else ""
            remarks.append(f"DeepLore has no settings in this file yet{added}. Is it installed there?")
        if not changes:
            return Merge((), tuple(remarks), change_of(path, before, before))
        version = raw.get(VERSION_KEY)
        there = version if isinstance(version, int | float) and not isinstance(version, bool) else 0
        written: dict[str, Json] = {change.declaration.alias: change.after for change in changes}
        if there <= SETTINGS_VERSION:
            written[VERSION_KEY] = SETTINGS_VERSION
        elif there > max(SETTINGS_VERSIONS.values()):
            remarks.append(f"The settings are of a newer version ({version}) than is known here; the version stays.")
        text = before.decode("utf-8-sig")
        after = set_members(
            text, PLACE, {key: value for key, value in written.items() if key not in raw or not same(raw[key], value)}
        )
        return Merge(tuple(changes), tuple(remarks), change_of(path, before, after.encode("utf-8")))

    def snippet(self, values: Mapping[str, Json]) -> str:
        """The values as a JSON object of DeepLore's keys, laid out as in SillyTavern's file."""
        return json.dumps({**values, VERSION_KEY: SETTINGS_VERSION}, ensure_ascii=False, indent=INDENT) + "\n"

    def document(self, values: Mapping[str, Json]) -> Mapping[str, Json]:
        """The values as a settings file of lorestudio, with its format and version."""
        return {**new_document(self.settings), "settings": dict(values)}


@dataclass(frozen=True, slots=True)
class SectionCarrier(Carrier):
    """Settings whose keys stand in objects of SillyTavern's file: `places` by key, the first that is there counts."""

    places: Mapping[str, Sequence[Place]] = field(default_factory=dict)

    @property
    def not_there(self) -> str:
        """A word about places where none is given."""
        return "" if self.places else "SillyTavern has no place for these settings; their own program reads a file."

    def _known(self) -> Mapping[str, Declaration]:
        every = {each.alias: each for each in declared(type(self.settings))}
        return {alias: every[alias] for alias in self.places} if self.places else every

    def candidates(self, path: Path) -> tuple[SettingChange, ...]:
        """What has another value at its place in the file."""
        document = host_document(path, read_file(path))
        found = []
        for alias, each in self._known().items():
            _, there = self._there(document, path, alias)
            value = setting_value(self.settings, each)
            before = there.get(alias, each.default)
            if isinstance(before, bool | int | float | str) and not same(before, value):
                found.append(SettingChange(each, before, value))
        return tuple(found)

    def prepared(self, keys: Collection[str]) -> tuple[dict[str, Json], tuple[str, ...]]:
        """The values of these keys that have a place; a sentence for each of the others."""
        known = self._known()
        values: dict[str, Json] = {
            alias: in_file(each, setting_value(self.settings, each)) for alias, each in known.items() if alias in keys
        }
        left = [f"{alias}: only lorestudio has this setting. It is left out." for alias in keys if alias not in known]
        return values, tuple(left)

    def plan(self, path: Path, values: Mapping[str, Json]) -> Merge:
        """The values at their places; a remark for each object that is not there yet."""
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

    def _there(self, document: Mapping[str, Json], path: Path, alias: str) -> tuple[Place, Mapping[str, Json]]:
        """The place of a key, and the object that is there."""
        for place in self.places[alias]:
            if found := _object_at(document, place, path):
                return place, found
        return self.places[alias][0], {}


# ---- taking over ----------------------------------------------------------------------------------------------------


class Imported(Terse, frozen=True):
    """Settings out of a file. `said` are the keys that the file speaks about; a snippet leaves the others alone.

    `keys` are all that stand in it, also those that the system does not have.
    """

    unprinted = ("settings",)

    source: str
    layout: Layout
    settings: Section
    said: frozenset[str]
    problems: tuple[str, ...] = ()
    keys: frozenset[str] = frozenset()

    def changes(self, current: Section) -> tuple[SettingChange, ...]:
        """What taking everything over would change."""
        return tuple(each for each in differences(current, self.settings) if each.declaration.alias in self.said)


def import_file(path: Path) -> Imported:
    """Read a file of any layout. Raises SettingsError naming file and place."""
    return _imported(str(path), read_stored(read_bytes(path), path))


def import_text(text: str, source: str) -> Imported:
    """Read a text, such as a snippet from the clipboard; `source` is for messages. Raises SettingsError."""
    return _imported(source, read_stored(text.encode("utf-8", "surrogatepass"), Path(source)))


def import_section(source: str, settings: Section) -> Imported:
    """Settings of a system beside DeepLore as they were read: what nobody gave has its default and is not said."""
    given = (each.alias for each in declared(type(settings)) if each.name in settings.model_fields_set)
    return Imported(source, Layout.PLAIN, settings, frozenset(given))


def taken_over(current: SectionT, imported: Imported, keys: Collection[str]) -> SectionT:
    """The current settings with the chosen keys of the import."""
    values = {
        each.name: setting_value(imported.settings, each)
        for each in declared(type(current))
        if each.alias in keys and each.alias in imported.said
    }
    return current.model_copy(update=values)


def _imported(source: str, stored: Stored) -> Imported:
    known = {each.alias for each in declarations()} - {"settingsVersion"}
    said = known & stored.values.keys() if stored.layout is Layout.PLAIN else known
    problems, keys = stored.sanitised.problems, frozenset(stored.values)
    return Imported(source, stored.layout, stored.sanitised.settings, frozenset(said), problems, keys)
