"""Texts that were edited and not saved yet, kept per file, and what they and settings tried out would do.

Looking elsewhere loses no text. While somebody types or moves a setting, the generation that is shown runs again, and
with it the whole chat; a sentence says what it would do to the prompt.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

from msgspec import Struct
from PySide6.QtCore import QObject, Signal

from lorestudio.domain.state import ChatControls
from lorestudio.settings.declaration import Section
from lorestudio.settings.sections import value_text
from lorestudio.studio.notes.book_entries import is_book_entry
from lorestudio.studio.project.project import Project
from lorestudio.studio.replay.simulator import Simulator
from lorestudio.studio.tryout.preview import EditedNote, Preview, Previewer
from lorestudio.studio.tuning.effects import Effects, WholeChat
from lorestudio.studio.tuning.expectations import Expectation
from lorestudio.trace.diff import EntryChange, compare
from lorestudio.ui.shell.jobs import Job, Jobs, Newest
from lorestudio.ui.shell.qt import later
from lorestudio.ui.shell.words import count, number, sentence_of, tr
from lorestudio.vault.edited_vaults import NoteText

_NOTHING: Final = (None, (), None)

STEP_MS: Final = 150
"""What is found on the way is told after so long, the end at once, which is mostly there before."""


class LiveEffects(QObject):
    """Runs the whole chat with what is tried out, the newest only; the first replies are told while the others run.

    `changed` follows the end, and now and then what is found on the way. What was found for the changes before is kept
    until the first replies with the new ones are there; until then it is not `current`.
    """

    changed = Signal()

    def __init__(self, jobs: Jobs, simulator: Callable[[], Simulator | None], parent: QObject | None = None) -> None:
        """`simulator` gives who ran the whole chat, None where nobody has as is chosen now."""
        super().__init__(parent)
        self._simulator = simulator
        self._newest, self._step = Newest(jobs), later(self, self.changed.emit, STEP_MS)
        self._expectations: tuple[Expectation, ...] = ()
        self._chat: tuple[Simulator, WholeChat] | None = None
        self._tried: tuple[Section | None, tuple[NoteText, ...], ChatControls | None] = _NOTHING
        self._of: tuple[object, ...] = (*_NOTHING, None)
        self.effects: Effects | None = None
        self.current = self.aside = False
        self.problem = ""

    @property
    def trying(self) -> bool:
        """Whether something is tried out."""
        return self._tried != _NOTHING

    @property
    def words(self) -> str:
        """What it does to the whole chat, or how far that is known; "" where nothing is tried out."""
        if not self.trying:
            return ""
        if self.problem:
            return self.problem
        if self._simulator() is None:
            return tr("Replay the chat to see what this does to all of it.")
        if self.chat() is None:
            return ""
        found = self.effects
        if found is None or not self.current:
            return tr("Whole chat: running…")
        if not found.complete:
            done = tr("{done} of {all}", done=number(len(found.turns)), all=count(found.replies, "reply", "replies"))
            return tr("Whole chat, first {done}: {brief}", done=done, brief=found.brief)
        return tr("Whole chat: {brief}", brief=found.brief)

    def expect(self, expectations: Sequence[Expectation]) -> None:
        """Judge by these from now on."""
        if self._expectations != tuple(expectations):
            self._expectations, self._chat = tuple(expectations), None
            self.try_changes(*self._tried, aside=self.aside)

    def chat(self) -> WholeChat | None:
        """The chat as it was run, None where it has not been run whole, or nothing can be tried out on its notes."""
        simulator = self._simulator()
        if simulator is None or not simulator.project.knows_notes:
            return None
        if self._chat is None or self._chat[0] is not simulator:
            self._chat = simulator, WholeChat(simulator, self._expectations)
        return self._chat[1]

    def try_settings(self, settings: Section | None) -> None:
        """Try these with the texts that are tried out already."""
        self.try_changes(settings, *self._tried[1:], aside=self.aside)

    def try_changes(
        self,
        settings: Section | None,
        notes: tuple[NoteText, ...],
        controls: ChatControls | None = None,
        *,
        aside: bool = False,
    ) -> None:
        """Try these from now on; settings of a system that did not decide make no difference.

        `aside`: nobody is editing them, so that somebody has to say when they are tried no more.
        """
        self.aside = aside
        chat = self.chat() if (settings, notes, controls) != _NOTHING else None
        if chat is not None and settings is not None and type(settings) is not type(chat.settings):
            settings = None
        of = (settings, notes, controls, chat)
        if of == self._of:
            return
        self._tried, self._of = (settings, notes, controls), of
        self.current, self.problem = False, ""
        if chat is None or not self.trying:
            self._newest.cancel()
            self.effects = None
        else:

            def work(job: Job) -> Effects:
                return chat.effects(settings, notes, job, job.token, controls)

            title = tr("Running the whole chat with what is tried out")
            self._newest.start(title, work, done=self._found, failed=self._failed, reported=self._found)
        self._tell(wait=self.effects is not None)

    def _found(self, effects: Effects) -> None:
        self.effects, self.current = effects, True
        self._tell(wait=not effects.complete)

    def _failed(self, error: Exception) -> None:
        self.effects, self.problem = None, sentence_of(error)
        self._tell()

    def _tell(self, *, wait: bool = False) -> None:
        if not wait:
            self._step.stop()
            self.changed.emit()
        elif not self._step.isActive():
            self._step.start()


class Draft(Struct, frozen=True):
    """An unsaved text and the digest of the file that it started from, None for a file that does not exist."""

    text: str
    digest: str | None


class Drafts(QObject):
    """All unsaved texts of the window.

    `changed` names a file that has an unsaved text now, or has none any more; `typed` a file whose unsaved text is
    another one than before.
    """

    changed = Signal(object)
    typed = Signal(object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._drafts: dict[Path, Draft] = {}

    @property
    def all(self) -> Mapping[Path, Draft]:
        """The unsaved texts by file."""
        return self._drafts

    def get(self, path: Path) -> Draft | None:
        """The unsaved text of a file, None where there is none."""
        return self._drafts.get(path)

    def keep(self, path: Path, draft: Draft) -> None:
        """Remember the text of a file."""
        before = self._drafts.get(path)
        self._drafts[path] = draft
        if before is None:
            self.changed.emit(path)
        if before is None or before.text != draft.text:
            self.typed.emit(path)

    def drop(self, path: Path) -> None:
        """Forget the text of a file: it was saved, or thrown away on purpose."""
        if self._drafts.pop(path, None) is not None:
            self.changed.emit(path)
            self.typed.emit(path)


logger = logging.getLogger(__name__)


class LivePreview(QObject):
    """Runs previews of all unsaved texts and the settings that are tried out, the newest only.

    `previewed` carries a `Preview`, None once there is none; `failed` the error where none could be made.
    """

    previewed = Signal(object)
    failed = Signal(object)

    def __init__(
        self,
        drafts: Drafts,
        jobs: Jobs,
        project: Callable[[], Project | None],
        make: Callable[[], Previewer | None],
        parent: QObject | None = None,
        simulator: Callable[[], Simulator | None] = lambda: None,
    ) -> None:
        """`make` gives a previewer of the generation that is shown, None where it was not run; `simulator` who ran the
        whole chat, which is then run with the same.
        """
        super().__init__(parent)
        self.whole = LiveEffects(jobs, simulator, self)
        self._drafts, self._project, self._make = drafts, project, make
        self._previewer: Previewer | None = None
        self._settings: Section | None = None
        self._newest = Newest(jobs)
        drafts.typed.connect(lambda _path: self.run())

    def forget(self) -> None:
        """Another project, generation or run is shown: what was previewed does not hold any more."""
        self._newest.cancel()
        self._previewer = None
        self.previewed.emit(None)
        self.run()

    def try_settings(self, settings: Section | None) -> None:
        """Try these settings from now on, with the unsaved texts; None goes back to those of the run.

        Settings of a system that is not the one that decides make no difference.
        """
        if settings != self._settings:
            self._settings = settings
            self.run()

    def run(self) -> None:
        """Preview what is tried out; where that is nothing, the trace of the real run is what holds."""
        notes, tried = self._notes(), self._settings
        self.whole.try_changes(tried, notes)
        if self._previewer is None and (notes or tried is not None):
            self._previewer = self._make()
            if self._previewer is None:
                return
        previewer = self._previewer
        settings = tried if tried is not None and previewer is not None and previewer.takes(tried) else None
        if previewer is None or (not notes and settings is None):
            self._newest.cancel()
            self.previewed.emit(None)
            return

        def work(job: Job) -> Preview:
            return previewer.preview(notes, job.token, settings)

        self._newest.start(tr("Trying it out"), work, done=self.previewed.emit, failed=self._fail, owner=self)

    def _fail(self, error: Exception) -> None:
        logger.warning("the preview failed: %s", error)
        self.failed.emit(error)

    def _notes(self) -> tuple[NoteText, ...]:
        project = self._project()
        return unsaved_notes(project, self._drafts.all) if project is not None else ()


def unsaved_notes(project: Project, drafts: Mapping[Path, Draft]) -> tuple[NoteText, ...]:
    """The unsaved texts of notes that lie in the project's vaults."""
    places = ((project.note_place(path), draft.text) for path, draft in drafts.items())
    return tuple(NoteText(*place, text) for place, text in places if place is not None)


