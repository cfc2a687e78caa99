"""Bookkeeping (rules: deeplore 6.2, 6.4, 6.6, 6.8): what the chat remembers of a generation."""

from __future__ import annotations

from typing import Any

import pytest

from lorestudio.domain.records import replace
from lorestudio.domain.state import Counters, EngineState, LoggedGeneration, LoggedInjection, Usage
from lorestudio.systems.deeplore.stages.bookkeeping import bookkeeping_stage
from lorestudio.trace.model import Injection, PromptBlock, RunOutcome
from tests.systems.worlds import Play, World, accepted, entry, injected, prepared, run_stage, world

DAY = 24 * 60 * 60 * 1000


def booked(
    there: World, titles: str = "", *, outcome: RunOutcome | None = None, reached: str | None = None
) -> EngineState:
    """The state after a generation that injected `titles`; `reached` are those that came to the budget."""
    state = prepared(there, titles)
    state.accepted = accepted(there, titles)
    state.reached_budget = [item.entry for item in accepted(there, titles if reached is None else reached)]
    state.outcome = outcome
    run_stage(bookkeeping_stage, there, state=state)
    assert state.after is not None
    return state.after


STAGES = """
    1  A1 B0.5  A0 B0 C0  A1 B1 C1  A1 B1 C1
    2  -        A1 B1 C0  A1 B1 C2  C2
    3  -        A2 B2 C1  A1 B1 C2  -
    4  -        A3 B3 C0  A1 B1 C4  C1
    5  -        C1        A1 B1 C4  -
    6  -        C2        A1 B1 C4  -
    7  -        C3        A1 B1 C4  -
    8  -        -         A1 B1 C4  -
"""
"""Generation, then cooldown, decay, history and streaks after it: the verified table (rules: deeplore 6.2)."""


def test_the_verified_trackers() -> None:
    """A (cooldown 1), B (0.5 generations), C (none); injections ABC, C, none, C, then none; decay on, boost threshold
    2.
    """

    def shown(tracker: Any) -> str:
        return " ".join(f"{key[2:]}{value}" for key, value in sorted(tracker.items())) or "-"

    play = world(
        entry("A", cooldown=1), entry("B", cooldown=0.5), entry("C"),
        decay_enabled=True, decay_boost_threshold=2, reinjection_cooldown=1,
    )  # fmt: skip
    rows = []
    for number, titles in enumerate(["A, B, C", "C", "", "C", "", "", "", ""], start=1):
        state = booked(play, titles)
        play = play.with_chat(["U: x"] * number, state=state)
        counters = state.counters
        assert counters.generation_count == number
        trackers = (counters.cooldown, counters.decay, counters.injection_history, counters.consecutive)
        rows.append([str(number), *map(shown, trackers)])
    expected = [[cell.strip() for cell in line.split("  ") if cell] for line in STAGES.strip().split("\n")]
    assert rows == [[cell for cell in line if cell] for line in expected]


def test_cooldown_two_means_every_third_generation() -> None:
    """A key in every message, injected in generations 1, 4, 7 (rules: deeplore 6.2)."""
    play = Play(world(entry("A", "dragon", cooldown=2)))
    chat: list[str] = []
    went_in = []
    for _ in range(8):
        chat += ["U: dragon", "A: dragon"]
        went_in.append(bool(injected(play.turn(chat))))
    assert went_in == [True, False, False, True, False, False, True, False]


@pytest.mark.parametrize(("cooldown", "after"), [(3, {"V:A": 3}), (0.5, {"V:A": 0.5}), (None, {}), (0, {})])
def test_cooldowns_start_at_injection(cooldown: float | None, after: dict[str, float]) -> None:
    assert booked(world(entry("A", cooldown=cooldown, constant=True)), "A").counters.cooldown == after


@pytest.mark.parametrize(("left", "after"), [(3, 2), (1.5, 0.5), (1, None), (0.5, None)])
def test_cooldowns_run_down(left: float, after: float | None) -> None:
    cooldown = booked(world(entry("A"), cooldown={"V:A": left})).counters.cooldown
    assert cooldown == ({} if after is None else {"V:A": after})


def test_history_is_kept_only_with_a_reinjection_cooldown() -> None:
    state = EngineState(counters=Counters(generation_count=4))
    assert booked(world(entry("A"), state=state), "A").counters.injection_history == {}
    assert booked(world(entry("A"), state=state, reinjection_cooldown=1), "A").counters.injection_history == {"V:A": 5}


@pytest.mark.parametrize(
    ("boost", "stale", "after"),
    [(2, 2, 3), (2, 3, None), (5, 8, 9), (5, 9, None), (0, 8, 9), (0, 9, None)],  # 0 counts as 5
)
def test_decay_ends_at_twice_the_boost_threshold(boost: int, stale: int, after: int | None) -> None:
    state = EngineState(counters=Counters(decay={"V:A": stale}))
    got = booked(world(entry("A"), state=state, decay_enabled=True, decay_boost_threshold=boost)).counters.decay
    assert got == ({} if after is None else {"V:A": after})


