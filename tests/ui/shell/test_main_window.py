from __future__ import annotations

import re
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QPointF, Qt, QTimer
from PySide6.QtGui import QColor, QGuiApplication, QImage
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QApplication,
    QDialog,
    QLineEdit,
    QMenu,
    QMessageBox,
    QTextBrowser,
    QTextEdit,
    QWidget,
)

from lorestudio.domain.chat import Generation
from lorestudio.domain.entry import VaultIndex
from lorestudio.domain.records import replace
from lorestudio.domain.resources import resource
from lorestudio.settings.worldinfo import WorldInfoSettings
from lorestudio.trace.model import Phase
from lorestudio.ui.features.budget.pane import BudgetBar
from lorestudio.ui.shell import app as ui_app
from lorestudio.ui.shell.actions import Action, Where
from lorestudio.ui.shell.layout import DEBUG, PANE_ORDER
from lorestudio.ui.shell.qt import ITEM
from lorestudio.ui.shell.shortcuts import ShortcutsDialog
from lorestudio.ui.shell.theme import load_palettes
from lorestudio.ui.shell.words import Notice
from lorestudio.ui.state.replay_worker import TURN_SECONDS
from lorestudio.ui.widgets import dialogs
from lorestudio.ui.widgets.picker import Picker
from tests.ui.conftest import drain, settle
from tests.ui.worlds import BELL, CROWN, DAWNKEEP, ENTRIES, LEFT_OUT, SKARN, FakeSimulator, make_project


@pytest.fixture
def window(share_window):
    """The window on a small project, replayed, which those that only look share."""
    return share_window(lambda folder: make_project(folder / "vault"))


def close_popups(kind: type[QWidget]) -> None:
    for widget in QApplication.topLevelWidgets():
        if isinstance(widget, kind):
            widget.close()
    drain()


def test_a_look_at_what_can_be_done_is_the_one_that_was_asked_for_before(window) -> None:
    due = []
    for follow in (window.context.actions_changed, window.context.update_actions):
        follow()
        due.append(window.context._soon.isActive())
    assert due == [True, False]


def test_the_sign_of_the_program_has_the_accent_of_the_theme(window) -> None:
    seen = window.windowIcon().pixmap(32).toImage()
    assert seen == window.theme.icon("lorestudio", "accent").pixmap(32).toImage()


def test_the_keys_of_a_place_work_in_its_panes(window) -> None:
    for name in ("timeline", "memories", "expectations", "compare", "budget"):
        window.show_pane(name)
    panes = {where: set() for where in Where if where is not Where.WINDOW}
    for name, action in window.commands.table.items():
        holders = [each for each in window.commands.actions[name].associatedObjects() if not isinstance(each, QMenu)]
        for pane, dock in window.docks.items():
            if action.where in panes and any(dock.isAncestorOf(each) for each in holders):
                panes[action.where].add(pane)
    assert panes == {
        Where.VAULT: {"vault"}, Where.CHAT: {"chat"}, Where.EDITOR: {"entry"}, Where.TRACE: {"trace"},
        Where.TIMELINE: {"timeline"}, Where.MEMORIES: {"memories"}, Where.EXPECTATIONS: {"expectations"},
        Where.RUNS: {"chat", "trace", "timeline", "compare", "budget"},
    }  # fmt: skip


# ---- one selection --------------------------------------------------------------------------------------------------


def test_the_last_reply_is_shown_first(window) -> None:
    assert window.selection.generation == Generation(5, 0)
    assert window.chat.view.currentIndex().row() == 5
    assert window.trace.model.trace.turn.message == 5


@pytest.mark.always
def test_closing_the_window_keeps_where_the_project_was_left(make_window, tmp_path) -> None:
    project, left = make_project(tmp_path), []
    for message in (2, 3):
        window = make_window(project, replay=False)
        left.append(window.context.selection.message)
        window.context.selection.choose_message(message, None)
        window.close()
    assert left[1:] == [2] != left[:1]


@pytest.mark.own_window
def test_choosing_a_message_shows_its_trace_everywhere(window) -> None:
    window.chat.view.setCurrentIndex(window.chat.model.index(2))
    assert window.selection.generation == Generation(2, 1)
    assert window.trace.model.trace.turn.message == 2
    assert "Nothing" in window.trace.nothing.title.text()
    assert window.budget.empty.title.text() == "Nothing was injected"


def test_a_message_that_is_no_reply_shows_the_reply_after_it(window) -> None:
    window.chat.choose(3)
    assert (window.selection.message, window.selection.generation) == (3, Generation(5, 0))
    assert "the one after message #3" in window.docks["trace"].bar._note.text()


@pytest.mark.own_window
def test_choosing_an_entry_shows_it_in_every_pane(window) -> None:
    window.vault.tree.setCurrentIndex(window.vault.model.index_of_note(ENTRIES[CROWN]))
    assert window.selection.entry == CROWN
    assert window.entry.heading.text() == "Crown"
    assert window.trace.answers.currentIndex().row() == window.trace.model.place_of(CROWN)
    assert "needs 158 tokens" in window.why.browser.toPlainText()
    assert window.budget.bar.current.title == "Crown"
    assert [(mark.start, mark.end) for mark in window.chat.model.row(4).marks] == [(19, 24)]


