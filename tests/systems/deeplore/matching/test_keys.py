"""Finding keys (rules: deeplore 3.4, 3.10, 8): the verified matrix, and one pass against one key at a time.

The searched text (rules: deeplore 3.3).
"""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from lorestudio.domain.chat import Message
from lorestudio.domain.javascript import fold, trim
from lorestudio.systems.deeplore.matching.keys import KeyMatcher, ScanWindow
from tests.examples import examples
from tests.systems.deeplore import naive_keys
from tests.systems.worlds import entries_of, entry, message

NFD = "cafe\u0301"


def hits(key: str, text: str, *, words: bool, case: bool = False) -> bool:
    matcher = KeyMatcher(entries_of([entry("A", key)]), case_sensitive=case, whole_words=words)
    found = matcher.find(text if case else fold(text))
    assert matcher.hit_entries(found) == ([0] if matcher.test(0, found) else [])
    return matcher.test(0, found) is not None


def test_a_refine_key_too_long_for_an_automaton_is_found_all_the_same() -> None:
    long = "Mire " * 50_000 + "end"
    matcher = KeyMatcher(entries_of([entry("A", "lamp", refine_keys=(long,))]), case_sensitive=False, whole_words=True)
    for text, found in ((f"lamp {long}", True), (f"lamp {long[1:]}", False)):
        assert (matcher.test(0, matcher.find(fold(text))) is not None) is found


HIT, NO = True, False


@pytest.mark.parametrize(
    ("key", "text", "part", "word"),
    [
        # the verified matrix (rules: deeplore 3.4): parts of words, whole words; None where it says nothing
        ("war", "Warning", HIT, NO),
        ("war", "the War!", HIT, HIT),
        ("C++", "I love C++.", None, HIT),
        ("C++", "C+++", None, HIT),
        ("C++", "xC++", None, NO),
        (".NET", "ASP.NET", None, NO),
        (".NET", "use .NET!", None, HIT),
        ("élan", "ñélan", None, HIT),
        ("élan", "xélan", None, NO),
        ("café", NFD, HIT, HIT),
        ("café", "cafés", None, NO),
        ("café", "caféé", None, HIT),
        ("elan", "élan", NO, None),
        ("魔法", "これは魔法です", None, HIT),
        ("Дом", "дома", None, HIT),
        ("σασ", "ΣΑΣ", NO, HIT),
        ("\u00b5m", "\u03bcm", NO, HIT),
        ("straße", "STRASSE", NO, None),
        ("ﬁre", "fire", NO, None),
        ("K", "\u212a", HIT, None),
        ("ſ", "s", None, NO),
        ("_a", "x_a", None, NO),
        ("a-b", "a-bc", None, NO),
        ("king", "King's men", None, HIT),
        ("😀", "hi😀there", None, NO),
        ("x" * 250, "x" * 200, HIT, None),
        # and what the text around it says
        ("kai", "kaiser", HIT, NO),
        (" Eris ", "Eris", NO, NO),
        (" Eris ", "so Eris said", HIT, HIT),
        ("war room", "war rooms", HIT, HIT),  # white space in the key: a part of a word is enough
        ("war\u3000room", "xwar\u3000rooms", HIT, HIT),
        ("a\u0085b", "xa\u0085bx", HIT, NO),  # U+0085 is no white space
        ("x" * 199 + "😀", "x" * 199 + "😀", HIT, None),  # 200 units cut the pair in half (rules: deeplore 8 row 21)
        ("x" * 199 + "😀", "x" * 199 + "😁", HIT, None),  # same first half
        ("x" * 199 + "😀", "x" * 199 + "a", NO, None),
        ("İstanbul", "İSTANBUL", HIT, HIT),
    ],
)
def test_verified_matrix(key: str, text: str, part: bool | None, word: bool | None) -> None:
    assert part is None or hits(key, text, words=False) is part
    assert word is None or hits(key, text, words=True) is word


@pytest.mark.parametrize(
    ("key", "text", "hit"), [("War", "war", NO), ("War", "the Wars", HIT), ("café", NFD, NO), ("ß", "ẞ", NO)]
)
def test_case_sensitive(key: str, text: str, hit: bool) -> None:
    """Nothing is folded and nothing normalised then."""
    assert hits(key, text, words=False, case=True) is hit


