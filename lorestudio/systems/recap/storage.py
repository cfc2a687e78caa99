"""To which chat stored recaps belong: branches and imports keep them, data of another chat is refused.

Source: spec: recap-memory 15.
"""

from __future__ import annotations

from collections.abc import Container, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

from lorestudio.domain.javascript import Json, truthy
from lorestudio.systems.recap.records import text_of
from lorestudio.systems.recap.running import STORE_KEY, RunningRecaps, read_store, write_store

MAIN_CHAT_KEY: Final = "main_chat"
LOREBOOK_KEY: Final = "world_info"


class Ownership(StrEnum):
    """How the store was found."""

    CREATED = "created"
    MATCH = "match"
    ADOPTED_BRANCH = "adopted_branch"
    ADOPTED_IMPORT = "adopted_import"
    RESET = "reset"


@dataclass(frozen=True, slots=True)
class Storage:
    """The store of the open chat. `notice` is a sentence for the person where data of another chat was refused.

    `refused` is that data, so that whoever asks can put it somewhere.
    """

    store: RunningRecaps
    outcome: Ownership
    notice: str = ""
    refused: RunningRecaps | None = None


def storage(chat_id: str, metadata: Mapping[str, Json], lorebooks: Container[str] = ()) -> Storage:
    """The store for the chat of this id; `lorebooks` are the names of the lorebooks that exist."""
    stored = metadata.get(STORE_KEY)
    if not isinstance(stored, Mapping):
        return Storage(RunningRecaps(chat_id), Ownership.CREATED)
    store = read_store(stored)
    if store.chat_id == chat_id:
        return Storage(store, Ownership.MATCH)
    ours = replace(store, chat_id=chat_id)
    if truthy(metadata.get(MAIN_CHAT_KEY)):
        return Storage(ours, Ownership.ADOPTED_BRANCH)
    book = text_of(metadata.get(LOREBOOK_KEY))
    if book and book not in lorebooks and store.versions:
        return Storage(ours, Ownership.ADOPTED_IMPORT)
    owner = f"“{store.chat_id}”" if store.chat_id is not None else "an unnamed chat"
    notice = (
        f"The running recap in this file belongs to {owner}, and the open chat is “{chat_id}”. It is not used here; "
        "make a new one, or open the chat that it belongs to."
    )
    return Storage(RunningRecaps(chat_id), Ownership.RESET, notice, store)


def with_store(metadata: Mapping[str, Json], store: RunningRecaps) -> Mapping[str, Json]:
    """The chat's metadata with this store attached."""
    return {**metadata, STORE_KEY: write_store(store)}
