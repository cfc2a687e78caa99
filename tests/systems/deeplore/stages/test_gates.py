"""Pins and blocks (rules: deeplore 5.1).

Contextual gating (rules: deeplore 4.3, 5.1, 5.2): fields held against the chat's context.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from lorestudio.domain.entry import FieldDefinition
from lorestudio.systems.deeplore.stages.gates import final_gating_stage, pins_and_blocks_stage, selection_gating_stage
from lorestudio.systems.ledger import Stage
from lorestudio.trace.model import RunOutcome
from tests.systems.worlds import Draft, Ran, World, entry, rules, run_stage, world

STAGE = pins_and_blocks_stage


def test_the_verified_example() -> None:
    """Snapshot C(const, V), S(seed), B(bootstrap), P(V), p(W), N; pins N, P; block c; list [C, N]."""
    there = world(
        entry("C", constant=True), entry("S", seed=True), entry("B", bootstrap=True),
        entry("P"), entry("p", vault="W"), entry("N", "kw"),
        pins=rules("N", "P"), blocks=rules("c"),
    )  # fmt: skip
    ran = run_stage(STAGE, there, "C, N", labels={"C": "(constant)", "N": "kw"})
    assert sorted(ran.table[:-1]) == [
        "added P: pinned",
        "added p: pinned",
        "changed N: pin_upgraded priority=10",
        "removed C: blocked",
    ]
    assert ran.left == ["N", "P", "p"]
    assert [(item.constant, item.priority) for item in ran.state.candidates] == [(True, 10)] * 3
    assert ran.labels == {"C": "(constant)", "N": "kw", "P": "(pinned)", "p": "(pinned)"}


def pinned(there: World, before: str = "Eris") -> Ran:
    return run_stage(STAGE, there, before)


@pytest.mark.parametrize(
    ("item", "vault", "matches"),
    [
        ("eris", "V", True),
        ("Eris ", "V", False),  # nothing is trimmed
        (("Eris", "W"), "V", False),
        (("Eris", "W"), "", True),  # an entry without a vault
        (("Eris", ""), "V", True),  # an item without a vault
        (("ERIS", "V"), "V", True),
        (("Eris", "v"), "V", False),  # vault names compare exactly
        ("", "V", False),
    ],
)
def test_what_an_item_matches(item: Any, vault: str, matches: bool) -> None:
    as_pin = world(entry("Eris", vault=vault), pins=rules(item))
    assert pinned(as_pin, "").left == (["Eris"] if matches else [])
    as_block = world(entry("Eris", vault=vault), blocks=rules(item))
    assert pinned(as_block).left == ([] if matches else ["Eris"])


CASES = [
    pytest.param(
        world(entry("A"), entry("B"), pins=rules("A"), blocks=rules("a")),
        "A, B",
        ["changed A: pin_upgraded priority=10", "removed A: blocked", "left: B"],
        id="blocks beat pins",
    ),
    pytest.param(
        world(entry("A"), pins=rules("A"), blocks=rules("A")),
        "",
        ["added A: pinned", "removed A: blocked", "left: -"],
        id="blocks beat pins that were not matched",
    ),
    pytest.param(
        world(entry("K", constant=True), blocks=rules("K")),
        "K",
        ["removed K: blocked", "left: -"],
        id="blocks beat constants",
    ),
    pytest.param(
        world(entry("G", guide=True), pins=rules("G")), "", ["left: -"], id="pins do not reach guides"
    ),
    pytest.param(
        world(entry("B"), entry("A"), pins=rules("A", "B", "a")),
        "",
        ["added B: pinned", "added A: pinned", "left: B, A"],
        id="pins come in in index order, once",
    ),
    pytest.param(
        world(entry("A"), entry("B"), pins=rules("Nobody"), blocks=rules("Nobody")),
        "A, B",
        ["left: A, B"],
        id="unknown titles",
    ),
    pytest.param(world(entry("A")), "A", ["left: A", "note: no_pins_or_blocks"], id="neither"),
    pytest.param(
        world(entry("A", filename="one.md"), entry("A", filename="two.md"), pins=rules("A")),
        "A",
        ["changed A#0: pin_upgraded priority=10", "added A#1: pinned",
         "removed A#0: replaced_by_pin title=A", "left: A#1"],
        id="two notes of one vault and title share a place: the later one holds it",
    ),
    pytest.param(
        world(entry("A", filename="one.md"), entry("A", filename="two.md"), pins=rules("A")),
        "",
        ["added A#0: pinned", "added A#1: pinned", "removed A#0: replaced_by_pin title=A", "left: A#1"],
        id="the same where neither was matched",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("there", "before", "expected"), CASES)
def test_pins_and_blocks(there: World, before: str, expected: list[str]) -> None:
    assert run_stage(STAGE, there, before).table == expected


def test_the_note_itself_is_not_changed() -> None:
    there = world(entry("A", priority=80), pins=rules("A"))
    (candidate,) = run_stage(STAGE, there, "A").state.candidates
    assert (candidate.id, candidate.priority) == (0, 10)
    assert (there["A"].constant, there["A"].priority) == (False, 80)


AnyStage = Stage[Any, Any]
SELECTION, FINAL = selection_gating_stage, final_gating_stage
OTHER = FieldDefinition("other", "Other", context_key="other")
"""A field whose context value is set, so that gating is active at all."""


def gate(
    operator: str, tolerance: str | None, value: Any, active: Any, *, global_tolerance: str = "strict", key: str = "f"
) -> bool:
    """Whether an entry with the field `f` of this value stays under this context value; absent for Ellipsis."""
    definition = FieldDefinition("f", "F", operator=operator, tolerance=tolerance, context_key=key)
    there = world(
        entry("A", custom_fields={} if value is ... else {"f": value}),
        fields=(definition, OTHER),
        context={"other": "set", **({} if active is ... else {key: active})},
        contextual_gating_tolerance=global_tolerance,
    )
    return run_stage(SELECTION, there, "A").left == ["A"]


KEEP, DROP = True, False


@pytest.mark.parametrize(
    ("operator", "tolerance", "value", "active", "expected"),
    [
        # the verified table (rules: deeplore 5.2)
        ("match_any", "strict", ["a"], ["A"], KEEP),
        ("match_any", "strict", ["a"], "A", KEEP),
        ("match_any", "strict", ["a"], [], DROP),
        ("match_any", "strict", ["a"], None, DROP),
        ("match_any", "moderate", ["a"], None, KEEP),
        ("match_any", "strict", ["a"], 0, DROP),
        ("match_any", "strict", " a", ["a"], DROP),
        ("match_any", "strict", False, ["false"], KEEP),
        ("match_any", "lenient", ["a"], ["b"], KEEP),
        ("match_all", "lenient", ["a"], ["b"], KEEP),
        ("match_all", "moderate", ["a", "b"], ["a"], DROP),
        ("match_all", "moderate", ["a"], ["a", "b"], KEEP),
        ("not_any", "lenient", ["a"], ["a"], DROP),
        ("eq", "moderate", 5, "5", KEEP),
        ("eq", "moderate", 5, "5.0", DROP),
        ("eq", "moderate", ["a", "b"], "a,b", KEEP),
        ("gt", "moderate", 8, "5", KEEP),
        ("gt", "moderate", ["8"], "5", KEEP),
        ("gt", "moderate", ["8", "9"], "5", DROP),
        ("gt", "moderate", "abc", "5", DROP),
        ("exists", "strict", ["a"], "x", KEEP),
        ("exists", "strict", [], "x", DROP),
        ("exists", "strict", ..., "x", DROP),
        ("not_exists", "lenient", ["a"], None, DROP),
        # the rules around it
        ("match_any", "moderate", ["a"], ["b"], DROP),
        ("match_any", "moderate", ["a"], False, DROP),  # 0 and false are set
        ("match_any", "moderate", [0], 0, KEEP),
        ("match_any", "moderate", ["a"], ..., KEEP),
        ("match_any", "strict", ["a"], ..., DROP),
        ("match_any", "strict", ["a"], "", DROP),
        ("match_any", "strict", ..., "x", KEEP),  # a note without the field passes
        ("match_any", "strict", None, "x", KEEP),
        ("match_any", "strict", [], "x", KEEP),
        ("match_any", "strict", "", "x", KEEP),
        ("eq", "lenient", "a", "b", DROP),  # lenient helps match_any and match_all only
        ("eq", "strict", None, None, KEEP),
        ("lt", "strict", 3, "5", KEEP),
        ("lt", "strict", 5, 5, DROP),
        ("gt", "strict", 5, 5, DROP),
        ("gt", "strict", "0x10", 15, KEEP),  # 0.5
        ("not_any", "strict", ["a"], ["b"], KEEP),
        ("exists", "strict", "", "x", KEEP),  # an empty text exists
        ("exists", "strict", None, "x", DROP),
        ("not_exists", "strict", ..., "x", KEEP),
        ("not_exists", "strict", [], ..., KEEP),
        ("not_exists", "strict", "", ..., DROP),
        ("whatever", "strict", ["a"], ["b"], KEEP),  # unknown operators hold
    ],
)
def test_operators(operator: str, tolerance: str, value: Any, active: Any, expected: bool) -> None:
    assert gate(operator, tolerance, value, active) is expected


@pytest.mark.parametrize(
    ("own", "setting", "kept"),
    [
        ("strict", "lenient", False),  # a field's own tolerance wins
        ("moderate", "strict", True),
        (None, "strict", False),
        (None, "moderate", True),
        ("", "moderate", True),
        (None, "", False),  # nothing said is strict
    ],
)
def test_which_tolerance_counts(own: str | None, setting: str, kept: bool) -> None:
    assert gate("match_any", own, ["a"], ..., global_tolerance=setting) is kept


def test_a_field_is_compared_with_its_context_key() -> None:
    assert gate("match_any", "strict", ["a"], "a", key="mood")
    assert not gate("match_any", "strict", ["a"], "b", key="mood")


NORTH = entry("North", custom_fields={"location": ["north"], "era": ["old"]})
SOUTH = entry("South", custom_fields={"location": ["South"]})
PLAIN = entry("Plain")


def gated(*drafts: Draft, context: Mapping[str, Any], stage: AnyStage = SELECTION, **fields: Any) -> Ran:
    there = world(*drafts, context=context, **fields)
    return run_stage(stage, there, ", ".join(draft["title"] for draft in drafts))


def rejected(title: str, field: str, label: str, mine: str, theirs: str, tolerance: str = "moderate") -> str:
    return (
        f"removed {title}: gated_field field={field} label={label} entry_value={mine} context_value={theirs} "
        f"operator=match_any tolerance={tolerance}"
    )


@pytest.mark.parametrize(
    ("context", "expected"),
    [
        ({"location": "south"}, [rejected("North", "location", "Location", "[north]", "south"), "left: South, Plain"]),
        ({"location": ["NORTH", "south"]}, ["left: North, South, Plain"]),
        ({"era": "new"}, [rejected("North", "era", "Era", "[old]", "new"), "left: South, Plain"]),
        # the first field that rejects is named, in the order of the definitions: era before location
        (
            {"location": ["west"], "era": "new"},
            [
                rejected("North", "era", "Era", "[old]", "new"),
                rejected("South", "location", "Location", "[South]", "[west]"),
                "left: Plain",
            ],
        ),
        ({}, ["left: North, South, Plain", "note: no_context"]),
        ({"location": "", "era": [], "mood": "x"}, ["left: North, South, Plain", "note: no_context"]),
    ],
)
def test_built_in_fields(context: Mapping[str, Any], expected: list[str]) -> None:
    assert gated(NORTH, SOUTH, PLAIN, context=context).table == expected


@pytest.mark.parametrize("operator", ["match_any", "exists", "not_exists", "gt"])
def test_without_any_context_value_nothing_is_gated(operator: str) -> None:
    """Even existence operators and strict tolerance do nothing then (rules: deeplore 5.2)."""
    fields = (FieldDefinition("f", "F", operator=operator, tolerance="strict"),)
    there = world(entry("A", custom_fields={"f": ["a"]}), entry("B"), fields=fields, context={"other": "x"})
    assert run_stage(SELECTION, there, "A, B").table == ["left: A, B", "note: no_context"]


def test_a_definition_with_gating_switched_off_neither_gates_nor_activates() -> None:
    fields = (FieldDefinition("f", "F", gating=False), FieldDefinition("g", "G", operator="exists"))
    silent = world(PLAIN, fields=fields, context={"f": "x"})
    assert run_stage(SELECTION, silent, "Plain").table == ["left: Plain", "note: no_context"]
    active = world(entry("A", custom_fields={"f": "a", "g": "b"}), fields=fields, context={"f": "x", "g": "y"})
    assert run_stage(SELECTION, active, "A").left == ["A"]


def test_two_definitions_of_one_name_both_apply() -> None:
    """Duplicate names are kept (rules: deeplore 5.4)."""
    fields = (FieldDefinition("f", "First"), FieldDefinition("f", "Second", operator="not_any"))
    ran = gated(entry("A", custom_fields={"f": "a"}), context={"f": "a"}, fields=fields)
    assert [verdict.details["label"] for verdict in ran.record.verdicts] == ["Second"]


EXEMPT: list[Any] = [
    ({"constant": True}, "constant"),
    ({"seed": True}, "seed"),
    ({"bootstrap": True}, "bootstrap"),
    ({"constant": True, "seed": True}, "constant"),
]


@pytest.mark.parametrize(("mark", "by"), EXEMPT)
@pytest.mark.parametrize("stage", [SELECTION, FINAL])
def test_exempt_entries_stay(mark: Draft, by: str, stage: AnyStage) -> None:
    """Constants, seeds and bootstraps, however long the chat is (rules: deeplore 5.1, 12.7)."""
    ran = gated({**NORTH, **mark}, context={"era": "new"}, stage=stage, chat=["U: x"] * 9)
    assert ran.table == [f"kept North: exempt by={by} would=gated_field", "left: North"]


@pytest.mark.parametrize("stage", [SELECTION, FINAL])
def test_a_pin_makes_exempt(stage: AnyStage) -> None:
    ran = gated(NORTH, SOUTH, context={"era": "new"}, stage=stage, pins=rules("NORTH"))
    assert ran.table == ["kept North: exempt by=pin would=gated_field", "left: North, South"]


def test_an_exempt_entry_that_passes_needs_no_word() -> None:
    assert gated({**NORTH, "seed": True}, context={"era": "old"}).table == ["left: North"]


@pytest.mark.parametrize(
    ("stage", "outcome"), [(SELECTION, None), (FINAL, RunOutcome.EMPTY_AFTER_GATING)], ids=["selection", "final"]
)
def test_only_the_final_gate_ends_the_run_when_nothing_is_left(stage: AnyStage, outcome: RunOutcome | None) -> None:
    """5: an early end comes after the gate behind the pins."""
    ran = gated(NORTH, context={"era": "new"}, stage=stage)
    assert ran.left == []
    assert ran.state.outcome is outcome


def test_the_final_gate_ends_the_run_without_a_context_too() -> None:
    ran = run_stage(FINAL, world(PLAIN))
    assert ran.table == ["left: -", "note: no_context"]
    assert ran.state.outcome is RunOutcome.EMPTY_AFTER_GATING


def test_the_selections_policy_comes_from_its_candidates_the_final_one_from_the_whole_vault() -> None:
    """Exemption goes by vault and title, so a namesake that is no candidate counts only at the end
    (rules: deeplore 5.1, 4.3).
    """
    there: World = world(NORTH, {**NORTH, "seed": True}, context={"era": "new"})
    assert run_stage(SELECTION, there, "North").left == []
    assert run_stage(FINAL, there, "North").left == ["North#0"]
