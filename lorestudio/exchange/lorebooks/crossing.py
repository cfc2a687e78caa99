"""Entries on their way between World Info and another program's form, so that nothing is lost on the way back.

A form says what its entries mean in World Info (`there`) and how World Info entries are spelled in it (`back`). What
`back` would not spell as it was is kept in the entry, under `extensions.lorestudio_kept` and the form's name, and
stands again where it stood as long as it means the same. What becomes of every entry and field, in both directions, is
worked out from the same two functions.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from typing import Final, Literal, TypeAlias

from msgspec import Struct

from lorestudio.domain.javascript import Json, to_number, to_string, truthy
from lorestudio.domain.json_text import mapping_in, object_in, stringified, text_in
from lorestudio.domain.records import picked
from lorestudio.exchange.json_file import same_value
from lorestudio.exchange.lorebooks.entry import DEFAULT_ORDER, NEW_ENTRY


class Fidelity(StrEnum):
    """What becomes of a field, the best first."""

    EXACT = "exact"
    """It means the same there, and comes back as it was."""
    APPROXIMATE = "approximate"
    """Something close to it stands there; `FieldFate.how` says what."""
    CARRIED = "carried"
    """It is kept beside, has no effect there, and comes out again."""
    LOST = "lost"
    """It is gone; `FieldFate.how` says why."""


CARRIED_ALONG: Final = "There is nothing like it there, so it is kept as it is and comes out again."
"""What CARRIED means where nothing more is known."""


class FieldFate(Struct, frozen=True):
    """What becomes of one field of an entry. `field` is its name where it comes from; `how` is a sentence or ""."""

    field: str
    fate: Fidelity
    how: str = ""


class EntryFate(Struct, frozen=True, gc=False):  # no part of a cycle, and there are thousands of them
    """What becomes of an entry. Only fields that say something are listed: not those as in a new entry.

    `left_out` is the reason why the entry does not go along at all, "" where it does.
    """

    uid: str
    title: str
    fields: tuple[FieldFate, ...] = ()
    left_out: str = ""


class FateCount(FieldFate, frozen=True):
    """How many entries a field has the same fate in."""

    entries: int = 0


class LoreReport(Struct, frozen=True):
    """The way of a book. `source` and `target` are what people call its forms; `remarks` are about the whole book.

    `book` is its name where several go the same way.
    """

    source: str
    target: str
    entries: tuple[EntryFate, ...] = ()
    remarks: tuple[str, ...] = ()
    book: str = ""

    def counts(self) -> tuple[FateCount, ...]:
        """Each field with each of its fates, the worst fates first, then by how many entries, then by name.

        Entries that are left out do not count.
        """
        found: dict[FieldFate, int] = {}
        for entry in self.entries:
            for said in () if entry.left_out else entry.fields:
                found[said] = found.get(said, 0) + 1
        worst = list(reversed(Fidelity))
        ordered = sorted(found.items(), key=lambda item: (worst.index(item[0].fate), -item[1], item[0].field))
        return tuple(FateCount(said.field, said.fate, said.how, amount) for said, amount in ordered)

    @property
    def loses(self) -> bool:
        """Whether anything is lost, which a person has to agree to before something is written."""
        return any(said.fate is Fidelity.LOST for entry in self.entries for said in entry.fields)

    def as_json(self) -> dict[str, Json]:
        """The report for `--report` and `--json`: `book` where it has a name, `from`, `to`, `remarks`, `counts`,
        `entries`.
        """
        return {
            **({"book": self.book} if self.book else {}),
            "from": self.source,
            "to": self.target,
            "remarks": list(self.remarks),
            "counts": [
                {"field": one.field, "fate": one.fate.value, "how": one.how, "entries": one.entries}
                for one in self.counts()
            ],
            "entries": [
                {
                    **picked(entry, "uid", "title", "left_out"),
                    "fields": [{"field": one.field, "fate": one.fate.value, "how": one.how} for one in entry.fields],
                }
                for entry in self.entries
            ],
        }

    def then(self, second: LoreReport) -> LoreReport:
        """This way and the one after it as one: what either says of an entry is said, its worse fates included."""
        first = {entry.uid: entry for entry in self.entries}
        after = {entry.uid: entry for entry in second.entries}
        joined = [_joined(entry, after.get(entry.uid)) for entry in self.entries]
        joined += [entry for uid, entry in after.items() if uid not in first]
        return LoreReport(self.source, second.target, tuple(joined), told_once((*self.remarks, *second.remarks)))


def _joined(entry: EntryFate, later: EntryFate | None) -> EntryFate:
    if later is None:
        return entry
    known = any(said.fate is Fidelity.EXACT for said in entry.fields)  # and is not counted under its next name
    fields = (said for said in later.fields if not known or said.fate is not Fidelity.EXACT)
    return EntryFate(entry.uid, entry.title, (*entry.fields, *fields), entry.left_out or later.left_out)


def told_once(remarks: Iterable[str]) -> tuple[str, ...]:
    """Remarks in their order, each once, with a number behind those that were made several times."""
    found: dict[str, int] = {}
    for remark in remarks:
        found[remark] = found.get(remark, 0) + 1
    return tuple(remark if amount == 1 else f"{remark} ({amount} times)" for remark, amount in found.items())


Raw = Mapping[str, Json]
Path: TypeAlias = tuple[str, ...]
_There: TypeAlias = Callable[[Raw], Mapping[str, Json]]

HOME: Final = "lorestudio_kept"
"""The member of an entry's `extensions` in which is kept what has no other place (rules: lorebooks 2)."""
WORLD_INFO: Final = "world_info"
"""In there: what World Info says and a card's entry cannot."""

