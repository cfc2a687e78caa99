"""Vaults as they were read, as plain data: entries are compared by what they say."""

from __future__ import annotations

from lorestudio.domain.entry import Entry, LeftOutNote
from lorestudio.domain.records import field_names, replace
from lorestudio.vault.folder import KnownVault


def said(note: Entry | LeftOutNote | None) -> object:
    """A note as plain data."""
    if not isinstance(note, Entry):
        return note
    return {name: getattr(note, name) for name in field_names(type(note))}


def plain(vault: KnownVault | None) -> tuple[KnownVault | None, list[object]]:
    """A vault as plain data: what is not its files, and each file with what its note says."""
    if vault is None:
        return None, []
    files: list[object] = [(replace(file, note=None), said(file.note)) for file in vault.files]
    return replace(vault, files=()), files
