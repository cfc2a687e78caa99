"""Title order as the browser's `localeCompare` gives it (rules: deeplore 0.6, 8 rows 43 and 58).

The reference is ICU 78 with locale en-US, that is the CLDR root collation: base letters decide first, then accents,
then case; nothing printable is ignored and digits are plain characters. The weights come from Unicode's own table
(DUCET 10.0) as the `pyuca` package ships it; this module adds what CLDR changed and what Unicode has added since.
pyuca's own collator is not used: it keeps the unchanged DUCET order and loads everything beforehand.

ASCII compares as in ICU without exception, and so do the characters of Unicode 10.0 but for a few rare ones (such as
the Arabic ligatures U+0675 to U+0678). These differences remain:

* CJK: ICU sorts by radical and stroke, this module by code point. The ideographs up to U+9FA5 stand almost in radical
  order (0.2 % of their pairs differ); later additions and the extensions come last instead of in between.
* Combining marks newer than Unicode 10.0 are mostly ignored; newer scripts, Tangut and unassigned codes do not find
  their exact place.
* Other characters newer than Unicode 10.0 stand in or next to their alphabet, not always at the exact place.
* The noncharacter U+FFFE sorts last instead of first.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from importlib.resources import files
from typing import Final, TypeAlias

CollationKey: TypeAlias = tuple[str, str, str]
"""Weights of the base letters, of the accents and of the case; each character is one weight."""

_NO_ACCENT: Final = "\x10"  # 0020 in the table; lowered to leave room for the quotes below
_LOWER: Final = "\x02"
_UPPER: Final = "\x08"

# The table's base weights of printable ASCII, so that plain titles need no table; space and capitals are added below.
_ASCII_WEIGHTS: Final = """
    _ 020B  - 020D  , 0222  ; 0234  : 023A  ! 0261  ? 0267  . 0278  ' 0306  " 030D  ( 0318  ) 0319  [ 031A  ] 031B
    { 031C  } 031D  @ 038F  * 0390  / 0395  \\ 0396  & 0397  # 0399  % 039A  ` 0498  ^ 049B  + 062C  < 0630  = 0631
    > 0632  | 0634  ~ 0636  $ 1C77  0 1CA3  1 1CA4  2 1CA5  3 1CA6  4 1CA7  5 1CA8  6 1CA9  7 1CAA  8 1CAB  9 1CAC
    a 1CAD  b 1CC6  c 1CE0  d 1CF5  e 1D10  f 1D4B  g 1D5A  h 1D7E  i 1D98  j 1DB2  k 1DCB  l 1DDD  m 1E10  n 1E1F
    o 1E43  p 1E72  q 1E87  r 1E99  s 1ED7  t 1EFB  u 1F1B  v 1F49  w 1F5B  x 1F65  y 1F71  z 1F87
