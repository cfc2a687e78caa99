"""Two versions of a note: which places differ, what is chosen of them, and the text that comes of it."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QLabel, QRadioButton
from pytestqt.qtbot import QtBot

from lorestudio.ui.features.notes.conflict_dialog import ConflictDialog
from lorestudio.ui.shell.theme import Theme

BASE = "one\ntwo\nthree\nfour\nfive\n"


@pytest.fixture
def ask(theme: Theme, qtbot: QtBot) -> Callable[..., ConflictDialog]:
    def open_on(mine: str, theirs: str, base: str = BASE, **more: object) -> ConflictDialog:
        dialog = ConflictDialog(theme, "Skarn.md", (base, mine, theirs), **more)
        qtbot.addWidget(dialog)
        dialog.show()
        return dialog

    return open_on


def cards(dialog: ConflictDialog) -> list[tuple[str, dict[str, bool]]]:
    """The head of each card, and its choices with which is ticked."""
    return [
        (
            card.findChildren(QLabel)[0].text(),
            {each.text(): each.isChecked() for each in card.findChildren(QRadioButton)},
        )
        for card in dialog.findChildren(QFrame, "Card")
    ]


def pick(dialog: ConflictDialog, place: int, title: str) -> None:
    card = dialog.findChildren(QFrame, "Card")[place]
    next(each for each in card.findChildren(QRadioButton) if each.text() == title).click()


def test_what_only_one_has_changed_is_taken(ask) -> None:
    dialog = ask(BASE.replace("one", "ONE"), BASE.replace("five", "FIVE"))
    assert cards(dialog) == [
        ("Place 1 of 2: changed here only", {"Mine": True, "On disk": False}),
        ("Place 2 of 2: changed there only", {"Mine": False, "On disk": True}),
    ]
    assert "1 place was changed only here, 1 place only there, 0 places in both" in " ".join(
        each.text() for each in dialog.findChildren(QLabel)
    )
    merged = BASE.replace("one", "ONE").replace("five", "FIVE")
    assert (dialog.text, dialog.outcome.toPlainText(), dialog.take.isEnabled()) == (merged, merged, True)
    assert dialog.take.toolTip() == ""
    pick(dialog, 0, "On disk")  # what was taken can be refused
    pick(dialog, 1, "Mine")
    assert dialog.text == BASE


def test_what_both_have_changed_has_to_be_chosen(ask) -> None:
    dialog = ask(
        BASE.replace("two", "mine").replace("five", "MY"), BASE.replace("two", "theirs").replace("five", "HIS")
    )
    heads = [head for head, _choices in cards(dialog)]
    assert heads == [f"Place {number} of 2: changed in both: choose" for number in (1, 2)]
    assert [choices for _head, choices in cards(dialog)] == [
        {"Mine": False, "On disk": False, "Both, mine first": False}
    ] * 2
    assert (dialog.take.isEnabled(), dialog.text) == (False, None)
    assert dialog.outcome.toPlainText() == dialog.take.toolTip() == "2 places are not decided yet."
    told: list[str] = []
    dialog.merged.connect(told.append)
    dialog.accept()
    assert (told, dialog.isVisible()) == ([], True)
    pick(dialog, 0, "Mine")
    assert dialog.take.toolTip() == "1 place is not decided yet."
    pick(dialog, 1, "Mine")
    pick(dialog, 1, "Both, mine first")
    assert [choices for _head, choices in cards(dialog)] == [
        {"Mine": True, "On disk": False, "Both, mine first": False},
        {"Mine": False, "On disk": False, "Both, mine first": True},
    ]
    mine, theirs, both = dialog.findChildren(QFrame, "Card")[0].findChildren(QRadioButton)
    assert mine.x() < theirs.x()
    assert mine.y() == theirs.y() < both.y()
    wanted = "one\nmine\nthree\nfour\nMY\nHIS\n"
    assert dialog.text == dialog.outcome.toPlainText() == wanted
    pick(dialog, 0, "On disk")
    dialog.accept()
    assert told == [wanted.replace("mine", "theirs")]
    assert not dialog.isVisible()


def test_both_have_a_line_each_though_the_text_ends_without_one(ask) -> None:
    dialog = ask("mine", "theirs", "base")
    pick(dialog, 0, "Both, mine first")
    assert dialog.text == "mine\ntheirs"


def test_both_cannot_be_taken_of_what_one_has_deleted_or_of_what_is_no_text_of_lines(ask) -> None:
    deleted = ask(BASE.replace("two\n", ""), BASE.replace("two", "theirs"))
    (_head, choices) = cards(deleted)[0]
    assert list(choices) == ["Mine", "On disk"]
    assert "(nothing)" in [each.text() for each in deleted.findChildren(QLabel)]
    values = ask("4", "5", "3", lines=False, there="In the file")
    assert cards(values) == [("Place 1 of 1: changed in both: choose", {"Mine": False, "In the file": False})]
    names = [each.accessibleName() for each in values.findChildren(QRadioButton)]
    assert names == ["Place 1: Mine", "Place 1: In the file"]
    assert [each.accessibleDescription() for each in values.findChildren(QRadioButton)] == ["4", "5"]


def test_versions_that_are_the_same_leave_nothing_to_choose(ask) -> None:
    dialog = ask(BASE, BASE)
    assert cards(dialog) == []
    assert "Both versions are the same." in [each.text() for each in dialog.findChildren(QLabel)]
    assert dialog.text == BASE
    alike = ask(BASE.replace("two", "2"), BASE.replace("two", "2"))
    (head, _choices) = cards(alike)[0]
    assert head == "Place 1 of 1: changed alike"
    assert alike.text == BASE.replace("two", "2")


def test_words_that_differ_are_marked_and_signs_are_no_markup(ask, theme: Theme) -> None:
    dialog = ask(BASE.replace("two", "a <b> mine"), BASE.replace("two", "a <b> theirs"))
    mine, theirs = dialog.findChildren(QLabel, "Raw")
    for shown, word in ((mine, "mine"), (theirs, "theirs")):
        assert shown.textFormat() is Qt.TextFormat.RichText
        assert "&lt;b&gt;" in shown.text()
        marked = shown.text().partition(f"background-color: {theme.palette.mark}")[2]
        assert word in marked
    assert [dialog.tabs.tabText(each) for each in range(dialog.tabs.count())] == [
        "Choose", "Compare whole texts", "Result",
    ]  # fmt: skip
    assert "2 lines differ" in dialog.diff.summary.text()  # one of each
