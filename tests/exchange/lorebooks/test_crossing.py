"""Entries on their way to World Info and back: what nobody touched comes out as it was, what cannot go is named.

The report of what becomes of lore: counts, the worst first, and what is said for programs.
"""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lorestudio.exchange.lorebooks.crossing import (
    EntryFate,
    EntryForm,
    Fidelity,
    FieldFate,
    LoreReport,
    from_world_info,
    into_world_info,
    told_once,
)
from lorestudio.exchange.lorebooks.entry import NEW_ENTRY
from lorestudio.exchange.lorebooks.formats import left_behind, write_lore
from lorestudio.exchange.lorebooks.kinds import agnaistic, aidungeon, card_book, kobold, markdown, novelai, risu, table

FORMS = (
    agnaistic.FORM,
    aidungeon.CARDS,
    card_book.FORM,
    kobold.LITE,
    kobold.UNITED,
    markdown.FORM,
    novelai.FORM,
    risu.FORM,
    table.form_of(table.HEADER),
)
WORDS = st.sampled_from(
    ["", "Mira", "the quay, the kite", " a ", "/x+/i", "@@depth 3\n@@role user\nText", "Circ*", "50"]
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 900) | st.just(2.0) | WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=2),
    max_leaves=4,
)


@st.composite
def entries_of(draw: st.DrawFn, form: EntryForm) -> dict[str, object]:
    """An entry with some of the form's fields, of the usual kind or of any."""
    names = {link.theirs.partition(".")[0] for link in form.links if " " not in link.theirs and "`" not in link.theirs}
    usual = {"keys": ["a", "b"], "keywords": ["Mira*"], "key": "a, b", "enabled": True, "id": 3}
    found = draw(st.dictionaries(st.sampled_from(sorted(names)) | WORDS, VALUES, max_size=8))
    for name in draw(st.sets(st.sampled_from(sorted(names)))):
        found[name] = usual.get(name, draw(VALUES))
    if form.nested and draw(st.booleans()):
        inner = [link.theirs.partition(".")[2] for link in form.links if "." in link.theirs]
        found[form.nested] = draw(st.dictionaries(st.sampled_from(inner) | WORDS, VALUES, max_size=6))
    return found


WORLD_INFO = st.fixed_dictionaries(
    {"uid": st.integers(0, 9)},
    optional={
        "key": st.lists(WORDS, max_size=3),
        "keysecondary": st.lists(WORDS, max_size=2),
        "comment": WORDS,
        "content": WORDS,
        "selectiveLogic": st.integers(0, 3),
        "position": st.integers(0, 8) | st.none() | st.just("4"),
        "order": st.integers(-10, 300),
        "probability": st.integers(0, 100) | st.none(),
        "role": st.none() | st.integers(0, 2),
        "scanDepth": st.none() | st.integers(0, 9),
        "characterFilter": st.just({"isExclude": False, "names": ["Mira"], "tags": []}),
        **dict.fromkeys(("sticky", "cooldown", "delay"), st.none() | st.integers(0, 10000)),
        **dict.fromkeys(("constant", "selective", "disable", "useProbability", "addMemo"), st.booleans()),
        **dict.fromkeys(("caseSensitive", "matchWholeWords", "useGroupScoring"), st.none() | st.booleans()),
        "group": WORDS,
        "mystery": VALUES,
        "extensions": st.dictionaries(WORDS, VALUES, max_size=2),
    },
)


@pytest.mark.long
@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.name)
@given(data=st.data())
def test_in_and_out_an_entry_that_nobody_touched_is_what_it_was(form: EntryForm, data: st.DataObject) -> None:
    raw = data.draw(entries_of(form))
    entry, _fate = into_world_info(form, raw, 7, 0)
    again, _fate = from_world_info(form, json.loads(json.dumps(entry)))
    assert spelled(again) == spelled(raw)


