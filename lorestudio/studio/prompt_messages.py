"""Messages of a prompt out of texts with their origins."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

from lorestudio.domain.tokens import TokenCounter
from lorestudio.engine.macros import Segment
from lorestudio.trace.assembled import AssembledMessage, AssembledPart, Origin, PromptOrigin, Role, Section

CHAT_MARK: Final = PromptOrigin(Origin.FRAME, "start of the chat")
EXAMPLE_MARK: Final = PromptOrigin(Origin.FRAME, "start of an example")
GROUP_MARK: Final = PromptOrigin(Origin.FRAME, "who speaks next")
_MARKS: Final = frozenset({CHAT_MARK, EXAMPLE_MARK, GROUP_MARK})
_BETWEEN: Final = PromptOrigin(Origin.FRAME, "between messages")


def message_of(
    role: Role, segments: Iterable[Segment], section: Section, counter: TokenCounter
) -> AssembledMessage | None:
    """One message of these texts, None where they hold nothing."""
    texts: list[str] = []
    parts: list[AssembledPart] = []
    start = 0
    for text, source in segments:
        if text:
            texts.append(text)
            parts.append(AssembledPart(start, start + len(text), source, counter.count(text)))
            start += len(text)
    whole = "".join(texts)
    if not whole.strip():
        return None
    return AssembledMessage(role, whole, tuple(parts), section, counter.count(whole))


def empty_message(role: Role) -> AssembledMessage:
    """A message of the chat that holds nothing: it is not sent, but counts for depths."""
    return AssembledMessage(role, "", (), Section.HISTORY, 0)


def squashed(messages: Sequence[AssembledMessage], counter: TokenCounter) -> tuple[AssembledMessage, ...]:
    """Neighbouring system messages as one, joined by line ends; named ones and the marks of a beginning stay alone."""
    made: list[AssembledMessage] = []
    for message in messages:
        last = made[-1] if made else None
        if last is None or not _may_join(message) or not _may_join(last):
            made.append(message)
            continue
        segments = [(last.text_of(part), part.source) for part in last.parts]
        segments.append(("\n", _BETWEEN))
        segments += [(message.text_of(part), part.source) for part in message.parts]
        joined = message_of(Role.SYSTEM, segments, last.section, counter)
        if joined is not None:
            made[-1] = replace(joined, depth=last.depth if last.depth == message.depth else None)
    return tuple(made)


def _may_join(message: AssembledMessage) -> bool:
    return message.role is Role.SYSTEM and not message.name and message.parts[0].source not in _MARKS
