"""What the options choose, for every command that has them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lorestudio.cli.options import answering_offline, chosen_generation, in_mode, with_fixed
from lorestudio.domain.chat import Chat, Generation, Message
from lorestudio.domain.records import replace
from lorestudio.exchange.problems import InputError
from lorestudio.studio.project.project import Project, demo_project
from lorestudio.studio.project.settings import Mode, mode_of
from lorestudio.studio.replay.simulator import Simulator
from tests.cli.conftest import Run


@pytest.fixture(scope="module")
def project() -> Project:
    """The demo with a chat of one reply that has three swipes."""
    said = Message("Wren", "Hello.", is_user=True)
    reply = Message("Ada", "Yes.", swipe_id=1, swipes=("No.", "Yes.", "Perhaps."))
    return replace(demo_project(), chat=Chat(messages=(said, reply, replace(said, text="Go on."))))


def test_a_mode_by_its_name(project: Project) -> None:
    assert in_mode(project, None) is project
    assert mode_of(in_mode(project, "ai-only").settings) is Mode.AI_ONLY
    with pytest.raises(InputError, match="--mode: there is no mode “magic”"):
        in_mode(project, "magic")


def test_quirks_are_those_that_are_named(project: Project) -> None:
    assert with_fixed(project, None).behaviour == project.behaviour
    assert with_fixed(project, ["all"]).behaviour != project.behaviour
    with pytest.raises(InputError, match="--fixed: "):
        with_fixed(project, ["gravity"])


def test_a_command_that_asks_nobody_takes_no_profile(project: Project) -> None:
    assert answering_offline("stand-in", project).profile is None
    with pytest.raises(InputError, match="--answers: this asks no provider"):
        answering_offline("Ollama", project)


def test_the_reply_to_come_a_reply_and_a_swipe(project: Project) -> None:
    simulator = Simulator(project)
    assert chosen_generation(simulator, None) == Generation(3, 0)
    assert chosen_generation(simulator, 1) == Generation(1, 1)
    assert chosen_generation(simulator, 1, 3) == Generation(1, 2)


def test_a_swipe_that_the_chat_calls_active_and_does_not_have(project: Project) -> None:
    chat = project.chat
    assert chat is not None
    lost = replace(chat, messages=(chat.messages[0], replace(chat.messages[1], swipe_id=9), chat.messages[2]))
    simulator = Simulator(replace(project, chat=lost))
    assert chosen_generation(simulator, 1) in simulator.generations


@pytest.mark.parametrize(
    ("message", "swipe", "option", "told"),
    [
        (0, None, "", "--message: #0 is no reply of the chat's. There are: #1, #3."),
        (0, None, "--against", "--against: #0 is no reply"),
        (1, 4, "", "--swipe: reply #1 has 3 swipes, and none is 4."),
        (3, 2, "--against", "--against: reply #3 has 1 swipe, and none is 2."),
    ],
)
def test_what_is_not_there_is_said(project: Project, message: int, swipe: int | None, option: str, told: str) -> None:
    with pytest.raises(InputError) as error:
        chosen_generation(Simulator(project), message, swipe, option)
    assert str(error.value).startswith(told)


@pytest.mark.parametrize(
    "command",
    [
        "replay CHAT", "explain CHAT", "prompt CHAT", "report CHAT -o r.html", "scenario CHAT -o s.json", "runs CHAT",
        "usage CHAT", "preview Lamp.md CHAT", "diff CHAT --system2 hybrid", "diff CHAT --vault2 VAULT", "verify CHAT",
        "test --text lamp", "lint", "graph", "links Lamp.md",
    ],
)  # fmt: skip
def test_a_setting_of_the_project_is_set_in_every_command(
    lorestudio: Run, vault: Path, chat: Path, command: str
) -> None:
    name, *more = command.replace("CHAT", f"--chat {chat}").replace("VAULT", str(vault)).split()
    assert "--set, “noSuchThing”" in lorestudio(name, vault, *more, "--set", "noSuchThing=1").stderr
    assert "5000 is not in the range 0 to 100" in lorestudio(name, vault, *more, "--set", "scanDepth=5000").stderr


def test_a_setting_of_the_project_decides(lorestudio: Run, vault: Path, chat: Path) -> None:
    def entered(*options: str) -> list[str]:
        told = json.loads(lorestudio("test", vault, "--text", "The lamp and the tide.", "--json", *options).stdout)
        return [row["title"] for row in told["entries"] if row["injected"]]

    assert entered() == ["Lamp", "Tide"]
    assert entered("--set", "maxEntries=1") == ["Lamp"]
    assert entered("--set", "lorebookTag=npc") == []


def test_what_is_set_is_exported_and_compared_on_both_sides(lorestudio: Run, vault: Path, chat: Path) -> None:
    assert json.loads(lorestudio("settings", "export", "--set", "scanDepth=6").stdout)["scanDepth"] == 6
    Path("other.json").write_text('{"maxEntries": 3}', encoding="utf-8")
    done = lorestudio("diff", vault, "--chat", chat, "--settings2", "other.json", "--set", "scanDepth=0", "--json")
    told = json.loads(done.stdout)
    assert [each["title"] for each in told["differences"]] == ["Most entries"]


def test_a_file_of_another_system_is_not_passed_over(lorestudio: Run, vault: Path, chat: Path) -> None:
    done = lorestudio("replay", vault, "--chat", chat, "--system-settings", "hybrid.json")
    assert done.exit_code == 2
    assert "--system-settings: it holds settings of another system." in done.stderr
