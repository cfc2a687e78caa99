from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from ruamel.yaml import YAML

from lorestudio.domain.chat import Chat, Message
from lorestudio.domain.entry import VaultIndex
from lorestudio.domain.lifecycle import CancelToken
from lorestudio.domain.records import replace
from lorestudio.domain.state import AiState, ChatControls
from lorestudio.exchange.chats.document import read_message
from lorestudio.exchange.chats.metadata import read_controls
from lorestudio.llm.errors import ErrorKind, LlmError, failed
from lorestudio.llm.messages import ChatReply, ChatRequest
from lorestudio.settings.behaviour import fixed
from lorestudio.settings.deeplore import DeepLoreSettings
from lorestudio.systems.base import LastNote, Scene
from lorestudio.systems.deeplore.scribe import (
    SUMMARY,
    ChatNotes,
    NotesDesk,
    NotesOutcome,
    NotesRecord,
    NotesResult,
    SessionNote,
    SessionNotes,
    is_due,
    last_length,
    stored,
    summary_request,
)
from lorestudio.systems.registry import kind_of, system_of

WRITTEN = datetime(2026, 3, 1, 0, 30, 5, 123_000, tzinfo=timezone(timedelta(hours=2)))


@pytest.mark.parametrize(
    ("enabled", "interval", "length", "noted", "due"),
    [
        (True, 5, 4, 0, False),
        (True, 5, 5, 0, True),
        (True, 5, 9, 5, False),
        (True, 5, 10, 5, True),
        (True, 1, 6, 5, True),
        (True, 5, 3, 20, False),  # messages were deleted since
        (False, 5, 50, 0, False),
    ],
)
def test_when_a_note_is_due(enabled: bool, interval: int, length: int, noted: int, due: bool):
    settings = DeepLoreSettings(scribe_enabled=enabled, scribe_interval=interval)
    assert is_due(settings, length, noted) is due


@pytest.mark.parametrize(
    ("value", "length"), [(12, 12), (12.0, 12), ("7", 7), (None, 0), ("x", 0), (float("inf"), 0), ([], 0), ({}, 0)]
)
def test_the_noted_length_in_the_metadata(value: Any, length: int):
    assert last_length({"deeplore_lastScribeChatLength": value}) == length


def test_no_metadata_no_length():
    assert last_length({}) == 0


def test_the_request_has_a_section_for_each_part_that_is_there():
    settings = DeepLoreSettings(scribe_max_tokens=300, scribe_timeout=7000, ai_search_model="s")
    request = summary_request("Wren (user): Hi.", "They met. ", "the lamp", settings)
    assert request.user == (
        "## Previous session note\nThey met.\n\n"
        "## Recent conversation\nWren (user): Hi.\n\n"
        "## Additional focus\nthe lamp"
    )
    assert (request.kind, request.system, request.max_tokens, request.timeout_ms) == ("scribe", SUMMARY, 300, 7000)
    assert request.model == "s"


def test_the_request_leaves_out_what_is_not_there():
    assert summary_request("Hi.", " ", "", DeepLoreSettings()).user == "## Recent conversation\nHi."


def test_own_prompt_and_model():
    settings = DeepLoreSettings(scribe_prompt="Mine.", scribe_model="m", ai_search_model="s")
    request = summary_request("Hi.", "", "", settings)
    assert (request.system, request.model) == ("Mine.", "m")


@pytest.mark.parametrize("word", ["events", "characters", "revelations", "states", "past tense", "third person"])
def test_the_built_in_prompt_covers_what_a_note_has_to(word: str):
    assert word in SUMMARY


def test_what_the_metadata_keeps():
    assert stored(SessionNote("Ottoline", WRITTEN, "They met."), 12) == {
        "deeplore_lastScribeSummary": "They met.",
        "deeplore_lastScribeChatLength": 12,
    }


def test_the_file_of_a_note():
    note = SessionNote("Ottoline", WRITTEN, "They met.\n\nShe left.")
    assert note.filename == "Ottoline - 2026-03-01 00-30-05.md"  # both parts local
    assert note.markdown == (
        "---\ntags:\n  - lorebook-session\ndate: 2026-02-28T22:30:05.123Z\ncharacter: Ottoline\n---\n"
        "# Session: Ottoline, 2026-03-01 00:30\n\nThey met.\n\nShe left.\n"
    )


