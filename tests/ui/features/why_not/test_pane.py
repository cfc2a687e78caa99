"""What later stages would have done, and what would bring an entry in: found, shown and applied in the real window.

The bars of similarity in the Why pane.
"""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from lorestudio.domain.chat import Generation
from lorestudio.domain.records import replace
from lorestudio.domain.resources import resource
from lorestudio.settings.hybrid import HybridSettings
from lorestudio.studio.project.project import demo_project, open_project
from lorestudio.studio.replay.simulator import Simulator
from lorestudio.studio.tryout.preview import HeldRuns
from lorestudio.studio.tryout.why_not import Holds
from lorestudio.trace.held_run import WouldState
from lorestudio.trace.journey import PHASES
from lorestudio.trace.scores import Similarities, Similarity
from lorestudio.ui.features.why_not.pane import SimilarityTable
from lorestudio.ui.shell.qt import ACCESSIBLE_TEXT, DISPLAY, LOOK, MARK, TOOLTIP, VERTICAL
from tests.ui.conftest import drain, settle
from tests.ui.drawing import at_the_right
from tests.ui.worlds import ENTRIES, RULES, SKARN, make_project


@pytest.fixture
def open_demo(make_window, tmp_path):
    """The beginning of the demo on files of the test's own, replayed by the engine."""

    def opened(messages=12):
        vault = tmp_path / "vault"
        shutil.copytree(resource("demo", "vault"), vault)
        builtin = demo_project()
        project = open_project([vault], builtin.chat_path, builtin.settings_path, builtin.seed)
        chat = replace(project.chat, messages=project.chat.messages[:messages])
        made = make_window(make_simulator=Simulator)
        made.features.vault.keep_in(tmp_path / "kept")
        made.session.set_project(replace(project, settings=builtin.settings, chat=chat))
        settle(made)
        return made

    return opened


@pytest.fixture
def window(open_demo):
    return open_demo()


def look_at(window, message, title) -> int:
    window.chat.choose(message)
    entries = window.session.project.index.entries
    entry = next(each.id for each in entries if each.title == title)
    window.selection.choose_entry(entry)
    settle(window)
    return entry


def find(window):
    window.run("trace.why_not")
    settle(window)
    return window.features.why_not.search.found


def apply(window, code) -> None:
    row = next(row for row in window.features.why_not.page.rows if row.answer.change.code == code)
    QTest.mouseClick(row.button, Qt.MouseButton.LeftButton)
    settle(window)


def said_of(window, title) -> str:
    """What became of the entry, and what the last change did to it, as its row says."""
    model = window.trace.model
    row = next(row for row in range(model.rowCount()) if model.headerData(row, VERTICAL) == title)
    return model.headerData(row, VERTICAL, ACCESSIBLE_TEXT).removeprefix(f"{title}: ")


def injected(window, message) -> list[str]:
    return [each.title for each in window.session.runs.trace(window.session.shown(message)).injections]


@pytest.mark.long
def test_the_cells_behind_the_stop_are_those_of_the_held_run(window) -> None:
    entry = look_at(window, 8, "Storm Glass")
    model = window.trace.model
    session = window.session
    would = HeldRuns(session.runs.simulator(Generation(8)), Generation(8)).of(entry)

    model.unfold(frozenset(PHASES))
    hollow = {}
    for column in range(2, model.columnCount()):
        index = model.index(model.place_of(entry), column)
        if index.data(MARK).hollow:
            hollow[model.stage(column).name] = index.data(MARK).word
            assert would.at(model.stage(column).name).sentence in index.data(TOOLTIP)

    assert hollow.keys() == {cell.stage for cell in would.cells}
    assert hollow["budget"] == "would be cut"
    assert would.at("budget").state is WouldState.STOP
    assert "It would also be cut by the budget: needs" in window.why.browser.toPlainText()


@pytest.mark.long
def test_other_rows_in_sight_are_asked_about_in_the_background(window) -> None:
    look_at(window, 11, "The Brume")
    model = window.trace.model
    rows = [row for row in range(model.rowCount()) if model.result(model.entry(row)).word == "gated out"]
    assert rows
    for row in rows:
        window.trace.answers.scrollTo(model.index(row, 1))
        settle(window)
        cells = [model.index(row, column).data(MARK) for column in range(2, model.columnCount())]
        assert any(mark.hollow for mark in cells)


