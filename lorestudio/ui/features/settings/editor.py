"""The declared settings in a list that can be searched, and all about the chosen one, with its field.

The list is a tree of sections or stages, and below each its settings with values, or only what was changed. The chosen
one has help, range, default, stages, warnings, and a trial's result.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Final

from PySide6.QtCore import QModelIndex, QObject, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QCheckBox, QHeaderView, QScrollArea, QSizePolicy, QTreeView, QVBoxLayout, QWidget

from lorestudio.settings.declaration import (
    NO_STAGE,
    Declaration,
    Grouping,
    Section,
    SettingGroup,
    Value,
    matching,
    setting_groups,
)
from lorestudio.settings.deeplore import same, setting_value
from lorestudio.settings.sections import value_text
from lorestudio.studio.project.settings import SettingWarning
from lorestudio.ui.shell.qt import Index, plain
from lorestudio.ui.shell.theme import Theme
from lorestudio.ui.shell.words import count, number, sentence_case, tr
from lorestudio.ui.widgets.cells import Column
from lorestudio.ui.widgets.layouts import (
    SearchField,
    able,
    button,
    column,
    combo,
    holding,
    label,
    named,
    row,
    show_words,
    small_button,
    stack,
    tight,
    tool,
)
from lorestudio.ui.widgets.pane import EmptyState, FoldingRow, TonedBar
from lorestudio.ui.widgets.setting_fields import SettingField, make_field
from lorestudio.ui.widgets.tree import RecordTree, RecordTreeView, TreeRow


class SettingEditor(QWidget):
    """Shows one setting at a time. `moved` carries a declaration and a value; `kept` and `given_up` end a trial.

    `stage_wanted` carries a stage that somebody wants to see the settings of, `left` follows Escape without a trial.
    """

    moved = Signal(object, object)
    kept = Signal()
    given_up = Signal()
    stage_wanted = Signal(str)
    left = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None, hint: str = "") -> None:
        """`hint` is what is said while no setting is chosen, if it is shown then."""
        super().__init__(parent)
        self._hint, self.bar = hint, TonedBar(theme, self)
        self.declaration: Declaration | None = None
        self.field: SettingField | None = None
        self._trial = False
        self._build()
        self.say_nothing()

    def _build(self) -> None:
        self._area = QScrollArea(self, widgetResizable=True)
        self._area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        page = QWidget(self._area)
        page.setObjectName("FormPage")
        self.title, self.key = label(page, kind="title"), label(page, kind="small", wrap=False, selectable=True)
        self.help, self.range, self.against = (label(page, kind=kind) for kind in ("", "small", ""))
        self.stages = label(page, kind="small", links=True)
        self.against.setObjectName("FormProblems")
        self.stages.linkActivated.connect(self.stage_wanted)
        self.reset = small_button(page, tr("Reset"), clicked=self._reset)
        head = row((self.title, 1), spacing=8)
        head.addWidget(self.key, 0, Qt.AlignmentFlag.AlignBaseline)
        line = row((self.range, 1), spacing=8)
        line.addWidget(self.reset, 0, Qt.AlignmentFlag.AlignTop)
        self._place = QVBoxLayout()
        column(
            head, self._place, line, self.help, self.against, self.stages, 1, of=page, spacing=6, margins=(10, 8, 10, 8)
        )
        self._area.setWidget(page)
        tight((self._area, 1), self._make_bar(), of=self)

    def _make_bar(self) -> QWidget:
        self.result = label(self.bar, top=True)
        self.result.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        tip = tr("Take the value and replay the chat; it can be undone (Enter, or by leaving the field)")
        self.keep = button(self.bar, tr("Keep"), self.kept, kind="primary", tip=tip)
        self.back = button(self.bar, tr("Back"), self.given_up, tip=tr("Give the value up (Esc)"))
        line = row((self.result, 1), spacing=8, margins=(10, 6, 8, 6))
        for each in (self.keep, self.back):
            line.addWidget(each, 0, Qt.AlignmentFlag.AlignTop)
        self.bar.setLayout(line)
        return self.bar

    # ---- what is shown ----------------------------------------------------------------------------------------------

    def say_nothing(self) -> None:
        """No setting is chosen."""
        self.declaration = None
        self._drop_field()
        self.title.setText(tr("No setting chosen"))
        self.help.setText(self._hint)
        self.key.clear()
        for part in (self.range, self.stages, self.against, self.reset):
            part.hide()
        self.show_result("", pending=False)

    def show_setting(
        self, declaration: Declaration, value: Value, warnings: Sequence[SettingWarning] = (), *, enabled: bool = True
    ) -> None:
        """Show a setting with its value. The same setting keeps its field, and with it keyboard and cursor."""
        if self.declaration is None or self.declaration.name != declaration.name or self.field is None:
            self._drop_field()
            self.declaration = declaration
            self.field = make_field(declaration, self)
            self.field.moved.connect(self._moved)
            self.field.accepted.connect(self.kept)
            self._place.addWidget(self.field)
            self.title.setText(tr(declaration.title))
            self.key.setText(declaration.alias)
            self.key.setToolTip(tr("What it is called in files: {key}", key=declaration.alias))
            self.help.setText(tr(declaration.help))
            self.stages.setText(_stages(declaration))
            self.setAccessibleName(tr(declaration.label))
            self._area.verticalScrollBar().setValue(0)
        self.field.set_value(value)
        able(self.field, enabled, tr("The vault is being read with these settings…"))
        default = value_text(declaration, declaration.default)
        self.range.setText(_range(declaration) + tr("default {default}", default=default))
        self.reset.setVisible(not same(value, declaration.default))
        self.reset.setAccessibleName(tr("Reset {setting} to {default}", setting=tr(declaration.title), default=default))
        self.reset.setToolTip(tr("Put it back to {default}", default=default))
        show_words(self.against, "\n".join(" ".join(filter(None, (one.text, one.advice))) for one in warnings))
        self.range.show()
        self.stages.show()

    def show_result(self, text: str, *, pending: bool, tone: str = "neutral", current: bool = True) -> None:
        """Say what a trial came to; `pending` shows the buttons that end it.

        A result that is not `current` is that of the value before, greyed until the new one is there.
        """
        self.result.setEnabled(current)
        self._trial = pending
        self.result.setText(text)
        self.result.setToolTip(plain(text))  # a low pane cuts it off
        self.bar.setVisible(bool(text))
        self.bar.setAccessibleName(text)
        for each in (self.keep, self.back):
            each.setVisible(pending)
        self.bar.set_tone(tone)

    def focus_field(self) -> None:
        """Give the keyboard to the field."""
        if self.field is not None:
            self.field.focus_target().setFocus(Qt.FocusReason.TabFocusReason)

    def holds(self, widget: QWidget | None) -> bool:
        """Whether a widget is part of this one."""
        return widget is not None and (widget is self or self.isAncestorOf(widget))

    def _drop_field(self) -> None:
        if self.field is not None:
            self.field.hide()
            self.field.deleteLater()
            self.field = None

    def _moved(self, value: object) -> None:
        if self.declaration is not None:
            self.moved.emit(self.declaration, value)

    def _reset(self) -> None:
        if self.declaration is not None:
            self.moved.emit(self.declaration, self.declaration.default)
            self.focus_field()  # the button goes away

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Qt: Escape gives a trial up, or leaves."""
        if event.key() == Qt.Key.Key_Escape:
            (self.given_up if self._trial else self.left).emit()
            return
        super().keyPressEvent(event)


