from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lorestudio.domain.chat import Chat
from lorestudio.domain.entry import Entry, Folder, VaultIndex
from lorestudio.domain.records import replace
from lorestudio.domain.state import ChatControls, EntryRule, has_rule
from lorestudio.settings.deeplore import DeepLoreSettings
from lorestudio.settings.files import SettingsError
from lorestudio.studio.chat.controls import (
    ControlsPart,
    Preset,
    PresetFolder,
    apply_preset,
    changed_parts,
    fitting,
    preset_json,
    read_preset,
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
from tests.examples import examples

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


FULL = ChatControls(
    pins=(EntryRule("Lamp"), EntryRule("Tide", "brume")),
    blocks=(EntryRule("Wasp"),),
    folders=("places",),
    context={"era": ["before", "after"], "mood": "calm", "year": 8, "wet": False},
    notebook="Keep it dark.\nAlways.",
    notepad="- noted",
    character="Ottoline",
)
INDEX = VaultIndex(
    (Entry(0, "Lamp.md", "brume", "Lamp", custom_fields={"era": ["before"]}), Entry(1, "t.md", "other", "Tide")),
    folders=(Folder("places", 1),),
)


@pytest.fixture
def folder(tmp_path: Path) -> PresetFolder:
    return PresetFolder(tmp_path / "config" / "presets")


def test_a_preset_comes_back_as_it_was(folder: PresetFolder) -> None:
    preset = Preset("Storm night", FULL, frozenset(ControlsPart))
    path = folder.save(preset)
    assert path.name == "Storm night.json"
    assert read_preset(path) == preset
    assert folder.find("storm NIGHT") == preset


def test_the_file_names_entries_and_no_numbers(folder: PresetFolder) -> None:
    document = json.loads(folder.save(Preset("A", FULL, frozenset(ControlsPart))).read_text("utf-8"))
    assert document["pins"] == [{"title": "Lamp", "vaultSource": None}, {"title": "Tide", "vaultSource": "brume"}]
    assert document["context"] == {"era": ["before", "after"], "mood": "calm", "year": 8, "wet": False}
    assert (document["format"], document["version"], document["name"]) == ("lorestudio-preset", 1, "A")


def test_parts_that_are_not_its_business_stay(folder: PresetFolder) -> None:
    folder.save(Preset("Era only", FULL, frozenset({ControlsPart.CONTEXT})))
    preset = folder.find("Era only")
    assert preset.parts == {ControlsPart.CONTEXT}
    now = ChatControls(pins=(EntryRule("Bell"),), context={"location": "quay"}, notebook="mine")
    applied = apply_preset(preset, now, INDEX)[0]
    assert applied == replace(now, context=FULL.context)


def test_an_empty_part_empties_that_part() -> None:
    preset = Preset("Nothing pinned", ChatControls(), frozenset({ControlsPart.PINS, ControlsPart.NOTEBOOK}))
    now = ChatControls(pins=(EntryRule("Bell"),), notebook="mine", notepad="stays")
    assert apply_preset(preset, now, INDEX)[0] == ChatControls(notepad="stays")


def test_the_chats_own_character_is_a_choice_too(folder: PresetFolder) -> None:
    folder.save(Preset("Own", ChatControls(), frozenset({ControlsPart.CHARACTER})))
    now = ChatControls(character="Wren")
    assert apply_preset(folder.find("Own"), now, INDEX)[0].character is None


def test_what_the_vault_does_not_have_is_told() -> None:
    controls = replace(FULL, folders=("places", "gone"), context={"era": ["before", "never"], "mood": "calm"})
    applied, missing = apply_preset(Preset("P", controls, frozenset(ControlsPart)), ChatControls(), INDEX)
    told = "\n".join(missing)
    assert applied.folders == ("places",)
    assert applied.pins == controls.pins  # they wait for a vault that has such entries
    assert "pins “Tide”, and there is no entry of that title in the vault “brume”" in told
    assert "blocks “Wasp”" in told
    assert "“gone” does not exist" in told
    assert "Era to “never”" in told
    assert "“mood”" in told
    assert len(missing) == 5
    assert "Lamp" not in told


def test_a_name_is_taken_once_whatever_the_capitals(folder: PresetFolder) -> None:
    folder.save(Preset("Storm", FULL, frozenset(ControlsPart)))
    with pytest.raises(SettingsError, match="“Storm” already"):
        folder.save(Preset("  storm ", FULL, frozenset(ControlsPart)))
    path = folder.save(Preset("storm", ChatControls(), frozenset({ControlsPart.PINS})), replacing=True)
    assert path.name == "Storm.json"
    assert [each.name for each in folder.all()] == ["storm"]


def test_renaming_renames_the_file_and_deleting_removes_it(folder: PresetFolder) -> None:
    old = folder.save(Preset("Storm", FULL, frozenset(ControlsPart)))
    folder.save(Preset("Calm", FULL, frozenset(ControlsPart)))
    with pytest.raises(SettingsError, match="already"):
        folder.rename("Storm", "calm")
    new = folder.rename("Storm", "Hurricane")
    assert not old.exists()
    assert (new.name, read_preset(new).controls) == ("Hurricane.json", FULL)
    assert folder.rename("hurricane", "HURRICANE").exists()
    assert [each.name for each in folder.all()] == ["Calm", "HURRICANE"]
    folder.delete("hurricane")
    assert [each.name for each in folder.all()] == ["Calm"]
    with pytest.raises(SettingsError, match="There is no preset “Hurricane”"):
        folder.rename("Hurricane", "X")


def test_names_that_file_systems_do_not_take(folder: PresetFolder) -> None:
    for name in ("a/b", "a\\b", "con", "..", "x?"):
        folder.save(Preset(name, ChatControls(), frozenset({ControlsPart.PINS})))
    assert sorted(each.name for each in folder.all()) == ["..", "a/b", "a\\b", "con", "x?"]
    assert all(path.parent == folder.folder for path in folder.folder.iterdir())
    assert not (folder.folder / "con.json").exists()


@pytest.mark.parametrize("name", ["", "   ", "x" * 81])
def test_names_that_cannot_be_used(folder: PresetFolder, name: str) -> None:
    with pytest.raises(SettingsError, match="name"):
        folder.save(Preset(name, FULL, frozenset(ControlsPart)))


def test_an_unknown_name_says_which_there_are(folder: PresetFolder) -> None:
    with pytest.raises(SettingsError, match="None is kept"):
        folder.find("x")
    folder.save(Preset("Storm", FULL, frozenset(ControlsPart)))
    with pytest.raises(SettingsError, match="There are: “Storm”"):
        folder.find("x")


HEAD = {"format": "lorestudio-preset", "version": 1, "name": "P"}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", "line 1: this is no valid JSON"),
        ("[]", "no preset"),
        ('{"format": "other"}', "no preset"),
        (json.dumps(HEAD | {"version": 2}), "version 2"),
        (json.dumps(HEAD | {"name": ""}), "“name”"),
        (json.dumps(HEAD | {"pins": ["Lamp"]}), "“pins.0”"),
        (json.dumps(HEAD | {"pins": [{"title": ""}]}), "“pins.0.title”"),
        (json.dumps(HEAD | {"folders": "places"}), "“folders”"),
        (json.dumps(HEAD | {"context": {"era": {}}}), "“context.era"),
        (json.dumps(HEAD | {"notebook": 5}), "“notebook”"),
    ],
)
def test_a_broken_file_is_shown_and_the_others_stay_usable(folder: PresetFolder, text: str, words: str) -> None:
    folder.save(Preset("Good", FULL, frozenset(ControlsPart)))
    (folder.folder / "bad.json").write_text(text, encoding="utf-8")
    (folder.folder / "notes.txt").write_text("no preset", encoding="utf-8")
    broken, good = folder.all()
    assert (good.name, broken.name, broken.preset) == ("Good", "bad", None)
    assert words in broken.problem
    assert "bad.json" in broken.problem
    with pytest.raises(SettingsError, match=r"bad\.json"):
        folder.find("bad")


