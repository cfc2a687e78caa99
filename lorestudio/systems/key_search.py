"""How a system finds keys outside of its runs: in single messages, and in the contents of notes."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec import Struct

from lorestudio.domain.chat import Message
from lorestudio.domain.entry import Entry, VaultIndex
from lorestudio.domain.javascript import fold
from lorestudio.domain.lifecycle import CancelToken


class Wake(Struct, frozen=True):
    """The content of `source` wakes `target`; both are ids. `key` is the first of the target's keys that it holds.

    `obstacle` is the code of the reason that keeps the target out all the same, `warmup_short` or `probability_zero`.
    """

    source: int
    target: int
    key: str
    refine_key: str | None = None
    obstacle: str = ""


class WakeFinder:
    """Which entries' contents wake which others, for one index. As it stands here, none does. For workers."""

    def __init__(self, vault: VaultIndex) -> None:
        self.vault = vault

    def wakes(self, entry: Entry) -> tuple[Wake, ...]:
        """What the content of the entry wakes, in index order."""
        return ()

    def woken_by(self, target: Entry, cancel: CancelToken | None = None) -> tuple[Wake, ...]:
        """Whose contents wake the entry, in index order. Raises Cancelled."""
        return ()


class KeySearch:
    """Finds keys by a system's settings. As it stands here: as plain texts, whatever the case."""

    def line(self, message: Message) -> str:
        """The message as it is searched, "" for one that is not."""
        return fold(f"{message.name or ''}: {message.text}") if message.scannable else ""

    def finder(self, keys: Sequence[str]) -> Callable[[str], Sequence[int]]:
        """Tells which of the keys are in a line that `line` made, by their places."""
        folded = [(place, fold(key)) for place, key in enumerate(keys) if key.strip()]
        return lambda line: [place for place, key in folded if key in line]

    def wakes(self, vault: VaultIndex) -> WakeFinder:
        """Which entries' contents wake which others."""
        return WakeFinder(vault)