@pytest.mark.long
def test_a_setting_that_helps_is_found_applied_and_taken_back(window) -> None:
    look_at(window, 11, "Court of Weather")
    before = injected(window, 11)
    assert "Court of Weather" not in before

    found = find(window)
    assert found.complete
    assert "3 changes bring “Court of Weather” in" in window.features.why_not.page.summary.text()
    apply(window, "token_budget")

    assert "Court of Weather" in injected(window, 11)
    answer = next(each for each in found.answers if each.change.code == "token_budget")
    assert window.session.project.settings.max_tokens_budget == answer.change.settings["max_tokens_budget"]
    assert said_of(window, "Court of Weather") == "injected, + came in"
    window.run("adjust.undo")
    assert window.status.currentMessage().startswith("Taken back: ")
    settle(window)
    assert injected(window, 11) == before
    assert said_of(window, "Court of Weather") == "cut, − left"  # what is said is true after undoing, too


@pytest.mark.long
def test_applying_leaves_the_keyboard_with_the_answer(window) -> None:
    """The button is gone by then; what is typed next must not end in the note's keys."""
    window.activateWindow()
    look_at(window, 11, "Court of Weather")
    found = find(window)
    place = next(place for place, each in enumerate(found.answers) if each.change.code == "token_budget")
    window.features.why_not.page.rows[place].button.setFocus()
    QTest.keyClick(window.features.why_not.page.rows[place].button, Qt.Key.Key_Space)
    settle(window)
    assert "Court of Weather" in injected(window, 11)
    assert QApplication.focusWidget() is window.why.browser


@pytest.mark.long
def test_a_note_that_helps_is_written_through_the_change_log(window, tmp_path) -> None:
    path = tmp_path / "vault" / "places" / "Court of Weather.md"
    text = path.read_bytes()
    look_at(window, 11, "Court of Weather")
    find(window)

    apply(window, "priority")

    assert b"priority: 39" in path.read_bytes()
    assert "Court of Weather" in injected(window, 11)
    assert window.features.vault.work.undo_title.startswith("Give “Court of Weather” a higher priority")
    assert said_of(window, "Court of Weather").endswith("+ came in")
    window.run("vault.undo")
    settle(window)
    assert path.read_bytes() == text
    assert "Court of Weather" not in injected(window, 11)


@pytest.mark.long
def test_a_choice_for_the_chat_is_applied_as_one_step(open_demo) -> None:
    window = open_demo(41)
    look_at(window, 40, "Hat Wasps")
    find(window)
    apply(window, "unblock")

    assert window.session.project.controls.blocks == ()
    assert window.session.parts.adjustments.undo_title == "Remove “Hat Wasps” from the chat's blocks"
    assert "Hat Wasps" in injected(window, 40)


@pytest.mark.long
def test_a_change_that_is_not_enough_is_a_first_step(window) -> None:
    look_at(window, 8, "Storm Glass")
    find(window)
    page = window.features.why_not.page
    button = next(each for each in page.first_steps if "Remove the refine keys" in each.accessibleName())
    QTest.mouseClick(button, Qt.MouseButton.LeftButton)
    settle(window)

    assert said_of(window, "Storm Glass") == "cut, was: refused"
    assert window.features.why_not.search.found.fate.reason == "behind_cut"
    apply(window, "priority")
    assert "Storm Glass" in injected(window, 8)


@pytest.mark.long
def test_what_keeps_an_entry_out(window) -> None:
    look_at(window, 8, "The Long Flood")
    assert window.why.answers_button.text() == "What would keep it out?"
    found = find(window)
    assert found.keeps_out
    apply(window, "block")
    assert "The Long Flood" not in injected(window, 8)
    assert said_of(window, "The Long Flood").endswith("− left")


@pytest.mark.long
def test_a_note_that_is_no_entry_says_what_makes_it_one(open_demo) -> None:
    window = open_demo(45)
    note = next(each for each in window.session.project.index.left_out if each.filename.startswith("The Ending"))
    window.chat.choose(44)
    window.selection.choose_left_out(note)
    settle(window)
    assert note.message in window.why.browser.toPlainText()
    found = find(window)
    (answer,) = found.answers
    assert answer.holds is Holds.BOTH
    apply(window, "enable")
    assert "The Ending (do not read aloud)" in injected(window, 44)


