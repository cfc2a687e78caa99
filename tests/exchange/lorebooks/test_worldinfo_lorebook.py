"""Lorebook documents: native, in a card, of other programs; and what is said of fields that have no effect."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from lorestudio.exchange.lorebooks.entry import BookError, BookPlace, Extra
from lorestudio.exchange.lorebooks.kinds.card_book import EXTENSIONS
from lorestudio.exchange.lorebooks.reading import BookRole, edited, load_lorebook, read_lorebook, with_texts
from lorestudio.vault.edited_vaults import NoteText


def remarks(entry: dict[str, object]) -> str:
    return " ".join(read_lorebook({"entries": {"0": entry}}).remarks)


def test_every_field_of_an_entry_is_read() -> None:
    raw = {
        "uid": 4, "key": ["a"], "vectorized": True, "position": 7, "outletName": "lore", "triggers": ["swipe"],
        "ignoreBudget": True, "matchScenario": True, "matchPersonaDescription": True, "group": "one, two",
        "characterFilter": {"isExclude": True, "names": ["Skarn"], "tags": ["t1"]},
    }  # fmt: skip
    entry = read_lorebook({"entries": {"4": raw}}).entries[0]
    assert (entry.vectorized, entry.place, entry.outlet, entry.triggers) == (True, BookPlace.OUTLET, "lore", ("swipe",))
    assert (entry.ignores_budget, entry.extras) == (True, (Extra.PERSONA, Extra.SCENARIO))
    assert (entry.groups, entry.group, entry.tags) == (("one", "two"), "one, two", ("t1",))


@pytest.mark.parametrize(
    ("field", "words"),
    [
        ({"mystery": 3}, "the field “mystery”"),
        ({"keys": ["b"]}, "it changes nothing. Did you mean “key”?"),
        ({"extensions": {"plugin": 1}}, "“extensions.plugin”"),
        ({"automationId": "open"}, "no quick reply runs"),
        ({"position": 9}, "stands nowhere"),
        ({"position": 7}, "none is named"),
        ({"key": ["/(/"]}, "no usable pattern"),
        ({"key": ["/[😀-😂]/"]}, "no usable pattern (“[😀-😂]” is no pattern"),
        ({"key": ["a", {}]}, "no list of texts"),
        ({"keysecondary": "a, b"}, "no list of texts"),
    ],
)
def test_what_has_no_effect_is_said(field: dict[str, object], words: str) -> None:
    assert words in remarks({"key": ["a"], **field})


@pytest.mark.parametrize("field", ["priority", "folder", "id", "active"])
def test_a_field_of_another_program_is_taken_for_no_slip(field: str) -> None:
    """It means something else than the field of World Info that is spelled most like it."""
    told = remarks({"key": ["a"], field: 3})
    assert (f"the field “{field}”" in told, "Did you mean" in told) == (True, False)


def test_what_many_entries_have_in_common_is_said_once() -> None:
    entries = {str(uid): {"uid": uid, "key": ["/(/"], "comment": f"E{uid}", "position": 0} for uid in range(5)}
    [told] = read_lorebook({"entries": entries}).remarks
    assert told.startswith("“E0”, “E1”, “E2” and 2 more: the key /(/ ")
    for uid, entry in entries.items():
        entry["key"] = [f"/({uid}/"]
    [told] = read_lorebook({"entries": entries}).remarks
    assert told.startswith("“E0”, “E1”, “E2” and 2 more: 5 keys are no usable patterns, /(0/ for one (")


def test_what_changes_nothing_is_said_last_and_in_one_sentence() -> None:
    """A line for each field of a plug-in buried the key that could not be used."""
    entry = {"key": ["/(/"], "mystery": 3, "keys": ["b"], "extensions": {"plugin": 1, "depth": 4}, "position": 0}
    broken, slip, last = read_lorebook({"entries": {"0": entry, "1": {"mystery": 4, "position": 0}}}).remarks
    assert "no usable pattern" in broken
    assert "Did you mean “key”?" in slip
    assert last == (
        "The entries have 2 fields that the scan does not know, so they change nothing: “mystery”, “extensions.plugin”."
    )


def test_what_an_import_of_a_cards_book_leaves_behind_is_not_told() -> None:
    """SillyTavern keeps the card's extensions in each entry beside the fields that it made of them."""
    said = dict.fromkeys(EXTENSIONS, 0)
    assert not remarks({"key": ["a"], "position": 0, "extensions": said})
    assert "“extensions.plugin”" in remarks({"key": ["a"], "position": 0, "extensions": {**said, "plugin": 1}})


