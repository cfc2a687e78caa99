"""What a reply's items were matched to and how the breaker stood, in words."""

from __future__ import annotations

from typing import Any

import pytest

from lorestudio.domain.records import replace
from lorestudio.trace.ai_selection import RESULT_WORDS, breaker_words, cache_words, match_words
from lorestudio.trace.model import AiRecord, Breaker, BreakerState, ItemResult, Phase, ReplyItem, TitleMatch
from lorestudio.trace.text import as_markdown, as_text
from tests.trace.examples import CROWN, DAWNKEEP, ENTRIES, SKARN, stage, trace

FUZZY = ReplyItem("The Crown", TitleMatch.FUZZY, ItemResult.CHOSEN, (CROWN,), "Crown", 5 / 7, "high", "It is worn.")


@pytest.mark.parametrize(
    ("item", "words"),
    [
        (replace(FUZZY, match=TitleMatch.EXACT), "exact title"),
        (FUZZY, "similar title, 71 % alike"),
        (replace(FUZZY, match=TitleMatch.CACHED), "remembered choice"),
        (ReplyItem("7", TitleMatch.UNREADABLE, ItemResult.DROPPED), "names no entry"),
        (ReplyItem("Moon", TitleMatch.NOT_FOUND, ItemResult.DROPPED), "not found"),
        (ReplyItem("Mount Nowhere", TitleMatch.NOT_FOUND, ItemResult.DROPPED, (), "Crown", 0.12), "not found"),
        (
            ReplyItem("Cro", TitleMatch.NOT_FOUND, ItemResult.DROPPED, (), "Crown", 0.5),
            "not found; nearest is “Crown” (50 % alike)",
        ),
    ],
)
def test_how_an_item_was_matched(item: ReplyItem, words: str) -> None:
    assert match_words(item) == words


def test_every_result_has_words() -> None:
    assert set(RESULT_WORDS) == set(ItemResult)


@pytest.mark.parametrize(
    ("breaker", "words"),
    [
        (Breaker(), "closed"),
        (Breaker(failures=1), "closed, after 1 failure"),
        (Breaker(BreakerState.OPEN, 2, 30_001), "open, after 2 failures in a row; one call may probe again in 29 s"),
        (Breaker(BreakerState.OPEN, 3, 1_001), "open, after 3 failures in a row; one call may probe again in 1 s"),
        (Breaker(BreakerState.HALF_OPEN, 2), "half-open, after 2 failures in a row; the next call goes out as a probe"),
        (
            Breaker(BreakerState.PROBING, 2, 61_001),
            "half-open, after 2 failures in a row; a probe is without a result, another may go out in 60 s",
        ),
    ],
)
def test_the_breaker(breaker: Breaker, words: str) -> None:
    assert breaker_words(breaker, 1_000) == words


@pytest.mark.parametrize(
    ("details", "words"),
    [
        ({"cached": True, "tier": 2, "why": "the same candidates"}, "hit in tier 2: the same candidates"),
        ({"cached": True}, "hit in tier ?: no reason given"),
        ({"cached": False, "why": "nothing is cached yet"}, "miss: nothing is cached yet"),
        ({"cached": None, "why": "the vault changed"}, "miss: the vault changed"),
        ({"cached": False}, ""),
        ({"why": "too few entries"}, ""),
    ],
)
def test_the_cache(details: dict[str, Any], words: str) -> None:
    assert cache_words(details) == words


def test_items_and_breaker_can_be_copied() -> None:
    twice = ReplyItem("skarn", TitleMatch.EXACT, ItemResult.CHOSEN, (SKARN, DAWNKEEP, 99), "Skarn", 1.0, "low")
    lost = ReplyItem("The | Moon", TitleMatch.NOT_FOUND, ItemResult.DROPPED, confidence="medium")
    record = AiRecord(Breaker(BreakerState.HALF_OPEN, 2), Breaker(), (FUZZY, twice, lost))
    run = trace(
        stages=(stage("AI selection", Phase.SELECT, details={"cached": False, "why": "the vault changed"}, ai=record),),
        entries=ENTRIES,
    )
    assert as_text(run).split("Items of the reply\n")[1] == (
        "  Asked for   Matched to                              How                        Confidence  Result\n"
        "  The Crown   Crown                                   similar title, 71 % alike  high        chosen\n"
        "  skarn       Skarn (World), Dawnkeep (World), Skarn  exact title                low         chosen\n"
        "  The | Moon  -                                       not found                  medium      passed over\n"
        "\n"
        "Cache and circuit breaker\n"
        "  Stage         Cache                    Breaker before                                                       "
        "    Breaker after\n"
        "  AI selection  miss: the vault changed  half-open, after 2 failures in a row; the next call goes out as a "
        "probe  closed\n"
    )
    assert "| The \\| Moon | - | not found | medium | passed over |" in as_markdown(run)
