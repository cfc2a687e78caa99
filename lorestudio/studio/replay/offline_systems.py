"""Systems for trying things out: they decide as the real ones do, and ask nobody for a vector."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from lorestudio.llm.vectors import KnownVectors, MadeVectors
from lorestudio.systems.base import System
from lorestudio.systems.facts.system import FactsSystem
from lorestudio.systems.hybrid.system import HybridSystem
from lorestudio.systems.worldinfo.system import WorldInfoSystem


@dataclass(frozen=True, slots=True)
class OfflineSystem:
    """A system that asks nobody. `made` are the vectors that it has, None where it makes its own or needs none."""

    system: System
    made: MadeVectors | None = field(default=None, repr=False)

    @property
    def remarks(self) -> tuple[str, ...]:
        """A sentence on texts that had no vector."""
        amount = len(self.made.missing) if self.made is not None else 0
        if not amount:
            return ()
        texts, them = ("text is", "it") if amount == 1 else ("texts are", "them")
        return (f"{amount:,} {texts} without a vector: nobody is asked for one here, so likeness leaves {them} out.",)


def offline(system: System, known: System | None = None) -> OfflineSystem:
    """The system as it is for one run. It takes over the vectors that `known`, another one of its kind, has already."""
    if not isinstance(system, HybridSystem | WorldInfoSystem | FactsSystem):
        return OfflineSystem(system)
    vectors, others = system.vectors, getattr(known, "vectors", None)
    if isinstance(vectors, MadeVectors):
        again = vectors.afresh()
        return OfflineSystem(replace(system, vectors=again), again)
    if not isinstance(vectors, KnownVectors):
        return OfflineSystem(system)
    if isinstance(others, KnownVectors) and others.model_id == vectors.model_id:
        vectors = others
    if vectors.is_free:
        return OfflineSystem(replace(system, vectors=vectors))
    made = MadeVectors(vectors)
    return OfflineSystem(replace(system, vectors=made), made)
