"""Scenarios of DeepLore, run and written in the format of the recorded runs (rules: scenario-format 1, 2)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from operator import attrgetter
from typing import Any, Final, cast

from msgspec import Struct

from lorestudio.domain.chat import Chat, Message
from lorestudio.domain.entry import VaultIndex
from lorestudio.domain.javascript import Json, simple_hash
from lorestudio.domain.json_text import spell
from lorestudio.domain.records import picked, replace
from lorestudio.domain.state import EngineState, Prompt
from lorestudio.domain.tokens import TokenCounter
from lorestudio.exchange.chats.document import read_message
from lorestudio.exchange.chats.metadata import existing_folders, known_counts, read_controls, read_state
from lorestudio.exchange.problems import InputError
from lorestudio.exchange.scenario_file import (
    ENVIRONMENT,
    Scenario,
    ScenarioGeneration,
    controls_metadata,
    message_record,
)
from lorestudio.llm.errors import ErrorKind, LlmError, failed
from lorestudio.llm.http.dialect import read_answer
from lorestudio.llm.messages import ChatReply, ChatRequest
from lorestudio.settings.declaration import Section
from lorestudio.settings.deeplore import DeepLoreSettings, sanitise
from lorestudio.settings.deeplore_connections import PROXY_URL, proxy_problem
from lorestudio.settings.rules import RuleSet
from lorestudio.systems.base import Moment, System, SystemKind
from lorestudio.systems.deeplore.ai import prompts
from lorestudio.systems.deeplore.ai.asking import is_open
from lorestudio.systems.deeplore.stages.ai_selection import PAUSED, THROTTLED
from lorestudio.systems.deeplore.stages.placement import PREFILL_TAG
from lorestudio.systems.deeplore.state import counters_as_json
from lorestudio.systems.deeplore.system import DeepLoreSystem, Indexes
from lorestudio.systems.scenarios import ScenarioFormat, ScenarioTurn, seen_messages
from lorestudio.trace.model import (
    AiCall,
    Injection,
    Outcome,
    RunOutcome,
    StageRecord,
    StageStatus,
    Trace,
    Turn,
    Verdict,
)


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
    row = picked(call, "kind", "max_tokens", "json_schema")
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
    number: int, trace: Trace, after: EngineState, index: VaultIndex, settings: DeepLoreSettings, seen: SeenTexts
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
    if (budget := trace.ran("budget")) is not None:
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
    if (bm25 := trace.ran("BM25")) is not None:
        report["fuzzy"] = {"active": True, **{key: bm25.details[key] for key in ("candidates", "matched", "threshold")}}
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
    return row | (picked(injection, "truncated", "original_tokens", "content_hash") if injection.truncated else {})


def _groups(number: int, trace: Trace, seen: SeenTexts) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    for place, block in enumerate(trace.prompt):
        place_of = picked(block, "tag", "position", "depth", "role")
        first = seen.blocks.setdefault(block.text, [number, place])
        rows.append(place_of | ({"text": block.text} if first == [number, place] else {"same_text_as": first}))
    return rows


def _summary(trace: Trace) -> dict[str, Any]:
    row: dict[str, Any] = {"mode": trace.mode, "ai_fallback": bool(trace.facts.get("ai_fallback"))}
    if trace.facts.get("ai_error"):
        row["ai_error"] = trace.facts["ai_error"]
    if trace.facts.get("ai_cached") is not None:
        row["ai_cached"] = trace.facts["ai_cached"]
    if (folders := trace.ran("folder filter")) is not None:
        row["folder_filter"] = {"before": folders.details["before"], "after": folders.details["after"]}
    return row


_MANAGED_ORDER: Final = ("deeplore_constants", "deeplore_lore", "deeplore_notebook", "deeplore_ai_notepad")


def _host_order(prompt: Prompt) -> int:
    """Extension prompts as written, then the prompt manager's in its own order."""
    return 1 + _MANAGED_ORDER.index(prompt.tag) if prompt.managed else 0


def _prompt(prompt: Prompt) -> dict[str, Any]:
    row: dict[str, Any] = {"tag": prompt.tag, "via": "prompt_manager" if prompt.managed else "extension_prompt"}
    if not prompt.managed:
        row |= picked(prompt, "position", "depth", "role", "scan")
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
        row["ai"] = {"circuit_open": is_open(state.ai), **picked(state.ai, "failures", "calls", "cached_hits")}
    if state.snapshot is not None:
        row["snapshot"] = [state.snapshot.swipe_key, state.snapshot.counters.generation_count]
    return row