def test_a_cell_of_the_answers_chooses_entry_and_stage(window) -> None:
    model = window.trace.model
    window.trace.answers.setCurrentIndex(model.index(model.place_of(BELL), model.stage_column("keywords")))
    assert (window.selection.entry, window.selection.stage) == (BELL, "keywords")
    assert window.vault.tree.currentIndex() == window.vault.model.index_of_note(ENTRIES[BELL])
    assert "the warmup asks for 3" in window.why.browser.toPlainText()
    assert window.entry.heading.text() == "Bell"


def test_a_stage_survives_the_answers_of_the_other_panes(window) -> None:
    window.selection.choose_entry(CROWN, "budget")
    assert (window.selection.entry, window.selection.stage) == (CROWN, "budget")


def test_the_explanation_says_each_thing_once_and_has_the_whole_way(window) -> None:
    window.selection.choose_entry(CROWN, "budget")
    text = window.why.browser.toPlainText()
    assert text.count("“Crown” needs 158 tokens") == 1
    assert "over_budget" not in text
    assert "keywords" in text
    assert "The key “crown” was found" in text
    window.run("copy.why")
    assert "Crown" in QGuiApplication.clipboard().text()


@pytest.mark.own_window
def test_an_entry_that_was_never_matched_is_explained_too(window) -> None:
    window.chat.choose(2)
    window.selection.choose_entry(SKARN)
    assert "None of the keys" in window.why.browser.toPlainText()
    assert window.trace.model.place_of(SKARN) >= 0


def test_back_and_forward(window) -> None:
    for entry in (DAWNKEEP, SKARN, CROWN):
        window.selection.choose_entry(entry)
    window.run("entry.back")
    window.run("entry.back")
    assert window.selection.entry == DAWNKEEP
    assert not window.commands.actions["entry.back"].isEnabled()
    window.run("entry.forward")
    assert window.selection.entry == SKARN


def test_next_and_previous_entry_follow_the_list_as_it_is_shown(window) -> None:
    window.selection.choose_entry(CROWN)
    window.run("entry.next")
    assert window.selection.entry == DAWNKEEP
    window.run("entry.previous")
    window.run("entry.previous")
    assert window.selection.entry == SKARN  # around the end


@pytest.mark.own_window
def test_a_broken_note_is_shown_with_its_reason(window) -> None:
    window.selection.choose_entry(SKARN)
    window.selection.choose_left_out(LEFT_OUT[0])
    settle(window)
    assert window.selection.entry is None
    assert window.entry.heading.text() == "bad.md"
    assert "UTF-8" in window.entry.bar.label.text()
    assert window.entry.source.isReadOnly()


# ---- filter ---------------------------------------------------------------------------------------------------------


def test_the_filter_counts_and_escape_empties_it(window) -> None:
    QTest.keyClicks(window.vault.filter, "skarn")
    window.vault.apply_filter()
    assert window.vault.matches.text() == "1 of 5 entries"
    QTest.keyClick(window.vault.filter, Qt.Key.Key_Escape)
    window.vault.apply_filter()
    assert window.vault.matches.text() == "5 entries"
    assert window.vault.tree.isExpanded(window.vault.model.index(0, 0))


@pytest.mark.own_window
def test_a_filter_without_matches_says_so(window) -> None:
    window.vault.filter.setText("zzz")
    window.vault.apply_filter()
    assert window.vault.empty.isVisible()
    assert window.vault.empty.title.text() == "Nothing found"


# ---- replay ---------------------------------------------------------------------------------------------------------


def test_replay_reports_progress_and_fills_the_chat(make_window, tmp_path, qtbot) -> None:
    window = make_window(make_project(tmp_path), replay=False)
    assert window.session.runs.traces == {}
    assert window.trace.empty.title.text() == "No trace yet"
    seen = []
    window.session.progress.connect(seen.append)
    with qtbot.waitSignal(window.session.traces_changed):
        window.run("replay.all")
        assert window.session.busy
        assert window.chat.strip.isVisible()
        assert not window.commands.actions["replay.all"].isEnabled()
        assert window.commands.actions["replay.cancel"].isEnabled()
    qtbot.waitUntil(lambda: not window.session.busy)
    assert (seen[-1].done, seen[-1].total) == (4, 4)
    assert set(window.session.runs.traces) == {Generation(2, 0), Generation(2, 1), Generation(5, 0), Generation(7, 0)}
    assert window.chat.model.row(5).chip == "3 entries · 100 tokens"
    assert not window.chat.strip.isVisible()
    assert "4 of 4 replies run" in window.status._run.text()


def test_a_replay_can_be_stopped_and_keeps_what_is_done(make_window, tmp_path, qtbot, monkeypatch) -> None:
    monkeypatch.setattr(FakeSimulator, "more", more := threading.Event())
    window = make_window(make_project(tmp_path), replay=False)

    def can() -> set[str]:
        window.update_actions()
        actions = window.commands.actions
        return {name for name in actions if name.startswith("replay.") and actions[name].isEnabled()}

    window.selection.choose_message(None, None)
    assert can() == {"replay.all", "replay.range"}
    window.chat.choose(2)
    assert can() == {"replay.all", "replay.range", "replay.here", "replay.onward"}
    with qtbot.waitSignal(window.session.progress):
        window.run("replay.all")
    assert can() == {"replay.follow", "replay.cancel"}
    window.chat.strip.stop.click()
    assert window.chat.strip.label.text() == "Stopping…"
    more.set()
    qtbot.waitUntil(lambda: not window.session.busy)
    assert can() == {"replay.all", "replay.range", "replay.here", "replay.onward"}
    assert len(window.session.runs.traces) == 1
    assert any("stopped" in text for text in window.bars.texts)


