"""What can be done with the recaps of the chat that is open."""

from __future__ import annotations

from typing import Final

from lorestudio.ui.actions import Action, Where

_MENU: Final = "Chat/Recap"

RECAP_ACTIONS: Final = (
    Action(
        "recap.run", "Make what is due", _MENU, icon="play", tip="Queue every recap that is due, and work on the queue",
        separator_before=True,
    ),
    Action(
        "recap.by_itself", "Keep recaps up to date", _MENU, icon="live", checkable=True,
        tip="Make recaps whenever the chat's file changes, as the recap settings say",
    ),
    Action("recap.pause", "Pause recap work", _MENU, icon="pause", tip="Finish the step under way and begin no other"),
    Action("recap.resume", "Go on with recap work", _MENU, icon="play", tip="Go on with what is queued"),
    Action("recap.clear_queue", "Empty the recap queue", _MENU, icon="stop", tip="Take all steps out of the queue"),
    Action(
        "recap.message", "Recap this message", _MENU, icon="pencil", tip="Ask for the recap of the chosen message",
        separator_before=True,
    ),
    Action(
        "recap.break", "Scene break after this message", _MENU, ("D",), Where.CHAT, icon="scissors",
        tip="Set or remove the end of a scene after the chosen message",
    ),
    Action("recap.search", "Look for a scene break", _MENU, icon="search", tip="Have the next scene break looked for"),
    Action("recap.running", "Running recap of all scenes", _MENU, icon="lines", tip="Make a new version of all scenes"),
    Action("recap.settings", "Recap settings…", _MENU, icon="switches", separator_before=True),
    Action("recap.clear", "Take all recaps out of the chat…", _MENU, icon="trash"),
)  # fmt: skip

MESSAGE_MENU: Final = ("", "recap.break", "recap.message")
"""What the menu on a message has of it."""
