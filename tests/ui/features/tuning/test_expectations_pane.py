"""The pane of the expectations alone: what cannot be read, and that there are none."""

from __future__ import annotations

from pytestqt.qtbot import QtBot

from lorestudio.domain.chat import Generation
from lorestudio.studio.tuning.checking import Break, CheckedChat, CheckedExpectation
from lorestudio.studio.tuning.expectations import Expectation, Judged, JudgedTurn, Should
from lorestudio.ui.features.tuning.expectations_pane import ExpectationRow, ExpectationsPane
from lorestudio.ui.shell.theme import Theme


def test_without_a_vault_there_are_none(theme: Theme, qtbot: QtBot) -> None:
    pane = ExpectationsPane(theme)
    qtbot.addWidget(pane)
    assert (pane.empty.title.text(), pane.focus_target(), pane.remove.isEnabled()) == ("No vault", pane.empty, False)
    assert not pane.remove.isVisibleTo(pane), "there is nothing to remove"
    told: list[str] = []
    pane.wanted.connect(told.append)
    pane.empty.pressed.emit("expect.edit")
    pane.remove.click()
    assert told == ["expect.edit"]


def test_an_item_that_cannot_be_read_is_a_row_and_cannot_be_removed(theme: Theme, qtbot: QtBot) -> None:
    pane = ExpectationsPane(theme)
    qtbot.addWidget(pane)
    heads: list[str] = []
    pane.note_changed.connect(heads.append)
    pane.show_checked(CheckedChat("Tale", "DeepLore", ()), ("line 3: no note",))
    assert (pane.model.index(0, 0).data(), pane.model.index(0, 1).data()) == (
        "An item that cannot be read", "cannot be read",
    )  # fmt: skip
    assert pane.story.text() == "An item that cannot be read\nline 3: no note"
    assert (pane.state.text(), heads, pane.remove.isEnabled()) == (
        "1 of 1 expectation not met", ["1 not met"], False,
    )  # fmt: skip
    assert pane.focus_target() is pane.view
    unseen = CheckedExpectation(Judged(Expectation(Should.IN, ("places/Lamp.md",))))
    pane.show_checked(CheckedChat("Tale", "DeepLore", (unseen,)), (), "Replay the chat.")
    assert (pane.state.text(), heads[-1]) == ("Replay the chat.", ""), "nothing was checked"
    pane.show_nothing("Nothing expected", "Say something.")
    assert (pane.story.text(), pane.state.text(), heads[-1]) == ("", "", "")


def test_a_row_tells_each_reply_in_which_it_is_not_met_or_the_remark_alone() -> None:
    expected = Expectation(Should.IN, ("places/Lamp.md",), because="It is dark.")
    met = ExpectationRow(1, CheckedExpectation(Judged(expected, (JudgedTurn(Generation(3), met=True),))))
    assert met.story == f"{expected.sentence}\nIt is dark."
    assert (met.sign, met.why) == (("check", "good"), "")
    breaks = tuple(Break(Generation(reply), 0, "Lamp", "match", f"No key in {reply}.") for reply in (3, 5))
    broken = ExpectationRow(2, CheckedExpectation(Judged(expected), breaks))
    assert broken.story == f"{expected.sentence}\nIt is dark.\n#3: Lamp: No key in 3.\n#5: Lamp: No key in 5."
    assert (broken.sign, broken.why) == (("cross", "error"), "#3: No key in 3.")
    of_one = ExpectationRow(2, CheckedExpectation(Judged(expected, notes=(frozenset({0}),)), breaks))
    assert of_one.story == f"{expected.sentence}\nIt is dark.\n#3: No key in 3.\n#5: No key in 5."
    of_two = ExpectationRow(2, CheckedExpectation(Judged(expected, notes=(frozenset({0, 1}),)), breaks))
    assert of_two.story == broken.story
    unjudged = ExpectationRow(3, CheckedExpectation(Judged(expected, problem="No such note.")))
    assert unjudged.story == f"{expected.sentence}\nIt is dark.\nNo such note."
    assert ExpectationRow(4, CheckedExpectation(Judged(expected))).sign == ("dash", "text_faint")
