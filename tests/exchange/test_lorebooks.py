"""Lorebook files: what they are told by, their names and roles, and what is said of those that cannot be used."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lorestudio.exchange.lorebooks.reading import BookRole, load_lorebook
from lorestudio.exchange.problems import InputError
from tests.exchange.test_character_card import V2, picture

NATIVE = {"entries": {"0": {"uid": 0, "key": ["a"], "content": "x"}}}
INSIDE = {"name": "Quay", "entries": [{"keys": ["kite"], "content": "Post.", "enabled": True, "insertion_order": 1}]}
CARD = {**V2, "data": {**V2["data"], "character_book": INSIDE}}


def write(path: Path, document: object) -> Path:
    path.write_bytes(document if isinstance(document, bytes) else json.dumps(document).encode())
    return path


def test_a_world_info_file_is_global_and_named_after_its_file(tmp_path: Path) -> None:
    book = load_lorebook(write(tmp_path / "Eldoria.json", NATIVE))
    assert (book.name, book.role, len(book.entries)) == ("Eldoria", BookRole.GLOBAL, 1)
    assert load_lorebook(tmp_path / "Eldoria.json", BookRole.CHAT).role is BookRole.CHAT


def test_the_book_in_a_card_is_the_characters(tmp_path: Path) -> None:
    files = (write(tmp_path / "a.png", picture(chara=CARD)), write(tmp_path / "a.json", CARD))
    for book in map(load_lorebook, files):
        assert (book.name, book.role) == ("Quay", BookRole.CHARACTER)
        assert book.entries[0].keys == ("kite",)
    unnamed = {**V2, "data": {**V2["data"], "character_book": {"entries": []}}}
    assert load_lorebook(write(tmp_path / "b.json", unnamed)).name == "Ottoline's Lorebook"


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("none.json", None, "no such file"),
        ("word.json", b"word", "line 1: this is no valid JSON"),
        ("bytes.json", b"\xff\xfe\x00", "neither a PNG picture nor JSON"),
        ("other.json", {"a": 1}, "entries: a lorebook"),
        ("entry.json", {"entries": {"3": 1}}, r"entries\.3"),
        ("card.json", V2, "has no lorebook inside"),
        ("card.png", picture(chara=V2), "has no lorebook inside"),
        ("book.json", {**V2, "data": {**V2["data"], "character_book": {"name": "Q"}}}, "character_book"),
    ],
)
def test_what_cannot_be_used_is_said(tmp_path: Path, name: str, content: object, words: str) -> None:
    path = tmp_path / name
    if content is not None:
        write(path, content)
    with pytest.raises(InputError, match=words) as caught:
        load_lorebook(path)
    assert name in str(caught.value)
