"""Reasons in words: a verdict, a code with its details, or what a whole stage did, in the words of the run's system."""

from __future__ import annotations

from collections.abc import Mapping

from lorestudio.domain.javascript import Json
from lorestudio.trace.model import (
    Outcome,
    Phase,
    StageRecord,
    StageStatus,
    Trace,
    Verdict,
    entry_limit,
    last_room,
    rank,
    token_limit,
    within_limits,
)
from lorestudio.trace.vocabulary import Explanation, Tone
from lorestudio.trace.wording import fill, is_list, place, plural


def explain(verdict: Verdict, trace: Trace) -> Explanation:
    """The verdict in words. An unknown code becomes its own label; a missing detail leaves the label as sentence."""
    return explain_reason(verdict.reason, verdict.details, trace, verdict.entry)


def explain_reason(code: str, details: Mapping[str, Json], trace: Trace, entry: int | None = None) -> Explanation:
    """A reason code in words, about one entry or about the whole run."""
    reason = trace.words.reasons.get(code)
    if reason is None:
        label = trace.words.label(code)
        return Explanation(label, label, "", Tone.NEUTRAL, label)
    known = known_details(details, trace, entry)
    sentence = fill(reason.sentence, known) or reason.label
    brief = (fill(reason.brief, known) if reason.brief else None) or sentence
    return Explanation(reason.label, sentence, fill(reason.fix, known) or "", reason.tone, brief)


def explain_stage(record: StageRecord, trace: Trace) -> str:
    """What a stage did as a whole: its note or error, then who came in and who went on."""
    sentences: list[str] = []
    if record.status is StageStatus.FAILED:
        failure = explain_reason("stage_failed", {"error": record.error or record.note}, trace).sentence
        sentences.append(failure if failure.endswith((".", "!", "?")) else f"{failure}.")
    if record.note and (record.status is not StageStatus.FAILED or record.error):
        sentence = explain_reason(record.note, record.details, trace).sentence
        sentences.append(sentence if sentence.endswith(".") else f"{sentence}.")
    loaded = record.phase is Phase.LOAD and not record.verdicts and not record.entered  # nobody passes such a stage
    if (record.status is StageStatus.RAN and not loaded) or not sentences:
        sentences.append(_movement(record, trace.words.candidates))
    return " ".join(sentences)


def _movement(record: StageRecord, candidates: str) -> str:
    """`8 entries came in, 2 were removed, 6 went on.`"""
    one, many = candidates.split("|")
    came, went = len(record.entered), len(record.left)
    if record.status is StageStatus.SKIPPED:
        return "Skipped."
    refused = len(record.with_outcome(Outcome.REFUSED))
    changed = len(record.with_outcome(Outcome.CHANGED))
    steps = [
        plural(count, forms)
        for count, forms in (
            (record.added, "# was added|# were added"),
            (record.removed, "# was removed|# were removed"),
            (changed, "# was changed|# were changed"),
            (refused, "# was refused|# were refused"),
        )
        if count
    ]
    if steps:
        return ", ".join([plural(came, f"No {one}|# {one}|# {many}") + " came in", *steps, f"{went:,} went on"]) + "."
    return plural(came, f"No {one} came in.|1 {one} went through.|# {many} went through.")


def known_details(details: Mapping[str, Json], trace: Trace, entry: int | None) -> Mapping[str, Json]:
    """The details with everything that the trace adds to them; a detail of the same name wins."""
    known: dict[str, Json] = {}
    ref = None if entry is None else trace.entries.get(entry)
    if ref is not None:
        known.update(title=ref.title, vault=ref.vault, priority=ref.priority, note_tokens=ref.tokens)
        known.update(_room(details, trace, entry, ref.tokens))
    known |= details
    position, depth, role = (details.get(name) for name in ("position", "depth", "role"))
    if isinstance(position, int | float) and isinstance(depth, int | float) and isinstance(role, int | float):
        known["place"] = place(position, depth, role)
    would = details.get("would")
    if isinstance(would, str):
        known["would_label"] = trace.words.reasons[would].label if would in trace.words.reasons else would
    if details.get("in_name") is True:
        known["named_message"] = details.get("message")
    if details.get("refine_in_name") is True:
        known["refine_named_message"] = details.get("refine_message")
    if details.get("match") in ("fuzzy", "similar title"):
        known["loose_match"] = "nearest"
    similarity = details.get("similarity")
    if isinstance(similarity, int | float):
        known["alike"] = round(100 * similarity)
    stopped_by = details.get("stopped_by")
    if isinstance(stopped_by, int) and stopped_by in trace.entries:
        known["stopped_by"] = trace.entries[stopped_by].title
    terms = details.get("terms")
    if is_list(terms):  # a term's row of figures begins with the word
        known["terms"] = [term[0] if is_list(term) and term else term for term in terms]
    return known


def _room(details: Mapping[str, Json], trace: Trace, entry: int | None, tokens: float) -> Mapping[str, Json]:
    """What would have let the entry in whole, as far as the trace tells."""
    room: dict[str, Json] = {}
    limit, cap = token_limit(trace), entry_limit(trace)
    original, needs = details.get("original_tokens"), details.get("needs")
    if cap is not None and cap.maximum is not None and entry is not None and {"needs", "cap"} & details.keys():
        number, demand = trace.queue.get(entry, (0, 0))
        if number > cap.maximum:
            room["new_cap"] = number
        if needs is None and limit is not None and limit.maximum is not None:
            needs = demand - limit.maximum
    if limit is not None and limit.maximum is not None:
        if needs is None and isinstance(original, int | float):
            others = sum(injection.tokens for injection in within_limits(trace) if injection.entry != entry)
            needs = room["needs"] = others + original - limit.maximum
        if isinstance(needs, int | float) and needs > 0:
            room["new_budget"] = limit.maximum + needs
    rival = last_room(trace, tokens)
    if rival is not None and rival.entry != entry and not trace.facts.get("higher_first"):
        room.update(rival=rival.title, rival_priority=rank(rival.priority))
    return room
