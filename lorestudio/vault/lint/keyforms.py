"""Keys as they are searched, compared with each other instead of with a text (rules: deeplore 3.4, sillytavern 5.6).

A claim made here about two keys holds for every text; where that is not sure, no claim is made. Nothing here decides
whether a key is in a text: that is the engine's business.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from typing import Final

from msgspec import Struct

from lorestudio.domain.automaton import automaton_of
from lorestudio.domain.javascript import WHITE_SPACE, WORD, fold, head, length, trim
from lorestudio.domain.lifecycle import heeding

SEARCHED: Final = 200
"""Code units of a key that are searched."""

SHORT: Final = 2
"""Keys of up to so many characters are short (rules: deeplore-tools 3.3 K01)."""

_PATTERN: Final = re.compile(r"/.+/[dgimsuvy]*")
_WHITE: Final = frozenset(WHITE_SPACE)
_CLINGING: Final = frozenset("-'/\u2010\u2011\u2012\u2013\u2019")
"""Signs that texts write next to a word without a blank."""
_JOINERS: Final = "\u200c\u200d"
_UNSEEN: Final = frozenset(["Cf", "Cc", "Zl", "Zp"])


class KeyRules(Struct, frozen=True):
    """How the keys of an entry are searched; `counted`: one that stands there twice counts twice.

    `patterns`: one between slashes is a pattern, and blanks around a key are no part of it.
    """

    case_sensitive: bool = False
    match_whole_words: bool = False
    counted: bool = False
    patterns: bool = False

    def plain(self, keys: Iterable[str]) -> tuple[str, ...]:
        """The texts that are searched as they are; blank ones are passed over (rules: deeplore 3.4)."""
        if self.patterns:
            return tuple(trim(key) for key in keys if trim(key) and not is_pattern(key))
        return tuple(key for key in keys if trim(key))


class KeyForm(Struct, frozen=True, gc=False):  # no part of a cycle, and there are thousands of them
    """A key as it is searched: `word` where it has to stand alone, `exact` where its case counts."""

    text: str
    word: bool
    exact: bool


def key_form(key: str, rules: KeyRules) -> KeyForm:
    """How a key is searched under the rules."""
    text = head(key, SEARCHED)
    text = text if rules.case_sensitive else fold(text)
    return KeyForm(text, rules.match_whole_words and _WHITE.isdisjoint(text), rules.case_sensitive)


def covers(short: KeyForm, long: KeyForm) -> bool:
    """Whether `short` is found wherever `long` is found, and is another key."""
    if short.text == long.text or short.exact is not long.exact:
        return False
    place = long.text.find(short.text)
    while place >= 0:
        if not short.word or (_open(long, place - 1) and _open(long, place + len(short.text))):
            return True
        place = long.text.find(short.text, place + 1)
    return False


def _open(key: KeyForm, place: int) -> bool:
    """Whether the character at `place`, or beside the key, is sure not to be part of a word."""
    if 0 <= place < len(key.text):
        return key.text[place] not in WORD
    return key.word


def contained(forms: Iterable[KeyForm]) -> dict[KeyForm, list[KeyForm]]:
    """For each key those longer ones that it covers; keys that cover none are left out. Raises Cancelled."""
    known = tuple(dict.fromkeys(forms))
    by_text: dict[str, tuple[KeyForm, ...]] = {}
    for form in heeding(known):
        if form.text:
            by_text[form.text] = (*by_text.get(form.text, ()), form)  # four forms at most have one text
    automaton = automaton_of(by_text)
    if automaton is None:
        return {}
    del by_text  # the automaton has it all, of a large lorebook a second time
    found: dict[KeyForm, list[KeyForm]] = {}
    for long in heeding(known):
        shorter = {same[0].text: same for _, same in automaton.iter(long.text) if same[0].text != long.text}
        for same in shorter.values():
            for short in same:
                if (short.exact is long.exact and not short.word) or covers(short, long):
                    found.setdefault(short, []).append(long)
    return found


def is_pattern(key: str) -> bool:
    """Whether the key is written as a pattern."""
    return "/" in key and _PATTERN.fullmatch(trim(key)) is not None


def is_short(key: str) -> bool:
    """Whether the key is likely to be found by chance. A word of two signs is usual in Chinese, Japanese and Korean."""
    if not key.isascii() and any(_ideographic(char) for char in key):
        return length(trim(key)) < SHORT
    return length(key) <= SHORT


def _ideographic(char: str) -> bool:
    return "\u3040" <= char <= "\u30ff" or "\u3400" <= char <= "\u9fff" or "\uac00" <= char <= "\ud7a3"


def is_punctuation(key: str) -> bool:
    """Whether no letter or digit is in the key."""
    if key[:1].isalnum():
        return False
    return bool(trim(key)) and not any(unicodedata.category(char)[0] in "LNSM" for char in trim(key))


def is_single_sign(key: str) -> bool:
    """Whether the key is one letter or digit of a script in which that is no word."""
    text = trim(key)
    return len(text) == 1 and text.isalnum() and not _ideographic(text)


def clings(key: str) -> bool:
    """Whether the key begins or ends with a sign that texts write next to a word."""
    return bool(key) and (key[0] in _CLINGING or key[-1] in _CLINGING)


def breaks_words(key: str) -> bool:
    """Whether a key that should stand alone is found inside longer words: a blank in it, letters beyond A to Z."""
    if not _WHITE.isdisjoint(key):
        return True
    return any(char not in WORD and unicodedata.category(char)[0] in "LMN" for char in (key[:1], key[-1:]) if char)


def unseen(key: str) -> Iterator[str]:
    """The invisible characters of a key by name, blanks at its edges left out: they are another matter."""
    for char in "" if key.isprintable() else trim(key):
        if char != " " and (char in _WHITE or _unprinted(char)):
            yield unicodedata.name(char, f"U+{ord(char):04X}").lower()


def seen(key: str) -> str:
    """The key without invisible characters: blanks for those that separate, nothing for the others."""
    return "".join(" " if char in _WHITE else "" if _unprinted(char) else char for char in key)


def _unprinted(char: str) -> bool:
    """Whether nothing of a character is seen; joiners are left alone, because emoji and some scripts need them."""
    return unicodedata.category(char) in _UNSEEN and char not in _JOINERS
