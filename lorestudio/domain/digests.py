"""Digests of texts, by which things are found again and changes are noticed."""

from __future__ import annotations

import hashlib


def text_digest(*parts: str) -> str:
    """SHA-256 of a text in hexadecimal, or of several in order; halves of surrogate pairs count as they are."""
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()
