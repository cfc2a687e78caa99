"""What a model's reply means: the list in it, its titles matched to candidates, and how long a selection holds.

Each item of a reply is put on record: what was asked for, what it was matched to, and what became of it. The mention of
a name can make an earlier selection void (rules: deeplore 4.7 "Cache").
Rules: deeplore 4.7 "Result matching", 4.8; deeplore-tools 1.6.3, 1.6.4.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, cast

from msgspec import Struct

from lorestudio.domain.entry import Entry
from lorestudio.domain.javascript import WORD, Json, code_units, key_order, length, simple_hash, to_string, trim, truthy
from lorestudio.domain.json_text import spell, values_in
from lorestudio.domain.records import replace
from lorestudio.domain.state import CachedPick, CachedSelection
from lorestudio.settings.deeplore import DeepLoreSettings
from lorestudio.systems.deeplore.matching.keys import lower_variants
from lorestudio.trace.model import ItemResult, ReplyItem, TitleMatch

_PREFERRED: Final = ("results", "entries", "titles", "selected")


def extract_list(value: Json, *, strict: bool = False) -> list[Any] | None:
    """The list that the reply means, None where it means none. An empty list is an answer.

    With `strict` only arrays are looked for, as 2.6 does (rules: deeplore-newer 1.10).
    """
    if strict:
        return _strict(value)
    if not truthy(value):
        return None
    if isinstance(value, str):
        return next((found for each in values_in(value) if (found := extract_list(each)) is not None), None)
    if isinstance(value, list):
        return value if _usable(value) else None
    if isinstance(value, Mapping):
        return _from_object(value)
    return None


def _strict(value: Json) -> list[Any] | None:
    if isinstance(value, list):
        return value
    text = value if isinstance(value, str) else spell(value)
    found = (each for each in values_in(text, arrays=True) if isinstance(each, list) and _usable(each))
    return next(found, None)


def _usable(items: list[Any]) -> bool:
    """Empty, or with at least one text or titled object in it."""
    return not items or any(
        isinstance(item, str) or (isinstance(item, Mapping) and (truthy(item.get("title")) or truthy(item.get("name"))))
        for item in items
    )


def _from_object(value: Mapping[str, Any]) -> list[Any] | None:
    text = _enveloped(value)
    if text:
        found = extract_list(text)
        if found is not None:
            return found
    for key in _PREFERRED:
        items = value.get(key)
        if isinstance(items, list) and _usable(items):
            return items
    for key in key_order(value):
        items = value[key]
        if isinstance(items, list) and _usable(items):
            return items
    return None


def _enveloped(value: Mapping[str, Any]) -> str:
    """Model text inside a provider's own response object."""
    candidates = value.get("candidates")
    if isinstance(candidates, list):
        texts = [
            part["text"]
            for candidate in candidates
            if isinstance(candidate, Mapping) and isinstance(candidate.get("content"), Mapping)
            if isinstance(parts := candidate["content"].get("parts"), list)
            for part in parts
            if isinstance(part, Mapping) and isinstance(part.get("text"), str)
        ]
        if texts:
            return "\n".join(texts)
    for key in ("text", "output_text"):
        text = value.get(key)
        if isinstance(text, str) and trim(text):
            return text
    content = value.get("content")
    if isinstance(content, list):
        return "\n".join(
            part["text"] for part in content if isinstance(part, Mapping) and isinstance(part.get("text"), str)
        )
    return ""


class Pick(Struct, frozen=True):
    """One entry that the model named."""

    title: str
    confidence: str
    reason: str


def normalize(items: list[Any]) -> list[Pick]:
    """The usable items of an answer; what cannot name an entry is dropped."""
    return [pick for item in items if (pick := usable_pick(item)) is not None]


def usable_pick(item: object) -> Pick | None:
    """The entry that an item names, None where it names none."""
    fields = item if isinstance(item, Mapping) else {"title": item}
    title = fields.get("title") if truthy(fields.get("title")) else fields.get("name")
    if not isinstance(title, str) or not trim(title) or title in {"null", "undefined"}:
        return None
    confidence, reason = fields.get("confidence"), fields.get("reason")
    confidence = confidence if confidence in ("high", "medium", "low") else "medium"
    return Pick(title, confidence, reason if isinstance(reason, str) else "AI search")


SIMILAR_ENOUGH = 0.6
_ORDER = {"high": 0, "medium": 1, "low": 2}


class Selected(Struct, frozen=True):
    """A candidate that the model chose; `similarity` is 1 for the exact title, `asked` the title as it was written."""

    entry: Entry
    confidence: str
    reason: str
    similarity: float = 1.0
    exact: bool = True
    asked: str = ""


class Fit(Struct, frozen=True):
    """What a title was found to mean.

    `entries` are those it stands for, `nearest` the most similar candidate title where none has the exact one. `taken`:
    another title had brought that entry already.
    """

    entries: tuple[Entry, ...] = ()
    nearest: str = ""
    similarity: float = 0.0
    exact: bool = False
    taken: bool = False


class Matching(Struct, frozen=True):
    """The chosen candidates, surest first, the titles that fit no candidate, and each lower-cased title's fit."""

    selected: tuple[Selected, ...]
    unknown: tuple[str, ...]
    fits: Mapping[str, Fit] = {}


