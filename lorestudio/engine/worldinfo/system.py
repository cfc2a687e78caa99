"""World Info as a retrieval system: one generation as stages with verdicts.

What is decided is decided by `scan`; each of its loops becomes stages here: keys, inclusion groups, and probability
with the budget.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from lorestudio.domain.chat import Message
from lorestudio.domain.entry import Entry, Position, Role, VaultIndex
from lorestudio.domain.javascript import Json, round_half_up
from lorestudio.engine.randomness import Mulberry32
from lorestudio.engine.stage import Ledger
from lorestudio.engine.systems import Decided, Moment, Step, entry_refs, run_steps
from lorestudio.engine.worldinfo.book import BookEntry, Place
from lorestudio.engine.worldinfo.mapping import as_book_entry
from lorestudio.engine.worldinfo.scan import Loop, Part, Scan, Scanned, Scanner, Source
from lorestudio.engine.worldinfo.timed import TimedState, after, at
from lorestudio.settings.worldinfo import WorldInfoSettings
from lorestudio.trace.model import (
    Injection,
    Limit,
    Phase,
    PromptBlock,
    PromptPart,
    RunOutcome,
    StageRecord,
    Trace,
)

NAME: Final = "world-info"

_PHASES: Final = {Part.KEYS: Phase.MATCH, Part.GROUPS: Phase.GATE, Part.BUDGET: Phase.BUDGET}
_SLOTS: Final = {
    Place.NOTE_TOP: "above the author's note",
    Place.NOTE_BOTTOM: "below the author's note",
    Place.EXAMPLES_TOP: "before the example dialogue",
    Place.EXAMPLES_BOTTOM: "after the example dialogue",
    Place.OUTLET: "in an outlet",
}
_RULES: Final = {
    "AND_ANY": "at least one of them",
    "NOT_ALL": "not all of them",
    "NOT_ANY": "none of them",
    "AND_ALL": "all of them",
}


@dataclass(frozen=True, slots=True)
class WorldInfoState:
    """What goes on from one generation to the next."""

    timed: TimedState = field(default_factory=TimedState)
    random_state: int = 0


@dataclass(frozen=True, slots=True)
class WorldInfoSystem:
    """Decides as SillyTavern's own World Info does, over the vault, or over a lorebook where `book` is given."""

    settings: WorldInfoSettings = field(default_factory=WorldInfoSettings)
    book: tuple[BookEntry, ...] | None = None

    @property
    def name(self) -> str:
        """The name in traces."""
        return NAME

    @property
    def title(self) -> str:
        """What people call it."""
        return "World Info"

    async def decide(self, moment: Moment, state: object = None) -> Decided:
        """Run one generation from the timed effects that the one before left."""
        known = state if isinstance(state, WorldInfoState) else WorldInfoState(random_state=moment.seed)
        run = _Run(moment, self.settings, known, self.book)
        records = await run_steps(run.steps(), run.candidate_ids, moment.timer)
        return Decided(run.trace(records), run.after)


