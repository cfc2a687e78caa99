"""What an answer about a scene break has to stand: it is read, held against the range, and against its own reasons.

Source: spec: recap-memory 12.4, with the words that the errata add.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from lorestudio.domain.javascript import WS, Json, to_number
from lorestudio.memory.recap.answer_json import answer_object

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


@dataclass(frozen=True, slots=True)
class BreakAnswer:
    """A model's answer: a message, or False for no break; NaN where it is no number. `rationale` is its reason."""

    at: float | bool
    rationale: str = ""


def read_answer(text: str) -> BreakAnswer:
    """The answer in a model's text. Raises ValueError where there is none to be found."""
    found = answer_object(text, required=(ANSWER_KEY,))
    value, rationale = found.get(ANSWER_KEY), found.get("rationale")
    reason = rationale if isinstance(rationale, str) else ""
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


@dataclass(frozen=True, slots=True)
class Veto:
    """Why a break was refused although the answer fits: hints of mere continuity, and nothing that speaks against.

    `cues` says of the message and the two behind it whether time, place or people change there.
    """

    hints: tuple[str, ...]
    anchors: tuple[str, ...]
    cues: tuple[bool, ...]

    @property
    def refused(self) -> bool:
        """Whether the break is refused."""
        return bool(self.hints) and not self.anchors and not any(self.cues)


def continuity_veto(texts: Sequence[str], candidate: int, rationale: str) -> Veto:
    """Whether the scene rather goes on. The words are looked for anywhere, so that “explanation” holds “plan”."""
    said = rationale.lower()
    return Veto(
        tuple(word for word in HINTS if word in said),
        tuple(word for word in ANCHORS if word in said),
        tuple(has_cue(text) for text in texts[candidate : candidate + 3]),
    )


def has_cue(text: str) -> bool:
    """Whether a message itself tells of another time, another place or other people."""
    return any(pattern.search(text) for pattern in (_TIME, _PLACE, _CAST))
