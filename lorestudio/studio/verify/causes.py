"""Why records and runs differ: every suspect is tried alone, and ranked by how many replies it explains.

A cause explains a reply where the run with it comes out exactly as recorded. Of those replies that agree already, some
are run with it too: a cause that breaks them is none. What only something explains that no file keeps may be.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from typing import Final

from msgspec import Struct

from lorestudio.domain.chat import Generation
from lorestudio.domain.lifecycle import CancelToken, OnProgress, Progress, heed
from lorestudio.domain.records import replace
from lorestudio.settings.studio import FOLLOWED
from lorestudio.studio.project.project import Project
from lorestudio.studio.replay.rerun import Rerun
from lorestudio.studio.replay.simulator import Simulator
from lorestudio.studio.verify.agreement import COUNTED, Agreement, ComparedReply, compared, tokens_alike
from lorestudio.studio.verify.recorded import recorded_replies
from lorestudio.studio.verify.suspects import SCREENED, Course, Suspect, SuspectKind, spread, suspects
from lorestudio.systems.base import System
from lorestudio.trace.wording import plural

CHECKED: Final = 8
"""So many of the replies that agree are run with a cause, to see whether it breaks them."""
CLOSEST: Final = 6
"""Of suspects that explain nothing alone so many are tried two by two."""
MOST_DESCENDED: Final = 12
"""For so many replies that nothing explains it is looked for together."""
MOST_TOGETHER: Final = 4
"""So many things that no file keeps are taken together at most."""


class Cause(Struct, frozen=True):
    """Something that was otherwise, and what it explains.

    `explains` are the replies that come out as recorded with it; `broken` how many of `checked` ones that agree would
    not agree any more; `closer` those that it brings nearer only.
    """

    suspect: Suspect
    explains: tuple[Generation, ...] = ()
    closer: tuple[Generation, ...] = ()
    broken: int = 0
    checked: int = 0
    besides: tuple[Suspect, ...] = ()

    @property
    def title(self) -> str:
        """The cause in a sentence; of several that act together all."""
        return " ".join(each.title for each in (self.suspect, *self.besides))

    @property
    def kind(self) -> SuspectKind:
        """What sort of cause it is."""
        return self.suspect.kind

    @property
    def unknowable(self) -> bool:
        """Whether no file keeps it, so that it may only be."""
        return all(each.unknowable for each in (self.suspect, *self.besides))

    @property
    def can_be_taken_over(self) -> bool:
        """Whether it is a setting, or since when a message is hidden."""
        return not self.besides and bool(self.suspect.settings or self.suspect.hidden)

    @property
    def gain(self) -> int:
        """How many more replies agree with it."""
        return len(self.explains) - self.broken


class Verified(Struct, frozen=True):
    """A chat's records held against its runs. `replies` are all generations but the one to come, in order."""

    replies: tuple[ComparedReply, ...]
    causes: tuple[Cause, ...] = ()
    remarks: tuple[str, ...] = ()

    def count(self, *verdicts: Agreement) -> int:
        """How many replies have one of these verdicts."""
        return sum(each.verdict in verdicts for each in self.replies)

    @property
    def judged(self) -> int:
        """How many replies have a record that can be trusted."""
        return self.count(*COUNTED)

    @property
    def percent(self) -> float | None:
        """The share of judged replies that do not contradict the run, 0 to 100; None where none could be judged."""
        return 100 * (self.judged - self.count(Agreement.DIFFERS)) / self.judged if self.judged else None

    @property
    def sentence(self) -> str:
        """What came of it, in a sentence or two."""
        if self.percent is None:
            return "No reply could be judged: the chat recorded nothing that can be trusted."
        agreeing, may_be = self.count(Agreement.AGREES), self.count(Agreement.MAY_BE)
        perhaps = f", {may_be} may be, by what no file keeps" if may_be else ""
        told = f"{agreeing} of {plural(self.judged, '# reply agrees|# replies agree')}{perhaps}: {self.percent:.1f} %."
        best = next((each for each in self.causes if each.explains and not each.unknowable), None)
        if best is None or not self.count(Agreement.DIFFERS):
            return told
        return f"{told} With this, {agreeing + may_be + best.gain} would: {best.title}"

    def of(self, generation: Generation) -> ComparedReply | None:
        """The comparison of one reply, None where there is none."""
        return next((each for each in self.replies if each.generation == generation), None)


