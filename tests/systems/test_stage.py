"""The ledger: verdicts in order, closed into a record."""

from __future__ import annotations

from typing import Any

from lorestudio.domain.entry import EMPTY
from lorestudio.systems.ledger import Ledger
from lorestudio.trace.model import Outcome, Phase, StageRecord, StageStatus, Verdict
from tests.systems.worlds import entries_of, entry


class Silent:
    """A stage of which only name and phase matter."""

    name = "silent"
    phase = Phase.GATE

    async def run(self, state: Any, ctx: Any) -> StageRecord:
        raise NotImplementedError


A, B, C = entries_of([entry("A"), entry("B"), entry("C")])


def test_a_ledger_keeps_the_order_of_decisions() -> None:
    ledger = Ledger(Silent(), [A, B])
    ledger.remove(B, "blocked")
    ledger.add(C, "cascade", source="A", source_id=0)
    ledger.keep(A, "exempt", by="pin")
    ledger.change(A, "pin_upgraded")
    ledger.refuse(B, "cooling_down", left=2)
    record = ledger.close([A, C], note="note", default_reason="why", details={"n": 1})
    assert record == StageRecord(
        "silent", Phase.GATE, StageStatus.RAN, (0, 1), (0, 2),
        (
            Verdict(1, Outcome.REMOVED, "blocked"),
            Verdict(2, Outcome.ADDED, "cascade", {"source": "A", "source_id": 0}),
            Verdict(0, Outcome.KEPT, "exempt", {"by": "pin"}),
            Verdict(0, Outcome.CHANGED, "pin_upgraded"),
            Verdict(1, Outcome.REFUSED, "cooling_down", {"left": 2}),
        ),
        "note", "why", {"n": 1},
    )  # fmt: skip


def test_who_entered_is_settled_when_the_ledger_is_opened() -> None:
    candidates = [A, B]
    ledger = Ledger(Silent(), candidates)
    candidates.clear()
    assert ledger.close(candidates).entered == (0, 1)


def test_details_may_have_any_name() -> None:
    ledger = Ledger(Silent(), [])
    ledger.add(A, "missing_requirement", entry="x", reason="y")
    assert ledger.close([A]).verdicts[0].details == {"entry": "x", "reason": "y"}


def test_without_details_nothing_is_stored() -> None:
    ledger = Ledger(Silent(), [])
    ledger.add(A, "constant")
    assert ledger.close([A]).verdicts[0].details is EMPTY


def test_a_skipped_stage_passes_everybody_on() -> None:
    record = Ledger(Silent(), [B, A]).skipped("off", {"setting": "recursiveScan"})
    assert (record.status, record.entered, record.left, record.note) == (StageStatus.SKIPPED, (1, 0), (1, 0), "off")
    assert (record.verdicts, record.details) == ((), {"setting": "recursiveScan"})
