from __future__ import annotations

import math

import pytest

from lorestudio.domain.javascript import is_finite_number, to_number
from lorestudio.domain.json_text import mapping_in, number_in, object_in, parse_json


@pytest.mark.parametrize(
    ("text", "value"),
    [("0x1F", 31), ("0b101", 5), ("0o17", 15), ("0xg", math.nan), ("0x", math.nan), ("0x" + "f" * 5000, math.inf),
     ("1.", 1), (".5e1", 5), (".", math.nan), pytest.param("1" * 1_000_000 + "x", math.nan, id="long")],
)  # fmt: skip
def test_a_text_is_the_number_that_javascript_reads(text: str, value: float) -> None:
    assert to_number(text) == pytest.approx(value, nan_ok=True)


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("3", 3),
        ("-1.5", -1.5),
        ("0", 0),
        ("true", None),
        ('"3"', None),
        ("1e999", None),
        ("9" * 398, None),
        ("[]", None),
    ],
)
def test_a_number_in_json_is_one_that_javascript_has(text: str, number: float | None) -> None:
    value = parse_json(text)
    assert (number_in(value), is_finite_number(value)) == (number, number is not None)


def test_no_number_is_not_a_number() -> None:
    assert not is_finite_number(math.nan)


def test_what_is_no_object_counts_as_an_empty_one() -> None:
    assert (mapping_in({"a": 1}), mapping_in([1]), object_in({"a": {"b": 2}}, "a"), object_in(None, "a")) == (
        {"a": 1}, {}, {"b": 2}, {},
    )  # fmt: skip
