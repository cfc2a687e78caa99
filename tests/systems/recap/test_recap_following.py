"""What was done to a chat elsewhere, how an open chat takes in recaps, and what a reply is given."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lorestudio.domain.chat import Chat
from lorestudio.domain.records import replace
from lorestudio.exchange.chats.loading import load_chat
from lorestudio.llm.messages import RUNNING_RECAP, SCENE_BREAK, SCENE_RECAP, ChatReply, ChatRequest
from lorestudio.llm.stand_in import StandInAnswers
from lorestudio.studio.chat import editing
from lorestudio.systems.recap import session as session_module
from lorestudio.systems.recap.chat import RecapChat
from lorestudio.systems.recap.chat_file import alters_runs, read_chat_file, with_recaps, write_chat_file
from lorestudio.systems.recap.overview import picture, prompt_at
from lorestudio.systems.recap.queue import has_queue
from lorestudio.systems.recap.session import MessageEvent, MessageHappening, RecapSession, follow, happenings, opened
from tests.systems.recap.files import SETTINGS, TALE, records, write_chat


@pytest.fixture(autouse=True)
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session_module, "default_folder", lambda: tmp_path / "data")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return write_chat(tmp_path / "Tale.jsonl")


def chat_of(*texts: str, swipes: tuple[int, ...] = ()) -> RecapChat:
    found = [{"name": "Quay", "mes": text, "swipe_id": 1 if place in swipes else 0} for place, text in enumerate(texts)]
    return RecapChat("c", tuple(found))


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        (chat_of("a", "b"), chat_of("a", "b"), ()),
        (
            chat_of("a"),
            chat_of("a", "b", "c"),
            (MessageHappening(MessageEvent.WRITTEN, 1), MessageHappening(MessageEvent.WRITTEN, 2)),
        ),
        (chat_of("a", "b", "c"), chat_of("a", "x", "c"), (MessageHappening(MessageEvent.EDITED, 1),)),
        (chat_of("a", "b"), chat_of("a", "b2", swipes=(1,)), (MessageHappening(MessageEvent.SWIPED, 1),)),
        (
            chat_of("a", "b", "c", "d"),
            chat_of("a", "d"),
            (MessageHappening(MessageEvent.DELETED, 1), MessageHappening(MessageEvent.DELETED, 2)),
        ),
        (
            chat_of("a", "b"),
            chat_of("a", "x", "c"),
            (MessageHappening(MessageEvent.EDITED, 1), MessageHappening(MessageEvent.WRITTEN, 2)),
        ),
        (
            chat_of("a", "b", "c", "d", "e"),
            chat_of("a", "c", "x", "e", "f"),
            (
                MessageHappening(MessageEvent.DELETED, 1),
                MessageHappening(MessageEvent.EDITED, 2),
                MessageHappening(MessageEvent.WRITTEN, 4),
            ),
        ),
        (chat_of("a", "c"), chat_of("a", "b", "c"), (MessageHappening(MessageEvent.PUT_IN, 1),)),
        (chat_of("a", "b", "c", "d"), chat_of("a", "x", "d"), ()),  # which of the two it was cannot be told
    ],
)
def test_what_happened(before: RecapChat, after: RecapChat, expected: tuple[MessageHappening, ...]) -> None:
    assert happenings(before, after) == expected


@given(st.lists(st.sampled_from("abc"), max_size=6), st.lists(st.sampled_from("abc"), max_size=6))
def test_whatever_happened_is_told_of_messages_that_are_there(old: list[str], new: list[str]) -> None:
    for each in happenings(chat_of(*old), chat_of(*new)):
        assert 0 <= each.index < (len(old) if each.event is MessageEvent.DELETED else len(new))


def with_recap(path: Path, index: int, text: str) -> Chat:
    """The chat of a file after a recap was written into it."""
    file = read_chat_file(path)
    message: dict[str, Any] = dict(file.chat.messages[index])
    message["extra"] = {**message["extra"], "auto_recap": {"memory": text}}
    return write_chat_file(file, file.chat.with_message(index, message)).source


def test_a_chat_that_was_saved_becomes_that_of_the_file(path: Path) -> None:
    before = load_chat(path).chat
    after = with_recap(path, 2, "He is greeted.")
    assert with_recaps(before, before, after) is after
    assert not alters_runs(before, after)


def test_unsaved_changes_stay_and_the_recaps_come_in(path: Path) -> None:
    before = load_chat(path).chat
    mine = editing.edit(before, 4, "I stay.", None)
    after = with_recap(path, 2, "He is greeted.")
    merged = with_recaps(mine, before, after)
    assert merged.messages[4].text == "I stay."
    assert merged.messages[2] is after.messages[2]
    assert merged.messages[5] is after.messages[5]


def test_a_changed_message_gets_its_recap_too(path: Path) -> None:
    before = load_chat(path).chat
    mine = editing.edit(before, 2, "I nod.", None)
    merged = with_recaps(mine, before, with_recap(path, 2, "He is greeted."))
    assert merged.messages[2].text == "I nod."
    assert merged.messages[2].extra["auto_recap"] == {"memory": "He is greeted."}


def test_new_messages_stay_behind_those_of_the_file(path: Path) -> None:
    before = load_chat(path).chat
    mine = replace(before, messages=(*before.messages, before.messages[0]))
    merged = with_recaps(mine, before, with_recap(path, 2, "He is greeted."))
    assert len(merged.messages) == len(TALE) + 1
    assert merged.messages[2].extra["auto_recap"] == {"memory": "He is greeted."}


@pytest.mark.parametrize("gone", [7, 8])
def test_recaps_go_to_their_messages_though_others_were_put_in_and_taken_out(path: Path, gone: int) -> None:
    before = load_chat(path).chat
    made = editing.edit(before, 4, "I stay.", None)
    made = editing.insert(
        made, 2, editing.new_message(made, "I knock.", editing.Voice.YOU, datetime.now().astimezone())
    )
    mine = editing.delete(made, gone) if gone == 7 else made
    for index, text in ((3, "He nods."), (4, "She rides."), (5, "It rains.")):
        after = with_recap(path, index, text)
    merged = with_recaps(mine, before, after)
    told = {message.text: message.extra.get("auto_recap") for message in merged.messages}
    assert [message.text for message in merged.messages] == [message.text for message in mine.messages]
    assert told["I knock."] is None
    assert [told[text] for text in (TALE[3], "I stay.", TALE[5])] == [
        {"memory": "He nods."}, {"memory": "She rides."}, {"memory": "It rains."},
    ]  # fmt: skip


def test_a_file_that_somebody_else_has_lengthened_is_not_taken(path: Path) -> None:
    before = load_chat(path).chat
    mine = editing.edit(before, 4, "I stay.", None)
    other = replace(before, messages=before.messages[:-1])
    assert with_recaps(mine, before, other) is mine


def test_hiding_alters_runs(path: Path) -> None:
    before = load_chat(path).chat
    hidden = replace(before.messages[0], is_system=True)
    assert alters_runs(before, replace(before, messages=(hidden, *before.messages[1:])))


def session_on(path: Path, **settings: Any) -> RecapSession:
    return RecapSession.open(path, SETTINGS.model_copy(update=settings))


def rewrite(path: Path, change: Any) -> None:
    """Another program writes the chat's messages."""
    lines = path.read_text("utf-8").split("\n")
    path.write_text("\n".join([lines[0], *change(lines[1:])]), "utf-8")