def spelled(value: object) -> str:
    return json.dumps(value, sort_keys=True)


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.name)
@given(entry=WORLD_INFO)
def test_out_and_in_an_entry_is_equal_but_for_what_the_report_names(form: EntryForm, entry: dict[str, object]) -> None:
    raw, fate = from_world_info(form, entry)
    again, _fate = into_world_info(form, json.loads(json.dumps(raw)), entry["uid"], 0)
    named = {said.field for said in fate.fields if said.fate in (Fidelity.APPROXIMATE, Fidelity.LOST)}
    for name in entry.keys() | NEW_ENTRY.keys():
        if name not in named | {"addMemo", "extensions"} and not (form.ranked and name == "order"):
            assert same(name, entry, again), name


SILENT = {**NEW_ENTRY, "selective": False, "useProbability": False, "order": None, "position": None}
WITH_A_NULL = {"scanDepth", "caseSensitive", "matchWholeWords", "useGroupScoring", "order"}


def same(name: str, one: dict[str, object], other: dict[str, object]) -> bool:
    """Equal to the scan: what is left out counts as it does there, and nothing is nothing but in some fields."""
    first, second = (each.get(name, SILENT.get(name)) for each in (one, other))
    nothing = (None, False, 0, "", [], {})
    return first == second or (name not in WITH_A_NULL and first in nothing and second in nothing)


@given(entry=WORLD_INFO)
def test_a_card_carries_all_of_an_entry(entry: dict[str, object]) -> None:
    raw, fate = from_world_info(card_book.FORM, entry)
    assert not {Fidelity.LOST} & {said.fate for said in fate.fields}
    again, _fate = into_world_info(card_book.FORM, raw, entry["uid"], 0)
    kept = again.get("extensions", {})
    rest = {name: value for name, value in kept.items() if name != "lorestudio_kept"}
    assert {**again, "extensions": rest} == {**entry, "extensions": entry.get("extensions", {})}


GONE = (Fidelity.CARRIED, Fidelity.LOST)
CHANGES: list[dict[str, object]] = [
    {"content": "Other."}, {"key": ["other"]}, {"comment": "Other"}, {"constant": True}, {"disable": True},
    {"order": 30}, {"probability": 50, "useProbability": True}, {"position": 4, "depth": 1, "role": 1},
    {"keysecondary": ["reef"], "selective": True, "selectiveLogic": 0}, {"scanDepth": 2}, {"sticky": 3},
    {"cooldown": 4}, {"group": "tide"}, {"excludeRecursion": True}, {"matchWholeWords": True},
]  # fmt: skip


@pytest.mark.long
@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.name)
@given(data=st.data(), change=st.sampled_from(CHANGES))
def test_of_an_entry_that_was_touched_only_the_change_is_another(
    form: EntryForm, data: st.DataObject, change: dict[str, object]
) -> None:
    raw = data.draw(entries_of(form))
    entry, _fate = into_world_info(form, raw, 7, 0)
    changed = {**json.loads(json.dumps(entry)), **change}
    written, fate = from_world_info(form, changed)
    again, _fate = into_world_info(form, written, 7, 0)
    alone = from_world_info(form, {**NEW_ENTRY, **change})[1]  # what the form can say of the change
    unsayable = {said.field for said in alone.fields if said.fate is not Fidelity.EXACT and said.field in change}
    for name in entry.keys() | change.keys():
        if name not in {"addMemo", "extensions", "order" if form.ranked else "", *unsayable}:
            assert same(name, again, changed), name
    assert not [said for said in fate.fields if said.field in change.keys() - unsayable and said.fate in GONE]
    unmapped = {name for name in raw if name not in form.back(NEW_ENTRY) and name not in {form.nested, "extensions"}}
    known = {link.theirs.partition(".")[0] for link in form.links}
    assert {name: written[name] for name in unmapped - known} == {name: raw[name] for name in unmapped - known}


def touched(form: EntryForm, raw: dict[str, object], **change: object) -> dict[str, object]:
    """An entry of the form as it goes out after some of its World Info fields were changed."""
    return from_world_info(form, {**into_world_info(form, raw, 0, 0)[0], **change})[0]


CARD = {"id": 0, "keys": ["bell"], "content": "Rings.", "enabled": True, "insertion_order": 100, "extensions": {}}


