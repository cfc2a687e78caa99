from __future__ import annotations

import json
from pathlib import Path

import pytest

from lorestudio.exchange.chats import loading
from lorestudio.exchange.chats.loading import load_chat
from lorestudio.exchange.problems import InputError

CHAT = '{"user_name": "Wren", "character_name": "Ottoline", "chat_metadata": {}}\n' + json.dumps(
    {"name": "Wren", "is_user": True, "mes": "Café."}, ensure_ascii=False
)


def written(tmp_path: Path, name: str, data: str | bytes) -> Path:
    path = tmp_path / name
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return path


@pytest.mark.parametrize("name", ["chat.jsonl", "chat.json", "chat"])
def test_json_lines_are_read_whatever_the_ending(tmp_path: Path, name: str) -> None:
    loaded = load_chat(written(tmp_path, name, "\ufeff" + CHAT))
    assert [message.text for message in loaded.chat.messages] == ["Café."]


@pytest.mark.parametrize("name", ["chat.txt", "chat.md", "chat"])
def test_plain_text_is_read_whatever_the_ending(tmp_path: Path, name: str) -> None:
    loaded = load_chat(written(tmp_path, name, "Wren: Hello.\r\nOttoline: You are early.\r\n"))
    assert [(message.name, message.text) for message in loaded.chat.messages] == [
        ("Wren", "Hello."),
        ("Ottoline", "You are early."),
    ]


def test_text_that_begins_with_a_brace_stays_text_where_the_ending_says_so(tmp_path: Path) -> None:
    loaded = load_chat(written(tmp_path, "chat.txt", "{smiles}\nWren: Hello."))
    assert loaded.chat.messages[0].text == "{smiles}"


def test_a_chat_file_without_any_json_is_not_taken_for_plain_text(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"chat\.jsonl: no line is a message or a header\. Line 1 is no JSON"):
        load_chat(written(tmp_path, "chat.jsonl", "Wren: Hello."))


@pytest.mark.parametrize("name", ["chat.jsonl", "chat.txt"])
def test_an_empty_file_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match=name):
        load_chat(written(tmp_path, name, b""))


def test_a_binary_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"picture\.jsonl: this is no text"):
        load_chat(written(tmp_path, "picture.jsonl", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"))


def test_zeros_that_a_power_cut_left_spoil_their_own_line_only(tmp_path: Path) -> None:
    path = written(tmp_path, "chat.jsonl", b'{"name": "Wren", "mes": "Hello."}\n' + bytes(512))
    loaded = load_chat(path)
    assert [message.text for message in loaded.chat.messages] == ["Hello."]
    assert "Line 2 is no JSON" in loaded.problems[0]
    assert loaded.document.text_for(loaded.chat).encode() == path.read_bytes(), "they stay in the file"
    for encoding in ("utf-16-le", "utf-16"):
        with pytest.raises(InputError, match="this is no text"):
            load_chat(written(tmp_path, "wide.jsonl", '{"name": "Wren", "mes": "Hello."}\n'.encode(encoding)))


def test_a_file_of_endless_length_is_refused_before_it_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = written(tmp_path, "chat.jsonl", CHAT)
    size = path.stat().st_size
    monkeypatch.setattr(loading, "AT_MOST", size)
    assert load_chat(path).chat.messages
    monkeypatch.setattr(loading, "AT_MOST", size - 1)
    with pytest.raises(InputError, match="the chat cannot be read: it is larger than"):
        load_chat(path)


@pytest.mark.parametrize(
    ("name", "line"), [("chat.jsonl", b'{"mes":""}\n'), ("chat.txt", b"W: a\r\n"), ("old.txt", b"\r")]
)
def test_a_file_of_millions_of_short_lines_is_refused_before_they_are_read(
    tmp_path: Path, name: str, line: bytes
) -> None:
    with pytest.raises(InputError, match=rf"{name}: the chat cannot be read: it has more than 200,000 lines"):
        load_chat(written(tmp_path, name, line * 200_001))


def test_text_in_another_encoding_is_refused_with_its_line(tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        load_chat(written(tmp_path, "chat.txt", "Wren: one\nWren: Café\n".encode("latin-1")))
    assert caught.value.line == 2
    assert "byte 19 of the file is not UTF-8" in str(caught.value)


def test_files_that_are_not_there_and_folders_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"gone\.jsonl: the chat cannot be read: No such file"):
        load_chat(tmp_path / "gone.jsonl")
    with pytest.raises(InputError, match="the chat cannot be read"):
        load_chat(tmp_path)
