"""A point comes to what a plain replay of the same settings and notes comes to, in whatever process it is run."""

from __future__ import annotations

import asyncio
import os
import random
import shutil
import signal
from collections.abc import Callable, Hashable
from pathlib import Path
from typing import Any

import pytest

from lorestudio.domain.lifecycle import Cancelled, CancelToken
from lorestudio.domain.records import replace
from lorestudio.exchange.problems import InputError
from lorestudio.studio.compare.comparison import candidate
from lorestudio.studio.project.project import Project, open_project
from lorestudio.studio.replay.simulator import Simulator
from lorestudio.studio.tuning.expectations import TurnOutcome, turn_outcome
from lorestudio.studio.tuning.search import Plan, SearchWay, TriedPoint, search
from lorestudio.studio.tuning.space import Point
from lorestudio.studio.tuning.trials import ATTEMPTS, Crew, PointRunner, Workers, trial_of
from lorestudio.systems.known import Known
from lorestudio.systems.registry import KINDS, kind_of, system_of
from tests.studio.tuning.searches import LAMP, lamp_trial, make_world, text_of

WITHIN = ("scanDepth=1..8", "maxTokensBudget=100..900/100")
OF_NOTES = ("Lamp.md:priority=5..95", "Lamp.md:keys", "Gull:cooldown=0,1,3")
OVER = (*WITHIN, *OF_NOTES)


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Project:
    return make_world(tmp_path_factory.mktemp("trials") / "vault")


def replayed(project: Project, **settings: Any) -> tuple[TurnOutcome, ...]:
    """A plain replay with everything on record."""
    used = project.with_settings(project.settings.model_copy(update=settings))
    return tuple(map(turn_outcome, asyncio.run(Simulator(used).replay())))


def outcomes(runner: PointRunner, point: Point) -> tuple[tuple[TurnOutcome, ...], ...]:
    """What every generation of each chat comes to there."""
    return tuple(tuple(map(turn_outcome, asyncio.run(each.replay()))) for each in runner.simulators(point))


def written(project: Project, folder: Path, point: Point) -> Project:
    """The vault on disk with what a point says of its notes."""
    shutil.copytree(project.roots[0], folder / "vault")
    keys = [key for key in ("lamp", "lantern") if point[f"Lamp.md: key {key}"]]
    lamp = f"keys: [{', '.join(keys)}]\npriority: {point['Lamp.md: priority']}"
    gull = f"keys: [gull]\npriority: 30\ncooldown: {point['Gull.md: cooldown']}"
    for name, front in {"Lamp.md": lamp, "Gull.md": gull}.items():
        (folder / "vault" / name).write_text(text_of(front), encoding="utf-8")
    return open_project([folder / "vault"], project.chat_path)


def test_a_point_is_a_replay_of_the_vault_with_that_written_into_it(world: Project, tmp_path: Path) -> None:
    trial, chance = trial_of([world], candidate("deeplore"), LAMP, OVER), random.Random(5)
    bench = PointRunner(trial)
    for number in range(6):
        point = {axis.label: chance.choice(axis.values or ()) for axis in trial.space.axes}
        there = written(world, tmp_path / str(number), point)
        alone = replayed(there, scan_depth=point["scanDepth"], max_tokens_budget=point["maxTokensBudget"])
        assert outcomes(bench, point) == (alone,)
    assert outcomes(bench, {}) == (replayed(world),)


@pytest.mark.long
@pytest.mark.parametrize("name", KINDS)
def test_every_system_can_be_searched(name: str, world: Project) -> None:
    """A setting of each that has a range, at its ends."""
    from lorestudio.settings.declaration import declared  # noqa: PLC0415

    kind = kind_of(name)
    ranged = [each for each in declared(kind.settings) if each.affects and each.whole and each.type is int]
    if not ranged:
        pytest.skip("none of its settings has a range")  # a system that comes installed may be so
    setting = ranged[0]
    trial = trial_of([world], candidate(name), LAMP, [f"{setting.alias}={setting.low:g},{setting.high:g}"])
    bench = PointRunner(trial)
    for value in (int(setting.low or 0), int(setting.high or 0)):
        settings = trial.settings.model_copy(update={setting.name: value})
        project = world.with_settings_of(kind, settings)
        traces = asyncio.run(Simulator(project, system_of(project.scene(), kind, settings)).replay())
        assert outcomes(bench, {setting.alias: value}) == (tuple(map(turn_outcome, traces)),)


class Forgetful(Known):
    """Has everything made anew."""

    def of(self, source: object, key: Hashable, make: Callable[[], Any]) -> Any:  # noqa: ARG002
        return make()


