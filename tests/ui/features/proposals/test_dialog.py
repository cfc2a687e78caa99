"""Proposals in the window: what is shown, what is decided, and what is written."""

from __future__ import annotations

import asyncio
import json
import threading

import pytest
from PySide6.QtCore import QEvent, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QMenu, QMessageBox
from shiboken6 import isValid

from lorestudio.domain.chat import Chat
from lorestudio.domain.records import replace
from lorestudio.llm.errors import failed
from lorestudio.studio.notes.changes.log import ChangeLog
from lorestudio.studio.project.answering import (
    AnswerKind,
    ChatReply,
    Connections,
    Keys,
    LlmError,
    Profile,
    ProfileFile,
    Source,
)
from lorestudio.studio.project.project import open_project
from lorestudio.studio.proposals.model import NoteLocks
from lorestudio.studio.replay.simulator import Simulator
from lorestudio.ui.features.proposals import worker
from lorestudio.ui.features.proposals.actions import PassageDialog
from lorestudio.ui.features.proposals.detail import look_of
from lorestudio.ui.features.proposals.dialog import ProposalsDialog
from lorestudio.ui.features.proposals.worker import RowState
from lorestudio.ui.features.providers.question_dialog import QuestionDialog
from lorestudio.ui.shell.qt import ACCESSIBLE_TEXT, DISPLAY, TOOLTIP
from lorestudio.ui.state.drafts import Draft
from tests.studio.proposal_world import BELL, CROWN, DAWNKEEP, SKARN, messages, vault_at
from tests.ui.conftest import LONGEST_MENU, drain, titles_of
from tests.ui.worlds import FakeClient, MemoryKeyring

WHAT, STATE = 1, 2
"""Columns."""

LOCAL = Source(AnswerKind.PROVIDER, "Local")


class Provider(FakeClient):
    """Answers with the texts of `script` in order, the last again and again; an error is raised."""

    script: list[str | LlmError]

    async def complete(self, request):
        self.asked.append(request)
        answer = self.script.pop(0) if len(self.script) > 1 else self.script[0]
        if isinstance(answer, LlmError):
            raise answer
        return ChatReply(answer, source=self.label)


@pytest.fixture
def client() -> Provider:
    made = Provider()
    made.script = ["From the provider."]
    return made


@pytest.fixture
def connections(tmp_path, client) -> Connections:
    made = Connections(tmp_path / "profiles" / "profiles.json", Keys(MemoryKeyring(), {}), client.make)
    made.save(ProfileFile((Profile("Local", url="http://127.0.0.1:11434/v1", model="tiny"),)))
    return made


@pytest.fixture
def window(make_window, tmp_path):
    project = replace(open_project([vault_at(tmp_path / "vault")]), chat=Chat(messages(), "Wren", "Ada"))
    window = make_window(project, make_simulator=Simulator)
    window.features.proposals.make_log = lambda roots: ChangeLog(tmp_path / "data", roots)
    window.features.proposals.locks = NoteLocks(tmp_path / "locked.json")
    window.features.proposals.records = tmp_path / "records"
    return window


@pytest.fixture
def wait(window, qtbot):
    def until_idle() -> None:
        qtbot.waitUntil(lambda: not window.session.busy and window.session.jobs.idle)
        drain()

    return until_idle


@pytest.fixture(autouse=True)
def _closed(window, wait):
    yield
    for widget in QApplication.topLevelWidgets():
        if isinstance(widget, ProposalsDialog):
            widget.done(0)
    drain()
    wait()


def text(tmp_path, name: str) -> str:
    return (tmp_path / "vault" / f"{name}.md").read_bytes().decode()


def states(dialog) -> dict[str, str]:
    return {row.title: row.state.value for row in dialog.work.rows}


def row_of(dialog, title: str):
    return next(row for row in dialog.work.rows if row.title == title)


def choose(dialog, title: str) -> None:
    dialog.choose(dialog.work.rows.index(row_of(dialog, title)))
    drain()


def entry(window, title: str) -> int:
    return next(item.id for item in window.session.project.index.entries if item.title == title)


# ---- summaries ------------------------------------------------------------------------------------------------------


def test_of_two_vaults_a_note_is_named_from_the_inner_one(window, wait, tmp_path) -> None:
    dialog = window.features.proposals.summaries()
    wait()
    task, project = row_of(dialog, "Bell").task, window.session.project
    other, outer, inner = tmp_path / "other", tmp_path, tmp_path / "vault"
    for folders in ((outer, inner), (inner, outer), (other, None, inner), (inner, other), (other,)):
        assert worker._filename(replace(project, vault_folders=folders), task) == "Bell.md"


def test_names_are_made_beside_the_window_and_rows_that_change_together_are_told_once(
    window, wait, monkeypatch
) -> None:
    threads, told, named = set(), [], worker._filename
    monkeypatch.setattr(worker, "_filename", lambda *of: threads.add(threading.get_ident()) or named(*of))
    dialog = window.features.proposals.summaries()
    wait()
    assert threads, "thousands of paths are compared"
    assert threading.get_ident() not in threads
    dialog.model.dataChanged.connect(lambda first, last: told.append((first.row(), last.row())))
    for row in dialog.work.rows:
        dialog.work.row_changed.emit(row)
    drain()
    assert told == [(0, 2)], "at each the table measures all rows anew"


