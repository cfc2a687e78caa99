"""The table of answers: its rows and cells, what a change leaves in them, and how a person sees and uses it."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest

from lorestudio.domain.entry import VaultIndex
from lorestudio.domain.records import replace
from lorestudio.systems.changes import Change
from lorestudio.trace.diff import compare
from lorestudio.trace.journey import PHASES, CellState, JourneyCell
from lorestudio.trace.model import Outcome, Phase, StageRecord, StageStatus, Verdict
from lorestudio.ui.features.trace.answers import TOKENS, WHY, AnswerTable, cell_sentence, ordinal, row_changes
from lorestudio.ui.features.trace.flow import steps
from lorestudio.ui.shell.main_window import MainWindow
from lorestudio.ui.shell.qt import ACCESSIBLE_TEXT, DISPLAY, HORIZONTAL, ITEM, MARK, TOOLTIP, VERTICAL
from lorestudio.ui.widgets.marks import cell_mark
from tests.ui.conftest import check
from tests.ui.worlds import BELL, CROWN, DAWNKEEP, ENTRIES, LEFT_OUT, RULES, SKARN, make_trace

INDEX = VaultIndex(ENTRIES, LEFT_OUT, vaults=("vault",))


def words(model: AnswerTable, row: int) -> list[str]:
    return [str(model.index(row, column).data(DISPLAY)) for column in range(model.columnCount())]


def heads(model: AnswerTable) -> list[str]:
    return [str(model.headerData(column, HORIZONTAL)) for column in range(model.columnCount())]


@pytest.fixture
def model(qapp: object) -> AnswerTable:
    made = AnswerTable()
    check(made)
    made.set_trace(make_trace(), INDEX)
    return made


def test_a_column_for_each_phase_that_unfolds_into_its_stages(model: AnswerTable) -> None:
    assert heads(model) == ["Why", "Tokens", "Match", "Gate", "Budget", "Inject"]
    model.unfold(frozenset({Phase.MATCH}))
    assert heads(model) == ["Why", "Tokens", "snapshot", "constants", "keywords", "Gate", "Budget", "Inject"]
    model.unfold(frozenset(PHASES))
    assert heads(model)[5:] == ["folder filter", "budget", "placement"]
    column = model.column_of("folder filter")
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
    cell = model.index(3, model.column_of("budget"))
    assert cell.data(ACCESSIBLE_TEXT) == "Crown, budget: cut"
    assert cell.data(TOOLTIP).startswith("budget: “Crown” needs 158 tokens")
    assert cell.data(MARK).icon == "scissors"
    assert model.headerData(3, VERTICAL, ACCESSIBLE_TEXT) == "Crown: cut"
    assert model.index(3, WHY).data(ACCESSIBLE_TEXT).startswith("Crown: cut. Needs 158 tokens")
    assert "folded" in model.headerData(2, HORIZONTAL, ACCESSIBLE_TEXT)


def test_a_cell_of_a_phase_is_about_the_stage_that_decided_there(model: AnswerTable) -> None:
    match = model.column_of("keywords")
    assert model.phase(match) is Phase.MATCH
    assert model.stage_at(model.row_of(RULES), match) == "constants"
    assert model.stage_at(model.row_of(SKARN), match) == "keywords"
    assert model.stage_at(model.row_of(SKARN), WHY) is None


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
    assert model.row_of(SKARN) == -1
    model.set_guest(SKARN)
    assert model.headerData(model.row_of(SKARN), VERTICAL) == "Skarn"
    assert model.index(model.row_of(SKARN), TOKENS).data(DISPLAY) == "60"
    model.set_guest(RULES)
    assert model.row_of(SKARN) == -1
    model.set_guest(None)
    assert model.rowCount() == 1


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
        (CellState.NOT_REACHED, StageStatus.RAN, "did not look at it"),
        (CellState.NOT_REACHED, StageStatus.SKIPPED, "was skipped"),
        (CellState.ABSENT, StageStatus.RAN, "found no reason to"),
        (CellState.KEPT, StageStatus.RAN, "had nothing to say"),
    ],
)
def test_a_cell_without_a_verdict_says_what_that_means(state: CellState, status: StageStatus, words: str) -> None:
    trace = make_trace()
    record = replace(trace.stages[-1], status=status)
    assert words in cell_sentence(trace, BELL, record, JourneyCell(record.name, state))


def test_rows_can_be_filtered_by_title_result_and_reason(model: AnswerTable) -> None:
    model.set_filter("cut")
    assert model.rowCount() == 1
    model.set_filter("skar")
    assert model.headerData(0, VERTICAL) == "Skarn"
    model.set_filter("constant")
    assert model.headerData(0, VERTICAL) == "Rules"
    assert model.candidates == 5


def test_a_failed_stage_marks_its_phase_and_stays_visible(qapp: object) -> None:
    trace = make_trace()
    failed = StageRecord("recursion", Phase.MATCH, StageStatus.FAILED, error="it broke")
    model = AnswerTable()
    model.set_trace(replace(trace, stages=(*trace.stages[:3], failed)), INDEX)
    assert model.headerData(model.column_of("recursion"), HORIZONTAL, MARK).word == "failed"
    assert "it broke" in model.headerData(model.column_of("recursion"), HORIZONTAL, TOOLTIP)
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
    assert model.headerData(model.row_of(CROWN), VERTICAL, ITEM).tone == "good"
    assert model.headerData(model.row_of(SKARN), VERTICAL, ACCESSIBLE_TEXT).endswith("− left")
    turned = row_changes(compare(before, replace(before, injections=(skarn, rules, replace(dawnkeep, tokens=41)))))
    assert {key[1]: change.words for key, change in turned.items()} in (
        {"Rules.md": "now 2nd", "places/Dawnkeep.md": "+11 tokens"},
        {"Skarn.md": "now 1st", "places/Dawnkeep.md": "+11 tokens"},
    )


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
    assert model.headerData(model.row_of(SKARN), VERTICAL, ACCESSIBLE_TEXT) == "Skarn: not a candidate, − left"


def test_places_in_words() -> None:
    assert [ordinal(each) for each in (1, 2, 3, 4, 11, 12, 21, 102)] == [
        "1st", "2nd", "3rd", "4th", "11th", "12th", "21st", "102nd",
    ]  # fmt: skip


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


# ---- as a person sees it --------------------------------------------------------------------------------------------


@pytest.mark.dressed
@pytest.mark.parametrize("height", [120, 160, 600])
def test_a_low_table_shows_rows_under_its_phases(window: MainWindow, height: int) -> None:
    view = window.trace.answers
    view.resize(600, height)
    assert view.phases.height() == view.phases.sizeHint().height()  # the names of the phases are whole
    assert view.viewport().height() >= view.rowHeight(0) - view.horizontalScrollBar().height()


def test_everything_grows_with_the_font(window: MainWindow) -> None:
    view = window.trace.answers
    view.resize(600, 600)
    before = view.rowHeight(0), view.phases.height(), view.columnWidth(2)
    font = view.font()
    font.setPointSizeF(font.pointSizeF() * 1.5)
    for part in (view, view.phases, view.verticalHeader()):
        part.setFont(font)
    after = view.rowHeight(0), view.phases.height(), view.columnWidth(2)
    assert all(now > was for now, was in zip(after, before, strict=True))
    assert view.phases.height() == view.phases.sizeHint().height()


def test_a_phase_unfolds_by_mouse_and_by_keyboard(window: MainWindow) -> None:
    view, model = window.trace.answers, window.trace.model
    place = QPoint(view.phases.sectionViewportPosition(2) + 5, 5)
    QTest.mouseClick(view.phases.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert model.unfolded == {Phase.MATCH}
    view.setCurrentIndex(model.index(model.row_of(BELL), model.column_of("keywords")))
    assert window.selection.stage == "keywords"
    QTest.keyClick(view, Qt.Key.Key_Space)
    assert model.unfolded == frozenset()
    assert model.phase(view.currentIndex().column()) is Phase.MATCH  # the chosen stage's phase


def test_the_button_of_a_row_asks_for_its_change(window: MainWindow) -> None:
    view, model, wanted = window.trace.answers, window.trace.model, []
    view.fix_wanted.disconnect()
    view.fix_wanted.connect(wanted.append)
    row = model.row_of(CROWN)
    assert view.button(row).isEmpty()
    model.set_fix(CROWN, Change("pin", "Pin “Crown” in this chat", brief="Pin in this chat"))
    assert model.index(row, WHY).data(ACCESSIBLE_TEXT).endswith("Enter: Pin in this chat")
    QTest.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=view.button(row).center())
    view.setCurrentIndex(model.index(row, WHY))
    QTest.keyClick(view, Qt.Key.Key_Return)
    view.setCurrentIndex(model.index(model.row_of(DAWNKEEP), WHY))
    QTest.keyClick(view, Qt.Key.Key_Return)
    assert wanted == [CROWN, CROWN]
