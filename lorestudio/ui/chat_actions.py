"""What can be done with the chat that is open: its file, its messages, the replies."""

from __future__ import annotations

from typing import Final

from lorestudio.ui.actions import Action, Where

CHAT_ACTIONS: Final = (
    Action("chat.new", "New chat…", "Chat", icon="plus", tip="Begin a chat that is in no file yet"),
    Action("chat.save", "Save chat", "Chat", ("Ctrl+Alt+S",), icon="save", tip="Write the chat into its file"),
    Action("chat.save_as", "Save chat as…", "Chat", ("Ctrl+Alt+Shift+S",), icon="save"),
    Action("chat.setup", "Card, persona and prompt…", "Chat", icon="key", tip="Who the character is and who you are"),
    Action("chat.broken", "Lines that cannot be read…", "Chat", icon="broken"),
    Action("compose.focus", "Write a message", "Chat", ("N",), Where.RUNS, icon="pencil", separator_before=True),
    Action("reply.get", "Get a reply", "Chat", ("R",), Where.CHAT, icon="play", tip="Have the next reply written"),
    Action(
        "reply.again",
        "Get another reply",
        "Chat",
        ("Shift+R",),
        Where.CHAT,
        icon="reload",
        tip="A new swipe of the last reply",
    ),
    Action("reply.stop", "Stop writing", "Chat", ("Ctrl+Alt+.",), icon="stop"),
    Action(
        "message.edit", "Edit message", "Chat", ("Return", "Enter"), Where.CHAT, icon="pencil", separator_before=True
    ),
    Action("message.insert", "Insert a message after this one", "Chat", ("I",), Where.CHAT, icon="plus"),
    Action("message.hide", "Hide from the model, or show", "Chat", ("H",), Where.CHAT, icon="hidden"),
    Action("message.delete", "Delete message", "Chat", ("Del",), Where.CHAT, icon="trash"),
    Action("message.branch", "Branch from here", "Chat", ("Shift+B",), Where.CHAT, icon="graph"),
    Action(
        "swipe.choose",
        "Go on with this swipe",
        "Chat",
        ("C",),
        Where.CHAT,
        icon="check",
        tip="Make the swipe that is shown the one that the chat goes on with",
        separator_before=True,
    ),
    Action("swipe.write", "Write another swipe", "Chat", ("Shift+N",), Where.CHAT, icon="plus"),
    Action("swipe.delete", "Delete this swipe", "Chat", ("Shift+Del",), Where.CHAT, icon="trash"),
)

MESSAGE_MENU: Final = (
    "message.edit", "message.insert", "message.hide", "message.delete", "message.branch", "", "swipe.choose",
    "swipe.write", "swipe.delete", "", "reply.get", "reply.again",
)  # fmt: skip
"""The menu on a message; "" is a line between groups."""