@pytest.mark.long
def test_the_answers_are_read_aloud_and_reached_with_the_keyboard(window) -> None:
    look_at(window, 11, "Court of Weather")
    find(window)
    rows = window.features.why_not.page.rows
    assert rows[0].button.hasFocus()
    assert rows[0].button.accessibleName() == f"Apply: {rows[0].answer.change.title}"
    assert "Wreck of the Patient Margaret" in rows[0].button.accessibleDescription()
    QTest.keyClick(rows[0].button, Qt.Key.Key_Tab)
    assert rows[1].button.hasFocus()


@pytest.mark.long
def test_the_keyboard_stays_where_it_is_when_a_search_ends(window) -> None:
    look_at(window, 11, "Court of Weather")
    window.run("trace.why_not")
    QApplication.processEvents()  # the page gets the keyboard
    assert window.features.why_not.page.area.hasFocus()
    window.chat.view.setFocus()
    settle(window)
    assert window.features.why_not.search.found.complete
    assert window.chat.view.hasFocus()


@pytest.mark.long
def test_another_entry_ends_the_search_and_each_keeps_its_answers(window) -> None:
    first = look_at(window, 11, "Court of Weather")
    window.run("trace.why_not")
    other = next(each.id for each in window.session.project.index.entries if each.title == "Ysolde Marrack")
    window.selection.choose_entry(other)
    assert not window.features.why_not.search.running
    settle(window)
    assert window.features.why_not.search.found is None
    assert find(window).title == "Ysolde Marrack"
    window.selection.choose_entry(first)
    settle(window)
    assert find(window).title == "Court of Weather"
    window.selection.choose_entry(other)
    assert window.features.why_not.search.found.complete


@pytest.mark.long
def test_a_search_can_be_stopped(window) -> None:
    look_at(window, 8, "The Stair")
    window.run("trace.why_not")
    window.features.why_not.search.stop()
    settle(window)
    found = window.features.why_not.search.found
    assert found is None or not found.complete
    assert not window.features.why_not.page.progress.isVisible()


def test_without_a_run_the_page_says_what_to_do(make_window, tmp_path) -> None:
    vault = tmp_path / "vault"
    shutil.copytree(resource("demo", "vault"), vault)
    made = make_window(replay=False, make_simulator=Simulator)
    project = open_project([vault], demo_project().chat_path)
    made.session.set_project(project)
    settle(made)
    made.chat.choose(8)
    made.selection.choose_entry(0)
    made.run("trace.why_not")
    assert "Run this reply first" in made.features.why_not.page.summary.text()


@pytest.mark.long
def test_rows_in_sight_offer_what_was_tried_and_one_click_does_it(window) -> None:
    """Of each row that stayed out, once nothing else is to be done; the offer that is made holds."""
    entry = look_at(window, 11, "Court of Weather")
    fixes, model, view = window.features.why_not.fixes, window.trace.model, window.trace.answers
    fixes._go_on()  # without the rest that a person is given
    settle(window)
    answer = fixes.of(model.trace, entry)
    assert answer is not None
    assert answer.holds is Holds.BOTH
    row = model.place_of(entry)
    view.scrollTo(model.index(row, 0))
    QTest.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=view.button(row).center())
    settle(window)
    assert "Court of Weather" in injected(window, 11)
    assert "+ came in" in said_of(window, "Court of Weather")
    assert not fixes.of(model.trace, entry)


if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pytestqt.qtbot import QtBot

    from lorestudio.ui.shell.main_window import MainWindow
    from lorestudio.ui.shell.theme import Theme

SCORE, RESULT = 2, 3
"""Columns of the table of similarities."""


@pytest.fixture
def hybrid(make_window: Callable[..., MainWindow], tmp_path: Path, qtbot: QtBot) -> MainWindow:
    """The small project, run with hybrid retrieval that takes only the most similar entry."""
    entries = tuple(replace(entry, content_hash=entry.title) for entry in ENTRIES)
    window = make_window(make_project(tmp_path / "vault", entries=entries), make_simulator=Simulator)
    window.features.systems.configure("hybrid", HybridSettings(limit=1, semantic_threshold=-1.0))
    window.run("system.hybrid")
    qtbot.waitUntil(lambda: not window.session.busy and window.session.jobs.idle)
    drain()
    return window


