"""What differs between two runs of DeepLore besides settings, notes, choices and chat."""

from __future__ import annotations

from collections.abc import Iterator

from lorestudio.domain.records import replace
from lorestudio.domain.state import AiState
from lorestudio.settings.behaviour import switches
from lorestudio.settings.rules import NEW, OLD, changed_rules, with_rule
from lorestudio.systems.base import RunInputs
from lorestudio.systems.differences import Carry, DifferenceKind, InputDifference


def own_differences(before: RunInputs, after: RunInputs) -> Iterator[InputDifference]:
    """Behaviour switches and rules, then what follows from earlier turns, then who answers."""
    yield from _switches(before, after)
    yield from _rules(before, after)
    yield from _trackers(before, after)
    one, other = before.system, after.system
    if (one.answers.name, one.model) != (other.answers.name, other.model):
        yield InputDifference(
            DifferenceKind.OTHER,
            "Who answers",
            f"{one.answers.name} {one.model}".strip(),
            f"{other.answers.name} {other.model}".strip(),
            lambda target, source: replace(
                target, system=replace(target.system, answers=source.system.answers, model=source.system.model)
            ),
        )


def _switches(before: RunInputs, after: RunInputs) -> Iterator[InputDifference]:
    for switch in switches():
        old, new = (getattr(each.system.behaviour, switch.name) for each in (before, after))
        if old != new:
            yield InputDifference(
                DifferenceKind.SWITCH, switch.title, str(old), str(new), _carry_switch(switch.name), (switch.affects,)
            )


def _carry_switch(name: str) -> Carry:
    def carry(target: RunInputs, source: RunInputs) -> RunInputs:
        behaviour = target.system.behaviour.model_copy(update={name: getattr(source.system.behaviour, name)})
        return replace(target, system=replace(target.system, behaviour=behaviour))  # type: ignore[type-var]  # a dataclass

    return carry


def _rules(before: RunInputs, after: RunInputs) -> Iterator[InputDifference]:
    """Each rule by itself; of those about reading notes, what they made of the notes is told as differing notes."""
    old, new = (each.system.settings.rule_set for each in (before, after))
    for rule in changed_rules():
        if rule.affects and getattr(old, rule.name) != getattr(new, rule.name):
            one, other = (NEW if getattr(each, rule.name) else OLD for each in (old, new))
            carry = _carry_rule(rule.name)
            yield InputDifference(DifferenceKind.RULE, rule.title, one, other, carry, rule.affects, setting="rules")


def _carry_rule(name: str) -> Carry:
    def carry(target: RunInputs, source: RunInputs) -> RunInputs:
        holds = getattr(source.system.settings.rule_set, name)
        settings = target.system.settings
        changed = settings.model_copy(update={"rules": with_rule(settings.rules, name, holds=holds)})
        return replace(target, system=replace(target.system, settings=changed))  # type: ignore[type-var]  # a dataclass

    return carry


def _trackers(before: RunInputs, after: RunInputs) -> Iterator[InputDifference]:
    old, new = before.state, after.state
    if replace(old, random_state=0, ai=AiState()) != replace(new, random_state=0, ai=AiState()):
        yield InputDifference(
            DifferenceKind.TRACKERS,
            "Trackers",
            "",
            "cooldowns, warmups and logs as earlier turns left them",
            lambda target, source: replace(
                target, state=replace(source.state, random_state=target.state.random_state, ai=target.state.ai)
            ),
        )
    if old.ai != new.ai:
        yield InputDifference(
            DifferenceKind.TRACKERS,
            "AI cache and circuit breaker",
            "",
            "as earlier turns left them",
            lambda target, source: replace(
                target,
                state=replace(target.state, ai=source.state.ai),
                moment=replace(target.moment, clock_ms=source.moment.clock_ms),
            ),
        )
    if old.random_state != new.random_state:
        yield InputDifference(
            DifferenceKind.ROLLS,
            "Probability rolls",
            "",
            "other random numbers are next",
            lambda target, source: replace(
                target,
                state=replace(target.state, random_state=source.state.random_state),
                moment=replace(target.moment, seed=source.moment.seed),
            ),
        )
