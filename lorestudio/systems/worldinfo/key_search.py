"""Keys as World Info finds them outside of its runs: in messages, and in the texts of other entries.

In messages they are told one by one (rules: sillytavern 5.6 "Key test"). What recursion would find in texts, the scan's
own rules answer, one text at a time (rules: sillytavern 5.6 "Loop"). A real loop searches messages and the texts of
several entries together, so there a secondary key may come from elsewhere; what happens then, a trace tells.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from lorestudio.domain.automaton import automaton_of
from lorestudio.domain.chat import Message
from lorestudio.domain.entry import Entry, VaultIndex
from lorestudio.domain.javascript import trim
from lorestudio.domain.lifecycle import CancelToken, heed, heeding
from lorestudio.domain.records import grouped, replace
from lorestudio.exchange.lorebooks.entry import BookEntry, Logic
from lorestudio.exchange.lorebooks.keys import MARK, KeyMatching, is_found
from lorestudio.settings.worldinfo import WorldInfoSettings
from lorestudio.systems.base import KeySearch, Wake, WakeFinder
from lorestudio.systems.worldinfo.decision import searched_line
from lorestudio.systems.worldinfo.haystack import Haystack, Scan, TextSource, Watch, is_searched
from lorestudio.systems.worldinfo.scan import Activation, Timed, TimedState, Told
from lorestudio.vault.lint.keyforms import KeyRules


class WorldInfoKeySearch(KeySearch):
    """Keys as a scan finds them; macros are not filled in, and blank keys, which are in every text, are passed over."""

    def __init__(self, settings: WorldInfoSettings) -> None:
        self._settings = settings
        self.rules = KeyRules(settings.case_sensitive, settings.match_whole_words, patterns=True)

    def line(self, message: Message) -> str:
        """The message as it is scanned."""
        return MARK + trim(searched_line(message, names=self._settings.include_names)) if message.scannable else ""

    def of(self, rules: KeyRules) -> KeySearch:
        """The same by an entry's own ways."""
        own = {"case_sensitive": rules.case_sensitive, "match_whole_words": rules.match_whole_words}
        return WorldInfoKeySearch(self._settings.model_copy(update=own))

    def finder(self, keys: Sequence[str]) -> Callable[[str], Sequence[int]]:
        """One pass over a line tells which of the plain keys may stand in it."""
        settings, sought = self._settings, [trim(key) for key in keys]
        how = KeyMatching(settings.case_sensitive, settings.match_whole_words)
        plain = grouped((key.lower(), place) for place, key in enumerate(heeding(sought)) if is_searched(key))
        others = [place for place, key in enumerate(heeding(sought)) if key and not is_searched(key)]
        automaton = automaton_of({key: tuple(places) for key, places in plain.items()})

        def found(line: str) -> list[int]:
            near = set(others if line else ())
            if automaton is not None:
                for _end, places in automaton.iter(line.lower()):
                    near.update(places)
            return [place for place in sorted(near) if is_found(sought[place], line, how)]

        return found


_NOTHING: Final = TextSource(())
_NO_EFFECTS: Final = Timed(TimedState(), frozenset(), {}, frozenset())
_BOTH_FOUND: Final = {Logic.AND_ANY.name, Logic.AND_ALL.name, Logic.UNSAID.name}


class WorldInfoWakes(WakeFinder):
    """Answers by recursion over entries, which come by the numbers of their notes and in their order. For workers.

    Whose text stays out for good, or is kept from recursion, wakes nothing. What depends on chat, character and kind of
    generation is taken as given, and levels of delay as reached. What comes in whatever is said is woken by nobody.
    """

    tells = True

    def __init__(
        self,
        vault: VaultIndex,
        entries: Mapping[int, BookEntry],
        settings: WorldInfoSettings,
        substituted: Callable[[str], str],
    ) -> None:
        levels = {entry.recursion_level for entry in entries.values()} - {None}
        loops = settings.max_recursion_steps != 1 and (settings.recursive or len(levels) > 1)
        super().__init__(vault, off=not loops)
        self._settings, self._substituted = settings, substituted
        self._sources = {
            number: Haystack(_NOTHING, settings)
            for number, entry in heeding(entries.items())
            if loops and not (entry.disabled or entry.never_activates or entry.prevent_recursion)
        }
        for number, haystack in heeding(self._sources.items()):
            haystack.feed([(entries[number], substituted(entries[number].content))])
        self._groups = {number: entries[number].group for number in self._sources}
        silence = Haystack(_NOTHING, settings)
        targets = {
            number: replace(entry, triggers=(), characters=(), tags=(), delay=None, recursion_level=None)
            for number, entry in heeding(entries.items())
        }
        self._targets = {
            number: entry
            for number, entry in heeding(targets.items())
            if self._told(entry, silence)[0] in {"", "wi_secondary"}
        }
        self._watch = Watch(tuple(self._targets.values()))

    def wakes(self, entry: Entry) -> tuple[Wake, ...]:
        """What the content of the entry wakes, in index order."""
        haystack = self._sources.get(entry.id)
        if haystack is None:
            return ()
        targets = tuple(self._targets)
        found = (self._wake(entry.id, targets[at]) for at in self._watch.places(haystack, Scan.RECURSION, ()))
        return tuple(wake for wake in found if wake is not None)

    def woken_by(self, target: Entry, cancel: CancelToken | None = None) -> tuple[Wake, ...]:
        """Whose contents wake the entry, in index order. Raises Cancelled."""
        found = []
        for source in self._sources if target.id in self._targets else ():
            heed(cancel)
            wake = self._wake(source, target.id)
            found += [] if wake is None else [wake]
        return tuple(found)

    def _told(self, entry: BookEntry, haystack: Haystack) -> Told:
        """What a loop of recursion says of the entry where nothing else is searched."""
        rules = Activation(haystack, _NOTHING, self._settings, _NO_EFFECTS, self._substituted, {})
        return rules.decide(entry, Scan.RECURSION, 0)

    def _wake(self, source: int, target: int) -> Wake | None:
        entry = self._targets[target]
        reason, details = self._told(entry, self._sources[source])
        if source == target or reason != "wi_key":
            return None
        found = details.get("found") if details.get("logic") in _BOTH_FOUND else None
        obstacle = "same_group" if self._groups[source] in entry.groups else ""
        if entry.probability is not None and entry.probability <= 0:
            obstacle = "probability_zero"
        return Wake(source, target, str(details["key"]), str(found[0]) if isinstance(found, list) else None, obstacle)
