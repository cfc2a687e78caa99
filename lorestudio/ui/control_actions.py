"""The actions of what is chosen for a chat: pins, blocks, folder filter, context, notes, character, presets."""

from __future__ import annotations

from typing import Final

from lorestudio.ui.actions import Action
from lorestudio.ui.situation import Situation


def _project(now: Situation) -> bool:
    return now.project


def _entry(now: Situation) -> bool:
    return now.entry


CONTROL_ACTIONS: Final[tuple[Action, ...]] = (
    Action(
        "controls.pin",
        "Pin in this chat",
        "Chat",
        ("Ctrl+Alt+P",),
        enabled_when=_entry,
        icon="star",
        tip="Pin the chosen entry, so that it always goes in in this chat; or free it",
        checkable=True,
        separator_before=True,
    ),
    Action(
        "controls.block",
        "Block in this chat",
        "Chat",
        ("Ctrl+Alt+B",),
        enabled_when=_entry,
        icon="slash",
        tip="Block the chosen entry, so that it never goes in in this chat; or free it",
        checkable=True,
    ),
    Action("controls.add_pin", "Pin an entry…", "Chat", enabled_when=_project, icon="star"),
    Action("controls.add_block", "Block an entry…", "Chat", enabled_when=_project, icon="slash"),
    Action(
        "controls.context",
        "Set the context…",
        "Chat",
        ("Ctrl+Alt+C",),
        enabled_when=_project,
        icon="gate",
        tip="Set era, location, scene or another field, with the values found in the vault",
        separator_before=True,
    ),
    Action(
        "controls.folder",
        "Filter by folder…",
        "Chat",
        ("Ctrl+Alt+F",),
        enabled_when=_project,
        icon="folder",
        tip="Use only entries of some folders in this chat",
    ),
    Action(
        "controls.notebook",
        "Author's Notebook…",
        "Chat",
        ("Ctrl+Alt+N",),
        enabled_when=_project,
        icon="pencil",
        tip="Your own text for this chat that goes into every prompt",
        separator_before=True,
    ),
    Action(
        "controls.notepad",
        "AI Notepad…",
        "Chat",
        enabled_when=_project,
        icon="ai",
        tip="The notes that the writing model keeps in this chat",
    ),
    Action(
        "controls.character",
        "Active character…",
        "Chat",
        enabled_when=_project,
        icon="chat",
        tip="Whose entry comes in by itself where “Match the active character” is on",
    ),
    Action(
        "presets.apply",
        "Apply a scenario preset…",
        "Chat",
        ("Ctrl+Alt+R",),
        enabled_when=_project,
        icon="list",
        separator_before=True,
    ),
    Action("presets.save", "Save as a scenario preset…", "Chat", enabled_when=_project, icon="save"),
    Action("presets.manage", "Scenario presets…", "Chat", enabled_when=_project),
    Action(
        "controls.focus",
        "Go to the choices above the chat",
        "Chat",
        ("Ctrl+Alt+K",),
        enabled_when=_project,
        tip="Arrow keys walk through them, Delete removes one, Enter changes it",
        separator_before=True,
    ),
    Action(
        "controls.file",
        "Back to the choices of the chat's file",
        "Chat",
        enabled_when=_project,
        icon="undo",
        tip="Take what was chosen here back to what the chat's file has",
    ),
)
"""Saving the choices into the chat's file is the action `chat.save`, which belongs to whoever writes chats."""
