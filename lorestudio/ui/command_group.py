"""A part of the window with actions, and perhaps panes, of its own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject
from PySide6.QtGui import QAction

from lorestudio.ui.widgets.pane import Pane

if TYPE_CHECKING:
    from lorestudio.ui.main_window import MainWindow


class CommandGroup(QObject):
    """Belongs to the window, which asks each group for its panes and handlers and tells it when things happen.

    When it is made, the window has its session, selection, theme and own panes, but no docks and no actions yet.
    """

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window = window

    @property
    def panes(self) -> tuple[Pane, ...]:
        """The panes that it adds to the window."""
        return ()

    def handlers(self) -> Mapping[str, Callable[[], object]]:
        """What is done when one of its actions is asked for, by the action's id."""
        return {}

    def connect_window(self) -> None:
        """The window has its docks and actions now."""

    def update(self, actions: dict[str, QAction]) -> None:
        """Something has changed: name and tick its actions anew. Whether one makes sense is the table's to say."""

    def stop(self) -> None:
        """The window closes: nothing of the group may run afterwards."""
