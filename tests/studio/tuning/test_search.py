"""Searches: what they find, what they do not believe, and that nothing is lost or done twice."""

from __future__ import annotations

import itertools
import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from lorestudio.domain.chat import Generation
from lorestudio.domain.lifecycle import Cancelled, CancelToken, Progress
from lorestudio.domain.records import replace
from lorestudio.domain.resources import resource
from lorestudio.exchange.problems import InputError
from lorestudio.settings.declaration import Value
from lorestudio.studio.compare.comparison import candidate
from lorestudio.studio.project.project import Project, demo_project, open_project
from lorestudio.studio.tuning import search as searching
from lorestudio.studio.tuning.expectations import Expectation, ReplyMark, Should, answered, load
from lorestudio.studio.tuning.report import plan_notes, to_carry_over
from lorestudio.studio.tuning.scores import Interval, Scores, TurnScore
from lorestudio.studio.tuning.search import Gain, Plan, SearchOutcome, SearchWay, Split, TriedPoint, held_blocks, search
from lorestudio.studio.tuning.space import Axis, NumberSpan, Point
from lorestudio.studio.tuning.trials import PointRunner, Workers, trial_of
from tests.studio.tuning.searches import LAMP, lamp_trial, make_world, noise_trial

GRID = ("scanDepth=1..6", "maxEntries=1..3")


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Project:
    return make_world(tmp_path_factory.mktemp("search") / "vault")


def key(point: Point) -> str:
    return json.dumps(dict(point), sort_keys=True)


def test_a_grid_runs_every_point_once_and_finds_what_is_expected(world: Project) -> None:
    reports: list[Progress] = []
    found = search(lamp_trial(world, *GRID), Plan(SearchWay.GRID, runs=18), on_progress=reports.append)
    assert {key(each.point) for each in found.tried} == {
        key({"scanDepth": depth, "maxEntries": most}) for depth in range(1, 7) for most in range(1, 4)
    }
    assert (reports[0].done, reports[-1].done, reports[-1].total) == (0, 18, 18)
    # A lamp was last spoken of five messages back, and it is the most important note: one place is enough for it. Of
    # what does as well, that is the cheapest; the best is the nearest to the four messages and ten places of now.
    assert found.front()[0].point == {"scanDepth": 5, "maxEntries": 1}
    assert found.best.point == {"scanDepth": 5, "maxEntries": 3}
    assert found.best.training.value("met") == 1
    now = found.now.training.value("met")
    assert now is not None
    assert now < 1
    gain = found.gain(found.best, "met")
    assert gain.training == pytest.approx(1 - now)
    assert gain.held_interval is not None
    assert gain.held_interval.low > 0
    assert found.warnings(found.best) == ()


@pytest.mark.long
def test_a_planted_overfit_is_warned_of(world: Project) -> None:
    found = search(noise_trial(world), Plan(SearchWay.GRID, runs=32, goals=("met",)))
    gain = found.gain(found.best, "met")
    assert gain.training is not None
    assert gain.training > 0.03
    (warning,) = found.warnings(found.best)
    assert "on the replies searched" in warning
    assert "may be chance" in warning or "is not there on others" in warning


@pytest.mark.parametrize("way", [SearchWay.RANDOM, SearchWay.OPTUNA])
def test_no_point_comes_twice_and_a_small_space_is_searched_through(world: Project, way: SearchWay) -> None:
    found = search(lamp_trial(world, "scanDepth=1..4", "maxEntries=1..2"), Plan(way, runs=50, seed=2))
    assert Counter(key(each.point) for each in found.tried) == {
        key({"scanDepth": depth, "maxEntries": most}): 1 for depth in range(1, 5) for most in (1, 2)
    }
    assert set(found.importance) <= {"scanDepth", "maxEntries"}


@pytest.mark.long
def test_optuna_comes_to_the_best_in_fewer_runs_than_there_are_points(world: Project) -> None:
    trial = lamp_trial(world, "scanDepth=1..30", "maxEntries=1..30", "maxTokensBudget=100..4000/100")
    found = search(trial, Plan(runs=40))
    assert len(found.tried) == 40
    assert found.best.training.value("met") == 1
    assert found.importance["scanDepth"] > 0


