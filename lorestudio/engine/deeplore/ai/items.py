"""Each item of a reply on record: what was asked for, what it was matched to, and what became of it.

Source: spec: deeplore-engine 4.7 "Result matching", deeplore-ai-and-tools 1.6.3, 1.6.4.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, cast

from lorestudio.domain.javascript import Json
from lorestudio.domain.state import CachedPick
from lorestudio.engine.deeplore.ai.replies import Pick, usable_pick
from lorestudio.engine.deeplore.ai.titles import Fit, Matching, Selected, above
from lorestudio.llm.json_text import spell
from lorestudio.trace.model import ItemResult, ReplyItem, TitleMatch

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


def unmatched_items(items: Sequence[Any]) -> tuple[ReplyItem, ...]:
    """The items of a reply that was given up, because none of them names anything."""
    return tuple(unreadable(item) for item in items)


def cached_items(picks: Sequence[CachedPick], present: Sequence[Selected]) -> tuple[ReplyItem, ...]:
    """The items of a remembered choice; `present` are those of them that are candidates now."""
    found = {(choice.entry.vault, choice.entry.title.lower()): choice.entry for choice in present}
    items: list[ReplyItem] = []
    for pick in picks:
        entry = found.get((pick.vault, pick.title.lower()))
        items.append(
            ReplyItem(
                pick.title,
                TitleMatch.NOT_FOUND if entry is None else TitleMatch.CACHED,
                ItemResult.DROPPED if entry is None else ItemResult.CHOSEN,
                () if entry is None else (entry.id,),
                "" if entry is None else entry.title,
                0.0 if entry is None else 1.0,
                pick.confidence,
                pick.reason,
            )
        )
    return tuple(items)


def _item(pick: Pick, fit: Fit, threshold: str, *, counts: bool) -> ReplyItem:
    match = TitleMatch.EXACT if fit.exact else TitleMatch.FUZZY if fit.entries else TitleMatch.NOT_FOUND
    return ReplyItem(
        pick.title,
        match,
        _result(pick, fit, threshold, counts=counts),
        tuple(entry.id for entry in fit.entries),
        fit.nearest,
        fit.similarity,
        pick.confidence,
        pick.reason,
    )


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
