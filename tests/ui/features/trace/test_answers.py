"""The table of answers: its rows and cells, and what a change leaves in them."""

from __future__ import annotations

import pytest

from lorestudio.domain.chat import Generation
from lorestudio.domain.entry import VaultIndex
from lorestudio.domain.records import replace
from lorestudio.studio.verify.agreement import Agreement, ComparedEntry, ComparedReply, WentIn
from lorestudio.systems.ideas import Change
from lorestudio.trace.diff import compare
from lorestudio.trace.held_run import WouldAlso, WouldCell, WouldState
from lorestudio.trace.journey import PHASES, CellState, JourneyCell
from lorestudio.trace.model import Outcome, Phase, StageRecord, StageStatus, Verdict
from lorestudio.ui.features.trace.answers import TOKENS, WHY, AnswerTable, cell_sentence, recorded_marks, row_changes
from lorestudio.ui.features.trace.flow import steps
from lorestudio.ui.shell.qt import ACCESSIBLE_TEXT, DISPLAY, HELD, HORIZONTAL, ITEM, MARK, TOOLTIP, VERTICAL
from lorestudio.ui.state.expected import ExpectedMark
from lorestudio.ui.widgets.paint import cell_mark
from tests.ui.conftest import check
from tests.ui.worlds import BELL, CROWN, DAWNKEEP, ENTRIES, LEFT_OUT, RULES, SKARN, make_trace

INDEX = VaultIndex(ENTRIES, LEFT_OUT, vaults=("vault",))


def words(model: AnswerTable, row: int) -> list[str]:
    return [str(model.index(row, column).data(DISPLAY)) for column in range(model.columnCount())]


def heads(model: AnswerTable) -> list[str]:
    return [str(model.headerData(column, HORIZONTAL)) for column in range(model.columnCount())]


def test_a_column_for_each_phase_that_unfolds_into_its_stages(model: AnswerTable) -> None:
    assert heads(model) == ["Why", "Tokens", "Match", "Gate", "Budget", "Inject"]
    model.unfold(frozenset({Phase.MATCH}))
    assert heads(model) == ["Why", "Tokens", "snapshot", "constants", "keywords", "Gate", "Budget", "Inject"]
    model.unfold(frozenset(PHASES))
    assert heads(model)[5:] == ["folder filter", "budget", "placement"]
    column = model.stage_column("folder filter")
    assert "quiet: it decided nothing" in model.headerData(column, HORIZONTAL, TOOLTIP)


def test_a_row_says_why_how_many_tokens_and_what_each_phase_did(model: AnswerTable) -> None:
    titles = [model.headerData(row, VERTICAL) for row in range(model.rowCount())]
    assert titles == ["Rules", "Skarn", "Dawnkeep", "Crown", "Bell"]
    assert words(model, 0) == ["Constant, always in", "10", "candidate", "not reached", "kept", "injected"]
    assert words(model, 2)[TOKENS:] == ["30", "candidate", "not reached", "trimmed", "injected"]
    assert words(model, 3)[TOKENS:] == ["158", "candidate", "not reached", "cut", "not reached"]
    assert model.index(2, TOKENS).data(TOOLTIP) == "30 of 40 tokens"
    assert [model.headerData(row, VERTICAL, MARK).word for row in (0, 2, 3, 4)] == [
        "injected", "trimmed", "cut", "refused",
    ]  # fmt: skip


def test_cells_speak(model: AnswerTable) -> None:
    cell = model.index(3, model.stage_column("budget"))
    assert cell.data(ACCESSIBLE_TEXT) == "Crown, budget: cut"
    assert cell.data(TOOLTIP).startswith("budget: “Crown” needs 158 tokens")
    assert cell.data(MARK).icon == "scissors"
    assert model.headerData(3, VERTICAL, ACCESSIBLE_TEXT) == "Crown: cut"
    assert model.index(3, WHY).data(ACCESSIBLE_TEXT).startswith("Crown: cut. Needs 158 tokens")
    assert "folded" in model.headerData(2, HORIZONTAL, ACCESSIBLE_TEXT)


