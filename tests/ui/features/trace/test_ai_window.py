"""Modes, answer sources, runs under way and what the model was asked, with the real engine and scripted answers."""

from __future__ import annotations

import json
import re
import threading
import time

import pytest
from PySide6.QtCore import Qt, QTimer, QUrl
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel, QMessageBox

from lorestudio.domain.chat import Generation
from lorestudio.domain.records import replace
from lorestudio.llm.errors import ErrorKind, failed
from lorestudio.settings.behaviour import FIXED
from lorestudio.studio.project.answering import AnswerKind, Connections, Keys, LlmError, Profile, ProfileFile, Source
from lorestudio.studio.project.settings import Mode
from lorestudio.studio.replay.simulator import Simulator
from lorestudio.ui.features.providers.actions import BehaviourDialog
from lorestudio.ui.features.providers.question_dialog import QuestionDialog
from lorestudio.ui.features.trace.ai_page import OVERVIEW, REPLY, SYSTEM, USER
from lorestudio.ui.features.trace.pane import AI
from lorestudio.ui.shell.qt import HORIZONTAL, MARK
from lorestudio.ui.widgets.paint import BROKEN, DECIDING
from tests.ui.conftest import drain
from tests.ui.worlds import DAWNKEEP, SKARN, FakeClient, MemoryKeyring, ai_project, make_project

LOCAL = Source(AnswerKind.PROVIDER, "Local")


@pytest.fixture
def client() -> FakeClient:
    return FakeClient()


@pytest.fixture
def connections(tmp_path, client: FakeClient) -> Connections:
    made = Connections(tmp_path / "profiles" / "profiles.json", Keys(MemoryKeyring(), {}), client.make)
    made.save(ProfileFile((Profile("Local", url="http://127.0.0.1:11434/v1", model="tiny"),)))
    return made


@pytest.fixture
def real(make_window, qtbot):
    """Makes a window with the real engine on a project, replayed."""

    def make(project, **more):
        window = make_window(project, **({"make_simulator": Simulator} | more))
        idle(window, qtbot)
        return window

    return make


def idle(window, qtbot) -> None:
    qtbot.waitUntil(lambda: not window.session.busy and window.session.jobs.idle)
    drain()


def boxes() -> list[QMessageBox]:
    return [widget for widget in QApplication.topLevelWidgets() if isinstance(widget, QMessageBox)]


def agree(qtbot) -> str:
    """Say yes to the question what a replay costs; returns the sentence."""
    qtbot.waitUntil(lambda: bool(boxes()))
    (box,) = boxes()
    text = box.text()
    next(button for button in box.buttons() if button.text().startswith("Ask")).click()
    drain()
    return text


def decline() -> None:
    for box in boxes():
        box.button(QMessageBox.StandardButton.Cancel).click()
    drain()


def call_of(window):
    return window.session.runs.trace(window.selection.generation).ai_calls[-1]


# ---- choosing -------------------------------------------------------------------------------------------------------


@pytest.mark.long
def test_the_mode_is_chosen_above_the_chat_and_replays(real, tmp_path, qtbot) -> None:
    window = real(ai_project(tmp_path, aiSearchEnabled=False))
    old = window.session.runs.trace(Generation(5))
    assert old.mode == "keywords-only"
    assert window.chat.modes.mode.accessibleName() == "Mode: Keywords only"
    action = next(item for item in window.chat.modes.mode.menu().actions() if item.text() == "Two-stage")
    action.trigger()
    assert window.session.busy
    assert window.session.runs.trace(Generation(5)) is old  # the old trace stays until the new one is there
    assert "Keywords only" in window.trace.summary.said
    assert "under way" in window.trace.summary.said
    idle(window, qtbot)
    assert window.session.runs.trace(Generation(5)).mode == "two-stage"
    assert not any(note.passing for note in window.trace.summary.notes)
    assert window.session.project.settings.ai_search_mode == "two-stage"
    assert "Two-stage · Offline stand-in (no model)" in window.status._run.text()
    assert window.commands.actions["mode.two-stage"].isChecked()