def test_following_queues_what_is_due_only_where_it_is_wanted(path: Path) -> None:
    async def work(by_itself: bool) -> int:
        session = session_on(path)
        rewrite(path, lambda lines: [*lines, lines[1].replace("It creaks.", "Bells ring.")])
        found = await follow(session, by_itself=by_itself)
        assert found == (MessageHappening(MessageEvent.WRITTEN, len(session.chat.messages) - 1),)
        return len(session.queue.operations)

    assert asyncio.run(work(False)) == 0
    assert asyncio.run(work(True)) > 0


def test_an_edited_message_is_recapped_again_only_where_it_had_a_recap(path: Path) -> None:
    async def work() -> list[Any]:
        session = session_on(path, auto_recap=False, auto_scene_break_on_new_message=False)
        await session.edits.edit_message(3, "He nods.")
        rewrite(path, lambda lines: [line.replace("He nods and goes on.", "He waits.") for line in lines])
        await follow(session, by_itself=True)
        rewrite(path, lambda lines: [line.replace("The shore is empty.", "It is full.") for line in lines])
        await follow(session, by_itself=True)
        return [dict(item.params) for item in session.queue.operations]

    assert asyncio.run(work()) == [{"index": 3}]


@pytest.mark.parametrize(
    ("change", "reached"),
    [
        (lambda lines: [*lines[:1], *lines[2:]], (2, 6)),
        (lambda lines: [*lines[:2], lines[0].replace("open", "shut"), *lines[2:]], (4, 8)),
        (lambda lines: [*lines[:1], *lines[2:5], lines[0].replace("open", "shut"), *lines[5:]], (2, 7)),
    ],
)
@pytest.mark.parametrize("written_first", [False, True])
def test_versions_of_the_running_recap_follow_messages_that_went_or_were_put_in(
    path: Path, change: Callable[[list[str]], list[str]], reached: tuple[int, int], written_first: bool
) -> None:
    async def work() -> RecapSession:
        session = session_on(path)
        await session.enqueue_missing()
        await session.work()
        assert [version.reaches for version in session.chat.running.versions] == [3, 7]
        rewrite(path, change)
        if written_first:
            await session.edits.refresh()
        await follow(session, by_itself=True)
        return session

    session = asyncio.run(work())
    assert session.chat.breaks == reached
    assert [version.reaches for version in session.chat.running.versions] == [*reached]
    assert session.queue.operations == ()


