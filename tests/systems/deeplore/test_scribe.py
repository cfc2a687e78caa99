from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from ruamel.yaml import YAML

from lorestudio.domain.chat import Chat
from lorestudio.domain.entry import VaultIndex
from lorestudio.domain.records import replace
from lorestudio.domain.state import ChatControls
from lorestudio.exchange.chats.document import read_message
from lorestudio.exchange.chats.metadata import read_controls
from lorestudio.exchange.chats.notepad import with_notes
from lorestudio.llm.errors import ErrorKind, LlmError, failed
from lorestudio.llm.messages import ChatReply, ChatRequest
from lorestudio.settings.deeplore import DeepLoreSettings
from lorestudio.systems.base import LastNote, NotedReply, Scene, WrittenNote
from lorestudio.systems.deeplore.scribe import SUMMARY, SessionNote, is_due, last_length, stored, summary_request
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


PEOPLE = ("Ottoline", "Wren")
THREE = ("Early.", "The lamp?", "He nods.")
PLACE = 2


@dataclass
class Script:
    """Gives the next of its answers."""

    answers: list[ChatReply | LlmError]
    requests: list[ChatRequest] = field(default_factory=list)
    name: str = "script"
    label: str = "a script"

    async def answer(self, request: ChatRequest) -> ChatReply:
        self.requests.append(request)
        answer = self.answers.pop(0)
        if isinstance(answer, LlmError):
            raise answer
        return answer


def chat(*texts: str, metadata: dict[str, Any] | None = None) -> Chat:
    """Messages by turns: character, user, character, ..."""
    messages = [
        read_message({"name": PEOPLE[place % 2], "is_user": place % 2 == 1, "mes": text})
        for place, text in enumerate(texts)
    ]
    return Chat(tuple(messages), "Wren", "Ottoline", metadata or {})


class World:
    """A chat, its choices, and a system that asks a script."""

    def __init__(self, *answers: ChatReply | LlmError, controls: ChatControls | None = None, **settings: Any) -> None:
        self.script = Script(list(answers))
        self.controls = controls or ChatControls()
        self.system = system_of(
            Scene(VaultIndex(()), answers=self.script, reading=DeepLoreSettings(**settings)), kind_of("deeplore")
        )

    def taken(self, text: str = "He nods.", own: str = "") -> NotedReply | None:
        asked = chat(*THREE[:2], text)
        if own:
            asked = asked.with_message(PLACE, with_notes(asked.messages[PLACE], text, own))
        return asyncio.run(self.system.take_notes(asked, self.controls, PLACE))

    def written(self, about: Chat | None = None, focus: str = "", vault: Path | None = None) -> WrittenNote:
        asked = chat(*THREE) if about is None else about
        note = asyncio.run(self.system.write_note(asked, self.controls, focus, vault))
        assert note is not None
        return note


def extracting(*answers: ChatReply | LlmError, notepad: str = "", **settings: Any) -> World:
    controls = ChatControls(notepad=notepad)
    return World(*answers, controls=controls, ai_notepad_enabled=True, ai_notepad_mode="extract", **settings)


ERRORS = [
    LlmError(ErrorKind.TIMED_OUT),
    LlmError(ErrorKind.CONNECTION, "refused"),
    LlmError(ErrorKind.NO_RECORDED_ANSWER),
    failed("no", 401),
    failed("slow down", 429),
    failed("oops", 500),
]


# Extract mode


def test_extracted_notes_and_the_visible_asides():
    world = extracting(ChatReply("<think>Who lied?</think>\nHe lied.\n"), notepad="Old.")
    taken = world.taken("He nods. [Note to self: lie]")
    assert world.script.requests[0].user == "## Notes so far\nOld.\n\n## Latest reply\nHe nods. [Note to self: lie]"
    assert taken is not None
    assert (taken.notes, taken.fine, taken.said) == ("He lied.", True, "Took notes from the reply.")
    assert (taken.message.text, taken.message.extra) == ("He nods.", {"deeplore_ai_notes": "He lied."})


def test_asked_again_its_own_notes_are_not_told_as_known():
    world = extracting(ChatReply("b"), notepad="Old.\na")
    taken = world.taken(own="a")
    assert world.script.requests[0].user.startswith("## Notes so far\nOld.\n\n## Latest")
    assert taken is not None
    assert taken.message.extra["deeplore_ai_notes"] == "b"


def test_nothing_to_note_takes_the_asides_out_and_keeps_earlier_notes():
    taken = extracting(ChatReply("NOTHING_TO_NOTE")).taken("He nods. (OOC: brb)", own="a")
    assert taken is not None
    assert (taken.notes, taken.fine, taken.message.text) == ("", True, "He nods.")
    assert taken.message.extra["deeplore_ai_notes"] == "a"


