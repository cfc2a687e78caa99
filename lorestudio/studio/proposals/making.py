"""Asking for proposals, one after the other: paced, stoppable, and with what is done kept by whoever asked.

Answers are recorded a file a vault, so that nothing is asked for twice.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from msgspec import Struct

from lorestudio.domain.digests import text_digest
from lorestudio.domain.lifecycle import Cancelled, CancelToken, heed
from lorestudio.llm.cost import CostEstimate, estimate
from lorestudio.llm.errors import ErrorKind, LlmError
from lorestudio.llm.messages import AnswerSource
from lorestudio.studio.project.answering import Asked, Connections, Source, load_recorded, make_answers
from lorestudio.studio.project.project import Project
from lorestudio.studio.proposals.judging import Judge
from lorestudio.studio.proposals.model import Proposal, ProposalTask
from lorestudio.systems.asking import Asking
from lorestudio.vault.data_folder import default_folder
from lorestudio.vault.files import safe_name


def default_records() -> Path:
    """Where the answers for proposals lie, a file a vault."""
    return default_folder().parent / "proposals"


def record_of(project: Project, records: Path) -> Path:
    """What the answers for a project's notes lie beside; no file of this name is made."""
    places = "\n".join(project.places or tuple(map(str, project.vault_folders)))
    name = safe_name(project.index.vaults[0]) if project.index.vaults else "vault"
    digest = text_digest(places)[:12]
    return records / f"{name}-{digest}.jsonl"


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
    tasks: Sequence[ProposalTask], source: Source, project: Project, records: Path, *, fresh: bool = False
) -> CostEstimate:
    """What asking costs where the source is one that is paid or waited for; recorded answers are free.

    Reads the recording. Raises AnsweringError.
    """
    if not source.waits:
        return CostEstimate(exact=project.bills.exact)
    recorded = load_recorded(record_of(project, records))
    known = None if fresh else recorded.holds
    return estimate([task.request for task in tasks], project.bills, known)


PAUSE_S: Final = 0.5
"""Between a provider's answer and the next question (rules: deeplore-tools 1.3 "Throttle")."""

FAILURES_IN_A_ROW: Final = 3
"""After so many a provider is not asked any further."""

_POLL_S: Final = 0.05

_HOPELESS: Final = frozenset(
    {
        ErrorKind.AUTHENTICATION,
        ErrorKind.QUOTA,
        ErrorKind.NOT_FOUND,
        ErrorKind.MODEL_UNKNOWN,
        ErrorKind.RATE_LIMITED,
        ErrorKind.CONNECTION,
        ErrorKind.NOT_SUPPORTED,
        ErrorKind.NO_KEY,
    }
)
"""Failures that the next question would meet as well."""


class ProposalsEnded(Struct, frozen=True):
    """How a run of questions ended: how many were answered, and why the others were not asked, "" where all were."""

    done: int
    left: int = 0
    why: str = ""


class Maker(Struct, frozen=True):
    """Asks and judges. `clock` is in seconds."""

    asking: Asking
    judge: Judge
    clock: Callable[[], float] = time.monotonic

    async def run(
        self,
        tasks: Sequence[ProposalTask],
        on_proposal: Callable[[int, Proposal], None],
        cancel: CancelToken | None = None,
    ) -> ProposalsEnded:
        """Ask about each task in order; `on_proposal(place, proposal)` gets each as it is made.

        A question that fails gives a proposal with the reason as its problem. What would fail again and again ends the
        run; what was not asked can be given to a later run. Raises Cancelled at once after a request to stop, and
        whatever is no LlmError; what was handed over before stays.
        """
        failures = 0
        ready_at = -float("inf")
        for place, task in enumerate(tasks):
            await self._wait_until(ready_at, cancel)
            asked = await self.asking.ask(task.request, cancel)
            if cancel is not None and cancel.cancelled and asked.reply is None:
                raise Cancelled
            if asked.reply is not None:
                failures = 0
                if asked.reply.live:
                    ready_at = self.clock() + PAUSE_S
                proposal = await asyncio.to_thread(self.judge.answered, task, asked.reply)
                on_proposal(place, proposal)
                continue
            error = asked.error or LlmError(ErrorKind.UNKNOWN)
            on_proposal(place, self.judge.failed(task, _told(error)))
            failures += error.kind not in (ErrorKind.ABORTED, ErrorKind.NO_RECORDED_ANSWER)
            if error.kind in _HOPELESS or failures >= FAILURES_IN_A_ROW:
                return ProposalsEnded(place + 1, len(tasks) - place - 1, error.text)
        return ProposalsEnded(len(tasks))

    async def _wait_until(self, ready_at: float, cancel: CancelToken | None) -> None:
        while True:
            heed(cancel)
            rest = ready_at - self.clock()
            if rest <= 0:
                return
            await asyncio.sleep(min(rest, _POLL_S))


def _told(error: LlmError) -> str:
    if error.kind is ErrorKind.ABORTED:
        return "No answer was given. Ask again when you want one."
    return error.text
