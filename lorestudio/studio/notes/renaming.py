"""Plans that rename, move and retitle notes together with every reference to them.

DeepLore takes the first heading for the title and only without one the file's name (rules: deeplore 1.6), and
looks for titles in links and fields; Obsidian looks for file names. So a new name changes whichever carries the old
one, and references follow what they named. Names are such that every system, Obsidian and DeepLore take them.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from functools import partial
from pathlib import Path
from posixpath import basename, dirname
from types import MappingProxyType
from typing import Final

from msgspec import Struct

from lorestudio.domain.entry import NoteProblem
from lorestudio.domain.file_names import NOT_IN_FILES, NOT_IN_LINKS, is_device, same_name
from lorestudio.domain.javascript import Json, fold, trim
from lorestudio.domain.records import replace
from lorestudio.domain.texts import comparable
from lorestudio.exchange.problems import InputError
from lorestudio.settings.files import READ_AT_MOST, read_whole
from lorestudio.studio.notes.changes.change_set import ChangeSet, NoteFileChange
from lorestudio.studio.notes.changes.plan import read_bytes
from lorestudio.studio.notes.vault_notes import Planned, VaultNotes, attachments, home_of, listed
from lorestudio.studio.tuning.expectations import expectations_path, load
from lorestudio.trace.wording import plural
from lorestudio.vault.files import VaultError, refused
from lorestudio.vault.links.canvas import CANVAS_SUFFIX, CardText, cards, links, spelled
from lorestudio.vault.links.index import index_note
from lorestudio.vault.links.mentions import stands_alone
from lorestudio.vault.links.references import Escape, Reference, ReferenceKind, decode, heading_text, references
from lorestudio.vault.links.targets import NOTE_SUFFIX, FoundBy, LinkTargets, NoteNames, Target, escaped, written_paths
from lorestudio.vault.note.document import NoteDocument
from lorestudio.vault.note.spans import split_places
from lorestudio.vault.note.text_edits import TextEdit, apply_edits
from lorestudio.vault.sources import vault_names
from lorestudio.vault.writer import read_note

_MOST_BYTES: Final = 255


def checked_name(name: str) -> str:
    """The base name of a note, trimmed. Raises InputError with what is wrong."""
    name = trim(name)
    _check_part(name, "a note")
    if name.lower().endswith(NOTE_SUFFIX):
        raise InputError(name, f"give the name without {NOTE_SUFFIX}; the studio adds it.")
    return name


def checked_title(title: str) -> str:
    """A title that links can name, trimmed. Raises InputError with what is wrong."""
    title = trim(title)
    if not title:
        raise InputError("title", "a note needs a title. Write one.")
    if len(title.splitlines()) > 1:
        raise InputError(title, "a title is one line. Take the line break out.")
    _check_signs(title, NOT_IN_LINKS, "a title, as no link could name it")
    return title


def checked_folder(folder: str, vault: Path) -> str:
    """A folder relative to the vault, "" for the vault itself, with `/`. Raises InputError with what is wrong.

    One that is there in other capital letters is meant: on Windows and macOS those are one folder.
    """
    parts = [part for part in folder.replace("\\", "/").split("/") if part not in ("", ".")]
    for part in parts:
        if part == "..":
            raise InputError(folder, "it has to be inside the vault. Give its path from the vault's own folder.")
        _check_part(part, "a folder")
    place = vault
    for number, part in enumerate(parts):
        there = _names_in(place)
        parts[number] = (
            part if part in there else next((one for one in there if same_name(one) == same_name(part)), part)
        )
        place /= parts[number]
    return "/".join(parts)


def _names_in(folder: Path) -> list[str]:
    with refused(partial(InputError, folder), "the folder cannot be read: {reason}. Check its permissions."):
        return sorted(item.name for item in folder.iterdir()) if folder.is_dir() else []


def check_free(vault: Path, filename: str, own: Collection[str] = ()) -> None:
    """Raise InputError where a file of this name is there, also in other capital letters.

    On Windows and macOS those are one name. `own` are files that give up their names in the same step.
    """
    place = vault / filename
    free = {same_name(name) for name in own}
    folder = filename.rpartition("/")[0]
    for name in _names_in(place.parent):
        path = f"{folder}/{name}" if folder else name
        if same_name(name) == same_name(place.name) and same_name(path) not in free:
            as_written = "" if name == place.name else f" (written “{name}”, which is the same name on some systems)"
            raise InputError(filename, f"there is a file of this name already{as_written}. Choose another name.")


def _check_part(name: str, what: str) -> None:
    if not name:
        raise InputError("name", f"{what} needs a name. Write one.")
    _check_signs(name, NOT_IN_FILES + NOT_IN_LINKS, f"the name of {what}")
    if name.startswith("."):
        raise InputError(name, "names that begin with a dot are hidden from Obsidian and DeepLore. Take the dot away.")
    if name.endswith((".", " ")):
        raise InputError(name, "Windows has no names that end with a dot or a space. Take it away.")
    if is_device(name):
        raise InputError(name, "Windows keeps this name for itself. Choose another one.")
    if len(f"{name}{NOTE_SUFFIX}".encode("utf-8", "surrogatepass")) > _MOST_BYTES:
        raise InputError(f"{name[:20]}…", f"the name is longer than {_MOST_BYTES} bytes. Choose a shorter one.")


def _check_signs(name: str, signs: str, what: str) -> None:
    found = [char for char in dict.fromkeys(name) if char in signs]
    hidden = [char for char in name if ord(char) < 32 or char == "\x7f" or "\ud800" <= char <= "\udfff"]
    if found or hidden:
        shown = " ".join([*found, *(f"U+{ord(char):04X}" for char in dict.fromkeys(hidden))])
        raise InputError(name, f"{shown} cannot stand in {what}. Leave out {' '.join(signs)} and control characters.")


_SUBPATH = re.compile(r"#([^#|\]\n)>]*)")


class Moves(Struct, frozen=True):
    """What becomes of files: `paths` from old names to new ones, `titles` from old names to titles that change.

    `headings` are the old and new words of a first heading that changes, by old file name. `before` and `after` are the
    names of all files then and now.
    """

    before: LinkTargets
    after: LinkTargets
    paths: Mapping[str, str]
    titles: Mapping[str, str]
    headings: Mapping[str, tuple[str, str]]
    elsewhere: bool = False
    """The changed notes are of another vault: only DeepLore leads there."""

    def new_path(self, filename: str) -> str:
        """Where the file is afterwards."""
        return self.paths.get(filename, filename)


class Rewriting(Struct):
    """The references of one note, one by one. `remarks` are sentences about those that could not be kept."""

    moves: Moves
    source: str
    text: str
    own: Iterable[TextEdit] = ()
    found: Iterable[Reference] | None = None
    """Its references, where they are not those of a note."""
    remarks: list[str] = []

    def result(self) -> str:
        """The note's text afterwards, with the edits of its `own` that were given."""
        edits = list(self.own)
        taken = [(edit.start, edit.end) for edit in edits]
        fields: dict[str, dict[int | None, str]] = {}
        for reference in references(self.text) if self.found is None else self.found:
            if any(reference.start < end and start < reference.end for start, end in taken):
                continue
            target = self.moves.before.find(reference, self.source)
            if target.filename is None or (self.moves.elsewhere and not reference.counts_for_deeplore):
                continue
            name = self._new_name(reference, target, target.filename)
            if reference.target and not self._tell_of_deeplore(reference, name):
                self._tell_where_it_leads(reference, name, target.filename)
            if name is not None and reference.names_title and reference.counts_for_deeplore:
                fields.setdefault(reference.field, {})[reference.item] = name
                continue
            found = list(self._edits(reference, target.filename, name))
            if found and reference.names_title:
                fields.setdefault(reference.field, {})[reference.item] = _edited_part(self.text, reference, found)
                continue
            edits += found
            taken += [(reference.start, reference.end)] if found else []
        for name, items in fields.items():
            edits += self._property_edit(name, items)
        return apply_edits(self.text, edits)

    def _new_name(self, reference: Reference, target: Target, filename: str) -> str | None:
        """The words that name the same file afterwards; None where they stay.

        What DeepLore follows goes by the title, everything else by the file.
        """
        if not reference.target:
            return None
        goal = self.moves.new_path(filename)
        if self._follows_title(reference, target, filename):
            title = self.moves.titles.get(filename)
            return title if title != reference.target else None
        if target.by not in (FoundBy.PATH, FoundBy.NAME):
            return None
        return self._new_path(reference, filename, goal)

    def _follows_title(self, reference: Reference, target: Target, filename: str) -> bool:
        if target.by is FoundBy.TITLE:
            return True
        if reference.deeplore_name is None:
            return False
        titled = self.moves.before.by_title(reference.deeplore_name)
        return titled is not None and titled.filename == filename

    def _new_path(self, reference: Reference, old: str, goal: str) -> str | None:
        source_after = self.moves.new_path(self.source)
        unmoved = goal == old and dirname(source_after) == dirname(self.source)
        relative_first = reference.escape is not Escape.NONE
        if unmoved and self._leads(reference.target, goal, relative_first=relative_first, surely=False):
            return None
        for name in written_paths(reference, old, goal, self.source, source_after):
            if self._leads(name, goal, relative_first=relative_first):
                return name if name != reference.target else None
        return None

    def _leads(self, name: str, goal: str, *, relative_first: bool, surely: bool = True) -> bool:
        """Whether the words lead to the file; `surely`: a mere name is no other file's, or a file's at the root."""
        after = self.moves.after
        found = after.by_path(name, self.moves.new_path(self.source), relative_first=relative_first)
        if found is None or found.filename != goal:
            return False
        return not surely or "/" in name or "/" not in goal or after.unique(name)

    def _tell_of_deeplore(self, reference: Reference, name: str | None) -> bool:
        """A remark where DeepLore will not find the note that it found; says whether there is one."""
        if reference.deeplore_name is None:
            return False
        before = self.moves.before.by_title(reference.deeplore_name)
        if before is None or before.filename is None:
            return False
        after = self.moves.after.by_title(reference.deeplore_name if name is None else name + reference.subpath)
        if after is not None and after.filename == self.moves.new_path(before.filename):
            return False
        elsewhere = "nowhere" if after is None else f"to {after.filename}, which has the same title"
        self.remarks.append(
            f"“{reference.target}” led to {before.filename} in DeepLore and will lead {elsewhere}. Notes of the same "
            "title or name cannot be told apart; give them different ones."
        )
        return True

    def _tell_where_it_leads(self, reference: Reference, name: str | None, filename: str) -> None:
        """A remark where the reference does not lead to the same file any more, or not for both readers."""
        goal, source = self.moves.new_path(filename), self.moves.new_path(self.source)
        renamed = reference if name is None else replace(reference, target=name)
        words = renamed.target
        found = self.moves.after.find(renamed, source).filename
        titled = self.moves.after.by_title(words)
        if reference.counts_for_deeplore and titled is not None and titled.filename == goal:
            before = self.moves.before.by_path(reference.target, self.source)
            after = self.moves.after.by_path(words, source)
            lost = reference.in_obsidian and before is not None and before.filename == filename
            if found != goal or (lost and (after is None or after.filename != goal)):
                elsewhere = "will not find it" if found in (goal, None) else f"finds {found}"
                self.remarks.append(
                    f"“{words}” goes on to lead to {goal} in DeepLore, which looks for the title. "
                    f"Obsidian looks for the file's name and {elsewhere}."
                )
        elif found != goal:
            elsewhere = "nowhere" if found is None else f"to {found}, which has the same name or title"
            self.remarks.append(f"“{words}” led to {goal} and will lead {elsewhere}. Mend it by hand.")

    def _edits(self, reference: Reference, filename: str, name: str | None) -> Iterator[TextEdit]:
        as_written = self.text[reference.target_start : reference.target_end]
        if name is not None:
            if reference.in_heading and reference.kind is not ReferenceKind.WIKILINK:
                self.remarks.append("A link in the heading stays as it is, or the title would change.")
                return
            spelled = escaped(name, reference, as_written)
            if reference.kind is ReferenceKind.PROPERTY and self.text[reference.start - 1] == "'":
                spelled = spelled.replace("'", "''")
            yield TextEdit(reference.target_start, reference.target_end, spelled)
            if reference.in_heading and reference.alias is None:
                # The heading is a title: what is read there stays.
                shown = self.text[reference.start + 2 : reference.end - 2]
                yield TextEdit(reference.end - 2, reference.end - 2, f"|{shown}")
        words = self.moves.headings.get(filename)
        subpath = _SUBPATH.match(self.text, reference.target_end) if words is not None and reference.subpath else None
        if words is not None and subpath is not None and decode(subpath[1]).strip() == words[0]:
            yield TextEdit(subpath.start(1), subpath.end(1), escaped(words[1], reference, subpath[1]))

    def _property_edit(self, name: str, items: Mapping[int | None, str]) -> list[TextEdit]:
        """The edit of a field whose items are titles; `items` are the new ones by their place in the list."""
        document = NoteDocument(self.text)
        found = document.find(name)
        if found is None:
            return []
        value: Json = items.get(None)
        if value is None and isinstance(found.value, list | tuple):
            value = [items.get(place, item) for place, item in enumerate(found.value)]
        if value is None:
            return []
        try:
            return [document.set(found.name, value)]
        except ValueError as error:
            self.remarks.append(str(error))
            return []


