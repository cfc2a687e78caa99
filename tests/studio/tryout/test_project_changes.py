"""A single change carried over to a project, and to a note's text, as the tools that write notes would."""

import pytest

from lorestudio.domain.records import replace
from lorestudio.domain.state import EntryRule
from lorestudio.exchange.problems import InputError
from lorestudio.settings.deeplore import DeepLoreSettings
from lorestudio.settings.worldinfo import WorldInfoSettings
from lorestudio.studio.notes.vault_notes import read_vault_notes
from lorestudio.studio.tryout.project_changes import ProjectChanges, edited_text, plan_change
from lorestudio.systems.deeplore.ideas import setting
from lorestudio.systems.ideas import Change, NoteEdit
from lorestudio.systems.registry import MAIN, kind_of
from tests.studio.previews import TEXTS, project_of

LAMP = TEXTS["Lamp.md"]


def edit(name, **values):
    return NoteEdit("v", "Lamp.md", name, **values)


@pytest.mark.parametrize(
    ("values", "after"),
    [
        ({"name": "priority", "value": 7}, LAMP.replace("cooldown: 1\n", "cooldown: 1\npriority: 7\n")),
        ({"name": "cooldown", "removed": True}, LAMP.replace("cooldown: 1\n", "")),
        ({"name": "keys", "add": ("brass",)}, LAMP.replace("[lamp]", "[lamp, brass]")),
        ({"name": "tags", "drop": ("other",)}, LAMP),
    ],
)
def test_only_the_lines_of_the_property_change(values, after):
    assert edited_text(LAMP, edit(**values)) == after


def test_a_note_becomes_another_entry_and_the_project_stays(tmp_path):
    (tmp_path / "Lamp.md").write_text(LAMP)
    project = replace(project_of(), vault_folders=(tmp_path,))
    changes = ProjectChanges(project)
    assert changes.can_edit("v", "Lamp.md")

    made, settings = changes.made(Change("priority", "p", note=edit("priority", value=7)), MAIN, project.settings)

    assert settings is project.settings
    lamp = next(each for each in made.index.entries if each.filename == "Lamp.md")
    assert lamp.priority == 7
    assert made.vault_state.index is made.index
    assert next(each for each in project.index.entries if each.filename == "Lamp.md").priority == 100


def test_settings_and_choices_are_replaced_alone():
    project = project_of()
    changes = ProjectChanges(project)
    made, settings = changes.made(setting("scan_depth", "scan_depth", 9, 4), MAIN, project.settings)
    assert (made.settings.scan_depth, settings) == (9, made.settings)
    deeper = Change("depth", "d", settings={"depth": 9})
    assert changes.made(deeper, kind_of("world-info"), WorldInfoSettings()) == (project, WorldInfoSettings(depth=9))
    pinned = replace(project.controls, pins=(EntryRule("Lamp"),))
    made, _settings = changes.made(Change("pin", "p", controls=pinned), MAIN, project.settings)
    assert made.controls.pins == (EntryRule("Lamp"),)
    assert made.index is project.index


def test_a_note_whose_text_is_not_at_hand_cannot_be_tried(tmp_path):
    changes = ProjectChanges(project_of())
    assert not changes.can_edit("v", "Lamp.md")
    with pytest.raises(InputError, match="not at hand"):
        changes.made(Change("priority", "p", note=edit("priority", value=7)), MAIN, DeepLoreSettings())
    (tmp_path / "Lamp.md").write_text(LAMP)
    there = replace(project_of(), vault_folders=(tmp_path,))
    assert ProjectChanges(there).can_edit("v", "Lamp.md")
    assert not ProjectChanges(replace(there, vault_state=None)).can_edit("v", "Lamp.md")


def test_a_plan_has_the_title_of_the_change_and_says_what_cannot_be_done(tmp_path):
    path = tmp_path / "Lamp.md"
    path.write_bytes(LAMP.encode())
    vaults = [read_vault_notes(tmp_path)]

    planned = plan_change(vaults, path, Change("priority", "Raise it", note=edit("priority", value=7)))
    assert planned.changes.title == "Raise it"
    assert [change.after for change in planned.changes.changes] == [edited_text(LAMP, edit("priority", value=7))]

    path.write_bytes(LAMP.replace("[lamp]", "{a: {b: c}}").encode())
    with pytest.raises(InputError, match="no list"):
        plan_change([read_vault_notes(tmp_path)], path, Change("add_key", "k", note=edit("keys", add=("x",))))
    with pytest.raises(InputError, match="in no note"):
        plan_change(vaults, path, setting("scan_depth", "scan_depth", 9, 4))
