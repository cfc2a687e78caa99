"""The macros of prompts that can be filled in without the host: names, card fields, the last messages, variables.

They are read as SillyTavern 1.18 reads them: from left to right, one inside another, names without case
(rules: sillytavern 5.8). What is not known stays as it is and is told; what the host makes up anew each time (dice,
dates) belongs there, and its variables across chats. The variables of the chat begin as the chat has them; what texts
set here is known to the texts behind them.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from operator import eq, ge, gt, le, lt, ne
from typing import Final

from msgspec import Struct

from lorestudio.domain.javascript import WS, number_text, to_number, trim
from lorestudio.trace.prompt import PromptOrigin

Segment = tuple[str, PromptOrigin]
"""A text and where it comes from."""

_OUTLET: Final = re.compile(r"\{\{outlet::([^{}]*)\}\}", re.IGNORECASE)
_LEGACY: Final = re.compile(r"<(USER|BOT|CHAR|GROUP|CHARIFNOTGROUP)>", re.IGNORECASE)
_CARD: Final = {f"char{name}": name for name in ("description", "personality", "scenario", "creatornotes")}
"""The longer names of the card's texts."""
# Line ends before it are taken from the first of them alone: from each, thousands would cost their square.
_TRIM: Final = re.compile(r"(?:(?<!\n)(?:\r\n|(?<!\r)\n)(?:\r?\n)*+)?\{\{trim\}\}(?:\r?\n)*", re.IGNORECASE)
_BRACE: Final = re.compile(r"\\([{}])")
_EDGE: Final = re.compile(r"\{\{|\}\}")
_HEAD: Final = re.compile(
    rf"{WS}*(?P<flags>(?:[!?~#/>]{WS}*)*)(?:(?P<name>[A-Za-z][\w-]*)(?=[:}}]|{WS}|$)|(?P<variable>[.$]){WS}*)?",
    re.ASCII,
)
_VARIABLE: Final = r"[A-Za-z](?:[\w-]*\w)?"
_SHORT: Final = re.compile(
    rf"(?P<name>{_VARIABLE}){WS}*(?P<sign>\+\+|--|[+-]=|[=!<>]=|\|\|=?|\?\?=?|[=<>]|$)", re.ASCII
)
_COMPARED: Final = dict(zip(("==", "!=", "<", "<=", ">", ">="), (eq, ne, lt, le, gt, ge), strict=True))
_INDENT: Final = re.compile(r"[ \t]*")
_COUNT: Final = re.compile(r"[0-9]{1,6}")
_NO: Final = frozenset({"", "false", "off", "0"})
_SCOPED: Final = {"if": 1, "setvar": 1, "addvar": 1, "trim": 0, "reverse": 0, "getvar": 0, "hasvar": 0}
"""Macros that may stand around a text, with the number of arguments that they have besides it."""


def has_macros(text: str) -> bool:
    """Whether anything in it might be filled in."""
    return "{{" in text or "\\" in text or ("<" in text and _LEGACY.search(text) is not None)


class _Macro(Struct, frozen=True):
    """A macro in a text: where it stands, what is between its braces, its flags and name in lower case."""

    start: int
    end: int
    inner: str
    flags: str
    name: str
    rest: str

    @property
    def arguments(self) -> list[str]:
        """What stands behind the name, taken apart and not yet filled in."""
        rest = self.rest if self.name == "//" else self.rest.lstrip()
        if rest.startswith("::"):
            return _split(rest[2:])
        return [rest.removeprefix(":")] if rest else []


