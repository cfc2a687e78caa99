"""Which facts are pinned by themselves (spec: fact-memory 9.5)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from lorestudio.domain.javascript import Json
from lorestudio.domain.patterns import compile_pattern
from lorestudio.memory.facts.records import Fact


@dataclass(frozen=True, slots=True)
class PinRule:
    """A test of a new fact. `reason` is for people; it is stored nowhere."""

    test: Callable[[Fact], bool]
    reason: str = ""


def pattern_rule(pattern: str, flags: str = "i", reason: str = "") -> PinRule:
    """Pins facts whose text the pattern is found in. Raises PatternError."""
    compiled = compile_pattern(pattern, flags)
    return PinRule(lambda fact: compiled.search(fact.content) is not None, reason)


def field_rule(field: str, equals: Json, reason: str = "") -> PinRule:
    """Pins facts one of whose fields has a value, or holds it where the field is a list."""

    def test(fact: Fact) -> bool:
        value = fact.data.get(field)
        return equals in value if isinstance(value, list | tuple) else value == equals

    return PinRule(test, reason)


def is_pinned(fact: Fact, rules: Sequence[PinRule]) -> bool:
    """Whether any rule pins the fact."""
    return any(rule.test(fact) for rule in rules)
