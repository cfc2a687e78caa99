"""All references in the text of one note, with their places: links in the body, references in the front matter.

Two readers follow them, and not always the same ones. Obsidian makes no links in code and comments; indented code is
not recognised, as telling it from a list takes a whole Markdown parser, and a link there is better shown than lost.
DeepLore takes every `[[...]]` of the body but embeds and those in the first heading, code and comments included, and
looks for a title with that very text (rules: deeplore 1.9, 1.13); of `requires`, `excludes` and `cascade_links`
it takes the items as written, brackets and all (rules: deeplore 1.5).
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from enum import StrEnum
from typing import Final, TypeAlias

from msgspec import Struct

from lorestudio.domain.javascript import DOT, WS, trim
from lorestudio.domain.records import replace
from lorestudio.vault import front_matter
from lorestudio.vault.cleaning import LINK_TARGET
from lorestudio.vault.note.spans import PropertyText, property_texts, split_places


class Excerpt(Struct, frozen=True):
    """The line in which a span begins. `line` counts from 1; `start` and `end` are code points of `text`."""

    line: int
    text: str
    start: int
    end: int


def excerpt(text: str, start: int, end: int, known: tuple[int, int] = (0, 1)) -> Excerpt:
    """The line around `start`; a span over several lines ends with the first of them.

    `known` is an earlier place of the text and its line number, so that many spans in order are found in one pass.
    """
    line = known[1] + text.count("\n", known[0], start)
    line_start = text.rfind("\n", 0, start) + 1
    line_end = text.find("\n", start)
    if line_end < 0:
        line_end = len(text)
    if line_end > start and text[line_end - 1] == "\r":
        line_end -= 1
    return Excerpt(line, text[line_start:line_end], start - line_start, min(end, line_end) - line_start)


Span: TypeAlias = tuple[int, int]
"""Start and end in code points of the text."""

# A fence may stand in a quote or in a list item. Behind a fence of backticks no further backtick may stand in the line.
_OPENING = re.compile(
    r"""
      ^[ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)?(?P<fence>`{3,}(?=[^`\n]*$)|~{3,})[^\n]*
    | \\[`%<\\]
    | (?P<code>`+)
    | (?P<comment>%%)
    | (?P<html><!--)
    """,
    re.MULTILINE | re.VERBOSE,
)
_BLANK_LINE = re.compile(r"\n[ \t\r]*\n")


def literal_parts(text: str, start: int = 0) -> list[Span]:
    """The spans of fenced code, inline code, `%%` comments and HTML comments from `start` on, in order, disjoint.

    A fence that is never closed reaches to the end, as in Obsidian; other openings without an end are plain text.
    """
    if not ("`" in text or "~~~" in text or "%%" in text or "<!--" in text):
        return []
    parts: list[Span] = []
    while (opening := _OPENING.search(text, start)) is not None:
        end = _end(text, opening)
        if end is None:
            start = opening.end()
        else:
            parts.append((opening.start(), end))
            start = end
    return parts


def _end(text: str, opening: re.Match[str]) -> int | None:
    """Where the part ends that `opening` begins; None where it begins none."""
    after = opening.end()
    if fence := opening["fence"]:
        closing = re.compile(rf"^[ \t>]*{re.escape(fence)}{re.escape(fence[0])}*[ \t\r]*$", re.MULTILINE)
        found = closing.search(text, after)
        return len(text) if found is None else found.end()
    if marks := opening["code"]:
        return _end_of_code(text, after, len(marks))
    for name, mark in (("comment", "%%"), ("html", "-->")):
        if opening[name]:
            place = text.find(mark, after)
            return None if place < 0 else place + len(mark)
    return None


def _end_of_code(text: str, start: int, size: int) -> int | None:
    """The end of the next run of exactly `size` backticks in the same paragraph."""
    blank = _BLANK_LINE.search(text, start)
    limit = len(text) if blank is None else blank.start()
    while (place := text.find("`", start, limit)) >= 0:
        start = place
        while start < limit and text[start] == "`":
            start += 1
        if start - place == size:
            return start
    return None


def inside(parts: list[Span], place: int) -> bool:
    """Whether `place` lies in one of the parts, which are in order and disjoint."""
    number = bisect_right(parts, place, key=lambda span: span[0]) - 1
    return number >= 0 and place < parts[number][1]


class ReferenceKind(StrEnum):
    """How a note names another file. The last three are DeepLore's fields, whose items are titles."""

    WIKILINK = "wikilink"
    EMBED = "embed"
    MARKDOWN = "markdown"
    PROPERTY = "property"
    REQUIRES = "requires"
    EXCLUDES = "excludes"
    CASCADE_LINKS = "cascade_links"


