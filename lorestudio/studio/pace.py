"""How long work will still take: the rate at which it goes, smoothed, and words for it."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Final

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
