"""A finished run as data: stages in order, a verdict for every entry a stage decided about, and the prompt it made.

A trace is written by the very run that made the prompt and never changes afterwards. Entries are named by their id
(position in the index); `Trace.entries` says who they are. Message texts and note bodies are not part of a trace except
where they went into the prompt, and texts that were searched and that the chat does not have as they were. From its
limits follows how much room there was, and what would have had to be different.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from dataclasses import field as data_field
from enum import StrEnum
from functools import cached_property
from typing import Final

from msgspec import Struct, field

from lorestudio.domain.chat import Generation
from lorestudio.domain.entry import Entry, OfNote
from lorestudio.domain.javascript import Json
from lorestudio.domain.records import Terse
from lorestudio.trace.vocabulary import PLAIN, Vocabulary


class Phase(StrEnum):
    """The part of a run that a stage belongs to."""

    LOAD = "load"
    MATCH = "match"
    SELECT = "select"
    GATE = "gate"
    BUDGET = "budget"
    INJECT = "inject"


class Outcome(StrEnum):
    """What a stage did with one entry.

    `ADDED` and `REMOVED` change who is a candidate; `REFUSED` was looked at and not let in; `KEPT` and `CHANGED` stay.
    """

    ADDED = "added"
    KEPT = "kept"
    CHANGED = "changed"
    REMOVED = "removed"
    REFUSED = "refused"


class StageStatus(StrEnum):
    """How far a stage came."""

    RAN = "ran"
    SKIPPED = "skipped"
    FAILED = "failed"


class RunOutcome(StrEnum):
    """How a run ended (rules: deeplore 5, 6.7)."""

    INJECTED = "injected"
    NOTHING_INJECTED = "nothing_injected"
    EMPTY_AFTER_GATING = "empty_after_contextual_gating"
    EMPTY_AFTER_REINJECTION = "empty_after_reinjection_cooldown"
    EMPTY_AFTER_REQUIRES = "empty_after_requires_excludes"
    SKIPPED = "skipped"
    FAILED = "failed"


class EntryRef(OfNote, Struct, frozen=True, gc=False):  # texts and numbers only
    """Who an entry is, as far as a reader of the trace needs it. `priority` and `tokens` are the note's own."""

    id: int
    title: str
    vault: str
    filename: str
    priority: float
    tokens: int

    @classmethod
    def of(cls, entry: Entry) -> EntryRef:
        """Who this entry is."""
        return cls(entry.id, entry.title, entry.vault, entry.filename, entry.priority, entry.tokens)


class Verdict(Struct, frozen=True, gc=False):  # no part of a cycle; there are hundreds of thousands of them
    """One decision about one entry; `reason` is a code of the system's, `details` fills its sentence."""

    entry: int
    outcome: Outcome
    reason: str
    details: Mapping[str, Json] = {}


class BreakerState(StrEnum):
    """How the circuit breaker of AI calls stands (rules: deeplore 4.9).

    `HALF_OPEN` lets the next call through as a probe; `PROBING` waits for what a probe brings.
    """

    CLOSED = "closed"
    OPEN = "open"
    HALF_OPEN = "half_open"
    PROBING = "probing"


class Breaker(Struct, frozen=True):
    """The circuit breaker at one moment.

    `failures` are those in a row; `next_probe_ms` is when the next call may go out, on the run's clock, None where one
    may at once.
    """

    state: BreakerState = BreakerState.CLOSED
    failures: int = 0
    next_probe_ms: int | None = None


class TitleMatch(StrEnum):
    """How an item of a reply found its entries (rules: deeplore 4.7 "Result matching").

    `CACHED` is a choice remembered from an earlier reply, `UNREADABLE` an item that names nothing.
    """

    EXACT = "exact"
    FUZZY = "fuzzy"
    CACHED = "cached"
    NOT_FOUND = "not_found"
    UNREADABLE = "unreadable"


class ItemResult(StrEnum):
    """What became of an item of a reply.

    `REPEATED`: a later item of the same title counts instead; `DOUBLE`: another item had brought the entry already.
    """

    CHOSEN = "chosen"
    BELOW_CONFIDENCE = "below_confidence"
    REPEATED = "repeated"
    DOUBLE = "double"
    DROPPED = "dropped"


class ReplyItem(Struct, frozen=True):
    """One item of a model's reply: the title as the model wrote it, and what it was matched to.

    `entries` are several where notes share a title, and none for a category. `title` is the candidate's own; where
    nothing was found it is the nearest one, with its `similarity`, and empty where none has anything in common.
    """

    asked: str
    match: TitleMatch
    result: ItemResult
    entries: tuple[int, ...] = ()
    title: str = ""
    similarity: float = 0.0
    confidence: str = ""
    reason: str = ""


class AiRecord(Struct, frozen=True):
    """What stands around a stage's question to a model.

    `before` and `after` are the circuit breaker as the stage found and left it; `items` are those of the reply, or of
    the remembered choice, in their order.
    """

    before: Breaker = field(default_factory=Breaker)
    after: Breaker = field(default_factory=Breaker)
    items: tuple[ReplyItem, ...] = ()