UNSAID: Final[Raw] = {"selective": False, "useProbability": False, "order": None, "position": None}
"""What the scan takes a field for that a World Info entry leaves out, where it is not what a new entry has."""
_NULL_COUNTS: Final = frozenset({"scanDepth", "caseSensitive", "matchWholeWords", "useGroupScoring", "order"})
_MOST: Final = 1e15
"""From here on whole numbers are no longer told apart."""
_HALF: Final = re.compile("[\ud800-\udfff]")
_OUR_OWN: Final = frozenset({"uid", "displayIndex", "addMemo", "extensions"})


Spelling: TypeAlias = Literal["", "text", "listed", "joined", "flag", "truthy", "off"]


class FieldLink(Struct, frozen=True):
    """A field of a form (`theirs`, with a point where it lies within another) and the World Info field it becomes.

    `spelled` says how, where each is all that the other says. `how` says what is only approximate on the way to World
    Info, where `applies` to the entry; `how_back` on the way back.
    """

    theirs: str
    ours: str
    how: str = ""
    how_back: str = ""
    applies: Callable[[Raw], bool] = bool
    spelled: Spelling = ""


class EntryForm(Struct, frozen=True):
    """How entries are spelled in one form.

    `there` takes any entry of the form, also a damaged one, and gives the World Info fields that it speaks of; `back`
    gives the fields of the form that a World Info entry speaks of: those that `links` spell, and over them what `reads`
    and `writes` make of several fields. `new` is what else an entry has that is made anew.
    `nested` is the field whose members count as fields of their own. In a form that is `ranked` the place in the list
    is the order. Of fields that are read `together` none is kept without the others. `cannot` says why a field of World
    Info is lost, "" where the form keeps such fields. From `longest` characters on the program may refuse a text, 0
    where it takes any. `plain` files are no JSON but text in UTF-8.
    """

    name: str
    title: str
    links: tuple[FieldLink, ...]
    reads: Callable[[Raw], Mapping[str, Json]] = lambda _raw: {}
    writes: Callable[[Raw], Mapping[str, Json]] = lambda _entry: {}
    cannot: str = ""
    new: Callable[[Raw], Raw] = lambda _entry: {}
    nested: str = ""
    together: tuple[frozenset[str], ...] = ()
    ranked: bool = False
    longest: int = 0
    plain: bool = False

    def there(self, raw: Raw) -> dict[str, Json]:
        """What an entry of the form says in World Info."""
        said = {each.ours: _SPELLED[each.spelled][0](raw.get(each.theirs)) for each in self.links if each.spelled}
        return {**said, **self.reads(raw)}

    def back(self, entry: Raw) -> dict[str, Json]:
        """What a World Info entry says in the form."""
        plain = ((each.theirs, each.spelled, effective(entry, each.ours)) for each in self.links if each.spelled)
        made = {theirs: _SPELLED[spelled][1](value) for theirs, spelled, value in plain}
        return {**made, **self.writes(entry)}


