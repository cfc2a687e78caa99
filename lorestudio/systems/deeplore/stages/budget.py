"""The budget: how many entries and tokens go in, and what is cut (rules: deeplore 5.7)."""

from __future__ import annotations

import math

from msgspec import Struct

from lorestudio.domain.entry import Entry
from lorestudio.domain.javascript import length
from lorestudio.domain.records import replace
from lorestudio.settings.deeplore import DeepLoreSettings
from lorestudio.systems.deeplore.inputs import Inputs
from lorestudio.systems.deeplore.state import Accepted, RunState
from lorestudio.systems.deeplore.text import truncate_to_sentence
from lorestudio.systems.ledger import Ledger
from lorestudio.systems.runner import stage
from lorestudio.trace.model import Phase, StageRecord

WORTH_TRUNCATING = 50
"""Tokens that must be left for a truncated entry to be worth having."""


def truncated(entry: Entry, room: int, *, marked: bool = True) -> Entry:
    """The entry cut to about `room` tokens at a sentence; where it is `marked`, the hash says so."""
    per_token = length(entry.content) / entry.tokens if entry.tokens > 0 and entry.content else 4
    content = truncate_to_sentence(entry.content, math.floor(room * per_token))
    tokens = math.ceil(length(content) / per_token)
    return replace(entry, content=content, tokens=tokens, content_hash=entry.content_hash + "_trunc" * marked)


class Intake(Struct):
    """What went in so far: entries and tokens under the caps, and why the intake ended."""

    count: int = 0
    total: int = 0
    stopped: str = ""
    stopped_by: str = ""


@stage("budget", Phase.BUDGET)
def budget_stage(state: RunState, ctx: Inputs, ledger: Ledger) -> StageRecord:
    """In order, entries go in while both caps allow; the first that does not fit is truncated or ends the intake.

    Outlet entries are outside both caps and come last.
    """
    settings = ctx.settings
    state.reached_budget = list(state.candidates)
    intake = Intake()
    demand = 0
    for entry in state.candidates:
        if entry.outlet:
            continue
        demand += entry.tokens
        _offer(state, settings, ledger, intake, entry, demand)
    for entry in state.candidates:
        if entry.outlet:
            state.accepted.append(Accepted(entry))
            ledger.keep(entry, "outlet", outlet=entry.outlet, tokens=entry.tokens)
    state.candidates = [accepted.entry for accepted in state.accepted]
    return ledger.close(
        state.candidates,
        details={
            "entries": intake.count,
            "tokens": intake.total,
            "entry_cap": None if settings.unlimited_entries else settings.max_entries,
            "token_budget": None if settings.unlimited_budget else settings.max_tokens_budget,
        },
    )


def _offer(
    state: RunState, settings: DeepLoreSettings, ledger: Ledger, intake: Intake, entry: Entry, demand: int
) -> None:
    """Let the entry in, whole or truncated, or cut it. `demand` is what all entries up to it would need."""
    budget = settings.max_tokens_budget
    needs = max(0, demand - budget)
    free = budget - intake.total
    if not intake.stopped and not settings.unlimited_entries and intake.count >= settings.max_entries:
        intake.stopped = "over_entry_cap"
    if intake.stopped == "over_entry_cap":
        ledger.remove(entry, "over_entry_cap", cap=settings.max_entries, tokens=entry.tokens)
    elif intake.stopped:
        ledger.remove(entry, "behind_cut", stopped_by=intake.stopped_by, tokens=entry.tokens, needs=needs)
    elif settings.unlimited_budget or entry.tokens <= free:
        intake.count += 1
        intake.total += entry.tokens
        state.accepted.append(Accepted(entry))
        ledger.keep(entry, "fits", tokens=entry.tokens, total=intake.total)
    elif free >= WORTH_TRUNCATING:
        part = truncated(entry, free, marked=not settings.rule_set.truncated_known)
        intake.count += 1
        intake.total += part.tokens
        intake.stopped, intake.stopped_by = "truncated", entry.title
        state.accepted.append(Accepted(part, original_tokens=entry.tokens))
        ledger.change(
            entry, "truncated", tokens=part.tokens, original_tokens=entry.tokens, needs=needs, total=intake.total
        )
    else:
        if intake.count:
            intake.stopped, intake.stopped_by = "over_budget", entry.title
        ledger.remove(entry, "over_budget", tokens=entry.tokens, free=free, needs=needs)
