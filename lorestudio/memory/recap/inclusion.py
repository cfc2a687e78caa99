"""Which message recaps fit: a walk from the newest message to the oldest, within a token limit.

Nothing of this goes into a prompt; the flags say what a person sees (spec: recap-memory 9, 10).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from lorestudio.domain.javascript import Json, length, truthy
from lorestudio.domain.tokens import CharacterEstimate, TokenCounter
from lorestudio.memory.recap.exclusion import Exclusion, Surroundings, exclusion
from lorestudio.memory.recap.records import INCLUDED, Record, get_data, get_memory, namespace, set_data

SEPARATOR: Final = "\n"
"""Between recaps; none before the first."""

PERCENT: Final = "percent"


class Decision(StrEnum):
    """What the walk did with one message."""

    INCLUDED = "included"
    EXCLUDED = "excluded"
    NO_MEMORY = "no_memory"
    OVER_LIMIT = "over_limit"
    AFTER_LIMIT = "after_limit"


@dataclass(frozen=True, slots=True)
class Step:
    """One message of the walk.

    `before` and `after` count the collected text without and with this recap, None unless it was tried.
    """

    index: int
    decision: Decision
    exclusion: Exclusion
    before: int | None = None
    after: int | None = None


@dataclass(frozen=True, slots=True)
class Inclusion:
    """A whole walk: steps newest first, and the message that closed it. A limit of None never closes it."""

    limit: float | None
    steps: tuple[Step, ...] = ()
    closed_at: int | None = None

    @property
    def included(self) -> tuple[int, ...]:
        """Positions of the recaps that fit, oldest first."""
        return tuple(step.index for step in reversed(self.steps) if step.decision is Decision.INCLUDED)

    @property
    def tokens(self) -> int:
        """Tokens of what was collected."""
        counts = [step.after for step in self.steps if step.decision is Decision.INCLUDED and step.after is not None]
        return counts[-1] if counts else 0

    def flag(self, index: int) -> str | None:
        """What the message's `include` becomes."""
        return INCLUDED if index in self.included else None


def token_limit(context_size: float, limit: float | None, kind: str) -> float | None:
    """The limit in tokens: a share of the context, rounded down, or the number itself. None where there is none."""
    if limit is None:
        return None
    return math.floor(context_size * limit / 100) if kind == PERCENT else limit


class _Collected:
    """The recaps collected so far as one text. An estimate by length needs no more than the length, which adds up."""

    def __init__(self, counter: TokenCounter) -> None:
        self._counter = counter
        self._by_length = counter if isinstance(counter, CharacterEstimate) else None
        self._text = ""
        self._units = 0

    def tokens_with(self, recap: str) -> int:
        """Tokens of the whole with this recap at its end."""
        if self._by_length is not None:
            return math.ceil(self._units_with(recap) / self._by_length.units_per_token)
        return self._counter.count(self._text_with(recap))

    def add(self, recap: str) -> None:
        """Take it in."""
        if self._by_length is not None:
            self._units = self._units_with(recap)
        else:
            self._text = self._text_with(recap)

    def _units_with(self, recap: str) -> int:
        return self._units + (len(SEPARATOR) if self._units else 0) + length(recap)

    def _text_with(self, recap: str) -> str:
        return f"{self._text}{SEPARATOR}{recap}" if self._text else recap


def walk(messages: Sequence[Record], around: Surroundings, limit: float | None) -> Inclusion:
    """Collect recaps newest first until one does not fit; that one closes the walk.

    The collected text is counted as a whole with every recap, since parts count differently from their sum.
    """
    collected, used, closed_at = _Collected(around.counter), 0, None
    steps: list[Step] = []
    for index in range(len(messages) - 1, -1, -1):
        message = messages[index]
        tested = exclusion(message, around)
        if not tested.included:
            steps.append(Step(index, Decision.EXCLUDED, tested))
        elif closed_at is not None:
            steps.append(Step(index, Decision.AFTER_LIMIT, tested))
        elif not (memory := get_memory(message, show_prefill=around.settings.show_prefill)):
            steps.append(Step(index, Decision.NO_MEMORY, tested))
        else:
            tokens = collected.tokens_with(memory)
            if limit is not None and tokens > limit:
                closed_at = index
                steps.append(Step(index, Decision.OVER_LIMIT, tested, used, tokens))
            else:
                steps.append(Step(index, Decision.INCLUDED, tested, used, tokens))
                collected.add(memory)
                used = tokens
    return Inclusion(limit, tuple(steps), closed_at)


def with_flags(messages: Sequence[Record], found: Inclusion) -> tuple[Record, ...]:
    """The messages with the walk's outcome; all of them get the flag, so all of them have a namespace."""
    included = frozenset(found.included)
    return tuple(
        set_data(message, "include", INCLUDED if index in included else None) for index, message in enumerate(messages)
    )


def flagged(messages: Sequence[Record], flag: str | None) -> tuple[int, ...]:
    """Positions of messages with a recap whose flag is this one, oldest first; an absent flag is no null."""
    return tuple(
        index
        for index, message in enumerate(messages)
        if truthy(get_data(message, "memory"))
        and "include" in namespace(message)
        and get_data(message, "include") == flag
    )


def numbered_recaps(messages: Sequence[Record], indexes: Iterable[int]) -> list[Json]:
    """The recaps of some messages as `{id, recap, type}`, numbered from 1; scenes stand for their whole scene."""
    found: list[Json] = []
    for index in indexes:
        data = namespace(messages[index])
        scene = data.get("scene_recap_memory")
        recap, kind = (scene, "Scene-wide Recap") if truthy(scene) else (data.get("memory"), data.get("include"))
        if truthy(recap):
            found.append({"id": len(found) + 1, "recap": recap, "type": kind})
    return found


def candidates(messages: Sequence[Record], around: Surroundings) -> tuple[int, ...]:
    """Messages that are due a recap, oldest first; none where they are fewer than a batch (spec: recap-memory 7.2)."""
    settings = around.settings
    lag, limit = settings.recap_delay, settings.auto_recap_message_limit
    depth = 0
    found: list[int] = []
    for index in range(len(messages) - 1, -1, -1):
        message = messages[index]
        if not exclusion(message, around).included:
            continue
        depth += 1
        if depth <= lag:
            continue
        if limit > 0 and depth > limit + lag:
            break
        if not truthy(get_data(message, "memory")):
            found.append(index)
    found.reverse()
    return tuple(found) if len(found) >= settings.auto_recap_batch_size else ()
