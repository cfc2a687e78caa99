"""`lorestudio basis`, and the options that say what replies of the past saw."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lorestudio.cli.runs.tables import _seen
from lorestudio.domain.resources import resource
from lorestudio.studio.project.basis import basis_path
from lorestudio.trace.model import RunOutcome, SeenChat, Trace, Turn
from tests.cli.conftest import Run


@pytest.fixture
def world(tmp_path: Path) -> tuple[Path, Path]:
    """A vault with a lamp, and a chat whose mention of it is hidden by now."""
    vault, chat = tmp_path / "vault", tmp_path / "chat.jsonl"
    vault.mkdir()
    (vault / "Lamp.md").write_text("---\ntags: [lorebook]\nkeys: [lamp]\n---\nBrass.\n", "utf-8")
    said = (("Ada", "Welcome."), ("Wren", "The lamp?"), ("Ada", "Yes."), ("Wren", "Go on."), ("Ada", "Well."))
    records: list[dict[str, object]] = [{"user_name": "Wren", "character_name": "Ada", "chat_metadata": {}}]
    for at, (name, text) in enumerate(said):
        records.append({"name": name, "mes": text, "is_user": name == "Wren", "is_system": at < 2})
    chat.write_text("\n".join(map(json.dumps, records)), "utf-8")
    return vault, chat


def injected(lorestudio: Run, vault: Path, chat: Path, *options: object) -> dict[int, int]:
    result = lorestudio("replay", vault, "--chat", chat, "--json", *options)
    assert result.exit_code == 0, result.output
    traces = [each["trace"] for each in json.loads(result.stdout)]
    return {trace["turn"]["message"]: len(trace["injections"]) for trace in traces}


def test_history_then_and_now(lorestudio: Run, world: tuple[Path, Path]) -> None:
    assert injected(lorestudio, *world) == {2: 1, 4: 1, 5: 0}
    assert injected(lorestudio, *world, "--history", "then") == {2: 1, 4: 1, 5: 0}
    assert injected(lorestudio, *world, "--history", "now") == {2: 0, 4: 0, 5: 0}


def test_what_is_said_is_kept_and_holds(lorestudio: Run, world: tuple[Path, Path]) -> None:
    before = world[1].read_bytes()
    result = lorestudio("basis", "--chat", world[1], "--hidden", "1", "--since", "4", "--json")
    rows = [(row["first"], row["last"], row["since"], row["assumed"]) for row in json.loads(result.stdout)["hidden"]]
    assert rows == [(0, 0, 5, True), (1, 1, 4, False)]
    assert injected(lorestudio, *world) == {2: 1, 4: 0, 5: 0}
    assert world[1].read_bytes() == before
    lorestudio("basis", "--chat", world[1], "--set", "history=now")
    assert injected(lorestudio, *world) == {2: 0, 4: 0, 5: 0}
    assert injected(lorestudio, *world, "--history", "then") == {2: 1, 4: 0, 5: 0}
    lorestudio("basis", "--chat", world[1], "--forget", "0-4", "--set", "history=then")
    assert not basis_path(world[1]).exists()


def test_of_messages_that_the_chat_does_not_have_nothing_is_kept(lorestudio: Run, world: tuple[Path, Path]) -> None:
    """Of a number with too many digits every command about the chat ran for good."""
    result = lorestudio("basis", "--chat", world[1], "--hidden", "1-9999999999", "--since", "4")
    assert (result.exit_code, "its last one is #4" in result.stderr) == (2, True)
    assert not basis_path(world[1]).exists()


def test_the_table_and_the_replay_say_what_is_assumed(lorestudio: Run, world: tuple[Path, Path]) -> None:
    assert "#0 to #1" in lorestudio("basis", "--chat", world[1]).output
    told = " ".join(lorestudio("replay", world[0], "--chat", world[1]).output.split())
    assert "Messages that are hidden today were in sight of 2 replies; for 2 that is assumed." in told
    lorestudio("basis", "--chat", world[1], "--hidden", "0-1", "--since", "4")
    told = " ".join(lorestudio("replay", world[0], "--chat", world[1]).output.split())
    assert "Messages that are hidden today were in sight of 1 reply. “lorestudio basis”" in told
    lorestudio("basis", "--chat", world[1], "--forget", "0-4")
    told = " ".join(lorestudio("explain", world[0], "--chat", world[1], "--message", "2").output.split())
    assert "Hidden today, assumed to have been in sight then: messages #0 to #1." in told
    told = " ".join(lorestudio("replay", world[0], "--chat", world[1], "--history", "now").output.split())
    assert "As it is now: 2 messages that are hidden today were taken for hidden all along." in told


def test_every_setting_stands_there_with_the_name_that_changes_it(lorestudio: Run, world: tuple[Path, Path]) -> None:
    table = lorestudio("basis", "--chat", world[1]).stdout.splitlines()
    firsts = [words[0] for line in table if (words := line.split())]
    assert [name for name in ("history", "scanText", "records", "contextSize") if name not in firsts] == []


def test_of_what_no_reply_saw_the_replay_says_nothing(lorestudio: Run) -> None:
    """The demo's message #9 was said aside, so it is assumed to have been hidden all along."""
    demo = resource("demo")
    result = lorestudio("replay", demo / "vault", "--chat", demo / "chat.jsonl")
    assert result.exit_code == 0
    assert "hidden today" not in result.stdout


