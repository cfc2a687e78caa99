"""The questions that a run put to a model, as a person reads them: who answered, what came of it, and why not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from msgspec import Struct

from lorestudio.domain.javascript import Json
from lorestudio.trace.ai_selection import RESULT_WORDS, breaker_words, cache_words, match_words
from lorestudio.trace.explain import explain_reason, explain_stage
from lorestudio.trace.model import (
    AiCall,
    AiRecord,
    Breaker,
    ItemResult,
    Outcome,
    ReplyItem,
    StageRecord,
    StageStatus,
    Trace,
)
from lorestudio.trace.vocabulary import Tone
from lorestudio.trace.wording import fill
from lorestudio.ui.shell.words import count, number, tr
from lorestudio.ui.state.choices import system_title

STAGE_OF: Final[Mapping[str, str]] = {"search": "AI selection", "prefilter": "category prefilter"}
"""The stage that puts a kind of question."""

TITLES: Final[Mapping[str, str]] = {
    "search": "Selection of entries",
    "prefilter": "Selection of categories",
    "embedding": "Vectors to compare by",
}


class CallFact(Struct, frozen=True):
    """One line about a call; `tone` is good, neutral, warning or error."""

    name: str
    value: str
    tone: str = "neutral"


_TONES: Final[Mapping[ItemResult, str]] = {
    ItemResult.CHOSEN: "good",
    ItemResult.BELOW_CONFIDENCE: "warning",
    ItemResult.REPEATED: "neutral",
    ItemResult.DOUBLE: "neutral",
    ItemResult.DROPPED: "error",
}


class ChosenItem(Struct, frozen=True):
    """What became of one item of a reply.

    `asked` is the title as the model wrote it, "" where the trace does not tell. `matched` are the titles that it was
    matched to, each with its entry, or with None for a category; `how` says by what.
    """

    asked: str
    matched: tuple[tuple[str, int | None], ...]
    how: str
    confidence: str
    reason: str
    result: str
    tone: str = "good"


def call_title(call: AiCall) -> str:
    """What a call was for."""
    return tr(TITLES.get(call.kind, call.kind))


def stage_failure(record: StageRecord, trace: Trace) -> str:
    """What went wrong in a stage and what was taken instead, "" where nothing did."""
    if record.status is StageStatus.FAILED:
        return explain_stage(record, trace)
    if record.note:
        explanation = explain_reason(record.note, record.details, trace)
        if explanation.tone is Tone.ERROR:
            return explanation.sentence
    failed = next((call for call in trace.ai_calls if call.error and STAGE_OF.get(call.kind) == record.name), None)
    if failed is None:
        return ""
    return tr("The question failed: {error}. The stage did without.", error=failed.error.rstrip("."))


def failures(trace: Trace) -> tuple[tuple[str, str], ...]:
    """The stages that failed, each with what went wrong."""
    found = ((record.name, stage_failure(record, trace)) for record in trace.stages)
    return tuple((name, sentence) for name, sentence in found if sentence)


def switch_lines(trace: Trace, titles: Mapping[str, str]) -> tuple[str, ...]:
    """Where a fixed behaviour switch changed the outcome; `titles` are those of the switches by name."""
    noted = trace.facts.get("switches")
    lines: dict[str, None] = {}
    for item in noted if isinstance(noted, Sequence) and not isinstance(noted, str) else ():
        if isinstance(item, Mapping):
            name = str(item.get("switch", ""))
            text = tr("{stage}: {effect} ({switch}).")
            stage, effect = item.get("stage", ""), item.get("effect", "")
            lines[text.format(stage=stage, effect=effect, switch=titles.get(name, name))] = None
    return tuple(lines)


def call_facts(call: AiCall, record: StageRecord | None, clock_ms: int) -> tuple[CallFact, ...]:
    """Who answered, how long it took, what it cost, and what was done about it."""
    given, taken = call.details.get("input_tokens"), call.details.get("output_tokens")
    reported = isinstance(given, int) and isinstance(taken, int) and (given or taken)
    tokens = tr("{given} sent, {taken} received", given=number(_int(given)), taken=number(_int(taken)))
    facts = [
        CallFact(tr("Answered by"), call.source or tr("nobody")),
        CallFact(tr("Model"), call.model or _no_model(call.source)),
        CallFact(tr("Took"), duration_words(call.duration_ms)),
        CallFact(tr("Tokens"), tokens if reported else tr("not reported")),
    ]
    if call.max_tokens:  # vectors are no text
        facts += [
            CallFact(tr("Reply limit"), count(call.max_tokens, "token", "tokens")),
            CallFact(tr("Asked for JSON"), tr("with a schema") if call.json_schema else tr("in words")),
        ]
    if call.details.get("merged_into_user") is True:
        facts.append(CallFact(tr("Sent as"), tr("one user message, instructions first")))
    notes = call.details.get("notes")
    if isinstance(notes, Sequence) and not isinstance(notes, str):
        facts += [CallFact(tr("Note"), str(note)) for note in notes]
    if call.error:
        facts.append(CallFact(tr("Error"), call.error, "error"))
    if record is not None:
        facts += stage_facts(record, clock_ms, shown=call.error)
    return tuple(facts)


def stage_facts(record: StageRecord, clock_ms: int, *, shown: str = "") -> tuple[CallFact, ...]:
    """Cache, circuit breaker, error and fallback of the stage that asks. `shown` is an error that was said already."""
    details = record.details
    facts: list[CallFact] = []
    cache = cache_words(details)
    if cache:
        facts.append(CallFact(tr("Cache"), tr(cache), "good" if details.get("cached") is True else "neutral"))
    elif details.get("why"):
        facts.append(CallFact(tr("Why"), str(details["why"])))
    if record.ai is not None:
        facts += _breaker_facts(record.ai, clock_ms)
    error = str(details.get("error") or record.error or "")
    if error and error != shown:
        facts.append(CallFact(tr("Error"), error, "error"))
    if details.get("fallback"):
        facts.append(
            CallFact(tr("Taken instead"), fill("{fallback!w}", details) or str(details["fallback"]), "warning")
        )
    return tuple(facts)


def choices(trace: Trace, record: StageRecord) -> tuple[ChosenItem, ...]:
    """What the items of a reply, or of a remembered choice, were matched to, in their order."""
    return tuple(_choice(trace, item) for item in record.ai.items) if record.ai is not None else ()


def _choice(trace: Trace, item: ReplyItem) -> ChosenItem:
    entries: tuple[tuple[str, int | None], ...] = tuple((_title(trace, entry, item), entry) for entry in item.entries)
    if not entries and item.title and item.result is ItemResult.CHOSEN:
        entries = ((item.title, None),)
    result, tone = tr(RESULT_WORDS[item.result]), _TONES[item.result]
    return ChosenItem(item.asked, entries, tr(match_words(item)), item.confidence, item.reason, result, tone)


def dropped_categories(record: StageRecord) -> tuple[str, ...]:
    """The categories that a prefilter left out, with how many entries each."""
    gone: dict[str, int] = {}
    for verdict in record.with_outcome(Outcome.REMOVED):
        name = str(verdict.details.get("category", ""))
        gone[name] = gone.get(name, 0) + 1
    return tuple(f"{name} ({count(amount, 'entry', 'entries')})" for name, amount in gone.items())


def why_no_call(trace: Trace) -> str:
    """Why a run put no question to anybody."""
    if trace.skip_reason:
        return explain_reason(trace.skip_reason, {}, trace).sentence
    record = trace.stage(STAGE_OF["search"])
    if record is None:
        if not trace.words.asks:
            return tr("{system} has no AI selection.", system=system_title(trace.system))
        if trace.mode == "keywords-only":
            return tr("In keywords-only mode no model is asked. Choose another mode above the chat.")
        return tr("The run ended before the AI selection.")
    failure = stage_failure(record, trace)
    if failure:
        return failure
    if record.details.get("cached") is True:
        return tr("The cache held an answer, so nobody was asked: {why}.", why=record.details.get("why", ""))
    if record.note:
        return explain_reason(record.note, record.details, trace).sentence
    why = record.details.get("why")
    return tr("Nobody was asked: {why}.", why=why) if why else explain_stage(record, trace)


def duration_words(milliseconds: float) -> str:
    """`12 ms`, `3.4 s`."""
    if milliseconds < 1000:
        return tr("{amount} ms", amount=number(round(milliseconds, 1 if milliseconds < 10 else 0)))
    return tr("{amount:.1f} s", amount=milliseconds / 1000)


def _no_model(source: str) -> str:
    return tr("none: words are compared on this computer") if "stand-in" in source else tr("not named")


def _breaker_facts(ai: AiRecord, clock_ms: int) -> list[CallFact]:
    """The circuit breaker before and after a stage, in one line where nothing changed."""
    facts = [
        CallFact(name, tr(breaker_words(breaker, clock_ms)), "neutral" if breaker == Breaker() else "warning")
        for name, breaker in ((tr("Breaker before"), ai.before), (tr("Breaker after"), ai.after))
    ]
    if ai.before != ai.after:
        return facts
    return [CallFact(tr("Circuit breaker"), facts[0].value, facts[0].tone)]


def _title(trace: Trace, entry: int, item: ReplyItem | None = None) -> str:
    """The entry's title, with its vault where an item found several of the same title."""
    ref = trace.entries.get(entry)
    if ref is None:
        return item.title if item is not None else tr("entry {entry}", entry=entry)
    return ref.title if item is None or len(item.entries) < 2 else f"{ref.title} ({ref.vault})"


def _int(value: Json) -> int:
    return value if isinstance(value, int) else 0
