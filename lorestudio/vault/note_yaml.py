"""What a YAML 1.2 reader, such as Obsidian's, makes of front matter. Reading only; nothing is ever written by it.

YAML is asked as seldom as can be, because a note is understood anew with every keystroke: `certainly_alike` knows the
usual spellings in which no reader can disagree with DeepLore.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.nodes import MappingNode, Node

from lorestudio.domain.javascript import Json

_MAX_NODES = 500
"""So many parts of a nested value are shown; anchors can make a short text mean a huge value."""

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
_ALIKE = re.compile(
    rf"[A-Za-z0-9_][A-Za-z0-9_.-]*:(?: +(?:{_SCALAR}|{_INLINE}){_LINE_END}|{_LINE_END}"
    rf"(?:(?P<indent> *)- +{_ITEM}{_LINE_END}(?:(?P=indent)- +{_ITEM}{_LINE_END})*)?)"
)


@dataclass(frozen=True, slots=True)
class YamlValue:
    """One value as YAML has it: plain data, or the reason why YAML cannot make a value of it."""

    name: str
    value: object
    error: str = ""


@dataclass(frozen=True, slots=True)
class YamlText:
    """A front matter block, or a part of it, as YAML has it: the values by the offset at which their name begins.

    `error` is empty, or says why YAML cannot read the text; `error_line` then counts from 0.
    """

    values: Mapping[int, YamlValue] = field(default_factory=dict)
    error: str = ""
    error_line: int = 0


def certainly_alike(raw: str) -> bool:
    """Whether the lines of a property are spelled so plainly that YAML surely reads what DeepLore reads."""
    return _ALIKE.fullmatch(raw) is not None


def read_yaml(text: str) -> YamlText:
    """What YAML makes of a block of properties. Never raises on any text."""
    yaml = YAML(typ="safe", pure=True)
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
