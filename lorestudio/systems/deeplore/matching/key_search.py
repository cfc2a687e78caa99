"""Where keys stand: in single messages, in the text that a generation searches, and in the contents of other entries.

In the searched text they are told by the matcher and the window of the run itself (rules: deeplore 3.3, 3.4). What
recursion would find in contents, the engine's own matcher and its own text of a recursion step answer, one entry at a
time. A real step searches the contents of several entries together, so there a refine key may come from another entry
than the key, and a warmup may be reached by several together; what happens then, a trace tells. Rules: deeplore 3.3,
3.7.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from lorestudio.domain.chat import Message
from lorestudio.domain.entry import Entry, VaultIndex
from lorestudio.domain.javascript import length, trim
from lorestudio.domain.lifecycle import Cancelled, CancelToken
from lorestudio.domain.records import grouped
from lorestudio.settings.deeplore import DeepLoreSettings
from lorestudio.systems.base import KeySearch, Wake, WakeFinder
from lorestudio.systems.deeplore.inputs import Inputs
from lorestudio.systems.deeplore.matching.index import DeepLoreIndex
from lorestudio.systems.deeplore.matching.keys import KEY_LIMIT, KeyMatcher, PatternHits, ScanWindow
from lorestudio.systems.deeplore.stages.recursion import StepText
from lorestudio.systems.deeplore.stages.snapshot import scan_window
from lorestudio.trace.found_keys import FoundKey, KeyMatch, WouldMatch
from lorestudio.vault.lint.keyforms import KeyRules


def _matcher(entries: Sequence[Entry], settings: DeepLoreSettings) -> KeyMatcher:
    return KeyMatcher(entries, case_sensitive=settings.case_sensitive, whole_words=settings.match_whole_words)


class DeepLoreWakes(WakeFinder):
    """Answers by recursion for one index (rules: deeplore 3.7); preparing it takes a moment, at the first question. For
    workers.

    Contents that are kept out of recursion wake nothing. Constants are never woken (they are in already), nor guides.
    """

    tells = True

    def __init__(self, vault: VaultIndex, settings: DeepLoreSettings) -> None:
        super().__init__(vault, off=not settings.recursive_scan or settings.scan_depth <= 0)
        self._settings = settings
        self._index = DeepLoreIndex(vault)

    def wakes(self, entry: Entry) -> tuple[Wake, ...]:
        """What the content of the entry wakes, in index order."""
        if self.off or entry.exclude_recursion or entry.guide:
            return ()
        settings, text = self._settings, self._text(entry)
        matcher = self._index.matcher(case_sensitive=settings.case_sensitive, whole_words=settings.match_whole_words)
        targets = matcher.hit_entries(matcher.find(text))
        found = (_wake(entry, self.vault.entries[target], target, matcher, text) for target in targets)
        return tuple(wake for wake in found if wake is not None)

    def woken_by(self, target: Entry, cancel: CancelToken | None = None) -> tuple[Wake, ...]:
        """Whose contents wake the entry, in index order. Raises Cancelled.

        The engine's own matcher answers, over the keys of this entry alone.
        """
        matcher = _matcher((target,), self._settings)
        found: list[Wake] = []
        for entry in () if self.off else self._index.visible:
            if cancel is not None and cancel.cancelled:
                raise Cancelled
            wake = None if entry.exclude_recursion else _wake(entry, target, 0, matcher, self._text(entry))
            if wake is not None:
                found.append(wake)
        return tuple(found)

    def _text(self, entry: Entry) -> str:
        return StepText((entry,), self._index, case_sensitive=self._settings.case_sensitive).text


def _wake(source: Entry, target: Entry, place: int, matcher: KeyMatcher, text: str) -> Wake | None:
    """The wake of the entry at `place` of the matcher by a text, with what keeps it out whatever the chat is."""
    if target is source or target.constant or target.guide:
        return None
    hit = matcher.test(place, matcher.find(text))
    if hit is None:
        return None
    obstacle = ""
    if target.probability == 0:
        obstacle = "probability_zero"
    elif target.warmup is not None and matcher.occurrences(place, text) < target.warmup:
        obstacle = "warmup_short"
    return Wake(source.id, target.id, hit.key, hit.refine_key, obstacle)


class DeepLoreKeySearch(KeySearch):
    """Keys as a scan finds them."""

    def __init__(self, settings: DeepLoreSettings) -> None:
        self._settings = settings
        self.rules = KeyRules(settings.case_sensitive, settings.match_whole_words)

    def line(self, message: Message) -> str:
        """The message as the only line of a scan."""
        return ScanWindow([message], 1, case_sensitive=self._settings.case_sensitive).text

    def finder(self, keys: Sequence[str]) -> Callable[[str], Sequence[int]]:
        """All keys are those of one entry, in which the engine's matcher finds each: an entry a key takes much more."""
        matcher = _matcher((Entry(0, "", "", "", keys=tuple(keys)),), self._settings)
        searched = (place for place, key in enumerate(keys) if trim(key))
        numbers = (number for _key, number in matcher.table.primary[0])
        places = grouped(zip(numbers, searched, strict=True))
        return lambda line: sorted(place for number in matcher.find(line).last for place in places[number])


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
        self.found = grouped(self.matcher.occurring(self.window.text))
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