def test_what_is_new_in_an_entry_stands_where_its_program_reads_it() -> None:
    chance = {"probability": 50, "useProbability": True}
    change = {**chance, "scanDepth": 2, "position": 4, "depth": 1, "role": 1, "sticky": 3, "group": "tide"}
    said = {"probability": 50, "scan_depth": 2, "position": 4, "depth": 1, "role": 1, "sticky": 3, "group": "tide"}
    assert touched(card_book.FORM, CARD, **change) == {**CARD, "extensions": said}
    decorated = {**CARD, "content": "@@depth 3\n@@role assistant\nRings."}
    placed = {**CARD, "content": "Sings.", "extensions": {"position": 4, "depth": 3, "role": 2}}
    assert touched(card_book.FORM, decorated, content="Sings.") == placed
    memory = {"name": "Bell", "entry": "Rings.", "keywords": ["bell"], "weight": 1, "enabled": True, "priority": 5}
    assert touched(agnaistic.FORM, memory, **chance, position=1) == {**memory, **chance, "position": "after_char"}
    lite = {"key": "bell", "content": "Rings.", "comment": "Bell"}
    assert touched(kobold.LITE, lite, **chance) == {**lite, "probability": 51}


def test_switches_of_risu_follow_what_they_are_read_with() -> None:
    raw: dict[str, object] = {"key": "/be(l+)/i", "useRegex": True, "comment": "Bell", "content": "Rings."}
    assert touched(risu.FORM, raw, key=["bell"]) == {
        "key": "bell", "comment": "Bell", "content": "Rings.",
    }  # fmt: skip
    odds = {**raw, "activationPercent": 33}
    assert touched(risu.FORM, odds, content="Sings.") == {**odds, "content": "Sings."}
    assert touched(risu.FORM, odds, probability=50) == {**odds, "activationPercent": 50}
    never = touched(risu.FORM, odds, probability=0)
    assert never == {**raw, "content": "@@probability 0\nRings."}


@pytest.mark.parametrize(
    ("keys", "said"),
    [(["l1", " l2"], "new,l1, l2"), ("a|(the )b#[t=5]", "new,a|(the )b#[t=5]")],
    ids=["a list", "a script's pattern"],
)
def test_new_keys_of_a_story_card_are_written_as_near_as_it_can_say_them(keys: object, said: str) -> None:
    raw = {"keys": keys, "value": "", "title": "Bell", "description": "Rings."}
    key = ["new", *(keys if isinstance(keys, list) else [keys])]
    assert touched(aidungeon.CARDS, raw, key=key) == {**raw, "keys": said}


KEYS = FieldFate("keys", Fidelity.EXACT)
BIAS = FieldFate("bias", Fidelity.CARRIED)
LOGIC = FieldFate("logic", Fidelity.LOST, "there is no such thing")
ENTRIES = (EntryFate("0", "Mira", (KEYS, BIAS)), EntryFate("1", "Quay", (KEYS, LOGIC)))


def test_fields_are_counted_by_fate_the_worst_first() -> None:
    report = LoreReport("A", "B", ENTRIES)
    assert [(one.field, one.fate, one.entries) for one in report.counts()] == [
        ("logic", Fidelity.LOST, 1),
        ("bias", Fidelity.CARRIED, 1),
        ("keys", Fidelity.EXACT, 2),
    ]
    assert LoreReport("A", "B", (*ENTRIES, EntryFate("2", "Off", (KEYS,), "no entry"))).counts() == report.counts()
    assert report.loses
    assert not LoreReport("A", "B", ENTRIES[:1]).loses


def test_it_is_said_for_programs() -> None:
    told = LoreReport("A", "B", ENTRIES[1:], ("Hm.",)).as_json()
    assert told == {
        "from": "A",
        "to": "B",
        "remarks": ["Hm."],
        "counts": [
            {"field": "logic", "fate": "lost", "how": "there is no such thing", "entries": 1},
            {"field": "keys", "fate": "exact", "how": "", "entries": 1},
        ],
        "entries": [
            {
                "uid": "1",
                "title": "Quay",
                "left_out": "",
                "fields": [
                    {"field": "keys", "fate": "exact", "how": ""},
                    {"field": "logic", "fate": "lost", "how": "there is no such thing"},
                ],
            }
        ],
    }


