"""Words for what stands around a question to a model: what the reply's items were matched to, and the breaker."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from lorestudio.domain.javascript import Json
from lorestudio.trace.model import AiRecord, Breaker, BreakerState, ItemResult, ReplyItem, TitleMatch
from lorestudio.trace.wording import number_words, plural, quoted

RESULT_WORDS: Final[Mapping[ItemResult, str]] = {
    ItemResult.CHOSEN: "chosen",
    ItemResult.BELOW_CONFIDENCE: "not confident enough",
    ItemResult.REPEATED: "named again below",
    ItemResult.DOUBLE: "chosen already",
    ItemResult.DROPPED: "passed over",
}
"""What became of an item of a reply, in words."""


WORTH_NAMING: Final = 0.3
"""Similarity from which the nearest title may be what the model meant; below it is there by chance."""


def alike_words(similarity: float) -> str:
    """`71 % alike`."""
    return f"{number_words(round(100 * similarity))} % alike"


def match_words(item: ReplyItem) -> str:
    """How an item found its entries, or why it found none."""
    match item.match:
        case TitleMatch.EXACT:
            return "exact title"
        case TitleMatch.FUZZY:
            return f"similar title, {alike_words(item.similarity)}"
        case TitleMatch.CACHED:
            return "remembered choice"
        case TitleMatch.UNREADABLE:
            return "names no entry"
    if item.similarity < WORTH_NAMING:
        return "not found"
    return f"not found; nearest is {quoted(item.title)} ({alike_words(item.similarity)})"


def cache_words(details: Mapping[str, Json]) -> str:
    """Whether a stage's question was answered from the cache, and why so; "" for a stage that has none."""
    why = details.get("why")
    if details.get("cached") is True:
        return f"hit in tier {details.get('tier', '?')}: {why or 'no reason given'}"
    return f"miss: {why}" if "cached" in details and why else ""


def breaker_words(breaker: Breaker, clock_ms: int) -> str:
    """The circuit breaker's state, and when the next call may go out as seen at `clock_ms`."""
    if breaker.state is BreakerState.CLOSED:
        return "closed" + (f", {_row(breaker)}" if breaker.failures else "")
    wait = "" if breaker.next_probe_ms is None else _wait(breaker.next_probe_ms - clock_ms)
    if breaker.state is BreakerState.OPEN:
        return f"open, {_row(breaker)}; one call may probe again in {wait}"
    if breaker.state is BreakerState.HALF_OPEN:
        return f"half-open, {_row(breaker)}; the next call goes out as a probe"
    return f"half-open, {_row(breaker)}; a probe is without a result, another may go out in {wait}"


def breaker_change(record: AiRecord, clock_ms: int) -> str:
    """The breaker before and after a stage, said once where nothing changed."""
    before, after = breaker_words(record.before, clock_ms), breaker_words(record.after, clock_ms)
    return before if before == after else f"{before}. Afterwards: {after}"


def _row(breaker: Breaker) -> str:
    return "after " + plural(breaker.failures, "# failure|# failures in a row")


def _wait(milliseconds: int) -> str:
    return f"{max(1, round(milliseconds / 1000))} s"
