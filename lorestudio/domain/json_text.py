"""JSON as text: read as JavaScript reads it, compact when written."""

from __future__ import annotations

import json
import math
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Final, NoReturn

from lorestudio.domain.javascript import LINE_END, LINE_START, WS, Json, is_finite_number, trim, trim_end


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON number")


def _whole(digits: str) -> int | float:
    # Python refuses to make an integer of thousands of digits; to JavaScript it is a number like others.
    return int(digits) if len(digits) <= sys.float_info.max_10_exp else float(digits)


def _plain(value: object) -> dict[str, Json]:
    """Read-only mappings as dictionaries."""
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{type(value).__name__} is no JSON value")


DECODER: Final = json.JSONDecoder(parse_constant=_no_constant, parse_int=_whole)
"""Reads one value at a place of a text; no NaN, and numbers of any length."""


_MARKS: Final = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"?|[\[{]|[\]}]|(NaN|-?Infinity)')
"""Texts, also one without an end, which are passed over, brackets, and the numbers that JSON does not have."""


def parse_json(text: str) -> Json:
    """The value of a JSON text. Raises JSONDecodeError saying what is wrong, and where."""
    try:
        value: Json = DECODER.decode(text)
    except json.JSONDecodeError:
        raise
    except ValueError as error:  # the decoder does not say where the number stands: it is the first
        place = next((found.start() for found in _MARKS.finditer(text) if found[1]), 0)
        raise json.JSONDecodeError(str(error), text, place) from None
    except RecursionError:
        raise json.JSONDecodeError("it is nested too deeply", text, _deepest(text)) from None
    return value


def json_or_none(text: str) -> Json:
    """The value of a text that may be JSON, None where it is something else."""
    return next(iter(decoded(text)), None)


def decoded(text: str) -> list[Json]:
    """The value of a JSON text, as a list of one; an empty list where it is none."""
    try:
        return [DECODER.decode(text)]
    except (ValueError, RecursionError):  # where it is wrong is asked by nobody, and takes longer than reading it
        return []


def _deepest(text: str) -> int:
    """Where the innermost bracket opens, of a million: megabytes of them take seconds."""
    depth = most = place = 0
    for found in islice(_MARKS.finditer(text), 1_000_000):
        depth += (found[0] in "[{") - (found[0] in "]}")
        if depth > most:
            most, place = depth, found.start()
    return place


