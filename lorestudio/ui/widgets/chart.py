"""Bars beside each other, drawn by pyqtgraph: stacked, with a limit, marks, a brush, the keyboard and words for each.

Whoever shows one has a table of the same numbers beside it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from itertools import groupby
from typing import Final

import numpy as np
import pyqtgraph as pg
from msgspec import Struct
from numpy.typing import NDArray
from pyqtgraph import exceptionHandling
from PySide6.QtCore import QEvent, QPoint, QPointF, QRectF, QSignalBlocker, Qt, Signal
from PySide6.QtGui import QBrush, QColor, QFontMetricsF, QKeyEvent, QMouseEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QGraphicsView, QWidget

from lorestudio.ui.shell.qt import later
from lorestudio.ui.shell.theme import Theme, scaled
from lorestudio.ui.shell.words import number
from lorestudio.ui.widgets.layouts import column
from lorestudio.ui.widgets.paint import draw_focus, hairline, hatch, shows_tip, tell

exceptionHandling.handler.remove()  # the window reports errors itself

Numbers = NDArray[np.float64]
Places = tuple[int, int]
"""Bars beside each other: the first, and that after the last."""


_SIGN_ROOM: Final = 0.16
"""The part of the height that the row of signs takes."""


class Layer(Struct, frozen=True):
    """A part of every bar. What is `beyond` is hatched, and stands above the limit where there is one."""

    fill: str
    values: Numbers
    beyond: bool = False


class Bars(Struct, frozen=True):
    """What a chart shows. `limits` has a number or NaN for each bar, `marked` the height of a point upon it or NaN.

    The point of the `expected` bar is hollow, the others are what was recorded.
    `label` is a bar's name below it, `words` all that is said of it. `flags` are bars with a sign at the top: good ones
    (True) and bad ones. `signs` stand in a row of their own under the bars: a symbol of pyqtgraph's and a colour each.
    """

    layers: Sequence[Layer] = ()
    limits: Numbers | None = None
    marked: Numbers | None = None
    expected: int = -1
    label: Callable[[int], str] = str
    words: Callable[[int], str] = str
    flags: Mapping[int, bool] = {}
    signs: Mapping[int, tuple[str, str]] = {}

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


class Plot(QWidget):
    """Axes on the left and below, and between them what is drawn; it takes the keyboard and shows that it has it."""

    def __init__(self, theme: Theme, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName(name)
        self._view: QGraphicsView = pg.GraphicsView(self, useOpenGL=False, background=None)
        self._view.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._view.setCacheMode(QGraphicsView.CacheModeFlag.CacheNone)  # a kept ground would be another theme's
        self._view.setAccessibleName(name)
        column(self._view, of=self, spacing=0, margins=3)
        self._plot = pg.ViewBox(enableMenu=False, enableMouse=False)
        self._axes = {side: pg.AxisItem(side, pen=None) for side in ("left", "bottom")}
        self._room = pg.GraphicsWidget()  # a layout of Qt's would own a window that nobody sees
        for item in (self._plot, *self._axes.values()):
            item.setParentItem(self._room)
        for axis in self._axes.values():
            axis.linkToView(self._plot)
        self._view.setCentralItem(self._room)
        self._room.geometryChanged.connect(self._resized)
        self._view.scene().sigMouseClicked.connect(self._clicked)
        theme.changed.connect(later(self, self._draw).start)  # in a turn of its own: the window's takes long enough

    def _draw(self) -> None:
        """Draw everything anew."""
        raise NotImplementedError

    def _resized(self) -> None:
        """There is more or less room."""
        self._draw()

    def _clicked(self, event: pg.GraphicsScene.mouseEvents.MouseClickEvent) -> None:
        """A click without a drag, told by the scene."""
        raise NotImplementedError

    def _arrange(self, left: float, below: float, right: float = 4.0) -> None:
        """The bars between their numbers and their names; `right` is what the last name takes beyond them."""
        room = self._room.rect()
        wide, high = max(1.0, room.width() - left - right), max(1.0, room.height() - below - 2)
        self._plot.setGeometry(QRectF(left, 2, wide, high))
        for side, size, box in (
            ("left", left, QRectF(0, 2, left, high)), ("bottom", below, QRectF(left, 2 + high, wide, below)),
        ):  # fmt: skip
            axis = self._axes[side]
            (axis.setWidth if side == "left" else axis.setHeight)(size)
            axis.setGeometry(box)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Qt: what the bars leave over takes the keyboard only."""
        self.setFocus()

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Qt: the ring of what the keyboard is on."""
        if self.hasFocus():
            with QPainter(self) as painter:
                draw_focus(painter, self.rect(), self._theme)


class BarChart(Plot):
    """`picked` carries a bar that a click or a key went to, `brushed` the bars that are wanted, None for all."""

    picked = Signal(int)
    brushed = Signal(object)

    def __init__(self, theme: Theme, name: str, parent: QWidget | None = None, *, brush: bool = False) -> None:
        super().__init__(theme, name, parent)
        self.bars = Bars()
        self._chosen, self._top = -1, 1.0
        self.range: Places | None = None
        """The bars that are picked out, None for all."""
        self._anchor = -1
        self._chosen_bar = pg.BarGraphItem(x=[], height=[], width=1)
        self._limit = pg.PlotCurveItem(connect="finite")
        self._points = pg.ScatterPlotItem(symbol="d", size=7)
        self._flags, self._signs = pg.ScatterPlotItem(size=9), pg.ScatterPlotItem(size=7)
        self._veil = pg.BarGraphItem(x0=[], x1=[], height=[])
        self._brush = pg.LinearRegionItem(values=(0, 1)) if brush else None
        for depth, item in enumerate(
            (self._chosen_bar, self._limit, self._points, self._flags, self._signs, self._veil, self._brush)
        ):
            if item is not None:
                item.setZValue(-10 if item is self._chosen_bar else 10 + depth)
                self._plot.addItem(item)
        if self._brush is not None:
            self._brush.sigRegionChangeFinished.connect(self._brush_left)
        self._layers: list[pg.BarGraphItem] = []

    # ---- content ----------------------------------------------------------------------------------------------------

    def set_bars(self, bars: Bars, *, brush: bool = True) -> None:
        """Show other bars; without `brush` those of a sorted chart, of which none can be picked out side by side."""
        if bars.amount != self.bars.amount or not brush:
            self.range = None
        self.bars = bars
        if self._brush is not None:
            self._brush.setVisible(brush and bars.amount > 1)
        self._draw()
        self.choose(min(self._chosen, bars.amount - 1))

    def choose(self, place: int) -> None:
        """Look at a bar, -1 for none; there is none where the bars are of fewer turns as yet."""
        self._chosen = place = place if place < self.bars.amount else -1
        shown = [place] if place >= 0 else []
        self._chosen_bar.setOpts(x=shown, height=[self._top] * len(shown), width=max(1.0, 3 * self._pixel))
        self._draw_names()
        tell(self, self.bars.words(place) if 0 <= place < self.bars.amount else "")

    def brush(self, places: Places | None) -> None:
        """Pick these bars out, None for all; nobody is told."""
        self.range = None if places == (0, self.bars.amount) else places
        self._show_brush()

    def place_at(self, point: QPointF) -> int:
        """The bar at a point of the widget, -1 for none."""
        inside = self._view.mapFrom(self, point.toPoint())
        x = self._plot.mapSceneToView(self._view.mapToScene(inside)).x()
        return int(max(0, min(self.bars.amount - 1, math.floor(x + 0.5)))) if self.bars.amount else -1

    def point_of(self, place: int) -> QPoint:
        """The middle of a bar, as a point of the widget."""
        scene = self._plot.mapViewToScene(QPointF(place, self._top / 2))
        inside: QPoint = self._view.mapFromScene(scene)
        return self._view.mapTo(self, inside)

    # ---- drawing ----------------------------------------------------------------------------------------------------

    @property
    def _pixel(self) -> float:
        """So many bars are as wide as a pixel."""
        width: float = self._plot.width()
        return self.bars.amount / max(1.0, width)

    def _draw(self) -> None:
        bars, theme = self.bars, self._theme
        for item in self._layers:
            self._plot.removeItem(item)
        nowhere = np.full(bars.amount, np.nan)
        limits = bars.limits if bars.limits is not None else nowhere
        marks = bars.marked if bars.marked is not None else nowhere
        self._draw_numbers(
            max(1.0, *(float(np.nanmax(each, initial=0)) for each in (self._tops(limits), limits, marks)))
        )
        drawn, centres, wide = self._drawn()
        below = np.zeros(bars.amount)
        self._layers = []
        for layer in bars.layers:
            below = self._bottom(layer, below, limits)
            color, edge = theme.fill(layer.fill)[0], theme.color("fill_edge")
            there = layer.values[drawn] > 0
            shown = drawn[there]
            item = pg.BarGraphItem(
                x=centres[there], y0=below[shown], height=layer.values[shown], width=wide,
                brush=hatch(color, theme) if layer.beyond else QBrush(color),
                pen=hairline(color if layer.beyond else edge) if self._pixel < 0.25 else pg.mkPen(None),
            )  # fmt: skip
            below = below + layer.values
            self._layers.append(item)
            self._plot.addItem(item)
        lowest = -_SIGN_ROOM * self._top if bars.signs else 0
        self._plot.setRange(
            xRange=(-0.5, max(0.5, bars.amount - 0.5)), yRange=(lowest, self._top), padding=0, disableAutoRange=True
        )
        self._draw_limit(limits)
        seen = np.flatnonzero(~np.isnan(marks))
        ink, hollow = QBrush(theme.color("text")), QBrush(theme.color("panel"))
        self._points.setData(
            x=seen, y=marks[seen], pen=hairline(theme.color("text")),
            brush=[hollow if place == bars.expected else ink for place in seen],
        )  # fmt: skip
        inks = [theme.color("good" if good else "error") for good in bars.flags.values()]
        self._flags.setData(
            x=[*bars.flags], y=[0.95 * self._top] * len(inks), pen=[pg.mkPen(ink, width=1) for ink in inks],
            brush=[QBrush(ink) for ink in inks], symbol=["o" if good else "x" for good in bars.flags.values()],
        )  # fmt: skip
        inks = [theme.color(colour) for _symbol, colour in bars.signs.values()]
        self._signs.setData(
            x=[*bars.signs], y=[lowest / 2] * len(inks), pen=[pg.mkPen(ink, width=1) for ink in inks],
            brush=[QBrush(ink) for ink in inks], symbol=[symbol for symbol, _colour in bars.signs.values()],
        )  # fmt: skip
        self._chosen_bar.setOpts(brush=theme.color("accent_soft"), pen=hairline(theme.color("accent")))
        self._show_brush()

    @staticmethod
    def _bottom(layer: Layer, below: Numbers, limits: Numbers) -> Numbers:
        """Where a layer begins: on those before it; what is beyond the limit not below that."""
        return np.fmax(below, np.where(layer.values > 0, limits, below)) if layer.beyond else below

    def _tops(self, limits: Numbers) -> Numbers:
        """Where the bars end."""
        top = np.zeros(self.bars.amount)
        for layer in self.bars.layers:
            top = self._bottom(layer, top, limits) + layer.values
        return top

    def _draw_numbers(self, top: float) -> None:
        """The axes, so that `top` has room."""
        self._top, font = 1.08 * top, scaled(self.font(), 0.82)
        for axis in self._axes.values():
            axis.setStyle(tickFont=font, tickLength=0, tickTextOffset=3)
            axis.setTextPen(self._theme.color("text_muted"))
        metrics = QFontMetricsF(font)
        room = self._room.rect().height() - metrics.height() - 7
        steps = nice_steps(top, max(2, min(4, int(room / metrics.height()))))
        self._axes["left"].setTicks([[(each, number(each)) for each in steps]])
        self._arrange(max(metrics.horizontalAdvance(number(each)) for each in steps) + 8, metrics.height() + 5)

    def _drawn(self) -> tuple[NDArray[np.intp], Numbers, float]:
        """Which bars are drawn, where, and how wide: all of them; of several that share a pixel the highest."""
        share, amount = math.ceil(self._pixel), self.bars.amount
        if share <= 1 or not amount:
            places = np.arange(amount)
            return places, places.astype(float), 0.82 if self._pixel < 0.25 else 1.0
        starts = np.arange(0, amount, share)
        whole = np.sum([layer.values for layer in self.bars.layers], axis=0)
        highest = [start + int(np.argmax(whole[start : start + share])) for start in starts]
        return np.array(highest, dtype=np.intp), np.asarray(starts + (share - 1) / 2, dtype=np.float64), float(share)

    def _draw_limit(self, limits: Numbers) -> None:
        """A broken line over the bars that have the same limit."""
        x: list[float] = []
        y: list[float] = []
        for limit, run in groupby(range(len(limits)), lambda place: float(limits[place])):
            places = [*run]
            x += [places[0] - 0.5, places[-1] + 0.5]
            y += [limit, limit]
        pen = hairline(self._theme.color("text"), 1.5)
        pen.setStyle(Qt.PenStyle.DashLine)
        self._limit.setData(x=x, y=y, pen=pen)

    def _draw_names(self) -> None:
        """The names of as many bars as there is room for; that of the chosen one always."""
        bars, font = self.bars, scaled(self.font(), 0.82)
        if not bars.amount:
            self._axes["bottom"].setTicks([[]])
            return
        width, room = QFontMetricsF(font).horizontalAdvance, 0.0
        places = {0, bars.amount - 1, max(self._chosen, 0)}
        while (wanted := (max(width(bars.label(place)) for place in places) + 10) * self._pixel) > room:
            room = wanted
            places = {*range(0, bars.amount, max(1, math.ceil(room)))}
            if self._chosen >= 0:
                places = {place for place in places if abs(place - self._chosen) >= room} | {self._chosen}
        self._axes["bottom"].setTicks([[(place, bars.label(place)) for place in sorted(places)]])

    def _show_brush(self) -> None:
        amount, region = self.bars.amount, self._brush
        first, last = self.range or (0, amount)
        veil = QColor(self._theme.color("panel"))
        veil.setAlpha(170)
        ends = [(-0.5, first - 0.5), (last - 0.5, amount - 0.5)] if self.range else []
        self._veil.setOpts(
            x0=[each[0] for each in ends], x1=[each[1] for each in ends], height=[self._top] * len(ends),
            brush=veil, pen=pg.mkPen(None),
        )  # fmt: skip
        if region is not None:
            with QSignalBlocker(region):
                region.setBounds((-0.5, max(0.5, amount - 0.5)))
                region.setRegion((first - 0.5, max(0.5, last - 0.5)))
            region.setBrush(QBrush(Qt.BrushStyle.NoBrush))
            region.setHoverBrush(QBrush(Qt.BrushStyle.NoBrush))
            for line in region.lines:
                line.setPen(hairline(self._theme.color("accent"), 2))
                line.setHoverPen(hairline(self._theme.color("accent"), 4))

    # ---- keyboard and mouse -----------------------------------------------------------------------------------------

    def _brush_left(self) -> None:
        if self._brush is not None:
            left, right = self._brush.getRegion()
            first = round(left + 0.5)
            self._take((first, max(first + 1, round(right + 0.5))))

    def _take(self, places: Places | None) -> None:
        before = self.range
        self.brush(places)
        if self.range != before:
            self.brushed.emit(self.range)

    def _clicked(self, event: pg.GraphicsScene.mouseEvents.MouseClickEvent) -> None:
        """A click without a drag, told by the scene."""
        self.setFocus()
        place = math.floor(self._plot.mapSceneToView(event.scenePos()).x() + 0.5)
        if 0 <= place < self.bars.amount:
            self._anchor = -1
            self.picked.emit(place)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Qt: arrows, Home and End go from bar to bar; with Shift they pick bars out, and Escape takes all again."""
        amount, key = self.bars.amount, Qt.Key(event.key())
        steps = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1, Qt.Key.Key_Home: -amount, Qt.Key.Key_End: amount}
        picks = self._brush is not None and self._brush.isVisible()
        if key in steps and amount:
            place = max(0, min(amount - 1, self._chosen + steps[key]))
            if picks and event.modifiers() & Qt.KeyboardModifier.ShiftModifier:
                self._anchor = max(0, self._chosen) if self._anchor < 0 else self._anchor
                self._take((min(self._anchor, place), max(self._anchor, place) + 1))
            else:
                self._anchor = -1
            self.picked.emit(place)
        elif key == Qt.Key.Key_Escape and self.range is not None:
            self._take(None)
        else:
            super().keyPressEvent(event)

    def event(self, event: QEvent) -> bool:
        """Qt: what is under the pointer."""
        return shows_tip(self, event, self._words_at) or super().event(event)

    def _words_at(self, point: QPoint) -> str:
        place = self.place_at(QPointF(point))
        return self.bars.words(place) if place >= 0 else ""

    def _resized(self) -> None:
        """Another width holds other bars and names."""
        self._draw()
        self.choose(self._chosen)
