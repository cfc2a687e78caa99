"""A part of the window with actions, and perhaps panes, of its own.

What the window can do at a moment, which decides the actions that make sense.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject
from PySide6.QtGui import QAction

from lorestudio.ui.widgets.pane import Pane

if TYPE_CHECKING:
    from lorestudio.ui.shell.main_window import MainWindow


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


@dataclass(frozen=True, slots=True)
class Situation:
    """What the window can do at a moment; `enabled_when` of an action asks it."""

    project: bool = False
    chat: bool = False
    busy: bool = False
    replaying: bool = False
    message: bool = False
    trace: bool = False
    entry: bool = False
    row: bool = False
    files: bool = False
    notes: bool = False
    undo: bool = False
    redo: bool = False
    adjusted: bool = False
    taken_back: bool = False
    note: bool = False
    why_not: bool = False
    unsaved: bool = False
    swipes: bool = False
    model: bool = False
    preview: bool = False
    marked: bool = False
    back: bool = False
    forward: bool = False


def situation_of(window: MainWindow) -> Situation:
    """What can be done in the window now."""
    session, selection = window.session, window.selection
    project = session.project
    return Situation(
        project=project is not None,
        chat=project is not None and project.chat is not None,
        busy=session.busy,
        replaying=session.runs.replaying,
        message=selection.generation is not None,
        trace=session.runs.trace(selection.generation) is not None,
        entry=session.entry(selection.entry) is not None,
        row=selection.entry is not None,
        files=window.vault_commands.work.ready,
        notes=window.vault_commands.has_targets,
        undo=bool(window.vault_commands.work.undo_title),
        redo=bool(window.vault_commands.work.redo_title),
        adjusted=bool(session.parts.adjustments.undo_title),
        taken_back=bool(session.parts.adjustments.redo_title),
        note=window.entry.path is not None,
        why_not=selection.generation is not None and window.why_not.search.note is not None,
        unsaved=window.entry.unsaved,
        swipes=selection.message is not None and window.chat.model.swipes(selection.message) > 1,
        model=session.choice.asks_model,
        preview=session.runs.preview_of(selection.generation) is not None,
        marked=window.timeline_commands.marked,
        back=window.history.can_go_back,
        forward=window.history.can_go_forward,
    )
