"""Several runs of one chat side by side: how they are made, compared turn by turn, and kept after the studio's end.

A comparison says what each puts into the prompt and how far they agree, also as rows for a file and as Markdown.
"""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from statistics import fmean
from typing import Final, TypeAlias

from msgspec import Struct

from lorestudio.domain.entry import NoteKey
from lorestudio.domain.lifecycle import CancelToken, Closing, OnProgress
from lorestudio.domain.records import Terse, replace
from lorestudio.domain.texts import reading_order
from lorestudio.exchange.problems import InputError
from lorestudio.llm.messages import AnswerSource
from lorestudio.settings.declaration import Section, Switch
from lorestudio.settings.files import SettingsError, read_whole, write_atomically
from lorestudio.settings.rules import changed_rules, name_of, rules_of, with_rule
from lorestudio.studio.project.project import Project, read_settings
from lorestudio.studio.replay.run_store import RunStore, chat_id
from lorestudio.studio.replay.runs import TraceBook
from lorestudio.studio.replay.simulator import Simulator
from lorestudio.systems.base import SystemKind
from lorestudio.systems.registry import MAIN, in_project, kind_of, system_of
from lorestudio.trace.model import Trace, Turn
from lorestudio.trace.text import markdown_table, turn_words
from lorestudio.trace.wording import first_few, plural
from lorestudio.vault.edited_vaults import NoteText
from lorestudio.vault.files import VaultError

Place: TypeAlias = tuple[int, int]
"""A turn: the reply's message and its swipe."""


class Contender(Struct, frozen=True):
    """One of the runs compared: what it is called, and its traces, one for each generation in order."""

    label: str
    traces: Collection[Trace]


class PromptShare(Struct, frozen=True):
    """What one contender put in at one turn: its notes in the order they stand in the prompt, and their tokens."""

    notes: tuple[NoteKey, ...]
    tokens: int


class TurnComparison(Struct, frozen=True):
    """One turn: what each contender put in, in their order; and what only one did."""

    turn: Turn
    shares: tuple[PromptShare, ...]
    alone: tuple[frozenset[NoteKey], ...]

    @property
    def overlap(self) -> float:
        """Common notes as a part of all that anybody put in, from 0 to 1; 1 where nobody put anything in."""
        return _overlap([frozenset(share.notes) for share in self.shares])


class Total(Struct, frozen=True):
    """A contender over the whole chat: means per turn, and how many different notes ever went in."""

    label: str
    entries: float
    tokens: float
    most_tokens: int
    different: int
    silent: int
    """Turns in which nothing went in."""


class Comparison(Struct, frozen=True):
    """Contenders, their turns side by side, and their totals. `titles` names the notes."""

    labels: tuple[str, ...]
    turns: tuple[TurnComparison, ...]
    totals: tuple[Total, ...]
    titles: dict[NoteKey, str]
    agreement: tuple[tuple[float, ...], ...]
    """How far each contender agrees with each other one, from 0 to 1: the mean overlap of their turns."""
    why: Mapping[tuple[Place, NoteKey], str] = {}
    """For a note that one of two runs puts in at a turn what did it, where that was looked for."""
    reasons: tuple[tuple[str, int], ...] = ()
    """What did something at all, with the number of turns, most first."""

    @property
    def changed(self) -> int:
        """In how many turns not all contenders put the same notes in."""
        return sum(turn.overlap < 1 for turn in self.turns)


