"""Saying what should be in the prompt, in the window, with the real engine and real files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLineEdit, QPushButton

from lorestudio.domain.chat import Chat, Generation, Message
from lorestudio.domain.records import replace
from lorestudio.studio.project.project import open_project
from lorestudio.studio.replay.simulator import Simulator
from lorestudio.studio.tuning.expectations import FILE_NAME, load
from lorestudio.ui.features.tuning.expectations_pane import ExpectationsPane
from lorestudio.ui.shell.main_window import MainWindow
from lorestudio.ui.shell.qt import ACCESSIBLE_TEXT, HELD, TOOLTIP, VERTICAL
from tests.ui.conftest import drain, settle
from tests.ui.vaults import choose, write_vault

CHAT = Chat(
    (
        Message("Ada", "Welcome."),
        Message("Wren", "Is there a bell?", is_user=True),
        Message("Ada", "It hangs."),
        Message("Wren", "And the crown of old?", is_user=True),
        Message("Ada", "Lost."),
        Message("Wren", "Sail on.", is_user=True),
    )
)


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    return write_vault(tmp_path / "vault")


@pytest.fixture
def window(make_window, vault: Path, tmp_path: Path, qtbot) -> MainWindow:
    made = make_window(make_simulator=Simulator)
    made.features.vault.keep_in(tmp_path / "kept")
    made.session.set_project(replace(open_project([vault]), chat=CHAT))
    checked(made, qtbot)
    return made


def checked(window: MainWindow, qtbot) -> ExpectationsPane:
    """The pane once everything was written and checked."""
    feature = window.features.tuning
    settle(window)
    qtbot.waitUntil(lambda: not feature._settle.isActive() and not feature._newest.busy)
    settle(window)
    qtbot.waitUntil(lambda: not feature._settle.isActive() and not feature._newest.busy)
    drain()
    return feature.pane


def rows(window: MainWindow, qtbot) -> list[tuple[str, str]]:
    return [(row.sentence, row.verdict) for row in checked(window, qtbot).model.rows]


@pytest.mark.long
def test_what_should_be_in_a_reply_is_written_checked_and_undone(window: MainWindow, vault: Path, qtbot) -> None:
    choose(window, "Bell.md")
    window.chat.show_generation(Generation(2))
    drain()
    window.run("expect.in")
    pane = checked(window, qtbot)
    ((sentence, verdict),) = rows(window, qtbot)
    assert (sentence, verdict) == ("Bell should be in (reply #2)", "met in 1 reply")
    assert load(vault / FILE_NAME).every[0].reply.number == 2
    window.run("vault.undo")
    assert rows(window, qtbot) == []
    assert not (vault / FILE_NAME).exists()
    assert pane.pages.currentWidget() is pane.empty
    window.run("vault.redo")
    assert len(rows(window, qtbot)) == 1


def test_the_menu_on_an_answer_says_that_it_should_be_in_this_reply(window: MainWindow, vault: Path, qtbot) -> None:
    window.chat.show_generation(Generation(2))
    drain()
    answers = window.trace.answers
    place = answers.visualRect(answers.model().index(0, 0)).center()
    QTest.mouseClick(answers.viewport(), Qt.MouseButton.RightButton, pos=place)
    drain()
    entry = window.session.entry(window.selection.entry).title
    offered = {action.text(): action for action in answers.actions()}
    offered["Should be in this reply"].trigger()
    assert rows(window, qtbot)[0][0] == f"{entry} should be in (reply #2)"
    pane = window.features.tuning.pane
    assert pane.state.text() == "1 expectation: all met"
    more = {action.text(): action for action in pane.add.menu().actions()}
    assert more.keys() > offered.keys() & {"Should be in this reply", "Should not be in this reply"}
    more["Should never be in"].trigger()
    assert [row[0] for row in rows(window, qtbot)] == [f"{entry} should be in (reply #2)", f"{entry} should not be in"]


@pytest.mark.always
def test_a_reply_that_moved_is_called_by_its_new_number_and_the_file_keeps_the_old_one(
    window: MainWindow, vault: Path, qtbot
) -> None:
    choose(window, "Bell.md")
    window.chat.show_generation(Generation(4))
    drain()
    window.run("expect.out")
    assert rows(window, qtbot)[0][0] == "Bell should not be in (reply #4)"
    window.session.parts.adjust("shorter", chat=replace(CHAT, messages=(CHAT.messages[0], *CHAT.messages[2:])))
    assert rows(window, qtbot)[0][0] == "Bell should not be in (reply #3)"
    shown = window.context.expected.at(Generation(3), None)
    assert "(reply #3)" in shown.words
    assert load(vault / FILE_NAME).every[0].reply.number == 4
    window.features.tuning.pane.view.choose(0)
    window.show_pane("expectations")
    drain()
    QTest.keyClick(QApplication.focusWidget(), Qt.Key.Key_Delete)
    assert rows(window, qtbot) == [], "it is found in the file"


@pytest.mark.long
def test_of_several_keys_one_that_is_said_in_the_chat_is_offered(
    make_window, vault: Path, tmp_path: Path, qtbot
) -> None:
    text = "---\ntags: [lorebook]\nkeys: [diadem, The Crown]\n---\n# Crown of old\n"
    (vault / "items" / "Crown.md").write_text(text, encoding="utf-8")
    window = make_window(make_simulator=Simulator)
    window.features.vault.keep_in(tmp_path / "kept")
    window.session.set_project(replace(open_project([vault]), chat=CHAT))
    checked(window, qtbot)
    choose(window, "items/Crown.md")
    window.run("expect.whenever")
    drain()
    field = QApplication.focusWidget()
    assert isinstance(field, QLineEdit)
    assert field.text() == "The Crown"
    QTest.keyClick(field, Qt.Key.Key_Return)
    checked(window, qtbot)
    assert [row[0] for row in rows(window, qtbot)] == ["Crown of old should be in whenever “The Crown” is said"]


@pytest.mark.long
def test_a_changed_note_breaks_it_and_a_click_leads_to_the_reply(window: MainWindow, vault: Path, qtbot) -> None:
    choose(window, "items/Crown.md")
    window.run("expect.whenever")
    drain()
    field = QApplication.focusWidget()  # what is typed goes there
    assert isinstance(field, QLineEdit)
    assert field.text() == "crown"
    QTest.keyClick(field, Qt.Key.Key_Return)
    pane = checked(window, qtbot)
    assert rows(window, qtbot) == [("Crown should be in whenever “crown” is said", "broken in 1 of 1 reply")]
    assert "Skarn" in pane.current.why  # the note that it requires is not in
    window.selection.choose_entry(None)
    window.show_pane("expectations")
    drain()
    pane.view.selectionModel().clear()
    place = pane.view.visualRect(pane.model.index(0, 0)).center()
    QTest.mouseClick(pane.view.viewport(), Qt.MouseButton.LeftButton, pos=place)
    drain()
    assert window.selection.generation == Generation(4)
    assert window.session.entry(window.selection.entry).title == "Crown"
    window.run("expect.remove")
    assert rows(window, qtbot) == []
    assert load(vault / FILE_NAME).every == ()


def test_what_cannot_be_read_is_a_row(window: MainWindow, vault: Path, qtbot) -> None:
    (vault / FILE_NAME).write_text("expectations:\n  - {note: Bell.md, should: ring}\n", encoding="utf-8")
    window.features.tuning._seen = (None, None)
    window.features.tuning.look()
    pane = checked(window, qtbot)
    (row,) = pane.model.rows
    assert (row.verdict, "line 2" in row.why) == ("cannot be read", True)


@pytest.mark.long
def test_the_empty_pane_has_a_button_that_expects_the_chosen_entry_or_says_what_to_choose(
    window: MainWindow, vault: Path, qtbot
) -> None:
    def press() -> str:
        window.context.show("expectations")
        pane = checked(window, qtbot)
        first = next(
            each for each in pane.empty.page.findChildren(QPushButton) if each.text().endswith("be in this reply")
        )
        first.click()
        return window.status.currentMessage()

    window.selection.choose_message(None, None)
    window.selection.choose_entry(None)
    assert press() == "Choose an entry first."
    choose(window, "Bell.md")
    window.selection.choose_message(None, None)
    assert press() == "Choose a reply first."
    assert not (vault / FILE_NAME).exists()
    window.chat.show_generation(Generation(2))
    press()
    assert rows(window, qtbot) == [("Bell should be in (reply #2)", "met in 1 reply")]
    window.run("vault.undo")
    assert rows(window, qtbot) == []
    window.session.set_project(replace(window.session.project, chat=None))
    pane = checked(window, qtbot)
    assert [each.text() for each in pane.empty.page.findChildren(QPushButton)] == ["Open chat…"]


@pytest.mark.long
def test_entries_and_replies_are_marked_where_they_are_shown(window: MainWindow, vault: Path, qtbot) -> None:
    choose(window, "Bell.md")
    bell = window.selection.entry
    window.chat.show_generation(Generation(2))
    drain()
    window.run("expect.out")  # it is in
    window.run("expect.always")
    checked(window, qtbot)
    expected = window.context.expected
    assert expected.at(Generation(2), bell).words.startswith("Not met: Bell should not be in")
    assert expected.at(Generation(2), None).met is expected.at(None, bell).met is False
    answers = window.trace.model
    row = answers.place_of(bell)
    assert answers.headerData(row, VERTICAL, HELD) == expected.at(Generation(2), bell)
    assert "Not met" in answers.headerData(row, VERTICAL, TOOLTIP)
    strip = window.features.timeline.strip
    qtbot.waitUntil(lambda: not strip._refresh.isActive())
    place = strip.generations.index(Generation(2))
    assert strip.chart.bars.flags[place] is False
    assert "Not met" in strip.chart.bars.words(place)
    vault_row = window.vault.model.index_of_note(window.session.entry(bell))
    assert "Not met" in window.vault.model.data(vault_row, ACCESSIBLE_TEXT)
    assert "Not met" in window.vault.model.data(vault_row, TOOLTIP)
    for _ in range(2):
        window.run("vault.undo")
        checked(window, qtbot)
    qtbot.waitUntil(lambda: not strip._refresh.isActive())
    assert expected.at(None, bell) is None
    assert strip.chart.bars.flags == {}


def typed(text: str) -> None:
    drain()
    field = QApplication.focusWidget()
    assert isinstance(field, QLineEdit)
    field.setText(text)
    QTest.keyClick(field, Qt.Key.Key_Return)
    drain()


@pytest.mark.always
def test_every_kind_can_be_said(window: MainWindow, vault: Path, qtbot) -> None:
    choose(window, "Bell.md")
    window.chat.show_generation(Generation(2))
    drain()
    for name in ("matched", "selected", "whole", "never"):
        window.run(f"expect.{name}")
        checked(window, qtbot)
    for name in ("before", "apart"):
        window.run(f"expect.{name}")
        typed("Crown")
        checked(window, qtbot)
    for name, text in (("tokens", "40"), ("constants", "800"), ("tokens", "many")):
        window.run(f"expect.{name}")
        typed(text)
        checked(window, qtbot)
    assert [sentence for sentence, _ in rows(window, qtbot)] == [
        "Bell should be matched (reply #2)",
        "Bell should be selected (reply #2)",
        "Bell should be in whole (reply #2)",
        "Bell should not be in",
        "Bell should come before Crown",
        "Bell, Crown should never be together",
        "Bell should take at most 40 tokens",
        "constants should take at most 800 tokens",
    ]
    assert "is no number of tokens" in window.bars.texts[-1]


@pytest.mark.always
def test_a_row_that_is_met_leads_to_the_first_reply_of_which_it_speaks(window: MainWindow, vault: Path, qtbot) -> None:
    (vault / FILE_NAME).write_text(
        "expectations:\n"
        "  - {note: Crown.md, should: not be in}\n  - {note: Bell.md, should: be in, whenever: bell}\n"
        "  - {note: Bell.md, should: be in, whenever: nobody says this}\n  - {note: Gone.md, should: be in}\n",
        encoding="utf-8",
    )
    window.features.tuning._seen = (None, None)
    window.features.tuning.look()
    pane = checked(window, qtbot)
    assert [row.sign for row in pane.model.rows] == [
        ("check", "good"), ("check", "good"), ("dash", "text_faint"), ("warning", "warning"),
    ]  # fmt: skip
    assert pane.state.text() == "1 of 4 expectations not met"
    pane.view.picked.emit(pane.model.rows[1])
    settle(window)
    assert window.selection.generation == Generation(2)
    before = window.selection.entry
    for row in pane.model.rows[2:]:  # they speak of no reply
        pane.view.picked.emit(row)
        settle(window)
    assert (window.selection.generation, window.selection.entry) == (Generation(2), before)


@pytest.mark.long
def test_a_file_that_is_none_is_said_and_nothing_is_marked(window: MainWindow, vault: Path, qtbot) -> None:
    choose(window, "Bell.md")
    window.run("expect.never")
    pane = checked(window, qtbot)
    bell = window.selection.entry
    assert window.context.expected.at(None, bell) is not None
    (vault / FILE_NAME).unlink()
    (vault / FILE_NAME).mkdir()
    window.features.tuning._seen = (None, None)
    window.features.tuning.look()
    checked(window, qtbot)
    assert pane.empty.title.text() == "The expectations cannot be read"
    assert FILE_NAME in pane.empty.text.text()
    assert FILE_NAME in window.bars.texts[-1]
    assert window.context.expected.at(None, bell) is None


@pytest.mark.long
def test_what_can_be_expected_needs_a_note_and_a_reply(window: MainWindow, qtbot) -> None:
    here = {"in", "out", "matched", "selected", "whole"}
    of_a_note = {"whenever", "always", "never", "before", "apart", "tokens"}

    def can() -> set[str]:
        window.context.update_actions()
        actions = window.commands.actions
        return {name.partition(".")[2] for name in actions if name.startswith("expect.") and actions[name].isEnabled()}

    window.selection.choose_entry(None)
    assert can() == {"constants"}
    choose(window, "Bell.md")
    window.selection.choose_message(None, None)
    assert can() == of_a_note | {"constants"}
    window.chat.show_generation(Generation(2))
    assert can() == here | of_a_note | {"constants"}
    window.run("expect.always")
    pane = checked(window, qtbot)
    assert pane.remove.isEnabled()
    assert "remove" in can()
    assert pane.current.sentence == "Bell should be in"
    pane.remove.click()
    checked(window, qtbot)
    assert not pane.remove.isEnabled()
    assert "remove" not in can()
    assert window.features.vault.work.undo_title.startswith("Expect no more: Bell")


@pytest.mark.long
def test_in_a_project_of_two_vaults_a_note_is_named_with_its_vault(
    make_window, vault: Path, tmp_path: Path, qtbot
) -> None:
    other = write_vault(tmp_path / "other", {"Gong.md": "---\ntags: [lorebook]\nkeys: [gong]\n---\nIt booms.\n"})
    window = make_window(make_simulator=Simulator)
    window.features.vault.keep_in(tmp_path / "kept")
    window.session.set_project(replace(open_project([vault, other]), chat=CHAT))
    checked(window, qtbot)
    window.selection.choose_entry(next(e.id for e in window.session.project.index.entries if e.title == "Gong"))
    window.run("expect.never")
    checked(window, qtbot)
    assert load(vault / FILE_NAME).every[0].notes == ("other:Gong.md",)


def test_entries_of_an_opened_lorebook_are_expected_beside_it(make_window, tmp_path: Path, qtbot) -> None:
    book = tmp_path / "book" / "Isles.json"
    book.parent.mkdir()
    entry = {"uid": 4, "key": ["bell"], "comment": "Bell", "content": "It rings.", "order": 9, "position": 0}
    book.write_text(json.dumps({"entries": {"4": entry}}), encoding="utf-8")
    window = make_window(make_simulator=Simulator)
    window.features.vault.keep_in(tmp_path / "kept")
    window.session.set_project(replace(open_project([book]), chat=CHAT))
    checked(window, qtbot)
    window.selection.choose_entry(window.session.project.index.entries[0].id)
    window.chat.show_generation(Generation(2))
    drain()
    window.run("expect.in")
    assert rows(window, qtbot) == [("Bell should be in (reply #2)", "met in 1 reply")]
    assert load(book.parent / FILE_NAME).every[0].notes == ("uid 4",)
    window.run("vault.undo")
    assert rows(window, qtbot) == []
    window.session.set_project(replace(open_project([book]), chat=CHAT, read_only=True))
    checked(window, qtbot)
    assert not window.commands.actions["expect.in"].isEnabled()
    assert [each.name for each in book.parent.iterdir()] == ["Isles.json"]
