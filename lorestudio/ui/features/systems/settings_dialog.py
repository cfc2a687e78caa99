"""The settings of a system beside DeepLore, made from their declarations: a list with a search, and one to change."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from html import escape
from typing import Final

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QFont, QKeyEvent
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QHBoxLayout,
    QHeaderView,
    QLabel,
    QLineEdit,
    QPushButton,
    QSplitter,
    QTreeWidget,
    QTreeWidgetItem,
    QVBoxLayout,
    QWidget,
)

from lorestudio.settings.declaration import Declaration, Section, Value, declared, grouped, matching
from lorestudio.settings.deeplore import same
from lorestudio.settings.differences import value_text
from lorestudio.systems.base import SystemKind
from lorestudio.trace.text import turn_words
from lorestudio.ui.features.settings.editor import SettingEditor, diff_lines
from lorestudio.ui.features.settings.trial import SystemTrial
from lorestudio.ui.shell.theme import Theme
from lorestudio.ui.shell.words import count, tr

_NAME: Final = Qt.ItemDataRole.UserRole
OUTCOME_LINES: Final = 4


class SystemSettingsDialog(QDialog):
    """Changes a copy of the settings. `accepted_settings` carries it once the person wants it."""

    accepted_settings = Signal(object)  # Section

    def __init__(
        self,
        theme: Theme,
        kind: SystemKind,
        settings: Section,
        parent: QWidget | None = None,
        trial: SystemTrial | None = None,
    ) -> None:
        """With a `trial`, what the settings would do to the open reply is shown while they are moved."""
        super().__init__(parent)
        self.trial = trial
        if trial is not None:
            trial.setParent(self)
            trial.changed.connect(self._show_trial)
            self.finished.connect(lambda _result: trial.end())
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(tr("Settings of {system}", system=tr(kind.title)))
        self.kind = kind
        self._before = settings
        self._values: dict[str, Value] = {each.name: getattr(settings, each.name) for each in declared(kind.settings)}
        self._known: Mapping[str, Declaration] = {each.name: each for each in declared(kind.settings)}
        self.search = QLineEdit(self)
        self.tree = QTreeWidget(self)
        self.editor = SettingEditor(theme, self)
        self.outcome = QLabel(self)
        """What the settings as they stand here would do to the open reply."""
        self.outcome.setWordWrap(True)
        self.outcome.setMinimumHeight(OUTCOME_LINES * self.outcome.fontMetrics().lineSpacing())
        self.outcome.setAlignment(Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignLeft)
        self.outcome.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self.outcome.setVisible(trial is not None)
        self._items: dict[str, QTreeWidgetItem] = {}
        self._build()
        self._fill()
        first = next(iter(self._items.values()), None)
        if first is not None:
            self.tree.setCurrentItem(first)
        self._tell()
        self._show_trial()
        self.resize(820, 620 if trial is not None else 560)

    @property
    def settings(self) -> Section:
        """The settings as they are set here."""
        return self._before.model_copy(update=self._values)

    # ---- what can be done -------------------------------------------------------------------------------------------

    def set_value(self, name: str, value: Value) -> None:
        """Change one setting."""
        self._values[name] = value
        self._show_item(self._items[name], self._known[name])
        if self.editor.declaration is not None and self.editor.declaration.name == name:
            self.editor.show_setting(self._known[name], value)
        self._tell()

    def choose(self, name: str) -> None:
        """Show one setting."""
        self.search.clear()
        self.tree.setCurrentItem(self._items[name])

    def set_defaults(self) -> None:
        """Put every setting back to its default."""
        for name, each in self._known.items():
            if not same(self._values[name], each.default):
                self.set_value(name, each.default)

    def add_door(self, text: str, opened: Callable[[], None]) -> QPushButton:
        """A button for what has a dialog of its own."""
        door = QPushButton(text, self)
        door.setAutoDefault(False)
        door.clicked.connect(opened)
        self._row.insertWidget(1, door)
        return door

    def accept(self) -> None:
        """Qt: hand the settings over and close."""
        self.accepted_settings.emit(self.settings)
        super().accept()

    # ---- inside -----------------------------------------------------------------------------------------------------

    def _build(self) -> None:
        column = QVBoxLayout(self)
        intro = QLabel(tr(self.kind.summary), self)
        intro.setWordWrap(True)
        column.addWidget(intro)
        left = QWidget(self)
        list_column = QVBoxLayout(left)
        list_column.setContentsMargins(0, 0, 0, 0)
        list_column.setSpacing(4)
        self.search.setPlaceholderText(tr("Search: words, keys, stages"))
        self.search.setAccessibleName(tr("Search settings"))
        self.search.setClearButtonEnabled(True)
        self.search.textChanged.connect(self._filter)
        self.tree.setAccessibleName(tr("Settings"))
        self.tree.setColumnCount(2)
        self.tree.setHeaderHidden(True)
        self.tree.setIndentation(12)
        self.tree.setUniformRowHeights(True)
        self.tree.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        header = self.tree.header()
        header.setStretchLastSection(False)
        header.setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        header.setSectionResizeMode(1, QHeaderView.ResizeMode.Interactive)
        header.resizeSection(1, 130)
        self.tree.currentItemChanged.connect(lambda _now, _before: self._show_chosen())
        self.tree.itemActivated.connect(lambda _item, _column: self.editor.focus_field())
        self._none = QLabel(tr("No setting has these words. Fewer words find more."), left)
        self._none.setProperty("kind", "small")
        self._none.setWordWrap(True)
        self._none.hide()
        for widget in (self.search, self._none, self.tree):
            list_column.addWidget(widget, int(widget is self.tree))
        self.editor.moved.connect(self._moved)
        self.editor.kept.connect(self.tree.setFocus)
        self.editor.left.connect(self.reject)
        self.editor.stage_wanted.connect(self.search.setText)
        parts = QSplitter(Qt.Orientation.Horizontal, self)
        parts.addWidget(left)
        parts.addWidget(self.editor)
        parts.setChildrenCollapsible(False)
        parts.setSizes([400, 420])
        column.addWidget(parts, 1)
        column.addWidget(self.outcome)
        column.addLayout(self._buttons())

    def _buttons(self) -> QHBoxLayout:
        row = self._row = QHBoxLayout()
        self.defaults = QPushButton(tr("All defaults"), self)
        self.defaults.setAutoDefault(False)
        self.defaults.clicked.connect(self.set_defaults)
        self._told = QLabel(self)
        self._told.setProperty("kind", "small")
        box = QDialogButtonBox(QDialogButtonBox.StandardButton.Cancel, self)
        self.apply = QPushButton(tr("Apply and replay"), self)
        self.apply.setProperty("kind", "primary")
        self.apply.setAutoDefault(False)
        box.addButton(self.apply, QDialogButtonBox.ButtonRole.AcceptRole)
        box.accepted.connect(self.accept)
        box.rejected.connect(self.reject)
        row.addWidget(self.defaults)
        row.addWidget(self._told, 1)
        row.addWidget(box)
        return row

    def _fill(self) -> None:
        for group in grouped(self._known.values()):
            heading = QTreeWidgetItem(self.tree, [tr(group.title)])
            heading.setFlags(Qt.ItemFlag.ItemIsEnabled)
            for each in group.settings:
                item = QTreeWidgetItem(heading)
                item.setData(0, _NAME, each.name)
                item.setText(0, tr(each.title))
                item.setToolTip(0, tr(each.help))
                self._items[each.name] = item
                self._show_item(item, each)
            heading.setExpanded(True)

    def _show_item(self, item: QTreeWidgetItem, each: Declaration) -> None:
        value = self._values[each.name]
        item.setText(1, value_text(each, value))
        changed = not same(value, each.default)
        font = QFont()
        font.setBold(changed)
        for column in (0, 1):
            item.setFont(column, font)
        parts = [tr(each.title), value_text(each, value), *([tr("not the default")] if changed else [])]
        item.setData(0, Qt.ItemDataRole.AccessibleTextRole, ", ".join(parts))

    def _filter(self, words: str) -> None:
        found = {each.name for each in matching(words, self._known.values())}
        for name, item in self._items.items():
            item.setHidden(name not in found)
        for place in range(self.tree.topLevelItemCount()):
            heading = self.tree.topLevelItem(place)
            if heading is not None:
                members = (heading.child(row) for row in range(heading.childCount()))
                heading.setHidden(all(member.isHidden() for member in members if member is not None))
        self._none.setVisible(not found)

    def _show_chosen(self) -> None:
        item = self.tree.currentItem()
        each = self._known.get(str(item.data(0, _NAME))) if item is not None else None
        if each is None:
            self.editor.say_nothing()
            self.editor.help.setText(tr("Choose a setting in the list to read what it does and to change it."))
            return
        self.editor.show_setting(each, self._values[each.name])
        self._name_stages(each)
        self.editor.key.setToolTip(tr("What it is called in files: {key}", key=each.alias))

    def _name_stages(self, each: Declaration) -> None:
        if not each.affects:
            self.editor.stages.setText(escape(tr("Changes nothing in a replay.")))

    def _moved(self, declaration: Declaration, value: Value) -> None:
        self.set_value(declaration.name, value)

    def _show_trial(self) -> None:
        """Say what the settings as they stand here would do, greyed where it is of those before."""
        trial = self.trial
        if trial is None:
            return
        if trial.tried is None:
            text = tr("Move a setting to see what it would do to the reply that you look at.")
        elif trial.diff is not None:
            first, *more = diff_lines(trial.diff)
            first = tr("{reply}: {told}", reply=turn_words(trial.diff.after.turn), told=first)
            text = "\n".join((first, *more, *trial.remarks))
        else:
            text = trial.waiting
        self.outcome.setText(text)
        self.outcome.setAccessibleName(text)
        self.outcome.setEnabled(trial.tried is not None and (trial.diff is None or trial.is_current))

    def _tell(self) -> None:
        if self.trial is not None:
            if self.settings == self._before:
                self.trial.end()
            else:
                self.trial.try_settings(self.settings)
        changed = sum(not same(self._values[name], each.default) for name, each in self._known.items())
        self._told.setText(
            count(changed, "setting differs from its default", "settings differ from their defaults")
            if changed
            else tr("Every setting has its default.")
        )
        self.defaults.setEnabled(bool(changed))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Qt: Ctrl+Enter takes the settings; Enter alone stays in the list."""
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            if event.modifiers() & Qt.KeyboardModifier.ControlModifier:
                self.accept()
            return
        super().keyPressEvent(event)

    def changeEvent(self, event: QEvent) -> None:
        """Qt: links take their colour from the palette."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange and self.editor.declaration is not None:
            self._name_stages(self.editor.declaration)