def compare(contenders: Sequence[Contender]) -> Comparison:
    """Put runs of the same generations side by side. Raises ValueError where they are not of the same generations."""
    alike = len({len(each.traces) for each in contenders}) == 1
    titles: dict[NoteKey, str] = {}
    turns = []
    for traces in zip(*(each.traces for each in contenders), strict=alike):
        alike = alike and len({(trace.turn.message, trace.turn.swipe) for trace in traces}) == 1
        if not alike:
            break
        shares = tuple(_share(trace, titles) for trace in traces)
        turns.append(_turn(traces[0].turn, shares))
    if not alike:
        raise ValueError("Only runs of the same generations can be compared.")
    return Comparison(
        tuple(each.label for each in contenders),
        tuple(turns),
        tuple(_total(each.label, [turn.shares[place] for turn in turns]) for place, each in enumerate(contenders)),
        titles,
        tuple(
            tuple(_agreement(turns, one, other) for other in range(len(contenders))) for one in range(len(contenders))
        ),
    )


def noted(trace: Trace) -> tuple[NoteKey, ...]:
    """The notes that a run put in, in the order of the prompt."""
    refs = ((trace.entries.get(injection.entry), injection.title) for injection in trace.injections)
    return tuple(ref.note_key if ref is not None else ("", title) for ref, title in refs)


def _share(trace: Trace, titles: dict[NoteKey, str]) -> PromptShare:
    notes = noted(trace)
    for note, injection in zip(notes, trace.injections, strict=True):
        titles.setdefault(note, injection.title)
    return PromptShare(notes, trace.total_tokens)


def _turn(turn: Turn, shares: tuple[PromptShare, ...]) -> TurnComparison:
    sets = [frozenset(share.notes) for share in shares]
    alone = tuple(
        one.difference(*(other for place, other in enumerate(sets) if place != at)) for at, one in enumerate(sets)
    )
    return TurnComparison(turn, shares, alone)


def _total(label: str, shares: Sequence[PromptShare]) -> Total:
    return Total(
        label,
        fmean(len(share.notes) for share in shares) if shares else 0.0,
        fmean(share.tokens for share in shares) if shares else 0.0,
        max((share.tokens for share in shares), default=0),
        len({note for share in shares for note in share.notes}),
        sum(not share.notes for share in shares),
    )


def _agreement(turns: Sequence[TurnComparison], one: int, other: int) -> float:
    overlaps = [_overlap([frozenset(turn.shares[place].notes) for place in (one, other)]) for turn in turns]
    return fmean(overlaps) if overlaps else 1.0


def _overlap(sets: Sequence[frozenset[NoteKey]]) -> float:
    every = frozenset.union(*sets)
    return len(frozenset.intersection(*sets)) / len(every) if every else 1.0


MOST_NAMES: Final = 6
"""Titles that a cell of Markdown names."""


def names_of(found: Comparison, notes: Sequence[NoteKey] | frozenset[NoteKey], turn: Turn | None = None) -> list[str]:
    """The titles of notes in order, each once; with a turn, what is known of why they are only in one run there."""
    told = Counter(found.titles[note] + _why(found, note, turn) for note in notes)
    return sorted(told, key=reading_order)


def _why(found: Comparison, note: NoteKey, turn: Turn | None) -> str:
    why = "" if turn is None else found.why.get(((turn.message, turn.swipe), note), "")
    return f" ({why})" if why else ""


def comparison_rows(found: Comparison) -> list[list[str]]:
    """A heading and a row for every turn: entries, tokens and what it alone puts in for each run, then the overlap."""
    head = ["Turn"]
    for label in found.labels:
        head += [f"{label}: entries", f"{label}: tokens", f"{label}: only here"]
    rows = [[*head, "Overlap"]]
    for turn in found.turns:
        row = [turn_words(turn.turn)]
        for share, alone in zip(turn.shares, turn.alone, strict=True):
            row += [str(len(share.notes)), str(share.tokens), "; ".join(names_of(found, alone, turn.turn))]
        rows.append([*row, f"{turn.overlap:.2f}"])
    return rows


