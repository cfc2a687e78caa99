"""The macros of prompts that can be filled in without the host: names, card fields, the last messages, outlets.

Names compare without case, as in SillyTavern. What is not known stays as it is and is told; what the host makes up anew
each time (dice, dates) belongs there, and its variables across chats. The variables of the chat begin as the chat has
them; what texts set here is known to the texts behind them, and nowhere kept.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Final

from lorestudio.domain.javascript import number_text, to_number
from lorestudio.trace.assembled_prompt import PromptOrigin

Segment = tuple[str, PromptOrigin]
"""A text and where it comes from."""

_MACRO: Final = re.compile(r"\{\{([^{}]*)\}\}")
_OUTLET: Final = re.compile(r"\{\{outlet::([^{}]*)\}\}", re.IGNORECASE)
_LEGACY: Final = re.compile(r"<(USER|BOT|CHAR|GROUP|CHARIFNOTGROUP)>", re.IGNORECASE)
_TRIM: Final = re.compile(r"(?:\r?\n)*\{\{trim\}\}(?:\r?\n)*", re.IGNORECASE)
_LEGACY_NAMES: Final = {"bot": "char"}
_INNER: Final = r"(?:[^{}]|\{\{[^{}]*\}\})*"
_VARIABLE: Final = {
    kind: re.compile(r"\{\{" + kind + r"::" + rest + r"\}\}", re.IGNORECASE)
    for kind, rest in (
        ("setvar", f"([^:{{}}]+)::({_INNER})"),
        ("addvar", f"([^:{{}}]+)::({_INNER})"),
        ("incvar", "([^:{}]+)()"),
        ("decvar", "([^:{}]+)()"),
        ("getvar", "([^:{}]+)()"),
    )
}
"""The macros of the chat's variables, in the order in which the host looks for them in a text."""


def has_macros(text: str) -> bool:
    """Whether anything in it might be filled in."""
    return "{{" in text or ("<" in text and _LEGACY.search(text) is not None)


@dataclass(slots=True)
class Macros:
    """Fills in macros. `values` are by lower-case name, `outlets` by name; both texts are final.

    `variables` are those of the chat, and change with the texts. `unknown` collects the macros that stayed, `used` the
    outlets that were asked for.
    """

    values: Mapping[str, str]
    variables: dict[str, str] = field(default_factory=dict)
    outlets: Mapping[str, Sequence[Segment]] = field(default_factory=dict)
    unknown: dict[str, None] = field(default_factory=dict)
    used: set[str] = field(default_factory=set)

    def fill(self, text: str, original: str = "") -> str:
        """The text with everything filled in but outlets; `original` is what `{{original}}` stands for."""
        if not has_macros(text):
            return text
        text = self._with_variables(text)
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

    def _with_variables(self, text: str) -> str:
        if "var::" not in text.lower():
            return text
        for kind, pattern in _VARIABLE.items():
            text = pattern.sub(partial(self._vary, kind), text)
        return text

    def _vary(self, kind: str, found: re.Match[str]) -> str:
        """What stands in the place of a variable's macro; setting and adding leave nothing."""
        name, value = found[1].strip(), found[2]
        held = self.variables.get(name, "")
        if kind == "getvar":
            return held
        if kind == "setvar":
            self.variables[name] = value
            return ""
        more = value if kind == "addvar" else "1" if kind == "incvar" else "-1"
        one, other = to_number(held or "0"), to_number(more)
        total = one + other
        self.variables[name] = held + more if math.isnan(total) else number_text(total)
        return "" if kind == "addvar" else self.variables[name]

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
