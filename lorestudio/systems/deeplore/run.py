"""One generation from its inputs to its trace and the state after it (rules: deeplore 6.7, 10).

What the matching stages came to is kept: of two runs the second takes over what the first one's did where all that
these read is the same: the settings declared to affect one of them, the window and the length of the chat, who is
cooling down, where the random numbers stand or how the lots are known to have fallen. The rest of the run goes its own
way: a changed budget matches nothing anew, in a replay as in a trial. Recorded runs take over from recorded ones, whose
records say why.

Where the chat has a record of the generation, what no file keeps is taken as it was recorded: what a model chose, how
lots fell, and which entries were resting afterwards (rules: recorded-sources 5).
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterator, Sequence
from typing import Any, Final

from msgspec import Struct

from lorestudio.domain.entry import Entry, NoteKey
from lorestudio.domain.javascript import Json
from lorestudio.domain.json_text import spell
from lorestudio.domain.records import Terse, picked, replace
from lorestudio.domain.state import AiState, EngineState, LoggedGeneration, Prompt, Snapshot
from lorestudio.exchange.chats.recorded import RecordedEntry
from lorestudio.llm.errors import ErrorKind, LlmError
from lorestudio.llm.messages import SEARCH, ChatReply, ChatRequest
from lorestudio.settings.deeplore import DeepLoreSettings
from lorestudio.settings.rules import OLD
from lorestudio.systems.base import Decided, RunInputs
from lorestudio.systems.deeplore import NAME, pipeline
from lorestudio.systems.deeplore.inputs import Inputs, RandomSource
from lorestudio.systems.deeplore.reads import settings_of
from lorestudio.systems.deeplore.stages.bookkeeping import remember, run_down
from lorestudio.systems.deeplore.stages.gates import logged
from lorestudio.systems.deeplore.stages.placement import PREFILL_TAG, prefilled
from lorestudio.systems.deeplore.stages.snapshot import swipe_key
from lorestudio.systems.deeplore.state import RunState
from lorestudio.systems.deeplore.words import VOCABULARY
from lorestudio.systems.runner import Holding, Mulberry32, entry_refs, run_stages
from lorestudio.trace.model import Limit, PromptBlock, RunOutcome, StageRecord, StageStatus, Trace

KEPT: Final = 4096
"""Generations of which it is known. With records one takes some 15 kB."""

VERDICTS: Final = 200_000
"""As many of what these say of entries are known, some 100 MB: in a large vault a generation has hundreds of them."""


MATCHING: Final = frozenset(stage.name for stage in pipeline.MATCHING)


class Matched(Struct, frozen=True):
    """What the matching stages left of a run."""

    candidates: tuple[Entry, ...]
    labelled: tuple[str, ...]
    labels: tuple[str, ...]
    matched: tuple[int, ...]
    draws: tuple[float, ...]
    random_state: int
    switches: tuple[dict[str, Json], ...]
    records: tuple[StageRecord, ...]
    size: int
    """How much there is to remember: its verdicts."""

    @classmethod
    def of(cls, state: RunState, records: tuple[StageRecord, ...]) -> Matched:
        """Taken from a run that has just matched."""
        switches, draws = tuple(state.switches), tuple(state.draws)
        labels, matched = state.labels, tuple(state.matched)  # tuples take a quarter of what a dictionary and a set do
        names, words = tuple(labels), tuple(labels.values())
        size = sum(len(record.verdicts) for record in records)
        return cls(tuple(state.candidates), names, words, matched, draws, state.random.state, switches, records, size)

    def hand_to(self, state: RunState) -> tuple[StageRecord, ...]:
        """Bring a run to where it would be after matching."""
        state.candidates, state.matched = list(self.candidates), set(self.matched)
        state.labels = dict(zip(self.labelled, self.labels, strict=True))
        state.switches = list(self.switches)
        state.draws, state.random.state = list(self.draws), self.random_state
        return self.records


async def match(state: RunState, ctx: Inputs) -> tuple[StageRecord, ...]:
    """The records of the matching stages, which are run where it is not known what they come to."""
    if state.holding is not None or ctx.random is not None:
        return await run_stages(pipeline.MATCHING, state, ctx, ctx.moment)
    known = ctx.index.matched[state.recorded]
    key = _read(state, ctx)
    found: Matched | None = known.get(key)
    if found is not None:
        if (watcher := ctx.moment.watcher) is not None:
            for record in found.records:
                watcher.began(record.name, record.phase)
                watcher.finished(record)
        return found.hand_to(state)
    records = await run_stages(pipeline.MATCHING, state, ctx, ctx.moment)
    if all(record.status is not StageStatus.FAILED for record in records):
        known.take(key, Matched.of(state, records), KEPT, VERDICTS)
    return records


def _read(state: RunState, ctx: Inputs) -> Hashable:
    """All that the matching stages read besides the index."""
    lines = () if state.window is None else tuple((line.message, line.place, line.raw) for line in state.window.lines)
    return (
        tuple(getattr(ctx.settings, name) for name in settings_of(MATCHING)),
        tuple(ctx.moment.position(line[0]) for line in lines) if state.recorded else (),
        ctx.behaviour,
        ctx.character,
        len(ctx.moment.chat),
        lines,
        tuple(sorted(state.counters.cooldown.items())),
        state.random.state,
        ctx.lots,
    )


def skip_reason(ctx: Inputs) -> str:
    """Why this generation does not run at all, "" where it does."""
    if ctx.moment.turn.kind == "quiet" or not ctx.settings.enabled:
        return "quiet_or_disabled"
    if ctx.moment.chat:
        last = ctx.moment.chat[-1]
        tools = last.extra.get("tool_invocations")
        if last.is_system or tools or isinstance(tools, list | dict):
            return "tool_or_system_tail"
    return "" if ctx.index.visible else "empty_vault"


async def run(ctx: Inputs) -> Decided:
    """Run one generation. Nothing outside the result changes; the same inputs give the same result."""
    reason, prompts = skip_reason(ctx), prefilled(ctx.state.prompts, ctx)
    if reason:
        trace = replace(_blank(ctx, skip_reason=reason), notes=_held(prompts, ()))
        return Decided(trace, ctx.state if prompts == ctx.state.prompts else replace(ctx.state, prompts=prompts))
    random: RandomSource = (ctx.random or Mulberry32)(ctx.state.random_state)
    state = RunState(
        random=random,
        counters=ctx.state.counters,
        injection_log=ctx.state.injection_log,
        prompts=prompts,
        before=ctx.state,
        ai=ctx.state.ai,
        separate_titles=ctx.rules.labels_by_vault or ctx.is_fixed("title_collisions"),
        holding=_holding(ctx),
        recorded=ctx.moment.recorded,
        lots=ctx.lots,
    )
    records = await run_stages((pipeline.OPENING,), state, ctx, ctx.moment)
    selecting = pipeline.selecting(ctx.settings)
    if selecting[: len(pipeline.MATCHING)] == pipeline.MATCHING:
        records += await match(state, ctx)
        selecting = selecting[len(pipeline.MATCHING) :]
    records += await run_stages(selecting, state, ctx, ctx.moment)
    if state.match_now:
        records += await _match_after_all(state, ctx)
    if ctx.settings.uses_ai:
        records += await run_stages(pipeline.LEAVING, state, ctx, ctx.moment)
    records += await run_stages(pipeline.FINISHING, state, ctx, ctx.moment)
    if state.outcome is not None:  # an early end takes back everything but what the prompt manager holds
        state.prompts = tuple(prompt for prompt in prompts if prompt.managed or prompt.tag == PREFILL_TAG)
        if ctx.is_fixed("notes_without_lore"):  # they come after all, in the place where they were skipped
            records = records[:-1] + await run_stages((pipeline.NOTES,), state, ctx, ctx.moment, always=True)
    _note_collisions(state, ctx)
    records += await run_stages((pipeline.BOOKKEEPING,), state, ctx, ctx.moment, always=True)
    trace = replace(
        _blank(ctx),
        outcome=state.outcome or (RunOutcome.INJECTED if state.blocks else RunOutcome.NOTHING_INJECTED),
        turn=replace(ctx.moment.turn, number=state.counters.generation_count),
        entries=entry_refs(ctx.index.vault.entries, records) if state.recorded else {},
        stages=records,
        injections=state.injections,
        prompt=state.blocks,
        notes=_held(state.prompts, state.blocks),
        limits=_limits(ctx.settings, state),
        labels=tuple(state.labels.items()),
        ai_calls=tuple(state.ai_calls),
        draws=tuple(state.draws),
        warnings=tuple(state.warnings),
        facts={
            **picked(state, "bootstrapping", "regenerated", "ai_cached"),
            "exempt": _exempt(ctx, state),
            "counter": ctx.moment.counter.name,
            "counted_exactly": ctx.moment.counter.exact,
            "switches": list(state.switches),
            **({} if ctx.settings.rules == OLD else {"rules": ctx.settings.rules}),
            **({"higher_first": True} if ctx.reversed else {}),
            **({} if state.holding is None else {"held": state.holding.as_json()}),
            **state.facts,
        },
    )
    return Decided(trace, state.after or ctx.state, state.tally)


def _holding(ctx: Inputs) -> Holding | None:
    held = ctx.moment.held
    if held is None:
        return None
    return Holding(held, ctx.index.vault.entries[held.entry], pipeline.ASKING, pipeline.SORTING)


async def _match_after_all(state: RunState, ctx: Inputs) -> tuple[StageRecord, ...]:
    """The matching stages, where AI-only mode falls back on them; after an empty answer their labels do not count."""
    labels = dict(state.labels)
    state.labels.clear()
    records = await run_stages(pipeline.MATCHING, state, ctx, ctx.moment)
    if state.match_now == "no labels":
        state.labels = labels
    return records


def _note_collisions(state: RunState, ctx: Inputs) -> None:
    """Say so where entries of the same title have kept a reason of their own."""
    if not state.separate_titles or ctx.rules.labels_by_vault:
        return
    injected = {injection.entry for injection in state.injections}
    reasons: dict[str, set[str]] = {}
    for entry in ctx.index.vault.entries:
        if entry.id in injected or state.has_label(entry):
            reasons.setdefault(entry.title, set()).add(state.label(entry))
    for title, different in reasons.items():
        if len(different) > 1:
            state.note_switch("title_collisions", "match order", f"entries called {title} have a reason each")


def _blank(ctx: Inputs, skip_reason: str = "") -> Trace:
    """A trace of these inputs in which nothing has been decided yet."""
    settings = ctx.settings
    return Trace(
        system=NAME,
        mode=settings.ai_search_mode if settings.ai_search_enabled else "keywords-only",
        outcome=RunOutcome.SKIPPED,
        turn=ctx.moment.turn,
        entries={},
        index_size=len(ctx.index.visible),
        stages=(),
        seed=ctx.moment.seed,
        digests=digests(ctx),
        clock_ms=ctx.moment.clock_ms,
        skip_reason=skip_reason,
        words=VOCABULARY,
    )


def digests(ctx: Inputs) -> dict[str, str]:
    """What a trace says about which inputs it was made from."""
    return {"vault": ctx.index.vault.digest, **ctx.moment.digests}


def _held(prompts: Sequence[Prompt], blocks: Sequence[PromptBlock]) -> tuple[PromptBlock, ...]:
    """What the host holds besides these blocks, in its order."""
    lore = {block.tag for block in blocks}
    others = (prompt for prompt in prompts if prompt.tag not in lore)
    return tuple(PromptBlock(each.tag, each.position, each.depth, each.role, each.text) for each in others)


def _exempt(ctx: Inputs, state: RunState) -> list[int]:
    exempt = state.policy.exempt if state.recorded else ()
    return sorted(entry.id for key in exempt for entry in ctx.index.of_tracker_key.get(key, ()))


def _limits(settings: DeepLoreSettings, state: RunState) -> tuple[Limit, ...]:
    """The two caps, with what the entries under them use; outlet entries are outside both."""
    capped = [accepted.entry for accepted in state.accepted if not accepted.entry.outlet]
    tokens = sum(entry.tokens for entry in capped)
    budget = None if settings.unlimited_budget else settings.max_tokens_budget
    most = None if settings.unlimited_entries else settings.max_entries
    return Limit("token budget", tokens, budget, "tokens"), Limit("entry limit", len(capped), most, "entries")


_STEP: Final = re.compile(r" \(recursion step \d+\)$")
_CHOICE: Final = re.compile(r"(?:^|→ )AI: (.*) \((high|medium|low)\)$", re.DOTALL)
"""What is recorded of an entry that a model chose: its reason, and how sure it was."""


class RecordedChoice(Struct, frozen=True):
    """Answers with the titles that a record names as chosen; where it names none, the question fails.

    With `empty` the model chose nothing at all. `also` are titles that it chose besides, whether they went in or not.
    """

    recorded: tuple[RecordedEntry, ...] = ()
    empty: bool = False
    also: tuple[str, ...] = ()
    name: str = "record"
    label: str = "what the chat recorded"

    @property
    def names_any(self) -> bool:
        """Whether the record says of an entry that a model chose it."""
        return any(_CHOICE.search(each.reason) for each in self.recorded)

    async def answer(self, request: ChatRequest) -> ChatReply:
        """The choice. Raises LlmError for another question, and where none is recorded."""
        found = ((each, _CHOICE.search(each.reason)) for each in self.recorded)
        items = [{"title": each.title, "confidence": said[2], "reason": said[1]} for each, said in found if said]
        items += [{"title": title, "confidence": "high", "reason": "not recorded"} for title in self.also]
        if request.kind != SEARCH or not (items or self.empty):
            raise LlmError(ErrorKind.NO_RECORDED_ANSWER, "the chat recorded no choice of a model")
        return ChatReply(spell(items), source=self.label, repeatable=True)


class Lots(Terse, frozen=True):
    """How lots fell: those of the entries that went in let them in, and those of the titles `also`; the others did not,
    or with `all_in` did as well. `went_in` are vaults and file names.
    """

    unprinted = ("went_in",)

    went_in: frozenset[NoteKey]
    also: frozenset[str] = frozenset()
    all_in: bool = False

    def __call__(self, entry: Entry) -> float:
        """0 for an entry that goes in, else 1."""
        lucky = self.all_in or entry.title in self.also or entry.note_key in self.went_in
        return 0.0 if lucky else 1.0


def without_choices(state: EngineState) -> EngineState:
    """The state without a model's choice that is remembered: another one is recorded, or nobody recorded this one."""
    return replace(state, ai=replace(state.ai, cache=None))


