"""Where a scene may end: the range that is looked at, and the messages that may be chosen (spec: recap-memory 12)."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from lorestudio.domain.javascript import NOT_WS, WS, Json, trim, truthy
from lorestudio.memory.recap.records import Record, mapping, message_text

Which: TypeAlias = Literal["both", "user", "character"]
Mode: TypeAlias = Literal["forward", "backward", "forced"]

DETECTION_PRIORITY: Final = 5

_RULE = re.compile(rf"{WS}*(?:-{{3,}}|\*{{3,}}|_{{3,}}|={{3,}}){WS}*")
_HEADING = re.compile(rf"{WS}*(?:scene{WS}*break|chapter{WS}+{NOT_WS}+)\.?{WS}*", re.IGNORECASE)


def matches(message: Record, which: str) -> bool:
    """Whether a message counts: it has text, is no notice of the host's, and the right side speaks."""
    if not trim(message_text(message)) or mapping(message.get("extra")).get("type") == "system":
        return False
    is_user = truthy(message.get("is_user"))
    return which == "both" or (which == "user") == is_user


def matching(messages: Sequence[Record], first: int, last: int, which: str) -> tuple[int, ...]:
    """Positions of the messages that count in a range, both ends included."""
    return tuple(
        index for index in range(max(first, 0), min(last, len(messages) - 1) + 1) if matches(messages[index], which)
    )


@dataclass(frozen=True, slots=True)
class Detection:
    """A range to be looked through. `found` messages of it count; `original_start` is where it was asked to begin."""

    start: int
    end: int
    offset: int
    found: int
    required: int
    original_start: int
    extended: bool
    last_break: int
    priority: int = DETECTION_PRIORITY

    @property
    def metadata(self) -> dict[str, Json]:
        """What the operation notes beside its range."""
        return {
            "filtered_count": self.found,
            "minimum_required": self.required,
            "offset": self.offset,
            "start_index": self.start,
            "end_index": self.end,
            "original_start_index": self.original_start,
            "range_extended": self.extended,
            "last_scene_break_index": self.last_break,
        }


def detection_range(
    messages: Sequence[Record],
    breaks: Sequence[int],
    *,
    offset: int,
    least: int,
    which: str,
    start: int | None = None,
    end: int | None = None,
) -> Detection | None:
    """The range to look through, None where it is too short.

    The last `offset` messages are read but not chosen from; a break among them is not seen. A range that is too short
    begins at the scene's own start instead, where that makes it long enough.
    """
    latest = len(messages) - 1 if end is None else end
    last_eligible = latest - offset
    if last_eligible < 0:
        return None
    last_break = max((place for place in breaks if place <= last_eligible), default=-1)
    first = last_break + 1 if start is None else start
    if first > last_eligible:
        return None
    required = least + 1
    found = len(matching(messages, first, last_eligible, which))
    begins = first
    if found < required:
        if last_break + 1 >= first:
            return None
        begins = last_break + 1
        found = len(matching(messages, begins, last_eligible, which))
        if found < required:
            return None
    return Detection(begins, latest, offset, found, required, first, begins < first, last_break)


@dataclass(frozen=True, slots=True)
class Choices:
    """The messages that may end a scene. `filtered` are all that count, `eligible` those before the offset zone."""

    filtered: tuple[int, ...]
    eligible: tuple[int, ...]
    earliest: int | None = None
    latest: int | None = None

    @property
    def choices(self) -> tuple[int, ...]:
        """What may be chosen, in order."""
        if self.earliest is None or self.latest is None:
            return ()
        return tuple(index for index in self.filtered if self.earliest <= index <= self.latest)

    @property
    def possible(self) -> bool:
        """Whether there is anything to choose."""
        return bool(self.choices)


def detection_choices(
    messages: Sequence[Record], start: int, end: int, *, least: int, which: str, mode: Mode = "forward", offset: int = 0
) -> Choices:
    """Which messages may be chosen: `least` others stand before, and when looking backwards as many behind."""
    last_eligible = end - offset if mode == "forward" else end
    filtered = matching(messages, start, end, which)
    eligible = tuple(index for index in filtered if index <= last_eligible)
    if len(eligible) < least + 1:
        return Choices(filtered, eligible)
    earliest, latest = eligible[least], last_eligible
    if mode == "backward":
        behind = eligible[: len(eligible) - least] if least else eligible
        if not behind or behind[-1] < earliest:
            return Choices(filtered, eligible)
        latest = behind[-1]
    return Choices(filtered, eligible, earliest, latest)


def without_decoration(text: str) -> str:
    """The text without lines that are only drawn rules or headings; blank lines stay."""
    lines = text.replace("\r\n", "\n").split("\n")
    return "\n".join(line for line in lines if not (_RULE.fullmatch(line) or _HEADING.fullmatch(line)))


def paragraphs(messages: Mapping[int, Record], filtered: Iterable[int], earliest: float, latest: float) -> str:
    """The messages as the model reads them; those that may not be chosen have no number."""
    return "\n\n".join(
        f"Message #{index if earliest <= index <= latest else 'invalid choice'} "
        f"[{'USER' if truthy(messages[index].get('is_user')) else 'CHARACTER'}]: "
        f"{without_decoration(message_text(messages[index]))}"
        for index in filtered
    )


def chosen_paragraphs(messages: Sequence[Record], found: Choices) -> str:
    """The paragraphs of a detection."""
    earliest = math.inf if found.earliest is None else found.earliest
    latest = -math.inf if found.latest is None else found.latest
    return paragraphs({index: messages[index] for index in found.filtered}, found.filtered, earliest, latest)
