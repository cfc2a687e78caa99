from __future__ import annotations

from typing import Any

import pytest

from lorestudio.exchange.chats.metadata import control_problems


def test_a_sound_chat_has_nothing_to_tell() -> None:
    metadata: dict[str, Any] = {
        "deeplore_pins": ["Lamp", {"title": "Tide", "vaultSource": None}],
        "deeplore_blocks": [],
        "deeplore_folder_filter": None,
        "deeplore_context": {"era": "after", "location": ["quay"], "wet": True, "year": 3, "mood": None},
        "deeplore_notebook": "Remember.",
        "deeplore_ai_notepad": "",
        "something_else": object,
    }
    assert control_problems(metadata) == ()
    assert control_problems({}) == ()


@pytest.mark.parametrize(
    ("metadata", "words"),
    [
        ({"deeplore_pins": "Lamp"}, ["deeplore_pins", "a text", "no list"]),
        ({"deeplore_pins": ["Lamp", 7]}, ["deeplore_pins, item 2", "a number"]),
        ({"deeplore_pins": [""]}, ["item 1", "the title is empty"]),
        ({"deeplore_blocks": [{"vaultSource": "v"}]}, ["deeplore_blocks, item 1", "no title"]),
        ({"deeplore_blocks": [None]}, ["deeplore_blocks, item 1", "null"]),
        ({"deeplore_folder_filter": "places"}, ["deeplore_folder_filter", "all folders"]),
        ({"deeplore_folder_filter": ["places", True]}, ["item 2", "true or false"]),
        ({"deeplore_context": ["era"]}, ["deeplore_context", "a list"]),
        ({"deeplore_context": {"era": {"a": 1}}}, ["field “era”", "an object"]),
        ({"deeplore_context": {"era": [["a"]]}}, ["field “era”", "a list"]),
        ({"deeplore_notebook": 5}, ["deeplore_notebook", "a number"]),
        ({"deeplore_ai_notepad": ["x"]}, ["deeplore_ai_notepad", "a list"]),
    ],
)
def test_each_unusable_part_is_told_with_its_place(metadata: dict[str, Any], words: list[str]) -> None:
    (problem,) = control_problems(metadata)
    assert [word for word in words if word not in problem] == []


def test_every_bad_item_is_told() -> None:
    assert len(control_problems({"deeplore_pins": [1, 2], "deeplore_context": 5})) == 3
