"""Searching for settings in the window: what may be turned, the points as a chart and a table, and what to believe."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Final

from msgspec import Struct
from PySide6.QtCore import QPoint, QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QFontMetricsF, QKeyEvent, QPainter
from PySide6.QtWidgets import QWidget

from lorestudio.domain.records import replace
from lorestudio.studio.tuning.scores import METRICS
from lorestudio.studio.tuning.scoring import metric_words, value_words
from lorestudio.studio.tuning.search import SearchOutcome, SearchWay, TriedPoint, between, change_words
from lorestudio.studio.tuning.space import point_words
from lorestudio.ui.shell.qt import TOOLTIP
from lorestudio.ui.shell.theme import Theme
from lorestudio.ui.shell.words import count, number, tr
from lorestudio.ui.widgets.cells import FIT, Column
from lorestudio.ui.widgets.chart import MARGIN, Frame, Pair, Plot, Sign
from lorestudio.ui.widgets.layouts import (
    ProgressBar,
    able,
    button,
    column,
    combo,
    holding,
    label,
    named,
    number_field,
    row,
    scrolled,
    split,
    text_field,
    tight,
)
from lorestudio.ui.widgets.paint import hairline, tell
from lorestudio.ui.widgets.pane import FoldingRow, Pane
from lorestudio.ui.widgets.record_table import RecordTable, RecordView

_NEAR: Final = 14.0
"""So many pixels beside a point a click still means it."""


class Points(Struct, frozen=True):
    """What is drawn: where each point is, by its number; those that no other one beats, in order; -1 is drawn hollow.

    `name` is what goes up and what across, `words` says all of a point; `across` and `up` tell a value.
    """

    places: Mapping[int, tuple[float, float]] = {}
    front: tuple[int, ...] = ()
    name: str = ""
    words: Callable[[int], str] = str
    across: Callable[[float], str] = str
    up: Callable[[float], str] = str


class PointChart(Plot):
    """`picked` carries the number of a point that a click or a key went to. Arrows go along the front."""

    def __init__(self, theme: Theme, name: str, parent: QWidget | None = None) -> None:
        super().__init__(theme, name, parent)
        self.points, self._front = Points(), set[int]()
        self._chosen: int | None = None

    def set_points(self, points: Points) -> None:
        """Show these."""
        self._front = {*points.front}
        on_top = sorted(points.places, key=lambda each: each in self._front)  # what equals them hides none of them
        self.points = replace(points, places={each: points.places[each] for each in on_top})
        self.update()

    def choose(self, chosen: int | None) -> None:
        """Look at a point, None for none."""
        if chosen != self._chosen:
            self._chosen = chosen
            self.update()
        tell(self, "" if chosen is None else self.points.words(chosen))

    @property
    def _ends(self) -> list[tuple[float, float]]:
        """The least and the most across, and upwards."""
        return [(min(each), max(each)) for each in zip(*self.points.places.values(), strict=True)] or [(0, 0)] * 2

    @property
    def frame(self) -> Frame:
        """Where things are: points stand a little apart from the sides, and below them are two lines of words."""
        ends, metrics = self._ends, QFontMetricsF(self.small)
        margins = [0.06 * (high - low or abs(high) or 1) for low, high in ends]
        across, up = [(low - more, high + more) for (low, high), more in zip(ends, margins, strict=True)]
        left = max(metrics.horizontalAdvance(self.points.up(each)) for each in ends[1]) + 11
        high = self.height() - MARGIN - 2 * metrics.height() - 12
        return Frame(QRectF(left, MARGIN, max(1.0, self.width() - left - 7), max(1.0, high)), across, up)

    def _draw(self, painter: QPainter, frame: Frame) -> None:
        points, places, theme = self.points, self.points.places, self._theme
        if not places:
            return
        across, up = self._ends
        self._draw_axes(painter, frame)
        for value in {*up}:
            self._draw_number(painter, frame, value, points.up(value))
        for value in {*across}:
            self._draw_name(painter, frame, value, points.across(value))
        self._draw_name(painter, frame, sum(across) / 2, points.name, line=1)  # numbers may need all the room above
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(hairline(theme.color("accent"), 1.5))
        painter.drawPolyline([frame.point(*places[each]) for each in points.front if each in places])
        apart = {-1, self._chosen, *self._front}
        many = [each for each in places if each not in apart]
        signs: list[tuple[Sign, Iterable[Pair]]] = [
            (self._sign(each), (places[one] for one in many)) for each in many[:1]
        ]
        signs += [(self._sign(each), [places[each]]) for each in places if each in apart]
        self._draw_signs(painter, frame, signs)

    def _sign(self, each: int) -> Sign:
        palette, chosen = self._theme.palette, each == self._chosen
        ground = palette.panel if each < 0 else palette.fill("blue" if each in self._front else "grey")[0]
        edge = palette.accent if chosen else palette.text if each < 0 else palette.fill_edge
        return Sign("circle", ground, edge, *((6.5, 3) if chosen else (4, 1)))

    def _near(self, point: QPointF) -> int | None:
        """The nearest point that is near, of equals the one on top, which can be seen."""
        places, frame = self.points.places, self.frame
        away = {each: (frame.point(*places[each]) - point).manhattanLength() for each in reversed([*places])}
        return min((each for each in away if away[each] <= _NEAR), key=lambda each: away[each], default=None)

    def _clicked(self, point: QPointF) -> None:
        nearest = self._near(point)
        if nearest is not None:
            self.picked.emit(nearest)

    def words_at(self, point: QPoint) -> str:
        """What is said of the point under the pointer."""
        nearest = self._near(QPointF(point))
        return "" if nearest is None else self.points.words(nearest)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Qt: left and right go along the front."""
        steps, front = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1}, self.points.front
        if event.key() in steps and front:
            at = front.index(self._chosen) + steps[Qt.Key(event.key())] if self._chosen in front else 0
            self.picked.emit(front[max(0, min(len(front) - 1, at))])
        else:
            super().keyPressEvent(event)


