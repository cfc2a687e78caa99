"""Which entries gates let pass whatever they say: the exemption policy (spec: deeplore-engine 5.1)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from lorestudio.domain.entry import Entry
from lorestudio.domain.state import EntryRule


def is_forced(entry: Entry) -> bool:
    """Constants always, seeds and bootstraps too, however long the chat is."""
    return entry.constant or entry.seed or entry.bootstrap


@dataclass(frozen=True, slots=True)
class Policy:
    """The exempt entries, by tracker key, each with why it is exempt."""

    exempt: dict[str, str]

    @classmethod
    def of(cls, entries: Iterable[Entry], pins: tuple[EntryRule, ...]) -> Policy:
        """The policy drawn from these entries and pins."""
        exempt: dict[str, str] = {}
        for entry in entries:
            why = _why(entry, pins)
            if why:
                exempt[entry.tracker_key] = why
        return cls(exempt)

    def __contains__(self, entry: Entry) -> bool:
        return entry.tracker_key in self.exempt

    def why(self, entry: Entry) -> str:
        """constant, seed, bootstrap or pin."""
        return self.exempt[entry.tracker_key]


def _why(entry: Entry, pins: tuple[EntryRule, ...]) -> str:
    if entry.constant:
        return "constant"
    if entry.seed:
        return "seed"
    if entry.bootstrap:
        return "bootstrap"
    return "pin" if any(pin.matches(entry) for pin in pins) else ""
