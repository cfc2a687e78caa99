"""The memories that a replay sees, and how a trace names them."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from lorestudio.domain.tokens import TokenCounter
from lorestudio.memory.facts.keeping import comparable
from lorestudio.memory.facts.records import Memory, Profile
from lorestudio.memory.facts.similarity import VectorTable
from lorestudio.trace.model import EntryRef

SOURCE: Final = "memories"
"""What stands in a trace in place of a vault."""

_TITLE: Final = 60


@dataclass(frozen=True, slots=True)
class Known:
    """The memories that a replay sees, with their vectors; `chat` is the name of the chat that is replayed."""

    chat: str = ""
    memories: tuple[Memory, ...] = ()
    profile: Profile | None = None
    table: VectorTable = field(default_factory=lambda: VectorTable(()))
    usable: tuple[bool, ...] = ()
    digest: str = ""

    @classmethod
    def of(cls, chat: str, memories: Sequence[Memory], profile: Profile | None, model: str) -> Known:
        """Those memories; vectors of another model are no vectors."""
        usable = tuple(memory.embedding is not None and comparable(memory, model) for memory in memories)
        vectors = [memory.embedding if use else None for memory, use in zip(memories, usable, strict=True)]
        told = repr((profile, [(each.id, each.content, each.pinned, each.tags) for each in memories]))
        digest = hashlib.sha256(told.encode("utf-8", "surrogatepass")).hexdigest()
        return cls(chat, tuple(memories), profile, VectorTable(vectors), usable, digest)

    @property
    def inputs(self) -> str:
        """The digest, with everything else of the memories that a search weighs."""
        told = repr((self.chat, self.digest, self.usable, self.memories))
        return hashlib.sha256(told.encode("utf-8", "surrogatepass")).hexdigest()


def entry_ref(place: int, memory: Memory, counter: TokenCounter) -> EntryRef:
    """Who the memory is in a trace."""
    return EntryRef(place, short(memory.content), SOURCE, memory.id, 0, counter.count(memory.content))


def short(text: str) -> str:
    """The beginning of a text on one line."""
    line = " ".join(text.split())
    return line if len(line) <= _TITLE else f"{line[: _TITLE - 1]}…"
