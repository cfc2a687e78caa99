"""The pane Recorded and replayed alone: what it says of replies and causes, and what can be taken over."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from PySide6.QtWidgets import QPushButton

from lorestudio.domain.chat import Generation
from lorestudio.domain.lifecycle import Progress
from lorestudio.studio.verify.agreement import Agreement, ComparedEntry, ComparedReply, WentIn
from lorestudio.studio.verify.causes import Cause, Verified
from lorestudio.ui.features.verify.pane import VerifyPane, cause_story, difference_words, reply_story

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

    from lorestudio.ui.shell.theme import Theme

ENTRIES = (ComparedEntry(WentIn.BOTH, "Bell"), ComparedEntry(WentIn.HERE, "Skarn"))
FIRST, SECOND = Generation(2), Generation(4, 1)


def suspect(*, settings: object = None, unknowable: bool = False) -> Any:
    return SimpleNamespace(title="Scan depth was 3.", settings=settings, hidden=None, unknowable=unknowable)


@pytest.fixture
def pane(theme: Theme, qtbot: QtBot) -> VerifyPane:
    made = VerifyPane(theme)
    qtbot.addWidget(made)
    return made


def test_a_reply_in_words() -> None:
    alike = ComparedReply(FIRST, Agreement.AGREES, ENTRIES[:1])
    other = ComparedReply(SECOND, Agreement.DIFFERS, ENTRIES, reordered=True, because=("It was cut.",))
    assert [each.generation.name for each in (alike, other)] == ["#2", "#4 ‹2›"]
    assert [difference_words(each) for each in (alike, other)] == ["", "Skarn only in the run; another order"]
    unrecorded = ComparedReply(FIRST, Agreement.NO_RECORD, ENTRIES[1:], because=("Nothing is recorded.",))
    assert difference_words(unrecorded) == ""
    assert reply_story(alike) == "#2: agrees.\nBell: in both, – recorded, – in the run"
    assert reply_story(other).split("\n")[:2] == [
        "#4 ‹2›: differs. It was cut.", "The order in the prompt is another one.",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("cause", "told"),
    [
        (
            Cause(suspect(), explains=(FIRST, SECOND), closer=(FIRST,), broken=1, checked=3),
            ["With it these replies come out as recorded: #2, #4.", "1 of 3 replies that agree would not."],
        ),
        (Cause(suspect(), closer=(SECOND,), checked=3), ["It is a part of what differs in #4."]),
        (Cause(suspect(unknowable=True)), ["No file keeps that, so it may be and may not."]),
    ],
)
def test_a_cause_in_words(cause: Cause, told: list[str]) -> None:
    assert cause_story(cause).split("\n") == ["Scan depth was 3.", *told]


@pytest.mark.parametrize(
    ("verdicts", "head"),
    [
        ((Agreement.AGREES, Agreement.DIFFERS), "1 reply differs"),
        ((Agreement.AGREES, Agreement.MAY_BE), "all agree"),
        ((Agreement.NO_RECORD, Agreement.NOT_TRUSTED), ""),
    ],
)
@pytest.mark.parametrize("settings", [None, {"scanDepth": 3}])
def test_what_was_found_and_what_can_be_taken_over(
    pane: VerifyPane, verdicts: tuple[Agreement, ...], head: str, settings: object
) -> None:
    heads: list[str] = []
    pane.note_changed.connect(heads.append)
    replies = tuple(ComparedReply(*each) for each in zip((FIRST, SECOND), verdicts, strict=True))
    causes = (Cause(suspect(settings=settings), explains=(FIRST,)),)
    pane.show_verified(Verified(replies, causes, ("A remark.",)))
    assert heads == [head]
    assert pane.state.text().endswith(" A remark.")
    assert [pane.replies.index(row, 1).data() for row in range(2)] == [str(each) for each in verdicts]
    assert pane.causes.index(0, 1).data() == "1"
    assert pane.story.text() == cause_story(causes[0])
    assert (pane.take.isHidden(), pane.take.isEnabled()) == (False, settings is not None)
    wanted: list[str] = []
    pane.wanted.connect(wanted.append)
    pane.take.click()
    assert wanted == ([] if settings is None else ["verify.take"])
    pane.reply_view.choose(SECOND)
    assert pane.story.text() == reply_story(replies[1])
    pane.show_verified(Verified(replies))
    assert (pane.cause_view.isHidden(), pane.take.isHidden(), pane.story.text()) == (True, True, "")
    assert pane.focus_target() is pane.reply_view


def test_how_far_it_is_and_that_there_is_nothing(pane: VerifyPane) -> None:
    pane.show_progress(Progress(0, 0))
    assert pane.state.text() == "Comparing… 0 %"
    pane.show_progress(Progress(2, 3))
    assert pane.state.text() == "Comparing… 67 %"
    pane.show_nothing("No chat", "Open one.", (("chat.open", "Open"),))
    assert (pane.state.text(), pane.again.isHidden(), pane.take.isHidden()) == ("", True, True)
    assert (pane.empty.title.text(), pane.focus_target()) == ("No chat", pane.empty)
    wanted: list[str] = []
    pane.wanted.connect(wanted.append)
    pane.empty.pressed.emit("chat.open")
    pane.again.click()
    pane.take.click()
    assert wanted == ["chat.open", "verify.compare"], "without a cause there is nothing to take over"
    pane.show_verified(Verified((ComparedReply(FIRST, Agreement.AGREES),)))
    assert (pane.again.isHidden(), pane.take.isHidden()) == (False, True)


def test_a_chat_without_any_record_is_said_once_with_what_helps(pane: VerifyPane) -> None:
    told = ("Nothing is recorded: recording was off.",)
    none = tuple(ComparedReply(each, Agreement.NO_RECORD, because=told) for each in (FIRST, SECOND))
    pane.show_verified(Verified(none, (), ("A remark.",)))
    assert pane.replies.rows == ()
    assert pane.empty.title.text() == "The chat recorded nothing"
    assert pane.empty.text.text() == f"{told[0]} A remark. Live capture keeps the real prompts from now on."
    buttons = [each.text() for each in pane.empty.findChildren(QPushButton) if not each.isHidden()]
    assert buttons == ["Live capture…", "Compare again"]
    pane.show_verified(Verified((none[0], ComparedReply(SECOND, Agreement.NOT_TRUSTED))))
    assert [pane.replies.index(row, 1).data() for row in range(2)] == ["no record", "record not trusted"]
