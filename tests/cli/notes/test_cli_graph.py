from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import Result

from lorestudio.exchange.lorebooks.entry import NEW_ENTRY

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


@pytest.fixture
def book(tmp_path: Path) -> Path:
    """Bell and tower wake each other; the tower's text also names the fog, which recursion is not to find."""
    raws = (
        {"comment": "Bell", "key": ["bell"], "content": "It hangs in the tower."},
        {"comment": "Tower", "key": ["tower"], "content": "Fog around it; the Bell rings."},
        {"comment": "Fog", "key": ["fog"], "content": "Grey.", "excludeRecursion": True},
    )
    path = tmp_path / "Book.json"
    listed = {str(uid): {**NEW_ENTRY, "uid": uid, **raw} for uid, raw in enumerate(raws)}
    path.write_text(json.dumps({"entries": listed}), encoding="utf-8")
    return path


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


WOKEN = {("Bell", "wakes by “tower”", "Tower", "2"), ("Tower", "wakes by “bell”", "Bell", "2")}


def test_entries_of_a_lorebook_are_connected_by_what_their_texts_wake(lorestudio: Run, book: Path) -> None:
    found = rows(lorestudio("graph", book).stdout)
    assert {("2 connections",), *WOKEN} <= found
    assert ("orphan", "Fog", "nothing is connected with it") in rows(lorestudio("graph", book, "--gaps").stdout)
    data = json.loads(lorestudio("graph", book, "--json").stdout)
    assert data["edges"] == [
        {"source": 0, "target": 1, "kind": "wakes", "weight": 2, "key": "tower"},
        {"source": 1, "target": 0, "kind": "wakes", "weight": 2, "key": "bell"},
    ]


@pytest.mark.parametrize(
    ("options", "wakes"),
    [
        (["--set", "world_info_recursive=false"], set()),
        (["--set", "world_info_case_sensitive=true"], {("Bell", "wakes by “tower”", "Tower", "2")}),
        (["--system", "deeplore", "--settings", "recursive.json"], {*WOKEN, ("Tower", "wakes by “fog”", "Fog", "1")}),
        (["--system", "deeplore"], set()),
        (["--system", "recap"], set()),
    ],
)
def test_what_wakes_is_as_the_system_and_its_settings_say(
    lorestudio: Run, book: Path, options: list[str], wakes: set[tuple[str, ...]]
) -> None:
    Path("recursive.json").write_text('{"recursiveScan": true}', encoding="utf-8")
    found = rows(lorestudio("graph", book, *options).stdout)
    assert {row for row in found if len(row) == 4 and row[1].startswith("wakes")} == wakes


def test_of_a_vault_it_is_told_where_somebody_asks(lorestudio: Run, town: Path) -> None:
    (town / "Ring.md").write_text("---\ntags: [lorebook]\nkeys: [tower]\n---\nA square of stones.\n", encoding="utf-8")
    woken = ("Ring", "wakes by “square”", "Square", "2")  # each names a key of the other
    Path("recursive.json").write_text('{"recursiveScan": true}', encoding="utf-8")
    plain, asked = lorestudio("graph", town), lorestudio("graph", town, "--wakes", "--settings", "recursive.json")
    off = lorestudio("graph", town, "--wakes")
    assert (rows(off.stdout), "Recursion is off" in off.stderr) == (rows(plain.stdout), True)
    assert woken in rows(asked.stdout) - rows(plain.stdout)
    assert ("Square", "link", "Tower", "1") in rows(asked.stdout)
    assert woken in rows(lorestudio("graph", town, "--wakes", "--system", "world-info").stdout)
    nobody = lorestudio("graph", town, "--wakes", "--system", "hybrid")
    assert (rows(nobody.stdout), nobody.exit_code) == (rows(plain.stdout), 0)
    assert "does not say what wakes these entries" in nobody.stderr
