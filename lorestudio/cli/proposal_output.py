"""How proposals look on the command line: as differences for people, as JSON for programs."""

from __future__ import annotations

import json
from collections.abc import Sequence
from difflib import unified_diff
from pathlib import Path
from typing import Final

import typer

from lorestudio.cli.messages import say
from lorestudio.domain.javascript import Json
from lorestudio.studio import InputError, Project
from lorestudio.studio.proposals import Plan, Proposal, change_of

_NO_NEWLINE: Final = "\\ No newline at end of file\n"


def print_proposals(project: Project, made: Sequence[Proposal], plan: Plan) -> None:
    """Every proposal with what is to be known about it and its difference; what was skipped is said on stderr."""
    for proposal in made:
        typer.echo(f"{proposal.title} ({_file(project, proposal.path)})")
        if proposal.problem:
            typer.echo(f"  no proposal: {proposal.problem}")
        if proposal.reasoning:
            typer.echo(f"  {proposal.reasoning}")
        for remark in proposal.remarks:
            typer.echo(f"  {'! ' if remark.serious else ''}{remark.text}")
        if proposal.counts and proposal.searched:
            typer.echo(f"  messages found by each key, of {proposal.searched}: {_counts(proposal)}")
        typer.echo("".join(difference(project, proposal)))
    for item in plan.skipped:
        say(f"{item.filename} was skipped: {item.reason}")


def _counts(proposal: Proposal) -> str:
    signs = {(True, True): "", (False, True): "+", (True, False): "-", (False, False): ""}
    return ", ".join(f"{signs[item.now, item.proposed]}{item.key} {len(item.messages)}" for item in proposal.counts)


def print_json(
    project: Project,
    made: Sequence[Proposal],
    plan: Plan,
    written: Sequence[Path],
    refused: Sequence[tuple[Path, str]],
) -> None:
    """The proposals as one JSON object; `written` and `refused` are what became of accepted ones."""
    reasons = dict(refused)
    document: dict[str, Json] = {
        "kind": plan.kind.value,
        "proposals": [
            {
                "file": _file(project, item.path),
                "title": item.title,
                "before": list(item.before) if isinstance(item.before, tuple) else item.before,
                "after": list(item.after) if isinstance(item.after, tuple) else item.after,
                "reasoning": item.reasoning,
                "problem": item.problem or reasons.get(item.path, ""),
                "remarks": [{"text": remark.text, "serious": remark.serious} for remark in item.remarks],
                "keys": [
                    {"key": one.key, "now": one.now, "proposed": one.proposed, "messages": list(one.messages)}
                    for one in item.counts
                ],
                "answered_by": item.answered_by,
                "reply": item.reply,
                "difference": "".join(difference(project, item)),
                "written": item.path in written,
            }
            for item in made
        ],
        "skipped": [{"file": item.filename, "title": item.title, "reason": item.reason} for item in plan.skipped],
    }
    text = json.dumps(document, ensure_ascii=False, indent=1)
    typer.echo(text.encode("utf-8", "backslashreplace"))


def difference(project: Project, proposal: Proposal) -> list[str]:
    """What would happen to the file, as `git diff` shows it; nothing where it cannot be accepted."""
    try:
        change = change_of(proposal)
    except InputError:
        return []
    name = _file(project, proposal.path)
    before, after = ((text or "").splitlines(keepends=True) for text in (change.before, change.after))
    old = f"a/{name}" if change.before is not None else "/dev/null"
    lines = unified_diff(before, after, old, f"b/{name}", n=1)
    return [line if line.endswith("\n") else f"{line}\n{_NO_NEWLINE}" for line in lines]


def _file(project: Project, path: Path) -> str:
    for folder in project.vault_folders:
        if folder is not None and path.is_relative_to(folder):
            return path.relative_to(folder).as_posix()
    return path.name


def serious_remarks(proposal: Proposal) -> str:
    """What should be looked at before the proposal is accepted."""
    return " ".join(remark.text for remark in proposal.remarks if remark.serious)
