"""A field for one setting, by its declared type: switch, number, choice, line or text.

What every field for a setting is.

A field for a setting that is a number: typed, stepped, or slid within its range.
"""

from __future__ import annotations

from functools import partial
from typing import Final

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QWheelEvent
from PySide6.QtWidgets import (
    QButtonGroup,
    QCheckBox,
    QDoubleSpinBox,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QPlainTextEdit,
    QRadioButton,
    QSizePolicy,
    QSlider,
    QSpinBox,
    QVBoxLayout,
    QWidget,
)

from lorestudio.settings.declaration import Declaration, Value
from lorestudio.settings.deeplore import same
from lorestudio.ui.shell.words import number, tr


class SettingField(QWidget):
    """Shows a value. `moved` carries every other one that a person gives it; `accepted` follows Enter."""

    moved = Signal(object)
    accepted = Signal()

    def __init__(self, declaration: Declaration, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.declaration = declaration
        self.row = QHBoxLayout(self)
        self.row.setContentsMargins(0, 0, 0, 0)
        self.row.setSpacing(8)

    def focus_target(self) -> QWidget:
        """Where the keyboard goes."""
        return self

    def set_value(self, value: Value) -> None:
        """Show a value; nothing is emitted."""

    def name(self, widget: QWidget) -> None:
        """Let a widget be called as the setting is."""
        widget.setAccessibleName(tr(self.declaration.label))
        widget.setAccessibleDescription(tr(self.declaration.help))


STEPS: Final = 1000
"""Places of a slider for a range that is too wide for a place each."""

_MOST_WHOLE: Final = 2_000_000_000
_WIDE: Final = 400


class _Whole(QSpinBox):
    def wheelEvent(self, event: QWheelEvent) -> None:
        """Qt: scrolling a page must not change a value."""
        _wheel(self, event, super().wheelEvent)


class _Decimal(QDoubleSpinBox):
    def textFromValue(self, value: float) -> str:
        """Qt: no needless zeros."""
        return self.locale().toString(value, "f", self.decimals()).rstrip("0").rstrip(self.locale().decimalPoint())

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Qt: scrolling a page must not change a value."""
        _wheel(self, event, super().wheelEvent)


class _Slider(QSlider):
    def wheelEvent(self, event: QWheelEvent) -> None:
        """Qt: scrolling a page must not change a value."""
        _wheel(self, event, super().wheelEvent)


def _wheel(widget: QWidget, event: QWheelEvent, turn: object) -> None:
    if widget.hasFocus() and callable(turn):
        turn(event)
    else:
        event.ignore()


class NumberSettingField(SettingField):
    """A number with its unit, and a slider where its range is declared."""

    def __init__(self, declaration: Declaration, parent: QWidget | None = None) -> None:
        super().__init__(declaration, parent)
        low, high = declaration.low, declaration.high
        self._low, self._high = (0.0 if low is None else low), (float(_MOST_WHOLE) if high is None else high)
        self._whole = declaration.type is int
        self.box: QSpinBox | QDoubleSpinBox = _Whole(self) if self._whole else _Decimal(self)
        if isinstance(self.box, QDoubleSpinBox):
            self.box.setDecimals(3)
            self.box.setRange(self._low, self._high)
            self.box.setSingleStep(max(round((self._high - self._low) / 20, 2), 0.01))
        else:
            self.box.setRange(int(self._low), int(self._high))
            self.box.setSingleStep(_step(self._high - self._low))
        self.box.setGroupSeparatorShown(True)
        self.box.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.box.setMinimumWidth(96)
        self.name(self.box)
        self.box.setToolTip(tr("Arrow keys change it a little, Page Up and Page Down more"))
        self.row.addWidget(self.box)
        if declaration.unit:
            self.row.addWidget(QLabel(tr(declaration.unit), self))
        self.slider: QSlider | None = None
        if low is not None and high is not None:
            self.slider = _Slider(Qt.Orientation.Horizontal, self)
            self.slider.setRange(0, self._places)
            self.slider.setAccessibleName(tr("{setting}, slider", setting=tr(declaration.label)))
            self.slider.setPageStep(max(1, self._places // 10))
            self.slider.valueChanged.connect(self._slid)
            self.row.addWidget(self.slider, 1)
        else:
            self.row.addStretch(1)
        self.box.valueChanged.connect(self._typed)
        self.box.lineEdit().returnPressed.connect(self.accepted)

    @property
    def _places(self) -> int:
        span = self._high - self._low
        return int(span) if self._whole and span <= _WIDE else STEPS

    def focus_target(self) -> QWidget:
        """The box."""
        return self.box

    def set_value(self, value: Value) -> None:
        """Show a number; what is no finite one within the range is shown as near as can be."""
        amount = float(value)
        self._show(amount)

    def _show(self, amount: float) -> None:
        for widget in (self.box, self.slider):
            if widget is not None:
                widget.blockSignals(True)  # what is shown is no wish
        if isinstance(self.box, QSpinBox):
            self.box.setValue(round(min(max(amount, self._low), self._high)))
        else:
            self.box.setValue(amount)
        if self.slider is not None:
            self.slider.setValue(self._place_of(amount))
        for widget in (self.box, self.slider):
            if widget is not None:
                widget.blockSignals(False)

    def _place_of(self, amount: float) -> int:
        part = (min(max(amount, self._low), self._high) - self._low) / ((self._high - self._low) or 1)
        return round(part * self._places if self._is_even else self._places * part ** (1 / 3))

    def _amount_at(self, place: int) -> float:
        part = place / self._places
        span = self._high - self._low
        if self._is_even:
            amount = self._low + part * span
            return round(amount) if self._whole else round(amount, 2)
        amount = self._low + span * part**3
        step = float(10 ** max(0, len(str(int(amount))) - 2))  # two digits that count are enough for a slider
        return min(max(round(amount / step) * step, self._low), self._high)

    @property
    def _is_even(self) -> bool:
        """A range over several powers of ten gives small values more room on the slider."""
        return not self._whole or self._high - self._low <= _WIDE

    def _typed(self, amount: float) -> None:
        if self.slider is not None:
            self.slider.blockSignals(True)
            self.slider.setValue(self._place_of(amount))
            self.slider.blockSignals(False)
        self.moved.emit(int(amount) if self._whole else float(amount))

    def _slid(self, place: int) -> None:
        amount = self._amount_at(place)
        self._show(amount)
        self.moved.emit(int(amount) if self._whole else float(amount))


def _step(span: float) -> int:
    return 1 if span <= _WIDE else 10 if span <= 20_000 else 100


def make_field(declaration: Declaration, parent: QWidget | None = None) -> SettingField:
    """The field that goes with what is declared."""
    if declaration.type is bool:
        return SwitchField(declaration, parent)
    if declaration.choices:
        return ChoiceSettingField(declaration, parent)
    if declaration.type in (int, float):
        return NumberSettingField(declaration, parent)
    return TextField(declaration, parent) if declaration.long else LineSettingField(declaration, parent)


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


class ChoiceSettingField(SettingField):
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


class LineSettingField(SettingField):
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


class _ListLines(QPlainTextEdit):
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
        self.text = _ListLines(self)
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
