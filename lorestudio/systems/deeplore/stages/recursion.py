"""Recursion: what candidates say wakes further entries (rules: deeplore 3.7)."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

from lorestudio.domain.entry import Entry
from lorestudio.domain.javascript import Json, fold, head, length, trim
from lorestudio.systems.deeplore.inputs import Inputs
from lorestudio.systems.deeplore.matching.index import DeepLoreIndex
from lorestudio.systems.deeplore.matching.keys import KeyHit, KeyMatcher
from lorestudio.systems.deeplore.state import RunState, is_rested, is_warm, luck_decides, passes
from lorestudio.systems.ledger import Ledger
from lorestudio.systems.runner import stage
from lorestudio.trace.model import Outcome, Phase, StageRecord, Verdict

TEXT_LIMIT = 50_000
"""Code units of candidates' text that one step searches."""

MOST_WOKEN = 50_000
"""So many verdicts are there once for all runs; then it begins anew."""


class StepText:
    """The contents that one step searches, joined by line feeds, and which entry each place belongs to."""

    def __init__(self, entries: Sequence[Entry], index: DeepLoreIndex, *, case_sensitive: bool) -> None:
        self.parts: list[str] = []
        self._entries: list[Entry] = []
        self._starts: list[int] = []
        left, offset = TEXT_LIMIT, 0
        for entry in entries:
            if left <= 0:
                break
            size = length(entry.content)
            if size <= left:
                text = entry.content if case_sensitive else index.folded(entry)
            else:
                cut = head(entry.content, left)
                text = cut if case_sensitive else fold(cut)
            self.parts.append(text)
            self._entries.append(entry)
            self._starts.append(offset)
            offset += len(text) + 1
            left -= size + 1
        self.text = "\n".join(self.parts)

    def source(self, start: int) -> Entry:
        """The entry whose content holds the hit at `start`."""
        return self._entries[bisect_right(self._starts, start) - 1]


@stage("recursion", Phase.MATCH)
def recursion_stage(state: RunState, ctx: Inputs, ledger: Ledger) -> StageRecord:
    """Step by step, the contents of the newest candidates are searched for the keys of everybody else."""
    settings = ctx.settings
    if not settings.recursive_scan:
        return ledger.skipped("off", {"setting": "recursiveScan"})
    if settings.scan_depth <= 0:
        return ledger.skipped("scan_depth_zero")
    matcher = ctx.matcher
    newest = list(state.candidates)
    step = 0
    while newest and step < settings.max_recursion_steps:
        step += 1
        speaking = [entry for entry in newest if not entry.exclude_recursion]
        searched = StepText(speaking, ctx.index, case_sensitive=settings.case_sensitive)
        if not trim(searched.text):
            break
        newest = _step(state, ctx, ledger, matcher, searched, step)
    return ledger.close(state.candidates, details={"steps": step, "limit": settings.max_recursion_steps})


def _step(
    state: RunState, ctx: Inputs, ledger: Ledger, matcher: KeyMatcher, searched: StepText, step: int
) -> list[Entry]:
    found: list[Entry] = []
    hits = matcher.find_in_lines(searched.parts)
    for entry_id in matcher.hit_entries(hits):
        entry = ctx.index.vault.entries[entry_id]
        if entry_id in state.matched or entry.constant or entry.guide:
            continue
        hit = matcher.test(entry_id, hits)
        if hit is None:
            continue
        if _passes(state, ctx, ledger, entry, searched.text):
            found.append(entry)
            _let_in(state, ctx.index, ledger, entry, hit, searched, step)
    return found


def _passes(state: RunState, ctx: Inputs, ledger: Ledger, entry: Entry, text: str) -> bool:
    """Whether the entry's own conditions let it in; in 2.0.2 the roll comes before the warmup."""
    if ctx.rules.one_gate:
        return passes(state, ledger, entry, ctx.matcher, text)
    rested = entry.cooldown is None or is_rested(state, ledger, entry)
    return rested and luck_decides(state, ledger, entry) and is_warm(ledger, entry, ctx.matcher, text)


def _let_in(
    state: RunState, index: DeepLoreIndex, ledger: Ledger, entry: Entry, hit: KeyHit, searched: StepText, step: int
) -> None:
    state.let_in(entry, f"{hit.key} (recursion step {step})")
    if not ledger.detailed:
        ledger.add(entry, "recursion")
        return
    refine = hit.refine
    source, refining = searched.source(hit.start), None if refine is None else searched.source(refine.start)
    known = index.woken
    place = (entry.id, hit.key, step, source.id, refine and refine.key, refining and refining.id)
    verdict = known.get(place)
    if verdict is None:
        if len(known) >= MOST_WOKEN:
            known.clear()
        details: dict[str, Json] = {"key": hit.key, "step": step, "source": source.title, "source_id": source.id}
        if refine is not None and refining is not None:
            details |= {"refine_key": refine.key, "refine_source": refining.title, "refine_source_id": refining.id}
        verdict = known[place] = Verdict(entry.id, Outcome.ADDED, "recursion", details)
    ledger.repeat(verdict)
