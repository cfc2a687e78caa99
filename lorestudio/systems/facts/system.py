"""Fact memory as a system that a chat is replayed with: which memories each reply would have been given.

What the store holds when the system is made is what all turns see; memories of this chat count from the message on
that they lie behind. No model is asked but for vectors of what the person says; nothing is written.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import field as data_field
from typing import ClassVar, Final, NamedTuple

import numpy as np
from msgspec import Struct, field

from lorestudio.domain.entry import Position, Role
from lorestudio.domain.javascript import Json
from lorestudio.domain.records import replace
from lorestudio.domain.texts import shorten, text_digest
from lorestudio.domain.tokens import TokenCounter
from lorestudio.settings.facts import FactsSettings
from lorestudio.systems.base import Decided, Moment, Scene, State, SystemKind, inputs_digest
from lorestudio.systems.facts import NAME, SOURCE, SUMMARY, TITLE
from lorestudio.systems.facts.options import layout_of, search_of, store_path
from lorestudio.systems.facts.records import Memory, MemoryMatch, Profile
from lorestudio.systems.facts.retrieval import MemoryLayout, MemorySearch, RetrievedMemories, chosen, context_pieces
from lorestudio.systems.facts.session import FactsSession
from lorestudio.systems.facts.similarity import VectorTable, comparable
from lorestudio.systems.facts.threads import chat_name, message_times, moved_origin, owner_of
from lorestudio.systems.facts.words import VOCABULARY
from lorestudio.systems.ledger import Ledger
from lorestudio.systems.runner import RunStep
from lorestudio.systems.vectors import KnownVectors, MadeVectors, VectorRun, VectorSystem
from lorestudio.trace.model import EntryRef, Injection, Limit, Phase, PromptBlock, StageRecord, StageStatus, Trace

_TITLE: Final = 60


class KnownMemories(Struct, frozen=True):
    """The memories that a replay sees, with their vectors; `chat` is the name of the chat that is replayed."""

    chat: str = ""
    memories: tuple[Memory, ...] = ()
    profile: Profile | None = None
    table: VectorTable = field(default_factory=lambda: VectorTable(()))
    usable: tuple[bool, ...] = ()
    digest: str = ""

    @classmethod
    def of(cls, chat: str, memories: Sequence[Memory], profile: Profile | None, model: str) -> KnownMemories:
        """Those memories; vectors of another model are no vectors."""
        usable = tuple(memory.embedding is not None and comparable(memory, model) for memory in memories)
        vectors = [memory.embedding if use else None for memory, use in zip(memories, usable, strict=True)]
        told = repr((profile, [(each.id, each.content, each.pinned, each.tags) for each in memories]))
        digest = text_digest(told)
        return cls(chat, tuple(memories), profile, VectorTable(vectors), usable, digest)

    @property
    def inputs(self) -> str:
        """The digest, with everything else of the memories that a search weighs."""
        told = repr((self.chat, self.digest, self.usable, self.memories))
        return text_digest(told)


def entry_ref(place: int, memory: Memory, counter: TokenCounter) -> EntryRef:
    """Who the memory is in a trace."""
    return EntryRef(place, short(memory.content), SOURCE, memory.id, 0, counter.count(memory.content))


def short(text: str) -> str:
    """The beginning of a text on one line."""
    return shorten(text, _TITLE)


TAG: Final = "fact_memory"

_WIDER: Final = 5
_TOLD: Final = 200
"""The trace speaks of so many of the nearest memories one by one; the rest has one reason in common."""


@dataclass(frozen=True, slots=True)
class FactsSystem(VectorSystem):
    """Fact memory of one chat, with its settings."""

    settings: FactsSettings = data_field(default_factory=FactsSettings)
    known: KnownMemories = data_field(default_factory=KnownMemories, repr=False)
    vectors: KnownVectors | MadeVectors | None = None
    layout: MemoryLayout = data_field(default_factory=MemoryLayout)
    search: MemorySearch = data_field(default_factory=MemorySearch)
    kind: ClassVar[SystemKind]

    @classmethod
    def of(cls, settings: FactsSettings, scene: Scene) -> FactsSystem:
        """That of the scene's chat, with what is stored now. Raises InputError."""
        search, layout = search_of(settings), layout_of(settings)
        with FactsSession(settings, in_memory=not store_path(settings).exists()) as session:
            if scene.chat is None or session.embedder is None:
                return cls(settings)
            owner = owner_of(settings, scene.chat, scene.chat_path)
            name = chat_name(scene.chat, scene.chat_path)
            moved = session.moved(scene.chat, scene.chat_path)
            memories = [replace(each, origin=moved_origin(each.origin, moved)) for each in session.memories(owner)]
            known = KnownMemories.of(name, memories, session.profile(owner), session.embedder.model_id)
            return cls(settings, known, KnownVectors(session.embedder), layout, search)

    @property
    def inputs(self) -> str:
        """The digest of the settings, the memories at hand, and who makes the vectors."""
        return inputs_digest(self.settings, self.known.inputs, self.vectors.label if self.vectors is not None else None)

    def not_in_scenario(self) -> str:
        """Memories lie in a file of their own."""
        return "what fact memory remembers is in a file of its own, which a scenario has no room for."

    async def decide(self, moment: Moment, state: State = None) -> Decided:
        """Run one generation; every turn stands for itself."""
        run = _FactsRun(moment, self)
        return Decided(run.told(await run.through(run.steps())), state)


