"""AI selection: the model chooses among the candidates, and what is done when it does not.

Rules: deeplore 4.6, 4.7.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from lorestudio.domain.entry import Entry
from lorestudio.domain.javascript import Json
from lorestudio.domain.records import replace
from lorestudio.llm.errors import LlmError
from lorestudio.llm.messages import ChatRequest
from lorestudio.systems.deeplore.ai import breaker, cache, prompts
from lorestudio.systems.deeplore.ai.asking import Conversation, ask, conversation, give_probe_back
from lorestudio.systems.deeplore.ai.replies import (
    Selected,
    above,
    cached_items,
    extract_list,
    match_titles,
    normalize,
    reply_items,
    unreadable,
)
from lorestudio.systems.deeplore.inputs import Inputs
from lorestudio.systems.deeplore.state import RunState
from lorestudio.systems.ledger import Ledger
from lorestudio.systems.runner import stage
from lorestudio.trace.model import AiRecord, Phase, ReplyItem, StageRecord

PAUSED = "AI search temporarily paused"
CONFIDENCES = ("high", "medium", "low")
THROTTLED = "AI call throttled — minimum 500ms between calls"
UNREADABLE = "Failed to parse AI response as JSON"
UNUSABLE = "AI response had no usable entries"


class SearchResult(Struct, frozen=True):
    """What came of the search. `cached` is None where the answer could not be read; `items` are those of the reply."""

    selected: tuple[Selected, ...] = ()
    error: str = ""
    cached: bool | None = False
    below: tuple[Selected, ...] = ()
    unknown: tuple[str, ...] = ()
    tier: int = 0
    why: str = ""
    items: tuple[ReplyItem, ...] = ()


@stage("AI selection", Phase.SELECT)
async def ai_selection_stage(state: RunState, ctx: Inputs, ledger: Ledger) -> StageRecord:
    """The model's choice replaces the candidates; what is forced stays, and failures fall back as the settings say."""
    before = breaker.observed(state.ai, ctx.moment.clock_ms)
    if state.manifest is None or not state.manifest.text:
        return replace(_nothing_to_offer(state, ledger), ai=AiRecord(before, before))
    search = await _search(state, ctx, ledger)
    state.ai_cached = bool(search.cached)
    state.facts |= {"ai_error": search.error, "ai_fallback": bool(search.error)}
    if search.error or not search.selected:
        record = _fall_back(state, ctx, ledger, search)
    else:
        record = _take(state, ledger, search, ctx.settings.ai_confidence_threshold)
    return replace(record, ai=AiRecord(before, breaker.observed(state.ai, ctx.moment.clock_ms), search.items))


def _nothing_to_offer(state: RunState, ledger: Ledger) -> StageRecord:
    """Without a question the matches stand, or in AI-only mode what is forced."""
    standing = state.keyword_matches
    if standing is None:
        standing = [entry for entry in state.candidates if state.is_forced(entry)]
    state.candidates = _replaced(ledger, state.candidates, standing, "nothing_offered", "nothing_offered")
    return ledger.close(state.candidates, note="nothing_to_offer")


