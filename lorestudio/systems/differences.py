"""What differs between the inputs of two runs by one system: each difference can be carried from one to the other."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final, TypeAlias

from lorestudio.domain.entry import NoteKey
from lorestudio.domain.state import EntryRule
from lorestudio.domain.texts import shorten

Carry: TypeAlias = Callable[[Any, Any], Any]
"""`carry(target, source)`: the target's inputs (`system`, `moment`, `state`) with this one part of the source's."""


class DifferenceKind(StrEnum):
    """What sort of input differs."""

    SETTING = "setting"
    SWITCH = "behaviour switch"
    RULE = "rule"
    NOTE = "note"
    CHOICE = "choice for the chat"
    CHAT = "chat"
    TRACKERS = "trackers"
    ROLLS = "probability rolls"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class InputDifference:
    """One difference: what it is called, and how it stands in either run, in a few words ("" where there is no word).

    `affects` names the stages that read it, where that is known; `note` is the note it is about, `setting` the name of
    the setting that it is a part of.
    """

    kind: DifferenceKind
    title: str
    before: str
    after: str
    carry: Carry = field(repr=False, compare=False)
    affects: tuple[str, ...] = ()
    note: NoteKey | None = None
    setting: str = ""

    @property
    def sentence(self) -> str:
        """The difference in one line."""
        if self.before and self.after:
            return f"{self.title}: {self.before} → {self.after}"
        return f"{self.title}: {self.after or self.before}" if self.before or self.after else self.title


_TEXT: Final = 80


def words_of(value: object) -> str:
    """A value in a word or two, never empty."""
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, tuple):
        items = [item.title if isinstance(item, EntryRule) else str(item) for item in value]
        return shorten(", ".join(items), _TEXT) or "none"
    if isinstance(value, Mapping):
        return shorten(", ".join(f"{name}: {_json(item)}" for name, item in value.items()), _TEXT) or "none"
    return shorten(_json(value), _TEXT) or "none"


def _json(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, list):
        return ", ".join(str(item) for item in value)
    return f"{value:g}" if isinstance(value, float) else str(value)
