"""Running one chat with several systems or settings, and putting what they decide side by side."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Protocol, TypeAlias

from msgspec import Struct

from lorestudio.domain.lifecycle import CancelToken, Progress
from lorestudio.domain.records import replace
from lorestudio.exchange.problems import InputError
from lorestudio.llm.messages import AnswerSource
from lorestudio.settings.declaration import Section
from lorestudio.settings.rules import ChangedRule, changed_rules, name_of, rules_of, with_rule
from lorestudio.studio.compare.comparison import Comparison, Contender, Note, Place, compare, noted
from lorestudio.studio.project.project import Project, read_settings
from lorestudio.studio.replay.simulator import Simulator
from lorestudio.systems.base import SystemKind
from lorestudio.systems.registry import MAIN, kind_of, system_of
from lorestudio.trace.model import Trace
from lorestudio.vault.edited_vaults import NoteText

Change: TypeAlias = tuple[Place, Note, bool]
"""A note at a turn: whether it comes in, or leaves."""

NOT_FOUND: Final = "no single rule"
"""Stands for what neither way of looking explains."""


class RuleCauses(Struct, frozen=True):
    """For each turn and note the rules that did it; `together` are those that needed others beside them.

    `tried` counts runs of the whole chat.
    """

    alone: Mapping[tuple[Place, Note], Sequence[ChangedRule]] = {}
    together: Mapping[tuple[Place, Note], Sequence[ChangedRule]] = {}
    tried: int = 0

    def of(self, place: Place, note: Note) -> Sequence[ChangedRule]:
        """Who did it: alone, where there is anybody, else together."""
        return self.alone.get((place, note)) or self.together.get((place, note), ())

    def words(self, place: Place, note: Note) -> str:
        """The rules in a few words; those that only act together are joined by a plus sign."""
        alone = self.alone.get((place, note))
        if alone:
            return ", ".join(rule.title for rule in alone)
        return " + ".join(rule.title for rule in self.together.get((place, note), ())) or NOT_FOUND

    def explained(self, found: Comparison) -> Comparison:
        """The comparison with the rules at what they did."""
        places = [((turn.turn.message, turn.turn.swipe), frozenset().union(*turn.alone)) for turn in found.turns]
        why = {(place, note): self.words(place, note) for place, notes in places for note in notes}
        return replace(found, why=why, reasons=self._reasons(found))

    def _reasons(self, found: Comparison) -> tuple[tuple[str, int], ...]:
        """Every rule that did something with the number of turns in which it did, most first."""
        counted: dict[str, set[Place]] = {}
        for turn in found.turns:
            place = turn.turn.message, turn.turn.swipe
            for note in frozenset().union(*turn.alone):
                for rule in self.of(place, note):
                    counted.setdefault(rule.title, set()).add(place)
        return tuple((title, len(places)) for title, places in sorted(counted.items(), key=lambda each: -len(each[1])))


async def rule_causes(
    before: str,
    after: str,
    traces: tuple[Sequence[Trace], Sequence[Trace]],
    run: Callable[[str], Awaitable[Sequence[Trace]]],
    on_rule: Callable[[str], None] | None = None,
) -> RuleCauses:
    """What made the difference between the runs `traces` by the rules `before` and `after`, each over the whole chat.

    `run` runs the chat by the rules that it is given; `on_rule` is told in words which rule is tried. Raises what `run`
    raises.
    """
    wanted = _changes(*traces)
    rules = _differing(before, after, traces)
    alone: dict[tuple[Place, Note], list[ChangedRule]] = {}
    tried = 0

    async def ran(start: str, rule: ChangedRule, *, as_in: str) -> Sequence[Trace]:
        nonlocal tried
        tried += 1
        if on_rule is not None:
            on_rule(rule.title)
        return await run(with_rule(start, rule.name, holds=getattr(rules_of(as_in), rule.name)))

    for rule in rules if wanted else ():
        for place, note, _comes in wanted & _changes(traces[0], await ran(before, rule, as_in=after)):
            alone.setdefault((place, note), []).append(rule)
    left = {each for each in wanted if each[:2] not in alone}
    together: dict[tuple[Place, Note], list[ChangedRule]] = {}
    for rule in rules if left else ():
        for place, note, _comes in left - _changes(traces[0], await ran(after, rule, as_in=before)):
            together.setdefault((place, note), []).append(rule)
    return RuleCauses(alone, together, tried)


def _changes(before: Sequence[Trace], after: Sequence[Trace]) -> set[Change]:
    """Which notes come in and which leave from one run of the chat to the other."""
    found: set[Change] = set()
    for one, other in zip(before, after, strict=True):
        place = one.turn.message, one.turn.swipe
        old, new = set(noted(one)), set(noted(other))
        found |= {(place, note, True) for note in new - old} | {(place, note, False) for note in old - new}
    return found


def _differing(before: str, after: str, traces: tuple[Sequence[Trace], Sequence[Trace]]) -> list[ChangedRule]:
    """The rules that the two do not have in common, without those about stages that neither run came to."""
    stages = {record.name for run in traces for trace in run for record in trace.stages}
    old, new = rules_of(before), rules_of(after)
    return [
        rule
        for rule in changed_rules()
        if getattr(old, rule.name) != getattr(new, rule.name)
        and (not rule.affects or not stages.isdisjoint(rule.affects))
    ]


FEWEST: Final = 2


@dataclass(frozen=True, slots=True)
class Candidate:
    """One run that is to be compared: a system with its settings, None for those of the project or the defaults.

    `traces` are those of all generations where they are known already; then nothing is run. `slot` is where its runs
    are kept (see `studio.replay.run_store`); "" is that of the runs that the window shows. `tokenizer` says how tokens
    are counted, None for as the project does.
    """

    label: str
    system: str
    settings: Section | None = None
    settings_path: Path | None = None
    traces: tuple[Trace, ...] | None = field(default=None, repr=False)
    slot: str = ""
    tokenizer: str | None = None
    notes: tuple[NoteText, ...] = ()
    """Texts of notes that are tried out, in place of those of the project."""
    rules: str = ""
    """The rules that its settings name, where they are all that sets it apart from another candidate."""


class CandidateStore(Protocol):
    """Whoever keeps runs from one start to the next."""

    def restore(self, simulator: Simulator, candidate: Candidate) -> None:
        """Give the simulator what was run before on the same inputs."""

    def keep(self, simulator: Simulator, candidate: Candidate) -> None:
        """Keep what was run."""


def candidate(text: str) -> Candidate:
    """A candidate as the command line gives it: `SYSTEM` or `SYSTEM:FILE`, FILE with the system's settings.

    Raises InputError and SettingsError.
    """
    name, _, file = text.partition(":")
    path = Path(file).expanduser() if file else None
    kind = kind_of(name)
    return Candidate(text, kind.name, None if kind.in_project else kind.read(path), path)


async def run_candidate(
    project: Project,
    chosen: Candidate,
    answers: AnswerSource | None = None,
    on_progress: Callable[[Progress], None] | None = None,
    cancel: CancelToken | None = None,
    store: CandidateStore | None = None,
) -> tuple[Trace, ...]:
    """The traces of a candidate over the project's whole chat. Raises Cancelled, InputError and VaultError."""
    if chosen.traces is not None:
        return chosen.traces
    # Other settings may read the vaults again, which waits for the disk and has a loop of its own.
    simulator = await asyncio.to_thread(simulator_of, project, chosen, answers)
    if store is None:
        return await simulator.replay(on_progress, cancel)
    store.restore(simulator, chosen)
    try:
        return await simulator.replay(on_progress, cancel)
    finally:
        store.keep(simulator, chosen)


