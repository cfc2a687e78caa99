"""How texts are counted: the protocol and the two documented estimates."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final, Protocol

from lorestudio.domain.javascript import length


class TokenCounter(Protocol):
    """Counts the tokens of a text."""

    @property
    def name(self) -> str:
        """What people call this counter, e.g. `chars/4`."""
        ...

    @property
    def exact(self) -> bool:
        """False for an estimate, which is shown with a leading `≈`."""
        ...

    def count(self, text: str) -> int:
        """Tokens of `text`, 0 for the empty one."""
        ...


@dataclass(frozen=True, slots=True)
class CharacterEstimate:
    """Tokens as code units divided by a constant, rounded up."""

    name: str
    units_per_token: float
    exact: bool = False

    def count(self, text: str) -> int:
        """Estimate of `text`, 0 for the empty one."""
        return math.ceil(length(text) / self.units_per_token)


CHARS_4: Final = CharacterEstimate("chars/4", 4)
"""DeepLore's own fallback (rules: deeplore 1.10)."""

CHARS_3_35: Final = CharacterEstimate("chars/3.35", 3.35)
"""SillyTavern's guess when it has no tokenizer (rules: deeplore 11)."""
