"""The order in which a vault's files stand in the index, told from their names alone."""

from __future__ import annotations


def index_order(filename: str) -> list[tuple[bool, bytes]]:
    """Sorts file names into index order: a folder's files by UTF-16 code units, then its sub-folders (spec 1.1)."""
    *folders, name = filename.split("/")
    # Big-endian bytes compare as the code units do.
    return [(True, f"{folder}/".encode("utf-16-be", "surrogatepass")) for folder in folders] + [
        (False, name.encode("utf-16-be", "surrogatepass"))
    ]