def test_where_all_points_do_alike_nothing_is_important_and_nothing_is_warned_of(world: Project) -> None:
    found = search(lamp_trial(world, "maxEntries=9,10"), Plan(SearchWay.GRID, runs=2, goals=("met",)))
    assert len({each.training.value("met") for each in found.tried}) == 1
    assert found.importance == {}


# ---- the front, gains and warnings --------------------------------------------------------------------------------


def scored(met: int, tokens: int, blocks: int = 6) -> Scores:
    """Six blocks of one reply with ten expectations each."""
    turns = [TurnScore(Generation(place, 0), met=met, judged=10, tokens=tokens) for place in range(blocks)]
    return Scores(tuple(turns), tuple(range(place, place + 1) for place in range(blocks)))


def tried(number: int, training: tuple[int, int], held: tuple[int, int] = (5, 100)) -> TriedPoint:
    return TriedPoint(number, {"a": number}, scored(*training), scored(*held))


def test_the_front_is_what_nothing_else_beats_in_everything() -> None:
    points = (tried(0, (8, 90)), tried(1, (8, 120)), tried(2, (9, 200)), tried(3, (4, 50)), tried(4, (8, 90)))
    found = SearchOutcome((), Plan(), tried(-1, (5, 100)), points, {})
    assert [each.number for each in found.front()] == [2, 0, 3]
    assert found.best.number == 2
    assert found.of(3) is points[3]
    with pytest.raises(InputError, match="there is no point 9"):
        found.of(9)


def test_of_equal_points_the_nearest_to_now_is_the_best_and_now_is_one_of_them() -> None:
    axes = (
        Axis("a", "a", 4, NumberSpan(0, 10, 1, whole=True)),
        Axis("b", "b", 50, NumberSpan(0, 1000, 1, whole=True)),
        Axis("c", "c", "x", ("x", "y")),
    )

    def at(number: int, met: int, tokens: int, **point: Value) -> TriedPoint:
        return TriedPoint(number, point, scored(met, tokens), scored(5, 100))

    far = at(0, 9, 20, a=0, b=50, c="x")  # four tenths of its range, and the cheapest
    near = at(1, 9, 90, a=4, b=150, c="x")  # one tenth
    other = at(2, 9, 30, a=4, b=50, c="y")  # another choice is as far as a whole range
    cheaper = at(3, 9, 80, a=5, b=50, c="x")  # one tenth as well, for fewer tokens
    now = tried(-1, (5, 100))
    assert SearchOutcome(axes, Plan(), now, (far, near, other), {}).best is near
    assert SearchOutcome(axes, Plan(), now, (far, other, cheaper, near), {}).best is cheaper
    assert SearchOutcome(axes, Plan(), now, (far, other), {}).best is far
    enough = at(-1, 9, 200)
    assert SearchOutcome(axes, Plan(), enough, (far, near), {}).best is enough
    assert SearchOutcome(axes, Plan(), enough, (near, at(4, 10, 900, a=0, b=0, c="y")), {}).best.number == 4


@pytest.mark.long
@pytest.mark.parametrize("budget", [1300, 420])
@pytest.mark.parametrize("seed", range(10))
def test_on_the_demo_the_best_holds_as_much_as_the_designed_settings(seed: int, budget: int) -> None:
    """From the designed settings, and from the budget that is broken in the practice copy."""
    expected = load(resource("demo", "practice", "The Brume", "lorestudio-expectations.yaml")).every
    over = ("scanDepth=1..10", "maxEntries=1..20", "maxTokensBudget=400..3000/100")
    demo, plan = demo_project(), Plan(runs=10, seed=seed)
    assert demo.settings.max_tokens_budget == 1300
    designed = trial_of([demo], candidate("deeplore"), expected, over)
    wanted = Split(designed, plan).apart(-1, {}, PointRunner(designed).scores({}))
    start = demo.with_settings(demo.settings.model_copy(update={"max_tokens_budget": budget}))
    best = search(trial_of([start], candidate("deeplore"), expected, over), plan).best
    for reached, least in ((best.held, wanted.held), (best.training, wanted.training)):
        values = reached.value("met"), least.value("met")
        assert None not in values
        assert values[0] >= values[1]  # type: ignore[operator]  # neither is None


