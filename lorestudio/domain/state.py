"""What a chat remembers between generations: the person's choices and the engine's trackers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from msgspec import Struct, field

from lorestudio.domain.entry import Entry
from lorestudio.domain.javascript import Json


class EntryRule(Struct, frozen=True):
    """A pin or a block: a title, and a vault where only that vault's copy is meant (rules: deeplore 5.1)."""

    title: str
    vault: str | None = None

    def matches(self, entry: Entry) -> bool:
        """Titles compare without case; vaults only where both sides name one."""
        if self.title.lower() != entry.title.lower():
            return False
        return not (self.vault and entry.vault) or self.vault == entry.vault


def has_rule(rules: Iterable[EntryRule], entry: Entry) -> bool:
    """Whether one of the pins or blocks is about the entry."""
    return any(rule.matches(entry) for rule in rules)


class ChatControls(Struct, frozen=True):
    """What a person chose for one chat. `folders` empty means no filter; `context` maps context keys to values.

    `character` is the active character where a person named another one than the chat's; it is no part of a chat file.
    """

    pins: tuple[EntryRule, ...] = ()
    blocks: tuple[EntryRule, ...] = ()
    folders: tuple[str, ...] = ()
    context: Mapping[str, Json] = {}
    notebook: str = ""
    notepad: str = ""
    scribe_summary: str = ""
    character: str | None = None


class LoggedInjection(Struct, frozen=True):
    """One entry in the duplicate log: what was injected where (rules: deeplore 5.6), `vault` in 2.6 only."""

    title: str
    position: float
    depth: float
    role: float
    content_hash: str
    vault: str = ""


class LoggedGeneration(Struct, frozen=True):
    """The injections of one generation in the duplicate log."""

    generation: int
    entries: tuple[LoggedInjection, ...]


class Prompt(Struct, frozen=True):
    """A committed prompt: what the host holds under `tag` until it is replaced (rules: deeplore 5.8)."""

    tag: str
    text: str
    position: int
    depth: float
    role: int
    scan: bool = False
    managed: bool = False


class Usage(Struct, frozen=True):
    """How often an entry was matched and injected, and when last (ms since the epoch; 0 = never)."""

    matched: int = 0
    injected: int = 0
    last_triggered_ms: int = 0


class Counters(Struct, frozen=True):
    """The trackers that a swipe rolls back; keys are tracker keys (rules: deeplore 6.1 to 6.3)."""

    generation_count: int = 0
    cooldown: Mapping[str, float] = {}
    decay: Mapping[str, int] = {}
    consecutive: Mapping[str, int] = {}
    injection_history: Mapping[str, int] = {}


NOTEPAD_LIMIT: Final = 65_536
"""The longest AI notepad, in UTF-16 code units."""


class Snapshot(Struct, frozen=True):
    """The counters as they were before the generation at `swipe_key`."""

    swipe_key: str
    counters: Counters


class CachedPick(Struct, frozen=True):
    """One entry of a cached AI selection."""

    title: str
    vault: str
    confidence: str
    reason: str


class CachedSelection(Struct, frozen=True):
    """The last AI selection, with what has to be unchanged for it to hold again (rules: deeplore 4.7).

    `candidates` are the composite ids (`vault:title` in lower case) that it was made among.
    """

    chat_hash: str
    manifest_hash: str
    line_count: int
    prefix_hash: str
    picks: tuple[CachedPick, ...]
    candidates: frozenset[str]
    names_version: str


class AiState(Struct, frozen=True):
    """What AI selection carries on: its cache, the circuit breaker, the throttle, and counts.

    Times are ms of the run's clock; None means never.
    """

    cache: CachedSelection | None = None
    failures: int = 0
    last_failure_ms: int | None = None
    probe_ms: int | None = None
    last_success_ms: int | None = None
    calls: int = 0
    cached_hits: int = 0


class Tally(Struct, frozen=True):
    """What one generation adds to the counts that no generation reads again.

    `place` is where in the chat it stood (its swipe key), `chat_length` how many messages it saw, `clock_ms` when it
    was. `matched` are the tracker keys that reached the budget, `injected` those that went in, both in order.
    """

    place: str
    chat_length: int
    clock_ms: int
    matched: tuple[str, ...] = ()
    injected: tuple[str, ...] = ()


class EngineState(Struct, frozen=True):
    """Everything that the engine carries from one generation of a chat to the next; a run returns a new one.

    `random_state` is where the chat's stream of random numbers stands; a chat begins with its seed. `chat_counts`,
    `swipe_keys` and `analytics` are only counted up (see `Tally`): no decision reads them.
    """

    random_state: int = 0

    counters: Counters = field(default_factory=Counters)
    snapshot: Snapshot | None = None
    injection_log: tuple[LoggedGeneration, ...] = ()
    chat_counts: Mapping[str, int] = {}
    swipe_keys: Mapping[str, tuple[str, ...]] = {}
    analytics: Mapping[str, Usage] = {}
    prompts: tuple[Prompt, ...] = ()
    warning_ratio: float = 0.0
    ai: AiState = field(default_factory=AiState)
