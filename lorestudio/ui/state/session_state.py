"""What is open in a window, how it is run and what is under way: the state that everybody reads, and its signals."""

from __future__ import annotations

import logging
import traceback
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from PySide6.QtCore import QObject, Signal

from lorestudio.domain.chat import Chat, Generation
from lorestudio.domain.entry import Entry, LeftOutNote
from lorestudio.exchange.problems import Belongs, InputError, WrongFileError
from lorestudio.studio.notes.book_entries import is_book_entry
from lorestudio.studio.project.answering import AnsweringError, Connections, default_profiles_path
from lorestudio.studio.project.project import Project
from lorestudio.studio.replay.ranges import generations
from lorestudio.studio.replay.run_store import chat_id
from lorestudio.systems.vectors import EmbedderError
from lorestudio.ui.shell.jobs import Jobs
from lorestudio.ui.shell.words import Notice, sentence_of, tr
from lorestudio.ui.state.choices import ChoiceStore, RunChoice
from lorestudio.vault.files import VaultError

_WAYS: Final[Mapping[Belongs, tuple[str, ...]]] = {
    Belongs.IMPORT: ("book.import",),
    Belongs.OTHER_LORE: ("book.import",),
    Belongs.BOOK: ("book.open", "book.import"),
    Belongs.CHAT: ("chat.open",),
    Belongs.CARD: ("chat.open",),
    Belongs.VAULT: ("vault.open",),
    Belongs.SETTINGS: ("settings.import", "sillytavern.open"),
    Belongs.SILLYTAVERN: ("sillytavern.open",),
}
"""The actions that take a file that was given in the wrong place."""

logger = logging.getLogger(__name__)