@pytest.mark.parametrize(
    ("held", "interval", "warning"),
    [
        (0.2, Interval(0.1, 0.3), ""),
        (0.02, Interval(-0.1, 0.1), "may be chance: +2 % on those held out (−10 % to +10 %)"),
        (-0.1, Interval(-0.2, -0.05), "is not there on others: −10 % on those held out (−20 % to −5 %)"),
        (None, None, "cannot be checked: too few replies were held out"),
    ],
)
def test_a_gain_is_believed_where_it_holds_on_others(
    held: float | None, interval: Interval | None, warning: str
) -> None:
    told = Gain("met", 0.3, held, Interval(0.2, 0.4), interval).warning
    assert warning in told
    assert bool(told) is bool(warning)


def test_what_was_not_won_needs_no_warning_and_fewer_tokens_are_a_gain() -> None:
    assert Gain("met", 0.0, 0.1, None, Interval(0.0, 0.2)).warning == ""
    lost = "Expectations met: as now on the replies searched, and −10 % on those held out."
    assert Gain("met", 0.0, -0.1, None, Interval(-0.2, 0.0)).warning == lost
    assert Gain("tokens", 200, 300, None, Interval(200, 400)).warning == ""
    assert "is not there" in Gain("tokens", -200, 30, None, Interval(10, 50)).warning
    assert Gain("tokens", -200, -190, None, Interval(-300, -50)).warning == ""


# ---- what is held out -----------------------------------------------------------------------------------------------


def test_blocks_are_held_out_whole_and_at_least_enough_for_an_interval() -> None:
    def held(count: int, share: float, seed: int) -> frozenset[int]:
        return held_blocks([frozenset()] * count, share, seed)

    assert len(held(30, 1 / 3, 1)) == 10
    assert held(30, 1 / 3, 1) == held(30, 1 / 3, 1) != held(30, 1 / 3, 2)
    assert len(held(9, 0.1, 0)) == 4
    assert len(held(3, 1 / 3, 0)) == 1
    assert held(30, 0, 0) == frozenset()
    assert held(1, 0.5, 0) == frozenset()  # something must be left to search by


@pytest.mark.parametrize("seed", range(20))
def test_of_every_rule_there_is_a_reply_to_search_by_where_that_can_be(seed: int) -> None:
    """Rule 0 speaks everywhere, 1 and 2 in one block each, 3 in two."""
    speaking = [frozenset({0})] * 9
    for block, rules in {2: {0, 1}, 4: {0, 2, 3}, 7: {0, 3}}.items():
        speaking[block] = frozenset(rules)
    held = held_blocks(speaking, 4 / 9, seed)
    assert len(held) == 4
    assert not held & {2, 4}
    alone = [frozenset({place}) for place in range(9)]  # each is lost with its block, whichever is held out
    assert len(held_blocks(alone, 4 / 9, seed)) == 4


@pytest.mark.parametrize("seed", range(20))
def test_what_is_expected_of_one_reply_alone_can_be_searched_by(world: Project, seed: int) -> None:
    chat = world.chat
    assert chat is not None
    place = chat.replies[5]
    only = Expectation(Should.IN, ("Lamp.md",), reply=ReplyMark("story", place, answered(chat, place)))
    trial = trial_of([world], candidate("deeplore"), [only], ["scanDepth=1..2"])
    found = search(trial, Plan(SearchWay.GRID, runs=2, seed=seed))
    assert found.now.training.value("met") is not None
    assert found.now.held.value("met") is None
    assert len(found.now.held.turns) > 10  # as much is held out as ever


def test_of_the_replies_that_are_judged_one_is_left_to_search_by() -> None:
    draws = [held_blocks([frozenset()] * 9, 4 / 9, seed, (3,)) for seed in range(20)]
    assert all(3 not in held and len(held) == 4 for held in draws)
    assert any(3 in held_blocks([frozenset()] * 9, 4 / 9, seed) for seed in range(20))
    assert held_blocks([frozenset()], 0.5, 0, (0,)) == frozenset()


