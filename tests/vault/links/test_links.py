from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lorestudio.vault import cleaning, front_matter
from lorestudio.vault.links.references import (
    Escape,
    Reference,
    ReferenceKind,
    aliases,
    heading,
    heading_text,
    headings,
    references,
)
from lorestudio.vault.note.spans import split_places

# Behind the number signs stands a space or a tab; what is in the front matter or in code is no heading.
HEADED = """---
# no: heading
---
# Gate ^north
## \tThe *old* wall: [[Skarn|a dragon]]  \r
```
# code
```
#tag
####### seven
a # b
###
# Gate 100%% sure
"""


def test_the_headings_of_a_note_are_found_with_their_lines_as_links_write_them() -> None:
    assert list(headings(HEADED)) == [(4, "Gate north"), (5, "The *old* wall Skarn a dragon"), (13, "Gate 100 sure")]
    assert list(headings("\ufeff# One\n\n# Two")) == [(1, "One"), (3, "Two")]
    assert list(headings("")) == []


PIECES = st.lists(
    st.sampled_from([
        "[[", "]]", "|", "A", "b c", " ", "\n", "#", "# ", "!", "`", "```\n", "%%", "\\", "---\n", "](", "x.md)", "[",
        "]", "<!--", "-->", "\u2028", "\ufeff", "requires: ", "- ",
    ]),
    max_size=25,
).map("".join)  # fmt: skip


def one(text: str) -> Reference:
    (found,) = references(text)
    return found


@pytest.mark.parametrize(
    ("link", "kind", "target", "subpath", "alias", "deeplore_name"),
    [
        ("[[Skarn]]", "wikilink", "Skarn", "", None, "Skarn"),
        ("[[Skarn|the dragon]]", "wikilink", "Skarn", "", "the dragon", "Skarn"),
        ("[[ Skarn |x]]", "wikilink", "Skarn", "", "x", "Skarn"),
        ("[[Skarn#Death]]", "wikilink", "Skarn", "#Death", None, "Skarn#Death"),
        ("[[Skarn#Death|he]]", "wikilink", "Skarn", "#Death", "he", "Skarn#Death"),
        ("[[Skarn#^block]]", "wikilink", "Skarn", "#^block", None, "Skarn#^block"),
        ("[[#Death]]", "wikilink", "", "#Death", None, "#Death"),
        ("[[beasts/Skarn]]", "wikilink", "beasts/Skarn", "", None, "beasts/Skarn"),
        ("[[Skarn|]]", "wikilink", "Skarn", "", "", None),
        ("| [[Skarn\\|x]] |", "wikilink", "Skarn", "", "x", "Skarn"),
        ("![[Skarn]]", "embed", "Skarn", "", None, None),
        ("![[map.png|200]]", "embed", "map.png", "", "200", None),
        ("[he](Skarn.md)", "markdown", "Skarn.md", "", "he", None),
        ("[he](../old%20town/Sk%C3%A4rn.md#The%20end)", "markdown", "../old town/Skärn.md", "#The end", "he", None),
        ("[he](<old town/Skarn.md>)", "markdown", "old town/Skarn.md", "", "he", None),
        ('[he](Skarn.md "a title")', "markdown", "Skarn.md", "", "he", None),
        ("[he](a(b).md)", "markdown", "a(b).md", "", "he", None),
        ("![map](map.png)", "embed", "map.png", "", "map", None),
        ("`[[Skarn]]`", "wikilink", "Skarn", "", None, "Skarn"),
    ],
)
def test_kinds_of_links(
    link: str, kind: str, target: str, subpath: str, alias: str | None, deeplore_name: str | None
) -> None:
    text = f"---\nkeys: [x]\n---\n# Head\nWords {link} words."
    found = one(text)
    assert (found.kind, found.target, found.subpath, found.alias) == (kind, target, subpath, alias)
    assert found.deeplore_name == deeplore_name
    assert found.counts_for_deeplore is (deeplore_name is not None)
    assert text[found.start : found.end] in link


@pytest.mark.parametrize(
    "text",
    ["[x](https://a.b/c.md)", "[x](mailto:a@b.c)", "[x](#Head)", "[[]]", "[[ ]]", "`![[A]]`", "`[x](A.md)`", "[x]()"],
)
def test_no_references(text: str) -> None:
    assert references(text) == ()


def test_spans_are_those_of_the_whole_text() -> None:
    text = "\ufeff---\r\nkeys: [x]\r\n---\r\n😀 [[ A b #c|d]] [x](a%20b.md)"
    wiki, markdown = references(text)
    assert text[wiki.start : wiki.end] == "[[ A b #c|d]]"
    assert text[wiki.target_start : wiki.target_end] == "A b"
    assert text[markdown.target_start : markdown.target_end] == "a%20b.md"
    assert markdown.escape is Escape.PERCENT


