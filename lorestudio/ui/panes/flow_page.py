"""Where the candidates of a run came from and went: picture and table, in entries or tokens, to see and to save."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QBuffer, QByteArray, QIODevice, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QImage, QImageWriter, QPainter
from PySide6.QtWidgets import (
    QButtonGroup,
    QFileDialog,
    QHBoxLayout,
    QHeaderView,
    QListView,
    QMenu,
    QScrollArea,
    QStackedWidget,
    QTableView,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from lorestudio.studio.report.svg import flow_svg
from lorestudio.trace.flow import SANKEY_FROM, Flow, Measure, flow, flow_csv
from lorestudio.trace.model import Trace
from lorestudio.ui.models.flow_table import FlowTable
from lorestudio.ui.models.funnel_list import FunnelList
from lorestudio.ui.theme import Theme
from lorestudio.ui.widgets.flow_view import FlowView
from lorestudio.ui.words import tr

_MEASURES = ((Measure.ENTRIES, "Entries"), (Measure.TOKENS, "Tokens"))
_ENDINGS = {"csv": "Table (*.csv)", "svg": "Picture (*.svg)", "png": "Picture (*.png)"}


class FlowPage(QWidget):
    """The funnel as a list where few stages dropped something, as a flow where many did, and the table of both.

    `listed` carries entries that the journey is to be filtered to, and what they are. `saving` asks for a file to be
    written: its path and its content.
    """

    listed = Signal(tuple, str)
    saving = Signal(object, bytes)

    def __init__(self, theme: Theme, funnel: QListView, model: FunnelList, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme, self._funnel, self._model = theme, funnel, model
        self._trace: Trace | None = None
        self._everything = False
        self.flow: Flow | None = None
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self._make_bar())
        self.view = FlowView(theme, self)
        self.view.ribbon_chosen.connect(self.listed)
        self._scroll = QScrollArea(self)
        self._scroll.setWidget(self.view)
        self._scroll.setWidgetResizable(True)
        self._scroll.setFrameShape(QScrollArea.Shape.NoFrame)
        self._scroll.setFocusProxy(self.view)
        self.view.moved.connect(self._keep_in_sight)
        self.table_model = FlowTable(self)
        self.table = QTableView(self)
        self.table.setModel(self.table_model)
        self.table.setAccessibleName(tr("Stages and reasons as a table"))
        self.table.verticalHeader().hide()
        self.table.setSelectionBehavior(QTableView.SelectionBehavior.SelectRows)
        self.table.horizontalHeader().setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        self.table.horizontalHeader().setStretchLastSection(True)
        self.table.setWordWrap(False)
        self.table.horizontalHeader().setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        self.table.verticalHeader().setDefaultSectionSize(24)
        self.table.setShowGrid(False)
        self._pages = QStackedWidget(self)
        for page in (funnel, self._scroll, self.table):
            self._pages.addWidget(page)
        column.addWidget(self._pages, 1)
        theme.changed.connect(self._paint)
        self._paint()

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
        self._trace, self._everything = trace, everything
        self.flow = flow(trace) if trace is not None else None
        self._model.set_trace(trace, everything=everything, running=running, stream=self.flow)
        self._show()

    def choose_measure(self, measure: Measure) -> None:
        """Show entries or tokens."""
        self._measures.button([each for each, _name in _MEASURES].index(measure)).setChecked(True)
        self._show()

    def toggle_measure(self) -> None:
        """Show the other of the two."""
        self.choose_measure(Measure.TOKENS if self.measure is Measure.ENTRIES else Measure.ENTRIES)

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
            return flow_csv(self.flow, self._trace, everything=self._everything).encode("utf-8-sig")
        if ending == "svg":
            return flow_svg(self.flow, self.measure, alone=True).encode()
        return self._png()

    def save(self, ending: str) -> None:
        """Ask where, then have it written."""
        if self._trace is None:
            return
        dialog = QFileDialog(self, tr("Save the funnel"), f"stages-{self._trace.turn.message}.{ending}")
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        dialog.setNameFilter(tr(_ENDINGS[ending]))
        dialog.setDefaultSuffix(ending)
        dialog.fileSelected.connect(lambda path: self.saving.emit(Path(path), self.content(ending)))
        dialog.open()

    # ---- inside -----------------------------------------------------------------------------------------------------

    def _make_bar(self) -> QWidget:
        bar = QWidget(self)
        row = QHBoxLayout(bar)
        row.setContentsMargins(8, 4, 8, 3)
        row.setSpacing(2)
        self._measures = QButtonGroup(self)
        for place, (_measure, name) in enumerate(_MEASURES):
            button = QToolButton(bar)
            button.setText(tr(name))
            button.setCheckable(True)
            button.setAccessibleName(tr("Widths stand for {what}", what=tr(name).lower()))
            self._measures.addButton(button, place)
            row.addWidget(button)
        self._measures.button(0).setChecked(True)
        self._measures.idClicked.connect(lambda _place: self._show())
        row.addStretch(1)
        self.table_button = QToolButton(bar)
        self.table_button.setCheckable(True)
        self.table_button.setAccessibleName(tr("As a table"))
        self.table_button.setToolTip(tr("As a table"))
        self.table_button.clicked.connect(self._show)
        self.save_button = QToolButton(bar)
        self.save_button.setAccessibleName(tr("Save table or picture"))
        self.save_button.setToolTip(tr("Save the table as CSV, the picture as SVG or PNG"))
        self.save_button.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        menu = QMenu(self.save_button)
        for ending, title in (("csv", "Table as CSV…"), ("svg", "Picture as SVG…"), ("png", "Picture as PNG…")):
            menu.addAction(tr(title)).triggered.connect(self._saver(ending))
        self.save_button.setMenu(menu)
        row.addWidget(self.table_button)
        row.addWidget(self.save_button)
        return bar

    def _saver(self, ending: str) -> Callable[[], None]:
        return lambda: self.save(ending)

    def _show(self) -> None:
        self._model.set_measure(self.measure)
        self.view.set_flow(self.flow, self.measure, everything=self._everything)
        wanted = self.flow if self.table_button.isChecked() else None  # its titles cost more than the picture
        self.table_model.set_flow(wanted, self._trace, everything=self._everything)
        page: QWidget = self._scroll if self.is_flow else self._funnel
        self._pages.setCurrentWidget(self.table if self.table_button.isChecked() else page)

    def _keep_in_sight(self, box: QRectF) -> None:
        self._scroll.ensureVisible(0, round(box.center().y()), 0, round(box.height() / 2) + 8)

    def _png(self) -> bytes:
        """What is shown, at twice its size."""
        source: QWidget = self.view if self.is_flow else self._funnel.viewport()
        image = QImage(source.size() * 2, QImage.Format.Format_RGB32)
        image.setDevicePixelRatio(2)
        image.fill(self._theme.color("panel"))
        if self.is_flow:
            painter = QPainter(image)
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            self.view.draw(painter, QRectF(self.view.rect()))
            painter.end()
        else:
            source.render(image)
        buffer = QBuffer()
        buffer.open(QIODevice.OpenModeFlag.WriteOnly)
        QImageWriter(buffer, QByteArray(b"png")).write(image)
        return bytes(buffer.data().data())

    def sizeHint(self) -> QSize:
        """Qt: room for a few stages."""
        return QSize(420, 300)

    def _paint(self) -> None:
        self.table_button.setIcon(self._theme.icon("table"))
        self.save_button.setIcon(self._theme.icon("save"))
        self._funnel.viewport().update()
