"""Hybrid retrieval as a system: one generation as stages with verdicts.

What is decided is decided by `retrieval`; the stages here tell it entry by entry.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Final

from lorestudio.domain.entry import Entry, Position, Role
from lorestudio.domain.javascript import Json
from lorestudio.domain.records import replace
from lorestudio.llm.embedding import Vector
from lorestudio.settings.hybrid import HybridSettings
from lorestudio.systems.base import Decided, Moment, Scene, State, SystemKind, inputs_digest
from lorestudio.systems.hybrid import NAME, SUMMARY, TITLE
from lorestudio.systems.hybrid.retrieval import (
    FirstStep,
    Options,
    PreparedRanking,
    Retrieved,
    Texts,
    Way,
    WorldEntry,
    context_text,
    embedded_text,
    finish,
    keyed_book,
    look_through,
    prepare,
    texts_of,
    with_vector,
    worldbook,
)
from lorestudio.systems.hybrid.words import VOCABULARY
from lorestudio.systems.known import Known
from lorestudio.systems.ledger import Ledger
from lorestudio.systems.runner import RunStep
from lorestudio.systems.vectors import KnownVectors, TextVectors, VectorRun, VectorSystem, embedder_named
from lorestudio.trace.model import Injection, Limit, Phase, PromptBlock, StageRecord, StageStatus, Trace
from lorestudio.trace.wording import plural

_LINE_BREAK: Final = re.compile(r"<br ?/?>")
_PLACES: Final = {
    "before_char": Position.BEFORE,
    "after_char": Position.AFTER,
    "before_input": Position.IN_CHAT,
    "after_input": Position.IN_CHAT,
}


@dataclass(frozen=True, slots=True)
class HybridSystem(VectorSystem):
    """Decides by keys and similarity. Without `vectors` keys alone decide."""

    kind: ClassVar[SystemKind]

    settings: HybridSettings = field(default_factory=HybridSettings)
    vectors: TextVectors | None = None
    shared: Known = field(default_factory=Known, repr=False, compare=False)
    """The vault as a worldbook, and which of its keys stand in each text that was looked at."""

    @property
    def inputs(self) -> str:
        """The digest of the settings, and who makes the vectors."""
        return inputs_digest(self.settings, self.vectors.label if self.vectors is not None else None)

    async def decide(self, moment: Moment, state: State = None) -> Decided:
        """Run one generation; nothing is remembered from one to the next."""
        run = _HybridRun(moment, self.settings, self.vectors, self.shared)
        return Decided(run.told(await run.through(run.steps())), state)

    def entry_text(self, moment: Moment, entry: Entry) -> str:
        """The text of an entry in its frame, with the names filled in."""
        found = next((each for each in worldbook(moment.index, moment.controls) if each.id == str(entry.id)), None)
        return entry.content if found is None else rendered_entry(found, moment.user, moment.character)


class _HybridRun(VectorRun):
    """One generation under way."""

    def __init__(self, moment: Moment, settings: HybridSettings, vectors: TextVectors | None, known: Known) -> None:
        super().__init__(moment, vectors)
        self.settings, self.known = settings, known
        index = moment.index
        self.entries = known.of(index, "entries", lambda: {str(entry.id): entry for entry in index.entries})
        self.options = Options(
            settings.limit,
            settings.semantic_threshold,
            settings.use_semantic_search,
            FirstStep(settings.mode),
            settings.keyword_boost,
            settings.strict,
        )
        self.texts = Texts("", "", ())
        self.prepared = PreparedRanking((), self.options)
        self.found = Retrieved(Way.EMPTY)

    def steps(self) -> tuple[RunStep, ...]:
        return (
            self.step("snapshot", Phase.LOAD, self._load),
            self.step("constants", Phase.MATCH, self._constants),
            self.step("keyword prefilter", Phase.MATCH, self._keys),
            self.step("semantic rank", Phase.SELECT, self._rank),
            self.step("duplicate titles", Phase.GATE, self._duplicates),
            self.step("insertion order", Phase.BUDGET, self._order),
            self.step("placement", Phase.INJECT, self._place),
        )

    # ---- stages -----------------------------------------------------------------------------------------------------

    async def _load(self, ledger: Ledger) -> StageRecord:
        self.texts = texts_of(self.moment.chat, self.settings.exchanges)
        held = "" if self.moment.held is None else str(self.moment.held.entry)
        index, controls = self.moment.index, self.moment.controls
        of = (controls.blocks, held)
        book = self.known.of(index, ("book", of), lambda: worldbook(index, controls, held))
        for entry in index.entries:
            if entry.guide:
                ledger.refuse(entry, "guide_hidden")
        for each in book:
            if each.enabled is False:
                ledger.refuse(self.entries[each.id], "hy_blocked")
        texts: Mapping[str, str] = {}
        vectors: Mapping[str, Vector] = {}
        if self.vectors is not None and self.options.use_semantic:
            texts = self.known.of(
                index, ("texts", of), lambda: {each.id: embedded_text(each) for each in book if not each.constant}
            )
            wanted = [text for text in texts.values() if text]
            vectors = await self.vectors_of(wanted)
            if self.problem:
                self.asked_for(plural(len(wanted), "the text of # note|the texts of # notes"))
        history, said, options = self.texts.history, self.texts.user_input, self.options
        context = context_text(history, said)
        keyed = self.known.of(index, ("keyed", of, options.mode, options.strict), lambda: keyed_book(book, options))
        self.prepared = prepare(
            book,
            history,
            said,
            options,
            has_model=self.vectors is not None,
            held=held,
            looked=self.known.of(
                index,
                ("keys", of, context, options.mode, options.strict),
                lambda: look_through(keyed, context, options),
            ),
            embedded_as=lambda each: with_vector(each, vectors.get(texts.get(each.id, ""))),
        )
        return ledger.close(())

    def _constants(self, ledger: Ledger) -> StageRecord:
        for each in self.prepared.constants:
            self.take(ledger, self.entries[each.id], "constant")
        return ledger.close(self.candidates)

    def _keys(self, ledger: Ledger) -> StageRecord:
        semantic = self.options.mode is FirstStep.SEMANTIC
        for key, problem in self.prepared.remarks.items():
            ledger.refuse(self.entries[key], "hy_pattern", problem=problem)
        for each in self.prepared.candidates:
            entry, hit = self.entries[each.id], self.prepared.hits.get(each.id)
            if hit is None and not semantic:
                continue  # held in without a key: it comes behind this stage
            details: dict[str, Json] = {} if hit is None else {"key": hit}
            if hit is not None and (message := self.message_with(hit, reversed(self.texts.messages))) is not None:
                details["message"] = message
            self.take(ledger, entry, "hy_eligible" if semantic else "hy_key", **details)
        looked_at: dict[str, Json] = {"messages": len(self.texts.messages)}
        return ledger.close(self.candidates, default_reason="hy_no_key", details=looked_at)

    async def _rank(self, ledger: Ledger) -> StageRecord:
        self.found = finish(self.prepared, None)  # what holds should asking end in a way that nobody foresaw
        if self.prepared.asks:
            self.found = finish(self.prepared, await self.query(self.prepared.query_text))
        if self.found.way not in {Way.HYBRID, Way.SEMANTIC_FIRST}:
            return self._by_keys(ledger)
        order = sorted(self.found.scores, key=lambda key: -self.found.scores[key])
        ranks = {key: rank for rank, key in enumerate(order, 1)}
        taken = {each.id for each in self.found.ranked}
        for each in self.prepared.candidates:
            entry, score = self.entries[each.id], self.found.scores.get(each.id)
            if score is None:
                self._without_vector(ledger, each)
                continue
            shown = round(score, 4)
            threshold = self.options.threshold
            if each.id in taken:
                boosted = self.options.mode is FirstStep.SEMANTIC and each.id in self.prepared.hits
                boost: dict[str, Json] = {"boost": self.options.keyword_boost} if boosted else {}
                ledger.keep(entry, "hy_ranked", score=shown, threshold=threshold, rank=ranks[each.id], **boost)
            elif score >= threshold:
                self.drop(ledger, entry, "hy_beyond", score=shown, rank=ranks[each.id], limit=self.settings.limit)
            else:
                self.drop(ledger, entry, "hy_below", score=shown, threshold=threshold)
        return ledger.close(self.candidates)

    def _without_vector(self, ledger: Ledger, each: WorldEntry) -> None:
        entry = self.entries[each.id]
        if each.id in self.prepared.keyed:
            ledger.keep(entry, "hy_unembedded")
        else:
            self.drop(ledger, entry, "hy_unembedded_no_key")

    def _by_keys(self, ledger: Ledger) -> StageRecord:
        """Nothing is ranked: every candidate with a key stays."""
        for each in self.prepared.candidates:
            if each.id not in self.prepared.keyed:
                self.drop(ledger, self.entries[each.id], "hy_unembedded_no_key")
        details: dict[str, Json] = {"problem": self.problem} if self.problem else {}
        failed = self.found.way is Way.FAILED_QUERY
        unchanged = StageStatus.RAN if ledger.decided else StageStatus.SKIPPED
        status, error = (StageStatus.FAILED, self.problem) if failed else (unchanged, "")
        return ledger.close(self.candidates, self._why(), "", details, status, error)

    def _why(self) -> str:
        if not self.options.use_semantic:
            return "hy_off"
        if self.vectors is None:
            return "hy_no_vectors"
        ways = {Way.FAILED_QUERY: "hy_query_failed", Way.UNUSABLE_VECTORS: "hy_unusable"}
        return ways.get(self.found.way, "hy_query_failed" if self.problem else "hy_nothing_to_rank")

    def _duplicates(self, ledger: Ledger) -> StageRecord:
        for dropped, other in self.found.duplicates.items():
            entry = self.entries[dropped]
            if entry in self.candidates:
                self.drop(ledger, entry, "hy_duplicate", other=self.entries[other].filename)
        return ledger.close(self.candidates)

    def _order(self, ledger: Ledger) -> StageRecord:
        self.candidates[:] = [self.entries[each.id] for each in self.found.entries]
        for rank, entry in enumerate(self.candidates, 1):
            ledger.keep(entry, "hy_order", priority=entry.priority, rank=rank, of=len(self.candidates))
        return ledger.close(self.candidates)

    def _place(self, ledger: Ledger) -> StageRecord:
        blocks: list[PromptBlock] = []
        injections: list[Injection] = []
        for group, entries in self.found.positions.items():
            if not entries:
                continue
            position, role = int(_PLACES[group]), int(Role.SYSTEM)
            pieces: list[tuple[str, int | None]] = []
            for each in entries:
                entry = self.entries[each.id]
                pieces.append((rendered_entry(each, self.moment.user, self.moment.character), entry.id))
                ledger.keep(entry, "hy_placed", position=position, depth=0, role=role)
                injections.append(
                    Injection(
                        entry.id, entry.title, self._label(each), entry.tokens, entry.priority,
                        position, 0, role, group, entry.content_hash,
                    )
                )  # fmt: skip
            blocks.append(PromptBlock.of((group, position, 0, role), pieces, "\n\n"))
        self.injections, self.blocks = tuple(injections), tuple(blocks)
        return ledger.close(self.candidates, note="" if blocks else "no_prompt")

    # ---- the trace --------------------------------------------------------------------------------------------------

    def told(self, records: tuple[StageRecord, ...]) -> Trace:
        tokens = sum(injection.tokens for injection in self.injections)
        limits = (
            Limit("tokens", tokens, None, "tokens"),
            Limit("semantic top-K", len(self.found.ranked), self.settings.limit, "entries"),
        )
        trace = self.trace(NAME, str(self.found.way), records)
        return replace(
            trace,
            limits=limits,
            ai_calls=tuple(self.calls),
            words=VOCABULARY,
            warnings=(f"No vectors: {self.problem}.",) if self.problem else (),
            facts={**trace.facts, "vectors": self.maker, "threshold": self.options.threshold},
        )

    def _label(self, each: WorldEntry) -> str:
        hit, score = self.prepared.hits.get(each.id), self.found.scores.get(each.id)
        if each.constant:
            return "(constant)"
        parts = ([hit] if hit is not None else []) + ([f"similarity {score:.2f}"] if score is not None else [])
        return ", ".join(parts)


def rendered_entry(entry: WorldEntry, user: str, character: str) -> str:
    """An entry as it stands in the prompt (rules: hybrid-retrieval 7)."""
    content = _LINE_BREAK.sub("\n", entry.content)
    for macro, name in (("{{user}}", user), ("{user}", user), ("{{char}}", character), ("{char}", character)):
        content = content.replace(macro, name)
    tag = entry.comment or "world_info"
    return f'<world_information tag="{tag}">\n{content}\n</world_information>'


def _made(settings: HybridSettings, _scene: Scene) -> HybridSystem:
    embedder = embedder_named(settings.embedder)
    return HybridSystem(settings, KnownVectors(embedder) if embedder is not None else None)


KIND: Final = SystemKind(
    NAME,
    TITLE,
    SUMMARY,
    HybridSettings,
    _made,
    VOCABULARY,
    filters=frozenset({"hy_blocked"}),
    heeds=frozenset({"blocks", "character"}),
    no_budget="Hybrid retrieval has no token budget: it takes as many entries as “Semantic top-K” says, however long "
    "they are.",
)
HybridSystem.kind = KIND