@given(st.text(max_size=90))
def test_a_file_name_is_one_part_of_at_most_255_bytes(name: str):
    filename = SessionNote(name, WRITTEN, "x").filename
    assert "/" not in filename
    assert "\\" not in filename
    assert len(filename.encode("utf-8")) < 250


@pytest.mark.parametrize("name", ["Ottoline", 'The "Lamp"', "O'Hara: x", "true", "a\\b", "both ' and \" and \\"])
def test_a_yaml_library_reads_the_same_name(name: str):
    block = SessionNote(name, WRITTEN, "x").markdown.split("---\n")[1]
    fields = YAML(typ="safe").load(block)
    assert fields["character"] == name
    assert fields["tags"] == ["lorebook-session"]
    assert fields["date"] in {WRITTEN.astimezone(UTC), WRITTEN.astimezone(UTC).replace(tzinfo=None)}


START = datetime(2026, 3, 1, 12, 0, 0, tzinfo=UTC)
START_MS = int(START.timestamp() * 1000)
PLACE = 2


@dataclass
class Script:
    """Gives the next of its answers; a function among them is called first and may change the world."""

    answers: list[ChatReply | LlmError | Callable[[], ChatReply] | None] = field(default_factory=list)
    requests: list[ChatRequest] = field(default_factory=list)
    asked: asyncio.Event = field(default_factory=asyncio.Event)
    stopped: int = 0
    name: str = "script"
    label: str = "a script"

    async def answer(self, request: ChatRequest) -> ChatReply:
        self.requests.append(request)
        self.asked.set()
        answer = self.answers.pop(0)
        try:
            await asyncio.sleep(0)
            if answer is None:
                await asyncio.Event().wait()  # never
        except asyncio.CancelledError:
            self.stopped += 1
            raise
        if isinstance(answer, LlmError):
            raise answer
        assert answer is not None
        return answer if isinstance(answer, ChatReply) else answer()


@dataclass
class Clock:
    moment: datetime = START

    def __call__(self) -> datetime:
        return self.moment

    def wait(self, seconds: float) -> None:
        self.moment += timedelta(seconds=seconds)


def chat(*texts: str, metadata: dict[str, Any] | None = None) -> Chat:
    """Messages by turns: character, user, character, ..."""
    people = ("Ottoline", "Wren")
    messages = [
        read_message({"name": people[place % 2], "is_user": place % 2 == 1, "mes": text})
        for place, text in enumerate(texts)
    ]
    return Chat(tuple(messages), "Wren", "Ottoline", metadata or {})


THREE = ("Early.", "The lamp?", "He nods.")


class World:
    """A desk with a chat on it, a script and a clock."""

    def __init__(
        self,
        the_chat: Chat,
        *answers: Any,
        notepad: str = "",
        summary: str = "",
        ai: AiState | None = None,
        **settings: Any,
    ) -> None:
        controls = ChatControls(notepad=notepad, scribe_summary=summary)
        self.desk = NotesDesk(ChatNotes("a.jsonl", the_chat, controls, ai or AiState()))
        self.script = Script(list(answers))
        self.clock = Clock()
        self.settings = DeepLoreSettings(**settings)
        self.before = self.desk.notes

    def tools(self, *switches: str) -> SessionNotes:
        return SessionNotes(self.desk, self.script, self.settings, fixed(switches), now=self.clock, timer=lambda: 0.0)

    def reply(self, **options: Any) -> NotesResult:
        return asyncio.run(self.tools().after_reply(PLACE, **options))

    def summarize(self, focus: str = "", *switches: str, **options: Any) -> NotesResult:
        return asyncio.run(self.tools(*switches).summarize(focus, **options))

    def edit(self, place: int, text: str) -> None:
        notes = self.desk.notes
        self.desk.notes = notes.with_message(place, replace(notes.chat.messages[place], text=text))

    @property
    def message(self) -> Message:
        return self.desk.notes.chat.messages[PLACE]

    @property
    def notepad(self) -> str:
        return self.desk.notes.controls.notepad


def tagging(*texts: str, **options: Any) -> World:
    return World(chat(*texts), ai_notepad_enabled=True, **options)


