"""An entry of World Info as a note, and a note as an entry: the one place that says which field becomes what.

What the form of notes has no place for stands in properties whose names begin with `wi_`, and what World Info has no
place for in `extensions.lorestudio` of the entry; both come out again on the way back. Whether something needs such a
property is not listed but found out: a note is read back as soon as it is made, and what differs is carried.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Collection, Iterator, Mapping
from functools import lru_cache
from typing import Final

from msgspec import Struct
from pydantic.alias_generators import to_camel, to_snake

from lorestudio.domain.entry import ANY_REFINE, EMPTY, MAX_DEPTH, Entry, Position, Role
from lorestudio.domain.javascript import Json, number, to_number, to_string, trim, truthy, whole
from lorestudio.domain.json_text import number_in, object_in, spell, stringified, texts_in
from lorestudio.domain.records import replace
from lorestudio.exchange.json_file import same_value
from lorestudio.exchange.lorebooks.crossing import EntryFate, Fidelity, FieldFate
from lorestudio.exchange.lorebooks.entry import AS_NEW, LOGICS, NEW_ENTRY, OWN, BookPlace, Logic, choice
from lorestudio.exchange.lorebooks.keys import is_plain, words_of
from lorestudio.exchange.lorebooks.note_fields import FOREIGN, INTO_NOTES, KEPT, OUT_OF_NOTES, PLACES, REPLACED
from lorestudio.exchange.problems import InputError
from lorestudio.vault import cleaning, front_matter
from lorestudio.vault.entries import ParseRules, parse_note
from lorestudio.vault.note.document import NoteDocument
from lorestudio.vault.note.spelling import agrees, item_spelling, spellings, why_not
from lorestudio.vault.note.text_edits import apply_edits
from lorestudio.vault.note.three_way_merge import MergePiece, joined, three_way

Raw = Mapping[str, Json]


TOP_ORDER: Final = 1000
"""The order is this less the priority number: what DeepLore takes first is offered to the budget first."""
MESSAGES_PER_GENERATION: Final = 2

PREFIX: Final = "wi_"
UID: Final = "wi_uid"
BOOK: Final = "wi_book"
NEVER: Final = "wi_export"
"""A note that says `wi_export: false` never goes into a lorebook."""
_MISSING: Final = "wi_missing"
_EXTRA: Final = "wi_extra"
_NO_MEMBERS: Final = frozenset({UID, BOOK, NEVER, _MISSING, _EXTRA})
_DEEPLORE: Final = "deeplore"
"""Where an entry carries a note's other properties: `extensions.lorestudio.deeplore`."""

_SHORT: Final = {"secondary": "keysecondary", "logic": "selectiveLogic", "outlet": "outletName"}
_BY_MEMBER: Final = {member: word for word, member in _SHORT.items()}
_FILTER: Final = "characterFilter"
_MEMBERS: Final = (*NEW_ENTRY, _FILTER, "displayIndex")
_MATTERS: Final = frozenset({"order", "position", "selective", "useProbability", "probability"})
"""Without these an entry behaves otherwise than a new one does (rules: sillytavern 5.3)."""
_ABSENT: Final = "\0absent"

_PLACES: Final = {
    BookPlace.BEFORE: "before", BookPlace.AFTER: "after", BookPlace.NOTE_TOP: "in_chat",
    BookPlace.NOTE_BOTTOM: "in_chat", BookPlace.AT_DEPTH: "in_chat", BookPlace.EXAMPLES_TOP: "before",
    BookPlace.EXAMPLES_BOTTOM: "after",
}  # fmt: skip
_NOTE_DEPTH: Final = 4
_BOOK_PLACES: Final = {
    Position.AFTER: BookPlace.AFTER, Position.IN_CHAT: BookPlace.AT_DEPTH, Position.BEFORE: BookPlace.BEFORE,
}  # fmt: skip
_LOGICS: Final = {
    Logic.AND_ANY: ANY_REFINE, Logic.NOT_ALL: "not_all", Logic.NOT_ANY: "not_any", Logic.AND_ALL: "and_all",
}  # fmt: skip
_BY_WORD: Final = {word: logic for logic, word in _LOGICS.items()}

