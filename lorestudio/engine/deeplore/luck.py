"""The probability of an entry, on every way in (spec: deeplore-engine 3)."""

from __future__ import annotations

from lorestudio.domain.entry import Entry
from lorestudio.engine.deeplore.state import RunState
from lorestudio.engine.stage import Ledger


def luck_decides(state: RunState, ledger: Ledger, entry: Entry) -> bool:
    """Whether the roll lets the entry in; the refusal is put on record. Nothing is rolled where no chance is left."""
    if entry.probability == 0:
        ledger.refuse(entry, "probability_zero")
        return False
    if entry.probability is not None and entry.probability < 1:
        roll = state.draw()
        if roll > entry.probability:
            ledger.refuse(entry, "probability_lost", probability=entry.probability, roll=roll)
            return False
    return True