class Macros(Struct):
    """Fills in macros. `values` are by lower-case name, `outlets` by name; both texts are final.

    `variables` are those of the chat, and change with the texts. `unknown` collects the macros that stayed, `used` the
    outlets that were asked for.
    """

    values: Mapping[str, str]
    variables: dict[str, str] = {}
    outlets: Mapping[str, Sequence[Segment]] = {}
    unknown: dict[str, None] = {}
    used: set[str] = set()

    def fill(self, text: str) -> str:
        """The text with everything filled in but outlets."""
        if not has_macros(text):
            return text
        filled = self._filled(_LEGACY.sub(self._modern, text))
        return _TRIM.sub("", _BRACE.sub(r"\1", filled))

    def spread(self, text: str, source: PromptOrigin) -> list[Segment]:
        """A text that was filled in, with the outlets in it as segments of their own; unknown outlets are empty."""
        segments: list[Segment] = []
        done = 0
        for found in _OUTLET.finditer(text):
            name = found[1].strip()
            segments.append((text[done : found.start()], source))
            segments += self.outlets.get(name, ())
            self.used.add(name)
            done = found.end()
        segments.append((text[done:], source))
        return [segment for segment in segments if segment[0]]

    def expand(self, text: str, source: PromptOrigin) -> list[Segment]:
        """Both at once."""
        return self.spread(self.fill(text), source)

    def _modern(self, found: re.Match[str]) -> str:
        name = found[1].lower().replace("bot", "char")
        return f"{{{{{name}}}}}" if name in self.values else found[0]

    def _filled(self, text: str) -> str:
        """The text with its macros filled in from left to right."""
        made: list[str] = []
        done = 0
        macros = list(_macros(text))
        closings = _closings(macros)
        place = 0
        while place < len(macros):
            macro = macros[place]
            made.append(text[done : macro.start])
            last = closings.get(place, place)
            inside = text[macro.end : macros[last].start] if last > place else None
            made.append(self._value(macro, text[macro.start : macro.end], inside))
            done, place = macros[last].end, last + 1
        return "".join([*made, text[done:]])

    def _value(self, macro: _Macro, whole: str, inside: str | None = None) -> str:
        """What stands in a macro's place; `inside` is the text that it stands around."""
        if macro.name == "//":
            return ""
        written = [*macro.arguments, *(() if inside is None else (inside,))]
        if macro.name == "if" and len(written) == 2:
            return self._chosen(written[0], written[1], trimmed="#" not in macro.flags)
        if macro.name in {".", "$"}:
            short = self._short(macro)
            return self._left(macro, whole) if short is None else short
        arguments = [self._filled(each) for each in written]
        if "#" not in macro.flags:
            arguments = [_trimmed(each) if inside is not None else trim(each) for each in arguments]
        known = None if "/" in macro.flags else self._known(macro.name, arguments, scoped=inside is not None)
        return self._left(macro, whole) if known is None else known

    def _left(self, macro: _Macro, whole: str) -> str:
        """A macro that nobody knows: as it stands, with those inside it filled in."""
        if macro.name != "outlet":
            self.unknown[whole] = None
        return f"{{{{{self._filled(macro.inner)}}}}}"

    def _known(self, name: str, arguments: list[str], *, scoped: bool) -> str | None:  # a table of cases
        """The value of a macro with these arguments, None where there is none."""
        amount = len(arguments)
        if name == "trim" and amount == scoped:
            return arguments[0] if scoped else "{{trim}}"  # what stands around it goes in the end
        if name in {"newline", "space"} and amount <= 1:
            times = arguments[0] if arguments else "1"
            return ("\n" if name == "newline" else " ") * int(times) if _COUNT.fullmatch(times) else None
        if name == "reverse" and amount == 1:
            return arguments[0][::-1]
        if name == "else" and not amount:
            return ""
        if amount == 0:
            return self.values.get(_CARD.get(name, name))
        return self._variable(name, arguments)

    def _variable(self, name: str, arguments: list[str]) -> str | None:  # a table of cases
        """What a macro of the chat's variables stands for; setting and adding leave nothing."""
        match name, arguments:
            case "getvar", [key]:
                return self._held(key)
            case "hasvar" | "varexists", [key]:
                return "true" if key in self.variables else "false"
            case "incvar" | "decvar", [key]:
                return self._add(key, "1" if name == "incvar" else "-1")
            case "deletevar" | "flushvar", [key]:
                self.variables.pop(key, None)
            case "setvar", [key, value]:
                self.variables[key] = value
            case "addvar", [key, value]:
                self._add(key, value)
            case _:
                return None
        return ""

    def _held(self, name: str) -> str:
        """A variable's text; one that is a number is written as JavaScript writes numbers."""
        held = self.variables.get(name, "")
        return held if not trim(held) or math.isnan(to_number(held)) else number_text(to_number(held))

    def _add(self, name: str, more: str) -> str:
        held = self._held(name)
        total = to_number(held) + to_number(more)
        self.variables[name] = ("" if held == "0" else held) + more if math.isnan(total) else number_text(total)
        return self._held(name)

    def _short(self, macro: _Macro) -> str | None:
        """`{{.name}}`, `{{.name = text}}` and its like; None for what is none, and for variables across chats."""
        found = _SHORT.match(macro.rest) if macro.name == "." else None
        if found is None:
            return None
        name, sign, held = found["name"], found["sign"], self._held(found["name"])
        kept = name in self.variables if sign[:2] == "??" else held.lower() not in _NO
        if not sign or (kept and sign[:2] in {"??", "||"}):
            return held
        if sign in {"++", "--"}:
            return self._add(name, "1" if sign == "++" else "-1")
        value = trim(self._filled(macro.rest[found.end() :]))
        if sign in _COMPARED:
            both = (held, value) if sign in {"==", "!="} else (to_number(held), to_number(value))
            return "true" if _COMPARED[sign](*both) else "false"
        if sign == "+=":
            self._add(name, value)
        elif sign == "-=" and not math.isnan(to_number(value)):
            self._add(name, number_text(-to_number(value)))
        elif sign in {"=", "??=", "||="}:
            self.variables[name] = value
        return value if sign[0] in "?|" else ""

    def _chosen(self, condition: str, branches: str, *, trimmed: bool) -> str:
        """The branch that a condition chooses; only that one is filled in."""
        asked = trim(condition)
        turned = asked.startswith("!")
        asked = trim(self._filled(asked.removeprefix("!").lstrip()))
        if re.fullmatch(rf"\.{_VARIABLE}", asked, re.ASCII):
            asked = self._held(asked[1:])
        else:
            asked = self.values.get(_CARD.get(asked.lower(), asked.lower()), asked)
        depth, first, second = 0, branches, ""
        for each in _macros(branches):
            if each.name == "if" and "/" in each.flags:
                depth -= 1
            elif each.name == "if":
                depth += len(each.arguments) == 1
            elif each.name == "else" and not depth:
                first, second = branches[: each.start], branches[each.end :]
                break
        chosen = first if (trim(asked).lower() in _NO) is turned else second
        filled = self._filled(chosen)
        return _trimmed(filled) if trimmed else filled


