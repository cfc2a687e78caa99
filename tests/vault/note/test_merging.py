"""Three versions of a text brought together."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lorestudio.vault.note.three_way_merge import Side, joined, three_way

LINES = st.lists(st.sampled_from(["a\n", "b\n", "c\r\n", "d", "\n", "e\r"]), max_size=12).map("".join)


@given(base=LINES, mine=LINES, theirs=LINES)
def test_the_pieces_joined_are_each_version_again(base: str, mine: str, theirs: str) -> None:
    pieces = three_way(base, mine, theirs)
    assert "".join(piece.base for piece in pieces) == base
    assert "".join(piece.mine for piece in pieces) == mine
    assert "".join(piece.theirs for piece in pieces) == theirs


@given(base=LINES, changed=LINES)
def test_what_only_one_side_changed_needs_no_decision(base: str, changed: str) -> None:
    assert joined(three_way(base, changed, base), {}) == changed
    assert joined(three_way(base, base, changed), {}) == changed
    assert joined(three_way(base, changed, changed), {}) == changed


def test_changes_in_different_places_are_both_taken() -> None:
    base = "one\ntwo\nthree\nfour\nfive\n"
    pieces = three_way(base, base.replace("one", "ONE"), base.replace("five", "FIVE"))
    assert joined(pieces, {}) == "ONE\ntwo\nthree\nfour\nFIVE\n"
    assert [piece.side for piece in pieces] == [Side.MINE, Side.NOBODY, Side.THEIRS]


def test_changes_of_the_same_line_are_a_conflict() -> None:
    pieces = three_way("a\nb\nc\n", "a\nmine\nc\n", "a\ntheirs\nc\n")
    assert [piece.side for piece in pieces] == [Side.NOBODY, Side.CONFLICT, Side.NOBODY]
    assert joined(pieces, {1: "both\n"}) == "a\nboth\nc\n"
    with pytest.raises(ValueError, match="piece 2"):
        joined(pieces, {})