def total_rows(found: Comparison) -> list[list[str]]:
    """A heading and a row for every run over the whole chat, with how far it agrees with each other one."""
    head = ["Run", "Entries a turn", "Tokens a turn", "Most tokens", "Different entries", "Turns without any"]
    rows = [[*head, *(f"Agrees with {label}" for label in found.labels)]]
    for total, agreement in zip(found.totals, found.agreement, strict=True):
        rows.append(
            [
                total.label,
                f"{total.entries:.1f}",
                f"{total.tokens:,.0f}",
                f"{total.most_tokens:,}",
                f"{total.different:,}",
                f"{total.silent:,}",
                *(f"{share:.0%}" for share in agreement),
            ]
        )
    return rows


def comparison_as_markdown(found: Comparison) -> str:
    """The totals and every turn as Markdown tables."""
    totals = total_rows(found)
    lines = ["## Totals", "", *markdown_table(totals[0], totals[1:]), "", "## Turn by turn", ""]
    rows = []
    for turn in found.turns:
        cells = [_cell(found, turn, place) for place in range(len(found.labels))]
        rows.append([turn_words(turn.turn), *cells, f"{turn.overlap:.0%}"])
    lines += markdown_table(["Turn", *found.labels, "Overlap"], rows)
    if found.reasons:
        reasons = [[title, str(turns)] for title, turns in found.reasons]
        lines += ["", "## What made the difference", "", *markdown_table(["Rule", "Turns"], reasons)]
    return "\n".join(lines) + "\n"


def _cell(found: Comparison, turn: TurnComparison, place: int) -> str:
    share, names = turn.shares[place], names_of(found, turn.alone[place], turn.turn)
    only = f"; only here: {first_few(names, MOST_NAMES)}" if names else ""
    return f"{plural(len(share.notes), '# entry|# entries')}, {share.tokens:,} tokens{only}"


Change: TypeAlias = tuple[Place, NoteKey, bool]
"""A note at a turn: whether it comes in, or leaves."""

NOT_FOUND: Final = "no single rule"
"""Stands for what neither way of looking explains."""


class RuleCauses(Struct, frozen=True):
    """For each turn and note the rules that did it; `together` are those that needed others beside them."""

    alone: Mapping[tuple[Place, NoteKey], Sequence[Switch]] = {}
    together: Mapping[tuple[Place, NoteKey], Sequence[Switch]] = {}

    def of(self, place: Place, note: NoteKey) -> Sequence[Switch]:
        """Who did it: alone, where there is anybody, else together."""
        return self.alone.get((place, note)) or self.together.get((place, note), ())

    def words(self, place: Place, note: NoteKey) -> str:
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
    traces: tuple[Iterable[Trace], Iterable[Trace]],
    run: Callable[[str], Awaitable[Iterable[Trace]]],
    on_rule: Callable[[str], None] | None = None,
) -> RuleCauses:
    """What made the difference between the runs `traces` by the rules `before` and `after`, each over the whole chat.

    `run` runs the chat by the rules that it is given; `on_rule` is told in words which rule is tried. Raises what `run`
    raises.
    """
    wanted = _changes(*traces)
    rules = _differing(before, after, traces)
    alone: dict[tuple[Place, NoteKey], list[Switch]] = {}

    async def ran(start: str, rule: Switch, *, as_in: str) -> Iterable[Trace]:
        if on_rule is not None:
            on_rule(rule.title)
        return await run(with_rule(start, rule.name, holds=getattr(rules_of(as_in), rule.name)))

    for rule in rules if wanted else ():
        for place, note, _comes in wanted & _changes(traces[0], await ran(before, rule, as_in=after)):
            alone.setdefault((place, note), []).append(rule)
    left = {each for each in wanted if each[:2] not in alone}
    together: dict[tuple[Place, NoteKey], list[Switch]] = {}
    for rule in rules if left else ():
        for place, note, _comes in left - _changes(traces[0], await ran(after, rule, as_in=before)):
            together.setdefault((place, note), []).append(rule)
    return RuleCauses(alone, together)


