from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lorestudio.vault.files import NoteFile
from lorestudio.vault.links.index import LinkIndex
from lorestudio.vault.links.mentions import MentionOf


def mentions(text: str, of: str = "# Skarn\n", **others: str) -> list[tuple[str, str]]:
    """What is mentioned of `Skarn.md` in a note with this text, and as what."""
    files = {"Skarn.md": of, "Tale.md": text} | {f"{name}.md": body for name, body in others.items()}
    index = LinkIndex.build([NoteFile(name, body) for name, body in files.items()])
    return [(text[one.start : one.end], one.of.value) for one in index.mentions("Skarn.md") if one.source == "Tale.md"]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Skarn sleeps. SKARN wakes.", ["Skarn", "SKARN"]),
        ("Skarnland and pre_Skarn", []),
        ("Skarn's hoard, Skarn-like", ["Skarn", "Skarn"]),
        ("[[Skarn]] and [[Other|Skarn]] and ![[Skarn]]", []),
        ("[Skarn](x.md) and [a](Skarn.md)", []),
        ("`Skarn` and %% Skarn %%\n```\nSkarn\n```\nSkarn", ["Skarn"]),
        ("---\nsummary: Skarn\nkeys: [Skarn]\n---\nbody", []),
        ("https://skarn.org/Skarn and www.skarn.org", []),
        ("#skarn and #beasts/skarn, but # Skarn", ["Skarn"]),
    ],
)
def test_where_a_title_counts_as_a_mention(text: str, found: list[str]) -> None:
    assert mentions(text) == [(one, "title") for one in found]


def test_what_is_mentioned() -> None:
    note = "---\naliases: [The Worm]\nkeys: [dragon, Skarn]\n---\n# Skarn the Grey\n"
    text = "skarn the grey, the worm, skarn, a dragon"
    assert mentions(text, note) == [
        ("skarn the grey", "title"), ("the worm", "alias"), ("skarn", "file name"), ("dragon", "key"),
    ]  # fmt: skip


def test_the_longest_name_is_meant() -> None:
    assert mentions("Skarn Hall and Skarn", Hall="# Skarn Hall\n") == [("Skarn", "title")]


def test_a_longer_key_does_not_hide_a_name() -> None:
    note = "---\nkeys: [young Skarn]\n---\n# Skarn\n"
    assert mentions("Once young Skarn flew.", note) == [("Skarn", "title")]


def test_a_key_inside_a_name_is_no_mention_of_it() -> None:
    note = "---\nkeys: [hall]\n---\n# Skarn\n"
    assert mentions("Skarn Hall, a hall", note, Hall="# Skarn Hall\n") == [("hall", "key")]


@pytest.mark.parametrize(
    ("title", "text", "found"),
    [
        ("龙王", "老龙王来了", ["龙王"]),
        ("スカルン", "暗黒竜スカルンは眠る", ["スカルン"]),
        ("스카른", "스카른은 잔다", ["스카른"]),
        ("Jörn", "Jo\u0308rn und JÖRN", ["Jo\u0308rn", "JÖRN"]),
        ("İskarn", "the İskarn and İSKARN", ["İskarn", "İSKARN"]),
    ],
)
def test_other_scripts(title: str, text: str, found: list[str]) -> None:
    assert [words for words, _ in mentions(text, f"# {title}\n")] == found


def test_notes_that_were_not_searched_are_searched_once_somebody_asks() -> None:
    files = [NoteFile("Skarn.md", "# Skarn\n"), NoteFile("Tale.md", "Skarn sleeps."), NoteFile("Song.md", "O Skarn!")]
    eager, later = (LinkIndex.build(files, searched=searched) for searched in (True, False))
    before = later.changed("Song.md", "O Skarn, Skarn!")
    wanted = eager.changed("Song.md", "O Skarn, Skarn!").mentions("Skarn.md")
    assert [one.source for one in later.mentions("Skarn.md")] == ["Song.md", "Tale.md"]
    assert later.mentions("Skarn.md") == eager.mentions("Skarn.md")
    assert before.mentions("Skarn.md") == later.changed("Song.md", "O Skarn, Skarn!").mentions("Skarn.md") == wanted


def test_a_note_does_not_mention_itself() -> None:
    index = LinkIndex.build([NoteFile("Skarn.md", "# Skarn\nSkarn, Skarn")])
    assert index.mentions("Skarn.md") == ()


def test_line_and_context() -> None:
    index = LinkIndex.build(
        [NoteFile("Skarn.md", ""), NoteFile("T.md", "---\na: 1\n---\n\none\r\ntwo Skarn three\r\n")]
    )
    (found,) = index.mentions("Skarn.md")
    assert (found.excerpt.line, found.excerpt.text) == (6, "two Skarn three")
    assert found.excerpt.text[found.excerpt.start : found.excerpt.end] == "Skarn"
    assert found.of is MentionOf.TITLE


@given(
    st.lists(
        st.sampled_from(["skarn", "Skarn", "grey", " ", "the", "[[", "]]", "`", "\n", "x", "'s", "."]), max_size=30
    )
)
def test_mentions_are_whole_words_outside_links(pieces: list[str]) -> None:
    text = "".join(pieces)
    found = [words.lower() for words, _ in mentions(text, "# Skarn\n", Grey="# skarn grey\n")]
    assert set(found) <= {"skarn"}
    if "[[" not in text and "`" not in text and "skarn grey" not in text.lower():
        assert found == re.findall(r"\bskarn\b", text.lower())