def test_a_cell_of_a_phase_is_about_the_stage_that_decided_there(model: AnswerTable) -> None:
    match = model.stage_column("keywords")
    assert model.phase(match) is Phase.MATCH
    assert model.stage_at(model.place_of(RULES), match) == "constants"
    assert model.stage_at(model.place_of(SKARN), match) == "keywords"
    assert model.stage_at(model.place_of(SKARN), WHY) is None


def test_every_mark_has_a_word_and_marks_with_one_fill_differ_in_glyph_or_word(model: AnswerTable) -> None:
    model.unfold(frozenset(PHASES))
    columns = range(2, model.columnCount())
    seen = {model.index(row, column).data(MARK) for row in range(model.rowCount()) for column in columns}
    assert all(mark.word for mark in seen)
    assert len({(mark.icon, mark.word) for mark in seen}) == len(seen)


def test_an_entry_that_never_came_into_question_gets_a_guest_row(qapp: object) -> None:
    trace = make_trace()
    model = AnswerTable()
    check(model)
    model.set_trace(replace(trace, stages=trace.stages[:2], injections=()), INDEX)
    assert model.place_of(SKARN) == -1
    resets: list[None] = []
    model.modelReset.connect(lambda: resets.append(None))  # a view lays all rows out anew then
    model.set_guest(SKARN)
    assert model.headerData(model.place_of(SKARN), VERTICAL) == "Skarn"
    assert model.index(model.place_of(SKARN), TOKENS).data(DISPLAY) == "60"
    model.set_guest(BELL)
    assert (model.place_of(SKARN), model.place_of(BELL), model.rowCount()) == (-1, 1, 2)
    model.set_guest(RULES)
    assert model.place_of(BELL) == -1
    model.set_guest(None)
    assert (model.rowCount(), resets) == (1, [])


def test_a_guest_counts_as_many_tokens_as_its_run_says_and_else_as_the_vault(qapp: object) -> None:
    trace = make_trace()
    model = AnswerTable()
    known = {**trace.entries, BELL: replace(trace.entries[BELL], tokens=777)}
    model.set_trace(replace(trace, entries=known), INDEX)
    assert model.tokens(BELL) == (777, None)
    del known[BELL]
    model.set_trace(replace(trace, entries=known), INDEX)
    assert model.tokens(BELL) == (INDEX.entries[BELL].tokens, None)


@pytest.mark.parametrize(
    ("state", "status", "words"),
    [
        (CellState.NOT_REACHED, StageStatus.RAN, "This stage did not look at it: it was no candidate here."),
        (CellState.NOT_REACHED, StageStatus.SKIPPED, "This stage was skipped."),
        (CellState.ABSENT, StageStatus.RAN, "This stage could have brought it in and found no reason to."),
        (CellState.KEPT, StageStatus.RAN, "It passed; this stage had nothing to say about it."),
    ],
)
def test_a_cell_without_a_verdict_says_what_that_means(state: CellState, status: StageStatus, words: str) -> None:
    trace = make_trace()
    record = replace(trace.stages[-1], status=status)
    assert words == cell_sentence(trace, BELL, record, JourneyCell(record.name, state))


def test_rows_can_be_filtered_by_title_result_and_reason(model: AnswerTable, monkeypatch: pytest.MonkeyPatch) -> None:
    model.set_filter("cut")
    assert model.rowCount() == 1
    model.set_filter("skar")
    assert model.headerData(0, VERTICAL) == "Skarn"
    model.set_filter("constant")
    assert model.headerData(0, VERTICAL) == "Rules"
    assert model.candidates == 5
    monkeypatch.setattr(model, "reason", {SKARN: "Cafe\u0301"}.get)
    model.set_filter("Caf\u00e9")
    assert model.headerData(0, VERTICAL) == "Skarn"


