"""Where the candidates of a run came from and went: picture and table, in entries or tokens, to see and to save.

The picture is the stages as steps of a funnel, or a painted stream: a trunk, and labelled ribbons that join and leave
it. Both and the table say what came in, joined, left and went on at every stage, and what took the others.
"""

from __future__ import annotations

from collections import Counter
from functools import partial
from typing import Final

from msgspec import Struct
from PySide6.QtCore import QObject, QPoint, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QFocusEvent,
    QImage,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPainterPath,
    QPaintEvent,
    QResizeEvent,
)
from PySide6.QtWidgets import QBoxLayout, QListView, QScrollArea, QSizePolicy, QWidget

from lorestudio.domain.records import replace
from lorestudio.studio.report.pictures import PHASE_FILLS, RibbonShape, RowShape, flow_svg, lay_out, ribbon_words
from lorestudio.trace.explain import explain_stage
from lorestudio.trace.flow import SANKEY_FROM, TABLE_COLUMNS, Direction, Flow, Measure, Ribbon, flow, flow_rows
from lorestudio.trace.model import Outcome, Phase, Trace
from lorestudio.trace.text import csv_bytes
from lorestudio.ui.shell.qt import V_LEFT
from lorestudio.ui.shell.theme import Theme, scaled
from lorestudio.ui.shell.words import count, number, tr
from lorestudio.ui.state.ai_calls import stage_failure
from lorestudio.ui.widgets import dialogs, layouts
from lorestudio.ui.widgets.cells import FIT, Bar, Column, Glyph, Look, Piece, Strip, Words, same_words, titled
from lorestudio.ui.widgets.layouts import iconed, menu_of, one_of, stack, tight, tool
from lorestudio.ui.widgets.paint import Picture, draw_focus, draw_words, hairline, png_bytes, set_inks, tell
from lorestudio.ui.widgets.record_table import RecordTable, RecordView


class FunnelStep(Struct, frozen=True):
    """One stage. `share` is its candidates, or their tokens, as a part of the most there ever were, 0 to 1."""

    stage: str
    phase: Phase
    left: int
    added: int
    removed: int
    share: float
    removed_share: float
    why: str
    error: str
    running: bool = False
    measure: Measure = Measure.ENTRIES

    def describe(self) -> str:
        """The step in words."""
        tokens = self.measure is Measure.TOKENS
        parts = [count(self.left, "token", "tokens") if tokens else count(self.left, "candidate", "candidates")]
        if self.added:
            parts.append(tr("{amount} added", amount=number(self.added)))
        if self.removed:
            parts.append(tr("{amount} removed", amount=number(self.removed)))
        if self.error:
            parts.append(tr("failed: {error}", error=self.error))
        if self.running:
            parts.append(tr("running"))
        return f"{self.stage}: {', '.join(parts)}" + (f" ({self.why})" if self.why else "")


def steps(
    trace: Trace,
    *,
    everything: bool = False,
    running: str = "",
    measure: Measure = Measure.ENTRIES,
    stream: Flow | None = None,
) -> tuple[FunnelStep, ...]:
    """The steps of a run; without `everything`, only those that changed the number of candidates, or failed.

    `running` is the stage of a run under way that has not decided yet; it is the last one. `stream` is the same trace
    as a flow, where it was read already.
    """
    stream = stream or flow(trace)
    most = stream.widest(measure) or 1
    found = []
    for record, stage in zip(trace.stages, stream.stages, strict=True):
        error = record.error or stage_failure(record, trace)
        undecided = bool(running) and record is trace.stages[-1]
        if record.added or record.removed or error or undecided or everything:
            reasons = Counter(
                verdict.reason for verdict in record.verdicts if verdict.outcome in {Outcome.ADDED, Outcome.REMOVED}
            )
            why = ", ".join(f"{trace.words.label(code)} × {number(amount)}" for code, amount in reasons.most_common(3))
            removed = stage.moving(measure, Direction.LEAVES) + stage.moving(measure, Direction.SHORTENED)
            left, added = stage.amount(measure), stage.moving(measure, Direction.JOINS)
            why = tr("Running…") if undecided else why or explain_stage(record, trace)
            shares = left / most, removed / most
            found.append(
                FunnelStep(record.name, record.phase, left, added, removed, *shares, why, error, undecided, measure)
            )
    return tuple(found)