class _Run:
    """One generation under way."""

    def __init__(
        self,
        moment: Moment,
        settings: WorldInfoSettings,
        state: WorldInfoState,
        book: tuple[BookEntry, ...] | None,
    ) -> None:
        self.moment, self.settings = moment, settings
        self.index = moment.index if book is None else index_of(book)
        self.entries = {str(entry.id): entry for entry in self.index.entries}
        listed = book if book is not None else tuple(_of_vault(moment))
        numbered = tuple(replace(entry, uid=str(place)) for place, entry in enumerate(listed)) if book else listed
        self.book = sorted(numbered, key=lambda entry: -entry.order)
        self.by_uid = {entry.uid: entry for entry in self.book}
        random = Mulberry32(state.random_state)
        timed = at(moment.turn.message, self.book, state.timed)
        self.scanned = Scanner(
            self.book, self._source(), settings, timed, moment.counter, random.next, self._budget()
        ).run()
        self.after = WorldInfoState(after(moment.turn.message, self.scanned.active, timed.state), random.state)
        self.candidates: list[Entry] = []
        self.injections: tuple[Injection, ...] = ()
        self.blocks: tuple[PromptBlock, ...] = ()

    def candidate_ids(self) -> tuple[int, ...]:
        """The candidates now."""
        return tuple(entry.id for entry in self.candidates)

    def steps(self) -> tuple[Step, ...]:
        """The stages: those of each loop of the scan, and the placement."""
        steps = [self._step("book", Phase.LOAD, None, Part.KEYS)]
        counts = dict.fromkeys(Scan, 0)
        for loop in self.scanned.loops:
            counts[loop.scan] += 1
            suffix = "" if loop.scan is Scan.FIRST else f" ({loop.scan} {counts[loop.scan]})"
            steps += [
                self._step(f"{part}{suffix}", _PHASES[part], loop, part)
                for part in Part
                if loop.scan is Scan.FIRST or any(event.part is part for event in loop.events)
            ]
        return (*steps, Step("placement", Phase.INJECT, self._place))

    def _step(self, name: str, phase: Phase, loop: Loop | None, part: Part) -> Step:
        async def work() -> StageRecord:
            ledger = Ledger(_Named(name, phase), self.candidates)
            return self._load(ledger) if loop is None else self._tell(ledger, loop, part)

        return Step(name, phase, work)

    # ---- stages -----------------------------------------------------------------------------------------------------

    def _load(self, ledger: Ledger) -> StageRecord:
        for entry in self.index.entries:
            if entry.guide:
                ledger.refuse(entry, "guide_hidden")
        return ledger.close(())

    def _tell(self, ledger: Ledger, loop: Loop, part: Part) -> StageRecord:
        for event in loop.events:
            if event.part is not part:
                continue
            entry = self.entries[event.uid]
            details = self._details(event.details)
            if part is Part.KEYS and event.taken:
                self.candidates.append(entry)
                ledger.add(entry, event.reason, **details)
            elif part is Part.KEYS:
                ledger.refuse(entry, event.reason, **details)
            elif event.taken:
                ledger.keep(entry, event.reason, **details)
            else:
                self.candidates.remove(entry)
                ledger.remove(entry, event.reason, **details)
        looked_at: dict[str, Json] = {"messages": min(self.settings.depth, len(self.moment.chat))}
        first = part is Part.KEYS and loop.scan is Scan.FIRST
        return ledger.close(
            self.candidates, default_reason="wi_no_key" if first else "", details=looked_at if first else {}
        )

    async def _place(self) -> StageRecord:
        ledger = Ledger(_Named("placement", Phase.INJECT), self.candidates)
        groups: dict[tuple[Place, int, int], list[BookEntry]] = {}
        for entry in sorted(self.scanned.active, key=lambda each: each.order):
            at_depth = entry.place is Place.AT_DEPTH
            slot = (entry.place, entry.depth if at_depth else 0, entry.role if at_depth else int(Role.SYSTEM))
            groups.setdefault(slot, []).append(entry)
        injections: list[Injection] = []
        blocks: list[PromptBlock] = []
        for (place, depth, role), members in sorted(groups.items()):
            position, tag = _position(place), _tag(place, depth, role)
            parts, text = [], ""
            for member in members:
                note = self.entries[member.uid]
                content = self._substituted(member.content)
                text += "\n" if text else ""
                parts.append(PromptPart(len(text), len(text) + len(content), note.id))
                text += content
                if place in _SLOTS:
                    ledger.keep(note, "wi_other_slot", slot=_SLOTS[place])
                else:
                    ledger.keep(note, "wi_placed", position=position, depth=depth, role=role)
                injections.append(
                    Injection(
                        note.id, note.title, "(constant)" if member.constant else _keys_of(self.scanned, member.uid),
                        self.moment.counter.count(content), note.priority, position, depth, role, tag,
                        note.content_hash,
                    )
                )  # fmt: skip
            blocks.append(PromptBlock(tag, position, depth, role, text, tuple(parts)))
        self.injections, self.blocks = tuple(injections), tuple(blocks)
        self.candidates = [self.entries[injection_uid(injection)] for injection in injections]
        return ledger.close(self.candidates, note="" if blocks else "no_prompt")

    # ---- the trace --------------------------------------------------------------------------------------------------

    def trace(self, records: tuple[StageRecord, ...]) -> Trace:
        """Everything that was decided."""
        moment, scanned = self.moment, self.scanned
        warnings: tuple[str, ...] = ()
        if scanned.overflowed:
            warnings = (f"The budget of {scanned.budget} tokens was full, so the scan ended early.",)
        return Trace(
            system=NAME,
            mode="recursive" if self.settings.recursive else "one scan",
            outcome=RunOutcome.INJECTED if self.blocks else RunOutcome.NOTHING_INJECTED,
            turn=moment.turn,
            entries=entry_refs(self.index.entries, records),
            index_size=len(self.index.entries),
            stages=records,
            injections=self.injections,
            prompt=self.blocks,
            limits=(Limit("token budget", scanned.used, scanned.budget, "tokens"),),
            seed=moment.seed,
            draws=scanned.draws,
            digests=moment.digests,
            clock_ms=moment.clock_ms,
            warnings=warnings,
            facts={"counter": moment.counter.name, "counted_exactly": moment.counter.exact},
        )

    def _source(self) -> Source:
        names = self.settings.include_names
        texts = tuple(_searched(message, names=names) for message in reversed(self.moment.chat))
        return Source(texts, self.moment.character)

    def _budget(self) -> int:
        settings = self.settings
        context = self.moment.context_size or settings.context
        budget = round_half_up(settings.budget * context / 100) or 1
        return min(budget, settings.budget_cap) if settings.budget_cap > 0 else budget

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
            known["rule"] = _RULES[logic]
        return known

    def _substituted(self, text: str) -> str:
        return text.replace("{{user}}", self.moment.user).replace("{{char}}", self.moment.character)