def _changes(before: Iterable[Trace], after: Iterable[Trace]) -> set[Change]:
    """Which notes come in and which leave from one run of the chat to the other."""
    found: set[Change] = set()
    for one, other in zip(before, after, strict=True):
        place = one.turn.message, one.turn.swipe
        old, new = set(noted(one)), set(noted(other))
        found |= {(place, note, True) for note in new - old} | {(place, note, False) for note in old - new}
    return found


def _differing(before: str, after: str, traces: tuple[Iterable[Trace], Iterable[Trace]]) -> list[Switch]:
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


class Candidate(Terse, frozen=True):
    """One run that is to be compared: a system with its settings, None for those of the project or the defaults.

    `traces` are those of all generations where they are known already; then nothing is run. `slot` is where its runs
    are kept (see `studio.replay.run_store`); "" is that of the runs that the window shows. `tokenizer` says how tokens
    are counted, None for as the project does.
    """

    unprinted = ("traces",)

    label: str
    system: str
    settings: Section | None = None
    settings_path: Path | None = None
    traces: TraceBook | None = None
    slot: str = ""
    tokenizer: str | None = None
    notes: tuple[NoteText, ...] = ()
    """Texts of notes that are tried out, in place of those of the project."""
    rules: str = ""
    """The rules that its settings name, where they are all that sets it apart from another candidate."""


def candidate(text: str, option: str = "--run") -> Candidate:
    """A candidate as the command line gives it: `SYSTEM` or `SYSTEM:FILE`, FILE with the system's settings.

    `option` is the one that names it. Raises InputError and SettingsError.
    """
    name, _, file = text.partition(":")
    path = Path(file).expanduser() if file else None
    kind = kind_of(name, option)
    return Candidate(text, kind.name, None if kind.in_project else kind.read(path), path)


async def run_candidate(
    project: Project,
    chosen: Candidate,
    answers: AnswerSource | None = None,
    on_progress: OnProgress = None,
    cancel: CancelToken | None = None,
    store: ComparisonStore | None = None,
) -> TraceBook:
    """The traces of a candidate over the project's whole chat. Raises Cancelled, InputError and VaultError."""
    if chosen.traces is not None:
        return chosen.traces
    # Other settings may read the vaults again, which waits for the disk and has a loop of its own.
    simulator = await asyncio.to_thread(simulator_of, project, chosen, answers)
    if store is not None:
        store.restore(simulator, chosen)
    try:
        await simulator.run_missing(on_progress, cancel)
    finally:
        if store is not None:
            store.keep(simulator, chosen)
    return TraceBook(simulator.traces)


def simulator_of(project: Project, chosen: Candidate, answers: AnswerSource | None = None) -> Simulator:
    """Who runs the project's chat as a candidate says. Raises InputError, SettingsError, VaultError and
    TokenizerError.
    """
    project, kind, settings = settled(project, chosen)
    return Simulator(project, system_of(project.scene(answers), kind, settings).with_made_vectors())


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
    project = project.read_for(kind) if settings is None else project.with_settings_of(kind, settings)
    if chosen.notes:
        project = project.with_texts(chosen.notes)
    return project, kind, settings