@pytest.mark.parametrize("heard_at_once", [False, True])
@pytest.mark.parametrize("kind", [SCENE_BREAK, SCENE_RECAP, RUNNING_RECAP])
def test_an_answer_for_messages_that_moved_while_it_was_given_reaches_the_same_ones(
    path: Path, kind: str, heard_at_once: bool
) -> None:
    session = session_on(path, auto_scene_break_minimum_scene_length=2)
    left, asked = [0], list[str]()

    class Answers(StandInAnswers):
        async def answer(self, request: ChatRequest) -> ChatReply:
            asked.append(request.kind)
            if request.kind == kind and left:
                rewrite(path, lambda lines: lines[1:])
                left.pop()
                if heard_at_once:
                    await follow(session, by_itself=False)
            return await super().answer(request)

    async def work() -> None:
        session.use(session.settings, Answers())
        await session.enqueue_missing()
        await session.work()

    asyncio.run(work())
    ends = ["He nods and goes on.", "The ferryman asks for silver."]
    assert [session.chat.messages[index]["mes"] for index in session.chat.breaks] == ends
    assert session.chat.recaps == session.chat.breaks == (2, 6)
    assert [version.reaches for version in session.chat.running.versions] == [2, 6]
    lost = [(item.words, item.summary) for item in session.queue.log if item.outcome != "completed"]
    assert lost in ([], [("Recap of a message, #0", "The message is gone.")])
    # two scenes, a version for each, and the search behind the last: nothing is asked, and paid, twice
    assert [asked.count(each) for each in (SCENE_BREAK, SCENE_RECAP, RUNNING_RECAP)] == [3, 2, 2]


@pytest.mark.parametrize(("gone", "queued"), [(1, [2, 6]), (3, [6]), (5, [3, 6]), (9, [3, 7])])
def test_what_is_queued_follows_its_message_or_goes_with_it(path: Path, gone: int, queued: list[int]) -> None:
    async def work() -> None:
        session = session_on(path)
        for index in (3, 7):
            await session.edits.toggle_break(index)
            await session.enqueue_scene(index)
        rewrite(path, lambda lines: [*lines[:gone], *lines[gone + 1 :]])
        await session.edits.refresh()

    asyncio.run(work())
    assert [item.params["index"] for item in session_on(path).queue.operations] == queued


def test_opening_looks_for_breaks_only_where_the_settings_say_so(path: Path) -> None:
    assert asyncio.run(opened(session_on(path))) == ()
    assert len(asyncio.run(opened(session_on(path, auto_scene_break_on_load=True)))) == 1


def test_the_picture_and_the_prompt_of_a_reply(path: Path) -> None:
    async def work() -> RecapSession:
        session = session_on(path)
        await session.enqueue_missing()
        await session.work()
        return session

    session = asyncio.run(work())
    shown = picture(session)
    assert shown.in_running == frozenset(range(8))
    assert set(shown.verdicts) == set(range(len(TALE)))
    assert shown.trace is not None
    early, late = prompt_at(session, 3), prompt_at(session, 11)
    assert early.version is None
    assert early.text == ""
    assert [row.index for row in early.rows] == [2, 1, 0]
    assert late.version == 1
    assert session.chat.running.content in late.text
    assert late.collected == max(row.after or 0 for row in late.rows if row.decision == "included")


def test_work_that_is_left_by_closing_is_there_again(path: Path, go_away: Callable[..., None]) -> None:
    asked = asyncio.Event()

    class Never:
        name = label = "never"

        async def answer(self, _request: Any) -> Any:
            asked.set()
            await asyncio.Event().wait()

    async def work() -> int:
        session = RecapSession.open(path, SETTINGS, Never())
        await session.enqueue_recap(2)
        working = asyncio.ensure_future(session.work())
        await asked.wait()
        await session.close()
        assert working.cancelled()
        return len(RecapSession.open(path).queue.operations)

    assert asyncio.run(work()) == 1
    assert has_queue(path)
    assert "auto_recap" not in str(records(path)[3]["extra"])
    go_away(path.parent)
    assert not has_queue(path)
