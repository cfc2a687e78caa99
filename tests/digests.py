"""Digests of files, as notes have them."""

from __future__ import annotations

from pathlib import Path

from lorestudio.vault.writer import digest_of


def digest(path: Path) -> str:
    """SHA-256 of the file's bytes, in hexadecimal."""
    return digest_of(path.read_bytes())
