"""The JavaScript primitives that DeepLore's behaviour rests on.

Lengths and offsets are UTF-16 code units throughout, white space is ECMAScript's, numbers convert and print as in
ECMAScript. Everything that reproduces DeepLore uses these helpers and no Python look-alike.
Source of the rules: deeplore 0.1, 0.5, 1.11, 8.
"""

from __future__ import annotations

import math
import re
import sys
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from decimal import ROUND_HALF_UP, Decimal
from functools import lru_cache, reduce
from operator import add
from typing import Final, TypeAlias, TypeGuard

import numpy as np

Json: TypeAlias = bool | int | float | str | Sequence["Json"] | Mapping[str, "Json"] | None

WHITE_SPACE: Final = (
    "\t\n\v\f\r \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000\ufeff"
)
"""The characters that `\\s` matches and `trim` removes."""

WORD: Final = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_")
"""The characters that `\\w` matches."""

# Building blocks for patterns with JavaScript's meaning; Python's own differ in white space and line ends.
WS: Final = f"[{WHITE_SPACE}]"
NOT_WS: Final = f"[^{WHITE_SPACE}]"
DOT: Final = "[^\n\r\u2028\u2029]"
LINE_START: Final = "(?:(?<=[\n\r\u2028\u2029])|\\A)"
LINE_END: Final = "(?=[\n\r\u2028\u2029]|\\Z)"

_DECIMAL = re.compile(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?", re.ASCII)
_PREFIXED = {"0x": 16, "0o": 8, "0b": 2}
_SAFE_INTEGER = 2**53
_INDEX = re.compile(r"0|[1-9]\d{0,9}", re.ASCII)
_MOST_INDEX = 2**32 - 1
_BASE36 = "0123456789abcdefghijklmnopqrstuvwxyz"
_BYTES = np.dtype(np.uint8)
_CODE_UNITS = np.dtype("<u2")


def trim(text: str) -> str:
    """`String.prototype.trim`."""
    return text.strip(WHITE_SPACE)


def trim_end(text: str) -> str:
    """`String.prototype.trimEnd`."""
    return text.rstrip(WHITE_SPACE)


def whole(text: str) -> str:
    """The text with halves of surrogate pairs replaced, which no file takes."""
    return text if text.isascii() else text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def fold(text: str) -> str:
    """Lower-case after NFC normalisation; the result is not normalised again (rules: deeplore 0.1)."""
    folded = text.lower() if text.isascii() else unicodedata.normalize("NFC", text).lower()
    return text if folded == text else folded  # most keys are so already: of a large lorebook each would be there twice


def added(numbers: Iterable[float]) -> float:
    """The sum, one number after the other; Python's own makes up for what rounding loses, since 3.12."""
    return reduce(add, numbers, 0.0)


def length(text: str) -> int:
    """Number of UTF-16 code units; a character beyond the basic plane counts two."""
    if text.isascii():
        return len(text)
    return len(code_units(text)) // 2


def code_units(text: str) -> bytes:
    """Little-endian UTF-16, two bytes a code unit; halves of surrogate pairs stay what they are."""
    return text.encode("utf-16-le", "surrogatepass")


def as_units(text: str) -> str:
    """The text with a character for each UTF-16 code unit; halves of surrogate pairs stand alone."""
    if text.isascii() or max(text, default="") <= "\uffff":
        return text
    data = code_units(text)
    return "".join(chr(data[at] | data[at + 1] << 8) for at in range(0, len(data), 2))


def head(text: str, units: int) -> str:
    """The first `units` code units; a pair cut in half leaves a lone surrogate, as in JavaScript."""
    if units >= 2 * len(text):
        return text
    if text.isascii() or not any(char > "\uffff" for char in text):
        return text[:units]
    return code_units(text)[: 2 * units].decode("utf-16-le", "surrogatepass")


_OBJECTS: Final = (list, tuple, dict)
_NUMBERS: Final = (int, float)  # made once: as `int | float` it would be made anew by each call


def truthy(value: object) -> bool:
    """JavaScript truthiness: empty lists and objects are true, NaN is false."""
    if value is None or value is True or value is False:  # most are
        return value is True
    if not value:
        return isinstance(value, _OBJECTS)
    return not (isinstance(value, float) and math.isnan(value))


def number(value: float) -> int | float:
    """The same number as an `int` where it is a safe integer, so that it prints and compares as in JavaScript."""
    if not isinstance(value, int) and value.is_integer() and abs(value) <= _SAFE_INTEGER:
        return int(value)
    return value


def to_number(value: object) -> int | float:  # noqa: PLR0911  # a table of cases
    """`Number(value)`; NaN where JavaScript gives NaN (rules: deeplore 0.5)."""
    if value is None:
        return 0
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, int | float):
        return value
    if isinstance(value, list | tuple):
        value = to_string(value)
    if not isinstance(value, str):
        return math.nan
    text = trim(value)
    if not text:
        return 0
    if _DECIMAL.fullmatch(text):
        return number(float(text))
    if text in ("Infinity", "+Infinity"):
        return math.inf
    if text == "-Infinity":
        return -math.inf
    base = _PREFIXED.get(text[:2].lower())
    return _of_base(text[2:], base) if base and text.isascii() and text[2:].isalnum() else math.nan


