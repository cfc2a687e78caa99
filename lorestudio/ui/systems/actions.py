"""The actions of the retrieval systems."""

from __future__ import annotations

from typing import Final

from lorestudio.studio.systems import DEEPLORE, KINDS
from lorestudio.ui.actions import Action
from lorestudio.ui.choices import system_help, system_title
from lorestudio.ui.situation import Situation


def _chat(now: Situation) -> bool:
    return now.chat


def _project(now: Situation) -> bool:
    return now.project


SYSTEMS: Final = (DEEPLORE, *KINDS)
"""All systems, DeepLore first."""

SYSTEM_ACTIONS: Final[tuple[Action, ...]] = (
    *(
        Action(
            f"system.{name}",
            system_title(name),
            "Run/System",
            enabled_when=_project,
            tip=system_help(name),
            checkable=True,
        )
        for name in SYSTEMS
    ),
    Action(
        "system.settings",
        "Settings of the system…",
        "Run/System",
        enabled_when=_project,
        icon="switches",
        tip="Set the system that is chosen for this chat",
        separator_before=True,
    ),
    Action(
        "worldinfo.books",
        "Lorebooks of World Info…",
        "Run/System",
        enabled_when=_project,
        icon="list",
        tip="Scan SillyTavern's lorebooks in place of the vault: files, whose they are, and in what order",
    ),
    Action(
        "systems.compare",
        "Compare systems…",
        "Run/System",
        enabled_when=_chat,
        icon="columns",
        tip="Run the chat with two or more systems or settings, and put what they put in side by side",
    ),
    Action("systems.copy", "Copy the comparison of systems", "Trace/Compare systems", enabled_when=_chat, icon="copy"),
    Action("systems.csv", "Save the comparison as CSV…", "Trace/Compare systems", enabled_when=_chat, icon="save"),
    Action(
        "systems.picture", "Save the chart as a picture…", "Trace/Compare systems", enabled_when=_chat, icon="table"
    ),
)