def test_code_and_comments_count_for_deeplore_alone() -> None:
    text = "`[[A]]` %% [[B]] %%\n```\n[[C]]\n![[D]]\n```\n[[E]]"
    assert [(found.target, found.in_obsidian, found.counts_for_deeplore) for found in references(text)] == [
        ("A", False, True), ("B", False, True), ("C", False, True), ("E", True, True),
    ]  # fmt: skip


def test_the_heading_counts_for_obsidian_alone() -> None:
    first, second = references("# Home of [[A]]\n[[B]]\n")
    assert (first.in_heading, first.in_obsidian, first.counts_for_deeplore) == (True, True, False)
    assert (second.in_heading, second.counts_for_deeplore) == (False, True)


def test_deeplore_also_takes_links_over_several_lines() -> None:
    found = one("[[A\nb]]")
    assert (found.target, found.in_obsidian, found.deeplore_name) == ("A\nb", False, "A\nb")


def test_fields_that_hold_titles() -> None:
    text = (
        "---\nrequires: [A, \"[[B b|x]]\", 'C, d']\nExcludes:\n  - X\n  - '[[Y]]'\ncascade_links: One, two\n"
        "keys: [A]\n---\n"
    )
    found = references(text)
    assert [(one.kind, one.target, one.deeplore_name, one.in_obsidian, one.field, one.item) for one in found] == [
        ("requires", "A", "A", False, "requires", 0),
        ("requires", "B b", None, True, "requires", 1),
        ("requires", "C, d", "C, d", False, "requires", 2),
        ("excludes", "X", "X", False, "Excludes", 0),
        ("excludes", "Y", None, True, "Excludes", 1),
        ("cascade_links", "One, two", "One, two", False, "cascade_links", None),
    ]
    assert [text[one.target_start : one.target_end] for one in found] == ["A", "B b", "C, d", "X", "Y", "One, two"]


def test_the_right_spelling_of_a_field_wins() -> None:
    text = "---\nRequires: [A]\nrequires: [B]\n---\n"
    assert [found.target for found in references(text)] == ["B"]


def test_links_in_other_properties() -> None:
    text = "---\nup: \"[[A#h|b]]\"\nseen: ['[[B]]', x]\nbare: [[C]]\nsummary: Ruled by [[D]].\n---\n"
    assert [(one.kind, one.target, one.in_obsidian, one.field) for one in references(text)] == [
        ("property", "A", True, "up"),
        ("property", "B", True, "seen"),
        ("property", "C", False, ""),
        ("property", "D", False, ""),
    ]


@given(PIECES)
def test_what_counts_for_deeplore_is_what_its_reader_finds(text: str) -> None:
    _, body = front_matter.split(text)
    found = references(text)
    ours = {one.deeplore_name for one in found if one.field == "" and one.deeplore_name}
    theirs = {name for name in cleaning.wikilinks(body) if name}
    assert ours <= theirs
    place = heading(text, split_places(text)[2])
    if place is None or "[[" not in text[: place[0]]:  # else a link may reach over the heading that goes
        assert ours == theirs
    for one in found:
        assert 0 <= one.start <= one.target_start <= one.target_end <= one.end <= len(text)
        if one.escape is Escape.NONE and one.kind is not ReferenceKind.REQUIRES:
            assert text[one.target_start : one.target_end] == one.target


@given(PIECES)
def test_the_heading_is_the_one_that_gives_the_title(text: str) -> None:
    _, body = front_matter.split(text)
    span = heading_text(text, split_places(text)[2])
    title = cleaning.title(body, "file.md")
    if span is None:
        assert title == "file"
    else:
        assert cleaning.title(f"# {text[slice(*span)]}" if span[0] < span[1] else "#   ", "x.md") == title


@pytest.mark.parametrize(
    ("front", "expected"),
    [
        ("aliases: [A, 'B c']", ("A", "B c")),
        ("aliases:\n  - A\n  - A\n  - B", ("A", "B")),
        ("alias: A, B", ("A", "B")),
        ("Aliases: A", ("A",)),
        ("aliases:", ()),
        ("keys: [alias]", ()),
    ],
)
def test_aliases(front: str, expected: tuple[str, ...]) -> None:
    assert aliases(f"---\n{front}\n---\nbody") == expected


@pytest.mark.parametrize("piece", ["[[", "[[a|", "[x](", "![[", "`", "# ", "[", "(", "%%"])
def test_no_text_takes_long(piece: str) -> None:
    text = piece * 300_000  # beyond the time limit of a test if each piece were tried with every later one
    assert list(references(text)) == []
    assert len(references(f"{text}|] ]]")) <= 1
