from __future__ import annotations

import json
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lorestudio.exchange.json_file import changed_bytes, changed_text, set_members

DEEP = """{
    "power": 1.0,
    "extension_settings": {
        "other": {},
        "deeplore_enhanced": {
            "scanDepth": 4,
            "odd": 1e5,
            "name": "\\u00e9"
        }
    }
}
"""


def test_only_the_values_of_the_members_change() -> None:
    path = ("extension_settings", "deeplore_enhanced")
    assert set_members(DEEP, path, {"scanDepth": 6}) == DEEP.replace('"scanDepth": 4', '"scanDepth": 6')


def test_new_members_come_last_in_the_layout_of_the_others() -> None:
    path = ("extension_settings", "deeplore_enhanced")
    wanted = DEEP.replace(
        '"name": "\\u00e9"', '"name": "\\u00e9",\n            "tags": [\n                "ż"\n            ]'
    )
    assert set_members(DEEP, path, {"tags": ["ż"]}) == wanted


def test_an_empty_object_is_filled_as_its_surroundings_are() -> None:
    wanted = DEEP.replace('"other": {}', '"other": {\n            "a": 1\n        }')
    assert set_members(DEEP, ("extension_settings", "other"), {"a": 1}) == wanted


def test_missing_objects_are_made() -> None:
    assert set_members('{\n    "a": 1\n}', ("x", "y"), {"k": 2}) == (
        '{\n    "a": 1,\n    "x": {\n        "y": {\n            "k": 2\n        }\n    }\n}'
    )
    assert set_members("{}", ("x",), {"k": [1, 2]}) == '{"x":{"k":[1,2]}}'


def test_a_compact_text_stays_compact() -> None:
    assert set_members('{"u":"x","m":{"a":1}}', ("m",), {"b": {"c": [1, 2]}}) == '{"u":"x","m":{"a":1,"b":{"c":[1,2]}}}'
    assert set_members('{"u": "x", "m": {"a": 1, "z": 0}}', ("m",), {"b": [1, 2]}) == (
        '{"u": "x", "m": {"a": 1, "z": 0, "b": [1, 2]}}'
    )


def test_of_members_of_one_name_the_one_that_counts_changes() -> None:
    assert set_members('{"a":1,"a":2}', (), {"a": 3}) == '{"a":1,"a":3}'


@pytest.mark.parametrize("text", ["[1]", '{"m": [1]}', '{"m": null}'])
def test_what_is_no_object_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="no object"):
        set_members(text, ("m",), {"a": 1})


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**6), 10**6) | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)
OBJECTS = st.dictionaries(st.text(max_size=4), JSON, max_size=4)


@given(OBJECTS, OBJECTS, OBJECTS, st.sampled_from([None, 1, 4, "\t"]))
def test_the_result_is_what_reading_and_writing_would_give(outer, inner, values, indent) -> None:
    document = {**outer, "here": inner}
    text = json.dumps(document, indent=indent)
    wanted = {**document, "here": {**inner, **values}}
    assert json.loads(set_members(text, ("here",), values)) == wanted


@given(OBJECTS, OBJECTS)
def test_values_that_are_there_already_leave_the_text_as_it_is(outer, inner) -> None:
    text = json.dumps({**outer, "here": inner}, indent=4, ensure_ascii=False)
    assert set_members(text, ("here",), inner) == text


@pytest.mark.parametrize(
    ("text", "wanted", "written"),
    [
        ("[1,  2,   3,    4]", [1, 7, 3, 4], "[1,  7,   3,    4]"),
        ("[1,  2,   3,    4]", [1, 7, 8, 4], "[1,  7,   8,    4]"),
        ("[1,  2,   3,    4]", [7, 8, 9, 6], "[7,  8,   9,    6]"),
        ("[1,  2,   3,    4]", [1, 4], "[1,    4]"),
        ("[1,  2,   3]", [1, 2, 3, 4], "[1,  2,   3,4]"),
        ('[{"a": 1.0,  "b":2}, {"a":3}]', [{"a": 1, "b": 5}, {"a": 3}], '[{"a": 1.0,  "b":5}, {"a":3}]'),
        ("[ [1,2] ,  [3,4] ]", [[1, 2], [3, 5], [6]], "[ [1,2] ,  [3,5],[6] ]"),
    ],
)  # fmt: skip
def test_each_place_of_a_list_keeps_the_space_before_it(text: str, wanted: list[object], written: str) -> None:
    assert changed_text(text, wanted) == written  # type: ignore[arg-type]  # any value will do


def test_a_large_book_is_held_twice_at_most_while_it_is_written() -> None:
    entries = {str(uid): {"uid": uid, "content": "x" * 20_000} for uid in range(100)}
    tracemalloc.start()
    written = changed_text('{\n    "entries": {}\n}', {"entries": entries})
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert json.loads(written) == {"entries": entries}
    assert peak < 2.5 * len(written)


def test_a_large_book_of_emoji_is_held_once_where_its_bytes_are_asked_for() -> None:
    book = {"entries": {str(uid): {"content": "\U0001f409 " * 200} for uid in range(2000)}}
    tracemalloc.start()
    made = changed_bytes('{"entries": {}}', book)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert json.loads(made) == book
    assert peak < 1.5 * len(made)
