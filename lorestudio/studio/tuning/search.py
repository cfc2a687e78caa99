"""Searching a space for settings that do what is expected and cost little, with held-out replies beside every score.

The points come from a grid, at random, or from Optuna, in whose journal everything is kept: after a kill a search goes
on where it was, and runs only those again that were under way.
"""

from __future__ import annotations

import json
import math
import time
import warnings
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from enum import StrEnum
from pathlib import Path
from typing import Any, Final

import numpy as np
from msgspec import Struct

from lorestudio.domain.chat import Chat, Generation
from lorestudio.domain.javascript import Json
from lorestudio.domain.lifecycle import Cancelled, CancelToken, OnProgress, Progress, heed
from lorestudio.domain.records import field_names
from lorestudio.exchange.problems import InputError
from lorestudio.settings.files import READ_AT_MOST, read_whole
from lorestudio.studio.tuning.scores import METRICS, Interval, Scores, TurnScore, blocks
from lorestudio.studio.tuning.scoring import pooled, value_words
from lorestudio.studio.tuning.space import Axis, NumberSpan, Point, Space
from lorestudio.studio.tuning.trials import ALONE, Crew, TuningTrial, Workers, needed
from lorestudio.vault.files import LOOK_THERE, reason_of


class SearchWay(StrEnum):
    """How the next point is chosen."""

    OPTUNA = "optuna"
    RANDOM = "random"
    GRID = "grid"


GOALS: Final = ("met", "tokens")
"""What is searched for where nobody says otherwise: more of what is expected, for fewer tokens."""


class Plan(Struct, frozen=True):
    """How to search. `runs` are points, the present settings not among them; `minutes` ends it earlier.

    `goals` are names of `METRICS`, the first one decides what is best. A share `held_out` of the replies, in blocks, is
    only looked at in the end, as are whole `held_chats`.
    """

    way: SearchWay = SearchWay.OPTUNA
    runs: int = 100
    minutes: float | None = None
    goals: tuple[str, ...] = GOALS
    seed: int = 0
    held_out: float = 1 / 3
    held_chats: tuple[str, ...] = ()


class TriedPoint(Struct, frozen=True):
    """A point that was run: its number (-1 for the present settings) and its scores on both parts of the chats."""

    number: int
    point: Point
    training: Scores
    held: Scores


class Gain(Struct, frozen=True):
    """What a point gains on the present settings in one metric: on the replies searched, and on those held out.

    None where there is nothing to divide by, or too few blocks for an interval.
    """

    metric: str
    training: float | None
    held: float | None
    training_interval: Interval | None
    held_interval: Interval | None

    @property
    def warning(self) -> str:
        """What speaks against believing it, in a sentence; "" where it holds on replies that were not searched."""
        metric = METRICS[self.metric]
        sign = 1 if metric.more else -1
        if self.training is None or sign * self.training < 0:
            return ""  # what it costs is told
        if self.training == 0:
            worse = self.held is not None and sign * self.held < 0
            lost = change_words(self.held or 0, metric.unit)
            return f"{metric.title}: as now on the replies searched, and {lost} on those held out." if worse else ""
        won = f"{metric.title}: the gain of {change_words(self.training, metric.unit)} on the replies searched"
        if self.held is None or self.held_interval is None:
            return f"{won} cannot be checked: too few replies were held out."
        there = f"{change_words(self.held, metric.unit)} on those held out ({between(self.held_interval, metric.unit)})"
        if sign * self.held <= 0:
            return f"{won} is not there on others: {there}. These settings fit the replies they were chosen by."
        if not self.held_interval.sure:
            return f"{won} may be chance: {there}."
        return ""


