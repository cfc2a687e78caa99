"""Fact memory as a system that a chat is replayed with: which memories each reply would have been given.

What the store holds when the system is made is what all turns see; memories of this chat count from the message on
that they lie behind. No model is asked but for vectors of what the person says; nothing is written.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from lorestudio.domain.entry import Position, Role
from lorestudio.domain.javascript import Json
from lorestudio.domain.tokens import TokenCounter
from lorestudio.engine.systems import Decided, Moment, Step, run_steps
from lorestudio.llm.embedding import Vector
from lorestudio.llm.errors import LlmError
from lorestudio.memory.facts.context import Layout, pieces
from lorestudio.memory.facts.keeping import comparable
from lorestudio.memory.facts.records import Match, Memory, Profile
from lorestudio.memory.facts.retrieval import Found, Search, as_match, as_pinned, chosen
from lorestudio.memory.facts.similarity import VectorTable
from lorestudio.settings.facts import FactsSettings
from lorestudio.studio.embedding import KnownVectors
from lorestudio.studio.facts.configuring import configured
from lorestudio.studio.facts.passages import chat_name, message_times
from lorestudio.studio.facts.session import FactsSession, owner_of, store_path
from lorestudio.studio.project import Project
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

NAME: Final = "facts"
TITLE: Final = "Fact memory"
SOURCE: Final = "memories"
TAG: Final = "fact_memory"

_TITLE: Final = 60
_WIDER: Final = 5


@dataclass(frozen=True, slots=True)
class Known:
    """The memories that a replay sees, with their vectors; `chat` is the name of the chat that is replayed."""

    chat: str = ""
    memories: tuple[Memory, ...] = ()
    profile: Profile | None = None
    table: VectorTable = field(default_factory=lambda: VectorTable(()))
    usable: tuple[bool, ...] = ()

    @classmethod
    def of(cls, chat: str, memories: Sequence[Memory], profile: Profile | None, model: str) -> Known:
        """Those memories; vectors of another model are no vectors."""
        usable = tuple(memory.embedding is not None and comparable(memory, model) for memory in memories)
        vectors = [memory.embedding if use else None for memory, use in zip(memories, usable, strict=True)]
        return cls(chat, tuple(memories), profile, VectorTable(vectors), usable)


@dataclass(frozen=True, slots=True)
class FactsSystem:
    """Fact memory of one chat, with its settings."""

    settings: FactsSettings = field(default_factory=FactsSettings)
    known: Known = field(default_factory=Known, repr=False)
    vectors: KnownVectors | None = None
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
        self.candidates: list[int] = []
        self.considered: list[Match] = []
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
        book = _Book("memories", Phase.LOAD, self)
        for place, memory in enumerate(self.known.memories):
            origin = memory.origin
            messages: dict[str, Json] = {}
            if origin.first is not None and origin.last is not None and origin.chat == self.known.chat:
                messages = {"first": origin.first, "last": origin.last}
                if origin.last >= self.moment.turn.message:
                    book.note(place, Outcome.REFUSED, "fm_later", messages)
                    continue
            self.candidates.append(place)
            book.note(place, Outcome.ADDED, "fm_known", messages)
        return book.close("" if self.known.memories else "fm_nothing_kept")

    async def _similar(self) -> StageRecord:
        book = _Book("similarity", Phase.SELECT, self)
        settings, search = self.system.settings, self.search
        pinned = [
            as_pinned(self.known.memories[place], strict=search.strict)
            for place in self.candidates
            if self.known.memories[place].pinned
        ]
        vector = await self._question()
        wide = settings.limit * (_WIDER if search.diversity_weight > 0 else 1)
        ranked: list[Match] = []
        if vector is not None:
            rows = np.array(self.candidates, dtype=np.int64)
            if search.strict:
                self.known.table.check(vector)
            best = self.known.table.search(vector, None, rows)
            ranked = [as_match(self.known.memories[each.index], each.similarity) for each in best]
        self.considered = ranked[:wide]
        self.found = chosen(pinned, self.considered, self.known.profile, search, self._now(), settings.limit)
        self._judge(book, ranked, wide)
        note = "" if vector is not None else "fm_no_vector_made" if self.problem else "fm_no_question"
        status = StageStatus.FAILED if self.problem else StageStatus.RAN
        return book.close(note, status, {"problem": self.problem} if self.problem else {}, self.problem)

    def _judge(self, book: _Book, ranked: Sequence[Match], wide: int) -> None:
        """Say of every candidate where the search left it."""
        ranks = {self._at(match): (rank, match.score) for rank, match in enumerate(ranked, 1)}
        below = {self._at(match) for match in self.found.below}
        threshold = self.search.min_score
        for place in list(self.candidates):
            rank, score = ranks.get(place, (0, 0.0))
            shown: dict[str, Json] = {"score": round(score, 4)}
            if self.known.memories[place].pinned:
                book.note(place, Outcome.KEPT, "fm_pinned", shown if rank else {})
            elif not rank:
                book.drop(place, "fm_no_vector", {})
            elif rank > wide:
                book.drop(place, "fm_beyond", shown | {"rank": rank, "limit": wide})
            elif place in below:
                book.drop(place, "fm_below", shown | {"threshold": threshold})
            else:
                least: dict[str, Json] = {"threshold": threshold} if threshold > 0 else {}
                book.note(place, Outcome.KEPT, "fm_found", shown | {"rank": rank} | least)

    async def _outdated(self) -> StageRecord:
        book = _Book("outdated memories", Phase.GATE, self)
        for match in self.found.outdated:
            book.drop(self._at(match), "fm_outdated", {})
        profile = self.known.profile is not None
        return book.close("" if profile else "fm_no_profile", StageStatus.RAN if profile else StageStatus.SKIPPED)

    async def _weighed(self) -> StageRecord:
        book = _Book("forgetting and variety", Phase.BUDGET, self)
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
        book = _Book("memory injection", Phase.INJECT, self)
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
            entries={place: _ref(place, self.known.memories[place], moment.counter) for place in sorted(named)},
            index_size=len(self.known.memories),
            stages=records,
            injections=self.injections,
            prompt=self.blocks,
            limits=(Limit("tokens", tokens, None, "tokens"), Limit("memories", taken, settings.limit, "entries")),
            ai_calls=tuple(self.calls),
            seed=moment.seed,
            digests=moment.digests,
            clock_ms=moment.clock_ms,
            warnings=(f"No vector: {self.problem}.",) if self.problem else (),
            facts={
                "vectors": vectors.label if vectors is not None else "",
                "threshold": self.search.min_score,
                "counter": moment.counter.name,
                "counted_exactly": moment.counter.exact,
            },
        )

    async def _question(self) -> Vector | None:
        """The vector of the person's last message."""
        said = [message.text for message in self.moment.chat if message.is_user]
        vectors = self.system.vectors
        if not said or vectors is None or not self.candidates:
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
        known = [self.known.memories[place].created_at or 0 for place in self.candidates]
        return times[-1] if times else max(known, default=0) or self.moment.clock_ms

    def _at(self, match: Match) -> int:
        return self.places[match.memory.id]

    def _injection(self, match: Match, tokens: int, where: tuple[int, int, int]) -> Injection:
        memory = match.memory
        label = "pinned" if match.pinned else f"similarity {match.score:.2f}"
        position, depth, role = where
        return Injection(
            self._at(match), _short(memory.content), label, tokens, 0, position, depth, role, TAG, memory.id
        )


