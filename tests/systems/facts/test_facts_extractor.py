"""Drawing facts out of threads: what is left of one that fails."""

import asyncio

import pytest

from lorestudio.llm.errors import LlmError
from lorestudio.systems.facts.options import FactOptions
from lorestudio.systems.facts.records import Line, Thread, ThreadState
from lorestudio.systems.facts.session import Extractor
from lorestudio.systems.facts.store import FactStore
from lorestudio.systems.facts.threads import DAY, MINUTE, Timeouts, timeouts
from tests.systems.facts.world import Model

SAID = (Line("user", "hello"), Line("assistant", "aye"))


@pytest.fixture
def store():
    with FactStore() as made:
        yield made


def spoken_in(store):
    thread = Thread("t", "me", 0, 0, ThreadState.ACTIVE, 0)
    store.update_thread(thread)
    return thread


def test_a_server_that_is_down_loses_no_conversation(store):
    model = Model(["a"], {"a": [1, 0]}, down=True)
    extractor, thread = Extractor(store, model), spoken_in(store)
    for attempt in (1, 2):
        with pytest.raises(LlmError):
            asyncio.run(extractor.extract(store.get_thread("t"), SAID))
        kept = store.get_thread("t")
        assert (kept.state, kept.attempts) == (ThreadState.ACTIVE, attempt)
    model.down = False
    assert asyncio.run(extractor.extract(store.get_thread("t"), SAID)).saved == 1
    kept = store.get_thread(thread.id)
    assert (kept.state, kept.attempts) == (ThreadState.DORMANT, 0)


def test_strict_mode_leaves_a_failed_thread_dormant_as_the_original_does(store):
    model = Model(["a"], {"a": [1, 0]}, ["a"])
    extractor = Extractor(store, model, FactOptions(strict=True))
    with pytest.raises(LlmError):
        asyncio.run(extractor.extract(spoken_in(store), SAID))
    assert store.get_thread("t").state is ThreadState.DORMANT


def test_only_what_is_dormant_for_long_enough_ends_for_good(store):
    dormant = [Thread(name, "me", 0, 0, ThreadState.DORMANT, dormant_at=at) for name, at in (("old", 0), ("new", 2))]
    for thread in dormant:
        store.update_thread(thread)
    Extractor(store, Model(), timeouts=Timeouts(closed=10), now=lambda: 11).close_old(dormant)
    assert {each.id: each.state for each in store.all_threads()} == {
        "old": ThreadState.CLOSED,
        "new": ThreadState.DORMANT,
    }


def test_a_preset_fills_only_what_was_not_given():
    assert timeouts("daily-checkin", cooling=5) == Timeouts(5, 30 * MINUTE, 7 * DAY)
    assert timeouts(cooling=5) == Timeouts(5, 5, 30 * DAY)