def extracting(*answers: Any, text: str = "He nods.", **options: Any) -> World:
    return World(chat(*THREE[:2], text), *answers, ai_notepad_enabled=True, ai_notepad_mode="extract", **options)


def scribing(*answers: Any, metadata: dict[str, Any] | None = None, **options: Any) -> World:
    return World(chat(*THREE, metadata=metadata), *answers, scribe_enabled=True, scribe_interval=3, **options)


def only(result: NotesResult) -> NotesRecord:
    assert len(result.records) == 1
    return result.records[0]


# Tag mode


def test_tagged_notes_leave_the_reply_and_go_to_the_notepad():
    world = tagging("Early.", "The lamp?", "He nods.\n<dle-notes>He lied.</dle-notes>", notepad="Old.")
    result = world.reply()
    assert result.notes is world.desk.notes
    assert (world.message.text, world.message.extra) == ("He nods.", {"deeplore_ai_notes": "He lied."})
    assert world.notepad == "Old.\nHe lied."
    assert result.metadata == {"deeplore_ai_notepad": "Old.\nHe lied."}
    assert read_controls(result.notes.chat.metadata).notepad == world.notepad
    record = only(result)
    assert (record.tool, record.outcome, record.notes) == ("AI notepad", NotesOutcome.STORED, "He lied.")
    assert record.removed == ("<dle-notes>He lied.</dle-notes>",)
    assert world.script.requests == []


def test_the_same_reply_a_second_time_adds_nothing():
    world = tagging("Early.", "The lamp?", "He nods.<dle-notes>He lied.</dle-notes>")
    world.reply()
    after = world.desk.notes
    assert world.reply().records == ()
    assert world.desk.notes is after


def test_a_continued_reply_keeps_its_first_notes():
    world = tagging("Early.", "The lamp?", "He nods.<dle-notes>a</dle-notes>")
    world.reply()
    world.edit(PLACE, "He nods. He goes.<dle-notes>b</dle-notes>")
    world.reply()
    assert world.notepad == "a\nb"
    assert world.message.extra["deeplore_ai_notes"] == "a\nb"


def test_a_reply_without_notes_changes_nothing():
    world = tagging(*THREE)
    assert world.reply().records == ()
    assert world.desk.notes is world.before


def test_an_unclosed_block_is_a_visible_record():
    world = tagging("Early.", "The lamp?", "He nods.<dle-notes>He lied.")
    record = only(world.reply())
    assert (record.outcome, world.desk.notes) == (NotesOutcome.NOTHING, world.before)
    assert "never closed with </dle-notes>" in record.text


def test_an_unclosed_block_behind_notes_is_told_too():
    world = tagging("Early.", "The lamp?", "<dle-notes>a</dle-notes>He nods.<dle-notes>b")
    record = only(world.reply())
    assert (record.outcome, record.notes, world.message.text) == (NotesOutcome.STORED, "a", "He nods.<dle-notes>b")
    assert "never closed" in record.text


def test_an_empty_block_goes_and_the_notepad_stays():
    world = tagging("Early.", "The lamp?", "He nods.<dle-notes></dle-notes>", notepad="Old.")
    result = world.reply()
    assert (world.message.text, world.notepad, result.metadata) == ("He nods.", "Old.", {})


def test_a_full_notepad_says_that_it_dropped_its_oldest():
    world = tagging("Early.", "The lamp?", "x<dle-notes>new</dle-notes>", notepad="old\n" + "x" * 65_530)
    record = only(world.reply())
    assert world.notepad == "x" * 65_530 + "\nnew"
    assert "oldest lines were dropped" in record.text


@pytest.mark.parametrize(("rules", "expected"), [("2.6", "pinned\nnew"), ("2.0.2", "pinned\nold\nnew")])
def test_the_newer_rules_keep_so_many_lines(rules: str, expected: str):
    world = World(
        chat("Early.", "The lamp?", "x<dle-notes>new</dle-notes>", metadata={"deeplore_ai_notepad_pins": ["pinned"]}),
        notepad="pinned\nold", ai_notepad_enabled=True, ai_notepad_max_entries=2, rules=rules,
    )  # fmt: skip
    record = only(world.reply())
    assert world.notepad == expected
    assert ("keeps 2 lines" in record.text) == (rules == "2.6")