@pytest.mark.always
def test_every_scored_candidate_has_a_bar(hybrid: MainWindow) -> None:
    hybrid.chat.show_generation(Generation(5))
    hybrid.selection.choose_entry(SKARN)
    hybrid.why.show_scores(True)
    page = hybrid.why.similarity
    assert hybrid.why._pages.currentWidget() is page
    found = page.model.found
    assert found is not None
    assert {each.title for each in found.entries} == {"Skarn", "Dawnkeep", "Crown"}  # their keys occur
    assert sum(each.taken for each in found.entries) == 1
    scores = [float(str(page.model.index(row, SCORE).data(DISPLAY))) for row in range(page.model.rowCount())]
    assert scores == sorted(scores, reverse=True)
    assert page.model.index(0, RESULT).data(DISPLAY) == "Taken"
    assert "threshold -1" in str(page.model.index(0, SCORE).data(ACCESSIBLE_TEXT))
    assert page.view.currentIndex().row() == page.model.place_of(SKARN)
    assert hybrid.why.focus_target() is page.view


def test_a_row_chooses_its_entry_and_other_systems_show_their_own_numbers(hybrid: MainWindow, qtbot: QtBot) -> None:
    hybrid.chat.show_generation(Generation(5))
    hybrid.selection.choose_entry(RULES)  # a constant has no similarity
    hybrid.why.show_scores(True)
    page = hybrid.why.similarity
    assert not page.view.currentIndex().isValid()
    page.view.selectRow(1)
    assert hybrid.selection.entry == page.model.found.entries[1].entry  # type: ignore[union-attr]  # shown above
    hybrid.run("system.world-info")
    qtbot.waitUntil(lambda: not hybrid.session.busy and hybrid.session.jobs.idle)
    drain()
    assert hybrid.why._pages.currentWidget() is hybrid.why.scores


def test_the_threshold_is_drawn_through_all_rows(hybrid: MainWindow, theme: Theme) -> None:
    hybrid.chat.show_generation(Generation(5))
    hybrid.selection.choose_entry(SKARN)
    hybrid.why.show_scores(True)
    drain()
    view = hybrid.why.similarity.view
    image = view.viewport().grab().toImage()
    fills = {image.pixelColor(x, y).name() for x in range(0, image.width(), 2) for y in range(0, image.height(), 2)}
    assert theme.fill("green")[0].name() in fills  # the one that was taken
    assert theme.fill("grey")[0].name() in fills  # those that were not


# ---- similarities alone ---------------------------------------------------------------------------------------------

BARS = Similarities(0.5, (
    Similarity(1, "Skarn", 0.75, 1, True, "Taken"), Similarity(2, "Bell", 0.25, 2, False, "Below the threshold"),
    Similarity(3, "Crown", -0.25, 3, False, "Below the threshold"),
))  # fmt: skip


def test_bars_of_similarities_begin_at_nothing_and_are_to_scale(qapp: object) -> None:
    table = SimilarityTable()
    assert table.rowCount() == 0
    table.set_similarities(BARS)
    looks = [table.index(row, SCORE).data(LOOK) for row in range(3)]
    told, bars = zip(*(look.strips[0].left for look in looks), strict=True)
    assert [(each.text, each.right, each.width) for each in told] == [
        (score, True, 46) for score in ("0.750", "0.250", "-0.250")
    ]  # fmt: skip
    # from -0.25 to 1 there are five quarters
    assert [bar.parts for bar in bars] == [((0.2, 0.8, "green"),), ((0.2, 0.4, "grey"),), ((0.0, 0.2, "grey"),)]
    assert {bar.line for bar in bars} == {0.6}
    assert at_the_right(table) == [0]
    assert table.index(1, 0).data(ACCESSIBLE_TEXT) == (
        "Bell: similarity 0.250, threshold 0.5, number 2: Below the threshold"
    )
    table.set_similarities(None)
    assert (table.rowCount(), table._bar(BARS.entries[0])) == (0, None)


def test_a_scale_reaches_as_far_as_the_threshold(qapp: object) -> None:
    table = SimilarityTable()
    table.set_similarities(replace(BARS, threshold=2.0, entries=BARS.entries[:2]))
    bar = table.index(0, SCORE).data(LOOK).strips[0].left[1]
    assert (bar.parts, bar.line) == (((0.0, 0.375, "green"),), 1.0)


@pytest.mark.always
def test_the_button_keeps_its_words_where_the_icons_have_no_room_beside_it(window: MainWindow) -> None:
    why, button = window.why, window.why.answers_button
    window.selection.choose_entry(SKARN)
    settle(window)
    why.setFixedWidth(button.sizeHint().width() + 40)
    drain()
    assert button.width() >= button.sizeHint().width()
    assert why.scores_button.mapTo(why, QPoint()).y() > button.mapTo(why, QPoint()).y()
