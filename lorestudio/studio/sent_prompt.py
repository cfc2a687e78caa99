"""The whole prompt of a turn as pieces that a prompt cache can be judged by: card, persona, notes, lore, chat."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Final

from lorestudio.domain.chat import Chat
from lorestudio.domain.tokens import TokenCounter
from lorestudio.studio.prompt_assembly import assemble
from lorestudio.studio.prompt_setup import PromptSetup
from lorestudio.trace.assembled import AssembledMessage, Origin, PromptOrigin
from lorestudio.trace.model import Trace
from lorestudio.trace.prompt_cache import Piece, PromptPieces

MOST_MESSAGES: Final = 1000
"""In a longer chat putting every turn's prompt together would take minutes; there chat and lore are counted."""


def is_countable(chat: Chat | None) -> bool:
    """Whether the prompts of a chat are put together whole, to be compared."""
    return chat is not None and len(chat.messages) <= MOST_MESSAGES


def sent_pieces(trace: Trace, chat: Chat, setup: PromptSetup, counter: TokenCounter) -> PromptPieces:
    """The prompt that the run of `trace` leads to, in the order in which the model gets it."""
    own = {block.tag for block in (*trace.prompt, *trace.notes)}
    times: Counter[str] = Counter()
    return tuple(
        piece
        for message in assemble(trace, chat, setup, counter).messages
        for piece in _pieces(message, trace, own, counter, times)
    )


def _pieces(
    message: AssembledMessage, trace: Trace, own: set[str], counter: TokenCounter, times: Counter[str]
) -> Iterator[Piece]:
    """The parts of a message; what stands between entries belongs to the one after it."""
    waiting, last = "", None
    for part in message.parts:
        source, text = part.source, message.text_of(part)
        if source.tag in own and source.entry is None and source.origin is Origin.FRAME:
            waiting, last = waiting + text, source
            continue
        if source.entry is not None and source.tag in own:
            ref = trace.entries.get(source.entry)
            key = (ref.vault, ref.filename) if ref is not None else None
            text, waiting = waiting + text, ""
            yield Piece(text, counter.count(text), source.label, key, source.tag, message.depth)
            continue
        if waiting and last is not None:
            yield Piece(waiting, counter.count(waiting), last.tag, None, last.tag, message.depth)
            waiting = ""
        if source.origin is Origin.CHAT:
            yield Piece(text, part.tokens, f"#{source.message}")
        elif source.tag in own:
            yield Piece(text, part.tokens, source.label, None, source.tag, message.depth)
        else:
            yield _host(source, text, part.tokens, message, times)
    if waiting and last is not None:
        yield Piece(waiting, counter.count(waiting), last.tag, None, last.tag, message.depth)


def _host(source: PromptOrigin, text: str, tokens: int, message: AssembledMessage, times: Counter[str]) -> Piece:
    """A text of the host's own, named by what it is and the how manieth of these it is."""
    times[source.label] += 1
    name = f"{source.label} {times[source.label]}"
    return Piece(text, tokens, source.label, None, source.tag or name, message.depth, host=True)