def test_that_all_expected_replies_are_held_out_is_said(world: Project, tmp_path: Path) -> None:
    file = tmp_path / "plain.txt"
    file.write_text("Wren: nothing\nAnn: Yes.\n", encoding="utf-8")
    rule = Expectation(Should.IN, ("Lamp.md",), whenever="oil")
    chats = [world, open_project(list(world.roots), file)]
    trial = trial_of(chats, candidate("deeplore"), [rule], ["scanDepth=1..2"])
    with pytest.raises(InputError, match="speaks of replies alone that are held out"):
        search(trial, Plan(held_chats=("story",)))


def test_a_rule_that_another_chat_shows_may_be_held_out_in_one(world: Project, tmp_path: Path) -> None:
    said = ["nothing"] * 40
    rule = Expectation(Should.IN, ("Lamp.md",), whenever="oil")
    lines = [f"Wren: {'oil' if turn == 20 else 'nothing'} {turn}\nAnn: Yes, {turn}." for turn in range(len(said))]
    chats = []
    for name in ("first", "second"):
        file = tmp_path / f"{name}.txt"
        file.write_text("\n".join(lines) + "\n", encoding="utf-8")
        chats.append(open_project(list(world.roots), file))
    trial = trial_of(chats, candidate("deeplore"), [rule], ["scanDepth=1..2"])
    scores = PointRunner(trial).scores({})
    parts = [Split(trial, Plan(seed=seed)).apart(-1, {}, scores) for seed in range(20)]
    assert all(part.training.value("met") is not None for part in parts)  # the rule is there to be learnt
    assert any(part.held.value("met") is not None for part in parts)  # and told by the other chat


def test_training_and_held_out_replies_are_apart(world: Project) -> None:
    found = search(lamp_trial(world, "scanDepth=1..2"), Plan(SearchWay.GRID, runs=2))
    for each in (found.now, *found.tried):
        training, held = ({turn.generation for turn in part.turns} for part in (each.training, each.held))
        assert not training & held
        assert len(training | held) == 41  # every reply and the one to come
        assert len(held) >= 8


def test_whole_chats_are_held_out(world: Project, tmp_path: Path) -> None:
    other = make_world(tmp_path / "vault")
    path = tmp_path / "other.txt"
    (tmp_path / "story.txt").rename(path)
    other = replace(other, chat_path=path)
    trial = trial_of([world, other], candidate("deeplore"), LAMP, ["scanDepth=1..2"])
    found = search(trial, Plan(SearchWay.GRID, runs=2, held_out=0, held_chats=("other",)))
    assert (len(found.now.training.turns), len(found.now.held.turns)) == (41, 41)
    for wrong in (("nobody",), ("other", "story")):
        with pytest.raises(InputError, match="name some of the chats that are run, not all of them: story, other"):
            search(trial, Plan(held_chats=wrong))


# ---- the end of a search, and going on ------------------------------------------------------------------------------


def test_minutes_end_a_search(world: Project) -> None:
    ticks = itertools.count()
    found = search(lamp_trial(world, *GRID), Plan(SearchWay.RANDOM, minutes=0.1), clock=lambda: float(next(ticks)))
    assert 0 < len(found.tried) < 18


@pytest.mark.long
def test_a_search_that_is_stopped_tells_what_there_is_and_goes_on_later(world: Project, tmp_path: Path) -> None:
    trial, journal, cancel = lamp_trial(world, *GRID), tmp_path / "journal.log", CancelToken()

    def stop(each: TriedPoint) -> None:
        if each.number == 5:
            cancel.cancel()

    first = search(trial, Plan(SearchWay.GRID, runs=18), journal=journal, on_tried=stop, cancel=cancel)
    assert 0 < len(first.tried) < 18
    reports: list[Progress] = []
    again = search(trial, Plan(SearchWay.GRID, runs=18), journal=journal, on_progress=reports.append)
    assert reports[0].done == len(first.tried), "what was tried then is not tried again"
    whole = search(trial, Plan(SearchWay.GRID, runs=18))
    assert {key(each.point): each.training for each in again.tried} == {
        key(each.point): each.training for each in whole.tried
    }
    with pytest.raises(Cancelled):
        search(trial, Plan(SearchWay.GRID, runs=18), cancel=cancel)


def started(log: Path) -> Iterator[str]:
    return iter(log.read_text(encoding="utf-8").splitlines()) if log.exists() else iter(())


