"""What a replay or a session note would cost: every request that would be made, and nobody is asked."""

from __future__ import annotations

import asyncio
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from lorestudio.domain.chat import Chat, Message
from lorestudio.domain.json_text import spell
from lorestudio.domain.records import replace
from lorestudio.domain.tokens import CHARS_3_35, CHARS_4
from lorestudio.llm.cost import MESSAGE_OVERHEAD, CostEstimate, RequestCollector
from lorestudio.llm.embedding import HashEmbedder
from lorestudio.llm.messages import ChatReply, ChatRequest
from lorestudio.llm.recorded_answers import RecordedAnswers, answers_path
from lorestudio.llm.stand_in import StandInAnswers
from lorestudio.settings.deeplore import DeepLoreSettings
from lorestudio.settings.hybrid import HybridSettings
from lorestudio.studio.project.project import Project
from lorestudio.studio.replay.costs import live_cost, note_cost, vector_cost
from lorestudio.studio.replay.simulator import Simulator
from lorestudio.systems.base import VectorCount
from lorestudio.systems.facts.system import FactsSystem, KnownMemories
from lorestudio.systems.hybrid.system import HybridSystem
from lorestudio.systems.vectors import KnownVectors
from lorestudio.vault.files import NoteFile, VaultFiles
from lorestudio.vault.index import build_index
from tests.simulators import answered
from tests.systems.makers import Maker

AI_ONLY: dict[str, Any] = {"ai_search_enabled": True, "ai_search_mode": "ai-only"}


def project(count: int = 3, **settings: Any) -> Project:
    """Three notes (or so many) of four categories, and a chat of two replies; each turn names a note."""
    values = DeepLoreSettings(enabled=True, **settings)
    text = "---\ntags: [lorebook, c{tag}]\nkeys: [key{n}]\n---\nText {n}.\n"
    notes = tuple(NoteFile(f"E{n}.md", text.format(n=n, tag=n % 4)) for n in range(count))
    index = build_index([VaultFiles("v", notes)], values, CHARS_4)
    said = [Message(name, f"{name} says E{n} and E0.", is_user=name == "U") for n in (1, 2) for name in ("U", "Ann")]
    said.append(Message("U", "And E2?", is_user=True))
    return Project((), index, values, chat=Chat(tuple(said), "U", "Ann"))


def cost(there: Project, chat: Path | None = None, model: str = "") -> CostEstimate:
    return asyncio.run(live_cost(there, chat, model))


def requests(there: Project, **options: Any) -> list[ChatRequest]:
    """Every request of a replay that the stand-in answers."""
    seen: list[ChatRequest] = []

    class Seeing(StandInAnswers):
        async def answer(self, request: ChatRequest) -> ChatReply:
            seen.append(request)
            return await super().answer(request)

    asyncio.run(answered(there, Seeing(), **options).replay())
    return seen


def tokens(request: ChatRequest) -> int:
    schema = [spell(request.json_schema)] if request.json_schema is not None else []
    return sum(CHARS_4.count(text) + MESSAGE_OVERHEAD for text in (request.system, request.user, *schema))


def test_without_a_model_nothing_is_asked() -> None:
    assert cost(project()) == CostEstimate(exact=False)


def test_every_request_is_counted() -> None:
    there = project(**AI_ONLY, ai_search_max_tokens=100)
    asked = requests(there)
    assert len(asked) == 3  # two replies and the reply to come, each naming somebody new
    found = cost(there)
    assert (found.calls, found.recorded) == (3, 0)
    assert found.input_tokens == sum(map(tokens, asked))
    assert found.most_output_tokens == 300
    assert not found.exact


def test_prefilter_calls_are_told_apart() -> None:
    there = project(44, **AI_ONLY, hierarchical_pre_filter=True, ai_search_max_tokens=100)
    kinds = Counter(request.kind for request in requests(there))
    assert kinds["prefilter"] == 3
    assert cost(there).most_output_tokens == 512 * 3 + 100 * kinds["search"]


def swiped() -> Project:
    """The same chat, its first reply with three swipes."""
    there = project(**AI_ONLY)
    assert there.chat is not None
    first, second, *others = there.chat.messages
    messages = (first, replace(second, swipes=("a", "b", "c"), swipe_id=2), *others)
    return replace(there, chat=replace(there.chat, messages=messages))


def test_generations_that_the_cache_answers_cost_nothing() -> None:
    assert len(Simulator(swiped()).generations) == 5
    assert cost(swiped()).calls == 3


def test_a_recorded_answer_decides_what_is_asked_later(tmp_path: Path) -> None:
    """One that cannot be read is not cached, so each swipe asks again, and finds it recorded again."""
    recorded = recording(tmp_path / "a.jsonl", swiped(), 1, reply="no list")
    found = cost(swiped(), recorded)
    assert (found.calls, found.recorded) == (2, 3)


def test_the_counter_is_the_projects() -> None:
    there = project(**AI_ONLY)
    assert cost(replace(there, counter=CHARS_3_35)).input_tokens > cost(there).input_tokens


