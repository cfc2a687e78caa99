"""What the studio itself remembers about a person's taste and work, beside DeepLore's settings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias, cast

import platformdirs
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, PlainSerializer, ValidationError

from lorestudio.settings.files import SettingsError, json_bytes, parse_json, read_bytes, write_atomically

if TYPE_CHECKING:
    from lorestudio.domain.javascript import Json

MAX_RECENT = 12
FILE_NAME = "studio.json"


def _shortened(value: object) -> object:
    """Keep the newest of a list of recent paths, each once."""
    if isinstance(value, list | tuple) and all(isinstance(item, str | Path) for item in value):
        return tuple(dict.fromkeys(map(Path, value)))[:MAX_RECENT]
    return value


def _as_text(path: Path | None) -> str | None:
    return None if path is None else str(path)


def _as_texts(paths: Iterable[Path]) -> list[str]:
    return [str(path) for path in paths]


RecentPaths: TypeAlias = Annotated[tuple[Path, ...], BeforeValidator(_shortened), PlainSerializer(_as_texts)]
OptionalPath: TypeAlias = Annotated[Path | None, PlainSerializer(_as_text)]


class AppSettings(BaseModel):
    """The studio's own settings. Recent paths stand newest first, at most twelve; keys of newer versions are kept."""

    model_config = ConfigDict(frozen=True, extra="allow")

    theme: Literal["system", "light", "dark"] = Field(
        default="system", title="Theme", description="Light or dark; system follows the desktop."
    )
    reduced_motion: bool = Field(
        default=False, strict=True, title="Less motion", description="Shows changes at once, without animation."
    )
    editor_font_size: int = Field(
        default=12,
        strict=True,
        ge=6,
        le=48,
        title="Editor font size",
        description="Size of the text in the editor, in points.",
    )
    recent_vaults: RecentPaths = Field(default=(), title="Recent vaults", description="Vault folders opened last.")
    recent_chats: RecentPaths = Field(default=(), title="Recent chats", description="Chat files opened last.")
    last_project: OptionalPath = Field(
        default=None, title="Last project", description="Opened again at the next start."
    )

    def with_recent_vault(self, path: Path) -> AppSettings:
        """Copy the settings with `path` as the newest vault."""
        return self.model_copy(update={"recent_vaults": _shortened((path, *self.recent_vaults))})

    def with_recent_chat(self, path: Path) -> AppSettings:
        """Copy the settings with `path` as the newest chat."""
        return self.model_copy(update={"recent_chats": _shortened((path, *self.recent_chats))})


@dataclass(frozen=True, slots=True)
class LoadedAppSettings:
    """Settings that can be worked with in any case, and what was wrong with the file, in sentences."""

    settings: AppSettings
    problems: tuple[str, ...] = ()


def default_path() -> Path:
    """Tell where the studio's settings are, in the person's configuration folder."""
    return platformdirs.user_config_path("lorestudio", appauthor=False) / FILE_NAME


def load_app_settings(path: Path | None = None) -> LoadedAppSettings:
    """Read the settings; a missing file gives the defaults.

    From a file with mistakes, only the keys at fault get their defaults, and a copy of the file is kept as `.bak`.
    """
    path = path or default_path()
    try:
        if not path.exists():
            return LoadedAppSettings(AppSettings())
        data = read_bytes(path)
    except (OSError, SettingsError) as error:
        return LoadedAppSettings(AppSettings(), (str(error),))
    try:
        document = parse_json(data, path)
    except SettingsError as error:
        return LoadedAppSettings(AppSettings(), (str(error), _keep_copy(path, data)))
    if not isinstance(document, Mapping):
        problem = f"{path}: the file does not hold an object of settings; the defaults are used."
        return LoadedAppSettings(AppSettings(), (problem, _keep_copy(path, data)))
    settings, problems = _without_bad_keys(document, path)
    return LoadedAppSettings(settings, (*problems, _keep_copy(path, data)) if problems else ())


def save_app_settings(settings: AppSettings, path: Path | None = None) -> None:
    """Write the settings in one step. Raises OSError."""
    write_atomically(path or default_path(), json_bytes(settings.model_dump()))


def _without_bad_keys(document: Mapping[str, Json], path: Path) -> tuple[AppSettings, tuple[str, ...]]:
    # JSON gives any keys, so the checker cannot know the arguments; pydantic checks them.
    values = cast("dict[str, Any]", dict(document))
    try:
        return AppSettings.model_validate(values), ()
    except ValidationError as error:
        bad = {str(detail["loc"][0]): detail["msg"] for detail in error.errors()}
    kept = {key: value for key, value in values.items() if key not in bad}
    problems = tuple(
        f'{path}, field "{key}": {message}. The default {_default(key)} is used.' for key, message in bad.items()
    )
    return AppSettings.model_validate(kept), problems


def _default(key: str) -> str:
    return repr(AppSettings.model_fields[key].default)


def _keep_copy(path: Path, data: bytes) -> str:
    """Lay the file's bytes beside it under a name that is free, and says so."""
    copy = path.with_name(f"{path.name}.bak")
    number = 1
    try:
        while copy.exists() and copy.read_bytes() != data:
            number += 1
            copy = path.with_name(f"{path.name}.{number}.bak")
        if not copy.exists():
            write_atomically(copy, data)
    except OSError as error:
        return f"The file as it was could not be kept as {copy} ({error.strerror or error})."
    return f"The file as it was is kept as {copy}."
