"""The colours of the window by name, read from `resources/themes/colors.toml`."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from functools import lru_cache
from pathlib import Path
from typing import Final

from lorestudio.studio.resources import resource

THEMES: Final = resource("themes")

FILLS: Final = ("green", "sky", "yellow", "orange", "purple", "vermilion", "blue", "grey")
"""Names of the fills, the Okabe-Ito palette."""


class ThemeError(ValueError):
    """A colour file that lacks a name or holds something that is no colour."""


@dataclass(frozen=True, slots=True)
class Palette:
    """One theme: every value is `#RRGGBB`. `fills` maps a fill to its colour and to what is drawn upon it."""

    name: str
    window: str
    panel: str
    raised: str
    sunken: str
    hover: str
    border: str
    border_strong: str
    text: str
    text_muted: str
    text_faint: str
    accent: str
    on_accent: str
    accent_soft: str
    on_accent_soft: str
    focus: str
    mark: str
    on_mark: str
    good: str
    neutral: str
    warning: str
    error: str
    good_soft: str
    neutral_soft: str
    warning_soft: str
    error_soft: str
    fill_edge: str
    ink: str
    fills: Mapping[str, tuple[str, str]] = field(default_factory=dict)

    @property
    def dark(self) -> bool:
        """Whether light text stands on dark ground."""
        return luminance(self.panel) < luminance(self.text)

    def fill(self, name: str) -> tuple[str, str]:
        """The colour of a fill and the colour of a glyph or text upon it; `ink` is the theme's own black."""
        return (self.ink, self.panel) if name == "ink" else self.fills[name]

    def tokens(self) -> dict[str, str]:
        """All colours of the theme by name, without the fills."""
        return {item.name: getattr(self, item.name) for item in fields(self) if item.name not in {"name", "fills"}}


def luminance(color: str) -> float:
    """Relative luminance of `#RRGGBB`, 0 to 1 (WCAG 2.2)."""
    channels = [int(color[index : index + 2], 16) / 255 for index in (1, 3, 5)]
    linear = [value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4 for value in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(first: str, second: str) -> float:
    """Contrast ratio of two colours, 1 to 21 (WCAG 2.2)."""
    lighter, darker = sorted((luminance(first), luminance(second)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


@lru_cache(maxsize=4)
def load_palettes(path: Path = THEMES / "colors.toml") -> Mapping[str, Palette]:
    """The palettes `light` and `dark` of a colour file; raises `ThemeError` naming what is wrong."""
    data = tomllib.loads(path.read_text(encoding="utf-8"))
    for table, values in data.items():
        for name, value in values.items():
            if not (isinstance(value, str) and len(value) == 7 and value.startswith("#")):
                message = f"{path.name}: [{table}] {name} = {value!r} is no colour; write it as #RRGGBB"
                raise ThemeError(message)
    fills = {name: (data["fills"][name], data["fills"][f"on_{name}"]) for name in FILLS}
    wanted = {item.name for item in fields(Palette)} - {"name", "fills"}
    palettes = {}
    for theme in ("light", "dark"):
        odd = wanted.symmetric_difference(data[theme])
        if odd:
            message = f"{path.name}: [{theme}] does not list exactly the known names; look at: {', '.join(sorted(odd))}"
            raise ThemeError(message)
        palettes[theme] = Palette(name=theme, fills=fills, **data[theme])
    return palettes
