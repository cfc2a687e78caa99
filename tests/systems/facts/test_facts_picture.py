"""What the window shows of memories, where they came from, and what drawing them out costs."""

import asyncio
import sqlite3

import pytest

from lorestudio.domain.tokens import CHARS_4
from lorestudio.exchange.problems import InputError
from lorestudio.llm.embedding import HashEmbedder
from lorestudio.llm.messages import ChatReply, ChatRequest
from lorestudio.llm.recorded_answers import RecordedAnswers, answers_path
from lorestudio.systems.facts.picture import facts_picture, profile_fields, provenance_of
from lorestudio.systems.facts.records import FactAction
from lorestudio.systems.facts.session import facts_cost
from tests.systems.facts.test_facts_session import CHAT, Answers, extracted, session


class Scripted:
    """One reply after the other."""

    name = label = "by hand"

    def __init__(self, *facts):
        self.facts = list(facts)

    async def answer(self, _request):
        return ChatReply(f'{{"memories": [{{"content": "{self.facts.pop(0)}", "source": "confirmed"}}]}}')


class OtherModel(HashEmbedder):
    """The same vectors under another name."""

    model_id = "other"


def picture(made, chat=CHAT, *, everything=False):
    return facts_picture(made, chat, None, everything=everything)


def test_the_passages_say_what_waits_what_failed_and_why():
    with session(Answers(2), passage=2) as made:
        assert [(row.key, row.waiting, row.state) for row in picture(made).passages] == [
            ("0-1", True, ""), ("2-2", True, ""), ("3-4", True, ""),
        ]  # fmt: skip
        extracted(made)
        rows = picture(made).passages
        assert [(row.key, row.waiting, row.memories) for row in rows] == [
            ("0-1", False, 1), ("2-2", True, 0), ("3-4", False, 1),
        ]  # fmt: skip
        assert (rows[1].failures, "no connection" in rows[1].problem) == (1, True)
        made.answers = Answers()
        extracted(made)
        assert [(row.failures, row.problem) for row in picture(made).passages] == [(0, "")] * 3
        assert picture(made).waiting == 0


def test_rows_are_those_of_the_owner_or_all():
    with session() as made:
        extracted(made)
        named = CHAT.__class__(CHAT.messages, "Wren", "Ottoline", {"integrity": "another"})
        assert len(picture(made).rows) == 2
        other = picture(made, named)
        assert (other.rows, other.total) == ((), 2)
        assert [row.own for row in picture(made, named, everything=True).rows] == [False, False]
        assert [row.own for row in picture(made).rows] == [True, True]
        assert picture(made, None).everything


def test_vectors_of_another_model_are_stale():
    with session() as made:
        extracted(made)
        assert picture(made).stale == 0
        made.embedder = OtherModel()
        assert picture(made).stale == 2


def test_a_search_may_go_through_all_owners():
    with session() as made:
        extracted(made)
        found = asyncio.run(made.search("I carry the lantern", "", 1))
        assert [match.memory.content for match in found] == ["I carry the lantern"]
        assert asyncio.run(made.search("I carry the lantern", "chat:other", 1)) == []


def test_a_memory_tells_what_it_was_made_of_replaced_by_and_compared_with():
    facts = ("The bridge keeper has a grey dog", "The bridge keeper has a grey dog and a cat", "Rope is cheap")
    with session(Scripted(*facts, facts[1]), passage=2, supersede_threshold=0.6, deduplication_threshold=0.99) as made:
        extracted(made)
        keeper, rope = made.memories()
        past = provenance_of(made, keeper)
        assert keeper.content == facts[1]
        assert [(each.decision.action, each.decision.fact, each.wrote) for each in past.happenings] == [
            (FactAction.SAVE, facts[0], True), (FactAction.SUPERSEDE, facts[1], True),
        ]  # fmt: skip
        assert past.happenings[1].decision.neighbour_text == facts[0]
        assert 0.6 <= past.happenings[1].decision.similarity < 0.99
        assert (past.thread.state, past.edited, past.run.model) == ("dormant", False, "by hand")
        assert [each.decision.action for each in provenance_of(made, rope).happenings] == [FactAction.SAVE]
        extracted_again = made.waiting(CHAT, None, again=True)[:1]
        asyncio.run(made.extract(CHAT, None, extracted_again))
        assert [each.decision.action for each in provenance_of(made, keeper).happenings][-1] is FactAction.SKIP
        asyncio.run(made.edit(keeper, "The keeper has no pets"))
        assert provenance_of(made, made.find(keeper.id)).edited


def test_memories_from_before_have_no_past_but_their_run(tmp_path):
    path = tmp_path / "m.sqlite"
    with session(path=path) as made:
        extracted(made)
    lines = sqlite3.connect(path)
    with lines:
        lines.executescript("DROP TABLE decisions; DROP INDEX memories_run; PRAGMA user_version = 1;")
    lines.close()
    with session(path=path) as made:
        past = provenance_of(made, made.memories()[0])
        assert past.happenings == ()
        assert past.run.counters["memoriesSaved"] == 1
        assert not past.edited


def test_fetch_leaves_out_what_is_gone():
    with session() as made:
        extracted(made)
        first, second = made.memories()
        made.delete([first])
        assert made.fetch([first.id, second.id]) == [second]
        made.tag(second, ["road"])
        assert made.find(second.id).tag_names == ("road",)
        with pytest.raises(InputError):
            made.tag(first, [])


def test_a_profile_is_its_filled_fields():
    assert profile_fields(None) == ()
    shown = {"userId": "u", "goals": ["reach the sea"], "vitals": {"oil": {"value": 3}}, "allergies": []}
    assert profile_fields(shown) == (("goals", "reach the sea"), ("vitals", "oil value 3"))


def test_the_cost_counts_what_is_asked_and_writes_nothing(tmp_path):
    chat = tmp_path / "Tale.jsonl"
    answers = Answers()
    with session(answers, tmp_path / "m.sqlite", passage=2, enable_reflection=True) as made:
        waiting = made.waiting(CHAT, chat)
        cost = asyncio.run(facts_cost(made, CHAT, chat, waiting, CHARS_4))
        assert cost.calls == 6
        assert (answers.asked, made.memories(), made.threads()) == ([], [], [])
    with session(answers, passage=2) as made:
        asyncio.run(made.extract(CHAT, chat, waiting))
        recorded = RecordedAnswers(answers_path(chat))
        recorded.record(first(answers.asked), ChatReply("{}"))
        cost = asyncio.run(facts_cost(made, CHAT, chat, waiting, CHARS_4, recorded.holds))
        assert (cost.calls, cost.recorded) == (2, 1)
        assert asyncio.run(facts_cost(made, CHAT, chat, waiting, CHARS_4)).calls == 3


def first(requests: list[ChatRequest]) -> ChatRequest:
    return requests[0]
