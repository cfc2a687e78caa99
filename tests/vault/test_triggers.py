from __future__ import annotations

from typing import Any

import pytest

from lorestudio.settings.deeplore import sanitise
from lorestudio.vault.index_refresh import LastRefresh, RefreshReason, polling_seconds, refresh_due

NOW = 1_000_000_000


def due(
    age_s: float | None = 0, generations: int = 0, last_generation: int = 0, empty: bool = False, **raw: Any
) -> RefreshReason | None:
    last = LastRefresh(None if age_s is None else round(NOW - 1000 * age_s), last_generation)
    return refresh_due(sanitise(raw).settings, last, NOW, generations, empty=empty)


@pytest.mark.parametrize("trigger", ["ttl", "generation", "manual", "odd"])
def test_an_empty_index_is_always_refreshed(trigger: str) -> None:
    assert due(empty=True, indexRebuildTrigger=trigger) is RefreshReason.EMPTY


@pytest.mark.parametrize(("age_s", "expected"), [
    (0, None), (299, None), (300, None), (300.001, RefreshReason.EXPIRED), (9999, RefreshReason.EXPIRED),
    (None, RefreshReason.EXPIRED), (-50, None),
])  # fmt: skip
def test_by_default_the_index_lives_five_minutes(age_s: float | None, expected: RefreshReason | None) -> None:
    assert due(age_s) is expected
    assert due(age_s, indexRebuildTrigger="odd") is expected


def test_a_lifetime_of_zero_refreshes_before_every_generation() -> None:
    assert due(0, cacheTTL=0) is RefreshReason.EXPIRED


def test_the_lifetime_is_in_seconds() -> None:
    assert due(11, cacheTTL=10) is RefreshReason.EXPIRED
    assert due(9, cacheTTL=10) is None


@pytest.mark.parametrize(("generations", "last", "interval", "expected"), [
    (9, 0, 10, None), (10, 0, 10, RefreshReason.GENERATIONS), (14, 5, 10, None), (15, 5, 10, RefreshReason.GENERATIONS),
    (1, 0, 1, RefreshReason.GENERATIONS), (0, 7, 1, None),
])  # fmt: skip
def test_every_so_many_generations(generations: int, last: int, interval: int, expected: RefreshReason | None) -> None:
    found = due(99_999, generations, last, indexRebuildTrigger="generation", indexRebuildGenerationInterval=interval)
    assert found is expected


def test_an_interval_of_zero_counts_as_ten() -> None:
    settings = sanitise({"indexRebuildTrigger": "generation"}).settings
    settings = settings.model_copy(update={"index_rebuild_generation_interval": 0})
    assert refresh_due(settings, LastRefresh(0), NOW, 9, empty=False) is None
    assert refresh_due(settings, LastRefresh(0), NOW, 10, empty=False) is RefreshReason.GENERATIONS


def test_manual_means_only_when_asked_to() -> None:
    assert due(None, 99, indexRebuildTrigger="manual", cacheTTL=0) is None


def test_polling() -> None:
    assert polling_seconds(sanitise({}).settings) is None
    assert polling_seconds(sanitise({"syncPollingInterval": 30}).settings) == 30