def _edited_part(text: str, reference: Reference, edits: Iterable[TextEdit]) -> str:
    """The text of the reference with these edits, which are all inside it."""
    start = reference.start
    moved = [TextEdit(edit.start - start, edit.end - start, edit.text) for edit in edits]
    return apply_edits(text[start : reference.end], moved)


class OldKey(StrEnum):
    """What becomes of a key that says the old title: it stays, the new title joins it, or takes its place."""

    KEEP = "keep"
    JOIN = "join"
    REPLACE = "replace"


class NewName(Struct, frozen=True):
    """What one note is to be called and where it is to be; None leaves as it is.

    `title` alone renames what carries the title: the heading and, where it says the same but for capital letters, the
    file. A file's name that is all in small letters stays so.
    """

    title: str | None = None
    name: str | None = None
    folder: str | None = None
    old_key: OldKey = OldKey.KEEP


class _NameChange(Struct, frozen=True):
    """One note's names before and after; `heading` are the words of its heading before and after, where they change.

    `edits` are those of the note's own text that say its new title.
    """

    before: NoteNames
    after: NoteNames
    heading: tuple[str, str] | None = None
    edits: tuple[TextEdit, ...] = ()


def plan_rename(vaults: Sequence[VaultNotes], path: Path, wanted: NewName) -> Planned:
    """Rename one note. `vaults` are those that DeepLore merges: titles are looked up in all of them.

    Files are read again, so the plan fits what is on disk. Raises InputError where the name cannot be had, and
    VaultError where a file cannot be read.
    """
    vault, filename = home_of(vaults, path)
    if wanted.folder is not None:
        wanted = replace(wanted, folder=checked_folder(wanted.folder, vault.folder))
    change = _change(vault, filename, wanted)
    if change.after == change.before:
        raise InputError(filename, "the note is called so already.")
    if change.after.filename != filename:
        check_free(vault.folder, change.after.filename, [filename])
    _check_title(vaults, change)
    before, after = change.before.title, change.after.title
    retitled = before != after
    title = f"Rename {before} to {after}" if retitled else f"Rename {filename} to {change.after.filename}"
    planned = _plan(vaults, vault, [change], title)
    if not retitled:
        return planned
    return replace(planned, remarks=(*planned.remarks, *_still_said(vaults, change, planned.changes)))


