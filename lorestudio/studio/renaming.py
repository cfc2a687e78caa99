"""Plans that rename, move and retitle notes together with every reference to them.

DeepLore takes the first heading for the title and only without one the file's name (spec: deeplore-engine 1.6), and
looks for titles in links and fields; Obsidian looks for file names. So a new name changes whichever carries the old
one, and references follow what they named.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from lorestudio.domain.javascript import fold
from lorestudio.exchange.problems import InputError
from lorestudio.studio.change_set import ChangeSet, NoteChange
from lorestudio.studio.note_names import check_free, checked_folder, checked_name, checked_title
from lorestudio.studio.reference_edits import Moves, Rewriting
from lorestudio.studio.vault_notes import Planned, VaultNotes, home_of, listed
from lorestudio.vault import read_note
from lorestudio.vault.link_index import index_note
from lorestudio.vault.link_targets import NOTE_SUFFIX, NoteNames
from lorestudio.vault.links import heading_text
from lorestudio.vault.note_document import NoteDocument, TextEdit
from lorestudio.vault.property_texts import split_places


@dataclass(frozen=True, slots=True)
class Wanted:
    """What one note is to be called and where it is to be; None leaves as it is.

    `title` alone renames what carries the title: the heading and, where it says the same but for capital letters, the
    file. A file's name that is all in small letters stays so.
    """

    title: str | None = None
    name: str | None = None
    folder: str | None = None


@dataclass(frozen=True, slots=True)
class _Change:
    """One note's names before and after; `heading` are the words of its heading before and after, where they change.

    `edits` are those of the note's own text that say its new title.
    """

    before: NoteNames
    after: NoteNames
    heading: tuple[str, str] | None = None
    edits: tuple[TextEdit, ...] = ()


def plan_rename(vaults: Sequence[VaultNotes], path: Path, wanted: Wanted) -> Planned:
    """Rename one note. `vaults` are those that DeepLore merges: titles are looked up in all of them.

    Files are read again, so the plan fits what is on disk. Raises InputError where the name cannot be had, and
    VaultError where a file cannot be read.
    """
    vault, filename = home_of(vaults, path)
    change = _change(vault, filename, wanted)
    if change.after == change.before:
        raise InputError(filename, "the note is called so already.")
    if change.after.filename != filename:
        check_free(vault.folder, change.after.filename, [filename])
    _check_title(vaults, change)
    retitled = change.after.title != change.before.title
    title = (
        f"Rename {change.before.title} to {change.after.title}"
        if retitled
        else f"Rename {filename} to {change.after.filename}"
    )
    return _plan(vaults, vault, [change], title)


def plan_move(vaults: Sequence[VaultNotes], paths: Sequence[Path], folder: str) -> Planned:
    """Move notes into a folder of their vault, "" for the vault itself; those that are there already stay.

    Raises InputError where a name is taken there, and VaultError where a file cannot be read.
    """
    if not paths:
        raise InputError("notes", "no note is chosen.")
    vault = home_of(vaults, paths[0])[0]
    folder = checked_folder(folder)
    changes: dict[str, _Change] = {}
    for path in paths:
        home, filename = home_of(vaults, path)
        if home is not vault:
            raise InputError(path, "notes of several vaults cannot be moved in one step. Choose those of one vault.")
        change = _change(vault, filename, Wanted(folder=folder))
        if change.after != change.before:
            changes[filename] = change
    if not changes:
        raise InputError(folder or str(vault.folder), "the notes are in this folder already.")
    targets: dict[str, str] = {}
    for filename, change in changes.items():
        check_free(vault.folder, change.after.filename, list(changes))
        other = targets.setdefault(change.after.filename.lower(), filename)
        if other != filename:
            raise InputError(change.after.filename, f"{other} and {filename} would have the same name there.")
    where = folder or "the vault's own folder"
    what = next(iter(changes.values())).before.title if len(changes) == 1 else f"{len(changes)} notes"
    return _plan(vaults, vault, list(changes.values()), f"Move {what} to {where}")


def _change(vault: VaultNotes, filename: str, wanted: Wanted) -> _Change:
    text, _ = read_note(vault.path(filename))
    before = index_note(filename, text).names
    words = heading_text(text, split_places(text)[2])
    has_heading = words is not None and words[0] < words[1]
    title = before.title if wanted.title is None else checked_title(wanted.title)
    name = before.base_name if wanted.name is None else checked_name(wanted.name)
    if wanted.title is not None and wanted.name is None and (not has_heading or fold(name) == fold(before.title)):
        is_small = name == before.title.lower() != before.title
        name = checked_name(title.lower() if is_small else title)
    if not has_heading:
        if wanted.title is not None and name != title:
            raise InputError(
                filename, "the note has no heading, so its file's name is its title and cannot be another one."
            )
        title = name
    folder, _, last = filename.rpartition("/")
    if wanted.folder is not None:
        folder = checked_folder(wanted.folder)
    if name != before.base_name:
        last = name + NOTE_SUFFIX
    after = NoteNames(f"{folder}/{last}" if folder else last, title, before.aliases)
    if title == before.title:
        return _Change(before, after)
    edits = title_property(text, before.title, title)
    if words is None or not has_heading:
        return _Change(before, after, edits=edits)
    return _Change(before, after, (text[slice(*words)], title), (*edits, TextEdit(*words, title)))


def title_property(text: str, old: str, new: str) -> tuple[TextEdit, ...]:
    """The edit of a property `title` that says the old title too. DeepLore does not read it, but people do."""
    document = NoteDocument(text)
    found = document.find("title")
    if found is None or found.value != old:
        return ()
    try:
        return (document.set("title", new),)
    except ValueError:
        return ()  # no spelling holds this title; nothing but people's eyes depends on it


def _check_title(vaults: Sequence[VaultNotes], change: _Change) -> None:
    """Raise InputError where another note has the new title: DeepLore tells notes apart by their titles."""
    if change.after.title.lower() == change.before.title.lower():
        return
    for vault in vaults:
        other = vault.index.targets.by_title(change.after.title)
        if other is not None and other.filename != change.before.filename:
            raise InputError(
                change.after.title,
                f"{other.filename} has this title already, and references could not tell the two apart. "
                "Choose another title.",
            )


def _plan(vaults: Sequence[VaultNotes], home: VaultNotes, changes: Sequence[_Change], title: str) -> Planned:
    by_name = {change.before.filename: change for change in changes}
    remarks: dict[str, list[str]] = {}
    made: list[NoteChange] = []
    for vault in vaults:
        moves = _moves(vault, by_name) if vault is home else _moves_elsewhere(vault, by_name)
        for source in _sources(vault, moves, by_name):
            text, _ = read_note(vault.path(source))
            change = by_name.get(source) if vault is home else None
            rewriting = Rewriting(moves, source, text, () if change is None else change.edits)
            after = rewriting.result()
            for remark in dict.fromkeys(rewriting.remarks):
                remarks.setdefault(remark, []).append(source)
            new_path = vault.path(moves.new_path(source))
            if after != text or new_path != vault.path(source):
                path = vault.path(source)
                made.append(NoteChange(path, text, after, None if new_path == path else new_path))
    told = [f"{remark} In {listed(sources)}." for remark, sources in remarks.items()]
    return Planned(ChangeSet(title, tuple(made)), (*told, *_broken(vaults)))


def _moves(vault: VaultNotes, changes: Mapping[str, _Change]) -> Moves:
    before = vault.index.targets.changed({name: change.before for name, change in changes.items()})
    gone: dict[str, NoteNames | None] = dict.fromkeys(changes)
    after = before.changed(gone).changed({change.after.filename: change.after for change in changes.values()})
    return Moves(
        before,
        after,
        {name: change.after.filename for name, change in changes.items() if change.after.filename != name},
        {name: change.after.title for name, change in changes.items() if change.after.title != change.before.title},
        {name: change.heading for name, change in changes.items() if change.heading is not None},
    )


def _moves_elsewhere(vault: VaultNotes, changes: Mapping[str, _Change]) -> Moves:
    """What another vault sees of it: titles only, since DeepLore looks for them in all vaults and Obsidian in one."""
    before = {_elsewhere(name): NoteNames(_elsewhere(name), change.before.title) for name, change in changes.items()}
    after = {_elsewhere(name): NoteNames(_elsewhere(name), change.after.title) for name, change in changes.items()}
    titles = {name: after[name].title for name in before if after[name].title != before[name].title}
    targets = vault.index.targets
    return Moves(targets.changed(before), targets.changed(after), {}, titles, {}, elsewhere=True)


def _elsewhere(filename: str) -> str:
    """The name under which another vault knows the note; no file can have it."""
    return f"\0{filename}"


def _sources(vault: VaultNotes, moves: Moves, changes: Mapping[str, _Change]) -> list[str]:
    """The notes to look through: those that may name a changed note, by its old or its new names, and itself."""
    found: set[str] = set()
    for change in changes.values():
        found |= vault.index.naming(change.before) | vault.index.naming(change.after)
    return sorted(found | (moves.before.notes.keys() & changes.keys() & vault.index.notes.keys()))


def _broken(vaults: Sequence[VaultNotes]) -> list[str]:
    """A remark where notes could not be read, as references in them stay as they are."""
    return [
        f"{note.filename} cannot be read, so references in it stay as they are. {note.message}"
        for vault in vaults
        for note in vault.left_out
        if note.problem.broken
    ]
