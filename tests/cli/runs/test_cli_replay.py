from __future__ import annotations

import asyncio
import json
import re
import signal
from collections.abc import Callable
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from typer.testing import Result

from lorestudio.cli.output import json_bytes
from lorestudio.cli.runs import replay as replaying
from lorestudio.cli.runs.tables import ReplayReport, whatever_is_said
from lorestudio.domain.chat import Generation
from lorestudio.domain.lifecycle import Progress
from lorestudio.studio.project.project import Project, demo_project, open_project
from lorestudio.studio.replay.simulator import Simulator
from lorestudio.systems.base import System
from lorestudio.systems.hybrid import system as hybrid
from lorestudio.trace.journey import Fate, FateState
from lorestudio.trace.model import Phase, Trace
from lorestudio.trace.storage.serialize import from_json
from lorestudio.trace.summary import summary
from tests.systems.makers import Maker
from tests.trace import examples

Run = Callable[..., Result]


def report_of(project: Project) -> ReplayReport:
    report = ReplayReport(project)
    for trace in asyncio.run(Simulator(project).replay()):
        report.take(trace)
    return report


def shown(vault: Path, chat: Path, width: int = 100) -> str:
    project = open_project([vault], chat)
    console = Console(width=width, record=True, file=StringIO())
    console.print(report_of(project).table())
    return console.export_text()


def rows(text: str) -> dict[str, list[str]]:
    """The table's rows by reply (`#4`, `#2 ‹1/2›`, `next`): the numbers and the first line of what happened."""
    found = {}
    for line in text.splitlines():
        match = re.match(r"\s*(#\d+(?: ‹\d/\d›)?|next)\s+(\d+)\s+(\d+)\s+([\d,]+)\s+(.*?)\s*$", line)
        if match:
            found[match[1]] = list(match.groups()[1:])
    return found


def test_the_table_has_a_row_for_each_generation(lorestudio: Run, vault: Path, chat: Path) -> None:
    result = lorestudio("replay", vault, "--chat", chat)
    assert result.exit_code == 0
    assert "brume with chat.jsonl: 4 generations" in result.stdout
    found = rows(result.stdout)
    assert list(found) == ["#1 ‹2/2›", "#1 ‹1/2›", "#3", "next"]
    assert found["#1 ‹2/2›"][:2] == ["3", "2"]
    assert found["#1 ‹2/2›"][3] == "+ Lamp, Tide"
    assert "- Old Bell: filtered by context" in result.stdout
    assert "- Tide: cooling down" in result.stdout
    assert found["#1 ‹1/2›"][3] == "- Old Bell: filtered by context"


def test_the_summary_follows_the_table(lorestudio: Run, vault: Path, chat: Path) -> None:
    result = lorestudio("replay", vault, "--chat", chat)
    text = " ".join(result.stdout.split())
    assert "Injected most often: Lamp (4×), Tide (2×)." in text
    assert "Never injected: 1 of 3 entries" in text
    trace = asyncio.run(Simulator(open_project([vault], chat)).replay())[-1]
    assert f"The last generation: {summary(trace)}" in text


def test_lore_that_takes_much_of_the_context_is_told(lorestudio: Run, vault: Path, chat: Path) -> None:
    result = lorestudio("replay", vault, "--chat", chat, "--context-size", 5)
    assert result.exit_code == 0
    assert re.search(r"Lore takes \d+ % of the context", result.stdout)
    assert "Lore takes" not in lorestudio("replay", vault, "--chat", chat).stdout


def test_broken_notes_and_lost_lines_are_told(lorestudio: Run, vault: Path, chat: Path) -> None:
    (vault / "Bad.md").write_bytes(b"---\ntags: [lorebook]\n---\n\xff")
    chat.write_text(chat.read_text() + "\n{broken")
    result = lorestudio("replay", vault, "--chat", chat)
    text = " ".join(result.stdout.split())
    assert "Cannot be read: Bad.md." in text
    assert "chat.jsonl: Line 6 is no JSON" in text


def test_settings_are_used(lorestudio: Run, vault: Path, chat: Path, tmp_path: Path) -> None:
    settings = tmp_path / "settings.json"
    settings.write_text('{"enabled": true, "maxEntries": 1}')
    result = lorestudio("replay", vault, "--chat", chat, "--settings", settings)
    assert "- Tide: over the entry limit" in result.stdout


