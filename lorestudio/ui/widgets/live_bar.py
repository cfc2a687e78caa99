"""The run under way in one line: the stage that works, for how long, and a way to stop it."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QSizePolicy, QWidget

from lorestudio.ui.theme import Theme, glyph
from lorestudio.ui.words import tr


class LiveBar(QFrame):
    """Hidden while nothing runs. `cancelled` and `followed` follow its buttons."""

    cancelled = Signal()
    followed = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("Bar")
        self.setProperty("tone", "neutral")
        self._theme = theme
        row = QHBoxLayout(self)
        row.setContentsMargins(10, 4, 8, 4)
        row.setSpacing(8)
        self._icon = QLabel(self)
        self.label = QLabel(self)
        self.label.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.seconds = QLabel(self)
        self.seconds.setProperty("kind", "small")
        self.seconds.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self.follow = QPushButton(tr("Go there"), self)
        self.follow.setAccessibleName(tr("Go to the reply that is running"))
        self.follow.setToolTip(tr("Choose the reply that is running and watch its stages fill"))
        self.follow.clicked.connect(self.followed)
        self.cancel = QPushButton(tr("Cancel"), self)
        self.cancel.setAccessibleName(tr("Cancel the run"))
        self.cancel.setToolTip(tr("Stop the replay; nothing of this generation is kept (Ctrl+.)"))
        self.cancel.clicked.connect(self.cancelled)
        row.addWidget(self._icon)
        row.addWidget(self.label, 1)
        row.addWidget(self.seconds)
        row.addWidget(self.follow)
        row.addWidget(self.cancel)
        theme.changed.connect(self._paint)
        self._paint()
        self.hide()

    def say(self, text: str, elapsed: float, *, elsewhere: bool = False) -> None:
        """Show what runs; `elapsed` is in seconds, `elsewhere` says that it is not the reply that is looked at."""
        self.follow.setVisible(elsewhere)
        if text != self.label.text():
            self.label.setText(text)
            self.label.setToolTip(text)
            self.setAccessibleName(text)
        self.seconds.setText(tr("{seconds:.1f} s", seconds=elapsed))
        self.show()

    def _paint(self) -> None:
        self._icon.setPixmap(glyph("live", self._theme.palette.accent, 16))
