"""Records of both kinds: copied with changes, and asked for their fields."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest
from msgspec import Struct

from lorestudio.domain.records import Terse, compared_fields, field_names, grouped, is_record, replace


class Note(Struct, frozen=True):
    title: str
    keys: tuple[str, ...] = ()
    links: dict[str, int] = {}


class Letter(Terse, frozen=True):
    unprinted = ("text",)

    to: str
    text: str = ""


class Reply(Letter, frozen=True, kw_only=True):
    unprinted = (*Letter.unprinted, "seal")

    seal: str


@dataclass(frozen=True, slots=True)
class Line:
    text: str
    marks: list[int] = field(default_factory=list)
    number: int | None = field(default=None, compare=False)


@pytest.mark.parametrize(
    ("record", "changes", "expected"),
    [
        (Note("Quay", ("stone",)), {"title": "Mole"}, Note("Mole", ("stone",))),
        (Line("bells", [1]), {"marks": []}, Line("bells")),
    ],
)
def test_a_copy_has_the_changes_and_the_rest(record, changes, expected) -> None:
    copy = replace(record, **changes)
    assert copy == expected
    assert type(copy) is type(record)
    assert copy != record


@pytest.mark.parametrize("record", [Note("Quay"), Line("bells")])
def test_an_unknown_field_is_refused(record) -> None:
    with pytest.raises(TypeError, match="depth"):
        replace(record, depth=4)


def test_a_terse_record_prints_its_other_fields_as_a_dataclass_does() -> None:
    assert repr(Letter("Ada", "Of stone.")) == "Letter(to='Ada')"
    assert repr([Reply("Ada", seal="wax")]) == "[Reply(to='Ada')]"
    assert repr(Terse()) == "Terse()"


def test_a_terse_record_is_compared_by_all_its_fields() -> None:
    assert Letter("Ada", "Of stone.") != Letter("Ada")
    assert replace(Letter("Ada"), text="Of stone.") == Letter("Ada", "Of stone.")


def test_what_the_fields_are() -> None:
    assert field_names(Note) == ("title", "keys", "links")
    assert field_names(Line) == ("text", "marks", "number")
    assert compared_fields(Note) == {"title": True, "keys": False, "links": False}
    assert compared_fields(Line) == {"text": True, "marks": False}


def test_what_a_record_is() -> None:
    assert [is_record(each) for each in (Note, Line, Note("Quay"), dict, None)] == [True, True, False, False, False]


def test_pairs_are_grouped_in_the_order_in_which_they_come() -> None:
    assert grouped([("quay", 2), ("inn", 1), ("quay", 0)]) == {"quay": [2, 0], "inn": [1]}
    assert list(grouped([("quay", 2), ("inn", 1), ("quay", 0)])) == ["quay", "inn"]