def recalled(ctx: Inputs, went_in: Sequence[Entry], decided: Decided | None = None) -> EngineState:
    """The state after a generation in which these entries went in: their pauses begin, others' run down."""
    state = ctx.state if decided is None else decided.state
    if decided is not None and [each.id for each in went_in] == [each.entry for each in decided.trace.injections]:
        return replace(state, ai=AiState(cache=state.ai.cache))
    key, before = swipe_key(ctx), ctx.state.counters
    again = ctx.state.snapshot is not None and ctx.state.snapshot.swipe_key == key
    if again and ctx.state.snapshot is not None:
        before = ctx.state.snapshot.counters
    settings, log = ctx.settings, state.injection_log
    if settings.strip_duplicate_injections:
        own = LoggedGeneration(before.generation_count + 1, tuple(logged(entry, settings) for entry in went_in))
        log = (*(each for each in log if each.generation != own.generation), own)
    return replace(
        state,
        snapshot=Snapshot(key, before),
        counters=run_down(remember(before, list(went_in), settings), went_in, settings),
        injection_log=log,
        ai=AiState(cache=state.ai.cache),
    )


def as_recorded(entry: Entry, reason: str) -> Entry:
    """The entry with what the reason of a record says of it; a reason of another kind leaves it as it is."""
    said = _STEP.sub("", reason.partition(" → ")[0])
    if said == "(constant)":
        return replace(entry, constant=True)
    if said == "(bootstrap)":
        return replace(entry, bootstrap=True)
    plain = said and said != "?" and not said.startswith(("(", "AI: "))
    return replace(entry, keys=(*entry.keys, said)) if plain and said not in entry.keys else entry


