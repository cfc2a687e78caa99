"""Commands for settings: what there is, what differs, and carrying it to where it runs."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated, get_args

from rich.table import Table
from rich.text import Text

from lorestudio.cli.command import OutputFile, command, command_group
from lorestudio.cli.options import DoItOption, JsonOption, ProfileOption, SettingsOfSystem, SettingsOption
from lorestudio.cli.output import as_bytes, ask_first, echo, even_unread, json_bytes, print_json, say, say_all, shown
from lorestudio.cli.screen import Screen, filled, fixed, fold, listing, print_lines, table
from lorestudio.domain.records import picked
from lorestudio.domain.texts import meant
from lorestudio.exchange import json_file
from lorestudio.exchange.problems import InputError
from lorestudio.exchange.settings_files import (
    ADVICE,
    Carrier,
    Merge,
    by_default,
    changes_list,
    never_carried,
    taken_over,
    unknown_keys,
)
from lorestudio.settings.declaration import Declaration, DeepLoreStage, Value, matching, setting_groups
from lorestudio.settings.deeplore import DeepLoreSettings, declarations, setting_value
from lorestudio.settings.files import of_name
from lorestudio.settings.sections import SettingChange, assigned, differences, value_text
from lorestudio.settings.store import SettingsProfile, SettingsProfiles
from lorestudio.studio.project.files import write_bytes
from lorestudio.studio.project.settings import PROFILE, imported_from, named_settings, settings_path
from lorestudio.systems.registry import MAIN, kind_of
from lorestudio.trace.wording import controls_escaped


def declaration_json(declaration: Declaration, value: Value) -> dict[str, object]:
    """Everything that is declared about a setting, and its value."""
    return {
        **picked(declaration, "title", "help", "default", "low", "high", "unit", "local"),
        "key": declaration.alias,
        "section": declaration.group,
        "value": value,
        "choices": {str(choice): text for choice, text in declaration.choices.items()},
        "stages": declaration.affects,
    }


def setting_table(found: Sequence[Declaration], settings: DeepLoreSettings) -> Table:
    """One row a setting, by section; an asterisk marks what differs from the default, which then stands below."""
    rows = table(fixed("setting"), *map(fold, ("value", "range", "stages")), caption="* not the default")
    for group in setting_groups(found):
        rows.add_row(Text(group.title, style="bold"))
        for each in group.settings:
            value, shown = setting_value(settings, each), value_text(each, each.default)
            if value != each.default:
                shown = f"* {value_text(each, value)}\n  default: {shown}"
            cells = f"{each.alias}\n  {each.title}", shown, each.allowed, ", ".join(each.affects)
            rows.add_row(*map(Text, cells))
    return rows


def change_table(changes: Sequence[SettingChange], before: str, after: str) -> Table:
    """Both values of every setting that differs, and the stages that it changes."""

    def row(each: SettingChange) -> tuple[str, ...]:
        declaration = each.declaration
        values = value_text(declaration, each.before), value_text(declaration, each.after)
        return declaration.alias, declaration.label, *values, ", ".join(declaration.affects)

    return filled(
        table(fixed("key"), *map(fold, ("setting", _short(before), _short(after), "stages"))), map(row, changes)
    )


def _short(source: str) -> str:
    """A file's name without its folders: a heading must not take the room of what is below it."""
    return source if source.startswith(PROFILE) else Path(source).name


def profile_table(profiles: Sequence[SettingsProfile]) -> Table:
    """One row a profile: how much it changes, and where it is kept."""
    known = ((each, "cannot be read" if each.settings is None else len(_changed(each.settings))) for each in profiles)
    rows = ((each.name, str(amount), str(each.path)) for each, amount in known)
    return filled(listing(*map(fold, ("name", "settings changed", "file"))), rows)


def profile_json(profile: SettingsProfile) -> dict[str, object]:
    """A profile as JSON."""
    changed = [] if profile.settings is None else [each.declaration.alias for each in _changed(profile.settings)]
    readable = profile.settings is not None
    return {**picked(profile, "name", "problems"), "file": str(profile.path), "readable": readable, "changed": changed}


