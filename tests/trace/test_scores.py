"""The similarities of a run that vectors ranked."""

from __future__ import annotations

from lorestudio.domain.javascript import Json
from lorestudio.systems.hybrid.words import VOCABULARY
from lorestudio.trace.model import EntryRef, Limit, Outcome, Phase, RunOutcome, StageRecord, Trace, Turn, Verdict
from lorestudio.trace.scores import similarities


def ranked(*verdicts: Verdict, facts: dict[str, Json] | None = None) -> Trace:
    refs = {place: EntryRef(place, f"Note {place}", "v", f"{place}.md", 100, 1) for place in range(4)}
    record = StageRecord("semantic rank", Phase.SELECT, verdicts=verdicts)
    limits = (Limit("tokens", 1, None, "tokens"), Limit("semantic top-K", 1, 1, "entries"))
    shown: dict[str, Json] = {"threshold": 0.5} if facts is None else facts
    return Trace("hybrid", "", RunOutcome.INJECTED, Turn(1, 0, 0), refs, 4, (record,), limits=limits, facts=shown,
                 words=VOCABULARY)  # fmt: skip


VERDICTS = (
    Verdict(0, Outcome.REMOVED, "hy_below", {"score": 0.2, "threshold": 0.5}),
    Verdict(1, Outcome.KEPT, "hy_ranked", {"score": 0.9, "threshold": 0.5, "rank": 1}),
    Verdict(2, Outcome.REMOVED, "hy_beyond", {"score": 0.6, "rank": 2, "limit": 1}),
    Verdict(3, Outcome.KEPT, "hy_unembedded"),
)


def test_candidates_stand_by_their_score_with_what_was_decided() -> None:
    found = similarities(ranked(*VERDICTS))
    assert found is not None
    assert [(each.title, each.score, each.rank, each.taken) for each in found.entries] == [
        ("Note 1", 0.9, 1, True),
        ("Note 2", 0.6, 2, False),
        ("Note 0", 0.2, 3, False),
    ]
    assert [each.result for each in found.entries] == ["Taken", "Beyond the top", "Not similar enough"]
    assert (found.threshold, found.above) == (0.5, 2)
    assert found.sentence == (
        "3 candidates have a similarity; 2 reach the threshold of 0.5, of which the first 1 were taken."
    )


def test_without_scores_there_is_nothing() -> None:
    assert similarities(ranked(VERDICTS[3])) is None
    assert similarities(ranked(*VERDICTS, facts={})) is None
