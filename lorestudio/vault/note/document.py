"""The text of one note, understood as properties and body, and edited without touching what is not meant.

Nothing is ever written out anew: every change is a `TextEdit` on the text as it stands, over whole lines of one
property. What a property means is what DeepLore reads (`front_matter`); where YAML, asked about single properties and
only when somebody wants to know, reads something else, the property says so (rules: deeplore 1.2 to 1.5).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from functools import cached_property

from lorestudio.domain.javascript import Json
from lorestudio.vault import front_matter
from lorestudio.vault.entries import field_name
from lorestudio.vault.note import spans as note_spans
from lorestudio.vault.note.lists import ListStyle, as_text, style_of
from lorestudio.vault.note.properties import (
    DocumentProblem,
    NoteProperty,
    PropertyKind,
    fence_problems,
    kind_of,
    name_problems,
    write_value,
    yaml_problem,
)
from lorestudio.vault.note.spans import Block, Span, key_end
from lorestudio.vault.note.spelling import NumberParts, equal, take_apart
from lorestudio.vault.note.text_edits import TextEdit, apply_edits, joined, narrowed
from lorestudio.vault.note.yaml_reading import (
    Misread,
    YamlReading,
    YamlText,
    YamlValue,
    cause_of,
    certainly_alike,
    old_word,
    plain_data,
    read_yaml,
    same,
    sentence,
    too_long,
)

_ASKED_ALONE = 50
"""So many properties YAML reads sooner one by one than all of the block."""


class NoteReadings:
    """The readings of the properties of one front matter block, which begins at the offset `start` of its note.

    `style` is how new lists are written there.
    """

    def __init__(self, block: str, start: int, properties: Sequence[NoteProperty], style: ListStyle) -> None:
        self._block = block
        self._start = start
        self._properties = properties
        self._style = style
        self._alone: dict[int, YamlText] = {}
        self._known: dict[int, YamlReading | None] = {}

    def of(self, found: NoteProperty) -> YamlReading | None:
        """What DeepLore and YAML make of a property, where they disagree."""
        if found.start not in self._known:
            invalid = found.kind is PropertyKind.INVALID
            self._known[found.start] = self._of_invalid(found) if invalid else self._compared(found)
        return self._known[found.start]

    @cached_property
    def error(self) -> tuple[str, int] | None:
        """Why YAML cannot read the block, and in which of its lines, from 0; None where it can."""
        doubtful = [found for found in self._properties if not certainly_alike(found.raw)]
        if len(doubtful) <= _ASKED_ALONE and all(list(self._read(found).values) == [0] for found in doubtful):
            return None
        whole = self._whole
        return (whole.error, min(whole.error_line, self._block.count("\n") - 1)) if whole.error else None

    @cached_property
    def _whole(self) -> YamlText:
        return read_yaml(self._block)

    @cached_property
    def _copies(self) -> Counter[str]:
        return Counter(found.name for found in self._properties if found.kind is not PropertyKind.INVALID)

    def _read(self, found: NoteProperty) -> YamlText:
        if found.start not in self._alone:
            self._alone[found.start] = read_yaml(found.raw)
        return self._alone[found.start]

    def _entry(self, found: NoteProperty) -> YamlValue | None:
        """What YAML reads in the lines of a property; in the whole block where they refer to others of its lines."""
        alone = self._read(found)
        entry = alone.values.get(0)
        if (entry is None or entry.error) and "*" in found.raw and not self._whole.error:
            entry = self._whole.values.get(found.start - self._start)
        return YamlValue(found.name, None, alone.error) if entry is None and alone.error else entry

    def _compared(self, found: NoteProperty) -> YamlReading | None:
        """What DeepLore and YAML read, if they differ."""
        copies = self._copies[found.name]
        own = front_matter.parse(found.raw)[found.name]
        if certainly_alike(found.raw) and copies == 1 and equal(own, found.value):
            return None
        parts = take_apart(found.raw)
        entry = self._entry(found)
        alike = entry is not None and not entry.error and same(
            found.value, entry.value, block_scalar=parts.is_block_scalar
        )  # fmt: skip
        word = old_word(found.value) if parts.rest == found.value else None
        if not equal(own, found.value):
            cause = Misread.STRAY
        elif copies > 1:
            cause = Misread.DUPLICATE
        elif alike and word is None:
            return None
        else:
            cause = cause_of(parts.rest, list(parts.body), found.value, entry)
        if alike and word is not None and entry is not None:
            entry = YamlValue(entry.name, word)
        fixed = cause is Misread.STRAY or found.kind is PropertyKind.NESTED
        spelling = None if fixed else self._spelling(found, parts, found.value)
        meant = None
        if not fixed and entry is not None and not entry.error and not equal(found.value, entry.value):
            meant = self._spelling(found, parts, _writable(entry.value))
        message = sentence(found.name, found.value, entry, cause)
        return YamlReading(
            found.value, None if entry is None else plain_data(entry.value), cause, message, spelling, meant
        )  # fmt: skip

    def _of_invalid(self, found: NoteProperty) -> YamlReading:
        entry = self._entry(found)
        keyed = key_end(found.raw) > 0
        cause = Misread.NAME if keyed and entry is not None else Misread.SYNTAX
        value = None if entry is None else plain_data(entry.value)
        return YamlReading(None, value, cause, sentence(found.name, None, entry, cause))

    def _spelling(self, found: NoteProperty, parts: NumberParts, value: Json) -> str | None:
        if (value is None and found.value is not None) or too_long(found.raw):  # of that YAML would read nothing
            return None
        try:
            return write_value(parts, found.name, value, self._style, strict=True)
        except ValueError:
            return None


def _writable(value: object) -> Json:
    """A value of YAML that can be written for both; None for the others."""
    if isinstance(value, str):
        return value.removesuffix("\n")
    if isinstance(value, bool | int | float):
        return value
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return list(value)
    return None


_NAME = re.compile(r"\w[\w.-]*", re.ASCII)


class NoteDocument:
    """One note's text as front matter and body. Immutable; after an edit, make a new one of the new text."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._block: Block | None = note_spans.find_block(text)
        self.body_start = note_spans.split_places(text)[2]

    @property
    def has_front_matter(self) -> bool:
        """Whether DeepLore sees front matter."""
        return self._block is not None

    @property
    def body(self) -> str:
        """The text behind the front matter."""
        return self.text[self.body_start :]

    @property
    def newline(self) -> str:
        """How the first line of the note ends; new lines end alike."""
        first = self.text.find("\n")
        return "\r\n" if first > 0 and self.text[first - 1] == "\r" else "\n"

    @cached_property
    def properties(self) -> tuple[NoteProperty, ...]:
        """All top-level properties in order, also those that DeepLore passes over."""
        if self._block is None:
            return ()
        lines = self._lines
        offsets = [self._block.start]
        for line in lines:
            offsets.append(offsets[-1] + len(line))
        result = []
        for span, segment_end in zip(self._spans, self._segment_ends, strict=True):
            raw = "".join(lines[span.first : span.end])
            value: Json = None
            kind = PropertyKind.INVALID
            if span.read:
                value = front_matter.parse("".join(lines[span.first : segment_end]))[span.name]
                kind = kind_of(raw, value)
            start, end = offsets[span.first], offsets[span.end]
            # The fence before the first line of the block is line 1.
            result.append(NoteProperty(span.name, kind, value, start, end, span.first + 2, raw, self._reading_of))
        return tuple(result)

    @cached_property
    def problems(self) -> tuple[DocumentProblem, ...]:
        """What is wrong with the front matter as a text, in order of lines."""
        found = [*fence_problems(self.text, self._block), *name_problems(self.properties)]
        error = self._readings.error
        if error is not None:
            found.append(yaml_problem(error[0], error[1] + 2))
        return tuple(sorted(found, key=lambda problem: problem.line))

    def find(self, name: str) -> NoteProperty | None:
        """The property of this name, else the one that DeepLore takes for it in lenient authoring
        (rules: deeplore 1.4, 1.5).

        Of several with one name it is the last, the one that counts.
        """
        read = [found for found in self.properties if _is_read(found)]
        exact = [found for found in read if found.name == name]
        if not exact:
            exact = [found for found in self.properties if found.name == name]
        if not exact:
            field = field_name(name)
            spelled = [found for found in read if field_name(found.name) == field]
            exact = [found for found in spelled if found.name == field]
            exact = exact or [found for found in spelled if found.name == spelled[0].name]
        return exact[-1] if exact else None

    def set(self, name: str, value: Json) -> TextEdit:
        """The edit that gives a property this value: a text, a number, true, false, None or a list of texts.

        Only the lines of that property change; the style of the value, the quotes of the items that stay, and comments
        are kept. A comment behind a changed value moves to a line of its own above it, since DeepLore would read it as
        part of the value. A new property goes behind the last one; where there is no front matter it is made. Where
        one text stands for a list (`TEXT_IS_LIST`), a list of one text stays one text, and `keys` stay one text with
        commas. The value that the property has already gives an edit that changes nothing.

        DeepLore and YAML both read the new value; a text of several lines can only take the place of one, and YAML
        reads it without its indentation. Raises ValueError with the reason and advice where no spelling does that,
        where the property is nested or invalid, where DeepLore cannot read the name, and for a new property where the
        front matter is none to DeepLore.
        """
        found = self.find(name)
        if isinstance(value, Sequence) and not isinstance(value, str):
            value = list(value)
        if found is None:
            return self._insertion(name, value)
        if equal(found.value, value) and found.kind is not PropertyKind.INVALID:
            return TextEdit(found.end, found.end, "")
        if isinstance(value, list) and all(isinstance(item, str) for item in value):
            text = as_text(field_name(found.name), found.value, [str(item) for item in value])
            if text is not None:
                return self.set(found.name, text)
        if found.kind is PropertyKind.NESTED:
            raise ValueError(
                f"“{found.name}” in line {found.line} holds nested values, which would be lost. Edit it in the source, "
                "or remove it first."
            )
        if found.kind is PropertyKind.INVALID:
            raise ValueError(
                f"“{found.name}” in line {found.line} is no property that DeepLore reads. Rename it or edit the source."
            )
        raw = write_value(take_apart(found.raw), found.name, value, self._list_style)
        return self._checked(self._replacing(found, raw), {**self._read, found.name: value}, found.name)

    def remove(self, name: str) -> TextEdit:
        """The edit that takes a property out, also where it is written several times.

        Of the last property a blank line stays. Raises ValueError where there is none, and where DeepLore would then
        read what stands below it as part of another property.
        """
        found = self._occurrences(name)
        edit = joined(self.text, [TextEdit(one.start, one.end, "") for one in found])
        if self._block is not None and not edit.text and (edit.start, edit.end) == (self._block.start, self._block.end):
            # Between two fences with nothing between them DeepLore would see no end and read on into the body.
            edit = TextEdit(edit.start, edit.end, "\r\n" if found[-1].raw.endswith("\r\n") else "\n")
        values = {name: value for name, value in self._read.items() if name != found[0].name}
        return self._checked(edit, values, found[0].name)

    def rename(self, name: str, new: str) -> TextEdit:
        """The edit that gives a property another name; the value, the layout and the quotes stay.

        Raises ValueError where there is no such property, the new name is taken, or DeepLore cannot read it.
        """
        _check_name(new)
        found = self._occurrences(name)
        other = self.find(new)
        if other is not None and other.name != found[0].name:
            raise ValueError(f"“{name}” was not renamed: there is “{other.name}” in line {other.line} already.")
        edits = []
        for occurrence in found:
            old_end = note_spans.key_end(occurrence.raw)
            if occurrence.kind is not PropertyKind.INVALID:
                old_end = len(occurrence.name)
            if not old_end:
                raise ValueError(f"Line {occurrence.line} is no property and has no name. Edit it in the source.")
            edits.append(TextEdit(occurrence.start, occurrence.start + old_end, new))
        if not _is_read(found[0]):
            return joined(self.text, edits)
        values = {new if key == found[0].name else key: value for key, value in self._read.items()}
        return self._checked(joined(self.text, edits), values, found[0].name)

    def alike(self, name: str, *, as_yaml: bool = False) -> TextEdit | None:
        """The edit that spells a property so that DeepLore and YAML read the same; None where that is not possible.

        It keeps the meaning that the property has in DeepLore, which is not always what its author had in mind:
        `enabled: False` becomes the text "False". With `as_yaml` it takes the meaning that YAML reads. Earlier copies
        of a property that is written several times go.
        """
        found = self.find(name)
        reading = found.reading if found is not None else None
        spelling = None if reading is None else (reading.yaml_spelling if as_yaml else reading.spelling)
        if found is None or spelling is None:
            return None
        copies = [copy for copy in self.properties if copy.name == found.name and copy.start != found.start]
        edits = [TextEdit(copy.start, copy.end, "") for copy in copies if _is_read(copy)]
        edit = joined(self.text, [*edits, self._replacing(found, spelling)])
        value = reading.deeplore if reading is not None else None
        if as_yaml:
            value = _values("---\n" + spelling + "---\n").get(found.name)
        try:
            return self._checked(edit, {**self._read, found.name: value}, found.name)
        except ValueError:
            return None

    @cached_property
    def _read(self) -> dict[str, Json]:
        """What DeepLore reads of the whole front matter."""
        return _values(self.text)

    @cached_property
    def _lines(self) -> list[str]:
        if self._block is None:
            return []
        return note_spans.split_lines(self.text[self._block.start : self._block.end])

    @cached_property
    def _spans(self) -> list[Span]:
        return note_spans.find_spans(self._lines)

    @cached_property
    def _list_style(self) -> ListStyle:
        """How the note's first list is written."""
        for found in self.properties:
            if found.kind is PropertyKind.LIST and (style := style_of(take_apart(found.raw))) is not None:
                return style
        return ListStyle()

    @property
    def _segment_ends(self) -> list[int]:
        """Of each span the line where the next property begins that DeepLore reads; until there it adds items to it."""
        ends: list[int] = []
        end = len(self._lines)
        for span in reversed(self._spans):
            ends.append(end)
            end = span.first if span.read else end
        return ends[::-1]

    @cached_property
    def _readings(self) -> NoteReadings:
        start, end = (self._block.start, self._block.end) if self._block is not None else (0, 0)
        return NoteReadings(self.text[start:end], start, self.properties, self._list_style)

    def _reading_of(self, found: NoteProperty) -> YamlReading | None:
        return self._readings.of(found)

    def _occurrences(self, name: str) -> list[NoteProperty]:
        found = self.find(name)
        if found is None:
            raise ValueError(f"There is no property “{name}” in this note.")
        return [other for other in self.properties if other.name == found.name and _is_read(other) is _is_read(found)]

    def _insertion(self, name: str, value: Json) -> TextEdit:
        _check_name(name)
        raw = write_value(NumberParts(name + ":", "", "", self.newline), name, value, self._list_style)
        if self._block is not None:
            place = self.properties[-1].end if self.properties else self._block.end
            return self._checked(TextEdit(place, place, raw), {**self._read, name: value}, name)
        between = note_spans.fences_without_fields(self.text)
        if between is not None:
            return self._checked(TextEdit(between, between, raw), {name: value}, name)
        for problem in fence_problems(self.text, None):  # else front matter above the one that its author meant
            raise ValueError(f"“{name}” was not added. {problem.message}")
        fence = "---" + self.newline
        return self._checked(TextEdit(self.body_start, self.body_start, fence + raw + fence), {name: value}, name)

    def _replacing(self, found: NoteProperty, raw: str) -> TextEdit:
        return narrowed(found.start, note_spans.split_lines(found.raw), note_spans.split_lines(raw))

    def _checked(self, edit: TextEdit, before: dict[str, Json], name: str) -> TextEdit:
        """The edit, if DeepLore then reads what `before` says; ValueError where list items would go astray."""
        text = apply_edits(self.text, [edit])
        after = _values(text)
        if self._block is not None and front_matter.split(text)[1] != self.body:
            raise ValueError(f"“{name}” was not changed: the front matter would end elsewhere. Edit it in the source.")
        if not (before.keys() == after.keys() and all(equal(after[key], value) for key, value in before.items())):
            raise ValueError(
                f"“{name}” was not changed: below a line that DeepLore cannot read there are list items, and DeepLore "
                "would take them for items of another list than now. Mend or delete that line first."
            )
        return edit


def _values(text: str) -> dict[str, Json]:
    return {**front_matter.read(text)[0]}


def _is_read(found: NoteProperty) -> bool:
    return found.kind is not PropertyKind.INVALID


def _check_name(name: str) -> None:
    if not _NAME.fullmatch(name):
        raise ValueError(
            f"“{name}” cannot be the name of a property: DeepLore takes only the letters a to z, digits, underscores, "
            "dots and hyphens, and a letter, digit or underscore first."
        )
