"""Which notes differ between two indexes, as they are written, and taking single ones over from one to the other."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import fields, replace
from typing import Final

from lorestudio.domain.digests import text_digest
from lorestudio.domain.entry import Entry, VaultIndex
from lorestudio.trace.diff import Key

_REFERENCES: Final = ("requires", "excludes", "cascade_links")
_NOT_WRITTEN: Final = {
    "id", "tokens", "resolved_links", "warnings", *_REFERENCES, *(f"written_{name}" for name in _REFERENCES),
}  # fmt: skip
_FOLLOWING: Final = {"content_hash", "links"}
"""Fields that follow from the text; they are not named beside it."""
_WRITTEN: Final = tuple(each.name for each in fields(Entry) if each.name not in _NOT_WRITTEN)


def note_changes(before: VaultIndex, after: VaultIndex) -> Iterator[tuple[Key, str, str]]:
    """The notes that are another entry, or an entry in one index only: key, title, and words on what is different.

    They come in the order of the first index, then of the second. Of notes with the same vault and file name the last
    one counts.
    """
    if before is after:
        return
    old, new = _by_key(before), _by_key(after)
    for key in {**old, **new}:
        one, other = old.get(key), new.get(key)
        if one is None and other is not None:
            yield (key, other.title, "is an entry only now")
        elif other is None and one is not None:
            yield (key, one.title, "is no entry any more")
        elif one is not None and other is not None and one is not other:
            names = list(_changed(one, other))
            if names:
                yield (key, other.title, f"{', '.join(names)} changed")


def carried_notes(old: VaultIndex, new: VaultIndex, keys: Iterable[Key]) -> VaultIndex:
    """The old index with these notes as the new one has them: changed, added in their place, or gone.

    References of other notes to them stay as the old index resolved them.
    """
    wanted = set(keys)
    theirs = _by_key(new)
    entries: list[Entry] = []
    for entry in old.entries:
        key = entry.vault, entry.filename
        if key not in wanted:
            entries.append(entry)
        elif key in theirs:
            entries.append(theirs[key])
    known = {(entry.vault, entry.filename) for entry in entries}
    before: Key | None = None
    for entry in new.entries:
        key = entry.vault, entry.filename
        if key in wanted and key not in known:
            place = next((at for at, each in enumerate(entries) if (each.vault, each.filename) == before), -1) + 1
            entries.insert(place, entry)
            known.add(key)
        if key in known:
            before = key
    numbered = tuple(entry if entry.id == place else replace(entry, id=place) for place, entry in enumerate(entries))
    told = f"{old.digest} with {sorted(wanted)} of {new.digest}"
    return replace(old, entries=numbered, digest=text_digest(told))


def counted_as(old: VaultIndex, new: VaultIndex) -> VaultIndex:
    """The old index with the tokens that the new one has for the same texts, which another tokenizer counted."""
    theirs = _by_key(new)

    def tokens(entry: Entry) -> int:
        other = theirs.get((entry.vault, entry.filename))
        return other.tokens if other is not None and other.content == entry.content else entry.tokens

    entries = tuple(replace(entry, tokens=tokens(entry)) for entry in old.entries)
    digest = hashlib.sha256(f"{old.digest} counted as {new.digest}".encode()).hexdigest()
    return replace(old, entries=entries, digest=digest)


def renamed(index: VaultIndex, names: Sequence[str]) -> VaultIndex:
    """The index with its vaults called otherwise, in order, so that two copies of a vault can be compared."""
    called = dict(zip(index.vaults, names, strict=False))
    entries = tuple(replace(entry, vault=called.get(entry.vault, entry.vault)) for entry in index.entries)
    return replace(index, entries=entries, vaults=tuple(called.get(name, name) for name in index.vaults))


def _by_key(index: VaultIndex) -> dict[Key, Entry]:
    return {(entry.vault, entry.filename): entry for entry in index.entries}


def _changed(one: Entry, other: Entry) -> Iterator[str]:
    """What an author would call the fields that differ; the text stands for what follows from it."""
    found = [name for name in _WRITTEN if getattr(one, name) != getattr(other, name)]
    for name in _REFERENCES:
        first, second = _reference(one, name), _reference(other, name)
        if first != second:
            found.append(name)
    named = [name for name in found if name not in _FOLLOWING]
    for name in named or found:
        yield "text" if name in {"content", *_FOLLOWING} else name.replace("_", " ")


def _reference(entry: Entry, name: str) -> object:
    """The titles that the note itself names."""
    written = getattr(entry, f"written_{name}")
    return getattr(entry, name) if written is None else written
