"""Recap memory of one open chat: what a person changes and asks of it, the work on its queue, and what that would cost.

The cost is counted: the work is done once with the offline stand-in, in memory. What happens to the chat, here or
elsewhere, queues the work that follows from it (rules: recap-memory 7.1, 12.1, 19).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from difflib import SequenceMatcher
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Final

from msgspec import Struct

from lorestudio.domain.javascript import truthy
from lorestudio.domain.records import replace, same_ends
from lorestudio.domain.tokens import CHARS_4, TokenCounter
from lorestudio.exchange.problems import InputError
from lorestudio.llm.cost import CostEstimate, RequestCollector, estimate
from lorestudio.llm.messages import RECAP, RECAP_STAGES, RUNNING_RECAP, SCENE_RECAP, AnswerSource
from lorestudio.llm.stand_in import StandInAnswers
from lorestudio.settings.files import parse_json, read_bytes
from lorestudio.settings.recap import RecapSettings
from lorestudio.systems.recap.asking import QuestionPreset, WorkContext, read_preset
from lorestudio.systems.recap.chat import Cleared, RecapChat, RecapSurroundings
from lorestudio.systems.recap.chat_file import ChatBook
from lorestudio.systems.recap.message_recaps import candidates, exclusion, recap_operation, too_far_back
from lorestudio.systems.recap.queue import (
    NewOperation,
    OperationType,
    Priority,
    QueueState,
    load_queue,
    queue_path,
    save_queue,
)
from lorestudio.systems.recap.records import (
    Record,
    edit_memory,
    get_data,
    get_memory,
    message_text,
    previous_swipe_value,
    set_data,
)
from lorestudio.systems.recap.refresh import Refresh, refreshed
from lorestudio.systems.recap.scenes import scenes
from lorestudio.systems.recap.scenes.breaks import detect_operation, detection_range, scene_operation
from lorestudio.systems.recap.scenes.recaps import combine_operation, running_operation
from lorestudio.systems.recap.tracing import recap_trace
from lorestudio.systems.recap.worker import MemoryBook, RecapWork, Worker
from lorestudio.trace.model import AiCall, Trace
from lorestudio.trace.wording import plural
from lorestudio.vault.file_lock import FileLock
from lorestudio.vault.files import LOOK_THERE, default_folder, place_key, refused
from lorestudio.vault.writer import digest_of


class MessageEvent(StrEnum):
    """What can happen to a message."""

    WRITTEN = "written"
    PUT_IN = "put in"
    EDITED = "edited"
    SWIPED = "swiped"
    DELETED = "deleted"


class MessageHappening(Struct, frozen=True):
    """One message to which something happened; of a deleted one the position is that from before."""

    event: MessageEvent
    index: int


_MOVING: Final = (MessageEvent.DELETED, MessageEvent.PUT_IN)
"""What moves the messages behind it; nothing is due for it."""


def happenings(before: RecapChat, after: RecapChat) -> tuple[MessageHappening, ...]:
    """What happened between two states of a chat, as far as it can be told.

    Messages are told apart by speaker, text and active swipe, and known again where others before them came or went.
    Where a stretch was replaced by one of another length, nothing is told of it.
    """
    old, new = before.messages, after.messages
    head, tail = same_ends(old, new, _same)
    one, other = ([*map(_seen, messages[head : len(messages) - tail])] for messages in (old, new))
    found: list[MessageHappening] = []
    for _tag, first, behind, start, end in SequenceMatcher(None, one, other, autojunk=False).get_opcodes():
        gone, come, is_last = behind - first, end - start, head + end == len(new)
        if not come:
            found += [MessageHappening(MessageEvent.DELETED, head + place) for place in range(first, behind)]
        elif not gone and not is_last:
            found += [MessageHappening(MessageEvent.PUT_IN, head + place) for place in range(start, end)]
        elif gone == come or (come > gone and is_last):
            pairs = ((old[head + first + place], new[head + start + place]) for place in range(gone))
            found += [
                _changed_message(was, now, head + start + place)
                for place, (was, now) in enumerate(pairs)
                if not _same(was, now)
            ]
            found += [MessageHappening(MessageEvent.WRITTEN, head + place) for place in range(start + gone, end)]
    return tuple(found)


def _changed_message(old: Record, new: Record, index: int) -> MessageHappening:
    swiped = (old.get("swipe_id") or 0) != (new.get("swipe_id") or 0)
    return MessageHappening(MessageEvent.SWIPED if swiped else MessageEvent.EDITED, index)


def _same(one: Record, other: Record) -> bool:
    return _seen(one) == _seen(other)


def _seen(message: Record) -> str:
    return repr(
        (message.get("name"), bool(message.get("is_user")), message_text(message), message.get("swipe_id") or 0)
    )


def due_recaps(chat: RecapChat, queue: QueueState, ctx: WorkContext) -> tuple[NewOperation, ...]:
    """Recaps of the messages whose turn has come and that are not queued already."""
    queued = {item.params.get("index") for item in queue.operations if item.type == OperationType.RECAP}
    return tuple(recap_operation(index) for index in candidates(chat.messages, ctx.around) if index not in queued)


def search(
    chat: RecapChat, queue: QueueState, ctx: WorkContext, start: int | None = None, end: int | None = None
) -> tuple[NewOperation, ...]:
    """The search for a break; none while the queue has anything to do, or where there is too little to look through."""
    settings = ctx.settings
    found = queue.is_idle and detection_range(
        chat.messages,
        chat.breaks,
        offset=settings.auto_scene_break_message_offset,
        least=settings.auto_scene_break_minimum_scene_length,
        which=settings.auto_scene_break_check_which_messages,
        start=start,
        end=end,
    )
    if not found:
        return ()
    return (detect_operation(found.start, found.end, found.offset, metadata=found.metadata),)


def on_message(
    chat: RecapChat, index: int, queue: QueueState, ctx: WorkContext, *, swiped: bool = False
) -> tuple[NewOperation, ...]:
    """What a new message brings on: recaps that are due, and after a reply the search for a break.

    A swipe brings on no search while the newest messages are left alone anyway.
    """
    settings = ctx.settings
    if not settings.enabled:
        return ()
    is_user = truthy(chat.messages[index].get("is_user"))
    recaps = due_recaps(chat, queue, ctx) if settings.auto_recap else ()
    looks = settings.auto_scene_break_on_new_message and not is_user
    if not looks or (swiped and settings.auto_scene_break_message_offset >= 1):
        return recaps
    return (*recaps, *search(chat, queue, ctx, end=index))


def on_edit(chat: RecapChat, index: int, ctx: WorkContext) -> tuple[NewOperation, ...]:
    """An edited message that has a recap gets a new one."""
    wanted = ctx.settings.auto_recap_on_edit and get_memory(chat.messages[index])
    return (recap_operation(index),) if wanted and _takes_part(chat, index, ctx) else ()


def on_swipe(chat: RecapChat, index: int, ctx: WorkContext) -> tuple[NewOperation, ...]:
    """A new swipe gets a recap where the one before it had one."""
    message = chat.messages[index]
    wanted = ctx.settings.auto_recap_on_swipe and not truthy(get_data(message, "memory"))
    follows = wanted and previous_swipe_value(message, "memory")
    return (recap_operation(index),) if follows and _takes_part(chat, index, ctx) else ()


def _takes_part(chat: RecapChat, index: int, ctx: WorkContext) -> bool:
    return ctx.settings.enabled and exclusion(chat.messages[index], ctx.around).included


def on_load(chat: RecapChat, queue: QueueState, ctx: WorkContext) -> tuple[RecapChat, tuple[NewOperation, ...]]:
    """Opening a chat: where it is wanted, everything before the last break counts as looked through, the rest is."""
    settings = ctx.settings
    if not settings.enabled or not settings.auto_scene_break_on_load:
        return chat, ()
    if chat.breaks:
        chat = chat.checked(0, chat.breaks[-1])
    return chat, search(chat, queue, ctx)


def everything_missing(
    chat: RecapChat, queue: QueueState, ctx: WorkContext, start: int | None = None
) -> tuple[NewOperation, ...]:
    """For a person who asks for all of it: recaps that are due, recaps of bookmarks, and the search for breaks.

    The search begins at `start` where that is given.
    """
    queued = {item.params.get("index") for item in queue.operations if item.type == OperationType.SCENE_RECAP}
    known = frozenset(chat.recaps)
    scenes = tuple(
        scene_operation(index, Priority.SCENE_RECAP)
        for index in chat.breaks
        if index not in known and index not in queued
    )
    recaps = due_recaps(chat, queue, ctx) if ctx.settings.auto_recap else ()
    return (*recaps, *scenes, *search(chat, queue, ctx, start))


class RecapEdits(Struct, frozen=True):
    """Changes to the open chat. Each raises InputError where it cannot be made or written."""

    path: Path
    book: ChatBook
    context: WorkContext

    async def refresh(self) -> Refresh:
        """Bring the chat up to date and write it."""
        return await self._changed(lambda chat: chat)

    async def toggle_break(self, index: int) -> Refresh:
        """Set, hide or show a scene break."""
        self.message(index)
        return await self._changed(lambda chat: chat.with_messages(scenes.toggle(chat.messages, index)))

    async def delete_scene(self, index: int) -> Refresh:
        """Take a scene out: its break, its recap, and the versions of the running recap that reach to it."""
        self._check_scene(index)
        return await self._changed(lambda chat: chat.without_scene(index))

    async def exclude(self, index: int, *, wanted: bool) -> Refresh:
        """Exclude the recap of a message, or include it again."""
        return await self._edited(index, lambda message: set_data(message, "exclude", wanted))

    async def keep_hidden(self, index: int, *, wanted: bool) -> Refresh:
        """Hide a message for good, or leave it to hiding by scenes again."""
        return await self._edited(index, lambda message: set_data(message, scenes.PINNED_HIDDEN, wanted))

    async def edit_message(self, index: int, text: str) -> Refresh:
        """Write the recap of a message."""
        shown = self.context.settings.show_prefill
        return await self._edited(index, lambda message: edit_memory(message, text, show_prefill=shown))

    async def edit_scene(self, index: int, text: str) -> Refresh:
        """Write the current version of a scene's recap. Raises InputError where it is locked."""
        self._check_scene(index)
        self.check_lock(index)
        return await self._edited(index, lambda message: scenes.edited(message, text))

    async def turn_scene(self, index: int, step: int) -> Refresh:
        """Put another version of a scene's recap in force. Raises InputError where it is locked."""
        self._check_scene(index)
        self.check_lock(index)
        return await self._edited(index, lambda message: scenes.turned(message, step))

    async def use_running(self, number: int) -> Refresh:
        """Choose a version of the running recap. Raises InputError where there is none of this number."""
        self._version(number)
        return await self._changed(lambda chat: chat.with_running(chat.running.with_current(number)))

    async def edit_running(self, text: str) -> Refresh:
        """Make a new version of the running recap with this text. Raises InputError where there is none to edit."""
        if self.book.chat.running.get() is None:
            raise InputError(self.path, "there is no running recap to edit yet.")
        now = self.context.now_ms()
        return await self._changed(lambda chat: chat.with_running(chat.running.edited(text, now_ms=now)))

    async def adopt_running(self) -> Refresh:
        """Use the running recap of another chat here. Raises InputError where there is none, or its scenes are not."""
        if not self.book.chat.adopted().running.versions or self.book.chat.foreign is None:
            raise InputError(self.path, "there is no running recap of another chat here that fits its scenes.")
        return await self._changed(lambda chat: chat.adopted())

    async def delete_running(self, number: int) -> Refresh:
        """Delete a version of the running recap; its scene can change then. Raises InputError for no such number."""
        self._version(number)
        return await self._changed(lambda chat: chat.without_version(number))

    def _check_scene(self, index: int) -> None:
        if not scenes.is_break(self.message(index)):
            raise InputError(self.path, f"message {index} ends no scene.")

    async def _edited(self, index: int, how: Callable[[Record], Record]) -> Refresh:
        self.message(index)
        return await self._changed(lambda chat: chat.with_message(index, how(chat.messages[index])))

    async def _changed(self, how: Callable[[RecapChat], RecapChat]) -> Refresh:
        """Change the chat, bring it up to date and write it."""
        around, size = self.context.around, self.context.context_size
        chat = await self.book.change(lambda chat: refreshed(how(chat), around, size).chat)
        return refreshed(chat, around, size)

    def message(self, index: int) -> Record:
        """The message at this position. Raises InputError where there is none."""
        message = self.book.chat.at(index)
        if message is None:
            raise InputError(
                self.path, f"there is no message {index}; the last one is {len(self.book.chat.messages) - 1}."
            )
        return message

    def _version(self, number: int) -> None:
        store = self.book.chat.running
        if store.get(number) is None:
            known = ", ".join(str(version.number) for version in store.versions) or "none"
            raise InputError(self.path, f"the running recap has no version {number}. There are: {known}.")

    def check_lock(self, index: int) -> None:
        """Raises InputError where the scene that ends here must not change."""
        self.message(index)
        lock = self.book.chat.locks.get(index)
        if lock is not None and lock.locked:
            who = "it is" if lock.by_itself else "a later scene is"
            raise InputError(
                self.path,
                f"the scene that ends at message {index} is locked: {who} part of the running recap. "
                f"Delete the versions of the running recap that reach to message {index} or beyond it.",
            )


