"""Single keys as World Info finds them in messages, outside of its runs (rules: sillytavern 5.6 "Key test")."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from lorestudio.domain.automaton import automaton_of
from lorestudio.domain.chat import Message
from lorestudio.domain.javascript import trim
from lorestudio.domain.records import grouped
from lorestudio.exchange.lorebooks.keys import MARK, KeyMatching, is_found
from lorestudio.settings.worldinfo import WorldInfoSettings
from lorestudio.systems.base import KeySearch
from lorestudio.systems.worldinfo.decision import searched_line
from lorestudio.systems.worldinfo.haystack import is_searched
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
        plain = grouped((key.lower(), place) for place, key in enumerate(sought) if is_searched(key))
        others = [place for place, key in enumerate(sought) if key and not is_searched(key)]
        automaton = automaton_of({key: tuple(places) for key, places in plain.items()})

        def found(line: str) -> list[int]:
            near = set(others if line else ())
            if automaton is not None:
                for _end, places in automaton.iter(line.lower()):
                    near.update(places)
            return [place for place in sorted(near) if is_found(sought[place], line, how)]

        return found
