"""The pictures of a report as SVG: the stream by stage, the plain funnel, and the budget bar, each told in words too.

The stream is a trunk as wide as the candidates, with ribbons that join and leave it; the pane paints its geometry as
well. Colours are the program's, as CSS that follows the reader's light or dark scheme.
"""

from __future__ import annotations

import re
import textwrap
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from html import escape
from typing import Final

from msgspec import Struct

from lorestudio.domain.resources import resource
from lorestudio.trace.budget import BudgetView, Segment
from lorestudio.trace.flow import SANKEY_FROM, Direction, Flow, FlowStage, Measure, Ribbon
from lorestudio.trace.model import Phase
from lorestudio.trace.wording import number_words, plural

_USED: Final = ("window", "panel", "raised", "sunken", "border", "border_strong", "text", "text_muted", "text_faint",
                "accent", "mark", "on_mark", "warning", "warning_soft", "error", "error_soft", "good", "fill_edge",
                "ink")  # fmt: skip

PHASE_FILLS: Final[Mapping[Phase, str]] = {
    Phase.LOAD: "grey",
    Phase.MATCH: "yellow",
    Phase.SELECT: "sky",
    Phase.GATE: "orange",
    Phase.BUDGET: "purple",
    Phase.INJECT: "green",
}
"""The fill of what a stage of each phase takes out, or brings in."""


@lru_cache(maxsize=1)
def _colours() -> Mapping[str, Mapping[str, str]]:
    return tomllib.loads((resource("themes") / "colors.toml").read_text(encoding="utf-8"))


def css_variables(scope: str) -> str:
    """Custom properties `--name` of `scope` (a selector), dark where the reader's scheme is."""
    colours = _colours()
    fills = "".join(f"--{name}:{value};" for name, value in colours["fills"].items())
    light, dark = ("".join(f"--{name}:{colours[theme][name]};" for name in _USED) for theme in ("light", "dark"))
    return (
        f"{scope}{{color-scheme:light dark;{fills}{light}}}"
        f"@media (prefers-color-scheme:dark){{{scope}{{{dark}}}}}"
        f"@media print{{{scope}{{{light}}}}}"
    )


def fill(name: str) -> str:
    """A fill as a CSS value; `ink` is the scheme's own black."""
    return f"var(--{name})"


def on_fill(name: str) -> str:
    """What is drawn upon a fill."""
    return "var(--panel)" if name == "ink" else f"var(--on_{name})"


def light(name: str) -> str:
    """The value of a variable in the light scheme, `#RRGGBB`."""
    colours = _colours()
    return colours["fills"].get(name) or colours["light"][name]


NAMES_WIDTH: Final = 150.0
LABELS_WIDTH: Final = 200.0
SLOT: Final = 24.0
ROW: Final = 42.0
QUIET_ROW: Final = 24.0
TOP: Final = 6.0
THINNEST, THICKEST = 2.0, 15.0
"""How thick a ribbon is where it meets its label."""


class Box(Struct, frozen=True):
    """An upright rectangle."""

    left: float
    top: float
    width: float
    height: float


class RibbonShape(Struct, frozen=True):
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


class RowShape(Struct, frozen=True):
    """A stage's row: its part of the trunk, and its ribbons from top to bottom."""

    stage: FlowStage
    box: Box
    trunk: tuple[Box, ...]
    ribbons: tuple[RibbonShape, ...]


class FlowPicture(Struct, frozen=True):
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
        row = _row_shape(stage, measure, scale, top, names, labels_at, width)
        rows.append(row)
        top += row.box.height
    return FlowPicture(width, top + TOP, names, labels_at, tuple(rows))