@pytest.mark.long
def test_the_window_answers_while_a_replay_runs(make_window, tmp_path, qtbot, monkeypatch) -> None:
    monkeypatch.setattr(FakeSimulator, "more", more := threading.Event())
    window = make_window(make_project(tmp_path), replay=False)
    window.run("replay.all")
    window.selection.choose_entry(SKARN)
    assert window.session.busy
    assert window.entry.heading.text() == "Skarn"
    more.set()
    qtbot.waitUntil(lambda: not window.session.busy)


def test_a_failing_replay_says_why_and_the_window_lives(make_window, tmp_path, qtbot, monkeypatch) -> None:
    monkeypatch.setattr(FakeSimulator, "fails_at", 3)
    window = make_window(make_project(tmp_path), replay=False)
    window.run("replay.all")
    qtbot.waitUntil(lambda: not window.session.busy)
    assert window.bars.texts == ["the third stage broke"]
    assert "ValueError" in window.bars.details()
    assert len(window.session.runs.traces) == 2
    assert window.commands.actions["replay.all"].isEnabled()


def test_run_to_one_message(make_window, tmp_path, qtbot) -> None:
    window = make_window(make_project(tmp_path), replay=False)
    window.chat.choose(2)
    window.run("replay.here")
    qtbot.waitUntil(lambda: not window.session.busy)
    assert set(window.session.runs.traces) == {Generation(2, 0), Generation(2, 1)}
    assert window.trace.model.trace is not None


def test_walking_through_the_chat(window) -> None:
    window.run("message.first")
    assert window.selection.message == 0
    window.run("message.next")
    assert window.selection.message == 1
    window.run("message.previous")
    window.run("message.previous")
    assert window.selection.message == 0
    window.run("message.last")
    assert window.selection.generation == Generation(7)
    window.run("message.number")
    window.chat.go.setText("#5")
    QTest.keyClick(window.chat.go, Qt.Key.Key_Return)
    assert window.selection.message == 5
    assert window.chat.go.text() == "5"


def test_changed_messages(window) -> None:
    window.chat.choose(0)
    window.run("message.next_change")
    assert window.selection.message == 2
    window.run("message.next_change")
    assert window.selection.message == 5
    window.run("message.next_change")
    assert window.selection.message == 5  # the reply to come injects the same
    window.run("message.previous_change")
    assert window.selection.message == 2


@pytest.mark.own_window
def test_swipes_have_traces_of_their_own(window) -> None:
    window.chat.choose(2)
    window.run("swipe.previous")
    assert window.selection.generation == Generation(2, 0)
    assert window.chat.model.row(2).text == "It fell."
    window.run("swipe.previous")
    assert window.selection.generation == Generation(2, 0)
    window.chat.choose(5)
    window.chat.choose(2)
    assert window.selection.generation == Generation(2, 0)  # the swipe that is looked at stays
    assert not window.commands.actions["swipe.next"].isEnabled() is window.chat.model.swipes(2) > 1


@pytest.mark.own_window
def test_clicks_on_the_swipe_arrows(window, qtbot) -> None:
    window.chat.choose(2)
    drain()
    view = window.chat.view
    rect = view.visualRect(window.chat.model.index(2))
    hits = set()
    for x in range(rect.left(), rect.right(), 4):
        window.chat.model.view_swipe(2, 1)
        QTest.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=QPointF(x, rect.top() + 16).toPoint())
        hits.add(window.chat.model.viewed_swipe(2))
    assert hits == {0, 1}


# ---- reading and saving notes ---------------------------------------------------------------------------------------


def open_source(window, entry: int):
    window.selection.choose_entry(entry)
    window.run("entry.source")
    settle(window)
    assert not window.entry.source.isReadOnly()
    return window.entry


def type_at_end(pane, text: str) -> None:
    cursor = pane.source.textCursor()
    cursor.movePosition(cursor.MoveOperation.End)
    pane.source.setTextCursor(cursor)
    pane.source.insertPlainText(text)


@pytest.mark.own_window
def test_a_save_writes_and_says_that_the_traces_are_older(window) -> None:
    pane = open_source(window, SKARN)
    assert not window.commands.actions["entry.save"].isEnabled()
    type_at_end(pane, "New line.\n")
    assert pane.dirty.isVisible()
    shown = window.vault.model.index_of_note(ENTRIES[SKARN])
    assert "unsaved changes" in shown.data(Qt.ItemDataRole.AccessibleTextRole)
    window.run("entry.save")
    settle(window)
    assert pane.path.read_text(encoding="utf-8").endswith("A dragon.\nNew line.\n")
    assert not pane.dirty.isVisible()
    assert "Skarn.md was saved" in window.trace.summary.said
    assert "Skarn.md was saved" in window.trace.summary.text()  # in place of the sentence, so that nothing moves
    assert window.trace.summary.plain not in window.trace.summary.accessibleDescription()
    assert window.trace.model.trace is not None  # the old trace stays


