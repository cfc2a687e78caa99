"""The queue as data: operations with their kinds and priorities, what comes next, and what a failure leads to.

A change makes a new state; whoever works on it writes each one to the disk before going on, into a file beside the chat
(`<chat>.recap-queue.json`) that is whole at every moment (rules: recap-memory 6).
"""

from __future__ import annotations

import json
import math
import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Any, Final, Literal

from msgspec import Struct, field, to_builtins

from lorestudio.domain.file_names import free_path
from lorestudio.domain.javascript import Json, base36
from lorestudio.domain.json_text import json_or_none, mapping_in, number_in, object_in, objects_in, text_in, texts_in
from lorestudio.domain.records import replace
from lorestudio.exchange.problems import InputError
from lorestudio.settings.files import read_whole, write_atomically
from lorestudio.vault.files import LOOK_THERE, refused


class OperationType(StrEnum):
    """Kinds of operations that are worked on here; a queue file may hold others, which stay in it untouched."""

    RECAP = "recap"
    DETECT = "detect_scene_break"
    DETECT_BACKWARDS = "detect_scene_break_backwards"
    SCENE_RECAP = "generate_scene_recap"
    ORGANISE = "organize_scene_recap"
    PARSE = "parse_scene_recap"
    FILTER = "filter_scene_recap_sl"
    COMBINE = "combine_scene_with_running"
    RUNNING = "generate_running_recap"


class Status(StrEnum):
    """How far an operation is."""

    PENDING = "pending"
    IN_PROGRESS = "in_progress"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"
    RETRYING = "retrying"


class Priority:
    """Larger numbers go first. The requirements' NORMAL and HIGH are 0 and 10."""

    NORMAL: Final = 0
    HIGH: Final = 10
    DETECT: Final = 5
    DETECT_BACKWARDS: Final = 15
    STAGE: Final = 14
    COMBINE: Final = 10
    SCENE_RECAP: Final = 9
    """One that was queued by itself; one that a person asked for has NORMAL."""


ANSWER: Final = "answer"
"""Where an operation keeps what the model said until it is stored in the chat."""

TYPE_WORDS: Final = {
    OperationType.RECAP: "Recap of a message",
    OperationType.DETECT: "Search for a scene break",
    OperationType.DETECT_BACKWARDS: "Search for an earlier scene break",
    OperationType.SCENE_RECAP: "Recap of a scene",
    OperationType.ORGANISE: "Scene recap: put in order",
    OperationType.PARSE: "Scene recap: what is new",
    OperationType.FILTER: "Scene recap: people and things",
    OperationType.COMBINE: "Scene into the running recap",
    OperationType.RUNNING: "Running recap of all scenes",
}


_SPELLED: Final = {"queue_version": "queueVersion", "pause_before": "pauseBeforeExecution"}


class QueuedOperation(Struct, frozen=True, rename=_SPELLED):
    """One entry of the queue. Times are ms since the epoch; `extra` holds keys that are not known here."""

    id: str
    type: str
    params: Mapping[str, Json] = {}
    status: str = Status.PENDING
    created_at: float = 0
    started_at: float | None = None
    completed_at: float | None = None
    error: str | None = None
    retries: int = 0
    priority: float = 0
    dependencies: tuple[str, ...] = ()
    metadata: Mapping[str, Json] = {}
    queue_version: int = 0
    pause_before: bool = False
    extra: Mapping[str, Json] = {}

    @property
    def is_active(self) -> bool:
        """Whether it is being worked on, or waits for another attempt."""
        return self.status in (Status.IN_PROGRESS, Status.RETRYING)

    @property
    def failure(self) -> str:
        """Why the last attempt failed, "" where none did."""
        return _RETRY.sub("", self.error or "")

    @property
    def words(self) -> str:
        """What it does, for people."""
        name = TYPE_WORDS.get(OperationType(self.type), self.type) if self.type in set(OperationType) else self.type
        start, end, index = (self.params.get(key) for key in ("startIndex", "endIndex", "index"))
        if start is not None and end is not None:
            return f"{name}, #{start} to {end}"
        return f"{name}, #{index}" if index is not None else name

    @property
    def carried(self) -> dict[str, Json]:
        """The metadata that an operation which follows may take over: all but the answer."""
        return {key: value for key, value in self.metadata.items() if key != ANSWER}

    def moved(self, where: Mapping[int, int]) -> QueuedOperation | None:
        """With the positions that its messages have now; None where the message or all of its range is gone."""
        params, metadata = _moved(self.params, where), _moved(self.metadata, where)
        return None if params is None or metadata is None else replace(self, params=params, metadata=metadata)


