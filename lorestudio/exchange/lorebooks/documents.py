"""Books inside JSON documents: where they lie, read into World Info entries, and written again into the same document.

Everything around the entries stays as it was, down to the spelling of numbers (rules: lorebooks 2).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain, count, takewhile
from pathlib import Path
from typing import Final

from msgspec import Struct

from lorestudio.domain.javascript import Json, to_string
from lorestudio.domain.json_text import mapping_in, text_in
from lorestudio.domain.records import Terse, replace
from lorestudio.exchange.json_file import changed_bytes, changed_text, same_value
from lorestudio.exchange.lorebooks.crossing import (
    EntryFate,
    EntryForm,
    LoreReport,
    Raw,
    effective,
    from_world_info,
    into_world_info,
    number,
    title_of,
    told_once,
)
from lorestudio.exchange.lorebooks.notes import restored
from lorestudio.exchange.problems import InputError
from lorestudio.trace.wording import plural

WORLD_INFO_TITLE: Final = "World Info"


class Lore(Terse, frozen=True):
    """A file of lore as World Info entries.

    `form` names the format (`formats.FORMATS`). Each entry has its `uid`; `folders` has the uids, as text, of those
    that lie in a folder, category or group of the file, and its name. `report` says what becomes of every field.
    `placed` has the uids, as text, that are no more than places in the file: they change as soon as entries move there.
    """

    unprinted = ("entries", "report", "folders")

    form: str
    name: str
    entries: tuple[Raw, ...]
    report: LoreReport
    folders: Mapping[str, str] = {}
    placed: frozenset[str] = frozenset()


class Written(Terse, frozen=True):
    """The bytes of a file of lore, and what became of every field on the way.

    `uids` are those, as text, that its entries went out with, in the order in which they stand there.
    """

    unprinted = ("data", "report")

    data: bytes
    report: LoreReport
    uids: tuple[str, ...] = ()


class Found(Struct, frozen=True):
    """Where a document has its book. `path` leads to the entries, a list or an object; () where they are all of it.

    `form` is None for World Info's own entries. `name` is the book's own, "" without one. What is no entry
    (`is_lore`) stays in its place. `around` is given the object that has the entries, as it was and as it will be, and
    gives the latter with what else depends on them.
    """

    path: tuple[str, ...]
    form: EntryForm | None
    name: str = ""
    is_lore: Callable[[Raw], bool] = lambda _raw: True
    folder: Callable[[Raw], str] = lambda _raw: ""
    around: Callable[[Raw, Raw], Raw] = lambda _before, after: after
    remarks: tuple[str, ...] = ()


class _Slot(Struct, frozen=True):
    """A place in the list: the entry there, its key where the list is an object, and its uid, None for no entry.

    `placed`: the uid is not the entry's own.
    """

    key: str
    raw: Raw
    uid: Json = None
    placed: bool = False


def read_book(document: Json, found: Found, form: str, title: str, name: str, source: Path | str) -> Lore:
    """The book that was found in a document. Raises InputError naming the field that is wrong."""
    entries: list[Raw] = []
    fates: list[EntryFate] = []
    folders: dict[str, str] = {}
    placed: set[str] = set()
    lore_before = 0
    for slot in _slots(document, found, source):
        if slot.uid is None:
            fates.append(EntryFate("", _any_title(slot.raw), left_out="it is no entry; it stays in the file"))
            continue
        if found.form is None:
            entry: Raw = (
                slot.raw if to_string(slot.raw.get("uid")) == to_string(slot.uid) else {**slot.raw, "uid": slot.uid}
            )
            fate = EntryFate(to_string(slot.uid), title_of(entry))
        else:
            entry, fate = into_world_info(found.form, slot.raw, slot.uid, lore_before)
        lore_before += 1
        entries.append(entry)
        fates.append(fate)
        if slot.placed:
            placed.add(to_string(slot.uid))
        if folder := found.folder(slot.raw):
            folders[to_string(slot.uid)] = folder
    report = LoreReport(title, WORLD_INFO_TITLE, tuple(fates), told_once(found.remarks))
    return Lore(form, found.name or name, tuple(entries), report, folders, frozenset(placed))


def write_book(
    text: str,
    document: Json,
    found: Found,
    title: str,
    entries: Sequence[Raw],
    source: Path | str,
    called: Mapping[str, str],
) -> tuple[bytes, LoreReport, tuple[str, ...]]:
    """The bytes of the document with these entries in the place of its own, the report, and their uids as they stand.

    An entry with the uid of one that stands there takes its place; the others follow, in their order. `called` as in
    `formats.write_lore`. Raises InputError.
    """
    slots = list(_slots(document, found, source)) if part_at(document, found.path) is not None else []
    slots = [replace(slot, uid=called.get(to_string(slot.uid), slot.uid)) for slot in slots]
    stood = {to_string(slot.uid): slot.raw for slot in slots if slot.uid is not None}
    made: dict[str, Raw] = {}
    fates: list[EntryFate] = []
    ranked = found.form is not None and found.form.ranked
    for place, entry in enumerate(sorted(entries, key=_rank) if ranked else entries):
        if found.form is None:
            fates.append(EntryFate(to_string(entry.get("uid")), title_of(entry)))
            made[to_string(entry.get("uid"))] = entry
        else:
            uid = to_string(entry.get("uid"))
            made[uid], fate = from_world_info(found.form, entry, stood.get(uid), place)
            fates.append(fate)
    listed = part_at(document, found.path)
    if found.form is None:
        made |= {uid: _as_it_stood(stood[uid], entry) for uid, entry in made.items() if uid in stood}
    new = _listed(slots, made, ranked=ranked)
    now: Json = [raw for _key, raw, _uid in new]
    if isinstance(listed, Mapping):
        now = {key: raw for key, raw, _uid in new}
        if ranked:  # members keep their places in a text, and new ones come last: those that move are taken out first
            pairs = zip((key for key in listed if key in now), now, strict=False)
            still = {key: listed[key] for key, _other in takewhile(lambda pair: pair[0] == pair[1], pairs)}
            text = changed_text(text, _with(document, found.path, still, lambda _before, after: after))
    wanted = _with(document, found.path, now, found.around)
    report = LoreReport(WORLD_INFO_TITLE, title, tuple(fates), tuple(_too_long(found.form, title, entries)))
    return changed_bytes(text, wanted), report, tuple(uid for _key, _raw, uid in new if uid is not None)


def _too_long(form: EntryForm | None, title: str, entries: Sequence[Raw]) -> Iterator[str]:
    most = form.longest if form is not None else 0
    amount = sum(len(text_in(entry.get("content"))) > most for entry in entries) if most else 0
    if amount:
        yield f"{plural(amount, '# entry has|# entries have')} more than {most:,} characters, which {title} may refuse."


def _rank(entry: Raw) -> float:
    order = number(effective(entry, "order"))
    return 0 if order is None else -order


def _listed(slots: Sequence[_Slot], made: Mapping[str, Raw], *, ranked: bool) -> list[tuple[str, Raw, str | None]]:
    """What stands in the list then: the keys it has where the list is an object, and the uids, None of no entry."""
    kept = {to_string(slot.uid): slot for slot in slots if slot.uid is not None}
    used = {slot.key for slot in slots}
    places: list[tuple[str, Raw, str | None]] = []
    if not ranked:
        for slot in slots:
            if slot.uid is None:
                places.append((slot.key, slot.raw, None))
            elif to_string(slot.uid) in made:
                places.append((slot.key, made[to_string(slot.uid)], to_string(slot.uid)))
    for uid, raw in made.items():
        if ranked or uid not in kept:
            free = chain([uid], (f"{uid}-{more}" for more in count(1)))
            key = kept[uid].key if uid in kept else next(key for key in free if key not in used)
            used.add(key)
            places.append((key, raw, uid))
    return places


_OTHER_SPELLING: Final = {
    "key": "keys", "keysecondary": "secondary_keys", "comment": "name", "order": "insertion_order", "uid": "id",
}  # fmt: skip
"""The fields that books of Chub's have twice, and their other names there."""