MOST_NAMES: Final = 3


def preview_words(preview: Preview) -> str:
    """Which entries enter and leave, what becomes of the tokens, and where a model's answers came from."""
    changes = compare(preview.before, preview.trace)
    parts = []
    if changes.entered:
        parts.append(tr("{titles} would enter", titles=_titles(changes.entered)))
    if changes.left:
        parts.append(tr("{titles} would leave", titles=_titles(changes.left)))
    if not parts:
        parts.append(tr("the same entries go in"))
    before, after = changes.tokens
    if before == after:
        parts.append(count(after, "token, as before", "tokens, as before"))
    else:
        parts.append(tr("{before} → {after}", before=number(before), after=count(after, "token", "tokens")))
    sentence = tr("With {what}: {changes}.", what=tried(preview), changes="; ".join(parts))
    return " ".join([sentence, *preview.remarks])


def tried(preview: Preview) -> str:
    """What was tried out: `the unsaved text of Gate.md`, `Scan depth 6 messages`, or both."""
    files = ", ".join(_called(edited) for edited in preview.notes)
    parts = [tr("the unsaved text of {files}", files=files)] if files else []
    shown = preview.settings[:MOST_NAMES]
    parts += [f"{tr(one.declaration.title)} {value_text(one.declaration, one.after)}" for one in shown]
    if len(preview.settings) > MOST_NAMES:
        parts.append(count(len(preview.settings) - MOST_NAMES, "other setting", "other settings"))
    return ", ".join(parts)


def _called(edited: EditedNote) -> str:
    path = Path(edited.note.filename)
    return edited.entry.title if edited.entry is not None and is_book_entry(path) else path.name


def _titles(entries: Sequence[EntryChange]) -> str:
    shown = [f"“{entry.title}”" for entry in entries[:MOST_NAMES]]
    if len(entries) > MOST_NAMES:
        shown.append(count(len(entries) - MOST_NAMES, "other", "others"))
    return ", ".join(shown)
