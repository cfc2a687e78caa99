"""AI selection: category prefilter, candidate manifest, the model's choice, and what is done without one.

The prefilter is a first, cheap question in large vaults; the manifest is a stage so that it can be read (rules:
deeplore 4.5, 4.4).
Rules: deeplore 4.6, 4.7.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from msgspec import Struct

from lorestudio.domain.chat import transcript
from lorestudio.domain.entry import Entry
from lorestudio.domain.javascript import Json, trim, truthy
from lorestudio.domain.records import grouped, picked, replace
from lorestudio.llm.errors import LlmError
from lorestudio.llm.messages import ChatRequest
from lorestudio.systems.deeplore.ai import asking, prompts, replies
from lorestudio.systems.deeplore.ai.asking import Conversation, ask, conversation, give_probe_back
from lorestudio.systems.deeplore.ai.prompts import build
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
from lorestudio.trace.model import AiRecord, ItemResult, Phase, ReplyItem, StageRecord, TitleMatch

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
    before = asking.observed(state.ai, ctx.moment.clock_ms)
    if state.manifest is None or not state.manifest.text:
        return replace(_nothing_to_offer(state, ledger), ai=AiRecord(before, before))
    search = await _search(state, ctx, ledger)
    state.ai_cached = bool(search.cached)
    state.facts |= {"ai_error": search.error, "ai_fallback": bool(search.error)}
    if search.error or not search.selected:
        record = _fall_back(state, ctx, ledger, search)
    else:
        record = _take(state, ledger, search, ctx.settings.ai_confidence_threshold)
    return replace(record, ai=AiRecord(before, asking.observed(state.ai, ctx.moment.clock_ms), search.items))


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
    asked = replies.question(talk.text, manifest.text, state.candidates, ctx.index.vault.digest, settings)
    cached = state.ai.cache
    found = replies.look_up(cached, asked, ctx.index.names, settings.ai_search_mode)
    if found.tier == 2 and ctx.is_fixed("cache_same_candidates"):
        found = replies.look_up(cached, asked, ctx.index.names, "ai-only")
        if not found.hit:
            state.note_switch("cache_same_candidates", ledger.name, "the model was asked again")
    if found.hit and cached is not None:
        state.ai = replace(state.ai, cached_hits=state.ai.cached_hits + 1)
        picks = replies.replay(cached, state.candidates or ctx.index.visible)
        items = cached_items(cached.picks, picks)
        return SearchResult(picks, cached=True, tier=found.tier, why=found.why, items=items)
    granted, state.ai = asking.acquire(state.ai, ctx.moment.clock_ms)
    if not granted:
        return SearchResult(error=PAUSED, why=found.why)
    if asking.throttled(state.ai, ctx.moment.clock_ms):
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
    state: RunState, ctx: Inputs, ledger: Ledger, request: ChatRequest, asked: replies.CacheQuestion, why: str
) -> SearchResult:
    try:
        reply = await ask(state, ctx, request)
    except LlmError as error:
        if error.fails_by_status if ctx.rules.breaker_status else error.counts_as_failure:
            state.ai = asking.failed(state.ai, ctx.moment.clock_ms)
        else:
            give_probe_back(state, ctx, ledger)
        return SearchResult(error=error.message or str(error), why=why)
    state.ai = replace(state.ai, calls=state.ai.calls + 1, last_success_ms=ctx.moment.clock_ms)
    items = extract_list(reply.content, strict=ctx.rules.strict_replies)
    picks = normalize(items or [])
    if items is None or (items and not picks):
        state.ai = asking.failed(state.ai, ctx.moment.clock_ms)
        what = UNREADABLE if items is None else UNUSABLE
        return SearchResult(error=what, cached=None, why=why, items=tuple(map(unreadable, items or ())))
    matching = match_titles(picks, state.candidates)
    threshold = ctx.settings.ai_confidence_threshold
    selected = tuple(choice for choice in matching.selected if above(threshold, choice.confidence))
    below = tuple(choice for choice in matching.selected if not above(threshold, choice.confidence))
    state.ai = replace(asking.succeeded(state.ai), cache=replies.remember(asked, selected))
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
        **picked(search, "cached", "tier", "why"),
        "unknown_titles": list(search.unknown),
        "results": [
            picked(choice.entry, "id", "title") | picked(choice, "confidence", "reason") for choice in search.selected
        ],
    }


@stage("manifest", Phase.SELECT)
def manifest_stage(state: RunState, ctx: Inputs, ledger: Ledger) -> StageRecord:
    """What the model will be offered; entries without a summary may be left out of it."""
    fields, fixed = ctx.index.vault.fields, ctx.is_fixed("header_count")
    manifest = build(
        state.candidates, fields, ctx.settings, state.counters, bootstrapping=state.bootstrapping, count_forced=fixed
    )
    state.manifest = manifest
    offered = {entry.id for entry in manifest.selectable}
    for entry in state.candidates:
        if entry.id not in offered and not state.is_forced(entry):
            ledger.keep(entry, "not_offered")
    if fixed and ledger.decided and manifest.text:
        state.note_switch("header_count", ledger.name, "the header counts only what is always included")
    return ledger.close(
        state.candidates,
        note="" if manifest.text else "nothing_to_offer",
        details={
            "candidates": [entry.id for entry in state.candidates],
            "offered": [entry.id for entry in manifest.selectable],
            **picked(manifest, "header", "text"),
        },
    )


FEWEST_ENTRIES: Final = 40
FEWEST_CATEGORIES: Final = 4
REPLY_TOKENS: Final = 512
_SAMPLE: Final = 5
_MARKERS: Final = frozenset({
    "lorebook", "lorebook-always", "lorebook-seed", "lorebook-bootstrap", "lorebook-guide", "lorebook-never",
    "lorebook-constant",
})  # fmt: skip
UNCATEGORIZED: Final = "Uncategorized"


def category(entry: Entry, *, folders: bool = False) -> str:
    """The first tag that means something; the top folder only for an entry whose tags all mark it for DeepLore.

    With `folders` the top folder is the category of an entry without any tag too.
    """
    if not entry.tags and not folders:
        return UNCATEGORIZED
    meaningful = next((tag for tag in entry.tags if tag.lower() not in _MARKERS), None)
    if meaningful is not None:
        return meaningful
    return entry.filename.split("/")[0] if "/" in entry.filename else UNCATEGORIZED


def clusters(entries: Sequence[Entry], *, folders: bool = False) -> dict[str, list[Entry]]:
    """Entries by category, in order of first sight."""
    return grouped((category(entry, folders=folders), entry) for entry in entries)


def category_manifest(found: Mapping[str, Sequence[Entry]], *, vaults: bool = False) -> str:
    """One line a category: its size and its first titles; with `vaults`, a repeated title says which vault's it is."""
    return "\n".join(
        f"[{name}] ({len(members)} entries): {', '.join(_samples(members[:_SAMPLE], vaults=vaults))}"
        + (f" (+{len(members) - _SAMPLE} more)" if len(members) > _SAMPLE else "")
        for name, members in found.items()
    )


