"""The pipeline beyond the cases: its invariant, its pool, and what a failure leaves behind."""

import asyncio

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lorestudio.llm.errors import LlmError
from lorestudio.systems.facts.options import FactOptions
from lorestudio.systems.facts.pipeline import embed_all, run_pipeline
from lorestudio.systems.facts.records import FactAction, Line, MemoryOrigin, Thread
from lorestudio.systems.facts.similarity import VectorTable, cosine
from lorestudio.systems.facts.store import FactStore
from tests.examples import examples
from tests.systems.facts.world import Model, memory

THREAD = Thread("t", "u", 0, 0)
LINES = (Line("user", "talk"),)
vectors = st.lists(st.integers(-3, 3), min_size=3, max_size=3)


def run(store, model, options=None):
    unit = store.begin()
    result = asyncio.run(run_pipeline(THREAD, LINES, model, unit, options, MemoryOrigin("r", "c", 3, 7)))
    unit.commit()
    return result


@settings(max_examples=examples(60), deadline=None)
@given(st.lists(vectors, max_size=6), st.lists(vectors, max_size=6), st.booleans())
def test_every_fact_is_saved_deduped_or_superseded(stored, new, strict):
    with FactStore(strict=strict) as store:
        for number, vector in enumerate(stored):
            store.put_memory(memory(f"m{number}", vector))
        facts = [f"fact {number}" for number in range(len(new))]
        result = run(store, Model(facts, dict(zip(facts, new, strict=True))), FactOptions(strict=strict))
        assert result.saved + result.deduped + result.superseded == len(new)
        assert len(store.get_memories("u")) == len(stored) + result.saved
        assert [decision.fact for decision in result.decisions] == facts


@settings(max_examples=examples(60), deadline=None)
@given(st.lists(st.none() | vectors, max_size=12), vectors, st.integers(1, 12))
def test_search_over_many_is_what_comparing_one_by_one_gives(rows, vector, limit):
    table = VectorTable([None if row is None else np.array(row, float) for row in rows])
    question = np.array(vector, float)
    scores = [(cosine(question, np.array(row, float)), number) for number, row in enumerate(rows) if row is not None]
    expected = sorted(scores, key=lambda each: (-each[0], each[1]))[:limit]
    assert [(best.similarity, best.index) for best in table.search(question, limit)] == expected
    best = table.best_of([question], strict=True)[0]
    above = [each for each in expected if each[0] > -1]
    assert (best is None) == (not above)
    assert best is None or (best.similarity, best.index) == above[0]


def test_rows_of_another_length_are_counted_and_left_alone():
    with FactStore() as store:
        store.put_memory(memory("old", [1, 0]))
        result = run(store, Model(["a"], {"a": [1, 0, 0]}))
        assert (result.saved, result.stale) == (1, 1)


def test_vectors_of_another_model_are_no_neighbours():
    with FactStore() as store:
        store.put_memory(memory("old", [1, 0], vector_model="one"))
        result = run(store, Model(["a"], {"a": [1, 0]}), FactOptions(vector_model="two"))
        assert (result.saved, result.deduped, result.stale) == (1, 0, 1)
        assert store.get_memories("u")[1].vector_model == "two"


def test_a_memory_knows_where_it_came_from():
    with FactStore() as store:
        store.put_memory(memory("old", [1, 0]))
        result = run(store, Model(["newer", "new"], {"newer": [4, 3], "new": [0, 1]}))
        assert [decision.action for decision in result.decisions] == [FactAction.SUPERSEDE, FactAction.SAVE]
        assert result.decisions[0].neighbour_text == "fact old"
        assert {found.origin for found in store.get_memories("u")} == {MemoryOrigin("r", "c", 3, 7)}


@pytest.mark.parametrize("concurrency", [1, 2, 5])
def test_no_more_calls_at_once_than_allowed(concurrency):
    facts = [f"f{number}" for number in range(9)]
    model = Model(vectors={fact: [number, 1] for number, fact in enumerate(facts)})
    found = asyncio.run(embed_all(facts, model.embed, concurrency, strict=False))
    assert [list(vector) for vector in found] == [[number, 1] for number in range(9)]
    assert model.most == concurrency
    assert model.embedded == facts


def test_no_call_outlives_a_failed_run():
    facts = [f"f{number}" for number in range(20)]
    model = Model(vectors={fact: [1] for fact in facts}, failing=["f0"])
    with pytest.raises(LlmError):
        asyncio.run(embed_all(facts, model.embed, 2, strict=False))
    assert len(model.embedded) < 20
    assert model.most == 2


def test_a_failing_provider_leaves_nothing_behind():
    with FactStore() as store:
        with pytest.raises(LlmError):
            run(store, Model(["a", "b"], {"a": [1, 0]}, ["b"]))
        assert store.get_memories("u") == []
        with pytest.raises(LlmError):
            run(store, Model(down=True))


def test_odd_facts_are_stored_as_they_can_be():
    with FactStore() as store:
        run(store, Model(["half \ud83d"], {"half \ud83d": [1, 0]}))
        assert store.get_memories("u")[0].content == "half \ufffd"