_SELECTION_KEYS: Final = frozenset({"deeplore_pins", "deeplore_blocks", "deeplore_context", "deeplore_folder_filter"})
"""Choices of the chat whose change makes a cached AI selection void."""

_CALL_FAILED: Final = "the call failed: "
"""How the category prefilter words a question without an answer."""


class RecordedFormat(ScenarioFormat):
    """The format of the recorded runs: trackers, answers of models, and every stage's decisions."""

    def settings(self, kind: SystemKind, scenario: Scenario) -> Section:
        """The scenario's settings. Raises InputError where they stand where another system's do."""
        if scenario.system_settings:
            raise InputError("scenario", "deeplore has its settings in “settings”. Put them there, or name a system.")
        return sanitise(scenario.raw_settings).settings

    async def decided(
        self, kind: SystemKind, scenario: Scenario, indexes: Sequence[VaultIndex], counter: TokenCounter
    ) -> dict[str, Any]:
        """What opening the chat changes, where it does, and all generations."""
        opened = _open(scenario, indexes[0])
        found: dict[str, Any] = {"open": opened.report} if opened.report else {}
        return found | {"generations": await _generations(scenario, indexes, opened, counter)}

    def fields(self, system: System, chat: Chat | None, turns: Sequence[ScenarioTurn]) -> dict[str, Any]:
        """Messages, choices, behaviour, and each generation with the answers that it was given."""
        own = _deeplore(system)
        first = turns[0].moment
        rows = _rows(turns, own)
        seen = max((1 + place for row in rows for place in row.get("front_chat", ())), default=0)
        return {
            "rules": own.settings.rules,
            "character": own.inputs_of(first).character,
            "messages": [message_record(message) for message in seen_messages(chat, turns, seen)],
            "metadata": controls_metadata(first.controls),
            "behaviour": own.behaviour.model_dump(),
            "model": "" if own.settings.ai_search_model else own.model,
            "generations": rows,
        }

    def suffix(self, system: System) -> str:
        """Nothing: it is the system that scenarios have without a word."""
        return ""

    def reports(self, system: System, turns: Sequence[ScenarioTurn]) -> list[Mapping[str, Json]]:
        """The reports of turns that were run, as running their scenario gives them."""
        seen, settings = SeenTexts(), _deeplore(system).settings
        found: list[Mapping[str, Json]] = [
            generation_report(number, each.trace, each.state, each.moment.index, settings, seen)
            for number, each in enumerate(turns)
        ]
        if found:
            found[-1]["trackers"]["analytics"] = analytics_report(turns[-1].state)  # type: ignore[index]  # a dictionary
        return found


def _deeplore(system: System) -> DeepLoreSystem:
    if not isinstance(system, DeepLoreSystem):
        raise TypeError(f"{system.title} has scenarios of its own")
    return system


# ---- running --------------------------------------------------------------------------------------------------------


class ScenarioAnswers(Struct, frozen=True):
    """The answers that a scenario scripts for one generation, with the host's own words around errors.

    They come through the profile or the proxy that the settings name. Under the rules of 2.6 nothing looks for text in
    what the host has parsed already.
    """

    replies: dict[str, dict[str, Any]]
    settings: DeepLoreSettings
    name: str = "scripted"
    label: str = "scripted answers"

    async def answer(self, request: ChatRequest) -> ChatReply:
        """The scripted reply of this kind; without one, or without a connection, the call fails."""
        lacking = self._without_proxy() if self._by_proxy else self._without_profile()
        if lacking:
            raise NoProfileError(ErrorKind.NO_KEY, lacking)
        reply = self.replies.get(request.kind, {"error": {"message": "No scripted AI answer"}})
        if "error" in reply:
            raise self._failure(reply["error"])
        if "json" in reply:
            value = reply["json"]
            if self.settings.rule_set.strict_replies:
                return ChatReply(text=spell(value), source=self.label, value=value)
            return ChatReply(text=read_answer(value).text, source=self.label)
        return ChatReply(text=reply["text"], source=self.label)

    def _failure(self, error: Mapping[str, Any]) -> LlmError:
        """The error as the host words it, or word for word where the scenario names its kind."""
        if "kind" in error:
            kind = ErrorKind(error["kind"]) if error["kind"] in list(ErrorKind) else ErrorKind.UNKNOWN
            return LlmError(kind, str(error.get("message", "")), status=error.get("status"))
        settings, timed_out = self.settings, error.get("name") == "AbortError"
        limit = f"Request timed out ({settings.ai_search_timeout / 1000:g}s)"
        message = limit if timed_out else str(error.get("message", ""))
        if not self._by_proxy:  # only profiles are named behind their errors
            model = settings.ai_search_model
            message += f" [profile: {settings.ai_search_profile_id}]" + (f" [model: {model}]" if model else "")
        return failed(message, error.get("status"))

    @property
    def _by_proxy(self) -> bool:
        return self.settings.ai_search_connection_mode == "proxy"

    def _without_profile(self) -> str:
        profile = self.settings.ai_search_profile_id
        if profile == ENVIRONMENT["aiSearchProfileId"]:
            return ""
        return "Connection profile not found." if profile else "No connection profile selected."

    def _without_proxy(self) -> str:
        """Why a proxy cannot be asked: it needs a model, and an address that DeepLore does not refuse
        (rules: deeplore-tools 1.2, 1.3.2).
        """
        if not self.settings.ai_search_model:
            return "No model specified for the proxy."
        return proxy_problem(self.settings.ai_search_proxy_url or PROXY_URL)