def test_plain_text_is_a_chat_too(lorestudio: Run, vault: Path, tmp_path: Path) -> None:
    text = tmp_path / "chat.txt"
    text.write_text("Wren: A lamp.\nOttoline: Yes.\n")
    result = lorestudio("replay", vault, "--chat", text)
    assert rows(result.stdout)["#1"][3] == "+ Lamp"


def test_brackets_in_names_are_no_markup(lorestudio: Run, tmp_path: Path, chat: Path) -> None:
    vault = tmp_path / "[bold]brume"
    vault.mkdir()
    (vault / "[red] [x].md").write_text("---\ntags: [lorebook]\nkeys: [lamp]\n---\nx\n")
    result = lorestudio("replay", vault, "--chat", chat)
    assert result.exit_code == 0
    assert "[bold]brume with chat.jsonl" in result.stdout
    assert "+ [red] [x]" in result.stdout
    assert "Injected most often: [red] [x] (4×)." in result.stdout


@pytest.mark.parametrize("width", [80, 120])
def test_the_demo_fits_the_width_and_says_why(width: int) -> None:
    project = demo_project()
    console = Console(width=width, record=True, file=StringIO())
    console.print(report_of(project).table())
    lines = console.export_text().splitlines()
    assert max(len(line.rstrip()) for line in lines) <= width
    text = " ".join(" ".join(lines).split())
    for said in (
        "- Storm Glass: refine keys missing",
        "~ Wreck of the Patient Margaret",
        "behind the cut",
        "over the entry limit",
        "filtered by context",
        "excluded",
        "lost the draw",
        "cooling down",
        "warming up",
        "required entry missing",
        "- Hat Wasps: blocked",
    ):
        assert said in text
    found = rows("\n".join(lines))
    assert len(found) == 27
    assert found["#8"][:3] == ["11", "7", "1,353"]
    folded = [line for line in lines if line.strip() and not re.match(r"\s*(#\d|next)", line)]
    assert len(lines) < 110, f"{len(folded)} lines of explanation"


def test_long_lists_of_titles_are_shortened(tmp_path: Path, chat: Path) -> None:
    vault = tmp_path / "many"
    vault.mkdir()
    for letter in "abcdefg":
        (vault / f"{letter}.md").write_text("---\ntags: [lorebook]\nkeys: [lamp]\n---\nx\n")
    assert rows(shown(vault, chat))["#1 ‹2/2›"][3] == "+ a, b, c, d and 3 more"


def test_a_generation_without_lore_says_what_happened(vault: Path, tmp_path: Path) -> None:
    text = tmp_path / "chat.txt"
    text.write_text("Wren: Hello.\nOttoline: Yes.\n")
    trace = asyncio.run(Simulator(open_project([vault], text)).replay())[0]
    assert rows(shown(vault, text, 160))["#1"] == ["0", "0", "0", summary(trace)]


def test_who_is_kept_out_whatever_the_chat_says_is_no_news_of_a_turn(
    lorestudio: Run, vault: Path, tmp_path: Path
) -> None:
    """Dozens of a large lorebook are switched off, and were told in every row."""
    for note, more in (("Lamp", "wi_delay: 9\n"), ("Tide", "refine_keys: [ebbs]\n")):
        path = vault / f"{note}.md"
        path.write_text(f"---\ntags: [lorebook]\nkeys: [{note.lower()}]\n{more}---\nx\n", encoding="utf-8")
    text = tmp_path / "chat.txt"
    text.write_text("Wren: The lamp, the tide.\nOttoline: Yes.\n")
    told = lorestudio("replay", vault, "--chat", text, "--system", "world-info").stdout
    assert "- Tide: secondary keys" in told
    assert "delayed" not in told


def test_the_summary_of_an_unused_vault(vault: Path, tmp_path: Path) -> None:
    text = tmp_path / "chat.txt"
    text.write_text("Wren: Hello.\n")
    project = open_project([vault], text)
    assert report_of(project).summary().startswith("Never injected: 3 of 3 entries")


def test_the_summary_counts_each_note_by_itself_and_no_guide(tmp_path: Path) -> None:
    vault = tmp_path / "twice"
    (vault / "old").mkdir(parents=True)
    (vault / "Lamp.md").write_text("---\ntags: [lorebook]\nkeys: [lamp]\n---\nx\n")
    (vault / "old" / "Lamp.md").write_text("---\ntags: [lorebook]\nkeys: [tallow]\n---\nx\n")
    (vault / "Voices.md").write_text("---\ntags: [lorebook-guide]\nkeys: [lamp]\n---\nx\n")
    text = tmp_path / "chat.txt"
    text.write_text("Wren: The lamp!\n")
    told = report_of(open_project([vault], text)).summary()
    assert told.startswith("Injected most often: Lamp (1×).\nNever injected: 1 of 2 entries")


