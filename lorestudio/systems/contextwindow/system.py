"""The context window as a retrieval system (rules: context-window 6, 7, 12, 16, 21).

What is decided is decided by `pages.fitted_pages`; the stages here tell it entry by entry.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar, Final

from lorestudio.domain.entry import Entry, Position, Role
from lorestudio.domain.javascript import Json
from lorestudio.domain.records import replace
from lorestudio.domain.state import has_rule
from lorestudio.domain.tokens import TokenCounter
from lorestudio.exchange.problems import InputError
from lorestudio.settings.contextwindow import ContextWindowSettings
from lorestudio.systems.base import Decided, Moment, State, System, SystemKind, inputs_digest
from lorestudio.systems.contextwindow import NAME, SUMMARY, TITLE
from lorestudio.systems.contextwindow.mapping import PagesBy, Refused, texts_of
from lorestudio.systems.contextwindow.pages import ELEMENTS, TURNS, LorePage, budget_of, fitted_pages
from lorestudio.systems.contextwindow.selecting import CandidateFate, Refusal
from lorestudio.systems.contextwindow.selecting import SelectionPhase as Pass
from lorestudio.systems.contextwindow.tokens import WordList, WordListCounter, effective
from lorestudio.systems.contextwindow.words import VOCABULARY
from lorestudio.systems.ideas import Option, Situation, declared_options, without_property
from lorestudio.systems.known import Known
from lorestudio.systems.ledger import Ledger
from lorestudio.systems.runner import Run, RunStep
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
from lorestudio.trace.wording import joined, plural, quoted

TAG: Final = "context_window"


class _WindowRun(Run):
    """One generation under way."""

    def __init__(self, moment: Moment, settings: ContextWindowSettings, counter: TokenCounter, known: Known) -> None:
        super().__init__(moment)
        self.settings, self.counter, self.known = settings, counter, known
        self.pages: tuple[LorePage, ...] = ()
        self.budget = 0
        self.scanned = range(max(0, len(moment.chat) - settings.scanned_messages), len(moment.chat))

    def steps(self) -> tuple[RunStep, ...]:
        """The stages in order. That of the page budgets is there where there may be several pages."""
        table: tuple[tuple[str, Phase, Callable[[Ledger], StageRecord]], ...] = (
            ("snapshot", Phase.LOAD, self._load),
            ("text match", Phase.MATCH, self._match),
            ("links", Phase.MATCH, self._links),
            ("dependants", Phase.MATCH, self._dependants),
            ("requirements", Phase.GATE, self._requirements),
            ("locks", Phase.GATE, self._locks),
            ("weight order", Phase.BUDGET, self._order),
            ("page budgets", Phase.BUDGET, self._page_budgets),
            ("lore budget", Phase.BUDGET, self._lore),
            ("lore filling", Phase.BUDGET, self._fill),
            ("context elements", Phase.BUDGET, self._elements),
            ("conversation", Phase.BUDGET, self._turns),
            ("placement", Phase.INJECT, self._place),
        )
        several = self.settings.pages_by != PagesBy.NOTHING
        return tuple(self.step(name, phase, work) for name, phase, work in table if several or name != "page budgets")

    # ---- stages -----------------------------------------------------------------------------------------------------

    def _load(self, ledger: Ledger) -> StageRecord:
        """Map vault and chat, and let the pages be fitted; the stages below tell what that decided."""
        text = "\n".join(self.moment.chat[place].text for place in self.scanned)
        self.budget = budget_of(self.settings, self.moment.context_size, text, self.counter)
        self.pages = fitted_pages(self.moment, self.settings, text, self.budget, self.counter, self.known)
        for entry in self.moment.index.entries:
            if entry.guide:
                ledger.refuse(entry, "guide_hidden")
        for page in self.pages:
            for entry in page.vault.hidden:
                blocked = has_rule(self.moment.controls.blocks, entry)
                ledger.refuse(entry, "cw_locked" if blocked else "cw_page_locked", page=page.name)
        return ledger.close(())

    def _match(self, ledger: Ledger) -> StageRecord:
        for page in self.pages:
            for match in page.selection.matches:
                entry, trigger = page.entry(match.key), match.trigger
                details: dict[str, Json] = {"trigger": trigger, "key": trigger, "occurrences": match.occurrences}
                if (message := self.message_with(trigger, self.scanned)) is not None:
                    details["message"] = message
                self.take(ledger, entry, "cw_match", **details, **self._on(page))
        return ledger.close(
            self.candidates,
            default_reason="cw_not_mentioned",
            details={"messages": len(self.scanned), "characters": sum(len(self.moment.chat[at].text)
                                                                      for at in self.scanned)},
        )  # fmt: skip

    def _links(self, ledger: Ledger) -> StageRecord:
        for page in self.pages:
            for link in page.selection.links:
                if link.new:
                    source, entry = page.entry(link.source), page.entry(link.target)
                    self.take(ledger, entry, "cw_link", source=source.title, source_id=source.id)
        return ledger.close(self.candidates)

    def _dependants(self, ledger: Ledger) -> StageRecord:
        for page in self.pages:
            for key in page.selection.dependants:
                names = list(page.vault.window.lore[key].required_keys)
                self.take(ledger, page.entry(key), "cw_dependant", names=names)
        return ledger.close(self.candidates)

    def _requirements(self, ledger: Ledger) -> StageRecord:
        for page in self.pages:
            for key, missing in page.selection.ineligible.items():
                self.drop(ledger, page.entry(key), "cw_unsatisfied", names=list(missing), **self._on(page))
        return ledger.close(self.candidates)

    def _locks(self, ledger: Ledger) -> StageRecord:
        for page in self.pages:
            for key in page.selection.locked:
                entry = page.entry(key)
                if entry in self.candidates:
                    words = list(texts_of(entry.system_fields.get("cw_passthrough")))
                    self.drop(ledger, entry, self._lock_of(page, key), words=words)
        return ledger.close(self.candidates)

    def _order(self, ledger: Ledger) -> StageRecord:
        self.candidates.clear()
        for page in self.pages:
            order = page.selection.candidates
            for rank, key in enumerate(order, 1):
                self.candidates.append(page.entry(key))
                weight = page.vault.window.lore[key].weight
                ledger.keep(page.entry(key), "cw_rank", weight=weight, rank=rank, of=len(order), **self._on(page))
        return ledger.close(self.candidates)

    def _page_budgets(self, ledger: Ledger) -> StageRecord:
        if len(self.pages) < 2:
            return ledger.skipped("cw_one_page")
        shares: list[Json] = [
            {"page": page.name, "size": page.size, "budget": page.budget, "used": page.tokens} for page in self.pages
        ]
        words = ", ".join(f"{page.name} {page.budget:,}" for page in self.pages)
        strategy = self.settings.multi_page_budget_strategy
        details: dict[str, Json] = {"pages": shares, "budget": self.budget, "words": words, "strategy": strategy}
        return ledger.close(self.candidates, note="cw_pages", details=details)

    def _lore(self, ledger: Ledger) -> StageRecord:
        total = 0
        for page in self.pages:
            if page.is_whole:  # a page without a budget is not looked at
                for entry in page.vault.entries.values():
                    total += (cost := self.counter.count(entry.content))
                    self.take(ledger, entry, "cw_whole", cost=cost, total=total, **self._on(page))
            for choice in page.choices(Pass.PRIORITY):
                if choice.taken:
                    total += choice.cost
                    used = choice.used + choice.cost
                    ledger.keep(page.entry(choice.key), "cw_taken", cost=choice.cost, used=used, limit=choice.limit,
                                **self._on(page, total))  # fmt: skip
                else:
                    self.drop(ledger, page.entry(choice.key), "cw_no_room", **_lack(choice), **self._on(page))
        return ledger.close(self.candidates)

    def _fill(self, ledger: Ledger) -> StageRecord:
        if not (self.settings.fill_mode or self.settings.fill_and_split_mode):
            return ledger.skipped("cw_no_fill")
        reasons = {Refusal.REQUIREMENT: "cw_fill_requirement", Refusal.NOT_EXAMINED: "cw_not_examined"}
        for page in self.pages:
            for choice in page.choices(Pass.FILL):
                entry = page.entry(choice.key)
                if choice.taken:
                    cost, used = choice.cost, choice.used + choice.cost
                    self.take(ledger, entry, "cw_filled", cost=cost, used=used, limit=choice.limit, **self._on(page))
                elif choice.refusal in reasons:
                    ledger.refuse(entry, reasons[choice.refusal], **self._on(page))
                else:
                    ledger.refuse(entry, "cw_no_room", **_lack(choice), **self._on(page))
        return ledger.close(self.candidates)

    def _elements(self, ledger: Ledger) -> StageRecord:
        if not any(page.vault.elements for page in self.pages):
            return ledger.skipped("cw_no_elements")
        for page in self.pages:
            limit = page.fitted.shares.get(ELEMENTS, 0)
            if page.is_whole:
                for entry in page.vault.elements:
                    self.take(ledger, entry, "cw_whole", cost=self.counter.count(entry.content), **self._on(page))
            for item in page.fitted.elements.items:
                entry = page.vault.elements[item.place]
                if item.kept:
                    self.take(ledger, entry, "cw_element", cost=item.tokens, limit=limit, **self._on(page))
                else:
                    why = item.reason.value
                    ledger.refuse(entry, "cw_element_cut", cost=item.tokens, limit=limit, why=why, **self._on(page))
        return ledger.close(self.candidates)

    def _turns(self, ledger: Ledger) -> StageRecord:
        page = next((page for page in self.pages if page.vault.window.history), None)
        if page is None:
            return ledger.skipped("cw_no_turns")
        history = page.vault.window.history
        cut = page.fitted.turns
        order = tuple(range(len(history))) if page.is_whole else cut.order
        costs = {place: self.counter.count(history[place].text) for place in order} if page.is_whole else {}
        details: dict[str, Json] = {
            "kept": len(order),
            "of": len(history),
            "used": sum(costs.values()) if page.is_whole else cut.tokens,
            "limit": page.fitted.shares.get(TURNS, 0),
            "messages": [self.moment.position(place) for place in order],
            **self._on(page),
        }
        return ledger.close(self.candidates, note="cw_turns", details=details)

    def _place(self, ledger: Ledger) -> StageRecord:
        elements = {entry.id for page in self.pages for entry in page.elements}
        self.candidates[:] = [entry for page in self.pages for entry in (*page.lore, *page.elements)]
        position, depth, role = int(Position.AFTER), 0, int(Role.SYSTEM)
        injections, parts, texts, end = [], [], list[str](), 0
        for entry in self.candidates:
            ledger.keep(entry, "cw_placed", position=position, depth=depth, role=role)
            texts.append(f"\n\n{entry.content}" if end else entry.content)
            end += len(texts[-1])
            parts.append(PromptPart(end - len(entry.content), end, entry.id))
            tokens = self.counter.count(entry.content)
            label = "(context element)" if entry.id in elements else "(lorebook)"
            injections.append(Injection(entry.id, entry.title, label, tokens, entry.priority, position, depth, role,
                                        TAG, entry.content_hash))  # fmt: skip
        self.injections = tuple(injections)
        if text := "".join(texts):
            self.blocks = (PromptBlock(TAG, position, depth, role, text, tuple(parts)),)
        return ledger.close(self.candidates, note="" if text else "no_prompt")

    @property
    def whole_budget(self) -> int:
        """The budget of all pages in tokens."""
        return effective(self.budget, self.settings.multiply_window_size_by)

    def _on(self, page: LorePage, total: int | None = None) -> dict[str, Json]:
        """What a verdict says of its page where there are several, and the tokens on all of them up to here."""
        if len(self.pages) < 2:
            return {}
        return {"page": page.name} | ({} if total is None else {"total": total})

    def _lock_of(self, page: LorePage, key: str) -> str:
        """Why a locked key is not let through."""
        if has_rule(self.moment.controls.blocks, page.entry(key)):
            return "cw_locked"
        refused = page.vault.locks.refusal(key)
        return "cw_passthrough" if refused is Refused.PASSTHROUGH else "cw_note_locked"


def _lack(choice: CandidateFate) -> Mapping[str, Json]:
    room = max(0, choice.limit - choice.used)
    return {"cost": choice.cost, "room": room, "limit": choice.limit, "needs": choice.cost - room}


@dataclass(frozen=True, slots=True)
class ContextWindowSystem(System):
    """Decides by the rules of the context window. `counter` None counts as the moment's own counter does."""

    kind: ClassVar[SystemKind]

    settings: ContextWindowSettings = field(default_factory=ContextWindowSettings)
    counter: TokenCounter | None = None
    shared: Known = field(default_factory=Known, repr=False, compare=False)
    """The vault as pages, and which of their keys stand in each text that was looked at."""

    @property
    def inputs(self) -> str:
        """The digest of the settings, and of who counts."""
        words = self.counter.words.digest if isinstance(self.counter, WordListCounter) else None
        return inputs_digest(self.settings, self.counter.name if self.counter is not None else None, words)

    def not_in_scenario(self) -> str:
        """A list of words is not in a scenario."""
        if self.settings.word_list:
            return "it counts by a word list, which a scenario has no room for. Leave it out, then replay."
        return ""

    async def decide(self, moment: Moment, state: State = None) -> Decided:
        """Run one generation; nothing is remembered from one to the next."""
        run = _WindowRun(moment, self.settings, self.counter or moment.counter, self.shared)
        return Decided(_trace(run, await run.through(run.steps())), state)

    def options(self, situation: Situation, moment: Moment, state: State) -> tuple[Option, ...]:
        """What the settings tell, and before it the note without what locks it or is required."""
        found = declared_options(situation, never_zero={"total_token_budget"})
        note = situation.note
        if note is None or situation.keeps_out or not situation.editable:
            return found
        own = [name for name in ("cw_lock", "cw_passthrough", "cw_requires") if name in note.system_fields]
        own += ["requires"] if note.written("requires") and situation.fate.stage == "requirements" else []
        return (*(without_property(note, name) for name in own), *found)

    def entry_text(self, moment: Moment, entry: Entry) -> str:
        """The text of an entry as it is."""
        return entry.content


