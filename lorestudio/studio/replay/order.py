"""The order of a replay: the generations of a chat as they are run."""

from __future__ import annotations

from lorestudio.domain.chat import Chat, Generation
from lorestudio.domain.lifecycle import Stopped

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
