"""Arguments and options that several commands have, each declared once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from lorestudio.studio.modes import Mode

VaultArgument = Annotated[
    list[str],
    typer.Argument(
        metavar="VAULT...",
        help="Folders of Markdown notes, or Obsidian's REST plugin as http://127.0.0.1:27123; merged in order.",
    ),
]

_CHAT = typer.Option("--chat", help="A SillyTavern chat (.jsonl) or plain text.")
ChatOption = Annotated[Path | None, _CHAT]
NeededChat = Annotated[Path, _CHAT]
"""The chat of commands that are about one."""

ReplyOption = Annotated[
    int | None, typer.Option("--message", min=0, help="The number of a reply. Default: the reply to come.")
]
SwipeOption = Annotated[
    int | None, typer.Option("--swipe", min=1, help="A swipe of the reply, from 1. Default: the active one.")
]
SettingsOption = Annotated[
    Path | None, typer.Option("--settings", help="DeepLore settings, or SillyTavern's settings.json.")
]
SeedOption = Annotated[int, typer.Option("--seed", min=0, max=2**32 - 1, help="Seed of the probability rolls.")]
SizeOption = Annotated[
    int,
    typer.Option(
        "--context-size",
        metavar="TOKENS",
        min=0,
        help="Context size of the story's model, to be warned of too much lore.",
    ),
]
ModeOption = Annotated[
    str | None,
    typer.Option("--mode", help=f"How entries are selected: {', '.join(Mode)}. Default: as the settings say."),
]
FixedOption = Annotated[
    list[str] | None,
    typer.Option("--fixed", metavar="SWITCH", help="Mend this quirk of DeepLore (“all”: every one). May be repeated."),
]
AnswersOption = Annotated[
    str,
    typer.Option("--answers", help="Who answers for the model: stand-in (offline), recorded, or a profile's name."),
]
OfflineAnswersOption = Annotated[
    str, typer.Option("--answers", help="Who answers for the model: stand-in (offline) or recorded.")
]
"""The same for commands that ask no provider."""

YesOption = Annotated[bool, typer.Option("--yes", help="Ask the provider without asking you first.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print it as JSON.")]
