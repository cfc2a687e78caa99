"""Bookkeeping: what the chat remembers of this generation (rules: deeplore 6.2, 6.4, 6.6, 6.8)."""

from __future__ import annotations

from collections.abc import Iterable

from lorestudio.domain.entry import EMPTY, Entry
from lorestudio.domain.javascript import number, round_half_up
from lorestudio.domain.records import replace
from lorestudio.domain.state import Counters, LoggedGeneration, Tally
from lorestudio.settings.deeplore import DeepLoreSettings
from lorestudio.systems.deeplore.counts import counted
from lorestudio.systems.deeplore.inputs import Inputs
from lorestudio.systems.deeplore.stages.gates import logged
from lorestudio.systems.deeplore.state import RunState, counters_as_json
from lorestudio.systems.ledger import Ledger
from lorestudio.systems.runner import stage
from lorestudio.trace.model import Phase, StageRecord
from lorestudio.trace.wording import plural

_WARN_RATIO, _WARN_STEP, _CALM_RATIO = 0.20, 0.05, 0.15


@stage("bookkeeping", Phase.INJECT)
def bookkeeping_stage(state: RunState, ctx: Inputs, ledger: Ledger) -> StageRecord:
    """Runs in every generation; one that ended early only counts itself and lets the trackers run down."""
    entries = [item.entry for item in state.accepted]
    after = replace(state.before, prompts=state.prompts, random_state=state.random.state, ai=state.ai)
    counters = state.counters
    if state.outcome is None:
        counters = remember(counters, entries, ctx.settings)
        log = _log(state, ctx, entries)
        if state.recorded:  # no decision reads the counts
            reached, injected = ([entry.tracker_key for entry in each] for each in (state.reached_budget, entries))
            clock = ctx.moment.clock_ms
            state.tally = Tally(state.swipe_key, _chat_length(ctx), clock, tuple(reached), tuple(injected))
        after = replace(counted(after, state.tally), warning_ratio=_warn(state, ctx))
    else:
        log = state.injection_log
    counters = run_down(counters, entries, ctx.settings)
    state.after = replace(after, counters=counters, injection_log=log)
    return ledger.close(state.candidates, details=counters_as_json(counters) if ledger.detailed else EMPTY)


def _chat_length(ctx: Inputs) -> int:
    """How long the chat is by which old places are forgotten: in 2.6 the front end's own."""
    if not ctx.rules.answer_slot:
        return len(ctx.moment.chat)
    turn = ctx.moment.turn
    return turn.message + (turn.kind == "swipe" or turn.swipe > 0)  # the answer that a swipe replaces is still there


def remember(counters: Counters, entries: list[Entry], settings: DeepLoreSettings) -> Counters:
    """Start the cooldown of injected entries and note when they were injected."""
    cooldown = dict(counters.cooldown)
    history = dict(counters.injection_history)
    for entry in entries:
        if entry.cooldown is not None and entry.cooldown > 0:
            cooldown[entry.tracker_key] = number(entry.cooldown + 1)
        if settings.reinjection_cooldown > 0:
            history[entry.tracker_key] = counters.generation_count + 1
    return replace(counters, cooldown=cooldown, injection_history=history)


def run_down(counters: Counters, entries: Iterable[Entry], settings: DeepLoreSettings) -> Counters:
    """One generation has passed: cooldowns and staleness move on, streaks go on or end."""
    injected = [entry.tracker_key for entry in entries]
    cooldown = {key: number(left - 1) for key, left in counters.cooldown.items() if left > 1}
    decay = dict(counters.decay)
    if settings.decay_enabled:
        decay |= dict.fromkeys(injected, 0)
        limit = (settings.decay_boost_threshold or 5) * 2
        for key in set(decay).difference(injected):
            decay[key] += 1
            if decay[key] >= limit:
                del decay[key]
    consecutive = {key: streak for key, streak in counters.consecutive.items() if key in injected}
    for key in injected:
        consecutive[key] = consecutive.get(key, 0) + 1
    count = counters.generation_count + 1
    return replace(counters, generation_count=count, cooldown=cooldown, decay=decay, consecutive=consecutive)


def _log(state: RunState, ctx: Inputs, entries: list[Entry]) -> tuple[LoggedGeneration, ...]:
    """The duplicate log with this generation; empty where stripping is off."""
    if not ctx.settings.strip_duplicate_injections:
        return ()
    record = LoggedGeneration(
        state.counters.generation_count + 1, tuple(logged(entry, ctx.settings) for entry in entries)
    )
    return (*state.injection_log, record)[-(ctx.settings.strip_lookback_depth + 1) :]


def _warn(state: RunState, ctx: Inputs) -> float:
    """Warn once when lore takes a large share of the context, again when that grows; returns the ratio to compare."""
    last = state.before.warning_ratio
    if not state.blocks or ctx.moment.context_size <= 0:
        return last
    total = sum(injection.tokens for injection in state.injections)
    ratio = total / ctx.moment.context_size
    if ratio > _WARN_RATIO and ratio > last + _WARN_STEP:
        entries = plural(len(state.injections), "# entry|# entries")
        share = round_half_up(100 * ratio)
        state.warnings.append(f"Lore takes {share} % of the context: {total:,} tokens in {entries}.")
        return ratio
    return 0.0 if ratio <= _CALM_RATIO else last
