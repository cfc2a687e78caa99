"""Counts that a chat keeps and no decision reads: injections per entry, and usage (rules: deeplore 6.4, 6.6).

They are a function of the counts before and of what one generation did (`Tally`), so that a generation which is known
to decide the same can be counted without being run.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from lorestudio.domain.javascript import to_number
from lorestudio.domain.records import replace
from lorestudio.domain.state import EngineState, Tally, Usage

USAGE_KEPT_MS: Final = 30 * 24 * 60 * 60 * 1000
USAGE_KEPT_ENTRIES: Final = 500
SWIPE_KEYS_KEPT: Final = 10
"""Messages from the end of the chat whose injected entries are remembered for a swipe."""


def counted(state: EngineState, tally: Tally | None) -> EngineState:
    """The state with what one generation did counted; None leaves it as it is."""
    if tally is None:
        return state
    return replace(
        state,
        chat_counts=_chat_counts(state.chat_counts, state.swipe_keys.get(tally.place, ()), tally.injected),
        swipe_keys=_swipe_keys(state.swipe_keys, tally),
        analytics=_analytics(state.analytics, tally),
    )


class EngineCounts:
    """The counts of a state, for keeping the states of long chats without them (`systems.base.Counting`)."""

    def without(self, state: EngineState) -> EngineState:
        """The state without its counts."""
        return replace(state, chat_counts={}, swipe_keys={}, analytics={})

    def only(self, state: EngineState) -> EngineState:
        """The counts of a state."""
        return EngineState(chat_counts=state.chat_counts, swipe_keys=state.swipe_keys, analytics=state.analytics)

    def after(self, counts: EngineState, tally: Tally | None) -> EngineState:
        """The counts after a generation that added `tally`."""
        return counted(counts, tally)

    def joined(self, state: EngineState, counts: EngineState) -> EngineState:
        """The state with these counts."""
        return replace(state, chat_counts=counts.chat_counts, swipe_keys=counts.swipe_keys, analytics=counts.analytics)


COUNTS: Final = EngineCounts()


def _chat_counts(counts: Mapping[str, int], replaced: Iterable[str], injected: Iterable[str]) -> dict[str, int]:
    """Injections per entry in this chat; what an earlier run at the same place counted is taken back."""
    updated = dict(counts)
    for key in replaced:
        if updated.get(key, 0) > 0:
            updated[key] -= 1
    for key in injected:
        updated[key] = updated.get(key, 0) + 1
    return updated


def _swipe_keys(stored: Mapping[str, tuple[str, ...]], tally: Tally) -> dict[str, tuple[str, ...]]:
    """What was injected where, for the last places of the chat."""
    updated = {**stored, tally.place: tuple(dict.fromkeys(tally.injected))}
    oldest = max(0, tally.chat_length - SWIPE_KEYS_KEPT)
    return {key: titles for key, titles in updated.items() if to_number(key.split("|")[0]) >= oldest}


def _analytics(before: Mapping[str, Usage], tally: Tally) -> dict[str, Usage]:
    """Usage over all chats; old and surplus records are dropped."""
    records = dict(before)
    if not tally.matched:
        return records
    for key in tally.matched:
        usage = records.get(key, _UNUSED)
        records[key] = Usage(usage.matched + 1, usage.injected, tally.clock_ms)
    for key in tally.injected:
        usage = records.get(key, _UNUSED)
        records[key] = Usage(usage.matched, usage.injected + 1, usage.last_triggered_ms)
    oldest = tally.clock_ms - USAGE_KEPT_MS
    records = {key: usage for key, usage in records.items() if not 0 < usage.last_triggered_ms < oldest}
    counted_keys = [key for key in records if not key.startswith("_")]
    if len(counted_keys) > USAGE_KEPT_ENTRIES:
        counted_keys.sort(key=lambda key: records[key].last_triggered_ms)
        for key in counted_keys[: len(counted_keys) - USAGE_KEPT_ENTRIES]:
            del records[key]
    return records


_UNUSED: Final = Usage()