def _still_said(vaults: Sequence[VaultNotes], change: _NameChange, changes: ChangeSet) -> Iterator[str]:
    """A remark where texts go on saying the old title: only what refers to the note follows it."""
    old, texts = change.before.title, {each.path: each.after for each in changes.changes}
    said = []
    for vault in vaults:
        for name, note in vault.index.notes.items():
            text = texts.get(vault.path(name)) or note.text
            body = text[split_places(text)[2] :].replace(change.after.title, "\n") if old in text else ""
            said.append(sum(stands_alone(body, *found.span()) for found in re.finditer(re.escape(old), body)))
    if times := sum(said):
        where = f"{plural(times, '# time|# times')}, in {plural(sum(map(bool, said)), '# note|# notes')}"
        yield f"Plain text still says “{old}” {where}: search for it to replace it."


def plan_move(
    vaults: Sequence[VaultNotes], paths: Sequence[Path], folder: str, within: str = "", beside: Sequence[str] = ()
) -> Planned:
    """Move notes into a folder of their vault, "" for the vault itself; those that are there already stay.

    Those that lie `within` a folder keep the folders that they have below it, and so do files `beside` them in it,
    which go along. Raises InputError where a name is taken there, and VaultError where a file cannot be read.
    """
    if not paths:
        raise InputError("notes", "no note is chosen.")
    vault = home_of(vaults, paths[0])[0]
    folder = checked_folder(folder, vault.folder)
    changes: dict[str, _NameChange] = {}
    for path in paths:
        home, filename = home_of(vaults, path)
        if home is not vault:
            raise InputError(path, "notes of several vaults cannot be moved in one step. Choose those of one vault.")
        change = _change(vault, filename, NewName(folder=_below(filename, within, folder)))
        if change.after != change.before:
            changes[filename] = change
    if not changes:
        raise InputError(folder or str(vault.folder), "the notes are in this folder already.")
    others = {name: "/".join(filter(None, (_below(name, within, folder), basename(name)))) for name in beside}
    moved = {**{name: change.after.filename for name, change in changes.items()}, **others}
    targets: dict[str, str] = {}
    for filename, after in moved.items():
        check_free(vault.folder, after, list(moved))
        other = targets.setdefault(after.lower(), filename)
        if other != filename:
            raise InputError(after, f"{other} and {filename} would have the same name there.")
    where = folder or "the vault's own folder"
    what = next(iter(changes.values())).before.title if len(changes) == 1 else f"{len(changes)} notes"
    return _plan(vaults, vault, list(changes.values()), f"Move {what} to {where}", others)


