"""Whether an entry becomes active in a loop, before groups and budget (rules: sillytavern 5.6)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from lorestudio.domain.javascript import Json, to_number, trim
from lorestudio.exchange.lorebooks.entry import BookEntry, Logic
from lorestudio.exchange.lorebooks.keys import KeyMatching, UnusableKeyError, occurs
from lorestudio.settings.worldinfo import WorldInfoSettings
from lorestudio.systems.worldinfo.haystack import Haystack, Scan, TextSource
from lorestudio.systems.worldinfo.timed import Timed

Told = tuple[str, Mapping[str, Json]]
"""A reason code and its details."""

TAKEN: Final = frozenset({"wi_decorator", "wi_constant", "wi_vector", "wi_sticky", "wi_key"})
"""The reasons for which an entry comes in."""


@dataclass(frozen=True, slots=True)
class Activation:
    """The rules for one scan. `similar` are the scores of the entries that similarity brings in, by uid."""

    haystack: Haystack
    source: TextSource
    settings: WorldInfoSettings
    timed: Timed
    substituted: Callable[[str], str]
    similar: Mapping[str, float]

    def decide(self, entry: BookEntry, scan: Scan, level: float | str) -> Told:
        """Why the entry comes in or stays out; "" where no key was found. `level` is that of delayed recursion."""
        refusal = self._refusal(entry, scan, level)
        if refusal is not None:
            return refusal
        if entry.activates:
            return "wi_decorator", {}
        if entry.never_activates:
            return "wi_never", {}
        if entry.constant and not (self.settings.newer and entry.uid in self.similar):
            return "wi_constant", {}
        if entry.uid in self.similar:
            return "wi_vector", {"score": self.similar[entry.uid]}
        if entry.uid in self.timed.sticky:
            return "wi_sticky", {}
        return self._by_keys(entry, scan)

    def score(self, entry: BookEntry, scan: Scan) -> int:
        """How many keys of the entry are found, as groups count it: as they are written, with macros and blanks."""
        if not entry.keys:
            return 0
        how, text = self._matching(entry), self.haystack.text(entry, scan)
        primary = sum(self._found(key, text, how) for key in entry.keys)
        found = sum(self._found(key, text, how) for key in entry.secondary)
        if entry.logic is Logic.AND_ANY:
            return primary + found
        return primary + found if entry.logic is Logic.AND_ALL and found == len(entry.secondary) else primary

    def _refusal(self, entry: BookEntry, scan: Scan, level: float | str) -> Told | None:
        if entry.disabled:
            return "wi_disabled", {}
        if entry.triggers and self.source.kind not in entry.triggers:
            return "wi_trigger", {"kinds": list(entry.triggers), "kind": self.source.kind}
        return self._filtered(entry) or self._resting(entry, scan, level)

    def _filtered(self, entry: BookEntry) -> Told | None:
        named = not self.source.characters.isdisjoint(entry.characters)
        if entry.characters and named is entry.characters_excluded:
            return "wi_character", {"names": list(entry.characters)}
        tags = self.source.tags
        if entry.tags and tags is not None and tags.isdisjoint(entry.tags) is not entry.characters_excluded:
            return "wi_tags", {"tags": list(entry.tags)}
        return None

    def _resting(self, entry: BookEntry, scan: Scan, level: float | str) -> Told | None:
        sticky, recursive = entry.uid in self.timed.sticky, scan is Scan.RECURSION
        if entry.uid in self.timed.waiting:
            return "wi_delay", {"delay": entry.delay}
        if entry.uid in self.timed.cooling and not sticky:
            return "wi_cooling", {"until": self.timed.cooling[entry.uid]}
        own = entry.recursion_level
        if own is not None and not sticky and (not recursive or _above(own, level)):
            return "wi_only_recursion", {"level": own}
        if recursive and self.settings.recursive and entry.exclude_recursion and not sticky:
            return "wi_no_recursion", {}
        return None

    def _by_keys(self, entry: BookEntry, scan: Scan) -> Told:
        how, text = self._matching(entry), self.haystack.text(entry, scan)
        try:
            written = filter(None, map(self.substituted, entry.keys))
            key = next((key for each in written if occurs(key := trim(each), text, how)), None)
            if key is None:
                return "", {}
            where = self.haystack.where(key, how, entry)
            if not entry.selective or not entry.secondary:
                return "wi_key", where
            filled = [self.substituted(each) for each in entry.secondary]
            secondary = [trim(each) for each in filled]
            found = [key for key, each in zip(secondary, filled, strict=True) if each and occurs(key, text, how)]
        except UnusableKeyError as error:
            return "wi_pattern", {"problem": str(error)}
        satisfied = {
            Logic.AND_ANY: bool(found),
            Logic.NOT_ALL: len(found) < len(secondary),
            Logic.NOT_ANY: not found,
            Logic.AND_ALL: len(found) == len(secondary),
            Logic.UNKNOWN: False,
            Logic.UNSAID: bool(found),
        }[entry.logic]
        details = {**where, "logic": entry.logic.name, "secondary": list(secondary), "found": list(found)}
        if found:
            details["found_back"] = [self.haystack.where(each, how, entry).get("back") for each in found]
        return ("wi_key" if satisfied else "wi_secondary"), details

    def _matching(self, entry: BookEntry) -> KeyMatching:
        settings = self.settings
        return KeyMatching.of(entry, case_sensitive=settings.case_sensitive, whole_words=settings.match_whole_words)

    @staticmethod
    def _found(key: str, text: str, how: KeyMatching) -> bool:
        try:
            return occurs(key, text, how)
        except UnusableKeyError:
            return False


def _above(level: float | str, other: float | str) -> bool:
    """Whether a level is above another as JavaScript compares: two texts by their characters."""
    if isinstance(level, str) and isinstance(other, str):
        return level > other
    return to_number(level) > to_number(other)