def match_titles(picks: Sequence[Pick], candidates: Sequence[Entry]) -> Matching:
    """Exact titles first, in candidate order, then similar ones; case does not count.

    Where the model names a title twice, its last word counts.
    """
    wanted: dict[str, Pick] = {pick.title.lower(): pick for pick in picks}
    selected = [
        Selected(entry, pick.confidence, pick.reason or "AI search", asked=pick.title)
        for entry in candidates
        if (pick := wanted.get(entry.title.lower())) is not None
    ]
    exact: dict[str, tuple[Entry, ...]] = {}
    for choice in selected:
        title = choice.entry.title.lower()
        exact[title] = (*exact.get(title, ()), choice.entry)
    used = set(exact)
    by_title = {entry.title.lower(): entry for entry in candidates}
    unknown: list[str] = []
    fits: dict[str, Fit] = {}
    for title, pick in wanted.items():
        if title in exact:
            fits[title] = Fit(exact[title], exact[title][0].title, 1.0, exact=True)
            continue
        near = nearest(pick.title, (entry.title for entry in candidates))
        if near is None or near[1] < SIMILAR_ENOUGH:
            unknown.append(pick.title)
            fits[title] = Fit((), *(near or ()))
            continue
        found, similarity = near
        entry, taken = by_title[found.lower()], found.lower() in used
        fits[title] = Fit((entry,), found, similarity, taken=taken)
        if not taken:
            used.add(found.lower())
            reason = pick.reason or "AI search (fuzzy)"
            selected.append(Selected(entry, pick.confidence, reason, similarity, exact=False, asked=pick.title))
    ordered = tuple(sorted(selected, key=lambda choice: _ORDER[choice.confidence]))
    return Matching(ordered, tuple(unknown), fits)


def above(threshold: str, confidence: str) -> bool:
    """Whether a confidence passes the threshold; any threshold but low and high lets high and medium pass."""
    if (threshold or "low") == "low":
        return True
    return confidence == "high" or (threshold != "high" and confidence == "medium")


def nearest(title: str, candidates: Iterable[str]) -> tuple[str, float] | None:
    """The first candidate with the greatest share of common letter pairs, None where none has any in common."""
    wanted = _pairs(title)
    best: tuple[str, float] | None = None
    for candidate in candidates:
        pairs = _pairs(candidate)
        if not wanted or not pairs:
            continue
        similarity = 2 * len(wanted & pairs) / (len(wanted) + len(pairs))
        if similarity > (best[1] if best is not None else 0):
            best = candidate, similarity
    return best


def _pairs(text: str) -> set[bytes]:
    units = code_units(text.lower())
    return {units[place : place + 4] for place in range(0, len(units) - 2, 2)}


SHOWN: Final = 200
"""Characters of an item without a title that are put on record; the raw reply holds all of it."""


def reply_items(items: Sequence[Any], matching: Matching, threshold: str) -> tuple[ReplyItem, ...]:
    """The items of a reply in its order, those that name nothing included."""
    picks = [usable_pick(item) for item in items]
    counting = {pick.title.lower(): place for place, pick in enumerate(picks) if pick is not None}
    return tuple(
        unreadable(item)
        if pick is None
        else _item(pick, matching.fits[pick.title.lower()], threshold, counts=counting[pick.title.lower()] == place)
        for place, (item, pick) in enumerate(zip(items, picks, strict=True))
    )


def cached_items(picks: Sequence[CachedPick], present: Sequence[Selected]) -> tuple[ReplyItem, ...]:
    """The items of a remembered choice; `present` are those of them that are candidates now."""
    found = {(choice.entry.vault, choice.entry.title.lower()): choice.entry for choice in present}
    items: list[ReplyItem] = []
    for pick in picks:
        item = ReplyItem(
            pick.title, TitleMatch.NOT_FOUND, ItemResult.DROPPED, confidence=pick.confidence, reason=pick.reason
        )
        entry = found.get((pick.vault, pick.title.lower()))
        if entry is not None:
            item = replace(
                item, match=TitleMatch.CACHED, result=ItemResult.CHOSEN, entries=(entry.id,), title=entry.title,
                similarity=1.0,
            )  # fmt: skip
        items.append(item)
    return tuple(items)


def _item(pick: Pick, fit: Fit, threshold: str, *, counts: bool) -> ReplyItem:
    match = TitleMatch.EXACT if fit.exact else TitleMatch.FUZZY if fit.entries else TitleMatch.NOT_FOUND
    result, entries = _result(pick, fit, threshold, counts=counts), tuple(entry.id for entry in fit.entries)
    return ReplyItem(pick.title, match, result, entries, fit.nearest, fit.similarity, pick.confidence, pick.reason)


def _result(pick: Pick, fit: Fit, threshold: str, *, counts: bool) -> ItemResult:
    if not counts:
        return ItemResult.REPEATED
    if not fit.entries:
        return ItemResult.DROPPED
    if fit.taken:
        return ItemResult.DOUBLE
    return ItemResult.CHOSEN if above(threshold, pick.confidence) else ItemResult.BELOW_CONFIDENCE


def unreadable(item: object) -> ReplyItem:
    """An item that names nothing."""
    text = _spelled(item)
    asked = text if len(text) <= SHOWN else text[: SHOWN - 1] + "…"
    return ReplyItem(asked, TitleMatch.UNREADABLE, ItemResult.DROPPED)


def _spelled(item: object) -> str:
    try:
        return item if isinstance(item, str) else spell(cast("Json", item))
    except (ValueError, TypeError, RecursionError):  # a number that JSON has no word for, from a provider's own parser
        return repr(item)


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
    before = place > 0 and text[place - 1] in WORD
    after = place < len(text) and text[place] in WORD
    return before != after
