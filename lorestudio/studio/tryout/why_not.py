"""Why an entry did not go in, and the single changes that bring it in: each is found by really running the system.

For an entry that went in it is the other way round: what keeps it out. A change is tried on the one reply first; one
that works there is confirmed by replaying the chat up to that reply with the change, as applying it would. The two can
differ, for instance because an entry that comes in earlier is cooling down by then. Of ordered steps the least that is
enough is found by trying as few of them as possible. Nothing is written and no provider is asked.

Sentences about what was found are the same in the window and on the command line.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Final, TypeAlias, TypeVar

from msgspec import Struct

from lorestudio.domain.chat import Generation
from lorestudio.domain.entry import Entry, LeftOutNote, NoteKey
from lorestudio.domain.lifecycle import CancelToken
from lorestudio.domain.records import Terse, grouped, replace
from lorestudio.exchange.problems import InputError
from lorestudio.llm.recorded_answers import RecordedAnswers
from lorestudio.settings.files import SettingsError
from lorestudio.studio.notes.book_entries import is_book_entry
from lorestudio.studio.notes.vault_notes import aliases_of
from lorestudio.studio.project.project import Project
from lorestudio.studio.replay.rerun import Rerun
from lorestudio.studio.replay.runs import TraceBook
from lorestudio.studio.replay.simulator import Simulator, knowing_all
from lorestudio.studio.tryout.project_changes import ProjectChanges
from lorestudio.systems.base import StopBetweenStages
from lorestudio.systems.ideas import Change, Option, RunPart, Situation, key_ideas, left_out_options
from lorestudio.trace.diff import EntryChange, TraceDiff, compare
from lorestudio.trace.journey import Fate, FateState, Journeys
from lorestudio.trace.model import Trace
from lorestudio.trace.wording import joined, plural, quoted, signed_words
from lorestudio.vault.files import VaultError


class Holds(StrEnum):
    """Where a change was seen to work."""

    UNCHECKED = "unchecked"
    """In this reply; the replay with it has not been run yet."""
    BOTH = "both"
    """In this reply, and after a replay of the chat with it."""
    REPLY_ONLY = "reply_only"
    """In this reply as the chat stands; after a replay with it the entry is stopped again."""
    REPLAY_ONLY = "replay_only"
    """Only after a replay: it works through what happened earlier in the chat."""

    @property
    def applies(self) -> bool:
        """Whether applying the change brings the entry in."""
        return self in {Holds.BOTH, Holds.REPLAY_ONLY}


_TRUST: Final = {Holds.BOTH: 0, Holds.REPLAY_ONLY: 0, Holds.UNCHECKED: 1, Holds.REPLY_ONLY: 2}
EARLIER_WEIGHT: Final = 4


class Answer(Terse, frozen=True):
    """A change that brings the entry in.

    `diff` is what it does to this reply, after the replay where that was run. `earlier` counts the replies before it
    whose injections are others then, of `replies` before it; None until that is known.
    """

    unprinted = ("diff",)

    change: Change
    holds: Holds
    diff: TraceDiff
    target: NoteKey
    earlier: int | None = None
    replies: int = 0
    stopped: str = ""
    """What stops the entry after the replay, in a sentence, where the change does not hold there."""

    @property
    def others(self) -> int:
        """How many other entries of this reply enter, leave, move or change their size."""
        diff = self.diff
        return sum(
            change.key != self.target
            for changes in (diff.entered, diff.left, diff.moved, diff.resized)
            for change in changes
        )

    @property
    def rank(self) -> tuple[int, int, float, int]:
        """How well it keeps, then how much else it moves: the smaller, the better.

        What follows the chat comes before what holds whatever is said, and that in the note, for every chat, before
        that in this chat alone. What loses its place counts twice; a change of all earlier replies counts as much as
        four moved entries.
        """
        lost = sum(change.key != self.target for change in self.diff.left)
        share = (self.earlier or 0) / self.replies if self.replies else 0
        tokens = abs(self.diff.tokens[1] - self.diff.tokens[0])
        change = self.change
        forced = 0 if not change.forced else 2 if change.part is RunPart.CHAT else 1
        return _TRUST[self.holds], forced, lost + self.others + EARLIER_WEIGHT * share, tokens


class Further(Struct, frozen=True):
    """A change that lifts the obstacle and is not enough: another stage stops the entry then."""

    change: Change
    fate: Fate
    sentence: str


class WhyNot(Terse, frozen=True):
    """Everything that was found; while the search goes on it is what is known so far.

    `fate` is how the run ended for the entry, None for a note that is no entry. `answers` are the changes that work,
    those that move least first; `keeps_out` says that the entry went in, and that they keep it out. `unasked` counts
    changes that only a model could judge; `untouched` says that the entry itself could not be tried with another text.
    """

    unprinted = ("trace",)

    target: NoteKey
    title: str
    trace: Trace
    fate: Fate | None
    keeps_out: bool = False
    untouched: bool = False
    answers: tuple[Answer, ...] = ()
    further: tuple[Further, ...] = ()
    unasked: int = 0
    tried: int = 0
    complete: bool = False


class WhyNotNews(Terse, frozen=True):
    """How far the search is: `done` of `total` changes, what is being tried, and what was found so far."""

    unprinted = ("found",)

    done: int
    total: int
    trying: str
    found: WhyNot


def ranked(answers: Sequence[Answer]) -> tuple[Answer, ...]:
    """Those that move least first; of equals the one that was tried first."""
    return tuple(sorted(answers, key=lambda answer: answer.rank))


PARTS: Final[Mapping[RunPart, str]] = {
    RunPart.NOTE: "in the note",
    RunPart.CHAT: "for this chat",
    RunPart.SETTINGS: "in the settings",
}
HOLDS: Final[Mapping[Holds, str]] = {
    Holds.UNCHECKED: "Works in this reply; the replay with it has not been run yet.",
    Holds.BOTH: "",
    Holds.REPLY_ONLY: "Works in this reply alone, and no longer when the whole chat is replayed with it.",
    Holds.REPLAY_ONLY: "Works through what happened earlier in the chat, so all of it is replayed.",
}
_MOST_TITLES: Final = 3


def place_of(change: Change) -> str:
    """Where a change is made, in words."""
    if change.note is not None and is_book_entry(Path(change.note.filename)):
        return "in the lorebook"
    return PARTS[change.part]


def moves(answer: Answer) -> str:
    """What else the change does to this reply, and how many earlier replies it changes."""
    diff, target = answer.diff, answer.target
    shorter = [change for change in diff.resized if change.growth < 0]
    parts = [
        f"{joined(list(_shown(others)))} {plural(len(others), verb)}"
        for changes, verb in (
            (diff.left, "leaves|leave"),
            (diff.entered, "comes in too|come in too"),
            (shorter, "has less room|have less room"),
            ([change for change in diff.resized if change not in shorter], "has more room|have more room"),
        )
        if (others := [change for change in changes if change.key != target])
    ]
    sentence = "; ".join(parts) or "Nothing else moves"
    own = next((change.after for change in diff.entered if change.key == target), None)
    whole = own.original_tokens if own is not None and own.truncated else None
    if own is not None and whole is not None:
        sentence += f"; {quoted(own.title)} itself goes in shortened, {own.tokens:,} of {whole:,} tokens"
    return f"{sentence[:1].upper()}{sentence[1:]}; {_tokens(diff.tokens)}{_earlier(answer)}."


def standing(answer: Answer) -> str:
    """Where the change was seen to work, "" where there is nothing to add."""
    return " ".join(part for part in (HOLDS[answer.holds], answer.stopped) if part)


def further_groups(further: Sequence[Further]) -> tuple[tuple[str, tuple[Change, ...]], ...]:
    """What stops the entry then, and the changes that lead there."""
    groups = grouped((each.sentence, each.change) for each in further)
    return tuple((sentence, tuple(changes)) for sentence, changes in groups.items())


def conclusion(found: WhyNot) -> str:
    """How the search ended, in a sentence."""
    working = [answer for answer in found.answers if answer.holds.applies]
    once = sum(answer.holds is Holds.REPLY_ONLY for answer in found.answers)
    runs = plural(found.tried, "# run|# runs")
    name = quoted(found.title)
    do, done = ("keep", "kept") if found.keeps_out else ("bring", "brought")
    way = "out" if found.keeps_out else "in"
    if working:
        told = f"{plural(len(working), f'# change {do}s|# changes {do}')} {name} {way}, by {runs} of the engine."
        return f"{told} {plural(once, '# more works|# more work')} in this reply alone." if once else told
    if found.answers and not found.complete:
        return f"{plural(len(found.answers), '# change works|# changes work')} in this reply so far."
    if not found.complete:
        return f"No change has {done} {name} {way} so far."
    if once:
        does = plural(once, "# change does|# changes do")
        return f"Over the whole chat no change {do}s {name} {way}; {does} in this reply alone, by {runs} of the engine."
    more = ""
    if found.further:
        more = " Those below lift the first obstacle, but then another one stops it."
    elif not found.answers and found.fate is not None and not found.keeps_out:
        words = found.fate.explain(found.trace)
        if not found.tried:
            return f"{words.sentence} {words.fix}".rstrip()
        more = f" {words.fix}".rstrip()  # why it is out stands above
    if found.unasked:
        more += f" {plural(found.unasked, '# change was|# changes were')} left out: only the model could say."
    if found.untouched:
        more += " Nothing was tried in the entry itself."
    return f"No change that was tried {do}s {name} {way}, by {runs} of the engine.{more}"


def _shown(changes: Sequence[EntryChange]) -> Iterator[str]:
    for change in changes[:_MOST_TITLES]:
        yield quoted(change.title)
    if len(changes) > _MOST_TITLES:
        yield f"{len(changes) - _MOST_TITLES:,} more"


def _tokens(tokens: tuple[int, int]) -> str:
    difference = tokens[1] - tokens[0]
    if not difference:
        return "as many tokens"
    return f"{signed_words(difference)} {'token' if abs(difference) == 1 else 'tokens'}"


def _earlier(answer: Answer) -> str:
    if answer.earlier is None or not answer.replies:
        return ""
    if not answer.earlier:
        return "; no earlier reply changes"
    if answer.earlier < answer.replies:
        changes = "changes" if answer.earlier == 1 else "change"
        return f"; {answer.earlier:,} of {answer.replies:,} earlier replies {changes}"
    every = {1: "the only earlier reply changes", 2: "both earlier replies change"}
    return f"; {every.get(answer.replies, f'all {answer.replies:,} earlier replies change')}"


class WhatIf(Terse, frozen=True):
    """A run with a change. `unanswered`: a question that the change made a new one had no answer.

    `earlier` counts the replies before it that got other lore, None where they were not run.
    """

    unprinted = ("trace",)

    change: Change
    trace: Trace
    unanswered: bool
    earlier: int | None = None


class WhatIfRuns:
    """Makes such runs for one generation.

    It takes what it needs from the simulator when it is made, at once, and may then be used in another thread.
    `recorded` are answers of a model that were read already. Raises ValueError for a generation that was not run.
    """

    def __init__(self, simulator: Simulator, generation: Generation, recorded: RecordedAnswers | None = None) -> None:
        self.rerun = Rerun.of(simulator, generation, recorded)
        self.changes = ProjectChanges(simulator.project)
        # Thousands of traces may be packed; each is looked at when its turn comes.
        earlier = simulator.generations[: simulator.place(generation)]
        self._before = TraceBook(simulator.traces).part(earlier)
        self._failed = any(call.error for call in self.rerun.before.ai_calls)

    @property
    def replies(self) -> int:
        """How many generations of the chat come before this one."""
        return len(self._before)

    def alone(self, change: Change, stop: StopBetweenStages) -> WhatIf:
        """This one reply with the change, from the state that the real chat left.

        Raises what `ProjectChanges.made` raises, and Cancelled.
        """
        rerun = self._with(change)
        ran = rerun.named(f"what if: {change.title}").run(stop)
        return WhatIf(change, ran.trace, self._lacks(ran.lacks))

    def replayed(self, change: Change, stop: StopBetweenStages) -> WhatIf:
        """This reply after a replay of the chat with the change, as applying it would run it.

        Raises what `ProjectChanges.made` raises, and Cancelled.
        """
        rerun = self._with(change)
        offline = rerun.offline()
        simulator = Simulator(rerun.project, offline.system, stop)
        earlier = 0
        for generation, before in self._before.items():
            stop.look()
            offline.turn_to(partial(self._before.__getitem__, generation))
            earlier += _lore(asyncio.run(simulator.generate(generation))) != _lore(before)
        offline.turn_to(lambda: rerun.before)
        trace = asyncio.run(simulator.generate(rerun.generation))
        return WhatIf(change, trace, self._lacks(offline.lacks()), earlier)

    def _with(self, change: Change) -> Rerun:
        rerun = self.rerun
        project, settings = self.changes.made(change, rerun.system.kind, rerun.system.settings)
        made = rerun.with_project(project, settings)
        return made.at(controls=change.chosen_in(made.moment.controls))

    def _lacks(self, lacks: Sequence[str]) -> bool:
        """Whether something was asked that has no answer here, though the real run had one."""
        return bool(lacks) and not self._failed


def _lore(trace: Trace) -> Sequence[tuple[str, str, int, str]]:
    """What went in, as far as two vaults can be compared."""
    refs = trace.entries
    return [(refs[each.entry].vault, refs[each.entry].filename, each.tokens, each.tag) for each in trace.injections]


ENOUGH: Final = 3
"""Changes of one group, such as keys, that are looked for: such as work, or at least lift the obstacle."""


_LOOKED_AT: Final = 4
"""So many of the newest messages are looked through for keys."""

MOST_REPLIES: Final = 200
"""Behind more replies than these, a change that is looked for in passing is not tried on the whole chat."""

Report: TypeAlias = Callable[[WhyNotNews], object]
_Once: TypeAlias = Callable[[Change, StopBetweenStages], WhatIf]
Step = TypeVar("Step")
Result = TypeVar("Result")


class WhyNotFinder:
    """Searches for one generation of a simulator.

    It takes what it needs from the simulator when it is made, at once, and may then be used in another thread.
    `recorded` are answers of a model that were read already. Raises ValueError for a generation that was not run.
    """

    def __init__(self, simulator: Simulator, generation: Generation, recorded: RecordedAnswers | None = None) -> None:
        self._runs = WhatIfRuns(simulator, generation, recorded)

    def find(
        self, target: NoteKey, report: Report | None = None, cancel: CancelToken | None = None, *, first: bool = False
    ) -> WhyNot:
        """What brings the entry with that vault and file name in, or out where it went in; for a worker thread.

        With `first` it is enough to know of the best change that it holds, and what takes long is not tried. Entries
        are notes, and whatever the run spoke of besides: memories, recaps, entries of a lorebook file. Raises
        Cancelled after a request to stop, and InputError where there is no such entry.
        """
        cancel = cancel or CancelToken()
        found, options = self._begun(target)
        if found.fate is not None and found.fate.reason in found.trace.words.takes_no_part:
            return replace(found, complete=True)
        search = _ReasonSearch(self._runs, found, options, report, cancel)
        return search.first() if first else search.run()

    def _begun(self, target: NoteKey) -> tuple[WhyNot, tuple[Option, ...]]:
        """What is known before anything was tried, and what to try."""
        runs, rerun = self._runs, self._runs.rerun
        trace, project = knowing_all(rerun.before, rerun.system, rerun.moment), rerun.project
        number = numbered(trace, target)
        note = project.index.note(target)
        journeys = Journeys(trace)
        if isinstance(note, LeftOutNote):
            found = WhyNot(target, note.name, rerun.before, None)
            reading, looks = project.settings, journeys.fate(0).reason not in trace.words.takes_no_part
            return found, left_out_options(note, reading.lorebook_tag, reading.never_insert_tag) if looks else ()
        if number < 0:
            if note is None:
                raise InputError(target[1], "there is no such note in the vault, and no such entry in this run.")
            number = note.id
        end = journeys.fate(number)
        title = trace.entries[number].title if note is None else note.title
        keeps_out = end.state.went_in
        scans = not project.of_books or rerun.system.kind.books is not None
        editable = note is not None and scans and runs.changes.can_edit(*target)
        found = WhyNot(target, title, rerun.before, end, keeps_out, not editable)
        aliases = aliases_of(runs.changes.text(*target), note.title) if editable and note is not None else ()
        situation = Situation(
            settings=rerun.system.settings,
            trace=trace,
            fate=end,
            note=note,
            controls=project.controls,
            words=_words(project, rerun.generation, note, aliases) if note is not None else (),
            aliases=aliases,
            editable=editable,
            keeps_out=keeps_out,
        )
        return found, rerun.system.options(situation, rerun.moment, rerun.state)


def numbered(trace: Trace, key: NoteKey) -> int:
    """The number of an entry in a trace, -1 where no stage spoke of it."""
    return next((ref.id for ref in trace.entries.values() if ref.note_key == key), -1)


def _words(project: Project, generation: Generation, note: Entry, aliases: Sequence[str]) -> tuple[str, ...]:
    """What the newest messages before a reply have that could be keys of the note."""
    messages = project.chat.messages[: generation.message] if project.chat is not None else ()
    hidden = project.history.sight(generation).hidden
    seen = (message for place, message in enumerate(messages) if place not in hidden)
    visible = [message.text for message in seen if not message.is_system or message.was_hidden][-_LOOKED_AT:]
    return key_ideas(note, "\n".join(visible), messages, note.keys, aliases, project.index.entries)


def _loop(end: Fate) -> str:
    """The stage that decided, whichever round of it: “keys (recursion 2)” is “keys” once more."""
    return end.stage.partition(" (")[0]


def _place(trace: Trace, end: Fate) -> int:
    """The place of the stage that decided, -1 where none did."""
    return next((place for place, record in enumerate(trace.stages) if record.name == end.stage), -1)


def smallest(steps: Sequence[Step], attempt: Callable[[Step], Result | None]) -> tuple[int, Result] | None:
    """The place of a step that works, with what came of it; the step before it, if there is one, does not work.

    `attempt` gives None for a step that is not enough. Strides double until one works, then the gap is halved, so for
    n steps it is asked about 2 log n times. Where more is not always better there may be a smaller one that works too.
    None where nothing that was tried works; the first and the last step always are.
    """
    failed, stride = -1, 1
    while failed < len(steps) - 1:
        place = min(failed + stride, len(steps) - 1)
        result = attempt(steps[place])
        if result is not None:
            return _halve(steps, attempt, failed, place, result)
        failed, stride = place, 2 * stride
    return None


def _halve(
    steps: Sequence[Step], attempt: Callable[[Step], Result | None], failed: int, works: int, result: Result
) -> tuple[int, Result]:
    while works - failed > 1:
        middle = (failed + works) // 2
        tried = attempt(steps[middle])
        if tried is None:
            failed = middle
        else:
            works, result = middle, tried
    return works, result


class _ReasonSearch:
    """One search: what was tried and found so far. `found` is what is known before anything was tried."""

    def __init__(
        self, runs: WhatIfRuns, found: WhyNot, options: Sequence[Option], report: Report | None, cancel: CancelToken
    ) -> None:
        self._runs, self._found, self._options = runs, found, options
        self._target = found.target
        self._report = report or (lambda _news: None)
        self._stop = StopBetweenStages(cancel)
        self._answers: list[Answer] = []
        self._further: list[Further] = []
        self._unasked = self._tried = self._done = 0
        self._total = len(options)

    def run(self) -> WhyNot:
        """Try everything, then confirm what works, beginning with what moves least."""
        self._try_all(self._options)
        unchecked = ranked([answer for answer in self._answers if answer.holds is Holds.UNCHECKED])
        self._total += len(unchecked)
        for answer in unchecked:
            self._confirm(answer)
        return self._so_far(complete=True)

    def first(self) -> WhyNot:
        """Try everything, and confirm no more than is needed to name the best change; nothing where that takes long."""
        short = self._runs.replies <= MOST_REPLIES
        self._try_all([option for option in self._options if short or not option.through_history])
        for answer in ranked(self._answers) if short else ():
            if answer.holds is Holds.UNCHECKED:
                self._confirm(answer)
            if ranked(self._answers)[0].holds.applies:
                break
        return self._so_far()

    # ---- trying -----------------------------------------------------------------------------------------------------

    def _try_all(self, options: Iterable[Option]) -> None:
        groups: defaultdict[str, int] = defaultdict(int)
        for option in options:
            self._say(option.steps[0].title)
            if not option.group:
                self._try(option)
            elif groups[option.group] < ENOUGH:
                got_further = len(self._further)
                groups[option.group] += self._try(option) or len(self._further) > got_further
            self._done += 1

    def _confirm(self, answer: Answer) -> None:
        self._say(answer.change.title)
        self._answers[self._answers.index(answer)] = self._confirmed(answer)
        self._done += 1

    def _try(self, option: Option) -> bool:
        """Look for the least step that works; whether there is one."""
        once = self._runs.replayed if option.through_history else self._runs.alone
        failures: list[WhatIf] = []
        shortened: list[WhatIf] = []

        def attempt(change: Change) -> WhatIf | None:
            ran = self._ran(once, change)
            if ran is None:
                return None
            if not self._works(ran):
                failures.append(ran)
                return None
            if self._fate(ran).state is FateState.TRUNCATED:
                shortened.append(ran)  # better than nothing, but more of it may let the entry in whole
                return None
            return ran

        found = smallest(option.steps, attempt)
        best = found[1] if found is not None else shortened[-1] if shortened else None
        if best is not None:
            self._answers.append(self._answer(best))
        elif failures:
            self._note_failure(option, once, failures[-1])
        return best is not None

    def _ran(self, once: _Once, change: Change) -> WhatIf | None:
        self._tried += 1
        self._stop.look()
        try:
            return once(change, self._stop)
        except (InputError, SettingsError, VaultError, ValueError):
            return None  # front matter or other settings do not allow it; there are other ways

    def _fate(self, ran: WhatIf) -> Fate:
        return Journeys(ran.trace).fate(numbered(ran.trace, self._target))

    def _works(self, ran: WhatIf) -> bool:
        return not ran.unanswered and self._fate(ran).state.went_in is not self._found.keeps_out

    # ---- what came of it --------------------------------------------------------------------------------------------

    def _answer(self, ran: WhatIf) -> Answer:
        diff = compare(self._found.trace, ran.trace)
        if ran.earlier is None:
            return Answer(ran.change, Holds.UNCHECKED, diff, self._target)
        alone = self._ran(self._runs.alone, ran.change)
        holds = Holds.BOTH if alone is not None and self._works(alone) else Holds.REPLAY_ONLY
        return Answer(ran.change, holds, diff, self._target, ran.earlier, self._runs.replies)

    def _confirmed(self, answer: Answer) -> Answer:
        ran = self._ran(self._runs.replayed, answer.change)
        if ran is None:
            return answer
        known = replace(answer, earlier=ran.earlier, replies=self._runs.replies)
        if self._works(ran):
            return replace(known, holds=Holds.BOTH, diff=compare(self._found.trace, ran.trace))
        end = self._fate(ran)
        return replace(known, holds=Holds.REPLY_ONLY, stopped=end.explain(ran.trace).sentence)

    def _note_failure(self, option: Option, once: _Once, ran: WhatIf) -> None:
        """The most of it is not enough; the least that at least lifts the obstacle is a first step."""
        if ran.unanswered:
            self._unasked += 1
        elif self._lifts(option, ran) and not self._found.keeps_out:
            found = smallest(option.steps, lambda change: self._lifting(option, once, change))
            best = ran if found is None else found[1]
            end = self._fate(best)
            self._further.append(Further(best.change, end, end.explain(best.trace).sentence))

    def _lifting(self, option: Option, once: _Once, change: Change) -> WhatIf | None:
        ran = self._ran(once, change)
        return ran if ran is not None and not ran.unanswered and self._lifts(option, ran) else None

    def _lifts(self, option: Option, ran: WhatIf) -> bool:
        """Whether the entry comes further now: to a later stage, or to what else the same one has against it."""
        end, before, words = self._fate(ran), self._found.fate, ran.trace.words
        if before is None:
            return True
        gone = not words.of_notes and numbered(ran.trace, self._target) < 0  # other memories are looked at then
        if gone or end.reason in words.takes_no_part:
            return False
        if _loop(end) == _loop(before):
            return end.reason != before.reason and not option.probing
        return _place(ran.trace, end) > _place(self._found.trace, before)

    # ---- what is known ----------------------------------------------------------------------------------------------

    def _so_far(self, *, complete: bool = False) -> WhyNot:
        return replace(
            self._found,
            answers=ranked(self._answers),
            further=tuple(self._further),
            unasked=self._unasked,
            tried=self._tried,
            complete=complete,
        )

    def _say(self, trying: str) -> None:
        self._stop.look()
        self._report(WhyNotNews(self._done, self._total, trying, self._so_far()))
