"""What a search for the changes that bring an entry in has found, as data.

Sentences about what a search for changes has found, the same in the window and on the command line.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from msgspec import Struct

from lorestudio.domain.chat import Generation
from lorestudio.systems.changes import Change, RunPart
from lorestudio.trace.diff import EntryChange, Key, TraceDiff
from lorestudio.trace.held_run import WouldAlso
from lorestudio.trace.journey import Fate
from lorestudio.trace.model import Trace
from lorestudio.trace.wording import joined, plural, quoted, signed_words


class Holds(StrEnum):
    """Where a change was seen to work."""

    UNCHECKED = "unchecked"
    """In this reply; the replay with it has not been run yet."""
    BOTH = "both"
    """In this reply, and after a replay of the chat with it."""
    REPLY_ONLY = "reply_only"
    """In this reply as the chat stands; after a replay with it the entry is stopped again."""
    REPLAY_ONLY = "replay_only"
    """Only after a replay: it works through what happened earlier in the chat."""

    @property
    def applies(self) -> bool:
        """Whether applying the change brings the entry in."""
        return self in {Holds.BOTH, Holds.REPLAY_ONLY}


_TRUST: Final = {Holds.BOTH: 0, Holds.REPLAY_ONLY: 0, Holds.UNCHECKED: 1, Holds.REPLY_ONLY: 2}
EARLIER_WEIGHT: Final = 4


@dataclass(frozen=True, slots=True)
class Answer:
    """A change that brings the entry in.

    `diff` is what it does to this reply, after the replay where that was run. `earlier` counts the replies before it
    whose injections are others then, of `replies` before it; None until that is known.
    """

    change: Change
    holds: Holds
    diff: TraceDiff = field(repr=False)
    target: Key
    earlier: int | None = None
    replies: int = 0
    stopped: str = ""
    """What stops the entry after the replay, in a sentence, where the change does not hold there."""

    @property
    def others(self) -> int:
        """How many other entries of this reply enter, leave, move or change their size."""
        diff = self.diff
        return sum(
            change.key != self.target
            for changes in (diff.entered, diff.left, diff.moved, diff.resized)
            for change in changes
        )

    @property
    def rank(self) -> tuple[int, int, float, int]:
        """How well it keeps, then how much else it moves: the smaller, the better.

        What follows the chat comes before what holds whatever is said, and that in the note, for every chat, before
        that in this chat alone. What loses its place counts twice; a change of all earlier replies counts as much as
        four moved entries.
        """
        lost = sum(change.key != self.target for change in self.diff.left)
        share = (self.earlier or 0) / self.replies if self.replies else 0
        tokens = abs(self.diff.tokens[1] - self.diff.tokens[0])
        change = self.change
        forced = 0 if not change.forced else 2 if change.part is RunPart.CHAT else 1
        return _TRUST[self.holds], forced, lost + self.others + EARLIER_WEIGHT * share, tokens


class Further(Struct, frozen=True):
    """A change that lifts the obstacle and is not enough: another stage stops the entry then."""

    change: Change
    fate: Fate
    sentence: str


@dataclass(frozen=True, slots=True)
class WhyNot:
    """Everything that was found; while the search goes on it is what is known so far.

    `fate` is how the run ended for the entry, None for a note that is no entry; then `message` says why. `answers` are
    the changes that work, those that move least first; `keeps_out` says that the entry went in, and that they keep it
    out. `would` is what the stages behind the one that stopped it would have done, `not_held` why the system cannot
    tell. `unasked` counts changes that only a model could judge.
    """

    target: Key
    title: str
    generation: Generation
    trace: Trace = field(repr=False)
    fate: Fate | None
    message: str
    would: WouldAlso | None = None
    not_held: str = ""
    keeps_out: bool = False
    answers: tuple[Answer, ...] = ()
    further: tuple[Further, ...] = ()
    unasked: int = 0
    tried: int = 0
    complete: bool = False


@dataclass(frozen=True, slots=True)
class WhyNotNews:
    """How far the search is: `done` of `total` changes, what is being tried, and what was found so far."""

    done: int
    total: int
    trying: str
    found: WhyNot = field(repr=False)


def ranked(answers: Sequence[Answer]) -> tuple[Answer, ...]:
    """Those that move least first; of equals the one that was tried first."""
    return tuple(sorted(answers, key=lambda answer: answer.rank))


PARTS: Final[Mapping[RunPart, str]] = {
    RunPart.NOTE: "in the note",
    RunPart.CHAT: "for this chat",
    RunPart.SETTINGS: "in the settings",
}
HOLDS: Final[Mapping[Holds, str]] = {
    Holds.UNCHECKED: "Works in this reply; the replay with it has not been run yet.",
    Holds.BOTH: "",
    Holds.REPLY_ONLY: "Works in this reply alone, and no longer when the whole chat is replayed with it.",
    Holds.REPLAY_ONLY: "Works through what happened earlier in the chat, so all of it is replayed.",
}
_MOST_TITLES: Final = 3


def moves(answer: Answer) -> str:
    """What else the change does to this reply, and how many earlier replies it changes."""
    diff, target = answer.diff, answer.target
    shorter = [change for change in diff.resized if _growth(change) < 0]
    parts = [
        f"{joined(list(_shown(others)))} {plural(len(others), verb)}"
        for changes, verb in (
            (diff.left, "leaves|leave"),
            (diff.entered, "comes in too|come in too"),
            (shorter, "has less room|have less room"),
            ([change for change in diff.resized if change not in shorter], "has more room|have more room"),
        )
        if (others := [change for change in changes if change.key != target])
    ]
    sentence = "; ".join(parts) or "Nothing else moves"
    own = next((change.after for change in diff.entered if change.key == target), None)
    whole = own.original_tokens if own is not None and own.truncated else None
    if own is not None and whole is not None:
        sentence += f"; {quoted(own.title)} itself goes in shortened, {own.tokens:,} of {whole:,} tokens"
    return f"{sentence[:1].upper()}{sentence[1:]}; {_tokens(diff.tokens)}{_earlier(answer)}."


def standing(answer: Answer) -> str:
    """Where the change was seen to work, "" where there is nothing to add."""
    return " ".join(part for part in (HOLDS[answer.holds], answer.stopped) if part)


def further_groups(further: Sequence[Further]) -> tuple[tuple[str, tuple[Change, ...]], ...]:
    """What stops the entry then, and the changes that lead there."""
    groups: dict[str, list[Change]] = {}
    for each in further:
        groups.setdefault(each.sentence, []).append(each.change)
    return tuple((sentence, tuple(changes)) for sentence, changes in groups.items())


def conclusion(found: WhyNot) -> str:
    """How the search ended, in a sentence."""
    working = [answer for answer in found.answers if answer.holds.applies]
    runs = plural(found.tried, "# run|# runs")
    name = quoted(found.title)
    do, done = ("keep", "kept") if found.keeps_out else ("bring", "brought")
    way = "out" if found.keeps_out else "in"
    if working:
        return f"{plural(len(working), f'# change {do}s|# changes {do}')} {name} {way}, by {runs} of the engine."
    if found.answers and not found.complete:
        return f"{plural(len(found.answers), '# change works|# changes work')} in this reply so far."
    if not found.complete:
        return f"No change has {done} {name} {way} so far."
    more = ""
    if found.further:
        more = " Those below lift the first obstacle, but then another one stops it."
    elif not found.answers and found.fate is not None and not found.keeps_out:
        words = found.fate.explain(found.trace)
        if not found.tried:
            return f"{words.sentence} {words.fix}".rstrip()
        more = f" {words.fix}".rstrip()  # why it is out stands above
    if found.unasked:
        more += f" {plural(found.unasked, '# change was|# changes were')} left out: only the model could say."
    return f"No single change {do}s {name} {way}, by {runs} of the engine.{more}"


def _growth(change: EntryChange) -> int:
    before = change.before.tokens if change.before is not None else 0
    return (change.after.tokens if change.after is not None else 0) - before


def _shown(changes: Sequence[EntryChange]) -> Iterator[str]:
    for change in changes[:_MOST_TITLES]:
        yield quoted(change.title)
    if len(changes) > _MOST_TITLES:
        yield f"{len(changes) - _MOST_TITLES:,} more"


def _tokens(tokens: tuple[int, int]) -> str:
    difference = tokens[1] - tokens[0]
    if not difference:
        return "as many tokens"
    return f"{signed_words(difference)} {'token' if abs(difference) == 1 else 'tokens'}"


def _earlier(answer: Answer) -> str:
    if answer.earlier is None or not answer.replies:
        return ""
    if not answer.earlier:
        return "; no earlier reply changes"
    if answer.earlier < answer.replies:
        changes = "changes" if answer.earlier == 1 else "change"
        return f"; {answer.earlier:,} of {answer.replies:,} earlier replies {changes}"
    every = {1: "the only earlier reply changes", 2: "both earlier replies change"}
    return f"; {every.get(answer.replies, f'all {answer.replies:,} earlier replies change')}"
