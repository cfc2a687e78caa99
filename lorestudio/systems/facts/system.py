"""Fact memory as a system that a chat is replayed with: which memories each reply would have been given.

What the store holds when the system is made is what all turns see; memories of this chat count from the message on
that they lie behind. No model is asked but for vectors of what the person says; nothing is written.

What a stage of a replay with memories decides, collected into its record.

The memories that a replay sees, and how a trace names them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Protocol

import numpy as np

from lorestudio.domain.entry import Position, Role
from lorestudio.domain.javascript import Json
from lorestudio.domain.tokens import TokenCounter
from lorestudio.llm.embedding import Vector
from lorestudio.llm.errors import LlmError
from lorestudio.llm.vectors import KnownVectors, MadeVectors
from lorestudio.settings.facts import FactsSettings
from lorestudio.studio.project.project import Project
from lorestudio.systems.base import Decided, Moment, Step, inputs_digest, run_steps
from lorestudio.systems.facts.comparing import comparable
from lorestudio.systems.facts.configuring import configured
from lorestudio.systems.facts.context import Layout, pieces
from lorestudio.systems.facts.passages import chat_name, message_times
from lorestudio.systems.facts.records import Match, Memory, Profile
from lorestudio.systems.facts.retrieval import Found, Search, as_match, as_pinned, chosen
from lorestudio.systems.facts.session import FactsSession, owner_of, store_path
from lorestudio.systems.facts.similarity import VectorTable
from lorestudio.systems.facts.words import VOCABULARY
from lorestudio.trace.model import (
    AiCall,
    EntryRef,
    Injection,
    Limit,
    Outcome,
    Phase,
    PromptBlock,
    PromptPart,
    RunOutcome,
    StageRecord,
    StageStatus,
    Trace,
    Verdict,
)


class Choosing(Protocol):
    """A run with its candidates, by their places."""

    candidates: list[int]

    def candidate_ids(self) -> tuple[int, ...]:
        """The candidates now."""
        ...


class Book:
    """Collects a stage's verdicts."""

    def __init__(self, name: str, phase: Phase, run: Choosing) -> None:
        self._name, self._phase, self._run = name, phase, run
        self._entered = run.candidate_ids()
        self._verdicts: list[Verdict] = []

    def note(self, place: int, outcome: Outcome, reason: str, details: Mapping[str, Json]) -> None:
        """Say something of a memory."""
        self._verdicts.append(Verdict(place, outcome, reason, details))

    def add(self, place: int, reason: str, details: Mapping[str, Json]) -> None:
        """The memory becomes a candidate."""
        self._run.candidates.append(place)
        self.note(place, Outcome.ADDED, reason, details)

    def drop(self, place: int, reason: str, details: Mapping[str, Json]) -> None:
        """The memory is no candidate any more."""
        self._run.candidates.remove(place)
        self.note(place, Outcome.REMOVED, reason, details)

    def close(
        self, note: str = "", status: StageStatus = StageStatus.RAN, details: Mapping[str, Json] | None = None,
        error: str = "", default_reason: str = "",
    ) -> StageRecord:  # fmt: skip
        """The stage's record."""
        return StageRecord(
            self._name, self._phase, status, self._entered, self._run.candidate_ids(), tuple(self._verdicts), note,
            default_reason, details or {}, error=error,
        )  # fmt: skip


SOURCE: Final = "memories"
"""What stands in a trace in place of a vault."""

_TITLE: Final = 60


