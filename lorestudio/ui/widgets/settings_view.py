"""The list of settings with its search line: words, grouping, only what was changed."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import QModelIndex, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import (
    QComboBox,
    QHBoxLayout,
    QHeaderView,
    QLineEdit,
    QSizePolicy,
    QStackedWidget,
    QToolButton,
    QTreeView,
    QVBoxLayout,
    QWidget,
)

from lorestudio.settings.declaration import Declaration
from lorestudio.settings.finding import Grouping
from lorestudio.ui.models.settings_tree import SETTING, VALUE, SettingsTree
from lorestudio.ui.theme import Theme
from lorestudio.ui.widgets.empty import EmptyState
from lorestudio.ui.words import tr

_GROUPINGS: Final = {Grouping.SECTION: "By section", Grouping.STAGE: "By stage"}


class SettingsView(QWidget):
    """Shows a `SettingsTree`. `chosen` carries a `Declaration` or None, `entered` follows Enter on a setting."""

    chosen = Signal(object)
    entered = Signal()

    def __init__(self, theme: Theme, model: SettingsTree, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.model = model
        self._name = ""
        self.search = QLineEdit(self)
        self.grouping = QComboBox(self)
        self.changed_only = QToolButton(self)
        self.tree = _Tree(self)
        self.nothing = EmptyState(theme, "search", self)
        self.top = QHBoxLayout()
        """The line with the search; others may add to it."""
        self._pages = QStackedWidget(self)
        self._build()
        self.search.textChanged.connect(lambda _text: self._filter())
        self.grouping.currentIndexChanged.connect(lambda _place: self._filter())
        self.changed_only.toggled.connect(lambda _on: self._filter())
        self.tree.selectionModel().currentChanged.connect(self._choose)
        self.tree.entered_setting.connect(self.entered)
        self.tree.doubleClicked.connect(lambda _index: self.entered.emit())
        self.nothing.pressed.connect(lambda _id: self.show_everything())

    def _build(self) -> None:
        row = self.top
        row.setContentsMargins(8, 5, 8, 3)
        row.setSpacing(6)
        self.search.setPlaceholderText(tr("Search: words, keys, stages"))
        self.search.setAccessibleName(tr("Search settings"))
        self.search.setClearButtonEnabled(True)
        for grouping, title in _GROUPINGS.items():
            self.grouping.addItem(tr(title), grouping)
        for part in (self.grouping, self.grouping.view()):
            part.setAccessibleName(tr("Grouping"))
        self.grouping.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        self.grouping.setMinimumWidth(64)  # the rest is read in the list and in the tooltip
        self.grouping.setToolTip(tr("Grouping"))
        self.changed_only.setCheckable(True)
        self.changed_only.setProperty("kind", "text")
        self.changed_only.setText(tr("Changed"))
        self.changed_only.setToolTip(tr("Show only settings that differ from their default"))
        self.changed_only.setAccessibleName(tr("Show only changed settings"))
        for widget in (self.search, self.grouping, self.changed_only):
            row.addWidget(widget, int(widget is self.search))
        self.tree.setModel(self.model)
        self.tree.setAccessibleName(tr("Settings"))
        self.tree.set_columns()
        self._pages.addWidget(self.tree)
        self._pages.addWidget(self.nothing)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(row)
        column.addWidget(self._pages, 1)

    def show_stage(self, stage: str) -> None:
        """Show the settings that change one stage of a run."""
        self.search.clear()
        self.grouping.setCurrentIndex(self.grouping.findData(Grouping.STAGE))
        for number, group in enumerate(self.model.groups):
            if group.title == stage:
                heading = self.model.index(number, SETTING)
                self.tree.collapseAll()
                self.tree.expand(heading)
                self.tree.setCurrentIndex(heading)
                self.tree.scrollTo(heading, QTreeView.ScrollHint.PositionAtTop)
                self.tree.setFocus()

    def show_setting(self, name: str) -> None:
        """Choose a setting by its name, even where it is filtered out now."""
        if not self.model.place_of(name).isValid():
            self.show_everything()
        self.tree.setCurrentIndex(self.model.place_of(name))

    def show_everything(self) -> None:
        """Take all filters away."""
        self.changed_only.setChecked(False)
        self.search.clear()

    def refill(self) -> None:
        """The model was filled anew: what was chosen is chosen again."""
        self._pages.setCurrentWidget(self.tree if self.model.groups else self.nothing)
        if not self.model.groups:
            self._say_nothing()
        if self.search.text().strip() or self.changed_only.isChecked():
            self.tree.expandAll()
        place = self.model.place_of(self._name)
        if place.isValid():
            self.tree.setCurrentIndex(place)
            self.tree.scrollTo(place)
        elif self.search.text().strip() and self.model.groups:
            self.tree.setCurrentIndex(self.model.index(0, SETTING, self.model.index(0, SETTING)))

    def _filter(self) -> None:
        by = self.grouping.currentData()
        grouping = by if isinstance(by, Grouping) else Grouping(str(by))
        self.model.show_only(self.search.text(), grouping, changed=self.changed_only.isChecked())
        self.refill()

    def _say_nothing(self) -> None:
        if self.search.text().strip():
            text = tr("Words are looked for in titles, helps, DeepLore's keys and stages. Fewer words find more.")
            self.nothing.say(tr("No setting has these words"), text, (("all", tr("Show all settings")),))
        else:
            text = tr("Every setting has the value that DeepLore starts with.")
            self.nothing.say(tr("Nothing is changed"), text, (("all", tr("Show all settings")),))

    def _choose(self, index: QModelIndex, _before: QModelIndex) -> None:
        setting: Declaration | None = self.model.setting(index)
        if setting is not None:
            self._name = setting.name
        self.chosen.emit(setting)


class _Tree(QTreeView):
    """Enter goes on to the field, or opens and closes a heading."""

    entered_setting = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setUniformRowHeights(True)
        self.setAllColumnsShowFocus(True)
        self.setAnimated(False)
        self.setIndentation(14)
        self.setExpandsOnDoubleClick(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)

    def set_columns(self) -> None:
        """The names take what the values leave."""
        self.setHeaderHidden(True)
        header = self.header()
        header.setStretchLastSection(False)
        header.setSectionResizeMode(SETTING, QHeaderView.ResizeMode.Stretch)
        header.setSectionResizeMode(VALUE, QHeaderView.ResizeMode.Interactive)
        header.resizeSection(VALUE, 150)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Qt: see the class."""
        index = self.currentIndex()
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and index.isValid():
            if index.parent().isValid():
                self.entered_setting.emit()
            else:
                self.setExpanded(index, not self.isExpanded(index))
            return
        super().keyPressEvent(event)
