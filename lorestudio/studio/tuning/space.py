"""What a search may turn: settings of a system, properties of single notes, and their keys one by one."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final, TypeAlias

from msgspec import Struct

from lorestudio.domain.entry import Entry, NoteKey
from lorestudio.domain.javascript import Json
from lorestudio.domain.texts import comparable, figures, meant
from lorestudio.exchange.problems import InputError
from lorestudio.settings.declaration import Declaration, Section, Value, declared
from lorestudio.settings.sections import parsed_value, section_of
from lorestudio.studio.project.project import Project
from lorestudio.studio.tryout.project_changes import ProjectChanges, edited_text
from lorestudio.systems.base import SystemKind
from lorestudio.systems.ideas import NoteEdit
from lorestudio.vault.edited_vaults import NoteText
from lorestudio.vault.note.document import NoteDocument

Point: TypeAlias = Mapping[str, Value]
"""Where a search stands: a value for the label of each axis, none for those that stay as they are."""


class NumberSpan(Struct, frozen=True):
    """Numbers from `low` to `high`, both inclusive, `step` apart; without a step any number between them."""

    low: float
    high: float
    step: float | None
    whole: bool

    def values(self) -> tuple[Value, ...] | None:
        """All of them, None where there are endlessly many."""
        if self.step is None:
            return None
        count = math.floor((self.high - self.low) / self.step + _NEARLY)
        numbers = (self.low + place * self.step for place in range(count + 1))
        return tuple(int(each) if self.whole else round(each, _PLACES) for each in numbers)


class Axis(Struct, frozen=True):
    """One thing that may be turned, and how far. `now` is what it is without a search, None where a note says nothing.

    `label` names it in points, tables and journals, `name` is that of the setting or of the note's property. With `key`
    it is that key of the note, which is there or is not.
    """

    label: str
    name: str
    now: Json
    range: NumberSpan | tuple[Value, ...]
    note: NoteKey | None = None
    key: str = ""

    @property
    def values(self) -> tuple[Value, ...] | None:
        """All values, None where there are endlessly many."""
        return self.range.values() if isinstance(self.range, NumberSpan) else self.range

    def way(self, value: Value) -> float:
        """How far a value is from what is now: for numbers as a share of the range, else 0 or 1."""
        ends = (self.range.low, self.range.high) if isinstance(self.range, NumberSpan) else self.range
        numbers = [each for each in ends if isinstance(each, float | int)]
        if len(numbers) == len(ends) and isinstance(value, float | int) and isinstance(self.now, float | int):
            return abs(value - self.now) / ((max(numbers) - min(numbers)) or 1)
        return float(value != self.now)

    def edit(self, value: Value) -> NoteEdit | None:
        """How the note comes to this value, None where it has it without a change. For axes of notes."""
        if self.note is None:
            raise ValueError(f"“{self.label}” is no property of a note.")
        if self.key:
            return None if value else NoteEdit(*self.note, self.name, drop=(self.key,))
        return NoteEdit(*self.note, self.name, value)


class Space(Struct, frozen=True):
    """The axes of a search over the settings of one system. `texts` are those of the notes that it turns."""

    axes: tuple[Axis, ...]
    texts: Mapping[NoteKey, str]

    @property
    def size(self) -> float:
        """How many points there are, infinity where one axis has endlessly many values."""
        return math.prod(math.inf if each.values is None else len(each.values) for each in self.axes)

    def points(self) -> Iterator[Point]:
        """All points, the last axis turning fastest. Raises InputError where there are endlessly many."""
        every = []
        for axis in self.axes:
            values = axis.values
            if values is None:
                raise InputError(
                    f"--over {axis.label}", "a grid needs steps: write LOW..HIGH/STEP, as in 0.2..0.8/0.1."
                )
            every.append(values)
        labels = [axis.label for axis in self.axes]
        return (dict(zip(labels, values, strict=True)) for values in itertools.product(*every))

    def settings_at(self, settings: Section, point: Point) -> Section:
        """The settings there."""
        turned = {axis.name: point[axis.label] for axis in self.axes if axis.note is None and axis.label in point}
        return settings.model_copy(update=turned) if turned else settings

    def notes_at(self, point: Point) -> tuple[NoteText, ...]:
        """The notes that are other ones there. Raises ValueError where their front matter does not allow it."""
        texts: dict[NoteKey, str] = {}
        for axis in self.axes:
            if axis.note is not None and axis.label in point:
                edit = axis.edit(point[axis.label])
                if edit is not None:
                    texts[axis.note] = edited_text(texts.get(axis.note, self.texts[axis.note]), edit)
        return tuple(NoteText(*note, text) for note, text in texts.items() if text != self.texts[note])


# ---- as a person says it --------------------------------------------------------------------------------------------

_NEARLY: Final = 1e-9
_PLACES: Final = 10
_NOTE: Final = re.compile(r"(?P<note>.+\S)\s*:\s*(?P<name>[^:=]+)")
_SPAN: Final = re.compile(r"(?P<low>-?[\d.]+?)\.\.(?P<high>-?[\d.]+)(?:/(?P<step>[\d.]+))?")
_SWITCH: Final[Mapping[str, bool]] = {"on": True, "off": False}
KEYS: Final = "keys"
"""The property that holds a note's keys; named without values, each of them is an axis."""


