"""`lorestudio run`: what the system of a scenario decides in each of its generations."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from lorestudio.cli.command import OutputFile, RulesOption, rules_named
from lorestudio.cli.output import echo, json_bytes, say_all
from lorestudio.studio.project.files import write_bytes
from lorestudio.studio.replay.scenario import run_scenarios


def run(
    scenario: Annotated[Path, "<SCENARIO>", "A scenario: JSON, or JSON lines."],
    output: Annotated[
        Path | None, "-o", "--output", "Write the result to this file.", OutputFile((".jsonl", ".json"), printed=True)
    ] = None,
    vault_root: Annotated[Path | None, "FOLDER", "The folder with the vaults that scenarios refer to."] = None,
    rules: RulesOption = None,
) -> None:
    """Run scenarios and print, one a line, what every generation decided."""
    results = run_scenarios(scenario, vault_root, rules_named(rules), say_all)
    lines = b"".join(json_bytes(result) for result in results)
    if output is None:
        echo(lines, nl=False)
    else:
        write_bytes(output, lines)