class SearchOutcome(Struct, frozen=True):
    """What a search came to. `importance` says how much of reaching the good points each axis decides, from 0 to 1."""

    axes: tuple[Axis, ...]
    plan: Plan
    now: TriedPoint
    tried: tuple[TriedPoint, ...]
    importance: Mapping[str, float]

    def front(self) -> tuple[TriedPoint, ...]:
        """The points that no other one beats in all goals at once, the best in the first goal first; by training."""
        values = {each.number: _values(each, self.plan.goals) for each in (self.now, *self.tried)}
        best = [
            each
            for each in (self.now, *self.tried)
            if not any(_beats(other, values[each.number]) for other in values.values())
        ]
        chosen: dict[tuple[float, ...], TriedPoint] = {}
        for each in best:
            chosen.setdefault(values[each.number], each)
        return tuple(sorted(chosen.values(), key=lambda each: values[each.number], reverse=True))

    def places(self) -> dict[int, tuple[float, float]]:
        """Where the points that have both values stand, by number, the present settings last: the second goal across,
        the first one up.
        """
        up, across = self.plan.goals[:2]
        places: dict[int, tuple[float, float]] = {}
        for each in (*self.tried, self.now):
            x, y = each.training.value(across), each.training.value(up)
            if x is not None and y is not None:
                places[each.number] = x, y
        return places

    @property
    def best(self) -> TriedPoint:
        """The best in the first goal, by training, the present settings among them; of equal ones the nearest to those.

        Of points that do as well, the cheapest has every knob as tight as the replies searched just allow, and fails on
        others; what is not turned without need holds there, too. Such a point is on the front, for whoever wants it.
        """
        first, *others = self.plan.goals
        values = [(each, _values(each, (first,))) for each in (self.now, *self.tried)]
        most = max(value for _, value in values)
        equal = (each for each, value in values if value == most)
        return max(equal, key=lambda each: (-self._way(each), _values(each, others)))

    def _way(self, tried: TriedPoint) -> float:
        """How far a point is from the present settings: of each axis the share of its range, summed up."""
        return sum(axis.way(tried.point[axis.label]) for axis in self.axes if axis.label in tried.point)

    def gain(self, tried: TriedPoint, metric: str) -> Gain:
        """What a point gains on the present settings."""
        parts = ((tried.training, self.now.training), (tried.held, self.now.held))
        differences = []
        for after, before in parts:
            values = after.value(metric), before.value(metric)
            differences.append(None if values[0] is None or values[1] is None else values[0] - values[1])
        intervals = [after.gain(before, metric, self.plan.seed) for after, before in parts]
        return Gain(metric, differences[0], differences[1], intervals[0], intervals[1])

    def warnings(self, tried: TriedPoint) -> tuple[str, ...]:
        """What speaks against believing its gains, goal by goal."""
        told = (self.gain(tried, goal).warning for goal in self.plan.goals)
        return tuple(each for each in told if each)

    def of(self, number: int) -> TriedPoint:
        """The point of that number. Raises InputError."""
        for each in (self.now, *self.tried):
            if each.number == number:
                return each
        raise InputError("point", f"there is no point {number}; there are {len(self.tried)}, from 0.")


def change_words(value: float, unit: str) -> str:
    """A difference: `+4 %`, `−120`."""
    return f"{'+' if value >= 0 else '−'}{value_words(abs(value), unit)}"


def between(interval: Interval, unit: str) -> str:
    """The interval of a difference: `−3 % to +5 %`."""
    return f"{change_words(interval.low, unit)} to {change_words(interval.high, unit)}"


def _beats(one: tuple[float, ...], other: tuple[float, ...]) -> bool:
    """Whether values are at least as good everywhere and not the same."""
    return one != other and all(mine >= theirs for mine, theirs in zip(one, other, strict=True))


def _values(tried: TriedPoint, goals: Iterable[str]) -> tuple[float, ...]:
    """The training values, more being better in all of them; nothing to divide by is the worst."""
    found = []
    for goal in goals:
        value = tried.training.value(goal)
        found.append(-math.inf if value is None else value if METRICS[goal].more else -value)
    return tuple(found)


# ---- what is held out -----------------------------------------------------------------------------------------------

_ENOUGH: Final = 4
"""Blocks that are held out at least, where as many are left: an interval needs them."""