@pytest.mark.parametrize("settings", [{}, {"ai_notepad_enabled": True}])
def test_otherwise_nobody_is_asked(settings: dict[str, Any]):
    world = World(**settings)
    assert world.taken() is None
    assert extracting().taken(" \n") is None
    assert world.script.requests == []


def test_one_user_message_where_the_model_takes_no_system_message():
    world = extracting(ChatReply("a"), ai_force_user_role=True)
    world.taken()
    sent = world.script.requests[0]
    assert sent.system == ""
    assert "## Latest reply" in sent.user


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: error.kind.value)
def test_a_failed_extraction_is_told_and_changes_nothing(error: LlmError):
    taken = extracting(error).taken("He nods. [Meta: x]")
    assert taken is not None
    assert (taken.notes, taken.said, taken.fine) == ("", error.text, False)
    assert taken.message.text == "He nods. [Meta: x]"


def test_an_empty_answer_is_a_failure():
    taken = extracting(ChatReply("<think>Who", finish="length")).taken("He nods. [Meta: x]")
    assert taken is not None
    assert (taken.message.text, taken.fine) == ("He nods. [Meta: x]", False)
    assert "Raise the limit of the reply" in taken.said


def test_an_answer_cut_off_is_told():
    taken = extracting(ChatReply("He lied. She", finish="length", notes=("Tried twice.",))).taken()
    assert taken is not None
    assert taken.notes == "He lied. She"
    assert "reply limit" in taken.said
    assert taken.said.endswith("Tried twice.")


# The session scribe


def test_a_note_tells_what_the_metadata_keeps():
    world = World(ChatReply("<think>Who met?</think> They met. \n"), controls=ChatControls(scribe_summary="Before."))
    note = world.written()
    assert world.script.requests[0].user == (
        "## Previous session note\nBefore.\n\n## Recent conversation\n"
        "Ottoline (character): Early.\nWren (user): The lamp?\nOttoline (character): He nods."
    )
    assert (note.text, note.fine, note.file) == ("They met.", True, None)
    assert note.kept == {"deeplore_lastScribeSummary": "They met.", "deeplore_lastScribeChatLength": 3}
    assert read_controls(note.kept).scribe_summary == "They met."


def test_the_window_counts_hidden_messages_and_leaves_them_out():
    whole = chat("a", "b", "c", "d", "e", "f")
    world = World(ChatReply("x"), scribe_scan_depth=5)
    world.written(whole.with_message(4, replace(whole.messages[4], is_system=True)))
    sent = world.script.requests[0].user
    assert [line[-1] for line in sent.splitlines()[1:]] == ["b", "c", "d", "f"]


def test_a_note_has_its_focus():
    world = World(ChatReply("They met."))
    world.written(focus="the lamp")
    assert world.script.requests[0].user.endswith("## Additional focus\nthe lamp")


def test_without_conversation_nobody_is_asked():
    world = World()
    note = world.written(Chat())
    assert (note.text, note.fine) == ("", True)
    assert world.script.requests == []


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: error.kind.value)
def test_a_failed_note_is_told(error: LlmError):
    note = World(error).written()
    assert (note.text, note.said, note.fine, note.kept) == ("", error.text, False, {})


def test_an_empty_note_is_a_failure():
    assert not World(ChatReply("")).written().fine


def test_whoever_declines_to_answer_stops_it():
    note = World(LlmError(ErrorKind.ABORTED, "nobody typed an answer")).written()
    assert (note.fine, note.said) == (False, "It was stopped before the answer came; nothing was changed.")


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


def test_a_system_without_a_scribe_writes_none():
    system = system_of(Scene(VaultIndex(())), kind_of("hybrid"))
    assert asyncio.run(system.write_note(chat("Hello."), ChatControls())) is None


# Files


def test_a_note_is_saved_into_the_vault_when_asked(tmp_path: Path):
    note = World(ChatReply("They met.")).written(vault=tmp_path)
    assert note.file is not None
    assert note.file.parent == tmp_path / DeepLoreSettings().scribe_folder
    assert note.file.read_text("utf-8").endswith("\n\nThey met.\n")
    assert note.file.name in note.said


def test_without_a_vault_nothing_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    World(ChatReply("They met.")).written()
    assert list(tmp_path.iterdir()) == []


def test_a_note_that_cannot_be_saved_is_there_all_the_same(tmp_path: Path):
    (tmp_path / "Sessions").write_text("in the way", "utf-8")
    note = World(ChatReply("They met.")).written(vault=tmp_path)
    assert (note.text, note.fine, note.file) == ("They met.", False, None)
    assert "cannot be made" in note.said
    assert note.kept["deeplore_lastScribeSummary"] == "They met."
