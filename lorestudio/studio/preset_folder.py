"""Where scenario presets are kept: a folder in the person's configuration, one file each."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

import platformdirs

from lorestudio.exchange.problems import InputError
from lorestudio.settings.files import SettingsError, json_bytes, write_atomically
from lorestudio.studio.preset_format import LONGEST_NAME, preset_json, read_preset
from lorestudio.studio.presets import Preset

SUFFIX: Final = ".json"

_UNSAFE = re.compile(r'[\x00-\x1f<>:"/\\|?*]+')
_RESERVED: Final = frozenset(
    ["con", "prn", "aux", "nul", *(f"{kind}{n}" for kind in ("com", "lpt") for n in range(10))]
)
"""Names that Windows keeps for devices."""


@dataclass(frozen=True, slots=True)
class BrokenPreset:
    """A file of the folder that is no preset, with what is wrong in it."""

    path: Path
    problem: str


@dataclass(frozen=True, slots=True)
class KnownPresets:
    """What lies in the folder, by name; equal names of two files stay two."""

    presets: tuple[tuple[Path, Preset], ...] = ()
    broken: tuple[BrokenPreset, ...] = field(default=())

    def find(self, name: str) -> tuple[Path, Preset] | None:
        """The preset of that name, capitals or not."""
        return next((pair for pair in self.presets if pair[1].name.lower() == name.strip().lower()), None)

    @property
    def names(self) -> tuple[str, ...]:
        """The names in the order of the list."""
        return tuple(preset.name for _, preset in self.presets)


def default_folder() -> Path:
    """Where presets are kept: in the person's configuration folder."""
    return platformdirs.user_config_path("lorestudio", appauthor=False) / "presets"


class PresetFolder:
    """The folder with the presets. All methods wait for the disk, so a window calls them from a worker."""

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = default_folder() if folder is None else folder

    def load(self) -> KnownPresets:
        """All presets by name, and files that are none with what is wrong in them. Raises InputError for a folder
        that cannot be read; a folder that is not there has no presets.
        """
        try:
            paths = sorted(path for path in self.folder.iterdir() if path.suffix.lower() == SUFFIX)
        except FileNotFoundError:
            return KnownPresets()
        except OSError as error:
            raise InputError(self.folder, f"the folder cannot be read: {error.strerror or error}.") from error
        found: list[tuple[Path, Preset]] = []
        broken: list[BrokenPreset] = []
        for path in paths:
            try:
                found.append((path, read_preset(path)))
            except InputError as error:
                broken.append(BrokenPreset(path, str(error)))
        found.sort(key=lambda pair: (pair[1].name.lower(), pair[0].name))
        return KnownPresets(tuple(found), tuple(broken))

    def find(self, name: str) -> Preset:
        """The preset of that name. Raises InputError naming those that there are."""
        known = self.load()
        pair = known.find(name)
        if pair is not None:
            return pair[1]
        wrong = next((each for each in known.broken if each.path.stem.lower() == name.strip().lower()), None)
        if wrong is not None:
            raise InputError("--preset", wrong.problem)
        there = f"There are: {', '.join(known.names)}" if known.names else "There are none yet"
        raise InputError("--preset", f"no preset is called “{name}”. {there} (in {self.folder}).")

    def save(self, preset: Preset, *, replacing: bool = False) -> Path:
        """Write a preset, into a file of its name or that of the same name where it is `replacing` one.

        Raises InputError for a name that cannot be used, one that is taken, and where the file cannot be written.
        """
        name = checked_name(preset.name)
        known = self.load().find(name)
        if known is not None and not replacing:
            raise InputError("name", f"there is a preset called “{known[1].name}” already.")
        path = known[0] if known is not None else self._free(name)
        return self._write(path, replace(preset, name=name))

    def rename(self, name: str, new: str) -> Path:
        """Give a preset another name, and its file with it. Raises InputError as `save`, and where it is gone."""
        wanted = checked_name(new)
        known = self.load()
        pair = known.find(name)
        if pair is None:
            raise InputError("name", f"there is no preset called “{name}” any more.")
        taken = known.find(wanted)
        if taken is not None and taken[0] != pair[0]:
            raise InputError("name", f"there is a preset called “{taken[1].name}” already.")
        path, preset = pair
        target = path if file_name(wanted).lower() == path.name.lower() else self._free(wanted)
        self._write(target, replace(preset, name=wanted))
        if target != path:
            _remove(path)
        return target

    def delete(self, name: str) -> None:
        """Delete a preset's file. Raises InputError where it cannot be deleted; one that is gone already is none."""
        pair = self.load().find(name)
        if pair is not None:
            _remove(pair[0])

    def _free(self, name: str) -> Path:
        path = self.folder / file_name(name)
        number = 2
        while path.exists():
            path = self.folder / f"{Path(file_name(name)).stem} {number}{SUFFIX}"
            number += 1
        return path

    def _write(self, path: Path, preset: Preset) -> Path:
        try:
            write_atomically(path, json_bytes(preset_json(preset)))
        except (OSError, SettingsError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            raise InputError(path, f"the preset cannot be written: {reason}.") from error
        return path


def _remove(path: Path) -> None:
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        raise InputError(path, f"the file cannot be deleted: {error.strerror or error}.") from error


def checked_name(name: str) -> str:
    """A name for a preset, trimmed. Raises InputError where it is empty or too long."""
    trimmed = " ".join(name.split())
    if not trimmed:
        raise InputError("name", "a preset needs a name.")
    if len(trimmed) > LONGEST_NAME:
        raise InputError("name", f"the name has {len(trimmed)} characters; {LONGEST_NAME} are the most.")
    return trimmed


def file_name(name: str) -> str:
    """What the file of a preset is called: its name without what file systems do not take."""
    safe = _UNSAFE.sub(" ", name).strip(" .") or "preset"
    return f"{safe} preset{SUFFIX}" if safe.lower() in _RESERVED else f"{safe}{SUFFIX}"