def examples(kind: SystemKind) -> tuple[str, ...]:
    """Settings of a kind of system as a person says that they may be turned."""
    if kind.in_project:
        return ("scanDepth=1..8", "maxTokensBudget=500..4000/100")
    spans = (each for each in declared(kind.settings) if each.affects and None not in {each.low, each.high})
    return tuple(map(whole_range, itertools.islice(spans, 2))) or ("SETTING=LOW..HIGH",)


def whole_range(known: Declaration, now: Value | None = None) -> str:
    """A setting as a person says that it may be turned through all that is declared for it, and that is near `now`.

    Among 100 to 100,000 tokens hardly one point of a search would make a difference.
    """
    low, high = known.low, known.high
    if low is None or high is None:
        return known.alias
    if isinstance(now, int | float) and now > 0:
        low, high = max(low, now // 4 if known.type is int else now / 4), min(high, now * 4)
    return f"{known.alias}={low:.15g}..{high:.15g}"


def space_of(texts: Iterable[str], project: Project, kind: SystemKind, settings: Section) -> Space:
    """The space of `SETTING[=VALUES]`, `NOTE:PROPERTY=VALUES` and `NOTE:keys`; VALUES are `LOW..HIGH[/STEP]` or a list.

    A setting without values may be all that is declared for it. Raises InputError, which names what cannot be turned.
    """
    changes = ProjectChanges(project)
    axes: dict[str, Axis] = {}
    for text in texts:
        name, equals, values = text.partition("=")
        found = _NOTE.fullmatch(name.strip())
        said = values.strip() if equals else None
        made: Sequence[Axis]
        if found is None:
            made = [_of_setting(text, name.strip(), said, project, kind, settings)]
        else:
            made = _of_note(text, found["note"], found["name"].strip(), said, project, changes)
        for axis in made:
            if axis.label in axes:
                raise InputError(f"--over {text}", f"“{axis.label}” is turned twice.")
            axes[axis.label] = axis
    if not axes:
        raise InputError("--over", f"say what may be turned, as in --over {examples(kind)[0]}.")
    notes = dict.fromkeys(axis.note for axis in axes.values() if axis.note is not None)
    space = Space(tuple(axes.values()), {note: changes.text(*note) for note in notes})
    for axis in space.axes:
        _check_edits(space, axis)
    return space


def _of_setting(text: str, name: str, said: str | None, project: Project, kind: SystemKind, settings: Section) -> Axis:
    where = f"--over {text}"
    known = {key: each for each in declared(kind.settings) for key in (each.name, each.alias)}
    declaration = known.get(name)
    if declaration is None:
        hint = meant(name, known) or " A property of a note is NOTE:PROPERTY."
        raise InputError(where, f"{kind.title} has no setting “{name}”.{hint}")
    if not declaration.affects:
        raise InputError(where, f"“{declaration.title}” changes nothing in a run.")
    chosen = _declared_range(where, declaration) if said is None else _parsed(where, said, declaration.type)
    ends = (chosen.low, chosen.high) if isinstance(chosen, NumberSpan) else chosen
    typed = tuple(getattr(section_of({declaration.name: end}, kind.settings, where), declaration.name) for end in ends)
    for value in typed:
        reading = kind.reading(settings.model_copy(update={declaration.name: value}))
        if reading is not None and not project.reads_alike(reading):
            raise InputError(where, f"“{declaration.title}” says how notes are read, which a search does not repeat.")
    now = getattr(settings, declaration.name)
    return Axis(declaration.alias, declaration.name, now, chosen if isinstance(chosen, NumberSpan) else typed)


def _declared_range(where: str, known: Declaration) -> NumberSpan | tuple[Value, ...]:
    if known.type is bool:
        return (False, True)
    if known.choices:
        return tuple(known.choices)
    if known.low is None or known.high is None:
        raise InputError(where, f"say between what, as in {known.alias}=1..8.")
    return NumberSpan(known.low, known.high, 1 if known.type is int else None, known.type is int)


def _parsed(where: str, said: str, kind: type[Value] | None = None) -> NumberSpan | tuple[Value, ...]:
    span = _SPAN.fullmatch(said)
    if span is None:
        parts = map(str.strip, said.split(","))
        values = tuple(_SWITCH.get(part.lower(), parsed_value(part)) for part in parts)
        if "" in values or len(set(values)) < len(values):
            raise InputError(where, "write LOW..HIGH, LOW..HIGH/STEP, or different values between commas.")
        return values
    try:
        low, high = float(span["low"]), float(span["high"])
        step = None if span["step"] is None else float(span["step"])
    except ValueError:
        raise InputError(where, f"“{said}” holds what is no number.") from None
    if low >= high or step == 0:
        raise InputError(where, f"“{said}” goes nowhere: write LOW..HIGH with the lower number first.")
    whole = kind is int or (kind is None and all(each is None or each.is_integer() for each in (low, high, step)))
    if whole and step is not None and not step.is_integer():
        raise InputError(where, f"the steps of whole numbers are whole, and {span['step']} is not.")
    return NumberSpan(low, high, (step or 1) if whole else step, whole)


def _of_note(
    text: str, note: str, name: str, said: str | None, project: Project, changes: ProjectChanges
) -> Sequence[Axis]:
    where = f"--over {text}"
    entry = _entry_called(where, note, project)
    place = entry.note_key
    called = note if project.of_books else entry.filename  # the file name of a lorebook's entry is a number
    if not changes.can_edit(*place):
        raise InputError(where, "the note's text is not at hand, so it cannot be turned.")
    if name == KEYS and said is None:
        if not entry.keys:
            raise InputError(where, f"“{entry.title}” has no keys.")
        held = "key" if project.of_books else KEYS
        return [Axis(f"{called}: key {key}", held, True, (True, False), place, key) for key in entry.keys]
    if said is None:
        raise InputError(where, f"say between what, as in {note}:{name}=10..100.")
    found = NoteDocument(changes.text(*place)).find(name)
    now = None if found is None else found.value
    return [Axis(f"{called}: {name}", name, now, _parsed(where, said), place)]


def _entry_called(where: str, name: str, project: Project) -> Entry:
    ways: Sequence[Callable[[Entry], bool]] = (
        lambda entry: entry.filename == name,
        lambda entry: comparable(name) in {comparable(entry.title), comparable(entry.filename)},
    )
    for way in ways:
        found = [entry for entry in project.index.entries if way(entry)]
        if len(found) == 1:
            return found[0]
        if found:
            raise InputError(where, f"several notes are called “{name}”. Name the file of one.")
    hint = meant(name, (entry.title for entry in project.index.entries))
    raise InputError(where, f"no entry is called “{name}”.{hint}")


def _check_edits(space: Space, axis: Axis) -> None:
    """Raise InputError where the note's front matter does not let this property be turned."""
    if axis.note is None:
        return
    ends = (axis.range.low, axis.range.high) if isinstance(axis.range, NumberSpan) else axis.range
    try:
        for value in ends:
            space.notes_at({axis.label: value})
    except ValueError as error:
        raise InputError(f"--over {axis.label}", str(error)) from error


def value_words(value: Json) -> str:
    """A value as people read it: `1,200`, `0.5`, `on`."""
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, int | float):
        return figures(value)
    return "not set" if value is None else str(value)


def point_words(point: Point) -> str:
    """A point in a line: `scanDepth 4, maxEntries 10`."""
    return ", ".join(f"{label} {value_words(value)}" for label, value in point.items()) or "as it is now"
