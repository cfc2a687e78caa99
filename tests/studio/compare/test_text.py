"""What a comparison says of each kind of change, of runs made by hand."""

from __future__ import annotations

import pytest

from lorestudio.domain.records import replace
from lorestudio.studio.compare.causes import What
from lorestudio.studio.compare.text import change_lines
from lorestudio.trace.diff import compare
from lorestudio.trace.model import EntryRef, Injection
from tests.trace.examples import trace

GATE = Injection(0, "Gate", "Gate (100)", 40, 50.0, 1, 4, 0, "t", "hash")
WALL = replace(GATE, entry=1, title="Wall", label="Wall (100)", content_hash="other")
REFS = {each: EntryRef(each, title, "World", f"{title}.md", 50, 40) for each, title in enumerate(("Gate", "Wall"))}


@pytest.mark.parametrize(
    ("before", "after", "what", "words", "tokens"),
    [
        ([GATE], [replace(GATE, tokens=25)], What.RESIZED, "40 → 25 tokens", -15),
        ([GATE], [replace(GATE, tokens=25, truncated=True)], What.RESIZED, "40 → 25 tokens, shortened now", -15),
        ([replace(GATE, tokens=25, truncated=True)], [GATE], What.RESIZED, "25 → 40 tokens, whole now", 15),
        (
            [replace(GATE, truncated=True)],
            [replace(GATE, tokens=30, truncated=True)],
            What.RESIZED,
            "40 → 30 tokens, shortened otherwise",
            -10,
        ),
        ([GATE], [replace(GATE, content_hash="new")], What.REWRITTEN, "as long, but other words", 0),
        (
            [GATE],
            [replace(GATE, depth=2)],
            What.MOVED,
            "in the chat at depth 4, as system → in the chat at depth 2, as system",
            0,
        ),
        ([GATE, WALL], [WALL, GATE], What.MOVED, "in another order, in the chat at depth 4, as system", 0),
    ],
)
def test_the_words_of_a_change(
    before: list[Injection], after: list[Injection], what: What, words: str, tokens: int
) -> None:
    diff = compare(trace(injections=tuple(before), entries=REFS), trace(injections=tuple(after), entries=REFS))
    (line,) = change_lines(diff)
    assert (line.what, line.words, line.tokens) == (what, words, tokens)
