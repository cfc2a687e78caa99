"""The stream of a run laid out from top to bottom: a trunk as wide as the candidates, ribbons that join and leave it.

Only geometry: the pane paints it, and the report writes it as SVG. Units are device-independent pixels.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from lorestudio.trace.flow import Direction, Flow, FlowStage, Measure, Ribbon

NAMES_WIDTH: Final = 150.0
LABELS_WIDTH: Final = 200.0
SLOT: Final = 24.0
ROW: Final = 42.0
QUIET_ROW: Final = 24.0
TOP: Final = 6.0
THINNEST, THICKEST = 2.0, 15.0
"""How thick a ribbon is where it meets its label."""


@dataclass(frozen=True, slots=True)
class Box:
    """An upright rectangle."""

    left: float
    top: float
    width: float
    height: float


@dataclass(frozen=True, slots=True)
class RibbonShape:
    """A ribbon's outline: from the trunk between `near` and `far` (at `edge`) to its label at `label`, `thick` high."""

    ribbon: Ribbon
    near: float
    far: float
    edge: float
    end: float
    middle: float
    thick: float

    @property
    def outline(self) -> tuple[tuple[float, float], tuple[tuple[float, float], ...]]:
        """The start, and then the points of cubic curves in threes, closed by a line back to the start."""
        above, below = self.middle - self.thick / 2, self.middle + self.thick / 2
        outer, inner = (above, below) if self.edge <= self.middle else (below, above)
        far, near = (self.far, outer), (self.near, inner)
        return (self.far, self.edge), (
            far, far, (self.end, outer),
            (self.end, outer), (self.end, inner), (self.end, inner),
            near, near, (self.near, self.edge),
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class RowShape:
    """A stage's row: its part of the trunk, and its ribbons from top to bottom."""

    stage: FlowStage
    box: Box
    trunk: tuple[Box, ...]
    ribbons: tuple[RibbonShape, ...]


@dataclass(frozen=True, slots=True)
class FlowPicture:
    """The whole picture. `labels_at` is where the labels of ribbons begin."""

    width: float
    height: float
    trunk_at: float
    labels_at: float
    rows: tuple[RowShape, ...]


def lay_out(stream: Flow, measure: Measure, width: float, *, everything: bool = False) -> FlowPicture:
    """The picture of a stream in this width; without `everything`, only stages that changed something."""
    stages = stream.stages if everything else stream.changing
    names = min(NAMES_WIDTH, width * 0.34)
    labels_at = width - min(LABELS_WIDTH, width * 0.42)
    room = max(20.0, labels_at - names - 34)
    scale = room / (stream.widest(measure) or 1)
    top = TOP
    rows: list[RowShape] = []
    for stage in stages:
        row = _row(stage, measure, scale, top, names, labels_at, width)
        rows.append(row)
        top += row.box.height
    return FlowPicture(width, top + TOP, names, labels_at, tuple(rows))


def _row(
    stage: FlowStage, measure: Measure, scale: float, top: float, left: float, labels_at: float, width: float
) -> RowShape:
    joins = stage.going(Direction.JOINS)
    leaves = (*stage.going(Direction.LEAVES), *stage.going(Direction.SHORTENED))
    shown = [ribbon for ribbon in (*joins, *leaves) if ribbon.amount(measure)]
    height = max(ROW if shown else QUIET_ROW, SLOT * len(shown) + 8)
    now = left + scale * stage.amount(measure, before=True)
    trunk: list[Box] = []
    shapes: list[RibbonShape] = []
    y = top
    for ribbon in shown:
        wide = scale * ribbon.amount(measure)
        middle = y + SLOT / 2 + 1
        joining = ribbon.direction is Direction.JOINS
        edge = y + SLOT if joining else y
        after = now + wide if joining else now - wide
        trunk.append(Box(left, y, max(0.0, min(now, after) - left), SLOT))
        thick = min(THICKEST, max(THINNEST, wide))
        shapes.append(RibbonShape(ribbon, min(now, after), max(now, after), edge, labels_at, middle, thick))
        now, y = after, y + SLOT
    trunk.append(Box(left, y, max(0.0, now - left), top + height - y))
    return RowShape(stage, Box(0, top, width, height), tuple(trunk), tuple(shapes))