@pytest.mark.long
@pytest.mark.parametrize("name", KINDS)
def test_what_points_have_in_common_changes_none_of_them(name: str, world: Project) -> None:
    """Points over all switches, choices and ranges of a system and over a note, run by one runner after the other."""
    from lorestudio.settings.declaration import declared  # noqa: PLC0415

    kind, chance = kind_of(name), random.Random(7)
    over = ["Lamp.md:priority=10,99", "Lamp.md:keys"]
    for each in declared(kind.settings):
        ends = f"={each.low:g},{each.high:g}" if each.low is not None and each.high is not None else ""
        try:
            trial_of([world], candidate(name), LAMP, [each.alias + ends])
        except InputError:  # it changes nothing in a run, has no range, or says how notes are read
            continue
        over.append(each.alias + ends)
    bench = PointRunner(trial_of([world], candidate(name), LAMP, over))
    for _ in range(6):
        turned = chance.sample(bench.trial.space.axes, min(4, len(over)))
        point = {axis.label: chance.choice(axis.values or ()) for axis in turned}
        (alone,) = PointRunner(bench.trial).simulators(point)
        own = kind.make(alone.system.settings, alone.project.scene())
        if hasattr(own, "shared"):
            own = replace(own, shared=Forgetful())  # type: ignore[type-var]  # every system is a dataclass
        traces = asyncio.run(Simulator(alone.project, own).replay())
        assert outcomes(bench, point) == (tuple(map(turn_outcome, traces)),)


def test_a_packed_trial_comes_to_the_same(world: Project) -> None:
    trial = lamp_trial(world)
    opened = trial.packed().opened()
    point = {"scanDepth": 3, "maxTokensBudget": 300}
    assert outcomes(PointRunner(opened), point) == outcomes(PointRunner(trial), point)
    assert opened.identity == trial.identity


def test_what_decides_a_point_is_in_the_identity(world: Project) -> None:
    trial = lamp_trial(world)
    others = [lamp_trial(world, "scanDepth=1..9"), trial_of([world], candidate("hybrid"), LAMP, ["limit=1..9"])]
    others.append(trial_of([world], candidate("deeplore"), LAMP[:1], WITHIN))
    assert len({each.identity for each in (trial, *others)}) == 4
    assert lamp_trial(world).identity == trial.identity


def test_a_request_to_stop_ends_a_point(world: Project) -> None:
    cancel = CancelToken()
    cancel.cancel()
    with pytest.raises(Cancelled):
        PointRunner(lamp_trial(world)).scores({}, cancel)


@pytest.mark.long
def test_processes_come_to_the_same_and_one_that_dies_costs_nothing(world: Project) -> None:
    from joblib.externals.loky import get_reusable_executor  # noqa: PLC0415  # late, as in the program

    trial, plan = lamp_trial(world, "scanDepth=1..4", "maxEntries=1..3"), Plan(SearchWay.GRID, runs=12)
    killed: list[int] = []

    def kill_one(each: TriedPoint) -> None:
        if each.number >= 3 and not killed:
            killed.append(next(iter(get_reusable_executor(reuse=True)._processes)))
            os.kill(killed[0], signal.SIGKILL)

    alone = search(trial, plan)
    several = search(trial, plan, Workers(2), on_tried=kill_one)
    assert killed
    by_point = [{str(each.point): each.training for each in found.tried} for found in (alone, several)]
    assert by_point[0] == by_point[1]
    assert len(several.tried) == 12


def test_workers_that_always_die_are_given_up(world: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    from concurrent.futures.process import BrokenProcessPool  # noqa: PLC0415

    asked: list[int] = []

    def broken(_self: Crew, points: dict[int, Point]) -> Any:
        asked.append(len(points))
        raise BrokenProcessPool

    monkeypatch.setattr(Crew, "_handed_over", broken)
    with Crew(lamp_trial(world), Workers(2)) as crew, pytest.raises(InputError, match="too little memory"):
        list(crew.run({0: {}}))
    assert len(asked) == ATTEMPTS


@pytest.mark.long
@pytest.mark.filterwarnings("ignore")  # of a package that is not ours
def test_a_dask_cluster_comes_to_the_same(world: Project) -> None:
    distributed = pytest.importorskip("distributed")
    trial, plan = lamp_trial(world, "scanDepth=1..4"), Plan(SearchWay.GRID, runs=4)
    cluster = distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None)
    try:
        found = search(trial, plan, Workers(address=cluster.scheduler_address))
    finally:
        cluster.close()
    alone = search(trial, plan)
    assert {str(each.point): each.held for each in found.tried} == {str(each.point): each.held for each in alone.tried}


@pytest.mark.long
@pytest.mark.filterwarnings("ignore")
def test_a_cluster_that_is_not_there_is_said(world: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("distributed")
    monkeypatch.setattr("lorestudio.studio.tuning.trials._PATIENCE_SECONDS", 0.2)
    with pytest.raises(InputError, match=r"no Dask scheduler answers at tcp://127\.0\.0\.1:9"):
        Crew(lamp_trial(world), Workers(address="tcp://127.0.0.1:9"))
