"""Running scenarios: the engine's decisions in the format of the recorded runs."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from lorestudio.domain.javascript import Json
from lorestudio.domain.state import EngineState
from lorestudio.domain.tokens import CHARS_3_35, CHARS_4, TokenCounter
from lorestudio.exchange.chats.metadata import existing_folders, known_counts, read_controls, read_state
from lorestudio.exchange.chats.records import read_message
from lorestudio.exchange.problems import InputError
from lorestudio.exchange.scenario_file import Scenario, ScenarioGeneration, ScenarioVault, read_records
from lorestudio.llm.dialect import read_answer
from lorestudio.llm.errors import ErrorKind, LlmError, failed
from lorestudio.llm.messages import ChatReply, ChatRequest
from lorestudio.settings.deeplore import sanitise
from lorestudio.settings.files import SettingsError
from lorestudio.studio.scenario.systems import scenario_kind, system_generations
from lorestudio.systems.context import RunContext
from lorestudio.systems.deeplore.index import DeepLoreIndex
from lorestudio.systems.deeplore.run import run
from lorestudio.systems.deeplore.scenario_report import SeenTexts, analytics_report, generation_report, index_report
from lorestudio.systems.registry import DEEPLORE
from lorestudio.trace.model import Turn
from lorestudio.vault.files import NoteFile, VaultFiles
from lorestudio.vault.index import build_index

COUNTERS: Final[Mapping[str, TokenCounter]] = {"chars4": CHARS_4, "st335": CHARS_3_35}

ENVIRONMENT: Final[Mapping[str, Json]] = {"enabled": True, "aiSearchProfileId": "oracle-profile"}
"""Settings that the recorded runs were made with unless a scenario says otherwise."""


_SELECTION_KEYS: Final = frozenset({"deeplore_pins", "deeplore_blocks", "deeplore_context", "deeplore_folder_filter"})
"""Choices of the chat whose change makes a cached AI selection void."""


def run_scenarios(path: Path, vault_root: Path | None = None) -> list[dict[str, Any]]:
    """Run all scenarios of a file, in order.

    Raises InputError, naming line and field, before anything is run where the file is wrong or a vault is missing.
    """
    records = read_records(path)
    for record in records:
        for number, vault in enumerate(record.scenario.vaults):
            problem = _vault_problem(vault, vault_root)
            if problem:
                raise record.error(problem, f"vaults.{number}.ref")
        try:
            scenario_kind(record.scenario)
        except (InputError, SettingsError) as error:
            field = "system" if isinstance(error, InputError) else "system_settings"
            raise record.error(getattr(error, "message", str(error)), field) from None
    return [run_scenario(record.scenario, vault_root) for record in records]


def run_scenario(scenario: Scenario, vault_root: Path | None = None) -> dict[str, Any]:
    """Run all generations of a scenario; `{"id", "expected"}` in the format of the recorded runs.

    `vault_root` is the folder that holds the vaults that a scenario refers to. Raises InputError where one is missing.
    """
    return asyncio.run(_run(scenario, vault_root))


async def _run(scenario: Scenario, vault_root: Path | None) -> dict[str, Any]:
    sanitised = sanitise({**ENVIRONMENT, **scenario.settings})
    settings = sanitised.settings
    counter = COUNTERS[scenario.tokenizer]
    files = [_files(vault, vault_root) for vault in scenario.vaults]
    index = DeepLoreIndex(build_index(files, settings, counter))
    expected: dict[str, Any] = {"index": index_report(index.vault, settings)}
    corrected = {key: value for key, value in sanitised.corrected.items() if key in scenario.settings}
    if corrected:
        expected["settings_corrected"] = corrected
    if scenario.system != DEEPLORE:
        expected["generations"] = await system_generations(scenario, index.vault, counter)
        return {"id": scenario.id, "expected": expected}
    opened = _open(scenario, index)
    if opened.report:
        expected["open"] = opened.report
    expected["generations"] = await _generations(scenario, index, opened, counter)
    return {"id": scenario.id, "expected": expected}


@dataclass(frozen=True, slots=True)
class ScriptedAnswers:
    """The answers that a scenario scripts for one generation, with the host's own words around errors."""

    replies: dict[str, dict[str, Any]]
    profile: str
    model: str
    timeout_ms: float
    name: str = "scripted"
    label: str = "scripted answers"

    async def answer(self, request: ChatRequest) -> ChatReply:
        """The scripted reply of this kind; without one, or without a connection, the call fails."""
        if not self.profile:
            raise NoProfileError(ErrorKind.NO_KEY, "No connection profile selected.")
        reply = self.replies.get(request.kind, {"error": {"message": "No scripted AI answer"}})
        if "error" in reply:
            raise self._failure(reply["error"])
        if "json" in reply:
            return ChatReply(text=read_answer(reply["json"]).text, source=self.label)
        return ChatReply(text=reply["text"], source=self.label)

    def _failure(self, error: Mapping[str, Any]) -> LlmError:
        """The error as the host words it, or word for word where the scenario names its kind."""
        if "kind" in error:
            kind = ErrorKind(error["kind"]) if error["kind"] in set(ErrorKind) else ErrorKind.UNKNOWN
            return LlmError(kind, str(error.get("message", "")), status=error.get("status"))
        timed_out = error.get("name") == "AbortError"
        message = f"Request timed out ({self.timeout_ms / 1000:g}s)" if timed_out else str(error.get("message", ""))
        suffix = f" [profile: {self.profile}]" + (f" [model: {self.model}]" if self.model else "")
        return failed(message + suffix, error.get("status"))


