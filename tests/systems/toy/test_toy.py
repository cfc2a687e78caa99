"""A seventh system is one folder and one line, or an installed package: nothing else has to know of it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

import lorestudio
from lorestudio.domain.chat import Generation
from lorestudio.exchange.problems import InputError
from lorestudio.studio.compare.causes import find_causes, side_of
from lorestudio.studio.compare.comparison import candidate, compare_candidates
from lorestudio.studio.project.doctor import examine
from lorestudio.studio.project.settings import SystemSettingsFiles
from lorestudio.studio.replay.exported_scenario import export_turn
from lorestudio.studio.replay.run_store import RunStore
from lorestudio.studio.replay.scenario import run_scenario
from lorestudio.studio.replay.simulator import Simulator
from lorestudio.studio.tryout.bench import Bench
from lorestudio.studio.tryout.preview import Previewer
from lorestudio.studio.tryout.why_not import WhyNotFinder
from lorestudio.systems.registry import KINDS, kind_of, system_of
from lorestudio.trace.explain import explain
from lorestudio.trace.journey import Journeys
from lorestudio.trace.summary import summary
from lorestudio.trace.text import as_text
from tests.studio.previews import note
from tests.systems.toy.registering import install, looked_again, toy_registered
from tests.systems.toy.settings import ToySettings
from tests.systems.toy.system import KIND, ToySystem

NOTES = {"Lamp": "priority: 20", "Gate": "priority: 10", "Tide": "priority: 30", "Bell": "priority: 40"}
SAID = ("The lamp burns by the gate.", "Yes, by the gate.", "And the tide?", "It rises with the bell.")


@pytest.fixture(params=["built in", "installed"])
def toy(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    with toy_registered(request.param, tmp_path):
        yield request.param


@pytest.fixture
def project(tmp_path: Path) -> lorestudio.Project:
    folder = tmp_path / "v"
    folder.mkdir()
    for name, front in NOTES.items():
        (folder / f"{name}.md").write_text(f"---\ntags: [lorebook]\n{front}\n---\nOf {name}.\n", encoding="utf-8")
    chat = tmp_path / "chat.jsonl"
    head = {"user_name": "Wren", "character_name": "Ann"}
    said = [{"name": "Ann" if n % 2 else "Wren", "is_user": not n % 2, "mes": text} for n, text in enumerate(SAID)]
    chat.write_text("\n".join(json.dumps(each) for each in (head, *said)), encoding="utf-8")
    return lorestudio.open_project(folder, chat)


def replayed(project: lorestudio.Project, settings: ToySettings | None = None) -> Simulator:
    simulator = Simulator(project, system_of(project.scene(), kind_of("toy"), settings))
    asyncio.run(simulator.replay())
    return simulator


def titles(trace: lorestudio.Trace) -> list[str]:
    return [each.title for each in trace.injections]


def test_it_is_one_of_the_systems(toy: str) -> None:
    assert list(KINDS)[-1] == "toy"
    assert kind_of("toy") is KIND
    assert KINDS.problems == ()
    assert lorestudio.system_names()[-1] == "toy"
    (told,) = [each for each in examine(has_display=False) if each.subject == "Systems"]
    assert told.ok
    assert told.message.endswith("toy")


def test_replay_and_words(toy: str, project: lorestudio.Project) -> None:
    traces = replayed(project).traces
    assert [titles(trace) for trace in traces.values()] == [["Gate", "Lamp"], ["Gate", "Tide"], ["Tide", "Bell"]]
    last = list(traces.values())[-1]
    journeys = Journeys(last)
    lamp = lorestudio.find_entry(project, "Lamp").id
    assert journeys.fate(lamp).explain(last).label == "Not said"
    (verdict,) = last.stages[0].verdicts[:1]
    assert explain(verdict, last).label == "Said"
    assert summary(last)
    assert "Tide" in as_text(last, project.index)


def test_from_a_script(toy: str, project: lorestudio.Project) -> None:
    assert titles(lorestudio.replay(project, "toy", {"mostNotes": 1})[0]) == ["Gate"]


def test_what_was_run_is_kept_and_told_in_its_words(toy: str, project: lorestudio.Project, tmp_path: Path) -> None:
    simulator = replayed(project)
    again = Simulator(project, simulator.system)
    with RunStore(tmp_path / "runs") as store:
        store.keep(simulator)
        assert store.restore(again) == len(simulator.generations)
        assert not store.problems
    assert {trace.words for trace in again.traces.values()} == {KIND.words}


def test_why_not(toy: str, project: lorestudio.Project) -> None:
    """The settings of the system are what is tried, and what it finds brings the note in."""
    simulator = replayed(project)
    found = WhyNotFinder(simulator, simulator.generations[-1]).find(("v", "Lamp.md"))
    change = next(answer.change for answer in found.answers if "Messages read" in answer.change.title)
    settings = change.set_in(simulator.system.settings)
    assert settings.messages == 4
    assert "Lamp" in titles(list(replayed(project, settings).traces.values())[-1])


def test_bench_and_preview(toy: str, project: lorestudio.Project) -> None:
    simulator = replayed(project)
    result = Bench(simulator).test("Bell, lamp and gate")
    assert {row.title for row in result.injected} == {"Bell", "Lamp", "Gate"}
    text = "---\ntags: [lorebook]\ntitle: It rises\npriority: 1\n---\n# It rises\n\nNew.\n"
    made = Previewer(simulator, simulator.generations[-1]).preview([note("Bell.md", text)])
    assert titles(made.trace)[0] == "It rises"
    tight = Previewer(simulator, simulator.generations[-1]).preview((), settings=ToySettings(most_notes=1))
    assert titles(tight.trace) == ["Tide"]


def test_compare(toy: str, project: lorestudio.Project, tmp_path: Path) -> None:
    file = tmp_path / "one.json"
    file.write_text('{"mostNotes": 1}')
    chosen = [candidate("toy"), candidate(f"toy:{file}"), candidate("deeplore")]
    found = asyncio.run(compare_candidates(project, chosen))
    assert [total.entries for total in found.totals] == [2, 1, 0]


def test_causes_of_a_difference(toy: str, project: lorestudio.Project) -> None:
    last = Generation(4)
    sides = [side_of(replayed(project, each), last) for each in (ToySettings(), ToySettings(most_notes=1))]
    found = find_causes(*sides)
    assert [cause.difference.sentence for cause in found.causes if cause.does_something] == ["Most notes: 3 → 1"]


def test_a_scenario_says_the_same_again(toy: str, project: lorestudio.Project) -> None:
    simulator = replayed(project, ToySettings(most_notes=1))
    made = export_turn(simulator, simulator.generations[-1])
    assert made.differing == ()
    assert (made.scenario.system, dict(made.scenario.system_settings)) == ("toy", {"mostNotes": 1})
    (*_, last) = run_scenario(made.scenario)["expected"]["generations"]
    assert [each["title"] for each in last["injected"]] == ["Tide"]


def test_its_settings_are_kept_and_read(toy: str, tmp_path: Path) -> None:
    files = SystemSettingsFiles(tmp_path / "systems")
    path = files.write("toy", ToySettings(messages=7))
    assert json.loads(path.read_text()) == {"messages": 7}
    known = files.read()
    assert (known.values["toy"], known.problems) == (ToySettings(messages=7), ())
    assert kind_of("toy").read(path, ["most_notes=1"]) == ToySettings(messages=7, most_notes=1)


def test_without_it_there_is_none() -> None:
    assert "toy" not in KINDS


# ---- what is wrong with an installed one ----------------------------------------------------------------------------

ALMOST = """
from pydantic import BaseModel
from lorestudio.domain.records import replace
from tests.systems.toy.system import KIND

