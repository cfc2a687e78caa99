"""What the form says of properties: the general value where a note has none, and gating fields of the project."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from PySide6.QtWidgets import QWidget

from lorestudio.domain.entry import MAX_DEPTH, FieldDefinition, Position
from lorestudio.domain.javascript import Json
from lorestudio.settings.deeplore import DeepLoreSettings
from lorestudio.ui.features.notes.editor.form_row import NameButton
from lorestudio.ui.features.notes.editor.schema import (
    BOOK_FIELDS,
    KNOWN,
    FieldKind,
    FieldSpec,
    Fires,
    TagNames,
    fires,
    gating_spec,
    general_value,
    items,
    set_fires,
    specs,
    tags,
)
from lorestudio.vault.entries import ParseRules
from lorestudio.vault.note.document import NoteDocument
from lorestudio.vault.note.text_edits import apply_edits

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

    from lorestudio.ui.shell.theme import Theme


@pytest.mark.parametrize(
    ("name", "settings", "said"),
    [
        ("position", {"injection_position": Position.BEFORE}, "before the main prompt"),
        ("position", {"injection_position": Position.AFTER}, "after the main prompt"),
        ("position", {"injection_position": Position.IN_CHAT}, "in the chat"),
        ("role", {"injection_role": 0}, "system"),
        ("role", {"injection_role": 2}, "assistant"),
        ("scanDepth", {"scan_depth": 7, "injection_depth": 3}, "7 (from the settings)"),
        ("depth", {"scan_depth": 7, "injection_depth": 3}, "3 (from the settings)"),
        ("warmup", {}, "one is enough"),
        ("summary", {}, ""),
    ],
)
def test_what_holds_where_the_note_says_nothing(name: str, settings: dict[str, int], said: str) -> None:
    text = general_value(name, DeepLoreSettings().model_copy(update=settings))
    assert text.endswith(said)
    assert bool(text) == bool(said)


def test_gating_fields_come_last_and_take_no_known_name() -> None:
    era = FieldDefinition("era", "Era", values=("old", "new"), multi=True)
    found = specs((era, FieldDefinition("priority", "Mine")))
    assert list(found) == [*(each.name for each in KNOWN), "era"]
    assert (found["era"].kind, found["era"].values) == (FieldKind.WORDS, ("old", "new"))
    assert found["priority"].title == "priority"


def note(*lines: str) -> NoteDocument:
    return NoteDocument("\n".join(("---", *lines, "---", "Text", "")))


@pytest.mark.parametrize(
    ("name", "value", "lenient", "found"),
    [
        ("keys", ["a", 5], True, ["a", "5"]),
        ("keys", "a, b,", True, ["a", "b"]),
        ("keys", "a, b,", False, ["a, b,"]),
        ("keys", "a ", True, ["a "]),
        ("keys", 5, True, ["5"]),
        ("keys", 0, True, []),
        ("keys", False, True, []),
        ("keys", None, True, []),
        ("keys", "", True, []),
        ("keys", True, True, ["true"]),
        ("tags", "a, b", True, ["a, b"]),
        ("tags", 5, True, []),  # DeepLore takes texts only
        ("requires", " Bell ", True, ["Bell"]),
        ("requires", "  ", True, []),
    ],
)
def test_the_items_of_a_property(name: str, value: Json, lenient: bool, found: list[str]) -> None:
    assert items(specs(())[name], value, lenient=lenient) == found


@pytest.mark.parametrize(
    ("lines", "found"), [(["tags: [a, 5]"], ["a", "5"]), (["tags: a"], ["a"]), (["tags: 5"], []), (["keys: [a]"], [])]
)
def test_the_tags_of_a_note(lines: list[str], found: list[str]) -> None:
    assert tags(note(*lines)) == found


NAMES = TagNames.of(ParseRules())


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (["tags: [lorebook]"], (Fires.KEYS,)),
        (["tags: [lorebook, Lorebook-Seed]"], (Fires.SEED,)),
        (["tags: [lorebook-seed, lorebook-always]", "constant: true"], (Fires.SEED, Fires.CONSTANT)),
        (["constant: true"], (Fires.CONSTANT,)),
        (["constant: yes"], (Fires.KEYS,)),
    ],
)
def test_when_a_note_says_that_it_fires(lines: list[str], said: tuple[Fires, ...]) -> None:
    assert fires(note(*lines), NAMES) == said


@pytest.mark.parametrize(
    ("lines", "wanted", "after"),
    [
        (["tags: [lorebook]"], Fires.SEED, ["tags: [lorebook, lorebook-seed]"]),
        (["tags: [lorebook-seed, lorebook]"], Fires.GUIDE, ["tags: [lorebook-guide, lorebook]"]),
        (["tags: [a, lorebook-seed, lorebook-always, b]"], Fires.KEYS, ["tags: [a, b]"]),
        (["tags: [a]", "constant: true"], Fires.CONSTANT, ["tags: [a]", "constant: true"]),
        (["tags: [a]", "constant: true"], Fires.SEED, ["tags: [a, lorebook-seed]"]),
        (["tags: [a]", "constant: false"], Fires.CONSTANT, ["tags: [a, lorebook-always]", "constant: false"]),
        (["tags: [a]"], Fires.KEYS, ["tags: [a]"]),
    ],
)
def test_what_is_written_for_when_a_note_fires(lines: list[str], wanted: Fires, after: list[str]) -> None:
    before = note(*lines)
    assert apply_edits(before.text, set_fires(before, NAMES, wanted)) == note(*after).text


def test_a_tag_that_is_switched_off_means_nothing() -> None:
    names = TagNames.of(ParseRules(seed_tag=""))
    assert Fires.SEED not in {said for said, _tag in names.special}
    assert names.find("") is None
    assert names.find("LOREBOOK-ALWAYS") is Fires.CONSTANT


@pytest.mark.parametrize(
    ("definition", "kind", "said"),
    [
        (FieldDefinition("era", "Era", multi=True), FieldKind.WORDS, "One of its values must be in the context."),
        (FieldDefinition("era", ""), FieldKind.LINE, "One of its values must be in the context."),
        (FieldDefinition("era", "Era", type="number", operator="gt"), FieldKind.NUMBER, "must be greater"),
        (FieldDefinition("era", "Era", type="boolean", gating=False), FieldKind.FLAG, "Not compared at present."),
    ],
)
def test_a_gating_field_says_how_it_is_held_against_the_chat(
    definition: FieldDefinition, kind: FieldKind, said: str
) -> None:
    spec = gating_spec(definition)
    assert (spec.kind, spec.title) == (kind, definition.label or definition.name)
    assert said in spec.help


@pytest.mark.parametrize("spec", [*KNOWN, *BOOK_FIELDS], ids=lambda spec: spec.name)
def test_every_property_is_told_of_and_has_a_range_that_can_be_reached(spec: FieldSpec) -> None:
    assert spec.help.endswith(".")
    assert bool(spec.choices) == (spec.kind is FieldKind.CHOICE)
    assert spec.low is None or spec.high is None or spec.low < spec.high
    # Where nothing is said, DeepLore takes a note as enabled and part of the graph, World Info an entry as one whose
    # secondary keys and lots count.
    assert spec.flag_default == (spec.name in {"enabled", "graph", "selective", "useProbability"})
    # A position or an order of lore is a number in World Info's files, and a word in DeepLore's notes.
    assert spec.literal == (spec in BOOK_FIELDS and spec.kind is FieldKind.CHOICE)


@pytest.mark.parametrize(
    ("known", "ranges"),
    [
        (KNOWN, {
            "priority": (None, None), "depth": (0, MAX_DEPTH), "scanDepth": (0, 10_000), "cooldown": (0, None),
            "warmup": (0, None), "probability": (0, 1),
        }),
        (BOOK_FIELDS, {  # where SillyTavern's own editor has limits, they are its
            "depth": (0, MAX_DEPTH), "order": (None, None), "probability": (0, 100), "delayUntilRecursion": (0, None),
            "sticky": (0, None), "cooldown": (0, None), "delay": (0, None), "scanDepth": (0, 1000),
            "groupWeight": (1, 10_000),
        }),
    ],
    ids=["notes", "lorebooks"],
)  # fmt: skip
def test_each_number_can_be_set_within_its_range(
    known: tuple[FieldSpec, ...], ranges: dict[str, tuple[float | None, float | None]]
) -> None:
    assert {each.name: (each.low, each.high) for each in known if each.kind is FieldKind.NUMBER} == ranges


def test_the_fields_of_a_lorebook_are_called_as_sillytavern_calls_them() -> None:
    """Whoever comes from there looks for its words: “wakes none” and “by likeness” were found by nobody."""
    called = {spec.name: spec.title for spec in BOOK_FIELDS}
    assert [called[name] for name in (
        "excludeRecursion", "preventRecursion", "delayUntilRecursion", "vectorized", "groupOverride", "triggers",
        "caseSensitive", "disable",
    )] == [
        "non-recursable", "prevent recursion", "recursion level", "vectorized", "prioritize", "triggers",
        "case-sensitive", "disabled",
    ]  # fmt: skip


@pytest.mark.parametrize("larger", [1.0, 1.5])
def test_the_name_of_every_field_has_room(theme: Theme, qtbot: QtBot, larger: float) -> None:
    parent = QWidget()
    qtbot.addWidget(parent)
    font = parent.font()
    font.setPointSizeF(font.pointSizeF() * larger)
    parent.setFont(font)
    for spec in BOOK_FIELDS:
        button = NameButton(theme, spec, parent)
        assert button.sizeHint().width() <= button.width(), spec.title