def _row_shape(
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


PICTURE_STYLE: Final = (
    "svg.picture text{font-family:system-ui,-apple-system,'Segoe UI',sans-serif;font-size:12px;fill:var(--text)}"
    "svg.picture .name{font-weight:600}svg.picture .faint{fill:var(--text_muted);font-size:11px}"
    "svg.picture .trunk{fill:var(--border_strong);opacity:.45}"
    "svg.picture .ribbon{stroke:var(--fill_edge);stroke-width:.7;opacity:.9}"
    "svg.picture .track{fill:var(--sunken);stroke:var(--border_strong)}"
    "svg.picture .bar,svg.picture .edge{stroke:var(--fill_edge);stroke-width:.7}"
    "svg.picture .limit{stroke:var(--text);stroke-width:2}"
)
"""The style of pictures; it uses the variables of `colours`."""

_VARIABLE = re.compile(r"var\(--(\w+)\)")
_BAR_WIDTH = 760.0
_NAMES, _LABELS, _LINE_HEIGHT = 160.0, 240.0, 15.0
_LETTER, _BOLD_LETTER = 6.8, 7.4
"""About how wide a letter of 12 pixels is; where text is measured by whoever shows the picture, this has to do."""
_CUT_SHARE = 0.34
"""The part of the bar that everything cut may take at most; beyond it the cut part is not to scale."""
_HATCH = (
    "<defs><pattern id='cut' width='6' height='6' patternUnits='userSpaceOnUse' patternTransform='rotate(45)'>"
    f"<rect width='3' height='6' style='fill:{fill('purple')}'/></pattern></defs>"
)


def ribbon_words(ribbon: Ribbon, measure: Measure) -> str:
    """`−3 Filtered by context: Era`, `+7 Key found`."""
    sign = "+" if ribbon.direction is Direction.JOINS else "−"
    return f"{sign}{number_words(ribbon.amount(measure))} {ribbon.group}"


def flow_words(stream: Flow, measure: Measure) -> str:
    """The stream in words, for whoever does not see the picture."""
    parts = []
    for stage in stream.changing:
        ribbons = ", ".join(ribbon_words(each, measure) for each in stage.ribbons if each.amount(measure))
        went = _amount(stage.amount(measure), measure)
        parts.append(f"{stage.name}: {ribbons + '; ' if ribbons else ''}{went} went on")
    return ". ".join(parts) + "." if parts else "No stage changed anything."


def flow_svg(stream: Flow, measure: Measure, *, alone: bool = False) -> str:
    """The stream with ribbons where enough stages dropped something, otherwise the plain funnel.

    `alone` makes a file of its own, with the colours in it.
    """
    if stream.dropping < SANKEY_FROM:
        return svg(
            *_steps(stream, measure, _BAR_WIDTH), f"Funnel: {flow_words(stream, measure)}", _BAR_WIDTH, alone=alone
        )
    picture = lay_out(stream, measure, _BAR_WIDTH)
    body = "".join(_row(row, measure, picture) for row in picture.rows)
    return svg(body, picture.height, f"Flow: {flow_words(stream, measure)}", _BAR_WIDTH, alone=alone)


def _row(row: RowShape, measure: Measure, picture: FlowPicture) -> str:
    stage, box = row.stage, row.box
    went = _amount(stage.amount(measure), measure)
    parts = [f"<rect class='trunk' {_at(each.left, each.top, each.width, each.height)}/>" for each in row.trunk]
    colour = fill(PHASE_FILLS[stage.phase])
    for shape in row.ribbons:
        words = escape(ribbon_words(shape.ribbon, measure))
        parts.append(f"<path class='ribbon' style='fill:{colour}' d='{_path(shape)}'><title>{words}</title></path>")
        parts.append(f"<text class='ink' x='{picture.labels_at + 6:.1f}' y='{shape.middle + 4:.1f}'>{words}</text>")
    parts.append(f"<text class='name' x='4' y='{box.top + 15:.1f}'>{escape(stage.name)}</text>")
    if row.ribbons:
        parts.append(f"<text class='faint' x='4' y='{box.top + 31:.1f}'>{escape(went)} on</text>")
    return f"<g>{''.join(parts)}</g>"


def _path(shape: RibbonShape) -> str:
    start, points = shape.outline
    curves = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    return f"M{start[0]:.1f},{start[1]:.1f} C{curves} Z"


def _steps(stream: Flow, measure: Measure, width: float) -> tuple[str, float]:
    """One bar a stage: solid what went on, pale what was taken out. Labels have as many lines as they need."""
    stages = stream.changing
    most = stream.widest(measure) or 1
    left, room = _NAMES + 10, width - _NAMES - 10 - _LABELS
    parts, top = [], 4.0
    for stage in stages:
        before = max(stage.amount(measure, before=True), stage.amount(measure))
        names = textwrap.wrap(stage.name, round(_NAMES / _BOLD_LETTER)) or [""]
        parts.append(_lines(names, 4, top + 14, "name"))
        parts.append(f"<rect class='track' {_at(left, top, room * before / most, 18)}/>")
        wide = room * stage.amount(measure) / most
        parts.append(f"<rect class='bar' style='fill:{fill(PHASE_FILLS[stage.phase])}' {_at(left, top, wide, 18)}/>")
        words = ", ".join(ribbon_words(each, measure) for each in stage.ribbons if each.amount(measure))
        told = f"{number_words(stage.amount(measure))}{f' ({words})' if words else ''}"
        labels = textwrap.wrap(told, round((_LABELS - 10) / _LETTER))
        parts.append(_lines(labels, left + room + 10, top + 14, "ink"))
        top += max(30.0, 12.0 + _LINE_HEIGHT * max(len(names), len(labels)))
    return "".join(parts), max(30.0, top) + 2


def _lines(lines: Sequence[str], x: float, y: float, kind: str) -> str:
    """A text in several lines from this base line on."""
    spans = "".join(
        f"<tspan x='{x:.1f}' dy='{_LINE_HEIGHT if place else 0:.0f}'>{escape(line)}</tspan>"
        for place, line in enumerate(lines)
    )
    return f"<text class='{kind}' y='{y:.1f}'>{spans}</text>"


def lay_out_budget(view: BudgetView, left: float, width: float) -> tuple[float, list[tuple[Segment, float, float]]]:
    """The bar from `left` on: how wide the budget is in it, and of each segment where it begins and how wide it is."""
    cut = sum(segment.tokens for segment in view.cut)
    room = width * max(1 - _CUT_SHARE, view.size / (view.size + cut)) if cut else width
    counted = _in_line(view.counted, left, room / view.size)
    return room, [*counted, *_in_line(view.cut, left + room + 3, (width - room - 3) / (cut or 1))]


def _in_line(segments: Iterable[Segment], left: float, scale: float) -> Iterator[tuple[Segment, float, float]]:
    for segment in segments:
        yield segment, left, scale * segment.tokens
        left += scale * segment.tokens


def budget_svg(view: BudgetView) -> str:
    """What went in by origin and in order, the limit, free room, and hatched what was cut."""
    room, placed = lay_out_budget(view, 4.0, _BAR_WIDTH - 8)
    parts = [_HATCH, f"<rect class='track' {_at(4, 20, room, 28)}/>"]
    parts += (_segment(segment, left, wide, view.maximum) for segment, left, wide in placed)
    edge = 4 + room * ((view.maximum or view.size) / view.size)
    parts.append(f"<line class='limit' x1='{edge:.1f}' y1='14' x2='{edge:.1f}' y2='54'/>")
    anchor = "end" if edge > _BAR_WIDTH / 2 else "start"
    parts.append(f"<text class='ink' x='{edge:.1f}' y='11' text-anchor='{anchor}'>{escape(view.headline())}</text>")
    told = [segment.describe(view.maximum) for segment in (*view.counted, *view.cut)]
    return svg("".join(parts), 58, f"Budget: {view.headline()}. {'. '.join(told)}", _BAR_WIDTH)


def _segment(segment: Segment, left: float, wide: float, maximum: float | None) -> str:
    title = f"<title>{escape(segment.describe(maximum))}</title>"
    at = _at(left, 20, max(wide, 0.5), 28)
    if segment.cut:
        return f"<rect class='edge' style='fill:url(#cut)' {at}>{title}</rect>"
    shape = f"<rect class='edge' style='fill:{fill(segment.origin.fill)}' {at}>{title}</rect>"
    if wide < 14:
        return shape
    letter = f"<text x='{left + wide / 2:.1f}' y='38' text-anchor='middle' style='fill:{on_fill(segment.origin.fill)}'>"
    return f"{shape}{letter}{segment.origin.letter}</text>"


def svg(body: str, height: float, words: str, width: float, *, alone: bool = False) -> str:
    """A picture of these elements; `words` tell it. `alone` is for a file of its own."""
    ground = f"<rect width='{width:.0f}' height='{height:.0f}' style='fill:var(--panel)'/>" if alone else ""
    style = f"<style>{PICTURE_STYLE}</style>" if alone else ""
    size = f"viewBox='0 0 {width:.0f} {height:.0f}' width='{width:.0f}' height='{height:.0f}'"
    said = f"role='img' aria-label='{escape(words, quote=True)}'"
    text = f"<svg class='picture' xmlns='http://www.w3.org/2000/svg' {said} {size}>{style}{ground}{body}</svg>"
    # Programs that show a picture file know no variables.
    return _VARIABLE.sub(lambda found: light(found[1]), text) if alone else text


def _at(left: float, top: float, width: float, height: float) -> str:
    return f"x='{left:.1f}' y='{top:.1f}' width='{width:.1f}' height='{height:.1f}'"


def _amount(amount: int, measure: Measure) -> str:
    return plural(amount, "# entry|# entries" if measure is Measure.ENTRIES else "# token|# tokens")
