"""Charts: bars beside each other with a limit, marks, a brush and words for each, and what other charts rest on.

Whoever shows one has a table of the same numbers beside it.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import groupby
from typing import Final, Literal, TypeAlias, TypeVar

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray
from PySide6.QtCore import QEvent, QLineF, QPoint, QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QKeyEvent, QMouseEvent, QPainter, QPainterPath, QPaintEvent
from PySide6.QtWidgets import QWidget

from lorestudio.ui.shell.qt import V_LEFT, V_RIGHT
from lorestudio.ui.shell.theme import Theme, drawn, scaled
from lorestudio.ui.shell.words import number
from lorestudio.ui.widgets.paint import Picture, draw_focus, hairline, hatch, set_inks, tell

Numbers = NDArray[np.float64]
Value = TypeVar("Value", float, Numbers)
Places: TypeAlias = tuple[int, int]
"""Bars beside each other: the first, and that after the last."""

Shape: TypeAlias = Literal["circle", "square", "triangle", "diamond", "cross"]

Pair: TypeAlias = tuple[float, float]
Signs: TypeAlias = Mapping[int, tuple[Shape, str]]
"""Shapes and names of colours by the bars that they stand at."""

_SIGN_ROOM: Final = 0.17
"""What the row of signs takes, as a part of the highest bar."""
MARGIN: Final = 5.0
APART: Final = 10.0
"""So many pixels at least are between two names."""
STILL: Final = 5
"""So far may the pointer move between press and release of a click (pixels), and so near is it on an edge."""
BEYOND: Final = 3.0
"""What stands beyond the limit is drawn up to so many times the height of the rest, which could not be seen else."""
WIDE: Final = 4.0
"""From this width on bars have edges, and room between them (pixels)."""


class Layer(Struct, frozen=True):
    """A part of every bar. What is `beyond` is hatched, and stands above the limit where there is one."""

    fill: str
    values: Numbers
    beyond: bool = False


class Bars(Struct, frozen=True):
    """What a chart shows. `limits` has a number or NaN for each bar, `marked` the height of a point upon it or NaN.

    The point of the `expected` bar is hollow, the others are what was recorded.
    `label` is a bar's name below it, `words` all that is said of it. `flags` are bars with a sign at the top: good ones
    (True) and bad ones. `signs` stand in a row of their own under the bars: a shape and a colour each.
    """

    layers: Sequence[Layer] = ()
    limits: Numbers | None = None
    marked: Numbers | None = None
    expected: int = -1
    label: Callable[[int], str] = str
    words: Callable[[int], str] = str
    flags: Mapping[int, bool] = {}
    signs: Signs = {}

    @property
    def amount(self) -> int:
        """How many bars there are."""
        return len(self.layers[0].values) if self.layers else 0


def nice_steps(top: float, most: int = 3) -> list[float]:
    """Numbers from 0 to `top` that people choose, 1, 2 or 5 with zeros, at most `most` besides 0."""
    if not top > 0:
        return [0.0]
    rough = top / most
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * each for each in (1, 2, 5, 10) if power * each >= rough * (1 - 1e-9))
    step = max(1.0, step)
    return [step * place for place in range(math.floor(top / step + 1e-9) + 1)]


class Sign(Struct, frozen=True):
    """A small shape, some `half` pixels to each side of its middle, with an edge of a width. Colours are `#RRGGBB`."""

    shape: Shape
    ground: str
    edge: str
    half: float = 3.5
    wide: float = 1.0

    def draw(self, at: QPointF, painter: QPainter) -> None:
        """Draw it around a point."""
        x, y, r, more = at.x(), at.y(), self.half, self.half + 1
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        set_inks(painter, hairline(QColor(self.edge), self.wide), QColor(self.ground))
        if self.shape == "circle":
            painter.drawEllipse(at, r, r)
        elif self.shape == "square":
            painter.drawRect(QRectF(x - r, y - r, 2 * r, 2 * r))
        elif self.shape == "triangle":
            painter.drawPolygon([QPointF(x, y - more), QPointF(x + more, y + r), QPointF(x - more, y + r)])
        elif self.shape == "diamond":
            ends = QPointF(x, y - more), QPointF(x + more, y), QPointF(x, y + more), QPointF(x - more, y)
            painter.drawPolygon(ends)
        else:
            painter.drawLines([QLineF(x - r, y - r, x + r, y + r), QLineF(x - r, y + r, x + r, y - r)])


def shared(amount: int, cell: float, least: float = 1.0) -> list[range]:
    """Runs of places that share at least so many pixels, where a place has `cell` of them."""
    share = max(1, math.ceil(least / cell))
    return [range(start, min(amount, start + share)) for start in range(0, amount, share)]


class Frame(Struct, frozen=True):
    """The room of a chart between its numbers and its names, and which values its sides stand for."""

    room: QRectF
    across: tuple[float, float]
    up: tuple[float, float]
    steps: Sequence[float] = ()
    """The numbers on the left."""

    def x(self, value: Value) -> Value:
        """Where a value stands from the left."""
        first, last = self.across
        return self.room.left() + (value - first) * (self.room.width() / (last - first))

    def y(self, value: Value) -> Value:
        """Where a value stands from above."""
        low, high = self.up
        return self.room.bottom() - (value - low) * (self.room.height() / (high - low))

    def point(self, across: float, up: float) -> QPointF:
        """Where a pair of values stands."""
        return QPointF(self.x(across), self.y(up))

    def value_at(self, x: float) -> float:
        """The value across at a place from the left."""
        first, last = self.across
        return first + (x - self.room.left()) * ((last - first) / self.room.width())

    def boxes(self, left: Numbers, right: Numbers, low: Numbers, high: Numbers) -> list[QRectF]:
        """Where bars stand, from their sides and ends."""
        left, high = self.x(left), self.y(high)
        sizes = (left, high, self.x(right) - left, self.y(low) - high)
        return [QRectF(*each) for each in zip(*(each.tolist() for each in sizes), strict=True)]


class Plot(Picture):
    """A picture between numbers on the left and names below; `picked` carries what a click or a key went to."""

    picked = Signal(int)

    def __init__(self, theme: Theme, name: str, parent: QWidget | None = None) -> None:
        super().__init__(theme, name, parent)
        self._pressed: QPointF | None = None
        """Where the left button went down, while it is."""

    @property
    def small(self) -> QFont:
        """The letters of numbers and names."""
        return scaled(self.font(), 0.82)

    @property
    @abstractmethod
    def frame(self) -> Frame:
        """Where things are."""

    @abstractmethod
    def _draw(self, painter: QPainter, frame: Frame) -> None:
        """Draw everything."""

    @abstractmethod
    def _clicked(self, point: QPointF) -> None:
        """The left button went down and up in one place."""

    def _draw_axes(self, painter: QPainter, frame: Frame) -> None:
        painter.setPen(hairline(self._theme.color("border_strong")))
        painter.drawPolyline([frame.room.topLeft(), frame.room.bottomLeft(), frame.room.bottomRight()])
        painter.setPen(self._theme.color("text_muted"))

    def _draw_number(self, painter: QPainter, frame: Frame, value: float, text: str) -> None:
        """A number on the left of the room."""
        high = QFontMetricsF(painter.font()).height()
        box = QRectF(0, frame.y(value) - high / 2, frame.room.left() - MARGIN, high)
        painter.drawText(box, V_RIGHT, text)

    def _name_box(self, frame: Frame, value: float, text: str, line: int = 0) -> QRectF:
        """Where a name stands under its value, whole however near that is to an end."""
        metrics = QFontMetricsF(self.small)
        wide, high = metrics.horizontalAdvance(text), metrics.height()
        left = max(3.0, min(frame.x(value) - wide / 2, self.width() - 3 - wide))
        return QRectF(left, frame.room.bottom() + 3 + line * high, wide, high)

    def _draw_name(self, painter: QPainter, frame: Frame, value: float, text: str, line: int = 0) -> None:
        painter.drawText(self._name_box(frame, value, text, line), V_LEFT, text)

    def _draw_signs(self, painter: QPainter, frame: Frame, signs: Iterable[tuple[Sign, Iterable[Pair]]]) -> None:
        """Signs at pairs of values; those that look alike are one picture, as there may be thousands."""
        alike: defaultdict[Sign, list[Pair]] = defaultdict(list)
        for sign, pairs in signs:
            alike[sign].extend(pairs)
        ratio = math.ceil(self.devicePixelRatioF())
        for sign, places in alike.items():
            picture, (x, y) = drawn(18, 18, partial(sign.draw, QPointF(9, 9)), ratio), np.array(places).T
            spots = np.rint(ratio * frame.x(x)) + 1j * np.rint(ratio * frame.y(y))
            for spot in (np.unique(spots) / ratio - (9 + 9j)).tolist():
                painter.drawPixmap(QPointF(spot.real, spot.imag), picture)

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Qt: the chart, and the ring of what the keyboard is on."""
        with QPainter(self) as painter:
            painter.setFont(self.small)
            self._draw(painter, self.frame)
            if self.hasFocus():
                draw_focus(painter, self.rect(), self._theme)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Qt: perhaps a click begins."""
        self._pressed = event.position() if event.button() is Qt.MouseButton.LeftButton else None

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Qt: a click, where the pointer has stayed."""
        pressed, self._pressed = self._pressed, None
        if pressed is not None and (event.position() - pressed).manhattanLength() < STILL:
            self._clicked(event.position())


