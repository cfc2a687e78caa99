"""The pages of recap memory alone: messages, scenes, the running recap, the prompt and the queue, in words."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from PySide6.QtCore import Qt, QTimer
from PySide6.QtWidgets import QLineEdit, QMessageBox, QPushButton, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from lorestudio.domain.records import replace
from lorestudio.llm.errors import ErrorKind, LlmError
from lorestudio.systems.recap.message_recaps import WalkDecision
from lorestudio.systems.recap.overview import MessageRow, PromptAt, RecapPicture, SceneRow, WalkRow
from lorestudio.systems.recap.queue import FinishedOperation, QueuedOperation, QueuePicture, QueueState, Status
from lorestudio.systems.recap.records import RecapState
from lorestudio.systems.recap.running import RunningRecaps, RunningVersion
from lorestudio.systems.recap.scenes.scenes import SceneLock
from lorestudio.trace.model import Outcome, Phase, StageRecord, Verdict
from lorestudio.ui.features.recap import pane as recap_pane
from lorestudio.ui.features.recap.memory import NoRecaps
from lorestudio.ui.features.recap.pages import MessagePage, RecapPromptPage, RunningPage
from lorestudio.ui.features.recap.pane import QueuePage, RecapPane, ScenePage, queue_words
from lorestudio.ui.shell.qt import TOOLTIP
from lorestudio.ui.shell.theme import Theme
from lorestudio.ui.widgets.work_pane import RowsPage
from tests.ui.conftest import drain, menu_of_row, titles_of
from tests.ui.drawing import at_the_right
from tests.ui.worlds import make_trace

FILE: Any = None

MESSAGES = (
    MessageRow(0, "Ada", "Hello.", RecapState.NONE, ""),
    MessageRow(1, "Wren", "Hi.", RecapState.INCLUDED, "They met.", edited=True, hidden=True),
    MessageRow(2, "", "Go.", RecapState.EXCLUDED, "They left.", stale=True, hidden=True, ends_scene=True, pinned=True),
    MessageRow(3, "Ada", "Stop.", RecapState.FAILED, "", error="too slow"),
)
SCENES = (
    SceneRow(2, (0, 2), "Arrival", "They came.", "1/2", SceneLock()),
    SceneRow(5, (3, 5), "Road", "", "0/0", SceneLock(), made_of=(0, 5)),
    SceneRow(7, (6, 7), "Inn", "They slept.", "2/2", SceneLock(by_itself=True)),
    SceneRow(9, (8, 9), "Morning", "They woke.", "2/3", SceneLock(by_later=True)),
)
LOCKED = "Locked: it is part of the running recap. Delete that version of it to change the scene."
RUNNING = RunningRecaps(
    current=2,
    versions=(
        RunningVersion(1, "Long ago.", 1, new_scene=2),
        RunningVersion(2, "Of late.", 2, new_scene=7, timestamp=1_700_000_000_000),
    ),
)
WRITTEN = "The recap was written by hand. Its scene is part of the running recap. It is hidden from the prompt."
PICTURE = RecapPicture(
    Path("Tale.jsonl"), FILE, MESSAGES, SCENES, RUNNING, in_running=frozenset({1}), trace=make_trace()
)


class Asked:
    """Says which of its methods is called, and with what."""

    def __init__(self, told: list[object]) -> None:
        self._told = told

    def __getattr__(self, name: str) -> Callable[..., None]:
        return lambda *values, **named: self._told.append((name, *values, *named.values()))


def asked_by(*signals: Any) -> list[object]:
    told: list[object] = []
    for signal in signals:
        signal.connect(lambda do: do(Asked(told)))
    return told


def agree(page: QWidget, button: str) -> None:
    (box,) = page.findChildren(QMessageBox)
    next(each for each in box.buttons() if each.text() == button).click()


def told_by(*signals: Any) -> list[object]:
    told: list[object] = []
    for signal in signals:
        signal.connect(lambda *news: told.append(news))
    return told


def stand_in_a_row(page: RowsPage, *buttons: QPushButton) -> bool:
    page.resize(900, 600)
    page.show()
    lefts = [each.mapTo(page, each.rect().topLeft()).x() for each in buttons]
    page.hide()
    return all(one < other for one, other in pairwise(lefts))


def column(page: RowsPage, place: int) -> list[str]:
    return [page.model.index(row, place).data() for row in range(page.model.rowCount())]


def enabled(*buttons: QPushButton) -> list[bool]:
    return [each.isEnabled() for each in buttons]


# ---- messages -------------------------------------------------------------------------------------------------------


def test_what_there_is_to_say_of_each_message(theme: Theme, qtbot: QtBot) -> None:
    page = MessagePage(theme)
    qtbot.addWidget(page)
    assert enabled(page.exclude, page.pin, page.again) == [False] * 3
    page.show_picture(PICTURE)
    said = []
    for row in MESSAGES:
        page.view.choose(row.index)
        said.append((page.words.text(), page.text.lines.toPlainText(), page.exclude.isChecked(), page.pin.isChecked()))
    assert said == [
        ("#0, Ada.", "", False, False),
        (f"#1, Wren. {WRITTEN}", "They met.", False, False),
        ("#2, nobody. The message was changed after its recap was made. It is hidden from the prompt.", "They left.",
         True, True),
        ("#3, Ada. The last attempt failed: too slow", "", False, False),
    ]  # fmt: skip
    assert at_the_right(page.model) == [0]
    assert [page.model.index(place, 3).data(TOOLTIP) for place in range(2)] == ["Hello.", "They met."]
    also = next(place for place in range(page.model.columnCount()) if "ends scene" in column(page, place)[2])
    assert column(page, also) == ["", "in running, hidden, by hand", "changed since, kept hidden, ends scene", ""]
    told = asked_by(page.edited, page.queued)
    page.exclude.click()
    page.pin.click()
    page.again.click()
    page.text.lines.setPlainText("Mine.")
    page.text.keep.click()
    assert told == [
        ("exclude", 3, True), ("keep_hidden", 3, True), ("enqueue_recap", 3), ("edit_message", 3, "Mine."),
    ]  # fmt: skip
    page.show_picture(None)
    assert (page.model.rowCount(), page.again.isEnabled()) == (0, False)


def test_a_text_is_written_only_where_a_message_is_chosen(theme: Theme, qtbot: QtBot) -> None:
    page = MessagePage(theme)
    qtbot.addWidget(page)
    page.show_picture(PICTURE)
    assert page.text.lines.isReadOnly()
    page.view.choose(3)
    assert not page.text.lines.isReadOnly()
    assert page.text.lines.placeholderText() == "No recap yet. Write one, or have it made."
    page.show_picture(None)
    assert (page.text.lines.isReadOnly(), page.text.lines.toPlainText()) == (True, "")


def test_what_was_begun_for_one_chat_is_not_offered_in_another(theme: Theme, qtbot: QtBot) -> None:
    page = MessagePage(theme)
    qtbot.addWidget(page)
    page.show_picture(PICTURE)
    page.view.choose(1)
    page.text.lines.setPlainText("Half a senten")
    page.show_picture(replace(PICTURE, notice="It is old."))
    page.view.choose(2)
    page.view.choose(1)
    assert page.text.lines.toPlainText() == "Half a senten"  # the same chat
    page.show_picture(replace(PICTURE, path=Path("Other.jsonl")))
    page.view.choose(2)
    page.view.choose(1)
    assert page.text.lines.toPlainText() == "They met."


# ---- scenes ---------------------------------------------------------------------------------------------------------


def test_what_can_be_done_with_each_scene(theme: Theme, qtbot: QtBot) -> None:
    page = ScenePage(theme)
    qtbot.addWidget(page)
    buttons = (page.before, page.after, page.make, page.combine, page.hide_break, page.delete)
    none = "Choose a scene first."
    assert [(each.text(), *each.toolTip().split("\n")) for each in buttons] == [
        ("‹ Version", "Use the version before", none),
        ("Version ›", "Use the next version", none),
        ("Make its recap", "Ask for the recap of the scene, as another version", none),
        ("Into the running recap", "Work its recap into the running recap", none),
        ("Remove the break", "Take the break away; its recap is kept (D)", none),
        ("Delete scene…", "Take out the break, its recap and what reaches to it", none),
    ]
    page.show_picture(None)
    assert enabled(*buttons) == [False] * 6
    page.show_picture(PICTURE)
    assert column(page, 0) == ["#0 to #2", "#3 to #5", "#6 to #7", "#8 to #9"]
    assert column(page, 1) == ["Recap", "No recap yet", "In running", "Locked"]
    assert column(page, 3) == ["Arrival", "Road", "Inn", "Morning"]
    assert stand_in_a_row(page, *buttons[3:])
    can, said = [], []
    for row in SCENES:
        page.view.choose(row.index)
        can.append(enabled(*buttons))
        said.append(page.words.text())
        assert page.text.lines.placeholderText() == "No recap yet. Write one, or have it made."
    assert can == [
        [False, True, True, True, True, True], [False, False, True, False, True, True],
        [False, False, False, False, True, True], [False, False, False, False, True, True],
    ]  # fmt: skip
    assert said == [
        "Arrival, messages #0 to #2.",
        "Road, messages #3 to #5. The original would make its recap of #0 to #5.",
        f"Inn, messages #6 to #7. {LOCKED}",
        "Morning, messages #8 to #9. Locked: a later scene is part of the running recap.",
    ]
    assert page.text.lines.isReadOnly()
    page.show_picture(replace(PICTURE, scenes=(replace(SCENES[0], versions="2/3"),)))
    page.view.choose(2)
    told = asked_by(page.edited, page.queued)
    for each in buttons:
        each.click()
    page.text.lines.setPlainText("Mine.")
    page.text.keep.click()
    done = [
        ("turn_scene", 2, -1), ("turn_scene", 2, 1), ("enqueue_scene", 2), ("enqueue_combine", 2), ("toggle_break", 2),
    ]  # fmt: skip
    assert told == [*done, ("edit_scene", 2, "Mine.")]
    agree(page, "Delete")
    assert told[-1] == ("delete_scene", 2)


def test_scenes_ask_for_a_choice_only_where_there_are_some(theme: Theme, qtbot: QtBot) -> None:
    page = ScenePage(theme)
    qtbot.addWidget(page)
    assert (page.words.text(), page.text.lines.isReadOnly()) == ("", True)
    page.show_picture(PICTURE)
    assert page.words.text() == "Choose a scene to read its recap, and to write it."
    page.show_picture(replace(PICTURE, scenes=()))
    assert page.words.text() == ""


# ---- the running recap ----------------------------------------------------------------------------------------------


def test_the_version_in_use_is_looked_at_first_and_alone_is_written(theme: Theme, qtbot: QtBot) -> None:
    page = RunningPage(theme)
    qtbot.addWidget(page)
    assert enabled(page.use, page.delete) == [False, False]
    page.show_picture(PICTURE)
    assert (page.view.current.number, enabled(page.use, page.delete)) == (2, [False, True])
    assert page.words.text() == (
        "Version 2 is made of 2 scenes and reaches to #7. 1 newer scene is not in it. It goes into the prompt."
    )
    assert not page.text.lines.isReadOnly()
    page.view.choose(1)
    assert page.words.text() == (
        "Version 1 is made of 1 scene and reaches to #2. 2 newer scenes are not in it. "
        "Only the version in use can be written."
    )
    assert (page.text.lines.isReadOnly(), enabled(page.use, page.delete)) == (True, [True, True])
    assert column(page, 1) == ["", "in use"]
    assert at_the_right(page.model) == [0, 2]
    made = [re.fullmatch(r"\d{4}-\d\d-\d\d \d\d:\d\d", words) is not None for words in column(page, 3)]
    assert (made, column(page, 3)[0]) == ([False, True], "")
    told = asked_by(page.edited)
    page.use.click()
    page.delete.click()
    page.show_picture(PICTURE)
    assert page.view.current.number == 1  # what was chosen stays
    page.show_picture(replace(PICTURE, running=replace(RUNNING, current=1)))
    page.text.lines.setPlainText("Mine.")
    page.text.keep.click()
    assert told == [("use_running", 1), ("edit_running", "Mine.")]
    agree(page, "Delete")
    assert told[-1] == ("delete_running", 1)
    page.show_picture(None)
    assert page.words.text() == ""


def test_a_text_that_was_kept_is_a_version_of_its_own(theme: Theme, qtbot: QtBot) -> None:
    page = RunningPage(theme)
    qtbot.addWidget(page)
    assert page.text.lines.isReadOnly()  # there is no version yet
    page.show_picture(PICTURE)
    page.text.lines.setPlainText("Mine.")
    page.text.keep.click()
    third = RunningVersion(3, "Mine.", 2, new_scene=7)
    page.show_picture(replace(PICTURE, running=replace(RUNNING, current=3, versions=(*RUNNING.versions, third))))
    assert (page.view.current.number, page.text.lines.toPlainText()) == (3, "Mine.")
    page.show_picture(replace(PICTURE, running=replace(RUNNING, versions=(*RUNNING.versions, third))))
    assert (page.view.current.number, page.text.lines.toPlainText()) == (2, "Of late.")
    page.text.lines.setPlainText("Half a senten")
    page.show_picture(replace(PICTURE, running=RunningRecaps(current=1, versions=RUNNING.versions[:1])))
    assert (page.text.lines.toPlainText(), page.text.unkept) == ("Long ago.", 0)  # the version was deleted
    page.show_picture(PICTURE)
    assert (page.text.lines.toPlainText(), page.text.unkept) == ("Half a senten", 1)


@pytest.mark.parametrize(("kind", "chosen", "stands"), [(RunningPage, 2, "Of late."), (ScenePage, 2, "They came.")])
def test_neither_is_what_was_begun_for_a_version_or_a_scene(
    theme: Theme, qtbot: QtBot, kind: type[RunningPage | ScenePage], chosen: int, stands: str
) -> None:
    page = kind(theme)
    qtbot.addWidget(page)
    free = replace(PICTURE, scenes=(replace(SCENES[0], versions="2/3"),))
    page.show_picture(free)
    page.view.choose(chosen)
    page.text.lines.setPlainText("Half a senten")
    page.show_picture(free)
    assert page.text.lines.toPlainText() == "Half a senten"
    page.show_picture(replace(free, path=Path("Other.jsonl")))
    page.view.choose(chosen)
    assert page.text.lines.toPlainText() == stands


# ---- the prompt -----------------------------------------------------------------------------------------------------

WALK = tuple(
    WalkRow(place, f"Recap {place}.", decision, after)
    for place, decision, after in (
        (4, WalkDecision.INCLUDED, 30), (3, WalkDecision.OVER_LIMIT, 90), (2, WalkDecision.EXCLUDED, None),
    )
)  # fmt: skip
PROMPT = PromptAt(5, "Of late.", 12, "before the chat", 2, WALK, 30, 50, 2, make_trace())


def test_what_a_reply_is_given(theme: Theme, qtbot: QtBot) -> None:
    page = RecapPromptPage(theme)
    qtbot.addWidget(page)
    assert page.bar.isHidden()
    assert (page.text.isReadOnly(), page.text.tabChangesFocus()) == (True, True)
    page.show_prompt(PROMPT)
    assert page.words.text() == (
        "Reply #5 is given version 2 of the running recap, 12 tokens, before the chat. Messages before #2 are hidden "
        "by scenes. 2 messages take no part. Recaps of messages are for reading: 30 tokens of 50 fit."
    )
    bar = page.bar
    assert (bar.isHidden(), bar.minimum(), bar.maximum(), bar.value()) == (False, 0, 50, 30)
    assert column(page, 1) == ["Fits", "Does not fit", "Left out"]
    assert column(page, 2) == ["30 of 50", "90 of 50", ""]
    assert column(page, 3) == ["Recap 4.", "Recap 3.", "Recap 2."]
    assert at_the_right(page.model) == [0, 2]
    assert page.text.toPlainText() == "Of late."
    page.view.choose(WALK[1].index)
    assert not page.why.isVisibleTo(page)  # nothing is known of it
    lost = Verdict(WALK[1].index, Outcome.REMOVED, "over_budget", {"tokens": 60, "free": 20, "needs": 60})
    walked = replace(PROMPT.trace, stages=(StageRecord("inclusion walk", Phase.BUDGET, verdicts=(lost,)),))
    page.show_prompt(replace(PROMPT, trace=walked))
    assert page.why.isVisibleTo(page)
    assert page.why.text().startswith(f"#{WALK[1].index}: ")
    assert page.model.index(1, 3).data(TOOLTIP) == page.why.text()
    assert "2 messages take no part: 1 cut by the budget." in page.words.text()
    page.show_prompt(replace(PROMPT, version=None, limit=None, hidden=0, rows=WALK[:1]))
    assert page.words.text().startswith(
        "Reply #5 is given no running recap. Recaps that take part: 30 tokens; nobody knows the model's room"
    )
    assert (page.bar.isHidden(), column(page, 2)) == (True, ["30"])
    page.show_prompt(None)
    assert (page.words.text(), page.text.toPlainText()) == ("", "")


def test_why_a_recap_is_left_out_stands_below_while_it_is_chosen(theme: Theme, qtbot: QtBot) -> None:
    page = RecapPromptPage(theme)
    qtbot.addWidget(page)
    lost = Verdict(WALK[1].index, Outcome.REMOVED, "over_budget", {"tokens": 60, "free": 20, "needs": 60})
    walked = replace(PROMPT.trace, stages=(StageRecord("inclusion walk", Phase.BUDGET, verdicts=(lost,)),))
    page.show_prompt(replace(PROMPT, trace=walked))
    assert not page.bar.isTextVisible()  # the words say it
    assert not page.why.isVisibleTo(page)
    page.view.choose(WALK[1].index)
    assert page.why.isVisibleTo(page)
    assert page.why.text().startswith(f"#{WALK[1].index}: ")
    page.view.choose(WALK[0].index)
    assert (page.why.isVisibleTo(page), page.why.text()) == (False, "")


# ---- the queue ------------------------------------------------------------------------------------------------------


def operation(name: str, **more: Any) -> QueuedOperation:
    return QueuedOperation(id=name, type="validate_recap", **more)


def test_the_queue_in_a_sentence() -> None:
    one = QueueState((operation("a"),))
    failed = QueueState((operation("a", status=Status.RETRYING, error="Retry 1 of 3: too slow."),))
    assert [queue_words(queue) for queue in (
        QueuePicture(), QueuePicture(one), QueuePicture(one, working=True, done=2),
        QueuePicture(replace(one, paused=True)), QueuePicture(replace(one, paused=True), working=True),
    )] == [
        "Nothing waits. These are the last steps.", "1 step left from before. “Resume” goes on where it ended.",
        "At work: 2 done, 1 left.", "Paused. 1 step left.",
        "Pausing: the step under way is finished first. 1 step left.",
    ]  # fmt: skip
    soon = time.monotonic() + 5.2
    assert queue_words(QueuePicture(failed, retry_at=soon)) == (
        "An attempt failed: too slow. The next one is in 5 s. 1 step left."
    )
    told = "Rate limit reached for requests of this key, as the plan of the account says"
    busy = LlmError(ErrorKind.RATE_LIMITED, told, status=429, who="Home", retry_after_s=7)
    refused = QueueState((operation("a", status=Status.RETRYING, error=f"Retry 1 of 3: {busy}"),))
    said = queue_words(QueuePicture(refused, retry_at=soon))
    assert f"(HTTP 429). It says: {told}. It asks to wait 7 s. Wait a little and try again, or choose another " in said
    assert said.endswith("profile. The next one is in 5 s. 1 step left.")
    assert queue_words(QueuePicture(one, retry_at=soon)).startswith("It waits before the next step. The next one is")
    assert "in 0 s" in queue_words(QueuePicture(failed, retry_at=time.monotonic() - 9))


def test_steps_that_wait_stand_before_those_that_are_over(theme: Theme, qtbot: QtBot) -> None:
    page = QueuePage(theme)
    qtbot.addWidget(page)
    buttons = (page.remove, page.stop_before, page.hurry, page.clear)
    assert enabled(*buttons) == [False] * 4
    state = QueueState(
        (operation("low", priority=1), operation("high", priority=5, pause_before=True),
         operation("now", status=Status.IN_PROGRESS)),
        log=(FinishedOperation("validate_recap", "Look", "completed", "", 0, id="old"),
             FinishedOperation("validate_recap", "Look", "failed", "too slow", 1_700_000_000_000, id="bad")),
    )  # fmt: skip
    page.show_queue(QueuePicture(state, working=True))
    assert [row.key.split()[-1] for row in page.model.rows] == ["now", "high", "low", "bad", "old"]
    assert column(page, 0) == ["Under way", "Waits", "Waits", "Failed", "Done"]
    assert column(page, 2)[4] == ""
    assert stand_in_a_row(page, *buttons)
    assert re.fullmatch(r"\d\d:\d\d:20 too slow", column(page, 2)[3])
    for place in (0, 1, 2):  # what failed stands out whole, what is over stands back
        assert [page.model.index(row, place).data(Qt.ItemDataRole.ForegroundRole) for row in (2, 3, 4)] == [
            None, theme.color("error"), theme.color("text_muted"),
        ]  # fmt: skip
    can = []
    for row in page.model.rows:
        page.view.choose(row.key)
        can.append((*enabled(*buttons), page.stop_before.text()))
    assert can == [
        (True, False, False, True, "Stop before it"), (True, True, False, True, "Do not stop"),
        (True, True, False, True, "Stop before it"), (False, False, False, True, "Stop before it"),
        (False, False, False, True, "Stop before it"),
    ]  # fmt: skip
    page.view.choose("high")
    assert page.words.text().endswith(": the queue stops before it")
    told = asked_by(page.asked)
    page.show_queue(QueuePicture(state, working=True, retry_at=time.monotonic() + 5))
    page.view.choose("low")
    assert [each.toolTip() for each in buttons] == [
        "Take this step out, also while it is under way", "Pause the queue when this step would begin",
        "Do not wait for the next attempt", "Take all steps out",
    ]  # fmt: skip
    for each in buttons:
        each.click()
    assert told == [("remove", "low"), ("toggle_pause_before", "low"), ("hurry",), ("clear",)]


def test_the_next_attempt_is_counted_down_while_somebody_looks(
    theme: Theme, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = QueuePage(theme)
    qtbot.addWidget(page)
    (second,) = page.findChildren(QTimer, options=Qt.FindChildOption.FindDirectChildrenOnly)
    now = [1000.0]
    set_back = SimpleNamespace(monotonic=lambda: now[0], time=lambda: 0.0)
    monkeypatch.setattr(recap_pane, "time", set_back)
    waits = QueuePicture(QueueState((operation("a"),)), working=True, retry_at=1030.0)
    page.show_queue(waits)
    assert "in 30 s" in page.words.text()
    assert not second.isActive()  # it is not in sight
    page.show()
    assert (second.isActive(), second.interval()) == (True, 1000)
    now[0] = 1010.0
    second.timeout.emit()
    assert "in 20 s" in page.words.text()
    page.show_queue(replace(waits, retry_at=None))
    assert not second.isActive()
    assert "At work" in page.words.text()
    page.show_queue(waits)
    assert second.isActive()
    page.hide()
    assert not second.isActive()


def test_a_step_tells_its_remark_or_itself(theme: Theme, qtbot: QtBot) -> None:
    page = QueuePage(theme)
    qtbot.addWidget(page)
    plain, stopped = operation("a", priority=2), operation("b", pause_before=True)
    page.show_queue(QueuePicture(QueueState((plain, stopped))))
    assert [page.model.index(row, 1).data(TOOLTIP) for row in range(2)] == [plain.words, "the queue stops before it"]


# ---- the pane around them -------------------------------------------------------------------------------------------


@pytest.fixture
def pane(theme: Theme, qtbot: QtBot) -> RecapPane:
    made = RecapPane(theme)
    qtbot.addWidget(made)
    made.resize(600, 500)
    made.show()
    return made


def test_the_pane_says_why_there_are_no_recaps(pane: RecapPane) -> None:
    heads = told_by(pane.note_changed)
    seen = []
    for hindrance, problem in ((each, "") for each in NoRecaps):
        pane.show_recaps(None, hindrance, problem, unsaved=False)
        seen.append(pane.empty.title.text())
    pane.show_recaps(PICTURE, None, "It is damaged.", unsaved=False)
    seen.append(pane.empty.title.text())
    pane.show_recaps(None, None, "", unsaved=False)
    seen.append(pane.empty.title.text())
    assert seen == [
        "No chat open", "The chat is in no file yet", "The demo's files stay as they are",
        "Plain text holds no recaps", "The recaps cannot be read", "Reading the recaps…",
    ]  # fmt: skip
    assert pane.empty.isVisible()
    assert heads[-1] == ("",)
    pane.show_recaps(PICTURE, None, "", unsaved=False)
    assert (pane.empty.isVisible(), pane.notice.isVisible()) == (False, False)
    assert heads[-1] == ("1 of 4 with a recap · 4 scenes · version 2",)
    again = replace(MESSAGES[3], recap="She stopped.")  # a second attempt failed
    pane.show_recaps(replace(PICTURE, messages=(*MESSAGES[:3], again)), None, "", unsaved=False)
    assert heads[-1] == ("2 of 4 with a recap · 4 scenes · version 2",)
    assert pane.focus_target() is pane.messages.view


def test_the_pane_offers_to_save_what_is_not_in_the_file(pane: RecapPane) -> None:
    told = told_by(pane.wanted)
    pane.show_recaps(replace(PICTURE, notice="It is old."), None, "", unsaved=False)
    assert (pane.notice_text.text(), pane.save.text()) == ("It is old.", "Use it here")
    pane.save.click()
    assert told.pop() == ("recap.adopt",)
    pane.show_recaps(PICTURE, None, "", unsaved=True)
    assert pane.notice_text.text().startswith("The chat has changes")
    pane.save.click()
    assert told == [("chat.save",)]


def test_the_pane_pauses_what_works_and_resumes_what_is_left(pane: RecapPane) -> None:
    pane.show_recaps(PICTURE, None, "", unsaved=False)
    one = QueueState((operation("a"),))
    shown = []
    for queue in (QueuePicture(), QueuePicture(one), QueuePicture(one, working=True, done=3),
                  QueuePicture(replace(one, paused=True), working=True)):  # fmt: skip
        pane.show_queue(queue, "stand-in", "the stand-in")
        names = ("recap.pause", "recap.resume")
        shown.append((*(pane.buttons[name].isVisibleTo(pane) for name in names), pane.progress.isVisibleTo(pane)))
    assert shown == [(False, False, False), (False, True, False), (True, False, True), (False, True, True)]
    assert (pane.progress.maximum(), pane.tabs.tabText(4)) == (1, "Queue (1)")
    pane.show_queue(QueuePicture(one, working=True, done=3), "stand-in", "the stand-in")
    assert (pane.progress.maximum(), pane.progress.value()) == (4, 3)
    pane.show_queue(QueuePicture(), "stand-in", "the stand-in")
    assert pane.tabs.tabText(4) == "Queue"


def test_what_an_empty_part_offers_is_asked_for(pane: RecapPane) -> None:
    told = told_by(pane.wanted)
    pane.show_recaps(replace(PICTURE, scenes=(), running=RunningRecaps()), None, "", unsaved=False)
    for page in (pane.scenes, pane.running, pane.queue):
        pane.tabs.setCurrentWidget(page)
        drain()
        (offer,) = (each for each in page.empty.findChildren(QPushButton) if each.isVisible())
        offer.click()
    assert told == [("recap.search",), ("recap.run",), ("recap.run",)]


def test_the_pane_says_that_it_is_in_sight(theme: Theme, qtbot: QtBot) -> None:
    pane = RecapPane(theme)
    qtbot.addWidget(pane)
    told = told_by(pane.looked_at)
    assert told == []
    pane.show()
    assert told == [()]


def test_without_recaps_nothing_is_left_of_the_prompt(pane: RecapPane) -> None:
    pane.show_recaps(PICTURE, None, "", unsaved=False)
    pane.prompt.show_prompt(PROMPT)
    pane.show_recaps(None, NoRecaps.NO_CHAT, "", unsaved=False)
    assert (pane.prompt.words.text(), pane.prompt.model.rowCount()) == ("", 0)


def test_a_notice_stands_above_only_while_there_is_one(pane: RecapPane) -> None:
    seen = []
    for notice, unsaved in (("", False), ("It is old.", False), ("", True), ("", False)):
        pane.show_recaps(replace(PICTURE, notice=notice), None, "", unsaved=unsaved)
        seen.append((pane.notice.isVisible(), pane.save.isVisible()))
    assert seen == [(False, False), (True, True), (True, True), (False, False)]


def test_the_state_of_the_queue_is_said_while_there_is_something_to_say(pane: RecapPane) -> None:
    pane.show_recaps(PICTURE, None, "", unsaved=False)
    one = QueueState((operation("a"),))
    seen = []
    for queue in (QueuePicture(), QueuePicture(one), QueuePicture(working=True, done=2)):
        pane.show_queue(queue, "stand-in", "the stand-in")
        seen.append((pane.state.isVisible(), pane.state.text()))
        assert pane.progress.accessibleDescription() == pane.state.text()
    assert seen == [
        (False, "Nothing waits. These are the last steps."),
        (True, "1 step left from before. “Resume” goes on where it ended."),
        (True, "At work: 2 done, 0 left."),
    ]
    assert pane.asked.text() == "stand-in"
    assert pane.asked.accessibleName() == "Recaps are written by: the stand-in"
    assert pane.asked.toolTip().startswith("the stand-in. ")


def test_the_keyboard_that_came_early_goes_to_the_rows_when_they_come(pane: RecapPane, qtbot: QtBot) -> None:
    pane.activateWindow()
    qtbot.waitUntil(pane.isActiveWindow)
    pane.show_recaps(None, None, "", unsaved=False)
    assert pane.focus_target() is pane
    pane.setFocus()
    pane.show_recaps(PICTURE, None, "", unsaved=False)
    assert pane.window().focusWidget() is pane.messages.view
    pane.tabs.setCurrentWidget(pane.queue)
    assert pane.focus_target() is pane.tabs.tabBar()  # there are no rows to go to
    pane.buttons["recap.settings"].setFocus()
    pane.show_recaps(PICTURE, None, "", unsaved=False)  # it is taken once
    assert pane.window().focusWidget() is pane.buttons["recap.settings"]


def test_the_keyboard_stays_where_somebody_took_it_meanwhile(theme: Theme, qtbot: QtBot) -> None:
    around = QWidget()
    qtbot.addWidget(around)
    pane, other = RecapPane(theme), QLineEdit()
    stack = QVBoxLayout(around)
    stack.addWidget(other)
    stack.addWidget(pane)
    around.show()
    around.activateWindow()
    pane.show_recaps(None, None, "", unsaved=False)
    pane.focus_target().setFocus()
    other.setFocus()
    pane.show_recaps(PICTURE, None, "", unsaved=False)
    assert around.focusWidget() is other


def test_the_keyboard_of_an_empty_pane_goes_to_the_rows_from_any_of_its_parts(pane: RecapPane) -> None:
    pane.activateWindow()
    pane.show_recaps(None, None, "", unsaved=False)
    pane.focus_target()
    pane.buttons["recap.settings"].setFocus()
    pane.show_recaps(PICTURE, None, "", unsaved=False)
    assert pane.window().focusWidget() is pane.messages.view


def test_the_menu_of_a_row_has_its_buttons_as_they_are(theme: Theme, qtbot: QtBot) -> None:
    page = MessagePage(theme)
    qtbot.addWidget(page)
    page.show_picture(PICTURE)
    page.show()
    told = asked_by(page.edited, page.queued)
    menu = menu_of_row(page.view, page.model.index(2, 0))
    again, leave_out, hidden, *_copy = menu.actions()
    assert titles_of(menu) == ["Make its recap", "Leave its recap out", "Keep it hidden", "Copy"]
    assert [each.isChecked() for each in (again, leave_out, hidden)] == [False, True, True]
    assert again.toolTip() == "Ask for the recap of this message, also again"
    leave_out.trigger()
    again.trigger()
    menu.close()
    assert told == [("exclude", 2, False), ("enqueue_recap", 2)]
    scenes = ScenePage(theme)
    qtbot.addWidget(scenes)
    scenes.show_picture(PICTURE)
    scenes.show()
    menu = menu_of_row(scenes.view, scenes.model.index(2, 0))
    assert titles_of(menu, enabled=True) == ["Remove the break", "Delete scene…", "Copy"], "it is locked"
    menu.close()
