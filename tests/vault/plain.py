"""Vaults as they were read, as plain data: entries are compared by what they say."""

from __future__ import annotations

import dataclasses

from lorestudio.domain.entry import Entry, LeftOutNote
from lorestudio.vault.folder_scan import KnownVault


def said(note: Entry | LeftOutNote | None) -> object:
    """A note as plain data."""
    if not isinstance(note, Entry):
        return note
    return {field.name: getattr(note, field.name) for field in dataclasses.fields(note)}


def plain(vault: KnownVault | None) -> tuple[KnownVault | None, list[object]]:
    """A vault as plain data: what is not its files, and each file with what its note says."""
    if vault is None:
        return None, []
    files: list[object] = [(dataclasses.replace(file, note=None), said(file.note)) for file in vault.files]
    return dataclasses.replace(vault, files=()), files
