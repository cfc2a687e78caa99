"""The running recap: one text for the whole chat, in versions that are known by their numbers (rules: recap-memory 14).

Stored versions belong to one chat: branches and imports keep them, those of another chat are refused
(rules: recap-memory 15).
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from enum import StrEnum
from typing import Final

from msgspec import Struct

from lorestudio.domain.javascript import Json, to_string, trim, truthy
from lorestudio.domain.json_text import mapping_in, objects_in, text_in, whole_in
from lorestudio.domain.records import picked, replace

STORE_KEY: Final = "auto_recap_running_scene_recaps"
"""Where the chat's metadata keeps the store."""

_SECTIONS: Final = ("developments", "open", "state")


class RunningVersion(Struct, frozen=True):
    """One version. `new_scene` is the break that it reaches to, None where the file says nothing, which counts as 0.

    `extra` holds keys of the file that are not known here.
    """

    number: int
    content: str
    scene_count: int = 0
    excluded_count: int = 0
    previous_scene: int = 0
    new_scene: int | None = 0
    timestamp: int | None = None
    event_keys: tuple[Json, ...] | None = None
    extra: Mapping[str, Json] = {}

    @property
    def reaches(self) -> int:
        """The position of the break that it reaches to."""
        return self.new_scene or 0


class RunningRecaps(Struct, frozen=True):
    """The versions of a chat, and the number of the current one. `chat_id` is None where the file has none."""

    chat_id: str | None = None
    current: int = 0
    versions: tuple[RunningVersion, ...] = ()
    extra: Mapping[str, Json] = {}

    def get(self, number: int | None = None) -> RunningVersion | None:
        """The version of this number, else the current one; None where there is no such."""
        wanted = self.current if number is None else number
        return next((version for version in self.versions if version.number == wanted), None)

    @property
    def content(self) -> str:
        """The text of the current version, empty where there is none."""
        version = self.get()
        return version.content if version is not None else ""

    def previous_before(self, scene: int) -> RunningVersion | None:
        """The last in the list that reaches to a scene before this one."""
        return next((version for version in reversed(self.versions) if version.reaches < scene), None)

    def added(
        self,
        content: str,
        scene_count: int,
        excluded_count: int,
        previous_scene: int = 0,
        new_scene: int = 0,
        *,
        now_ms: int | None = None,
    ) -> RunningRecaps:
        """With one more version, which becomes the current one; its number is one above the highest."""
        number = 1 + max((version.number for version in self.versions), default=-1)
        version = RunningVersion(
            number, content, scene_count, excluded_count, previous_scene, new_scene, now_ms, () if now_ms else None
        )
        return replace(self, current=number, versions=(*self.versions, version))

    def with_current(self, number: int) -> RunningRecaps:
        """With another version in force. Raises KeyError where there is none of this number."""
        if self.get(number) is None:
            raise KeyError(number)
        return replace(self, current=number)

    def without(self, number: int) -> RunningRecaps:
        """Without a version; where it was current, the highest one left is. Raises KeyError where there is none."""
        if self.get(number) is None:
            raise KeyError(number)
        left = tuple(version for version in self.versions if version.number != number)
        highest = max((version.number for version in left), default=0)
        return replace(self, versions=left, current=highest if self.current == number else self.current)

    def edited(self, content: str, *, now_ms: int | None = None) -> RunningRecaps:
        """With a new version of this text that covers what the current one does; unchanged text makes none.

        Raises KeyError where there is no current version.
        """
        current = self.get()
        if current is None:
            raise KeyError(self.current)
        if current.content == content:
            return self
        return self.added(
            content, current.scene_count, current.excluded_count, current.previous_scene, current.reaches, now_ms=now_ms
        )

    def combined(self, scene: int, content: str, excluded_count: int, *, now_ms: int | None = None) -> RunningRecaps:
        """With the version that a combine for this scene makes: one scene more than the last one before it."""
        before = self.previous_before(scene)
        count, reaches = (before.scene_count + 1, before.reaches) if before is not None else (1, 0)
        return self.added(content, count, excluded_count, reaches, scene, now_ms=now_ms)


def read_store(value: Json) -> RunningRecaps:
    """The store of a chat's metadata; what has another shape counts as not there."""
    stored = mapping_in(value)
    chat_id = stored.get("chat_id")
    known = ("chat_id", "current_version", "versions")
    return RunningRecaps(
        chat_id if isinstance(chat_id, str) else None,
        whole_in(stored.get("current_version")) or 0,
        tuple(map(_read, objects_in(stored.get("versions")))),
        {key: item for key, item in stored.items() if key not in known},
    )


def write_store(store: RunningRecaps) -> dict[str, Json]:
    """The store as the chat's metadata keeps it."""
    owner: dict[str, Json] = {} if store.chat_id is None else {"chat_id": store.chat_id}
    versions: list[Json] = [_write(version) for version in store.versions]
    return {**owner, "current_version": store.current, "versions": versions, **store.extra}


_FIELDS: Final = (
    "version", "timestamp", "content", "scene_count", "excluded_count", "prev_scene_index", "new_scene_index",
    "event_keys",
)  # fmt: skip


def _read(item: Mapping[str, Json]) -> RunningVersion:
    reaches, stamp, events = item.get("new_scene_index"), item.get("timestamp"), item.get("event_keys")
    excluded = item.get("excluded_count", item.get("exclude_count"))  # the reference's edit spells it so
    return RunningVersion(
        whole_in(item.get("version")) or 0,
        text_in(item.get("content")),
        whole_in(item.get("scene_count")) or 0,
        whole_in(excluded) or 0,
        whole_in(item.get("prev_scene_index")) or 0,
        None if reaches is None else whole_in(reaches) or 0,
        None if stamp is None else whole_in(stamp) or 0,
        tuple(events) if isinstance(events, list | tuple) else None,
        {key: value for key, value in item.items() if key not in _FIELDS},
    )


