from __future__ import annotations

import time

import pytest

from lorestudio.vault.cleaning import clean, title, wikilinks


@pytest.mark.parametrize(
    ("body", "filename", "expected"),
    [
        ("# A [[B|C]] d", "f/x.md", "A C d"),
        ("#\n\nFoo", "x.md", "Foo"),
        ("## x\n# Late", "q.md", "Late"),
        ("```\n# code\n```", "q.md", "code"),
        ("#   ", "q.md", ""),
        ("# T  \r\nx", "q.md", "T"),
        ("none", "a/b/My.Note.md", "My.Note"),
        ("none", "a/b/X.MD", "X.MD"),
        ("none", "n.md.md", "n.md"),
        ("a\u2028# T\u2028b", "q.md", "T"),
        ("x# T", "q.md", "q"),
        ("#T", "q.md", "q"),
        ("# [[ A ]]", "q.md", " A "),
        ("none", ".md", ""),
    ],
)
def test_title(body: str, filename: str, expected: str) -> None:
    assert title(body, filename) == expected


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("a %%deeplore-exclude%% b\nc", "a  b\nc"),
        ("a %%deeplore-exclude%% b\nc %%/deeplore-exclude%% d", "a  d"),
        ("%%\nmulti\n%% \nend", "%%\nmulti\n%% \nend"),
        ("%%\r\nmulti\r\n%%\r\nend", "end"),
        ("%%\nmulti\n%%\nend", "end"),
        ("%%x\ny%%", "%%x\ny%%"),
        ("%% 50% off %%", "%% 50% off %%"),
        ("<DIV>x</DIV>", "<DIV>x</DIV>"),
        ('<div class="a">x</div><divider>y', "xy"),
        ("a <div b", "a <div b"),
        ("text\n# T\nbody", "text\n\nbody"),
        ("text\r\n# T\r\nbody", "text\r\n\r\nbody"),
        ("#\n\nFoo bar\nrest", "rest"),
        ("## H2\n# H1\nz", "## H2\n\nz"),
        ("```\n# one\n# two\n```", "```\n\n# two\n```"),
        ("![alt](u(v).png) z", ".png) z"),
        ("a ![[picture.png]] b", "a  b"),
        ("[[A|B]] [[C]] [[D#h]] [[A|B|C]] [[A\\|B]]", "B C D#h B|C B"),
        ("[[a|]] [[|b]] [[]]", "a| |b [[]]"),
        ("a\n\n\n\nb", "a\n\nb"),
        ("a\r\n\r\n\r\nb", "a\r\n\r\n\r\nb"),
        ("a%%b%%%%c%%d", "ad"),
        ("\ufeff\u00a0x\u0085\u2003", "x\u0085"),
    ],
)
def test_clean(body: str, expected: str) -> None:
    assert clean(body) == expected


def test_wikilinks_of_the_rules() -> None:
    body = "[[A]] [[a]] [[A]] ![[I]] [[B|x]] [[C#h]] [[ D ]] [[E\\|y]] [[f/G]] [[]] [[|z]]"
    assert wikilinks(body) == ("A", "a", "B", "C#h", "D", "E", "f/G")


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("[[ ]]", ("",)),
        ("# [[In the heading]]\n[[Below]]", ("Below",)),
        ("%% [[Comment]] %% `[[Code]]`", ("Comment", "Code")),
        ("no link", ()),
    ],
)
def test_wikilinks(body: str, expected: tuple[str, ...]) -> None:
    assert wikilinks(body) == expected


@pytest.mark.parametrize(
    ("piece", "left"),
    [
        ("%%deeplore-exclude%% ", ""),
        ("<div ", "<div "),
        ("%%x\n", "%%x\n"),
        ("[[", "[["),
        ("![[", "![["),
        ("![a", "![a"),
    ],
)
def test_unclosed_marks_in_long_notes(piece: str, left: str) -> None:
    assert clean(piece * 40_000 + "end") == left * 40_000 + "end"


@pytest.mark.parametrize("start", ["[[", "[[a", "[[a|x", "![[", "![", "![](", "]("])
@pytest.mark.parametrize("end", ["|]]", "] ]]", "] )", "\n)"])
def test_marks_that_are_closed_wrongly_take_no_longer_than_the_text(start: str, end: str) -> None:
    text = start * 100_000 + end
    started = time.process_time()
    assert len(clean(text)) <= len(text)
    assert len(wikilinks(text)) <= 1
    assert time.process_time() - started < 1
