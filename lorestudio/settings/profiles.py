"""Settings under names of the person's choice: one JSON file per profile, in the layout of the studio's own files."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final

import platformdirs

from lorestudio.settings.deeplore import DeepLoreSettings
from lorestudio.settings.files import SettingsError, json_bytes, parse_json, read_bytes, write_atomically
from lorestudio.settings.store import load, merged, new_document

if TYPE_CHECKING:
    from lorestudio.domain.javascript import Json

LONGEST_NAME: Final = 80
"""Characters of a profile's name."""

_ENDING: Final = ".json"
_ODD = re.compile(r"[^\w \-.()]+")
_RESERVED = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?", re.IGNORECASE)  # no file names in Windows


@dataclass(frozen=True, slots=True)
class SettingsProfile:
    """One profile. `settings` is None for a file that cannot be read; then `problems` says why."""

    name: str
    path: Path
    settings: DeepLoreSettings | None = field(default=None, repr=False)
    problems: tuple[str, ...] = ()


def default_folder() -> Path:
    """Where the profiles are, in the person's configuration folder."""
    return platformdirs.user_config_path("lorestudio", appauthor=False) / "settings"


class SettingsProfiles:
    """The profiles of a folder, by names that differ in more than capitals.

    Every method looks at the disk, so a window calls them from a worker. All raise SettingsError with a sentence for
    the person.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = folder or default_folder()

    def all(self) -> tuple[SettingsProfile, ...]:
        """Every profile by name, those that cannot be read too."""
        try:
            paths = sorted(self.folder.glob(f"*{_ENDING}"))
        except OSError as error:
            raise SettingsError(f"{self.folder} cannot be read ({error.strerror or error}).") from None
        return tuple(sorted((_read(path) for path in paths if path.is_file()), key=lambda each: each.name.casefold()))

    def find(self, name: str) -> SettingsProfile:
        """The profile of that name; one that cannot be read is an error too."""
        found = self._of(name)
        if found is None:
            names = ", ".join(f"“{each.name}”" for each in self.all())
            known = f"There are: {names}." if names else f"None is kept in {self.folder} yet."
            raise SettingsError(f"There is no settings profile “{name}”. {known}")
        if found.settings is None:
            raise SettingsError(found.problems[0])
        return found

    def save(self, name: str, settings: DeepLoreSettings, *, replace: bool = False) -> SettingsProfile:
        """Keep the settings under a name; with `replace`, an existing profile gets them and keeps what else it has."""
        name = checked_name(name)
        known = self._of(name)
        if known is not None and not replace:
            raise SettingsError(f"There is a settings profile “{known.name}” already. Choose another name.")
        if known is not None and known.settings is not None:
            document = merged(parse_json(read_bytes(known.path), known.path), settings, None, known.path)
            self._write(known.path, document)
            return SettingsProfile(known.name, known.path, settings)
        path = known.path if known is not None else self._free_path(name)
        self._write(path, {**new_document(settings), "name": name})
        return SettingsProfile(name, path, settings)

    def rename(self, old: str, new: str) -> SettingsProfile:
        """Give a profile another name; its file gets the name too."""
        new = checked_name(new)
        profile = self.find(old)
        taken = self._of(new)
        if taken is not None and taken.path != profile.path:
            raise SettingsError(f"There is a settings profile “{taken.name}” already. Choose another name.")
        document = parse_json(read_bytes(profile.path), profile.path)
        if not isinstance(document, Mapping) or "format" not in document:
            document = new_document(profile.settings or DeepLoreSettings())
        path = self._free_path(new, profile.path)
        self._write(path, {**document, "name": new})
        if path != profile.path:
            _remove(profile.path)
        return SettingsProfile(new, path, profile.settings, profile.problems)

    def delete(self, name: str) -> None:
        """Remove a profile with its file, also one that cannot be read."""
        profile = self._of(name)
        if profile is None:
            raise SettingsError(f"There is no settings profile “{name}”.")
        _remove(profile.path)

    def _of(self, name: str) -> SettingsProfile | None:
        return next((each for each in self.all() if each.name.casefold() == name.strip().casefold()), None)

    def _free_path(self, name: str, own: Path | None = None) -> Path:
        """A file for a profile: called as it is, as far as a file can be called so."""
        stem = _ODD.sub("_", name).strip(". ")[:LONGEST_NAME] or "profile"
        stem = f"_{stem}" if _RESERVED.fullmatch(stem) else stem
        path, number = self.folder / f"{stem}{_ENDING}", 1
        while path.exists() and path != own:
            number += 1
            path = self.folder / f"{stem} {number}{_ENDING}"
        return path

    def _write(self, path: Path, document: Mapping[str, Json]) -> None:
        try:
            write_atomically(path, json_bytes(dict(document)))
        except OSError as error:
            reason = error.strerror or str(error)
            raise SettingsError(f"{path} cannot be written ({reason}). Check folder and permissions.") from None


def checked_name(name: str) -> str:
    """The name without blanks around it. Raises SettingsError for one that cannot be used."""
    name = name.strip()
    if not name or len(name) > LONGEST_NAME or not name.isprintable():
        raise SettingsError(f"A settings profile needs a name of one line, at most {LONGEST_NAME} characters long.")
    return name


def _read(path: Path) -> SettingsProfile:
    try:
        loaded = load(path)
        document = parse_json(read_bytes(path), path)
    except SettingsError as error:
        return SettingsProfile(path.stem, path, None, (str(error),))
    name = document.get("name") if isinstance(document, Mapping) and "format" in document else None
    named = isinstance(name, str) and bool(name.strip())
    return SettingsProfile(str(name).strip() if named else path.stem, path, loaded.settings, loaded.problems)


def _remove(path: Path) -> None:
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        raise SettingsError(f"{path} cannot be removed ({error.strerror or error}).") from None