def _changed(settings: DeepLoreSettings) -> tuple[SettingChange, ...]:
    return differences(DeepLoreSettings(), settings)


def details(declaration: Declaration, value: Value) -> str:
    """All about a setting in lines."""
    lines = [f"{declaration.alias}: {declaration.label}", f"  {declaration.help}"]
    same = value == declaration.default
    lines.append(f"  Value: {value_text(declaration, value)}" + (" (the default)" if same else ""))
    if not same:
        lines.append(f"  Default: {value_text(declaration, declaration.default)}")
    if declaration.low is not None:
        lines.append(f"  Range: {declaration.allowed}")
    lines += [f"  {choice}: {text}" for choice, text in declaration.choices.items()]
    lines.append(f"  Stages: {', '.join(declaration.affects) or 'none; it changes nothing in a run'}")
    if declaration.local:
        lines.append("  Belongs to one computer: exports leave it out unless asked.")
    return "\n".join(lines)


settings_app = command_group("DeepLore's settings: what there is, what differs, and carrying it to where it runs.")

KeysOption = Annotated[list[str] | None, "--key", "KEY", "Only this setting, by DeepLore's key. May be repeated."]


class Form(StrEnum):
    """How exported settings are written where no file of SillyTavern's is given."""

    SNIPPET = "snippet"
    FILE = "file"
    LIST = "list"


@command(settings_app, "list")
def list_settings(
    words: Annotated[list[str] | None, "<WORD...>", "Only settings with these words."] = None,
    *,
    settings: SettingsOption = None,
    profile: ProfileOption = None,
    stage: Annotated[str | None, "Only settings that change this stage of a run."] = None,
    changed: Annotated[bool, "Only those that differ from the default."] = False,
    as_json: JsonOption = False,
) -> None:
    """List settings with their values, defaults, ranges and the stages they change."""
    if stage is not None and stage not in (stages := get_args(DeepLoreStage)):
        raise InputError("--stage", f"there is no stage “{stage}”. There are: {', '.join(stages)}.")
    chosen = _chosen(settings, profile)
    found = [each for each in matching(" ".join(words or ()), declarations()) if stage in (None, *each.affects)]
    if changed:
        found = [each for each in found if setting_value(chosen, each) != each.default]
    if as_json:
        print_json([declaration_json(each, setting_value(chosen, each)) for each in found], 2)
    elif found:
        Screen().print(setting_table(found, chosen))
    else:
        say(f"no setting fits.{' With fewer words there may be some.' if words else ''}")


@command(settings_app)
def show(
    keys: Annotated[list[str], "<KEY...>", "DeepLore's keys, such as scanDepth."],
    *,
    settings: SettingsOption = None,
    profile: ProfileOption = None,
    as_json: JsonOption = False,
) -> None:
    """Say all about a setting: what it does, its range, its choices, the stages it changes, and its value."""
    chosen = _chosen(settings, profile)
    found = [_declared(key) for key in keys]
    if as_json:
        print_json([declaration_json(each, setting_value(chosen, each)) for each in found], 2)
    else:
        print_lines("\n\n".join(details(each, setting_value(chosen, each)) for each in found).split("\n"))


@command(settings_app)
def diff(
    before: Annotated[str, "<BEFORE>", "A file, profile:NAME, or defaults."],
    after: Annotated[str, "<AFTER>", "A file, profile:NAME, or defaults."],
    *,
    as_json: JsonOption = False,
) -> None:
    """Say which settings differ."""
    changes = differences(named_settings(before), named_settings(after))
    _print_changes(changes, before, after, as_json=as_json)


@command(settings_app, "profiles")
def list_profiles(as_json: JsonOption = False) -> None:
    """List the settings profiles. They are made in the window, or with “save” and “import”."""
    known = SettingsProfiles()
    found = known.all()
    if as_json:
        print_json([profile_json(each) for each in found], 2)
    elif found:
        Screen().print(profile_table(found))
    else:
        echo(f"There is no settings profile yet. They are kept in {known.folder}.")
    say_all(problem for each in found for problem in each.problems)


