"""Other numbers for the entries of a trace, where those of its own would be taken for entries of the vault."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Final

from lorestudio.domain.javascript import Json
from lorestudio.trace.model import Injection, PromptBlock, ReplyItem, StageRecord, Trace, Verdict

FOREIGN_IDS: Final = 1 << 24
"""From here on count the entries of traces that are none of the vault's: recaps, and entries of a lorebook file."""

_ENTRY_DETAILS: Final = frozenset({"source_id", "refine_source_id"})
"""Details of verdicts that name an entry by its number."""


def renumbered(trace: Trace, by: int) -> Trace:
    """The same trace with every entry's number raised by `by`."""
    return replace(
        trace,
        entries={number + by: replace(ref, id=ref.id + by) for number, ref in trace.entries.items()},
        stages=tuple(_stage(record, by) for record in trace.stages),
        injections=tuple(_injection(item, by) for item in trace.injections),
        prompt=tuple(_block(block, by) for block in trace.prompt),
        notes=tuple(_block(block, by) for block in trace.notes),
    )


def _stage(record: StageRecord, by: int) -> StageRecord:
    ai = record.ai
    return replace(
        record,
        entered=_raised(record.entered, by),
        left=_raised(record.left, by),
        verdicts=tuple(_verdict(verdict, by) for verdict in record.verdicts),
        ai=ai if ai is None else replace(ai, items=tuple(_item(item, by) for item in ai.items)),
    )


def _verdict(verdict: Verdict, by: int) -> Verdict:
    return replace(verdict, entry=verdict.entry + by, details=_details(verdict.details, by))


def _details(details: Mapping[str, Json], by: int) -> Mapping[str, Json]:
    named = _ENTRY_DETAILS & details.keys()
    if not named:
        return details
    moved = {name: value + by for name in named if isinstance(value := details[name], int)}
    return {**details, **moved}


def _item(item: ReplyItem, by: int) -> ReplyItem:
    return replace(item, entries=_raised(item.entries, by))


def _injection(injection: Injection, by: int) -> Injection:
    return replace(injection, entry=injection.entry + by)


def _block(block: PromptBlock, by: int) -> PromptBlock:
    parts = tuple(part if part.entry is None else replace(part, entry=part.entry + by) for part in block.parts)
    return replace(block, parts=parts)


def _raised(entries: Iterable[int], by: int) -> tuple[int, ...]:
    return tuple(entry + by for entry in entries)
