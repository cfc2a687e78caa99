"""Which generation of a chat is meant."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, order=True)
class Generation:
    """A reply and one of its swipes. `message` is the reply's index in the chat, the chat's length for the next one."""

    message: int
    swipe: int = 0
