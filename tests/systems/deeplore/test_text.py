"""Cutting at a sentence (rules: deeplore 5.7). Templates are tested with the placement stage."""

from __future__ import annotations

import pytest

from lorestudio.systems.deeplore.text import truncate_to_sentence, xml_escape


@pytest.mark.parametrize(
    ("text", "limit", "result"),
    [
        # the verified vectors
        ("Hello world. Foo bar", 15, "Hello world."),
        ("Hello world. Foo bar", 12, "Hello world."),
        ("Hello world. Foo bar", 20, "Hello world. Foo bar"),
        ("Hi. This is a long sentence without end", 30, "Hi. This is a long sentence wi..."),
        ("abcdefghij", 5, "abcde..."),
        ('Say "yes" now please', 12, 'Say "yes"'),
        ("wow 😀 great stuff here", 7, "wow 😀"),
        ("wow😀xyz12", 5, "wow😀"),
        ("He paid 5 $ for it all", 12, "He paid 5"),
        ("one two (x) three four", 12, "one two (x)"),
        ("end . more text here now", 8, "end . mo..."),
        ("1. item 2 items", 10, "1. item 2..."),
        ("日本語。テスト文章です", 5, "日本語。"),
        ("abc   def ghi", 5, "abc..."),
        # the rules around them
        ("", 0, ""),
        ("abc", 0, "..."),
        ("Say ©now and then", 6, "Say ©"),  # © is an emoji here
        ("abcd. efghij", 5, "abcd."),
        ("ab. cdefgh", 7, "ab."),  # 3 units are more than 0.4 * 7
        ("ab. cdefgh", 8, "ab. cdef..."),  # and not more than 0.4 * 8
        ("word `code` more text", 12, "word `code`"),
        ("a😀b", 2, "a\ud83d..."),  # half of a pair stays
    ],
)
def test_truncate_to_sentence(text: str, limit: int, result: str) -> None:
    assert truncate_to_sentence(text, limit) == result


def test_xml_escape() -> None:
    assert xml_escape('<a href="x">&\'') == "&lt;a href=&quot;x&quot;&gt;&amp;'"
