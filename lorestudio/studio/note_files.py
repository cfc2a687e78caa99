"""Plans that make, duplicate and delete notes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date
from pathlib import Path

from lorestudio.domain.javascript import fold
from lorestudio.exchange.problems import InputError
from lorestudio.studio.change_set import ChangeSet, NoteChange
from lorestudio.studio.note_names import check_free, checked_folder, checked_name
from lorestudio.studio.renaming import title_property
from lorestudio.studio.templates import Template, fill
from lorestudio.studio.vault_notes import Planned, VaultNotes, home_of, listed
from lorestudio.vault import read_note
from lorestudio.vault.link_targets import NOTE_SUFFIX
from lorestudio.vault.links import heading_text
from lorestudio.vault.note_document import TextEdit, apply_edits
from lorestudio.vault.property_texts import split_places

_NUMBERED = re.compile(r"(.*?)(?: (\d+))?", re.DOTALL)


def plan_new(
    vaults: Sequence[VaultNotes], vault: VaultNotes, folder: str, title: str, template: Template | None, today: date
) -> Planned:
    """Make a note in a folder of one of the vaults, which is made too; without a template it is a bare heading.

    Raises InputError where the name cannot be had or a note has this title.
    """
    name = checked_name(title)
    folder = checked_folder(folder)
    filename = _joined(folder, name)
    check_free(vault.folder, filename)
    other = _titled(vaults, name)
    if other is not None:
        raise InputError(name, f"{other} has this title already. Choose another one.")
    text = f"# {name}\n" if template is None else fill(template.text, name, today)
    return Planned(ChangeSet(f"New note {name}", (NoteChange(vault.path(filename), None, text),)))


def plan_duplicate(vaults: Sequence[VaultNotes], paths: Sequence[Path]) -> Planned:
    """Make a copy of each note beside it, with the next number that no title and no file has.

    The heading gets the number where it carries the title, the file always. Raises InputError and VaultError.
    """
    if not paths:
        raise InputError("notes", "no note is chosen.")
    taken: set[str] = set()
    made = [_copy(vaults, path, taken) for path in paths]
    first = made[0][0]
    what = first if len(made) == 1 else f"{len(made)} notes"
    return Planned(ChangeSet(f"Duplicate {what}", tuple(change for _title, change in made)))


def _copy(vaults: Sequence[VaultNotes], path: Path, taken: set[str]) -> tuple[str, NoteChange]:
    """A note's title and its copy; `taken` are titles and places of copies made in the same step."""
    vault, filename = home_of(vaults, path)
    text, _ = read_note(path)
    names = vault.index.notes[filename].names
    words = heading_text(text, split_places(text)[2])
    folder = filename.rpartition("/")[0]
    title_stem, name_stem = _stem(names.title), _stem(names.base_name)
    number = 2
    while True:
        title, name = f"{title_stem} {number}", f"{name_stem} {number}"
        copy = _joined(folder, name)
        known = _titled(vaults, title) is not None or vault.index.targets.by_path(name, "")
        if not known and taken.isdisjoint({fold(title), fold(str(vault.path(copy)))}) and _is_free(vault, copy):
            break
        number += 1
    taken |= {fold(title), fold(str(vault.path(copy)))}
    edits = title_property(text, names.title, title)
    if words is not None and words[0] < words[1]:
        edits = (*edits, TextEdit(*words, title))
    return names.title, NoteChange(vault.path(copy), None, apply_edits(text, edits))


def plan_delete(vaults: Sequence[VaultNotes], paths: Sequence[Path]) -> Planned:
    """Put notes into the trash. The remarks name the notes whose references then lead nowhere."""
    if not paths:
        raise InputError("notes", "no note is chosen.")
    changes = []
    remarks: list[str] = []
    chosen = dict.fromkeys(paths)
    for path in chosen:
        vault, filename = home_of(vaults, path)
        text, _ = read_note(path)
        changes.append(NoteChange(path, text, None))
        links = vault.index.backlinks(filename)
        sources = [
            source for source in dict.fromkeys(link.source for link in links) if vault.path(source) not in chosen
        ]
        if sources:
            remarks.append(f"References to {filename} will lead nowhere: {listed(sources)}.")
    titles = [vault.index.notes[filename].names.title for vault, filename in (home_of(vaults, path) for path in chosen)]
    what = titles[0] if len(titles) == 1 else f"{len(titles)} notes"
    return Planned(ChangeSet(f"Delete {what}", tuple(changes)), tuple(remarks))


def _titled(vaults: Sequence[VaultNotes], title: str) -> str | None:
    """The note of this title in any of the vaults."""
    found = (vault.index.targets.by_title(title) for vault in vaults)
    return next((target.filename for target in found if target is not None), None)


def _is_free(vault: VaultNotes, filename: str) -> bool:
    try:
        check_free(vault.folder, filename)
    except InputError:
        return False
    return fold(filename) not in {fold(name) for name in vault.index.notes}


def _stem(name: str) -> str:
    """The name without the number at its end."""
    found = _NUMBERED.fullmatch(name)
    return found[1] if found is not None and found[1] else name


def _joined(folder: str, name: str) -> str:
    return f"{folder}/{name}{NOTE_SUFFIX}" if folder else name + NOTE_SUFFIX
