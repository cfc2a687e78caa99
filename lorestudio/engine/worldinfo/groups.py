"""Inclusion groups: of the new entries of a group only one comes in (spec: deeplore-ai-and-tools 5.6, step 3)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from lorestudio.domain.javascript import Json
from lorestudio.engine.worldinfo.book import BookEntry
from lorestudio.engine.worldinfo.timed import Timed

Word = tuple[str, Mapping[str, Json]]


@dataclass(slots=True)
class GroupChoice:
    """Who went out of a group and why, and who was chosen."""

    removed: dict[str, Word] = field(default_factory=dict)
    kept: dict[str, Word] = field(default_factory=dict)


def choose(
    new: Sequence[BookEntry],
    active: Iterable[BookEntry],
    timed: Timed,
    score: Callable[[BookEntry], int],
    draw: Callable[[], float],
    *,
    scoring: bool,
) -> GroupChoice:
    """Choose within each group, in the order the groups come up. An entry may be in several.

    Timed effects are looked at in all groups first, then scores, then one of each group is taken. Who went out of one
    group takes no part in the others any more.
    """
    choice = GroupChoice()
    active_groups = {entry.group for entry in active}
    groups: dict[str, list[BookEntry]] = {}
    for entry in new:
        for group in entry.groups:
            members = groups.setdefault(group, [])
            if entry not in members:
                members.append(entry)
    sticky = {name for name, members in groups.items() if _any_sticky(name, members, timed, choice)}
    for name, members in groups.items():
        if name not in sticky and (scoring or any(entry.group_scoring for entry in members)):
            _only_best(name, _left(members, choice), score, choice, scoring=scoring)
    for name, members in groups.items():
        if name in sticky:
            continue
        if name in active_groups:
            _remove(choice, _left(members, choice), "wi_group_active", {"group": name})
        else:
            _one(name, _left(members, choice), draw, choice)
    return choice


def _left(members: Iterable[BookEntry], choice: GroupChoice) -> list[BookEntry]:
    return [entry for entry in members if entry.uid not in choice.removed]


def _any_sticky(name: str, everyone: list[BookEntry], timed: Timed, choice: GroupChoice) -> bool:
    """Whether a member is sticky: it drives the others out. What cools down or waits goes, sticky or not."""
    members = _left(everyone, choice)
    sticky = [entry for entry in members if entry.uid in timed.sticky]
    if sticky:
        _remove(choice, [entry for entry in members if entry not in sticky], "wi_group_sticky", {"group": name})
    out = [entry for entry in members if entry.uid in timed.cooling or entry.uid in timed.waiting]
    _remove(choice, out, "wi_group_timed", {"group": name})
    return bool(sticky)


def _only_best(
    name: str, members: list[BookEntry], score: Callable[[BookEntry], int], choice: GroupChoice, *, scoring: bool
) -> None:
    """Those with the most keys found stay, and who takes no part in scoring."""
    scores = {entry.uid: score(entry) for entry in members}
    most = max(scores.values(), default=0)
    for entry in members:
        takes_part = scoring if entry.group_scoring is None else entry.group_scoring
        if takes_part and scores[entry.uid] < most:
            _remove(choice, [entry], "wi_group_score", {"group": name, "score": scores[entry.uid], "most": most})


def _one(name: str, members: list[BookEntry], draw: Callable[[], float], choice: GroupChoice) -> None:
    """One of the members: the highest order of those with priority, else by lot."""
    if len(members) <= 1:
        return
    first = [entry for entry in members if entry.group_override]
    if first:
        winner = max(first, key=lambda entry: entry.order)
        choice.kept[winner.uid] = ("wi_group_priority", {"group": name})
    else:
        total = sum(entry.group_weight for entry in members)
        roll = draw() * total
        passed = 0.0
        winner = members[-1]
        for entry in members:
            passed += entry.group_weight
            if roll <= passed:
                winner = entry
                break
        choice.kept[winner.uid] = ("wi_group_drawn", {"group": name, "of": len(members)})
    losers = [entry for entry in members if entry is not winner]
    _remove(choice, losers, "wi_group_lost", {"group": name, "winner_uid": winner.uid})


def _remove(choice: GroupChoice, entries: Iterable[BookEntry], reason: str, details: Mapping[str, Json]) -> None:
    for entry in entries:
        choice.removed.setdefault(entry.uid, (reason, details))
        choice.kept.pop(entry.uid, None)
