"""A turn of a replay by a system beside DeepLore as a scenario, see `studio.scenario.export`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from lorestudio.domain.chat import Generation, Message
from lorestudio.domain.javascript import Json
from lorestudio.exchange.problems import InputError
from lorestudio.exchange.scenario_file import Scenario, controls_metadata, message_record
from lorestudio.settings.contextwindow import ContextWindowSettings
from lorestudio.settings.sections import dump_section
from lorestudio.studio.project.project import Project
from lorestudio.studio.replay.rerun import trace_of
from lorestudio.studio.replay.system_inputs import settings_of
from lorestudio.studio.replay.system_simulator import SystemSimulator, moment
from lorestudio.studio.scenario.parts import ExportedScenario, note_settings, tokenizer_of, vault_files
from lorestudio.studio.scenario.running import run_scenario
from lorestudio.studio.scenario.systems import system_report
from lorestudio.systems.vectors import KnownVectors, MadeVectors
from lorestudio.systems.worldinfo.system import WorldInfoSystem

_NOTE: Final = ("note_prompt", "note_interval", "note_position", "note_depth", "note_role")
"""Metadata of the author's note, which World Info can look at."""

_PLACES: Final = frozenset({"book", "character_books", "chat_books", "persona_books", "extra_books", "worlds"})
"""Settings that name files on the author's computer and decide nothing where the vault is scanned."""


def export_system_scenario(simulator: SystemSimulator, generation: Generation) -> ExportedScenario:
    """The scenario of a generation that a system ran, run once more to see that it repeats.

    It holds what the generation's state comes from: of each reply before it the swipe that the chat went on from. Reads
    the vault again, so it waits for the disk. Raises InputError where the vault is not as it was read, or the run
    looked at something that a scenario has no room for; ValueError for a generation that was not run.
    """
    project, system = simulator.project, simulator.system
    settings = settings_of(system)
    trace_of(simulator.traces, generation)
    if settings is None:
        raise InputError(system.title, "there are no scenarios of this system.")
    _look_whether_it_fits(simulator)
    wanted = _chain(simulator, generation)
    moments = [moment(project, simulator.place(each), each) for each in wanted]
    files, remarks = vault_files(project)
    chat = project.chat
    remembers = system.name == "recap"
    messages = chat.messages[: generation.message] if chat is not None else ()
    swipe = f".{generation.swipe + 1}" if generation.swipe else ""
    keys = {*(dump := dump_section(settings))} - _PLACES
    scenario = Scenario.model_validate(
        {
            "id": f"{project.name} #{generation.message}{swipe} {system.name}",
            "clock_start_ms": moments[0].clock_ms,
            "rng_seed": project.seed,
            "tokenizer": tokenizer_of(project),
            "settings": note_settings(project),
            "vaults": [
                {"name": vault.name, "files": [(file.filename, file.text) for file in vault.files]} for vault in files
            ],
            "character": moments[0].character,
            "messages": [_record(message, whole=remembers) for message in messages],
            "metadata": _metadata(project, whole=remembers),
            "system": system.name,
            "system_settings": {key: value for key, value in dump.items() if key in keys},
            "generations": [
                {
                    "now_ms": each.clock_ms,
                    "type": each.turn.kind,
                    "chat": list(range(each.turn.message)),  # hidden ones are left out when it is run
                    "context_size": each.context_size,
                }
                for each in moments
            ],
        }
    )
    found = _differing(scenario, simulator, wanted)
    if found and isinstance(system, WorldInfoSystem) and (project.setup.card is not None or project.setup.persona.text):
        message = (
            "World Info looked at the card or the persona, and a scenario has no room for them. Take them out first."
        )
        raise InputError(system.title, message)
    return ExportedScenario(scenario, remarks, found)


def _look_whether_it_fits(simulator: SystemSimulator) -> None:
    """Raises InputError where the run looked at something that would not be in the file."""
    system = simulator.system
    settings, vectors = settings_of(system), getattr(system, "vectors", None)
    if system.name == "facts":
        message = "what fact memory remembers is in a file of its own, which a scenario has no room for."
        raise InputError(system.title, message)
    if isinstance(system, WorldInfoSystem) and system.books is not None:
        message = "it scans lorebooks, and a scenario holds notes only. Have it scan the vault, then replay."
        raise InputError(system.title, message)
    if isinstance(settings, ContextWindowSettings) and settings.word_list:
        message = "it counts by a word list, which a scenario has no room for. Leave it out, then replay."
        raise InputError(system.title, message)
    if isinstance(vectors, MadeVectors) or (isinstance(vectors, KnownVectors) and not vectors.is_free):
        message = (
            f"its vectors are made by {vectors.label}, who would be asked when the scenario is run. "
            "Choose the stand-in or nobody, then replay."
        )
        raise InputError(system.title, message)


def _chain(simulator: SystemSimulator, generation: Generation) -> list[Generation]:
    """The last generation of each reply before this one, and this one: what its state comes from."""
    earlier = {each.message: each for each in simulator.generations if each.message < generation.message}
    return [*earlier.values(), generation]


def _record(message: Message, *, whole: bool) -> dict[str, Any]:
    """A message; `whole` with everything that is stored with it, which recap memory reads."""
    record = message_record(message)
    return record | {"extra": dict(message.extra)} if whole and message.extra else record


def _metadata(project: Project, *, whole: bool) -> dict[str, Json]:
    metadata = project.chat.metadata if project.chat is not None else {}
    kept = dict(metadata) if whole else {key: metadata[key] for key in _NOTE if key in metadata}
    return {**kept, **controls_metadata(project.controls)}


def _differing(scenario: Scenario, simulator: SystemSimulator, wanted: Sequence[Generation]) -> tuple[int, ...]:
    """The generations, by number, that decide otherwise when the scenario is run than they did."""
    ran = run_scenario(scenario)["expected"]["generations"]
    known = [system_report(number, simulator.traces[each]) for number, each in enumerate(wanted)]
    return tuple(number for number, (one, other) in enumerate(zip(ran, known, strict=True)) if one != other)
