"""Title order (rules: deeplore 0.6)."""

import random
import string
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lorestudio.domain import collation
from lorestudio.domain.collation import compare, sort_key

# The verified pairs (rules: deeplore 0.6).
PAIRS = [
    ("a", "B", -1),
    ("a", "A", -1),
    ("Z", "a", 1),
    ("a", "á", -1),
    ("á", "b", -1),
    ("a b", "ab", -1),
    ("a-b", "ab", -1),
    ("a-b", "a b", 1),
    ("a_b", "a b", 1),
    ("_a", "a", -1),
    ("O'Neil", "Oneil", -1),
    ("10", "2", -1),
    ("10", "9a", -1),
    ("é", "e\u0301", 0),
    ("ß", "ss", 1),
    ("æ", "ae", 1),
    ("Æ", "af", -1),
    ("ö", "z", -1),
    ("ñ", "o", -1),
    ("Ω", "z", 1),
    ("д", "z", 1),
    ("中", "あ", 1),
    ("#1", "1", -1),
    ("(x)", "x", -1),
    ("", "a", -1),
    ("a", "aa", -1),
    ("Aa", "aB", -1),
    ("co-op", "coop", -1),
    ("resume", "résumé", -1),
    ("résumé", "resumes", -1),
    ("The Seal", "the seal", 1),
    ("x.1", "x1", -1),
    ("ａ", "a", 1),
    ("😀", "a", -1),
    ("\u0001a", "a", 0),
    ("'a", "a", -1),
    ("$", "1", -1),
    ("–", "-", 1),
]

# Each list is in the order ICU 78 gives, no two members equal.
ORDERED = {
    "equal-priority titles": ["_x", "10", "2", "a", "Á", "b", "B", "é b", "e c", "e-c", "ec"],
    "reimplementation trap 43": ["_x", "10", "2", "a", "Á", "b", "B", "é b"],
    "ASCII": [
        *"\t\n\v\f\r _-,;:!?.'\"()[]{}@*/\\&#%`^+<=>|~$0123456789aAbBcCdDeEfFgGhHiIjJkKlLmMnNoOpPqQrRsStTuUvVwWxXyYzZ"
    ],
    "groups": [
        " ",
        "\u00a0",
        "‾",
        "-",
        "—",
        "¿",
        "§",
        "¶",
        "´",
        "°",
        "→",
        "∞",
        "★",
        "♥",
        "€",
        "0",
        "1",
        "½",
        "²",
        "৴",
        "a",
    ],
    "quotes": ["'", "'\u0301", "‘", "’", "‚", '"', "“", "”", "„", "«"],
    "curly quotes before case": ["o'neil", "O'Neil", "o’neil", "O’Neil", "O'neill"],
    "accents before case": ["cote", "Cote", "coté", "Coté", "côte", "Côté"],
    "Latin": ["ä b", "ab", "æ", "đ", "ð", "i", "ı", "l", "ł", "ø", "ŧ", "z", "ž", "þ"],
    "scripts": ["z", "ω", "я", "ა", "ա", "א", "ب", "अ", "ก", "ᄀ", "가", "あ", "中"],
    "Cyrillic": ["е", "ё", "Ж", "и", "й", "Й", "к"],
    "kana": ["あ", "ア", "い", "か", "が", "カー", "は", "ば", "ぱ", "ん"],
    "Thai vowels written first": ["กา", "เก", "ขา", "เข"],
    "newer than Unicode 10.0": ["⸻", "⸼", "🥋", "🥍", "🩰", "😀", "🛕", "₿", "⃀", "a"],
}


printable = st.text(alphabet=[chr(code) for code in range(0x20, 0x7F)])


@pytest.mark.parametrize(("a", "b", "sign"), PAIRS)
def test_verified_pairs(a: str, b: str, sign: int) -> None:
    assert compare(a, b) == sign
    assert compare(b, a) == -sign


@pytest.mark.parametrize("expected", ORDERED.values(), ids=ORDERED)
def test_order(expected: list[str]) -> None:
    titles = expected.copy()
    random.Random(43).shuffle(titles)
    assert sorted(titles, key=sort_key) == expected
    assert len({sort_key(title) for title in titles}) == len(titles)


def test_equivalent_spellings_are_equal() -> None:
    assert compare("q\u0323\u0307", "q\u0307\u0323") == 0
    assert compare("Ångström", "A\u030angstro\u0308m") == 0
    assert compare("가", "\u1100\u1161") == 0
    # A letter with a mark of its own stays that letter when another mark stands in between.
    assert compare("и\u0323\u0306", "й\u0323") == 0


@pytest.mark.parametrize("ignored", ["\0", "\u0001", "\x1f", "\x7f", "\u00ad", "\u200b", "\ufe0f", "\ufeff"])
def test_control_and_format_characters_are_ignored(ignored: str) -> None:
    assert compare(f"a{ignored}b", "ab") == 0
    assert compare(ignored, "") == 0


def test_ideographs_keep_the_order_of_their_codes() -> None:
    assert sorted("龥中丁一", key=sort_key) == list("一丁中龥")


@pytest.mark.parametrize("code", [0xD800, 0xDFFF, 0xD83D, 0xE000, 0x0378, 0x10FFFF, 0x1E6C0])
def test_any_code_point_gets_a_key(code: int) -> None:
    odd = chr(code)
    assert compare(odd, odd) == 0
    assert compare(odd, "z") == 1
    assert compare(f"a{odd}", f"b{odd}") == -1


def test_private_use_and_lone_surrogates_come_after_every_letter() -> None:
    assert sorted(["\ue000", "\ud800", "z", "中", "あ"], key=sort_key) == ["z", "あ", "中", "\ud800", "\ue000"]


@given(printable)
def test_ascii_without_the_table_is_the_same(text: str) -> None:
    assert sort_key(text) == collation._table_key(text)


@given(st.text(), st.text(alphabet=string.ascii_letters + "áÁ’' \u0301"))
def test_normal_forms_share_one_key(text: str, western: str) -> None:
    for title in (text, western):
        assert sort_key(unicodedata.normalize("NFC", title)) == sort_key(unicodedata.normalize("NFD", title))


def test_the_table_is_loaded_once_and_only_when_needed() -> None:
    for cached in (collation.sort_key, collation._weights, collation._table):
        cached.cache_clear()
    sort_key("The Seal, part 2 (draft)")
    assert collation._table.cache_info().misses == 0
    sort_key("Château")
    sort_key("Été")
    assert collation._table.cache_info().misses == 1
