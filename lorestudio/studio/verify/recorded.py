"""What a chat records of each reply, and how far that can be trusted (rules: recorded-sources 2, 3)."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from operator import attrgetter
from typing import Final

from msgspec import Struct

from lorestudio.domain.chat import Chat, Generation, Message
from lorestudio.domain.entry import Entry, VaultIndex
from lorestudio.domain.texts import whole_number
from lorestudio.exchange.chats.metadata import read_state
from lorestudio.exchange.chats.recorded import (
    SOURCES,
    RecordedEntry,
    found_among,
    generated,
    recorded_entries,
    written_by_newer,
)
from lorestudio.studio.project.project import Project
from lorestudio.studio.replay.ranges import generations
from lorestudio.systems.base import SystemKind

SLOTS_KEPT: Final = 10
"""Of so many messages from the end of the chat the header keeps slots (rules: recorded-sources 3)."""


class Trust(StrEnum):
    """How far a record can be trusted."""

    SURE = "sure"
    UNSURE = "unsure"
    """It repeats the record before it, and nothing witnesses that something went in."""
    CARRIED = "carried over"
    """It repeats the record before it, and that turn left no slot, as it does where nothing matched."""
    UNWRITTEN = "no model wrote it"


class RecordedReply(Struct, frozen=True):
    """What is recorded of one swipe of a reply; `like` is the message whose record it repeats, where that can mean that
    it was carried over.
    """

    generation: Generation
    entries: tuple[RecordedEntry, ...]
    trust: Trust = Trust.SURE
    like: int | None = None

    def holds_for(self, *, anything_went_in: bool) -> bool:
        """Whether it counts as what went in; one that nothing witnesses does where the run let anything in."""
        return self.trust is Trust.SURE or (self.trust is Trust.UNSURE and anything_went_in)

    def found_in(self, index: VaultIndex) -> list[Entry]:
        """The entries of an index that it speaks of, in its order."""
        return [entry for each in self.entries if (entry := found_among(each, index.entries)) is not None]

    @property
    def said(self) -> str:
        """Why it is not trusted, in a sentence; "" where it is."""
        if self.trust is Trust.UNWRITTEN:
            return "No model wrote this message: its record is that of the generation before."
        if self.trust is Trust.SURE:
            return ""
        return f"{self.repeated} It was probably carried over because nothing matched."

    @property
    def repeated(self) -> str:
        """Which record it repeats, in a sentence; "" where it repeats none."""
        return "" if self.like is None else f"The record is that of #{self.like} again."


def recorded_replies(project: Project, kind: SystemKind) -> dict[Generation, RecordedReply]:
    """The records of a chat's replies by a system of this kind; replies without one are not there."""
    chat = project.chat or Chat()
    for key in kind.records:
        found = {each.generation: each for each in _records(project, chat, key)}
        if found:
            return found
    return {}


def _records(project: Project, chat: Chat, key: str) -> Iterator[RecordedReply]:
    timed = any(map(generated, chat.messages))
    slots = _Slots(project, chat)
    replies, said = generations(chat)[:-1], frozenset(chat.replies)
    others = (Generation(place, each.swipe) for place, each in enumerate(chat.messages) if place not in said)
    before: tuple[int, tuple[RecordedEntry, ...]] | None = None
    for generation in sorted((*replies, *others), key=attrgetter("message")):
        message = chat.messages[generation.message]
        entries = recorded_entries(message, generation.swipe, key)
        if entries is None:
            continue
        like = before[0] if before is not None and before[1] == entries else None
        before = generation.message, entries
        if generation.message not in said:
            continue  # it may be what a reply's record repeats
        trust = Trust.SURE
        if key != SOURCES or written_by_newer(message):
            like = None
        elif timed and generation.swipe == message.swipe and not generated(message):
            trust = Trust.UNWRITTEN
        elif like is not None:
            trust = slots.trust(generation)
        yield RecordedReply(generation, entries, trust, like)


class _Slots:
    """Which turns left a slot in the header: the last message that the turn saw, and its swipe."""

    def __init__(self, project: Project, chat: Chat) -> None:
        self._slots = frozenset(read_state(chat.metadata).swipe_keys)
        places = [whole_number(place) for each in self._slots if (place := each.partition("|")[0]).isdecimal()]
        self._newest = max(places, default=-1)
        self._chat, self._history = chat, project.history

    def trust(self, generation: Generation) -> Trust:
        """For a record that repeats the one before it."""
        hidden = self._history.sight(generation).shown
        shown = {place for first, last in hidden for place in range(first, last + 1)}
        seen: list[Message] = [
            each
            for place, each in enumerate(self._chat.messages[: generation.message])
            if not each.is_system or place in shown
        ]
        place = len(seen) - 1
        if f"{place}|{seen[-1].swipe if seen else 0}" in self._slots:
            return Trust.SURE
        kept = bool(self._slots) and self._newest - SLOTS_KEPT < place <= self._newest
        return Trust.CARRIED if kept else Trust.UNSURE
