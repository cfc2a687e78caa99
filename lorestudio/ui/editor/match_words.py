"""What an entry's keys find in the chat that is shown, as one sentence. Qt is not needed here."""

from __future__ import annotations

from typing import Final

from lorestudio.studio.preview import EntryOutcome, WouldMatch
from lorestudio.ui.words import count, number, tr

_UNUSED: Final = {
    "constant": "The entry is constant, so its keys decide nothing.",
    "guide": "A guide never goes into the story, so its keys decide nothing.",
    "scan_depth_zero": "The scan depth is 0, so no message is searched for the keys.",
    "ai_only": "In AI-only mode the keys decide nothing.",
}


def match_words(match: WouldMatch) -> tuple[str, str]:
    """The sentence and its tone (good, neutral or warning). Messages are numbered as SillyTavern does, from 0."""
    if match.unused:
        return tr(_UNUSED.get(match.unused, "The keys decide nothing here.")), "neutral"
    found = [key for key in match.keys if key.found]
    hit = next((key for key in found if key.key == match.key), found[0] if found else None)
    if hit is None or hit.message is None:
        searched = count(match.messages, "message", "messages")
        return tr("Would not match: no key occurs in the last {messages}.", messages=searched), "neutral"
    where = tr("“{key}” in message #{message}", key=hit.key, message=number(hit.message))
    if hit.count > 1:
        where = tr("{where}, {times} in all", where=where, times=count(hit.count, "time", "times"))
    if match.missing_refine:
        return tr("Would not match: {where}, but none of the refine keys.", where=where), "warning"
    others = len(found) - 1
    more = tr(" and {others}", others=count(others, "other key", "other keys")) if others else ""
    return tr("Would match: {where}{more}.", where=where, more=more), "good"


def outcome_words(outcome: EntryOutcome) -> tuple[str, str]:
    """What another system than DeepLore would do with the entry, and the tone."""
    if outcome.goes_in:
        return tr("Would go in. {why}", why=outcome.sentence), "good"
    return tr("Would not go in. {why}", why=outcome.sentence), "neutral"
