"""Keys found in single messages, as a scan finds them."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lorestudio.domain.chat import Message
from lorestudio.domain.javascript import trim
from lorestudio.exchange.lorebooks.keys import MARK, KeyMatching, occurs
from lorestudio.settings.worldinfo import WorldInfoSettings
from lorestudio.systems.worldinfo.key_search import WorldInfoKeySearch
from lorestudio.vault.lint.keyforms import KeyRules
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