def test_going_back_to_a_mode_runs_nothing_again(real, tmp_path, qtbot) -> None:
    window = real(ai_project(tmp_path))
    first = window.session.runs.trace(Generation(5))
    window.run("mode.ai-only")
    idle(window, qtbot)
    assert window.session.runs.trace(Generation(5)).mode == "ai-only"
    window.run("mode.two-stage")
    idle(window, qtbot)
    assert window.session.runs.trace(Generation(5)) is first


def test_modes_and_switches_are_off_where_another_system_decides(real, tmp_path, qtbot) -> None:
    window = real(ai_project(tmp_path))
    actions = [window.commands.actions[name] for name in ("mode.keywords-only", "mode.ai-only", "behaviour.edit")]
    assert all(action.isEnabled() for action in actions)
    window.session.replays.choose(system="world-info")
    idle(window, qtbot)
    assert not any(action.isEnabled() for action in actions)


@pytest.mark.long
def test_the_choice_is_remembered_for_the_chat(real, tmp_path, qtbot) -> None:
    first = real(ai_project(tmp_path, aiSearchEnabled=False))
    first.session.replays.choose(mode=Mode.AI_ONLY, source=Source(AnswerKind.RECORDED), fixed=("guide_leak",))
    idle(first, qtbot)
    first.close()
    second = real(ai_project(tmp_path, aiSearchEnabled=False))
    assert second.session.choice.mode is Mode.AI_ONLY
    assert second.session.choice.source.kind is AnswerKind.RECORDED
    assert second.session.project.behaviour.guide_leak == FIXED
    other = real(replace(ai_project(tmp_path, aiSearchEnabled=False), chat_path=tmp_path / "other.jsonl"))
    assert other.session.choice.mode is Mode.KEYWORDS


def test_in_keywords_only_mode_the_answer_source_changes_nothing(real, tmp_path) -> None:
    window = real(ai_project(tmp_path, aiSearchEnabled=False))
    before = window.session.runs.trace(Generation(5))
    window.run("answers.typed")
    assert not window.session.busy
    assert window.session.runs.trace(Generation(5)) is before
    assert not any(note.passing for note in window.trace.summary.notes)


def test_a_choice_during_a_replay_stops_it_and_runs_the_new_one(real, tmp_path, qtbot, client) -> None:
    client.delay = 5.0
    window = real(ai_project(tmp_path))
    window.session.replays.choose(source=LOCAL)
    agree(qtbot)
    qtbot.waitUntil(lambda: bool(client.asked))
    window.session.replays.choose(mode=Mode.KEYWORDS)
    idle(window, qtbot)
    assert window.session.runs.trace(Generation(5)).mode == "keywords-only"
    assert client.closed == len(client.asked)
    assert window.bars.texts == []


def test_the_choosers_take_the_keyboard(real, tmp_path) -> None:
    window = real(ai_project(tmp_path))
    for button in (window.chat.modes.mode, window.chat.modes.source, window.chat.modes.switches):
        assert button.focusPolicy() & Qt.FocusPolicy.TabFocus
        assert button.accessibleName()
    titles = [action.text() for action in window.chat.modes.source.menu().actions() if action.isCheckable()]
    assert titles == ["Offline stand-in (no model)", "Recorded answers", "Provider: Local", "I type the answers"]


# ---- what the model was asked ---------------------------------------------------------------------------------------


def test_the_ai_tab_shows_request_reply_and_what_they_were_matched_to(real, tmp_path) -> None:
    window = real(ai_project(tmp_path))
    window.run("trace.ai")
    page = window.trace.ai
    assert window.trace.tabs.currentIndex() == AI
    assert "offline stand-in" in page.plain
    assert "not by a model" in page.plain
    assert "miss:" in page.plain
    assert "Circuit breaker\nclosed\n" in page.plain
    assert "exact title" in page.plain
    page.parts.button(SYSTEM).click()
    assert page.plain == call_of(window).system
    page.parts.button(USER).click()
    assert page.plain == call_of(window).user
    assert '<entry name="Skarn">' in page.plain
    page.parts.button(REPLY).click()
    assert page.plain == call_of(window).reply
    page.copy_button.click()
    assert json.loads(QGuiApplication.clipboard().text())


