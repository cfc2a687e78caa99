from __future__ import annotations

from lorestudio.domain.automaton import LONGEST_WORD, WordGroups, automaton_of


def test_words_are_found_with_their_values() -> None:
    automaton = automaton_of({"lamp": 1, "am": 2})
    assert automaton is not None
    assert sorted(automaton.iter("a lamp")) == [(4, 2), (5, 1)]
    assert automaton_of({}) is None


def test_a_word_of_a_million_letters_is_left_out() -> None:
    """Taking its automaton apart ended the program."""
    automaton = automaton_of({"a" * 1_000_000: 1, "b": 2})
    assert automaton is not None
    assert list(automaton.keys()) == ["b"]
    assert automaton_of({"a" * (LONGEST_WORD + 1): 1}) is None


def test_groups_with_a_word_in_a_text_are_told_in_order() -> None:
    long = "x" * (LONGEST_WORD + 1)
    groups = WordGroups([["oar", "lamp"], ["am"], ["bell"], None, [""], [long, "bell"], []])
    assert groups.near("a lamp") == [0, 1, 3, 4, 5]
    assert groups.near("no") == [3, 4, 5]
    assert WordGroups([["bell"], []]).near("no") == []
    assert WordGroups([]).near("a lamp") == []
