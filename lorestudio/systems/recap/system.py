"""Recap memory as a system that a chat is replayed with: for each reply, what it was given at that time.

A recap counts from the message on that it lies behind; a version of the running recap counts once the scene that it
reaches to is over. No model is asked: what the chat file has decides.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import ClassVar, Final

from lorestudio.domain.javascript import Json
from lorestudio.domain.records import replace
from lorestudio.exchange.settings_files import SectionCarrier
from lorestudio.settings.declaration import declared
from lorestudio.settings.recap import PLACES, RecapSettings, extension_settings
from lorestudio.systems.base import Decided, Moment, Scene, State, System, SystemKind, inputs_digest
from lorestudio.systems.recap import NAME, SUMMARY, TITLE
from lorestudio.systems.recap.chat import RecapChat, RecapSurroundings
from lorestudio.systems.recap.chat_file import recap_chat
from lorestudio.systems.recap.refresh import refreshed
from lorestudio.systems.recap.scenes.scenes import scene_recaps
from lorestudio.systems.recap.tracing import recap_trace
from lorestudio.systems.recap.words import VOCABULARY


def as_seen(chat: RecapChat, moment: Moment) -> RecapChat:
    """The chat with what was in sight then marked as visible; auto-hide decides anew on top of that."""
    shown = {place for first, last in moment.seen.shown for place in range(first, last + 1)}
    if not shown:
        return chat
    messages = (
        {**message, "is_system": False} if place in shown else message for place, message in enumerate(chat.messages)
    )
    return replace(chat, messages=tuple(messages))


def chat_until(chat: RecapChat, message: int) -> RecapChat:
    """The chat as it was before the message at this index was written.

    Of the running recap's versions those are left that reach to a scene of this part; where the current one is not
    among them, the last of them is current.
    """
    messages = chat.messages[:message]
    until = replace(chat, messages=messages)
    if message >= len(chat.messages):
        return until
    known = frozenset(scene_recaps(messages))
    store = chat.running
    left = tuple(version for version in store.versions if version.reaches in known)
    numbers = [version.number for version in left]
    current = store.current if store.current in numbers else max(numbers, default=0)
    return until.with_running(replace(store, versions=left, current=current))


@dataclass(frozen=True, slots=True)
class RecapSystem(System):
    """Recap memory of one chat, with its settings."""

    kind: ClassVar[SystemKind]

    settings: RecapSettings
    chat: RecapChat = field(repr=False)

    @classmethod
    def of(cls, settings: RecapSettings, scene: Scene) -> RecapSystem:
        """That of the scene's chat; without one there is nothing to tell."""
        name = scene.chat_path.stem if scene.chat_path is not None else " + ".join(scene.index.vaults) or "untitled"
        return cls(settings, RecapChat(name) if scene.chat is None else recap_chat(scene.chat, name))

    @property
    def inputs(self) -> str:
        """The digest of the settings, and of what the chat has besides its messages."""
        return inputs_digest(
            self.settings,
            self.chat.id,
            self.chat.metadata,
            self.chat.user_name,
            self.chat.character_name,
            sorted(self.chat.lorebooks),
        )

    def with_chat_of(self, other: System) -> System:
        """The other's messages with the recaps that the chat has here."""
        if not isinstance(other, RecapSystem):
            return self
        return replace(self, chat=replace(other.chat, metadata=self.chat.metadata))

    def with_knowledge_of(self, other: System) -> System:
        """The messages here with the other's recaps."""
        return (
            replace(other, chat=replace(self.chat, metadata=other.chat.metadata))
            if isinstance(other, RecapSystem)
            else other
        )

    def scenario_fields(self) -> Mapping[str, Json]:
        """By its chat's name the running recap is told from that of another chat."""
        return {"chat_name": self.chat.id}

    async def decide(self, moment: Moment, state: State = None) -> Decided:
        """Bring the chat of before this reply up to date; every turn stands for itself."""
        begun = moment.timer()
        around = RecapSurroundings(self.settings, moment.counter)
        before = as_seen(chat_until(self.chat, moment.turn.message), moment)
        done = refreshed(before, around, moment.context_size)
        trace = recap_trace(
            done,
            self.settings,
            moment.counter,
            context_size=moment.context_size,
            turn=moment.turn,
            clock_ms=moment.clock_ms,
            digests=moment.digests,
        )
        first = replace(trace.stages[0], duration_ms=1000 * (moment.timer() - begun))
        return Decided(replace(trace, stages=(first, *trace.stages[1:]), seed=moment.seed), state)


KIND: Final = SystemKind(
    NAME,
    TITLE,
    SUMMARY,
    RecapSettings,
    RecapSystem.of,
    VOCABULARY,
    remembers=True,
    no_text="Recap memory looks at no text: whatever is said, it gives what the chat remembers.",
    no_budget="Recap memory has no token budget for what goes in: the running recap goes in as a whole.",
    not_held="Recap memory chooses no entries: what the running recap says goes in as a whole.",
    knows="The chat's recaps",
    reads_file=extension_settings,
    carrier=partial(
        SectionCarrier,
        places={each.alias: PLACES for each in declared(RecapSettings) if each.alias != "position_dialect"},
    ),
)
RecapSystem.kind = KIND
