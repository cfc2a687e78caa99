"""Answers while somebody types: what was answered before, and never a provider."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from lorestudio.domain.chat import Chat, Generation, Message
from lorestudio.domain.records import replace
from lorestudio.llm.errors import ErrorKind, LlmError
from lorestudio.llm.messages import ChatReply, ChatRequest
from lorestudio.llm.recorded_answers import RecordedAnswers, answers_path
from lorestudio.studio.project.project import Project
from lorestudio.studio.replay.simulator import Simulator
from lorestudio.studio.tryout.preview import Preview, Previewer
from lorestudio.systems.offline import Answered, OfflineAnswers
from lorestudio.systems.registry import system_of
from lorestudio.trace.model import Trace
from tests.studio.previews import TEXTS, TWO_STAGE, comparable, note, project_of

LAST = Generation(1)
NOTES = {name: text for name, text in TEXTS.items() if name != "Dice.md"}
CHAT = Chat((Message("Wren", "The lamp and the tide.", is_user=True),), "Wren", "Ann")
SAME = TEXTS["Gate.md"] + "Not offered to the model."
OTHER = TEXTS["Lamp.md"] + "And a wick."


def project(**values: Any) -> Project:
    return replace(project_of(NOTES, **TWO_STAGE, **values), chat=CHAT)


class Model:
    """A provider that chooses the lamp and keeps what it was asked."""

    name, label = "provider:x", "a model"

    def __init__(self) -> None:
        self.asked: list[ChatRequest] = []

    async def answer(self, request: ChatRequest) -> ChatReply:
        self.asked.append(request)
        return ChatReply('[{"title": "Lamp", "confidence": "high", "reason": "r"}]', source="a model", live=True)


def replayed(project: Project, answers: Model) -> Simulator:
    return Simulator(project, system_of(project.scene(answers)))


class Case:
    """A replay in which a model was asked, and previews of its last generation."""

    def __init__(self, **values: Any) -> None:
        self.model = Model()
        self.simulator = replayed(project(**values), self.model)
        asyncio.run(self.simulator.replay())
        self.questions = len(self.model.asked)
        assert self.simulator.traces[LAST].ai_calls

    def preview(self, text: str, filename: str, recorded: RecordedAnswers | None = None) -> Preview:
        made = Previewer(self.simulator, LAST, recorded).preview([note(filename, text)])
        assert len(self.model.asked) == self.questions
        return made


def titles(preview: Preview) -> list[str]:
    return [injection.title for injection in preview.trace.injections]


@pytest.mark.parametrize("merged", [False, True])
def test_the_same_question_has_the_same_answer(merged: bool) -> None:
    made = Case(ai_force_user_role=merged).preview(SAME, "Gate.md")
    assert (made.remarks, titles(made)) == ((Answered.SAME,), ["Lamp"])
    assert made.remarks == ("The model's answer is the one it gave before.",)
    assert made.trace.ai_calls[0].reply == made.before.ai_calls[0].reply
    assert not made.trace.ai_calls[0].details["live"]


def test_a_new_question_fails_and_the_run_falls_back() -> None:
    made = Case().preview(OTHER, "Lamp.md")
    assert made.remarks == (Answered.NONE,)
    assert "no answer to the changed question is recorded" in str(made.trace.facts["ai_error"])
    assert titles(made) == ["Lamp", "Tide"]  # by keyword, as the settings say
    assert "fallback" in made.remarks[0]


def test_an_answer_that_is_recorded(tmp_path: Path) -> None:
    case = Case()
    stands_in = Simulator(case.simulator.project)
    asyncio.run(stands_in.replay())
    call = Previewer(stands_in, LAST).preview([note("Lamp.md", OTHER)]).trace.ai_calls[0]
    schema = case.model.asked[-1].json_schema
    request = ChatRequest(call.kind, call.system, call.user, call.max_tokens, json_schema=schema, model=call.model)
    recorded = RecordedAnswers(answers_path(tmp_path / "chat.jsonl"))
    recorded.record(request, ChatReply('["Lamp", "Tide"]', source="before"))
    recorded.load()
    made = case.preview(OTHER, "Lamp.md", recorded=recorded)
    assert (made.remarks, titles(made)) == ((Answered.SAME,), ["Lamp", "Tide"])


def test_an_earlier_failure_is_no_answer() -> None:
    class Failing(Model):
        async def answer(self, request: ChatRequest) -> ChatReply:
            self.asked.append(request)
            raise LlmError(ErrorKind.CONNECTION, "unplugged")

    simulator = replayed(project(), Failing())
    asyncio.run(simulator.replay())
    made = Previewer(simulator, LAST).preview([])
    assert made.remarks == (Answered.NONE,)


def test_a_replay_with_the_stand_in_is_previewed_with_it() -> None:
    simulator = Simulator(project())
    asyncio.run(simulator.replay())
    made = Previewer(simulator, LAST).preview([note("Lamp.md", OTHER)])
    assert made.remarks == (Answered.STAND_IN,)
    assert made.trace.ai_calls[0].source == "offline stand-in"
    same = Previewer(simulator, LAST).preview([])
    assert same.remarks == (Answered.STAND_IN,)
    assert comparable(same.trace) == comparable(same.before)


@pytest.mark.parametrize(
    "changed", [{"kind": "prefilter"}, {"system": "x"}, {"user": "x"}, {"model": "x"}, {"max_tokens": 1}]
)
def test_what_makes_a_question_another_one(changed: dict[str, Any]) -> None:
    case = Case()
    trace = case.simulator.traces[LAST]
    asked = case.model.asked[-1]
    values: dict[str, Any] = {
        "kind": asked.kind, "system": asked.system, "user": asked.user, "max_tokens": asked.max_tokens,
        "json_schema": asked.json_schema, "model": asked.model,
    }  # fmt: skip
    assert answered(OfflineAnswers(lambda: trace), ChatRequest(**values)) == [Answered.SAME]
    assert answered(OfflineAnswers(lambda: trace), ChatRequest(**(values | changed))) == [Answered.NONE]


def answered(source: OfflineAnswers, request: ChatRequest) -> Sequence[Answered]:
    with suppress(LlmError):
        asyncio.run(source.answer(request))
    return source.answered


@pytest.mark.parametrize(("mode", "looked"), [(TWO_STAGE, 1), ({"ai_search_enabled": False}, 0)])
def test_earlier_answers_are_looked_for_once_there_is_a_question(mode: dict[str, Any], looked: int) -> None:
    case, seen = Case(), list[Generation]()
    simulator = Simulator(replace(case.simulator.project, settings=project_of(NOTES, **mode).settings))
    offline = simulator.system.offline()

    def trace() -> Trace:
        seen.append(LAST)
        return case.simulator.traces[LAST]

    offline.turn_to(trace)
    asyncio.run(offline.system.decide(simulator.moment(LAST)))
    assert len(seen) == len(offline.answers()) == looked
