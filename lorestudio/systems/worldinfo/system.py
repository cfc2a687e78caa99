"""World Info as a retrieval system: one generation as stages with verdicts.

What is decided is decided by `scan`; each of its loops becomes stages here: keys, inclusion groups, and probability
with the budget.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import ClassVar, Final

from lorestudio.domain.chat import Message
from lorestudio.domain.entry import OFF, Entry, VaultIndex
from lorestudio.domain.javascript import Json
from lorestudio.domain.records import replace
from lorestudio.domain.state import has_rule
from lorestudio.exchange.chats.recorded import RecordedEntry
from lorestudio.exchange.lorebooks.entry import BookEntry
from lorestudio.exchange.lorebooks.reading import Lorebook
from lorestudio.settings.worldinfo import WorldInfoSettings
from lorestudio.systems.base import Decided, Moment, RunInputs, State, System, SystemKind, inputs_digest
from lorestudio.systems.differences import InputDifference
from lorestudio.systems.ideas import Option, Situation
from lorestudio.systems.known import Known
from lorestudio.systems.ledger import Ledger
from lorestudio.systems.runner import Run, RunStep
from lorestudio.systems.vectors import TextVectors, VectorSystem, vector_call
from lorestudio.systems.worldinfo import NAME
from lorestudio.systems.worldinfo.decision import CARD_TEXTS, Decision, Surroundings, WorldInfoState, decided, world_of
from lorestudio.systems.worldinfo.haystack import Scan
from lorestudio.systems.worldinfo.ideas import note_options, tried_by_any
from lorestudio.systems.worldinfo.scan import Loop, LoopPart, Scanned, at
from lorestudio.systems.worldinfo.words import RULES, VOCABULARY
from lorestudio.trace.model import (
    AiCall,
    Injection,
    Limit,
    Phase,
    PromptBlock,
    PromptPart,
    StageRecord,
    StageStatus,
    Trace,
)
from lorestudio.trace.wording import first_few

_PHASES: Final = {
    LoopPart.KEYS: Phase.MATCH, LoopPart.GROUPS: Phase.GATE, LoopPart.DRAW: Phase.GATE, LoopPart.BUDGET: Phase.BUDGET,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class WorldInfoSystem(VectorSystem):
    """Decides as SillyTavern's own World Info does, over the vault, or over lorebooks where `books` is given.

    Without `vectors` nothing comes in by similarity.
    """

    kind: ClassVar[SystemKind]

    settings: WorldInfoSettings = field(default_factory=WorldInfoSettings)
    books: tuple[Lorebook, ...] | None = field(default=None, repr=False)
    around: Surroundings = field(default_factory=Surroundings, repr=False)
    vectors: TextVectors | None = None
    remarks: tuple[str, ...] = ()
    """Sentences for the person about books that are not scanned, or not as their author may expect."""
    shared: Known = field(default_factory=Known, repr=False, compare=False)
    """The entries in the order of the budget, with what finds all their keys in one pass over a text."""
    swipes_go_on: ClassVar[bool] = True  # each draws lots of its own, as the host's random numbers go on

    @property
    def inputs(self) -> str:
        """The digest of the settings, the lorebooks, what is around the chat, and who makes the vectors."""
        books = (
            self.books
            if self.books is None
            else [
                (book.name, book.role, [(one.name, one.digest or one) for one in book.entries], *sorted(book.owners))
                for book in self.books
            ]
        )
        maker = self.vectors.label if self.vectors is not None else None
        return inputs_digest(self.settings, books, self.around.told, maker)

    def with_chat_of(self, other: System) -> System:
        """The same with who wrote which message as the other knows it."""
        return _with_writers(self, other)

    def with_knowledge_of(self, other: System) -> System:
        """The other's lorebooks, card, persona and author's note, with who wrote which message as here."""
        return _with_writers(other, self)

    def differences(self, before: RunInputs, after: RunInputs) -> Iterator[InputDifference]:
        """As of any system; timed effects that an earlier swipe began count for nothing, as the chat did not go on."""
        return System.differences(self, _advanced(before), _advanced(after))

    def saying(self, messages: Sequence[Message]) -> WorldInfoSystem:
        """The same where these are the messages that the note's interval counts and that macros name."""
        return replace(self, around=replace(self.around, messages=tuple(messages)))

    def scenario_fields(self) -> Mapping[str, Json]:
        """The lorebooks, and what is told of card and persona."""
        around = self.around
        found: dict[str, Json] = {
            "user": around.macros.get("user", ""),
            "persona": around.filled.get("persona", ""),
            "avatar": sorted(around.characters),
            "reply_tokens": around.reply_tokens,
            "tags": None if around.tags is None else sorted(around.tags),
            "card": _card_texts(around) or None,
            "cast": {
                name: {
                    "avatar": "".join(f"{each}.png" for each in own.characters),
                    "card": {"name": name, **_card_texts(own)},
                    **({"muted": True} if own.muted else {}),
                }
                for name, own in around.cast.items()
            },
            "books": [
                {
                    "name": book.name,
                    "role": str(book.role),
                    **({"owners": sorted(book.owners)} if book.owners else {}),
                    "entries": [
                        raw if entry.unnumbered else {"uid": entry.name, **raw}
                        for entry, raw in zip(book.entries, book.raws, strict=True)
                    ],
                }
                for book in self.books or ()
            ],
        }
        return {name: value for name, value in found.items() if value not in (None, "", [], {}, 0)}

    def scanned(self, moment: Moment) -> VaultIndex:
        """The entries of the lorebooks, or the notes."""
        return world_of(moment, self.settings, self.books, self.shared).index

    def as_recorded(self, entry: Entry, recorded: RecordedEntry) -> Entry:
        """Also switched on, as it went in."""
        fields = {name: value for name, value in entry.system_fields.items() if name != OFF}
        return replace(System.as_recorded(self, entry, recorded), system_fields=fields)

    def options(self, situation: Situation, moment: Moment, state: State) -> tuple[Option, ...]:
        """What the note says that kept it out, and what any system tries."""
        note = situation.note
        in_book = note is not None and note.vault in {book.name for book in self.books or ()}
        found = tried_by_any(situation, in_book=in_book)
        if note is None or situation.keeps_out or not situation.editable:
            return found
        return (*note_options(note, situation.fate, self.scanned(moment).entries, in_book=in_book), *found)

    async def decide(self, moment: Moment, state: State = None) -> Decided:
        """Run one generation from the timed effects that the one before left."""
        known = state if isinstance(state, WorldInfoState) else WorldInfoState(random_state=moment.seed)
        made = await decided(moment, self.settings, self.books, self.around, self.vectors, known, self.shared)
        run = _WorldInfoRun(moment, self, made)
        return Decided(run.told(await run.through(run.steps())), made.after)


