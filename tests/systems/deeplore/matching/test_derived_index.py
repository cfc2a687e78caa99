"""An index that is derived from the one before an edit decides exactly as one that is made anew."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lorestudio.domain.entry import Entry, VaultIndex
from lorestudio.domain.javascript import fold
from lorestudio.domain.records import replace
from lorestudio.systems.base import Decided
from lorestudio.systems.deeplore.inputs import Inputs
from lorestudio.systems.deeplore.matching import kept as kept_module
from lorestudio.systems.deeplore.matching.bm25 import EntryBM25
from lorestudio.systems.deeplore.matching.index import DeepLoreIndex
from lorestudio.systems.deeplore.matching.kept import Kept, compare
from lorestudio.systems.deeplore.matching.keys import KeyMatcher
from lorestudio.systems.deeplore.run import run
from lorestudio.trace.storage.serialize import to_json
from tests.examples import examples
from tests.scripted_answers import ScriptedAnswers
from tests.systems.deeplore.answers import Reply, script
from tests.systems.test_invariants import CHATS, CHOICES, NOTES
from tests.systems.worlds import Draft, entries_of, entry, world
from tests.systems.worlds import changed as with_inputs
from tests.test_invariants_ai import ANSWERS, SELECTION_CHOICES

Edit = tuple[str, int, Draft]
EDITS = st.lists(st.tuples(st.sampled_from(["change", "add", "remove"]), st.integers(0, 8), NOTES), max_size=3)


def named(drafts: Sequence[Draft]) -> list[Draft]:
    """Notes of one vault have file names of their own."""
    return [{**draft, "filename": f"{number}.md"} for number, draft in enumerate(drafts)]


def edited(drafts: Sequence[Draft], edits: Sequence[Edit]) -> list[Draft]:
    """The drafts after the edits; a changed note keeps its file name."""
    after = list(drafts)
    for number, (what, somewhere, draft) in enumerate(edits):
        place = somewhere % (len(after) + 1)
        if what == "add" or place == len(after):
            after.insert(place, {**draft, "filename": f"new{number}.md"})
        elif what == "remove":
            del after[place]
        else:
            after[place] = {**draft, "filename": after[place]["filename"], "vault": after[place]["vault"]}
    return after


def taken_over(entries: Sequence[Entry], before: Sequence[Entry], drafts: Sequence[Draft], old: Sequence[Draft]) -> Any:
    """The entries, those of unchanged notes in unchanged places being the former objects."""
    return tuple(
        before[place] if place < len(old) and drafts[place] is old[place] else one for place, one in enumerate(entries)
    )


def indexed(entries: tuple[Entry, ...]) -> VaultIndex:
    return VaultIndex(entries=entries, vaults=("V", "W"), digest="digest")


def run_on(ctx: Inputs, index: DeepLoreIndex, replies: Sequence[Reply]) -> Decided:
    answers = ScriptedAnswers({"search": script(replies), "prefilter": []})
    return asyncio.run(run(with_inputs(ctx, index=index, answers=answers, timer=lambda: 0.0)))


def whole(result: Decided) -> tuple[Any, Any]:
    return json.dumps(to_json(result.trace)), result.state


@settings(deadline=None, max_examples=examples(100))
@given(
    st.lists(NOTES, min_size=1, max_size=8), EDITS, EDITS, CHATS, CHATS, CHOICES, SELECTION_CHOICES,
    st.lists(ANSWERS, min_size=4, max_size=4), st.booleans(),
)  # fmt: skip
def test_the_whole_trace_is_the_same(
    drafts: list[Draft],
    edits: list[Edit],
    more: list[Edit],
    chat: list[Any],
    later: list[Any],
    choices: dict[str, Any],
    selection: dict[str, Any],
    replies: list[Reply],
    fuzzy: bool,
) -> None:
    choices = {**choices, **selection, "fuzzy_search_enabled": fuzzy}
    old = named(drafts)
    there = world(chat=chat, **choices)
    before = entries_of(old)
    base = DeepLoreIndex(indexed(before))
    first = run_on(there.context, base, replies)
    ctx = replace(there.with_chat([*chat, *later], state=first.state).context)
    derived = base
    for changes in (edits, more):  # the second time from an index that is itself derived
        new = edited(old, changes)
        vault = indexed(taken_over(entries_of(new), before, new, old))
        derived = DeepLoreIndex(vault, derived)
        assert derived.origin is base
        assert whole(run_on(ctx, derived, replies)) == whole(run_on(ctx, DeepLoreIndex(vault), replies))
    assert whole(run_on(ctx, base, replies)) == whole(run_on(ctx, DeepLoreIndex(indexed(before)), replies))


PIECES = ["aa", "AA", "a", "bb cc", "ΣΑΣ", "σασ", "\ud83d", "\ude00", "😀", "é", " ", "", "x-y", "c" * 205]
KEYS = st.lists(st.sampled_from(PIECES), max_size=4).map(tuple)
SIMPLE = st.builds(
    lambda title, keys, refine, content: entry(title, *keys, refine_keys=refine, content=content),
    st.sampled_from(["aa", "Bb", "cc"]),
    KEYS,
    KEYS,
    st.lists(st.sampled_from(PIECES), max_size=5).map(" ".join),
)
SIMPLE_EDITS = st.lists(st.tuples(st.sampled_from(["change", "add", "remove"]), st.integers(0, 6), SIMPLE), max_size=4)
TEXTS = st.lists(st.sampled_from([*PIECES, ".", "c" * 200]), max_size=8).map(" ".join)


def changed(drafts: list[Draft], edits: list[Edit], order: Sequence[int]) -> tuple[tuple[Entry, ...], Any]:
    """Entries before and after the edits, the latter in another order where `order` is one."""
    old = [{**draft, "vault": "V"} for draft in named(drafts)]
    new = edited(old, [(what, place, {**draft, "vault": "V"}) for what, place, draft in edits])
    new = [new[place] for place in order if place < len(new)] + [
        draft for place, draft in enumerate(new) if place not in order
    ]
    return entries_of(old), entries_of(new)


def kept(before: Sequence[Entry], after: Sequence[Entry]) -> Kept:
    found = compare(before, after, {(one.vault, one.filename): one.id for one in before})
    assert found is not None
    return found


@settings(deadline=None, max_examples=examples(150))
@given(
    st.lists(SIMPLE, max_size=6), SIMPLE_EDITS, st.permutations(range(3)), TEXTS, st.booleans(), st.booleans()
)  # fmt: skip
def test_keys_are_found_alike(
    drafts: list[Draft], edits: list[Edit], order: list[int], text: str, case: bool, words: bool
) -> None:
    before, after = changed(drafts, edits, order)
    base = KeyMatcher(before, case_sensitive=case, whole_words=words)
    derived = KeyMatcher(after, case_sensitive=case, whole_words=words, base=base, kept=kept(before, after))
    anew = KeyMatcher(after, case_sensitive=case, whole_words=words)
    searched = text if case else fold(text)

    def told(matcher: KeyMatcher) -> list[Any]:
        hits = matcher.find(searched)
        found: list[Any] = [matcher.hit_entries(hits)]
        for one in range(len(after)):
            tested = (matcher.test(one, hits), matcher.test_primary(one, hits), matcher.test(one, hits, 3))
            found += [hit and (hit.key, hit.start, hit.refine_key, matcher.size(hit)) for hit in tested]
            found.append(matcher.occurrences(one, searched))
        return found

    assert told(derived) == told(anew)


@settings(deadline=None, max_examples=examples(150))
@given(st.lists(SIMPLE, max_size=6), SIMPLE_EDITS, st.permutations(range(3)), TEXTS, st.sampled_from([0.0, 0.1, 0.5]))
def test_words_are_scored_alike(
    drafts: list[Draft], edits: list[Edit], order: list[int], query: str, threshold: float
) -> None:
    before, after = changed(drafts, edits, order)
    base = EntryBM25(before)
    base.search(query, threshold)
    derived = EntryBM25(after, base, kept(before, after))
    assert derived.search(query, threshold) == EntryBM25(after).search(query, threshold)


def test_only_what_is_new_is_prepared() -> None:
    before = entries_of([entry("A", "aa"), entry("B", "bb"), entry("C", "cc")])
    after = entries_of([entry("A", "aa", priority=1), entry("B", "zz"), entry("D"), entry("C", "cc")])
    found = kept(before, after)
    assert (found.sources, found.new, found.gone) == ((0, -1, -1, 2), (1, 2), (1,))
    assert found.targets.tolist() == [0, -1, 3]


def test_an_index_that_shares_too_little_is_made_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_module, "MOST_NEW", 2)
    base = DeepLoreIndex(indexed(entries_of([entry(f"T{number}", f"k{number}") for number in range(5)])))
    drafts = [entry(f"T{number}", f"k{number}") for number in range(5)]
    for changes in range(5):
        after = entries_of([{**draft, "keys": ("z",)} for draft in drafts[:changes]] + drafts[changes:])
        assert (DeepLoreIndex(indexed(after), base).origin is base) == (changes <= 2)


def test_entries_are_found_by_title_and_key_as_they_now_are() -> None:
    """An edited note stands where it stood among those of its new title; a guide is found by nothing."""
    old = named([entry("Sun", "star"), entry("Moon"), entry("Sun", "orb"), entry("Rules", guide=True)])
    new = [{**old[0], "title": "Moon", "keys": ("Orb",)}, *old[1:3], {**old[3], "guide": False, "title": "sun"}]
    before = entries_of(old)
    base = DeepLoreIndex(indexed(before))
    derived = DeepLoreIndex(indexed(taken_over(entries_of(new), before, new, old)), base)
    assert derived.origin is base

    def places(groups: Mapping[str, Sequence[Entry]]) -> dict[str, list[int]]:
        return {name: [one.id for one in there] for name, there in groups.items() if there}

    assert places(derived.of_title) == {"Moon": [0, 1], "Sun": [2], "sun": [3]}
    assert places(derived.of_lower_title) == {"moon": [0, 1], "sun": [2, 3]}
    assert places(derived.of_tracker_key) == {"V:Moon": [0, 1], "V:Sun": [2], "V:sun": [3]}
    assert places(derived.of_lower_key) == {"orb": [0, 2]}
    assert derived.of_title["Moon"][0] is derived.vault.entries[0]
    assert places(base.of_title) == {"Sun": [0, 2], "Moon": [1]}


def test_ambiguous_file_names_are_not_guessed_at() -> None:
    twice = entries_of([entry("A", filename="x.md"), entry("B", filename="x.md")])
    once = entries_of([entry("A", filename="x.md"), entry("B", filename="y.md")])
    assert DeepLoreIndex(indexed(once), DeepLoreIndex(indexed(twice))).origin is None
    base = DeepLoreIndex(indexed(once))
    assert DeepLoreIndex(indexed(twice), base).origin is None
    assert DeepLoreIndex(indexed((once[0], twice[1])), base).origin is None


def test_names_that_another_entry_still_has_stay() -> None:
    base = DeepLoreIndex(indexed(entries_of([entry("Sun", "star"), entry("Star"), entry("Moon", "orb")])))
    after = indexed(entries_of([entry("Sun", "star"), entry("Planet", filename="Star.md"), entry("Moon", "disc")]))
    derived = DeepLoreIndex(after, base)
    assert derived.origin is base
    assert derived.names == {"sun", "star", "planet", "moon", "disc"}


def test_entries_in_another_order_tie_in_that_order() -> None:
    before = entries_of([entry("A", content="gold"), entry("B", content="gold"), entry("C", content="other")])
    after = entries_of([entry("B", content="gold"), entry("A", content="gold"), entry("C", content="other")])
    found = kept(before, after)
    assert (found.sources, found.new, found.gone) == ((1, 0, 2), (), ())
    hits = EntryBM25(after, EntryBM25(before), found).search("gold", 0.1)
    assert [hit.entry.title for hit in hits] == ["B", "A"]


def test_contents_are_folded_once_and_found_where_they_now_stand() -> None:
    before = entries_of([entry("A", content="ONE"), entry("B", content="TWO"), entry("C", content="THREE")])
    base = DeepLoreIndex(indexed(before))
    after = entries_of([entry("A", content="ONE"), entry("New", content="NEW"), entry("B", content="TWO")])
    derived = DeepLoreIndex(indexed(after), base)
    assert derived.origin is base
    assert [derived.folded(one) for one in after] == ["one", "new", "two"]
    assert derived.folded(after[2]) is base.folded(before[1])