class FunnelList(RecordTable):
    """A step a row: a bar as long as its candidates, what was added and what was taken away, hatched, and why."""

    def __init__(self, parent: QObject | None = None) -> None:
        column = Column("", FunnelStep.describe, look=_look)
        super().__init__([column], key=lambda step: step.stage, tip=same_words, parent=parent)

    def set_elapsed(self, text: str) -> None:
        """Say of the running step how long it has taken."""
        if self.rows and self.rows[-1].running:
            self.set_rows((*self.rows[:-1], replace(self.rows[-1], why=tr("Running, {time}", time=text))))


_NAME: Final = 156  # room for all stages but one, which is told by its tip
_LEFT: Final = 48  # room for a five-figure number of tokens


def _look(step: FunnelStep) -> Look:
    """Two lines: the stage with its bar and numbers, then the phase and what took the others."""
    changes = [f"+{number(step.added)}"] if step.added else []
    changes += [f"\N{MINUS SIGN}{number(step.removed)}"] if step.removed else []
    fill = "green" if step.phase is Phase.LOAD else PHASE_FILLS[step.phase]
    bar = Bar(((0, step.share, fill), (step.share, step.share + step.removed_share, "")), track=True)
    left = Words(number(step.left), bold=True, width=_LEFT, right=True)
    changed = Words("  ".join(changes), tone="text_muted", scale=0.93, width=66, gap=4)
    first = Strip((Words(step.stage, bold=True, width=_NAME, gap=4), bar), (left, changed), 20)
    sign: tuple[Piece, ...] = ()
    if step.error or step.running:
        sign = (Glyph("error", "error", 13, 18) if step.error else Glyph("live", "accent", 13, 18, steady=True),)
    why = Words(step.error or step.why, tone="error" if step.error else "text_muted", scale=0.88)
    phase = Words(step.phase.value, tone="text_muted", scale=0.88, width=_NAME, gap=4)
    return Look((first, Strip((phase, *sign, why), height=18)), left=10, right=0, top=3, ring=True)


def flow_table(parent: QObject) -> RecordTable:
    """Rows of `trace.flow.flow_rows`."""

    def column(place: int, title: str) -> Column:
        def words(row: tuple[str | int, ...]) -> str:
            value = row[place]
            return number(value) if isinstance(value, int) else value

        return Column(title, words, width=FIT if title != "Titles" else 0, numeric=title in {"Entries", "Tokens"})

    columns = [column(place, title) for place, title in enumerate(TABLE_COLUMNS)]
    return RecordTable(columns, spoken=titled(""), tip=same_words, parent=parent)


