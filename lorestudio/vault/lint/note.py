"""One note as the checks see it: its entry, its raw front matter, and the lines that things stand on."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cached_property
from typing import Final, Literal

from msgspec import Struct

from lorestudio.domain.entry import Entry, LeftOutNote
from lorestudio.domain.javascript import Json, trim
from lorestudio.domain.records import replace
from lorestudio.settings.deeplore import DeepLoreSettings
from lorestudio.vault import front_matter
from lorestudio.vault.entries import ParseRules
from lorestudio.vault.front_matter import BOM
from lorestudio.vault.lint.model import NoteKey
from lorestudio.vault.note.document import NoteDocument

_PROPERTY: Final = re.compile(r"(\w[\w.-]*)\s*:", re.ASCII)
_HEADING: Final = re.compile(r"^#\s", re.MULTILINE)


class Places:
    """Lines count from 1. `body` is the end of `text` that lies behind the front matter."""

    def __init__(self, text: str, body: str) -> None:
        self._text, self._body = text, body
        self._body_start = len(text) - len(body)
        self._lines: list[str] | None = None

    def line(self, field: str, item: str = "") -> int:
        """The line of `item` in a field ("title" and "body" are the body's), else of the field, else 1."""
        if field in {"title", "body"}:
            return self._in_body(field, item)
        if self._lines is None:
            self._lines = self._text[: self._body_start].split("\n")
        lines = self._lines
        span = self._span(lines, field) if field else None
        if span is None:
            return 1
        first, last = span
        if item:
            lower = item.lower()
            for wanted, fold in ((item, False), (lower, True)):
                for number in range(first, last):
                    if wanted in (lines[number].lower() if fold else lines[number]):
                        return number + 1
        return first + 1

    def at(self, offset: int) -> int:
        """The line of an offset into the body."""
        return self._text.count("\n", 0, self._body_start + offset) + 1

    def _in_body(self, field: str, item: str) -> int:
        if field == "title":
            heading = _HEADING.search(self._body)
            return self.at(heading.start()) if heading is not None else 1
        found = self._body.find(item) if item else -1
        return self.at(found) if found >= 0 else self.at(0) if self._body.strip() else 1

    @staticmethod
    def _span(lines: list[str], field: str) -> tuple[int, int] | None:
        """The lines of a field, from 0, the end excluded; of several of that name the last, which is the one read."""
        found: tuple[int, int] | None = None
        start: int | None = None
        for number, line in enumerate(lines[1:], 1):
            match = _PROPERTY.match(line)
            fence = line.startswith("---")
            if match is None and not fence:
                continue
            if start is not None:
                found = (start, number)
                start = None
            if fence:
                break
            if match is not None and match[1].lower() == field.lower():
                start = number
        return (start, len(lines)) if start is not None else found


class Rules(Struct, frozen=True):
    """What the checks go by: DeepLore's settings, how notes are read under them, what stands before token counts."""

    settings: DeepLoreSettings
    parse: ParseRules
    about: str = ""

    @property
    def ai(self) -> bool:
        """Whether a model takes part in the selection."""
        settings = self.settings
        return settings.ai_search_enabled and settings.ai_search_mode in {"two-stage", "ai-only"}

    @property
    def lenient(self) -> ParseRules:
        """The same rules with untidy front matter forgiven."""
        return replace(self.parse, lenient=True)


class Note:
    """A note of the vault: an entry, or one that gave none. `text` is None where it is not known."""

    def __init__(self, vault: str, filename: str, text: str | None, item: Entry | LeftOutNote | None) -> None:
        self.vault, self.filename = vault, filename
        self.text = None if text is None else text.removeprefix(BOM)
        self.raw = text
        self.item = item

    @property
    def key(self) -> NoteKey:
        """Vault and file name."""
        return self.vault, self.filename

    @property
    def entry(self) -> Entry:
        """The note's entry. Raises TypeError where it gave none."""
        if not isinstance(self.item, Entry):
            message = f"{self.filename} gave no entry"
            raise TypeError(message)
        return self.item

    @cached_property
    def keys(self) -> tuple[str, ...]:
        """The entry's keys that are looked for, each once; empty for a note that gave no entry."""
        return tuple(dict.fromkeys(usable_keys(self.item))) if isinstance(self.item, Entry) else ()

    @cached_property
    def _parts(self) -> tuple[str | None, str]:
        return front_matter.split(self.text or "")

    @property
    def yaml(self) -> str | None:
        """The text between the fences, None where there is no front matter."""
        return self._parts[0]

    @property
    def body(self) -> str:
        """The text behind the front matter."""
        return self._parts[1]

    @cached_property
    def values(self) -> Mapping[str, Json]:
        """The front matter as DeepLore's line reader has it, names as written."""
        return front_matter.parse(self.yaml) if self.yaml is not None else {}

    @cached_property
    def document(self) -> NoteDocument | None:
        """The text as properties, None where it is not known."""
        return None if self.raw is None else NoteDocument(self.raw)

    @cached_property
    def places(self) -> Places:
        """Where things stand."""
        return Places(self.text or "", self.body)

    def forget(self) -> None:
        """Let go of what can be worked out again from the text."""
        for name in ("_parts", "values", "document", "places"):
            self.__dict__.pop(name, None)

    def written(self, name: str) -> str:
        """How the note spells a field: as given, or with other capitals."""
        if name in self.values:
            return name
        lower = name.lower()
        return next((other for other in self.values if other.lower() == lower), name)


def usable_keys(entry: Entry) -> tuple[str, ...]:
    """The keys that are looked for: those of nothing but white space are passed over (rules: deeplore 3.4)."""
    return tuple(key for key in entry.keys if trim(key))


def written(entry: Entry, name: Literal["requires", "excludes", "cascade_links"]) -> tuple[str, ...]:
    """What the note says in a list of titles, missing ones included."""
    titles: tuple[str, ...] | None = getattr(entry, f"written_{name}")
    kept: tuple[str, ...] = getattr(entry, name)
    return kept if titles is None else titles


def is_same(one: Entry, other: Entry) -> bool:
    """Whether two entries are of one note."""
    return (one.vault, one.filename) == (other.vault, other.filename)


def is_exempt(entry: Entry) -> bool:
    """Whether gates let the entry pass whatever it requires or excludes (rules: deeplore 5.1)."""
    return entry.constant or entry.seed or entry.bootstrap


def quoted(titles: tuple[str, ...] | list[str], most: int = 4) -> str:
    """Titles in quotes, the first few by name: “A”, “B” and 3 more."""
    named = [f"“{title}”" for title in titles[:most]]
    rest = len(titles) - len(named)
    if rest:
        return f"{', '.join(named)} and {rest} more"
    return named[0] if len(named) == 1 else f"{', '.join(named[:-1])} and {named[-1]}"