def search_in_a_child(world: Project, journal: Path, log: Path, monkeypatch: pytest.MonkeyPatch) -> int:
    """Search in a process of its own that says what it begins to run; its number."""
    child = os.fork()
    if child:
        return child
    scores = PointRunner.scores

    def told(self: PointRunner, point: Point, *more: Any) -> tuple[Scores, ...]:
        with log.open("a", encoding="utf-8") as file:
            file.write(key(point) + "\n")
        return scores(self, point, *more)

    monkeypatch.setattr(PointRunner, "scores", told)
    try:
        search(lamp_trial(world, *GRID), Plan(SearchWay.GRID, runs=18), journal=journal)
    finally:
        os._exit(0)


@pytest.mark.long
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_killed_five_times_it_runs_nothing_twice_but_what_was_under_way(
    world: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal, log = tmp_path / "journal.log", tmp_path / "started"
    for kill in range(5):
        child = search_in_a_child(world, journal, log, monkeypatch)
        while len(list(started(log))) < 3 * (kill + 1):
            time.sleep(0.005)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    os.waitpid(search_in_a_child(world, journal, log, monkeypatch), 0)
    runs = Counter(started(log))
    assert len(runs) == 19  # the grid, and the present settings
    assert runs.total() <= 19 + 5
    found = search(lamp_trial(world, *GRID), Plan(SearchWay.GRID, runs=18), journal=journal)
    assert Counter(started(log)) == runs
    assert Counter(key(each.point) for each in found.tried).total() == len(found.tried) == 18


SEARCHING = """
import sys
from pathlib import Path
from lorestudio.studio.tuning.search import Plan, SearchWay, search
from lorestudio.studio.tuning.trials import Workers
from tests.studio.tuning.searches import lamp_trial, make_world
trial = lamp_trial(make_world(Path(sys.argv[1]) / "vault"), "scanDepth=1..50", "maxTokensBudget=100..9000")
search(trial, Plan(SearchWay.RANDOM, runs=5000), Workers(2), journal=Path(sys.argv[1]) / "journal.log")
"""


def children(parent: int) -> set[Path]:
    """The processes that this one began and that still run."""
    found = set()
    for each in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if int((each / "stat").read_text().rpartition(")")[2].split()[1]) == parent:
                found.add(each)
    return found


@pytest.mark.long
@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="reads /proc")
def test_the_workers_of_a_program_that_was_killed_end(tmp_path: Path) -> None:
    """They stayed, with all that they had read; one to which a point was just being handed over stayed for good."""
    program = subprocess.Popen([sys.executable, "-c", SEARCHING, tmp_path])  # noqa: S603  # our own program
    while not (tmp_path / "journal.log").exists() or (tmp_path / "journal.log").read_bytes().count(b"\n") < 40:
        assert program.poll() is None
        time.sleep(0.05)
    begun = children(program.pid)
    assert len(begun) >= 2
    program.kill()
    program.wait()
    deadline = time.monotonic() + 20
    while any(each.exists() for each in begun):
        assert time.monotonic() < deadline
        time.sleep(0.1)


def test_a_line_that_was_being_written_is_no_trouble(world: Project, tmp_path: Path) -> None:
    trial, journal = lamp_trial(world, "scanDepth=1..4"), tmp_path / "journal.log"
    first = search(trial, Plan(SearchWay.GRID, runs=4), journal=journal)
    with journal.open("ab") as file:
        file.write(b'{"op_code": 5, "worker')
    again = search(trial, Plan(SearchWay.GRID, runs=4), journal=journal)
    assert again.tried == first.tried


# ---- entries of a lorebook ------------------------------------------------------------------------------------------