@pytest.mark.own_window
def test_line_ends_and_odd_spaces_survive_a_save(window) -> None:
    path = window.session.note_path(window.session.entry(SKARN))
    path.write_bytes("---\r\ntags: [lorebook]\r\n---\r\nA\u00a0dragon,\u2028big.\r\n".encode())
    pane = open_source(window, SKARN)
    type_at_end(pane, "End.\n")
    window.run("entry.save")
    settle(window)
    assert path.read_bytes() == "---\r\ntags: [lorebook]\r\n---\r\nA\u00a0dragon,\u2028big.\r\nEnd.\r\n".encode()


def test_undoing_every_change_is_no_change(window) -> None:
    pane = open_source(window, SKARN)
    type_at_end(pane, "x")
    assert window.drafts.all
    pane.source.undo()
    assert not window.drafts.all


@pytest.mark.own_window
def test_looking_elsewhere_keeps_unsaved_text(window) -> None:
    pane = open_source(window, SKARN)
    type_at_end(pane, "kept")
    window.selection.choose_entry(BELL)
    settle(window)
    assert "kept" not in pane.source.toPlainText()
    window.selection.choose_entry(SKARN)
    settle(window)
    assert pane.source.toPlainText().endswith("kept")
    assert pane.dirty.isVisible()


@pytest.mark.own_window
@pytest.mark.parametrize("answer", ["mine", "theirs"])
def test_a_file_that_changed_on_disk_is_not_overwritten_unasked(window, answer: str) -> None:
    pane = open_source(window, SKARN)
    type_at_end(pane, "mine")
    pane.path.write_text("theirs", encoding="utf-8")
    window.run("entry.save")
    settle(window)
    assert pane.path.read_text(encoding="utf-8") == "theirs"
    assert "changed on disk" in pane.bar.label.text()
    assert pane.source.toPlainText().endswith("mine")
    pane.bar.pressed.emit(answer)
    settle(window)
    settle(window)
    saved = pane.path.read_text(encoding="utf-8")
    assert saved.endswith(answer)
    assert pane.source.toPlainText() == saved
    assert not window.drafts.all


@pytest.mark.own_window
def test_a_save_that_fails_keeps_the_text_and_can_be_tried_again(window, monkeypatch) -> None:
    from lorestudio.vault.files import SaveError  # noqa: PLC0415 - raised here only

    def full(*_args: object) -> str:
        raise SaveError("“Skarn.md” was not saved: the disk is full.")

    pane = open_source(window, SKARN)
    type_at_end(pane, "precious")
    real = pane.store.write
    monkeypatch.setattr(pane.store, "write", full)
    window.run("entry.save")
    settle(window)
    assert "the disk is full" in pane.bar.label.text()
    assert "Your text is kept" in pane.bar.label.text()
    assert pane.source.toPlainText().endswith("precious")
    assert window.drafts.all
    monkeypatch.setattr(pane.store, "write", real)
    pane.bar.pressed.emit("again")
    settle(window)
    assert pane.path.read_text(encoding="utf-8").endswith("precious")
    assert not pane.bar.isVisible()


@pytest.mark.always
@pytest.mark.own_window
def test_closing_with_unsaved_text_asks(window, qtbot) -> None:
    pane = open_source(window, SKARN)
    type_at_end(pane, "later")
    window.close()
    assert window.isVisible()
    box = next(widget for widget in QApplication.topLevelWidgets() if isinstance(widget, QMessageBox))
    assert "Skarn.md" in box.informativeText()
    box.button(QMessageBox.StandardButton.Cancel).click()
    drain()
    assert window.isVisible()
    window.close()
    box = next(widget for widget in QApplication.topLevelWidgets() if isinstance(widget, QMessageBox))
    with qtbot.waitSignal(window.closed):
        box.button(QMessageBox.StandardButton.SaveAll).click()
    assert pane.path.read_text(encoding="utf-8").endswith("later")
    drain()


@pytest.mark.own_window
def test_a_file_that_is_gone_is_reported(window) -> None:
    window.selection.choose_entry(SKARN)
    settle(window)
    window.entry.path.unlink()
    window.run("entry.source")
    settle(window)
    assert window.entry.bar.isVisible()
    assert "Skarn.md" in window.entry.bar.label.text()
    assert "A dragon." in window.entry.source.toPlainText()  # what was read is not thrown away


# ---- panes, keyboard, accessibility ---------------------------------------------------------------------------------


@pytest.mark.own_window
def test_f6_goes_round_all_panes(window) -> None:
    window.activateWindow()
    window.show_pane("vault")
    seen = []
    for _ in DEBUG.shown:
        seen.append(window.current_pane().name)
        window.run("view.next_pane")
    assert seen == ["vault", "chat", "entry", "trace", "budget", "problems", "timeline"]
    assert window.current_pane().name == "vault"
    window.run("view.previous_pane")
    assert window.current_pane().name == "timeline"
    assert window.docks["timeline"].bar.property("active") is True


def test_closed_panes_are_left_out_and_come_back_by_number(window) -> None:
    window.docks["chat"].close()
    window.show_pane("vault")
    window.run("view.next_pane")
    assert window.current_pane().name == "entry"
    window.run("pane.chat")
    assert window.docks["chat"].isVisible()
    assert window.current_pane().name == "chat"


