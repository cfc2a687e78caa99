"""Settings by what a person calls them: a file, the name of a profile, or the defaults."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from lorestudio.exchange.problems import InputError
from lorestudio.settings import DeepLoreSettings
from lorestudio.settings.profiles import SettingsProfiles
from lorestudio.settings.store import load

PROFILE: Final = "profile:"
"""Begins the name of a profile where a file may be named too."""

DEFAULTS: Final = "defaults"
"""Names DeepLore's own settings."""


def named_settings(source: str, profiles: SettingsProfiles | None = None) -> DeepLoreSettings:
    """The settings of a file, of `profile:NAME`, or with `defaults` DeepLore's own. Raises SettingsError."""
    if source == DEFAULTS:
        return DeepLoreSettings()
    if source.startswith(PROFILE):
        return (profiles or SettingsProfiles()).find(source.removeprefix(PROFILE)).settings or DeepLoreSettings()
    return load(Path(source).expanduser()).settings


def settings_path(settings: Path | None, profile: str | None, profiles: SettingsProfiles | None = None) -> Path | None:
    """The file to read settings from, where a file or a profile may be given. Raises InputError, SettingsError."""
    if profile is None:
        return settings
    if settings is not None:
        raise InputError("--profile", "settings come from --settings or from --profile, not from both.")
    return (profiles or SettingsProfiles()).find(profile).path
