"""An entry as a note and a note as an entry: what comes back, and what is said of every field."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lorestudio.domain.entry import Entry
from lorestudio.exchange.lorebooks.crossing import Fidelity
from lorestudio.exchange.lorebooks.entry import NEW_ENTRY
from lorestudio.exchange.lorebooks.notes import changed_note, entry_of, meaning, note_of, restored, values_of
from lorestudio.exchange.problems import InputError
from lorestudio.vault.entries import ParseRules, parse_note
from tests.examples import examples

RULES = ParseRules()
NEWER = ParseRules(refine_logic=True, wi_fields=True)
SAMPLES = sorted((Path(__file__).parent / "samples").glob("*.json"))

TEXT = st.text(st.characters(codec=None), max_size=30) | st.sampled_from(
    ["", " ", "a, b", "/rain(y|s)?/i", "it's", '"', "#", "true", "null", "12", "- x", "[[Link|shown]]", "---", "a: b",
     "# Head", "\ud83d", "line\nbreak", "\r\n", "%%hidden%%", "{{char}}", "@@activate\ntext"]
)  # fmt: skip
NUMBER = st.integers(-5, 1200) | st.floats(allow_nan=False, allow_infinity=False) | st.booleans() | st.none()
FLAG = st.booleans() | st.none() | st.sampled_from(["false", 0, 1])
ODD = NUMBER | TEXT | st.lists(NUMBER, max_size=2) | st.dictionaries(TEXT, NUMBER, max_size=2)
MEMBERS: dict[str, st.SearchStrategy[Any]] = {
    name: st.lists(TEXT, max_size=3) if isinstance(value, list)
    else FLAG if isinstance(value, bool)
    else TEXT if isinstance(value, str)
    else NUMBER
    for name, value in NEW_ENTRY.items()
} | {
    "position": st.integers(0, 8) | ODD, "selectiveLogic": st.integers(0, 4), "role": st.integers(0, 3) | st.none(),
    "characterFilter": st.none() | st.fixed_dictionaries(
        {"isExclude": st.booleans(), "names": st.lists(TEXT, max_size=2), "tags": st.just([])}
    ),
    "extensions": st.dictionaries(TEXT, ODD, max_size=2), "displayIndex": st.integers(0, 9),
}  # fmt: skip


@st.composite
def raws(draw: st.DrawFn) -> dict[str, Any]:
    """Entries as files may have them: some members missing, in any order, some of them odd or of nobody's."""
    names = draw(st.permutations(list(MEMBERS)))[draw(st.integers(0, 12)) :]
    raw = {"uid": draw(st.integers(0, 10**6))}
    raw |= {name: draw(MEMBERS[name] if draw(st.integers(0, 9)) else ODD) for name in names}
    return raw | draw(st.dictionaries(TEXT.filter(lambda name: name not in MEMBERS and name != "uid"), ODD, max_size=2))


def sample_entries() -> list[Any]:
    found = []
    for path in SAMPLES:
        entries = json.loads(path.read_text(encoding="utf-8"))["entries"]
        found += [pytest.param({"uid": uid, **raw}, id=f"{path.stem[:2]}-{uid}") for uid, raw in entries.items()]
    return found


def spelled(raw: object) -> str:
    return json.dumps(raw, allow_nan=False)


