from __future__ import annotations

from typing import Any

import pytest

from lorestudio.domain.records import replace
from lorestudio.trace.ai_selection import AiTotals, ai_lines, ai_totals, switch_effects
from lorestudio.trace.model import (
    AiCall,
    AiRecord,
    Breaker,
    BreakerState,
    ItemResult,
    Phase,
    ReplyItem,
    StageStatus,
    TitleMatch,
    Trace,
)
from lorestudio.trace.vocabulary import Tone
from tests.trace.examples import SKARN, skipped, stage, trace

ALL = (0, 1, 2)
CALL = AiCall("search", "s", "u", 100, json_schema=True, source="Cloud · m", details={"live": True, "input_tokens": 30})


def run(*calls: AiCall, note: str = "", prefilter: Any = None, offered: int = 9, **details: Any) -> Trace:
    """A run whose AI selection says `details`."""
    stages = (
        *((prefilter,) if prefilter is not None else ()),
        stage("manifest", Phase.SELECT, ALL, ALL, details={"offered": list(range(offered))}),
        stage("AI selection", Phase.SELECT, ALL, ALL, note=note, details=details),
    )
    return trace(mode="two-stage", stages=stages, ai_calls=calls)


def results(count: int) -> list[dict[str, Any]]:
    return [{"id": number} for number in range(count)]


@pytest.mark.parametrize(
    ("made", "text", "tone"),
    [
        (run(CALL, cached=False, results=results(5)), "AI: 5 of 9 chosen (Cloud · m)", Tone.NEUTRAL),
        (
            run(cached=True, tier=2, why="the same candidates", results=results(2), note="ai_cached"),
            "AI: 2 of 9 chosen, from the cache: the same candidates",
            Tone.NEUTRAL,
        ),
        (
            run(CALL, cached=False, results=results(1), unknown_titles=["The Moon", "A Star"]),
            "AI: 1 of 9 chosen (Cloud · m); not in the list: “The Moon” and “A Star”",
            Tone.NEUTRAL,
        ),
        (
            run(replace(CALL, error="HTTP 500"), note="ai_error", error="HTTP 500.", fallback="keyword"),
            "AI failed: HTTP 500; instead: what the keys match",
            Tone.ERROR,
        ),
        (
            run(CALL, note="ai_empty", cached=False, fallback="constants"),
            "AI chose nothing (Cloud · m); instead: the constants",
            Tone.WARNING,
        ),
        (
            run(note="ai_empty", cached=True, why="the same conversation", fallback="none"),
            "AI chose nothing, from the cache: the same conversation; instead: nothing",
            Tone.WARNING,
        ),
        (
            run(note="ai_empty", cached=False, why="there is no conversation to judge by", fallback="constants"),
            "AI not asked: there is no conversation to judge by; instead: the constants",
            Tone.NEUTRAL,
        ),
        (run(note="nothing_to_offer"), "AI not asked: there was nothing to offer", Tone.NEUTRAL),
    ],
)
def test_the_line_of_the_selection(made: Trace, text: str, tone: Tone) -> None:
    (line,) = ai_lines(made)
    assert (line.text, line.tone) == (text, tone)


def test_nothing_is_said_where_no_model_is_asked() -> None:
    assert ai_lines(trace()) == ()
    assert ai_totals([trace(), trace()]) == AiTotals()
    assert AiTotals().sentence == ""


def test_a_long_error_is_shortened() -> None:
    (line,) = ai_lines(run(note="ai_error", error="x" * 500 + "\nsecond", fallback="keyword"))
    assert len(line.text) < 200
    assert "\n" not in line.text


def test_a_failed_stage() -> None:
    record = stage("AI selection", Phase.SELECT, ALL, ALL, status=StageStatus.FAILED, error="KeyError: 'x'")
    (line,) = ai_lines(trace(stages=(record,)))
    assert (line.text, line.tone) == ("AI selection failed: KeyError: 'x'", Tone.ERROR)


ASKED = replace(CALL, kind="prefilter")


