"""Keys found in single messages and in the texts of other entries, as a scan finds them."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lorestudio.domain.chat import Message
from lorestudio.domain.entry import Entry, VaultIndex
from lorestudio.domain.javascript import trim
from lorestudio.domain.lifecycle import Cancelled, CancelToken, stoppable
from lorestudio.domain.records import replace
from lorestudio.exchange.lorebooks.entry import NEW_ENTRY
from lorestudio.exchange.lorebooks.keys import MARK, KeyMatching, occurs
from lorestudio.exchange.lorebooks.reading import Lorebook, read_lorebook
from lorestudio.settings.worldinfo import WorldInfoSettings
from lorestudio.systems.base import Moment, Scene, WakeFinder
from lorestudio.systems.worldinfo.books import KIND
from lorestudio.systems.worldinfo.key_search import WorldInfoKeySearch
from lorestudio.systems.worldinfo.system import WorldInfoSystem
from lorestudio.trace.model import Turn
from lorestudio.vault.lint.keyforms import KeyRules
from tests.conftest import LaterStop
from tests.examples import examples

KEYS = st.sampled_from(
    ["bell", "Bell", " bell", "the bell", "/^wren:/i", "/b.ll/", "/be(/", "ß", "Σ", "ell", "", " ", "bé"]
)


@given(st.lists(KEYS, max_size=6), st.text("bel Bß,Σé", max_size=12), st.booleans(), st.booleans())
@settings(max_examples=examples(200), deadline=None)
def test_all_keys_at_once_are_found_as_each_by_itself(keys: list[str], text: str, case: bool, words: bool) -> None:
    search = WorldInfoKeySearch(WorldInfoSettings()).of(KeyRules(case, words))
    how = KeyMatching(case, words)
    found = search.finder(keys)(search.line(Message("Wren", text)))
    line = MARK + trim(f"Wren: {text}")
    assert list(found) == [place for place, key in enumerate(keys) if trim(key) and occurs(trim(key), line, how)]


@pytest.mark.parametrize(("names", "found"), [(True, [0]), (False, [])])
def test_the_speakers_name_is_searched_where_the_settings_say_so(names: bool, found: list[int]) -> None:
    search = WorldInfoKeySearch(WorldInfoSettings(world_info_include_names=names))
    assert list(search.finder(["wren"])(search.line(Message("Wren", "Good day.")))) == found


def test_in_a_hidden_message_nothing_is_found() -> None:
    search = WorldInfoKeySearch(WorldInfoSettings())
    assert list(search.finder(["bell", "/./"])(search.line(Message("Wren", "The bell.", is_system=True)))) == []


def test_a_pattern_that_takes_too_long_finds_nothing_and_the_other_keys_are_found() -> None:
    search = WorldInfoKeySearch(WorldInfoSettings())
    line = search.line(Message("Wren", "bell " + "a" * 60 + "b"))
    assert list(search.finder(["/(a|a)*$/", "bell"])(line)) == [1]


# ---- what wakes what ------------------------------------------------------------------------------------------------


def book_of(*raws: dict[str, object]) -> Lorebook:
    listed = {str(uid): {**NEW_ENTRY, "uid": uid, "comment": f"E{uid}", **raw} for uid, raw in enumerate(raws)}
    return read_lorebook({"entries": listed}, "B")


def finder_of(*raws: dict[str, object], **settings_: object) -> WakeFinder:
    """Of a lorebook that was opened."""
    books = (book_of(*raws),)
    scene = Scene(KIND.books.index(books), books=books, user_name="Ann", character_name="Wren")
    return KIND.wakes(WorldInfoSettings(**settings_), scene)


def wakes(finder: WakeFinder) -> list[str]:
    """Every wake by titles, with what stands in its way; both directions have to say the same."""
    entries = finder.vault.entries
    found = [wake for entry in entries for wake in finder.wakes(entry)]
    assert {wake for entry in entries for wake in finder.woken_by(entry)} == set(found)
    told = [
        f"{entries[wake.source].title} {entries[wake.target].title}: {wake.key} {wake.refine_key or ''}".strip()
        + (f" ({wake.obstacle})" if wake.obstacle else "")
        for wake in found
    ]
    return sorted(told)


TEXT = {"key": ["hangs"], "content": "The Bell hangs in the towers.\nFog comes, Wren.", "order": 300}


@pytest.mark.parametrize(
    ("target", "told"),
    [
        ({"key": ["storm", "bell"]}, "bell"),
        ({"key": ["bell"], "caseSensitive": True}, ""),
        ({"key": ["tower"]}, ""),
        ({"key": ["tower"], "matchWholeWords": False}, "tower"),
        ({"key": ["/b.ll/i"]}, "/b.ll/i"),
        ({"key": ["/^fog/"]}, ""),
        ({"key": ["/^fog/mi"]}, "/^fog/mi"),
        ({"key": ["{{char}}"]}, "Wren"),
        ({"key": ["{{user}}"]}, ""),
        ({"key": ["bell"], "keysecondary": ["storm", "fog"]}, "bell fog"),
        ({"key": ["bell"], "keysecondary": ["storm"]}, ""),
        ({"key": ["bell"], "keysecondary": ["storm"], "selective": False}, "bell"),
        ({"key": ["bell"], "keysecondary": ["fog", "storm"], "selectiveLogic": 1}, "bell"),
        ({"key": ["bell"], "keysecondary": ["fog"], "selectiveLogic": 1}, ""),
        ({"key": ["bell"], "keysecondary": ["storm"], "selectiveLogic": 2}, "bell"),
        ({"key": ["bell"], "keysecondary": ["fog"], "selectiveLogic": 2}, ""),
        ({"key": ["bell"], "keysecondary": ["fog", "wren"], "selectiveLogic": 3}, "bell fog"),
        ({"key": ["bell"], "keysecondary": ["fog", "storm"], "selectiveLogic": 3}, ""),
        ({"key": ["bell"], "excludeRecursion": True}, ""),
        ({"key": ["bell"], "preventRecursion": True}, "bell"),
        ({"key": ["bell"], "delayUntilRecursion": 2}, "bell"),
        ({"key": ["bell"], "disable": True}, ""),
        ({"key": ["bell"], "constant": True}, ""),
        ({"key": ["bell"], "content": "@@activate\nDusk."}, ""),
        ({"key": ["bell"], "content": "@@dont_activate\nDusk."}, ""),
        ({"key": ["bell"], "scanDepth": 0}, ""),
        ({"key": ["bell"], "triggers": ["swipe"], "characterFilter": {"names": ["Skarn"], "isExclude": False}}, "bell"),
        ({"key": ["bell"], "probability": 0}, "bell (probability_zero)"),
        ({"key": ["bell"], "probability": 0, "useProbability": False}, "bell"),
        ({"key": []}, ""),
        ({"key": [" "]}, ""),
        ({"key": [" "], "keysecondary": ["fog"]}, "fog"),
    ],
)
def test_an_entry_is_woken_by_its_own_rules(target: dict[str, object], told: str) -> None:
    """(rules: sillytavern 5.6 "Key test", "Loop")"""
    found = [each.replace("  ", " ") for each in wakes(finder_of(TEXT, target))]
    assert found == ([f"E0 E1: {told}"] if told else [])


@pytest.mark.parametrize(
    ("source", "woken"),
    [
        ({}, True),
        ({"excludeRecursion": True}, True),
        ({"preventRecursion": True}, False),
        ({"disable": True}, False),
        ({"constant": True}, True),
        ({"content": "@@dont_activate\nThe bell."}, False),
        ({"content": ""}, False),
        ({"content": "It belongs to {{user}}."}, True),
    ],
)
def test_a_text_wakes_where_recursion_finds_it(source: dict[str, object], woken: bool) -> None:
    assert bool(wakes(finder_of({**TEXT, **source}, {"key": ["bell", "Ann"]}))) is woken


@pytest.mark.parametrize(
    ("settings_", "levels", "woken"),
    [
        ({"world_info_recursive": False}, (), False),
        ({"world_info_recursive": False}, (1,), False),
        ({"world_info_recursive": False}, (1, 2), True),  # the second level is a loop more
        ({"world_info_max_recursion_steps": 1}, (1, 2), False),
        ({"world_info_max_recursion_steps": 2}, (), True),
        ({"world_info_depth": 0}, (), False),
        ({"world_info_case_sensitive": True}, (), False),
    ],
)
def test_general_settings_say_whether_there_is_recursion(
    settings_: dict[str, object], levels: tuple[int, ...], woken: bool
) -> None:
    delayed = ({"key": ["x"], "delayUntilRecursion": level} for level in levels)
    assert bool(wakes(finder_of(TEXT, {"key": ["bell"]}, *delayed, **settings_))) is woken


def test_of_a_group_one_alone_comes_in() -> None:
    """(rules: sillytavern 5.6 "Inclusion groups")"""
    target = {"key": ["bell"], "group": "sounds, places"}
    assert wakes(finder_of({**TEXT, "group": "places"}, target)) == ["E0 E1: bell (same_group)"]
    assert wakes(finder_of({**TEXT, "group": "sounds, places"}, target)) == ["E0 E1: bell"]  # that is no group's name
    assert wakes(finder_of({**TEXT, "group": "others"}, target)) == ["E0 E1: bell"]


def test_notes_wake_each_other_where_the_vault_is_scanned() -> None:
    entries = (
        Entry(0, "a.md", "v", "A", "The bell.", ("a",)),
        Entry(1, "b.md", "v", "B", "", ("bell",)),
        Entry(2, "c.md", "v", "C", "A bell.", ("bell",), guide=True),
    )
    scene = Scene(VaultIndex(entries, vaults=("v",)))
    assert wakes(KIND.wakes(WorldInfoSettings(), scene)) == ["A B: bell"]
    beside = KIND.wakes(WorldInfoSettings(), replace(scene, books=(book_of(TEXT, {"key": ["bell"]}),)))
    assert (beside.tells, wakes(beside)) == (False, [])  # the notes are not scanned


def test_a_question_can_be_cancelled() -> None:
    finder, token = finder_of(TEXT, {"key": ["bell"]}), CancelToken()
    token.cancel()
    with pytest.raises(Cancelled):
        finder.woken_by(finder.vault.entries[1], token)


@given(
    st.fixed_dictionaries(
        {
            "key": st.lists(st.sampled_from(["bell", "Bell", "fog", "/f.g/", "ell"]), min_size=1, max_size=2),
            "keysecondary": st.lists(st.sampled_from(["fog", "tower", "sea"]), max_size=2),
            "selective": st.booleans(),
            "selectiveLogic": st.integers(0, 3),
            "excludeRecursion": st.booleans(),
            "delayUntilRecursion": st.integers(0, 2),
            "caseSensitive": st.sampled_from([None, True]),
            "matchWholeWords": st.sampled_from([None, False]),
            "probability": st.sampled_from([0, 100]),
            "group": st.sampled_from(["", "g", "h"]),
            "disable": st.booleans(),
        }
    ),
    st.fixed_dictionaries(
        {
            "content": st.sampled_from(["The Bell.", "bells in fog", "fog, the tower, a bell", ""]),
            "preventRecursion": st.booleans(),
            "group": st.sampled_from(["", "g"]),
        }
    ),
    st.booleans(),
)
@settings(max_examples=examples(200), deadline=None)
def test_a_run_lets_in_what_is_woken(target: dict[str, object], source: dict[str, object], recursive: bool) -> None:
    """Where the source is in and the chat says nothing, the target comes in by it or not at all."""
    dusk, how = {"content": "Dusk.", **target}, {"world_info_recursive": recursive}
    finder = finder_of({"key": ["a"], **source}, dusk, **how)
    system = WorldInfoSystem(WorldInfoSettings(**how), (book_of({**source, "constant": True}, dusk),))
    moment = Moment(VaultIndex(()), (Message("Wren", "Good day."),), Turn(0, 1, 0), context_size=8000)
    trace = asyncio.run(system.decide(moment)).trace
    came = "E1" in {injection.title for injection in trace.injections}
    assert came is any(not wake.obstacle for wake in finder.wakes(finder.vault.entries[0]))


def test_making_what_finds_wakes_can_be_stopped_at_each_entry() -> None:
    token, others = LaterStop(), [{"key": [f"bell {number}"]} for number in range(20)]
    with stoppable(token):
        finder_of(TEXT, *others)
    # Six of them are those of the index and of the watch for keys; the others, texts and targets.
    assert token.looks > 8 * len(others)
    token.cancel()
    with pytest.raises(Cancelled), stoppable(token):
        finder_of(TEXT, *others)
    asked = token.looks
    with pytest.raises(Cancelled), stoppable(token):
        WorldInfoKeySearch(WorldInfoSettings()).finder(["", " "])
    assert token.looks == asked + 1, "at the first key, also where none is left to search"
