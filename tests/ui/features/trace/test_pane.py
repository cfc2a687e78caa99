"""The trace's pane around its views: what stands above them, which rows, which tab, what is empty, what is copied."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QFont, QFontInfo, QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QPlainTextEdit, QPushButton
from pytestqt.qtbot import QtBot

from lorestudio.domain.chat import Generation
from lorestudio.domain.records import replace
from lorestudio.domain.state import EngineState, EntryRule
from lorestudio.settings.deeplore import DeepLoreSettings
from lorestudio.studio.project.answering import AnswerKind, Source
from lorestudio.studio.replay.simulator import Simulator
from lorestudio.trace.journey import PHASES
from lorestudio.trace.model import Phase, StageRecord, StageStatus, Trace
from lorestudio.trace.summary import SummaryPiece
from lorestudio.ui.features.trace import pane as trace_pane
from lorestudio.ui.features.trace.ai_page import AiPage
from lorestudio.ui.features.trace.pane import AI, ANSWERS, FUNNEL, LOG, PROMPT, TracePane
from lorestudio.ui.features.trace.prompt_page import PromptPage
from lorestudio.ui.features.trace.summary import LiveBar, Said, SummaryLine
from lorestudio.ui.features.why_not.pane import ScorePage, SimilarityPage
from lorestudio.ui.shell.main_window import MainWindow
from lorestudio.ui.shell.theme import Theme
from lorestudio.ui.state.choices import RunChoice
from lorestudio.ui.state.drafts import Draft
from lorestudio.ui.state.replay_worker import LiveRun
from tests.ui.conftest import drain, menu_of_row, settle
from tests.ui.drawing import words_drawn
from tests.ui.features.tuning.test_scores import project_of
from tests.ui.worlds import BELL, CROWN, DAWNKEEP, SKARN, FakeSimulator, make_project

FAILED = StageRecord("recursion", Phase.MATCH, StageStatus.FAILED, error="it broke")


class Runs(FakeSimulator):
    """The first reply took nothing, with a warning; in the reply to come a stage has failed."""

    def state_before(self, _generation: Generation, **_counted: bool) -> EngineState:
        return EngineState()

    def _make(self, generation: Generation) -> Trace:
        made = replace(super()._make(generation), warnings=() if generation.message == 5 else ("It is late.",))
        return replace(made, stages=(*made.stages, FAILED)) if generation.message == 7 else made


@pytest.fixture
def window(share_window: Callable[..., MainWindow]) -> MainWindow:
    def prepare(window: MainWindow) -> None:
        window.chat.choose(5)
        settle(window)

    return share_window(lambda folder: make_project(folder / "vault"), prepare=prepare, make_simulator=Runs)


@pytest.fixture
def pane(window: MainWindow) -> TracePane:
    return window.trace


def note(window: MainWindow) -> str:
    return window.docks["trace"].bar._note.text()


def said(pane: TracePane) -> list[tuple[str, str]]:
    return [(each.text, each.tone) for each in pane.summary.notes]


def test_what_filters_the_answers_has_all_its_height_beside_the_tabs(pane: TracePane) -> None:
    """The line of tabs gives what stands in its corner no more than its own height: edges were cut."""
    for part in (pane.filter, pane.all_stages):
        assert part.isVisible()
        assert part.height() >= part.sizeHint().height()


def test_the_head_counts_the_rows_that_are_shown(window: MainWindow, pane: TracePane, qtbot: QtBot) -> None:
    assert note(window) == "Reply #5 · 5 entries · without 1 broken note"
    qtbot.keyClicks(pane.filter, "cut")
    assert note(window) == "Reply #5 · 1 of 5 entries · without 1 broken note"
    qtbot.keyClicks(pane.filter, "zzz")
    assert pane.nothing.isVisibleTo(pane)
    assert "No row fits the filter" in pane.nothing.title.text()
    pane.show_only((CROWN, BELL), "two")
    assert (pane.filter.text(), pane.only.label.text()) == ("", "Only: two")
    assert note(window).startswith("Reply #5 · 2 of 5 entries")
    assert pane.answers.hasFocus()
    qtbot.keyClick(pane.answers, Qt.Key.Key_Escape)
    assert note(window).startswith("Reply #5 · 5 entries")
    window.chat.choose(4)  # a question: its reply is shown
    assert note(window).startswith("Reply #5, the one after message #4 · ")
    window.chat.choose(7)
    assert note(window).startswith("The reply to come · ")


def test_a_failure_stands_in_red_and_a_warning_where_nothing_failed(window: MainWindow, pane: TracePane) -> None:
    assert said(pane) == []
    window.chat.choose(7)
    assert said(pane)[0] == ("Recursion: The stage failed: it broke.", "error")
    assert "It is late." not in pane.summary.said
    window.chat.choose(2)
    assert ("It is late.", "warning") in said(pane)


def test_a_run_without_candidates_says_what_would_widen_it(window: MainWindow, pane: TracePane) -> None:
    window.chat.choose(2)
    window.selection.choose_entry(None)
    assert pane.nothing.isVisibleTo(pane)
    assert "Nothing came into question" in pane.nothing.title.text()
    window.selection.choose_entry(SKARN)  # a guest among no rows
    assert pane.answers.isVisibleTo(pane)
    assert pane.model.rowCount() == 1
    window.selection.choose_entry(None)
    assert pane.nothing.isVisibleTo(pane), "the guest was the only row"


def test_no_row_stands_out_once_nothing_is_looked_at(window: MainWindow, pane: TracePane) -> None:
    trace = pane.model.trace
    assert trace is not None
    pane.model.set_trace(replace(trace, stages=trace.stages[:2], injections=()), window.session.project.index)
    window.selection.choose_entry(SKARN)  # it did not come into question, so its row comes and goes with the choice
    assert (pane.answers.currentIndex().row(), pane.model.rowCount()) == (1, 2)
    window.selection.choose_entry(None)
    assert (pane.answers.currentIndex().isValid(), pane.model.rowCount()) == (False, 1)


def test_a_filter_looks_among_those_that_came_into_question(window: MainWindow, pane: TracePane) -> None:
    window.chat.choose(2)
    window.selection.choose_entry(SKARN)  # a guest among no rows
    pane.filter.setText("skarn")  # as it is pasted: the guest is there still
    assert pane.nothing.isVisibleTo(pane)
    assert "No row fits the filter" in pane.nothing.title.text()
    assert note(window).startswith("Reply #2 · 0 of 0 entries")
    (clear,) = pane.nothing.page.findChildren(QPushButton)
    clear.click()
    assert (pane.filter.text(), pane.filter.hasFocus()) == ("", True)
    assert pane.answers.isVisibleTo(pane)
    assert pane.model.rowCount() == 1


def test_the_keyboard_that_comes_to_filtered_answers_chooses_no_other_entry(
    window: MainWindow, pane: TracePane, qtbot: QtBot
) -> None:
    window.selection.choose_entry(SKARN)
    pane.filter.setText("crown")
    assert not pane.answers.currentIndex().isValid()
    pane.filter.setFocus()
    window.context.show("trace")  # as F6 does
    assert pane.answers.hasFocus()
    assert (window.selection.entry, pane.answers.currentIndex().isValid()) == (SKARN, False)
    qtbot.keyClick(pane.answers, Qt.Key.Key_Down)
    assert window.selection.entry == CROWN


def test_cells_choose_an_entry_and_its_stage_and_follow_them(window: MainWindow, pane: TracePane, qtbot: QtBot) -> None:
    model = pane.model
    pane.answers.setCurrentIndex(model.index(model.place_of(CROWN), model.stage_column("budget")))
    assert (window.selection.entry, window.selection.stage) == (CROWN, "budget")
    pane.answers.setCurrentIndex(model.index(model.place_of(SKARN), 0))
    assert (window.selection.entry, window.selection.stage) == (SKARN, None)
    for stage in ("budget", "keywords"):  # from elsewhere, as from the funnel
        window.selection.choose_entry(DAWNKEEP, stage)
        current = pane.answers.currentIndex()
        assert (current.row(), current.column()) == (model.place_of(DAWNKEEP), model.stage_column(stage))
    qtbot.keyClicks(pane.filter, "crown")
    assert window.selection.entry == DAWNKEEP  # its row is gone, it is still what is looked at
    assert pane.answers.selectedIndexes() == []
    pane.filter.clear()
    assert pane.answers.currentIndex().row() == model.place_of(DAWNKEEP)


def test_a_row_that_is_chosen_is_brought_into_sight_once(
    window: MainWindow, pane: TracePane, monkeypatch: pytest.MonkeyPatch
) -> None:
    fitted: list[int | None] = []
    monkeypatch.setattr(pane.answers, "fit", lambda: fitted.append(window.selection.entry))
    for entry in (BELL, CROWN):
        window.selection.choose_entry(entry)
    assert fitted == [BELL, CROWN]


def test_the_entry_that_is_looked_at_keeps_its_row_from_reply_to_reply(window: MainWindow, pane: TracePane) -> None:
    window.selection.choose_entry(CROWN)
    for message in (2, 7, 5):
        window.chat.choose(message)
        assert pane.model.entry(pane.answers.currentIndex().row()) == CROWN, message


@pytest.mark.own_window
def test_each_tab_has_its_tools_its_text_and_the_keyboard(window: MainWindow, pane: TracePane) -> None:
    shown = []
    for tab in range(5):
        pane.tabs.setCurrentIndex(tab)
        shown.append((pane.filter.isVisibleTo(pane), pane.all_stages.isVisibleTo(pane)))
    assert shown == [(True, True), (False, True), *[(False, False)] * 3]
    targets = (pane.answers, pane.flow.focus_target(), pane.prompt.focus_target(), pane.log, pane.ai.focus_target())
    for tab, target in enumerate(targets):
        pane.tabs.setCurrentIndex(tab)
        assert pane.focus_target() is target
    pane.tabs.setCurrentIndex(LOG)
    assert "Skarn" in pane.log.toPlainText()
    window.chat.choose(2)  # the text follows while its tab is in front
    assert "Skarn" not in pane.log.toPlainText()
    pane.tabs.setCurrentIndex(PROMPT)
    assert pane.open_search()
    assert (pane.tabs.currentIndex(), pane.filter.hasFocus()) == (0, True)
    pane.tabs.setCurrentIndex(AI)
    assert pane.open_search()
    assert pane.tabs.currentIndex() == AI


def test_all_phases_unfold_with_their_button_and_one_by_its_name(window: MainWindow, pane: TracePane) -> None:
    told: list[bool] = []
    pane.fold_changed.connect(lambda: told.append(pane.all_stages.isChecked()))
    few = pane.funnel_model.rowCount()
    pane.all_stages.click()
    assert (pane.all_stages.isChecked(), told) == (True, [True])
    assert pane.funnel_model.rowCount() > few
    pane.answers.fold_wanted.emit(Phase.GATE)
    assert pane.model.unfolded == {Phase.MATCH, Phase.SELECT, Phase.BUDGET, Phase.INJECT} & pane.model.unfolded
    assert Phase.GATE not in pane.model.unfolded
    assert (pane.all_stages.isChecked(), pane.funnel_model.rowCount()) == (False, few)
    pane.unfold(frozenset())
    pane.answers.fold_wanted.emit(Phase.GATE)
    assert pane.model.unfolded == {Phase.GATE}
    pane.unfold(frozenset())


def test_a_row_is_copied_with_its_way(window: MainWindow, pane: TracePane, monkeypatch: pytest.MonkeyPatch) -> None:
    window.selection.choose_entry(CROWN)
    window.run("copy.row")
    lines = QGuiApplication.clipboard().text().splitlines()
    assert lines[:4] == ["**Crown**: cut", "", "| Stage | Why |", "| --- | --- |"]
    assert [line.split(" | ")[0] for line in lines[4:]] == ["| keywords", "| budget"]
    with monkeypatch.context() as patch:
        patch.setattr(trace_pane, "cell_sentence", lambda *_cell: "“a|b” of\n*Sea*")
        pane.copy_row()
    assert QGuiApplication.clipboard().text().splitlines()[4] == r"| keywords | “a\|b” of \*Sea\* |"
    QGuiApplication.clipboard().clear()
    window.selection.choose_entry(None)
    pane.copy_row()
    assert QGuiApplication.clipboard().text() == ""
    window.run("copy.report")
    assert "Crown" in QGuiApplication.clipboard().text()


def test_a_narrow_pane_has_a_short_field(pane: TracePane, window: MainWindow) -> None:
    pane.resize(900, 400)
    wide = pane.filter.width()
    pane.resize(440, 400)
    assert pane.filter.minimumWidth() < wide
    assert pane.filter.minimumWidth() > pane.filter.fontMetrics().horizontalAdvance(pane.filter.placeholderText())


def test_an_emptied_pane_holds_no_run_and_says_what_is_done_meanwhile(pane: TracePane, window: MainWindow) -> None:
    assert pane.model.rowCount() > 0
    window.selection.choose_message(None, None)
    assert (pane.model.rowCount(), pane.empty.title.text()) == (0, "No message chosen")
    window.session.set_activity("Reading the vault")
    assert pane.empty.title.text() == "Working…"
    window.session.set_activity("")


@pytest.mark.always
def test_an_empty_pane_says_what_is_missing(make_window: Callable[..., MainWindow]) -> None:
    window = make_window(replay=False)
    pane = window.trace
    seen, told = [pane.empty.title.text()], [pane.empty.text.text()]
    for project in (make_project(chat=False), make_project()):
        window.session.set_project(project)
        window.selection.choose_message(7 if project.chat else None, Generation(7) if project.chat else None)
        seen.append(pane.empty.title.text())
        told.append(pane.empty.text.text())
    window.selection.choose_message(None, None)
    seen.append(pane.empty.title.text())
    assert seen == ["No trace", "No chat to run", "No trace yet", "No message chosen"]
    assert told[:2] == [
        "A trace shows what the pipeline did with every entry, and why.",
        (
            "A run needs a chat: its last messages are searched for the keys of the entries. "
            "Or test any text against the entries at once."
        ),
    ]
    assert "has not been run" in told[2]
    assert pane.focus_target() is pane
    assert not pane.open_search()
    assert note(window) == ""


def test_a_step_of_the_funnel_lists_what_it_decided(window: MainWindow, pane: TracePane) -> None:
    pane.tabs.setCurrentIndex(1)
    model = pane.funnel_model
    places = {step.stage: place for place, step in enumerate(model.rows)}
    pane.funnel.activated.emit(model.index(places["budget"], 0))
    decided = [each.entry for each in window.session.runs.trace(Generation(5)).stage("budget").verdicts]
    assert pane.only.label.text() == "Only: budget"
    assert (pane.tabs.currentIndex(), window.selection.stage) == (0, "budget")
    assert {pane.model.entry(row) for row in range(pane.model.rowCount())} <= set(decided)
    assert pane.model.entry(0) == window.selection.entry
    pane.show_all_rows()
    pane.unfold(frozenset(PHASES))
    quiet = next(place for place, step in enumerate(model.rows) if not step.added and not step.removed)
    pane.funnel.activated.emit(model.index(quiet, 0))
    assert pane.only.isHidden(), "it decided nothing"
    pane.unfold(frozenset())


@pytest.mark.parametrize("by", ["menu", "key"])
def test_a_step_of_the_funnel_is_copied_from_its_row(window: MainWindow, pane: TracePane, by: str) -> None:
    window.selection.choose_entry(CROWN)
    pane.tabs.setCurrentIndex(FUNNEL)
    view = pane.funnel
    words = view.model().index(1, 0).data()
    window.activateWindow()
    view.setFocus()
    view.setCurrentIndex(view.model().index(1, 0))
    QGuiApplication.clipboard().clear()
    if by == "key":
        QTest.keyClick(window.windowHandle(), Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    else:
        menu = menu_of_row(view, view.currentIndex())
        assert [each.text().split("\t")[0] for each in menu.actions()] == ["Copy"]
        QTest.keyClick(menu, Qt.Key.Key_Down)
        QTest.keyClick(menu, Qt.Key.Key_Return)
    assert QGuiApplication.clipboard().text() == words
    pane.tabs.setCurrentIndex(ANSWERS)


def test_escape_is_left_to_others_where_all_rows_are_shown(window: MainWindow, pane: TracePane, qtbot: QtBot) -> None:
    changed: list[bool] = []
    pane.note_changed.connect(lambda _note: changed.append(True))
    qtbot.keyClick(pane, Qt.Key.Key_Escape)
    pane.show_all_rows()
    assert changed == []


def test_buttons_of_the_empty_pane_and_of_the_trace_say_what_is_wanted(window: MainWindow, pane: TracePane) -> None:
    told: list[str] = []
    pane.wanted.disconnect()
    pane.wanted.connect(told.append)
    pane.empty.pressed.emit("replay.all")
    pane.summary.wanted.emit("vault.reload")
    pane.live.cancelled.emit()
    pane.live.followed.emit()
    pane.all_stages.click()
    pane.all_stages.setChecked(False)
    pane.wanted.connect(window.run)
    assert told == ["replay.all", "vault.reload", "replay.cancel", "replay.follow", "trace.all_stages"]


def test_entries_of_the_prompt_and_of_the_model_are_chosen(window: MainWindow, pane: TracePane) -> None:
    for page in (pane.prompt, pane.ai):
        page.entry_chosen.emit(CROWN)
        assert window.selection.entry == CROWN
        page.entry_chosen.emit(SKARN)
        assert window.selection.entry == SKARN


def test_the_log_is_not_wrapped_and_written_in_letters_of_one_width(pane: TracePane) -> None:
    assert pane.log.lineWrapMode() is QPlainTextEdit.LineWrapMode.NoWrap
    assert QFontInfo(pane.log.font()).fixedPitch() or pane.log.font().styleHint() is QFont.StyleHint.Monospace
    assert pane.log.isReadOnly()


@pytest.mark.own_window
def test_the_prompt_is_made_again_when_the_setup_is_another(window: MainWindow, pane: TracePane) -> None:
    pane.tabs.setCurrentIndex(PROMPT)
    settle(window)
    made: list[object] = []
    real = pane.prompt.set_trace
    pane.prompt.set_trace = lambda *news: (made.append(news[0]), real(*news))[1]
    try:
        window.session.setup_changed.emit()
        assert len(made) == 1
        pane.tabs.setCurrentIndex(0)
        window.session.setup_changed.emit()
        assert len(made) == 1, "nobody looks at it"
        pane.tabs.setCurrentIndex(PROMPT)
        assert len(made) == 2
        pane.tabs.setCurrentIndex(LOG)
        pane.tabs.setCurrentIndex(PROMPT)
        assert len(made) == 2, "it is there already"
    finally:
        pane.prompt.set_trace = real
    settle(window)


# ---- the sentence and the run under way, alone -----------------------------------------------------------------------


def test_the_sentence_has_links_and_what_passes_takes_its_place(theme: Theme, qtbot: QtBot) -> None:
    line = SummaryLine(theme)
    qtbot.addWidget(line)
    line.set_pieces(
        [SummaryPiece("Of "), SummaryPiece("5", (1, 2)), SummaryPiece(" entries, "), SummaryPiece("2 & more", (1,))]
    )
    line.set_notes([Said("It broke.\nTwice.", "error", (("replay.all", "Replay"),))])
    assert line.plain == "Of 5 entries, 2 & more"
    assert line.text().count("<a href=") == 3
    assert "2 &amp; more" in line.text()
    assert f"color:{theme.palette.error}'>It broke.<br>Twice.</span>" in line.text()
    assert line.accessibleDescription() == "Of 5 entries, 2 & more\nIt broke.\nTwice."
    told: list[object] = []
    line.chosen.connect(lambda entries, words: told.append((entries, words)))
    line.wanted.connect(told.append)
    for link in ("1", "3", "do:replay.all"):
        line.linkActivated.emit(link)
    assert told == [((1, 2), "Of 5 entries"), ((1,), "2 & more"), "replay.all"]
    line.set_notes([*line.notes, Said("It is an older run.", passing=True)])
    assert (line.text().count("Of "), line.accessibleDescription().count("Of ")) == (0, 0)
    assert "It broke" not in line.text()
    assert f"color:{theme.palette.text}'>It is an older run." in line.text()


def test_a_run_under_way_in_one_line(theme: Theme, qtbot: QtBot) -> None:
    bar = LiveBar(theme)
    qtbot.addWidget(bar)
    assert bar.isHidden()
    told: list[str] = []
    bar.cancelled.connect(lambda: told.append("cancelled"))
    bar.followed.connect(lambda: told.append("followed"))
    bar.say("keywords is running", 1.25)
    assert (bar.isHidden(), bar.follow.isHidden(), bar._icon.pixmap().isNull()) == (False, True, False)
    assert (bar.label.text(), bar.label.toolTip(), bar.accessibleName()) == ("keywords is running",) * 3
    assert bar.seconds.text() == "1.2 s"
    bar.say("budget is running", 3, elsewhere=True)
    assert (bar.label.text(), bar.accessibleName(), bar.follow.isHidden()) == (*("budget is running",) * 2, False)
    bar.cancel.click()
    bar.follow.click()
    assert told == ["cancelled", "followed"]
    bar.say("Reply #2, swipe 2: AI selection waits for Test", 3, elsewhere=True)
    bar.resize(bar.minimumSizeHint().width() + 120, bar.height())
    drain()
    (shown,) = words_drawn(bar.label)
    assert shown.startswith("Reply #2")
    assert shown.endswith("…")  # not in the middle of a letter


# ---- which run is shown ----------------------------------------------------------------------------------------------


def test_only_some_rows_are_shown_until_all_are_wanted_again(window: MainWindow, pane: TracePane, qtbot: QtBot) -> None:
    qtbot.keyClicks(pane.filter, "nothing like it")
    pane.tabs.setCurrentIndex(LOG)
    pane.show_only((CROWN, SKARN), "dropped by budget")
    assert (pane.filter.text(), pane.tabs.currentIndex(), pane.model.rowCount()) == ("", 0, 2)
    assert pane.only.label.text() == "Only: dropped by budget"
    assert note(window) == "Reply #5 · 2 of 5 entries · without 1 broken note"
    assert window.focusWidget() is pane.answers
    pane.show_all_rows()
    assert (pane.only.isHidden(), pane.model.rowCount()) == (True, 5)
    assert note(window) == "Reply #5 · 5 entries · without 1 broken note"
    window.selection.choose_entry(CROWN)
    pane.show_only((SKARN,), "dropped by budget")
    pane.show_only((SKARN, CROWN), "dropped by budget")
    assert pane.answers.currentIndex().row() == pane.model.place_of(CROWN) == 1, "it is looked at still"
    qtbot.keyClick(pane, Qt.Key.Key_Escape)
    assert (pane.only.isHidden(), note(window).count(" of ")) == (True, 0)


@pytest.mark.parametrize(
    ("busy", "whole", "words", "actions"),
    [
        (False, True, "A note was saved.", (("vault.reload", "Read again and replay"),)),
        (False, False, "A note was saved.", (("replay.all", "Replay all"),)),
        (True, True, "A note was saved. The replay is under way.", ()),
    ],
)
def test_an_older_run_says_why_and_how_to_renew_it(
    window: MainWindow, pane: TracePane, monkeypatch: pytest.MonkeyPatch, busy: bool, whole: bool, words: str,
    actions: tuple[tuple[str, str], ...],
) -> None:  # fmt: skip
    runs = window.session.runs
    if whole:
        monkeypatch.setattr(runs, "stale", "A note was saved.")
    else:
        monkeypatch.setattr(runs, "_older", frozenset({Generation(5, 0)}))
        monkeypatch.setattr(runs, "_older_why", "A note was saved.")
    monkeypatch.setattr(type(window.session), "busy", busy)
    pane._show_state()
    assert pane.summary.notes[0] == Said(words, "warning", actions, passing=True)
    monkeypatch.undo()
    pane._show_state()
    assert not any(each.passing for each in pane.summary.notes)


UNDER_WAY = "Under way: 1 stage is done, 0 candidates so far."


@pytest.mark.parametrize(
    ("message", "seconds", "in_place", "bar", "elsewhere"),
    [
        (5, 0.05, False, False, False), (5, 0.25, True, False, False), (5, 9.0, True, True, False),
        (7, 9.0, False, True, True), (7, 0.25, False, False, False),
    ],
)  # fmt: skip
def test_a_run_under_way_is_shown_once_it_takes_long(
    window: MainWindow, pane: TracePane, monkeypatch: pytest.MonkeyPatch, message: int, seconds: float,
    in_place: bool, bar: bool, elsewhere: bool,
) -> None:  # fmt: skip
    before, replays = pane.summary.plain, window.session.replays
    done = StageRecord("snapshot", Phase.LOAD)
    live = LiveRun(Generation(message, 0), (done,), "keywords", Phase.MATCH, time.monotonic() - seconds)
    monkeypatch.setattr(replays, "live", live)
    window.session.live_changed.emit()
    assert (pane.summary.plain == UNDER_WAY, pane.summary.plain == before) == (in_place, not in_place)
    assert (not pane.live.isHidden(), bar and not pane.live.follow.isHidden()) == (bar, elsewhere)
    assert not bar or pane.live.label.text() == f"Reply #{message}: keywords is running"
    assert note(window).startswith("Reply #5, under way" if in_place else "Reply #5 · ")
    monkeypatch.setattr(replays, "live", None)
    window.session.live_changed.emit()
    assert (pane.live.isHidden(), pane.summary.plain) == (True, before)


@pytest.mark.parametrize(
    ("source", "asked", "stage", "words"),
    [
        (Source(AnswerKind.TYPED), True, "AI", "Reply #5: AI waits for you"),
        (Source(AnswerKind.PROVIDER, "Local"), True, "AI", "Reply #5: AI waits for Local"),
        (Source(AnswerKind.PROVIDER, "Local"), False, "AI", "Reply #5: AI is running"),
        (Source(), False, "", "Reply #5: The next stage is running"),
    ],
)
def test_who_a_run_waits_for(
    window: MainWindow, pane: TracePane, monkeypatch: pytest.MonkeyPatch, source: Source, asked: bool, stage: str,
    words: str,
) -> None:  # fmt: skip
    monkeypatch.setattr(window.session, "choice", RunChoice(source=source))
    request: Any = object() if asked else None
    assert pane._live_words(LiveRun(Generation(5, 0), stage=stage, request=request)) == words


@pytest.mark.parametrize("of_note", [True, False])
def test_what_is_tried_out_takes_the_place_of_the_sentence_shown_or_not(
    share_window: Callable[..., MainWindow], of_note: bool
) -> None:
    window = share_window(project_of, make_simulator=Simulator)
    pane = window.trace
    window.chat.show_generation(Generation(6))
    settle(window)
    sentence = pane.summary.plain
    assert sentence
    assert sentence in pane.summary.accessibleDescription()
    if of_note:
        bell = next(each for each in window.session.project.index.entries if each.title == "Bell")
        path = window.session.project.note_path(bell.vault, bell.filename)
        window.drafts.keep(path, Draft("---\ntags: [lorebook]\nkeys: [sail]\n---\nIt rings.\n", ""))
        what = "the unsaved text of Bell.md"
    else:
        window.preview.try_settings(window.session.project.settings.model_copy(update={"scan_depth": 5}))
        what = "Scan depth 5 messages"
    settle(window)
    (said,) = pane.summary.notes[:1]
    assert (said.passing, said.tone, said.actions) == (True, "neutral", (("preview.toggle", "Show the run before"),))
    assert said.text.startswith(f"With {what}: “Bell” would enter; ")
    assert ("Whole chat: " in said.text) is of_note, "of a setting its field says it"
    rings = next(each.id for each in window.session.project.index.entries if each.title == "Bell")
    assert pane.model.change(rings).words == "+ came in"
    assert sentence not in pane.summary.accessibleDescription()
    window.update_actions()
    assert window.context.action("preview.toggle").isEnabled()
    window.run("preview.toggle")
    (said,) = pane.summary.notes[:1]
    assert said == Said(
        f"This is the run without {what}.", "neutral", (("preview.toggle", "Show it as tried out"),), passing=True
    )
    assert pane.model.change(rings) is None
    assert sentence not in pane.summary.accessibleDescription()
    window.run("preview.toggle")
    if of_note:
        window.drafts.drop(path)
    else:
        window.preview.try_settings(None)
    settle(window)
    window.update_actions()
    assert not window.context.action("preview.toggle").isEnabled(), "nothing is tried out any more"
    assert sentence in pane.summary.accessibleDescription()


def test_rows_say_what_the_last_change_has_done(make_window: Callable[..., MainWindow], tmp_path: Path) -> None:
    project = replace(make_project(tmp_path), settings=DeepLoreSettings(enabled=True))
    window = make_window(project, make_simulator=Simulator)
    settle(window)
    window.selection.choose_message(5, Generation(5))
    settle(window)
    model = window.trace.model
    assert (model.change(SKARN), model.change(DAWNKEEP)) == (None, None)
    controls = replace(window.session.project.controls, blocks=(EntryRule("Skarn"),))
    window.session.parts.adjust("Block Skarn", controls=controls)
    settle(window)
    assert (model.change(SKARN).words, model.change(DAWNKEEP)) == ("− left", None)


@pytest.mark.own_window
def test_pages_that_nobody_looked_at_are_not_made(window: MainWindow, pane: TracePane) -> None:
    waiting = PromptPage, AiPage, ScorePage, SimilarityPage
    window.selection.choose_entry(SKARN)
    assert not [page for kind in waiting for page in window.findChildren(kind)]
    for tab, kind in ((PROMPT, PromptPage), (AI, AiPage)):
        pane.tabs.setCurrentIndex(tab)
        (page,) = window.findChildren(kind)
        assert page.isVisible()
    settle(window)


def test_a_note_that_was_moved_has_not_come_in_by_that(window: MainWindow, monkeypatch: pytest.MonkeyPatch) -> None:
    pane = window.features.trace.pane
    now = pane._trace
    assert now is not None
    first = now.injections[0].entry
    elsewhere = {**now.entries, first: replace(now.entries[first], filename="old/place.md")}
    before = replace(now, entries=elsewhere, digests={**now.digests, "vault": "before"})
    monkeypatch.setattr(pane, "_before", lambda _trace: before)
    assert pane._changes_in(now) == {}
