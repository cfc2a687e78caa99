from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import Result

Run = Callable[..., Result]


@pytest.fixture
def town(tmp_path: Path) -> Path:
    """A pair that requires each other, a link from outside it, and a note on its own."""
    folder = tmp_path / "town"
    folder.mkdir()
    for name, front, body in (
        ("Bell", "requires: [Tower]\nera: dawn", "Bell."),
        ("Tower", "requires: [Bell]", "The bell hangs here."),
        ("Square", "keys: [square]", "Below the [[Tower]]."),
        ("Well", "era: dawn", "Deep."),
    ):
        (folder / f"{name}.md").write_text(f"---\ntags: [lorebook]\n{front}\n---\n{body}\n", encoding="utf-8")
    return folder


def rows(text: str) -> set[tuple[str, ...]]:
    return {tuple(part.strip() for part in line.split("  ") if part.strip()) for line in text.splitlines()}


def test_the_table_lists_communities_and_every_edge(lorestudio: Run, town: Path) -> None:
    result = lorestudio("graph", town)
    assert result.exit_code == 0
    found = rows(result.stdout)
    assert {("1 community of 4 entries",), ("3 connections",)} <= found
    assert {("Bell", "requires", "Tower", "1"), ("Tower", "requires", "Bell", "1")} <= found
    assert ("Square", "link", "Tower", "1") in found


def test_gaps_name_circles_orphans_and_missing_connections(lorestudio: Run, town: Path) -> None:
    result = lorestudio("graph", town, "--gaps")
    assert result.exit_code == 0
    found = rows(result.stdout)
    assert ("3 gaps",) in found
    assert ("circle", "Bell → Tower → Bell", "each requires the next") in found
    assert ("orphan", "Well", "nothing is connected with it") in found
    assert ("missing", "Bell - Well", "both have era: dawn") in found


def test_json_is_one_line_for_other_programs(lorestudio: Run, town: Path) -> None:
    result = lorestudio("graph", town, "--json")
    data = json.loads(result.stdout)
    assert result.stdout.count("\n") == 1
    titles = {node["id"]: node["title"] for node in data["nodes"]}
    assert sorted(titles.values()) == ["Bell", "Square", "Tower", "Well"]
    assert {(titles[edge["source"]], edge["kind"], titles[edge["target"]]) for edge in data["edges"]} == {
        ("Bell", "requires", "Tower"),
        ("Tower", "requires", "Bell"),
        ("Square", "link", "Tower"),
    }
    gaps = json.loads(lorestudio("graph", town, "--gaps", "--json").stdout)
    assert gaps == data["gaps"]
    assert [titles[entry] for entry in gaps["orphans"]] == ["Well"]


def test_a_vault_that_is_not_there_ends_with_2(lorestudio: Run, tmp_path: Path) -> None:
    result = lorestudio("graph", tmp_path / "nowhere")
    assert result.exit_code == 2
    assert "nowhere" in result.stderr


def test_rules_that_nobody_knows_are_refused(lorestudio: Run, town: Path) -> None:
    assert lorestudio("graph", town, "--rules", "2.6").exit_code == 0
    result = lorestudio("graph", town, "--rules", "3")
    assert (result.exit_code, "--rules" in result.stderr) == (2, True)
