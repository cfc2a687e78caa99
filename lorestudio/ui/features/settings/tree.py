"""The declared settings as a tree: sections or stages, and under each its settings with their values.

The list of settings with its search line: words, grouping, only what was changed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from PySide6.QtCore import QModelIndex, QObject, Qt, Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QHeaderView,
    QSizePolicy,
    QTreeView,
    QWidget,
)

from lorestudio.settings.declaration import (
    NO_STAGE,
    Declaration,
    Grouping,
    Section,
    SettingGroup,
    Value,
    grouped,
    matching,
)
from lorestudio.settings.deeplore import same, setting_value
from lorestudio.settings.differences import value_text
from lorestudio.studio.project.settings import SettingWarning
from lorestudio.ui.shell.qt import Index
from lorestudio.ui.shell.theme import Theme
from lorestudio.ui.shell.words import count, sentence_case, tr
from lorestudio.ui.widgets.cells import Column
from lorestudio.ui.widgets.layouts import combo, named, row, search_field, stack, tight, tool
from lorestudio.ui.widgets.pane import EmptyState
from lorestudio.ui.widgets.tree import RecordTree, RecordTreeView, TreeRow

SETTING, VALUE = range(2)


@dataclass(slots=True, eq=False)
class SettingRow(TreeRow):
    """A setting, or a heading with the settings below it."""

    setting: Declaration | None = None
    heading: str = ""


class SettingsTree(RecordTree[SettingRow]):
    """Two levels: headings, and the settings below them."""

    def __init__(
        self, theme: Theme, settings: Section, known: Sequence[Declaration], parent: QObject | None = None
    ) -> None:
        """`known` are the settings that there are, in reading order."""
        columns = (
            Column("Setting", self._title, icon=self._icon, bold=self._stands_out),
            Column("Value", self._value_words, bold=lambda row: row.setting is not None and self._stands_out(row)),
        )
        super().__init__(
            SettingRow(), columns, theme=theme, spoken=lambda row, _column: self._spoken(row), tip=self._tip,
            parent=parent,
        )  # fmt: skip
        self._settings, self._known = settings, known
        self._values: dict[str, Value] = {}
        self._warnings: dict[str, list[SettingWarning]] = {}
        self._tried: tuple[str, Value] | None = None
        self._words, self._by, self._changed_only, self._advanced = "", Grouping.SECTION, False, True
        self.groups: tuple[SettingGroup, ...] = ()
        self._fill()

    # ---- content ----------------------------------------------------------------------------------------------------

    def set_settings(self, settings: Section, warnings: Sequence[SettingWarning] = ()) -> None:
        """Show other values, and what speaks against them."""
        self._settings = settings
        self._warnings = {}
        for each in warnings:
            self._warnings.setdefault(each.alias, []).append(each)
        self._values = {}
        if self._changed_only:
            self._fill()
        else:
            self.refresh()

    def try_value(self, declaration: Declaration | None, value: Value = 0) -> None:
        """Show a value that is tried out in place of the setting's own; None shows them all as they are."""
        self._tried = None if declaration is None else (declaration.name, value)
        self.refresh()

    def show_only(
        self, words: str = "", by: Grouping = Grouping.SECTION, *, changed: bool = False, advanced: bool = True
    ) -> None:
        """Choose what is shown: settings with these words, grouped, only those that differ from their default.

        Those that few people need are left out where they are not asked for, by words or as `advanced`.
        """
        wanted = words, by, changed, advanced
        if wanted != (self._words, self._by, self._changed_only, self._advanced):
            self._words, self._by, self._changed_only, self._advanced = wanted
            self._fill()

    @property
    def changed(self) -> int:
        """How many of all settings differ from their default."""
        return sum(map(self.is_changed, self._known))

    def value(self, declaration: Declaration) -> Value:
        """The value of a setting; the one that is tried out where there is one."""
        if self._tried is not None and self._tried[0] == declaration.name:
            return self._tried[1]
        if not self._values:
            self._values = {each.name: setting_value(self._settings, each) for each in self._known}
        return self._values[declaration.name]

    def is_changed(self, declaration: Declaration) -> bool:
        """Whether the value differs from the default."""
        return not same(self.value(declaration), declaration.default)

    def warnings(self, declaration: Declaration) -> tuple[SettingWarning, ...]:
        """What speaks against the value of a setting."""
        return tuple(self._warnings.get(declaration.alias, ()))

    @property
    def general_warnings(self) -> tuple[str, ...]:
        """What is said against no single setting."""
        return tuple(each.text for each in self._warnings.get("", ()))

    def place_of(self, name: str) -> QModelIndex:
        """The first row of a setting, an invalid index where it is not shown."""
        rows = (row for row in self.root.below() if row.setting is not None and row.setting.name == name)
        return self.index_of(next(rows, None))

    def setting(self, index: Index) -> Declaration | None:
        """The setting of a row, None for a heading."""
        return self.node(index).setting

    def _fill(self) -> None:
        found: Sequence[Declaration] = matching(self._words, self._known)
        if not self._advanced and not self._words.strip():
            found = [each for each in found if not each.advanced]
        if self._changed_only:
            found = [each for each in found if self.is_changed(each)]
        self.groups = grouped(found, self._by)
        root = SettingRow()
        for group in self.groups:
            title = tr("No stage of a run") if group.title == NO_STAGE else sentence_case(tr(group.title))
            heading = SettingRow(heading=title)
            heading.add(*map(SettingRow, group.settings))
            root.add(heading)
        self.show_root(root)

    # ---- cells ------------------------------------------------------------------------------------------------------

    def _changes(self, row: SettingRow) -> int:
        """How many settings of a heading differ from their default; of a setting 1 or 0."""
        if row.setting is not None:
            return int(self.is_changed(row.setting))
        return sum(map(self._changes, row.children))

    def _stands_out(self, row: SettingRow) -> bool:
        return row.setting is None or self.is_changed(row.setting)

    def _title(self, row: SettingRow) -> str:
        return tr(row.setting.title) if row.setting is not None else row.heading

    def _value_words(self, row: SettingRow) -> str:
        if row.setting is not None:
            return value_text(row.setting, self.value(row.setting))
        changed = self._changes(row)
        return tr("{amount} changed", amount=changed) if changed else ""

    def _tip(self, row: SettingRow, _column: Column) -> str:
        each = row.setting
        return "" if each is None else "\n".join((tr(each.help), *(w.text for w in self.warnings(each)), each.alias))

    def _icon(self, row: SettingRow) -> tuple[str, str]:
        each, changed = row.setting, self._changes(row) > 0
        if each is None:
            return "folder", "accent" if changed else "text_muted"
        if warnings := self.warnings(each):
            return ("error", "error") if any(one.is_error for one in warnings) else ("warning", "warning")
        return ("pencil", "accent") if changed else ("dot", "text_faint")

    def _spoken(self, row: SettingRow) -> str:
        each, parts = row.setting, [self._title(row), self._value_words(row)]
        if each is None:
            parts.insert(1, count(len(row.children), "setting", "settings"))
            return ", ".join(filter(None, parts))
        if self.is_changed(each):
            parts.append(tr("not the default"))
        return ", ".join([*parts, *(one.text for one in self.warnings(each))])