_PARTNERS: Final[Mapping[str, tuple[str, ...]]] = {
    "comment": (), "key": ("keys",), "keysecondary": ("refine_keys", "selective_logic"),
    "selectiveLogic": ("refine_keys", "selective_logic"), "selective": ("refine_keys",), "constant": ("constant",),
    "disable": ("enabled",), "order": ("priority",), "position": ("position", "outlet"), "depth": ("depth",),
    "role": ("role",), "outletName": ("outlet",), "probability": ("probability",), "useProbability": ("probability",),
    "scanDepth": ("scanDepth",), "excludeRecursion": ("excludeRecursion",), "cooldown": ("cooldown",),
}  # fmt: skip
"""The members that properties of DeepLore's say, and by which."""
MAPPED: Final = frozenset({"tags", *(name for names in _PARTNERS.values() for name in names)})


class BookNote(Struct, frozen=True):
    """An entry as a note: its text, and what becomes of its fields."""

    title: str
    properties: Mapping[str, Json]
    body: str
    fate: EntryFate

    @property
    def text(self) -> str:
        """The whole note. Raises ValueError for a property that no note can hold."""
        return _text(self.properties, self.body)


# ---- from an entry to a note ----------------------------------------------------------------------------------------


def note_of(raw: Raw, book: str, rules: ParseRules, uid: Json = None, *, fates: bool = True) -> BookNote:
    """The note of an entry. `uid` is its number where it names none of its own.

    What becomes of its fields is in it where `fates` are wanted.

    Raises InputError for an entry that no note can hold, one that is nested hundreds of levels deep.
    """
    uid = raw.get("uid", uid)
    try:
        note = _note_of(raw, book, rules, uid, fates=fates)
        _text(note.properties, note.body)  # what is carried along is in it by now
    except ValueError as error:
        why = str(error).rstrip(".")
        told = f"the entry {_named(to_string(uid))} fits into no note: {why}. Mend it, or take it out."
        raise InputError(book, told) from error
    return note


def _note_of(raw: Raw, book: str, rules: ParseRules, uid: Json, *, fates: bool) -> BookNote:
    name = to_string(uid)
    title = title_of(raw, name)
    content = raw.get("content")
    body = f"# {title}\n\n{whole(content) if isinstance(content, str) else ''}"
    said: dict[str, Json] = {"tags": [rules.lorebook_tag], **_sayable(_properties(raw, rules))}
    numbered = isinstance(uid, int | float) and math.isfinite(uid)
    said |= {UID: uid if numbered else _named(name), BOOK: _named(book)}
    wanted = meaning(raw)
    said = _with_brought(said, raw, wanted, body, rules)
    unlike = _unlike(raw, wanted, _read_back(said, body, rules))
    for member, value in [*unlike.items()]:
        stated: dict[str, Json] = {property_of(member): _json_line(value) if member == _FILTER else value}
        if _can_say(member, value) and _holds(stated):
            said |= stated
            del unlike[member]
    missing = [member for member, value in unlike.items() if value == _ABSENT]
    if missing:
        said[_MISSING] = missing
    extra = {member: value for member, value in unlike.items() if value != _ABSENT} | _foreign(raw)
    if extra:
        said[_EXTRA] = _json_line(extra)
    found = _fates(raw, wanted, said, body, extra) if fates else ()
    return BookNote(title, said, body, EntryFate(name, title, tuple(found)))


def title_of(raw: Raw, uid: str) -> str:
    """One line that a note can be called: the comment, else the first keys, else the number."""
    named = " ".join(to_string(raw.get("comment") or "").split())
    named = trim(named.replace("[[", "").replace("]]", ""))
    listed = ", ".join(key for key in texts_in(raw.get("key")) if trim(key))
    return whole(named or " ".join(listed[:50].split()) or f"Entry {uid}")


