"""When the index is made anew before a generation (spec: deeplore-engine 1.13, "When does the index refresh?")."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from lorestudio.settings.deeplore import DeepLoreSettings

DEFAULT_INTERVAL: Final = 10
"""Generations between two readings where the setting is 0 or empty."""


class RefreshReason(StrEnum):
    """Why the vaults are looked at."""

    OPENED = "opened"
    EMPTY = "empty"
    EXPIRED = "expired"
    GENERATIONS = "generations"
    POLL = "poll"
    CHANGED_ON_DISK = "changed on disk"
    SETTINGS = "settings changed"
    MANUAL = "manual"


@dataclass(frozen=True, slots=True)
class LastRefresh:
    """When the vaults were last looked at; `at_ms` is None before the first time.

    `generation` is the chat's generation count then; it starts again at 0 with another chat (spec 6.1).
    """

    at_ms: int | None = None
    generation: int = 0


def refresh_due(
    settings: DeepLoreSettings, last: LastRefresh, now_ms: int, generation: int, *, empty: bool
) -> RefreshReason | None:
    """Why the index has to be refreshed before this generation, None where it does not.

    Times are in ms of one clock; `generation` is the chat's generation count; `empty` is whether the index has no
    entry. An unknown trigger counts as `ttl`, the default.
    """
    if empty:
        return RefreshReason.EMPTY
    trigger = settings.index_rebuild_trigger
    if trigger == "manual":
        return None
    if trigger == "generation":
        interval = settings.index_rebuild_generation_interval or DEFAULT_INTERVAL
        return RefreshReason.GENERATIONS if generation - last.generation >= interval else None
    ttl_ms = 1000 * settings.cache_ttl
    if not ttl_ms or last.at_ms is None or now_ms - last.at_ms > ttl_ms:
        return RefreshReason.EXPIRED
    return None


def polling_seconds(settings: DeepLoreSettings) -> float | None:
    """How often the vaults are looked at in the background, None for never (setting `syncPollingInterval`)."""
    return settings.sync_polling_interval if settings.sync_polling_interval > 0 else None
