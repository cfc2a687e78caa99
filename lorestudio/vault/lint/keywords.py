"""Keys that find too much, too little, or nothing (rules: deeplore 3.4; deeplore-tools 3.3; sillytavern 5.6)."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterator
from functools import partial
from typing import Final

from lorestudio.domain.javascript import length, trim
from lorestudio.domain.json_text import texts_in
from lorestudio.vault.lint import keyforms
from lorestudio.vault.lint.facts import VaultFacts
from lorestudio.vault.lint.keyforms import KeyRules, covers, key_form
from lorestudio.vault.lint.model import FixSpec, Hit, Note, Rules

_CURLY: Final = frozenset("\u2018\u2019\u201c\u201d")
MANY_KEYS: Final = 200
"""Keys of one entry are compared with each other up to so many; the comparison takes the square of their number."""


def broad_keys(note: Note, rules: Rules) -> Iterator[Hit]:
    """K01, K51: keys that are found by chance, or everywhere."""
    entry, searched = note.entry, rules.keys_of(note.entry)
    if entry.guide:
        return
    for key in searched.plain(note.keys):
        if keyforms.is_short(key):
            yield Hit("K01", f"The key “{key}” is short and likely to be found by chance.", "keys", key)
        punctuation = keyforms.is_punctuation(key) and not searched.match_whole_words
        if punctuation or keyforms.is_single_sign(key):
            yield Hit("K51", f"The key “{key}” is found in nearly every message.", "keys", key)


def idle_keys(note: Note, rules: Rules) -> Iterator[Hit]:
    """K52, K53, K61: keys that add nothing."""
    entry, searched = note.entry, rules.keys_of(note.entry)
    keys = entry.keys
    if not all(map(trim, keys)):
        fix = _keys(note, lambda key: [key] if trim(key) else [], "Remove the empty key")
        yield Hit("K61", f"“{entry.title}” has an empty key.", "keys", fix=fix)
    if len(keys) > MANY_KEYS:
        return
    seen: dict[keyforms.KeyForm, str] = {}
    for key in searched.plain(entry.keys):
        form = key_form(key, searched)
        first = seen.setdefault(form, key)
        if first is key:
            continue
        # Where the copy counts, removing it would change when the entry comes in.
        fix = None if searched.counted else _without_copies(note, searched)
        told = f"The key “{key}” stands there twice" + (f" (as “{first}” too)" if first != key else "")
        yield Hit("K52", f"{told}.", "keys", key, fix=fix)
    swallowed = [
        (written, short)
        for long, written in seen.items()
        if (short := next((other for form, other in seen.items() if covers(form, long)), None)) is not None
    ]
    if swallowed:
        parts = [f"“{short}” wherever “{written}” is" for written, short in swallowed]
        rest = f", and {len(parts) - 3} more of the kind" if len(parts) > 3 else ""
        yield Hit("K53", f"Found anyway: {'; '.join(parts[:3])}{rest}.", "keys", swallowed[0][0])


def mistyped_keys(note: Note, rules: Rules) -> Iterator[Hit]:
    """K55, K56, K58, K59, K60, K63: keys that are written as no chat writes them."""
    entry, searched = note.entry, rules.keys_of(note.entry)
    for name, keys in (("keys", note.keys), ("refine_keys", tuple(dict.fromkeys(entry.refine_keys)))):
        for key in keys:
            if not searched.patterns and keyforms.is_pattern(key):
                yield Hit("K55", f"The key “{key}” is no pattern here; its slashes are searched too.", name, key)
            if not key.isprintable() and (found := tuple(dict.fromkeys(keyforms.unseen(key)))):
                fix = _keys(note, _one(key, keyforms.seen), "Replace the invisible sign") if name == "keys" else None
                yield Hit("K59", f"The key “{key}” has an invisible sign: {', '.join(found)}.", name, key, fix=fix)
            if searched.case_sensitive and unicodedata.normalize("NFC", key) != key:
                mended = _one(key, partial(unicodedata.normalize, "NFC"))
                fix = _keys(note, mended, "Compose the letters") if name == "keys" else None
                yield Hit("K58", f"The key “{key}” has decomposed letters.", name, key, fix=fix)
            if not (key.isascii() or _CURLY.isdisjoint(key)):
                yield Hit("K63", f"The key “{key}” has curly quotes.", name, key)
    for key in note.keys:
        if trim(key) != key and not searched.patterns:
            fix = _keys(note, _one(key, trim), "Remove the blanks around it")
            yield Hit("K56", f"The key “{key}” begins or ends with a blank, which has to be found too.", "keys",
                      trim(key), fix=fix)  # fmt: skip
        if length(key) > keyforms.SEARCHED:
            told = f"The key “{key[:40]}…” has {length(key)} characters; {keyforms.SEARCHED} are searched."
            yield Hit("K60", told, "keys", key[:40])


def word_boundaries(note: Note, rules: Rules) -> Iterator[Hit]:
    """K57, K62: what whole words does to keys that are not plain words (users W14, W15).

    Of a lorebook, where whole words are usual, keys of several words are not told.
    """
    entry, searched, of_book = note.entry, rules.keys_of(note.entry), note.note_key in rules.of_books
    if not searched.match_whole_words or entry.guide:
        return
    for name, keys in (("keys", note.keys), ("refine_keys", tuple(dict.fromkeys(entry.refine_keys)))):
        for key in searched.plain(keys):
            if of_book and " " in key:
                continue
            if keyforms.breaks_words(key):
                yield Hit("K57", f"The key “{key}” is also found inside longer words.", name, trim(key))
            elif keyforms.clings(key) or keyforms.is_punctuation(key):
                yield Hit("K62", f"The key “{key}” is not found next to a letter or digit.", name, key)


def shared_keys(note: Note, facts: VaultFacts) -> Iterator[Hit]:
    """K02, K54: keys that other entries have, or have as part of theirs."""
    entry = note.entry
    if entry.guide:
        return
    searched = facts.rules.keys_of(entry)
    for key in note.keys:
        if titles := facts.sharers(note.note_key, key):
            yield Hit("K02", f"The key “{key}” is also on {titles}.", "keys", key)
        if entry.refine_keys:
            continue  # the key alone does not wake it
        titles, longer = facts.longer(note.note_key, key_form(key, searched))
        if titles:
            whole = f"“{longer}”, a key" if longer else "keys"
            yield Hit("K54", f"The key “{key}” is part of {whole} of {titles}.", "keys", key)


def _one(key: str, change: Callable[[str], str]) -> Callable[[str], list[str]]:
    return lambda other: [change(other)] if other == key else [other]


def _keys(note: Note, change: Callable[[str], list[str]], what: str) -> FixSpec | None:
    """The list of keys with each replaced by what `change` gives; a lorebook has others than plain ones, too."""
    name = note.written("keys")
    written = note.document.find(name) if note.names and note.document is not None else None
    before = note.entry.keys if written is None else texts_in(written.value)
    keys = tuple(new for key in before for new in change(key))
    return FixSpec(what, "set", name, keys) if keys else FixSpec(what, "remove", name)


def _without_copies(note: Note, rules: KeyRules) -> FixSpec | None:
    seen: set[keyforms.KeyForm] = set()

    def keep(key: str) -> list[str]:
        form = key_form(trim(key) if rules.patterns else key, rules)
        if form in seen:
            return []
        seen.add(form)
        return [key]

    return _keys(note, keep, "Remove the copies")
