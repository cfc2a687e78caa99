"""What the command line prints of settings."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from rich import box
from rich.table import Table
from rich.text import Text

from lorestudio.settings import DeepLoreSettings
from lorestudio.settings.declaration import Declaration, Value
from lorestudio.settings.deeplore import setting_value
from lorestudio.settings.differences import SettingChange, differences, value_text
from lorestudio.settings.finding import grouped
from lorestudio.settings.profiles import SettingsProfile
from lorestudio.studio.settings_sources import PROFILE


def to_json_text(value: object) -> bytes:
    """JSON for people and programs, in UTF-8 whatever the terminal's encoding is."""
    return (json.dumps(value, ensure_ascii=False, indent=2) + "\n").encode("utf-8", "backslashreplace")


def declaration_json(declaration: Declaration, value: Value) -> dict[str, object]:
    """Everything that is declared about a setting, and its value."""
    return {
        "key": declaration.alias,
        "title": declaration.title,
        "section": declaration.group,
        "help": declaration.help,
        "value": value,
        "default": declaration.default,
        "low": declaration.low,
        "high": declaration.high,
        "unit": declaration.unit,
        "choices": {str(choice): text for choice, text in declaration.choices.items()},
        "stages": list(declaration.affects),
        "local": declaration.local,
    }


def setting_table(found: Sequence[Declaration], settings: DeepLoreSettings) -> Table:
    """One row a setting, by section; an asterisk marks what differs from the default."""
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1), caption="* not the default", caption_justify="left")
    for heading in ("key", "setting", "value", "default", "range", "stages"):
        table.add_column(heading, overflow="fold")
    for group in grouped(found):
        table.add_row(Text(group.title, style="bold"))
        for each in group.settings:
            value = setting_value(settings, each)
            mark = "* " if value != each.default else "  "
            shown = value_text(each, value)
            table.add_row(
                *map(Text, (
                    each.alias, each.title, mark + shown, value_text(each, each.default), each.allowed,
                    ", ".join(each.affects),
                ))
            )  # fmt: skip
    return table


def change_table(changes: Sequence[SettingChange], before: str, after: str) -> Table:
    """Both values of every setting that differs, and the stages that it changes."""
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1))
    for heading in ("key", "setting", _short(before), _short(after), "stages"):
        table.add_column(Text(heading), overflow="fold")
    for each in changes:
        declaration = each.declaration
        one, other = value_text(declaration, each.before), value_text(declaration, each.after)
        stages = ", ".join(declaration.affects)
        table.add_row(*map(Text, (declaration.alias, declaration.label, one, other, stages)))
    return table


def _short(source: str) -> str:
    """A file's name without its folders: a heading must not take the room of what is below it."""
    return source if source.startswith(PROFILE) else Path(source).name


def profile_table(profiles: Sequence[SettingsProfile]) -> Table:
    """One row a profile: how much it changes, and where it is kept."""
    table = Table(box=None, padding=(0, 2, 0, 0))
    for heading in ("name", "settings changed", "file"):
        table.add_column(heading, overflow="fold")
    for each in profiles:
        amount = "cannot be read" if each.settings is None else str(len(_changed(each.settings)))
        table.add_row(*map(Text, (each.name, amount, str(each.path))))
    return table


def listing(profile: SettingsProfile) -> dict[str, object]:
    """A profile as JSON."""
    changed = [] if profile.settings is None else [each.declaration.alias for each in _changed(profile.settings)]
    return {
        "name": profile.name,
        "file": str(profile.path),
        "readable": profile.settings is not None,
        "changed": changed,
        "problems": list(profile.problems),
    }


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