def test_json_is_every_trace_and_comes_back_equal(lorestudio: Run, vault: Path, chat: Path) -> None:
    result = lorestudio("replay", vault, "--chat", chat, "--json")
    assert result.exit_code == 0
    assert result.stderr == ""
    assert result.stdout.count("\n") == 1
    traces = [from_json(item) for item in json.loads(result.stdout)]
    assert [(trace.turn.message, trace.turn.swipe) for trace in traces] == [(1, 1), (1, 0), (3, 0), (4, 0)]
    again = asyncio.run(Simulator(open_project([vault], chat)).replay())
    assert [trace.injections for trace in traces] == [trace.injections for trace in again]


def test_json_leaves_problems_to_the_error_stream(lorestudio: Run, vault: Path, chat: Path) -> None:
    chat.write_text(chat.read_text() + "\n{broken")
    result = lorestudio("replay", vault, "--chat", chat, "--json")
    assert len(json.loads(result.stdout)) == 4
    assert result.stderr.startswith("lorestudio: chat.jsonl: Line 6 is no JSON")


def test_json_of_half_a_character_is_still_utf_8(lorestudio: Run, vault: Path, tmp_path: Path) -> None:
    chat = tmp_path / "odd.jsonl"
    chat.write_text('{"user_name": "Wren"}\n{"name": "Wren", "is_user": true, "mes": "lamp"}\n')
    (vault / "Lamp.md").write_text('---\ntags: [lorebook]\nkeys: ["lamp"]\n---\nné\n', encoding="utf-8")
    result = lorestudio("replay", vault, "--chat", chat, "--json")
    assert "né" in result.stdout_bytes.decode("utf-8")
    assert json_bytes({"a": "\ud83d né"}) == b'{"a": "\\ud83d n\xc3\xa9"}\n'


def test_seed_decides_the_rolls(lorestudio: Run, tmp_path: Path) -> None:
    vault = tmp_path / "dice"
    vault.mkdir()
    (vault / "Dice.md").write_text("---\ntags: [lorebook]\nkeys: [dice]\nprobability: 0.5\n---\nx\n")
    text = tmp_path / "chat.txt"
    text.write_text("Wren: dice\nOttoline: dice\n" * 4)

    def draws(seed: int) -> list[Any]:
        result = lorestudio("replay", vault, "--chat", text, "--json", "--seed", seed)
        return [item["trace"]["draws"] for item in json.loads(result.stdout)]

    assert draws(1) == draws(1)
    assert draws(1) != draws(2)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["{tmp}/gone", "--chat", "{chat}"], "gone"),
        (["{vault}/Lamp.md", "--chat", "{chat}"], "Lamp.md"),
        (["{vault}", "--chat", "{tmp}/gone.jsonl"], "gone.jsonl: the chat cannot be read"),
        (["{vault}", "--chat", "{tmp}/empty.jsonl"], "empty.jsonl: the file is empty"),
        (["{vault}", "--chat", "{chat}", "--settings", "{tmp}/bad.json"], "bad.json, line 2"),
        (["{vault}", "--chat", "{chat}", "--settings", "{tmp}/gone.json"], "gone.json: there is no such file"),
        (["{vault}"], "--chat"),
        (["{vault}", "--chat", "{chat}", "--seed", "-1"], "--seed"),
    ],
)
def test_bad_input_is_named_and_ends_with_2(
    lorestudio: Run, vault: Path, chat: Path, tmp_path: Path, arguments: list[str], said: str
) -> None:
    (tmp_path / "empty.jsonl").write_text("")
    (tmp_path / "bad.json").write_text("{\n]")
    filled = [argument.format(tmp=tmp_path, vault=vault, chat=chat) for argument in arguments]
    result = lorestudio("replay", *filled)
    assert result.exit_code == 2
    assert said in result.stderr
    assert result.stdout == ""
    assert "Traceback" not in result.stderr


