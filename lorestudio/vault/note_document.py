"""The text of one note, understood as properties and body, and edited without touching what is not meant.

Nothing is ever written out anew: every change is a `TextEdit` on the text as it stands, over whole lines of one
property. What a property means is what DeepLore reads (`front_matter`); where YAML reads something else, the property
says so. Source of DeepLore's rules: spec deeplore-engine 1.2 to 1.5.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property

from lorestudio.domain.javascript import WHITE_SPACE, Json
from lorestudio.vault import front_matter, note_spans
from lorestudio.vault.entries import field_name
from lorestudio.vault.note_lists import ListStyle, as_text, style_of
from lorestudio.vault.note_spans import Block, Span
from lorestudio.vault.note_spelling import Parts, take_apart
from lorestudio.vault.note_writing import write_value
from lorestudio.vault.note_yaml import YamlText, YamlValue, certainly_alike, plain_data, read_yaml
from lorestudio.vault.readings import Cause, Reading, cause_of, old_word, same, sentence

_NAME = re.compile(r"\w[\w.-]*", re.ASCII)
_CLOSING_FENCE = re.compile(r"---[ \t]*(?:\r?\n|\Z)")
_SPACED_FENCE = re.compile(r"---[ \t]+\r?\n")
_LATE_FENCE = re.compile(r"(?:[ \t]*\r?\n)+---\r?\n(?:.*\n)*?---")
_NESTED_LINE = re.compile(
    r"""[ \t]+(?:-[ \t]+)*(?:\?[ \t]|(?:"[^"\n]*"|'[^'\n]*'|[^\s#"'\[{-][^\n]*?)[ \t]*:(?:[ \t]|\Z))"""
)
_NESTED_LIST = re.compile(r"[ \t]*-[ \t]+-[ \t]")


@dataclass(frozen=True, slots=True)
class TextEdit:
    """Replace `text[start:end]` by `text`; offsets in code points of the note's text. `start == end` inserts."""

    start: int
    end: int
    text: str


class PropertyKind(StrEnum):
    """How a property is written. NESTED and INVALID ones can be shown as they stand, renamed and removed only."""

    TEXT = "text"
    NUMBER = "number"
    FLAG = "flag"
    LIST = "list"
    EMPTY = "empty"
    NESTED = "nested"
    INVALID = "invalid"


class ProblemKind(StrEnum):
    """What is wrong with the front matter as a text."""

    YAML = "yaml"
    DUPLICATE = "duplicate"
    SHADOWED = "shadowed"
    NAME = "name"
    FENCE = "fence"
    UNCLOSED = "unclosed"
    NO_FIELDS = "no fields"


@dataclass(frozen=True, slots=True)
class DocumentProblem:
    """Something about the front matter that its author should know: the line from 1, and a sentence with advice."""

    kind: ProblemKind
    line: int
    message: str
    name: str = ""


@dataclass(slots=True)
class _Readings:
    """Works out the readings of one note when they are first asked for."""

    document: NoteDocument
    known: dict[int, Reading | None] = field(default_factory=dict)

    def of(self, found: NoteProperty) -> Reading | None:
        """The reading of one property of the note."""
        if found.start not in self.known:
            self.known[found.start] = self.document._reading(found)  # noqa: SLF001  # the document's own memory
        return self.known[found.start]


@dataclass(frozen=True, slots=True)
class NoteProperty:
    """One property at the top level of the front matter, as written.

    `value` is what DeepLore reads; lists are lists of texts, and it is None for what DeepLore passes over. `start` and
    `end` are offsets of its whole lines, the last line end included; blank and comment lines behind it are not part of
    it. `line` counts from 1 in the file, `raw` is `text[start:end]`. A line without a name has itself as its name.
    """

    name: str
    kind: PropertyKind
    value: Json
    start: int
    end: int
    line: int
    raw: str
    _readings: _Readings = field(repr=False, compare=False)

    @property
    def reading(self) -> Reading | None:
        """What each of the two reads, where YAML reads another value than DeepLore; else None."""
        return self._readings.of(self)


