"""Where a scene may end: in which range, at which messages, and what an answer has to stand (rules: recap-memory 12).

Of several breaks that were found at once, the recaps come one after the other; each operation carries the rest of the
chain, so that it goes on after a restart (rules: recap-memory 12.5).
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, Literal, TypeAlias

from msgspec import Struct

from lorestudio.domain.javascript import NOT_WS, WS, Json, to_number, trim, truthy
from lorestudio.domain.json_text import items_in, object_in, text_in
from lorestudio.settings.recap import RecapSettings
from lorestudio.systems.recap.asking import Handler, Stored, WorkContext, answer_object
from lorestudio.systems.recap.chat import RecapChat
from lorestudio.systems.recap.queue import NewOperation, OperationType, Priority, QueuedOperation, StoredAnswer
from lorestudio.systems.recap.records import Record, message_text

Mode: TypeAlias = Literal["forward", "backward", "forced"]

_RULE = re.compile(rf"{WS}*(?:-{{3,}}|\*{{3,}}|_{{3,}}|={{3,}}){WS}*")
_HEADING = re.compile(rf"{WS}*(?:scene{WS}*break|chapter{WS}+{NOT_WS}+)\.?{WS}*", re.IGNORECASE)


def matches(message: Record, which: str) -> bool:
    """Whether a message counts: it has text, is no notice of the host's, and the right side speaks."""
    if not trim(message_text(message)) or object_in(message, "extra").get("type") == "system":
        return False
    is_user = truthy(message.get("is_user"))
    return which == "both" or (which == "user") == is_user


def matching(messages: Sequence[Record], first: int, last: int, which: str) -> tuple[int, ...]:
    """Positions of the messages that count in a range, both ends included."""
    return tuple(
        index for index in range(max(first, 0), min(last, len(messages) - 1) + 1) if matches(messages[index], which)
    )


class Detection(Struct, frozen=True):
    """A range to be looked through. `found` messages of it count; `original_start` is where it was asked to begin."""

    start: int
    end: int
    offset: int
    found: int
    required: int
    original_start: int
    extended: bool
    last_break: int

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


class Choices(Struct, frozen=True):
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


ANSWER_KEY: Final = "sceneBreakAt"

NOT_A_NUMBER: Final = "not_a_number"
OUT_OF_RANGE: Final = "out_of_range"
NOT_IN_SET: Final = "not_in_set"
OFFSET_ZONE: Final = "offset_zone"
BELOW_MINIMUM: Final = "below_minimum"

_NOT_WORD = r"[^A-Za-z0-9_-]"
_FORMATTING = re.compile(
    rf"(?<!-)-{{3,}}(?=$|{_NOT_WORD})|\*{{3}}|_{{3}}|={{3}}|={WS}{{3,}}"
    rf"|\bchapter{WS}+[A-Za-z0-9_]+|\bseparators?\b|\bdivider|\bhorizontal rule|\bmarkdown",
    re.IGNORECASE | re.ASCII,
)

HINTS: Final = (
    "objective", "plan", "decision", "decides", "decided", "agree", "agreement", "team up", "team-up", "partner",
    "partnership", "dynamic", "shift in", "pivot", "relationship", "reframe", "blindsided",
)  # fmt: skip
"""Words of a reason that is about aims and not about a change of time, place or people."""

ANCHORS: Final = (
    "next morning", "next day", "hours later", "later that night", "later that evening", "dawn", "sunrise",
    "by morning", "by evening", "arrives", "arrived", "left", "enters", "enter", "entered", "exits", "exit", "exited",
    "departed", "returned", "back to", "went to", "made their way", "reached", "headed to", "walked to", "came to",
    "joined", "alone", "only", "remained", "the others",
)  # fmt: skip
"""Words of a reason that is about such a change."""

_TIME = re.compile(
    r"\b(?:next (?:morning|day|night|evening|week|afternoon)|(?:hours|minutes|days|weeks|months|years) (?:later|passed)"
    r"|later that (?:day|night|evening|morning|afternoon)|the following (?:day|morning|night|evening|week)"
    r"|that (?:evening|night|morning|afternoon)|dawn|sunrise|sunset|midnight|noon|dusk|by (?:morning|evening|nightfall)"
    r"|meanwhile|the morning after)\b",
    re.IGNORECASE,
)
_PLACE = re.compile(
    r"\b(?:arriv(?:e|es|ed|ing) (?:at|in)|enter(?:s|ed|ing)?|exit(?:s|ed|ing)?|depart(?:s|ed|ing)?"
    r"|return(?:s|ed|ing)? to|back (?:to|at) the|(?:went|headed|walked|came|travell?ed|rode|ran) (?:to|into|back|out)"
    r"|made (?:their|his|her|its) way|reach(?:es|ed|ing)? the)\b",
    re.IGNORECASE,
)
_CAST = re.compile(
    r"\b(?:(?:left|leaves|leaving) (?:the|them|him|her|together|alone)|(?:joins|joined|joining) (?:them|him|her|the)"
    r"|alone (?:now|again|at last)|only .{1,40} remained|the others (?:left|had gone|were gone))\b",
    re.IGNORECASE,
)


class BreakAnswer(Struct, frozen=True):
    """A model's answer: a message, or False for no break; NaN where it is no number. `rationale` is its reason."""

    at: float | bool
    rationale: str = ""