def test_of_an_ordinary_entry_nothing_is_said() -> None:
    raw = {
        "uid": 0, "key": ["a"], "keysecondary": [], "comment": "", "content": "", "constant": False,
        "vectorized": False, "selective": True, "selectiveLogic": 0, "addMemo": True, "order": 100, "position": 0,
        "disable": False,
        "excludeRecursion": False, "preventRecursion": False, "delayUntilRecursion": False, "probability": 100,
        "useProbability": True, "depth": 4, "group": "", "groupOverride": False, "groupWeight": 100, "scanDepth": None,
        "caseSensitive": None, "matchWholeWords": None, "useGroupScoring": None, "automationId": "", "role": None,
        "sticky": 0, "cooldown": 0, "delay": 0, "displayIndex": 0, "matchScenario": False, "outletName": "",
        "triggers": [], "ignoreBudget": False, "extensions": {},
    }  # fmt: skip
    assert not remarks(raw)


def test_the_book_in_a_card() -> None:
    """The mapping and its defaults (rules: sillytavern 5.5)."""
    entry = {
        "id": 3, "keys": ["a"], "secondary_keys": ["b"], "name": "N", "content": "x", "enabled": True,
        "use_regex": True, "insertion_order": 3, "extensions": {
            "vectorized": True, "prevent_recursion": True, "group_weight": 7, "match_scenario": True,
            "display_index": 2, "other": 1, "lorestudio": {"deeplore": {}}, "lorestudio_kept": {},
        },
    }  # fmt: skip
    card = {"spec": "chara_card_v2", "data": {"name": "S", "character_book": {"token_budget": 9, "entries": [entry]}}}
    book = read_lorebook(card)
    made = book.entries[0]
    assert (made.uid, made.keys, made.secondary, made.comment, made.order) == ("3", ("a",), ("b",), "N", 3)
    assert (made.vectorized, made.prevent_recursion, made.group_weight, made.selective) == (True, True, 7, False)
    assert (made.place, made.probability, made.depth) == (BookPlace.AFTER, None, 4)
    assert made.extras == (Extra.SCENARIO,)
    told = " ".join(book.remarks)
    assert "token_budget" in told
    assert "“extensions.other”" in told
    assert "lorestudio" not in told
    assert "use_regex" not in told


def test_a_cards_book_in_a_file_of_its_own(tmp_path: Path) -> None:
    path = tmp_path / "book.json"
    entry = {"keys": ["a"], "content": "x", "enabled": True, "insertion_order": 3}
    path.write_text(json.dumps({"spec": "lorebook_v3", "data": {"name": "B", "entries": [entry]}}))
    book = load_lorebook(path)
    assert [(each.keys, each.order, each.place) for each in book.entries] == [(("a",), 3, BookPlace.AFTER)]
    assert (book.name, book.role) == ("book", BookRole.GLOBAL)


def test_a_cards_entry_is_on_only_where_it_says_so() -> None:
    entries = [{"keys": ["a"], "enabled": True}, {"keys": ["a"]}]
    assert [entry.disabled for entry in read_lorebook({"entries": entries}).entries] == [False, True]


