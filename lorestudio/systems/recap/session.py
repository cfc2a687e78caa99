"""Recap memory of one open chat: what a person can ask of it, and the work on its queue.

The queue in its file beside the chat, `<chat>.recap-queue.json`: whole at every moment (spec: recap-memory 6.1).

What the work on a queue would cost: it is done once with the offline stand-in, in memory, and counted.

What the front ends need to know of recap memory beside a session: its settings, and how far a queue is.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from lorestudio.domain.javascript import Json, truthy
from lorestudio.domain.tokens import CHARS_4, TokenCounter
from lorestudio.exchange.problems import InputError
from lorestudio.llm.cost import CostEstimate, estimate
from lorestudio.llm.messages import AnswerSource, ChatReply, ChatRequest
from lorestudio.llm.stand_in import StandInAnswers
from lorestudio.settings.files import json_bytes, parse_json, read_bytes, write_atomically
from lorestudio.settings.recap import LoadedRecapSettings, RecapSettings, load_recap_settings, recap_declarations
from lorestudio.systems.recap import scenes, triggers
from lorestudio.systems.recap.chain import scene_operation
from lorestudio.systems.recap.chat import RecapChat
from lorestudio.systems.recap.chat_file import ChatBook
from lorestudio.systems.recap.context import WorkContext
from lorestudio.systems.recap.edits import RecapEdits
from lorestudio.systems.recap.inclusion import Surroundings
from lorestudio.systems.recap.lifecycle import Cleared
from lorestudio.systems.recap.message_recaps import recap_operation
from lorestudio.systems.recap.queue import NewOperation, OperationType, Priority, QueueState, read_queue, write_queue
from lorestudio.systems.recap.refresh import Refresh, refreshed
from lorestudio.systems.recap.requests import Preset, read_preset
from lorestudio.systems.recap.running_work import combine_operation, running_operation
from lorestudio.systems.recap.tracing import recap_trace
from lorestudio.systems.recap.work import MemoryBook, RecapWork
from lorestudio.systems.recap.worker import QueueProgress, Worker
from lorestudio.trace.model import AiCall, Trace
from lorestudio.vault.data_folder import default_folder, place_key
from lorestudio.vault.file_lock import FileLock
from lorestudio.vault.writer import digest_of

__all__ = ["LoadedRecapSettings", "QueueProgress", "RecapSettings", "keep_recap_settings", "recap_settings"]


_ENDING: Final = ".recap-queue.json"


def queue_path(chat: Path) -> Path:
    """The file of the queue that belongs to a chat file."""
    return chat.with_name(f"{chat.stem}{_ENDING}")


def load_queue(path: Path) -> tuple[QueueState, tuple[str, ...]]:
    """The queue, and a sentence where its file was damaged; that is moved aside and a new queue is begun.

    Raises InputError where it cannot be read.
    """
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return QueueState(), ()
    except OSError as error:
        raise InputError(path, f"the queue cannot be read: {error.strerror or error}.") from error
    try:
        text = data.decode("utf-8")
        sound = isinstance(json.loads(text), dict)
    except (UnicodeDecodeError, ValueError, RecursionError):
        text, sound = "", False
    if sound:
        return replace(read_queue(text), current=None), ()
    aside = _aside(path)
    try:
        path.replace(aside)
    except OSError as error:
        raise InputError(path, f"the queue is damaged and cannot be moved: {error.strerror or error}.") from error
    return QueueState(), (f"{path.name} was damaged; it is now {aside.name}, and a new queue was begun.",)


def save_queue(path: Path, state: QueueState) -> None:
    """Write the queue; an empty one that never had anything in it leaves no file. Raises InputError."""
    if state == QueueState() and not path.exists():
        return
    document: Json = write_queue(state)
    try:
        write_atomically(path, json.dumps(document, ensure_ascii=False, indent=1).encode("utf-8", "backslashreplace"))
    except OSError as error:
        raise InputError(path, f"the queue cannot be written: {error.strerror or error}.") from error


def _aside(path: Path) -> Path:
    number = 1
    while (found := path.with_name(f"{path.name}.damaged-{number}")).exists():
        number += 1
    return found


RESCAN_KEY: Final = "forceFullRescan"
"""In the queue's file: the next search for breaks begins at the first message, because everything was cleared."""


