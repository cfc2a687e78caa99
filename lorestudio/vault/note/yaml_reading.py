"""What a YAML 1.2 reader such as Obsidian's makes of front matter, and where DeepLore reads it differently, in words.

YAML is asked as seldom as can be, because a note is understood anew with every keystroke: `certainly_alike` knows the
usual spellings in which no reader can disagree with DeepLore (rules: deeplore 1.3).
"""

from __future__ import annotations

import datetime as dt
import json
import re
from collections.abc import Mapping
from enum import StrEnum
from functools import cache

from msgspec import Struct
from ruamel.yaml import YAML
from ruamel.yaml.constructor import ConstructorError, SafeConstructor
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.nodes import MappingNode, Node

from lorestudio.domain.javascript import Json
from lorestudio.vault.note.spans import BLOCK_HEADER

_MAX_NODES = 500
"""So many parts of a nested value are shown; anchors can make a short text mean a huge value."""

_MOST_MERGED = 10_000
"""So many properties come in by merging at most: twelve short lines can merge a billion."""

_LONGEST = 200_000
"""So many characters of properties take the reader two seconds."""

TOO_LONG = f"it has more than {_LONGEST:,} characters"
"""Why YAML reads no such text."""

_TOO_DEEP = re.compile(r"(?:[\[{][^\[\]{}]*+){200}")
"""So many brackets opened one in another take the reader seconds, and mean nothing to anybody."""

# Signs that mean nothing inside a text, neither in YAML nor in DeepLore; a list in brackets allows fewer.
_INNER = r"\w $()*+./;<=>?@^~£€§°·–—’‘“”…«»%&!|\-"
_INNER_BLOCK = _INNER + ",'\"\\[\\]{}"
_END = _INNER.replace(" ", "", 1)
_WORD = r"(?!(?i:true|false|null|yes|no|on|off|y|n) *[\r\n,\]])"
_FLOW_PLAIN = rf"{_WORD}[^\W\d_](?:[{_INNER}]*[{_END}])?"
_PLAIN = rf"{_WORD}[^\W\d_](?:[{_INNER_BLOCK}]*[{_END},\]}}])?"
_FORBIDDEN = r"\x00-\x1f\x7f-\xa0\u2028\u2029\ufeff\ud800-\udfff\ufffe\uffff"
_QUOTED = rf"""(?:"[^"\\{_FORBIDDEN}]*"|'[^'\\{_FORBIDDEN}]*')"""
_NUMBER = r"-?(?:0|[1-9][0-9]{0,14})(?:\.[0-9]{1,15})?"
_SCALAR = f"(?:{_NUMBER}|true|false|null|~|{_PLAIN}|{_QUOTED})"
_ITEM = f"(?:{_PLAIN}|{_QUOTED})"
_FLOW_ITEM = f"(?:{_FLOW_PLAIN}|{_QUOTED})"
_INLINE = rf"\[(?: *{_FLOW_ITEM} *(?:, *{_FLOW_ITEM} *)*)?\]"
_LINE_END = r" *\r?\n"
_ALIKE = (
    rf"[A-Za-z0-9_][A-Za-z0-9_.-]*:(?: +(?:{_SCALAR}|{_INLINE}){_LINE_END}|{_LINE_END}"
    rf"(?:(?P<indent> *)- +{_ITEM}{_LINE_END}(?:(?P=indent)- +{_ITEM}{_LINE_END})*)?)"
)


class YamlValue(Struct, frozen=True):
    """One value as YAML has it: plain data, or the reason why YAML cannot make a value of it."""

    name: str
    value: object
    error: str = ""


class YamlText(Struct, frozen=True):
    """A front matter block, or a part of it, as YAML has it: the values by the offset at which their name begins.

    `error` is empty, or says why YAML cannot read the text; `error_line` then counts from 0.
    """

    values: Mapping[int, YamlValue] = {}
    error: str = ""
    error_line: int = 0


def certainly_alike(raw: str) -> bool:
    """Whether the lines of a property are spelled so plainly that YAML surely reads what DeepLore reads."""
    return _alike().fullmatch(raw) is not None


@cache
def _alike() -> re.Pattern[str]:  # compiling it takes a hundredth of the window's start, where nothing is asked yet
    return re.compile(_ALIKE)


def too_deep(text: str) -> bool:
    """Whether so many brackets are opened one in another that YAML's reader takes seconds."""
    return _TOO_DEEP.search(text) is not None


def too_long(text: str) -> bool:
    """Whether YAML's reader would take seconds for so many characters."""
    return len(text) > _LONGEST


class _Constructor(SafeConstructor):
    """Gives up where merge keys come to more than anybody means."""

    depth = merged = 0

    def flatten_mapping(self, node: MappingNode) -> None:
        self.depth += 1
        try:
            super().flatten_mapping(node)
        finally:
            self.depth -= 1
        self.merged += len(node.value) if self.depth else 0  # it is merged into another
        if self.merged > _MOST_MERGED:
            raise ConstructorError(problem=f"it merges more than {_MOST_MERGED:,} properties")


