"""One generation from its inputs to its trace and the state after it (rules: deeplore 6.7, 10)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from lorestudio.domain.state import Prompt
from lorestudio.settings.deeplore import DeepLoreSettings
from lorestudio.settings.rules import OLD
from lorestudio.systems.base import Decided
from lorestudio.systems.deeplore import pipeline
from lorestudio.systems.deeplore.inputs import Inputs, RandomSource
from lorestudio.systems.deeplore.matched import match
from lorestudio.systems.deeplore.stages.placement import PREFILL_TAG, prefilled
from lorestudio.systems.deeplore.state import RunState
from lorestudio.systems.deeplore.words import VOCABULARY
from lorestudio.systems.holding import Holding
from lorestudio.systems.randomness import Mulberry32
from lorestudio.systems.runner import entry_refs, run_stages
from lorestudio.trace.model import Limit, PromptBlock, RunOutcome, StageRecord, Trace

SYSTEM = "deeplore"


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
        system=SYSTEM,
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