def _below(filename: str, within: str, folder: str) -> str:
    """The folder that a file comes into, which has those that it lies in `within` another one."""
    below = dirname(filename).removeprefix(within).strip("/") if within else ""
    return "/".join(filter(None, (folder, below)))


_MOST_BESIDE: Final = 64 * 1024 * 1024
"""Bytes of the files that go along with a folder: what undoes it has all of them."""


def plan_move_folder(vaults: Sequence[VaultNotes], home: Path, folder: str, to: str) -> Planned:
    """Give a folder of the vault at `home` another path, with all that lies in it and below it.

    What is no note stays where it is too large to be kept for the undo, and a note that cannot be read. Raises
    InputError where it cannot have that path, and VaultError where a file cannot be read.
    """
    vault = next(each for each in vaults if each.folder == home)
    to = checked_folder(to, home)
    if to == folder or to.startswith(f"{folder}/"):
        first = " To change capital letters alone, give it a third name first." if to == folder else ""
        raise InputError(to, f"the folder is there already, or would lie in itself. Give another path.{first}")
    notes = [vault.path(name) for name in vault.index.notes if name.startswith(f"{folder}/")]
    beside = [name for name in attachments(home) if name.startswith(f"{folder}/") and vault.path(name).is_file()]
    unread = [note.filename for note in vault.left_out if note.filename.startswith(f"{folder}/")]
    told = [f"What cannot be read stays in {folder}: {listed(unread)}."] if unread else []
    if sum(vault.path(name).stat().st_size for name in beside) > _MOST_BESIDE:
        told.append(f"What is no note stays in {folder}, as it is too large to be kept for the undo: {listed(beside)}.")
        beside = []
    planned = plan_move(vaults, notes, to, folder, beside)
    title = f"Move the folder {folder} to {to or 'the vault itself'}"
    return replace(planned.titled(title), remarks=(*planned.remarks, *told))