async def _search(state: RunState, ctx: Inputs, ledger: Ledger) -> SearchResult:
    settings, manifest = ctx.settings, state.manifest
    talk = _conversation(state, ctx, ledger)
    if manifest is None or not talk.text:
        return SearchResult(why="there is no conversation to judge by")
    asked = cache.question(talk.text, manifest.text, state.candidates, ctx.index.vault.digest, settings)
    cached = state.ai.cache
    found = cache.look_up(cached, asked, ctx.index.names, settings.ai_search_mode)
    if found.tier == 2 and ctx.is_fixed("cache_same_candidates"):
        found = cache.look_up(cached, asked, ctx.index.names, "ai-only")
        if not found.hit:
            state.note_switch("cache_same_candidates", ledger.name, "the model was asked again")
    if found.hit and cached is not None:
        state.ai = replace(state.ai, cached_hits=state.ai.cached_hits + 1)
        picks = cache.replay(cached, state.candidates or ctx.index.visible)
        items = cached_items(cached.picks, picks)
        return SearchResult(picks, cached=True, tier=found.tier, why=found.why, items=items)
    granted, state.ai = breaker.acquire(state.ai, ctx.moment.clock_ms)
    if not granted:
        return SearchResult(error=PAUSED, why=found.why)
    if breaker.throttled(state.ai, ctx.moment.clock_ms):
        return SearchResult(error=THROTTLED, why=found.why)
    wanted = prompts.wanted(settings, len(ctx.index.visible), len(ctx.index.constants), new_chat=talk.new_chat)
    system = prompts.selection_prompt(settings, wanted)
    if ctx.is_fixed("fill_count") and wanted.exactly:
        exact, system = system, prompts.selection_prompt(settings, replace(wanted, up_to=str(wanted.exactly)))
        if system != exact:
            state.note_switch("fill_count", ledger.name, f"the model is asked for {wanted.exactly} entries only")
    message = prompts.selection_message(manifest.header, manifest.text, talk.text)
    model = settings.ai_search_model or ctx.model
    request = ChatRequest(
        kind="search",
        system=system,
        user=message,
        max_tokens=settings.ai_search_max_tokens,
        timeout_ms=settings.ai_search_timeout,
        json_schema=prompts.schema_for(model, ctx.rules),
        reasoning_effort=prompts.effort_for(model, ctx.rules),
        model=model,
        stable_prefix=message.index(prompts.TRANSCRIPT_TAG),
    )
    return await _ask(state, ctx, ledger, request, asked, found.why)


def _conversation(state: RunState, ctx: Inputs, ledger: Ledger) -> Conversation:
    """What the model is told of the chat, by the choices of the two switches that concern it."""
    said = (ctx.moment.chat, ctx.index.visible, ctx.moment.controls.scribe_summary, ctx.settings)
    talk = conversation(*said)
    hide_trailing = ctx.moment.turn.kind in {"swipe", "regenerate"} or not ctx.is_fixed("trailing_reply")
    if not hide_trailing:
        exact, talk = talk, conversation(*said, hide_trailing=False)
        if talk != exact:
            state.note_switch("trailing_reply", ledger.name, "the model reads the reply that ends the chat")
    if ctx.is_fixed("window_filter"):
        exact, talk = talk, conversation(*said, hide_trailing=hide_trailing, searched_only=True)
        if talk != exact:
            state.note_switch("window_filter", ledger.name, "the model reads further back past hidden messages")
    return talk


async def _ask(
    state: RunState, ctx: Inputs, ledger: Ledger, request: ChatRequest, asked: cache.CacheQuestion, why: str
) -> SearchResult:
    try:
        reply = await ask(state, ctx, request)
    except LlmError as error:
        if error.fails_by_status if ctx.rules.breaker_status else error.counts_as_failure:
            state.ai = breaker.failed(state.ai, ctx.moment.clock_ms)
        else:
            give_probe_back(state, ctx, ledger)
        return SearchResult(error=error.message or str(error), why=why)
    state.ai = replace(state.ai, calls=state.ai.calls + 1, last_success_ms=ctx.moment.clock_ms)
    items = extract_list(reply.content, strict=ctx.rules.strict_replies)
    picks = normalize(items or [])
    if items is None or (items and not picks):
        state.ai = breaker.failed(state.ai, ctx.moment.clock_ms)
        what = UNREADABLE if items is None else UNUSABLE
        return SearchResult(error=what, cached=None, why=why, items=tuple(map(unreadable, items or ())))
    matching = match_titles(picks, state.candidates)
    threshold = ctx.settings.ai_confidence_threshold
    selected = tuple(choice for choice in matching.selected if above(threshold, choice.confidence))
    below = tuple(choice for choice in matching.selected if not above(threshold, choice.confidence))
    state.ai = replace(breaker.succeeded(state.ai), cache=cache.remember(asked, selected))
    on_record = reply_items(items, matching, threshold)
    return SearchResult(selected, below=below, unknown=matching.unknown, why=why, items=on_record)


