from __future__ import annotations

from typing import Any

import pytest

from lorestudio.domain.json_text import is_deep
from lorestudio.domain.records import replace
from lorestudio.exchange.chats.metadata import control_problems, read_controls, with_controls


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


def nested(levels: int) -> Any:
    value: Any = "a"
    for level in range(levels):
        value = {"a": value} if level % 2 else [value]
    return value


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
        ({"deeplore_context": {"era": nested(101)}}, ["field “era”", "more than 100 deep"]),
        ({"deeplore_notebook": 5}, ["deeplore_notebook", "a number"]),
        ({"deeplore_ai_notepad": ["x"]}, ["deeplore_ai_notepad", "a list"]),
    ],
)
def test_each_unusable_part_is_told_with_its_place(metadata: dict[str, Any], words: list[str]) -> None:
    (problem,) = control_problems(metadata)
    assert [word for word in words if word not in problem] == []


def test_every_bad_item_is_told() -> None:
    assert len(control_problems({"deeplore_pins": [1, 2], "deeplore_context": 5})) == 3


def test_a_value_of_the_context_nested_too_deeply_is_no_choice_and_stays_in_the_file() -> None:
    metadata = {"deeplore_context": {"era": nested(900), "place": nested(100)}}
    controls = read_controls(metadata)
    assert controls.context == {"place": nested(100)}
    assert with_controls(metadata, controls) is metadata
    changed = with_controls(metadata, replace(controls, context={"place": "quay"}))["deeplore_context"]
    assert isinstance(changed, dict)
    assert is_deep(changed["era"])
    assert changed["place"] == "quay"
