"""Talking with fact memory: sweeps, failures, and what is known going into the prompt."""

import asyncio

import pytest

from lorestudio.llm.errors import LlmError
from lorestudio.systems.facts.conversations import MOST_ATTEMPTS, FactMemory
from lorestudio.systems.facts.options import FactMemoryConfig, FactOptions
from lorestudio.systems.facts.records import FactError, ThreadState
from lorestudio.systems.facts.retrieval import Forgetting, MemorySearch
from lorestudio.systems.facts.store import FactStore
from lorestudio.systems.facts.threads import HOUR, MINUTE, Timeouts, timeouts
from tests.systems.facts.world import Model, memory

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


class Partner:
    def __init__(self, *pieces, breaks=False):
        self.pieces, self.breaks, self.heard = pieces, breaks, []

    async def stream(self, lines):
        self.heard = [(line.role, line.content) for line in lines]
        for piece in self.pieces:
            yield piece
        if self.breaks:
            raise ConnectionError("gone")


def world(model, config=None, partner=None):
    clock = Clock()
    store = FactStore(now=clock)
    _OPEN.append(store)
    return FactMemory(store, model, config, now=clock, partner=partner or Partner("aye")), store, clock


SHORT = Timeouts(10, 10, 10)


def test_what_is_known_goes_into_the_prompt_before_the_system_prompt():
    partner = Partner("Oren, ", "you say?")
    model = Model(vectors={"Who keeps bees?": [1, 0]})
    memories, store, _ = world(model, FactMemoryConfig(auto_retrieve=True), partner)
    store.put_memory(memory("a", [1, 0], user="me"))
    thread = memories.create("me")
    talked = asyncio.run(memories.chat(thread.id, "Who keeps bees?", "Be brief."))
    assert talked.reply == "Oren, you say?"
    assert partner.heard[0][0] == "system"
    assert "fact a" in partner.heard[0][1]
    assert partner.heard[1:] == [("system", "Be brief."), ("user", "Who keeps bees?")]
    assert [line.role for line in store.get_messages(thread.id)] == ["user", "assistant"]
    assert talked.thread.last_message_at == 1_000_000


def test_a_stream_that_breaks_keeps_the_question_and_no_reply():
    memories, store, _ = world(Model(), partner=Partner("half", breaks=True))
    thread = memories.create("me")

    async def listen():
        _, pieces = memories.stream(thread.id, "hello")
        return [piece async for piece in pieces]

    with pytest.raises(ConnectionError):
        asyncio.run(listen())
    assert [line.content for line in store.get_messages(thread.id)] == ["hello"]
    assert store.get_thread(thread.id).last_message_at is None


def test_a_sweep_goes_on_past_a_failing_thread_and_gives_up_after_some_attempts():
    model = Model(["a"], {"a": [1, 0]}, ["a"])
    memories, store, clock = world(model, FactMemoryConfig(timeouts=SHORT))
    threads = [memories.create("me") for _ in range(2)]
    for thread in threads:
        asyncio.run(memories.chat(thread.id, "hello"))
    clock.now += 10
    asyncio.run(memories.sweep())
    clock.now += 10
    for attempt in range(1, MOST_ATTEMPTS + 1):
        swept = asyncio.run(memories.sweep())
        assert [failure.thread.id for failure in swept.failures] == [thread.id for thread in threads]
        assert {store.get_thread(thread.id).state for thread in threads} == {ThreadState.COOLING}
        assert {store.get_thread(thread.id).attempts for thread in threads} == {attempt}
    assert asyncio.run(memories.sweep()).failures == ()
    model.failing.clear()  # the server is back, and somebody asks for it
    assert asyncio.run(memories.trigger(threads[0].id)).saved == 1
    assert store.get_thread(threads[0].id).state is ThreadState.DORMANT
    assert store.get_thread(threads[0].id).attempts == 0


def test_a_server_that_is_down_loses_no_conversation():
    model = Model(["a"], {"a": [1, 0]}, down=True)
    memories, store, _ = world(model)
    thread = memories.create("me")
    asyncio.run(memories.chat(thread.id, "hello"))
    with pytest.raises(LlmError):
        asyncio.run(memories.trigger(thread.id))
    assert store.get_thread(thread.id).state is ThreadState.ACTIVE
    model.down = False
    assert asyncio.run(memories.trigger(thread.id)).saved == 1


def test_strict_mode_ends_the_sweep_as_the_original_does():
    model = Model(["a"], {"a": [1, 0]}, ["a"])
    memories, store, clock = world(model, FactMemoryConfig(FactOptions(mode="strict"), timeouts=Timeouts(0, 0, 10)))
    thread = memories.create("me")
    asyncio.run(memories.chat(thread.id, "hello"))
    with pytest.raises(LlmError):
        asyncio.run(memories.sweep())
    assert store.get_thread(thread.id).state is ThreadState.DORMANT
    clock.now += 1


def test_asking_refreshes_a_memory_where_forgetting_is_on():
    memories, store, clock = world(
        Model(vectors={"q": [1, 0]}), FactMemoryConfig(search=MemorySearch(forgetting=Forgetting(1000)))
    )
    store.put_memory(memory("a", [1, 0], user="me"))
    asyncio.run(memories.retrieve("me", "q"))
    found = store.get_memories("me")[0]
    assert (found.last_retrieved_at, found.retrieval_count) == (clock.now, 1)


def test_threads_that_there_are_not():
    memories, _, _ = world(Model())
    with pytest.raises(FactError, match="Thread not found: x"):
        asyncio.run(memories.trigger("x"))
    with FactStore() as store:
        alone = FactMemory(store, Model())
        thread = alone.create("me")
        with pytest.raises(FactError, match="Nobody is there"):
            asyncio.run(alone.chat(thread.id, "hello"))


def test_a_preset_fills_only_what_was_not_given():
    assert timeouts("daily-checkin", cooling=5) == Timeouts(5, 30 * MINUTE, 7 * 24 * HOUR)
    assert timeouts(cooling=5) == Timeouts(5, 5, 30 * 24 * HOUR)
