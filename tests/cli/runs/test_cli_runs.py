"""Reading kept runs on the command line, and explaining runs of other systems."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from lorestudio.domain.entry import VaultIndex
from lorestudio.domain.state import ChatControls
from lorestudio.studio.project.project import open_project
from lorestudio.studio.replay.run_store import RunStore, default_folder
from lorestudio.studio.replay.simulator import Simulator
from lorestudio.systems.base import Decided, Moment, State
from lorestudio.systems.hybrid.system import HybridSystem
from lorestudio.systems.registry import KINDS
from lorestudio.trace.storage.store import TraceStore
from tests.cli.conftest import Run
from tests.trace.examples import stored_run


@pytest.fixture
def kept(vault: Path, chat: Path) -> None:
    """What a window keeps of the chat: DeepLore's runs and those of hybrid retrieval."""
    project = open_project([vault], chat)
    kind = KINDS["hybrid"]
    with RunStore(default_folder()) as store:
        for simulator in (Simulator(project), Simulator(project, kind.make(kind.settings(), project.scene()))):
            asyncio.run(simulator.replay())
            store.keep(simulator)


@pytest.mark.usefixtures("kept")
def test_kept_runs_are_listed_by_system(lorestudio: Run, vault: Path, chat: Path) -> None:
    result = lorestudio("runs", vault, "--chat", chat, "--system", "hybrid")
    assert result.exit_code == 0, result.output
    assert "as now" in result.output
    assert "yes" in result.output
    assert "stale" not in result.output
    traces = json.loads(lorestudio("runs", vault, "--chat", chat, "--system", "hybrid", "--json").stdout)
    assert {each["trace"]["system"] for each in traces} == {"hybrid"}
    own = json.loads(lorestudio("runs", vault, "--chat", chat, "--json").stdout)
    assert {each["trace"]["system"] for each in own} == {"deeplore"}
    assert len(own) == len(traces)


@pytest.mark.usefixtures("kept")
def test_a_run_with_other_settings_is_stale(lorestudio: Run, vault: Path, chat: Path) -> None:
    result = lorestudio("runs", vault, "--chat", chat, "--system", "hybrid", "--set", "limit=1")
    assert "stale" in result.output
    assert "yes" not in result.output


@pytest.mark.usefixtures("kept")
def test_all_kept_runs_of_one_reply(lorestudio: Run, vault: Path, chat: Path) -> None:
    with TraceStore(default_folder() / "traces.sqlite") as store:
        (name,) = {path.name.split(".")[0] for path in default_folder().glob("*.states.json.gz")}
        newest = store.latest_all(name, "hybrid")[-1]
        store.add_runs(name, [stored_run(newest)])
    last = newest.turn.message
    found = json.loads(
        lorestudio("runs", vault, "--chat", chat, "--system", "hybrid", "--message", last, "--json").stdout
    )
    assert [each["trace"]["turn"]["message"] for each in found] == [last, last]
    assert "is no reply" in lorestudio("runs", vault, "--chat", chat, "--message", 99).output


@pytest.mark.usefixtures("kept")
def test_runs_of_replies_that_were_deleted_are_not_listed(lorestudio: Run, vault: Path, chat: Path) -> None:
    def listed(*more: object) -> list[int]:
        told = lorestudio("runs", vault, "--chat", chat, "--json", *more).stdout
        return [each["trace"]["turn"]["message"] for each in json.loads(told)]

    messages = len(open_project([vault], chat).chat.messages)
    assert listed()[-1] == messages
    lines = chat.read_text("utf-8").splitlines()
    begins = len(lines) - messages
    chat.write_text("\n".join(lines[:begins] + lines[begins + 2 :]), "utf-8")
    last = len(open_project([vault], chat).chat.messages)
    assert last == messages - 2
    assert listed() == []
    assert "No run with deeplore is kept of the replies" in lorestudio("runs", vault, "--chat", chat).output
    assert "No run with" in lorestudio("runs", vault, "--chat", chat, "--message", last).output


