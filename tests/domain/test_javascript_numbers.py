from __future__ import annotations

import math

import pytest

from lorestudio.domain.javascript import to_number


@pytest.mark.parametrize(
    ("text", "value"),
    [("0x1F", 31), ("0b101", 5), ("0o17", 15), ("0xg", math.nan), ("0x", math.nan), ("0x" + "f" * 5000, math.inf)],
)
def test_numbers_of_other_bases(text: str, value: float) -> None:
    assert to_number(text) == pytest.approx(value, nan_ok=True)