_WAYS: Final = {
    SearchWay.OPTUNA: ("Guided", "Each next point is likely to do well, by those before it (Optuna chooses)."),
    SearchWay.RANDOM: ("At random", "Each next point is drawn at random."),
    SearchWay.GRID: ("Every one", "All choices of the settings are run one after the other."),
}
_HELD: Final = "On the replies that were held out: no point is chosen by them, so they show what is only luck."
_LINES: Final = 3


class PointRow(Struct, frozen=True):
    """A point in words. `sign` is its glyph and colour."""

    number: int
    settings: str
    values: tuple[str, ...]
    sign: tuple[str, str]
    story: str

    @property
    def name(self) -> str:
        """What it is called."""
        return tr("now") if self.number < 0 else number(self.number)


def point_rows(found: SearchOutcome) -> list[PointRow]:
    """The present settings, the best, the others that none beats, then the rest as it was run. For a worker."""
    shown = {each.number: each for each in (found.best, *found.front()) if each.number >= 0}
    others = [each for each in found.tried if each.number not in shown]
    best = {found.now.number} & {each.number for each in found.front()} | shown.keys()
    return [_row(found, each, best=each.number in best) for each in (found.now, *shown.values(), *others)]


def _row(found: SearchOutcome, each: TriedPoint, *, best: bool) -> PointRow:
    goals = found.plan.goals
    scores = ((part.value(goal), METRICS[goal].unit) for goal in goals for part in (each.training, each.held))
    values = tuple("" if score is None else value_words(score, unit) for score, unit in scores)
    warnings = found.warnings(each) if best else ()
    sign = ("warning", "warning") if warnings else ("check", "good") if best else ("dash", "text_faint")
    lines = [point_words(each.point)]
    for goal in goals if best or each is found.now else ():  # an interval takes a moment
        gain, metric = found.gain(each, goal), METRICS[goal]
        line = tr("{score}: {all}", score=tr(metric.title), all=metric_words(each.training, goal) or tr("not judged"))
        if held := metric_words(each.held, goal):
            line += tr(", on the held-out replies {held}", held=held)
        if gain.held is not None and each.number >= 0:
            told = change_words(gain.held, metric.unit)
            told += f" ({between(gain.held_interval, metric.unit)})" if gain.held_interval is not None else ""
            line += tr("; there a change of {gain}", gain=told)
        lines.append(line)
    return PointRow(each.number, lines[0], values, sign, "\n".join([*lines, *warnings]))


