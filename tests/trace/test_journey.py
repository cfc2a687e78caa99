import pytest
from hypothesis import given
from hypothesis import strategies as st

from lorestudio.domain.records import replace
from lorestudio.trace.journey import FOREIGN_IDS, CellState, FateState, JourneyCell, Journeys, explain_cell, phase_cell
from lorestudio.trace.model import Outcome, Phase, RunOutcome, StageRecord, StageStatus
from tests.trace import examples
from tests.trace.examples import (
    ADDED,
    CROWN,
    DAWNKEEP,
    EMBER,
    GUIDE,
    KEPT,
    MOUSE,
    OATH,
    REFUSED,
    REMOVED,
    RIVER,
    SKARN,
    TAVERN,
    skipped,
    stage,
    story,
    trace,
    verdict,
)

LETTERS = {
    CellState.NOT_REACHED: ".", CellState.ABSENT: "-", CellState.ADDED: "A", CellState.KEPT: "K",
    CellState.CHANGED: "C", CellState.REMOVED: "X", CellState.REFUSED: "R",
}  # fmt: skip


def letters(run, entry):
    return "".join(LETTERS[cell.state] for cell in Journeys(run).cells(entry))


@pytest.mark.parametrize(
    ("entry", "way"),
    [  # snapshot, constants, (bootstrap), keywords, cascade links, (recursion), pins, gating, budget, placement
        (SKARN, "KA.KK.KKKK"), (DAWNKEEP, "K-.AK.KKKK"), (CROWN, "K-.AK.KKCK"), (OATH, "K-.AK.KKX."),
        (TAVERN, "K-.-A.KX.."), (GUIDE, "R........."), (EMBER, "K-.R-....."), (MOUSE, "K-.--....."),
        (RIVER, "K-.--.AKKK"),
    ],
)  # fmt: skip
def test_the_journey_of_each_entry(entry, way):
    assert letters(story(), entry) == way


def test_cells_name_their_stage_and_carry_the_verdict():
    cells = Journeys(story()).cells(TAVERN)
    assert [cell.stage for cell in cells] == [record.name for record in story().stages]
    assert cells[7].verdict is not None
    assert cells[7].verdict.reason == "gated_field"
    assert cells[6].verdict is None


def test_several_journeys_at_once_are_the_same():
    together = Journeys(story())
    for entry in (SKARN, MOUSE, OATH):
        assert together.cells(entry) == Journeys(story()).cells(entry)
        assert together.fate(entry) == Journeys(story()).fate(entry)


ENTRIES = frozenset(range(4))


@st.composite
def random_stage(draw: st.DrawFn) -> StageRecord:
    """A stage that may contradict itself: what is told must not depend on a sound order of things."""
    some = st.sets(st.sampled_from(sorted(ENTRIES)))
    outcomes = st.sampled_from([ADDED, REMOVED, REFUSED])
    verdicts = draw(st.lists(st.tuples(st.sampled_from(sorted(ENTRIES)), outcomes), max_size=5))
    return stage(
        f"stage {draw(st.integers(0, 99))}",
        draw(st.sampled_from([Phase.MATCH, Phase.GATE])),
        tuple(sorted(draw(some))),
        tuple(sorted(draw(some))),
        *(verdict(entry, outcome, "") for entry, outcome in verdicts),
    )


def walked(stages: tuple[StageRecord, ...], entry: int) -> FateState:
    """How a run ends for one entry, followed stage by stage."""
    state = FateState.NEVER
    refused = False
    for record in stages:
        told = {one.outcome for one in record.verdicts if one.entry == entry}
        if entry in record.left:
            state = FateState.UNDECIDED
        elif entry in record.entered or REMOVED in told:
            state = FateState.REMOVED
        elif REFUSED in told:
            refused = True
    return FateState.REFUSED if state is FateState.NEVER and refused else state


@given(st.lists(random_stage(), max_size=5))
def test_all_fates_at_once_are_those_of_each_entry(stages):
    found = Journeys(trace(stages=tuple(stages)))
    assert {entry: found.fate(entry).state for entry in ENTRIES} == {
        entry: walked(tuple(stages), entry) for entry in ENTRIES
    }


def test_of_several_verdicts_the_one_that_holds_is_shown():
    run = trace(
        stages=(
            stage("cascade links", Phase.MATCH, (), (1,), verdict(1, REFUSED, "probability_lost"),
                  verdict(1, ADDED, "cascade"), verdict(2, REFUSED, "probability_zero"),
                  verdict(2, REFUSED, "cooling_down")),
        )
    )  # fmt: skip
    assert [Journeys(run).cells(entry)[0].verdict.reason for entry in (1, 2)] == ["cascade", "probability_zero"]


