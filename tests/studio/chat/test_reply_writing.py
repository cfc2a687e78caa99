from __future__ import annotations

import asyncio
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from lorestudio.domain.chat import Chat, Generation, Message
from lorestudio.domain.records import replace
from lorestudio.domain.state import ChatControls
from lorestudio.domain.tokens import CHARS_4
from lorestudio.llm.connections import LiveAnswers
from lorestudio.llm.errors import ErrorKind, LlmError
from lorestudio.llm.messages import ChatReply, ChatRequest
from lorestudio.llm.profiles import Api
from lorestudio.llm.recorded_answers import RecordedAnswers
from lorestudio.settings.deeplore import DeepLoreSettings, sanitise
from lorestudio.studio.chat.reply_writing import noted, received, reply_cost, reply_request, room_for_reply
from lorestudio.studio.prompt.assembly import assemble
from lorestudio.studio.prompt.setup import PromptSetup
from lorestudio.systems.base import NotedReply
from lorestudio.trace.model import PromptBlock, RunOutcome, Trace, Turn
from tests.llm.server import Server, events, reply

NOW = datetime(2024, 9, 28, 14, 5, 9)  # noqa: DTZ001  # SillyTavern notes local time without its zone
CHAT = Chat(
    (Message("Ada", "Welcome."), Message("Wren", "Hello.", is_user=True)), user_name="Wren", character_name="Ada"
)
SETUP = PromptSetup(main="Write.", reply_tokens=50)


def request(chat: Chat = CHAT) -> ChatRequest:
    block = PromptBlock("x", 1, 0, 0, "A lamp burns.")
    trace = Trace("d", "k", RunOutcome.INJECTED, Turn(len(chat.messages), 0, 0), {}, 1, (), prompt=(block,))
    return reply_request(assemble(trace, chat, SETUP), SETUP)


def piece(text: str, finish: str | None = None) -> dict[str, Any]:
    return {"choices": [{"delta": {"content": text}, "finish_reason": finish}]}


def test_the_request_is_the_assembled_prompt() -> None:
    asked = request()
    assert [(each.role, each.text) for each in asked.messages] == [
        ("system", "Write."),
        ("system", "[Start a new Chat]"),
        ("assistant", "Welcome."),
        ("user", "Hello."),
        ("system", "A lamp burns."),
    ]
    assert asked.max_tokens == 50
    assert asked.digest != replace(asked, messages=asked.messages[:-1]).digest


def test_what_it_costs_is_known_before() -> None:
    cost = reply_cost(request(), CHARS_4)
    # Characters by four, rounded up, and 4 a message: 2 + 5 + 2 + 2 + 4, and 5 x 4.
    assert (cost.calls, cost.input_tokens, cost.most_output_tokens) == (1, 35, 50)


def test_a_reply_is_streamed_and_recorded(tmp_path: Path) -> None:
    heard: list[str] = []

    async def go() -> tuple[ChatReply, ChatReply, dict[str, Any]]:
        async with Server(events([piece("The lamp "), piece("gutters."), piece("", "stop"), "[DONE]"])) as server:
            live = LiveAnswers(server.client(), heard.append)
            path = tmp_path / "chat.answers.jsonl"
            first = await RecordedAnswers(path, live).answer(request())
            again = await RecordedAnswers(path).answer(request())
            return first, again, server.calls[0].body

    first, again, body = asyncio.run(go())
    assert heard == ["The lamp ", "gutters."]
    assert (first.text, again.text) == ("The lamp gutters.", "The lamp gutters.")
    assert body["messages"][0] == {"role": "system", "content": "Write."}
    assert body["messages"][-1] == {"role": "system", "content": "A lamp burns."}
    assert body["stream"] is True


def test_what_came_before_a_stream_broke_off_was_heard(tmp_path: Path) -> None:
    heard: list[str] = []

    async def go() -> None:
        async with Server(events([piece("The lamp ")])) as server:
            await LiveAnswers(server.client(), heard.append).answer(request())

    with pytest.raises(LlmError, match="broke off after 9 characters") as caught:
        asyncio.run(go())
    assert caught.value.kind is ErrorKind.CONNECTION
    assert heard == ["The lamp "]