def test_the_stand_in_proposes_at_once_and_nothing_is_written(window, wait, tmp_path) -> None:
    dialog = window.features.proposals.summaries()
    wait()
    assert states(dialog) == {"Bell": "proposed", "Dawnkeep": "proposed", "Crown": "left out"}
    assert "no model" in dialog.status.text()
    choose(dialog, "Dawnkeep")
    assert dialog.detail.field.toPlainText().startswith("Dawnkeep is a fortress on the Salt Cliff.")
    assert "not by a model" in dialog.detail.words.text()
    assert (text(tmp_path, "Dawnkeep"), text(tmp_path, "Bell"), text(tmp_path, "Crown")) == (DAWNKEEP, BELL, CROWN)


def test_a_left_out_note_says_why(window, wait) -> None:
    dialog = window.features.proposals.summaries()
    wait()
    choose(dialog, "Crown")
    assert "locked" in dialog.detail.empty.text.text()
    place = dialog.model.index(dialog.work.rows.index(row_of(dialog, "Crown")), STATE)
    assert dialog.model.data(place, DISPLAY) == "left out"
    assert "locked" in dialog.model.data(place, TOOLTIP)
    assert "locked" in dialog.model.data(place, ACCESSIBLE_TEXT)


@pytest.mark.long
def test_accepting_writes_one_property_and_undo_takes_it_back(window, wait, tmp_path) -> None:
    dialog = window.features.proposals.summaries()
    wait()
    choose(dialog, "Bell")
    dialog.detail.accept.click()
    wait()
    assert text(tmp_path, "Bell") == BELL.replace("keys: bell\n", "keys: bell\nsummary: It rings.\n")
    assert row_of(dialog, "Bell").state is RowState.ACCEPTED
    assert dialog.current.title == "Dawnkeep"  # the next one to decide
    assert window.session.project.index.entries[entry(window, "Bell")].summary == "It rings."  # it is taken in
    assert window.statusBar().currentMessage() == "Summary of Bell"
    dialog.bar.pressed.emit("undo")
    wait()
    assert text(tmp_path, "Bell") == BELL
    assert row_of(dialog, "Bell").state is RowState.PROPOSED


@pytest.mark.always
def test_what_cannot_be_accepted_is_not_written(window, wait, tmp_path) -> None:
    dialog = window.features.proposals.summaries()
    wait()
    row = row_of(dialog, "Bell")
    dialog.work.accept([row], "")
    wait()
    assert (row.state, look_of(row)[2], row.note) == (RowState.PROPOSED, "cannot be accepted yet", row.proposal.problem)
    assert text(tmp_path, "Bell") == BELL
    assert (dialog.work.can_undo, dialog.all.text()) == (False, "Accept all (1)")


@pytest.mark.long
def test_only_the_last_change_is_undone_here(window, wait, tmp_path) -> None:
    first = window.features.proposals.summaries()
    wait()
    first.work.accept([row_of(first, "Bell")])
    wait()
    assert first.bar.label.text() == "Summary of Bell: written."
    second = window.features.proposals.summaries()
    wait()
    second.work.accept([row_of(second, "Dawnkeep")])
    wait()
    first.work.undo()
    wait()
    assert first.bar.label.text() == "Something else was changed since. Undo that first, in the window."
    assert "summary:" in text(tmp_path, "Bell")
    second.work.undo()
    wait()
    assert second.bar.label.text() == "Summary of Dawnkeep: undone."
    assert (second.work.can_undo, text(tmp_path, "Dawnkeep")) == (False, DAWNKEEP)
    first.work.undo()
    wait()
    assert text(tmp_path, "Bell") == BELL
    first.work.undo()  # there is nothing any more
    assert not first.work.busy


def test_what_the_person_makes_of_it_is_written(window, wait, tmp_path) -> None:
    dialog = window.features.proposals.summaries()
    wait()
    choose(dialog, "Bell")
    dialog.detail.field.setPlainText("It rings at dawn:\nnobody knows why.")
    dialog.detail.accept.click()  # at once, before it was judged
    wait()
    assert "summary: 'It rings at dawn: nobody knows why.'" in text(tmp_path, "Bell").replace('"', "'")


@pytest.mark.always
def test_an_edit_is_judged_shown_and_not_lost_on_the_way(window, wait, qtbot) -> None:
    dialog = window.features.proposals.summaries()
    wait()
    choose(dialog, "Bell")
    dialog.detail.field.setPlainText("x" * 610)
    choose(dialog, "Dawnkeep")  # before the edit was judged
    wait()
    row = row_of(dialog, "Bell")
    assert row.proposal.after == "x" * 610
    assert row.edited
    choose(dialog, "Bell")
    assert dialog.detail.field.toPlainText() == "x" * 610
    assert "610 characters" in dialog.detail.words.text()
    assert dialog.detail.extent.text() == "610 of 600"
    dialog.detail.field.setPlainText("")
    qtbot.waitUntil(lambda: row.proposal.after == "")
    wait()
    assert not dialog.detail.accept.isEnabled()
    assert "Write a summary" in dialog.detail.words.text()
    dialog.detail.field.setPlainText("Mine.")
    qtbot.waitUntil(lambda: row.proposal.after == "Mine.")
    assert dialog.lost() == "1 proposal that you changed would be lost."
    dialog.detail.accept.click()
    wait()
    assert (row.state, dialog.lost()) == (RowState.ACCEPTED, "")


