"""The hash of a text (rules: deeplore 1.11) against its definition."""

import pytest

from lorestudio.domain.javascript import simple_hash


@pytest.mark.parametrize("letters", ["xy", "xé", "x漢"])
@pytest.mark.parametrize("length", [1, 2, 3, 4095, 4096, 4097, 8191, 8192, 8193])
def test_hash_follows_its_definition_at_every_length(length: int, letters: str) -> None:
    text = (letters * length)[:length]
    first, second = 5381, 52711
    for char in text:
        first = (first * 33 + ord(char)) % 2**32
        second = (second * 33 + ord(char)) % 2**32
    units, *hashes = simple_hash(text).split("_")
    assert (int(units), [int(digits, 36) for digits in hashes]) == (length, [first, second])