def test_a_lorebook_in_the_place_of_a_vault_is_tuned_and_written(tmp_path: Path) -> None:
    book, chat = tmp_path / "Book.json", tmp_path / "chat.txt"
    lamp = {"uid": 3, "comment": "Lamp", "key": ["lantern", "oil"], "content": "It burns.", "order": 9, "position": 0}
    text = json.dumps({"entries": {"3": lamp}, "kept": 1.50})
    book.write_text(text, encoding="utf-8")
    chat.write_text("Ann: The wick is dry.\nBea: So it is.\nAnn: Is there oil?\nBea: Some.\n", encoding="utf-8")
    project = open_project([book], chat)
    wanted = (Expectation(Should.IN, ("uid 3",), whenever="wick"),)
    trial = trial_of([project], candidate("world-info"), wanted, ["Lamp:key=oil,wick", "uid 3:order=1..3"])
    found = search(trial, Plan(SearchWay.GRID, runs=6))
    assert found.best.point == {"Lamp: key": "wick", "uid 3: order": 3}
    planned = plan_notes(trial, found.best.point)
    now = {axis.label: axis.now for axis in trial.space.axes}
    assert to_carry_over(trial, now | {"uid 3: order": 3}) == (("uid 3: order", "9", "3"),)
    (change,) = planned.changes.changes
    assert change.path == book
    assert change.after == text.replace('["lantern", "oil"]', '["wick"]').replace('"order": 9', '"order": 3')
    book.write_text(text.replace("It burns", "It burnt"), encoding="utf-8")
    with pytest.raises(InputError, match="was changed since it was searched with"):
        plan_notes(trial, found.best.point)
    each_key = trial_of([open_project([book], chat)], candidate("world-info"), wanted, ["Lamp:keys"])
    (edited,) = each_key.space.notes_at({"Lamp: key lantern": True, "Lamp: key oil": False})
    assert edited.text == each_key.space.texts["Book", "uid 3"].replace("  - oil\n", "")


# ---- what cannot be searched ----------------------------------------------------------------------------------------


def test_a_journal_of_another_search_is_refused(world: Project, tmp_path: Path) -> None:
    journal = tmp_path / "journal.log"
    search(lamp_trial(world, "scanDepth=1..2"), Plan(SearchWay.GRID, runs=2), journal=journal)
    for trial, plan in (
        (lamp_trial(world, "scanDepth=1..3"), Plan()),
        (lamp_trial(world, "scanDepth=1..2"), Plan(goals=("met",))),
        (lamp_trial(replace(world, seed=7), "scanDepth=1..2"), Plan()),
    ):
        with pytest.raises(InputError, match="this is the journal of another search"):
            search(trial, plan, journal=journal)
    journal.write_text("once upon a time\nthere was a lamp\n", encoding="utf-8")
    with pytest.raises(InputError, match="this is no journal of a search"):
        search(lamp_trial(world, "scanDepth=1..2"), journal=journal)


@pytest.mark.parametrize(
    "text",
    [
        '{"chat_metadata": {}}\n{"name": "Ann", "mes": "A lamp!"}',
        "---\ntags: [lorebook]\n---\nA lamp",
        "A lamp",
        '{"op_code": 0}\n["op_code"]\n',
        '{"op_code": 0}\n\xff\n',
        "[" * 100_000 + "\n",
    ],
)
def test_a_file_that_is_no_journal_is_refused_and_stays_as_it_is(world: Project, tmp_path: Path, text: str) -> None:
    file = tmp_path / "lamp.jsonl"
    file.write_bytes(text.encode("latin-1"))
    with pytest.raises(InputError, match=r"lamp\.jsonl.*this is no journal of a search"):
        search(lamp_trial(world, "scanDepth=1..2"), journal=file)
    assert file.read_bytes() == text.encode("latin-1")


def test_a_grid_with_too_many_points_and_a_goal_without_anything_to_count_are_refused(world: Project) -> None:
    with pytest.raises(InputError, match="the grid has 4,000 points and 100 may be run"):
        search(lamp_trial(world, "maxTokensBudget=1001..5000"), Plan(SearchWay.GRID))
    nothing = trial_of([world], candidate("deeplore"), (), ["scanDepth=1..2"])
    with pytest.raises(InputError, match="“Expectations met” has nothing to count"):
        search(nothing)


def test_what_is_not_installed_is_said(world: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> Any:
        raise ImportError(name)

    monkeypatch.setattr("lorestudio.studio.tuning.trials.import_module", missing)
    with pytest.raises(InputError, match=r'optuna: .*not installed.*pip install "lorestudio\[tune\]"'):
        search(lamp_trial(world, "scanDepth=1..2"))
    with pytest.raises(InputError, match=r"joblib: .*not installed"):
        Workers(2).check()
    assert searching.GOALS == ("met", "tokens")
