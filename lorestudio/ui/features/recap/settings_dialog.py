"""The settings of recap memory as a form that is made from their declarations."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QDialog,
    QDialogButtonBox,
    QFrame,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QListWidget,
    QPushButton,
    QScrollArea,
    QSplitter,
    QVBoxLayout,
    QWidget,
)

from lorestudio.settings.declaration import Declaration, Value, declared, matching
from lorestudio.settings.deeplore import same
from lorestudio.settings.differences import value_text
from lorestudio.settings.recap import RecapSettings
from lorestudio.ui.shell.words import count, tr
from lorestudio.ui.widgets.setting_fields import SettingField, make_field


class RecapSettingsDialog(QDialog):
    """`accepted_settings` carries the settings once they are kept."""

    accepted_settings = Signal(object)

    def __init__(self, settings: RecapSettings, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(tr("Recap settings"))
        self._values: dict[str, Value] = {each.name: getattr(settings, each.name) for each in declared(RecapSettings)}
        self.fields: dict[str, SettingField] = {}
        self._resets: dict[str, QPushButton] = {}
        self.search, self.groups, self.area = QLineEdit(self), QListWidget(self), QScrollArea(self)
        self.advanced, self.told = QCheckBox(tr("All settings"), self), QLabel(self)
        self._build()
        self._list_groups()
        self.resize(760, 560)

    @property
    def settings(self) -> RecapSettings:
        """The settings as they are in the form."""
        return RecapSettings.model_validate(self._values)

    def accept(self) -> None:
        """Qt: hand the settings over and close."""
        self.accepted_settings.emit(self.settings)
        super().accept()

    def set_value(self, name: str, value: Value) -> None:
        """Give a setting a value."""
        self._values[name] = value
        if name in self.fields:
            self.fields[name].set_value(value)
        self._tell(name)

    # ---- inside -----------------------------------------------------------------------------------------------------

    def _build(self) -> None:
        column = QVBoxLayout(self)
        intro = tr("They hold for every chat. Nothing is made by itself unless “Keep recaps up to date” is on.")
        label = QLabel(intro, self)
        label.setWordWrap(True)
        column.addWidget(label)
        row = QHBoxLayout()
        self.search.setPlaceholderText(tr("Search: words, keys, stages"))
        self.search.setAccessibleName(tr("Search settings"))
        self.search.setClearButtonEnabled(True)
        self.advanced.setToolTip(tr("Also those that few people need"))
        row.addWidget(self.search, 1)
        row.addWidget(self.advanced)
        column.addLayout(row)
        splitter = QSplitter(Qt.Orientation.Horizontal, self)
        self.groups.setAccessibleName(tr("Sections"))
        self.area.setWidgetResizable(True)
        self.area.setAccessibleName(tr("Settings of the section"))
        splitter.addWidget(self.groups)
        splitter.addWidget(self.area)
        splitter.setStretchFactor(1, 1)
        splitter.setSizes([170, 590])
        column.addWidget(splitter, 1)
        self.told.setProperty("kind", "small")
        below = QHBoxLayout()
        below.addWidget(self.told, 1)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Cancel, self)
        keep = QPushButton(tr("Keep"), self)
        keep.setProperty("kind", "primary")
        keep.setDefault(True)
        buttons.addButton(keep, QDialogButtonBox.ButtonRole.AcceptRole)
        buttons.accepted.connect(self.accept)
        buttons.rejected.connect(self.reject)
        below.addWidget(buttons)
        column.addLayout(below)
        self.search.textChanged.connect(lambda _text: self._list_groups())
        self.advanced.toggled.connect(lambda _on: self._list_groups())
        self.groups.currentTextChanged.connect(self._show_group)

    def _found(self) -> Mapping[str, list[Declaration]]:
        words = self.search.text()
        groups: dict[str, list[Declaration]] = {}
        for each in matching(words, declared(RecapSettings)):
            if not each.advanced or self.advanced.isChecked() or words.strip():
                groups.setdefault(tr(each.group), []).append(each)
        return groups

    def _list_groups(self) -> None:
        before = self.groups.currentItem().text() if self.groups.currentItem() is not None else ""
        self.groups.blockSignals(True)
        self.groups.clear()
        names = list(self._found())
        self.groups.addItems(names)
        if names:
            self.groups.setCurrentRow(names.index(before) if before in names else 0)
        self.groups.blockSignals(False)
        self._show_group(self.groups.currentItem().text() if names else "")

    def _show_group(self, name: str) -> None:
        self.fields, self._resets = {}, {}
        page = QWidget(self.area)
        page.setObjectName("FormPage")
        rows = QVBoxLayout(page)
        rows.setContentsMargins(10, 6, 10, 8)
        rows.setSpacing(10)
        shown = self._found().get(name, [])
        for each in shown:
            rows.addWidget(self._row(each, page))
        if not shown:
            nothing = QLabel(tr("No setting has these words. Fewer words find more."), page)
            nothing.setProperty("kind", "muted")
            rows.addWidget(nothing)
        rows.addStretch(1)
        self.area.setWidget(page)
        self._tell()

    def _row(self, each: Declaration, parent: QWidget) -> QWidget:
        box = QFrame(parent)
        column = QVBoxLayout(box)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(3)
        head = QHBoxLayout()
        title = QLabel(tr(each.title), box)
        title.setProperty("kind", "summary")
        reset = QPushButton(tr("Reset"), box)
        reset.setProperty("kind", "small")
        reset.setAutoDefault(False)
        default = value_text(each, each.default)
        reset.setToolTip(tr("Put it back to {default}", default=default))
        reset.setAccessibleName(tr("Reset {setting} to {default}", setting=tr(each.title), default=default))
        reset.clicked.connect(partial(self.set_value, each.name, each.default))
        head.addWidget(title, 1)
        head.addWidget(reset)
        column.addLayout(head)
        field = make_field(each, box)
        field.set_value(self._values[each.name])
        field.moved.connect(partial(self._moved, each.name))
        column.addWidget(field)
        text = QLabel(tr(each.help), box)
        text.setProperty("kind", "small")
        text.setWordWrap(True)
        column.addWidget(text)
        self.fields[each.name], self._resets[each.name] = field, reset
        reset.setVisible(not same(self._values[each.name], each.default))
        return box

    def _moved(self, name: str, value: Value) -> None:
        self._values[name] = value
        self._tell(name)

    def _tell(self, name: str = "") -> None:
        changed = 0
        for each in declared(RecapSettings):
            differs = not same(self._values[each.name], each.default)
            changed += differs
            if each.name == name and name in self._resets:
                self._resets[name].setVisible(differs)
        amount = count(changed, "setting differs", "settings differ")
        self.told.setText(tr("{amount} from the defaults", amount=amount) if changed else tr("All as shipped"))
