"""A retrieval system that nobody has heard of, in every command that names one."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from typer.testing import Result

from tests.systems.toy.registering import toy_registered

Run = Callable[..., Result]


@pytest.fixture(params=["built in", "installed"], autouse=True)
def _toy(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[None]:
    with toy_registered(request.param, tmp_path):
        yield


@pytest.fixture
def asked(lorestudio: Run, vault: Path, chat: Path) -> Callable[..., str]:
    """What a command about the chat prints."""

    def ask(command: str, *options: object, code: int = 0) -> str:
        result = lorestudio(command, vault, *options, "--chat", chat)
        assert result.exit_code == code, result.output
        return " ".join(result.output.split())

    return ask


def test_replay_with_settings(asked: Callable[..., str], tmp_path: Path) -> None:
    assert "Tide" in asked("replay", "--system", "toy")
    file = tmp_path / "toy.json"
    file.write_text('{"messages": 1}')
    options = ("--system", "toy", "--system-settings", file, "--set", "most_notes=1", "--json")
    traces = [each["trace"] for each in json.loads(asked("replay", *options))]
    assert [len(trace["injections"]) for trace in traces] == [1, 1, 1, 0]
    assert {stage["name"] for stage in traces[0]["stages"]} == {"titles", "the most urgent", "placing"}
    assert "Did you mean" in asked("replay", "--system", "toy", "--set", "most_note=1", code=2)


def test_explain_and_why_not(asked: Callable[..., str]) -> None:
    options = ("--system", "toy", "--message", 3)
    assert "The title “Tide” was said." in asked("explain", *options, "--entry", "Tide")
    assert "Nobody said the title “Old Bell”." in asked("explain", *options, "--entry", "Old Bell")
    assert "Most notes" in asked("explain", *options, "--set", "most_notes=0", "--entry", "Tide", "--why-not")


def test_bench(lorestudio: Run, vault: Path) -> None:
    told = " ".join(lorestudio("test", vault, "--text", "The old bell", "--system", "toy").output.split())
    assert "+ Old Bell" in told


def test_preview(asked: Callable[..., str], tmp_path: Path) -> None:
    text = tmp_path / "edited.md"
    text.write_text("---\ntags: [lorebook]\n---\n# Later\n\nAnew.\n", encoding="utf-8")
    assert "Later" in asked("preview", "Old Bell", "--text", text, "--system", "toy")


def test_compare(asked: Callable[..., str]) -> None:
    found = json.loads(asked("compare", "--run", "toy", "--run", "toy", "--run", "deeplore", "--json"))
    assert [run["label"] for run in found["runs"]] == ["toy", "toy", "deeplore"]
    assert found["runs"][0]["agreement"]["toy"] == 1


def test_diff(asked: Callable[..., str], tmp_path: Path) -> None:
    none = tmp_path / "none.json"
    none.write_text('{"mostNotes": 0}')
    told = asked("diff", "--message", 3, "--system", "toy", "--system2", f"toy:{none}")
    assert "Most notes: 3 → 0" in told
    assert "Tide" in asked("diff", "--message", 3, "--system2", "toy")


def test_a_scenario_is_written_and_run(asked: Callable[..., str], lorestudio: Run) -> None:
    asked("scenario", "--message", 3, "--system", "toy", "--set", "messages=1", "-o", "turn.json")
    assert json.loads(Path("turn.json").read_text(encoding="utf-8"))["system_settings"] == {"messages": 1}
    (line,) = lorestudio("run", "turn.json").output.splitlines()
    reports = json.loads(line)["expected"]["generations"]
    assert [each["title"] for each in reports[-1]["injected"]] == ["Tide"]