def test_the_newest_edit_of_each_row_counts_and_none_undoes_a_decision(window, wait) -> None:
    dialog = window.features.proposals.summaries()
    wait()
    bell, dawnkeep = row_of(dialog, "Bell"), row_of(dialog, "Dawnkeep")
    for row, words in ((bell, "First."), (bell, "Second."), (dawnkeep, "Another.")):  # none of them is judged yet
        dialog.work.edit(row, words)
    wait()
    assert [row.proposal.after for row in (bell, dawnkeep)] == ["Second.", "Another."]
    dialog.work.edit(bell, "Third.")
    dialog.work.skip(bell)
    wait()
    assert (bell.state, bell.edited) == (RowState.SKIPPED, False)


def test_what_is_being_typed_stays_when_something_else_happens(window, wait) -> None:
    dialog = window.features.proposals.summaries()
    wait()
    choose(dialog, "Bell")
    dialog.detail.field.setPlainText("Half a sent")
    dialog.work.many_changed.emit()
    dialog.work.row_changed.emit(dialog.current)
    assert dialog.detail.field.toPlainText() == "Half a sent"
    dialog.work.accept([row_of(dialog, "Dawnkeep")])
    wait()
    choose(dialog, "Bell")
    assert dialog.detail.field.toPlainText() == "Half a sent"


def test_what_is_judged_when_its_dialog_is_gone_is_told_nobody(window, wait) -> None:
    dialog = window.features.proposals.summaries()
    wait()
    work = dialog.work
    work.edit(row_of(dialog, "Bell"), "Mine.")
    window.session.jobs.wait()  # it is judged, and nobody has heard of that yet
    dialog.deleteLater()
    QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    assert not isValid(work)
    wait()  # an exception in a slot fails the test


@pytest.mark.always
def test_closing_asks_before_an_edit_is_lost(window, wait) -> None:
    dialog = window.features.proposals.summaries()
    wait()
    choose(dialog, "Bell")
    dialog.detail.field.setPlainText("Mine.")
    dialog.reject()
    drain()
    (box,) = [widget for widget in QApplication.topLevelWidgets() if isinstance(widget, QMessageBox)]
    assert "1 proposal that you changed" in box.text()
    box.button(QMessageBox.StandardButton.Cancel).click()
    drain()
    assert dialog.isVisible()
    assert dialog.detail.field.toPlainText() == "Mine."


def test_skip_and_accept_all(window, wait, tmp_path, qtbot) -> None:
    dialog = window.features.proposals.summaries()
    wait()
    choose(dialog, "Bell")
    dialog.activateWindow()
    drain()
    QTest.keyClick(
        dialog.table, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier
    )
    qtbot.waitUntil(lambda: row_of(dialog, "Bell").state is RowState.SKIPPED)  # a button pressed by key takes 0.1 s
    assert dialog.all.text() == "Accept all (1)"
    painted: list[int] = []
    dialog.model.dataChanged.connect(lambda first, last: painted.extend(range(first.row(), last.row() + 1)))
    dialog.all.click()
    wait()
    assert set(painted) == {0, 1, 2}, "what became of them is shown at once, in every row"
    assert text(tmp_path, "Bell") == BELL
    assert "summary:" in text(tmp_path, "Dawnkeep")
    assert not dialog.all.isEnabled()
    assert dialog.sum.text() == "1 accepted · 1 skipped · 1 left out"


def test_after_a_decision_the_next_open_row_is_looked_at_then_the_first(window, wait) -> None:
    dialog = window.features.proposals.summaries()
    wait()
    rows = dialog.work.rows
    for row in rows:
        row.state = RowState.PROPOSED
    assert len(rows) == 3
    dialog.choose(1)
    for place in (2, 0, 1):
        dialog._next_open()
        assert dialog.current is rows[place]


def test_notes_with_a_summary_on_request(window, wait) -> None:
    dialog = window.features.proposals.summaries()
    wait()
    dialog.again.setChecked(True)
    wait()
    assert set(states(dialog)) == {"Bell", "Dawnkeep", "Crown", "Skarn"}
    choose(dialog, "Skarn")
    assert dialog.detail.diff.view.toPlainText().startswith("- A dragon.")
    place = dialog.model.index(dialog.work.rows.index(row_of(dialog, "Skarn")), WHAT)
    assert dialog.model.data(place, DISPLAY) == "46 characters, 9 before"


def test_nothing_to_ask_about_is_said(make_window, window, wait, tmp_path) -> None:
    vault_at(tmp_path / "other", Skarn=SKARN)
    window.session.set_project(open_project([tmp_path / "other"]))
    wait()
    dialog = window.features.proposals.summaries()
    wait()
    assert dialog.work.rows == []
    assert dialog.detail.empty.title.text() == "Every note has a summary"
    assert dialog.detail.empty.text.text() == "Tick the box above to have better ones proposed."


