"""Testing keys one at a time, written straight from the rules (rules: deeplore 0.1, 3.3, 3.4, 3.10).

Texts are lists of UTF-16 code units in the form of strings of one character a unit, as JavaScript sees them.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

from lorestudio.domain.chat import Message

WHITE_SPACE = (
    "\t\n\v\f\r \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f"
    "\u3000\ufeff"
)


def units(text: str) -> str:
    data = text.encode("utf-16-le", "surrogatepass")
    return "".join(chr(int.from_bytes(data[place : place + 2], "little")) for place in range(0, len(data), 2))


def joined(text: str) -> str:
    """The text with halves of surrogate pairs that stand side by side made one character, as in JavaScript."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")


def fold(text: str) -> str:
    return unicodedata.normalize("NFC", text).lower()


def canon(unit: str) -> str:
    """What the `i` flag without `u` compares: upper case, unless longer than a unit or ASCII for a non-ASCII unit."""
    upper = unit.upper()
    if len(upper) != 1 or ord(upper) > 0xFFFF or (ord(unit) >= 128 > ord(upper)):
        return unit
    return upper


def found(key: str, text: str, *, case: bool, words: bool) -> list[int]:
    """Places where the key occurs without overlaps; `key` is cut to length already."""
    needle = units(key if case else fold(key))
    haystack = units(text if case else fold(text))
    if words and not any(char in WHITE_SPACE for char in needle):
        if not case:
            needle, haystack = ("".join(map(canon, one)) for one in (needle, haystack))
        begin = r"\b" if re.match(r"\w", needle, re.ASCII) else r"(?<!\w)"
        end = r"\b" if re.search(r"\w\Z", needle, re.ASCII) else r"(?!\w)"
        return [hit.start() for hit in re.finditer(f"{begin}{re.escape(needle)}{end}", haystack, re.ASCII)]
    places, place = [], haystack.find(needle)
    while place >= 0:
        places.append(place)
        place = haystack.find(needle, place + len(needle))
    return places


def usable(keys: Sequence[str]) -> list[tuple[str, str]]:
    """The keys that are not blank, each with its first 200 code units."""
    return [(key, joined(units(key)[:200])) for key in keys if key.strip(WHITE_SPACE)]


def primary(keys: Sequence[str], text: str, *, case: bool, words: bool) -> str | None:
    return next((key for key, short in usable(keys) if found(short, text, case=case, words=words)), None)


def match(keys: Sequence[str], refine: Sequence[str], text: str, *, case: bool, words: bool) -> str | None:
    key = primary(keys, text, case=case, words=words)
    if key is None or not refine:
        return key
    return key if any(found(one, text, case=case, words=words) for one in refine) else None


def count(keys: Sequence[str], text: str, *, case: bool, words: bool) -> int:
    return sum(len(found(short, text, case=case, words=words)) for _, short in usable(keys))


def scan_text(chat: Sequence[Message], depth: float) -> str:
    """The last messages of the chat, those that are scanned, as `name: text` lines."""
    if depth <= 0:
        return ""
    whole = min(depth, len(chat))
    window = chat[-int(whole) :] if int(whole) else chat
    return "\n".join(
        f"{one.name or ''}: {one.text}"
        for one in window
        if not one.is_system and not one.is_thoughts and "tool_invocations" not in one.extra
    )
