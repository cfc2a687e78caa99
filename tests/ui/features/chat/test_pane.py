"""Walking through a chat: by steps, numbers, changes and swipes; and a part of it that is to be replayed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QPushButton, QStyle, QStyleOptionFrame, QToolButton
from pytestqt.qtbot import QtBot

from lorestudio.domain.chat import Chat, Generation, Message
from lorestudio.domain.history import HiddenSince
from lorestudio.domain.records import replace
from lorestudio.studio.project.answering import AnswerKind, Source
from lorestudio.studio.project.basis import KeptBasis
from lorestudio.studio.project.settings import Mode
from lorestudio.ui.features.chat.basis import BasisDialog
from lorestudio.ui.features.chat.pane import LONG_SECONDS, ChatPane
from lorestudio.ui.features.chat.replay import RangeDialog
from lorestudio.ui.shell.main_window import MainWindow
from lorestudio.ui.shell.theme import Theme
from lorestudio.ui.state.choices import mode_caption, source_title
from lorestudio.ui.state.selection import Selection
from tests.ui.conftest import settle
from tests.ui.worlds import SKARN, make_project


@pytest.fixture
def window(share_window: Callable[..., MainWindow]) -> MainWindow:
    return share_window(lambda folder: make_project(folder / "vault"))


@pytest.fixture
def pane(window: MainWindow) -> ChatPane:
    return window.chat


def test_steps_end_at_both_ends_and_begin_where_nothing_is_chosen(window: MainWindow, pane: ChatPane) -> None:
    seen = []
    for start, steps in ((3, 1), (3, -1), (0, -1), (7, 1), (None, 1), (None, -1)):
        window.selection.choose_message(start, None)
        pane.step(steps)
        seen.append(window.selection.message)
    assert seen == [4, 2, 0, 7, 0, 7]
    pane.go_to_end(last=False)
    assert (window.selection.message, pane.go.text(), pane.view.currentIndex().row()) == (0, "0", 0)
    pane.go_to_end(last=True)
    assert (window.selection.message, window.selection.generation) == (7, Generation(7))
    for outside in (-1, 8):
        pane.choose(outside)
        assert window.selection.message == 7


@pytest.mark.dressed
def test_the_field_of_the_number_has_room_for_the_highest(theme: Theme, make_session, qtbot: QtBot) -> None:
    session = make_session(replay=False)
    pane = ChatPane(theme, session, Selection())
    qtbot.addWidget(pane)
    assert pane.go.alignment() & Qt.AlignmentFlag.AlignHCenter
    small = pane.go.width()
    many = Chat(tuple(Message("Ada", "Yes.") for _ in range(20_001)), "Wren", "Ada")
    session.set_project(replace(make_project(), chat=many))
    qtbot.waitUntil(lambda: pane.model.rowCount() > 20_000)
    option = QStyleOptionFrame()
    pane.go.initStyleOption(option)
    inside = pane.go.style().subElementRect(QStyle.SubElement.SE_LineEditContents, option, pane.go)
    assert inside.width() - 4 >= pane.go.fontMetrics().horizontalAdvance("20000")  # Qt keeps 2 free on either side
    assert pane.go.width() > small


def test_a_number_goes_there_and_escape_stays(window: MainWindow, pane: ChatPane, qtbot: QtBot) -> None:
    seen = []
    for text in ("#2", "99", "abc", "0"):
        pane.open_search()
        qtbot.keyClicks(pane.go, text)  # the old number is selected, so that it is replaced
        qtbot.keyClick(pane.go, Qt.Key.Key_Return)
        seen.append(window.selection.message)
        assert pane.view.hasFocus()
    assert seen == [2, 7, 7, 0]
    pane.open_search()
    qtbot.keyClicks(pane.go, "5")
    qtbot.keyClick(pane.go, Qt.Key.Key_Escape)
    assert (window.selection.message, pane.go.text(), pane.view.hasFocus()) == (0, "0", True)


def test_changes_are_where_other_entries_went_in_than_before(window: MainWindow, pane: ChatPane) -> None:
    seen = []
    pane.choose(0)
    for steps in (1, 1, 1, -1, -1):  # the reply to come has what #5 has: that is no change
        pane.step_change(steps)
        seen.append(window.selection.message)
    assert seen == [2, 5, 5, 2, 2]


@pytest.mark.always
@pytest.mark.own_window
def test_swipes_are_walked_within_their_message(window: MainWindow, pane: ChatPane) -> None:
    def can_go_on() -> bool:
        window.update_actions()
        return window.commands.actions["swipe.choose"].isEnabled()

    pane.choose(2)
    assert not can_go_on(), "the chat goes on with the swipe that is shown"
    pane.step_swipe(2, -1)
    assert can_go_on()
    pane.choose(5)
    assert not can_go_on()
    pane.choose(2)
    pane.step_swipe(2, 1)
    seen = []
    for steps in (1, -1, -1, 1):
        pane.step_swipe(2, steps)
        seen.append((pane.model.viewed_swipe(2), window.selection.generation))
    zero, one = Generation(2, 0), Generation(2, 1)
    assert seen == [(1, one), (0, zero), (0, zero), (1, one)]
    pane.show_generation(zero)
    assert (pane.model.viewed_swipe(2), window.selection.generation) == (0, zero)
    pane.choose(5)
    pane.choose(2)  # with the swipe that is shown for it
    assert window.selection.generation == zero
    pane.show_generation(Generation(99))
    assert window.selection.generation == zero
    pane.step_swipe(2, 1)


def test_keys_of_the_chosen_entry_are_marked_in_the_run_that_is_looked_at(window: MainWindow, pane: ChatPane) -> None:
    pane.choose(5)
    window.selection.choose_entry(SKARN)
    assert [len(pane.model.row(place).marks) for place in (1, 4, 5)] == [0, 1, 0]
    window.selection.choose_entry(None)
    assert pane.model.row(4).marks == ()


def test_the_controls_unfold_below_their_line(pane: ChatPane) -> None:
    assert (pane.modes.isVisible(), pane.run_line.isChecked()) == (False, False)
    pane.run_line.click()
    assert pane.modes.isVisible()
    pane.run_line.click()
    assert not pane.modes.isVisible()
    pane.count_choices(3)
    assert " · 3 set here · " in pane.run_line.toolTip()
    pane.count_choices(0)


def test_a_long_message_opens_where_it_is_chosen(window: MainWindow, pane: ChatPane) -> None:
    pane.choose(1)
    pane.toggle_expanded()
    assert [pane.model.row(place).expanded for place in (1, 2)] == [True, False]
    pane.toggle_expanded()
    assert not pane.model.row(1).expanded


@pytest.mark.always
def test_the_mode_and_the_answers_that_are_chosen_above_the_chat_are_used(
    make_window: Callable[..., MainWindow], tmp_path: Path
) -> None:
    window = make_window(make_project(tmp_path / "vault"))
    modes = window.chat.modes

    def choose(button: QToolButton, data: object) -> None:
        next(each for each in button.menu().actions() if each.data() == data).trigger()
        settle(window)

    assert window.session.choice.mode is not Mode.TWO_STAGE
    choose(modes.mode, Mode.TWO_STAGE.value)
    assert (window.session.choice.mode, modes.mode.text()) == (Mode.TWO_STAGE, mode_caption(Mode.TWO_STAGE))
    recorded = Source(AnswerKind.RECORDED)
    next(each for each in modes.source.menu().actions() if each.text() == source_title(recorded)).trigger()
    settle(window)
    assert window.session.choice.source == recorded


def test_without_a_chat_the_pane_says_what_to_do(make_window: Callable[..., MainWindow]) -> None:
    window = make_window(replay=False)
    pane = window.chat
    assert (pane.empty.title.text(), pane.empty.isVisibleTo(pane)) == ("No chat yet", True)
    assert (pane.go.isEnabled(), pane.modes.isEnabled(), pane.run_line.isVisibleTo(pane)) == (False, False, False)
    window.session.set_project(make_project(chat=False))
    assert pane.empty.title.text() == "No chat open"
    assert [each.text() for each in pane.empty.findChildren(QPushButton)][-1] == "Test a text"
    assert (pane.go.isEnabled(), pane.modes.isEnabled(), pane.run_line.isVisibleTo(pane)) == (False, True, True)
    window.session.set_project(make_project())
    assert (pane.view.isVisibleTo(pane), pane.go.isEnabled()) == (True, True)


def test_stages_that_take_long_are_named_beside_the_progress(window: MainWindow, pane: ChatPane, monkeypatch) -> None:
    told: list[tuple[str, float]] = []
    monkeypatch.setattr(pane.strip, "show_stage", lambda stage, seconds: told.append((stage, seconds)))

    class Live:
        stage = "keywords"

        def __init__(self, seconds: float) -> None:
            self.elapsed = lambda: seconds

    for seconds in (0.0, LONG_SECONDS - 0.1, LONG_SECONDS, 3.0):
        monkeypatch.setattr(window.session.replays, "live", Live(seconds))
        pane._show_live()
    monkeypatch.setattr(window.session.replays, "live", None)
    window.session.live_changed.emit()
    assert told == [("keywords", LONG_SECONDS), ("keywords", 3.0)]


def test_a_message_that_is_pointed_at_is_so_until_another_is_chosen(window: MainWindow, pane: ChatPane) -> None:
    pane.choose(2)
    pane.flash(4)
    assert (pane.delegate._pointed, window.selection.message) == (4, 2)
    pane.choose(5)
    assert pane.delegate._pointed == -1


def test_nothing_is_opened_or_stepped_where_nothing_is_chosen(window: MainWindow, pane: ChatPane) -> None:
    window.selection.choose_message(None, None)
    pane.toggle_expanded()
    assert not any(pane.model.row(place).expanded for place in range(8))
    assert (pane.go.text(), pane.view.currentIndex().isValid()) == ("", False)
    for name in ("swipe.next", "swipe.previous", "message.expand", "replay.here", "replay.onward"):
        window.context.update_actions()
        assert not window.commands.actions[name].isEnabled(), name
    pane.choose(0)


def test_a_swipe_of_a_message_that_is_no_reply_is_shown_and_not_looked_at(window: MainWindow, pane: ChatPane) -> None:
    pane.choose(5)
    before = window.selection.generation
    pane.step_swipe(0, 1)  # a greeting with one swipe
    pane.step_swipe(0, -1)
    assert (pane.model.viewed_swipe(0), window.selection.generation) == (0, before)


@pytest.mark.own_window
def test_the_progress_strip_stands_while_something_runs(window: MainWindow, pane: ChatPane) -> None:
    assert not pane.strip.isVisibleTo(pane)
    window.session.set_activity("Reading the inn…")
    assert pane.strip.isVisibleTo(pane)
    assert "Reading the inn…" in pane.strip.label.text()
    window.session.set_activity("")
    assert not pane.strip.isVisibleTo(pane)


def test_where_messages_were_changed_the_one_that_was_looked_at_is_so_again(
    make_window: Callable[..., MainWindow],
) -> None:
    window = make_window(make_project(), replay=False)
    pane, project = window.chat, window.session.project
    assert project is not None
    assert project.chat is not None
    pane.choose(7)
    fewer = replace(project.chat, messages=project.chat.messages[:3])
    window.session.set_project(replace(project, chat=fewer), renewed="Some are gone.")
    assert (window.selection.message, pane.view.currentIndex().row()) == (3, 3)
    assert pane.view.hasAutoScroll()
    pane.choose(1)
    window.session.set_project(replace(project, chat=None), renewed="It is gone.")
    assert pane.empty.isVisibleTo(pane)


def test_what_is_looked_at_is_the_same_message_and_swipe_wherever_it_stands_now(
    make_window: Callable[..., MainWindow],
) -> None:
    window = make_window(make_project())
    pane, project = window.chat, window.session.project
    assert project is not None
    assert project.chat is not None
    pane.choose(2)
    pane.step_swipe(2, -1)
    messages = project.chat.messages
    for place, changed in (
        (2, (*messages, Message("Ada", "More."))),
        (1, messages[1:]),
        (2, messages),
        (1, (messages[0], *messages[2:])),
        (1, (messages[0], *messages[3:])),  # it is gone, so the one behind it is looked at
    ):
        chat = replace(project.chat, messages=changed)
        window.session.set_project(replace(project, chat=chat), renewed="It went on.")
        assert (window.selection.message, pane.view.currentIndex().row()) == (place, place)
        if messages[2] in changed:
            assert window.selection.generation == Generation(place, 0)
            assert pane.model.row(place).text == "It fell."
    assert pane.model.row(1).text == messages[3].text


# ---- dialogs alone --------------------------------------------------------------------------------------------------

GENERATIONS = (Generation(2, 0), Generation(2, 1), Generation(5), Generation(7))


@pytest.mark.parametrize(
    ("done", "first", "last", "words"),
    [
        (4, 0, 7, "4 runs, swipes included. What was run already"),
        (2, 5, 7, "2 runs, swipes included. What was run already"),
        (1, 5, 5, "1 run, swipes included. 1 run is missing before them;"),
        (0, 5, 5, "1 run, swipes included. 2 runs are missing before them;"),
    ],
)
def test_a_range_says_what_it_holds(qtbot: QtBot, done: int, first: int, last: int, words: str) -> None:
    dialog = RangeDialog(GENERATIONS, done, first)
    qtbot.addWidget(dialog)
    assert (dialog.first.value(), dialog.last.value()) == (first, 7)
    dialog.last.setValue(last)
    assert dialog.meaning.text().startswith(words)
    assert dialog.go.isEnabled()
    dialog.first.setValue(6)
    dialog.last.setValue(6)
    assert not dialog.go.isEnabled()
    dialog.reject()


def test_what_is_said_of_hidden_messages_follows_the_row(theme: Theme, qtbot: QtBot) -> None:
    said = tuple(Message("Ada", f"Said {at}.", is_user=at % 2 == 1, is_system=at < 4) for at in range(6))
    basis = KeptBasis(hidden=(HiddenSince(2, 3, 5),))
    dialog = BasisDialog(theme, replace(make_project(), chat=Chat(said, "Wren", "Ada"), basis=basis), 2)
    qtbot.addWidget(dialog)
    dialog.show()

    def rows() -> list[tuple[str, str]]:
        return [(messages, text) for messages, _since, text in dialog.model.texts()[1:]]

    def numbers() -> tuple[int, int, int]:
        return dialog.first.value(), dialog.last.value(), dialog.since.value()

    assert rows() == [("#0 to #1", "Said 0."), ("#2 to #3", "Said 2.")]
    assert dialog.rows.current.messages == "#2 to #3"
    assert numbers() == (2, 2, 5)  # the message that it is about
    dialog.rows.select_places([0], 0)
    assert numbers() == (0, 1, 6)  # nobody said since when: since today
    dialog.rows.select_places([1], 1)
    assert numbers() == (2, 3, 5)
    dialog.forget.click()
    assert rows() == [("#0 to #3", "Said 0.")]
    dialog.first.setValue(3)
    dialog.last.setValue(1)  # either way round
    dialog.since.setValue(4)
    dialog.say.click()
    assert dialog.basis.hidden == (HiddenSince(1, 3, 4),)
    assert numbers()[:2] == (1, 3)
    told: list[KeptBasis] = []
    dialog.chosen.connect(told.append)
    dialog.accepted_button.click()
    assert (told, dialog.isVisible()) == ([dialog.basis], False)


def test_where_nothing_is_hidden_nothing_can_be_said(theme: Theme, qtbot: QtBot) -> None:
    dialog = BasisDialog(theme, make_project(chat=False))
    qtbot.addWidget(dialog)
    assert dialog.hint.text() == "No message that was said in the story is hidden."
    parts = (dialog.rows, dialog.first, dialog.last, dialog.since, dialog.say, dialog.forget)
    assert not any(part.isEnabled() for part in parts)
    assert dialog.known.text() == "Nobody has said the context size. No file with regex scripts."
    dialog.reject()