def _take(state: RunState, ledger: Ledger, search: SearchResult, threshold: str) -> StageRecord:
    """What is forced, then the model's choice in its order."""
    two_stage = state.keyword_matches is not None
    pool = state.candidates if state.keyword_matches is None else state.keyword_matches
    taken = [entry for entry in pool if state.is_forced(entry)]
    below = {choice.entry.id: choice.confidence for choice in search.below}
    for choice in search.selected:
        entry = choice.entry
        if not state.is_forced(entry):
            taken.append(entry)
        label = f"AI: {choice.reason} ({choice.confidence})"
        joined = two_stage and state.has_label(entry)
        state.set_label(entry, f"{state.label(entry)} → {label}" if joined else label)
        state.confidence[entry.id] = CONFIDENCES.index(choice.confidence) + 1
        details: dict[str, Json] = {"confidence": choice.confidence, "reason": choice.reason}
        if choice.exact:
            details["match"] = "exact title"
        else:
            details |= {"match": "similar title", "asked": choice.asked, "similarity": choice.similarity}
        ledger.change(entry, "ai_pick", **details)
    remaining = {entry.id for entry in taken}
    offered = {entry.id for entry in state.manifest.selectable} if state.manifest is not None else set()
    for entry in state.candidates:
        if entry.id in remaining:
            continue
        if entry.id in below:
            ledger.remove(entry, "below_confidence", confidence=below[entry.id], threshold=threshold)
        else:
            ledger.remove(entry, "ai_not_selected" if entry.id in offered else "not_offered")
    state.candidates = taken
    return ledger.close(taken, note="ai_cached" if search.cached else "", details=_details(search))


def _fall_back(state: RunState, ctx: Inputs, ledger: Ledger, search: SearchResult) -> StageRecord:
    """What the settings take without a choice of the model's."""
    if search.error:
        fallback = ctx.settings.ai_error_fallback or "keyword"
    else:
        fallback = ctx.settings.ai_empty_fallback or "constants"
    constants = {entry.id for entry in ctx.index.constants}
    bootstraps = {entry.id for entry in ctx.index.bootstraps} if state.bootstrapping else set()
    forced: set[int] = set()
    standing: Sequence[Entry] | None = None
    if fallback == "keyword":
        if state.keyword_matches is None:
            state.match_now = "labels" if search.error else "no labels"
        standing = state.keyword_matches or ()
    elif fallback == ("constants_only" if search.error else "constants"):  # each setting has words of its own
        forced = constants
    elif fallback == "bootstrap_only" and search.error:
        forced = bootstraps
        if ctx.is_fixed("bootstrap_fallback") and constants - bootstraps:
            forced = constants | bootstraps
            state.note_switch("bootstrap_fallback", ledger.name, "constants went in too")
    elif fallback == "constants_bootstrap" and not search.error:
        forced = constants | bootstraps
    if standing is None:
        standing = [entry for entry in ctx.index.visible if entry.id in forced]
    reason = "ai_error" if search.error else "ai_empty"
    state.candidates = _replaced(ledger, state.candidates, standing, "fell_back", "fallback_dropped")
    details = {**_details(search), "fallback": fallback, "error": search.error}
    return ledger.close(state.candidates, note=reason, details=details)


def _replaced(
    ledger: Ledger, candidates: Sequence[Entry], standing: Sequence[Entry], added: str, removed: str
) -> list[Entry]:
    """Account for the change from the candidates to those that stand instead."""
    present, wanted = {entry.id for entry in candidates}, {entry.id for entry in standing}
    for entry in candidates:
        if entry.id not in wanted:
            ledger.remove(entry, removed)
    for entry in standing:
        if entry.id not in present:
            ledger.add(entry, added)
    return list(standing)


def _details(search: SearchResult) -> dict[str, Json]:
    return {
        "cached": search.cached,
        "tier": search.tier,
        "why": search.why,
        "unknown_titles": list(search.unknown),
        "results": [
            {
                "id": choice.entry.id,
                "title": choice.entry.title,
                "confidence": choice.confidence,
                "reason": choice.reason,
            }
            for choice in search.selected
        ],
    }
