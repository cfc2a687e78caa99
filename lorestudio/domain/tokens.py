"""How texts are counted: the protocol, a text that grows, and the documented estimates."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import Counter
from collections.abc import Mapping
from functools import lru_cache
from typing import Final, Protocol, runtime_checkable

from msgspec import Struct

from lorestudio.domain.javascript import added, length
from lorestudio.domain.records import Terse


class TokenCounter(Protocol):
    """Counts the tokens of a text."""

    @property
    def name(self) -> str:
        """What people call this counter, e.g. `chars/4`."""

    @property
    def exact(self) -> bool:
        """False for an estimate, which is shown with a leading `≈`."""

    @property
    def identity(self) -> str:
        """What decides the counts: two counters of one identity count every text alike, whatever their names."""

    def count(self, text: str) -> int:
        """Tokens of `text`, 0 for the empty one."""


class GrowingText(Protocol):
    """A text that grows at its end and is counted at each step: the count is that of the whole."""

    def add(self, more: str) -> int:
        """Take `more` in; tokens of the text with it."""

    def anew(self) -> GrowingText:
        """Another one, empty, that need not measure again what this one has."""


@runtime_checkable
class CountsGrowth(Protocol):
    """A counter that need not count the whole of a growing text again."""

    def growing(self) -> GrowingText:
        """A text to grow, empty."""


class _WholeText:
    """Counts everything anew at each step: right for every counter."""

    def __init__(self, counter: TokenCounter) -> None:
        self._counter, self._text = counter, ""

    def add(self, more: str) -> int:
        self._text += more
        return self._counter.count(self._text)

    def anew(self) -> GrowingText:
        return _WholeText(self._counter)


def growing(counter: TokenCounter) -> GrowingText:
    """An empty text that this counter counts as it grows."""
    return counter.growing() if isinstance(counter, CountsGrowth) else _WholeText(counter)


class CharacterEstimate(Struct, frozen=True):
    """Tokens as UTF-16 code units, or as UTF-8 bytes, divided by a constant, rounded up."""

    name: str
    units_per_token: float
    by_bytes: bool = False
    exact: bool = False

    @property
    def identity(self) -> str:
        """The name says it all."""
        return self.name

    def units(self, text: str) -> int:
        """What is divided. A lone half of a surrogate pair has the three bytes of the character that replaces it."""
        return len(text.encode("utf-8", "surrogatepass")) if self.by_bytes else length(text)

    def count(self, text: str) -> int:
        """Estimate of `text`, 0 for the empty one."""
        return self.of_units(self.units(text))

    def of_units(self, units: float) -> int:
        """Tokens of so many units."""
        return math.ceil(units / self.units_per_token)

    def growing(self) -> GrowingText:
        """Units add up."""
        return _Units(self)


class _Units(Struct):
    counter: CharacterEstimate | ScriptEstimate
    known: dict[str, float] = {}
    units: float = 0

    def add(self, more: str) -> int:
        units = self.known.get(more)
        if units is None:
            units = self.known[more] = self.counter.units(more)
        self.units += units
        return self.counter.of_units(self.units)

    def anew(self) -> GrowingText:
        return _Units(self.counter, self.known)


_SCRIPTS: Final = (
    (0x00, "other"), (0x80, "latin"), (0x250, "other"), (0x370, "cyr"), (0x530, "other"), (0x590, "arab"),
    (0x780, "other"), (0x8A0, "arab"), (0x900, "indic"), (0xEDF, "other"), (0x1100, "hangul"), (0x1200, "other"),
    (0x1E00, "latin"), (0x1F00, "cyr"), (0x2000, "other"), (0x2E80, "han"), (0x3040, "kana"), (0x3100, "han"),
    (0x3130, "hangul"), (0x3190, "han"), (0xA000, "other"), (0xAC00, "hangul"), (0xD7B0, "other"), (0xF900, "han"),
    (0xFB00, "other"), (0xFB1D, "arab"), (0xFE00, "other"), (0xFE70, "arab"), (0xFEFF, "other"), (0xFF66, "kana"),
    (0xFFA0, "hangul"), (0xFFE0, "other"), (0x20000, "han"), (0x323B0, "other"),
)  # fmt: skip
"""Where the code points of a script begin; outside ASCII."""
_STARTS: Final = tuple(start for start, _ in _SCRIPTS)


@lru_cache(maxsize=20_000)
def _script(char: str) -> str:
    if char.isspace():
        return "space"
    if char.isascii():
        return "ascii_l" if char.isalpha() else "ascii_d" if char.isdigit() else "ascii_p"
    return _SCRIPTS[bisect_right(_STARTS, ord(char)) - 1][1]


class ScriptEstimate(Terse, frozen=True):
    """Tokens as the sum of a weight for each character by its script, rounded up (rules: tokens 4).

    `factor` is what known counts have shown: the estimate is multiplied by it.
    """

    unprinted = ("weights",)

    name: str
    weights: Mapping[str, float]
    factor: float = 1.0
    exact: bool = False

    @property
    def identity(self) -> str:
        """The weights themselves, so that a calibrated estimate is another counter."""
        return f"{self.name} {self.factor:.4f} {sorted(self.weights.items())}"

    def units(self, text: str) -> float:
        """The sum of the weights."""
        weights = self.weights
        letter = weights["ascii_l"]
        if text.isascii() and letter == weights["space"] == weights["ascii_d"] == weights["ascii_p"]:
            return letter * len(text)
        return added(weights[_script(char)] * times for char, times in Counter(text).items())

    def of_units(self, units: float) -> int:
        """Tokens of so much weight."""
        return math.ceil(round(units * self.factor, 6))

    def count(self, text: str) -> int:
        """Estimate of `text`, 0 for the empty one."""
        return self.of_units(self.units(text))

    def growing(self) -> GrowingText:
        """Weights add up."""
        return _Units(self)


CHARS_4: Final = CharacterEstimate("chars/4", 4)
"""DeepLore's own fallback (rules: deeplore 1.10)."""

CHARS_3_35: Final = CharacterEstimate("chars/3.35", 3.35)
"""SillyTavern's guess when it has no tokenizer, up to 1.15 (rules: deeplore 11)."""

BYTES_3_35: Final = CharacterEstimate("bytes/3.35", 3.35, by_bytes=True)
"""SillyTavern's guess since 1.16 (rules: tokens 4)."""
