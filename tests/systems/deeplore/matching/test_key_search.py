"""Every occurrence of every key, held against the matcher that decides."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from lorestudio.domain.chat import Message
from lorestudio.domain.entry import Entry, VaultIndex
from lorestudio.settings.deeplore import DeepLoreSettings
from lorestudio.systems.deeplore.inputs import Inputs
from lorestudio.systems.deeplore.matching.index import DeepLoreIndex
from lorestudio.systems.deeplore.matching.key_search import FoundKey, key_places
from lorestudio.systems.deeplore.stages.snapshot import scan_window
from lorestudio.trace.model import Turn
from tests.systems.worlds import changed, inputs

ENTRIES = (
    Entry(0, "a.md", "v", "Lamp", keys=("lamp", "Lamp", "oil lamp")),
    Entry(1, "b.md", "v", "Near", keys=("tide",), scan_depth=1),
    Entry(2, "c.md", "v", "Refined", keys=("tide",), refine_keys=("lamp",)),
    Entry(3, "d.md", "v", "Always", keys=("lamp",), constant=True),
    Entry(4, "e.md", "v", "Guide", keys=("lamp",), guide=True),
    Entry(5, "f.md", "v", "Half", refine_keys=("lamp",), keys=("absent",)),
    Entry(6, "g.md", "v", "Ann", keys=("ann",)),
)


def context(*texts: str, **values: object) -> Inputs:
    chat = tuple(Message("Ann", text) for text in texts)
    settings = DeepLoreSettings().model_copy(update=values)
    return inputs(DeepLoreIndex(VaultIndex(ENTRIES)), chat=chat, settings=settings, turn=Turn(len(chat), 0, 0))


def told(places: tuple[FoundKey, ...], entry: int) -> list[tuple[str, int, int | None, int | None]]:
    return [(place.key, place.message, place.start, place.end) for place in places if place.entry == entry]


def test_every_occurrence_with_its_message_and_span() -> None:
    places = key_places(context("A Lamp.", "An oil lamp at low tide."))
    assert told(places, 0) == [("lamp", 0, 2, 6), ("oil lamp", 1, 3, 11), ("lamp", 1, 7, 11)]


def test_each_entry_looks_as_far_back_as_it_does() -> None:
    assert told(key_places(context("the tide", "nothing")), 1) == []
    assert told(key_places(context("the tide", "high tide")), 1) == [("tide", 1, 5, 9)]


def test_refine_keys_are_told_where_a_key_is_there_too() -> None:
    places = key_places(context("lamp and tide"))
    assert [(place.key, place.refine) for place in places if place.entry == 2] == [("lamp", True), ("tide", False)]
    assert told(places, 5) == []


def test_constants_and_guides_are_left_out() -> None:
    places = key_places(context("lamp"))
    assert {place.entry for place in places} & {3, 4} == set()


def test_a_key_in_the_speakers_name_has_no_span() -> None:
    place = next(place for place in key_places(context("hello")) if place.entry == 6)
    assert (place.in_name, place.start, place.message) == (True, None, 0)


def test_nothing_is_searched_at_scan_depth_0() -> None:
    assert key_places(context("lamp", scan_depth=0)) == ()


@given(st.lists(st.text("lamp tidenosİß", max_size=12), min_size=1, max_size=4), st.booleans(), st.integers(1, 4))
def test_the_same_entries_as_the_matcher_finds(texts: list[str], whole_words: bool, depth: int) -> None:
    ctx = context(*texts, match_whole_words=whole_words, scan_depth=depth)
    places = key_places(ctx)
    for entry in ENTRIES:
        if entry.constant or entry.guide:
            continue
        matcher = ctx.index.matcher(case_sensitive=False, whole_words=whole_words)
        one = changed(ctx, settings=ctx.settings.model_copy(update={"scan_depth": entry.scan_depth or depth}))
        window = scan_window(one)
        offset = window.offset(entry.scan_depth or depth)
        hit = matcher.test_primary(entry.id, matcher.find(window.text), offset)
        assert (hit is not None) == any(place.entry == entry.id and not place.refine for place in places)
        for place in places:
            if place.entry == entry.id and place.start is not None:
                spoken = ctx.moment.chat[place.message].text[place.start : place.end]
                assert spoken.lower() == place.key.lower()