_STARTS: Final = frozenset({"startIndex", "start", "resume_start", "earliest"})
_ENDS: Final = frozenset({"endIndex", "end", "resume_end", "original_end"})
_MESSAGES: Final = frozenset({"index", "message_id", "scene_index", "at", "next_break", "original_break"})
_LISTS: Final = frozenset({"indexes", "used", "waiting_breaks", "discovered"})
"""Which parameters, metadata and parts of an answer are positions of messages."""


def _moved(values: Mapping[str, Json], where: Mapping[int, int]) -> dict[str, Json] | None:
    """Values with other positions, None where a message is gone; a range is what is left of it."""

    def end(place: int) -> int:
        return next((where[known] for known in range(place, -1, -1) if known in where), -1)

    result: dict[str, Json] = {}
    for key, value in values.items():
        result[key] = value
        if key == ANSWER:
            result[key] = _moved(value, where) if isinstance(value, Mapping) else value
            if result[key] is None:
                del result[key]  # it is asked again
        elif isinstance(value, list | tuple) and key in _LISTS:
            result[key] = [where[place] for place in value if isinstance(place, int) and place in where]
        elif isinstance(value, list | tuple) and key == "range":
            result[key] = list((_moved(dict(zip(("start", "end"), value, strict=False)), where) or {}).values())
        elif not isinstance(value, int) or isinstance(value, bool):
            continue
        elif key in _STARTS:
            result[key] = where.get(value, end(value) + 1)
        elif key in _ENDS:
            result[key] = end(value)
        elif key in _MESSAGES:
            if value not in where:
                return None
            result[key] = where[value]
    return result


class NewOperation(Struct, frozen=True):
    """An operation to be queued, without what the queue gives it."""

    type: str
    params: Mapping[str, Json] = {}
    priority: float = 0
    dependencies: tuple[str, ...] = ()
    metadata: Mapping[str, Json] = {}


class FinishedOperation(Struct, frozen=True):
    """A finished operation in the log, and what came of it."""

    type: str
    words: str
    outcome: str
    summary: str
    at: float
    id: str = ""


def read_operation(stored: Mapping[str, Json]) -> QueuedOperation:
    """An operation from the queue's file; what is missing or of another shape gets its default."""
    return QueuedOperation(
        id=text_in(stored.get("id")),
        type=text_in(stored.get("type")),
        params=object_in(stored, "params"),
        status=text_in(stored.get("status")) or Status.PENDING,
        created_at=number_in(stored.get("created_at")) or 0,
        started_at=number_in(stored.get("started_at")),
        completed_at=number_in(stored.get("completed_at")),
        error=text_in(stored.get("error")) or None,
        retries=int(number_in(stored.get("retries")) or 0),
        priority=number_in(stored.get("priority")) or 0,
        dependencies=texts_in(stored.get("dependencies")),
        metadata=object_in(stored, "metadata"),
        queue_version=int(number_in(stored.get("queueVersion")) or 0),
        pause_before=stored.get("pauseBeforeExecution") is True,
        extra={key: value for key, value in stored.items() if key not in _OPERATION_KEYS},
    )


def write_operation(operation: QueuedOperation) -> dict[str, Json]:
    """An operation as the queue's file has it."""
    stored: dict[str, Json] = to_builtins(operation)
    del stored["extra"]
    return {**stored, **operation.extra}


_OPERATION_KEYS: Final = frozenset(write_operation(QueuedOperation("", "")))


FORMAT_VERSION: Final = 1
FIRST_DELAY_S: Final = 10
LONGEST_DELAY_S: Final = 300
KEPT_LOG: Final = 200
LOG_KEY: Final = "log"

CANCELLED_BY_USER: Final = "Operation cancelled by user"

_CANCELLED = re.compile("cancelled by user", re.IGNORECASE)
_RETRY = re.compile(r"^Retry [^:]*: ")
_REFUSED = re.compile(r"unauthorized|forbidden|authentication.?required|invalid.?api.?key", re.IGNORECASE | re.DOTALL)
_ACTIVE: Final = (Status.IN_PROGRESS.value, Status.RETRYING.value)


