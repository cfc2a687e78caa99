"""`lorestudio score`: one chat and several, with expectations and without."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tests.cli.provider import provider
from tests.llm.server import completion, reply

EXPECTED = """\
expectations:
  - {note: Lamp, should: be in, whenever: lamp}
  - {note: Old Bell, should: be in, whenever: bell}
"""


@pytest.fixture
def expecting(vault: Path) -> Path:
    (vault / "lorestudio-expectations.yaml").write_text(EXPECTED, encoding="utf-8")
    return vault


def test_a_chat_is_scored_against_what_is_expected(lorestudio: Run, expecting: Path, chat: Path) -> None:
    (run,) = json.loads(lorestudio("score", expecting, "--chat", chat, "--json").stdout)["runs"]
    checked = json.loads(lorestudio("check", expecting, "--chat", chat, "--json").stdout)["checks"][0]["expectations"]
    replies = sum(each["replies"] for each in checked)
    broken = sum(len(each["breaks"]) for each in checked)
    assert run["metrics"]["met"]["value"] == pytest.approx(1 - broken / replies)
    assert run["metrics"]["recall"]["value"] == pytest.approx(1 - broken / replies)
    assert run["metrics"]["precision"]["value"] == 1
    assert run["silver"] is None
    printed = lorestudio("score", expecting, "--chat", chat).stdout
    assert "Recall" in printed


def test_without_expectations_costs_and_use_are_told(lorestudio: Run, vault: Path, chat: Path) -> None:
    result = lorestudio("score", vault, "--chat", chat, "--chat", chat, "--json")
    assert result.exit_code == 0
    found = json.loads(result.stdout)
    one, other = found["runs"]
    assert one == other
    assert one["metrics"]["recall"]["value"] is None
    (both,) = found["together"]
    assert both["metrics"]["tokens"]["value"] == one["metrics"]["tokens"]["value"] > 0
    assert {use["title"] for use in one["use"]} >= {"Lamp"}


def test_a_models_selections_are_labels_for_the_other_runs(lorestudio: Run, vault: Path, chat: Path) -> None:
    asking = Path("asking.json")
    asking.write_text('{"aiSearchEnabled": true, "aiSearchMode": "ai-only"}', encoding="utf-8")
    runs = ("--run", f"deeplore:{asking}", "--run", "world-info")
    result = lorestudio("score", vault, "--chat", chat, *runs, "--json")
    assert result.exit_code == 0, result.output
    first, second = (run["silver"] for run in json.loads(result.stdout)["runs"])
    assert first["by"] == second["by"] == f"offline stand-in in deeplore:{asking}"
    assert 0 <= second["metrics"]["recall"]["value"] <= 1
    printed = lorestudio("score", vault, "--chat", chat, *runs).stdout
    assert "nobody has checked them" in " ".join(printed.split())


def test_what_vectors_bring_in_is_no_models_selection(lorestudio: Run, vault: Path, chat: Path) -> None:
    asking = Path("asking.json")
    asking.write_text('{"aiSearchEnabled": true, "aiSearchMode": "ai-only"}', encoding="utf-8")
    runs = ("--run", "hybrid", "--run", f"deeplore:{asking}")
    result = lorestudio("score", vault, "--chat", chat, *runs, "--json")
    assert result.exit_code == 0, result.output
    runs_scored = json.loads(result.stdout)["runs"]
    first, second = (run["silver"] for run in runs_scored)
    assert first["by"] == second["by"] == f"offline stand-in in deeplore:{asking}"
    vectors, asked = (run["metrics"]["ai_calls"]["value"] for run in runs_scored)
    assert (vectors, asked > 0) == (0, True)
    assert second["metrics"]["recall"]["value"] == 1  # its own choices
    assert "silver labels" not in lorestudio("score", vault, "--chat", chat, "--run", "hybrid").stdout


def test_a_file_of_expectations_that_is_not_there_is_told(lorestudio: Run, vault: Path, chat: Path) -> None:
    result = lorestudio("score", vault, "--chat", chat, "--expectations", "none.yaml")
    assert (result.exit_code, "there is no such file" in result.stderr) == (2, True)


def test_a_model_judges_what_was_used_after_the_cost_was_told(lorestudio: Run, vault: Path, chat: Path) -> None:
    said = completion('{"used": [1]}')
    with provider(reply(said), reply(said)) as server:
        lorestudio("profiles", "add", "Local", "--url", server.url, "--model", "tiny")
        asking = ("score", vault, "--chat", chat, "--judge", "Local")
        assert "nobody is here to agree" in lorestudio(*asking).stderr
        assert server.calls == []
        result = lorestudio(*asking, "--yes", "--json")
        assert result.exit_code == 0, result.output
        assert "2 calls to the provider" in result.stderr
        assert len(server.calls) == 2
        (run,) = json.loads(result.stdout)["runs"]
        # Both replies have used the first note of their prompt, and no other one.
        assert run["use_by"]
        assert sum(use["used"] for use in run["use"]) == 2
        again = json.loads(lorestudio("score", vault, "--chat", chat, "--judge", "recorded", "--json").stdout)
        assert again["runs"][0]["use"] == run["use"]
        assert len(server.calls) == 2


def test_an_answer_that_is_none_and_a_judge_that_cannot_judge_are_told(
    lorestudio: Run, vault: Path, chat: Path
) -> None:
    with provider(reply(completion("All of them, I think."))) as server:
        lorestudio("profiles", "add", "Local", "--url", server.url, "--model", "tiny")
        result = lorestudio("score", vault, "--chat", chat, "--judge", "Local", "--yes")
        assert (result.exit_code, "Traceback" in result.output) == (1, False)
    result = lorestudio("score", vault, "--chat", chat, "--judge", "nope")
    assert (result.exit_code, "--judge: there is no profile “nope”" in result.stderr) == (2, True)
    result = lorestudio("score", vault, "--chat", chat, "--judge", "stand-in")
    assert (result.exit_code, "cannot read a reply" in result.stderr) == (2, True)
