from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from lorestudio.studio.notes.changes.change_set import (
    ChangeSet,
    DiffLineKind,
    NoteFileChange,
    changed_references,
    difference,
    shown_name,
)

FILE = Path("/v/a.md")


def shown(before: str | None, after: str | None) -> list[str]:
    return [f"{line.kind.value}{line.number}{line.text}" for line in difference(NoteFileChange(FILE, before, after))]


def test_a_difference_shows_one_line_around_it() -> None:
    assert shown("a\nb\nc\nd\ne\n", "a\nb\nX\nd\ne\n") == [" 2b", "-3c", "+3X", " 4d"]


def test_places_far_apart_are_parted() -> None:
    before = "\n".join("abcdefghij")
    after = before.replace("b", "B").replace("i", "I")
    assert shown(before, after) == [" 1a", "-2b", "+2B", " 3c", "…0", " 8h", "-9i", "+9I", " 10j"]


def test_a_new_and_a_deleted_note_are_all_new_and_all_gone() -> None:
    assert shown(None, "a\nb\n") == ["+1a", "+2b"]
    assert shown("a\n", None) == ["-1a"]
    assert shown("a\n", "a\n") == []


@given(st.lists(st.sampled_from("abc"), max_size=12), st.lists(st.sampled_from("abc"), max_size=12))
def test_nothing_that_changes_is_left_out(before: list[str], after: list[str]) -> None:
    lines = difference(NoteFileChange(FILE, "\n".join(before), "\n".join(after)))
    gone = {line.number: line.text for line in lines if line.kind is DiffLineKind.GONE}
    new = {line.number: line.text for line in lines if line.kind is DiffLineKind.NEW}
    kept = [text for place, text in enumerate(before, 1) if place not in gone]
    assert kept == [text for place, text in enumerate(after, 1) if place not in new]
    assert all(before[place - 1] == text for place, text in gone.items())
    assert all(after[place - 1] == text for place, text in new.items())


def test_references_that_get_another_spelling_are_counted() -> None:
    changes = ChangeSet(
        "x",
        (
            NoteFileChange(FILE, "# A\n[[B]] [[C]] [[B]]\n", "# A\n[[D]] [[C]] [[D]]\n"),
            NoteFileChange(FILE, "# B\n", "# D\n"),
            NoteFileChange(FILE, None, "[[B]]\n"),
        ),
    )
    assert changed_references(changes) == (2, 1)


def test_names_are_shown_inside_their_vault() -> None:
    assert shown_name(Path("/v/sub/a.md"), (Path("/w"), Path("/v"))) == "sub/a.md"
    assert shown_name(Path("/v/sub/a.md"), (Path("/v"), Path("/v/sub"))) == "a.md"  # the inner one of two
    assert shown_name(Path("/x/a.md"), (Path("/v"),)) == "/x/a.md"