class NoProfileError(LlmError):
    """No connection is chosen: nothing is sent, but the circuit breaker counts it as DeepLore does."""

    counts_as_failure = True


@dataclass(frozen=True, slots=True)
class OpenedChat:
    """The chat as opening leaves it, and what of it the format reports."""

    metadata: dict[str, Json]
    state: EngineState
    report: dict[str, Any]


def _open(scenario: Scenario, index: DeepLoreIndex) -> OpenedChat:
    """Open the chat: folders and counts that the index does not know are dropped."""
    metadata: dict[str, Json] = dict(scenario.metadata)
    controls = read_controls(metadata)
    state = read_state(metadata, scenario.rng_seed)
    state = replace(state, chat_counts=known_counts(state.chat_counts, index.vault))
    report: dict[str, Any] = {}
    folders = existing_folders(controls.folders, index.vault.folders)
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
    scenario: Scenario, index: DeepLoreIndex, opened: OpenedChat, counter: TokenCounter
) -> list[dict[str, Any]]:
    messages = [read_message(raw) for raw in scenario.messages]
    raw_settings: dict[str, Json] = {**ENVIRONMENT, **scenario.settings}
    metadata, state, character = dict(opened.metadata), opened.state, scenario.character
    seen = SeenTexts()
    reports: list[dict[str, Any]] = []
    for number, generation in enumerate(scenario.generations):
        raw_settings |= generation.settings_patch
        settings = sanitise(raw_settings).settings
        character = character if generation.character is None else generation.character
        metadata, state = _patched(metadata, state, generation)
        chat = tuple(messages[place] for place in generation.chat)
        result = await run(
            RunContext(
                index=index,
                chat=chat,
                settings=settings,
                turn=Turn(len(chat), 0, state.counters.generation_count, generation.type),
                controls=read_controls(metadata),
                state=state,
                character=character,
                clock_ms=generation.now_ms,
                context_size=generation.context_size,
                counter=counter,
                seed=scenario.rng_seed,
                answers=ScriptedAnswers(
                    dict(generation.ai),
                    settings.ai_search_profile_id,
                    settings.ai_search_model,
                    settings.ai_search_timeout,
                ),
                model=scenario.model,
                behaviour=scenario.behaviour,
            )
        )
        state = result.state
        reports.append(generation_report(number, result.trace, state, index.vault, settings, seen))
    if reports:
        reports[-1]["trackers"]["analytics"] = analytics_report(state)
    return reports


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


def _vault_problem(vault: ScenarioVault, root: Path | None) -> str:
    """Why the vault's files cannot be had, "" where they can."""
    if vault.ref is None:
        return ""
    if root is None:
        return (
            f"the vault “{vault.name}” is only referred to. Say with --vault-root in which folder “{vault.ref}” lies."
        )
    if not (root / vault.ref).is_dir():
        return f"there is no folder {root / vault.ref}. Name the folder that “{vault.ref}” lies in with --vault-root."
    return ""


def _files(vault: ScenarioVault, root: Path | None) -> VaultFiles:
    """The files of a scenario's vault, read from below `root` where it only refers to them."""
    if vault.files is not None:
        return VaultFiles(vault.name, tuple(NoteFile(path, text) for path, text in vault.files))
    problem = _vault_problem(vault, root)
    if problem or root is None or vault.ref is None:
        raise InputError("scenario", problem, field="vaults")
    return VaultFiles(vault.name, tuple(_walk(root / vault.ref, "")))


def _walk(folder: Path, prefix: str) -> Iterator[NoteFile]:
    """Files of a folder in code-unit order, then those of its sub-folders; a byte order mark stays."""
    try:
        children = sorted(folder.iterdir(), key=lambda path: path.name.encode("utf-16-be", "surrogatepass"))
        for path in children:
            if path.is_file() and path.name != "LICENSE":
                yield NoteFile(prefix + path.name, path.read_bytes().decode("utf-8", "replace"))
    except OSError as error:
        place = error.filename or folder
        raise InputError(place, f"the scenario's vault cannot be read: {error.strerror or error}.") from error
    for path in children:
        if path.is_dir() and not path.is_symlink():
            yield from _walk(path, f"{prefix}{path.name}/")
