"""Which file a reference means, by Obsidian's rules and by DeepLore's, and how it writes the path."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping
from enum import Enum, StrEnum, auto
from types import MappingProxyType
from typing import Final

from msgspec import Struct

from lorestudio.domain.javascript import fold
from lorestudio.domain.records import Terse
from lorestudio.vault.files import index_order
from lorestudio.vault.links.references import Escape, Reference

NOTE_SUFFIX: Final = ".md"
_FILE_SUFFIXES: Final = (
    ".avif", ".bmp", ".gif", ".jpeg", ".jpg", ".png", ".svg", ".webp", ".flac", ".m4a", ".mp3", ".ogg", ".wav", ".webm",
    ".3gp", ".mkv", ".mov", ".mp4", ".ogv", ".pdf", ".canvas", ".base",
)  # fmt: skip
"""What Obsidian takes for a file, and not for a note whose name has a dot."""


def is_file_name(target: str) -> bool:
    """Whether a link by this name means a picture or another file, so that no note can be made of it."""
    return target.lower().endswith(_FILE_SUFFIXES)


class FoundBy(StrEnum):
    """What of the file the reference names."""

    PATH = "path"
    NAME = "file name"
    TITLE = "title"
    ALIAS = "alias"
    NOTHING = "nothing"


class NoteNames(Struct, frozen=True):
    """What one note is called: the file, relative to the vault, and DeepLore's title (rules: deeplore 1.6)."""

    filename: str
    title: str
    aliases: tuple[str, ...] = ()

    @property
    def base_name(self) -> str:
        """The file's name without folder and `.md`."""
        return base_name(self.filename)


class IndexedNote(Terse, frozen=True):
    """One note with what is looked up in it; `keys` and `tags` are the front matter's, trimmed.

    Tags are in lower case; a text with commas counts as several, as in Obsidian.
    """

    unprinted = ("naming",)

    filename: str
    text: str
    names: NoteNames
    keys: tuple[str, ...]
    tags: tuple[str, ...]
    references: tuple[Reference, ...]
    naming: Mapping[str, tuple[Reference, ...]]
    """The references by what they name, in the form in which names are looked up."""


class Target(Struct, frozen=True):
    """The file that a reference leads to. `filename` is None for a file that does not exist yet."""

    filename: str | None
    by: FoundBy

    @property
    def exists(self) -> bool:
        """Whether there is such a file."""
        return self.filename is not None


MISSING: Final = Target(None, FoundBy.NOTHING)


def base_name(filename: str) -> str:
    """The last part of a path, without `.md` where it ends so in any case."""
    name = filename.rpartition("/")[2]
    return name[: -len(NOTE_SUFFIX)] if name.lower().endswith(NOTE_SUFFIX) else name


