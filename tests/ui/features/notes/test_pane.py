"""The pane of a note in the window: views, saving beside other programs, histories and unsaved texts."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from threading import Event
from typing import NamedTuple

import pytest
from PySide6.QtCore import QEvent, Qt, QUrl
from PySide6.QtGui import QContextMenuEvent, QDesktopServices, QTextCursor
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QDialog, QPushButton, QWidget

from lorestudio.domain.chat import Generation
from lorestudio.domain.records import replace
from lorestudio.domain.state import ChatControls, EntryRule
from lorestudio.studio.notes.changes.snapshots import Snapshots
from lorestudio.studio.notes.recovery import Recovery
from lorestudio.studio.project.library import LibraryNews, RefreshReason
from lorestudio.studio.project.project import Project, open_project
from lorestudio.studio.replay.simulator import Simulator
from lorestudio.studio.tryout.preview import EditedNote, EntryOutcome, NoteText, Preview
from lorestudio.trace.found_keys import KeyMatch, WouldMatch
from lorestudio.ui.features.notes.conflict_dialog import ConflictDialog
from lorestudio.ui.features.notes.editor.body import addresses_in, links_in
from lorestudio.ui.features.notes.history import HistoryDialog, RecoveryDialog
from lorestudio.ui.features.notes.pane import SOURCE, TEXT, WRITE, EntryPane
from lorestudio.ui.features.vault.table import note_title
from lorestudio.ui.shell.main_window import MainWindow
from lorestudio.ui.state.drafts import Drafts
from lorestudio.ui.state.selection import Selection
from lorestudio.ui.state.session import Session
from lorestudio.vault.files import SaveError
from lorestudio.vault.note.three_way_merge import Side
from tests.digests import digest
from tests.ui.conftest import drain
from tests.ui.drawing import words_drawn
from tests.ui.features.notes.editor.notes import link, offered
from tests.ui.vaults import write_vault
from tests.ui.worlds import BELL, DAWNKEEP, LEFT_OUT, SKARN, make_project, make_trace


@pytest.fixture
def settle(qtbot):
    def wait(window) -> None:
        qtbot.waitUntil(lambda: window.session.jobs.idle and not window.session.busy)
        drain()
        qtbot.waitUntil(lambda: window.session.jobs.idle)
        drain()

    return wait


@pytest.fixture
def pane(window, settle):
    """The pane on the note Skarn."""
    window.selection.choose_entry(SKARN)
    settle(window)
    window.show_pane("entry")
    return window.entry


def write(pane, text: str) -> None:
    pane.source.moveCursor(pane.source.textCursor().MoveOperation.End)
    pane.source.insertPlainText(text)
    drain()
    if pane.editor.timer.isActive():  # on a slow machine the note is read in a pause
        pane.editor.settle()


# ---- views ----------------------------------------------------------------------------------------------------------


def test_the_injected_text_and_its_tokens_follow_the_typing(pane) -> None:
    pane.tabs.setCurrentIndex(TEXT)
    assert pane.text.toPlainText() == "A dragon."
    write(pane, "Twelve more!")
    assert pane.text.toPlainText() == "A dragon.\nTwelve more!"
    assert pane.tabs.tabText(TEXT).endswith("6")  # 22 characters, four to a token
    pane.source.undo()
    drain()
    assert pane.text.toPlainText() == "A dragon."


def test_the_injected_text_is_what_stands_in_the_prompt_that_is_looked_at(
    make_window: Callable[..., MainWindow], tmp_path: Path, settle
) -> None:
    note = "---\ntags: [lorebook, lorebook-always]\n---\n# Oath\n\nSworn by {{user}}.\n"
    (tmp_path / "vault").mkdir()
    (tmp_path / "vault" / "Oath.md").write_text(note, encoding="utf-8")
    project = replace(open_project([tmp_path / "vault"]), chat=make_project().chat)
    window = make_window(project, make_simulator=Simulator)
    window.session.replays.choose(system="hybrid")
    settle(window)
    window.selection.choose_entry(0)
    pane, said = window.entry, []
    settle(window)
    pane.tabs.setCurrentIndex(TEXT)
    (taken,) = window.session.runs.trace(window.session.generations[0]).injections
    for message, generation in ((None, None), (1, window.session.generations[0])):
        window.selection.choose_message(message, generation)
        said.append((pane.text.toPlainText(), pane.tabs.tabText(TEXT)))
    inside = '<world_information tag="Oath">\nSworn by Wren.\n</world_information>'
    assert said == [
        ("Sworn by {{user}}.", "Injected text · ≈ 5"), (inside, f"Injected text · ≈ {taken.tokens}")
    ]  # fmt: skip
    write(pane, "Twice.")  # the run is about another text, until what is typed was tried out
    assert pane.text.toPlainText() == "Sworn by {{user}}.\nTwice."


@pytest.mark.parametrize("words", [" [[Bell]]", " [it](Bell.md)", " [it](./Bell.md#Rope)"])
def test_a_link_leads_to_its_note(window, pane, settle, words: str) -> None:
    body = pane.editor.body
    body.moveCursor(body.textCursor().MoveOperation.End)
    body.insertPlainText(words)
    for _ in range(3):
        body.moveCursor(body.textCursor().MoveOperation.Left)
    window.run("entry.follow")
    settle(window)
    assert window.selection.entry == BELL


def test_files_and_addresses_are_opened_by_the_desktop_and_no_note_is_offered(
    window, pane, settle, qtbot, monkeypatch
) -> None:
    opened: list[str] = []
    monkeypatch.setattr(QDesktopServices, "openUrl", lambda url: not opened.append(url.toString()))
    picture = pane.path.parent / "maps" / "map.png"
    picture.parent.mkdir()
    picture.write_bytes(b"")
    index = window.session.project.index
    news = LibraryNews(index, RefreshReason.CHANGED_ON_DISK, confirmed=True, changed=False)
    window.session.reading._vaults_changed(news)  # the picture alone is no change of the notes
    settle(window)
    body, there = pane.editor.body, picture.as_uri()
    for words, url in (
        ("![[map.png]]", there),
        ("[m](maps/map.png)", there),
        ("See https://example.org/a.", "https://example.org/a"),
        ("[x](https://example.org/b_(c))", "https://example.org/b_(c)"),
        ("<mailto:a@example.org>", "mailto:a@example.org"),
    ):
        opened.clear()
        write(pane, f"\n\n{words}")
        body.moveCursor(QTextCursor.MoveOperation.End)
        for _ in range(3):
            body.moveCursor(QTextCursor.MoveOperation.Left)
        window.run("entry.follow")
        assert (words, opened) == (words, [url])
    assert pane.bar.isHidden() or "No note" not in pane.bar.label.text()
    assert pane.editor._preview(link("map.png")) == "maps/map.png\n\nCtrl+Click opens it."
    assert pane.editor._exists(link("map.png"))
    with qtbot.assertNotEmitted(pane.create_wanted):
        pane.follow(link("lost.png"))
        pane.follow(link("lost.png"))
    assert pane.bar.label.text() == pane.editor._preview(link("lost.png")) == "No file is called “lost.png”."
    opened.clear()
    picture.with_name("map.png.desktop").write_bytes(b"")
    pane.open_outside(QUrl.fromLocalFile(str(picture.with_name("map.png.desktop"))))
    assert (opened, pane.bar.label.text()[:37]) == ([], "“map.png.desktop” may be a program, s")
    monkeypatch.setattr(QDesktopServices, "openUrl", lambda _url: False)
    pane.follow(link("map.png"))
    assert pane.bar.label.text().startswith("No program of this computer opens")


def test_the_menu_of_the_text_has_what_is_done_there(window, pane, qtbot) -> None:
    body = pane.editor.body
    write(pane, "\n\nfar [[Bell]]")
    for place, follows in ((2, True), (10, False)):
        body.moveCursor(QTextCursor.MoveOperation.End)
        for _ in range(place):
            body.moveCursor(QTextCursor.MoveOperation.Left)
        point = body.cursorRect().center()
        event = QContextMenuEvent(QContextMenuEvent.Reason.Keyboard, point, body.mapToGlobal(point))
        QApplication.sendEvent(body.viewport(), event)
        menu = QApplication.activePopupWidget()
        titles = [each.text() for each in menu.actions()]
        assert titles[follows : follows + 4] == ["Link the selection", "Bold", "Italic", "Make a comment of it"]
        assert ("Follow the link" in titles) == follows
        assert any("Paste" in title for title in titles)
        menu.close()


def test_the_headings_of_a_note_are_offered_whether_it_is_open_or_not(window, pane, settle) -> None:
    bell = window.session.note_path(window.session.entry(BELL))
    bell.write_text("# Toll\n", encoding="utf-8")
    pane.editor.body.setFocus()
    write(pane, "\n\n## Its lair\n\n")
    found = []
    for target in ("", "Bell", "Skarn", "README", "Nobody", "bad"):
        QTest.keyClicks(pane.editor.body, f" [[{target}#")
        settle(window)
        found.append(offered(pane.editor))
        QTest.keyClicks(pane.editor.body, "]] ")
    assert found == [["Its lair"], ["Toll"], ["Its lair"], [], [], []]


def test_a_link_leads_to_the_heading_that_it_names(window, pane, settle) -> None:
    write(pane, "\n\n## Its *lair*\n\n# Dawn: 1 ^Dawn\n\nAshes. ^ashes\n")
    for target, line in (
        ("#its *lair*", "## Its *lair*"), ("#Dawn 1 Dawn", "# Dawn: 1 ^Dawn"), ("#^ashes", "Ashes. ^ashes"),
        ("#^Dawn", "# Dawn: 1 ^Dawn"), ("#Nothing", "# Dawn: 1 ^Dawn"),
    ):  # fmt: skip
        pane.follow(link(target))
        assert (window.selection.entry, pane.editor.body.textCursor().block().text()) == (SKARN, line)
    assert pane.editor._exists(link("#its *lair*"))
    window.selection.choose_entry(BELL)
    settle(window)
    pane.follow(link("Skarn#Skarn#Its *lair*"))
    settle(window)
    assert (window.selection.entry, pane.editor.body.textCursor().selectedText()) == (SKARN, "## Its *lair*")
    pane.follow(link("Elsewhere#Its *lair*"))
    assert pane.bar.label.text().startswith("No note is called “Elsewhere”.")


def test_where_there_is_no_link_that_is_said(window, pane, monkeypatch) -> None:
    said: list[str] = []
    monkeypatch.setattr(window.context, "flash", said.append)
    pane.editor.body.moveCursor(pane.editor.body.textCursor().MoveOperation.End)
    window.run("entry.follow")
    assert said == ["The caret is in no link."]


def test_what_is_done_to_the_text_is_done_where_it_is_seen(window, pane) -> None:
    for tab, then in ((TEXT, WRITE), (WRITE, WRITE), (SOURCE, SOURCE)):
        pane.tabs.setCurrentIndex(tab)
        window.run("entry.comment")
        assert pane.tabs.currentIndex() == then
    pane.tabs.setCurrentIndex(WRITE)


@pytest.fixture
def searched(window, pane, tmp_path, settle):
    """A window on a note with the word “bell” in its properties, its heading and its text."""
    folder = write_vault(tmp_path / "found")
    with (folder / "Bell.md").open("a", encoding="utf-8") as file:
        file.write("A bell, and one more bell.\n")
    window.session.set_project(open_project([folder]))
    settle(window)
    window.selection.choose_note(window.session.note_at(folder / "Bell.md"))
    settle(window)
    window.activateWindow()
    pane.editor.body.setFocus()
    return window


def press(key: Qt.Key, modifiers: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier) -> None:
    QTest.keyClick(QApplication.focusWidget(), key, modifiers)
    drain()


@pytest.mark.always
def test_words_are_found_in_the_text_of_the_note(searched) -> None:
    pane = searched.entry
    body, found, shift = pane.editor.body, pane.finder.found, Qt.KeyboardModifier.ShiftModifier
    press(Qt.Key.Key_F, Qt.KeyboardModifier.ControlModifier)
    assert QApplication.focusWidget() is pane.finder.field
    QTest.keyClicks(pane.finder.field, "bell")
    places = [(body.textCursor().blockNumber(), body.textCursor().selectedText(), found.text())]
    for modifiers in (shift.NoModifier, shift.NoModifier, shift.NoModifier, shift):
        press(Qt.Key.Key_Return, modifiers)
        places.append((body.textCursor().blockNumber(), body.textCursor().selectedText(), found.text()))
    assert places == [
        (5, "Bell", "1 of 3"), (8, "bell", "2 of 3"), (8, "bell", "3 of 3"),
        (5, "Bell", "1 of 3"), (8, "bell", "3 of 3"),
    ], "the properties are hidden, so nothing is found there"  # fmt: skip
    assert len(body.extraSelections()) == 3
    QTest.keyClicks(pane.finder.field, "s")
    assert (found.text(), body.extraSelections()) == ("none", [])
    press(Qt.Key.Key_Backspace)
    press(Qt.Key.Key_Escape)
    assert (pane.finder.isVisible(), QApplication.focusWidget()) == (False, body)
    assert (body.textCursor().blockNumber(), body.extraSelections()) == (8, [])


def test_words_are_replaced_in_what_is_seen_of_the_note(searched) -> None:
    pane = searched.entry
    before = pane.editor.buffer.text
    searched.run("entry.preview")
    press(Qt.Key.Key_H, Qt.KeyboardModifier.ControlModifier)
    assert (pane.tabs.currentIndex(), QApplication.focusWidget()) == (WRITE, pane.finder.field)
    QTest.keyClicks(pane.finder.field, "bell")
    press(Qt.Key.Key_Down)
    assert QApplication.focusWidget() is pane.finder.new
    QTest.keyClicks(pane.finder.new, "gong")
    (button,) = (each for each in pane.finder.findChildren(QPushButton) if each.text() == "Replace all")
    button.click()
    front, mark, body = before.rpartition("---\n")
    assert pane.editor.buffer.text == front + mark + body.replace("Bell", "gong").replace("bell", "gong")
    press(Qt.Key.Key_Escape)
    press(Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert pane.editor.buffer.text == before


def test_what_is_looked_for_is_marked_in_whatever_is_shown_of_a_note(searched, settle) -> None:
    pane = searched.entry
    pane.open_search()
    pane.finder.field.setText("bell")
    pane.tabs.setCurrentIndex(SOURCE)
    assert len(pane.editor.body.extraSelections()) == 4, "the properties are in sight"
    pane.tabs.setCurrentIndex(TEXT)
    assert len(pane.text.extraSelections()) == 2
    pane.tabs.setCurrentIndex(WRITE)
    searched.selection.choose_note(searched.session.note_at(pane.path.with_name("Skarn.md")))
    settle(searched)
    assert (pane.finder.found.text(), pane.editor.body.extraSelections()) == ("none", [])
    searched.selection.clear()
    assert not pane.open_search()


def test_no_mark_stays_in_a_text_that_was_left(searched) -> None:
    pane = searched.entry
    pane.open_search()
    pane.finder.field.setText("bell")
    pane.tabs.setCurrentIndex(TEXT)
    assert (len(pane.text.extraSelections()), pane.editor.body.extraSelections()) == (2, [])
    pane.finder.close_line()
    pane.tabs.setCurrentIndex(WRITE)
    assert (pane.text.extraSelections(), pane.editor.body.extraSelections()) == ([], [])


def test_what_is_found_follows_the_typing_while_it_is_looked_for(searched, qtbot) -> None:
    pane = searched.entry
    body, found = pane.editor.body, pane.finder.found
    pane.open_search()
    pane.finder.field.setText("bell")
    body.moveCursor(QTextCursor.MoveOperation.End)
    body.setFocus()
    QTest.keyClicks(body, " Bell, bell")
    qtbot.waitUntil(lambda: (found.text(), len(body.extraSelections())) == ("5", 5))
    pane.finder.close_line()
    QTest.keyClicks(body, " bell")
    drain()
    assert body.extraSelections() == []


def test_the_heading_follows_the_note_s_title_and_says_where_it_is_longer_than_its_room(pane) -> None:
    write(pane, "# Skarn the Grey\n")
    assert pane.heading.text() == "Skarn the Grey"
    pane.heading.resize(pane.heading.fontMetrics().horizontalAdvance("Skarn the"), pane.heading.height())
    (shown,) = words_drawn(pane.heading)
    assert (shown[:3], shown[-1], pane.heading.toolTip()) == ("Ska", "…", "Skarn the Grey")
    assert pane.heading.property("kind") == "title"


def test_ctrl_e_shows_the_whole_file_and_back(window, pane) -> None:
    assert pane.tabs.currentIndex() == WRITE
    window.run("entry.source")
    assert pane.tabs.currentIndex() == SOURCE
    assert not pane.editor.form.isVisible()
    window.run("entry.source")
    assert pane.editor.form.isVisible()


def test_a_link_leads_to_the_note_or_asks_for_a_new_one(window, pane, qtbot) -> None:
    pane.follow(link("Elsewhere"))
    assert "No note is called" in pane.bar.label.text()
    with qtbot.waitSignal(pane.create_wanted) as asked:
        pane.bar.pressed.emit("create")
    assert asked.args == ["Elsewhere"]
    with qtbot.assertNotEmitted(pane.create_wanted):
        pane.follow(link("Elsewhere"))
        pane.follow(link("Nowhere"))
    assert pane.bar.label.text() == "No note is called “Nowhere”. Follow the link again to make it."
    with qtbot.waitSignal(pane.create_wanted) as asked:  # the keyboard need not go to the button
        pane.follow(link("Nowhere"))
    assert (asked.args, pane.bar.isHidden()) == (["Nowhere"], True)
    pane.follow(links_in("[x](a/New%20one.md)")[0])
    assert pane.bar.label.text().startswith("No note is called “a/New one”.")
    pane.follow(link("bell"))
    assert window.selection.entry == BELL


def test_each_note_keeps_its_own_undo_history(window, pane, settle) -> None:
    write(pane, "one")
    window.selection.choose_entry(BELL)
    settle(window)
    write(pane, "two")
    window.selection.choose_entry(SKARN)
    settle(window)
    pane.editor.undo()
    assert "one" not in pane.editor.buffer.text
    assert not pane.unsaved
    window.selection.choose_entry(BELL)
    settle(window)
    assert pane.editor.buffer.text.endswith("two")


def test_an_ordinary_note_can_be_edited_too(window, settle) -> None:
    note = next(note for note in window.session.project.index.left_out if note.filename == "README.md")
    window.selection.choose_left_out(note)
    settle(window)
    assert window.entry.editor.buffer.text == "Hello\n"
    assert any("ordinary note" in remark.text for remark in window.entry.editor.form.row("tags").remarks)


def test_typing_does_not_take_a_message_away(window, pane, settle, monkeypatch) -> None:
    def full(*_args: object) -> str:
        raise SaveError("“Skarn.md” was not saved: the disk is full.")

    monkeypatch.setattr(pane.store, "write", full)
    write(pane, "a")
    window.run("entry.save")
    settle(window)
    write(pane, "b")
    assert "disk is full" in pane.bar.label.text()
    assert pane.bar.isVisible()


def test_why_a_note_is_left_out_follows_the_typing(pane) -> None:
    buffer = pane.editor.buffer
    buffer.apply(buffer.note.set("enabled", value=False))
    pane.editor.settle()
    assert "enabled: false" in pane.bar.label.text()
    pane.editor.undo()
    assert pane.bar.isHidden()


def test_a_preview_is_said_under_the_keys(pane) -> None:
    note = NoteText("vault", "Skarn.md", "x")
    match = WouldMatch((KeyMatch("skarn", 1, 4),), (), 4, "skarn")
    trace = make_trace()
    entry = pane._session.project.index.entries[SKARN]
    index = pane._session.project.index
    pane.show_preview(Preview(Generation(5), trace, trace, index, (EditedNote(note, entry, None, match),)))
    assert pane.editor.form.row("keys").remarks[-1].text == "Would match: “skarn” in message #4."
    pane.show_preview(None)
    assert "Would match" not in " ".join(remark.text for remark in pane.editor.form.row("keys").remarks)


# ---- beside other programs ------------------------------------------------------------------------------------------


def test_an_unchanged_note_follows_its_file(window, pane, settle) -> None:
    text = pane.path.read_text(encoding="utf-8").replace("dragon", "wyrm")
    pane.path.write_text(text, encoding="utf-8")
    window.session.state_changed.emit()  # as when the vault is followed
    settle(window)
    assert pane.editor.buffer.text == text
    assert not pane.unsaved


def test_a_changed_note_says_that_its_file_has_changed(window, pane, settle) -> None:
    write(pane, "mine")
    pane.path.write_text("theirs", encoding="utf-8")
    window.session.state_changed.emit()
    settle(window)
    assert "changed on disk" in pane.bar.label.text()
    assert pane.editor.buffer.text.endswith("mine")
    assert pane.path.read_text(encoding="utf-8") == "theirs"


def test_a_save_that_asks_gives_the_keyboard_to_the_answers_when_it_is_wanted_again(window, pane, settle) -> None:
    body = pane.editor.body
    write(pane, "mine")
    pane.path.write_text("theirs", encoding="utf-8")
    reached = []
    for _ in range(2):
        press(Qt.Key.Key_S, Qt.KeyboardModifier.ControlModifier)
        settle(window)
        reached.append(getattr(window.focusWidget(), "text", str)())
    assert reached == ["", "Compare…"]
    body.setFocus()
    window.session.state_changed.emit()  # it is looked at again, and said again
    settle(window)
    assert body.hasFocus()
    press(Qt.Key.Key_S, Qt.KeyboardModifier.ControlModifier)
    settle(window)
    window.session.state_changed.emit()
    settle(window)
    assert window.focusWidget().text() == "Compare…"
    for _ in range(2):
        press(Qt.Key.Key_Tab)
    press(Qt.Key.Key_Return)
    assert (window.focusWidget(), body.hasFocus()) == (body, True)
    settle(window)
    assert pane.path.read_text(encoding="utf-8").endswith("mine")
    assert pane.bar.isHidden()


def clash(window, pane, settle, mine: tuple[str, str], theirs: tuple[str, str]) -> ConflictDialog:
    base = "---\ntags: [lorebook]\n---\none\ntwo\nthree\nfour\n"
    pane.path.write_text(base, encoding="utf-8", newline="")
    window.session.state_changed.emit()
    settle(window)
    pane.editor.buffer.replace_all(base.replace(*mine))
    pane.path.write_text(base.replace(*theirs), encoding="utf-8", newline="")
    window.run("entry.save")
    settle(window)
    dialog = pane.compare()
    assert isinstance(dialog, ConflictDialog)
    return dialog


def test_changes_in_different_places_are_merged(window, pane, settle) -> None:
    dialog = clash(window, pane, settle, ("one", "ONE"), ("four", "FOUR"))
    assert dialog.take.isEnabled()
    dialog.take.click()
    settle(window)
    saved = pane.path.read_bytes()
    assert saved == b"---\ntags: [lorebook]\n---\nONE\ntwo\nthree\nFOUR\n"
    assert not pane.unsaved
    pane.editor.undo()
    assert pane.editor.buffer.text.endswith("ONE\ntwo\nthree\nfour\n")


def test_a_conflict_has_to_be_decided(window, pane, settle) -> None:
    dialog = clash(window, pane, settle, ("two", "mine"), ("two", "theirs"))
    assert not dialog.take.isEnabled()
    place = next(place for place, piece in enumerate(dialog.pieces) if piece.merged is None)
    dialog.choose(place, "both")
    assert dialog.take.isEnabled()
    dialog.take.click()
    settle(window)
    assert pane.path.read_bytes().endswith(b"one\nmine\ntheirs\nthree\nfour\n")


def test_closing_the_comparison_changes_nothing(window, pane, settle) -> None:
    dialog = clash(window, pane, settle, ("two", "mine"), ("two", "theirs"))
    dialog.reject()
    drain()
    assert b"theirs" in pane.path.read_bytes()
    assert "mine" in pane.editor.buffer.text
    window.run("entry.save")
    settle(window)
    assert b"theirs" in pane.path.read_bytes(), "still not overwritten"


@pytest.mark.parametrize("wrong", ["gone", "other"])
def test_a_file_that_is_back_as_it_was_is_nothing_to_ask_about(window, pane, settle, wrong: str) -> None:
    before = pane.path.read_bytes()
    write(pane, "mine")
    pane.path.unlink()
    if wrong == "other":
        pane.path.write_bytes(b"theirs")
    window.session.state_changed.emit()
    settle(window)
    assert pane.bar.isVisible()
    pane.path.write_bytes(before)
    window.session.state_changed.emit()
    settle(window)
    assert pane.bar.isHidden()
    assert "mine" in pane.editor.buffer.text
    window.run("entry.save")
    settle(window)
    assert b"mine" in pane.path.read_bytes()


def test_a_file_that_cannot_be_looked_at_is_said_until_it_can(window, pane, settle) -> None:
    path, before = pane.path, pane.path.read_bytes()

    def look(data: bytes, note: int = SKARN) -> str:
        path.write_bytes(data)
        window.selection.choose_entry(note)
        settle(window)
        pane.store.check(path)
        settle(window)
        return "" if pane.bar.isHidden() else pane.bar.label.text()

    broken = b"\xff\xfe broken"
    said = look(broken)
    assert path.name in said
    assert said.endswith("Your text is kept here.")
    assert look(before) == ""
    assert look(broken, BELL) == ""  # it is about another note
    assert look(broken) == said


def test_a_file_that_is_gone_can_be_written_again(window, pane, settle) -> None:
    write(pane, "mine")
    pane.path.unlink()
    window.run("entry.save")
    settle(window)
    assert "not on disk any more" in pane.bar.label.text()
    pane.bar.pressed.emit("mine")
    settle(window)
    assert pane.path.read_text(encoding="utf-8").endswith("mine")


def test_throwing_unsaved_changes_away_reads_the_file_again(window, pane, settle) -> None:
    before = pane.editor.buffer.text
    write(pane, "mine")
    pane.revert()
    drain()
    settle(window)
    assert pane.editor.buffer.text == before
    assert not pane.unsaved
    write(pane, "again")
    assert pane.unsaved


# ---- history --------------------------------------------------------------------------------------------------------


def dialog_of(window, kind: type[QDialog]) -> QDialog:
    return next(item for item in window.findChildren(kind) if item.isVisible())


def test_an_earlier_version_is_compared_and_taken(window, pane, settle, tmp_path: Path) -> None:
    pane.safety.use(Snapshots(tmp_path / "history"))
    before = pane.editor.buffer.text
    write(pane, "New line.\n")
    window.run("entry.save")
    settle(window)
    window.run("entry.history")
    settle(window)
    dialog = dialog_of(window, HistoryDialog)
    assert dialog.windowTitle() == f"History of {note_title(window.session.note_at(pane.path))}"
    assert dialog.list.count() == 1
    assert "1 line" in dialog.diff.summary.text()
    dialog.take.click()
    assert not dialog.isVisible()
    drain()
    assert pane.editor.buffer.text == before
    assert pane.unsaved, "it is in the editor, not on disk"
    assert pane.path.read_text(encoding="utf-8").endswith("New line.\n")


def test_a_note_without_history_says_when_there_will_be_one(window, pane, settle, tmp_path: Path) -> None:
    pane.safety.use(Snapshots(tmp_path / "history"))
    window.run("entry.history")
    settle(window)
    dialog = dialog_of(window, HistoryDialog)
    assert "no earlier version" in dialog.message.text()
    dialog.reject()
    drain()


def test_the_history_of_a_note_whose_folder_was_moved_is_offered(window, pane, settle, tmp_path: Path) -> None:
    kept = Snapshots(tmp_path / "history")
    pane.safety.use(kept)
    before = tmp_path / "before" / pane.path.name
    kept.add({before: b"As it was."}, "before saving")
    window.run("entry.history")
    settle(window)
    dialog = dialog_of(window, HistoryDialog)
    assert f"Of {before}, which is gone, 1 version is kept" in dialog.message.text()
    dialog.take.click()
    drain()
    assert pane.editor.buffer.text == "As it was."


# ---- unsaved texts --------------------------------------------------------------------------------------------------


def test_a_key_that_is_half_typed_is_unsaved_with_its_first_letter(pane) -> None:
    line = pane.editor.form.row("keys").field.chips.input
    assert not pane.dirty.isVisible()
    line.setFocus()
    QTest.keyClicks(line, "w")
    assert (pane.dirty.isVisible(), pane.save_button.isVisible()) == (True, True)
    line.clear()
    assert not pane.dirty.isVisible()


def test_what_is_typed_is_kept_and_forgotten_once_it_is_saved(window, pane, settle, tmp_path: Path) -> None:
    folder = tmp_path / "recovery"
    copies = Recovery(folder)
    pane.safety.use(None, copies)
    write(pane, "precious")
    pane.store.keep_now()
    settle(window)
    kept = list(folder.glob("*/*.json"))
    assert len(kept) == 1
    assert "precious" in kept[0].read_text(encoding="utf-8")
    window.run("entry.save")
    settle(window)
    settle(window)
    assert not list(folder.glob("*/*.json"))


def left_behind(folder: Path, path: Path, text: str, base: str | None) -> None:
    """As a studio that was killed leaves it: its lock is gone, its text is there."""
    gone = Recovery(folder)
    gone.keep(path, text, base)
    gone.close()


def test_an_unsaved_text_is_found_and_restored(window, pane, settle, tmp_path: Path) -> None:
    folder, path = tmp_path / "notes", pane.path
    left_behind(folder / "recovery", path, "---\ntags: [lorebook]\n---\nrescued\n", digest(path))
    window.selection.choose_entry(BELL)
    settle(window)
    window.keep_notes_safe(folder)
    settle(window)
    dialog = dialog_of(window, RecoveryDialog)
    dialog.press("restore", dialog.found[0])
    settle(window)
    assert window.selection.entry == SKARN
    assert pane.editor.buffer.text.endswith("rescued\n")
    assert pane.unsaved
    assert path.read_text(encoding="utf-8").endswith("A dragon.\n"), "restoring writes nothing into the vault"
    window.run("entry.save")
    settle(window)
    settle(window)
    assert path.read_text(encoding="utf-8").endswith("rescued\n")
    assert not list(folder.glob("recovery/*/*.json"))


@pytest.mark.always
def test_a_found_text_of_another_version_does_not_overwrite_the_file(window, pane, settle, tmp_path: Path) -> None:
    folder, path = tmp_path / "notes", pane.path
    left_behind(folder / "recovery", path, "rescued", "0" * 64)
    window.keep_notes_safe(folder)
    settle(window)
    dialog = dialog_of(window, RecoveryDialog)
    dialog.press("restore", dialog.found[0])
    settle(window)
    settle(window)
    assert "changed on disk" in pane.bar.label.text()
    window.run("entry.save")
    settle(window)
    assert path.read_text(encoding="utf-8").endswith("A dragon.\n")


def test_a_kept_text_that_cannot_be_read_is_told_beside_the_others(window, pane, settle, tmp_path: Path) -> None:
    folder = tmp_path / "notes"
    for name in ("Skarn.md", "Bell.md"):
        left_behind(folder / "recovery", tmp_path / name, f"of {name}\n", None)
    damaged, whole = sorted(folder.glob("recovery/*/*.json"))
    text = json.loads(whole.read_bytes())["text"]
    damaged.write_bytes(b'{"path": "x", "te')
    window.keep_notes_safe(folder)
    settle(window)
    assert [each.text for each in dialog_of(window, RecoveryDialog).found] == [text]
    (told,) = window.bars.texts
    assert str(damaged) in told
    assert "delete it" in told
    assert damaged.exists()


def test_a_found_text_can_be_thrown_away(window, pane, settle, tmp_path: Path) -> None:
    folder = tmp_path / "notes"
    left_behind(folder / "recovery", pane.path, "rescued", digest(pane.path))
    window.keep_notes_safe(folder)
    settle(window)
    dialog = dialog_of(window, RecoveryDialog)
    dialog.press("compare", dialog.found[0])
    settle(window)
    assert dialog.diff.isVisible()
    dialog.press("discard", dialog.found[0])
    settle(window)
    assert not list(folder.glob("recovery/*/*.json"))
    assert not pane.unsaved


def test_a_disk_that_keeps_nothing_is_said_and_the_text_stays(window, pane, settle) -> None:
    class Full:
        def keep(self, *_args: object) -> None:
            raise SaveError("Unsaved texts cannot be kept: the disk is full.")

        def drop(self, *_args: object) -> None:
            pass

        def close(self) -> None:
            pass

    pane.safety.use(None, Full())
    write(pane, "precious")
    pane.store.keep_now()
    settle(window)
    assert "disk is full" in pane.bar.label.text()
    assert pane.editor.buffer.text.endswith("precious")


def test_the_window_drops_the_copies_of_what_was_given_up(make_window, settle, tmp_path: Path) -> None:
    window = make_window(make_project(tmp_path / "vault"))
    window.keep_notes_safe(tmp_path / "notes")
    window.selection.choose_entry(SKARN)
    settle(window)
    write(window.entry, "given up")
    window.entry.store.keep_now()
    settle(window)
    assert list((tmp_path / "notes").glob("recovery/*/*.json"))
    window.features.notes.answer_unsaved("discard", window.close)
    assert not list((tmp_path / "notes").glob("recovery/*/*.json"))


def test_typing_in_the_window_is_undone_by_the_note(pane) -> None:
    before = pane.editor.buffer.text
    pane.source.setFocus()
    QTest.keyClicks(pane.source, "abc")
    drain()
    assert pane.unsaved
    pane.editor.undo()
    assert pane.editor.buffer.text == before


def test_a_file_that_the_editor_cannot_keep_is_shown_only(window, pane, settle) -> None:
    window.selection.choose_entry(BELL)
    settle(window)
    path = window.session.project.vault_folders[0] / "Skarn.md"
    pane.store.buffers.drop(path)
    path.write_text("---\ntags: [lorebook]\n---\nA\ufdd0B\n", encoding="utf-8")  # Qt takes it for a line end
    window.selection.choose_entry(SKARN)
    settle(window)
    assert pane.source.isReadOnly()
    assert "cannot keep" in pane.bar.label.text()
    assert not pane.unsaved


def test_the_fields_are_reached_by_tab_in_their_order(pane) -> None:
    form = pane.editor.form
    pane.editor.toggle.setFocus()
    reached = [pane.focusWidget()]
    for _ in range(2 * len(form.names) + 1):
        pane.focusNextChild()
        reached.append(pane.focusWidget())
    fields = [form.row(name).field.focusProxy() or form.row(name).field for name in form.names]
    assert [widget for widget in reached if widget in fields] == fields
    assert form.add_button in reached
    pane.focusNextChild()
    assert pane.focusWidget() is pane.editor.body


# ---- the pane alone -------------------------------------------------------------------------------------------------


class Alone(NamedTuple):
    """A pane without a window, and what it follows."""

    pane: EntryPane
    session: Session
    selection: Selection
    drafts: Drafts
    settle: Callable[[], None]

    def choose(self, entry: int) -> EntryPane:
        self.selection.choose_entry(entry)
        self.settle()
        return self.pane


@pytest.fixture
def make_alone(theme, make_session, qtbot):
    made: list[EntryPane] = []

    def make(project: Project | None = None) -> Alone:
        session, selection, drafts = make_session(project, replay=False), Selection(), Drafts()
        pane = EntryPane(theme, session, selection, drafts, session.jobs)
        made.append(pane)
        pane.resize(700, 600)
        pane.show()
        qtbot.waitExposed(pane)

        def settle() -> None:
            for _ in range(3):
                qtbot.waitUntil(lambda: session.jobs.idle)
                drain()

        settle()
        return Alone(pane, session, selection, drafts, settle)

    yield make
    for pane in made:
        pane.store.close()
        pane.close()
        pane.deleteLater()
    drain()


@pytest.fixture
def alone(make_alone, tmp_path: Path) -> Alone:
    """The pane on the note Skarn of a vault on disk."""
    made = make_alone(make_project(tmp_path / "vault"))
    made.choose(SKARN)
    return made


def test_it_says_what_could_be_shown_where_nothing_is(make_alone, tmp_path: Path) -> None:
    nothing = make_alone()
    assert nothing.pane.empty.title.text() == "No entry"
    assert nothing.pane.focus_target() is nothing.pane
    named: list[str] = []
    found = make_alone(make_project(tmp_path / "vault"))
    found.pane.note_changed.connect(named.append)
    assert found.pane.empty.title.text() == "No entry chosen"
    wanted: list[str] = []
    found.pane.wanted.connect(wanted.append)
    found.pane.empty.page.findChild(QPushButton).click()
    assert wanted == ["go.entry"]
    found.choose(SKARN)
    assert not found.pane.empty.isVisible()
    assert found.pane.focus_target() is found.pane.editor.body
    found.choose(99)  # a memory, say
    assert found.pane.empty.title.text() == "No note of the vault"
    assert found.pane.empty.isVisible()
    assert named == ["Skarn.md", ""]
    assert found.pane.path is None
    for do in (found.pane.save, found.pane.revert, found.pane.show_history, found.pane.compare):
        do()
    assert found.session.jobs.idle
    (tmp_path / "empty").mkdir()
    found.selection.clear()
    found.session.set_project(open_project([tmp_path / "empty"]))
    found.settle()
    assert found.pane.empty.title.text() == "No entries"
    found.pane.empty.page.findChild(QPushButton).click()
    assert wanted == ["go.entry", "note.new"]
    (tmp_path / "plain").mkdir()
    (tmp_path / "plain" / "Pell.md").write_text("A smith.\n")
    found.session.set_project(open_project([tmp_path / "plain"]))
    found.settle()
    made = [each for each in found.pane.empty.page.findChildren(QPushButton) if each.isVisible()]
    assert [each.text() for each in made] == ["Make entries…", "New note…"]
    made[0].click()
    assert wanted[2:] == ["note.entries"]


@pytest.mark.parametrize(
    ("read_only", "polled", "said"),
    [(False, 0, "is seen with F5"), (False, 5, "but not edited."), (True, 0, "folder is only read here.")],
)
def test_a_note_without_a_file_shows_its_text_only(make_alone, read_only: bool, polled: int, said: str) -> None:
    project = make_project()
    settings = project.settings.model_copy(update={"sync_polling_interval": polled})
    pane = make_alone(replace(project, read_only=read_only, settings=settings)).choose(SKARN)
    assert said in pane.bar.label.text().partition(", or where")[0][-len(said) :]
    assert pane.bar.isVisible()
    assert (pane.tabs.currentIndex(), pane.text.toPlainText()) == (TEXT, "A dragon.")
    assert pane.focus_target() is pane.text
    assert pane.source.isReadOnly()
    assert not pane.dirty.isVisible()
    wanted: list[str] = []
    pane.wanted.connect(wanted.append)
    for button in pane.bar.findChildren(QPushButton):
        button.click()
    assert wanted == ["sillytavern.edit"] * read_only


def test_each_view_shows_its_own_and_has_the_keyboard(alone) -> None:
    pane = alone.pane
    shown = []
    for tab in (TEXT, TEXT, SOURCE, SOURCE):
        pane.editor.form.add_button.setFocus() if pane.editor.form.isVisible() else pane.tabs.setFocus()
        pane.toggle(tab)
        drain()
        target = pane.focus_target()
        shown.append((pane.tabs.currentIndex(), target is pane.text, target.hasFocus(), pane.editor.toggle.isVisible()))
    assert shown == [
        (TEXT, True, True, False), (WRITE, False, True, True), (SOURCE, False, True, False), (WRITE, False, True, True),
    ]  # fmt: skip
    assert [pane.tabs.tabText(each) for each in (WRITE, SOURCE)] == ["Write", "Source"]


def test_the_facts_of_an_entry_and_of_a_left_out_note(alone) -> None:
    pane = alone.pane
    assert pane.heading.text() == "Skarn"
    assert pane.chips.accessibleName() == "normal, priority 100, ≈ 3 tokens"
    assert pane.tabs.tabText(TEXT) == "Injected text · ≈ 3"
    buffer = pane.editor.buffer
    buffer.apply(buffer.note.set("constant", value=True))
    pane.editor.settle()
    assert pane.bar.isHidden()
    assert pane.chips.accessibleName().startswith("constant, ")
    buffer.replace_all(buffer.text.replace("constant", 'priority: "20"\nconstant'))
    pane.editor.settle()
    assert pane.chips.accessibleName().endswith(", 1 warning")
    for name, words in (("bad.md", "cannot be read"), ("README.md", "left out")):
        alone.selection.choose_left_out(next(each for each in LEFT_OUT if each.filename == name))
        alone.settle()
        assert (pane.heading.text(), pane.chips.accessibleName()) == (name, words)
        assert pane.tabs.tabText(TEXT) == "Injected text"
        assert pane.text.toPlainText() == "(Nothing of this note goes into the prompt.)"
        assert pane.bar.isVisible()
        assert pane.bar.tone == ("error" if name == "bad.md" else "neutral")
    pane.toggle(TEXT)
    assert pane.text.toPlainText() == "(Nothing of this note goes into the prompt.)"


def test_a_text_that_grows_is_shown_where_it_was_looked_at(alone) -> None:
    pane = alone.pane
    write(pane, "more\n" * 200)
    pane.tabs.setCurrentIndex(TEXT)
    bar = pane.text.verticalScrollBar()
    bar.setValue(bar.maximum() // 2)
    place = bar.value()
    assert place > 0
    write(pane, "end\n")
    assert pane.text.toPlainText().endswith("end")
    assert bar.value() == place
    pane.editor.buffer.replace_all("---\ntags: [lorebook]\n---\n")
    pane.editor.settle()
    assert pane.text.toPlainText() == "(The note has no text.)"


def test_a_place_is_gone_to_in_the_view_that_shows_it(alone) -> None:
    pane = alone.pane
    pane.show_place(4, 2, 8)
    assert (pane.tabs.currentIndex(), pane.source.textCursor().selectedText()) == (WRITE, "dragon")
    pane.show_place(2, 0, 4)  # a property, which the form hides
    assert (pane.tabs.currentIndex(), pane.source.textCursor().selectedText()) == (SOURCE, "tags")
    pane.tabs.setCurrentIndex(TEXT)
    pane.show_place(4, 0, 1)
    assert (pane.tabs.currentIndex(), pane.source.textCursor().selectedText()) == (SOURCE, "A")


def test_a_place_of_a_note_that_is_still_read_is_gone_to_once_it_is_there(alone) -> None:
    pane = alone.pane
    alone.selection.choose_entry(BELL)
    assert (pane.source.toPlainText(), pane.source.isReadOnly()) == ("", True)
    pane.show_place(4, 3, 8)
    alone.settle()
    assert not pane.source.isReadOnly()
    assert pane.source.textCursor().selectedText() == "rings"
    alone.selection.choose_entry(DAWNKEEP)
    pane.show_place(4, 2, 10)
    alone.selection.choose_entry(SKARN)  # somebody goes on before it is read
    alone.settle()
    assert not pane.source.textCursor().hasSelection()


def test_a_note_that_was_just_made_is_written_in(alone) -> None:
    pane = alone.pane
    pane.tabs.setCurrentIndex(SOURCE)
    folder = pane.path.parent
    pane.begin(folder / "Bell.md")
    assert pane.tabs.currentIndex() == SOURCE
    alone.choose(BELL)
    assert pane.tabs.currentIndex() == WRITE
    assert pane.source.textCursor().block().text() == "It rings."
    assert pane.source.textCursor().atBlockEnd()
    assert pane.source.hasFocus()
    pane.tabs.setCurrentIndex(SOURCE)
    alone.choose(SKARN)
    alone.choose(BELL)  # only the first time
    assert pane.tabs.currentIndex() == SOURCE


def test_a_property_is_shown_in_its_line_of_the_file(alone) -> None:
    pane = alone.pane
    pane.editor.form.row("tags").name.asked.emit("source")
    drain()
    assert pane.tabs.currentIndex() == SOURCE
    assert pane.source.textCursor().block().text() == "tags: [lorebook]"
    assert pane.source.hasFocus()


def test_what_is_unsaved_is_marked_and_can_be_saved(alone) -> None:
    pane = alone.pane
    saved: list[Path] = []
    pane.saved.connect(saved.append)
    pane.save()
    alone.settle()
    assert (saved, pane.unsaved, pane.dirty.isVisible(), pane.save_button.isVisible()) == ([], False, False, False)
    write(pane, "mine")
    assert (pane.unsaved, pane.dirty.isVisible(), pane.save_button.isVisible()) == (True, True, True)
    pane.save()
    assert not pane.save_button.isEnabled()
    alone.settle()
    assert (saved, pane.unsaved, pane.dirty.isVisible()) == ([pane.path], False, False)
    assert pane.save_button.isEnabled()
    assert pane.path.read_text(encoding="utf-8").endswith("mine")
    write(pane, "more")
    alone.choose(BELL)
    assert not pane.dirty.isVisible()
    alone.choose(SKARN)
    assert pane.dirty.isVisible()


def test_while_a_note_is_written_another_one_can_be_saved(alone) -> None:
    pane, gate, real = alone.pane, Event(), alone.pane.store.write
    pane.store.write = lambda *given: (gate.wait(60), real(*given))[1]
    alone.choose(BELL)
    alone.choose(SKARN)
    write(pane, "mine")
    pane.save()
    alone.selection.choose_entry(BELL)
    write(pane, "mine, too")
    assert pane.save_button.isEnabled()
    alone.selection.choose_entry(SKARN)
    assert not pane.save_button.isEnabled()
    gate.set()
    alone.settle()
    assert (pane.unsaved, pane.save_button.isEnabled()) == (False, True)
    gate.clear()
    write(pane, "more")
    pane.store.save_all(None, lambda _problems: None)
    write(pane, "even more")
    assert not pane.save_button.isEnabled()
    gate.set()
    alone.settle()
    assert (pane.unsaved, pane.save_button.isEnabled()) == (True, True)


def test_a_save_that_failed_can_be_tried_again(alone) -> None:
    pane, real = alone.pane, alone.pane.store.write

    def full(*_args: object) -> str:
        raise SaveError("The disk is full.")

    pane.store.write = full
    write(pane, "mine")
    pane.save()
    alone.settle()
    assert pane.bar.label.text() == "The disk is full. Your text is kept here."
    assert pane.save_button.isEnabled()
    pane.store.write = real
    pane.bar.pressed.emit("again")
    alone.settle()
    assert pane.path.read_text(encoding="utf-8").endswith("mine")
    assert pane.bar.isHidden()
    write(pane, "more")
    path = pane.path
    pane.store.write = full
    pane.save()
    alone.selection.choose_entry(BELL)
    alone.settle()
    assert pane.bar.isHidden()  # it is said where the note is
    pane.store.write = real
    assert alone.drafts.get(path) is not None


def clash_alone(alone, theirs: str) -> EntryPane:
    pane = alone.pane
    write(pane, "mine")
    pane.path.write_text(theirs, encoding="utf-8")
    pane.save()
    alone.settle()
    assert "changed on disk meanwhile" in pane.bar.label.text()
    return pane


def test_theirs_is_taken_with_its_button(alone) -> None:
    pane = clash_alone(alone, "---\ntags: [lorebook]\n---\nTheirs.\n")
    pane.bar.pressed.emit("theirs")
    alone.settle()
    assert pane.source.toPlainText().endswith("Theirs.\n")
    assert (pane.unsaved, pane.bar.isHidden(), pane.compare()) == (False, True, None)
    pane.bar.pressed.emit("mine")  # that was decided
    alone.settle()
    assert pane.path.read_text(encoding="utf-8").endswith("Theirs.\n")


def test_mine_is_kept_with_its_button(alone) -> None:
    pane = clash_alone(alone, "theirs")
    pane.bar.pressed.emit("mine")
    alone.settle()
    assert pane.path.read_text(encoding="utf-8").endswith("mine")
    assert (pane.unsaved, pane.bar.isHidden()) == (False, True)
    assert pane.compare() is None


def test_both_are_compared_with_its_button(alone) -> None:
    pane = clash_alone(alone, "theirs")
    pane.bar.pressed.emit("compare")
    dialog = pane.findChild(ConflictDialog)
    assert dialog.isVisible()
    dialog.reject()


def test_a_comparison_in_which_theirs_is_chosen_leaves_nothing_to_save(alone) -> None:
    theirs = "---\ntags: [lorebook]\n---\nTheirs.\n"
    pane = clash_alone(alone, theirs)
    pane.bar.pressed.emit("compare")
    dialog = pane.findChild(ConflictDialog)
    for place, piece in enumerate(dialog.pieces):
        if piece.side is not Side.NOBODY:
            dialog.choose(place, "theirs")
    dialog.take.click()
    alone.settle()
    assert (pane.source.toPlainText(), pane.unsaved, pane.bar.isHidden()) == (theirs, False, True)
    assert pane.path.read_text(encoding="utf-8") == theirs


def test_a_clash_of_another_note_is_not_said_here(alone) -> None:
    pane = alone.pane
    write(pane, "mine")
    path = pane.path
    path.write_text("theirs", encoding="utf-8")
    pane.save()
    alone.selection.choose_entry(BELL)
    alone.settle()
    assert pane.bar.isHidden()
    assert pane.save_button.isEnabled()
    alone.choose(SKARN)
    assert "changed on disk meanwhile" in pane.bar.label.text()
    pane.bar.closed.emit()
    assert (pane.bar.isHidden(), pane.compare()) == (True, None)
    pane.save()
    alone.settle()
    assert not pane.bar.isHidden(), "it is told of again, and nothing was written over"


def test_who_comes_back_to_the_window_sees_what_changed_elsewhere(alone) -> None:
    pane = alone.pane
    text = pane.path.read_text(encoding="utf-8").replace("dragon", "wyrm")
    pane.path.write_text(text, encoding="utf-8")
    alone.settle()
    assert pane.editor.buffer.text != text
    pane.activateWindow()
    QApplication.sendEvent(pane, QEvent(QEvent.Type.ActivationChange))
    alone.settle()
    assert pane.editor.buffer.text == text
    pane.path.write_text(text + "More.\n", encoding="utf-8")
    pane.tabs.setCurrentIndex(SOURCE)  # so does who looks at another view
    alone.settle()
    assert pane.editor.buffer.text == text + "More.\n"


def test_a_note_that_cannot_be_read_says_why_and_shows_what_is_known(alone) -> None:
    pane = alone.pane
    folder = pane.path.parent
    (folder / "Bell.md").write_bytes(b"\xff\xfe broken")
    alone.choose(BELL)
    assert "not UTF-8" in pane.bar.label.text()
    assert pane.bar.tone == "error"
    assert (pane.tabs.currentIndex(), pane.text.toPlainText()) == (TEXT, "It rings.")
    assert pane.source.isReadOnly()


def test_a_link_that_leads_nowhere_offers_to_make_the_note_where_somebody_can(alone, qtbot) -> None:
    pane = alone.pane
    pane.follow(link("Elsewhere"))
    assert pane.bar.label.text() == "No note is called “Elsewhere”."
    assert [each.text() for each in pane.bar.findChildren(QPushButton)] == []
    wanted: list[str] = []
    pane.create_wanted.connect(wanted.append)
    pane.follow(link("Elsewhere"))
    (button,) = (each for each in pane.bar.findChildren(QPushButton) if each.text())
    button.click()
    assert (wanted, pane.bar.isHidden()) == (["Elsewhere"], True)


def test_a_link_leads_to_a_place_of_this_note_or_of_another(alone) -> None:
    pane = alone.pane
    write(pane, "\n\n## Its lair\n\nAshes. ^ashes\n")
    for target, line in (("#its lair", "## Its lair"), ("#^ashes", "Ashes. ^ashes"), ("#Nothing", "Ashes. ^ashes")):
        pane.follow(link(target))
        assert (alone.selection.entry, pane.source.textCursor().block().text()) == (SKARN, line)
    alone.choose(BELL)
    pane.follow(link("Skarn#Skarn#Its lair"))
    alone.settle()
    assert (alone.selection.entry, pane.source.textCursor().selectedText()) == (SKARN, "## Its lair")
    pane.follow(link("Bell"))
    alone.settle()
    assert (alone.selection.entry, pane.source.textCursor().hasSelection()) == (BELL, False)


def test_files_are_opened_by_the_desktop_unless_they_may_be_programs(alone, monkeypatch) -> None:
    pane, opened = alone.pane, []
    monkeypatch.setattr(QDesktopServices, "openUrl", lambda url: opened.append(url.toString()) or len(opened) < 3)
    picture = pane.path.parent / "map.png"
    picture.write_bytes(b"")
    pane._look_beside()  # what lies beside the notes is read anew
    alone.settle()
    (address,) = addresses_in("<https://example.org/a>")
    pane.follow(link("map.png"))
    pane.follow(address)
    assert (opened, pane.bar.isHidden()) == ([picture.as_uri(), "https://example.org/a"], True)
    pane.follow(link("map.png"))
    assert pane.bar.label.text() == f"No program of this computer opens {picture.as_uri()}."
    pane.follow(link("lost.png"))
    assert pane.bar.label.text() == "No file is called “lost.png”."
    pane.open_outside(QUrl.fromLocalFile(str(picture.with_name("map.png.desktop"))))
    assert pane.bar.label.text() == "“map.png.desktop” may be a program, so it is not opened from here."
    assert len(opened) == 3


def test_words_are_looked_for_where_a_note_is_shown(alone) -> None:
    assert alone.pane.open_search()
    assert alone.pane.finder.isVisible()
    alone.pane.finder.hide()
    alone.selection.clear()
    alone.settle()
    assert not alone.pane.open_search()
    assert not alone.pane.finder.isVisible()
    assert alone.pane.focus_target() is alone.pane


def test_aliases_are_read_with_the_first_note_and_lead_to_theirs(make_alone, tmp_path: Path) -> None:
    folder = write_vault(tmp_path / "vault")
    alone = make_alone(open_project([folder]))
    pane, index = alone.pane, alone.session.project.index
    assert pane.editor.context.book.find(link("the red one")) is None
    assert pane.editor.context.book.find(link("Skarn")) is None  # nobody has looked at a note yet
    bell, skarn = (next(each for each in index.entries if each.title == title) for title in ("Bell", "Skarn"))
    alone.choose(bell.id)
    pane.editor.body.followed.emit(link("the red one"))
    assert alone.selection.entry == skarn.id
    alone.settle()
    book = pane.editor.context.book
    alone.choose(bell.id)
    assert pane.editor.context.book is book  # of this state of the vault they are known
    other = write_vault(tmp_path / "other", {"Moth.md": "---\ntags: [lorebook]\nkeys: [moth]\n---\n# Moth\n\nGrey.\n"})
    alone.selection.clear()
    alone.session.set_project(open_project([other]))
    alone.settle()
    assert pane.editor.context.book.find(link("the red one")) is None
    assert pane.empty.title.text() == "No entry chosen"


def test_no_history_is_kept_without_a_folder_for_it(alone) -> None:
    alone.pane.show_history()
    assert alone.pane.bar.label.text() == "No history is kept in this window."


def test_what_the_system_says_of_the_entry_stands_under_its_keys(alone) -> None:
    pane, project = alone.pane, alone.session.project
    note, trace = NoteText("vault", "Skarn.md", "x"), make_trace()
    other = NoteText("vault", "Bell.md", "x")

    def said(of: NoteText, *, goes_in: bool) -> str:
        outcome = EntryOutcome(goes_in, "It has room.")
        edited = EditedNote(of, project.index.entries[SKARN], outcome=outcome)
        pane.show_preview(Preview(Generation(5), trace, trace, project.index, (edited,)))
        return " ".join(each.text for each in pane.editor.form.row("keys").remarks)

    assert "Would go in. It has room." in said(note, goes_in=True)
    assert "Would not go in. It has room." in said(note, goes_in=False)
    assert "Would" not in said(other, goes_in=True)


def test_f2_belongs_to_a_chip_and_to_a_name_that_it_renames(window, tmp_path, settle) -> None:
    folder = write_vault(tmp_path / "f2", {"Skarn.md": "---\ntags: [lorebook]\nkeys: [skarn]\nmood: calm\n---\nA.\n"})
    window.features.vault.keep_in(tmp_path / "kept")
    window.session.set_project(open_project([folder]))
    settle(window)
    window.selection.choose_note(window.session.note_at(folder / "Skarn.md"))
    settle(window)
    window.show_pane("entry")
    window.activateWindow()
    form = window.entry.editor.form

    def pressed(on: QWidget) -> list[str]:
        """The titles of the dialogs that the key opens."""
        on.setFocus()
        QTest.keyClick(on, Qt.Key.Key_F2)
        settle(window)
        shown = [each for each in QApplication.topLevelWidgets() if isinstance(each, QDialog) and each.isVisible()]
        titles = [each.windowTitle() for each in shown]
        for each in shown:
            each.reject()
        drain()
        return titles

    keys = form.row("keys").field.chips
    told: list[bool] = []
    window.commands.actions["view.full_screen"].triggered.connect(lambda: told.append(True))
    for other in (keys.chips[0], form.row("mood").name):
        other.setFocus()
        QTest.keyClick(other, Qt.Key.Key_F11)
    assert told == [True, True], "every other key is the window's"
    assert pressed(keys.chips[0]) == []
    assert keys.input.text() == "skarn"
    QTest.keyClick(keys.input, Qt.Key.Key_Escape)
    assert pressed(form.row("mood").name) == ["Rename property"]


def test_f2_belongs_to_a_choice_above_the_chat(window, tmp_path, settle) -> None:
    folder = write_vault(tmp_path / "f2")
    window.features.vault.keep_in(tmp_path / "kept")
    project = replace(open_project([folder]), chat=window.session.project.chat)
    window.session.set_project(replace(project, controls=ChatControls(pins=(EntryRule("Skarn"),))))
    settle(window)
    window.selection.choose_note(window.session.note_at(folder / "Bell.md"))
    settle(window)
    window.activateWindow()
    bar = window.features.controls.bar
    opened: list[object] = []
    bar.opened.connect(opened.append)
    chip = next(each for each in bar.chips if each.chip.key[0] == "pins")
    chip.setFocus()
    QTest.keyClick(chip, Qt.Key.Key_F2)
    drain()
    dialogs = [each for each in QApplication.topLevelWidgets() if isinstance(each, QDialog) and each.isVisible()]
    for each in dialogs:
        each.reject()
    assert (opened, dialogs) == ([chip.chip.key], [])
