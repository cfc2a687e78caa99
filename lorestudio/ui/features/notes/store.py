"""Opening, saving and keeping safe the notes of the editor. Everything that waits for the disk is a job."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Final

from msgspec import Struct
from PySide6.QtCore import QObject, QTimer, Signal, SignalInstance

from lorestudio.settings.files import read_whole
from lorestudio.studio.notes.book_entries import is_there, read_text, save_text
from lorestudio.studio.notes.recovery import Recovery
from lorestudio.ui.features.notes.editor.buffer import Buffers, NoteBuffer
from lorestudio.ui.shell.jobs import Jobs
from lorestudio.ui.shell.qt import later
from lorestudio.ui.shell.words import tr
from lorestudio.ui.state.drafts import Draft, Drafts
from lorestudio.vault.files import ChangedOnDisk, SaveError, VaultError, refused
from lorestudio.vault.folder import walked

logger = logging.getLogger(__name__)

RECOVERY_MS: Final = 1000
"""After so long without a keystroke an unsaved text is written to the recovery folder."""

AGAIN_MS: Final = 10_000
"""So long after that failed it is tried again: a disk that was full may have room by then."""

Writer = Callable[[Path, str, str | None], str]
"""Saves a text over the file with that digest (None: there is none) and returns the new digest."""


class OnDisk(Struct, frozen=True):
    """What a file holds now: its text and digest, both None where it is gone. `moved` are those that have its text."""

    text: str | None
    digest: str | None
    moved: tuple[Path, ...] = ()


def look(path: Path, home: Path | None = None, before: bytes = b"") -> OnDisk:
    """Read a file that may be gone; then the notes below `home` that hold what it held `before` are named.

    Raises VaultError where it is there and cannot be read.
    """
    try:
        text, digest = read_text(path)
    except VaultError:
        if is_there(path):
            raise
        return OnDisk(None, None, _moved(home, before) if home is not None and before else ())
    return OnDisk(text, digest)


def _moved(home: Path, before: bytes) -> tuple[Path, ...]:
    found = []
    for place, names in walked(home):
        for path in (place / name for name in names if name.endswith(".md")):
            with suppress(OSError):
                if path.stat().st_size == len(before) and read_whole(path) == before:
                    found.append(path)
    return tuple(found)


class NoteStore(QObject):
    """The open notes. All signals but `failed` and `writing` carry a buffer.

    `agreed` says that the file holds what its note started from.
    `opened` follows reading; `saved` follows a save; `clashed` carries a buffer and what is on disk instead of what it
    started from; `reloaded` says that an unchanged note was taken from disk again; `unseen` carries a buffer and why
    its file could not be looked at, once for each reason; `failed` carries a path and the error. `writing` says that
    other notes are being written than before, or none.
    """

    opened = Signal(object)
    saved = Signal(object)
    clashed = Signal(object, object)
    agreed = Signal(object)
    unseen = Signal(object, object)
    reloaded = Signal(object)
    failed = Signal(object, object)
    save_failed = Signal(object, object)
    keep_failed = Signal(object)
    writing = Signal()

    def __init__(self, drafts: Drafts, jobs: Jobs, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._drafts, self._jobs = drafts, jobs
        self.buffers = Buffers(self)
        self.buffers.dirty_changed.connect(self.note_typed)
        self.write: Writer = save_text
        self.home: Callable[[Path], Path | None] = lambda _path: None
        """The folder of the vault that a file lies in."""
        self.keeping: Recovery | None = None
        self._saving: set[Path] = set()
        self._waiting: list[Callable[[], object]] = []  # for the end of what is being written
        self._looking: set[Path] = set()
        self._unseen: dict[Path, str] = {}  # why the file of a note could not be looked at, as it was told
        self._to_keep: dict[Path, NoteBuffer] = {}
        self._keeping_now = False
        self.kept: set[Path] = set()  # the notes that have a copy
        self._drop_later: set[Path] = set()
        self._pause = later(self, self.keep_now, RECOVERY_MS)
        self._again = later(self, self.keep_now, AGAIN_MS)
        self._told = ""  # why copies could not be written, as it was told

    def saving(self, path: Path) -> bool:
        """Whether the note is being written."""
        return path in self._saving

    # ---- reading ----------------------------------------------------------------------------------------------------

    def open(self, path: Path) -> NoteBuffer | None:
        """The buffer of a file where it is open; else it is read and `opened` follows."""
        self._unseen.pop(path, None)  # whoever comes back to a note is told again
        known = self.buffers.get(path)
        if known is None:
            self._jobs.start(
                tr("Reading {name}", name=path.name), lambda _report: read_text(path),
                done=partial(self._was_read, path), failed=lambda error: self.failed.emit(path, error),
            )  # fmt: skip
        return known

    def text_of(self, path: Path, take: Callable[[str], object]) -> None:
        """Give the text of a note, at once where it is open; nothing where it cannot be read."""
        known = self.buffers.get(path)
        if known is not None:
            take(known.text)
        else:
            self._jobs.start(
                tr("Reading {name}", name=path.name), lambda _report: read_text(path)[0], done=take,
                failed=lambda _error: None, owner=self,
            )  # fmt: skip

    def reopen(self, path: Path) -> None:
        """Give up what was edited and read the file again."""
        if self._waits(partial(self.reopen, path)):
            return
        self.buffers.drop(path)
        self._drafts.drop(path)
        self._forget_copy(path)
        self.open(path)

    def restore(self, path: Path, text: str, digest: str | None, then: Callable[[], object] = lambda: None) -> None:
        """Open a note with an unsaved text that was found, and go on with `then`.

        What is on disk now stays to be compared with; where it cannot be read, the text is there all the same. What is
        unsaved here already is one step of undo away.
        """

        def done(found: OnDisk, error: Exception | None = None) -> None:
            known = self.buffers.get(path)
            # With the digest that it was written over, a save sees where the file is another one now.
            buffer = known if known is not None and known.dirty else self.buffers.open(path, found.text or "", digest)
            buffer.replace_all(text)
            self.note_typed(buffer)
            self.opened.emit(buffer)
            if error is not None:
                self.unseen.emit(buffer, error)
            elif found.digest != buffer.digest and buffer.dirty:
                self.clashed.emit(buffer, found)
            then()

        self._look(path, done, lambda error: done(OnDisk(None, None), error))

    def _look(self, path: Path, done: Callable[[OnDisk], object], failed: Callable[[Exception], object]) -> None:
        known, home = self.buffers.get(path), self.home(path)
        before = known.base.encode("utf-8", "surrogatepass") if known is not None else b""
        title = tr("Looking at {name}", name=path.name)
        self._jobs.start(title, lambda _report: look(path, home, before), done=done, failed=failed, owner=self)

    def _was_read(self, path: Path, read: tuple[str, str]) -> None:
        if self.buffers.get(path) is None:
            self.opened.emit(self.buffers.open(path, *read))

    def check(self, path: Path) -> None:
        """Compare an open note with its file: an unchanged note follows the file, a changed one says so."""
        buffer = self.buffers.get(path)
        if buffer is None or path in self._looking or path in self._saving:
            return
        self._looking.add(path)

        def done(found: OnDisk) -> None:
            self._looking.discard(path)
            self._unseen.pop(path, None)
            if self.buffers.get(path) is not buffer or path in self._saving:
                return
            if found.digest != buffer.digest:
                if buffer.dirty or found.text is None:
                    self.clashed.emit(buffer, found)
                else:
                    buffer.take(found.text, found.digest or "")
                    self.reloaded.emit(buffer)
            else:
                self.agreed.emit(buffer)

        def failed(error: Exception) -> None:
            self._looking.discard(path)
            if self._unseen.get(path) != str(error):
                self._unseen[path] = str(error)
                self._tell(self.unseen, buffer, error)

        self._look(path, done, failed)

    # ---- writing ----------------------------------------------------------------------------------------------------

    def save(self, path: Path, within: Path | None = None) -> None:
        """Write the unsaved text of a note, unless its file has changed meanwhile.

        Folders `within` this one that are gone are made again; where it is gone itself, its disk may be away.
        """
        buffer = self.buffers.get(path)
        if buffer is None or not buffer.dirty or self._waits(partial(self.save, path, within)):
            return
        self._saving.add(path)
        self.writing.emit()
        text, digest, write = buffer.text, buffer.digest, self.write

        def work(_report: object) -> str:
            if within is not None and within.is_dir():
                with refused(SaveError, f"“{path.name}” was not saved: its folder cannot be made again ({{reason}})."):
                    path.parent.mkdir(parents=True, exist_ok=True)
            return write(path, text, digest)

        done, failed = partial(self._was_saved, buffer, text), partial(self._save_failed, buffer)
        self._jobs.start(tr("Saving {name}", name=path.name), work, done=done, failed=failed)

    def save_over(self, buffer: NoteBuffer, found: OnDisk) -> None:
        """Save the text of a note over what is on disk now, which was shown to the person."""
        buffer.rebase(found.text or "", found.digest)
        if buffer.dirty:
            self.save(buffer.path, self.home(buffer.path) if found.text is None else None)

    def go_on(self, buffer: NoteBuffer, path: Path, then: Callable[[], object]) -> None:
        """The note has this file from now on, with what is unsaved of it and its undo history; go on with `then`."""
        if self._waits(partial(self.go_on, buffer, path, then)) or self.buffers.get(buffer.path) is not buffer:
            return
        before = buffer.path
        self.buffers.move(buffer, path)
        self._drafts.drop(before)
        self._forget_copy(before)
        self.note_typed(buffer)
        then()

    def take_theirs(self, buffer: NoteBuffer, found: OnDisk) -> None:
        """Take what is on disk; undo leads back to one's own text."""
        buffer.take(found.text or "", found.digest)
        self.reloaded.emit(buffer)

    def take_merged(self, buffer: NoteBuffer, found: OnDisk, merged: str) -> None:
        """Take a text made of both, unsaved; it will be saved over what is on disk now."""
        buffer.replace_all(merged)
        buffer.rebase(found.text or "", found.digest)

    def save_all(self, paths: Collection[Path] | None, finished: Callable[[list[str]], None]) -> None:
        """Write every unsaved text, or those of these files; `finished` gets a sentence for each that could not be."""
        if self._waits(partial(self.save_all, paths, finished)):
            return
        for buffer in self.buffers.all():
            self.note_typed(buffer)
        drafts, write = self._drafts.all, self.write
        pending = {path: draft for path, draft in drafts.items() if paths is None or path in paths}
        self._saving.update(pending)
        self.writing.emit()

        def ended(problems: list[str]) -> None:
            self._saving.difference_update(pending)
            finished(problems)
            self._do_waiting()

        def done(result: tuple[dict[Path, str], list[str]]) -> None:
            for path, new in result[0].items():
                known = self.buffers.get(path)
                if known is not None:
                    known.saved(pending[path].text, new)
                    self.saved.emit(known)
                else:
                    self._drafts.drop(path)
            ended(result[1])

        title = tr("Saving all notes")
        self._jobs.start(
            title, lambda _report: _save_all(pending, write), done=done, failed=lambda error: ended([str(error)])
        )

    def _waits(self, then: Callable[[], object]) -> bool:
        """Whether notes are being written, which changes what is known of their files: `then` is done after that."""
        if self._saving:
            self._waiting.append(then)
        return bool(self._saving)

    def _do_waiting(self) -> None:
        self.writing.emit()
        waiting, self._waiting = self._waiting, []
        for then in waiting:
            then()

    def _was_saved(self, buffer: NoteBuffer, text: str, digest: str) -> None:
        self._saving.clear()
        buffer.saved(text, digest)
        self.saved.emit(buffer)
        self._do_waiting()

    def _save_failed(self, buffer: NoteBuffer, error: Exception) -> None:
        path = buffer.path
        self._saving.clear()
        logger.warning("saving %s failed: %s", path.name, error)
        self._do_waiting()
        if buffer.path != path:
            return  # it goes on in another file by now
        if isinstance(error, ChangedOnDisk):
            self._look(path, partial(self._tell, self.clashed, buffer), partial(self._tell, self.save_failed, buffer))
        else:
            self._tell(self.save_failed, buffer, error)

    def _tell(self, signal: SignalInstance, buffer: NoteBuffer, what: object) -> None:
        """Unless the text was given up meanwhile."""
        if self.buffers.get(buffer.path) is buffer:
            signal.emit(buffer, what)

    # ---- unsaved texts ----------------------------------------------------------------------------------------------

    def note_typed(self, buffer: NoteBuffer) -> None:
        """The text of a note may be another one: remember it as unsaved, or forget that it was."""
        if self.buffers.get(buffer.path) is not buffer:
            return
        if buffer.dirty:
            self._drafts.keep(buffer.path, Draft(buffer.text, buffer.digest))
            if self.keeping is not None:
                self._to_keep[buffer.path] = buffer
                self._pause.start()
        elif self._drafts.get(buffer.path) is not None:
            self._drafts.drop(buffer.path)
            self._forget_copy(buffer.path)

    def keep_now(self) -> None:
        """Write what was typed since the last time to the recovery folder; one job at a time, in order."""
        self._pause.stop()
        keeping = self.keeping
        if keeping is None or self._keeping_now or not (self._to_keep or self._drop_later):
            return
        self._again.stop()
        buffers, self._to_keep = self._to_keep, {}
        texts = {path: Draft(buffer.text, buffer.digest) for path, buffer in buffers.items()}
        gone, self._drop_later = self._drop_later - set(texts), set()
        self.kept.update(texts)
        self._keeping_now = True

        def work(_report: object) -> None:
            for path, draft in texts.items():
                keeping.keep(path, draft.text, draft.digest)
            for path in gone:
                keeping.drop(path)

        def failed(error: Exception) -> None:
            """Try all of it again later, but for what is saved or closed by then."""
            self._keeping_now = False
            open_ones = {path: buffer for path, buffer in buffers.items() if self._drafts.get(path) is not None}
            self._to_keep = open_ones | self._to_keep
            self._drop_later |= gone - self._to_keep.keys()
            self._again.start()
            if str(error) != self._told:
                self._told = str(error)
                self.keep_failed.emit(error)

        self._jobs.start(tr("Keeping unsaved notes"), work, done=lambda _none: self._was_kept(gone), failed=failed)

    def _was_kept(self, gone: set[Path]) -> None:
        self._keeping_now, self._told = False, ""
        self.kept -= gone
        if self._to_keep or self._drop_later:
            self._pause.start()

    def _forget_copy(self, path: Path) -> None:
        self._to_keep.pop(path, None)
        if self.keeping is not None and path in self.kept:
            self._drop_later.add(path)
            QTimer.singleShot(0, self, self.keep_now)

    def close(self) -> None:
        """Stop waiting for pauses."""
        self._pause.stop()
        self._again.stop()


def _save_all(drafts: Mapping[Path, Draft], write: Writer) -> tuple[dict[Path, str], list[str]]:
    """Save each draft; returns the new digests of what was written and what went wrong with the others."""
    written, problems = {}, []
    for path, draft in drafts.items():
        try:
            written[path] = write(path, draft.text, draft.digest)
        except VaultError as error:
            problems.append(str(error))
    return written, problems
