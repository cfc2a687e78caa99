"""Changing a JSON file of another program: its text changes where its value does, and nowhere else.

A change is seen, then written in one step, with a copy of the file as it was. Numbers keep their spelling, texts their
escapes, members their order, double ones included, and the layout stays. Only what differs from the wanted value is
spelled anew, as compactly or loosely as the text around it.
"""

from __future__ import annotations

import glob
import io
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Final, TypeAlias

from msgspec import Struct

from lorestudio.domain.file_names import free_path
from lorestudio.domain.javascript import Json
from lorestudio.domain.json_text import DECODER, parse_json, spell
from lorestudio.domain.records import Terse, same_ends
from lorestudio.exchange.problems import InputError
from lorestudio.settings.files import READ_AT_MOST, read_whole, write_atomically
from lorestudio.vault.files import refused
from lorestudio.vault.writer import digest_of


class FileChange(Terse, frozen=True):
    """What a file would become. `digest` is the SHA-256 of the bytes that the change was made for."""

    unprinted = ("data",)

    path: Path
    digest: str
    data: bytes


def read_file(path: Path, at_most: int | None = None) -> bytes:
    """The file's bytes, as many as `read_whole` reads. Raises InputError."""
    try:
        return read_whole(path, at_most)
    except FileNotFoundError:
        raise InputError(path, "there is no such file. Check the path.") from None
    except IsADirectoryError:
        raise InputError(path, "this is a folder. Give the file in it.") from None
    except OSError as error:
        raise InputError(path, f"it cannot be read ({error.strerror or error}).") from error


def parse_document(data: bytes, source: Path | str, what: str) -> Json:
    """The value of a JSON file from outside. Raises InputError; `what` names the thing for the sentence."""
    text = utf8_text(data, source, f"Choose the {what}'s JSON file.")
    return parse_text(text, source, f"Correct this place, or export the {what} again.")


