"""The context window as a retrieval system: one generation as stages with verdicts (spec: context-window 6, 7, 12, 21).

What is decided is decided by `budgeting.fit`; the stages here tell it entry by entry.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Final

from lorestudio.domain.entry import Entry, Position, Role
from lorestudio.domain.javascript import Json
from lorestudio.domain.tokens import TokenCounter
from lorestudio.engine.contextwindow.budgeting import ELEMENTS, LORE, TURNS, Fitted, Sharing, fit
from lorestudio.engine.contextwindow.counting import WordListCounter
from lorestudio.engine.contextwindow.mapping import MappedVault, mapped
from lorestudio.engine.contextwindow.selecting import Choice, Refusal, Selection
from lorestudio.engine.contextwindow.selecting import Phase as Pass
from lorestudio.engine.contextwindow.truncating import Method
from lorestudio.engine.contextwindow.window import ContextWindow
from lorestudio.engine.stage import Ledger
from lorestudio.engine.systems import Decided, Moment, Step, entry_refs, inputs_digest, run_steps
from lorestudio.settings.contextwindow import ContextWindowSettings
from lorestudio.trace.model import (
    Injection,
    Limit,
    Phase,
    PromptBlock,
    PromptPart,
    RunOutcome,
    StageRecord,
    StageStatus,
    Trace,
)

NAME: Final = "context-window"
TAG: Final = "context_window"


@dataclass(frozen=True, slots=True)
class ContextWindowSystem:
    """Decides by the rules of the context window. `counter` None counts as the moment's own counter does."""

    settings: ContextWindowSettings = field(default_factory=ContextWindowSettings)
    counter: TokenCounter | None = None

    @property
    def name(self) -> str:
        """The name in traces."""
        return NAME

    @property
    def title(self) -> str:
        """What people call it."""
        return "Context window"

    @property
    def inputs(self) -> str:
        """The digest of the settings, and of who counts."""
        words = self.counter.words.digest if isinstance(self.counter, WordListCounter) else None
        return inputs_digest(self.settings, self.counter.name if self.counter is not None else None, words)

    async def decide(self, moment: Moment, state: object = None) -> Decided:
        """Run one generation; nothing is remembered from one to the next."""
        run = _Run(moment, self.settings, self.counter or moment.counter)
        records = await run_steps(run.steps(), run.candidate_ids, moment.timer)
        return Decided(run.trace(records), state)


