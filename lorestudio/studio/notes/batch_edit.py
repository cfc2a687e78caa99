"""Changing one property in many notes: what their properties have in common, the order of priorities, and the plan."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Final, TypeAlias

from msgspec import Struct

from lorestudio.domain.entry import Entry, LeftOutNote
from lorestudio.domain.javascript import Json, to_string, trim
from lorestudio.domain.texts import reading_order
from lorestudio.exchange.lorebooks.kinds.risu import is_lore
from lorestudio.exchange.lorebooks.reading import NAMED
from lorestudio.exchange.problems import InputError
from lorestudio.studio.notes.book_entries import entry_texts, is_book_entry, plan_edits
from lorestudio.studio.notes.changes.change_set import ChangeSet, NoteFileChange
from lorestudio.studio.notes.vault_notes import Planned, VaultNotes, home_of
from lorestudio.studio.project.project import Project
from lorestudio.trace.model import rank
from lorestudio.trace.wording import plural
from lorestudio.vault.entries import ParseRules, parse_note
from lorestudio.vault.files import VaultError
from lorestudio.vault.note.document import NoteDocument
from lorestudio.vault.note.properties import PropertyKind
from lorestudio.vault.note.spelling import equal
from lorestudio.vault.note.text_edits import TextEdit, apply_edits
from lorestudio.vault.writer import read_note


class SetValue(Struct, frozen=True):
    """The property gets this value; it is made where it is missing."""

    value: Json


class ChangeItems(Struct, frozen=True):
    """The property is a list; these items are added at its end and taken out. A list that empties stays as one."""

    add: tuple[str, ...] = ()
    remove: tuple[str, ...] = ()


class EmptyProperty(Struct, frozen=True):
    """The property has no text or no items any more; where it is missing it stays so."""


class RemoveProperty(Struct, frozen=True):
    """The property goes."""


PropertyChange: TypeAlias = SetValue | ChangeItems | EmptyProperty | RemoveProperty


def plan_property(vaults: Sequence[VaultNotes], paths: Sequence[Path], name: str, change: PropertyChange) -> Planned:
    """Change one property in these notes. Notes that are so already are left alone; the remarks name those that cannot.

    Raises InputError where no note or no property is named.
    """
    if not trim(name):
        raise InputError("property", "no property is named.")
    planned = _planned(vaults, trim(name), dict.fromkeys(paths, change))
    return planned.titled(_title(trim(name), change, _amount(planned)))


def plan_numbers(vaults: Sequence[VaultNotes], name: str, numbers: Mapping[Path, int]) -> Planned:
    """Give each of these notes its number, as priority or order. Raises InputError where no note is named."""
    planned = _planned(vaults, name, {path: SetValue(number) for path, number in numbers.items()})
    return planned.titled(f"Number {name} in {_amount(planned)}")


def leaving(planned: Planned, rules: ParseRules) -> int:
    """How many entries become ordinary notes, as the tag of the lorebook goes."""

    def has_tag(text: str) -> bool:
        parsed = parse_note(text, "", "", rules)
        return not (isinstance(parsed, LeftOutNote) and parsed.problem.untagged)

    changes = () if planned.entries else planned.changes.changes
    return sum(not has_tag(one.after or "") and has_tag(one.before or "") for one in changes)


def _amount(planned: Planned) -> str:
    return plural(planned.count, "# entry|# entries" if planned.entries else "# note|# notes")


def _planned(vaults: Sequence[VaultNotes], name: str, changes: Mapping[Path, PropertyChange]) -> Planned:
    if not changes:
        raise InputError("notes", "no note is chosen.")
    if all(map(is_book_entry, changes)):
        return plan_edits(list(changes), lambda path, text: edited(text, name, changes[path]))
    return plan_texts(
        (path, home_of(vaults, path)[1], partial(edited, name=name, change=change)) for path, change in changes.items()
    )


def plan_texts(notes: Iterable[tuple[Path, str, Callable[[str], str]]]) -> Planned:
    """Give each of these notes (path, name, what its text becomes) another text; the remarks name those that cannot
    be changed.
    """
    made: list[NoteFileChange] = []
    remarks: list[str] = []
    for path, filename, change in notes:
        try:
            text, _ = read_note(path)
            after = change(text)
        except (VaultError, ValueError) as error:
            remarks.append(f"{filename}: {error}")
            continue
        if after != text:
            made.append(NoteFileChange(path, text, after))
    return Planned(ChangeSet("", tuple(made)), tuple(remarks))


def edited(text: str, name: str, change: PropertyChange) -> str:
    """The note's text with the change. Raises ValueError with the reason where its front matter does not allow it."""
    edit = property_edit(NoteDocument(text), name, change)
    return text if edit is None else apply_edits(text, [edit])


