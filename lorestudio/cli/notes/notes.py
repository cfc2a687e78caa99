"""The commands that work on the notes of a vault: search, rename, order, change, move, new, delete, links, and
making entries of ordinary notes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path, PurePosixPath
from typing import Annotated, Final

import typer

from lorestudio.cli.command import Limits, RulesOption, rules_named
from lorestudio.cli.options import JsonOption, SettingsOption, SystemOptions, note_called
from lorestudio.cli.output import BAD_INPUT, FAILED, echo, even_unread, print_json, say, say_all
from lorestudio.domain.entry import Entry
from lorestudio.domain.javascript import Json
from lorestudio.domain.records import picked
from lorestudio.domain.texts import difference_lines, meant
from lorestudio.exchange.lorebooks.reading import load_lorebook
from lorestudio.exchange.problems import InputError
from lorestudio.settings.files import real_path
from lorestudio.studio.notes.batch_edit import (
    STEP,
    ChangeItems,
    PropertyChange,
    Ranks,
    RemoveProperty,
    SetValue,
    plan_numbers,
    plan_property,
)
from lorestudio.studio.notes.book_entries import (
    BookNotes,
    entry_changes,
    is_book_entry,
    plan_copies,
    plan_new_entry,
    plan_removal,
    plan_title,
)
from lorestudio.studio.notes.changes.change_set import NoteFileChange
from lorestudio.studio.notes.changes.log import ChangeLog
from lorestudio.studio.notes.making_entries import PlainNote, candidates, groups, plain_notes, plan_entries
from lorestudio.studio.notes.note_files import (
    Template,
    plan_delete,
    plan_duplicate,
    plan_new,
    templates,
    usual_template,
)
from lorestudio.studio.notes.renaming import NewName, OldKey, checked_folder, plan_move, plan_rename
from lorestudio.studio.notes.search import (
    FoundNote,
    Replacer,
    SearchOptions,
    SearchPlace,
    parse_query,
    plan_links,
    plan_replace,
    search,
)
from lorestudio.studio.notes.vault_notes import Planned, VaultNotes, find_note, read_vault_notes
from lorestudio.studio.project.project import Project, open_project
from lorestudio.systems.base import Deciding, Wake, WakeFinder
from lorestudio.trace.wording import plural
from lorestudio.vault.files import NoteFile, default_folder, utc_now
from lorestudio.vault.front_matter import parse
from lorestudio.vault.links.index import LinkIndex
from lorestudio.vault.links.references import Excerpt

FolderArgument = Annotated[Path, "<VAULT>", "A folder of Markdown notes."]
LoreArgument = Annotated[Path, "<VAULT>", "A folder of Markdown notes, or a lorebook."]
NoteArgument = Annotated[str, "<NOTE>", "A note: path in the vault, file name, title or alias."]

_WIDTH: Final = 100
"""Characters of a line that are shown around what was found."""


def notes_of(vault: Path, *, wanted: Callable[[NoteFile], bool] | None = None) -> VaultNotes:
    """The notes of a folder, or those `wanted` to be searched; the unreadable ones are told. Raises VaultError."""
    read = read_vault_notes(vault, wanted=wanted)
    say_all(note.message for note in read.left_out)
    return read


def lore_of(vault: Path, *, wanted: Callable[[NoteFile], bool] | None = None) -> VaultNotes:
    """As `notes_of`, or the entries of a lorebook. Raises InputError and VaultError."""
    return BookNotes().of([load_lorebook(real_path(vault))])[0] if vault.is_file() else notes_of(vault, wanted=wanted)


def find_lore(lore: VaultNotes, project: Project | None, words: str) -> str:
    """The note that a person means, or the entry where the project is a lorebook's. Raises InputError."""
    if project is None or not project.of_books:
        return find_note(lore, words)
    return note_called(project, words, project.name).filename


def changed_in(vault: Path) -> Path:
    """The folder in which a vault's notes are changed, or a lorebook that stands in its place."""
    place = real_path(vault)
    return place.parent if place.is_file() else place