@pytest.mark.parametrize(
    ("keys", "text", "words", "count"),
    [
        (["aa"], "aaaa", False, 2),
        (["a", "ab"], "ab ab", False, 4),  # overlapping keys both count
        (["a", "ab"], "ab ab", True, 2),
        (["war", "WAR", ""], "war War wars", False, 6),
        (["war"], "war War wars", True, 2),
        (["a-a"], "a-a-a", True, 1),
        ([], "a", False, 0),
    ],
)
def test_occurrences(keys: list[str], text: str, words: bool, count: int) -> None:
    matcher = KeyMatcher(entries_of([entry("A", *keys)]), case_sensitive=False, whole_words=words)
    assert matcher.occurrences(0, fold(text)) == count


def test_the_first_key_of_the_note_hits_not_the_first_in_the_text() -> None:
    matcher = KeyMatcher(entries_of([entry("A", "Two", "one")]), case_sensitive=False, whole_words=False)
    hit = matcher.test(0, matcher.find("one two"))
    assert hit is not None
    assert (hit.key, hit.start, matcher.size(hit)) == ("Two", 4, 3)


def test_a_key_is_returned_as_written() -> None:
    """Original, untruncated, not folded."""
    long = "É" + "x" * 250
    matcher = KeyMatcher(entries_of([entry("A", long)]), case_sensitive=False, whole_words=False)
    hit = matcher.test(0, matcher.find("é" + "x" * 250))
    assert hit is not None
    assert hit.key == long


def test_refine_keys_have_no_length_limit() -> None:
    drafts = [entry("A", "rose", refine_keys=("x" * 250,))]
    matcher = KeyMatcher(entries_of(drafts), case_sensitive=False, whole_words=False)
    assert matcher.test(0, matcher.find("rose " + "x" * 249)) is None
    found = matcher.find("rose " + "x" * 250)
    hit = matcher.test(0, found)
    assert hit is not None
    assert hit.refine_key == "x" * 250


# Letters that fold, canonicalise or compose in odd ways, word and space characters, halves of surrogate pairs.
ALPHABET = "aAbBkKsSiI1_-+.' \t\n\u0085\u00a0\u3000éÉeE\u0301ßẞſ\u212aİıµμςσΣﬁДд魔ΐ\u0345ǆǅ😀😁𐐀𐐨\ud83d\ude00\ud801"
texts = st.text(st.sampled_from(ALPHABET), max_size=30).map(naive_keys.joined)
short = st.text(st.sampled_from(ALPHABET), max_size=4).map(naive_keys.joined)
key_lists = st.lists(short, max_size=4)
# Reading a note trims refine keys and drops blank ones (rules: deeplore 1.5).
refine_lists = st.lists(short.map(trim).filter(bool), max_size=2)
notes = st.lists(st.tuples(key_lists, refine_lists), min_size=1, max_size=4)


def folded(text: str, case: bool) -> str:
    return text if case else fold(text)


@settings(max_examples=examples(600), deadline=None)
@given(notes=notes, text=texts, case=st.booleans(), words=st.booleans())
@example(notes=[(["\ud83d"], [])], text="😀", case=False, words=False)
@example(notes=[(["\ude00"], [])], text="a😀", case=False, words=True)
@example(notes=[(["ς"], ["σ"])], text="ΑΣ Σ", case=False, words=True)
@example(notes=[(["\u0345"], [])], text="ι", case=False, words=True)
def test_one_pass_equals_one_key_at_a_time(
    notes: list[tuple[list[str], list[str]]], text: str, case: bool, words: bool
) -> None:
    drafts = [entry(f"T{number}", *keys, refine_keys=tuple(refine)) for number, (keys, refine) in enumerate(notes)]
    matcher = KeyMatcher(entries_of(drafts), case_sensitive=case, whole_words=words)
    found = matcher.find(folded(text, case))
    rule: Any = {"case": case, "words": words}
    for number, (keys, refine) in enumerate(notes):
        one, first = matcher.test(number, found), matcher.test_primary(number, found)
        assert (one and one.key) == naive_keys.match(keys, refine, text, **rule)
        assert (first and first.key) == naive_keys.primary(keys, text, **rule)
        assert matcher.occurrences(number, folded(text, case)) == naive_keys.count(keys, text, **rule)


@settings(max_examples=examples(300), deadline=None)
@given(notes=notes, texts=st.lists(texts, max_size=4), case=st.booleans(), words=st.booleans())
def test_what_is_in_lines_is_what_is_in_the_text_that_they_make(
    notes: list[tuple[list[str], list[str]]], texts: list[str], case: bool, words: bool
) -> None:
    drafts = [entry(f"T{number}", *keys, refine_keys=tuple(refine)) for number, (keys, refine) in enumerate(notes)]
    matcher = KeyMatcher(entries_of(drafts), case_sensitive=case, whole_words=words)
    lines = [folded(text, case) for text in texts]
    for asked in (lines, lines[1:], lines):  # lines that are known stand elsewhere the next time
        assert matcher.find_in_lines(asked) == matcher.find("\n".join(asked))