"""

# CLDR sorts curly quotes as accented straight ones: each differs from the first of its row by an accent of its own,
# which ranks between no accent and every accent of the table.
_QUOTE_ROWS: Final = ("'‘’‚‛׳", '"“”„‟⹂〝〞〟״')

# Where CLDR places characters that the table misses or has elsewhere: the first code of a group is the listed character
# that the others follow, in order of their codes.
_PLACES: Final = """
    2E38 2E4B, 2E41 2E4C 2E4E 2E4F, 2E2E 2E54, 2E29 2E55 2E56 2E57 2E58 2E59 2E5A 2E5B 2E5C, 2E40 2E5D, 204B 2E4D,
    204A 2E52, 2720 2E50 2E51, 005C 2E4A, 00A1 2E53, 1C7F 061D, 1B5E 1B4E, 1B5F 1B4F, 1B5B 1B7D 1B7E, 1B5A 1B7F,
    09FD 0A76, 0AF0 0C77 0C84, 02D5 AB6A AB6B, 00A9 1F12F, 00AE 1F1AD, 25FF 1FB00, 1F0F5 1FA00, 1F9E6 1FA70,
    060B 07FE 07FF, 3250 20A7,
    0061 A7C1, 0064 AB66, 0067 A7D1, 0071 A7AF, 0073 A7F1, 0074 AB67, 0077 A7C3, 00FE A7D2 A7D3, 019B A7DC,
    01BF A7D4 A7D5, 023F A7D7, 0264 A7CB, 0281 AB68, 0295 A7CE A7CF, 1D06 A7C8, 1D8B 1D98, 1D8F A7BB, 1D96 A7BD,
    2C76 A7F6, 2C79 1D89, A731 A7CA A7CC A7CD, A781 A7DA A7DB, AB4F A7B9, AB52 A7BF,
    A68D 1C89 1C8A, 0561 0560, 0575 0588, 05D9 05EF, 0910 A8FE, 0948 A8FF, 0D3D 0D04,
    0621 0883 0887, 0627 0870, 0648 0884, 064A 0885 0886, 0684 088A, 063B 088D, 06A0 08C3, 06A8 08C4, 06BC 088F,
    06CC 08C9, 0756 08BE, 0764 08C2, 0769 0889, 077B 088E, 08A2 08C1 08C5 08C6, 08A3 088B 088C, 08A5 08B5, 08A6 08C7,
    08B0 08C8, 08B8 08BF 08C0, FDFD 0888, 06E9 FBC3 FD40 FD90 FDC8
"""

_COMPATIBILITY_IDEOGRAPHS: Final = "\ufa0e\ufa0f\ufa11\ufa13\ufa14\ufa1f\ufa21\ufa23\ufa24\ufa27\ufa28\ufa29"
"""The twelve characters of that block which are ideographs of their own."""

_ELEMENT: Final = re.compile(r"\[[.*](\w{4})\.(\w{4})\.(\w{4})\]")
_FIRST_LETTER: Final = 0x1CAD
_FIRST_NUMERAL: Final = 0x1AFA
_LAST_NUMERAL: Final = 0x1C5B
_ABOVE_ALL: Final = "\U0010ffff"  # with it added, a base weight comes behind that weight and whatever may follow it


def _base(weight: int) -> str:
    """Put a base weight of the table in CLDR's order: the numerals before the currency signs go behind the digits."""
    if weight >= _FIRST_LETTER:
        return chr(weight + _LAST_NUMERAL - _FIRST_NUMERAL + 1)
    if _FIRST_NUMERAL <= weight <= _LAST_NUMERAL:
        return chr(weight + _FIRST_LETTER - _FIRST_NUMERAL)
    return chr(weight)


def _accent(code: str) -> str:
    return _NO_ACCENT if code == "0020" else chr(int(code, 16))


def _ascii_bases() -> dict[int, str]:
    words = _ASCII_WEIGHTS.split()
    weights = {char: _base(int(code, 16)) for char, code in zip(words[::2], words[1::2], strict=True)}
    capitals = {char.upper(): weight for char, weight in weights.items()}
    return str.maketrans(weights | capitals | {" ": _base(0x0209)})


def _placed_after() -> dict[str, str]:
    placed = {}
    for group in _PLACES.split(","):
        anchor, *followers = [chr(int(code, 16)) for code in group.split()]
        placed.update(dict.fromkeys(followers, anchor))
    return placed


_ASCII_BASES: Final = _ascii_bases()
_ASCII_CASES: Final = {code: _UPPER if chr(code).isupper() else _LOWER for code in range(0x20, 0x7F)}
_QUOTES: Final = {
    quote: (_ASCII_BASES[ord(row[0])], chr(ord(_NO_ACCENT) + rank), _LOWER)
    for row in _QUOTE_ROWS
    for rank, quote in enumerate(row)
    if rank > 0
}
_PLACED_AFTER: Final = _placed_after()


@lru_cache(maxsize=65536)  # titles, which every generation puts in order again
def sort_key(text: str) -> CollationKey:
    """Return a key that orders like `localeCompare`; equal keys are those for which it returns 0.

    (rules: deeplore 0.6)
    """
    if text.isascii() and text.isprintable():
        return text.translate(_ASCII_BASES), _NO_ACCENT * len(text), text.translate(_ASCII_CASES)
    return _table_key(text)


