"""The order in which the generations of a chat are run, whatever runs them."""

import asyncio

import pytest

from lorestudio.domain.chat import Chat, Generation, Message
from lorestudio.domain.lifecycle import Cancelled, CancelToken
from lorestudio.studio.replay.order import ReplayOrder, clock_ms

CHAT = Chat(
    (
        Message("Wren", "Who is there?", is_user=True),
        Message("Narrator", "A bell.", swipes=("A dragon.", "A bell.", "Nobody."), swipe_id=1),
        Message("Wren", "Go on.", is_user=True),
    )
)
COURSE = (Generation(1, 0), Generation(1, 2), Generation(1, 1), Generation(3))


class Runner:
    """Counts what it is asked to run; `kept` were known before."""

    def __init__(self, kept: int = 0) -> None:
        self.done, self.kept = kept, kept
        self.told: list[object] = []

    async def run_next(self) -> None:
        self.done += 1

    def go(self, **more) -> None:
        asyncio.run(
            ReplayOrder(CHAT).run(
                lambda: self.done, self.run_next, lambda: self.kept, on_progress=self.told.append, **more
            )
        )


def test_the_active_swipe_comes_last_of_its_reply_and_the_reply_to_come_last_of_all() -> None:
    course = ReplayOrder(CHAT)
    assert course.generations == COURSE
    assert [course.place(each) for each in COURSE] == [0, 1, 2, 3]
    assert [course.first_swipe(place) for place in range(4)] == [0, 0, 0, 3]
    assert course.shown(1) == Generation(1, 1)
    assert course.shown(0) is None  # a person wrote it
    assert course.shown(3) == Generation(3)


def test_a_chat_that_is_not_there_has_a_first_reply_to_come() -> None:
    assert ReplayOrder(None).generations == (Generation(0),)


def test_a_generation_that_the_chat_does_not_have_is_named() -> None:
    course = ReplayOrder(CHAT)
    assert course.find(Generation(1, 7)) is None
    with pytest.raises(ValueError, match="no reply #1 with swipe 8"):
        course.place(Generation(1, 7))


def test_running_goes_on_from_what_is_known_and_stops_where_it_is_told() -> None:
    runner = Runner(kept=1)
    runner.go(until=3)
    assert runner.done == 3
    assert [(each.done, each.total, each.generation, each.kept) for each in runner.told] == [
        (2, 3, COURSE[1], 1),
        (3, 3, COURSE[2], 1),
    ]
    runner.go()
    assert runner.done == 4
    runner.go(until=99)  # there is no more
    assert runner.done == 4


def test_a_request_to_stop_is_heard_before_the_next_generation() -> None:
    token, runner = CancelToken(), Runner()
    token.cancel()
    with pytest.raises(Cancelled):
        runner.go(cancel=token)
    assert runner.done == 0


def test_the_clock_goes_a_minute_a_generation() -> None:
    assert clock_ms(3) - clock_ms(0) == 180_000
