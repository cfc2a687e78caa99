"""Sentences about what a search for changes has found, the same in the window and on the command line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from lorestudio.studio.why_not_answers import Answer, Further, Holds, WhyNot
from lorestudio.trace.diff import EntryChange
from lorestudio.trace.wording import joined, plural, quoted, signed_words
from lorestudio.tuning.changes import Change, Part

PARTS: Final[Mapping[Part, str]] = {
    Part.NOTE: "in the note",
    Part.CHAT: "for this chat",
    Part.SETTINGS: "in the settings",
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
    parts = [
        f"{_titles(others)} {plural(len(others), verb)}"
        for others, verb in (
            (_others(diff.left, target), "leaves|leave"),
            (_others(diff.entered, target), "comes in too|come in too"),
            (_shorter(_others(diff.resized, target)), "has less room|have less room"),
            (_longer(_others(diff.resized, target)), "has more room|have more room"),
        )
        if others
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
    elif not found.answers and found.fate is not None and found.trace.system != "deeplore":
        words = found.fate.explain(found.trace)
        if not found.tried:
            return f"{words.sentence} {words.fix}".rstrip()
        more = f" {words.sentence} {words.fix}".rstrip()
    if found.unasked:
        more += f" {plural(found.unasked, '# change was|# changes were')} left out: only the model could say."
    return f"No single change {do}s {name} {way}, by {runs} of the engine.{more}"


def _others(changes: Sequence[EntryChange], target: tuple[str, str]) -> list[EntryChange]:
    return [change for change in changes if change.key != target]


def _shorter(changes: Sequence[EntryChange]) -> list[EntryChange]:
    return [change for change in changes if _growth(change) < 0]


def _longer(changes: Sequence[EntryChange]) -> list[EntryChange]:
    return [change for change in changes if _growth(change) >= 0]


def _growth(change: EntryChange) -> int:
    before = change.before.tokens if change.before is not None else 0
    return (change.after.tokens if change.after is not None else 0) - before


def _titles(changes: Sequence[EntryChange]) -> str:
    return joined(list(_shown(changes)))


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
    every = answer.earlier == answer.replies
    return f"; {'all' if every else f'{answer.earlier:,} of'} {answer.replies:,} earlier replies change"