def simulator_of(project: Project, chosen: Candidate, answers: AnswerSource | None = None) -> Simulator:
    """Who runs the project's chat as a candidate says. Raises InputError, SettingsError, VaultError and
    TokenizerError.
    """
    project, kind, settings = settled(project, chosen)
    return Simulator(project, system_of(project.scene(answers), kind, settings))


def settled(project: Project, chosen: Candidate) -> tuple[Project, SystemKind, Section | None]:
    """The project as a candidate reads it, the kind of its system, and its settings, None for the system's own.

    Raises what `simulator_of` raises.
    """
    kind, settings = kind_of(chosen.system), chosen.settings
    if chosen.tokenizer is not None:
        project = project.with_tokenizer(chosen.tokenizer)
    if kind.in_project and chosen.settings_path is not None:
        read = read_settings(chosen.settings_path)
        settings, problems = read.settings, (*project.problems, *read.problems)
        project = replace(project, problems=problems)
    if settings is not None:
        project = project.with_settings_of(kind, settings)
    if chosen.notes:
        project = project.with_texts(chosen.notes)
    return project, kind, settings


async def compare_candidates(
    project: Project,
    chosen: Sequence[Candidate],
    answers: AnswerSource | None = None,
    on_progress: Callable[[Progress], None] | None = None,
    cancel: CancelToken | None = None,
    on_candidate: Callable[[Candidate], None] | None = None,
    store: CandidateStore | None = None,
) -> Comparison:
    """Run all candidates over the project's chat, one after the other, and compare them turn by turn.

    `on_candidate` is called when the run of one begins; `store` gives what was run before, and keeps what is run.
    Of two that differ only in their rules it is found out which rule did what, by running each changed rule alone.
    Raises InputError where there are fewer than two, and what `run_candidate` raises.
    """
    if len(chosen) < FEWEST:
        raise InputError("--run", "name at least two runs to compare, as in --run deeplore --run context-window.")
    contenders = []
    for each in chosen:
        if on_candidate is not None:
            on_candidate(each)
        traces = await run_candidate(project, each, answers, on_progress, cancel, store)
        contenders.append(Contender(each.label, traces))
    found = compare(contenders)
    if len(chosen) != FEWEST or not all(each.rules for each in chosen):
        return found
    first, second = chosen

    async def run(version: str) -> tuple[Trace, ...]:
        tried = replace(by_rules(project, version), label=version)
        return await run_candidate(project, tried, answers, on_progress, cancel)

    def tell(title: str) -> None:
        if on_candidate is not None:
            on_candidate(replace(first, label=title))

    traces_of = contenders[0].traces, contenders[1].traces
    causes = await rule_causes(first.rules, second.rules, traces_of, run, tell)
    return causes.explained(found)


def by_rules(project: Project, version: str) -> Candidate:
    """DeepLore with the project's settings by these rules. Raises ValueError for a name that there is not."""
    settings = project.settings.model_copy(update={"rules": name_of(rules_of(version))})
    return Candidate(f"{MAIN.title} {settings.rules}", MAIN.name, settings, rules=settings.rules)