def unrecorded(run: RunInputs) -> Iterator[tuple[str, Any]]:
    """What else may have been: a model that failed or chose nothing, other lots."""
    state, system = run.state, run.system
    if system.settings.uses_ai:
        recorded = system.answers.recorded if isinstance(system.answers, RecordedChoice) else ()
        titles = tuple(each.title for each in recorded)
        needed = {title: entry.requires for entry in run.moment.index.entries if (title := entry.title) in titles}
        others = tuple(dict.fromkeys(each for every in needed.values() for each in every if each not in titles))
        for words, choice in (
            ("the model's answer failed", RecordedChoice()),
            ("the model chose nothing", RecordedChoice(empty=True)),
            ("what the model chose was kept out", RecordedChoice(also=titles)),
            ("the model also chose what others require", RecordedChoice(recorded, also=others)),
        ):
            if choice != system.answers:
                yield words, run.decided_by(answers=choice)
        if state.ai.cache is not None:
            yield "no earlier choice of the model was remembered", run.begun_from(replace(state, ai=AiState()))
    lots, entries = system.lots, run.moment.index.entries
    if isinstance(lots, Lots) and any(0 < (entry.probability or 0) < 1 for entry in entries):
        yield "lots fell otherwise", run.decided_by(lots=replace(lots, all_in=True))
        required = (title for each in entries if each.note_key in lots.went_in for title in each.requires)
        if also := frozenset(required):
            words = "the lots of what others require fell otherwise"
            yield words, run.decided_by(lots=replace(lots, also=also))
