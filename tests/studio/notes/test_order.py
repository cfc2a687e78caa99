"""Priorities by the order that a person gives the notes."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lorestudio.exchange.lorebooks.entry import NEW_ENTRY
from lorestudio.studio.notes.batch_edit import LEAST_PRIORITY, Ranks, moved_priorities, plan_numbers, stepped_priorities
from lorestudio.studio.notes.book_entries import plan_title
from lorestudio.studio.project.project import open_project
from lorestudio.systems.registry import KINDS
from lorestudio.trace.model import rank
from lorestudio.vault.files import VaultError
from tests.studio.note_worlds import applied, write_vault


@pytest.mark.parametrize(
    ("priorities", "moved", "expected"),
    [
        ([10, 99, 20], range(1, 2), {1: 15}),  # half way
        ([10, 99, 30], range(1, 2), {1: 20}),  # in steps of ten where there is room
        ([10, 98, 99, 100], range(1, 3), {1: 20, 2: 30}),
        ([99, 50], range(1), {0: 40}),  # before the first
        ([99, 5], range(1), {0: 2}),
        ([50, 1], range(1, 2), {1: 60}),  # behind the last
        ([10, 99, 11, 12, 40], range(1, 2), {1: 20, 2: 30, 3: 40, 4: 50}),  # no room: those behind make it
        ([50, 99, 50, 70], range(1, 2), {1: 60, 2: 70, 3: 80}),  # behind the first of equal ones
        ([0, 99, 60], range(1, 2), {1: 55}),  # 0 counts as 50
    ],
)
def test_what_is_put_between_others(priorities: list[float], moved: range, expected: dict[int, int]) -> None:
    assert moved_priorities(priorities, moved) == expected


def test_the_lowest_number_is_one() -> None:
    assert moved_priorities([99, 1, 2], range(1)) == {0: 10, 1: 20, 2: 30}


@given(st.lists(st.integers(1, 60), min_size=1, max_size=12), st.data())
def test_afterwards_the_order_is_that_of_the_list(numbers: list[int], data: st.DataObject) -> None:
    """Whatever is moved where: it stands strictly between its neighbours, and the others keep their order."""
    order = sorted(numbers)
    start = data.draw(st.integers(0, len(order)))
    amount = data.draw(st.integers(1, 3))
    listed = [*order[:start], *[7] * amount, *order[start:]]
    found = moved_priorities(listed, range(start, start + amount))
    after = [found.get(place, number) for place, number in enumerate(listed)]
    assert after == sorted(after)
    assert min(after) >= LEAST_PRIORITY
    moved = after[max(0, start - 1) : start + amount + 1]
    assert len(set(moved)) == len(moved)


def test_in_steps_and_without_gaps() -> None:
    assert stepped_priorities([20, 20, 50, 90]) == {1: 30, 2: 40, 3: 50}
    assert stepped_priorities([20, 25, 50, 90], 1) == {1: 21, 2: 22, 3: 23}
    assert stepped_priorities([5, 6, 7], 1) == {}
    assert stepped_priorities([]) == {}


@given(st.lists(st.sampled_from([0, 1, 5, 50, 60, 100]), min_size=1, max_size=12), st.integers(1, 10))
def test_steps_keep_the_order(numbers: list[int], step: int) -> None:
    order = sorted(numbers, key=rank)
    found = stepped_priorities(order, step)
    after = [found.get(place, number) for place, number in enumerate(order)]
    assert {later - one for one, later in pairwise(after)} <= {step}


def test_only_the_numbers_of_the_notes_change(tmp_path: Path) -> None:
    head = "---\ntags: [lorebook]\n"
    vault = write_vault(tmp_path / "v", {"A.md": f"{head}priority: 9\n---\nA.\n", "B.md": f"{head}---\nB.\n"})
    planned = plan_numbers([vault], "priority", {vault.path("A.md"): 20, vault.path("B.md"): 30})
    assert planned.changes.title == "Number priority in 2 notes"
    assert applied(planned, vault) == {
        "A.md": f"{head}priority: 20\n---\nA.\n", "B.md": f"{head}priority: 30\n---\nB.\n",
    }  # fmt: skip


@pytest.mark.parametrize("system", ["world-info", "deeplore"])
def test_a_lorebooks_entries_are_ranked_by_its_orders_whoever_reads_them(tmp_path: Path, system: str) -> None:
    """Read as notes they have priorities, which are none of the book's numbers and go the other way."""
    path = tmp_path / "Book.json"
    entries = {
        str(uid): {**NEW_ENTRY, "uid": uid, "comment": title, "key": ["a"], "content": "A.", "order": order}
        for uid, (title, order) in enumerate([("Low", 0), ("Middle", 5), ("High", 500)])
    }
    path.write_text(json.dumps({"entries": entries}), "utf-8")
    ranks = Ranks(open_project([path]).read_for(KINDS[system]))
    order = ranks.in_order()
    assert [(entry.title, ranks.number(entry)) for entry in order] == [("Low", 0), ("Middle", 5), ("High", 500)]
    assert (ranks.name, ranks.stepped(order)) == ("order", {path / "uid 1": 10, path / "uid 2": 20})
    assert ranks.moved([order[2], *order[:2]], range(1)) == {path / "uid 2": -10}


def test_a_folder_in_a_file_of_risu_gets_no_number_and_is_said_to_be_one(tmp_path: Path) -> None:
    """SillyTavern takes it for an entry, so it stands in the list; the file has no order for it."""
    path = tmp_path / "Book.json"
    folder = {"mode": "folder", "key": "f", "comment": "Places", "content": "", "insertorder": 100}
    harbour = {"mode": "normal", "key": "quay", "comment": "Harbour", "content": "Grey.", "insertorder": 100}
    bell = {**harbour, "key": "bell", "comment": "Bell", "insertorder": 90, "folder": "f"}
    path.write_text(json.dumps({"type": "risu", "ver": 1, "data": [folder, harbour, bell]}), "utf-8")
    project = open_project([path])
    ranks, places = Ranks(project), {entry.title: entry for entry in project.index.entries}
    assert [entry.title for entry in ranks.in_order()] == ["Bell", "Harbour"]
    moved = [places[title] for title in ("Harbour", "Places", "Bell")]  # dragged in the table, where it stands
    assert ranks.moved(moved, range(2, 3)) == {path / "uid 2": 110}
    (change,) = plan_numbers([], ranks.name, ranks.stepped(ranks.in_order(), 5)).changes.changes
    after = json.loads(change.new or b"")["data"]
    assert after == [folder, {**harbour, "insertorder": 95}, bell]
    with pytest.raises(VaultError, match=r"The uid 0 of “Book\.json” is a folder there, and no entry"):
        plan_title(path / "uid 0", "Other")
