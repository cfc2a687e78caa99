"""A turn of a replay as a scenario: one file with everything that `lorestudio run` needs to decide the same again.

The trackers of a chat are made by its generations, so the file holds the chosen generation and all before it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from lorestudio.domain.chat import Generation
from lorestudio.exchange.scenario_file import Scenario, controls_metadata, message_record
from lorestudio.llm.errors import ErrorKind
from lorestudio.studio.project.project import Project
from lorestudio.studio.replay.rerun import trace_of
from lorestudio.studio.replay.run_store import ChatRuns
from lorestudio.studio.replay.simulator import Simulator
from lorestudio.studio.replay.system_simulator import SystemSimulator
from lorestudio.studio.scenario.parts import ExportedScenario, note_settings, tokenizer_of, vault_files
from lorestudio.studio.scenario.running import run_scenario
from lorestudio.studio.scenario.system_export import export_system_scenario
from lorestudio.systems.context import RunContext
from lorestudio.systems.deeplore.scenario_report import SeenTexts, generation_report
from lorestudio.systems.deeplore.stages.ai_selection import PAUSED, THROTTLED
from lorestudio.trace.model import AiCall, StageRecord, Trace

_CALL_FAILED: Final = "the call failed: "
"""How the category prefilter words a question without an answer."""


def export_turn(runs: ChatRuns, generation: Generation) -> ExportedScenario:
    """As `export_scenario`, whichever system decided."""
    if isinstance(runs, SystemSimulator):
        return export_system_scenario(runs, generation)
    return export_scenario(runs, generation)


def export_scenario(simulator: Simulator, generation: Generation) -> ExportedScenario:
    """The scenario of a generation that was run, run once more to see that it repeats.

    Reads the vault again, so it waits for the disk. Raises InputError where the vault is not as it was read, or its
    tokens are counted in a way that the format has no word for; ValueError for a generation that was not run.
    """
    project = simulator.project
    tokenizer = tokenizer_of(project)
    trace_of(simulator.traces, generation)
    last = simulator.generations.index(generation)
    wanted = simulator.generations[: last + 1]
    contexts = [simulator.context(each) for each in wanted]
    files, remarks = vault_files(project)
    controls = controls_metadata(contexts[0].controls)
    scenario = Scenario.model_validate(
        {
            "id": f"{project.name} #{generation.message}" + (f".{generation.swipe + 1}" if generation.swipe else ""),
            "clock_start_ms": contexts[0].clock_ms,
            "rng_seed": project.seed,
            "tokenizer": tokenizer,
            "settings": note_settings(project),
            "vaults": [
                {"name": vault.name, "files": [(file.filename, file.text) for file in vault.files]} for vault in files
            ],
            "character": contexts[0].character,
            "messages": [message_record(message) for message in _messages(project, generation)],
            "metadata": controls,
            "behaviour": project.behaviour.model_dump(),
            "model": "" if project.settings.ai_search_model else simulator.model,
            "generations": _generations(
                contexts, [simulator.traces[each] for each in simulator.generations[: last + 1]]
            ),
        }
    )
    return ExportedScenario(scenario, remarks, differing(scenario, simulator))


def differing(scenario: Scenario, simulator: Simulator) -> tuple[int, ...]:
    """The generations, by number, that decide otherwise when the scenario is run than the simulator's did."""
    ran = run_scenario(scenario)["expected"]["generations"]
    seen, found = SeenTexts(), []
    for number, report in enumerate(ran):
        report["trackers"].pop("analytics", None)
        trace = simulator.traces[simulator.generations[number]]
        state, index = simulator.states[number], simulator.index.vault
        if generation_report(number, trace, state, index, simulator.project.settings, seen) != report:
            found.append(number)
    return tuple(found)


def _messages(project: Project, generation: Generation) -> Sequence[Any]:
    return project.chat.messages[: generation.message] if project.chat is not None else ()


def _generations(contexts: Sequence[RunContext], traces: Sequence[Trace]) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    before = contexts[0].controls
    for ctx, trace in zip(contexts, traces, strict=False):
        row: dict[str, Any] = {
            "now_ms": ctx.clock_ms,
            "type": ctx.turn.kind,
            "chat": list(ctx.positions),
            "context_size": ctx.context_size,
        }
        if ctx.controls.notepad != before.notepad:
            row["metadata_patch"] = {"deeplore_ai_notepad": ctx.controls.notepad or None}
        before = ctx.controls
        answers = recorded_answers(trace)
        rows.append(row | ({"ai": answers} if answers else {}))
    return rows


def recorded_answers(trace: Trace) -> dict[str, dict[str, Any]]:
    """What a run was told by kind of question, as a scenario scripts it (golden format 1.5)."""
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
