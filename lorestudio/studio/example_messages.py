"""A card's example messages as SillyTavern reads them: blocks begin with `<START>`, turns with a name."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

_START: Final = re.compile(r"<START>", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class ExampleMessage:
    """One turn of an example; `by_user` says which side speaks, `name` who."""

    text: str
    by_user: bool
    name: str = ""


def example_blocks(
    text: str, user: str, character: str, group: Sequence[str] = ()
) -> tuple[tuple[ExampleMessage, ...], ...]:
    """The examples of a card whose macros are filled in. Blocks without any turn are left out.

    Lines before the first name of a block belong to its first turn. Members of a `group` speak for the character's
    side; of several in one turn the last one that is not the character names it, as in SillyTavern.
    """
    text = text.replace("\r", "").strip()
    if not text or _START.fullmatch(text):
        return ()
    blocks = _START.split(text)
    if not _START.match(text):
        blocks = ["", *blocks]
    read = (_turns(block.strip(), user, character, group) for block in blocks[1:])
    return tuple(block for block in read if block)


def _turns(block: str, user: str, character: str, group: Sequence[str]) -> tuple[ExampleMessage, ...]:
    turns: list[ExampleMessage] = []
    lines: list[str] = []
    by_user: bool | None = None
    bot = character
    for line in block.split("\n"):
        speaker: bool | None = None
        found = bot
        if line.startswith(f"{user}:"):
            speaker = True
        elif line.startswith(f"{character}:"):
            speaker = False
        elif (member := next((name for name in group if line.startswith(f"{name}:")), None)) is not None:
            speaker, found = False, member
        if speaker is not None:
            if by_user is not None and speaker != by_user:
                turns.append(_turn(lines, by_user, user if by_user else bot))
                lines = []
            by_user = speaker
        bot = found
        lines.append(line)
    if by_user is not None:
        turns.append(_turn(lines, by_user, user if by_user else bot))
    return tuple(turns)


def _turn(lines: list[str], by_user: bool, name: str) -> ExampleMessage:
    return ExampleMessage("\n".join(lines).replace(f"{name}:", "", 1).strip(), by_user, name)