def _properties(raw: Raw, rules: ParseRules) -> dict[str, Json]:
    """What DeepLore's own properties can say of an entry."""
    said: dict[str, Json] = {}
    patterns = texts_in(raw.get("key"))
    keys = [whole(word) for key in patterns for word in ([key] if is_plain(key) else words_of(key)) if trim(word)]
    if keys:
        said["keys"] = keys
    secondary, logic = texts_in(raw.get("keysecondary")), choice(raw.get("selectiveLogic"), LOGICS, Logic.AND_ANY)
    fits = truthy(raw.get("selective")) and (rules.refine_logic or logic in {Logic.AND_ANY, Logic.AND_ALL})
    if secondary and fits:
        said["refine_keys"] = list(secondary)
        if rules.refine_logic and logic is not Logic.AND_ANY:
            said["selective_logic"] = _LOGICS[logic]
    if truthy(raw.get("constant")):
        said["constant"] = True
    if to_number(raw.get("disable")) == 1:
        said["enabled"] = False
    order = number_in(raw.get("order"))
    if order is not None:
        said["priority"] = number(TOP_ORDER - order)
    said |= _placed(raw)
    chance = number_in(raw.get("probability"))
    if truthy(raw.get("useProbability")) and chance != 100:
        said["probability"] = 0 if chance is None else number(min(max(chance, 0), 100) / 100)
    depth = number_in(raw.get("scanDepth"))
    if depth is not None:
        said["scanDepth"] = depth
    if truthy(raw.get("excludeRecursion")):
        said["excludeRecursion"] = True
    cooldown = number_in(raw.get("cooldown"))
    if cooldown is not None and cooldown > 0:
        said["cooldown"] = math.ceil(cooldown / MESSAGES_PER_GENERATION)
    return said


def _placed(raw: Raw) -> dict[str, Json]:
    place = choice(raw.get("position"), BookPlace, None)
    outlet = raw.get("outletName")
    if place is BookPlace.OUTLET and isinstance(outlet, str) and trim(outlet):
        return {"outlet": whole(outlet)}
    if place not in _PLACES:
        return {}
    if place in {BookPlace.NOTE_TOP, BookPlace.NOTE_BOTTOM}:
        return {"position": "in_chat", "depth": _NOTE_DEPTH, "role": "system"}
    if place is not BookPlace.AT_DEPTH:
        return {"position": _PLACES[place]}
    depth, role = number_in(raw.get("depth")), choice(raw.get("role"), Role, Role.SYSTEM)
    return {
        "position": "in_chat",
        **({} if depth is None else {"depth": number(min(max(depth, 0), MAX_DEPTH))}),
        "role": role.name.lower(),
    }


def _with_brought(said: dict[str, Json], raw: Raw, wanted: Raw, body: str, rules: ParseRules) -> dict[str, Json]:
    """With the properties of the note that the entry was, as far as it still says what they say."""
    kept = {name: value for name, value in _kept(raw).items() if not name.startswith(PREFIX)}
    if not kept:
        return said
    kept = {name: value for name, value in kept.items() if value is None or _holds({name: value})}
    if "tags" in kept:
        kept["tags"] = [rules.lorebook_tag, *texts_in(kept["tags"])]
    tried = {name: value for name, value in {**said, **kept}.items() if value is not None}
    unlike = _unlike(raw, wanted, _read_back(tried, body, rules))
    stale = {name for member in unlike for name in _PARTNERS.get(member, ())}
    fresh = {name: value for name, value in kept.items() if name not in stale}
    return {name: value for name, value in {**said, **fresh}.items() if value is not None}


def _kept(raw: Raw) -> Raw:
    found: Json = raw.get("extensions")
    for name in (OWN, _DEEPLORE):
        found = found.get(name) if isinstance(found, Mapping) else None
    return found if isinstance(found, Mapping) else EMPTY


def _foreign(raw: Raw) -> dict[str, Json]:
    """The members that World Info does not know, without those that say what the note was."""
    found = {name: value for name, value in raw.items() if name not in _MEMBERS and name not in {"uid", "extensions"}}
    own = raw.get("extensions")
    if isinstance(own, Mapping) and isinstance(kept := own.get(OWN), Mapping) and _DEEPLORE in kept:
        kept = {name: value for name, value in kept.items() if name != _DEEPLORE}
        own = {name: value for name, value in own.items() if name != OWN} | ({OWN: kept} if kept else {})
        return found | ({"extensions": own} if own else {})
    return found | ({"extensions": own} if "extensions" in raw else {})