class NoteDocument:
    """One note's text as front matter and body. Immutable; after an edit, make a new one of the new text."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._block: Block | None = note_spans.find_block(text)
        self.body_start = (
            self._block.body_start if self._block else len(text) - len(text.removeprefix(front_matter.BOM))
        )

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
        readings = _Readings(self)
        offsets = [self._block.start]
        for line in lines:
            offsets.append(offsets[-1] + len(line))
        first_line = self.text.count("\n", 0, self._block.start) + 1
        result = []
        for index, span in enumerate(self._spans):
            raw = "".join(lines[span.first : span.end])
            value: Json = None
            kind = PropertyKind.INVALID
            if span.read:
                value = front_matter.parse("".join(lines[span.first : self._segment_end(index)]))[span.name]
                kind = _kind(raw, value)
            result.append(
                NoteProperty(
                    span.name,
                    kind,
                    value,
                    offsets[span.first],
                    offsets[span.end],
                    first_line + span.first,
                    raw,
                    readings,
                )
            )
        return tuple(result)

    @cached_property
    def problems(self) -> tuple[DocumentProblem, ...]:
        """What is wrong with the front matter as a text, in order of lines."""
        found = list(self._problems_of_fences())
        if self._block is not None:
            found += self._problems_of_properties()
        return tuple(sorted(found, key=lambda problem: problem.line))

    def find(self, name: str) -> NoteProperty | None:
        """The property of this name, else the one that DeepLore takes for it in lenient authoring (spec 1.4, 1.5).

        Of several with one name it is the last, the one that counts.
        """
        exact = [found for found in self.properties if found.name == name]
        if exact:
            read = [found for found in exact if found.kind is not PropertyKind.INVALID]
            return (read or exact)[-1]
        field_of = field_name(name)
        spelled = [
            found.name for found in self.properties if self._is_read(found) and field_name(found.name) == field_of
        ]
        if not spelled:
            return None
        taken = field_of if field_of in spelled else spelled[0]
        return [found for found in self.properties if found.name == taken][-1]

    def set(self, name: str, value: Json) -> TextEdit:
        """The edit that gives a property this value: a text, a number, true, false, None or a list of texts.

        Only the lines of that property change; the style of the value, the quotes of the items that stay, and comments
        are kept. A comment behind a changed value moves to a line of its own above it, since DeepLore would read it as
        part of the value. A new property goes behind the last one; where there is no front matter it is made. Where
        one text stands for a list (`TEXT_IS_LIST`), a list of one text stays one text, and `keys` stay one text with
        commas. The value that the property has already gives an edit that changes nothing.

        DeepLore and YAML both read the new value; a text of several lines can only take the place of one, and YAML
        reads it without its indentation. Raises ValueError with the reason and advice where no spelling does that,
        where the property is nested or invalid, and where DeepLore cannot read the name.
        """
        found = self.find(name)
        if isinstance(value, Sequence) and not isinstance(value, str):
            value = list(value)
        if found is None:
            return self._insertion(name, value)
        if _equal(found.value, value) and found.kind is not PropertyKind.INVALID:
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
        return self._checked(self._replacing(found, raw), found.name, value)

    def set_body(self, text: str) -> TextEdit:
        """The edit that gives the note this body; the front matter stays."""
        before = self.body
        start = _common(before, text)
        end = _common(before[start:][::-1], text[start:][::-1])
        return TextEdit(self.body_start + start, len(self.text) - end, text[start : len(text) - end])

    def remove(self, name: str, line: int | None = None) -> TextEdit:
        """The edit that takes a property out; of one name written several times, all, or the one in `line`.

        Raises ValueError where there is none, and where DeepLore would then read what stands below it as part of
        another property.
        """
        found = self._occurrences(name, line)
        edit = self._without(found)
        return self._checked(edit, found[0].name if line is None else None, None)

    def rename(self, name: str, new: str) -> TextEdit:
        """The edit that gives a property another name; the value, the layout and the quotes stay.

        Raises ValueError where there is no such property, the new name is taken, or DeepLore cannot read it.
        """
        _check_name(new)
        found = self._occurrences(name, None)
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
        edit = self._joined(edits)
        return edit if found[0].kind is PropertyKind.INVALID else self._checked(edit, found[0].name, None, new=new)

    def alike(self, name: str, *, as_yaml: bool = False) -> TextEdit | None:
        """The edit that spells a property so that DeepLore and YAML read the same; None where that is not possible.

        It keeps the meaning that the property has in DeepLore, which is not always what its author had in mind:
        `enabled: False` becomes the text "False". With `as_yaml` it takes the meaning that YAML reads. Earlier copies of
        a property that is written several times go.
        """
        found = self.find(name)
        reading = found.reading if found is not None else None
        spelling = None if reading is None else (reading.yaml_spelling if as_yaml else reading.spelling)
        if found is None or spelling is None:
            return None
        copies = [copy for copy in self.properties if copy.name == found.name and copy.start != found.start]
        edits = [TextEdit(copy.start, copy.end, "") for copy in copies if self._is_read(copy)]
        edit = self._joined([*edits, TextEdit(found.start, found.end, spelling)])
        return self._trimmed(edit)

    @cached_property
    def _lines(self) -> list[str]:
        if self._block is None:
            return []
        return note_spans.split_lines(self.text[self._block.start : self._block.end])

    @cached_property
    def _spans(self) -> list[Span]:
        return note_spans.find_spans(self._lines)

    @cached_property
    def _yaml(self) -> YamlText:
        return YamlText() if self._block is None else read_yaml(self.text[self._block.start : self._block.end])

    @cached_property
    def _list_style(self) -> ListStyle:
        """How the note's first list is written."""
        for found in self.properties:
            if found.kind is PropertyKind.LIST and (style := style_of(take_apart(found.raw))) is not None:
                return style
        return ListStyle()

    def _segment_end(self, index: int) -> int:
        """The line where the next property begins that DeepLore reads; until there it adds items to this one."""
        return next((span.first for span in self._spans[index + 1 :] if span.read), len(self._lines))

    def _is_read(self, found: NoteProperty) -> bool:
        return found.kind is not PropertyKind.INVALID

    def _occurrences(self, name: str, line: int | None) -> list[NoteProperty]:
        found = self.find(name)
        if found is None:
            raise ValueError(f"There is no property “{name}” in this note.")
        same_name = [other for other in self.properties if other.name == found.name]
        if line is not None:
            same_name = [other for other in same_name if other.line == line]
            if not same_name:
                raise ValueError(f"There is no property “{name}” in line {line} of this note.")
        return same_name

    def _insertion(self, name: str, value: Json) -> TextEdit:
        _check_name(name)
        raw = write_value(Parts(name + ":", "", "", self.newline), name, value, self._list_style)
        if self._block is not None:
            place = self.properties[-1].end if self.properties else self._block.end
            return self._checked(TextEdit(place, place, raw), name, value)
        between = note_spans.fences_without_fields(self.text)
        if between is not None:
            return TextEdit(between, between, raw)
        fence = "---" + self.newline
        return TextEdit(self.body_start, self.body_start, fence + raw + fence)

    def _replacing(self, found: NoteProperty, raw: str) -> TextEdit:
        return self._trimmed(TextEdit(found.start, found.end, raw))

    def _trimmed(self, edit: TextEdit) -> TextEdit:
        """The same edit without the lines at either end that it does not change."""
        before = note_spans.split_lines(self.text[edit.start : edit.end])
        after = note_spans.split_lines(edit.text)
        head = _common(before, after)
        tail = _common(before[head:][::-1], after[head:][::-1])
        start = edit.start + sum(map(len, before[:head]))
        end = edit.end - sum(map(len, before[len(before) - tail :]))
        return TextEdit(start, end, "".join(after[head : len(after) - tail]))

    def _joined(self, edits: list[TextEdit]) -> TextEdit:
        """Several edits as one."""
        start, end = min(edit.start for edit in edits), max(edit.end for edit in edits)
        moved = [TextEdit(edit.start - start, edit.end - start, edit.text) for edit in edits]
        return TextEdit(start, end, apply_edits(self.text[start:end], moved))

    def _without(self, found: list[NoteProperty]) -> TextEdit:
        return self._joined([TextEdit(one.start, one.end, "") for one in found])

    def _checked(self, edit: TextEdit, name: str | None, value: Json, *, new: str | None = None) -> TextEdit:
        """The edit, unless DeepLore would then read another property differently, or this one not as meant."""
        before = _values(self.text)
        after = _values(apply_edits(self.text, [edit]))
        if new is not None and name is not None:
            before = {new if key == name else key: old for key, old in before.items()}
        elif name is not None:
            before.pop(name, None)
            read = after.pop(name, None)
            if value is not None and not _equal(read, value):
                raise ValueError(
                    f"“{name}” was not changed: DeepLore adds list items to it that stand further down, below a line "
                    "that it cannot read. Mend that line first."
                )
        else:
            return edit
        if any(not _equal(old, after.get(key)) for key, old in before.items()):
            raise ValueError(
                f"“{name}” was not changed: DeepLore would then read list items that stand further down, below a line "
                "that it cannot read, as part of another property. Mend that line first."
            )
        return edit

    def _reading(self, found: NoteProperty) -> Reading | None:
        """What DeepLore and YAML read, if they differ."""
        if found.kind is PropertyKind.INVALID:
            return self._reading_of_invalid(found)
        copies = sum(other.name == found.name and self._is_read(other) for other in self.properties)
        own = front_matter.parse(found.raw)[found.name]
        if certainly_alike(found.raw) and copies == 1 and _equal(own, found.value):
            return None
        parts = take_apart(found.raw)
        entry = self._yaml_entry(found)
        if copies > 1:
            cause = Cause.DUPLICATE
        elif (
            entry is not None
            and not entry.error
            and same(found.value, entry.value, block_scalar=parts.is_block_scalar)
            and (old_word(found.value) is None or parts.rest != found.value)
        ):
            return None
        else:
            cause = cause_of(parts.rest, list(parts.body), found.value, entry)
        if cause is Cause.WORD and entry is not None and (word := old_word(found.value)) is not None:
            entry = YamlValue(entry.name, word)
        spelling = None if found.kind is PropertyKind.NESTED else self._spelling(found, parts, found.value)
        meant = None
        if (
            entry is not None
            and not entry.error
            and found.kind is not PropertyKind.NESTED
            and not _equal(found.value, entry.value)
        ):
            meant = self._spelling(found, parts, _writable(entry.value))
        message = sentence(found.name, found.value, entry, cause)
        value = None if entry is None else plain_data(entry.value)
        return Reading(found.value, value, cause, message, spelling, meant)

    def _reading_of_invalid(self, found: NoteProperty) -> Reading:
        entry = self._yaml_entry(found)
        keyed = note_spans.key_end(found.raw) > 0
        cause = Cause.NAME if keyed and entry is not None else Cause.SYNTAX
        value = None if entry is None else plain_data(entry.value)
        return Reading(None, value, cause, sentence(found.name, None, entry, cause))

    def _yaml_entry(self, found: NoteProperty) -> YamlValue | None:
        """What YAML reads in the note, or, where it cannot read the note, in these lines alone."""
        if self._block is None:
            return None
        if not self._yaml.error:
            return self._yaml.values.get(found.start - self._block.start)
        alone = read_yaml(found.raw)
        return YamlValue(found.name, None, alone.error) if alone.error else alone.values.get(0)

    def _spelling(self, found: NoteProperty, parts: Parts, value: Json) -> str | None:
        if value is None and found.value is not None:
            return None
        try:
            return write_value(parts, found.name, value, self._list_style, strict=True)
        except ValueError:
            return None

    def _problems_of_fences(self) -> Iterable[DocumentProblem]:
        text = self.text.removeprefix(front_matter.BOM)
        if self._block is not None:
            if not _CLOSING_FENCE.match(self.text, self._block.end):
                line = self.text.count("\n", 0, self._block.end) + 1
                yield DocumentProblem(
                    ProblemKind.FENCE, line,
                    f"Line {line} begins with --- and so ends the front matter in DeepLore, but other programs want "
                    "three dashes alone on the line. Write the rest on a line of its own.",
                )  # fmt: skip
        elif note_spans.fences_without_fields(self.text) is not None:
            yield DocumentProblem(
                ProblemKind.NO_FIELDS, 1,
                "There is nothing between the two lines of ---, so DeepLore sees no front matter and takes both lines "
                "as text. Add a property, or delete them.",
            )  # fmt: skip
        elif _SPACED_FENCE.match(text) or _LATE_FENCE.match(text):
            yield DocumentProblem(
                ProblemKind.FENCE, 1,
                "The front matter is not read: its first line must be the first of the file and be --- with nothing "
                "behind it. Delete what stands before or behind the dashes.",
            )  # fmt: skip
        elif re.match(r"---\r?\n", text):
            yield DocumentProblem(
                ProblemKind.UNCLOSED, 1,
                "The front matter that begins in line 1 has no end, so DeepLore takes all of it as text. Write --- on "
                "a line of its own behind the last property.",
            )  # fmt: skip

    def _problems_of_properties(self) -> Iterable[DocumentProblem]:
        last: dict[str, NoteProperty] = {}
        plain = True
        for found in self.properties:
            plain = plain and certainly_alike(found.raw)
            if found.kind is PropertyKind.INVALID:
                if note_spans.key_end(found.raw):
                    yield DocumentProblem(
                        ProblemKind.NAME, found.line,
                        sentence(found.name, None, None, Cause.NAME), found.name,
                    )  # fmt: skip
                continue
            if found.name in last:
                yield DocumentProblem(
                    ProblemKind.DUPLICATE, last[found.name].line,
                    f"“{found.name}” is written again in line {found.line}. DeepLore takes the last one, and Obsidian "
                    "shows no properties at all. Delete one of them.", found.name,
                )  # fmt: skip
            last[found.name] = found
        for name, found in last.items():
            taken = self.find(field_name(name))
            if taken is not None and taken.name != name and field_name(name) == field_name(taken.name):
                yield DocumentProblem(
                    ProblemKind.SHADOWED, found.line,
                    f"“{name}” is passed over, because line {taken.line} has “{taken.name}”. Delete one of them.", name,
                )  # fmt: skip
        if not plain and self._yaml.error and self._block is not None:
            line = self.text.count("\n", 0, self._block.start) + 1 + min(self._yaml.error_line, len(self._lines) - 1)
            yield DocumentProblem(
                ProblemKind.YAML, line,
                f"YAML cannot read the front matter: {self._yaml.error} (line {line}). DeepLore reads it all the same, "
                "but Obsidian shows no properties. Put quotes around the value, or mend the line.",
            )  # fmt: skip


