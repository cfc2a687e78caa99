"""Every place where keys stand in the text that a generation searches, with the entries that they belong to.

It is told by the matcher and the window of the run itself (rules: deeplore 3.3, 3.4).

Key by key, whether and where an entry's keys are found in the text that a generation searches.

It is told by the matcher and the text of the run itself (rules: deeplore 3.3, 3.4).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from lorestudio.domain.entry import Entry
from lorestudio.domain.javascript import length, trim
from lorestudio.systems.deeplore.inputs import Inputs
from lorestudio.systems.deeplore.keys import KEY_LIMIT, KeyMatcher, PatternHits
from lorestudio.systems.deeplore.scan import ScanWindow
from lorestudio.systems.deeplore.stages.snapshot import scan_window
from lorestudio.trace.found_keys import KeyMatch, KeyPlace, WouldMatch


def key_places(ctx: Inputs) -> tuple[KeyPlace, ...]:
    """All occurrences of keys in the order of the text, those of constants and guides left out: theirs decide nothing.

    Refine keys are told where a key of the same entry occurs too. Empty where the settings search no message at all.
    """
    settings = ctx.settings
    if settings.scan_depth <= 0:
        return ()
    window = scan_window(ctx)
    matcher = ctx.index.matcher(case_sensitive=settings.case_sensitive, whole_words=settings.match_whole_words)
    found: dict[int, list[int]] = {}
    for number, start in matcher.occurring(window.text):
        found.setdefault(number, []).append(start)
    hits = PatternHits({number: starts[-1] for number, starts in found.items()})
    look = _Searched(ctx, window, matcher, found)
    entries = (ctx.index.vault.entries[number] for number in matcher.hit_entries(hits))
    places = [place for entry in entries if not entry.constant and not entry.guide for place in look.places(entry)]
    return tuple(sorted(places, key=lambda place: (place.message, -1 if place.start is None else place.start)))


@dataclass(frozen=True, slots=True)
class _Searched:
    ctx: Inputs
    window: ScanWindow
    matcher: KeyMatcher
    found: Mapping[int, Sequence[int]]

    def places(self, entry: Entry) -> Iterator[KeyPlace]:
        """The places of one entry, none where its keys stand further back than it looks."""
        depth = self.ctx.settings.scan_depth if entry.scan_depth is None else entry.scan_depth
        offset = self.window.offset(depth)
        table = self.matcher.table
        primary = list(self._within(table.primary[entry.id], offset))
        if primary:
            for keys, is_refine in ((primary, False), (self._within(table.refine[entry.id], offset), True)):
                yield from (self._place(entry, key, number, start, is_refine) for key, number, start in keys)

    def _within(self, keys: Iterable[tuple[str, int]], offset: int) -> Iterator[tuple[str, int, int]]:
        """Key, pattern and start of every occurrence from `offset` on; equal keys count once."""
        first = {number: key for key, number in reversed(tuple(keys))}
        for number, key in first.items():
            yield from ((key, number, start) for start in self.found.get(number, ()) if start >= offset)

    def _place(self, entry: Entry, key: str, pattern: int, start: int, refine: bool) -> KeyPlace:
        where = self.window.locate(start, len(self.matcher.table.patterns[pattern].text))
        return KeyPlace(
            entry.id,
            key,
            self.ctx.moment.position(where["message"]),
            where.get("start"),
            where.get("end"),
            in_name=bool(where.get("in_name")),
            refine=refine,
        )


def would_match(ctx: Inputs, entry: Entry) -> WouldMatch:
    """What the keys of `entry`, which is one of the index's, find in the window of this generation."""
    settings = ctx.settings
    window = scan_window(ctx)
    matcher = ctx.index.matcher(case_sensitive=settings.case_sensitive, whole_words=settings.match_whole_words)
    hits = matcher.find(window.text)
    depth = settings.scan_depth if entry.scan_depth is None else entry.scan_depth
    look = _KeyLook(ctx, window, matcher, hits, window.offset(depth))
    hit = matcher.test(entry.id, hits, look.offset)
    return WouldMatch(
        look.matches(entry.keys, dict(matcher.table.primary[entry.id]), limit=KEY_LIMIT),
        look.matches(entry.refine_keys, dict(matcher.table.refine[entry.id])),
        depth,
        window.count(depth),
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


@dataclass(frozen=True, slots=True)
class _KeyLook:
    """A window that was searched, and where the entry's own part of it begins."""

    ctx: Inputs
    window: ScanWindow
    matcher: KeyMatcher
    hits: PatternHits
    offset: int

    def matches(
        self, keys: Sequence[str], patterns: Mapping[str, int], limit: int | None = None
    ) -> tuple[KeyMatch, ...]:
        text = self.window.text[self.offset :]
        return tuple(self._match(key, patterns, text, limit) for key in keys)

    def _match(self, key: str, patterns: Mapping[str, int], text: str, limit: int | None) -> KeyMatch:
        cut = limit is not None and length(key) > limit
        if not trim(key):
            return KeyMatch(key, blank=True)
        pattern = patterns[key]
        if not self.hits.within(pattern, self.offset):
            return KeyMatch(key, cut=cut)
        where = self.window.locate(self.hits.last[pattern], len(self.matcher.table.patterns[pattern].text))
        return KeyMatch(
            key,
            self.matcher.count(pattern, text),
            self.ctx.moment.position(where["message"]),
            where.get("start"),
            where.get("end"),
            in_name=bool(where.get("in_name")),
            cut=cut,
        )