@pytest.fixture
def stopped(lorestudio: Run, vault: Path, chat: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Result]:
    """Run the command and press Ctrl+C after its second generation."""

    def interrupted(*_: object) -> Callable[[Progress], None]:
        def advance(progress: Progress) -> None:
            if progress.done == 2:
                raise KeyboardInterrupt

        return advance

    def run(*more: object) -> Result:
        with monkeypatch.context() as patch:
            patch.setattr(replaying, "_advance", interrupted)
            return lorestudio("replay", vault, "--chat", chat, *more)

    return run


def test_ctrl_c_ends_with_130_and_shows_what_was_done(stopped: Callable[..., Result]) -> None:
    result = stopped()
    assert result.exit_code == 130
    assert list(rows(result.stdout)) == ["#1 ‹2/2›", "#1 ‹1/2›"]
    assert "stopped after 2 of 4 generations, the last one at message #1" in result.stderr
    assert "run the same command again to go on" in result.stderr


def test_ctrl_c_is_heard_in_the_middle_of_a_generation(
    lorestudio: Run, vault: Path, chat: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A loop of asyncio told only its task, which heard of it at the end of the generation."""
    decider, went_on = Simulator.decider, list[Generation]()

    def interrupted(self: Simulator, generation: Generation) -> System:
        if len(self.traces) == 2:
            signal.raise_signal(signal.SIGINT)
            went_on.append(generation)
        return decider(self, generation)

    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a run in the background was told to ignore it
    try:
        with monkeypatch.context() as patch:
            patch.setattr(Simulator, "decider", interrupted)
            result = lorestudio("replay", vault, "--chat", chat)
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        signal.signal(signal.SIGINT, before)
    assert (result.exit_code, went_on) == (130, [])
    assert "stopped after 2 of 4 generations, the last one at message #1" in result.stderr
    assert "2 of 4 generations are done" in lorestudio("replay", vault, "--chat", chat).stderr


def test_ctrl_c_while_a_generation_is_taken_in_has_it_taken_in_once(
    lorestudio: Run, vault: Path, chat: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    take, taken = ReplayReport.take, list[Generation]()

    def interrupted(self: ReplayReport, trace: Trace) -> None:
        taken.append(trace.turn.generation)
        if len(taken) == 2:
            signal.raise_signal(signal.SIGINT)
        take(self, trace)

    monkeypatch.setattr(ReplayReport, "take", interrupted)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        result = lorestudio("replay", vault, "--chat", chat, "--json")
    finally:
        signal.signal(signal.SIGINT, before)
    assert (result.exit_code, len(taken), len(set(taken))) == (130, 2, 2)
    assert [from_json(document).turn.generation for document in json.loads(result.stdout)] == taken


def test_the_same_command_goes_on_where_it_was_stopped(
    lorestudio: Run, vault: Path, chat: Path, stopped: Callable[..., Result]
) -> None:
    whole = lorestudio("replay", vault, "--chat", chat)
    stopped()
    again = lorestudio("replay", vault, "--chat", chat)
    assert again.exit_code == 0
    assert "going on from a replay that was stopped: 2 of 4 generations are done" in again.stderr
    assert again.stdout == whole.stdout
    assert "stopped" not in lorestudio("replay", vault, "--chat", chat).stderr


def test_after_an_edit_a_stopped_replay_begins_anew(
    lorestudio: Run, vault: Path, chat: Path, stopped: Callable[..., Result]
) -> None:
    stopped()
    (vault / "Lamp.md").write_text("---\ntags: [lorebook]\nkeys: [bell]\n---\nLamp.\n", encoding="utf-8")
    assert "going on" not in lorestudio("replay", vault, "--chat", chat).stderr


def test_a_range_shows_its_own_replies_and_says_what_was_run_before(lorestudio: Run, vault: Path, chat: Path) -> None:
    whole = rows(lorestudio("replay", vault, "--chat", chat).stdout)
    result = lorestudio("replay", vault, "--chat", chat, "--messages", "3")
    assert result.exit_code == 0
    assert [(reply, row[:3]) for reply, row in rows(result.stdout).items()] == [("#3", whole["#3"][:3])]
    assert "2 generations before it are run first" in result.stderr
    assert "before it" not in lorestudio("replay", vault, "--chat", chat, "--messages", "-2").stderr


def test_a_range_as_json(lorestudio: Run, vault: Path, chat: Path) -> None:
    whole = json.loads(lorestudio("replay", vault, "--chat", chat, "--json").stdout)
    part = json.loads(lorestudio("replay", vault, "--chat", chat, "--json", "--messages", "3-").stdout)
    assert [from_json(one).turn for one in part] == [from_json(one).turn for one in whole[2:]]


@pytest.mark.parametrize(("messages", "told"), [("x", "Write 12-40"), ("40-50", "No reply stands from message 40 to")])
def test_a_range_that_cannot_be_replayed(lorestudio: Run, vault: Path, chat: Path, messages: str, told: str) -> None:
    result = lorestudio("replay", vault, "--chat", chat, "--messages", messages)
    assert result.exit_code == 2
    assert "--messages" in result.stderr
    assert told in result.stderr


def test_a_range_with_another_system(lorestudio: Run, vault: Path, chat: Path) -> None:
    """What a system remembers is that of a replay of the whole chat."""
    asked = ("replay", vault, "--chat", chat, "--system", "world-info", "--json")
    whole = [from_json(trace) for trace in json.loads(lorestudio(*asked).stdout)]
    (part,) = (from_json(trace) for trace in json.loads(lorestudio(*asked, "--messages", "3").stdout))
    (same,) = (trace for trace in whole if trace.turn.message == 3)
    assert (part.injections, part.prompt, part.digests) == (same.injections, same.prompt, same.digests)


def test_links_in_a_circle_are_told(lorestudio: Run, vault: Path, chat: Path, tmp_path: Path) -> None:
    circle = tmp_path / "circle"
    circle.symlink_to("circle")
    for arguments in ((vault, "--chat", circle), (circle, "--chat", chat)):
        result = lorestudio("replay", *arguments)
        assert result.exit_code == 2
        assert "cannot be read: Too many levels" in " ".join(result.stderr.split())


@pytest.mark.parametrize(
    ("fields", "labels"),
    [
        ({"swipes": ["Yes."], "swipe_id": 1}, ["#1 ‹1/1›", "#1 ‹2/1›"]),  # SillyTavern counts so, too
        ({"swipes": ["Yes.", "No."], "swipe_id": 2}, ["#1 ‹1/2›", "#1 ‹2/2›", "#1 ‹3/2›"]),
        ({"swipes": ["Yes."], "swipe_id": 0}, ["#1"]),
        ({"swipe_id": 1}, ["#1"]),
    ],
)
def test_a_swipe_behind_all_others_has_a_name_of_its_own(
    lorestudio: Run, vault: Path, chat: Path, fields: dict[str, object], labels: list[str]
) -> None:
    records = [json.loads(line) for line in chat.read_text(encoding="utf-8").splitlines()]
    records[2] = {"name": "Ottoline", "mes": "Yes.", **fields}
    chat.write_text("\n".join(map(json.dumps, records)), encoding="utf-8")
    before = chat.read_bytes()
    result = lorestudio("replay", vault, "--chat", chat)
    assert result.exit_code == 0
    assert list(rows(result.stdout)) == [*labels, "#3", "next"]
    assert chat.read_bytes() == before


def test_texts_go_away_for_their_vectors_once_somebody_agreed_and_other_commands_ask_nobody(
    lorestudio: Run, vault: Path, chat: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    maker = Maker()
    monkeypatch.setattr(hybrid, "embedder_named", lambda _name: maker)
    system = ("--system", "hybrid", "--set", "embedder=Local")
    told = lorestudio("usage", vault, "--chat", chat, *system)
    assert told.exit_code == 0, told.output
    refused = lorestudio("replay", vault, "--chat", chat, *system)
    assert "texts of notes and the chat go to Local · m for vectors" in refused.stderr
    assert "nothing was sent" in refused.stderr
    assert refused.exit_code != 0
    assert maker.asked == []
    agreed = lorestudio("replay", vault, "--chat", chat, *system, "--yes")
    assert agreed.exit_code == 0, agreed.output
    assert maker.asked
    maker.asked.clear()
    again = lorestudio("replay", vault, "--chat", chat, *system)
    assert "for vectors" not in again.stderr
    assert again.stdout == agreed.stdout
    assert maker.asked == []


@pytest.mark.parametrize("state", FateState)
def test_only_what_is_refused_early_stays_out_whatever_is_said(state: FateState) -> None:
    fate = Fate(0, state, "snapshot", Phase.LOAD, "guide")
    assert whatever_is_said(examples.trace(), fate) is (state is FateState.REFUSED)