def test_a_failed_stage_marks_its_phase_and_stays_visible(qapp: object) -> None:
    trace = make_trace()
    failed = StageRecord("recursion", Phase.MATCH, StageStatus.FAILED, error="it broke")
    model = AnswerTable()
    model.set_trace(replace(trace, stages=(*trace.stages[:3], failed)), INDEX)
    assert model.headerData(model.stage_column("recursion"), HORIZONTAL, MARK).word == "failed"
    assert "it broke" in model.headerData(model.stage_column("recursion"), HORIZONTAL, TOOLTIP)
    assert [step.error for step in steps(replace(trace, stages=(failed,)))] == ["it broke"]


def test_rows_carry_what_a_change_did(qapp: object) -> None:
    """Skarn leaves, Crown comes in before Dawnkeep, which is the second then, and Rules is as before."""
    before = make_trace()
    rules, skarn, dawnkeep = before.injections
    crown = replace(skarn, entry=CROWN, title="Crown")
    after = replace(before, injections=(rules, dawnkeep, crown))
    changes = row_changes(compare(before, after))
    model = AnswerTable()
    check(model)
    model.set_trace(after, INDEX, changes=changes)
    said = {model.title(entry): change.words for entry in range(5) if (change := model.change(entry)) is not None}
    assert said == {"Skarn": "− left", "Crown": "+ came in"}
    assert model.headerData(model.place_of(CROWN), VERTICAL, ITEM).tone == "good"
    assert model.headerData(model.place_of(SKARN), VERTICAL, ACCESSIBLE_TEXT).endswith("− left")
    turned = row_changes(compare(before, replace(before, injections=(skarn, rules, replace(dawnkeep, tokens=41)))))
    assert {key[1]: change.words for key, change in turned.items()} in (
        {"Rules.md": "now 2nd", "places/Dawnkeep.md": "+11 tokens"},
        {"Skarn.md": "now 1st", "places/Dawnkeep.md": "+11 tokens"},
    )
    other = tuple(replace(block, text=block.text.upper()) for block in before.prompt)
    injections = replace(rules, content_hash="h2"), skarn, dawnkeep
    rewritten = compare(before, replace(before, injections=injections, prompt=other))
    assert {key[1]: change.words for key, change in row_changes(rewritten).items()} == {"Rules.md": "~ other text"}


def test_an_entry_that_left_altogether_still_has_a_row(qapp: object) -> None:
    before = make_trace()
    stages = tuple(
        replace(record, left=tuple(each for each in record.left if each != SKARN),
                entered=tuple(each for each in record.entered if each != SKARN),
                verdicts=tuple(each for each in record.verdicts if each.entry != SKARN))
        for record in before.stages
    )  # fmt: skip
    after = replace(before, stages=stages, injections=tuple(each for each in before.injections if each.entry != SKARN))
    model = AnswerTable()
    model.set_trace(after, INDEX, changes=row_changes(compare(before, after)))
    assert model.headerData(model.place_of(SKARN), VERTICAL, ACCESSIBLE_TEXT) == "Skarn: not a candidate, − left"


@pytest.mark.parametrize(
    ("reason", "phase", "icon", "fill"),
    [
        ("gated_field", Phase.GATE, "cross", "orange"),
        ("over_budget", Phase.BUDGET, "scissors", "purple"),
        ("reinjection_pause", Phase.GATE, "pause", "grey"),
        ("ai_not_selected", Phase.SELECT, "cross", "grey"),
    ],
)
def test_removals_look_different_by_kind(reason: str, phase: Phase, icon: str, fill: str) -> None:
    mark = cell_mark(JourneyCell("stage", CellState.REMOVED, Verdict(1, Outcome.REMOVED, reason)), phase)
    assert (mark.icon, mark.fill) == (icon, fill)


def test_what_the_systems_words_count_with_the_gates_is_not_marked_as_cut(qapp: object) -> None:
    trace = make_trace()
    model = AnswerTable()
    model.unfold(frozenset(PHASES))
    counted = {"": "cut", "gate": "gated out", "not chosen": "not selected"}
    for words, word in ((replace(trace.words, parts={"over_budget": part}), word) for part, word in counted.items()):
        model.set_trace(replace(trace, words=words), INDEX)
        row = model.place_of(CROWN)
        marks = [model.index(row, column).data(MARK) for column in (WHY, model.stage_column("budget"))]
        assert [mark.word for mark in marks if mark is not None] == [word] * 2


