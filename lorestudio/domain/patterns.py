"""Regular expressions as JavaScript understands them, and searching with a guard against runaway patterns.

The classes for word ends, words and digits know ASCII only, the one for white space is Unicode's, a dot stops at four
line ends, and $ is the very end of the text. The flag i compares capitals without u, and folds with it; without u what
JavaScript does not know stands for itself, with u it is refused. A reference to a group that took no part is empty
(rules: fact-memory 15; hybrid-retrieval 11; sillytavern 5.6 "Key test").
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache, lru_cache, partial
from itertools import groupby, repeat
from math import inf
from time import thread_time
from typing import Final, TypeVar

import regex

from lorestudio.domain.javascript import DOT, LINE_END, LINE_START, WHITE_SPACE, as_units
from lorestudio.domain.texts import joined_spans

LONGEST_S: Final = 0.25
"""A search that takes longer than this is given up."""

LONGEST_TOGETHER_S: Final = 1.0
"""A pattern is given up when its slow searches have taken longer than this together."""

_SLOW_S: Final = 0.005
_SLOW_CHARACTER_S: Final = 1e-7

MOST_REPEATED: Final = 100_000
"""A pattern that says more characters and groups than this, repetitions written out, takes too much memory."""

LONGEST: Final = 20_000
"""A pattern of more characters takes seconds to be compiled, or for each text, which no time limit ends."""

MOST_RANGES: Final = 5_000
"""Each character of a text is compared with every range of a class, and `regex` looks at no time limit meanwhile."""

_LONGEST_NAMED: Final = 200
_WORD: Final = "0-9A-Za-z_"
_FOLDED_WORD: Final = f"{_WORD}\u017f\u212a"
_SPACE: Final = "\t-\r \u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff"
"""`WHITE_SPACE` with ranges: the fewer parts, the sooner it is compiled."""
_IS: Final = {"w": re.compile(r"\w", re.ASCII), "d": re.compile(r"\d", re.ASCII)}
_QUANTIFIER: Final = re.compile(r"(?:[*+?]|\{(?P<least>\d+)(?P<upto>,(?P<most>\d*))?\})\??", re.ASCII)
_OPENING: Final = re.compile(r"\((?:\?(?::|=|!|<=|<!|<(?P<name>[^<>=!][^<>]*)>))?")
_CONTROLS: Final = {"t": "\t", "n": "\n", "r": "\r", "f": "\f", "v": "\v"}
_CODED: Final = re.compile(r"\\(?:x(?P<hex>[0-9a-fA-F]{2})|u(?P<unit>[0-9a-fA-F]{4})|c(?P<control>[A-Za-z]))")
_POINT: Final = re.compile(r"\\u\{([0-9a-fA-F]+)\}")
_LOW_HALF: Final = re.compile(r"\\u([dD][c-fC-F][0-9a-fA-F]{2})")
_PROPERTY: Final = re.compile(r"\\[pP]\{[\w=]+\}", re.ASCII)
_NAMED: Final = re.compile(r"\\k<([^<>]+)>")
_NUMBER: Final = re.compile(r"\\([1-9]\d*)", re.ASCII)
_OCTAL: Final = re.compile(r"\\([0-3][0-7]{0,2}|[4-7][0-7]?)", re.ASCII)
_SYNTAX: Final = frozenset("^$\\.*+?()[]{}|/")
_KNOWN_FLAGS: Final = frozenset("dgimsuvy")
_ASCII: Final = 0x7F
_BEYOND: Final = re.compile("[\U00010000-\U0010ffff]")
_BEYOND_OR_HALF: Final = re.compile(rf"{_BEYOND.pattern}|\\u[dD][89abAB]")
_FULL_RANGE: Final = 0x10FFFF


_Found = TypeVar("_Found")


class PatternError(ValueError):
    """A pattern that cannot be used; the message says why."""


class PatternTimeoutError(Exception):
    """A search was given up because it took too long."""


@dataclass(frozen=True, slots=True)
class Pattern:
    """A compiled pattern. `source` is what it was written as.

    One that took too long on a text, or on many a little, is given up at once on every other from then on.
    """

    source: str
    flags: str = ""
    _compiled: regex.Pattern[str] = field(default_factory=lambda: regex.compile(""), repr=False, compare=False)
    _halved: Pattern | None = field(default=None, repr=False, compare=False)
    _slow: list[float] = field(default_factory=list, init=False, repr=False, compare=False)

    @property
    def groups(self) -> int:
        """How many groups it has."""
        return self._compiled.groups

    @property
    def everywhere(self) -> bool:
        """Whether a replacement is made at every place, and not at the first alone (flag g)."""
        return "g" in self.flags

    def search(self, text: str, seconds: float = LONGEST_S) -> regex.Match[str] | None:
        """The first place where the pattern is found; with the flag y only the text's beginning is looked at.

        Raises PatternTimeoutError after `seconds`.
        """
        look = self._compiled.match if "y" in self.flags else self._compiled.search
        return self._limited(text, lambda: look(text, timeout=seconds))

    def holds(self, text: str) -> bool:
        """Whether the pattern is found; without the flags u and v a character beyond U+FFFF counts as its two halves.

        Raises PatternTimeoutError.
        """
        if not _is_unicode(self.flags) and _BEYOND.search(text):
            text = as_units(text)
        return (self._halved or self).search(text) is not None

    def replaced(self, text: str, made: Callable[[regex.Match[str]], str]) -> str:
        """`String.replace` with a function: the first match, or all with the flag g. Raises PatternTimeoutError."""
        count = 0 if self.everywhere else 1
        return self._limited(text, lambda: self._compiled.sub(made, text, count=count, timeout=LONGEST_S))

    def spans(self, text: str) -> list[tuple[int, int]]:
        """Start and end of every place where something is found. Raises PatternTimeoutError."""
        found = partial(self._compiled.finditer, text, timeout=LONGEST_S)
        return self._limited(text, lambda: [each.span() for each in found() if each.end() > each.start()])

    def _limited(self, text: str, look: Callable[[], _Found]) -> _Found:
        if self._slow and sum(self._slow) > LONGEST_TOGETHER_S:
            raise PatternTimeoutError(f"the pattern {_quoted(self.source)} took too long on another text")
        begun = thread_time()
        try:
            found = look()
        except TimeoutError:
            self._slow.append(inf)
            raise PatternTimeoutError(f"the pattern {_quoted(self.source)} takes too long on this text") from None
        taken = thread_time() - begun
        if is_slow(taken, text):
            self._slow.append(taken)
        return found


def is_slow(seconds: float, text: str) -> bool:
    """Whether a search has taken too long for its text; usual ones take a twentieth of that."""
    return seconds > _SLOW_S + len(text) * _SLOW_CHARACTER_S


def _quoted(source: str) -> str:
    """The pattern as messages name it, without the rest of a long one."""
    return f"“{source if len(source) <= _LONGEST_NAMED else source[:_LONGEST_NAMED] + '…'}”"


def compile_pattern(source: str, flags: str = "") -> Pattern:
    """The pattern between JavaScript's slashes, with its flags. Raises PatternError."""
    unknown = sorted(set(flags) - _KNOWN_FLAGS)
    if unknown or len(set(flags)) != len(flags):
        raise PatternError(f"“{flags}” are no flags of a pattern; use some of i, m, s, each once")
    try:
        compiled, halved = _compiled(source, flags), None
        if not _is_unicode(flags) and _BEYOND_OR_HALF.search(source):
            halved = Pattern(source, flags, _compiled(as_units(source), flags, in_halves=True))
    except (PatternError, regex.error, OverflowError, RecursionError) as error:
        raise PatternError(f"{_quoted(source)} is no pattern: {error}") from None
    return Pattern(source, flags, compiled, halved)


