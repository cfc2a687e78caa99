"""Finding settings: by words, and in groups by section or by the stages of a run that they change."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, get_args

from lorestudio.settings.declaration import Declaration, DeepLoreStage

STAGES: Final[tuple[DeepLoreStage, ...]] = get_args(DeepLoreStage)
"""The stages of a run of DeepLore, in order."""

NO_STAGE: Final = "no stage"
"""The group of the settings that change nothing in a run."""


class Grouping(StrEnum):
    """What settings are put together by."""

    SECTION = "section"
    STAGE = "stage"


@dataclass(frozen=True, slots=True)
class SettingGroup:
    """Settings under one heading. Grouped by stage, a setting stands under every stage that it changes."""

    title: str
    settings: tuple[Declaration, ...]


def matching(words: str, settings: Iterable[Declaration]) -> tuple[Declaration, ...]:
    """The settings in which every word occurs: in title, help, DeepLore's key, section, choices or stages."""
    wanted = words.casefold().split()
    return tuple(each for each in settings if all(word in _said(each) for word in wanted))


def _said(declaration: Declaration) -> str:
    parts = [declaration.title, declaration.help, declaration.alias, declaration.name, declaration.group]
    parts += [str(choice) for choice in declaration.choices] + list(declaration.affects)
    return "\n".join(parts).casefold()


def grouped(settings: Iterable[Declaration], by: Grouping = Grouping.SECTION) -> tuple[SettingGroup, ...]:
    """The settings in groups without empty ones: sections as declared, stages as a run has them, then `NO_STAGE`."""
    found: dict[str, list[Declaration]] = {stage: [] for stage in STAGES} if by is Grouping.STAGE else {}
    for each in settings:
        for title in (each.affects or (NO_STAGE,)) if by is Grouping.STAGE else (each.group,):
            found.setdefault(title, []).append(each)
    return tuple(SettingGroup(title, tuple(members)) for title, members in found.items() if members)
