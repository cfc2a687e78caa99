"""The macros of prompts that can be filled in without the host: names, card fields, the last messages, outlets.

Names compare without case, as in SillyTavern. What is not known stays as it is and is told; what the host makes up anew
each time (dice, dates, variables) belongs there.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from lorestudio.trace.assembled import PromptOrigin

Segment = tuple[str, PromptOrigin]
"""A text and where it comes from."""

_MACRO: Final = re.compile(r"\{\{([^{}]*)\}\}")
_OUTLET: Final = re.compile(r"\{\{outlet::([^{}]*)\}\}", re.IGNORECASE)
_LEGACY: Final = re.compile(r"<(USER|BOT|CHAR|GROUP|CHARIFNOTGROUP)>", re.IGNORECASE)
_TRIM: Final = re.compile(r"(?:\r?\n)*\{\{trim\}\}(?:\r?\n)*", re.IGNORECASE)
_LEGACY_NAMES: Final = {"bot": "char"}


@dataclass(slots=True)
class Macros:
    """Fills in macros. `values` are by lower-case name, `outlets` by name; both texts are final.

    `unknown` collects the macros that stayed, `used` the outlets that were asked for.
    """

    values: Mapping[str, str]
    outlets: Mapping[str, Sequence[Segment]] = field(default_factory=dict)
    unknown: dict[str, None] = field(default_factory=dict)
    used: set[str] = field(default_factory=set)

    def fill(self, text: str, original: str = "") -> str:
        """The text with everything filled in but outlets; `original` is what `{{original}}` stands for."""
        if "{{" not in text and "<" not in text:
            return text
        text = _TRIM.sub("", text)
        text = _LEGACY.sub(lambda found: self._value(found[1], found[0], original), text)
        return _MACRO.sub(lambda found: self._value(found[1], found[0], original), text)

    def spread(self, text: str, source: PromptOrigin) -> list[Segment]:
        """A text that was filled in, with the outlets in it as segments of their own; unknown outlets are empty."""
        segments: list[Segment] = []
        done = 0
        for found in _OUTLET.finditer(text):
            name = found[1].strip()
            segments.append((text[done : found.start()], source))
            segments += self.outlets.get(name, ())
            self.used.add(name)
            done = found.end()
        segments.append((text[done:], source))
        return [segment for segment in segments if segment[0]]

    def expand(self, text: str, source: PromptOrigin, original: str = "") -> list[Segment]:
        """Both at once."""
        return self.spread(self.fill(text, original), source)

    def _value(self, inner: str, whole: str, original: str) -> str:
        name = inner.strip().lower()
        name = _LEGACY_NAMES.get(name, name)
        if name.startswith("outlet::"):
            return whole
        if name.startswith("//"):
            return ""
        if name == "original":
            return original
        value = self.values.get(name)
        if value is None:
            self.unknown[whole] = None
            return whole
        return value
