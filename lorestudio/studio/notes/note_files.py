"""Plans that make, duplicate and delete notes, and the templates that a new note begins with."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Final

from msgspec import Struct

from lorestudio.domain.entry import Entry
from lorestudio.domain.file_names import same_name
from lorestudio.domain.javascript import Json, fold
from lorestudio.domain.json_text import items_in, parse_json, text_in
from lorestudio.domain.texts import MONTHS
from lorestudio.exchange.problems import InputError
from lorestudio.settings.files import read_whole
from lorestudio.studio.notes.changes.change_set import ChangeSet, NoteFileChange
from lorestudio.studio.notes.renaming import check_free, checked_folder, checked_name, title_property
from lorestudio.studio.notes.vault_notes import Planned, VaultNotes, home_of, listed
from lorestudio.trace.wording import ordinal
from lorestudio.vault import front_matter
from lorestudio.vault.links.references import heading_text
from lorestudio.vault.links.targets import NOTE_SUFFIX, base_name
from lorestudio.vault.note.document import NoteDocument
from lorestudio.vault.note.spans import split_places
from lorestudio.vault.note.text_edits import TextEdit, apply_edits
from lorestudio.vault.writer import read_note

_FOLDER: Final = "templates"
_NAMED_IN: Final = (("templates.json", "folder"), ("plugins/templater-obsidian/data.json", "templates_folder"))
"""Where Obsidian and its plugin Templater keep which folder it is."""
_BY_TITLE: Final = "{{title}}"
_PLACEHOLDER: Final = re.compile(
    r"\{\{(title|date|time)(?::([^{}]*))?\}\}|"
    r"<%\s*tp\.(?:file\.(title|cursor\(\d*\))|date\.now\((?:\"([^\"]*)\"|'([^']*)')?\))\s*%>"
)
"""Obsidian's own, and what most templates of Templater ask for: the title, the moment, where one goes on writing."""
_USUAL: Final = MappingProxyType({"date": "YYYY-MM-DD", "time": "HH:mm"})
_TOKEN: Final = re.compile(r"\[([^][]*)\]|YYYY|YY|GGGG|Q|M{1,4}|Do|D{1,4}|d{1,4}|WW?|HH?|hh?|mm?|ss?|A|a|T|([A-Za-z])")
_DAYS: Final = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


class Template(Struct, frozen=True):
    """A note with `{{title}}`, `{{date}}` and `{{time}}` in it, the last two also with a format: `{{date:D MMMM}}`.

    `filename` is that of a vault's own template, "" for the others; `formats` are those of its dates and times.
    """

    name: str
    text: str
    filename: str = ""
    formats: Mapping[str, str] = _USUAL


def _built_in(name: str, tag: str, body: str, **fields: Json) -> Template:
    from lorestudio.vault.note.yaml_handler import compose_note  # noqa: PLC0415  # the window begins without a new note

    properties = {"tags": ["lorebook", tag], "keys": [_BY_TITLE], "priority": 50, **fields, "summary": ""}
    return Template(name, compose_note(properties, f"\n# {_BY_TITLE}\n\n{body}", alike=True))


@cache
def built_in() -> tuple[Template, ...]:
    """A note of each kind that lore is mostly made of."""
    return (
        _built_in(
            "character", "character",
            "Who they are: \n\nLooks:\n\nManner and voice:\n\nWhat they want:\n\nTies to others:\n",
        ),
        _built_in(
            "place", "location", "What one sees first: \n\nWho is here:\n\nWhat happens here:\n\nWhat lies near:\n"
        ),
        _built_in("faction", "faction", "What they are after: \n\nMembers:\n\nMeans:\n\nFriends and enemies:\n"),
        _built_in("item", "item", "What it is: \n\nLooks:\n\nWhat it does:\n\nWho has it, and where it came from:\n"),
        _built_in("event", "event", "What happened, and when: \n\nWho took part:\n\nWhat came of it:\n"),
        _built_in("rule", "rule", "What always holds in this world: \n\nExceptions:\n", constant=False),
    )  # fmt: skip