def test_a_candidate_that_a_stage_refused_by_its_own_rules_stays():
    """A bootstrap entry whose key was hit may lose the draw and still be in (rules: deeplore 3.2)."""
    run = trace(
        stages=(
            stage("bootstrap", Phase.MATCH, (), (1,), verdict(1, ADDED, "bootstrap")),
            stage("keywords", Phase.MATCH, (1,), (1,), verdict(1, REFUSED, "probability_lost")),
        )
    )
    assert letters(run, 1) == "AK"
    assert Journeys(run).cells(1)[1].verdict.reason == "probability_lost"
    assert Journeys(run).fate(1).state is FateState.UNDECIDED


def test_a_removed_entry_can_come_back():
    """The folder filter works before pins are added (rules: deeplore 5.9)."""
    run = trace(
        stages=(
            stage("keywords", Phase.MATCH, (), (1,), verdict(1, ADDED, "key_hit")),
            stage("folder filter", Phase.GATE, (1,), (), verdict(1, REMOVED, "outside_folders")),
            stage("pins and blocks", Phase.GATE, (), (1,), verdict(1, ADDED, "pinned")),
            stage("budget", Phase.BUDGET, (1,), (), verdict(1, REMOVED, "over_budget")),
        )
    )
    assert letters(run, 1) == "AXAX"
    assert (Journeys(run).fate(1).stage, Journeys(run).fate(1).reason) == ("budget", "over_budget")


def test_stages_after_an_early_end_did_not_look_at_anything():
    run = trace(stages=(skipped("budget", Phase.BUDGET, (1,), "stopped_early"),))
    assert letters(run, 1) == "."


def test_a_failed_stage_keeps_its_candidates():
    record = StageRecord("keywords", Phase.MATCH, StageStatus.FAILED, (1,), (1,), error="boom")
    assert letters(trace(stages=(record,)), 1) == "K"


@pytest.mark.parametrize(
    ("entry", "state", "at", "reason"),
    [
        (SKARN, FateState.INJECTED, "constants", "constant"),
        (CROWN, FateState.TRUNCATED, "budget", "truncated"),
        (RIVER, FateState.INJECTED, "pins and blocks", "pinned"),
        (OATH, FateState.REMOVED, "budget", "behind_cut"),
        (TAVERN, FateState.REMOVED, "contextual gating", "gated_field"),
        (GUIDE, FateState.REFUSED, "snapshot", "guide_hidden"),
        (EMBER, FateState.REFUSED, "keywords", "probability_lost"),
        (MOUSE, FateState.NEVER, "keywords", "no_key_hit"),
    ],
)
def test_fates(entry, state, at, reason):
    found = Journeys(story()).fate(entry)
    assert (found.state, found.stage, found.reason) == (state, at, reason)


def test_a_fate_has_the_details_of_its_reason():
    assert dict(Journeys(story()).fate(MOUSE).details) == {"messages": 4, "characters": 1812}
    assert Journeys(story()).fate(OATH).explain(story()).label == "Behind the cut"


def test_the_first_refusal_counts():
    run = trace(
        stages=(
            stage("keywords", Phase.MATCH, (), (), verdict(1, REFUSED, "warmup_short")),
            stage("recursion", Phase.MATCH, (), (), verdict(1, REFUSED, "probability_zero")),
        )
    )
    assert (Journeys(run).fate(1).stage, Journeys(run).fate(1).reason) == ("keywords", "warmup_short")


def test_never_a_candidate_because_keys_were_off():
    run = trace(stages=(skipped("keywords", Phase.MATCH, (), "scan_depth_zero"),))
    assert (Journeys(run).fate(1).state, Journeys(run).fate(1).reason) == (FateState.NEVER, "scan_depth_zero")


def test_never_a_candidate_in_a_run_that_was_skipped_or_has_no_keyword_stage():
    run = trace(outcome=RunOutcome.SKIPPED, skip_reason="empty_vault")
    assert (Journeys(run).fate(1).stage, Journeys(run).fate(1).reason) == ("", "empty_vault")
    assert Journeys(trace()).fate(1).reason == "never_candidate"


@pytest.mark.parametrize(("system", "reason"), [("facts", "fm_no_memory"), ("recap", "recap_no_recap")])
def test_a_note_takes_no_part_in_a_system_that_chooses_from_other_things(system, reason):
    run = trace(system=system, entries={}, stages=(skipped("nearest", Phase.MATCH, (), "fm_nothing_kept"),))
    assert (Journeys(run).fate(1).state, Journeys(run).fate(1).reason) == (FateState.NEVER, reason)


