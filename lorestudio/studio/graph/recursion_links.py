"""Which entries' contents hold which entries' keys: what recursion would do (spec: deeplore-engine 3.7).

The engine's own matcher and its own text of a recursion step answer, one entry's content at a time. A real step
searches the contents of several entries together, so there a refine key may come from another entry than the key, and
a warmup may be reached by several together; what happens then, a trace tells.

What one entry wakes and what wakes it, without asking about all entries.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from lorestudio.domain.entry import Entry, VaultIndex
from lorestudio.domain.lifecycle import Cancelled, CancelToken
from lorestudio.settings.deeplore import DeepLoreSettings
from lorestudio.systems.deeplore.index import DeepLoreIndex
from lorestudio.systems.deeplore.keys import KeyMatcher
from lorestudio.systems.deeplore.stages.recursion import StepText


@dataclass(frozen=True, slots=True)
class Wake:
    """The content of `source` wakes `target`; both are ids. `key` is the first of the target's keys that it holds.

    `obstacle` is the code of the reason that keeps the target out all the same, `warmup_short` or `probability_zero`.
    """

    source: int
    target: int
    key: str
    refine_key: str | None = None
    obstacle: str = ""


@dataclass(frozen=True, slots=True)
class Wakes:
    """All wakes of an index, by source and by target, each in index order."""

    by_source: Mapping[int, tuple[Wake, ...]]
    by_target: Mapping[int, tuple[Wake, ...]]

    def wakes(self, entry: int) -> tuple[Wake, ...]:
        """What the content of this entry wakes."""
        return self.by_source.get(entry, ())

    def woken_by(self, entry: int) -> tuple[Wake, ...]:
        """Whose contents wake this entry."""
        return self.by_target.get(entry, ())

    def changed(self, source: int, wakes: tuple[Wake, ...]) -> Wakes:
        """With what one entry wakes now, its content having changed; keys of entries are the same."""
        by_source, by_target = dict(self.by_source), dict(self.by_target)
        for wake in by_source.pop(source, ()):
            by_target[wake.target] = tuple(other for other in by_target[wake.target] if other.source != source)
        by_source[source] = wakes
        for wake in wakes:
            woken = (*by_target.get(wake.target, ()), wake)
            by_target[wake.target] = tuple(sorted(woken, key=lambda wake: wake.source))
        return Wakes(by_source, by_target)


def all_wakes(
    index: DeepLoreIndex,
    settings: DeepLoreSettings,
    on_progress: Callable[[int, int], None] | None = None,
    cancel: CancelToken | None = None,
) -> Wakes:
    """The wakes of all entries, by the settings for case and whole words, be recursion on or off.

    `on_progress` gets entries done and their number. Raises Cancelled.
    """
    by_source: dict[int, tuple[Wake, ...]] = {}
    by_target: dict[int, list[Wake]] = {}
    for count, entry in enumerate(index.visible, 1):
        if cancel is not None and cancel.cancelled:
            raise Cancelled
        found = wakes_of(index, settings, entry)
        if found:
            by_source[entry.id] = found
        for wake in found:
            by_target.setdefault(wake.target, []).append(wake)
        if on_progress is not None:
            on_progress(count, len(index.visible))
    return Wakes(by_source, {target: tuple(wakes) for target, wakes in by_target.items()})


def wakes_of(index: DeepLoreIndex, settings: DeepLoreSettings, entry: Entry) -> tuple[Wake, ...]:
    """What the content of one entry of the index wakes, in index order.

    Nothing where its content is kept out of recursion. Constants are never woken (they are in already), nor guides.
    """
    if entry.exclude_recursion or entry.guide:
        return ()
    matcher = index.matcher(case_sensitive=settings.case_sensitive, whole_words=settings.match_whole_words)
    text = StepText((entry,), index, case_sensitive=settings.case_sensitive).text
    hits = matcher.find(text)
    found = []
    for target_id in matcher.hit_entries(hits):
        target = index.vault.entries[target_id]
        if target is entry or target.constant or target.guide:
            continue
        hit = matcher.test(target_id, hits)
        if hit is not None:
            found.append(Wake(entry.id, target_id, hit.key, hit.refine_key, _obstacle(target, matcher, text)))
    return tuple(found)


def _obstacle(target: Entry, matcher: KeyMatcher, text: str) -> str:
    """What keeps the entry out whatever the chat is, in the order in which recursion looks."""
    if target.probability == 0:
        return "probability_zero"
    if target.warmup is not None and matcher.occurrences(target.id, text) < target.warmup:
        return "warmup_short"
    return ""


class WakeFinder:
    """Answers for one index; preparing it takes a moment, at the first question. For workers."""

    def __init__(self, vault: VaultIndex, settings: DeepLoreSettings) -> None:
        self.vault, self._settings = vault, settings
        self._index = DeepLoreIndex(vault)

    def wakes(self, entry: Entry) -> tuple[Wake, ...]:
        """What the content of the entry wakes, in index order."""
        return wakes_of(self._index, self._settings, entry)

    def woken_by(self, entry: Entry, cancel: CancelToken | None = None) -> tuple[Wake, ...]:
        """Whose contents wake the entry, in index order. Raises Cancelled."""
        return woken_by(self.vault, self._settings, entry, cancel)


def woken_by(
    vault: VaultIndex, settings: DeepLoreSettings, target: Entry, cancel: CancelToken | None = None
) -> tuple[Wake, ...]:
    """Whose contents wake this entry, in index order; nothing for constants and guides. Raises Cancelled.

    The engine's own matcher answers, over the keys of this entry alone.
    """
    if target.constant or target.guide:
        return ()
    index = DeepLoreIndex(vault)
    case_sensitive = settings.case_sensitive
    matcher = KeyMatcher((target,), case_sensitive=case_sensitive, whole_words=settings.match_whole_words)
    found: list[Wake] = []
    for entry in index.visible:
        if cancel is not None and cancel.cancelled:
            raise Cancelled
        if entry is target or entry.exclude_recursion:
            continue
        text = StepText((entry,), index, case_sensitive=case_sensitive).text
        hits = matcher.find(text)
        hit = matcher.test(0, hits)
        if hit is None:
            continue
        obstacle = ""
        if target.probability == 0:
            obstacle = "probability_zero"
        elif target.warmup is not None and matcher.occurrences(0, text) < target.warmup:
            obstacle = "warmup_short"
        found.append(Wake(entry.id, target.id, hit.key, hit.refine_key, obstacle))
    return tuple(found)
