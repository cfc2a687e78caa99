"""AI selection (rules: deeplore 4.1, 4.2, 4.6, 4.7, 4.9): the model's choice, and what goes in without one."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from lorestudio.domain.lifecycle import Stopped
from lorestudio.domain.state import AiState, EngineState
from lorestudio.systems.deeplore.ai.replies import SHOWN
from lorestudio.systems.deeplore.stages.ai_selection import (
    PAUSED,
    THROTTLED,
    UNREADABLE,
    UNUSABLE,
    ai_selection_stage,
    manifest_stage,
)
from lorestudio.systems.deeplore.stages.candidates import whole_vault_stage
from lorestudio.systems.deeplore.state import RunState
from lorestudio.trace.model import Breaker, BreakerState
from tests.systems.deeplore.answers import ERROR, RATE_LIMITED, REFUSED, SERVER_ERROR, TIMEOUT, Reply, asking, picks
from tests.systems.worlds import Play, Ran, World, changed, entry, injected, message, prepared, rules, run_stage, world

STAGE = ai_selection_stage

K, BOOT = entry("K", constant=True), entry("Boot", bootstrap=True)
CASTLE, DRAGON, SWORD = entry("Castle"), entry("Dragon"), entry("Sword")
CHAT = ["U: one", "Ann: two", "U: three", "Ann: four", "U: five"]


def small(*drafts: Any, **settings: Any) -> World:
    """A world of these entries in a chat of five messages."""
    settings = {"chat": CHAT, "ai_search_enabled": True, **settings}
    return world(*(drafts or (K, BOOT, CASTLE, DRAGON, SWORD)), **settings)


def started(there: World, matched: str | None = None, linked: str = "") -> RunState:
    """The state before AI selection: in AI-only mode, or in two-stage mode with these matches and what they link to."""
    state = prepared(there)
    if matched is None:
        asyncio.run(whole_vault_stage.run(state, there.context))
    else:
        for title in filter(None, matched.split(", ")):
            state.let_in(there[title], "key")
        state.keyword_matches = list(state.candidates)
        for title in filter(None, linked.split(", ")):
            state.candidates.append(there[title])
            state.set_label(there[title], "(wiki-linked from: K)")
    asyncio.run(manifest_stage.run(state, there.context))
    return state


def select(there: World, *replies: Reply, matched: str | None = None, linked: str = "") -> Ran:
    there = asking(there, *replies)
    return run_stage(STAGE, there, state=started(there, matched, linked))


def lines(ran: Ran) -> list[str]:
    """The table, of the note the word alone."""
    return [line.split(" ")[0] + " " + ran.record.note if line.startswith("note:") else line for line in ran.table]


def picked(title: str, confidence: str = "high", match: str = "exact title") -> str:
    return f"changed {title}: ai_pick confidence={confidence} reason=r match={match}"


ANSWERS = [
    pytest.param(
        picks("Sword", "Castle"),
        [picked("Castle"), picked("Sword"), "removed Boot: ai_not_selected", "removed Dragon: ai_not_selected",
         "left: K, Castle, Sword"],
        id="forced entries, then the choice in candidate order",
    ),
    pytest.param(
        '[{"title":"Castle","confidence":"low","reason":"r"},{"title":"Sword","confidence":"high","reason":"r"}]',
        [picked("Sword"), picked("Castle", "low"), "removed Boot: ai_not_selected", "removed Dragon: ai_not_selected",
         "left: K, Sword, Castle"],
        id="surest first",
    ),
    pytest.param(
        picks("K", "Castle"),
        [picked("K"), picked("Castle"), "removed Boot: ai_not_selected", "removed Dragon: ai_not_selected",
         "removed Sword: ai_not_selected", "left: K, Castle"],
        id="a forced entry that is chosen does not go in twice",
    ),
    pytest.param(
        picks("The Castle"),
        [picked("Castle", match=f"similar title asked=The Castle similarity={5 / 7}"), "removed Boot: ai_not_selected",
         "removed Dragon: ai_not_selected", "removed Sword: ai_not_selected", "left: K, Castle"],
        id="a similar title",
    ),
    pytest.param(
        picks("Tavern", "Castle"),
        [picked("Castle"), "removed Boot: ai_not_selected", "removed Dragon: ai_not_selected",
         "removed Sword: ai_not_selected", "left: K, Castle"],
        id="an unknown title is no entry",
    ),
    pytest.param(
        {"json": {"selected": [{"title": "Boot", "confidence": "high", "reason": "r"}]}},
        [picked("Boot"), "removed Castle: ai_not_selected", "removed Dragon: ai_not_selected",
         "removed Sword: ai_not_selected", "left: K, Boot"],
        id="an answer that arrives parsed; a bootstrap entry of a longer chat is one like any other",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("reply", "expected"), ANSWERS)
def test_the_models_choice(reply: Reply, expected: list[str]) -> None:
    ran = select(small(ai_search_mode="ai-only"), reply)
    assert lines(ran) == expected
    assert (ran.state.ai_cached, ran.state.facts["ai_fallback"], ran.state.facts["ai_error"]) == (False, False, "")


def test_unknown_titles_are_on_record() -> None:
    ran = select(small(ai_search_mode="ai-only"), picks("Tavern", "Castle", "Inn of the lost"))
    assert ran.record.details["unknown_titles"] == ["Tavern", "Inn of the lost"]
    assert ran.record.details["results"] == [{"id": 2, "title": "Castle", "confidence": "high", "reason": "r"}]


def test_an_entry_without_a_summary_was_not_offered() -> None:
    there = small(
        K, entry("Castle", summary="Walls."), entry("Dragon", summary="Scales."), SWORD,
        ai_search_mode="ai-only", manifest_summary_mode="summary_only",
    )  # fmt: skip
    ran = select(there, picks("Castle"))
    assert lines(ran)[1:3] == ["removed Dragon: ai_not_selected", "removed Sword: not_offered"]


def items(ran: Ran) -> list[str]:
    """Each item of the reply as `asked -> matched to (how, similarity) confidence: result`."""
    assert ran.record.ai is not None
    return [
        f"{item.asked} -> {', '.join(ran.there.entries[entry].title for entry in item.entries) or item.title or '-'} "
        f"({item.match.value}, {item.similarity:.2f}) {item.confidence or '-'}: {item.result.value}"
        for item in ran.record.ai.items
    ]


def test_every_item_of_the_reply_is_on_record() -> None:
    """As it was written, what it was matched to and how, and what became of it
    (rules: deeplore 4.7 "Result matching").
    """
    reply = json.dumps([
        "The Castle", {"title": "sword", "confidence": "low"}, 7, {"name": "Drago", "confidence": "high"},
        "Tavern", {"title": "DRAGON", "reason": "r"}, {"reason": "no title"}, "Castles", "xyz", "The Castle", "Sord",
    ])  # fmt: skip
    ran = select(small(ai_search_mode="ai-only", ai_confidence_threshold="medium"), reply)
    assert items(ran) == [
        "The Castle -> Castle (fuzzy, 0.71) medium: repeated",
        "sword -> Sword (exact, 1.00) low: below_confidence",
        "7 -> - (unreadable, 0.00) -: dropped",
        "Drago -> Dragon (fuzzy, 0.89) high: double",  # the exact title stands further on
        "Tavern -> - (not_found, 0.00) medium: dropped",
        "DRAGON -> Dragon (exact, 1.00) medium: chosen",
        '{"reason":"no title"} -> - (unreadable, 0.00) -: dropped',
        "Castles -> Castle (fuzzy, 0.91) medium: double",
        "xyz -> - (not_found, 0.00) medium: dropped",
        "The Castle -> Castle (fuzzy, 0.71) medium: chosen",
        "Sord -> Sword (not_found, 0.57) medium: dropped",
    ]


def test_a_title_that_nobody_has_names_the_nearest_one() -> None:
    ran = select(small(ai_search_mode="ai-only"), picks("Castle", "Old dragonfire"))
    assert items(ran)[1] == "Old dragonfire -> Dragon (not_found, 0.56) high: dropped"
    assert ran.record.details["unknown_titles"] == ["Old dragonfire"]


def test_one_title_may_stand_for_several_entries() -> None:
    there = small(K, CASTLE, entry("castle", vault="W"), ai_search_mode="ai-only")
    assert items(select(there, picks("CASTLE"))) == ["CASTLE -> Castle, castle (exact, 1.00) high: chosen"]


def test_a_similar_title_with_all_its_letter_pairs_is_no_exact_one() -> None:
    ran = select(small(entry("aa"), ai_search_mode="ai-only"), picks("aaaa"))
    assert items(ran) == ["aaaa -> aa (fuzzy, 1.00) high: chosen"]
    assert "match=similar title" in ran.table[0]


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ("I would not know.", []),
        ('["", {"title": "null"}]', [" -> - (unreadable, 0.00) -: dropped",
                                     '{"title":"null"} -> - (unreadable, 0.00) -: dropped']),
        ("[]", []),
        (ERROR, []),
    ],
)  # fmt: skip
def test_items_of_a_reply_that_is_no_choice(reply: Reply, expected: list[str]) -> None:
    assert items(select(small(ai_search_mode="ai-only"), reply)) == expected


def test_a_long_item_without_a_title_is_shortened() -> None:
    ran = select(small(ai_search_mode="ai-only"), [["x" * 999], "Castle"])
    assert ran.record.ai is not None
    assert len(ran.record.ai.items[0].asked) == SHOWN


def test_labels_in_ai_only_mode_are_overwritten() -> None:
    ran = select(small(ai_search_mode="ai-only"), picks("K", "Castle"))
    assert ran.labels == {"K": "AI: r (high)", "Castle": "AI: r (high)"}


def test_labels_in_two_stage_mode_are_joined() -> None:
    ran = select(small(), picks("Castle", "Dragon", confidence="low"), matched="K, Castle, Sword", linked="Dragon")
    assert ran.labels == {
        "K": "key",
        "Castle": "key → AI: r (low)",
        "Sword": "key",
        "Dragon": "(wiki-linked from: K) → AI: r (low)",
    }


def test_bootstrap_entries_of_a_new_chat_are_forced() -> None:
    ran = select(small(chat=["U: x"], ai_search_mode="ai-only"), picks("Castle"))
    assert ran.left == ["K", "Boot", "Castle"]


def test_two_stage_chooses_among_matches_and_what_they_link_to() -> None:
    ran = select(small(), picks("Dragon", "Sword"), matched="K, Castle", linked="Dragon")
    assert lines(ran) == [picked("Dragon"), "removed Castle: ai_not_selected", "left: K, Dragon"]
    assert ran.record.details["unknown_titles"] == ["Sword"]  # a vault has it, but it was not offered


THRESHOLD_REPLY = (
    '[{"title":"Castle","confidence":"high","reason":"r"},{"title":"Dragon","confidence":"medium","reason":"r"},'
    '{"title":"Sword","confidence":"low","reason":"r"}]'
)


@pytest.mark.parametrize(
    ("threshold", "left", "below"),
    [
        ("low", ["K", "Castle", "Dragon", "Sword"], []),
        ("medium", ["K", "Castle", "Dragon"], ["removed Sword: below_confidence confidence=low threshold=medium"]),
        (
            "high", ["K", "Castle"],
            ["removed Dragon: below_confidence confidence=medium threshold=high",
             "removed Sword: below_confidence confidence=low threshold=high"],
        ),
    ],
)  # fmt: skip
def test_below_the_threshold(threshold: str, left: list[str], below: list[str]) -> None:
    ran = select(small(ai_search_mode="ai-only", ai_confidence_threshold=threshold), THRESHOLD_REPLY)
    assert ran.left == left
    assert [line for line in ran.table if "below_confidence" in line] == below


def test_picks_below_the_threshold_alone_are_no_answer() -> None:
    """Then the fallback for an empty answer decides (rules: deeplore 4.6)."""
    ran = select(small(ai_search_mode="ai-only", ai_confidence_threshold="high"), picks("Sword", confidence="low"))
    assert (ran.left, ran.record.note) == (["K"], "ai_empty")


ERRORS: list[tuple[Reply, str, int]] = [
    (ERROR, "fetch failed", 1),
    (SERVER_ERROR, "oops", 1),
    ("I would not know.", UNREADABLE, 1),
    ('{"selected": 5}', UNREADABLE, 1),
    ('["", {"title": "null"}]', UNUSABLE, 1),
    (TIMEOUT, "Request timed out (20s)", 0),
    (REFUSED, "no", 0),
    (RATE_LIMITED, "slow down", 0),
]
"""Failed answers, what the trace says, and whether the circuit breaker counts them (rules: deeplore 4.9)."""


@pytest.mark.parametrize(("reply", "error", "failures"), ERRORS)
def test_errors(reply: Reply, error: str, failures: int) -> None:
    ran = select(small(), reply, matched="K, Castle", linked="Dragon")
    assert lines(ran) == ["removed Dragon: fallback_dropped", "left: K, Castle", "note: ai_error"]
    assert ran.record.details["error"] == error
    assert ran.state.facts == {"ai_error": error, "ai_fallback": True}
    assert ran.state.ai.failures == failures
    assert ran.state.ai.cache is None


@pytest.mark.parametrize(
    ("reply", "calls", "cached"), [("no JSON", 1, None), (ERROR, 0, False), ('[{"title":" "}]', 1, None)]
)
def test_answers_count_as_calls_even_unreadable_ones(reply: Reply, calls: int, cached: bool | None) -> None:
    ran = select(small(ai_search_mode="ai-only"), reply)
    assert ran.state.ai.calls == calls
    assert ran.record.details["cached"] is cached
    assert ran.state.ai_cached is False
    assert len(ran.state.ai_calls) == 1


EVERYBODY_LEAVES = [f"removed {title}: fallback_dropped" for title in ("K", "Boot", "Castle", "Dragon", "Sword")]


def without(*titles: str) -> list[str]:
    """What leaves of the whole vault when these stay."""
    return [line for line in EVERYBODY_LEAVES if line.split(" ")[1].rstrip(":") not in titles]


FALLBACKS = [
    # setting, value, new chat, left in two-stage mode with K, Castle matched and Dragon linked, left in AI-only mode
    ("error", "keyword", False, ["K", "Castle"], []),
    ("error", "", False, ["K", "Castle"], []),
    ("error", "constants_only", False, ["K"], ["K"]),
    ("error", "bootstrap_only", False, [], []),
    ("error", "bootstrap_only", True, ["Boot"], ["Boot"]),
    ("error", "none", False, [], []),
    ("error", "unheard of", False, [], []),
    ("error", "constants", False, [], []),  # words of the other setting
    ("error", "constants_bootstrap", True, [], []),
    ("empty", "constants", False, ["K"], ["K"]),
    ("empty", "constants", True, ["K"], ["K"]),
    ("empty", "", False, ["K"], ["K"]),
    ("empty", "constants_bootstrap", False, ["K"], ["K"]),
    ("empty", "constants_bootstrap", True, ["K", "Boot"], ["K", "Boot"]),
    ("empty", "keyword", False, ["K", "Castle"], []),
    ("empty", "none", False, [], []),
    ("empty", "unheard of", True, [], []),
    ("empty", "constants_only", False, [], []),
    ("empty", "bootstrap_only", True, [], []),
]


def fallback(kind: str, value: str, new_chat: bool, matched: str | None) -> Ran:
    values = {"ai_error_fallback": value} if kind == "error" else {"ai_empty_fallback": value}
    mode = "ai-only" if matched is None else "two-stage"
    there = small(chat=["U: x"] if new_chat else CHAT, ai_search_mode=mode, **values)
    return select(there, ERROR if kind == "error" else [], matched=matched, linked="" if matched is None else "Dragon")


@pytest.mark.parametrize(("kind", "value", "new_chat", "two_stage", "ai_only"), FALLBACKS)
def test_fallbacks_in_two_stage_mode(
    kind: str, value: str, new_chat: bool, two_stage: list[str], ai_only: list[str]
) -> None:
    """Both tables (rules: deeplore 4.6)."""
    ran = fallback(kind, value, new_chat, "K, Castle")
    came, stay = ["K", "Castle", "Dragon"], set(two_stage)
    assert lines(ran) == [
        *(f"removed {title}: fallback_dropped" for title in came if title not in stay),
        *(f"added {title}: fell_back" for title in two_stage if title not in came),
        f"left: {', '.join(two_stage) or '-'}",
        f"note: ai_{kind}",
    ]
    assert ran.record.details["fallback"] == (value or ("keyword" if kind == "error" else "constants"))
    assert ran.state.match_now == ""


@pytest.mark.parametrize(("kind", "value", "new_chat", "two_stage", "ai_only"), FALLBACKS)
def test_fallbacks_in_ai_only_mode(
    kind: str, value: str, new_chat: bool, two_stage: list[str], ai_only: list[str]
) -> None:
    """By keywords means that the matcher runs now; its labels count after an error only (rules: deeplore 4.6)."""
    ran = fallback(kind, value, new_chat, None)
    assert lines(ran) == [*without(*ai_only), f"left: {', '.join(ai_only) or '-'}", f"note: ai_{kind}"]
    wanted = {("error", "keyword"): "labels", ("error", ""): "labels", ("empty", "keyword"): "no labels"}
    assert ran.state.match_now == wanted.get((kind, value), "")


def test_bootstraps_that_no_key_matched_join_by_the_fallback() -> None:
    ran = fallback("empty", "constants_bootstrap", True, "Castle")
    assert lines(ran) == [
        "removed Castle: fallback_dropped",
        "removed Dragon: fallback_dropped",
        "added K: fell_back",
        "added Boot: fell_back",
        "left: K, Boot",
        "note: ai_empty",
    ]


KEYED = (K, BOOT, entry("Castle", "walls"), entry("Dragon", "scales"))


@pytest.mark.parametrize(
    ("reply", "labels"),
    [
        (ERROR, {"K": "(constant)", "Castle": "walls"}),
        ([], {"K": "(constant)", "Castle": "?"}),  # the matcher's labels are discarded
    ],
)
def test_ai_only_falls_back_on_keywords(reply: Reply, labels: dict[str, str]) -> None:
    """A whole generation; whoever has a key in the chat goes in (rules: deeplore 4.6)."""
    settings = {"ai_search_mode": "ai-only", "ai_empty_fallback": "keyword"}
    there = asking(small(*KEYED, chat=[*CHAT, "U: the walls"], **settings), reply)
    trace = Play(there).turn([*CHAT, "U: the walls"])
    assert {one.title: one.label for one in trace.injections} == labels
    assert [record.name for record in trace.stages].count("keywords") == 1


NOTHING_SAID = [
    pytest.param(["Ann: welcome"], id="only a greeting"),
    pytest.param([], id="an empty chat"),
    pytest.param([message("U: x", is_system=True)], id="only hidden messages"),
]


@pytest.mark.parametrize("chat", NOTHING_SAID)
def test_without_a_conversation_nobody_is_asked(chat: list[Any]) -> None:
    """No call and no error, so that the fallback for an empty answer decides (rules: deeplore 4.7 step 3)."""
    ran = select(small(chat=chat, ai_search_mode="ai-only"), picks("Castle"))
    assert (ran.left, ran.record.note) == (["K"], "ai_empty")
    assert ran.record.details["why"] == "there is no conversation to judge by"
    assert ran.state.ai_calls == []
    assert ran.state.facts["ai_fallback"] is False


OFFERS_NOTHING = [
    pytest.param(small(K, BOOT, ai_search_mode="ai-only", chat=["U: x"]), None, ["K", "Boot"], [], id="all are forced"),
    pytest.param(
        small(K, CASTLE, ai_search_mode="ai-only", manifest_summary_mode="summary_only"), None, ["K"],
        ["removed Castle: nothing_offered"], id="AI only: what is forced",
    ),
    pytest.param(
        small(K, CASTLE, DRAGON, manifest_summary_mode="summary_only"), "K, Castle", ["K", "Castle"],
        ["removed Dragon: nothing_offered"], id="two-stage: the matches, not what they link to",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("there", "matched", "left", "removed"), OFFERS_NOTHING)
def test_nothing_to_offer(there: World, matched: str | None, left: list[str], removed: list[str]) -> None:
    ran = select(there, matched=matched, linked="" if matched is None else "Dragon")
    assert lines(ran) == [*removed, f"left: {', '.join(left)}", "note: nothing_to_offer"]
    assert ran.state.ai_calls == []
    assert ran.state.ai_cached is None
    assert "ai_fallback" not in ran.state.facts


def with_ai(there: World, now_ms: int, **ai: Any) -> World:
    return World(changed(there.context, state=EngineState(ai=AiState(**ai)), clock_ms=now_ms))


@pytest.mark.parametrize(
    ("ai", "now_ms", "error", "probe"),
    [
        ({"failures": 2, "last_failure_ms": 0}, 30_000, PAUSED, None),
        ({"failures": 2, "last_failure_ms": 0}, 30_001, "", None),  # the probe succeeds and closes the breaker
        ({"failures": 2, "last_failure_ms": 0, "probe_ms": 31_000}, 40_000, PAUSED, 31_000),
        ({"failures": 2, "last_failure_ms": 0, "probe_ms": 31_000}, 91_001, "", None),  # lost
        ({"failures": 1, "last_failure_ms": 0}, 1, "", None),
        ({"last_success_ms": 1000}, 1499, THROTTLED, None),
        ({"last_success_ms": 1000}, 1500, "", None),
    ],
)
def test_paused_and_throttled(ai: dict[str, Any], now_ms: int, error: str, probe: int | None) -> None:
    there = asking(with_ai(small(ai_search_mode="ai-only"), now_ms, **ai), picks("Castle"))
    state = started(there)
    state.ai = there.context.state.ai
    ran = run_stage(STAGE, there, state=state)
    assert ran.state.facts["ai_error"] == error
    assert len(ran.state.ai_calls) == (0 if error else 1)
    assert ran.state.ai.probe_ms == probe
    if not error:
        assert (ran.state.ai.failures, ran.state.ai.last_success_ms) == (0, now_ms)


CLOSED = Breaker()
HALF_OPEN = Breaker(BreakerState.HALF_OPEN, 2)
T = 31_000


@pytest.mark.parametrize(
    ("ai", "now_ms", "reply", "before", "after"),
    [
        ({}, T, picks("Castle"), CLOSED, CLOSED),
        ({}, T, ERROR, CLOSED, Breaker(failures=1)),
        ({"failures": 1, "last_failure_ms": 0}, T, picks("Castle"), Breaker(failures=1), CLOSED),
        ({"failures": 1, "last_failure_ms": 0}, T, "text", Breaker(failures=1),
         Breaker(BreakerState.OPEN, 2, T + 30_001)),
        ({"failures": 1, "last_failure_ms": 0}, T, TIMEOUT, Breaker(failures=1), Breaker(failures=1)),
        ({"failures": 2, "last_failure_ms": T - 10_000}, T, picks("Castle"), Breaker(BreakerState.OPEN, 2, T + 20_001),
         Breaker(BreakerState.OPEN, 2, T + 20_001)),
        ({"failures": 2, "last_failure_ms": 0}, T, picks("Castle"), HALF_OPEN, CLOSED),
        ({"failures": 2, "last_failure_ms": 0}, T, ERROR, HALF_OPEN, Breaker(BreakerState.OPEN, 3, T + 30_001)),
        ({"failures": 2, "last_failure_ms": 0}, T, TIMEOUT, HALF_OPEN, Breaker(BreakerState.PROBING, 2, T + 60_001)),
        ({"failures": 2, "last_failure_ms": 0, "probe_ms": T - 1}, T, picks("Castle"),
         Breaker(BreakerState.PROBING, 2, T + 60_000), Breaker(BreakerState.PROBING, 2, T + 60_000)),
    ],
)  # fmt: skip
def test_the_breaker_before_and_after_is_on_record(
    ai: dict[str, Any], now_ms: int, reply: Reply, before: Breaker, after: Breaker
) -> None:
    """Rules: deeplore 4.9."""
    there = asking(with_ai(small(ai_search_mode="ai-only"), now_ms, **ai), reply)
    state = started(there)
    state.ai = there.context.state.ai
    record = run_stage(STAGE, there, state=state).record
    assert record.ai is not None
    assert (record.ai.before, record.ai.after) == (before, after)


@pytest.mark.parametrize(
    ("reply", "probe", "failures"),
    [(TIMEOUT, 31_000, 2), (REFUSED, 31_000, 2), (RATE_LIMITED, 31_000, 2), (ERROR, None, 3), ("text", None, 3)],
)
def test_a_probe_that_fails(reply: Reply, probe: int | None, failures: int) -> None:
    """An exempt error keeps the probe out for up to a minute (rules: deeplore 4.9; deeplore-tools 1.8)."""
    there = asking(with_ai(small(ai_search_mode="ai-only"), 31_000, failures=2, last_failure_ms=0), reply)
    state = started(there)
    state.ai = there.context.state.ai
    ran = run_stage(STAGE, there, state=state)
    assert (ran.state.ai.probe_ms, ran.state.ai.failures) == (probe, failures)


def test_two_failures_pause_the_third_call_for_half_a_minute() -> None:
    """End to end: a 429 in between does not count (rules: deeplore-tools 1.12 row 4)."""
    settings = {"ai_search_mode": "ai-only", "ai_error_fallback": "constants_only"}
    play = Play(asking(small(**settings), ERROR, RATE_LIMITED, ERROR, picks("Castle")))
    said = []
    for turn, second in enumerate((0, 1, 2, 3, 32, 33)):
        trace = play.turn([*CHAT, f"U: turn {turn}"] * (turn + 1), clock_ms=1000 * second)
        said.append((trace.facts["ai_error"], injected(trace)))
    assert said == [
        ("fetch failed", ["K"]),
        ("slow down", ["K"]),
        ("fetch failed", ["K"]),
        (PAUSED, ["K"]),
        (PAUSED, ["K"]),  # exactly thirty seconds
        ("", ["Castle", "K"]),
    ]


def test_a_cached_choice() -> None:
    there = asking(small(ai_search_mode="ai-only"), picks("Castle", "Dragon"))
    first = run_stage(STAGE, there, state=started(there))
    again = started(there)
    again.ai = first.state.ai
    ran = run_stage(STAGE, there, state=again)
    assert lines(ran) == [
        picked("Castle"), picked("Dragon"), "removed Boot: ai_not_selected", "removed Sword: ai_not_selected",
        "left: K, Castle, Dragon", "note: ai_cached",
    ]  # fmt: skip
    assert ran.state.ai_cached is True
    assert ran.state.ai_calls == []
    assert (ran.record.details["tier"], ran.record.details["why"]) == (1, "the same conversation and candidates")
    assert (ran.state.ai.calls, ran.state.ai.cached_hits) == (1, 1)
    assert items(ran) == [
        "Castle -> Castle (cached, 1.00) high: chosen",
        "Dragon -> Dragon (cached, 1.00) high: chosen",
    ]


def test_a_remembered_choice_that_is_no_candidate_any_more() -> None:
    there = asking(small(), picks("Castle", "Dragon"))
    first = run_stage(STAGE, there, state=started(there, "Castle, Dragon"))
    again = started(there, "Castle, Dragon")
    again.candidates.pop()
    again.ai = first.state.ai
    ran = run_stage(STAGE, there, state=again)
    assert items(ran) == ["Castle -> Castle (cached, 1.00) high: chosen", "Dragon -> - (not_found, 0.00) high: dropped"]


class Broken:
    """An answer source with a bug."""

    name = label = "broken"

    def __init__(self, error: BaseException) -> None:
        self.error = error

    async def answer(self, _request: Any) -> Any:
        raise self.error


def broken(source: Any, **settings: Any) -> World:
    there = small(**{"ai_search_mode": "ai-only", "ai_error_fallback": "constants_only", **settings})
    return World(changed(there.context, answers=source))


@pytest.mark.parametrize(
    ("source", "error", "failures"),
    [
        (Broken(OSError(5, "Input/output error")), "OSError: [Errno 5] Input/output error", 1),
        (Broken(ZeroDivisionError("division by zero")), "ZeroDivisionError: division by zero", 1),
        (Broken(ValueError("key sk-secret1234 is odd")), "ValueError: key ••• is odd", 1),
        (Broken(TimeoutError("too long")), "TimeoutError: too long", 1),  # only "timed out" exempts, not "timeout"
    ],
)
def test_an_answer_source_that_breaks_falls_back(
    source: Any, error: str, failures: int, caplog: pytest.LogCaptureFixture
) -> None:
    """Every other exception is a failure like those of the provider (rules: deeplore-tools 1.8)."""
    there = broken(source)
    ran = run_stage(STAGE, there, state=started(there))
    assert (ran.left, ran.record.note, ran.record.details["error"]) == (["K"], "ai_error", error)
    assert ran.state.facts == {"ai_error": error, "ai_fallback": True}
    assert ran.state.ai.failures == failures
    assert [call.error for call in ran.state.ai_calls] == [error]
    assert f"The answer source '{source.label}' failed" in caplog.text
    assert error.split(":", maxsplit=1)[0] in caplog.text


class Enough(Stopped):
    """The work was stopped."""


@pytest.mark.parametrize("error", [asyncio.CancelledError(), KeyboardInterrupt(), Enough()], ids=repr)
def test_being_stopped_is_no_failure(error: BaseException) -> None:
    there = broken(Broken(error), chat=[*CHAT, "U: x"])
    with pytest.raises(type(error)):
        Play(there).turn([*CHAT, "U: x"])


def test_a_cached_empty_choice_falls_back_again() -> None:
    there = asking(small(ai_search_mode="ai-only"), [])
    first = run_stage(STAGE, there, state=started(there))
    again = started(there)
    again.ai = first.state.ai
    ran = run_stage(STAGE, there, state=again)
    assert (ran.left, ran.record.note, ran.state.ai_cached) == (["K"], "ai_empty", True)


def test_the_request() -> None:
    """The person's limits, the number asked for, the model, and where the stable part ends
    (rules: deeplore 4.7 "Request").
    """
    there = small(ai_search_mode="ai-only", ai_search_max_tokens=99, ai_search_timeout=5, max_entries=2)
    ran = select(there, picks("Castle"))
    (call,) = ran.state.ai_calls
    assert (call.kind, call.max_tokens, call.json_schema, call.model) == ("search", 99, True, "")
    assert "up to 4 entries" in call.system
    assert call.user.startswith("<manifest_info>\nCandidate entries: 4 (from 5 total).\n")
    assert "<recent_chat_transcript>\nAnn (character): two\nU (user): three\n" in call.user


@pytest.mark.parametrize(
    ("own", "connection", "model", "schema"),
    [
        ("", "", "", True),
        ("mine", "theirs", "mine", True),
        ("", "theirs", "theirs", True),
        ("claude-x", "", "claude-x", False),
    ],
)
def test_which_model_is_asked(own: str, connection: str, model: str, schema: bool) -> None:
    there = asking(small(ai_search_mode="ai-only", ai_search_model=own), picks("Castle"), model=connection)
    ran = run_stage(STAGE, there, state=started(there))
    (call,) = ran.state.ai_calls
    assert (call.model, call.json_schema) == (model, schema)


def test_instructions_as_user_message_are_on_record_apart() -> None:
    there = small(ai_search_mode="ai-only", ai_force_user_role=True)
    (call,) = select(there, picks("Castle")).state.ai_calls
    assert call.details["merged_into_user"] is True
    assert call.system
    assert call.user.startswith("<manifest_info>")


def test_a_blocked_entry_is_offered_all_the_same() -> None:
    """4: blocks are applied after the selection."""
    there = small(ai_search_mode="ai-only", blocks=rules("Castle"))
    ran = select(there, picks("Castle"))
    assert ran.left == ["K", "Castle"]
    assert '<entry name="Castle">' in ran.state.ai_calls[0].user
