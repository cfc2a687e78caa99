"""Words and numbers for people: plurals, lists, quotation marks, and sentence templates filled from details.

A template is text with fields and optional parts:

- `{name}` the detail as text: numbers with thousands separators, lists as `A, B and C`;
- `{name!q}` the same in typographic quotation marks; `{name!v}` a field's value, where none is "nothing";
- `{name!w}` a code in words (`WORDS`);
- `{name:one|many}` or `{name:zero|one|many}` chooses by number, or by the length of a list; `#` is the number;
- `[ text with fields]` is left out when one of its details is missing; `[first|second]` takes the first that can be
  filled.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from functools import lru_cache
from string import Formatter
from typing import Final, TypeGuard

from lorestudio.domain.entry import Position, Role
from lorestudio.domain.javascript import Json

_CONTROLS: Final = re.compile("[\0-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
"""What steers a terminal or turns the direction of what follows; line breaks and tabs are none."""
_BESIDE_JSON: Final = re.compile(rf"{_CONTROLS.pattern}|[\u2028\u2029]")
"""The same, and the ends of lines that JSON lets stand within a text: of its lines each is one value."""

LONGEST_LIST: Final = 12
"""Items of a list that a sentence spells out; the rest is counted."""

LONGEST_QUOTE: Final = 120
"""Characters of a quoted text before it is shortened."""

WORDS: Final[Mapping[str, str]] = {
    # what makes an entry exempt
    "constant": "it is a constant",
    "seed": "it is a seed",
    "bootstrap": "it is a bootstrap entry",
    "pin": "it is pinned",
    # operators of gating fields (rules: deeplore 5.2)
    "match_any": "they need a value in common",
    "match_all": "the chat needs every value of the note",
    "not_any": "they must have no value in common",
    "exists": "the note needs a value",
    "not_exists": "the note must have no value",
    "eq": "they must be equal",
    "gt": "the note's must be the greater one",
    "lt": "the note's must be the smaller one",
    # settings by DeepLore's keys, as the settings pane calls them
    "aiNotepadEnabled": "“AI notepad”",
    "aiSearchEnabled": "“AI selection”",
    "characterContextScan": "“Match the active character”",
    "fuzzySearchEnabled": "“Fuzzy search”",
    "hierarchicalPreFilter": "“Category prefilter”",
    "notebookEnabled": "“Author's notebook”",
    "recursiveScan": "“Recursive scan”",
    "reinjectionCooldown": "“Pause after injection”",
    "stripDuplicateInjections": "“Strip duplicates”",
    # why the log of recent injections was emptied
    "swipe": "this is a swipe",
    # what an AI fallback lets in
    "keyword": "what the keys match",
    "constants": "the constants",
    "constants_only": "the constants",
    "constants_bootstrap": "the constants, and the bootstrap entries of a new chat",
    "bootstrap_only": "the bootstrap entries of a new chat",
    "none": "nothing",
}
"""Codes that occur in details, in words that fit the sentences using them."""

_OPTIONAL = re.compile(r"\[([^\[\]]*)\]")
_ALTERNATIVE = re.compile(r"\|(?![^{]*\})")  # a bar that is not inside a field
_DOUBLE_STOP = re.compile(r"(?<![.…])([.…])\.(?=\s|$)")  # a detail that is a sentence of its own, or cut short


class _MissingDetailError(LookupError):
    """A detail that a template asks for is not there."""


def number_words(value: float) -> str:
    """A number for reading: thousands separators, at most four decimals (four figures below 0.0001)."""
    if isinstance(value, int):
        return f"{value:,}"
    if math.isnan(value):
        return "not a number"
    if math.isinf(value):
        return "∞" if value > 0 else "-∞"
    if value.is_integer():
        return f"{int(value):,}"
    if abs(value) < 0.0001:
        return f"{value:.4g}"
    return f"{value:,.4f}".rstrip("0").rstrip(".")


def signed_words(value: int) -> str:
    """A whole difference for reading: `+1,264`, `−284`, `+0`."""
    return f"{value:+,}".replace("-", "−")


def calendar_time(ms: float) -> datetime:
    """A moment, in ms since 1970, in UTC; before the year 1000 and after 9999, as a disk may tell it, the nearest."""
    return datetime.fromtimestamp(min(max(ms / 1000, -30_610_224_000), 253_402_300_799), UTC)


def time_words(ms: float | None, form: str = "%Y-%m-%d %H:%M:%S") -> str:
    """A moment, in ms since 1970, by this computer's clock; "" for one not known or beyond all calendars."""
    try:
        return f"{datetime.fromtimestamp(ms / 1000, UTC).astimezone():{form}}" if ms else ""
    except (OSError, OverflowError, ValueError):
        return ""


def ordinal(place: int) -> str:
    """`3rd`."""
    ending = "th" if 10 <= place % 100 <= 20 else {1: "st", 2: "nd", 3: "rd"}.get(place % 10, "th")
    return f"{place}{ending}"


