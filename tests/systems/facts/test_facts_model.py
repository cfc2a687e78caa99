"""A real server on loopback that draws facts out and makes vectors, and what it does wrong."""

import asyncio
import json

import pytest

from lorestudio.llm.connections import LiveAnswers
from lorestudio.llm.errors import LlmError
from lorestudio.llm.http.embedding import HttpEmbedder
from lorestudio.llm.profiles import KeySource, Profile
from lorestudio.systems.facts.extraction import AskedModel
from lorestudio.systems.facts.options import FactOptions
from lorestudio.systems.facts.pipeline import run_pipeline
from lorestudio.systems.facts.records import Line, Thread, day
from lorestudio.systems.facts.store import FactStore
from tests.llm.server import Server, completion, reply

FACTS = json.dumps(
    {
        "memories": [
            {"content": f"Oren keeps {what}", "source": "confirmed", "tags": ["pets"]} for what in ("bees", "cats")
        ]
    }
)
LINES = (Line("user", "I keep bees and cats.", speaker="Oren"),)


def vector(*values):
    return reply({"data": [{"index": 0, "embedding": list(values)}]})


async def run(store, *behaviours, **options):
    async with Server(*behaviours) as server:
        profile = Profile("Test", url=server.url, key_source=KeySource.NONE, model="m")
        model = AskedModel(HttpEmbedder(profile), LiveAnswers(server.client()))
        unit = store.begin()
        settings = FactOptions(concurrency=1, tagging="both", **options)
        try:
            result = await run_pipeline(Thread("t", "u", 0, 0), LINES, model, unit, settings)
            unit.commit()
        finally:
            calls = list(server.calls)
        return result, calls


@pytest.mark.parametrize("thought", ["", "<think>\nBees {and} cats.\n</think>\n\n"])
def test_facts_of_a_server_are_kept_with_its_vectors(thought):
    with FactStore() as store:
        result, calls = asyncio.run(run(store, reply(completion(thought + FACTS)), vector(1, 0), vector(0, 1)))
        assert result.saved == 2
        assert [list(found.embedding) for found in store.get_memories("u")] == [[1, 0], [0, 1]]
        assert store.get_memories("u")[0].tag_names == ("pets",)
        asked = calls[0].body
        assert asked["response_format"] == {"type": "json_object"}
        assert "user: Oren: I keep bees and cats." in asked["messages"][-1]["content"]
        assert [call.path for call in calls[1:]] == ["/v1/embeddings"] * 2


def test_a_reply_that_is_no_json_is_told_and_gives_no_facts():
    with FactStore() as store:
        result, _ = asyncio.run(run(store, reply(completion("I cannot do that, friend."))))
        assert (result.extracted, store.get_memories("u")) == (0, [])
        assert result.problem == "the reply with the facts is no JSON: I cannot do that, friend."


def test_a_reply_that_was_cut_off_says_so():
    with FactStore() as store:
        result, _ = asyncio.run(run(store, reply(completion('{"memories": [', "length"))))
        assert result.problem.endswith('no JSON: {"memories": [. The reply was cut off at the limit of 4096 tokens.')


@pytest.mark.parametrize(
    "behaviours",
    [
        (reply(completion("", "length")),),
        (reply({"error": {"message": "busy"}}, "503 Service Unavailable"),),
        (reply(completion(FACTS)), reply({"error": {"message": "gone"}}, "500 Internal Server Error")),
        (reply(completion(FACTS)), vector(1, 0), reply({"error": {"message": "gone"}}, "500 Internal Server Error")),
        (reply(completion(FACTS)), reply({"data": []})),
    ],
)
def test_a_server_that_fails_at_any_point_leaves_nothing_behind(behaviours):
    with FactStore() as store:
        with pytest.raises(LlmError):
            asyncio.run(run(store, *behaviours))
        assert store.get_memories("u") == []


def test_an_answer_that_is_no_json_gives_no_facts():
    with FactStore() as store:
        result, _ = asyncio.run(run(store, reply(completion("I remember nothing."))))
        assert (result.extracted, store.get_memories("u")) == (0, [])


def test_a_second_look_that_fails_keeps_the_facts():
    refused = reply({"error": {"message": "busy"}}, "503 Service Unavailable")
    with FactStore() as store:
        result, _ = asyncio.run(
            run(store, reply(completion(FACTS)), refused, vector(1, 0), vector(0, 1), reflection=True)
        )
        assert result.saved == 2
        assert result.review["factsModified"] == 0


def test_a_memory_of_a_time_beyond_all_calendars_has_the_last_day_of_them():
    assert (day(10**17), day(1_728_000_000_000)) == ("9999-12-31", "2024-10-04")
