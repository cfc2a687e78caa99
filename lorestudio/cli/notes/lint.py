"""The command that checks a vault or a lorebook: findings by note, a form for programs, and the safe fixes."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Final

import typer
from rich.text import Text

from lorestudio.cli.command import RulesOption, rules_named
from lorestudio.cli.notes.notes import change_log
from lorestudio.cli.options import (
    JsonOption,
    SeenOptions,
    SettingsOption,
    SystemOptions,
    TokenizerOption,
    VaultArgument,
)
from lorestudio.cli.output import FAILED, print_json, say, say_all
from lorestudio.cli.screen import Screen
from lorestudio.domain.records import grouped, picked
from lorestudio.exchange.problems import InputError
from lorestudio.studio.notes.book_entries import file_changes, is_book_entry, read_text
from lorestudio.studio.notes.changes.change_set import ChangeSet, NoteFileChange
from lorestudio.studio.project.problems import ProblemFinder, Problems
from lorestudio.studio.project.project import Project, open_project
from lorestudio.studio.replay.runs import TraceBook
from lorestudio.studio.replay.simulator import Simulator
from lorestudio.systems.base import Deciding
from lorestudio.trace.wording import plural
from lorestudio.vault.files import VaultError
from lorestudio.vault.lint.fixes import Repair
from lorestudio.vault.lint.model import Finding, Severity, check_of

_STYLES: Final = {Severity.ERROR: "red", Severity.WARNING: "yellow", Severity.INFO: "cyan"}
_WORDS: Final = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "remark"}


def lint(
    vault: VaultArgument,
    by: SystemOptions,
    seen: SeenOptions,
    *,
    settings: SettingsOption = None,
    rules: RulesOption = None,
    tokenizer: TokenizerOption = "",
    chat: Annotated[
        Path | None, "Also replay this chat, offline, and say what never comes in or hits too often."
    ] = None,
    as_json: JsonOption = False,
    fix: Annotated[bool, "Make all safe fixes, as one undoable step, and print them."] = False,
    severity: Annotated[Severity, "Show findings of this severity and worse."] = Severity.WARNING,
    strict: Annotated[bool, "End with 1 for warnings too."] = False,
) -> None:
    """Check a vault's notes and settings, or a lorebook's entries. Ends with 1 where there are errors, else with 0."""
    opened = open_project(vault, chat, settings, rules=rules_named(rules), tokenizer=tokenizer)
    project = by.adjusted(seen.looking(opened))
    system, finder = by.offline(project), ProblemFinder()
    by_whom = Deciding(system.kind, system.settings)
    repairs: tuple[Repair, ...] = ()
    if fix:
        repairs = finder.repairs(project, by=by_whom)
        if repairs:
            _write(project, repairs)
            project = seen.looking(project.reloaded())
    simulator = Simulator(project, system.with_settings(system.settings, project.scene()))
    if project.chat is not None:
        asyncio.run(simulator.run_missing())
    problems = finder.find(project, TraceBook(simulator.traces).values(), by=by_whom, least=severity)
    shown = [finding for finding in problems.findings if finding.severity.rank <= severity.rank]
    if as_json:
        print_json(_document(problems, shown, repairs), 1)
    else:
        titles = [entry.title for entry in project.index.entries]
        _print(problems, shown, repairs, severity, titles if project.of_books else ())
    if fix and not repairs:
        say("nothing was fixed: no finding has a safe fix.")
    say_all((*project.problems, *problems.failures))
    if problems.unread:
        notes = plural(problems.unread, "# note lies|# notes lie")
        say(f"{notes} behind Obsidian's plugin, where no front matter is looked at as a text.")
    if problems.count(Severity.ERROR) or (strict and problems.count(Severity.WARNING)):
        raise typer.Exit(FAILED)


def _write(project: Project, repairs: Sequence[Repair]) -> None:
    """Write the notes, those of each vault as one step that can be undone.

    Raises VaultError where one is not what was fixed any more, or cannot be written: its vault is left as it is.
    """
    vaults: dict[str, dict[Path, Repair]] = {}
    for repair in repairs:
        path = project.note_path(repair.vault, repair.filename)
        if path is None:
            raise InputError("--fix", f"the vault “{repair.vault}” has no folder here, so its notes cannot be changed.")
        vaults.setdefault(repair.vault, {})[path] = repair
    log = change_log(project.changed_in)
    for found in vaults.values():
        log.apply(_changes(found))
    say_all(log.problems)


def _changes(repairs: Mapping[Path, Repair]) -> ChangeSet:
    """What fixes the notes, or the entries of a lorebook, of these paths. Raises VaultError where one has changed."""
    for path, repair in repairs.items():
        if read_text(path)[0] != repair.before:
            raise VaultError(f"“{repair.filename}” has changed while it was checked. Run the command again.")
    what = "# entry|# entries" if any(map(is_book_entry, repairs)) else "# note|# notes"
    made = [NoteFileChange(path, each.before, each.after) for path, each in repairs.items()]
    return ChangeSet(f"Make the safe fixes of {plural(len(repairs), what)}", file_changes(made))


def _print(
    problems: Problems, shown: Sequence[Finding], repairs: Sequence[Repair], severity: Severity, titles: Sequence[str]
) -> None:
    """All that is shown; `titles` are those of entries whose file names say little, by their numbers."""
    console = Screen()
    for repair in repairs:
        console.print(Text("\n").join((*_marked(repair.diff()), Text())), soft_wrap=True)
    notes = grouped((finding.note_key, finding) for finding in shown)
    several = len({vault for vault, filename in notes if filename}) > 1
    for (vault, filename), findings in notes.items():
        entry = findings[0].entry
        named = f"{filename} {titles[entry]}" if titles and entry is not None else filename
        rest = "Lorebook" if problems.of_books else "Settings and vault"
        name = (f"{vault}: {named}" if several else named) if filename else rest
        lines = [Text(name, style="bold"), *(line for finding in findings for line in _told(finding)), Text()]
        console.print(Text("\n").join(lines), soft_wrap=not console.is_terminal)
    console.print(Text(_summary(problems, repairs, severity)), soft_wrap=not console.is_terminal)


def _marked(diff: str) -> Iterator[Text]:
    """The lines of a difference in the colours that they have everywhere."""
    for line in diff.splitlines():
        yield Text(line, style="green" if line.startswith("+") else "red" if line.startswith("-") else "dim")


def _told(finding: Finding) -> Iterator[Text]:
    place = f"{finding.filename}:{finding.line}" if finding.filename and finding.line else finding.filename
    head = Text.assemble(
        "  ", (_WORDS[finding.severity], _STYLES[finding.severity]), f" {finding.code}  ", finding.message,
    )  # fmt: skip
    if place:
        head.append(f"  {place}", style="dim")
    yield head
    advice = finding.advice
    if finding.fix is not None:
        kind = "--fix does this" if finding.fix.safe else "in the window, with a preview"
        advice += f" (fix: {finding.fix.title}; {kind})"
    yield Text(f"      {advice}", style="dim")


def _summary(problems: Problems, repairs: Sequence[Repair], severity: Severity) -> str:
    parts = [plural(problems.count(one), f"# {_WORDS[one]}|# {_WORDS[one]}s") for one in Severity]
    lines = [f"{', '.join(parts[:-1])} and {parts[-1]}. {problems.checked}"]
    hidden = sum(problems.count(one) for one in Severity if one.rank > severity.rank)
    if hidden:
        lines.append(f"{hidden:,} not shown; --severity info shows all.")
    if repairs:
        changes = sum(len(repair.titles) for repair in repairs)
        what = "# entry|# entries" if problems.of_books else "# note|# notes"
        lines.insert(0, f"Fixed: {changes:,} in {plural(len(repairs), what)}.")
    else:
        fixes = sum(finding.fix is not None and finding.fix.safe for finding in problems.findings)
        if fixes:
            lines.append(f"--fix would mend {fixes:,} of them.")
    return "\n".join(lines)


def _document(problems: Problems, shown: Sequence[Finding], repairs: Sequence[Repair]) -> dict[str, object]:
    """All that was found; edits count in characters of the note's text, a byte order mark included."""
    return {
        "findings": [_finding_json(finding) for finding in shown],
        "counts": {severity.value: problems.count(severity) for severity in Severity},
        **picked(problems, "notes", "entries", "runs"),
        "fixed": [
            {"vault": repair.vault, "filename": repair.filename, "fixes": list(repair.titles), "diff": repair.diff()}
            for repair in repairs
        ],
    }


def _finding_json(finding: Finding) -> dict[str, object]:
    fix = finding.fix
    edits = () if fix is None else fix.edits.get(finding.filename, ())
    places = [picked(edit, "start", "end", "text") for edit in edits]
    return {
        **picked(finding, "code", "severity", "vault", "filename", "entry", "field", "line", "message", "advice"),
        "title": check_of(finding.code).title,
        "fix": None if fix is None else {**picked(fix, "title", "safe"), "edits": places},
    }
