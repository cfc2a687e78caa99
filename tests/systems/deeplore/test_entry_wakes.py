from __future__ import annotations

import pytest

from lorestudio.domain.entry import Entry, VaultIndex
from lorestudio.domain.lifecycle import Cancelled, CancelToken
from lorestudio.settings.deeplore import DeepLoreSettings
from lorestudio.systems.deeplore.matching.key_search import DeepLoreWakes

ENTRIES = (
    Entry(0, "a.md", "v", "A", "The bell and the fog.", ("a",)),
    Entry(1, "b.md", "v", "B", "The fog comes.", ("bell",)),
    Entry(2, "c.md", "v", "C", "Bell, bell!", ("fog",), refine_keys=("comes",)),
    Entry(3, "d.md", "v", "D", "A bell.", ("x",), exclude_recursion=True),
    Entry(4, "e.md", "v", "E", "", ("bell",), constant=True),
    Entry(5, "f.md", "v", "F", "", ("bell",), probability=0, warmup=2),
    Entry(6, "g.md", "v", "G", "", ("bell",), warmup=2),
)
INDEX = VaultIndex(ENTRIES, vaults=("v",))


@pytest.fixture
def finder() -> DeepLoreWakes:
    return DeepLoreWakes(INDEX, DeepLoreSettings(recursive_scan=True))


def test_both_directions_say_the_same(finder: DeepLoreWakes) -> None:
    forth = {wake for entry in ENTRIES for wake in finder.wakes(entry)}
    back = {wake for entry in ENTRIES for wake in finder.woken_by(entry)}
    assert forth == back
    assert forth


def test_what_wakes_an_entry_names_key_refine_key_and_obstacle(finder: DeepLoreWakes) -> None:
    (wake,) = finder.woken_by(ENTRIES[2])
    assert (wake.source, wake.key, wake.refine_key) == (1, "fog", "comes")
    assert [wake.source for wake in finder.woken_by(ENTRIES[1])] == [0, 2]
    assert finder.woken_by(ENTRIES[4]) == ()
    assert {wake.obstacle for wake in finder.woken_by(ENTRIES[5])} == {"probability_zero"}
    assert {wake.source: wake.obstacle for wake in finder.woken_by(ENTRIES[6])} == {0: "warmup_short", 2: ""}


def test_a_question_can_be_cancelled(finder: DeepLoreWakes) -> None:
    token = CancelToken()
    token.cancel()
    with pytest.raises(Cancelled):
        finder.woken_by(ENTRIES[1], token)