RESCAN_KEY: Final = "forceFullRescan"
"""In the queue's file: the next search for breaks begins at the first message, because everything was cleared."""


class RecapSession(Struct, eq=False):
    """An open chat with its queue. One event loop uses it.

    `heard` is the chat as of the last time that it was followed. `problems` are sentences about what could not be
    read; `calls` are the questions asked since it was opened.
    """

    path: Path
    book: ChatBook
    worker: Worker
    context: WorkContext
    heard: RecapChat
    problems: tuple[str, ...] = ()
    calls: list[AiCall] = []
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
        copies: Path | None = None,
    ) -> RecapSession:
        """Open a chat file and the queue beside it. Raises InputError or SettingsError; waits for the disk.

        Without `answers`, the offline stand-in answers. `context_size` is the room of the model for prompts. The file
        as it was before the first change is kept in `copies`.
        """
        settings = settings or RecapSettings()
        book = ChatBook.open(path)
        book.scenes_shown, book.copies = settings.auto_hide_scene_count, copies
        state, problems = load_queue(queue_path(path))
        calls: list[AiCall] = []
        around, asked = RecapSurroundings.of(book.chat, settings, counter), answers or StandInAnswers()
        context = WorkContext(around, asked, load_presets(settings), context_size, model, on_call=calls.append)
        worker = Worker(state, RecapWork(book, context), settings.max_retries)
        session = cls(path, book, worker, context, book.chat, (*book.file.problems, *problems), calls)
        worker.keep, book.moved = session.keep, session.move
        return session

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
        known, presets = self.context, load_presets(settings)
        around, asked = RecapSurroundings.of(self.chat, settings, known.around.counter), answers or known.answers
        self.context = replace(
            known, around=around, answers=asked, model=model, context_size=context_size, presets=presets
        )
        self.book.show_scenes(settings.auto_hide_scene_count)
        self.worker.performer = RecapWork(self.book, self.context)
        self.worker.max_retries = settings.max_retries

    def refreshed(self) -> Refresh:
        """What is included, hidden and injected now; nothing is written."""
        return refreshed(self.chat, self.context.around, self.context.context_size)

    def trace(self) -> Trace:
        """The same as a trace, with the questions asked since the chat was opened."""
        return recap_trace(self.refreshed(), context_size=self.context.context_size, calls=self.calls)

    def cut_short(self, first: int) -> str:
        """Which answers from this call on were kept without their end, as a sentence; "" where none was."""
        kinds = {RECAP, SCENE_RECAP, RUNNING_RECAP, *RECAP_STAGES}
        cut = [call for call in self.calls[first:] if call.kind in kinds and call.details.get("cut_off") is True]
        said = plural(len(cut), "# answer was|# answers were")
        return f"{said} cut off at the limit of tokens; “Longest recap” in the recap settings is it." if cut else ""

    @property
    def left_behind(self) -> str:
        """How many messages get no recap because of “Look back”, as a sentence; "" where none is left out so."""
        older = too_far_back(self.chat.messages, self.context.around) if self.settings.auto_recap else 0
        have = plural(older, "# older message has|# older messages have")
        limit = self.settings.auto_recap_message_limit
        return f"{have} no recap: “Look back” in the recap settings is {limit}." if older else ""

    async def keep(self, state: QueueState) -> None:
        """Write the queue."""
        await asyncio.to_thread(save_queue, queue_path(self.path), state)

    async def close(self) -> None:
        """End the work on the queue and let go of the chat."""
        if self._task is not None and self._task is not asyncio.current_task():
            self._task.cancel()
            await asyncio.wait({self._task})
        self.release()

    # The queue

    def hold(self) -> None:
        """Work on this chat's queue alone. Raises InputError where another lorestudio does."""
        if self._lock is not None:
            return
        folder = default_folder() / "recap"
        lock = FileLock(folder / f"{digest_of(place_key(self.path).encode('utf-8', 'surrogateescape'))[:32]}.lock")
        with refused(partial(InputError, folder), f"the folder cannot be used: {{reason}}. {LOOK_THERE}"):
            folder.mkdir(parents=True, exist_ok=True)
            held = lock.try_acquire()
        if not held:
            why = f"another lorestudio is working on the recaps of this chat. Let it finish.{lock.way_out}"
            raise InputError(self.path, why)
        self._lock = lock
        self.worker.state, told = load_queue(queue_path(self.path))
        self.problems = (*self.problems, *told)

    async def move(self, where: Mapping[int, int]) -> None:
        """Let the queue follow messages that stand elsewhere now; whoever else works on it does so as well."""
        held = self.is_held
        try:
            self.hold()
        except InputError:
            return
        try:
            await self.worker.follow(where)
        finally:
            if not held:
                self.release()

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
        self.book.file.check_format()
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
        """Queue operations; the ids of those that were taken.

        Raises InputError where the chat's file holds no recaps: found out when one is stored, it was paid for, and was
        tried again and again.
        """
        self.book.file.check_format()
        ids = [await self.worker.enqueue(operation) for operation in operations]
        return tuple(identifier for identifier in ids if identifier is not None)

    async def enqueue_missing(self) -> tuple[str, ...]:
        """Queue everything that is due: recaps of messages and bookmarks, and the search for breaks."""
        rescan = truthy(self.queue.extra.get(RESCAN_KEY))
        found = everything_missing(self.chat, self.queue, self.context, 0 if rescan else None)
        if rescan:
            await self._mark_rescan(wanted=False)
        return await self.enqueue(found)

    async def enqueue_recap(self, index: int) -> tuple[str, ...]:
        """Queue the recap of one message."""
        self.edits.message(index)
        return await self.enqueue([recap_operation(index)])

    async def enqueue_scene(self, index: int) -> tuple[str, ...]:
        """Queue the recap of the scene that ends at a break; the running recap stays as it is.

        `enqueue_combine` works it in (rules: recap-memory 13.4). Raises InputError where there is no break, or where
        its recap is locked.
        """
        self.edits.message(index)
        if index not in self.chat.breaks:
            raise InputError(self.path, f"message {index} ends no scene. Set a scene break there first.")
        self.edits.check_lock(index)
        return await self.enqueue([scene_operation(index, Priority.NORMAL, manual=True)])

    async def enqueue_search(self) -> tuple[str, ...]:
        """Queue the search for a scene break. Raises InputError where the queue is busy or there is too little."""
        if not self.queue.is_idle:
            raise InputError(self.path, "the queue is at work. Search for scene breaks when it has finished.")
        found = search(self.chat, self.queue, self.context)
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
        counts = Cleared()

        def clear(chat: RecapChat) -> RecapChat:
            nonlocal counts
            chat, counts = chat.cleared()
            return chat

        await self.worker.clear()
        await self.book.change(clear)
        await self._mark_rescan(wanted=True)
        return counts

    async def _mark_rescan(self, *, wanted: bool) -> None:
        extra = {key: value for key, value in self.queue.extra.items() if key != RESCAN_KEY}
        await self.restore(replace(self.queue, extra={**extra, RESCAN_KEY: True} if wanted else extra))