def _write(version: RunningVersion) -> dict[str, Json]:
    written: dict[str, Json] = {
        "version": version.number,
        **picked(version, "timestamp", "content", "scene_count", "excluded_count"),
        "prev_scene_index": version.previous_scene,
        "new_scene_index": version.new_scene,
        "event_keys": None if version.event_keys is None else list(version.event_keys),
    }
    return {key: value for key, value in written.items() if value is not None} | dict(version.extra)


def scenes_to_use(recaps: Sequence[int], exclude_latest: int) -> tuple[int, ...]:
    """The scenes that a running recap is made of: without the last ones, unless those are all
    (rules: recap-memory 14.2).
    """
    drop = exclude_latest if 0 < exclude_latest < len(recaps) else 0
    return tuple(recaps[: len(recaps) - drop])


def cleaned(store: RunningRecaps, chat_length: int, recaps: Sequence[int]) -> tuple[RunningRecaps, tuple[int, ...]]:
    """Without versions whose last scene is gone, and the numbers of those (rules: recap-memory 14.6)."""
    known = frozenset(recaps)
    gone = tuple(
        version.number for version in store.versions if version.reaches >= chat_length or version.reaches not in known
    )
    for number in gone:
        store = store.without(number)
    current = store.get()
    if current is not None and current.reaches >= chat_length:
        store = replace(store, current=max(version.number for version in store.versions))
    return store, gone


def after_deletion(
    store: RunningRecaps, deleted: int, chat_length: int, recaps: Sequence[int]
) -> tuple[RunningRecaps, tuple[int, ...]]:
    """The store after the message at `deleted` went: places behind it move up, then what is left over goes.

    `chat_length` and `recaps` are those before (rules: recap-memory 19.3).
    """
    versions = tuple(
        replace(
            version,
            previous_scene=moved_up(version.previous_scene, deleted),
            new_scene=None if version.new_scene is None else moved_up(version.new_scene, deleted),
        )
        for version in store.versions
    )
    left = [moved_up(place, deleted) for place in recaps if place != deleted]
    return cleaned(replace(store, versions=versions), chat_length - 1, left)


def after_insertion(store: RunningRecaps, put_in: int) -> RunningRecaps:
    """The store after a message was put in at this position: places from it on move down. 0 may stand for none."""
    versions = tuple(
        replace(
            version,
            previous_scene=version.previous_scene + (0 < version.previous_scene >= put_in),
            new_scene=None if version.new_scene is None else version.new_scene + (version.new_scene >= put_in),
        )
        for version in store.versions
    )
    return replace(store, versions=versions)


def moved_up(place: int, deleted: int) -> int:
    """A position after the message at `deleted` went."""
    return place - 1 if place > deleted else place


def running_text(answer: Json) -> str:
    """The text of an answer: its recap as it stands, or its lists under their headings (rules: recap-memory 14.5).

    Raises ValueError for an empty one, so that it is asked for again.
    """
    recap = answer.get("recap") if isinstance(answer, Mapping) else answer
    if isinstance(recap, Mapping):
        parts = [(name.upper(), _lines(recap.get(name))) for name in _SECTIONS]
        text = "\n\n".join(f"{heading}:\n{lines}" for heading, lines in parts if lines)
    else:
        text = trim(text_in(recap))
    if not trim(text):
        raise ValueError("The model's running recap is empty.")
    return text


def _lines(value: Json) -> str:
    if isinstance(value, list | tuple):
        return "\n".join(to_string(item) for item in value if item is not None and trim(to_string(item)))
    return trim(text_in(value))


MAIN_CHAT_KEY: Final = "main_chat"
LOREBOOK_KEY: Final = "world_info"


class Ownership(StrEnum):
    """How the store was found."""

    CREATED = "created"
    MATCH = "match"
    ADOPTED_BRANCH = "adopted_branch"
    ADOPTED_IMPORT = "adopted_import"
    RESET = "reset"


class Storage(Struct, frozen=True):
    """The store of the open chat. `notice` is a sentence for the person where data of another chat was refused.

    `refused` is that data, so that whoever asks can put it somewhere.
    """

    store: RunningRecaps
    outcome: Ownership
    notice: str = ""
    refused: RunningRecaps | None = None


def storage(chat_id: str, metadata: Mapping[str, Json], lorebooks: Container[str] = ()) -> Storage:
    """The store for the chat of this id; `lorebooks` are the names of the lorebooks that exist."""
    stored = metadata.get(STORE_KEY)
    if not isinstance(stored, Mapping):
        return Storage(RunningRecaps(chat_id), Ownership.CREATED)
    store = read_store(stored)
    if store.chat_id == chat_id:
        return Storage(store, Ownership.MATCH)
    ours = replace(store, chat_id=chat_id)
    if truthy(metadata.get(MAIN_CHAT_KEY)):
        return Storage(ours, Ownership.ADOPTED_BRANCH)
    book = text_in(metadata.get(LOREBOOK_KEY))
    if book and book not in lorebooks and store.versions:
        return Storage(ours, Ownership.ADOPTED_IMPORT)
    return Storage(RunningRecaps(chat_id), Ownership.RESET, foreign_notice(store, chat_id), store)


def foreign_notice(store: RunningRecaps, chat_id: str) -> str:
    """What is said of running recaps of another chat."""
    owner = f"“{store.chat_id}”" if store.chat_id is not None else "an unnamed chat"
    return (
        f"The running recap in this file belongs to {owner}, and the open chat is “{chat_id}”. It is not used here. "
        "Use it where this is the same chat under another name; otherwise make a new one."
    )
