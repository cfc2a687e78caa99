"""What recap memory keeps on a message: one object under `extra`, the namespace, and a copy of it on the active swipe.

Every function takes a message record and returns another; a key that is absent and one that is null are different
things (rules: recap-memory 2, 3).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Final, TypeAlias

from lorestudio.domain.entry import EMPTY
from lorestudio.domain.javascript import Json, truthy
from lorestudio.domain.json_text import mapping_in, object_in, text_in

Record: TypeAlias = Mapping[str, Json]
"""A message as its line of the chat file has it."""

NAMESPACE: Final = "auto_recap"
OLD_NAMESPACE: Final = "auto_recap_memory"
"""What the newest reference calls it; read where the other is missing, and moved with the first write."""

INCLUDED: Final = "Recap of message(s)"
INCLUDED_ONCE: Final = "Summary of message(s)"
"""What older files write for the same."""


class RecapState(StrEnum):
    """How a message stands to its recap (rules: recap-memory 10)."""

    NONE = "none"
    INCLUDED = "included"
    KEPT = "kept"
    EXCLUDED = "excluded"
    FAILED = "failed"


def namespace(message: Record | None) -> Mapping[str, Json]:
    """The namespace of a message, empty where any link of the path is missing."""
    return _namespace_in(object_in(message, "extra")) if message is not None else EMPTY


def get_data(message: Record | None, key: str) -> Json:
    """One value of the namespace, None where it is null or absent; never raises."""
    return namespace(message).get(key)


def set_data(message: Record, key: str, value: Json) -> Record:
    """The message with one value of its namespace changed."""
    return with_values(message, {key: value})


def with_values(message: Record, values: Mapping[str, Json], without: Sequence[str] = ()) -> Record:
    """The message with several values changed and the keys `without` removed; other keys stay.

    The whole namespace is also put on the active swipe, where that is any but the first and has a `swipe_info`
    (rules: recap-memory 3; that the first swipe gets no copy is what stored files rely on).
    """
    kept = {name: value for name, value in namespace(message).items() if name not in without}
    changed: Mapping[str, Json] = {**kept, **values}
    extra = _with_namespace(object_in(message, "extra"), changed)
    result: dict[str, Json] = {**message, "extra": extra}
    infos, swipe = message.get("swipe_info"), message.get("swipe_id")
    if truthy(swipe) and isinstance(infos, list | tuple):
        place = _place(swipe, len(infos))
        if place is not None and isinstance(infos[place], Mapping):
            info = mapping_in(infos[place])
            mirrored = {**info, "extra": _with_namespace(object_in(info, "extra"), changed)}
            result["swipe_info"] = [*infos[:place], mirrored, *infos[place + 1 :]]
    return result


def get_memory(message: Record | None, *, show_prefill: bool = False) -> str:
    """The recap of a message, with its prefill in front where that is to be shown; no separator."""
    stored = namespace(message)
    prefill = text_in(stored.get("prefill")) if show_prefill else ""
    return prefill + text_in(stored.get("memory"))


def edit_memory(message: Record, text: str, *, show_prefill: bool = False) -> Record:
    """The message after a person wrote `text` as its recap; the same object where nothing changes."""
    before = get_memory(message, show_prefill=show_prefill)
    if text == before:
        return message
    values: dict[str, Json] = {"memory": text, "error": None, "reasoning": None, "prefill": None, "edited": bool(text)}
    if not text or not before:
        values["exclude"] = False
    return with_values(message, values)


def previous_swipe_value(message: Record, key: str) -> Json:
    """The value on the swipe before the active one, None where there is none."""
    swipe, infos = message.get("swipe_id"), message.get("swipe_info")
    if not truthy(swipe) or not isinstance(swipe, int | float) or not isinstance(infos, list | tuple):
        return None
    place = _place(swipe - 1, len(infos))
    if place is None:
        return None
    return _namespace_in(object_in(infos[place], "extra")).get(key)


def message_text(message: Record) -> str:
    """The text of a message; one that is no text counts as empty."""
    return text_in(message.get("mes"))


def is_included(message: Record) -> bool:
    """Whether the last walk selected the recap of this message."""
    return get_data(message, "include") in (INCLUDED, INCLUDED_ONCE)


def _namespace_in(extra: Mapping[str, Json]) -> Mapping[str, Json]:
    found = extra.get(NAMESPACE)
    return mapping_in(found if isinstance(found, Mapping) else extra.get(OLD_NAMESPACE))


def _with_namespace(extra: Mapping[str, Json], values: Mapping[str, Json]) -> Mapping[str, Json]:
    """`extra` with this namespace; data under the old name has moved where there was none under the new one."""
    moved = not isinstance(extra.get(NAMESPACE), Mapping)
    kept = {key: value for key, value in extra.items() if not (moved and key == OLD_NAMESPACE)}
    return {**kept, NAMESPACE: dict(values)}


def _place(number: Json, count: int) -> int | None:
    """A list position that exists, however JSON spells the number."""
    if isinstance(number, bool) or not isinstance(number, int | float) or not float(number).is_integer():
        return None
    place = int(number)
    return place if 0 <= place < count else None
