"""What is chosen for a chat (context, pins, blocks and folders) and its presets: the options for one run, and the
commands that keep it.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Annotated

from lorestudio.cli.command import command, command_group
from lorestudio.cli.options import DoItOption, JsonOption, NeededChat, ProjectOptions
from lorestudio.cli.output import ask_first, echo, print_json, say, say_all
from lorestudio.cli.screen import print_lines
from lorestudio.domain.entry import Entry
from lorestudio.domain.javascript import Json
from lorestudio.domain.records import replace
from lorestudio.domain.state import ChatControls, EntryRule
from lorestudio.domain.texts import meant
from lorestudio.exchange.chats.document import ChatDocument, ChatFormat
from lorestudio.exchange.problems import InputError
from lorestudio.studio.chat.controls import (
    ContextField,
    ControlsPart,
    Preset,
    PresetFolder,
    apply_preset,
    context_fields,
    fitting,
    part_words,
    preset_json,
    read_preset,
    toggled,
    unheeded,
    with_value,
    without_field,
)
from lorestudio.studio.chat.saving import NO_HEADER, ChatToSave, save_chat
from lorestudio.studio.project.project import Project
from lorestudio.systems.registry import kind_of
from lorestudio.vault.files import default_folder, utc_now


@dataclass(frozen=True, slots=True, kw_only=True)
class ChoiceOptions:
    """What is chosen for the chat, as it was typed."""

    preset: Annotated[str | None, "Apply a scenario preset: its name, or a preset's file."] = None
    context: Annotated[
        list[str] | None,
        "KEY=VALUE",
        "Set a field of the chat's context, as in era=winter; KEY= clears it. May be repeated.",
    ] = None
    pin: Annotated[list[str] | None, "TITLE", "Pin an entry. May be repeated."] = None
    block: Annotated[list[str] | None, "TITLE", "Block an entry. May be repeated."] = None
    folder: Annotated[list[str] | None, "FOLDER", "Use only entries of this folder. May be repeated."] = None
    free: Annotated[list[str] | None, "TITLE", "Take pin and block of an entry away. May be repeated."] = None

    def __bool__(self) -> bool:
        return any(getattr(self, each.name) for each in fields(self))


def with_chosen(project: Project, chosen: ChoiceOptions, system: str) -> Project:
    """The project with what the options say, the preset first, then the others upon it; says what `system` ignores.

    Pins and blocks come to those of the chat, but for what `--free` names; `--context` takes the place of the chat's
    values of that field, and `--folder` that of its filter. What of a preset the vault does not have becomes a problem
    of the project. Raises InputError for a title, folder, field or preset that is not there.
    """
    controls, problems = project.controls, project.problems
    if chosen.preset is not None:
        preset = _preset(chosen.preset)
        controls, missing = apply_preset(preset, controls, project.index)
        problems += tuple(f"preset “{preset.name}”: {sentence}" for sentence in missing)
    controls = _context(project, controls, chosen.context or ())
    for title in chosen.free or ():
        entries = _entries(project, title, "--free")
        controls = replace(controls, pins=_left(controls.pins, entries), blocks=_left(controls.blocks, entries))
    for option, part, titles in (
        ("--pin", ControlsPart.PINS, chosen.pin or ()),
        ("--block", ControlsPart.BLOCKS, chosen.block or ()),
    ):
        for title in titles:
            controls = _with_rule(project, controls, part, title, option)
    if chosen.folder:
        controls = replace(controls, folders=tuple(dict.fromkeys(_folder(project, each) for each in chosen.folder)))
    say_all(unheeded(project, kind_of(system), controls))
    return replace(project, controls=controls, problems=problems)


def _preset(name: str) -> Preset:
    path = Path(name).expanduser()
    return read_preset(path) if path.suffix.lower() == ".json" and path.is_file() else PresetFolder().find(name)


def _context(project: Project, controls: ChatControls, pairs: Sequence[str]) -> ChatControls:
    fields = context_fields(project.index)
    cleared: set[str] = set()
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals:
            size = " The size of the model's context is --context-size." if pair.strip().isdigit() else ""
            raise InputError("--context", f"“{pair}” has no “=”. Write KEY=VALUE, such as era=winter.{size}")
        field = _field(fields, name.strip())
        if field.key not in cleared:
            controls = without_field(controls, field.key)
            cleared.add(field.key)
        if value.strip():
            controls = with_value(controls, field.key, _spelled(field, value.strip()), multi=field.multi)
    return controls


def _field(fields: Sequence[ContextField], name: str) -> ContextField:
    wanted = name.lower()
    for field in fields:
        if wanted in {field.key.lower(), field.label.lower(), *(each.name.lower() for each in field.definitions)}:
            return field
    keys = ", ".join(field.key for field in fields)
    raise InputError("--context", f"no field of the vault is called “{name}”. There are: {keys}.")


def _spelled(field: ContextField, text: str) -> Json:
    """The value as the vault spells it; a value that no entry has is set as it was typed."""
    known = field.value(text)
    return text if known is None else known.text


def _with_rule(project: Project, controls: ChatControls, part: ControlsPart, title: str, option: str) -> ChatControls:
    entries = _entries(project, title, option)
    rules = controls.pins if part is ControlsPart.PINS else controls.blocks
    if all(any(rule.matches(entry) for rule in rules) for entry in entries):
        return controls
    return toggled(controls, part, entries, project.index)


def _entries(project: Project, title: str, option: str) -> tuple[Entry, ...]:
    """The entries of that title. Raises InputError where there is none."""
    entries = fitting(EntryRule(title), project.index)
    if not entries:
        raise InputError(
            option, f"no entry is called “{title}”.{meant(title, [entry.title for entry in project.index.entries], 3)}"
        )
    return entries


def _left(rules: Sequence[EntryRule], entries: Sequence[Entry]) -> tuple[EntryRule, ...]:
    return tuple(rule for rule in rules if not any(map(rule.matches, entries)))


def _folder(project: Project, folder: str) -> str:
    wanted = folder.strip().strip("/")
    paths = [each.path for each in project.index.folders]
    if wanted in paths:
        return wanted
    there = f" There are: {', '.join(sorted(paths))}." if paths else " The vault has no folders."
    raise InputError("--folder", f"the vault has no folder “{folder}” with entries.{there}")


# ---- keeping it ------------------------------------------------------------------------------------------------------


def choose(
    given: ProjectOptions,
    chosen: ChoiceOptions,
    *,
    chat: NeededChat,
    preset_name: Annotated[
        str | None, "--as-preset", "NAME", "Keep what is chosen, but for the AI Notepad, as a scenario preset."
    ] = None,
    replace_preset: Annotated[bool, "--replace", "With --as-preset: in place of the preset of this name."] = False,
    dry_run: Annotated[bool, "Say what would be chosen, and change nothing."] = False,
    as_json: JsonOption = False,
) -> None:
    """Say what is chosen for a chat (pins, blocks, folders, context, notes), or change it in the chat's file.

    The version of the file that is overwritten first is kept. What --json prints is a preset's file.
    """
    if replace_preset and preset_name is None:
        raise InputError("--replace", "say with --as-preset which preset is replaced.")
    before = given.opened(chat)
    project = with_chosen(before, chosen, before.system)
    controls = project.controls
    say_all(project.problems)
    wanted = None
    if controls != before.controls and project.chat is not None and not dry_run:
        document = project.document or ChatDocument()
        if document.format is not ChatFormat.SILLYTAVERN:
            raise InputError(chat, "plain text has no place for what is chosen. Give a chat of SillyTavern's (.jsonl).")
        if not project.chat.header:
            raise InputError(chat, NO_HEADER)
        wanted = ChatToSave(document, project.chat, controls, project.index.folders)
    held = frozenset(part for part in ControlsPart if part_words(controls, part))
    if preset_name is not None and not dry_run:  # its name may be taken, and then nothing is written
        kept = Preset(preset_name, controls, held - {ControlsPart.NOTEPAD})
        say(f"{PresetFolder().save(kept, replacing=replace_preset)} was written.")
    if wanted is not None:
        saved = save_chat(wanted, chat.expanduser(), default_folder() / "chats", utc_now().astimezone())
        say_all((*saved.remarks, f"{chat} was written."))
    if as_json:
        print_json(preset_json(Preset(chat.stem, controls, held)), 1)
    else:
        print_lines(_part_lines(controls, held) or ["Nothing is chosen for this chat."])


def _part_lines(controls: ChatControls, parts: Collection[ControlsPart], before: str = "") -> list[str]:
    """What they hold, whole but for long texts."""
    return [f"{before}{part}: {part_words(controls, part, 2000) or 'none'}" for part in ControlsPart if part in parts]


presets = command_group("Scenario presets: what is chosen for a chat, under a name. “choose --as-preset” makes one.")

PresetName = Annotated[str, "<NAME>", "The name of the preset."]


@command(presets, "list")
def list_presets(*, as_json: JsonOption = False) -> None:
    """Show all presets with what they choose."""
    folder = PresetFolder()
    known = folder.all()
    found = [each.preset for each in known if each.preset is not None]
    if as_json:
        print_json([preset_json(each) for each in found], 1)
    elif found:
        print_lines(line for each in found for line in (each.name, *_part_lines(each.controls, each.parts, "  ")))
    else:
        echo(f"There is no preset yet. They are kept in {folder.folder}.")
    say_all(each.problem for each in known if each.problem)


@command(presets, "rename")
def rename_preset(name: PresetName, new: Annotated[str, "<NEW>", "Its new name."]) -> None:
    """Give a preset another name, and its file with it."""
    say(f"{PresetFolder().rename(name, new)} was written.")


@command(presets, "remove")
def remove_preset(name: PresetName, *, yes: DoItOption = False) -> None:
    """Delete a preset's file."""
    found = PresetFolder().known(name)
    ask_first(f"Delete {found.path}?", yes=yes, nothing="nothing was deleted")
    PresetFolder().delete(name)
    say(f"{found.path} was deleted.")
