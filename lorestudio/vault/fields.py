"""The file that defines a vault's own gating fields, read line by line as DeepLore does (rules: deeplore 5.4)."""

from __future__ import annotations

import re
from typing import Final, cast

from msgspec import Struct

from lorestudio.domain.entry import FieldDefinition, FieldType
from lorestudio.domain.javascript import DOT, WHITE_SPACE, WS, Json, number, trim, trim_end

DEFAULT_PATH: Final = "DeepLore/field-definitions.yaml"
"""Where the definitions stand when the setting is empty."""

RESERVED: Final = frozenset({
    "keys", "priority", "tags", "requires", "excludes", "position", "depth", "role", "scandepth", "excluderecursion",
    "refine_keys", "cascade_links", "cooldown", "warmup", "probability", "summary", "graph", "enabled", "constant",
    "seed", "bootstrap", "type", "fileclass", "status", "aliases",
})  # fmt: skip
"""Names that mean something else in a note, so no field can have them."""

TYPES: Final = ("string", "number", "boolean")
OPERATORS: Final = ("match_any", "match_all", "not_any", "exists", "not_exists", "gt", "lt", "eq")
TOLERANCES: Final = ("strict", "moderate", "lenient")

_START = re.compile(rf"{WS}{{2}}-{WS}+name:{WS}*{DOT}")
_GATING = re.compile(rf"{WS}{{4}}gating:")
_VALUES = re.compile(rf"{WS}{{4}}values:")
_GATING_PROPERTY = re.compile(rf"{WS}{{6}}(\w+):{WS}*({DOT}+)", re.ASCII)
_VALUE = re.compile(rf"{WS}{{6}}-{WS}+({DOT}+)")
_PROPERTY = re.compile(rf"{WS}{{4}}(\w+):{WS}*({DOT}+)", re.ASCII)
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?", re.ASCII)
_QUOTED = re.compile(r"(['\"])([\s\S]*)\1")
_NAME = re.compile(r"[a-z][a-z0-9_]*")
_WORDS: Final[dict[str, Json]] = {"true": True, "false": False, "null": None, "[]": []}


class _FieldDraft(Struct):
    """A definition as it is written, before it is checked."""

    line: int
    properties: dict[str, Json] = {}
    gating: dict[str, Json] = {}
    values: list[str] = []


def parse(text: str, *, tabs: bool = False) -> tuple[tuple[FieldDefinition, ...], tuple[str, ...]]:
    """The usable definitions in file order (equal names are kept), and a message for each mistake.

    No usable definition means that the four built-in fields hold; the caller decides that. With `tabs`, a tab at the
    start of a line counts as two blanks (rules: deeplore-newer 1.5).
    """
    errors: list[str] = []
    reserved = RESERVED | {"selective_logic"} if tabs else RESERVED
    text = re.sub(r"^\t+", lambda found: "  " * len(found[0]), text, flags=re.MULTILINE) if tabs else text
    checked = [_checked(draft, errors, reserved) for draft in _drafts(text)]
    return tuple(definition for definition in checked if definition is not None), tuple(errors)


def _drafts(text: str) -> list[_FieldDraft]:
    drafts: list[_FieldDraft] = []
    block = ""
    lead = text[: len(text) - len(text.lstrip(WHITE_SPACE))]
    for line_number, raw in enumerate(trim(text).split("\n"), 1 + lead.count("\n")):
        line = trim_end(raw)
        if not line or line.startswith("#") or line == "fields:":
            continue
        if _START.match(line):
            drafts.append(_FieldDraft(line_number, {"name": trim(line.partition("name:")[2])}))
            block = ""
        elif drafts:
            block = _read_line(line, drafts[-1], block)
    return drafts


def _read_line(line: str, draft: _FieldDraft, block: str) -> str:
    """Take one line into the draft; the answer is the block that the next line stands in."""
    if _GATING.match(line):
        return "gating"
    opening = _VALUES.match(line)
    if opening:
        draft.values = []
        return "" if trim(line[opening.end() :]) == "[]" else "values"
    if block == "gating" and (found := _GATING_PROPERTY.match(line)):
        draft.gating[found[1]] = _scalar(found[2])
    elif block == "values" and (found := _VALUE.match(line)):
        draft.values.append(trim(found[1]))
    elif found := _PROPERTY.match(line):
        draft.properties[found[1]] = _scalar(found[2])
        return ""
    return block


def _scalar(text: str) -> Json:
    text = trim(text)
    if text in _WORDS:
        return _WORDS[text]
    if _NUMBER.fullmatch(text):
        return number(float(text))
    quoted = _QUOTED.fullmatch(text)
    return quoted[2] if quoted else text


def _checked(draft: _FieldDraft, errors: list[str], reserved: frozenset[str]) -> FieldDefinition | None:
    """The definition, or None where its name cannot be used; a message for each thing that is wrong with it."""
    properties = draft.properties
    name = properties["name"]
    where = f"Line {draft.line}: "
    usable = False
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        errors.append(
            f"{where}“{name}” cannot be the name of a field, so the field is left out. Use small letters, digits and "
            "underscores, begin with a letter, and write no quotes or comment behind the name."
        )
    elif name in reserved:
        errors.append(f"{where}“{name}” already means something in every note. Give the field another name.")
    else:
        usable = True
    kind = properties.get("type", "string")
    if kind not in TYPES:
        errors.append(
            f"{where}the field “{name}” has the unknown type “{kind}”; it is read as string. "
            f"Use one of: {', '.join(TYPES)}."
        )
        kind = "string"
    if not usable:
        return None
    return FieldDefinition(
        str(name),
        _text(properties.get("label")) or str(name),
        type=cast("FieldType", kind),
        multi=properties.get("multi") is True,
        gating=draft.gating.get("enabled") is not False,
        operator=_choice(draft.gating.get("operator"), OPERATORS),
        tolerance=_choice(draft.gating.get("tolerance"), TOLERANCES, "moderate"),
        values=tuple(value for value in draft.values if value),
        context_key=_text(properties.get("contextKey")) or str(name),
        inherits=draft.gating.get("tolerance") not in TOLERANCES,
    )


def _text(value: Json) -> str:
    return trim(value) if isinstance(value, str) else ""


def _choice(value: Json, choices: tuple[str, ...], default: str = "match_any") -> str:
    return value if isinstance(value, str) and value in choices else default
