"""The order in which the generations of a chat are run, whatever decides."""

import asyncio

import pytest

from lorestudio.domain.chat import Chat, Generation, Message
from lorestudio.domain.entry import VaultIndex
from lorestudio.domain.lifecycle import Cancelled, CancelToken
from lorestudio.settings.deeplore import DeepLoreSettings
from lorestudio.studio.project.project import Project
from lorestudio.studio.replay.ranges import clock_ms
from lorestudio.studio.replay.simulator import Simulator

CHAT = Chat(
    (
        Message("Wren", "Who is there?", is_user=True),
        Message("Narrator", "A bell.", swipes=("A dragon.", "A bell.", "Nobody."), swipe_id=1),
        Message("Wren", "Go on.", is_user=True),
    )
)
COURSE = (Generation(1, 0), Generation(1, 2), Generation(1, 1), Generation(3))


def simulator(chat):
    return Simulator(Project((), VaultIndex(), DeepLoreSettings(), chat))


def test_the_active_swipe_comes_last_of_its_reply_and_the_reply_to_come_last_of_all() -> None:
    course = simulator(CHAT)
    assert course.generations == COURSE
    assert [course.place(each) for each in COURSE] == [0, 1, 2, 3]
    assert [course.moment(each).turn.kind for each in COURSE] == ["normal", "swipe", "swipe", "normal"]
    assert course.shown(1) == Generation(1, 1)
    assert course.shown(0) is None  # a person wrote it
    assert course.shown(3) == Generation(3)


def test_a_chat_that_is_not_there_has_a_first_reply_to_come() -> None:
    assert simulator(None).generations == (Generation(0),)


def test_a_generation_that_the_chat_does_not_have_is_named() -> None:
    course = simulator(CHAT)
    with pytest.raises(ValueError, match="no reply #1 with swipe 8"):
        course.place(Generation(1, 7))


def test_running_goes_on_from_what_is_known_and_stops_where_it_is_told() -> None:
    course, told = simulator(CHAT), []
    asyncio.run(course.generate(COURSE[0]))
    asyncio.run(course.run_missing(told.append, until=3))
    assert list(course.traces) == list(COURSE[:3])
    assert [(each.done, each.total, each.generation) for each in told] == [(2, 3, COURSE[1]), (3, 3, COURSE[2])]
    asyncio.run(course.run_missing(until=99))  # there is no more
    assert len(asyncio.run(course.replay())) == len(course.traces) == 4


def test_a_request_to_stop_is_heard_before_the_next_generation() -> None:
    token, course = CancelToken(), simulator(CHAT)
    token.cancel()
    with pytest.raises(Cancelled):
        asyncio.run(course.run_missing(cancel=token))
    assert not course.traces


def test_the_clock_goes_a_minute_a_generation() -> None:
    assert clock_ms(3) - clock_ms(0) == 180_000
