"""A field for a setting that is a number: typed, stepped, or slid within its range."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtWidgets import QDoubleSpinBox, QLabel, QSizePolicy, QSlider, QSpinBox, QWidget

from lorestudio.settings.declaration import Declaration, Value
from lorestudio.ui.widgets.setting_field import SettingField
from lorestudio.ui.words import tr

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


class NumberField(SettingField):
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
