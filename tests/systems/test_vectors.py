"""Vectors are made once: the stand-in's too are found again by the next start of the program."""

from __future__ import annotations

import asyncio
from pathlib import Path

import numpy as np
import pytest

from lorestudio.llm import embedding
from lorestudio.llm.embedding import HashEmbedder, hashed
from lorestudio.systems.vectors import KnownVectors


def test_what_the_stand_in_made_is_not_made_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[str] = []
    monkeypatch.setattr(embedding, "hashed", lambda text, dimensions: made.append(text) or hashed(text, dimensions))
    file = tmp_path / "vectors.sqlite"
    first = asyncio.run(KnownVectors(HashEmbedder(), file).of(["a lamp", "the tide"]))
    again = asyncio.run(KnownVectors(HashEmbedder(), file).of(["the tide", "a lamp", "new"]))
    assert made == ["a lamp", "the tide", "new"]
    assert all(np.array_equal(first[text], again[text]) for text in first)


def test_a_text_is_the_sum_of_its_words() -> None:
    """By rule each occurrence of a word counts, so the whole is worked out from single words without their length."""
    twice = 2 * _length("lamp") * hashed("lamp") + _length("sea") * hashed("sea")
    assert np.allclose(hashed("Lamp, sea; lamp!"), twice / np.linalg.norm(twice), atol=1e-12)
    assert not hashed("?!").any()


def _length(word: str) -> float:
    """The length that a word's features have before they are brought to 1: its least part is 1 where none meet."""
    vector = hashed(word)
    return float(1 / np.abs(vector[np.nonzero(vector)]).min())
