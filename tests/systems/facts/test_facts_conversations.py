"""Threads that are spoken in and fall silent: sweeps and failures."""

import asyncio

import pytest

from lorestudio.llm.errors import LlmError
from lorestudio.systems.facts.options import FactOptions
from lorestudio.systems.facts.records import FactError, ThreadState
from lorestudio.systems.facts.session import MOST_ATTEMPTS, Conversations
from lorestudio.systems.facts.store import FactStore
from lorestudio.systems.facts.threads import HOUR, MINUTE, Timeouts, timeouts
from tests.systems.facts.world import Model

_OPEN = []


@pytest.fixture(autouse=True)
def _closed():
    yield
    while _OPEN:
        _OPEN.pop().close()


class Clock:
    def __init__(self):
        self.now = 1_000_000

    def __call__(self):
        return self.now


def world(model, times=None, **options):
    clock = Clock()
    store = FactStore(now=clock)
    _OPEN.append(store)
    return Conversations(store, model, FactOptions(**options), times or Timeouts(), clock), store, clock


SHORT = Timeouts(10, 10, 10)


def test_a_sweep_goes_on_past_a_failing_thread_and_gives_up_after_some_attempts():
    model = Model(["a"], {"a": [1, 0]}, ["a"])
    memories, store, clock = world(model, SHORT)
    threads = [store.create_thread("me") for _ in range(2)]
    for thread in threads:
        memories.exchange(thread.id, "hello", "aye")
    clock.now += 10
    asyncio.run(memories.sweep())
    clock.now += 10
    for attempt in range(1, MOST_ATTEMPTS + 1):
        failures = asyncio.run(memories.sweep())
        assert [thread.id for thread, _ in failures] == [thread.id for thread in threads]
        assert {store.get_thread(thread.id).state for thread in threads} == {ThreadState.COOLING}
        assert {store.get_thread(thread.id).attempts for thread in threads} == {attempt}
    assert asyncio.run(memories.sweep()) == ()
    model.failing.clear()  # the server is back, and somebody asks for it
    assert asyncio.run(memories.trigger(threads[0].id)).saved == 1
    assert store.get_thread(threads[0].id).state is ThreadState.DORMANT
    assert store.get_thread(threads[0].id).attempts == 0


def test_a_server_that_is_down_loses_no_conversation():
    model = Model(["a"], {"a": [1, 0]}, down=True)
    memories, store, _ = world(model)
    thread = store.create_thread("me")
    memories.exchange(thread.id, "hello", "aye")
    with pytest.raises(LlmError):
        asyncio.run(memories.trigger(thread.id))
    assert store.get_thread(thread.id).state is ThreadState.ACTIVE
    model.down = False
    assert asyncio.run(memories.trigger(thread.id)).saved == 1


def test_strict_mode_ends_the_sweep_as_the_original_does():
    model = Model(["a"], {"a": [1, 0]}, ["a"])
    memories, store, clock = world(model, Timeouts(0, 0, 10), strict=True)
    thread = store.create_thread("me")
    memories.exchange(thread.id, "hello", "aye")
    with pytest.raises(LlmError):
        asyncio.run(memories.sweep())
    assert store.get_thread(thread.id).state is ThreadState.DORMANT
    clock.now += 1


def test_threads_that_there_are_not():
    memories, _, _ = world(Model())
    with pytest.raises(FactError, match="Thread not found: x"):
        asyncio.run(memories.trigger("x"))


def test_a_preset_fills_only_what_was_not_given():
    assert timeouts("daily-checkin", cooling=5) == Timeouts(5, 30 * MINUTE, 7 * 24 * HOUR)
    assert timeouts(cooling=5) == Timeouts(5, 5, 30 * 24 * HOUR)
