from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import Result

from lorestudio.exchange.lorebooks.entry import NEW_ENTRY

Run = Callable[..., Result]


def test_a_report_of_the_whole_chat_goes_to_the_terminal(lorestudio: Run, vault: Path, chat: Path) -> None:
    result = lorestudio("report", vault, "--chat", chat)
    assert result.exit_code == 0
    assert result.stdout.startswith("Lore report: brume\n4 turns of the chat chat.jsonl.")
    assert "Reply #1, swipe 2" in result.stdout
    assert "Filtered by context" in result.stdout


def test_a_report_of_one_turn_goes_to_a_file(lorestudio: Run, vault: Path, chat: Path) -> None:
    result = lorestudio("report", vault, "--chat", chat, "--message", 1, "--swipe", 2, "-o", "turn.html")
    assert result.exit_code == 0
    assert result.stdout == "The report is in turn.html.\n"
    page = Path("turn.html").read_text(encoding="utf-8")
    assert page.startswith("<!DOCTYPE html>")
    assert "Reply #1, swipe 2" in page
    assert "Reply #3" not in page
    assert re.search(r"A <mark title='Key of “[^’>]+”\.'>lamp</mark>", page)


def test_a_report_tells_the_settings_of_the_system_that_decided(lorestudio: Run, vault: Path, chat: Path) -> None:
    settings = Path("settings.json")
    settings.write_text(json.dumps({"scanDepth": 9, "ai_prompt": "Mind the tide."}), encoding="utf-8")
    options = ("--message", 3, "-o", "turn.md", "--settings", settings)
    told = {}
    for system, own in (("deeplore", ()), ("world-info", ("--set", "depth=3")), ("hybrid", ())):
        assert lorestudio("report", vault, "--chat", chat, *options, "--system", system, *own).exit_code == 0
        told[system] = Path("turn.md").read_text(encoding="utf-8")
    assert "\n| Scan depth | 9 | 4 |\n" in told["deeplore"]
    assert "| Setting | Here | Usually |\n| --- | --- | --- |\n| Scan depth | 3 | 2 |\n" in told["world-info"]
    assert "## Settings" not in told["hybrid"]
    assert [told["world-info"].count(f"\n| \\#{number} |") for number in range(3)] == [1, 1, 1]


def test_a_page_says_whose_settings_it_tells(lorestudio: Run, vault: Path, chat: Path) -> None:
    for system, words in (
        ("deeplore", "Settings that DeepLore has otherwise by itself"),  # it is off until somebody switches it on
        ("world-info", "All as World Info has them."),
    ):
        lorestudio("report", vault, "--chat", chat, "--message", 1, "-o", "turn.html", "--system", system)
        assert words in Path("turn.html").read_text(encoding="utf-8")


def test_a_redacted_report_has_none_of_the_words(lorestudio: Run, vault: Path, chat: Path) -> None:
    for ending in ("html", "md", "txt", "json"):
        result = lorestudio("report", vault, "--chat", chat, "--redacted", "-o", f"report.{ending}")
        assert result.exit_code == 0
        text = Path(f"report.{ending}").read_text(encoding="utf-8").casefold()
        for word in ("lamp", "old bell", "flood", "wren", "ottoline", "brume", "later"):
            assert word not in text
        assert "entry 1" in text


@pytest.fixture
def book(tmp_path: Path) -> Path:
    """Three entries that are off, one that lacks a secondary key, one that has no place, and one that goes in."""
    entries: dict[str, dict[str, object]] = {
        "Lamp": {"key": ["lamp"]}, "Tide": {"key": ["lamp"], "keysecondary": ["ebbs"]},
        "Pier": {"key": ["lamp"], "position": 9}, **{name: {"disable": True} for name in ("Ash", "Oak", "Elm")},
    }  # fmt: skip
    numbered = {
        str(uid): {**NEW_ENTRY, "uid": uid, "comment": name, "content": f"Of {name}.", **entry}
        for uid, (name, entry) in enumerate(entries.items())
    }
    path = tmp_path / "Book.json"
    path.write_text(json.dumps({"entries": numbered}), encoding="utf-8")
    return path


