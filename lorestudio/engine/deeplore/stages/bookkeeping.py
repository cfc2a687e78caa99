"""Bookkeeping: what the chat remembers of this generation (spec: deeplore-engine 6.2, 6.4, 6.6, 6.8)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Final

from lorestudio.domain.entry import Entry
from lorestudio.domain.javascript import number, round_half_up, to_number
from lorestudio.domain.state import Counters, LoggedGeneration, Usage
from lorestudio.engine.context import RunContext
from lorestudio.engine.deeplore.stages.duplicate_stripping import logged
from lorestudio.engine.deeplore.state import RunState, counters_as_json
from lorestudio.engine.stage import Ledger
from lorestudio.settings.deeplore import DeepLoreSettings
from lorestudio.trace.model import Phase, StageRecord

USAGE_KEPT_MS: Final = 30 * 24 * 60 * 60 * 1000
USAGE_KEPT_ENTRIES: Final = 500
SWIPE_KEYS_KEPT: Final = 10
"""Messages from the end of the chat whose injected entries are remembered for a swipe."""

_WARN_RATIO, _WARN_STEP, _CALM_RATIO = 0.20, 0.05, 0.15


class BookkeepingStage:
    """Runs in every generation; one that ended early only counts itself and lets the trackers run down."""

    name = "bookkeeping"
    phase = Phase.INJECT

    async def run(self, state: RunState, ctx: RunContext) -> StageRecord:
        """Write the state that the next generation starts from."""
        ledger = Ledger(self, state.candidates)
        entries = [item.entry for item in state.accepted]
        after = replace(state.before, prompts=state.prompts, random_state=state.random.state, ai=state.ai)
        counters = state.counters
        if state.outcome is None:
            counters = _remember(counters, entries, ctx.settings)
            log = _log(state, ctx, entries)
            after = replace(
                after,
                chat_counts=_chat_counts(after.chat_counts, after.swipe_keys.get(state.swipe_key, ()), entries),
                swipe_keys=_swipe_keys(after.swipe_keys, state.swipe_key, entries, len(ctx.chat)),
                analytics=_analytics(state, ctx, entries),
                warning_ratio=_warn(state, ctx),
            )
        else:
            log = state.injection_log
        counters = run_down(counters, entries, ctx.settings)
        state.after = replace(after, counters=counters, injection_log=log)
        return ledger.close(state.candidates, details=counters_as_json(counters))


def _remember(counters: Counters, entries: list[Entry], settings: DeepLoreSettings) -> Counters:
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
    return replace(
        counters,
        generation_count=counters.generation_count + 1,
        cooldown=cooldown,
        decay=decay,
        consecutive=consecutive,
    )


def _log(state: RunState, ctx: RunContext, entries: list[Entry]) -> tuple[LoggedGeneration, ...]:
    """The duplicate log with this generation; empty where stripping is off."""
    if not ctx.settings.strip_duplicate_injections:
        return ()
    record = LoggedGeneration(
        state.counters.generation_count + 1, tuple(logged(entry, ctx.settings) for entry in entries)
    )
    return (*state.injection_log, record)[-(ctx.settings.strip_lookback_depth + 1) :]


def _chat_counts(counts: Mapping[str, int], replaced: Iterable[str], entries: list[Entry]) -> dict[str, int]:
    """Injections per entry in this chat; what an earlier run at the same place counted is taken back."""
    updated = dict(counts)
    for key in replaced:
        if updated.get(key, 0) > 0:
            updated[key] -= 1
    for entry in entries:
        updated[entry.tracker_key] = updated.get(entry.tracker_key, 0) + 1
    return updated


def _swipe_keys(
    stored: Mapping[str, tuple[str, ...]], place: str, entries: list[Entry], chat_length: int
) -> dict[str, tuple[str, ...]]:
    """What was injected where, for the last places of the chat."""
    updated = {**stored, place: tuple(dict.fromkeys(entry.tracker_key for entry in entries))}
    oldest = max(0, chat_length - SWIPE_KEYS_KEPT)
    return {key: titles for key, titles in updated.items() if to_number(key.split("|")[0]) >= oldest}


def _analytics(state: RunState, ctx: RunContext, entries: list[Entry]) -> dict[str, Usage]:
    """Usage over all chats; old and surplus records are dropped."""
    records = dict(state.before.analytics)
    matched = state.reached_budget
    if not matched:
        return records
    for entry in matched:
        usage = records.get(entry.tracker_key, Usage())
        records[entry.tracker_key] = replace(usage, matched=usage.matched + 1, last_triggered_ms=ctx.clock_ms)
    for entry in entries:
        usage = records.get(entry.tracker_key, Usage())
        records[entry.tracker_key] = replace(usage, injected=usage.injected + 1)
    oldest = ctx.clock_ms - USAGE_KEPT_MS
    records = {key: usage for key, usage in records.items() if not 0 < usage.last_triggered_ms < oldest}
    counted = sorted(
        (key for key in records if not key.startswith("_")), key=lambda key: records[key].last_triggered_ms
    )
    for key in counted[: max(0, len(counted) - USAGE_KEPT_ENTRIES)]:
        del records[key]
    return records


def _warn(state: RunState, ctx: RunContext) -> float:
    """Warn once when lore takes a large share of the context, again when that grows; returns the ratio to compare."""
    last = state.before.warning_ratio
    if not state.blocks or ctx.context_size <= 0:
        return last
    total = sum(injection.tokens for injection in state.injections)
    ratio = total / ctx.context_size
    if ratio > _WARN_RATIO and ratio > last + _WARN_STEP:
        count = len(state.injections)
        state.warnings.append(
            f"Lore takes {round_half_up(100 * ratio)} % of the context: {total:,} tokens in "
            f"{count} {'entry' if count == 1 else 'entries'}."
        )
        return ratio
    return 0.0 if ratio <= _CALM_RATIO else last
