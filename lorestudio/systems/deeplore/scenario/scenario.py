"""Scenarios of DeepLore: generations in the format of the recorded runs (rules: scenario-format 1, 2)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from msgspec import Struct

from lorestudio.domain.chat import Chat, Message
from lorestudio.domain.entry import VaultIndex
from lorestudio.domain.javascript import Json
from lorestudio.domain.json_text import spell
from lorestudio.domain.records import replace
from lorestudio.domain.state import EngineState
from lorestudio.domain.tokens import TokenCounter
from lorestudio.exchange.chats.metadata import existing_folders, known_counts, read_controls, read_state
from lorestudio.exchange.chats.records import read_message
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
from lorestudio.systems.deeplore.scenario.report import SeenTexts, analytics_report, generation_report
from lorestudio.systems.deeplore.stages.ai_selection import PAUSED, THROTTLED
from lorestudio.systems.deeplore.system import DeepLoreSystem, Indexes
from lorestudio.systems.scenarios import ScenarioFormat, ScenarioTurn, seen_messages
from lorestudio.trace.model import AiCall, StageRecord, Trace, Turn

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
        self,
        kind: SystemKind,
        scenario: Scenario,
        indexes: Sequence[VaultIndex],
        counter: TokenCounter,
    ) -> dict[str, Any]:
        """What opening the chat changes, where it does, and all generations."""
        opened = _open(scenario, indexes[0])
        found: dict[str, Any] = {"open": opened.report} if opened.report else {}
        return found | {"generations": await _generations(scenario, indexes, opened, counter)}

    def fields(self, system: System, chat: Chat | None, turns: Sequence[ScenarioTurn]) -> dict[str, Any]:
        """Messages, choices, behaviour, and each generation with the answers that it was given."""
        own = _deeplore(system)
        first = turns[0].moment
        rows = _rows(turns, own.settings.rule_set)
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
            kind = ErrorKind(error["kind"]) if error["kind"] in set(ErrorKind) else ErrorKind.UNKNOWN
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
    metadata, state, character = dict(opened.metadata), opened.state, scenario.character
    seen, indexes = SeenTexts(), Indexes()
    reports: list[dict[str, Any]] = []
    for number, generation in enumerate(scenario.generations):
        raw_settings |= generation.settings_patch
        settings = sanitise(raw_settings).settings
        character = character if generation.character is None else generation.character
        metadata, state = _patched(metadata, state, generation)
        index = vaults[number + 1]
        if index is not vaults[number]:
            state = _read_again(state, index)
        chat = tuple(messages[place] for place in generation.chat)
        system = DeepLoreSystem(
            settings,
            scenario.behaviour,
            ScenarioAnswers(dict(generation.ai), settings),
            scenario.model,
            indexes=indexes,
        )
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


def _rows(turns: Sequence[ScenarioTurn], rules: RuleSet) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    before = turns[0].moment.controls
    for each in turns:
        moment = each.moment
        row: dict[str, Any] = {
            "now_ms": moment.clock_ms,
            "type": moment.turn.kind,
            "chat": list(moment.positions),
            "context_size": moment.context_size,
        }
        if rules.answer_slot:
            row |= _answer(moment)
        if moment.controls.notepad != before.notepad:
            row["metadata_patch"] = {"deeplore_ai_notepad": moment.controls.notepad or None}
        before = moment.controls
        answers = recorded_answers(each.trace)
        rows.append(row | ({"ai": answers} if answers else {}))
    return rows


def _answer(moment: Moment) -> dict[str, Any]:
    """Which answer is written: the front end's own chat where it holds more than what is handed over, and the swipe."""
    turn = moment.turn
    front = [*range(turn.message), *([turn.message] if turn.swipe else [])]
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
