"""Other numbers for the entries of a trace."""

from __future__ import annotations

from lorestudio.domain.records import replace
from lorestudio.trace.journey import FOREIGN_IDS, Journeys, renumbered
from lorestudio.trace.model import (
    EntryRef,
    Injection,
    Outcome,
    Phase,
    PromptBlock,
    PromptPart,
    RunOutcome,
    StageRecord,
    Trace,
    Turn,
    Verdict,
)


def trace() -> Trace:
    refs = {number: EntryRef(number, f"Note {number}", "book", f"uid {number}", 100, 5) for number in (0, 3)}
    return Trace(
        "world-info",
        "",
        RunOutcome.INJECTED,
        Turn(2, 0, 1),
        refs,
        4,
        (
            StageRecord("keys", Phase.MATCH, left=(3,), verdicts=(Verdict(3, Outcome.ADDED, "wi_key", {"key": "a"}),)),
            StageRecord(
                "keys (recursion 1)",
                Phase.MATCH,
                entered=(3,),
                left=(3, 0),
                verdicts=(
                    Verdict(
                        0, Outcome.ADDED, "wi_key", {"key": "b", "source_id": 3, "refine_source_id": 0, "message": 3}
                    ),
                ),
            ),
        ),
        (Injection(3, "Note 3", "a", 5, 100, 0, 0, 0, "t", "h"),),
        (PromptBlock("t", 0, 0, 0, "abc", (PromptPart(0, 1, 3), PromptPart(1, 3))),),
    )


def test_every_number_of_an_entry_is_raised_and_nothing_else() -> None:
    moved = renumbered(trace(), (100).__add__)
    assert set(moved.entries) == {100, 103}
    assert all(number == ref.id for number, ref in moved.entries.items())
    assert moved.stages[1].entered == (103,)
    assert moved.stages[1].left == (103, 100)
    second = moved.stages[1].verdicts[0]
    assert (second.entry, second.details) == (
        100,
        {"key": "b", "source_id": 103, "refine_source_id": 100, "message": 3},
    )
    assert moved.injections[0].entry == 103
    assert [part.entry for part in moved.prompt[0].parts] == [103, None]
    assert moved.turn == trace().turn


def test_what_happened_stays_the_same() -> None:
    before, after = Journeys(trace()), Journeys(renumbered(trace(), FOREIGN_IDS.__add__))
    assert [number + FOREIGN_IDS for number in before.rows] == list(after.rows)
    assert [cell.state for cell in before.cells(0)] == [cell.state for cell in after.cells(FOREIGN_IDS)]


def test_in_a_run_over_other_entries_that_names_none_a_note_took_no_part() -> None:
    """Of a run that found nothing nobody else could tell whose entries it looked at."""
    quiet = replace(trace(), entries={}, stages=(StageRecord("keys", Phase.MATCH, default_reason="wi_no_key"),))
    assert Journeys(quiet).fate(2).reason == "wi_no_key"
    assert Journeys(renumbered(quiet, FOREIGN_IDS.__add__)).fate(2).reason == quiet.words.not_notes
