"""What can be done with notes in the window: commands, unsaved texts at the end, other windows with the same vault."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QTextCursor
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QMessageBox, QPushButton

from lorestudio.domain.chat import Generation
from lorestudio.studio.notes.recovery import Recovery
from lorestudio.ui.features.notes.history import RecoveryDialog
from lorestudio.ui.features.notes.pane import SOURCE, TEXT, WRITE
from lorestudio.ui.shell.main_window import MainWindow
from lorestudio.vault.file_lock import OpenVaults
from lorestudio.vault.files import SaveError
from tests.ui.conftest import drain, settle
from tests.ui.worlds import BELL, SKARN, make_project


@pytest.fixture
def shared(share_window: Callable[..., MainWindow]) -> MainWindow:
    """A window for tests that change nothing on disk, on the note Skarn."""

    def prepare(window: MainWindow) -> None:
        window.selection.choose_entry(SKARN)
        settle(window)

    return share_window(make_vault, prepare=prepare)


def make_vault(folder: Path):
    return make_project(folder / "vault")


def write(window: MainWindow, text: str) -> None:
    pane = window.entry
    pane.source.moveCursor(pane.source.textCursor().MoveOperation.End)
    pane.source.insertPlainText(text)
    drain()
    pane.editor.settle()


def said(window: MainWindow) -> list[str]:
    return list(window.bars.texts)


def box_of(window: MainWindow) -> QMessageBox:
    return next(each for each in window.findChildren(QMessageBox) if each.isVisible())


def press(box: QMessageBox, button: QMessageBox.StandardButton | str) -> None:
    if isinstance(button, str):
        next(each for each in box.buttons() if each.text() == button).click()
    else:
        box.button(button).click()
    drain()


def test_each_view_has_its_command(shared: MainWindow) -> None:
    pane = shared.entry
    seen = []
    for name in ("entry.preview", "entry.preview", "entry.source", "entry.keys"):
        shared.docks["vault"].show()
        shared.run(name)
        seen.append(pane.tabs.currentIndex())
        assert pane.isVisible()
    assert seen == [TEXT, WRITE, SOURCE, WRITE]
    assert pane.editor.form.row("keys").isAncestorOf(shared.focusWidget())


def test_what_is_made_bold_is_seen_where_the_keyboard_comes(window: MainWindow) -> None:
    window.selection.choose_entry(SKARN)
    settle(window)
    body = window.entry.editor.body
    body.moveCursor(QTextCursor.MoveOperation.End)
    body.insertPlainText(" ash")
    window.run("entry.keys")
    for key in (Qt.Key.Key_B, Qt.Key.Key_I):
        QTest.keyClick(window.focusWidget(), key, Qt.KeyboardModifier.ControlModifier)
        assert body.hasFocus()
    assert body.toPlainText().endswith(" ***ash***")


def test_a_key_that_is_half_typed_is_not_lost(window: MainWindow) -> None:
    window.selection.choose_entry(SKARN)
    settle(window)
    pane, note = window.entry, window.entry.path
    window.run("entry.keys")
    none = Qt.KeyboardModifier.NoModifier
    for words, key, held in (
        ("ash", Qt.Key.Key_S, Qt.KeyboardModifier.ControlModifier),
        ("wing", Qt.Key.Key_Down, Qt.KeyboardModifier.AltModifier),
        ("tail", Qt.Key.Key_F4, none),
    ):
        QTest.keyClicks(window.focusWidget(), words)
        assert pane.unsaved
        drain()
        QTest.keyClick(window.focusWidget(), key, held)
        settle(window)
        assert pane.editor.form.row("keys").isAncestorOf(window.focusWidget()), "the next note's, after Alt+Down"
    assert "ash" in note.read_text(encoding="utf-8")
    assert "wing" in window.drafts.get(note).text
    assert (pane.path != note, "tail" in pane.editor.buffer.text) == (True, False)
    window.close()
    assert box_of(window).informativeText().count(".md") == 2
    assert "tail" in window.drafts.get(pane.path).text
    press(box_of(window), QMessageBox.StandardButton.Cancel)


def test_the_keyboard_stays_in_the_form_where_a_property_goes(shared: MainWindow) -> None:
    form = shared.entry.editor.form
    form.add("probability")
    form.add("cooldown")
    added = [name for name in form.names if name in {"probability", "cooldown"}]
    form.row(added[0]).name.setFocus()
    for gone in added:
        assert form.focused == gone
        QTest.keyClick(shared.focusWidget(), Qt.Key.Key_Delete)
        drain()
    assert form.focused
    shared.drafts.drop(shared.entry.path)


def test_the_keys_of_the_form_and_of_the_find_line_are_listed(shared: MainWindow) -> None:
    listed = {(place, keys) for place, _title, keys in shared.commands.view_keys()}
    for place in ("in the properties of a note", "in the line that finds words in a note"):
        assert (place, ("Esc",)) in listed


def test_commands_are_there_for_a_note_only(shared: MainWindow) -> None:
    names = ("entry.keys", "entry.add_property", "entry.follow", "entry.link", "entry.comment", "entry.history")
    shared.update_actions()
    assert all(shared.context.action(name).isEnabled() for name in names)
    assert not shared.context.action("entry.revert").isEnabled()
    shared.selection.clear()
    settle(shared)
    shared.update_actions()
    assert not any(shared.context.action(name).isEnabled() for name in names)


def test_what_was_tried_out_is_forgotten_with_the_run_that_it_was_tried_on(shared: MainWindow) -> None:
    told: list[object] = []
    shared.preview.previewed.connect(told.append)
    session, selection = shared.session, shared.selection
    shown = selection.generation
    assert shown is not None
    other = next(each for each in (Generation(2), Generation(5)) if each != shown)
    for change, forgets in (
        (lambda: session.traces_changed.emit({other}), False),
        (lambda: session.traces_changed.emit({shown}), True),
        (lambda: session.traces_changed.emit(None), True),
        (session.choice_changed.emit, True),
        (session.project_changed.emit, True),
        (lambda: selection.choose_message(other.message, other), True),
    ):
        told.clear()
        change()
        assert (told[:1] == [None]) is forgets
        settle(shared)
    shared.preview.previewed.disconnect(told.append)


def test_unsaved_text_is_thrown_away_once_that_was_confirmed(window: MainWindow) -> None:
    window.selection.choose_entry(SKARN)
    settle(window)
    write(window, "mine")
    window.update_actions()
    assert window.context.action("entry.revert").isEnabled()
    window.run("entry.revert")
    assert "will be lost" in box_of(window).text()
    press(box_of(window), "Cancel")
    assert window.entry.unsaved
    window.run("entry.revert")
    press(box_of(window), "Throw away")
    settle(window)
    assert not window.entry.unsaved
    assert "mine" not in window.entry.source.toPlainText()
    window.run("entry.keys")
    QTest.keyClicks(window.focusWidget(), "half")  # and an item that is no part of the note yet
    window.run("entry.revert")
    press(box_of(window), "Throw away")
    settle(window)
    assert not window.entry.unsaved
    assert "half" not in window.entry.source.toPlainText()


def test_a_saved_note_is_read_by_the_project_and_said(window: MainWindow) -> None:
    window.selection.choose_entry(SKARN)
    settle(window)
    flashed: list[str] = []
    window.context.flash = flashed.append
    buffer = window.entry.editor.buffer
    buffer.replace_all(buffer.text.replace("A dragon.", "A wyrm."))
    window.entry.editor.settle()
    settle(window)
    window.update_actions()
    window.entry.save_button.click()
    settle(window)
    assert flashed == ["Skarn.md was saved."]
    assert window.session.runs.stale.startswith("Skarn.md was saved after this replay.")


KINDS = QMessageBox.StandardButton


def test_whoever_closes_with_unsaved_texts_is_asked(window: MainWindow) -> None:
    left: list[bool] = []
    notes = window.features.notes
    assert not notes.ask_before_closing(lambda: left.append(True))
    window.selection.choose_entry(SKARN)
    settle(window)
    write(window, "mine")
    path = window.entry.path
    for answer, gone, saved in ((KINDS.Cancel, 0, False), (KINDS.SaveAll, 1, True)):
        assert notes.ask_before_closing(lambda: left.append(True))
        assert "1 note has not been saved" in box_of(window).text()
        assert "Skarn.md" in box_of(window).informativeText()
        press(box_of(window), answer)
        settle(window)
        assert (len(left), path.read_text(encoding="utf-8").endswith("mine")) == (gone, saved)
    write(window, "more")
    assert notes.ask_before_closing(lambda: left.append(True))
    press(box_of(window), KINDS.Discard)
    assert len(left) == 2
    assert not path.read_text(encoding="utf-8").endswith("more")
    assert not notes.ask_before_closing(lambda: left.append(True))  # that was answered


def test_a_text_that_cannot_be_saved_keeps_the_window(window: MainWindow) -> None:
    def full(*_args: object) -> str:
        raise SaveError("The disk is full.")

    window.selection.choose_entry(SKARN)
    settle(window)
    write(window, "mine")
    window.entry.store.write = full
    left: list[bool] = []
    window.features.notes.answer_unsaved("save", lambda: left.append(True))
    settle(window)
    assert left == []
    assert "The disk is full." in said(window)
    window.features.notes.answer_unsaved("cancel", lambda: left.append(True))
    assert left == []
    window.drafts.drop(window.entry.path)


def test_a_vault_that_another_window_has_open_is_told_of(window: MainWindow, tmp_path: Path) -> None:
    folder = tmp_path / "notes"
    other = OpenVaults(folder / "open")
    vault = window.session.project.vault_folders[0]
    other.show([vault])
    window.keep_notes_safe(folder)
    settle(window)
    assert any("is open in another window of lorestudio" in each for each in said(window))
    assert list(OpenVaults(folder / "open").show([vault])) == [vault]
    other.show(())
    window.features.notes.stop()
    assert list(OpenVaults(folder / "open").show([vault])) == []


def test_a_folder_that_keeps_no_copies_is_said(
    window: MainWindow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    blocked = tmp_path / "blocked"
    blocked.mkdir()
    (blocked / "recovery").write_text("A file where a folder should be.", encoding="utf-8")
    window.keep_notes_safe(blocked)
    settle(window)
    assert window.entry.store.keeping is None
    assert said(window)
    window.selection.choose_entry(SKARN)
    settle(window)
    write(window, "mine")
    window.run("entry.save")
    settle(window)
    assert list((blocked / "history").rglob("*"))  # the history is kept all the same


@pytest.mark.long
def test_unsaved_texts_are_kept_when_the_window_says_so(window: MainWindow, tmp_path: Path) -> None:
    window.keep_notes_safe(tmp_path / "notes")
    window.selection.choose_entry(BELL)
    settle(window)
    write(window, "precious")
    window.features.notes.save_work()
    settle(window)
    (copy,) = (tmp_path / "notes").glob("recovery/*/*.json")
    assert "precious" in copy.read_text(encoding="utf-8")


@pytest.mark.always
def test_a_restored_text_whose_file_is_gone_is_shown_and_can_be_written_again(
    window: MainWindow, tmp_path: Path
) -> None:
    vault = window.session.project.vault_folders[0]
    path, elsewhere = vault / "Gone.md", tmp_path / "other" / "Away.md"
    copies = Recovery(tmp_path / "notes" / "recovery")
    for each in (path, elsewhere):
        copies.keep(each, f"---\ntags: [lorebook]\n---\n# {each.stem}\n", "digest of a file that is gone")
    copies.close()
    window.keep_notes_safe(tmp_path / "notes")
    settle(window)
    dialog = window.findChild(RecoveryDialog)
    for item in dialog.found:
        dialog.press("restore", item)
        settle(window)
    assert [str(elsewhere) in each for each in said(window)] == [True]
    assert window.entry.path == path
    assert window.entry.bar.label.text() == "“Gone.md” is not on disk any more. Your text is kept here."
    next(each for each in window.entry.bar.findChildren(QPushButton) if each.text() == "Write it again").click()
    settle(window)
    assert path.read_text(encoding="utf-8").endswith("# Gone\n")
    elsewhere.parent.mkdir()
    window.session.set_project(make_project(elsewhere.parent))
    settle(window)
    assert (window.entry.path, said(window)) == (elsewhere, [])
    window.drafts.drop(elsewhere)