def test_a_file_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "presets").write_text("a file in the way", encoding="utf-8")
    with pytest.raises(SettingsError, match="presets"):
        PresetFolder(tmp_path / "presets").save(Preset("P", FULL, frozenset(ControlsPart)))


values = st.one_of(st.text(max_size=4), st.integers(-5, 5), st.booleans())
controls = st.builds(
    ChatControls,
    pins=st.lists(st.builds(EntryRule, st.text(min_size=1, max_size=4), st.none() | st.just("v"))).map(tuple),
    folders=st.lists(st.text(max_size=3)).map(tuple),
    context=st.dictionaries(st.text(max_size=3), values | st.lists(values, max_size=3)),
    notebook=st.text(max_size=9),
    character=st.none() | st.text(max_size=5),
)


@settings(max_examples=examples(40), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(controls, st.sets(st.sampled_from(ControlsPart)))
def test_any_choices_survive_the_file(folder: PresetFolder, made: ChatControls, parts: set[ControlsPart]) -> None:
    preset = Preset("Any", made, frozenset(parts))
    back = read_preset(folder.save(preset, replacing=True))
    assert preset_json(back) == preset_json(preset)
    now = ChatControls(notepad="kept")
    assert apply_preset(back, now, INDEX)[0] == apply_preset(preset, now, INDEX)[0]
