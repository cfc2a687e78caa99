"""The title bars of the docks: which one has the keyboard, and which say their name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QApplication, QWidget

from lorestudio.ui.later import at_next_turn

if TYPE_CHECKING:
    from lorestudio.ui.main_window import MainWindow


class DockTitles(QObject):
    """Follows the keyboard and where docks stand, once the window has its docks."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window = window
        self._names_timer = at_next_turn(self, self.show_names)
        app = QApplication.instance()
        if isinstance(app, QApplication):
            app.focusChanged.connect(self._focus_changed)
        for dock in window.docks.values():
            dock.visibilityChanged.connect(lambda _visible: self._names_timer.start())
            dock.dockLocationChanged.connect(lambda _area: self._names_timer.start())

    def show_names(self) -> None:
        """A dock says its name where no tab does."""
        for dock in self._window.docks.values():
            dock.bar.show_name(all(other.isHidden() for other in self._window.tabifiedDockWidgets(dock)))

    def _focus_changed(self, _old: QWidget | None, _new: QWidget | None) -> None:
        current = self._window.current_pane()
        for dock in self._window.docks.values():
            dock.bar.set_active(dock.pane is current)