def test_decay_rests_while_it_is_off() -> None:
    state = EngineState(counters=Counters(decay={"V:A": 3}))
    assert booked(world(entry("A"), entry("B"), state=state), "B").counters.decay == {"V:A": 3}


def test_streaks() -> None:
    state = EngineState(counters=Counters(consecutive={"V:A": 2, "V:B": 7}))
    after = booked(world(entry("A"), entry("B"), entry("C"), state=state), "A, C")
    assert after.counters.consecutive == {"V:A": 3, "V:C": 1}


EARLY = [RunOutcome.EMPTY_AFTER_GATING, RunOutcome.EMPTY_AFTER_REINJECTION, RunOutcome.EMPTY_AFTER_REQUIRES]


@pytest.mark.parametrize("outcome", EARLY)
def test_an_early_end_only_counts_itself_and_lets_trackers_run_down(outcome: RunOutcome) -> None:
    """No log entry, no usage, no counts (rules: deeplore 5, 6.2)."""
    log = (LoggedGeneration(1, ()),)
    before = EngineState(
        counters=Counters(2, {"V:A": 2}, {}, {"V:A": 1}, {"V:A": 1}), injection_log=log, chat_counts={"V:A": 1},
        swipe_keys={"0|0": ("V:A",)}, analytics={"V:A": Usage(1, 1, 5)}, warning_ratio=0.3,
    )  # fmt: skip
    there = world(entry("A"), chat=["U: a", "A: b"], state=before, reinjection_cooldown=1)
    after = booked(there, outcome=outcome)
    assert after.counters == Counters(3, {"V:A": 1}, {}, {}, {"V:A": 1})
    untouched = ("injection_log", "chat_counts", "swipe_keys", "analytics", "warning_ratio")
    assert [getattr(after, name) for name in untouched] == [getattr(before, name) for name in untouched]


def logged(title: str, content_hash: str, position: int = 1, depth: float = 4, role: int = 0) -> LoggedInjection:
    return LoggedInjection(title, position, depth, role, content_hash)


def test_the_log_keeps_one_record_more_than_the_lookback() -> None:
    """The unclamped place with overrides, outlets included; an empty injection logs an empty record
    (rules: deeplore 5.6).
    """
    old = tuple(LoggedGeneration(number, ()) for number in (1, 2, 3))
    state = EngineState(injection_log=old, counters=Counters(generation_count=3))
    there = world(entry("A", depth=20_000, role=1), entry("O", outlet="o"), state=state, strip_lookback_depth=2)
    assert booked(there, "A, O").injection_log == (
        *old[1:],
        LoggedGeneration(4, (logged("A", "hash-0", depth=20_000, role=1), logged("O", "hash-1"))),
    )
    assert booked(there).injection_log[-1] == LoggedGeneration(4, ())


def test_the_log_is_emptied_where_stripping_is_off() -> None:
    state = EngineState(injection_log=(LoggedGeneration(1, ()),))
    assert booked(world(entry("A"), state=state, strip_duplicate_injections=False), "A").injection_log == ()


def test_a_chat_with_default_settings_keeps_one_log_record() -> None:
    """10: it is emptied in every keywords-only generation before the new record is written."""
    play = Play(world(entry("K", constant=True)))
    for length in (1, 3, 5):
        play.turn(["U: x"] * length)
    assert [record.generation for record in play.state.injection_log] == [3]


@pytest.mark.parametrize(
    ("titles", "counts"),
    [
        ("A, B", {"V:A": 1, "V:B": 2, "V:C": 0}),  # a swipe: what it counted before is taken back first
        ("", {"V:A": 0, "V:B": 1, "V:C": 0}),
        ("C", {"V:A": 0, "V:B": 1, "V:C": 1}),
    ],
)
def test_chat_counts(titles: str, counts: dict[str, int]) -> None:
    """Minus the keys stored for this place (not below 0), plus the accepted entries (rules: deeplore 6.4)."""
    state = EngineState(chat_counts={"V:A": 1, "V:B": 1, "V:C": 0}, swipe_keys={"0|0": ("V:A", "V:C")})
    after = booked(world(entry("A"), entry("B"), entry("C"), chat=["U: x"], state=state), titles)
    assert after.chat_counts == counts
    assert set(after.swipe_keys["0|0"]) == {f"V:{title}" for title in titles.split(", ") if title}


def test_stored_places_far_back_are_dropped() -> None:
    """An index below chat length - 10, or no number (rules: deeplore 6.4)."""
    stored = {"1|0": (), "2|0": (), "2|7": (), "x|0": (), "-1|0": (), "11|0": ()}
    after = booked(world(entry("A"), chat=["U: x"] * 12, state=EngineState(swipe_keys=stored)), "A")
    assert list(after.swipe_keys) == ["2|0", "2|7", "11|0"]


def test_an_empty_chat_stores_no_place() -> None:
    assert booked(world(entry("A")), "A").swipe_keys == {}


NOW = 100 * DAY


