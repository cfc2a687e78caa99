"""The controls of the graph: search, colours, a menu; scope with depth; zoom; what its edges and colours mean.

The legend of edges is what switches them on and off.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from PySide6.QtCore import QPoint, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QAction, QBrush, QColor, QFontMetricsF, QIcon, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QFrame, QGridLayout, QMenu, QSlider, QToolButton, QWidget

from lorestudio.studio.graph.graph import EdgeKind
from lorestudio.ui.features.graph.looks import COLOUR_WORDS, EDGE_NAMES, EDGE_WORDS, ColourBy, NodeLook, draw_sample
from lorestudio.ui.shell.qt import HORIZONTAL, plain
from lorestudio.ui.shell.theme import Theme, drawn, scaled
from lorestudio.ui.shell.words import count, number, tr
from lorestudio.ui.widgets.layouts import SearchField, Slot, Wrapping, combo, iconed, label, menu_of, named, row, tool
from lorestudio.ui.widgets.paint import draw_glyph, draw_words, hairline, set_inks

DEEPEST = 3


class GraphBar(QWidget):
    """Says by signals what a person chose."""

    searched = Signal(str)
    coloured = Signal(object)  # ColourBy
    option_changed = Signal(str)
    command = Signal(str)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._fill()
        self.scope = ScopeBar(self)
        self.zoom = ZoomBar(theme, self)

    def colour_by(self) -> ColourBy:
        """What colours stand for."""
        return ColourBy(str(self.colours.currentData()))

    def choose_colour(self, value: str) -> None:
        """Choose by a value of `ColourBy`; an unknown one counts as the kind."""
        self.colours.setCurrentIndex(max(0, self.colours.findData(value)))

    def option(self, name: str) -> bool:
        """Whether an option of the menu is on."""
        return self.options[name].isChecked()

    def _fill(self) -> None:
        tip = tr("Hits are marked in the graph; Enter goes to the next one")
        name, placeholder = tr("Find entries in the graph"), tr("Title, key or tag")
        self.search = SearchField(self, name, placeholder, self.searched, tip)
        self.search.setMinimumWidth(90)
        self.hits = label(self, kind="small", wrap=False)
        name, words = tr("What colours stand for"), {value.value: tr(COLOUR_WORDS[value]) for value in ColourBy}
        self.colours = combo(self, name, words)
        self.colours.currentIndexChanged.connect(lambda _place: self.coloured.emit(self.colour_by()))
        self.menu_button = _button(self._theme, "switches", tr("More about the graph"), self)
        self._fill_menu(menu_of(self.menu_button, tips=True))
        parts = ((self.search, 1), self.hits, self.colours, self.menu_button)
        self.setLayout(row(*parts, spacing=6, margins=(8, 6, 8, 4)))

    def _fill_menu(self, menu: QMenu) -> None:
        self.options: dict[str, QAction] = {}
        for name, text, tip in (
            ("titles", "Titles", "Write titles beside the nodes, as many as fit"),
            ("gaps", "Gaps in the picture", "Mark entries on their own, bridges and missing connections"),
            ("remarkable", "Only remarkable links", "Leave out links that are ordinary for both ends"),
            (
                "wakes",
                "Also what wakes what",
                "Whose text has keys of others, by recursion; of a lorebook always shown",
            ),
            ("everything", "Also entries kept out of the graph", "Those whose note says graph: false"),
        ):
            self.options[name] = action = QAction(tr(text), menu, checkable=True, toolTip=tr(tip))
            action.setChecked(name == "titles")
            action.toggled.connect(lambda _on, name=name: self.option_changed.emit(name))
            menu.addAction(action)
        for commands in (
            (("layout", "Lay out anew"), ("unpin", "Unpin all")),
            (("png", "Save as PNG…"), ("svg", "Save as SVG…"), ("json", "Save as JSON…")),
        ):
            menu.addSeparator()
            for name, text in commands:
                menu.addAction(tr(text), partial(self.command.emit, name))


class ScopeBar(QWidget):
    """Whether the surroundings of the chosen entry are shown, and how far they reach."""

    changed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._narrow = False
        tip = tr("Show only the chosen entry and what is connected with it")
        self.local = tool(self, "", text=tr("Around the entry"), tip=tip, kind="text", checkable=True)
        self.local.toggled.connect(self._chosen)
        self.steps = named(QSlider(HORIZONTAL, self), tr("Depth: how many steps from the chosen entry"))
        self.steps.setRange(1, DEEPEST)
        self.steps.setValue(2)
        self.steps.setPageStep(1)
        self.steps.setFixedWidth(56)
        self.steps.valueChanged.connect(self._chosen)
        self.text = label(self, kind="small", wrap=False)
        self.setLayout(row(self.local, self.steps, self.text, spacing=4, margins=(4, 0, 8, 0)))
        self._chosen()

    def set_narrow(self, narrow: bool) -> None:
        """Whether there is room for the slider only."""
        self._narrow = narrow
        self.text.setVisible(self.local.isChecked() and not narrow)

    def _chosen(self) -> None:
        self.text.setText(count(self.steps.value(), "step", "steps"))
        self.steps.setToolTip(tr("Up to {depth} from the chosen entry", depth=self.text.text()))
        self.steps.setVisible(self.local.isChecked())
        self.set_narrow(self._narrow)
        self.changed.emit()


class ZoomBar(QFrame):
    """Buttons that lie upon the picture."""

    zoomed = Signal(int)
    fitted = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("Card")
        self.farther = _button(theme, "minus", tr("Farther (-)"), self, lambda: self.zoomed.emit(-1))
        self.nearer = _button(theme, "plus", tr("Nearer (+)"), self, lambda: self.zoomed.emit(1))
        self.fit = _button(theme, "fit", tr("Show all of it (0)"), self, self.fitted)
        self.setLayout(row(self.farther, self.nearer, self.fit, spacing=0, margins=2))


def _button(theme: Theme, icon: str, name: str, parent: QWidget, clicked: Slot | None = None) -> QToolButton:
    button = iconed(theme, tool(parent, name, clicked), icon)
    button.setIconSize(QSize(15, 15))
    return button


SAMPLE = QSize(26, 12)


class EdgeLegend(QWidget):
    """One switch for each kind of edge, with a sample of its line and how many there are.

    What wakes what is told in place of references that nobody makes: there stand only the kinds that there are.
    """

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
            self.buttons[kind] = button = tool(self, "", checkable=True, beside=True)
            button.setChecked(True)
            button.setIconSize(SAMPLE)
            button.toggled.connect(lambda _on: self.changed.emit())
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
            amount, name = number(counts.get(kind, 0)), tr(EDGE_NAMES[kind])
            tip = tr("“{first} …”; press to show or hide them", first=tr(EDGE_WORDS[kind][0]))
            spoken = tr("Show edges: {name}, {amount}", name=name, amount=amount)
            named(button, spoken, tip).setText(f"{name} {amount}")
            button.setHidden(not counts.get(kind) and (kind is EdgeKind.WAKES or bool(counts.get(EdgeKind.WAKES))))
        self._arrange(again=True)

    def minimumSizeHint(self) -> QSize:
        """Qt: two beside each other."""
        widest = max(button.sizeHint().width() for button in self._offered())
        return QSize(2 * widest + 14, self._grid.minimumSize().height())

    def resizeEvent(self, _event: QResizeEvent) -> None:
        """Qt: in two rows where there is no room for one."""
        self._arrange()

    def _offered(self) -> list[QToolButton]:
        return [button for button in self.buttons.values() if not button.isHidden()]

    def _wide(self) -> int:
        return sum(button.sizeHint().width() + 2 for button in self._offered()) + 12

    def _arrange(self, *, again: bool = False) -> None:
        offered = self._offered()
        columns = len(offered) if self.width() >= self._wide() else 2
        if columns != self._columns or again:
            self._columns = columns
            for place, button in enumerate(sorted(self.buttons.values(), key=QToolButton.isHidden)):
                self._grid.addWidget(button, place // columns, place % columns, Qt.AlignmentFlag.AlignLeft)
            self._grid.setColumnStretch(2, 0)
            self._grid.setColumnStretch(len(self.buttons), 1)

    def _paint(self) -> None:
        room = QRectF(0, 0, *SAMPLE.toTuple())
        for kind, button in self.buttons.items():
            button.setIcon(QIcon(drawn(*SAMPLE.toTuple(), partial(draw_sample, kind, self._theme, room))))


class ColourLegend(Wrapping):
    """A sample, a word and a number for each sort of node, in two lines at most; the tooltip has all."""

    HEIGHT, GAP, SWATCH, LINES = 18, 10, 13, 2

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._items: tuple[tuple[NodeLook, str], ...] = ()

    def set_legend(self, legend: tuple[tuple[NodeLook, int], ...]) -> None:
        """Show other sorts; each with how many nodes are of it."""
        self._items = tuple((look, f"{look.word} · {number(amount)}") for look, amount in legend)
        self.setToolTip(plain("\n".join(text for _look, text in self._items)))
        self.setAccessibleName(tr("Colours: {legend}", legend=", ".join(text for _look, text in self._items)))
        self.settle()
        self.update()

    def arrange(self, width: int, *, move: bool) -> int:
        """See `Wrapping`; the items are drawn where they belong."""
        boxes = self._boxes(width)
        return boxes[-1].bottom() + 5 if boxes else 0

    def sizeHint(self) -> QSize:
        """Qt: one line at least, and narrower than others."""
        return QSize(120, self.minimumHeight())

    def paintEvent(self, event: QPaintEvent) -> None:
        """Qt: draw the legend."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        font = scaled(self.font(), 0.9)
        boxes = self._boxes(self.width())
        for (look, text), box in zip(self._items_for(len(boxes)), boxes, strict=True):
            swatch = QRectF(box.left(), box.center().y() - self.SWATCH / 2 + 0.5, self.SWATCH, self.SWATCH)
            set_inks(painter, hairline(self._theme.color("fill_edge")), QColor(look.fill))
            painter.drawEllipse(swatch)
            if look.hatched:
                painter.setBrush(QBrush(QColor(look.ink), Qt.BrushStyle.BDiagPattern))
                painter.drawEllipse(swatch)
            if look.icon:
                draw_glyph(painter, swatch, look.icon, look.ink, 9)
            elif look.text:
                set_inks(painter, QColor(look.ink), font=scaled(font, 0.72, bold=True))
                painter.drawText(swatch, Qt.AlignmentFlag.AlignCenter, look.text)
            set_inks(painter, self._theme.color("text_muted"), font=font)
            draw_words(painter, QRectF(box).adjusted(self.SWATCH + 5, 0, 1, 0), text)

    def _items_for(self, room: int) -> tuple[tuple[NodeLook, str], ...]:
        """The items that have room; the last says how many have not."""
        if room == len(self._items):
            return self._items
        palette = self._theme.palette
        rest = NodeLook(palette.raised, palette.text, "", text="…")
        more = tr("{more} more", more=number(len(self._items) - room + 1))
        return (*self._items[: room - 1], (rest, more))

    def _boxes(self, width: int) -> list[QRect]:
        metrics = QFontMetricsF(scaled(self.font(), 0.9))
        high = max(self.HEIGHT, round(metrics.height()) + 3)
        x, y, boxes = 10, 2, []
        for _look, text in self._items:
            wide = min(round(metrics.horizontalAdvance(text) + self.SWATCH + 8), max(width - 20, 40))
            if x > 10 and x + wide > width - 10:
                x, y = 10, y + high
                if y > high * self.LINES:
                    break
            boxes.append(QRect(QPoint(x, y), QSize(wide, high)))
            x += wide + self.GAP
        return boxes
