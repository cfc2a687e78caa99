"""Scenes: breaks on messages, the ranges between them, and which scenes must not change any more.

A break stands on the last message of its scene (spec: recap-memory 1, 11).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from lorestudio.domain.javascript import truthy
from lorestudio.memory.recap.records import Record, get_data, mapping, namespace, set_data, with_values

Range: TypeAlias = tuple[int, int]
"""First and last position, both included."""

CHECKED: Final = "auto_scene_break_checked"
"""The messages of a range that was looked through for breaks already."""

PINNED_HIDDEN: Final = "pinned_hidden"
"""A message that a person hid and that hiding by scenes is not to show; our own, the original does not know it."""

_OF_A_BREAK: Final = (
    "scene_break", "scene_break_visible", "scene_break_name", "scene_break_recap", "scene_recap_memory",
    "scene_recap_hash", "scene_recap_metadata", "scene_break_collapsed", "scene_recap_versions",
    "scene_recap_current_index",
)  # fmt: skip
"""What clearing a break removes; whether the message was looked through stays."""


def is_break(message: Record) -> bool:
    """Whether the message has a break, shown or hidden."""
    return truthy(get_data(message, "scene_break"))


def is_visible_break(message: Record) -> bool:
    """Whether the message ends a scene: a break whose visibility nobody said counts as visible."""
    data = namespace(message)
    return truthy(data.get("scene_break")) and ("scene_break_visible" not in data or data["scene_break_visible"] is None
                                                or truthy(data["scene_break_visible"]))  # fmt: skip


def has_recap(message: Record) -> bool:
    """Whether the message carries a scene recap."""
    return truthy(get_data(message, "scene_recap_memory"))


def visible_breaks(messages: Sequence[Record]) -> tuple[int, ...]:
    """Positions of the breaks that end a scene, in order."""
    return tuple(index for index, message in enumerate(messages) if is_visible_break(message))


def scene_recaps(messages: Sequence[Record]) -> tuple[int, ...]:
    """Positions of all scene recaps, whether their break is visible or not (spec: recap-memory 14.2)."""
    return tuple(index for index, message in enumerate(messages) if has_recap(message))


def generation_range(breaks: Sequence[int], index: int, scenes: int) -> Range:
    """The range of the last `scenes` scenes as the reference generates from it: bookmarks end scenes, too."""
    before = [place for place in breaks if place <= index]
    return (before[-scenes - 1] + 1 if scenes >= 0 and len(before) > scenes else 0, index)


def display_range(breaks: Sequence[int], recaps: Sequence[int], index: int) -> Range:
    """From behind the nearest earlier visible break that has a recap; bookmarks are passed over."""
    known = frozenset(recaps)
    earlier = [place for place in breaks if place < index and place in known]
    return (earlier[-1] + 1 if earlier else 0, index)


def effective_range(breaks: Sequence[int], recaps: Sequence[int], index: int, scenes: int) -> Range:
    """What a recap is made from: for one scene what is displayed, so that no message is left out."""
    return display_range(breaks, recaps, index) if scenes == 1 else generation_range(breaks, index, scenes)


@dataclass(frozen=True, slots=True)
class Lock:
    """Why a scene must not change: its own recap went into the running one, or a later one's did."""

    by_itself: bool = False
    by_later: bool = False

    @property
    def locked(self) -> bool:
        """Whether it is locked at all."""
        return self.by_itself or self.by_later


def is_combined(message: Record) -> bool:
    """Whether the current version of the scene's recap was combined into the running recap."""
    data = namespace(message)
    versions = mapping(data.get("scene_recap_metadata"))
    return truthy(mapping(versions.get(str(current_index(message)))).get("combined_at"))


def current_index(message: Record) -> int:
    """Which version of the scene recap is in force; 0 where nothing says it."""
    value = get_data(message, "scene_recap_current_index")
    return int(value) if isinstance(value, int | float) and not isinstance(value, bool) else 0


def locks(messages: Sequence[Record]) -> dict[int, Lock]:
    """Every break with what locks it."""
    found: dict[int, Lock] = {}
    later = False
    for index in range(len(messages) - 1, -1, -1):
        message = messages[index]
        if not is_break(message):
            continue
        combined = is_combined(message)
        found[index] = Lock(combined, later)
        later = later or (combined and has_recap(message))
    return dict(sorted(found.items()))


