"""Keys in single messages, and which entries' contents hold which entries' keys: what recursion would do.

The engine's own matcher and its own text of a recursion step answer, one entry's content at a time. A real step
searches the contents of several entries together, so there a refine key may come from another entry than the key, and
a warmup may be reached by several together; what happens then, a trace tells. Rules: deeplore 3.3, 3.7.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from lorestudio.domain.chat import Message
from lorestudio.domain.entry import Entry, VaultIndex
from lorestudio.domain.lifecycle import Cancelled, CancelToken
from lorestudio.settings.deeplore import DeepLoreSettings
from lorestudio.systems.deeplore.matching.index import DeepLoreIndex
from lorestudio.systems.deeplore.matching.keys import KeyMatcher
from lorestudio.systems.deeplore.matching.scan import ScanWindow
from lorestudio.systems.deeplore.stages.recursion import StepText
from lorestudio.systems.key_search import KeySearch, Wake, WakeFinder


def _matcher(entries: Sequence[Entry], settings: DeepLoreSettings) -> KeyMatcher:
    return KeyMatcher(entries, case_sensitive=settings.case_sensitive, whole_words=settings.match_whole_words)


class DeepLoreWakes(WakeFinder):
    """Answers by recursion for one index; preparing it takes a moment, at the first question. For workers.

    Contents that are kept out of recursion wake nothing. Constants are never woken (they are in already), nor guides.
    """

    def __init__(self, vault: VaultIndex, settings: DeepLoreSettings) -> None:
        super().__init__(vault)
        self._settings = settings
        self._index = DeepLoreIndex(vault)

    def wakes(self, entry: Entry) -> tuple[Wake, ...]:
        """What the content of the entry wakes, in index order."""
        if entry.exclude_recursion or entry.guide:
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
        for entry in self._index.visible:
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

    def line(self, message: Message) -> str:
        """The message as the only line of a scan."""
        return ScanWindow([message], 1, case_sensitive=self._settings.case_sensitive).text

    def finder(self, keys: Sequence[str]) -> Callable[[str], Sequence[int]]:
        """Every key is an entry of its own, so that the engine's matcher answers for each."""
        single = [Entry(place, "", "", "", keys=(key,)) for place, key in enumerate(keys)]
        matcher = _matcher(single, self._settings)
        return lambda line: matcher.hit_entries(matcher.find(line))

    def wakes(self, vault: VaultIndex) -> WakeFinder:
        """What recursion would do."""
        return DeepLoreWakes(vault, self._settings)
