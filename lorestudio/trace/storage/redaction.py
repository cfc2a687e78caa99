"""Traces without anything a person wrote: names, keys and values by stand-ins, texts by their length.

What is not known to be a word of the program's own is taken for a person's. Numbers, reasons and the order of things
stay, so that what happened can still be read and asked about. The same text gets the same stand-in everywhere.
Records are made field by field, so that a field that is new is not in a redacted trace until it is dealt with here.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from msgspec import Struct

from lorestudio.domain.javascript import Json, length
from lorestudio.domain.records import replace
from lorestudio.trace.model import (
    OUTLET_TAG,
    AiCall,
    AiRecord,
    EntryRef,
    Injection,
    PromptBlock,
    ReadMessage,
    ReplyItem,
    StageRecord,
    Trace,
    Turn,
    Verdict,
)
from lorestudio.trace.wording import WORDS, is_list, number_words

LEFT_OUT: Final = "(left out)"

_KINDS: Final = frozenset({"normal", "swipe", "regenerate", "continue", "quiet", "impersonate"})
_COUNTERS: Final = frozenset({
    "chars/4", "chars/3.35", "bytes/3.35", "estimate by script", "cl100k_base", "o200k_base", "p50k_base", "p50k_edit",
    "r50k_base", "gpt2", "llama", "nerdstash", "nerdstash_v2", "mistral", "yi", "gemma", "jamba", "claude", "llama3",
    "qwen2", "command-r", "command-a", "nemo", "deepseek",
})  # fmt: skip
"""Names of counters that are nobody's own; a file that a person chose may be called anything."""
_SOURCES: Final = frozenset({"offline stand-in", "typed by you", "scripted answers", "recorded answers"})
_ORDERS: Final = frozenset({"priority", "occurrences", "confidence", "title"})
_TITLES: Final = frozenset({"title", "source", "stopped_by", "titles", "missing", "name", "rival", "refine_source"})
_NAMED: Final[Mapping[str, str]] = MappingProxyType(
    {
        "key": "Key", "refine_key": "Key", "refine_keys": "Key", "folder": "Folder", "folders": "Folder",
        "category": "Category", "field": "Field", "label": "Field", "entry_value": "Value", "context_value": "Value",
        "terms": "Word", "outlet": "Outlet", "asked": "Asked title",
    }
)  # fmt: skip
"""What stands in for the details of these names."""

_PLACE: Final = re.compile(r"-?\d+\|-?\d+")
_SWITCH: Final = re.compile(r"[a-z_]{1,40}")


class Pseudonyms:
    """Stand-ins for texts, numbered in the order in which they are first asked for: `Key 1`, `Key 2`."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, str], str] = {}
        self._counts: dict[str, int] = {}

    def of(self, kind: str, text: str) -> str:
        """The stand-in for a text of this kind; spelling with other capitals or `_` for a blank is the same text."""
        key = kind, text.casefold().replace("_", " ").strip()
        if key not in self._known:
            self._counts[kind] = self._counts.get(kind, 0) + 1
            self._known[key] = f"{kind} {self._counts[kind]}"
        return self._known[key]

    def entry(self, title: str) -> str:
        """The stand-in for an entry's title; notes of one title share it."""
        return self.of("Entry", title)


def of_length(text: str) -> str:
    """What is told of a text: that there was one, and how long."""
    return f"({number_words(length(text))} characters, left out)" if text else ""


class _StandIns(Struct, frozen=True):
    """The stand-ins, and what needs none: values of details and tags that are the program's own words."""

    names: Pseudonyms
    codes: frozenset[str]
    tags: re.Pattern[str] | None


def redacted(trace: Trace, names: Pseudonyms) -> Trace:
    """The trace with stand-ins from `names`. Digests, labels and the AI's texts are gone."""
    words, rank = trace.words, trace.words.rank_word(trace)
    known = _StandIns(names, frozenset({*WORDS, *words.reasons, *words.phrases}), words.tags)
    entries = {number: _entry(ref, known) for number, ref in trace.entries.items()}
    kind = trace.turn.kind if trace.turn.kind in _KINDS else "other"
    return Trace(
        system=trace.system,
        mode=trace.mode if trace.mode in words.modes else "other",
        outcome=trace.outcome,
        turn=Turn(trace.turn.message, trace.turn.swipe, trace.turn.number, kind),
        entries=entries,
        index_size=trace.index_size,
        stages=tuple(_stage(record, known) for record in trace.stages),
        injections=tuple(_injection(injection, known) for injection in trace.injections),
        prompt=tuple(_block(block, entries, known) for block in trace.prompt),
        notes=tuple(_block(block, entries, known) for block in trace.notes),
        limits=trace.limits,
        ai_calls=tuple(_call(call, known) for call in trace.ai_calls),
        seed=trace.seed,
        draws=trace.draws,
        clock_ms=trace.clock_ms,
        others=trace.others,
        skip_reason=trace.skip_reason if trace.skip_reason in words.reasons else "",
        warnings=tuple(f"A warning {of_length(warning)}" for warning in trace.warnings),
        facts=_facts(trace.facts),
        seen=replace(trace.seen, read=tuple(map(_read, trace.seen.read))),
        words=replace(words, rank_word=lambda _trace: rank),  # which the digests may have told
    )


def _read(message: ReadMessage) -> ReadMessage:
    """Without the text, and without the names of scripts and files."""
    changed_by = tuple(each.partition(" “")[0] for each in message.changed_by)
    return ReadMessage(message.message, f"A text {of_length(message.text)}", changed_by)


