"""When an earlier AI selection still holds (rules: deeplore 4.7 "Cache")."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from lorestudio.domain.entry import Entry
from lorestudio.domain.javascript import simple_hash, to_string, trim
from lorestudio.domain.state import CachedPick, CachedSelection
from lorestudio.settings.deeplore import DeepLoreSettings
from lorestudio.systems.deeplore.ai.names import mentioned
from lorestudio.systems.deeplore.ai.replies import Selected


@dataclass(frozen=True, slots=True)
class CacheQuestion:
    """What an AI selection depends on, as the cache compares it."""

    chat_hash: str
    manifest_hash: str
    lines: tuple[str, ...]
    candidates: frozenset[str]
    names_version: str

    @property
    def whole_hash(self) -> str:
        """Hash of all non-blank lines."""
        return _lines_hash(self.lines)


@dataclass(frozen=True, slots=True)
class Lookup:
    """The outcome of a look into the cache: the tier that hit, or why it missed."""

    hit: bool
    tier: int
    why: str


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
        )
    )


def _lines_hash(lines: Sequence[str]) -> str:
    return simple_hash("\n".join(lines))


def look_up(cached: CachedSelection | None, asked: CacheQuestion, names: Iterable[str], mode: str) -> Lookup:
    """Whether the cached selection answers the question. The tiers are tried in order, the first hit wins."""
    if cached is None:
        return _miss("nothing is cached yet")
    if cached.manifest_hash != asked.manifest_hash:
        return _miss("the candidates or the settings changed")
    if cached.chat_hash == asked.chat_hash and cached.line_count > 0:
        return _hit(1, "the same conversation and candidates")
    if mode != "ai-only" and asked.candidates - {":"} <= cached.candidates:
        return _hit(2, "the same candidates, whatever was said")
    if cached.line_count <= 0:
        return _miss("the cached selection had no conversation")
    return _by_lines(cached, asked, names)


def _by_lines(cached: CachedSelection, asked: CacheQuestion, names: Iterable[str]) -> Lookup:
    """Tiers 3 and 4: the conversation is shorter or the same, or has only grown by lines that name nothing."""
    count = cached.line_count
    if len(asked.lines) <= count:
        same = cached.prefix_hash in ("", asked.whole_hash)
        return _hit(3, "no new lines in the conversation") if same else _miss("the conversation is another one")
    if cached.names_version != asked.names_version:
        return _miss("the vault changed")
    if _lines_hash(asked.lines[:count]) != cached.prefix_hash:
        return _miss("earlier lines changed or left the window")
    name = mentioned(names, " ".join(asked.lines[count:]).lower())
    return _hit(4, "the new lines name no entry") if name is None else _miss(f"the new lines name “{name}”")


def _hit(tier: int, why: str) -> Lookup:
    return Lookup(hit=True, tier=tier, why=why)


def _miss(why: str) -> Lookup:
    return Lookup(hit=False, tier=0, why=why)


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
