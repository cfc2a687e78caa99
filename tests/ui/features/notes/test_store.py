"""Opening, saving and keeping notes, without a pane around them: what is told, and what is on disk."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtGui import QTextCursor
from pytestqt.qtbot import QtBot

from lorestudio.ui.features.notes import store as notes_store
from lorestudio.ui.features.notes.editor.buffer import NoteBuffer
from lorestudio.ui.features.notes.store import NoteStore, OnDisk, look
from lorestudio.ui.state.drafts import Draft, Drafts
from lorestudio.ui.state.session import Session
from lorestudio.vault.files import SaveError, VaultError
from tests.digests import digest
from tests.ui.conftest import drain

TEXT = "# Skarn\n\nA dragon.\n"


class Copies:
    """Keeps copies in memory, and tells in which order it was asked to."""

    def __init__(self) -> None:
        self.kept: dict[Path, str] = {}
        self.asked: list[tuple[str, str]] = []
        self.gate = threading.Event()
        self.gate.set()
        self.full = False

    def keep(self, path: Path, text: str, _digest: str | None) -> None:
        self.gate.wait(60)
        if self.full:
            raise SaveError("The disk is full.")
        self.asked.append(("keep", path.name))
        self.kept[path] = text

    def drop(self, path: Path) -> None:
        if self.full:
            raise SaveError("The disk is full.")
        self.asked.append(("drop", path.name))
        self.kept.pop(path, None)


class Told:
    """What a store has told, by the name of the signal."""

    def __init__(self, store: NoteStore) -> None:
        self.all: list[tuple[str, object]] = []
        for name in ("opened", "saved", "reloaded", "keep_failed"):
            getattr(store, name).connect(lambda what, name=name: self.all.append((name, what)))
        for name in ("clashed", "failed", "save_failed", "unseen"):
            getattr(store, name).connect(lambda what, more, name=name: self.all.append((name, more or what)))

    @property
    def names(self) -> list[str]:
        return [name for name, _what in self.all]

    def last(self) -> object:
        return self.all[-1][1]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    note = tmp_path / "Skarn.md"
    note.write_text(TEXT, encoding="utf-8", newline="")
    return note


@pytest.fixture
def session(make_session: Callable[..., Session]) -> Session:
    return make_session(replay=False)


@pytest.fixture
def store(session: Session) -> NoteStore:
    made = NoteStore(Drafts(session), session.jobs, session)
    yield made
    made.close()


@pytest.fixture
def told(store: NoteStore) -> Told:
    return Told(store)


@pytest.fixture
def done(session: Session, qtbot: QtBot) -> Callable[[], None]:
    def wait() -> None:
        for _ in range(2):
            qtbot.waitUntil(lambda: session.jobs.idle)
            drain()

    return wait


@pytest.fixture
def buffer(store: NoteStore, told: Told, path: Path, done: Callable[[], None]) -> NoteBuffer:
    """The note, opened."""
    store.open(path)
    done()
    found = store.buffers.get(path)
    assert found is not None
    told.all.clear()
    return found


def typed(buffer: NoteBuffer, text: str) -> None:
    """Write something, as in a pane that shows the note."""
    QTextCursor(buffer.document).insertText(text)
    store = buffer.parent().parent()
    assert isinstance(store, NoteStore)
    store.note_typed(buffer)


# ---- reading --------------------------------------------------------------------------------------------------------


def test_a_note_is_read_once_and_then_at_hand(store, told, path, done) -> None:
    assert store.open(path) is None
    assert store.open(path) is None  # it is not there yet
    done()
    assert told.names == ["opened"]
    buffer = told.last()
    assert (buffer.text, buffer.digest, buffer.dirty) == (TEXT, digest(path), False)
    assert store.open(path) is buffer
    done()
    assert told.names == ["opened"]


def test_a_file_that_cannot_be_read_is_told_with_its_reason(store, told, path, done) -> None:
    path.write_bytes(b"\xff\xfe broken")
    store.open(path)
    done()
    assert told.names == ["failed"]
    assert isinstance(told.last(), VaultError)
    assert store.buffers.all() == ()


def test_looking_tells_a_file_that_is_gone_from_one_that_cannot_be_read(path) -> None:
    assert look(path) == OnDisk(TEXT, digest(path))
    path.write_bytes(b"\xff\xfe broken")
    with pytest.raises(VaultError):
        look(path)
    path.unlink()
    assert look(path) == OnDisk(None, None)


def test_what_was_edited_is_given_up_and_the_file_read_again(store, told, buffer, path, done) -> None:
    typed(buffer, "mine ")
    path.write_text("theirs", encoding="utf-8")
    store.reopen(path)
    typed(buffer, "more ")  # nobody shows this one any more
    assert store._drafts.get(path) is None
    done()
    again = store.buffers.get(path)
    assert again is not buffer
    assert (again.text, told.last(), store._drafts.get(path)) == ("theirs", again, None)


def test_an_unchanged_note_follows_its_file_and_a_changed_one_clashes(
    store, told, buffer, path, done, monkeypatch
) -> None:
    looks: list[Path] = []
    monkeypatch.setattr(notes_store, "look", lambda path, *more: looks.append(path) or look(path, *more))
    store.check(path)
    store.check(path)
    done()
    assert (told.names, looks) == ([], [path])
    path.write_text("theirs", encoding="utf-8")
    store.check(path)
    store.check(path)  # it is looked at already
    done()
    assert (told.names, buffer.text, buffer.dirty) == (["reloaded"], "theirs", False)
    assert buffer.digest == digest(path)
    typed(buffer, "mine ")
    store.check(path)
    done()
    assert told.names == ["reloaded"]  # the file is what it was
    path.write_text("theirs again", encoding="utf-8")
    store.check(path)
    done()
    assert told.all[-1] == ("clashed", OnDisk("theirs again", digest(path)))
    assert buffer.text == "mine theirs"


def test_an_unchanged_note_whose_file_is_gone_says_so(store, told, buffer, path, done) -> None:
    path.unlink()
    store.check(path)
    done()
    assert (told.all, buffer.text) == ([("clashed", OnDisk(None, None))], TEXT)


def test_a_look_that_fails_is_told_once_and_another_one_may_succeed(store, told, buffer, path, done) -> None:
    path.write_bytes(b"\xff\xfe broken")
    for _again in range(2):
        store.check(path)
        done()
    assert told.names == ["unseen"]
    path.write_text("theirs", encoding="utf-8")
    store.check(path)
    done()
    assert told.names == ["unseen", "reloaded"]
    store.check(path.with_name("closed.md"))
    done()
    assert told.names == ["unseen", "reloaded"]
    path.write_bytes(b"\xff\xfe broken")
    store.check(path)
    done()
    assert told.names == ["unseen", "reloaded", "unseen"]
    assert store.open(path) is not None  # whoever comes back to the note hears it again
    store.check(path)
    done()
    assert told.names == ["unseen", "reloaded", "unseen", "unseen"]


def test_what_is_found_of_a_note_that_was_given_up_meanwhile_counts_no_more(store, told, buffer, path, done) -> None:
    path.write_text("theirs", encoding="utf-8")
    store.check(path)
    store.reopen(path)
    done()
    assert told.names == ["opened"]


def test_what_is_found_while_a_note_is_being_saved_is_no_clash(
    store, told, buffer, path, done, qtbot, monkeypatch
) -> None:
    written, go, write = threading.Event(), threading.Event(), store.write

    def slowly(path: Path, text: str, digest: str | None) -> str:
        new = write(path, text, digest)
        written.set()
        go.wait(60)
        return new

    def late(*about: Any) -> OnDisk:
        written.wait(60)
        return look(*about)

    store.write = slowly
    monkeypatch.setattr(notes_store, "look", late)
    typed(buffer, "mine ")
    store.check(path)
    store.save(path)
    qtbot.waitUntil(lambda: path not in store._looking)
    go.set()
    done()
    assert told.names == ["saved"]


# ---- writing --------------------------------------------------------------------------------------------------------


@pytest.fixture
def gate(store: NoteStore) -> threading.Event:
    """Notes are written once it is open."""
    made, write = threading.Event(), store.write

    def slowly(path: Path, text: str, digest: str | None) -> str:
        made.wait(60)
        return write(path, text, digest)

    store.write = slowly
    return made


@pytest.mark.parametrize("theirs", ["", "theirs"])
def test_a_note_that_is_given_up_while_it_is_written_is_read_after_that(
    store, told, buffer, path, done, gate, theirs
) -> None:
    typed(buffer, "mine ")
    store.save(path)
    store.reopen(path)
    if theirs:
        path.write_text(theirs, encoding="utf-8")
    gate.set()
    done()
    assert store.buffers.get(path).text == path.read_text(encoding="utf-8") == (theirs or f"mine {TEXT}")
    assert told.names == ([] if theirs else ["saved"]) + ["opened"]


def test_a_note_that_was_renamed_while_it_is_written_is_gone_on_with_after_that(
    store, told, buffer, path, done, gate
) -> None:
    typed(buffer, "mine ")
    store.save(path)
    new = path.rename(path.with_name("Wyrm.md"))
    store.go_on(buffer, new, lambda: told.all.append(("went on", new)))
    assert store.buffers.get(path) is buffer
    gate.set()
    done()
    assert (store.buffers.get(path), store.buffers.get(new), buffer.path) == (None, buffer, new)
    assert (told.names, buffer.text) == (["went on"], f"mine {TEXT}")
    buffer.document.undo()
    assert buffer.text == TEXT, "what can be undone goes along"


def test_a_note_that_is_given_up_while_it_is_written_goes_on_nowhere(store, told, buffer, path, done, gate) -> None:
    typed(buffer, "mine ")
    store.save(path)
    store.reopen(path)
    store.go_on(buffer, path.with_name("Wyrm.md"), lambda: told.all.append(("went on", buffer)))
    gate.set()
    done()
    assert told.names == ["saved", "opened"]
    assert [each.path for each in store.buffers.all()] == [path]


def test_all_notes_that_hold_what_a_file_that_is_gone_held_are_told(store, told, buffer, path, done) -> None:
    store.home = lambda each: each.parent
    new = path.rename(path.with_name("Wyrm.md"))
    copy, other = path.parent / "old" / "Skarn.md", path.with_name("Other.md")
    copy.parent.mkdir()
    copy.write_bytes(new.read_bytes())
    other.write_bytes(new.read_bytes().replace(b"dragon", b"serpen"))
    store.check(path)
    done()
    assert told.all == [("clashed", OnDisk(None, None, (new, copy)))]


def test_what_begins_after_all_was_saved_where_nothing_was_unsaved_is_being_written(
    store, buffer, path, done, gate, qtbot
) -> None:
    ended: list[list[str]] = []
    store.save_all(None, ended.append)
    typed(buffer, "mine ")
    store.save(path)
    qtbot.waitUntil(lambda: ended == [[]])
    assert store.saving(path)
    gate.set()
    done()
    assert (store.saving(path), buffer.dirty) == (False, False)


@pytest.mark.parametrize("all_first", [False, True])
def test_what_is_written_alone_and_with_all_others_at_a_time_has_not_changed_meanwhile(
    store, told, buffer, path, done, gate, all_first
) -> None:
    problems: list[str] = []
    ways = [partial(store.save, path), partial(store.save_all, None, problems.extend)]
    for text, save in zip(("mine ", "more "), reversed(ways) if all_first else ways, strict=True):
        typed(buffer, text)
        save()
    gate.set()
    done()
    assert (problems, told.names) == ([], ["saved", "saved"])
    assert (path.read_text(encoding="utf-8"), buffer.dirty) == (buffer.text, False)


def test_a_changed_note_is_written_once_and_an_unchanged_one_not(store, told, buffer, path, done) -> None:
    written: list[str] = []
    gate, write = threading.Event(), store.write

    def slowly(path: Path, text: str, digest: str | None) -> str:
        gate.wait(60)
        written.append(text)
        return write(path, text, digest)

    store.write = slowly
    store.save(path)
    typed(buffer, "mine ")
    assert store._drafts.get(path) is not None
    store.save(path)
    store.save(path)  # it is being written
    assert store.saving(path)
    path_checked = path.read_text(encoding="utf-8")
    store.check(path)  # no time for that
    gate.set()
    done()
    assert path_checked == TEXT
    assert written == ["mine " + TEXT] == [path.read_text(encoding="utf-8")]
    assert (told.names, store.saving(path), buffer.dirty) == (["saved"], False, False)
    assert store._drafts.get(path) is None
    store.save(path)
    store.save(path.with_name("closed.md"))
    done()
    assert len(written) == 1


def test_what_was_typed_while_it_was_written_stays_unsaved(store, told, buffer, path, done) -> None:
    typed(buffer, "mine ")
    store.save(path)
    typed(buffer, "more ")
    done()
    assert path.read_text(encoding="utf-8") == "mine " + TEXT
    assert buffer.dirty
    assert store._drafts.get(path) == Draft(buffer.text, digest(path))
    store.save(path)
    done()
    assert path.read_text(encoding="utf-8") == buffer.text


def test_a_note_that_could_not_be_written_stays_unsaved_and_can_be_tried_again(store, told, buffer, path, done) -> None:
    write = store.write

    def full(*_args: object) -> str:
        raise SaveError("The disk is full.")

    store.write = full
    typed(buffer, "mine ")
    store.save(path)
    done()
    assert (told.names, str(told.last())) == (["save_failed"], "The disk is full.")
    assert (buffer.dirty, store.saving(path)) == (True, False)
    store.write = write
    store.save(path)
    done()
    assert path.read_text(encoding="utf-8") == "mine " + TEXT


def test_a_file_that_changed_meanwhile_is_not_written_over(store, told, buffer, path, done) -> None:
    typed(buffer, "mine ")
    path.write_text("theirs", encoding="utf-8")
    store.save(path)
    done()
    assert told.all == [("clashed", OnDisk("theirs", digest(path)))]
    assert path.read_text(encoding="utf-8") == "theirs"
    store.save_over(buffer, told.last())
    done()
    assert told.names == ["clashed", "saved"]
    assert path.read_text(encoding="utf-8") == "mine " + TEXT


@pytest.mark.parametrize("away", [False, True])
def test_a_note_is_written_again_with_its_folder_unless_its_vault_is_away(store, told, path, done, away) -> None:
    inner = path.parent / "vault" / "people" / "Ada.md"
    inner.parent.mkdir(parents=True)
    inner.write_text(TEXT, encoding="utf-8", newline="")
    store.open(inner)
    done()
    typed(store.buffers.get(inner), "mine ")
    shutil.rmtree(inner.parents[1] if away else inner.parent)
    store.check(inner)
    done()
    assert told.last() == OnDisk(None, None)
    store.home = lambda _path: inner.parents[1]
    store.save_over(store.buffers.get(inner), told.last())
    done()
    assert inner.exists() is not away
    if away:
        assert "Put the folder back" in str(told.last())
        assert not inner.parents[1].exists()
    else:
        assert inner.read_text(encoding="utf-8") == "mine " + TEXT


def test_nothing_is_written_over_a_file_that_says_the_same(store, told, buffer, path, done) -> None:
    typed(buffer, "mine ")
    path.write_text("mine " + TEXT, encoding="utf-8", newline="")
    changed = path.stat().st_mtime_ns
    store.save_over(buffer, OnDisk(buffer.text, digest(path)))
    done()
    assert (buffer.dirty, path.stat().st_mtime_ns, told.names) == (False, changed, [])
    assert store._drafts.get(path) is None


def test_theirs_is_taken_and_undo_leads_back(store, told, buffer, path, done) -> None:
    typed(buffer, "mine ")
    mine = buffer.text
    store.take_theirs(buffer, OnDisk("theirs", "digest of theirs"))
    assert (buffer.text, buffer.dirty, buffer.digest) == ("theirs", False, "digest of theirs")
    assert (told.names, store._drafts.get(path)) == (["reloaded"], None)
    buffer.document.undo()
    assert (buffer.text, buffer.dirty) == (mine, True)


def test_a_text_made_of_both_is_unsaved_and_goes_over_the_file_that_was_seen(store, told, buffer, path, done) -> None:
    typed(buffer, "mine ")
    path.write_text("theirs", encoding="utf-8")
    store.take_merged(buffer, look(path), "both")
    assert (buffer.text, buffer.dirty, buffer.base) == ("both", True, "theirs")
    assert store._drafts.get(path) == Draft("both", digest(path))
    store.save(path)
    done()
    assert (told.names, path.read_text(encoding="utf-8")) == (["saved"], "both")


def test_all_unsaved_texts_are_written_and_what_could_not_be_is_told(store, told, buffer, path, done) -> None:
    closed, changed = path.with_name("Bell.md"), path.with_name("Crown.md")
    for each in (closed, changed):
        each.write_text("before", encoding="utf-8")
    store._drafts.keep(closed, Draft("after", digest(closed)))
    store._drafts.keep(changed, Draft("mine", "of another file"))
    buffer.document.blockSignals(True)  # what was typed just now has not been told yet
    QTextCursor(buffer.document).insertText("mine ")
    buffer.document.blockSignals(False)
    buffer._forget()
    problems: list[list[str]] = []
    store.save_all(None, problems.append)
    done()
    assert [path.read_text(encoding="utf-8"), closed.read_text(encoding="utf-8")] == ["mine " + TEXT, "after"]
    assert changed.read_text(encoding="utf-8") == "before"
    assert len(problems) == 1
    (sentence,) = problems[0]
    assert "Crown.md" in sentence
    assert list(store._drafts.all) == [changed]
    assert (told.names, buffer.dirty) == (["saved"], False)


def test_saving_all_that_breaks_off_is_told_too(store, buffer, path, done) -> None:
    def broken(*_args: object) -> str:
        raise RuntimeError("Something gave way.")

    store.write = broken
    typed(buffer, "mine ")
    problems: list[list[str]] = []
    store.save_all(None, problems.append)
    done()
    assert problems == [["Something gave way."]]
    assert buffer.dirty


# ---- copies of unsaved texts ----------------------------------------------------------------------------------------


def test_a_copy_is_kept_in_a_pause_and_dropped_once_the_note_is_saved(store, told, buffer, path, done) -> None:
    typed(buffer, "a")
    assert not store._pause.isActive()  # nobody keeps copies
    copies = store.keeping = Copies()
    typed(buffer, "b")
    assert store._pause.isActive()
    assert copies.asked == []
    store.keep_now()
    assert not store._pause.isActive()
    done()
    assert copies.kept == {path: buffer.text}
    store.keep_now()  # nothing is new
    done()
    assert copies.asked == [("keep", path.name)]
    assert store.kept == {path}
    store.save(path)
    done()
    assert (copies.kept, store.kept) == ({}, set())
    store.save(path)
    store.reopen(path)
    done()
    assert copies.asked == [("keep", path.name), ("drop", path.name)]
    again = store.buffers.get(path)
    typed(again, "c")
    store.keep_now()
    done()
    store.reopen(path)
    done()
    assert (copies.kept, store.kept) == ({}, set())


def test_a_note_that_was_undone_before_the_pause_is_not_kept(store, buffer, path, done) -> None:
    copies = store.keeping = Copies()
    typed(buffer, "b")
    buffer.document.undo()
    store.keep_now()
    done()
    assert copies.asked == []
    typed(buffer, "b")
    store.keep_now()
    done()
    buffer.document.undo()
    done()
    assert copies.asked == [("keep", path.name), ("drop", path.name)]


def test_a_copy_goes_at_once_where_nothing_is_unsaved_any_more(store, buffer, path, done) -> None:
    copies = store.keeping = Copies()
    typed(buffer, "b")
    store.keep_now()
    done()
    typed(buffer, "c")
    while buffer.dirty:
        buffer.document.undo()
    done()
    assert copies.kept == {}


def test_a_copy_that_was_to_go_stays_where_the_note_is_written_again(store, buffer, path, done) -> None:
    copies = store.keeping = Copies()
    typed(buffer, "b")
    store.keep_now()
    done()
    buffer.document.undo()
    typed(buffer, "c")
    store.keep_now()
    done()
    assert (copies.kept, store.kept) == ({path: buffer.text}, {path})


def test_a_text_that_goes_on_in_another_file_is_kept_for_that_one_alone(store, buffer, path, done) -> None:
    copies = store.keeping = Copies()
    typed(buffer, "mine ")
    store.keep_now()
    done()
    other = path.rename(path.with_name("Dragon.md"))
    store.go_on(buffer, other, lambda: None)
    done()
    store.keep_now()
    done()
    assert store.buffers.get(path) is None
    assert list(store._drafts.all) == [other]
    assert (list(copies.kept), store.kept) == ([other], {other})


def test_copies_are_written_one_after_another(store, buffer, path, done) -> None:
    copies = store.keeping = Copies()
    copies.gate.clear()
    typed(buffer, "b")
    store.keep_now()
    first = buffer.text
    typed(buffer, "c")
    store.keep_now()  # one is under way
    copies.gate.set()
    done()
    assert copies.kept == {path: first}
    assert store._pause.isActive()  # the rest follows in the next pause
    store.keep_now()
    done()
    assert copies.kept == {path: buffer.text}
    typed(buffer, "d")
    assert store._pause.isActive()
    store.close()
    assert not store._pause.isActive()


def test_a_disk_that_keeps_no_copy_is_told_and_tried_again(store, told, buffer, path, done) -> None:
    copies = store.keeping = Copies()
    copies.full = True
    typed(buffer, "b")
    store.keep_now()
    done()
    assert told.names == ["keep_failed"]
    assert store._again.isActive()
    store._again.timeout.emit()
    done()
    assert (told.names, store._again.isActive()) == (["keep_failed"], True), "it is told once"
    copies.full = False
    store._again.timeout.emit()  # without another letter
    done()
    assert copies.kept == {path: buffer.text}
    assert not store._again.isActive()
    copies.full = True
    typed(buffer, "c")
    store.keep_now()
    done()
    assert told.names == ["keep_failed"] * 2
    buffer.document.undo()  # nothing is unsaved any more
    buffer.document.undo()
    copies.full = False
    done()
    assert copies.kept == {}
    typed(buffer, "d")
    copies.full = True
    store.keep_now()
    done()
    store.close()
    assert not store._again.isActive()


def test_a_copy_that_could_not_be_written_is_not_written_once_the_note_is_saved(store, buffer, path, done) -> None:
    copies = store.keeping = Copies()
    copies.full = True
    typed(buffer, "b")
    store.keep_now()
    done()
    store.save(path)
    copies.full = False
    done()
    store._again.timeout.emit()
    done()
    assert [asked for asked in copies.asked if asked[0] == "keep"] == []


def test_what_is_given_up_while_its_copy_cannot_be_written_has_none_later(store, buffer, path, done) -> None:
    copies = store.keeping = Copies()
    copies.full = True
    copies.gate.clear()
    typed(buffer, "b")
    store.keep_now()
    store.reopen(path)
    copies.gate.set()
    done()
    copies.full = False
    store._again.timeout.emit()
    done()
    assert copies.asked == [("drop", path.name)]


def test_a_copy_that_could_not_be_taken_away_is_taken_away_later(store, buffer, path, done) -> None:
    copies = store.keeping = Copies()
    typed(buffer, "b")
    store.keep_now()
    done()
    copies.full = True
    store.reopen(path)
    done()
    assert path in copies.kept
    copies.full = False
    store._again.timeout.emit()
    done()
    assert copies.kept == {}


# ---- what was found -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("changed", [False, True])
def test_a_found_text_is_unsaved_over_what_it_was_written_for(store, told, path, done, changed: bool) -> None:
    of_then = digest(path)
    if changed:
        path.write_text("theirs", encoding="utf-8")
    store.restore(path, "found", of_then)
    done()
    buffer = store.buffers.get(path)
    assert (buffer.text, buffer.dirty, buffer.digest) == ("found", True, of_then)
    assert store._drafts.get(path) == Draft("found", of_then)
    assert told.names == (["opened", "clashed"] if changed else ["opened"])
    buffer.document.undo()
    assert buffer.text == ("theirs" if changed else TEXT)


def test_a_found_text_that_the_file_has_already_clashes_with_nothing(store, told, path, done) -> None:
    store.restore(path, TEXT, "digest of long ago")
    done()
    assert told.names == ["opened"]
    path.write_bytes(b"\xff\xfe broken")


def test_a_found_text_is_there_though_its_file_cannot_be_read(store, told, path, done) -> None:
    path.write_bytes(b"\xff\xfe broken")
    store.restore(path, "found", "d", partial(told.all.append, ("then", None)))
    done()
    assert told.names == ["opened", "unseen", "then"]
    assert store._drafts.get(path) == Draft("found", "d")
    store.save(path)
    done()
    assert path.read_bytes() == b"\xff\xfe broken"


def test_a_second_found_text_is_a_step_after_the_first(store, path, done) -> None:
    store.restore(path, "newest", digest(path))
    done()
    store.restore(path, "older", "digest of long ago")
    done()
    buffer = store.buffers.get(path)
    assert (buffer.text, buffer.dirty) == ("older", True)
    buffer.document.undo()
    assert (buffer.text, buffer.dirty) == ("newest", True)
