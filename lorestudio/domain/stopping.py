"""Work that is stopped on purpose."""

from __future__ import annotations


class Stopped(Exception):  # noqa: N818  # it is no error
    """Somebody stopped the work, or something newer took its place.

    Whoever contains failures lets it through: it says nothing about what was being done.
    """
