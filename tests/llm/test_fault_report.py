"""A report on an error of the program says where it happened, and nothing of the person's."""

from __future__ import annotations

from pathlib import Path

import pytest

from lorestudio.llm.redaction import fault_report


def raised(words: str) -> Exception:
    def inner() -> None:
        raise KeyError(words)

    try:
        try:
            inner()
        except KeyError as error:
            raise ValueError(f"“{words}” has no key: sk-abcdefgh1234 in {Path.home()}/vault") from error
    except ValueError as error:
        return error
    raise AssertionError


def test_the_places_are_told_and_the_words_are_not() -> None:
    told = fault_report(raised("The Drowned Bell"))
    assert told.startswith("lorestudio ")
    assert "in inner" in told
    assert "KeyError: “…”" in told
    assert "ValueError: “…” has no key: ••• in ~/vault" in told
    for secret in ("Drowned", "sk-abcdefgh1234", str(Path.home())):
        assert secret not in told


@pytest.mark.parametrize("text", ["it's a 'quoted' \"text\"", "“open", "", "a\nb"])
def test_any_message_makes_a_report(text: str) -> None:
    assert "ValueError" in fault_report(ValueError(text))


def test_errors_that_lead_to_each_other_come_to_an_end() -> None:
    first, second = ValueError("a"), ValueError("b")
    first.__cause__, second.__cause__ = second, first
    assert fault_report(first).count("ValueError") == 2
