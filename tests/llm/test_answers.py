from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable

import httpx
import pytest

from lorestudio.domain.records import replace
from lorestudio.llm.connections import LiveAnswers, Patience, TypedAnswers
from lorestudio.llm.errors import ErrorKind, LlmError
from lorestudio.llm.http.client import client_for
from lorestudio.llm.messages import AnswerSource, ChatReply, ChatRequest, TokenUsage
from lorestudio.llm.profiles import Profile
from tests.llm.server import REQUEST, Call, Server, chunk, completion, events, reply
from tests.scripted_answers import ScriptedAnswers


def answered(source: AnswerSource, request: ChatRequest = REQUEST) -> ChatReply:
    return asyncio.run(source.answer(request))


def failure(source: AnswerSource, request: ChatRequest = REQUEST) -> LlmError:
    with pytest.raises(LlmError) as caught:
        answered(source, request)
    return caught.value


def says(text: str | None) -> Callable[[ChatRequest], Awaitable[str | None]]:
    async def ask(request: ChatRequest) -> str | None:
        return None if text is None else f"{text} {request.user}"

    return ask


def test_live_answers_whole_and_streamed() -> None:
    async def scenario() -> None:
        async with Server(reply(completion("whole")), events([chunk("a"), chunk("b", "stop")])) as server:
            client = server.client(model="m")
            assert LiveAnswers(client).label == "Test · m"
            assert (await LiveAnswers(client).answer(REQUEST)).text == "whole"
            pieces: list[str] = []
            streamed = await LiveAnswers(client, pieces.append).answer(REQUEST)
            assert (streamed.text, pieces) == ("ab", ["a", "b"])

    asyncio.run(scenario())


def test_a_provider_that_failed_three_times_in_a_row_is_asked_no_more() -> None:
    no, yes = reply({"error": {"message": "out of order"}}, "500 Internal Server Error"), reply(completion("yes"))

    async def told(source: AnswerSource) -> str:
        try:
            return (await source.answer(REQUEST)).text
        except LlmError as error:
            return error.text

    async def scenario() -> None:
        async with Server(no, no, yes, no, no, no, yes) as server:
            source = LiveAnswers(server.client(), patience=Patience())
            heard = [await told(source) for _ in range(8)]
            failed = heard[0]
            assert "out of order" in failed
            assert heard == [failed, failed, "yes", *[failed] * 3, *[heard[-1]] * 2]
            said, advice = failed.removesuffix("Try again later; for a local server, its log says more."), failed[-55:]
            assert heard[-1] == f"{said}After several failures in a row it is not asked any more. {advice}"
            assert len(server.calls) == 6
            assert await told(LiveAnswers(server.client(), patience=Patience())) == "yes"  # when it is begun anew
        async with Server(no) as server:
            keeps_asking = LiveAnswers(server.client())
            said = {await told(keeps_asking) for _ in range(5)}
            assert [each.partition("It says: ")[2] for each in said] == [failed.partition("It says: ")[2]]
            assert len(server.calls) == 5

    asyncio.run(scenario())


def test_being_stopped_is_no_failure_of_the_provider() -> None:
    patience, asked = Patience(), 0

    async def question() -> str:
        nonlocal asked
        asked += 1
        raise LlmError(ErrorKind.ABORTED)

    for _ in range(5):
        with pytest.raises(LlmError):
            asyncio.run(patience.ask(question))
    assert asked == 5


def test_a_stream_that_comes_all_at_once_leaves_turns_to_others() -> None:
    """The loop is the window's, which stood still for as long as a whole reply took."""

    async def at_once(call: Call) -> None:
        await call.head(content_type="text/event-stream")
        await call.send("".join(f"data: {json.dumps(each)}\n\n" for each in [chunk("x")] * 50 + [chunk(None, "stop")]))

    async def scenario() -> list[int]:
        turns, seen = 0, []

        async def others() -> None:
            nonlocal turns
            while True:
                turns += 1
                await asyncio.sleep(0)

        async with Server(at_once) as server:
            task = asyncio.create_task(others())
            await LiveAnswers(server.client(), lambda _piece: seen.append(turns)).answer(REQUEST)
            task.cancel()
        return seen

    seen = asyncio.run(scenario())
    assert len(set(seen)) == len(seen) == 50


def test_transport_can_be_given() -> None:
    seen: list[str] = []

    def handle(request: httpx.Request) -> httpx.Response:
        seen.append(str(request.url))
        return httpx.Response(200, json=completion("mock"))

    client = client_for(Profile("M", url="https://nowhere.example"), transport=httpx.MockTransport(handle))
    for _ in range(2):
        assert answered(LiveAnswers(client)).text == "mock"
    assert seen == ["https://nowhere.example/v1/chat/completions"] * 2


def test_typed_answers() -> None:
    typed = answered(TypedAnswers(says("[]")))
    assert (typed.text, typed.source, typed.live, typed.repeatable) == ("[] Which?", "typed by you", False, False)
    assert typed.usage == TokenUsage()


def test_a_person_may_decline() -> None:
    assert failure(TypedAnswers(says(None))).kind is ErrorKind.ABORTED


def test_script_goes_by_kind_and_in_order() -> None:
    script = ScriptedAnswers({"search": [{"text": "one"}, {"json": {"selected": []}}], "prefilter": [{"text": "cat"}]})
    assert answered(script).text == "one"
    assert answered(script, replace(REQUEST, kind="prefilter")).text == "cat"
    second = answered(script)
    assert (second.value, second.text) == ({"selected": []}, '{"selected":[]}')
    ended = failure(script)
    assert ended.message == "No scripted AI answer"
    assert ended.counts_as_failure
    assert '"search"' in ended.advice


@pytest.mark.parametrize(
    ("error", "kind", "message"),
    [
        ({"message": "Unauthorized", "status": 401}, ErrorKind.AUTHENTICATION, "Unauthorized"),
        ({"message": "bad gateway 502"}, ErrorKind.SERVER, "bad gateway 502"),
        (
            {"message": "This operation was aborted", "name": "AbortError"},
            ErrorKind.TIMED_OUT,
            "Request timed out (20s)",
        ),
        ({}, ErrorKind.UNKNOWN, ""),
    ],
)
def test_scripted_errors(error: dict[str, object], kind: ErrorKind, message: str) -> None:
    caught = failure(ScriptedAnswers({"search": [{"error": error}]}), replace(REQUEST, timeout_ms=20_000))
    assert (caught.kind, caught.message) == (kind, message)


def test_a_script_is_checked_at_once() -> None:
    with pytest.raises(ValueError, match=r"search\[1\]"):
        ScriptedAnswers({"search": [{"text": "a"}, {"test": "b"}]})


def test_null_is_an_empty_answer() -> None:
    assert answered(ScriptedAnswers({"search": [{"json": None}]})).value is None
    assert json.loads(answered(ScriptedAnswers({"search": [{"json": None}]})).text) is None