def following(project: Project) -> Project:
    """The project, its replay beginning from what was recorded."""
    settings = project.basis.settings.model_copy(update={"records": FOLLOWED})
    return replace(project, basis=replace(project.basis, settings=settings))


def verify(
    project: Project, system: System | None = None, on_progress: OnProgress = None, cancel: CancelToken | None = None
) -> Verified:
    """Run the chat, each reply from what was recorded of those before it, and explain what differs.

    For a worker thread. Asks no provider: a model's choice is taken from the record. Raises Cancelled.
    """
    simulator = Simulator(following(project), system)
    asyncio.run(simulator.run_missing(on_progress, cancel, len(simulator.generations) - 1))
    return explained(simulator, on_progress, cancel)


def explained(simulator: Simulator, on_progress: OnProgress = None, cancel: CancelToken | None = None) -> Verified:
    """What differs in a replay that followed the records, and why. For a worker. Raises Cancelled."""
    return _Search(simulator, on_progress, cancel).verified()


class _Search:
    def __init__(self, simulator: Simulator, on_progress: OnProgress, cancel: CancelToken | None) -> None:
        self._simulator, self._report, self._cancel = simulator, on_progress, cancel
        self._records = recorded_replies(simulator.project, simulator.system.kind)
        self._tokens = tokens_alike(self._records, simulator.traces)
        self._replies = {
            each: compared(self._records.get(each), simulator.traces[each], tokens=self._tokens)
            for each in simulator.generations[:-1]
        }
        self._differing = [each for each in self._replies.values() if each.verdict is Agreement.DIFFERS]
        self._agreeing = [each.generation for each in self._replies.values() if each.verdict is Agreement.AGREES]
        self._runs: dict[Generation, Rerun] = {}
        self._done = self._total = 0

    def verified(self) -> Verified:
        causes = self._causes()
        nearest = sorted(causes, key=lambda cause: len(cause.besides))  # a reply is told no more than it needs
        may_be = {each: cause.title for cause in reversed(causes) if cause.unknowable for each in cause.explains}
        replies = []
        for reply in self._replies.values():
            told = may_be.get(reply.generation)
            if told is not None:
                reply = replace(reply, verdict=Agreement.MAY_BE, because=(f"{told} No file keeps that.",))  # noqa: PLW2901  # the next step goes by it
            elif reply.verdict is Agreement.DIFFERS:
                why = next((each.title for each in nearest if reply.generation in each.explains), None)
                repeated = reply.record.repeated if reply.record is not None else ""
                if why is None and repeated:  # a reply that was written anew leaves the slot of its first try
                    because = f"{repeated} It may have been carried over, which no file says for sure."
                    reply = replace(reply, verdict=Agreement.MAY_BE, because=(because,))  # noqa: PLW2901  # the next step goes by it
                else:
                    reply = replace(reply, because=() if why is None else (why,))  # noqa: PLW2901  # the next step goes by it
            replies.append(reply)
        remarks = () if self._tokens else (
            "Tokens were counted otherwise then, so they are not compared. Name the tokenizer of the story's model.",
        )  # fmt: skip
        return Verified(tuple(replies), causes, remarks)

    def _causes(self) -> tuple[Cause, ...]:
        course = Course(self._simulator, self._replies)
        every = suspects(self._simulator.project, self._simulator, self._differing, course)
        sample = spread(self._differing, SCREENED)
        self._total = len(every) * len(sample)
        found: list[Cause] = []
        closest: list[tuple[int, Suspect]] = []
        for each in every:
            left = [self._distance(each.carry, reply.generation) for reply in sample]
            gained = sum(
                reply.distance - now
                for reply, now in zip(sample, left, strict=True)
                if now is not None and now < reply.distance
            )
            if gained:
                closest.append((gained, each))
            if 0 in left or (each.proven and len(self._differing) > len(sample)):
                found.append(self._weighed(each))
            elif each.proven:
                found.append(Cause(each, closer=tuple(reply.generation for reply in sample if gained)))
        found += self._pairs(found, closest)
        found += self._descended(found, every)
        kept = [each for each in found if each.gain > 0 or each.suspect.proven]
        kinds = list(SuspectKind)
        order = sorted(
            kept, key=lambda each: (-each.gain, len(each.besides), not each.suspect.proven, kinds.index(each.kind))
        )
        return tuple(_without_repeats(order))

    def _weighed(self, *together: Suspect) -> Cause:
        carry = _all_of(together)
        explains, closer = [], []
        for reply in self._differing:
            left = self._distance(carry, reply.generation)
            if left == 0:
                explains.append(reply.generation)
            elif left is not None and left < reply.distance:
                closer.append(reply.generation)
        passing = all(each.unknowable or each.kind is SuspectKind.HIDDEN for each in together)
        sample = [] if passing else spread(self._agreeing, CHECKED)  # what passes need not have held for these
        broken = sum(bool(self._distance(carry, each)) for each in sample)
        return Cause(together[0], tuple(explains), tuple(closer), broken, len(sample), together[1:])

    def _pairs(self, found: Iterable[Cause], closest: Sequence[tuple[int, Suspect]]) -> list[Cause]:
        """Two by two, the suspects that bring nearest what no single one explains."""
        explained = {each for cause in found for each in cause.explains}
        left = [reply for reply in self._differing if reply.generation not in explained]
        best = [each for _gained, each in sorted(closest, key=lambda each: -each[0])]
        by_kind: dict[tuple[SuspectKind, str], Suspect] = {}
        for each in best:
            by_kind.setdefault((each.kind, each.subject or each.title), each)
        chosen = list(by_kind.values())[:CLOSEST]
        pairs = []
        for place, one in enumerate(chosen if left else ()):
            for other in chosen[place + 1 :]:
                carry = _all_of((one, other))
                if any(self._distance(carry, reply.generation) == 0 for reply in left[:SCREENED]):
                    pairs.append(self._weighed(one, other))
        return pairs

    def _descended(self, found: Iterable[Cause], every: Sequence[Suspect]) -> list[Cause]:
        """For replies that nothing explains: what no file keeps, one thing after the other while it brings nearer."""
        explained = {each for cause in found for each in cause.explains}
        perhaps = [each for each in every if each.unknowable]
        causes: list[Cause] = []
        for reply in [each for each in self._differing if each.generation not in explained][:MOST_DESCENDED]:
            if reply.generation in explained:
                continue
            chosen: tuple[Suspect, ...] = ()
            left = reply.distance
            while left and len(chosen) < MOST_TOGETHER:
                tried = ((self._distance(_all_of((*chosen, each)), reply.generation), each) for each in perhaps)
                nearer = [(now, each) for now, each in tried if now is not None and now < left]
                if not nearer:
                    break
                left, best = min(nearer, key=lambda each: each[0])
                chosen = (*chosen, best)
            if not left:
                causes.append(self._weighed(*chosen))
                explained |= set(causes[-1].explains)
        return causes

    def _distance(self, carry: Callable[[Rerun], Rerun | None], generation: Generation) -> int | None:
        """How far a reply is from its record with a cause; None where that does not concern it."""
        heed(self._cancel)
        self._done += 1
        if self._report is not None:
            self._report(Progress(min(self._done, self._total), self._total))
        if generation not in self._runs:
            self._runs[generation] = Rerun.of(self._simulator, generation)
        run = carry(self._runs[generation])
        if run is None:
            return None
        trace = run.run(self._cancel).trace
        return compared(self._records.get(generation), trace, tokens=self._tokens).distance


def _all_of(together: Sequence[Suspect]) -> Callable[[Rerun], Rerun | None]:
    """All that concerns a reply, one after the other; None where nothing of it does."""

    def carry(run: Rerun) -> Rerun | None:
        made: Rerun | None = None
        for each in together:
            made = each.carry(made or run) or made
        return made

    return carry


def _without_repeats(causes: Iterable[Cause]) -> Iterable[Cause]:
    """Of one setting or one note only the value that explains most, unless another explains other replies."""
    seen: dict[tuple[SuspectKind, str], set[Generation]] = {}
    for each in causes:
        subject = each.suspect.subject
        known = seen.setdefault((each.kind, subject), set())
        if not subject or each.suspect.proven or not set(each.explains) <= known:
            known |= set(each.explains)
            yield each