def joined(items: Sequence[str]) -> str:
    """`A`, `A and B`, `A, B and C`; a long list ends in `and 5 more`."""
    shown = list(items[:LONGEST_LIST])
    if len(items) > LONGEST_LIST:
        shown.append(f"{len(items) - LONGEST_LIST:,} more")
    return " and ".join([", ".join(shown[:-1]), shown[-1]] if len(shown) > 1 else shown)


def first_few(items: Sequence[str], most: int) -> str:
    """`A, B`, or of more than `most` the first: `A, B and 5 more`."""
    more = len(items) - most
    return ", ".join(items[:most]) + (f" and {more} more" if more > 0 else "")


def one_line(text: str) -> str:
    """The text with line breaks and tabs as blanks, shortened where it is very long."""
    line = re.sub(r"[\t\n\v\f\r\u2028\u2029]+", " ", text)
    return line if len(line) <= LONGEST_QUOTE else line[: LONGEST_QUOTE - 1] + "…"


def without_controls(text: str) -> str:
    """The text without what would steer a terminal, or show what follows in another order."""
    return _CONTROLS.sub("", text)


def controls_escaped(json_text: str) -> str:
    """JSON that means the same, steers no terminal, and has no line end within a text."""
    return _BESIDE_JSON.sub(lambda found: f"\\u{ord(found[0]):04x}", json_text)


def lowered(label: str) -> str:
    """The words with a small letter at the beginning, as they stand inside a sentence."""
    return label[:1].lower() + label[1:]


def quoted(text: str) -> str:
    """The text on one line in typographic quotation marks."""
    return f"“{one_line(text)}”"


def plural(value: Json, forms: str) -> str:
    """Choose between `one|many` or `zero|one|many`; `#` becomes the number. A list counts its items.

    A single form serves all numbers.
    """
    amount = value if isinstance(value, int | float) else len(value) if is_list(value) else 1
    words = forms.split("|")
    if amount == 1:
        words = words[-2:]
    elif amount != 0 or len(words) < 3:
        words = words[-1:]
    return words[0].replace("#", number_words(amount))


def place(position: float, depth: float, role: float) -> str:
    """Where an injection stands, e.g. `in the chat at depth 4, as system` (rules: deeplore 0.4)."""
    speaker = Role(int(role)).name.lower() if role in tuple(Role) else "system"
    if position == Position.OUTLET:
        return "in an outlet"
    if position == Position.AFTER:
        return f"after the main prompt, as {speaker}"
    if position == Position.BEFORE:
        return f"before the main prompt, as {speaker}"
    return f"in the chat at depth {number_words(depth)}, as {speaker}"


def fill(template: str, details: Mapping[str, Json]) -> str | None:
    """The template with its fields filled, None where a detail outside an optional part is missing.

    A detail is missing when it is absent, None, or an empty text or list; `!v` shows those as "nothing".
    """
    try:
        text = "".join(_part(alternatives, details) for alternatives in _parts(template))
    except _MissingDetailError:
        return None
    return _DOUBLE_STOP.sub(r"\1", text)


@lru_cache(maxsize=1024)
def _parts(template: str) -> tuple[tuple[str, ...], ...]:
    """The template cut into parts, each with its alternatives; an optional part ends in the empty alternative."""
    pieces = _OPTIONAL.split(template)
    return tuple(
        (*_ALTERNATIVE.split(piece), "") if index % 2 else (piece,) for index, piece in enumerate(pieces) if piece
    )


@lru_cache(maxsize=2048)
def _pieces(text: str) -> tuple[tuple[str, str | None, str, str], ...]:
    """Literal text, field name, choice of words and conversion, as `Formatter.parse` finds them."""
    return tuple(
        (literal, name, spec or "", conversion or "") for literal, name, spec, conversion in Formatter().parse(text)
    )


def _part(alternatives: tuple[str, ...], details: Mapping[str, Json]) -> str:
    for text in alternatives[:-1]:
        try:
            return _plain(text, details)
        except _MissingDetailError:
            continue
    return _plain(alternatives[-1], details)


def _plain(text: str, details: Mapping[str, Json]) -> str:
    filled: list[str] = []
    for literal, name, spec, conversion in _pieces(text):
        filled.append(literal)
        if name is not None:
            filled.append(_field(name, spec, conversion, details))
    return "".join(filled)


def _field(name: str, spec: str, conversion: str, details: Mapping[str, Json]) -> str:
    value = details.get(name)
    empty = value is None or value == "" or (is_list(value) and not value)
    if conversion == "v":
        return "nothing" if empty else _words(value, "q")
    if empty:
        raise _MissingDetailError(name)
    return plural(value, spec) if spec else _words(value, conversion)


def _words(value: Json, conversion: str) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return number_words(value)
    if isinstance(value, str):
        if conversion == "w":
            return WORDS.get(value) or one_line(value.replace("_", " "))
        return quoted(value) if conversion == "q" else one_line(value)
    if isinstance(value, Mapping):
        return joined([f"{one_line(str(key))}: {_words(item, conversion)}" for key, item in value.items()])
    return "none" if value is None else joined([_words(item, conversion) for item in value])


def is_list(value: Json) -> TypeGuard[Sequence[Json]]:
    """Whether a detail is a list of details."""
    return isinstance(value, Sequence) and not isinstance(value, str)