def _entry(ref: EntryRef, known: _StandIns) -> EntryRef:
    title = known.names.entry(ref.title)
    note = known.names.of("note", f"{ref.vault}\0{ref.filename}")
    return EntryRef(ref.id, title, known.names.of("Vault", ref.vault), f"{note}.md", ref.priority, ref.tokens)


def _stage(record: StageRecord, known: _StandIns) -> StageRecord:
    ai = record.ai
    return StageRecord(
        name=record.name,
        phase=record.phase,
        status=record.status,
        entered=record.entered,
        left=record.left,
        verdicts=tuple(_verdict(verdict, known) for verdict in record.verdicts),
        note=record.note,
        default_reason=record.default_reason,
        details=_details(record.details, known),
        duration_ms=record.duration_ms,
        error=f"An error {of_length(record.error)}" if record.error else "",
        ai=None if ai is None else AiRecord(ai.before, ai.after, tuple(_item(item, known) for item in ai.items)),
    )


def _verdict(verdict: Verdict, known: _StandIns) -> Verdict:
    return Verdict(verdict.entry, verdict.outcome, verdict.reason, _details(verdict.details, known))


def _details(details: Mapping[str, Json], known: _StandIns) -> dict[str, Json]:
    return {name: _value(name, value, known) for name, value in details.items()}


def _value(name: str, value: Json, known: _StandIns) -> Json:
    if value is None or isinstance(value, bool | int | float):
        return value
    if isinstance(value, str):
        return _text(name, value, known) if value else ""
    if isinstance(value, Mapping):
        return LEFT_OUT
    return [_value(name, item, known) for item in value]


def _text(name: str, text: str, known: _StandIns) -> str:
    if name == "order_by":
        return text if text in _ORDERS else LEFT_OUT
    if name in _TITLES:
        return known.names.entry(text)
    if name in _NAMED:
        return known.names.of(_NAMED[name], text)
    if name == "tag":
        return _tag(text, known)
    if name == "swipe_key":
        return text if _PLACE.fullmatch(text) else LEFT_OUT
    return text if text in known.codes else of_length(text)


def _tag(tag: str, known: _StandIns) -> str:
    if tag.startswith(OUTLET_TAG):
        return OUTLET_TAG + known.names.of("Outlet", tag.removeprefix(OUTLET_TAG))
    return tag if known.tags is not None and known.tags.fullmatch(tag) else known.names.of("Place", tag)


def _item(item: ReplyItem, known: _StandIns) -> ReplyItem:
    return ReplyItem(
        asked=known.names.of("Asked title", item.asked) if item.asked else "",
        match=item.match,
        result=item.result,
        entries=item.entries,
        title=known.names.entry(item.title) if item.title else "",
        similarity=item.similarity,
        confidence=item.confidence if item.confidence in known.codes else of_length(item.confidence),
        reason=of_length(item.reason),
    )


def _injection(injection: Injection, known: _StandIns) -> Injection:
    return Injection(
        entry=injection.entry,
        title=known.names.entry(injection.title),
        label="",
        tokens=injection.tokens,
        priority=injection.priority,
        position=injection.position,
        depth=injection.depth,
        role=injection.role,
        tag=_tag(injection.tag, known),
        content_hash="",
        truncated=injection.truncated,
        original_tokens=injection.original_tokens,
    )


def _block(block: PromptBlock, entries: Mapping[int, EntryRef], known: _StandIns) -> PromptBlock:
    """The block with each part's length in place of its text; what stands between the parts is not told."""
    pieces: list[tuple[str, int | None]] = []
    for part in block.parts:
        ref = entries.get(part.entry) if part.entry is not None else None
        who = f"{ref.title} " if ref is not None else ""
        pieces.append((f"{who}{of_length(block.text[part.start : part.end])}\n", part.entry))
    place = _tag(block.tag, known), block.position, block.depth, block.role
    return PromptBlock.of(place, pieces) if pieces else PromptBlock(*place, of_length(block.text))


def _call(call: AiCall, known: _StandIns) -> AiCall:
    own = next((source for source in _SOURCES if call.source in (source, f"recorded from {source}")), None)
    return AiCall(
        kind=call.kind,
        max_tokens=call.max_tokens,
        json_schema=call.json_schema,
        duration_ms=call.duration_ms,
        system=of_length(call.system),
        user=of_length(call.user),
        model=known.names.of("Model", call.model) if call.model else "",
        reply=of_length(call.reply),
        error=f"An error {of_length(call.error)}" if call.error else "",
        source=call.source if own is not None else known.names.of("Provider", call.source) if call.source else "",
        details=_figures(call.details),
    )


def _facts(facts: Mapping[str, Json]) -> dict[str, Json]:
    kept = _figures(facts)
    exempt, counter, switches = facts.get("exempt"), facts.get("counter"), facts.get("switches")
    if is_list(exempt):
        kept["exempt"] = [entry for entry in exempt if isinstance(entry, int)]
    if isinstance(counter, str) and counter.partition(" (")[0].removeprefix("estimate for ") in _COUNTERS:
        kept["counter"] = counter
    if is_list(switches):
        kept["switches"] = [_switch(item) for item in switches if isinstance(item, Mapping)]
    return kept


def _figures(details: Mapping[str, Json]) -> dict[str, Json]:
    return {name: value for name, value in details.items() if value is None or isinstance(value, bool | int | float)}


def _switch(item: Mapping[str, Json]) -> Json:
    """Which switch changed something in which stage; what it changed may name entries."""
    switch, stage = item.get("switch"), item.get("stage")
    known = isinstance(switch, str) and _SWITCH.fullmatch(switch) is not None
    return {"switch": switch if known else "", "stage": stage if isinstance(stage, str) else "", "effect": LEFT_OUT}