@pytest.mark.long
def test_a_note_changed_meanwhile_is_left_alone_and_proposed_anew(window, wait, tmp_path) -> None:
    dialog = window.features.proposals.summaries()
    wait()
    changed = BELL + "Louder now.\n"
    (tmp_path / "vault" / "Bell.md").write_text(changed, encoding="utf-8")
    dialog.accept_all()
    wait()
    assert text(tmp_path, "Bell") == changed
    assert "summary:" in text(tmp_path, "Dawnkeep")
    assert "changed on disk" in dialog.bar.label.text()
    row = row_of(dialog, "Bell")
    assert row.state is RowState.PROPOSED
    assert row.proposal.source == changed
    choose(dialog, "Bell")
    dialog.detail.accept.click()
    wait()
    assert "Louder now." in text(tmp_path, "Bell")
    assert "summary: It rings. Louder now." in text(tmp_path, "Bell")


@pytest.mark.always
def test_what_the_person_wrote_outlives_a_note_that_changed_meanwhile(window, wait, tmp_path) -> None:
    dialog = window.features.proposals.summaries()
    wait()
    choose(dialog, "Bell")
    dialog.detail.field.setPlainText("My own words.")
    changed = BELL + "Louder now.\n"
    (tmp_path / "vault" / "Bell.md").write_text(changed, encoding="utf-8")
    dialog.detail.accept.click()
    wait()
    assert text(tmp_path, "Bell") == changed
    assert "changed on disk" in dialog.bar.label.text()
    assert dialog.current.title == "Bell"
    assert dialog.detail.field.toPlainText() == "My own words."
    dialog.detail.accept.click()
    wait()
    assert text(tmp_path, "Bell") == changed.replace("keys: bell\n", "keys: bell\nsummary: My own words.\n")


def test_unsaved_text_keeps_a_note_out(window, wait, tmp_path) -> None:
    window.drafts.keep(tmp_path / "vault" / "Bell.md", Draft("mine", "0"))
    dialog = window.features.proposals.summaries()
    wait()
    assert states(dialog)["Bell"] == "left out"
    assert "unsaved" in row_of(dialog, "Bell").note


def test_a_list_of_locked_notes_that_is_as_it_was_changes_no_action(window, monkeypatch) -> None:
    take, told = window.features.proposals._take_locks, []
    take(frozenset())
    monkeypatch.setattr(window.context, "actions_changed", lambda: told.append(True))
    for locked in ((), ("Bell.md",), ("Bell.md",)):
        take(frozenset(locked))
    assert told == [True]


@pytest.mark.always
def test_locking_from_the_dialog_and_from_the_menu(window, wait, tmp_path, monkeypatch) -> None:
    dialog = window.features.proposals.summaries()
    wait()
    choose(dialog, "Bell")
    dialog.detail.lock.click()
    wait()
    assert states(dialog)["Bell"] == "left out"
    told = ("Nothing is proposed for Bell", "Locked by you just now.")
    assert (dialog.detail.empty.title.text(), dialog.detail.empty.text.text()) == told
    assert dialog.detail.empty.isVisible(), "not what was proposed, with all that could be done with it"
    buttons = dialog.detail.accept, dialog.detail.skip, dialog.detail.lock, dialog.detail.ask_again
    assert not any(each.isVisible() for each in buttons)
    dialog.done(0)
    wait()
    window.selection.choose_entry(entry(window, "Bell"))
    drain()
    assert window.commands.actions["entry.lock"].isChecked()
    assert [path.name for path in window.features.proposals.locks.list(tmp_path / "vault")] == ["Bell.md"]
    said: list[str] = []
    monkeypatch.setattr(window.context, "flash", said.append)
    window.run("entry.lock")
    wait()
    assert not window.commands.actions["entry.lock"].isChecked()
    assert window.features.proposals.locks.load() == frozenset()
    window.run("entry.lock")
    wait()
    assert said == ["Bell gets proposals again.", "Nothing is proposed for Bell from now on."]
    locks = window.features.proposals.locks
    locks.set([tmp_path / "vault"], locked_now=True)
    locks.set([tmp_path / "vault/Bell.md"], locked_now=False)
    window.features.proposals.load_locks()
    wait()
    assert window.commands.actions["entry.lock"].isChecked()
    window.run("entry.lock")  # what holds the lock goes, and is named
    wait()
    assert (said[-1], locks.load()) == ("vault gets proposals again.", frozenset())


# ---- asking ---------------------------------------------------------------------------------------------------------


@pytest.mark.long
def test_a_provider_is_asked_only_when_the_cost_was_told(window, wait, client) -> None:
    dialog = window.features.proposals.summaries()
    wait()
    dialog.done(0)
    wait()
    window.session.replays.choose(source=LOCAL)
    wait()
    dialog = window.features.proposals.summaries()
    wait()
    assert client.asked == []
    assert "2 calls to the provider" in dialog.status.text()
    assert "127.0.0.1:11434" in dialog.status.text()
    assert dialog.begin.text() == "Ask Local about 2 notes"
    dialog.begin.click()
    wait()
    assert len(client.asked) == 2
    assert row_of(dialog, "Bell").proposal.after == "From the provider."
    assert row_of(dialog, "Bell").proposal.task.request.model == "tiny"
    client.script = ["Another one."]
    choose(dialog, "Bell")
    dialog.detail.ask_again.click()
    wait()
    assert dialog.detail.field.toPlainText() == "Another one."


