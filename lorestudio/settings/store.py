"""DeepLore's settings in files: three layouts are read, and a file is changed only where the person changed it.

The layouts: a plain object of DeepLore's keys; SillyTavern's settings.json, with the keys under `extension_settings`,
`deeplore_enhanced`; and the studio's own file (spec: deeplore-ai-and-tools 4.1, 4.3).
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Final

from lorestudio.settings.deeplore import DeepLoreSettings, Sanitised, declarations, dump, sanitise, setting_value
from lorestudio.settings.files import SettingsError, json_bytes, parse_json, read_bytes, write_atomically

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lorestudio.domain.javascript import Json

FORMAT: Final = "lorestudio-deeplore-settings"
FORMAT_VERSION: Final = 1
SETTINGS_VERSION: Final = 3

_OWN = ("settings",)
_SILLYTAVERN = ("extension_settings", "deeplore_enhanced")


class Layout(StrEnum):
    """How a file holds settings."""

    PLAIN = "plain"
    """An object of DeepLore's keys, as a snippet is."""
    SILLYTAVERN = "sillytavern"
    """SillyTavern's settings.json."""
    OWN = "lorestudio"
    """The studio's own file: what differs from the defaults."""


_LAYOUTS: Final = {(): Layout.PLAIN, _OWN: Layout.OWN, _SILLYTAVERN: Layout.SILLYTAVERN}


@dataclass(frozen=True, slots=True)
class Stored:
    """Settings as a file holds them: its layout, the object of DeepLore's keys as written, and what that means."""

    layout: Layout
    values: Mapping[str, Json] = field(repr=False)
    sanitised: Sanitised = field(repr=False)


def load(path: Path) -> Sanitised:
    """Read the settings in the file at `path`. Raises SettingsError naming file and place."""
    return read_stored(read_bytes(path), path).sanitised


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
        return Stored(_LAYOUTS[keys], values, sanitise(values))
    except RecursionError:
        raise SettingsError(f"{path}: a setting holds too deeply nested lists. Use a backup of the file.") from None


def save(path: Path, settings: DeepLoreSettings, base: DeepLoreSettings | None = None) -> None:
    """Write `settings` into the file at `path` in one step; a missing file is made in the studio's own layout.

    In an existing file only the settings that differ from `base` change (what was loaded; without it, what the file
    says now), so values of odd types, unknown keys and changes made elsewhere in the meantime stay. Before a file of
    SillyTavern's is changed, a copy `<name>.<digest>.bak` is laid beside it; SillyTavern must not be running, it would
    overwrite the change. Raises SettingsError when the file cannot be understood or written.
    """
    try:
        if not path.exists():
            write_atomically(path, json_bytes(new_document(settings)))
            return
        data = read_bytes(path)
        document = parse_json(data, path)
        changed = merged(document, settings, base, path)
        if changed == document:
            return
        if _location(document, path) == _SILLYTAVERN:
            backup = path.with_name(f"{path.name}.{hashlib.sha256(data).hexdigest()[:12]}.bak")
            write_atomically(backup, data)
        write_atomically(path, json_bytes(changed))
    except OSError as error:
        reason = error.strerror or str(error)
        raise SettingsError(f"{path} cannot be written ({reason}). Check folder, permissions and free space.") from None


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
        declaration.alias: value
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
            advice = (
                "Start SillyTavern once with DeepLore installed, or give another file."
                if key == _SILLYTAVERN[1]
                else "Add it, or export the settings again."
            )
            raise SettingsError(f'{path}: the field "{name}" is missing, so there are no DeepLore settings. {advice}')
        objects.append(_object(objects[-1][key], name, path))
    return objects


def _object(value: Json, name: str, path: Path) -> Mapping[str, Json]:
    if isinstance(value, Mapping):
        return value
    kind = {list: "a list", str: "a text", bool: "true or false", type(None): "null"}.get(type(value), "a number")
    place = "the file holds" if name == "the file" else f'the field "{name}" holds'
    raise SettingsError(
        f"{path}: {place} {kind} where an object of settings belongs. "
        'Expected something like {"scanDepth": 4, "maxEntries": 10}.'
    )