@dataclass(slots=True, eq=False)
class RecapSession:
    """An open chat with its queue. One event loop uses it.

    `problems` are sentences about what could not be read; `calls` are the questions asked since it was opened.
    """

    path: Path
    book: ChatBook
    worker: Worker
    context: WorkContext
    problems: tuple[str, ...] = ()
    calls: list[AiCall] = field(default_factory=list)
    _lock: FileLock | None = None
    _task: asyncio.Task[object] | None = None

    @classmethod
    def open(
        cls,
        path: Path,
        settings: RecapSettings | None = None,
        answers: AnswerSource | None = None,
        *,
        counter: TokenCounter = CHARS_4,
        context_size: int = 0,
        model: str = "",
        on_progress: Callable[[QueueProgress], None] | None = None,
    ) -> RecapSession:
        """Open a chat file and the queue beside it. Raises InputError or SettingsError; waits for the disk.

        Without `answers`, the offline stand-in answers. `context_size` is the room of the model for prompts.
        """
        settings = settings or RecapSettings()
        book = ChatBook.open(path)
        state, problems = load_queue(queue_path(path))
        calls: list[AiCall] = []
        context = WorkContext(
            Surroundings(settings, counter),
            answers or StandInAnswers(),
            load_presets(settings),
            context_size,
            model,
            on_call=calls.append,
        )
        worker = Worker(state, RecapWork(book, context), settings.max_retries, on_progress=on_progress)
        session = cls(path, book, worker, context, (*book.file.problems, *problems), calls)
        worker.keep = session.keep
        return session

    @staticmethod
    def has_queue(path: Path) -> bool:
        """Whether a queue lies beside a chat file."""
        return queue_path(path).exists()

    @property
    def chat(self) -> RecapChat:
        """The chat as it is now."""
        return self.book.chat

    @property
    def queue(self) -> QueueState:
        """The queue as it is now."""
        return self.worker.state

    @property
    def settings(self) -> RecapSettings:
        """The settings of recap memory."""
        return self.context.settings

    @property
    def edits(self) -> RecapEdits:
        """What a person changes."""
        return RecapEdits(self.path, self.book, self.context)

    def use(
        self, settings: RecapSettings, answers: AnswerSource | None = None, model: str = "", context_size: int = 0
    ) -> None:
        """Go on with other settings, and with this source of answers. Raises InputError or SettingsError."""
        around = replace(self.context.around, settings=settings)
        self.context = replace(
            self.context,
            around=around,
            answers=answers or self.context.answers,
            model=model,
            context_size=context_size,
            presets=load_presets(settings),
        )
        self.worker.performer = RecapWork(self.book, self.context)
        self.worker.max_retries = settings.max_retries

    def refreshed(self) -> Refresh:
        """What is included, hidden and injected now; nothing is written."""
        return refreshed(self.chat, self.context.around, self.context.context_size)

    def trace(self) -> Trace:
        """The same as a trace, with the questions asked since the chat was opened."""
        counter, size = self.context.around.counter, self.context.context_size
        return recap_trace(self.refreshed(), self.settings, counter, context_size=size, calls=self.calls)

    async def keep(self, state: QueueState) -> None:
        """Write the queue."""
        await asyncio.to_thread(save_queue, queue_path(self.path), state)

    async def close(self) -> None:
        """End the work on the queue, write what is not written yet, and let go of the chat. Raises InputError."""
        if self._task is not None and self._task is not asyncio.current_task():
            self._task.cancel()
            await asyncio.wait({self._task})
        try:
            await self.book.close()
        finally:
            self.release()

    # The queue

    def hold(self) -> None:
        """Work on this chat's queue alone. Raises InputError where another lorestudio does."""
        if self._lock is not None:
            return
        folder = default_folder() / "recap"
        lock = FileLock(folder / f"{digest_of(place_key(self.path).encode('utf-8', 'surrogateescape'))[:32]}.lock")
        try:
            folder.mkdir(parents=True, exist_ok=True)
            held = lock.try_acquire()
        except OSError as error:
            raise InputError(folder, f"the folder cannot be used: {error.strerror or error}.") from error
        if not held:
            raise InputError(self.path, "another lorestudio is working on the recaps of this chat. Let it finish.")
        self._lock = lock
        self.worker.state, told = load_queue(queue_path(self.path))
        self.problems = (*self.problems, *told)

    @property
    def is_held(self) -> bool:
        """Whether this session has the queue for itself."""
        return self._lock is not None

    def release(self) -> None:
        """Let others work on the queue."""
        lock, self._lock = self._lock, None
        if lock is not None:
            with suppress(OSError):
                lock.release(delete=True)

    async def work(self) -> None:
        """Work through the queue until nothing is ready or it is paused. Raises InputError."""
        self.hold()
        self._task = asyncio.current_task()
        try:
            await self.worker.run()
        finally:
            self._task = None
            self.release()

    async def restore(self, state: QueueState) -> None:
        """Give the queue a state that it had before, and write it."""
        self.worker.state = state
        await self.keep(state)

    async def enqueue(self, operations: Iterable[NewOperation]) -> tuple[str, ...]:
        """Queue operations; the ids of those that were taken."""
        ids = [await self.worker.enqueue(operation) for operation in operations]
        return tuple(identifier for identifier in ids if identifier is not None)

    async def enqueue_missing(self) -> tuple[str, ...]:
        """Queue everything that is due: recaps of messages and bookmarks, and the search for breaks."""
        rescan = truthy(self.queue.extra.get(RESCAN_KEY))
        found = triggers.everything_missing(self.chat, self.queue, self.context, 0 if rescan else None)
        if rescan:
            await self._mark_rescan(wanted=False)
        return await self.enqueue(found)

    async def enqueue_recap(self, index: int) -> tuple[str, ...]:
        """Queue the recap of one message."""
        self.edits.message(index)
        return await self.enqueue([recap_operation(index)])

    async def enqueue_scene(self, index: int, *, manual: bool = False) -> tuple[str, ...]:
        """Queue the recap of the scene that ends at a break. `manual` leaves the running recap alone.

        Raises InputError where there is no break, or where its recap is locked.
        """
        self.edits.message(index)
        if index not in self.chat.breaks:
            raise InputError(self.path, f"message {index} ends no scene. Set a scene break there first.")
        self.edits.check_lock(index)
        return await self.enqueue([scene_operation(index, Priority.NORMAL, manual=manual)])

    async def enqueue_search(self) -> tuple[str, ...]:
        """Queue the search for a scene break. Raises InputError where the queue is busy or there is too little."""
        if not self.queue.is_idle:
            raise InputError(self.path, "the queue is at work. Search for scene breaks when it has finished.")
        found = triggers.search(self.chat, self.queue, self.context)
        if not found:
            least = self.settings.auto_scene_break_minimum_scene_length
            left = self.settings.auto_scene_break_message_offset
            raise InputError(
                self.path,
                f"there are too few messages since the last break: {least + 1} are needed, and the newest {left} are "
                "left alone. Lower “Shortest scene” or “Left alone”, or go on with the story.",
            )
        return await self.enqueue(found)

    async def enqueue_combine(self, index: int) -> tuple[str, ...]:
        """Queue the work of one scene into the running recap. Raises InputError where it has no recap or is locked."""
        if not scenes.has_recap(self.edits.message(index)):
            raise InputError(self.path, f"the scene that ends at message {index} has no recap. Have it made first.")
        self.edits.check_lock(index)
        where = scenes.display_range(self.chat.breaks, self.chat.recaps, index)
        return await self.enqueue([combine_operation(index, where)])

    async def enqueue_running(self) -> tuple[str, ...]:
        """Queue the running recap of all scenes. Raises InputError where no scene has a recap."""
        if not self.chat.recaps:
            raise InputError(self.path, "no scene has a recap yet. Have one made first.")
        queued = any(item.type == OperationType.RUNNING for item in self.queue.operations)
        return () if queued else await self.enqueue([running_operation()])

    async def clear_all(self) -> Cleared:
        """Take everything of recap memory out of the chat; the next search begins at the first message."""
        counts = [Cleared()]

        def clear(chat: RecapChat) -> RecapChat:
            chat, counts[0] = chat.cleared()
            return chat

        await self.worker.clear()
        await self.book.change(clear)
        await self._mark_rescan(wanted=True)
        return counts[0]

    async def _mark_rescan(self, *, wanted: bool) -> None:
        extra = {key: value for key, value in self.queue.extra.items() if key != RESCAN_KEY}
        await self.restore(replace(self.queue, extra={**extra, RESCAN_KEY: True} if wanted else extra))