def _change(vault: VaultNotes, filename: str, wanted: NewName) -> _NameChange:
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
        folder = wanted.folder
    if name != before.base_name:
        last = name + NOTE_SUFFIX
    after = NoteNames(f"{folder}/{last}" if folder else last, title, before.aliases)
    if title == before.title:
        return _NameChange(before, after)
    edits = (*title_property(text, before.title, title), *_key_edits(text, before.title, title, wanted.old_key))
    if words is None or not has_heading:
        return _NameChange(before, after, edits=edits)
    return _NameChange(before, after, (text[slice(*words)], title), (*edits, TextEdit(*words, title)))


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


def says_title(keys: Iterable[str], title: str) -> bool:
    """Whether one of the keys is the title, but for capital letters."""
    return any(fold(key) == fold(title) for key in keys)


def _key_edits(text: str, old: str, new: str, way: OldKey) -> tuple[TextEdit, ...]:
    document = NoteDocument(text)
    found = document.find("keys")
    keys = found.value if found is not None else None
    if way is OldKey.KEEP or not isinstance(keys, list) or not says_title(map(str, keys), old):
        return ()
    said = [key for key in keys if fold(str(key)) == fold(old)]
    place = keys.index(said[0])
    made = [key for key in keys if way is OldKey.JOIN or key not in said]
    if not says_title(map(str, made), new):
        made.insert(place + (way is OldKey.JOIN), new)
    return (document.set("keys", made),)


