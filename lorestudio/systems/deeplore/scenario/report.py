"""Writing what a scenario's generations decided, in the format of the recorded runs (rules: scenario-format 2)."""

from __future__ import annotations

from collections.abc import Sequence
from operator import attrgetter
from typing import Any, Final, cast

from lorestudio.domain.entry import VaultIndex
from lorestudio.domain.javascript import simple_hash
from lorestudio.domain.records import replace
from lorestudio.domain.state import EngineState, Prompt
from lorestudio.settings.deeplore import DeepLoreSettings
from lorestudio.settings.rules import RuleSet
from lorestudio.systems.deeplore.ai import prompts
from lorestudio.systems.deeplore.ai.breaker import is_open
from lorestudio.systems.deeplore.stages.placement import PREFILL_TAG
from lorestudio.systems.deeplore.state import counters_as_json
from lorestudio.systems.scenarios import fields_of
from lorestudio.trace.model import AiCall, Injection, Outcome, RunOutcome, StageRecord, StageStatus, Trace, Verdict


class SeenTexts:
    """Where each text stood first, so that a repetition can point there."""

    def __init__(self) -> None:
        self.blocks: dict[str, list[int]] = {}
        self.manifests: dict[str, int] = {}


def ai_report(number: int, trace: Trace, seen: SeenTexts) -> dict[str, Any]:
    """`prefilter`, `manifest`, `ai_calls` and `ai`, as far as the generation came to them."""
    report: dict[str, Any] = {}
    prefilter = trace.stage("category prefilter")
    if prefilter is not None and "kept" in prefilter.details:
        report["prefilter"] = {"candidates": prefilter.details["offered"], "kept": prefilter.details["kept"]}
    manifest = trace.stage("manifest")
    if manifest is None:
        return report
    report["manifest"] = _manifest(number, manifest, seen)
    if trace.ai_calls:
        report["ai_calls"] = [_call(call, manifest) for call in trace.ai_calls]
    selection = trace.stage("AI selection")
    if selection is not None and "results" in selection.details:
        report["ai"] = _selection(selection)
    return report


def _manifest(number: int, record: StageRecord, seen: SeenTexts) -> dict[str, Any]:
    row: dict[str, Any] = {"candidates": record.details["candidates"], "header": record.details["header"]}
    text = str(record.details["text"])
    first = seen.manifests.setdefault(text, number)
    return row | ({"text": text} if first == number or not text else {"same_text_as": first})


def _selection(record: StageRecord) -> dict[str, Any]:
    details = record.details
    error, cached = details.get("error"), details["cached"]
    row: dict[str, Any] = {"cached": cached, "error": bool(error), "results": details["results"]}
    return row | ({"error_message": error} if error else {}) | ({"cache_hit": True} if cached else {})


def _call(call: AiCall, manifest: StageRecord) -> dict[str, Any]:
    row = fields_of(call, "kind", "max_tokens", "json_schema")
    if call.model:
        row["model"] = call.model
    if call.details.get("reasoning_effort"):
        row["reasoning_effort"] = call.details["reasoning_effort"]
    if call.details.get("merged_into_user"):
        row["merged_into_user"] = True
    row["system"] = _system(call)
    row["user"] = _with_placeholders(call.user, manifest)
    return row


def _system(call: AiCall) -> dict[str, Any]:
    """Which prompt was used, without its wording."""
    if call.kind == "prefilter":
        return {"base": "category"}
    start, end = prompts.SELECTION.split(prompts.MAX_ENTRIES)
    if call.system.startswith(start):
        rest = call.system.removeprefix(start)
        wanted, suffix = rest.split(end, 1)
        return {"base": "default", "max_entries": wanted, "suffix": suffix}
    return {"base": "custom", "text": call.system}


def _with_placeholders(user: str, manifest: StageRecord) -> str:
    for name, part in (("{{MANIFEST}}", "text"), ("{{HEADER}}", "header")):
        text = str(manifest.details[part])
        if text:
            user = user.replace(text, name, 1)
    return user