def test_recorded_answers_cost_nothing_the_next_time(window, wait, client) -> None:
    for _ in range(2):
        window.session.replays.choose(source=LOCAL)
        wait()
        dialog = window.features.proposals.summaries()
        wait()
        dialog.begin.click()
        wait()
        assert row_of(dialog, "Bell").proposal.after == "From the provider."
        dialog.done(0)
        wait()
    assert len(client.asked) == 2


@pytest.mark.always
def test_changing_the_source_keeps_what_was_proposed(window, wait, client) -> None:
    dialog = window.features.proposals.summaries()
    wait()
    choose(dialog, "Bell")
    dialog.skip_current()
    dialog.choose_source(LOCAL)
    wait()
    assert row_of(dialog, "Dawnkeep").proposal.answered_by == "offline stand-in"
    assert row_of(dialog, "Bell").state is RowState.SKIPPED
    assert client.asked == []
    assert dialog.begin.text() == "Ask Local about 1 note"  # what only rules wrote gives way
    assert dialog.status.text().startswith("1 call to the provider")
    assert window.session.choice.source == Source()  # the chat's own choice stays
    choose(dialog, "Dawnkeep")
    dialog.detail.ask_again.click()
    wait()
    assert row_of(dialog, "Dawnkeep").proposal.after == "From the provider."


@pytest.mark.long
def test_a_stop_keeps_what_is_done_and_the_rest_can_be_asked_later(window, wait, client, qtbot) -> None:
    window.session.replays.choose(source=LOCAL)
    wait()
    dialog = window.features.proposals.summaries()
    wait()

    async def slowly(request):
        client.asked.append(request)
        await asyncio.sleep(0 if len(client.asked) != 2 else 30)
        return ChatReply("Slow but sure.")

    client.complete = slowly
    dialog.begin.click()
    qtbot.waitUntil(lambda: len(client.asked) == 2)
    drain()
    assert row_of(dialog, "Dawnkeep").state is RowState.ASKING
    assert "1 of 2 asked. Now: Dawnkeep" in dialog.status.text()
    parts = (dialog.begin, dialog.stop, dialog.progress)
    assert [part.isVisible() for part in parts] == [False, True, True]
    assert (dialog.progress.maximum(), dialog.progress.value()) == (2, 1)
    assert [part.isEnabled() for part in (dialog.source, dialog.again, dialog.mode)] == [False] * 3
    choose(dialog, "Bell")
    assert not dialog.detail.ask_again.isEnabled()
    dialog.skip_current()  # deciding does not have to wait
    dialog.stop.click()
    assert not dialog.stop.isEnabled()
    wait()
    assert [part.isVisible() for part in parts] == [True, False, False]
    assert [part.isEnabled() for part in (dialog.source, dialog.again, dialog.mode)] == [True] * 3
    assert dialog.begin.text() == "Ask Local about 1 note"
    assert dialog.sum.text() == "1 skipped · 1 waiting · 1 left out"
    assert states(dialog) == {"Bell": "skipped", "Dawnkeep": "waiting", "Crown": "left out"}
    assert "Stopped" in dialog.bar.label.text()
    assert dialog.status.text().startswith("1 call to the provider: ")  # the one that waits, of two
    dialog.begin.click()
    wait()
    assert row_of(dialog, "Dawnkeep").proposal.after == "Slow but sure."
    assert not dialog.bar.isVisible()  # nothing is stopped any more


@pytest.mark.long
def test_a_refusal_ends_the_batch_with_the_reason(window, wait, client) -> None:
    window.session.replays.choose(source=LOCAL)
    wait()
    client.script = [failed("bad key", 401)]
    dialog = window.features.proposals.summaries()
    wait()
    dialog.begin.click()
    wait()
    assert len(client.asked) == 1
    assert states(dialog) == {"Bell": "failed", "Dawnkeep": "waiting", "Crown": "left out"}
    assert dialog.bar.label.text().startswith("The rest was not asked: ")
    assert "refused the key" in dialog.bar.label.text()
    choose(dialog, "Bell")
    assert "refused the key" in dialog.detail.words.text()
    assert dialog.sum.text() == "1 without a proposal · 1 waiting · 1 left out"
    dialog.choose_source(Source())  # whoever failed is asked for again
    assert not dialog.bar.isVisible()
    wait()
    assert states(dialog) == {"Bell": "proposed", "Dawnkeep": "proposed", "Crown": "left out"}


@pytest.mark.always
def test_a_run_that_breaks_says_why(window, wait, client) -> None:
    window.session.replays.choose(source=LOCAL)
    wait()
    dialog = window.features.proposals.summaries()
    wait()

    async def breaks(_request):
        raise ValueError("it broke")

    client.complete = breaks
    dialog.begin.click()
    wait()
    assert (dialog.bar.label.text(), dialog.bar.tone) == ("it broke", "error")
    assert (states(dialog)["Bell"], dialog.work.asking, dialog.begin.isVisible()) == ("waiting", False, True)


