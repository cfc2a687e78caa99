"""What a window shows of a chat's recaps: rows of messages, scenes, versions and operations, and a reply's prompt."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct, field

from lorestudio.domain.javascript import truthy
from lorestudio.domain.json_text import text_in
from lorestudio.domain.records import Terse
from lorestudio.systems.recap.chat import RecapChat
from lorestudio.systems.recap.chat_file import ChatFile
from lorestudio.systems.recap.message_recaps import WalkDecision
from lorestudio.systems.recap.records import RecapState, get_memory, is_included, message_text, namespace
from lorestudio.systems.recap.refresh import PLACE_WORDS, ReadChat
from lorestudio.systems.recap.running import RunningRecaps, foreign_notice
from lorestudio.systems.recap.scenes.scenes import (
    PINNED_HIDDEN,
    Range,
    SceneLock,
    generation_range,
    has_recap,
    name_of,
    recap_hash,
    recap_in_words,
    recap_of,
    scene_ranges,
    versions_of,
)
from lorestudio.systems.recap.session import RecapSession
from lorestudio.systems.recap.tracing import recap_trace
from lorestudio.trace.model import Trace, Turn, Verdict


class MessageRow(Struct, frozen=True):
    """One message. `stale`: it was changed after its recap was made; `hidden`: from the prompt;
    `pinned`: hidden for good, whatever hiding by scenes does.
    """

    index: int
    speaker: str
    text: str
    state: RecapState
    recap: str
    error: str = ""
    edited: bool = False
    stale: bool = False
    hidden: bool = False
    ends_scene: bool = False
    pinned: bool = False

    @property
    def has_recap(self) -> bool:
        """Whether it has a recap that is not excluded, be it that a later attempt failed."""
        return bool(self.recap) and self.state is not RecapState.EXCLUDED


class SceneRow(Struct, frozen=True):
    """One scene. `made_of` is what the reference would make its recap of, where that differs from `where`."""

    index: int
    where: Range
    name: str
    recap: str
    versions: str
    lock: SceneLock
    made_of: Range | None = None

    @property
    def is_bookmark(self) -> bool:
        """Whether it has no recap yet."""
        return not self.recap


def message_rows(chat: RecapChat) -> tuple[MessageRow, ...]:
    """All messages, oldest first."""
    breaks = frozenset(chat.breaks)
    rows: list[MessageRow] = []
    for index, message in enumerate(chat.messages):
        data = namespace(message)
        memory, error = get_memory(message), text_in(data.get("error"))
        state = RecapState.KEPT if memory else RecapState.NONE
        if error:
            state = RecapState.FAILED
        elif truthy(data.get("exclude")):
            state = RecapState.EXCLUDED
        elif memory and is_included(message):
            state = RecapState.INCLUDED
        kept = data.get("hash")
        stale = bool(memory) and isinstance(kept, str) and kept != recap_hash(message_text(message))
        rows.append(
            MessageRow(
                index, text_in(message.get("name")), message_text(message), state, memory, error,
                truthy(data.get("edited")), stale, truthy(message.get("is_system")), index in breaks,
                truthy(data.get(PINNED_HIDDEN)),
            )
        )  # fmt: skip
    return tuple(rows)


def scene_rows(chat: RecapChat, scenes_in_recap: int = 1) -> tuple[SceneRow, ...]:
    """All scenes that have an end, oldest first."""
    locked, breaks, recaps = chat.locks, chat.breaks, chat.recaps
    rows: list[SceneRow] = []
    for index, where in scene_ranges(breaks, recaps).items():
        message, other = chat.messages[index], generation_range(breaks, index, scenes_in_recap)
        recap = recap_in_words(recap_of(message)) if has_recap(message) else ""
        lock, made_of = locked.get(index, SceneLock()), None if other == where else other
        rows.append(SceneRow(index, where, name_of(message, where), recap, versions_of(message).words, lock, made_of))
    return tuple(rows)


_OF_MESSAGES = ("exclusion tree", "inclusion walk")


class RecapPicture(Terse, frozen=True):
    """A chat's recaps. `verdicts` say of each message whether it takes part, to be explained with `trace`.

    `in_running` are the messages of scenes that the running recap in force reaches to.
    """

    unprinted = ("file", "running", "verdicts", "trace")

    path: Path
    file: ChatFile
    messages: tuple[MessageRow, ...] = ()
    scenes: tuple[SceneRow, ...] = ()
    running: RunningRecaps = field(default_factory=RunningRecaps)
    in_running: frozenset[int] = frozenset()
    verdicts: Mapping[int, Verdict] = {}
    trace: Trace | None = None
    notice: str = ""


class WalkRow(Struct, frozen=True):
    """One message of the walk: what was decided, and the tokens collected with its recap."""

    index: int
    recap: str
    decision: WalkDecision
    after: int | None


class PromptAt(Terse, frozen=True):
    """What recap memory puts into the prompt of one reply: the text, its place, and the walk, newest message first."""

    unprinted = ("trace",)

    message: int
    text: str
    tokens: int
    where: str
    version: int | None
    rows: tuple[WalkRow, ...]
    collected: int
    limit: float | None
    hidden: int
    trace: Trace


def picture(session: RecapSession) -> RecapPicture:
    """Everything about the chat as it is now."""
    chat, settings = session.chat, session.settings
    trace = session.trace()
    verdicts = {
        verdict.entry: verdict
        for name in _OF_MESSAGES
        if (record := trace.stage(name)) is not None
        for verdict in record.verdicts
    }
    messages = message_rows(chat)
    scenes = scene_rows(chat, settings.scene_recap_history_count)
    store = chat.running
    current = store.get()
    reaches = current.reaches if current is not None else -1
    told = frozenset(
        index
        for scene in scenes
        if not scene.is_bookmark and scene.index <= reaches
        for index in range(scene.where[0], scene.where[1] + 1)
    )
    notice = foreign_notice(chat.foreign, chat.id) if chat.foreign is not None else ""
    return RecapPicture(session.path, session.book.file, messages, scenes, store, told, verdicts, trace, notice)


def prompt_at(session: RecapSession, message: int) -> PromptAt:
    """What the reply at this position is given, from what the chat has of before it."""
    around, size = session.context.around, session.context.context_size
    done = ReadChat(session.chat, around).refreshed(message, size)
    trace = recap_trace(done, context_size=size, turn=Turn(message, 0, 0))
    recaps = {row.index: row.recap for row in message_rows(done.chat)}
    found = done.inclusion
    steps = found.steps if found is not None else ()
    current = done.storage.store.get()
    placed = trace.injections[0] if trace.injections else None
    return PromptAt(
        message,
        done.injection.value,
        placed.tokens if placed is not None else 0,
        PLACE_WORDS[done.place],
        current.number if current is not None and placed is not None else None,
        tuple(WalkRow(step.index, recaps[step.index], step.decision, step.after) for step in steps),
        found.tokens if found is not None else 0,
        found.limit if found is not None else None,
        done.hiding.visible_start or 0,
        trace,
    )