def _macros(text: str) -> Iterator[_Macro]:
    """The macros of a text that are in no other, in order. A brace before two belongs to the text."""
    at, ends = text.find("{{"), dict[int, int]()
    while at >= 0:
        while text.startswith("{", at + 2):
            at += 1
        if at not in ends:
            ends = _ends(text, at)
        end = ends[at]
        if end < 0:  # not closed: its braces are text
            at = text.find("{{", at + 2)
            continue
        yield _macro(text, at, end)
        at = text.find("{{", end)


def _ends(text: str, start: int) -> dict[int, int]:
    """Where the braces at a place, and those up to their end, are closed; -1 for never."""
    ends: dict[int, int] = {}
    opened: list[int] = []
    for edge in _EDGE.finditer(text, start):
        if edge[0] == "{{":
            opened.append(edge.start() + text.startswith("{", edge.end()))  # of three it is the last two
            continue
        ends[opened.pop()] = edge.end()
        if not opened:
            break
    return ends | dict.fromkeys(opened, -1)


def _macro(text: str, start: int, end: int) -> _Macro:
    inner = text[start + 2 : end - 2]
    head = _HEAD.match(inner)
    flags, name, rest = "", "", inner
    if head is not None:
        flags, name, rest = head["flags"], (head["name"] or head["variable"] or "").lower(), inner[head.end() :]
    if "//" in flags or name == "comment":
        flags, name = "", "//"
    return _Macro(start, end, inner, flags, name, rest)


def _closings(macros: Sequence[_Macro]) -> dict[int, int]:
    """The places of the macros that stand around a text, and of those that close them."""
    closings: dict[int, int] = {}
    opened: dict[str, list[int]] = {}
    for place, macro in enumerate(macros):
        waiting = opened.setdefault(macro.name, [])
        if "/" in macro.flags and waiting:
            closings[waiting.pop()] = place
        elif "/" not in macro.flags and _SCOPED.get(macro.name) == len(macro.arguments):
            waiting.append(place)
    return closings


def _split(text: str) -> list[str]:
    """The text between `::` that stand in no macro."""
    parts, start, done = [], 0, 0
    spans = [(each.start, each.end) for each in _macros(text)]
    while (at := text.find("::", start)) >= 0:
        within = next((end for begin, end in spans if begin <= at < end), 0)
        if within:
            start = within
            continue
        parts.append(text[done:at])
        start = done = at + 2
    return [*parts, text[done:]]


def _trimmed(text: str) -> str:
    """Without blanks around it, and without the first line's indentation in the others."""
    lines = [line for line in text.split("\n") if trim(line)]
    indent = _INDENT.match(lines[0]) if lines else None
    width = len(indent[0]) if indent is not None else 0
    if width:
        text = "\n".join(line[min(width, len(line) - len(line.lstrip(" \t"))) :] for line in text.split("\n"))
    return trim(text)