def read_yaml(text: str) -> YamlText:
    """What YAML makes of a block of properties. Never raises on any text."""
    if too_long(text):
        return YamlText(error=TOO_LONG)
    if too_deep(text):
        return YamlText(error="it is nested too deeply")
    yaml = YAML(typ="safe", pure=True)
    yaml.Constructor = _Constructor
    yaml.composer.warn_double_anchors = False
    try:
        node = yaml.compose(text)
    except MarkedYAMLError as error:
        mark = error.problem_mark
        if mark is None or (error.context or "").startswith("while scanning"):  # there the problem is seen too late
            mark = error.context_mark or mark
        return YamlText(error=error.problem or error.context or "", error_line=mark.line if mark else 0)
    except YAMLError as error:  # a character that YAML does not allow
        position = getattr(error, "position", 0)
        return YamlText(error=_unprintable(text, position), error_line=text.count("\n", 0, position))
    except RecursionError:
        return YamlText(error="it is nested too deeply")
    if node is None:
        return YamlText()
    if not isinstance(node, MappingNode):
        return YamlText(error="it is no list of properties", error_line=node.start_mark.line)
    values = {}
    for key, value in node.value:
        name = key.value if isinstance(key.value, str) else text[key.start_mark.index : key.end_mark.index]
        values[key.start_mark.index] = _construct(yaml, name, value)
    return YamlText(values)


def plain_data(value: object) -> Json:
    """A YAML value for showing: dates and other foreign types as text, huge values cut short."""
    return _plain(value, [_MAX_NODES])


def _construct(yaml: YAML, name: str, node: Node) -> YamlValue:
    try:
        return YamlValue(name, yaml.constructor.construct_object(node, deep=True))
    except MarkedYAMLError as error:
        return YamlValue(name, None, error.problem or error.context or "it is no value")
    except (YAMLError, ValueError, TypeError, KeyError, AttributeError, OverflowError, RecursionError) as error:
        return YamlValue(name, None, str(error) or type(error).__name__)


def _unprintable(text: str, position: int) -> str:
    code = ord(text[position]) if 0 <= position < len(text) else 0
    return f"the character U+{code:04X} is not allowed"


def _plain(value: object, budget: list[int]) -> Json:
    budget[0] -= 1
    if budget[0] < 0:
        return "…"
    if value is None or isinstance(value, str | bool | int | float):
        return value
    if isinstance(value, dt.date):  # a datetime is one too
        return value.isoformat()
    if isinstance(value, Mapping):
        return {str(name): _plain(part, budget) for name, part in value.items()}
    if isinstance(value, list | tuple | set):
        return [_plain(part, budget) for part in value]
    return str(value)


_SHOWN = 60
_OLD_WORDS = {"yes": True, "on": True, "no": False, "off": False}
_COMMENT = re.compile(r"(?:^|[ \t])#")


class Misread(StrEnum):
    """Why the readings differ."""

    COMMENT = "comment"
    WORD = "word"
    NUMBER = "number"
    DATE = "date"
    QUOTES = "quotes"
    SEVERAL_LINES = "several lines"
    BLOCK_SCALAR = "block scalar"
    ANCHOR = "anchor"
    NESTED = "nested"
    DUPLICATE = "duplicate"
    NAME = "name"
    STRAY = "stray items"
    SYNTAX = "syntax"
    OTHER = "other"


_WHY = {
    Misread.COMMENT: "In DeepLore a comment behind a value is part of the value.",
    Misread.WORD: "DeepLore knows only the words true, false and null in small letters.",
    Misread.NUMBER: "DeepLore knows only plain decimal numbers, and none inside a list.",
    Misread.DATE: "DeepLore has no dates; it reads a text.",
    Misread.QUOTES: "DeepLore takes one quote off each end and resolves no escapes in a value of its own.",
    Misread.SEVERAL_LINES: "DeepLore reads only the first line of a value.",
    Misread.BLOCK_SCALAR: "DeepLore knows only | and > with nothing behind them, and keeps the indentation "
    "of the lines.",
    Misread.ANCHOR: "DeepLore has no anchors, aliases and tags; it reads them as text.",
    Misread.NESTED: "DeepLore passes over what is nested.",
    Misread.DUPLICATE: "The property is written more than once: DeepLore takes the last one, YAML refuses the note.",
    Misread.NAME: "DeepLore takes only names of the letters a to z, digits and _ . - without quotes.",
    Misread.STRAY: "DeepLore adds the list items to it that stand further down, below a line that it passes over.",
    Misread.SYNTAX: "YAML cannot read this property.",
    Misread.OTHER: "The two read this spelling differently.",
}