def _check_title(vaults: Sequence[VaultNotes], change: _NameChange) -> None:
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


def _plan(
    vaults: Sequence[VaultNotes],
    home: VaultNotes,
    changes: Sequence[_NameChange],
    title: str,
    beside: Mapping[str, str] = MappingProxyType({}),
) -> Planned:
    """The change of the notes and of all that names them; other files get the paths that `beside` has for them."""
    by_name = {change.before.filename: change for change in changes}
    remarks: dict[str, list[str]] = {}
    made: list[NoteFileChange] = []
    for vault in vaults:
        moves = _moves(vault, by_name, beside) if vault is home else _moves_elsewhere(vault, by_name)
        for source in _sources(vault, moves, by_name, beside if vault is home else ()):
            text, _ = read_note(vault.path(source))
            change = by_name.get(source) if vault is home else None
            rewriting = Rewriting(moves, source, text, () if change is None else change.edits)
            after = rewriting.result()
            for remark in dict.fromkeys(rewriting.remarks):
                remarks.setdefault(remark, []).append(source)
            new_path = vault.path(moves.new_path(source))
            if after != text or new_path != vault.path(source):
                path = vault.path(source)
                made.append(NoteFileChange(path, text, after, None if new_path == path else new_path))
    made += _in_canvases(home, _moves(home, by_name, beside), remarks)
    done = {change.path for change in made}
    for name, after in beside.items():
        path = home.path(name)
        if path not in done and (data := read_bytes(path)) is not None:
            moved = NoteFileChange(path, data, data, home=home.folder)
            made.append(replace(moved, new_path=home.path(after)))
    told = [f"{remark} In {listed(sources)}." for remark, sources in remarks.items()]
    try:
        made += _in_expectations(vaults, home, changes)
    except InputError as error:
        told.append(f"What is expected of notes keeps their old names. {error}")
    return Planned(ChangeSet(title, tuple(made)), (*told, *_broken(vaults, changes)))


def _in_canvases(home: VaultNotes, moves: Moves, remarks: dict[str, list[str]]) -> Iterator[NoteFileChange]:
    """The changes of Obsidian's canvases, which only name files of their own vault; `remarks` are added to."""
    for canvas in attachments(home.folder):
        if not canvas.endswith(CANVAS_SUFFIX):
            continue
        try:
            before, _ = read_note(home.path(canvas))
            found = list(cards(before))
        except (VaultError, ValueError) as error:
            reason = str(error).removesuffix(".")
            remarks.setdefault(f"It cannot be read, so it keeps what it names: {reason}.", []).append(canvas)
            continue
        edits: list[TextEdit] = []
        for card in found:
            for name, value in _in_card(card, moves, canvas, remarks):
                start, end, _ = card[name]
                edits.append(TextEdit(start, end, spelled(value, before[start:end])))
        if edits or canvas in moves.paths:
            new_path = home.path(moves.paths[canvas]) if canvas in moves.paths else None
            yield NoteFileChange(home.path(canvas), before, apply_edits(before, edits), new_path)


def _in_card(
    card: Mapping[str, CardText], moves: Moves, canvas: str, remarks: dict[str, list[str]]
) -> Iterator[tuple[str, str]]:
    """The texts of a card that become others: the path of its file, the heading that is shown of it, and its links."""
    target = moves.before.by_path(f"/{card['file'].value}", canvas) if "file" in card else None
    if target is not None and target.filename is not None:
        if target.filename in moves.paths:
            yield "file", moves.paths[target.filename]
        old, new = moves.headings.get(target.filename, ("", ""))
        if old and "subpath" in card and card["subpath"].value == f"#{old}":
            yield "subpath", f"#{new}"
    if found := links(card):
        rewriting = Rewriting(moves, canvas, card["text"].value, found=found)
        after = rewriting.result()
        for remark in dict.fromkeys(rewriting.remarks):
            remarks.setdefault(remark, []).append(canvas)
        if after != card["text"].value:
            yield "text", after


