"""The memories as the window knows them: read off the GUI thread, searched, changed, deletions taken back.

`Place` says which memories are looked at.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final, cast

from msgspec import Struct
from PySide6.QtCore import QObject, Signal

from lorestudio.domain.chat import Chat
from lorestudio.exchange.problems import InputError
from lorestudio.settings.facts import FactsSettings
from lorestudio.settings.hybrid import NO_EMBEDDER, STAND_IN
from lorestudio.studio.project.answering import AnswerSource, Connections
from lorestudio.systems.facts import NAME
from lorestudio.systems.vectors import embedder_named
from lorestudio.ui.shell.jobs import Job, Newest
from lorestudio.ui.shell.words import Notice, count, sentence_of, tr, with_full_stop
from lorestudio.ui.state.session import Session

if TYPE_CHECKING:
    from lorestudio.systems.facts.picture import FactsPicture, Provenance
    from lorestudio.systems.facts.records import Memory
    from lorestudio.systems.facts.session import FactsSession

MOST_FOUND: Final = 200
"""A search lists so many memories at most; what is less similar than that is like nothing in particular."""


class Place(Struct, frozen=True):
    """What memories are looked at: the settings, and the chat that is open."""

    settings: FactsSettings
    connections: Connections
    chat: Chat | None = None
    path: Path | None = None

    @property
    def embedder(self) -> str:
        """The profile that makes the vectors, "" where that is the stand-in."""
        name = self.settings.embedder
        return "" if name in {"", NO_EMBEDDER, STAND_IN} else name

    def open(self, answers: AnswerSource | None = None, model: str = "", *, writes: bool = False) -> FactsSession:
        """The file of memories, in a worker; where there is none yet, only one that `writes` makes it.

        Raises InputError and SettingsError.
        """
        from lorestudio.systems.facts.options import store_path
        from lorestudio.systems.facts.session import FactsSession

        embedder = embedder_named(self.settings.embedder, self.connections)
        if embedder is None:
            text = tr("Memories are kept with their vectors. Choose stand-in or a provider profile that makes them.")
            raise InputError(tr("Settings of fact memory"), text)
        missing = not writes and not store_path(self.settings).exists()
        return FactsSession(self.settings, None, answers, model, embedder, in_memory=missing)


class Hits(Struct, frozen=True):
    """What a search found: ids with their similarity, most similar first."""

    text: str
    scores: dict[str, float]


class _Changed(Struct, frozen=True):
    """What a change came to: memories as they are now, and those that are gone."""

    memories: Sequence[Memory] = ()
    gone: Sequence[Memory] = ()


class MemoryStore(QObject):
    """Reads once somebody looks, and again when something changed while somebody looks.

    `changed` follows everything that it says, `hits_changed` a search. `altered` says that memories are other ones
    than they were.
    """

    changed = Signal()
    hits_changed = Signal()
    altered = Signal()

    def __init__(self, session: Session, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.session = session
        self.picture: FactsPicture | None = None
        self.problem = ""
        self.hits: Hits | None = None
        self.searching = ""
        self.everything = False
        self.deleted: list[tuple[Memory, ...]] = []
        self._wanted = False
        self._reading = Newest(session.jobs)
        self._seen: tuple[object, ...] = ()
        self._search = Newest(session.jobs)
        self._changing = 0
        self._writing: set[Job] = set()
        session.project_changed.connect(self.follow)
        session.state_changed.connect(self.follow)
        session.configured.connect(self.follow)

    # ---- what there is ----------------------------------------------------------------------------------------------

    @property
    def settings(self) -> FactsSettings:
        """The settings of fact memory that are in force."""
        return cast("FactsSettings | None", self.session.choices.systems.get(NAME)) or FactsSettings()

    @property
    def place(self) -> Place:
        """What is looked at now."""
        project = self.session.project
        connections = self.session.connections
        if project is None:
            return Place(self.settings, connections)
        return Place(self.settings, connections, project.chat, project.chat_path)

    @property
    def chat_known(self) -> bool:
        """Whether memories can be told to be those of the open chat: it has a file, or a mark of its own."""
        project = self.session.project
        if project is None or project.chat is None:
            return False
        return project.chat_path is not None or bool(project.chat.metadata.get("integrity"))

    @property
    def idle(self) -> bool:
        """Whether nothing is read, searched or changed."""
        return not (self._reading.busy or self.searching or self._changing)

    # ---- reading ----------------------------------------------------------------------------------------------------

    def look(self, *, wanted: bool) -> None:
        """Somebody looks at the memories, or nobody does any more."""
        self._wanted = wanted
        self.follow()

    def follow(self) -> None:
        """Read again where what is looked at is something else."""
        if not self._wanted:
            return
        place = self.place
        now = (place.settings, id(place.chat), place.path, self.everything)
        if now != self._seen:
            self._seen = now
            self.renew()

    def show_everything(self, *, everything: bool) -> None:
        """List the memories of all chats, or of this one."""
        if everything != self.everything:
            self.everything = everything
            self.follow()
            if self.hits is not None:
                self.search(self.hits.text)

    def renew(self) -> None:
        """Read everything again."""
        if not self._wanted:
            self._seen = ()
            return
        place, everything = self.place, self.everything
        chat = place.chat if self.chat_known else None

        def work(_report: Callable[[object], None]) -> FactsPicture:
            from lorestudio.systems.facts.picture import facts_picture

            with place.open() as opened:
                return facts_picture(opened, chat, place.path, everything=everything)

        self._reading.start(tr("Reading memories"), work, done=self._read, failed=self._not_read)
        if self.problem:
            self.problem = ""
            self.changed.emit()

    def _read(self, picture: FactsPicture) -> None:
        self.picture, self.problem = picture, ""
        self.changed.emit()

    def _not_read(self, error: Exception) -> None:
        self.picture, self.problem = None, sentence_of(error)
        self.changed.emit()

    def ask_past(self, memory: Memory, tell: Callable[[Provenance], object]) -> None:
        """Find out where a memory came from."""
        place = self.place

        def work(_report: Callable[[object], None]) -> Provenance:
            from lorestudio.systems.facts.picture import provenance_of

            with place.open() as opened:
                return provenance_of(opened, memory)

        self.session.jobs.start(tr("Reading a memory's origin"), work, done=tell, failed=self._failed)

    # ---- searching --------------------------------------------------------------------------------------------------

    def search(self, text: str) -> None:
        """Look for the memories most similar to a text; a search before it is given up."""
        text = text.strip()
        if not text:
            self.drop_hits()
            return
        place, self.searching = self.place, text
        owner = "" if self.everything or self.picture is None else self.picture.owner

        def work(job: Job) -> Hits:
            with place.open() as opened:
                found = job.run(lambda: opened.search(text, owner, MOST_FOUND))
            return Hits(text, {match.memory.id: match.score for match in found})

        self._search.start(tr("Searching memories"), work, done=self._found, failed=self._not_found)
        self.hits_changed.emit()

    def drop_hits(self) -> None:
        """List all again; a search that is under way is given up."""
        self._search.cancel()
        self.searching, self.hits = "", None
        self.hits_changed.emit()

    def _found(self, hits: Hits) -> None:
        self.searching, self.hits = "", hits
        self.hits_changed.emit()

    def _not_found(self, error: Exception) -> None:
        self.searching = ""
        self.hits_changed.emit()
        text = tr("The search failed: {why} Look at who makes the vectors.", why=with_full_stop(sentence_of(error)))
        self.session.notice.emit(Notice(text, "error", actions=("memories.settings", "profiles.edit"), key="memories"))

    # ---- changing ---------------------------------------------------------------------------------------------------

    def write(self, memory: Memory, text: str) -> None:
        """Give a memory another text, with the vector of it."""
        self._writing.add(
            self._alter(tr("Writing a memory"), memory, lambda opened, job: job.run(lambda: opened.edit(memory, text)))
        )

    def tag(self, memory: Memory, tags: Sequence[str]) -> None:
        """Give a memory other tags."""
        self._alter(tr("Tagging a memory"), memory, lambda opened, _job: opened.tag(memory, tags))

    def pin(self, memory: Memory, *, pinned: bool) -> None:
        """Pin a memory, or take its pin away."""
        self._alter(tr("Pinning a memory"), memory, lambda opened, _job: opened.pin(memory, pinned=pinned))

    def _alter(self, title: str, memory: Memory, how: Callable[[FactsSession, Job], object]) -> Job:
        def work(opened: FactsSession, job: Job) -> _Changed:
            how(opened, job)
            return _Changed(opened.fetch([memory.id]))

        return self._change(title, work)

    def delete(self, memories: Sequence[Memory]) -> None:
        """Delete memories; `undo` takes it back."""
        ids = [memory.id for memory in memories]

        def work(opened: FactsSession, _job: Job) -> _Changed:
            whole = opened.fetch(ids)
            opened.delete(whole)
            return _Changed(gone=whole)

        def done(made: _Changed) -> None:
            if made.gone:
                self.deleted.append(tuple(made.gone))
                text = tr("{amount} deleted.", amount=count(len(made.gone), "memory was", "memories were"))
                self.session.notice.emit(Notice(text, actions=("memories.undo",), key="memories"))

        self._change(tr("Deleting memories"), work, done)

    def undo(self) -> None:
        """Take the last deletion back."""
        if not self.deleted:
            return
        whole = self.deleted.pop()

        def work(opened: FactsSession, _job: Job) -> _Changed:
            opened.restore(whole)
            return _Changed(whole)

        def done(_made: _Changed) -> None:
            text = tr("{amount} back.", amount=count(len(whole), "memory is", "memories are"))
            self.session.notice.emit(Notice(text, "good", key="memories"))

        self._change(tr("Taking a deletion back"), work, done, lambda: self.deleted.append(whole))

    def stop(self) -> None:
        """The window is closed: nothing is waited for any more."""
        for job in self._writing:
            job.cancel()

    def _change(
        self,
        title: str,
        how: Callable[[FactsSession, Job], _Changed],
        then: Callable[[_Changed], object] = lambda _made: None,
        otherwise: Callable[[], object] = lambda: None,
    ) -> Job:
        place, before = self.place, self.picture
        self._changing += 1

        def work(job: Job) -> tuple[_Changed, FactsPicture | None]:
            with place.open() as opened:
                made = how(opened, job)
            gone = {memory.id for memory in made.gone}
            return made, before.altered(made.memories, gone) if before is not None else None

        def done(result: tuple[_Changed, FactsPicture | None]) -> None:
            self._changing -= 1
            made, after = result
            then(made)
            if after is not None and self.picture is before and not self._reading.busy:
                self.picture = after  # reading thousands again would take a second
                self.changed.emit()
            else:
                self.renew()
            self.altered.emit()

        def failed(error: Exception) -> None:
            self._changing -= 1
            otherwise()
            self._failed(error)
            self.renew()

        job = self.session.jobs.start(title, work, done=done, failed=failed, ended=lambda: self._writing.discard(job))
        return job

    def _failed(self, error: Exception) -> None:
        known = isinstance(error, InputError)
        self.session.notice.emit(Notice(sentence_of(error), "warning" if known else "error", key="memories"))
