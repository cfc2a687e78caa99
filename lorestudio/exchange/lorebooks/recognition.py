"""Files that are neither a lorebook nor a chat that can be opened: what they are, and what to do instead."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from lorestudio.domain.javascript import Json
from lorestudio.domain.json_text import parse_json
from lorestudio.exchange.containers import SIGNATURE, is_archive
from lorestudio.exchange.lorebooks.formats import CHAT_FIELDS, NOTES, SETTINGS, archived, kind_of, refusal
from lorestudio.exchange.lorebooks.kinds.table import looks_like_table

_RUN: Final = frozenset({"lorebook-v3", "card", "character-book", "sillytavern", "risu", "novelai", "agnaistic"})
"""The formats that the scan takes as SillyTavern does."""
_INTO_A_VAULT: Final = "Bring its lore into a vault: “lorestudio import FILE --into VAULT”."


def json_of(data: bytes) -> tuple[bool, Json]:
    """Whether the bytes are one JSON document, and that document."""
    try:
        return True, parse_json(data.decode("utf-8-sig"))
    except ValueError:
        return False, None


def what_it_is(data: bytes) -> str:
    """What a file with these bytes is and what to do, as a sentence from “this is …” on; "" for what is not known."""
    is_json, document = json_of(data)
    return what_file(data) or (what_document(document) if is_json else "")


def what_file(data: bytes) -> str:
    """The same of a file that is no JSON document."""
    if said := refusal(data):
        return said
    if is_archive(data):
        return f"this is an archive of notes. {_INTO_A_VAULT}" if archived(data) == NOTES else ""
    is_table = data.lstrip()[:1] not in {b"{", b"["} and looks_like_table(data)
    return f"this is a table. {_INTO_A_VAULT}" if is_table else ""


def what_document(document: Json) -> str:
    """The same of a JSON document."""
    if isinstance(document, Mapping) and "power_user" in document:
        return SETTINGS
    known = kind_of(document)
    if known is None:
        return ""
    kind, found = known
    if kind.name in _RUN and not (kind.name == "novelai" and len(found.path) > 1):
        return ""
    return f"this is a file in the form “{kind.title}”, which World Info does not read. {_INTO_A_VAULT}"


def may_be_chat(data: bytes) -> bool:
    """False for a picture, an archive and one JSON document without anything that a line of a chat has."""
    if data.startswith(SIGNATURE) or is_archive(data):
        return False
    is_json, document = json_of(data)
    return not is_json or (isinstance(document, Mapping) and not CHAT_FIELDS.isdisjoint(document))
