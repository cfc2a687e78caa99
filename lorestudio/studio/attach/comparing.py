"""Captured requests beside a chat: which reply each made, and its prompt beside the studio's own run of that turn.

A reply is found by times, the answer and the chat's tail. Nothing is certain: each match carries what speaks for it
(rules: live-capture 4). The AI's captured answers serve for running a turn again.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from enum import StrEnum
from itertools import islice
from operator import attrgetter
from pathlib import Path
from typing import Final, Self

from msgspec import Struct

from lorestudio.domain.chat import Chat, Generation, Message
from lorestudio.domain.entry import Position
from lorestudio.domain.javascript import Json
from lorestudio.domain.records import Terse, grouped, replace
from lorestudio.llm.errors import ErrorKind, LlmError
from lorestudio.llm.messages import AnswerSource, ChatReply, ChatRequest, without_figures
from lorestudio.llm.recorded_answers import RecordedAnswers, answers_path
from lorestudio.studio.attach.captures import Capture
from lorestudio.studio.attach.exchange import SentPrompt
from lorestudio.studio.attach.finding import FoundLore, SearchedEntry, find_lore, searched, unknown_lines
from lorestudio.studio.project.project import Project
from lorestudio.studio.prompt.assembly import assemble
from lorestudio.studio.replay.rerun import Rerun
from lorestudio.studio.replay.simulator import Simulator, decided_trace
from lorestudio.systems.base import SystemKind
from lorestudio.trace.journey import FOREIGN_IDS
from lorestudio.trace.model import Injection, Trace
from lorestudio.trace.wording import plural

_SLACK_MS: Final = 2_000
"""A request may be seen so much before or after the times that the browser's clock kept."""

_TAIL: Final = 4
"""So many visible messages before a reply are looked for in its prompt."""

_TELLING: Final = 20
"""An answer of fewer characters may be another's by chance."""

_NOTES: Final = "<dle-notes>"


class RequestKind(StrEnum):
    """What a request was for."""

    REPLY = "a reply"
    SELECTION = "a question which entries matter"
    TOOL = "a tool's question"
    QUIET = "a background prompt over the chat"
    OTHER = "a prompt without this chat"
    UNREADABLE = "no prompt"
    FAILED = "a request that failed"
    REDACTED = "a redacted prompt"


class MatchedCapture(Struct, frozen=True):
    """A capture and the reply that it made; None where no reply of the chat is its.

    `evidence` says in words what speaks for the match. `replaced`: the reply has a later request that fits better.
    `begun` is what stood of the reply when it was asked to go on.
    """

    capture: Capture
    kind: RequestKind
    generation: Generation | None = None
    evidence: tuple[str, ...] = ()
    replaced: bool = False
    begun: str = ""


class _Written(Struct, frozen=True):
    """One answer of a chat: its text, and when it was being written, in milliseconds since 1970."""

    generation: Generation
    text: str
    started_ms: float
    finished_ms: float


_Way = tuple[RequestKind | None, str]
"""How a reply is asked for: in what kind of prompt, and with which words behind the chat."""

_Ranked = tuple[tuple[int, bool, float], _Written | None, tuple[str, ...]]
_NO_REPLY: Final[_Ranked] = ((0, False, 0.0), None, ())


class _Asked(Struct, frozen=True):
    """A prompt in one text, with what it is by itself; read once, since there may be a thousand replies."""

    kind: RequestKind | None
    whole: str

    @classmethod
    def read(cls, capture: Capture) -> Self:
        prompt = capture.prompt
        return cls(_own_kind(prompt, auxiliary=False), _whole(prompt))

    def way(self, place: int, chat: Chat) -> _Way | None:
        """How a reply there is asked for; None where the prompt does not end with the messages before it."""
        ending = _ending(self.whole, place, chat)
        return None if ending is None else (self.kind, ending)