class QueueState(Struct, frozen=True):
    """The whole queue. `queue_version` grows with every clearing, so that follow-ups of cleared work are refused."""

    operations: tuple[QueuedOperation, ...] = ()
    current: str | None = None
    paused: bool = False
    version: int = FORMAT_VERSION
    queue_version: int = 0
    log: tuple[FinishedOperation, ...] = ()
    extra: Mapping[str, Json] = {}

    def get(self, identifier: str) -> QueuedOperation | None:
        """The operation of this id."""
        return next((operation for operation in self.operations if operation.id == identifier), None)

    @property
    def counts(self) -> Mapping[str, int]:
        """How many operations there are by status."""
        return Counter(str(operation.status) for operation in self.operations)

    @property
    def is_idle(self) -> bool:
        """Whether nothing waits and nothing runs."""
        return not any(operation.status == Status.PENDING or operation.is_active for operation in self.operations)

    def next(self) -> QueuedOperation | None:
        """What to do next: pending, nothing left that it depends on, then by priority, age and place.

        A dependency that is no longer in the queue counts as met, also where it failed.
        """
        open_ones = {item.id for item in self.operations if item.status != Status.COMPLETED}
        ready = [
            (-operation.priority, operation.created_at, place)
            for place, operation in enumerate(self.operations)
            if operation.status == Status.PENDING and open_ones.isdisjoint(operation.dependencies)
        ]
        return self.operations[min(ready)[2]] if ready else None

    def accepts(self, given_version: int | None, *, clearing: bool = False) -> bool:
        """Whether something may be queued: not while the queue is being cleared, nor from before a clearing."""
        return not clearing and (given_version is None or given_version == self.queue_version)

    def with_added(self, operations: Iterable[QueuedOperation]) -> QueueState:
        """With further operations at the end."""
        return replace(self, operations=(*self.operations, *operations))

    def with_changed(self, operation: QueuedOperation, **state: Any) -> QueueState:  # noqa: ANN401  # fields of this
        """With the operation of this id replaced, and other `state` of the queue."""
        operations = tuple(operation if item.id == operation.id else item for item in self.operations)
        return replace(self, operations=operations, **state)

    def moved(self, where: Mapping[int, int]) -> QueueState:
        """With the positions that messages have now; what is about one that is gone keeps its own."""
        return replace(self, operations=tuple(item.moved(where) or item for item in self.operations))

    def without(self, identifier: str) -> QueueState:
        """Without an operation; nothing depends on it any more."""
        kept = (
            replace(item, dependencies=tuple(name for name in item.dependencies if name != identifier))
            for item in self.operations
            if item.id != identifier
        )
        return replace(self, operations=tuple(kept), current=None if self.current == identifier else self.current)

    def with_transferred(self, before: str, after: str) -> QueueState:
        """What depended on one operation depends on another instead."""
        return replace(
            self,
            operations=tuple(
                replace(item, dependencies=tuple(dict.fromkeys(after if n == before else n for n in item.dependencies)))
                for item in self.operations
            ),
        )

    def cleared(self) -> QueueState:
        """Empty, and closed to follow-ups of what was in it."""
        return replace(self, operations=(), current=None, queue_version=self.queue_version + 1)

    def with_logged(self, finished: FinishedOperation) -> QueueState:
        """With one more line in the log, which keeps the newest."""
        return replace(self, log=(*self.log, finished)[-KEPT_LOG:])


def make_operation(new: NewOperation, now_ms: int, queue_version: int, draw: Callable[[], float]) -> QueuedOperation:
    """An operation with its id: `op_`, the time, and nine random characters."""
    letters = "".join(base36(int(draw() * 36)) for _ in range(9))
    return QueuedOperation(
        id=f"op_{now_ms}_{letters}",
        type=new.type,
        params=new.params,
        created_at=now_ms,
        priority=new.priority,
        dependencies=tuple(dict.fromkeys(new.dependencies)),
        metadata=new.metadata,
        queue_version=queue_version,
    )


def retry_delay(retries: int) -> int:
    """Seconds before attempt number `retries` after the first: 10, 20, 40 ... 300."""
    return min(FIRST_DELAY_S << min(max(retries, 1) - 1, 10), LONGEST_DELAY_S)


class FailureAction(Struct, frozen=True):
    """What follows a failure: `stop` for what somebody cancelled, `fail` for good, or `retry`."""

    action: Literal["stop", "fail", "retry"]
    retries: int = 0
    delay_s: int = 0
    error: str = ""


def after_failure(
    error: str, retries: int, max_retries: int, *, permanent: bool = False, asked_s: float = 0
) -> FailureAction:
    """What to do about a failure with this text. `permanent`: trying again cannot help.

    `asked_s` is the pause that a provider asked for; it is kept up to `LONGEST_DELAY_S`.
    """
    if _CANCELLED.search(error):
        return FailureAction("stop")
    if permanent or _REFUSED.search(error) or 0 < max_retries <= retries:
        return FailureAction("fail")
    number, delay = retries + 1, min(max(retry_delay(retries + 1), math.ceil(asked_s)), LONGEST_DELAY_S)
    of = f"/{max_retries}" if max_retries > 0 else ""
    return FailureAction("retry", number, delay, f"Retry {number}{of} after {delay}s: {error}")


