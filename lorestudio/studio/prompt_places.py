"""What stands among the messages of a prompt: the lore and notes of the host, and the preset's prompts with a depth.

At a depth the prompts are read by their order, and within one order assistant, user, system. What has depth, order and
role in common is one message: the preset's texts first, then those of the host, which have the order 100 (spec:
deeplore-ai-and-tools 5.7).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from lorestudio.engine.macros import Segment
from lorestudio.studio.prompt_injections import ROLES, Injection, stripped
from lorestudio.trace.assembled import Origin, PromptOrigin, Role
from lorestudio.trace.prompt_order import DEEPEST, PromptOrder

HOST_ORDER: Final = 100
_READ: Final = {Role.ASSISTANT: 0, Role.USER: 1, Role.SYSTEM: 2}


@dataclass(frozen=True, slots=True)
class OwnInChat:
    """A prompt of the preset among the messages, its text filled in."""

    depth: float
    order: float
    role: Role
    segments: Sequence[Segment]

    @property
    def has_place(self) -> bool:
        """Whether SillyTavern asks for its depth at all."""
        return 0 <= self.depth <= DEEPEST and float(self.depth).is_integer()


@dataclass(frozen=True, slots=True)
class InChat:
    """One message among the messages: exactly `depth` are newer."""

    depth: int
    role: Role
    segments: tuple[Segment, ...]


def in_chat(host: PromptOrder[Injection], own: Iterable[OwnInChat]) -> tuple[InChat, ...]:
    """All of them in the order that the model reads."""
    cells: dict[tuple[int, float, Role], list[tuple[str, Sequence[Segment]]]] = {}
    for prompt in own:
        if prompt.has_place:
            key = (int(prompt.depth), prompt.order, prompt.role)
            cells.setdefault(key, []).append(("", prompt.segments))
    for place in host.in_chat:
        cell = cells.setdefault((place.depth, HOST_ORDER, ROLES[place.role]), [])
        cell += [(each.tag, each.segments) for each in place.prompts]
    read = sorted(cells.items(), key=lambda cell: (-cell[0][0], cell[0][1], _READ[cell[0][2]]))
    return tuple(InChat(depth, role, tuple(_joined(texts))) for (depth, _order, role), texts in read)


def _joined(texts: Iterable[tuple[str, Sequence[Segment]]]) -> list[Segment]:
    segments: list[Segment] = []
    for tag, text in texts:
        bare = stripped(text)
        if bare and segments:
            segments.append(("\n", PromptOrigin(Origin.FRAME, "between texts", tag=tag)))
        segments += bare
    return segments