def read_answer(text: str) -> BreakAnswer:
    """The answer in a model's text. Raises ValueError where there is none to be found."""
    found = answer_object(text, required=(ANSWER_KEY,))
    value, reason = found.get(ANSWER_KEY), text_in(found.get("rationale"))
    if value is None or value is False or value == "false":
        return BreakAnswer(at=False, rationale=reason)
    return BreakAnswer(to_number(value), reason)


def refusal(answer: Json, *, start: int, end: int, filtered: Sequence[int], least: int, last_eligible: int) -> str:
    """Why an answer cannot be taken, empty where it can; False always can."""
    if answer is False:
        return ""
    if isinstance(answer, bool) or not isinstance(answer, int | float) or math.isnan(answer):
        return NOT_A_NUMBER
    if not start <= answer <= end:
        return OUT_OF_RANGE
    if answer not in filtered:
        return NOT_IN_SET
    if answer > last_eligible:
        return OFFSET_ZONE
    if sum(index < answer for index in filtered) < least:
        return BELOW_MINIMUM
    return ""


def speaks_of_formatting(rationale: str) -> bool:
    """Whether a reason is about how the text looks, which says nothing about the story."""
    return _FORMATTING.search(rationale) is not None


def is_vetoed(texts: Sequence[str], candidate: int, rationale: str) -> bool:
    """Whether a break is refused although the answer fits: the reason hints at mere continuity, and nothing speaks
    against, in it or in the message and the two behind it.

    The words are looked for anywhere, so that “explanation” holds “plan”.
    """
    said = rationale.lower()
    if not any(word in said for word in HINTS) or any(word in said for word in ANCHORS):
        return False
    cues = (pattern.search(text) for text in texts[candidate : candidate + 3] for pattern in (_TIME, _PLACE, _CAST))
    return not any(cues)


_WAITING: Final = "waiting_breaks"
_RESUME: Final = "resume_start"
_RESUME_END: Final = "resume_end"
RESUMED_OFFSET: Final = 2
"""The offset of a search that goes on where the setting is 0."""


class Chain(Struct, frozen=True):
    """Breaks whose scenes still wait for a recap, and the range in which the search then goes on."""

    waiting: tuple[int, ...] = ()
    resume_start: int | None = None
    resume_end: int | None = None

    @property
    def metadata(self) -> dict[str, Json]:
        """The chain as an operation carries it."""
        if not self.waiting and self.resume_start is None:
            return {}
        return {_WAITING: list(self.waiting), _RESUME: self.resume_start, _RESUME_END: self.resume_end}

    def next(self, chat: RecapChat, settings: RecapSettings) -> tuple[NewOperation, ...]:
        """The recap of the next scene, or the search where there is none left."""
        waiting = tuple(index for index in self.waiting if chat.at(index) is not None)
        if waiting and settings.auto_scene_break_generate_recap:
            rest = Chain(waiting[1:], self.resume_start, self.resume_end)
            return (scene_operation(waiting[0], Priority.SCENE_RECAP, rest),)
        if self.resume_start is None or self.resume_end is None:
            return ()
        return resumed(chat, self.resume_start, self.resume_end, settings)


def read_chain(operation: QueuedOperation) -> Chain:
    """The chain that an operation carries."""
    resume, end = (number_in(operation.metadata, name) for name in (_RESUME, _RESUME_END))
    return Chain(tuple(positions(operation.metadata.get(_WAITING))), resume, end)


class ChainedHandler(Handler):
    """An operation of a chain of scenes, which goes on without one that failed."""

    def failed(self, operation: QueuedOperation, error: str, chat: RecapChat, ctx: WorkContext) -> Stored:
        """The next of the chain."""
        return chat, StoredAnswer(read_chain(operation).next(chat, ctx.settings))


def scene_operation(index: int, priority: float, chain: Chain | None = None, *, manual: bool = False) -> NewOperation:
    """The operation for the recap of the scene that ends at a break; `manual` leaves the running recap alone."""
    carried: dict[str, Json] = chain.metadata if chain is not None else {}
    if manual:
        carried = {**carried, "manual": True}
    return NewOperation(OperationType.SCENE_RECAP, {"index": index}, priority, metadata=carried)


def resumed(chat: RecapChat, start: int, end: int, settings: RecapSettings) -> tuple[NewOperation, ...]:
    """The search for the next break in what is left, where that is long enough."""
    offset = settings.auto_scene_break_message_offset or RESUMED_OFFSET
    last = min(end, len(chat.messages) - 1)
    found = matching(chat.messages, start, last - offset, settings.auto_scene_break_check_which_messages)
    if len(found) < settings.auto_scene_break_minimum_scene_length + 1:
        return ()
    return (detect_operation(start, last, offset),)


def detect_operation(
    start: int, end: int, offset: int, *, forced: bool = False, metadata: Mapping[str, Json] | None = None
) -> NewOperation:
    """The operation that looks for a break in a range."""
    params: dict[str, Json] = {"startIndex": start, "endIndex": end, "offset": offset}
    if forced:
        params["forceSelection"] = True
    return NewOperation(OperationType.DETECT, params, Priority.DETECT, metadata=metadata or {})


def number_in(stored: Mapping[str, Json], key: str) -> int | None:
    """A whole number of an object, None where it is none."""
    value = stored.get(key)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def positions(value: Json) -> Sequence[int]:
    """A list of positions."""
    return [item for item in items_in(value) if isinstance(item, int) and not isinstance(item, bool) and item >= 0]