def search_notes(
    vault: LoreArgument,
    query: Annotated[str, "<QUERY>", "Words, “phrases”, OR, -word, path:, file:, tag:, key:."],
    *,
    regex: Annotated[bool, "The query is a regular expression."] = False,
    case: Annotated[bool, "Capital letters matter."] = False,
    word: Annotated[bool, "Whole words only."] = False,
    where: Annotated[list[SearchPlace] | None, "Look only in this part. May be repeated."] = None,
    replace: Annotated[
        str | None, "WORDS", "Put these words in the place of what is found, as one step; $1 is a group with --regex."
    ] = None,
    dry_run: Annotated[bool, "With --replace: print what would change."] = False,
    as_json: JsonOption = False,
) -> None:
    """Search titles, properties and texts of all notes, or of a lorebook's entries. Ends with 1 where nothing is
    found.
    """
    if replace is not None and as_json:
        raise InputError("--json", "not with --replace, which prints what changes. Leave one of them out.")
    options = SearchOptions(case, word, regex, frozenset(where or SearchPlace))
    parsed = parse_query(query, options)
    replacer = Replacer(parsed, replace) if replace is not None else None
    folder = changed_in(vault)
    log = change_log([folder], dry_run=dry_run) if replacer is not None else None
    found = search(lore_of(vault, wanted=parsed.may_find), parsed)
    if replacer is not None and log is not None:
        chosen = list(found)
        count = len(chosen)
        if chosen:
            carry_out(log, [folder], plan_replace(replacer, chosen), dry_run=dry_run)
    elif as_json:
        notes = [_as_json(note) for note in found]
        print_json(notes, 1)
        count = len(notes)
    else:
        count = _print_found(found)
    if not count:
        say("nothing was found.")
        raise typer.Exit(FAILED)


def rename_note(
    vault: LoreArgument,
    note: NoteArgument,
    new: Annotated[str, "<NEW>", "The new title."],
    *,
    old_key: Annotated[OldKey, "What becomes of a key that says the old title. An entry of a lorebook keeps it."] = (
        OldKey.KEEP
    ),
    dry_run: Annotated[bool, "Print what would change, and change nothing."] = False,
) -> None:
    """Give a note another title, in its heading and its file's name, and change every reference to it.

    An entry of a lorebook gets another title alone: nothing refers to it.
    """
    of_book = vault.is_file()
    if of_book and old_key is not OldKey.KEEP:
        raise InputError("--old-key", "an entry of a lorebook keeps its keys. Leave the option out.")

    def plan(notes: VaultNotes, paths: Sequence[Path]) -> Planned:
        (path,) = paths
        return plan_title(path, new) if of_book else plan_rename([notes], path, NewName(title=new, old_key=old_key))

    _carry_out_plan(vault, [note], plan, dry_run=dry_run)


def order_notes(
    vault: LoreArgument,
    notes: Annotated[list[str] | None, "<NOTE...>", "Notes or entries in the order that they are to have."] = None,
    *,
    step: Annotated[int, Limits(1), "Between two numbers; 1 fills gaps."] = STEP,
    dry_run: Annotated[bool, "Print what would change, and change nothing."] = False,
) -> None:
    """Number priorities in steps from the lowest on: of these notes in this order, or of all in the one they have.

    Of a lorebook its orders are numbered, and the entry that is named first gets the highest.
    """
    folder = changed_in(vault)
    log = change_log([folder], dry_run=dry_run)
    known = lore_of(vault)
    project = open_project([vault])
    say_all(project.problems)
    ranks = Ranks(project)
    order = ranks.in_order()
    if notes:
        named = list(dict.fromkeys(find_lore(known, project, name) for name in notes))
        entries = {entry.filename: entry for entry in order}
        strangers = [name for name in named if name not in entries]
        if strangers:
            raise InputError(strangers[0], "this note is no entry, so it has no place in the order.")
        order = [entries[name] for name in (reversed(named) if ranks.of_books else named)]
    numbers = ranks.stepped(order, step)
    if not numbers:
        say("they are numbered in this order already." if order else "there is no entry that could be numbered.")
        return
    carry_out(log, [folder], plan_numbers([known], ranks.name, numbers), dry_run=dry_run)