def templates(vault: VaultNotes) -> tuple[Template, ...]:
    """The vault's own templates by name, then those of the studio whose names are not taken."""
    folders = template_folders(vault.folder)
    said = {name: _said(vault.folder, "templates.json", f"{name}Format") or usual for name, usual in _USUAL.items()}
    own = [
        Template(base_name(filename), note.text, filename, said)
        for filename, note in sorted(vault.index.notes.items())
        if filename.lower().startswith(folders)
    ]
    taken = {template.name.lower() for template in own}
    return (*own, *(template for template in built_in() if template.name not in taken))


def template_folders(vault: Path) -> tuple[str, ...]:
    """What the names of a vault's own templates begin with, in small letters: as Obsidian says, and a folder Templates.

    Waits for the disk.
    """
    found = [_FOLDER, *(_said(vault, name, key).strip("/").lower() for name, key in _NAMED_IN)]
    return tuple(f"{folder}/" for folder in dict.fromkeys(filter(None, found)))


def _said(vault: Path, name: str, key: str) -> str:
    """What Obsidian keeps under this key in this file of the vault, "" where it is no text. Waits for the disk."""
    with suppress(OSError, ValueError):
        said = parse_json(read_whole(vault / ".obsidian" / name).decode("utf-8-sig"))
        return text_in(said.get(key)) if isinstance(said, Mapping) else ""
    return ""


def usual_template(found: Sequence[Template], notes: Sequence[Entry]) -> int:
    """The place of the template whose name or tags most of these notes have among their tags, else 0.

    A tag counts as those above it, too: what is tagged `location/tavern` is a location.
    """
    tagged = [{fold(name) for tag in note.tags for name in with_above(tag)} for note in notes]

    def users(template: Template) -> int:
        values, _body = front_matter.read(template.text)
        kinds = {fold(template.name), *(fold(str(tag)) for tag in items_in(values.get("tags")))}
        return sum(not kinds.isdisjoint(tags) for tags in tagged)

    return max(range(len(found)), key=lambda place: users(found[place]), default=0)


def with_above(name: str) -> Iterator[str]:
    """A folder or a tag, and those that it lies in."""
    parts = name.split("/") if name else []
    return ("/".join(parts[:size]) for size in range(1, len(parts) + 1))


