"""Getting a list out of a reply, and entries out of the list (rules: deeplore 4.7, 4.8)."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lorestudio.systems.deeplore.ai.replies import Pick, extract_list, normalize
from tests.examples import examples

FENCE = "```"


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ('["A","B"]', ["A", "B"]),
        ("[]", []),
        ("{}", None),
        ("[1,2]", None),
        ('[{"foo":1}]', None),
        ('"just string"', None),
        ("5", None),
        ('{"title":"A","confidence":"high"}', None),
        ('[{"title":"A"},]', None),
        ('[1,"A"]', [1, "A"]),
        ('{"selected":[]}', []),
        ('{"foo":["A"],"results":["B"]}', ["B"]),
        ('{"foo":[1],"bar":["B"]}', ["B"]),
        ('{"results":[1,2],"x":["A"]}', ["A"]),
        ('{"a":{"selected":["A"]}}', ["A"]),
        ('[["A"]]', ["A"]),
        ('["A"] ["B","C","D"]', ["B", "C", "D"]),
        ('I think [maybe] ["A"]', ["A"]),
        ('Don\'t pick. ["A"]', ["A"]),
        ('{"text":"[\\"A\\"]"}', ["A"]),
    ],
)
def test_the_verified_table(reply: str, expected: list[Any] | None) -> None:
    """The last table of the rules (rules: deeplore 4.8)."""
    assert extract_list(reply) == expected


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        (f'{FENCE}json\n["A"]\n{FENCE}', ["A"]),
        (f'{FENCE}\n["A"]\n{FENCE}', ["A"]),
        (f'{FENCE}json\n["A"]', ["A"]),  # never closed: the fence line goes
        (f'Sure!\n{FENCE}json\n[{{"name":"A"}}]\n{FENCE}\nDone.', [{"name": "A"}]),
        (f'Here: {FENCE}json["A"]{FENCE} and ["B","C"]', ["A"]),  # a fence within a line comes before the fragments
        (f'Here: {FENCE}js["A"]{FENCE} and ["B","C"]', ["B", "C"]),  # only json is a tag there
        ('I choose:\n["A"]\nbecause', ["A"]),
        ('\ufeff["A"]', ["A"]),  # a byte order mark is white space
        ('  \n["A"]\u00a0', ["A"]),
        ('"[\\"A\\"]"', ["A"]),  # a JSON text that holds JSON
        ('[{"title":"A"},{"tit', None),  # cut off: nothing is repaired
        ('[{"title":"A"},{"title":"B"}', None),
        ("no JSON at all", None),
        ("", None),
        (" \n ", None),
        (FENCE, None),
        ('["A", NaN]', None),
        ('["A", Infinity]', None),
        ('[{"title":"it\'s"}]', [{"title": "it's"}]),
        ('x {"selected":["]"]} y', ["]"]),  # brackets in strings do not count
        ("['A'] [\"B\"]", ["B"]),  # single quotes balance, but are no JSON
        ('\\["A"] ["B"]', ["A"]),  # the scan begins at the bracket: what stands before it escapes nothing
    ],
)
def test_where_the_list_is_found(reply: str, expected: list[Any] | None) -> None:
    assert extract_list(reply) == expected


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ("{ candidates: [ { content: { parts: [ { text: '[\"A\"]' } ] } } ] }", ["A"]),
        ("candidates: [{ text: '[{\"title\":' +\n  '\"It\\'s\"}, ' + '\"B\"]' }]", [{"title": "It's"}, "B"]),
        (r"candidates: text: '```json\n[\u0022A\x22, \"a\\\u0062\"]\n```'", ["A", "a\b"]),
        ("candidates: text: '[\"A\",' text: '\"B\"]'", ["A", "B"]),  # parts are put together by line ends
        (f'candidates: text: \'["A"]\' {FENCE}json\n["B"]{FENCE}', ["B"]),  # a fence comes first
        ('candidates: text: \'["A"]\' ["B", "C"]', ["A"]),  # fragments come last
        ("candidates: text: 'none' [\"B\"]", ["B"]),
        ("text: 'prose' [\"B\"]", ["B"]),  # no envelope
        ("candidates: text: 'never closed", None),
        ("candidates: text: none", None),
    ],
)
def test_an_envelope_printed_by_javascript(reply: str, expected: list[Any] | None) -> None:
    """Damaged JSON (rules: deeplore 4.8; deeplore-tools 1.6.1 step 3)."""
    assert extract_list(reply) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, None),
        (0, None),
        (False, None),
        (True, None),
        (7.5, None),
        ([], []),
        (["A"], ["A"]),
        ([0, None], None),
        ([{"title": ""}, {"name": 0}], None),
        ([{"title": "", "name": "n"}], [{"title": "", "name": "n"}]),
        ({"entries": ["e"], "titles": ["t"], "selected": ["s"]}, ["e"]),
        ({"selected": ["s"], "titles": ["t"]}, ["t"]),
        ({"z": ["z"], "2": ["two"], "1": ["one"]}, ["one"]),  # whole numbers come first in JavaScript
        ({"01": ["x"], "1": ["one"]}, ["one"]),
        ({"candidates": [{"content": {"parts": [{"text": '["A"'}, {"text": "]"}]}}]}, ["A"]),
        ({"output_text": '["A"]', "results": ["B"]}, ["A"]),
        ({"text": "nothing", "results": ["B"]}, ["B"]),  # an envelope without a list is looked into as an object
        ({"text": "  ", "output_text": '["A"]'}, ["A"]),
        ({"content": [{"text": '["A"'}, {"type": "x"}, {"text": "]"}]}, ["A"]),
        ({"content": "[]"}, None),
    ],
)
def test_values_that_arrive_parsed(value: Any, expected: list[Any] | None) -> None:
    assert extract_list(value) == expected


@pytest.mark.parametrize(
    ("item", "expected"),
    [
        ("A", Pick("A", "medium", "AI search")),
        (" A ", Pick(" A ", "medium", "AI search")),  # titles are not trimmed
        ({"title": "A"}, Pick("A", "medium", "AI search")),
        ({"title": "A", "confidence": "high", "reason": "r"}, Pick("A", "high", "r")),
        ({"title": "A", "confidence": "low", "reason": ""}, Pick("A", "low", "")),
        ({"title": "A", "confidence": "HIGH", "reason": 5}, Pick("A", "medium", "AI search")),
        ({"title": "A", "confidence": ["high"]}, Pick("A", "medium", "AI search")),
        ({"title": "", "name": "n"}, Pick("n", "medium", "AI search")),
        ({"title": "t", "name": "n"}, Pick("t", "medium", "AI search")),
        ({"title": 5, "name": "n"}, None),  # the first truthy one has to be a text
        ({"title": ["A"]}, None),
        ({"reason": "r"}, None),
        ("", None),
        (" \u00a0", None),
        ("null", None),
        ("undefined", None),
        ({"title": "null"}, None),
        ("Null", Pick("Null", "medium", "AI search")),
        (5, None),
        (True, None),
        (None, None),
        (["A"], None),
    ],
)
def test_items(item: Any, expected: Pick | None) -> None:
    """Items of every shape (rules: deeplore 4.7)."""
    assert normalize([item]) == ([] if expected is None else [expected])


def test_items_keep_their_order_and_repetitions() -> None:
    """Rules: deeplore-tools 1.12 row 2."""
    assert [pick.title for pick in normalize([None, {"title": "null"}, "B", "A", "B"])] == ["B", "A", "B"]


@pytest.mark.parametrize(
    "reply",
    [
        "[" * 16_000,
        "[" * 16_000 + "]" * 16_000,
        "{" * 16_000,
        "candidates: text: '" + "\\'" * 16_000,
        "candidates: " + "text: ' + " * 4_000,
        '["' * 8_000,
        "[]" * 8_000 + "x",
        "[[1]," * 3_000,
        '{"a":' * 3_000,
        "[1] " * 4_000,
        "9" * 16_000,
        "`" * 16_000,
        "``` " * 4_000,
        " " * 16_000,
        "\n" * 16_000,
        "```\n" * 4_000,
        "\n \n" * 5_000,
        "\n" * 16_000 + "```",
        "```" + " " * 16_000 + "x",
        "`" * 16_000 + "x y",
        "[1," * 5_000 + "x" + "]" * 5_000,
        '{"a":' * 3_000 + "1" + "}" * 3_000,
        "\\[" * 8_000 + "]" * 8_000,
    ],
    ids=lambda reply: f"{reply[:6]!r}",
)
def test_a_hostile_reply_ends(reply: str) -> None:
    """A reply at the longest limit (4096 tokens, here as 16,000 characters) must not hold up the window."""
    assert not [item for item in extract_list(reply) or () if isinstance(item, (str, dict))]  # it names no entry


def closing(text: str, start: int) -> int:
    """Word by word (rules: deeplore 4.8): the end of the piece that begins at `start`, 0 where it never closes."""
    closer = {"[": "]", "{": "}"}[text[start]]
    depth, quote, escaped = 0, "", False
    for place, char in enumerate(text[start:], start):
        if escaped:
            escaped = False
        elif char == "\\":
            escaped = True
        elif quote:
            quote = "" if char == quote else quote
        elif char in "\"'":
            quote = char
        elif char == text[start]:
            depth += 1
        elif char == closer:
            depth -= 1
            if not depth:
                return place + 1
    return 0


PARTS = ["[", "]", "{", "}", '"', "'", "\\", "A", ",", '"B"', "[]", '{"a":', "5"]
TEXTS = st.lists(st.sampled_from(PARTS), max_size=14).map(lambda parts: "x" + "".join(parts))


@settings(max_examples=examples(600), deadline=None)
@given(text=TEXTS)
def test_balanced_pieces_equal_those_found_one_by_one(text: str) -> None:
    """The longest piece that holds a list counts, of equally long ones the first."""
    pieces = [text[start:end] for start, char in enumerate(text) if char in "[{" and (end := closing(text, start))]
    found = (extract_list(piece) for piece in sorted(pieces, key=len, reverse=True) if decodes(piece))
    assert extract_list(text) == next((one for one in found if one is not None), None)


def decodes(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True