def change_property(
    vault: LoreArgument,
    change: Annotated[
        str,
        "<NAME=VALUE>",
        "A property and its value as in the note; without one it goes. NAME+=ITEM adds an item to a list, NAME-=ITEM "
        "takes one out. An entry's are called as World Info calls them.",
    ],
    notes: Annotated[list[str], "<NOTE...>", "The notes, or entries of a lorebook."],
    *,
    dry_run: Annotated[bool, "Print what would change, and change nothing."] = False,
) -> None:
    """Change one property in several notes, or entries of a lorebook, as one step."""
    name, wanted = _property_change(change)
    _carry_out_plan(vault, notes, lambda lore, paths: plan_property([lore], paths, name, wanted), dry_run=dry_run)


def move_notes(
    vault: FolderArgument,
    folder: Annotated[str, "<FOLDER>", "The folder in the vault, new or not; . for the vault itself."],
    notes: Annotated[list[str], "<NOTE...>", "The notes."],
    *,
    dry_run: Annotated[bool, "Print what would change, and change nothing."] = False,
) -> None:
    """Move notes into another folder of their vault, as one step, and change every reference to them."""
    if vault.is_file():
        raise InputError(vault, "entries of a lorebook lie in no folder. Give the folder of a vault.")
    _carry_out_plan(vault, notes, lambda lore, paths: plan_move([lore], paths, folder), dry_run=dry_run)


def new_note(
    vault: LoreArgument,
    title: Annotated[str, "<TITLE>", "What it is called; the file of a note is called so too."],
    *,
    folder: Annotated[str, "FOLDER", "The note's folder in the vault, new or not."] = "",
    template: Annotated[
        str | None,
        "What the note begins with: a template of the vault's or of the studio's, such as character or place; none "
        "for a bare heading. Default: what fits most notes of the folder.",
    ] = None,
    dry_run: Annotated[bool, "Print what would change, and change nothing."] = False,
) -> None:
    """Make a note from a template, or an entry in a lorebook, as one step."""
    place = changed_in(vault)
    log = change_log([place], dry_run=dry_run)
    if vault.is_file():
        if folder or template is not None:
            option = "--folder" if folder else "--template"
            raise InputError(option, "an entry of a lorebook has neither folder nor template. Leave the option out.")
        planned, _path = plan_new_entry(place / real_path(vault).name, title)
    else:
        notes = notes_of(vault)
        planned = plan_new([notes], notes, folder, title, _template(notes, folder, template), utc_now().astimezone())
    carry_out(log, [place], planned, dry_run=dry_run)


def _template(notes: VaultNotes, folder: str, name: str | None) -> Template | None:
    """The template of that name, by default that of most notes in the folder. Raises InputError."""
    if name == "none":
        return None
    found = templates(notes)
    if name is None:
        entries, here = open_project([str(notes.folder)]).index.entries, checked_folder(folder, notes.folder)
        return found[usual_template(found, [each for each in entries if each.filename.rpartition("/")[0] == here])]
    chosen = next((each for each in found if each.name.lower() == name.lower()), None)
    if chosen is None:
        there = ", ".join(each.name for each in found)
        raise InputError("--template", f"there is no template “{name}”. There are: none, {there}.")
    return chosen


def delete_notes(
    vault: LoreArgument,
    notes: Annotated[list[str], "<NOTE...>", "The notes, or entries of a lorebook."],
    *,
    dry_run: Annotated[bool, "Print what would change, and change nothing."] = False,
) -> None:
    """Move notes to the studio's trash, or take entries out of a lorebook, as one step that undo takes back."""
    of_book = vault.is_file()
    _carry_out_plan(
        vault,
        notes,
        lambda lore, paths: plan_removal(paths) if of_book else plan_delete([lore], paths),
        dry_run=dry_run,
    )