class FlowView(Picture):
    """Up and Down go from stage to stage, Left and Right through a stage's ribbons, Enter lists a ribbon's entries.

    `ribbon_chosen` carries the entries and what the ribbon is called.
    """

    ribbon_chosen = Signal(tuple, str)
    moved = Signal(QRectF)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(theme, tr("Flow of the candidates from stage to stage"), parent)
        self._flow = Flow(())
        self._measure = Measure.ENTRIES
        self._everything = False
        self._picture = lay_out(self._flow, self._measure, 400)
        self._row, self._ribbon = 0, 0
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def set_flow(self, stream: Flow | None, measure: Measure, *, everything: bool = False) -> None:
        """Show another run, or the same one in entries or tokens."""
        self._flow, self._measure, self._everything = stream or Flow(()), measure, everything
        self._lay_out()
        self._row = min(self._row, max(0, len(self._picture.rows) - 1))
        self._ribbon = 0
        self._describe()

    @property
    def current(self) -> Ribbon | None:
        """The ribbon that the keyboard is on, None where its stage has none."""
        row = self._current_row
        return row.ribbons[self._ribbon].ribbon if row is not None and self._ribbon < len(row.ribbons) else None

    @property
    def stage(self) -> str:
        """The stage that the keyboard is on."""
        row = self._current_row
        return row.stage.name if row is not None else ""

    @property
    def _current_row(self) -> RowShape | None:
        rows = self._picture.rows
        return rows[self._row] if 0 <= self._row < len(rows) else None

    def _lay_out(self) -> None:
        width = max(260.0, float(self.width()))
        self._picture = lay_out(self._flow, self._measure, width, everything=self._everything)
        self.setFixedHeight(round(self._picture.height) + 4)
        self.update()

    def sizeHint(self) -> QSize:
        """Qt: as high as the picture."""
        return QSize(420, round(self._picture.height) + 4)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Qt: another width is another picture."""
        if event.size().width() != event.oldSize().width():
            self._lay_out()

    # ---- drawing ----------------------------------------------------------------------------------------------------

    def paintEvent(self, event: QPaintEvent) -> None:
        """Qt: draw what is in sight."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        self.draw(painter, QRectF(event.rect()), focus=self.hasFocus())

    def draw(self, painter: QPainter, seen: QRectF, *, focus: bool = False) -> None:
        """Draw the rows that lie in `seen`."""
        for place, row in enumerate(self._picture.rows):
            box = QRectF(row.box.left, row.box.top, row.box.width, row.box.height)
            if box.intersects(seen):
                self._draw_row(painter, row, box, current=focus and place == self._row)

    def _draw_row(self, painter: QPainter, row: RowShape, box: QRectF, *, current: bool) -> None:
        theme, stage = self._theme, row.stage
        if current:
            painter.fillRect(box, theme.color("hover"))
        trunk = QColor(theme.color("border_strong"))
        trunk.setAlphaF(0.45)
        for piece in row.trunk:
            painter.fillRect(QRectF(piece.left, piece.top, piece.width, piece.height), trunk)
        names = QRectF(8, box.top() + 2, self._picture.trunk_at - 14, 18)
        set_inks(painter, theme.color("text"), font=scaled(self.font(), 1.0, bold=True))
        draw_words(painter, names, stage.name)
        if row.ribbons:
            set_inks(painter, theme.color("text_muted"), font=scaled(self.font(), 0.88))
            painter.drawText(names.translated(0, 17), V_LEFT, self._amount(row))
        ground, _ink = theme.fill(PHASE_FILLS[stage.phase])
        for place, shape in enumerate(row.ribbons):
            self._draw_ribbon(painter, shape, ground, focus=current and place == self._ribbon)
        if current and not row.ribbons:
            draw_focus(painter, box.adjusted(2, 1, -2, -1), theme)

    def _draw_ribbon(self, painter: QPainter, shape: RibbonShape, ground: QColor, *, focus: bool) -> None:
        theme = self._theme
        set_inks(painter, hairline(theme.color("fill_edge")), ground)
        painter.drawPath(_path(shape))
        label = self._label_box(shape)
        set_inks(painter, theme.color("text"), font=self.font())
        draw_words(painter, label.adjusted(6, 0, -2, 0), ribbon_words(shape.ribbon, self._measure))
        if focus:
            draw_focus(painter, label, theme)

    def _label_box(self, shape: RibbonShape) -> QRectF:
        return QRectF(shape.end, shape.middle - 10, self._picture.width - shape.end - 4, 20)

    def _amount(self, row: RowShape) -> str:
        amount = row.stage.amount(self._measure)
        if self._measure is Measure.TOKENS:
            return tr("{tokens} on", tokens=count(amount, "token", "tokens"))
        return tr("{entries} on", entries=count(amount, "entry", "entries"))

    # ---- keyboard, mouse, words --------------------------------------------------------------------------------------

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Qt: arrows, Home, End, Enter."""
        rows, row = self._picture.rows, self._current_row
        ribbons = len(row.ribbons) if row is not None else 0
        places = {
            Qt.Key.Key_Down: (min(len(rows) - 1, self._row + 1), 0),
            Qt.Key.Key_Up: (max(0, self._row - 1), 0),
            Qt.Key.Key_Home: (0, 0),
            Qt.Key.Key_End: (len(rows) - 1, 0),
            Qt.Key.Key_Right: (self._row, min(ribbons - 1, self._ribbon + 1) if ribbons else 0),
            Qt.Key.Key_Left: (self._row, max(0, self._ribbon - 1)),
        }
        if rows and event.key() in places:
            self._go(*places[Qt.Key(event.key())])
        elif event.key() in {Qt.Key.Key_Return, Qt.Key.Key_Enter} and self.current is not None:
            self._choose(self.current)
        else:
            super().keyPressEvent(event)

    def _go(self, row: int, ribbon: int) -> None:
        self._row, self._ribbon = row, ribbon
        self._describe()
        box = self._picture.rows[row].box
        self.moved.emit(QRectF(box.left, box.top, box.width, box.height))
        self.update()

    def _choose(self, ribbon: Ribbon) -> None:
        self.ribbon_chosen.emit(ribbon.entries, f"{ribbon.stage}: {ribbon_words(ribbon, Measure.ENTRIES)}")

    def _at(self, place: QPointF) -> tuple[int, int]:
        """The row and the ribbon at a place, -1 for none."""
        for number_, row in enumerate(self._picture.rows):
            if row.box.top <= place.y() < row.box.top + row.box.height:
                for at, shape in enumerate(row.ribbons):
                    if _path(shape).contains(place) or self._label_box(shape).contains(place):
                        return number_, at
                return number_, -1
        return -1, -1

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Qt: a click on a ribbon lists its entries."""
        row, ribbon = self._at(event.position())
        if row >= 0:
            self._go(row, max(0, ribbon))
            if ribbon >= 0:
                self._choose(self._picture.rows[row].ribbons[ribbon].ribbon)
        super().mousePressEvent(event)

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Qt: the ring appears."""
        super().focusInEvent(event)
        self._describe()

    def _describe(self) -> None:
        row = self._current_row
        ribbon = self.current
        if row is None:
            text = tr("No stage changed anything.")
        elif ribbon is not None:
            text = f"{row.stage.name}: {ribbon_words(ribbon, self._measure)}. {self._amount(row)}"
        else:
            text = f"{row.stage.name}: {self._amount(row)}"
        tell(self, text)

    def words_at(self, point: QPoint) -> str:
        """The ribbon at a place, in words."""
        row, ribbon = self._at(QPointF(point))
        return ribbon_words(self._picture.rows[row].ribbons[ribbon].ribbon, self._measure) if ribbon >= 0 else ""


def _path(shape: RibbonShape) -> QPainterPath:
    start, points = shape.outline
    path = QPainterPath(QPointF(*start))
    for place in range(0, len(points), 3):
        one, two, three = (QPointF(*point) for point in points[place : place + 3])
        path.cubicTo(one, two, three)
    path.closeSubpath()
    return path


_MEASURES = ((Measure.ENTRIES, "Entries"), (Measure.TOKENS, "Tokens"))
_ENDINGS = {"csv": "Table (*.csv)", "svg": "Picture (*.svg)", "png": "Picture (*.png)"}


class FlowPage(QWidget):
    """The funnel as a list where few stages dropped something, as a flow where many did, and the table of both.

    `listed` carries entries that the answers are to be filtered to, and what they are. `saving` asks for a file to be
    written: its path and its content.
    """

    listed = Signal(tuple, str)
    saving = Signal(object, bytes)

    def __init__(self, theme: Theme, funnel: QListView, model: FunnelList, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme, self._funnel, self._model = theme, funnel, model
        self._trace: Trace | None = None
        self._everything, self._running = False, ""
        self.flow: Flow | None = None
        bar = self._make_bar()
        self.view = FlowView(theme, self)
        self.view.ribbon_chosen.connect(self.listed)
        self.view.addActions(self.save_button.menu().actions())
        self._scroll = QScrollArea(self, widgetResizable=True)
        self._scroll.setWidget(self.view)
        self._scroll.setFrameShape(QScrollArea.Shape.NoFrame)
        self._scroll.setFocusProxy(self.view)
        reveal = self._scroll.ensureVisible
        self.view.moved.connect(lambda box: reveal(0, round(box.center().y()), 0, round(box.height() / 2) + 8))
        self.table_model = flow_table(self)
        self.table = RecordView(theme, self.table_model, tr("Stages and reasons as a table"), self)
        self._pages = stack(funnel, self._scroll, self.table)
        tight(bar, (self._pages, 1), of=self)

    @property
    def measure(self) -> Measure:
        """What the widths stand for."""
        return _MEASURES[self._measures.checkedId()][0]

    @property
    def is_flow(self) -> bool:
        """Whether enough stages dropped something for ribbons."""
        return self.flow is not None and self.flow.dropping >= SANKEY_FROM

    def set_trace(self, trace: Trace | None, *, everything: bool = False, running: str = "") -> None:
        """Show another run; `running` is the stage of a run under way."""
        self._trace, self._everything, self._running = trace, everything, running
        self.flow = flow(trace) if trace is not None else None
        self._show()

    def toggle_measure(self) -> None:
        """Show tokens instead of entries, or entries again."""
        self._measures.button(1 - self._measures.checkedId()).setChecked(True)
        self._show()

    def toggle_table(self) -> None:
        """Show the table, or the picture again."""
        self.table_button.setChecked(not self.table_button.isChecked())
        self._show()

    def focus_target(self) -> QWidget:
        """What takes the keyboard."""
        return (self._funnel, self.view, self.table)[self._pages.currentIndex()]

    def content(self, ending: str) -> bytes:
        """The table (`csv`) or the picture (`svg`, `png`) as a file."""
        if self.flow is None or self._trace is None:
            return b""
        if ending == "csv":
            return csv_bytes((TABLE_COLUMNS, *flow_rows(self.flow, self._trace, everything=self._everything)))
        if ending == "svg":
            return flow_svg(self.flow, self.measure, alone=True).encode()
        return self._png()

    def save(self, ending: str) -> None:
        """Ask where, then have it written."""
        if self._trace is None:
            return
        name, filters = f"stages-{self._trace.turn.message}.{ending}", tr(_ENDINGS[ending])
        dialogs.choose_new_file(
            self, tr("Save the funnel"), name, filters, ending,
            lambda path: self.saving.emit(path, self.content(ending)),
        )  # fmt: skip

    def _make_bar(self) -> QBoxLayout:
        names = [tr(name) for _measure, name in _MEASURES]
        self._measures = one_of(self, ((name, tr("Widths stand for {what}", what=name.lower())) for name in names))
        self._measures.idClicked.connect(lambda _place: self._show())
        as_table = tool(self, tr("As a table"), lambda _on: self._show(), checkable=True)
        save = tool(self, tr("Save table or picture"), tip=tr("Save the table as CSV, the picture as SVG or PNG"))
        self.table_button = iconed(self._theme, as_table, "table")
        self.save_button = iconed(self._theme, save, "save")
        menu = menu_of(self.save_button)
        for ending, title in (("csv", "Table as CSV…"), ("svg", "Picture as SVG…"), ("png", "Picture as PNG…")):
            menu.addAction(tr(title), partial(self.save, ending))
        buttons = self._measures.buttons()
        return layouts.row(*buttons, 1, self.table_button, self.save_button, spacing=2, margins=(8, 4, 8, 2))

    def _show(self) -> None:
        trace, stream, everything = self._trace, self.flow, self._everything
        self.view.set_flow(stream, self.measure, everything=everything)
        found: tuple[FunnelStep, ...] = ()
        rows: tuple[tuple[str | int, ...], ...] = ()
        if trace is not None and stream is not None:
            found = steps(trace, everything=everything, running=self._running, measure=self.measure, stream=stream)
            if self.table_button.isChecked():
                rows = flow_rows(stream, trace, everything=everything)  # they cost more than the picture
        self._model.set_rows(found)
        self.table_model.set_rows(rows)
        page: QWidget = self._scroll if self.is_flow else self._funnel
        self._pages.setCurrentWidget(self.table if self.table_button.isChecked() else page)

    def _png(self) -> bytes:
        """What is shown, at twice its size."""
        source: QWidget = self.view if self.is_flow else self._funnel.viewport()
        image = QImage(source.size() * 2, QImage.Format.Format_RGB32)
        image.setDevicePixelRatio(2)
        image.fill(self._theme.color("panel"))
        if self.is_flow:
            with QPainter(image) as painter:
                painter.setRenderHint(QPainter.RenderHint.Antialiasing)
                self.view.draw(painter, QRectF(self.view.rect()))
        else:
            source.render(image)
        return png_bytes(image)

    def sizeHint(self) -> QSize:
        """Qt: room for a few stages."""
        return QSize(420, 300)