def _is_unicode(flags: str) -> bool:
    return "u" in flags or "v" in flags


def _compiled(source: str, flags: str, *, in_halves: bool = False) -> regex.Pattern[str]:
    if len(source) > LONGEST:
        raise PatternError(f"it has more than {LONGEST:,} characters; use several")
    reader = _Reader(source, flags, in_halves=in_halves)
    how = 0
    if "i" in flags:
        how = regex.IGNORECASE if reader.unicode else regex.IGNORECASE | regex.ASCII
    return compile_guarded(reader.translated(), how)


@cache
def own_pattern(source: str, flags: str = "") -> Pattern:
    """A pattern of the program itself, compiled when it is first used: no start waits for it."""
    return compile_pattern(source, flags)


_TOKEN: Final = re.compile(
    r"\\(?:[pPN]\{[^}]*\}|[gkL]<[^>]*>|U[\da-fA-F]{8}|u[\da-fA-F]{4}|x[\da-fA-F]{2}|\d{1,3}|.|$)|(?P<class>(?P<own>\(\?-i:)?\[\^?\]?(?:\\.|[^\]\\])*+(?:\]|\Z)(?(own)\)))"
    r"|\((?:\?(?:\(\w*\)|P?[<=>&](?:\w+>?)?))?|(?P<times>\{\s*(?P<least>\d+)\s*(?:,\s*\d*\s*)?\})|.",
    re.DOTALL | re.ASCII,
)
"""What an expression is made of: escapes, classes (also those that heed case), openings of groups with their names,
repetitions, characters."""

