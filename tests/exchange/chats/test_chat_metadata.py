from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lorestudio.domain.entry import Entry, Folder, VaultIndex
from lorestudio.domain.state import ChatControls, EntryRule, LoggedGeneration, LoggedInjection
from lorestudio.exchange.chats.metadata import existing_folders, known_counts, read_controls, read_state

SEED = 5


def test_the_persons_choices_for_the_chat() -> None:
    controls = read_controls(
        {
            "deeplore_pins": [
                "Lamp",
                {"title": "Tide", "vaultSource": "brume"},
                {"title": "Bell", "vaultSource": None},
            ],
            "deeplore_blocks": [{"title": "Wasp"}],
            "deeplore_folder_filter": ["places", "people/dead"],
            "deeplore_context": {"era": "after", "location": ["quay"]},
            "deeplore_notebook": "Remember.",
            "deeplore_ai_notepad": "Noted.",
            "deeplore_lastScribeSummary": "So far.",
        }
    )
    assert controls.pins == (EntryRule("Lamp"), EntryRule("Tide", "brume"), EntryRule("Bell"))
    assert controls.blocks == (EntryRule("Wasp"),)
    assert controls.folders == ("places", "people/dead")
    assert controls.context == {"era": "after", "location": ["quay"]}
    assert (controls.notebook, controls.notepad, controls.scribe_summary) == ("Remember.", "Noted.", "So far.")


def test_a_rule_for_one_vault_leaves_the_copy_in_another_alone() -> None:
    (rule,) = read_controls({"deeplore_pins": [{"title": "LAMP", "vaultSource": "brume"}]}).pins
    assert rule.matches(Entry(0, "lamp.md", "brume", "Lamp"))
    assert not rule.matches(Entry(0, "lamp.md", "other", "Lamp"))


def test_an_empty_vault_of_a_rule_means_any() -> None:
    assert read_controls({"deeplore_pins": [{"title": "Lamp", "vaultSource": ""}]}).pins == (EntryRule("Lamp"),)


@pytest.mark.parametrize("odd", [None, 7, "text", True, {"a": 1}, [None, 3, ["x"]]])
def test_choices_of_odd_shapes_count_as_none(odd: Any) -> None:
    controls = read_controls(
        {
            "deeplore_pins": odd,
            "deeplore_blocks": odd,
            "deeplore_folder_filter": odd,
            "deeplore_context": odd if not isinstance(odd, dict) else None,
            "deeplore_notebook": odd if not isinstance(odd, str) else None,
        }
    )
    assert controls == ChatControls()


def test_the_trackers_that_a_chat_keeps() -> None:
    state = read_state(
        {
            "deeplore_injection_log": [
                {"gen": 4, "entries": [{"title": "Lamp", "pos": 1, "depth": 4, "role": 0, "contentHash": "5_a_b"}]}
            ],
            "deeplore_chat_counts": {"brume:Lamp": 3},
            "deeplore_swipe_injected_keys": {"7|0": ["brume:Lamp"]},
        },
        SEED,
    )
    assert state.random_state == SEED
    assert state.injection_log == (LoggedGeneration(4, (LoggedInjection("Lamp", 1, 4, 0, "5_a_b"),)),)
    assert state.chat_counts == {"brume:Lamp": 3}
    assert state.swipe_keys == {"7|0": ("brume:Lamp",)}
    assert state.counters.generation_count == 0  # opening a chat begins all other trackers anew


def test_trackers_of_odd_shapes_are_passed_over() -> None:
    metadata = json.loads(
        """{"deeplore_chat_counts": {"a": 2, "b": "3", "c": true, "d": null, "e": 1e999, "f": 2.0},
            "deeplore_injection_log": [3, {}, {"gen": "many", "entries": 5}, {"gen": 2, "entries": [null, {}]}],
            "deeplore_swipe_injected_keys": {"1|0": "x", "2|0": ["k", 5]}}"""
    )
    state = read_state(metadata)
    assert state.chat_counts == {"a": 2, "f": 2}
    assert [(record.generation, len(record.entries)) for record in state.injection_log] == [(0, 0), (0, 0), (2, 1)]
    assert state.swipe_keys == {"1|0": (), "2|0": ("k",)}


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
_KEYS = (
    "deeplore_pins",
    "deeplore_blocks",
    "deeplore_folder_filter",
    "deeplore_context",
    "deeplore_injection_log",
    "deeplore_chat_counts",
    "deeplore_swipe_injected_keys",
)


@given(st.fixed_dictionaries({}, optional=dict.fromkeys(_KEYS, _JSON)))
def test_no_metadata_stops_a_chat_from_opening(metadata: dict[str, Any]) -> None:
    controls, state = read_controls(metadata), read_state(metadata)
    assert all(isinstance(folder, str) for folder in controls.folders)
    assert all(isinstance(count, int) for count in state.chat_counts.values())


def test_folders_that_the_index_does_not_have_are_dropped() -> None:
    assert existing_folders(["a", "gone"], [Folder("a", 2)]) == ("a",)


def test_without_any_folder_in_the_index_the_choice_stays() -> None:
    assert existing_folders(["a", "gone"], []) == ("a", "gone")


def test_counts_of_unknown_entries_are_dropped() -> None:
    index = VaultIndex(entries=(Entry(0, "lamp.md", "brume", "Lamp"),))
    assert known_counts({"brume:Lamp": 2, "brume:Gone": 9}, index) == {"brume:Lamp": 2}
    assert known_counts({"brume:Gone": 9}, VaultIndex()) == {"brume:Gone": 9}
