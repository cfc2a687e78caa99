from __future__ import annotations

import asyncio
import json
import os
import threading
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lorestudio.domain.records import replace
from lorestudio.llm.connections import LiveAnswers
from lorestudio.llm.errors import ErrorKind, LlmError
from lorestudio.llm.messages import AnswerSource, ChatReply, ChatRequest, TokenUsage
from lorestudio.llm.recorded_answers import OTHER_FIGURES, RecordedAnswers, answers_path, read_recording
from tests.llm.server import KEY, REQUEST, Server, completion, reply


@dataclass
class Numbered:
    """Answers with the number of the question."""

    made: ChatReply = field(default_factory=lambda: ChatReply(live=True))
    name: str = "numbered"
    label: str = "numbered answers"
    asked: Counter[str] = field(default_factory=Counter)

    async def answer(self, request: ChatRequest) -> ChatReply:
        self.asked[request.user] += 1
        return replace(self.made, text=f"{request.user}{self.asked.total()}", source=self.label)


def questions(*users: str) -> list[ChatRequest]:
    return [replace(REQUEST, user=user) for user in users]


def ask(source: AnswerSource, *users: str) -> list[ChatReply]:
    async def scenario() -> list[ChatReply]:
        return [await source.answer(request) for request in questions(*users)]

    return asyncio.run(scenario())


def test_path_beside_the_chat() -> None:
    assert answers_path(Path("a/My chat.v2.jsonl")) == Path("a/My chat.v2.answers.jsonl")


def test_each_question_is_asked_once(tmp_path: Path) -> None:
    path, live = tmp_path / "chat.answers.jsonl", Numbered()
    first = ask(RecordedAnswers(path, live), "a", "b", "a")
    assert [answer.text for answer in first] == ["a1", "b2", "a1"]
    assert [answer.live for answer in first] == [True, True, False]
    again = ask(RecordedAnswers(path), "b", "a")
    assert [answer.text for answer in again] == ["b2", "a1"]
    assert live.asked == {"a": 1, "b": 1}


def test_replies_come_back_whole_and_for_nothing(tmp_path: Path) -> None:
    original = ChatReply(
        "x\ud83d\u2028ż\n", TokenUsage(3, 4), "Cloud · m", 812.5, '{"raw": 1}', {"selected": ["ż", None, 1.5]},
        "length",
        ("a note",), live=True,
    )  # fmt: skip
    store = RecordedAnswers(tmp_path / "a.jsonl")
    store.record(REQUEST, original)
    (replayed,) = ask(RecordedAnswers(tmp_path / "a.jsonl"), REQUEST.user)
    assert replayed == replace(original, source="recorded from Cloud · m", duration_ms=0.0, live=False, repeatable=True)
    assert ask(store, REQUEST.user) == [replayed]  # in the same session as later


def test_what_decides_the_answer_finds_it(tmp_path: Path) -> None:
    store = RecordedAnswers(tmp_path / "a.jsonl")
    store.record(REQUEST, ChatReply("x"))
    assert asyncio.run(store.answer(replace(REQUEST, timeout_ms=1))).text == "x"
    with pytest.raises(LlmError):
        asyncio.run(store.answer(replace(REQUEST, max_tokens=1)))