@settings(max_examples=examples(150), deadline=None)
@given(
    prefix=st.text(st.sampled_from("aé\ud83d😀 "), max_size=3),
    tail=st.text(st.sampled_from("aé😀 x"), max_size=8),
    size=st.integers(190, 205),
    words=st.booleans(),
)
def test_long_keys_equal_one_key_at_a_time(prefix: str, tail: str, size: int, words: bool) -> None:
    key = naive_keys.joined(prefix + "a" * (size - len(prefix)) + tail)
    text = naive_keys.joined(f" {prefix}{'a' * (size - len(prefix))}{tail[:4]} ")
    matcher = KeyMatcher(entries_of([entry("A", key)]), case_sensitive=False, whole_words=words)
    hit = matcher.test(0, matcher.find(fold(text)))
    assert (hit is not None) is (naive_keys.match([key], [], text, case=False, words=words) is not None)


CHAT = (
    message("A: one"),
    message("B: two", is_system=True),
    message("C: three", extra={"type": "narrator"}),
    Message(None, "four"),
    Message("D", ""),  # a text that is no string is read as ""
    message("E: six", extra={"isSmallSys": True}),
    message("F: seven"),
)
"""The verified example (rules: deeplore 3.3)."""


def window(*chat: Message, deepest: float = 100) -> ScanWindow:
    return ScanWindow(chat, deepest, case_sensitive=True)


@pytest.mark.parametrize(
    ("depth", "text"),
    [
        (1, "F: seven"),
        (2, "F: seven"),
        (4, ": four\nD: \nF: seven"),
        (7, "A: one\n: four\nD: \nF: seven"),
        (100, "A: one\n: four\nD: \nF: seven"),
        (0.5, "A: one\n: four\nD: \nF: seven"),
        (math.inf, "A: one\n: four\nD: \nF: seven"),
        (3.9, "D: \nF: seven"),  # truncated towards zero
        (0, ""),
        (-1, ""),
    ],
)
def test_verified_windows(depth: float, text: str) -> None:
    scanned = window(*CHAT)
    assert scanned.tail(depth) == scanned.raw_tail(depth) == text
    assert scanned.count(depth) == (text.count("\n") + 1 if text else 0)


@pytest.mark.parametrize("deepest", [4, 7, 100, math.inf])
def test_a_shallower_window_is_the_same_however_deep_the_deepest(deepest: float) -> None:
    assert window(*CHAT, deepest=deepest).tail(4) == ": four\nD: \nF: seven"


@pytest.mark.parametrize(
    "unscannable",
    [
        message("X: x", is_system=True),
        message("X: x", is_thoughts=True),
        message("X: x", extra={"tool_invocations": []}),  # an empty list counts
        message("X: x", extra={"tool_invocations": [{}]}),
        message("X: x", extra={"type": "narrator"}),
        message("X: x", extra={"isSmallSys": True}),
    ],
)
def test_unscannable_messages_use_up_a_place(unscannable: Message) -> None:
    assert window(message("A: a"), unscannable).tail(1) == ""
    assert window(message("A: a"), unscannable).tail(2) == "A: a"


@pytest.mark.parametrize("extra", [{}, {"type": "other"}, {"isSmallSys": False}, {"tool_invocations": None}])
def test_other_extras_are_scanned(extra: dict[str, object]) -> None:
    assert window(message("X: x", extra=extra)).tail(1) == "X: x"


def test_only_what_is_searched_is_folded() -> None:
    folded = ScanWindow((message("Anna: ÉLAN e\u0301"),), 1, case_sensitive=False)
    assert (folded.tail(1), folded.raw_tail(1)) == ("anna: élan é", "Anna: ÉLAN e\u0301")


def test_an_empty_window_starts_past_the_end() -> None:
    """So that nothing lies in it, not even at the very end of the text."""
    scanned = window(message("A: a"))
    assert scanned.offset(0) > len(scanned.text)
    assert window().tail(4) == ""


@pytest.mark.parametrize(
    ("word", "where"),
    [
        ("a: one", {"message": 0, "in_name": True}),
        ("one", {"message": 0, "start": 0, "end": 3}),
        ("four", {"message": 3, "start": 0, "end": 4}),
        ("ven", {"message": 6, "start": 2, "end": 5}),
    ],
)
def test_locate(word: str, where: dict[str, object]) -> None:
    scanned = ScanWindow(CHAT, 100, case_sensitive=False)
    assert scanned.locate(scanned.text.index(word), len(word)) == where
