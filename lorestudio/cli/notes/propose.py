"""Proposals for notes: shown as differences or as JSON, and written only where they are accepted."""

from __future__ import annotations

import asyncio
import os
import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Final

import typer
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn

from lorestudio.cli.answering import Answering, agree, answering
from lorestudio.cli.command import RulesOption, command, command_group, rules_named
from lorestudio.cli.notes.notes import change_log
from lorestudio.cli.options import AskAgainOption, JsonOption, NeededChat, SettingsOption, TokenizerOption, YesOption
from lorestudio.cli.output import FAILED, answer_to, echo, print_json, say, say_all
from lorestudio.cli.screen import progress_bar
from lorestudio.domain.entry import Entry
from lorestudio.domain.javascript import Json, fold
from lorestudio.domain.records import picked
from lorestudio.domain.texts import difference_lines
from lorestudio.exchange.problems import InputError
from lorestudio.settings.files import real_path
from lorestudio.studio.notes.book_entries import is_there
from lorestudio.studio.project.answering import AnswerKind, Source
from lorestudio.studio.project.project import Project, open_project
from lorestudio.studio.proposals.judging import Judge, change_of, write_accepted
from lorestudio.studio.proposals.model import NoteLocks, Proposal, ProposalKind, ProposalPlan, default_locks
from lorestudio.studio.proposals.planning import (
    Guard,
    Maker,
    ProposalsEnded,
    default_records,
    plan_draft,
    plan_keys,
    plan_summaries,
    proposals_cost,
    record_of,
)
from lorestudio.studio.proposals.reading import one_line, shortened
from lorestudio.studio.replay.ranges import MessageRange
from lorestudio.trace.wording import plural

_SHOWN: Final = 600
"""So much of an answer that cannot be used is shown; in code units."""


def print_proposals(project: Project, made: Sequence[Proposal], plan: ProposalPlan) -> None:
    """Every proposal with what is to be known about it and its difference; what was skipped is said on stderr."""
    for proposal in made:
        echo(f"{proposal.title} ({_file(project, proposal.path)})")
        if proposal.problem:
            echo(f"  no proposal: {proposal.problem}")
            if answer := one_line(proposal.said) or one_line(proposal.reply):
                echo(f"  the answer: {shortened(answer, _SHOWN)}")
        if proposal.reasoning:
            echo(f"  {proposal.reasoning}")
        for remark in proposal.remarks:
            echo(f"  {'! ' if remark.serious else ''}{remark.text}")
        if proposal.counts and proposal.searched:
            echo(f"  messages found by each key, of {proposal.searched}: {_counts(proposal)}")
        echo("".join(difference(project, proposal)))
    for item in plan.skipped:
        say(f"{item.filename} was skipped: {item.reason}")


def _counts(proposal: Proposal) -> str:
    signs = {(True, True): "", (False, True): "+", (True, False): "-", (False, False): ""}
    return ", ".join(f"{signs[item.now, item.proposed]}{item.key} {len(item.messages)}" for item in proposal.counts)


def print_document(
    project: Project,
    made: Sequence[Proposal],
    plan: ProposalPlan,
    written: Sequence[Path],
    refused: Sequence[tuple[Path, str]],
) -> None:
    """The proposals as one JSON object; `written` and `refused` are what became of accepted ones."""
    reasons = dict(refused)
    document: dict[str, Json] = {
        "kind": plan.kind.value,
        "proposals": [
            {
                **picked(item, "title", "before", "after", "reasoning", "answered_by", "reply"),
                "file": _file(project, item.path),
                "problem": item.problem or reasons.get(item.path, ""),
                "remarks": [picked(remark, "text", "serious") for remark in item.remarks],
                "keys": [picked(one, "key", "now", "proposed", "messages") for one in item.counts],
                "difference": "".join(difference(project, item)),
                "written": item.path in written,
            }
            for item in made
        ],
        "skipped": [{"file": item.filename, "title": item.title, "reason": item.reason} for item in plan.skipped],
    }
    print_json(document, 1)


def difference(project: Project, proposal: Proposal) -> list[str]:
    """What would happen to the file, as `git diff` shows it; nothing where it cannot be accepted."""
    try:
        change = change_of(proposal)
    except InputError:
        return []
    name = _file(project, proposal.path)
    old = f"a/{name}" if change.before is not None else "/dev/null"
    return list(difference_lines(change.before, change.after, old, f"b/{name}"))


def _file(project: Project, path: Path) -> str:
    note = project.note_place(path)
    return path.name if note is None else note[1]


propose = command_group("Have summaries, keys or a new note proposed; nothing is written unless you accept it.")

OneVault = Annotated[Path, "<VAULT>", "A folder of Markdown notes."]
NoteOption = Annotated[list[str] | None, "NOTE", "A note by title or file. May be repeated."]