def test_entries_that_no_text_brings_in_share_a_row(lorestudio: Run, book: Path, tmp_path: Path) -> None:
    """Of a large lorebook they were most of every reply's rows."""
    chat = tmp_path / "chat.txt"
    chat.write_text("Wren: The lamp.\n", encoding="utf-8")
    told = " ".join(lorestudio("report", book, "--chat", chat).stdout.split())
    assert "3 entries Switched off It is switched off: Ash, Oak, Elm." in told
    hidden = " ".join(lorestudio("report", book, "--chat", chat, "--redacted").stdout.split())
    assert "do not fit: the rule is at least one of them." in hidden
    assert "Ash" not in hidden


@pytest.mark.parametrize("more", [(), ("--redacted",)], ids=["whole", "redacted"])
def test_what_entries_are_put_in_order_by_is_called_as_the_system_calls_it(
    lorestudio: Run, book: Path, vault: Path, tmp_path: Path, more: tuple[str, ...]
) -> None:
    chat = tmp_path / "chat.txt"
    chat.write_text("Wren: The lamp.\n", encoding="utf-8")
    for lore, word, other in ((book, "Order", "Priority"), (vault, "Priority", "Order")):
        lorestudio("report", lore, "--chat", chat, "-o", "report.md", *more)
        told = Path("report.md").read_text("utf-8")
        assert (f"Tokens | {word} |" in told, other in told) == (True, False), told


def test_the_sentence_of_a_run_says_what_went_in_where_the_budget_counts_more(
    lorestudio: Run, book: Path, tmp_path: Path
) -> None:
    """The pier fits, and has no place; the table's tokens were others than the sentence's."""
    chat = tmp_path / "chat.txt"
    chat.write_text("Wren: The lamp.\n", encoding="utf-8")
    told = " ".join(lorestudio("replay", book, "--chat", chat, "--tokenizer", "estimate").stdout.split())
    row = re.search(r"next (\d+) (\d+) (\d+) ", told)
    assert row is not None
    assert f"{row[2]} was injected ({row[3]} tokens; the budget counts " in told


def test_an_unknown_ending_and_unknown_turns_are_told(lorestudio: Run, vault: Path, chat: Path) -> None:
    for arguments, told in (
        (("-o", "report.pdf"), ".html, .md, .txt or .json"),
        (("--message", 2), "#2 is no reply"),
        (("--message", 1, "--swipe", 3), "reply #1 has 2 swipes"),
        (("--mode", "magic"), "there is no mode"),
        (("--fixed", "magic"), "--fixed"),
        (("--answers", "Ollama"), "asks no provider"),
    ):
        result = lorestudio("report", vault, "--chat", chat, *arguments)
        assert result.exit_code == 2
        assert told in result.stderr.replace("\n", " ")
    assert not Path("report.pdf").exists()


def test_a_scenario_is_written_and_run_again(lorestudio: Run, vault: Path, chat: Path) -> None:
    result = lorestudio("scenario", vault, "--chat", chat, "--message", 3, "--seed", 9, "-o", "turn.json")
    assert result.exit_code == 0
    assert result.stdout == "The scenario is in turn.json: 3 generations.\n"
    again = lorestudio("run", "turn.json")
    assert again.exit_code == 0
    ran = json.loads(again.stdout)["expected"]["generations"]
    traces = json.loads(lorestudio("replay", vault, "--chat", chat, "--seed", 9, "--json").stdout)
    for trace, generation in zip(traces, ran, strict=False):
        titles = [injection["title"] for injection in trace["trace"]["injections"]]
        assert [row["title"] for row in generation.get("budget", {}).get("accepted", [])] == titles
    assert any(generation.get("budget", {}).get("accepted") for generation in ran)


