from __future__ import annotations

import pytest

from lorestudio.domain import automaton as module
from lorestudio.domain.automaton import LONGEST_WORD, WordGroups, automaton_of
from lorestudio.domain.lifecycle import Cancelled, stoppable
from tests.conftest import LaterStop


def test_words_are_found_with_their_values() -> None:
    automaton = automaton_of({"lamp": 1, "am": 2})
    assert automaton is not None
    assert sorted(automaton.iter("a lamp")) == [(4, 2), (5, 1)]
    assert automaton_of({}) is None


def test_a_word_of_a_million_letters_is_left_out() -> None:
    """Taking its automaton apart ended the program."""
    automaton = automaton_of({"a" * 1_000_000: 1, "b": 2})
    assert automaton is not None
    assert list(automaton.iter("aab")) == [(2, 2)]
    assert automaton_of({"a" * (LONGEST_WORD + 1): 1}) is None
    assert automaton_of({"": 1}) is None


def test_groups_with_a_word_in_a_text_are_told_in_order() -> None:
    long = "x" * (LONGEST_WORD + 1)
    groups = WordGroups([["oar", "lamp"], ["am"], ["bell"], None, [""], [long, "bell"], []])
    assert groups.near("a lamp") == [0, 1, 3, 4, 5]
    assert groups.near("no") == [3, 4, 5]
    assert WordGroups([["bell"], []]).near("no") == []
    assert WordGroups([]).near("a lamp") == []


def test_making_one_can_be_stopped_between_words_and_between_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_WORDS", 2)
    words = {word: word for word in ("lamp", "am", "bell", "oar", "ell")}
    token = LaterStop()
    with stoppable(token):
        finder = automaton_of(words)
    assert finder is not None
    assert len(finder.parts) == 3
    assert {word for _, word in finder.iter("a lamp, a bell")} == {"lamp", "am", "bell", "ell"}
    assert list(finder.iter("a lamp, a bell", 8)) == [(13, "bell"), (13, "ell")]
    assert token.looks == 2 * len(words)
    token.cancel()
    with pytest.raises(Cancelled), stoppable(token):
        automaton_of(words)