class _Run:
    """One generation under way."""

    def __init__(self, moment: Moment, settings: ContextWindowSettings, counter: TokenCounter) -> None:
        self.moment, self.settings, self.counter = moment, settings, counter
        self.candidates: list[Entry] = []
        self.vault = MappedVault(ContextWindow(), {}, (), frozenset())
        self.fitted = Fitted(self.vault.window, 0)
        self.scanned = range(max(0, len(moment.chat) - settings.scanned_messages), len(moment.chat))
        self.injections: tuple[Injection, ...] = ()
        self.blocks: tuple[PromptBlock, ...] = ()

    def candidate_ids(self) -> tuple[int, ...]:
        """The candidates now."""
        return tuple(entry.id for entry in self.candidates)

    def steps(self) -> tuple[Step, ...]:
        """The stages in order."""
        table: tuple[tuple[str, Phase, Callable[[Ledger], StageRecord]], ...] = (
            ("snapshot", Phase.LOAD, self._load),
            ("text match", Phase.MATCH, self._match),
            ("links", Phase.MATCH, self._links),
            ("dependants", Phase.MATCH, self._dependants),
            ("requirements", Phase.GATE, self._requirements),
            ("locks", Phase.GATE, self._locks),
            ("weight order", Phase.BUDGET, self._order),
            ("lore budget", Phase.BUDGET, self._lore),
            ("lore filling", Phase.BUDGET, self._fill),
            ("context elements", Phase.BUDGET, self._elements),
            ("conversation", Phase.BUDGET, self._turns),
            ("placement", Phase.INJECT, self._place),
        )
        return tuple(Step(name, phase, self._worker(name, phase, work)) for name, phase, work in table)

    def _worker(
        self, name: str, phase: Phase, work: Callable[[Ledger], StageRecord]
    ) -> Callable[[], Awaitable[StageRecord]]:
        async def run() -> StageRecord:
            return work(Ledger(_Named(name, phase), self.candidates))

        return run

    # ---- stages -----------------------------------------------------------------------------------------------------

    def _load(self, ledger: Ledger) -> StageRecord:
        """Map vault and chat, and let the window be fitted; the stages below tell what that decided."""
        settings = self.settings
        self.vault = mapped(
            self.moment.index, self.moment.chat, self.moment.controls, with_conversation=settings.with_conversation
        )
        sharing = Sharing(
            settings.total_token_budget,
            settings.multiply_window_size_by,
            Method(settings.truncate_method),
            settings.fill_mode,
            settings.fill_and_split_mode,
            settings.preserve_text_matches,
            settings.source_compatible,
        )
        text = "\n".join(self.moment.chat[place].text for place in self.scanned)
        self.fitted = fit(self.vault.window, text, sharing, self.counter, lambda key: key not in self.vault.blocked)
        for entry in self.moment.index.entries:
            if entry.guide:
                ledger.refuse(entry, "guide_hidden")
        return ledger.close(())

    def _match(self, ledger: Ledger) -> StageRecord:
        for match in self._selection.matches:
            entry = self.vault.entries[match.key]
            self.candidates.append(entry)
            message = self._message(match.trigger)
            details: dict[str, Json] = {} if message is None else {"message": message}
            ledger.add(entry, "cw_match", trigger=match.trigger, key=match.trigger, occurrences=match.occurrences,
                       **details)  # fmt: skip
        return ledger.close(
            self.candidates,
            default_reason="cw_not_mentioned",
            details={"messages": len(self.scanned), "characters": sum(len(self.moment.chat[at].text)
                                                                      for at in self.scanned)},
        )  # fmt: skip

    def _links(self, ledger: Ledger) -> StageRecord:
        for link in self._selection.links:
            if link.new:
                source, entry = self.vault.entries[link.source], self.vault.entries[link.target]
                self.candidates.append(entry)
                ledger.add(entry, "cw_link", source=source.title, source_id=source.id)
        return ledger.close(self.candidates)

    def _dependants(self, ledger: Ledger) -> StageRecord:
        for key, requirements in self._selection.dependants.items():
            entry = self.vault.entries[key]
            self.candidates.append(entry)
            ledger.add(entry, "cw_dependant", names=[requirement.name for requirement in requirements])
        return ledger.close(self.candidates)

    def _requirements(self, ledger: Ledger) -> StageRecord:
        for key, requirements in self._selection.ineligible.items():
            missing: list[Json] = [each.name for each in requirements if each.member is None]
            self._drop(ledger, key, "cw_unsatisfied", names=missing)
        return ledger.close(self.candidates)

    def _locks(self, ledger: Ledger) -> StageRecord:
        for key in self._selection.locked:
            if self.vault.entries[key] in self.candidates:
                self._drop(ledger, key, "cw_locked")
        return ledger.close(self.candidates)

    def _order(self, ledger: Ledger) -> StageRecord:
        order = self._selection.candidates
        self.candidates = [self.vault.entries[key] for key in order]
        for rank, key in enumerate(order, 1):
            weight = self.vault.window.lore[key].weight
            ledger.keep(self.vault.entries[key], "cw_rank", weight=weight, rank=rank, of=len(order))
        return ledger.close(self.candidates)

    def _lore(self, ledger: Ledger) -> StageRecord:
        for choice in self._choices(Pass.PRIORITY):
            if choice.taken:
                used = choice.used + choice.cost
                ledger.keep(self.vault.entries[choice.key], "cw_taken", cost=choice.cost, used=used, limit=choice.limit)
            else:
                self._drop(ledger, choice.key, "cw_no_room", **_lack(choice))
        return ledger.close(self.candidates)

    def _fill(self, ledger: Ledger) -> StageRecord:
        if not (self.settings.fill_mode or self.settings.fill_and_split_mode):
            return self._skipped(ledger, "lore filling", "cw_no_fill")
        reasons = {Refusal.REQUIREMENT: "cw_fill_requirement", Refusal.NOT_EXAMINED: "cw_not_examined"}
        for choice in self._choices(Pass.FILL):
            entry = self.vault.entries[choice.key]
            if choice.taken:
                self.candidates.append(entry)
                used = choice.used + choice.cost
                ledger.add(entry, "cw_filled", cost=choice.cost, used=used, limit=choice.limit)
            elif choice.refusal in reasons:
                ledger.refuse(entry, reasons[choice.refusal])
            else:
                ledger.refuse(entry, "cw_no_room", **_lack(choice))
        return ledger.close(self.candidates)

    def _elements(self, ledger: Ledger) -> StageRecord:
        if not self.vault.elements:
            return self._skipped(ledger, "context elements", "cw_no_elements")
        limit = self._limit(ELEMENTS)
        for item in self.fitted.elements.items:
            entry = self.vault.elements[item.place]
            if item.kept:
                self.candidates.append(entry)
                ledger.add(entry, "cw_element", cost=item.tokens, limit=limit)
            else:
                ledger.refuse(entry, "cw_element_cut", cost=item.tokens, limit=limit, why=item.reason.value)
        return ledger.close(self.candidates)

    def _turns(self, ledger: Ledger) -> StageRecord:
        if not self.vault.window.history:
            return self._skipped(ledger, "conversation", "cw_no_turns")
        cut = self.fitted.turns
        details: dict[str, Json] = {
            "kept": len(cut.order),
            "of": len(self.vault.window.history),
            "used": cut.tokens,
            "limit": self._limit(TURNS),
            "messages": [self.moment.position(place) for place in cut.order],
        }
        return ledger.close(self.candidates, note="cw_turns", details=details)

    def _place(self, ledger: Ledger) -> StageRecord:
        lore = [self.vault.entries[key] for key in self.fitted.window.lore]
        elements = [self.vault.elements[place] for place in self.fitted.elements.order]
        self.candidates = [*lore, *elements]
        position, depth, role = int(Position.AFTER), 0, int(Role.SYSTEM)
        injections, parts, text = [], [], ""
        for entry in self.candidates:
            ledger.keep(entry, "cw_placed", position=position, depth=depth, role=role)
            text += "\n\n" if text else ""
            parts.append(PromptPart(len(text), len(text) + len(entry.content), entry.id))
            text += entry.content
            tokens = self.counter.count(entry.content)
            label = "(context element)" if entry in elements else "(lorebook)"
            injections.append(Injection(entry.id, entry.title, label, tokens, entry.priority, position, depth, role,
                                        TAG, entry.content_hash))  # fmt: skip
        self.injections = tuple(injections)
        if text:
            self.blocks = (PromptBlock(TAG, position, depth, role, text, tuple(parts)),)
        return ledger.close(self.candidates, note="" if text else "no_prompt")

    # ---- the trace --------------------------------------------------------------------------------------------------

    def trace(self, records: tuple[StageRecord, ...]) -> Trace:
        """Everything that was decided."""
        moment, fitted = self.moment, self.fitted
        failed = any(record.status is StageStatus.FAILED for record in records)
        warnings = []
        if fitted.over:
            warnings.append(
                f"The window holds {fitted.over} tokens more than its budget of {fitted.budget}: parts without a "
                "share of their own stay whole."
            )
        outcome = RunOutcome.INJECTED if self.blocks else RunOutcome.NOTHING_INJECTED
        return Trace(
            system=NAME,
            mode=_mode(self.settings),
            outcome=RunOutcome.FAILED if failed else outcome,
            turn=moment.turn,
            entries=entry_refs(moment.index.entries, records),
            index_size=len(moment.index.entries),
            stages=records,
            injections=self.injections,
            prompt=self.blocks,
            limits=self._limits(),
            seed=moment.seed,
            digests=moment.digests,
            clock_ms=moment.clock_ms,
            warnings=tuple(warnings),
            facts={"counter": self.counter.name, "counted_exactly": self.counter.exact},
        )

    def _limits(self) -> tuple[Limit, ...]:
        fitted = self.fitted
        used = {
            LORE: fitted.selection.used if fitted.selection is not None else 0,
            ELEMENTS: fitted.elements.tokens,
            TURNS: fitted.turns.tokens,
        }
        whole = Limit("token budget", fitted.tokens, fitted.budget, "tokens")
        return (whole, *(Limit(share.part, used[share.part], share.limit, "tokens") for share in fitted.shares))

    @property
    def _selection(self) -> Selection:
        return self.fitted.selection or Selection()

    def _choices(self, which: Pass) -> tuple[Choice, ...]:
        return tuple(choice for choice in self._selection.choices if choice.phase is which)

    def _limit(self, part: str) -> int:
        return next((share.limit for share in self.fitted.shares if share.part == part), 0)

    def _message(self, trigger: str) -> int | None:
        """The first looked-at message that holds the trigger, by its number in the chat file."""
        low = trigger.lower()
        found = (place for place in self.scanned if low in self.moment.chat[place].text.lower())
        place = next(found, None)
        return None if place is None else self.moment.position(place)

    def _drop(self, ledger: Ledger, key: str, reason: str, **details: Json) -> None:
        entry = self.vault.entries[key]
        self.candidates.remove(entry)
        ledger.remove(entry, reason, **details)

    def _skipped(self, ledger: Ledger, name: str, note: str) -> StageRecord:
        record = ledger.close(self.candidates, note=note)
        return StageRecord(name, record.phase, StageStatus.SKIPPED, record.entered, record.left, note=note)


@dataclass(frozen=True, slots=True)
class _Named:
    name: str
    phase: Phase


def _lack(choice: Choice) -> Mapping[str, Json]:
    room = max(0, choice.limit - choice.used)
    return {"cost": choice.cost, "room": room, "limit": choice.limit, "needs": choice.cost - room}


def _mode(settings: ContextWindowSettings) -> str:
    if settings.fill_and_split_mode:
        return "fill half"
    return "fill" if settings.fill_mode else "select"