def _read_back(said: Raw, body: str, rules: ParseRules) -> Raw:
    """The members of World Info as the note says them. Of its text the heading alone decides on other members."""
    heading = body[: len(body) - len(own_text(body))]
    heading = heading if trim(heading[1:]) else body
    text = _text(said, heading)
    block, below = front_matter.split(text)
    values = front_matter.parse(block or "")
    entry = parse_note(text, "", "", replace(rules, with_disabled=True), values=values)
    if not isinstance(entry, Entry):
        return {}
    entry = replace(entry, content=own_text(below + body[len(heading) :]))
    return _members(text[: len(text) - len(below)], values, entry)


def _unlike(raw: Raw, wanted: Raw, back: Raw) -> dict[str, Json]:
    """The members that a note does not say as the entry does, with the meaning that is `wanted`."""
    found = meaning({**back, "uid": raw.get("uid")})
    return {
        member: value
        for member, value in wanted.items()
        if value is not (other := found[member]) and not same_value(value, other)
    }


def meaning(raw: Raw) -> dict[str, Json]:
    """What an entry says, spelled in one way: members that are not there get the value that has the same effect."""
    said: dict[str, Json] = {}
    for member, usual, alike, plain in _USUAL:
        if member in raw:
            value = raw[member]
            if not alike or value is usual:
                said[member] = value
            elif isinstance(value, _PLAIN):
                said[member] = usual if (value.__class__ is bool, value) in plain else value
            else:
                said[member] = usual if any(same_value(value, other) for other in alike) else value
        else:
            matters = member in _MATTERS or (member == "depth" and raw.get("position") == BookPlace.AT_DEPTH)
            said[member] = _ABSENT if matters else usual
    if said["displayIndex"] is None and "displayIndex" not in raw:
        said["displayIndex"] = raw.get("uid")
    return said


_PLAIN: Final = (str, int, float, type(None))
_USUAL: Final = tuple(
    (member, usual, alike, frozenset((value.__class__ is bool, value) for value in alike if isinstance(value, _PLAIN)))
    for member, usual in ((member, NEW_ENTRY.get(member)) for member in _MEMBERS)
    for alike in (AS_NEW.get(member, (None,) if usual is False else ()),)
)
"""Each member with a new entry's value, the others that mean the same, and those of them that are found by hash."""


def _can_say(member: str, value: Json) -> bool:
    """Whether a property of the member's own can hold the value."""
    if value == _ABSENT or member == "content":
        return False
    if isinstance(value, list | tuple):
        return all(isinstance(item, str) for item in value)
    return member == _FILTER if isinstance(value, Mapping) else True


@lru_cache(1024)
def property_of(member: str) -> str:
    """The property that carries a member of an entry."""
    return PREFIX + (_BY_MEMBER.get(member) or to_snake(member))


_BESIDE_JSON: Final = re.compile("['\x7f-\x9f\u2028\u2029\ufeff\ud800-\udfff\ufffe\uffff]")


def _json_line(value: Json) -> str:
    """JSON on one line that single quotes can stand around."""
    return _BESIDE_JSON.sub(lambda found: f"\\u{ord(found[0]):04x}", stringified(value))


_CONTROLS: Final = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")


def _named(text: str) -> str:
    """The text as a property can name something by it: on one line, controls give way."""
    return _CONTROLS.sub("\ufffd", whole(text))


# ---- from a note to an entry ----------------------------------------------------------------------------------------


_NOTHING: Final = EntryFate("", "")


class NoteEntry(Struct, frozen=True):
    """A note as an entry of World Info, without its number; `left_out` says why it goes into no lorebook.

    `settled` is the note without what other properties of it say in another way now.
    """

    raw: dict[str, Json]
    title: str
    uid: Json = None
    book: str = ""
    left_out: str = ""
    fate: EntryFate = _NOTHING
    settled: str = ""