# ---- as a person sees it --------------------------------------------------------------------------------------------


def all_told(model: AnswerTable, row: int, column: int) -> tuple[str, str, str]:
    """What a cell shows, says to a screen reader, and says under the pointer."""
    index = model.index(row, column)
    return index.data(DISPLAY), index.data(ACCESSIBLE_TEXT), index.data(TOOLTIP)


def test_what_would_have_been_stands_in_the_cells_that_were_not_reached(model: AnswerTable) -> None:
    cut = Verdict(BELL, Outcome.REMOVED, "over_budget")
    stop = WouldCell("budget", Phase.BUDGET, WouldState.STOP, cut, "would also be cut")
    model.set_would(BELL, WouldAlso((WouldCell("placement", Phase.INJECT, WouldState.GO_ON), stop)))
    row = model.place_of(BELL)
    assert words(model, row)[TOKENS + 1 :] == ["refused", "not reached", "would be cut", "would pass"]
    assert all_told(model, row, model.stage_column("budget"))[1:] == (
        "Bell, budget: would be cut", "budget: would also be cut",
    )  # fmt: skip
    assert all_told(model, row, model.stage_column("placement"))[2] == "placement: would let it pass"
    assert model.index(row, WHY).data(TOOLTIP).endswith("\nWould also be cut.")
    model.unfold(frozenset({Phase.BUDGET}))
    assert all_told(model, row, model.stage_column("budget"))[0] == "would be cut"
    assert all_told(model, model.place_of(CROWN), model.stage_column("budget"))[0] == "cut"
    assert model.would(CROWN, "budget") is None


def test_a_run_under_way_leaves_its_last_stage_open(model: AnswerTable) -> None:
    trace = make_trace()
    model.set_trace(trace, INDEX, running="placement")
    column = model.stage_column("placement")
    assert all_told(model, model.place_of(SKARN), column)[0] == "being decided"
    assert all_told(model, model.place_of(SKARN), column)[2] == "placement: running; it has not decided yet."
    assert all_told(model, model.place_of(CROWN), column)[0] == "not reached"
    assert words(model, 0)[WHY] == ""  # why is not known before the end
    assert model.headerData(column, HORIZONTAL, MARK).word == "being decided"
    assert model.headerData(model.stage_column("budget"), HORIZONTAL, MARK) is None
    model.unfold(frozenset(PHASES))
    column = model.stage_column("placement")
    assert model.headerData(column, HORIZONTAL, MARK).word == "being decided"
    assert model.headerData(column, HORIZONTAL, TOOLTIP) == "placement\nThis stage is running."
    assert model.headerData(model.stage_column("budget"), HORIZONTAL, MARK) is None
    assert model.headerData(model.stage_column("snapshot"), HORIZONTAL, TOOLTIP).startswith("snapshot (quiet")
    assert not model.headerData(model.stage_column("budget"), HORIZONTAL, TOOLTIP).startswith("budget (quiet")


def test_what_was_recorded_has_the_last_column(model: AnswerTable) -> None:
    known = ComparedEntry(WentIn.THERE, "Skarn", SKARN)
    reply = ComparedReply(Generation(5, 0), Agreement.AGREES, (known, ComparedEntry(WentIn.THERE, "Gone")))
    there = recorded_marks(reply)
    assert list(there) == [SKARN]
    model.set_there(there)
    assert heads(model)[-2:] == ["Inject", "Recorded"]
    last = model.columnCount() - 1
    assert [model.is_there(column) for column in (last - 1, last)] == [False, True]
    shown, spoken, tip = all_told(model, model.place_of(SKARN), last)
    assert (shown, spoken) == ("only recorded", f"Skarn: {tip}")
    assert tip.startswith("Only recorded: ")
    assert all_told(model, model.place_of(RULES), last)[1:] == ("Rules: Not recorded.", "Not recorded.")
    assert model.index(model.place_of(SKARN), last).data(MARK).fill == "orange"
    assert model.phase(last) is model.stage(last) is model.stage_at(0, last) is None
    model.set_there(None)
    assert heads(model)[-1] == "Inject"


