"""The pane of a note in the window: views, saving beside other programs, histories and unsaved texts."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QDialog

from lorestudio.domain.chat import Generation
from lorestudio.studio.notes.changes.snapshots import Snapshots
from lorestudio.studio.notes.recovery import Recovery
from lorestudio.studio.tryout.preview import EditedNote, NoteText, Preview
from lorestudio.trace.found_keys import KeyMatch, WouldMatch
from lorestudio.ui.features.notes.conflict_dialog import ConflictDialog
from lorestudio.ui.features.notes.history import HistoryDialog, RecoveryDialog
from lorestudio.ui.features.notes.pane import SOURCE, TEXT, WRITE
from lorestudio.vault.files import SaveError
from tests.digests import digest
from tests.ui.conftest import drain
from tests.ui.worlds import BELL, SKARN, make_project, make_trace


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


def test_a_link_leads_to_its_note(window, pane, settle) -> None:
    body = pane.editor.body
    body.moveCursor(body.textCursor().MoveOperation.End)
    body.insertPlainText(" [[Bell]]")
    for _ in range(3):
        body.moveCursor(body.textCursor().MoveOperation.Left)
    window.run("entry.follow")
    settle(window)
    assert window.selection.entry == BELL


def test_the_heading_follows_the_note_s_title(pane) -> None:
    write(pane, "# Skarn the Grey\n")
    assert pane.heading.text() == "Skarn the Grey"


def test_ctrl_e_shows_the_whole_file_and_back(window, pane) -> None:
    assert pane.tabs.currentIndex() == WRITE
    window.run("entry.source")
    assert pane.tabs.currentIndex() == SOURCE
    assert not pane.editor.form.isVisible()
    window.run("entry.source")
    assert pane.editor.form.isVisible()


def test_a_typed_text_is_told_at_once(pane, qtbot) -> None:
    with qtbot.waitSignal(pane.typed) as told:
        write(pane, "x")
    assert told.args[0] == pane.path
    assert told.args[1].endswith("A dragon.\nx")


def test_a_link_leads_to_the_note_or_asks_for_a_new_one(window, pane, qtbot) -> None:
    pane.follow("Elsewhere")
    assert "No note is called" in pane.bar.label.text()
    with qtbot.waitSignal(pane.create_wanted) as asked:
        pane.bar.pressed.emit("create")
    assert asked.args == ["Elsewhere"]
    pane.follow("bell")
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
    match = WouldMatch((KeyMatch("skarn", 1, 4),), (), 4, 4, "skarn")
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


# ---- unsaved texts --------------------------------------------------------------------------------------------------


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