@pytest.mark.always
def test_who_can_be_asked_is_offered_and_who_is_gone_stays_named(window, wait) -> None:
    window.session.replays.choose(source=Source(AnswerKind.PROVIDER, "Gone"))
    wait()
    dialog = window.features.proposals.summaries()
    wait()

    def offered() -> list[tuple[str, bool]]:
        return [(act.text(), act.isChecked()) for act in dialog.source.menu().actions()]

    assert offered() == [
        ("Offline stand-in (no model)", False), ("Recorded answers", False), ("Provider: Local", False),
        ("Provider: Gone", True), ("I type the answers", False),
    ]  # fmt: skip
    assert (dialog.source.text(), dialog.source.accessibleName()) == ("Provider: Gone", "Answers: Provider: Gone")
    assert all(act.toolTip() for act in dialog.source.menu().actions())
    assert all(act.actionGroup() is not None for act in dialog.source.menu().actions())  # one of them at a time
    assert dialog.source.menu().toolTipsVisible()
    next(act for act in dialog.source.menu().actions() if act.text() == "I type the answers").trigger()
    wait()
    assert [text for text, checked in offered() if checked] == ["I type the answers"]
    assert "Provider: Gone" not in [text for text, _checked in offered()]
    assert dialog.begin.text() == "Make proposals for 2 notes"
    assert dialog.status.text() == "You are asked for the answers to 2 requests."


@pytest.mark.long
def test_an_unreadable_answer_can_be_mended_by_hand(window, wait, client, tmp_path, qtbot) -> None:
    window.session.replays.choose(source=LOCAL)
    wait()
    client.script = ["I would say: Dawnkeep."]
    dialog = window.features.proposals.keys([entry(window, "Dawnkeep")])
    wait()
    dialog.begin.click()
    wait()
    row = row_of(dialog, "Dawnkeep")
    assert row.state is RowState.FAILED
    assert "no JSON" in dialog.detail.words.text()
    assert dialog.detail.reply.toPlainText() == "I would say: Dawnkeep."
    dialog.detail.field.setPlainText("dawnkeep\nfortress\nthe Keep")
    qtbot.waitUntil(lambda: row.state is RowState.PROPOSED)
    dialog.detail.accept.click()
    wait()
    assert "keys: [dawnkeep, fortress, the Keep]" in text(tmp_path, "Dawnkeep")


def test_a_person_can_type_the_answers(window, wait, qtbot) -> None:
    window.session.replays.choose(source=Source(AnswerKind.TYPED))
    wait()
    dialog = window.features.proposals.summaries([entry(window, "Bell")])
    wait()
    assert "You are asked for the answers to 1 request" in dialog.status.text()
    dialog.begin.click()

    def questions():
        return [item for item in QApplication.topLevelWidgets() if isinstance(item, QuestionDialog)]

    qtbot.waitUntil(lambda: bool(questions()))
    (question,) = questions()
    assert question.windowTitle() == "Write a summary"
    question.reply.setPlainText("It rings by itself.")
    assert question.problem.text() == "19 characters"
    question.give.click()
    wait()
    assert row_of(dialog, "Bell").proposal.after == "It rings by itself."


def test_closing_while_a_person_is_asked_takes_the_question_away(window, wait, qtbot) -> None:
    window.session.replays.choose(source=Source(AnswerKind.TYPED))
    wait()
    dialog = window.features.proposals.summaries([entry(window, "Bell")])
    wait()
    dialog.begin.click()
    qtbot.waitUntil(lambda: any(isinstance(item, QuestionDialog) for item in QApplication.topLevelWidgets()))
    dialog.reject()
    wait()
    assert not [item for item in QApplication.topLevelWidgets() if isinstance(item, QuestionDialog)]


def ask_by_hand(window, wait, qtbot, titles):
    """Ask a person about these notes: the dialog and its first question."""
    window.session.replays.choose(source=Source(AnswerKind.TYPED))
    wait()
    dialog = window.features.proposals.summaries([entry(window, title) for title in titles])
    wait()
    dialog.begin.click()
    qtbot.waitUntil(lambda: any(isinstance(item, QuestionDialog) for item in QApplication.topLevelWidgets()))
    (question,) = [item for item in QApplication.topLevelWidgets() if isinstance(item, QuestionDialog)]
    return dialog, question


@pytest.mark.always
def test_a_person_who_is_asked_can_end_all_questions_at_once(window, wait, qtbot) -> None:
    dialog, question = ask_by_hand(window, wait, qtbot, ("Bell", "Dawnkeep"))
    qtbot.waitExposed(question)
    question.activateWindow()
    qtbot.keyClicks(question.reply, "It rings.")
    qtbot.keyClick(question.reply, Qt.Key.Key_Period, Qt.KeyboardModifier.ControlModifier)
    qtbot.waitUntil(lambda: bool(question.findChildren(QMessageBox)))  # the button is seen to go down first
    (box,) = question.findChildren(QMessageBox)
    assert (box.text(), question.isVisible()) == ("Your reply would be lost.", True)
    next(each for each in box.buttons() if each.text() == "Stop asking").click()
    wait()
    assert not [item for item in QApplication.topLevelWidgets() if isinstance(item, QuestionDialog)]
    assert dialog.sum.text() == "2 waiting"
    assert "Stopped" in dialog.bar.label.text()


def test_what_was_skipped_while_its_answer_was_awaited_stays_so(window, wait, qtbot) -> None:
    dialog, question = ask_by_hand(window, wait, qtbot, ["Bell"])
    row = row_of(dialog, "Bell")
    row.state = RowState.SKIPPED
    question.reply.setPlainText("It rings by itself.")
    question.give.click()
    wait()
    assert (row.state, row.proposal) == (RowState.SKIPPED, None)


