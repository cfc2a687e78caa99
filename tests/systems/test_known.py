"""What runs have in common is made once, of the very same source and of an equal key."""

from __future__ import annotations

import pytest

from lorestudio.systems import known as module
from lorestudio.systems.known import Known


def test_it_is_made_once_for_a_source_and_a_key() -> None:
    known, source, made = Known(), ["notes"], []

    def ask(of: object, key: str) -> int:
        def make() -> int:
            made.append(key)
            return len(made)

        return known.of(of, key, make)

    assert [ask(source, "a"), ask(source, "b"), ask(source, "a")] == [1, 2, 1]
    equal = ["notes"]  # another object: its numbers of entries may mean others
    assert ask(equal, "a") == 3
    assert ask(source, "a") == 1
    third = ["more"]
    assert ask(third, "a") == 4  # the source that was asked for least lately is forgotten, which is `equal`
    assert [ask(source, "a"), ask(equal, "a")] == [1, 5]


def test_of_too_many_things_the_oldest_is_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_MOST", 2)
    known, source = Known(), object()
    for key in "abc":
        known.of(source, key, lambda key=key: key.upper())
    assert known.of(source, "c", lambda: "made again") == "C"
    assert known.of(source, "a", lambda: "made again") == "made again"


def test_a_tuple_of_the_same_parts_is_the_same_source() -> None:
    known, books = Known(), (["a"], ["b"])
    assert known.of(books, "x", lambda: 1) == known.of((*books[:1], *books[1:]), "x", lambda: 2) == 1
    assert known.of((["a"], ["b"]), "x", lambda: 3) == 3  # others that say the same may not
