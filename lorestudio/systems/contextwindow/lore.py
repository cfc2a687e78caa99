"""Entries of a lorebook: adding, finding, cleaning, combining (rules: context-window 1.1, 4).

A lorebook is a mapping from key to entry whose order counts; every function gives a new one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Final, TypeAlias


@dataclass(frozen=True, slots=True)
class LoreEntry:
    """One entry. Only `value` costs tokens; of two entries the one with the larger `weight` goes first.

    `linked_keys` come in with it, `alias_keys` trigger it as its key does, all `required_keys` have to be there.
    """

    key: str = ""
    value: str = ""
    weight: int = 0
    linked_keys: tuple[str, ...] = ()
    alias_keys: tuple[str, ...] = ()
    required_keys: tuple[str, ...] = ()

    def combined(self, other: LoreEntry) -> LoreEntry:
        """The values one after the other, and the requirements of both (rules: context-window 1.1)."""
        return replace(
            self,
            value=f"{self.value} {other.value}",
            required_keys=united(self.required_keys, other.required_keys),
        )


LoreBook: TypeAlias = Mapping[str, LoreEntry]

EMPTY: Final[LoreBook] = {}


def united(one: Iterable[str], other: Iterable[str]) -> tuple[str, ...]:
    """All of `one`, then what of `other` is not in yet."""
    found = list(one)
    for item in other:
        if item not in found:
            found.append(item)
    return tuple(found)


def with_entry(book: LoreBook, entry: LoreEntry) -> dict[str, LoreEntry]:
    """The book with the entry under its key, in the place of an earlier one of exactly that key.

    The key in upper and in lower case is added to the aliases, also where it is there already.
    """
    aliases = (*entry.alias_keys, entry.key.upper(), entry.key.lower())
    return {**book, entry.key: replace(entry, alias_keys=aliases)}


def find(book: LoreBook, key: str) -> LoreEntry | None:
    """The entry whose key or alias is `key` in upper case, in lower case or as it is, keys before aliases."""
    spellings = (key.upper(), key.lower(), key)
    for spelling in spellings:
        if spelling in book:
            return book[spelling]
    for entry in book.values():
        if any(spelling in entry.alias_keys for spelling in spellings):
            return entry
    return None


def cleaned(book: LoreBook, banned: str = "", replacement: str = "", *, source_compatible: bool = False) -> LoreBook:
    """The book with every banned text in a key replaced; `banned` lists them with a comma and a space between.

    Links and requirements that name changed keys are left as they are. Of keys that become equal the later entry stays,
    in the place of the first. An empty text is banned only with `source_compatible`
    (rules: context-window 4, 17 row 15).
    """
    pieces = [piece for piece in banned.split(", ") if piece or source_compatible]
    made: LoreBook = {}
    for key, entry in book.items():
        for piece in pieces:
            key = key.replace(piece, replacement)  # noqa: PLW2901  # one after the other
        made = with_entry(made, replace(entry, key=key))
    return made


def merged(
    book: LoreBook,
    other: LoreBook,
    *,
    emplace: bool = True,
    append: bool = False,
    source_compatible: bool = False,
) -> dict[str, LoreEntry]:
    """The book with all entries of the other (rules: context-window 9, 17 rows 4 and 7).

    An entry in both is `append`ed to, or replaced with `emplace`, or keeps its value and weight. Links, aliases and
    requirements are united; of a replaced entry the requirements go, and with `source_compatible` all three.
    """
    made = dict(book)
    for key, new in other.items():
        old = made.get(key)
        made[key] = new if old is None else _both(old, new, emplace, append, source_compatible)
    return made


def _both(old: LoreEntry, new: LoreEntry, emplace: bool, append: bool, source_compatible: bool) -> LoreEntry:
    links, aliases = united(old.linked_keys, new.linked_keys), united(old.alias_keys, new.alias_keys)
    if emplace and not append:
        return new if source_compatible else replace(new, linked_keys=links, alias_keys=aliases)
    return replace(
        old,
        value=f"{old.value} {new.value}" if append else old.value,
        linked_keys=links,
        alias_keys=aliases,
        required_keys=united(old.required_keys, new.required_keys),
    )
