"""Where a memory came from: its messages, the run that wrote it, and every fact that was compared with it."""

from __future__ import annotations

from dataclasses import dataclass

from lorestudio.studio.facts.session import Action, Decision, FactsSession, Memory, Run, Thread
from lorestudio.studio.facts.telling import told


@dataclass(frozen=True, slots=True)
class Happening:
    """One fact that made, replaced or repeated a memory, with the run that drew it out (None where it is not known)."""

    decision: Decision
    run: Run | None = None

    @property
    def wrote(self) -> bool:
        """Whether the memory's text became this fact."""
        return self.decision.action is not Action.SKIP


@dataclass(frozen=True, slots=True)
class Provenance:
    """Everything that is known of a memory's past.

    `happenings` are in the order they came. `others` are the other facts of the run that wrote it last; `edited` says
    that a person has written its text since. Memories from before runs kept their decisions have no happenings.
    """

    memory: Memory
    run: Run | None = None
    thread: Thread | None = None
    happenings: tuple[Happening, ...] = ()
    others: tuple[Decision, ...] = ()
    edited: bool = False


def provenance_of(session: FactsSession, memory: Memory) -> Provenance:
    """The past of a memory. Raises InputError where it cannot be read."""
    store = session.store
    with told():
        happenings = tuple(
            Happening(decision, store.get_run(run)) for run, decision in store.decisions_about(memory.id)
        )
        of_run = store.decisions_of_run(memory.origin.run) if memory.origin.run else []
        thread = store.get_thread(memory.thread_id) if memory.thread_id else None
    written = [each.decision.fact for each in happenings if each.wrote]
    return Provenance(
        memory,
        session.run_of(memory),
        thread,
        happenings,
        tuple(decision for decision in of_run if decision.memory != memory.id),
        bool(written) and written[-1].strip() != memory.content.strip(),
    )