def held_blocks(
    speaking: Sequence[frozenset[int]], share: float, seed: int, judged: Collection[int] = ()
) -> frozenset[int]:
    """Which blocks are held out: drawn at random, about this share of them.

    `speaking` are for each block the rules that say something about it. Of one that speaks of held-out blocks alone
    nothing can be learnt, so it is drawn again until there is none, or as few as can be. Of the blocks `judged`, those
    in which anything is expected, one at least is not held out: there would be nothing to search by.
    """
    count, every = len(speaking), frozenset().union(*speaking)
    wanted = round(share * count)
    if share > 0 and count >= 2 * _ENOUGH:
        wanted = max(wanted, _ENOUGH)
    chance = np.random.default_rng(seed)
    best, fewest = frozenset[int](), (True, math.inf)
    for _ in range(_DRAWS):
        held = frozenset(chance.permutation(count)[: min(wanted, max(0, count - 1))].tolist())
        unseen = len(every - frozenset().union(*(rules for place, rules in enumerate(speaking) if place not in held)))
        lost = bool(judged) and held.issuperset(judged), unseen
        if lost < fewest:
            best, fewest = held, lost
        if not any(lost):
            break
    return best


def _part(scores: Scores, wanted: frozenset[int]) -> Scores:
    """The scores of these blocks alone."""
    turns: list[TurnScore] = []
    ranges: list[range] = []
    for number in sorted(wanted):
        found = scores.turns[scores.blocks[number].start : scores.blocks[number].stop]
        ranges.append(range(len(turns), len(turns) + len(found)))
        turns += found
    return Scores(tuple(turns), tuple(ranges))


class Split:
    """Which part of which chat is held out."""

    def __init__(self, trial: TuningTrial, plan: Plan) -> None:
        self._plan, self._chats = plan, tuple(zip(trial.chats(), trial.projects, strict=True))
        self._rules = [each for each in trial.expectations if each.reply is None]
        self._held: tuple[frozenset[int], ...] = ()

    def _of(self, scores: Sequence[Scores]) -> tuple[frozenset[int], ...]:
        """The blocks of each chat that are held out."""
        plan, held, seen, learnt = self._plan, [], frozenset[int](), False
        for place, ((name, project), each) in enumerate(zip(self._chats, scores, strict=True)):
            chat, replies = project.chat or Chat(), [turn.generation.message for turn in each.turns]
            speaking = [
                frozenset(
                    number
                    for number, rule in enumerate(self._rules)
                    if any(rule.speaks_of(chat, reply) for reply in replies[block.start : block.stop])
                )
                for block in each.blocks
            ]
            judged = frozenset(
                number
                for number, block in enumerate(each.blocks)
                if any(turn.judged for turn in each.turns[block.start : block.stop])
            )
            if name in plan.held_chats:
                kept = frozenset(range(len(speaking)))
            else:
                unseen, needed = [rules - seen for rules in speaking], () if learnt else judged
                kept = held_blocks(unseen, plan.held_out, plan.seed + place, needed)
            held.append(kept)
            learnt |= not judged <= kept
            seen |= frozenset().union(*(rules for at, rules in enumerate(speaking) if at not in held[-1]))
        return tuple(held)

    def apart(self, number: int, point: Point, scores: Sequence[Scores]) -> TriedPoint:
        """The scores of all chats, those for choosing apart from those held out."""
        training, held = [], []
        self._held = self._held or self._of(scores)
        for each, kept in zip(scores, self._held, strict=True):
            training.append(_part(each, frozenset(range(len(each.blocks))) - kept))
            held.append(_part(each, kept))
        return TriedPoint(number, point, pooled(training), pooled(held))


# ---- the journal ----------------------------------------------------------------------------------------------------

_COUNTS: Final = tuple(name for name in field_names(TurnScore) if name != "generation")
_NAME: Final = "search"
_FEWEST_TRIALS: Final = 2
"""Of fewer points there are no good ones among others."""
_OF, _NOW, _SCORES = "of", "now", "scores"
_GRACE_SECONDS: Final = 3
"""After so long a lock that somebody left behind is taken away; a search is the only one that writes its journal."""


def _scores_json(scores: Iterable[Scores]) -> list[Json]:
    return [
        [
            [turn.generation.message, turn.generation.swipe, *(getattr(turn, name) for name in _COUNTS)]
            for turn in each.turns
        ]
        for each in scores
    ]


