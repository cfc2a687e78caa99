"""What DeepLore and YAML make of the properties of one note, compared only when somebody asks.

YAML is asked about single properties, which is far less work than the whole note.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import cached_property

from lorestudio.domain.javascript import Json
from lorestudio.vault import front_matter
from lorestudio.vault.note_lists import ListStyle
from lorestudio.vault.note_property import NoteProperty, PropertyKind
from lorestudio.vault.note_spans import key_end
from lorestudio.vault.note_spelling import Parts, equal, take_apart
from lorestudio.vault.note_writing import write_value
from lorestudio.vault.note_yaml import YamlText, YamlValue, certainly_alike, plain_data, read_yaml
from lorestudio.vault.readings import Cause, Reading, cause_of, old_word, same, sentence


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
        self._known: dict[int, Reading | None] = {}

    def of(self, found: NoteProperty) -> Reading | None:
        """What DeepLore and YAML make of a property, where they disagree."""
        if found.start not in self._known:
            invalid = found.kind is PropertyKind.INVALID
            self._known[found.start] = self._of_invalid(found) if invalid else self._compared(found)
        return self._known[found.start]

    @cached_property
    def error(self) -> tuple[str, int] | None:
        """Why YAML cannot read the block, and in which of its lines, from 0; None where it can."""
        if all(certainly_alike(found.raw) or list(self._read(found).values) == [0] for found in self._properties):
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

    def _compared(self, found: NoteProperty) -> Reading | None:
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
            cause = Cause.STRAY
        elif copies > 1:
            cause = Cause.DUPLICATE
        elif alike and word is None:
            return None
        else:
            cause = cause_of(parts.rest, list(parts.body), found.value, entry)
        if alike and word is not None and entry is not None:
            entry = YamlValue(entry.name, word)
        fixed = cause is Cause.STRAY or found.kind is PropertyKind.NESTED
        spelling = None if fixed else self._spelling(found, parts, found.value)
        meant = None
        if not fixed and entry is not None and not entry.error and not equal(found.value, entry.value):
            meant = self._spelling(found, parts, _writable(entry.value))
        message = sentence(found.name, found.value, entry, cause)
        return Reading(
            found.value, None if entry is None else plain_data(entry.value), cause, message, spelling, meant
        )  # fmt: skip

    def _of_invalid(self, found: NoteProperty) -> Reading:
        entry = self._entry(found)
        keyed = key_end(found.raw) > 0
        cause = Cause.NAME if keyed and entry is not None else Cause.SYNTAX
        value = None if entry is None else plain_data(entry.value)
        return Reading(None, value, cause, sentence(found.name, None, entry, cause))

    def _spelling(self, found: NoteProperty, parts: Parts, value: Json) -> str | None:
        if value is None and found.value is not None:
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