def test_switched_off_the_tags_stay():
    world = World(chat("Early.", "The lamp?", "<dle-notes>a</dle-notes>"))
    assert world.reply().records == ()
    assert world.desk.notes is world.before


@pytest.mark.parametrize("place", [1, 3, -1])
def test_only_replies_have_notes(place: int):
    with pytest.raises(ValueError, match="no reply #"):
        asyncio.run(tagging(*THREE).tools().after_reply(place))


# Swipes


def swiped() -> World:
    world = tagging("Early.", "The lamp?", "Yes.<dle-notes>a</dle-notes>", notepad="Old.")
    message = replace(world.message, swipes=(world.message.text,), swipe_id=0)
    world.desk.notes = world.desk.notes.with_message(PLACE, message)
    world.reply()
    return world


def test_a_new_swipe_replaces_the_notes_of_the_old_one():
    world = swiped()
    message = replace(world.message, swipes=(*world.message.swipes, "No.<dle-notes>b</dle-notes>"))
    world.desk.notes = world.desk.notes.with_message(PLACE, message).turned(PLACE, 1)
    assert world.notepad == "Old."
    world.reply()
    assert (world.notepad, world.message.text) == ("Old.\nb", "No.")
    back = world.desk.notes.turned(PLACE, 0)
    assert (back.controls.notepad, back.chat.messages[PLACE].text) == ("Old.\na", "Yes.")
    assert back.turned(PLACE, 1).controls.notepad == "Old.\nb"


def test_what_the_person_writes_is_in_controls_and_metadata():
    notes = tagging(*THREE).desk.notes.with_notepad("Its.")
    assert notes.controls.notepad == "Its."
    assert notes.chat.metadata == {"deeplore_ai_notepad": "Its."}
    assert notes.with_notepad("").chat.metadata["deeplore_ai_notepad"] == ""


# Extract mode


def test_extracted_notes_and_the_visible_asides():
    world = extracting(ChatReply("He lied.\n", source="m"), text="He nods. [Note to self: lie]", notepad="Old.")
    result = world.reply()
    request = world.script.requests[0]
    assert request.user == "## Notes so far\nOld.\n\n## Latest reply\nHe nods. [Note to self: lie]"
    assert (world.message.text, world.notepad) == ("He nods.", "Old.\nHe lied.")
    record = only(result)
    assert (record.outcome, record.removed) == (NotesOutcome.STORED, ("[Note to self: lie]",))
    assert record.call is not None
    assert (record.call.kind, record.call.reply, record.call.source) == ("notepad", "He lied.\n", "m")


def test_asked_twice_the_second_answer_stands():
    world = extracting(ChatReply("a"), ChatReply("b"), notepad="Old.")
    world.reply()
    world.reply()
    assert world.notepad == "Old.\nb"
    assert "Old.\n\n## Latest" in world.script.requests[1].user  # the first answer is not told as known


def test_asked_twice_at_once_the_notes_are_there_once():
    world = extracting(ChatReply("a"), ChatReply("b"))

    async def both() -> None:
        tools = world.tools()
        await asyncio.gather(tools.after_reply(PLACE), tools.after_reply(PLACE))

    asyncio.run(both())
    assert world.notepad == "b"


def test_nothing_to_note():
    world = extracting(ChatReply("NOTHING_TO_NOTE"))
    assert only(world.reply()).outcome is NotesOutcome.NOTHING
    assert world.desk.notes is world.before


def test_nothing_to_note_still_takes_the_asides_out():
    world = extracting(ChatReply("NOTHING_TO_NOTE"), text="He nods. (OOC: brb)")
    record = only(world.reply())
    assert (world.message.text, record.removed, record.metadata) == ("He nods.", ("(OOC: brb)",), {})


def test_one_user_message_where_the_model_takes_no_system_message():
    world = extracting(ChatReply("a"), ai_force_user_role=True)
    record = only(world.reply())
    sent = world.script.requests[0]
    assert sent.system == ""
    assert "## Latest reply" in sent.user
    assert record.call is not None
    assert record.call.system in sent.user


