"""What differs between two runs: who entered, left, moved, takes more or less room, or was stopped elsewhere.

The runs may be of different turns, swipes, vaults or settings. Entries are the same when vault and file name are, or,
of two states of the vault, when the title is and the note lies elsewhere in it; their numbers may differ.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Final, Generic, TypeVar

from msgspec import Struct

from lorestudio.domain.entry import NoteKey
from lorestudio.domain.records import Terse
from lorestudio.trace.journey import Fate, FateState, Journeys
from lorestudio.trace.model import Injection, Trace

UNKNOWN: Final = -1
"""The number of an entry in a trace that does not mention it."""


class EntryChange(Struct, frozen=True):
    """One entry in both runs. `before` and `after` are None where it did not go in.

    A fate's `entry` is the number in that run's trace, `UNKNOWN` where the trace does not mention the entry.
    """

    key: NoteKey
    title: str
    before: Injection | None
    after: Injection | None
    before_fate: Fate
    after_fate: Fate

    @property
    def growth(self) -> int:
        """How many more tokens it takes in the later run, less than 0 where it takes fewer."""
        before, after = (0 if each is None else each.tokens for each in (self.before, self.after))
        return after - before


Change = TypeVar("Change")


class Changes(Terse, Generic[Change], frozen=True, kw_only=True):
    """What differs between the injections of two runs.

    `entered`, `moved`, `resized` and `rewritten` are in the later injection order, `left` in the earlier one.
    `moved` are those injected both times at another place (position, depth, role, outlet) or in another order:
    the fewest that, taken away, leave the others in the same order. `resized` take more or fewer tokens, or are
    shortened in one run only; `rewritten` are neither, but their text is another. An entry can be in `moved` and in one
    of the two after it. `unchanged` counts the injections that are the same in both runs.
    """

    entered: tuple[Change, ...] = ()
    left: tuple[Change, ...] = ()
    moved: tuple[Change, ...] = ()
    resized: tuple[Change, ...] = ()
    rewritten: tuple[Change, ...] = ()
    unchanged: int = 0

    @property
    def amount(self) -> int:
        """How many changes there are; one that moved and takes more room counts twice."""
        return sum(map(len, (self.entered, self.left, self.moved, self.resized, self.rewritten)))

    def __bool__(self) -> bool:
        """Whether the injections differ in anything; entries stopped elsewhere do not count."""
        return bool(self.entered or self.left or self.moved or self.resized or self.rewritten)


class InjectionChanges(Changes[NoteKey], frozen=True):
    """The changes by key."""


class TraceDiff(Changes[EntryChange], frozen=True, kw_only=True):
    """The changes from `before` to `after`.

    `refated` went in neither time and were stopped by another stage or for another reason. `tokens` are all injected
    ones before and after, outlets included.
    """

    unprinted = ("before", "after")

    before: Trace
    after: Trace
    refated: tuple[EntryChange, ...]
    tokens: tuple[int, int]


def injections_by_key(trace: Trace) -> dict[NoteKey, Injection]:
    """The injections of a run by vault and file name, in injection order."""
    found: dict[NoteKey, Injection] = {}
    for injection in trace.injections:
        ref = trace.entries[injection.entry]
        found.setdefault(ref.note_key, injection)
    return found


def injection_changes(before: Mapping[NoteKey, Injection], after: Mapping[NoteKey, Injection]) -> InjectionChanges:
    """The changes between injections alone, which needs no look at the stages and so costs little."""
    stayed = [key for key in after if key in before]
    places = {key: place for place, key in enumerate(before)}
    wandered = _out_of_order([places[key] for key in stayed])
    moved: list[NoteKey] = []
    resized: list[NoteKey] = []
    rewritten: list[NoteKey] = []
    unchanged = 0
    for place, key in enumerate(stayed):
        one, other = before[key], after[key]
        goes = place in wandered or _place(one) != _place(other)
        grows = (one.tokens, one.truncated) != (other.tokens, other.truncated)
        differs = not grows and one.content_hash != other.content_hash
        for happened, changes in ((goes, moved), (grows, resized), (differs, rewritten)):
            if happened:
                changes.append(key)
        unchanged += not (goes or grows or differs)
    return InjectionChanges(
        entered=tuple(key for key in after if key not in before),
        left=tuple(key for key in before if key not in after),
        moved=tuple(moved),
        resized=tuple(resized),
        rewritten=tuple(rewritten),
        unchanged=unchanged,
    )


def compare(
    before: Trace, after: Trace, notes: Collection[NoteKey] = (), former: Collection[NoteKey] | None = None
) -> TraceDiff:
    """The changes from one run to the other. `notes` are all of the vault of `after`, where that may have moved some: a
    run knows only those that came into question, and another one of the same title is not where one that went is now.

    `former` are those of the vault of `before`; where nobody knows them any more, a note that was moved has to have its
    text, or the number of its tokens where one of the runs left it out.
    """
    vaults = before.digests.get("vault"), after.digests.get("vault")
    other = bool(notes) and before.of_notes and vaults[0] != vaults[1]
    moves = moved_keys(_titles(before), _titles(after), notes, former or ()) if other else {}
    if former is None:
        moves = {key: now for key, now in moves.items() if _has_text_of(before, key, after, now)}
    old, new = _DiffSide(before, moves), _DiffSide(after, {})

    def change(key: NoteKey) -> EntryChange:
        known = after.entries[new.ids[key]] if key in new.ids else before.entries[old.ids[key]]
        injections = old.injected.get(key), new.injected.get(key)
        return EntryChange(key, known.title, *injections, old.fate(key, new), new.fate(key, old))

    changes = injection_changes(old.injected, new.injected)
    rewritten = tuple(key for key in changes.rewritten if old.text(key) != new.text(key) or not new.text(key))
    as_before = set(changes.rewritten).difference(rewritten, changes.moved)
    known = {**old.ids, **new.ids}
    if before.system == after.system and not after.of_notes:  # a message that was not written yet was not stopped
        known = {key: number for key, number in new.ids.items() if key in old.ids}
    outside = (change(key) for key in known if key not in old.injected and key not in new.injected)
    return TraceDiff(
        before=before,
        after=after,
        entered=tuple(map(change, changes.entered)),
        left=tuple(map(change, changes.left)),
        moved=tuple(map(change, changes.moved)),
        resized=tuple(map(change, changes.resized)),
        rewritten=tuple(map(change, rewritten)),
        unchanged=changes.unchanged + len(as_before),
        refated=tuple(
            one for one in outside if _ending(one.before_fate, before, after) != _ending(one.after_fate, after, before)
        ),
        tokens=(before.total_tokens, after.total_tokens),
    )


def moved_keys(
    before: Mapping[NoteKey, str],
    after: Mapping[NoteKey, str],
    others: Collection[NoteKey] = (),
    former: Collection[NoteKey] = (),
) -> dict[NoteKey, NoteKey]:
    """Where notes lie afterwards that lay elsewhere in the same vault before, from the titles of all: the only ones of
    their title that went and came. `others` are there afterwards, too, and `former` before, by titles not known.
    """
    gone, come = _by_title(before, {*after, *others}), _by_title(after, {*before, *former})
    return {keys[0]: come[title][0] for title, keys in gone.items() if len(keys) == len(come.get(title, ())) == 1}


def _by_title(one: Mapping[NoteKey, str], other: Collection[NoteKey]) -> dict[tuple[str, str], list[NoteKey]]:
    found: dict[tuple[str, str], list[NoteKey]] = {}
    for key, title in one.items():
        if key not in other:
            found.setdefault((key[0], title), []).append(key)
    return found


def _titles(trace: Trace) -> dict[NoteKey, str]:
    return {ref.note_key: ref.title for ref in trace.entries.values()}


def _has_text_of(before: Trace, key: NoteKey, after: Trace, now: NoteKey) -> bool:
    """Whether a note may have the text of another one, as far as runs tell: the hash of what went in, else tokens."""
    one, other = injections_by_key(before).get(key), injections_by_key(after).get(now)
    if one is not None and other is not None:
        return one.content_hash.removesuffix("_trunc") == other.content_hash.removesuffix("_trunc")
    old, new = ({ref.note_key: ref.tokens for ref in trace.entries.values()} for trace in (before, after))
    return old[key] == new[now]


class _DiffSide:
    """One of the runs, asked by vault and file name, of notes that were moved since by where they lie now."""

    def __init__(self, trace: Trace, moves: Mapping[NoteKey, NoteKey]) -> None:
        self.trace = trace
        keys = {ref.id: ref.note_key for ref in trace.entries.values()}
        self.ids: dict[NoteKey, int] = {moves.get(key, key): number for number, key in keys.items()}
        self.injected = {moves.get(key, key): one for key, one in injections_by_key(trace).items()}
        self._journeys = Journeys(trace)

    def text(self, key: NoteKey) -> str:
        """What stands in the prompt of the entry, "" where that is not known. A hash is that of the whole note."""
        number = self.ids[key]
        parts = (block.text[part.start : part.end] for block in self.trace.prompt for part in block.parts
                 if part.entry == number)  # fmt: skip
        return "".join(parts)

    def fate(self, key: NoteKey, other: _DiffSide) -> Fate:
        """How this run ended for the entry. Of the same vault the other run's number is this one's too.

        What only another system has, such as its memories, was never a candidate; a note of the vault is told by its
        number.
        """
        number = self.ids.get(key)
        if number is None:
            if self.trace.system != other.trace.system and not other.trace.of_notes:
                return Fate(UNKNOWN, FateState.NEVER, "", None, "never_candidate")
            vault = self.trace.digests.get("vault")
            same = vault is not None and vault == other.trace.digests.get("vault")
            known = same or self.trace.of_notes is not other.trace.of_notes
            number = other.ids[key] if known else UNKNOWN
        return self._journeys.fate(number)


def _place(injection: Injection) -> tuple[str, int, float, int]:
    return injection.tag, injection.position, injection.depth, injection.role


def _ending(fate: Fate, trace: Trace, other: Trace) -> tuple[str, ...]:
    """What is compared of how a run ended for an entry: stages of two systems are never the same, nor are codes."""
    if trace.system != other.system:
        return (trace.words.label(fate.reason),)
    return fate.state, fate.stage, fate.reason


def _out_of_order(places: Sequence[int]) -> frozenset[int]:
    """Indices of `places` outside one longest increasing run through it (patience sorting)."""
    ends: list[int] = []  # for each length the smallest last place of an increasing run of it
    at: list[int] = []  # the index in `places` that each of `ends` is from
    previous: list[int] = []
    for index, place in enumerate(places):
        length = bisect_left(ends, place)
        previous.append(at[length - 1] if length else UNKNOWN)
        ends[length : length + 1] = [place]
        at[length : length + 1] = [index]
    kept: set[int] = set()
    index = at[-1] if at else UNKNOWN
    while index != UNKNOWN:
        kept.add(index)
        index = previous[index]
    return frozenset(range(len(places))) - kept


def sizes(diff: TraceDiff) -> Iterator[tuple[EntryChange, int, int]]:
    """Who goes in both times with another number of tokens, with the tokens before and after."""
    for change in diff.resized:
        before, after = change.before, change.after
        if before is not None and after is not None and before.tokens != after.tokens:
            yield change, before.tokens, after.tokens
