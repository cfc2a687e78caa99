from __future__ import annotations

import pytest

from lorestudio.domain.chat import Message
from lorestudio.domain.entry import Entry, VaultIndex
from lorestudio.settings.deeplore import DeepLoreSettings
from lorestudio.systems.base import Deciding, Scene
from lorestudio.systems.registry import KINDS, MAIN

KEYS = ("Fog", "bell", " ")


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS.keys())
def test_every_system_finds_keys_in_a_message(kind) -> None:
    search = kind.key_search(kind.settings())
    found_in = search.finder(KEYS)
    assert list(found_in(search.line(Message("Bell", "Only fog.")))) == [0, 1]
    assert list(found_in(search.line(Message("Ann", "Nothing.")))) == []
    assert search.line(Message("Ann", "Fog.", is_system=True)) == ""


def test_the_main_system_finds_keys_as_it_scans() -> None:
    search = MAIN.key_search(DeepLoreSettings(case_sensitive=True, match_whole_words=True))
    found_in = search.finder(KEYS)
    assert list(found_in(search.line(Message("Ann", "Fog, fogbell.")))) == [0]


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS.keys())
def test_only_a_system_that_searches_contents_wakes_entries(kind) -> None:
    entries = (Entry(0, "a.md", "v", "A", content="A bell."), Entry(1, "b.md", "v", "B", keys=("bell",)))
    on = {name: True for name in ("recursive_scan",) if name in kind.settings.model_fields}  # where it is so by default
    finder = Deciding(kind, kind.settings(**on)).wakes(Scene(VaultIndex(entries, vaults=("v",))))
    found = [(wake.source, wake.target, wake.key) for wake in finder.wakes(entries[0])]
    assert found == ([(0, 1, "bell")] if finder.tells else [])
    assert list(finder.woken_by(entries[1])) == list(finder.wakes(entries[0]))
    assert finder.tells == (kind.name in {"deeplore", "world-info"})