class NoProfileError(LlmError):
    """No connection is chosen, or one that is not known: nothing is sent, but the circuit breaker counts it."""

    counts_as_failure = True
    fails_by_status = True


class OpenedChat(Struct, frozen=True):
    """The chat as opening leaves it, and what of it the format reports."""

    metadata: dict[str, Json]
    state: EngineState
    report: dict[str, Any]


def _open(scenario: Scenario, index: VaultIndex) -> OpenedChat:
    """Open the chat: folders and counts that the index does not know are dropped."""
    metadata: dict[str, Json] = dict(scenario.metadata)
    controls = read_controls(metadata)
    state = read_state(metadata, scenario.rng_seed)
    state = replace(state, chat_counts=known_counts(state.chat_counts, index))
    report: dict[str, Any] = {}
    folders = existing_folders(controls.folders, index.folders)
    if folders != controls.folders:
        metadata["deeplore_folder_filter"] = list(folders)
        report["folder_filter"] = list(folders) or None
    if state.chat_counts:
        report["chat_counts"] = dict(state.chat_counts)
    if state.swipe_keys:
        report["swipe_injected_keys"] = {place: list(keys) for place, keys in state.swipe_keys.items()}
    if controls.scribe_summary:
        report["scribe_summary"] = controls.scribe_summary
    return OpenedChat(metadata, state, report)


async def _generations(
    scenario: Scenario, vaults: Sequence[VaultIndex], opened: OpenedChat, counter: TokenCounter
) -> list[dict[str, Any]]:
    messages = [read_message(raw) for raw in scenario.messages]
    raw_settings = scenario.raw_settings
    settings = sanitise(raw_settings).settings
    metadata, state, character = dict(opened.metadata), opened.state, scenario.character
    seen, indexes = SeenTexts(), Indexes()
    reports: list[dict[str, Any]] = []
    for number, generation in enumerate(scenario.generations):
        if generation.settings_patch:
            raw_settings |= generation.settings_patch
            settings = sanitise(raw_settings).settings
        character = character if generation.character is None else generation.character
        metadata, state = _patched(metadata, state, generation)
        index = vaults[number + 1]
        if index is not vaults[number]:
            state = _read_again(state, index)
        chat = tuple(messages[place] for place in generation.chat)
        answers = ScenarioAnswers(dict(generation.ai), settings)
        system = DeepLoreSystem(settings, scenario.behaviour, answers, scenario.model, indexes=indexes)
        moment = Moment(
            index=index,
            chat=chat,
            turn=_turn(generation, messages, state, settings.rule_set),
            controls=read_controls(metadata),
            character=character,
            clock_ms=generation.now_ms,
            context_size=scenario.size_at(generation),
            counter=counter,
            seed=scenario.rng_seed,
        )
        result = await system.decide(moment, state)
        state = result.state
        reports.append(generation_report(number, result.trace, state, index, settings, seen))
    if reports:
        reports[-1]["trackers"]["analytics"] = analytics_report(state)
    return reports


def _read_again(state: EngineState, index: VaultIndex) -> EngineState:
    """What reading the vault again does: no selection is cached any more, and notes that are gone have no usage
    (rules: deeplore 1.13).
    """
    there = {entry.tracker_key for entry in index.entries}
    usage = {key: each for key, each in state.analytics.items() if key.startswith("_") or key in there}
    return replace(state, ai=replace(state.ai, cache=None), analytics=usage)