def test_a_refusal_says_what_to_do() -> None:
    async def go() -> None:
        async with Server(reply({"error": {"message": "no credits left"}}, "402 Payment Required")) as server:
            await LiveAnswers(server.client(), lambda _text: None).answer(request())

    with pytest.raises(LlmError, match="Check billing"):
        asyncio.run(go())


def test_anthropic_gets_turns_that_begin_with_the_user() -> None:
    async def go() -> dict[str, Any]:
        answer = {"content": [{"type": "text", "text": "Ready."}]}
        async with Server(reply(answer)) as server:
            await LiveAnswers(server.client(Api.ANTHROPIC)).answer(request())
            return dict(server.calls[0].body)

    body = asyncio.run(go())
    assert body["system"][0]["text"] == "Write.\n\n[Start a new Chat]"
    assert [(each["role"], each["content"]) for each in body["messages"]] == [
        ("user", "[The story begins.]"),
        ("assistant", "Welcome."),
        ("user", "Hello.\n\nA lamp burns."),
    ]


def test_a_reply_at_the_end_is_a_message_of_the_character() -> None:
    chat, generation = room_for_reply(CHAT, None, NOW)
    assert (chat, generation) == (CHAT, Generation(2))
    made = received(chat, ChatControls(), generation, ChatReply("Sit.", source="Test · small"), NOW, speaker="Bo")[0]
    last = made.messages[-1]
    assert (last.name, last.text, last.is_user, last.extra["model"]) == ("Bo", "Sit.", False, "Test · small")


def test_a_reply_in_place_of_another_is_a_swipe_of_it() -> None:
    chat, generation = room_for_reply(CHAT, 0, NOW)
    assert generation == Generation(0, 1)
    made = received(chat, ChatControls(), generation, ChatReply("Come in.", source="x"), NOW)[0]
    first = made.messages[0]
    assert (first.text, first.swipes, first.swipe) == ("Come in.", ("Welcome.", "Come in."), 1)
    assert first.extra == {"model": "x"}


@pytest.mark.parametrize(
    ("answer", "text", "thought"),
    [
        ("<think>\nA lamp, then.\n</think>\n\nSit.", "Sit.", "A lamp, then."),
        ("<Thinking>Short.</Thinking>Sit.", "Sit.", "Short."),
        ("“<think>” she read.", "“<think>” she read.", None),
        ("<think>A lamp", "<think>A lamp", None),  # stopped, and kept by the person
    ],
)
def test_what_a_local_model_thought_first_goes_where_sillytavern_keeps_it(
    answer: str, text: str, thought: str | None
) -> None:
    made = received(CHAT, ChatControls(), Generation(2), ChatReply(answer), NOW)[0].messages[2]
    assert (made.text, made.extra.get("reasoning")) == (text, thought)


def test_what_the_model_notes_for_itself_goes_into_the_notepad() -> None:
    settings = sanitise({"aiNotepadEnabled": True, "aiNotepadMode": "tag"}).settings
    text = "Sit.\n<dle-notes>He is late.</dle-notes>"
    made, controls = received(CHAT, ChatControls(), Generation(2), ChatReply(text), NOW, settings=settings)
    assert made.messages[2].text == "Sit."
    assert made.messages[2].extra["deeplore_ai_notes"] == "He is late."
    assert controls.notepad == "He is late."


@pytest.mark.parametrize(("rules", "expected"), [("2.6", "pinned\nnew"), ("2.0.2", "pinned\nold\nnew")])
@pytest.mark.parametrize("mode", ["tag", "extract"])
def test_the_newer_rules_keep_so_many_lines_of_the_notepad(mode: str, rules: str, expected: str) -> None:
    settings = DeepLoreSettings(ai_notepad_enabled=True, ai_notepad_mode=mode, ai_notepad_max_entries=2, rules=rules)
    chat = replace(CHAT, metadata={"deeplore_ai_notepad_pins": ["pinned"]})
    before = ChatControls(notepad="pinned\nold")
    reply = ChatReply("Sit.<dle-notes>new</dle-notes>" if mode == "tag" else "Sit.")
    made, controls = received(chat, before, Generation(2), reply, NOW, settings=settings)
    if mode == "extract":
        taken = NotedReply(made.messages[2], "new", "", fine=True)
        found = noted(made, before, 2, made.messages[2], taken, settings)
        assert found is not None
        controls = found[1]
    assert controls.notepad == expected