@dataclass(frozen=True, slots=True, kw_only=True)
class ProposalOptions:
    """The notes, who writes, and what is to become of the proposals."""

    vault: Annotated[list[str], "<VAULT...>", "Folders of Markdown notes; a lorebook, to have keys proposed for it."]
    chat: Annotated[Path | None, "A SillyTavern chat (.jsonl) or plain text, to count what keys find."] = None
    settings: SettingsOption = None
    rules: RulesOption = None
    tokenizer: TokenizerOption = ""
    answers: Annotated[str, "Who writes: stand-in (offline, no model), recorded, or a profile's name."] = (
        AnswerKind.STAND_IN.value
    )
    apply: Annotated[bool, "Ask about each proposal, and write those you accept."] = False
    accept_all: Annotated[bool, "Write every proposal that nothing speaks against, without asking."] = False
    yes: YesOption = False
    ask_again: AskAgainOption = False
    as_json: JsonOption = False

    def project(self) -> Project:
        """The project of the notes. Raises InputError, SettingsError and VaultError."""
        named = rules_named(self.rules)
        return open_project(self.vault, self.chat, self.settings, rules=named, tokenizer=self.tokenizer)


@dataclass(frozen=True, slots=True, kw_only=True)
class DraftOptions(ProposalOptions):
    """The same for what is written from a chat."""

    chat: NeededChat


@command(propose)
def summaries(
    given: ProposalOptions,
    *,
    note: NoteOption = None,
    again: Annotated[bool, "Also for notes that have a summary."] = False,
) -> None:
    """Summaries, by which AI selection chooses, for the notes that have none."""
    propose_summaries(given, lambda project: _named(project, note) if note else None, again=again)


@command(propose)
def keys(
    given: ProposalOptions,
    *,
    note: Annotated[list[str], "NOTE", "A note by title or file. May be repeated."],
    mode: Annotated[str, "What the keys are for: keyword or two-stage. Default: as the settings say."] = "",
) -> None:
    """Better keys for a note or a lorebook's entry, each with the number of messages of the chat it is found in."""
    project = given.project()
    chosen = _named(project, note)
    _run(project, lambda guard, model: plan_keys(project, chosen, guard, mode=mode, model=model), given)


@command(propose)
def draft(
    given: DraftOptions,
    *,
    messages: Annotated[str, "A-B", "Messages, as in 4-9, 4- or 4,6,8-9."],
    focus: Annotated[str, "TEXT", "What the note should be about."] = "",
) -> None:
    """A new note about something in these messages that has no note yet."""
    project = given.project()
    count = len(project.chat.messages) if project.chat is not None else 0
    parts = [MessageRange.parse(part, "--messages").ends(count) for part in messages.split(",")]
    numbers = [number for first, last in parts for number in range(first, min(last, count) + 1)]
    _run(project, lambda _guard, model: plan_draft(project, numbers, focus, model=model, option="--messages"), given)


@command(propose)
def locks(
    vault: OneVault,
    *,
    lock: Annotated[
        list[Path] | None,
        "Never propose anything for this note, this lorebook or its entry (uid 3), or what lies in this folder (. for "
        "all).",
    ] = None,
    unlock: Annotated[list[Path] | None, "Take a note, a folder or a lorebook off the list."] = None,
    as_json: JsonOption = False,
) -> None:
    """List the notes and folders of a vault that are locked in the studio, after locking and unlocking some.

    FILE is relative to the vault. A note can also lock itself, with “locked: true” in its front matter.
    """
    folder = real_path(vault)
    known = NoteLocks(default_locks())
    for files, locked_now in ((lock, True), (unlock, False)):
        paths = [folder / file for file in files or ()]
        there = is_there if folder.is_file() else Path.exists  # in a vault a folder may be called as an entry is
        missing = next((path for path in paths if locked_now and not there(path)), None)
        if missing is not None:
            raise InputError(missing, "there is no such note or folder. Give it as it is named in the vault.")
        outside = next((path for path in paths if not Path(os.path.normpath(path)).is_relative_to(folder)), None)
        if locked_now and outside is not None:
            raise InputError(outside, "it does not lie in this vault. Give the vault in which it does.")
        if paths:
            known.set(paths, locked_now=locked_now)
    found = [os.path.relpath(path, folder) for path in known.list(folder)]
    if as_json:
        print_json(found, 1)
    else:
        echo("\n".join(found) or "No note is locked in the studio.")


def propose_summaries(
    given: ProposalOptions, choose: Callable[[Project], Sequence[Entry] | None], *, again: bool = False
) -> None:
    """Have summaries proposed for these entries, None for all; show them, and write what is accepted."""
    project = given.project()
    chosen = choose(project)
    _run(project, lambda guard, model: plan_summaries(project, chosen, guard, model=model, again=again), given)


