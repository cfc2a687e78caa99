"""Every place where keys stand in the text that a generation searches, with the entries that they belong to.

It is told by the matcher and the window of the run itself (spec: deeplore-engine 3.3, 3.4).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from lorestudio.domain.entry import Entry
from lorestudio.engine.context import RunContext
from lorestudio.engine.deeplore.keys import Hits, KeyMatcher
from lorestudio.engine.deeplore.scan import ScanWindow
from lorestudio.engine.deeplore.stages.snapshot import scan_window


@dataclass(frozen=True, slots=True)
class KeyPlace:
    """One occurrence of a key of one entry, within the window of that entry.

    `message` is the index in the chat file and `start` to `end` the span in the message's text; both are None where the
    key stands in the speaker's name (`in_name`), or where folding changed the length of the line. `refine` says that it
    is one of the refine keys.
    """

    entry: int
    key: str
    message: int
    start: int | None = None
    end: int | None = None
    in_name: bool = False
    refine: bool = False


def key_places(ctx: RunContext) -> tuple[KeyPlace, ...]:
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
    hits = Hits({number: starts[-1] for number, starts in found.items()})
    look = _Look(ctx, window, matcher, found)
    entries = (ctx.index.vault.entries[number] for number in matcher.hit_entries(hits))
    places = [place for entry in entries if not entry.constant and not entry.guide for place in look.places(entry)]
    return tuple(sorted(places, key=lambda place: (place.message, -1 if place.start is None else place.start)))


@dataclass(frozen=True, slots=True)
class _Look:
    ctx: RunContext
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
            self.ctx.position(where["message"]),
            where.get("start"),
            where.get("end"),
            in_name=bool(where.get("in_name")),
            refine=refine,
        )