def matched(captures: Iterable[Capture], chat: Chat) -> tuple[MatchedCapture, ...]:
    """Every capture, oldest first, with the reply of `chat` that it most probably made.

    Captures must have been read whole.
    """
    written = tuple(_written(chat))
    ordered = sorted(captures, key=lambda one: one.started_ms)
    found = [made for each in ordered for made in _matches(each, written, chat)]
    best: dict[Generation, MatchedCapture] = {}
    for each in found:
        if each.generation is not None:
            before = best.get(each.generation)
            if before is None or len(each.evidence) >= len(before.evidence):  # of equals the later one
                best[each.generation] = each
    ways = {made: _Asked.read(each.capture).way(made.message, chat) for made, each in best.items()}
    return tuple(
        _asked_again(each, ways, chat)
        if each.generation is None
        else _or_replaced(each, best[each.generation], ways[each.generation], chat)
        for each in found
    )


def _or_replaced(found: MatchedCapture, best: MatchedCapture, way: _Way | None, chat: Chat) -> MatchedCapture:
    """A request for a reply that another may have made; a background prompt where it only came about then."""
    if found is best or best.generation is None:
        return found
    other = way is not None and _Asked.read(found.capture).way(best.generation.message, chat) != way
    if other and _EVIDENCE["text"] not in found.evidence:
        return MatchedCapture(found.capture, RequestKind.QUIET)
    return replace(found, replaced=True)


def _asked_again(found: MatchedCapture, ways: Mapping[Generation, _Way | None], chat: Chat) -> MatchedCapture:
    """A request whose answer is nowhere in the chat: a reply was made anew where one was asked for in the same way."""
    if not found.capture.auxiliary and found.kind in {RequestKind.QUIET, RequestKind.OTHER, RequestKind.TOOL}:
        asked = _Asked.read(found.capture)
        for made, way in ways.items():
            if way is not None and way == asked.way(made.message, chat):
                evidence = _told(("place", "ending"))
                return MatchedCapture(found.capture, RequestKind.REPLY, made, evidence, replaced=True)
    return found


def _matches(capture: Capture, written: Sequence[_Written], chat: Chat) -> tuple[MatchedCapture, ...]:
    """The capture with the reply that it made; where it was asked for several answers at once, with each one's."""
    replies = () if capture.redacted or capture.status >= 400 else capture.replies
    found = {
        made.generation: made
        for each in (replies if len(replies) > 1 else ())
        if (made := _match(capture, (each,), written, chat)).generation is not None
        and _EVIDENCE["text"] in made.evidence
    }
    return tuple(found.values()) or (_match(capture, replies, written, chat),)


def _match(capture: Capture, replies: Sequence[str], written: Sequence[_Written], chat: Chat) -> MatchedCapture:
    if capture.redacted:
        return MatchedCapture(capture, RequestKind.REDACTED)
    if capture.status >= 400:
        return MatchedCapture(capture, RequestKind.FAILED)
    try:
        prompt = capture.prompt
    except ValueError:
        return MatchedCapture(capture, RequestKind.UNREADABLE)
    own = _own_kind(prompt, auxiliary=capture.auxiliary)
    if own and (capture.auxiliary or prompt.schema):
        return MatchedCapture(capture, own)
    whole = _whole(prompt)
    _rank, reply, evidence = max(
        _ranked(capture, replies, whole, written, chat), key=lambda one: one[0], default=_NO_REPLY
    )
    # A front end may send the whole conversation as one message: then the answer tells it from a tool's question.
    if own and not ("text" in evidence and len(evidence) > 1):
        return MatchedCapture(capture, own)
    if reply is None or evidence == ("place",):
        here = any(_holds(whole, (each.text,)) for each in chat.messages if each.scannable)
        return MatchedCapture(capture, RequestKind.QUIET if here else RequestKind.OTHER)
    begun = next((begun for each in replies if (begun := _beginning(reply.text, each)) and begun in whole), "")
    return MatchedCapture(capture, RequestKind.REPLY, reply.generation, _told(evidence), begun=begun)


def _beginning(text: str, answer: str) -> str:
    """What stands of a reply before an answer that goes on with it, "" where it does not."""
    text, answer = text.strip(), answer.strip()
    return text.removesuffix(answer).strip() if answer and text != answer and text.endswith(answer) else ""


def _ranked(
    capture: Capture, replies: Sequence[str], whole: str, written: Sequence[_Written], chat: Chat
) -> Iterator[_Ranked]:
    for each in written:
        evidence = tuple(_evidence(capture, replies, whole, each, chat))
        # Times and a place in the chat fit a background prompt, too: the answer decides where there is one.
        if "text" in evidence or len(evidence) > 1 or (evidence and not any(replies)):
            yield (len(evidence), "text" in evidence, -abs(capture.started_ms - each.started_ms)), each, evidence


