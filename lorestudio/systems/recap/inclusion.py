"""Which message recaps fit: a walk from the newest message to the oldest, within a token limit.

Nothing of this goes into a prompt; the flags say what a person sees (spec: recap-memory 9, 10).

The exclusion tree: which messages take part in message recaps (spec: recap-memory 8).

The first test that rejects a message decides; its code says why. All tests are kept, so that a person sees which were
passed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from lorestudio.domain.javascript import Json, length, truthy
from lorestudio.domain.tokens import CHARS_4, CharacterEstimate, TokenCounter
from lorestudio.settings.recap import RecapSettings
from lorestudio.systems.recap.records import (
    INCLUDED,
    Record,
    character_key,
    get_data,
    get_memory,
    mapping,
    message_text,
    namespace,
    set_data,
)

NO_MESSAGE: Final = "no_message"


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What the tests need beside the message. `disabled` are keys of characters switched off in a group chat."""

    settings: RecapSettings = field(default_factory=RecapSettings)
    counter: TokenCounter = CHARS_4
    in_group: bool = False
    disabled: frozenset[str] = frozenset()

    def character_enabled(self, key: str) -> bool:
        """Whether a character's messages count: outside a group every one's do."""
        return not self.in_group or key not in self.disabled


@dataclass(frozen=True, slots=True)
class Test:
    """One test of the tree: what it looked at, what the setting is, and whether the message passed."""

    code: str
    value: Json
    setting: Json
    passed: bool


@dataclass(frozen=True, slots=True)
class Exclusion:
    """The outcome for one message: `reason` is a code of spec: recap-memory 8, empty where the message takes part."""

    reason: str = ""
    tests: tuple[Test, ...] = ()

    @property
    def included(self) -> bool:
        """Whether the message takes part."""
        return not self.reason


_Step = Callable[[Record, Surroundings], Test]


def exclusion(message: Record | None, around: Surroundings) -> Exclusion:
    """Put a message to the tests, in order, up to the first that rejects it."""
    if message is None:
        return Exclusion(NO_MESSAGE, (Test(NO_MESSAGE, None, None, passed=False),))
    tests: list[Test] = []
    for step in _STEPS:
        test = step(message, around)
        tests.append(test)
        if not test.passed:
            return Exclusion(test.code, tuple(tests))
    return Exclusion(tests=tuple(tests))


def _flag(code: str, key: str) -> _Step:
    """A flag of the namespace that rejects."""

    def step(message: Record, around: Surroundings) -> Test:  # noqa: ARG001  # all steps have one shape
        value = get_data(message, key)
        return Test(code, value, None, passed=not truthy(value))

    return step


def _kind(code: str, of: Callable[[Record], bool], allowed: Callable[[RecapSettings], bool]) -> _Step:
    """A kind of message that a setting may leave out."""

    def step(message: Record, around: Surroundings) -> Test:
        value, setting = of(message), allowed(around.settings)
        return Test(code, value, setting, passed=setting or not value)

    return step


def _enabled(message: Record, around: Surroundings) -> Test:
    key = character_key(message)
    return Test("character_disabled", key, None, passed=around.character_enabled(key))


def _length(message: Record, around: Surroundings) -> Test:
    count, least = around.counter.count(message_text(message)), around.settings.message_length_threshold
    return Test("too_short", count, least, passed=count >= least)


_STEPS: Final[tuple[_Step, ...]] = (
    _flag("own_system_message", "is_auto_recap_system_memory"),
    _flag("excluded_by_user", "exclude"),
    _kind("user_message", lambda message: truthy(message.get("is_user")), lambda s: s.include_user_messages),
    _kind("thought", lambda message: truthy(message.get("is_thoughts")), lambda _: False),
    _kind("hidden_message", lambda message: truthy(message.get("is_system")), lambda s: s.include_system_messages),
    _kind(
        "narrator",
        lambda message: mapping(message.get("extra")).get("type") == "narrator",
        lambda s: s.include_narrator_messages,
    ),
    _enabled,
    _length,
)
"""Tests 1 to 8 in their order, which decides the reason that is given."""


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
