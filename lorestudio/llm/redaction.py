"""Secrets do not get into messages, logs, traces or files; nor a person's words into the report of an error."""

from __future__ import annotations

import base64
import json
import platform
import re
import traceback
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final
from urllib.parse import quote

from lorestudio.domain.resources import VERSION

MASK: Final = "•••"
SHORTEST_SECRET: Final = 4
"""Known keys below this length are place-holders such as "x", and hiding them would spoil every message."""

# Longer forms first: a shorter one would leave their rest standing (rules: deeplore-tools 1.3.2).
_PATTERNS: Final = (
    (re.compile(r"\bBearer\s+[^\s\"',;<>•]+", re.IGNORECASE), f"Bearer {MASK}"),
    (
        re.compile(
            r"\b(x-api-key|api[-_ ]?key|authorization|access[-_]token)"
            r"(\\{0,16}[\"']?\s*[:=]\s*\\{0,16}[\"']?)(?:(?:Basic|Token|Key)\s+)?[^\s\"',;&<>}•\\]+",
            re.IGNORECASE,
        ),
        rf"\1\2{MASK}",
    ),
    (re.compile(r"(?<![A-Za-z0-9])(?:sk|gsk|hf|xai)[-_][A-Za-z0-9_*.-]{4,}"), MASK),
    (re.compile(r"AIza[A-Za-z0-9_*.-]{4,}"), MASK),
    (re.compile(r"(?<=://)[^/\s@•]+@"), f"{MASK}@"),
)

_NEXT_EVENT: Final = r'"(?!\s*:)[^\n]{0,1000}+\n(?:[^"\n]{0,200}+\n){0,4}+[^\n]{0,1000}:\s?"'
"""From inside a text to inside the last text of the next event of a stream."""

_QUOTED: Final = re.compile(r"""(?<!\w)(["'“‘])(?:(?!\1).)*["'”’]""", re.DOTALL)

SHORTEST_LOOSE: Final = 12
"""Keys of this length are found in spellings that a shorter one might share with ordinary words."""


class Secret:
    """A key that shows itself only when asked to. Neither `repr` nor `str` nor a pickle gives it away."""

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text

    def reveal(self) -> str:
        """The key itself."""
        return self._text

    def __repr__(self) -> str:
        return f"Secret({MASK})"

    def __str__(self) -> str:
        return MASK

    def __bool__(self) -> bool:
        return bool(self._text)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and self._text == other.reveal()

    def __hash__(self) -> int:
        return hash(self._text)

    def __reduce__(self) -> str:
        raise TypeError("a secret is not stored")


def hide_known(text: str, secrets: Iterable[str]) -> str:
    """`text` without the keys themselves, as they are and as JSON or an address spells them.

    One that is long enough to be no word is also found in the other case, with any of its characters as escapes (JSON,
    addresses, HTML, mail) or figures, with blanks, line ends or quotation marks between them, in base64, and spread
    over the events of a stream: of these one is left.

    For replies: lore may speak of a "Bearer of the Ring", so nothing is hidden there on a mere likeness.
    """
    known = {secret for secret in secrets if len(secret) >= SHORTEST_SECRET}
    forms = {form for secret in known for form in _spellings(secret)}
    for form in sorted(forms, key=lambda form: (-len(form), form)):
        text = text.replace(form, MASK)
    for secret in known:
        if len(secret) >= SHORTEST_LOOSE:
            for pattern in (_loosely(secret), _in_figures(secret), _in_base64(secret)):
                text = pattern.sub(MASK, text)
    return text


def beginning_of(secret: str, text: str) -> int:
    """How many of the last characters of `text` may be the beginning of a key of which the rest is still to come.

    Of a key that is long enough to be no word, also in the other case and with what may stand between its characters.
    """
    loose = len(secret) >= SHORTEST_LOOSE
    between = _between(secret) if loose else ""
    text = text[-9 * len(secret) :]
    places = [place for place, char in enumerate(text) if char not in between]
    said = "".join(text[place] for place in places)
    if loose:
        secret, said = secret.lower(), said.lower()
    sizes = range(min(len(secret) - 1, len(places)), 0, -1) if len(secret) >= SHORTEST_SECRET else ()
    return next((len(text) - places[-size] for size in sizes if said.endswith(secret[:size])), 0)


