"""A chat as recap memory sees it: its records, its metadata, and to which chat they belong."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from lorestudio.domain.javascript import Json, truthy
from lorestudio.systems.recap import lifecycle, scenes
from lorestudio.systems.recap.records import Record
from lorestudio.systems.recap.running import RunningRecaps, after_deletion, cleaned, write_store
from lorestudio.systems.recap.storage import Storage, storage, with_store

REFUSED_KEY: Final = "lorestudio_refused_running_recaps"
"""Where the metadata keeps running recaps of other chats that were found in this one."""


@dataclass(frozen=True, slots=True)
class RecapChat:
    """A whole chat; a change makes a new one. `id` is the name of its file without ending.

    `lorebooks` are the names of lorebooks that exist, by which an import is told.
    """

    id: str
    messages: tuple[Record, ...] = ()
    metadata: Mapping[str, Json] = field(default_factory=dict)
    user_name: str = "User"
    character_name: str = ""
    lorebooks: frozenset[str] = frozenset()

    def at(self, index: int) -> Record | None:
        """The message at this position, None where there is none."""
        return self.messages[index] if 0 <= index < len(self.messages) else None

    def with_message(self, index: int, message: Record) -> RecapChat:
        """With another message at this position."""
        return replace(self, messages=(*self.messages[:index], message, *self.messages[index + 1 :]))

    def with_messages(self, messages: tuple[Record, ...]) -> RecapChat:
        """With other messages."""
        return replace(self, messages=messages)

    @property
    def storage(self) -> Storage:
        """The running recap's versions, and how it was decided that they belong here."""
        return storage(self.id, self.metadata, self.lorebooks)

    @property
    def running(self) -> RunningRecaps:
        """The running recap's versions."""
        return self.storage.store

    def with_running(self, store: RunningRecaps) -> RecapChat:
        """With these versions of the running recap, as this chat's own; those of another chat are put aside."""
        refused, metadata = self.storage.refused, self.metadata
        if refused is not None:
            aside = metadata.get(REFUSED_KEY)
            kept = list(aside) if isinstance(aside, list | tuple) else []
            metadata = {**metadata, REFUSED_KEY: [*kept, write_store(refused)]}
        return replace(self, metadata=with_store(metadata, replace(store, chat_id=self.id)))

    @property
    def breaks(self) -> tuple[int, ...]:
        """Positions of visible scene breaks."""
        return scenes.visible_breaks(self.messages)

    @property
    def recaps(self) -> tuple[int, ...]:
        """Positions of scene recaps."""
        return scenes.scene_recaps(self.messages)

    def without_message(self, index: int) -> tuple[RecapChat, tuple[int, ...]]:
        """Without a message: what is stored about later ones moves up, and versions left over go; their numbers."""
        before = self.running
        store, gone = after_deletion(before, index, len(self.messages), self.recaps)
        left = replace(self, messages=(*self.messages[:index], *self.messages[index + 1 :]))
        return left.with_running(store) if before.versions else left, gone

    def without_scene(self, index: int) -> RecapChat:
        """Without a scene: its break, its recap, and the versions of the running recap that reach to it.

        Of the most recent scene, the messages from the scene before on count as not looked through any more; without
        one before it, message 0 keeps its mark, as in the original (spec: recap-memory 11).
        """
        known = [place for place in self.breaks if scenes.has_recap(self.messages[place])]
        earlier = max((place for place in known if place < index), default=0)
        messages = list(self.messages)
        messages[index] = scenes.cleared(messages[index])
        if not any(place > index for place in known):
            scenes.unchecked(messages, earlier + 1, len(messages))
        store = self.running
        for version in store.versions:
            if version.reaches == index:
                store = store.without(version.number)
        left = self.with_messages(tuple(messages))
        return (left.with_running(store) if store != self.running else left).cleaned()[0]

    def cleaned(self) -> tuple[RecapChat, tuple[int, ...]]:
        """Without versions of the running recap whose scene is gone, and their numbers."""
        store, gone = cleaned(self.running, len(self.messages), self.recaps)
        return (self.with_running(store), gone) if gone else (self, gone)

    def branch(self, last: int, name: str) -> RecapChat:
        """A branch of this chat: its messages up to `last`, and a copy of its metadata that names this one.

        Versions of the running recap that reach beyond are left out (spec: recap-memory 19.6).
        """
        copied: Mapping[str, Json] = {**self.metadata, "main_chat": self.id}
        chat = replace(self, id=name, messages=self.messages[: last + 1], metadata=copied)
        adopted = chat.with_running(chat.running) if truthy(self.running.versions) else chat
        return adopted.cleaned()[0]

    def cleared(self) -> tuple[RecapChat, lifecycle.Cleared]:
        """Without anything that recap memory keeps, and how much that was."""
        messages, counts = lifecycle.clear_all(self.messages, self.running)
        return self.with_messages(messages).with_running(RunningRecaps(self.id)), counts