def _range(declaration: Declaration) -> str:
    if declaration.low is None or declaration.high is None:
        return ""
    unit = f" {tr(declaration.unit)}" if declaration.unit else ""
    return tr("{low} to {high}{unit} · ", low=number(declaration.low), high=number(declaration.high), unit=unit)


def _stages(declaration: Declaration) -> str:
    if not declaration.affects:
        return escape(tr("Changes nothing in a run."))
    links = ", ".join(f'<a href="{escape(stage)}">{escape(tr(stage))}</a>' for stage in declaration.affects)
    return tr("Changes these stages: {stages}", stages=links)


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
        told: dict[str, list[SettingWarning]] = {}
        for each in warnings:
            told.setdefault(each.alias, []).append(each)
        if (settings, told) == (self._settings, self._warnings):
            return  # it is told of every other reply and of every note, too
        self._settings, self._warnings, self._values = settings, told, {}
        if self._changed_only:
            self._fill()
        else:
            self.refresh()

    def try_value(self, declaration: Declaration | None, value: Value = 0) -> None:
        """Show a value that is tried out in place of the setting's own; None shows them all as they are."""
        tried = None if declaration is None else (declaration.name, value)
        if tried != self._tried:
            self._tried = tried
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
        self.groups = setting_groups(found, self._by, self._settings.stages)
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
        self.search = SearchField(self, tr("Search settings"), tr("Words, keys, stages"), lambda _text: self._filter())
        self.grouping = combo(self, tr("Grouping"), {by: tr(title) for by, title in _GROUPINGS.items()})
        tip = tr("Show only settings that differ from their default")
        self.changed_only = tool(
            self, tr("Show only changed settings"), text=tr("Changed"), tip=tip, kind="text", checkable=True
        )
        self.advanced = QCheckBox(tr("All settings"), self)
        self.tree = RecordTreeView(theme, model, tr("Settings"), self)
        self.nothing = EmptyState(theme, "search", self)
        self.choices = row(self.grouping, self.changed_only, self.advanced, 1, spacing=6, margins=0)
        """What stands beside the search; others may add to it, before the room at its end."""
        self._build(brief=brief)
        self.grouping.currentIndexChanged.connect(lambda _place: self._filter())
        for box in (self.changed_only, self.advanced):
            box.toggled.connect(lambda _on: self._filter())
        self.tree.selectionModel().currentChanged.connect(self._choose)
        self.tree.pressed.connect(lambda _row: self.entered.emit())
        self.search.returnPressed.connect(self.entered)
        self.nothing.pressed.connect(lambda _id: self.show_everything())
        self._filter()

    def _build(self, *, brief: bool) -> None:
        self.grouping.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        self.advanced.setChecked(not brief)
        named(self.advanced, "", tr("Also those that few people need")).setVisible(brief)
        tree, header = self.tree, self.tree.header()
        tree.setIndentation(17)
        tree.setHeaderHidden(True)
        tree.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        header.setStretchLastSection(False)  # the names take what the values leave
        header.setSectionResizeMode(SETTING, QHeaderView.ResizeMode.Stretch)
        header.resizeSection(VALUE, 150)
        self.model.dataChanged.connect(self._give_room)
        self._pages = stack(tree, self.nothing, of=self)
        top = FoldingRow(self.search, holding(self.choices), self, margins=(8, 4, 8, 2))
        tight(top, (self._pages, 1), of=self)

    def show_stage(self, stage: str) -> None:
        """Show the settings that change one stage of a run."""
        self.search.clear()
        self.grouping.setCurrentIndex(self.grouping.findData(Grouping.STAGE))
        for place, group in enumerate(self.model.groups):
            if group.title == stage:
                heading = self.model.index(place, SETTING)
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
        self._give_room()
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

    def _give_room(self, first: QModelIndex | None = None) -> None:
        """A heading that has nothing to say of its settings takes the width of both columns; told of what changed."""
        if first is not None and first.parent().isValid():
            return
        for place in range(self.model.rowCount()):
            said = self.model.index(place, VALUE).data()
            self.tree.setFirstColumnSpanned(place, QModelIndex(), not said)

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

    def _choose(self, index: QModelIndex, _before: QModelIndex) -> None:
        setting: Declaration | None = self.model.setting(index)
        if setting is not None:
            self._name = setting.name
        self.chosen.emit(setting)