def test_single_keys_work_in_the_chat_and_are_text_in_a_field(window, qtbot) -> None:
    window.activateWindow()
    window.show_pane("chat")
    window.chat.choose(5)
    QTest.keyClick(window.chat.view, Qt.Key.Key_K)
    assert window.selection.message == 2
    QTest.keyClick(window.chat.view, Qt.Key.Key_Right)
    assert window.selection.message == 3
    QTest.keyClick(window.chat.view, Qt.Key.Key_G)
    assert QApplication.focusWidget() is window.chat.go
    window.trace.open_search()
    QTest.keyClick(window.trace.filter, Qt.Key.Key_K)
    assert window.trace.filter.text() == "k"
    assert window.selection.message == 3


@pytest.mark.own_window
def test_the_budget_bar_is_worked_by_keys(window) -> None:
    bar = window.budget.bar
    assert isinstance(bar, BudgetBar)
    window.show_pane("budget")
    QTest.keyClick(bar, Qt.Key.Key_Home)
    assert bar.current.title == "Rules"
    QTest.keyClick(bar, Qt.Key.Key_End)
    assert bar.accessibleDescription() == "Crown: 158 tokens, needs 158 more tokens than were free"
    QTest.keyClick(bar, Qt.Key.Key_Return)
    assert window.selection.entry == CROWN


@pytest.mark.own_window
def test_everything_that_takes_the_keyboard_has_a_name(window) -> None:
    kinds = (QAbstractButton, QAbstractItemView, QLineEdit, QTextEdit, BudgetBar)
    for widget in window.findChildren(QWidget):
        inner = widget.objectName().startswith("qt_") or widget.parent().__class__.__name__ in {"QTabBar", "_Filter"}
        if isinstance(widget, kinds) and not inner and widget.focusPolicy() is not Qt.FocusPolicy.NoFocus:
            if isinstance(widget.parent(), QLineEdit):
                continue
            name = widget.accessibleName() or getattr(widget, "text", lambda: "")()
            assert name, f"{widget} in {widget.parent()} has no name"


@pytest.mark.own_window
def test_the_palette_runs_actions_and_the_switcher_finds_entries(window) -> None:
    window.run("go.command")
    picker = next(widget for widget in QApplication.topLevelWidgets() if isinstance(widget, Picker))
    QTest.keyClicks(picker.field, "dark")
    QTest.keyClick(picker.field, Qt.Key.Key_Return)
    assert window.theme.palette.name == "dark"
    window.run("view.theme.light")
    window.run("go.entry")
    pickers = [widget for widget in QApplication.topLevelWidgets() if isinstance(widget, Picker)]
    picker = next(widget for widget in pickers if widget.isVisible())
    QTest.keyClicks(picker.field, "dkp")
    QTest.keyClick(picker.field, Qt.Key.Key_Return)
    assert window.selection.entry == DAWNKEEP
    close_popups(Picker)


def test_every_action_has_a_handler(window) -> None:
    assert all(callable(action.do) for action in window.commands.table.values())
    assert set(window.commands.actions) == set(window.commands.table)


def listed(dialog: ShortcutsDialog) -> list[Action]:
    return [dialog.model.index(row, 0).data(ITEM) for row in range(dialog.model.rowCount())]


def test_the_shortcut_list_has_all_keys_and_is_searched(window) -> None:
    window.run("help.shortcuts")
    dialog = window.features.window.dialog
    keys = {row.id: row.shortcuts for row in listed(dialog)}
    assert all(keys[action.id] == action.shortcuts for action in window.commands.table.values())
    assert keys["view:in the graph: Show all of it"] == ("0",)
    QTest.keyClicks(dialog.search, "f6")
    assert {row.id for row in listed(dialog)} >= {"view.next_pane", "view.previous_pane"}
    assert len(listed(dialog)) < 10
    dialog.search.clear()
    dialog.choose("view:in the graph: Show all of it")
    assert not dialog.field.isEnabled()
    close_popups(QDialog)


@pytest.mark.long
@pytest.mark.parametrize("name", PANE_ORDER)
def test_f1_says_what_each_pane_is_for(window, name: str) -> None:
    window.show_pane(name)
    assert window.current_pane().name == name
    QTest.keyClick(QApplication.focusWidget(), Qt.Key.Key_F1)
    (dialog,) = [each for each in QApplication.topLevelWidgets() if isinstance(each, QDialog) and each.isVisible()]
    pane = window.docks[name].pane
    assert dialog.windowTitle() == pane.title
    assert len(dialog.findChild(QTextBrowser).toPlainText()) > 80
    close_popups(QDialog)


@pytest.mark.own_window
def test_the_page_on_panes_has_every_pane_and_no_other(window) -> None:
    text = resource("docs", "panes.md").read_text(encoding="utf-8")
    assert set(re.findall(r"^## (.+)$", text, re.MULTILINE)) == {dock.pane.title for dock in window.docks.values()}


@pytest.mark.own_window
@pytest.mark.parametrize("name", ["vault", "search", "problems", "links"])
def test_closing_the_pane_with_the_keyboard_gives_it_to_the_chat(window, name: str) -> None:
    window.show_pane(name)
    assert window.current_pane().name == name
    window.docks[name].close()
    drain()
    assert window.current_pane().name == "chat"


