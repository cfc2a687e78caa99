"""Several runs of one chat side by side: what each puts into the prompt turn by turn, and how far they agree.

A comparison of several runs of one chat as texts: rows for a file, and Markdown.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Final, TypeAlias

from msgspec import Struct

from lorestudio.domain.chat import Generation
from lorestudio.trace.model import Trace, Turn
from lorestudio.trace.text import markdown_table, turn_words
from lorestudio.trace.wording import first_few

Note: TypeAlias = tuple[str, str]
"""An entry by vault and file name, which mean the same one in every run."""

Place: TypeAlias = tuple[int, int]
"""A turn: the reply's message and its swipe."""


class Contender(Struct, frozen=True):
    """One of the runs compared: what it is called, and its traces, one for each generation in order."""

    label: str
    traces: tuple[Trace, ...]


class PromptShare(Struct, frozen=True):
    """What one contender put in at one turn: its notes in the order they stand in the prompt, and their tokens."""

    notes: tuple[Note, ...]
    tokens: int


class TurnComparison(Struct, frozen=True):
    """One turn: what each contender put in, in their order; what all of them did, and what only one did."""

    turn: Turn
    shares: tuple[PromptShare, ...]
    common: frozenset[Note]
    alone: tuple[frozenset[Note], ...]

    @property
    def overlap(self) -> float:
        """Common notes as a part of all that anybody put in, from 0 to 1; 1 where nobody put anything in."""
        return _overlap([frozenset(share.notes) for share in self.shares])


class Total(Struct, frozen=True):
    """A contender over the whole chat: means per turn, and how many different notes ever went in."""

    label: str
    entries: float
    tokens: float
    most_tokens: int
    different: int
    silent: int
    """Turns in which nothing went in."""


class Comparison(Struct, frozen=True):
    """Contenders, their turns side by side, and their totals. `titles` names the notes."""

    labels: tuple[str, ...]
    turns: tuple[TurnComparison, ...]
    totals: tuple[Total, ...]
    titles: dict[Note, str]
    agreement: tuple[tuple[float, ...], ...]
    """How far each contender agrees with each other one, from 0 to 1: the mean overlap of their turns."""
    why: Mapping[tuple[Place, Note], str] = {}
    """For a note that one of two runs puts in at a turn what did it, where that was looked for."""
    reasons: tuple[tuple[str, int], ...] = ()
    """What did something at all, with the number of turns, most first."""

    @property
    def changed(self) -> int:
        """In how many turns not all contenders put the same notes in."""
        return sum(turn.overlap < 1 for turn in self.turns)


def compare(contenders: Sequence[Contender]) -> Comparison:
    """Put runs of the same generations side by side. Raises ValueError where they are not of the same generations."""
    places = [[(trace.turn.message, trace.turn.swipe) for trace in each.traces] for each in contenders]
    if not contenders or any(one != places[0] for one in places):
        raise ValueError("Only runs of the same generations can be compared.")
    titles: dict[Note, str] = {}
    turns = []
    for traces in zip(*(each.traces for each in contenders), strict=True):
        shares = tuple(_share(trace, titles) for trace in traces)
        turns.append(_turn(traces[0].turn, shares))
    return Comparison(
        tuple(each.label for each in contenders),
        tuple(turns),
        tuple(_total(each.label, [turn.shares[place] for turn in turns]) for place, each in enumerate(contenders)),
        titles,
        tuple(
            tuple(_agreement(turns, one, other) for other in range(len(contenders))) for one in range(len(contenders))
        ),
    )


def noted(trace: Trace) -> tuple[Note, ...]:
    """The notes that a run put in, in the order of the prompt."""
    refs = ((trace.entries.get(injection.entry), injection.title) for injection in trace.injections)
    return tuple((ref.vault, ref.filename) if ref is not None else ("", title) for ref, title in refs)


def _share(trace: Trace, titles: dict[Note, str]) -> PromptShare:
    notes = noted(trace)
    for note, injection in zip(notes, trace.injections, strict=True):
        titles.setdefault(note, injection.title)
    return PromptShare(notes, trace.total_tokens)


