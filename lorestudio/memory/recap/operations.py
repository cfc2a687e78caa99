"""What the queue works on: operations, their kinds and priorities (spec: recap-memory 6.1 to 6.3)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Final

from lorestudio.domain.javascript import Json
from lorestudio.memory.recap.records import mapping, text_of


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


@dataclass(frozen=True, slots=True)
class Operation:
    """One entry of the queue. Times are ms since the epoch; `extra` holds keys that are not known here."""

    id: str
    type: str
    params: Mapping[str, Json] = field(default_factory=dict)
    status: str = Status.PENDING
    created_at: float = 0
    started_at: float | None = None
    completed_at: float | None = None
    error: str | None = None
    retries: int = 0
    priority: float = 0
    dependencies: tuple[str, ...] = ()
    metadata: Mapping[str, Json] = field(default_factory=dict)
    queue_version: int = 0
    pause_before: bool = False
    extra: Mapping[str, Json] = field(default_factory=dict)

    @property
    def is_active(self) -> bool:
        """Whether it is being worked on, or waits for another attempt."""
        return self.status in (Status.IN_PROGRESS, Status.RETRYING)

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

    def with_metadata(self, **values: Json) -> Operation:
        """With further metadata."""
        return replace(self, metadata={**self.metadata, **values})


@dataclass(frozen=True, slots=True)
class NewOperation:
    """An operation to be queued, without what the queue gives it."""

    type: str
    params: Mapping[str, Json] = field(default_factory=dict)
    priority: float = 0
    dependencies: tuple[str, ...] = ()
    metadata: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Finished:
    """A finished operation in the log: how long it waited and ran, its attempts, and what came of it."""

    type: str
    words: str
    outcome: str
    summary: str
    at: float
    waited_ms: float = 0
    ran_ms: float = 0
    attempts: int = 1
    id: str = ""


def read_operation(stored: Mapping[str, Json]) -> Operation:
    """An operation from the queue's file; what is missing or of another shape gets its default."""
    dependencies = stored.get("dependencies")
    return Operation(
        id=text_of(stored.get("id")),
        type=text_of(stored.get("type")),
        params=mapping(stored.get("params")),
        status=text_of(stored.get("status")) or Status.PENDING,
        created_at=_number(stored.get("created_at")) or 0,
        started_at=_number(stored.get("started_at")),
        completed_at=_number(stored.get("completed_at")),
        error=text_of(stored.get("error")) or None,
        retries=int(_number(stored.get("retries")) or 0),
        priority=_number(stored.get("priority")) or 0,
        dependencies=tuple(item for item in dependencies if isinstance(item, str))
        if isinstance(dependencies, list | tuple)
        else (),
        metadata=mapping(stored.get("metadata")),
        queue_version=int(_number(stored.get("queueVersion")) or 0),
        pause_before=stored.get("pauseBeforeExecution") is True,
        extra={key: value for key, value in stored.items() if key not in _KEYS},
    )


def write_operation(operation: Operation) -> dict[str, Json]:
    """An operation as the queue's file has it."""
    return {
        "id": operation.id,
        "type": operation.type,
        "params": dict(operation.params),
        "status": str(operation.status),
        "created_at": operation.created_at,
        "started_at": operation.started_at,
        "completed_at": operation.completed_at,
        "error": operation.error,
        "retries": operation.retries,
        "priority": operation.priority,
        "dependencies": list(operation.dependencies),
        "metadata": dict(operation.metadata),
        "queueVersion": operation.queue_version,
        "pauseBeforeExecution": operation.pause_before,
        **operation.extra,
    }


_KEYS: Final = frozenset(write_operation(Operation("", "")))


def _number(value: Json) -> float | None:
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None
