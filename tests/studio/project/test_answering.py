from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from lorestudio.domain.json_text import spell
from lorestudio.domain.records import replace
from lorestudio.llm.recorded_answers import RecordedAnswers, answers_path
from lorestudio.studio.project.answering import (
    RESERVED_NAMES,
    AnsweringError,
    AnswerKind,
    Asked,
    ChatReply,
    ChatRequest,
    Connections,
    Keys,
    Profile,
    ProfileFile,
    Question,
    Source,
    load_recorded,
    make_answers,
    try_profile,
)
from lorestudio.studio.project.project import Project
from lorestudio.studio.project.settings import Mode, with_mode
from lorestudio.studio.replay.costs import live_cost, note_cost
from tests.simulators import answered

REQUEST = ChatRequest("search", "Choose.", "Which?", model="small")
LOCAL = Profile("Local", url="http://127.0.0.1:9", model="small")


@dataclass
class Client:
    """A provider that always chooses the same."""

    text: str = '["The Long Flood"]'
    label: str = "Local · small"
    requests: list[ChatRequest] = field(default_factory=list)

    async def complete(self, request: ChatRequest) -> ChatReply:
        self.requests.append(request)
        return ChatReply(self.text, source=self.label, live=True)


@pytest.fixture
def client() -> Client:
    return Client()


@pytest.fixture
def connections(tmp_path: Path, client: Client) -> Connections:
    made = Connections(tmp_path / "profiles.json", Keys(environment={}), lambda _profile, _keys: client)
    made.save(ProfileFile((LOCAL,)))
    return made


@pytest.fixture
def chatting(demo: Project, tmp_path: Path) -> Project:
    """The demo in two-stage mode, its chat in a folder where answers can be recorded."""
    return replace(with_mode(demo, Mode.TWO_STAGE), chat_path=tmp_path / "chat.jsonl")


def ask(source: object, request: ChatRequest = REQUEST) -> ChatReply:
    return asyncio.run(source.answer(request))


# ---- choosing --------------------------------------------------------------------------------------------------------


def test_sources_by_name() -> None:
    assert Source.named("stand-in") == Source(AnswerKind.STAND_IN)
    assert Source.named("recorded") == Source(AnswerKind.RECORDED)
    assert Source.named("typed") == Source(AnswerKind.TYPED)
    assert Source.named("Local") == Source(AnswerKind.PROVIDER, "Local")
    assert Source.named("provider") == Source(AnswerKind.PROVIDER, "provider")
    assert frozenset({"stand-in", "recorded", "typed"}) == RESERVED_NAMES


def test_the_stand_in_names_no_model(connections: Connections) -> None:
    source, model = make_answers(Source(), None, connections)
    assert (source.name, source.label, model) == ("stand-in", "offline stand-in", "")


def test_a_provider_is_asked_once_and_recorded(tmp_path: Path, connections: Connections, client: Client) -> None:
    source, model = make_answers(Source(AnswerKind.PROVIDER, "Local"), tmp_path / "chat.jsonl", connections)
    assert model == "small"
    assert [ask(source).text, ask(source).text] == [client.text, client.text]
    assert client.requests == [REQUEST]
    assert answers_path(tmp_path / "chat.jsonl").exists()


def test_asked_afresh(tmp_path: Path, connections: Connections, client: Client) -> None:
    chosen = Source(AnswerKind.PROVIDER, "Local")
    ask(make_answers(chosen, tmp_path / "chat.jsonl", connections)[0])
    ask(make_answers(chosen, tmp_path / "chat.jsonl", connections, fresh=True)[0])
    assert len(client.requests) == 2


def test_without_a_chat_file_nothing_is_recorded(tmp_path: Path, connections: Connections, client: Client) -> None:
    source, _ = make_answers(Source(AnswerKind.PROVIDER, "Local"), None, connections)
    ask(source)
    ask(source)
    assert len(client.requests) == 2
    assert [path.name for path in tmp_path.iterdir()] == ["profiles.json"]


def test_providers_of_one_name_are_told_apart_by_their_address(connections: Connections) -> None:
    first, _ = make_answers(Source(AnswerKind.PROVIDER, "Local"), None, connections)
    connections.save(ProfileFile((replace(LOCAL, url="http://127.0.0.1:10"),)))
    second, _ = make_answers(Source(AnswerKind.PROVIDER, "Local"), None, connections)
    assert first.name != second.name


def test_a_profile_that_is_gone(connections: Connections) -> None:
    with pytest.raises(AnsweringError, match="no provider profile called “Cloud”"):
        make_answers(Source(AnswerKind.PROVIDER, "Cloud"), None, connections)


# ---- recorded answers ------------------------------------------------------------------------------------------------


