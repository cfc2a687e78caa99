"""What a window shows of a chat's recaps at one moment: rows for lists, and what a reply is given."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from lorestudio.memory.recap.inclusion import Decision
from lorestudio.memory.recap.injection import PLACE_WORDS
from lorestudio.memory.recap.queue_state import QueueState
from lorestudio.memory.recap.refresh import refreshed
from lorestudio.memory.recap.running import RunningRecaps
from lorestudio.memory.recap.scene_recaps import versions_of
from lorestudio.memory.recap.tracing import recap_trace
from lorestudio.studio.recap.chat_file import ChatFile
from lorestudio.studio.recap.overview import MessageRow, SceneRow, message_rows, scene_rows
from lorestudio.studio.recap.session import RecapSession
from lorestudio.studio.recap.system import chat_until
from lorestudio.trace.model import Trace, Turn, Verdict

_OF_MESSAGES = ("exclusion tree", "inclusion walk")


@dataclass(frozen=True, slots=True)
class RecapPicture:
    """A chat's recaps. `verdicts` say of each message whether it takes part, to be explained with `trace`.

    `in_running` are the messages of scenes that the running recap in force reaches to.
    """

    path: Path
    file: ChatFile = field(repr=False)
    messages: tuple[MessageRow, ...] = ()
    scenes: tuple[SceneRow, ...] = ()
    scene_texts: Mapping[int, tuple[str, ...]] = field(default_factory=dict, repr=False)
    running: RunningRecaps = field(default_factory=RunningRecaps, repr=False)
    pinned: frozenset[int] = frozenset()
    in_running: frozenset[int] = frozenset()
    verdicts: Mapping[int, Verdict] = field(default_factory=dict, repr=False)
    trace: Trace | None = field(default=None, repr=False)
    notice: str = ""


@dataclass(frozen=True, slots=True)
class QueuePicture:
    """The queue. `working` says that it is worked on here, `retry_at` when the next attempt is, in s since the
    epoch, None where none is waited for.
    """

    state: QueueState = field(default_factory=QueueState)
    working: bool = False
    done: int = 0
    retry_at: float | None = None

    @property
    def left(self) -> int:
        """How many operations wait or run."""
        return len(self.state.operations)


@dataclass(frozen=True, slots=True)
class WalkRow:
    """One message of the walk: what was decided, and the tokens collected without and with its recap."""

    index: int
    speaker: str
    recap: str
    decision: Decision
    before: int | None
    after: int | None

    @property
    def fits(self) -> bool:
        """Whether its recap takes part."""
        return self.decision is Decision.INCLUDED


@dataclass(frozen=True, slots=True)
class PromptAt:
    """What recap memory puts into the prompt of one reply: the text, its place, and the walk, newest message first."""

    message: int
    text: str
    tokens: int
    where: str
    version: int | None
    rows: tuple[WalkRow, ...]
    collected: int
    limit: float | None
    hidden: int
    trace: Trace = field(repr=False)


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
    texts = {scene.index: versions_of(chat.messages[scene.index]).texts for scene in scenes}
    pinned = frozenset(row.index for row in messages if row.pinned)
    notice = chat.storage.notice
    return RecapPicture(
        session.path, session.book.file, messages, scenes, texts, store, pinned, told, verdicts, trace, notice
    )


def prompt_at(session: RecapSession, message: int) -> PromptAt:
    """What the reply at this position is given, from what the chat has of before it."""
    around, size = session.context.around, session.context.context_size
    chat = chat_until(session.chat, min(message, len(session.chat.messages)))
    done = refreshed(chat, around, size)
    trace = recap_trace(done, session.settings, around.counter, context_size=size, turn=Turn(message, 0, 0))
    rows = {row.index: row for row in message_rows(done.chat)}
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
        tuple(
            WalkRow(
                step.index, rows[step.index].speaker, rows[step.index].recap, step.decision, step.before, step.after
            )
            for step in steps
        ),
        found.tokens if found is not None else 0,
        found.limit if found is not None else None,
        done.hiding.visible_start or 0,
        trace,
    )