def redact(text: str, secrets: Iterable[str] = ()) -> str:
    """`text` without the known keys and without anything that looks like one (rules: deeplore-tools 1.3.2)."""
    text = hide_known(text, secrets)
    for pattern, replacement in _PATTERNS:
        text = pattern.sub(replacement, text)
    return text


def cut(text: str, length: int) -> str:
    """The first `length` characters. Redact before cutting: half a key fits no pattern any more."""
    return text if len(text) <= length else text[:length].rstrip() + "…"


def fault_report(error: BaseException) -> str:
    """The error and those that led to it, with the places in the program and its version.

    What a message quotes may be the person's words or files, so it is left out; so are keys and the home folder.
    """
    head = f"lorestudio {VERSION}, Python {platform.python_version()}, {platform.platform(terse=True)}"
    told = redact("\n".join((head, *_told(error)))).replace(str(Path.home()), "~")
    return f"{told}\n"


def _spellings(secret: str) -> tuple[str, ...]:
    in_json = json.dumps(secret)[1:-1]
    php = in_json.replace("/", r"\/")
    return secret, in_json, php, json.dumps(secret, ensure_ascii=False)[1:-1], quote(secret, safe="")


_APART: Final = " \0\t\r\n\u00a0\u00ad\u200b\u200c\u200d\u2060\ufeff\"'`*+,"
"""What may stand between the characters of a key."""


def _between(secret: str) -> str:
    """What may stand between the characters of a key, and is none of them."""
    return "".join(char for char in _APART if char not in secret)


def _loosely(secret: str) -> re.Pattern[str]:
    """Finds a key however it is spelled."""
    first, *rest = list(secret)
    # Atomic: a provider that is asked in bad faith could else have this try its events in every combination.
    then = (
        rf"(?>(?:[{re.escape(_between(char))}]{{0,8}}+(?:\\{{1,16}}+[nrt\n])?+|{_NEXT_EVENT}){_any_spelling(char)})"
        for char in rest
    )
    return re.compile(_any_spelling(first) + "".join(then), re.IGNORECASE)


def _any_spelling(char: str) -> str:
    code = ord(char)
    escaped = r"\\{0,16}+/" if char == "/" else re.escape(char)  # of a longer run each would be followed to its end
    in_text = rf"\\{{1,16}}+(?:(?:u00|u\{{0{{0,6}}+|U000000|x){code:02x}\}}?|{code:03o})"
    in_address = rf"%(?:25){{0,16}}+(?:u00)?{code:02x}"
    in_page = rf"&(?:amp;){{0,16}}+#(?:0{{0,16}}+{code}|x0{{0,16}}+{code:x});?"
    return rf"(?:{escaped}|{in_text}|{in_address}|{in_page})"


def _in_figures(secret: str) -> re.Pattern[str]:
    """Finds a key written as the numbers of its bytes, to sixteen or to ten."""
    data = secret.encode()
    hexadecimal = r"[\s:,=-]{0,4}+(?:0x|u\+00)?".join(f"{byte:02x}" for byte in data)
    decimal = r"[\s,]{1,4}+".join(map(str, data))
    return re.compile(rf"{hexadecimal}|{decimal}", re.IGNORECASE)


def _in_base64(secret: str) -> re.Pattern[str]:
    """Finds a key in base64 as it is written alone or behind other bytes, with the letters that it shares with them."""
    found = []
    for before in range(3):
        whole = base64.b64encode(bytes(before) + secret.encode()).decode().rstrip("=")
        shared = (len(secret.encode()) + before) % 3 > 0
        sure = whole[(0, 2, 3)[before] : len(whole) - shared]
        found.append(r"\s*".join("[+-]" if char == "+" else "[/_]" if char == "/" else char for char in sure))
    return re.compile(rf"[\w+/-]{{0,2}}(?:{'|'.join(found)})[\w+/-]{{0,2}}={{0,2}}", re.ASCII)


def _told(error: BaseException) -> Iterator[str]:
    seen: list[BaseException] = []
    while error not in seen:
        seen.append(error)
        yield "".join(traceback.format_tb(error.__traceback__)).rstrip()
        yield f"{type(error).__name__}: {_QUOTED.sub('“…”', str(error))}"
        cause = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
        if cause is None:
            return
        yield "\nwhich came while this was handled:"
        error = cause
