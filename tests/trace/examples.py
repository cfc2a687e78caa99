"""Small traces made by hand, for tests."""

from __future__ import annotations

import math
from collections.abc import Sequence
from types import MappingProxyType
from typing import Any

from lorestudio.domain.records import replace
from lorestudio.systems.registry import words_of
from lorestudio.trace.model import (
    AiCall,
    EntryRef,
    Injection,
    Limit,
    Outcome,
    Phase,
    PromptBlock,
    PromptPart,
    RunOutcome,
    StageRecord,
    StageStatus,
    Trace,
    Turn,
    Verdict,
)
from lorestudio.trace.storage.serialize import PackedTrace
from lorestudio.trace.storage.store import StoredRun
from lorestudio.trace.wording import _parts, _pieces

ADDED, KEPT, CHANGED, REMOVED, REFUSED = (
    Outcome.ADDED,
    Outcome.KEPT,
    Outcome.CHANGED,
    Outcome.REMOVED,
    Outcome.REFUSED,
)

SKARN, DAWNKEEP, CROWN, TAVERN, OATH, GUIDE, EMBER, MOUSE, RIVER = range(9)


def ref(id_: int, title: str, priority: float = 100, tokens: int = 100, vault: str = "World") -> EntryRef:
    return EntryRef(id_, title, vault, f"places/{title}.md", priority, tokens)


def stored_run(made: Trace) -> StoredRun:
    """A run as it is stored, with nothing beside its trace."""
    return StoredRun(made.turn.message, made.turn.swipe, made.system, PackedTrace.of(made))


def verdict(entry: int, outcome: Outcome, reason: str, **details: Any) -> Verdict:
    return Verdict(entry, outcome, reason, details)


def stage(
    name: str, phase: Phase, entered: Sequence[int] = (), left: Sequence[int] = (), *verdicts: Verdict, **fields: Any
) -> StageRecord:
    return StageRecord(name, phase, entered=tuple(entered), left=tuple(left), verdicts=verdicts, **fields)


def skipped(name: str, phase: Phase, entries: Sequence[int], note: str, **details: Any) -> StageRecord:
    return stage(name, phase, entries, entries, status=StageStatus.SKIPPED, note=note, details=details)


def injection(entry: int, title: str, tokens: int, priority: float = 100, **fields: Any) -> Injection:
    values: dict[str, Any] = {
        "label": "key", "position": 1, "depth": 4, "role": 0, "tag": "deeplore_p1_d4_r0", "content_hash": "1_a_b",
    } | fields  # fmt: skip
    return Injection(entry=entry, title=title, tokens=tokens, priority=priority, **values)


def trace(**fields: Any) -> Trace:
    values: dict[str, Any] = {
        "system": "deeplore", "mode": "keywords-only", "outcome": RunOutcome.NOTHING_INJECTED,
        "turn": Turn(12, 0, 5), "entries": {}, "index_size": 0, "stages": (),
        "words": words_of(fields.get("system", "deeplore")),
    } | fields  # fmt: skip
    return Trace(**values)


# As in a real run, nothing is said of Mouse, which no stage decided about.
ENTRIES = {
    item.id: item
    for item in (
        ref(SKARN, "Skarn", 10, 300),
        ref(DAWNKEEP, "Dawnkeep", 40, 500),
        ref(CROWN, "Crown", 50, 900),
        ref(TAVERN, "Tavern", 60, 200),
        ref(OATH, "Oath", 70, 50),
        ref(GUIDE, "Style guide", 100, 80),
        ref(EMBER, "Ember", 100, 20),
        ref(RIVER, "River", 20, 40),
    )
}


