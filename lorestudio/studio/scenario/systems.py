"""Scenarios that a retrieval system beside DeepLore decides."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from lorestudio.domain.chat import Chat
from lorestudio.domain.entry import VaultIndex
from lorestudio.domain.tokens import TokenCounter
from lorestudio.exchange.chats.metadata import read_controls
from lorestudio.exchange.chats.records import read_message
from lorestudio.exchange.problems import InputError
from lorestudio.exchange.scenario_file import Scenario
from lorestudio.settings.declaration import Section
from lorestudio.settings.deeplore import sanitise
from lorestudio.settings.sections import section_of
from lorestudio.studio.project.project import Project
from lorestudio.systems.base import Moment
from lorestudio.systems.registry import DEEPLORE, SystemKind, kind_of
from lorestudio.trace.journey import Journeys
from lorestudio.trace.model import Trace, Turn


def scenario_kind(scenario: Scenario) -> tuple[SystemKind, Section] | None:
    """The system of a scenario with its settings, None for DeepLore. Raises InputError and SettingsError."""
    if scenario.system == DEEPLORE:
        if scenario.system_settings:
            raise InputError("scenario", "deeplore has its settings in “settings”. Put them there, or name a system.")
        return None
    kind = kind_of(scenario.system)
    return kind, section_of(scenario.system_settings, kind.settings, "system_settings")


async def system_generations(scenario: Scenario, index: VaultIndex, counter: TokenCounter) -> list[dict[str, Any]]:
    """All generations, each from the state that the one before it left. Raises InputError and SettingsError."""
    chosen = scenario_kind(scenario)
    if chosen is None:
        raise InputError("scenario", "this scenario names no system beside DeepLore.", field="system")
    kind, settings = chosen
    messages = tuple(read_message(raw) for raw in scenario.messages)
    metadata = dict(scenario.metadata)
    user = next((message.name for message in messages if message.is_user and message.name), "User")
    chat = Chat(messages, user, scenario.character, metadata=metadata)
    read = sanitise(scenario.settings).settings
    project = Project((), index, read, chat=chat, chat_path=Path(f"{scenario.id}.jsonl"), seed=scenario.rng_seed)
    system = kind.make(settings, project)
    state: object = None
    reports: list[dict[str, Any]] = []
    for number, generation in enumerate(scenario.generations):
        patch = generation.metadata_patch
        metadata = {key: value for key, value in {**metadata, **patch}.items() if value is not None}
        positions = tuple(place for place in generation.chat if not messages[place].is_system)
        decided = await system.decide(
            Moment(
                index=index,
                chat=tuple(messages[place] for place in positions),
                turn=Turn(len(generation.chat), 0, number, generation.type),
                controls=read_controls(metadata),
                positions=positions,
                character=scenario.character if generation.character is None else generation.character,
                user=user,
                counter=counter,
                context_size=generation.context_size,
                clock_ms=generation.now_ms,
                seed=scenario.rng_seed,
            ),
            state,
        )
        state = decided.state
        reports.append(system_report(number, decided.trace))
    return reports


def system_report(number: int, trace: Trace) -> dict[str, Any]:
    """One generation: what went in, with tokens and place, the texts handed over, and why each other one stayed out."""
    journeys = Journeys(trace)
    inside = {injection.entry for injection in trace.injections}
    return {
        "generation": number,
        "system": trace.system,
        "mode": trace.mode,
        "outcome": trace.outcome.value,
        "injected": [
            {
                "vault": trace.entries[each.entry].vault,
                "filename": trace.entries[each.entry].filename,
                "title": each.title,
                "tokens": each.tokens,
                "position": each.position,
                "depth": each.depth,
                "role": each.role,
            }
            for each in trace.injections
        ],
        "left_out": [
            {
                "filename": trace.entries[entry].filename,
                "state": str(journeys.fate(entry).state),
                "stage": journeys.fate(entry).stage,
                "reason": journeys.fate(entry).reason,
            }
            for entry in journeys.rows
            if entry not in inside
        ],
        "prompt": [
            {"tag": each.tag, "position": each.position, "depth": each.depth, "role": each.role, "text": each.text}
            for each in trace.prompt
        ],
        "limits": [{"name": each.name, "used": each.used, "maximum": each.maximum} for each in trace.limits],
        "warnings": list(trace.warnings),
    }
