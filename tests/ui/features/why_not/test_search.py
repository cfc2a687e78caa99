"""The search for what would bring a note in: when it can be made, how far it is, what ends it, and what cannot be."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel, QPushButton

from lorestudio.domain.chat import Generation
from lorestudio.domain.entry import Entry
from lorestudio.domain.lifecycle import Cancelled, CancelToken
from lorestudio.domain.records import replace
from lorestudio.studio.replay.simulator import Simulator
from lorestudio.studio.tryout.why_not import WhyNotFinder
from lorestudio.systems.ideas import Change, NoteEdit
from lorestudio.ui.features.why_not.search import KEPT, RowWork
from lorestudio.ui.shell.qt import ACCESSIBLE_TEXT, MARK
from lorestudio.ui.state.selection import Selection
from lorestudio.ui.widgets.rows import passing_menu
from tests.ui.conftest import drain, menu_of_row, settle, titles_of
from tests.ui.features.tuning.test_scores import project_of
from tests.ui.vaults import choose
from tests.ui.worlds import BELL, CROWN, RULES, SKARN, make_project

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from pytestqt.qtbot import QtBot

    from lorestudio.trace.model import Trace
    from lorestudio.ui.features.why_not.page import WhyNotPage
    from lorestudio.ui.features.why_not.search import WhyNotSearch
    from lorestudio.ui.shell.main_window import MainWindow
    from lorestudio.ui.state.session import Session

LAST = Generation(6)


@pytest.fixture
def window(share_window: Callable[..., MainWindow]) -> MainWindow:
    def prepare(window: MainWindow) -> None:
        window.chat.show_generation(LAST)
        choose(window, "Bell.md")
        settle(window)

    return share_window(project_of, prepare=prepare, make_simulator=Simulator)


@pytest.fixture
def search(window: MainWindow) -> WhyNotSearch:
    return window.features.why_not.search


@pytest.fixture
def page(window: MainWindow) -> WhyNotPage:
    return window.features.why_not.page


def find(window: MainWindow) -> None:
    window.run("trace.why_not")
    settle(window)


def test_why_nothing_can_be_searched(window: MainWindow, search: WhyNotSearch, page: WhyNotPage) -> None:
    asks = window.commands.actions["trace.why_not"]
    assert search.obstacle == ""
    assert page.summary.text() == "Press Y, or the button above, to try changes with the engine."
    assert asks.isEnabled()
    window.selection.choose_message(None, None)
    drain()
    assert (search.obstacle, asks.isEnabled()) == ("Choose a message of the chat first.", False)
    assert page.summary.text() == search.obstacle
    window.selection.choose_entry(None)
    drain()
    assert search.obstacle == "Choose an entry first."
    assert not window.why.answers_button.isVisibleTo(window.why)
    search.begin()
    assert not search.running


def test_another_row_is_explained_first_and_the_button_searches_for_it(window: MainWindow, page: WhyNotPage) -> None:
    """The page stayed, empty but for a word on what to press, and the explanation was two clicks away."""
    button, first = window.why.answers_button, window.selection.entry
    find(window)
    choose(window, "Skarn.md")
    assert (window.why.browser.isVisibleTo(window.why), button.isChecked()) == (True, False)
    window.selection.choose_entry(first)
    button.click()
    settle(window)
    choose(window, "Skarn.md")
    button.click()
    settle(window)
    assert button.isChecked()
    assert page.rows
    button.click()
    assert not page.isVisibleTo(window.why), "what was searched is left"


def test_the_menu_of_a_row_finds_what_would_bring_it_in(window: MainWindow) -> None:
    menu = menu_of_row(window.trace.answers, window.trace.answers.currentIndex())
    assert titles_of(menu)[:2] == ["What would bring it in, or keep it out?", "Open the chosen entry"]
    menu.close()
    drain()


def test_a_menu_names_a_key_only_where_it_works(window: MainWindow) -> None:
    """The key of the chat and the answers does nothing in the list of problems, whose rows offer the same."""
    made = window.commands.actions["trace.why_not"]
    for view, works in ((window.docks["problems"].pane.tree, False), (window.trace.answers, True)):
        menu = passing_menu(view)
        menu.addActions([made, window.commands.actions["go.graph"]])  # the latter's works everywhere
        menu.popup(QPoint())
        assert [each.isShortcutVisibleInContextMenu() for each in menu.actions()] == [works, True]
        menu.close()
    drain()


def test_while_the_chat_is_replayed_a_search_says_so_and_waits(
    window: MainWindow, search: WhyNotSearch, page: WhyNotPage, qtbot: QtBot
) -> None:
    window.run("replay.all")
    qtbot.waitUntil(lambda: window.session.runs.replaying)
    window.run("trace.why_not")
    assert page.summary.text() == "The chat is being replayed; what would help can be searched when that is done."
    assert not search.running
    settle(window)
    assert search.obstacle == ""


@pytest.mark.own_window
def test_what_is_shown_with_unsaved_text_is_not_searched(window: MainWindow, search: WhyNotSearch) -> None:
    window.preview.try_settings(window.session.project.settings.model_copy(update={"scan_depth": 5}))
    settle(window)
    assert search.obstacle.startswith("What is shown has unsaved text in it.")
    window.session.runs.toggle_preview()
    assert search.obstacle == ""
    window.session.runs.toggle_preview()
    window.preview.try_settings(None)
    settle(window)


@pytest.mark.own_window
def test_how_far_it_is_and_that_it_was_stopped(window: MainWindow, search: WhyNotSearch, page: WhyNotPage) -> None:
    seen: list[tuple[str, int, int]] = []
    said: list[str] = []

    def look() -> None:
        if search.running and search.news is not None:
            bar = page.progress.bar
            seen.append((page.progress.label.text(), bar.value(), bar.maximum()))
            said.append(page.summary.text())
            search.stop() if search.news.found.answers else None

    assert page.progress.isHidden()
    window.run("trace.why_not")
    assert (page.progress.isHidden(), page.progress.label.text()) == (False, "Trying changes…")
    assert page.summary.text() == "Changes are tried one by one with the engine; nothing is written."
    search.stop()
    settle(window)
    search.changed.connect(look)
    find(window)
    search.changed.disconnect(look)
    assert not any("stopped" in words for words in said)
    assert seen[0][:2] == ("Change 1 of " + str(seen[0][2]), 0)
    assert [value for _, value, _ in seen] == sorted({value for _, value, _ in seen})
    assert len(page.rows) == len(search.found.answers) > 0
    assert page.summary.text().endswith(" The search was stopped; press Y to search again.")
    assert page.progress.isHidden()
    find(window)
    assert search.found.complete
    assert "stopped" not in page.summary.text()
    search.begin()  # it is known by now
    assert not search.running


@pytest.mark.always
@pytest.mark.own_window
@pytest.mark.parametrize("where", ["__init__", "find"])
def test_that_it_failed_is_said(
    window: MainWindow, search: WhyNotSearch, page: WhyNotPage, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    def broken(*_given: object, **_more: object) -> None:
        raise ValueError("the run is gone")

    choose(window, "items/Crown.md")
    monkeypatch.setattr(WhyNotFinder, where, broken)
    find(window)
    assert page.summary.text().lower() == "the search failed: the run is gone"
    assert (search.running, page.progress.isHidden()) == (False, True)
    choose(window, "Bell.md")
    assert "failed" not in page.summary.text()


@pytest.mark.own_window
def test_only_the_newest_searches_are_kept(window: MainWindow, search: WhyNotSearch) -> None:
    find(window)
    found, about = search.found, search._about
    for message in range(KEPT):
        search._keep((Generation(100 + message), ("vault", "x.md")), found)
    assert (len(search._found), about in search._found) == (KEPT, False)
    search._keep(about, found)


@pytest.mark.always
@pytest.mark.own_window
def test_what_is_not_enough_is_offered_as_a_first_step(window: MainWindow, page: WhyNotPage) -> None:
    """Crown needs Skarn: with a key alone it is refused for that."""
    choose(window, "items/Crown.md")
    find(window)
    step = next(each for each in page.first_steps if "onstant" not in each.accessibleName())
    title = step.accessibleName().removeprefix("As a first step: ")
    shown = "\n".join(label.text() for label in page.findChildren(QLabel))
    assert title in shown
    assert "Not enough, because then: " in shown
    wanted: list[Change] = []
    page.wanted.connect(wanted.append)
    step.click()
    settle(window)
    assert [change.title for change in wanted] == [title]


@pytest.mark.own_window
def test_the_keyboard_stays_in_the_page_when_its_answers_change(
    window: MainWindow, search: WhyNotSearch, page: WhyNotPage
) -> None:
    def show(answers: int) -> None:
        search._keep(about, replace(found, answers=found.answers[:answers]))
        page.refresh()

    choose(window, "items/Crown.md")
    find(window)
    found, about = search.found, search._about
    assert len(found.answers) == 2
    for place, answers, left in ((1, 1, 0), (0, 2, 0), (1, 2, 1)):
        page.rows[place].button.setFocus()
        show(answers)
        assert page.rows[left].button.hasFocus()
    page.first_steps[0].setFocus()
    show(1)
    assert page.area.hasFocus()
    page.rows[0].button.setFocus()
    show(0)
    assert page.area.hasFocus()
    window.chat.view.setFocus()
    show(1)
    assert window.chat.view.hasFocus()
    search._keep(about, found)


@pytest.mark.always
@pytest.mark.own_window
def test_a_note_without_a_folder_is_not_changed(window: MainWindow) -> None:
    note = window.session.entry(window.selection.entry)
    assert isinstance(note, Entry)
    edit = Change("priority", "Raise it", note=NoteEdit("elsewhere", note.filename, {"priority": 1}))
    window.features.why_not.page.wanted.emit(edit)
    assert "the notes have no folder" in window.bars.texts[-1]
    assert [each.text() for each in window.bars.findChildren(QPushButton)] == []


def test_rows_that_a_filter_hid_are_asked_about_once_they_are_in_sight(window: MainWindow) -> None:
    """Crown is stopped at a gate; what the budget would have done with it is found out for whoever sees it."""
    trace, would = window.trace, window.features.why_not.would
    crown = next(each.id for each in window.session.project.index.entries if each.title == "Crown")
    trace.filter.setText("bell")
    window.chat.show_generation(Generation(4))
    settle(window)
    assert would.of(trace.model.trace, crown) is None
    trace.filter.clear()
    settle(window)
    row, columns = trace.model.place_of(crown), range(2, trace.model.columnCount())
    marks = [trace.model.index(row, column).data(MARK) for column in columns]
    assert [mark.word for mark in marks if mark.hollow] == ["would pass", "would pass"]


class Asking(RowWork):
    """Asks nothing but whether it may go on; what it was asked about and told stands in `asked`."""

    TITLE = "Asking"

    def __init__(self, session: Session, selection: Selection) -> None:
        super().__init__(session, selection, session)
        self.asked: list[int] = []
        self.goes_on, self.has_an_answer = threading.Event(), True

    def _asking(self, simulator: Simulator, generation: Generation) -> tuple[Trace, Callable[..., object] | None]:
        return simulator.traces[generation], self._ask_one if self.has_an_answer else None

    def _ask_one(self, entry: int, cancel: CancelToken) -> str:
        self.asked.append(entry)
        while not self.goes_on.wait(0.001):
            if cancel.cancelled:
                raise Cancelled
        return f"about {entry}"


@pytest.fixture
def asking(make_session: Callable[..., Session], tmp_path: Path) -> Iterator[Asking]:
    """The run of a reply, in which an entry is chosen and two more are in sight."""
    session, selection = make_session(make_project(tmp_path / "vault")), Selection()
    selection.choose_message(5, Generation(5))
    selection.choose_entry(CROWN)
    work = Asking(session, selection)
    work.in_sight = lambda: (RULES, SKARN)
    yield work
    work.goes_on.set()
    work._soon.stop()


def test_the_chosen_row_is_asked_about_first_and_but_once(asking: Asking, qtbot: QtBot) -> None:
    asking.look()
    qtbot.waitUntil(lambda: asking.asked == [CROWN])
    asking.look()
    qtbot.waitUntil(lambda: not asking._soon.isActive())
    asking.goes_on.set()
    qtbot.waitUntil(lambda: asking._session.jobs.idle)
    assert asking.asked == [CROWN, RULES, SKARN]
    assert asking.of(asking.trace, SKARN) == f"about {SKARN}"


def test_a_row_that_went_out_of_sight_is_dropped_while_it_is_asked_about(asking: Asking, qtbot: QtBot) -> None:
    asking._selection.choose_entry(None)
    asking.look()
    qtbot.waitUntil(lambda: asking.asked == [RULES])
    asking.in_sight = lambda: ()
    asking.look()
    qtbot.waitUntil(lambda: asking._session.jobs.idle and not asking._soon.isActive())
    assert asking.asked == [RULES]
    asking.in_sight = lambda: (SKARN, RULES)
    asking.goes_on.set()
    asking.look()
    qtbot.waitUntil(lambda: asking._session.jobs.idle and not asking._soon.isActive())
    assert asking.asked == [RULES, SKARN, RULES]


def test_a_row_that_is_chosen_meanwhile_does_not_wait_for_others(asking: Asking, qtbot: QtBot) -> None:
    asking.look()
    qtbot.waitUntil(lambda: asking.asked == [CROWN])
    asking._selection.choose_entry(BELL)
    qtbot.waitUntil(lambda: asking.asked == [CROWN, BELL])
    asking.goes_on.set()
    qtbot.waitUntil(lambda: asking._session.jobs.idle)
    assert asking.asked == [CROWN, BELL, RULES, SKARN]


@pytest.mark.parametrize("ran", [True, False])
def test_where_nobody_can_answer_nothing_is_begun(asking: Asking, ran: bool) -> None:
    asking.has_an_answer = False
    if not ran:
        asking._selection.choose_message(3, Generation(3))
    asking._go_on()
    assert asking._session.jobs.idle
    assert (asking.trace is not None) is ran


@pytest.mark.own_window
def test_numbers_are_copied_as_text(window: MainWindow) -> None:
    why, copy = window.why, window.commands.actions["copy.why"]
    window.chat.show_generation(Generation(2))
    why.scores_button.click()
    settle(window)
    QTest.mouseClick(why.copy_button, Qt.MouseButton.LeftButton)
    numbers = QGuiApplication.clipboard().text()
    assert numbers.splitlines()[0].startswith(why.scores.nodes[0].title)
    assert window.status.currentMessage() == "The explanation was copied."
    why.scores_button.click()
    why.copy()
    assert QGuiApplication.clipboard().text() != numbers
    window.selection.choose_entry(None)
    drain()
    assert not copy.isEnabled()


def told(window: MainWindow) -> list[str]:
    """The explanation by lines, without those of its pictures."""
    return [line for line in window.why.browser.toPlainText().splitlines() if line.strip("\ufffc \n")]


@pytest.mark.own_window
def test_the_way_through_the_stages_with_what_later_ones_would_have_done(window: MainWindow) -> None:
    way = "The way through the stages"
    no_key = "None of the keys of this entry is in the last message ({} characters)."
    assert told(window) == [
        no_key.format(14), "It would pass all later stages.", way, "keywords", "not a candidate",
        "20 other stages let it pass, or did not look at it.",
    ]  # fmt: skip
    assert window.why._state.text() == "not a candidate"
    choose(window, "items/Crown.md")  # it needs Skarn
    assert told(window) == [
        no_key.format(14), "It would also be dropped, because “Skarn” is not in.", way, "keywords", "not a candidate",
        "requires and excludes", "would be gated out", "19 other stages let it pass, or did not look at it.",
    ]  # fmt: skip
    choose(window, "Bell.md")
    window.chat.show_generation(Generation(2))
    settle(window)
    said = "The key “bell” was found in message #1 (scan depth 1)."
    assert told(window) == [
        said, way, "keywords", "candidate", "budget", "It takes 10 tokens, which makes 10 so far.", "placement",
        "It stands in the chat at depth 4, as system.", "18 other stages let it pass, or did not look at it.",
    ]  # fmt: skip
    page = window.why.browser.toHtml()
    assert "mark:dot:none:full" not in page
    assert page.count('href="message:1"') == 1
    ground = window.theme.palette.accent_soft.lower()
    assert ground not in page
    window.selection.choose_entry(window.selection.entry, "budget")
    assert ground in window.why.browser.toHtml()
    assert told(window)[1] == "Budget: It takes 10 tokens, which makes 10 so far."


@pytest.mark.always
@pytest.mark.own_window
def test_scores_that_cannot_be_explained_stay_with_what_is_known(window: MainWindow) -> None:
    scores = window.why.scores
    window.chat.show_generation(Generation(2))
    settle(window)
    window.why.scores_button.click()
    settle(window)
    assert [node.title for node in scores.nodes] == ["Match", "Priority", "Budget"]
    assert window.why.answers_button.text() == "What would keep it out?"  # it goes in
    scores._failed(ValueError("no such run"))
    assert [(node.title, node.description) for node in scores.nodes[3:]] == [
        ("The score could not be explained", "no such run")
    ]
    row = scores.model.index(3, 0)
    assert (row.data(), row.data(ACCESSIBLE_TEXT)) == (
        "The score could not be explained", "The score could not be explained, no such run",
    )  # fmt: skip
    assert scores.tree.isExpanded(scores.model.index(0, 0))
    assert not scores.tree.isExpanded(scores.model.index(0, 0, scores.model.index(0, 0)))
    window.why.scores_button.click()
    settle(window)
    assert "budget" in told(window)  # the way through the stages is back
    window.why.scores_button.click()
    settle(window)
    assert len(scores.nodes) == 3
    window.why.scores_button.click()
