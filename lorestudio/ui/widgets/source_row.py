"""A file that was chosen, with a button for another one and a button for none."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QWidget


class SourceRow(QWidget):
    """`wanted` asks for a file, `dropped` for none; the owner says what is chosen with `show_source`."""

    wanted = Signal()
    dropped = Signal()

    def __init__(self, choose: str, drop: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        self.label = QLabel(self)
        self.label.setWordWrap(True)
        self.choose = QPushButton(choose, self)
        self.choose.setAutoDefault(False)
        self.choose.clicked.connect(self.wanted)
        self.drop = QPushButton(drop, self)
        self.drop.setAutoDefault(False)
        self.drop.clicked.connect(self.dropped)
        row.addWidget(self.label, 1)
        row.addWidget(self.drop)
        row.addWidget(self.choose)

    def show_source(self, text: str, *, chosen: bool) -> None:
        """Say what is chosen, or what that nothing is means."""
        self.label.setText(text)
        self.drop.setVisible(chosen)
