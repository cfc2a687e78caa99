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
    """Choose within each group, in the order the groups come up. An entry may be in several."""
    choice = GroupChoice()
    active_groups = {entry.group for entry in active}
    groups: dict[str, list[BookEntry]] = {}
    for entry in new:
        for group in entry.groups:
            groups.setdefault(group, []).append(entry)
    for name, everyone in groups.items():
        members = _timed_members(name, everyone, timed, choice)
        sticky = any(entry.uid in timed.sticky for entry in members)
        if not sticky and (scoring or any(entry.group_scoring for entry in members)):
            members = _best(name, members, score, choice, scoring=scoring)
        if name in active_groups:
            _remove(choice, members, "wi_group_active", {"group": name})
        elif not sticky:
            _one(name, members, draw, choice)
    return choice


def _timed_members(name: str, everyone: list[BookEntry], timed: Timed, choice: GroupChoice) -> list[BookEntry]:
    """A sticky member drives the others out; what cools down or waits goes."""
    members = [entry for entry in everyone if entry.uid not in choice.removed]
    sticky = [entry for entry in members if entry.uid in timed.sticky]
    if sticky:
        _remove(choice, [entry for entry in members if entry not in sticky], "wi_group_sticky", {"group": name})
        return sticky
    out = [entry for entry in members if entry.uid in timed.cooling or entry.uid in timed.waiting]
    _remove(choice, out, "wi_group_timed", {"group": name})
    return [entry for entry in members if entry not in out]


def _best(
    name: str, members: list[BookEntry], score: Callable[[BookEntry], int], choice: GroupChoice, *, scoring: bool
) -> list[BookEntry]:
    """Those with the most keys found; who takes no part in scoring stays."""
    scores = {entry.uid: score(entry) for entry in members}
    most = max(scores.values(), default=0)
    left = []
    for entry in members:
        takes_part = scoring if entry.group_scoring is None else entry.group_scoring
        if takes_part and scores[entry.uid] < most:
            details: dict[str, Json] = {"group": name, "score": scores[entry.uid], "most": most}
            _remove(choice, [entry], "wi_group_score", details)
        else:
            left.append(entry)
    return left


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
