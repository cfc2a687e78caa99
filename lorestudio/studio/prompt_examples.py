"""Example messages, a card's or World Info's, as messages of a prompt."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from lorestudio.domain.tokens import TokenCounter
from lorestudio.engine.macros import Macros, Segment
from lorestudio.studio.example_messages import example_blocks
from lorestudio.studio.prompt_messages import message_of
from lorestudio.trace.assembled import AssembledMessage, Role, Section


def example_messages(
    texts: Iterable[Segment], macros: Macros, counter: TokenCounter, group: Sequence[str] = ()
) -> Iterator[list[AssembledMessage]]:
    """The examples block by block; blocks in which nobody speaks are left out.

    In a group its members speak too, and texts begin with the names of those who do.
    """
    user, character = macros.values["user"], macros.values["char"]
    for raw, source in texts:
        for block in example_blocks(macros.fill(raw), user, character, group):
            turns: list[AssembledMessage] = []
            for turn in block:
                name = "example_user" if turn.by_user else "example_assistant"
                text = f"{turn.name}: {turn.text}" if group else turn.text
                message = message_of(Role.SYSTEM, macros.spread(text, source), Section.EXAMPLES, counter)
                if message is not None:
                    turns.append(replace(message, name=name))
            if turns:
                yield turns
