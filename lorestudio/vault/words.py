"""Where a word begins and ends, also in scripts that put no space between words."""

from __future__ import annotations

import unicodedata
from bisect import bisect_right
from functools import lru_cache
from typing import Final

_UNSPACED: Final = (
    (0x0E00, 0x0EFF),  # Thai, Lao
    (0x1000, 0x109F),  # Myanmar
    (0x1100, 0x11FF),  # Hangul letters; Korean has spaces, but particles stand right behind a name
    (0x1780, 0x17FF),  # Khmer
    (0x2E80, 0x2FDF),  # Han radicals
    (0x3005, 0x3007),
    (0x3040, 0x318F),  # Hiragana, Katakana, Bopomofo, Hangul letters
    (0x31A0, 0x31FF),
    (0x3400, 0x4DBF),  # Han
    (0x4E00, 0x9FFF),
    (0xA960, 0xA97F),
    (0xAC00, 0xD7FF),  # Hangul
    (0xF900, 0xFAFF),
    (0xFF66, 0xFFDC),  # halfwidth Katakana and Hangul
    (0x1B000, 0x1B16F),
    (0x20000, 0x3FFFF),
)
_STARTS: Final = [first for first, _ in _UNSPACED]


@lru_cache(maxsize=4096)
def is_word(char: str) -> bool:
    """Whether the character belongs to a word that has neighbours: a letter, figure, underscore or combining mark.

    Letters of scripts without spaces do not, as a word may begin beside each of them.
    """
    if char.isascii():
        return char.isalnum() or char == "_"
    point = ord(char)
    number = bisect_right(_STARTS, point) - 1
    if number >= 0 and point <= _UNSPACED[number][1]:
        return False
    return char.isalnum() or unicodedata.category(char).startswith("M")


def stands_alone(text: str, start: int, end: int) -> bool:
    """Whether the span neither begins nor ends in the middle of a word."""
    return not (start > 0 and is_word(text[start]) and is_word(text[start - 1])) and not (
        end < len(text) and is_word(text[end - 1]) and is_word(text[end])
    )


def lower_in_place(text: str) -> str:
    """Lower case with every character at its place: where lower-casing makes two of one, that one stays."""
    lower = text.lower()
    if len(lower) == len(text):
        return lower
    return "".join(small if len(small := char.lower()) == 1 else char for char in text)


def spellings(text: str) -> tuple[str, ...]:
    """The text in lower case, composed and decomposed: files from some systems have their letters taken apart."""
    if text.isascii():
        return (text.lower(),)
    forms = (unicodedata.normalize(form, text) for form in ("NFC", "NFD"))
    return tuple(dict.fromkeys(lower_in_place(form) for form in forms))