def _samples(members: Sequence[Entry], *, vaults: bool) -> Iterator[str]:
    seen: set[str] = set()
    for entry in members:
        yield f"{entry.title}@{entry.vault}" if vaults and entry.title in seen else entry.title
        seen.add(entry.title)


def chosen_categories(reply: Json, *, strict: bool = False) -> set[str] | None:
    """The lower-cased names in the reply, None where it names none; `strict` as in `extract_list`."""
    items = extract_list(reply, strict=strict)
    if not items:
        return None
    names: set[str] = set()
    for item in items:
        if item is None:
            return None
        names.add(_name(item).lower())
    names.discard("")
    return names or None


def category_items(reply: Json, found: Mapping[str, object], *, strict: bool = False) -> tuple[ReplyItem, ...]:
    """Each item of the reply on record; several categories that differ only in case are one match."""
    known = grouped((name.lower(), name) for name in found)
    items: list[ReplyItem] = []
    for item in extract_list(reply, strict=strict) or ():
        asked = _name(item)
        names = known.get(asked.lower(), [])
        if not asked:
            items.append(unreadable(item))
        elif names:
            items.append(ReplyItem(asked, TitleMatch.EXACT, ItemResult.CHOSEN, title=", ".join(names), similarity=1.0))
        else:
            items.append(ReplyItem(asked, TitleMatch.NOT_FOUND, ItemResult.DROPPED))
    return tuple(items)


def _name(item: Json) -> str:
    if isinstance(item, str):
        return item
    if isinstance(item, Mapping):
        values = (item.get(key) for key in ("title", "name", "category", "label"))
        return next((value for value in values if isinstance(value, str) and truthy(value)), "")
    return ""


@stage("category prefilter", Phase.SELECT)
async def category_prefilter_stage(state: RunState, ctx: Inputs, ledger: Ledger) -> StageRecord:
    """The model chooses categories; entries of the others leave unless one of their keys is in the conversation.

    Anything doubtful leaves the candidates as they are.
    """
    if not ctx.settings.hierarchical_pre_filter:
        return ledger.skipped("off", {"setting": "hierarchicalPreFilter"})
    before = asking.observed(state.ai, ctx.moment.clock_ms)
    record = await _prefilter(state, ctx, ledger)
    items = record.ai.items if record.ai is not None else ()
    return replace(record, ai=AiRecord(before, asking.observed(state.ai, ctx.moment.clock_ms), items))