class Model:
    """A provider, as far as a file of recorded answers can tell."""

    name = label = "model"

    def __init__(self, reply: str) -> None:
        self.reply = reply

    async def answer(self, _request: ChatRequest) -> ChatReply:
        return ChatReply(self.reply, source="model", live=True)


def recording(chat: Path, there: Project, generations: int, model: str = "", reply: str = '["E0"]') -> Path:
    """The chat's file, beside which the answers of so many generations lie now."""
    simulator = answered(there, RecordedAnswers(answers_path(chat), Model(reply)), model=model)
    asyncio.run(simulator.generate(simulator.generations[generations - 1]))
    return chat


@pytest.mark.parametrize(("done", "calls", "recorded"), [(1, 2, 1), (2, 1, 2), (3, 0, 3)])
def test_recorded_answers_are_free(tmp_path: Path, done: int, calls: int, recorded: int) -> None:
    there = project(**AI_ONLY)
    found = cost(there, recording(tmp_path / "a.jsonl", there, done))
    assert (found.calls, found.recorded) == (calls, recorded)
    assert (found.input_tokens > 0) is (calls > 0)


def test_answers_recorded_for_another_model_are_not(tmp_path: Path) -> None:
    there = project(**AI_ONLY)
    recorded = recording(tmp_path / "a.jsonl", there, 3, model="one")
    assert (cost(there, recorded, model="one").recorded, cost(there, recorded, model="two").recorded) == (3, 0)


def test_an_estimate_records_and_changes_nothing(tmp_path: Path) -> None:
    there = project(**AI_ONLY)
    recorded = recording(tmp_path / "a.jsonl", there, 1)
    before = answers_path(recorded).read_bytes()
    assert cost(there, recorded) == cost(there, recorded)
    assert answers_path(recorded).read_bytes() == before


def test_a_chat_without_messages_asks_nothing() -> None:
    assert cost(replace(project(**AI_ONLY), chat=None)).calls == 0


def test_the_collector_keeps_the_requests_in_order() -> None:
    there = project(**AI_ONLY)
    collector = RequestCollector()
    asyncio.run(answered(there, collector).replay())
    assert [request.digest for request in collector.requests] == [one.digest for one in requests(there)]


def test_a_session_note_is_one_call() -> None:
    there = project(scribe_max_tokens=777)
    found = asyncio.run(note_cost(there, "the lamp"))
    assert (found.calls, found.most_output_tokens) == (1, 777)
    assert found.input_tokens > asyncio.run(note_cost(there)).input_tokens


def test_a_note_about_nothing_is_free() -> None:
    assert asyncio.run(note_cost(replace(project(), chat=Chat()))).calls == 0


def test_texts_that_go_away_for_their_vectors_are_counted_and_nobody_is_asked(tmp_path: Path) -> None:
    there, maker = project(), Maker()
    system = HybridSystem(HybridSettings(mode="semantic_first"), KnownVectors(maker, tmp_path / "vectors.sqlite"))

    def told(until: int | None = None) -> str:
        counted = system.counting_vectors()
        assert counted is not None
        return asyncio.run(vector_cost(there, counted, Simulator(there, system), until))

    first, whole = told(1), told()
    assert maker.asked == []
    asyncio.run(Simulator(there, system).run_missing(until=1))
    one, tokens = len(maker.texts), sum(map(CHARS_4.count, maker.texts))
    assert first.startswith(f"{one} texts of notes and the chat go to Local · m for vectors: ≈ {tokens} tokens.")
    left = told()
    asyncio.run(Simulator(there, system).replay())
    assert whole.startswith(f"{len(maker.texts)} texts of notes and the chat go")
    assert left.startswith(f"{len(maker.texts) - one} text")
    assert told() == ""


def test_counting_looks_for_each_text_once_and_makes_no_vector(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    there, looked_for = project(), list[str]()
    vectors = KnownVectors(Maker(), tmp_path / "vectors.sqlite")
    system = HybridSystem(HybridSettings(mode="semantic_first"), vectors)
    counted = system.counting_vectors()
    assert counted is not None
    made = vectors.made
    monkeypatch.setattr(vectors, "made", lambda texts: looked_for.extend(texts) or made(texts))
    monkeypatch.setattr(HashEmbedder, "embed", None)
    asyncio.run(vector_cost(there, counted, Simulator(there, system)))
    assert len(Simulator(there, system).generations) > 1
    assert sorted(looked_for) == sorted(counted.texts)


def test_a_system_that_chooses_from_no_notes_sends_none(tmp_path: Path) -> None:
    system = FactsSystem(known=KnownMemories("Tale"), vectors=KnownVectors(Maker(), tmp_path / "vectors.sqlite"))
    counted = system.counting_vectors()
    assert counted is not None
    there = project()
    counted = VectorCount(counted.system, counted.maker, {"The lamp.": None})
    told = asyncio.run(vector_cost(there, counted, Simulator(there, system)))
    assert told.startswith("1 text of the chat goes to Local · m for vectors: ")


def test_the_stand_ins_vectors_cost_nothing() -> None:
    assert HybridSystem(HybridSettings(), KnownVectors(HashEmbedder())).counting_vectors() is None
    assert HybridSystem(HybridSettings()).counting_vectors() is None
