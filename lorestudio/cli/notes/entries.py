"""The command that makes entries of ordinary notes, for a vault that was not written as lore."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Final

import typer

from lorestudio.cli.command import RulesOption, rules_named
from lorestudio.cli.notes.notes import FolderArgument, difference
from lorestudio.cli.options import JsonOption, SettingsOption
from lorestudio.cli.output import FAILED, echo, picked, print_json, say, say_all
from lorestudio.exchange.problems import InputError
from lorestudio.studio.notes.changes.log import ChangeLog
from lorestudio.studio.notes.making_entries import PlainNote, candidates, groups, plain_notes, plan_entries
from lorestudio.studio.notes.vault_notes import find_note, read_vault_notes
from lorestudio.studio.project.project import open_project
from lorestudio.trace.wording import plural
from lorestudio.vault.data_folder import default_folder

_GROUPS: Final = 12
"""Folders and tags that are listed."""


def entries(
    vault: FolderArgument,
    notes: Annotated[list[str] | None, typer.Argument(metavar="NOTE...", help="These notes, and no others.")] = None,
    *,
    chat: Annotated[Path | None, typer.Option("--chat", help="Notes that this chat names come first.")] = None,
    settings: SettingsOption = None,
    rules: RulesOption = None,
    folder: Annotated[str, typer.Option("--folder", help="Only notes in this folder of the vault.")] = "",
    tag: Annotated[str, typer.Option("--tag", help="Only notes with this tag.")] = "",
    named: Annotated[bool, typer.Option("--named", help="Only notes that the chat names.")] = False,
    limit: Annotated[int, typer.Option("--limit", min=1, help="Notes that are listed.")] = 20,
    make: Annotated[bool, typer.Option("--make", help="Make entries of them, as one step.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="With --make: print what would change.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Propose which ordinary notes of a vault to make entries of, with keys; --make does it.

    An entry is a note with the lorebook tag in its front matter. Each note gets that tag and, where it has none, keys:
    its title, its aliases and what links to it say. Nothing else in it changes.
    """
    if named and chat is None:
        raise InputError("--named", "there is no chat to look in. Give one with --chat.")
    if make and not (notes or folder or tag or named):
        raise InputError("--make", "say which notes: name them, or use --folder, --tag, or --chat with --named.")
    project = open_project([vault], chat, settings, rules=rules_named(rules))
    read = read_vault_notes(vault)
    plain = {filename for _vault, filename in plain_notes(project.index)}
    name, entry_tag = project.index.vaults[0], project.settings.lorebook_tag
    found = candidates(name, read, plain, project.chat)
    wanted = {find_note(read, note) for note in notes or ()}
    if wanted - plain:
        raise InputError(min(wanted - plain), "this note is an entry already, or was switched off or kept out.")
    shown = [
        one
        for one in found
        if one.filename in wanted or not wanted
        if one.lies_in(folder) or not folder.strip("/")
        if tag.lstrip("#").lower() in one.tags or not tag
        if one.named_in or not named
    ]
    if make:
        log = ChangeLog(default_folder(), [read.folder])
        say_all(() if dry_run else log.mend_interrupted())
        planned = plan_entries({name: read}, shown, entry_tag)
        for change in planned.changes.changes:
            echo("".join(difference(read.folder, change)), nl=False)
        if not dry_run:
            log.apply(planned.changes)
        say_all((*planned.remarks, *log.problems))
        say(f"{planned.changes.title}: {'nothing is written' if dry_run else 'done'}.")
    elif as_json:
        rows = [picked(one, "filename", "title", "keys", "tags", "named_in", "linked_from") for one in shown]
        print_json({"tag": entry_tag, "entries": len(project.index.entries), "notes": len(found), "found": rows}, 1)
    else:
        say_all(project.problems)
        _print(found, shown, limit, entry_tag)
    if not shown:
        raise typer.Exit(FAILED)


def _print(found: Sequence[PlainNote], shown: Sequence[PlainNote], limit: int, entry_tag: str) -> None:
    echo(
        f"{plural(len(found), '# note is|# notes are')} no entry: the tag “{entry_tag}” in the front matter makes one. "
        f"Chosen: {len(shown):,}."
    )
    for one in shown[:limit]:
        echo(f"\n{one.filename}{f'  ({one.why})' if one.why else ''}\n  keys: {', '.join(one.keys)}")
    if len(shown) > limit:
        echo(f"\n… and {len(shown) - limit:,} more; --limit shows more.")
    listed = [
        f"{'--tag' if one.is_tag else '--folder'} {one.name!r} ({plural(one.notes, '# note|# notes')})"
        for one in groups(shown)[:_GROUPS]
    ]
    if listed:
        echo("\nChoose with " + ", ".join(listed) + ".")
    echo("--make makes entries of the chosen notes; --make --dry-run shows it first.")