def utf8_text(data: bytes, source: Path | str, advice: str) -> str:
    """The text of a file. Raises InputError naming the line that is none, with what to do about it."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise InputError(source, f"byte {error.start} of the file is not UTF-8. {advice}", line) from error


def parse_text(text: str, source: Path | str, advice: str, line: int | None = None) -> Json:
    """The value of a JSON text, which is a whole file or the line of one.

    Raises InputError naming the line, with what to do about it.
    """
    try:
        return parse_json(text)
    except json.JSONDecodeError as error:
        if not text.strip():
            raise InputError(source, "it is empty. Choose another file, or a copy of before.") from error
        message = f"this is no valid JSON ({error.msg}, column {error.colno}). {advice}"
        raise InputError(source, message, line or error.lineno) from error


def change_of(path: Path, before: bytes, after: bytes) -> FileChange:
    """The change from the bytes that were looked at."""
    return FileChange(path, digest_of(before), after)


CHANGED_MEANWHILE: Final = "the file was changed meanwhile, so nothing was written. Look at it again."


def carry_out(change: FileChange, now: datetime | None = None) -> Path:
    """Write the file and return where its copy from before lies: beside it, with the time in its name.

    Raises InputError, with the file as it was, where it is not what was looked at, or cannot be written. Waits for the
    disk, so a window calls it from a worker.
    """
    before = read_file(change.path)
    if digest_of(before) != change.digest:
        raise InputError(change.path, CHANGED_MEANWHILE)
    copy = keep_copy(change.path, before, now)
    with _writing(change.path):
        write_atomically(change.path, change.data, expected=before)
    return copy


def keep_copy(path: Path, data: bytes, now: datetime | None = None) -> Path:
    """Keep what a file holds beside it, with the time in the name, and return where. Raises InputError."""
    with _writing(path):
        kept = max(path.parent.glob(f"{glob.escape(path.name)}.*.bak"), default=None)
        if kept is not None and read_whole(kept, READ_AT_MOST) == data:
            return kept
        name = f"{path.name}.{now or datetime.now().astimezone():%Y-%m-%d_%H-%M-%S}"
        copy = free_path(path.parent, lambda number: f"{name}{f'_{number}' if number > 1 else ''}.bak")
        write_atomically(copy, data, private=True)
    return copy


def _writing(path: Path) -> AbstractContextManager[None]:
    return refused(partial(InputError, path), "it cannot be written ({reason}). Check permissions and free space.")


INDENT: Final = "    "
"""One step of indentation where the text does not show its own (rules: deeplore-tools 4.3)."""

_SPACE: Final = re.compile(r"[ \t\n\r]*")
_HALF: Final = re.compile("[\ud800-\udfff]")


def spell_record(value: Json, *, loose: bool = False) -> str:
    """A JSON value as SillyTavern writes it: as `spell` does, with halves of surrogate pairs as escapes."""
    return _escaped(spell(value, loose=loose))


def _escaped(text: str) -> str:
    return _HALF.sub(lambda half: f"\\u{ord(half[0]):04x}", text)


def same_value(one: Json, other: Json) -> bool:
    """Whether two JSON values are the same to JavaScript: 1 and 1.0 are, 1 and true are not; order is none."""
    if one is other or (type(one) is type(other) is str):  # as most are that are compared by the thousand
        return one is other or one == other
    pairs = [(one, other)]
    while pairs:  # no recursion: a chat may be nested as deep as it can be read
        one, other = pairs.pop()
        if isinstance(one, bool) or isinstance(other, bool):
            if one is not other:
                return False
        elif one is None or isinstance(one, str | int | float):  # most are: whether they are objects takes longer
            if one != other:
                return False
        elif isinstance(one, Mapping):
            if not isinstance(other, Mapping) or one.keys() != other.keys():
                return False
            pairs += [(value, other[key]) for key, value in one.items()]
        elif not isinstance(other, list | tuple) or len(one) != len(other):
            return False
        else:
            pairs += zip(one, other, strict=True)
    return True


def changed_text(text: str, wanted: Json) -> str:
    """The JSON text `text` with another value; what is the same in both keeps its spelling.

    New members come last, laid out as those before them. Raises ValueError where `text` is no JSON or `wanted` cannot
    be spelled.
    """
    return "".join(_changed(text, wanted))


def changed_bytes(text: str, wanted: Json) -> bytes:
    """The same in UTF-8, made piece by piece: of a large book its text would be there twice, and beside its bytes."""
    written = io.BytesIO()
    written.writelines(piece.encode() for piece in _changed(text, wanted))
    return written.getvalue()


def _changed(text: str, wanted: Json) -> Iterator[str]:
    whole = _whole(text)
    lead = "\n" if "\n" in text[whole.start : whole.end] else ""
    first = re.match(r'\s*\{\s*"(?:[^"\\]|\\.)*"\s*:(\s?)', text)
    loose = bool(first and first[1])  # it has a blank behind the colon of its first member
    yield text[: whole.start]
    try:
        yield from _Writer(text, loose).write(whole, wanted, lead, INDENT)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    yield text[whole.end :]


def set_members(text: str, path: Sequence[str], values: Mapping[str, Json]) -> str:
    """`text` with `values` as members of the object at `path`; objects that are missing on the way are made.

    `text` is a valid JSON object. Raises ValueError where it is not, and where something else than an object stands on
    the way.
    """
    return changed_text(text, _with_members(_whole(text).value, tuple(path), 0, values))


def _with_members(value: Json, path: tuple[str, ...], depth: int, values: Mapping[str, Json]) -> Mapping[str, Json]:
    if not isinstance(value, Mapping):
        what = f'the field "{".".join(path[:depth])}"' if depth else "the text"
        raise ValueError(f"{what} holds no object")  # noqa: TRY004 - the text is at fault
    if depth == len(path):
        return {**value, **values}
    key = path[depth]
    return {**value, key: _with_members(value.get(key, {}), path, depth + 1, values)}


class _SpellingPart(Struct, frozen=True):
    """A value and the place of its text; of a member also its key and where the key's quote stands."""

    value: Json
    start: int
    end: int
    key: str = ""
    place: int = 0


def _whole(text: str) -> _SpellingPart:
    """The value of a text. Raises ValueError where it is no JSON."""
    start = _skip(text, 0)
    return _SpellingPart(parse_json(text), start, len(text.rstrip(" \t\n\r")))


def _parts(text: str, outer: _SpellingPart) -> Iterator[_SpellingPart]:
    """The members of an object, or the items of a list."""
    keyed, key = isinstance(outer.value, dict), ""
    at = _skip(text, outer.start + 1)
    while text[at] not in "}]":
        place = at
        if keyed:
            key, at = DECODER.raw_decode(text, at)
            at = _skip(text, _skip(text, at) + 1)
        value, end = DECODER.raw_decode(text, at)
        yield _SpellingPart(value, at, end, key, place)
        at = _skip(text, end)
        if text[at] == ",":
            at = _skip(text, at + 1)