def _trace(run: _WindowRun, records: tuple[StageRecord, ...]) -> Trace:
    failed = any(record.status is StageStatus.FAILED for record in records)
    warnings = []
    used, budget = sum(page.tokens for page in run.pages), run.whole_budget
    if used > max(0, budget):
        over = plural(used - max(0, budget), "# token|# tokens")
        unshared = [quoted(page.name) for page in run.pages if page.is_whole and page.whole]
        if len(run.pages) > 1 and unshared:
            warnings.append(
                f"No budget was left for {joined(unshared)}, so what is there goes in whole. Raise the budget, or set "
                "“How pages share” to EQUAL_SPLIT."
            )
        warnings.append(
            f"The window holds {over} more than its budget of {budget}: parts without a share of their own stay whole."
        )
    trace = run.trace(NAME, _mode(run.settings), records)
    return replace(
        trace,
        outcome=RunOutcome.FAILED if failed else trace.outcome,
        limits=_limits(run),
        warnings=tuple(warnings),
        words=VOCABULARY,
        facts={"counter": run.counter.name, "counted_exactly": run.counter.exact},
    )


def _limits(run: _WindowRun) -> tuple[Limit, ...]:
    used = sum(page.tokens for page in run.pages)
    besides = used - sum(injection.tokens for injection in run.injections)
    limits = [Limit("token budget", used, run.whole_budget, "tokens", besides, "conversation" if besides else "")]
    for page in run.pages:
        before = f"{page.name}: " if len(run.pages) > 1 else ""
        if page.is_whole and before:
            limits.append(Limit(f"{before}left whole", page.tokens, 0, "tokens"))
        limits += [Limit(before + part, page.used(part), limit, "tokens") for part, limit in page.fitted.shares.items()]
    return tuple(limits)


def _mode(settings: ContextWindowSettings) -> str:
    if settings.fill_and_split_mode:
        return "fill half"
    return "fill" if settings.fill_mode else "select"


def _word_counter(settings: ContextWindowSettings) -> WordListCounter | None:
    if not settings.word_list:
        return None
    try:
        words = WordList.read(Path(settings.word_list).expanduser())
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8 text"
        raise InputError("wordList", f"{settings.word_list} cannot be read ({reason}).") from None
    if not words.words:
        raise InputError("wordList", f"{settings.word_list} holds no words. Give a file with a word a line.")
    return WordListCounter(words, settings)


KIND: Final = SystemKind(
    NAME,
    TITLE,
    SUMMARY,
    ContextWindowSettings,
    lambda settings, _scene: ContextWindowSystem(settings, _word_counter(settings)),
    VOCABULARY,
    filters=frozenset({"cw_locked"}),
    heeds=frozenset({"blocks"}),
    budget="total_token_budget",
    budget_alone={"budget_from_context": False, "multiply_window_size_by": 0},
    not_held="The context window fits all its parts at once, so nothing comes behind the stage that stopped an entry.",
)
ContextWindowSystem.kind = KIND
