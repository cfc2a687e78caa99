"""The candidate manifest that the selecting model reads (rules: deeplore 4.5)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

from msgspec import Struct

from lorestudio.domain.entry import Entry, FieldDefinition
from lorestudio.domain.javascript import Json, head, to_string, trim
from lorestudio.domain.state import Counters
from lorestudio.settings.deeplore import DeepLoreSettings
from lorestudio.systems.deeplore.text import truncate_to_sentence, xml_escape
from lorestudio.vault.entries import NOT_IMPLEMENTED, WI_FIELDS

_DEFAULT_LENGTH = 600
_OF_WI: Final = frozenset((*WI_FIELDS, *NOT_IMPLEMENTED))
_STALE, _FREQUENT = " [STALE — consider refreshing]", " [FREQUENT — consider diversifying]"


class Manifest(Struct, frozen=True):
    """What is offered: the entries the model may choose, their text, and the header above it."""

    selectable: tuple[Entry, ...]
    text: str
    header: str


def is_forced(entry: Entry, *, bootstrapping: bool) -> bool:
    """Whether the entry goes in without being chosen: constants, and bootstrap entries while the chat is short."""
    return entry.constant or (bootstrapping and entry.bootstrap)


def build(
    candidates: Sequence[Entry],
    fields: Sequence[FieldDefinition],
    settings: DeepLoreSettings,
    counters: Counters,
    *,
    bootstrapping: bool,
    count_forced: bool = False,
) -> Manifest:
    """The manifest of the candidates; its text and header are empty when there is nothing to choose.

    The header counts everything that is not offered as always included, or with `count_forced` only what is.
    """
    forced = [entry for entry in candidates if is_forced(entry, bootstrapping=bootstrapping)]
    selectable = [entry for entry in candidates if not is_forced(entry, bootstrapping=bootstrapping)]
    if settings.manifest_summary_mode == "summary_only":
        selectable = [entry for entry in selectable if trim(entry.summary)]
    if not selectable:
        return Manifest((), "", "")
    labels = {field.name: field.label for field in fields}
    text = "\n".join(_block(entry, labels, settings, counters) for entry in selectable)
    included = len(forced) if count_forced else len(candidates) - len(selectable)
    return Manifest(tuple(selectable), text, _header(len(selectable), len(candidates), included, forced, settings))


def _block(entry: Entry, labels: Mapping[str, str], settings: DeepLoreSettings, counters: Counters) -> str:
    links = f" → {', '.join(entry.resolved_links)}" if entry.resolved_links else ""
    hint = _hint(entry, settings, counters)
    line = f"{entry.title} ({entry.tokens}tok){links}{hint}{_fields(_shown(entry, settings), labels)}"
    return f'<entry name="{xml_escape(entry.title)}">\n{line}\n{_description(entry, settings)}\n</entry>'


def _description(entry: Entry, settings: DeepLoreSettings) -> str:
    if settings.manifest_summary_mode != "content_only" and entry.summary:
        return entry.summary
    limit = settings.ai_search_manifest_summary_length or _DEFAULT_LENGTH
    return truncate_to_sentence(trim(re.sub(r"\n+", " ", head(entry.content, 3 * limit))), limit)


def _hint(entry: Entry, settings: DeepLoreSettings, counters: Counters) -> str:
    """Freshness marks, only while decay is on and anything has been tracked at all."""
    if not settings.decay_enabled or not counters.decay:
        return ""
    staleness = counters.decay.get(entry.tracker_key)
    if staleness is not None and staleness >= settings.decay_boost_threshold:
        return _STALE
    streak = counters.consecutive.get(entry.tracker_key)
    penalty = settings.decay_penalty_threshold
    return _FREQUENT if penalty > 0 and streak is not None and streak >= penalty else ""


def _shown(entry: Entry, settings: DeepLoreSettings) -> Mapping[str, Json]:
    """The fields that the model reads: all in 2.0.2, in 2.6 those that are listed, else all that World Info has not
    (rules: deeplore-newer 1.9).
    """
    values = entry.custom_fields
    if not settings.rule_set.manifest_fields or not values:
        return values
    listed = [trim(name) for name in settings.ai_manifest_include_fields.split(",") if trim(name)]
    return {name: value for name, value in values.items() if (name in listed if listed else name not in _OF_WI)}


def _fields(values: Mapping[str, Json], labels: Mapping[str, str]) -> str:
    pairs = [
        f"{labels.get(name) or name}: {_value(value)}"
        for name, value in values.items()
        if value is not None and value != "" and value not in ((), [])
    ]
    return f"\n[{' | '.join(pairs)}]" if pairs else ""


def _value(value: Json) -> str:
    return ", ".join(to_string(item) for item in value) if isinstance(value, list | tuple) else to_string(value)


def _header(offered: int, total: int, included: int, forced: Sequence[Entry], settings: DeepLoreSettings) -> str:
    lines = [f"Candidate entries: {offered} (from {total} total)."]
    if included > 0:
        tokens = sum(entry.tokens for entry in forced)
        lines.append(f"{included} entries are always included (~{tokens} tokens).")
    if not settings.unlimited_budget:
        lines.append(f"Token budget: ~{settings.max_tokens_budget} tokens total.")
    return "\n".join(lines)