def test_scripts_and_stored_texts(lorestudio: Run, world: tuple[Path, Path], tmp_path: Path) -> None:
    script = {"scriptName": "Veil", "findRegex": "/lamp/", "replaceString": "", "promptOnly": True, "placement": [1]}
    path = tmp_path / "script.json"
    path.write_text(json.dumps(script), "utf-8")
    assert injected(lorestudio, *world, "--regex", path) == {2: 0, 4: 0, 5: 0}
    assert injected(lorestudio, *world, "--regex", path, "--scan-text", "stored") == {2: 1, 4: 1, 5: 0}
    told = " ".join(
        lorestudio("explain", *world[:1], "--chat", world[1], "--message", "2", "--regex", path).output.split()
    )
    assert "#1 by regex script “Veil”" in told
    for option in ("--history", "--scan-text"):
        wrong = lorestudio("replay", world[0], "--chat", world[1], option, "nope")
        assert (wrong.exit_code, wrong.stderr.startswith(f"lorestudio: {option}, “")) == (2, True)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--hidden", "1"], "it goes together with --since"),
        (["--hidden", "x", "--since", "1"], "“x” is no range of messages. Write 12-40"),
        (["--hidden", "1-1", "--since", "999"], "--since: the chat has no message #999"),
        (["--set", "history=once"], "is none of then, now"),
    ],
)
def test_what_makes_no_sense_is_told(lorestudio: Run, world: tuple[Path, Path], options: list[str], told: str) -> None:
    result = lorestudio("basis", "--chat", world[1], *options)
    assert result.exit_code == 2
    assert told in " ".join(result.output.split())
    assert not basis_path(world[1]).exists()


@pytest.mark.parametrize("text", ["null", "[1]", '"text"', '{"entries": {}}'])
def test_what_is_no_chat_is_told(lorestudio: Run, tmp_path: Path, text: str) -> None:
    path = tmp_path / "other.json"
    path.write_text(text, encoding="utf-8")
    result = lorestudio("basis", "--chat", path)
    assert (result.exit_code, result.stderr.startswith(f"lorestudio: {path}: ")) == (2, True)


@pytest.mark.parametrize("chat", ["", ".", "/"])
def test_a_chat_whose_path_has_no_name_is_told(lorestudio: Run, chat: str) -> None:
    result = lorestudio("basis", "--chat", chat)
    assert (result.exit_code, result.stderr.startswith(f"lorestudio: {Path(chat)}: this is a folder,")) == (2, True)


def test_both_numbers_of_many_replies_are_written_alike() -> None:
    turn = Turn(2, 0, 2)
    seen = SeenChat(shown=((0, 1),), assumed=((0, 1),))
    trace = Trace("deeplore", "keywords-only", RunOutcome.NOTHING_INJECTED, turn, {}, 0, (), seen=seen)
    (told,) = _seen([trace] * 3378)
    assert "in sight of 3,378 replies; for 3,378 that is assumed." in told