class MemoryPlace(NamedTuple):
    """A memory among the candidates, by its place in `KnownMemories.memories`."""

    id: int


class _FactsRun(VectorRun):
    """One generation under way. The candidates are memories, by their place in `known`."""

    def __init__(self, moment: Moment, system: FactsSystem) -> None:
        super().__init__(moment, system.vectors)
        self.system = system
        self.known, self.search = system.known, system.search
        self.places = {memory.id: place for place, memory in enumerate(self.known.memories)}
        self.at_hand: list[int] = []
        self.found = RetrievedMemories()

    def steps(self) -> tuple[RunStep, ...]:
        return (
            self.step("memories", Phase.LOAD, self._load),
            self.step("similarity", Phase.SELECT, self._similar),
            self.step("outdated memories", Phase.GATE, self._outdated),
            self.step("forgetting and variety", Phase.BUDGET, self._weighed),
            self.step("memory injection", Phase.INJECT, self._place),
        )

    # ---- stages -----------------------------------------------------------------------------------------------------

    def _load(self, book: Ledger) -> StageRecord:
        for place, memory in enumerate(self.known.memories):
            origin = memory.origin
            if origin.chat == self.known.chat and origin.last is not None and origin.last >= self.moment.turn.message:
                book.refuse(MemoryPlace(place), "fm_later", first=origin.first, last=origin.last)
            else:
                self.at_hand.append(place)
        note = "" if self.known.memories else "fm_nothing_kept"
        return book.close(self.candidates, note, details={"memories": len(self.at_hand)})

    async def _similar(self, book: Ledger) -> StageRecord:
        settings, search = self.system.settings, self.search
        pinned = [
            MemoryMatch(self.known.memories[place], 1.0) for place in self.at_hand if self.known.memories[place].pinned
        ]
        said = next((message.text for message in reversed(self.moment.chat) if message.is_user), None)
        vector = None
        if said is not None and self.at_hand and self.vectors is not None:
            vector = await self.query(said)
        wide = settings.limit * (_WIDER if search.diversity_weight > 0 else 1)
        ranked: list[MemoryMatch] = []
        if vector is not None:
            rows = np.array(self.at_hand, dtype=np.int64)
            if search.strict:
                self.known.table.check(vector, rows)
            best = self.known.table.search(vector, max(wide, _TOLD), rows)
            ranked = [MemoryMatch(self.known.memories[each.index], each.similarity) for each in best]
        self.found = chosen(pinned, ranked[:wide], self.known.profile, search, self._now(), settings.limit)
        self._judge(book, pinned, ranked, wide)
        note = ""
        if vector is None:
            note = "fm_none_known" if not self.at_hand else "fm_no_question" if said is None else "fm_no_vector_made"
        status = StageStatus.FAILED if self.problem else StageStatus.RAN
        details: dict[str, Json] = {"problem": self.problem} if self.problem else {}
        return book.close(self.candidates, note, "fm_far", details, status, self.problem)

    def _judge(self, book: Ledger, pinned: Sequence[MemoryMatch], ranked: Sequence[MemoryMatch], wide: int) -> None:
        """Say where the search left the nearest memories, and all pinned ones."""
        below = {self._at(match) for match in self.found.below}
        threshold = self.search.min_score
        for match in pinned:
            self.take(book, MemoryPlace(self._at(match)), "fm_pinned")
        for rank, match in enumerate(ranked, 1):
            place, shown = self._at(match), {"score": round(match.score, 4)}
            if self.known.memories[place].pinned:
                continue
            if rank > wide:
                book.refuse(MemoryPlace(place), "fm_beyond", **shown, rank=rank, limit=wide)
            elif place in below:
                book.refuse(MemoryPlace(place), "fm_below", **shown, threshold=threshold)
            else:
                details = shown | {"rank": rank} | ({"threshold": threshold} if threshold > 0 else {})
                self.take(book, MemoryPlace(place), "fm_found", **details)
        bare = [
            place
            for place in self.at_hand
            if not self.known.usable[place] and MemoryPlace(place) not in self.candidates
        ]
        for place in bare[:_TOLD]:
            book.refuse(MemoryPlace(place), "fm_no_vector")

    def _outdated(self, book: Ledger) -> StageRecord:
        for match in self.found.outdated:
            self.drop(book, MemoryPlace(self._at(match)), "fm_outdated")
        profile = self.known.profile is not None
        status = StageStatus.RAN if profile else StageStatus.SKIPPED
        return book.close(self.candidates, "" if profile else "fm_no_profile", status=status)

    def _weighed(self, book: Ledger) -> StageRecord:
        order = [MemoryPlace(self._at(match)) for match in self.found.matches]
        search = self.search
        if search.half_life is None and search.recency_weight <= 0 and search.diversity_weight <= 0:
            self.candidates[:] = order
            return book.close(order, "fm_unweighed", status=StageStatus.SKIPPED)
        scores = {self._at(match): match.score for match in self.found.matches}
        for place in list(self.candidates):
            if place.id not in scores:
                self.drop(book, place, "fm_alike")
        self.candidates[:] = order
        for rank, place in enumerate(order, 1):
            book.keep(place, "fm_weighed", score=round(scores[place.id], 4), rank=rank)
        return book.close(self.candidates)

    def _place(self, book: Ledger) -> StageRecord:
        settings, counter = self.system.settings, self.moment.counter
        position, role = int(Position(settings.position)), int(Role(settings.role))
        depth = settings.depth if position == Position.IN_CHAT else 0
        written = context_pieces(self.found.matches, self.known.profile, self.system.layout)
        pieces = [(piece.text, None if piece.match is None else self._at(piece.match)) for piece in written]
        block = PromptBlock.of((TAG, position, depth, role), pieces)
        if not block.text:
            return book.close(self.candidates, "no_prompt")
        self.blocks, lines = (block,), {place: text for text, place in pieces}
        self.injections = tuple(
            self._injection(match, counter.count(lines[self._at(match)]), (position, depth, role))
            for match in self.found.matches
        )
        for chosen_one in self.candidates:
            book.keep(chosen_one, "fm_placed", position=position, depth=depth, role=role)
        return book.close(self.candidates)

    # ---- the trace --------------------------------------------------------------------------------------------------

    def told(self, records: tuple[StageRecord, ...]) -> Trace:
        moment, settings = self.moment, self.system.settings
        named = {verdict.entry for record in records for verdict in record.verdicts}
        tokens = sum(injection.tokens for injection in self.injections)
        taken = sum(not match.memory.pinned for match in self.found.matches)
        trace = self.trace(NAME, "strict" if settings.strict else "safe", records)
        return replace(
            trace,
            entries={place: entry_ref(place, self.known.memories[place], moment.counter) for place in sorted(named)},
            index_size=len(self.known.memories),
            limits=(Limit("tokens", tokens, None, "tokens"), Limit("memories", taken, settings.limit, "entries")),
            ai_calls=tuple(self.calls),
            digests={**moment.digests, "memories": self.known.digest},
            warnings=(f"No vector: {self.problem}.",) if self.problem else (),
            facts={**trace.facts, "vectors": self.maker, "threshold": self.search.min_score},
            words=VOCABULARY,
        )

    def _now(self) -> int:
        """The moment of the turn: when the last message was sent, else the newest memory, else the run's clock."""
        times = message_times(self.moment.chat[-1:])
        known = [self.known.memories[place].created_at or 0 for place in self.at_hand]
        return times[-1] if times else max(known, default=0) or self.moment.clock_ms

    def _at(self, match: MemoryMatch) -> int:
        return self.places[match.memory.id]

    def _injection(self, match: MemoryMatch, tokens: int, where: tuple[int, int, int]) -> Injection:
        memory = match.memory
        label = "pinned" if match.memory.pinned else f"similarity {match.score:.2f}"
        position, depth, role = where
        return Injection(
            self._at(match), short(memory.content), label, tokens, 0, position, depth, role, TAG, memory.id
        )


KIND: Final = SystemKind(
    NAME,
    TITLE,
    SUMMARY,
    FactsSettings,
    FactsSystem.of,
    VOCABULARY,
    remembers=True,
    no_budget="Fact memory has no token budget: it takes as many memories as its limit says, however long they are.",
    not_held="Fact memory chooses among memories by likeness alone; there is no stage behind it that could stop one.",
    knows="Memories",
)
FactsSystem.kind = KIND