def duplicate_notes(
    vault: LoreArgument,
    notes: Annotated[list[str], "<NOTE...>", "The notes, or entries of a lorebook."],
    *,
    dry_run: Annotated[bool, "Print what would change, and change nothing."] = False,
) -> None:
    """Make a copy of notes beside them, or of entries in their lorebook, as one step."""
    _carry_out_plan(
        vault,
        notes,
        lambda lore, paths: plan_copies(paths) if vault.is_file() else plan_duplicate([lore], paths),
        dry_run=dry_run,
    )


def _carry_out_plan(
    vault: Path, names: Sequence[str], plan: Callable[[VaultNotes, Sequence[Path]], Planned], *, dry_run: bool
) -> None:
    """Carry out what is planned for these notes of a vault, or entries of a lorebook. Raises InputError.

    Ends with 2 where none of them can be changed.
    """
    folder = changed_in(vault)
    log = change_log([folder], dry_run=dry_run)
    lore = lore_of(vault)
    book = open_project([vault]) if vault.is_file() else None
    planned = plan(lore, [lore.path(find_lore(lore, book, name)) for name in names])
    carry_out(log, [folder], planned, dry_run=dry_run)
    if book is not None and planned.count and not dry_run:  # such as a field that World Info has not
        known = {told for one in book.books for told in one.remarks}
        say_all(told for one in open_project([vault]).books for told in one.remarks if told not in known)
    if planned.remarks and not planned.count:  # which say why nothing could be changed
        raise typer.Exit(BAD_INPUT)


def _property_change(text: str) -> tuple[str, PropertyChange]:
    """The property, and what becomes of it. Raises InputError."""
    name, equals, value = (part.strip() for part in text.partition("="))
    way = name[-1:] if name[-1:] in "+-" else ""
    name = name.removesuffix(way).strip()
    if not (name and equals) or (way and not value):
        raise InputError(text, "write NAME=VALUE, as in priority=10, or NAME+=ITEM and NAME-=ITEM for lists.")
    if way:
        return name, ChangeItems(add=(value,)) if way == "+" else ChangeItems(remove=(value,))
    return name, SetValue(parse(f"{name}: {value}").get(name)) if value else RemoveProperty()


def list_links(
    vault: LoreArgument,
    note: NoteArgument,
    by: SystemOptions,
    *,
    link: Annotated[bool, "Make links of all places where it is named without one, as one step."] = False,
    dry_run: Annotated[bool, "With --link: print what would change."] = False,
    settings: SettingsOption = None,
    rules: RulesOption = None,
    as_json: JsonOption = False,
) -> None:
    """List a note's links, the references to it, where it is named without a link, and what wakes what by recursion.

    Of a lorebook's entry: which entries its text wakes, and which wake it.
    """
    if link:
        _carry_out_plan(vault, [note], _linked, dry_run=dry_run)
        return
    notes = lore_of(vault)
    project = by.adjusted(open_project([vault], None, settings, rules=rules_named(rules)))
    say_all(project.problems)
    system = by.offline(project)
    project = project.read_for(system.kind)
    by_whom = Deciding(system.kind, system.settings)
    finder = by_whom.wakes(project.scene())
    say_all(filter(None, [by_whom.silence(finder)]))
    filename = find_lore(notes, project, note)
    if as_json:
        print_json(_links_json(notes, filename, finder), 1)
    else:
        echo("\n".join(_links_text(notes, filename, finder)))


def _linked(notes: VaultNotes, paths: Sequence[Path]) -> Planned:
    (path,) = paths
    mentions = notes.index.mentions(notes.filename(path) or "")
    if not mentions:
        raise InputError("--link", "no other note names it without a link.")
    return plan_links([notes], path, mentions)


def change_log(folders: Sequence[Path], *, dry_run: bool = False) -> ChangeLog:
    """The log of changes of these vaults; but for a dry run, what a killed studio left half done is taken back."""
    log = ChangeLog(default_folder(), folders)
    say_all(() if dry_run else log.mend_interrupted())
    return log