def entry_of(
    text: str, filename: str, rules: ParseRules, then: str | None = None, *, as_written: bool = False
) -> NoteEntry:
    """The entry that a note says. Its text is cleaned as DeepLore does it, unless the note came from a lorebook.

    `as_written` takes the text as it stands also of others. What `wi_` properties say counts before the others; not
    where the note was `then` another one, and only the others were changed since: the note is `settled` without them.
    """
    values, body = values_of(text)
    entry = parse_note(text, filename, "", replace(rules, with_disabled=True))
    if not isinstance(entry, Entry):
        return NoteEntry({}, filename, left_out=entry.message)
    left_out = ""
    if entry.guide:
        left_out = "It is a guide for the librarian and no lore."
    elif values.get(NEVER) is False:
        left_out = f"It says {NEVER}: false."
    linked = UID in values
    cleaned = _unix(entry.content) if _is_of_windows(text) else entry.content
    content = own_text(body) if linked or as_written else cleaned
    changed = set() if then is None else _changed_members(values, entry.title, body, then)
    stale = {name for name in entry.system_fields if _is_member(name) and member_of(name) in changed}
    fields = {name: value for name, value in entry.system_fields.items() if name not in stale}
    said = replace(entry, content=content, system_fields=fields)
    raw = _members(text[: len(text) - len(front_matter.split(text)[1])], values, said, changed)
    book = values.get(BOOK)
    carried = _carried(values, raw, rules)
    if carried:
        own = object_in(raw, "extensions")
        raw["extensions"] = {**own, OWN: {**object_in(own, OWN), _DEEPLORE: carried}}
    settled, gone = _settled(text, values, changed, stale)
    is_cleaned = trim(content) != trim(own_text(body))
    fates = (*_fates_out(values, entry, raw, carried, cleaned=is_cleaned), *gone)
    uid = values.get(UID)
    fate = EntryFate("" if uid is None else to_string(uid), entry.title, fates, left_out)
    return NoteEntry(raw, entry.title, uid, book if isinstance(book, str) else "", left_out, fate, settled)


def _members(front: str, values: Raw, entry: Entry, changed: Collection[str] = ()) -> dict[str, Json]:
    """What a note says of World Info's members, which were `changed` in others than its `wi_` properties."""
    raw = native_of(entry, disabled=values.get("enabled") is False, present=changed)
    before_import = _DEEPLORE_PLACE.search(front) if "original_st_position" in front else None
    if before_import is not None and property_of("position") not in values and "position" not in changed:
        raw["position"] = int(before_import[1])
    extra = _parsed(values.get(_EXTRA))
    raw |= {name: value for name, value in extra.items() if name not in changed} if isinstance(extra, Mapping) else {}
    return raw


def _settled(
    text: str, values: Raw, changed: Collection[str], stale: Collection[str]
) -> tuple[str, tuple[FieldFate, ...]]:
    """The note without its `stale` properties and what else it says of the `changed` members, and what becomes of them.

    They would count again at the next change, and take back in the book what was changed now.
    """
    said: dict[str, Json] = dict.fromkeys(name for name in values if name in stale)
    gone = tuple(replace(REPLACED, field=name, how=f"{REPLACED.how} {_json_line(values[name])}") for name in said)
    missing, extra = texts_in(values.get(_MISSING)), _parsed(values.get(_EXTRA))
    if any(member in changed for member in missing):
        said[_MISSING] = [member for member in missing if member not in changed] or None
    if isinstance(extra, Mapping) and any(member in changed for member in extra):
        rest = {name: one for name, one in extra.items() if name not in changed}
        said[_EXTRA] = _json_line(rest) if rest else None
    try:
        for name, value in said.items():
            document = NoteDocument(text)
            text = apply_edits(text, [document.remove(name) if value is None else document.set(name, value)])
    except ValueError:  # a note that can be edited by hand only stays as it is
        return text, gone
    place = _DEEPLORE_PLACE.search(text[: NoteDocument(text).body_start]) if "position" in changed else None
    return text if place is None else text[: place.start()] + text[place.end() :].removeprefix("\n"), gone