def test_while_questions_are_under_way_nothing_else_is_asked_or_prepared(window, wait, qtbot) -> None:
    dialog, question = ask_by_hand(window, wait, qtbot, ["Bell"])
    work = dialog.work
    work.prepare(source=Source())
    work.start()
    assert (work.source, work.asking, work.busy) == (Source(AnswerKind.TYPED), True, False)
    question.reply.setPlainText("It rings by itself.")
    question.give.click()
    wait()
    assert row_of(dialog, "Bell").proposal.after == "It rings by itself."


def test_what_is_decided_cannot_be_edited_skipped_or_accepted_again(window, wait, tmp_path) -> None:
    dialog = window.features.proposals.summaries()
    wait()
    row = row_of(dialog, "Bell")
    dialog.work.accept([row])
    wait()
    written = text(tmp_path, "Bell")
    dialog.work.edit(row, "Mine.")
    dialog.work.skip(row)
    dialog.work.accept([row])
    assert not dialog.work.busy
    wait()
    assert (row.state, text(tmp_path, "Bell")) == (RowState.ACCEPTED, written)
    crown = row_of(dialog, "Crown")  # left out
    dialog.work.skip(crown)
    dialog.work.lock(crown)
    dialog.work.edit(crown, "Mine.")
    assert not dialog.work.busy
    wait()
    assert (crown.state, crown.edited) == (RowState.LEFT_OUT, False)


@pytest.mark.always
def test_another_use_leaves_what_was_accepted(window, wait) -> None:
    dialog = window.features.proposals.keys([entry(window, "Dawnkeep")])
    wait()
    row = row_of(dialog, "Dawnkeep")
    dialog.work.accept([row])
    wait()
    accepted = row.proposal
    assert row.state is RowState.ACCEPTED
    dialog.mode.setCurrentIndex(1)
    dialog.mode.activated.emit(1)
    wait()
    assert row_of(dialog, "Dawnkeep").proposal is accepted
    assert row_of(dialog, "Dawnkeep").state is RowState.ACCEPTED


def test_what_was_typed_in_the_shown_note_is_not_read_over(window, wait, monkeypatch) -> None:
    proposals, reverted = window.features.proposals, []
    monkeypatch.setattr(proposals._entry, "revert", lambda: reverted.append(True))
    for unsaved in (True, False):
        monkeypatch.setattr(type(proposals._entry), "unsaved", unsaved)
        dialog = proposals.summaries()
        wait()
        dialog.work.accept([next(row for row in dialog.work.rows if row.proposal is not None)])
        wait()
        assert reverted == ([] if unsaved else [True])


def test_a_list_of_locked_notes_that_cannot_be_read_is_told(window, wait, tmp_path) -> None:
    locks = tmp_path / "locks"
    locks.mkdir()
    window.features.proposals.locks = NoteLocks(locks)  # a folder is no list
    window.features.proposals.load_locks()
    wait()
    assert any("locks" in told for told in window.bars.texts)


# ---- keys and drafts ------------------------------------------------------------------------------------------------


@pytest.mark.long
def test_what_has_nothing_to_be_about_does_not_begin(window, make_window, wait) -> None:
    proposals = window.features.proposals
    window.selection.choose_entry(None)
    assert proposals.keys() is None
    proposals.toggle_lock()
    assert proposals.locks.load() == frozenset()
    window.session.set_project(replace(window.session.project, chat=Chat()))
    wait()
    assert proposals.draft() is None
    empty = make_window(file="other.ini").features.proposals
    assert (empty.summaries(), empty.draft()) == (None, None)


@pytest.mark.long
def test_keys_show_what_they_find_and_follow_the_editing(window, wait, qtbot) -> None:
    window.selection.choose_entry(entry(window, "Dawnkeep"))
    window.run("propose.keys")
    (dialog,) = [item for item in QApplication.topLevelWidgets() if isinstance(item, ProposalsDialog)]
    wait()

    def shown() -> list[tuple[str, ...]]:
        return [tuple(line) for line in dialog.detail.counts.counted.texts()[1:]]

    assert ("fortress", "stays", "in 1 of 4 messages") in shown()
    assert ("Mara Vey", "new", "in no message") in shown()
    dialog.detail.field.setPlainText("Skarn\nTam\nKeep")
    qtbot.waitUntil(lambda: ("Skarn", "new", "in 2 of 4 messages") in shown())
    assert ("fortress", "goes", "in 1 of 4 messages") in shown()
    assert look_of(dialog.work.rows[0])[2] == "look at it"
    assert dialog.all.text() == "Accept all (0)"
    assert dialog.detail.accept.isEnabled()


@pytest.mark.long
def test_another_use_of_the_keys_asks_anew(window, wait) -> None:
    dialog = window.features.proposals.keys([entry(window, "Dawnkeep")])
    wait()
    assert "so be precise" in dialog.detail.request.toPlainText()
    dialog.mode.setCurrentIndex(1)
    dialog.mode.activated.emit(1)
    wait()
    assert "broader words" in dialog.detail.request.toPlainText()