def _skip(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return found.end() if found is not None else at


def line_of(text: str, path: Sequence[str]) -> int:
    """The line of what stands at `path` in a JSON text, or of the innermost on the way that is there."""
    part = _whole(text)
    for step in path:
        if not isinstance(part.value, dict | list):
            break
        inner = {part.key or str(place): part for place, part in enumerate(_parts(text, part))}
        if step not in inner:
            break
        part = inner[step]
    return text.count("\n", 0, part.start) + 1


_Piece: TypeAlias = tuple[str | None, Iterable[str]]
"""A member or an item in pieces, and the gap that was before it."""


class _Writer(Struct, frozen=True):
    """Writes the text of a value with another one, in pieces: a whole book is long.

    The white space before what stands beside a value (its `lead`: a line end and the indentation, "" on one line) and
    one step of indentation (`step`) are handed down from the values around it.
    """

    _text: str
    _loose: bool

    def write(self, part: _SpellingPart, wanted: Json, lead: str, step: str) -> Iterator[str]:
        if same_value(part.value, wanted):
            yield self._text[part.start : part.end]
        elif isinstance(part.value, dict) and isinstance(wanted, Mapping):
            yield from self._object(part, wanted, lead, step)
        elif isinstance(part.value, list) and isinstance(wanted, Sequence) and not isinstance(wanted, str):
            yield from self._list(part, wanted, lead, step)
        else:
            yield self._spelled(wanted, lead, step)

    def _spelled(self, value: Json, lead: str, step: str) -> str:
        if not lead:
            return spell_record(value, loose=self._loose)
        text = json.dumps(value, ensure_ascii=False, indent=step, default=dict)
        return _escaped(text.replace("\n", lead))  # line ends inside of texts are escapes

    def _object(self, part: _SpellingPart, wanted: Mapping[str, Json], lead: str, step: str) -> Iterator[str]:
        members = list(_parts(self._text, part))
        own, step = self._layout(part, members, lead, step)
        last = {member.key: place for place, member in enumerate(members)}
        pieces: list[_Piece] = []
        end = part.start + 1
        for place, member in enumerate(members):
            gap, end = self._text[end : member.place], member.end
            if member.key not in wanted:
                continue
            # Of double members JavaScript reads the last, so that one alone has to say what is wanted.
            written: Iterable[str] = (self._text[member.start : member.end],)
            if last[member.key] == place:
                written = self.write(member, wanted[member.key], own, step)
            pieces.append((gap if place else None, chain((self._text[member.place : member.start],), written)))
        colon = ": " if own or self._loose else ":"
        added = ((key, value) for key, value in wanted.items() if key not in last)
        spelled = ((None, (f"{spell_record(key)}{colon}", self._spelled(value, own, step))) for key, value in added)
        return self._within(part, members, chain(pieces, spelled), own, lead)

    def _list(self, part: _SpellingPart, wanted: Sequence[Json], lead: str, step: str) -> Iterator[str]:
        items = list(_parts(self._text, part))
        own, step = self._layout(part, items, lead, step)
        first, rest = same_ends([item.value for item in items], wanted, same_value)
        old, new = items[first : len(items) - rest], wanted[first : len(wanted) - rest]
        ends = [part.start + 1, *(item.end for item in items)]
        gaps = [self._text[ends[at] : item.start] if at else None for at, item in enumerate(items)]
        pairs = enumerate(zip(old, new, strict=False))
        middle: list[_Piece] = [(gaps[first + at], self.write(item, value, own, step)) for at, (item, value) in pairs]
        spelled = ((None, (self._spelled(value, own, step),)) for value in new[len(old) :])
        kept: list[_Piece] = [
            (gap, (self._text[item.start : item.end],)) for gap, item in zip(gaps, items, strict=True)
        ]
        pieces = chain(kept[:first], middle, spelled, kept[len(items) - rest :])
        return self._within(part, items, pieces, own, lead)

    def _layout(self, part: _SpellingPart, inner: Sequence[_SpellingPart], lead: str, step: str) -> tuple[str, str]:
        """The white space before a member or an item, "" on one line, and one step of indentation."""
        own = lead + step if lead else ""
        if inner:
            before = _skip(self._text, inner[-2].end) if len(inner) > 1 else part.start
            own = self._text[before + 1 : inner[-1].place]
            own = own if "\n" in own else ""
        return own, own.removeprefix(lead) if lead and own.startswith(lead) and own != lead else step

    def _within(
        self, part: _SpellingPart, inner: Sequence[_SpellingPart], pieces: Iterable[_Piece], own: str, lead: str
    ) -> Iterator[str]:
        """The pieces between the brackets, each behind the gap that was before it, or the usual one."""
        usual = f",{own}" if own else ", " if self._loose else ","
        start, end = self._text[part.start] + own, (lead if own else "") + self._text[part.end - 1]
        if inner:
            start, end = self._text[part.start : inner[0].place], self._text[inner[-1].end : part.end]
        yield start
        for at, (gap, piece) in enumerate(pieces):
            if at:
                yield gap or usual
            yield from piece
        yield end
