"""What a plan would do to each file, said before it is done."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import QEvent, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QDialogButtonBox, QLineEdit, QWidget

from lorestudio.exchange.problems import InputError
from lorestudio.studio.notes.changes.change_set import ChangeSet, NoteFileChange
from lorestudio.studio.notes.vault_notes import Planned, VaultNotes
from lorestudio.ui.features.notes.plan_dialog import ChangeView, PlanDialog
from lorestudio.ui.widgets import diff_view
from tests.ui.conftest import drain, turned_round
from tests.ui.vaults import NOTES, contents

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

    from lorestudio.ui.shell.theme import Theme
    from lorestudio.ui.shell.words import Notice
    from lorestudio.ui.state.note_changes import Plan
    from tests.ui.features.notes.conftest import Desk

VAULT = Path("/vault")


def test_each_file_says_what_becomes_of_it(theme: Theme) -> None:
    view = ChangeView(theme)
    changes = (
        NoteFileChange(VAULT / "New.md", None, "text"),
        NoteFileChange(VAULT / "Gone.md", "text", None),
        NoteFileChange(VAULT / "Old.md", "text", "text", VAULT / "Better.md"),
        NoteFileChange(VAULT / "Same.md", "one", "two"),
    )
    view.show_plan(Planned(ChangeSet("All", changes), ("A link breaks.",)), (VAULT,))
    tips = [view.files.item(row).toolTip() for row in range(view.files.count())]
    assert tips == ["New.md is made", "Gone.md goes to the trash", "Old.md becomes Better.md", "Same.md"]
    assert [view.files.item(row).text() for row in range(4)] == ["New.md", "Gone.md", "Better.md", "Same.md"]
    assert view.summary.text() == "4 notes change."
    assert view.remarks.toPlainText() == "A link breaks."
    view.resize(700, 300)
    view.layout().activate()
    assert view.remarks.height() < 4 * view.fontMetrics().lineSpacing(), "the difference has the room"
    view.say("Nothing to do.")
    assert (view.files.count(), view.split.isHidden(), view.remarks.isHidden()) == (0, True, True)
    view.deleteLater()


def colours(view: ChangeView) -> dict[str, str]:
    """The grounds of the lines that have one."""
    document = view.diff.view.document()
    blocks = [document.findBlockByNumber(place) for place in range(document.blockCount())]
    grounds = [(each.text(), each.blockFormat().background()) for each in blocks]
    return {text: ground.color().name() for text, ground in grounds if ground.style() is not Qt.BrushStyle.NoBrush}


def test_lines_that_come_and_go_have_their_colours(theme: Theme, monkeypatch: pytest.MonkeyPatch) -> None:
    view = ChangeView(theme)
    change = NoteFileChange(VAULT / "Skarn.md", "same\nold\n", "same\nnew\n")
    moved = NoteFileChange(VAULT / "Old.md", "text\n", "text\n", VAULT / "Better.md")
    view.show_plan(Planned(ChangeSet("All", (change, moved)), ()), (VAULT,), "Two things.")
    assert (view.summary.text(), view.files.currentRow(), view.remarks.isHidden()) == ("Two things.", 0, True)
    assert not view.split.isHidden()
    assert view.diff.view.toPlainText().split("\n") == ["  same", "- old", "+ new"]
    for name in ("light", "dark"):
        theme.choose(name)
        assert colours(view) == {"- old": theme.color("error_soft").name(), "+ new": theme.color("good_soft").name()}
    view.files.setCurrentRow(1)
    assert (view.diff.view.toPlainText(), view.diff.summary.text()) == ("", "The texts are the same.")
    assert view.diff.view.placeholderText().startswith("The text stays as it is; only the file's name")
    assert colours(view) == {}
    monkeypatch.setattr(diff_view, "MOST_LINES", 2)
    view.files.setCurrentRow(0)
    assert view.diff.view.toPlainText().split("\n") == ["  same", "- old"]
    assert view.diff.summary.text() == "2 lines differ"
    view.show_plan(Planned(ChangeSet("Nothing", ()), ("It is so already.",)), (VAULT,))
    assert (view.split.isHidden(), view.remarks.isHidden()) == (True, False)
    assert view.summary.text() == "0 notes change."
    view.deleteLater()


class Rewrite(PlanDialog):
    """Writes what is typed at the end of Bell; "!" cannot be written."""

    def __init__(self, theme: Theme, desk: Desk, parent: QWidget) -> None:
        super().__init__(theme, desk.work, "Rewrite", "Do it", parent)
        self.words, self.path = QLineEdit(self), desk.folder / "Bell.md"
        self.add_field("Words", self.words)
        self.words.textChanged.connect(self.changed)
        self.words.setFocus()

    def plan(self) -> Plan | None:
        words = self.words.text()
        if not words:
            return None

        def plan(_vaults: tuple[VaultNotes, ...]) -> Planned:
            if words == "!":
                raise InputError("words", "this cannot be written.")
            before = self.path.read_text(encoding="utf-8")
            return Planned(ChangeSet("Rewrite", (NoteFileChange(self.path, before, before + words),)), ())

        return plan

    def nothing_yet(self) -> str:
        return "Type something."


@pytest.fixture
def rewrite(desk: Desk, theme: Theme, qtbot: QtBot) -> Iterator[Rewrite]:
    parent = QWidget()
    parent.show()
    dialog = Rewrite(theme, desk, parent)
    dialog.show()
    qtbot.waitExposed(dialog)
    yield dialog
    desk.settle()
    parent.close()
    parent.deleteLater()
    drain()


def seen(dialog: PlanDialog, desk: Desk) -> None:
    dialog.preview()
    desk.settle()


def test_nothing_is_done_before_it_was_looked_at(rewrite: Rewrite, desk: Desk) -> None:
    assert not rewrite.ok.isEnabled()
    view = rewrite.view
    shown = (rewrite.problem, view.split, view.remarks)
    assert not any(each.isVisible() for each in shown)
    seen(rewrite, desk)
    assert (rewrite.view.summary.text(), rewrite.ok.isEnabled()) == ("Type something.", False)
    rewrite.words.setText("Loud.")
    assert not rewrite.ok.isEnabled()
    rewrite.preview()
    assert rewrite.view.summary.text() == "Type something."
    desk.settle()
    assert (rewrite.view.summary.text(), rewrite.ok.isEnabled()) == ("1 note changes.", True)
    assert contents(desk.folder) == NOTES
    assert view.files.geometry().right() < view.diff.x()
    rewrite.words.setText("Louder.")
    assert (rewrite.ok.isEnabled(), rewrite._delay.isActive()) == (False, True)
    rewrite.words.clear()
    rewrite.go()
    seen(rewrite, desk)
    assert (rewrite.ok.isEnabled(), contents(desk.folder)) == (False, NOTES)
    rewrite.buttons.button(QDialogButtonBox.StandardButton.Cancel).click()
    assert not rewrite.isVisible()


def test_enter_does_what_was_seen_and_tab_leaves_what_is_only_read(rewrite: Rewrite, desk: Desk) -> None:
    rewrite.words.setText("Loud.")
    seen(rewrite, desk)
    rewrite.view.diff.view.setFocus()
    QTest.keyClick(rewrite.view.diff.view, Qt.Key.Key_Tab)
    assert not rewrite.view.diff.view.hasFocus()
    rewrite.words.setFocus()
    QTest.keyClick(rewrite.words, Qt.Key.Key_Return)
    desk.settle()
    assert contents(desk.folder)["Bell.md"] == NOTES["Bell.md"] + "Loud."


@pytest.mark.parametrize("words", ["Loud.", "!"])
@pytest.mark.parametrize("does", [PlanDialog.preview, PlanDialog.go])
def test_what_comes_of_it_once_it_is_closed_is_told_elsewhere(
    rewrite: Rewrite, desk: Desk, does: Callable[[PlanDialog], None], words: str
) -> None:
    told: list[Notice] = []
    desk.work.told.connect(told.append)
    rewrite.words.setText(words)
    does(rewrite)
    rewrite.close()
    QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    desk.settle()
    done = does is PlanDialog.go
    assert contents(desk.folder)["Bell.md"] == NOTES["Bell.md"] + (words if done and words != "!" else "")
    assert [each.text for each in told] == (["words: this cannot be written."] if done and words == "!" else [])


def test_it_says_that_it_looks_where_nothing_was_said_before(rewrite: Rewrite, desk: Desk) -> None:
    rewrite.words.setText("Loud.")
    rewrite.preview()
    assert rewrite.view.summary.text() == "Looking at the notes…"
    desk.settle()
    rewrite.reject()


def test_two_clicks_do_it_once(rewrite: Rewrite, desk: Desk) -> None:
    rewrite.words.setText("Loud.")
    seen(rewrite, desk)
    rewrite.go()
    assert not rewrite.ok.isEnabled()
    rewrite.preview()  # what was typed a moment ago comes late
    rewrite.go()
    desk.settle()
    assert contents(desk.folder)["Bell.md"] == NOTES["Bell.md"] + "Loud."


def test_what_cannot_be_planned_is_said_until_something_else_is_typed(rewrite: Rewrite, desk: Desk) -> None:
    rewrite.words.setText("Soft.")
    seen(rewrite, desk)
    assert (rewrite.view.summary.text(), rewrite.view.split.isVisible()) == ("1 note changes.", True)
    rewrite.words.setText("!")
    seen(rewrite, desk)
    assert not rewrite.view.split.isVisible()
    assert "this cannot be written." in rewrite.problem.text()
    assert (rewrite.problem.isVisible(), rewrite.ok.isEnabled(), rewrite.view.summary.text()) == (True, False, "")
    rewrite.words.setText("Loud.")
    seen(rewrite, desk)
    assert (rewrite.problem.isVisible(), rewrite.ok.isEnabled()) == (False, True)
    rewrite.reject()


@pytest.mark.parametrize("before", ["Louder.", "!"])
def test_a_plan_of_before_that_is_looked_at_late_is_not_shown(rewrite: Rewrite, desk: Desk, before: str) -> None:
    with turned_round(desk.settle):
        for words in (before, "Loud."):
            rewrite.words.setText(words)
            rewrite.preview()
    assert (rewrite.problem.isVisible(), rewrite.ok.isEnabled()) == (False, True)
    assert "Loud." in rewrite.view.diff.view.toPlainText()
    rewrite.reject()


def test_what_could_not_be_done_is_said_and_can_be_tried_again(
    rewrite: Rewrite, desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = desk.work.carry_out

    def refuse(_plan: Plan, _then: object, refused: Callable[[str], None]) -> None:
        refused("The disk is full.")

    rewrite.words.setText("Loud.")
    seen(rewrite, desk)
    monkeypatch.setattr(desk.work, "carry_out", refuse)
    rewrite.ok.click()
    assert (rewrite.problem.text(), rewrite.isVisible()) == ("The disk is full.", True)
    assert not rewrite.ok.isEnabled()
    monkeypatch.setattr(desk.work, "carry_out", real)
    seen(rewrite, desk)
    assert rewrite.ok.isEnabled()
    rewrite.ok.click()
    desk.settle()
    assert contents(desk.folder)["Bell.md"].endswith("Loud.")


@pytest.mark.parametrize("key", [Qt.Key.Key_Return, Qt.Key.Key_Enter])
def test_enter_before_the_plan_was_seen_does_it_then_unless_it_failed(
    rewrite: Rewrite, desk: Desk, key: Qt.Key
) -> None:
    rewrite.words.setText("!")
    QTest.keyClick(rewrite.words, key)
    seen(rewrite, desk)
    assert rewrite.problem.isVisible()
    rewrite.words.setText("Loud.")
    seen(rewrite, desk)
    assert rewrite.isVisible()  # that Enter was for something else
    rewrite.words.setText("Louder.")
    QTest.keyClick(rewrite.words, Qt.Key.Key_F7)
    seen(rewrite, desk)
    assert rewrite.isVisible()
    rewrite.words.setText("Loud")
    QTest.keyClick(rewrite.words, key)
    rewrite.words.setText("Loudest")
    seen(rewrite, desk)
    assert rewrite.isVisible()  # somebody types on after Enter
    rewrite.words.setText("Loudest.")
    QTest.keyClick(rewrite.words, key)
    seen(rewrite, desk)
    assert contents(desk.folder)["Bell.md"] == NOTES["Bell.md"] + "Loudest."