@pytest.mark.always
def test_the_texts_of_a_call_are_searched(real, tmp_path) -> None:
    window = real(ai_project(tmp_path))
    window.run("trace.ai")
    page = window.trace.ai
    field, found = page.finder.field, page.finder.found
    page.parts.button(USER).click()
    window.trace.open_search()
    QTest.keyClicks(field, "dawnkeep")
    wanted = call_of(window).user.casefold().count("dawnkeep")
    assert wanted > 1
    assert found.text() == f"1 of {wanted}"
    first = page.text.textCursor().selectionStart()
    QTest.keyClick(field, Qt.Key.Key_Return)
    assert page.text.textCursor().selectionStart() > first
    QTest.keyClick(field, Qt.Key.Key_Escape)
    assert (page.finder.isHidden(), page.text.hasFocus(), page.text.extraSelections()) == (True, True, [])
    field.setText("zzz")
    window.trace.open_search()
    assert found.text() == "none"
    assert field.selectedText() == "zzz", "the next word takes its place"


def test_a_very_long_request_is_laid_out_in_pieces_and_copied_whole(real, tmp_path, qtbot) -> None:
    window = real(ai_project(tmp_path))
    trace = window.session.runs.trace(Generation(5))
    text = "one line of a long manifest\n" * 20_000 + "the end"
    page = window.trace.ai
    window.run("trace.ai")
    page.set_trace(replace(trace, ai_calls=(replace(trace.ai_calls[0], user=text),)))
    page.parts.button(USER).click()
    assert len(page.text.toPlainText()) < len(text)
    page.copy_button.click()
    assert QGuiApplication.clipboard().text() == text
    qtbot.waitUntil(lambda: page.text.toPlainText() == text)
    window.trace.open_search()
    page.finder.field.setText("the end")
    assert page.finder.found.text() == "1 of 1"


def test_an_entry_of_the_overview_is_chosen_by_its_link(real, tmp_path) -> None:
    window = real(ai_project(tmp_path))
    window.run("trace.ai")
    window.trace.ai.entry_chosen.emit(DAWNKEEP)
    assert window.selection.entry == DAWNKEEP


def test_without_a_call_the_ai_tab_says_why(real, tmp_path, qtbot) -> None:
    window = real(ai_project(tmp_path, aiSearchEnabled=False))
    window.run("trace.ai")
    assert "In keywords-only mode no model is asked." in window.trace.ai.plain
    window.session.replays.choose(source=Source(AnswerKind.RECORDED))
    link = re.search(r'href="(.*?)"', window.trace.ai.overview.toHtml())
    window.trace.ai.overview.anchorClicked.emit(QUrl(link[1]))
    idle(window, qtbot)
    assert window.session.choice.mode is Mode.TWO_STAGE
    assert "href" not in window.trace.ai.overview.toHtml()
    assert "no answer to this request" in window.trace.ai.plain
    assert "No model was asked in this run" in window.trace.ai.plain


@pytest.mark.long
def test_unknown_and_similar_titles_are_listed(real, tmp_path, qtbot, client) -> None:
    client.text = '[{"title": "Skarm", "confidence": "low"}, {"title": "Mount Nowhere"}]'
    window = real(ai_project(tmp_path))
    window.session.replays.choose(source=LOCAL)
    agree(qtbot)
    idle(window, qtbot)
    window.run("trace.ai")
    assert "Skarm\nSkarn\nsimilar title, 75 % alike\nlow\nchosen\n" in window.trace.ai.plain
    assert "Mount Nowhere\n–\nnot found\nmedium\npassed over\n" in window.trace.ai.plain
    assert "100 sent, 20 received" in window.trace.ai.plain


def test_the_choice_of_the_model_has_its_marks(real, tmp_path, qtbot, client) -> None:
    window = real(ai_project(tmp_path))
    window.session.replays.choose(source=LOCAL)
    agree(qtbot)
    idle(window, qtbot)
    model = window.trace.model
    column = model.stage_column("AI selection")
    assert model.index(model.place_of(SKARN), column).data(MARK).word == "chosen by AI"
    assert model.index(model.place_of(DAWNKEEP), column).data(MARK).word == "not selected"
    assert model.result(DAWNKEEP).word == "not selected"
    steps = [step.stage for step in window.trace.funnel_model.rows]
    assert "AI selection" in steps