class _Book:
    """Collects a stage's verdicts."""

    def __init__(self, name: str, phase: Phase, run: _Run) -> None:
        self._name, self._phase, self._run = name, phase, run
        self._entered = run.candidate_ids()
        self._verdicts: list[Verdict] = []

    def note(self, place: int, outcome: Outcome, reason: str, details: Mapping[str, Json]) -> None:
        """Say something of a memory."""
        self._verdicts.append(Verdict(place, outcome, reason, details))

    def drop(self, place: int, reason: str, details: Mapping[str, Json]) -> None:
        """The memory is no candidate any more."""
        self._run.candidates.remove(place)
        self.note(place, Outcome.REMOVED, reason, details)

    def close(
        self, note: str = "", status: StageStatus = StageStatus.RAN, details: Mapping[str, Json] | None = None,
        error: str = "",
    ) -> StageRecord:  # fmt: skip
        """The stage's record."""
        return StageRecord(
            self._name, self._phase, status, self._entered, self._run.candidate_ids(), tuple(self._verdicts), note,
            details=details or {}, error=error,
        )  # fmt: skip


def _ref(place: int, memory: Memory, counter: TokenCounter) -> EntryRef:
    return EntryRef(place, _short(memory.content), SOURCE, memory.id, 0, counter.count(memory.content))


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _TITLE else f"{line[: _TITLE - 1]}…"
