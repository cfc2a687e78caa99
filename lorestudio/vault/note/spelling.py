"""How a value is spelled in front matter so that DeepLore and YAML read the same.

DeepLore's line machine and YAML resolve quotes and escapes differently, so no single rule says how a text must be
spelled. Spellings are proposed in the order of preference, both readers are asked, and the first one wins that both
read as the value. Source of DeepLore's rules: deeplore 1.3.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from decimal import Decimal
from functools import lru_cache

from msgspec import Struct

from lorestudio.domain.javascript import WHITE_SPACE, Json, number
from lorestudio.vault import front_matter
from lorestudio.vault.note.spans import BLOCK_HEADER, is_filler, split_lines
from lorestudio.vault.note.yaml_reading import YamlValue, certainly_alike, read_yaml, same

_WORDS = frozenset({"true", "false", "yes", "no", "on", "off", "y", "n", "null", "~", "<<", "="})
_NUMERIC = re.compile(
    r"[-+]?[0-9][0-9_,.:]*(?:[eE][-+]?[0-9]+)?|[-+]?\.[0-9_]+(?:[eE][-+]?[0-9]+)?|[-+]?0[xXoObB][0-9a-fA-F_]+"
    r"|[-+]?\.(?:inf|nan)|[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}.*",
    re.IGNORECASE,
)
_NO_PLAIN_START = frozenset("-?:,[]{}#&*!|>'\"%@`~")
_NOT_INSIDE = re.compile(r":(?:[ \t]|\Z)|[ \t]#|[\t\n\r]")
_FLOW_SIGNS = re.compile(r"[,\[\]{}\"]")
_NO_TEXT = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufffe\uffff]")
_QUOTED_ITEM = re.compile(r"""[\[,]\s*(?:"(?:\\.|[^"\\])*"|'(?:''|[^'])*')""")
_COMMENT_BEHIND = re.compile(r"""(?:"(?:[^"\\]|\\.)*"|'(?:[^']|'')*'|\[[^\]]*\])[ \t]+(#.*)""")
_COMMENT = re.compile(r"(?:^|[ \t])(#.*)")


class NumberParts(Struct, frozen=True):
    """The lines of one property: `head` up to the colon, `gap`, `rest` (the value on that line), `tail`, and `body`."""

    head: str
    gap: str
    rest: str
    tail: str
    body: tuple[str, ...] = ()

    @property
    def newline(self) -> str:
        """How the first line ends."""
        return "\r\n" if self.tail.endswith("\r\n") else "\n"

    @property
    def raw(self) -> str:
        """The lines again."""
        return self.head + self.gap + self.rest + self.tail + "".join(self.body)

    @property
    def is_block_scalar(self) -> bool:
        """Whether the value begins as a block scalar does in YAML."""
        return BLOCK_HEADER.fullmatch(self.rest) is not None

    @property
    def has_items(self) -> bool:
        """Whether the value is a list with each item on its own line."""
        return not self.is_block_scalar and any(map(is_item, self.body))

    @property
    def comments(self) -> str:
        """The comment lines below the first line; inside a block scalar there are none."""
        return "" if self.is_block_scalar else "".join(line for line in self.body if is_filler(line) and line.strip())

    def start(self, *, plain: bool = False) -> str:
        """What stands before a value; `plain`: in the usual way and not as the author wrote it."""
        if plain:
            return self.head[:-1].rstrip(WHITE_SPACE) + ": "
        return self.head + (self.gap if self.gap and not self.gap.strip(" \t") else " ")

    def comment_above(self, value: Json = None) -> str:
        """The comment behind the value as a line of its own, because DeepLore would read it as part of the value.

        Nothing where the new value has the comment in it.
        """
        comment = comment_in(self.rest)
        return "" if not comment or (isinstance(value, str) and comment in value) else comment + self.newline


def take_apart(raw: str) -> NumberParts:
    """The parts of a property that DeepLore reads; `raw` are its lines."""
    lines = split_lines(raw)
    line = lines[0]
    found = front_matter.KEY_LINE.match(line.rstrip(WHITE_SPACE))
    if found is None:
        raise ValueError(f"“{line.strip()}” is no property that DeepLore reads.")
    rest = found[2].rstrip(WHITE_SPACE)
    start = found.start(2)
    colon = line.index(":", found.end(1)) + 1
    return NumberParts(line[:colon], line[colon:start], rest, line[start + len(rest) :], tuple(lines[1:]))


def is_item(line: str) -> bool:
    """Whether DeepLore takes a line as an item of a list."""
    return front_matter.LIST_ITEM.match(line.rstrip(WHITE_SPACE)) is not None


def comment_in(rest: str) -> str:
    """The comment that YAML sees behind a value, with its number sign; empty where there is none."""
    bare = _QUOTED_ITEM.sub(lambda item: "_" * len(item[0]), rest) if rest.startswith("[") else rest
    behind = _COMMENT_BEHIND.fullmatch(bare)
    if behind is not None:
        return rest[behind.start(1) :]
    if rest[:1] in ("'", '"') or (rest.startswith("[") and rest.endswith("]")):
        return ""  # what is inside the quotes or the brackets are words to DeepLore
    found = _COMMENT.search(bare)
    return "" if found is None else rest[found.start(1) : found.end(1)]


def quote_of(spelling: str) -> str:
    """The quotation mark that a value is written in, or nothing."""
    return spelling[0] if len(spelling) > 1 and spelling[0] in ("'", '"') else ""


