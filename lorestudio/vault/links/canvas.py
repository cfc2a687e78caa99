"""How an Obsidian canvas names notes: by path where a card shows a file, and by links in the text of a card."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from lorestudio.domain.json_text import DECODER, parse_json, spell
from lorestudio.domain.records import replace
from lorestudio.vault.links.references import TITLE_FIELDS, Reference, ReferenceKind, references

CANVAS_SUFFIX: Final = ".canvas"

_TEXT: Final = r'"(?:[^"\\]|\\.)*+"'
_TOKEN: Final = re.compile(rf"[{{}}]|({_TEXT})(?:\s*+:\s*+({_TEXT}))?")


class CardText(NamedTuple):
    """A text of a card: its place in the file, quotes included, and what it says."""

    start: int
    end: int
    value: str


def cards(text: str) -> Iterator[Mapping[str, CardText]]:
    """The texts of every object in the file, by their names. Raises JSONDecodeError where it is no JSON."""
    if text.strip("\ufeff \t\r\n"):  # a canvas that nobody has drawn on yet may be empty
        parse_json(text.removeprefix("\ufeff"))
    opened: list[dict[str, CardText]] = []
    for found in _TOKEN.finditer(text):
        if found[0] == "{":
            opened.append({})
        elif found[0] == "}":
            yield opened.pop()
        elif found[2]:
            opened[-1][DECODER.decode(found[1])] = CardText(*found.span(2), DECODER.decode(found[2]))


def links(card: Mapping[str, CardText]) -> tuple[Reference, ...]:
    """The links in a card's text. DeepLore reads no canvas, and no property or title is in one."""
    text = card["text"].value if "text" in card else ""
    return tuple(
        replace(each, deeplore_name=None, in_heading=False)
        for each in references(text)
        if each.in_obsidian and each.kind not in (*TITLE_FIELDS, ReferenceKind.PROPERTY)
    )


def named(text: str) -> list[str]:
    """What all cards name, in order."""
    found: list[str] = []
    for card in cards(text):
        found += [card["file"].value] if "file" in card else []
        found += [each.target for each in links(card)]
    return found


def spelled(value: str, as_written: str) -> str:
    """A text for the file, with other letters than ASCII escaped where the one that it replaces has them so."""
    return spell(value, ascii_only="\\u" in as_written)
