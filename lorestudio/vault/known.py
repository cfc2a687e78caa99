"""What is known of a vault from the last time it was read: every file with its digest and what it says."""

from __future__ import annotations

import hashlib
import importlib.util
import unicodedata
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple

import lorestudio

if TYPE_CHECKING:
    from lorestudio.domain.entry import LeftOutNote
    from lorestudio.domain.tokens import TokenCounter
    from lorestudio.vault.entries import EntryFields, ParseRules

_PARSER: Final = (
    "lorestudio.domain.entry",
    "lorestudio.domain.fields",
    "lorestudio.domain.javascript",
    "lorestudio.domain.tokens",
    "lorestudio.vault.cleaning",
    "lorestudio.vault.entries",
    "lorestudio.vault.front_matter",
)
"""The modules that decide what a text says."""


class Stamp(NamedTuple):
    """The file system's word about a file: times in nanoseconds, size in bytes.

    An equal stamp means an unchanged file; a different one only that the content has to be looked at.
    """

    modified_ns: int
    changed_ns: int
    size: int


@dataclass(frozen=True, slots=True)
class KnownFile:
    """One file as it was read: `digest` is that of its text, `note` what it says, None for a file that is no note.

    `stamp` is None where it cannot tell whether the file has changed. `text` is kept for the file of field definitions.
    """

    filename: str
    digest: str
    note: EntryFields | LeftOutNote | None = field(repr=False)
    stamp: Stamp | None = None
    text: str | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class KnownVault:
    """One vault as it was read, files in index order; `left_out` is what could not be read.

    `parser` is the key of the rules that the notes were parsed with (see `parser_key`).
    """

    name: str
    files: tuple[KnownFile, ...] = ()
    left_out: tuple[LeftOutNote, ...] = ()
    parser: str = ""

    def text(self, filename: str) -> str:
        """The kept text of a file, "" where there is none."""
        return next((file.text or "" for file in self.files if file.filename == filename), "")


def text_digest(text: str) -> str:
    """SHA-256 of a text, in hexadecimal."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def parser_key(rules: ParseRules, counter: TokenCounter) -> str:
    """A digest of all that decides what a text says; a note that was parsed under another key is parsed again.

    It covers the tags, leniency, field definitions, the token counter and the parser itself.
    """
    return text_digest(f"{rules!r}\0{counter.name}\0{counter.exact}\0{_parser_digest()}")


@lru_cache(maxsize=1)
def _parser_digest() -> str:
    """A digest of the parser's own source, so that nobody has to remember a version number."""
    digest = hashlib.sha256(f"{lorestudio.__version__} {unicodedata.unidata_version}".encode())
    for name in _PARSER:
        spec = importlib.util.find_spec(name)
        read = getattr(spec.loader, "get_source", None) if spec is not None else None
        # Without sources, as in some frozen programs, the version number has to do.
        digest.update(((read(name) if read is not None else None) or "").encode())
    return digest.hexdigest()
