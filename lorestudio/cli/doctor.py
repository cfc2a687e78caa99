"""`lorestudio doctor`: whether everything that the studio needs is here and works."""

from __future__ import annotations

from collections.abc import Sequence

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from lorestudio.cli.output import FAILED, filled, listing
from lorestudio.cli.window import has_display, window_problem
from lorestudio.studio.project.doctor import CheckResult, examine


def doctor() -> None:
    """Check that everything that the studio needs is here and works."""
    findings = examine(has_display=has_display(), window_problem=window_problem())
    Console().print(findings_table(findings))
    if any(not finding.ok for finding in findings):
        raise typer.Exit(FAILED)


def findings_table(findings: Sequence[CheckResult]) -> Table:
    """What the doctor found."""
    signs = {True: Text("✓ fine", style="green"), False: Text("✗ wrong", style="red")}
    return filled(listing(), ((signs[finding.ok], finding.subject, finding.message) for finding in findings))
