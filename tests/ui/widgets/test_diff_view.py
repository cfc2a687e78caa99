"""What differs between two texts."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from lorestudio.ui.widgets.diff_view import diff_lines, marked_html, word_spans

TEXT = st.lists(st.sampled_from(["one two\n", "three\n", "one four\n", "\n", "five & six\n"]), max_size=14).map("".join)


@given(before=TEXT, after=TEXT)
def test_each_side_can_be_put_together_again(before: str, after: str) -> None:
    lines = diff_lines(before, after)
    if not lines:
        assert before == after
        return
    old, at = before.splitlines(), 0
    for line in lines:
        if line.folded:
            at += line.folded
        elif line.sign != "+":
            assert old[at] == line.text
            at += 1
    assert at == len(old)
    come = [line.text for line in lines if line.sign == "+"]
    gone = [line.text for line in lines if line.sign == "-"]
    assert len(after.splitlines()) == len(old) + len(come) - len(gone)


def test_words_that_differ() -> None:
    before, after = "A grey dragon sleeps.", "A red dragon sleeps now."
    first, second = word_spans(before, after)
    assert [before[start:end] for start, end in first] == ["grey"]
    assert [after[start:end] for start, end in second] == ["red", " now"]


def test_nothing_is_marked_where_hardly_anything_is_the_same() -> None:
    assert word_spans("abc def", "123-456-789-000") == ((), ())


def test_marks_are_no_markup_of_the_text() -> None:
    assert marked_html("<b> & x", ((0, 3),), "s") == (
        '<div style="white-space: pre-wrap"><span style="s">&lt;b&gt;</span> &amp; x</div>'
    )
