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
from lorestudio.domain.tokens import TokenCounter
from lorestudio.exchange.settings_files import SectionCarrier
from lorestudio.settings.recap import PLACES, RecapSettings, extension_settings
from lorestudio.systems.base import Decided, Moment, Scene, State, System, SystemKind, inputs_digest
from lorestudio.systems.known import Known
from lorestudio.systems.recap import NAME, SUMMARY, TITLE
from lorestudio.systems.recap.chat import RecapChat, RecapSurroundings
from lorestudio.systems.recap.chat_file import recap_chat
from lorestudio.systems.recap.refresh import ReadChat
from lorestudio.systems.recap.tracing import Telling, recap_trace
from lorestudio.systems.recap.words import VOCABULARY
from lorestudio.trace.journey import FOREIGN_IDS
from lorestudio.trace.model import Trace


@dataclass(frozen=True, slots=True)
class RecapSystem(System):
    """Recap memory of one chat, with its settings."""

    kind: ClassVar[SystemKind]

    settings: RecapSettings
    chat: RecapChat = field(repr=False)
    shared: Known = field(default_factory=Known, repr=False, compare=False)

    @classmethod
    def of(cls, settings: RecapSettings, scene: Scene) -> RecapSystem:
        """That of the scene's chat; without one there is nothing to tell."""
        name = scene.chat_path.stem if scene.chat_path is not None else " + ".join(scene.index.vaults) or "untitled"
        return cls(settings, RecapChat(name) if scene.chat is None else recap_chat(scene.chat, name))

    @property
    def inputs(self) -> str:
        """The digest of the settings, and of what the chat has besides its messages."""
        chat, names = self.chat, (self.chat.user_name, self.chat.character_name)
        return inputs_digest(self.settings, chat.id, chat.metadata, *names, sorted(chat.lorebooks), chat.is_group)

    def with_chat_of(self, other: System) -> System:
        """The other's messages with the recaps that the chat has here."""
        if not isinstance(other, RecapSystem):
            return self
        return replace(self, chat=replace(other.chat, metadata=self.chat.metadata))

    def with_knowledge_of(self, other: System) -> System:
        """The messages here with the other's recaps."""
        if not isinstance(other, RecapSystem):
            return other
        return replace(other, chat=replace(self.chat, metadata=other.chat.metadata))

    def scenario_fields(self) -> Mapping[str, Json]:
        """By its chat's name the running recap is told from that of another chat."""
        return {"chat_name": self.chat.id}

    async def decide(self, moment: Moment, state: State = None) -> Decided:
        """Bring the chat of before this reply up to date; every turn stands for itself."""
        return Decided(self.traced(moment), state)

    def traced(self, moment: Moment) -> Trace:
        """What that comes to."""
        begun, told = moment.timer(), self._told(moment.counter)
        shown, size = moment.seen.shown, moment.context_size
        key = moment.turn.message, size, shown, moment.recorded
        trace = told.newest.get(key)  # another thread may forget it meanwhile
        if trace is None:
            in_sight = {index for first, last in shown for index in range(first, last + 1)}
            done = told.read.refreshed(moment.turn.message, size, in_sight, recorded=moment.recorded)
            trace = recap_trace(done, context_size=size, told=told)
            told.newest.clear()
            told.newest[key] = trace
        first = replace(trace.stages[0], duration_ms=1000 * (moment.timer() - begun))
        return replace(
            trace,
            stages=(first, *trace.stages[1:]),
            turn=moment.turn,
            clock_ms=moment.clock_ms,
            digests=moment.digests,
            seed=moment.seed,
        )

    def _told(self, counter: TokenCounter) -> Telling:
        """What is read of the chat and said of it at every reply. Its messages are none of the project's entries."""
        around = RecapSurroundings.of(self.chat, self.settings, counter)
        key = self.settings, counter.identity
        return self.shared.of(self.chat, key, lambda: Telling(ReadChat(self.chat, around), FOREIGN_IDS))


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
        SectionCarrier,  # the extension has no dialects, and a list of members for each group
        places={
            name: PLACES for name in RecapSettings.model_fields if name not in ("position_dialect", "disabled_members")
        },
    ),
)
RecapSystem.kind = KIND