# ---- providers ------------------------------------------------------------------------------------------------------


@pytest.mark.long
def test_a_live_replay_says_first_what_it_costs(real, tmp_path, qtbot, client) -> None:
    window = real(ai_project(tmp_path))
    before = window.session.runs.trace(Generation(5))
    window.session.replays.choose(source=LOCAL)
    qtbot.waitUntil(lambda: bool(boxes()))
    assert "calls to the provider" in boxes()[0].text()
    decline()
    assert client.asked == []
    assert window.session.runs.trace(Generation(5)) is before
    assert "Chosen now: Two-stage · Provider: Local" in window.trace.summary.said
    window.run("replay.all")
    assert "tokens sent" in agree(qtbot)
    idle(window, qtbot)
    assert client.asked
    assert call_of(window).source == "Local · tiny"


@pytest.mark.long
def test_what_is_recorded_is_not_asked_for_again(real, tmp_path, qtbot, client) -> None:
    window = real(ai_project(tmp_path))
    window.session.replays.choose(source=LOCAL)
    agree(qtbot)
    idle(window, qtbot)
    asked = len(client.asked)
    assert (tmp_path / "chat.answers.jsonl").is_file()
    window.session.set_project(make_project())  # another chat: the runs in memory are forgotten
    idle(window, qtbot)
    window.session.set_project(ai_project(tmp_path))
    idle(window, qtbot)
    assert not boxes()
    assert len(client.asked) == asked
    assert call_of(window).source == "recorded from Local · tiny"
    fresh = window.commands.actions["replay.fresh"]
    assert fresh.isEnabled()
    fresh.trigger()
    agree(qtbot)
    idle(window, qtbot)
    assert len(client.asked) == 2 * asked
    window.run("mode.keywords-only")
    idle(window, qtbot)
    assert not fresh.isEnabled(), "nobody is asked"


@pytest.mark.long
def test_answers_recorded_in_between_are_found(real, tmp_path, qtbot, client) -> None:
    window = real(ai_project(tmp_path))
    window.run("answers.recorded")
    idle(window, qtbot)
    assert "no answer to this request" in window.trace.summary.said
    window.session.replays.choose(source=LOCAL)
    agree(qtbot)
    idle(window, qtbot)
    window.run("answers.recorded")
    idle(window, qtbot)
    assert not any(note.tone == "error" for note in window.trace.summary.notes)
    assert call_of(window).source == "recorded from Local · tiny"


@pytest.mark.long
def test_a_profile_that_was_changed_is_asked_as_it_is_now(real, tmp_path, qtbot, client, connections) -> None:
    window = real(ai_project(tmp_path))
    window.session.replays.choose(source=LOCAL)
    agree(qtbot)
    idle(window, qtbot)
    asked = len(client.asked)
    connections.save(ProfileFile((Profile("Local", url="http://127.0.0.1:11434/v1", model="other"),)))
    window.session.providers.load()
    idle(window, qtbot)
    window.run("replay.all")
    agree(qtbot)
    idle(window, qtbot)
    assert len(client.asked) == 2 * asked
    assert {request.model for request in client.asked[asked:]} == {"other"}


@pytest.mark.long
def test_a_start_with_a_provider_asks_nobody_by_itself(real, tmp_path, qtbot, client) -> None:
    first = real(ai_project(tmp_path))
    first.session.replays.choose(source=LOCAL)
    qtbot.waitUntil(lambda: bool(boxes()))
    decline()
    first.close()
    second = real(ai_project(tmp_path))
    assert not boxes()
    assert client.asked == []
    assert any("begins when you say so" in text for text in second.bars.texts)
    second.chat.choose(2)
    second.run("replay.here")
    agree(qtbot)
    idle(second, qtbot)
    assert set(second.session.runs.traces) == {Generation(2, 0), Generation(2, 1)}


def test_a_profile_that_is_gone_is_named(real, tmp_path, qtbot) -> None:
    window = real(ai_project(tmp_path))
    window.session.replays.choose(source=Source(AnswerKind.PROVIDER, "Gone"))
    idle(window, qtbot)
    assert any("no provider profile called “Gone”" in text for text in window.bars.texts)