def normalised(text: str) -> dict[str, Json]:
    """The stored queue brought into order: what was being worked on waits again; what is no queue is an empty one."""
    document = json_or_none(text)
    stored: dict[str, Json] = dict(document) if isinstance(document, Mapping) else {"current_operation_id": None,
                                                                                    "paused": False}  # fmt: skip
    queue: list[Json] = []
    for item in objects_in(stored.get("queue")):
        active = item.get("status") in _ACTIVE
        status: dict[str, Json] = {"status": Status.PENDING.value} if active else {}
        queue.append({**item, **status, "pauseBeforeExecution": item.get("pauseBeforeExecution") or False})
    version, queue_version = stored.get("version"), stored.get("queueVersion")
    stored["queue"] = queue
    stored["version"] = FORMAT_VERSION if version is None else version
    stored["queueVersion"] = 0 if queue_version is None else queue_version
    return stored


def read_queue(text: str) -> QueueState:
    """The queue in its file's text."""
    stored = normalised(text)
    listed, log = stored["queue"], stored.get(LOG_KEY)
    version, queue_version = stored["version"], stored["queueVersion"]
    return QueueState(
        tuple(read_operation(mapping_in(item)) for item in listed) if isinstance(listed, list) else (),
        None,
        paused=stored.get("paused") is True,
        version=version if isinstance(version, int) else FORMAT_VERSION,
        queue_version=queue_version if isinstance(queue_version, int) else 0,
        log=tuple(_read_log(mapping_in(item)) for item in log) if isinstance(log, list) else (),
        extra={key: value for key, value in stored.items() if key not in _KEYS},
    )


def write_queue(state: QueueState) -> dict[str, Json]:
    """The queue as its file has it."""
    queue: list[Json] = [write_operation(operation) for operation in state.operations]
    log: list[Json] = to_builtins(state.log)
    return {
        "queue": queue,
        "current_operation_id": state.current,
        "paused": state.paused,
        "version": state.version,
        "queueVersion": state.queue_version,
        LOG_KEY: log,
        **state.extra,
    }


_KEYS: Final = frozenset(write_queue(QueueState()))


def _read_log(stored: Mapping[str, Json]) -> FinishedOperation:
    kind, words, outcome, summary = (text_in(stored.get(name)) for name in ("type", "words", "outcome", "summary"))
    return FinishedOperation(kind, words, outcome, summary, number_in(stored.get("at")) or 0, text_in(stored.get("id")))


class HopelessError(Exception):
    """An operation that cannot succeed however often it is tried; the message says why."""


class StoredAnswer(Struct, frozen=True):
    """An answer is in the chat: what follows from it, and a few words on what came of it.

    With `hands_on`, what waits for this operation waits for the first of `follow_ups` instead; `drops` tells operations
    that have lost their point.
    """

    follow_ups: tuple[NewOperation, ...] = ()
    summary: str = ""
    hands_on: bool = False
    drops: Callable[[QueuedOperation], bool] = lambda _: False


class QueuePicture(Struct, frozen=True):
    """The queue as a window shows it. `working` says that it is worked on here, `retry_at` when the next
    attempt is, in s of the monotonic clock, None where none is waited for.
    """

    state: QueueState = field(default_factory=QueueState)
    working: bool = False
    done: int = 0
    retry_at: float | None = None

    @property
    def left(self) -> int:
        """How many operations wait or run."""
        return len(self.state.operations)


_ENDING: Final = ".recap-queue.json"


def queue_path(chat: Path) -> Path:
    """The file of the queue that belongs to a chat file."""
    return chat.with_name(f"{chat.stem}{_ENDING}")


def has_queue(chat: Path) -> bool:
    """Whether a queue lies beside a chat file; it does not where the disk is away."""
    return os.path.exists(queue_path(chat))  # noqa: PTH110  # Path.exists raises then


def load_queue(path: Path) -> tuple[QueueState, tuple[str, ...]]:
    """The queue, and a sentence where its file was damaged; that is moved aside and a new queue is begun.

    Raises InputError where it cannot be read.
    """
    try:
        data = read_whole(path)
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
    aside = free_path(path.parent, lambda number: f"{path.name}.damaged-{number}")
    with refused(partial(InputError, path), "the queue is damaged and cannot be moved: {reason}."):
        path.replace(aside)
    return QueueState(), (f"{path.name} was damaged; it is now {aside.name}, and a new queue was begun.",)


def save_queue(path: Path, state: QueueState) -> None:
    """Write the queue; an empty one that never had anything in it leaves no file. Raises InputError."""
    if state == QueueState() and not path.exists():
        return
    document: Json = write_queue(state)
    data = json.dumps(document, ensure_ascii=False, indent=1).encode("utf-8", "backslashreplace")
    with refused(partial(InputError, path), f"the queue cannot be written: {{reason}}. {LOOK_THERE}"):
        write_atomically(path, data, private=True)
