"""What a person should look at in entries of lorebooks, by World Info's own fields (rules: sillytavern 5.3, 5.6).

What keys and texts have in common with those of notes is left to the checks of these. Entries that are switched off
take no part.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Final

from msgspec import Struct

from lorestudio.domain.entry import Entry, NoteKey
from lorestudio.domain.javascript import Json, length, number_text, to_number, trim, truthy
from lorestudio.domain.lifecycle import heeding
from lorestudio.domain.records import replace
from lorestudio.domain.tokens import TokenCounter
from lorestudio.exchange.lorebooks.entry import (
    DEFAULT_DEPTH,
    DEFAULT_WEIGHT,
    BookEntry,
    BookPlace,
    Logic,
    are_keys,
    changed_entry,
    native_entry,
)
from lorestudio.exchange.lorebooks.keys import KeyMatching, broken_patterns, inner_slash, looks_like_pattern
from lorestudio.settings.worldinfo import WorldInfoSettings
from lorestudio.systems.macros import has_macros
from lorestudio.systems.worldinfo.decision import title_of
from lorestudio.vault.lint.keyforms import SEARCHED, KeyRules
from lorestudio.vault.lint.model import NAMED, CheckedBooks, CheckedEntry, FixSpec, Hit, quoted

_NAMES: Final = {"keys": "key", "refine_keys": "keysecondary", "body": "content"}
"""The fields of a note that an entry has under other names."""


class Listed(Struct, frozen=True, gc=False):  # no part of a cycle, and there are thousands of them
    """An entry as it is scanned, as it stands in its file, and as the index has it."""

    entry: BookEntry
    raw: Mapping[str, Json]
    note: Entry

    @property
    def key(self) -> NoteKey:
        """Its book and its number there."""
        return self.note.note_key


def checked_books(
    settings: WorldInfoSettings,
    listed: Sequence[Listed],
    budget: int,
    counter: TokenCounter,
    on_progress: Callable[[int, int], None] | None = None,
) -> CheckedBooks:
    """The entries that are on, and what is to be said of their fields. `budget` is that of the scan, in tokens.

    `on_progress` gets how many entries were looked at, and of how many.

    Raises Cancelled.
    """
    on = [*_told_apart(each for each in heeding(listed) if not each.entry.disabled)]
    about = "" if counter.exact else "≈ "
    more: dict[NoteKey, list[Hit]] = defaultdict(list)
    for key, hit in (*_alike(on), *_groups(on), *_beyond(on, budget, about)):
        more[key].append(hit)
    # Not the entries themselves: those of a hundred thousand would be there twice for as long as the checks go on.
    known = {each.key: (each.raw, each.entry.name, each.note) for each in heeding(on)}

    def read(key: NoteKey, text: str) -> CheckedEntry | None:
        before, name, note = known[key]
        try:
            raw = changed_entry(before, text)
        except ValueError:
            return None
        entry = native_entry(raw, name)
        note = replace(note, title=title_of(entry), content=entry.content, content_hash=entry.digest)
        return _note(Listed(entry, raw, note), settings, ())

    notes: dict[NoteKey, CheckedEntry] = {}
    for done, each in enumerate(heeding(on)):
        if on_progress is not None and done % 64 == 0:
            on_progress(done, len(on))
        notes[each.key] = _note(each, settings, more.get(each.key, ()))
    return CheckedBooks(notes, read, _NAMES, tuple(_constants(on, budget, about)))


def _told_apart(listed: Iterable[Listed]) -> Iterator[Listed]:
    """Entries of one number with a number behind it, so that each of them is looked at."""
    seen = Counter[NoteKey]()
    for each in listed:
        seen[each.key] += 1
        again = f"{each.note.filename} ({seen[each.key]})"
        yield each if seen[each.key] == 1 else replace(each, note=replace(each.note, filename=again))


def _note(each: Listed, settings: WorldInfoSettings, more: Iterable[Hit]) -> CheckedEntry:
    entry = each.entry
    ways = KeyMatching.of(entry, case_sensitive=settings.case_sensitive, whole_words=settings.match_whole_words)
    keys, secondary = _plain(entry.keys), _plain(entry.secondary) if entry.selective else ()
    as_it_is = (keys, secondary) == (each.note.keys, each.note.refine_keys)  # so are most of a hundred thousand
    note = each.note if as_it_is else replace(each.note, keys=keys, refine_keys=secondary)
    rules = _key_rules(ways.case_sensitive, ways.whole_words, bool(entry.groups))  # scores in groups count keys
    return CheckedEntry(note, rules, (*_waking(each, settings), *_keys(each), *_chances(each), *_placing(each), *more))


_key_rules: Final = cache(KeyRules)
"""There are eight of them, and thousands of entries."""


def _plain(keys: Iterable[str]) -> tuple[str, ...]:
    """The keys that are looked for as the texts that they are."""
    sought = (trim(key) for key in keys)
    return tuple(
        key for key in sought if key and length(key) <= SEARCHED and not looks_like_pattern(key) and not has_macros(key)
    )


def _needs_no_key(entry: BookEntry) -> bool:
    return entry.constant or entry.activates


# ---- single entries -------------------------------------------------------------------------------------------------


def _waking(each: Listed, settings: WorldInfoSettings) -> Iterator[Hit]:
    """W51 to W54: entries that nothing brings in."""
    entry, title = each.entry, each.note.title
    if not any(entry.keys) and not _needs_no_key(entry) and not entry.never_activates:
        if not entry.vectorized and not (settings.vectors and settings.vectors_for_all):
            yield Hit("W51", f"“{title}” has no keys, so no text can wake it.", "key")
        elif not settings.vectors:
            told = f"“{title}” has no keys and waits for “Entries by similarity”, which is off."
            yield Hit("W52", told, "vectorized")
    if entry.recursion_level is not None:
        told = f"“{title}” waits for recursion"
        if entry.exclude_recursion and settings.recursive:
            yield Hit("W53", f"{told} and is not found by recursion, so it never comes in.", "delayUntilRecursion")
        elif settings.max_recursion_steps == 1:
            yield Hit("W53", f"{told}, and one scan is all there is (“Most scans”).", "delayUntilRecursion")
    if entry.looks_nowhere and any(entry.keys) and not _needs_no_key(entry):
        told = f"“{title}” has the scan depth {number_text(entry.scan_depth or 0)}: nothing is searched for its keys."
        yield Hit("W54", told, "scanDepth")


def _keys(each: Listed) -> Iterator[Hit]:
    """W55 to W59: keys that mean something else than they seem to."""
    entry, raw, title = each.entry, each.raw, each.note.title
    if any(key and not trim(key) for key in entry.keys) and not _needs_no_key(entry):
        kept = tuple(key for key in entry.keys if trim(key))
        fix = FixSpec("Remove the blank key", "set" if kept else "remove", "key", kept, safe=False)
        yield Hit("W55", f"“{title}” has a key of blanks, which is found in every text.", "key", fix=fix)
    for field, keys in (("key", entry.keys), ("keysecondary", entry.secondary)):
        broken = dict(broken_patterns(keys))
        slashed = [trim(key) for key in keys if inner_slash(key)]
        for key, problem in (broken | dict.fromkeys(slashed, "a slash inside has to be written \\/")).items():
            yield Hit("W56", f"The key “{key}” is no pattern that can be used: {problem}.", field, key)
        written = raw.get(field)
        if written is not None and not are_keys(written):
            yield Hit("W57", f"{field} of “{title}” is no list of texts; what is no text is no key.", field)
    if not any(map(trim, entry.secondary)) or entry.constant:
        return
    if not entry.selective:
        fix = FixSpec("Let the secondary keys count", "set", "selective", True, safe=False)
        yield Hit("W58", f"“{title}” has secondary keys, and “selective” is off: they are not looked at.", "selective",
                  fix=fix)  # fmt: skip
    elif entry.logic is Logic.UNKNOWN:
        yield Hit("W59", f"“{title}” has secondary keys and a logic that there is not, so it never comes in.",
                  "selectiveLogic")  # fmt: skip


def _chances(each: Listed) -> Iterator[Hit]:
    """W60 to W63: lots that are never won, or never drawn."""
    entry, raw, title = each.entry, each.raw, each.note.title
    if entry.probability is not None and entry.probability <= 0:
        yield Hit("W60", f"“{title}” has the probability 0, so it never comes in.", "probability")
    chance = to_number(raw["probability"]) if "probability" in raw else 100
    if chance != 100 and not truthy(raw.get("useProbability")):
        fix = FixSpec("Draw the lot", "set", "useProbability", True, safe=False)
        yield Hit("W61", f"“{title}” has the probability {number_text(chance)}, and no lot is drawn for it.",
                  "probability", fix=fix)  # fmt: skip
    weight = to_number(entry.group_weight)
    if entry.groups:
        if weight <= 0 and not entry.group_override:
            yield Hit("W62", f"“{title}” has the weight {number_text(weight)} in its inclusion group.", "groupWeight")
        return
    for field, said in (
        ("groupWeight", weight != DEFAULT_WEIGHT),
        ("groupOverride", entry.group_override),
        ("useGroupScoring", entry.group_scoring),
    ):
        if said:
            yield Hit("W63", f"“{title}” is in no inclusion group, so its {field} has no effect.", field)


_SPOILING: Final = {"content": "scans nothing then, of any book", "group": "fails where the entry comes in"}
"""What a value that is no text does in these fields."""


def _placing(each: Listed) -> Iterator[Hit]:
    """W64 to W67: texts that stand nowhere, or spoil the scan."""
    entry, raw, title = each.entry, each.raw, each.note.title
    spoilt = [field for field in _SPOILING if truthy(raw.get(field)) and not isinstance(raw[field], str)]
    for field in spoilt:
        yield Hit("W64", f"“{field}” of “{title}” is no text: SillyTavern {_SPOILING[field]}.", field)
    if not trim(entry.content) and not truthy(raw.get("automationId")) and "content" not in spoilt:
        yield Hit("W65", f"“{title}” has no text.", "content")
    if entry.place is BookPlace.NOWHERE:
        yield Hit("W66", f"“{title}” has a position, depth or role that World Info does not know.", "position")
    elif entry.place is BookPlace.OUTLET and not entry.outlet:
        yield Hit("W66", f"“{title}” goes into an outlet, and none is named.", "outletName")
    elif entry.place is not BookPlace.AT_DEPTH:
        for field, said in (("depth", entry.depth != DEFAULT_DEPTH), ("role", entry.role != 0)):
            if said:
                yield Hit("W67", f"“{title}” does not stand in the chat, so its {field} has no effect.", field)


# ---- entries together -----------------------------------------------------------------------------------------------


def _alike(on: Sequence[Listed]) -> Iterator[tuple[NoteKey, Hit]]:
    """W68 to W70: numbers, texts and names that several have."""
    numbers: dict[str, list[Listed]] = defaultdict(list)
    texts: dict[str, list[Listed]] = defaultdict(list)
    names: dict[str, list[Listed]] = defaultdict(list)
    for each in heeding(on):
        numbers[f"{each.note.vault}.{each.raw.get('uid')}"].append(each)
        texts[trim(each.entry.content)].append(each)
        names[trim(each.entry.comment).lower()].append(each)
    for several in heeding(numbers.values()):
        for each in several if len(several) > 1 else ():
            title = f"“{each.note.title}”"
            told = f"no number, {title} among them" if each.entry.unnumbered else f"the number of {title}"
            yield each.key, Hit("W68", f"{len(several)} entries of “{each.note.vault}” have {told}.")
    for code, field, said, found in (("W69", "content", "text", texts), ("W70", "comment", "name", names)):
        for text, several in heeding(found.items()):
            named = Counter(each.note.title for each in several if each.entry.comment)
            titles = [each.note.title if named[each.note.title] == 1 else each.note.filename for each in several]
            first = titles[: NAMED + 1]
            for place, each in enumerate(several if text and len(several) > 1 else ()):
                others = quoted(first[:place] + first[place + 1 :], amount=len(titles) - 1)
                yield each.key, Hit(code, f"The {said} of “{each.note.title}” is also that of {others}.", field)


def _groups(on: Sequence[Listed]) -> Iterator[tuple[NoteKey, Hit]]:
    """W71: inclusion groups of one."""
    members = Counter(name for each in heeding(on) for name in dict.fromkeys(each.entry.groups))
    for each in heeding(on):
        alone = [name for name in each.entry.groups if members[name] == 1]
        if alone:
            told = f"“{each.note.title}” is alone in the inclusion group {quoted(alone)}."
            yield each.key, Hit("W71", told, "group", alone[0])


def _beyond(on: Sequence[Listed], budget: int, about: str) -> Iterator[tuple[NoteKey, Hit]]:
    """W72: entries that no budget can hold."""
    for each in heeding(on):
        if each.note.tokens >= budget and not each.entry.ignores_budget:
            told = f"“{each.note.title}” has {about}{each.note.tokens:,} tokens; the whole budget has {budget:,}."
            yield each.key, Hit("W72", told, "content")


def _constants(on: Sequence[Listed], budget: int, about: str) -> Iterator[Hit]:
    """W73: constants that leave no room."""
    constants = [each for each in on if each.entry.constant and not each.entry.ignores_budget]
    tokens = sum(each.note.tokens for each in constants)
    if len(constants) > 1 and tokens >= budget:
        yield Hit("W73", f"The {len(constants)} constants have {about}{tokens:,} tokens; the budget is {budget:,}.")
