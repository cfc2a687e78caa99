"""The endpoint for live capture in the window: switched on and off, and what it has kept. Everything waits in jobs."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path

from msgspec import Struct
from PySide6.QtCore import QObject, Signal

from lorestudio.domain.records import replace
from lorestudio.settings.attach import AttachSettings
from lorestudio.studio.attach.attaching import attached
from lorestudio.studio.attach.captures import Attachment, Capture, Captures, keep_attachment, load_attachment
from lorestudio.studio.attach.comparing import ComparedCapture, beside_replies, captured_answers
from lorestudio.studio.attach.endpoint import Endpoint, new_token
from lorestudio.studio.project.project import Project
from lorestudio.studio.replay.simulator import Simulator
from lorestudio.systems.registry import kind_of, system_of
from lorestudio.ui.shell.jobs import Job, Jobs, Newest
from lorestudio.ui.shell.words import tr
from lorestudio.ui.state.choices import RunChoice


class KeptCaptures(Struct, frozen=True):
    """What is on the disk: settings and token, the captures without their bodies, their bytes, and what is wrong."""

    attachment: Attachment
    captures: tuple[Capture, ...] = ()
    size: int = 0
    problems: tuple[str, ...] = ()


def _look(folder: Path) -> KeptCaptures:
    store = Captures(folder)
    captures = store.list()
    return KeptCaptures(load_attachment(folder), captures, store.size(), tuple(store.problems))


class LiveCapture(QObject):
    """`changed` follows whatever there is to see: listening or not, what came, and what is kept. `failed` has an error.

    Until `use` names a folder, nothing can be kept and so nothing listens.
    """

    changed = Signal()
    failed = Signal(object)
    _told = Signal()  # from the endpoint's thread

    def __init__(self, jobs: Jobs, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._jobs, self._newest = jobs, Newest(jobs)
        self._folder: Path | None = None
        self.endpoint: Endpoint | None = None
        self._store: Captures | None = None  # what the endpoint keeps in
        self.kept = KeptCaptures(Attachment())
        self.busy = self._closed = False
        self._told.connect(self._hear)

    @property
    def listens(self) -> bool:
        """Whether anything can come in."""
        return self.endpoint is not None

    @property
    def ready(self) -> bool:
        """Whether there is a folder to keep captures in."""
        return self._folder is not None

    def use(self, folder: Path) -> None:
        """Keep captures, port and token in this folder."""
        self._folder = folder

    def read(self) -> None:
        """Look again at what is kept; `changed` follows."""
        folder = self._folder
        if folder is not None:
            self._newest.start(
                tr("Reading captures"), lambda _job: _look(folder), done=self._take, failed=self.failed.emit, owner=self
            )

    def listen(self, provider: str, *, renew: bool = False) -> None:
        """Begin to listen between SillyTavern and the provider there; `renew`, with another port and token."""
        folder = self._folder
        if folder is None or self.listens or self.busy:
            return

        def work() -> tuple[Endpoint, Captures]:
            known = load_attachment(folder)
            settings = known.settings.model_copy(update={"provider": provider} | ({"port": 0} if renew else {}))
            store = Captures(folder, settings)
            token = new_token() if renew else known.token
            endpoint = attached(folder, Attachment(settings, token), store, self._told.emit)
            if self._closed:  # nobody hears of it any more
                endpoint.stop()
            return endpoint, store

        def done(begun: tuple[Endpoint, Captures]) -> None:
            self.endpoint, self._store = begun

        self._work(tr("Beginning to listen"), work, done)

    def end(self) -> None:
        """Listen no longer; streams end first, for some seconds at most."""
        endpoint, self.endpoint = self.endpoint, None
        if endpoint is not None:
            self._work(tr("Ending live capture"), endpoint.stop)

    def limit(self, days: int, mebibytes: int) -> None:
        """Keep captures so long, and so many of them; what is older or more is deleted at once."""
        folder = self._folder
        if folder is None:
            return
        store = self._store or Captures(folder)

        def work() -> None:
            known = load_attachment(folder)
            settings: AttachSettings = known.settings.model_copy(
                update={"keep_days": days, "keep_mebibytes": mebibytes}
            )
            keep_attachment(folder, replace(known, settings=settings))
            store.settings = settings
            store.prune()

        self._work(tr("Deleting old captures"), work)

    def delete(self, ids: Sequence[str]) -> None:
        """Delete these captures for good."""
        self._with_store(tr("Deleting captures"), lambda store: store.delete(ids))

    def redact(self, ids: Sequence[str]) -> None:
        """Mask every letter and digit of their texts for good."""
        self._with_store(tr("Redacting captures"), lambda store: [store.redact(each) for each in ids])

    def whole(self, name: str, done: Callable[[Capture], object]) -> None:
        """Read a capture with its bodies."""
        folder = self._folder
        if folder is not None:
            self._jobs.start(
                tr("Reading a capture"), lambda _job: Captures(folder).read(name), done=done, failed=self.failed.emit,
                owner=self,
            )  # fmt: skip

    def compare(
        self,
        project: Project,
        choice: RunChoice,
        done: Callable[[tuple[ComparedCapture, ...]], object],
        *,
        keep: bool,
    ) -> None:
        """Find the reply that each capture made, and hold its lore against the run of that turn by what is chosen.

        With `keep` the captures answer AI selection, and that is recorded beside the chat. Asks nobody else.
        """
        folder, path = self._folder, project.chat_path
        if folder is None:
            return

        def work(_job: Job) -> tuple[ComparedCapture, ...]:
            store = Captures(folder)
            kept = [store.read(each.id) for each in store.list()]
            kind = kind_of(choice.system)
            answers = captured_answers(kept, path, kind) if keep and path is not None else ()
            simulator = Simulator(project, system_of(project.scene(*answers), kind, choice.settings))
            return asyncio.run(beside_replies(simulator, kept, whole=keep))

        self._jobs.start(tr("Comparing captures with the chat"), work, done=done, failed=self.failed.emit, owner=self)

    def close(self) -> None:
        """Listen no longer; waits until it is so. For the end of the window."""
        self._closed = True
        endpoint, self.endpoint = self.endpoint, None
        if endpoint is not None:
            endpoint.stop()

    # ---- inside -----------------------------------------------------------------------------------------------------

    def _with_store(self, title: str, work: Callable[[Captures], object]) -> None:
        folder = self._folder
        if folder is not None:
            self._work(title, lambda: work(Captures(folder)))

    def _work(self, title: str, work: Callable[[], object], done: Callable[..., object] = lambda _none: None) -> None:
        def ended() -> None:
            self.busy = False
            self.changed.emit()
            self.read()

        self.busy = True
        self.changed.emit()
        self._jobs.start(title, lambda _job: work(), done=done, failed=self.failed.emit, ended=ended, owner=self)

    def _hear(self) -> None:
        self.changed.emit()
        self.read()

    def _take(self, kept: KeptCaptures) -> None:
        self.kept = kept
        self.changed.emit()
