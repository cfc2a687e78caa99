"""Where the host puts what it was handed: before and after the main prompt, among the messages, or nowhere.

The order is SillyTavern's (rules: sillytavern 5.7):

* prompts of one place follow each other by tag; of those before the main prompt the last one stands first, because the
  host puts each in front of what is already there;
* in the chat, exactly `depth` messages are newer than a prompt. Within a depth the model reads assistant, user, system.
  A depth beyond the first message is the beginning of the chat;
* the host asks for the depths 0, 1, 2 … up to `DEEPEST`. What has another depth, or a role that it does not know, is
  never placed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final, Generic, Protocol, TypeVar

from msgspec import Struct

from lorestudio.domain.entry import Position, Role

DEEPEST: Final = 1000
"""The host places nothing deeper than that.

DeepLore cuts depths to `domain.entry.MAX_DEPTH` instead, which is ten times as much: what lies between is handed over
and never seen by the model (rules: deeplore 5.8; sillytavern 5.7).
"""

_READ: Final = {Role.ASSISTANT: 0, Role.USER: 1, Role.SYSTEM: 2}
"""Which role the model reads first within a depth."""


class OrderedText(Protocol):
    """What has to be known of a prompt to place it."""

    @property
    def tag(self) -> str:
        """The name under which the host holds it."""

    @property
    def position(self) -> int:
        """One of `Position`."""

    @property
    def depth(self) -> float:
        """How many messages are newer; it counts in the chat only."""

    @property
    def role(self) -> int:
        """One of `Role`."""


P = TypeVar("P", bound=OrderedText)


class AtDepth(Struct, Generic[P], frozen=True):
    """The prompts of one depth and role, by tag."""

    depth: int
    role: Role
    prompts: tuple[P, ...]

    def older(self, messages: int) -> int:
        """How many of that many messages stand before them."""
        return max(0, messages - self.depth)


class PromptOrder(Struct, Generic[P], frozen=True):
    """Prompts in the order in which the model reads them; `nowhere` are those that it never sees.

    An outlet (position -1) is `nowhere`, too: only a macro of the host's own texts may ask for it.
    """

    before: tuple[P, ...]
    after: tuple[P, ...]
    in_chat: tuple[AtDepth[P], ...]
    nowhere: tuple[P, ...]


def prompt_order(prompts: Iterable[P]) -> PromptOrder[P]:
    """The order of prompts that go to the host together."""
    before: list[P] = []
    after: list[P] = []
    nowhere: list[P] = []
    places: dict[tuple[int, Role], list[P]] = {}
    for prompt in sorted(prompts, key=lambda prompt: prompt.tag):
        if prompt.position == Position.BEFORE:
            before.append(prompt)
        elif prompt.position == Position.AFTER:
            after.append(prompt)
        elif prompt.position == Position.IN_CHAT and _is_placed(prompt):
            places.setdefault((int(prompt.depth), Role(prompt.role)), []).append(prompt)
        else:
            nowhere.append(prompt)
    return PromptOrder(tuple(reversed(before)), tuple(after), tuple(_read(places)), tuple(nowhere))


def _is_placed(prompt: OrderedText) -> bool:
    return prompt.role in _READ and 0 <= prompt.depth <= DEEPEST and float(prompt.depth).is_integer()


def _read(places: dict[tuple[int, Role], list[P]]) -> Iterator[AtDepth[P]]:
    for (depth, role), prompts in sorted(places.items(), key=lambda place: (-place[0][0], _READ[place[0][1]])):
        yield AtDepth(depth, role, tuple(prompts))