def _whole(prompt: SentPrompt) -> str:
    return "\n".join(message.text for message in prompt.messages)


def _told(evidence: Iterable[str]) -> tuple[str, ...]:
    return tuple(_EVIDENCE[each] for each in evidence)


_EVIDENCE: Final[Mapping[str, str]] = {
    "time": "it was asked while the reply was being written",
    "text": "the answer is the reply",
    "place": "it ends with the messages before the reply",
    "ending": "what follows them is what the reply was asked for with",
}


def _own_kind(prompt: SentPrompt, *, auxiliary: bool) -> RequestKind | None:
    """What a request is by itself; None where it may be for a reply."""
    if prompt.is_text or len(prompt.messages) > 2:
        return RequestKind.TOOL if auxiliary and not prompt.tools else None
    asks = "manifest" in prompt.messages[-1].text.lower() or "candidate" in prompt.messages[0].text.lower()
    return RequestKind.SELECTION if prompt.schema or asks else RequestKind.TOOL


def _evidence(capture: Capture, replies: Sequence[str], whole: str, reply: _Written, chat: Chat) -> Iterator[str]:
    if reply.started_ms - _SLACK_MS <= capture.started_ms <= reply.finished_ms + _SLACK_MS:
        yield "time"
    if any(_is_answer(each, reply.text) for each in replies):
        yield "text"
    place = reply.generation.message
    if _ending(whole, place, chat) is not None and not _holds(whole, (reply.text,)):
        yield "place"


def _is_answer(answer: str, text: str) -> bool:
    """Whether the answer is the reply, or begins or ends it, or was before something was taken off it."""
    said, kept = answer.partition(_NOTES)[0].strip(), text.strip()
    if not said or not kept:
        return False
    short, long = sorted((said, kept), key=len)
    return said == kept or (len(short) >= _TELLING and (long.startswith(short) or long.endswith(short)))


def _ending(whole: str, place: int, chat: Chat) -> str | None:
    """What follows the last visible messages before that place, which stand in the prompt in order.

    None where they do not, or where the person's next message is in it, too.
    """
    back = (chat.messages[number] for number in range(place - 1, -1, -1))
    spoken = [*islice((each.text.strip() for each in back if each.scannable and each.text.strip()), _TAIL)]
    end = 0
    for text in reversed(spoken):
        start = whole.find(text, end)
        if start < 0:
            return None
        end = start + len(text)
    after = (each.text for each in chat.messages[place + 1 :] if each.is_user and each.scannable)
    return whole[end:] if spoken and not _holds(whole, after) else None


def _holds(whole: str, texts: Iterable[str]) -> bool:
    """Whether the first of these texts that is long enough to tell stands in the prompt."""
    first = next((text for text in map(str.strip, texts) if len(text) >= _TELLING), "")
    return bool(first) and first in whole


def _written(chat: Chat) -> Iterator[_Written]:
    for place, message in enumerate(chat.messages):
        if message.is_user or not message.is_story:
            continue
        for swipe, text in enumerate(message.swipes or (message.text,)):
            times = _times(message, swipe)
            yield _Written(
                Generation(place, swipe), text,
                _moment(times.get("gen_started"), math.inf), _moment(times.get("gen_finished"), -math.inf),
            )  # fmt: skip


def _times(message: Message, swipe: int) -> Mapping[str, Json]:
    infos = message.raw.get("swipe_info")
    info = infos[swipe] if isinstance(infos, list | tuple) and swipe < len(infos) else None
    if isinstance(info, Mapping) and info.get("gen_started"):
        return info
    return message.raw if swipe == message.swipe else {}


