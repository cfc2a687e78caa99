"""What an author is told about the keys of a note is what the run finds (rules: deeplore 3.3, 3.4)."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings

from lorestudio.systems.deeplore.matching.key_search import KeyMatch, would_match
from lorestudio.systems.deeplore.stages.candidates import keywords_stage
from tests.examples import examples
from tests.systems.test_invariants import WORLDS
from tests.systems.worlds import World, entry, message, run_stage, world

CHAT = ["U: the red dragon, dragon!", "Dragan: no", "U: a tower and a tower"]


def told(there: World, title: str = "A") -> Any:
    return would_match(there.context, there[title])


def test_each_key_with_the_place_where_it_was_last_found() -> None:
    match = told(world(entry("A", "dragon", "tower", "moon"), chat=CHAT, scan_depth=4))
    assert match.keys == (KeyMatch("dragon", 2, 0, 16, 22), KeyMatch("tower", 2, 2, 14, 19), KeyMatch("moon"))
    assert CHAT[0].removeprefix("U: ")[16:22] == "dragon"
    assert (match.key, match.messages, match.unused) == ("dragon", 3, "")


def test_only_the_entrys_own_window_counts() -> None:
    there = world(entry("A", "dragon", "tower", scan_depth=1), entry("B", "dragon"), chat=CHAT, scan_depth=4)
    match = told(there)
    assert [key.found for key in match.keys] == [False, True]
    assert (match.key, match.messages) == ("tower", 1)
    assert told(there, "B").key == "dragon"


def test_hidden_messages_keep_their_numbers_in_the_file() -> None:
    there = world(entry("A", "tower"), chat=[CHAT[0], message("U: tower", is_system=True), CHAT[2]], scan_depth=4)
    assert told(there).keys[0].message == 2


def test_a_hit_in_the_speakers_name() -> None:
    (match,) = told(world(entry("A", "dragan"), chat=CHAT, scan_depth=4)).keys
    assert (match.found, match.in_name, match.message, match.start) == (True, True, 1, None)


def test_refine_keys() -> None:
    there = world(
        entry("A", "dragon", refine_keys=("tower", "moon")), entry("B", "dragon", refine_keys=("moon",)), chat=CHAT
    )
    both, neither = told(there), told(there, "B")
    assert (both.key, both.refine_key, both.missing_refine) == ("dragon", "tower", False)
    assert [key.found for key in both.refine_keys] == [True, False]
    assert (neither.key, neither.refine_key, neither.missing_refine) == ("", "", True)


def test_keys_that_are_not_searched_as_written() -> None:
    long = "dragon" + "x" * 300
    blank, cut = told(world(entry("A", "  ", long), chat=["U: dragon" + "x" * 194])).keys
    assert (blank.blank, blank.found) == (True, False)
    assert (cut.cut, cut.found) == (True, True)


def test_whole_words_and_case() -> None:
    chat = ["U: Dragons and a Dragon"]
    assert told(world(entry("A", "dragon"), chat=chat, match_whole_words=True)).keys[0].count == 1
    assert told(world(entry("A", "dragon"), chat=chat)).keys[0].count == 2
    assert not told(world(entry("A", "dragon"), chat=chat, case_sensitive=True)).keys[0].found


@pytest.mark.parametrize(
    ("fields", "choices", "unused"),
    [
        ({"constant": True}, {}, "constant"),
        ({"guide": True}, {}, "guide"),
        ({}, {"scan_depth": 0}, "scan_depth_zero"),
        ({}, {"ai_search_enabled": True, "ai_search_mode": "ai-only"}, "ai_only"),
        ({}, {"ai_search_enabled": True, "ai_search_mode": "two-stage"}, ""),
        ({}, {"ai_search_enabled": False, "ai_search_mode": "ai-only"}, ""),
    ],
)
def test_keys_that_do_not_count(fields: dict[str, Any], choices: dict[str, Any], unused: str) -> None:
    assert told(world(entry("A", "dragon", **fields), chat=CHAT, **choices)).unused == unused


@settings(deadline=None, max_examples=examples(100))
@given(WORLDS)
def test_it_says_what_the_keyword_stage_does(there: World) -> None:
    """An entry that comes in by a key comes in by the one that is told; one that is not told to match is not let in."""
    record = run_stage(keywords_stage, there).record
    verdicts = {verdict.entry: verdict for verdict in record.verdicts}
    for one in there.entries:
        match = would_match(there.context, one)
        verdict = verdicts.get(one.id)
        if verdict is not None and verdict.reason in ("key_hit", "relabeled"):
            assert (match.key, match.unused) == (verdict.details["key"], "")
            assert match.refine_key == verdict.details.get("refine_key", "")
            key = next(key for key in match.keys if key.key == match.key)
            assert (key.message, key.start) == (verdict.details["message"], verdict.details.get("start"))
        elif verdict is not None and verdict.reason == "refine_blocked":
            assert match.missing_refine
        elif verdict is None and not match.unused:
            assert match.key == ""
            assert not any(key.found for key in match.keys)