def _in_expectations(
    vaults: Sequence[VaultNotes], home: VaultNotes, changes: Sequence[_NameChange]
) -> Iterator[NoteFileChange]:
    """The change of the file that says what should be in the prompt. Raises InputError where it cannot be read."""
    path = expectations_path([vault.folder for vault in vaults])
    if path is None or not path.exists():
        return
    files = {change.before.filename: change.after.filename for change in changes}
    others = {comparable(before): after for before, after in files.items()}
    retitled = [change for change in changes if change.after.title != change.before.title]
    titles = {comparable(change.before.title): change.after.title for change in retitled}
    of_home = f"{vault_names(vault.folder for vault in vaults)[home.folder]}:"

    def renamed(name: str) -> str:
        file = name.removeprefix(of_home)
        if after := files.get(file) or (file not in home.index.notes and others.get(comparable(file))):
            return name.removesuffix(file) + after
        suffix = NOTE_SUFFIX if name.endswith(NOTE_SUFFIX) else ""
        folder, slash, title = name.removesuffix(suffix).rpartition("/")
        return f"{folder}{slash}{titles.get(comparable(title), title)}{suffix}"

    before = load(path)
    after = before.with_names(renamed, path)
    if after.text != before.text:
        yield NoteFileChange(path, before.text, after.text)


def _moves(vault: VaultNotes, changes: Mapping[str, _NameChange], beside: Mapping[str, str]) -> Moves:
    before = vault.index.targets.changed({name: change.before for name, change in changes.items()})
    gone: dict[str, NoteNames | None] = dict.fromkeys(changes)
    after = before.changed(gone).changed({change.after.filename: change.after for change in changes.values()})
    moved = {name: change.after.filename for name, change in changes.items() if change.after.filename != name}
    return Moves(
        before,
        after.changed({}, beside),
        {**moved, **beside},
        {name: change.after.title for name, change in changes.items() if change.after.title != change.before.title},
        {name: change.heading for name, change in changes.items() if change.heading is not None},
    )


def _moves_elsewhere(vault: VaultNotes, changes: Mapping[str, _NameChange]) -> Moves:
    """What another vault sees of it: titles only, since DeepLore looks for them in all vaults and Obsidian in one."""
    before = {_elsewhere(name): NoteNames(_elsewhere(name), change.before.title) for name, change in changes.items()}
    after = {_elsewhere(name): NoteNames(_elsewhere(name), change.after.title) for name, change in changes.items()}
    titles = {name: after[name].title for name in before if after[name].title != before[name].title}
    targets = vault.index.targets
    return Moves(targets.changed(before), targets.changed(after), {}, titles, {}, elsewhere=True)


def _elsewhere(filename: str) -> str:
    """The name under which another vault knows the note; no file can have it."""
    return f"\0{filename}"


def _sources(vault: VaultNotes, moves: Moves, changes: Mapping[str, _NameChange], beside: Iterable[str]) -> list[str]:
    """The notes to look through: those that may name a changed note, by its old or its new names, and itself; and
    those that may name a file `beside` them.
    """
    found = {source for name in beside for source in vault.index.naming(NoteNames(name, ""))}
    for change in changes.values():
        found |= vault.index.naming(change.before) | vault.index.naming(change.after)
    return sorted(found | (moves.before.notes.keys() & changes.keys() & vault.index.notes.keys()))


def _broken(vaults: Sequence[VaultNotes], changes: Sequence[_NameChange]) -> list[str]:
    """A remark where notes could not be read that may name a changed one, as references in them stay as they are."""
    names = {fold(name) for change in changes for name in (change.before.base_name, change.before.title)}
    return [
        f"{note.filename} cannot be read, so references in it stay as they are. {note.message}"
        for vault in vaults
        for note in vault.left_out
        if note.problem.broken and note.problem is not NoteProblem.LOOP and _may_hold(vault.path(note.filename), names)
    ]


def _may_hold(path: Path, names: Collection[str]) -> bool:
    """Whether one of these names may stand in a note that is no text: a file whose bytes cannot be had holds any."""
    try:
        data = read_whole(path, READ_AT_MOST).replace(b"\0", b"") if path.is_file() else b""  # as UTF-16 has them
    except OSError:
        return True
    text = fold(decode(data.decode("utf-8", "replace")))
    return any(name in text for name in names) or path.is_dir()
