"""When an earlier AI selection still holds, and names whose mention makes it void (rules: deeplore 4.7 "Cache")."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from msgspec import Struct

from lorestudio.domain.entry import Entry
from lorestudio.domain.javascript import Json, length, simple_hash, to_string, trim
from lorestudio.domain.state import CachedPick, CachedSelection
from lorestudio.settings.deeplore import DeepLoreSettings
from lorestudio.systems.deeplore.ai.replies import Selected
from lorestudio.systems.deeplore.matching.keys import lower_variants


class CacheQuestion(Struct, frozen=True):
    """What an AI selection depends on, as the cache compares it."""

    chat_hash: str
    manifest_hash: str
    lines: tuple[str, ...]
    candidates: frozenset[str]
    names_version: str

    @property
    def whole_hash(self) -> str:
        """Hash of all non-blank lines."""
        return simple_hash("\n".join(self.lines))


class Lookup(Struct, frozen=True):
    """The outcome of a look into the cache: the tier that hit, 0 for none, and why."""

    tier: int
    why: str

    @property
    def hit(self) -> bool:
        """Whether the cached selection answers the question."""
        return self.tier > 0


def composite_id(entry: Entry) -> str:
    """How the cache names an entry."""
    return f"{entry.vault}:{entry.title.lower()}"


def question(
    transcript: str, manifest: str, candidates: Iterable[Entry], names_version: str, settings: DeepLoreSettings
) -> CacheQuestion:
    """The question that this generation would put to the model."""
    return CacheQuestion(
        simple_hash(transcript),
        simple_hash(_settings_key(settings) + manifest),
        tuple(line for line in transcript.split("\n") if trim(line)),
        frozenset(composite_id(entry) for entry in candidates),
        names_version,
    )


def _settings_key(settings: DeepLoreSettings) -> str:
    connection: tuple[Json, ...] = ()
    if settings.rule_set.cache_connection:
        connection = (settings.ai_search_proxy_url, settings.ai_search_max_tokens)
    return "|".join(
        to_string(value)
        for value in (
            "v2",
            settings.ai_search_mode,
            settings.ai_search_scan_depth,
            settings.max_entries,
            settings.unlimited_entries,
            simple_hash(settings.ai_search_system_prompt),
            settings.ai_search_connection_mode,
            settings.ai_search_profile_id,
            settings.ai_search_model,
            settings.ai_confidence_threshold or "low",
            settings.manifest_summary_mode or "prefer_summary",
            settings.ai_search_manifest_summary_length or 600,
            *connection,
        )
    )


def look_up(cached: CachedSelection | None, asked: CacheQuestion, names: Iterable[str], mode: str) -> Lookup:
    """Whether the cached selection answers the question. The tiers are tried in order, the first hit wins."""
    if cached is None:
        return Lookup(0, "nothing is cached yet")
    if cached.manifest_hash != asked.manifest_hash:
        return Lookup(0, "the candidates or the settings changed")
    if cached.chat_hash == asked.chat_hash and cached.line_count > 0:
        return Lookup(1, "the same conversation and candidates")
    if mode != "ai-only" and asked.candidates - {":"} <= cached.candidates:
        return Lookup(2, "the same candidates, whatever was said")
    if cached.line_count <= 0:
        return Lookup(0, "the cached selection had no conversation")
    return _by_lines(cached, asked, names)


def _by_lines(cached: CachedSelection, asked: CacheQuestion, names: Iterable[str]) -> Lookup:
    """Tiers 3 and 4: the conversation is shorter or the same, or has only grown by lines that name nothing."""
    count = cached.line_count
    if len(asked.lines) <= count:
        same = cached.prefix_hash in ("", asked.whole_hash)
        return Lookup(3, "no new lines in the conversation") if same else Lookup(0, "the conversation is another one")
    if cached.names_version != asked.names_version:
        return Lookup(0, "the vault changed")
    if simple_hash("\n".join(asked.lines[:count])) != cached.prefix_hash:
        return Lookup(0, "earlier lines changed or left the window")
    name = mentioned(names, " ".join(asked.lines[count:]).lower())
    return Lookup(4, "the new lines name no entry") if name is None else Lookup(0, f"the new lines name “{name}”")


def remember(asked: CacheQuestion, selected: Sequence[Selected]) -> CachedSelection:
    """The record of a selection just made."""
    picks = tuple(
        CachedPick(choice.entry.title, choice.entry.vault, choice.confidence, choice.reason) for choice in selected
    )
    return CachedSelection(
        asked.chat_hash,
        asked.manifest_hash,
        len(asked.lines),
        asked.whole_hash,
        picks,
        asked.candidates,
        asked.names_version,
    )


def replay(cached: CachedSelection, candidates: Sequence[Entry]) -> tuple[Selected, ...]:
    """The cached picks among the present candidates, in the cached order; what is no candidate is dropped."""
    present = {composite_id(entry): entry for entry in candidates}
    found = ((present.get(f"{pick.vault}:{pick.title.lower()}"), pick) for pick in cached.picks)
    return tuple(Selected(entry, pick.confidence, pick.reason) for entry, pick in found if entry is not None)


_WORD: Final = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_")


def entity_names(entries: Iterable[Entry]) -> frozenset[str]:
    """Lower-cased titles, and keys of two code units and more, of all entries of the index."""
    names: set[str] = set()
    for entry in entries:
        if entry.title:
            names.add(entry.title.lower())
        names.update(key.lower() for key in entry.keys if length(key) >= 2)
    return frozenset(names)


def mentioned(names: Iterable[str], text: str) -> str | None:
    """The first name that stands in the text between ASCII word boundaries, None for none."""
    searched = lower_variants(text)
    return next((name for name in sorted(names) if _stands(lower_variants(name), searched)), None)


def _stands(name: str, text: str) -> bool:
    start = text.find(name)
    while start >= 0:
        if _boundary(text, start) and _boundary(text, start + len(name)):
            return True
        start = text.find(name, start + 1)
    return False


def _boundary(text: str, place: int) -> bool:
    before = place > 0 and text[place - 1] in _WORD
    after = place < len(text) and text[place] in _WORD
    return before != after