async def compare_candidates(
    project: Project,
    chosen: Sequence[Candidate],
    answers: AnswerSource | None = None,
    on_progress: OnProgress = None,
    cancel: CancelToken | None = None,
    on_candidate: Callable[[Candidate], None] | None = None,
    store: ComparisonStore | None = None,
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
        contenders.append(Contender(each.label, traces.values()))
    found = compare(contenders)
    if len(chosen) != FEWEST or not all(each.rules for each in chosen):
        return found
    first, second = chosen

    async def run(version: str) -> Iterable[Trace]:
        tried = replace(by_rules(project, version), label=version)
        return (await run_candidate(project, tried, answers, on_progress, cancel)).values()

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


VERSION: Final = 1
COMPARED: Final = "compared"
"""Begins the slots of runs that were made for a comparison only: whoever answers in the window, there it is recorded
answers or the stand-in."""


class ComparisonStore(Closing):
    """Kept runs of comparisons in a folder, and for each chat what was compared last. Everything waits for the disk.

    Raises OSError where the folder cannot be used; a file that cannot be written is one of the `problems`, so that a
    full disk ends no comparison.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._runs = RunStore(folder)
        self._failed: dict[str, None] = {}

    @property
    def problems(self) -> list[str]:
        """Sentences about what could not be read or kept so far."""
        return [*self._runs.problems, *self._failed]

    def restore(self, simulator: Simulator, candidate: Candidate) -> None:
        """Give the simulator what was run before on the same inputs, by a comparison or in the window."""
        best, most = "", 0
        with self._told():
            for slot in _slots(candidate):
                found = self._runs.restore(simulator, slot)
                if found == len(simulator.generations):
                    return
                best, most = (slot, found) if found > most else (best, most)
            self._runs.restore(simulator, best)

    def keep(self, simulator: Simulator, candidate: Candidate) -> None:
        """Keep what was run, where anything was."""
        if simulator.ran:
            with self._told():
                self._runs.keep(simulator, candidate.slot)

    def remember(self, project: Project, keys: Sequence[str]) -> None:
        """What was compared last with the project's chat, by keys that the caller understands."""
        document = {"version": VERSION, "compared": list(keys)}
        with self._told():
            write_atomically(_file(self._folder, project), json.dumps(document).encode())

    def last(
        self, project: Project, chosen: Sequence[Candidate], answers: AnswerSource | None = None
    ) -> tuple[Comparison | None, bool]:
        """The comparison of what is kept of these candidates, None where something of it is not kept at all, and
        whether something that it was made from has changed since. Nothing is run.
        """
        contenders, stale = [], False
        for each in chosen:
            if each.traces is not None:
                contenders.append(Contender(each.label, each.traces.values()))
                continue
            try:
                simulator = simulator_of(project, each, answers)
            except (InputError, SettingsError, VaultError):  # whoever compares anew is told
                return None, False
            traces, current = self._kept(simulator, each)
            if len(traces) != len(simulator.generations):
                return None, False
            stale |= not current
            contenders.append(Contender(each.label, traces))
        if len(contenders) < FEWEST:
            return None, False
        return compare(contenders), stale

    def _kept(self, simulator: Simulator, candidate: Candidate) -> tuple[tuple[Trace, ...], bool]:
        """The kept runs that would come out the same now, else those that were kept last."""
        total = len(simulator.generations)
        found = [self._runs.last(simulator, slot) for slot in _slots(candidate)]
        for runs in found:
            if runs.current == total:
                return runs.traces, True
        return next((runs.traces for runs in reversed(found) if len(runs.traces) == total), ()), False

    @contextmanager
    def _told(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            self._failed[f"The runs that were compared could not be kept for the next start: {error}"] = None

    def close(self) -> None:
        """Close the store."""
        self._runs.close()


def compared_last(folder: Path, project: Project) -> tuple[str, ...]:
    """The keys of what was compared last with the project's chat; none where nothing was, or nobody can tell."""
    with suppress(OSError, ValueError, TypeError, KeyError, RecursionError):
        document = json.loads(read_whole(_file(folder, project)))
        if document["version"] == VERSION:
            return tuple(key for key in document["compared"] if isinstance(key, str))
    return ()


def in_slot(candidate: Candidate, key: str) -> Candidate:
    """The candidate, kept under this key; one with the settings that a system has in the window is kept as its runs."""
    own = not in_project(candidate.system) and key == candidate.system
    return replace(candidate, slot="" if own else f"{COMPARED}:{key}")


def _slots(candidate: Candidate) -> tuple[str, ...]:
    """Where to look for a candidate's runs; they are kept in the last of them."""
    return tuple(dict.fromkeys(("", candidate.slot)))


def _file(folder: Path, project: Project) -> Path:
    return folder / f"{chat_id(project)}.compared.json"
