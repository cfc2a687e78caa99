"""The views of a run: the sentence's numbers, the funnel and its flow, the prompt, scores, budgets, reports."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest

from lorestudio.domain.chat import Generation
from lorestudio.domain.records import replace
from lorestudio.studio.project.project import demo_project, open_project
from lorestudio.studio.prompt.setup import PromptSetup
from lorestudio.studio.replay.scenario import run_scenarios
from lorestudio.studio.replay.simulator import Simulator
from lorestudio.studio.report.page import Format
from lorestudio.trace.budget import budget_view
from lorestudio.trace.flow import Measure
from lorestudio.trace.found_keys import FoundKey
from lorestudio.trace.model import Outcome, Phase, StageRecord, Verdict
from lorestudio.trace.summary import summary
from lorestudio.ui.features.trace.flow import FlowView
from lorestudio.ui.features.trace.pane import ANSWERS, FUNNEL, LOG, PROMPT
from lorestudio.ui.features.trace.prompt_page import LORE
from lorestudio.ui.shell.qt import DISPLAY, ENTRY_ID, LOOK
from lorestudio.ui.widgets.paint import KeyQuery
from tests.ui.features.trace.test_flow import leaky_trace
from tests.ui.shell.test_main_window import settle
from tests.ui.worlds import BELL, CROWN, DAWNKEEP, RULES, SKARN


def rows_of(window) -> list[int]:
    model = window.trace.model
    return [model.entry(row) for row in range(model.rowCount())]


# ---- the sentence --------------------------------------------------------------------------------------------------


def test_a_number_of_the_sentence_filters_the_answers(window) -> None:
    line = window.trace.summary
    assert line.plain == summary(window.trace.model.trace)
    place = next(at for at, piece in enumerate(line._pieces) if piece.entries == (CROWN,))
    line.linkActivated.emit(str(place))
    assert rows_of(window) == [CROWN]
    assert "the budget cut 1" in window.trace.only.label.text()
    assert "1 of 5 entries" in window.docks["trace"].bar._note.text()
    QTest.keyClick(window.trace.answers, Qt.Key.Key_Escape)
    assert len(rows_of(window)) == 5
    assert window.trace.only.isHidden()


def test_another_reply_shows_all_rows_again(window) -> None:
    window.trace.show_only((CROWN,), "one")
    window.chat.choose(2)
    window.chat.choose(5)
    assert window.trace.only.isHidden()
    assert len(rows_of(window)) == 5
    window.trace.show_only((CROWN,), "one")
    window.update_actions()
    assert window.context.action("trace.show_all").isEnabled()
    window.run("trace.show_all")
    assert len(rows_of(window)) == 5
    assert not window.context.action("trace.show_all").isEnabled()


@pytest.mark.always
def test_what_is_done_to_the_funnel_and_the_answers_is_seen(window) -> None:
    window.trace.tabs.setCurrentIndex(LOG)
    window.run("flow.table")
    assert window.trace.tabs.currentIndex() == FUNNEL
    window.run("flow.table")
    window.trace.tabs.setCurrentIndex(LOG)
    window.run("trace.all_stages")
    assert window.trace.tabs.currentIndex() == ANSWERS
    window.run("trace.all_stages")


# ---- the funnel ----------------------------------------------------------------------------------------------------


def test_few_drops_are_a_list_and_many_are_a_flow(window) -> None:
    page = window.trace.flow
    assert not page.is_flow
    assert page._pages.currentWidget() is window.trace.funnel
    page.set_trace(leaky_trace())
    assert page.is_flow
    assert page.focus_target() is page.view


def test_the_funnel_in_tokens(window) -> None:
    window.trace.tabs.setCurrentIndex(1)
    budget = [step for step in window.trace.funnel_model.rows if step.stage == "budget"]
    assert (budget[0].left, budget[0].removed) == (3, 1)
    window.run("flow.measure")
    assert window.trace.flow.measure is Measure.TOKENS
    (step,) = [step for step in window.trace.funnel_model.rows if step.stage == "budget"]
    assert (step.left, step.removed) == (100, 158 + 10)  # Crown, and what Dawnkeep was shortened by
    assert "100 tokens" in step.describe()
    window.run("flow.measure")
    assert window.trace.flow.measure is Measure.ENTRIES


def test_a_step_of_the_funnel_shows_what_was_decided_there(window) -> None:
    window.trace.tabs.setCurrentIndex(1)
    (place,) = [at for at, step in enumerate(window.trace.funnel_model.rows) if step.stage == "budget"]
    window.trace.funnel.activated.emit(window.trace.funnel_model.index(place, 0))
    assert window.trace.tabs.currentIndex() == 0
    assert rows_of(window) == [DAWNKEEP, CROWN]
    assert window.selection.entry == DAWNKEEP


def test_a_flow_by_keyboard(window) -> None:
    page = window.trace.flow
    window.trace.tabs.setCurrentIndex(1)
    page.set_trace(leaky_trace())
    view: FlowView = page.view
    view.setFocus()
    assert view.stage == "stage 0"
    QTest.keyClick(view, Qt.Key.Key_Down)
    assert view.stage == "stage 1"
    assert "Blocked" in view.accessibleDescription()
    QTest.keyClick(view, Qt.Key.Key_End)
    assert view.stage == "stage 3"
    QTest.keyClick(view, Qt.Key.Key_Home)
    QTest.keyClick(view, Qt.Key.Key_Right)
    assert view.current is not None
    assert view.current.entries == (RULES,)
    QTest.keyClick(view, Qt.Key.Key_Return)
    assert window.trace.tabs.currentIndex() == 0
    assert rows_of(window) == [RULES]
    assert "Filtered by context" in window.trace.only.label.text()


def test_a_flow_by_mouse(window) -> None:
    page = window.trace.flow
    window.trace.tabs.setCurrentIndex(1)
    page.set_trace(leaky_trace())
    shape = page.view._picture.rows[2].ribbons[0]
    place = QPointF(shape.end + 20, shape.middle).toPoint()
    QTest.mouseClick(page.view, Qt.MouseButton.LeftButton, pos=place)
    assert rows_of(window) == [DAWNKEEP]


def test_the_table_twin_and_the_files(window, tmp_path) -> None:
    page = window.trace.flow
    page.set_trace(leaky_trace())
    window.run("flow.table")
    assert page.focus_target() is page.table
    model = page.table_model
    cells = [[model.index(row, column).data(DISPLAY) for column in range(7)] for row in range(model.rowCount())]
    assert ["stage 3", "gate", "leaves", "Cut by the budget", "1", "158", "Crown"] in cells
    assert page.content("csv").decode("utf-8-sig").splitlines()[0].startswith("Stage,Phase")
    assert page.content("svg").startswith(b"<svg")
    assert page.content("png").startswith(b"\x89PNG")
    window.run("flow.table")
    page.saving.emit(tmp_path / "stages.csv", page.content("csv"))
    settle(window)
    assert "Crown" in (tmp_path / "stages.csv").read_text(encoding="utf-8-sig")


# ---- the prompt ----------------------------------------------------------------------------------------------------


def prompt_of(window):
    window.trace.tabs.setCurrentIndex(PROMPT)
    settle(window)
    return window.trace.prompt


def test_the_prompt_has_the_chat_and_the_lore_in_order(window) -> None:
    page = prompt_of(window)
    rows = page.model.rows
    texts = [row.text for row in rows if row.text]
    assert (
        texts.index("A dragon.") < texts.index("Tell me about the fortress.") < texts.index("And Skarn? And the crown?")
    )
    assert not any("out of character" in text for text in texts)
    skarn = next(row for row in rows if row.entry == SKARN)
    assert (skarn.origin, skarn.fill) == ("keyword", "green")
    heads = [row.title for row in rows if row.head]
    assert any(head.startswith("User") for head in heads)
    assert any(head.startswith("Assistant") for head in heads)
    assert "tokens" in page.note.text()


def test_choosing_an_entry_shows_its_part_and_back(window) -> None:
    page = prompt_of(window)
    window.selection.choose_entry(SKARN)
    assert page.view.currentIndex().data(ENTRY_ID) == SKARN
    page.view.setCurrentIndex(page.model.index(page.model.place_of_entry(RULES), 0))
    assert window.selection.entry == RULES
    window.selection.choose_entry(CROWN)
    assert not page.view.currentIndex().isValid()


def test_another_card_or_frame_is_another_prompt(window) -> None:
    page = prompt_of(window)
    window.session.parts.take_setup(PromptSetup(main="You are the fog."))
    settle(window)
    assert "You are the fog." in [row.text for row in page.model.rows]


@pytest.mark.always
def test_lore_only_and_copies(window) -> None:
    page = prompt_of(window)
    page._shown.button(LORE).click()
    assert {row.entry for row in page.model.rows if not row.head} == {RULES, SKARN}
    window.run("prompt.copy_text")
    assert "--- user, chat history" in QGuiApplication.clipboard().text()
    window.run("prompt.copy_markdown")
    assert QGuiApplication.clipboard().text().startswith("# Prompt (")


@pytest.mark.always
def test_a_part_of_the_chat_leads_to_its_message(window) -> None:
    page = prompt_of(window)
    row = next(at for at, each in enumerate(page.model.rows) if each.message == 4)
    page.view.setCurrentIndex(page.model.index(row, 0))
    page.view.setFocus()
    QTest.keyClick(page.view, Qt.Key.Key_Return)
    assert window.chat.delegate._pointed == 4
    assert window.selection.generation == Generation(5, 0)  # the run that is looked at stays
    QTest.keyClick(page.view, Qt.Key.Key_X)
    assert page.model.index(row, 0).data(LOOK).body.most == 0  # all of it is shown


# ---- why -----------------------------------------------------------------------------------------------------------


def test_the_message_of_a_key_is_a_link(window) -> None:
    window.selection.choose_entry(CROWN)
    assert '<a href="message:4">' in window.why.browser.toHtml().replace("'", '"')
    window.why.message_wanted.emit(4)
    assert window.chat.delegate._pointed == 4
    window.chat.choose(2)
    assert window.chat.delegate._pointed == -1


def test_the_found_key_is_marked_where_it_was_found(window) -> None:
    window.chat.model.highlight(KeyQuery((FoundKey(CROWN, "the", 1, 14, 17),), 5))
    assert [(mark.start, mark.end) for mark in window.chat.model.row(1).marks] == [(14, 17)]
    assert "the key “the” was found here" in window.chat.model.row(1).describe()
    window.chat.model.highlight(
        KeyQuery((FoundKey(CROWN, "the", 1, 0, 3),), 5)
    )  # another swipe is shown: that place holds something else
    assert [(mark.start, mark.end) for mark in window.chat.model.row(1).marks] == [(14, 17)]


def test_the_tooltip_of_a_marked_word(window) -> None:
    chat = window.chat
    keys = (FoundKey(CROWN, "Skarn", 4, 4, 9), FoundKey(CROWN, "crown", 4, 19, 24, refine=True))
    chat.model.highlight(KeyQuery(keys, 5, "Crown"))
    row, rect = chat.model.row(4), QRectF(0, 0, chat.view.viewport().width(), 80)
    points = [chat.delegate.mark_at(QPointF(x, y), rect, row) for y in range(0, 80, 4) for x in range(0, 400, 4)]
    assert {mark.words.split(".")[0] for mark in points if mark is not None} == {
        "“Skarn” is a key of “Crown”", "“crown” is a refine key of “Crown”",
    }  # fmt: skip


def test_the_why_pane_leads_to_the_message_of_a_refine_key(window) -> None:
    trace = window.trace.model.trace
    details = {"key": "crown", "message": 4, "depth": 4, "refine_key": "fortress", "refine_message": 1}
    verdict = Verdict(BELL, Outcome.ADDED, "key_hit", details)
    stages = (StageRecord("keywords", Phase.MATCH, left=(BELL,), verdicts=(verdict,)),)
    links = window.why._sources(replace(trace, stages=stages), BELL)
    assert links == {"message:4": "message #4", "message:1": "message #1"}


@pytest.mark.long
def test_scores_of_the_demo(make_window) -> None:
    project = demo_project()
    settings = project.settings.model_copy(update={"fuzzy_search_enabled": True, "fuzzy_search_min_score": 0.2})
    window = make_window(replace(project, settings=settings), make_simulator=Simulator)
    settle(window)
    window.chat.choose(44)
    settle(window)
    trace = window.trace.model.trace
    entry = next(each.entry for record in trace.stages for each in record.verdicts if each.reason == "fuzzy")
    window.selection.choose_entry(entry)
    window.run("why.scores")
    settle(window)
    nodes = {node.title: node for node in window.why.scores.nodes}
    assert nodes["BM25"].details[0].title == "words in common"
    assert nodes["BM25"].details[1].title == "length norm"
    window.run("copy.why")
    assert "length norm" in QGuiApplication.clipboard().text()
    cascade = next(each for record in trace.stages for each in record.verdicts if each.reason == "cascade")
    window.why.show_scores(False)
    window.selection.choose_entry(cascade.entry)
    assert f"“{cascade.details['source']}” came in and names" in window.why.browser.toPlainText()


# ---- another budget ------------------------------------------------------------------------------------------------


@pytest.mark.long
def test_another_budget_is_tried_kept_and_undone(make_window, qtbot) -> None:
    window = make_window(demo_project(), make_simulator=Simulator)
    settle(window)
    window.chat.choose(8)
    pane = window.budget
    before = pane._trace
    assert "of 1,300" in pane.caps.text()
    assert "Entry limit:" in pane.caps.text()
    assert pane.last_label.text().startswith("Reply #6: ")  # the reply before, beside this one
    assert not pane.last.isHidden()
    assert not pane.slider.isHidden()
    pane.slider.slider.setValue(20)
    qtbot.waitUntil(lambda: sum(segment.tokens for segment in pane.bar._view.inside) <= 200)
    settle(window)
    assert "leaves" in pane.slider.told.text().lower()
    assert pane.now_label.text() == "As tried out"
    assert pane.last._view.used == budget_view(before).used
    assert window.session.runs.trace(window.selection.generation) is before
    pane.slider.back.click()
    assert pane.bar._view.maximum == 1300
    pane.slider.slider.setValue(250)
    pane.slider.keep.click()
    settle(window)
    assert window.session.project.settings.max_tokens_budget == 2500
    assert pane.last_label.text().startswith("Before the change: ")
    assert pane.last._view.used == budget_view(before).used
    window.session.parts.undo()
    settle(window)
    assert window.session.project.settings.max_tokens_budget == 1300


# ---- giving it away ------------------------------------------------------------------------------------------------


def test_a_report_is_shown_before_it_is_saved(window, tmp_path) -> None:
    dialog = window.features.reports.save_report()
    settle(window)
    assert dialog.made.data.startswith(b"<!DOCTYPE html>")
    assert dialog.text.toPlainText() == dialog.made.data.decode()
    dialog.redacted.setChecked(True)
    dialog.format.setCurrentIndex(1)
    settle(window)
    assert dialog.wanted.format is Format.MARKDOWN
    assert b"Crown" not in dialog.made.data
    assert b"Entry 1" in dialog.made.data
    assert "Crown" not in dialog.file_name()
    dialog.scope.setCurrentIndex(1)
    settle(window)
    assert b"All turns" in dialog.made.data or b"4 turns" in dialog.made.data
    shown = dialog.made.data
    dialog.write(tmp_path / "report.md")
    settle(window)
    assert (tmp_path / "report.md").read_bytes() == shown


def test_a_report_that_cannot_be_written_stays_open(window, tmp_path) -> None:
    dialog = window.features.reports.save_report(redacted=True)
    settle(window)
    dialog.write(tmp_path)
    settle(window)
    assert "cannot be written" in dialog.remark.text()
    assert dialog.save_button.isEnabled()
    dialog.close()


def test_copies_of_a_run(window) -> None:
    window.run("copy.text")
    assert "Crown" in QGuiApplication.clipboard().text()
    window.run("copy.redacted")
    settle(window)
    assert "Crown" not in QGuiApplication.clipboard().text()
    assert "Entry" in QGuiApplication.clipboard().text()


def test_a_scenario_is_saved_and_repeats(make_window, tmp_path) -> None:
    vault = tmp_path / "brume"
    vault.mkdir()
    (vault / "Lamp.md").write_text("---\ntags: [lorebook]\nkeys: [lamp]\n---\nIt burns.\n", encoding="utf-8")
    chat = tmp_path / "chat.txt"
    chat.write_text("Wren: Light the lamp!\n\nOttoline: Done.\n", encoding="utf-8")
    window = make_window(open_project([vault], chat), make_simulator=Simulator)
    settle(window)
    dialog = window.features.reports.save_scenario()
    settle(window)
    assert "every decision was the same" in dialog.remark.text()
    path: Path = tmp_path / "turn.json"
    dialog.write(path)
    settle(window)
    (result,) = run_scenarios(path)
    accepted = result["expected"]["generations"][-1]["budget"]["accepted"]
    assert [row["title"] for row in accepted] == ["Lamp"]
    assert json.loads(path.read_text(encoding="utf-8"))["vaults"][0]["name"] == "brume"


def test_without_a_finished_run_there_is_no_scenario(make_window, tmp_path) -> None:
    window = make_window(demo_project(), replay=False)
    assert window.features.reports.save_report() is None
    assert window.features.reports.save_scenario() is None
    assert any("finished run" in text for text in window.bars.texts)
