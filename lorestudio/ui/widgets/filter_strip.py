"""A strip that says that only some rows are shown, and shows all again."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QSizePolicy, QWidget

from lorestudio.ui.words import tr


class FilterStrip(QFrame):
    """`cleared` follows the button."""

    cleared = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("Bar")
        self.setProperty("tone", "neutral")
        row = QHBoxLayout(self)
        row.setContentsMargins(10, 2, 6, 2)
        self.label = QLabel(self)
        self.label.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.button = QPushButton(tr("Show all"), self)
        self.button.setAccessibleName(tr("Show all rows again"))
        self.button.clicked.connect(self.cleared)
        row.addWidget(self.label, 1)
        row.addWidget(self.button)
        self.hide()

    def say(self, words: str) -> None:
        """What the rows are that are left."""
        self.label.setText(tr("Only: {words}", words=words))
        self.label.setToolTip(self.label.text())
        self.setAccessibleName(self.label.text())
        self.show()
