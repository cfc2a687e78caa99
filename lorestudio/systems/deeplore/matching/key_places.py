"""Where keys stand in the text that a generation searches, for all entries or key by key for one.

It is told by the matcher and the window of the run itself (rules: deeplore 3.3, 3.4).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from lorestudio.domain.entry import Entry
from lorestudio.domain.javascript import length, trim
from lorestudio.systems.deeplore.inputs import Inputs
from lorestudio.systems.deeplore.matching.keys import KEY_LIMIT, PatternHits
from lorestudio.systems.deeplore.stages.snapshot import scan_window
from lorestudio.trace.matching.found_keys import FoundKey, KeyMatch, WouldMatch


def key_places(ctx: Inputs) -> tuple[FoundKey, ...]:
    """All occurrences of keys in the order of the text, those of constants and guides left out: theirs decide nothing.

    Refine keys are told where a key of the same entry occurs too. Empty where the settings search no message at all.
    """
    if ctx.settings.scan_depth <= 0:
        return ()
    searched = _Searched(ctx)
    entries = (ctx.index.vault.entries[number] for number in searched.matcher.hit_entries(searched.hits))
    places = [place for entry in entries if not entry.constant and not entry.guide for place in searched.places(entry)]
    return tuple(sorted(places, key=lambda place: (place.message or 0, -1 if place.start is None else place.start)))


def would_match(ctx: Inputs, entry: Entry) -> WouldMatch:
    """What the keys of `entry`, which is one of the index's, find in the window of this generation."""
    searched, depth = _Searched(ctx), ctx.depth_of(entry)
    table, offset = searched.matcher.table, searched.window.offset(depth)
    hit = searched.matcher.test(entry.id, searched.hits, offset)
    primary, refine = dict(table.primary[entry.id]), dict(table.refine[entry.id])
    return WouldMatch(
        tuple(searched.match(key, primary, offset, cut=length(key) > KEY_LIMIT) for key in entry.keys),
        tuple(searched.match(key, refine, offset, cut=False) for key in entry.refine_keys),
        depth,
        searched.window.count(depth),
        "" if hit is None else hit.key,
        "" if hit is None else hit.refine_key or "",
        _unused(ctx, entry),
    )


def _unused(ctx: Inputs, entry: Entry) -> str:
    if entry.constant:
        return "constant"
    if entry.guide:
        return "guide"
    if ctx.settings.ai_search_enabled and ctx.settings.ai_search_mode == "ai-only":
        return "ai_only"
    return "scan_depth_zero" if ctx.settings.scan_depth <= 0 else ""


class _Searched:
    """The text that a generation searches. `found` are the starts of each pattern's occurrences, ascending."""

    def __init__(self, ctx: Inputs) -> None:
        self.ctx, self.window, self.matcher = ctx, scan_window(ctx), ctx.matcher
        self.found: dict[int, list[int]] = {}
        for number, start in self.matcher.occurring(self.window.text):
            self.found.setdefault(number, []).append(start)
        self.hits = PatternHits({number: starts[-1] for number, starts in self.found.items()})

    def places(self, entry: Entry) -> Iterator[FoundKey]:
        """The places of one entry, none where its keys stand further back than it looks; equal keys count once."""
        offset, table = self.window.offset(self.ctx.depth_of(entry)), self.matcher.table
        if any(self.hits.within(number, offset) for _, number in table.primary[entry.id]):
            for keys, refine in ((table.primary[entry.id], False), (table.refine[entry.id], True)):
                for number, key in {number: key for key, number in reversed(keys)}.items():
                    for start in self.found.get(number, ()):
                        if start >= offset:
                            yield FoundKey(entry.id, key, *self._place(number, start), refine)

    def match(self, key: str, patterns: Mapping[str, int], offset: int, *, cut: bool) -> KeyMatch:
        """What one key of an entry finds from `offset` on."""
        if not trim(key):
            return KeyMatch(key, blank=True)
        pattern = patterns[key]
        if not self.hits.within(pattern, offset):
            return KeyMatch(key, cut=cut)
        count = self.matcher.count(pattern, self.window.text[offset:])
        return KeyMatch(key, count, *self._place(pattern, self.hits.last[pattern]), cut=cut)

    def _place(self, pattern: int, start: int) -> tuple[int, int | None, int | None, bool]:
        """The message in the chat file, the span in its text, and whether it is in the speaker's name instead."""
        where = self.window.locate(start, len(self.matcher.table.patterns[pattern].text))
        message = self.ctx.moment.position(where["message"])
        return message, where.get("start"), where.get("end"), bool(where.get("in_name"))
