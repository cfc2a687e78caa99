from __future__ import annotations

import re
import sys
import tracemalloc
from collections.abc import Callable
from types import FrameType
from typing import Any

import pytest

from lorestudio.vault.note import spelling
from lorestudio.vault.note.document import NoteDocument
from lorestudio.vault.note.properties import NoteProperty, ProblemKind, PropertyKind, fence_problems
from lorestudio.vault.note.text_edits import TextEdit, apply_edits


def note(*lines: str, body: str = "Body\n") -> str:
    return "---\n" + "".join(f"{line}\n" for line in lines) + "---\n" + body


def property_of(text: str, name: str) -> NoteProperty:
    found = NoteDocument(text).find(name)
    assert found is not None
    return found


def after_set(text: str, name: str, value: object) -> str:
    return apply_edits(text, [NoteDocument(text).set(name, value)])


NASTY = (
    "# opening comment",
    "title: \"The 'Tower'\"   ",
    "",
    "tags:   # which lists it is in",
    "    - lorebook",
    "    # people",
    "    - 'npc'",
    "",
    "    - Foo: bar",
    "keys: [ Skarn , \"the Grey\",'old man' ]",
    "priority:  50",
    "  ",
    "nested:",
    "  a: 1",
    "  b: [x, y]",
    "clé: 2",
    "created: 2024-01-01",
    "# closing comment",
    "",
)


@pytest.mark.parametrize(
    ("name", "value", "line", "lines"),
    [
        ("title", "New", 1, ['title: "New"   ']),
        ("title", 'say "x"', 1, ["title: 'say \"x\"'   "]),
        ("priority", 7, 10, ["priority:  7"]),
        ("priority", 0.25, 10, ["priority:  0.25"]),
        ("priority", "7", 10, ['priority:  "7"']),
        ("priority", True, 10, ["priority:  true"]),
        ("priority", None, 10, ["priority:  null"]),
        ("created", "2025-02-03", 16, ['created: "2025-02-03"']),
    ],
)
def test_a_value_changes_in_its_line(name: str, value: object, line: int, lines: list[str]) -> None:
    expected = [*NASTY[:line], *lines, *NASTY[line + 1 :]]
    assert after_set(note(*NASTY), name, value) == note(*expected)


HEAD, LOREBOOK, PEOPLE, NPC, FOO = "tags:   # which lists it is in", *NASTY[4:7], NASTY[8]


@pytest.mark.parametrize(
    ("value", "lines"),
    [
        (["lorebook", "npc", "Foo: bar", "x"], [HEAD, LOREBOOK, PEOPLE, NPC, "", FOO, "    - x"]),
        (["x", "lorebook", "npc", "Foo: bar"], [HEAD, "    - x", LOREBOOK, PEOPLE, NPC, "", FOO]),
        (["lorebook", "Foo: bar"], [HEAD, LOREBOOK, PEOPLE, "", FOO]),
        (["lorebook", "mage", "Foo: bar"], [HEAD, LOREBOOK, PEOPLE, "    - 'mage'", "", FOO]),
        (["lorebook", "npc", "Foo: baz"], [HEAD, LOREBOOK, PEOPLE, NPC, "", '    - "Foo: baz"']),
        (["lorebook", "npc", "it's", "Foo: bar"], [HEAD, LOREBOOK, PEOPLE, NPC, "    - it's", "", FOO]),
        (["lorebook"], [HEAD, LOREBOOK, PEOPLE, ""]),
        ([], ["# which lists it is in", "tags:   []", PEOPLE]),
    ],
)
def test_a_block_list_keeps_what_stays(value: list[str], lines: list[str]) -> None:
    assert after_set(note(*NASTY), "tags", value) == note(*NASTY[:3], *lines, *NASTY[9:])


