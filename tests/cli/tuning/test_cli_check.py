"""`lorestudio check`, as a vault's own continuous integration runs it."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from lorestudio import open_project
from lorestudio.studio.tuning.expectations import answered
from tests.cli.conftest import Run

EXPECTED = """\
expectations:
  - {note: Lamp, should: be in, whenever: lamp}
  - {note: Old Bell, should: be in, whenever: bell}
"""


@pytest.fixture
def expecting(vault: Path) -> Path:
    (vault / "lorestudio-expectations.yaml").write_text(EXPECTED, encoding="utf-8")
    return vault


def test_what_is_broken_is_told_with_the_stage_that_did_it(lorestudio: Run, expecting: Path, chat: Path) -> None:
    result = lorestudio("check", expecting, "--chat", chat, "--json", "--junit", "report.xml")
    assert result.exit_code == 1, result.output
    (run,) = json.loads(result.stdout)["checks"]
    lamp, bell = run["expectations"]
    assert lamp["met"] is True
    assert lamp["replies"] > 0
    assert bell["met"] is False
    assert {item["stage"] for item in bell["breaks"]} == {"contextual gating (selection)"}
    suite = ET.fromstring(Path("report.xml").read_text(encoding="utf-8"))[0]  # noqa: S314  # our own file
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("2", "1", "0")
    assert suite[1].find("failure") is not None


def test_the_report_is_xml_whatever_the_chat_s_file_is_called(lorestudio: Run, expecting: Path, chat: Path) -> None:
    odd = chat.rename(chat.with_name("a\x07b.jsonl"))
    assert lorestudio("check", expecting, "--chat", odd, "--junit", "report.xml").exit_code == 1
    suite = ET.fromstring(Path("report.xml").read_text(encoding="utf-8"))[0]  # noqa: S314  # our own file
    assert (suite.get("name"), suite[0].get("classname")) == ("a\ufffdb (deeplore)", "a\ufffdb")


def test_an_entry_that_no_stage_decided_about_is_called_by_its_title(lorestudio: Run, vault: Path, chat: Path) -> None:
    (vault / "Quiet.md").write_text("---\ntags: [lorebook]\nkeys: [xyzzy]\n---\nQuiet.\n", encoding="utf-8")
    expected = "expectations:\n  - {note: Quiet, should: be in}\n  - {note: Lamp, should: take at most, tokens: 0}\n"
    (vault / "lorestudio-expectations.yaml").write_text(expected, encoding="utf-8")
    (run,) = json.loads(lorestudio("check", vault, "--chat", chat, "--json").stdout)["checks"]
    quiet, lamp = run["expectations"]
    assert {item["entry"] for item in quiet["breaks"]} == {"Quiet"}
    assert {item["entry"] for item in lamp["breaks"]} == {"Lamp"}


def test_only_what_got_worse_fails_with_a_baseline(lorestudio: Run, expecting: Path, chat: Path) -> None:
    before = Path("before.json")
    before.write_text(lorestudio("check", expecting, "--chat", chat, "--json").stdout, encoding="utf-8")
    against = ("check", expecting, "--chat", chat, "--baseline", before, "--fail-on-regression")
    assert lorestudio(*against).exit_code == 0
    (expecting / "Lamp.md").write_text("---\ntags: [lorebook]\nkeys: [lantern]\n---\nLamp.\n", encoding="utf-8")
    result = lorestudio(*against)
    assert result.exit_code == 1
    assert "met before, broken now" in result.stdout
    assert "Old Bell" not in result.stdout.partition("met before")[2]


def test_what_a_baseline_had_and_nobody_looks_at_now_is_told(
    lorestudio: Run, expecting: Path, chat: Path, tmp_path: Path
) -> None:
    before = Path("before.json")
    before.write_text(lorestudio("check", expecting, "--chat", chat, "--json").stdout, encoding="utf-8")
    (run,) = json.loads(before.read_bytes())["checks"]
    met = [item["key"] for item in run["expectations"] if item["met"]]
    other = chat.with_name("renamed.jsonl")
    other.write_bytes(chat.read_bytes())
    against = ("check", expecting, "--baseline", before, "--fail-on-regression")
    none = lorestudio(*against, "--chat", other)
    assert none.exit_code == 2
    assert f"before.json: nothing that was met then is looked at here, such as “{met[0]}”." in none.stderr
    file = expecting / "lorestudio-expectations.yaml"
    file.write_text(file.read_text(encoding="utf-8") + "  - {note: Nobody, should: not be in}\n", encoding="utf-8")
    report = json.loads(before.read_bytes())
    report["checks"][0]["expectations"].append({"key": "chat | deeplore | Gone should be in", "met": True})
    before.write_text(json.dumps(report), encoding="utf-8")
    some = lorestudio(*against, "--chat", chat)
    told = "1 expectation that was met before was not looked at: chat | deeplore | Gone should be in\n"
    assert (some.exit_code, told in some.stderr) == (0, True)


def test_a_reply_that_moved_is_called_by_its_number_now_and_known_by_the_one_in_the_file(
    lorestudio: Run, vault: Path, chat: Path
) -> None:
    opened = open_project(vault, chat).chat
    assert opened is not None
    after = answered(opened, 3)
    expected = f"expectations:\n  - {{note: Lamp, should: be in, reply: {{chat: old, number: 9, after: {after}}}}}\n"
    (vault / "lorestudio-expectations.yaml").write_text(expected, encoding="utf-8")
    result = lorestudio("check", vault, "--chat", chat, "--json", "--junit", "report.xml")
    ((told,),) = (run["expectations"] for run in json.loads(result.stdout)["checks"])
    sentence = f"Lamp should be in (reply #3 of {chat.stem})"
    assert told["expectation"] == sentence
    assert told["key"].endswith("| Lamp should be in (reply #9 of old)")
    case = ET.fromstring(Path("report.xml").read_text(encoding="utf-8"))[0][0]  # noqa: S314  # our own file
    assert case.get("name") == sentence
    assert "reply #3 of" in " ".join(lorestudio("check", vault, "--chat", chat).stdout.split())


def test_other_systems_and_several_runs(lorestudio: Run, expecting: Path, chat: Path) -> None:
    result = lorestudio("check", expecting, "--chat", chat, "--run", "world-info", "--run", "deeplore", "--json")
    runs = json.loads(result.stdout)["checks"]
    assert [run["run"] for run in runs] == ["world-info", "deeplore"]
    assert [item["met"] for item in runs[0]["expectations"]] == [True, True]  # World Info knows no eras


@pytest.mark.parametrize(
    ("text", "code", "part"),
    [
        ("expectations:\n  - {note: Lamp, should: shine}\n", 1, "line 2: should"),
        ("expectations:\n", 2, "nothing is expected there yet"),
        ("expectations: [\n", 2, "no YAML"),
    ],
)
def test_a_file_that_cannot_be_used(lorestudio: Run, vault: Path, chat: Path, text: str, code: int, part: str) -> None:
    (vault / "lorestudio-expectations.yaml").write_text(text, encoding="utf-8")
    result = lorestudio("check", vault, "--chat", chat)
    assert result.exit_code == code
    assert part in " ".join(result.stderr.split())


def test_a_report_of_something_else_is_no_baseline(lorestudio: Run, expecting: Path, chat: Path) -> None:
    Path("other.json").write_text("[]", encoding="utf-8")
    result = lorestudio("check", expecting, "--chat", chat, "--baseline", "other.json")
    assert result.exit_code == 2
    assert "other.json" in result.stderr


def test_a_lorebook_is_run_by_the_systems_that_scan_one(lorestudio, tmp_path, vault, chat) -> None:
    book = tmp_path / "book.json"
    entry = {"uid": 0, "key": ["tide"], "content": "It comes.", "comment": "The tide of the book", "position": 0}
    book.write_text(json.dumps({"entries": {"0": entry}}), encoding="utf-8")
    both = ["--run", "deeplore", "--run", "world-info", "--book", book]
    found = json.loads(lorestudio("score", vault, "--chat", chat, *both, "--json").stdout)
    tokens = {each["run"]: each["metrics"]["tokens"]["value"] for each in found["runs"]}
    assert tokens["world-info"] > 0
    refused = lorestudio("score", vault, "--chat", chat, "--book", book)
    assert (refused.exit_code, "--system world-info" in refused.stderr) == (2, True)