LEAST_PRIORITY: Final = 1
STEP: Final = 10
"""Between two priorities, so that others can be put between them later."""


def moved_priorities(priorities: Sequence[float], moved: range) -> dict[int, int]:
    """New priorities, by place, where the notes at the places `moved` were put between the others.

    The others stay as they are while there is room between them; where there is none, those behind make room as far as
    they have to. A priority of 0 counts as 50 (rules: deeplore 5.5).
    """
    numbers, amount = [rank(each) for each in priorities], len(moved)
    after = numbers[moved.stop] if moved.stop < len(numbers) else math.inf
    if moved.start == 0 and LEAST_PRIORITY <= after - STEP * amount < math.inf:
        return {place: math.floor(after) - STEP * (amount - at) for at, place in enumerate(moved)}
    before = math.floor(numbers[moved.start - 1]) if moved.start else LEAST_PRIORITY - 1
    between = after - before
    gap = STEP if between <= amount else min(STEP, math.ceil(between) // (amount + 1)) if between < math.inf else STEP
    found = {place: before + max(1, gap) * at for at, place in enumerate(moved, start=1)}
    last = before + max(1, gap) * amount
    for place in range(moved.stop, len(numbers)):
        if numbers[place] > last:
            break
        last = found[place] = last + STEP
    return found


def stepped_priorities(priorities: Sequence[float], step: int = STEP) -> dict[int, int]:
    """New priorities for notes in this order: from the lowest on in steps; those that stay so are left out."""
    first = max(LEAST_PRIORITY, math.floor(min(map(rank, priorities), default=LEAST_PRIORITY)))
    wanted = ((place, first + step * place) for place in range(len(priorities)))
    return {place: number for place, number in wanted if priorities[place] != number}


class Ranks:
    """What ranks the entries of a project: the priorities of its notes, the lowest first, or the orders of its
    lorebooks' entries, the highest first. An entry's order is its book's, also where it is read as a note. A folder of
    Risu's, which SillyTavern takes for an entry, has no place among them: its file has no order for it.
    """

    def __init__(self, project: Project | None) -> None:
        self._project, self.of_books = project, project is not None and project.of_books
        books = project.books if project is not None and self.of_books else ()
        self._orders = {(book.name, f"{NAMED}{each.name}"): each.order for book in books for each in book.entries}
        self._folders = {
            (book.name, f"{NAMED}{each.name}")
            for book in books
            for each, raw in zip(book.entries, book.raws, strict=True)
            if not is_lore(raw)
        }
        self.name = "order" if self.of_books else "priority"

    def number(self, entry: Entry) -> float:
        """The entry's priority or order."""
        return self._orders.get(entry.note_key, entry.priority)

    def in_order(self) -> list[Entry]:
        """All entries by their number, the lowest first; of equal ones those come first that a table has first."""

        def place(entry: Entry) -> tuple[float, object]:
            number = self.number(entry)
            return (number if self.of_books else rank(number)), reading_order(entry.title)

        entries = self._project.index.entries if self._project is not None else ()
        return sorted((entry for entry in entries if entry.note_key not in self._folders), key=place)

    def stepped(self, order: Sequence[Entry], step: int = STEP) -> dict[Path, int]:
        """The new numbers of entries in this order, the lowest first, by their paths; see `stepped_priorities`."""
        return self._renumbered(order, partial(stepped_priorities, step=step))

    def moved(self, order: Sequence[Entry], moved: range) -> dict[Path, int]:
        """The new numbers where these places of an order were put between the others; see `moved_priorities`."""
        return self._renumbered(order, partial(moved_priorities, moved=moved))

    def _renumbered(
        self, order: Sequence[Entry], numbered: Callable[[Sequence[float]], Mapping[int, int]]
    ) -> dict[Path, int]:
        """Orders begin lower than priorities: they are numbered as if they were such, and moved back."""
        numbers = [self.number(entry) for entry in order]
        shift = LEAST_PRIORITY + STEP * len(order) - math.floor(min(numbers, default=0)) if self.of_books else 0
        found: dict[Path, int] = {}
        for at, number in numbered([number + shift for number in numbers]).items():
            key = order[at].note_key
            path = self._project.note_path(*key) if self._project is not None else None
            if path is not None and key not in self._folders:
                found[path] = number - shift
        return found


def property_edit(document: NoteDocument, name: str, change: PropertyChange) -> TextEdit | None:
    """The edit of one note, None where it is so already. Raises ValueError where it cannot be done."""
    found = document.find(name)
    if isinstance(change, RemoveProperty):
        return None if found is None else document.remove(name)
    if isinstance(change, EmptyProperty):
        if found is None or found.value in (None, "", []):
            return None
        if found.kind in (PropertyKind.NUMBER, PropertyKind.FLAG):
            raise ValueError(
                f"“{name}” is {to_string(found.value)}, which cannot be empty. Remove the property instead."
            )
        return document.set(name, [] if found.kind is PropertyKind.LIST else "")
    if isinstance(change, SetValue):
        if found is not None and equal(found.value, change.value) and found.kind is not PropertyKind.INVALID:
            return None
        return document.set(name, change.value)
    items = [] if found is None else _items(found.name, found.kind, found.value, found.line)
    wanted = [item for item in items if item not in change.remove]
    wanted += [item for item in dict.fromkeys(change.add) if item not in wanted]
    return None if wanted == items else document.set(name, wanted)


def _items(name: str, kind: PropertyKind, value: Json, line: int) -> list[str]:
    """The items of a property that is a list, or one text that stands for a list."""
    if kind in (PropertyKind.NESTED, PropertyKind.INVALID):
        raise ValueError(f"“{name}” in line {line} is no list that DeepLore reads. Edit it in the source.")
    if kind is PropertyKind.FLAG:
        raise ValueError(f"“{name}” in line {line} is {to_string(value)} and no list.")
    if isinstance(value, list | tuple):
        return [to_string(item) for item in value]
    if value is None or value == "":
        return []
    text = to_string(value)
    if name.lower() == "keys" and "," in text:  # read as several keys (rules: deeplore 1.5)
        return [key for part in text.split(",") if (key := trim(part))]
    return [text]


def _title(name: str, change: PropertyChange, notes: str) -> str:
    if isinstance(change, RemoveProperty):
        return f"Remove {name} from {notes}"
    if isinstance(change, EmptyProperty):
        return f"Empty {name} in {notes}"
    if isinstance(change, SetValue):
        return f"Set {name} in {notes}"
    words = [f"{verb} {', '.join(items)}" for verb, items in (("add", change.add), ("remove", change.remove)) if items]
    text = f"{' and '.join(words) or 'change nothing'} in {name} of {notes}"
    return text[0].upper() + text[1:]


class PropertySummary(Struct, frozen=True):
    """One property over some notes. `value` is the common one where `same`; `present` counts the notes that have it.

    `kind` is how most of those notes write it; `items` are all items of its lists, the most frequent first.
    """

    name: str
    kind: PropertyKind
    value: Json
    same: bool
    values: int
    present: int
    total: int
    items: tuple[str, ...] = ()


class NotesSummary(Struct, frozen=True):
    """All properties that the notes have, the most frequent first; `failures` name the notes that cannot be read."""

    notes: int
    properties: tuple[PropertySummary, ...]
    failures: tuple[str, ...] = ()

    def find(self, name: str) -> PropertySummary | None:
        """A property by its name, in any letter case."""
        wanted = name.casefold()
        return next((one for one in self.properties if one.name.casefold() == wanted), None)


def summarise(paths: Sequence[Path]) -> NotesSummary:
    """Read these notes, or entries of lorebooks, and compare their properties. Raises VaultError for a broken book."""
    found: dict[str, list[tuple[PropertyKind, Json]]] = {}
    failures: list[str] = []
    read = 0
    entries = entry_texts([path for path in paths if is_book_entry(path)])
    for path in paths:
        try:
            text = entries[path] if path in entries else read_note(path)[0]
        except VaultError as error:
            failures.append(str(error))
            continue
        read += 1
        for item in {item.name: item for item in NoteDocument(text).properties}.values():
            found.setdefault(item.name, []).append((item.kind, item.value))
    summaries = [_summary(name, values, read) for name, values in found.items()]
    order = sorted(summaries, key=lambda one: -one.present)
    return NotesSummary(read, tuple(order), tuple(failures))


def shown_value(value: Json) -> str:
    """A value in one line, as people read it."""
    if value is None:
        return ""
    if isinstance(value, list | tuple):
        return ", ".join(shown_value(item) for item in value)
    if isinstance(value, dict):
        return json.dumps(value, ensure_ascii=False)
    return to_string(value)


def _summary(name: str, values: Sequence[tuple[PropertyKind, Json]], total: int) -> PropertySummary:
    kinds = [kind for kind, _ in values]
    texts = {(kind, shown_value(value)) for kind, value in values}
    lists = (value for _, value in values if isinstance(value, list | tuple))
    items = Counter(to_string(item) for value in lists for item in value)
    same = len(texts) == 1 and len(values) == total
    kind = max(dict.fromkeys(kinds), key=kinds.count)
    common = tuple(item for item, _ in items.most_common())
    return PropertySummary(name, kind, values[0][1] if same else None, same, len(texts), len(values), total, common)
