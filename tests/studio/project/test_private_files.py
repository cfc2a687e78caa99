"""What may hold keys, or the words of chats, is for its owner's eyes only, also where it was not before."""

from __future__ import annotations

import os
import stat
from datetime import UTC, datetime
from pathlib import Path

import pytest

from lorestudio.exchange.chats.document import keep_version
from lorestudio.exchange.json_file import keep_copy
from lorestudio.llm.messages import ChatReply, ChatRequest
from lorestudio.llm.profiles import Profile, save_profiles
from lorestudio.llm.recorded_answers import RecordedAnswers
from lorestudio.settings.files import write_atomically
from lorestudio.studio.attach.captures import Attachment, keep_attachment
from lorestudio.studio.notes.changes.snapshots import Snapshots
from lorestudio.studio.notes.recovery import Recovery
from lorestudio.studio.notes.trash import Trash
from lorestudio.systems.facts.store import Database

pytestmark = pytest.mark.skipif(os.name != "posix", reason="permissions are those of POSIX")


def private(path: Path) -> bool:
    return not stat.S_IMODE(path.stat().st_mode) & 0o077


def test_profiles_and_the_token_of_live_capture(tmp_path: Path) -> None:
    folder = tmp_path / "new"
    save_profiles(folder / "profiles.json", [Profile("P", url="http://localhost:1")])
    keep_attachment(folder, Attachment())
    assert private(folder)
    assert private(folder / "profiles.json")
    assert private(folder / "attach.json")


def test_a_file_that_everybody_could_read_becomes_private(tmp_path: Path) -> None:
    path = tmp_path / "profiles.json"
    path.write_text("{}")
    path.chmod(0o644)
    write_atomically(path, b"{}", private=True)
    assert private(path)


def test_recordings_and_memories(tmp_path: Path) -> None:
    recorded = tmp_path / "Chat.answers.jsonl"
    RecordedAnswers(recorded).record(ChatRequest("ai_search", "s", "u"), ChatReply("r"))
    assert private(recorded)
    memories = tmp_path / "memories" / "facts.sqlite"
    database = Database(memories)
    assert all(map(private, memories.parent.iterdir()))
    database.close()
    assert private(memories.parent)


def test_what_is_kept_of_a_note_a_chat_and_a_settings_file(tmp_path: Path) -> None:
    note, kept, now = tmp_path / "Lamp.md", tmp_path / "kept", datetime.now(UTC)
    Snapshots(kept).add({note: b"text"}, "saved")
    trashed = Trash(kept / "trash").put(tmp_path, note, b"text")
    assert private(next((kept / "blobs").iterdir()))
    assert private(trashed.file.parent)
    with Recovery(kept / "recovery") as recovery:
        recovery.keep(note, "text", None)
        assert all(map(private, (kept / "recovery").glob("*/*")))
    version = keep_version(b"{}", tmp_path / "Chat.jsonl", kept / "chats", now)
    assert version is not None
    assert private(version)
    assert private(keep_copy(tmp_path / "settings.json", b'{"apiKey": "k"}'))