def test_a_fix_is_offered_once_it_was_tried(model: AnswerTable) -> None:
    changed: list[int] = []
    model.dataChanged.connect(lambda first, _last: changed.append(first.row()))
    assert (model.fix(CROWN), model.fix(None)) == ("", "")
    model.set_fix(CROWN, Change("pin", "Pin “Crown” in this chat", brief="Pin in this chat"))
    assert (model.fix(CROWN), model.fix(BELL)) == ("Pin in this chat", "")
    assert (
        model.index(model.place_of(CROWN), WHY)
        .data(TOOLTIP)
        .endswith("\nTried, and it goes in (Enter): Pin “Crown” in this chat")
    )
    model.set_fix(99, Change("pin", "Pin", brief="Pin"))  # no row: nothing to touch
    assert changed == [model.place_of(CROWN)]


def test_what_is_told_of_a_row_again_draws_nothing_anew(model: AnswerTable) -> None:
    change, would = Change("pin", "Pin “Crown” in this chat", brief="Pin in this chat"), WouldAlso(())
    model.set_fix(CROWN, change)
    assert model.set_would(BELL, would)
    changed: list[int] = []
    model.dataChanged.connect(lambda first, _last: changed.append(first.row()))
    model.set_fix(CROWN, change)
    assert not model.set_would(BELL, would)
    assert changed == []
    assert model.set_would(BELL, WouldAlso(()))
    assert changed == [model.place_of(BELL)]


def test_what_is_expected_of_an_entry_is_said_with_its_result(model: AnswerTable) -> None:
    broken = ExpectedMark(False, "Not met: Crown goes in")
    model.held = lambda entry: broken if entry == CROWN else None
    row = model.place_of(CROWN)
    assert model.headerData(row, VERTICAL, HELD) == broken
    assert model.headerData(row, VERTICAL, TOOLTIP) == "Crown\ncut, Not met: Crown goes in"
    assert model.headerData(model.place_of(BELL), VERTICAL, HELD) is None


def test_entries_that_a_run_does_not_name_have_titles_and_tokens_of_the_vault(model: AnswerTable) -> None:
    bare = replace(make_trace(), entries={}, injections=())
    model.set_trace(bare, INDEX)
    assert [model.title(entry) for entry in (RULES, 4, 5)] == ["Rules", "Bell", "entry 5"]
    assert [model.tokens(entry)[0] for entry in (DAWNKEEP, 4, 5)] == [40, 5, 0]
    model.set_trace(bare)
    assert (model.title(RULES), model.tokens(RULES)) == ("entry 3", (0, None))


def test_only_some_rows_and_none_at_all(model: AnswerTable) -> None:
    arranged: list[int] = []
    model.modelReset.connect(lambda: arranged.append(model.rowCount()))
    model.set_only(None)  # as they are: thousands of rows are not arranged for nothing
    model.set_only(frozenset({CROWN, BELL}))
    model.set_only(frozenset({CROWN, BELL}))
    assert arranged == [2]
    assert [model.entry(row) for row in range(-1, 3)] == [None, CROWN, BELL, None]
    assert (model.rowCount(), model.candidates) == (2, 5)
    model.set_filter("cut")
    assert [model.entry(row) for row in range(model.rowCount())] == [CROWN]
    model.set_filter("")
    model.set_only(None)
    assert model.rowCount() == 5
    model.set_trace(None)
    assert (model.rowCount(), model.columnCount(), model.headerData(0, HORIZONTAL)) == (0, 0, None)
    assert (model.title(CROWN), model.tokens(CROWN), model.reason(CROWN)) == ("entry 2", (0, None), "")


# ---- the view alone -------------------------------------------------------------------------------------------------
