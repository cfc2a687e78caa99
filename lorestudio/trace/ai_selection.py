"""How the AI's part of one run or of many went: replies matched to entries, the breaker, short lines and totals."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from msgspec import Struct

from lorestudio.domain.javascript import Json
from lorestudio.domain.json_text import items_in, objects_in
from lorestudio.trace.model import (
    AiCall,
    AiRecord,
    Breaker,
    BreakerState,
    ItemResult,
    ReplyItem,
    StageRecord,
    StageStatus,
    TitleMatch,
    Trace,
)
from lorestudio.trace.vocabulary import NoChoice, Tone
from lorestudio.trace.wording import fill, joined, number_words, one_line, plural, quoted

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
    milliseconds = (breaker.next_probe_ms or 0) - clock_ms
    wait = "" if breaker.next_probe_ms is None else f"{max(1, round(milliseconds / 1000))} s"
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


_SEARCH: Final = "search"
_PREFILTER: Final = "prefilter"
"""The kinds of requests that choose entries, and categories of them before."""

_INSTEAD: Final = "[; instead: {fallback!w}]"


def selection_of(trace: Trace) -> StageRecord | None:
    """The stage in which a model chooses entries, None where the run has none."""
    return trace.stage(trace.words.asks.get(_SEARCH, ""))


def failure_of(trace: Trace) -> str:
    """Why a question of this run has no good answer, "" where each has one."""
    errors = (*(call.error for call in trace.ai_calls), trace.facts.get("ai_error"))
    return next((str(error) for error in errors if error), "")


def commonest(failures: Sequence[str]) -> str:
    """What most of these say, in one line, for the end of a sentence."""
    return one_line(Counter(failures).most_common(1)[0][0]).rstrip(".")


class AiLine(Struct, frozen=True):
    """One line about a question to the model, and how it is meant."""

    text: str
    tone: Tone = Tone.NEUTRAL


def ai_lines(trace: Trace) -> tuple[AiLine, ...]:
    """What the model was asked and what it chose, one line a question; nothing for a run that asks no model.

    `AI: 6 of 14 chosen (offline stand-in)`, `AI: 5 of 9 chosen, from the cache: ...`, `AI failed: ...; instead: ...`.
    Further lines name titles that were only similar, and the circuit breaker where it is or was not simply closed.
    """
    before = trace.stage(trace.words.asks.get(_PREFILTER, ""))
    lines = [] if before is None else [_prefilter(trace, before)]
    record = selection_of(trace)
    if record is not None:
        lines += [_selection(trace, record), _similar(record), _breaker(trace, record)]
    return tuple(line for line in lines if line is not None)


def _prefilter(trace: Trace, record: StageRecord) -> AiLine | None:
    """None where it is off or had no reason to ask."""
    if record.status is StageStatus.FAILED:
        return AiLine(f"Category prefilter failed: {one_line(record.error)}", Tone.ERROR)
    if record.status is StageStatus.RAN:
        return AiLine(f"Category prefilter: {len(record.left):,} of {len(record.entered):,} go on")
    asked = any(call.kind == _PREFILTER for call in trace.ai_calls)
    why = _text(record.details, "why")
    return AiLine(f"Category prefilter not used: {one_line(why)}", Tone.WARNING) if asked else None


def _selection(trace: Trace, record: StageRecord) -> AiLine:
    details = record.details
    instead = fill(_INSTEAD, details) or ""
    if record.status is StageStatus.FAILED:
        return AiLine(f"AI selection failed: {one_line(record.error)}", Tone.ERROR)
    no_choice = trace.words.no_choice.get(record.note)
    if no_choice is NoChoice.NOT_OFFERED:
        return AiLine("AI not asked: there was nothing to offer")
    if no_choice is NoChoice.FAILED:
        return AiLine(f"AI failed: {one_line(_text(details, 'error')).rstrip('.')}{instead}", Tone.ERROR)
    who = _who(trace, details)
    if no_choice is NoChoice.EMPTY and not who:
        return AiLine(f"AI not asked: {_text(details, 'why')}{instead}")
    if no_choice is NoChoice.EMPTY:
        return AiLine(f"AI chose nothing{who}{instead}", Tone.WARNING)
    manifest = trace.stage(trace.words.offer_stage)
    offered = items_in(manifest.details.get("offered")) if manifest is not None else ()
    line = f"AI: {len(items_in(details.get('results'))):,} of {len(offered):,} chosen{who}"
    unknown = [quoted(str(title)) for title in items_in(details.get("unknown_titles"))]
    return AiLine(f"{line}; not in the list: {joined(unknown)}" if unknown else line)


def _similar(record: StageRecord) -> AiLine | None:
    """Whom the model meant by titles that no candidate has."""
    read = [
        f"{quoted(item.asked)} as {quoted(item.title)} ({alike_words(item.similarity)})"
        for item in (record.ai.items if record.ai is not None else ())
        if item.match is TitleMatch.FUZZY and item.result in (ItemResult.CHOSEN, ItemResult.BELOW_CONFIDENCE)
    ]
    return AiLine(f"AI's titles read: {joined(read)}") if read else None


def _breaker(trace: Trace, record: StageRecord) -> AiLine | None:
    quiet = Breaker()
    if record.ai is None or (record.ai.before == quiet and record.ai.after == quiet):
        return None
    return AiLine(f"AI circuit breaker: {breaker_change(record.ai, trace.clock_ms)}", Tone.WARNING)


def _who(trace: Trace, details: Mapping[str, Json]) -> str:
    """Who answered: the cache, or the source of the last question that has an answer; nothing where nobody did."""
    if details.get("cached") is True:
        return f", from the cache: {_text(details, 'why')}"
    answered = [call for call in trace.ai_calls if call.kind == _SEARCH and not call.error]
    return f" ({answered[-1].source})" if answered else ""


class AiTotals(Struct, frozen=True):
    """Many runs together. `runs` came to the AI selection; `answered` counts answers by who gave them, `cached` the
    selections taken from the cache, `failed` the runs that fell back because there was no usable answer, `empty` those
    in which the model chose nothing. Tokens are those reported for questions that were put now, at a cost, and for
    `unreported` of them nothing was.
    """

    runs: int = 0
    answered: Mapping[str, int] = {}
    cached: int = 0
    failed: int = 0
    empty: int = 0
    sent: int = 0
    received: int = 0
    unreported: int = 0

    @property
    def sentence(self) -> str:
        """For people; empty where no run asks a model."""
        if not self.runs:
            return ""
        calls = sum(self.answered.values())
        who = joined([f"{source} ({count:,})" for source, count in self.answered.items()])
        parts = [
            plural(calls, "no question was answered|# question answered|# questions answered")
            + (f" by {who}" if who else ""),
            plural(self.cached, "no selection from the cache|# selection from the cache|# selections from the cache"),
            plural(self.failed, "no failure|# failure|# failures"),
        ]
        if self.empty:
            parts.append(plural(self.empty, "# empty choice|# empty choices"))
        tokens = f"Tokens spent: {number_words(self.sent)} sent, {number_words(self.received)} received."
        if self.unreported:
            tokens += f" Of {plural(self.unreported, '# answer|# answers')} the provider did not say how many."
        return f"AI selection: {'; '.join(parts)}. {tokens}"


def ai_totals(traces: Iterable[Trace]) -> AiTotals:
    """The numbers of these runs together."""
    records = []
    outcomes: Counter[NoChoice | None] = Counter()
    calls: list[AiCall] = []
    for trace in traces:
        record = selection_of(trace)
        if record is not None:
            records.append(record)
            outcomes[trace.words.no_choice.get(record.note)] += 1
        calls += trace.ai_calls
    live = [call.details for call in calls if call.details.get("live") is True]
    return AiTotals(
        runs=len(records),
        answered=dict(Counter(call.source for call in calls if not call.error).most_common()),
        cached=sum(record.details.get("cached") is True for record in records),
        failed=outcomes[NoChoice.FAILED],
        empty=outcomes[NoChoice.EMPTY],
        sent=sum(_count(details, "input_tokens") for details in live),
        received=sum(_count(details, "output_tokens") for details in live),
        unreported=sum(_count(details, "input_tokens") == 0 for details in live),
    )


def switch_effects(traces: Iterable[Trace]) -> Mapping[str, int]:
    """In how many of these runs each fixed behaviour switch changed something, in the order of the first time."""
    found: Counter[str] = Counter()
    for trace in traces:
        found.update(list(dict.fromkeys(str(item["switch"]) for item in objects_in(trace.facts.get("switches")))))
    return dict(found)


def _text(details: Mapping[str, Json], name: str) -> str:
    value = details.get(name)
    return value if isinstance(value, str) and value else "no reason given"


def _count(details: Mapping[str, Json], name: str) -> int:
    value = details.get(name)
    return value if isinstance(value, int) else 0