@pytest.mark.own_window
def test_a_dialog_gives_the_keyboard_back_to_where_it_was(window, qtbot) -> None:
    for name in ("help.shortcuts", "settings.profiles", "presets.manage", "replay.range"):
        window.show_pane("vault")
        before = QApplication.focusWidget()
        window.run(name)
        qtbot.waitUntil(lambda tree=before: QApplication.focusWidget() not in (None, tree))
        QTest.keyClick(QApplication.focusWidget(), Qt.Key.Key_Escape)
        qtbot.waitUntil(lambda: QApplication.activeModalWidget() is None)
        window.activateWindow()  # what a window manager does when a dialog closes
        drain()
        assert QApplication.focusWidget() is before, name


# ---- layout, theme, states ------------------------------------------------------------------------------------------


@pytest.mark.long
def test_layout_and_theme_are_remembered(make_window, tmp_path) -> None:
    first = make_window(make_project(tmp_path / "vault"))
    first.docks["budget"].close()
    first.run("view.theme.dark")
    first.close()
    second = make_window(make_project(tmp_path / "vault"))
    assert second.docks["budget"].isHidden()
    assert second.settings.value("theme") == "dark"
    second.run("view.reset")
    assert not second.docks["budget"].isHidden()
    second.run("view.theme.light")


@pytest.mark.long
def test_a_layout_of_another_version_is_left_alone(make_window, tmp_path) -> None:
    first = make_window(make_project(tmp_path / "vault"))
    first.docks["budget"].close()
    first.close()
    first.settings.setValue("window/version", 999)
    first.settings.sync()
    second = make_window(make_project(tmp_path / "vault"))
    assert not second.docks["budget"].isHidden()


@pytest.mark.long
@pytest.mark.dressed
@pytest.mark.parametrize(
    ("size", "beside_trace"),
    [
        ((1280, 960), {"problems", "timeline"}),
        ((1280, 800), {"budget", "problems", "timeline"}),
        ((1024, 640), {"budget", "problems", "timeline"}),
    ],
)
def test_a_small_window_stacks_its_panes(make_window, tmp_path, size, beside_trace: set[str]) -> None:
    window = make_window(make_project(tmp_path / "vault"))
    window.resize(*size)
    window.run("view.reset")
    drain()
    stacked = window.tabifiedDockWidgets(window.docks["trace"])
    names = {name for name, dock in window.docks.items() if dock in stacked and not dock.isHidden()}
    assert names == beside_trace
    assert (window.width(), window.height()) == size  # no pane forces the window to be larger


def test_without_a_project_the_window_offers_what_to_do(make_window) -> None:
    window = make_window()
    assert window.welcome.isVisible()
    assert all(dock.isHidden() for dock in window.docks.values())
    assert window.commands.actions["vault.open"].isEnabled()
    assert not window.commands.actions["replay.all"].isEnabled()


def test_a_vault_without_chat_says_what_is_missing(make_window, tmp_path) -> None:
    window = make_window(make_project(tmp_path, chat=False))
    assert window.chat.empty.title.text() == "No chat open"
    assert window.trace.empty.title.text() == "No chat to run"
    assert not window.welcome.isVisible()


def test_problems_of_a_project_are_shown(make_window, tmp_path) -> None:
    window = make_window(replace(make_project(tmp_path), problems=("scan depth was 99, now 20",)))
    assert window.bars.texts == ["scan depth was 99, now 20"]
    window.bars.clear()
    assert not window.bars.isVisible()


@pytest.mark.own_window
def test_notices_replace_their_like_and_stay_few(window) -> None:
    for number in range(5):
        window.say(Notice(f"n{number}"))
    assert window.bars.texts == ["n4", "n3", "n2"]
    window.say(Notice("a", key="k"))
    window.say(Notice("b", key="k"))
    assert window.bars.texts == ["b", "n4", "n3"]


def test_opening_reads_off_the_gui_thread_and_reports_errors(make_window, tmp_path, qtbot) -> None:
    folder = tmp_path / "vault"
    make_project(folder)
    window = make_window()
    window.session.reading.open([folder])
    assert window.session.busy
    assert "Reading vault" in window.status._run.text()
    qtbot.waitUntil(lambda: not window.session.busy)
    assert len(window.session.project.index.entries) == len(ENTRIES)
    window.session.reading.open_chat(tmp_path / "missing.jsonl")
    qtbot.waitUntil(lambda: not window.session.busy)
    assert any("missing.jsonl" in text for text in window.bars.texts)
    assert window.session.project is not None


def test_reload_reads_the_files_again(make_window, tmp_path, qtbot) -> None:
    folder = tmp_path / "vault"
    make_project(folder)
    window = make_window()
    window.session.reading.open([folder])
    qtbot.waitUntil(lambda: not window.session.busy)
    (folder / "New.md").write_text("---\ntags: [lorebook]\nkeys: [new]\n---\nNew.\n", encoding="utf-8")
    window.run("vault.reload")
    qtbot.waitUntil(lambda: not window.session.busy)
    assert "New" in {entry.title for entry in window.session.project.index.entries}


def test_all_stages_are_shown_on_wish(window) -> None:
    before = window.trace.model.columnCount()
    window.trace.all_stages.click()
    assert window.trace.model.columnCount() == 2 + len(window.trace.model.trace.stages)
    assert window.commands.actions["trace.all_stages"].isChecked()
    window.run("trace.all_stages")
    assert window.trace.model.columnCount() == before
    assert not window.commands.actions["trace.all_stages"].isChecked()


