"""A field for one setting, by its declared type: switch, number, choice, line or text."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import (
    QButtonGroup,
    QCheckBox,
    QLabel,
    QLineEdit,
    QPlainTextEdit,
    QRadioButton,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from lorestudio.settings.declaration import Declaration, Value
from lorestudio.settings.deeplore import same
from lorestudio.ui.widgets.number_setting_field import NumberField
from lorestudio.ui.widgets.setting_field import SettingField
from lorestudio.ui.words import number, tr


def make_field(declaration: Declaration, parent: QWidget | None = None) -> SettingField:
    """The field that goes with what is declared."""
    if declaration.type is bool:
        return SwitchField(declaration, parent)
    if declaration.choices:
        return ChoiceField(declaration, parent)
    if declaration.type in (int, float):
        return NumberField(declaration, parent)
    return TextField(declaration, parent) if declaration.long else LineField(declaration, parent)


class SwitchField(SettingField):
    """On or off."""

    def __init__(self, declaration: Declaration, parent: QWidget | None = None) -> None:
        super().__init__(declaration, parent)
        self.box = QCheckBox(self)
        self.name(self.box)
        self.row.addWidget(self.box)
        self.row.addStretch(1)
        self.box.clicked.connect(self._clicked)

    def focus_target(self) -> QWidget:
        """The box."""
        return self.box

    def set_value(self, value: Value) -> None:
        """Tick it or not."""
        self.box.setChecked(bool(value))
        self.box.setText(tr("on") if value else tr("off"))

    def _clicked(self, checked: bool) -> None:
        self.set_value(checked)
        self.moved.emit(checked)


class ChoiceField(SettingField):
    """One of a few values, each with what it means."""

    def __init__(self, declaration: Declaration, parent: QWidget | None = None) -> None:
        super().__init__(declaration, parent)
        column = QVBoxLayout()
        column.setSpacing(2)
        self.row.addLayout(column, 1)
        self._group = QButtonGroup(self)
        self.buttons: dict[Value, QRadioButton] = {}
        for value, text in declaration.choices.items():
            button = QRadioButton(str(value) if isinstance(value, str) else tr(text).rstrip("."), self)
            button.setAccessibleName(f"{tr(declaration.label)}: {value}")
            button.setAccessibleDescription(tr(text))
            self._group.addButton(button)
            self.buttons[value] = button
            button.clicked.connect(partial(self._chosen, value))
            column.addWidget(button)
            if isinstance(value, str):
                meaning = QLabel(tr(text), self)
                meaning.setProperty("kind", "small")
                meaning.setWordWrap(True)
                meaning.setIndent(22)
                column.addWidget(meaning)
        self.odd = QLabel(self)
        self.odd.setProperty("kind", "small")
        self.odd.setWordWrap(True)
        self.odd.hide()
        column.addWidget(self.odd)

    def focus_target(self) -> QWidget:
        """The chosen button, so that arrow keys go on from there."""
        checked = self._group.checkedButton()
        return checked if checked is not None else next(iter(self.buttons.values()))

    def set_value(self, value: Value) -> None:
        """Choose a value; one that is none of them is said."""
        button = next((one for known, one in self.buttons.items() if same(known, value)), None)
        self._group.setExclusive(button is not None)
        for one in self.buttons.values():
            one.setChecked(one is button)
        self._group.setExclusive(True)
        self.odd.setVisible(button is None)
        if button is None:
            shown = number(value) if isinstance(value, int | float) else value
            self.odd.setText(tr("Now it is “{value}”, which is none of these.", value=shown))

    def _chosen(self, value: Value) -> None:
        self.odd.hide()
        self.moved.emit(value)


class LineField(SettingField):
    """A text of one line."""

    def __init__(self, declaration: Declaration, parent: QWidget | None = None) -> None:
        super().__init__(declaration, parent)
        self.line = QLineEdit(self)
        self.name(self.line)
        self.row.addWidget(self.line)
        self.line.textEdited.connect(self.moved.emit)
        self.line.returnPressed.connect(self.accepted)

    def focus_target(self) -> QWidget:
        """The line."""
        return self.line

    def set_value(self, value: Value) -> None:
        """Show a text; the cursor stays where it is in the same text."""
        if self.line.text() != str(value):
            self.line.setText(str(value))


class _Lines(QPlainTextEdit):
    """Ctrl+Enter accepts; Tab goes on."""

    accepted = Signal()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Qt: see the class."""
        enter = event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter)
        if enter and event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            self.accepted.emit()
            return
        super().keyPressEvent(event)

    def sizeHint(self) -> QSize:
        """Qt: five lines."""
        return QSize(200, self.fontMetrics().lineSpacing() * 5 + 14)


class TextField(SettingField):
    """A text of several lines."""

    def __init__(self, declaration: Declaration, parent: QWidget | None = None) -> None:
        super().__init__(declaration, parent)
        self.text = _Lines(self)
        self.text.setObjectName("Setting")
        self.text.setTabChangesFocus(True)
        self.text.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        self.text.setMinimumHeight(self.text.fontMetrics().lineSpacing() * 3 + 14)
        self.text.setPlaceholderText(tr("empty"))
        self.name(self.text)
        self.row.addWidget(self.text)
        self.text.textChanged.connect(self._typed)
        self.text.accepted.connect(self.accepted)

    def focus_target(self) -> QWidget:
        """The text."""
        return self.text

    def set_value(self, value: Value) -> None:
        """Show a text."""
        if self.text.toPlainText() != str(value):
            self.text.blockSignals(True)
            self.text.setPlainText(str(value))
            self.text.blockSignals(False)

    def _typed(self) -> None:
        self.moved.emit(self.text.toPlainText())
