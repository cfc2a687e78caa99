"""How often entries fired: in the runs of the open chat, and in all chats as DeepLore counted itself.

DeepLore keeps its counts in its settings under `analyticsData`, by `vaultSource:title`: matched after gates and
duplicates, injected after the budget, and when last. What was unused for 30 days is gone (rules: deeplore 6.6).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Final

from msgspec import Struct

from lorestudio.domain.entry import Entry, VaultIndex
from lorestudio.domain.javascript import Json
from lorestudio.domain.json_text import number_in
from lorestudio.domain.records import grouped
from lorestudio.domain.state import Usage
from lorestudio.trace.text import csv_bytes
from lorestudio.trace.timeline import Fired

UNUSED: Final = Usage()


def read_usage(analytics: Json) -> dict[str, Usage]:
    """DeepLore's counts by their keys; the buckets that are about no entry are left out, and what is no number is 0."""
    if not isinstance(analytics, Mapping):
        return {}
    return {
        key: Usage(*(max(0, int(number_in(value.get(name)) or 0)) for name in ("matched", "injected", "lastTriggered")))
        for key, value in analytics.items()
        if isinstance(value, Mapping) and not key.startswith("_")
    }


def usage_of(index: VaultIndex, recorded: Mapping[str, Usage]) -> dict[int, Usage]:
    """The counts by the ids of entries.

    DeepLore names a vault as its own settings do, the studio by its folder. So a count of a vault that the project does
    not have is that of the one entry with this title, where there is only one.
    """
    exact = {(entry.vault, entry.title): entry.id for entry in index.entries}
    titled = grouped((entry.title, entry.id) for entry in index.entries)
    found: dict[int, Usage] = {}
    for key, usage in recorded.items():
        number = _entry_of(key, exact, titled, frozenset(index.vaults))
        if number is not None:
            found[number] = _more(found.get(number, UNUSED), usage)
    return found


class UsageRow(Struct, frozen=True):
    """An entry, how often it fired in the runs of the chat, and what DeepLore counted in all chats."""

    entry: Entry
    fired: Fired
    recorded: Usage

    @property
    def last_used(self) -> str:
        """When DeepLore matched it last, as ISO 8601 in UTC; "" for never."""
        return when_utc(self.recorded.last_triggered_ms)


def when_utc(milliseconds: int) -> str:
    """A moment in ISO 8601, to the second; "" for 0 and for what no calendar has."""
    try:
        moment = datetime.fromtimestamp(milliseconds / 1000, UTC) if milliseconds > 0 else None
    except (OverflowError, OSError, ValueError):
        moment = None
    return "" if moment is None else moment.isoformat(timespec="seconds")


def usage_rows(index: VaultIndex, recorded: Mapping[str, Usage], fired: Callable[[int], Fired]) -> tuple[UsageRow, ...]:
    """A row for each entry, those that fired most in front: in the chat, then by DeepLore's counts."""
    counts = usage_of(index, recorded)
    rows = (UsageRow(entry, fired(entry.id), counts.get(entry.id, UNUSED)) for entry in index.entries)
    return tuple(sorted(rows, key=lambda row: (-row.fired.injected, -row.recorded.injected, row.entry.title)))


COLUMNS: Final = (
    "vault", "file", "title", "matched in this chat", "injected in this chat", "matched (DeepLore)",
    "injected (DeepLore)", "last used (DeepLore)",
)  # fmt: skip


def usage_csv(rows: Sequence[UsageRow]) -> bytes:
    """The rows as a table for a spreadsheet: UTF-8 with a byte order mark, because some ask for it."""
    return csv_bytes((COLUMNS, *map(_cells, rows)))


def _cells(row: UsageRow) -> tuple[str | int, ...]:
    entry, fired, recorded = row.entry, row.fired, row.recorded
    texts = (entry.vault, entry.filename, entry.title)
    return (*texts, fired.matched, fired.injected, recorded.matched, recorded.injected, row.last_used)


def _entry_of(
    key: str, exact: Mapping[tuple[str, str], int], titled: Mapping[str, Sequence[int]], vaults: frozenset[str]
) -> int | None:
    # Vaults and titles may hold colons themselves.
    splits = [(key[:place], key[place + 1 :]) for place, sign in enumerate(key) if sign == ":"]
    for split in splits:
        if split in exact:
            return exact[split]
    for vault, title in splits:
        if len(same := titled.get(title, ())) == 1 and vault not in vaults:
            return same[0]
    return None


def _more(one: Usage, other: Usage) -> Usage:
    last = max(one.last_triggered_ms, other.last_triggered_ms)
    return Usage(one.matched + other.matched, one.injected + other.injected, last)