def _run(project: Project, make_plan: Callable[[Guard, str], ProposalPlan], wanted: ProposalOptions) -> None:
    """Plan for a model, tell the cost, ask, show, and write what is accepted."""
    guard, records = Guard(NoteLocks(default_locks()).load()), default_records()
    asked = answering(wanted.answers, project, record_of(project, records), fresh=wanted.ask_again)
    plan = make_plan(guard, asked.model)
    say_all(project.problems)
    if plan.tasks and asked.profile is not None:
        source = Source.named(wanted.answers)
        cost = partial(proposals_cost, plan.tasks, source, project, records, fresh=wanted.ask_again)
        agree(asked, cost, yes=wanted.yes, kept=f"in {records}")
    made, ended = _ask(project, asked, plan, quiet=wanted.as_json)
    accepted: list[Proposal] = []
    if not wanted.as_json:
        print_proposals(project, made, plan)
    if wanted.apply or wanted.accept_all:
        accepted = _accepted(project, made, wanted)
    written, refused = _write(project, accepted, guard)
    if wanted.as_json:
        print_document(project, made, plan, written, refused)
    if ended.left:
        say(f"{plural(ended.left, '# note was|# notes were')} not asked about: {ended.why}")
        say("what was answered is recorded; the same command goes on with the rest.")
    if not made:
        say("there was nothing to ask about." + ("" if plan.kind is not ProposalKind.SUMMARY else _HAVE_ALL))
    elif not (wanted.apply or wanted.accept_all) and any(item.acceptable for item in made):
        say("nothing was written. With --apply you are asked about each.")
    if refused or ended.left or any(not item.acceptable for item in made):
        raise typer.Exit(FAILED)


_HAVE_ALL: Final = " Notes that have a summary are asked about with --again."


def _ask(
    project: Project, asked: Answering, plan: ProposalPlan, *, quiet: bool
) -> tuple[list[Proposal], ProposalsEnded]:
    """Ask with a progress bar on the error stream. After Ctrl+C what was answered is on record already."""
    made: list[Proposal] = []
    maker = Maker(asked.source, Judge.of(project), project.settings.ai_force_user_role)
    with progress_bar(TextColumn("Asking"), BarColumn(), MofNCompleteColumn(), quiet=quiet) as bar:
        task = bar.add_task("", total=len(plan.tasks))

        def take(place: int, proposal: Proposal) -> None:
            made.extend((proposal, *proposal.more))
            bar.update(task, completed=place + 1)

        return made, asyncio.run(maker.run(plan.tasks, take))


def _accepted(project: Project, made: Sequence[Proposal], wanted: ProposalOptions) -> list[Proposal]:
    """The proposals that the person accepts: each is asked about, or all that nothing speaks against."""
    good = [proposal for proposal in made if proposal.acceptable]
    if wanted.accept_all:
        for proposal in good:
            if proposal.doubtful:
                serious = (remark.text for remark in proposal.remarks if remark.serious)
                say(f"{proposal.title}: not accepted unseen. {' '.join(serious)}")
        return [proposal for proposal in good if not proposal.doubtful]
    accepted: list[Proposal] = []
    for place, proposal in enumerate(good):
        if wanted.as_json:
            echo("".join(difference(project, proposal)), nl=False, err=True)
        question = f"Accept {proposal.title}? [y]es, [N]o, [a]ll that follow, [q]uit: "
        nobody = "nobody is here to accept, so nothing was written. See --accept-all."
        answer = answer_to(question, "--apply", nobody)
        if answer in {"a", "all"}:
            return [*accepted, *good[place:]]
        if answer in {"q", "quit"}:
            break
        if answer in {"y", "yes"}:
            accepted.append(proposal)
    return accepted


def _write(
    project: Project, accepted: Sequence[Proposal], guard: Guard
) -> tuple[tuple[Path, ...], tuple[tuple[Path, str], ...]]:
    if not accepted:
        return (), ()
    log = change_log(project.changed_in)
    done = write_accepted(log, accepted, guard.locked)
    say_all(log.problems)
    for path, reason in done.refused:
        say(f"{path.name} was not written: {reason}")
    if done.changes is not None:
        say(f"{done.changes.title}: {plural(len(done.changes.changes), '# file|# files')} written.")
        folders = project.changed_in
        how = f"undo {shlex.quote(str(folders[0]))}" if len(folders) == 1 else "history NOTE --restore 1"
        say(f"to undo this: lorestudio {how}, or undo it in the window.")
    return done.written, done.refused


def _named(project: Project, names: Sequence[str]) -> list[Entry]:
    """The entries of these titles or files. Raises InputError for a name that none has."""
    found: dict[int, Entry] = {}
    for name in names:
        same = [
            entry
            for entry in project.index.entries
            if fold(entry.title) == fold(name) or entry.filename in {name, f"{name}.md"}
        ]
        if not same:
            raise InputError("--note", f"no entry of the vault has the title or file “{name}”.")
        found |= {entry.id: entry for entry in same}
    return list(found.values())
