"""What the options choose, for every command that has them."""

from __future__ import annotations

import pytest

from lorestudio.cli.options import answering_offline, chosen_generation, in_mode, with_fixed
from lorestudio.domain.chat import Chat, Generation, Message
from lorestudio.domain.records import replace
from lorestudio.exchange.problems import InputError
from lorestudio.studio.project.project import Project, demo_project
from lorestudio.studio.project.settings import Mode, mode_of
from lorestudio.studio.replay.simulator import Simulator


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
