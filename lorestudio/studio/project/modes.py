"""The three ways to select entries, and the two settings that DeepLore keeps them in."""

from __future__ import annotations

from dataclasses import replace
from enum import StrEnum
from typing import Final

from lorestudio.domain.javascript import Json
from lorestudio.settings.deeplore import DeepLoreSettings, dump, sanitise
from lorestudio.studio.project.project import Project


class Mode(StrEnum):
    """How entries are selected; the values of the last two are DeepLore's own."""

    KEYWORDS = "keywords-only"
    TWO_STAGE = "two-stage"
    AI_ONLY = "ai-only"

    @property
    def asks_model(self) -> bool:
        """Whether a model takes part in the selection."""
        return self is not Mode.KEYWORDS


_ASKING: Final = frozenset({Mode.TWO_STAGE, Mode.AI_ONLY})


def mode_of(settings: DeepLoreSettings) -> Mode:
    """The mode that the settings choose; one that is not known selects by keywords (as the engine does)."""
    known = settings.ai_search_enabled and settings.ai_search_mode in _ASKING
    return Mode(settings.ai_search_mode) if known else Mode.KEYWORDS


def with_mode(project: Project, mode: Mode) -> Project:
    """The project with another way to select, and with everything else as it was."""
    if mode_of(project.settings) is mode:
        return project
    values: dict[str, Json] = {"aiSearchEnabled": mode.asks_model}
    if mode.asks_model:
        values["aiSearchMode"] = mode.value
    return replace(project, settings=sanitise({**dump(project.settings), **values}).settings)