class SessionState(QObject):
    """The project, its generations, how it is run, what is under way, and look-ups in these. It decides nothing.

    Whatever works on it changes the state here and emits the signals here, so whoever follows one of them follows the
    session. All state changes on the GUI thread.
    """

    project_replaced = Signal(object, object, str)  # before, now (or None), `renewed`: nothing is shown yet
    project_shown = Signal()  # everybody shows the project
    project_changed = Signal()
    traces_changed = Signal(object)  # the generations that have a new trace, or None for "all of them"
    preview_changed = Signal()
    state_changed = Signal()
    choice_changed = Signal()
    configured = Signal()  # settings of systems beside DeepLore
    profile_renamed = Signal(str, str)  # before, now: what kept the name follows, before `profiles_changed`
    profiles_changed = Signal()
    live_changed = Signal()
    setup_changed = Signal()
    progress = Signal(object)  # Progress
    replayed = Signal(object)  # Tallied: a replay that a person asked for has come to its end
    news = Signal(object)  # ReplayNews: before `progress`, with what else is known
    notice = Signal(object)  # Notice
    question = Signal(object)  # Question: a person is to answer
    withdrawn = Signal(object)  # Question: nobody waits for its answer any more
    cost_known = Signal(object)  # Finished: a person has to agree before this replay begins

    def __init__(self, parent: QObject | None, connections: Connections | None, keep_in: Path | None) -> None:
        """`keep_in` is the folder where runs survive the window; without it nothing is kept."""
        super().__init__(parent)
        self.jobs = Jobs(self)
        self.jobs.failed.connect(self.report)
        self.keep_in = keep_in
        self.connections = connections or Connections(default_profiles_path())
        self.choices = ChoiceStore()
        self.choice = RunChoice()
        self.project: Project | None = None
        self.renewed = False
        self.generations: tuple[Generation, ...] = ()
        self._known: frozenset[Generation] = frozenset()
        self.activity = ""

    # ---- what is shown ----------------------------------------------------------------------------------------------

    @property
    def chat(self) -> Chat | None:
        """The chat that is open."""
        return self.project.chat if self.project is not None else None

    def set_project(self, project: Project, *, renewed: str = "") -> None:
        """Show a project that was read already; its chat is replayed unless `replays` is told not to.

        `renewed` says of the traces there are why they are results from before, where it is the same project with
        something changed: then what is looked at stays, and so do the traces until newer ones are there. Of a changed
        chat only the runs up to the first changed message stay.
        """
        before = self.project
        told = before.problems if before is not None else ()
        self.renewed = bool(renewed)
        self.choice = self.choices.load(chat_id(project)) or self.choices.with_settings(RunChoice.of(project))
        self.project = project = self.choice.applied(project)
        self.generations = generations(project.chat) if project.chat is not None else ()
        self._known = frozenset(self.generations)
        self.project_replaced.emit(before, project, renewed)
        self.project_changed.emit()
        self.choice_changed.emit()
        self.traces_changed.emit(None)
        self.state_changed.emit()
        for problem in project.problems:
            if problem not in (*told, project.no_entries):  # which the vault says itself, with a button
                self.notice.emit(Notice(problem, "warning"))
        self.project_shown.emit()

    def close_project(self) -> None:
        """Show none, as before the first was opened."""
        before, self.project = self.project, None
        self.renewed, self.choice, self.generations, self._known = False, RunChoice(), (), frozenset()
        self.project_replaced.emit(before, None, "")
        self.project_changed.emit()
        self.choice_changed.emit()
        self.traces_changed.emit(None)
        self.state_changed.emit()

    def note_path(self, note: Entry | LeftOutNote) -> Path | None:
        """The file of a note, None where its vault has no folder in the project."""
        return self.project.note_path(note.vault, note.filename) if self.project is not None else None

    def note_at(self, path: Path) -> Entry | LeftOutNote | None:
        """The note of a file, None where the file gave none."""
        place = self.project.note_place(path) if self.project is not None else None
        return self.project.index.note(place) if self.project is not None else None

    def called(self, path: Path) -> str:
        """What people call a note: its file's name, an entry of a lorebook by its title."""
        note = self.note_at(path) if is_book_entry(path) else None
        return note.title if isinstance(note, Entry) else path.name

    def entry(self, entry: int | None) -> Entry | None:
        """The entry with that id, None where there is none."""
        entries = self.project.index.entries if self.project is not None else ()
        return entries[entry] if entry is not None and 0 <= entry < len(entries) else None

    def shown(self, message: int) -> Generation | None:
        """The generation of a message's active swipe, None where the message is not a reply."""
        if self.chat is None:
            return None
        generation = self.chat.active(message)
        return generation if generation in self._known else None

    def generation_for(self, message: int) -> Generation | None:
        """The generation to show for a message: its own, or for any other message that of the reply after it."""
        own = self.shown(message)
        if own is not None:
            return own
        later = next((item for item in self.generations if item.message >= message), None)
        return (self.shown(later.message) or later) if later is not None else None

    def swipes(self, message: int) -> tuple[Generation, ...]:
        """All generations of one reply."""
        return tuple(item for item in self.generations if item.message == message)

    # ---- what is under way ------------------------------------------------------------------------------------------

    @property
    def busy(self) -> bool:
        """Whether a vault is read or a chat replayed."""
        return bool(self.activity)

    def set_activity(self, text: str) -> None:
        """This is under way from now on, "" for nothing."""
        self.activity = text
        self.state_changed.emit()

    def fail(self, error: Exception) -> None:
        """A job has failed, and with it what was under way."""
        self.set_activity("")
        self.report(error)

    def report(self, error: Exception) -> None:
        """Say that a job has failed."""
        if isinstance(error, AnsweringError | EmbedderError):  # the person's choice, not a fault
            self.notice.emit(Notice(sentence_of(error), "error", actions=("profiles.edit",)))
            return
        known = isinstance(error, InputError | VaultError)  # its sentence says all there is to know
        logger.error("a job failed: %s", error, exc_info=None if known else error)
        if isinstance(error, WrongFileError):
            said = f"{Path(error.source).name}: {error.what}."
            if error.belongs is Belongs.CARD:
                said += tr(" A card without one is chosen in the prompt view, once its chat is open.")
            self.notice.emit(Notice(said, "warning", actions=_WAYS[error.belongs], key="wrong-file"))
            return
        details = "" if known else "".join(traceback.format_exception(error))
        self.notice.emit(Notice(sentence_of(error), "error", details=details))