@pytest.mark.long
def test_a_failed_stage_is_red_with_its_error_and_the_fallback(real, tmp_path, qtbot, client) -> None:
    window = real(ai_project(tmp_path))
    client.error = failed("529 overloaded", 529, who="Local")
    window.session.replays.choose(source=LOCAL)
    agree(qtbot)
    idle(window, qtbot)
    text = window.trace.summary.said
    assert any(note.tone == "error" for note in window.trace.summary.notes)
    assert text.startswith("AI selection:")
    assert "overloaded" in text
    assert "what the keys match" in text
    assert "Try again in a minute, or choose another profile." in text
    (failure,) = [note for note in window.trace.summary.notes if note.tone == "error"]
    again = next(action for action, title in failure.actions if title == "Ask again")
    model = window.trace.model
    assert model.headerData(model.stage_column("AI selection"), HORIZONTAL, MARK) is BROKEN
    assert any(step.stage == "AI selection" and step.error for step in window.trace.funnel_model.rows)
    window.trace.summary.linkActivated.emit("do:trace.ai")
    assert "half-open" in window.trace.ai.plain
    assert "Taken instead" in window.trace.ai.plain
    client.error = None
    window.trace.summary.linkActivated.emit(f"do:{again}")  # what failed is run again
    agree(qtbot)
    idle(window, qtbot)
    assert not any(note.tone == "error" for note in window.trace.summary.notes)
    assert call_of(window).error == ""


# ---- a run under way ------------------------------------------------------------------------------------------------


@pytest.mark.long
def test_the_trace_fills_while_the_model_is_asked(real, tmp_path, qtbot, client) -> None:
    client.delay = 1.0
    window = real(ai_project(tmp_path))
    window.session.replays.choose(source=LOCAL)
    agree(qtbot)
    qtbot.waitUntil(window.trace.live.isVisible)
    assert window.trace.model.trace.turn.message == 5  # the old trace of the chosen reply stays
    assert window.trace.live.follow.isVisible()
    window.trace.live.follow.click()
    assert window.selection.generation == window.session.replays.live.generation
    qtbot.waitUntil(lambda: window.trace._live != ())
    model, trace = window.trace.model, window.trace.model.trace
    assert [record.name for record in trace.stages][-2:] == ["manifest", "AI selection"]
    column = model.stage_column("AI selection")
    assert model.headerData(column, HORIZONTAL, MARK) is DECIDING
    waiting = list(trace.stages[-1].left)
    assert waiting
    assert model.index(model.place_of(waiting[0]), column).data(MARK) is DECIDING
    assert "waits for Local" in window.trace.live.label.text()
    assert window.trace.live.seconds.text().endswith(" s")
    assert "Under way" in window.trace.summary.text()
    assert "AI selection" in window.chat.strip.label.text()
    window.trace.tabs.setCurrentIndex(1)
    qtbot.waitUntil(lambda: "Running, " in window.trace.funnel_model.rows[-1].why)
    window.trace.tabs.setCurrentIndex(AI)
    qtbot.waitUntil(window.trace.ai.parts.button(REPLY).isEnabled)
    window.trace.ai.parts.button(REPLY).click()
    qtbot.waitUntil(lambda: window.trace.ai.plain.startswith('[{"title"'))
    assert window.trace.ai.plain != client.text  # not all of it yet
    window.trace.ai.parts.button(USER).click()
    assert "<available_lore_entries>" in window.trace.ai.plain
    window.trace.ai.parts.button(OVERVIEW).click()
    assert "Waiting for an answer" in window.trace.ai.plain
    client.delay = 0.0
    idle(window, qtbot)
    assert not window.trace.live.isVisible()
    assert window.session.replays.live is None
    assert window.trace.model.trace.ai_calls[-1].reply == client.text


