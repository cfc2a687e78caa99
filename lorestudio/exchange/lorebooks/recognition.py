"""Files that are neither a lorebook nor a chat that can be opened: what they are, and what to do instead."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from lorestudio.domain.javascript import Json
from lorestudio.domain.json_text import parse_json
from lorestudio.exchange.containers import SIGNATURE, is_archive
from lorestudio.exchange.lorebooks.formats import CHAT_FIELDS, NOTES, SETTINGS, archived, kind_of, refusal
from lorestudio.exchange.lorebooks.kinds.table import looks_like_table
from lorestudio.exchange.problems import Belongs, InputError, WrongFileError

_RUN: Final = frozenset({"lorebook-v3", "card", "character-book", "sillytavern", "risu", "novelai", "agnaistic"})
"""The formats that the scan takes as SillyTavern does."""


def json_of(data: bytes) -> tuple[bool, Json]:
    """Whether the bytes are one JSON document, and that document."""
    try:
        return True, parse_json(data.decode("utf-8-sig"))
    except ValueError:
        return False, None


def what_it_is(data: bytes, path: Path) -> InputError | None:
    """What a file with these bytes is and where it belongs; None for a lorebook, a chat, and what is not known."""
    is_json, document = json_of(data)
    return what_file(data, path) or (what_document(document, path) if is_json else None)


def what_file(data: bytes, path: Path) -> InputError | None:
    """The same of a file that is no JSON document."""
    what = ""
    if is_archive(data):
        what = "this is an archive of notes" if archived(data) == NOTES else ""
    elif data.lstrip()[:1] not in {b"{", b"["} and looks_like_table(data):
        what = "this is a table"
    return refusal(data, path) or (WrongFileError(path, what, Belongs.IMPORT) if what else None)


def what_document(document: Json, path: Path) -> InputError | None:
    """The same of a JSON document."""
    if isinstance(document, Mapping) and "power_user" in document:
        return WrongFileError(path, SETTINGS, Belongs.SETTINGS)
    known = kind_of(document)
    if known is None:
        return None
    kind, found = known
    if kind.name in _RUN and not (kind.name == "novelai" and len(found.path) > 1):
        return None
    what = f"this is a file in the form “{kind.title}”, which World Info does not read"
    return WrongFileError(path, what, Belongs.IMPORT)


def may_be_chat(data: bytes) -> bool:
    """False for a picture, an archive and one JSON document without anything that a line of a chat has."""
    if data.startswith(SIGNATURE) or is_archive(data):
        return False
    is_json, document = json_of(data)
    return not is_json or (isinstance(document, Mapping) and not CHAT_FIELDS.isdisjoint(document))
