"""A second look at extracted facts by a model (spec: fact-memory 6)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from lorestudio.domain.javascript import Json, to_string, trim, truthy
from lorestudio.systems.facts.extraction import parse_json
from lorestudio.systems.facts.records import CONFIRMED, INFERRED, PROFILE_KEYS, Fact, Line, Memory

KEEP: Final = "keep"
ENRICH: Final = "enrich"
REMOVE: Final = "remove"
_ACTIONS: Final = (KEEP, ENRICH, REMOVE)
_RESOLUTIONS: Final = ("keep_new", "keep_existing", "merge")
_OPENING: Final = re.compile(r"\A```(?:json)?[\s\ufeff]*?\n?")
_CLOSING: Final = re.compile(r"[\s\ufeff]*```[\s\ufeff]*\Z")


@dataclass(frozen=True, slots=True)
class Corrected:
    """What the reviewer says of one fact."""

    fact: Fact
    action: str
    reason: Json = None

    @property
    def data(self) -> dict[str, Json]:
        """The verdict as JSON."""
        data = self.fact.data
        reason: dict[str, Json] = {} if self.reason is None else {"reason": self.reason}
        return {"content": data.pop("content"), "source": data.pop("source", ""), "action": self.action} | reason | data


@dataclass(frozen=True, slots=True)
class Conflict:
    """A new fact and a memory that contradict each other; it is counted and shown, nothing is resolved (spec: 6.3)."""

    new_fact: str
    existing: str
    resolution: str

    @property
    def data(self) -> dict[str, Json]:
        """The conflict as JSON."""
        return {"newFact": self.new_fact, "existingMemory": self.existing, "resolution": self.resolution}


@dataclass(frozen=True, slots=True)
class Review:
    """A reviewer's answer. `failed` is set where it could not be used and the facts stand as they were."""

    corrected: tuple[Corrected, ...] = ()
    missed: tuple[Fact, ...] = ()
    conflicts: tuple[Conflict, ...] = ()
    failed: bool = field(default=False, compare=False)

    @property
    def facts(self) -> tuple[Fact, ...]:
        """The facts after the review."""
        return (*(each.fact for each in self.corrected if each.action != REMOVE), *self.missed)

    @property
    def counts(self) -> ReviewCounts:
        """What the review came to."""
        actions = [each.action for each in self.corrected]
        return ReviewCounts(actions.count(ENRICH), actions.count(REMOVE), len(self.missed), len(self.conflicts))

    @property
    def data(self) -> dict[str, Json]:
        """The answer as JSON."""
        return {
            "correctedFacts": [each.data for each in self.corrected],
            "missedFacts": [fact.data for fact in self.missed],
            "conflicts": [conflict.data for conflict in self.conflicts],
        }


@dataclass(frozen=True, slots=True)
class ReviewCounts:
    """The counters of a review (spec: 4.1)."""

    modified: int = 0
    removed: int = 0
    missed: int = 0
    conflicts: int = 0

    @property
    def data(self) -> dict[str, Json]:
        """The counters as JSON."""
        return {
            "factsModified": self.modified,
            "factsRemoved": self.removed,
            "missedFactsAdded": self.missed,
            "conflictsFound": self.conflicts,
        }


def payload(facts: Sequence[Fact], memories: Sequence[Memory], lines: Sequence[Line]) -> str:
    """What the reviewer is shown, as indented JSON (spec: 6.1)."""
    shown: dict[str, Json] = {
        "extractedFacts": [fact.data for fact in facts],
        "existingMemories": [{"content": memory.content, "source": memory.source} for memory in memories],
        "conversation": [line.said for line in lines],
    }
    return json.dumps(shown, indent=2, ensure_ascii=False)


def read_review(reply: str | None, facts: Sequence[Fact], *, strict: bool) -> Review:
    """The reviewer's answer, the facts as they were where it cannot be read or, in safe mode, names none of them.

    `reply` None stands for a call that failed.
    """
    parsed = _parsed(reply)
    if not isinstance(parsed, Mapping | list):
        return unreviewed(facts, strict=strict)
    members = parsed if isinstance(parsed, Mapping) else {}
    corrected = tuple(_corrected(_list(members, "correctedFacts")))
    missed = tuple(_fact(item) for item in _list(members, "missedFacts") if _usable(item))
    conflicts = tuple(_conflicts(_list(members, "conflicts")))
    if not strict and facts and not corrected:
        corrected = unreviewed(facts, strict=False).corrected
    return Review(corrected, missed, conflicts)


def unreviewed(facts: Sequence[Fact], *, strict: bool) -> Review:
    """Every fact kept (spec: 6.4; strict mode spells profile values out as text and drops an empty key)."""
    return Review(tuple(Corrected(_spelled(fact) if strict else fact, KEEP) for fact in facts), failed=True)


def _spelled(fact: Fact) -> Fact:
    profile = {key: value for key, value in fact.profile.items() if key == "profileValue" or truthy(value)}
    if profile.get("profileValue") is not None:
        profile["profileValue"] = to_string(profile["profileValue"])
    return Fact(fact.content, fact.source, fact.tags, profile)


def _parsed(reply: str | None) -> Json:
    if reply is None:
        return None
    text = trim(reply)
    if text.startswith("```"):
        text = trim(_CLOSING.sub("", _OPENING.sub("", text)))
    try:
        return parse_json(text)
    except ValueError:
        return None


def _list(members: Mapping[str, Json], name: str) -> list[Mapping[str, Json]]:
    found = members.get(name)
    return [item for item in found if isinstance(item, Mapping)] if isinstance(found, list | tuple) else []


def _usable(item: Mapping[str, Json]) -> bool:
    content = item.get("content")
    return isinstance(content, str) and bool(trim(content))


def _fact(item: Mapping[str, Json]) -> Fact:
    source = CONFIRMED if item.get("source") == CONFIRMED else INFERRED
    tags = item.get("tags") if truthy(item.get("tags")) else None
    profile = {key: item[key] for key in PROFILE_KEYS if key in item and (key == "profileValue" or truthy(item[key]))}
    return Fact(trim(str(item["content"])), source, tags, profile)


def _corrected(items: list[Mapping[str, Json]]) -> Iterator[Corrected]:
    for item in items:
        if _usable(item):
            action, reason = item.get("action"), item.get("reason")
            yield Corrected(
                _fact(item), action if isinstance(action, str) and action in _ACTIONS else KEEP,
                reason if truthy(reason) else None,
            )  # fmt: skip


def _conflicts(items: list[Mapping[str, Json]]) -> Iterator[Conflict]:
    for item in items:
        new, existing, resolution = item.get("newFact"), item.get("existingMemory"), item.get("resolution")
        if isinstance(new, str) and isinstance(existing, str):
            known = isinstance(resolution, str) and resolution in _RESOLUTIONS
            yield Conflict(new, existing, str(resolution) if known else _RESOLUTIONS[0])