def into_world_info(form: EntryForm, raw: Raw, uid: Json, place: int) -> tuple[dict[str, Json], EntryFate]:
    """An entry of the form as one of World Info, with what is kept for the way back, and what became of it.

    `place` is its place in the list, from 0: where that is its rank the first gets the highest order.
    """
    ours = kept_in(raw, WORLD_INFO)
    if ours:
        raw = {**raw, "extensions": without_kept(raw["extensions"], WORLD_INFO)}
    said = form.there(raw)
    entry: dict[str, Json] = {"uid": uid, **NEW_ENTRY, "addMemo": bool(said.get("comment")), **said}
    if form.ranked:
        entry["order"] = DEFAULT_ORDER - place
    if ours:
        entry = _restored(entry, ours, form.back, raw)
    kept = _beside(raw, form.back(entry), form.nested)
    if kept:
        entry["extensions"] = _keeping(entry.get("extensions"), form.name, kept)
    return entry, EntryFate(to_string(uid), title_of(entry), tuple(_fates_there(form, raw, kept)))


def from_world_info(
    form: EntryForm, entry: Raw, before: Raw | None = None, place: int = 0
) -> tuple[dict[str, Json], EntryFate]:
    """A World Info entry in the form, and what became of it.

    One that came from there and was not touched is what it was; of one that was touched the other fields stay.
    `before` is the entry in whose place it goes: where it is the same one it says more than what was kept of it.
    `place` is its place in the list, from 0, where that is its rank.
    """
    made, kept = form.back(entry), kept_in(entry, form.name)
    if before is not None and _is_of(form.there(before), entry):
        own = before
        if kept_in(before, WORLD_INFO):
            own = {**before, "extensions": without_kept(before["extensions"], WORLD_INFO)}
        without = [list(path) for path in _flat(made, form.nested) if path not in _flat(own, form.nested)]
        kept = {"fields": own, "without": without}
    if kept:
        raw = _restored(made, kept, form.there, entry, form.nested, form.together)
    else:
        raw = _unflat({**_flat(form.new(entry), form.nested), **_flat(made, form.nested)})
    read: dict[str, Json] = {"uid": entry.get("uid"), **NEW_ENTRY, **form.there(raw)}
    if form.ranked:
        read["order"] = DEFAULT_ORDER - place
    carried = frozenset[str]()
    if not form.cannot:
        spelled = {name for name, _value in _fields_of(kept_in(before or {}, WORLD_INFO))}  # just as they are there
        like = {name: value for name, value in read.items() if alike(name, value, effective(entry, name))}
        stood = {name: value for name, value in like.items() if name not in spelled}
        beside = _beside(_without_home({**entry, **(stood if kept else {})}), _without_home(read), "")
        carried = frozenset(name for name, _value in _fields_of(beside))
        if carried - {"uid"}:
            raw["extensions"] = _keeping(raw.get("extensions"), WORLD_INFO, beside)
    return raw, EntryFate(to_string(entry.get("uid")), title_of(entry), tuple(_fates_back(form, entry, read, carried)))


def _is_of(before: Mapping[str, Json], entry: Raw) -> bool:
    """Whether what stood in a place was this entry: title, text or keys are still the same."""
    return any(before.get(name) and before[name] == entry.get(name) for name in ("comment", "content", "key"))


