"""What was accepted becomes changes of notes, and the changes are written, undoable."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Final

from msgspec import Struct

from lorestudio.exchange.problems import InputError
from lorestudio.studio.notes.changes.change_set import ChangedMeanwhileError, ChangeSet, NoteFileChange
from lorestudio.studio.notes.changes.log import ChangeLog
from lorestudio.studio.notes.note_locks import is_locked, is_locked_itself
from lorestudio.studio.proposals.judging import changed_text
from lorestudio.studio.proposals.model import Proposal, ProposalKind

CHANGED: Final = "The note has changed since the proposal was made. Make the proposal again."
TAKEN: Final = "A file of this name was made meanwhile. Make the draft again, or give it another title."


class AcceptedProposals(Struct, frozen=True):
    """What became of accepted proposals: what was written, and for each file that was not, why.

    `changes` is None where nothing was written.
    """

    changes: ChangeSet | None
    written: tuple[Path, ...] = ()
    refused: tuple[tuple[Path, str], ...] = ()


def change_of(proposal: Proposal) -> NoteFileChange:
    """The change of one note's file: the lines of the one property, or the new note.

    Raises InputError where the proposal cannot be accepted, or its note locks itself.
    """
    if proposal.problem:
        raise InputError(proposal.title, proposal.problem)
    if proposal.source is None:
        return NoteFileChange(proposal.path, None, str(proposal.after))
    if is_locked_itself(proposal.source):
        raise InputError(proposal.path.name, "the note is locked, so nothing is written.")
    try:
        text = changed_text(proposal.source, proposal.kind.field, proposal.after)
    except ValueError as error:
        raise InputError(proposal.path.name, str(error)) from error
    return NoteFileChange(proposal.path, proposal.source, text)


def change_set(proposals: Sequence[Proposal], locked: Collection[str] = frozenset()) -> ChangeSet:
    """One undoable step of all of them; `locked` is what `NoteLocks.load` gave. Raises InputError, also for a locked
    note.
    """
    for proposal in proposals:
        if is_locked(proposal.path, locked):
            raise InputError(proposal.path.name, "the note is locked in the studio, so nothing is written.")
    return ChangeSet(_title(proposals), tuple(change_of(proposal) for proposal in proposals))


def write_accepted(
    log: ChangeLog, proposals: Sequence[Proposal], locked: Collection[str] = frozenset()
) -> AcceptedProposals:
    """Write the proposals whose notes are still what they were made from, in one step; the others are named.

    Raises InputError, and what `ChangeLog.apply` raises but for changed notes.
    """
    left = list(proposals)
    refused: dict[Path, str] = {}
    while left:
        changes = change_set(left, locked)
        try:
            log.apply(changes)
        except ChangedMeanwhileError as error:
            stale = set(error.paths)
            if not stale & {proposal.path for proposal in left}:
                raise
            for proposal in left:
                if proposal.path in stale:
                    refused[proposal.path] = TAKEN if proposal.source is None else CHANGED
            left = [proposal for proposal in left if proposal.path not in stale]
        else:
            return AcceptedProposals(changes, tuple(proposal.path for proposal in left), tuple(refused.items()))
    return AcceptedProposals(None, (), tuple(refused.items()))


def _title(proposals: Sequence[Proposal]) -> str:
    kind = proposals[0].kind if proposals else ProposalKind.SUMMARY
    one, many = _TITLES[kind]
    return one.format(proposals[0].title) if len(proposals) == 1 else many.format(len(proposals))


_TITLES: Final = {
    ProposalKind.SUMMARY: ("Summary of {}", "Summaries of {} notes"),
    ProposalKind.KEYS: ("Keys of {}", "Keys of {} notes"),
    ProposalKind.DRAFT: ("New note {}", "{} new notes"),
}