def figures(value: Any) -> Any:
    """With whole numbers as JavaScript spells them."""
    if isinstance(value, dict):
        return {name: figures(item) for name, item in value.items()}
    if isinstance(value, list):
        return [figures(item) for item in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


@given(raws(), st.sampled_from([RULES, NEWER]))
@settings(max_examples=examples(100))
def test_an_entry_comes_back_member_for_member(raw: dict[str, Any], rules: ParseRules) -> None:
    text = note_of(raw, "Book", rules).text
    text.encode()  # a file can hold it
    back = entry_of(text, "x.md", rules)
    assert spelled(restored(raw, back.raw)) == spelled(raw)
    assert spelled(figures(meaning({**back.raw, "uid": back.uid}))) == spelled(figures(meaning(raw)))
    assert (back.uid, back.book) == (raw["uid"], "Book")


@pytest.mark.parametrize("raw", sample_entries())
def test_entries_of_samples_come_back_member_for_member(raw: dict[str, Any]) -> None:
    for rules in (RULES, NEWER):
        back = entry_of(note_of(raw, "Book", rules).text, "x.md", rules)
        assert spelled(restored(raw, back.raw)) == spelled(raw)


def test_an_endless_number_names_an_entry_as_a_text() -> None:
    note = note_of({**NEW_ENTRY, "uid": math.inf, "key": ["lamp"], "content": "A lamp."}, "Sea", RULES)
    assert "wi_uid: Infinity\n" in note.text  # as JavaScript spells it, by which the book is asked for it


def test_an_endless_number_beside_the_entry_is_carried_as_nothing() -> None:
    note = note_of({**NEW_ENTRY, "uid": 1, "key": ["lamp"], "foreign": {"a": [math.inf, 1]}}, "Sea", RULES)
    assert '"foreign":{"a":[null,1]}' in note.text


def test_an_entry_that_no_note_can_hold_is_named() -> None:
    deep: Any = "x"
    for _ in range(400):
        deep = [deep]
    with pytest.raises(InputError, match=r"Sea: the entry 7 fits into no note: .*[a-z]\. Mend it, or"):
        note_of({**NEW_ENTRY, "uid": 7, "key": ["lamp"], "foreign": {"a": "a\0b", "b": deep}}, "Sea", RULES)


def test_names_with_control_characters_are_written_without_them() -> None:
    note = note_of({**NEW_ENTRY, "uid": "a\0b", "key": ["lamp"]}, "Sea\x1b[2J", RULES)
    assert (note.properties["wi_uid"], note.properties["wi_book"]) == ("a\ufffdb", "Sea\ufffd[2J")


def test_a_plain_entry_is_a_plain_note() -> None:
    raw = {**NEW_ENTRY, "uid": 7, "addMemo": True, "key": ["Skarn", "the bell, old"], "comment": "Skarn",
           "content": "An island.\n", "order": 250, "position": 4, "depth": 2, "role": 1, "keysecondary": ["storm"],
           "probability": 35, "cooldown": 4, "constant": True, "disable": True, "scanDepth": 0,
           "excludeRecursion": True}  # fmt: skip
    assert note_of(raw, "Sea", RULES).text == (
        "---\ntags:\n  - lorebook\nkeys:\n  - Skarn\n  - the bell, old\nrefine_keys:\n  - storm\nconstant: true\n"
        "enabled: false\npriority: 750\nposition: in_chat\ndepth: 2\nrole: user\nprobability: 0.35\nscanDepth: 0\n"
        "excludeRecursion: true\ncooldown: 2\nwi_uid: 7\nwi_book: Sea\n---\n# Skarn\n\nAn island.\n"
    )
    fates = {one.field: one.fate for one in note_of(raw, "Sea", RULES).fate.fields}
    assert fates == dict.fromkeys(
        ["key", "comment", "content", "order", "position", "depth", "role", "keysecondary", "probability", "cooldown",
         "constant", "disable", "scanDepth"], Fidelity.EXACT,
    ) | {"excludeRecursion": Fidelity.APPROXIMATE}  # fmt: skip


def test_both_meanings_of_exclude_recursion_are_said() -> None:
    raw = {**NEW_ENTRY, "uid": 7, "key": ["bell"], "excludeRecursion": True, "preventRecursion": True}
    note = note_of(raw, "Sea", RULES)
    told = {one.field: one.how for one in note.fate.fields}
    assert "recursion does not find the entry; in DeepLore its text finds no others" in told["excludeRecursion"]
    assert "DeepLore's excludeRecursion means this" in told["preventRecursion"]
    own = {one.field: one for one in entry_of(note.text, "Bell.md", RULES).fate.fields}["excludeRecursion"]
    assert (own.fate, "in World Info recursion does not find" in own.how) == (Fidelity.APPROXIMATE, True)
    assert note.properties["excludeRecursion"] is note.properties["wi_prevent_recursion"] is True


@pytest.mark.parametrize(
    ("member", "value", "line", "fate"),
    [
        ("sticky", 3, "wi_sticky: 3", Fidelity.CARRIED),
        ("group", "mood, weather", "wi_group: mood, weather", Fidelity.CARRIED),
        ("position", 5, "wi_position: 5", Fidelity.APPROXIMATE),
        ("position", 1, "position: after", Fidelity.APPROXIMATE),
        ("cooldown", 5, "wi_cooldown: 5", Fidelity.APPROXIMATE),
        ("key", ["/rain/i", "fog"], "wi_key:\n  - /rain/i\n  - fog", Fidelity.APPROXIMATE),
        ("triggers", ["swipe"], "wi_triggers:\n  - swipe", Fidelity.CARRIED),
        ("caseSensitive", False, "wi_case_sensitive: false", Fidelity.CARRIED),
        ("useProbability", False, "wi_use_probability: false", Fidelity.CARRIED),
        ("comment", " two\nlines", 'wi_extra: \'{"comment":" two\\nlines"}\'', Fidelity.APPROXIMATE),
        ("order", "150", 'wi_order: "150"', Fidelity.APPROXIMATE),
        ("somebody", {"a": 1}, 'wi_extra: \'{"somebody":{"a":1}}\'', Fidelity.CARRIED),
    ],
)
def test_what_a_note_has_no_place_for_is_carried_and_said(member: str, value: Any, line: str, fate: Fidelity) -> None:
    note = note_of({**NEW_ENTRY, "uid": 1, "key": ["a"], "comment": "A", member: value}, "B", RULES)
    assert line in note.text
    assert next(one.fate for one in note.fate.fields if one.field == member) is fate


@pytest.mark.parametrize(
    ("pattern", "words"),
    [
        ("/cat|dog/", ["cat", "dog"]), ("/cats?/i", ["cat", "cats"]), (r"/\b(?:old )?bell\b/", ["bell", "old bell"]),
        ("/b(e|o)ll(s|)/", ["bells", "bell", "bolls", "boll"]), (r"/a\.b/", ["a.b"]), ("/ca+t/", []), ("/c[ao]t/", []),
        ("/(?=x)y/", []), (r"/\d/", []), ("/(a|b)(a|b)(a|b)(a|b)(a|b)/", []), ("/^a/", []),
    ],
)  # fmt: skip
def test_a_simple_pattern_becomes_the_words_that_it_finds(pattern: str, words: list[str]) -> None:
    note = note_of({**NEW_ENTRY, "uid": 1, "key": [pattern, "x"]}, "B", RULES)
    assert note.properties["keys"] == [*words, "x"]
    assert entry_of(note.text, "x.md", RULES).raw["key"] == [pattern, "x"]


def test_exclusion_is_said_by_newer_rules_and_carried_under_older_ones() -> None:
    raw = {**NEW_ENTRY, "uid": 1, "key": ["a"], "keysecondary": ["b", "c"], "selectiveLogic": 2}
    assert "selective_logic: not_any" in note_of(raw, "B", NEWER).text
    older = note_of(raw, "B", RULES).text
    assert "refine_keys" not in older
    assert "wi_secondary:\n  - b\n  - c\n" in older
    assert "wi_logic: 2\n" in older


NOTE = """---
tags: [lorebook, harbour, lorebook-seed]
aliases:
  - Old Bell
keys: [bell, "the, bell"]
priority: 40
requires: [Harbour]
warmup: 2
era: [past]
summary: A bell that rings.
enabled: false
own: "# text"
---
# The Bell

It [[Harbour|hangs]] there. %%secret%%
"""


def test_a_note_comes_back_from_a_lorebook_with_all_its_properties() -> None:
    said = entry_of(NOTE, "Bell.md", RULES)
    assert said.raw["content"] == "It hangs there."
    assert (said.raw["order"], said.raw["disable"], said.raw["comment"]) == (960, True, "The Bell")
    fates = {one.field: one.fate for one in said.fate.fields}
    assert fates["requires"] is fates["warmup"] is fates["own"] is fates["summary"] is Fidelity.CARRIED
    assert fates["text"] is Fidelity.APPROXIMATE
    values, body = values_of(note_of({"uid": 0, **said.raw}, "B", RULES).text)
    before, _body = values_of(NOTE)
    assert {name: value for name, value in values.items() if name not in {"wi_uid", "wi_book"}} == before
    assert body == "# The Bell\n\nIt hangs there."


PROPERTIES = st.fixed_dictionaries({}, optional={
    "keys": st.lists(st.sampled_from(["bell", "a, b", "storm"]), max_size=3),
    "refine_keys": st.lists(st.sampled_from(["x", "y"]), min_size=1), "priority": st.integers(-10, 1500),
    "position": st.sampled_from(["before", "after", "in_chat", "elsewhere"]), "depth": st.integers(0, 20),
    "role": st.sampled_from(["system", "user", "assistant", "nobody"]), "constant": st.booleans(),
    "enabled": st.booleans(), "probability": st.floats(0, 2), "cooldown": st.integers(0, 9),
    "outlet": st.sampled_from(["here", ""]), "scanDepth": st.integers(0, 9), "excludeRecursion": st.booleans(),
    "requires": st.lists(st.sampled_from(["Harbour"]), max_size=1), "summary": st.sampled_from(["a", "1", ""]),
})  # fmt: skip


@given(PROPERTIES)
@settings(max_examples=examples(100))
def test_any_note_means_the_same_after_it_was_a_lorebook(properties: dict[str, Any]) -> None:
    lines = "".join(f"{name}: {json.dumps(value)}\n" for name, value in properties.items())
    text = f"---\ntags: [lorebook]\n{lines}---\n# Bell\n\nA bell."
    raw = entry_of(text, "Bell.md", RULES).raw
    back = note_of({"uid": 3, **raw}, "B", RULES).text
    assert entry_of(back, "Bell.md", RULES).raw == raw
    found, wanted = parse_note(back, "Bell.md", "V", RULES), parse_note(text, "Bell.md", "V", RULES)
    assert isinstance(found, Entry) is isinstance(wanted, Entry)
    if isinstance(found, Entry) and isinstance(wanted, Entry):
        for name in ("title", "content", "keys", "refine_keys", "priority", "position", "depth", "role", "constant",
                     "outlet", "scan_depth", "exclude_recursion", "requires", "summary", "probability", "cooldown",
                     "warmup", "tags"):  # fmt: skip
            assert getattr(found, name) == getattr(wanted, name), name


def test_a_property_that_a_person_changes_counts_before_what_was_carried() -> None:
    raw = {**NEW_ENTRY, "uid": 1, "key": ["/a/", "b"], "position": 5, "order": 100, "cooldown": 5}
    then = note_of(raw, "B", RULES).text
    now = then.replace("position: before", "position: after", 1).replace("cooldown: 3", "cooldown: 4", 1)
    said = entry_of(now, "x.md", RULES, then).raw
    assert (said["position"], said["cooldown"], said["key"]) == (1, 8, ["/a/", "b"])
    assert list(restored(raw, said)) == list(raw)


def test_a_new_title_of_an_untitled_entry_changes_nothing_else() -> None:
    raw = {**NEW_ENTRY, "uid": 1, "key": ["fog"], "addMemo": True}
    text = note_of(raw, "B", RULES).text
    renamed = entry_of(text.replace("# fog", "# Fog bank"), "x.md", RULES, text)
    assert restored(raw, renamed.raw) == {**raw, "comment": "Fog bank"}


@pytest.mark.parametrize(("value", "off"), [(True, True), (1, True), ("1", True), ("yes", False), (2, False)])
def test_an_entry_is_switched_off_where_sillytavern_takes_it_so(value: Any, off: bool) -> None:
    note = note_of({**NEW_ENTRY, "uid": 1, "key": ["fog"], "disable": value}, "B", RULES)
    assert ("enabled" in note.properties) is off


def test_only_the_lines_that_an_entry_changes_are_changed_in_its_note() -> None:
    raw = {**NEW_ENTRY, "uid": 1, "addMemo": True, "key": ["bell"], "comment": "Bell", "content": "One.\nTwo.\nThree."}
    before = note_of(raw, "B", RULES)
    after = note_of({**raw, "order": 50, "sticky": 2, "content": "One.\nTwo.\nThree!"}, "B", RULES)
    mine = before.text.replace("keys:", "# my comment\nkeys:").replace("One.", "Mine.")
    text, open_pieces = changed_note(mine, before, after)
    assert text == mine.replace("priority: 900", "priority: 950").replace("Three.", "Three!").replace(
        "wi_book: B\n", "wi_book: B\nwi_sticky: 2\n"
    )
    assert not open_pieces
    _text, clash = changed_note(mine.replace("Three.", "Three?"), before, after)
    assert [(piece.mine, piece.theirs) for piece in clash] == [("Three?", "Three!")]


def test_what_never_goes_out_says_why() -> None:
    assert "wi_export" in entry_of(NOTE.replace("own:", "wi_export: false\nown:"), "B.md", RULES).left_out
    assert "tag" in entry_of("# Bare\n", "Bare.md", RULES).left_out
    assert "guide" in entry_of("---\ntags: [lorebook, lorebook-guide]\n---\n# G\n", "G.md", RULES).left_out


def test_a_note_of_deeplores_own_import_is_where_the_entry_was() -> None:
    front = "# original_st_position: 0\nposition: after\ncompress: caveman\nuse_probability: false\n"
    said = entry_of(f"---\ntags: [lorebook]\n{front}---\n# A\n\nText.", "A.md", NEWER)
    assert (said.raw["position"], said.raw["useProbability"]) == (0, False)
    assert {one.field: one.fate for one in said.fate.fields}["compress"] is Fidelity.APPROXIMATE


def test_a_note_with_windows_line_ends_makes_the_entry_of_the_same_note_without() -> None:
    text = "---\ntags: [lorebook]\nkeys: [bell]\n---\n# Bell\n\nIt rings.\n\nTwice.\n"
    plain, windows = (entry_of(each, "Bell.md", RULES) for each in (text, text.replace("\n", "\r\n")))
    assert windows.raw == plain.raw
    assert windows.fate == plain.fate
    assert plain.raw["content"] == "It rings.\n\nTwice."
