from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from typer.testing import Result

Run = Callable[..., Result]
Scenario = dict[str, Any]


def written(tmp_path: Path, *records: object, name: str = "s.jsonl") -> Path:
    path = tmp_path / name
    path.write_text("".join(f"{json.dumps(record)}\n" for record in records), encoding="utf-8")
    return path


def test_one_object_a_line_in_order(lorestudio: Run, tmp_path: Path, scenario: Scenario) -> None:
    records = [{**scenario, "id": f"number {number}"} for number in (3, 1, 2)]
    result = lorestudio("run", written(tmp_path, *records))
    assert result.exit_code == 0
    assert result.stderr == ""
    results = [json.loads(line) for line in result.stdout.splitlines()]
    assert [item["id"] for item in results] == ["number 3", "number 1", "number 2"]
    assert all(list(item) == ["id", "expected"] for item in results)
    (generation,) = results[0]["expected"]["generations"]
    assert generation["outcome"] == "injected"
    assert generation["groups"][0]["text"] == "<Lamp>\nLicht für alle.\n</Lamp>"
    assert "für" in result.stdout  # readable, not escaped


def test_a_recorded_line_and_a_packed_file(lorestudio: Run, tmp_path: Path, scenario: Scenario) -> None:
    path = tmp_path / "s.jsonl.gz"
    line = json.dumps({"id": "recorded", "tags": [], "scenario": scenario, "expected": {}})
    path.write_bytes(gzip.compress(f"{line}\n{json.dumps(scenario)}\n".encode()))
    result = lorestudio("run", path)
    assert [json.loads(line)["id"] for line in result.stdout.splitlines()] == ["lamp", "lamp"]


def test_a_scenario_is_run_by_other_rules(lorestudio: Run, tmp_path: Path, scenario: Scenario) -> None:
    """Without a place for the content 2.6 takes the built-in template (rules: deeplore-newer 1.13)."""
    scenario["settings"] = {**scenario.get("settings", {}), "injectionTemplate": "<lore/>"}

    def text(*options: str, **changes: object) -> str:
        result = lorestudio("run", written(tmp_path, {**scenario, **changes}), *options)
        generation = json.loads(result.stdout)["expected"]["generations"][0]
        return str(generation["groups"][0]["text"])

    assert text() == text(rules="2.0.2") == text("--rules", "2.0.2", rules="2.6") == "<lore/>"
    assert text(rules="2.6") == text("--rules", "2.6") == "<Lamp>\nLicht für alle.\n</Lamp>"
    refused = lorestudio("run", written(tmp_path, {**scenario, "rules": "2.5"}))
    assert "s.jsonl, line 1, field “rules”" in refused.stderr or "rules" in refused.stderr


def test_the_result_goes_to_a_file(lorestudio: Run, tmp_path: Path, scenario: Scenario) -> None:
    path, out = written(tmp_path, scenario), tmp_path / "new" / "out.jsonl"
    result = lorestudio("run", path, "-o", out)
    assert (result.exit_code, result.stdout) == (0, "")
    assert out.read_bytes() == lorestudio("run", path).stdout_bytes


@pytest.mark.parametrize("old", [None, "kept"])
def test_a_wrong_second_scenario_writes_nothing(
    lorestudio: Run, tmp_path: Path, scenario: Scenario, old: str | None
) -> None:
    wrong = deepcopy(scenario)
    wrong["generations"][0]["chat"] = [4]
    path, folder = written(tmp_path, scenario, wrong), tmp_path / "results"
    folder.mkdir()
    if old is not None:
        (folder / "out.jsonl").write_text(old)
    for arguments in ([path], [path, "-o", folder / "out.jsonl"]):
        result = lorestudio("run", *arguments)
        assert result.exit_code == 2
        assert result.stdout == ""
        assert result.stderr == (
            f"lorestudio: {path}, line 2, field “generations.0.chat.0”: there is no message 4; "
            "there are messages 0 to 0.\n"
        )
    assert {item.name: item.read_text() for item in folder.iterdir()} == ({"out.jsonl": old} if old else {})


def test_a_second_scenario_that_fails_while_it_runs_writes_nothing(
    lorestudio: Run, tmp_path: Path, scenario: Scenario, monkeypatch: pytest.MonkeyPatch
) -> None:
    from lorestudio.exchange.problems import InputError  # noqa: PLC0415  # only here
    from lorestudio.studio.replay import scenario as scenarios  # noqa: PLC0415  # only here

    real = scenarios.run_scenario

    def failing(item: Any, root: Path | None = None) -> dict[str, Any]:
        if item.id == "second":
            raise InputError("notes/Lamp.md", "the scenario's vault cannot be read: gone.")
        return real(item, root)

    monkeypatch.setattr(scenarios, "run_scenario", failing)
    path, out = written(tmp_path, scenario, {**scenario, "id": "second"}), tmp_path / "out.jsonl"
    for arguments in ([path], [path, "-o", out]):
        result = lorestudio("run", *arguments)
        assert (result.exit_code, result.stdout) == (2, "")
        assert "notes/Lamp.md" in result.stderr
    assert not out.exists()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "the file is empty"),
        ('{"id": "x",\n "vaults": [}', "line 2: this is no valid JSON"),
        ('{"id": "x", "messages": [], "generations": []}', "field “vaults”: it is missing"),
        ("[]", "there is no scenario in it"),
    ],
)
def test_bad_files_are_named(lorestudio: Run, tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "bad.json"
    path.write_text(text)
    result = lorestudio("run", path)
    assert result.exit_code == 2
    assert result.stderr.startswith(f"lorestudio: {path}")
    assert said in result.stderr


def test_a_vault_by_reference(lorestudio: Run, tmp_path: Path, scenario: Scenario, vault: Path) -> None:
    scenario["vaults"] = [{"name": "b", "ref": vault.name}]
    path = written(tmp_path, scenario)
    missing = lorestudio("run", path)
    assert missing.exit_code == 2
    assert f"{path}, line 1, field “vaults.0.ref”" in missing.stderr
    assert "--vault-root" in missing.stderr
    found = lorestudio("run", path, "--vault-root", vault.parent)
    entries = json.loads(found.stdout)["expected"]["index"]["entries"]
    assert [entry["filename"] for entry in entries] == ["Lamp.md", "Old Bell.md", "Tide.md"]


def test_an_output_that_cannot_be_written(lorestudio: Run, tmp_path: Path, scenario: Scenario) -> None:
    result = lorestudio("run", written(tmp_path, scenario), "-o", tmp_path)
    assert result.exit_code == 2
    assert f"lorestudio: {tmp_path}: the file cannot be written" in result.stderr


def test_a_misspelt_field_is_told_once_and_what_was_asked_for_is_run(
    lorestudio: Run, tmp_path: Path, scenario: Scenario
) -> None:
    result = lorestudio("run", written(tmp_path, *[{**scenario, "sytem": "hybrid"}] * 2))
    assert result.exit_code == 0
    assert len(result.stdout.splitlines()) == 2
    assert result.stderr.splitlines() == [
        "lorestudio: “sytem”: a scenario has no such field, so it has no effect. Did you mean “system”?"
    ]
