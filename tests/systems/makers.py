"""Whoever makes vectors, and notes of which texts."""

from __future__ import annotations

from collections.abc import Sequence

from lorestudio.llm.embedding import Vector, hashed


class Maker:
    """Makes vectors of 16 numbers in place of a provider."""

    model_id = "local/m"
    label = "Local · m"

    def __init__(self) -> None:
        self.asked: list[tuple[str, ...]] = []

    @property
    def texts(self) -> list[str]:
        """All texts that it was asked about."""
        return [text for texts in self.asked for text in texts]

    async def embed(self, texts: Sequence[str]) -> tuple[Vector, ...]:
        """A vector for each text."""
        self.asked.append(tuple(texts))
        return tuple(hashed(text, 16) for text in texts)