def _card_texts(around: Surroundings) -> dict[str, Json]:
    return {name: text for name, macro in CARD_TEXTS.items() if (text := around.filled.get(macro))}


def _advanced(run: RunInputs) -> RunInputs:
    """The run without the timed effects that end because the chat has not gone on since."""
    state, count = run.state, len(run.moment.chat)
    if not isinstance(state, WorldInfoState):
        return run
    return run.begun_from(replace(state, timed=at(count, (), state.timed).state))


def _with_writers(system: System, other: System) -> System:
    if not isinstance(system, WorldInfoSystem) or not isinstance(other, WorldInfoSystem):
        return system
    return replace(system, around=replace(system.around, messages=other.around.messages))


class _WorldInfoRun(Run):
    """One generation told in stages, after it was decided."""

    def __init__(self, moment: Moment, system: WorldInfoSystem, made: Decision) -> None:
        super().__init__(moment)
        self.system, self.settings, self.made = system, system.settings, made
        self.scanned, self.similar, self.entries = made.scanned, made.similar, made.world.entries

    def steps(self) -> tuple[RunStep, ...]:
        """The stages: the books, similarity where it has a say, those of each loop of the scan, and the placement."""
        steps = [self.step("book", Phase.LOAD, self._load)]
        if self.settings.vectors or self.made.world.watch.marked:
            steps.append(self.step("vector activation", Phase.SELECT, self._tell_similar))
        counts = dict.fromkeys(Scan, 0)
        for loop in self.scanned.loops:
            counts[loop.scan] += 1
            suffix = "" if loop.scan is Scan.FIRST else f" ({loop.scan} {counts[loop.scan]})"
            steps += [
                self.step(f"{part}{suffix}", _PHASES[part], partial(self._tell, loop, part))
                for part in LoopPart
                if loop.scan is Scan.FIRST or any(event.part is part for event in loop.events)
            ]
        return (*steps, self.step("placement", Phase.INJECT, self._place))

    # ---- stages -----------------------------------------------------------------------------------------------------

    def _load(self, ledger: Ledger) -> StageRecord:
        world = self.made.world
        if world.books is None:
            for entry in world.index.entries:
                if entry.guide:
                    ledger.refuse(entry, "guide_hidden")
            return ledger.close(())
        books: list[Json] = [
            f"{book.name} ({book.role}, {len(book.entries)})" for book in world.books.used if book not in world.silent
        ]
        details: dict[str, Json] = {"books": books, "remarks": " ".join(self.system.remarks)}
        owners = {book.name: sorted(book.owners) for book in world.silent}
        for entry in world.index.entries if owners or world.stops else ():
            if entry.vault in owners:
                ledger.refuse(entry, "wi_silent", owners=owners[entry.vault], speaker=self.moment.character)
            elif world.stops:
                ledger.refuse(entry, "wi_stopped", books=list(world.stops))
        some = "wi_books" if world.index.entries else "wi_empty_books"
        return ledger.close((), note=some if books else "wi_no_books", details=details)

    def _tell_similar(self, ledger: Ledger) -> StageRecord:
        settings, found = self.settings, self.similar
        ranks = {uid: rank for rank, uid in enumerate(sorted(found.scores, key=lambda uid: -found.scores[uid]), 1)}
        for uid, score in found.scores.items():
            entry, shown = self.entries[uid], round(score, 4)
            details: dict[str, Json] = {"score": shown, "threshold": settings.vector_threshold, "rank": ranks[uid]}
            if uid in found.taken:
                self.take(ledger, entry, "wi_similar", **details)
            elif score >= settings.vector_threshold:
                ledger.refuse(entry, "wi_similar_beyond", limit=settings.vector_entries, **details)
            else:
                ledger.refuse(entry, "wi_unlike", **details)
        if found.problem:
            return ledger.close(
                self.candidates, "wi_vectors_failed", details={"problem": found.problem}, status=StageStatus.FAILED,
                error=found.problem,
            )  # fmt: skip
        if not settings.vectors:
            marked: dict[str, Json] = {"marked": self.made.world.watch.marked}
            return ledger.close(self.candidates, "wi_vectors_off", "", marked, StageStatus.SKIPPED)
        label = self.system.vectors.label if self.system.vectors is not None else ""
        note = "wi_compared" if found.scores else "wi_nothing_compared"
        return ledger.close(self.candidates, note=note, details={"by": label})

    def _tell(self, loop: Loop, part: LoopPart, ledger: Ledger) -> StageRecord:
        for event in loop.events:
            if event.part is not part:
                continue
            entry, reason = self.entries[event.uid], event.reason
            if reason == "wi_keyless" and event.uid in self.similar.scores:
                continue  # that it is not similar enough says more
            if reason == "wi_disabled" and self._is_blocked(entry):
                reason = "wi_blocked"
            details = self._details(event.details)
            there = entry in self.candidates
            if event.taken and there:
                ledger.keep(entry, reason, **details)
            elif event.taken:
                self.take(ledger, entry, reason, **details)
            elif there:
                self.drop(ledger, entry, reason, **details)
            else:
                ledger.refuse(entry, reason, **details)
        looked_at: dict[str, Json] = {"messages": min(self.settings.depth, len(self.moment.chat))}
        first = part is LoopPart.KEYS and loop.scan is Scan.FIRST
        return ledger.close(
            self.candidates, default_reason="wi_no_key" if first else "", details=looked_at if first else {}
        )

    def _is_blocked(self, entry: Entry) -> bool:
        """Whether a block of the chat is all that keeps a note out; entries of lorebooks know none."""
        own = self.made.world.books is not None or entry.system_fields.get(OFF)
        return not own and has_rule(self.moment.controls.blocks, entry)

    def _place(self, ledger: Ledger) -> StageRecord:
        scanned = self.scanned
        active = {entry.uid: entry for entry in scanned.active}
        for entry, reason in self.made.nowhere:
            self.drop(ledger, self.entries[entry.uid], reason)
        injections: list[Injection] = []
        blocks: list[PromptBlock] = []
        for block in self.made.blocks:
            parts, text = [], ""
            for piece in block.pieces:
                note = self.entries.get(piece.uid)
                if note is not None or piece.note:
                    part = PromptPart(len(text), len(text) + len(piece.text), note.id if note is not None else None)
                    parts.append(part)
                text += piece.text
                if note is None:
                    continue
                if block.slot:
                    ledger.keep(note, "wi_other_slot", slot=block.slot)
                else:
                    ledger.keep(note, "wi_placed", position=block.position, depth=block.depth, role=block.role)
                injections.append(
                    Injection(
                        note.id, note.title, _label(active[piece.uid], scanned),
                        self.moment.counter.count(piece.text), note.priority, block.position, block.depth, block.role,
                        block.tag, note.content_hash,
                    )
                )  # fmt: skip
            blocks.append(PromptBlock(block.tag, block.position, block.depth, block.role, text, tuple(parts)))
        self.injections, self.blocks = tuple(injections), tuple(blocks)
        by_id = {entry.id: entry for entry in self.candidates}
        self.candidates[:] = [by_id[injection.entry] for injection in injections]
        return ledger.close(self.candidates, note="" if blocks else "no_prompt")

    # ---- the trace --------------------------------------------------------------------------------------------------

    def told(self, records: tuple[StageRecord, ...]) -> Trace:
        moment, scanned, vectors, world = self.moment, self.scanned, self.system.vectors, self.made.world
        warnings: list[str] = []
        if scanned.overflowed:
            warnings.append(f"The budget of {scanned.budget} tokens was full, so the scan ended early.")
        if self.similar.problem:
            warnings.append(f"No entry came in by similarity: {self.similar.problem}.")
        if self.made.unfilled:
            warnings.append(f"Only SillyTavern can fill in {first_few(self.made.unfilled, 3)}; they stay as they are.")
        facts: dict[str, Json] = {"counter": moment.counter.name, "counted_exactly": moment.counter.exact}
        calls: tuple[AiCall, ...] = ()
        if self.settings.vectors and vectors is not None:
            facts |= {"vectors": vectors.label, "threshold": self.settings.vector_threshold}
            if self.similar.scores or self.similar.problem:
                problem = self.similar.problem
                calls = (vector_call(self.similar.query, vectors.label, problem),)
        return replace(
            self.trace(NAME, "recursive" if self.settings.recursive else "one scan", records, world.index),
            limits=(Limit("token budget", scanned.used, scanned.budget, "tokens"),),
            ai_calls=calls,
            draws=scanned.draws,
            digests={**moment.digests, **({"lorebooks": world.digest} if world.books is not None else {})},
            warnings=tuple(warnings),
            facts=facts,
            words=VOCABULARY,
        )

    def _message(self, back: int) -> int:
        """The message of the chat file that stands so many places before the last one."""
        return self.moment.position(len(self.moment.chat) - 1 - back)

    def _details(self, details: Mapping[str, Json]) -> dict[str, Json]:
        """The details with messages and other entries as a trace names them."""
        known = dict(details)
        back, source, winner = known.pop("back", None), known.pop("source_uid", None), known.pop("winner_uid", None)
        if isinstance(back, int):
            known["message"] = self._message(back)
        found_back = known.pop("found_back", None)
        if isinstance(found_back, list):  # None stands for the text of another entry
            known["found_messages"] = [self._message(one) if isinstance(one, int) else None for one in found_back]
        if isinstance(source, str):
            entry = self.entries[source]
            known |= {"source": entry.title, "source_id": entry.id}
        if isinstance(winner, str):
            known["winner"] = self.entries[winner].title
        logic = known.pop("logic", None)
        if isinstance(logic, str):
            known["rule"] = RULES[logic]
        score = known.get("score")
        if isinstance(score, float):
            known["score"] = round(score, 4)
        return known


def _label(entry: BookEntry, scanned: Scanned) -> str:
    """What brought the entry in, as its injection says it."""
    if entry.constant:
        return "(constant)"
    for loop in scanned.loops:
        for event in loop.events:
            if event.uid == entry.uid and event.part is LoopPart.KEYS and event.taken:
                score = event.details.get("score")
                return f"similarity {score:.2f}" if isinstance(score, float) else str(event.details.get("key", ""))
    return ""