class YamlReading(Struct, frozen=True):
    """What DeepLore and YAML make of one property where they disagree.

    `spelling` are the lines that both read as DeepLore reads the property now, or None where there are none.
    `yaml_spelling` are the lines that both read as YAML reads it now: often what the author meant. `yaml` is None where
    YAML cannot read the property; dates are given as texts. `message` says all of it in words.
    """

    deeplore: Json
    yaml: Json
    cause: Misread
    message: str
    spelling: str | None = None
    yaml_spelling: str | None = None


def same(deeplore: Json, yaml: object, *, block_scalar: bool = False) -> bool:
    """Whether the two values mean the same. Numbers compare as doubles, and an empty value is an empty list.

    The line break that YAML leaves at the end of a block scalar does not count.
    """
    if isinstance(deeplore, bool) or isinstance(yaml, bool):
        return deeplore is yaml
    if isinstance(deeplore, int | float):
        return isinstance(yaml, int | float) and _double(yaml) == float(deeplore)
    if isinstance(deeplore, str):
        return isinstance(yaml, str) and (yaml.removesuffix("\n") if block_scalar else yaml) == deeplore
    if isinstance(deeplore, list):
        if not deeplore and yaml is None:
            return True
        return isinstance(yaml, list) and deeplore == yaml and all(isinstance(item, str) for item in yaml)
    return deeplore is None and yaml is None


def old_word(value: Json) -> bool | None:
    """What YAML 1.1 makes of yes, no, on and off; None for every other value."""
    return _OLD_WORDS.get(value.lower()) if isinstance(value, str) else None


def cause_of(rest: str, body: list[str], deeplore: Json, yaml: YamlValue | None) -> Misread:
    """Why a property is read differently: `rest` is the value on its first line, `body` its further lines."""
    if BLOCK_HEADER.fullmatch(rest):
        return Misread.BLOCK_SCALAR
    if yaml is None or yaml.error:
        return Misread.SYNTAX
    value = yaml.value
    further = any(line.strip() and not line.lstrip().startswith("#") for line in body)
    commented = isinstance(deeplore, str) and _COMMENT.search(rest) is not None
    signs = (
        (rest[:1] in {"&", "*", "!"}, Misread.ANCHOR),
        (isinstance(value, dict), Misread.NESTED),
        (bool(rest) and further, Misread.SEVERAL_LINES),
        (commented and not (isinstance(value, str) and "#" in value), Misread.COMMENT),
    )
    found = next((cause for holds, cause in signs if holds), None)
    if found is not None:
        return found
    if isinstance(deeplore, list) and isinstance(value, list):
        return _cause_in_list(deeplore, value)
    return _cause_by_type(deeplore, value)


def _cause_in_list(deeplore: list[Json], yaml: list[object]) -> Misread:
    if len(deeplore) != len(yaml):
        return Misread.SEVERAL_LINES if len(deeplore) > len(yaml) else Misread.OTHER
    written, read = next((pair for pair in zip(deeplore, yaml, strict=True) if pair[0] != pair[1]), (None, None))
    if isinstance(written, str) and not isinstance(read, dict | list) and _COMMENT.search(written):
        return Misread.COMMENT
    return _cause_by_type(written, read)


def _cause_by_type(deeplore: Json, yaml: object) -> Misread:
    if isinstance(yaml, dict | list):
        return Misread.NESTED
    if isinstance(yaml, dt.date):
        return Misread.DATE
    if isinstance(yaml, bool) or yaml is None or old_word(deeplore) is not None:
        return Misread.WORD
    if isinstance(yaml, int | float):
        return Misread.NUMBER
    return Misread.QUOTES if isinstance(yaml, str) else Misread.OTHER


def sentence(name: str, deeplore: Json, yaml: YamlValue | None, cause: Misread) -> str:
    """The disagreement in words, for people."""
    if cause is Misread.NAME:
        return f"DeepLore passes over “{name}”. {_WHY[cause]}"
    if cause is Misread.DUPLICATE:
        return f"“{name}”: {_WHY[cause]}"
    if yaml is None or yaml.error:
        detail = f" ({yaml.error})" if yaml is not None else ""
        return f"“{name}”: DeepLore reads {shown(deeplore)}; YAML cannot read it{detail}. {_WHY[cause]}".replace(
            ". YAML cannot read this property.", "."
        )
    return f"“{name}”: DeepLore reads {shown(deeplore)}, YAML reads {shown(yaml.value)}. {_WHY[cause]}"


def shown(value: object) -> str:
    """A value in words, shortened."""
    if isinstance(value, dt.date):
        return f"the date {value.isoformat()}"
    value = plain_data(value)
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return f"the text “{_short(value)}”" if value else "an empty text"
    if isinstance(value, int | float):
        return f"the number {value}"
    if not value:
        return "an empty list" if isinstance(value, list) else "an empty mapping"
    kind = "the list" if isinstance(value, list) else "the nested value"
    return f"{kind} {_short(json.dumps(value, ensure_ascii=False))}"


def _short(text: str) -> str:
    text = text.replace("\n", "⏎")
    return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"


def _double(value: float) -> float:
    try:
        return float(value)
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")
