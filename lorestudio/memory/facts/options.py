"""How a run of the pipeline goes about it."""

from __future__ import annotations

from dataclasses import dataclass

from lorestudio.memory.facts.classification import Rule
from lorestudio.memory.facts.extraction import KEYWORDS
from lorestudio.memory.facts.pinning import PinRule
from lorestudio.memory.facts.pool import USUAL
from lorestudio.memory.facts.records import SAFE, STRICT
from lorestudio.memory.facts.similarity import DEDUPLICATION, SUPERSEDE


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
