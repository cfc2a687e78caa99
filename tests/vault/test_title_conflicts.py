from __future__ import annotations

from typing import Any

from lorestudio.domain.entry import Entry
from lorestudio.domain.records import replace
from lorestudio.domain.tokens import CHARS_4
from lorestudio.vault.entries import ParseRules, parse_note
from lorestudio.vault.index import resolve


def note(front: str, body: str, vault: str = "V", title: str = "T") -> Entry:
    text = f"---\ntags: [lorebook]\n{front}\n---\n# {title}\n{body}"
    entry = parse_note(text, f"{title}.md", vault, ParseRules(), CHARS_4)
    assert isinstance(entry, Entry)
    return entry


def with_field(entry: Entry, value: Any) -> Entry:
    return replace(entry, custom_fields={"f": value})


def test_merge_of_the_rules() -> None:
    first = replace(note("keys: [a, b]\npriority: 1", "one", "A"), custom_fields={"era": ("x",), "n": None})
    later = replace(
        note("keys: [b, c]\nconstant: true\nsummary: S", "two", "B", "t"), custom_fields={"era": ("y", "x"), "n": 5}
    )
    (merged,) = resolve([first, later], "merge")
    assert merged.keys == ("a", "b", "c")
    assert merged.content == "one\n\n---\n\ntwo"
    assert merged.tokens == 4
    assert (merged.priority, merged.constant, merged.summary) == (1, True, "S")
    assert merged.custom_fields == {"era": ("x", "y"), "n": 5}
    assert (merged.vault, merged.content_hash) == ("A", first.content_hash)
    assert first.keys == ("a", "b")  # what was read is not changed


def test_merge_starts_with_the_separator_when_the_first_is_empty() -> None:
    (merged,) = resolve([note("", ""), note("", "two")], "merge")
    assert merged.content == "\n\n---\n\ntwo"


def test_merge_keeps_the_first_ones_refine_keys_and_cascade_links() -> None:
    first = note("refine_keys: [a]\ncascade_links: [b]", "x")
    (merged,) = resolve([first, note("refine_keys: [c]\ncascade_links: [d]", "")], "merge")
    assert (merged.refine_keys, merged.cascade_links, merged.content) == (("a",), ("b",), "x")


def test_merging_a_list_onto_a_text_splits_the_text() -> None:
    (merged,) = resolve([with_field(note("", ""), "north"), with_field(note("", ""), ("x",))], "merge")
    assert merged.custom_fields == {"f": ("n", "o", "r", "t", "h", "x")}


def test_merge_that_the_original_cannot_do_is_reported() -> None:
    for value in (5, True):
        (merged,) = resolve([with_field(note("", ""), value), with_field(note("", ""), ("x",))], "merge")
        assert merged.custom_fields == {"f": value}
        assert [(warning.code, warning.field) for warning in merged.warnings] == [("W_MERGE_CONFLICT", "f")]


def test_first_last_and_all() -> None:
    entries = [note("", "1"), note("", "2", title="Other"), note("", "3", "W", "t")]

    def contents(mode: str) -> list[str]:
        return [entry.content for entry in resolve(entries, mode)]

    assert contents("all") == ["1", "2", "3"]
    assert contents("unheard-of") == ["1", "2", "3"]
    assert contents("first") == ["1", "2"]
    assert contents("last") == ["3", "2"]


def test_an_empty_list_makes_the_field_where_the_first_note_has_none() -> None:
    (merged,) = resolve([note("", ""), with_field(note("", ""), ())], "merge")
    assert merged.custom_fields == {"f": ()}


def test_links_that_are_resolved_already_are_united() -> None:
    first, later = (replace(note("", ""), resolved_links=links) for links in (("A", "B"), ("B", "C")))
    (merged,) = resolve([first, later], "merge")
    assert merged.resolved_links == ("A", "B", "C")


def test_by_the_rules_of_2_6_only_titles_of_several_vaults_are_settled() -> None:
    """The table of rules: deeplore-newer 1.11."""
    copies = [
        note("keys: [gate]", "from A first", "A", "Gate"), note("keys: [door]", "from A second", "A", "Gate"),
        note("keys: [arch]\nrefine_keys: [moon]", "from B first, longer text", "B", "gate"),
        note("keys: [gate]", "from B second", "B", "Gate"), note("keys: [hill]", "x", "B", "Hill"),
    ]  # fmt: skip

    def settled(mode: str) -> list[tuple[str, str, str]]:
        found = resolve(copies, mode, across=True)
        return [(each.vault, each.title, each.content.replace("\n\n---\n\n", " + ")) for each in found]

    hill = ("B", "Hill", "x")
    assert settled("first") == [("A", "Gate", "from A first"), ("A", "Gate", "from A second"), hill]
    assert settled("last") == [("B", "gate", "from B first, longer text"), ("B", "Gate", "from B second"), hill]
    both = ("A", "Gate", "from A first + from B first, longer text")
    assert settled("merge") == [both, ("A", "Gate", "from A second"), ("B", "Gate", "from B second"), hill]
    merged, *_ = resolve(copies, "merge", across=True)
    assert (merged.keys, merged.refine_keys) == (("gate", "arch"), ("moon",))
    assert merged.tokens == copies[0].tokens + copies[2].tokens == 10
