"""From the body of a note to its title, its links and the text that goes into the prompt.

Rules: deeplore 1.6, 1.8, 1.9. Every pattern begins with a plain character so that the search for it is
fast, and the order of the steps is part of the behaviour. Whether a step has anything to do is asked of one character
first: most texts do not hold it, and a search for one character is many times faster than one for several.
"""

from __future__ import annotations

import re
from sys import intern

from lorestudio.domain.javascript import DOT, LINE_END, LINE_START, WS, trim

_AT_LINE_START = "(?:(?<=[\n\r\u2028\u2029]{0})|(?<=\\A{0}))"
"""Goes behind the text `{0}`: it stands at the start of a line."""

# The white space behind the number sign may cross line breaks: a lone "#" takes the next line of text as its heading.
_HEADING = re.compile(rf"#{_AT_LINE_START.format('#')}{WS}+({DOT}+)")

_EXCLUDED = re.compile("%%deeplore-exclude%%"), re.compile("%%/deeplore-exclude%%")
_INLINE_COMMENT = re.compile(r"%%[^%\n]+%%")
_COMMENT = re.compile(f"%%{_AT_LINE_START.format('%%')}"), re.compile(f"{LINE_START}%%{LINE_END}")
"""A comment stands between a line that begins with `%%` and a later line that is `%%`."""


def _mark(start: str, whole: str, unclosed: str) -> re.Pattern[str]:
    """Finds a mark by its `start` and the rest of the `whole`, of which groups stay; two more hold an unclosed one.

    Where an end is missing it is so for all that begins up to there: looking from each would take quadratic time.
    """
    return re.compile(f"{start}(?:{whole}|(?<=({start}))({unclosed}))")


_DIV = _mark("<", "/?div[^>]*+>", "/?div[^>]*+")
_EMBED = _mark(r"!\[\[", rf"{DOT}*?\]\]", f"{DOT}*+")
_IMAGE = _mark(r"!\[", rf"(?>{DOT}*?\]\(){DOT}*?\)", f"{DOT}*+")
_NAMED_LINK = _mark(r"\[\[", r"[^\]|]++\|([^\]]++)\]\]", r"[^\]|]++(?:\|[^\]]++)?+")
_PLAIN_LINK = _mark(r"\[\[", r"([^\]]++)\]\]", r"[^\]]++")
LINK_TARGET = re.compile(r"\[\[([^\]|]++)(?:\|[^\]]++)?+(\]\])?+")
"""A link as DeepLore finds it, and its target; without the second group it is none."""

_BLANK_LINES = re.compile(r"\n{3,}")


def title(body: str, filename: str) -> str:
    """The first level-one heading, also one inside code; else the file's name without `.md`. It can be empty."""
    heading = _HEADING.search(body)
    if heading is None:
        return filename.rpartition("/")[2].removesuffix(".md")
    return _link_texts(trim(heading[1]))


def wikilinks(body: str) -> tuple[str, ...]:
    """Targets of the links in a body without its first heading, each once, as written; embedded files are no links."""
    if "[[" not in body:
        return ()
    text = _without_heading(body)
    links = (link for link in LINK_TARGET.finditer(text) if link[2] and text[link.start() - 1 : link.start()] != "!")
    return tuple(dict.fromkeys([intern(trim(link[1]).removesuffix("\\")) for link in links]))


def clean(body: str) -> str:
    """The text that is injected: without comments, excluded parts, div tags, first heading, images and link marks."""
    text = body
    if "%" in text and "%%" in text:
        text = _without_parts(text, *_EXCLUDED)
        text = _INLINE_COMMENT.sub("", text)
        text = _without_parts(text, *_COMMENT)
    if "<" in text and "div" in text:
        text = _without(_DIV, text)
    text = _without_heading(text)
    if "!" in text and "![" in text:
        text = _without(_IMAGE, _without(_EMBED, text))
    text = trim(_link_texts(text))
    if "\n" in text and "\n\n\n" in text:
        text = _BLANK_LINES.sub("\n\n", text)
    return text


def _without_heading(text: str) -> str:
    heading = _HEADING.search(text)
    return text if heading is None else text[: heading.start()] + text[heading.end() :]


def _link_texts(text: str) -> str:
    """Wikilinks replaced by what a reader sees of them."""
    if "[[" not in text:
        return text
    return _without(_PLAIN_LINK, _without(_NAMED_LINK, text) if "|" in text else text)


def _without(mark: re.Pattern[str], text: str) -> str:
    """Splitting keeps the groups of a pattern among the pieces: what the reader sees stays, the marks go."""
    return "".join(filter(None, mark.split(text)))


def _without_parts(text: str, begin: re.Pattern[str], end: re.Pattern[str]) -> str:
    pieces = []
    start = 0
    while opening := begin.search(text, start):
        closing = end.search(text, opening.end())
        if closing is None:
            break
        pieces.append(text[start : opening.start()])
        start = closing.end()
    return "".join(pieces) + text[start:]