@pytest.mark.usefixtures("kept")
def test_runs_of_chats_that_are_gone_are_deleted(lorestudio: Run, vault: Path, chat: Path) -> None:
    assert "0 runs of 0 chats deleted, 0.0 MiB. " in lorestudio("runs", "--prune").stderr
    told = chat.read_bytes()
    chat.unlink()
    result = lorestudio("runs", "--prune")
    assert result.exit_code == 0
    assert "8 runs of 1 chat deleted, " in result.stderr
    assert f"left in {default_folder()}." in result.stderr
    chat.write_bytes(told)
    assert "Nothing is kept" in lorestudio("runs", vault, "--chat", chat).output


def test_where_there_are_no_runs_none_are_deleted(lorestudio: Run) -> None:
    assert lorestudio("runs", "--prune").stderr == "lorestudio: nothing is kept.\n"
    assert not default_folder().exists()


def test_where_nothing_is_kept_it_says_what_keeps(lorestudio: Run, vault: Path, chat: Path) -> None:
    assert "The window keeps them" in lorestudio("runs", vault, "--chat", chat).output
    assert not default_folder().exists()


@pytest.mark.usefixtures("kept")
def test_what_there_is_instead(lorestudio: Run, vault: Path, chat: Path) -> None:
    output = lorestudio("runs", vault, "--chat", chat, "--system", "recap").output
    assert "There are runs with: deeplore" in output
    assert "no system “odd”" in lorestudio("runs", vault, "--chat", chat, "--system", "odd").output
    assert "a setting of facts or hybrid" in lorestudio("runs", vault, "--chat", chat, "--set", "limit=1").output


def test_a_turn_of_another_system_is_explained(lorestudio: Run, vault: Path, chat: Path) -> None:
    result = lorestudio("explain", vault, "--chat", chat, "--system", "hybrid", "--set", "semantic_threshold=0.99")
    assert result.exit_code == 0, result.output
    entry = json.loads(
        lorestudio("explain", vault, "--chat", chat, "--system", "hybrid", "--entry", "Tide", "--json").stdout
    )
    assert entry["reason"].startswith("hy_")
    assert [stage["stage"] for stage in entry["stages"]][:3] == ["snapshot", "constants", "keyword prefilter"]


@pytest.mark.usefixtures("kept")
def test_what_is_kept_is_explained_without_running_it(
    lorestudio: Run, vault: Path, chat: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is run but changes that may bring the entry in, and what would have become of it where it stayed out."""
    decide = HybridSystem.decide
    project = open_project([vault], chat)

    def inputs(settings: object, index: VaultIndex, controls: ChatControls) -> object:
        return settings, [(entry.title, entry.keys, entry.constant, entry.content) for entry in index.entries], controls

    as_kept = inputs(KINDS["hybrid"].settings(), project.index, project.controls)

    async def only_otherwise(system: HybridSystem, moment: Moment, state: State = None) -> Decided:
        assert moment.held is not None or inputs(system.settings, moment.index, moment.controls) != as_kept
        return await decide(system, moment, state)

    monkeypatch.setattr(HybridSystem, "decide", only_otherwise)
    result = lorestudio("explain", vault, "--chat", chat, "--system", "hybrid", "--entry", "Lamp")
    assert result.exit_code == 0, result.output
    assert "“Lamp”" in result.output
    monkeypatch.chdir(chat.parent)  # the same file under a shorter name
    result = lorestudio("explain", vault, "--chat", chat.name, "--system", "hybrid", "--entry", "Lamp")
    assert result.exit_code == 0, result.output


def test_what_would_bring_an_entry_in_is_found_by_the_system(lorestudio: Run, vault: Path, chat: Path) -> None:
    asked = ("explain", vault, "--chat", chat, "--system", "context-window", "--why-not", "--entry", "Lamp", "--json")
    found = json.loads(lorestudio(*asked).stdout)
    why_not = found["why_not"]
    assert why_not["runs"] > 0
    assert why_not["answers"]
    fill = [answer for answer in why_not["answers"] if answer["settings"] == {"fill_mode": True}]
    assert fill
    assert fill[0]["holds"] == "both"
