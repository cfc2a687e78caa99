"""What a person set for the systems beside DeepLore: one JSON file for each, with what differs from its defaults."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from lorestudio.settings.declaration import Section
from lorestudio.settings.files import SettingsError, json_bytes, write_atomically
from lorestudio.settings.sections import dump_section, read_section
from lorestudio.studio.systems import KINDS, kind_of


@dataclass(frozen=True, slots=True)
class KnownSettings:
    """The settings of every system by its name, and sentences about files that cannot be used.

    A system whose file cannot be used has its defaults; the file stays as it is until the settings are changed.
    """

    values: Mapping[str, Section]
    problems: tuple[str, ...] = field(default=())


class SystemSettingsFiles:
    """The files in one folder, as in `hybrid.json`. Everything here waits for the disk."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def path(self, system: str) -> Path:
        """The file of a system. Raises InputError where there is no such system."""
        return self._folder / f"{kind_of(system).name}.json"

    def read(self) -> KnownSettings:
        """The settings of all systems; the defaults where there is no file."""
        values: dict[str, Section] = {}
        problems: list[str] = []
        for name, kind in KINDS.items():
            path = self.path(name)
            try:
                values[name] = read_section(path, kind.settings) if path.exists() else kind.settings()
            except SettingsError as error:
                values[name] = kind.settings()
                problems.append(f"{error} {kind.title} runs with its defaults.")
        return KnownSettings(values, tuple(problems))

    def write(self, system: str, settings: Section) -> Path:
        """Keep settings. Raises InputError and OSError; what was kept before is still there then.

        A file that could not be read is kept beside the new one, as in `hybrid.json.unreadable`.
        """
        path = self.path(system)
        if path.exists():
            try:
                read_section(path, type(settings))
            except SettingsError:
                write_atomically(path.with_name(f"{path.name}.unreadable"), path.read_bytes())
        write_atomically(path, json_bytes(dump_section(settings)))
        return path
