"""The generations of a chat in the order of a replay, a part of a chat to replay, and how long that will still take.

A part is the replies from one message to another, with their swipes. A generation begins with the state that the ones
before it left, so these belong to the work too: what of them was run already is taken as it is, the rest is run first.
The time left goes by the rate of the work, smoothed.
"""

from __future__ import annotations

import math
import re
import time
from bisect import bisect_left
from collections.abc import Callable, Sequence
from typing import Final

from msgspec import Struct

from lorestudio.domain.chat import Chat, Generation
from lorestudio.domain.lifecycle import Stopped
from lorestudio.domain.texts import whole_number
from lorestudio.exchange.problems import InputError

MEMORY_SECONDS: Final = 4.0
"""What happened so long ago counts for a third of what happens now."""

FIRST_SECONDS: Final = 1.0
"""Nothing is said before so much was measured; a short job ends without a guess."""


class Pace:
    """Measures steps. `clock` gives seconds."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._begun = self._last = clock()
        self._done = 0
        self._seconds_a_step = 0.0

    def note(self, done: int) -> None:
        """`done` steps are done by now."""
        now = self._clock()
        passed, steps = now - self._last, done - self._done
        if steps <= 0 or passed <= 0:
            return
        measured = passed / steps
        if self._done == 0:
            self._seconds_a_step = measured
        else:
            weight = 1 - math.exp(-passed / MEMORY_SECONDS)
            self._seconds_a_step += weight * (measured - self._seconds_a_step)
        self._last, self._done = now, done

    def left(self, remaining: int) -> float | None:
        """Seconds that `remaining` steps will take, None where nobody can tell yet."""
        if not self._done or self._clock() - self._begun < FIRST_SECONDS:
            return None
        running = self._clock() - self._last  # of the step under way
        return max(0.0, remaining * self._seconds_a_step - min(running, self._seconds_a_step))


def time_left_words(seconds: float | None) -> str:
    """`about 40 s left`: rounded so that it does not flicker; "" where nothing is known."""
    if seconds is None:
        return ""
    if seconds < 3:
        return "a few seconds left"
    if seconds < 60:
        step = 1 if seconds < 10 else 5
        return f"about {step * math.ceil(seconds / step)} s left"
    minutes = math.ceil(seconds / 60)
    if minutes < 60:
        return f"about {minutes} min left"
    hours, rest = divmod(5 * math.ceil(minutes / 5), 60)
    return f"about {hours} h {rest} min left" if rest else f"about {hours} h left"


_SYNTAX = re.compile(r"\s*+#?(\d*+)\s*+(?:(-|–)\s*+#?(\d*+))?\s*+")


class MessageRange(Struct, frozen=True):
    """The messages from `first` to `last`, both included; None is the chat's own beginning or end."""

    first: int | None = None
    last: int | None = None

    def __post_init__(self) -> None:
        if self.first is not None and self.last is not None and self.first > self.last:
            message = f"The range ends (#{self.last}) before it begins (#{self.first})."
            raise ValueError(message)

    @classmethod
    def parse(cls, text: str, source: str = "the range") -> MessageRange:
        """`12-40`, `12-` (to the end), `-40` (from the beginning) or `12`. Raises InputError."""
        found = _SYNTAX.fullmatch(text)
        if found is None or not (found[1] or found[3]):
            raise InputError(source, f"“{text}” is no range of messages. Write 12-40, 12- (to the end), -40 or 12.")
        first = whole_number(found[1]) if found[1] else None
        last = first if found[2] is None else whole_number(found[3]) if found[3] else None
        try:
            return cls(first, last)
        except ValueError as error:
            raise InputError(source, str(error)) from error

    def ends(self, count: int) -> tuple[int, int]:
        """The first and the last message in a chat of so many, which may have none of that number."""
        return self.first or 0, count - 1 if self.last is None else self.last

    def part(self, generations: Sequence[Generation]) -> range:
        """Its places among all generations of a chat; those before make the state for it.

        Raises ValueError where it holds none.
        """
        messages = [generation.message for generation in generations]
        start = 0 if self.first is None else bisect_left(messages, self.first)
        stop = len(messages) if self.last is None else bisect_left(messages, self.last + 1)
        if start >= stop:
            message = f"No reply stands {self.words}. The replies are messages {_listed(messages)}."
            raise ValueError(message)
        return range(start, stop)

    @property
    def words(self) -> str:
        """`from message 12 to 40`."""
        if self.first is None and self.last is None:
            return "in the chat"
        if self.first is None:
            return f"up to message {self.last}"
        if self.last is None:
            return f"from message {self.first} on"
        return f"at message {self.first}" if self.first == self.last else f"from message {self.first} to {self.last}"


def _listed(messages: Sequence[int]) -> str:
    different = sorted(set(messages))
    shown = [f"#{message}" for message in different]
    return ", ".join(shown if len(shown) <= 6 else [*shown[:3], "…", shown[-1]])


_CLOCK_START_MS = 1_700_000_000_000
_CLOCK_STEP_MS = 60_000


class Superseded(Stopped):  # something newer took its place
    """The run was given up while it was under way; nothing of it was stored."""


def generations(chat: Chat | None) -> tuple[Generation, ...]:
    """Every reply with its swipes in the order they were made, then the reply to come.

    The swipe that is active in the file comes last of its reply, because the chat went on from it.
    """
    if chat is None:
        return (Generation(0),)
    found: list[Generation] = []
    for place in chat.replies:
        message = chat.messages[place]
        others = [swipe for swipe in range(len(message.swipes)) if swipe != message.swipe]
        found += [Generation(place, swipe) for swipe in (*others, message.swipe)]
    return (*found, Generation(len(chat.messages)))


def clock_ms(place: int) -> int:
    """A replay's clock: a minute a generation, from a fixed instant, so that it can be repeated exactly."""
    return _CLOCK_START_MS + place * _CLOCK_STEP_MS