def test_books_of_other_programs() -> None:
    """What each field becomes; all of them stand before the character (rules: sillytavern 5.3)."""
    memory = {"keywords": ["k"], "name": "N", "entry": "T", "weight": 7, "enabled": False}
    lore = {"key": "a, b", "secondkey": "c", "comment": "N", "content": "T", "alwaysActive": True, "selective": True}
    tale = {"keys": ["k"], "displayName": "N", "text": "T", "enabled": True, "contextConfig": {"budgetPriority": 400}}
    agnai = {"kind": "memory", "entries": [memory]}
    risu = {"type": "risu", "data": [{**lore, "insertorder": 4, "activationPercent": 30}]}
    novel = {"lorebookVersion": 5, "entries": [tale]}
    one, two, three = (read_lorebook(document).entries[0] for document in (agnai, risu, novel))
    assert (one.keys, one.comment, one.content, one.order, one.disabled) == (("k",), "N", "T", 7, True)
    assert (two.keys, two.secondary, two.constant, two.order, two.probability) == (("a", "b"), ("c",), True, 4, 30)
    assert (three.keys, three.comment, three.content, three.order, three.disabled) == (("k",), "N", "T", 400, False)
    assert {entry.place for entry in (one, two, three)} == {BookPlace.BEFORE}
    always = read_lorebook({"type": "risu", "data": [{**lore, "activationPercent": 0}]}).entries[0]
    assert always.probability is None  # 0 is taken for "no lot is drawn"
    assert "NovelAI" in read_lorebook(novel).remarks[0]


def test_entries_are_listed_by_their_number_and_what_an_import_leaves_out_changes_nothing() -> None:
    """`Object.keys` lists numbers first, ascending; an import puts an entry under its id (rules: sillytavern 5.3)."""
    raws = {"10": {"comment": "c"}, "b": {"comment": "d"}, "2": {"comment": "a"}, "9": {"comment": "b"}}
    assert [entry.comment for entry in read_lorebook({"entries": raws}).entries] == ["a", "b", "c", "d"]
    twice = [{"id": 5, "name": "late"}, {"id": 1, "name": "one"}, {"id": 5, "name": "later", "depth": 9, "order": 3}]
    book = read_lorebook({"character_book": {"entries": twice}})
    assert [(entry.uid, entry.comment, entry.depth) for entry in book.entries] == [("1", "one", 4), ("5", "later", 4)]
    assert "“entry.depth”" in " ".join(book.remarks)


def test_a_bare_list_is_a_book_and_a_word_is_none() -> None:
    assert [entry.keys for entry in read_lorebook([{"key": ["a"]}, {"key": ["b"]}]).entries] == [("a",), ("b",)]
    for document in ("word", 3, {"type": "risu"}, {"character_book": {}}):
        with pytest.raises(BookError):
            read_lorebook(document)


def test_a_content_or_group_that_is_no_text_is_told_with_what_sillytavern_does():
    """Facts of world-info.js 1.18: reading decorators of such a content throws, and the whole list is then empty."""
    entries = {"0": {"uid": 0, "comment": "Crane", "content": 5}, "1": {"uid": 1, "comment": "Mill", "group": 7}}
    book = read_lorebook({"entries": entries})
    assert book.spoils
    assert [remark for remark in book.remarks if "is no text" in remark] == [
        "“Crane”: “content” is no text; SillyTavern then scans nothing, of any book. Write it between quotation marks.",
        "“Mill”: “group” is no text; SillyTavern fails where the entry comes in. Write it between quotation marks.",
    ]
    assert not read_lorebook({"entries": {"0": {"uid": 0, "content": 0}}}).spoils
    whole = edited(replace(book, owners=frozenset({"hob"})), {"0": {"content": "A crane."}})
    assert (whole.spoils, whole.owners) == (False, {"hob"})
    assert not with_texts([book], [NoteText(book.name, "uid 0", "---\n---\nA crane.")])[0].spoils