def carry_out(log: ChangeLog, folders: Sequence[Path], planned: Planned, *, dry_run: bool, err: bool = False) -> None:
    """Print what changes in the files of the vaults' folders and, but for a dry run, change it.

    With `err` it is printed beside the command's output.
    """
    changes = planned.changes
    shown = chain.from_iterable(map(entry_changes, changes.changes)) if planned.entries else changes.changes
    with even_unread():
        for change in shown:
            folder = next(each for each in folders if change.path.is_relative_to(each))
            echo("".join(difference(folder, change)), nl=False, err=err)
    say_all(planned.remarks)
    if not dry_run:
        log.apply(changes)
    say_all(log.problems)
    files = plural(planned.count, "# entry|# entries" if planned.entries else "# file|# files")
    what = f"{changes.title}: {files}" if planned.count else "nothing"
    say(f"{what} {'would change' if dry_run else 'changed'}.")


def difference(folder: Path, change: NoteFileChange) -> Iterator[str]:
    """What happens to one file, as `git diff` shows it."""
    old, new = (path.relative_to(folder).as_posix() for path in (change.path, change.new_path or change.path))
    if old != new:
        yield f"rename from {old}\nrename to {new}\n"
    yield from difference_lines(change.before, change.after, f"a/{old}", f"b/{new}")


def _print_found(found: Iterable[FoundNote]) -> int:
    count = 0
    for note in found:
        count += 1
        lines = [f"{note.filename} ({note.title})" if is_book_entry(note.path) else note.filename]
        lines += [f"  {place.line or hit.where.value}: {_shortened(place)}" for hit, place in note.excerpts()]
        echo("\n".join(lines))
    return count