def _changed_members(values: Raw, title: str, body: str, then: str) -> set[str]:
    """The members that DeepLore's properties say in another way than `then`, while those that begin with `wi_` stay."""
    before, old_body = values_of(then)
    changed = {
        member
        for member, names in _PARTNERS.items()
        if any(not same_value(values.get(name), before.get(name)) for name in names)
    }
    changed |= {"comment"} if cleaning.title(old_body, "") != title else set()
    changed |= {"content"} if own_text(old_body) != own_text(body) else set()
    return {
        member for member in changed if same_value(values.get(property_of(member)), before.get(property_of(member)))
    }


def restored(base: Raw, said: Raw) -> dict[str, Json]:
    """The entry `base` with what a note says of it now: what means the same keeps its spelling, its place, its absence.

    A running effect is found by all members in their order (rules: sillytavern 5.6), so nothing else may change.
    """
    wanted, was = meaning({**said, "uid": base.get("uid")}), meaning(base)
    differs = {member for member in wanted if not same_value(wanted[member], was[member])}
    kept = {name: value for name, value in base.items() if name in said or name == "uid" or name not in differs}
    kept = {name: value for name, value in kept.items() if name in said or name in wanted or name == "uid"}
    for name, value in said.items():
        if name in differs if name in wanted else not same_value(value, base.get(name, _ABSENT)):
            kept[name] = value
    return kept


_DEEPLORE_PLACE: Final = re.compile(r"^# original_st_position:[ \t]*([0-8])[ \t]*\r?$", re.MULTILINE)
"""How DeepLore's own import says where the entry was; its `position` has the first two the wrong way round."""


def native_of(entry: Entry, *, disabled: bool = False, present: Collection[str] = ()) -> dict[str, Json]:
    """A note as an entry of World Info: what DeepLore's properties say, then what `wi_` properties say.

    It has all members of a new entry but those that the note says are missing, and that are not `present` all the same.
    """
    raw: dict[str, Json] = {**NEW_ENTRY, **_native(entry), "disable": disabled}
    raw["addMemo"] = bool(entry.title)
    fields = entry.system_fields
    for name in dict.fromkeys((*(name for name in fields if not name.startswith(PREFIX)), *fields)):
        if _is_member(name):
            member, value = member_of(name), fields[name]
            raw[member] = _parsed(value) if member == _FILTER else list(value) if isinstance(value, tuple) else value
    for member in texts_in(fields.get(_MISSING)):
        if member not in present:
            raw.pop(member, None)
    return raw


_BARE: Final = frozenset(to_snake(member) for member in NEW_ENTRY) | {to_snake(_FILTER), "display_index"}
"""Names under which DeepLore's own import writes members of World Info (rules: deeplore-newer 3.2)."""


def _is_member(name: str) -> bool:
    return name not in _NO_MEMBERS and (name.startswith(PREFIX) or name in _BARE)


@lru_cache(1024)
def member_of(name: str) -> str:
    """The member of an entry that a property says."""
    word = name.removeprefix(PREFIX)
    return _SHORT.get(word) or to_camel(word)


def partners_of(name: str) -> tuple[str, ...]:
    """The properties of DeepLore's that say what a property of World Info says, which counts before them there."""
    return _PARTNERS.get(member_of(name), ()) if _is_member(name) else ()


def _native(entry: Entry) -> Raw:
    at = _BOOK_PLACES.get(Position(entry.position), BookPlace.BEFORE) if entry.position in _BOOK_PLACES else None
    place = BookPlace.OUTLET if entry.outlet is not None else at or BookPlace.BEFORE
    chance = None if entry.probability is None else number(round(100 * entry.probability, 10))
    return {
        "key": list(entry.keys),
        "keysecondary": list(entry.refine_keys),
        "selectiveLogic": int(_BY_WORD.get(entry.selective_logic, Logic.AND_ANY)),
        "comment": entry.title,
        "content": entry.content,
        "constant": entry.constant,
        "order": number(TOP_ORDER - entry.priority),
        "position": int(place),
        "depth": 4 if entry.depth is None else entry.depth,
        "role": 0 if entry.role is None else int(entry.role),
        "outletName": entry.outlet or "",
        "scanDepth": entry.scan_depth,
        "excludeRecursion": entry.exclude_recursion,
        "probability": 100 if chance is None else chance,
        "cooldown": None if entry.cooldown is None else number(MESSAGES_PER_GENERATION * entry.cooldown),
    }


