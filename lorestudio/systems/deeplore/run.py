"""One generation from its inputs to its trace and the state after it (rules: deeplore 6.7, 10).

What the matching stages came to is kept: of two runs the second takes over what the first one's did where all that
these read is the same: the settings declared to affect one of them, the window and the length of the chat, who is
cooling down, where the random numbers stand or how the lots are known to have fallen. The rest of the run goes its own
way: a changed budget matches nothing anew, in a replay as in a trial. Recorded runs take over from recorded ones, whose
records say why.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from functools import cache
from typing import Final

from msgspec import Struct

from lorestudio.domain.entry import Entry
from lorestudio.domain.javascript import Json
from lorestudio.domain.records import replace
from lorestudio.domain.state import Prompt
from lorestudio.settings.deeplore import DeepLoreSettings, declarations
from lorestudio.settings.rules import OLD
from lorestudio.systems.base import Decided
from lorestudio.systems.deeplore import NAME, pipeline
from lorestudio.systems.deeplore.inputs import Inputs, RandomSource
from lorestudio.systems.deeplore.reads import ALWAYS_READ
from lorestudio.systems.deeplore.stages.placement import PREFILL_TAG, prefilled
from lorestudio.systems.deeplore.state import RunState
from lorestudio.systems.deeplore.words import VOCABULARY
from lorestudio.systems.holding import Holding
from lorestudio.systems.randomness import Mulberry32
from lorestudio.systems.runner import entry_refs, run_stages
from lorestudio.trace.model import Limit, PromptBlock, RunOutcome, StageRecord, StageStatus, Trace

KEPT: Final = 4096
"""Generations of which it is known; once there are more, the oldest is forgotten."""

KEPT_RECORDED: Final = 600
"""The same of recorded ones. So many traces stay unpacked, too, and these share their records."""


@cache
def matching_settings() -> tuple[str, ...]:
    """Names of the settings that the matching stages may read, as they are declared."""
    stages = {stage.name for stage in pipeline.MATCHING}
    return tuple(item.name for item in declarations() if item.name in ALWAYS_READ or stages.intersection(item.affects))


class Matched(Struct, frozen=True):
    """What the matching stages left of a run."""

    candidates: tuple[Entry, ...]
    labels: dict[str, str]
    matched: frozenset[int]
    draws: tuple[float, ...]
    random_state: int
    switches: tuple[dict[str, Json], ...]
    records: tuple[StageRecord, ...]

    @classmethod
    def of(cls, state: RunState, records: tuple[StageRecord, ...]) -> Matched:
        """Taken from a run that has just matched."""
        switches, draws = tuple(state.switches), tuple(state.draws)
        labels, matched = dict(state.labels), frozenset(state.matched)
        return cls(tuple(state.candidates), labels, matched, draws, state.random.state, switches, records)

    def hand_to(self, state: RunState) -> tuple[StageRecord, ...]:
        """Bring a run to where it would be after matching."""
        state.candidates, state.matched = list(self.candidates), set(self.matched)
        state.labels, state.switches = dict(self.labels), list(self.switches)
        state.draws, state.random.state = list(self.draws), self.random_state
        return self.records


async def match(state: RunState, ctx: Inputs) -> tuple[StageRecord, ...]:
    """The records of the matching stages, which are run where it is not known what they come to."""
    if state.holding is not None or ctx.random is not None:
        return await run_stages(pipeline.MATCHING, state, ctx, ctx.moment)
    known, most = ctx.index.matched[state.recorded], KEPT_RECORDED if state.recorded else KEPT
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
        while len(known) >= most:
            known.pop(next(iter(known)), None)
        known[key] = Matched.of(state, records)
    return records


def _read(state: RunState, ctx: Inputs) -> Hashable:
    """All that the matching stages read besides the index."""
    lines = () if state.window is None else tuple((line.message, line.place, line.raw) for line in state.window.lines)
    return (
        tuple(getattr(ctx.settings, name) for name in matching_settings()),
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
    if pipeline.uses_ai(ctx.settings):
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
            "bootstrapping": state.bootstrapping,
            "regenerated": state.regenerated,
            "ai_cached": state.ai_cached,
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
    if not state.recorded:
        return []
    return sorted(entry.id for key in state.policy.exempt for entry in ctx.index.of_tracker_key.get(key, ()))


def _limits(settings: DeepLoreSettings, state: RunState) -> tuple[Limit, ...]:
    """The two caps, with what the entries under them use; outlet entries are outside both."""
    capped = [accepted.entry for accepted in state.accepted if not accepted.entry.outlet]
    tokens = sum(entry.tokens for entry in capped)
    budget = None if settings.unlimited_budget else settings.max_tokens_budget
    most = None if settings.unlimited_entries else settings.max_entries
    return Limit("token budget", tokens, budget, "tokens"), Limit("entry cap", len(capped), most, "entries")