def title_of(entry: Raw) -> str:
    """What people know a World Info entry by."""
    comment, keys = entry.get("comment"), texts(entry.get("key"))
    return (comment if isinstance(comment, str) else "") or ", ".join(keys) or f"entry {entry.get('uid')}"


# ---- what is kept beside --------------------------------------------------------------------------------------------


def kept_in(entry: Raw, name: str) -> Raw:
    """What an entry keeps for the form of that name."""
    return object_in(object_in(entry, "extensions").get(HOME), name)


def without_kept(extensions: Json, name: str) -> dict[str, Json]:
    """An entry's extensions but for what is kept for that form."""
    others = dict(mapping_in(extensions))
    kept = {form: value for form, value in mapping_in(others.pop(HOME, None)).items() if form != name}
    return others | ({HOME: kept} if kept else {})


def _keeping(extensions: Json, name: str, kept: Json) -> dict[str, Json]:
    own = mapping_in(extensions)
    return {**own, HOME: {**object_in(own, HOME), name: kept}}


def _without_home(entry: Raw) -> Raw:
    own = without_kept(entry.get("extensions"), "") if "extensions" in entry else {}
    own.pop(HOME, None)
    rest = {name: value for name, value in entry.items() if name != "extensions"}
    return {**rest, "extensions": own} if own or entry.get("extensions") == {} else rest


def _beside(raw: Raw, made: Raw, nested: str) -> dict[str, Json]:
    """What has to be said of `raw` where `made` is known: fields that are other ones, and those it is without."""
    own, known = _flat(raw, nested), _flat(made, nested)
    fields = {path: value for path, value in own.items() if path not in known or not _is_spelled(value, known[path])}
    kept: dict[str, Json] = {"fields": _unflat(fields)} if fields else {}
    without = [list(path) for path in known if path not in own]
    return kept | ({"without": without} if without else {})


def _is_spelled(value: Json, other: Json) -> bool:
    """Whether two values are spelled alike; 1 and 1.0 are not."""
    if value is None or isinstance(value, bool | int | float | str):
        return type(value) is type(other) and value == other
    return stringified(value) == stringified(other)


def _restored(
    made: Raw, kept: Raw, there: _There, meant: Raw, nested: str = "", together: Sequence[frozenset[str]] = ()
) -> dict[str, Json]:
    """`made` with what was kept: all of it where that means what is meant, else each where it takes nothing away.

    What neither can say as it is meant was touched: `made` comes nearest.
    """
    now = _flat(made, nested)
    fields = _flat(object_in(kept, "fields"), nested)
    without = _paths(kept.get("without"))
    was = {path: value for path, value in {**now, **fields}.items() if path not in without}
    said = there(made)
    new = {**NEW_ENTRY, "displayIndex": meant.get("uid")}
    usual = {name: new.get(name) for name in said}
    apart = _apart(there, was, usual, meant)
    meant = {**meant, **{name: said[name] for name in apart & _apart(there, now, usual, meant)}}
    own, apart = was, _apart(there, was, usual, meant)
    for path in now if apart else ():
        trial = _taken(own, now, path, together)
        after = _apart(there, trial, usual, meant)
        if after < apart:
            own, apart = trial, after
    if not apart:
        return _unflat(own)
    apart = _apart(there, now, usual, meant)
    for path in (*fields, *without):
        trial = _taken(now, was, path, together)
        after = _apart(there, trial, usual, meant)
        if after <= apart:
            now, apart = trial, after
    return _unflat(now)


def _taken(
    own: Mapping[Path, Json], other: Mapping[Path, Json], path: Path, together: Sequence[frozenset[str]]
) -> dict[Path, Json]:
    """Fields with one of them, and those that are read together with it, as others have it."""
    names = next((each for each in together if path[0] in each), frozenset(path[:1]))
    paths = {path, *((name,) for name in names)}
    both = {**own, **{one: other[one] for one in paths if one in other}}
    return {one: value for one, value in both.items() if one not in paths or one in other}


