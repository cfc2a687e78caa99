"""What a person should know about a run besides its outcome: it found nothing, or nearly everything, or only estimates.

Source: the states of the chat and trace views (empty, too broad, budget unknown).
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Final

from lorestudio.trace.journey import KEYWORD_STAGE
from lorestudio.trace.model import Outcome, Phase, StageStatus, Trace
from lorestudio.trace.wording import plural, quoted

TOO_BROAD_SHARE: Final = 0.5
TOO_BROAD_ENTRIES: Final = 8
"""From so many entries on it is a sign of a key that fits everything, when half of them match."""

_UNASKED: Final = frozenset({"constant", "offered", "hy_eligible"})
"""Reasons that let an entry in whatever the chat says."""

UNITS_A_TOKEN: Final = {"chars/4": 4.0, "chars/3.35": 3.35}
"""The two documented estimates (spec: deeplore-engine 1.10, 11), in characters a token."""


@dataclass(frozen=True, slots=True)
class Breadth:
    """How much of a vault matched: `matched` of `entries`, and the key that let in most, with how many it let in."""

    matched: int
    entries: int
    key: str = ""
    by_key: int = 0

    @property
    def sentence(self) -> str:
        """What is wrong and where to begin."""
        text = f"Nearly everything matched: {self.matched} of {self.entries} entries came into question."
        if self.by_key > 1:
            text += f" The key {quoted(self.key)} alone let in {self.by_key}: make it more particular first."
        return text


NOTHING_KEPT: Final = "fm_nothing_kept"
"""What the stage of fact memory notes where a chat has no memories."""


def remembers_nothing(trace: Trace) -> bool:
    """Whether a system that puts in what a chat remembers found nothing that was remembered."""
    if trace.system == "facts":
        return any(record.note == NOTHING_KEPT for record in trace.stages)
    walk = trace.stage("inclusion walk") if trace.system == "recap" else None
    return walk is not None and not walk.left and walk.note != "recap_off" and not trace.injections


def too_broad(trace: Trace) -> Breadth | None:
    """How broad the matching was where half of the vault or more came in, else None.

    What comes in unasked does not count.
    """
    matched: set[int] = set()
    spelled: dict[str, str] = {}
    counts: Counter[str] = Counter()
    for record in trace.stages:
        if record.phase is not Phase.MATCH:
            continue
        for verdict in record.with_outcome(Outcome.ADDED):
            if verdict.reason in _UNASKED or verdict.entry in matched:
                continue
            matched.add(verdict.entry)
            key = verdict.details.get("key")
            if isinstance(key, str):
                spelled.setdefault(key.casefold(), key)
                counts[key.casefold()] += 1
    if trace.index_size < TOO_BROAD_ENTRIES or len(matched) < TOO_BROAD_SHARE * trace.index_size:
        return None
    key, most = counts.most_common(1)[0] if counts else ("", 0)
    return Breadth(len(matched), trace.index_size, spelled.get(key, ""), most)


def searched(trace: Trace) -> str:
    """What the keys were looked for in: `the last 4 messages (812 characters), for the keys of 45 entries`."""
    keywords = trace.stage(KEYWORD_STAGE)
    if keywords is None or keywords.status is not StageStatus.RAN:
        return ""
    messages, characters = keywords.details.get("messages"), keywords.details.get("characters")
    if not isinstance(messages, int) or not isinstance(characters, int):
        return ""
    window = plural(messages, "no message|the last message|the last # messages")
    return (
        f"{window} ({plural(characters, '# character|# characters')}), "
        f"for the keys of {plural(trace.index_size, '# entry|# entries')}"
    )


def ways_to_widen(trace: Trace) -> tuple[str, ...]:
    """Three ways to let more in, as things stand in this run."""
    keywords = trace.stage(KEYWORD_STAGE)
    depth = keywords.details.get("depth") if keywords is not None else None
    deeper = f"raise the scan depth, which is {depth}" if isinstance(depth, int) and depth else "raise the scan depth"
    off = [name for stage, name in (("recursion", "recursive scan"), ("BM25", "fuzzy search")) if _is_off(trace, stage)]
    more = f"switch on {' or '.join(off)}" if off else "make entries constant that are always needed"
    return (deeper, "give entries keys that the chat uses", more)


def estimate(trace: Trace) -> str:
    """How far the token counts can be trusted, "" where they are exact.

    The band is the distance between the two documented estimates.
    """
    if trace.facts.get("counted_exactly", True):
        return ""
    name = trace.facts.get("counter")
    units = UNITS_A_TOKEN.get(name) if isinstance(name, str) else None
    if units is None:
        return "≈ estimates; a model's own counts may differ"
    other = next(value for value in UNITS_A_TOKEN.values() if value != units)
    apart = round(100 * (units / other - 1))
    direction = "more" if apart > 0 else "fewer"
    return (
        f"≈ estimates of {units:g} characters a token; a model's own counts are often up to {abs(apart)} % {direction}"
    )


def _is_off(trace: Trace, stage: str) -> bool:
    record = trace.stage(stage)
    return record is not None and record.status is StageStatus.SKIPPED and record.note == "off"