def _scores_of(document: Any) -> tuple[Scores, ...]:  # noqa: ANN401  # JSON that this program wrote
    return tuple(
        Scores(
            tuple(TurnScore(Generation(*row[:2]), **dict(zip(_COUNTS, row[2:], strict=True))) for row in chat),
            blocks(len(chat)),
        )
        for chat in document
    )


def _point_key(point: Point) -> str:
    return json.dumps(dict(point), sort_keys=True)


class _Journal:
    """A study of Optuna's with what this search has tried, in a file where one is named."""

    def __init__(self, trial: TuningTrial, plan: Plan, path: Path | None) -> None:
        self.optuna = needed("optuna", "tune")
        self.optuna.logging.set_verbosity(self.optuna.logging.ERROR)
        self._split = Split(trial, plan)
        self._plan = plan
        samplers = self.optuna.samplers
        sampler = samplers.TPESampler if plan.way is SearchWay.OPTUNA else samplers.RandomSampler
        self.study = self.optuna.create_study(
            storage=None if path is None else self._storage(path),
            study_name=_NAME,
            sampler=sampler(seed=plan.seed),
            directions=["maximize" if METRICS[goal].more else "minimize" for goal in plan.goals],
            load_if_exists=True,
        )
        self._distributions = {axis.label: self._distribution(axis) for axis in trial.space.axes}
        kept = ["goals", *map(repr, (plan.goals, plan.seed, plan.held_out, plan.held_chats)), trial.identity]
        before = self.study.user_attrs.get(_OF)
        if before not in (None, kept):
            raise InputError(
                path or "journal",
                "this is the journal of another search: its notes, chats, settings, expectations, axes or goals are "
                "other ones. Name another file with --journal, or delete this one.",
            )
        if before is None:
            self.study.set_user_attr(_OF, kept)

    def _storage(self, path: Path) -> Any:  # noqa: ANN401  # of Optuna
        storages = self.optuna.storages
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            if path.exists():
                _mend(path)
            journal = self.optuna.storages.journal
            lock = journal.JournalFileOpenLock(str(path), grace_period=_GRACE_SECONDS)
            return storages.JournalStorage(journal.JournalFileBackend(str(path), lock))
        except (ValueError, KeyError, AttributeError, TypeError) as error:
            raise InputError(path, f"this is no journal of a search ({error}). Name another file.") from error
        except OSError as error:
            raise InputError(path, f"the journal cannot be written ({reason_of(error)}). {LOOK_THERE}") from error

    def _distribution(self, axis: Axis) -> Any:  # noqa: ANN401  # of Optuna
        known = self.optuna.distributions
        if not isinstance(axis.range, NumberSpan):
            return known.CategoricalDistribution(list(axis.range))
        span = axis.range
        if span.whole:
            return known.IntDistribution(int(span.low), int(span.high), step=int(span.step or 1))
        return known.FloatDistribution(span.low, span.high, step=span.step)

    def now(self) -> TriedPoint | None:
        """What the present settings came to, None before they were run."""
        scores = self.study.user_attrs.get(_NOW)
        return None if scores is None else self._split.apart(-1, {}, _scores_of(scores))

    def keep_now(self, scores: tuple[Scores, ...]) -> TriedPoint:
        """Keep what the present settings came to. Raises InputError where a goal has nothing to count there."""
        tried = self._split.apart(-1, {}, scores)
        for goal in self._plan.goals:
            if tried.training.value(goal) is None:
                speaks = "no expectation speaks of these replies."
                if tried.held.value(goal) is not None:
                    speaks = "what is expected speaks of replies alone that are held out. Hold out fewer."
                raise InputError("goals", f"“{METRICS[goal].title}” has nothing to count: {speaks}")
        self.study.set_user_attr(_NOW, _scores_json(scores))
        return tried

    def tried(self) -> list[TriedPoint]:
        """All points that were run, in order."""
        complete = self.optuna.trial.TrialState.COMPLETE
        return [
            self._split.apart(each.number, each.params, _scores_of(each.user_attrs[_SCORES]))
            for each in self.study.get_trials(deepcopy=False)
            if each.state is complete
        ]

    def take_up(self) -> list[Point]:
        """The points that were under way when the last search was stopped, and need to be run again."""
        states = self.optuna.trial.TrialState
        under_way = [each for each in self.study.get_trials(deepcopy=False) if each.state is states.RUNNING]
        for each in under_way:
            self.study.tell(each.number, state=states.FAIL)
        return [each.params for each in under_way if len(each.params) == len(self._distributions)]

    def ask(self, point: Point | None) -> tuple[Any, Point]:
        """Begin a trial: of this point, or of one that the sampler chooses."""
        if point is not None:
            self.study.enqueue_trial(dict(point))
        trial = self.study.ask(self._distributions)
        return trial, trial.params

    def refuse(self, trial: Any) -> None:  # noqa: ANN401  # of Optuna
        """Give a trial up that was begun."""
        self.study.tell(trial, state=self.optuna.trial.TrialState.FAIL)

    def keep(self, trial: Any, point: Point, scores: tuple[Scores, ...]) -> TriedPoint:  # noqa: ANN401  # of Optuna
        """Keep what a trial came to."""
        tried = self._split.apart(trial.number, point, scores)
        trial.set_user_attr(_SCORES, _scores_json(scores))
        worst = (-math.inf if METRICS[goal].more else math.inf for goal in self._plan.goals)
        values = [tried.training.value(goal) for goal in self._plan.goals]
        self.study.tell(trial, [bad if each is None else each for each, bad in zip(values, worst, strict=True)])
        return tried

    def importance(self) -> dict[str, float]:
        """How much each axis decides, by PED-ANOVA; nothing where too little was run to tell, or all do alike."""
        if len(self.tried()) < _FEWEST_TRIALS:
            return {}
        try:
            with warnings.catch_warnings():
                warnings.filterwarnings("error", "Target and region quantiles")  # then it makes up equal shares
                evaluator = self.optuna.importance.PedAnovaImportanceEvaluator()
                found = self.optuna.importance.get_param_importances(self.study, evaluator=evaluator)
        except (ValueError, RuntimeError, UserWarning):
            return {}
        return {label: float(share) for label, share in found.items() if math.isfinite(share)}


