"""Work that waits until the events of now have been handled."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, QTimer


def at_next_turn(parent: QObject, work: Callable[[], None]) -> QTimer:
    """A timer that does the work once events have been handled, however often it was started until then."""
    timer = QTimer(parent)
    timer.setSingleShot(True)
    timer.setInterval(0)
    timer.timeout.connect(work)
    return timer
