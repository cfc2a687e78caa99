"""Which rule of DeepLore made what differs between two runs of a chat that go by different rules.

Found by running: each changed rule alone is put into the first run, over the whole chat, and the notes that then come
in or stay out as in the second run are its doing. What no rule does alone is looked at from the other side: a rule
without which the second run would not have it takes part in it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, TypeAlias

from lorestudio.settings.rules import ChangedRule, changed_rules, rules_of, with_rule
from lorestudio.studio.compare.comparison import Comparison, Note, Place, noted
from lorestudio.trace.model import Trace

Change: TypeAlias = tuple[Place, Note, bool]
"""A note at a turn: whether it comes in, or leaves."""

NOT_FOUND: Final = "no single rule"
"""Stands for what neither way of looking explains."""


@dataclass(frozen=True, slots=True)
class RuleCauses:
    """For each turn and note the rules that did it; `together` are those that needed others beside them.

    `tried` counts runs of the whole chat.
    """

    alone: Mapping[tuple[Place, Note], Sequence[ChangedRule]] = field(default_factory=dict)
    together: Mapping[tuple[Place, Note], Sequence[ChangedRule]] = field(default_factory=dict)
    tried: int = 0

    def of(self, place: Place, note: Note) -> Sequence[ChangedRule]:
        """Who did it: alone, where there is anybody, else together."""
        return self.alone.get((place, note)) or self.together.get((place, note), ())

    def words(self, place: Place, note: Note) -> str:
        """The rules in a few words; those that only act together are joined by a plus sign."""
        alone = self.alone.get((place, note))
        if alone:
            return ", ".join(rule.title for rule in alone)
        return " + ".join(rule.title for rule in self.together.get((place, note), ())) or NOT_FOUND

    def explained(self, found: Comparison) -> Comparison:
        """The comparison with the rules at what they did."""
        places = [((turn.turn.message, turn.turn.swipe), frozenset().union(*turn.alone)) for turn in found.turns]
        why = {(place, note): self.words(place, note) for place, notes in places for note in notes}
        return replace(found, why=why, reasons=self._reasons(found))

    def _reasons(self, found: Comparison) -> tuple[tuple[str, int], ...]:
        """Every rule that did something with the number of turns in which it did, most first."""
        counted: dict[str, set[Place]] = {}
        for turn in found.turns:
            place = turn.turn.message, turn.turn.swipe
            for note in frozenset().union(*turn.alone):
                for rule in self.of(place, note):
                    counted.setdefault(rule.title, set()).add(place)
        return tuple((title, len(places)) for title, places in sorted(counted.items(), key=lambda each: -len(each[1])))


async def rule_causes(
    before: str,
    after: str,
    traces: tuple[Sequence[Trace], Sequence[Trace]],
    run: Callable[[str], Awaitable[Sequence[Trace]]],
    on_rule: Callable[[str], None] | None = None,
) -> RuleCauses:
    """What made the difference between the runs `traces` by the rules `before` and `after`, each over the whole chat.

    `run` runs the chat by the rules that it is given; `on_rule` is told in words which rule is tried. Raises what `run`
    raises.
    """
    wanted = _changes(*traces)
    rules = _differing(before, after, traces)
    alone: dict[tuple[Place, Note], list[ChangedRule]] = {}
    tried = 0

    async def ran(start: str, rule: ChangedRule, *, as_in: str) -> Sequence[Trace]:
        nonlocal tried
        tried += 1
        if on_rule is not None:
            on_rule(rule.title)
        return await run(with_rule(start, rule.name, holds=getattr(rules_of(as_in), rule.name)))

    for rule in rules if wanted else ():
        for place, note, _comes in wanted & _changes(traces[0], await ran(before, rule, as_in=after)):
            alone.setdefault((place, note), []).append(rule)
    left = {each for each in wanted if each[:2] not in alone}
    together: dict[tuple[Place, Note], list[ChangedRule]] = {}
    for rule in rules if left else ():
        for place, note, _comes in left - _changes(traces[0], await ran(after, rule, as_in=before)):
            together.setdefault((place, note), []).append(rule)
    return RuleCauses(alone, together, tried)


def _changes(before: Sequence[Trace], after: Sequence[Trace]) -> set[Change]:
    """Which notes come in and which leave from one run of the chat to the other."""
    found: set[Change] = set()
    for one, other in zip(before, after, strict=True):
        place = one.turn.message, one.turn.swipe
        old, new = set(noted(one)), set(noted(other))
        found |= {(place, note, True) for note in new - old} | {(place, note, False) for note in old - new}
    return found


def _differing(before: str, after: str, traces: tuple[Sequence[Trace], Sequence[Trace]]) -> list[ChangedRule]:
    """The rules that the two do not have in common, without those about stages that neither run came to."""
    stages = {record.name for run in traces for trace in run for record in trace.stages}
    old, new = rules_of(before), rules_of(after)
    return [
        rule
        for rule in changed_rules()
        if getattr(old, rule.name) != getattr(new, rule.name)
        and (not rule.affects or not stages.isdisjoint(rule.affects))
    ]
