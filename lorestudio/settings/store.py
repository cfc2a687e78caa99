"""DeepLore's settings in files and in profiles of their own: a file is changed only where the person changed it.

Three layouts are read: a plain object of DeepLore's keys; SillyTavern's settings.json, with the keys under
`extension_settings`, `deeplore_enhanced`; and the studio's own, which profiles have (rules: deeplore-tools 4.1, 4.3).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Final

from lorestudio.domain.javascript import Json
from lorestudio.domain.json_text import kind_words
from lorestudio.domain.records import Terse
from lorestudio.settings.deeplore import (
    CARRIED,
    DeepLoreSettings,
    Sanitised,
    declarations,
    dump,
    in_file,
    sanitise,
    setting_value,
)
from lorestudio.settings.files import (
    NamedFile,
    NamedFiles,
    SettingsError,
    checked_name,
    parse_json,
    read_bytes,
    write_document,
)

FORMAT: Final = "lorestudio-deeplore-settings"
FORMAT_VERSION: Final = 1
SETTINGS_VERSION: Final = 3

_OWN = ("settings",)
_SILLYTAVERN = ("extension_settings", "deeplore_enhanced")

OF_SILLYTAVERN: Final = frozenset(
    {"power_user", "main_api", "user_avatar", "username", "firstRun", "amount_gen", "kai_settings"}
)
"""Some top-level fields of SillyTavern's settings; a file without any of them is another program's."""


class Layout(StrEnum):
    """How a file holds settings."""

    PLAIN = "plain"
    """An object of DeepLore's keys, as a snippet is."""
    SILLYTAVERN = "sillytavern"
    """SillyTavern's settings.json."""
    OWN = "lorestudio"
    """The studio's own file: what differs from the defaults."""


_LAYOUTS: Final = {(): Layout.PLAIN, _OWN: Layout.OWN, _SILLYTAVERN: Layout.SILLYTAVERN}


class Stored(Terse, frozen=True):
    """Settings as a file holds them: its layout, the object of DeepLore's keys as written, and what that means."""

    unprinted = ("values", "sanitised")

    layout: Layout
    values: Mapping[str, Json]
    sanitised: Sanitised


def load(path: Path, rules: str = "") -> Sanitised:
    """Read the settings in the file at `path`, where they are given by these rules. Raises SettingsError naming file
    and place.
    """
    stored = read_stored(read_bytes(path), path)
    return sanitise({**stored.values, "rules": rules}) if rules else stored.sanitised


def read_stored(data: bytes, path: Path) -> Stored:
    """Read settings from the bytes of a file of any layout; `path` is for messages. Raises SettingsError."""
    document = parse_json(data, path)
    keys = _location(document, path)
    top, *inner = _objects(document, keys, path)
    values = inner[-1] if inner else top
    if keys == _OWN:
        written_for = top.get("deeplore_settings_version")
        if isinstance(written_for, int) and written_for < SETTINGS_VERSION and "settingsVersion" not in values:
            values = {**values, "settingsVersion": written_for}
    try:
        read = sanitise(values)
    except RecursionError:
        raise SettingsError(f"{path}: a setting holds too deeply nested lists. Use a backup of the file.") from None
    strange, hosts = read.unknown.keys() - CARRIED, values.keys() & {*OF_SILLYTAVERN, *_SILLYTAVERN}
    if strange == values.keys() and not hosts and any(isinstance(value, list | Mapping) for value in values.values()):
        raise SettingsError(  # a lorebook, a card, a preset
            f"{path}: nothing in this file is a setting of DeepLore's. Give a file of its settings, or SillyTavern's "
            "settings.json."
        )
    return Stored(_LAYOUTS[keys], values, read)


def new_document(settings: DeepLoreSettings) -> dict[str, Json]:
    """Make the studio's own file for `settings`: what differs from the defaults."""
    return {
        "format": FORMAT,
        "version": FORMAT_VERSION,
        "deeplore_settings_version": SETTINGS_VERSION,
        "settings": dump(settings),
    }


def merged(
    document: Json, settings: DeepLoreSettings, base: DeepLoreSettings | None = None, path: Path | None = None
) -> dict[str, Json]:
    """Copy a settings document of any layout with the changes from `base` to `settings` put in.

    Raises SettingsError when the document is none of the layouts; `path` is for its message.
    """
    where = path or Path("the settings")
    keys = _location(document, where)
    objects = _objects(document, keys, where)
    before = base or sanitise(objects[-1]).settings
    changes: dict[str, Json] = {
        declaration.alias: in_file(declaration, value)
        for declaration in declarations()
        if (value := setting_value(settings, declaration)) != setting_value(before, declaration)
    }
    result: dict[str, Json] = {**objects[-1], **changes}
    for key, outer in zip(reversed(keys), reversed(objects[:-1]), strict=True):
        result = {**outer, key: result}
    return result