class StageRecord(Struct, frozen=True):
    """One stage of a run: who came in, who went on, and why. `entered + added = left + removed` always holds.

    `note` is a reason code for the stage as a whole (why it was skipped, what went wrong), with `details` beside it;
    `default_reason` is why an entry that has no verdict here and is no candidate was not taken in. `ai` is there where
    the stage may ask a model.
    """

    name: str
    phase: Phase
    status: StageStatus = StageStatus.RAN
    entered: tuple[int, ...] = ()
    left: tuple[int, ...] = ()
    verdicts: tuple[Verdict, ...] = ()
    note: str = ""
    default_reason: str = ""
    details: Mapping[str, Json] = {}
    duration_ms: float = 0.0
    error: str = ""
    ai: AiRecord | None = None

    def with_outcome(self, outcome: Outcome) -> tuple[Verdict, ...]:
        """The verdicts of one kind, in the order of the stage's decisions."""
        return tuple(verdict for verdict in self.verdicts if verdict.outcome is outcome)

    @property
    def added(self) -> int:
        """How many entries became candidates here."""
        return len(self.with_outcome(Outcome.ADDED))

    @property
    def removed(self) -> int:
        """How many candidates left here."""
        return len(self.with_outcome(Outcome.REMOVED))


class Injection(Struct, frozen=True):
    """An entry that went in, in injection order. `tokens` are those of the part that went in."""

    entry: int
    title: str
    label: str
    tokens: int
    priority: float
    position: int
    depth: float
    role: int
    tag: str
    content_hash: str
    truncated: bool = False
    original_tokens: int | None = None


class PromptPart(Struct, frozen=True):
    """Which characters of a prompt block came from which entry: `text[start:end]`; entry None is the frame's own."""

    start: int
    end: int
    entry: int | None = None


class PromptBlock(Struct, frozen=True):
    """One text handed to the host, with the origin of its parts. Position -1 is an outlet."""

    tag: str
    position: int
    depth: float
    role: int
    text: str
    parts: tuple[PromptPart, ...] = ()

    @classmethod
    def of(
        cls, place: tuple[str, int, float, int], pieces: Iterable[tuple[str, int | None]], between: str = ""
    ) -> PromptBlock:
        """One of these texts, each with the entry that it came from, at a tag, position, depth and role."""
        texts: list[str] = []
        parts: list[PromptPart] = []
        start = 0
        for text, entry in pieces:
            texts.append(text)
            parts.append(PromptPart(start, start + len(text), entry))
            start += len(text) + len(between)
        return cls(*place, between.join(texts), tuple(parts))


class Limit(Struct, frozen=True):
    """A cap and how much of it was used; `maximum` None means unlimited.

    `besides` of it were used by no entry but by what `besides_what` says, such as the conversation.
    """

    name: str
    used: float
    maximum: float | None
    unit: str
    besides: int = 0
    besides_what: str = ""


class AiCall(Struct, frozen=True):
    """One request to a model as it was sent, and what came back."""

    kind: str
    system: str
    user: str
    max_tokens: int
    json_schema: bool
    model: str = ""
    reply: str = ""
    error: str = ""
    source: str = ""
    duration_ms: float = 0.0
    details: Mapping[str, Json] = {}


class Turn(Struct, frozen=True):
    """Which generation of the chat this is.

    `message` is the index of the reply in the chat file (its length for the reply to come), `swipe` which of its
    alternatives, `number` the generation count before the run.
    """

    message: int
    swipe: int
    number: int
    kind: str = "normal"

    @property
    def generation(self) -> Generation:
        """The reply and the swipe."""
        return Generation(self.message, self.swipe)

    @property
    def host_kind(self) -> str:
        """SillyTavern's word for the generation: there a swipe is a kind of its own."""
        return "swipe" if self.kind == "normal" and self.swipe else self.kind


class ReadMessage(Terse, frozen=True):
    """A message that was searched with another text than the chat has; `changed_by` names scripts, files and titles."""

    unprinted = ("text",)

    message: int
    text: str
    changed_by: tuple[str, ...] = ()


class SeenChat(Struct, frozen=True):
    """What a run took the chat before it to be, where that is not what the chat's file says today.

    `shown` are messages that are hidden today and counted as visible. Of the messages that are hidden today, `assumed`
    are those about which nobody said since when, so that what counted is assumed. `read` are messages of the part that
    was searched whose texts were other than those in the chat. `followed` says that the run began from what the chat
    recorded of the replies before it.
    """

    shown: tuple[tuple[int, int], ...] = ()
    assumed: tuple[tuple[int, int], ...] = ()
    read: tuple[ReadMessage, ...] = ()
    followed: bool = False


AS_STORED: Final = SeenChat()


OUTLET_TAG: Final = "customWIOutlet_"
"""How the tags of outlets begin."""