@pytest.mark.parametrize(
    ("calls", "record", "said"),
    [
        ([ASKED], stage("category prefilter", Phase.SELECT, range(60), range(20)), ["20 of 60 go on"]),
        (
            [replace(ASKED, error="no")],
            skipped("category prefilter", Phase.SELECT, ALL, "prefilter_unchanged", why="the call failed: no"),
            ["Category prefilter not used: the call failed: no"],
        ),
        ([], skipped("category prefilter", Phase.SELECT, ALL, "prefilter_unchanged", why="too few entries"), []),
        ([], skipped("category prefilter", Phase.SELECT, ALL, "off", setting="hierarchicalPreFilter"), []),
        (
            [],
            stage("category prefilter", Phase.SELECT, ALL, ALL, status=StageStatus.FAILED, error="boom"),
            ["Category prefilter failed: boom"],
        ),
    ],
)
def test_the_line_of_the_prefilter(calls: list[AiCall], record: Any, said: list[str]) -> None:
    lines = ai_lines(run(*calls, CALL, prefilter=record, cached=False, results=[]))
    assert len(lines) == len(said) + 1
    assert [words in line.text for words, line in zip(said, lines, strict=False)] == [True] * len(said)


def on_record(made: Trace, **record: Any) -> list[str]:
    """The lines after the first, where the selection has this record of its reply."""
    *rest, selection = made.stages
    lines = ai_lines(replace(made, stages=(*rest, replace(selection, ai=AiRecord(**record))), clock_ms=60_000))
    return [f"{line.tone.value}: {line.text}" for line in lines[1:]]


def test_titles_that_were_only_similar_are_told() -> None:
    made = run(CALL, cached=False, results=results(2))
    castle = ReplyItem("The Castle", TitleMatch.FUZZY, ItemResult.CHOSEN, (0,), "Castle", 0.714)
    unsure = ReplyItem("Dragn", TitleMatch.FUZZY, ItemResult.BELOW_CONFIDENCE, (1,), "Dragon", 2 / 3)
    others = (
        replace(castle, result=ItemResult.REPEATED),
        replace(castle, match=TitleMatch.EXACT),
        replace(castle, match=TitleMatch.NOT_FOUND, result=ItemResult.DROPPED),
    )
    assert on_record(made, items=others) == []
    assert on_record(made, items=(castle, *others, unsure)) == [
        "neutral: AI's titles read: “The Castle” as “Castle” (71 % alike) and “Dragn” as “Dragon” (67 % alike)"
    ]


def test_the_breaker_is_told_where_it_is_not_simply_closed() -> None:
    made = run(note="ai_error", error="AI search temporarily paused", fallback="keyword")
    opened = Breaker(BreakerState.OPEN, 2, 72_001)
    assert on_record(made) == []
    assert on_record(made, before=opened, after=opened) == [
        "warning: AI circuit breaker: open, after 2 failures in a row; one call may probe again in 12 s"
    ]
    assert on_record(made, before=Breaker(failures=1)) == [
        "warning: AI circuit breaker: closed, after 1 failure. Afterwards: closed"
    ]


def test_totals_of_a_replay() -> None:
    live = replace(CALL, details={"live": True, "input_tokens": 30, "output_tokens": 4})
    recorded = replace(live, source="recorded from Cloud · m", details={**live.details, "live": False})
    traces = [
        run(live, cached=False, results=results(1)),
        run(live, ASKED, cached=False, results=results(1)),
        run(recorded, cached=False, results=results(1)),
        run(cached=True, note="ai_cached", results=results(1)),
        run(replace(CALL, error="HTTP 500", details={}), note="ai_error", error="HTTP 500"),
        run(live, note="ai_empty", cached=False),
        trace(),
    ]
    totals = ai_totals(traces)
    assert totals == AiTotals(
        runs=6,
        answered={"Cloud · m": 4, "recorded from Cloud · m": 1},
        cached=1,
        failed=1,
        empty=1,
        sent=3 * 30 + 30,
        received=3 * 4,
    )
    assert totals.sentence == (
        "AI selection: 5 questions answered by Cloud · m (4) and recorded from Cloud · m (1); "
        "1 selection from the cache; 1 failure; 1 empty choice. Tokens spent: 120 sent, 12 received."
    )
    silent = replace(live, details={**live.details, "input_tokens": 0, "output_tokens": 0})
    assert ai_totals([run(silent, cached=False, results=results(1))]).sentence.endswith(
        "Tokens spent: 0 sent, 0 received. Of 1 answer the provider did not say how many."
    )


def test_switches_that_made_a_difference() -> None:
    def noting(*names: str) -> Trace:
        return trace(facts={"switches": [{"switch": name, "stage": "s", "effect": str(SKARN)} for name in names]})

    assert switch_effects([noting(), trace()]) == {}
    assert list(switch_effects([noting("b", "b", "a"), noting("a")]).items()) == [("b", 1), ("a", 2)]