def _apart(there: _There, fields: Mapping[Path, Json], usual: Raw, meant: Raw) -> frozenset[str]:
    """What these fields say otherwise than it is meant. Where they say nothing they say what is `usual`."""
    return frozenset(
        name
        for name, value in {**usual, **there(_unflat(fields))}.items()
        if name not in {"uid", "id", "extensions"} and not alike(name, value, effective(meant, name))
    )


def _paths(value: Json) -> list[Path]:
    return [tuple(texts(path)) for path in value] if isinstance(value, list | tuple) else []


def _flat(raw: Raw, nested: str) -> dict[Path, Json]:
    found: dict[Path, Json] = {}
    for name, value in raw.items():
        if name == nested and isinstance(value, Mapping) and value:
            found |= {(name, inner): each for inner, each in value.items()}
        else:
            found[name,] = value
    return found


def _unflat(fields: Mapping[Path, Json]) -> dict[str, Json]:
    raw: dict[str, Json] = {}
    for path, value in fields.items():
        if len(path) == 1:
            raw.setdefault(path[0], value)
            continue
        inner = raw.get(path[0])
        raw[path[0]] = {**inner, path[1]: value} if isinstance(inner, Mapping) else {path[1]: value}
    return raw


def _fields_of(kept: Raw) -> Iterable[tuple[str, Json]]:
    yield from object_in(kept, "fields").items()
    yield from ((path[0], None) for path in _paths(kept.get("without")))


# ---- what becomes of fields -----------------------------------------------------------------------------------------


def _fates_there(form: EntryForm, raw: Raw, kept: Raw) -> Iterable[FieldFate]:
    links = {link.theirs: link for link in form.links}
    fields = _flat(raw, form.nested)
    beside = _flat(object_in(kept, "fields"), form.nested)
    for path in _telling(form, fields):
        name = ".".join(path)
        link = links.get(name)
        if link is not None and link.how and link.applies(raw):
            yield FieldFate(name, Fidelity.APPROXIMATE, link.how)
        elif path not in beside:
            yield FieldFate(name, Fidelity.EXACT)
        elif link is None:
            yield FieldFate(name, Fidelity.CARRIED)
        else:
            yield FieldFate(name, Fidelity.EXACT if _tells(form, fields, path, link.ours) else Fidelity.CARRIED)


def only_carried(form: EntryForm, entry: Raw) -> Iterator[str]:
    """What an entry that came from this form keeps of it, and says in no field of World Info's; by its names there."""
    kept = kept_in(entry, form.name)
    if not kept:
        return
    links = {link.theirs: link.ours for link in form.links}
    fields = _flat(object_in(kept, "fields"), form.nested)
    whole = _flat(form.back(entry), form.nested) | fields
    for path in _telling(form, fields):
        ours = links.get(".".join(path))
        if ours is None or not _tells(form, whole, path, ours):
            yield ".".join(path)


def _telling(form: EntryForm, fields: Mapping[Path, Json]) -> Iterable[Path]:
    """Those of an entry's fields that say something else than in any new one."""
    usual = _flat(form.back(NEW_ENTRY), form.nested) | _flat(form.new({}), form.nested)
    for path, value in fields.items():
        is_usual = path in usual and same_value(usual[path], value)
        if path[-1] != HOME and value not in (None, "", [], {}) and not is_usual:
            yield path


def _tells(form: EntryForm, fields: Mapping[Path, Json], path: Path, ours: str) -> bool:
    """Whether it is this one of the form's fields that says what stands in a field of World Info."""
    rest = {one: value for one, value in fields.items() if one != path}
    return not same_value(form.there(_unflat(fields)).get(ours), form.there(_unflat(rest)).get(ours))