ProfileName = Annotated[str, "<NAME>", "The name of the settings profile."]


@command(settings_app)
def save(
    name: ProfileName,
    *,
    settings: SettingsOption = None,
    profile: ProfileOption = None,
    assignments: Annotated[list[str] | None, "--set", "NAME=VALUE", "A setting of it. May be repeated."] = None,
    replace: Annotated[bool, "Put them into the profile of this name where there is one."] = False,
) -> None:
    """Keep settings under a name: those of a file or another profile, or the defaults, with what --set says."""
    chosen = _chosen(settings, profile)
    kept = SettingsProfiles().save(name, assigned(assignments or (), type(chosen), chosen), replace=replace)
    _say_profile(kept.name)


@command(settings_app)
def rename(name: ProfileName, new: Annotated[str, "<NEW>", "Its new name."]) -> None:
    """Give a settings profile another name."""
    kept = SettingsProfiles().rename(name, new)
    say(f"to use the settings profile: --profile {shlex.quote(kept.name)}")


@command(settings_app)
def remove(name: ProfileName, *, yes: DoItOption = False) -> None:
    """Delete a settings profile."""
    profiles = SettingsProfiles()
    path = profiles.known(name).path
    ask_first(f"Delete {path}?", yes=yes, nothing="nothing was deleted")
    profiles.delete(name)
    say(f"{path} was deleted.")


def _say_profile(name: str) -> None:
    say(f"the profile “{name}” holds them now. To use it: --profile {shlex.quote(name)}")


@command(settings_app, "export")
def export_settings(
    by: SettingsOfSystem,
    settings: SettingsOption = None,
    profile: ProfileOption = None,
    *,
    to: Annotated[Path | None, "SillyTavern's settings.json to put them into."] = None,
    form: Annotated[
        Form, "--as", "Without --to: snippet (JSON), file (for --settings), or list (for people)."
    ] = Form.SNIPPET,
    output: Annotated[
        Path | None, "-o", "--output", "Write the text to this new file.", OutputFile((".json", ".txt"), printed=True)
    ] = None,
    keys: KeysOption = None,
    every: Annotated[
        bool, "--all", "Also what belongs to one computer: connections, models, the graph's look."
    ] = False,
    dry_run: Annotated[bool, "Only say what would change."] = False,
    yes: DoItOption = False,
    as_json: JsonOption = False,
) -> None:
    """Carry settings to where they run: into SillyTavern's settings.json, or as text.

    Only settings that differ are written, everything else in the file stays as it is, and a copy of it is laid beside
    it.
    """
    kind = MAIN if by.system is None else kind_of(by.system)
    if not kind.in_project:
        if settings is not None or profile is not None:
            given = "--settings" if settings is not None else "--profile"
            told = f"it holds settings of {MAIN.title}. Give those of {kind.title} by --system-settings or --set alone."
            raise InputError(given, told)
        carrier = kind.carrier(kind.read(by.system_settings, by.assignments or ()))
    elif settings is None and profile is None and not by.assignments:
        raise InputError("--settings", "say what to export: --settings FILE, --profile NAME, or --set NAME=VALUE.")
    else:
        carrier = kind.carrier(by.over(_chosen(settings, profile)))
        _check_keys(keys)
    if to is None:
        _export_text(carrier, form, output, _wanted(carrier.differing(), keys, every=every))
        return
    if carrier.not_there:
        raise InputError("--to", f"{carrier.not_there} Write one with --as file and --output.")
    if output is not None:
        raise InputError("--output", "--to writes into SillyTavern's file and --output makes a new one. Choose one.")
    to = to.expanduser()
    wanted = _wanted(carrier.candidates(to), keys, every=every)
    values, remarks = carrier.prepared({each.declaration.alias for each in wanted})
    merge = carrier.plan(to, values)
    with even_unread():
        _print_merge(merge, as_json=as_json)
    say_all((*remarks, *merge.remarks))
    if not merge.changes or dry_run:
        return
    say(ADVICE)
    ask_first(f"Write these {len(merge.changes)} into {to}?", yes=yes)
    copy = json_file.carry_out(merge.file)
    say(f"{to} was written. The file as it was: {copy}")