@pytest.mark.long
def test_which_phases_are_unfolded_is_remembered(make_window) -> None:
    first = make_window(make_project())
    first.trace.answers.fold_wanted.emit(Phase.GATE)
    again = make_window(make_project())
    assert again.trace.model.unfolded == {Phase.GATE}
    assert not again.commands.actions["trace.all_stages"].isChecked()
    again.run("trace.all_stages")  # some are unfolded, so all are folded first
    assert again.trace.model.unfolded == frozenset()


def test_a_stage_that_is_chosen_elsewhere_is_shown_by_its_phase(window) -> None:
    window.selection.choose_entry(BELL, "folder filter")
    model = window.trace.model
    assert model.phase(window.trace.answers.currentIndex().column()) is Phase.GATE
    window.run("trace.all_stages")
    assert window.trace.answers.currentIndex().column() == model.stage_column("folder filter")
    assert model.stage(model.stage_column("folder filter")).name == "folder filter"


@pytest.mark.own_window
def test_prompt_and_log_are_made_when_looked_at(window) -> None:
    assert window.trace.log.toPlainText() == ""
    window.trace.tabs.setCurrentIndex(2)
    settle(window)
    assert "A dragon." in [row.text for row in window.trace.prompt.model.rows]
    window.trace.tabs.setCurrentIndex(3)
    assert "Crown" in window.trace.log.toPlainText()
    window.run("copy.report")
    assert "| Crown |" in QGuiApplication.clipboard().text()
    window.selection.choose_entry(CROWN)
    window.trace.copy_row()
    assert "| budget |" in QGuiApplication.clipboard().text()


def test_the_file_dialogs_do_not_block(window, monkeypatch) -> None:
    asked = []
    monkeypatch.setattr(dialogs, "choose_file", lambda *args: asked.append(args[1]))
    window.run("vault.open")
    window.run("chat.open")
    assert asked == ["Open the folder with your notes", "Open a chat"]


def test_ten_thousand_characters_and_two_thousand_messages_scroll(make_window, tmp_path, qtbot) -> None:
    from lorestudio.domain.chat import Message  # noqa: PLC0415

    project = make_project(tmp_path)
    text = "Dawnkeep stands upon the hill and looks down at the road. " * 6
    messages = tuple(Message("Ada", text, is_user=number % 2 == 0) for number in range(2000))
    window = make_window(replace(project, chat=replace(project.chat, messages=messages)), replay=False)
    window.chat.choose(1999)
    window.chat.view.repaint()
    window.chat.choose(3)
    window.chat.view.repaint()
    assert window.chat.view.visualRect(window.chat.model.index(3)).height() > 60


# ---- the application ------------------------------------------------------------------------------------------------


@pytest.mark.long
@pytest.mark.parametrize("theme_name", ["light", "dark"])
def test_a_picture_of_the_demo(qapp, tmp_path, theme_name: str) -> None:
    from lorestudio.studio.project.project import demo_project  # noqa: PLC0415 - the only test with the real engine

    target = tmp_path / "window.png"
    coached: list[bool] = []
    ui_app.render_window(
        demo_project(), target, (1024, 640), theme_name,
        then=lambda window: coached.append(window.features.projects.coach.isVisible()),
    )  # fmt: skip
    assert coached == [False]  # whom it would lead through the demo is not there
    picture = QImage(str(target))
    assert (picture.width(), picture.height()) == (1024, 640)
    points = picture.convertToFormat(QImage.Format.Format_RGB32)
    dots = np.frombuffer(points.constBits(), np.uint32).reshape(640, 1024) & 0xFFFFFF
    palette = load_palettes()[theme_name]
    assert (dots[::16, ::16] == QColor(palette.panel).rgb() & 0xFFFFFF).sum() > 400  # panes, not an empty window
    assert (dots == QColor(palette.fill("green")[0]).rgb() & 0xFFFFFF).any()


def test_a_picture_that_cannot_be_written_is_an_error(qapp, tmp_path) -> None:
    with pytest.raises(OSError, match="look at its folder"):
        ui_app.render_window(None, tmp_path / "missing" / "window.png")


def test_unexpected_exceptions_are_shown_and_the_program_goes_on(qapp, tmp_path) -> None:
    seen: list[tuple[list[str], str]] = []
    before = sys.excepthook

    def drip() -> None:
        raise RuntimeError("the tap is dripping")

    def look_and_close() -> None:
        window = next(item for item in QApplication.topLevelWidgets() if isinstance(item, ui_app.MainWindow))
        seen.append((window.context.bars.texts, window.context.bars.details()))
        window.close()
        window.deleteLater()

    QTimer.singleShot(50, drip)
    QTimer.singleShot(150, look_and_close)
    assert ui_app.run(None, settings_file=tmp_path / "w.ini", folder=tmp_path) == 0
    assert sys.excepthook is before
    ((texts, details),) = seen
    assert len(texts) == 1
    assert texts[0].startswith("Something went wrong inside the program: the tap is dripping.")
    assert "RuntimeError" in details
    drain()


def test_an_open_window_waits_only_shortly_for_threads_that_compute(qapp, tmp_path) -> None:
    """It does so at nearly every call of Qt."""
    waits: list[float] = []
    before = sys.getswitchinterval()

    def close() -> None:
        waits.append(sys.getswitchinterval())
        window = next(item for item in QApplication.topLevelWidgets() if isinstance(item, ui_app.MainWindow))
        window.close()
        window.deleteLater()

    QTimer.singleShot(50, close)
    assert ui_app.run(None, settings_file=tmp_path / "w.ini", folder=tmp_path) == 0
    assert (waits, sys.getswitchinterval()) == ([pytest.approx(TURN_SECONDS)], pytest.approx(before))
    drain()


