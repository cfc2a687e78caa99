from __future__ import annotations

from typing import Any

import pytest

from lorestudio.domain.records import replace
from lorestudio.systems.deeplore.words import VOCABULARY
from lorestudio.trace.model import Outcome, Phase, RunOutcome, StageRecord, StageStatus, Trace, Turn, Verdict
from lorestudio.trace.summary import estimate, too_broad


def added(entry: int, reason: str = "key_hit", **details: Any) -> Verdict:
    return Verdict(entry, Outcome.ADDED, reason, details)


def keywords(*verdicts: Verdict, **details: Any) -> StageRecord:
    return StageRecord("keywords", Phase.MATCH, verdicts=verdicts, details=details)


def trace(*stages: StageRecord, size: int = 10, **changes: Any) -> Trace:
    made = Trace("deeplore", "keywords-only", RunOutcome.NOTHING_INJECTED, Turn(2, 0, 0), {}, size, stages)
    return replace(made, words=VOCABULARY, **changes)


def test_half_of_the_vault_is_too_much_and_the_worst_key_is_named() -> None:
    hits = [added(entry, key=key) for entry, key in enumerate(("the", "The", "lamp", "THE", "tide"))]
    found = too_broad(trace(keywords(*hits)))
    assert found is not None
    assert (found.matched, found.entries, found.key, found.by_key) == (5, 10, "the", 3)
    assert "5 of 10 entries" in found.sentence
    assert "“the” alone let in 3" in found.sentence


def test_less_than_half_and_a_tiny_vault_are_fine() -> None:
    hits = [added(entry, key="the") for entry in range(4)]
    assert too_broad(trace(keywords(*hits))) is None
    assert too_broad(trace(keywords(*hits), size=4)) is None


def test_constants_are_not_counted() -> None:
    constants = StageRecord("constants", Phase.MATCH, verdicts=tuple(added(n, "constant") for n in range(9)))
    assert too_broad(trace(constants, keywords(added(9, key="the")))) is None


def test_what_is_offered_to_a_model_unasked_is_not_counted() -> None:
    """In AI-only mode every entry is offered, whatever the chat says."""
    whole = StageRecord("whole vault", Phase.MATCH, verdicts=tuple(added(n, "offered") for n in range(10)))
    assert too_broad(trace(whole)) is None


def test_without_one_key_that_stands_out_none_is_blamed() -> None:
    found = too_broad(trace(keywords(*(added(n, key=f"key {n}") for n in range(8)))))
    assert found is not None
    assert "alone" not in found.sentence


def test_what_was_searched() -> None:
    record = keywords(messages=4, characters=812, depth=4)
    told = VOCABULARY.widening(trace(record, size=45))
    assert told.startswith("Searched: the last 4 messages (812 characters), for the keys of 45 entries. None occurs")
    assert VOCABULARY.widening(trace()).startswith("To let more in: raise the scan depth; give")


def test_three_ways_to_widen_say_how_things_stand() -> None:
    off = StageRecord("recursion", Phase.MATCH, StageStatus.SKIPPED, note="off")
    on = StageRecord("BM25", Phase.MATCH)
    ways = VOCABULARY.widening(trace(keywords(depth=4), off, on)).split("; ")
    assert len(ways) == 3
    assert "which is 4" in ways[0]
    assert ways[2] == "or switch on recursive scan."


@pytest.mark.parametrize(
    ("facts", "words"),
    [
        ({"counter": "chars/4", "counted_exactly": False}, "estimates of 4 characters a token"),
        ({"counter": "chars/3.35", "counted_exactly": False}, "estimates of 3.35 characters a token"),
        ({"counter": "own", "counted_exactly": False}, "estimates"),
        ({"counter": "cl100k", "counted_exactly": True}, ""),
        ({}, ""),
    ],
)
def test_how_far_counts_can_be_trusted(facts: dict[str, Any], words: str) -> None:
    said = estimate(trace(facts=facts))
    assert words in said
    assert bool(said) is bool(words)