def test_a_question_under_way_is_cancelled_and_leaves_nothing(real, tmp_path, qtbot, client) -> None:
    client.delay = 30.0
    window = real(ai_project(tmp_path))
    before = dict(window.session.runs.traces)
    window.session.replays.choose(source=LOCAL)
    agree(qtbot)
    qtbot.waitUntil(lambda: bool(client.asked))
    start = time.monotonic()
    window.run("replay.cancel")
    idle(window, qtbot)
    assert time.monotonic() - start < client.delay
    assert client.closed == 1  # the connection was closed
    assert window.session.runs.traces == before
    assert not (tmp_path / "chat.answers.jsonl").exists()
    assert any("stopped" in text for text in window.bars.texts)
    assert window.commands.actions["replay.all"].isEnabled()


def test_closing_the_window_ends_a_question(real, tmp_path, qtbot, client) -> None:
    client.delay = 30.0
    window = real(ai_project(tmp_path))
    window.session.replays.choose(source=LOCAL)
    agree(qtbot)
    qtbot.waitUntil(lambda: bool(client.asked))
    start = time.monotonic()
    window.close()
    assert time.monotonic() - start < client.delay
    assert client.closed == 1
    drain()


@pytest.mark.long
def test_the_window_goes_on_while_a_model_is_asked(real, tmp_path, qtbot, client) -> None:
    client.delay = 0.02
    window = real(ai_project(tmp_path))
    window.run("trace.ai")
    window.trace.ai.parts.button(REPLY).click()
    ticks: list[bool] = []
    window.session.replays.choose(source=LOCAL)
    agree(qtbot)
    timer = QTimer()
    timer.timeout.connect(lambda: ticks.append(window.session.runs.replaying))
    timer.start(5)
    idle(window, qtbot)
    timer.stop()
    assert sum(ticks) > len(client.asked) > 0  # several turns for each question, though each is waited for


# ---- typed answers --------------------------------------------------------------------------------------------------


def question(window, qtbot) -> QuestionDialog:
    qtbot.waitUntil(lambda: window.features.providers.questions.dialog is not None)
    return window.features.providers.questions.dialog


@pytest.mark.always
def test_answers_are_typed_in_a_dialog(real, tmp_path, qtbot) -> None:
    window = real(ai_project(tmp_path))
    window.chat.choose(2)
    window.session.replays.choose(source=Source(AnswerKind.TYPED))
    dialog = question(window, qtbot)
    assert not dialog.give.isEnabled()
    assert "<available_lore_entries>" in dialog.question.request.user
    dialog.suggest.click()
    assert json.loads(dialog.reply.toPlainText()) == json.loads(dialog.question.suggestion)
    assert dialog.problem.text() == "Valid JSON."
    dialog.reply.setPlainText("[{")
    assert "No valid JSON" in dialog.problem.text()
    dialog.reply.setPlainText('["Dawnkeep"]')
    dialog.give.click()
    assert window.features.providers.questions.dialog is None
    while window.session.busy:
        qtbot.waitUntil(lambda: window.features.providers.questions.dialog is not None or not window.session.busy)
        if window.features.providers.questions.dialog is not None:
            window.features.providers.questions.dialog.reject()
            drain()
    idle(window, qtbot)
    calls = [call for trace in window.session.runs.traces.values() for call in trace.ai_calls]
    assert [call.reply for call in calls if not call.error] == ['["Dawnkeep"]']
    assert calls[0].source == "typed by you"
    assert any("nobody typed an answer" in call.error for call in calls)
    assert '\\"Dawnkeep\\"' in (tmp_path / "chat.answers.jsonl").read_text(encoding="utf-8")


def test_stopping_takes_the_question_away(real, tmp_path, qtbot) -> None:
    window = real(ai_project(tmp_path))
    window.session.replays.choose(source=Source(AnswerKind.TYPED))
    dialog = question(window, qtbot)
    assert "Reply #2" in dialog.findChild(QLabel).text()
    qtbot.mouseClick(dialog.stop, Qt.MouseButton.LeftButton)  # the window's own is out of reach behind the dialog
    idle(window, qtbot)
    assert window.features.providers.questions.dialog is None
    assert not [widget for widget in QApplication.topLevelWidgets() if isinstance(widget, QuestionDialog)]


# ---- behaviour ------------------------------------------------------------------------------------------------------


