"""A run in one sentence, and what else to know about it: it found nothing, or nearly everything, or only estimates.

Source: the states of the chat and trace views (empty, too broad, budget unknown).
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from typing import Final

from msgspec import Struct

from lorestudio.domain.history import ranges_of, ranges_words
from lorestudio.domain.javascript import Json
from lorestudio.domain.records import grouped
from lorestudio.trace.explain import explain_reason, explain_stage
from lorestudio.trace.journey import Fate, FateState, Journeys
from lorestudio.trace.model import (
    Outcome,
    Phase,
    RunOutcome,
    StageStatus,
    Trace,
    token_limit,
    tokens_used,
    within_limits,
)
from lorestudio.trace.vocabulary import SEARCHED
from lorestudio.trace.wording import fill, first_few, lowered, number_words, plural, quoted

TOO_BROAD_SHARE: Final = 0.5
TOO_BROAD_ENTRIES: Final = 8
"""From so many entries on it is a sign of a key that fits everything, when half of them match."""

UNITS_A_TOKEN: Final = {"chars/4": 4.0, "chars/3.35": 3.35}
"""The two documented estimates (rules: deeplore 1.10, 11), in characters a token."""


class Breadth(Struct, frozen=True):
    """How much of a vault matched: `matched` of `entries`, and the key that let in most, with how many it let in."""

    matched: int
    entries: int
    key: str = ""
    by_key: int = 0

    @property
    def sentence(self) -> str:
        """What is wrong and where to begin."""
        text = f"Nearly everything matched: {self.matched} of {self.entries} entries came into question."
        if self.by_key > 1:
            text += f" The key {quoted(self.key)} alone let in {self.by_key}: make it more particular first."
        return text


def too_broad(trace: Trace) -> Breadth | None:
    """How broad the matching was where half of the vault or more came in, else None.

    What comes in unasked does not count.
    """
    matched: set[int] = set()
    spelled: dict[str, str] = {}
    counts: Counter[str] = Counter()
    for record in trace.stages:
        if record.phase is not Phase.MATCH:
            continue
        for verdict in record.with_outcome(Outcome.ADDED):
            if verdict.reason in trace.words.unasked or verdict.entry in matched:
                continue
            matched.add(verdict.entry)
            key = verdict.details.get("key")
            if isinstance(key, str):
                spelled.setdefault(key.casefold(), key)
                counts[key.casefold()] += 1
    if trace.index_size < TOO_BROAD_ENTRIES or len(matched) < TOO_BROAD_SHARE * trace.index_size:
        return None
    key, most = counts.most_common(1)[0] if counts else ("", 0)
    return Breadth(len(matched), trace.index_size, spelled.get(key, ""), most)


def estimate(trace: Trace) -> str:
    """How far the token counts can be trusted, "" where they are exact."""
    if trace.facts.get("counted_exactly", True):
        return ""
    name = trace.facts.get("counter")
    units = UNITS_A_TOKEN.get(name) if isinstance(name, str) else None
    if units is None:
        name = str(name).removeprefix("estimate ")
        return f"≈ estimates ({name}) · a tokenizer's own counts differ by some 10 to 30 % a note"
    return (
        f"≈ estimates of {units:g} characters a token; a model's own counts differ, most where the writing is not Latin"
    )


def seen_lines(trace: Trace) -> tuple[str, ...]:
    """Sentences on what the run took the chat to be, where that is not what its file says today.

    A message that was searched with another text than it is stored with is named with what changed it.
    """
    told: list[str] = []
    seen = trace.seen
    assumed = [number for first, last in seen.assumed for number in range(first, last + 1)]
    shown = {number for first, last in seen.shown for number in range(first, last + 1)}
    for ranges, how in (
        (ranges_of(shown.intersection(assumed)), "assumed to have been in sight then"),
        (ranges_of(shown.difference(assumed)), "in sight then, as you said"),
        (ranges_of(number for number in assumed if number not in shown), "assumed to have been hidden at once"),
    ):
        if ranges:
            one = len(ranges) == 1 and ranges[0][0] == ranges[0][1]
            told.append(f"Hidden today, {how}: {'message' if one else 'messages'} {ranges_words(ranges)}.")
    if seen.read:
        by = grouped((", ".join(each.changed_by), f"#{each.message}") for each in seen.read)
        changes = "; ".join(f"{first_few(numbers, _READ_SHOWN)} by {what}" for what, numbers in by.items())
        told.append(f"Searched with other texts than are stored: {changes}.")
    if seen.followed:
        told.append("It began from what the chat recorded; what no file keeps, such as a model's choice, is as it was.")
    return tuple(told)


_READ_SHOWN: Final = 6


def seen_brief(trace: Trace) -> str:
    """The same in a few words, "" for a run that took the chat for what its file says."""
    seen = trace.seen
    shown = sum(last - first + 1 for first, last in seen.shown)
    told = []
    if shown:
        assumed = any(one <= last and first <= two for first, last in seen.shown for one, two in seen.assumed)
        messages = plural(shown, "# hidden message|# hidden messages")
        told.append(f"{messages} in sight then (assumed)" if assumed else f"{messages} in sight then")
    if seen.read:
        told.append(f"{plural(len(seen.read), '# text|# texts')} searched otherwise than stored")
    if seen.followed:
        told.append("begun from what was recorded")
    return " · ".join(told)


class SummaryPiece(Struct, frozen=True):
    """A piece of the sentence. One that is a number names the entries that it counts, or whose tokens it adds up."""

    text: str
    entries: tuple[int, ...] = ()


_NUMBER: Final = re.compile(r"\d[\d,]*")


def summary(trace: Trace) -> str:
    """What happened in this run, in one sentence; further ones only where the run broke off or a stage failed.

    >>> from lorestudio import demo_project, replay
    >>> summary(replay(demo_project())[0])
    '9 entries matched, 1 was pinned, 10 were injected (1,241 of 1,300 tokens, and 89 in outlets).'
    """
    return "".join(piece.text for piece in summary_pieces(trace))


def summary_pieces(trace: Trace, journeys: Journeys | None = None) -> tuple[SummaryPiece, ...]:
    """The sentence of `summary` in pieces with their entries; `journeys` is the trace where it was read already."""
    sentence = trace.words.sentence(trace)
    if sentence:
        return (SummaryPiece(sentence),)
    if trace.outcome is RunOutcome.SKIPPED or trace.skip_reason:
        sentence = explain_reason(trace.skip_reason or "never_candidate", {}, trace).sentence
        return (SummaryPiece(sentence),)
    pieces = _counts(trace, (journeys or Journeys(trace)).fates)
    return tuple(piece for piece in (*pieces, *(SummaryPiece(f" {text}") for text in _breaks(trace))) if piece.text)


def _counts(trace: Trace, decided: Mapping[int, Fate]) -> list[SummaryPiece]:
    pinned = {
        verdict.entry
        for record in trace.stages
        if record.phase is Phase.GATE
        for verdict in record.with_outcome(Outcome.ADDED)
    }
    candidates = [item for item in decided.values() if item.state not in (FateState.REFUSED, FateState.NEVER)]
    matched = [item.entry for item in candidates if item.entry not in pinned]
    if not candidates:
        return _nothing(trace, decided)
    groups: defaultdict[str, list[int]] = defaultdict(list)
    for item in candidates:
        groups[_group(item, trace)].append(item.entry)
    parts = [_linked(plural(len(matched), "no entry matched|# entry matched|# entries matched"), matched)]
    if pinned:
        added = [item.entry for item in candidates if item.entry in pinned]
        parts.append(_linked(plural(len(added), "# was pinned|# were pinned"), added))
    parts += [_linked(plural(len(groups[group]), forms), groups[group]) for group, forms in _GROUPS if groups[group]]
    parts.append(_injected(trace, groups["in"]))
    pieces = [piece for part in parts for piece in (SummaryPiece(", "), *part)][1:]
    first = pieces[0].text
    return [SummaryPiece(first[:1].upper() + first[1:], pieces[0].entries), *pieces[1:], SummaryPiece(".")]


def _linked(text: str, entries: Iterable[int]) -> list[SummaryPiece]:
    """The text with its first number leading to `entries`."""
    found = _NUMBER.search(text)
    if found is None:
        return [SummaryPiece(text)]
    pieces = (
        SummaryPiece(text[: found.start()]),
        SummaryPiece(found.group(), tuple(entries)),
        SummaryPiece(text[found.end() :]),
    )
    return [piece for piece in pieces if piece.text]


_GROUPS: Final = (
    ("ai", "the AI left out #"),
    ("no choice", "# dropped out because the AI made no choice"),
    ("not offered", "# was not offered to the AI|# were not offered to the AI"),
    ("not chosen", "# was not selected|# were not selected"),
    ("draw", "# lost the draw"),
    ("gate", "# was gated out|# were gated out"),
    ("entries", "the entry limit cut #"),
    ("budget", "the budget cut #"),
    ("open", "# stayed undecided"),
)


def _group(item: Fate, trace: Trace) -> str:
    """Which part of the sentence counts the entry."""
    if item.state.went_in:
        return "in"
    if item.state is FateState.UNDECIDED:
        return "open"
    return trace.words.parts.get(item.reason) or ("budget" if item.phase is Phase.BUDGET else "gate")


def _injected(trace: Trace, entries: list[int]) -> list[SummaryPiece]:
    if not entries:
        ended = f"nothing was left after {_ENDED[trace.outcome]}" if trace.outcome in _ENDED else "nothing was injected"
        return [SummaryPiece(ended)]
    counted = within_limits(trace)
    within = [injection.entry for injection in counted]
    limit = token_limit(trace)
    used = tokens_used(trace)
    inside = used - limit.besides if limit is not None else used
    put_in = sum(injection.tokens for injection in counted)
    if limit is None or limit.maximum is None:
        room = plural(inside, "# token|# tokens")
    elif limit.besides:
        most = f"{number_words(used)} of {number_words(limit.maximum)}"
        room = f"{plural(inside, '# token|# tokens')}, with the {limit.besides_what} {most}"
    elif inside != put_in:  # texts counted as one, or an entry that the budget let in and that has no place
        most = f"{number_words(inside)} of {number_words(limit.maximum)}"
        room = f"{plural(put_in, '# token|# tokens')}; the budget counts {most}"
    else:
        room = f"{number_words(inside)} of {plural(limit.maximum, '# token|# tokens')}"
    if limit is not None and limit.maximum is None:
        room += ", no limit"
    pieces = _linked(plural(len(entries), "# was injected|# were injected"), entries)
    pieces += [SummaryPiece(" ("), *_linked(room, within)]
    outlets = trace.total_tokens - put_in
    if outlets:
        others = [injection.entry for injection in trace.injections if injection.entry not in set(within)]
        pieces += _linked(f", and {number_words(outlets)} in outlets", others)
    shortened = [injection.entry for injection in trace.injections if injection.truncated]
    if shortened:
        pieces += _linked(f"; {number_words(len(shortened))} shortened", shortened)
    return [*pieces, SummaryPiece(")")]


_ENDED: Final = {
    RunOutcome.EMPTY_AFTER_GATING: "contextual gating",
    RunOutcome.EMPTY_AFTER_REINJECTION: "the re-injection cooldown",
    RunOutcome.EMPTY_AFTER_REQUIRES: "requires and excludes",
}


_NO_KEYS_FOUND: Final = "Nothing matched: none of the keys of {entries:# entry|# entries} is " + SEARCHED + "."


def _nothing(trace: Trace, decided: Mapping[int, Fate]) -> list[SummaryPiece]:
    """Why no entry was ever a candidate."""
    keywords = trace.stage(trace.words.key_stage)
    if keywords is None or keywords.status is not StageStatus.RAN:
        broken = any(record.status is StageStatus.FAILED for record in trace.stages)  # the rest was not even tried
        noted = keywords or next((record for record in trace.stages if record.note and not broken), None)
        if noted is not None and noted.note:
            told = lowered(explain_reason(noted.note, noted.details, trace).sentence)
            return [SummaryPiece(f"Nothing matched: {told}")]
        return [SummaryPiece("Nothing matched.")]
    refused = [item for item in decided.values() if item.state is FateState.REFUSED and item.phase is not Phase.LOAD]
    apart = [item.entry for item in refused if item.reason in trace.words.unsearched]
    searched = trace.index_size - len(apart)
    figures: dict[str, Json] = {**keywords.details, "entries": searched}
    if len(refused) > len(apart) or (apart and not searched):
        count = {"entries": trace.index_size, "refused": len(refused)}
        held_back = fill(trace.words.held_back, figures | count)
        return _linked(held_back or "Nothing came in.", [item.entry for item in refused])
    if not figures.get("messages"):
        return [SummaryPiece("Nothing matched: there was no message to search for keys.")]
    others = _linked(plural(len(apart), " # more was not searched.| # more were not searched."), apart) if apart else []
    return [SummaryPiece(fill(_NO_KEYS_FOUND, figures) or "Nothing matched."), *others]


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