class Bare(BaseModel):
    number: int = 1

def second():
    return replace(KIND, name="toy-2")

def breaks():
    raise RuntimeError("no licence")

HYBRID = replace(KIND, name="hybrid")
HYPHENS = replace(KIND, name="worldinfo")
SLASH = replace(KIND, name="a/b")
BARE = replace(KIND, name="bare", settings=Bare)
NUMBER = 7
"""


@pytest.mark.parametrize(
    ("value", "told"),
    [
        ("almost:breaks", "RuntimeError: no licence"),
        ("almost:nothing", "AttributeError: "),
        ("not_there_at_all:KIND", "ModuleNotFoundError: No module named 'not_there_at_all'"),
        ("almost:NUMBER", "almost:NUMBER is no SystemKind"),
        ("almost:HYBRID", "there is a system “hybrid” already (Hybrid retrieval)."),
        ("almost:HYPHENS", "there is a system “world-info” already"),
        ("almost:SLASH", "the name “a/b” has other characters"),
        ("almost:BARE", "its settings are not declared"),
    ],
)
def test_one_that_cannot_be_used_is_told_and_the_others_work(tmp_path: Path, value: str, told: str) -> None:
    with looked_again() as patch:
        built_in = list(KINDS)
        KINDS._known = None
        install(patch, tmp_path / "site", "almost", value, "almost:second", code=ALMOST)
        assert list(KINDS) == [*built_in, "toy-2"]
        (problem,) = KINDS.problems
        assert problem.startswith("An installed retrieval system cannot be used: “system0” of the package almost: ")
        assert told in problem
        assert SystemSettingsFiles(tmp_path).read().problems == (problem,)
        (found,) = [each for each in examine(has_display=False) if each.subject == "Systems"]
        assert not found.ok
        assert problem.rstrip(".") in found.message
        with pytest.raises(InputError, match="there is no system “other”") as error:
            kind_of("other")
        assert problem in str(error.value)
        assert isinstance(system_of(lorestudio.demo_project().scene(), kind_of("toy2")), ToySystem)


def test_of_two_with_one_name_the_first_package_counts(tmp_path: Path) -> None:
    with looked_again() as patch:
        code = ALMOST.partition("class")[0] + "MINE = replace(KIND, title='{}')"
        for name in ("zebra", "ape"):
            install(patch, tmp_path / name, name, f"{name}:MINE", code=code.format(name))
        assert kind_of("toy").title == "ape"
        assert "package zebra: there is a system “toy” already (ape)." in KINDS.problems[0]
