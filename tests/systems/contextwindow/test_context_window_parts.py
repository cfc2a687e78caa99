"""The parts of the context window that its case file does not cover: the examples of (rules: context-window 19)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lorestudio.settings.contextwindow import CountingSettings
from lorestudio.systems.contextwindow import lore
from lorestudio.systems.contextwindow.budgeting import Sharing, combined_text, filled, fit
from lorestudio.systems.contextwindow.counting import WordList, WordListCounter
from lorestudio.systems.contextwindow.locks import LockTable, Refused
from lorestudio.systems.contextwindow.lore import LoreEntry
from lorestudio.systems.contextwindow.selecting import count_and_sort_hits, matching_keys, select
from lorestudio.systems.contextwindow.truncating import Method, chunks
from lorestudio.systems.contextwindow.window import (
    ContextWindow,
    WindowRole,
    WindowTurn,
    window_from_json,
    window_to_json,
    with_turn,
)

WORDS = [
    "ancient",
    "art",
    "blade",
    "breathing",
    "creature",
    "dragon",
    "entry",
    "fire",
    "gold",
    "gun",
    "hello",
    "high",
    "keep",
    "king",
    "knight",
    "low",
    "magic",
    "medium",
    "metal",
    "mystical",
    "one",
    "power",
    "priority",
    "red",
    "sharp",
    "shot",
    "shotgun",
    "sky",
    "source",
    "sword",
    "the",
    "tower",
    "two",
    "word",
    "world",
]
COUNTER = WordListCounter(WordList.of("fixture", WORDS))


def book(*entries):
    made = {}
    for entry in entries:
        made = lore.with_entry(made, entry)
    return made


LORE = book(
    LoreEntry("dragon", "Ancient fire-breathing creature.", 10),
    LoreEntry("sword", "Sharp metal blade.", 5),
    LoreEntry("magic", "Mystical power source.", 3),
)


# ---- counting (examples 19, 24, 25) ---------------------------------------------------------------------------------


@pytest.mark.parametrize(("text", "count", "tokens"), [("😀", 4, 1), ("😀", 1, 2), ("", 4, 0), ("hello  world", 4, 2)])
def test_counts(text, count, tokens):
    settings = CountingSettings(non_word_split_count=count)
    assert WordListCounter(WordList.of("fixture", WORDS), settings).count(text) == tokens


def test_leftovers_that_are_words_cost_more():
    letters = WordListCounter(WordList.of("letters", [*WORDS, *"abcdefghijklmnopqrstuvwxyz"]))
    assert (letters.count("shotgunner"), letters.count("the shotgunner")) == (4, 4)
    nothing = WordListCounter(WordList.of("empty", ["", ""]))
    assert (nothing.count("the dragon"), nothing.count("Ancient fire-breathing creature.")) == (3, 9)


def test_the_costs_of_a_piece_say_which_rule_holds():
    costs = COUNTER.explain("Ancient fire-breathing")[1]
    assert [(str(cost.rule), cost.text, cost.tokens) for cost in costs] == [
        ("entry", "fire", 1), ("gap", "-", 1), ("remainder", "breathing", 3),
    ]  # fmt: skip


def test_a_huge_piece_is_counted_by_its_length():
    assert COUNTER.count("x" * 40_000) == 10_000
    assert COUNTER.explain("x" * 40_000)[0][0].rule == "too long"


def test_a_word_list_says_which_one_it_is(tmp_path):
    file = tmp_path / "words.txt"
    file.write_text("Dragon\n\nsky\n", encoding="utf-8")
    words = WordList.read(file)
    assert (words.name, sorted(words.words), len(words.digest)) == ("words.txt", ["dragon", "sky"], 8)
    assert words.digest != WordList.of("other", ["dragon"]).digest


# ---- lorebook (examples 38 to 44) -----------------------------------------------------------------------------------


def test_an_entry_gets_its_key_in_upper_and_lower_case_as_aliases():
    made = book(LoreEntry("Red Keep", alias_keys=("castle",)))
    assert made["Red Keep"].alias_keys == ("castle", "RED KEEP", "red keep")
    assert all(lore.find(made, key) for key in ("red keep", "RED KEEP", "rEd kEEp", "Castle", "CASTLE"))
    assert lore.find(made, "castles") is None


def test_keys_in_upper_case_are_found_first():
    made = book(LoreEntry("ORC", "1"), LoreEntry("orc", "2"), LoreEntry("Orc", "3"))
    assert lore.find(made, "Orc").value == "1"


def test_cleaning_replaces_in_keys_and_leaves_references():
    made = lore.cleaned(book(LoreEntry("red_keep")), "_", " ")
    assert made["red keep"].alias_keys == ("RED_KEEP", "red_keep", "RED KEEP", "red keep")
    three = book(LoreEntry("a_b", "1", linked_keys=("c-d",)), LoreEntry("c-d", "2"), LoreEntry("a b", "3"))
    cleaned = lore.cleaned(three, "_, -", " ")
    assert [(key, entry.value) for key, entry in cleaned.items()] == [("a b", "3"), ("c d", "2")]
    assert not any("c d" in entry.linked_keys for entry in cleaned.values())


def test_cleaning_with_nothing_adds_a_pair_of_aliases_each_time():
    once = lore.cleaned(book(LoreEntry("Dragon")))
    assert once["Dragon"].alias_keys == ("DRAGON", "dragon") * 2
    assert lore.cleaned(once)["Dragon"].alias_keys == ("DRAGON", "dragon") * 3


def test_an_empty_banned_text_counts_only_in_the_original():
    assert list(lore.cleaned(book(LoreEntry("red")), "", "_")) == ["red"]
    assert list(lore.cleaned(book(LoreEntry("red")), "", "_", source_compatible=True)) == ["_r_e_d_"]


def test_matching_knows_no_word_ends_and_gives_map_keys():
    made = book(LoreEntry("art"), LoreEntry("Dragon", alias_keys=("wyrm",)), LoreEntry("sky"))
    assert matching_keys(made, "The party saw a WYRMling.") == ("art", "Dragon")
    assert count_and_sort_hits(["b", "a", "b", "c"]) == [("b", 2), ("a", 1), ("c", 1)]
    assert count_and_sort_hits([]) == []


def test_combining_joins_values_and_requirements():
    both = LoreEntry("a", "one", 3, ("x",), ("y",), ("p",)).combined(
        LoreEntry("b", "two", 9, ("u",), ("v",), ("p", "q"))
    )
    assert both == LoreEntry("a", "one two", 3, ("x",), ("y",), ("p", "q"))


# ---- merging (examples 93 to 96) ------------------------------------------------------------------------------------


def merge_windows(**flags):
    a = ContextWindow(
        {
            "dragon": LoreEntry("dragon", "Fire beast.", 10, ("x",), ("wyrm", "DRAGON", "dragon"), ("fire",)),
            "sword": LoreEntry("sword"),
        },
        ("one", "two"),
        (WindowTurn(WindowRole.USER, "old", "1"),),
    )
    b = ContextWindow(
        {
            "dragon": LoreEntry("dragon", "Ancient wyrm.", 12, ("y",), ("drake", "DRAGON", "dragon"), ("ancient",)),
            "magic": LoreEntry("magic"),
        },
        ("two", "three"),
        (WindowTurn(WindowRole.USER, "new", "2"),),
    )
    return a.merged(b, **flags)


UNITED = ("wyrm", "DRAGON", "dragon", "drake")


@pytest.mark.parametrize(
    ("flags", "dragon"),
    [
        ({"source_compatible": True}, ("Ancient wyrm.", 12, ("y",), ("drake", "DRAGON", "dragon"), ("ancient",))),
        ({}, ("Ancient wyrm.", 12, ("x", "y"), UNITED, ("ancient",))),
        ({"append": True}, ("Fire beast. Ancient wyrm.", 10, ("x", "y"), UNITED, ("fire", "ancient"))),
        ({"append": True, "emplace": False},
         ("Fire beast. Ancient wyrm.", 10, ("x", "y"), UNITED, ("fire", "ancient"))),
        ({"emplace": False}, ("Fire beast.", 10, ("x", "y"), UNITED, ("fire", "ancient"))),
    ],
)  # fmt: skip
def test_merging_an_entry_that_both_have(flags, dragon):
    merged = merge_windows(**flags)
    assert merged.lore["dragon"] == LoreEntry("dragon", *dragon)
    assert list(merged.lore) == ["dragon", "sword", "magic"]
    assert merged.elements == ("one", "two", "three")


@pytest.mark.parametrize(
    ("flags", "texts"),
    [
        ({}, ["old", "new"]),
        ({"source_compatible": True}, ["old"]),
        ({"emplace_history": True}, ["new"]),
        ({"emplace_history": True, "only_if_empty": True}, ["old"]),
    ],
)
def test_merging_conversations(flags, texts):
    assert [turn.text for turn in merge_windows(**flags).history] == texts


def test_merging_changes_neither_window():
    merge_windows()
    a = ContextWindow({"a": LoreEntry("a")})
    a.merged(ContextWindow({"b": LoreEntry("b")}))
    assert list(a.lore) == ["a"]


# ---- locks (examples 97 to 100) -------------------------------------------------------------------------------------


def chosen(table, text="a dragon with a sword", lorebook=LORE):
    return list(select(lorebook, text, 100, COUNTER, table.may_take("page")).selected)


def table_with(**options):
    return LockTable(source_compatible=True).with_lock("dragon", {"page": LORE}, **options)


def fails():
    raise RuntimeError


def test_a_lock_keeps_an_entry_out_while_its_window_is_closed():
    table = table_with()
    assert chosen(table) == ["sword"]
    assert chosen(LockTable(table.locks, {"page": False}, True)) == ["dragon", "sword"]


@pytest.mark.parametrize(
    ("locked", "passthrough", "expected"),
    [
        (True, lambda: True, ["dragon", "sword"]),
        (False, lambda: False, ["sword"]),
        (True, fails, ["sword"]),
        (False, fails, ["dragon", "sword"]),
    ],
)
def test_a_passthrough_decides(locked, passthrough, expected):
    table = table_with(locked=locked, passthrough=passthrough)
    assert chosen(LockTable(table.locks, {"page": True}, True)) == expected


def test_a_locked_entry_still_satisfies_a_requirement():
    lorebook = book(
        LoreEntry("dragon", "one", 3),
        LoreEntry("sword", "one", 2, linked_keys=("dragon",)),
        LoreEntry("slayer", "one", 1, required_keys=("dragon",)),
    )
    table = LockTable().with_lock("dragon", {"page": lorebook})
    assert chosen(table, "a sword", lorebook) == ["sword", "slayer"]


def test_opening_one_lock_opens_all_only_in_the_original():
    for compatible, expected in ((True, ["dragon", "sword"]), (False, ["dragon"])):
        table = LockTable(source_compatible=compatible)
        table = table.with_lock("dragon", {"page": LORE}).with_lock("sword", {"page": LORE})
        assert chosen(table.switched("DRAGON", locked=False)) == expected


def test_locked_keys_and_pages():
    table = LockTable().with_lock("Dragon", {"page": LORE}, "page").with_lock("secret", {}, page_lock=True)
    assert table.locked_keys("page", LORE) == ("dragon",)
    assert table.locked_keys("other", LORE) == ()
    assert table.hides_page("Secret")
    assert not table.hides_page("page")
    assert not table.switched("secret", locked=False).hides_page("secret")
    assert table.refusal("page", "dragon") is Refused.LOCKED
    assert table.without("dragon").refusal("page", "dragon") is None
    compatible = LockTable(source_compatible=True).with_lock("dragon", {"page": LORE}, "page")
    assert compatible.locked_keys("page", LORE) == ()  # only locks of all pages are listed


# ---- string mode, chunks, files -------------------------------------------------------------------------------------


def test_the_string_is_cut_without_a_multiplier_only_here():
    window = ContextWindow(LORE, ("one two", "the king"))
    whole = "Ancient fire-breathing creature. one two the king"
    assert combined_text(window, "dragon sword", Sharing(8, source_compatible=True), COUNTER) == whole
    assert combined_text(window, "dragon sword", Sharing(8), COUNTER) == "creature. one two the king"
    with pytest.raises(ValueError, match="multiplyWindowSizeBy"):
        combined_text(window, "dragon", Sharing(8, -1), COUNTER)


def test_filling_keeps_entries_in_the_window_but_not_in_the_string():
    window = filled(ContextWindow(LORE, ("one two",)), "dragon", 30, COUNTER)
    assert list(window.lore) == ["dragon", "sword", "magic"]
    text = combined_text(window, "dragon", Sharing(30, source_compatible=True), COUNTER)
    assert text == "Ancient fire-breathing creature. one two"


def test_chunks_hold_as_many_words_as_fit():
    assert chunks("one two the dragon sword", 2, COUNTER) == ("one two", "the dragon", "sword")
    assert chunks("one two the dragon", 2, COUNTER, overlap=1) == ("one two", "two the dragon")
    assert chunks("one", 0, COUNTER) == chunks("", 5, COUNTER) == ()


def test_a_window_is_read_back_as_it_was_written():
    window = ContextWindow(LORE, ("one", "two"), (WindowTurn(WindowRole.ASSISTANT, "hello", "7"),), 4000, 3)
    assert window_from_json(window_to_json(window)) == window


def test_a_document_of_a_model_is_read_leniently():
    window = window_from_json(
        {
            "loreBookKeys": {"a": {"value": "x", "weight": "2.7"}, "b": {"weight": -1.5}, "c": {"weight": []}},
            "converseHistory": {"history": [{"role": "USER", "content": {"text": "hi"}}]},
            "unknown": 1,
        },
        new_id=lambda: "made",
    )
    assert [(entry.key, entry.weight) for entry in window.lore.values()] == [("a", 2), ("b", -1), ("c", 0)]
    assert window.history == (WindowTurn(WindowRole.USER, "hi", "made"),)
    with pytest.raises(ValueError, match=r"converseHistory\.history\[0\]\.role: “bard”"):
        window_from_json({"converseHistory": {"history": [{"role": "bard"}]}})
    with pytest.raises(ValueError, match="loreBookKeys: an object"):
        window_from_json({"loreBookKeys": []})


def test_a_turn_is_there_once():
    history = with_turn((), WindowTurn(WindowRole.USER, "a"), lambda: "1")
    assert with_turn(history, WindowTurn(WindowRole.USER, "other text", "1")) == history
    assert [turn.uuid for turn in with_turn(history, WindowTurn(WindowRole.USER, "a"), lambda: "2")] == ["1", "2"]


def test_a_turn_of_a_text_that_survives_stays():
    turns = tuple(
        WindowTurn(WindowRole.USER, text, str(place)) for place, text in enumerate(("one two", "the king", "one two"))
    )
    fitted = fit(ContextWindow(history=turns), "", Sharing(4), COUNTER)
    assert [turn.text for turn in fitted.window.history] == ["one two", "one two"]
    assert fitted.turns.tokens == 4


# ---- what always holds ----------------------------------------------------------------------------------------------

texts = st.lists(st.sampled_from([*WORDS, "zzz", "", "fire-breathing"]), max_size=5).map(" ".join)
entries = st.builds(
    LoreEntry,
    st.sampled_from(WORDS),
    texts,
    st.integers(-3, 3),
    st.lists(st.sampled_from(WORDS), max_size=2).map(tuple),
    st.lists(st.sampled_from(WORDS), max_size=2).map(tuple),
    st.lists(st.sampled_from(WORDS), max_size=2).map(tuple),
)


@given(
    st.lists(entries, max_size=8),
    st.lists(texts, max_size=5),
    st.lists(texts, max_size=5),
    texts,
    st.builds(
        Sharing,
        st.integers(-3, 40),
        st.integers(0, 2),
        st.sampled_from(Method),
        st.booleans(),
        st.booleans(),
        st.booleans(),
    ),
)
def test_lore_holds_its_limit_and_nothing_is_made_up(lorebook, elements, turns, text, sharing):
    history = tuple(WindowTurn(WindowRole.USER, turn, str(place)) for place, turn in enumerate(turns))
    window = ContextWindow(book(*lorebook), tuple(elements), history)
    fitted = fit(window, text, sharing, COUNTER)
    assert set(fitted.window.lore.items()) <= set(window.lore.items())
    assert sorted(fitted.window.elements) == sorted(set_of(fitted.window.elements, window.elements))
    assert set(fitted.window.history) <= set(window.history)
    if fitted.selection is not None:
        limit = next(share.limit for share in fitted.shares if share.part == "lore")
        assert fitted.selection.used <= max(limit, 0)
        selected = fitted.selection.selected
        assert len(selected) == len(set(selected))
        assert set(selected) == set(fitted.window.lore)


def set_of(kept, given_):
    left = list(given_)
    for item in kept:
        left.remove(item)
    return list(kept)
