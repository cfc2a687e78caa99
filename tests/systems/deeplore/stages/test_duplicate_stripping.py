"""Duplicate stripping (rules: deeplore 5.6, 12.3)."""

from __future__ import annotations

from typing import Any

import pytest

from lorestudio.domain.state import EngineState, LoggedGeneration, LoggedInjection
from lorestudio.systems.deeplore.stages.gates import duplicate_stripping_stage
from tests.systems.worlds import Draft, Ran, entry, prepared, rules, run_stage, world

STAGE = duplicate_stripping_stage


def record(number: int, *injections: tuple[str, int, float, int, str]) -> LoggedGeneration:
    return LoggedGeneration(number, tuple(LoggedInjection(*item) for item in injections))


LOG = (
    record(1, ("A", 1, 4, 0, "h"), ("T", 1, 4, 0, "h_trunc"), ("C", 1, 4, 0, "h")),
    record(2),
    record(3),  # one without a list counts as empty
)
"""The log of 12.3."""

DRAFTS = [
    entry("A", content_hash="h"),
    entry("T", content_hash="h"),
    entry("C", content_hash="h", constant=True),
    entry("A", content_hash="h", depth=2, vault="W"),
    entry("a", content_hash="h"),
]


def stripped(*drafts: Draft, cached: bool | None = True, log: tuple[LoggedGeneration, ...] = LOG, **fields: Any) -> Ran:
    there = world(*drafts, state=EngineState(injection_log=log), **fields)
    state = prepared(there)
    state.candidates = list(there.entries)
    state.ai_cached = cached
    return run_stage(STAGE, there, state=state)


@pytest.mark.parametrize("lookback", [1, 2])
def test_records_beyond_the_lookback_do_not_count(lookback: int) -> None:
    ran = stripped(*DRAFTS, strip_lookback_depth=lookback)
    assert ran.table == ["left: A#0, T, C, A#3, a"]
    assert ran.record.details["log_length"] == 3


def test_the_verified_keys() -> None:
    """Lookback 3 (rules: deeplore 12.3): A goes; T (logged truncated), the exempt C, A at depth 2, the title `a`
    stay.
    """
    ran = stripped(*DRAFTS, strip_lookback_depth=3)
    assert ran.table == [
        "removed A#0: already_in_context generations=3",
        "kept C: exempt by=constant would=already_in_context",
        "left: T, C, A#3, a",
    ]


@pytest.mark.parametrize(
    ("draft", "settings", "kept"),
    [
        ({}, {}, False),
        ({"content_hash": "h2"}, {}, True),
        ({"position": 0}, {}, True),
        ({"role": 1}, {}, True),
        ({"depth": 4, "position": 1, "role": 0}, {"injection_depth": 9, "injection_position": 2}, False),
        ({}, {"injection_depth": 3}, True),
        ({}, {"injection_role": 2}, True),
        ({"vault": "Elsewhere"}, {}, False),  # the vault is no part of the key
    ],
)
def test_the_place_is_part_of_the_key(draft: Draft, settings: Draft, kept: bool) -> None:
    ran = stripped(entry("A", **{"content_hash": "h", **draft}), strip_lookback_depth=3, **settings)
    assert ran.left == (["A"] if kept else [])


def test_an_unclamped_depth_is_compared() -> None:
    log = (record(1, ("A", 1, 20_000, 0, "h")),)
    assert stripped(entry("A", content_hash="h", depth=20_000), log=log).left == []


@pytest.mark.parametrize("cached", [None, False])
def test_the_log_is_emptied_unless_the_ai_answered_from_its_cache(cached: bool | None) -> None:
    """So in keywords-only mode nothing is ever stripped."""
    ran = stripped(entry("A", content_hash="h"), cached=cached, strip_lookback_depth=3)
    assert ran.left == ["A"]
    assert (ran.record.note, ran.record.details["log_length"]) == ("log_cleared", 0)
    assert ran.state.injection_log == ()


def test_a_swipe_empties_the_log_even_with_a_cached_answer() -> None:
    there = world(entry("A", content_hash="h"), state=EngineState(injection_log=LOG))
    state = prepared(there, "A")
    state.ai_cached, state.regenerated = True, True
    ran = run_stage(STAGE, there, state=state)
    assert ran.left == ["A"]
    assert (ran.record.note, ran.record.details["why"]) == ("log_cleared", "swipe")


def test_an_empty_log_is_no_news() -> None:
    ran = stripped(entry("A"), cached=None, log=())
    assert ran.table == ["left: A"]


def test_off() -> None:
    ran = stripped(entry("A", content_hash="h"), strip_duplicate_injections=False)
    assert ran.table == ["left: A", "note: off setting=stripDuplicateInjections"]
    assert ran.state.injection_log == LOG  # emptied when the log is written


def test_everything_may_go_without_ending_the_run() -> None:
    """5: there is no early end after duplicate stripping."""
    ran = stripped(entry("A", content_hash="h"), strip_lookback_depth=3)
    assert ran.left == []
    assert ran.state.outcome is None


@pytest.mark.parametrize(
    ("mark", "by"), [({"seed": True}, "seed"), ({"bootstrap": True}, "bootstrap"), ({"constant": True}, "constant")]
)
def test_exempt(mark: Draft, by: str) -> None:
    ran = stripped(entry("A", content_hash="h", **mark), strip_lookback_depth=3, chat=["U: x"] * 9)
    assert ran.table == [f"kept A: exempt by={by} would=already_in_context", "left: A"]


def test_a_pin_is_exempt() -> None:
    ran = stripped(entry("A", content_hash="h"), strip_lookback_depth=3, pins=rules("a"))
    assert ran.table == ["kept A: exempt by=pin would=already_in_context", "left: A"]
