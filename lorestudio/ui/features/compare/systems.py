"""Comparing systems in a worker: what can be compared, and the tables, turn by turn and over the whole chat.

Systems, DeepLore with a profile, and settings of files can be compared.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from operator import itemgetter
from pathlib import Path
from typing import Any, Final

from msgspec import Struct
from PySide6.QtCore import QObject
from PySide6.QtGui import QFontMetrics

from lorestudio.domain.chat import Generation
from lorestudio.domain.lifecycle import Progress
from lorestudio.domain.records import Terse, replace
from lorestudio.settings.rules import NEW, OLD, VERSIONS
from lorestudio.settings.store import SettingsProfile
from lorestudio.studio.compare.comparison import (
    Candidate,
    Comparison,
    ComparisonStore,
    TurnComparison,
    by_rules,
    compare_candidates,
    in_slot,
    names_of,
)
from lorestudio.studio.project.answering import AnswerKind, load_recorded
from lorestudio.studio.project.project import Project
from lorestudio.studio.replay.runs import TraceBook
from lorestudio.studio.replay.simulator import Simulator
from lorestudio.systems.registry import KINDS, MAIN
from lorestudio.trace.text import turn_words
from lorestudio.ui.shell.jobs import Job
from lorestudio.ui.shell.words import count, number, sentence_of, tr
from lorestudio.ui.state.choices import system_help, system_title
from lorestudio.ui.state.session import Session
from lorestudio.ui.widgets.cells import FIT, Column, titled
from lorestudio.ui.widgets.record_table import RecordTable

RULES: Final = "rules:"
"""Begins the key of DeepLore by the rules of one version."""

UPGRADE: Final = (f"{RULES}{OLD}", f"{RULES}{NEW}")
"""What is compared to see what another version would change."""


class Offer(Terse, frozen=True):
    """One run that can be compared. `key` names it from one moment to the next; `run` has run it already."""

    unprinted = ("run",)

    key: str
    label: str
    help: str
    candidate: Candidate
    run: Simulator | None = None


def offers(
    session: Session,
    profiles: Sequence[SettingsProfile],
    files: Sequence[tuple[str, Path]],
    added: Sequence[Offer] = (),
) -> tuple[Offer, ...]:
    """All that can be compared now; `files` are settings files that were added, each with its system."""
    found = []
    for name in KINDS:
        choice = session.choices.with_settings(replace(session.choice, system=name))
        candidate = Candidate(system_title(name), name, choice.settings)
        found.append(Offer(name, system_title(name), system_help(name), candidate, session.runs.complete(choice)))
    for version, text in VERSIONS.items():
        candidate = by_rules(session.project, version) if session.project is not None else Candidate(version, MAIN.name)
        found.append(Offer(f"{RULES}{version}", candidate.label, text, candidate))
    for profile in profiles:
        if profile.settings is not None:
            label = tr("DeepLore: {profile}", profile=profile.name)
            on = profile.settings.switched_on()
            candidate = Candidate(label, MAIN.name, on, profile.path)
            found.append(Offer(f"profile:{profile.name}", label, str(profile.path), candidate))
    for name, path in files:
        label = tr("{system}: {file}", system=system_title(name), file=path.name)
        found.append(Offer(f"file:{name}:{path}", label, str(path), Candidate(label, name, settings_path=path)))
    return (*found, *added)


class ComparedSystems(Struct, frozen=True):
    """What came of a comparison: None where only kept runs were to be compared, and some are missing.

    `stale` says that it is of runs from before the last change; `problems` are about keeping.
    """

    comparison: Comparison | None
    stale: bool = False
    problems: tuple[str, ...] = ()


def compare_offers(
    project: Project, chosen: Sequence[Offer], answers: AnswerKind, keep_in: Path | None, only_kept: bool, job: Job
) -> ComparedSystems:
    """Run what was not run yet, with recorded answers or else the stand-in's; vectors are made as settings say.

    With `keep_in`, the folder of kept runs, nothing is run that was kept; `only_kept` runs nothing at all. Tells in
    words how far it is. Raises Cancelled, InputError, SettingsError and VaultError.
    """
    if only_kept and any(offer.key.startswith(RULES) for offer in chosen):
        return ComparedSystems(None)  # which rule did what is not kept
    candidates = [_with_traces(offer) for offer in chosen]
    recorded = None if answers is AnswerKind.STAND_IN else load_recorded(project.chat_path)
    numbers, at = itertools.count(1), ""

    def begun(candidate: Candidate) -> None:
        nonlocal at
        job(tr("{number} of {of}: {run}", number=next(numbers), of=len(candidates), run=candidate.label))

    def progressed(progress: Progress) -> None:
        job(at + tr(", reply {done} of {total}", done=number(progress.done), total=number(progress.total)))

    def compared(store: ComparisonStore | None) -> Comparison:
        return job.run(lambda: compare_candidates(project, candidates, recorded, progressed, job.token, begun, store))

    if keep_in is None:
        return ComparedSystems(None if only_kept else compared(None))
    try:
        store = ComparisonStore(keep_in)
    except OSError as error:
        return ComparedSystems(None if only_kept else compared(None), problems=(sentence_of(error),))
    with store:
        if only_kept:
            return ComparedSystems(*store.last(project, candidates, recorded))
        found = compared(store)
        store.remember(project, [offer.key for offer in chosen])
        return ComparedSystems(found, problems=tuple(store.problems))


def _with_traces(offer: Offer) -> Candidate:
    """With the runs that there are; a system's settings are read from its file now, DeepLore's when it is run."""
    if offer.run is not None:
        return replace(offer.candidate, traces=TraceBook(offer.run.traces).part(offer.run.generations))
    candidate = in_slot(offer.candidate, offer.key)
    if candidate.settings is None and candidate.settings_path is not None and candidate.system in KINDS:
        return replace(candidate, settings=KINDS[candidate.system].read(candidate.settings_path))
    return candidate


def turn_columns(found: Comparison, metrics: QFontMetrics) -> list[Column]:
    """What is said of a turn: its name, the overlap, each run's amount, and then what each alone puts in.

    The amounts stand side by side, so that they can be compared without a look at what is out of sight.
    """
    columns = [
        Column("Reply", lambda turn: Generation(turn.turn.message, turn.turn.swipe).name, width=74,
               spoken=lambda turn: turn_words(turn.turn), tip=lambda turn: turn_words(turn.turn)),
        Column("Overlap", lambda turn: f"{turn.overlap:.0%}", width=68, numeric=True,
               help="What all runs put in, as a part of what any of them puts in"),
    ]  # fmt: skip
    widths = [max(84, min(190, metrics.horizontalAdvance(label) + 28)) for label in found.labels]
    runs = [_columns_of_run(found, place, label, widths[place]) for place, label in enumerate(found.labels)]
    return [*columns, *(amount for amount, _alone in runs), *(alone for _amount, alone in runs)]


def _columns_of_run(found: Comparison, place: int, label: str, width: int) -> tuple[Column, Column]:
    amounts, alone = tr("{run}: entries and tokens", run=label), tr("Entries that {run} alone puts in", run=label)

    def share(turn: TurnComparison) -> str:
        return f"{len(turn.shares[place].notes)} · {number(turn.shares[place].tokens)}"

    def listed(turn: TurnComparison) -> str:
        share = turn.shares[place]
        entries, tokens = count(len(share.notes), "entry", "entries"), count(share.tokens, "token", "tokens")
        return f"{amounts}: {entries}, {tokens}: {', '.join(names_of(found, share.notes))}"

    def only(turn: TurnComparison) -> str:
        return ", ".join(names_of(found, turn.alone[place], turn.turn))

    def told(turn: TurnComparison) -> str:
        return f"{alone}: {only(turn) or tr('none')}"

    by_rules = bool(found.why)  # then each name has the rule behind it that did it
    head = ("leaves", "comes in")[place] if by_rules else tr("only {run}", run=label)
    return (
        Column(label, share, width=width, help=amounts, spoken=listed, tip=listed),
        Column(head, only, width=260 if by_rules else max(130, width), help=alone, spoken=told, tip=told),
    )


def total_columns(heads: Sequence[str]) -> list[Column]:
    """What is said of a run over the whole chat: it, and how far it agrees with each other one."""
    return [Column(head, itemgetter(place), width=FIT, numeric=place > 0) for place, head in enumerate(heads)]


def comparison_table(parent: QObject, key: Callable[[Any], object] = id) -> RecordTable:
    """A table of a comparison."""
    told = titled("none")
    return RecordTable((), key=key, spoken=told, tip=told, parent=parent)