def load_presets(settings: RecapSettings) -> dict[str, Preset]:
    """The presets that the settings name, by their paths. Raises SettingsError or InputError."""
    names = (
        settings.message_recap_preset,
        settings.scene_recap_preset,
        settings.detection_preset,
        settings.running_scene_recap_preset,
    )
    presets: dict[str, Preset] = {}
    for name in names:
        if name and name not in presets:
            path = Path(name).expanduser()
            document = parse_json(read_bytes(path), path)
            try:
                presets[name] = read_preset(document)
            except ValueError as error:
                raise InputError(path, f"this is no preset: {error}.") from error
    return presets


@dataclass(slots=True)
class _Counted:
    """The stand-in, with its questions kept."""

    requests: list[ChatRequest] = field(default_factory=list)
    name: str = "stand-in"
    label: str = "offline stand-in"

    async def answer(self, request: ChatRequest) -> ChatReply:
        self.requests.append(request)
        return await StandInAnswers().answer(request)


async def recap_cost(session: RecapSession) -> CostEstimate:
    """What the queue costs with a provider. A model that finds other scenes asks more, or less."""
    counted = _Counted()
    context = replace(session.context, answers=counted, on_call=None)
    state = replace(session.queue, paused=False)
    await Worker(state, RecapWork(MemoryBook(session.chat), context), max_retries=1).run()
    return estimate(counted.requests, context.around.counter)


def recap_settings(path: Path | None) -> LoadedRecapSettings:
    """The settings of a file, or the ones that come with the program. Raises SettingsError."""
    return LoadedRecapSettings(RecapSettings()) if path is None else load_recap_settings(path)


def keep_recap_settings(path: Path, settings: RecapSettings) -> None:
    """Write the settings that differ from the defaults; keys of the file that are not known here stay.

    Raises SettingsError where the file that is there cannot be read, InputError where it cannot be written.
    """
    there = parse_json(read_bytes(path), path) if path.exists() else {}
    known = recap_declarations()
    names = {each.name for each in known}
    kept = {key: value for key, value in there.items() if key not in names} if isinstance(there, Mapping) else {}
    changed = {each.name: getattr(settings, each.name) for each in known}
    document: dict[str, Json] = kept | {
        each.name: changed[each.name] for each in known if changed[each.name] != each.default
    }
    try:
        write_atomically(path, json_bytes(document))
    except OSError as error:
        raise InputError(path, f"the settings cannot be written: {error.strerror or error}.") from error
