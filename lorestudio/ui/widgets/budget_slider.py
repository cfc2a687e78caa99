"""A slider that asks what another token budget would do."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QSizePolicy, QSlider, QVBoxLayout, QWidget

from lorestudio.ui.words import count, tr

LEAST: Final = 100
"""The lowest budget that DeepLore takes (spec: deeplore-engine 2.2)."""

STEP: Final = 10
REST_MS: Final = 80
"""The slider has to rest so long before a budget is tried."""


class BudgetSlider(QWidget):
    """`tried` carries a budget in tokens, `applied` one that is to be kept; `left` is the way back."""

    tried = Signal(int)
    applied = Signal(int)
    left = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._budget = 0
        column = QVBoxLayout(self)
        column.setContentsMargins(12, 0, 8, 2)
        column.setSpacing(1)
        row = QHBoxLayout()
        row.setSpacing(6)
        self.label = QLabel(self)
        self.label.setProperty("kind", "small")
        self.slider = QSlider(Qt.Orientation.Horizontal, self)
        self.slider.setAccessibleName(tr("Try another token budget"))
        self.slider.setToolTip(tr("Try another token budget: this reply is run again with it"))
        self.slider.setSingleStep(1)
        self.slider.setPageStep(10)
        self.slider.valueChanged.connect(self._moved)
        self.keep = QPushButton(tr("Keep"), self)
        self.keep.setAccessibleName(tr("Keep this budget for the whole chat"))
        self.keep.setToolTip(tr("Set this token budget and replay the chat; it can be undone"))
        self.keep.clicked.connect(lambda: self.applied.emit(self.value))
        self.back = QPushButton(tr("Back"), self)
        self.back.setAccessibleName(tr("Back to the budget of the settings"))
        self.back.clicked.connect(self.reset)
        for widget in (self.label, self.slider, self.keep, self.back):
            row.addWidget(widget, 1 if widget is self.slider else 0)
        self.told = QLabel(self)
        self.told.setProperty("kind", "small")
        self.told.setWordWrap(True)
        self.told.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        column.addLayout(row)
        column.addWidget(self.told)
        self._rest = QTimer(self)
        self._rest.setSingleShot(True)
        self._rest.setInterval(REST_MS)
        self._rest.timeout.connect(lambda: self.tried.emit(self.value))
        self._show()

    @property
    def value(self) -> int:
        """The budget that the slider is at; the settings' own where it was not moved."""
        value = self.slider.value() * STEP
        return self._budget if value == self._budget // STEP * STEP else value

    def set_budget(self, budget: int, most: int) -> None:
        """The settings' budget, and the highest that is worth trying."""
        self._budget = budget
        self._rest.stop()
        self.slider.blockSignals(True)
        self.slider.setRange(LEAST // STEP, max(most, budget, LEAST) // STEP + 1)
        self.slider.setValue(budget // STEP)
        self.slider.blockSignals(False)
        self._show()

    def reset(self) -> None:
        """Go back to the settings' budget."""
        self.set_budget(self._budget, (self.slider.maximum() - 1) * STEP)
        self.left.emit()
        self.slider.setFocus()

    def say(self, text: str) -> None:
        """What the tried budget does."""
        self.told.setText(text)
        self.told.setVisible(bool(text))

    def _moved(self, _value: int) -> None:
        self._show()
        if self.value == self._budget:
            self._rest.stop()
            self.left.emit()
        else:
            self._rest.start()

    def _show(self) -> None:
        moved = self.value != self._budget
        text = count(self.value, "token", "tokens")
        self.label.setText(tr("Try: {tokens}", tokens=text) if moved else tr("Budget: {tokens}", tokens=text))
        self.keep.setVisible(moved)
        self.back.setVisible(moved)
        if not moved:
            self.say("")
