"""The turns of a chat in brief, each with what it changed and what a prompt cache lost by it.

Traces come in while a replay runs; each is looked at once, and again only where the turn before it was run again. A
cache is judged by the whole prompt in pieces: card, persona, notes, lore, chat.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final
from weakref import ref

from lorestudio.domain.chat import Chat, Generation
from lorestudio.domain.history import ChatHistory, ranges_of, shown_again
from lorestudio.domain.records import Terse
from lorestudio.domain.tokens import TokenCounter
from lorestudio.studio.prompt.assembly import assemble
from lorestudio.studio.prompt.setup import PromptSetup
from lorestudio.trace.diff import InjectionChanges
from lorestudio.trace.model import Trace
from lorestudio.trace.prompt import AssembledMessage, Origin, PromptOrigin
from lorestudio.trace.prompt_cache import CacheTurn, ChatPieces, PromptPiece, PromptPieces, cache_turn, prompt_pieces
from lorestudio.trace.timeline import TurnSummary, summarise, turn_changes

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
) -> Iterator[PromptPiece]:
    """The parts of a message; what stands between entries belongs to the one after it."""
    waiting, last = "", None
    for part in message.parts:
        source, text = part.source, message.text_of(part)
        if source.tag in own and source.entry is None and source.origin is Origin.FRAME:
            waiting, last = waiting + text, source
            continue
        if source.entry is not None and source.tag in own:
            ref = trace.entries.get(source.entry)
            key = ref.note_key if ref is not None else None
            text, waiting = waiting + text, ""
            yield PromptPiece(text, counter.count(text), source.label, key, source.tag, message.depth)
            continue
        if waiting and last is not None:
            yield PromptPiece(waiting, counter.count(waiting), last.tag, None, last.tag, message.depth)
            waiting = ""
        if source.origin is Origin.CHAT:
            yield PromptPiece(text, part.tokens, f"#{source.message}")
        elif source.tag in own:
            yield PromptPiece(text, part.tokens, source.label, None, source.tag, message.depth)
        else:
            yield _host(source, text, part.tokens, message, times)
    if waiting and last is not None:
        yield PromptPiece(waiting, counter.count(waiting), last.tag, None, last.tag, message.depth)


def _host(source: PromptOrigin, text: str, tokens: int, message: AssembledMessage, times: Counter[str]) -> PromptPiece:
    """A text of the host's own, named by what it is and the how manieth of these it is."""
    times[source.label] += 1
    name = f"{source.label} {times[source.label]}"
    return PromptPiece(text, tokens, source.label, None, source.tag or name, message.depth, host=True)


class TimelineTurn(Terse, frozen=True):
    """One generation of a timeline.

    `changes` are those since `before`, the generation that the chat went on from (None in the first reply; then
    everything is new). `cache` compares the prompt with that of `sent_before`, the generation that was made last before
    it, which for a swipe is another swipe of the same reply; None where there is none.
    """

    unprinted = ("summary", "changes")

    generation: Generation
    summary: TurnSummary
    before: Generation | None
    changes: InjectionChanges
    sent_before: Generation | None = None
    cache: CacheTurn | None = None


def generation_before(chat: Chat | None, generation: Generation) -> Generation | None:
    """The generation that the chat went on from: the active swipe of the reply before; None in the first one."""
    chat = chat or Chat()
    earlier = [place for place in chat.replies if place < generation.message]
    return chat.active(earlier[-1]) if earlier else None


class TimelineMaker:
    """Makes the turns of one chat from its traces. `generations` are all of them in the order they are made in.

    With a `setup` the prompts that are compared are the whole ones, as far as the chat is not too long for it (`whole`
    says so); otherwise chat and lore are. For one thread at a time; it keeps of each trace the summary only, and the
    prompt of the last one.
    """

    def __init__(
        self,
        chat: Chat | None,
        generations: Sequence[Generation],
        counter: TokenCounter,
        setup: PromptSetup | None = None,
    ) -> None:
        self._chat, self._counter = chat, counter
        self._setup = setup if is_countable(chat) else None
        self.generations = tuple(generations)
        self._sent_before = dict(zip(self.generations[1:], self.generations, strict=False))
        replies = list(dict.fromkeys(generation.message for generation in self.generations))
        before = dict(zip(replies[1:], replies, strict=False))
        self._before = {
            each: (chat or Chat()).active(before[each.message]) if each.message in before else None
            for each in self.generations
        }
        self._pieces: dict[frozenset[int], ChatPieces] = {}
        self._hidden = ChatHistory(chat or Chat()).hidden
        self._prompt: tuple[Trace, PromptPieces] | None = None
        self._summaries: dict[Generation, tuple[ref[Trace], TurnSummary]] = {}

    @property
    def whole(self) -> bool:
        """Whether whole prompts are compared."""
        return self._setup is not None

    def affected(self, changed: Iterable[Generation]) -> tuple[Generation, ...]:
        """The generations whose turns are others where these have a new trace, in order."""
        known = set(changed)
        return tuple(
            generation
            for generation in self.generations
            if generation in known or self._before[generation] in known or self._sent_before.get(generation) in known
        )

    def turns(
        self, traces: Mapping[Generation, Trace], wanted: Sequence[Generation], *, cache: bool = True
    ) -> Iterator[TimelineTurn]:
        """The turns of these generations, in the order given; those without a trace are passed over.

        Without `cache` no prompts are compared, which takes most of the time.
        """
        for generation in wanted:
            trace = traces.get(generation)
            if trace is not None and generation in self._before:
                yield self._turn(generation, trace, traces, cache=cache)

    def _turn(
        self, generation: Generation, trace: Trace, traces: Mapping[Generation, Trace], *, cache: bool
    ) -> TimelineTurn:
        summary = self._summary(generation, trace)
        before, sent = self._before[generation], self._sent_before.get(generation)
        earlier = traces.get(before) if before is not None else None
        former = self._summary(before, earlier) if before is not None and earlier is not None else None
        last = traces.get(sent) if sent is not None and cache else None
        kept = None
        if last is not None:
            kept = cache_turn(self._prompt_of(last), self._prompt_of(trace), self._counter)
        return TimelineTurn(generation, summary, before, turn_changes(former, summary), sent, kept)

    def _summary(self, generation: Generation, trace: Trace) -> TurnSummary:
        known = self._summaries.get(generation)
        if known is None or known[0]() is not trace:
            known = self._summaries[generation] = (ref(trace), summarise(trace))
        return known[1]

    def _prompt_of(self, trace: Trace) -> PromptPieces:
        known = self._prompt
        if known is not None and known[0] is trace:
            return known[1]
        if self._setup is not None and self._chat is not None:
            made = sent_pieces(trace, self._chat, self._setup, self._counter)
        else:
            made = prompt_pieces(trace, self._pieces_for(trace))
        self._prompt = (trace, made)
        return made

    def _pieces_for(self, trace: Trace) -> ChatPieces:
        """The messages as the run saw them; the same pieces for all runs that took the same ones for hidden."""
        chat = self._chat or Chat()
        shown = {place for first, last in trace.seen.shown for place in range(first, last + 1)}
        hidden = frozenset(place for place in self._hidden if place < trace.turn.message and place not in shown)
        if hidden not in self._pieces:
            visible = ranges_of(place for place in self._hidden if place not in hidden)
            self._pieces[hidden] = ChatPieces(shown_again(chat, visible).messages, self._counter)
        return self._pieces[hidden]
