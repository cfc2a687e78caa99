"""The keys that one pass over a text finds are those that looking for each by itself finds."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lorestudio.domain.automaton import LONGEST_WORD
from lorestudio.systems.hybrid.retrieval import Options, WorldEntry, context_text, keyed_book, look_through

LETTERS = "abÄ İ."
KEYS = st.one_of(st.text(LETTERS, max_size=3), st.integers(0, 3), st.none())
PATTERNS = st.lists(st.text("ab. ", max_size=3), max_size=4)
BOOKS = st.lists(st.tuples(st.lists(KEYS, max_size=4), st.just(False)) | st.tuples(PATTERNS, st.just(True)), max_size=6)


def is_in(key, pattern, context):
    """Where a key stands in the text, and -1 where it does not."""
    return bool(re.search(key, context, re.IGNORECASE)) if pattern else key.lower() in context


@given(BOOKS, st.text(LETTERS, max_size=12))
def test_each_entry_is_hit_by_the_first_of_its_keys_that_is_there(given_keys, text):
    book = [WorldEntry(str(place), keys, use_regex=pattern) for place, (keys, pattern) in enumerate(given_keys)]
    context, options = context_text(text, text), Options()
    looked = look_through(keyed_book(book, options), context, options)
    wanted = {}
    for entry in book:
        texts = [key for key in entry.keys if isinstance(key, str) and key.strip()]
        there = [key for key in texts if is_in(key, entry.use_regex, context)]
        wanted |= dict(zip([entry.id], there, strict=False))
    assert looked.hits == wanted
    assert list(looked.hits) == [entry.id for entry in book if entry.id in looked.hits]


def test_a_key_too_long_for_one_pass_is_found_all_the_same():
    long = "x" * (LONGEST_WORD + 1)
    options = Options()
    book = keyed_book([WorldEntry("a", ["no", long])], options)
    assert look_through(book, context_text(long, ""), options).hits["a"] == long
    assert not look_through(book, context_text(long[1:], ""), options).hits


def test_strict_rules_find_an_empty_key_and_stop_at_one_that_is_no_text():
    options = Options(strict=True)
    book = keyed_book([WorldEntry("a", [""], enabled=True), WorldEntry("b", ["bell", 7], enabled=True)], options)
    assert set(look_through(book, "a bell", options).hits) == {"a", "b"}, "the bell was found before"
    with pytest.raises(TypeError, match="a key of"):
        look_through(book, "no such thing", options)
