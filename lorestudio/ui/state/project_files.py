"""Reading vaults and chats off the GUI thread, and taking in what becomes of them on disk.

Vaults are opened through the cache. A chat that goes on in a front end meanwhile is watched, and what is new in it is
shown and run.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import aclosing
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from msgspec import Struct
from PySide6.QtCore import QObject, Signal

from lorestudio.domain.chat import Chat
from lorestudio.domain.entry import VaultIndex
from lorestudio.domain.lifecycle import Cancelled, heed
from lorestudio.domain.records import replace
from lorestudio.domain.resources import resource
from lorestudio.domain.tokens import TokenCounter
from lorestudio.settings.deeplore import DeepLoreSettings
from lorestudio.studio.chat.controls import choices_clash, choices_moved
from lorestudio.studio.chat.saving import going_on, with_chat_reread
from lorestudio.studio.project.answering import Connections
from lorestudio.studio.project.library import Library, LibraryListener, LibraryNews, changes_text
from lorestudio.studio.project.places import keep_key, vault_sources
from lorestudio.studio.project.project import (
    Project,
    assembled,
    demo_folder,
    demo_project,
    is_lorebook,
    open_project,
    place_names,
    practice_folder,
    read_settings,
)
from lorestudio.studio.project.tokens import counting_for
from lorestudio.studio.replay.run_store import RunStore, chat_id
from lorestudio.systems.base import SystemKind
from lorestudio.systems.registry import kind_of
from lorestudio.ui.shell.jobs import Beat, Job, Jobs, Newest, window_loop
from lorestudio.ui.shell.words import Notice, number, sentence_of, tr
from lorestudio.ui.state.choices import system_title
from lorestudio.ui.state.project_parts import ProjectParts
from lorestudio.ui.state.session_state import SessionState
from lorestudio.ui.state.traces import SessionRuns
from lorestudio.ui.state.undo import Adjustment, Parts
from lorestudio.vault.cache import VaultCache
from lorestudio.vault.edited_vaults import EditedVaults, NoteText
from lorestudio.vault.files import VaultError
from lorestudio.vault.index import RefreshReason, VaultState, changes_between
from lorestudio.vault.sources import OnRead
from lorestudio.vault.watching import WatchTimes, watch_folder
from lorestudio.vault.writer import read_note

TIMES: Final = WatchTimes(debounce_ms=100, poll_s=1.0)
"""A new turn is shown within a second of being written."""

REPORT_SECONDS: Final = 0.2

VAULT_CHANGED: Final = "vault changed"
"""The key of what is said while the vault on disk is another one than was read."""

logger = logging.getLogger(__name__)


def _failed(error: Exception) -> None:
    if not isinstance(error, Cancelled):
        logger.error("following the chat has failed", exc_info=error)


def changed_on_both_sides(project: Project) -> Notice:
    """The chat's file was changed by another program where the chat was changed here."""
    name = project.chat_path.name if project.chat_path is not None else ""
    text = tr("{name} was changed here and by another program. What you changed stays; saving it asks what to keep.",
              name=name)  # fmt: skip
    return Notice(text, "warning", key="chat goes on")


def watch_file(jobs: Jobs, path: Path, changed: Callable[[], object], owner: QObject) -> Job:
    """Have `changed` called whenever the file may have changed, and at first; until the job is stopped."""

    async def work(job: Job) -> None:
        async with aclosing(watch_folder(path.parent, TIMES)) as events:
            async for names in events:
                if not names or path.name in names:
                    job(names)

    return jobs.start(
        tr("Following {name}", name=path.name), work, failed=_failed, reported=lambda _names: changed(), owner=owner,
        standing=True,
    )  # fmt: skip


