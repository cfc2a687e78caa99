from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lorestudio.vault import front_matter
from lorestudio.vault.note.spans import property_texts, split_places

LINES = st.lists(
    st.one_of(
        st.sampled_from([
            "requires: [A, 'B, c', \"D\"]", "requires:", "  - A", "- 'A b'", '- "A \\" b"', "requires: A, B", "x: |",
            "  more", "# comment", "excludes: []", "a: [", "a: ]", "b: 'x", "- ", "a: [x, , y]", 'c: ["a\\"b", z]',
        ]),
        st.text(st.sampled_from(list("ab:-[],'\"\\ \r\t|>#1~\u00a0\u2028")), max_size=14),
    ),
    max_size=8,
)  # fmt: skip


@given(LINES)
def test_texts_are_those_of_the_front_matter_reader_and_stand_where_said(lines: list[str]) -> None:
    text = "---\n" + "\n".join(lines) + "\n---\nbody"
    yaml_text, body = front_matter.split(text)
    start, end, body_start = split_places(text)
    assert text[body_start:] == body
    if yaml_text is None:
        assert start == end == body_start
        return
    assert text[start:end] == yaml_text
    values = front_matter.parse(yaml_text)
    found = property_texts(text)
    for name, texts in found.items():
        read = [part.value for part in texts] if texts[0].item is not None else texts[0].value
        assert read == values[name]
        for part in texts:
            written = text[part.start : part.end]
            assert written == part.value or "\\" in written
    missing = {name for name, value in values.items() if isinstance(value, str | list) and value} - found.keys()
    assert all(isinstance(values[name], str) for name in missing)  # block scalars


def test_places_with_byte_order_mark_and_crlf() -> None:
    text = "\ufeff---\r\nrequires:\r\n  - 'Old Bell'\r\n---\r\nbody"
    assert split_places(text) == (6, text.index("\r\n---\r\nbody"), len(text) - 4)
    (part,) = property_texts(text)["requires"]
    assert (part.value, text[part.start : part.end], part.item) == ("Old Bell", "Old Bell", 0)


@pytest.mark.parametrize("text", ["", "body", "---\na: 1", "\ufeffbody"])
def test_no_front_matter(text: str) -> None:
    place = 1 if text.startswith("\ufeff") else 0
    assert split_places(text) == (place, place, place)
    assert property_texts(text) == {}
