"""`lorestudio diff`: what differs between two runs, and what did it."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import Result

from lorestudio.domain.chat import Generation
from lorestudio.studio.replay.simulator import Simulator

Run = Callable[..., Result]


@pytest.fixture
def one_entry(tmp_path: Path) -> Path:
    """Settings that let one entry in."""
    path = tmp_path / "one.json"
    path.write_text(json.dumps({"enabled": True, "maxEntries": 1, "unlimitedEntries": False}), encoding="utf-8")
    return path


@pytest.fixture
def other_vault(vault: Path, tmp_path: Path) -> Path:
    """The vault under another name, in which Old Bell fits the chat's context."""
    copy = tmp_path / "copy"
    shutil.copytree(vault, copy)
    (copy / "Old Bell.md").write_text("---\ntags: [lorebook]\nkeys: [bell]\n---\nIt rings.\n", encoding="utf-8")
    return copy


def document(result: Result) -> dict[str, Any]:
    assert result.exit_code == 0, result.output
    found: dict[str, Any] = json.loads(result.stdout)
    return found


def titles(changes: list[dict[str, Any]]) -> list[str]:
    return [change["title"] for change in changes]


def test_other_settings_and_the_setting_that_did_it(lorestudio: Run, vault: Path, chat: Path, one_entry: Path) -> None:
    told = document(lorestudio("diff", vault, "--chat", chat, "--message", 1, "--settings2", one_entry, "--json"))
    assert told["after"]["title"] == "one.json"
    assert len(told["left"]) == 1
    (left,) = told["left"]
    assert left["by"] == ["Most entries: 10 → 1"]
    assert not left["together"]
    assert left["tokens"][1] is None
    assert told["tokens"][0] - told["tokens"][1] == left["tokens"][0]
    assert not told["entered"]
    assert told["unexplained"] == []


def test_the_same_as_a_table(lorestudio: Run, vault: Path, chat: Path, one_entry: Path) -> None:
    result = lorestudio("diff", vault, "--chat", chat, "--message", 1, "--settings2", one_entry)
    assert result.exit_code == 0
    text = " ".join(result.stdout.split())
    assert "DeepLore's own settings: 3 entries matched" in text
    assert "one.json: " in text
    assert "− left" in text
    assert "What was different" in text
    assert "Most entries: 10 → 1" in text


def test_another_state_of_the_vault_and_the_note_that_did_it(
    lorestudio: Run, vault: Path, other_vault: Path, chat: Path
) -> None:
    told = document(lorestudio("diff", vault, "--chat", chat, "--message", 1, "--vault2", other_vault, "--json"))
    assert titles(told["entered"]) == ["Old Bell"]
    (entered,) = told["entered"]
    assert entered["vault"] == "brume"
    assert entered["by"][0].startswith("Old Bell: ")
    assert not told["left"]


def test_another_state_of_the_chat(lorestudio: Run, vault: Path, chat: Path, tmp_path: Path) -> None:
    lines = chat.read_text(encoding="utf-8").splitlines()
    record = json.loads(lines[1])
    record["mes"] = "Nothing of the kind."
    other = tmp_path / "other.jsonl"
    other.write_text("\n".join([lines[0], json.dumps(record), *lines[2:]]) + "\n", encoding="utf-8")
    told = document(lorestudio("diff", vault, "--chat", chat, "--message", 1, "--chat2", other, "--json"))
    assert told["left"]
    assert all(change["by"][0].startswith("Message #0: ") for change in told["left"])


def test_two_replies(lorestudio: Run, vault: Path, chat: Path) -> None:
    told = document(lorestudio("diff", vault, "--chat", chat, "--message", 3, "--against", 1, "--json"))
    assert (told["before"]["message"], told["after"]["message"]) == (3, 1)
    (entered,) = told["entered"]  # the tide rests at #3, since it went in at #1
    assert entered["title"] == "Tide"
    # the chat as it was at #1 makes the run one of that reply again, for which the engine takes the cooldown back
    assert entered["by"] == ["Chat: without messages #1 to #2"]
    assert {"chat", "trackers"} <= {difference["kind"] for difference in told["differences"]}


