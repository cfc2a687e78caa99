"""Files attached to messages (rules: sillytavern 5.9)."""

from __future__ import annotations

from pathlib import Path

import pytest

from lorestudio.domain.chat import Message
from lorestudio.exchange.chats.attachments import attached_files, with_attachments


def message(**extra: object) -> Message:
    return Message("Wren", "Look.", is_user=True, extra=extra)


@pytest.fixture
def chat(tmp_path: Path) -> Path:
    """A chat where SillyTavern keeps one: three folders below that of the user."""
    files = tmp_path / "user" / "files"
    files.mkdir(parents=True)
    (files / "1_map.txt").write_text("Here be eels.", "utf-8")
    (tmp_path / "secret.txt").write_text("No.", "utf-8")
    path = tmp_path / "chats" / "Ada" / "chat.jsonl"
    path.parent.mkdir(parents=True)
    return path


def test_texts_come_from_the_users_folder_above_the_chat(chat: Path) -> None:
    found = attached_files([message(file={"name": "map.txt", "url": "/user/files/1_map.txt"})], chat)
    assert found.texts == {"/user/files/1_map.txt": "Here be eels."}
    assert found.problems == ()


def test_a_group_chat_lies_one_folder_higher(chat: Path) -> None:
    group = chat.parents[2] / "group chats" / "1.jsonl"
    found = attached_files([message(files=[{"url": "/user/files/1_map.txt"}])], group)
    assert list(found.texts.values()) == ["Here be eels."]


@pytest.mark.parametrize(
    "address", ["/user/files/gone.txt", "/user/files/../../secret.txt", "/secret.txt", "https://example.org/x", ""]
)
def test_what_is_not_there_is_named_and_nothing_else_is_read(chat: Path, address: str) -> None:
    found = attached_files([message(), message(file={"name": "x.txt", "url": address})], chat)
    assert found.texts == {}
    assert len(found.problems) == 1
    assert found.problems[0].endswith("not searched: #1 “x.txt”.")


def test_a_text_of_its_own_needs_no_file(chat: Path) -> None:
    held = message(files=[{"name": "a", "text": "One."}, {"name": "b", "text": "Two."}])
    assert attached_files([held], chat).problems == ()
    assert with_attachments(held, "Look.", {}) == ("One.\n\nTwo.\n\nLook.", ("file “a”", "file “b”"))


def test_titles_of_pictures_come_behind() -> None:
    titled = message(
        append_title=True, title="A lamp", media=[{"title": "A moth", "append_title": True}, {"title": "no"}]
    )
    assert with_attachments(titled, "Look.", {}) == ("Look.\n\nA lamp\n\nA moth", ("title of a picture",))


def test_odd_records_change_nothing() -> None:
    for extra in ({"files": "x"}, {"file": 3}, {"files": [None, 1]}, {"media": {"title": "x"}}, {"title": "x"}):
        assert with_attachments(message(**extra), "Look.", {}) == ("Look.", ())
