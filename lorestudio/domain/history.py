"""Which messages of a chat counted as hidden when each of its replies was written.

A chat file says of a message only whether it is hidden today. Most hidden messages were in sight when later replies
were written: they were hidden afterwards, by hand, by a summary or scene by scene. What counts is decided here, from
what a person said of it where anybody did, else by assumption (rules: sillytavern 5.9).
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from enum import StrEnum
from functools import cached_property
from typing import Final, TypeAlias

from msgspec import Struct

from lorestudio.domain.chat import Chat, Generation
from lorestudio.domain.records import replace
from lorestudio.domain.texts import joined_spans

Range: TypeAlias = tuple[int, int]
"""The first and the last of consecutive messages, both included."""


class HistoryRule(StrEnum):
    """What counts for a reply of the past."""

    THEN = "then"
    """A message that is hidden today was in sight until it was hidden."""
    NOW = "now"
    """What is hidden today was always hidden."""


class HiddenSince(Struct, frozen=True, order=True):
    """A person's word on the messages `first` to `last`: replies from message number `since` on did not see them."""

    first: int
    last: int
    since: int


_ASIDE: Final = re.compile(r"\s*(?:\(\(|\[+\s*ooc\b|\(\s*ooc\b|ooc\s*:)", re.IGNORECASE)
"""How people mark what they say outside of the story; such a message is hidden at once, if at all."""


def ranges_of(numbers: Iterable[int]) -> tuple[Range, ...]:
    """Numbers in any order as the fewest ranges, ascending.

    >>> ranges_of([1, 2, 3, 7])
    ((1, 3), (7, 7))
    """
    return tuple(joined_spans(((number, number) for number in numbers), 1))


def ranges_words(ranges: Sequence[Range]) -> str:
    """Ranges for a sentence.

    >>> ranges_words([(1, 3), (7, 7)])
    '#1 to #3, #7'
    """
    return ", ".join(f"#{first}" if first == last else f"#{first} to #{last}" for first, last in ranges)


def _until(ranges: tuple[Range, ...], end: int) -> tuple[Range, ...]:
    """What of these ranges lies before a message."""
    begun = bisect_left(ranges, (end, -1))
    if not begun:
        return ()
    first, last = ranges[begun - 1]
    return (*ranges[: begun - 1], (first, min(last, end - 1)))


class Sight(Struct, frozen=True):
    """What one generation takes for hidden and for shown, by index in the chat.

    `shown` are messages that are hidden today and counted as visible. `assumed` are those of all today's hidden ones
    before it about which nobody said since when they are, so that it is only assumed what counted.
    """

    hidden: frozenset[int] = frozenset()
    shown: tuple[Range, ...] = ()
    assumed: tuple[Range, ...] = ()


UNHIDDEN: Final = Sight()
"""Of a chat in which nothing is hidden."""


class ChatHistory(Struct, frozen=True, dict=True):
    """Answers for each generation of a chat which messages it saw. `said` is what a person said, the last word last."""

    chat: Chat
    rule: HistoryRule = HistoryRule.THEN
    said: tuple[HiddenSince, ...] = ()

    @cached_property
    def hidden(self) -> tuple[int, ...]:
        """The messages that are hidden today and were said in the story once, so that somebody has hidden them."""
        return tuple(place for place, message in enumerate(self.chat.messages) if message.was_hidden)

    def since(self, place: int) -> int | None:
        """Since which message number this one is hidden, as a person said; None where nobody did."""
        return next((each.since for each in reversed(self.said) if each.first <= place <= each.last), None)

    def assumed_since(self, place: int) -> int:
        """The same by assumption: what was said aside is hidden since it was said, the rest since the last reply."""
        aside = _ASIDE.match(self.chat.messages[place].text) is not None
        return place if aside else len(self.chat.messages)

    @cached_property
    def when(self) -> tuple[tuple[int, int, bool], ...]:
        """Of each hidden message: its index, since when it is hidden, and whether that is only assumed."""
        found = []
        for place in self.hidden:
            since = self.since(place)
            found.append((place, self.assumed_since(place) if since is None else since, since is None))
        return tuple(found)

    @cached_property
    def breaks(self) -> tuple[int, ...]:
        """The message numbers from which on replies see less than those before did."""
        return tuple(sorted({since for place, since, _assumed in self.when if since > place}))

    @cached_property
    def _shown(self) -> tuple[tuple[Range, ...], ...]:
        """What counts as visible before the first break, after each of them, and after the last."""
        return tuple(
            ranges_of(place for place, since, _assumed in self.when if since > max(place, passed))
            for passed in (-1, *self.breaks)
        )

    @cached_property
    def _assumed(self) -> tuple[Range, ...]:
        return ranges_of(place for place, _since, assumed in self.when if assumed)

    def sight(self, generation: Generation) -> Sight:
        """What counts for a generation."""
        message = generation.message
        before = frozenset(self.hidden[: bisect_left(self.hidden, message)])
        if self.by_today(generation):
            return Sight(before)
        shown = _until(self._shown[bisect_right(self.breaks, message)], message)
        hidden = before.difference(*(range(first, last + 1) for first, last in shown))
        return Sight(hidden, shown, _until(self._assumed, message))

    def by_today(self, generation: Generation) -> bool:
        """Whether today's state counts: by the rule, for the reply to come, and for a swipe that is not written yet."""
        messages = self.chat.messages
        if self.rule is HistoryRule.NOW or generation.message >= len(messages):
            return True
        swipes = messages[generation.message].swipes
        return 0 <= generation.swipe < len(swipes) and not swipes[generation.swipe].strip()


def shown_again(chat: Chat, shown: Sequence[Range]) -> Chat:
    """The chat with these messages visible, as a generation saw it (see `Sight`)."""
    if not shown:
        return chat
    messages = list(chat.messages)
    for first, last in shown:
        for place in range(first, min(last + 1, len(messages))):
            messages[place] = replace(messages[place], is_system=False)
    return replace(chat, messages=tuple(messages))
