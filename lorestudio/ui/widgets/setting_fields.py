"""A field for one setting, by its declared type: switch, number, choice, line or text.

A number is typed, stepped, or slid within its range.
"""

from __future__ import annotations

from functools import partial
from typing import Final

from PySide6.QtCore import QEvent, QObject, QSignalBlocker, QSize, Qt, Signal
from PySide6.QtWidgets import (
    QButtonGroup,
    QCheckBox,
    QDoubleSpinBox,
    QLineEdit,
    QRadioButton,
    QSizePolicy,
    QSlider,
    QWidget,
)

from lorestudio.settings.declaration import Declaration, Value
from lorestudio.settings.deeplore import same
from lorestudio.ui.shell.words import number, tr
from lorestudio.ui.widgets.layouts import SPACE, FinishedText, column, label, row


class SettingField(QWidget):
    """Shows a value. `moved` carries every other one that a person gives it; `accepted` follows Enter."""

    moved = Signal(object)
    accepted = Signal()

    def __init__(self, declaration: Declaration, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.declaration = declaration
        self.row = row(spacing=8, margins=0)
        self.setLayout(self.row)
        self._target: QWidget = self

    def focus_target(self) -> QWidget:
        """Where the keyboard goes."""
        return self._target

    def set_value(self, value: Value) -> None:
        """Show a value; nothing is emitted."""

    def _show_in(self, widget: QWidget) -> None:
        """Let this widget, called as the setting is, be the field."""
        widget.setAccessibleName(tr(self.declaration.label))
        widget.setAccessibleDescription(tr(self.declaration.help))
        self._target = widget
        self.row.addWidget(widget)


STEPS: Final = 1000
"""Places of a slider for a range that is too wide for a place each."""

_MOST: Final = 2_000_000_000.0
"""The end of a range that has none."""

_WIDE: Final = 400


class _Decimal(QDoubleSpinBox):
    def textFromValue(self, value: float) -> str:
        """Qt: no needless zeros."""
        text = super().textFromValue(value)
        return text.rstrip("0").rstrip(self.locale().decimalPoint()) if self.decimals() else text


class NumberSettingField(SettingField):
    """A number with its unit, and a slider where its range is declared."""

    def __init__(self, declaration: Declaration, parent: QWidget | None = None) -> None:
        super().__init__(declaration, parent)
        low, high = declaration.low, declaration.high
        self._low, self._high = (0.0 if low is None else low), (_MOST if high is None else high)
        self._whole = declaration.type is int
        span = self._high - self._low
        self.box = _Decimal(self, decimals=0 if self._whole else 3, minimum=self._low, maximum=self._high)
        whole = 1 if span <= _WIDE else 10 if span <= 20_000 else 100
        self.box.setSingleStep(whole if self._whole else max(round(span / 20, 2), 0.01))
        self.box.lineEdit().setTextMargins(SPACE, 0, 0, 0)
        self.box.lineEdit().setAccessibleName(tr(declaration.label))
        self.box.setGroupSeparatorShown(True)
        self.box.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.box.setMinimumWidth(96)
        self.box.setToolTip(tr("Arrow keys change it a little, Page Up and Page Down more"))
        self.box.installEventFilter(self)
        self._show_in(self.box)
        self.box.setSpecialValueText(tr(declaration.least))
        self.unit = label(self, tr(declaration.unit), wrap=False)
        self.row.addWidget(self.unit)
        self.slider: QSlider | None = None
        if low is not None and high is not None:
            self.slider = QSlider(Qt.Orientation.Horizontal, self)
            self.slider.setRange(0, self._places)
            self.slider.setAccessibleName(tr("{setting}, slider", setting=tr(declaration.label)))
            self.slider.setPageStep(max(1, self._places // 10))
            self.slider.valueChanged.connect(self._slid)
            self.slider.installEventFilter(self)
            self.row.addWidget(self.slider, 1)
        else:
            self.row.addStretch(1)
        self.box.valueChanged.connect(self._typed)
        self.box.lineEdit().returnPressed.connect(self.accepted)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Qt: scrolling a page must not change a value."""
        if event.type() is QEvent.Type.Wheel and isinstance(watched, QWidget) and not watched.hasFocus():
            event.ignore()
            return True
        return super().eventFilter(watched, event)

    @property
    def _places(self) -> int:
        span = self._high - self._low
        return int(span) if self._whole and span <= _WIDE else STEPS

    def set_value(self, value: Value) -> None:
        """Show a number; what is no finite one within the range is shown as near as can be."""
        amount = float(value)
        with QSignalBlocker(self.box):  # what is shown is no wish
            self.box.setValue(amount)
        self._slide_to(amount)

    def _slide_to(self, amount: float) -> None:
        special = bool(self.box.specialValueText()) and amount <= self._low
        self.unit.setHidden(special or not self.unit.text())
        if self.slider is not None:
            with QSignalBlocker(self.slider):
                self.slider.setValue(self._place_of(amount))

    def _place_of(self, amount: float) -> int:
        part = (min(max(amount, self._low), self._high) - self._low) / ((self._high - self._low) or 1)
        return round(part * self._places if self._is_even else self._places * part ** (1 / 3))

    def _amount_at(self, place: int) -> float:
        if place in {0, self._places}:
            return self._high if place else self._low
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
        self._slide_to(amount)
        self.moved.emit(int(amount) if self._whole else float(amount))

    def _slid(self, place: int) -> None:
        amount = self._amount_at(place)
        self.set_value(amount)
        self.moved.emit(int(amount) if self._whole else float(amount))


def make_field(declaration: Declaration, parent: QWidget | None = None, *, in_words: bool = False) -> SettingField:
    """The field that goes with what is declared; `in_words` its choices are called by their meanings alone."""
    if declaration.type is bool:
        return SwitchField(declaration, parent)
    if declaration.choices:
        return ChoiceSettingField(declaration, parent, in_words=in_words)
    if declaration.type in (int, float):
        return NumberSettingField(declaration, parent)
    return TextField(declaration, parent) if declaration.long else LineSettingField(declaration, parent)


class SwitchField(SettingField):
    """On or off."""

    def __init__(self, declaration: Declaration, parent: QWidget | None = None) -> None:
        super().__init__(declaration, parent)
        self.box = QCheckBox(self)
        self._show_in(self.box)
        self.row.addStretch(1)
        self.box.clicked.connect(self._clicked)

    def set_value(self, value: Value) -> None:
        """Tick it or not."""
        self.box.setChecked(bool(value))
        self.box.setText(tr("on") if value else tr("off"))

    def _clicked(self, checked: bool) -> None:
        self.set_value(checked)
        self.moved.emit(checked)


class ChoiceSettingField(SettingField):
    """One of a few values, each with what it means; a text that other programs know is named, unless `in_words`."""

    def __init__(self, declaration: Declaration, parent: QWidget | None = None, *, in_words: bool = False) -> None:
        super().__init__(declaration, parent)
        lines = column(spacing=2)
        self._group = QButtonGroup(self)
        self.buttons: dict[Value, QRadioButton] = {}
        for value, text in declaration.choices.items():
            called = isinstance(value, str) and not in_words
            choice = QRadioButton(str(value) if called else tr(text).rstrip("."), self)
            choice.setAccessibleName(f"{tr(declaration.label)}: {value}")
            choice.setAccessibleDescription(tr(text))
            self._group.addButton(choice)
            self.buttons[value] = choice
            choice.clicked.connect(partial(self._chosen, value))
            lines.addWidget(choice)
            if called:
                meaning = label(self, tr(text), "small")
                meaning.setIndent(26)
                lines.addWidget(meaning)
        self.odd = label(self, kind="small")
        self.odd.hide()
        lines.addWidget(self.odd)
        self.row.addLayout(lines, 1)

    def focus_target(self) -> QWidget:
        """The chosen button, so that arrow keys go on from there."""
        checked = self._group.checkedButton()
        return checked if checked is not None else next(iter(self.buttons.values()))

    def set_value(self, value: Value) -> None:
        """Choose a value; one that is none of them is said."""
        chosen = next((one for known, one in self.buttons.items() if same(known, value)), None)
        self._group.setExclusive(chosen is not None)
        for one in self.buttons.values():
            one.setChecked(one is chosen)
        self._group.setExclusive(True)
        self.odd.setVisible(chosen is None)
        if chosen is None:
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
        self._show_in(self.line)
        self.line.textEdited.connect(self.moved.emit)
        self.line.returnPressed.connect(self.accepted)

    def set_value(self, value: Value) -> None:
        """Show a text; the cursor stays where it is in the same text."""
        if self.line.text() != str(value):
            self.line.setText(str(value))


class _FiveLines(FinishedText):
    def sizeHint(self) -> QSize:
        """Qt: five lines."""
        return QSize(200, self.fontMetrics().lineSpacing() * 5 + 14)


class TextField(SettingField):
    """A text of several lines."""

    def __init__(self, declaration: Declaration, parent: QWidget | None = None) -> None:
        super().__init__(declaration, parent)
        self.text = _FiveLines(self, tabChangesFocus=True, placeholderText=tr("empty"))
        self.text.setObjectName("Boxed")
        self.text.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        self.text.setMinimumHeight(self.text.fontMetrics().lineSpacing() * 3 + 14)
        self._show_in(self.text)
        self.text.textChanged.connect(lambda: self.moved.emit(self.text.toPlainText()))
        self.text.finished.connect(self.accepted)

    def set_value(self, value: Value) -> None:
        """Show a text."""
        if self.text.toPlainText() != str(value):
            with QSignalBlocker(self.text):
                self.text.setPlainText(str(value))
