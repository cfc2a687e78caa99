"""The front matter as it is written: what DeepLore passes over or complains about, and what YAML reads otherwise."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping
from difflib import get_close_matches
from functools import cache
from typing import Final

from lorestudio.domain.entry import MAX_DEPTH, LeftOutNote, ParserWarning
from lorestudio.domain.javascript import Json, number_text, to_number, trim
from lorestudio.domain.records import replace
from lorestudio.domain.tokens import CHARS_4
from lorestudio.settings.rules import NEW
from lorestudio.vault.entries import LOGIC_FIELD, SPELLINGS, field_name, parse_note
from lorestudio.vault.lint.model import FixSpec, Hit, Note, Rules
from lorestudio.vault.note.properties import ProblemKind, yaml_problem
from lorestudio.vault.note.yaml_reading import TOO_LONG, Misread, too_long

_LENIENT: Final = frozenset({"W_ALIAS_USED", "W_COMMA_SPLIT", "W_COERCED_NUM"})
"""What lenient authoring mends."""


def parser_warnings(note: Note, _rules: Rules) -> Iterator[Hit]:
    """The warnings that the entry was read with (W_...)."""
    for warning in note.entry.warnings:
        yield Hit(
            warning.code, warning.message, warning.field, advice=warning.suggested_fix, fix=_fix(note, warning)
        )  # fmt: skip


def strict_losses(note: Note, rules: Rules) -> Iterator[Hit]:
    """P51: what lenient authoring would have read, while it is switched off."""
    if rules.parse.lenient or note.text is None or not note.values:
        return
    forgiven = parse_note(note.text, note.filename, note.vault, rules.lenient, CHARS_4)
    if isinstance(forgiven, LeftOutNote):
        return
    for warning in forgiven.warnings:
        if warning.code in _LENIENT:
            message = f"{warning.field} is not read as it was meant, because lenient authoring is off."
            yield Hit("P51", message, warning.field, advice=warning.suggested_fix, fix=_fix(note, warning))


def _fix(note: Note, warning: ParserWarning) -> FixSpec | None:
    if note.text is None:
        return None
    name = note.written(warning.field)
    value = note.values.get(name)
    if warning.code == "W_ALIAS_USED":
        return FixSpec(f"Rename to {field_name(name)}", "rename", name, field_name(name))
    if warning.code == "W_COMMA_SPLIT" and isinstance(value, str):
        parts = tuple(part for piece in value.split(",") if (part := piece.strip()))
        return FixSpec("Write a list", "list", name, parts) if parts else None
    if warning.code == "W_COERCED_NUM" and isinstance(value, str):
        number = to_number(value)
        # Infinity has no spelling as a number.
        return FixSpec("Remove the quotes", "set", name, number) if abs(number) < 1e15 else None
    return None


_MEANT: Final = {
    "keyword": "keys", "keywords": "keys", "key": "keys", "trigger": "keys", "triggers": "keys",
    "refinekeys": "refine_keys", "refine": "refine_keys", "secondary_keys": "refine_keys",
    "keysecondary": "refine_keys",
    "cascadelinks": "cascade_links", "cascade": "cascade_links", "cascade_link": "cascade_links",
    "require": "requires", "exclude": "excludes", "scan_depth": "scanDepth", "exclude_recursion": "excludeRecursion",
    "injection_position": "position", "injectionposition": "position", "injection_depth": "depth",
    "injectiondepth": "depth", "injection_role": "role", "injectionrole": "role",
    "chance": "probability", "warm_up": "warmup", "cool_down": "cooldown", "disable": "enabled", "disabled": "enabled",
    "scenetype": "scene_type", "characterpresent": "character_present",
}  # fmt: skip
"""Names that authors write for a field, in lower case, and the field; none of them is read by anything."""
_NUMBERS: Final = ("priority", "cooldown", "warmup", "probability")
_PLAIN_NUMBERS: Final = ("scanDepth", "depth")
_CHOICES: Final = {"position": ("before", "after", "in_chat"), "role": ("system", "user", "assistant")}
_FLAGS: Final = ("constant", "excludeRecursion")
_FALSE: Final = frozenset({"false", "no", "off", "n", "0"})
_TRUE: Final = frozenset({"true", "yes", "on", "y", "1"})


def unread_names(note: Note, rules: Rules) -> Iterator[Hit]:
    """P52: names that are nearly those of fields."""
    for name in note.values:
        said = _MEANT.get(name.lower(), "")
        meant = said or _slip(name.lower())
        if not meant or meant in note.values or any(field.name == name for field in rules.parse.fields):
            continue
        # Whoever writes disabled: true means enabled: false.
        rename = None if said == "enabled" else FixSpec(f"Rename to {meant}", "rename", name, meant, safe=False)
        yield Hit("P52", f"Nothing reads {name}; DeepLore's field is {meant}.", name, fix=rename)


@cache
def _slip(name: str) -> str:
    """The field that a name in lower case is a slip of the keyboard away from, "" for none; short names say little."""
    if len(name) < 6 or field_name(name) in SPELLINGS:
        return ""
    return next((field_name(each) for each in get_close_matches(name, map(str.lower, SPELLINGS), 1, 0.87)), "")


def switched_off(note: Note, _rules: Rules) -> Iterator[Hit]:
    """P59: an entry that is on although its author wanted it off."""
    name = note.written("enabled")
    value = note.values.get(name)
    if value is None or isinstance(value, bool):
        return
    word = _word(value)
    if word in _FALSE:
        yield Hit(
            "P59", f"{name}: {word} is not the word false, so the entry is on.", name,
            fix=FixSpec("Switch it off", "set", name, value=False, safe=False),
        )  # fmt: skip


def idle_logic(note: Note, rules: Rules) -> Iterator[Hit]:
    """P62: a logic of refine keys that nothing reads, or that has no keys to go by."""
    name = next((each for each in note.values if each.lower() == LOGIC_FIELD), None)
    if name is None:
        return
    if not rules.settings.rule_set.refine_logic:
        yield Hit("P62", f"The rules of {rules.settings.rules} do not read {name}; those of {NEW} do.", name)
    elif not note.entry.refine_keys:
        yield Hit("P62", f"“{note.entry.title}” has no refine_keys, so {name} decides nothing.", name)


def unusable_values(note: Note, rules: Rules) -> Iterator[Hit]:
    """P58: values of a kind or beyond a limit that the field does not have."""
    for hit in _unusable(note, _canonical(note, rules)):
        if hit.fix is None:
            # Often a comment stands behind the value, which YAML, unlike DeepLore, does not take for a part of it.
            fix = FixSpec("Write what YAML reads, so that DeepLore reads it too", "as_yaml", hit.field, safe=False)
            yield replace(hit, fix=fix)
        else:
            yield hit


def _unusable(note: Note, values: Mapping[str, Json]) -> Iterator[Hit]:
    def odd(name: str, told: str, fix: FixSpec | None = None) -> Hit:
        return Hit("P58", told, note.written(name), fix=fix)

    for name in _NUMBERS:
        value = values.get(name)
        if value is not None and value != [] and (told := _no_number(value)):
            yield odd(name, f"{name}: {told}, so it counts as not there.")
    for name in _PLAIN_NUMBERS:
        value = values.get(name)
        if isinstance(value, str) and value:
            number = to_number(value) if trim(value) else math.nan
            fix = FixSpec("Remove the quotes", "set", note.written(name), number) if abs(number) < 1e15 else None
            yield odd(name, f"{name}: “{value}” is a text and not a number, so it counts as not there.", fix)
    for name in ("cooldown", "warmup"):
        value = _number(values.get(name))
        if value is not None and value < 0:
            yield odd(name, f"{name}: {number_text(value)} is below 0, so it has no effect.")
    chance = _number(values.get("probability"))
    if chance is not None and chance < 0:
        yield odd("probability", f"probability: {number_text(chance)} is below 0 and counts as 0.")
    depth = _number(values.get("depth"))
    if depth is not None and not 0 <= depth <= MAX_DEPTH:
        yield odd("depth", f"depth: {number_text(depth)} counts as {0 if depth < 0 else MAX_DEPTH}.")
    yield from _unusable_words(note, values, odd)


def _unusable_words(note: Note, values: Mapping[str, Json], odd: Callable[..., Hit]) -> Iterator[Hit]:
    for name, words in _CHOICES.items():
        value = values.get(name)
        if isinstance(value, str) and value and value.lower() not in words:
            near = re.sub(r"[\s-]+", "_", trim(value).lower())
            fix = FixSpec(f"Write {near}", "set", note.written(name), near) if near in words else None
            yield odd(name, f"{name}: “{value}” is none of {', '.join(words)}, so the setting decides.", fix)
        elif value is not None and not isinstance(value, str) and value != []:
            yield odd(name, f"{name} is no word, so the setting decides.")
    for name in _FLAGS:
        value = values.get(name)
        if value is not None and not isinstance(value, bool) and _word(value) in _TRUE:
            fix = FixSpec("Write true", "set", note.written(name), value=True, safe=False)
            yield odd(name, f"{name}: {_word(value)} is not the word true, so it counts as false.", fix)
    outlet = values.get("outlet")
    if isinstance(outlet, int | float) and not isinstance(outlet, bool):
        fix = FixSpec("Put it in quotes", "set", note.written("outlet"), number_text(outlet))
        yield odd("outlet", "outlet is a number and not a text, so it counts as not there.", fix)
    summary = values.get("summary")
    if isinstance(summary, bool) or (isinstance(summary, list) and summary):
        yield odd("summary", "summary is no text, so it counts as not there.")


def comma_lists(note: Note, rules: Rules) -> Iterator[Hit]:
    """P61: refine keys as one text with commas."""
    value = _canonical(note, rules).get("refine_keys")
    if isinstance(value, str) and "," in value:
        parts = tuple(part for piece in value.split(",") if (part := trim(piece)))
        if len(parts) > 1:
            name = note.written("refine_keys")
            yield Hit(
                "P61", f"refine_keys is the one key “{trim(value)}”, commas included.", name,
                fix=FixSpec("Write a list", "list", name, parts),
            )  # fmt: skip


def _canonical(note: Note, rules: Rules) -> Mapping[str, Json]:
    """The values by the names that DeepLore reads them under."""
    if not rules.parse.lenient:
        return note.values
    found: dict[str, Json] = {}
    for name, value in note.values.items():
        field = field_name(name)
        if field == name or field not in note.values:
            found[field] = value
    return found


def _no_number(value: Json) -> str:
    """Why a value is no number, "" where it is one or P51 tells of it."""
    if isinstance(value, bool):
        return f"{str(value).lower()} is no number"
    if isinstance(value, str):
        number = to_number(value) if trim(value) else math.nan
        return f"“{value}” is no number" if math.isnan(number) else ""
    return "a list is no number" if isinstance(value, list) else ""


def _number(value: Json) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    number = to_number(value) if not isinstance(value, str) or trim(value) else math.nan
    return None if math.isnan(number) else number


def _word(value: Json) -> str:
    """A value as a word, without a comment or quotes: what its author was thinking of."""
    text = value if isinstance(value, str) else number_text(value) if isinstance(value, int | float) else ""
    return trim(re.split(r"\s#", text)[0]).strip("'\"").lower()


_CODES: Final = {
    ProblemKind.YAML: "P60",
    ProblemKind.DUPLICATE: "P55",
    ProblemKind.SHADOWED: "P57",
    ProblemKind.FENCE: "P56",
    ProblemKind.NO_FIELDS: "P56",
    ProblemKind.UNCLOSED: "P54",
}
_TOLD_ELSEWHERE: Final = frozenset({Misread.DUPLICATE})
_TEXTS: Final = frozenset({Misread.WORD, Misread.NUMBER, Misread.DATE})
"""Where DeepLore reads the plain text that the author sees, quotes make YAML read it too, and nothing changes."""

_READ: Final = frozenset({
    "keys", "tags", "priority", "summary", "depth", "position", "role", "scanDepth", "cooldown", "warmup",
    "probability", "requires", "excludes", "refine_keys", "cascade_links", "enabled", "constant", "outlet", "graph",
    "excludeRecursion",
})  # fmt: skip
"""Fields that mean something to DeepLore in every vault (rules: deeplore 1.5)."""

_FIRST_FIELD: Final = re.compile(r"\ufeff?---\r?\n\w[\w.-]*\s*:", re.ASCII)


def readings(note: Note, rules: Rules) -> Iterator[Hit]:
    """P53: fields of DeepLore's that the two read differently. What nobody reads may be written in any way."""
    if note.yaml is None or note.document is None or too_long(note.yaml) or note.is_plain:
        return
    read = _READ | {field.name for field in rules.parse.fields}
    for found in note.document.properties:
        if field_name(found.name) not in read:
            continue
        reading = found.reading
        if reading is None or reading.cause in _TOLD_ELSEWHERE:
            continue
        fix = None
        if reading.cause in _TEXTS and reading.spelling is not None:
            fix = FixSpec("Put it in quotes", "alike", found.name)
        elif reading.yaml_spelling is not None:
            fix = FixSpec("Write what YAML reads, so that DeepLore reads it too", "as_yaml", found.name, safe=False)
        elif reading.spelling is not None:
            fix = FixSpec("Write what DeepLore reads, so that YAML reads it too", "alike", found.name, safe=False)
        yield Hit("P53", reading.message, found.name, line=found.line, fix=fix)


def document_problems(note: Note, _rules: Rules) -> Iterator[Hit]:
    """P54 to P57, P60: what is wrong with the front matter as a text."""
    if note.document is None or (note.yaml is not None and note.is_plain):
        return
    unread = note.yaml is not None and too_long(note.yaml)  # then the rest takes seconds too
    for problem in (yaml_problem(TOO_LONG, 2),) if unread else note.document.problems:
        code = _CODES.get(problem.kind)
        if code is None or (code == "P54" and not _FIRST_FIELD.match(note.document.text)):
            continue  # three dashes above a text are a line across the page
        fix = None
        if problem.kind is ProblemKind.SHADOWED and problem.name:
            same = note.values.get(problem.name) == note.values.get(field_name(problem.name))
            fix = FixSpec(f"Remove {problem.name}", "remove", problem.name, safe=same)
        yield Hit(code, problem.message, problem.name, line=problem.line, fix=fix)