class PlaceChart(Plot):
    """Places beside each other, each with a name below and words; one of them may be looked at."""

    lined = False
    """Whether lines go from the numbers through the room."""

    def __init__(self, theme: Theme, name: str, parent: QWidget | None = None) -> None:
        super().__init__(theme, name, parent)
        self.amount, self.chosen = 0, -1
        self.label: Callable[[int], str] = str
        self.words: Callable[[int], str] = str
        self._ends = 0.0, 1.0
        """From 0, or from below it where something stands there, to the highest number."""

    @abstractmethod
    def _draw_places(self, painter: QPainter, frame: Frame) -> None:
        """Draw what stands at the places."""

    def choose(self, place: int) -> None:
        """Look at a place, -1 for none; there is none where the places are of fewer turns as yet."""
        place = place if 0 <= place < self.amount else -1
        if place != self.chosen:
            self.chosen = place
            self.update()
        tell(self, self.words(place) if place >= 0 else "")

    def place_at(self, point: QPointF) -> int:
        """The place nearest to a point, -1 where there is none at all."""
        return max(0, min(self.amount - 1, self._place(point))) if self.amount else -1

    def _place(self, point: QPointF) -> int:
        return math.floor(self.frame.value_at(point.x()) + 0.5)

    def words_at(self, point: QPoint) -> str:
        """What is said of the place under the pointer."""
        place = self.place_at(QPointF(point))
        return self.words(place) if place >= 0 else ""

    # ---- drawing ----------------------------------------------------------------------------------------------------

    def _head(self) -> float:
        """How much stands above the room."""
        return MARGIN

    @property
    def frame(self) -> Frame:
        """Where things are: the widest number has room on the left, the names below."""
        metrics, top = QFontMetricsF(self.small), self._head()
        line, (low, most) = metrics.height(), self._ends
        high = max(1.0, self.height() - top - line - 8)
        steps = nice_steps(most, max(2, min(4, int(high / line))))
        left = max(metrics.horizontalAdvance(number(each)) for each in steps) + 11
        room = QRectF(left, top, max(1.0, self.width() - left - 7), high)
        return Frame(room, (-0.5, max(0.5, self.amount - 0.5)), (low, 1.08 * most), steps)

    def _draw(self, painter: QPainter, frame: Frame) -> None:
        if not self.amount:
            return
        theme, room = self._theme, frame.room
        if self.chosen >= 0:
            middle, wide = frame.x(self.chosen), max(3.0, room.width() / self.amount)
            set_inks(painter, hairline(theme.color("accent")), theme.color("accent_soft"))
            painter.drawRect(QRectF(middle - wide / 2, room.top(), wide, frame.y(0) - room.top()))
        self._draw_axes(painter, frame)
        for step in frame.steps:
            if self.lined:
                painter.setPen(hairline(theme.color("border")))
                painter.drawLine(QLineF(room.left(), frame.y(step), room.right(), frame.y(step)))
            painter.setPen(theme.color("text_muted"))
            self._draw_number(painter, frame, step, number(step))
        for place in self._named(frame):
            painter.setPen(theme.color("accent" if place == self.chosen else "text_muted"))
            self._draw_name(painter, frame, place, self.label(place))
        self._draw_places(painter, frame)

    def _named(self, frame: Frame) -> list[int]:
        """The places that are named, as many as there is room for; the chosen one always is."""
        width, cell = QFontMetricsF(self.small).horizontalAdvance, frame.room.width() / self.amount
        places, step = {0, self.amount - 1, max(0, self.chosen)}, 0
        while (wanted := math.ceil((max(width(self.label(place)) for place in places) + APART) / cell)) > step:
            step, places = wanted, {*range(0, self.amount, wanted), max(0, self.chosen)}
        named, free = list[int](), -APART
        for place in sorted(places):
            box = self._name_box(frame, place, self.label(place))
            if named and box.left() < free:
                if place != self.chosen:
                    continue
                named.pop()
            named.append(place)
            free = box.right() + APART - 0.01
        return named

    # ---- keyboard and mouse -----------------------------------------------------------------------------------------

    def _clicked(self, point: QPointF) -> None:
        place = self._place(point)
        if 0 <= place < self.amount:
            self.picked.emit(place)

    def _next(self, event: QKeyEvent) -> int:
        """The place that a key goes to, -1 for none."""
        amount, key = self.amount, event.key()
        steps: dict[int, int] = {
            Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1, Qt.Key.Key_Home: -amount, Qt.Key.Key_End: amount,
        }  # fmt: skip
        return max(0, min(amount - 1, self.chosen + steps[key])) if key in steps and amount else -1

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Qt: arrows, Home and End go from place to place."""
        place = self._next(event)
        if place >= 0:
            self.picked.emit(place)
        else:
            super().keyPressEvent(event)


class BarChart(PlaceChart):
    """`picked` carries a bar that a click or a key went to, `brushed` the bars that are wanted, None for all."""

    brushed = Signal(object)

    def __init__(self, theme: Theme, name: str, parent: QWidget | None = None, *, brush: bool = False) -> None:
        super().__init__(theme, name, parent)
        self.bars = Bars()
        self.range: Places | None = None
        """The bars that are picked out, None for all."""
        self.brushable = False
        """Whether bars can be picked out."""
        self._brush, self._anchor = brush, -1
        self._bottoms: list[Numbers] = []
        """Where each layer begins."""
        self._grip: tuple[int, ...] = ()
        """The edges (0, 1) of what is picked out that the pointer holds, or that lie under it."""
        self._dragged: tuple[float, float] | None = None
        """Where the edges are while they are dragged."""

    # ---- content ----------------------------------------------------------------------------------------------------

    def set_bars(self, bars: Bars, *, brush: bool = True) -> None:
        """Show other bars; without `brush` those of a sorted chart, of which none can be picked out side by side."""
        if bars.amount != self.amount or not brush:
            self.range = self._pressed = self._dragged = None
        self.bars, self.amount, self.label, self.words = bars, bars.amount, bars.label, bars.words
        self.brushable = self._brush and brush and bars.amount > 1
        limits = bars.limits if bars.limits is not None else np.full(bars.amount, np.nan)
        marks = bars.marked if bars.marked is not None else limits
        self._bottoms, top, inside = [], np.zeros(bars.amount), np.zeros(bars.amount)
        for layer in bars.layers:  # what is beyond the limit stands not below that
            low = np.fmax(top, np.where(layer.values > 0, limits, top)) if layer.beyond else top
            self._bottoms.append(low)
            top = low + layer.values
            inside = inside if layer.beyond else top
        held = max(float(np.nanmax(each, initial=0)) for each in (inside, limits, marks))
        whole = max(1.0, held, float(top.max(initial=0)))
        most = min(whole, BEYOND * held) if held else whole
        self._ends = -_SIGN_ROOM * most if bars.signs else 0.0, most
        self.update()
        self.choose(min(self.chosen, bars.amount - 1))

    def brush(self, places: Places | None) -> None:
        """Pick these bars out, None for all; nobody is told."""
        places = None if places == (0, self.amount) else places
        if places != self.range:
            self.range = places
            self.update()

    @property
    def edges(self) -> tuple[float, float]:
        """The sides of what is picked out, each where it is dragged to; bars are 1 wide, the first one around 0."""
        return self._dragged or self._resting

    @property
    def _resting(self) -> tuple[float, float]:
        first, after = self.range or (0, self.amount)
        return first - 0.5, after - 0.5

    # ---- drawing ----------------------------------------------------------------------------------------------------

    def _draw_places(self, painter: QPainter, frame: Frame) -> None:
        self._draw_layers(painter, frame)
        self._draw_limit(painter, frame)
        self._draw_signs(painter, frame, self._signs())
        if self.brushable:
            self._draw_brush(painter, frame)

    def _draw_layers(self, painter: QPainter, frame: Frame) -> None:
        bars, theme, cell = self.bars, self._theme, frame.room.width() / self.amount
        runs = shared(self.amount, cell)
        whole = np.sum([layer.values for layer in bars.layers], axis=0).tolist()
        shown = np.array([max(run, key=whole.__getitem__) for run in runs])  # of those in one pixel the highest
        gap = 0.09 if cell > WIDE else 0.0
        left = np.array([run.start - 0.5 + gap for run in runs])
        right = np.array([run.stop - 0.5 - gap for run in runs])
        for layer, bottoms in zip(bars.layers, self._bottoms, strict=True):
            color = theme.fill(layer.fill)[0]
            painter.setBrush(hatch(color, theme) if layer.beyond else color)
            painter.setPen(hairline(color if layer.beyond else theme.color("fill_edge")) if gap else Qt.PenStyle.NoPen)
            there = layer.values[shown] > 0
            low, high = bottoms[shown][there], (bottoms + layer.values)[shown][there]
            boxes = frame.boxes(left[there], right[there], low, np.minimum(high, self._ends[1]))
            painter.drawRects(boxes)
            for box in (box for box, end in zip(boxes, high.tolist(), strict=True) if end > self._ends[1]):
                painter.fillRect(QRectF(box.left() - 1, box.top() + 4, box.width() + 2, 2), theme.color("panel"))

    def _draw_limit(self, painter: QPainter, frame: Frame) -> None:
        """A broken line over the bars that have the same limit."""
        path, first, before = QPainterPath(), 0, math.nan
        for limit, run in groupby(self.bars.limits.tolist() if self.bars.limits is not None else ()):
            after = first + len([*run])
            if not math.isnan(limit):
                start = frame.point(first - 0.5, limit)
                (path.moveTo if math.isnan(before) else path.lineTo)(start)
                path.lineTo(frame.point(after - 0.5, limit))
            first, before = after, limit
        pen = hairline(self._theme.color("text"), 1.5)
        pen.setStyle(Qt.PenStyle.DashLine)
        painter.strokePath(path, pen)

    def _signs(self) -> Iterator[tuple[Sign, Iterable[Pair]]]:
        """Points, flags, and what stands in the row under the bars."""
        bars, (lowest, most), color = self.bars, self._ends, self._theme.palette.tokens()
        recorded, expected = (Sign("diamond", color[name], color["text"], 2.5) for name in ("text", "panel"))
        for place, height in enumerate(bars.marked.tolist() if bars.marked is not None else ()):
            if not math.isnan(height):
                yield expected if place == bars.expected else recorded, [(place, height)]
        flags: Signs = {place: ("circle", "good") if good else ("cross", "error") for place, good in bars.flags.items()}
        for signs, height in ((flags, 1.03 * most), (bars.signs, lowest / 2)):
            for place, (shape, name) in signs.items():
                half, wide = (2.5, 2.0) if shape == "cross" else (3.5, 1.0)
                yield Sign(shape, color[name], color[name], half, wide), [(place, height)]

    def _draw_brush(self, painter: QPainter, frame: Frame) -> None:
        """A veil over what is not picked out, and the edges of what is."""
        veil, room, bottom = self._theme.color("panel"), frame.room, frame.y(0)
        veil.setAlpha(170)
        edges = [frame.x(edge) for edge in self.edges]
        for left, right in ((room.left(), min(edges)), (max(edges), room.right())):
            painter.fillRect(QRectF(QPointF(left, room.top()), QPointF(right, bottom)), veil)
        for edge, x in enumerate(edges):
            painter.setPen(hairline(self._theme.color("accent"), 4 if self._grip == (edge,) else 2))
            painter.drawLine(QLineF(x, room.top(), x, room.bottom()))

    # ---- keyboard and mouse -----------------------------------------------------------------------------------------

    def _take(self, places: Places | None) -> None:
        before = self.range
        self.brush(places)
        if self.range != before:
            self.brushed.emit(self.range)

    def _clicked(self, point: QPointF) -> None:
        self._anchor = -1
        super()._clicked(point)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Qt: with Shift, keys that go from bar to bar pick bars out, and Escape takes all again."""
        place = self._next(event)
        if event.key() == Qt.Key.Key_Escape and self.range is not None:
            self._take(None)
            return
        if place >= 0 and self.brushable and event.modifiers() & Qt.KeyboardModifier.ShiftModifier:
            self._anchor = max(0, self.chosen) if self._anchor < 0 else self._anchor
            self._take((min(self._anchor, place), max(self._anchor, place) + 1))
        elif place >= 0:
            self._anchor = -1
        super().keyPressEvent(event)

    def _grip_at(self, point: QPointF) -> tuple[int, ...]:
        """The edges that a drag from here moves: the one that is near, both from between them."""
        frame = self.frame
        if not self.brushable or not frame.room.adjusted(-STILL, 0, STILL, 0).contains(point):
            return ()
        away = [point.x() - frame.x(edge) for edge in self.edges]
        nearest = min((0, 1), key=lambda edge: abs(away[edge]))
        return (nearest,) if abs(away[nearest]) <= STILL else (0, 1) if away[0] > 0 > away[1] else ()

    def _hold(self, grip: tuple[int, ...]) -> None:
        """Show which edge can be taken hold of, or is held."""
        if grip != self._grip:
            self._grip = grip
            self.setCursor(Qt.CursorShape.SplitHCursor if len(grip) == 1 else Qt.CursorShape.ArrowCursor)
            self.update()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Qt: perhaps a drag begins; with another button than the left one it ends where it began."""
        super().mousePressEvent(event)
        self._dragged = None
        self._hold(self._grip_at(event.position()))
        self.update()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Qt: edges follow the pointer, as far as there are bars."""
        point, pressed, frame = event.position(), self._pressed, self.frame
        if pressed is None:
            self._hold(self._grip_at(point))
        elif self._grip and (self._dragged or (point - pressed).manhattanLength() >= STILL):
            by, (low, high) = frame.value_at(point.x()) - frame.value_at(pressed.x()), frame.across
            left, right = (
                max(low, min(high, edge + by * (which in self._grip))) for which, edge in enumerate(self._resting)
            )
            self._dragged = left, right
            self.update()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Qt: whole bars between the edges are picked out, one at least."""
        dragged, self._dragged = self._dragged, None
        if dragged is None:
            super().mouseReleaseEvent(event)
        else:
            self._pressed = None
            first = min(self.amount - 1, math.floor(min(dragged) + 1))
            self._take((first, max(first + 1, math.floor(max(dragged) + 1))))
        self._hold(self._grip_at(event.position()))
        self.update()

    def leaveEvent(self, event: QEvent) -> None:
        """Qt: no edge is under the pointer any more."""
        self._hold(())