class ChatFollower(QObject):
    """Follows the file of the chat that is shown. `went_on` says how many messages there are more, also none.

    To a chat that was changed here and not saved, new messages are added. Where others were changed in the file, what
    was changed here stays, which is said.
    """

    went_on = Signal(int)

    def __init__(self, session: SessionState, parts: ProjectParts, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._session, self._parts = session, parts
        self._path: Path | None = None
        self._watch: Job | None = None
        self._newest = Newest(session.jobs)
        session.state_changed.connect(self._follow)

    def _follow(self) -> None:
        """Watch the file that is shown now, where it is another one."""
        project = self._session.project
        path = project.chat_path if project is not None else None
        if path is not None and path.is_relative_to(resource("demo")):
            path = None
        if path == self._path:
            return
        self._path = path
        if self._watch is not None:
            self._watch.cancel()
        self._watch = watch_file(self._session.jobs, path, self.look, self) if path is not None else None

    def look(self) -> None:
        """Read the file again, and show what is new in it."""
        project = self._session.project
        if project is not None:
            self._newest.start(
                tr("Reading the chat again"), lambda _job: with_chat_reread(project), failed=_failed,
                done=lambda read: self._take(project, read) if read is not None else None,
            )  # fmt: skip

    def _take(self, project: Project, read: Project) -> None:
        session, now, disk = self._session, self._session.project, self._parts.on_disk
        if now is None or disk is None or now.chat_path != read.chat_path or now.document is not project.document:
            return  # another chat is shown, or this one was saved meanwhile
        if now.chat is None or read.chat is None or disk.chat is None:
            return
        alike = now.chat == read.chat
        chat = read.chat if alike or now.chat == disk.chat else going_on(disk.chat, read.chat)(now.chat)
        if chat is None or choices_clash(disk.controls, now.controls, read.controls):
            session.notice.emit(changed_on_both_sides(now))
            return
        more = len(read.chat.messages) - len(disk.chat.messages)
        controls = choices_moved(read.controls, disk.controls, now.controls)
        changed = replace(now, chat=chat, document=read.document, controls=controls)
        if alike and controls == now.controls:
            self._parts.chat_went_on(changed, read, alike=True)
        else:
            self._parts.chat_went_on(replace(changed, basis=read.basis), read)
            self.went_on.emit(more)


class Opened(Struct, frozen=True):
    """A project, and the job that follows its vaults."""

    project: Project
    follows: Job


class VaultFollower(QObject):
    """Follows one set of vaults at a time. `changed` carries `LibraryNews`, `failed` a sentence.

    `back` says that vaults which could not be read can be read again.
    """

    changed = Signal(object)
    failed = Signal(str)
    back = Signal()

    def __init__(self, jobs: Jobs, connections: Connections, cache_file: Path, parent: QObject) -> None:
        super().__init__(parent)
        self._jobs, self._connections, self._cache_file = jobs, connections, cache_file
        self._follows: Job | None = None
        self._early: list[tuple[Job, LibraryNews]] = []
        self._away = False

    async def open(
        self, places: Sequence[str], chat: Path | None, settings: Path | None, tokenizer: str, on_read: OnRead
    ) -> Opened:
        """Open vaults, from the cache where they are in it. Raises VaultError, InputError and TokenizerError."""
        read = await asyncio.to_thread(read_settings, settings)
        counting = await asyncio.to_thread(counting_for, tokenizer, (settings, chat))
        first: asyncio.Future[LibraryNews] = window_loop().create_future()
        job = self._begin(places, read.settings, counting.budgets, first, on_read)
        try:
            news = await first
            project = await asyncio.to_thread(assembled, places, news, read, chat, settings, 0, counting)
        except BaseException:
            job.cancel()
            raise
        return Opened(project, job)

    def follow(self, project: Project) -> None:
        """Notice from now on what changes in the vaults of a project that was read in another way."""
        if self._follows is None and project.places:
            known = project.vault_state  # else a large vault is read, and held, a second time
            self._follows = self._begin(project.places, project.settings, project.counter, known=known)

    def take(self, follows: Job | None) -> None:
        """Follow these vaults instead of the ones before.

        What was told of them while they were only being opened is told again now.
        """
        before, self._follows, self._away = self._follows, follows, False
        if before is not None:
            before.cancel()
        early, self._early = self._early, []
        for job, news in early:
            if job is follows:
                self._hear(job, news)

    def _begin(
        self,
        places: Sequence[str],
        settings: DeepLoreSettings,
        counter: TokenCounter,
        first: asyncio.Future[LibraryNews] | None = None,
        on_read: OnRead | None = None,
        known: VaultState | None = None,
    ) -> Job:
        """Open a library and keep it open until the job is stopped; whoever waits for its first news gets them."""

        async def work(job: Job) -> None:
            sources = await asyncio.to_thread(vault_sources, places, self._connections.keys)
            listener = LibraryListener(news=job, problem=job)
            with VaultCache(self._cache_file) as cache:
                made = Library(sources, settings, counter, cache=cache, listener=listener, known=known)
                async with made as library:
                    news = await library.open(on_read)
                    if first is not None and news.failures and not news.index.entries:
                        raise VaultError(news.failures[0])
                    if first is not None and not first.done():
                        first.set_result(news)
                    library.follow()
                    await asyncio.Event().wait()

        def failed(error: Exception) -> None:
            if first is not None and not first.done():
                first.set_exception(error)
            elif not isinstance(error, Cancelled):
                logger.error("following the vaults has failed", exc_info=error)
                self.failed.emit(str(error))

        title = tr("Following the vault")
        job = self._jobs.start(title, work, failed=failed, reported=lambda told: self._hear(job, told), standing=True)
        return job

    def _hear(self, job: Job, told: LibraryNews | str) -> None:
        if isinstance(told, str):
            self.failed.emit(told)
        elif job is not self._follows:
            self._early.append((job, told))
        else:
            if told.failures:
                self.failed.emit(" ".join(told.failures))
            elif self._away:
                self.back.emit()
            self._away = bool(told.failures)
            self.changed.emit(told)


class Reading(QObject):
    """Makes the project of what stands in files, one reading at a time, and hands it to the session.

    With `cache_file`, the cache of parsed vaults, changes on disk are followed. `unsaved` gives the files that have an
    unsaved text, whose notes stay until a person decides. `as_read` says that the vaults are on disk as they are shown,
    `taken_in` what of them was another there and is shown now, `beside_changed` that something beside the notes may be
    another there, such as a picture.
    """

    as_read = Signal()
    taken_in = Signal(str)
    beside_changed = Signal()

    def __init__(
        self,
        session: SessionState,
        runs: SessionRuns,
        parts: ProjectParts,
        cache_file: Path | None,
        demo_in: Path | None = None,
    ) -> None:
        super().__init__(session)
        self._demo_in = demo_in
        self._session, self._runs, self._parts = session, runs, parts
        self._follower = VaultFollower(session.jobs, session.connections, cache_file, self) if cache_file else None
        self._books: dict[Path, Job] = {}
        self._job: Job | None = None
        self._wanted: tuple[SystemKind, Callable[[], None]] | None = None
        session.state_changed.connect(self._read_wanted)
        session.project_replaced.connect(self._forget_wanted)
        self.unsaved: Callable[[], Collection[Path]] = lambda: ()
        self.at_once = False
        """Whether what changes in the vaults is taken in without asking, also where a run rests on what was read."""
        self._told = ""
        self._waiting: tuple[VaultState | None, LibraryNews] | None = None
        """What was told and not taken in, and the state of the vaults that it came after."""
        if self._follower is not None:
            session.project_shown.connect(self._follow_books)
            self._follower.changed.connect(self._vaults_changed)
            self._follower.failed.connect(lambda told: session.notice.emit(Notice(told, "warning", key="vault")))
            self._follower.back.connect(
                lambda: session.notice.emit(Notice(tr("The vault can be read again."), "good", key="vault"))
            )

    def open(
        self,
        vaults: Sequence[Path | str],
        chat: Path | None = None,
        settings: Path | None = None,
        key: str = "",
        then: Callable[[], None] = lambda: None,
        roles: Mapping[str, str] = MappingProxyType({}),
        *,
        read_only: bool = False,
    ) -> None:
        """Read vaults, and a chat and settings where given, off the GUI thread; then show them, and do what is next.

        What is in the cache is shown at once and compared with the disk afterwards. `key` is kept for a vault behind
        Obsidian's plugin; `roles` are those of lorebooks, in which nothing is written where they are `read_only`.
        """
        places = place_names(vaults)
        tokenizer = self._session.choices.tokenizer(places)

        async def work(job: Job) -> Project | Opened:
            on_read = _telling(job)
            if key:
                await asyncio.to_thread(keep_key, places[0], key, self._session.connections.keys)
            books = await asyncio.to_thread(lambda: any(map(is_lorebook, places)))
            if self._follower is None or books:  # lorebooks are in no cache
                opened = await asyncio.to_thread(open_project, vaults, chat, settings, 0, "", tokenizer, roles, on_read)
                return await self._as_chosen(replace(opened, read_only=read_only), on_read)
            return await self._follower.open(places, chat, settings, tokenizer, on_read)

        names = ", ".join(Path(place).name for place in places)
        self._read(names or (chat.name if chat is not None else tr("an empty project")), work, then)

    def open_demo(self, *, reset: bool = False) -> None:
        """Show the vault and chat that come with the program; `reset` undoes whatever was done to them."""
        self._read(tr("the demo"), lambda _job: demo_project(self._demo_in, reset=reset), anew=reset)

    def close(self) -> None:
        """Show no project, and follow its files no longer."""
        if self._follower is not None:
            self._follower.take(None)
        self._session.close_project()

    def open_practice(self) -> None:
        """Show a copy of the demo that is broken on purpose, made anew."""
        folder = practice_folder(self._demo_in or demo_folder())
        self._read(tr("the broken copy"), lambda _job: demo_project(folder, reset=True, broken=True), anew=True)

    def open_made(self, name: str, make: Callable[[], Project], then: Callable[[], None]) -> None:
        """Show what `make` reads, which is called off the GUI thread; then do what is next."""
        self._read(name, lambda _job: make(), then)

    def open_chat(self, path: Path) -> None:
        """Show another chat with the same vault, by the settings that the project came with."""
        project = self._session.project
        if project is not None:

            async def work(job: Job) -> Project:
                read = await asyncio.to_thread(lambda: project.as_given().with_chat(path))
                return await self._as_chosen(read, _telling(job))

            self._read(path.name, work)

    async def _as_chosen(self, project: Project, on_read: OnRead) -> Project:
        """The project, its lorebooks read as the system has them that was chosen for its chat."""
        chosen = self._session.choices.load(chat_id(project))
        kind = kind_of(project.system if chosen is None else chosen.system)
        return await asyncio.to_thread(project.read_for, kind, on_read)

    def read_for(self, kind: SystemKind, stopped: Callable[[], None]) -> bool:
        """Read lorebooks otherwise for a system, then choose it, and show and run the project so.

        False where they are read so already. What else is under way ends first, and of what is chosen meanwhile the
        last counts. Where a person stops it, the choice is as before, and `stopped` is called.
        """
        session, project = self._session, self._session.project
        if self._wanted is not None and self._job is not None:
            self._job.cancel()  # it was for another system, or this one was thought better of
        self._wanted = None
        if project is None or project.is_read_for(kind):
            return False
        self._wanted = kind, stopped
        session.choice_changed.emit()  # what shows a choice that a person made shows what holds
        self._read_wanted()
        return True

    def _read_wanted(self) -> None:
        session, project, wanted = self._session, self._session.project, self._wanted
        if self._job is not None or project is None or wanted is None:
            return
        kind, then = wanted
        name = tr("the lorebook for {system}", system=system_title(kind.name))

        def ended() -> bool:
            """Whether it was wanted to the end."""
            last, self._wanted = self._wanted is wanted, None if self._wanted is wanted else self._wanted
            session.set_activity("")
            return last

        def stopped() -> None:
            if ended():
                self._stopped(name)
                then()

        def failed(error: Exception) -> None:
            ended()
            session.report(error)

        def take(read: Project) -> None:
            now = session.project
            if not self.stoppable:  # it was read to its end before it could be stopped
                stopped()
            elif now is None or now.books != project.books or now.places != project.places:
                session.set_activity("")  # where it is wanted still, it is read once more after this
            elif ended():
                choice = session.choices.with_settings(replace(session.choice, system=kind.name))
                session.choices.save(chat_id(now), choice)
                why = tr("This run is of the entries as they were read for another system.")
                session.set_project(now.with_index_of(read), renewed=why)

        self._start(name, lambda job: project.read_for(kind, _telling(job)), take, failed, stopped)

    def _forget_wanted(self, _before: Project | None, _now: Project | None, renewed: str) -> None:
        if not renewed:
            self._wanted = self._waiting = None

    def reload(self) -> None:
        """Read the same files again; what was changed here and is in no file yet stays, as one step."""
        session = self._session
        project, on_disk = session.project, self._parts.on_disk
        if project is None or on_disk is None:
            return
        kept = Adjustment(tr("what was changed before reading again"), on_disk, Parts.of(project))

        def take(read: Project) -> None:
            lost = _lost(project, read.index, self.unsaved())
            if lost:
                session.set_activity("")
                text = tr("Nothing was read again: {names} is not on disk any more, and what you wrote there is not "
                          "saved. Write it again or throw it away first.", names=", ".join(lost))  # fmt: skip
                session.notice.emit(Notice(text, "warning", actions=("vault.reload",), key=VAULT_CHANGED))
                return
            self._opened(read)
            now = session.project
            if now is not None and kept.before != kept.after:
                before, mine = kept.before, kept.after
                parts = kept.forward(Parts.of(now))
                chat = now.chat
                if mine.chat is not None and mine.chat != before.chat:
                    chat = going_on(before.chat, now.chat)(mine.chat)
                clash = choices_clash(before.controls, mine.controls, now.controls)
                if clash or (chat is None and mine.chat is not None):
                    # Saving must find the file to be another one than what was changed here.
                    chat = mine.chat
                    session.project = replace(now, document=project.document)
                    self._parts.saved(chat=before.chat, controls=before.controls)
                    session.notice.emit(changed_on_both_sides(now))
                self._parts.adjust(
                    kept.title, settings=parts.settings, controls=parts.controls, behaviour=parts.behaviour,
                    chat=chat, basis=parts.basis,
                )  # fmt: skip

        def failed(error: Exception) -> None:
            session.set_activity("")
            if isinstance(error, VaultError):  # said until it could be read, and once
                session.notice.emit(Notice(sentence_of(error), "error", actions=("vault.reload",), key=VAULT_CHANGED))
            else:
                session.report(error)

        self._start(project.name, lambda job: project.reloaded(_telling(job)), take, failed)

    def take_at_once(self, *, at_once: bool) -> None:
        """Take in what changes in the vaults without asking, also what waits, or say it and wait from now on."""
        self.at_once = at_once
        if at_once:
            self._take_waiting()

    def note_moved(self, before: Path, now: Path) -> None:
        """Take in that another program gave a note another name, with whatever else was told of the vaults: links to
        it in other notes, say.
        """
        if not self._take_waiting():
            self.notes_written([before, now])

    def _take_waiting(self) -> bool:
        project, waiting = self._session.project, self._waiting
        if project is None or waiting is None or project.vault_state is not waiting[0]:
            return False
        self._vaults_changed(waiting[1], wanted=True)
        return True

    def notes_written(self, paths: Collection[Path]) -> None:
        """Take in notes that were written, made, moved or removed from here, and run the chat again with them."""
        session, project = self._session, self._session.project
        if project is None or not paths:
            return
        names = ", ".join(sorted(map(session.called, paths)))
        self._runs.stale = tr("{names} was saved after this replay. The results below are from before.", names=names)
        session.state_changed.emit()
        state = project.vault_state
        if any(book in (path, path.parent) for book in project.book_paths for path in paths):
            self._reread_books(project)
        if state is None:  # nobody knows what the index was made of
            return
        session.jobs.start(
            tr("Taking in what was saved"),
            lambda _job: EditedVaults(state, project.settings, project.counter).with_texts(_texts(project, paths)),
            done=lambda after: self._renew(paths, project, after), failed=session.fail,
        )  # fmt: skip

    def _follow_books(self) -> None:
        """Notice from now on what changes in the lorebooks that are shown."""
        paths = self._session.project.book_paths if self._session.project is not None else ()
        for gone in self._books.keys() - set(paths):
            self._books.pop(gone).cancel()
        for new in set(paths) - self._books.keys():
            self._books[new] = watch_file(self._session.jobs, new, self._books_changed, self)

    def _books_changed(self) -> None:
        if self._session.project is not None:
            self._reread_books(self._session.project, quietly=True)

    def _reread_books(self, project: Project, *, quietly: bool = False) -> None:
        """Show the lorebooks as they are on the disk, where they are others; `quietly`, a broken file waits."""

        def done(read: Project) -> None:
            now = self._session.project
            if now is not None and now.book_paths == project.book_paths and read.books != now.books:
                why = tr("Entries were changed after this run. The results below are from before.")
                indexed = now if now.places else now.with_index_of(read)
                self._session.set_project(replace(indexed, books=read.books), renewed=why)

        self._session.jobs.start(
            tr("Taking in what was saved"), lambda _report: project.with_books_reread(), done=done,
            failed=(lambda _error: None) if quietly else self._session.fail,
        )  # fmt: skip

    def follow(self) -> None:
        """Notice from now on what changes in the vaults of the project that is shown."""
        if self._session.project is not None and self._follower is not None:
            self._follower.follow(self._session.project)

    def follow_anew(self) -> None:
        """Follow the same vaults, which are read by other settings now."""
        if self._follower is not None:
            self._follower.take(None)
            self.follow()

    def _read(
        self, name: str, work: Callable[[Job], Any], done: Callable[[], None] = lambda: None, *, anew: bool = False
    ) -> None:
        """Show what `work` reads; of files that were made `anew`, nothing is known that was changed before."""

        def opened(project: Project | Opened) -> None:
            if anew and isinstance(project, Project):
                self._session.choices.forget_changes(chat_id(project))
            self._opened(project)
            done()

        def take(read: Project | Opened) -> None:
            if self.stoppable or anew or isinstance(read, Opened):
                self._recognise(read, opened)
            else:  # it was read to its end before it could be stopped; files that were made anew are shown all the same
                self._stopped(name)

        self._start(name, work, take)

    def _recognise(self, opened: Project | Opened, show: Callable[[Project | Opened], None]) -> None:
        """Show it, once what is known of its chat was brought along where the file was moved or has another name: its
        lorebooks are read then as the system has them that was chosen there.
        """
        session = self._session
        project = opened.project if isinstance(opened, Opened) else opened
        place, new = project.chat_path, chat_id(project)
        mark = str((project.chat or Chat()).metadata.get("integrity") or "")
        before = session.choices.place_before(new, place, mark) if place is not None and mark else None
        if place is None or before is None:
            show(opened)
            return
        old = chat_id(replace(project, chat_path=before))
        chosen = session.choices.load(old)

        def bring(_job: Job) -> Project | None:
            if before.exists():  # it is a branch or a copy
                return None
            if session.keep_in is not None:
                with RunStore(session.keep_in) as store:
                    store.move(old, new)
            return project if chosen is None else project.read_for(kind_of(chosen.system))

        def done(brought: Project | None) -> None:
            if brought is not None:
                session.choices.move(old, new, place, mark)
                session.notice.emit(Notice(tr("This chat was {path} before; it is run as it was there.", path=before)))
            show(opened if brought is None or isinstance(opened, Opened) else brought)

        def failed(error: Exception) -> None:
            session.report(error)
            show(opened)

        session.jobs.start(tr("Looking where the chat was before"), bring, done=done, failed=failed)

    def _start(
        self,
        name: str,
        work: Callable[[Job], Any],
        take: Callable[[Any], None],
        failed: Callable[[Exception], None] | None = None,
        stopped: Callable[[], None] | None = None,
    ) -> None:
        session = self._session
        if session.busy:
            return
        text = tr("Reading {name}…", name=name)

        def reported(far: tuple[int, int]) -> None:
            if self.stoppable:  # what is compared with the disk afterwards is told nobody
                session.set_activity(tr("{reading} {done} of {total}", reading=text, done=number(far[0]),
                                        total=number(far[1])))  # fmt: skip

        def ended_badly(error: Exception) -> None:
            if isinstance(error, Cancelled):
                (stopped or partial(self._stopped, name))()
            else:
                (failed or session.fail)(error)

        self._job = session.jobs.start(
            text, work, done=take, failed=ended_badly, reported=reported, ended=self._ended, owner=self
        )
        session.set_activity(text)

    def _stopped(self, name: str) -> None:
        self._session.set_activity("")
        self._session.notice.emit(Notice(tr("{name} was not read: you stopped it.", name=name), key="opened"))

    @property
    def stoppable(self) -> bool:
        """Whether something is read that can be stopped."""
        return self._job is not None and not self._job.cancelled

    def cancel(self) -> None:
        """Stop reading; what was shown before stays."""
        if self._job is not None:
            self._job.cancel()
            self._session.set_activity(tr("Stopping…"))

    def _ended(self) -> None:
        self._job = None
        self._session.state_changed.emit()

    def _opened(self, opened: Project | Opened) -> None:
        session, before = self._session, self._session.project
        session.set_activity("")
        project, follows = (opened.project, opened.follows) if isinstance(opened, Opened) else (opened, None)
        alike = before is not None and before.places == project.places and before.reads_alike(project.settings)
        session.set_project(project)
        if self._follower is not None and (follows is not None or not alike):
            self._follower.take(follows)
        self.follow()

    def _renew(self, paths: Collection[Path], project: Project, state: VaultState) -> None:
        now = self._session.project
        if now is None or now.places != project.places:
            return  # another vault is shown by now
        if now.vault_state is not project.vault_state:
            self.notes_written(paths)  # something else was taken in meanwhile
            return
        why = tr("Notes were saved after this run. The results below are from before.")
        self._session.set_project(replace(now, index=state.index, vault_state=state), renewed=why)

    def _vaults_changed(self, news: LibraryNews, *, wanted: bool = False) -> None:
        """The vaults are not as they were read: taken in at once where nothing rests on what was read, else said.

        What rests on it is a run, unless a person wants it so, or an unsaved text of a note that is gone.
        """
        session, project = self._session, self._session.project
        if project is None or not news.confirmed:
            return
        if not news.changed:
            if news.reason is RefreshReason.CHANGED_ON_DISK:
                self.beside_changed.emit()
            return
        if news.index.digest == project.index.digest:
            self._waiting = None
            if self._told and self._runs.stale == self._told:
                self._runs.stale = ""
                session.state_changed.emit()
            self.as_read.emit()
            return
        changes = changes_text(changes_between(project.index, news.index)) or tr("notes have changed")
        told = tr("The vault has changed on disk: {changes}.", changes=changes)
        why = tr("{told} The results below are from before.", told=told)
        opened = news.reason is RefreshReason.OPENED
        wanted = wanted or self.at_once
        free = not session.busy or (wanted and self._runs.replaying)  # what is read would take its place
        may = free and (wanted or opened or not self._runs.traces)
        if may and not _lost(project, news.index, self.unsaved()):
            now = replace(project, index=news.index, vault_state=news.state)
            session.set_project(now, renewed="" if opened else why)
            if not opened:
                self.taken_in.emit(told)
            return
        self._runs.stale = self._told = why
        self._waiting = project.vault_state, news
        session.state_changed.emit()
        ways = ("vault.reload",) if self.at_once else ("vault.reload", "vault.at_once")
        session.notice.emit(Notice(told, "warning", actions=ways, key=VAULT_CHANGED))


def _telling(job: Job) -> OnRead:
    """What reading tells how far it is, not too often; it ends where the job was stopped."""
    beat = Beat(REPORT_SECONDS)

    def on_read(done: int, total: int) -> None:
        heed(job.token)
        if beat.due():
            job((done, total))

    return on_read


def _lost(project: Project, after: VaultIndex, unsaved: Collection[Path]) -> list[str]:
    """The files with an unsaved text whose notes are in this index no more."""
    gone = project.index.note_keys - after.note_keys if unsaved else frozenset()
    return sorted(path.name for path in unsaved if project.note_place(path) in gone)


def _texts(project: Project, paths: Collection[Path]) -> list[NoteText]:
    """What stands in the files now, None for one that is gone. Raises VaultError where one cannot be read."""
    found = []
    for path in paths:
        place = project.note_place(path)
        if place is not None and path.suffix.lower() == ".md":
            found.append(NoteText(*place, read_note(path)[0] if path.exists() else None))
    return found
