"""What a chat recorded beside the runs, in the window, with the real engine."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from lorestudio.domain.chat import Generation
from lorestudio.domain.history import HiddenSince
from lorestudio.domain.lifecycle import Progress
from lorestudio.domain.records import replace
from lorestudio.settings.studio import FOLLOWED
from lorestudio.studio.project.project import open_project
from lorestudio.studio.replay.simulator import Simulator
from lorestudio.studio.verify.agreement import Agreement
from lorestudio.studio.verify.causes import Cause, Verified
from lorestudio.ui.features.verify.pane import VerifyPane
from lorestudio.ui.shell.main_window import MainWindow
from lorestudio.ui.shell.qt import ACCESSIBLE_TEXT, HORIZONTAL, ITEM, MARK
from tests.studio.verify.worlds import chat, project
from tests.ui.conftest import drain, settle


@pytest.fixture
def window(make_window) -> MainWindow:
    made = make_window(make_simulator=Simulator)
    made.session.set_project(project(scan_depth=2))
    made.run("replay.all")
    settle(made)
    made.features.verify._settle.setInterval(1)
    return made


def compared(window: MainWindow, qtbot) -> VerifyPane:
    """The pane once everything was compared."""
    feature = window.features.verify
    settle(window)
    qtbot.waitUntil(lambda: not feature._settle.isActive() and not feature._newest.busy, timeout=20_000)
    settle(window)
    drain()
    return feature.pane


def verdicts(pane: VerifyPane) -> list[Agreement]:
    return [row.verdict for row in pane.replies.rows]


def test_nothing_is_compared_until_somebody_asks(window: MainWindow) -> None:
    pane = window.features.verify.pane
    assert pane.pages.currentWidget() is pane.empty
    assert window.chat.model.index(2, 0).data(ITEM).badge is None


@pytest.mark.long
def test_replies_have_badges_the_answers_a_column_and_a_cause_can_be_taken_over(window: MainWindow, qtbot) -> None:
    window.run("verify.compare")
    pane = compared(window, qtbot)
    assert verdicts(pane) == [Agreement.AGREES, Agreement.DIFFERS, Agreement.AGREES]
    assert pane.state.text().startswith("2 of 3 replies agree: 66.7 %.")
    row = window.chat.model.index(4, 0).data(ITEM)
    assert row.badge[0] == "cross"
    assert "beside what was recorded: differs" in row.describe()
    strip = window.features.timeline.strip
    qtbot.waitUntil(lambda: len(strip.chart.bars.signs) == 3)  # it follows a while after the replies
    assert [strip.chart.bars.signs[strip.generations.index(Generation(place))] for place in (2, 4, 6)] == [
        ("circle", "good"), ("cross", "error"), ("circle", "good"),
    ]  # fmt: skip
    answers = window.trace.model
    last = answers.columnCount() - 1
    assert answers.headerData(last, HORIZONTAL) == "Recorded"  # also of the reply that was looked at already
    window.chat.show_generation(Generation(2))
    settle(window)
    assert answers.headerData(last, HORIZONTAL) == "Recorded"
    lamp = next(each.id for each in window.session.project.index.entries if each.title == "Lamp")
    cell = answers.index(answers.place_of(lamp), last)
    assert cell.data(MARK).word == "in both"
    assert "In both: 4 recorded, 4 in the run; lamp" in cell.data(ACCESSIBLE_TEXT)
    best = pane.causes.rows[0]
    assert best.suspect.subject == "scan_depth"
    pane.cause_view.choose(best.title)
    drain()
    assert pane.take.isEnabled()
    window.run("verify.take")
    assert verdicts(compared(window, qtbot)) == [Agreement.AGREES] * 3
    qtbot.waitUntil(lambda: {sign for sign, _colour in strip.chart.bars.signs.values()} == {"circle"})
    assert pane.causes.rows == ()
    window.run("adjust.undo")
    assert verdicts(compared(window, qtbot))[1] is Agreement.DIFFERS


@pytest.mark.long
def test_a_click_leads_to_the_reply_and_tells_its_story(window: MainWindow, qtbot) -> None:
    window.run("verify.compare")
    pane = compared(window, qtbot)
    pane.reply_view.choose(Generation(4))
    drain()
    assert "Lamp: only recorded, 4 recorded, – in the run; lamp" in pane.story.text()
    pane.reply_view.choose(Generation(2))
    row = pane.reply_view.visualRect(pane.replies.index(1, 0)).center()
    QTest.mouseClick(pane.reply_view.viewport(), Qt.MouseButton.LeftButton, pos=row)
    settle(window)
    assert window.context.selection.generation == Generation(4)


@pytest.mark.long
def test_the_replay_can_begin_from_what_was_recorded(window: MainWindow) -> None:
    before = window.session.runs.simulator(Generation(2))
    window.run("verify.follow")
    settle(window)
    assert window.session.project.basis.settings.records == FOLLOWED
    assert window.session.runs.simulator(Generation(2)) is not before
    window.context.update_actions()
    assert window.context.action("verify.follow").isChecked()
    window.run("verify.follow")
    assert window.session.project.basis.settings.records != FOLLOWED


@pytest.mark.long
def test_another_chat_waits_to_be_asked_for(window: MainWindow, tmp_path: Path, qtbot) -> None:
    window.run("verify.compare")
    compared(window, qtbot)
    window.session.set_project(replace(project(None, chat({})), chat_path=tmp_path / "other.jsonl"))
    pane = compared(window, qtbot)
    assert pane.pages.currentWidget() is pane.empty
    assert window.features.verify.found is None
    assert window.chat.model.index(4, 0).data(ITEM).badge is None


def can(window: MainWindow, name: str) -> bool:
    window.context.update_actions()
    return window.commands.actions[f"verify.{name}"].isEnabled()


@pytest.mark.long
def test_what_can_be_done(window: MainWindow, qtbot) -> None:
    pane = window.features.verify.pane
    assert [can(window, name) for name in ("compare", "follow", "take")] == [True, True, False]
    window.features.verify.take()  # of nothing
    assert window.session.parts.adjustments.undo_title == ""
    assert pane.empty.title.text() == "Nothing is compared yet"
    pane.empty.pressed.emit("verify.compare")
    compared(window, qtbot)
    assert pane.isVisible()
    assert pane.cause.title == pane.causes.rows[0].title
    assert can(window, "take")
    pane.cause_view.selectionModel().clear()
    assert not can(window, "take")
    pane.cause_view.choose(pane.causes.rows[0].title)
    drain()
    assert window.commands.actions["verify.take"].isEnabled(), "at once, whoever asks or not"
    window.session.set_project(replace(window.session.project, chat=None))
    compared(window, qtbot)
    assert [can(window, name) for name in ("compare", "follow", "take")] == [False] * 3
    assert pane.empty.title.text() == "No chat open"
    assert window.features.verify.found is None
    window.session.set_project(project(scan_depth=2))
    compared(window, qtbot)
    assert pane.empty.title.text() == "Nothing is compared yet"


def take(window: MainWindow, **suspect: object) -> None:
    """Take over a cause as if it had been found."""
    pane = window.features.verify.pane
    known = {"title": "It was so.", "settings": {}, "hidden": (), "unknowable": False}
    cause = Cause(SimpleNamespace(**known | suspect), explains=(Generation(4),))
    pane.show_verified(Verified((), (cause,)))
    window.features.verify.take()
    settle(window)


@pytest.mark.long
def test_settings_and_hidden_messages_are_taken_over_as_a_step(window: MainWindow, qtbot) -> None:
    before = window.session.project
    window.run("verify.compare")
    pane, found = compared(window, qtbot), window.features.verify.found
    window.session.set_project(replace(before, settings=before.settings.model_copy(update={"max_entries": 3})))
    assert window.features.verify.found is found, "it stays until it was compared again"
    assert pane.pages.currentWidget() is not pane.empty
    compared(window, qtbot)
    assert window.features.verify.found is not found
    take(window, settings={"scan_depth": 7})
    assert window.session.project.settings.scan_depth == 7
    assert window.session.parts.adjustments.undo_title == "It was so."
    window.run("adjust.undo")
    settle(window)
    hidden = (HiddenSince(1, 2, 4), HiddenSince(3, 3, 6))
    take(window, hidden=hidden)
    basis = window.session.project.basis
    assert basis == before.basis.saying(1, 2, 4).saying(3, 3, 6) != before.basis
    assert window.session.parts.adjustments.undo_title == "It was so."
    window.run("adjust.undo")
    settle(window)
    assert window.session.project.basis == before.basis
    now = before.basis.settings.model_copy(update={"history": "now"})
    window.session.set_project(replace(before, basis=replace(before.basis, settings=now)))
    take(window, hidden=hidden)
    assert window.session.project.basis == basis, "as it is now, it would say nothing"


@pytest.mark.always
def test_another_system_is_given_its_own_settings(window: MainWindow, qtbot) -> None:
    window.run("system.hybrid")
    settle(window)
    take(window, settings={"limit": 3})
    assert (window.session.choice.system, window.session.choice.settings.limit) == ("hybrid", 3)
    assert window.session.project.settings.scan_depth == 2


@pytest.mark.always
def test_a_system_of_which_chats_keep_nothing_is_held_against_nothing(window: MainWindow, qtbot) -> None:
    window.run("verify.compare")
    pane = compared(window, qtbot)
    window.run("system.hybrid")
    compared(window, qtbot)
    assert pane.pages.currentWidget() is pane.empty
    assert pane.empty.title.text() == "Nothing to compare with"
    assert [can(window, name) for name in ("compare", "follow", "take")] == [False] * 3
    compare = window.commands.actions["verify.compare"]
    assert compare.text() == "Hybrid retrieval: no chat keeps what it put into its prompts"
    assert window.chat.model.index(2, 0).data(ITEM).badge is None
    window.run("system.world-info")
    compared(window, qtbot)
    assert [can(window, name) for name in ("compare", "follow", "take")] == [True, True, False]
    assert compare.text() == "Compare with what the chat recorded"
    assert "what World Info put into the prompt" in pane.empty.text.text()


@pytest.mark.always
def test_of_another_chat_nothing_is_told_that_was_compared_before(window: MainWindow, qtbot) -> None:
    feature = window.features.verify
    window.run("verify.compare")
    window.session.set_project(replace(window.session.project, chat_path=Path("Other.jsonl")))
    compared(window, qtbot)
    assert feature.found is None
    assert feature.pane.pages.currentWidget() is feature.pane.empty
    assert window.chat.model.index(2, 0).data(ITEM).badge is None
    window.session.set_project(replace(window.session.project, chat=None))
    compared(window, qtbot)
    assert feature.pane.empty.title.text() == "No chat open"
    assert feature.pane.empty.text.text().endswith("with DeepLore, and the vault that it was written with.")


@pytest.mark.always
def test_without_a_chat_a_lorebook_is_spoken_of_where_one_is_open(window: MainWindow, tmp_path: Path, qtbot) -> None:
    book = tmp_path / "Sea.json"
    book.write_text('{"entries": {}}', "utf-8")
    window.session.set_project(open_project([book]))
    compared(window, qtbot)
    text = window.features.verify.pane.empty.text.text()
    assert text == "Open a chat that was written with World Info and this lorebook."


@pytest.mark.always
def test_another_chat_is_not_compared_for_a_change_just_before(window: MainWindow, tmp_path: Path, qtbot) -> None:
    window.run("verify.compare")
    compared(window, qtbot)
    feature, before = window.features.verify, window.session.project
    feature._settle.setInterval(200)
    window.session.set_project(replace(before, settings=before.settings.model_copy(update={"max_entries": 3})))
    assert feature._settle.isActive()
    window.session.set_project(replace(project(None, chat({})), chat_path=tmp_path / "other.jsonl"))
    compared(window, qtbot)
    assert feature.found is None


@pytest.mark.always
def test_until_a_changed_chat_is_compared_again_nothing_goes_by_its_old_numbers(window: MainWindow, qtbot) -> None:
    window.session.set_project(project(scan_depth=8))
    settle(window)
    window.run("verify.compare")
    pane, feature, before = compared(window, qtbot), window.features.verify, window.session.project
    assert can(window, "take")
    assert pane.take.isVisibleTo(pane)
    feature._settle.setInterval(60_000)
    reply = next(row for row in pane.replies.rows if any(each.entry is not None for each in row.differing))
    cut = replace(before, chat=replace(before.chat, messages=before.chat.messages[:3]))
    window.session.set_project(cut)
    settle(window)
    assert not can(window, "take")
    assert not pane.take.isVisibleTo(pane)
    window.session.set_project(replace(cut, index=project({"Lamp.md": None}).index))
    window.context.selection.choose_entry(None)
    feature._go(reply)
    assert window.context.selection.entry is None, "another entry has this number now"
    feature._look_again()
    assert [row.generation.message for row in compared(window, qtbot).replies.rows] == [2]


@pytest.mark.always
def test_a_comparison_that_fails_leaves_nothing_of_before(window: MainWindow, monkeypatch, qtbot) -> None:
    window.run("verify.compare")
    pane, feature = compared(window, qtbot), window.features.verify

    def fail(_project, _system, report, _token) -> None:
        report(Progress(1, 4))
        raise OSError(5, "Input/output error", "chat.jsonl")

    monkeypatch.setattr("lorestudio.ui.features.verify.actions.verify", fail)
    window.run("verify.compare")
    compared(window, qtbot)
    assert feature.found is None
    assert pane.state.text() == ""
    assert pane.empty.title.text() == "Nothing is compared yet"
