"""Several scene breaks found at once: their recaps come one after the other, then the search goes on.

Each operation carries the rest of the chain in its metadata, so that it goes on after a restart (spec: recap-memory
12.5).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from lorestudio.domain.javascript import Json
from lorestudio.settings.recap import RecapSettings
from lorestudio.systems.recap.chat import RecapChat
from lorestudio.systems.recap.detection import matching
from lorestudio.systems.recap.queue import NewOperation, Operation, OperationType, Priority

_WAITING: Final = "waiting_breaks"
_RESUME: Final = "resume_start"
_RESUME_END: Final = "resume_end"
RESUMED_OFFSET: Final = 2
"""The offset of a search that goes on where the setting is 0."""


@dataclass(frozen=True, slots=True)
class Chain:
    """Breaks whose scenes still wait for a recap, and the range in which the search then goes on."""

    waiting: tuple[int, ...] = ()
    resume_start: int | None = None
    resume_end: int | None = None

    @property
    def metadata(self) -> dict[str, Json]:
        """The chain as an operation carries it."""
        if not self.waiting and self.resume_start is None:
            return {}
        return {_WAITING: list(self.waiting), _RESUME: self.resume_start, _RESUME_END: self.resume_end}

    def next(self, chat: RecapChat, settings: RecapSettings) -> tuple[NewOperation, ...]:
        """The recap of the next scene, or the search where there is none left."""
        waiting = tuple(index for index in self.waiting if chat.at(index) is not None)
        if waiting and settings.auto_scene_break_generate_recap:
            rest = Chain(waiting[1:], self.resume_start, self.resume_end)
            return (scene_operation(waiting[0], Priority.SCENE_RECAP, rest),)
        if self.resume_start is None or self.resume_end is None:
            return ()
        return resumed(chat, self.resume_start, self.resume_end, settings)


def read_chain(operation: Operation) -> Chain:
    """The chain that an operation carries."""
    return Chain(
        tuple(positions(operation.metadata.get(_WAITING))),
        number_in(operation.metadata, _RESUME),
        number_in(operation.metadata, _RESUME_END),
    )


def scene_operation(index: int, priority: float, chain: Chain | None = None, *, manual: bool = False) -> NewOperation:
    """The operation for the recap of the scene that ends at a break; `manual` leaves the running recap alone."""
    carried: dict[str, Json] = chain.metadata if chain is not None else {}
    if manual:
        carried = {**carried, "manual": True}
    return NewOperation(OperationType.SCENE_RECAP, {"index": index}, priority, metadata=carried)


def resumed(chat: RecapChat, start: int, end: int, settings: RecapSettings) -> tuple[NewOperation, ...]:
    """The search for the next break in what is left, where that is long enough."""
    offset = settings.auto_scene_break_message_offset or RESUMED_OFFSET
    last = min(end, len(chat.messages) - 1)
    found = matching(chat.messages, start, last - offset, settings.auto_scene_break_check_which_messages)
    if len(found) < settings.auto_scene_break_minimum_scene_length + 1:
        return ()
    return (detect_operation(start, last, offset),)


def detect_operation(
    start: int, end: int, offset: int, *, forced: bool = False, metadata: Mapping[str, Json] | None = None
) -> NewOperation:
    """The operation that looks for a break in a range."""
    params: dict[str, Json] = {"startIndex": start, "endIndex": end, "offset": offset}
    if forced:
        params["forceSelection"] = True
    return NewOperation(OperationType.DETECT, params, Priority.DETECT, metadata=metadata or {})


def number_in(stored: Mapping[str, Json], key: str) -> int | None:
    """A whole number of an object, None where it is none."""
    value = stored.get(key)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def positions(value: Json) -> Sequence[int]:
    """A list of positions."""
    listed = value if isinstance(value, list | tuple) else ()
    return [item for item in listed if isinstance(item, int) and not isinstance(item, bool) and item >= 0]
