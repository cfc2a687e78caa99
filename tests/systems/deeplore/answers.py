"""Worlds in which a model answers: from a script, and with behaviour switches set to fixed."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from lorestudio.domain.javascript import Json
from lorestudio.domain.records import replace
from lorestudio.settings.behaviour import fixed as fixing
from lorestudio.trace.model import AiCall, StageRecord, Trace
from tests.scripted_answers import ScriptedAnswers
from tests.systems.worlds import World, changed

ERROR: Mapping[str, Json] = {"error": {"message": "fetch failed"}}
"""A network error: the circuit breaker counts it."""

TIMEOUT: Mapping[str, Json] = {"error": {"message": "", "name": "AbortError"}}
REFUSED: Mapping[str, Json] = {"error": {"message": "no", "status": 401}}
RATE_LIMITED: Mapping[str, Json] = {"error": {"message": "slow down", "status": 429}}
SERVER_ERROR: Mapping[str, Json] = {"error": {"message": "oops", "status": 500}}

Reply = str | list[Any] | Mapping[str, Json]


def picks(*titles: str, confidence: str = "high", reason: str = "r") -> str:
    """A reply that names these entries."""
    return json.dumps([{"title": title, "confidence": confidence, "reason": reason} for title in titles])


def script(replies: Iterable[Reply]) -> list[Mapping[str, Json]]:
    """Replies as a script: text as it is, a list as the JSON text that a model would write."""
    return [
        reply if isinstance(reply, Mapping) else {"text": reply if isinstance(reply, str) else json.dumps(reply)}
        for reply in replies
    ]


def asking(
    there: World,
    *search: Reply,
    prefilter: Sequence[Reply] = (),
    fixed: Iterable[str] = (),
    summary: str = "",
    model: str = "",
) -> World:
    """The same world with these answers to come, these switches fixed and this session summary."""
    ctx = there.context
    return World(
        changed(
            ctx,
            answers=ScriptedAnswers({"search": script(search), "prefilter": script(prefilter)}),
            behaviour=fixing(fixed),
            controls=replace(ctx.moment.controls, scribe_summary=summary),
            model=model,
        )
    )


def selection(trace: Trace) -> StageRecord:
    """What AI selection did."""
    record = trace.stage("AI selection")
    assert record is not None
    return record


def the_call(trace: Trace) -> AiCall:
    """The only request of a run."""
    (call,) = trace.ai_calls
    return call


def switched(trace: Trace) -> list[tuple[str, str]]:
    """Which switches made a difference, and in which stage."""
    notes: Any = trace.facts["switches"]
    return [(note["switch"], note["stage"]) for note in notes]
