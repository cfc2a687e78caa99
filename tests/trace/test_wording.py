import json
import math
from datetime import datetime

import pytest

from lorestudio.trace.wording import (
    calendar_time,
    controls_escaped,
    fill,
    joined,
    number_words,
    one_line,
    ordinal,
    place,
    plural,
    quoted,
    signed_words,
    time_words,
)
from tests.trace.examples import fields


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (0, "0"), (1842, "1,842"), (-1842, "-1,842"), (2.0, "2"), (0.5, "0.5"),
        (1 / 3, "0.3333"), (12345.5, "12,345.5"),
        (0.00001234, "1.234e-05"), (math.inf, "∞"), (-math.inf, "-∞"), (math.nan, "not a number"),
    ],
)  # fmt: skip
def test_numbers_have_separators_and_few_decimals(value, words):
    assert number_words(value) == words


@pytest.mark.parametrize(
    ("items", "words"),
    [
        ([], ""), (["A"], "A"), (["A", "B"], "A and B"), (["A", "B", "C"], "A, B and C"),
        ([str(n) for n in range(15)], "0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11 and 3 more"),
    ],
)  # fmt: skip
def test_lists_read_as_prose(items, words):
    assert joined(items) == words


@pytest.mark.parametrize(
    ("value", "forms", "words"),
    [
        (1, "# token|# tokens", "1 token"), (1.0, "# token|# tokens", "1 token"), (0, "# token|# tokens", "0 tokens"),
        (2000, "# token|# tokens", "2,000 tokens"), (0.5, "# token|# tokens", "0.5 tokens"),
        (0, "none|one|many", "none"), (1, "none|one|many", "one"), (7, "none|one|many", "many"),
        (["a"], "is|are", "is"), (["a", "b"], "is|are", "are"), ("text", "is|are", "is"), (1, "left #", "left 1"),
        (3, "left #", "left 3"),
    ],
)  # fmt: skip
def test_plural_chooses_by_number_or_by_length(value, forms, words):
    assert plural(value, forms) == words


@pytest.mark.parametrize(
    ("template", "details", "text"),
    [
        ("{a} of {b}", {"a": 1842, "b": "x"}, "1,842 of x"),
        ("{a!q}", {"a": ["x", "y", "z"]}, "“x”, “y” and “z”"),
        ("{a!v} or {b!v}", {"a": None, "b": []}, "nothing or nothing"),
        ("{a!v}", {"a": ["x", 2, True]}, "“x”, 2 and true"),
        ("{a!w}; {b!w}", {"a": "gt", "b": "no_such_code"}, "the note's must be the greater one; no such code"),
        ("x[ in {m}][, {k!q}].", {"k": "y"}, "x, “y”."),
        ("[to {a}|by {b:# token|# tokens}]", {"b": 1}, "by 1 token"),
        ("[to {a}|by {b:# token|# tokens}]", {"a": 3, "b": 1}, "to 3"),
        ("of [{a!q}|another]", {}, "of another"),
        ("plain", {}, "plain"),
        ("It says: {a}. So.", {"a": "Nobody there."}, "It says: Nobody there. So."),
        ("It says: {a}.", {"a": "Nobody th…"}, "It says: Nobody th…"),
        ("In {a}.", {"a": "../lore"}, "In ../lore."),
        ("{a}", {"a": {"x": 1, "y": [2, 3]}}, "x: 1 and y: 2 and 3"),
    ],
)
def test_templates_are_filled(template, details, text):
    assert fill(template, details) == text


@pytest.mark.parametrize("details", [{}, {"a": None}, {"a": ""}, {"a": []}])
def test_a_missing_detail_leaves_the_template_unfilled(details):
    assert fill("needs {a}", details) is None
    assert fill("needs {a:# token|# tokens}", details) is None


def test_fields_of_optional_parts_are_not_required():
    template = "{a} [{b!q}|x {c:one|many}] {d!w}"
    assert fields(template) == {"a", "d"}
    assert fields(template, required=False) == {"a", "b", "c", "d"}


def test_long_and_broken_texts_become_one_short_line():
    assert quoted("a\r\nb\tc") == "“a b c”"
    assert one_line(" key ") == " key "
    assert one_line("x" * 500) == "x" * 119 + "…"


@pytest.mark.parametrize(
    ("where", "words"),
    [
        ((-1, 4, 0), "in an outlet"), ((0, 4, 1), "after the main prompt, as user"),
        ((1, 2.5, 2), "in the chat at depth 2.5, as assistant"), ((2, 0, 0), "before the main prompt, as system"),
        ((1, 10_000, 7), "in the chat at depth 10,000, as system"),
    ],
)  # fmt: skip
def test_places_in_words(where, words):
    assert place(*where) == words


def test_differences_have_a_true_minus():
    assert [signed_words(value) for value in (1264, -2840, 0)] == ["+1,264", "\u22122,840", "+0"]


def test_a_moment_is_told_by_the_clock_of_this_computer():
    at = datetime(2026, 3, 4, 5, 6, 7).astimezone()
    assert time_words(at.timestamp() * 1000) == "2026-03-04 05:06:07"
    assert time_words(at.timestamp() * 1000, "%H:%M") == "05:06"


@pytest.mark.parametrize("ms", [None, 0, 1e15, -1e15, 1e30, math.inf, math.nan])
def test_a_moment_that_no_calendar_has_is_none(ms):
    assert time_words(ms) == ""


def test_a_place_in_a_row_has_its_ending() -> None:
    assert [ordinal(each) for each in (1, 2, 3, 4, 11, 12, 21, 102)] == [
        "1st", "2nd", "3rd", "4th", "11th", "12th", "21st", "102nd",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("ms", "day"), [(0, "1970-01-01"), (10**17, "9999-12-31"), (-(10**17), "1000-01-01"), (math.inf, "9999-12-31")]
)
def test_a_moment_beyond_all_calendars_is_the_nearest_that_they_have(ms, day):
    assert calendar_time(ms).date().isoformat() == day


def test_json_has_no_line_end_within_a_text() -> None:
    value = {"a\u2029": "the lamp\u2028 the tide\x85 the bell\x1b"}
    written = controls_escaped(json.dumps(value, ensure_ascii=False))
    assert len(written.splitlines()) == 1
    assert json.loads(written) == value
