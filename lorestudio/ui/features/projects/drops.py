"""Files and folders that are dropped on the window."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QDropEvent
from PySide6.QtWidgets import QApplication, QWidget


class FileDrops(QObject):
    """Takes what comes from other programs, before a field of the window takes its name for a text.

    `dropped` carries the paths, once the other program has its hands free; nothing is taken while not `ready`.
    """

    dropped = Signal(object)

    def __init__(self, window: QWidget, ready: Callable[[], bool]) -> None:
        super().__init__(window)
        self._window, self._ready = window, ready
        window.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Qt: the system's window, which there is from the first showing on, hears of a drop before its parts do."""
        if watched is self._window:
            if event.type() is QEvent.Type.Show:
                self._window.removeEventFilter(self)
                self._window.windowHandle().installEventFilter(self)
            return False
        if not isinstance(event, QDropEvent) or event.source() is not None:
            return False
        paths = [Path(url.toLocalFile()) for url in event.mimeData().urls() if url.isLocalFile()]
        if not paths:
            return False
        if QApplication.activeModalWidget() is not None or not self._ready():
            event.ignore()
            return True
        event.setDropAction(Qt.DropAction.CopyAction)
        event.accept()
        if event.type() is QEvent.Type.Drop:
            self.dropped.emit(paths)
        return True