def _value(at: int, each: PointRow) -> str:
    return each.values[at]


class TuningPane(Pane):
    """`chosen` follows when another point is looked at."""

    chosen = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__("tuning", tr("Tuning"), theme, parent)
        self.over = text_field(self, tr("What may be turned, one a line"))
        line = self.over.fontMetrics().lineSpacing()
        self.over.setMinimumHeight(line + 14)  # in a low window, the budget stands below
        self.over.setMaximumHeight(line * _LINES + 14)
        self.way = combo(self, tr("How the next point is chosen"), {way: tr(text) for way, (text, _) in _WAYS.items()})
        for place, (_, tip) in enumerate(_WAYS.values()):
            self.way.setItemData(place, tr(tip), TOOLTIP)
        self.runs = number_field(self, tr("Points"), 1, 10_000, 100, before=tr("Points "))
        self.workers = number_field(self, tr("Processes"), 1, 64, 1, before=tr("Processes "))
        self.add = button(self, tr("Add setting…"), lambda: self.wanted.emit("tuning.add"), kind="small")
        self.start = button(self, tr("Search"), lambda: self.wanted.emit("tuning.start"), kind="primary")
        self.stop = button(self, tr("Stop"), lambda: self.wanted.emit("tuning.stop"))
        self.bar = named(ProgressBar(self), tr("Points run"))
        self.bar.setFixedHeight(4)
        self.state = label(self, kind="small")
        self.chart = PointChart(theme, tr("What points reach and cost"), self)
        self.chart.setMinimumHeight(80)
        self.model, self.view = self._table(("met", "tokens"))
        story = label(self, selectable=True, top=True, margins=(10, 4, 10, 4))
        self.story = named(story, tr("The chosen point"))
        acts = {"look": tr("Turn by turn"), "compare": tr("Compare"), "use": tr("Use…"), "keep": tr("Keep…")}
        acts |= {"export": tr("Export…"), "report": tr("Report…")}
        self.acts = {
            name: button(self, text, lambda _=False, name=name: self.wanted.emit(f"tuning.{name}"), kind="small")
            for name, text in acts.items()
        }
        self.first = button(self, tr("Expectations"), lambda: self.wanted.emit("pane.expectations"))
        self.found: SearchOutcome | None = None
        self._gone_to = False
        self._words = ""
        self._build()
        self.show_running(0, 0, running=False)
        self.show_found(None)

    def _table(self, goals: tuple[str, ...]) -> tuple[RecordTable, RecordView]:
        columns = [Column(tr("Point"), lambda each: each.name, width=FIT, icon=lambda each: each.sign)]
        for place, goal in enumerate(goals):
            for part, (title, tip) in enumerate(((METRICS[goal].title, ""), ("held out", _HELD))):
                at = 2 * place + part
                columns.append(Column(tr(title), partial(_value, at), help=tr(tip), width=FIT, numeric=True))
        columns.append(Column(tr("Settings"), lambda each: each.settings))  # where it is narrow, numbers come first
        model = RecordTable(
            tuple(columns), theme=self.theme, key=lambda each: each.number, tip=lambda each, _column: each.story,
            parent=self,
        )  # fmt: skip
        return model, RecordView(self.theme, model, tr("Points"), self)

    def _build(self) -> None:
        knobs = FoldingRow(holding(row(self.way, self.runs, 1, spacing=6, margins=0)), self.add)
        work = row(self.workers, 1, self.start, self.stop, spacing=6)
        head = column(self.over, knobs, work, self.bar, self.state, spacing=4, margins=(10, 6, 10, 2))
        acts = [*self.acts.values()]
        halves = (holding(row(1, *some, spacing=6, margins=0)) for some in (acts[:3], acts[3:]))
        self.doing = FoldingRow(*halves, margins=(10, 2, 10, 4))
        told = holding(tight(self.story, row(self.first, 1, margins=(10, 2, 10, 6)), 1))
        below = holding(tight((scrolled(told, tr("The chosen point")), 1), self.doing))
        self.column.addWidget(holding(head))
        self.column.addWidget(split(self.chart, self.view, below, sizes=(150, 190, 110), stretch=1), 1)
        self.view.chosen.connect(self._looked)
        self.view.picked.connect(lambda _row: self._go())
        self.chart.picked.connect(self._go)

    def focus_target(self) -> QWidget:
        """What may be turned, at first; then the points."""
        return self.view if self.model.rows else self.over

    def _go(self, chosen: int | None = None) -> None:
        """The person looks at a point, which stays while others come in."""
        self._gone_to = True
        if chosen is not None:
            self.view.choose(chosen)

    @property
    def current(self) -> TriedPoint | None:
        """The point that is looked at."""
        at: PointRow | None = self.view.current
        return None if at is None or self.found is None else self.found.of(at.number)

    def lines(self) -> tuple[str, ...]:
        """What may be turned."""
        return tuple(line.strip() for line in self.over.toPlainText().splitlines() if line.strip())

    def show_running(self, done: int, most: int, *, running: bool, words: str = "") -> None:
        """How far the search is."""
        self.bar.setRange(0, max(1, most))
        self.bar.setValue(done)
        self.bar.setVisible(running)
        gone, come = (self.start, self.stop) if running else (self.stop, self.start)
        come.show()
        if gone.hasFocus():  # it vanishes, and Qt would choose a button of the window's
            (come if running else self.focus_target()).setFocus()
        gone.hide()
        of = tr("{done} of {points}", done=number(done), points=count(most, "point", "points")) if running else ""
        self._words = words or of
        self.state.setText(self._words)

    def set_current(self, *, current: bool) -> None:
        """Say where what was found is of a run that is not the newest; its points can be used one after the other."""
        earlier = tr("Found before the last change: points can still be used. Search again to see what they do now.")
        self.state.setText(earlier if self.found is not None and not current else self._words)

    def show_found(self, found: SearchOutcome | None, rows: Sequence[PointRow] = ()) -> None:
        """Show what was found so far, with its `point_rows`; the best is looked at unless somebody went to another."""
        before = self.view.current if self._gone_to else None
        self.found = found
        self._gone_to = self._gone_to and found is not None
        for part in (self.chart, self.view, self.doing):  # until then, what a search is has the room
            part.setVisible(found is not None)
        self.first.setVisible(found is None)
        self.model.set_rows(rows)
        self.chart.set_points(Points() if found is None else self._points(found, rows))
        if found is not None and rows:
            known = {each.number for each in rows}
            kept = before.number if before is not None and before.number in known else None
            self.view.choose(kept if kept is not None else found.best.number)
        self.note_changed.emit(count(len(rows) - 1, "point", "points") if rows else "")
        self._looked(self.view.current)

    def _points(self, found: SearchOutcome, rows: Sequence[PointRow]) -> Points:
        up, across = found.plan.goals[:2]
        places = found.places()
        along = sorted((each.number for each in found.front() if each.number in places), key=lambda one: places[one])
        stories = {each.number: each.story for each in rows}
        return Points(
            places,
            tuple(along),
            f"{tr(METRICS[up].title)} ↑   {tr(METRICS[across].title)} →",
            lambda one: stories[one],
            lambda value: value_words(value, METRICS[across].unit),
            lambda value: value_words(value, METRICS[up].unit),
        )

    def _looked(self, at: PointRow | None) -> None:
        self.story.setText(at.story if at is not None else tr(
            "Write down what should be in the prompt, in “Expectations”. Then say above which settings may be turned, "
            "and how far: “Add setting…” writes such a line. A search runs the chat with one choice after the other, "
            "and shows which do most of what you expect for the fewest tokens. A third of the replies is held out: no "
            "choice is made by them, so they show what is only luck."
        ))  # fmt: skip
        for name, act in self.acts.items():
            can = at is not None and (name == "report" or at.number >= 0)
            able(act, can, tr("Search for settings first.") if at is None else tr("Choose another point than now."))
        self.chart.choose(at.number if at is not None else None)
        self.chosen.emit()