def _mend(path: Path) -> None:
    """Take away the end of a line that was being written when the program was killed.

    Raises InputError for a file with anything else than a journal in it, and leaves that as it is.
    """
    data = read_whole(path, READ_AT_MOST)
    whole = data.rfind(b"\n") + 1
    lines = data[:whole].splitlines()
    if data and not (lines and all(map(_is_record, lines))):
        raise InputError(path, "this is no journal of a search, so it is left as it is. Name another file.")
    if whole < len(data):
        with path.open("r+b") as file:
            file.truncate(whole)


def _is_record(line: bytes) -> bool:
    """Whether a line may be one of Optuna's journals."""
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return False
    return isinstance(found, dict) and "op_code" in found


# ---- the search -----------------------------------------------------------------------------------------------------

_AT_ONCE: Final = 4
"""Points for each worker that are chosen together, so that workers do not wait and the sampler still learns."""

_DRAWS: Final = 200
"""So often another point is drawn where one is known already."""


def search(
    trial: TuningTrial,
    plan: Plan = Plan(),
    workers: Workers = ALONE,
    journal: Path | None = None,
    on_progress: OnProgress = None,
    on_tried: Callable[[TriedPoint], None] | None = None,
    cancel: CancelToken | None = None,
    clock: Callable[[], float] = time.monotonic,
) -> SearchOutcome:
    """Run points of the trial's space until there are as many as planned, or all that there are.

    What a `journal` holds is taken up: those points count, and none is run again but those under way. `on_tried` is
    told of the present settings first, then of every point, kept ones too. After a request to stop it ends with what
    there is; before the present settings are run, and with a journal of another search, it raises Cancelled and
    InputError. For a worker thread.
    """
    begun = clock()
    _check(trial, plan)
    kept = _Journal(trial, plan, journal)
    with Crew(trial, workers) as crew:
        now = kept.now()
        if now is None:
            heed(cancel)
            now = kept.keep_now(next(crew.run({-1: {}}, cancel))[1])
        done = kept.tried()
        course = _Course(trial.space, plan, kept, [each.point for each in done])

        def told(each: TriedPoint) -> None:
            if on_tried is not None:
                on_tried(each)
            if on_progress is not None:
                on_progress(Progress(len(done), course.most))

        for each in (now, *done):
            told(each)
        limit = math.inf if plan.minutes is None else begun + 60 * plan.minutes
        while len(done) < course.most and clock() < limit and not (cancel is not None and cancel.cancelled):
            asked = course.next(min(_AT_ONCE * crew.parallel, course.most - len(done)))
            if not asked:
                break
            points = {number: point for number, (_, point) in asked.items()}
            with suppress(Cancelled):
                for number, scores in crew.run(points, cancel):
                    done.append(kept.keep(*asked.pop(number), scores))
                    told(done[-1])
                    if clock() >= limit:
                        break
            for begun_trial, _ in asked.values():
                kept.refuse(begun_trial)
    return SearchOutcome(trial.space.axes, plan, now, tuple(done), kept.importance())