class LinkTargets:
    """The names of all files of one vault; immutable, `changed` makes another.

    Notes go by path, file name, title and alias, in this order (for the fields that hold titles, the title comes
    first); of several files of one name the one with the shortest path is meant, in Obsidian as here. Letter case and
    Unicode composition do not matter, except that titles are compared as DeepLore does, in lower case and no more.
    Other files (pictures) go by path and whole file name.
    """

    def __init__(self, notes: Iterable[NoteNames] = (), attachments: Iterable[str] = ()) -> None:
        self.notes: Mapping[str, NoteNames] = {note.filename: note for note in notes}
        self._by_name: dict[str, tuple[str, ...]] = {}
        self._by_title: dict[str, tuple[str, ...]] = {}
        self._by_alias: dict[str, tuple[str, ...]] = {}
        self._attachments: dict[str, tuple[str, ...]] = {}
        for note in self.notes.values():
            for table, name in self._keys(note):
                _add(table, name, note.filename)
        for path in attachments:
            _add(self._attachments, fold(path.rpartition("/")[2]), path)

    def _keys(self, note: NoteNames) -> Iterator[tuple[dict[str, tuple[str, ...]], str]]:
        """Under which names a note stands, and in which table."""
        yield self._by_name, fold(note.base_name)
        yield self._by_title, note.title.lower()
        yield from ((self._by_alias, fold(alias)) for alias in note.aliases)

    def changed(
        self, notes: Mapping[str, NoteNames | None], files: Mapping[str, str] = MappingProxyType({})
    ) -> LinkTargets:
        """With these notes instead of those of the same file names, None takes one out; and with other paths for
        other `files`, by those of before.
        """
        other = LinkTargets()
        other._by_name = dict(self._by_name)
        other._by_title = dict(self._by_title)
        other._by_alias = dict(self._by_alias)
        other._attachments = dict(self._attachments)
        for before, after in files.items():
            _drop(other._attachments, fold(before.rpartition("/")[2]), before)
            _add(other._attachments, fold(after.rpartition("/")[2]), after)
        names = dict(self.notes)
        for filename, note in notes.items():
            if (known := names.pop(filename, None)) is not None:
                for table, name in other._keys(known):
                    _drop(table, name, filename)
            if note is not None:
                names[filename] = note
                for table, name in other._keys(note):
                    _add(table, name, filename)
        other.notes = names
        return other

    def find(self, reference: Reference, source: str) -> Target:
        """The file that `reference` in the note `source` leads to."""
        if not reference.target:
            return Target(source, FoundBy.PATH)
        if reference.names_title and (titled := self.by_title(reference.target)) is not None:
            return titled
        # Others than Obsidian read a Markdown link as a path from the note's own folder, so that comes first there.
        return self.resolve(reference.target, source, relative_first=reference.escape is not Escape.NONE)

    def resolve(self, target: str, source: str, *, relative_first: bool = False) -> Target:
        """The file that the words `target` (no heading) lead to from the note `source`."""
        return (
            self.by_path(target, source, relative_first=relative_first)
            or self.by_title(target)
            or self._by_other_name(target)
            or MISSING
        )

    def by_path(self, target: str, source: str, *, relative_first: bool = False) -> Target | None:
        """The file whose path or name is meant, else None.

        A path is tried from the vault's root, then from the source's folder, then as the end of a longer path; one that
        begins with a slash or with dots only the one way.
        """
        files = self._called(target)
        if not files:
            return None
        by = FoundBy.PATH if "/" in target else FoundBy.NAME

        def ways(path: str) -> tuple[str, str]:
            return fold(path), fold(path) + NOTE_SUFFIX

        from_root = ways(target.removeprefix("/"))
        from_source = ways(posixpath.normpath(posixpath.join(posixpath.dirname(source), target)))
        if target.startswith("/"):
            tried = [from_root]
        elif target.startswith(("./", "../")):
            tried = [from_source]
        elif relative_first:
            tried = [from_source, from_root]
        else:
            tried = [from_root, from_source] if "/" in target else [from_root]
        for paths in tried:
            for file in files:
                if fold(file) in paths:
                    return Target(file, by)
        if target.startswith(("/", "./", "../")):
            return None
        endings = tuple(f"/{path}" for path in from_root)
        return next((Target(file, by) for file in files if fold(file).endswith(endings)), None)

    def unique(self, name: str) -> bool:
        """Whether only one file answers to this file name, which has no folder."""
        return len(self._called(name)) == 1

    def by_title(self, title: str) -> Target | None:
        """The note that DeepLore's links lead to by this title: of equal ones the last in the index
        (rules: deeplore 1.13).
        """
        files = self._by_title.get(title.lower())
        return Target(max(files, key=index_order), FoundBy.TITLE) if files else None

    def _by_other_name(self, target: str) -> Target | None:
        files = self._by_alias.get(fold(target))
        return Target(files[0], FoundBy.ALIAS) if files else None

    def _called(self, target: str) -> list[str]:
        """Files whose name is the last part of `target`, shortest path first, of `Gate` and `GATE` the one meant."""
        last = target.rpartition("/")[2]
        files = self._by_name.get(fold(last), ())
        if last.lower().endswith(NOTE_SUFFIX):
            files += self._by_name.get(fold(base_name(last)), ())
        files += self._attachments.get(fold(last), ())
        if len(files) < 2:
            return list(files)
        written = (f"/{target.lstrip('./')}", f"/{target.lstrip('./')}{NOTE_SUFFIX}")
        return sorted(files, key=lambda path: (len(path), not f"/{path}".endswith(written), path))


def _add(names: dict[str, tuple[str, ...]], name: str, filename: str) -> None:
    names[name] = (*names.get(name, ()), filename)


def _drop(names: dict[str, tuple[str, ...]], name: str, filename: str) -> None:
    left = tuple(other for other in names.pop(name, ()) if other != filename)
    if left:
        names[name] = left


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