def generation_report(
    number: int,
    trace: Trace,
    after: EngineState,
    index: VaultIndex,
    settings: DeepLoreSettings,
    seen: SeenTexts,
) -> dict[str, Any]:
    """One generation as the recorded runs have it; `after` is the state that it left behind."""
    report: dict[str, Any] = {"outcome": trace.outcome.value}
    if trace.outcome is RunOutcome.SKIPPED:
        report |= {"skip_reason": trace.skip_reason, "rng_draws": 0}
    else:
        report |= _decisions(number, trace, index, seen, settings.rule_set)
    report["committed"] = [_prompt(prompt) for prompt in sorted(after.prompts, key=_host_order)]
    report["trackers"] = _trackers(after, settings)
    return report


def analytics_report(state: EngineState) -> dict[str, list[int]]:
    """Usage records, reported once at the end."""
    return {key: [usage.matched, usage.injected, usage.last_triggered_ms] for key, usage in state.analytics.items()}


def _decisions(number: int, trace: Trace, index: VaultIndex, seen: SeenTexts, rules: RuleSet) -> dict[str, Any]:
    report: dict[str, Any] = {"rng_draws": len(trace.draws)}
    if trace.draws:
        report["rng"] = list(trace.draws)
    report["bootstrap_active"] = trace.facts["bootstrapping"]
    guides = [verdict.entry for verdict in _verdicts(trace, "snapshot", Outcome.REFUSED)]
    if guides:
        report["guides_hidden"] = guides
    keyword = _keyword(trace, index, rules)
    if keyword is not None:
        report["keyword"] = keyword
    report |= ai_report(number, trace, seen)
    report["exempt"] = trace.facts["exempt"]
    report["stages"] = _stages(trace, index)
    labels = [list(pair) for pair in trace.labels]
    if keyword is None or labels != keyword["matched_keys"]:
        report["matched_keys"] = labels
    report["trace"] = _summary(trace)
    budget = trace.stage("budget")
    if budget is not None and budget.status is StageStatus.RAN:
        # A title that came in is not cut, in 2.6 a title of the same vault.
        key = attrgetter("tracker_key" if rules.labels_by_vault else "title")
        came_in = {key(index.entries[injection.entry]) for injection in trace.injections}
        cut = [verdict.entry for verdict in budget.with_outcome(Outcome.REMOVED)]
        report["budget"] = {
            "accepted": [_accepted(injection) for injection in trace.injections],
            "cut": [each for each in cut if key(index.entries[each]) not in came_in],
            "count": len(trace.injections),
            "total_tokens": trace.total_tokens,
        }
        report["groups"] = _groups(number, trace, seen)
        report["sources"] = [
            [injection.title, injection.label, injection.priority, injection.tokens]
            for injection in (trace.injections if trace.prompt else ())
        ]
    return report


def _verdicts(trace: Trace, stage: str, *outcomes: Outcome) -> list[Verdict]:
    record = trace.stage(stage)
    return [verdict for verdict in (record.verdicts if record else ()) if verdict.outcome in outcomes]


def _ids(ids: Sequence[int], index: VaultIndex) -> dict[str, Any]:
    return {"ids": list(ids), "titles": [index.entries[entry_id].title for entry_id in ids]}