class Escape(StrEnum):
    """How a Markdown link writes its path."""

    NONE = ""
    PERCENT = "%"
    ANGLE = "<>"


TITLE_FIELDS: Final = (ReferenceKind.REQUIRES, ReferenceKind.EXCLUDES, ReferenceKind.CASCADE_LINKS)


class Reference(Struct, frozen=True):
    """One reference. All offsets are code points of the note's whole text.

    `start` to `end` is all of it, brackets included; `target_start` to `target_end` only what names the file, as it is
    written. `target` is that name as meant (percent signs decoded, trimmed); it is empty for a link into the note
    itself. `subpath` is "" or what begins with `#`, `alias` the text shown instead, None where there is none.
    `in_obsidian` says whether Obsidian makes a link of it, `deeplore_name` which title DeepLore looks for, None where
    it sees no reference. `in_heading` marks a link inside the heading that DeepLore takes for the title.
    `field` and `item` say which property holds it and at which place of its list (None: the value is one text).
    """

    kind: ReferenceKind
    start: int
    end: int
    target: str
    target_start: int
    target_end: int
    subpath: str = ""
    alias: str | None = None
    in_obsidian: bool = True
    deeplore_name: str | None = None
    in_heading: bool = False
    escape: Escape = Escape.NONE
    field: str = ""
    item: int | None = None

    @property
    def counts_for_deeplore(self) -> bool:
        """Whether DeepLore reads a reference here; that the title exists is another question."""
        return self.deeplore_name is not None

    @property
    def names_title(self) -> bool:
        """Whether it is an item of a field whose items are titles."""
        return self.kind in TITLE_FIELDS


# As Obsidian understands it: a name without brackets, then any text on the same line up to other double brackets.
_LINK = re.compile(r"(!?)\[\[([^\[\]|\n]*)(?:\|((?:[^\[\]\n]|\[(?!\[)|\](?!\]))*))?\]\]")
_HEADING = re.compile(rf"#(?:(?<=[\n\r\u2028\u2029]#)|(?<=\A#)){WS}+({DOT}+)")
_MARKDOWN = re.compile(
    r"""(!?)\[((?:[^\[\]\n]|\[[^\[\]\n]*\])*)\]
        \([ \t]*(?:<([^<>\n]*)>|((?:[^\s()<>]|\([^\s()]*\))*))
        (?:[ \t]+(?:"[^"\n]*"|'[^'\n]*'))?[ \t]*\)""",
    re.VERBOSE,
)
_HEADINGS = re.compile(r"^#{1,6}[ \t](.*)", re.MULTILINE)
_NO_WORDS = re.compile(r"(?:[\s:#|^\\]|%%|\[\[|\]\])+")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:|//")
_PERCENT = re.compile(r"(?:%[0-9A-Fa-f]{2})+")


def references(text: str) -> tuple[Reference, ...]:
    """The references of a note in the order of the text. Links that neither reader follows are no references.

    Addresses with a scheme (`https:`) are none either. Never raises, whatever the text is.
    """
    body_start = split_places(text)[2]
    found: list[Reference] = []
    if body_start:
        found.extend(_in_front_matter(text, body_start))
    links, markdown = "[[" in text, "](" in text
    if links or markdown:
        literal = literal_parts(text, body_start)
        title = heading(text, body_start)
        if links:
            found.extend(_wikilinks(text, body_start, literal, title))
        if markdown:
            found.extend(_markdown_links(text, body_start, literal, title))
        found.sort(key=lambda reference: (reference.start, reference.end))
    return tuple(found)


def heading(text: str, body_start: int) -> tuple[int, int] | None:
    """The span of the heading that DeepLore takes for the title, from its number sign on (rules: deeplore 1.6).

    It can be in code, and its text can stand some lines below the number sign. See `heading_text` for the words.
    """
    found = _first_heading(text, body_start)
    return None if found is None else found.span()


