"""A reply under way without a window: when it is asked for, what goes into the chat, and what a person decides."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from lorestudio.domain.chat import Chat, Generation, Message
from lorestudio.domain.records import replace
from lorestudio.domain.state import EntryRule
from lorestudio.llm.errors import ErrorKind
from lorestudio.llm.messages import TokenUsage
from lorestudio.llm.recorded_answers import RecordedAnswers
from lorestudio.studio.chat import editing
from lorestudio.studio.project.answering import AnswerKind, ChatReply, ChatRequest, LlmError, Source, answers_path
from lorestudio.ui.features.chat import reply as reply_work
from lorestudio.ui.features.chat.reply import ReplyWork, _has_room
from lorestudio.ui.shell.words import Notice
from lorestudio.ui.state.session import Session
from lorestudio.ui.widgets.dialogs import ModelCost
from tests.ui.worlds import make_chat, make_project

RECORDED = Source(AnswerKind.RECORDED)
HOME = Source(AnswerKind.PROVIDER, "Home")


class Writer:
    """Whoever writes replies: says `pieces` first, then waits until `go`, then answers; notes wait for `go_on`."""

    name = "test"
    label = "Test"

    def __init__(self) -> None:
        self.pieces: list[str] = []
        self.reply = ChatReply("Skarn lands.", source="Test · small")
        self.notes: ChatReply | Exception = ChatReply("He lied.")
        self.error: Exception | None = None
        self.go, self.go_on = asyncio.Event(), asyncio.Event()
        self.asked: list[ChatRequest] = []
        self.fresh: list[bool] = []
        self.hear: Callable[[str], None] = lambda _piece: None

    def made(
        self, _source: Source, _chat: object, _connections: object, observer: object = None, *, fresh: bool = False
    ) -> tuple[Writer, str]:
        self.fresh.append(fresh)
        self.hear = getattr(observer, "heard", self.hear)
        return self, "small"

    async def answer(self, request: ChatRequest) -> ChatReply:
        self.asked.append(request)
        if request.kind == "notepad":
            await self.go_on.wait()
            if isinstance(self.notes, Exception):
                raise self.notes
            return self.notes
        for piece in self.pieces:
            self.hear(piece)
        await self.go.wait()
        if self.error is not None:
            raise self.error
        return self.reply


@pytest.fixture
def writer(monkeypatch: pytest.MonkeyPatch) -> Writer:
    made = Writer()
    monkeypatch.setattr(reply_work, "make_answers", made.made)
    return made


@pytest.fixture
def session(make_session: Callable[..., Session]) -> Session:
    return make_session(make_project())


@pytest.fixture
def work(session: Session) -> ReplyWork:
    return ReplyWork(session, session)


def heard(work: ReplyWork) -> list[tuple[object, ...]]:
    told: list[tuple[object, ...]] = []
    for name in ("began", "said", "heard", "ended", "failed", "shortened", "undecided", "placed", "cost_known"):
        getattr(work, name).connect(lambda *what, name=name: told.append((name, *what)))
    return told


def named(told: list[tuple[object, ...]], name: str) -> list[object]:
    return [each[1] if len(each) > 1 else None for each in told if each[0] == name]


def chat_of(session: Session) -> Chat:
    assert session.project is not None
    assert session.project.chat is not None
    return session.project.chat


def say(session: Session, text: str) -> None:
    """Write one more message, as the person may at any time."""
    chat = chat_of(session)
    session.parts.adjust("more", chat=replace(chat, messages=(*chat.messages, Message("Wren", text, is_user=True))))


def extract(session: Session) -> None:
    assert session.project is not None
    on = {"ai_notepad_enabled": True, "ai_notepad_mode": "extract"}
    session.parts.adjust("notepad", settings=session.project.settings.model_copy(update=on))


def idle(session: Session, qtbot: QtBot) -> None:
    qtbot.waitUntil(lambda: session.jobs.idle and not session.busy, timeout=20_000)


def until_asked(writer: Writer, qtbot: QtBot, times: int = 1) -> None:
    qtbot.waitUntil(lambda: len(writer.asked) == times, timeout=20_000)


@pytest.mark.parametrize(
    ("generation", "there"),
    [
        (Generation(7), True),  # at the end, which needs no room
        (Generation(8), False),
        (Generation(2, 2), True),  # the empty swipe
        (Generation(2, 1), False),  # somebody wrote into it
        (Generation(2, 3), False),  # it was deleted
        (Generation(0, 0), False),
    ],
)
def test_room_is_the_end_or_an_empty_swipe(generation: Generation, there: bool) -> None:
    chat = make_chat()
    reply = replace(chat.messages[2], swipes=("It fell.", "Dawnkeep stands.", ""))
    assert _has_room(chat.with_message(2, reply), generation) is there


def test_a_reply_is_told_from_its_beginning_to_its_place(
    session: Session, work: ReplyWork, writer: Writer, qtbot: QtBot
) -> None:
    told = heard(work)
    writer.pieces = ["Skarn ", "lands."]
    work.start(RECORDED, None)
    assert (work.busy, work.generation) == (True, Generation(7))
    qtbot.waitUntil(lambda: len(named(told, "heard")) == 2, timeout=20_000)
    writer.go.set()
    qtbot.waitUntil(lambda: not work.busy, timeout=20_000)
    assert told == [
        ("began",), ("said", "Waiting for the lore of this reply…"), ("said", "Asking for the reply…"),
        ("said", "The reply is being written…"), ("heard", "Skarn "), ("heard", "lands."), ("ended",),
        ("placed", RECORDED),
    ]  # fmt: skip
    last = chat_of(session).messages[-1]
    assert (last.name, last.text, last.is_user, last.extra["model"]) == ("Ada", "Skarn lands.", False, "Test · small")
    assert work.generation is None
    idle(session, qtbot)


def test_a_reply_that_comes_in_one_piece_is_heard_too(
    session: Session, work: ReplyWork, writer: Writer, qtbot: QtBot
) -> None:
    told = heard(work)
    writer.go.set()
    work.start(RECORDED, None)
    qtbot.waitUntil(lambda: not work.busy, timeout=20_000)
    assert named(told, "heard") == ["Skarn lands."]
    idle(session, qtbot)


def test_while_a_reply_comes_no_other_is_begun(session: Session, work: ReplyWork, writer: Writer, qtbot: QtBot) -> None:
    told = heard(work)
    work.start(RECORDED, None)
    until_asked(writer, qtbot)
    work.start(RECORDED, 5)
    assert (named(told, "began"), work.generation) == ([None], Generation(7))
    assert chat_of(session) == make_chat()
    writer.go.set()
    idle(session, qtbot)
    assert len(writer.asked) == 1


def test_without_a_chat_no_reply_is_begun(make_session: Callable[..., Session], writer: Writer) -> None:
    for project in (None, make_project(chat=False)):
        work = ReplyWork(make_session(project))
        work.start(RECORDED, None)
        assert not work.busy
    assert writer.asked == []


def test_lore_that_was_not_run_is_said_and_the_reply_waits_for_it(
    make_session: Callable[..., Session], writer: Writer, qtbot: QtBot
) -> None:
    session = make_session(make_project(), replay=False)
    work = ReplyWork(session, session)
    told = heard(work)
    session.set_activity("Reading the vault…")
    work.start(RECORDED, None)
    assert not [each for each in named(told, "said") if "has not been run" in str(each)], "it may be run meanwhile"
    session.set_activity("")
    assert "has not been run" in str(named(told, "said")[-1])
    assert writer.asked == []
    session.replays.run_all()
    writer.go.set()
    qtbot.waitUntil(lambda: not work.busy, timeout=20_000)
    idle(session, qtbot)
    assert chat_of(session).messages[-1].text == "Skarn lands."


def test_a_reply_that_waits_for_its_lore_is_stopped_at_once(
    make_session: Callable[..., Session], writer: Writer
) -> None:
    session = make_session(make_project(), replay=False)
    work = ReplyWork(session, session)
    told = heard(work)
    work.start(RECORDED, 5)
    assert len(chat_of(session).messages[5].swipes) == 2
    work.stop()
    assert not work.busy
    assert chat_of(session) == make_chat()  # the room made for it is gone
    assert [each[0] for each in told][-1] == "ended"
    assert named(told, "failed") == []


def test_what_was_changed_beside_an_own_swipe_is_not_undone_with_it(
    session: Session, work: ReplyWork, writer: Writer, qtbot: QtBot
) -> None:
    work.start(RECORDED, 5)
    until_asked(writer, qtbot)
    say(session, "Wait!")
    work.throw_away()
    assert not work.busy
    assert chat_of(session).messages[-1].text == "Wait!"
    assert chat_of(session).messages[5] == make_chat().messages[5]  # the empty swipe is gone all the same
    idle(session, qtbot)


def test_an_entry_pinned_while_another_reply_comes_stays_pinned_where_the_reply_fails(
    session: Session, work: ReplyWork, writer: Writer, qtbot: QtBot
) -> None:
    writer.error = LlmError(ErrorKind.CONNECTION, "Nobody there.")
    work.start(RECORDED, 5)
    until_asked(writer, qtbot)
    assert session.project is not None
    pinned = replace(session.project.controls, pins=(EntryRule("Skarn"),))
    session.parts.adjust("pin", controls=pinned)
    writer.go.set()
    qtbot.waitUntil(lambda: not work.busy, timeout=20_000)
    assert session.project.controls == pinned
    assert chat_of(session) == make_chat()
    idle(session, qtbot)


@pytest.mark.parametrize("left", [5, 3])
def test_a_swipe_of_a_message_that_was_deleted_meanwhile_is_given_up(
    session: Session, work: ReplyWork, writer: Writer, qtbot: QtBot, left: int
) -> None:
    told = heard(work)
    work.start(RECORDED, 5)
    until_asked(writer, qtbot)
    shorter = replace(chat_of(session), messages=chat_of(session).messages[:left])
    session.parts.adjust("delete", chat=shorter)
    work.throw_away()
    assert chat_of(session) == shorter
    assert "ended" in [each[0] for each in told]
    assert not work.busy
    idle(session, qtbot)


def test_a_swipe_that_nobody_waits_for_any_more_goes_though_another_one_was_chosen(
    session: Session, work: ReplyWork, writer: Writer, qtbot: QtBot
) -> None:
    work.start(RECORDED, 5)
    until_asked(writer, qtbot)
    session.parts.adjust("look at the first", chat=editing.choose_swipe(chat_of(session), 5, 0))
    work.throw_away()
    assert [each.swipes for each in chat_of(session).messages[5:6]] == [("Skarn circles above Dawnkeep.",)]
    assert session.parts.adjustments.undo_title == "delete swipe 2 of #5"
    idle(session, qtbot)


def test_a_reply_to_a_chat_that_was_changed_is_asked_about_and_goes_to_its_end(
    session: Session, work: ReplyWork, writer: Writer, qtbot: QtBot
) -> None:
    told = heard(work)
    work.start(RECORDED, None)
    until_asked(writer, qtbot)
    say(session, "Wait!")
    writer.go.set()
    qtbot.waitUntil(lambda: named(told, "undecided") != [], timeout=20_000)
    assert "was changed while the reply came" in str(named(told, "undecided")[0])
    assert chat_of(session).messages[-1].text == "Wait!"
    work.keep("Skarn lands again.")
    assert [each.text for each in chat_of(session).messages[-2:]] == ["Wait!", "Skarn lands again."]
    assert (work.busy, named(told, "placed")) == (False, [RECORDED])
    assert session.parts.adjustments.undo_title == "reply #8"
    idle(session, qtbot)


def test_a_swipe_finds_the_room_that_was_made_for_it_after_another_change(
    session: Session, work: ReplyWork, writer: Writer, qtbot: QtBot
) -> None:
    told = heard(work)
    work.start(RECORDED, 5)
    until_asked(writer, qtbot)
    say(session, "Wait!")
    writer.go.set()
    qtbot.waitUntil(lambda: named(told, "undecided") != [], timeout=20_000)
    work.keep("Skarn lands.")
    assert chat_of(session).messages[5].swipes == ("Skarn circles above Dawnkeep.", "Skarn lands.")
    assert len(chat_of(session).messages) == 8
    assert writer.fresh == [True]  # what is recorded would be the same reply again
    idle(session, qtbot)


def test_nothing_is_kept_of_a_text_of_blanks(session: Session, work: ReplyWork, writer: Writer, qtbot: QtBot) -> None:
    told = heard(work)
    writer.error = LlmError(ErrorKind.CONNECTION, "It broke off.")
    writer.pieces = ["Skarn"]
    work.start(RECORDED, None)
    until_asked(writer, qtbot)
    writer.go.set()
    qtbot.waitUntil(lambda: named(told, "undecided") != [], timeout=20_000)
    work.keep(" \n")
    assert (work.busy, chat_of(session)) == (False, make_chat())
    assert named(told, "placed") == []
    idle(session, qtbot)


@pytest.mark.parametrize(
    ("text", "finish", "advice"),
    [
        (" \n", "stop", "Try again"),
        (" \n", "length", "“Longest reply”"),
        ("<think>Who is", "length", "“Longest reply”"),
        (" \n", "content_filter", "filter"),
        (" \n", "SAFETY", "filter"),
    ],
)
def test_a_model_that_says_nothing_has_failed(
    session: Session, work: ReplyWork, writer: Writer, qtbot: QtBot, text: str, finish: str, advice: str
) -> None:
    told = heard(work)
    writer.reply = ChatReply(text, finish=finish)
    writer.go.set()
    work.start(RECORDED, 5)
    qtbot.waitUntil(lambda: not work.busy, timeout=20_000)
    said = str(named(told, "failed")[0])
    assert "answered with nothing" in said
    assert advice in said
    assert chat_of(session) == make_chat()
    idle(session, qtbot)


def test_a_reply_that_the_filter_ended_is_kept_and_said_to_be_short(
    session: Session, work: ReplyWork, writer: Writer, qtbot: QtBot
) -> None:
    told = heard(work)
    writer.reply = ChatReply("Skarn la", finish="content_filter")
    writer.go.set()
    work.start(RECORDED, None)
    qtbot.waitUntil(lambda: not work.busy, timeout=20_000)
    assert ["filter" in str(each) for each in named(told, "shortened")] == [True]
    assert chat_of(session).messages[-1].text == "Skarn la"
    idle(session, qtbot)


@pytest.mark.parametrize("fails", [False, True])
def test_what_comes_for_a_reply_that_was_given_up_is_nobodys(
    session: Session, work: ReplyWork, writer: Writer, qtbot: QtBot, fails: bool
) -> None:
    told = heard(work)
    work.start(RECORDED, None)
    until_asked(writer, qtbot)
    job = work._asking.job if work._asking is not None else None
    assert job is not None
    asking = work._asking
    work.throw_away()
    told.clear()
    assert asking is not None
    work._heard(asking, "late")
    if fails:
        work._went_wrong(asking, LlmError(ErrorKind.CONNECTION, "Too late."))
    else:
        work._done(asking, (ChatReply("Late."), ""))
    assert (told, chat_of(session)) == ([], make_chat())
    idle(session, qtbot)


def test_a_stop_before_anything_came_says_nothing(
    session: Session, work: ReplyWork, writer: Writer, qtbot: QtBot
) -> None:
    told = heard(work)
    work.start(RECORDED, None)
    until_asked(writer, qtbot)
    work.stop()
    qtbot.waitUntil(lambda: not work.busy, timeout=20_000)
    assert (named(told, "failed"), named(told, "undecided"), chat_of(session)) == ([], [], make_chat())
    idle(session, qtbot)


def test_another_chat_ends_the_reply_and_the_same_one_read_again_does_not(
    session: Session, work: ReplyWork, writer: Writer, qtbot: QtBot
) -> None:
    told = heard(work)
    notices: list[Notice] = []
    session.notice.connect(notices.append)
    work.start(RECORDED, None)
    until_asked(writer, qtbot)
    assert session.project is not None
    session.set_project(session.project, renewed="It was read again.")
    assert (work.busy, named(told, "ended"), notices) == (True, [], [])
    session.set_project(make_project())
    assert (work.busy, named(told, "ended")) == (False, [None])
    assert [each.text for each in notices] == ["Another chat was opened, so the reply that was under way was dropped."]
    writer.go.set()
    idle(session, qtbot)
    assert chat_of(session) == make_chat()


# ---- what it costs ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("takes_notes", [False, True])
def test_a_provider_is_asked_once_the_person_agreed_and_then_without_a_question(
    session: Session, work: ReplyWork, writer: Writer, qtbot: QtBot, takes_notes: bool
) -> None:
    if takes_notes:
        extract(session)
        idle(session, qtbot)
    told = heard(work)
    writer.go.set()
    writer.go_on.set()
    work.start(HOME, None)
    qtbot.waitUntil(lambda: named(told, "cost_known") != [], timeout=20_000)
    (cost,) = named(told, "cost_known")
    assert isinstance(cost, ModelCost)
    assert cost.name == "Home"
    assert ("takes notes" in cost.sentence) is takes_notes
    assert writer.asked == []
    idle(session, qtbot)
    work.agree("Home", True)
    qtbot.waitUntil(lambda: not work.busy, timeout=20_000)
    idle(session, qtbot)
    work.start(HOME, None)
    qtbot.waitUntil(lambda: not work.busy, timeout=20_000)
    idle(session, qtbot)
    assert len(named(told, "cost_known")) == 1
    assert [each.kind for each in writer.asked].count("reply") == 2


def test_who_does_not_agree_gets_no_reply_and_is_asked_again(
    session: Session, work: ReplyWork, writer: Writer, qtbot: QtBot
) -> None:
    told = heard(work)
    for times in (1, 2):
        work.start(HOME, None)
        qtbot.waitUntil(lambda times=times: len(named(told, "cost_known")) == times, timeout=20_000)
        work.agree("Home", False)
        assert (work.busy, named(told, "failed")) == (False, [])
        idle(session, qtbot)
    assert (writer.asked, chat_of(session)) == ([], make_chat())


def test_who_agrees_after_the_chat_was_left_is_not_asked_later(
    session: Session, work: ReplyWork, writer: Writer, qtbot: QtBot
) -> None:
    told = heard(work)
    work.start(HOME, None)
    qtbot.waitUntil(lambda: named(told, "cost_known") != [], timeout=20_000)
    session.set_project(make_project())
    work.agree("Home", True)
    assert not work.busy
    idle(session, qtbot)
    assert writer.asked == []


@pytest.mark.parametrize("another", [False, True])
def test_what_is_recorded_costs_nothing_unless_another_reply_is_wanted(
    make_session: Callable[..., Session], writer: Writer, qtbot: QtBot, tmp_path: Path, another: bool
) -> None:
    project = replace(make_project(), chat_path=tmp_path / "Ada.jsonl")
    session = make_session(project)
    work = ReplyWork(session, session)
    told = heard(work)
    writer.go.set()
    work._agreed.add("Home")
    work.start(HOME, None)  # to know what is asked
    qtbot.waitUntil(lambda: not work.busy, timeout=20_000)
    session.parts.undo()
    idle(session, qtbot)
    kept = RecordedAnswers(answers_path(tmp_path / "Ada.jsonl"))
    kept.record(writer.asked[0], ChatReply("Skarn lands.", TokenUsage(1, 1)))
    work._agreed.clear()
    work.start(HOME, 5 if another else None)
    qtbot.waitUntil(lambda: not work.busy or named(told, "cost_known") != [], timeout=20_000)
    assert (named(told, "cost_known") != []) is another
    work.throw_away()
    idle(session, qtbot)


# ---- notes from it ---------------------------------------------------------------------------------------------------


def replied(session: Session, work: ReplyWork, writer: Writer, qtbot: QtBot) -> list[Notice]:
    """A reply in extract mode is in the chat, and the notes from it are asked for but not there yet."""
    extract(session)
    idle(session, qtbot)
    told: list[Notice] = []
    session.notice.connect(told.append)
    writer.go.set()
    work.start(RECORDED, None)
    qtbot.waitUntil(lambda: not work.busy, timeout=20_000)
    until_asked(writer, qtbot, 2)
    return told


def notepad(session: Session) -> str:
    assert session.project is not None
    return session.project.controls.notepad


def test_notes_from_a_reply_that_has_changed_meanwhile_are_dropped(
    session: Session, work: ReplyWork, writer: Writer, qtbot: QtBot
) -> None:
    told = replied(session, work, writer, qtbot)
    chat = chat_of(session)
    session.parts.adjust("edit", chat=chat.with_message(7, replace(chat.messages[7], text="Skarn flees.")))
    writer.go_on.set()
    qtbot.waitUntil(lambda: bool(told), timeout=20_000)
    idle(session, qtbot)
    assert "has changed meanwhile" in told[0].text
    assert notepad(session) == ""


def test_no_notes_go_into_another_chat(session: Session, work: ReplyWork, writer: Writer, qtbot: QtBot) -> None:
    told = replied(session, work, writer, qtbot)
    assert session.project is not None
    session.set_project(replace(session.project, chat_path=Path("elsewhere.jsonl")))
    writer.go_on.set()
    idle(session, qtbot)
    assert (notepad(session), told) == ("", [])


def test_a_model_that_notes_nothing_changes_nothing(
    session: Session, work: ReplyWork, writer: Writer, qtbot: QtBot
) -> None:
    told = replied(session, work, writer, qtbot)
    writer.notes = ChatReply("NOTHING_TO_NOTE")
    writer.go_on.set()
    idle(session, qtbot)
    assert (notepad(session), told) == ("", [])
    assert session.parts.adjustments.undo_title == "reply #7"


def test_notes_that_could_not_be_had_are_told(session: Session, work: ReplyWork, writer: Writer, qtbot: QtBot) -> None:
    told = replied(session, work, writer, qtbot)
    writer.notes = LlmError(ErrorKind.TIMED_OUT, "It took too long.")
    writer.go_on.set()
    qtbot.waitUntil(lambda: bool(told), timeout=20_000)
    idle(session, qtbot)
    assert told[0].text.startswith("No notes: ")
    assert notepad(session) == ""
