"""Every shortcut can be another one; what is taken already is said."""

from __future__ import annotations

import itertools

import pytest
from PySide6.QtCore import QSettings
from PySide6.QtWidgets import QPushButton

from lorestudio.ui.shell.shortcuts import ShortcutsDialog, ShortcutStore, clashing, normal, objections, with_shortcuts


def named(table, name: str):
    return next(one for one in table if one.id == name)


def test_what_comes_with_the_program_has_nothing_against_it(table) -> None:
    free = {"help.shortcuts"}  # its question mark is a known exception: no text field has the keyboard at first
    known = {one.id: objections(table, one, one.shortcuts) for one in table if one.id not in free}
    assert {name: said for name, said in known.items() if said} == {}


@pytest.mark.parametrize(
    ("name", "shortcut", "told"),
    [
        ("replay.all", "Ctrl+G", "already used by “Relationship graph”"),
        ("replay.all", "ctrl+g", "already used by “Relationship graph”"),
        ("replay.all", "G", "G alone is typed into text fields. Add Ctrl or Alt."),
        ("replay.all", "Shift+G", "typed into text fields"),
        ("replay.all", "Del", "typed into text fields"),
        ("replay.all", "Ctrl+V", "Ctrl+V is needed in text fields."),
        ("replay.all", "Nonsense+Q", "Nonsense+Q is no shortcut."),
        ("message.number", "J", "already used by “Next message with a change”"),
        ("message.number", "Ctrl+R", "already used by “Replay all”"),
    ],
)
def test_what_cannot_be_is_said(name: str, shortcut: str, told: str, table) -> None:
    said = objections(table, named(table, name), (shortcut,))
    assert len(said) >= 1
    assert any(told in one for one in said)


def test_what_is_free_in_its_place_can_be(table) -> None:
    assert objections(table, named(table, "replay.all"), ("F9",)) == []
    assert objections(table, named(table, "message.number"), ("Z",)) == []  # only while the chat has the keyboard
    assert objections(table, named(table, "note.enable"), ("J",)) == []  # the vault is another place
    assert objections(table, named(table, "replay.all"), named(table, "replay.all").shortcuts) == []
    assert clashing(table, named(table, "replay.all"), "Ctrl+G") == ["go.graph"]


def test_what_was_chosen_is_kept_and_only_that(tmp_path, table) -> None:
    settings = QSettings(str(tmp_path / "w.ini"), QSettings.Format.IniFormat)
    store = ShortcutStore(settings)
    assert store.load(table) == {}
    chosen = {"replay.all": ("F9", "Ctrl+R"), "go.graph": ()}
    store.save(chosen)
    again = ShortcutStore(QSettings(str(tmp_path / "w.ini"), QSettings.Format.IniFormat))
    assert again.load(table) == chosen
    settings.setValue("shortcuts/go.entry", "Nonsense+Q Ctrl+K")
    assert store.load(table)["go.entry"] == ("Ctrl+K",)
    store.save({})
    assert store.load(table) == {}
    bound = {one.id: one for one in with_shortcuts(table, chosen)}
    assert bound["replay.all"].shortcuts == ("F9", "Ctrl+R")
    assert bound["go.graph"].shortcuts == ()
    assert bound["go.entry"] is named(table, "go.entry")
    assert normal("ctrl+alt+left") == "Ctrl+Alt+Left"


@pytest.fixture
def dialog(qtbot, theme, table):
    made = ShortcutsDialog(theme, table, {}, view_keys=[("the graph", "Show all", ("0",))])
    qtbot.addWidget(made)
    made.told = []
    made.changed.connect(made.told.append)
    return made


def test_what_is_searched_listed_and_set_stands_in_this_order(dialog) -> None:
    dialog.show()
    parts = (dialog.search, dialog.view, dialog.field, dialog.said, dialog.reset_all)
    for above, below in itertools.pairwise(part.geometry() for part in parts):
        assert above.bottom() < below.top()
    assert dialog.view.width() > dialog.width() * 0.9