def _as_it_stood(before: Raw, entry: Raw) -> Raw:
    """The World Info entry with what stood in its place, where that means the same, and each second spelling."""
    if same_value(before, entry):
        return before
    entry = restored(before, {name: value for name, value in entry.items() if name != "uid"})
    if "key" not in before or "keys" not in before:
        return entry
    changed = [name for name in _OTHER_SPELLING if not same_value(before.get(name), entry.get(name))]
    other = {_OTHER_SPELLING[name]: entry.get(name) for name in changed if _OTHER_SPELLING[name] in entry}
    if "enabled" in entry and not same_value(before.get("disable"), entry.get("disable")):
        other["enabled"] = entry.get("disable") is not True
    return {**entry, **other}


def _slots(document: Json, found: Found, source: Path | str) -> Iterator[_Slot]:
    listed = part_at(document, found.path)
    where = ".".join(found.path)
    if isinstance(listed, Mapping):
        items = [(key, raw) for key, raw in listed.items()]
    elif isinstance(listed, list | tuple):
        items = [(str(place), raw) for place, raw in enumerate(listed)]
    else:
        raise InputError(
            source, "the list of entries is expected here. Export the book again.", field=where or "entries"
        )
    taken: set[str] = set()
    for place, (key, raw) in enumerate(items):
        if not isinstance(raw, Mapping):
            at = f"{where}.{key}" if where else key
            raise InputError(source, "an entry is an object, and this is none. Take it out of the file.", field=at)
        if not found.is_lore(raw):
            yield _Slot(key, raw)
            continue
        own = _own_uid(raw, key if isinstance(listed, Mapping) else None, found)
        uid = _free(place if own is None else own, place, taken)
        taken.add(to_string(uid))
        yield _Slot(key, raw, uid, placed=own is None or uid != own)


def _own_uid(raw: Raw, key: str | None, found: Found) -> Json:
    """The uid that an entry has itself, or by its key where World Info's is an object; None for none."""
    if found.form is None:
        return raw.get("uid", key)
    own = raw.get("id") if any(link.ours == "uid" for link in found.form.links) else None
    return own if (isinstance(own, int) and not isinstance(own, bool)) or (isinstance(own, str) and own) else None


def _free(uid: Json, place: int, taken: set[str]) -> Json:
    """The uid, or one that no entry before has."""
    if to_string(uid) not in taken:
        return uid
    return next(each for each in range(place, place + len(taken) + 1) if to_string(each) not in taken)


def _any_title(raw: Raw) -> str:
    return next((value for name in ("comment", "name", "title") if isinstance(value := raw.get(name), str)), "")


def part_at(document: Json, path: Sequence[str]) -> Json:
    """What stands at the end of these names, None where there is nothing."""
    for name in path:
        document = mapping_in(document).get(name)
    return document


def _with(document: Json, path: Sequence[str], value: Json, around: Callable[[Raw, Raw], Raw]) -> Json:
    """The document with another value at a path; `around` is given the object that has it, before and after."""
    if not path:
        return value
    outer = mapping_in(document)
    inner = value if len(path) == 1 else _with(outer.get(path[0]), path[1:], value, around)
    made = {**outer, path[0]: inner}
    return around(outer, made) if len(path) == 1 else made
