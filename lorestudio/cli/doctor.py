"""`lorestudio doctor`: whether everything that the studio needs is here and works."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.text import Text

from lorestudio.cli.options import ChatOption, JsonOption, SettingsOption, TokenizerOption
from lorestudio.cli.output import FAILED, print_json
from lorestudio.cli.screen import Screen, filled, listing
from lorestudio.cli.window import has_display, window_problem
from lorestudio.domain.records import picked
from lorestudio.studio.project.doctor import examine, rests_on
from lorestudio.studio.project.project import open_project


def doctor(
    vault: Annotated[list[str] | None, "<[VAULT...]>", "Folders of notes, to say what answers rest on."] = None,
    *,
    chat: ChatOption = None,
    settings: SettingsOption = None,
    tokenizer: TokenizerOption = "",
    as_json: JsonOption = False,
) -> None:
    """Check that everything that the studio needs is here and works, and say what answers about a vault rest on."""
    project = open_project(vault, chat, settings, tokenizer=tokenizer) if vault else None
    findings = examine(has_display=has_display(), window_problem=window_problem())
    findings += rests_on(project) if project is not None else ()
    if as_json:
        print_json([picked(each, "subject", "ok", "message") for each in findings], 1)
    else:
        signs = {True: Text("✓ fine", style="green"), False: Text("✗ wrong", style="red")}
        rows = ((signs[finding.ok], finding.subject, finding.message) for finding in findings)
        Screen().print(filled(listing(), rows))
    if any(not finding.ok for finding in findings):
        raise typer.Exit(FAILED)