def _moment(value: Json, otherwise: float) -> float:
    """Milliseconds since 1970 of a time as SillyTavern keeps it."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return float(value)
    try:
        return datetime.fromisoformat(value).timestamp() * 1000 if isinstance(value, str) else otherwise
    except ValueError:
        return otherwise


class OnlyHere(Struct, frozen=True):
    """An entry that the run puts in and the prompt does not have, and why that may be, "" where nothing tells."""

    entry: int
    title: str
    why: str = ""


class PromptComparison(Terse, frozen=True):
    """What a captured prompt and the run of its turn agree in.

    `both` and `only_there` are in the order of the prompt; `unknown` are lines of it that are neither lore nor chat nor
    any other text that the studio knows of, with the number of their message.
    """

    unprinted = ("unknown", "titles")

    both: tuple[FoundLore, ...] = ()
    only_there: tuple[FoundLore, ...] = ()
    only_here: tuple[OnlyHere, ...] = ()
    unknown: tuple[tuple[int, str], ...] = ()
    titles: Mapping[int, str] = {}

    @property
    def agrees(self) -> bool:
        """Whether the same entries stand in both, but for those whose absence is explained."""
        return not self.only_there and all(each.why for each in self.only_here)


class ComparedCapture(Struct, frozen=True):
    """A capture, the reply that it made, and how its lore differs from the run; None where it made none of the chat."""

    matched: MatchedCapture
    turn: PromptComparison | None = None

    @property
    def made(self) -> str:
        """The reply in a word, `#12.2` with its swipe, or what the request was for."""
        generation = self.matched.generation
        if generation is None:
            return str(self.matched.kind)
        return f"#{generation.message}" + (f".{generation.swipe + 1}" if generation.swipe else "")

    @property
    def because(self) -> str:
        """What speaks for that."""
        goes_on = ("it goes on with what stands of the reply",) if self.matched.begun else ()
        return "; ".join((*self.matched.evidence, *goes_on))

    @property
    def lore(self) -> tuple[str, ...]:
        """What its lore and that of the run have in common, and each difference, a line each."""
        turn = self.turn
        if self.matched.replaced:
            return ("another request made the reply as it stands",)
        if turn is None:
            return ()
        lines = [plural(len(turn.both), "# entry in both|# entries in both")]
        lines += [f"+ {turn.titles[one.entry]}: only in the prompt ({one.grade})" for one in turn.only_there]
        lines += [f"- {one.title}: only in the run{f', {one.why}' * bool(one.why)}" for one in turn.only_here]
        if turn.unknown:
            unknown = plural(len(turn.unknown), "# line of the prompt is|# lines of the prompt are")
            lines.append(f"{unknown} from nowhere known: “{turn.unknown[0][1][:60]}”…")
        return tuple(lines)

    @property
    def short(self) -> str:
        """The same in a line: of what agrees only how much it is."""
        if self.turn is not None and self.turn.agrees and not self.matched.replaced:
            return plural(len(self.turn.both), "the same entry|the same # entries")
        return "; ".join(self.lore)

    @property
    def places(self) -> tuple[str, ...]:
        """Where each entry stands in the prompt, and how much of it, in the order of the prompt."""
        turn = self.turn
        if turn is None:
            return ()
        return tuple(
            f"{turn.titles[each.entry]}: {each.grade}, "
            f"message {each.message + 1} ({each.role}, {each.from_end} before the end)"
            for each in sorted((*turn.both, *turn.only_there), key=attrgetter("message", "start"))
        )


async def beside_replies(
    simulator: Simulator, captures: Iterable[Capture], *, whole: bool = False
) -> tuple[ComparedCapture, ...]:
    """Each capture beside the reply that it made, oldest first, with the run of that turn.

    Captures must have been read whole. Runs what was not run yet; with `whole` every reply, also without a capture.
    """
    if whole:
        await simulator.run_missing()
    chat = simulator.project.chat or Chat()
    return tuple(
        [
            ComparedCapture(
                each,
                await compared(simulator, each)
                if each.generation in simulator.generations and not each.replaced
                else None,
            )
            for each in matched(captures, chat)
        ]
    )


def answered_words(traces: Iterable[Trace]) -> str:
    """How many questions of a whole run the captures answered, in a sentence; one without an answer is no call."""
    answered = sum(not call.error for trace in traces for call in trace.ai_calls)
    if not answered:
        return "No capture answers a question that the runs ask about which entries matter."
    return f"Captures answer {plural(answered, '# question|# questions')} of the runs about which entries matter."


async def compared(simulator: Simulator, capture: MatchedCapture) -> PromptComparison:
    """Run the turn of a capture that made a reply, and look for every entry in what was sent.

    A reply that goes on is run with what stood of it, which is searched as the last message.
    """
    generation = capture.generation
    if generation is None:
        message = "only a capture of a reply can be compared"
        raise ValueError(message)
    trace = await simulator.generate(generation)
    if capture.begun and simulator.project.chat is not None:
        begun = replace(simulator.project.chat.messages[generation.message], text=capture.begun)
        run = Rerun.of(simulator, generation).continued(begun)
        trace = await decided_trace(run.system, run.moment, run.state)
    return comparison(simulator.project, capture, trace)


def comparison(project: Project, made: MatchedCapture, trace: Trace) -> PromptComparison:
    """The same, of a run that is there already."""
    chat = project.chat or Chat()
    before = chat.messages[: trace.turn.message]
    assembled = assemble(trace, chat, project.setup, project.counter)
    blocks = grouped(
        (part.entry, block.text[part.start : part.end])
        for block in trace.prompt
        for part in block.parts
        if part.entry is not None
    )
    for message in assembled.messages:
        for part in message.parts:
            if part.source.entry is not None:
                blocks.setdefault(part.source.entry, []).append(message.text_of(part))
    wanted = [*searched(project.index.entries, blocks)]
    wanted += [
        SearchedEntry(entry, ref.title, "", tuple(blocks.get(entry, ())))
        for entry, ref in trace.entries.items()
        if entry >= FOREIGN_IDS
    ]
    prompt = made.capture.prompt
    said = [message.text for message in before]
    found = find_lore(prompt, wanted, said)
    here = {each.entry for each in trace.injections}
    there = {each.entry for each in found}
    known = [message.text for message in chat.messages[: trace.turn.message + 1]]  # the reply may have been continued
    known += [*(message.text for message in assembled.messages), *(block.text for block in trace.notes)]
    return PromptComparison(
        tuple(each for each in found if each.entry in here),
        tuple(each for each in found if each.entry not in here),
        tuple(
            OnlyHere(each.entry, trace.title(each.entry), _why_missing(each, len(prompt.messages)))
            for each in trace.injections
            if each.entry not in there
        ),
        unknown_lines(prompt, found, known),
        {each.id: each.title for each in wanted},
    )


def _why_missing(injection: Injection, messages: int) -> str:
    """(rules: live-capture 5)"""
    if injection.position == Position.OUTLET:
        return "it goes into an outlet, which only a prompt that asks for it has"
    if injection.position == Position.IN_CHAT and 1 < messages <= injection.depth:
        return f"it goes {injection.depth:g} messages deep, and the prompt has {messages}: the chat was cut before it"
    return ""


UNASKED: Final = "No captured question is about the same entries and messages as this one."


class CapturedAnswers:
    """Answers of the model that chose entries there, for questions about the same, but for figures of tokens.

    `kind` says what a question is about. `model` is the one that was asked last.
    """

    name: Final = "captured"
    label: Final = "captured answers"

    def __init__(self, captures: Iterable[Capture], kind: SystemKind) -> None:
        self.model = ""
        self._kind = kind
        self._answers: dict[tuple[str, ...], str] = {}
        for capture in sorted(captures, key=lambda each: each.started_ms):
            try:
                prompt = capture.prompt
            except ValueError:
                continue  # it asked nothing that can be read, and is listed as such
            if capture.replies:
                self._answers[self._key([message.text for message in prompt.messages])] = capture.replies[0]
                self.model = prompt.model or self.model

    async def answer(self, request: ChatRequest) -> ChatReply:
        """What was answered to this question. Raises LlmError where it was not asked there."""
        text = self._answers.get(self._key(request.texts))
        if text is None:
            raise LlmError(ErrorKind.NO_RECORDED_ANSWER, UNASKED)
        return ChatReply(text)

    def _key(self, texts: Sequence[str]) -> tuple[str, ...]:
        return tuple(without_figures(text.strip()) for text in self._kind.asked_about(texts))


def captured_answers(captures: Iterable[Capture], chat: Path, kind: SystemKind) -> tuple[AnswerSource, str]:
    """The captured answers, recorded beside the chat when they are given, and the model that is asked for."""
    answers = CapturedAnswers(captures, kind)
    return RecordedAnswers(answers_path(chat), answers), answers.model
