"""What made an entry a candidate: the first stage that took it in, in words."""

from __future__ import annotations

from lorestudio.trace.journey import CellState, Journeys
from lorestudio.trace.reasons import Explanation, explain


def came_in(journeys: Journeys, entry: int) -> Explanation | None:
    """Why the entry became a candidate, None where it never did or the stage gave no reason."""
    for cell in journeys.cells(entry):
        if cell.state is CellState.ADDED and cell.verdict is not None:
            return explain(cell.verdict, journeys.trace)
    return None