def _keyword(trace: Trace, index: VaultIndex, rules: RuleSet) -> dict[str, Any] | None:
    record = trace.stage("match order")
    if record is None:
        return None
    report: dict[str, Any] = {
        **_ids(record.left, index),
        "matched_keys": [list(pair) for pair in cast("Sequence[Sequence[str]]", record.details["labels"])],
    }
    stages = ("keywords", "cascade links", "recursion", "BM25") if rules.one_gate else ("keywords",)
    refused = [verdict for name in stages for verdict in _verdicts(trace, name, Outcome.REFUSED)]
    lists: dict[str, list[dict[str, Any]]] = {"probability_skipped": [], "warmup_failed": [], "refine_blocked": []}
    for verdict in refused:
        entry, details = index.entries[verdict.entry], verdict.details
        row: dict[str, Any] = {"title": entry.title} | ({"vaultSource": entry.vault} if rules.labels_by_vault else {})
        if verdict.reason == "probability_zero":
            lists["probability_skipped"].append({**row, "probability": 0, "roll": 0})
        elif verdict.reason in ("refine_blocked", "refine_logic"):
            row |= {"primaryKey": details["key"], "refineKeys": details["refine_keys"]}
            if rules.refine_logic:
                row["selectiveLogic"] = entry.selective_logic
            lists["refine_blocked"].append(row)
        elif verdict.reason in _REFUSALS:
            lists[_REFUSALS[verdict.reason]].append({**row, **details})
    report |= {key: rows for key, rows in lists.items() if rows}
    bm25 = trace.stage("BM25")
    if bm25 is not None and bm25.status is StageStatus.RAN:
        report["fuzzy"] = {
            "active": True,
            **{key: bm25.details[key] for key in ("candidates", "matched", "threshold")},
        }
        report["bm25"] = bm25.details["scores"]
    return report


_REFUSALS: Final = {"probability_lost": "probability_skipped", "warmup_short": "warmup_failed"}

_STAGE_NAMES: Final = {
    "pre-gating": "pipe_contextual_gating",
    "pre-folder filter": "pipe_folder_filter",
    "contextual gating (selection)": "pipe_contextual_gating",
    "folder filter": "pipe_folder_filter",
    "pins and blocks": "pin_block",
    "contextual gating": "contextual_gating",
    "re-injection cooldown": "reinjection_cooldown",
    "requires and excludes": "requires_excludes",
    "duplicate stripping": "strip_dedup",
}
_ALWAYS: Final = frozenset({"pre-gating", "contextual gating (selection)", "re-injection cooldown", "pins and blocks"})
"""Stages that the recorded runs list even where they had nothing to do."""


def _stages(trace: Trace, index: VaultIndex) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    sorted_later, order = _sorted_later(trace)
    for record in trace.stages:
        if record is sorted_later:
            record = replace(record, left=order)  # noqa: PLW2901  # the next step goes by it
        name = _STAGE_NAMES.get(record.name)
        if name is None or record.note == "stopped_early":
            continue
        idle = record.status is StageStatus.SKIPPED and record.note in {"no_folder_filter", "off"}
        if idle and record.name not in _ALWAYS:
            continue
        if name == "pin_block":  # what the selection hands over
            rows.append({"stage": "pipeline", **_ids(record.entered, index)})
        rows.append(_stage(name, record, index))
    return rows


def _sorted_later(trace: Trace) -> tuple[StageRecord | None, tuple[int, ...]]:
    """The last filter of the selection: the recorded runs show its list as it was sorted afterwards."""
    last: StageRecord | None = None
    for record in trace.stages:
        if record.name == "priority order":
            return last, record.left
        if _STAGE_NAMES.get(record.name, "").startswith("pipe_") and record.status is StageStatus.RAN:
            last = record
        elif record.name == "AI selection":
            last = None
    return None, ()


def _stage(name: str, record: StageRecord, index: VaultIndex) -> dict[str, Any]:
    row: dict[str, Any] = {"stage": name}
    removed = record.with_outcome(Outcome.REMOVED)
    if name.startswith("pipe_"):
        if removed:
            row["ids"] = list(record.left)
        return row | {"removed": [verdict.entry for verdict in removed]}
    ids = _ids(record.left, index)
    if name == "pin_block":
        pinned = record.details.get("pinned", [])
        added = [v.entry for v in record.with_outcome(Outcome.ADDED) if v.entry in record.left]
        if record.left != record.entered or pinned:
            gone = [v for v in removed if v.entry in record.entered]
            row |= ids | {
                "added": added,
                "removed": [{"id": verdict.entry, "reason": "blocked"} for verdict in gone],
                "pinned": pinned,
            }
        return row
    if record.left != record.entered:
        entered = sorted(removed, key=lambda verdict: record.entered.index(verdict.entry))
        row |= ids | {"removed": [_removed(name, verdict, index) for verdict in entered]}
    if name == "strip_dedup":
        row["log_length"] = record.details["log_length"]
    return row