def _turn(generation: ScenarioGeneration, messages: Sequence[Message], state: EngineState, rules: RuleSet) -> Turn:
    """Which reply is written: in 2.6 its place in the front end's own chat, and which answer of it."""
    chat = generation.chat if generation.front_chat is None else generation.front_chat
    swiped = generation.type == "swipe"
    place, swipe = len(chat), 0
    if rules.answer_slot and generation.front_chat is not None and swiped:
        place -= 1
    if rules.answer_slot and swiped:
        replaced = messages[chat[place]] if place < len(chat) else None
        if replaced is None or not replaced.is_user:
            swipe = generation.answer_swipe_id or 0
    return Turn(place, swipe, state.counters.generation_count, generation.type)


def _patched(
    metadata: dict[str, Json], state: EngineState, generation: ScenarioGeneration
) -> tuple[dict[str, Json], EngineState]:
    """The chat's metadata and trackers after the patch; null deletes a key."""
    patch = generation.metadata_patch
    metadata = {key: value for key, value in {**metadata, **patch}.items() if value is not None}
    if _SELECTION_KEYS.intersection(patch):
        state = replace(state, ai=replace(state.ai, cache=None))
    patched = read_state(metadata)
    if "deeplore_injection_log" in patch:
        state = replace(state, injection_log=patched.injection_log)
    if "deeplore_chat_counts" in patch:
        state = replace(state, chat_counts=patched.chat_counts)
    if "deeplore_swipe_injected_keys" in patch:
        state = replace(state, swipe_keys=patched.swipe_keys)
    return metadata, state


# ---- writing --------------------------------------------------------------------------------------------------------


def _rows(turns: Sequence[ScenarioTurn], system: DeepLoreSystem) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    before, speaker = turns[0].moment.controls, system.inputs_of(turns[0].moment).character
    for each in turns:
        moment = each.moment
        row: dict[str, Any] = {
            "now_ms": moment.clock_ms,
            "type": moment.turn.kind,
            "chat": list(moment.positions),
            "context_size": moment.context_size,
        }
        if system.settings.rule_set.answer_slot:
            row |= _answer(moment)
        if moment.controls.notepad != before.notepad:
            row["metadata_patch"] = {"deeplore_ai_notepad": moment.controls.notepad or None}
        character = system.inputs_of(moment).character
        if character != speaker:  # in a group it is whoever speaks
            row["character"] = character
        before, speaker = moment.controls, character
        answers = recorded_answers(each.trace)
        rows.append(row | ({"ai": answers} if answers else {}))
    return rows


def _answer(moment: Moment) -> dict[str, Any]:
    """Which answer is written: the front end's own chat where it holds more than what is handed over, and the swipe."""
    turn = moment.turn
    swiped = turn.swipe or turn.kind == "swipe"  # the first answer is, too, where the chat went on from it again
    front = [*range(turn.message), *([turn.message] if swiped else [])]
    row: dict[str, Any] = {"type": "swipe", "answer_swipe_id": turn.swipe} if turn.swipe else {}
    return row | ({"front_chat": front} if front[: turn.message] != list(moment.positions) else {})


def recorded_answers(trace: Trace) -> dict[str, dict[str, Any]]:
    """What a run was told by kind of question, as a scenario scripts it (rules: scenario-format 1.5)."""
    answers = {call.kind: _reply(call) for call in trace.ai_calls}
    for kind, stage in (("search", "AI selection"), ("prefilter", "category prefilter")):
        error = _unasked(trace.stage(stage))
        if error and kind not in answers:
            answers[kind] = {"error": {"message": error, "kind": ErrorKind.NO_RECORDED_ANSWER.value}}
    return answers


def _reply(call: AiCall) -> dict[str, Any]:
    if call.error:
        kind = call.details.get("error_kind", ErrorKind.UNKNOWN.value)
        error: dict[str, Any] = {"message": call.error, "kind": kind}
        status = call.details.get("error_status")
        return {"error": error if status is None else {**error, "status": status}}
    value = call.details.get("value")
    return {"text": call.reply} if value is None else {"json": value}


def _unasked(record: StageRecord | None) -> str:
    """The error of a question that never went out; such a question is not among the calls."""
    if record is None:
        return ""
    error, why = record.details.get("error"), record.details.get("why")
    if isinstance(error, str) and error not in (PAUSED, THROTTLED):
        return error
    return why.removeprefix(_CALL_FAILED) if isinstance(why, str) and why.startswith(_CALL_FAILED) else ""