def load_presets(settings: RecapSettings) -> dict[str, QuestionPreset]:
    """The presets that the settings name, by their paths. Raises SettingsError or InputError."""
    names = (
        settings.message_recap_preset,
        settings.scene_recap_preset,
        settings.detection_preset,
        settings.running_scene_recap_preset,
    )
    presets: dict[str, QuestionPreset] = {}
    for name in names:
        if name and name not in presets:
            path = Path(name).expanduser()
            document = parse_json(read_bytes(path), path)
            try:
                presets[name] = read_preset(document)
            except ValueError as error:
                raise InputError(path, f"this is no preset: {error}.") from error
    return presets


async def recap_cost(session: RecapSession) -> CostEstimate:
    """What the queue costs with a provider. A model that finds other scenes asks more, or less."""
    counted = RequestCollector()
    context = replace(session.context, answers=counted, on_call=None)
    state = replace(session.queue, paused=False)
    await Worker(state, RecapWork(MemoryBook(session.chat), context), max_retries=1).run()
    return estimate(counted.requests, context.around.counter)


async def follow(session: RecapSession, *, by_itself: bool) -> tuple[MessageHappening, ...]:
    """Take over what was written into the chat's file, and tell what happened.

    With `by_itself` the chat is brought up to date, and what the settings ask for is queued. Raises InputError.
    """
    before = session.heard
    session.heard = after = await session.book.change(lambda chat: chat)
    found = happenings(before, after)
    if by_itself and found:
        await session.edits.refresh()
        for each in found:
            await session.enqueue(_due(session, each))
    return found


async def opened(session: RecapSession) -> tuple[str, ...]:
    """Queue what opening a chat brings on, where the settings ask for it; the ids. Raises InputError."""
    ctx = session.context
    if not ctx.settings.enabled or not ctx.settings.auto_scene_break_on_load:
        return ()
    queue = session.queue
    await session.book.change(lambda chat: on_load(chat, queue, ctx)[0])
    return await session.enqueue(on_load(session.chat, queue, ctx)[1])


def _due(session: RecapSession, happening: MessageHappening) -> tuple[NewOperation, ...]:
    chat, queue, ctx, index = session.chat, session.queue, session.context, happening.index
    if happening.event in _MOVING or chat.at(index) is None:
        return ()
    if happening.event is MessageEvent.WRITTEN:
        return on_message(chat, index, queue, ctx)
    if happening.event is MessageEvent.EDITED:
        return on_edit(chat, index, ctx)
    last = index == len(chat.messages) - 1
    more = on_message(chat, index, queue, ctx, swiped=True) if last else ()
    own = on_swipe(chat, index, ctx)
    known = {item.params.get("index") for item in more}
    return (*(item for item in own if item.params.get("index") not in known), *more)