def test_usage() -> None:
    """Matched and last time for what came to the budget, injected for what went in (rules: deeplore 6.6)."""
    before = {"V:A": Usage(5, 2, NOW - DAY)}
    there = world(entry("A"), entry("B"), state=EngineState(analytics=before), clock_ms=NOW)
    after = booked(there, "A", reached="A, B")
    assert after.analytics == {"V:A": Usage(6, 3, NOW), "V:B": Usage(1, 0, NOW)}


def test_usage_rests_when_nothing_came_to_the_budget() -> None:
    before = {"V:Old": Usage(5, 2, 1)}
    there = world(entry("A"), state=EngineState(analytics=before), clock_ms=NOW)
    assert booked(there).analytics == before


def test_old_usage_is_dropped() -> None:
    ages = {"V:Old": 30 * DAY + 1, "V:Just": 30 * DAY, "V:Never": NOW, "_old": 31 * DAY}
    before = {key: Usage(1, 1, NOW - age) for key, age in ages.items()}
    there = world(entry("A"), state=EngineState(analytics=before), clock_ms=NOW)
    assert set(booked(there, "A").analytics) == {"V:Just", "V:Never", "V:A"}


def test_surplus_usage_is_dropped_oldest_first() -> None:
    """500 records at most; keys beginning with `_` are neither counted nor dropped."""
    before = {f"V:{number}": Usage(1, 1, NOW - number) for number in range(501)}
    before["_meta"] = Usage(0, 0, NOW - DAY)
    there = world(entry("A"), state=EngineState(analytics=before), clock_ms=NOW)
    gone = {*before, "V:A"} - set(booked(there, "A").analytics)
    assert gone == {"V:500", "V:499"}


def warned(ratio: float, tokens: int, context_size: int) -> tuple[bool, float]:
    there = world(entry("A"), context_size=context_size, state=EngineState(warning_ratio=ratio))
    state = prepared(there)
    place = {"position": 1, "depth": 4, "role": 0, "tag": "t"}
    state.injections = (Injection(entry=0, title="A", label="", tokens=tokens, priority=1, content_hash="", **place),)
    state.blocks = (PromptBlock("t", 1, 4, 0, "text"),)
    run_stage(bookkeeping_stage, there, state=state)
    assert state.after is not None
    return bool(state.warnings), state.after.warning_ratio


def test_context_warnings() -> None:
    """100 tokens; contexts 400 (25 %), 400, 380, 390, 1000 (reset), 460 (21.7 %), 480, 420 (rules: deeplore 6.8)."""
    ratio, rows = 0.0, []
    for size in (400, 400, 380, 390, 1000, 460, 480, 420):
        told, ratio = warned(ratio, 100, size)
        rows.append((size, told))
    assert rows == [
        (400, True), (400, False), (380, False), (390, False), (1000, False), (460, True), (480, False), (420, False),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("ratio", "tokens", "size", "told", "after"),
    [
        (0.0, 20, 100, False, 0.0),  # 0.20 is not above 0.20
        (0.3, 15, 100, False, 0.0),  # 0.15 resets
        (0.3, 16, 100, False, 0.3),
        (0.3, 36, 100, True, 0.36),
        (0.3, 10, 0, False, 0.3),  # without a context size nothing is compared
    ],
)
def test_warning_limits(ratio: float, tokens: int, size: int, told: bool, after: float) -> None:
    assert warned(ratio, tokens, size) == (told, after)


def test_the_warning_names_the_share_rounded_half_up() -> None:
    there = world(entry("A", constant=True, tokens=1225), context_size=5000, unlimited_budget=True)
    trace = Play(there).turn(["U: x"])
    assert trace.warnings == ("Lore takes 25 % of the context: 1,225 tokens in 1 entry.",)  # 24.5


def test_the_random_stream_and_prompts_are_carried_on() -> None:
    there = world(entry("A", "x", probability=0.5), chat=["U: x"], seed=7)
    state = prepared(there)
    state.draw(entry("A", "x"))
    run_stage(bookkeeping_stage, there, state=state)
    assert state.after is not None
    assert state.after.random_state == state.random.state != 7


def test_the_record_shows_the_counters() -> None:
    there = world(entry("A", cooldown=2), state=EngineState(counters=Counters(generation_count=4)))
    state = prepared(there, "A")
    state.accepted = accepted(there, "A")
    record = run_stage(bookkeeping_stage, there, state=state).record
    assert record.details == {
        "generation_count": 5, "cooldown": {"V:A": 2}, "decay": {}, "consecutive": {"V:A": 1}, "injection_history": {},
    }  # fmt: skip


def test_the_inputs_are_not_changed() -> None:
    cooldown, counts = {"V:A": 2.0}, {"V:A": 1}
    before = EngineState(counters=Counters(cooldown=cooldown), chat_counts=counts)
    booked(world(entry("A", cooldown=3), state=replace(before), chat=["U: x"]), "A")
    assert (cooldown, counts) == ({"V:A": 2.0}, {"V:A": 1})
