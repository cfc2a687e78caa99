"""How often entries fired over many runs: matched, and in the end injected."""

from __future__ import annotations

from dataclasses import dataclass

from lorestudio.trace.model import Outcome, Phase, Trace


@dataclass(frozen=True, slots=True)
class Fired:
    """In how many runs an entry was matched (a matching stage let it in) and injected; pinned entries count too."""

    matched: int = 0
    injected: int = 0


NEVER = Fired()


def fired_in(trace: Trace) -> tuple[frozenset[int], frozenset[int]]:
    """The entries that a run matched, and those that it injected."""
    injected = frozenset(injection.entry for injection in trace.injections)
    matched = {
        verdict.entry
        for record in trace.stages
        if record.phase is Phase.MATCH
        for verdict in record.verdicts
        if verdict.outcome is Outcome.ADDED
    }
    matched.update(entry for record in trace.stages if record.phase is Phase.MATCH for entry in record.left)
    return frozenset(matched) | injected, injected