def _of_base(figures: str, base: int) -> int | float:
    try:
        return number(float(int(figures, base)))
    except OverflowError:
        return math.inf
    except ValueError:
        return math.nan


def key_order(keys: Iterable[str]) -> list[str]:
    """The keys of an object as `Object.keys` lists them: those that are indices ascending, then the others."""
    listed = list(keys)
    indices = [key for key in listed if _INDEX.fullmatch(key) and int(key) < _MOST_INDEX]
    chosen = set(indices)
    return [*sorted(indices, key=int), *(key for key in listed if key not in chosen)]


def is_finite_number(value: object) -> TypeGuard[float]:
    """True for a number that is neither NaN nor infinite to JavaScript; booleans are no numbers."""
    return isinstance(value, _NUMBERS) and not isinstance(value, bool) and abs(value) <= sys.float_info.max


def number_text(value: float) -> str:
    """A number as `String(number)` prints it: shortest digits, no `.0`, exponent from 1e21 and below 1e-6."""
    if isinstance(value, int) and abs(value) < 10**21:
        return str(value)
    value = float(value)
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    if value == 0:
        return "0"
    sign, digits, exponent = Decimal(repr(value)).normalize().as_tuple()
    figures = "".join(map(str, digits))
    point = len(figures) + int(exponent)  # where the decimal point stands, counted from the first digit
    prefix = "-" if sign else ""
    if len(figures) <= point <= 21:
        return prefix + figures + "0" * (point - len(figures))
    if 0 < point <= 21:
        return f"{prefix}{figures[:point]}.{figures[point:]}"
    if -6 < point <= 0:
        return f"{prefix}0.{'0' * -point}{figures}"
    mantissa = figures if len(figures) == 1 else f"{figures[0]}.{figures[1:]}"
    return f"{prefix}{mantissa}e{'+' if point > 0 else '-'}{abs(point - 1)}"


def to_string(value: object) -> str:
    """`String(value)`: lists join their items by commas (null items are empty), objects have no text of their own."""
    if isinstance(value, str):
        return value
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return number_text(value)
    if isinstance(value, list | tuple):
        parts: list[str] = []
        left: list[object] = [value]
        while left:  # joined, lists inside lists read as one
            item = left.pop()
            if isinstance(item, list | tuple):
                left += reversed(item or ("",))
            else:
                parts.append("" if item is None else to_string(item))
        return ",".join(parts)
    return "[object Object]"


def round_half_up(value: float) -> int:
    """`Math.round`: halves go towards plus infinity."""
    return math.floor(value + 0.5)


def fixed_1(value: float) -> str:
    """`value.toFixed(1)` for ordinary magnitudes: the exact binary value, ties away from zero."""
    return str(Decimal(value).quantize(Decimal("0.1"), ROUND_HALF_UP))


_BASE36_PAIRS: Final = tuple(first + second for first in _BASE36 for second in _BASE36)


def base36(value: int) -> str:
    """A non-negative integer in lower-case base 36."""
    digits = ""
    while value >= 36:
        value, pair = divmod(value, 36 * 36)
        digits = _BASE36_PAIRS[pair] + digits
    if not value:
        return digits.removeprefix("0") or "0"
    return _BASE36[value] + digits


@lru_cache(maxsize=16)
def _powers_of_33(count: int) -> np.ndarray[tuple[int], np.dtype[np.uint32]]:
    """33^(count-1) ... 33^0 modulo 2^32."""
    powers = np.full(count, 33, dtype=np.uint32)
    powers[0] = 1
    return np.multiply.accumulate(powers, dtype=np.uint32)[::-1].copy()


def simple_hash(text: str) -> str:
    """DeepLore's change fingerprint: `length_h1_h2`, the hashes in base 36 (rules: deeplore 1.11).

    Both hashes are h = h*33 + c over the code units, from different seeds; so they share one weighted sum.
    """
    if not text:
        return "0_0"
    # Weighted by 32-bit powers, the sum is one of 32 bits, however narrow the units.
    units = np.frombuffer(text.encode(), _BYTES) if text.isascii() else np.frombuffer(code_units(text), _CODE_UNITS)
    count = len(units)
    # One table serves all texts up to the next power of two.
    powers = _powers_of_33(max(1 << count.bit_length(), 4096))
    total = int(units.dot(powers[-count:]))
    lift = int(powers[-count - 1])  # 33^count
    return f"{count}_{base36((5381 * lift + total) % 2**32)}_{base36((52711 * lift + total) % 2**32)}"