def _shortened(place: Excerpt) -> str:
    """The part of the line around what was found."""
    start = max(0, place.start - _WIDTH // 3)
    end = min(len(place.text), max(place.end, start + _WIDTH))
    return ("…" if start else "") + place.text[start:end] + ("…" if end < len(place.text) else "")


def _as_json(note: FoundNote) -> Json:
    hits = []
    for hit, place in note.excerpts():
        hits.append(
            {"where": hit.where.value, "in_name": hit.in_name, "start": hit.start, "end": hit.end} | _place_json(place)
        )
    return {"file": note.filename, "title": note.title, "hits": hits}


def _place_json(place: Excerpt) -> dict[str, Json]:
    return {"line": place.line, "text": place.text, "from": place.start, "to": place.end}


def _links_text(notes: VaultNotes, filename: str, finder: WakeFinder) -> Iterator[str]:
    index = notes.index
    yield f"{index.notes[filename].names.title} ({filename})"
    if not is_book_entry(notes.path(filename)):  # an entry of a lorebook refers to no other
        yield from _references_text(index, filename)
    for title, wakes in zip(("Wakes", "Woken by"), _wakes(filename, finder), strict=True):
        yield f"\n{title}: {len(wakes)}"
        yield from (f"  {other.title} ({other.filename}): {wake.words}" for wake, other in wakes)


def _references_text(index: LinkIndex, filename: str) -> Iterator[str]:
    outgoing, backlinks, mentions = index.outgoing(filename), index.backlinks(filename), index.mentions(filename)
    yield f"\nLinks: {len(outgoing)}"
    for link in outgoing:
        target = link.target.filename or "does not exist yet"
        yield f"  {link.excerpt.line}: {link.reference.kind.value} {link.reference.target} -> {target}" + (
            "" if link.in_deeplore or not link.target.exists else " (not for DeepLore)"
        )
    yield f"\nReferences to it: {len(backlinks)}"
    for back in backlinks:
        yield f"  {back.source}:{back.excerpt.line}: {_shortened(back.excerpt)}"
    yield f"\nNamed without a link: {len(mentions)}"
    for mention in mentions:
        yield f"  {mention.source}:{mention.excerpt.line} ({mention.of.value}): {_shortened(mention.excerpt)}"


def _wakes(filename: str, finder: WakeFinder) -> tuple[list[tuple[Wake, Entry]], list[tuple[Wake, Entry]]]:
    """What the entry in the file wakes, and what wakes it, each with the other entry."""
    entries = finder.vault.entries
    found = [entry for entry in entries if entry.filename == filename]
    return (
        [(wake, entries[wake.target]) for entry in found for wake in finder.wakes(entry)],
        [(wake, entries[wake.source]) for entry in found for wake in finder.woken_by(entry)],
    )


def _links_json(notes: VaultNotes, filename: str, finder: WakeFinder) -> Json:
    index = notes.index
    wakes, woken_by = (
        [
            {"file": other.filename, "title": other.title} | picked(wake, "key", "refine_key", "obstacle")
            for wake, other in found
        ]
        for found in _wakes(filename, finder)
    )
    return {
        "file": filename,
        "title": index.notes[filename].names.title,
        "links": [
            {
                "kind": link.reference.kind.value, "target": link.reference.target, "file": link.target.filename,
                "deeplore": link.in_deeplore,
            } | _place_json(link.excerpt)
            for link in index.outgoing(filename)
        ],
        "references": [
            {"file": back.source, "kind": back.reference.kind.value, "by": back.by.value, "deeplore": back.in_deeplore}
            | _place_json(back.excerpt)
            for back in index.backlinks(filename)
        ],
        "mentions": [
            {"file": mention.source, "of": mention.of.value} | _place_json(mention.excerpt)
            for mention in index.mentions(filename)
        ],
        "wakes": wakes,
        "woken_by": woken_by,
    }  # fmt: skip


_GROUPS: Final = 12
"""Folders and tags that are listed."""


def entries(
    vault: FolderArgument,
    notes: Annotated[list[str] | None, "<NOTE...>", "These notes, and no others."] = None,
    *,
    chat: Annotated[Path | None, "Notes that this chat names come first."] = None,
    settings: SettingsOption = None,
    rules: RulesOption = None,
    folder: Annotated[str, "Only notes in this folder of the vault."] = "",
    tag: Annotated[str, "Only notes with this tag, or one below it."] = "",
    named: Annotated[bool, "Only notes that the chat names."] = False,
    limit: Annotated[int, Limits(1), "Notes that are listed."] = 20,
    make: Annotated[bool, "Make entries of them, as one step."] = False,
    dry_run: Annotated[bool, "With --make: print what would change."] = False,
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
    read = notes_of(vault)
    plain = {filename for _vault, filename in plain_notes(project.index)}
    name, entry_tag = project.index.vaults[0], project.settings.lorebook_tag
    found = candidates(name, read, plain, project.chat)
    wanted = {find_note(read, note) for note in notes or ()}
    if wanted - plain:
        raise InputError(min(wanted - plain), "this note is an entry already, or was switched off or kept out.")
    if none := wanted - {one.filename for one in found}:
        raise InputError(min(none), "this is a template or a drawing, which becomes no entry.")
    _check_folder(read, folder)
    shown = [
        one
        for one in found
        if one.filename in wanted or not wanted
        if one.lies_in(folder) or not folder.strip("/")
        if one.has_tag(tag) or not tag
        if one.named_in or not named
    ]
    if make:
        log = change_log([read.folder], dry_run=dry_run)
        carry_out(log, [read.folder], plan_entries({name: read}, shown, entry_tag), dry_run=dry_run)
    elif as_json:
        rows = [picked(one, "filename", "title", "keys", "tags", "named_in", "linked_from") for one in shown]
        print_json({"tag": entry_tag, "entries": len(project.index.entries), "notes": len(found), "found": rows}, 1)
    else:
        say_all(project.problems)
        _print(len(plain), len(found), shown, limit, entry_tag)
    if not shown:
        raise typer.Exit(FAILED)


def _check_folder(notes: VaultNotes, folder: str) -> None:
    """Raises InputError where no note of the vault lies in a folder of that name."""
    known = {parent.as_posix() for filename in notes.index.notes for parent in PurePosixPath(filename).parents}
    if (name := folder.strip("/")) and name not in known:
        raise InputError("--folder", f"there are no notes in a folder “{name}” of the vault.{meant(name, known)}")


def _print(plain: int, found: int, shown: Sequence[PlainNote], limit: int, entry_tag: str) -> None:
    echo(
        f"{plural(plain, '# note is|# notes are')} no entry: the tag “{entry_tag}” in the front matter makes one. "
        f"{plural(plain - found, '|# template or drawing is left out. |# templates and drawings are left out. ')}"
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
