from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lorestudio.domain.chat import Chat
from lorestudio.domain.entry import Entry, Folder, VaultIndex
from lorestudio.domain.records import replace
from lorestudio.domain.state import ChatControls, EntryRule
from lorestudio.settings.deeplore import DeepLoreSettings
from lorestudio.studio.chat.controls import (
    ControlsPart,
    changed_parts,
    fitting,
    has_rule,
    rules_for,
    toggled,
    unusable,
    with_folder,
    with_value,
    without_field,
    without_folder,
    without_rule,
    without_value,
)
from lorestudio.studio.project.project import Project

LAMP, TIDE = Entry(0, "Lamp.md", "north", "Lamp"), Entry(1, "Tide.md", "north", "Tide")
OTHER_TIDE = Entry(2, "Tide.md", "south", "tide")
ONE = VaultIndex((LAMP, TIDE), vaults=("north",))
TWO = VaultIndex((LAMP, TIDE, OTHER_TIDE), vaults=("north", "south"))


def test_a_pin_names_the_vault_only_where_titles_meet() -> None:
    assert rules_for([TIDE], ONE) == (EntryRule("Tide"),)
    assert rules_for([TIDE], TWO) == (EntryRule("Tide", "north"),)
    assert not has_rule(rules_for([TIDE], TWO), OTHER_TIDE)
    assert fitting(EntryRule("TIDE"), TWO) == (TIDE, OTHER_TIDE)


def test_pinning_and_freeing() -> None:
    pinned = toggled(ChatControls(), ControlsPart.PINS, [LAMP, TIDE], ONE)
    assert pinned.pins == (EntryRule("Lamp"), EntryRule("Tide"))
    assert toggled(pinned, ControlsPart.PINS, [LAMP], ONE).pins == (EntryRule("Tide"),)


def test_of_several_entries_the_rest_is_pinned_before_all_are_freed() -> None:
    controls = ChatControls(pins=(EntryRule("lamp"),))
    both = toggled(controls, ControlsPart.PINS, [LAMP, TIDE], ONE)
    assert both.pins == (EntryRule("lamp"), EntryRule("Tide"))
    assert toggled(both, ControlsPart.PINS, [LAMP, TIDE], ONE).pins == ()


def test_what_is_pinned_is_not_blocked_any_more_and_the_other_way_round() -> None:
    blocked = toggled(toggled(ChatControls(), ControlsPart.PINS, [LAMP], ONE), ControlsPart.BLOCKS, [LAMP], ONE)
    assert (blocked.pins, blocked.blocks) == ((), (EntryRule("Lamp"),))
    pinned = toggled(blocked, ControlsPart.PINS, [LAMP], ONE)
    assert (pinned.pins, pinned.blocks) == ((EntryRule("Lamp"),), ())


def test_freeing_leaves_the_other_list_alone() -> None:
    controls = ChatControls(pins=(EntryRule("Lamp"),), blocks=(EntryRule("Lamp"),))
    assert toggled(controls, ControlsPart.PINS, [LAMP], ONE).blocks == (EntryRule("Lamp"),)


def test_one_pin_or_block_is_removed() -> None:
    controls = ChatControls(pins=(EntryRule("A"), EntryRule("A", "v")), blocks=(EntryRule("B"),))
    assert without_rule(controls, ControlsPart.PINS, EntryRule("A", "v")).pins == (EntryRule("A"),)
    assert without_rule(controls, ControlsPart.BLOCKS, EntryRule("B")).blocks == ()


def test_folders_come_once_and_go() -> None:
    controls = with_folder(with_folder(ChatControls(), "a"), "a")
    assert controls.folders == ("a",)
    assert without_folder(with_folder(controls, "b"), "a").folders == ("b",)


def test_a_field_for_several_values_is_a_list_and_another_one_a_text() -> None:
    controls = with_value(ChatControls(), "era", "before", multi=True)
    assert controls.context == {"era": ["before"]}
    controls = with_value(controls, "era", "after", multi=True)
    assert controls.context == {"era": ["before", "after"]}
    assert with_value(controls, "era", "BEFORE", multi=True) == controls
    assert with_value(ChatControls(context={"mood": "calm"}), "mood", "wild", multi=False).context == {"mood": "wild"}


def test_a_text_in_a_field_for_several_values_becomes_a_list() -> None:
    controls = ChatControls(context={"era": "before"})
    assert with_value(controls, "era", "after", multi=True).context == {"era": ["before", "after"]}


def test_values_go_one_by_one_and_the_last_takes_the_field_with_it() -> None:
    controls = ChatControls(context={"era": ["before", "after"], "mood": "calm"})
    controls = without_value(controls, "era", "Before")
    assert controls.context == {"era": ["after"], "mood": "calm"}
    assert without_value(controls, "era", "after").context == {"mood": "calm"}
    assert without_value(controls, "mood", "calm").context == {"era": ["after"]}
    assert without_field(controls, "era").context == {"mood": "calm"}


@given(st.lists(st.text(max_size=3), max_size=5), st.text(max_size=3))
def test_adding_and_removing_a_new_value_changes_nothing(values: list[str], value: str) -> None:
    before = ChatControls(context={"era": values} if values else {})
    if value and all(value.lower() != each.lower() for each in values):
        there = with_value(before, "era", value, multi=True)
        assert without_value(there, "era", value).context == before.context


@pytest.mark.parametrize(
    ("change", "part"),
    [
        ({"pins": (EntryRule("A"),)}, ControlsPart.PINS),
        ({"blocks": (EntryRule("A"),)}, ControlsPart.BLOCKS),
        ({"folders": ("a",)}, ControlsPart.FOLDERS),
        ({"context": {"era": "x"}}, ControlsPart.CONTEXT),
        ({"notebook": "n"}, ControlsPart.NOTEBOOK),
        ({"notepad": "n"}, ControlsPart.NOTEPAD),
    ],
)
def test_what_differs_from_the_file(change: dict[str, object], part: ControlsPart) -> None:
    changed = ChatControls(**change)  # type: ignore[arg-type]  # one field at a time
    assert changed_parts(changed, ChatControls()) == (part,)
    assert changed_parts(changed, changed) == ()


def test_the_active_character_is_no_part_of_the_file() -> None:
    assert changed_parts(ChatControls(character="Wren"), ChatControls()) == ()


def test_a_text_and_a_list_of_that_text_are_the_same_context() -> None:
    assert changed_parts(ChatControls(context={"era": ["X"]}), ChatControls(context={"era": "x", "mood": ""})) == ()


def test_folders_that_are_gone_are_told() -> None:
    chat = Chat(metadata={"deeplore_folder_filter": ["places", "gone"], "deeplore_notebook": 5})
    index = replace(ONE, folders=(Folder("places", 1),))
    told = unusable(Project((), index, DeepLoreSettings(), chat))
    assert len(told) == 2
    assert "“gone”" in told[1]
    assert unusable(Project((), index, DeepLoreSettings())) == ()