_LONG_NUMBER: Final = 9
_CLASS_OF_ONE: Final = 100
"""A class of so many letters takes no more memory than a character; one of thousands takes its kilobytes each time."""

_LONGEST_RUN: Final = 200
"""`regex` prepares a run of plain characters in cubic time, twenty seconds for three thousand times the same one."""

_ALIKE: Final = 20
"""Of a class that follows itself more often, its number is written."""

_BREAK: Final = "(?:|)"
"""Finds nothing, and ends a run of characters."""


def compile_guarded(expression: str, flags: int = 0) -> regex.Pattern[str]:
    """`regex.compile`, which takes gigabytes for `a{2000000000}`. Raises OverflowError instead, and its errors."""
    tokens = list(_TOKEN.finditer(expression))
    if any(len(each["least"] or "") > _LONG_NUMBER for each in tokens) or _size(tokens) > MOST_REPEATED:
        raise OverflowError(f"it repeats something more than {MOST_REPEATED:,} times; repeat it less, or use + or *")
    try:
        return regex.compile("".join(_broken(_counted(tokens))), flags)
    except ValueError as error:  # a number of thousands of figures
        raise OverflowError(str(error)) from None


def _counted(tokens: Iterable[re.Match[str]]) -> Iterator[str]:
    """The tokens, a class that comes several times in a row once with its number: each takes its time by itself."""
    for (text, inside), same in groupby((token[0], token["class"]) for token in tokens):
        times = sum(1 for _ in same)
        if times > _ALIKE and inside and inside.count("[") == 1:
            yield from (text, f"{{{times - 1}}}", text)  # the last one may be repeated by what follows
        else:
            yield from repeat(text, times)


def _broken(tokens: Iterable[str]) -> Iterator[str]:
    """The tokens with each long run of characters broken, and not before what repeats the last one."""
    run = 0
    for text in tokens:
        run = 0 if text[0] == "(" else run + 1
        if run > _LONGEST_RUN and text[0] not in "*+?{":
            run = 0
            yield _BREAK
        yield text


