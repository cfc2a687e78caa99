"""Saying what should be in the prompt, in the window, with the real engine and real files."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLineEdit

from lorestudio.domain.chat import Chat, Generation, Message
from lorestudio.studio.project.project import open_project
from lorestudio.studio.replay.simulator import Simulator
from lorestudio.studio.tuning.expectations import FILE_NAME, load
from lorestudio.ui.features.tuning.expectations_pane import ExpectationsPane
from lorestudio.ui.shell.main_window import MainWindow
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