def test_two_ways_are_told_as_one() -> None:
    second = LoreReport("B", "C", (EntryFate("1", "Quay", (BIAS,), "no text"), EntryFate("7", "New")), ("Once.",))
    both = LoreReport("A", "B", ENTRIES, ("Once.",)).then(second)
    assert (both.source, both.target, both.remarks) == ("A", "C", ("Once. (2 times)",))
    assert both.entries == (ENTRIES[0], EntryFate("1", "Quay", (KEYS, LOGIC, BIAS), "no text"), EntryFate("7", "New"))


def test_a_remark_is_told_once_with_its_number() -> None:
    assert told_once(["a", "b", "a", "a"]) == ("a (3 times)", "b")


def test_what_is_exact_on_both_ways_is_counted_once_under_the_name_it_has_in_the_file() -> None:
    """A story card of six fields had three carried and seven exact."""
    raw = {"keys": "brume", "value": "Fog.", "title": "Brume", "type": "location", "description": "x", "id": "7"}
    entry, there = into_world_info(aidungeon.CARDS, raw, 0, 0)
    notes = (FieldFate("key", Fidelity.EXACT), FieldFate("content", Fidelity.APPROXIMATE, "Cleaned."))
    second = EntryFate("0", "Brume", notes)
    joined = LoreReport("AI Dungeon", "World Info", (there,)).then(LoreReport("World Info", "notes", (second,)))
    counts = {each.field: each.fate for each in joined.counts()}
    assert {name for name, fate in counts.items() if fate is Fidelity.EXACT} == {"keys", "value", "title"}
    assert counts["content"] is Fidelity.APPROXIMATE
    alone = LoreReport("World Info", "World Info", (EntryFate("0", "Brume"),)).then(LoreReport("", "notes", (second,)))
    assert [each.field for each in alone.counts()] == ["content", "key"]
    assert entry["key"] == ["brume"]


CARRIED = {
    "novelai": (novelai.FORM, {
        "text": "Fog.", "keys": ["brume"], "displayName": "Brume", "id": "a1", "searchRange": 900, "category": "c1",
        "contextConfig": {"prefix": "[", "budgetPriority": 300, "trimDirection": "trimBottom"},
        "loreBiasGroups": [{"phrases": ["x"]}],
    }, {"id", "searchRange", "category", "contextConfig.prefix", "loreBiasGroups"}),
    "aidungeon": (aidungeon.CARDS, {
        "keys": "brume, fog", "value": "Fog.", "title": "Brume", "description": "My own words.", "type": "location",
    }, {"description", "type"}),
    "agnaistic": (agnaistic.FORM, {
        "name": "Brume", "entry": "Fog.", "keywords": ["brume"], "priority": 5, "weight": 3, "enabled": True,
    }, {"priority"}),
}  # fmt: skip


@pytest.mark.parametrize("origin", CARRIED)
@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.name)
def test_what_was_carried_for_one_program_is_lost_where_another_has_no_place_for_it(
    form: EntryForm, origin: str
) -> None:
    """The report called such an export exact throughout, and prefixes, categories and ranges were gone."""
    own, raw, beside = CARRIED[origin]
    entry, there = into_world_info(own, raw, 0, 0)
    assert {each.field for each in there.fields if each.fate is Fidelity.CARRIED} == beside
    behind = [*left_behind(form, entry)]
    assert {each.fate for each in behind} <= {Fidelity.LOST}
    lost = {each.field for each in behind}
    goes_along = form.name == origin or not form.cannot
    assert lost == (set() if goes_along else {f"{origin}.{name}" for name in beside})


def test_the_report_of_an_export_names_what_is_left_behind() -> None:
    own, raw, beside = CARRIED["novelai"]
    entry, _there = into_world_info(own, raw, 0, 0)
    (said,) = write_lore("csv", "Harbour", [entry]).report.entries
    lost = {each.field for each in said.fields if each.fate is Fidelity.LOST}
    assert lost >= {f"novelai.{name}" for name in beside}