def test_extraction_passes_breaker_and_throttle_and_leaves_them_alone():
    ai = AiState(failures=2, last_failure_ms=START_MS, last_success_ms=START_MS)
    world = extracting(LlmError(ErrorKind.SERVER, status=500), ChatReply("a"), ai=ai)
    assert only(world.reply()).outcome is NotesOutcome.FAILED
    assert only(world.reply()).outcome is NotesOutcome.STORED
    assert world.desk.notes.ai == ai


ERRORS = [
    LlmError(ErrorKind.TIMED_OUT),
    LlmError(ErrorKind.CONNECTION, "refused"),
    LlmError(ErrorKind.NO_RECORDED_ANSWER),
    LlmError(ErrorKind.NOT_SUPPORTED),
    failed("no", 401),
    failed("slow down", 429),
    failed("oops", 500),
]


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: error.kind.value)
def test_a_failed_extraction_is_told_and_changes_nothing(error: LlmError):
    world = extracting(error, text="He nods. [Meta: x]", notepad="Old.")
    record = only(world.reply())
    assert (record.outcome, record.text) == (NotesOutcome.FAILED, error.text)
    assert record.call is not None
    assert record.call.error
    assert world.desk.notes is world.before


def test_an_empty_answer_is_a_failure():
    world = extracting(ChatReply(" \n", finish="length"), text="He nods. [Meta: x]")
    record = only(world.reply())
    assert record.outcome is NotesOutcome.FAILED
    assert "Raise the limit of the reply" in record.text
    assert world.desk.notes is world.before


def test_an_answer_cut_off_is_stored_and_told():
    world = extracting(ChatReply("He lied. She", finish="length", notes=("Tried twice.",)))
    record = only(world.reply())
    assert world.notepad == "He lied. She"
    assert "reply limit" in record.text
    assert record.text.endswith("Tried twice.")


def test_notes_for_another_text_are_dropped():
    world = extracting()

    def edited() -> ChatReply:
        world.edit(PLACE, "He shakes his head.")
        return ChatReply("He nodded.")

    world.script.answers = [edited]
    assert only(world.reply()).outcome is NotesOutcome.DROPPED
    assert (world.message.text, world.notepad) == ("He shakes his head.", "")


def test_notes_for_another_swipe_are_dropped():
    world = extracting()
    message = replace(world.message, swipes=("He nods.", "He nods."), swipe_id=0)
    world.desk.notes = world.desk.notes.with_message(PLACE, message)

    def turn() -> ChatReply:
        world.desk.notes = world.desk.notes.turned(PLACE, 1)
        return ChatReply("a")

    world.script.answers = [turn]
    assert only(world.reply()).outcome is NotesOutcome.DROPPED
    assert world.notepad == ""


@pytest.mark.parametrize("other", [ChatNotes("b.jsonl", chat(*THREE)), ChatNotes("a.jsonl", Chat())])
def test_notes_for_another_chat_are_dropped(other: ChatNotes):
    world = extracting(scribe_enabled=True, scribe_interval=1)

    def switch() -> ChatReply:
        world.desk.notes = other
        return ChatReply("a")

    world.script.answers = [switch]
    result = world.reply()
    assert result.records[0].outcome is NotesOutcome.DROPPED
    assert world.desk.notes is other
    assert len(world.script.requests) == 1  # and no session note about the other chat


def test_what_the_person_changes_meanwhile_stays():
    world = extracting(notepad="Old.")

    def write() -> ChatReply:
        edited = world.desk.notes.with_notepad("Edited.")
        world.desk.notes = replace(edited, controls=replace(edited.controls, notebook="Mine."))
        return ChatReply("a")

    world.script.answers = [write]
    world.reply()
    assert (world.notepad, world.desk.notes.controls.notebook) == ("Edited.\na", "Mine.")


# The session scribe


def test_a_due_note_goes_to_controls_and_metadata():
    world = scribing(ChatReply(" They met. \n"), summary="Before.")
    result = world.reply()
    request = world.script.requests[0]
    assert request.user == (
        "## Previous session note\nBefore.\n\n## Recent conversation\n"
        "Ottoline (character): Early.\nWren (user): The lamp?\nOttoline (character): He nods."
    )
    assert world.desk.notes.controls.scribe_summary == "They met."
    assert result.metadata == {"deeplore_lastScribeSummary": "They met.", "deeplore_lastScribeChatLength": 3}
    assert read_controls(result.notes.chat.metadata).scribe_summary == "They met."
    record = only(result)
    assert (record.tool, record.outcome, record.path) == ("session scribe", NotesOutcome.STORED, None)
    assert record.note is not None
    assert record.note.filename == "Ottoline - 2026-03-01 12-00-00.md"
    assert not world.tools().is_due


