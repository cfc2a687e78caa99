"""What edges and colours of the graph mean; the part about edges is what switches them on and off."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import QLineF, QPoint, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QBrush, QColor, QFontMetricsF, QIcon, QPainter, QPaintEvent, QPixmap, QResizeEvent
from PySide6.QtWidgets import QGridLayout, QSizePolicy, QToolButton, QWidget

from lorestudio.studio.note_graph import EdgeKind
from lorestudio.ui.models.graph_looks import EDGE_NAMES, EDGE_WORDS, Look
from lorestudio.ui.theme import Theme, scaled
from lorestudio.ui.widgets.graph_strokes import Stroke, draw_heads, pen_of
from lorestudio.ui.widgets.paint import draw_glyph, hairline
from lorestudio.ui.words import number, tr

SAMPLE = QSize(26, 12)


class EdgeLegend(QWidget):
    """One switch for each kind of edge, with a sample of its line and how many there are."""

    changed = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(6, 2, 6, 0)
        self._grid.setSpacing(2)
        self._columns = 0
        self.buttons: dict[EdgeKind, QToolButton] = {}
        for kind in EdgeKind:
            button = QToolButton(self)
            button.setCheckable(True)
            button.setChecked(True)
            button.setIconSize(SAMPLE)
            button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
            button.toggled.connect(lambda _on: self.changed.emit())
            self.buttons[kind] = button
        theme.changed.connect(self._paint)
        self.set_counts({})
        self._paint()
        self._arrange()

    def shown(self) -> frozenset[EdgeKind]:
        """The kinds that are switched on."""
        return frozenset(kind for kind, button in self.buttons.items() if button.isChecked())

    def set_counts(self, counts: Mapping[EdgeKind, int]) -> None:
        """How many edges of each kind there are."""
        for kind, button in self.buttons.items():
            amount = number(counts.get(kind, 0))
            name = tr(EDGE_NAMES[kind])
            button.setText(f"{name} {amount}")
            button.setAccessibleName(tr("Show edges: {name}, {amount}", name=name, amount=amount))
            button.setToolTip(tr("“{first} …”; press to show or hide them", first=tr(EDGE_WORDS[kind][0])))

    def minimumSizeHint(self) -> QSize:
        """Qt: two beside each other."""
        return QSize(self._wide() // 2, 24)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Qt: in two rows where there is no room for one."""
        super().resizeEvent(event)
        self._arrange()

    def _wide(self) -> int:
        return sum(button.sizeHint().width() + 2 for button in self.buttons.values()) + 12

    def _arrange(self) -> None:
        columns = len(self.buttons) if self.width() >= self._wide() else 2
        if columns != self._columns:
            self._columns = columns
            for place, button in enumerate(self.buttons.values()):
                self._grid.addWidget(button, place // columns, place % columns, Qt.AlignmentFlag.AlignLeft)
            self._grid.setColumnStretch(2, 0)
            self._grid.setColumnStretch(len(self.buttons), 1)

    def _paint(self) -> None:
        for kind, button in self.buttons.items():
            pixmap = QPixmap(SAMPLE * 2)
            pixmap.setDevicePixelRatio(2)
            pixmap.fill(Qt.GlobalColor.transparent)
            painter = QPainter(pixmap)
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            pen = pen_of(kind, self._theme)
            line = QLineF(1, SAMPLE.height() / 2, SAMPLE.width() - 3, SAMPLE.height() / 2)
            painter.setPen(pen)
            painter.drawLine(line)
            whole = QRectF(0, 0, SAMPLE.width(), SAMPLE.height())
            draw_heads(painter, [(line, Stroke(0, 1, kind, True, False, 0))], kind, pen.color(), [whole])
            painter.end()
            button.setIcon(QIcon(pixmap))


class ColourLegend(QWidget):
    """A sample, a word and a number for each sort of node, in two lines at most; the tooltip has all."""

    HEIGHT, GAP, SWATCH, LINES = 18, 10, 13, 2

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._items: tuple[tuple[Look, str], ...] = ()
        policy = QSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self.setSizePolicy(policy)
        theme.changed.connect(self.update)

    def set_legend(self, legend: tuple[tuple[Look, int], ...]) -> None:
        """Show other sorts; each with how many nodes are of it."""
        self._items = tuple((look, f"{look.word} · {number(amount)}") for look, amount in legend)
        self.setToolTip("\n".join(text for _look, text in self._items))
        self.setAccessibleName(tr("Colours: {legend}", legend=", ".join(text for _look, text in self._items)))
        self._settle()
        self.update()

    def sizeHint(self) -> QSize:
        """Qt: one line at least."""
        return QSize(120, self.minimumHeight())

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Qt: a narrower legend needs more lines."""
        super().resizeEvent(event)
        self._settle()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Qt: draw the legend."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        font = scaled(self.font(), 0.9)
        boxes = self._boxes(self.width())
        for (look, text), box in zip(self._items_for(len(boxes)), boxes, strict=True):
            swatch = QRectF(box.left(), box.center().y() - self.SWATCH / 2 + 0.5, self.SWATCH, self.SWATCH)
            painter.setPen(hairline(self._theme.color("fill_edge")))
            painter.setBrush(QColor(look.fill))
            painter.drawEllipse(swatch)
            if look.hatched:
                painter.setBrush(QBrush(QColor(look.ink), Qt.BrushStyle.BDiagPattern))
                painter.drawEllipse(swatch)
            if look.icon:
                draw_glyph(painter, swatch, look.icon, look.ink, 9)
            elif look.text:
                painter.setFont(scaled(font, 0.72, bold=True))
                painter.setPen(QColor(look.ink))
                painter.drawText(swatch, Qt.AlignmentFlag.AlignCenter, look.text)
            painter.setFont(font)
            painter.setPen(self._theme.color("text_muted"))
            where = QRectF(box).adjusted(self.SWATCH + 5, 0, 0, 0)
            elided = QFontMetricsF(font).elidedText(text, Qt.TextElideMode.ElideRight, where.width() + 1)
            painter.drawText(where, int(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft), elided)

    def _settle(self) -> None:
        boxes = self._boxes(self.width())
        height = boxes[-1].bottom() + 5 if boxes else 0
        if height != self.minimumHeight():
            self.setFixedHeight(height)

    def _items_for(self, room: int) -> tuple[tuple[Look, str], ...]:
        """The items that have room; the last says how many have not."""
        if room == len(self._items):
            return self._items
        palette = self._theme.palette
        rest = Look(palette.raised, palette.text, "", text="…")
        more = tr("{more} more", more=number(len(self._items) - room + 1))
        return (*self._items[: room - 1], (rest, more))

    def _boxes(self, width: int) -> list[QRect]:
        metrics = QFontMetricsF(scaled(self.font(), 0.9))
        x, y, boxes = 10, 2, []
        for _look, text in self._items:
            wide = min(round(metrics.horizontalAdvance(text) + self.SWATCH + 8), max(width - 20, 40))
            if x > 10 and x + wide > width - 10:
                x, y = 10, y + self.HEIGHT
                if y > self.HEIGHT * self.LINES:
                    break
            boxes.append(QRect(QPoint(x, y), QSize(wide, self.HEIGHT)))
            x += wide + self.GAP
        return boxes
