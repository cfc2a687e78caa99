from __future__ import annotations

import pytest

from lorestudio.domain.entry import FieldDefinition
from lorestudio.vault.fields import RESERVED, parse

FULL = """fields:
  - name: mood
    label: Current mood
    type: string
    multi: true
    gating:
      enabled: false
      operator: not_any
      tolerance: strict
    values:
      - calm
      - "tense"
    contextKey: mood_now
  - name: rank
    type: number
    gating:
      operator: gt
    values: []
"""


def test_full_layout() -> None:
    definitions, errors = parse(FULL)
    assert errors == ()
    assert definitions == (
        FieldDefinition(
            "mood", "Current mood", multi=True, gating=False, operator="not_any", tolerance="strict",
            values=("calm", '"tense"'), context_key="mood_now",
        ),
        FieldDefinition("rank", "rank", type="number", operator="gt", context_key="rank", inherits=True),
    )  # fmt: skip


def test_line_ends_of_windows() -> None:
    assert parse(FULL.replace("\n", "\r\n")) == parse(FULL)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "   \n",
        "- name: era\n  label: Era",
        "fields:\n    - name: era\n      label: Era",
        "  - name: lost\n    label: x",
    ],
)
def test_layouts_that_define_nothing(text: str) -> None:
    assert parse(text) == ((), ())


def test_leading_white_space_costs_the_first_field() -> None:
    definitions, _ = parse("  - name: first\n  - name: second")
    assert [definition.name for definition in definitions] == ["second"]


@pytest.mark.parametrize("name", ['"era"', "era # c", "Era", "1era", "é"])
def test_name_that_cannot_be_used(name: str) -> None:
    definitions, errors = parse(f"\n\nfields:\n  - name: good\n  - name: {name}")
    assert [definition.name for definition in definitions] == ["good"]
    assert len(errors) == 1
    assert errors[0].startswith("Line 5: ")
    assert name in errors[0]


@pytest.mark.parametrize("name", sorted(RESERVED))
def test_reserved_name(name: str) -> None:
    definitions, errors = parse(f"fields:\n  - name: {name}")
    assert definitions == ()
    assert f"“{name}”" in errors[0]


def test_inline_collections_are_ignored() -> None:
    ((definition,), errors) = parse("fields:\n  - name: a\n    gating: {enabled: false}\n    values: [x, y]")
    assert errors == ()
    assert definition.gating
    assert definition.values == ()


def test_enabled_is_off_only_for_the_plain_word() -> None:
    text = "fields:\n  - name: a\n    gating:\n      enabled: {}"
    assert [parse(text.format(word))[0][0].gating for word in ("false", '"false"', "true # c", "no")] == [
        False, True, True, True,
    ]  # fmt: skip


def test_unknown_words_fall_back() -> None:
    text = "fields:\n  - name: a\n    type: date\n    gating:\n      operator: almost\n      tolerance: some"
    ((definition,), errors) = parse(text)
    assert (definition.type, definition.operator, definition.tolerance) == ("string", "match_any", "moderate")
    assert len(errors) == 1
    assert "date" in errors[0]


def test_equal_names_are_both_kept() -> None:
    definitions, _ = parse("fields:\n  - name: a\n  - name: a\n    label: Again")
    assert [definition.label for definition in definitions] == ["a", "Again"]


def test_a_bad_name_and_a_bad_type_are_two_errors() -> None:
    definitions, errors = parse("fields:\n  - name: Era\n    type: date\n  - name: keys\n    type: date")
    assert definitions == ()
    assert [error.split(":")[0] for error in errors] == ["Line 2", "Line 2", "Line 4", "Line 4"]


def test_tabs_indent_by_the_rules_of_2_6() -> None:
    """Rules: deeplore-newer 1.5."""
    text = "fields:\n\t- name: mood\n\t\tlabel: Mood\n\t- name: selective_logic"
    assert parse(text)[0] == ()
    ((definition,), (error,)) = parse(text, tabs=True)
    assert (definition.name, definition.label) == ("mood", "Mood")
    assert "selective_logic" in error