@pytest.mark.parametrize(
    ("metadata", "calls"),
    [({}, 1), ({"deeplore_lastScribeChatLength": 0}, 1), ({"deeplore_lastScribeChatLength": 1}, 0)],
)
def test_a_note_is_written_when_it_is_due_only(metadata: dict[str, Any], calls: int):
    world = scribing(ChatReply("They met."), metadata=metadata)
    world.reply()
    assert len(world.script.requests) == calls


def test_the_window_counts_hidden_messages_and_leaves_them_out():
    texts = ["a", "b", "c", "d", "e", "f"]
    whole = chat(*texts)
    hidden = replace(whole.messages[4], is_system=True)
    whole = replace(whole, messages=(*whole.messages[:4], hidden, whole.messages[5]))
    world = World(whole, ChatReply("x"), scribe_scan_depth=5)
    world.summarize()
    sent = world.script.requests[0].user
    assert [line[-1] for line in sent.splitlines()[1:]] == ["b", "c", "d", "f"]


def test_by_hand_it_runs_while_switched_off_and_with_a_focus():
    world = World(chat(*THREE), ChatReply("They met."))
    assert not world.tools().is_due
    only(world.summarize("the lamp"))
    assert world.script.requests[0].user.endswith("## Additional focus\nthe lamp")
    assert world.desk.notes.controls.scribe_summary == "They met."


def test_without_conversation_nobody_is_asked():
    world = World(Chat())
    assert only(world.summarize()).outcome is NotesOutcome.NOTHING
    assert world.script.requests == []


def test_both_tools_after_one_reply():
    world = World(
        chat("Early.", "The lamp?", "He nods.<dle-notes>a</dle-notes>"),
        ChatReply("They met."),
        ai_notepad_enabled=True,
        scribe_enabled=True,
        scribe_interval=3,
    )
    result = world.reply()
    assert [record.tool for record in result.records] == ["AI notepad", "session scribe"]
    assert "<dle-notes>" not in world.script.requests[0].user
    assert set(result.metadata) == {
        "deeplore_ai_notepad",
        "deeplore_lastScribeSummary",
        "deeplore_lastScribeChatLength",
    }


def test_the_length_is_that_of_the_chat_that_was_read():
    world = scribing()

    def go_on() -> ChatReply:
        notes = world.desk.notes
        more = replace(notes.chat, messages=(*notes.chat.messages, Message("Wren", "And?", is_user=True)))
        world.desk.notes = replace(notes, chat=more)
        return ChatReply("They met.")

    world.script.answers = [go_on]
    world.reply()
    assert world.desk.notes.chat.metadata["deeplore_lastScribeChatLength"] == 3
    assert len(world.desk.notes.chat.messages) == 4


def test_a_note_about_another_chat_is_dropped():
    world = scribing()
    other = ChatNotes("b.jsonl", chat("Hi."), ai=AiState(failures=1))

    def switch() -> ChatReply:
        world.desk.notes = other
        return ChatReply("They met.")

    world.script.answers = [switch]
    assert only(world.reply()).outcome is NotesOutcome.DROPPED
    assert world.desk.notes is other


def test_one_scribe_at_a_time():
    world = scribing(ChatReply("They met."))

    async def twice() -> list[NotesResult]:
        tools = world.tools()
        return list(await asyncio.gather(tools.after_reply(PLACE), tools.summarize(), tools.after_reply(PLACE)))

    first, second, third = asyncio.run(twice())
    assert only(first).outcome is NotesOutcome.STORED
    assert only(second).outcome is NotesOutcome.PAUSED
    assert third.records == ()
    assert len(world.script.requests) == 1


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: error.kind.value)
def test_a_failed_note_is_told_and_stays_due(error: LlmError):
    world = scribing(error)
    record = only(world.reply())
    assert (record.outcome, record.text) == (NotesOutcome.FAILED, error.text)
    assert replace(world.desk.notes, ai=AiState()) == world.before
    assert world.tools().is_due