def _carried(values: Raw, raw: Raw, rules: ParseRules) -> dict[str, Json]:
    """What the entry cannot say of the note's properties; None for one that the note does not have."""
    tags = values.get("tags")
    listed = tags if isinstance(tags, list) else [] if tags is None else [tags]
    others = [tag for tag in listed if to_string(tag).lower() != rules.lorebook_tag]
    found = {
        name: value
        for name, value in values.items()
        if name not in MAPPED and not name.startswith(PREFIX) and not (name in _BARE and rules.wi_fields)
    }
    if others:
        found["tags"] = others
    again = _sayable(_properties(raw, rules))
    for name in sorted(MAPPED - {"tags"}):
        if not same_value(values.get(name), again.get(name)):
            found[name] = values.get(name)
    return found


def values_of(text: str) -> tuple[dict[str, Json], str]:
    """The properties of a note as DeepLore reads them, and its body.

    A program that gives the whole file Windows' line ends has changed nothing that the entry says: they are read as
    others.
    """
    values, body = front_matter.read(text)
    return {**values}, _unix(body) if _is_of_windows(text) else body


def _is_of_windows(text: str) -> bool:
    """Whether the lines of a file end as on Windows; an entry's own text may have such ends in any file."""
    return text.partition("\n")[0].endswith("\r")


def _unix(text: str) -> str:
    return text.replace("\r\n", "\n")


_HEADING: Final = re.compile(r"# [^\n]*(?:\n\n?|\Z)")


def own_text(body: str) -> str:
    """The text of a note below the title that it begins with."""
    found = _HEADING.match(body)
    return body if found is None else body[found.end() :]


def _parsed(value: Json) -> Json:
    if not isinstance(value, str):
        return value
    try:
        found: Json = json.loads(value)
    except ValueError:
        return value
    return found


# ---- what becomes of the fields -------------------------------------------------------------------------------------


def _fates(raw: Raw, said_of_all: Raw, said: Raw, body: str, extra: Raw) -> Iterator[FieldFate]:
    beside = {*extra, *texts_in(said.get(_MISSING)), *(member_of(name) for name in said if name.startswith(PREFIX))}
    for member, value in said_of_all.items():
        fits = member not in beside
        usual = raw.get("uid") if member == "displayIndex" else NEW_ENTRY.get(member)
        if value is usual or same_value(value, usual) or (fits and member == "displayIndex"):
            continue
        way = INTO_NOTES[member]
        if member == "content":
            fits = fits and cleaning.clean(body) == trim(own_text(body))
        if member == "position" and (place := choice(value, BookPlace, BookPlace.NOWHERE)) in PLACES:
            yield FieldFate(member, Fidelity.APPROXIMATE, PLACES[place])
        else:
            yield way.fate(fits=fits)
    for member in extra:
        if member not in said_of_all and not (member == "extensions" and _is_ours(extra[member])):
            yield FieldFate(member, Fidelity.CARRIED, FOREIGN)


def _is_ours(extensions: Json) -> bool:
    """Whether nothing is there but what the way through other formats keeps, which was said there."""
    return isinstance(extensions, Mapping) and all(name.startswith(OWN) for name in extensions)


