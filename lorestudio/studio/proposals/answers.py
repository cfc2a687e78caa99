"""Who answers for proposals, where the answers are recorded, and what asking costs."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path

from lorestudio.llm.budgeting import CostEstimate, estimate
from lorestudio.llm.protocol import AnswerSource
from lorestudio.memory.scribe import safe_name
from lorestudio.studio.answering import Asked, Connections, Source, load_recorded, make_answers
from lorestudio.studio.note_data import default_folder
from lorestudio.studio.project import Project
from lorestudio.studio.proposals.model import Task


def default_records() -> Path:
    """Where the answers for proposals lie, a file a vault."""
    return default_folder().parent / "proposals"


def record_of(project: Project, records: Path) -> Path:
    """What the answers for a project's notes lie beside; no file of this name is made."""
    places = "\n".join(project.places or tuple(map(str, project.vault_folders)))
    name = safe_name(project.index.vaults[0]) if project.index.vaults else "vault"
    return records / f"{name}-{_digest(places)}.jsonl"


def proposal_answers(
    source: Source,
    project: Project,
    connections: Connections,
    records: Path,
    asked: Asked | None = None,
    *,
    fresh: bool = False,
) -> tuple[AnswerSource, str]:
    """The answer source of a choice, and the model that requests name.

    What a provider or a person answers is recorded for the vault, so that a batch that was stopped, or is made again
    after a restart, asks for nothing twice; `fresh` asks again all the same. Raises AnsweringError or SettingsError.
    """
    return make_answers(source, record_of(project, records), connections, asked=asked, fresh=fresh)


def proposals_cost(
    tasks: Sequence[Task], source: Source, project: Project, records: Path, *, fresh: bool = False
) -> CostEstimate:
    """What asking costs where the source is one that is paid or waited for; recorded answers are free.

    Reads the recording. Raises AnsweringError.
    """
    if not source.waits:
        return CostEstimate(exact=project.counter.exact)
    recorded = load_recorded(record_of(project, records))
    known = None if fresh else recorded.holds
    return estimate([task.request for task in tasks], project.counter, known)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:12]
