"""Settings as a person keeps and names them, what speaks against them, and three ways to select entries.

Each system beside DeepLore has a JSON file with what differs from its defaults. A person names a file, a profile, or
the defaults. Against settings speak checks, what their file says oddly, and what a run warned about. DeepLore keeps the
three ways to select in two settings.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Final

from msgspec import Struct, field

from lorestudio.domain.entry import VaultIndex
from lorestudio.domain.javascript import Json
from lorestudio.domain.records import replace
from lorestudio.exchange.problems import InputError
from lorestudio.exchange.settings_files import Imported, import_file, import_section, import_text
from lorestudio.settings.declaration import Section, declared
from lorestudio.settings.deeplore import DeepLoreSettings, declarations, dump, sanitise
from lorestudio.settings.files import SettingsError, json_bytes, read_whole, write_atomically
from lorestudio.settings.sections import dump_section, read_section, section_in
from lorestudio.settings.store import Layout, SettingsProfiles
from lorestudio.studio.project.project import Project, load_settings
from lorestudio.systems.base import SystemKind
from lorestudio.systems.registry import KINDS, MAIN, in_project, known_name
from lorestudio.trace.model import Trace
from lorestudio.vault.lint.model import Severity, check_of
from lorestudio.vault.lint.settings import settings_checks

_NOT_HERE: Final = frozenset({"S10"})
"""Checks that concern the extension's network traffic only."""


def imported_from(kind: SystemKind, path: Path, text: str | None = None) -> Imported:
    """Settings for a system out of a file, or out of a text that `path` names in messages. Raises SettingsError."""
    if kind.in_project:
        return _only_main(import_file(path) if text is None else import_text(text, str(path)))
    if text is None:
        return import_section(str(path), kind.read_file(path))
    return import_section(str(path), section_in(text.encode("utf-8", "surrogatepass"), path, kind.settings))


def _only_main(imported: Imported) -> Imported:
    """The import itself. Raises SettingsError where its keys are those of another system than the main one."""
    if imported.layout is Layout.PLAIN and not imported.said:
        others = [kind for kind in KINDS.values() if not kind.in_project and _has(kind.settings, imported.keys)]
        if imported.keys and others:
            titles = " or ".join(kind.title for kind in others)
            raise SettingsError(
                f"{imported.source}: these are settings of {titles}, not of {MAIN.title}. Give the file to a run with "
                f"--system {others[0].name} --system-settings FILE, or choose the system in the window and import them "
                "there."
            )
    return imported


def _has(kind: type[Section], keys: frozenset[str]) -> bool:
    return keys <= {each.alias for each in declared(kind)}


class SettingWarning(Struct, frozen=True):
    """One sentence against a setting. `alias` is DeepLore's key, "" where it concerns several or none."""

    alias: str
    text: str
    advice: str = ""
    is_error: bool = False


def setting_warnings(
    settings: DeepLoreSettings,
    index: VaultIndex,
    problems: Sequence[str] = (),
    trace: Trace | None = None,
    *,
    exact: bool = False,
) -> tuple[SettingWarning, ...]:
    """All warnings. Of `problems`, those count that are about a setting, as from reading a file: `scanDepth: ...`.

    The `trace` of a system that has settings of its own says nothing of these.
    """
    found = [SettingWarning("", text) for text in (trace.warnings if trace and in_project(trace.system) else ())]
    for hit in settings_checks(settings, index, None, "" if exact else "≈ "):
        if hit.code not in _NOT_HERE:
            check = check_of(hit.code)
            found.append(SettingWarning(hit.field, hit.message, check.advice, check.severity is Severity.ERROR))
    known = {each.alias for each in declarations()}
    for problem in problems:
        alias, colon, text = problem.partition(": ")
        if colon and alias in known:
            found.append(SettingWarning(alias, text))
    return tuple(found)


PROFILE: Final = "profile:"
"""Begins the name of a profile where a file may be named too."""

DEFAULTS: Final = "defaults"
"""Names DeepLore's own settings."""


def named_settings(source: str) -> DeepLoreSettings:
    """The settings of a file, of `profile:NAME`, or with `defaults` DeepLore's own. Raises SettingsError."""
    if source == DEFAULTS:
        return DeepLoreSettings()
    if source.startswith(PROFILE):
        return SettingsProfiles().find(source.removeprefix(PROFILE)).settings or DeepLoreSettings()
    return load_settings(Path(source).expanduser()).settings


def settings_path(settings: Path | None, profile: str | None) -> Path | None:
    """The file to read settings from, where a file or a profile may be given. Raises InputError, SettingsError."""
    if profile is None:
        return settings
    if settings is not None:
        raise InputError("--profile", "settings come from --settings or from --profile, not from both.")
    return SettingsProfiles().find(profile).path


class KnownSettings(Struct, frozen=True):
    """The settings of systems that have a file, by their names, and sentences about files and installed systems that
    cannot be used.

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
        return self._folder / f"{known_name(system)}.json"

    def read(self) -> KnownSettings:
        """The settings of all systems that have a file."""
        values: dict[str, Section] = {}
        problems = list(KINDS.problems)
        for name in KINDS:
            path = self.path(name)
            if path.exists():
                try:
                    values[name] = read_section(path, KINDS[name].settings)
                except SettingsError as error:
                    values[name] = KINDS[name].settings()
                    problems.append(f"{error} {KINDS.title(name)} runs with its defaults.")
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
                write_atomically(path.with_name(f"{path.name}.unreadable"), read_whole(path))
        write_atomically(path, json_bytes(dump_section(settings)))
        return path


class Mode(StrEnum):
    """How entries are selected; the values of the last two are DeepLore's own."""

    KEYWORDS = "keywords-only"
    TWO_STAGE = "two-stage"
    AI_ONLY = "ai-only"

    @property
    def asks_model(self) -> bool:
        """Whether a model takes part in the selection."""
        return self is not Mode.KEYWORDS


_ASKING: Final = frozenset({Mode.TWO_STAGE, Mode.AI_ONLY})


def mode_of(settings: DeepLoreSettings) -> Mode:
    """The mode that the settings choose; one that is not known selects by keywords (as the engine does)."""
    known = settings.ai_search_enabled and settings.ai_search_mode in _ASKING
    return Mode(settings.ai_search_mode) if known else Mode.KEYWORDS


def with_mode(project: Project, mode: Mode) -> Project:
    """The project with another way to select, and with everything else as it was."""
    if mode_of(project.settings) is mode:
        return project
    values: dict[str, Json] = {"aiSearchEnabled": mode.asks_model}
    if mode.asks_model:
        values["aiSearchMode"] = mode.value
    return replace(project, settings=sanitise({**dump(project.settings), **values}).settings)