@pytest.mark.parametrize("lines", ['keys: [Ada, "old quay"]', "keys:\n  - Ada\n  - 'old quay'"])
def test_yaml_is_not_asked_about_a_plain_list(lines: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def asked(text: str) -> None:
        raise AssertionError(text)

    monkeypatch.setattr(spelling, "read_yaml", asked)
    text = f"---\n{lines}\n---\n"
    edit = NoteDocument(text).set("keys", ["Ada", "new quay"])
    assert apply_edits(text, (edit,)) == text.replace("old", "new")


def test_moved_items_keep_their_spelling() -> None:
    text = note("x:", "  - 'b' ", "  # on c", '  - "c"', "  - d # d")
    after = after_set(text, "x", ["c", "d # d", "b"])
    assert sorted(after.splitlines()) == sorted(text.splitlines())
    assert property_of(after, "x").value == ["c", "d # d", "b"]


@pytest.mark.parametrize(
    ("before", "value", "after"),
    [
        (("x: [a, b]",), ["a", "b", "c"], ("x: [a, b, c]",)),
        (("x: [a,b]",), ["a", "b", "c"], ("x: [a,b,c]",)),
        (("x: [ a, b ]",), ["a", "b", "c"], ("x: [ a, b, c ]",)),
        (("x: [ a, b ]",), ["b"], ("x: [ b ]",)),
        (("x: [a, 'b', c]",), ["a", "c"], ("x: [a, c]",)),
        (("x: [a, 'b']",), ["a", "b", "c"], ("x: [a, 'b', 'c']",)),
        (("x: [a, b,]",), ["a", "b", "c"], ("x: [a, b, c,]",)),
        (("x: [a, b]",), ["b", "a"], ("x: [b, a]",)),
        (("x: [a]",), ["a", "x, y"], ('x: [a, "x, y"]',)),
        (("x: [a]",), [], ("x: []",)),
        (("x: []",), ["a"], ("x: [a]",)),
        (("x: [a]  ",), ["b"], ("x: [b]  ",)),
        (("x: [1984, b]",), ["1984", "b", "7"], ('x: [1984, b, "7"]',)),
        (("x:", "- a"), ["a", "b"], ("x:", "- a", "- b")),
        (("x:", "  - a"), ["b"], ("x:", "  - b")),
        (("x:", "  -   'a'"), ["a", "b"], ("x:", "  -   'a'", "  -   'b'")),
        (("x:", "- a", "- b", "- c"), ["a", "c"], ("x:", "- a", "- c")),
        (("x:", "- a", "", "# c", "- b"), ["a"], ("x:", "- a", "", "# c")),
        (("x:", "- a # why"), ["a # why", "b"], ("x:", "- a # why", "- b")),
        (("x:", "- a # why"), ["a"], ("x:", "# why", "- a")),
        (("x:", "- a # why"), ["b", "c"], ("x:", "# why", "- b", "- c")),
        (("x:", "- a # why"), ["b # why"], ("x:", '- "b # why"')),
        (("x: ['a', b] # why",), ["a", "c"], ("# why", "x: ['a', c]")),
        (('x: [a, "b # no comment"]',), ["a"], ("x: [a]",)),
        (('x: ["[a] # no comment", b]',), ["[a] # no comment", "b", "c"], ('x: ["[a] # no comment", b, c]',)),
        (("x: [Route #66, b]",), ["Route #66", "b", "c"], ("x: [Route #66, b, c]",)),
        (("x: [Route #66, b]",), ["b"], ("x: [b]",)),
        (("x: [a, b] # see [c]",), "b", ("# see [c]", "x: b")),
        (("x: [a, 'b # no comment', c]",), ["a", "b # no comment"], ("x: [a, 'b # no comment']",)),
        (("x:", "- a", "- b"), [], ("x: []",)),
        (("x: # note", "- a"), [], ("# note", "x: []")),
        (("x: # note", "- a"), ["b"], ("x: # note", "- b")),
        (("x:", "- a", "- b"), "text", ("x: text",)),
        (("x:", "- a", "# c", "- b"), 5, ("x: 5", "# c")),
        (("x: text",), ["a", "b"], ("x:", "  - a", "  - b")),
        (("other: [q]", "x: text"), ["a", "b"], ("other: [q]", "x: [a, b]")),
        (("other:", "- q", "x:"), ["a", "b"], ("other:", "- q", "x:", "- a", "- b")),
        (("x: |", "  some", "  text"), ["a"], ("x:", "  - a")),
        (("x:", '- "un', "- b"), ['"un', "b", "c"], ("x:", '- "un', "- b", "- c")),
    ],
)
def test_list_styles(before: tuple[str, ...], value: object, after: tuple[str, ...]) -> None:
    assert after_set(note(*before), "x", value) == note(*after)


@pytest.mark.parametrize(
    ("before", "value", "after"),
    [
        ("x: a", "b", "x: b"),
        ("x: 'a'", "b", "x: 'b'"),
        ("x: 'a'", "it's", "x: it's"),
        ('x: "a"', 'a "b" c', 'x: a "b" c'),
        ('x: "a"', "C:\\path", "x: C:\\path"),
        ("x: a", "true", 'x: "true"'),
        ("x: a", "No", 'x: "No"'),
        ("x: a", "null", 'x: "null"'),
        ("x: a", "12:30", 'x: "12:30"'),
        ("x: a", "1_000", 'x: "1_000"'),
        ("x: a", "5", 'x: "5"'),
        ("x: a", "a: b", 'x: "a: b"'),
        ("x: a", "a #b", 'x: "a #b"'),
        ("x: a", "a#b:c", "x: a#b:c"),
        ("x: a", "[[Link]]", 'x: "[[Link]]"'),
        ("x: a", "{{char}}", 'x: "{{char}}"'),
        ("x: a", "", 'x: ""'),
        ("x: a", " b ", 'x: " b "'),
        ("x: a", "'", 'x: "\'"'),
        ("x: a", "@you", 'x: "@you"'),
        ("x: a", "- b", 'x: "- b"'),
        ("x: a", "|", 'x: "|"'),
        ("x: a", 'He said: "it\'s"', 'x: |\n  He said: "it\'s"'),
        ("x:a", "b", "x: b"),
        ("x : a", "b", "x : b"),
        ("x:\ta", "b", "x: b"),
        ("x: 5 # base", 7, "# base\nx: 7"),
        ('x: "a" # why', "b", '# why\nx: "b"'),
        ("x: a # why", "b # why", 'x: "b # why"'),
        ("x: >-\n  folded\n  text", "b", "x: b"),
        ("x: |\n    one", "two", "x: |\n    two"),
        ("x: |\n  one\n  two", "one\n  three", "x: |\n  one\n  three"),
        ("x: |\n  one\n  two", "one\n three", "x: |\n one\n three"),
        ("x: |\n  one\n  two", "one\n\n    three", "x: |\n  one\n\n    three"),
        ("x: one\n  two", "b", "x: b"),
        ('x: "one\n  two"', "b", 'x: "b"'),
        ("x: [a,\n  b]", ["a", "b"], "x: [a, b]"),
        ("x: a\n  b: c", "d", "x: d\n  b: c"),
        ("x:", 100, "x: 100"),
        ("x: 1", 1e21, "x: 1000000000000000000000"),
        ("x: 1", 1e-7, "x: 0.0000001"),
        ("x: 007", 7, "x: 007"),
        ("x: 1\nx: 2", 3, "x: 1\nx: 3"),
    ],
)
def test_spellings(before: str, value: object, after: str) -> None:
    assert after_set(note(before), "x", value) == note(after)


@pytest.mark.parametrize(
    ("name", "before", "value", "after"),
    [
        ("keys", "keys: a, b", ["a", "b"], "keys: a, b"),
        ("keys", "keys: a, b", ["a", "c", "d"], "keys: a, c, d"),
        ("keys", "keys: a,b", ["a", "c"], "keys: a,c"),
        ("keys", 'keys: "a, b"', ["a", "c"], 'keys: "a, c"'),
        ("keys", "keys: a, b", ["x, y"], "keys:\n  - x, y"),
        ("keys", "Keys: a", ["b"], "Keys: b"),
        ("tags", "tags: lorebook", ["lorebook"], "tags: lorebook"),
        ("tags", "tags: lorebook", ["lorebook", "npc"], "tags:\n  - lorebook\n  - npc"),
        ("requires", "requires: A, B", ["A, B"], "requires: A, B"),
        ("requires", "requires: A, B", ["A", "B"], "requires:\n  - A\n  - B"),
        ("keys", "keys: 7", ["7"], "keys: 7"),
        ("other", "other: a", ["a"], "other:\n  - a"),
    ],
)
def test_one_text_for_a_list(name: str, before: str, value: list[str], after: str) -> None:
    assert after_set(note(before), name, value) == note(after)


@pytest.mark.parametrize(
    ("text", "after"),
    [
        ("", "---\nx: v\n---\n"),
        ("Body", "---\nx: v\n---\nBody"),
        ("\ufeffBody\r\n", "\ufeff---\r\nx: v\r\n---\r\nBody\r\n"),
        ("---\n---\nBody", "---\nx: v\n---\nBody"),
        ("---\r\n---", "---\r\nx: v\r\n---"),
        ("---\n\n---\nBody", "---\n\nx: v\n---\nBody"),
        ("---\n# c\n---\n", "---\n# c\nx: v\n---\n"),
        ("---\na: 1\n\n# c\n---\n", "---\na: 1\nx: v\n\n# c\n---\n"),
        ("---\r\na: 1\r\n---\r\n", "---\r\na: 1\r\nx: v\r\n---\r\n"),
        ("---\na: |\n  b\n---\n", "---\na: |\n  b\nx: v\n---\n"),
        ("---\nA line above and none below.\n", "---\nx: v\n---\n---\nA line above and none below.\n"),
    ],
)
def test_a_new_property(text: str, after: str) -> None:
    assert after_set(text, "x", "v") == after


def test_line_ends_stay_as_they_are() -> None:
    text = "\ufeff---\r\na: 1\r\nb:\n  - x\r\n  - y\nc: z \r\n---\nBody\r\n"
    assert after_set(text, "a", 2) == text.replace("a: 1", "a: 2")
    assert after_set(text, "b", ["x", "y", "w"]) == text.replace("  - y\n", "  - y\n  - w\n")
    assert after_set(text, "b", ["v", "x", "y"]) == text.replace("b:\n", "b:\n  - v\r\n")
    assert after_set(text, "c", "q") == text.replace("c: z ", "c: q ")
    document = NoteDocument(text)
    assert (document.newline, document.body, document.body_start) == ("\r\n", "Body\r\n", len(text) - 6)


def test_kinds_and_values() -> None:
    text = note(
        "text: a",
        "number: 007",
        "flag: false",
        "list: [a]",
        "block:",
        "- b",
        "empty:",
        "null_: ~",
        "nested:",
        "  a: 1",
        "flow: {a: 1}",
        "lists: [[a, b], c]",
        "macro: {{char}}",
        "clé: 1",
        "junk",
        "people:",
        "  - name: x",
        "    age: 3",
        "scalar: |",
        "  # no comment",
        "  - no item",
        "folded: >-",
        "  - item",
        "link: [[Foo]]",
        "deep:",
        "  - - a",
        "indented:",
        "  just text",
    )
    kinds = {found.name: (found.kind.value, found.value) for found in NoteDocument(text).properties}
    assert kinds == {
        "text": ("text", "a"),
        "number": ("number", 7),
        "flag": ("flag", False),
        "list": ("list", ["a"]),
        "block": ("list", ["b"]),
        "empty": ("empty", []),
        "null_": ("empty", None),
        "nested": ("nested", []),
        "flow": ("nested", "{a: 1}"),
        "lists": ("nested", ["[a", "b]", "c"]),
        "macro": ("text", "{{char}}"),
        "clé": ("invalid", None),
        "junk": ("invalid", None),
        "people": ("nested", ["name: x"]),
        "scalar": ("text", "# no comment\n  - no item"),
        "folded": ("list", ["item"]),
        "link": ("list", ["[Foo]"]),
        "deep": ("nested", ["- a"]),
        "indented": ("empty", []),
    }


def test_where_properties_stand() -> None:
    text = note(
        "# c", "a: 1", "", "b:", "  - x", "  # inside", "  - y", "# behind", "", "c: |", "  text", "", "  more", ""
    )
    document = NoteDocument(text)
    assert [(found.name, found.line, found.raw) for found in document.properties] == [
        ("a", 3, "a: 1\n"),
        ("b", 5, "b:\n  - x\n  # inside\n  - y\n"),
        ("c", 11, "c: |\n  text\n\n  more\n"),
    ]
    for found in document.properties:
        assert text[found.start : found.end] == found.raw


def test_finding_by_name_and_spelling() -> None:
    document = NoteDocument(note("Keys: a", "KEYS: b", "Title: t", "scandepth: 3"))
    assert [
        document.find(name) and document.find(name).name for name in ("keys", "KEYS", "title", "scanDepth", "x")
    ] == ["Keys", "KEYS", None, "scandepth", None]
    both = NoteDocument(note("Keys: a", "keys: b"))
    assert both.find("kEYS").value == "b"
    assert [problem.kind for problem in both.problems] == [ProblemKind.SHADOWED]


@pytest.mark.parametrize(
    ("before", "cause", "alike", "as_yaml"),
    [
        ("x: 5 # c", "comment", 'x: "5 # c"', "# c\nx: 5"),
        ("x: [a, b] # c", "comment", 'x: "[a, b] # c"', "# c\nx: [a, b]"),
        ("x: True", "word", 'x: "True"', "x: true"),
        ("x: no", "word", 'x: "no"', "x: false"),
        ("x: Null", "word", 'x: "Null"', None),
        ("x: 0o17", "number", 'x: "0o17"', "x: 15"),
        ("x: 1e3", "number", 'x: "1e3"', "x: 1000"),
        ("x: +5", "number", 'x: "+5"', "x: 5"),
        ("x: 2024-01-01", "date", 'x: "2024-01-01"', None),
        ('x: "a \\"b\\""', "quotes", "x: 'a \\\"b\\\"'", "x: 'a \"b\"'"),
        ("x: 'it''s'", "quotes", "x: it''s", "x: it's"),
        ("x: Rock 'n'", "quotes", "x: Rock 'n", "x: \"Rock 'n'\""),
        ("x: one\n  two", "several lines", "x: one", "x: one two"),
        ("x: [a,\n  b]", "several lines", 'x: "[a,"', "x: [a, b]"),
        ("x: >-\n  one\n  two", "block scalar", 'x: ">-"', "x: one two"),
        ("x: &a b", "anchor", 'x: "&a b"', "x: b"),
        ("x: !!str 5", "anchor", 'x: "!!str 5"', 'x: "5"'),
        ("x: a: b", "syntax", 'x: "a: b"', None),
        ('x: "un', "syntax", 'x: "un"', None),
        ("x:\n- 5", "number", 'x:\n- "5"', None),
        ("x:\n- a # c\n- b", "comment", 'x:\n- "a # c"\n- b', "x:\n# c\n- a\n- b"),
        ("x:\n- Foo: bar", "nested", 'x:\n- "Foo: bar"', None),
        ("x:\n- [[Foo]]", "nested", 'x:\n- "[[Foo]]"', None),
        ("x: [a, 5]", "number", 'x: [a, "5"]', None),
        ("x:\n  a: 1", "nested", None, None),
        ("x: 1\nx: two", "duplicate", "x: two", None),
    ],
)
def test_readings(before: str, cause: str, alike: str | None, as_yaml: str | None) -> None:
    text = note(before)
    document = NoteDocument(text)
    reading = property_of(text, "x").reading
    assert reading is not None
    assert reading.cause.value == cause
    assert reading.message
    edit = document.alike("x")
    assert (None if edit is None else apply_edits(text, [edit])) == (None if alike is None else note(alike))
    edit = document.alike("x", as_yaml=True)
    assert (None if edit is None else apply_edits(text, [edit])) == (None if as_yaml is None else note(as_yaml))


@pytest.mark.parametrize(
    "line",
    [
        "x: a",
        "x:",
        "x: ~",
        "x: []",
        "x: 007",
        "x: -3.50",
        'x: "a: b"',
        "x: 'a # b'",
        "x: [a, 'b c']",
        "x:\n- a\n\n# c\n- b",
        "x: # c\n- a",
        "x: |\n  one",
        "x: King's",
        "x: (a) b/c",
        "x: é",
        "x: 5.",
        "x: 12345678901234567890",
        "x: a, b",
    ],
)
def test_read_alike(line: str) -> None:
    assert property_of(note(line), "x").reading is None
    assert NoteDocument(note(line)).alike("x") is None
    assert NoteDocument(note(line)).problems == ()


def test_what_a_reading_says() -> None:
    reading = property_of(note("enabled: False"), "enabled").reading
    assert (reading.deeplore, reading.yaml) == ("False", False)
    assert reading.message == (
        "“enabled”: DeepLore reads the text “False”, YAML reads false. DeepLore knows only the words true, false "
        "and null in small letters."
    )
    assert (reading.spelling, reading.yaml_spelling) == ('enabled: "False"\n', "enabled: false\n")


@pytest.mark.parametrize(
    ("text", "name", "value", "words"),
    [
        (note("x: 1"), "x", "two\nlines", "Write it on one line"),
        (note("x: 1"), "x", "bell \x07", "Delete it"),
        (note("x: 1"), "x", ["a", "\ud800"], "Delete it"),
        (note("x: 1"), "x", float("nan"), "doubles"),
        (note("x: 1"), "x", 2**60 + 1, "fewer digits"),
        (note("x: 1"), "x", ["a", 5], "Give texts"),
        (note("x: 1"), "x", {"a": 1}, "Edit the source"),
        (note("x:", "  a: 1"), "x", "b", "line 2 holds nested values"),
        (note("clé: 1"), "clé", "b", "line 2 is no property"),
        (note("x: 1"), "a b", "b", "cannot be the name"),
        (note("x: 1"), "", "b", "cannot be the name"),
        (note("x: [a]", "clé:", "- b"), "x", ["c"], "Mend or delete that line"),
        (note("x: a", "  b: c"), "x", " ' \" ", "Mend or delete them"),
    ],
)
def test_refusals_say_why(text: str, name: str, value: object, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        NoteDocument(text).set(name, value)


def test_removing_and_renaming() -> None:
    text = note(*NASTY)
    lines = list(NASTY)
    document = NoteDocument(text)
    assert apply_edits(text, [document.remove("tags")]) == note(*lines[:3], *lines[9:])
    assert apply_edits(text, [document.remove("nested")]) == note(*lines[:12], *lines[15:])
    assert apply_edits(text, [document.remove("clé")]) == note(*lines[:15], *lines[16:])
    assert apply_edits(text, [document.rename("keys", "words")]) == text.replace("keys:", "words:")
    assert apply_edits(text, [document.rename("nested", "deep")]) == text.replace("nested:", "deep:")
    assert apply_edits(text, [document.rename("clé", "cle")]) == text.replace("clé:", "cle:")
    for new, words in (("title", "already"), ("Tags", "already"), ("a b", "cannot be the name")):
        with pytest.raises(ValueError, match=words):
            document.rename("keys", new)
    with pytest.raises(ValueError, match="no property “gone”"):
        document.remove("gone")


@pytest.mark.parametrize("value", ["[a] # of two", "{a: b} # of two", "[[Foo]] and more"])
def test_a_bracket_that_is_closed_in_its_line_holds_nothing_of_the_next(value: str) -> None:
    text = f"---\nx: {value}\nMy key: v\n---\nbody"
    document = NoteDocument(text)
    assert [each.name for each in document.properties] == ["x", "My key"]
    assert apply_edits(text, [document.remove("x")]) == "---\nMy key: v\n---\nbody"


@pytest.mark.parametrize(("end", "body"), [("\n", "Body\n---\nmore"), ("\r\n", "Body")])
def test_removing_the_last_property_leaves_the_body_alone(end: str, body: str) -> None:
    text = f"---{end}x: 1{end}---{end}{body}"
    after = apply_edits(text, [NoteDocument(text).remove("x")])
    assert after == f"---{end}{end}---{end}{body}"
    assert NoteDocument(after).body == body
    assert after_set(after, "y", 2) == f"---{end}{end}y: 2{end}---{end}{body}"


def test_a_name_written_several_times() -> None:
    text = note("x: 1", "a: 0", "x: 2", "# c", "x: 3")
    document = NoteDocument(text)
    assert document.find("x").value == 3
    assert apply_edits(text, [document.remove("x")]) == note("a: 0", "# c")
    assert apply_edits(text, [document.rename("x", "y")]) == text.replace("x:", "y:")
    assert apply_edits(text, [document.alike("x")]) == note("a: 0", "# c", "x: 3")
    assert [(problem.kind, problem.line) for problem in document.problems] == [
        (ProblemKind.DUPLICATE, 2),
        (ProblemKind.DUPLICATE, 4),
    ]


def test_quoted_names_can_be_mended() -> None:
    text = note('"x y": 1', "'z': 2")
    document = NoteDocument(text)
    assert [(found.name, found.kind) for found in document.properties] == [
        ("x y", PropertyKind.INVALID),
        ("z", PropertyKind.INVALID),
    ]
    assert apply_edits(text, [document.rename("x y", "x_y")]) == note("x_y: 1", "'z': 2")
    assert document.find("z").reading.yaml == 2


@pytest.mark.parametrize(
    ("text", "kind", "line"),
    [
        (note("a: 1", "b: c: d"), ProblemKind.YAML, 3),
        (note("a: 1", "junk", "b: 2"), ProblemKind.YAML, 3),
        (note("a: *gone"), ProblemKind.YAML, 2),
        (note("a b: 1"), ProblemKind.NAME, 2),
        ("---\na: 1\n", ProblemKind.UNCLOSED, 1),
        ("---\n---\n", ProblemKind.NO_FIELDS, 1),
        ("--- \na: 1\n---\n", ProblemKind.FENCE, 1),
        ("\n---\na: 1\n---\n", ProblemKind.FENCE, 1),
        ("---\na: 1\n---b\n", ProblemKind.FENCE, 3),
        ("---\na: 1\n----\n", ProblemKind.FENCE, 3),
    ],
)
def test_problems(text: str, kind: ProblemKind, line: int) -> None:
    found = [(problem.kind, problem.line) for problem in NoteDocument(text).problems]
    assert found[0] == (kind, line)


@pytest.mark.parametrize("text", ["---\na: 1\n", "--- \na: 1\n---\n", "\n---\na: 1\n---\n"])
def test_no_second_front_matter_is_put_above_one_that_is_not_read(text: str) -> None:
    problem = NoteDocument(text).problems[0]
    with pytest.raises(ValueError, match=re.escape(f"“b” was not added. {problem.message}")):
        NoteDocument(text).set("b", 2)


@pytest.mark.parametrize("text", ["", "Body", note("a: 1"), "# T\n\n---\nx\n---\n", note("a: 2024-01-01", "b: x # y")])
def test_no_problems(text: str) -> None:
    assert NoteDocument(text).problems == ()


def test_one_broken_line_leaves_the_others_alone() -> None:
    text = note("a: 1", "b: c: d", "- e f", 'g: "un', "h: [i]")
    document = NoteDocument(text)
    assert apply_edits(text, [document.set("a", 2)]) == text.replace("a: 1", "a: 2")
    assert apply_edits(text, [document.set("h", ["i", "j"])]) == text.replace("[i]", "[i, j]")
    assert document.find("a").reading is None
    assert document.find("h").reading is None


def test_applying_edits() -> None:
    assert (
        apply_edits("abcdef", [TextEdit(4, 5, "X"), TextEdit(0, 1, ""), TextEdit(2, 2, "1"), TextEdit(2, 2, "2")])
        == "b12cdXf"
    )
    for edits in (
        [TextEdit(0, 3, ""), TextEdit(2, 4, "")],
        [TextEdit(0, 9, "")],
        [TextEdit(3, 2, "")],
        [TextEdit(-1, 2, "")],
    ):
        with pytest.raises(ValueError, match="overlaps another one or reaches outside"):
            apply_edits("abcdef", edits)


@pytest.mark.parametrize("line", ["a{}b", "x:\n  a{}b", "x:\n  - a{}b: c", '"a{}b"', "x: a{}#"])
def test_long_lines_take_no_longer_than_their_length(line: str) -> None:
    text = note(line.format(" " * 1_000_000))  # beyond the time limit of a test if every space were tried as the last
    assert NoteDocument(text).properties


def steps_of(lines: str) -> int:
    """How many lines of code run while a note with these properties is looked through."""
    before, steps = sys.gettrace(), 0

    def count(_frame: FrameType, _event: str, _arg: object) -> Any:
        nonlocal steps
        steps += 1
        return count

    sys.settrace(count)
    try:
        document = NoteDocument(note(lines))
        assert len(document.properties) > 0
        assert isinstance(document.problems, tuple)
    finally:
        sys.settrace(before)
    return steps


@pytest.mark.parametrize(
    "lines",
    [
        lambda many: "".join(f"p{at}: 'a # {at}' # b\n" for at in range(many)),
        lambda many: "a: 1\n" * many,
        lambda many: "a b\n" * many + "- c\n" * many,
    ],
)
def test_many_properties_take_no_longer_than_their_number(lines: Callable[[int], str]) -> None:
    assert steps_of(lines(400)) < 2.2 * steps_of(lines(200))  # four times as many if each looked for the next one


def test_blank_lines_take_no_memory() -> None:
    text = "\n" * 200_000
    tracemalloc.start()
    try:
        assert list(fence_problems(text, None)) == []
        assert tracemalloc.get_traced_memory()[1] < len(text)  # 180 for each of its characters
    finally:
        tracemalloc.stop()