@dataclass(frozen=True, slots=True)
class Known:
    """The memories that a replay sees, with their vectors; `chat` is the name of the chat that is replayed."""

    chat: str = ""
    memories: tuple[Memory, ...] = ()
    profile: Profile | None = None
    table: VectorTable = field(default_factory=lambda: VectorTable(()))
    usable: tuple[bool, ...] = ()
    digest: str = ""

    @classmethod
    def of(cls, chat: str, memories: Sequence[Memory], profile: Profile | None, model: str) -> Known:
        """Those memories; vectors of another model are no vectors."""
        usable = tuple(memory.embedding is not None and comparable(memory, model) for memory in memories)
        vectors = [memory.embedding if use else None for memory, use in zip(memories, usable, strict=True)]
        told = repr((profile, [(each.id, each.content, each.pinned, each.tags) for each in memories]))
        digest = hashlib.sha256(told.encode("utf-8", "surrogatepass")).hexdigest()
        return cls(chat, tuple(memories), profile, VectorTable(vectors), usable, digest)

    @property
    def inputs(self) -> str:
        """The digest, with everything else of the memories that a search weighs."""
        told = repr((self.chat, self.digest, self.usable, self.memories))
        return hashlib.sha256(told.encode("utf-8", "surrogatepass")).hexdigest()


def entry_ref(place: int, memory: Memory, counter: TokenCounter) -> EntryRef:
    """Who the memory is in a trace."""
    return EntryRef(place, short(memory.content), SOURCE, memory.id, 0, counter.count(memory.content))


def short(text: str) -> str:
    """The beginning of a text on one line."""
    line = " ".join(text.split())
    return line if len(line) <= _TITLE else f"{line[: _TITLE - 1]}…"


NAME: Final = "facts"
TITLE: Final = "Fact memory"
TAG: Final = "fact_memory"

_WIDER: Final = 5
_TOLD: Final = 200
"""The trace speaks of so many of the nearest memories one by one; the rest has one reason in common."""


@dataclass(frozen=True, slots=True)
class FactsSystem:
    """Fact memory of one chat, with its settings."""

    settings: FactsSettings = field(default_factory=FactsSettings)
    known: Known = field(default_factory=Known, repr=False)
    vectors: KnownVectors | MadeVectors | None = None
    layout: Layout = field(default_factory=Layout)
    search: Search = field(default_factory=Search)
    name: str = NAME
    title: str = TITLE

    @classmethod
    def of(cls, project: Project, settings: FactsSettings) -> FactsSystem:
        """That of the project's chat, with what is stored now. Raises InputError."""
        config = configured(settings)
        with FactsSession(settings, in_memory=not store_path(settings).exists()) as session:
            if project.chat is None or session.embedder is None:
                return cls(settings)
            owner = owner_of(settings, project.chat, project.chat_path)
            name = chat_name(project.chat, project.chat_path)
            known = Known.of(name, session.memories(owner), session.profile(owner), session.embedder.model_id)
            return cls(settings, known, KnownVectors(session.embedder), config.layout, config.search)

    @property
    def inputs(self) -> str:
        """The digest of the settings, the memories at hand, and who makes the vectors."""
        return inputs_digest(self.settings, self.known.inputs, self.vectors.label if self.vectors is not None else None)

    async def decide(self, moment: Moment, state: object = None) -> Decided:
        """Run one generation; every turn stands for itself."""
        run = _Run(moment, self)
        records = await run_steps(run.steps(), run.candidate_ids, moment.timer)
        return Decided(run.trace(records), state)


