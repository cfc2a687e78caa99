"""The folder filter (rules: deeplore 4.10, 5.9, 12.7)."""

from __future__ import annotations

import pytest

from lorestudio.systems.deeplore.stages.gates import folder_filter_stage
from tests.systems.worlds import Ran, entry, rules, run_stage, world

STAGE = folder_filter_stage

FOLDERS = {"In": "A", "Below": "A/S", "Near": "AB", "Root": None, "Blank": "", "Lower": "a", "Deep": "X/A"}


def filtered(*folders: str, **fields: object) -> Ran:
    drafts = [entry(title, folder=folder) for title, folder in FOLDERS.items()]
    return run_stage(STAGE, world(*drafts, folders=folders, **fields), ", ".join(FOLDERS))


@pytest.mark.parametrize(
    ("folders", "left"),
    [
        (("A",), ["In", "Below", "Root", "Blank"]),
        (("A/S",), ["Below", "Root", "Blank"]),
        (("A/",), ["Root", "Blank"]),  # no normalisation
        (("X", "AB"), ["Near", "Root", "Blank", "Deep"]),
        (("Nowhere",), ["Root", "Blank"]),
    ],
)
def test_folders(folders: tuple[str, ...], left: list[str]) -> None:
    ran = filtered(*folders)
    assert ran.left == left
    assert {verdict.reason for verdict in ran.record.verdicts} == {"outside_folders"}
    assert ran.record.details == {"folders": list(folders), "before": 7, "after": len(left)}


def test_the_record() -> None:
    there = world(entry("Near", folder="AB"), entry("In", folder="A"), folders=("A", "C"))
    assert run_stage(STAGE, there, "Near, In").table == [
        "removed Near: outside_folders folder=AB folders=[A, C]",
        "left: In",
    ]


def test_no_filter() -> None:
    assert filtered().table == [f"left: {', '.join(FOLDERS)}", "note: no_folder_filter"]


def test_exempt_entries_stay() -> None:
    """Entries in A, A/S, AB and at the root; a constant and a pinned one in AB (rules: deeplore 12.7)."""
    there = world(
        entry("A1", folder="A"), entry("S1", folder="A/S"), entry("AB1", folder="AB"), entry("Root"),
        entry("Const", folder="AB", constant=True), entry("Pinned", folder="AB"),
        entry("Seed", folder="AB", seed=True), entry("Boot", folder="AB", bootstrap=True),
        folders=("A",), pins=rules("pinned"),
    )  # fmt: skip
    assert run_stage(STAGE, there, "A1, S1, AB1, Root, Const, Pinned, Seed, Boot").table == [
        "removed AB1: outside_folders folder=AB folders=[A]",
        "kept Const: exempt by=constant would=outside_folders",
        "kept Pinned: exempt by=pin would=outside_folders",
        "kept Seed: exempt by=seed would=outside_folders",
        "kept Boot: exempt by=bootstrap would=outside_folders",
        "left: A1, S1, Root, Const, Pinned, Seed, Boot",
    ]