def test_a_scenario_of_the_reply_to_come_goes_to_the_terminal(lorestudio: Run, vault: Path, chat: Path) -> None:
    result = lorestudio("scenario", vault, "--chat", chat)
    assert result.exit_code == 0
    written = json.loads(result.stdout)
    assert len(written["generations"]) == 4
    assert [vault_["name"] for vault_ in written["vaults"]] == ["brume"]


def test_a_scenario_that_cannot_be_written_says_why(lorestudio: Run, vault: Path, chat: Path) -> None:
    Path("folder").mkdir()
    result = lorestudio("scenario", vault, "--chat", chat, "-o", "folder")
    assert result.exit_code == 2
    assert "folder: the file cannot be written" in result.stderr.replace("\n", " ")


def test_a_scenario_of_another_system(lorestudio: Run, vault: Path, chat: Path) -> None:
    asked = ("scenario", vault, "--chat", chat, "--message", 3, "--system", "world-info", "--set", "depth=7")
    result = lorestudio(*asked, "-o", "turn.json")
    assert result.exit_code == 0, result.output
    assert result.stdout == "The scenario is in turn.json: 3 generations.\n"
    written = json.loads(Path("turn.json").read_text(encoding="utf-8"))
    assert (written["system"], written["system_settings"]) == ("world-info", {"world_info_depth": 7})
    again = lorestudio("run", "turn.json")
    assert again.exit_code == 0, again.output
    told = json.loads(again.stdout)
    assert len((told.get("expected") or told)["generations"]) == 3


def test_what_a_memory_puts_in_has_no_priority(lorestudio: Run, vault: Path, tmp_path: Path) -> None:
    tale = tmp_path / "Tale.jsonl"
    told = {"version": 0, "content": "The lamp burns.", "scene_count": 1, "new_scene_index": 1}
    kept = {"auto_recap_running_scene_recaps": {"chat_id": "Tale", "current_version": 0, "versions": [told]}}
    scene = {"auto_recap": {"scene_break": True, "scene_recap_memory": "The lamp burns."}}
    rows = [
        {"user_name": "Wren", "character_name": "Ann", "chat_metadata": kept},
        {"name": "Wren", "is_user": True, "mes": "The lamp burns."},
        {"name": "Ann", "mes": "So it does.", "extra": scene},
        {"name": "Wren", "is_user": True, "mes": "Still."},
        {"name": "Ann", "mes": "Still."},
    ]
    tale.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    for system, chat, ranked in (("recap", tale, False), ("deeplore", tale, True)):
        for name in ("r.html", "r.txt"):
            written = lorestudio("report", vault, "--chat", chat, "--system", system, "--message", 3, "-o", name)
            assert written.exit_code == 0, written.output
            text = Path(name).read_text(encoding="utf-8")
            (head,) = re.findall(r"(?:Injected, in order.*?</tr>|Injected \(1,.*?Where)", text, re.DOTALL)
            assert ("Priority" in head) is ranked, (system, name)


def test_each_reply_of_a_report_in_markdown_has_a_heading_and_begins_with_what_happened(
    lorestudio: Run, vault: Path, chat: Path
) -> None:
    note = next(vault.glob("**/Lamp.md"))
    note.write_text(f"{note.read_text(encoding='utf-8')}\n## The wick\n\nIt smokes.\n", encoding="utf-8")
    assert lorestudio("report", vault, "--chat", chat, "-o", "all.md").exit_code == 0
    text = Path("all.md").read_text(encoding="utf-8")
    assert re.findall(r"^## Reply .*$", text, re.MULTILINE) == [
        "## Reply \\#1, swipe 2", "## Reply \\#1 (swipe)", "## Reply \\#3", "## Reply \\#4",
    ]  # fmt: skip  # the last one is the reply to come
    assert "\n## The wick\n" in text  # a note's own heading in the prompt stays as it is
    assert lorestudio("report", vault, "--chat", chat, "--message", 3, "-o", "turn.md").exit_code == 0
    one = Path("turn.md").read_text(encoding="utf-8")
    order = ("## Reply \\#3\n", "injected (", "### Messages before the reply", "### Stages", "### Prompt")
    assert sorted(order, key=one.index) == list(order)