def test_models_in_the_order_they_were_asked_last(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    for model in ("a", "b", "", "a"):
        RecordedAnswers(path).record(replace(REQUEST, model=model), ChatReply("x"))
    store = RecordedAnswers(path)
    assert store.models == ()
    store.load()
    assert store.models == read_recording(path).models == ("b", "a")


def test_nothing_recorded_and_nobody_to_ask(tmp_path: Path) -> None:
    with pytest.raises(LlmError) as caught:
        ask(RecordedAnswers(tmp_path / "chat.answers.jsonl"), "a")
    assert caught.value.kind is ErrorKind.NO_RECORDED_ANSWER
    assert "No answer is recorded" in caught.value.text
    assert "stand-in" in caught.value.advice
    assert "chat.answers.jsonl" in caught.value.message
    assert not (tmp_path / "chat.answers.jsonl").exists()


def test_labels(tmp_path: Path) -> None:
    assert RecordedAnswers(tmp_path / "a").label == "recorded answers"
    assert RecordedAnswers(tmp_path / "a", Numbered()).label == "recorded answers, else numbered answers"


def test_repeatable_answers_are_not_recorded(tmp_path: Path) -> None:
    ask(RecordedAnswers(tmp_path / "a.jsonl", Numbered(ChatReply(repeatable=True))), "a")
    assert not (tmp_path / "a.jsonl").exists()


class Speechless:
    """Says nothing at first, then something."""

    name = label = "speechless"

    def __init__(self) -> None:
        self.said = ["", " \n", "At last."]

    async def answer(self, _request: ChatRequest) -> ChatReply:
        return ChatReply(self.said.pop(0), finish="length")


def test_a_reply_that_holds_nothing_is_asked_for_again(tmp_path: Path) -> None:
    """It was recorded and given again, so that trying again never brought an answer."""
    path = tmp_path / "a.jsonl"
    assert [each.text for each in ask(RecordedAnswers(path, Speechless()), "a", "a", "a", "a")] == [
        "", " \n", "At last.", "At last.",
    ]  # fmt: skip


def test_a_reply_of_an_older_file_that_holds_nothing_does_not_count(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    for text in ("", "known"):
        RecordedAnswers(path).record(replace(REQUEST, user=text), ChatReply(text))
    RecordedAnswers(path).record(replace(REQUEST, user="value"), ChatReply(value=[]))
    assert [each.text for each in ask(RecordedAnswers(path, Numbered()), "", "known")] == ["1", "known"]
    assert [each.value for each in ask(RecordedAnswers(path), "value")] == [[]], "an empty list is an answer"


def test_asking_afresh_replaces(tmp_path: Path) -> None:
    path, live = tmp_path / "a.jsonl", Numbered()
    ask(RecordedAnswers(path, live), "a")
    fresh = RecordedAnswers(path, live, fresh=True)
    assert [answer.text for answer in ask(fresh, "a", "a")] == ["a2", "a3"]
    assert not fresh.holds(*questions("a"))
    assert [answer.text for answer in ask(RecordedAnswers(path), "a")] == ["a3"]
    assert len(path.read_bytes().splitlines()) == 3


def test_holds(tmp_path: Path) -> None:
    store = RecordedAnswers(tmp_path / "a.jsonl", Numbered())
    ask(store, "a")
    assert [store.holds(request) for request in questions("a", "b")] == [True, False]


def test_errors_are_not_recorded(tmp_path: Path) -> None:
    @dataclass
    class Failing:
        name: str = "f"
        label: str = "f"

        async def answer(self, request: ChatRequest) -> ChatReply:
            raise LlmError(ErrorKind.SERVER, f"boom at {request.user}", status=500)

    with pytest.raises(LlmError, match="boom"):
        ask(RecordedAnswers(tmp_path / "a.jsonl", Failing()), "a")
    assert not (tmp_path / "a.jsonl").exists()


GOOD = json.dumps({"v": 1, "digest": REQUEST.digest, "kind": "search", "source": "s", "text": "t", "usage": [1, 2]})
BAD: dict[str, tuple[bytes, str]] = {
    "cut off": (GOOD[:40].encode(), "line 2"),
    "no object": (b"[]", "no object"),
    "no text": (GOOD.replace('"text"', '"test"').encode(), '"text"'),
    "odd text": (GOOD.replace('"t"', "5").encode(), '"text"'),
    "no digest": (GOOD.replace('"digest"', '"d"').encode(), '"digest"'),
    "newer": (GOOD.replace('"v": 1', '"v": 2').encode(), '"v"'),
    "odd usage": (GOOD.replace("[1, 2]", "[1]").encode(), '"usage"'),
    "odd notes": (GOOD.replace('"v": 1', '"v": 1, "notes": [1]').encode(), '"notes"'),
    "not UTF-8": (b'{"v": 1, "text": "\xff"}', "UTF-8"),
    "bottomless": (b"[" * 100_000, "deeply"),
}


@pytest.mark.parametrize("case", BAD)
def test_damaged_lines_are_told_and_kept(tmp_path: Path, case: str) -> None:
    line, words = BAD[case]
    path = tmp_path / "a.jsonl"
    path.write_bytes(
        b"\xef\xbb\xbf" + GOOD.encode() + b"\r\n" + line + b"\n\n" + GOOD.replace('"t"', '"u"').encode() + b"\n"
    )
    before = path.read_bytes()
    store = RecordedAnswers(path)
    assert [answer.text for answer in ask(store, REQUEST.user)] == ["u"]  # the later of two
    (problem,) = store.problems
    assert f"{path}, line 2" in problem
    assert words in problem
    assert "asked again" in problem
    store.record(replace(REQUEST, user="new"), ChatReply("n"))
    assert path.read_bytes().startswith(before)


def test_a_torn_last_line_spoils_no_other(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(GOOD.encode() + b"\n" + GOOD[:50].encode())  # the power failed here
    store = RecordedAnswers(path, Numbered())
    ask(store, "new")
    recording = read_recording(path)
    assert len(recording.replies) == 2
    assert len(recording.problems) == 1


def test_a_last_line_without_its_end_still_counts(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(GOOD, encoding="utf-8")
    ask(RecordedAnswers(path, Numbered()), "new")
    assert (len(read_recording(path).replies), read_recording(path).problems) == (2, ())


def test_the_disk_has_an_answer_before_it_is_given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    synced: list[int] = []
    fsync = os.fsync

    def noted(descriptor: int) -> None:
        synced.append(os.fstat(descriptor).st_size)
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", noted)
    path = tmp_path / "a.jsonl"
    ask(RecordedAnswers(path, Numbered()), "a")
    assert path.stat().st_size in synced
    assert len(synced) == 2  # the file, and the folder that names it


def test_a_file_that_cannot_be_used_is_told(tmp_path: Path) -> None:
    with pytest.raises(LlmError) as caught:
        ask(RecordedAnswers(tmp_path, Numbered()), "a")  # it is a folder
    assert f"{tmp_path} cannot be used" in caught.value.advice
    assert "permissions" in caught.value.advice
    assert caught.value.__context__ is None


def test_an_answer_that_cannot_be_kept_is_given_all_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    store = RecordedAnswers(tmp_path / "a.jsonl", Numbered())
    (given,) = ask(store, "a")
    assert given.text == "a1"
    assert "No space left on device" in given.notes[0]
    assert not store.holds(*questions("a"))


def test_many_writers_lose_nothing(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    store = RecordedAnswers(path)

    def write(name: str) -> None:
        for request in questions(*(f"{name}{number}" for number in range(15))):
            store.record(request, ChatReply(request.user * 500))

    threads = [threading.Thread(target=write, args=(name,)) for name in "abcd"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    recording = read_recording(path)
    assert (len(recording.replies), recording.problems) == (60, ())


@given(st.text(st.characters()).filter(str.strip), st.text(st.characters()), st.integers(0, 10**12))
def test_any_text_comes_back(tmp_path_factory: pytest.TempPathFactory, text: str, raw: str, tokens: int) -> None:
    path = tmp_path_factory.getbasetemp() / "any.jsonl"
    RecordedAnswers(path).record(REQUEST, ChatReply(text, TokenUsage(tokens, 0), raw=raw))
    recorded = read_recording(path).replies[REQUEST.digest]
    assert (recorded.text, recorded.raw, recorded.usage.input) == (text, raw, tokens)
    path.unlink()


def test_neither_keys_nor_questions_get_into_the_file(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"

    async def scenario() -> None:
        echo = completion(f"key {KEY}")
        async with Server(reply(echo, X_Echo=KEY)) as server:
            await RecordedAnswers(path, LiveAnswers(server.client())).answer(replace(REQUEST, user="private question"))

    asyncio.run(scenario())
    written = path.read_text(encoding="ascii")
    assert KEY not in written
    assert "private" not in written
    assert json.loads(written)["text"] == "key •••"


def test_an_answer_survives_another_tokenizer_and_says_so(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    before, after = "(~340 tokens).\n\nLamp (12tok) → Bell", "(~1020 tokens).\n\nLamp (31tok) → Bell"
    RecordedAnswers(path).record(replace(REQUEST, user=before), ChatReply("the lamp"))
    source = RecordedAnswers(path)
    [found] = ask(source, after)
    assert (found.text, found.notes) == ("the lamp", (OTHER_FIGURES,))
    assert source.holds(replace(REQUEST, user=after))
    assert ask(source, before)[0].notes == ()
    for other in (after.replace("Lamp", "Oven"), after.replace("(31tok)", "31tok"), after + " 2"):
        assert not source.holds(replace(REQUEST, user=other))
