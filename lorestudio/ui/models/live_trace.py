"""A run under way as a trace, so that every view of traces can show it while it fills."""

from __future__ import annotations

from lorestudio.domain.entry import VaultIndex
from lorestudio.trace.model import EntryRef, RunOutcome, StageRecord, Trace, Turn
from lorestudio.ui.live import LiveRun


def live_trace(live: LiveRun, index: VaultIndex, mode: str) -> Trace:
    """The finished stages of a run, and as the last one the stage that runs: all candidates are still in it."""
    records = list(live.records)
    if live.stage:
        waiting = records[-1].left if records else ()
        records.append(StageRecord(live.stage, live.phase, entered=waiting, left=waiting))
    named = {verdict.entry for record in records for verdict in record.verdicts}
    refs = {}
    for number in sorted(named):
        entry = index.entries[number]
        refs[number] = EntryRef(number, entry.title, entry.vault, entry.filename, entry.priority, entry.tokens)
    return Trace(
        "deeplore",
        mode,
        RunOutcome.NOTHING_INJECTED,
        Turn(live.generation.message, live.generation.swipe, 0),
        refs,
        len(index.entries),
        tuple(records),
    )