def headings(text: str) -> Iterator[tuple[int, str]]:
    """What a link may lead to behind its `#`: the headings that Obsidian sees, as `heading_words`, and their lines,
    counted from 1.
    """
    text = text.removeprefix(front_matter.BOM)
    start = split_places(text)[2]
    literal = literal_parts(text, start)
    for found in _HEADINGS.finditer(text, start):
        words = heading_words(found[1])
        if words and not inside(literal, found.start()):
            yield text.count("\n", 0, found.start()) + 1, words


def heading_words(text: str) -> str:
    """A heading as Obsidian writes it in a link: without what means something there."""
    return _NO_WORDS.sub(" ", text).strip()


def heading_text(text: str, body_start: int) -> tuple[int, int] | None:
    """The span of the words of that heading, white space around them left out."""
    found = _first_heading(text, body_start)
    if found is None:
        return None
    words = found[1]
    start = found.start(1) + len(words) - len(words.lstrip())
    return start, start + len(trim(words))


def aliases(text: str) -> tuple[str, ...]:
    """Other names of the note that Obsidian knows: `aliases` or `alias`, a list or a text with commas."""
    yaml_text, _ = front_matter.split(text)
    if yaml_text is None or "alias" not in yaml_text.lower():
        return ()
    names: dict[str, None] = {}
    for field, value in front_matter.parse(yaml_text).items():
        if field.lower() in ("aliases", "alias"):
            names |= dict.fromkeys(listed(value))
    return tuple(names)


def listed(value: front_matter.Value) -> tuple[str, ...]:
    """A list, or a text with commas, as trimmed texts; empty ones are left out."""
    items = value if isinstance(value, list) else value.split(",") if isinstance(value, str) else ()
    return tuple(text for item in items if (text := trim(item)))


def decode(path: str) -> str:
    """A path with its percent signs resolved; what is no UTF-8 stays as written."""
    return _PERCENT.sub(_decoded, path) if "%" in path else path


def _decoded(found: re.Match[str]) -> str:
    try:
        return bytes.fromhex(found[0].replace("%", "")).decode("utf-8")
    except UnicodeDecodeError:
        return found[0]


def _first_heading(text: str, body_start: int) -> re.Match[str] | None:
    if body_start and text[body_start - 1] not in "\n\r\u2028\u2029":
        # The body begins in the middle of a line (a closing fence with words behind it), and for DeepLore that is the
        # start of a line.
        found = re.compile(rf"#{WS}+({DOT}+)").match(text, body_start)
        if found is not None:
            return found
    return _HEADING.search(text, body_start)


def _wikilinks(
    text: str, body_start: int, literal: list[tuple[int, int]], title: tuple[int, int] | None
) -> Iterator[Reference]:
    deeplore = _deeplore_links(text, body_start, title)
    for link in _LINK.finditer(text, body_start):
        embed, written, alias = link.groups()
        start = link.start() + len(embed)
        name = deeplore.pop(start, None)
        in_obsidian = not inside(literal, link.start())
        if not in_obsidian and name is None:
            continue
        path, target_start = _trimmed(written.partition("#")[0].removesuffix("\\"), link.start(2))
        subpath = trim(written.removesuffix("\\"))[len(path) :].lstrip() if "#" in written else ""
        if not (path or subpath):
            continue
        yield Reference(
            ReferenceKind.EMBED if embed else ReferenceKind.WIKILINK,
            link.start(), link.end(), path, target_start, target_start + len(path), subpath, alias, in_obsidian,
            None if name is None else name[1], in_heading=title is not None and title[0] <= start < title[1],
        )  # fmt: skip
    for start, (end, name_read) in deeplore.items():
        path, target_start = _trimmed(name_read, text.index(name_read, start))
        yield Reference(
            ReferenceKind.WIKILINK, start, end, path, target_start, target_start + len(path),
            in_obsidian=False, deeplore_name=name_read,
        )  # fmt: skip


