"""The parts of the context window that its case file does not cover: the examples of (rules: context-window 19)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lorestudio.domain.chat import Message
from lorestudio.domain.tokens import CharacterEstimate
from lorestudio.settings.contextwindow import ContextWindowSettings
from lorestudio.systems.contextwindow.mapping import (
    ChatTurns,
    ContextWindow,
    Lock,
    LockTable,
    LoreEntry,
    Refused,
    WindowTurn,
)
from lorestudio.systems.contextwindow.pages import Sharing, fit
from lorestudio.systems.contextwindow.selecting import matches, select
from lorestudio.systems.contextwindow.tokens import Cutting, Method, WordList, WordListCounter, cut_turns

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
    return {entry.key: entry.with_spellings() for entry in entries}


LORE = book(
    LoreEntry("dragon", "Ancient fire-breathing creature.", 10),
    LoreEntry("sword", "Sharp metal blade.", 5),
    LoreEntry("magic", "Mystical power source.", 3),
)


# ---- counting (examples 19, 24, 25) ---------------------------------------------------------------------------------


@pytest.mark.parametrize(("text", "count", "tokens"), [("😀", 4, 1), ("😀", 1, 2), ("", 4, 0), ("hello  world", 4, 2)])
def test_counts(text, count, tokens):
    settings = ContextWindowSettings(non_word_split_count=count)
    assert WordListCounter(WordList.of("fixture", WORDS), settings).count(text) == tokens


def test_leftovers_that_are_words_cost_more():
    letters = WordListCounter(WordList.of("letters", [*WORDS, *"abcdefghijklmnopqrstuvwxyz"]))
    assert (letters.count("shotgunner"), letters.count("the shotgunner")) == (4, 4)
    nothing = WordListCounter(WordList.of("empty", ["", ""]))
    assert (nothing.count("the dragon"), nothing.count("Ancient fire-breathing creature.")) == (3, 9)


def test_what_follows_punctuation_is_counted_by_its_length():
    """An entry, the hyphen, and nine characters."""
    assert COUNTER.count("Ancient fire-breathing") - COUNTER.count("Ancient") == 1 + 1 + 3


def test_a_huge_piece_is_counted_by_its_length():
    assert COUNTER.count("x" * 40_000) == 10_000


def test_a_word_list_says_which_one_it_is(tmp_path):
    file = tmp_path / "words.txt"
    file.write_text("Dragon\n\nsky\n", encoding="utf-8")
    words = WordList.read(file)
    assert (words.name, sorted(words.words), len(words.digest)) == ("words.txt", ["dragon", "sky"], 8)
    assert words.digest != WordList.of("other", ["dragon"]).digest


# ---- lorebook (examples 38, 43) -----------------------------------------------------------------------------------


def test_an_entry_gets_its_key_in_upper_and_lower_case_as_aliases():
    made = book(LoreEntry("Red Keep", alias_keys=("castle",)))
    assert made["Red Keep"].alias_keys == ("castle", "RED KEEP", "red keep")


def test_matching_knows_no_word_ends_and_gives_map_keys():
    made = book(LoreEntry("art"), LoreEntry("Dragon", alias_keys=("wyrm",)), LoreEntry("sky"))
    assert [match.key for match in matches(made, "The party saw a WYRMling.")] == ["art", "Dragon"]


# ---- locks (examples 97 to 100) -------------------------------------------------------------------------------------


def chosen(locks, text="a dragon with a sword", lorebook=LORE, *, original=False):
    table = LockTable.of(locks, source_compatible=original)
    return list(select(lorebook, text, 100, COUNTER, table.may_take).selected)


def fails():
    raise RuntimeError


@pytest.mark.parametrize("original", [False, True])
@pytest.mark.parametrize(
    ("closed", "passthrough", "expected"),
    [(True, None, ["sword"]), (True, lambda: True, ["dragon", "sword"]), (True, fails, ["sword"])],
)
def test_a_lock_keeps_an_entry_out_unless_it_is_let_through(closed, passthrough, expected, original):
    assert chosen({"dragon": Lock(closed, passthrough)}, original=original) == expected


@pytest.mark.parametrize(("passthrough", "expected"), [(lambda: False, ["sword"]), (fails, ["dragon", "sword"])])
def test_a_passthrough_decides_also_where_nothing_is_closed(passthrough, expected):
    locks = {"dragon": Lock(False, passthrough)}  # an open lock
    assert chosen(locks) == expected
    assert chosen({**locks, "magic": Lock()}, original=True) == expected


def test_a_locked_entry_still_satisfies_a_requirement():
    lorebook = book(
        LoreEntry("dragon", "one", 3),
        LoreEntry("sword", "one", 2, linked_keys=("dragon",)),
        LoreEntry("slayer", "one", 1, required_keys=("dragon",)),
    )
    assert chosen({"dragon": Lock()}, "a sword", lorebook) == ["sword", "slayer"]


def test_an_open_lock_that_was_added_last_opens_all_only_in_the_original():
    locks = {"sword": Lock(), "dragon": Lock(is_closed=False)}
    assert chosen(locks, original=True) == ["dragon", "sword"]
    assert chosen(locks) == ["dragon"]
    assert chosen(dict(reversed(locks.items())), original=True) == ["dragon"]


def test_a_lock_is_found_in_any_spelling():
    table = LockTable.of({"Dragon": Lock()})
    assert (table.refusal("DRAGON"), table.refusal("sword")) == (Refused.LOCKED, None)


# ---- turns ----------------------------------------------------------------------------------------------------------


def test_a_turn_of_a_text_that_survives_stays():
    turns = tuple(WindowTurn("user", text, str(place)) for place, text in enumerate(("one two", "the king", "one two")))
    fitted = fit(ContextWindow(history=turns), "", Sharing(4), COUNTER)
    assert [turn.text for turn in fitted.window.history] == ["one two", "one two"]
    assert fitted.turns.tokens == 4


class Noting:
    """A counter that notes what it is asked for."""

    name, exact, identity = "noting", False, "noting"

    def __init__(self):
        self.asked = []

    def count(self, text):
        self.asked.append(text)
        return COUNTER.count(text)


@pytest.mark.parametrize(("method", "counted"), [(Method.TOP, "9 8 7"), (Method.BOTTOM, "0 1 2")])
def test_turns_that_are_cut_away_are_not_counted(method, counted):
    """A long chat has thousands of them, at every reply."""
    counter = Noting()
    kept = cut_turns([f"one {place}" for place in range(10)], Cutting(4, 1, method), counter)
    assert (len(kept.order), kept.tokens) == (2, 4)
    assert {*counter.asked} == {f"one {place}" for place in counted.split()}


def test_a_chat_that_goes_on_is_given_the_turns_that_it_had():
    chat, made = tuple(Message("Wren", text, is_user=True) for text in "abc"), ChatTurns()
    before, after = made.turns(chat[:2]), made.turns(chat)
    assert all(one is other for one, other in zip(before, after, strict=False))
    assert after == ChatTurns().turns(chat)
    other = (chat[0], Message("Skarn", "b"), chat[2])
    assert made.turns(other) == ChatTurns().turns(other)
    assert made.turns(other[:1]) == before[:1]


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
    history = tuple(WindowTurn("user", turn, str(place)) for place, turn in enumerate(turns))
    window = ContextWindow(book(*lorebook), tuple(elements), history)
    fitted = fit(window, text, sharing, COUNTER)
    assert set(fitted.window.lore.items()) <= set(window.lore.items())
    assert sorted(fitted.window.elements) == sorted(set_of(fitted.window.elements, window.elements))
    assert set(fitted.window.history) <= set(window.history)
    if fitted.selection is not None:
        assert fitted.selection.used <= max(fitted.shares["lore"], 0)
        selected = fitted.selection.selected
        assert len(selected) == len(set(selected))
        assert set(selected) == set(fitted.window.lore)


def set_of(kept, given_):
    left = list(given_)
    for item in kept:
        left.remove(item)
    return list(kept)


@pytest.mark.parametrize("method", Method)
def test_turns_that_fit_or_have_no_limit_all_stay(method: Method) -> None:
    turns = [f"turn number {place}" for place in range(3)]  # half of the limit holds but one
    for limit in (9, 0, -1):
        assert cut_turns(turns, Cutting(limit, 1, method), CharacterEstimate("chars/5", 5)).order == (0, 1, 2)