def test_a_note_takes_no_part_where_a_lorebook_file_is_in_its_place():
    of_book = {FOREIGN_IDS: replace(story().entries[SKARN], id=FOREIGN_IDS)}
    run = trace(system="world-info", entries=of_book)
    assert Journeys(replace(run, others=True)).fate(1).reason == "other_source"
    assert Journeys(run).fate(1).reason == "never_candidate"  # a lorebook beside one that is opened as it is
    assert Journeys(trace(system="world-info", entries={})).fate(1).reason == "never_candidate"


def test_a_memory_that_a_run_does_not_know_is_no_note_of_the_vault():
    run = trace(system="facts", entries={}, stages=(skipped("nearest", Phase.MATCH, (), "fm_nothing_kept"),))
    assert Journeys(run).fate(-1).reason == "fm_nothing_kept"
    assert Journeys(run).fate(FOREIGN_IDS + 3).reason == "fm_nothing_kept"


def test_a_memory_that_was_not_near_is_told_so():
    far = replace(stage("nearest", Phase.MATCH), default_reason="fm_far")
    assert Journeys(trace(system="facts", entries={}, stages=(far,))).fate(FOREIGN_IDS + 1).reason == "fm_far"
    memories = {1: story().entries[SKARN]}  # as the system itself counts them
    assert Journeys(trace(system="facts", entries=memories, stages=(far,))).fate(2).reason == "fm_far"


def test_a_candidate_that_vanished_without_a_word_was_removed():
    run = trace(stages=(stage("odd", Phase.GATE, (1,), ()),))
    assert (Journeys(run).fate(1).state, Journeys(run).fate(1).reason) == (FateState.REMOVED, "")
    assert Journeys(run).fate(1).explain(run).label == "No reason given"


def test_an_injection_without_a_budget_record_still_went_in():
    run = trace(injections=(examples.injection(1, "X", 12),))
    assert Journeys(run).fate(1).state is FateState.INJECTED
    assert Journeys(run).fate(1).explain(run).sentence == "It went in with 12 tokens."


def test_rows_are_injected_then_cut_then_removed_then_refused():
    assert Journeys(story()).rows == (SKARN, DAWNKEEP, CROWN, RIVER, OATH, TAVERN, GUIDE, EMBER)


def test_rows_of_each_kind_follow_the_stages_and_their_decisions():
    run = trace(
        stages=(
            stage("keywords", Phase.MATCH, (), (5, 4, 3, 2, 1),
                  *(verdict(n, ADDED, "key_hit") for n in (5, 4, 3, 2, 1)),
                  verdict(9, REFUSED, "probability_zero"), verdict(8, REFUSED, "warmup_short")),
            stage("BM25", Phase.MATCH, (5, 4, 3, 2, 1), (5, 4, 3, 2, 1), verdict(7, REFUSED, "cooling_down")),
            stage("folder filter", Phase.GATE, (5, 4, 3, 2, 1), (4, 3, 2, 1), verdict(5, REMOVED, "outside_folders")),
            stage("contextual gating", Phase.GATE, (4, 3, 2, 1), (3, 2, 1), verdict(4, REMOVED, "gated_field")),
            stage("budget", Phase.BUDGET, (3, 2, 1), (), verdict(2, REMOVED, "over_budget"),
                  verdict(3, REMOVED, "behind_cut"), verdict(1, REMOVED, "behind_cut")),
        )
    )  # fmt: skip
    assert Journeys(run).rows == (2, 3, 1, 5, 4, 9, 8, 7)


def test_entries_never_looked_at_have_no_row():
    assert MOUSE not in Journeys(story()).rows
    assert Journeys(examples.quiet_run()).rows == ()
    assert MOUSE not in Journeys(story()).fates


@pytest.mark.parametrize(
    ("entry", "cell", "sentence"),
    [
        (EMBER, 3, "The draw was 0.7312; a draw above the probability of 0.5 keeps the entry out."),
        (MOUSE, 3, "None of the keys of this entry is in the last 4 messages (1,812 characters)."),
        (SKARN, 5, "“Recursive scan” is off."),
    ],
)
def test_cells_in_words(entry, cell, sentence):
    assert explain_cell(story(), entry, Journeys(story()).cells(entry)[cell]).sentence == sentence


def test_a_cell_without_a_word_has_no_explanation():
    assert explain_cell(story(), SKARN, Journeys(story()).cells(SKARN)[4]) is None