@dataclass(frozen=True, slots=True)
class _Named:
    name: str
    phase: Phase


def injection_uid(injection: Injection) -> str:
    """The uid of the entry that went in."""
    return str(injection.entry)


def index_of(book: Sequence[BookEntry]) -> VaultIndex:
    """A lorebook as an index, so that a trace can name its entries."""
    entries = tuple(
        Entry(
            place,
            f"uid {entry.uid}",
            "lorebook",
            entry.comment or ", ".join(entry.keys) or f"entry {entry.uid}",
            entry.content,
            entry.keys,
            entry.secondary,
            priority=entry.order,
            constant=entry.constant,
            content_hash=entry.digest,
        )
        for place, entry in enumerate(book)
    )
    return VaultIndex(entries, vaults=("lorebook",))


def _of_vault(moment: Moment) -> list[BookEntry]:
    return [
        as_book_entry(entry, disabled=any(rule.matches(entry) for rule in moment.controls.blocks))
        for entry in moment.index.entries
        if not entry.guide
    ]


def _searched(message: Message, *, names: bool) -> str:
    return f"{message.name}: {message.text}" if names and message.name is not None else message.text


def _position(place: Place) -> int:
    if place is Place.AT_DEPTH:
        return int(Position.IN_CHAT)
    return int(Position.BEFORE if place is Place.BEFORE else Position.AFTER)


def _tag(place: Place, depth: int, role: int) -> str:
    return f"customDepthWI-{depth}-{role}" if place is Place.AT_DEPTH else f"worldInfo_{place.name.lower()}"


def _keys_of(scanned: Scanned, uid: str) -> str:
    for loop in scanned.loops:
        for event in loop.events:
            if event.uid == uid and event.part is Part.KEYS and event.taken:
                return str(event.details.get("key", ""))
    return ""
