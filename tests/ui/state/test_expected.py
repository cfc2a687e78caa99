"""What is marked of expectations: an entry, a reply, and an entry in a reply."""

from __future__ import annotations

from lorestudio.domain.chat import Generation
from lorestudio.studio.tuning.checking import CheckedChat, CheckedExpectation
from lorestudio.studio.tuning.expectations import Expectation, Judged, JudgedTurn, Should
from lorestudio.ui.state.expected import ExpectedMarks

LAMP, BELL = 0, 1


def test_only_who_breaks_it_is_marked_as_broken(qtbot) -> None:
    both = Judged(
        Expectation(Should.IN, ("Lamp", "Bell")),
        (JudgedTurn(Generation(2), False, frozenset({BELL})), JudgedTurn(Generation(4), True)),
        notes=(frozenset({LAMP}), frozenset({BELL})),
    )
    marks, heard = ExpectedMarks(), list[None]()
    marks.changed.connect(lambda: heard.append(None))
    marks.take(CheckedChat("story", "deeplore", (CheckedExpectation(both),)))
    places = [(Generation(2), LAMP), (Generation(2), BELL), (Generation(4), BELL), (None, LAMP), (None, BELL)]
    assert [marks.at(*place).met for place in places] == [True, False, True, True, False]
    assert [marks.at(Generation(number), None).met for number in (2, 4)] == [False, True]
    assert marks.at(Generation(2), BELL).words == "Not met: Lamp, Bell should be in"
    assert marks.at(Generation(6), BELL) is None
    marks.take(CheckedChat("story", "deeplore", (CheckedExpectation(both),)))
    assert len(heard) == 1
    marks.take(None)
    assert (marks.at(None, LAMP), len(heard)) == (None, 2)
