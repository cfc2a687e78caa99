"""`lorestudio tune`: what it finds, keeps and writes, and how it goes on."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Run
from tests.studio.tuning.searches import make_world

EXPECTED = """\
expectations:
  - {note: Lamp.md, should: be in}
"""


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tune")
    make_world(folder / "vault")
    (folder / "vault" / "lorestudio-expectations.yaml").write_text(EXPECTED, encoding="utf-8")
    return folder


def arguments(world: Path, *more: object) -> tuple[object, ...]:
    return ("tune", world / "vault", "--chat", world / "story.txt", *more)


GRID = ("--over", "scanDepth=1..6", "--over", "Lamp:priority=10,99", "--by", "grid")


@pytest.mark.long
def test_it_finds_keeps_and_reports(lorestudio: Run, world: Path) -> None:
    carry = ("--keep", "found", "--output", "found.json", "--report", "page.html", "--journal", "search.log")
    result = lorestudio(*arguments(world, *GRID, *carry, "--json"))
    assert result.exit_code == 0, result.output
    found: dict[str, Any] = json.loads(result.stdout)
    assert len(found["points"]) == 12
    best = next(each for each in found["points"] if each["number"] == found["best"])
    assert best["front"] is True
    assert best["settings"]["scanDepth"] == 5
    assert best["training"]["met"] == best["held_out"]["met"] == 1
    assert found["warnings"] == []
    assert "the settings profile “found” holds the settings" in result.stderr
    assert json.loads(Path("found.json").read_text(encoding="utf-8"))["settings"]["scanDepth"] == 5
    page = Path("page.html").read_text(encoding="utf-8")
    assert "To carry over" in page
    assert "scanDepth" in page
    assert "Yes, 3." not in page  # no text of the chat
    with_profile = lorestudio("check", world / "vault", "--chat", world / "story.txt", "--profile", "found", "--json")
    assert with_profile.exit_code == 0
    taken = json.loads(lorestudio(*arguments(world, *GRID, "--journal", "search.log", "--json")).stdout)
    assert taken == found


@pytest.mark.long
def test_a_point_is_chosen_and_told_in_words(lorestudio: Run, world: Path) -> None:
    result = lorestudio(*arguments(world, *GRID, "--point", 99))
    assert result.exit_code == 2
    assert "there is no point 99" in result.stderr
    result = lorestudio(*arguments(world, *GRID, "--keep", "two", "--point", 1))
    assert result.exit_code == 0, result.output
    assert "12 points run." in result.stdout
    assert "To use it: --profile two\n" in result.stderr
    assert "the point turns 1 note, too: --apply writes that into them." in result.stderr


def test_no_heading_is_cut_on_a_narrow_terminal(lorestudio: Run, world: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    result = lorestudio(*arguments(world, *GRID, "--over", "maxTokensBudget=500,1000"))
    assert result.exit_code == 0, result.output
    heading = result.stdout.partition(" ───")[0]
    assert "Expectations" in heading
    assert "…" not in heading


def test_the_settings_as_they_are_are_called_now_everywhere(lorestudio: Run, world: Path) -> None:
    result = lorestudio(*arguments(world, *GRID, "--point", -1, "--keep", "as now", "--look", "--compare"))
    assert result.exit_code == 0, result.output
    assert "-1" not in result.output
    assert "“as now” holds the settings of now." in result.stderr


@pytest.fixture
def own_world(tmp_path: Path) -> Path:
    make_world(tmp_path / "vault")
    (tmp_path / "vault" / "lorestudio-expectations.yaml").write_text(EXPECTED, encoding="utf-8")
    return tmp_path


def test_what_a_point_turns_in_notes_is_written_and_taken_back(lorestudio: Run, own_world: Path) -> None:
    lamp = own_world / "vault" / "Lamp.md"
    before = lamp.read_text(encoding="utf-8")
    over = ("--over", "Lamp:priority=10,99", "--over", "Lamp:keys", "--by", "grid", "--journal", "search.log")
    found = json.loads(lorestudio(*arguments(own_world, *over, "--json")).stdout)
    at = {"Lamp.md: priority": 99, "Lamp.md: key lamp": False, "Lamp.md: key lantern": True}
    (number,) = (each["number"] for each in found["points"] if each["settings"] == at)
    chosen = arguments(own_world, *over, "--point", number)
    result = lorestudio(*chosen, "--dry-run")
    assert result.exit_code == 0, result.output
    assert "-keys: [lamp, lantern]\n-priority: 10\n+keys: [lantern]\n+priority: 99\n" in result.stderr
    assert "Tune 1 note: 1 file would change." in result.stderr
    assert lamp.read_text(encoding="utf-8") == before
    result = lorestudio(*chosen, "--apply", "--report", "page.html")
    assert result.exit_code == 0, result.output
    after = lamp.read_text(encoding="utf-8")
    assert "priority: 99" in after
    assert "lamp," not in after
    assert "lantern" in after
    page = Path("page.html").read_text(encoding="utf-8")
    assert "<h3>Lamp.md</h3>" in page
    assert "- priority: 10" in page
    assert "+ priority: 99" in page
    assert lorestudio("undo", own_world / "vault", "--yes").exit_code == 0
    assert lamp.read_text(encoding="utf-8") == before


@pytest.mark.long
def test_a_point_is_looked_at_and_compared(lorestudio: Run, world: Path) -> None:
    # Without a change of the lamp nothing is in but what is now; with six messages it is in from then on.
    point = (*GRID, "--point", 10)  # scan depth 6
    found = json.loads(lorestudio(*arguments(world, *point, "--look", "--compare", "--json")).stdout)
    settings = next(each["settings"] for each in found["points"] if each["number"] == 10)
    assert settings["scanDepth"] == 6
    (told,), (compared,) = found["effects"], found["comparisons"]
    assert [each["label"] for each in compared["runs"]] == ["now", "point 10"]
    entered = {turn["reply"] for turn in told["turns"] if turn["entered"]}
    alone = {turn["message"] for turn in compared["turns"] if turn["runs"][1]["alone"]}
    assert entered == alone
    assert told["changed"] == compared["changed"]
    words = lorestudio(*arguments(world, *point, "--look", "--compare"))
    assert words.exit_code == 0, words.output
    assert "over the whole chat" in words.stdout
    assert "replies change" in words.stdout


@pytest.mark.parametrize(
    ("more", "told"),
    [
        ((), "--over: say what may be turned"),
        (("--over", "scanDepth=1..3", "--goal", "joy"), "--goal: there is no score “joy”"),
        (("--over", "scanDepth=1..3", "--run", "deeplore", "--run", "hybrid"), "a search is of one system"),
        (("--over", "limit=1..3", "--run", "hybrid", "--by", "grid", "--keep", "x"), "has no settings profiles"),
        (("--over", "scanDepth=1..3", "--hold-out-chat", "other"), "--hold-out-chat: name some of the chats"),
        (("--over", "scanDepth=1..300"), "is not in the range 0 to 100"),
    ],
)
def test_what_cannot_be_done_is_said(lorestudio: Run, world: Path, more: tuple[str, ...], told: str) -> None:
    result = lorestudio(*arguments(world, *more))
    assert result.exit_code == 2, result.output
    assert told in result.stderr


def test_without_expectations_nothing_can_be_searched_for(lorestudio: Run, vault: Path, chat: Path) -> None:
    result = lorestudio("tune", vault, "--chat", chat, "--over", "scanDepth=1..3")
    assert result.exit_code == 2
    assert "there is no such file" in result.stderr or "nothing is expected there yet" in result.stderr
