"""What one entry wakes and what wakes it, without asking about all entries."""

from __future__ import annotations

from lorestudio.domain.entry import Entry, VaultIndex
from lorestudio.engine.deeplore.index import DeepLoreIndex
from lorestudio.engine.deeplore.keys import KeyMatcher
from lorestudio.engine.deeplore.stages.recursion import StepText
from lorestudio.settings import DeepLoreSettings
from lorestudio.studio.jobs import Cancelled, CancelToken
from lorestudio.studio.wakes import Wake, wakes_of


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