def in_format(now: datetime, form: str) -> str | None:
    """The moment as Moment's tokens say, of which those are known that make up dates and times; `[text]` stays.

    None where another letter is in the format, except the T of ISO 8601.
    """
    if any(found[2] for found in _TOKEN.finditer(form)):
        return None
    hour, half = now.hour % 12 or 12, "PM" if now.hour >= 12 else "AM"
    iso, day_of_year = now.isocalendar(), now.timetuple().tm_yday
    day = _DAYS[now.weekday()]
    words = {
        "YYYY": f"{now.year:04}", "YY": f"{now.year % 100:02}",
        "MMMM": MONTHS[now.month - 1], "MMM": MONTHS[now.month - 1][:3], "MM": f"{now.month:02}", "M": str(now.month),
        "DDDD": f"{day_of_year:03}", "DDD": str(day_of_year), "DD": f"{now.day:02}", "D": str(now.day),
        "Do": ordinal(now.day), "dddd": day, "ddd": day[:3], "dd": day[:2], "d": str(now.isoweekday() % 7),
        "GGGG": f"{iso.year:04}", "WW": f"{iso.week:02}", "W": str(iso.week), "Q": str((now.month + 2) // 3),
        "HH": f"{now.hour:02}", "H": str(now.hour), "hh": f"{hour:02}", "h": str(hour),
        "mm": f"{now.minute:02}", "m": str(now.minute), "ss": f"{now.second:02}", "s": str(now.second),
        "A": half, "a": half.lower(), "T": "T",
    }  # fmt: skip
    return _TOKEN.sub(lambda found: words.get(found[0], found[1]), form)


def fill(template: str, title: str, now: datetime, formats: Mapping[str, str] = _USUAL) -> str:
    """The text of a template, filled; a property means then what it meant, whatever signs the title has.

    A property is spelled anew only where the bare words would be read as something else.
    """
    text = _filled(template, title, now, formats)
    wanted = {name: _filled_value(value, title, now, formats) for name, value in front_matter.read(template)[0].items()}
    for name, value in wanted.items():
        document = NoteDocument(text)
        found = document.find(name)
        if found is not None and found.value != value:
            try:
                text = apply_edits(text, [document.set(name, value)])
            except ValueError:
                continue  # no spelling holds this title, and the note shows it as the template has it
    return text


def _filled(text: str, title: str, now: datetime, formats: Mapping[str, str]) -> str:
    def word(found: re.Match[str]) -> str:
        if "title" in found.group(1, 3):
            return title
        if found[3]:
            return ""  # the cursor
        form = found[2] or formats[found[1]] if found[1] else found[4] or found[5] or _USUAL["date"]
        made = in_format(now, form)
        return found[0] if made is None else made

    return _PLACEHOLDER.sub(word, text)


def _filled_value(value: Json, title: str, now: datetime, formats: Mapping[str, str]) -> Json:
    if isinstance(value, str):
        return _filled(value, title, now, formats)
    if isinstance(value, list):
        return [_filled_value(item, title, now, formats) for item in value]
    return value


_NUMBERED = re.compile(r"(.*?)(?: (\d+))?", re.DOTALL)


def plan_new(
    vaults: Sequence[VaultNotes], vault: VaultNotes, folder: str, title: str, template: Template | None, now: datetime
) -> Planned:
    """Make a note in a folder of one of the vaults, which is made too; without a template it is a bare heading.

    Raises InputError where the name cannot be had or a note has this title.
    """
    name = checked_name(title)
    folder = checked_folder(folder, vault.folder)
    filename = _joined(folder, name)
    check_free(vault.folder, filename)
    other = _titled(vaults, name)
    if other is not None:
        raise InputError(name, f"{other} has this title already. Choose another one.")
    text = f"# {name}\n" if template is None else fill(template.text, name, now, template.formats)
    return Planned(ChangeSet(f"New note {name}", (NoteFileChange(vault.path(filename), None, text),)))


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


def _copy(vaults: Sequence[VaultNotes], path: Path, taken: set[str]) -> tuple[str, NoteFileChange]:
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
        if not known and taken.isdisjoint({fold(title), same_name(str(vault.path(copy)))}) and _is_free(vault, copy):
            break
        number += 1
    taken |= {fold(title), same_name(str(vault.path(copy)))}
    edits = title_property(text, names.title, title)
    if words is not None and words[0] < words[1]:
        edits = (*edits, TextEdit(*words, title))
    return names.title, NoteFileChange(vault.path(copy), None, apply_edits(text, edits))


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
        changes.append(NoteFileChange(path, text, None))
        links = vault.index.backlinks(filename)
        sources = [
            source for source in dict.fromkeys(link.source for link in links) if vault.path(source) not in chosen
        ]
        if sources:
            remarks.append(f"References to {filename} will lead nowhere: {listed(sources)}.")
    titles = [vault.index.notes[filename].names.title for vault, filename in (home_of(vaults, path) for path in chosen)]
    what = titles[0] if len(titles) == 1 else f"{len(titles)} notes"
    return Planned(ChangeSet(f"Delete {what}", tuple(changes)), tuple(remarks))


def remove_empty(folder: Path) -> None:
    """Remove a folder that notes were moved out of, and those below it, as far as nothing lies in them."""
    for place, _folders, _files in os.walk(folder, topdown=False):
        with suppress(OSError):  # what lies there stays, and so does the folder
            Path(place).rmdir()


def _titled(vaults: Sequence[VaultNotes], title: str) -> str | None:
    """The note of this title in any of the vaults."""
    found = (vault.index.targets.by_title(title) for vault in vaults)
    return next((target.filename for target in found if target is not None), None)


def _is_free(vault: VaultNotes, filename: str) -> bool:
    try:
        check_free(vault.folder, filename)
    except InputError:
        return False
    return same_name(filename) not in {same_name(name) for name in vault.index.notes}


def _stem(name: str) -> str:
    """The name without the number at its end."""
    found = _NUMBERED.fullmatch(name)
    return found[1] if found is not None and found[1] else name


def _joined(folder: str, name: str) -> str:
    return f"{folder}/{name}{NOTE_SUFFIX}" if folder else name + NOTE_SUFFIX