class _Run:
    """One generation under way. Entries are memories by their place in `known`."""

    def __init__(self, moment: Moment, system: FactsSystem) -> None:
        self.moment, self.system = moment, system
        self.known, self.search = system.known, system.search
        self.places = {memory.id: place for place, memory in enumerate(self.known.memories)}
        self.at_hand: list[int] = []
        self.candidates: list[int] = []
        self.found = Found()
        self.asked = False
        self.problem = ""
        self.calls: list[AiCall] = []
        self.injections: tuple[Injection, ...] = ()
        self.blocks: tuple[PromptBlock, ...] = ()

    def candidate_ids(self) -> tuple[int, ...]:
        """The candidates now."""
        return tuple(self.candidates)

    def steps(self) -> tuple[Step, ...]:
        """The stages in order."""
        return (
            Step("memories", Phase.LOAD, self._load),
            Step("similarity", Phase.SELECT, self._similar),
            Step("outdated memories", Phase.GATE, self._outdated),
            Step("forgetting and variety", Phase.BUDGET, self._weighed),
            Step("memory injection", Phase.INJECT, self._place),
        )

    # ---- stages -----------------------------------------------------------------------------------------------------

    async def _load(self) -> StageRecord:
        book = Book("memories", Phase.LOAD, self)
        for place, memory in enumerate(self.known.memories):
            origin = memory.origin
            if origin.chat == self.known.chat and origin.last is not None and origin.last >= self.moment.turn.message:
                book.note(place, Outcome.REFUSED, "fm_later", {"first": origin.first, "last": origin.last})
            else:
                self.at_hand.append(place)
        return book.close("" if self.known.memories else "fm_nothing_kept", details={"memories": len(self.at_hand)})

    async def _similar(self) -> StageRecord:
        book = Book("similarity", Phase.SELECT, self)
        settings, search = self.system.settings, self.search
        pinned = [
            as_pinned(self.known.memories[place], strict=search.strict)
            for place in self.at_hand
            if self.known.memories[place].pinned
        ]
        vector = await self._question()
        wide = settings.limit * (_WIDER if search.diversity_weight > 0 else 1)
        ranked: list[Match] = []
        if vector is not None:
            rows = np.array(self.at_hand, dtype=np.int64)
            if search.strict:
                self.known.table.check(vector, rows)
            best = self.known.table.search(vector, max(wide, _TOLD), rows)
            ranked = [as_match(self.known.memories[each.index], each.similarity) for each in best]
        self.found = chosen(pinned, ranked[:wide], self.known.profile, search, self._now(), settings.limit)
        self._judge(book, pinned, ranked, wide)
        note = "" if vector is not None else "fm_no_vector_made" if self.problem else "fm_no_question"
        status = StageStatus.FAILED if self.problem else StageStatus.RAN
        details: dict[str, Json] = {"problem": self.problem} if self.problem else {}
        return book.close(note, status, details, self.problem, "fm_far")

    def _judge(self, book: Book, pinned: Sequence[Match], ranked: Sequence[Match], wide: int) -> None:
        """Say where the search left the nearest memories, and all pinned ones."""
        below = {self._at(match) for match in self.found.below}
        threshold = self.search.min_score
        for match in pinned:
            book.add(self._at(match), "fm_pinned", {})
        for rank, match in enumerate(ranked, 1):
            place, shown = self._at(match), {"score": round(match.score, 4)}
            if self.known.memories[place].pinned:
                continue
            if rank > wide:
                book.note(place, Outcome.REFUSED, "fm_beyond", shown | {"rank": rank, "limit": wide})
            elif place in below:
                book.note(place, Outcome.REFUSED, "fm_below", shown | {"threshold": threshold})
            else:
                book.add(
                    place, "fm_found", shown | {"rank": rank} | ({"threshold": threshold} if threshold > 0 else {})
                )
        bare = [place for place in self.at_hand if not self.known.usable[place] and place not in self.candidates]
        for place in bare[:_TOLD]:
            book.note(place, Outcome.REFUSED, "fm_no_vector", {})

    async def _outdated(self) -> StageRecord:
        book = Book("outdated memories", Phase.GATE, self)
        for match in self.found.outdated:
            book.drop(self._at(match), "fm_outdated", {})
        profile = self.known.profile is not None
        return book.close("" if profile else "fm_no_profile", StageStatus.RAN if profile else StageStatus.SKIPPED)

    async def _weighed(self) -> StageRecord:
        book = Book("forgetting and variety", Phase.BUDGET, self)
        order = [self._at(match) for match in self.found.matches]
        search = self.search
        if search.forgetting is None and search.recency_weight <= 0 and search.diversity_weight <= 0:
            self.candidates = order
            return book.close("fm_unweighed", StageStatus.SKIPPED)
        scores = {self._at(match): match.score for match in self.found.matches}
        for place in list(self.candidates):
            if place not in scores:
                book.drop(place, "fm_alike", {})
        self.candidates = order
        for rank, place in enumerate(order, 1):
            book.note(place, Outcome.KEPT, "fm_weighed", {"score": round(scores[place], 4), "rank": rank})
        return book.close()

    async def _place(self) -> StageRecord:
        book = Book("memory injection", Phase.INJECT, self)
        settings, counter = self.system.settings, self.moment.counter
        position, role = int(Position(settings.position)), int(Role(settings.role))
        depth = settings.depth if position == Position.IN_CHAT else 0
        written = pieces(self.found.matches, self.known.profile, self.system.layout)
        text, parts, lines = "", [], {}
        for piece in written:
            end = len(text) + len(piece.text)
            place = None if piece.match is None else self._at(piece.match)
            parts.append(PromptPart(len(text), end, place))
            text += piece.text
            if place is not None:
                lines[place] = piece.text
        if not text:
            return book.close("no_prompt")
        self.blocks = (PromptBlock(TAG, position, depth, role, text, tuple(parts)),)
        self.injections = tuple(
            self._injection(match, counter.count(lines[self._at(match)]), (position, depth, role))
            for match in self.found.matches
        )
        for place in self.candidates:
            book.note(place, Outcome.KEPT, "fm_placed", {"position": position, "depth": depth, "role": role})
        return book.close()

    # ---- the trace --------------------------------------------------------------------------------------------------

    def trace(self, records: tuple[StageRecord, ...]) -> Trace:
        """Everything that was decided."""
        moment, settings = self.moment, self.system.settings
        named = {verdict.entry for record in records for verdict in record.verdicts}
        tokens = sum(moment.counter.count(block.text) for block in self.blocks)
        taken = sum(not match.pinned for match in self.found.matches)
        vectors = self.system.vectors
        return Trace(
            system=NAME,
            mode="strict" if settings.strict else "safe",
            outcome=RunOutcome.INJECTED if self.blocks else RunOutcome.NOTHING_INJECTED,
            turn=moment.turn,
            entries={place: entry_ref(place, self.known.memories[place], moment.counter) for place in sorted(named)},
            index_size=len(self.known.memories),
            stages=records,
            injections=self.injections,
            prompt=self.blocks,
            limits=(Limit("tokens", tokens, None, "tokens"), Limit("memories", taken, settings.limit, "entries")),
            ai_calls=tuple(self.calls),
            seed=moment.seed,
            digests={**moment.digests, "memories": self.known.digest},
            clock_ms=moment.clock_ms,
            warnings=(f"No vector: {self.problem}.",) if self.problem else (),
            facts={
                "vectors": vectors.label if vectors is not None else "",
                "threshold": self.search.min_score,
                "counter": moment.counter.name,
                "counted_exactly": moment.counter.exact,
            },
            words=VOCABULARY,
        )

    async def _question(self) -> Vector | None:
        """The vector of the person's last message."""
        said = [message.text for message in self.moment.chat if message.is_user]
        vectors = self.system.vectors
        if not said or vectors is None or not self.at_hand:
            return None
        found: Mapping[str, Vector] = {}
        try:
            found = await vectors.of([said[-1]])
        except LlmError as error:
            self.problem = str(error).rstrip(".")
        self.calls.append(AiCall("embedding", "", said[-1], 0, False, error=self.problem, source=vectors.label))
        return found.get(said[-1])

    def _now(self) -> int:
        """The moment of the turn: when the last message was sent, else the newest memory, else the run's clock."""
        times = message_times(self.moment.chat[-1:])
        known = [self.known.memories[place].created_at or 0 for place in self.at_hand]
        return times[-1] if times else max(known, default=0) or self.moment.clock_ms

    def _at(self, match: Match) -> int:
        return self.places[match.memory.id]

    def _injection(self, match: Match, tokens: int, where: tuple[int, int, int]) -> Injection:
        memory = match.memory
        label = "pinned" if match.pinned else f"similarity {match.score:.2f}"
        position, depth, role = where
        return Injection(
            self._at(match), short(memory.content), label, tokens, 0, position, depth, role, TAG, memory.id
        )
