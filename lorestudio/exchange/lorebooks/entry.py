"""An entry of a native lorebook, and what its text says at its beginning (rules: sillytavern 5.3, 5.6)."""

from __future__ import annotations

import re
from enum import IntEnum, StrEnum
from typing import Final

from msgspec import Struct

from lorestudio.domain.javascript import WS
from lorestudio.domain.records import replace

DEFAULT_DEPTH: Final = 4
DEFAULT_WEIGHT: Final = 100
DEFAULT_ORDER: Final = 100

_DECORATORS: Final = ("@@activate", "@@dont_activate")
_GROUP_PARTS: Final = re.compile(rf",{WS}*")


class Logic(IntEnum):
    """How secondary keys count."""

    AND_ANY = 0
    NOT_ALL = 1
    NOT_ANY = 2
    AND_ALL = 3
    UNKNOWN = 4
    """What SillyTavern does not know: with secondary keys such an entry never comes in."""
    UNSAID = 5
    """As any of them, but they add nothing to a score within a group."""


LOGICS: Final = (Logic.AND_ANY, Logic.NOT_ALL, Logic.NOT_ANY, Logic.AND_ALL)
"""Those that a file can name."""


class BookPlace(IntEnum):
    """Where an entry stands in the prompt."""

    BEFORE = 0
    AFTER = 1
    NOTE_TOP = 2
    NOTE_BOTTOM = 3
    AT_DEPTH = 4
    EXAMPLES_TOP = 5
    EXAMPLES_BOTTOM = 6
    OUTLET = 7
    NOWHERE = 8
    """A number that SillyTavern does not know: such an entry becomes active and is put nowhere."""


class Extra(StrEnum):
    """What an entry may have searched beside the chat, under the name of its field (newer SillyTavern)."""

    PERSONA = "matchPersonaDescription"
    DESCRIPTION = "matchCharacterDescription"
    PERSONALITY = "matchCharacterPersonality"
    DEPTH_PROMPT = "matchCharacterDepthPrompt"
    SCENARIO = "matchScenario"
    CREATOR_NOTES = "matchCreatorNotes"


class BookEntry(Struct, frozen=True):
    """One entry. None means that the global setting decides; for a timed effect and a level that there is none.

    `content` is without its decorators; `digest` tells whether the entry has changed since a timed effect began.
    `uid` is unique within the entries of a run; `name` is what SillyTavern knows the entry by, which two of a book may
    share; `world` is the lorebook that the entry comes from. `probability` is in per cent, None where no lot is drawn.
    `group` is the text that names its inclusion groups, `triggers` are the kinds of generation that it is for (all
    where empty). Numbers may be NaN, which is what a file's text that is no number counts as; `group_weight` and
    `recursion_level` stay texts where they are, because SillyTavern adds and compares them as such.
    """

    uid: str
    keys: tuple[str, ...] = ()
    secondary: tuple[str, ...] = ()
    comment: str = ""
    content: str = ""
    constant: bool = False
    selective: bool = True
    logic: Logic = Logic.AND_ANY
    order: float = DEFAULT_ORDER
    place: BookPlace = BookPlace.BEFORE
    disabled: bool = False
    exclude_recursion: bool = False
    prevent_recursion: bool = False
    recursion_level: float | str | None = None
    probability: float | None = None
    depth: int = DEFAULT_DEPTH
    role: int = 0
    group: str = ""
    group_override: bool = False
    group_weight: float | str = DEFAULT_WEIGHT
    group_scoring: bool | None = None
    scan_depth: float | None = None
    case_sensitive: bool | None = None
    whole_words: bool | None = None
    sticky: float | None = None
    cooldown: float | None = None
    delay: float | None = None
    characters: tuple[str, ...] = ()
    characters_excluded: bool = False
    tags: tuple[str, ...] = ()
    vectorized: bool = False
    outlet: str = ""
    triggers: tuple[str, ...] = ()
    ignores_budget: bool = False
    extras: tuple[Extra, ...] = ()
    world: str = ""
    name: str = ""
    activates: bool = False
    never_activates: bool = False
    digest: str = ""

    @property
    def groups(self) -> tuple[str, ...]:
        """The inclusion groups, as SillyTavern takes them apart."""
        return tuple(name for name in _GROUP_PARTS.split(self.group) if name)


def of_1_12(entry: BookEntry) -> BookEntry:
    """The entry with the fields that SillyTavern 1.12.6 knows (rules: sillytavern 5.6 "Version 1.18")."""
    place = BookPlace.NOWHERE if entry.place is BookPlace.OUTLET else entry.place
    return replace(entry, place=place, triggers=(), extras=(), ignores_budget=False)


class BookError(ValueError):
    """A file that is no lorebook; the message names the field and what to do."""


def split_decorators(content: str) -> tuple[tuple[str, ...], str]:
    """The decorators that count at the beginning of a text, and the text without them (rules: sillytavern 5.6).

    A line counts when it begins with a known name; it has an effect only when nothing else stands in it.
    """
    if not content.startswith("@@"):
        return (), content
    lines = content.split("\n")
    found: list[str] = []
    fallback = False
    for place, line in enumerate(lines):
        if not line.startswith("@@"):
            return tuple(found), "\n".join(lines[place:])
        name = line.removeprefix("@") if line.startswith("@@@") else line
        if line.startswith("@@@") and not fallback:
            continue
        known = any(name.startswith(decorator) for decorator in _DECORATORS)
        if known:
            found.append(name)
        fallback = not known
    return tuple(found), content  # no line of text follows: all of it is kept