def agrees(raw: str, name: str, value: Json) -> bool:
    """Whether both readers find this value in the lines of a property; comment lines may stand above them."""
    if not deeplore_reads(raw, name, value):
        return False
    if certainly_alike(raw):
        return True
    found = yaml_value(raw, name)
    return found is not None and not found.error and same(value, found.value, block_scalar=_is_block_scalar(raw, name))


def equal(one: object, other: object) -> bool:
    """Whether two values are equal; true is not one."""
    return one == other and isinstance(one, bool) is isinstance(other, bool)


def deeplore_reads(raw: str, name: str, value: Json) -> bool:
    """Whether DeepLore finds exactly this value, of this type."""
    return equal(front_matter.parse(raw).get(name, math.nan), value)


def yaml_value(raw: str, name: str) -> YamlValue | None:
    """What YAML finds in the lines of one property; None where it cannot read them."""
    return next((entry for entry in read_yaml(raw).values.values() if entry.name == name), None)


def spellings(value: Json, preferred: str = "", *, flow: bool = False, item: bool = False) -> Iterator[str]:
    """Spellings of one value on one line, the best first; not every one is read alike. `preferred` is a quotation mark.

    `flow`: inside brackets; `item`: in a list, where DeepLore takes escapes away. Raises ValueError for a value that
    is neither text, number, boolean nor None.
    """
    if not isinstance(value, str):
        yield figures(value)
        return
    if preferred:
        yield from _quoted(value, preferred, escapes=item)
    if plain_is_safe(value, flow=flow):
        yield value
    for quote in ('"', "'"):
        if quote != preferred:
            yield from _quoted(value, quote, escapes=item)


@lru_cache(8192)
def item_spelling(text: str, preferred: str = "", *, flow: bool = False) -> str | None:
    """The best spelling of one item that both read alike, in brackets or on a line; None where there is none."""
    for spelling in spellings(text, preferred, flow=flow, item=True):
        if item_agrees(spelling, text, flow=flow):
            return spelling
    return None


def item_agrees(spelling: str, text: str, *, flow: bool = False) -> bool:
    """Whether both readers find this text in an item of a list."""
    return agrees(f"x: [{spelling}]\n" if flow else f"x:\n- {spelling}\n", "x", [text])


def why_not(name: str, value: Json) -> str:
    """Why a value cannot be written, and what to do, in words."""
    for text in value if isinstance(value, list) else [value]:
        if not isinstance(text, str):
            continue
        if "\n" in text or "\r" in text:
            return (
                f"“{name}” was not changed: DeepLore keeps the indentation of further lines and resolves no escapes, "
                "so a text of several lines cannot be written so that DeepLore and Obsidian read the same. "
                "Write it on one line."
            )
        if _NO_TEXT.search(text):
            return (
                f"“{name}” was not changed: the text holds a character that does not belong in a line of text, such "
                "as a control character or half of a character. Delete it."
            )
    return (
        f"“{name}” was not changed: no spelling of this value is read alike by DeepLore and Obsidian. Use only one "
        "kind of quotation mark, no backslash before one, and no white space at the ends."
    )


def left_over(parts: NumberParts) -> str:
    """The lines below a value, without the items of a list, that stand there although YAML cannot read them with it.

    They are nobody's value, but somebody's text, and never thrown away with a value. Empty where YAML can read all.
    """
    if parts.is_block_scalar or all(is_filler(line) or is_item(line) for line in parts.body):
        return ""
    return "".join(line for line in parts.body if not is_item(line)) if read_yaml(parts.raw).error else ""


def mend_first(name: str) -> str:
    """Why a property cannot be changed below which there are lines that YAML cannot read."""
    return (
        f"“{name}” was not changed: there are lines below it that YAML cannot read as part of it, and that would be "
        "lost. Mend or delete them in the source first."
    )


def _is_block_scalar(raw: str, name: str) -> bool:
    return any(
        found[1] == name and BLOCK_HEADER.fullmatch(found[2].rstrip(WHITE_SPACE)) is not None
        for line in split_lines(raw)
        if (found := front_matter.KEY_LINE.match(line.rstrip(WHITE_SPACE)))
    )


def figures(value: Json) -> str:
    """A value that is no text, as both readers take it. Raises ValueError for any other, in words."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    reason = "Only a text, a number, true, false or a list of texts can be written. Edit the source instead."
    if isinstance(value, int | float):
        if _is_double(value):
            return _digits(value)
        reason = (
            f"The number {value} was not written: numbers in DeepLore are doubles and cannot hold it. "
            "Use a number with fewer digits."
        )
    raise ValueError(reason)


def _digits(value: float) -> str:
    """A number without an exponent, since DeepLore takes one with an exponent for a text."""
    if value == 0:
        return "0"
    return str(value) if isinstance(value, int) else format(Decimal(repr(value)), "f").removesuffix(".0")


def _is_double(value: float) -> bool:
    try:
        return math.isfinite(value) and number(float(value)) == value
    except OverflowError:
        return False


def _quoted(text: str, quote: str, *, escapes: bool) -> Iterator[str]:
    if quote not in text and (quote == "'" or "\\" not in text):
        yield quote + text + quote
    elif escapes and quote == '"':
        yield '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def plain_is_safe(text: str, *, flow: bool = False) -> bool:
    """Whether no reader of YAML 1.1 or 1.2 takes the bare text for something else; DeepLore is asked later."""
    return not (
        not text
        or text.strip(WHITE_SPACE) != text
        or text[0] in _NO_PLAIN_START
        or text.lower() in _WORDS
        or _NUMERIC.fullmatch(text)
        or _NOT_INSIDE.search(text)
        or text.startswith("...")
        or (flow and _FLOW_SIGNS.search(text))
    )
