"""A turn of a replay as a scenario: one file with everything that `lorestudio run` needs to decide the same again."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Sequence
from typing import Any, Final

from msgspec import Struct

from lorestudio.domain.chat import Generation
from lorestudio.domain.javascript import Json
from lorestudio.exchange.lorebooks.reading import as_notes
from lorestudio.exchange.problems import InputError
from lorestudio.exchange.scenario_file import Scenario
from lorestudio.settings.deeplore import declarations, dump
from lorestudio.studio.project.places import vault_sources
from lorestudio.studio.project.project import Project
from lorestudio.studio.replay.rerun import trace_of
from lorestudio.studio.replay.scenario import run_scenario, word_for
from lorestudio.studio.replay.simulator import Simulator
from lorestudio.systems.registry import scenario_format
from lorestudio.systems.scenarios import ScenarioTurn
from lorestudio.vault.files import NoteFile, VaultFiles
from lorestudio.vault.folder import KnownVault
from lorestudio.vault.index import build_index, definition_path
from lorestudio.vault.sources import FolderSource, VaultSource

_REPORTED: Final = frozenset({"aiSearchMaxTokens", "aiSearchTimeout"})
"""Settings that affect no stage and yet are seen in a scenario's results."""

_PRIVATE: Final = frozenset({"aiSearchProfileId"})
"""Settings that name something on the author's computer; a scenario has a stand-in for them."""


_WAY_TO_ASK: Final = frozenset({"aiSearchConnectionMode"})
"""Settings of the author's connection that decide nothing, but by rules that know no proxy any more."""


class ExportedScenario(Struct, frozen=True):
    """A scenario of a turn. `differing` are the numbers of generations that did not decide the same when it was run
    once more (none, unless something is wrong); `remarks` are sentences for the person.
    """

    scenario: Scenario
    remarks: tuple[str, ...] = ()
    differing: tuple[int, ...] = ()


def export_turn(simulator: Simulator, generation: Generation) -> ExportedScenario:
    """The scenario of a generation that was run, run once more to see that it repeats.

    Reads the vault again, so it waits for the disk. Raises InputError where the vault is not as it was read, the run
    looked at something that a scenario has no room for, or tokens are counted in a way that the format has no word for;
    ValueError for a generation that was not run.
    """
    project, system = simulator.project, simulator.system
    trace_of(simulator.traces, generation)
    refusal = system.not_in_scenario()
    if refusal:
        raise InputError(system.title, refusal)
    tokenizer = tokenizer_of(project)
    form = scenario_format(system.kind)
    states = simulator.states
    turns = [
        ScenarioTurn(simulator.moment(each), simulator.traces[each], states[simulator.place(each)])
        for each in form.chain(simulator.generations, generation, swipes_go_on=system.swipes_go_on)
    ]
    files, remarks = vault_files(project)
    swipe = f".{generation.swipe + 1}" if generation.swipe else ""
    scenario = Scenario.model_validate(
        {
            "id": f"{project.name} #{generation.message}{swipe}{form.suffix(system)}",
            "clock_start_ms": turns[0].moment.clock_ms,
            "rng_seed": project.seed,
            "tokenizer": tokenizer,
            "settings": note_settings(project),
            "vaults": [
                {"name": vault.name, "files": [(file.filename, file.text) for file in vault.files]} for vault in files
            ],
            **form.fields(system, project.chat, turns),
        }
    )
    ran, known = run_scenario(scenario)["expected"]["generations"], form.reports(system, turns)
    named = (lambda report: report) if project.as_notes is None else _named_as_in_books
    pairs = zip(map(named, ran), map(named, known), strict=True)
    found = tuple(number for number, (one, other) in enumerate(pairs) if one != other)
    return ExportedScenario(scenario, remarks, found)


def tokenizer_of(project: Project) -> str:
    """The format's word for how the project counts tokens. Raises InputError where it has none."""
    tokenizer = word_for(project.counter)
    if not tokenizer:
        message = f"tokens are counted with {project.counter.name}, for which a scenario has no word. Choose estimate."
        raise InputError(project.name, message)
    return tokenizer


def note_settings(project: Project) -> dict[str, Json]:
    """The settings that differ from DeepLore's own and have a part in retrieval; connections are nobody's business."""
    settings = project.settings
    wanted = {each.alias for each in declarations() if each.affects and each.name != "rules"} | _REPORTED
    wanted -= _PRIVATE if settings.rule_set.no_proxy else _PRIVATE | _WAY_TO_ASK
    kept = {key: value for key, value in dump(settings).items() if key in wanted}
    return kept if settings.enabled else {"enabled": False, **kept}  # a scenario takes it for on


def vault_files(project: Project) -> tuple[list[VaultFiles], tuple[str, ...]]:
    """The vaults' texts in index order. Raises InputError where they do not give the project's index any more."""
    if project.of_books:
        known = project.as_notes
        read = as_notes(project.books, project.settings, project.counter, known, whole=True).vaults if known else ()
        told = ("The entries are in it as the notes that importing them makes.",) if read else ()
        return [VaultFiles(vault.name, _numbered(vault)) for vault in read], told
    wanted = definition_path(project.settings)
    files: list[VaultFiles] = []
    for name, source in zip(project.index.vaults, _sources(project), strict=False):
        scanned = asyncio.run(source.scan({}, wanted))
        if scanned.failure:
            raise InputError(name, scanned.failure)
        files.append(VaultFiles(name, tuple(NoteFile(each.filename, each.text or "") for each in scanned.files)))
    index = build_index(files, project.settings, project.counter)
    if _names(index.entries) != _names(project.index.entries):
        message = (
            "the vault is not as it was when the chat was replayed. Read it again, replay, then save the scenario."
        )
        raise InputError(project.name, message)
    unread = [note.filename for note in project.index.left_out if note.problem.broken]
    remarks = (f"Left out because they cannot be read: {', '.join(unread)}.",) if unread else ()
    return files, remarks


_NUMBERED: Final = re.compile(r'"\d{5} ([^"]*)\.md"')


def _named_as_in_books(report: Json) -> Json:
    """The report with the names of `_numbered` notes as their entries have them."""
    found: Json = json.loads(_NUMBERED.sub(r'"\1"', json.dumps(report)))
    return found


def _numbered(vault: KnownVault) -> tuple[NoteFile, ...]:
    """The notes of a lorebook's entries, under names that keep their order."""
    return tuple(NoteFile(f"{place:05} {each.filename}.md", each.text or "") for place, each in enumerate(vault.files))


def _sources(project: Project) -> Sequence[VaultSource]:
    if project.places:
        return vault_sources(project.places)
    return list(map(FolderSource, project.roots))


def _names(entries: Sequence[Any]) -> list[tuple[str, str, str, str]]:
    return [(each.vault, each.filename, each.title, each.content_hash) for each in entries]
