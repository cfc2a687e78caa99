"""The controls of the graph: search, colours, a menu; scope with depth; zoom."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QAction, QKeyEvent
from PySide6.QtWidgets import (
    QComboBox,
    QFrame,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QMenu,
    QSlider,
    QToolButton,
    QWidget,
)

from lorestudio.ui.models.graph_looks import COLOUR_WORDS, ColourBy
from lorestudio.ui.theme import Theme
from lorestudio.ui.words import count, tr

DEEPEST = 3


class _Search(QLineEdit):
    next_wanted = Signal()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Qt: Escape empties the field, Enter goes from hit to hit."""
        if event.key() == Qt.Key.Key_Escape and self.text():
            self.clear()
        elif event.key() in {Qt.Key.Key_Return, Qt.Key.Key_Enter}:
            self.next_wanted.emit()
        else:
            super().keyPressEvent(event)


class GraphBar(QWidget):
    """Says by signals what a person chose."""

    searched = Signal(str)
    next_hit = Signal()
    coloured = Signal(object)  # ColourBy
    scope_changed = Signal()
    zoomed = Signal(int)
    fitted = Signal()
    option_changed = Signal(str)
    command = Signal(str)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        row = QHBoxLayout(self)
        row.setContentsMargins(8, 7, 8, 4)
        row.setSpacing(6)
        self._fill(row)
        self.scope = ScopeBar(self)
        self.scope.changed.connect(self.scope_changed)
        self.zoom = ZoomBar(theme, self)
        self.zoom.zoomed.connect(self.zoomed)
        self.zoom.fitted.connect(self.fitted)
        theme.changed.connect(self._paint)
        self._paint()

    def colour_by(self) -> ColourBy:
        """What colours stand for."""
        return ColourBy(str(self.colours.currentData()))

    def choose_colour(self, value: str) -> None:
        """Choose by a value of `ColourBy`; an unknown one counts as the kind."""
        self.colours.setCurrentIndex(max(0, self.colours.findData(value)))

    def is_local(self) -> bool:
        """Whether only the surroundings of the chosen entry are wanted."""
        return self.scope.local.isChecked()

    def choose_local(self, local: bool) -> None:
        """Choose between the surroundings of the chosen entry and the whole."""
        self.scope.local.setChecked(local)

    def option(self, name: str) -> bool:
        """Whether an option of the menu is on."""
        return self.options[name].isChecked()

    def _fill(self, row: QHBoxLayout) -> None:
        self.search = _Search(self)
        self.search.setPlaceholderText(tr("Find entries by title, key or tag"))
        self.search.setAccessibleName(tr("Find entries in the graph"))
        self.search.setToolTip(tr("Hits are marked in the graph; Enter goes to the next one"))
        self.search.setClearButtonEnabled(True)
        self.search.setMinimumWidth(90)
        self.search.textChanged.connect(self.searched)
        self.search.next_wanted.connect(self.next_hit)
        self.hits = QLabel(self)
        self.hits.setProperty("kind", "small")
        self.colours = QComboBox(self)
        self.colours.setAccessibleName(tr("What colours stand for"))
        self.colours.view().setAccessibleName(tr("What colours stand for"))
        self.colours.setToolTip(tr("What colours stand for"))
        for value in ColourBy:
            self.colours.addItem(tr(COLOUR_WORDS[value]), value.value)
        self.colours.currentIndexChanged.connect(lambda _place: self.coloured.emit(self.colour_by()))
        row.addWidget(self.search, 1)
        row.addWidget(self.hits)
        row.addWidget(self.colours)
        self.menu_button = _button(tr("More about the graph"), self)
        self.menu_button.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.menu_button.setMenu(self._make_menu())
        row.addWidget(self.menu_button)

    def _make_menu(self) -> QMenu:
        menu = QMenu(self)
        menu.setToolTipsVisible(True)
        self.options: dict[str, QAction] = {}
        for name, text, tip, on in (
            ("titles", tr("Titles"), tr("Write titles beside the nodes, as many as fit"), True),
            (
                "gaps",
                tr("Gaps in the picture"),
                tr("Mark entries on their own, bridges and missing connections"),
                False,
            ),
            ("remarkable", tr("Only remarkable links"), tr("Leave out links that are ordinary for both ends"), False),
            ("everything", tr("Also entries kept out of the graph"), tr("Those whose note says graph: false"), False),
        ):
            action = menu.addAction(text)
            action.setCheckable(True)
            action.setChecked(on)
            action.setToolTip(tip)
            action.toggled.connect(lambda _on, name=name: self.option_changed.emit(name))
            self.options[name] = action
        menu.addSeparator()
        for name, text in (
            ("layout", tr("Lay out anew")),
            ("unpin", tr("Unpin all")),
            ("png", tr("Save as PNG…")),
            ("svg", tr("Save as SVG…")),
            ("json", tr("Save as JSON…")),
        ):
            menu.addAction(text).triggered.connect(lambda _checked=False, name=name: self.command.emit(name))
            if name == "unpin":
                menu.addSeparator()
        return menu

    def _paint(self) -> None:
        self.menu_button.setIcon(self._theme.icon("switches"))


class ScopeBar(QWidget):
    """Whether the surroundings of the chosen entry are shown, and how far they reach."""

    changed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        row = QHBoxLayout(self)
        self._narrow = False
        row.setContentsMargins(4, 1, 8, 2)
        row.setSpacing(4)
        self.local = QToolButton(self)
        self.local.setCheckable(True)
        self.local.setText(tr("Around the entry"))
        self.local.setToolTip(tr("Show only the chosen entry and what is connected with it"))
        self.local.toggled.connect(self._chosen)
        self.steps = QSlider(Qt.Orientation.Horizontal, self)
        self.steps.setRange(1, DEEPEST)
        self.steps.setValue(2)
        self.steps.setPageStep(1)
        self.steps.setFixedWidth(56)
        self.steps.setAccessibleName(tr("Depth: how many steps from the chosen entry"))
        self.steps.valueChanged.connect(self._chosen)
        self.text = QLabel(self)
        self.text.setProperty("kind", "small")
        for widget in (self.local, self.steps, self.text):
            row.addWidget(widget)
        self._chosen()

    def set_narrow(self, narrow: bool) -> None:
        """Whether there is room for the slider only."""
        self._narrow = narrow
        self.text.setVisible(self.local.isChecked() and not narrow)

    def _chosen(self) -> None:
        depth = self.steps.value()
        self.text.setText(count(depth, "step", "steps"))
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
        self._theme = theme
        self.setObjectName("Card")
        row = QHBoxLayout(self)
        row.setContentsMargins(2, 2, 2, 2)
        row.setSpacing(0)
        self.farther = _button(tr("Farther (-)"), self)
        self.nearer = _button(tr("Nearer (+)"), self)
        self.fit = _button(tr("Show all of it (0)"), self)
        self.farther.clicked.connect(lambda: self.zoomed.emit(-1))
        self.nearer.clicked.connect(lambda: self.zoomed.emit(1))
        self.fit.clicked.connect(self.fitted)
        for button in (self.farther, self.nearer, self.fit):
            row.addWidget(button)
        theme.changed.connect(self._paint)
        self._paint()

    def _paint(self) -> None:
        for button, icon in ((self.farther, "minus"), (self.nearer, "plus"), (self.fit, "fit")):
            button.setIcon(self._theme.icon(icon))


def _button(tip: str, parent: QWidget) -> QToolButton:
    button = QToolButton(parent)
    button.setToolTip(tip)
    button.setAccessibleName(tip)
    button.setIconSize(QSize(15, 15))
    return button
