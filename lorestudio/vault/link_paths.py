"""How a reference writes the path of its file, and the same way of writing for another path."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from enum import Enum, auto

from lorestudio.domain.javascript import fold
from lorestudio.vault.link_targets import NOTE_SUFFIX, base_name
from lorestudio.vault.links import Escape, Reference

_TO_ESCAPE = re.compile(r"[\x00-\x20\x7f%()<>\\]")
_TO_ESCAPE_ALL = re.compile(r"[\x00-\x20\x7f%()<>\\]|[^\x00-\x7f]")
_ENCODED_LETTER = re.compile(r"%[89A-Fa-f][0-9A-Fa-f]")


class PathStyle(Enum):
    """From where a path is written."""

    NAME = auto()
    ROOT = auto()
    RELATIVE = auto()
    ENDING = auto()


def style_of(reference: Reference, path: str, source: str) -> PathStyle:
    """How `reference` in the note `source` writes `path`, which it leads to.

    A Markdown link that can be read as relative is: others than Obsidian read it so.
    """
    written = reference.target
    if written.startswith(("./", "../")):
        return PathStyle.RELATIVE
    if written.startswith("/"):
        return PathStyle.ROOT
    relative = _leads(posixpath.normpath(posixpath.join(posixpath.dirname(source), written)), path)
    if reference.escape is not Escape.NONE and relative:
        return PathStyle.RELATIVE
    if "/" not in written:
        return PathStyle.NAME
    if _leads(written, path):
        return PathStyle.ROOT
    return PathStyle.RELATIVE if relative else PathStyle.ENDING


def written_paths(reference: Reference, old: str, new: str, source: str, source_after: str) -> Iterator[str]:
    """Ways to write `new` in place of `old`, the best first: in the style of the reference, else from the root.

    `source` is the note with the reference, before and after. Slashes, dots and `.md` are as in the reference.
    """
    written = reference.target
    style = style_of(reference, old, source)
    if style is PathStyle.NAME:
        yield _ended(posixpath.basename(new), written, old)
    elif style is PathStyle.RELATIVE:
        path = posixpath.relpath(new, posixpath.dirname(source_after) or ".")
        yield _ended(f"./{path}" if written.startswith("./") and not path.startswith("../") else path, written, old)
    elif style is PathStyle.ENDING:
        yield _ended("/".join(new.split("/")[-written.count("/") - 1 :]), written, old)
    yield _ended(f"/{new}" if written.startswith("/") else new, written, old)


def escaped(path: str, reference: Reference, as_written: str) -> str:
    """A path spelled as the reference spells its own, which is `as_written` in the text."""
    if reference.escape is Escape.PERCENT:
        pattern = _TO_ESCAPE_ALL if _ENCODED_LETTER.search(as_written) else _TO_ESCAPE
        return pattern.sub(_escape, path)
    return path


def _escape(found: re.Match[str]) -> str:
    return "".join(f"%{byte:02X}" for byte in found[0].encode("utf-8", "surrogatepass"))


def _leads(written: str, path: str) -> bool:
    return fold(path) in (fold(written), fold(written + NOTE_SUFFIX))


def _ended(path: str, written: str, old: str) -> str:
    """The path with `.md` only where the reference writes it too."""
    is_note = old.lower().endswith(NOTE_SUFFIX)
    if not is_note or fold(base_name(written)) == fold(base_name(old)) != fold(posixpath.basename(written)):
        return path
    return path[: -len(NOTE_SUFFIX)]