def test_two_swipes(lorestudio: Run, vault: Path, chat: Path) -> None:
    result = lorestudio("diff", vault, "--chat", chat, "--message", 1, "--swipe", 1, "--against", "#1.2")
    assert result.exit_code == 0
    assert "The same entries go in, in the same order." in result.stdout


def test_a_whole_chat_has_a_row_for_each_reply_that_differs(
    lorestudio: Run, vault: Path, chat: Path, other_vault: Path
) -> None:
    result = lorestudio("diff", vault, "--chat", chat, "--vault2", other_vault)
    assert result.exit_code == 0
    assert "note: Old Bell: " in result.stdout
    assert "#1 ‹1/2›" in result.stdout
    assert "+ Old Bell" in result.stdout
    assert "generations differ. Choose one with --message" in result.stdout
    told = document(lorestudio("diff", vault, "--chat", chat, "--vault2", other_vault, "--json"))
    assert told["turns"] == 4
    assert all(["brume", "Old Bell.md"] in turn["entered"] for turn in told["changed"])
    assert f"{len(told['changed'])} of 4 generations differ." in result.stdout


def test_of_a_whole_chat_no_trace_is_held_but_the_last(
    lorestudio: Run, vault: Path, chat: Path, other_vault: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone: list[tuple[Simulator, Generation]] = []
    monkeypatch.setattr(Simulator, "let_go", lambda each, generation: gone.append((each, generation)))
    assert lorestudio("diff", vault, "--chat", chat, "--vault2", other_vault).exit_code == 0
    one, other = dict.fromkeys(each for each, _ in gone)
    for each in (one, other):
        assert [generation for who, generation in gone if who is each] == sorted(each.generations[:-1])


def test_a_longer_chat_has_replies_that_the_other_has_not(
    lorestudio: Run, vault: Path, chat: Path, tmp_path: Path
) -> None:
    lines = chat.read_text(encoding="utf-8").splitlines()
    shorter = tmp_path / "shorter.jsonl"
    shorter.write_text("\n".join(lines[:3]) + "\n", encoding="utf-8")
    told = document(lorestudio("diff", vault, "--chat", chat, "--chat2", shorter, "--json"))
    only = {(turn["message"], turn.get("only_in")) for turn in told["changed"] if "only_in" in turn}
    assert (3, "before") in only
    assert (2, "after") in only


def test_nothing_differs(lorestudio: Run, vault: Path, chat: Path) -> None:
    result = lorestudio("diff", vault, "--chat", chat, "--chat2", chat)
    assert result.exit_code == 0
    assert result.stdout == "No generation differs.\n"


def test_without_causes_nothing_is_tried(lorestudio: Run, vault: Path, chat: Path, one_entry: Path) -> None:
    arguments = ("diff", vault, "--chat", chat, "--message", 1, "--settings2", one_entry, "--no-causes", "--json")
    assert "differences" not in document(lorestudio(*arguments))


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ((), "give one of --against, --settings2, --vault2, --chat2 or --system2"),
        (("--against", "1", "--message", "3", "--chat2", "x"), "a run is compared with one other"),
        (("--against", "1"), "say which reply is meant with --message"),
        (("--message", "2", "--against", "1"), "#2 is no reply of the chat's. There are: #1, #3, #4."),
        (("--message", "1", "--against", "9" * 5_000), "is no reply of the chat's. There are: #1, #3, #4."),
        (("--message", "1", "--against", "one"), "Write its number, as 12, or with a swipe, as 12.2."),
        (("--message", "1", "--swipe", "7", "--against", "3"), "#1 has 2 swipes, and none is 7."),
        (("--message", "1", "--against", "3", "--answers", "Ollama"), "asks no provider"),
        (("--message", "1", "--against", "3", "--mode", "psychic"), "there is no mode “psychic”"),
        (("--message", "1", "--settings2", "nowhere.json"), "nowhere.json"),
    ],
)
def test_what_cannot_be_compared_is_said(
    lorestudio: Run, vault: Path, chat: Path, arguments: tuple[str, ...], told: str
) -> None:
    result = lorestudio("diff", vault, "--chat", chat, *arguments)
    assert result.exit_code == 2
    assert told in " ".join(result.stderr.split())