def _deeplore_links(text: str, body_start: int, title: tuple[int, int] | None) -> dict[int, tuple[int, str]]:
    """What DeepLore takes for links: by the place of the brackets, where they end and the name that is looked for.

    A link that begins before the heading and ends behind it is passed over: it is one only once the heading is gone.
    """
    body = text[body_start:]
    cut = size = 0
    if title is not None:
        cut, size = title[0] - body_start, title[1] - title[0]
        body = body[:cut] + body[cut + size :]
    found: dict[int, tuple[int, str]] = {}
    for link in LINK_TARGET.finditer(body):
        start, end = link.span()
        if not link[2] or body[start - 1 : start] == "!" or start < cut < end:
            continue
        offset = body_start + (size if title is not None and start >= cut else 0)
        found[start + offset] = (end + offset, trim(link[1]).removesuffix("\\"))
    return found


def _markdown_links(
    text: str, body_start: int, literal: list[tuple[int, int]], title: tuple[int, int] | None
) -> Iterator[Reference]:
    for link in _MARKDOWN.finditer(text, body_start):
        angle = link[3] is not None
        group = 3 if angle else 4
        path, _, subpath = link[group].partition("#")
        if not path or _SCHEME.match(path) or link[2].startswith("[") or inside(literal, link.start()):
            continue
        target = decode(path)
        yield Reference(
            ReferenceKind.EMBED if link[1] else ReferenceKind.MARKDOWN,
            link.start(), link.end(), target, link.start(group), link.start(group) + len(path),
            f"#{decode(subpath)}" if subpath else "", link[2],
            escape=Escape.ANGLE if angle else Escape.PERCENT,
            in_heading=title is not None and title[0] <= link.start() < title[1],
        )  # fmt: skip


def _in_front_matter(text: str, body_start: int) -> Iterator[Reference]:
    """Items of the fields that hold titles, and links in any property."""
    block = text[:body_start]
    linked = "[[" in block
    lower = block.lower()
    if not (linked or any(kind in lower for kind in TITLE_FIELDS)):
        return
    fields = property_texts(text, None if linked else TITLE_FIELDS)
    items: dict[int, PropertyText] = {}
    for kind in TITLE_FIELDS:
        # The right spelling wins over others, which lenient authoring puts right (rules: deeplore 1.4).
        names = [kind.value] if kind in fields else [name for name in fields if name.lower() == kind][:1]
        for item in fields[names[0]] if names else ():
            items[item.start] = item
            reference = _title_item(text, item, kind)
            if reference is not None:
                yield reference
    if linked:
        whole = {(item.start, item.end): item for texts in fields.values() for item in texts}
        for link in _LINK.finditer(block):
            item_read = whole.get(link.span())
            if item_read is None or item_read.start not in items:
                yield from _property_link(text, link, item_read)


def _title_item(text: str, item: PropertyText, kind: ReferenceKind) -> Reference | None:
    link = _LINK.fullmatch(text, item.start, item.end)
    if link is not None and not link[1]:
        found = next(_property_link(text, link, item), None)
        return None if found is None else replace(found, kind=kind)
    name, start = _trimmed(item.value, item.start)
    if not name:
        return None
    end = start + len(name) if "\\" not in text[item.start : item.end] else item.end
    return Reference(
        kind, start, end, name, start, end, in_obsidian=False, deeplore_name=name, field=item.name, item=item.item
    )


def _property_link(text: str, link: re.Match[str], item: PropertyText | None) -> Iterator[Reference]:
    """A link in a property; Obsidian follows it where it is a whole text in quotes."""
    embed, written, alias = link.groups()
    path, target_start = _trimmed(written.partition("#")[0], link.start(2))
    subpath = trim(written)[len(path) :].lstrip() if "#" in written else ""
    if embed or not path:
        return
    yield Reference(
        ReferenceKind.PROPERTY, link.start(), link.end(), path, target_start, target_start + len(path), subpath, alias,
        in_obsidian=item is not None and text[link.start() - 1] in "\"'",
        field="" if item is None else item.name, item=None if item is None else item.item,
    )  # fmt: skip


def _trimmed(text: str, start: int) -> tuple[str, int]:
    """The text without white space around it, and where it then begins."""
    trimmed = trim(text)
    return trimmed, start + (text.find(trimmed) if trimmed else 0)