def test_an_empty_note_is_a_failure():
    world = scribing(ChatReply(""))
    assert only(world.reply()).outcome is NotesOutcome.FAILED
    assert world.tools().is_due


@pytest.mark.parametrize(
    ("noted", "since", "due"), [(None, 3, True), (0, 3, True), (1, 2, False), (3, 0, False), (9, 0, False)]
)
def test_a_system_tells_the_last_note_and_whether_the_next_is_due(noted: int | None, since: int, due: bool):
    settings = DeepLoreSettings(scribe_enabled=True, scribe_interval=3, scribe_folder="Log")
    metadata = {} if noted is None else {"deeplore_lastScribeChatLength": noted}
    told = chat(*THREE, metadata=metadata)
    system = system_of(Scene(VaultIndex(()), reading=settings))
    last = system.last_note(told, ChatControls(scribe_summary="He left."))
    assert last == LastNote("He left.", since, due, "Log")


def test_a_system_writes_a_note(tmp_path: Path):
    answers = Script([ChatReply("They met."), failed("no", 500)])
    system = system_of(Scene(VaultIndex(()), answers=answers))
    note = asyncio.run(system.write_note(chat("Hello."), ChatControls(), vault=tmp_path))
    assert note is not None
    assert (note.text, note.fine) == ("They met.", True)
    (path,) = (tmp_path / DeepLoreSettings().scribe_folder).glob("*.md")
    assert path.name in note.said
    assert note.file == path
    assert note.kept == {"deeplore_lastScribeSummary": "They met.", "deeplore_lastScribeChatLength": 1}
    broken = asyncio.run(system.write_note(chat("Hello."), ChatControls()))
    assert broken is not None
    assert (broken.text, broken.fine) == ("", False)


def test_a_system_without_a_scribe_writes_none():
    system = system_of(Scene(VaultIndex(())), kind_of("hybrid"))
    assert asyncio.run(system.write_note(chat("Hello."), ChatControls())) is None


# Throttle and breaker (rules: deeplore-tools 1.3, 1.8)


@pytest.mark.parametrize(("gap_ms", "outcome"), [(499, NotesOutcome.PAUSED), (500, NotesOutcome.STORED)])
def test_the_scribe_keeps_half_a_second_from_the_last_success(gap_ms: int, outcome: NotesOutcome):
    world = scribing(ChatReply("They met."), ai=AiState(last_success_ms=START_MS - gap_ms))
    assert only(world.reply()).outcome is outcome


def test_a_success_closes_the_breaker_and_starts_the_throttle():
    world = scribing(ChatReply("They met."), ai=AiState(failures=1, last_failure_ms=START_MS - 1000))
    world.reply()
    assert world.desk.notes.ai == AiState(last_success_ms=START_MS)


@pytest.mark.parametrize(
    ("error", "failures"),
    [
        (failed("oops", 500), 1),
        (LlmError(ErrorKind.CONNECTION, "refused"), 1),
        (failed("no", 401), 1),  # as DeepLore: for the scribe these two count
        (failed("slow down", 429), 1),
        (LlmError(ErrorKind.TIMED_OUT), 0),
        (LlmError(ErrorKind.ABORTED), 0),
        (LlmError(ErrorKind.NO_RECORDED_ANSWER), 0),
    ],
    ids=lambda value: value.kind.value if isinstance(value, LlmError) else str(value),
)
def test_what_counts_against_the_breaker(error: LlmError, failures: int):
    world = scribing(error)
    world.reply()
    assert world.desk.notes.ai.failures == failures


def test_an_open_breaker_asks_nobody_until_half_a_minute_has_passed():
    world = scribing(ChatReply("They met."), ai=AiState(failures=2, last_failure_ms=START_MS))
    assert only(world.reply()).outcome is NotesOutcome.PAUSED
    assert world.script.requests == []
    world.clock.wait(30.001)
    assert only(world.reply()).outcome is NotesOutcome.STORED
    assert world.desk.notes.ai.failures == 0


