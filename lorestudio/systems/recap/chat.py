"""A chat as recap memory sees it: its records, its metadata, to which chat they belong, and what is left when recaps
are cleared (rules: recap-memory 15, 19).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Final

from msgspec import Struct, field

from lorestudio.domain.javascript import Json, truthy
from lorestudio.domain.json_text import items_in, object_in, objects_in
from lorestudio.domain.records import replace
from lorestudio.domain.tokens import CHARS_4, TokenCounter
from lorestudio.settings.recap import RecapSettings
from lorestudio.systems.recap.records import NAMESPACE, OLD_NAMESPACE, Record, namespace
from lorestudio.systems.recap.running import (
    STORE_KEY,
    Ownership,
    RunningRecaps,
    Storage,
    after_deletion,
    after_insertion,
    cleaned,
    moved_up,
    read_store,
    storage,
    write_store,
)
from lorestudio.systems.recap.scenes import scenes
from lorestudio.systems.recap.scenes.scenes import CHECKED

_NAMESPACES: Final = (NAMESPACE, OLD_NAMESPACE)
_OF_LOREBOOKS: Final = ("activeLorebookEntries", "inactiveLorebookEntries")
_BETWEEN: Final = re.compile(r"(?<=\.png)\s*,\s*", re.IGNORECASE)  # a card's name may have commas


class Cleared(Struct, frozen=True):
    """How much clearing took away. After it, the next search for breaks begins at the first message."""

    messages: int = 0
    single_recaps: int = 0
    scene_recaps: int = 0
    scene_breaks: int = 0
    checked_flags: int = 0
    swipe_recaps: int = 0
    running_recaps: int = 0


def clear_all(messages: Sequence[Record], store: RunningRecaps) -> tuple[tuple[Record, ...], Cleared]:
    """The messages without anything of recap memory, and how much that was."""
    kept: list[Record] = []
    data = [namespace(message) for message in messages]
    swipes = 0
    for message in messages:
        bare, count = _bare(message)
        kept.append(bare)
        swipes += count
    counts = Cleared(
        messages=sum(any(name in object_in(message, "extra") for name in _NAMESPACES) for message in messages),
        single_recaps=sum(truthy(item.get("memory")) for item in data),
        scene_recaps=sum(scenes.has_recap(each) or bool(scenes.versions_of(each).texts) for each in messages),
        scene_breaks=sum(truthy(item.get("scene_break")) for item in data),
        checked_flags=sum(truthy(item.get(CHECKED)) for item in data),
        swipe_recaps=swipes,
        running_recaps=len(store.versions),
    )
    return tuple(kept), counts


def _bare(message: Record) -> tuple[Record, int]:
    """The message without namespaces, and how many of its swipes had one; what is left empty goes, too."""
    result = dict(message)
    extra = result.get("extra")
    if isinstance(extra, Mapping):
        _put(result, {key: value for key, value in extra.items() if key not in (*_NAMESPACES, *_OF_LOREBOOKS)}, extra)
    infos = result.get("swipe_info")
    count = 0
    if isinstance(infos, list | tuple):
        swipes: list[Json] = []
        for info in infos:
            inside = info.get("extra") if isinstance(info, Mapping) else None
            if isinstance(info, Mapping) and isinstance(inside, Mapping) and any(n in inside for n in _NAMESPACES):
                count += 1
                bare = dict(info)
                _put(bare, {key: value for key, value in inside.items() if key not in _NAMESPACES}, inside)
                swipes.append(bare)
            else:
                swipes.append(info)
        result["swipe_info"] = swipes
    return result, count


def _put(record: dict[str, Json], extra: dict[str, Json], before: Mapping[str, Json]) -> None:
    """Give the record its `extra` back, unless taking something away has left it empty."""
    if extra or not before:
        record["extra"] = extra
    else:
        del record["extra"]


REFUSED_KEY: Final = "lorestudio_refused_running_recaps"
"""Where the metadata keeps running recaps of other chats that were found in this one."""


class RecapChat(Struct, frozen=True, dict=True):
    """A whole chat; a change makes a new one. `id` is the name of its file without ending.

    `lorebooks` are the names of lorebooks that exist, by which an import is told; `is_group` says whether several
    characters speak.
    """

    id: str
    messages: tuple[Record, ...] = ()
    metadata: Mapping[str, Json] = {}
    user_name: str = "User"
    character_name: str = ""
    lorebooks: frozenset[str] = frozenset()
    is_group: bool = False

    def at(self, index: int) -> Record | None:
        """The message at this position, None where there is none."""
        return self.messages[index] if 0 <= index < len(self.messages) else None

    def with_message(self, index: int, message: Record) -> RecapChat:
        """With another message at this position."""
        return replace(self, messages=(*self.messages[:index], message, *self.messages[index + 1 :]))

    def with_messages(self, messages: tuple[Record, ...]) -> RecapChat:
        """With other messages."""
        return replace(self, messages=messages)

    def checked(self, first: int, last: int) -> RecapChat:
        """With the messages of a range counting as looked through for breaks."""
        return self.with_messages(scenes.checked(self.messages, first, last))

    def with_break(self, index: int) -> RecapChat:
        """With a visible scene break at this position."""
        shown = scenes.is_visible_break(self.messages[index])
        return self if shown else self.with_messages(scenes.toggle(self.messages, index))

    @cached_property
    def storage(self) -> Storage:
        """The running recap's versions, and how it was decided that they belong here.

        A branch has none of those that reach beyond it (rules: recap-memory 19.6).
        """
        found = storage(self.id, self.metadata, self.lorebooks)
        if found.outcome is not Ownership.ADOPTED_BRANCH:
            return found
        return replace(found, store=cleaned(found.store, len(self.messages), self.recaps)[0])

    @cached_property
    def running(self) -> RunningRecaps:
        """The running recap's versions."""
        return self.storage.store

    @property
    def foreign(self) -> RunningRecaps | None:
        """Running recaps of another chat, found in this one or put aside last, while it has none of its own."""
        aside, found = objects_in(self.metadata.get(REFUSED_KEY)), self.storage
        if found.refused is not None or found.store.versions or not aside:
            return found.refused
        return read_store(aside[-1])

    def adopted(self) -> RecapChat:
        """With the running recaps of another chat as its own, as far as their scenes are here.

        Those that the other chat left aside stay there.
        """
        store, aside = self.foreign, items_in(self.metadata.get(REFUSED_KEY))
        if store is None:
            return self
        left = aside if self.storage.refused is not None else aside[:-1]
        metadata = {key: value for key, value in self.metadata.items() if key not in (STORE_KEY, REFUSED_KEY)}
        bare = replace(self, metadata={**metadata, REFUSED_KEY: [*left]} if left else metadata)
        return bare.with_running(store).cleaned()[0]

    def with_running(self, store: RunningRecaps) -> RecapChat:
        """With these versions of the running recap, as this chat's own; those of another chat are put aside."""
        refused, metadata = self.storage.refused, self.metadata
        if refused is not None:
            metadata = {**metadata, REFUSED_KEY: [*items_in(metadata.get(REFUSED_KEY)), write_store(refused)]}
        return replace(self, metadata={**metadata, STORE_KEY: write_store(replace(store, chat_id=self.id))})

    @cached_property
    def breaks(self) -> tuple[int, ...]:
        """Positions of visible scene breaks."""
        return scenes.visible_breaks(self.messages)

    @cached_property
    def recaps(self) -> tuple[int, ...]:
        """Positions of scene recaps."""
        return scenes.scene_recaps(self.messages)

    @property
    def locks(self) -> dict[int, scenes.SceneLock]:
        """What locks each break; behind all versions of the running recap nothing does, whatever marks were left."""
        reach = max((version.reaches for version in self.running.versions), default=-1)
        return scenes.locks(self.messages[: reach + 1])

    def without_scene(self, index: int) -> RecapChat:
        """Without a scene: its break, its recap, and the versions of the running recap that reach to it.

        Of the most recent scene, the messages from the scene before on count as not looked through any more; without
        one before it, message 0 keeps its mark, as in the original (rules: recap-memory 11).
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

    def without_version(self, number: int) -> RecapChat:
        """Without a version of the running recap; the scene that no other one reaches to is locked no more.

        Raises KeyError where there is none of this number.
        """
        store, left = self.running, self.with_running(self.running.without(number))
        place = next(version.reaches for version in store.versions if version.number == number)
        message = self.at(place)
        reached = any(version.reaches == place for version in left.running.versions)
        if message is None or reached or not scenes.is_combined(message):
            return left
        return left.with_message(place, scenes.with_combined(message, None))

    def cleaned(self) -> tuple[RecapChat, tuple[int, ...]]:
        """Without versions of the running recap whose scene is gone, and their numbers."""
        store, gone = cleaned(self.running, len(self.messages), self.recaps)
        return (self.with_running(store), gone) if gone else (self, gone)

    def followed(self, before: RecapChat, where: Mapping[int, int]) -> RecapChat:
        """With versions of the running recap that follow the messages of `before` to where they are now.

        Other versions than those of `before` were brought into order by whoever wrote them.
        """
        store, recaps, length = self.running, before.recaps, len(before.messages)
        if store != before.running:
            return self
        for index in reversed([index for index in range(length) if index not in where]):
            store, _ = after_deletion(store, index, length, recaps)
            recaps = tuple(moved_up(place, index) for place in recaps if place != index)
            length -= 1
        for index in sorted(set(range(len(self.messages))).difference(where.values())):
            store = after_insertion(store, index)
        return self if store == self.running else self.with_running(store)

    def cleared(self) -> tuple[RecapChat, Cleared]:
        """Without anything that recap memory keeps, and how much that was."""
        messages, counts = clear_all(self.messages, self.running)
        return self.with_messages(messages).with_running(RunningRecaps(self.id)), counts


class RecapSurroundings(Struct, frozen=True):
    """What the tests need beside the message. `disabled` are the files of cards whose members of the group are off."""

    settings: RecapSettings = field(default_factory=RecapSettings)
    counter: TokenCounter = CHARS_4
    disabled: frozenset[str] = frozenset()

    @classmethod
    def of(cls, chat: RecapChat, settings: RecapSettings, counter: TokenCounter) -> RecapSurroundings:
        """Those of a chat: outside a group nobody is off."""
        off = map(str.strip, _BETWEEN.split(settings.disabled_members)) if chat.is_group else ()
        return cls(settings, counter, frozenset(filter(None, off)))
