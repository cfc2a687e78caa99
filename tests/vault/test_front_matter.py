from __future__ import annotations

import pytest

from lorestudio.vault.front_matter import parse, split


@pytest.mark.parametrize(
    ("text", "values", "body"),
    [
        ("---\n---\nbody", None, "---\n---\nbody"),
        ("---\n\n---\nbody", {}, "body"),
        ("---\n---\nbody\n---\nrest", {}, "rest"),
        ("--- \na: 1\n---\nb", None, "--- \na: 1\n---\nb"),
        ("\n---\na: 1\n---\nb", None, "\n---\na: 1\n---\nb"),
        ("---\na: 1\n---foo", {"a": 1}, "foo"),
        ("---\na: 1\n----\nb", {"a": 1}, "-\nb"),
        ("---\na: 1\n  ---\nb: 2\n---\nz", {"a": 1, "b": 2}, "z"),
        ("---\na: 1\n---", {"a": 1}, ""),
        ("\ufeff---\r\na: 1\r\n---\r\nb\r\n", {"a": 1}, "b\r\n"),
        ("---\nx: |\n  one\n---\n  two\n---\nz", {"x": "one"}, "  two\n---\nz"),
        ("\ufeffplain", None, "plain"),
        ("---\na: 1\n--- \t\nb", {"a": 1}, "b"),
        ("---\na: 1", None, "---\na: 1"),
    ],
)
def test_front_matter_block(text: str, values: dict[str, object] | None, body: str) -> None:
    yaml_text, rest = split(text)
    assert rest == body
    assert (None if yaml_text is None else parse(yaml_text)) == values


@pytest.mark.parametrize(
    ("yaml_text", "value"),
    [
        ("a: 5 # c", "5 # c"),
        ("a: false # c", "false # c"),
        ('a: "x" # c', 'x" # c'),
        ("a: [x, y] # c", "[x, y] # c"),
        ("a: # c", "# c"),
        ("a:\n- x # c", ["x # c"]),
        ("a: |-\n  text", "|-"),
        ("a: >-\n  folded\n  - item", ["item"]),
        ("a: |\n  l1\n  l2\n\n    l3", "l1\n  l2\n\n    l3"),
        ("a: >\n  l1\n  l2\n\n  l3", "l1   l2    l3"),
        ("a:\n", []),
        ("a: []", []),
        ("a: [x\n  y]", "[x"),
        ("a: {b: 1}", "{b: 1}"),
        ("a:\n  b: 1", []),
        ("a:b", "b"),
        ("a : b", "b"),
        ("a: True", "True"),
        ("a: yes", "yes"),
        ("a: Null", "Null"),
        ("a: null", None),
        ("a: ~", None),
        ("a: true", True),
        ("a: false", False),
        ("a: 2024-01-01", "2024-01-01"),
        ("a: *anc", "*anc"),
        ("a: 1e3", "1e3"),
        ("a: 0x10", "0x10"),
        ("a: +5", "+5"),
        ("a: 1_000", "1_000"),
        ("a: 5.", 5),
        ("a: .5", 0.5),
        pytest.param("a: " + "1" * 500_000 + "x", "1" * 500_000 + "x", id="figures without an end"),
        ("a: 007", 7),
        ("a: -3", -3),
        ('a: "5"', "5"),
        ('a: "true"', "true"),
        ('a: "He said \\"hi\\""', 'He said \\"hi\\"'),
        ("a: Rock 'n'", "Rock 'n"),
        ("a: '", ""),
        ("a: 1\n- x", ["x"]),
        ("a:\n- x\nsome junk\n- y", ["x", "y"]),
        ("- x\na: 1", 1),
        ('a:\n- 5\n- true\n- null\n- k: v\n- [1, 2]\n- - n\n- ""', ["5", "true", "null", "k: v", "[1, 2]", "- n", ""]),
        ('a:\n- "un\n- a\\\\b\n- \'\\"z\\"\'', ['"un', "a\\b", '"z"']),
        ("a:\n-\n-x\n- y", ["y"]),
        ("a: [x,,y]", ["x", "", "y"]),
        ("a: [x,]", ["x"]),
        ("a: [,x]", ["", "x"]),
        ("a: [ \"p, q\", 'r' ]", ["p, q", "r"]),
        ("a: [King's, b]", ["King's", "b"]),
        ('a: ["a\\"b", c]', ['a"b', "c"]),
        ('a: ["a\\nb"]', ["anb"]),
        ("a: [a\\nb]", ["a\\nb"]),
        ('a: ["unterminated, b]', ["unterminated, b"]),
        ("a: [[Foo]]", ["[Foo]"]),
        ("a: [[a, b], c]", ["[a", "b]", "c"]),
        ("a: [1, true, null]", ["1", "true", "null"]),
        ('a: ["x"y]', ['x"y']),
        ("a: [x', 'y]", ["x", "y"]),
        ("a: [x]\n  - y", ["x", "y"]),
        ("a: 1\na: 2", 2),
        ("a: x\u2028b: y", "x"),
        ("a: x\rb", "x"),
        ("a: |", ""),
        ("a: |\n  one\nb: 2", "one"),
    ],
)
def test_value_of_a(yaml_text: str, value: object) -> None:
    found = parse(yaml_text)["a"]
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize("line", ['"a": 1', "clé: 1", "-k: 1", "  a: 1", "# a: 1", "just words"])
def test_lines_that_are_no_field(line: str) -> None:
    assert parse(line) == {}


def test_stray_address_becomes_a_field() -> None:
    assert parse("http://x") == {"http": "//x"}


def test_large_numbers_are_doubles() -> None:
    assert parse("a: 12345678901234567890") == {"a": 12345678901234567000.0}
    assert parse("a: 9007199254740993") == {"a": 9007199254740992}