@command(settings_app, "import")
def import_settings(
    file: Annotated[Path, "<FILE>", "SillyTavern's settings.json, a snippet, or our own file."],
    *,
    profile: Annotated[str, "The settings profile that takes them."],
    keys: KeysOption = None,
    replace: Annotated[bool, "Put them into the profile of this name where there is one."] = False,
    as_json: JsonOption = False,
) -> None:
    """Take settings over from a file into a settings profile."""
    _check_keys(keys)
    imported = imported_from(MAIN, file.expanduser())
    profiles = SettingsProfiles()
    known = of_name(profiles.all(), profile)
    if known is not None and not replace:
        told = f"there is a settings profile “{known.name}” already. Add --replace to put them into it."
        raise InputError("--profile", told)
    current = known.settings if replace and known is not None and known.settings is not None else DeepLoreSettings()
    changes = [each for each in imported.changes(current) if keys is None or each.declaration.alias in keys]
    made = taken_over(current, imported, {each.declaration.alias for each in changes})
    profiles.save(profile, made, replace=replace)
    say_all(imported.problems)
    _print_changes(changes, "before", str(file), as_json=as_json)
    _say_profile(profile.strip())


def _chosen(settings: Path | None, profile: str | None) -> DeepLoreSettings:
    path = settings_path(settings, profile)
    return named_settings(str(path)) if path is not None else DeepLoreSettings()


def _declared(key: str) -> Declaration:
    found = next((each for each in declarations() if key in (each.alias, each.name)), None)
    if found is None:
        raise _no_setting("KEY", key)
    return found


def _check_keys(keys: Sequence[str] | None) -> None:
    unknown = unknown_keys(keys or ())
    if unknown:
        raise _no_setting("--key", unknown[0])


def _no_setting(option: str, key: str) -> InputError:
    near = ", ".join(each.alias for each in matching(key, declarations())[:5])
    hint = f" Did you mean one of {near}?" if near else meant(key, (each.alias for each in declarations()))
    return InputError(option, f"there is no setting “{key}”.{hint or ' To see all: lorestudio settings list'}")


def _wanted(changes: Sequence[SettingChange], keys: Sequence[str] | None, *, every: bool) -> list[SettingChange]:
    """Of the settings that differ those that were asked for."""
    if keys is not None:
        return [each for each in changes if each.declaration.alias in keys]
    return [each for each in changes if not never_carried(each)] if every else list(by_default(changes))


def _export_text(carrier: Carrier, form: Form, output: Path | None, wanted: Sequence[SettingChange]) -> None:
    values, remarks = carrier.prepared({each.declaration.alias for each in wanted})
    written = [each for each in wanted if each.declaration.alias in values]
    if form is Form.LIST:
        text = shown(changes_list(written))
    elif form is Form.FILE:
        text = json_bytes(carrier.document(values), 2).decode()
    else:
        text = controls_escaped(carrier.snippet(values))
    say_all(remarks)
    if output is None:
        echo(as_bytes(text), nl=False)
        return
    if output.exists():
        raise InputError(output, "there is such a file already, and it is left alone. Choose another name.")
    write_bytes(output, as_bytes(text))
    say(f"{output} was written.")


def _print_changes(changes: Sequence[SettingChange], before: str, after: str, *, as_json: bool) -> None:
    if as_json:
        found = [{"key": each.declaration.alias, "before": each.before, "after": each.after} for each in changes]
        print_json(found, 2)
    elif changes:
        Screen().print(change_table(changes, before, after))
    else:
        echo("No setting differs.")


def _print_merge(merge: Merge, *, as_json: bool) -> None:
    if as_json:
        found = [
            {"key": each.declaration.alias, "before": each.before if each.written else None, "after": each.after}
            for each in merge.changes
        ]
        print_json(found, 2)
    elif merge.changes:
        echo("\n".join(each.text for each in merge.changes))
    else:
        echo("Nothing differs, so nothing is written.")