def compare(a: str, b: str) -> int:
    """Return the sign of `a.localeCompare(b)` (rules: deeplore 0.6)."""
    left, right = sort_key(a), sort_key(b)
    return (left > right) - (left < right)


def _table_key(text: str) -> CollationKey:
    weights = [_weights(sequence) for sequence in _sequences(unicodedata.normalize("NFD", text))]
    return "".join([w[0] for w in weights]), "".join([w[1] for w in weights]), "".join([w[2] for w in weights])


@lru_cache(maxsize=1)
def _table() -> dict[str, str]:
    """Load the table: from a character, or a sequence that sorts as one, to its still unparsed weights."""
    lines = files("pyuca").joinpath("allkeys-10.0.0.txt").read_text(encoding="utf-8").splitlines()
    table = {}
    for line in lines:
        codes, semicolon, weights = line.partition(";")
        if semicolon and not codes.startswith(("#", "@")):
            table["".join([chr(int(code, 16)) for code in codes.split()])] = weights
    return table


def _sequences(text: str) -> Iterator[str]:
    """Split NFD text into the longest sequences the table has, over combining marks in between (UTS #10, step S2.1)."""
    table = _table()
    start = 0
    while start < len(text):
        size = next((n for n in (3, 2) if text[start : start + n] in table), 1)
        found = text[start : start + size]
        start += size
        mark, skipped = start, 0
        while mark < len(text) and (kind := unicodedata.combining(text[mark])):
            if kind != skipped and found + text[mark] in table:
                found += text[mark]
                text = text[:mark] + text[mark + 1 :]
            else:
                mark, skipped = mark + 1, kind
        yield found


@lru_cache(maxsize=16384)
def _weights(sequence: str) -> CollationKey:
    if sequence in _QUOTES:
        return _QUOTES[sequence]
    listed = _table().get(sequence)
    if listed is None or sequence in _PLACED_AFTER:
        return _unlisted(sequence)
    elements = _ELEMENT.findall(listed)
    return (
        "".join([_base(int(base, 16)) for base, _, _ in elements if base != "0000"]),
        "".join([_accent(accent) for _, accent, _ in elements if accent != "0000"]),
        "".join([chr(int(case, 16)) for _, _, case in elements if case != "0000"]),
    )


def _unlisted(char: str) -> CollationKey:
    """Make the weights of a character that the table does not have or that CLDR places elsewhere."""
    code = ord(char)
    if 0x4E00 <= code <= 0x9FFF or char in _COMPATIBILITY_IDEOGRAPHS:
        return _by_code(0xFB40, code)
    if 0x3400 <= code <= 0x4DBF or 0x20000 <= code <= 0x3FFFD:
        return _by_code(0xFB80, code)
    anchor = _PLACED_AFTER.get(char)
    if anchor is None:
        if unicodedata.category(char) in {"Mn", "Me", "Cf"}:
            return "", "", ""
        plain = unicodedata.normalize("NFKD", char)
        if plain == char:
            plain = char.lower()
        if plain != char:
            base, accent, case = _table_key(plain)
            return base, accent, _UPPER * len(case)
        anchor = _neighbour(code)
    if anchor is None:
        return _by_code(0xFBC0, code)
    base, accent, case = _weights(anchor)
    if not base:  # a combining mark which this Python does not know yet
        return "", accent, case
    return base + _ABOVE_ALL + char, accent, case


def _neighbour(code: int) -> str | None:
    """Find the nearest character before this one that has a place, within the same 256 codes."""
    for other in map(chr, range(code - 1, (code & ~0xFF) - 1, -1)):
        if other in _PLACED_AFTER:
            return _PLACED_AFTER[other]
        if other in _table():
            return other
    return None


def _by_code(first: int, code: int) -> CollationKey:
    """Compute weights from the code itself (UTS #10, section 10.1.3)."""
    return _base(first + (code >> 15)) + _base(code & 0x7FFF | 0x8000), _NO_ACCENT, _LOWER
