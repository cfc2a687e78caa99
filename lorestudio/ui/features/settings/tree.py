"""The declared settings as a tree: sections or stages, and under each its settings with their values.

The list of settings with its search line: words, grouping, only what was changed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from PySide6.QtCore import QAbstractItemModel, QModelIndex, QObject, Qt, Signal
from PySide6.QtGui import QFont, QKeyEvent
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

from lorestudio.settings.declaration import NO_STAGE, Declaration, Grouping, SettingGroup, Value, grouped, matching
from lorestudio.settings.deeplore import DeepLoreSettings, declarations, same, setting_value
from lorestudio.settings.differences import value_text
from lorestudio.studio.project.settings import SettingWarning
from lorestudio.ui.shell.qt import ACCESSIBLE_TEXT, DISPLAY, HORIZONTAL, ITEM, NO_INDEX, TOOLTIP, Index
from lorestudio.ui.shell.theme import Theme
from lorestudio.ui.shell.words import count, sentence_case, tr
from lorestudio.ui.widgets.pane import EmptyState

SETTING, VALUE = range(2)
_HEADS: Final = ("Setting", "Value")
_DECORATION: Final = Qt.ItemDataRole.DecorationRole
_FONT: Final = Qt.ItemDataRole.FontRole


class SettingsTree(QAbstractItemModel):
    """Two levels. The `ITEM` of a row is its `Declaration`, None for a heading."""

    def __init__(self, theme: Theme, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._settings = DeepLoreSettings()
        self._values: dict[str, Value] = {}
        self._warnings: dict[str, list[SettingWarning]] = {}
        self._tried: tuple[str, Value] | None = None
        self._words, self._by, self._changed_only = "", Grouping.SECTION, False
        self.groups: tuple[SettingGroup, ...] = ()
        theme.changed.connect(self._repaint)
        self._fill()

    # ---- content ----------------------------------------------------------------------------------------------------

    def set_settings(self, settings: DeepLoreSettings, warnings: Sequence[SettingWarning] = ()) -> None:
        """Show other values, and what speaks against them."""
        self._settings = settings
        self._warnings = {}
        for each in warnings:
            self._warnings.setdefault(each.alias, []).append(each)
        self._values = {}
        if self._changed_only:
            self._fill()
        else:
            self._repaint()

    def try_value(self, declaration: Declaration | None, value: Value = 0) -> None:
        """Show a value that is tried out in place of the setting's own; None shows them all as they are."""
        self._tried = None if declaration is None else (declaration.name, value)
        self._repaint()

    def show_only(self, words: str = "", by: Grouping = Grouping.SECTION, *, changed: bool = False) -> None:
        """Choose what is shown: settings with these words, grouped, only those that differ from their default."""
        if (words, by, changed) != (self._words, self._by, self._changed_only):
            self._words, self._by, self._changed_only = words, by, changed
            self._fill()

    @property
    def shown(self) -> int:
        """How many settings are shown, each counted once."""
        return len({each.name for group in self.groups for each in group.settings})

    @property
    def changed(self) -> int:
        """How many of all settings differ from their default."""
        return sum(self.is_changed(each) for each in declarations())

    def value(self, declaration: Declaration) -> Value:
        """The value of a setting; the one that is tried out where there is one."""
        if self._tried is not None and self._tried[0] == declaration.name:
            return self._tried[1]
        if not self._values:
            self._values = {each.name: setting_value(self._settings, each) for each in declarations()}
        return self._values[declaration.name]

    def is_changed(self, declaration: Declaration) -> bool:
        """Whether the value differs from the default."""
        return not same(self.value(declaration), declaration.default)

    def warnings(self, declaration: Declaration) -> tuple[SettingWarning, ...]:
        """What speaks against the value of a setting."""
        return tuple(self._warnings.get(declaration.alias, ()))

    @property
    def all_warnings(self) -> Mapping[str, Sequence[SettingWarning]]:
        """All warnings by DeepLore's key; "" has those that are about no single setting."""
        return self._warnings

    def place_of(self, name: str) -> QModelIndex:
        """The first row of a setting, an invalid index where it is not shown."""
        for number, group in enumerate(self.groups):
            for row, each in enumerate(group.settings):
                if each.name == name:
                    return self.createIndex(row, SETTING, number + 1)
        return QModelIndex()

    def _fill(self) -> None:
        self.beginResetModel()
        found: Sequence[Declaration] = matching(self._words, declarations())
        if self._changed_only:
            found = [each for each in found if self.is_changed(each)]
        self.groups = grouped(found, self._by)
        self.endResetModel()

    def _repaint(self) -> None:
        for number, group in enumerate(self.groups):
            first, last = self.createIndex(0, SETTING, number + 1), len(group.settings) - 1
            self.dataChanged.emit(first, self.createIndex(last, VALUE, number + 1))
            self.dataChanged.emit(self.createIndex(number, SETTING, 0), self.createIndex(number, VALUE, 0))

    # ---- Qt ---------------------------------------------------------------------------------------------------------

    def index(self, row: int, column: int, parent: Index = NO_INDEX) -> QModelIndex:
        """Qt: the internal id is 0 for a heading, else the heading's number from 1."""
        if not self.hasIndex(row, column, parent):
            return QModelIndex()
        return self.createIndex(row, column, parent.row() + 1 if parent.isValid() else 0)

    def parent(self, index: Index = NO_INDEX) -> QModelIndex:  # type: ignore[override]  # Qt's has a second meaning
        """Qt: the heading of a setting."""
        number = index.internalId() if index.isValid() else 0
        return self.createIndex(number - 1, 0, 0) if number else QModelIndex()

    def rowCount(self, parent: Index = NO_INDEX) -> int:
        """Qt: the headings, or the settings under one."""
        if not parent.isValid():
            return len(self.groups)
        if parent.internalId() or parent.column():
            return 0
        return len(self.groups[parent.row()].settings)

    def columnCount(self, parent: Index = NO_INDEX) -> int:
        """Qt: the setting and its value."""
        return len(_HEADS)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = DISPLAY) -> object:
        """Qt: what the columns are."""
        return tr(_HEADS[section]) if orientation == HORIZONTAL and role == DISPLAY else None

    def setting(self, index: Index) -> Declaration | None:
        """The setting of a row, None for a heading."""
        number = index.internalId() if index.isValid() else 0
        return self.groups[number - 1].settings[index.row()] if number else None

    def data(self, index: Index, role: int = DISPLAY) -> object:
        """Qt: what a cell shows and says."""
        each = self.setting(index)
        if each is None:
            return self._heading(index, role)
        if role == DISPLAY:
            return tr(each.title) if index.column() == SETTING else value_text(each, self.value(each))
        if role == ITEM:
            return each
        if role == TOOLTIP:
            told = [tr(each.help), *(one.text for one in self.warnings(each)), each.alias]
            return "\n".join(told)
        if role == ACCESSIBLE_TEXT:
            return self._spoken(each)
        if role == _DECORATION and index.column() == SETTING:
            return self._icon(each)
        if role == _FONT and self.is_changed(each):
            font = QFont()
            font.setBold(True)
            return font
        return None

    def _icon(self, each: Declaration) -> object:
        warnings = self.warnings(each)
        if warnings:
            bad = any(one.is_error for one in warnings)
            return self._theme.icon("error" if bad else "warning", "error" if bad else "warning")
        return self._theme.icon("pencil", "accent") if self.is_changed(each) else self._theme.icon("dot", "text_faint")

    def _spoken(self, each: Declaration) -> str:
        parts = [tr(each.title), value_text(each, self.value(each))]
        if self.is_changed(each):
            parts.append(tr("not the default"))
        return ", ".join([*parts, *(one.text for one in self.warnings(each))])

    def _heading(self, index: Index, role: int) -> object:
        group = self.groups[index.row()]
        changed = sum(self.is_changed(each) for each in group.settings)
        title = tr("No stage of a run") if group.title == NO_STAGE else sentence_case(tr(group.title))
        told = tr("{amount} changed", amount=changed) if changed else ""
        if role == DISPLAY:
            return title if index.column() == SETTING else told
        if role == ACCESSIBLE_TEXT:
            return ", ".join(filter(None, (title, count(len(group.settings), "setting", "settings"), told)))
        if role == _DECORATION and index.column() == SETTING:
            return self._theme.icon("folder", "accent" if changed else "text_muted")
        if role == _FONT and index.column() == SETTING:
            font = QFont()
            font.setWeight(QFont.Weight.DemiBold)
            return font
        return None


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
