"""A run in one sentence, and its stages in numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from lorestudio.domain.javascript import Json
from lorestudio.trace.journey import KEYWORD_STAGE, Fate, FateState, Journeys
from lorestudio.trace.limits import positional, token_limit
from lorestudio.trace.model import Outcome, Phase, RunOutcome, StageStatus, Trace
from lorestudio.trace.reasons import explain_reason, explain_stage
from lorestudio.trace.recap_summary import recap_summary
from lorestudio.trace.wording import fill, number_words, plural, quoted

AI_REASONS: Final = frozenset({"ai_not_selected", "prefilter_dropped", "below_confidence"})
"""Reasons that say that a model decided."""

_LEFT_OUT: Final = {"fallback_dropped": "no choice", "not_offered": "not offered", "nothing_offered": "not offered"}
"""Reasons of the AI selection that are nobody's decision about the entry, with the part of the sentence for them."""


@dataclass(frozen=True, slots=True)
class FunnelStep:
    """One stage in numbers. `refused` entries never came in; `tokens_left` are those of the entries that went on.

    Before the budget an entry counts with all its tokens, from the budget on with those that went in.
    """

    stage: str
    phase: Phase
    status: StageStatus
    entered: int
    added: int
    removed: int
    refused: int
    left: int
    tokens_left: int


def funnel(trace: Trace) -> tuple[FunnelStep, ...]:
    """The stages in order with their counts."""
    whole = {ref.id: ref.tokens for ref in trace.entries.values()}
    placed = whole | {injection.entry: injection.tokens for injection in trace.injections}
    steps: list[FunnelStep] = []
    decided = False
    for record in trace.stages:
        decided = decided or record.phase in (Phase.BUDGET, Phase.INJECT)
        tokens = placed if decided else whole
        steps.append(
            FunnelStep(
                stage=record.name,
                phase=record.phase,
                status=record.status,
                entered=len(record.entered),
                added=record.added,
                removed=record.removed,
                refused=len({verdict.entry for verdict in record.with_outcome(Outcome.REFUSED)}),
                left=len(record.left),
                tokens_left=sum(tokens.get(entry, 0) for entry in record.left),
            )
        )
    return tuple(steps)


def summary(trace: Trace, journeys: Journeys | None = None) -> str:
    """What happened in this run, in one sentence; further ones only where the run broke off or a stage failed.

    `journeys` is the same trace, where it was read already.
    """
    if trace.system == "recap":
        return recap_summary(trace)
    if trace.outcome is RunOutcome.SKIPPED or trace.skip_reason:
        return explain_reason(trace.skip_reason or "never_candidate", {}, trace).sentence
    sentences = [_counts(trace, (journeys or Journeys(trace)).fates), *_breaks(trace)]
    return " ".join(sentence for sentence in sentences if sentence)


def _counts(trace: Trace, decided: Mapping[int, Fate]) -> str:
    pinned = {
        verdict.entry
        for record in trace.stages
        if record.phase is Phase.GATE
        for verdict in record.with_outcome(Outcome.ADDED)
    }
    candidates = [item for item in decided.values() if item.state not in (FateState.REFUSED, FateState.NEVER)]
    matched = [item for item in candidates if item.entry not in pinned]
    if not candidates:
        return _nothing(trace, decided)
    groups = Counter(_group(item) for item in candidates)
    parts = [plural(len(matched), "no entry matched|# entry matched|# entries matched")]
    if pinned:
        parts.append(plural(len(candidates) - len(matched), "# was pinned|# were pinned"))
    parts += [plural(groups[group], forms) for group, forms in _GROUPS if groups[group]]
    parts.append(_injected(trace, groups["in"]))
    sentence = ", ".join(parts) + "."
    return sentence[0].upper() + sentence[1:]


_GROUPS: Final = (
    ("ai", "the AI left out #"),
    ("no choice", "# dropped out because the AI made no choice"),
    ("not offered", "# was not offered to the AI|# were not offered to the AI"),
    ("gate", "# was gated out|# were gated out"),
    ("entries", "the entry limit cut #"),
    ("budget", "the budget cut #"),
    ("open", "# stayed undecided"),
)


def _group(item: Fate) -> str:
    """Which part of the sentence counts the entry."""
    if item.state in (FateState.INJECTED, FateState.TRUNCATED):
        return "in"
    if item.state is FateState.UNDECIDED:
        return "open"
    if item.reason in AI_REASONS:
        return "ai"
    if item.reason in _LEFT_OUT:
        return _LEFT_OUT[item.reason]
    if item.phase is Phase.BUDGET:
        return "entries" if item.reason == "over_entry_cap" else "budget"
    return "gate"


def _injected(trace: Trace, count: int) -> str:
    if not count:
        return f"nothing was left after {_ENDED[trace.outcome]}" if trace.outcome in _ENDED else "nothing was injected"
    inside = sum(injection.tokens for injection in positional(trace))
    limit = token_limit(trace)
    if limit is None or limit.maximum is None:
        room = plural(inside, "# token|# tokens")
    else:
        room = f"{number_words(inside)} of {plural(limit.maximum, '# token|# tokens')}"
    if limit is not None and limit.maximum is None:
        room += ", no limit"
    outlets = trace.total_tokens - inside
    if outlets:
        room += f", and {number_words(outlets)} in outlets"
    shortened = sum(injection.truncated for injection in trace.injections)
    if shortened:
        room += f"; {number_words(shortened)} shortened"
    return f"{plural(count, '# was injected|# were injected')} ({room})"


_ENDED: Final = {
    RunOutcome.EMPTY_AFTER_GATING: "contextual gating",
    RunOutcome.EMPTY_AFTER_REINJECTION: "the re-injection cooldown",
    RunOutcome.EMPTY_AFTER_REQUIRES: "requires and excludes",
}


_WHERE: Final = (
    "in {messages:an empty text|the last message|the last # messages}[ ({characters:# character|# characters})]"
)
_NO_KEYS_FOUND: Final = "Nothing matched: none of the keys of {entries:# entry|# entries} is " + _WHERE + "."
_HELD_BACK: Final = (
    "Nothing came in: {refused} of {entries:# entry|# entries} {refused:was|were} found " + _WHERE + " but held back."
)


def _nothing(trace: Trace, decided: Mapping[int, Fate]) -> str:
    """Why no entry was ever a candidate."""
    keywords = trace.stage(KEYWORD_STAGE)
    if keywords is None or keywords.status is not StageStatus.RAN:
        if keywords is not None and keywords.note:
            return f"Nothing matched: {_lower_first(explain_reason(keywords.note, keywords.details, trace).sentence)}"
        return "Nothing matched."
    figures: dict[str, Json] = {**keywords.details, "entries": trace.index_size}
    refused = sum(item.state is FateState.REFUSED and item.phase is not Phase.LOAD for item in decided.values())
    if refused:
        return fill(_HELD_BACK, figures | {"refused": refused}) or "Nothing came in."
    if not figures.get("messages"):
        return "Nothing matched: there was no message to search for keys."
    return fill(_NO_KEYS_FOUND, figures) or "Nothing matched."


def _breaks(trace: Trace) -> list[str]:
    """Sentences about failures and early ends."""
    sentences = [
        f"The stage {quoted(record.name)} failed: {record.error or explain_stage(record, trace)}"
        for record in trace.stages
        if record.status is StageStatus.FAILED
    ]
    if trace.outcome is RunOutcome.FAILED:
        sentences.append("The run broke off.")
    return [sentence if sentence.endswith((".", "!", "?")) else f"{sentence}." for sentence in sentences]


def _lower_first(text: str) -> str:
    return text[:1].lower() + text[1:]
