from __future__ import annotations

import json
from pathlib import Path

import pytest

from lorestudio.domain.javascript import Json
from lorestudio.exchange.problems import InputError
from lorestudio.studio.notes.batch_edit import (
    ChangeItems,
    EmptyProperty,
    PropertyChange,
    RemoveProperty,
    SetValue,
    plan_property,
    summarise,
)
from lorestudio.vault.files import VaultError
from tests.studio.note_worlds import applied, write_vault

NOTES = {
    "A.md": "---\ntags: [lorebook]  # none\npriority: 50\nkeys:\n  - lamp\n---\nA",
    "B.md": "---\ntags:\n- lorebook\nPriority: 10\nkeys: lamp, bell\n---\nB",
    "C.md": "C",
    "D.md": "---\npriority:\n  nested: 1\nkeys: true\n---\nD",
}


def changed(tmp_path: Path, name: str, change: PropertyChange) -> tuple[dict[str, str], str, tuple[str, ...]]:
    """The notes that changed, the title of the step, and the remarks."""
    vault = write_vault(tmp_path / "vault", NOTES)
    planned = plan_property([vault], [vault.path(note) for note in NOTES], name, change)
    after = applied(planned, vault)
    return {note: text for note, text in after.items() if NOTES[note] != text}, planned.changes.title, planned.remarks


def test_set_a_value(tmp_path: Path) -> None:
    after, title, remarks = changed(tmp_path, "priority", SetValue(50))
    assert after == {"B.md": NOTES["B.md"].replace("Priority: 10", "Priority: 50"), "C.md": "---\npriority: 50\n---\nC"}
    assert title == "Set priority in 2 notes"
    (remark,) = remarks
    assert remark.startswith("D.md: “priority” in line 2")


@pytest.mark.parametrize(
    ("value", "written"), [(True, "true"), ("a: b", '"a: b"'), (["x", "y, z"], '[x, "y, z"]'), (1.5, "1.5")]
)
def test_set_values_of_all_kinds(tmp_path: Path, value: Json, written: str) -> None:
    vault = write_vault(tmp_path / "vault", {"A.md": "---\nera: [old]\n---\n"})
    planned = plan_property([vault], [vault.path("A.md")], "era", SetValue(value))
    assert applied(planned, vault)["A.md"] == f"---\nera: {written}\n---\n"


def test_add_and_remove_items(tmp_path: Path) -> None:
    after, title, remarks = changed(tmp_path, "keys", ChangeItems(add=("bell", "bell"), remove=("lamp",)))
    assert after["A.md"] == NOTES["A.md"].replace("- lamp", "- bell")
    assert after["B.md"] == NOTES["B.md"].replace("lamp, bell", "bell")
    assert after.keys() == {"A.md", "B.md", "C.md"}
    assert title == "Add bell, bell and remove lamp in keys of 3 notes"
    (remark,) = remarks
    assert remark.startswith("D.md: “keys” in line 4 is true")


def test_items_that_are_there_or_not_there_already(tmp_path: Path) -> None:
    after, _, _ = changed(tmp_path, "keys", ChangeItems(remove=("nobody",)))
    assert after == {}


def test_the_last_item_leaves_an_empty_list(tmp_path: Path) -> None:
    vault = write_vault(tmp_path / "vault", {"A.md": "---\nkeys: [lamp]\n---\n"})
    planned = plan_property([vault], [vault.path("A.md")], "keys", ChangeItems(remove=("lamp",)))
    assert applied(planned, vault)["A.md"] == "---\nkeys: []\n---\n"


def test_remove(tmp_path: Path) -> None:
    after, title, remarks = changed(tmp_path, "priority", RemoveProperty())
    assert after == {
        "A.md": NOTES["A.md"].replace("priority: 50\n", ""),
        "B.md": NOTES["B.md"].replace("Priority: 10\n", ""),
        "D.md": NOTES["D.md"].replace("priority:\n  nested: 1\n", ""),
    }
    assert (title, remarks) == ("Remove priority from 3 notes", ())


def test_what_is_emptied_stays_a_list_or_a_text_and_is_made_nowhere(tmp_path: Path) -> None:
    after, title, remarks = changed(tmp_path, "keys", EmptyProperty())
    assert after == {
        "A.md": NOTES["A.md"].replace("keys:\n  - lamp", "keys: []"),
        "B.md": NOTES["B.md"].replace("keys: lamp, bell", 'keys: ""'),
    }
    assert title == "Empty keys in 2 notes"
    assert remarks == ("D.md: “keys” is true, which cannot be empty. Remove the property instead.",)
    after, _, remarks = changed(tmp_path, "priority", EmptyProperty())
    assert after == {}
    assert [remark[:19] for remark in remarks[:2]] == ["A.md: “priority” is", "B.md: “priority” is"]


def test_nothing_named(tmp_path: Path) -> None:
    vault = write_vault(tmp_path / "vault", NOTES)
    with pytest.raises(InputError, match="no note"):
        plan_property([vault], [], "priority", SetValue(1))
    with pytest.raises(InputError, match="no property"):
        plan_property([vault], [vault.path("A.md")], " ", SetValue(1))


def test_entries_of_lorebooks_change_in_their_files(tmp_path: Path) -> None:
    raws = [
        {"uid": 0, "comment": "Bell", "key": ["bell"], "content": "A", "order": 5, "position": 0},
        {"uid": 1, "comment": "Oak", "key": ["oak", "tree"], "content": "B", "order": 9, "position": 4},
        {"uid": 2, "comment": "Sea", "key": ["sea"], "content": "C", "order": 5, "position": 4},
    ]
    book = tmp_path / "Book.json"
    text = json.dumps({"entries": {str(raw["uid"]): raw for raw in raws}, "kept": 1.50})
    book.write_text(text, encoding="utf-8")
    paths = [book / f"uid {uid}" for uid in (0, 1)]
    planned = plan_property((), paths, "position", SetValue(4))
    assert (planned.changes.title, planned.count, planned.remarks) == ("Set position in 1 entry", 1, ())
    (change,) = planned.changes.changes
    assert (change.path, change.after) == (book, text.replace('"position": 0', '"position": 4'))
    keys = plan_property((), paths, "key", ChangeItems(("wood",), ("tree",)))
    assert (keys.count, keys.changes.changes[0].after) == (
        2, text.replace('["bell"]', '["bell", "wood"]').replace('["oak", "tree"]', '["oak", "wood"]'),
    )  # fmt: skip
    assert plan_property((), paths, "order", RemoveProperty()).changes.changes[0].after == text.replace(
        '"order": 5', '"order": 100', 1
    ).replace('"order": 9', '"order": 100')
    assert plan_property((), paths[1:], "position", SetValue(4)).changes.changes == ()
    with pytest.raises(VaultError, match="“depth” takes a number"):
        plan_property((), paths, "depth", SetValue("deep"))
    found = summarise(paths)
    order = found.find("order")
    assert order is not None
    assert (found.notes, order.same, order.values, order.present) == (2, False, 2, 2)
    comment = found.find("position")
    assert comment is not None
    assert not comment.same
    assert book.read_text("utf-8") == text
