"""A proposal alone: what rows say, what is told of one, when it can be decided, and what a draft is made of."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QWidget

from lorestudio.domain.chat import Chat, Message
from lorestudio.domain.records import replace
from lorestudio.studio.proposals.model import KeyCount, Proposal, ProposalKind, ProposalRemark
from lorestudio.ui.features.proposals.actions import USUAL, PassageDialog
from lorestudio.ui.features.proposals.detail import KeyCounts, ProposalDetail, look_of, proposal_table, what
from lorestudio.ui.features.proposals.worker import Row, RowState
from lorestudio.ui.shell.qt import ACCESSIBLE_TEXT, DISPLAY, TOOLTIP
from lorestudio.ui.shell.theme import Theme
from tests.ui.drawing import words_drawn

SUMMARY, KEYS, DRAFT = ProposalKind.SUMMARY, ProposalKind.KEYS, ProposalKind.DRAFT
TASK: Any = SimpleNamespace(request=SimpleNamespace(user="What is it?", system="Be brief."))
COUNTS = (
    KeyCount("fortress", (1,), now=True, proposed=True),
    KeyCount("keep", (), now=False, proposed=True),
    KeyCount("tower", tuple(range(9)), now=True, proposed=False),
)


def proposal(kind: ProposalKind = SUMMARY, before: Any = "", after: Any = "It rings.", **more: Any) -> Proposal:
    return Proposal(kind, Path("v/Bell.md"), "Bell", before, after, None, TASK, **more)


def row(state: RowState = RowState.PROPOSED, made: Proposal | None = None, note: str = "") -> Row:
    return Row("Bell", "Bell.md", state, TASK, made, note)


DOUBT = ProposalRemark("It is long.", serious=True)
CALM = ProposalRemark("It is short.", serious=False)


# ---- rows -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("made", "words"),
    [
        (proposal(), "9 characters"),
        (proposal(before="Old."), "9 characters, 4 before"),
        (proposal(after=""), ""),
        (proposal(KEYS, ("a", "b"), ("b", "c", "d")), "3 keys +2 −1"),
        (proposal(KEYS, ("a", "b"), ("a",)), "1 key −1"),
        (proposal(KEYS, (), ("a",)), "1 key +1"),
        (proposal(KEYS, ("a",), ("a",)), "1 key"),
        (proposal(DRAFT, after="# Bell"), "new note “Bell”"),
    ],
)
def test_a_row_says_what_would_change(made: Proposal, words: str) -> None:
    assert what(row(made=made, note="a note")) == words


def test_only_what_is_left_out_says_why_instead() -> None:
    assert [what(row(state, note="locked")) for state in (RowState.LEFT_OUT, RowState.SKIPPED)] == ["locked", ""]


@pytest.mark.parametrize(
    ("shown", "word", "unseen"),
    [
        (row(made=proposal()), "to decide", True),
        (row(made=proposal(remarks=(CALM,))), "to decide", True),
        (row(made=proposal(remarks=(CALM, DOUBT))), "look at it", False),
        (row(made=proposal(remarks=(DOUBT,), problem="It is empty.")), "cannot be accepted yet", False),
        (row(RowState.ACCEPTED, proposal(problem="It is empty.")), "accepted", False),
        (row(RowState.SKIPPED, proposal()), "skipped by you", False),
        (row(RowState.WAITING), "waiting", False),
    ],
)
def test_a_row_looks_as_it_stands(shown: Row, word: str, unseen: bool) -> None:
    assert (look_of(shown)[2], shown.acceptable_unseen) == (word, unseen)


def test_a_row_is_told_in_full_to_who_points_at_it_and_who_does_not_see_it(theme: Theme, qtbot) -> None:
    parent = QWidget()
    qtbot.addWidget(parent)
    model = proposal_table(theme, parent)
    model.set_rows([row(made=proposal(), note="Look."), row(RowState.WAITING)])
    first, second = (model.index(place, 0) for place in range(2))
    assert first.siblingAtColumn(2).data(DISPLAY) == "to decide"
    assert (first.data(TOOLTIP), second.data(TOOLTIP)) == ("Bell.md\nLook.", "Bell.md")
    assert first.data(ACCESSIBLE_TEXT) == "Bell, 9 characters, to decide, Look."
    assert second.data(ACCESSIBLE_TEXT) == "Bell, waiting"


@pytest.mark.parametrize(
    ("searched", "found"),
    [(9, ["in 1 of 9 messages", "in no message", "in 9 of 9 messages"]), (0, ["no chat is open"] * 3)],
)
def test_keys_say_what_they_find(theme: Theme, qtbot, searched: int, found: list[str]) -> None:
    view = KeyCounts(theme)
    qtbot.addWidget(view)
    view.show_counts(COUNTS, searched)
    model = view.counted
    changes = ["stays", "new", "goes"]
    assert [list(line) for line in model.texts()[1:]] == [
        [count.key, change, words] for count, change, words in zip(COUNTS, changes, found, strict=True)
    ]
    spoken = [model.index(place, 0).data(ACCESSIBLE_TEXT) for place in range(3)]
    assert spoken == [
        f"{count.key}, {change}, {words}" for count, change, words in zip(COUNTS, changes, found, strict=True)
    ]
    tips = [model.index(place, 2).data(TOOLTIP) for place in range(3)]
    assert [tip or "" for tip in tips] == ["#1", "", "#0, #1, #2, #3, #4, #5, #6, #7…"]


def test_as_many_messages_as_are_named_are_all(theme: Theme, qtbot) -> None:
    view = KeyCounts(theme)
    qtbot.addWidget(view)
    view.show_counts((KeyCount("tower", tuple(range(8)), now=True, proposed=True),), 9)
    assert view.counted.index(0, 2).data(TOOLTIP) == "#0, #1, #2, #3, #4, #5, #6, #7"


# ---- one proposal ---------------------------------------------------------------------------------------------------

NOTHING = ("All is done", "Go home.")


def shown(theme: Theme, qtbot: Any, kind: ProposalKind = SUMMARY) -> ProposalDetail:
    detail = ProposalDetail(theme, kind)
    qtbot.addWidget(detail)
    detail.resize(500, 500)
    detail.show()
    return detail


def able(detail: ProposalDetail) -> list[bool]:
    return [each.isEnabled() for each in (detail.accept, detail.skip, detail.lock, detail.ask_again)]


@pytest.mark.parametrize(
    ("at", "said"),
    [
        (None, NOTHING),
        (row(RowState.ASKING), ("Bell", "The answer is awaited.")),
        (row(RowState.LEFT_OUT, note="It is locked."), ("Nothing is proposed for Bell", "It is locked.")),
        (row(RowState.SKIPPED), ("Bell", "You left this note as it is.")),
        (row(RowState.WAITING), ("Bell", "Nobody was asked about it yet. Begin above, on the right.")),
    ],
)
def test_a_row_without_a_proposal_says_why(theme: Theme, qtbot, at: Row | None, said: tuple[str, str]) -> None:
    detail = shown(theme, qtbot)
    detail.show_row(row(made=proposal()), NOTHING)
    detail.show_row(at, NOTHING)
    assert (detail.empty.title.text(), detail.empty.text.text()) == said
    assert (detail.empty.isVisible(), detail.is_edited) == (True, False)


def test_a_proposal_is_told_its_weightiest_first_and_decided_once(theme: Theme, qtbot) -> None:
    detail = shown(theme, qtbot)
    made = proposal(
        before="Old.", reasoning="It is a bell.", reply="{}", answered_by="tiny", remarks=(CALM, DOUBT), problem="Torn."
    )
    at = row(made=made)
    detail.set_busy(False, can_ask_again=True, source="tiny")
    detail.show_row(at, NOTHING)
    detail.title.resize(detail.title.fontMetrics().horizontalAdvance(made.title) - 1, detail.title.height())
    (title,) = words_drawn(detail.title)
    assert (title[-1], detail.title.toolTip()) == ("…", f"{made.title}\n{made.path}")
    assert detail.title.property("kind") == "title"
    words, room = detail.words.text(), detail._words_area.height()
    order = [words.index(each) for each in ("Torn.", "Look: It is long.", "It is a bell.", "It is short. Answered by")]
    assert order == sorted(order)
    assert words.count("It is short.") == 1, "only what is serious stands above the reasons, too"
    assert "Accepted" not in words
    assert (detail.request.toPlainText(), detail.reply.toPlainText()) == (f"What is it?\n\n{'-' * 40}\nBe brief.", "{}")
    assert (able(detail), detail.accept.toolTip()) == ([False, True, True, True], "Torn.")
    assert detail.extent.text() == "9 of 600"
    assert detail.field.tabChangesFocus()
    assert all(each.isReadOnly() for each in (detail.request, detail.reply))
    told: list[str] = []
    for name in ("accepted", "skipped", "again", "locked", "edited"):
        getattr(detail, name).connect(lambda name=name: told.append(name))
    QTest.keyClicks(detail.field, "No. ")
    assert (detail.value, detail.is_edited, detail.extent.text()) == ("No. It rings.", True, "13 of 600")
    assert (able(detail)[0], detail.accept.toolTip()) == (True, "Write it into the note (Ctrl+Return)")
    words = []
    for each in (detail.accept, detail.skip, detail.lock, detail.ask_again):
        words.append(each.text())
        each.click()
    assert words == ["Accept", "Skip", "Lock this note", "Ask again"]
    assert told == ["edited"] * 4 + ["accepted", "skipped", "locked", "again"]
    detail.set_busy(True, can_ask_again=True, source="tiny")
    assert (able(detail), detail.field.isReadOnly()) == ([False] * 4, True)
    detail.set_busy(False, can_ask_again=False, source="The stand-in")
    assert (able(detail), detail.ask_again.toolTip()) == (
        [True, True, True, False], "The stand-in would say the same.",
    )  # fmt: skip
    detail.set_busy(False, can_ask_again=True, source="tiny")
    assert detail.ask_again.toolTip() == "Have another proposal made"
    at.state = RowState.ACCEPTED
    detail.show_row(at, NOTHING)
    assert (able(detail), detail.field.isReadOnly()) == ([False] * 4, True)
    assert "Accepted and written." in detail.words.text()
    assert "Torn." not in detail.words.text()
    detail.show_row(row(made=replace(made, reply="", answered_by="", problem="", remarks=())), NOTHING)
    assert detail.reply.toPlainText() == "There is no answer."
    detail.show_row(row(made=replace(made, reply='{"text": 1}', said="It rings.", problem="", remarks=())), NOTHING)
    assert detail.reply.toPlainText().split("-" * 40) == ["It rings.\n\n", '\n{"text": 1}']
    detail.show_row(row(made=replace(made, reply="", answered_by="", problem="", remarks=())), NOTHING)
    assert detail.field.toPlainText() == "It rings."  # another row is no edit
    assert (able(detail), "Answered" in detail.words.text()) == ([True] * 4, False)
    assert detail._words_area.height() < room <= 110  # of fewer words


def test_what_is_typed_stays_until_another_proposal_comes(theme: Theme, qtbot) -> None:
    detail, at = shown(theme, qtbot), row(made=proposal())
    detail.show_row(at, NOTHING)
    QTest.keyClicks(detail.field, "x")
    detail.show_row(at, NOTHING)
    assert detail.field.toPlainText() == "xIt rings."
    at.proposal = proposal(after="Anew.")  # asked again
    detail.show_row(at, NOTHING)
    assert detail.field.toPlainText() == "Anew."
    at.proposal, at.edited = proposal(after="yAnew."), True  # judged meanwhile
    QTest.keyClicks(detail.field, "zy")
    detail.show_row(at, NOTHING)
    assert detail.field.toPlainText() == "zyAnew."
    detail.field.clear()
    detail.show_row(at, NOTHING)
    assert detail.field.toPlainText() == "yAnew."  # nothing is worth keeping


@pytest.mark.parametrize(
    ("kind", "after", "value", "extent", "parts"),
    [
        (SUMMARY, "It rings.", "It rings.", "9 of 600", (True, False, True)),
        (KEYS, ("bell", " ", "gong"), ("bell", " ", "gong"), "2 keys", (False, True, True)),
        (DRAFT, "# Bell", "# Bell", "Bell.md", (False, False, False)),
    ],
)
def test_each_kind_has_its_parts(
    theme: Theme, qtbot, kind: ProposalKind, after: Any, value: Any, extent: str, parts: tuple[bool, ...]
) -> None:
    detail = shown(theme, qtbot, kind)
    before: Any = ("bell",) if kind is KEYS else ""
    detail.show_row(row(made=proposal(kind, before, after, counts=COUNTS, searched=9)), NOTHING)
    assert (detail.value, detail.extent.text(), detail.is_edited) == (value, extent, False)
    assert (detail.diff.isVisible(), detail.counts.isVisible(), detail.lock.isVisible()) == parts
    assert (len(detail.counts.counted.rows) > 0) == (kind is KEYS)
    assert detail.accept.toolTip().startswith("Make the note" if kind is DRAFT else "Write it into the note")
    if kind is DRAFT:
        detail.field.clear()
        assert detail.extent.text() == ""


# ---- the messages of a draft ----------------------------------------------------------------------------------------


def test_messages_are_chosen_for_a_draft(qtbot) -> None:
    texts = ["A bell.", " ", "It rings.", *["On and on."] * 105]
    chat = Chat(tuple(Message("" if place == 2 else "Ada", said) for place, said in enumerate(texts)))
    dialog = PassageDialog(chat, 2)
    qtbot.addWidget(dialog)
    chosen: list[tuple[object, str]] = []
    dialog.chosen.connect(lambda numbers, about: chosen.append((numbers, about)))
    assert (dialog.numbers, dialog.passage.isReadOnly()) == ((0, 1, 2), True)
    assert dialog.passage.toPlainText() == "#0  Ada: A bell.\n#2  Unknown: It rings."
    assert (dialog.amount.text(), dialog.go_on.isEnabled()) == ("2 messages, 1 hidden or empty left out", True)
    dialog.last.setValue(99)
    assert (dialog.amount.text(), dialog.go_on.isEnabled()) == (
        "99 messages, 1 hidden or empty left out", True,
    )  # fmt: skip
    dialog.last.setValue(100)
    assert (dialog.amount.text(), dialog.go_on.isEnabled()) == ("These are too many; choose at most 100.", False)
    dialog.last.setValue(0)
    assert dialog.amount.text() == "1 message"
    dialog.focus.setText(" the bell ")
    dialog.accept()
    assert chosen == [((0,), "the bell")]
    later = PassageDialog(chat, 10**6)  # no further than the chat goes
    qtbot.addWidget(later)
    assert later.numbers == tuple(range(len(texts) - USUAL, len(texts)))
    assert later.first.maximum() == later.last.maximum() == len(texts) - 1