@pytest.mark.long
def test_a_fixed_switch_is_run_and_named_in_the_trace(real, tmp_path, qtbot) -> None:
    window = real(ai_project(tmp_path, manifestSummaryMode="summary_only"))
    entries = window.session.project.index.entries
    summaries = tuple(replace(entry, summary="It flies." if entry.id == SKARN else "") for entry in entries)
    project = window.session.project
    window.session.set_project(replace(project, index=replace(project.index, entries=summaries)))
    idle(window, qtbot)
    assert "Fixed behaviour" not in window.trace.summary.said
    window.run("behaviour.edit")
    (dialog,) = [widget for widget in QApplication.topLevelWidgets() if isinstance(widget, BehaviourDialog)]
    dialog.choose("header_count", fixed=True)
    assert dialog._told.text() == "1 switch fixed"
    dialog.accept()
    idle(window, qtbot)
    assert window.session.project.behaviour.header_count == FIXED
    assert "manifest: the header counts only what is always included" in window.trace.summary.said
    assert window.chat.modes.switches.accessibleName() == "Behaviour switches: 1 switch fixed"
    dialog = window.features.providers.edit_behaviour()
    assert dialog.fixed == ("header_count",)
    dialog.set_all(fixed=True)
    assert len(dialog.fixed) == len(dialog._groups)
    dialog.reject()
    drain()
    assert window.session.choice.fixed == ("header_count",)


# ---- keeping --------------------------------------------------------------------------------------------------------


@pytest.mark.long
def test_runs_are_kept_for_the_next_start(real, tmp_path, qtbot, client) -> None:
    keep = tmp_path / "runs"
    first = real(ai_project(tmp_path), keep_in=keep)
    first.session.replays.choose(source=LOCAL)
    agree(qtbot)
    idle(first, qtbot)
    traces = dict(first.session.runs.traces)
    first.close()
    client.asked.clear()
    (tmp_path / "chat.answers.jsonl").unlink()
    second = real(ai_project(tmp_path), keep_in=keep)
    assert set(second.session.runs.traces) == set(traces)
    assert client.asked == []
    assert call_of(second).reply == client.text
    assert call_of(second).source == "Local · tiny"  # the very run, not a new one


@pytest.mark.long
def test_a_kept_failure_is_shown_and_run_again_on_request(real, tmp_path, qtbot, client) -> None:
    keep = tmp_path / "runs"
    client.error = LlmError(ErrorKind.TIMED_OUT, "Request timed out (20s)")
    first = real(ai_project(tmp_path), keep_in=keep)
    first.session.replays.choose(source=LOCAL)
    agree(qtbot)
    idle(first, qtbot)
    first.close()
    client.error = None
    second = real(ai_project(tmp_path), keep_in=keep)
    assert any(note.tone == "error" for note in second.trace.summary.notes)
    second.run("replay.all")
    agree(qtbot)
    idle(second, qtbot)
    assert not any(note.tone == "error" for note in second.trace.summary.notes)


def test_a_folder_that_cannot_be_used_is_reported_and_the_replay_goes_on(real, tmp_path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("in the way")
    window = real(ai_project(tmp_path), keep_in=blocked / "runs")
    assert len(window.session.runs.traces) == 4
    assert any("could not be kept" in text for text in window.bars.texts)


def test_no_thread_is_left_by_an_answer_source(real, tmp_path, qtbot, client) -> None:
    window = real(ai_project(tmp_path))
    window.session.replays.choose(source=LOCAL)
    agree(qtbot)
    idle(window, qtbot)
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("asyncio")]


@pytest.mark.always
def test_the_provider_of_the_palette_is_the_only_one_or_is_asked_for(real, tmp_path, qtbot) -> None:
    window = real(ai_project(tmp_path))
    window.run("answers.provider")
    assert window.session.choice.source == LOCAL
    qtbot.waitUntil(lambda: bool(boxes()))
    decline()
    assert window.commands.actions["answers.provider"].isChecked()


def test_a_window_without_a_chat_has_modes_too(make_window, tmp_path) -> None:
    window = make_window(make_project(tmp_path, chat=False))
    window.run("mode.ai-only")
    assert window.session.choice.mode is Mode.AI_ONLY
    assert not window.session.busy