_GROUPINGS: Final = {Grouping.SECTION: "By section", Grouping.STAGE: "By stage"}


class SettingsView(QWidget):
    """Shows a `SettingsTree`. `chosen` carries a `Declaration` or None, `entered` follows Enter on a setting."""

    chosen = Signal(object)
    entered = Signal()

    def __init__(
        self, theme: Theme, model: SettingsTree, parent: QWidget | None = None, *, opened: bool = False,
        brief: bool = False,
    ) -> None:  # fmt: skip
        """With `opened`, all headings are; with `brief`, settings that few people need have to be asked for."""
        super().__init__(parent)
        self.model = model
        self._name, self._opened = "", opened
        self.search = search_field(
            self, tr("Search settings"), tr("Search: words, keys, stages"), lambda _text: self._filter()
        )
        self.grouping = combo(self, tr("Grouping"), {by: tr(title) for by, title in _GROUPINGS.items()})
        tip = tr("Show only settings that differ from their default")
        self.changed_only = tool(
            self, tr("Show only changed settings"), text=tr("Changed"), tip=tip, kind="text", checkable=True
        )
        self.advanced = QCheckBox(tr("All settings"), self)
        self.tree = RecordTreeView(theme, model, tr("Settings"), self)
        self.nothing = EmptyState(theme, "search", self)
        self.top = row(
            (self.search, 1), self.grouping, self.changed_only, self.advanced, spacing=6,
            margins=(8, 5, 8, 3),
        )  # fmt: skip
        """The line with the search; others may add to it."""
        self._build(brief=brief)
        self.grouping.currentIndexChanged.connect(lambda _place: self._filter())
        for box in (self.changed_only, self.advanced):
            box.toggled.connect(lambda _on: self._filter())
        self.tree.selectionModel().currentChanged.connect(self._choose)
        self.tree.pressed.connect(self._press)
        self.search.returnPressed.connect(self.entered)
        self.nothing.pressed.connect(lambda _id: self.show_everything())
        self._filter()

    def _build(self, *, brief: bool) -> None:
        self.grouping.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        self.advanced.setChecked(not brief)
        named(self.advanced, "", tr("Also those that few people need")).setVisible(brief)
        tree, header = self.tree, self.tree.header()
        tree.setIndentation(17)
        tree.setExpandsOnDoubleClick(False)
        tree.setHeaderHidden(True)
        tree.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        header.setStretchLastSection(False)  # the names take what the values leave
        header.setSectionResizeMode(SETTING, QHeaderView.ResizeMode.Stretch)
        header.setSectionResizeMode(VALUE, QHeaderView.ResizeMode.Interactive)
        header.resizeSection(VALUE, 150)
        self._pages = stack(tree, self.nothing)
        tight(self.top, (self._pages, 1), of=self)

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
        self.advanced.setChecked(True)
        self.search.clear()

    def refill(self) -> None:
        """The model was filled anew: what was chosen is chosen again."""
        self._pages.setCurrentWidget(self.tree if self.model.groups else self.nothing)
        if not self.model.groups:
            self._say_nothing()
        if self._opened or self.search.text().strip() or self.changed_only.isChecked():
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
        self.model.show_only(
            self.search.text(), grouping, changed=self.changed_only.isChecked(), advanced=self.advanced.isChecked()
        )
        self.refill()

    def _say_nothing(self) -> None:
        if self.search.text().strip():
            text = tr("Words are looked for in titles, helps, DeepLore's keys and stages. Fewer words find more.")
            self.nothing.say(tr("No setting has these words"), text, (("all", tr("Show all settings")),))
        else:
            text = tr("Every setting has the value that DeepLore starts with.")
            self.nothing.say(tr("Nothing is changed"), text, (("all", tr("Show all settings")),))

    def _press(self, pressed: SettingRow) -> None:
        """Enter goes on to the field, or opens and closes a heading."""
        if pressed.setting is not None:
            self.entered.emit()
        else:
            index = self.model.index_of(pressed)
            self.tree.setExpanded(index, not self.tree.isExpanded(index))

    def _choose(self, index: QModelIndex, _before: QModelIndex) -> None:
        setting: Declaration | None = self.model.setting(index)
        if setting is not None:
            self._name = setting.name
        self.chosen.emit(setting)