def _location(document: Json, path: Path) -> tuple[str, ...]:
    """Find the keys that lead to DeepLore's settings in `document`; empty when they are at the top."""
    top = _object(document, "the file", path)
    if "format" in top:
        if top["format"] != FORMAT:
            raise SettingsError(
                f'{path}, field "format": {top["format"]!r} is not a settings file. Expected "{FORMAT}", '
                "a settings.json of SillyTavern, or an object of DeepLore's settings."
            )
        version = top.get("version", FORMAT_VERSION)
        if not isinstance(version, int) or isinstance(version, bool) or version > FORMAT_VERSION:
            raise SettingsError(
                f'{path}, field "version": {version!r} is not known here; this version reads up to {FORMAT_VERSION}. '
                "Update lorestudio, or export the settings again."
            )
        return _OWN
    return _SILLYTAVERN if _SILLYTAVERN[0] in top else ()


def _objects(document: Json, keys: Sequence[str], path: Path) -> list[Mapping[str, Json]]:
    """Follow `keys` down into `document`: the objects met on the way, the outermost first."""
    objects = [_object(document, "the file", path)]
    for depth, key in enumerate(keys, start=1):
        name = ".".join(keys[:depth])
        if key not in objects[-1]:
            advice = "Add it, or export the settings again."
            if key == _SILLYTAVERN[1]:
                advice = "Start SillyTavern once with DeepLore installed, or give another file."
            raise SettingsError(f'{path}: the field "{name}" is missing, so there are no DeepLore settings. {advice}')
        objects.append(_object(objects[-1][key], name, path))
    return objects


def _object(value: Json, name: str, path: Path) -> Mapping[str, Json]:
    if isinstance(value, Mapping):
        return value
    place = "the file holds" if name == "the file" else f'the field "{name}" holds'
    raise SettingsError(
        f"{path}: {place} {kind_words(value)} where an object of settings belongs. "
        'Expected something like {"scanDepth": 4, "maxEntries": 10}.'
    )


class SettingsProfile(NamedFile, frozen=True):
    """One profile. `settings` is None for a file that cannot be read; then `problems` says why."""

    unprinted = ("settings",)

    settings: DeepLoreSettings | None = None
    problems: tuple[str, ...] = ()


_PROFILE: Final = "settings profile"


class SettingsProfiles(NamedFiles[SettingsProfile]):
    """The profiles of a folder."""

    def __init__(self, folder: Path | None = None) -> None:
        super().__init__(_PROFILE, _read, "settings", folder)

    def find(self, name: str) -> SettingsProfile:
        """The profile of that name; one that cannot be read is an error too."""
        found = self.known(name)
        if found.settings is None:
            raise SettingsError(found.problems[0])
        return found

    def save(self, name: str, settings: DeepLoreSettings, *, replace: bool = False) -> SettingsProfile:
        """Keep the settings under a name; with `replace`, an existing profile gets them and keeps what else it has."""
        name = checked_name(name, _PROFILE)
        known, path = self._place(name, replace=replace)
        if known is not None and known.settings is not None:
            name = known.name
            write_document(path, merged(parse_json(read_bytes(path), path), settings, None, path))
        else:
            write_document(path, {**new_document(settings), "name": name})
        return SettingsProfile(name, path, settings)

    def rename(self, old: str, new: str) -> SettingsProfile:
        """Give a profile another name; its file gets the name too."""
        new = checked_name(new, _PROFILE)
        profile = self.find(old)
        document = parse_json(read_bytes(profile.path), profile.path)
        if not isinstance(document, Mapping) or "format" not in document:
            document = new_document(profile.settings or DeepLoreSettings())
        path = self._move(profile, new, {**document, "name": new})
        return SettingsProfile(new, path, profile.settings, profile.problems)


def _read(path: Path) -> SettingsProfile:
    try:
        loaded = load(path)
        document = parse_json(read_bytes(path), path)
    except SettingsError as error:
        return SettingsProfile(path.stem, path, None, (str(error),))
    name = document.get("name") if isinstance(document, Mapping) and "format" in document else None
    is_named = isinstance(name, str) and bool(name.strip())
    return SettingsProfile(str(name).strip() if is_named else path.stem, path, loaded.settings, loaded.problems)
