"""What a reply used of what was in its prompt, and the names that no note answers to."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lorestudio.domain.chat import Chat, Message
from lorestudio.domain.entry import Entry, VaultIndex
from lorestudio.studio.project.project import open_project
from lorestudio.studio.tuning.expectations import TurnOutcome
from lorestudio.studio.tuning.scoring import EntryUse, Gap, UseReader, gaps, scored
from lorestudio.systems.base import KeySearch

LAMP = Entry(0, "Lamp.md", "", "The Lamp", keys=("lantern",), content="Its wick is tarred hemp, braided by sailors.")
TIDE = Entry(1, "Tide.md", "", "Tide", content="Water rises twice daily in the harbour.", constant=True)
INDEX = VaultIndex((LAMP, TIDE))


def used(reply: str, before: str = "Go on.") -> bool:
    """Whether a reply uses the lamp."""
    chat = Chat((Message("A", "Hello."), Message("U", before, is_user=True), Message("A", reply)))
    outcome = TurnOutcome(2, 0, 0, ((0, 10), (1, 20)))
    (found,) = UseReader(INDEX, KeySearch()).used(chat, [outcome]).values()
    return 0 in found


@pytest.mark.parametrize(
    ("reply", "before", "expected"),
    [
        ("She lifts the lamp.", "Go on.", True),  # its name, without the article
        ("A LANTERN burns.", "Go on.", True),  # a key
        ("The hemp was braided long ago.", "Go on.", True),  # two rare words
        ("The hemp is old.", "Go on.", False),  # one is chance
        ("The hemp was braided long ago.", "Is hemp braided?", False),  # the person had said them
        ("Nothing of it.", "The lamp!", False),
    ],
)
def test_names_keys_and_rare_words_that_are_new_tell_use(reply: str, before: str, expected: bool) -> None:
    assert used(reply, before) is expected


def test_what_is_never_used_is_dead_weight_with_its_tokens() -> None:
    told = ["The lamp.", "Nothing.", "Lantern light.", "Nothing."]
    chat = Chat((Message("U", "Go.", is_user=True), *(Message("A", text) for text in told)))
    # The last one is the reply to come, of which nobody knows what it uses.
    outcomes = [TurnOutcome(place, 0, place, ((0, 10), (1, 20))) for place in range(1, 6)]
    lamp, tide = EntryUse(0, "The Lamp", 4, 2, 40, 20), EntryUse(1, "Tide", 4, 0, 80, 80, constant=True)
    assert UseReader(INDEX, KeySearch()).uses(chat, outcomes) == (tide, lamp)
    assert (tide.dead, lamp.dead) == (True, False)


def said(*texts: str) -> tuple[Gap, ...]:
    return gaps(Chat(tuple(Message("Vale", text) for text in texts)), INDEX, KeySearch())


def test_a_name_that_recurs_without_a_note_is_a_gap() -> None:
    found = said("I met Old Marrow.", "It was Old Marrow again.", "Marrow? No.", "Then Old Marrow's boat sank.")
    assert found == (Gap("Old Marrow", (0, 1, 3)),)


@pytest.mark.parametrize(
    "texts",
    [
        ["We saw Marrow."] * 2,  # too seldom
        ["Then she ran."] * 3,  # a sentence begins so
        ["We saw Marrow.", "We saw Marrow.", "The Marrow of marrow."],  # the chat writes it small too
        ["We saw a Lantern."] * 3,  # a key answers
        ["We met Vale."] * 3,  # who speaks
        ["So I'm here, and I am."] * 3,
    ],
)
def test_what_is_no_gap(texts: list[str]) -> None:
    assert said(*texts) == ()


def test_a_note_that_is_called_so_without_a_key_is_named() -> None:
    assert said(*["At last the Tide came."] * 3) == (Gap("Tide", (0, 1, 2), near="Tide"),)


@pytest.mark.parametrize(("key", "names"), [("/mar+ow/i", []), ("/barrow/i", ["Marrow"])])
def test_a_pattern_of_a_lorebook_answers_to_a_name(tmp_path: Path, key: str, names: list[str]) -> None:
    book, chat = tmp_path / "Book.json", tmp_path / "chat.txt"
    book.write_text(json.dumps({"entries": {"0": {"uid": 0, "key": [key], "content": "A ferryman."}}}), "utf-8")
    chat.write_text("Ann: I met Marrow.\nBob: So he is back, Marrow.\n" * 2, encoding="utf-8")
    (found,) = scored(open_project([book], chat), (), [("World Info", {})])
    assert [gap.name for gap in found.gaps] == names
