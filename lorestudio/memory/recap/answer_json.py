"""The JSON in what a model wrote, and templates of questions (spec: recap-memory 21.1, 21.2, 21.4)."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Final

from lorestudio.domain.javascript import Json, trim
from lorestudio.llm.json_text import parse_json

_FENCE = re.compile(r"```[A-Za-z0-9_-]*[^\S\n]*\n?(.*?)```", re.DOTALL)
_BARE_KEY = re.compile(r'"[^"\n]*"\s*:')
_CONDITIONAL = re.compile(r"\{\{#if ([^{}]+?)\}\}(.*?)\{\{/if\}\}", re.DOTALL)
_MACRO = re.compile(r"\{\{([A-Za-z0-9_]+)\}\}")
_TRAILING_COMMA = re.compile(r",(\s*[}\]])")

_CLOSERS: Final = {"{": "}", "[": "]"}


def answer_value(text: str) -> Json:
    """The JSON value in a model's text; small faults are mended. Raises ValueError where there is none."""
    cut = _cut(text)
    for attempt in (cut, _mended(cut)):
        try:
            return parse_json(attempt)
        except ValueError:
            continue
    raise ValueError("The model's answer holds no JSON that can be read.")


def answer_object(text: str, required: Sequence[str] = ()) -> Mapping[str, Json]:
    """The JSON object in a model's text. Raises ValueError where it is none, or lacks a key."""
    value = answer_value(text)
    if not isinstance(value, Mapping):
        raise ValueError("The model's answer is no JSON object.")  # noqa: TRY004  # a bad answer, not a bad argument
    for key in required:
        if key not in value:
            raise ValueError(f"The model's answer has no “{key}”.")
    return value


def is_valid(answer: str) -> bool:
    """Whether a checker approves of a recap: its answer has VALID and not INVALID in it."""
    said = answer.upper()
    return "VALID" in said and "INVALID" not in said


def conditionals(text: str, params: Mapping[str, Json]) -> str:
    """The text with its `{{#if name}}...{{/if}}` resolved: kept where the parameter has any text."""

    def resolve(found: re.Match[str]) -> str:
        return found[2] if trim(_rendered(params.get(trim(found[1])))) else ""

    return _CONDITIONAL.sub(resolve, text)


def filled(text: str, params: Mapping[str, Json]) -> str:
    """The template with conditions resolved and macros replaced; unknown macros stay. Values are taken literally."""

    def replace(found: re.Match[str]) -> str:
        return _rendered(params[found[1]]) if found[1] in params else found[0]

    return _MACRO.sub(replace, conditionals(text, params))


def _rendered(value: Json) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False, indent=2)


def _cut(text: str) -> str:
    """The part that should be JSON; a brace that the prefill had supplied comes back."""
    found = _FENCE.search(text)
    inside = trim(found[1] if found else trim(text))
    if _BARE_KEY.match(inside) and "}" in inside:
        inside = "{" + inside
    else:
        starts = [place for place in (inside.find("{"), inside.find("[")) if place >= 0]
        inside = inside[min(starts) :] if starts else inside
    end = max(inside.rfind("}"), inside.rfind("]"))
    return inside[: end + 1] if end >= 0 else inside


def _mended(text: str) -> str:
    """The text with curly quotation marks straightened, trailing commas gone, and open brackets closed."""
    plain = _TRAILING_COMMA.sub(r"\1", text.replace("“", '"').replace("”", '"'))
    stack: list[str] = []
    inside = escaped = False
    for char in plain:
        if inside:
            if escaped:
                escaped = False
            elif char == "\\":
                escaped = True
            elif char == '"':
                inside = False
        elif char == '"':
            inside = True
        elif char in _CLOSERS:
            stack.append(_CLOSERS[char])
        elif stack and char == stack[-1]:
            stack.pop()
    return plain + ('"' if inside else "") + "".join(reversed(stack))
