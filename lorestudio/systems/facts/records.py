"""What fact memory handles: threads, their lines, facts and what becomes of them, memories and matches.

Moments are milliseconds since the epoch. What may be absent is None; tags and profile fields are kept as a model gave
them, because the strict rules let any JSON pass there. Rules: fact-memory 1, 9.3, 9.4.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final, TypeAlias, TypedDict

from msgspec import Struct

from lorestudio.domain.javascript import Json
from lorestudio.domain.json_text import texts_in
from lorestudio.domain.texts import text_digest
from lorestudio.exchange.problems import InputError
from lorestudio.llm.embedding import Vector
from lorestudio.trace.wording import calendar_time


class FactAction(StrEnum):
    """What happens to a new fact."""

    SKIP = "skip"
    SUPERSEDE = "supersede"
    SAVE = "save"


class FactDecision(Struct, frozen=True):
    """What became of one fact, for people: its nearest neighbour and how near it was.

    `neighbour` is the id of the memory that it was nearest to, "" where that was a fact of the same run, or nothing.
    `memory` is the one that it became, or that says the same already; known once it was kept.
    """

    fact: str
    action: FactAction
    similarity: float | None = None
    neighbour: str = ""
    neighbour_text: str = ""
    pinned: bool = False
    memory: str = ""


CONFIRMED: Final = "confirmed"
INFERRED: Final = "inferred"

PROFILE_KEYS: Final = ("profileField", "profileKey", "profileValue", "profileUnit")
PROFILE_FIELDS: Final = ("conditions", "medications", "allergies", "vitals", "goals")
NO_FIELD: Final = "none"

Profile: TypeAlias = Mapping[str, Json]
"""A profile in its JSON spelling; with `set`, a rule may put any field into it (rules: fact-memory 8.1)."""


class FactError(InputError):
    """Something that fact memory refuses to do; the message says why."""

    def __init__(self, message: str) -> None:
        super().__init__("memories", message)


class DrawnMeanwhileError(FactError):
    """Another window or command has kept the facts of the same lines, so these are not kept beside them."""

    def __init__(self) -> None:
        super().__init__("Another window or command has drawn the facts of this passage meanwhile. Its facts are kept.")


class ThreadState(StrEnum):
    """Where a thread stands in its life (rules: fact-memory 3.1)."""

    ACTIVE = "active"
    COOLING = "cooling"
    DORMANT = "dormant"
    CLOSED = "closed"


class Thread(Struct, frozen=True):
    """A conversation's record.

    `attempts` counts extractions that failed in a row (rules: fact-memory 3.5 S3). `digest` is that of the lines the
    facts were drawn from, so that a passage of a chat that was edited later is recognised; `line_digests` are those of
    each line, so that what is left of it is found. Threads of older files have none until their text is met again.
    """

    id: str
    user_id: str
    created_at: int
    updated_at: int
    state: ThreadState = ThreadState.ACTIVE
    last_message_at: int | None = None
    cooling_started_at: int | None = None
    dormant_at: int | None = None
    closed_at: int | None = None
    attempts: int = 0
    digest: str = ""
    line_digests: tuple[str, ...] = ()

    def is_drawn_from(self, digest: str) -> bool:
        """Whether facts were drawn from lines of this digest, and nothing was said since."""
        return self.state is ThreadState.DORMANT and self.digest == digest != ""


class Line(Struct, frozen=True):
    """One message of a thread.

    `place` is its index in the chat file, None where it is not from one; `speaker` is who says it, where that is known.
    """

    role: str
    content: str
    place: int | None = None
    speaker: str = ""

    @property
    def told(self) -> str:
        """The text as models read it, with who says it."""
        return f"{self.speaker}: {self.content}" if self.speaker else self.content

    @property
    def said(self) -> Mapping[str, Json]:
        """What models are shown of it."""
        return {"role": self.role, "content": self.told}

    @property
    def digest(self) -> str:
        """What tells it from the other lines of its chat."""
        return text_digest(self.role, self.told)[:16]


class Fact(Struct, frozen=True):
    """A fact between the steps of the pipeline. `profile` holds those of `PROFILE_KEYS` that are present."""

    content: str
    source: str = ""
    tags: Json = None
    profile: Mapping[str, Json] = {}

    @property
    def data(self) -> dict[str, Json]:
        """The fact as JSON, without what is absent."""
        data: dict[str, Json] = {"content": self.content}
        if self.source:
            data["source"] = self.source
        if self.tags is not None:
            data["tags"] = self.tags
        return data | dict(self.profile)


class MemoryOrigin(Struct, frozen=True):
    """Where a memory came from: the run that made or last changed it, and the messages of the chat it read."""

    run: str = ""
    chat: str = ""
    first: int | None = None
    last: int | None = None


@dataclass(frozen=True, slots=True)
class Memory:
    """A stored fact (rules: fact-memory 1.3).

    `embedding` None is a row that takes no part in search; `unasked` marks one whose vector nobody asked for, which
    strict mode cannot search over (rules: fact-memory 1.3, 1.7). `vector_model` made the vector; those of another model
    are not comparable. `pinned` None is absent and counts as no. A new one has no `id` yet.
    """

    id: str
    user_id: str
    thread_id: str
    content: str
    source: str
    embedding: Vector | None = field(default=None, repr=False, compare=False)
    created_at: int | None = None
    pinned: bool | None = None
    tags: Json = None
    last_retrieved_at: int | None = None
    retrieval_count: int | None = None
    unasked: bool = False
    vector_model: str = ""
    origin: MemoryOrigin = field(default_factory=MemoryOrigin)

    @property
    def tag_names(self) -> tuple[str, ...]:
        """The tags that are text."""
        return texts_in(self.tags)


class MemoryChanges(TypedDict, total=False):
    """What is to be different about a memory; a key that is missing leaves its field alone."""

    content: str
    embedding: Vector | None
    source: str
    tags: Json
    pinned: bool
    last_retrieved_at: int
    retrieval_count: int
    vector_model: str
    origin: MemoryOrigin


class ExtractionRun(Struct, frozen=True):
    """One pass of the pipeline over a thread: when, with which model, and what it came to (counters as JSON)."""

    id: str
    user_id: str
    thread_id: str
    at: int
    model: str = ""
    counters: Mapping[str, Json] = {}
    problem: str = ""


def counts_words(counters: Mapping[str, object]) -> str:
    """The counters of a run in words."""
    words = {
        "totalExtracted": "drawn out", "memoriesSaved": "new", "memoriesSuperseded": "with newer words",
        "memoriesDeduped": "known already", "profileFieldsUpdated": "into the profile",
    }  # fmt: skip
    told = [f"{counters[name]} {word}" for name, word in words.items() if counters.get(name)]
    return ", ".join(told) or "nothing to keep"


class MemoryMatch(Struct, frozen=True):
    """A memory that was found, with its score; 1 for a pinned one (rules: fact-memory 1.4)."""

    memory: Memory
    score: float


def iso(moment: int) -> str:
    """A moment as ISO 8601 in UTC with milliseconds."""
    return f"{calendar_time(moment):%Y-%m-%dT%H:%M:%S}.{moment % 1000:03d}Z"


def day(moment: int) -> str:
    """The calendar day of a moment in UTC."""
    return iso(moment)[:10]
