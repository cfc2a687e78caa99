"""The exclusion tree: which messages take part in message recaps (spec: recap-memory 8).

The first test that rejects a message decides; its code says why. All tests are kept, so that a person sees which were
passed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from lorestudio.domain.javascript import Json, truthy
from lorestudio.domain.tokens import CHARS_4, TokenCounter
from lorestudio.memory.recap.records import Record, character_key, get_data, mapping, message_text
from lorestudio.settings.recap import RecapSettings

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