def test_typing_a_shortcut_says_at_once_who_has_it(dialog) -> None:
    dialog.choose("replay.all")
    assert dialog.action.id == "replay.all"
    dialog.type("Ctrl+G")
    assert "Ctrl+G is already used by “Relationship graph”" in dialog.said.text()
    assert not dialog.set.isEnabled()
    dialog.type("F9")
    assert "free" in dialog.said.text()
    assert "in place of the others" in dialog.set.toolTip()
    assert "beside the others" in dialog.add.toolTip()
    dialog.set.click()
    assert dialog.told == [{"replay.all": ("F9",)}]
    assert dialog.action.shortcuts == ("F9",)


def test_adding_taking_away_and_resetting(dialog) -> None:
    dialog.choose("replay.all")
    dialog.type("F9")
    dialog.add.click()
    assert dialog.told[-1] == {"replay.all": ("Ctrl+R", "F9")}
    assert dialog.field.keySequence().isEmpty()  # the next action begins with an empty field
    assert not dialog.add.isEnabled()
    dialog.none.click()
    assert dialog.told[-1] == {"replay.all": ()}
    dialog.reset.click()
    assert dialog.told[-1] == {}
    assert not dialog.reset_all.isEnabled()


def test_what_came_with_the_program_can_always_be_had_back(dialog) -> None:
    dialog.choose("help.shortcuts")
    dialog.none.click()
    dialog.reset.click()
    assert dialog.told == [{"help.shortcuts": ()}, {}]


def test_taking_a_shortcut_from_another(dialog) -> None:
    dialog.choose("replay.all")
    dialog.type("Ctrl+G")
    assert dialog.take.isVisibleTo(dialog)
    dialog.take.click()
    assert dialog.told[-1] == {"go.graph": (), "replay.all": ("Ctrl+G",)}
    dialog.choose("go.graph")
    dialog.reset.click()
    assert "already used by “Replay all”" in dialog.said.text()
    dialog.reset_all.click()
    assert dialog.told[-1] == {}
    assert not dialog.reset_all.isEnabled()
    assert "is free" not in dialog.said.text()


def test_keys_of_a_view_are_listed_and_stay_as_they_are(dialog) -> None:
    buttons = (dialog.field, dialog.set, dialog.add, dialog.none, dialog.reset)
    stays = "These keys belong to the view itself and stay as they are."
    dialog.choose("view:the graph: Show all")
    assert dialog.said.text() == stays
    assert all(not each.isEnabled() and stays in each.toolTip() for each in buttons)
    dialog.choose("replay.all")
    assert dialog.field.isEnabled()


def test_searching_by_name_and_by_key(dialog) -> None:
    dialog.search.setText("ctrl+g")
    assert [dialog.model.index(row, 0).data() for row in range(dialog.model.rowCount())] == ["Relationship graph"]
    dialog.type("F9")
    dialog.search.setText("nothing at all")
    assert dialog.model.rowCount() == 0
    assert dialog.action is None
    dialog.type("F8")
    assert [each.isEnabled() for each in (dialog.set, dialog.add)] == [False, False]
    dialog.view.findChild(QPushButton).click()
    assert dialog.search.text() == ""
    assert dialog.model.rowCount() > 1


@pytest.mark.long
def test_the_window_takes_new_shortcuts_at_once_and_remembers_them(make_window, qtbot) -> None:
    window = make_window()
    window.run("help.shortcuts")
    dialog = window.features.window.dialog
    dialog.choose("replay.all")
    dialog.type("F9")
    dialog.set.click()
    keys = window.commands.actions["replay.all"].shortcuts()
    assert [key.toString() for key in keys] == ["F9"]
    assert "F9" in window.commands.actions["replay.all"].toolTip()
    assert window.commands.table["replay.all"].shortcuts == ("F9",)
    again = make_window()
    assert again.commands.actions["replay.all"].shortcut().toString() == "F9"
    dialog.reset_all.click()
    assert window.commands.actions["replay.all"].shortcut().toString() == "Ctrl+R"
    assert make_window().commands.actions["replay.all"].shortcut().toString() == "Ctrl+R"


@pytest.mark.always
def test_the_button_that_finds_anything_names_the_keys_that_are_set(make_window) -> None:
    window = make_window()
    find = window.features.window.buttons[1]
    assert find.text() == "Find anything   Ctrl+P"
    window.run("help.shortcuts")
    dialog = window.features.window.dialog
    for title, keys in (("Find anything   F9", ("F9",)), ("Find anything", ())):
        dialog.changed.emit({"go.command": keys})
        assert find.text() == title
    assert make_window().features.window.buttons[1].text() == "Find anything"
