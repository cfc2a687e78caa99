"""The category prefilter: a first, cheap question to the model in large vaults (rules: deeplore 4.4)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from lorestudio.domain.chat import transcript
from lorestudio.domain.entry import Entry
from lorestudio.domain.javascript import Json, trim, truthy
from lorestudio.domain.records import replace
from lorestudio.llm.errors import LlmError
from lorestudio.llm.messages import ChatRequest
from lorestudio.systems.deeplore.ai import breaker, prompts
from lorestudio.systems.deeplore.ai.asking import ask, give_probe_back
from lorestudio.systems.deeplore.ai.replies import extract_list, unreadable
from lorestudio.systems.deeplore.inputs import Inputs
from lorestudio.systems.deeplore.state import RunState
from lorestudio.systems.ledger import Ledger
from lorestudio.systems.runner import stage
from lorestudio.trace.model import AiRecord, ItemResult, Phase, ReplyItem, StageRecord, TitleMatch

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
    found: dict[str, list[Entry]] = {}
    for entry in entries:
        found.setdefault(category(entry, folders=folders), []).append(entry)
    return found


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
    known: dict[str, list[str]] = {}
    for name in found:
        known.setdefault(name.lower(), []).append(name)
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
    before = breaker.observed(state.ai, ctx.moment.clock_ms)
    record = await _prefilter(state, ctx, ledger)
    items = record.ai.items if record.ai is not None else ()
    return replace(record, ai=AiRecord(before, breaker.observed(state.ai, ctx.moment.clock_ms), items))


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
    granted, state.ai = breaker.acquire(state.ai, ctx.moment.clock_ms)
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
        state.ai = breaker.released(state.ai)
        return _unchanged(ledger, before, f"the call failed: {error}")
    strict = ctx.rules.strict_replies
    names = chosen_categories(reply.content, strict=strict)
    answered = AiRecord(items=category_items(reply.content, found, strict=strict))
    if names is None:
        give_probe_back(state, ctx, ledger)
        return replace(_unchanged(ledger, before, "the answer names no category"), ai=answered)
    kept = [entry for entry in selectable if category(entry, folders=folders).lower() in names]
    dropped = [entry for entry in selectable if category(entry, folders=folders).lower() not in names]
    rescued = [entry for entry in dropped if _mentioned(entry, transcript.lower())]
    if len(kept) + len(rescued) < len(selectable) * (1 - ctx.settings.hierarchical_aggressiveness):
        give_probe_back(state, ctx, ledger)
        return replace(_unchanged(ledger, before, "it would leave too few"), ai=answered)
    state.ai = breaker.released(state.ai)
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


def _mentioned(entry: Entry, transcript: str) -> bool:
    return any(key and key.lower() in transcript for key in entry.keys)