# Other systems


def test_two_systems_on_one_reply(lorestudio: Run, vault: Path, chat: Path) -> None:
    """Old Bell is of another era than the chat, which DeepLore looks at and the context window does not."""
    result = lorestudio("diff", vault, "--chat", chat, "--message", 3, "--system2", "context-window", "--json")
    found = document(result)
    assert [found["before"]["title"], found["after"]["title"]] == ["deeplore", "context-window"]
    plain = lorestudio("diff", vault, "--chat", chat, "--message", 3, "--system2", "context-window")
    assert plain.exit_code == 0, plain.output
    assert "deeplore: " in plain.output
    assert "What was different" not in plain.output


def test_a_system_on_another_reply_and_on_the_whole_chat(lorestudio: Run, vault: Path, chat: Path) -> None:
    asked = ("diff", vault, "--chat", chat, "--system", "hybrid", "--set", "semantic_threshold=-1")
    one = lorestudio(*asked, "--message", 3, "--against", "1")
    assert one.exit_code == 0, one.output
    whole = document(lorestudio(*asked, "--system2", "hybrid", "--json"))
    assert (whole["before"], whole["after"]) == ("hybrid", "hybrid")
    (difference,) = whole["differences"]
    assert (difference["before"], difference["kind"]) == ("-1", "setting")


def test_what_did_it_where_one_system_made_both_runs(lorestudio: Run, vault: Path, chat: Path, tmp_path: Path) -> None:
    shallow = tmp_path / "shallow.json"
    shallow.write_text('{"world_info_depth": 0}', encoding="utf-8")
    asked = ("diff", vault, "--chat", chat, "--message", 1, "--system", "world-info")
    found = document(lorestudio(*asked, "--system2", f"world-info:{shallow}", "--json"))
    (cause,) = found["differences"]
    assert "Scan depth" in json.dumps(cause)
    assert cause["alone"]
    assert found["unexplained"] == []


def test_what_cannot_be_compared_with_a_system(lorestudio: Run, vault: Path, chat: Path, one_entry: Path) -> None:
    asked = ("diff", vault, "--chat", chat)
    assert "Use --system2 hybrid:FILE" in lorestudio(*asked, "--system", "hybrid", "--settings2", one_entry).output
    assert "by --settings2" in lorestudio(*asked, "--system2", f"deeplore:{one_entry}").output
    assert "give one of" in lorestudio(*asked, "--system2", "hybrid", "--settings2", one_entry).output
    assert "no system “odd”" in lorestudio(*asked, "--system2", "odd").output


def test_messages_that_were_stopped_by_the_same_share_a_line(lorestudio: Run, vault: Path, tmp_path: Path) -> None:
    tale, strict = tmp_path / "Tale.jsonl", tmp_path / "strict.json"
    words = ["One two.", "Three four.", "Five six.", "Seven eight.", "Nine ten."]
    records = [{"name": "Quay", "mes": text, "extra": {"auto_recap": {"memory": "It was."}}} for text in words]
    header = {"user_name": "Wren", "character_name": "Quay"}
    tale.write_text("\n".join(json.dumps(record) for record in [header, *records]), encoding="utf-8")
    strict.write_text('{"message_length_threshold": 50}', encoding="utf-8")
    options = ("--chat", tale, "--message", 4, "--system", "recap", "--system2", f"recap:{strict}")
    result = lorestudio("diff", vault, *options)
    assert result.exit_code == 0, result.output
    assert result.stdout.count("stopped by something else") == 1
    told = " ".join(result.stdout.split())
    messages = "#0 Quay: One two., #1 Quay: Three four., #2 Quay: Five six. and 1 more"
    assert f"{messages}: for reading only → too short" in told
    assert len(document(lorestudio("diff", vault, *options, "--json"))["refated"]) == 4