def test_of_thousands_of_decided_entries_each_has_its_row():
    count = 2000
    ids = tuple(range(count))
    stages = [stage("constants", Phase.MATCH, (), ids, *(verdict(n, ADDED, "constant") for n in ids))]
    stages += [stage(f"gate {n}", Phase.GATE, ids, ids) for n in range(20)]
    cut = [verdict(n, REMOVED, "behind_cut", stopped_by="E0", tokens=1, needs=n) for n in ids]
    stages.append(stage("budget", Phase.BUDGET, ids, (), *cut))
    run = replace(trace(stages=tuple(stages)), entries={n: examples.ref(n, f"E{n}") for n in ids})
    assert Journeys(run).rows == ids


def test_kept_verdicts_do_not_hide_what_happened():
    run = trace(
        stages=(
            stage("gate", Phase.GATE, (1,), (), verdict(1, KEPT, "exempt"), verdict(1, Outcome.REMOVED, "blocked")),
        )
    )
    assert Journeys(run).cells(1)[0].verdict.reason == "blocked"


def test_pinned_and_blocked_at_once_is_blocked():
    """Blocks beat pins (rules: deeplore 5.1)."""
    run = trace(
        stages=(
            stage("pins and blocks", Phase.GATE, (), (), verdict(1, ADDED, "pinned"), verdict(1, REMOVED, "blocked")),
        )
    )
    assert letters(run, 1) == "X"
    assert (Journeys(run).fate(1).state, Journeys(run).fate(1).reason) == (FateState.REMOVED, "blocked")


@pytest.mark.parametrize(
    ("states", "expected"),
    [
        ((CellState.KEPT, CellState.ADDED, CellState.KEPT), CellState.ADDED),
        ((CellState.ADDED, CellState.REMOVED, CellState.NOT_REACHED), CellState.REMOVED),
        ((CellState.REMOVED, CellState.ADDED), CellState.ADDED),  # a pin after the folder filter
        ((CellState.ABSENT, CellState.REFUSED, CellState.ABSENT), CellState.REFUSED),
        ((), CellState.NOT_REACHED),
    ],
)
def test_what_a_phase_did_is_what_holds_in_the_end(states, expected):
    stages = [stage(str(place), Phase.GATE) for place in range(len(states))]
    cells = [JourneyCell(record.name, state) for record, state in zip(stages, states, strict=True)]
    assert phase_cell(Phase.GATE, cells, stages).state is expected


def test_that_an_entry_was_loaded_is_no_match_and_that_it_was_refused_there_is_told():
    loaded, keys = stage("snapshot", Phase.LOAD), stage("keywords", Phase.MATCH)
    absent = JourneyCell("keywords", CellState.ABSENT)
    kept = phase_cell(Phase.MATCH, [JourneyCell("snapshot", CellState.KEPT), absent], [loaded, keys])
    assert (kept.stage, kept.state) == ("keywords", CellState.ABSENT)
    refused = phase_cell(Phase.MATCH, [JourneyCell("snapshot", CellState.REFUSED), absent], [loaded, keys])
    assert (refused.stage, refused.state) == ("snapshot", CellState.REFUSED)


def test_of_one_that_was_shortened_it_is_said_what_brought_it_in_too():
    told = Journeys(story()).told(CROWN)
    assert told.sentence.startswith("The key “crown” was found in message #10")
    assert told.sentence.endswith("only the first 690 went in.")
    assert told.brief == "690 of 900 tokens fit; key “crown” in #10, with “king”"


def test_a_model_s_choice_counts_above_the_match_and_below_a_constant():
    picks = [verdict(entry, KEPT, "ai_pick", confidence="high", match="exact title") for entry in (1, 2)]
    run = trace(
        stages=(
            stage("constants", Phase.MATCH, (), (1,), verdict(1, ADDED, "constant")),
            stage("keywords", Phase.MATCH, (1,), (1, 2), verdict(2, ADDED, "key_hit", key="a", depth=4)),
            stage("AI selection", Phase.SELECT, (1, 2), (1, 2), *picks),
        )
    )
    assert {entry: way[1].reason for entry, way in Journeys(run).ways_in.items()} == {1: "constant", 2: "ai_pick"}


def test_what_comes_into_an_outlet_is_no_place_in_the_queue():
    found = [verdict(entry, Outcome.KEPT, "fits", tokens=10 * entry) for entry in (1, 2)]
    run = trace(
        stages=(stage("budget", Phase.BUDGET, (1, 2, 3), (1, 2), *found, verdict(3, REMOVED, "behind_cut", tokens=5)),),
        injections=(replace(examples.injection(1, "A", 10), tag="customWIOutlet_a"), examples.injection(2, "B", 20)),
    )
    assert run.queue[3] == (2, 25)
    assert 9 not in run.queue