@pytest.mark.parametrize(("switches", "held"), [((), True), (("probe_leak",), False)])
def test_a_probe_that_times_out_is_held_as_in_deeplore_or_given_back(switches: tuple[str, ...], held: bool):
    world = scribing(LlmError(ErrorKind.TIMED_OUT), ai=AiState(failures=2, last_failure_ms=START_MS - 31_000))
    world.summarize("", *switches)
    assert (world.desk.notes.ai.probe_ms is not None) is held


# Files


def test_a_note_is_saved_into_the_vault_when_asked(tmp_path: Path):
    world = scribing(ChatReply("They met."))
    record = only(world.reply(vault=tmp_path))
    assert record.path == tmp_path / "Sessions" / "Ottoline - 2026-03-01 12-00-00.md"
    assert record.path.read_text("utf-8").endswith("\n\nThey met.\n")
    assert "Ottoline - 2026-03-01 12-00-00.md" in record.text


def test_without_a_vault_nothing_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    scribing(ChatReply("They met.")).reply()
    assert list(tmp_path.iterdir()) == []


def test_a_note_that_cannot_be_saved_stays_in_the_chat_and_in_the_record(tmp_path: Path):
    (tmp_path / "Sessions").write_text("in the way", "utf-8")
    world = scribing(ChatReply("They met."))
    record = only(world.reply(vault=tmp_path))
    assert (record.outcome, record.path) == (NotesOutcome.STORED_WITHOUT_FILE, None)
    assert "cannot be made" in record.text
    assert record.note is not None
    assert record.note.text == world.desk.notes.controls.scribe_summary == "They met."


# Stopping


@pytest.mark.parametrize("build", [extracting, scribing])
@pytest.mark.parametrize("with_token", [False, True])
def test_a_cancelled_task_leaves_everything_as_it_was(build: Callable[..., World], with_token: bool):
    world = build(None)

    async def cancelled() -> None:
        task = asyncio.ensure_future(world.tools().after_reply(PLACE, cancel=CancelToken() if with_token else None))
        await world.script.asked.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancelled())
    assert world.script.stopped == 1
    assert world.desk.notes == world.before
    world.script.answers = [ChatReply("Later.")]
    assert only(world.reply()).outcome is NotesOutcome.STORED  # it is not taken for still running


@pytest.mark.parametrize("build", [extracting, scribing])
def test_a_cancel_token_stops_the_call_and_leaves_a_record(build: Callable[..., World]):
    world = build(None)
    token = CancelToken()

    async def stopped() -> NotesResult:
        task = asyncio.ensure_future(world.tools().after_reply(PLACE, cancel=token))
        await world.script.asked.wait()
        token.cancel()
        return await task

    record = only(asyncio.run(stopped()))
    assert (record.outcome, world.script.stopped) == (NotesOutcome.CANCELLED, 1)
    assert world.desk.notes == world.before


def test_a_token_that_is_set_already_asks_nobody():
    world = scribing(ChatReply("They met."))
    token = CancelToken()
    token.cancel()
    assert only(world.reply(cancel=token)).outcome is NotesOutcome.CANCELLED
    assert world.script.requests == []


def test_an_unused_token_changes_nothing():
    world = scribing(ChatReply("They met."))
    assert only(world.reply(cancel=CancelToken())).outcome is NotesOutcome.STORED


def test_whoever_declines_to_answer_cancels():
    world = scribing(LlmError(ErrorKind.ABORTED, "nobody typed an answer"))
    assert only(world.reply()).outcome is NotesOutcome.CANCELLED


def test_notes_taken_before_the_scribe_was_cancelled_stay():
    world = scribing(None, ai_notepad_enabled=True)
    world.edit(PLACE, "He nods.<dle-notes>a</dle-notes>")

    async def cancelled() -> None:
        task = asyncio.ensure_future(world.tools().after_reply(PLACE))
        await world.script.asked.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancelled())
    assert (world.notepad, world.desk.notes.controls.scribe_summary) == ("a", "")


def test_a_broken_answer_source_is_not_hushed_up():
    def broken() -> ChatReply:
        raise RuntimeError("a fault of the source")

    world = scribing(broken)
    with pytest.raises(RuntimeError, match="fault"):
        world.reply()
    assert not world.tools()._scribing
