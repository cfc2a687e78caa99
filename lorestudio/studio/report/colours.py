"""The program's colours for files that are read elsewhere: as CSS that follows the reader's light or dark scheme."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import lru_cache
from typing import Final

from lorestudio.domain.resources import resource
from lorestudio.trace.model import Phase

_USED: Final = ("window", "panel", "raised", "sunken", "border", "border_strong", "text", "text_muted", "text_faint",
                "accent", "mark", "on_mark", "warning", "warning_soft", "error", "error_soft", "good", "fill_edge",
                "ink")  # fmt: skip

PHASE_FILLS: Final[Mapping[Phase, str]] = {
    Phase.LOAD: "grey",
    Phase.MATCH: "yellow",
    Phase.SELECT: "sky",
    Phase.GATE: "orange",
    Phase.BUDGET: "purple",
    Phase.INJECT: "green",
}
"""The fill of what a stage of each phase takes out, or brings in."""


@lru_cache(maxsize=1)
def _colours() -> Mapping[str, Mapping[str, str]]:
    return tomllib.loads((resource("themes") / "colors.toml").read_text(encoding="utf-8"))


def css_variables(scope: str) -> str:
    """Custom properties `--name` of `scope` (a selector), dark where the reader's scheme is."""
    colours = _colours()
    fills = "".join(f"--{name}:{value};" for name, value in colours["fills"].items())
    light, dark = ("".join(f"--{name}:{colours[theme][name]};" for name in _USED) for theme in ("light", "dark"))
    return (
        f"{scope}{{color-scheme:light dark;{fills}{light}}}"
        f"@media (prefers-color-scheme:dark){{{scope}{{{dark}}}}}"
        f"@media print{{{scope}{{{light}}}}}"
    )


def fill(name: str) -> str:
    """A fill as a CSS value; `ink` is the scheme's own black."""
    return f"var(--{name})"


def on_fill(name: str) -> str:
    """What is drawn upon a fill."""
    return "var(--panel)" if name == "ink" else f"var(--on_{name})"


def light(name: str) -> str:
    """The value of a variable in the light scheme, `#RRGGBB`."""
    colours = _colours()
    return colours["fills"].get(name) or colours["light"][name]