def _fates_back(form: EntryForm, entry: Raw, read: Raw, carried: frozenset[str]) -> Iterable[FieldFate]:
    if form.cannot:
        for name in object_in(entry, "extensions"):
            if name != HOME:
                yield FieldFate(f"extensions.{name}", Fidelity.LOST, form.cannot)
    links = {link.ours: link for link in form.links}
    for name in dict.fromkeys((*entry, *NEW_ENTRY)):
        if name in _OUR_OWN:
            continue
        was, becomes = effective(entry, name), effective(read, name)
        link = links.get(name)
        if name == "order" and form.ranked and not alike(name, was, becomes):
            yield FieldFate(name, Fidelity.APPROXIMATE, f"the place in the list is the order in {form.title}")
        elif form.plain and _HALF.search(stringified(was)):
            yield FieldFate(name, Fidelity.APPROXIMATE, "UTF-8 has no place for half a character: “?” stands for it")
        elif not alike(name, was, becomes):
            yield _worse(form, link, name, becomes, carried)
        elif link is not None and link.how_back and not alike(name, was, NEW_ENTRY.get(name)):
            yield FieldFate(name, Fidelity.APPROXIMATE, link.how_back)
        elif not alike(name, was, NEW_ENTRY.get(name)):
            yield FieldFate(name, Fidelity.EXACT)


def _worse(form: EntryForm, link: FieldLink | None, name: str, becomes: Json, carried: frozenset[str]) -> FieldFate:
    if name in carried:
        return FieldFate(name, Fidelity.CARRIED)
    if link is None or alike(name, becomes, NEW_ENTRY.get(name)):
        return FieldFate(name, Fidelity.LOST, form.cannot)
    return FieldFate(name, Fidelity.APPROXIMATE, link.how_back or f"{form.title} cannot say all of it")


def effective(entry: Raw, name: str) -> Json:
    """What a field of a World Info entry counts as, also where it is left out."""
    if name in entry:
        return entry[name]
    if name == "addMemo":
        return bool(entry.get("comment"))
    return entry.get("uid") if name == "displayIndex" else UNSAID.get(name, NEW_ENTRY.get(name))


def alike(name: str, one: Json, other: Json) -> bool:
    """Whether two values of a World Info field do the same: for most, 0, false, null and nothing are one."""
    if one is other:
        return True
    if name not in _NULL_COUNTS and _is_nothing(one) and _is_nothing(other):
        return True
    return same_value(one, other)


def _is_nothing(value: Json) -> bool:
    return value is None or value is False or value == 0 or value in ("", [], {}, ())


# ---- values from outside --------------------------------------------------------------------------------------------


def texts(value: Json) -> list[str]:
    """The texts in a list, a number as its digits; none of what is no list."""
    listed = value if isinstance(value, list | tuple) else ()
    return [to_string(each) for each in listed if isinstance(each, str | int | float)]


def number(value: Json) -> int | float | None:
    """The finite number that a value is, also as a text, else None."""
    value = to_number(value) if isinstance(value, str) and value.strip() else value
    is_number = isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < _MOST
    return value if is_number else None  # type: ignore[return-value]  # it is a number


def split_keys(value: Json) -> list[str]:
    """Keys in one text with commas, without the blanks around each; a list of texts as it is."""
    if isinstance(value, str):
        return [key.strip() for key in value.split(",") if key.strip()]
    return texts(value)


_SPELLED: Final[Mapping[Spelling, tuple[Callable[[Json], Json], Callable[[Json], Json]]]] = {
    "text": (text_in, text_in), "listed": (texts, texts), "truthy": (truthy, truthy),
    "flag": (lambda value: value is True,) * 2,
    "off": (lambda value: not truthy(value),) * 2, "joined": (split_keys, lambda keys: ",".join(texts(keys))),
}  # fmt: skip
"""How a field is read, and how it is written: keys are listed, or joined in one text."""


def chance(entry: Raw) -> int | float:
    """In how many of a hundred cases a World Info entry comes in once it is triggered."""
    used = number(entry.get("probability")) if effective(entry, "useProbability") is not False else 100
    return 100 if used is None else used


def stated(**fields: Json) -> dict[str, Json]:
    """The fields that are not None."""
    return {name: value for name, value in fields.items() if value is not None}