@pytest.mark.long
def test_a_draft_from_chosen_messages(window, wait, tmp_path, client) -> None:
    window.session.replays.choose(source=LOCAL)
    wait()
    client.script = [json.dumps({"title": "Old Tam", "keys": ["Tam", "ferry"], "summary": "A.", "content": "He rows."})]
    window.selection.choose_message(4, None)
    passage = window.features.proposals.draft()
    assert isinstance(passage, PassageDialog)
    assert passage.numbers == (0, 1, 2, 3, 4)
    assert passage.amount.text() == "4 messages, 1 hidden or empty left out"
    passage.first.setValue(3)
    passage.last.setValue(3)
    assert not passage.go_on.isEnabled()
    assert "hidden" in passage.amount.text()
    passage.first.setValue(4)
    assert "comes after" in passage.amount.text()
    passage.last.setValue(4)
    passage.first.setValue(2)
    passage.focus.setText("the ferryman")
    passage.accept()
    drain()
    (dialog,) = [item for item in QApplication.topLevelWidgets() if isinstance(item, ProposalsDialog)]
    wait()
    dialog.begin.click()
    wait()
    assert "<subject>\nthe ferryman\n</subject>" in client.asked[0].user
    assert "# Old Tam\n\nHe rows." in dialog.detail.field.toPlainText()
    assert dialog.detail.extent.text() == "Old Tam.md"
    dialog.detail.accept.click()
    wait()
    assert text(tmp_path, "Old Tam").endswith("# Old Tam\n\nHe rows.\n")
    assert dialog.work.rows[0].state is RowState.ACCEPTED
    assert window.session.entry(window.selection.entry).title == "Old Tam", "the new note is looked at"


def test_the_menu_of_a_message_drafts_a_note(window) -> None:
    menu = QMenu(window)
    window.commands.fill(menu, window.commands.known(window.features.chat.message_menu))
    assert "Draft a note from these messages…" in titles_of(menu)
    assert len([action for action in menu.actions() if not action.isSeparator()]) <= LONGEST_MENU
    menu.deleteLater()


@pytest.mark.always
def test_every_note_that_an_answer_drafts_is_a_row(window, wait, tmp_path, client) -> None:
    window.session.replays.choose(source=LOCAL)
    wait()
    notes = [{"title": title, "keys": ["Tam", "ferry"], "content": "It is."} for title in ("Old Tam", "The Ferry")]
    client.script = [json.dumps(notes)]
    window.features.proposals.draft().accept()
    drain()
    (dialog,) = [item for item in QApplication.topLevelWidgets() if isinstance(item, ProposalsDialog)]
    wait()
    dialog.begin.click()
    wait()
    assert [row.proposal.title for row in dialog.work.rows] == ["Old Tam", "The Ferry"]
    (tmp_path / "vault" / "The Ferry.md").write_text("mine", encoding="utf-8")
    for place, asks_again in ((0, True), (1, False)):
        dialog.choose(place)
        assert dialog.detail.ask_again.isEnabled() is asks_again
        dialog.detail.accept.click()
        wait()
    assert text(tmp_path, "Old Tam").endswith("# Old Tam\n\nIt is.\n")
    assert (dialog.work.rows[1].state, dialog.detail.extent.text()) == (RowState.PROPOSED, "The Ferry 2.md")
    dialog.detail.accept.click()
    wait()
    assert text(tmp_path, "The Ferry 2").endswith("# The Ferry\n\nIt is.\n")
    assert text(tmp_path, "The Ferry") == "mine"


def test_every_control_has_a_name_and_the_keyboard_reaches_the_buttons(window, wait, qtbot) -> None:
    dialog = window.features.proposals.summaries()
    wait()
    choose(dialog, "Bell")
    named = (dialog.table, dialog.detail.field, dialog.detail.diff.view, dialog.source, dialog.progress)
    assert all(widget.accessibleName() for widget in named)
    dialog.activateWindow()
    drain()
    QTest.keyClick(dialog.detail.field, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    qtbot.waitUntil(lambda: row_of(dialog, "Bell").state is RowState.ACCEPTED)


@pytest.mark.always
def test_keys_of_a_lorebooks_entry_are_proposed_written_and_taken_back(window, wait, tmp_path) -> None:
    book = tmp_path / "Book.json"
    fields = '"comment": "Bell", "key": ["gong"], "order": 1e2, "position": 0, "content": "The bell of Mara Vey."'
    book.write_text(f'{{"entries": {{"3": {{"uid": 3, {fields}}}}}}}', "utf-8")
    before = book.read_text("utf-8")
    window.session.set_project(open_project([book]))
    wait()
    window.selection.choose_entry(0)
    wait()
    actions = window.commands.actions
    can = {name: actions[name].isEnabled() for name in ("propose.keys", "propose.summaries", "propose.draft")}
    assert can == {"propose.keys": True, "propose.summaries": False, "propose.draft": False}
    dialog = window.features.proposals.keys()
    wait()
    assert not dialog.mode.isVisible()  # the keys alone decide
    assert states(dialog) == {"Bell": "proposed"}
    (row,) = dialog.work.rows
    assert row.filename == window.session.project.index.entries[0].filename
    dialog.accept_current()
    wait()
    keys = json.loads(book.read_text("utf-8"))["entries"]["3"]["key"]
    assert {"Bell", "gong", "Mara Vey"} <= set(keys)
    assert window.session.project.index.entries[0].keys == tuple(keys)
    dialog.work.undo()
    wait()
    assert book.read_text("utf-8") == before
    assert window.session.project.index.entries[0].keys == ("gong",)
