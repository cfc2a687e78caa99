"""A running job: what it does, how far it came, and a way to stop it."""

from __future__ import annotations

import time
from typing import Final

from PySide6.QtCore import Signal
from PySide6.QtGui import QAccessible, QAccessibleEvent
from PySide6.QtWidgets import QHBoxLayout, QLabel, QProgressBar, QPushButton, QWidget

from lorestudio.ui.words import number, tr

ANNOUNCE_SECONDS: Final = 1.0
"""Screen readers hear about progress at most this often."""


class ProgressStrip(QWidget):
    """Hidden while nothing runs. `cancelled` follows the stop button."""

    cancelled = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        row = QHBoxLayout(self)
        row.setContentsMargins(10, 3, 8, 3)
        row.setSpacing(10)
        self.label = QLabel(self)
        self.label.setProperty("kind", "small")
        self.bar = QProgressBar(self)
        self.bar.setTextVisible(False)
        self.bar.setAccessibleName(tr("Progress"))
        self.stop = QPushButton(tr("Stop"), self)
        self.stop.setToolTip(tr("Stop the replay (Ctrl+.)"))
        self.stop.clicked.connect(self.cancelled)
        row.addWidget(self.label)
        row.addWidget(self.bar, 1)
        row.addWidget(self.stop)
        self._announced = 0.0
        self._reply = ""
        self._left = ""
        self._before = 0
        self.hide()

    def start(self, text: str, *, stoppable: bool) -> None:
        """Show that something began; how long it takes is not known yet."""
        self._reply, self._left, self._before = text, "", 0
        self.label.setText(text)
        self.bar.setRange(0, 0)
        self.stop.setVisible(stoppable)
        self.stop.setEnabled(True)
        self.show()

    def set_outlook(self, left: str, before: int) -> None:
        """What the next progress says besides: how long it will take, and how many replies come before a range."""
        self._left, self._before = left, before

    def set_progress(self, done: int, total: int) -> None:
        """Show how far the replay came."""
        self.bar.setRange(0, max(total, 1))
        self.bar.setValue(done)
        if self._before:
            text = tr("{done} done, replies before the range first", done=number(done))
        else:
            text = tr("Reply {done} of {total}", done=number(done), total=number(total))
        text = " · ".join(part for part in (text, self._left) if part)
        self._reply = text
        self.label.setText(text)
        self.setAccessibleDescription(text)
        now = time.monotonic()
        if now - self._announced >= ANNOUNCE_SECONDS:
            self._announced = now
            QAccessible.updateAccessibility(QAccessibleEvent(self, QAccessible.Event.DescriptionChanged))

    def show_stage(self, stage: str, seconds: float) -> None:
        """Show the stage that takes its time; nothing while a stop is under way."""
        if self.stop.isEnabled() and stage:
            text = tr("{reply} · {stage} {seconds:.0f} s", reply=self._reply, stage=stage, seconds=seconds)
            self.label.setText(text)

    def stopping(self) -> None:
        """Show that the wish to stop was heard."""
        self.label.setText(tr("Stopping…"))
        self.stop.setEnabled(False)

    def finish(self) -> None:
        """Nothing runs any more."""
        self.hide()
