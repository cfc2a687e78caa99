"""Settings: recorded settings objects of the original as calls of the settings package."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from lorestudio.settings.deeplore import DeepLoreSettings, declarations, effective_values, same, sanitise
from tests.systems.worlds import settings_of

_BY_ALIAS: Final = {declaration.alias: declaration for declaration in declarations()}
UNCHECKED: Final = frozenset({"lorebookTag", "aiSearchMode", "caseSensitive"})
"""Recorded beside the constrained settings, to show that any type comes out of the original for these."""


def settings_from(values: Mapping[str, Any]) -> DeepLoreSettings:
    """DeepLore switched on with the defaults and these values by their keys in the file."""
    return settings_of(**{_BY_ALIAS[key].name: value for key, value in values.items()})


def constrained() -> frozenset[str]:
    """The keys that the recorded version corrects: those with limits and those with a list of choices."""
    known = {key: declared for key, declared in _BY_ALIAS.items() if not declared.since}
    return frozenset(key for key, declared in known.items() if declared.low is not None or declared.checked)


def _settings(raw: Mapping[str, Any]) -> dict[str, Any]:
    effective, studio = effective_values(raw), sanitise(raw).settings
    keys = constrained() | UNCHECKED
    differing = [key for key in keys - UNCHECKED if not same(getattr(studio, _BY_ALIAS[key].name), effective[key])]
    assert not differing, f"the studio's own settings have other values for {', '.join(sorted(differing))}"
    return {key: effective[key] for key in sorted(keys)}


FUNCTIONS: Final[Mapping[str, Callable[[Any], Any]]] = {"settings": _settings}
