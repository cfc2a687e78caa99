"""The points of a search by what they reach and what they cost; the table beside it says the same in words."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

import pyqtgraph as pg
from PySide6.QtCore import QPointF, Qt, Signal
from PySide6.QtGui import QBrush, QFontMetricsF, QKeyEvent
from PySide6.QtWidgets import QWidget

from lorestudio.ui.shell.theme import Theme, scaled
from lorestudio.ui.widgets.chart import Plot
from lorestudio.ui.widgets.paint import hairline, tell

_SIZE: Final = 8
_NEAR: Final = 14.0
"""So many pixels beside a point a click still means it."""


@dataclass(frozen=True, slots=True)
class Points:
    """What is drawn: where each point is, by its number; those that no other one beats, in order; -1 is drawn hollow.

    `name` is what goes up and what across, `words` says all of a point; `across` and `up` tell a value.
    """

    places: Mapping[int, tuple[float, float]] = field(default_factory=dict)
    front: tuple[int, ...] = ()
    name: str = ""
    words: Callable[[int], str] = str
    across: Callable[[float], str] = str
    up: Callable[[float], str] = str


class PointChart(Plot):
    """`picked` carries the number of a point that a click or a key went to. Arrows go along the front."""

    picked = Signal(int)

    def __init__(self, theme: Theme, name: str, parent: QWidget | None = None) -> None:
        self.points = Points()
        self._chosen: int | None = None
        super().__init__(theme, name, parent)
        self._line, self._dots = pg.PlotCurveItem(), pg.ScatterPlotItem(size=_SIZE)
        for item in (self._line, self._dots):
            self._plot.addItem(item)

    def set_points(self, points: Points) -> None:
        """Show these."""
        on_top = sorted(points.places, key=lambda each: each in points.front)  # what equals them hides none of them
        self.points = replace(points, places={each: points.places[each] for each in on_top})
        self._draw()

    def choose(self, chosen: int | None) -> None:
        """Look at a point, None for none."""
        self._chosen = chosen
        tell(self, "" if chosen is None else self.points.words(chosen))
        self._draw()

    def _draw(self) -> None:
        places, theme = self.points.places, self._theme
        xs, ys = [each[0] for each in places.values()] or [0.0], [each[1] for each in places.values()] or [0.0]
        ends = [(min(each), max(each)) for each in (xs, ys)]
        margins = [0.06 * (high - low or abs(high) or 1) for low, high in ends]
        (left, right), (low, high) = [(a - more, b + more) for (a, b), more in zip(ends, margins, strict=True)]
        self._plot.setRange(xRange=(left, right), yRange=(low, high), padding=0, disableAutoRange=True)
        self._draw_axes(ends)
        along = [places[each] for each in self.points.front if each in places]
        self._line.setData(
            x=[each[0] for each in along], y=[each[1] for each in along], pen=hairline(theme.color("accent"), 1.5)
        )
        front, plain = set(self.points.front), QBrush(theme.fill("grey")[0])
        best, hollow = QBrush(theme.fill("blue")[0]), QBrush(theme.color("panel"))
        self._dots.setData(
            x=[*xs] if places else [], y=[*ys] if places else [],
            brush=[hollow if each < 0 else best if each in front else plain for each in places],
            pen=[hairline(theme.color("accent"), 3) if each == self._chosen
                 else hairline(theme.color("text" if each < 0 else "fill_edge")) for each in places],
            size=[_SIZE + 5 if each == self._chosen else _SIZE for each in places],
        )  # fmt: skip

    def _draw_axes(self, ends: list[tuple[float, float]]) -> None:
        font = scaled(self.font(), 0.82)
        metrics, points = QFontMetricsF(font), self.points
        names = [
            [tell_it(each) for each in pair] for tell_it, pair in zip((points.across, points.up), ends, strict=True)
        ]
        for side, (low, high), told in zip(("bottom", "left"), ends, names, strict=True):
            axis = self._axes[side]
            axis.setStyle(tickFont=font, tickLength=0, tickTextOffset=3)
            axis.setTextPen(self._theme.color("text_muted"))
            ticks = [(low, told[0])] + ([(high, told[1])] if high > low else [])
            if side == "bottom":
                ticks.append(((low + high) / 2, points.name))
            axis.setTicks([ticks if points.places else []])
        self._arrange(max(map(metrics.horizontalAdvance, names[1])) + 8, metrics.height() + 9)

    def _clicked(self, event: pg.GraphicsScene.mouseEvents.MouseClickEvent) -> None:
        self.setFocus()
        near = {each: self._distance(place, event.scenePos()) for each, place in self.points.places.items()}
        nearest = min(near, key=lambda each: near[each], default=None)
        if nearest is not None and near[nearest] <= _NEAR:
            self.picked.emit(nearest)

    def _distance(self, place: tuple[float, float], point: QPointF) -> float:
        there = self._plot.mapViewToScene(QPointF(*place))
        return float((there - point).manhattanLength())

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Qt: left and right go along the front."""
        steps, front = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1}, self.points.front
        if event.key() in steps and front:
            at = front.index(self._chosen) + steps[Qt.Key(event.key())] if self._chosen in front else 0
            self.picked.emit(front[max(0, min(len(front) - 1, at))])
        else:
            super().keyPressEvent(event)
