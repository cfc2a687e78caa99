"""What the window can do at a moment, which decides the actions that make sense."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lorestudio.ui.main_window import MainWindow


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
