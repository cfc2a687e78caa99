"""Vectors are made once: the stand-in's too are found again by the next start of the program."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from lorestudio.llm import embedding
from lorestudio.llm.embedding import HashEmbedder, Vector, hashed
from lorestudio.llm.errors import ErrorKind, LlmError
from lorestudio.settings.hybrid import HybridSettings
from lorestudio.studio.compare.comparison import Candidate, simulator_of
from lorestudio.studio.project.project import demo_project
from lorestudio.systems.base import System
from lorestudio.systems.facts.system import FactsSystem
from lorestudio.systems.hybrid import system as hybrid
from lorestudio.systems.hybrid.system import HybridSystem
from lorestudio.systems.vectors import KnownVectors
from lorestudio.systems.worldinfo.system import WorldInfoSystem
from tests.systems.makers import Maker


def test_what_the_stand_in_made_is_not_made_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[str] = []
    monkeypatch.setattr(embedding, "hashed", lambda text, dimensions: made.append(text) or hashed(text, dimensions))
    file = tmp_path / "vectors.sqlite"
    first = asyncio.run(KnownVectors(HashEmbedder(), file).of(["a lamp", "the tide"]))
    again = asyncio.run(KnownVectors(HashEmbedder(), file).of(["the tide", "a lamp", "new"]))
    assert made == ["a lamp", "the tide", "new"]
    assert all(np.array_equal(first[text], again[text]) for text in first)


class Silent:
    """A server that answers about the texts of `known` only."""

    model_id = label = "silent"

    def __init__(self, *known: str) -> None:
        self.known, self.asked = known, 0

    async def embed(self, texts: Sequence[str]) -> tuple[Vector, ...]:
        self.asked += 1
        if set(texts) - set(self.known):
            raise LlmError(ErrorKind.TIMED_OUT, "Request timed out (30s)")
        return tuple(np.ones(2) for _ in texts)


def test_after_three_failures_nobody_is_asked_any_more_and_what_is_known_is_found(tmp_path: Path) -> None:
    """A replay of a long chat waited for each reply as long as a provider may take."""
    file, silent = tmp_path / "vectors.sqlite", Silent("a", "b")
    asyncio.run(KnownVectors(Silent("a"), file).of(["a"]))
    vectors = KnownVectors(silent, file)
    told = []
    for place in range(6):
        with pytest.raises(LlmError) as caught:
            asyncio.run(vectors.of(["a", f"new {place}"]))
        told.append(caught.value.text)
    assert silent.asked == 3
    assert all("is not asked any more" not in text for text in told[:3])
    assert all("is not asked any more" in text for text in told[3:])
    assert "a" in asyncio.run(vectors.of(["a"]))
    assert silent.asked == 3
    assert "b" in asyncio.run(KnownVectors(silent, file).of(["b"]))  # a replay that is begun anew


def test_a_text_is_the_sum_of_its_words() -> None:
    """By rule each occurrence of a word counts, so the whole is worked out from single words without their length."""
    twice = 2 * _length("lamp") * hashed("lamp") + _length("sea") * hashed("sea")
    assert np.allclose(hashed("Lamp, sea; lamp!"), twice / np.linalg.norm(twice), atol=1e-12)
    assert not hashed("?!").any()


def _length(word: str) -> float:
    """The length that a word's features have before they are brought to 1: its least part is 1 where none meet."""
    vector = hashed(word)
    return float(1 / np.abs(vector[np.nonzero(vector)]).min())


@pytest.mark.parametrize("kind", [FactsSystem, HybridSystem, WorldInfoSystem])
def test_whoever_may_ask_for_vectors_counts_them_and_also_runs_without_asking(
    kind: type[System], tmp_path: Path
) -> None:
    maker = Maker()
    system = kind(vectors=KnownVectors(maker, tmp_path / "vectors.sqlite"))  # type: ignore[call-arg]
    counted = system.counting_vectors()
    assert counted is not None
    asyncio.run(counted.system.vectors.of(["a", "b", "a"]))  # type: ignore[attr-defined]
    assert (counted.maker, list(counted.texts)) == ("Local · m", ["a", "b"])
    made = system.with_made_vectors()
    assert made.counting_vectors() is None
    with pytest.raises(LlmError, match="nobody is asked"):
        asyncio.run(made.vectors.of(["a"]))  # type: ignore[attr-defined]
    assert maker.asked == []


def test_a_comparison_of_systems_asks_nobody_for_vectors(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hybrid, "embedder_named", lambda _name: Maker())
    chosen = Candidate("by vectors", "hybrid", settings=HybridSettings(embedder="Local"))
    assert simulator_of(demo_project(), chosen).system.counting_vectors() is None