def story() -> Trace:
    """Nine entries, each with another fate: see the titles above.

    Skarn, Dawnkeep and Crown go in (Crown shortened), Oath is behind the cut, Tavern is gated, Style guide is hidden,
    Ember lost its draw, Mouse has no key in the chat, River is pinned and goes into an outlet.
    """
    after_match = (SKARN, DAWNKEEP, CROWN, OATH, TAVERN)
    with_pin = (*after_match, RIVER)
    gated = (SKARN, DAWNKEEP, CROWN, OATH, RIVER)
    final = (SKARN, DAWNKEEP, CROWN, RIVER)
    stages = (
        stage("snapshot", Phase.LOAD, (), (), verdict(GUIDE, REFUSED, "guide_hidden")),
        stage("constants", Phase.MATCH, (), (SKARN,), verdict(SKARN, ADDED, "constant")),
        skipped("bootstrap", Phase.MATCH, (SKARN,), "not_bootstrapping", threshold=3, chat_length=12),
        stage(
            "keywords", Phase.MATCH, (SKARN,), (SKARN, DAWNKEEP, CROWN, OATH),
            verdict(DAWNKEEP, ADDED, "key_hit", key="dawnkeep", message=11, depth=4),
            verdict(CROWN, ADDED, "key_hit", key="crown", message=10, depth=4, refine_key="king"),
            verdict(EMBER, REFUSED, "probability_lost", probability=0.5, roll=0.73125),
            verdict(OATH, ADDED, "key_hit", key="oath", message=11, depth=4),
            default_reason="no_key_hit", details={"messages": 4, "characters": 1812},
        ),
        stage(
            "cascade links", Phase.MATCH, (SKARN, DAWNKEEP, CROWN, OATH), after_match,
            verdict(TAVERN, ADDED, "cascade", source="Dawnkeep", source_id=DAWNKEEP),
        ),
        skipped("recursion", Phase.MATCH, after_match, "off", setting="recursiveScan"),
        stage("pins and blocks", Phase.GATE, after_match, with_pin, verdict(RIVER, ADDED, "pinned")),
        stage(
            "contextual gating", Phase.GATE, with_pin, gated,
            verdict(SKARN, KEPT, "exempt", by="constant", would="gated_field"),
            verdict(TAVERN, REMOVED, "gated_field", field="era", label="Era", entry_value=["old", "lost"],
                    context_value="new", operator="match_any", tolerance="moderate"),
        ),
        stage(
            "budget", Phase.BUDGET, gated, final,
            verdict(SKARN, KEPT, "fits", tokens=300, total=300),
            verdict(DAWNKEEP, KEPT, "fits", tokens=500, total=800),
            verdict(CROWN, CHANGED, "truncated", tokens=690, original_tokens=900),
            verdict(OATH, REMOVED, "behind_cut", stopped_by="Crown", tokens=50, needs=260),
            verdict(RIVER, KEPT, "outlet", outlet="weather", tokens=40),
        ),
        stage(
            "placement", Phase.INJECT, final, final,
            verdict(SKARN, KEPT, "placed", tag="deeplore_p1_d4_r0", position=1, depth=4, role=0),
        ),
    )  # fmt: skip
    return trace(
        outcome=RunOutcome.INJECTED,
        entries=ENTRIES,
        index_size=9,
        stages=stages,
        injections=(
            injection(SKARN, "Skarn", 300, 10),
            injection(DAWNKEEP, "Dawnkeep", 500, 40),
            injection(CROWN, "Crown", 690, 50, truncated=True, original_tokens=900),
            injection(RIVER, "River", 40, 20, tag="customWIOutlet_weather", position=-1, depth=0),
        ),
        prompt=(
            PromptBlock("deeplore_p1_d4_r0", 1, 4, 0, "<Skarn>\nA dragon.\n</Skarn>", (PromptPart(0, 26, SKARN),)),
            PromptBlock("customWIOutlet_weather", -1, 0, 0, "Rain.", (PromptPart(0, 5, RIVER),)),
        ),
        limits=(Limit("entries", 3, 10, "entries"), Limit("token budget", 1490, 1500, "tokens")),
        labels=(("Skarn", "(constant)"), ("Dawnkeep", "dawnkeep")),
        seed=7,
        draws=(0.73125,),
        digests={"vault": "0123456789abcdef", "chat": "fedcba9876543210"},
        clock_ms=1_700_000_000_000,
    )


def quiet_run(*, messages: int = 4, characters: int = 812, size: int = 214, refused: int = 0) -> Trace:
    """A run in which nothing came in."""
    losers = [verdict(entry, REFUSED, "probability_zero") for entry in range(refused)]
    return trace(
        entries={entry: ref(entry, f"E{entry}") for entry in range(refused)},
        index_size=size,
        stages=(
            stage("keywords", Phase.MATCH, (), (), *losers, default_reason="no_key_hit",
                  details={"messages": messages, "characters": characters}),
        ),
    )  # fmt: skip


def strange() -> Trace:
    """A trace with every kind of value that JSON has no word for."""
    details: dict[str, Any] = {
        "nan": math.nan, "list": [math.inf, (1, 2.0, (None, "x"))], "$number": 1, "deep": {"$tuple": [1]},
        "twice": {"$object": {"$number": "NaN"}}, "empty": {}, "none": None, "flag": True, "zero": -0.0, "one": 1.0,
        "big": 2**70, "half": "\ud800", "proxy": MappingProxyType({"a": 1}),
    }  # fmt: skip
    return replace(
        story(),
        facts=details,
        entries={**ENTRIES, -3: ref(-3, "Über | *alles* 😀", math.inf, 0)},
        stages=(
            stage("constants", Phase.MATCH, (), (1,), Verdict(1, ADDED, "constant", details), duration_ms=0.25),
            StageRecord("budget", Phase.BUDGET, StageStatus.FAILED, error="boom", details={"$tuple": (1,)}),
        ),
        limits=(Limit("tokens", math.nan, None, "tokens"), Limit("entries", 1, math.inf, "entries")),
        injections=(injection(1, "x", 1, -math.inf, depth=2.5, truncated=True, original_tokens=9),),
        ai_calls=(AiCall("search", "s", "u", 1024, True, "m", "[]", details={"cached": (True, None)}),),
        draws=(0.1, 1 / 3),
        warnings=("one", "two"),
    )


def fields(template: str, *, required: bool = True) -> set[str]:
    """Names of the details that a template uses; with `required` only those that it cannot do without."""
    names: set[str] = set()
    for alternatives in _parts(template):
        if len(alternatives) == 1 or not required:
            names.update(name for text in alternatives for _, name, _, _ in _pieces(text) if name is not None)
    return names