def spell(value: Json, *, ascii_only: bool = False, sort_keys: bool = False, loose: bool = False) -> str:
    """A JSON value as compact text, with blanks behind commas and colons where `loose` is set.

    Raises ValueError for NaN, infinities and nesting too deep, TypeError for what is no JSON.
    """
    separators = (", ", ": ") if loose else (",", ":")
    try:
        return json.dumps(
            value, ensure_ascii=ascii_only, sort_keys=sort_keys, separators=separators, default=_plain, allow_nan=False
        )
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def stringified(value: Json) -> str:
    """The value as `JSON.stringify` spells it, endless numbers as null. Raises ValueError for nesting too deep."""
    try:
        return spell(_finite(value))
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def _finite(value: Json) -> Json:
    if isinstance(value, Mapping):
        return {name: _finite(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(each) for each in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


_LISTS: Final = (list, tuple)
_MAPPINGS: Final = (dict, Mapping)  # the first is found at once


def text_in(value: Json) -> str:
    """The value where it is a text, else ""."""
    return value if isinstance(value, str) else ""


def number_in(value: Json) -> float | None:
    """The value where it is a finite number."""
    return value if is_finite_number(value) else None


def whole_in(value: Json) -> int | None:
    """The value where it is a whole number, however JSON spells it."""
    return int(value) if is_finite_number(value) and value == int(value) else None


def texts_in(value: Json) -> tuple[str, ...]:
    """The texts in a list, none of what is no list."""
    return tuple([item for item in value if isinstance(item, str)]) if isinstance(value, _LISTS) else ()


def items_in(value: Json) -> Sequence[Json]:
    """The items of a list, none of what is no list."""
    return value if isinstance(value, list | tuple) else ()


def objects_in(value: Json) -> list[Mapping[str, Json]]:
    """The objects in a list, none of what is no list."""
    return [item for item in items_in(value) if isinstance(item, Mapping)]


def kind_words(value: Json) -> str:
    """What a value is, as in “a list”."""
    if value is None or isinstance(value, bool):
        return "null" if value is None else "true or false"
    if isinstance(value, int | float):
        return "a number"
    return "a text" if isinstance(value, str) else "an object" if isinstance(value, Mapping) else "a list"


def mapping_in(value: Json) -> Mapping[str, Json]:
    """The value where it is an object, else an empty one."""
    return value if isinstance(value, _MAPPINGS) else {}


def object_in(value: Json, name: str) -> Mapping[str, Json]:
    """The object that an object has under this name, an empty one where there is none."""
    return mapping_in(mapping_in(value).get(name))


MOST_NESTED: Final = 100
"""What takes values apart may call itself thrice for a list in a list, and Python ends that at a thousand calls."""


def is_deep(value: Json) -> bool:
    """Whether more than `MOST_NESTED` lists and objects stand in each other."""
    inner = [value]
    for _ in range(MOST_NESTED):
        holders = [each for each in inner if isinstance(each, Mapping | list | tuple)]
        inner = [item for each in holders for item in (each.values() if isinstance(each, Mapping) else each)]
        if not inner:  # as in nearly all that is looked at, thousands of small pieces of one reply among it
            return False
    return any(isinstance(each, Mapping | list | tuple) for each in inner)


# From the first backtick on: the white space before it is looked at separately, or blank lines would cost their square.
_FENCE: Final = re.compile(rf"(?<!`)`{{3,}}+\w*+{WS}*{LINE_END}", re.ASCII)
_LINE_START: Final = re.compile(LINE_START)
_FENCED: Final = re.compile(r"`{3,}(?:json)?([\s\S]*?)`{3,}")


def values_in(text: str, *, arrays: bool = False) -> Iterator[Json]:
    """The JSON values that a reply's text may mean, the likeliest first; with `arrays`, no objects and envelopes."""
    text = trim(_without_fence_lines(text))
    for candidate in _readings(text, arrays=arrays) if text else ():
        yield from decoded(candidate)


def _without_fence_lines(text: str) -> str:
    """The text without lines that are only a code fence, and without the white space around those."""
    kept: list[str] = []
    done = since = 0  # what lies before `since` is no white space before the next fence
    for fence in _FENCE.finditer(text):
        before = text[since : fence.start()]
        blank = _LINE_START.search(text, since + len(trim_end(before)), fence.start() + 1)
        since = fence.start()
        if blank is not None:
            kept.append(text[done : blank.start()])
            done = since = fence.end()
    return "".join([*kept, text[done:]])


def _readings(text: str, *, arrays: bool) -> Iterator[str]:
    """Parts of the text that may be the JSON: all of it, what a fence holds, the model's words in a printed envelope,
    balanced pieces from the longest on.
    """
    yield text
    fenced = _FENCED.search(text)
    if fenced:
        yield trim(fenced[1])
    dumped = "" if arrays else _dumped(text)
    if dumped:
        yield json.dumps(dumped)  # as the text that it is
    left = _MOST_TRIED
    tried: set[str] = set()
    for start, end in sorted(_balanced(text), key=lambda piece: piece[0] - piece[1]):
        left -= end - start
        if left < 0:
            return
        if (arrays and text[start] != "[") or (piece := text[start:end]) in tried:
            continue
        tried.add(piece)
        if '"' in piece or not trim(piece[1:-1]):  # else it can name nothing
            yield piece


_MOST_TRIED: Final = 50_000_000
"""Characters of all pieces that are tried; only pieces within pieces, hundreds deep, come to as many."""


def _dumped(text: str) -> str:
    """Model text inside an envelope that was printed the way JavaScript inspects an object, "" where there is none.

    Its quoted pieces are put together, its escapes undone (rules: deeplore-tools 1.6.1 step 3).
    """
    if "candidates:" not in text:
        return ""
    runs = _DUMPED.findall(text)
    return "\n".join("".join(_unescaped(piece[1:-1]) for piece in re.findall(_QUOTED, run)) for run in runs)


_QUOTED: Final = r"'(?:[^'\\]|\\[\s\S])*'"
_DUMPED: Final = re.compile(rf"\btext:\s*+({_QUOTED}(?:\s*+\+\s*+{_QUOTED})*)")
_ESCAPE: Final = re.compile(r"\\(?:x([\dA-Fa-f]{2})|u([\dA-Fa-f]{4})|([\s\S]))", re.ASCII)
_CONTROLS: Final = {"n": "\n", "r": "\r", "t": "\t", "b": "\b", "f": "\f", "v": "\v", "0": "\0"}


def _unescaped(piece: str) -> str:
    return _ESCAPE.sub(
        lambda found: chr(int(found[1] or found[2], 16)) if not found[3] else _CONTROLS.get(found[3], found[3]), piece
    )


def _balanced(text: str) -> Iterator[tuple[int, int]]:
    """Start and end of every bracketed piece that closes; quotes hide brackets, a backslash hides what follows it.

    Each piece is read as if the text began there. One walk from the end to the beginning finds all of them, where
    following each from its start takes the square of the length for a text of brackets alone.
    """
    size = max(map(text.rfind, "]}")) + 1  # nothing closes behind the last bracket that could
    first = min((place for place in map(text.find, "[{") if place >= 0), default=size)
    # Where the first quote that ends a string, and the first bracket that closes what is open, stand from here on.
    quote_end = {quote: [size] * (size + 2) for quote in "\"'"}
    closing = {bracket: [size] * (size + 2) for bracket in "[{"}
    pieces: list[tuple[int, int]] = []
    for place in range(size - 1, first - 1, -1):
        char = text[place]
        following = place + 2 if char == "\\" else place + 1
        after = quote_end[char][place + 1] + 1 if char in quote_end else following
        for quote, ends in quote_end.items():
            ends[place] = place if char == quote else ends[following]
        for bracket, closer in _BRACKETS:
            ends = closing[bracket]
            if char == closer:
                ends[place] = place
            elif char != bracket:
                ends[place] = ends[after]
            elif ends[after] < size:
                pieces.append((place, ends[after] + 1))
                ends[place] = ends[ends[after] + 1]
    return reversed(pieces)


_BRACKETS: Final = (("[", "]"), ("{", "}"))