@dataclass(frozen=True)
class Trace:
    """Everything one run decided.

    `prompt` is the lore; `notes` are the other texts that the host holds after the run: the chat's notebook and the AI
    notepad, and after a run that ended early or did not run, what an earlier one had handed over and nothing replaced.
    `labels` are DeepLore's match labels by title, in insertion order. `draws` are the random numbers used, in order.
    `digests` identify the inputs (`vault`, `chat`, `settings`, `state`), so that a stale trace can be told. `others`
    says that it chose from other entries than the project's. `words` are the system's own, in which views tell of the
    run; they are no part of what was decided.
    """

    system: str
    mode: str
    outcome: RunOutcome
    turn: Turn
    entries: Mapping[int, EntryRef] = data_field(repr=False)
    index_size: int
    stages: tuple[StageRecord, ...] = data_field(repr=False)
    injections: tuple[Injection, ...] = data_field(default=(), repr=False)
    prompt: tuple[PromptBlock, ...] = data_field(default=(), repr=False)
    limits: tuple[Limit, ...] = ()
    labels: tuple[tuple[str, str], ...] = data_field(default=(), repr=False)
    ai_calls: tuple[AiCall, ...] = data_field(default=(), repr=False)
    seed: int = 0
    draws: tuple[float, ...] = data_field(default=(), repr=False)
    digests: Mapping[str, str] = data_field(default_factory=dict)
    clock_ms: int = 0
    skip_reason: str = ""
    warnings: tuple[str, ...] = ()
    facts: Mapping[str, Json] = data_field(default_factory=dict, repr=False)
    notes: tuple[PromptBlock, ...] = data_field(default=(), repr=False)
    seen: SeenChat = data_field(default=AS_STORED, repr=False)
    others: bool = False
    words: Vocabulary[Trace] = data_field(default=PLAIN, compare=False, repr=False)

    def stage(self, name: str) -> StageRecord | None:
        """The record of the stage called `name`, None where the run never came to it."""
        return next((record for record in self.stages if record.name == name), None)

    def ran(self, name: str) -> StageRecord | None:
        """The record of the stage called `name` where it ran, None where it was skipped, failed, or never came."""
        record = self.stage(name)
        return record if record is not None and record.status is StageStatus.RAN else None

    def title(self, entry: int) -> str:
        """What an entry is called, also where no stage decided about it."""
        return self.entries[entry].title if entry in self.entries else f"entry {entry}"

    @cached_property
    def queue(self) -> Mapping[int, tuple[int, float]]:
        """In which place each entry that the limits count came to the budget, and the whole notes' tokens up to it."""
        uncounted = {each.entry for each in self.injections} - {each.entry for each in within_limits(self)}
        queue: dict[int, tuple[int, float]] = {}
        tokens = 0.0
        verdicts = (each for record in self.stages if record.phase is Phase.BUDGET for each in record.verdicts)
        for number, verdict in enumerate((each for each in verdicts if each.entry not in uncounted), 1):
            size = verdict.details.get("original_tokens", verdict.details.get("tokens"))
            tokens += size if isinstance(size, int | float) else 0
            queue.setdefault(verdict.entry, (number, tokens))
        return queue

    @property
    def of_notes(self) -> bool:
        """Whether it chose from the vault's notes."""
        return self.words.of_notes and not self.others

    @property
    def total_tokens(self) -> int:
        """Tokens of all injections, outlets included."""
        return sum(injection.tokens for injection in self.injections)


FALSY_PRIORITY: Final = 50.0
"""What a priority of 0 counts as in the order that the budget sees (rules: deeplore 5.5)."""


def token_limit(trace: Trace) -> Limit | None:
    """The limit that counts tokens, None where the run never came to the budget."""
    return next((limit for limit in trace.limits if limit.unit == "tokens"), None)


def entry_limit(trace: Trace) -> Limit | None:
    """The limit that counts entries, None where there is none."""
    return next((limit for limit in trace.limits if limit.unit == "entries"), None)


def within_limits(trace: Trace) -> tuple[Injection, ...]:
    """The injections that the limits count, in injection order: all but the outlets', where the system so has it."""
    if trace.words.counts_outlets:
        return trace.injections
    return tuple(injection for injection in trace.injections if not injection.tag.startswith(OUTLET_TAG))


def tokens_used(trace: Trace) -> int:
    """What was used of the limit: a system may count the texts as one, which differs from the sum of the entries."""
    limit = token_limit(trace)
    return int(limit.used) if limit is not None else sum(injection.tokens for injection in within_limits(trace))


def rank(priority: float) -> float:
    """The number that the budget's order goes by."""
    return FALSY_PRIORITY if priority == 0 or math.isnan(priority) else priority


def last_room(trace: Trace, tokens: float) -> Injection | None:
    """The last injected entry that a note of `tokens` could have stood before and still fit whole; None for no such.

    A note with a lower priority number than that entry's is offered to the budget before it.
    """
    limit = token_limit(trace)
    budget = math.inf if limit is None or limit.maximum is None else limit.maximum
    used, found = 0.0, None
    for injection in within_limits(trace):
        if used + tokens > budget:
            break
        found = injection
        used += injection.tokens
    return found