async def _prefilter(state: RunState, ctx: Inputs, ledger: Ledger) -> StageRecord:
    before = list(state.candidates)
    forced = [entry for entry in before if state.is_forced(entry)]
    selectable = [entry for entry in before if not state.is_forced(entry)]
    if ctx.settings.manifest_summary_mode == "summary_only":
        selectable = [entry for entry in selectable if trim(entry.summary)]
    if len(selectable) < FEWEST_ENTRIES:
        return _unchanged(ledger, before, "too few entries or categories")
    folders = ctx.is_fixed("untagged_category")
    found = clusters(selectable, folders=folders)
    if folders:
        exact = clusters(selectable)
        if found != exact and max(len(found), len(exact)) >= FEWEST_CATEGORIES:
            state.note_switch("untagged_category", ledger.name, "untagged notes go by their folder")
    if len(found) < FEWEST_CATEGORIES:
        return _unchanged(ledger, before, "too few entries or categories")
    granted, state.ai = asking.acquire(state.ai, ctx.moment.clock_ms)
    if not granted:
        return _unchanged(ledger, before, "AI calls are paused")
    transcript = _transcript(state, ctx, ledger)
    model = ctx.settings.ai_search_model or ctx.model
    request = ChatRequest(
        kind="prefilter",
        system=prompts.CATEGORIES,
        user=prompts.categories_message(category_manifest(found, vaults=ctx.rules.category_vaults), transcript),
        max_tokens=REPLY_TOKENS,
        timeout_ms=ctx.settings.ai_search_timeout,
        json_schema=prompts.CATEGORY_SCHEMA if ctx.rules.asked_by_schema else None,
        reasoning_effort=prompts.effort_for(model, ctx.rules),
        model=model,
    )
    try:
        reply = await ask(state, ctx, request)
    except LlmError as error:
        state.ai = asking.released(state.ai)
        return _unchanged(ledger, before, f"the call failed: {error}")
    strict = ctx.rules.strict_replies
    names = chosen_categories(reply.content, strict=strict)
    answered = AiRecord(items=category_items(reply.content, found, strict=strict))
    if names is None:
        give_probe_back(state, ctx, ledger)
        return replace(_unchanged(ledger, before, "the answer names no category"), ai=answered)
    kept = [entry for entry in selectable if category(entry, folders=folders).lower() in names]
    dropped = [entry for entry in selectable if category(entry, folders=folders).lower() not in names]
    said = transcript.lower()
    rescued = [entry for entry in dropped if any(key and key.lower() in said for key in entry.keys)]
    if len(kept) + len(rescued) < len(selectable) * (1 - ctx.settings.hierarchical_aggressiveness):
        give_probe_back(state, ctx, ledger)
        return replace(_unchanged(ledger, before, "it would leave too few"), ai=answered)
    state.ai = asking.released(state.ai)
    return replace(_narrow(state, ledger, [*forced, *kept], rescued, folders=folders), ai=answered)


def _transcript(state: RunState, ctx: Inputs, ledger: Ledger) -> str:
    """What the model reads of the chat: a trailing reply too, neither seeds nor summary."""
    depth = ctx.settings.ai_search_scan_depth
    told = transcript(ctx.moment.chat, depth)
    if ctx.is_fixed("window_filter"):
        exact, told = told, transcript(ctx.moment.chat, depth, searched_only=True)
        if told != exact:
            state.note_switch("window_filter", ledger.name, "the model reads further back past hidden messages")
    return told


def _narrow(state: RunState, ledger: Ledger, kept: list[Entry], rescued: list[Entry], *, folders: bool) -> StageRecord:
    offered = len(state.candidates)
    remaining = {entry.id for entry in (*kept, *rescued)}
    for entry in state.candidates:
        if entry.id not in remaining:
            ledger.remove(entry, "prefilter_dropped", category=category(entry, folders=folders))
    for entry in rescued:
        ledger.keep(entry, "prefilter_rescued", category=category(entry, folders=folders))
    state.candidates = [*kept, *rescued]
    return ledger.close(
        state.candidates, details={"offered": offered, "kept": [entry.id for entry in state.candidates]}
    )


def _unchanged(ledger: Ledger, before: list[Entry], why: str) -> StageRecord:
    details: dict[str, Json] = {"why": why, "offered": len(before), "kept": None}
    return ledger.skipped("prefilter_unchanged", details)
