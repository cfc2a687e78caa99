"""What can be done with the memories of fact memory."""

from __future__ import annotations

from typing import Final

from lorestudio.ui.actions import Action, Where

_MENU: Final = "Chat/Memories"

MEMORY_ACTIONS: Final = (
    Action(
        "memories.extract", "Draw out facts", _MENU, icon="play", separator_before=True,
        tip="Read the passages of the chat that wait, and keep their facts as memories",
    ),
    Action("memories.stop", "Stop drawing out facts", _MENU, icon="stop", tip="Stop; what is kept already stays"),
    Action("memories.again", "Read the whole chat again…", _MENU, tip="Also the passages whose facts are kept already"),
    Action(
        "memories.refresh", "Refresh vectors", _MENU, icon="reload",
        tip="Make the vectors anew that another model has made, or none",
    ),
    Action(
        "memories.search", "Search memories by meaning", _MENU, icon="search", separator_before=True,
        tip="Type what the memories should be about; the most similar ones come first",
    ),
    Action("memories.similar", "Find memories like this one", _MENU, ("S",), Where.MEMORIES),
    Action("memories.edit", "Edit the memory", _MENU, icon="pencil", separator_before=True,
           tip="Write its text; Enter in the list does so, too"),
    Action("memories.pin", "Pin the memory", _MENU, ("P",), Where.MEMORIES, icon="star",
           tip="Pinned memories go into every prompt"),
    Action("memories.delete", "Delete the memory", _MENU, ("Del",), Where.MEMORIES, icon="trash",
           tip="It can be taken back"),
    Action("memories.undo", "Take the deletion back", _MENU, ("Ctrl+Z",), Where.MEMORIES, icon="undo"),
    Action("memories.messages", "Show the messages it came from", _MENU, ("M",), Where.MEMORIES, icon="chat",
           separator_before=True),
    Action("memories.origin", "Show where the memory came from", _MENU, ("O",), Where.MEMORIES),
    Action("memories.in_run", "Show the memory in the run", _MENU, ("T",), Where.MEMORIES, icon="trace",
           tip="What fact memory did with it before the reply that you look at"),
    Action("memories.copy", "Copy the memory", _MENU, ("Ctrl+C",), Where.MEMORIES, icon="copy", separator_before=True),
    Action("memories.copy_all", "Copy all listed memories", _MENU, tip="As a Markdown table"),
    Action("memories.reload", "Read the memories again", _MENU, icon="reload"),
    Action("memories.settings", "Settings of fact memory…", _MENU, icon="switches", separator_before=True),
)  # fmt: skip

ROW_MENU: Final = (
    "memories.edit", "memories.pin", "memories.delete", "", "memories.messages", "memories.origin", "memories.in_run",
    "memories.similar", "", "memories.copy", "memories.copy_all", "memories.undo",
)  # fmt: skip
"""The menu on a memory; "" is a line."""

MORE: Final = (
    "memories.again", "memories.refresh", "memories.reload", "", "memories.undo", "memories.copy_all", "",
    "memories.settings",
)  # fmt: skip
"""The menu of the pane's last button."""