def test_run_ends_when_the_window_is_closed(qapp, tmp_path, monkeypatch) -> None:
    shown: list[QWidget] = []

    def close() -> None:
        shown.extend(widget for widget in QApplication.topLevelWidgets() if isinstance(widget, ui_app.MainWindow))
        shown[0].close()

    QTimer.singleShot(100, close)
    assert ui_app.run(make_project(tmp_path / "vault"), settings_file=tmp_path / "w.ini", folder=tmp_path) == 0
    assert (tmp_path / "w.ini").is_file()
    for widget in shown:
        widget.deleteLater()
    shown.clear()
    drain()


def test_a_window_whose_settings_cannot_be_written_opens_and_says_so(qapp, tmp_path, monkeypatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "file"))
    texts: list[str] = []

    def look_and_close() -> None:
        (window,) = [each for each in QApplication.topLevelWidgets() if isinstance(each, ui_app.MainWindow)]
        texts.extend(window.context.bars.texts)
        window.close()
        window.deleteLater()

    QTimer.singleShot(50, look_and_close)
    assert ui_app.run(None, folder=tmp_path) == 0
    assert [text.partition(":")[0] for text in texts] == ["What the window remembers is lost when it closes"]
    assert str(tmp_path / "file" / "lorestudio" / "window.ini") in texts[0]
    drain()


def test_settings_that_a_command_brings_take_the_place_of_ones_own_and_that_is_said(qapp, tmp_path) -> None:
    kept = tmp_path / "systems" / "world-info.json"
    kept.parent.mkdir()
    kept.write_text('{"world_info_depth": 9}')
    found: list[object] = []

    def look() -> None:
        windows = [widget for widget in QApplication.topLevelWidgets() if isinstance(widget, ui_app.MainWindow)]
        if not (windows and windows[0].isVisible() and windows[0].session.jobs.idle and not windows[0].session.busy):
            return
        looking.stop()
        window, known = windows[0], windows[0].session.choices.systems
        try:
            found.extend((window.welcome.isVisible(), window.context.bars.texts, known["world-info"].depth))
            window.context.run("adjust.undo")
            found.append(known["world-info"].depth)
        finally:
            window.close()
            window.deleteLater()

    looking = QTimer(interval=50)
    looking.timeout.connect(look)
    looking.start()
    systems = {"world-info": WorldInfoSettings(depth=7)}
    project = make_project(tmp_path / "vault")
    assert ui_app.run(project, settings_file=tmp_path / "w.ini", folder=tmp_path, systems=systems) == 0
    drain()
    start, texts, *depths = found
    assert start is False
    assert ["settings of World Info are SillyTavern's from now on" in text for text in texts] == [True]
    assert depths == [7, 9]


@pytest.mark.parametrize("failing", ["replays", "feature"])
def test_a_window_that_cannot_end_its_work_ends_the_program_all_the_same(
    qapp, tmp_path, monkeypatch, failing: str
) -> None:
    shown: list[ui_app.MainWindow] = []
    told: list[str] = []

    def fail() -> None:
        raise RuntimeError("the disk is full")

    def close() -> None:
        window = next(each for each in QApplication.topLevelWidgets() if isinstance(each, ui_app.MainWindow))
        shown.append(window)
        if failing == "replays":
            monkeypatch.setattr(window.session.replays, "close", fail)
        else:
            monkeypatch.setattr(next(iter(window.features)), "stop", fail)
        window.context.closed.connect(lambda: told.append("closed"))
        window.close()

    QTimer.singleShot(100, close)
    assert ui_app.run(None, settings_file=tmp_path / "w.ini", folder=tmp_path) == 0
    assert told == ["closed"]
    assert shown[0].session.jobs.idle
    assert any("the disk is full" in text for text in shown[0].context.bars.texts)
    monkeypatch.undo()
    shown.pop().deleteLater()
    drain()


def test_a_window_that_is_closed_at_once_ends_the_program(qapp, tmp_path, monkeypatch) -> None:
    real = ui_app.MainWindow.show
    shown: list[QWidget] = []

    def show_and_close(window: QWidget) -> None:
        real(window)
        shown.append(window)
        window.close()  # before the loop has run

    monkeypatch.setattr(ui_app.MainWindow, "show", show_and_close)
    assert ui_app.run(None, settings_file=tmp_path / "w.ini", folder=tmp_path) == 0
    shown.pop().deleteLater()
    drain()


def test_the_index_may_be_empty(make_window) -> None:
    project = make_project()
    window = make_window(replace(project, index=VaultIndex(vaults=("vault",)), vault_folders=(Path("/nowhere"),)))
    assert window.vault.empty.title.text() == "No entries"
    assert window.selection.entry is None


@pytest.mark.own_window
def test_news_in_the_status_line_never_stand_over_the_counts(window) -> None:
    status = window.status
    window.hide()  # as at the start, when a run ends before the window is shown
    status.flash("Five replies were run.")
    window.show()
    QApplication.processEvents()
    counts = (status._vault, status._limits)
    assert not any(label.isVisible() for label in counts)
    status.clearMessage()
    QApplication.processEvents()
    assert all(label.isVisible() for label in counts)
