"""What happens to recaps when messages go, and when everything is cleared (spec: recap-memory 19)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from lorestudio.domain.javascript import Json, truthy
from lorestudio.systems.recap.records import NAMESPACE, OLD_NAMESPACE, Record, mapping, namespace
from lorestudio.systems.recap.running import RunningRecaps
from lorestudio.systems.recap.scenes import CHECKED

_NAMESPACES: Final = (NAMESPACE, OLD_NAMESPACE)
_OF_LOREBOOKS: Final = ("activeLorebookEntries", "inactiveLorebookEntries")


@dataclass(frozen=True, slots=True)
class Cleared:
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
        messages=sum(any(name in mapping(message.get("extra")) for name in _NAMESPACES) for message in messages),
        single_recaps=sum(truthy(item.get("memory")) for item in data),
        scene_recaps=sum(truthy(item.get("scene_recap_memory")) or _has_versions(item) for item in data),
        scene_breaks=sum(truthy(item.get("scene_break")) for item in data),
        checked_flags=sum(truthy(item.get(CHECKED)) for item in data),
        swipe_recaps=swipes,
        running_recaps=len(store.versions),
    )
    return tuple(kept), counts


def _has_versions(data: Mapping[str, Json]) -> bool:
    versions = data.get("scene_recap_versions")
    return isinstance(versions, list | tuple) and len(versions) > 0


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
