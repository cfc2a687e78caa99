"""What a chat recorded of its replies, held against the run of the same replies, entry by entry."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from typing import Final

from msgspec import Struct

from lorestudio.domain.chat import Generation
from lorestudio.domain.records import Terse
from lorestudio.exchange.chats.recorded import RecordedEntry, found_among
from lorestudio.studio.verify.recorded import RecordedReply
from lorestudio.trace.model import Injection, Trace

NO_RECORD: Final = "Nothing is recorded: nothing went in, recording was off, or the record is lost."
FEW_NOTES: Final = 3
"""From so many different notes on it can be told whether tokens were counted as they are here."""


class WentIn(StrEnum):
    """Where an entry went in."""

    BOTH = "in both"
    THERE = "only recorded"
    HERE = "only in the run"
    TOKENS = "in both, with other tokens"


class Agreement(StrEnum):
    """What became of a reply. `MAY_BE` is one that comes out as recorded by something that no file keeps."""

    AGREES = "agrees"
    MAY_BE = "may be"
    DIFFERS = "differs"
    NO_RECORD = "no record"
    NOT_TRUSTED = "record not trusted"


COUNTED: Final = (Agreement.AGREES, Agreement.MAY_BE, Agreement.DIFFERS)
"""The verdicts of replies that could be judged."""


class ComparedEntry(Struct, frozen=True):
    """One entry of a reply. `entry` is its number in the trace, None where the trace does not know it."""

    where: WentIn
    title: str
    entry: int | None = None
    there: RecordedEntry | None = None
    here: Injection | None = None

    @property
    def words(self) -> str:
        """Tokens recorded and in the run, and why it went in where it did."""
        there, here = self.there, self.here
        tokens = (None if there is None else there.tokens, None if here is None else here.tokens)
        reasons = ("" if there is None else there.reason, "" if here is None else here.label)
        told = " / ".join(dict.fromkeys(filter(None, reasons)))
        figures = ["–" if each is None else f"{each:,}" for each in tokens]
        return f"{figures[0]} recorded, {figures[1]} in the run" + (f"; {told}" if told else "")


class ComparedReply(Terse, frozen=True):
    """A reply as recorded and as run. `because` are sentences on the verdict; with `reordered` the order differs."""

    unprinted = ("record",)

    generation: Generation
    verdict: Agreement
    entries: tuple[ComparedEntry, ...] = ()
    reordered: bool = False
    because: tuple[str, ...] = ()
    record: RecordedReply | None = None

    @property
    def differing(self) -> tuple[ComparedEntry, ...]:
        """The entries that are not the same in both."""
        return tuple(each for each in self.entries if each.where is not WentIn.BOTH)

    @property
    def distance(self) -> int:
        """How far the record and the run are apart: 0 where they agree."""
        return len(self.differing) + self.reordered


def compared(record: RecordedReply | None, trace: Trace, *, tokens: bool = True) -> ComparedReply:
    """A record against the run of the reply. Without `tokens` they are not compared, since others count there."""
    generation = trace.turn.generation
    if record is None:
        entries = tuple(ComparedEntry(WentIn.HERE, each.title, each.entry, None, each) for each in trace.injections)
        return ComparedReply(generation, Agreement.NO_RECORD, entries, because=(NO_RECORD,))
    entries = tuple(_entries(record.entries, trace, tokens=tokens))
    places = [trace_place(trace, each.entry) for each in entries if each.there is not None and each.here is not None]
    reply = ComparedReply(generation, Agreement.AGREES, entries, places != sorted(places), record=record)
    if not record.holds_for(anything_went_in=bool(trace.injections)):
        return _replaced(reply, Agreement.NOT_TRUSTED, record.said)
    return _replaced(reply, Agreement.DIFFERS) if reply.distance else reply


def _replaced(reply: ComparedReply, verdict: Agreement, *because: str) -> ComparedReply:
    return ComparedReply(reply.generation, verdict, reply.entries, reply.reordered, because, reply.record)


def trace_place(trace: Trace, entry: int | None) -> int:
    """Which of the injections an entry is, in the order of the prompt."""
    return next(place for place, each in enumerate(trace.injections) if each.entry == entry)


def _entries(recorded: Sequence[RecordedEntry], trace: Trace, *, tokens: bool) -> Iterator[ComparedEntry]:
    left = {each.entry: each for each in trace.injections}
    for each in recorded:
        own = found_among(each, [trace.entries[entry] for entry in left])
        known = own or found_among(each, trace.entries.values())
        entry = None if known is None else known.id
        here = left.pop(own.id) if own is not None else None
        where = WentIn.THERE if here is None else WentIn.BOTH
        if here is not None and tokens and each.tokens is not None and each.tokens != here.tokens:
            where = WentIn.TOKENS
        yield ComparedEntry(where, each.title or each.filename, entry, each, here)
    for here in left.values():
        yield ComparedEntry(WentIn.HERE, here.title, here.entry, None, here)


def tokens_alike(records: Mapping[Generation, RecordedReply], traces: Mapping[Generation, Trace]) -> bool:
    """Whether tokens seem to be counted there as here: they are the same for half of the notes, or these are few."""
    same: dict[str, bool] = {}
    for generation, record in records.items():
        for each in compared(record, traces[generation]).entries:
            if each.there is not None and each.here is not None and each.there.tokens is not None:
                same[each.title] = same.get(each.title, False) or each.where is WentIn.BOTH
    return len(same) < FEW_NOTES or 2 * sum(same.values()) >= len(same)
