"""Texts for people: the one place where wording is looked up, filled in and counted.

News is a sentence with a tone, details for those who want them, and what can be done about it.
"""

from __future__ import annotations

import math
from typing import Final, Literal

from msgspec import Struct

from lorestudio.domain.texts import shorten
from lorestudio.vault.files import told_of_disk

Tone = Literal["good", "neutral", "warning", "error"]


class Notice(Struct, frozen=True):
    """One piece of news. `actions` are ids of the action table; `key` lets a later notice replace this one."""

    text: str
    tone: Tone = "neutral"
    details: str = ""
    actions: tuple[str, ...] = ()
    key: str = ""


def tr(text: str, **values: object) -> str:
    """`text` in the person's language with its `{names}` filled in.

    Every text a person reads goes through here, so that a translation needs one change only.
    """
    return text.format(**values) if values else text


def number(value: float) -> str:
    """A number as people read it: thousands apart, no needless fraction, infinity as its sign."""
    if math.isinf(value):
        return "∞" if value > 0 else "-∞"
    if math.isnan(value):
        return "?"
    return f"{int(value):,}" if float(value).is_integer() else f"{value:,.2f}".rstrip("0").rstrip(".")


def count(amount: int, one: str, many: str) -> str:
    """`1 entry`, `12 entries`: an amount with the form of the noun that belongs to it."""
    return f"{number(amount)} {tr(one if amount == 1 else many)}"


def sentence_case(text: str) -> str:
    """`text` with a capital first letter and the rest as it is."""
    return text[:1].upper() + text[1:]


LONGEST_SAYING: Final = 400
"""Characters of a text of somebody else's: what failed, whose words these are and what to do fit in."""


def with_full_stop(text: str) -> str:
    """A text of somebody else's, short enough and with no word cut, with a stop at its end."""
    short = shorten(text, LONGEST_SAYING)
    if len(short) == LONGEST_SAYING:
        short = f"{short[:-1].rpartition(' ')[0] or short[:-1]}…"
    return short if short.endswith((".", "!", "?", "…")) else f"{short}."


def sentence_of(error: Exception) -> str:
    """What an error says, or what kind it is where it says nothing."""
    said = told_of_disk(error) if isinstance(error, OSError) else str(error)
    return said or tr("Something failed without saying why ({kind}).", kind=type(error).__name__)
