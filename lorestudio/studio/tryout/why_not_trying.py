"""Trying the changes that may bring an entry in, or keep it out, and confirming those that work by a replay.

The least of ordered steps that is enough, found by trying as few of them as possible.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final, Protocol, TypeAlias, TypeVar

from lorestudio.domain.lifecycle import CancelToken
from lorestudio.exchange.problems import InputError
from lorestudio.settings.files import SettingsError
from lorestudio.studio.tryout.what_if_runs import Ran
from lorestudio.studio.tryout.why_not_answers import Answer, Further, Holds, WhyNot, WhyNotNews, ranked
from lorestudio.systems.changes import Change, Option
from lorestudio.systems.context import StopBetweenStages
from lorestudio.trace.diff import Key, compare
from lorestudio.trace.journey import Fate, FateState, Journeys
from lorestudio.trace.model import Trace
from lorestudio.vault.files import VaultError

Step = TypeVar("Step")
Result = TypeVar("Result")


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


ENOUGH: Final = 3
"""Changes of one group, such as keys, that are looked for: such as work, or at least lift the obstacle."""

WENT_IN: Final = frozenset({FateState.INJECTED, FateState.TRUNCATED})

Report: TypeAlias = Callable[[WhyNotNews], object]
_Once: TypeAlias = Callable[[Change, StopBetweenStages], Ran]


class TrialRuns(Protocol):
    """Runs of one generation with a single change, whatever the system."""

    @property
    def replies(self) -> int:
        """How many generations of the chat come before this one."""
        ...

    def alone(self, change: Change, stop: StopBetweenStages) -> Ran:
        """This one reply with the change, from the state that the real chat left."""
        ...

    def replayed(self, change: Change, stop: StopBetweenStages) -> Ran:
        """This reply after a replay of the chat with the change, as applying it would run it."""
        ...


def numbered(trace: Trace, key: Key) -> int:
    """The number of an entry in a trace, -1 where no stage spoke of it."""
    return next((ref.id for ref in trace.entries.values() if (ref.vault, ref.filename) == key), -1)


class Search:
    """One search: what was tried and found so far. `found` is what is known before anything was tried."""

    def __init__(
        self, runs: TrialRuns, found: WhyNot, options: Sequence[Option], report: Report | None, cancel: CancelToken
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
        groups: defaultdict[str, int] = defaultdict(int)
        for option in self._options:
            self._say(option.steps[0].title)
            if not option.group:
                self._try(option)
            elif groups[option.group] < ENOUGH:
                got_further = len(self._further)
                groups[option.group] += self._try(option) or len(self._further) > got_further
            self._done += 1
        unchecked = ranked([answer for answer in self._answers if answer.holds is Holds.UNCHECKED])
        self._total += len(unchecked)
        for answer in unchecked:
            self._say(answer.change.title)
            self._answers[self._answers.index(answer)] = self._confirmed(answer)
            self._done += 1
        return self._so_far(complete=True)

    # ---- trying -----------------------------------------------------------------------------------------------------

    def _try(self, option: Option) -> bool:
        """Look for the least step that works; whether there is one."""
        once = self._runs.replayed if option.through_history else self._runs.alone
        failures: list[Ran] = []
        shortened: list[Ran] = []

        def attempt(change: Change) -> Ran | None:
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

    def _ran(self, once: _Once, change: Change) -> Ran | None:
        self._tried += 1
        self._stop.look()
        try:
            return once(change, self._stop)
        except (InputError, SettingsError, VaultError, ValueError):
            return None  # front matter or other settings do not allow it; there are other ways

    def _fate(self, ran: Ran) -> Fate:
        return Journeys(ran.trace).fate(numbered(ran.trace, self._target))

    def _works(self, ran: Ran) -> bool:
        return not ran.unanswered and (self._fate(ran).state in WENT_IN) is not self._found.keeps_out

    # ---- what came of it --------------------------------------------------------------------------------------------

    def _answer(self, ran: Ran) -> Answer:
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

    def _note_failure(self, option: Option, once: _Once, ran: Ran) -> None:
        """The most of it is not enough; the least that at least lifts the obstacle is a first step."""
        if ran.unanswered:
            self._unasked += 1
        elif self._lifts(ran) and not self._found.keeps_out:
            found = smallest(option.steps, lambda change: self._lifting(once, change))
            best = ran if found is None else found[1]
            end = self._fate(best)
            self._further.append(Further(best.change, end, end.explain(best.trace).sentence))

    def _lifting(self, once: _Once, change: Change) -> Ran | None:
        ran = self._ran(once, change)
        return ran if ran is not None and not ran.unanswered and self._lifts(ran) else None

    def _lifts(self, ran: Ran) -> bool:
        """Whether something else stops the entry now."""
        end, before = self._fate(ran), self._found.fate
        return before is None or (end.stage, end.reason) != (before.stage, before.reason)

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
