"""Ranges, the time left, what is said at the end, and the states of the trace pane, in the window."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QMessageBox

from lorestudio.domain.chat import Chat, Generation, Message
from lorestudio.domain.lifecycle import Progress
from lorestudio.domain.records import replace
from lorestudio.studio.project.answering import AnswerKind, Source
from lorestudio.studio.project.project import open_project
from lorestudio.studio.project.settings import Mode
from lorestudio.studio.replay.ranges import MessageRange
from lorestudio.studio.replay.simulator import Simulator
from lorestudio.ui.features.chat.replay import RangeDialog
from lorestudio.ui.state.replay_worker import Finished, ReplayNews, WantedReplay
from lorestudio.ui.widgets.pane import MessageBar
from tests.ui.conftest import drain

NOTE = "---\ntags: [lorebook]\nkeys: [{keys}]\n---\n{name}.\n"


@pytest.fixture
def project(tmp_path):
    folder = tmp_path / "vault"
    folder.mkdir()
    for number in range(10):
        keys = f"the, word {number}" if number < 9 else "bell"
        (folder / f"Note {number}.md").write_text(NOTE.format(keys=keys, name=number), encoding="utf-8")
    texts = ("Hello.", "A bell.", "It rings.", "Nothing here.", "No.", "All the words.", "So.", "Bye.", "Yes.")
    chat = Chat(tuple(Message("Wren", text, is_user=place % 2 == 1) for place, text in enumerate(texts)), "Wren", "Ann")
    chat = replace(chat, messages=tuple(replace(one, name="Wren" if one.is_user else "Ann") for one in chat.messages))
    opened = open_project([folder])
    settings = opened.settings.model_copy(update={"scan_depth": 1})
    return replace(opened, chat=chat, settings=settings)


@pytest.fixture
def window(make_window, project, qtbot):
    made = make_window(project, replay=False, make_simulator=Simulator)
    idle(made, qtbot)
    return made


def idle(window, qtbot) -> None:
    qtbot.waitUntil(lambda: not window.session.busy and window.session.jobs.idle)
    drain()


def run(window) -> list[int]:
    return [generation.message for generation in window.session.runs.traces]


def notices(window) -> str:
    return " ".join(bar.label.text() for bar in window.bars.findChildren(MessageBar))


@pytest.mark.always
def test_from_here_to_the_end_runs_what_comes_before_and_says_so(window, qtbot) -> None:
    window.chat.choose(6)
    window.run("replay.onward")
    idle(window, qtbot)
    assert run(window) == [2, 4, 6, 8, 9]
    assert "2 replies were run first" in notices(window)
    assert "5 run, 0 kept" in notices(window)


@pytest.mark.always
def test_a_range_ends_where_it_ends_and_the_rest_goes_on_from_there(window, qtbot) -> None:
    dialog = window.features.replay.ask_range()
    dialog.first.setValue(2)
    dialog.last.setValue(4)
    assert "2 runs" in dialog.meaning.text()
    dialog.accept()
    idle(window, qtbot)
    assert run(window) == [2, 4]
    window.run("replay.all")
    idle(window, qtbot)
    assert run(window) == [2, 4, 6, 8, 9]
    assert window.session.replays.tally.words == "3 run, 2 kept"
    assert "3 run, 2 kept" in window.status._run.text()


def test_the_dialog_says_what_is_missing_and_refuses_a_range_without_replies(window, qtbot) -> None:
    window.chat.choose(6)
    dialog = window.features.replay.ask_range()
    assert isinstance(dialog, RangeDialog)
    assert dialog.first.value() == 6
    assert "2 runs are missing before them" in dialog.meaning.text()
    dialog.first.setValue(3)
    dialog.last.setValue(3)
    assert not dialog.go.isEnabled()
    assert "No reply stands" in dialog.meaning.text()
    dialog.reject()
    drain()


def test_when_nothing_is_missing_that_is_said(window, qtbot) -> None:
    window.run("replay.all")
    idle(window, qtbot)
    window.run("replay.all")
    idle(window, qtbot)
    assert "nothing to run" in window.status.currentMessage()


def test_an_edited_note_runs_only_what_it_touches(window, qtbot, project) -> None:
    window.session.replays.automatic = True
    window.session.replays.run_all()
    idle(window, qtbot)
    path = project.vault_folders[0] / "Note 9.md"
    path.write_text(path.read_text(encoding="utf-8") + "It is old.\n", encoding="utf-8")
    window.session.reading.notes_written([path])
    qtbot.waitUntil(lambda: window.session.replays.tally is not None and window.session.replays.tally.kept > 0)
    idle(window, qtbot)
    whole = Simulator(window.session.project)
    assert window.session.replays.tally.ran < 5
    assert window.session.replays.tally.ran + window.session.replays.tally.kept == 5
    assert [one.message for one in whole.generations] == run(window)


def test_the_time_left_stands_beside_the_progress(window) -> None:
    strip = window.chat.strip
    strip.start("Replaying the chat…", stoppable=True)
    window.session.news.emit(ReplayNews(Progress(3, 60), {}, left=37.0, before=0))
    strip.set_progress(3, 60)
    assert strip.label.text() == "Reply 3 of 60 · about 40 s left"
    window.session.news.emit(ReplayNews(Progress(4, 60), {}, left=None, before=20))
    strip.set_progress(4, 60)
    assert strip.label.text() == "4 done, replies before the range first"
    strip.finish()


def test_a_run_without_a_match_says_what_was_searched_and_three_ways_to_widen_it(window, qtbot) -> None:
    window.run("replay.all")
    idle(window, qtbot)
    window.chat.choose(4)
    text = window.trace.nothing.text.text()
    assert window.trace.nothing.isVisible()
    assert "the last message (19 characters), for the keys of 10 entries" in text  # "Wren: Nothing here."
    assert "raise the scan depth, which is 1" in text
    assert "give entries keys that the chat uses" in text
    assert "switch on recursive scan or fuzzy search" in text


def test_a_run_that_matched_nearly_everything_names_the_key(window, qtbot) -> None:
    window.run("replay.all")
    idle(window, qtbot)
    window.chat.choose(6)
    said = window.trace.summary.said
    assert "9 of 10 entries" in said
    assert "“the” alone let in 9" in said
    assert "estimates (by script)" in window.budget.counts.text()
    assert window.trace.summary.plain in window.trace.summary.accessibleDescription()  # beside the sentence


def test_notes_that_could_not_be_read_are_counted_above_the_run(window, qtbot, project) -> None:
    (project.vault_folders[0] / "Bad.md").write_bytes(b"---\ntags: [lorebook]\n---\n\xff\xfe\xfa")
    said: list[str] = []
    window.trace.note_changed.connect(said.append)
    window.session.reading.reload()
    idle(window, qtbot)
    window.session.set_project(replace(window.session.project, chat=project.chat))
    window.session.replays.run_all()
    idle(window, qtbot)
    window.chat.choose(6)
    assert said[-1].endswith("without 1 broken note")


@pytest.mark.always
def test_a_range_that_ends_before_a_reply_is_told_and_nothing_is_run(window) -> None:
    window.features.replay._replay(MessageRange(3, 3))
    assert "No reply stands" in notices(window)
    assert run(window) == []


def test_to_this_message_runs_no_further(window, qtbot) -> None:
    window.chat.choose(4)
    window.run("replay.here")
    idle(window, qtbot)
    assert run(window) == [2, 4]
    assert window.status.currentMessage() == "2 replies were run."
    window.chat.choose(6)
    window.run("replay.here")
    idle(window, qtbot)
    assert run(window) == [2, 4, 6]
    assert window.status.currentMessage() == "1 reply was run; 2 were up to date."


def test_a_replay_whose_questions_had_no_answer_says_so(window, qtbot, tmp_path) -> None:
    window.session.set_project(replace(window.session.project, chat_path=tmp_path / "chat.jsonl"))
    idle(window, qtbot)
    window.session.replays.choose(mode=Mode.AI_ONLY, source=Source(AnswerKind.RECORDED))
    idle(window, qtbot)
    window.run("replay.all")
    idle(window, qtbot)
    assert "A model gave no usable answer in 5 of 5 replies, most often: no answer to this request" in notices(window)


@pytest.mark.always
def test_what_runs_is_gone_to_and_stopped_with_word_of_it(window, monkeypatch) -> None:
    stopped = []
    monkeypatch.setattr(window.session.replays, "cancel", lambda: stopped.append("cancel"))
    monkeypatch.setattr(window.chat.strip, "stopping", lambda: stopped.append("said"))
    for live, message in ((None, 0), (SimpleNamespace(generation=Generation(4)), 4)):
        window.chat.choose(0)
        monkeypatch.setattr(window.session.replays, "live", live)
        window.features.replay._follow()
        assert window.selection.message == message
    monkeypatch.setattr(window.session.replays, "live", None)
    window.features.replay._cancel()
    assert stopped == ["said", "cancel"]


@pytest.mark.always
def test_what_a_replay_costs_is_said_before_it_begins(window, qtbot, monkeypatch) -> None:
    begun = []
    monkeypatch.setattr(window.session.replays, "begin", begun.append)
    finished = Finished(WantedReplay(window.session.choice), "3 texts go to Home.", "Home")
    for button in ("Cancel", "Ask Home"):
        window.session.cost_known.emit(finished)
        (box,) = (each for each in window.findChildren(QMessageBox) if each.isVisible())
        assert (box.windowTitle(), box.text()) == ("Ask Home?", "3 texts go to Home.")
        assert not box.informativeText(), "no answers are recorded where vectors are made"
        next(each for each in box.buttons() if each.text() == button).click()
        drain()
    assert begun == [finished]
    choice = replace(window.session.choice, mode=Mode.TWO_STAGE, source=Source(AnswerKind.PROVIDER, "Home"))
    told = []
    for fresh in (False, True):
        window.session.cost_known.emit(Finished(WantedReplay(choice, fresh=fresh), "3 calls to the provider.", "Home"))
        (box,) = (each for each in window.findChildren(QMessageBox) if each.isVisible())
        told.append(("is not asked for again" in box.informativeText(), "take the place" in box.informativeText()))
        QTest.keyClick(box, Qt.Key.Key_Escape)
        drain()
    assert told == [(True, False), (False, True)]


def test_a_number_is_asked_for_in_the_chat_and_swipes_are_walked_by_actions(window, project, qtbot) -> None:
    window.run("message.number")
    assert window.chat.go.hasFocus()
    assert window.chat.go.selectedText() == window.chat.go.text()
    messages = list(project.chat.messages)
    messages[4] = replace(messages[4], swipes=("No.", "Nay."), swipe_id=0)
    window.session.set_project(replace(project, chat=replace(project.chat, messages=tuple(messages))))
    idle(window, qtbot)
    window.chat.choose(4)
    seen = []
    for name in ("swipe.next", "swipe.next", "swipe.previous"):
        window.run(name)
        seen.append(window.chat.model.row(4).text)
    assert seen == ["Nay.", "Nay.", "No."]