def _turn(turn: Turn, shares: tuple[PromptShare, ...]) -> TurnComparison:
    sets = [frozenset(share.notes) for share in shares]
    common = frozenset.intersection(*sets)
    alone = tuple(
        one.difference(*(other for place, other in enumerate(sets) if place != at)) for at, one in enumerate(sets)
    )
    return TurnComparison(turn, shares, common, alone)


def _total(label: str, shares: Sequence[PromptShare]) -> Total:
    return Total(
        label,
        fmean(len(share.notes) for share in shares) if shares else 0.0,
        fmean(share.tokens for share in shares) if shares else 0.0,
        max((share.tokens for share in shares), default=0),
        len({note for share in shares for note in share.notes}),
        sum(not share.notes for share in shares),
    )


def _agreement(turns: Sequence[TurnComparison], one: int, other: int) -> float:
    overlaps = [_overlap([frozenset(turn.shares[place].notes) for place in (one, other)]) for turn in turns]
    return fmean(overlaps) if overlaps else 1.0


def _overlap(sets: Sequence[frozenset[Note]]) -> float:
    every = frozenset.union(*sets)
    return len(frozenset.intersection(*sets)) / len(every) if every else 1.0


MOST_NAMES: Final = 6
"""Titles that a cell of Markdown names."""


def names_of(found: Comparison, notes: Sequence[Note] | frozenset[Note], turn: Turn | None = None) -> list[str]:
    """The titles of notes in order, each once; with a turn, what is known of why they are only in one run there."""
    told = Counter(found.titles[note] + _why(found, note, turn) for note in notes)
    return sorted(told, key=str.casefold)


def _why(found: Comparison, note: Note, turn: Turn | None) -> str:
    why = "" if turn is None else found.why.get(((turn.message, turn.swipe), note), "")
    return f" ({why})" if why else ""


def generation_of(turn: Turn) -> Generation:
    """The generation of a turn."""
    return Generation(turn.message, turn.swipe)


def comparison_rows(found: Comparison) -> list[list[str]]:
    """A heading and a row for every turn: entries, tokens and what it alone puts in for each run, then the overlap."""
    head = ["Turn"]
    for label in found.labels:
        head += [f"{label}: entries", f"{label}: tokens", f"{label}: only here"]
    rows = [[*head, "Overlap"]]
    for turn in found.turns:
        row = [turn_words(turn.turn)]
        for share, alone in zip(turn.shares, turn.alone, strict=True):
            row += [str(len(share.notes)), str(share.tokens), "; ".join(names_of(found, alone, turn.turn))]
        rows.append([*row, f"{turn.overlap:.2f}"])
    return rows


def total_rows(found: Comparison) -> list[list[str]]:
    """A heading and a row for every run over the whole chat, with how far it agrees with each other one."""
    head = ["Run", "Entries a turn", "Tokens a turn", "Most tokens", "Different entries", "Turns without any"]
    rows = [[*head, *(f"Agrees with {label}" for label in found.labels)]]
    for total, agreement in zip(found.totals, found.agreement, strict=True):
        rows.append(
            [
                total.label,
                f"{total.entries:.1f}",
                f"{total.tokens:,.0f}",
                f"{total.most_tokens:,}",
                f"{total.different:,}",
                f"{total.silent:,}",
                *(f"{share:.0%}" for share in agreement),
            ]
        )
    return rows


def comparison_as_markdown(found: Comparison) -> str:
    """The totals and every turn as Markdown tables."""
    totals = total_rows(found)
    lines = ["## Totals", "", *markdown_table(totals[0], totals[1:]), "", "## Turn by turn", ""]
    rows = []
    for turn in found.turns:
        cells = [_cell(found, turn, place) for place in range(len(found.labels))]
        rows.append([turn_words(turn.turn), *cells, f"{turn.overlap:.0%}"])
    lines += markdown_table(["Turn", *found.labels, "Overlap"], rows)
    if found.reasons:
        reasons = [[title, str(turns)] for title, turns in found.reasons]
        lines += ["", "## What made the difference", "", *markdown_table(["Rule", "Turns"], reasons)]
    return "\n".join(lines) + "\n"


def _cell(found: Comparison, turn: TurnComparison, place: int) -> str:
    share, names = turn.shares[place], names_of(found, turn.alone[place], turn.turn)
    only = f"; only here: {first_few(names, MOST_NAMES)}" if names else ""
    return f"{len(share.notes)} entries, {share.tokens:,} tokens{only}"