def apply_edits(text: str, edits: Iterable[TextEdit]) -> str:
    """The text after all edits, whose offsets all refer to `text`.

    Raises ValueError where two edits overlap or one reaches outside the text. Insertions at one place keep their order.
    """
    pieces = []
    done = 0
    for edit in sorted(edits, key=lambda one: (one.start, one.end)):
        if not done <= edit.start <= edit.end <= len(text):
            raise ValueError(
                f"The edit of characters {edit.start} to {edit.end} overlaps another one or reaches outside the text "
                f"of {len(text)} characters."
            )
        pieces += [text[done : edit.start], edit.text]
        done = edit.end
    return "".join([*pieces, text[done:]])


def _kind(raw: str, value: Json) -> PropertyKind:
    parts = take_apart(raw)
    rest = parts.rest
    if rest[:1] == "{" and not rest.startswith("{{") and (rest.endswith("}") or parts.body):
        return PropertyKind.NESTED
    if not parts.is_block_scalar and (not rest or rest[0] in "#&!"):
        if any(_NESTED_LINE.match(line) and not _is_whole_item(line) for line in parts.body):
            return PropertyKind.NESTED
        if any(_NESTED_LIST.match(line) for line in parts.body):
            return PropertyKind.NESTED
    if isinstance(value, list):
        if rest[:1] == "[" and any(item.count("[") != item.count("]") for item in value if isinstance(item, str)):
            return PropertyKind.NESTED
        return PropertyKind.LIST if value or rest else PropertyKind.EMPTY
    if value is None:
        return PropertyKind.EMPTY
    if isinstance(value, bool):
        return PropertyKind.FLAG
    return PropertyKind.TEXT if isinstance(value, str) else PropertyKind.NUMBER


def _is_whole_item(line: str) -> bool:
    return front_matter.LIST_ITEM.match(line.rstrip(WHITE_SPACE)) is not None


def _values(text: str) -> dict[str, Json]:
    yaml_text, _ = front_matter.split(text)
    return {} if yaml_text is None else front_matter.parse(yaml_text)


def _equal(one: object, other: object) -> bool:
    """Equal, and true is not one."""
    return one == other and isinstance(one, bool) is isinstance(other, bool)


def _writable(value: object) -> Json:
    """A value of YAML that can be written for both; None for the others."""
    if isinstance(value, str):
        return value.removesuffix("\n")
    if isinstance(value, bool | int | float):
        return value
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return list(value)
    return None


def _common(one: Sequence[object], other: Sequence[object]) -> int:
    length = 0
    for left, right in zip(one, other, strict=False):
        if left != right:
            break
        length += 1
    return length


def _check_name(name: str) -> None:
    if not _NAME.fullmatch(name):
        raise ValueError(
            f"“{name}” cannot be the name of a property: DeepLore takes only the letters a to z, digits, underscores, "
            "dots and hyphens, and a letter, digit or underscore first."
        )