def toggle(messages: Sequence[Record], index: int) -> tuple[Record, ...]:
    """Set, hide or show a break. Hiding one makes the following scene count as not looked through any more.

    A hidden break keeps its recap.
    """
    result = list(messages)
    message = result[index]
    if not is_break(message):
        result[index] = with_values(message, {"scene_break": True, "scene_break_visible": True})
        return tuple(result)
    shown = is_visible_break(message)
    result[index] = set_data(message, "scene_break_visible", not shown)
    if shown:
        after = (place for place in range(index + 1, len(result)) if is_visible_break(result[place]))
        unchecked(result, index, next(after, len(result)))
    return tuple(result)


def unchecked(messages: list[Record], start: int, stop: int) -> None:
    """Make messages from `start` up to but without `stop` count as not looked through, in the given list."""
    for place in range(max(start, 0), min(stop, len(messages))):
        if truthy(get_data(messages[place], CHECKED)):
            messages[place] = set_data(messages[place], CHECKED, value=False)


def checked(messages: Sequence[Record], first: int, last: int) -> tuple[Record, ...]:
    """The messages with those of a range counting as looked through."""
    return tuple(
        set_data(message, CHECKED, value=True) if first <= place <= last else message
        for place, message in enumerate(messages)
    )


def without_checks(messages: Sequence[Record]) -> tuple[Record, ...]:
    """The messages with none counting as looked through."""
    result = list(messages)
    unchecked(result, 0, len(result))
    return tuple(result)


def cleared(message: Record) -> Record:
    """The message without its break and everything that belongs to it."""
    return with_values(message, {}, without=_OF_A_BREAK)


def with_visibility(messages: Sequence[Record]) -> tuple[Record, ...]:
    """Every break says whether it is visible, as after the original has drawn it."""
    return tuple(
        set_data(message, "scene_break_visible", value=True)
        if is_break(message) and get_data(message, "scene_break_visible") is None
        else message
        for message in messages
    )


def ranges(indexes: Sequence[int]) -> tuple[Range, ...]:
    """Positions in any order as the fewest ranges, ascending (spec: recap-memory 17)."""
    found: list[list[int]] = []
    for index in sorted(set(indexes)):
        if found and found[-1][1] == index - 1:
            found[-1][1] = index
        else:
            found.append([index, index])
    return tuple((first, last) for first, last in found)


@dataclass(frozen=True, slots=True)
class Hiding:
    """What hiding by scenes does. `visible_start` is the first message that stays, None where none is hidden."""

    scene_count: int
    breaks: tuple[int, ...]
    visible_start: int | None
    hide: tuple[Range, ...]
    unhide: tuple[Range, ...]

    def hides(self, index: int) -> bool:
        """Whether the message at this position is hidden."""
        return self.visible_start is not None and index < self.visible_start


def auto_hide(message_count: int, breaks: Sequence[int], scene_count: int) -> Hiding:
    """Hide everything before the last `scene_count` scenes, the open one among them (spec: recap-memory 17).

    With 0 or less nothing is hidden and everything is shown.
    """
    start = breaks[len(breaks) - scene_count] + 1 if 0 < scene_count <= len(breaks) else None
    hidden = min(start or 0, message_count)
    return Hiding(
        scene_count,
        tuple(breaks),
        start,
        ((0, hidden - 1),) if hidden else (),
        ((hidden, message_count - 1),) if hidden < message_count else (),
    )


def with_hiding(messages: Sequence[Record], hiding: Hiding, pinned: frozenset[int] = frozenset()) -> tuple[Record, ...]:
    """The messages hidden and shown; those at `pinned` stay hidden whatever the rule says."""
    result: list[Record] = []
    for index, message in enumerate(messages):
        wanted = hiding.hides(index) or index in pinned
        result.append(message if truthy(message.get("is_system")) == wanted else {**message, "is_system": wanted})
    return tuple(result)


def pinned_hidden(messages: Sequence[Record]) -> frozenset[int]:
    """Messages that stay hidden because a person said so."""
    return frozenset(index for index, message in enumerate(messages) if truthy(get_data(message, PINNED_HIDDEN)))


def reverted(messages: Sequence[Record], hiding: Hiding, pinned: frozenset[int] = frozenset()) -> tuple[int, ...]:
    """Messages hidden so far that hiding by scenes shows again."""
    return tuple(
        index
        for index, message in enumerate(messages)
        if truthy(message.get("is_system")) and not hiding.hides(index) and index not in pinned
    )