def _check(trial: TuningTrial, plan: Plan) -> None:
    """Raise InputError where the plan does not fit the trial."""
    if plan.way is SearchWay.GRID and trial.space.size > plan.runs:
        size = f"{trial.space.size:,.0f}" if math.isfinite(trial.space.size) else "endlessly many"
        raise InputError(
            "--runs", f"the grid has {size} points and {plan.runs:,} may be run. Give wider steps, as in 500..4000/500."
        )
    lacking = [name for name in plan.held_chats if name not in trial.chats()]
    if lacking or set(trial.chats()) <= set(plan.held_chats):
        chats = ", ".join(trial.chats())
        raise InputError("--hold-out-chat", f"name some of the chats that are run, not all of them: {chats}.")


class _Course:
    """Which points come next. No point comes twice."""

    def __init__(self, space: Space, plan: Plan, kept: _Journal, known: Sequence[Point]) -> None:
        self._space, self._kept, self._way = space, kept, plan.way
        self._chance = np.random.default_rng((plan.seed, len(known)))
        self._known = {_point_key(point) for point in known}
        self._first = kept.take_up()
        self._grid: Iterator[Point] = iter(space.points()) if plan.way is SearchWay.GRID else iter(())
        self.most = int(min(plan.runs, space.size))

    def next(self, count: int) -> dict[int, tuple[Any, Point]]:
        """Trials begun, with their points, by number: so many, or fewer where there are no more."""
        found: dict[int, tuple[Any, Point]] = {}
        while len(found) < count:
            trial, point = self._kept.ask(self._wanted())
            if _point_key(point) in self._known:  # the sampler comes back to what it likes
                self._kept.refuse(trial)
                other = self._unknown()
                if other is None:
                    break
                trial, point = self._kept.ask(other)
            self._known.add(_point_key(point))
            found[trial.number] = (trial, point)
        return found

    def _wanted(self) -> Point | None:
        """The next point that is given, None where the sampler chooses."""
        while self._first:
            point = self._first.pop()
            if _point_key(point) not in self._known:
                return point
        for point in self._grid:
            if _point_key(point) not in self._known:
                return point
        return self._unknown() if self._way is SearchWay.RANDOM else None

    def _unknown(self) -> Point | None:
        """A point drawn at random that was not run, None where that is hard to find."""
        for _ in range(_DRAWS):
            point = {axis.label: self._drawn(axis) for axis in self._space.axes}
            if _point_key(point) not in self._known:
                return point
        if self._space.size > _DRAWS * _DRAWS:
            return None
        return next((each for each in self._space.points() if _point_key(each) not in self._known), None)

    def _drawn(self, axis: Axis) -> Any:  # noqa: ANN401  # a value
        values = axis.values
        if values is not None:
            return values[int(self._chance.integers(len(values)))]
        span = axis.range
        assert isinstance(span, NumberSpan)  # noqa: S101  # only such an axis has endlessly many
        return float(self._chance.uniform(span.low, span.high))
