"""Choosing for the chat in the window, with the real engine: every change runs the chat again and can be undone."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QDialog, QLabel, QLineEdit, QMenu, QMessageBox, QPlainTextEdit

from lorestudio.domain.chat import Chat
from lorestudio.domain.entry import Entry, VaultIndex
from lorestudio.domain.lifecycle import Cancelled, CancelToken
from lorestudio.domain.records import replace
from lorestudio.domain.state import ChatControls, EntryRule
from lorestudio.studio.chat.controls import ControlsPart, Preset
from lorestudio.studio.project.project import Project
from lorestudio.studio.replay.simulator import Simulator
from lorestudio.studio.tryout.control_trials import Effect
from lorestudio.ui.features.controls import chips as chip_watch
from lorestudio.ui.features.controls.chat_dialogs import ChatTextDialog
from lorestudio.ui.features.controls.chips import CHANGED, FOLDERS, UNUSABLE
from lorestudio.ui.features.controls.presets import PresetsDialog, SavePresetDialog
from lorestudio.ui.shell.main_window import MainWindow
from lorestudio.ui.shell.qt import ITEM
from lorestudio.ui.widgets.picker import Choice, Picker
from tests.studio.previews import CHAT, project_of
from tests.ui.conftest import drain, menu_of_row
from tests.ui.worlds import make_project as small_project

NOTES = {
    "Before.md": "---\ntags: [lorebook]\nkeys: [tide]\nera: before\n---\nBefore.\n",
    "After.md": "---\ntags: [lorebook]\nkeys: [tide]\nera: after\n---\nAfter.\n",
    "Plain.md": "---\ntags: [lorebook]\nkeys: [lamp]\n---\nPlain.\n",
    "people/Ann.md": "---\ntags: [lorebook]\nkeys: [tide]\n---\nAnn.\n",
    "Silent.md": "---\ntags: [lorebook]\nkeys: [never said]\nera: before\n---\nSilent.\n",
}


def make_project(controls: ChatControls | None = None, chat: Chat | None = CHAT) -> Project:
    project = replace(project_of(NOTES), vault_folders=(None,), places=("v",))
    return replace(project, controls=controls or ChatControls(), chat=chat)


@pytest.fixture
def shown(make_window: Callable[..., MainWindow], qtbot) -> Callable[..., MainWindow]:
    def make(controls: ChatControls | None = None, **more: object) -> MainWindow:
        window = make_window(make_project(controls, **more), make_simulator=Simulator)
        settle(window, qtbot)
        return window

    return make


def settle(window: MainWindow, qtbot) -> None:
    """Wait until nothing runs and nothing is about to."""
    watch = window.features.controls.watch

    def quiet() -> bool:
        return not window.session.busy and window.session.jobs.idle and not watch._pause.isActive()

    qtbot.waitUntil(quiet)
    drain()
    qtbot.waitUntil(quiet)


def entry(window: MainWindow, title: str) -> Entry:
    return next(each for each in window.session.project.index.entries if each.title == title)


def injected(window: MainWindow) -> set[str]:
    trace = window.session.runs.traces[window.session.generations[-1]]
    return {each.title for each in trace.injections}


def chips(window: MainWindow) -> dict[tuple[str, ...], str]:
    return {button.chip.key: f"{button.text()}|{button.chip.detail}" for button in window.features.controls.bar.chips}


def picker(window: MainWindow) -> Picker:
    drain()  # a popup that is only just shown closes the next one
    found = [each for each in window.findChildren(Picker) if each.isVisible()]
    assert len(found) == 1
    return found[0]


def choices(shown: Picker) -> dict[str, Choice]:
    model = shown.view.model()
    found = [model.index(row, 0).data(ITEM) for row in range(model.rowCount())]
    return {choice.title: choice for choice in found}


def pick(window: MainWindow, title: str) -> None:
    shown = picker(window)
    shown.field.setText(title)
    shown.pick_current()


def test_what_is_selected_is_not_gone_through_where_nothing_is_pinned(
    shown: Callable[..., MainWindow], monkeypatch: pytest.MonkeyPatch
) -> None:
    feature = shown().features.controls
    monkeypatch.setattr(type(feature), "targets", property(lambda _feature: pytest.fail("thousands may be selected")))
    assert not feature._are_all(ControlsPart.PINS)
    assert not feature._are_all(ControlsPart.BLOCKS)


@pytest.mark.long
def test_pinning_the_chosen_entry_runs_the_chat_again_and_can_be_undone(shown, qtbot) -> None:
    window = shown()
    silent = entry(window, "Silent")
    assert "Silent" not in injected(window)
    window.selection.choose_entry(silent.id)
    window.run("controls.pin")
    settle(window, qtbot)
    assert window.session.project.controls.pins == (EntryRule("Silent"),)
    assert "Silent" in injected(window)
    assert window.commands.actions["controls.pin"].isChecked()
    assert ("pins", "Silent", "") in chips(window)
    assert window.selection.entry == silent.id
    assert window.session.parts.adjustments.undo_title == "pin Silent"
    window.run("adjust.undo")
    settle(window, qtbot)
    assert "Silent" not in injected(window)
    assert not window.commands.actions["controls.pin"].isChecked()
    assert ("pins", "Silent", "") not in chips(window)
    window.run("adjust.redo")
    settle(window, qtbot)
    assert "Silent" in injected(window)


def test_pins_are_off_where_the_system_knows_none(shown, qtbot) -> None:
    window = shown(ChatControls(pins=(EntryRule("Plain"),), blocks=(EntryRule("Silent"),)))
    assert chips(window)["pins", "Plain", ""] == "Pin: Plain|"
    window.session.replays.choose(system="world-info")
    settle(window, qtbot)
    assert chips(window)["pins", "Plain", ""] == "Pin: Plain|no effect"
    assert chips(window)["blocks", "Silent", ""] == "Block: Silent|"
    window.selection.choose_entry(entry(window, "After").id)
    settle(window, qtbot)
    named = ("pin", "block", "add_pin", "add_block")
    pin, block, add, add_block = (window.commands.actions[f"controls.{name}"] for name in named)
    assert [each.isEnabled() for each in (pin, block, add, add_block)] == [False, True, False, True]
    assert pin.text() == pin.toolTip().splitlines()[-1] == "World Info: pins count for nothing here"
    assert add.text() == pin.text() == window.commands.actions["scores.pin"].text()
    window.selection.choose_entry(entry(window, "Plain").id)
    settle(window, qtbot)
    window.run("controls.pin")  # one that is there can be taken away
    settle(window, qtbot)
    assert window.session.project.controls.pins == ()


@pytest.mark.parametrize("system", ["recap", "facts"])
def test_choices_that_the_system_does_not_heed_have_no_effect(shown, qtbot, system) -> None:
    chosen = ChatControls(
        (EntryRule("Plain"),),
        (EntryRule("Silent"),),
        ("people",),
        {"era": "after"},
        notebook="Brief.",
        notepad="- noted",
        character="Ann",
    )
    window = shown(chosen)
    parts = {"pins", "blocks", "folders", "context", "notebook", "notepad", "character"}

    def without_effect() -> set[str]:
        return {key[0] for key, text in chips(window).items() if text.endswith("|no effect")}

    assert without_effect() == set()
    window.session.replays.choose(system=system)
    settle(window, qtbot)
    assert without_effect() == parts
    for button in window.features.controls.bar.chips:
        if button.chip.key[0] in parts:
            assert "here" in button.chip.tip
            assert button.chip.change is not None, "it can be taken away all the same"
    window.run("controls.notebook")
    (dialog,) = (each for each in window.findChildren(ChatTextDialog) if each.isVisible())
    told = [each.text() for each in dialog.findChildren(QLabel) if each.isVisible()]
    (intro,) = (each for each in told if not each.endswith(" characters."))
    assert intro.endswith(" memory: the Author's Notebook goes into no prompt here. The chat keeps the text.")
    assert (dialog.on.isVisible(), dialog.text.placeholderText()) == (False, "")
    dialog.reject()


def test_what_the_system_does_not_heed_is_not_chosen_anew_but_can_be_changed(shown, qtbot) -> None:
    window = shown(ChatControls(context={"era": "after"}))
    actions = [window.commands.actions[f"controls.{name}"] for name in ("context", "folder", "character")]
    assert all(action.isEnabled() for action in actions)
    window.session.replays.choose(system="world-info")
    settle(window, qtbot)
    assert [action.isEnabled() for action in actions] == [True, False, True]
    told = "World Info: the folder filter counts for nothing here"
    assert actions[1].text() == actions[1].toolTip().splitlines()[-1] == told


@pytest.mark.long
def test_blocking_frees_a_pin_and_pinning_again_frees_nothing_else(shown, qtbot) -> None:
    window = shown(ChatControls(pins=(EntryRule("Plain"),)))
    window.selection.choose_entry(entry(window, "Plain").id)
    window.run("controls.block")
    settle(window, qtbot)
    controls = window.session.project.controls
    assert (controls.pins, controls.blocks) == ((), (EntryRule("Plain"),))
    assert "Plain" not in injected(window)
    window.run("controls.block")
    settle(window, qtbot)
    assert "Plain" in injected(window)


@pytest.mark.long
def test_several_selected_notes_are_pinned_as_one_step(shown, qtbot) -> None:
    window = shown()
    window.vault._select([entry(window, "Plain"), entry(window, "Silent")])
    window.run("controls.pin")
    settle(window, qtbot)
    assert {rule.title for rule in window.session.project.controls.pins} == {"Plain", "Silent"}
    pin = window.commands.actions["controls.pin"]
    for titles, pinned in ((["Ann"], False), (["Plain", "Silent"], True), (["Plain", "Ann"], False)):
        window.vault._select([entry(window, title) for title in titles])
        drain()
        assert pin.isChecked() == pinned
    assert window.session.parts.adjustments.undo_title == "pin 2 entries"
    window.run("adjust.undo")
    assert window.session.project.controls.pins == ()


@pytest.mark.long
def test_delete_on_a_chip_takes_it_away(shown, qtbot) -> None:
    window = shown(ChatControls(blocks=(EntryRule("Plain"),)))
    assert "Plain" not in injected(window)
    window.run("controls.focus")
    button = next(each for each in window.features.controls.bar.chips if each.chip.key[0] == "blocks")
    QTest.keyClick(button, Qt.Key.Key_Delete)
    settle(window, qtbot)
    assert "Plain" in injected(window)
    assert window.session.parts.adjustments.undo_title == "unblock Plain"


def test_a_chip_says_what_it_filters_in_the_chosen_reply(shown, qtbot) -> None:
    window = shown(ChatControls(context={"era": ["after"]}, folders=("people",)))
    qtbot.waitUntil(lambda: chips(window)["context", "era"] == "Era: after|filters 1")
    tip = next(each for each in window.features.controls.bar.chips if each.chip.key == ("context", "era")).toolTip()
    assert "filters 1 entry: Before" in tip  # Silent has that era too, and nothing brings it in here
    assert chips(window)[FOLDERS] == "Folder: people|filters 0"  # all others lie at the root
    window.chat.choose(1)  # nobody has spoken of the tide yet
    qtbot.waitUntil(lambda: chips(window)["context", "era"] == "Era: after|filters 0")


@pytest.mark.always
def test_a_value_is_chosen_from_those_of_the_vault(shown, qtbot) -> None:
    window = shown()
    window.run("controls.context")
    fields = choices(picker(window))
    assert fields["Era"].detail == "not set"
    assert fields["Era"].hint == "3 entries have it"
    pick(window, "Era")
    values = picker(window)
    qtbot.waitUntil(lambda: all("would" in choice.detail for choice in choices(values).values()))
    assert {title: choice.detail for title, choice in choices(values).items()} == {
        "before": "in 2 entries · would filter 1 entry",
        "after": "in 1 entry · would filter 1 entry",
    }
    pick(window, "after")
    settle(window, qtbot)
    assert window.session.project.controls.context == {"era": ["after"]}
    assert "Before" not in injected(window)
    assert window.session.parts.adjustments.undo_title == "Era: after"


@pytest.mark.long
def test_a_value_that_is_set_is_taken_away_and_any_can_be_typed(shown, qtbot) -> None:
    window = shown(ChatControls(context={"era": ["after"]}))
    window.features.controls.bar.opened.emit(("context", "era"))
    values = picker(window)
    qtbot.waitUntil(lambda: "filters 1 entry" in choices(values)["after"].detail)
    values.field.setText("the ice age")
    QTest.keyClick(values.field, Qt.Key.Key_Return, Qt.KeyboardModifier.ShiftModifier)
    settle(window, qtbot)
    assert window.session.project.controls.context == {"era": ["after", "the ice age"]}
    window.features.controls.bar.opened.emit(("context", "era"))
    pick(window, "after")
    settle(window, qtbot)
    assert window.session.project.controls.context == {"era": ["the ice age"]}


@pytest.mark.long
def test_folders_are_chosen_and_cleared(shown, qtbot) -> None:
    window = shown()
    window.run("controls.folder")
    assert choices(picker(window))["people"].detail.startswith("1 entry")
    pick(window, "people")
    settle(window, qtbot)
    assert window.session.project.controls.folders == ("people",)
    window.features.controls.bar.removed.emit(FOLDERS)
    settle(window, qtbot)
    assert window.session.project.controls.folders == ()


@pytest.mark.always
@pytest.mark.parametrize(("action", "part"), [("controls.add_pin", "pins"), ("controls.add_block", "blocks")])
def test_any_entry_can_be_found_and_pinned_or_blocked(shown, qtbot, action: str, part: str) -> None:
    window = shown()
    window.run(action)
    pick(window, "Silent")
    settle(window, qtbot)
    assert getattr(window.session.project.controls, part) == (EntryRule("Silent"),)


@pytest.mark.always
def test_another_active_character(shown, qtbot) -> None:
    window = shown()
    assert chips(window)[("character",)] == "Character: Ann|off"
    window.run("controls.character")
    shown_picker = picker(window)
    assert choices(shown_picker)["Ann"].detail == "the chat's own"
    shown_picker.field.setText("Silent")
    QTest.keyClick(shown_picker.field, Qt.Key.Key_Return, Qt.KeyboardModifier.ShiftModifier)
    settle(window, qtbot)
    assert window.session.project.controls.character == "Silent"
    assert CHANGED not in chips(window)  # no chat file holds it
    settings = window.session.project.settings.model_copy(update={"character_context_scan": True})
    window.session.parts.adjust("scan", settings=settings)
    settle(window, qtbot)
    assert "Silent" in injected(window)
    window.features.controls.bar.removed.emit(("character",))
    settle(window, qtbot)
    assert "Silent" not in injected(window)


@pytest.mark.always
@pytest.mark.parametrize(
    ("action", "field", "setting"),
    [("controls.notebook", "notebook", "notebook_enabled"), ("controls.notepad", "notepad", "ai_notepad_enabled")],
)
def test_a_text_and_its_switch_are_one_step(shown, qtbot, action: str, field: str, setting: str) -> None:
    window = shown()
    window.run(action)
    (dialog,) = window.findChildren(ChatTextDialog)
    assert "depth 4" in dialog.where.text()
    dialog.text.setPlainText("Remember the crown.")
    dialog._show_amount()
    assert "goes into no prompt" in dialog.amount.text()
    dialog.on.setChecked(True)
    assert "goes into no prompt" not in dialog.amount.text()
    dialog.accept()
    settle(window, qtbot)
    project = window.session.project
    assert (getattr(project.controls, field), getattr(project.settings, setting)) == ("Remember the crown.", True)
    trace = window.session.runs.traces[window.session.generations[-1]]
    notes = trace.stage("notes")
    assert notes is not None
    assert notes.details["prompts"]
    window.run("adjust.undo")
    settle(window, qtbot)
    project = window.session.project
    assert (getattr(project.controls, field), getattr(project.settings, setting)) == ("", False)


@pytest.mark.always
def test_a_text_left_as_it_was_is_no_step(shown) -> None:
    window = shown(ChatControls(notebook="As it is."))
    window.features.controls.bar.opened.emit(("notebook",))
    (dialog,) = window.findChildren(ChatTextDialog)
    dialog.accept()
    assert window.session.parts.adjustments.undo_title == ""


@pytest.mark.always
def test_the_mark_says_what_is_not_in_the_file_until_it_is_saved(shown, qtbot) -> None:
    window = shown()
    assert CHANGED not in chips(window)
    assert not window.commands.actions["controls.file"].isEnabled()
    window.selection.choose_entry(entry(window, "Silent").id)
    window.run("controls.pin")
    settle(window, qtbot)
    assert CHANGED in chips(window)
    assert window.commands.actions["controls.file"].isEnabled()
    window.session.parts.saved(controls=window.session.project.controls)
    assert CHANGED not in chips(window)
    window.update_actions()
    assert not window.commands.actions["controls.file"].isEnabled()
    window.run("controls.pin")
    settle(window, qtbot)
    assert CHANGED in chips(window)
    window.run("controls.file")
    settle(window, qtbot)
    assert window.session.project.controls.pins == (EntryRule("Silent"),)
    assert CHANGED not in chips(window)
    assert window.session.parts.adjustments.undo_title == "back to the chat's file"


def test_what_the_chats_file_says_in_vain_is_shown(shown, qtbot) -> None:
    chat = replace(CHAT, metadata={"deeplore_pins": [7], "deeplore_context": "era"})
    window = shown(chat=chat)
    assert chips(window)[UNUSABLE] == "2 choices not usable|"
    window.features.controls.bar.opened.emit(UNUSABLE)
    (dialog,) = (each for each in window.findChildren(QDialog) if each.windowTitle().startswith("In the chat"))
    text = dialog.findChild(QPlainTextEdit).toPlainText()
    assert "deeplore_pins, item 1" in text
    dialog.close()
    drain()


@pytest.mark.always
def test_a_chip_opens_what_it_stands_for(shown, qtbot) -> None:
    controls = ChatControls(
        pins=(EntryRule("Silent"),), folders=("people",), context={"era": "before", "gone": "x"}, notepad="Noted.",
        character="Ann",
    )  # fmt: skip
    window = shown(controls)
    bar = window.features.controls.bar
    bar.opened.emit(("pins", "Silent", ""))
    assert window.selection.entry == entry(window, "Silent").id
    seen = []
    for key in (FOLDERS, ("context", "era"), ("context", "gone"), ("character",)):
        bar.opened.emit(key)
        seen.append(picker(window).windowTitle())
        picker(window).close()
    assert seen == ["Filter by folder", "Era of this chat", "Set the context", "Active character"]
    bar.opened.emit(("notepad",))
    (dialog,) = window.findChildren(ChatTextDialog)
    assert dialog.findChild(QPlainTextEdit).toPlainText() == "Noted."
    dialog.reject()
    window.run("controls.pin")
    settle(window, qtbot)
    bar.opened.emit(CHANGED)
    (menu,) = (each for each in bar.findChildren(QMenu) if each.isVisible())
    assert window.commands.actions["controls.file"] in menu.actions()
    button = next(each for each in bar.chips if each.chip.key == CHANGED)
    assert menu.pos() == button.mapToGlobal(button.rect().bottomLeft())
    menu.close()
    drain()
    assert menu not in bar.findChildren(QMenu)


@pytest.mark.always
def test_a_chip_leads_to_the_entry_of_its_own_vault(make_window) -> None:
    notes = (Entry(0, "A.md", "v", "Tide"), Entry(1, "B.md", "w", "Tide"))
    rules = (EntryRule("Tide", "w"), EntryRule("Tide"), EntryRule("Wasp", "w"))
    project = replace(small_project(), index=VaultIndex(notes, vaults=("v", "w")), controls=ChatControls(pins=rules))
    window = make_window(project, replay=False)
    seen = []
    for vault in ("w", "", "v"):
        window.features.controls.bar.opened.emit(("pins", "Tide", vault))
        seen.append(window.selection.entry)
    assert seen == [1, 0, 0]
    window.features.controls.bar.opened.emit(("pins", "Wasp", "w"))  # there is none
    assert window.selection.entry == 0


def test_of_a_reply_that_was_not_run_nothing_is_tried(make_window, qtbot) -> None:
    window = make_window(make_project(), replay=False, make_simulator=Simulator)
    watch, told = window.features.controls.watch, []
    window.chat.go_to_end(last=True)
    watch.try_adding({("folders",): lambda controls: controls}, told.append, CancelToken())
    assert window.session.jobs.idle
    window.session.replays.run_all()
    settle(window, qtbot)
    watch.try_adding({}, told.append, CancelToken())
    assert window.session.jobs.idle
    assert told == []


def test_of_a_reply_that_was_not_run_the_effects_of_what_is_still_chosen_stay(make_window) -> None:
    window = make_window(make_project(), replay=False, make_simulator=Simulator)
    watch, kept = window.features.controls.watch, Effect()
    pin, block = ("pins", "Silent", ""), ("blocks", "Plain", "")
    watch.effects = {pin: kept, block: kept}
    watch._choices = lambda: {pin: lambda controls: controls}
    watch._look()
    assert watch.effects == {pin: kept}


def test_a_choice_whose_effect_is_not_known_is_looked_for_once_the_window_rests(shown) -> None:
    window = shown()
    watch = window.features.controls.watch
    watch._choices = lambda: {("pins", "Silent", ""): lambda controls: controls}
    window.session.state_changed.emit()
    assert watch._pause.isActive()
    watch._pause.stop()


def test_a_failed_trial_is_noted_unless_nobody_waits_for_it(caplog: pytest.LogCaptureFixture) -> None:
    chip_watch._failed(Cancelled())
    assert caplog.records == []
    chip_watch._failed(ValueError("the third stage broke"))
    assert "the third stage broke" in caplog.text


def test_pin_and_block_are_where_entries_are_looked_at(shown) -> None:
    window = shown()
    pin, block = window.commands.actions["controls.pin"], window.commands.actions["controls.block"]
    for view in (window.vault.tree, window.vault.table, window.trace.answers):
        window.vault.show_table(view is window.vault.table)
        menu = menu_of_row(view, view.model().index(0, 0))
        assert {pin, block} <= set(menu.actions())
        menu.close()
    head = window.why.copy_button.parentWidget()
    assert {pin, block} <= {each.defaultAction() for each in head.findChildren(type(window.why.copy_button))}
    menu = window.features.controls.bar.add.menu()
    assert window.commands.actions["controls.context"] in menu.actions()


@pytest.mark.long
@pytest.mark.dressed
def test_a_narrow_window_has_a_bar_of_one_line(shown) -> None:
    window = shown(ChatControls(pins=tuple(EntryRule(f"Nobody {number}") for number in range(8))))
    bar = window.features.controls.bar
    window.chat.run_line.click()
    window.resize(1400, 1600)  # so high that the bar may take several lines
    drain()
    wide = bar.height()
    window.resize(1024, 640)
    drain()
    assert bar.narrow
    assert bar.height() < wide
    window.resize(1400, 800)
    drain()
    assert not bar.narrow


def test_without_a_vault_there_is_no_bar(make_window) -> None:
    window = make_window()
    assert not window.features.controls.bar.isVisible()
    assert not window.commands.actions["controls.context"].isEnabled()


# ---- presets ---------------------------------------------------------------------------------------------------------


def save(window: MainWindow, qtbot, name: str) -> SavePresetDialog:
    window.run("presets.save")
    qtbot.waitUntil(lambda: bool(window.findChildren(SavePresetDialog)))
    (dialog,) = window.findChildren(SavePresetDialog)
    dialog.name.setText(name)
    return dialog


@pytest.mark.long
def test_a_preset_is_saved_and_applied_as_one_step(shown, qtbot) -> None:
    controls = ChatControls(pins=(EntryRule("Silent"),), context={"era": ["after"]}, notepad="mine")
    window = shown(controls)
    dialog = save(window, qtbot, "Storm")
    ticked = {part for part, box in dialog.parts.items() if box.isChecked()}
    assert ticked == {ControlsPart.PINS, ControlsPart.CONTEXT}
    dialog.accept()
    settle(window, qtbot)
    presets = window.features.controls.presets
    assert [each.name for each in presets.known] == ["Storm"]
    document = json.loads((presets.folder.folder / "Storm.json").read_text("utf-8"))
    assert document["context"] == {"era": ["after"]}
    assert "notepad" not in document
    window.session.parts.adjust("away", controls=ChatControls(notepad="other", blocks=(EntryRule("Plain"),)))
    settle(window, qtbot)
    menu = window.features.controls.bar.presets.menu()
    next(action for action in menu.actions() if action.text() == "Storm").trigger()
    settle(window, qtbot)
    assert window.session.project.controls == ChatControls(
        pins=controls.pins, context=controls.context, notepad="other", blocks=(EntryRule("Plain"),)
    )
    assert "Silent" in injected(window)
    assert window.session.parts.adjustments.undo_title == "preset Storm"
    window.run("adjust.undo")
    assert window.session.project.controls.pins == ()


def test_replacing_a_preset_is_said_before(shown, qtbot) -> None:
    window = shown(ChatControls(pins=(EntryRule("Silent"),)))
    save(window, qtbot, "Storm").accept()
    settle(window, qtbot)
    dialog = save(window, qtbot, "storm")
    assert dialog.take.text() == "Replace"
    assert "“Storm”" in dialog.told.text()
    dialog.name.setText(" ")
    assert not dialog.take.isEnabled()
    dialog.reject()
    drain()


@pytest.mark.always
def test_a_preset_that_changes_nothing_is_no_step(shown, qtbot) -> None:
    window = shown(ChatControls(pins=(EntryRule("Silent"),)))
    preset = Preset("Now", window.session.project.controls, frozenset({ControlsPart.PINS}))
    presets = window.features.controls.presets
    presets.apply(preset)
    assert window.statusBar().currentMessage() == "The preset “Now” is what is chosen already."
    assert window.session.parts.adjustments.undo_title == ""
    menu = window.features.controls.bar.presets.menu()
    assert [act.text() for act in menu.actions()] == ["Save as a scenario preset…", "Scenario presets…"]
    presets.folder.save(replace(preset, name="Sea & sky"))
    menu.aboutToShow.emit()
    settle(window, qtbot)
    assert [act.text() for act in menu.actions()][:2] == ["Sea && sky", ""]
    presets.apply(replace(preset, controls=ChatControls()))
    assert window.statusBar().currentMessage() == "The preset “Now” is applied."
    settle(window, qtbot)
    presets.folder.folder.joinpath("Sea & sky.json").unlink()
    presets._rename("Sea & sky", "Storm")
    settle(window, qtbot)
    assert any("Sea & sky" in text for text in window.bars.texts)


@pytest.mark.always
def test_a_preset_says_what_this_vault_does_not_have(shown, qtbot) -> None:
    window = shown()
    preset = Preset("Far", ChatControls(pins=(EntryRule("Wasp"),)), frozenset({ControlsPart.PINS}))
    window.features.controls.presets.apply(preset)
    settle(window, qtbot)
    assert "It pins “Wasp”" in window.bars.texts[0]
    assert ("pins", "Wasp", "") in chips(window)
    assert window.session.project.controls.pins == (EntryRule("Wasp"),)


@pytest.mark.always
def test_presets_are_renamed_deleted_and_broken_ones_shown(shown, qtbot) -> None:
    window = shown(ChatControls(pins=(EntryRule("Silent"),)))
    save(window, qtbot, "Storm").accept()
    settle(window, qtbot)
    folder: Path = window.features.controls.presets.folder.folder
    (folder / "bad.json").write_text("{", encoding="utf-8")
    window.run("presets.manage")
    qtbot.waitUntil(lambda: bool(window.findChildren(PresetsDialog)))
    (dialog,) = window.findChildren(PresetsDialog)
    assert dialog.model.texts() == [["Storm"], ["bad.json cannot be used"]]
    assert "Pins: Silent" in dialog.told.text()
    menu = menu_of_row(dialog.list, dialog.model.index(0, 0))
    QTest.keyClick(menu, Qt.Key.Key_Down)
    QTest.keyClick(menu, Qt.Key.Key_Return)
    assert QGuiApplication.clipboard().text() == "Storm"
    dialog.list.selectRow(1)
    assert "line 1: this is no valid JSON" in dialog.told.text()
    assert not dialog.apply.isEnabled()
    dialog.renamed.emit("Storm", "Gale")
    settle(window, qtbot)
    assert (folder / "Gale.json").exists()
    assert dialog.list.current.name == "Gale"
    dialog.delete.click()
    box = next(each for each in dialog.findChildren(QMessageBox))
    assert box.text() == "Delete the preset “Gale”? Its file is removed."
    next(button for button in box.buttons() if button.text() == "Delete").click()
    settle(window, qtbot)
    assert not (folder / "Gale.json").exists()
    assert dialog.model.rowCount() == 1
    dialog.close()
    drain()


def test_what_is_asked_twice_while_presets_are_read_is_shown_once(shown, qtbot) -> None:
    window = shown(ChatControls())
    for name in ("presets.save", "presets.manage", "presets.manage"):
        window.run(name)
    window.features.controls.presets.load()  # as the menu does: nobody waits for it
    settle(window, qtbot)
    assert not window.findChildren(SavePresetDialog)
    (dialog,) = window.findChildren(PresetsDialog)
    dialog.close()
    drain()


@pytest.mark.always
def test_a_preset_is_chosen_with_the_keyboard(shown, qtbot) -> None:
    window = shown(ChatControls(pins=(EntryRule("Silent"),)))
    window.run("presets.apply")
    settle(window, qtbot)
    assert "no scenario presets yet" in window.bars.texts[0]
    window.run("presets.manage")
    settle(window, qtbot)
    (dialog,) = window.findChildren(PresetsDialog)
    dialog.save.click()  # instead of the list
    settle(window, qtbot)
    assert not window.findChildren(PresetsDialog)
    (asked,) = window.findChildren(SavePresetDialog)
    asked.reject()
    drain()
    save(window, qtbot, "Storm").accept()
    settle(window, qtbot)
    window.session.parts.adjust("away", controls=ChatControls())
    window.run("presets.apply")
    settle(window, qtbot)
    pick(window, "Storm")
    settle(window, qtbot)
    assert window.session.project.controls.pins == (EntryRule("Silent"),)


def test_a_preset_is_renamed_and_applied_from_the_list(shown, qtbot) -> None:
    window = shown(ChatControls(pins=(EntryRule("Silent"),)))
    save(window, qtbot, "Storm").accept()
    settle(window, qtbot)
    window.session.parts.adjust("away", controls=ChatControls())
    window.run("presets.manage")
    qtbot.waitUntil(lambda: bool(window.findChildren(PresetsDialog)))
    (dialog,) = window.findChildren(PresetsDialog)
    dialog.rename.click()
    asked = next(each for each in dialog.findChildren(QDialog) if each.windowTitle() == "Rename the preset")
    name = asked.findChild(QLineEdit)
    assert name.text() == "Storm"
    name.setText(" Gale  force ")
    asked.accept()
    settle(window, qtbot)
    assert dialog.list.current.name == "Gale force"
    dialog.apply.click()
    settle(window, qtbot)
    assert not window.findChildren(PresetsDialog)
    assert window.session.project.controls.pins == (EntryRule("Silent"),)
    assert window.features.controls.presets._dialog is None


# ---- the line above the chat ----------------------------------------------------------------------------------------


@pytest.mark.long
def test_one_line_says_how_the_chat_is_run_and_unfolds(make_window, tmp_path) -> None:
    window = make_window(small_project(tmp_path / "vault"))
    line, bar, modes = window.chat.run_line, window.features.controls.bar, window.chat.modes
    assert not bar.isVisible()
    assert not modes.isVisible()
    window.session.parts.adjust("pin", controls=ChatControls(pins=(EntryRule("Crown"),)))
    drain()
    assert line.text() == "DeepLore · keywords only · 1 set here · stand-in"
    window.run("system.world-info")
    drain()
    assert line.text() == "World Info · 1 set here", "mode and answers are DeepLore's own"
    QTest.mouseClick(line, Qt.MouseButton.LeftButton)
    assert bar.isVisible()
    assert modes.isVisible()
    window.close()
    again = make_window(small_project(tmp_path / "vault"))
    assert again.features.controls.bar.isVisible(), "it stays as it was left"
    QTest.mouseClick(again.chat.run_line, Qt.MouseButton.LeftButton)
    assert not again.features.controls.bar.isVisible()
    again.run("controls.focus")
    assert again.features.controls.bar.isVisible(), "whoever wants the choices sees them"
    assert again.features.controls.bar.isAncestorOf(QApplication.focusWidget())


def test_effects_go_with_the_entries_that_they_number(shown, qtbot) -> None:
    window = shown(ChatControls(context={"era": "before"}))
    watch, session = window.features.controls.watch, window.session
    found = watch.effects["context", "era"]
    assert [session.project.index.entries[each].title for each in found.filters] == ["After"]
    fewer = replace(project_of({"Plain.md": NOTES["Plain.md"]}), vault_folders=(None,), places=("v",))
    session.set_project(
        replace(session.project, index=fewer.index, vault_state=fewer.vault_state), renewed="Read again."
    )
    assert watch.effects == {}
    settle(window, qtbot)
    assert chips(window)["context", "era"].endswith("filters 0")