def _removed(stage: str, verdict: Verdict, index: VaultIndex) -> dict[str, Any]:
    reason = {"contextual_gating": f"field:{verdict.details.get('field')}", "strip_dedup": "recently_injected"}
    row: dict[str, Any] = {"id": verdict.entry, "reason": reason.get(stage, stage)}
    if stage == "requires_excludes":
        entry = index.entries[verdict.entry]
        row |= {"requires": list(entry.requires), "excludes": list(entry.excludes)}
    return row


def _accepted(injection: Injection) -> dict[str, Any]:
    row: dict[str, Any] = {"id": injection.entry, "title": injection.title, "tokens": injection.tokens}
    return row | (fields_of(injection, "truncated", "original_tokens", "content_hash") if injection.truncated else {})


def _groups(number: int, trace: Trace, seen: SeenTexts) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    for place, block in enumerate(trace.prompt):
        place_of = fields_of(block, "tag", "position", "depth", "role")
        first = seen.blocks.setdefault(block.text, [number, place])
        rows.append(place_of | ({"text": block.text} if first == [number, place] else {"same_text_as": first}))
    return rows


def _summary(trace: Trace) -> dict[str, Any]:
    row: dict[str, Any] = {"mode": trace.mode, "ai_fallback": bool(trace.facts.get("ai_fallback"))}
    if trace.facts.get("ai_error"):
        row["ai_error"] = trace.facts["ai_error"]
    if trace.facts.get("ai_cached") is not None:
        row["ai_cached"] = trace.facts["ai_cached"]
    folders = trace.stage("folder filter")
    if folders is not None and folders.status is StageStatus.RAN:
        row["folder_filter"] = {"before": folders.details["before"], "after": folders.details["after"]}
    return row


_MANAGED_ORDER: Final = ("deeplore_constants", "deeplore_lore", "deeplore_notebook", "deeplore_ai_notepad")


def _host_order(prompt: Prompt) -> int:
    """Extension prompts as written, then the prompt manager's in its own order."""
    return 1 + _MANAGED_ORDER.index(prompt.tag) if prompt.managed else 0


def _prompt(prompt: Prompt) -> dict[str, Any]:
    row: dict[str, Any] = {"tag": prompt.tag, "via": "prompt_manager" if prompt.managed else "extension_prompt"}
    if not prompt.managed:
        row |= fields_of(prompt, "position", "depth", "role", "scan")
    if prompt.tag in ("deeplore_notebook", PREFILL_TAG) and not prompt.managed:
        row["text"] = prompt.text
    return row | {"hash": simple_hash(prompt.text)}


def _trackers(state: EngineState, settings: DeepLoreSettings) -> dict[str, Any]:
    counters: dict[str, Any] = dict(counters_as_json(state.counters))
    columns = 6 if settings.rule_set.vault_in_log else 5
    decay = counters.pop("decay")
    row: dict[str, Any] = {
        **counters,
        "chat_counts": dict(state.chat_counts),
        "swipe_keys": {place: len(keys) for place, keys in state.swipe_keys.items()},
        "injection_log": [
            {
                "gen": record.generation,
                "entries": [
                    [item.title, item.position, item.depth, item.role, item.content_hash, item.vault][:columns]
                    for item in record.entries
                ],
            }
            for record in state.injection_log
        ],
    }
    if settings.decay_enabled:
        row["decay"] = decay
    if settings.ai_search_enabled:
        row["ai"] = {
            "circuit_open": is_open(state.ai),
            **fields_of(state.ai, "failures", "calls", "cached_hits"),
        }
    if state.snapshot is not None:
        row["snapshot"] = [state.snapshot.swipe_key, state.snapshot.counters.generation_count]
    return row