def _size(tokens: Iterable[re.Match[str]]) -> int:
    """How many characters and groups an expression has as `regex` writes it.

    That is each as often as it must come at least, and once more for what may follow.
    """
    sizes, last, before = [0], 0, ""
    for token in tokens:
        text, previous, before = token[0], before, token[0]
        if token["times"] or (text == "+" and previous[:1] not in tuple("*+?{")):  # else it makes that one possessive
            more = int(token["least"] or 1)
            sizes[-1] += last * more
            last *= more + 1
        elif text[0] == "(" and not token["class"]:
            sizes.append(1)
        elif text == ")" and len(sizes) > 1:
            last = sizes.pop()
            sizes[-1] += last
        elif text not in "*+?|":
            last = max(1, len(text) // _CLASS_OF_ONE)
            sizes[-1] += last
    return sum(sizes)


class _Reader:
    """Reads a pattern of JavaScript's and writes it as one of Python's `regex`.

    `in_halves`: for texts whose characters beyond U+FFFF are written as two halves, as JavaScript reads without u.
    """

    def __init__(self, source: str, flags: str, *, in_halves: bool = False) -> None:
        self.source, self.flags, self.in_halves = source, flags, in_halves
        self.unicode = _is_unicode(flags)
        self.folds = "i" in flags
        self.at = 0
        openings = list(_openings(source))
        self._groups = len(openings)
        self._names = [name for name in openings if name]
        self._word = _FOLDED_WORD if self.unicode and self.folds else _WORD

    def translated(self) -> str:
        """The whole pattern. Raises PatternError."""
        if len(set(self._names)) < len(self._names):
            raise PatternError("two groups have one name")
        made: list[str] = []
        repeatable: list[bool] = []  # of each open group, whether it may be repeated
        atom = False
        while self.at < len(self.source):
            char = self.source[self.at]
            quantifier = _QUANTIFIER.match(self.source, self.at)
            if quantifier is not None:
                made.append(self._repeated(quantifier, atom=atom))
                atom = False
            elif char == "(":
                text, can_repeat = self._opened()
                made.append(text)
                repeatable.append(can_repeat)
                atom = False
            elif char == ")":
                if not repeatable:
                    raise PatternError("a parenthesis is closed that is not open")
                self.at += 1
                made.append(")")
                atom = repeatable.pop()
            else:
                text, atom = self._one(char)
                made.append(text)
        if repeatable:
            raise PatternError("a parenthesis is not closed")
        return "".join(made)

    def _repeated(self, quantifier: re.Match[str], *, atom: bool) -> str:
        if not atom:
            raise PatternError(f"there is nothing that “{quantifier[0]}” could repeat")
        least, most = quantifier["least"], quantifier["most"]
        if least and most and _number(most) < _number(least):
            raise PatternError(f"the numbers in “{quantifier[0]}” are out of order")
        self.at = quantifier.end()
        return quantifier[0]

    def _opened(self) -> tuple[str, bool]:
        """The beginning of a group, and whether the group may be repeated."""
        opening = _OPENING.match(self.source, self.at)
        if opening is None or (self.source.startswith("(?", self.at) and len(opening[0]) == 1):
            raise PatternError("a group begins with what JavaScript does not know")
        self.at = opening.end()
        if opening["name"]:
            return f"(?P<{_identifier(opening['name'])}>", True
        around = opening[0] in {"(?<=", "(?<!"} or (self.unicode and opening[0] in {"(?=", "(?!"})
        return opening[0], not around

    def _one(self, char: str) -> tuple[str, bool]:
        """What stands here, and whether it may be repeated."""
        if char == "\\":
            edge = self.source[self.at + 1 : self.at + 2] in {"b", "B"}
            return self._escape(inside=False), not edge
        if char == "[":
            return self._class(), True
        if char in "]{}" and self.unicode:
            raise PatternError(f"“{char}” stands alone")
        self.at += 1
        multiline = "m" in self.flags
        if char == "^":
            return LINE_START if multiline else r"\A", False
        if char == "$":
            return LINE_END if multiline else r"\Z", False
        if char == "|":
            return char, False
        if char == ".":
            return (r"(?:[\s\S])" if "s" in self.flags else DOT), True
        return self._literal(char), True

    def _escape(self, *, inside: bool) -> str:
        """One escape; `inside` a character class, where what stands for one character is written as `_char` needs."""
        if self.at + 1 >= len(self.source):
            raise PatternError("it ends in a backslash")
        char = self.source[self.at + 1]
        if char.lower() in {"w", "d", "s"}:
            self.at += 2
            return self._known_class(char, inside=inside)
        if char in {"b", "B"} and not inside:
            self.at += 2
            word = self._word
            ends = f"(?<![{word}])(?=[{word}])|(?<=[{word}])(?![{word}])"
            within = f"(?<![{word}])(?![{word}])|(?<=[{word}])(?=[{word}])"
            return self._as_written(f"(?:{ends if char == 'b' else within})")
        if self.unicode and char in {"p", "P"}:
            found = _PROPERTY.match(self.source, self.at)
            if found is None:
                raise PatternError("a property needs its name between braces")
            self.at = found.end()
            return found[0]
        if not inside:
            reference = self._reference()
            if reference is not None:
                return reference
        return self._literal(self._char(inside=inside), inside=inside)

    def _known_class(self, char: str, *, inside: bool) -> str:
        name = char.lower()
        word = {"w": self._word, "d": "0-9", "s": _SPACE}[name]
        if char == name:
            return word if inside else self._as_written(f"[{word}]")
        if not inside:
            return self._as_written(f"[^{word}]")
        if name == "s":
            return _complement(WHITE_SPACE)
        return _complement("".join(filter(_IS[name].match, map(chr, range(0x80)))) + word[len(_WORD) :] * (name == "w"))

    def _as_written(self, text: str) -> str:
        """The text in the cases in which it stands, where `regex` would take other letters for an i."""
        return f"(?-i:{text})" if self.unicode and self.folds else text

    def _reference(self) -> str | None:
        """A reference to a group, None for what is none. A group that took no part is as empty text."""
        named = _NAMED.match(self.source, self.at)
        if named is not None and (self._names or self.unicode):
            if named[1] not in self._names:
                raise PatternError(f"there is no group “{named[1]}”")
            self.at = named.end()
            name = _identifier(named[1])
            return f"(?:(?({name})(?P={name})))"
        numbered = _NUMBER.match(self.source, self.at)
        if numbered is None:
            return None
        if _number(numbered[1]) > _number(str(self._groups)):
            if self.unicode:
                raise PatternError(f"there is no group {numbered[1]}")
            return None
        self.at = numbered.end()
        return f"(?:(?({numbered[1]})(?:\\{numbered[1]})))"

    def _char(self, *, inside: bool) -> str:
        """The one character that an escape stands for."""
        source, char = self.source, self.source[self.at + 1]
        if char in _CONTROLS:
            self.at += 2
            return _CONTROLS[char]
        if inside and char == "b":
            self.at += 2
            return "\b"
        point = _POINT.match(source, self.at) if self.unicode else None
        if point is not None:
            if int(point[1], 16) > _FULL_RANGE:
                raise PatternError(f"there is no character {point[1]}")
            self.at = point.end()
            return chr(int(point[1], 16))
        coded = _CODED.match(source, self.at)
        if coded is not None:
            self.at = coded.end()
            return self._coded(coded)
        octal = _OCTAL.match(source, self.at)
        if octal is not None and not self.unicode:
            self.at = octal.end()
            return chr(int(octal[1], 8))
        if char == "0" and not source[self.at + 2 : self.at + 3].isdigit():
            self.at += 2
            return "\0"
        if char == "c" and not self.unicode:  # the backslash stands for itself
            self.at += 1
            return "\\"
        if (self.unicode and char not in _SYNTAX and not (inside and char == "-")) or (char == "k" and self._names):
            raise PatternError(f"“\\{char}” means nothing")
        self.at += 2
        return char

    def _coded(self, coded: re.Match[str]) -> str:
        if coded["control"]:
            return chr(ord(coded["control"]) % 32)
        unit = int(coded["hex"] or coded["unit"], 16)
        joins = 0xD800 <= unit < 0xDC00 and not self.in_halves
        low = _LOW_HALF.match(self.source, self.at) if joins else None
        if low is None:
            return chr(unit)
        self.at = low.end()
        return chr(0x10000 + ((unit - 0xD800) << 10) + int(low[1], 16) - 0xDC00)

    def _class(self) -> str:
        """One character class."""
        start = self.at
        negated = self.source.startswith("^", start + 1)
        self.at += 1 + negated
        parts: list[str] = []
        members: list[tuple[int, int]] = []
        while self.at < len(self.source) and self.source[self.at] != "]":
            one = self._member(parts)
            if not (self.source.startswith("-", self.at) and self.source[self.at + 1 : self.at + 2] not in {"]", ""}):
                if one is not None:
                    members.append((one, one))
                continue
            self.at += 1
            other = self._member(parts)
            if one is None or other is None:
                if self.unicode:
                    raise PatternError("a range begins or ends with a class")
                members += [(each, each) for each in (one, ord("-"), other) if each is not None]
            elif other < one:
                raise PatternError("a range is out of order")
            else:
                members.append((one, other))
        if self.at >= len(self.source):
            raise PatternError(f"the [ at {start} is not closed")
        self.at += 1
        if not parts and not members:  # [] is nothing, [^] is any character
            return r"(?:[\s\S])" if negated else r"(?!)"
        members = joined_spans(members, 1)
        if len(members) > MOST_RANGES:
            raise PatternError(f"a class names more than {MOST_RANGES:,} characters that are no neighbours; use ranges")
        written = "".join([*parts, *(f"{_escaped(chr(low))}-{_escaped(chr(high))}" for low, high in members)])
        return self._folded_class(written, members, negated=negated)

    def _member(self, parts: list[str]) -> int | None:
        """One member of a class: its code, None for a class within, which is added to `parts`."""
        char = self.source[self.at]
        if char != "\\":
            self.at += 1
            return ord(char)
        following = self.source[self.at + 1 : self.at + 2]
        if following.lower() in {"w", "d", "s"} or (self.unicode and following in {"p", "P"}):
            parts.append(self._escape(inside=True))
            return None
        if not following:
            raise PatternError("it ends in a backslash")
        return ord(self._char(inside=True))

    def _folded_class(self, written: str, members: list[tuple[int, int]], *, negated: bool) -> str:
        """A class with the other cases of its members, as far as `regex` does not know them by itself."""
        sign = "^" if negated else ""
        if not self.folds:
            return f"[{sign}{written}]"
        if not self.unicode:
            more = _other_cases(tuple(members))
            return f"[{sign}{written}{''.join(map(_escaped, more))}]"
        dotted = self._word in written or any(low <= ord(each) <= high for low, high in members for each in "iI")
        if not dotted:
            return f"[{sign}{written}]"
        own = "".join(each for each in _TURKISH if not any(low <= ord(each) <= high for low, high in members))
        if not own:
            return f"[{sign}{written}]"
        return f"(?:[{sign}{written}]|(?-i:[{own}]))" if negated else f"(?:(?!(?-i:[{own}]))[{written}])"

    def _literal(self, char: str, *, inside: bool = False) -> str:
        """One character that stands for itself, with its other cases where `regex` has others."""
        if self.folds and not inside:
            if self.unicode and char in {"i", "I"}:
                return self._as_written("[iI]")
            if self.unicode and char in _TURKISH:
                return self._as_written(char)
            others = _capitals().get(ord(char), ()) if not self.unicode and ord(char) > _ASCII else ()
            if others:
                return f"[{char}{''.join(others)}]"
        return char if char.isalnum() or char == "_" else _escaped(char)


_TURKISH: Final = "\u0130\u0131"
"""Letters that `regex` takes for an i, and JavaScript does not."""


@cache
def _capitals() -> dict[int, tuple[str, ...]]:
    """The characters beyond ASCII that have other cases, by code, in order, with these: without u their capitals are
    compared.

    A capital of several letters, or one in ASCII, does not count; nor does what UTF-16 writes as two units.
    """
    by_capital: dict[str, list[str]] = {}
    for code in range(0x80, 0x10000):
        char = chr(code)
        capital = char.upper()
        by_capital.setdefault(capital if len(capital) == 1 and capital > "\x7f" else char, []).append(char)
    cased = {
        ord(each): tuple(other for other in alike if other != each)
        for alike in by_capital.values()
        if len(alike) > 1
        for each in alike
    }
    return dict(sorted(cased.items()))


@lru_cache(maxsize=256)
def _other_cases(members: tuple[tuple[int, int], ...]) -> list[str]:
    """The other cases of a class's members beyond ASCII, as far as they are no members themselves."""
    capitals = _capitals()
    codes = list(capitals)
    found = {
        other
        for low, high in members
        for code in codes[bisect_left(codes, low) : bisect_right(codes, high)]
        for other in capitals[code]
    }
    return sorted(each for each in found if not any(low <= ord(each) <= high for low, high in members))


def _openings(source: str) -> Iterator[str]:
    """The names of the groups that can be referred to, in order, "" for one without a name."""
    at, inside = 0, False
    while at < len(source):
        char = source[at]
        if char == "\\":
            at += 1
        elif inside or char == "[":
            inside = char != "]"
        elif char == "(":
            opening = _OPENING.match(source, at)
            if opening is not None and (opening["name"] or not source.startswith("(?", at)):
                yield opening["name"] or ""
        at += 1


def _number(figures: str) -> tuple[int, str]:
    """To be compared with others; Python reads none of more than 4,300 figures."""
    figures = figures.lstrip("0")
    return len(figures), figures


def _escaped(char: str) -> str:
    return f"\\U{ord(char):08x}"


def _identifier(name: str) -> str:
    """A group's name as `regex` takes it."""
    return name if name.isidentifier() else "n_" + "_".join(f"{ord(char):x}" for char in name)


def _complement(chars: str) -> str:
    """All other characters, inside a class."""
    parts, low = [], 0
    for code in sorted(map(ord, chars)):
        if code > low:
            parts.append(f"{_escaped(chr(low))}-{_escaped(chr(code - 1))}")
        low = code + 1
    return "".join([*parts, f"{_escaped(chr(low))}-{_escaped(chr(_FULL_RANGE))}"])
