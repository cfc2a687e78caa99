import pytest

from lorestudio.domain.records import replace
from lorestudio.trace.held_run import WouldState, would_also
from lorestudio.trace.model import Outcome, Phase, Verdict
from tests.trace.examples import KEPT, REMOVED, SKARN, ref, skipped, stage, story, trace, verdict


def held(*stages, stopped_by="", not_asked=()):
    facts = {"held": {"entry": SKARN, "stopped_by": stopped_by, "put_back": [], "not_asked": list(not_asked)}}
    return trace(entries={SKARN: ref(SKARN, "Skarn", 10, 300)}, stages=stages, facts=facts)


def gate(name, reason, **details):
    return stage(name, Phase.GATE, (SKARN,), (), Verdict(SKARN, Outcome.REMOVED, reason, details))


def test_a_real_run_says_nothing_about_what_would_have_been():
    with pytest.raises(ValueError, match="held no entry in"):
        would_also(story())


def test_only_stages_behind_the_stop_that_ran_are_told():
    would = would_also(
        held(
            gate("pre-gating", "gated_field", field="era", label="Era", entry_value="old", context_value="new"),
            skipped("pre-folder filter", Phase.GATE, (SKARN,), "no_folder_filter"),
            gate("pins and blocks", "blocked"),
            stage("budget", Phase.BUDGET, (SKARN,), (SKARN,), verdict(SKARN, KEPT, "fits", tokens=1, total=1)),
            stage("bookkeeping", Phase.INJECT, (SKARN,), (SKARN,)),
            stopped_by="pre-gating",
        )
    )

    assert [(cell.stage, cell.state) for cell in would.cells] == [
        ("pins and blocks", WouldState.STOP), ("budget", WouldState.GO_ON),
    ]  # fmt: skip
    assert would.sentences == ("would also be left out: it is blocked in this chat",)
    assert would.at("pre-gating") is None


@pytest.mark.parametrize(
    ("reason", "details", "sentence"),
    [
        ("behind_cut", {"needs": 158}, "would also be cut by the budget: needs 158 more tokens"),
        ("over_budget", {"needs": 1}, "would also be cut by the budget: needs 1 more token"),
        ("over_budget", {}, "would also be cut by the budget"),
        ("over_entry_cap", {"cap": 8}, "would also be cut by the entry limit: 8 entries are in before it"),
        ("missing_requirement", {"missing": ["A", "B"]}, "would also be dropped, because “A” and “B” are not in"),
        ("excluded_by", {"titles": ["A"]}, "would also be dropped, because it excludes “A”"),
        ("outside_folders", {"folder": "x"}, "would also be left out by the folder filter: it is in “x”"),
        ("reinjection_pause", {"left": 2}, "would also pause, because it went in recently: 2 more generations"),
        ("something_new", {}, "would also be stopped here (something_new)"),
    ],
)
def test_each_stop_has_its_words(reason, details, sentence):
    assert would_also(held(gate("gate", reason, **details), stopped_by="")).sentences == (sentence,)


def test_the_same_obstacle_twice_is_told_once_and_a_model_is_left_open():
    again = {"field": "era", "label": "Era", "entry_value": "old", "context_value": "new"}
    would = would_also(
        held(
            gate("pre-gating", "gated_field", **again),
            stage("manifest", Phase.SELECT),
            stage("AI selection", Phase.SELECT),
            gate("contextual gating", "gated_field", **again),
            not_asked=("manifest", "AI selection"),
        )
    )

    assert [cell.state for cell in would.cells] == [WouldState.STOP, WouldState.NOT_ASKED, WouldState.STOP]
    assert len(would.sentences) == 2


def test_nothing_in_its_way_is_said_too():
    would = would_also(held(stage("budget", Phase.BUDGET, (SKARN,), (SKARN,))))
    assert would.sentences == ("would pass all later stages",)
    assert would_also(replace(held(), stages=())).sentences == ()
    assert REMOVED not in {cell.state for cell in would.cells}
