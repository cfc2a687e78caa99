"""Why an entry went in or not: the explanation, its links, its numbers and answers in turn, and what is copied."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import Qt, QUrl
from PySide6.QtGui import QFont, QGuiApplication
from PySide6.QtTest import QTest

from lorestudio.studio.project.project import demo_project
from lorestudio.studio.replay.simulator import Simulator
from lorestudio.ui.features.why_not.pane import WhyView, _linked
from lorestudio.ui.shell.main_window import MainWindow
from tests.ui.conftest import settle
from tests.ui.features.budget.test_pane import tight
from tests.ui.vaults import open_vault, write_vault
from tests.ui.worlds import CROWN, DAWNKEEP, SKARN, make_project


@pytest.fixture
def window(share_window: Callable[..., MainWindow]) -> MainWindow:
    def prepare(window: MainWindow) -> None:
        window.chat.choose(5)
        window.selection.choose_entry(CROWN)
        settle(window)

    return share_window(lambda folder: make_project(folder / "vault"), prepare=prepare)


@pytest.fixture
def pane(window: MainWindow) -> WhyView:
    return window.why


def test_links_lead_to_stages_entries_and_messages(window: MainWindow, pane: WhyView) -> None:
    told: list[int] = []
    pane.message_wanted.disconnect()
    pane.message_wanted.connect(told.append)
    pane.browser.anchorClicked.emit(QUrl("stage:budget"))
    assert (window.selection.entry, window.selection.stage) == (CROWN, "budget")
    pane.browser.anchorClicked.emit(QUrl(f"entry:{SKARN}"))
    assert window.selection.entry == SKARN
    pane.browser.anchorClicked.emit(QUrl("message:4"))
    assert told == [4]
    pane.message_wanted.connect(window.features.trace.go_to_message)


def test_words_of_the_explanation_are_selected_with_the_keyboard(window: MainWindow, pane: WhyView) -> None:
    pane.browser.setFocus()
    for _letter in "“Crown”":
        QTest.keyClick(pane.browser, Qt.Key.Key_Right, Qt.KeyboardModifier.ShiftModifier)
    assert pane.browser.textCursor().selectedText() == "“Crown”"


def test_words_lead_somewhere_where_they_stand_first() -> None:
    links = {"message:1": "message #1", f"entry:{CROWN}": "“A & B”", "message:9": "message #9"}
    assert _linked("“A & B” was in message #12, then in message #1; message #1 is long.", links) == (
        f"<a href='entry:{CROWN}'>“A &amp; B”</a> was in message #12, "
        "then in <a href='message:1'>message #1</a>; message #1 is long."
    )


def test_a_chosen_stage_is_told_unless_it_decided(window: MainWindow, pane: WhyView) -> None:
    assert pane.browser.toPlainText().startswith("“Crown” needs 158 tokens")
    assert "other stages let it pass, or did not look at it." in pane.browser.toPlainText()
    window.selection.choose_entry(CROWN, "keywords")
    assert "Keywords: " in pane.browser.toPlainText()
    window.selection.choose_entry(CROWN, "budget")
    assert "Budget: " not in pane.browser.toPlainText()


def test_what_decided_stands_out_and_a_stage_below_it_does_not(window: MainWindow, pane: WhyView) -> None:
    window.selection.choose_entry(CROWN, "keywords")
    document = pane.browser.document()
    weights = [document.find(words).charFormat().fontWeight() for words in ("needs 158 tokens", "Keywords: ")]
    assert weights == [QFont.Weight.Bold, QFont.Weight.Normal]


@pytest.mark.long
def test_numbers_and_answers_take_turns_with_the_explanation(
    make_window: Callable[..., MainWindow], tmp_path: Path
) -> None:
    window = make_window(tight(tmp_path), make_simulator=Simulator)
    settle(window)
    window.chat.choose(5)
    window.selection.choose_entry(0)
    pane = window.why
    browser, numbers = pane.browser, pane.scores
    shown = []
    for action in ("why.scores", "why.scores", "why.scores", "trace.why_not", "why.scores"):
        window.run(action)
        shown.append((browser.isVisibleTo(pane), numbers.isVisibleTo(pane), pane.answers_button.isChecked()))
        assert pane.focus_target().isVisibleTo(pane)
        settle(window)
    assert shown == [(False, True, False), (True, False, False), (False, True, False), (False, False, True),
                     (False, True, False)]  # fmt: skip
    pane.show_scores(False)
    pane.show_answers(True)
    assert not pane.scores_button.isChecked()
    pane.answers_button.click()
    assert (browser.isVisibleTo(pane), pane.answers_button.isChecked()) == (True, False)


@pytest.mark.always
def test_a_line_of_the_numbers_leads_to_its_entry(make_window: Callable[..., MainWindow], tmp_path: Path) -> None:
    window = make_window(tight(tmp_path), make_simulator=Simulator)
    settle(window)
    window.chat.choose(5)
    window.selection.choose_entry(0)
    window.run("why.scores")
    settle(window)
    tree, model = window.why.scores.tree, window.why.scores.model
    for place, most in ((0, 190), (1, 170)):  # nothing is cut off that would have room
        assert tree.columnWidth(place) >= min(most, tree.sizeHintForColumn(place)) > 40
    before = model.index(0, 0, model.index(0, 0, model.index(1, 0)))  # below the order of matches
    assert (before.data(), model.node(before).item.entry) == ("before", 1)
    tree.setCurrentIndex(before)
    QTest.keyClick(tree, Qt.Key.Key_Return)
    assert window.selection.entry == 1


def test_what_is_shown_is_copied(window: MainWindow, pane: WhyView) -> None:
    told: list[bool] = []
    pane.copied.connect(lambda: told.append(True))
    window.run("copy.why")
    assert "Crown" in QGuiApplication.clipboard().text()
    window.selection.choose_entry(DAWNKEEP)
    window.run("copy.why")
    assert "Dawnkeep" in QGuiApplication.clipboard().text()
    QGuiApplication.clipboard().clear()
    window.selection.choose_entry(None)
    pane.copy()
    assert (QGuiApplication.clipboard().text(), len(told)) == ("", 2)
    assert pane.empty.title.text() == pane.accessibleName() == "Why?"


def test_a_note_that_is_no_entry_and_an_entry_without_a_run(
    make_window: Callable[..., MainWindow], tmp_path: Path
) -> None:
    window = make_window()
    open_vault(window, write_vault(tmp_path / "vault"), tmp_path / "kept")
    pane, project = window.why, window.session.project
    window.selection.choose_entry(0)
    assert pane.empty.title.text() == "No trace to explain yet"
    (note,) = project.index.left_out
    window.selection.choose_left_out(note)
    assert pane.browser.toPlainText() == note.message


@pytest.mark.long
@pytest.mark.parametrize("system", ["deeplore", "context-window"])
def test_where_no_number_decided_that_is_said(make_window: Callable[..., MainWindow], system: str) -> None:
    window = make_window(demo_project(), make_simulator=Simulator)
    settle(window)
    window.run(f"system.{system}")
    settle(window)
    window.chat.show_generation(next(each for each in window.session.generations if each.message == 34))
    entries = {each.title: each.id for each in window.session.project.index.entries}
    window.run("trace.why")
    window.run("why.scores")
    page, told = window.why.scores, []
    for title in ("First Morning", "The Low Lamp", "First Morning"):  # nobody speaks of it; the other is put in order
        window.selection.choose_entry(entries[title])
        settle(window)
        assert page.isVisibleTo(window.why)
        told.append((page.nothing.isVisibleTo(page), page.model.rowCount() == 0, page.tree.isVisibleTo(page)))
        assert page.focus_target().hasFocus()  # the keyboard stays in the pane
    assert told == [(True, True, False), (False, False, True), (True, True, False)]