def _fates_out(values: Raw, entry: Entry, raw: Raw, carried: Raw, *, cleaned: bool) -> Iterator[FieldFate]:
    if not (raw.get("key") or entry.constant):
        yield OUT_OF_NOTES["keys"].fate(fits=False)
    for name in values:
        if name in OUT_OF_NOTES and (name != "tags" or name in carried):
            way = OUT_OF_NOTES[name]
            fits = name in MAPPED and name != "tags"
            if name == "position" and (entry.position == Position.IN_CHAT or UID in values):
                way = replace(way, plain=(Fidelity.EXACT, ""))
            yield way.fate(fits=fits)
        elif name in carried:
            yield replace(KEPT, field=name).fate(fits=False)
    if cleaned:
        yield OUT_OF_NOTES["text"].fate(fits=False)


# ---- as a text ------------------------------------------------------------------------------------------------------


def _text(properties: Raw, body: str) -> str:
    """Raises ValueError."""
    return "---\n" + "".join(_line(name, value) for name, value in properties.items()) + f"---\n{body}"


def _line(name: str, value: Json) -> str:
    """A property as DeepLore and YAML read it alike. Raises ValueError where no spelling is, or no file can hold it."""
    if isinstance(value, list | tuple):
        try:
            "".join(value).encode()
        except (TypeError, UnicodeEncodeError):
            spell(value).encode()  # says what it is
        items = [item_spelling(item) if isinstance(item, str) else None for item in value]
        if None in items:
            raise ValueError(why_not(name, list(value)))
        return f"{name}:{''.join(f'{chr(10)}  - {item}' for item in items) if items else ' []'}\n"
    if isinstance(value, Mapping):
        raise ValueError(why_not(name, value))  # noqa: TRY004  # as for every value that no property holds
    return _plain_line(name, value, repr(value))


@lru_cache(8192)
def _plain_line(name: str, value: Json, _spelled: str) -> str:
    """The line of a text, number, true, false or null, which `_spelled` tells apart from its equals."""
    spell(value).encode()
    quote = "'" if name in {_EXTRA, property_of(_FILTER)} else ""
    for spelling in spellings(value, quote):
        if agrees(line := f"{name}: {spelling}\n", name, value):
            return line
    raise ValueError(why_not(name, value))


def _holds(properties: Raw) -> bool:
    """Whether the properties can be written."""
    try:
        _text(properties, "")
    except ValueError:
        return False
    return True


def _sayable(properties: Raw) -> dict[str, Json]:
    """The properties without what no note can hold."""
    said: dict[str, Json] = {}
    for name, value in properties.items():
        if isinstance(value, list):
            items = [item for item in value if isinstance(item, str) and item_spelling(item) is not None]
            said |= {name: items} if items else {}
        elif _holds({name: value}):
            said[name] = value
    return said


# ---- an existing note gets another entry ----------------------------------------------------------------------------


def changed_note(
    text: str, before: BookNote, after: BookNote, *, decided: bool = False
) -> tuple[str, tuple[MergePiece, ...]]:
    """The text of a note that said `before`, saying `after`: only the properties and lines that differ change.

    With the pieces of the text that both changed; the note keeps its own there, unless it was `decided` that `after` is
    right. Raises ValueError where a property cannot be changed.
    """
    for name in dict.fromkeys((*before.properties, *after.properties)):
        old, new = before.properties.get(name), after.properties.get(name)
        if same_value(old, new):
            continue
        document = NoteDocument(text)
        if name in after.properties:
            text = apply_edits(text, [document.set(name, new)])
        elif document.find(name) is not None:
            text = apply_edits(text, [document.remove(name)])
    if before.body == after.body:
        return text, ()
    document, of_windows = NoteDocument(text), _is_of_windows(text)
    was, mine, wanted = before.body, document.body, after.body
    if of_windows:
        was, mine, wanted = map(_unix, (was, mine, wanted))
    tail = "" if was.endswith("\n") else mine[len(mine.rstrip("\n")) :]  # as editors end a file
    pieces = three_way(was, mine.removesuffix(tail), wanted)
    open_ones = {place: piece for place, piece in enumerate(pieces) if piece.merged is None}
    taken = {place: piece.theirs if decided else piece.mine for place, piece in open_ones.items()}
    body = joined(pieces, taken) + tail
    changed = text[: document.body_start] + (body.replace("\n", "\r\n") if of_windows else body)
    return changed, () if decided else tuple(open_ones.values())