def test_recorded_answers_are_found_under_the_model_that_was_asked_last(
    tmp_path: Path, connections: Connections
) -> None:
    chat = tmp_path / "chat.jsonl"
    store = RecordedAnswers(answers_path(chat))
    for model in ("first", "second", "first"):
        store.record(replace(REQUEST, model=model), ChatReply(f"of {model}"))
    source, model = make_answers(Source(AnswerKind.RECORDED), chat, connections)
    assert model == "first"
    assert ask(source, replace(REQUEST, model=model)).text == "of first"


def test_recorded_answers_need_a_chat_file(connections: Connections) -> None:
    with pytest.raises(AnsweringError, match="this chat has none"):
        make_answers(Source(AnswerKind.RECORDED), None, connections)


def test_a_recording_that_cannot_be_read(tmp_path: Path) -> None:
    answers_path(tmp_path / "chat.jsonl").mkdir()
    with pytest.raises(AnsweringError, match=r"chat\.answers\.jsonl: the recorded answers cannot be read"):
        load_recorded(tmp_path / "chat.jsonl")


# ---- a person --------------------------------------------------------------------------------------------------------


def test_typed_answers_need_somebody_who_can_be_asked(connections: Connections) -> None:
    with pytest.raises(AnsweringError, match="in the window only"):
        make_answers(Source(AnswerKind.TYPED), None, connections)


def test_a_person_is_asked_and_the_answer_recorded(tmp_path: Path, connections: Connections) -> None:
    put: list[Question] = []
    withdrawn: list[Question] = []

    def answer(question: Question) -> None:
        put.append(question)
        question.reply("typed words")

    asked = Asked(answer, withdrawn.append, lambda: None)
    source, model = make_answers(Source(AnswerKind.TYPED), tmp_path / "chat.jsonl", connections, asked=asked)
    assert model == ""
    assert [ask(source).text, ask(source).text] == ["typed words"] * 2
    assert put == withdrawn
    assert [question.request for question in put] == [REQUEST]


class Looking:
    """Notes what it sees of questions."""

    def __init__(self) -> None:
        self.seen: list[str] = []

    def asked(self, request: ChatRequest) -> None:
        self.seen.append(f"asked {request.kind}")

    def heard(self, piece: str) -> None:
        self.seen.append(piece)

    def answered(self) -> None:
        self.seen.append("answered")


def test_an_observer_sees_questions_come_and_go(connections: Connections) -> None:
    looking = Looking()
    source, _ = make_answers(Source(), None, connections, looking)
    user = "<available_lore_entries>\n</available_lore_entries>\n<recent_chat_transcript>\n</recent_chat_transcript>"
    ask(source, replace(REQUEST, user=user))
    assert looking.seen == ["asked search", "answered"]


# ---- costs -----------------------------------------------------------------------------------------------------------


def test_a_replay_costs_what_it_then_asks(chatting: Project, connections: Connections, client: Client) -> None:
    path = chatting.chat_path
    assert path is not None
    before = asyncio.run(live_cost(chatting, path, "small"))
    assert asyncio.run(live_cost(chatting, path, "small", until=0)).calls == 0
    assert (before.calls > 0, before.recorded) == (True, 0)
    source, model = make_answers(Source(AnswerKind.PROVIDER, "Local"), path, connections)
    asyncio.run(answered(chatting, source, model=model).replay())
    after = asyncio.run(live_cost(chatting, path, "small"))
    assert (after.calls, after.recorded) == (0, len(client.requests))
    assert asyncio.run(live_cost(chatting, path, "other")).recorded == 0
    assert asyncio.run(live_cost(chatting, path, "small", fresh=True)).calls == before.calls


@pytest.mark.parametrize("model", ["claude-x", "small"])
def test_what_is_recorded_is_free_with_and_without_a_schema(
    chatting: Project, connections: Connections, model: str
) -> None:
    # Claude models are asked without a schema, which is a part of the request (rules: deeplore-tools 1.3.1).
    connections.save(ProfileFile((replace(LOCAL, model=model),)))
    path = chatting.chat_path
    assert path is not None
    source, named = make_answers(Source(AnswerKind.PROVIDER, "Local"), path, connections)
    asyncio.run(answered(chatting, source, model=named).replay())
    assert asyncio.run(live_cost(chatting, path, named)).calls == 0


def test_keywords_only_costs_nothing(chatting: Project) -> None:
    project = with_mode(chatting, Mode.KEYWORDS)
    assert asyncio.run(live_cost(project, project.chat_path, "small")).calls == 0


def test_one_session_note_is_one_call(chatting: Project) -> None:
    cost = asyncio.run(note_cost(chatting, "the letter"))
    assert cost.calls == 1
    assert cost.most_output_tokens == chatting.settings.scribe_max_tokens


def test_trying_a_profile(connections: Connections, client: Client) -> None:
    assert asyncio.run(try_profile(LOCAL, connections)).text == client.text
    (request,) = client.requests
    assert request.max_tokens <= 64
    assert "Answer" in spell([request.system, request.user])
