"""The pane of the expectations alone: what cannot be read, and that there are none."""

from __future__ import annotations

from pytestqt.qtbot import QtBot

from lorestudio.studio.tuning.checking import CheckedChat
from lorestudio.ui.features.tuning.expectations_pane import ExpectationsPane
from lorestudio.ui.shell.theme import Theme


def test_without_a_vault_there_are_none(theme: Theme, qtbot: QtBot) -> None:
    pane = ExpectationsPane(theme)
    qtbot.addWidget(pane)
    assert (pane.empty.title.text(), pane.focus_target(), pane.remove.isEnabled()) == ("No vault", pane.empty, False)
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
    assert (pane.state.text(), heads, pane.remove.isEnabled()) == ("1 of 1 expectation not met", ["1"], False)
    assert pane.focus_target() is pane.view
    pane.show_checked(CheckedChat("Tale", "DeepLore", ()), (), "Checking…")
    assert (pane.state.text(), heads[-1]) == ("Checking…", "✓")
    pane.show_nothing("Nothing expected", "Say something.")
    assert (pane.story.text(), pane.state.text(), heads[-1]) == ("", "", "")
