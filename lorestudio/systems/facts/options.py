"""How a run of the pipeline goes about it.

Which facts are pinned by themselves (spec: fact-memory 9.5).

Making the vectors of many texts with so many calls at a time (spec: fact-memory 9.2).
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Final

from lorestudio.domain.javascript import Json
from lorestudio.domain.patterns import compile_pattern
from lorestudio.llm.embedding import Vector
from lorestudio.systems.facts.extraction import KEYWORDS
from lorestudio.systems.facts.profile import Rule
from lorestudio.systems.facts.records import SAFE, STRICT, Fact
from lorestudio.systems.facts.similarity import DEDUPLICATION, SUPERSEDE


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


USUAL: Final = 5


async def embed_all(
    texts: Sequence[str], embed: Callable[[str], Awaitable[Vector]], concurrency: float = USUAL, *, strict: bool
) -> list[Vector | None]:
    """The vectors in the order of the texts. Calls start in order, at most `concurrency` at a time.

    The first call that fails is raised. In safe mode the others are stopped before; in strict mode they empty the queue
    first, as the original's do behind one's back. Without a worker (strict, concurrency below 1) there are no vectors.
    """
    found: list[Vector | None] = [None] * len(texts)
    upcoming = iter(range(len(texts)))
    failures: list[Exception] = []

    async def work() -> None:
        for place in upcoming:
            try:
                found[place] = await embed(texts[place])
            except Exception as error:
                failures.append(error)
                raise

    workers = [asyncio.ensure_future(work()) for _ in range(min(_workers(concurrency, strict=strict), len(texts)))]
    if not workers:
        return found
    try:
        await asyncio.wait(workers, return_when=asyncio.ALL_COMPLETED if strict else asyncio.FIRST_EXCEPTION)
    finally:
        for worker in workers:
            worker.cancel()
        await asyncio.gather(*workers, return_exceptions=True)
    if failures:
        raise failures[0]
    return found


def _workers(concurrency: float, *, strict: bool) -> int:
    if math.isnan(concurrency):
        return 0 if strict else USUAL
    if math.isinf(concurrency):
        return 10_000 if concurrency > 0 else int(not strict)
    return int(concurrency) if strict and concurrency > 0 else 0 if strict else max(1, int(concurrency))


@dataclass(frozen=True, slots=True)
class Options:
    """How a run goes about it. `structured` None or empty sorts nothing into a profile."""

    deduplication: float = DEDUPLICATION
    supersede: float = SUPERSEDE
    concurrency: float = USUAL
    pins: tuple[PinRule, ...] = ()
    structured: tuple[Rule, ...] | None = None
    reflection: bool = False
    reflection_prompt: str = ""
    tagging: str = KEYWORDS
    vector_model: str = ""
    mode: str = SAFE

    @property
    def strict(self) -> bool:
        """Whether slips of the original are kept."""
        return self.mode == STRICT
