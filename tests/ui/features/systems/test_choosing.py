"""Choosing a system for the chat, and setting it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from PySide6.QtCore import QSettings, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QFileDialog, QPushButton

from lorestudio.domain.chat import Generation
from lorestudio.settings.declaration import declared
from lorestudio.settings.hybrid import HybridSettings
from lorestudio.settings.recap import RecapSettings
from lorestudio.settings.worldinfo import WorldInfoSettings
from lorestudio.studio.project.project import open_project
from lorestudio.studio.project.settings import Mode
from lorestudio.studio.replay.simulator import Simulator
from lorestudio.systems.registry import KINDS
from lorestudio.trace.journey import FOREIGN_IDS
from lorestudio.ui.features.compare.systems import UPGRADE
from lorestudio.ui.features.settings.editor import SettingsTree
from lorestudio.ui.state.choices import ChoiceStore, RunChoice
from lorestudio.ui.widgets.picker import Picker
from tests.ui.conftest import drain
from tests.ui.worlds import BELL, DAWNKEEP, make_project

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pytestqt.qtbot import QtBot

    from lorestudio.ui.shell.main_window import MainWindow


def settled(qtbot: QtBot, window: MainWindow) -> None:
    qtbot.waitUntil(lambda: not window.session.busy and window.session.jobs.idle)
    drain()


@pytest.fixture
def real(make_window: Callable[..., MainWindow], tmp_path: Path, qtbot: QtBot) -> MainWindow:
    """The window on the small project, with the engine."""
    window = make_window(make_project(tmp_path / "vault"), make_simulator=Simulator)
    settled(qtbot, window)
    return window


def shown(tree: SettingsTree) -> set[str]:
    return {each.name for group in tree.groups for each in group.settings}


def systems_of(window: MainWindow) -> set[str]:
    return {trace.system for trace in window.session.runs.traces.values()}


@pytest.mark.parametrize("system", [name for name, kind in KINDS.items() if not kind.in_project])
def test_every_setting_of_a_system_can_be_chosen_and_is_shown_as_it_is(real: MainWindow, system: str) -> None:
    dialog = real.features.systems.open_settings(system)
    before = dialog.settings
    for declaration in declared(type(before)):
        dialog.view.show_setting(declaration.name)
        assert dialog.editor.title.text() == declaration.title
        assert dialog.editor.field.focus_target().isEnabled()
    assert dialog.settings == before  # looking is no change
    dialog.reject()


def test_the_chat_is_replayed_with_the_chosen_system(real: MainWindow, qtbot: QtBot) -> None:
    assert systems_of(real) == {"deeplore"}
    real.run("system.world-info")
    settled(qtbot, real)
    assert systems_of(real) == {"world-info"}
    assert len(real.session.runs.traces) == len(real.session.generations)
    actions = real.commands.actions
    assert actions["system.world-info"].isChecked()
    assert not actions["system.deeplore"].isChecked()
    bar = real.chat.modes
    assert bar.system.text() == "World Info"
    assert bar.mode.isHidden()
    assert bar.source.isHidden()
    # Message 4 speaks of Skarn; SillyTavern looks at the two newest messages.
    trace = real.session.runs.trace(Generation(5))
    assert trace is not None
    assert {"Skarn", "Crown"} <= {injection.title for injection in trace.injections}
    real.run("system.deeplore")
    settled(qtbot, real)
    assert systems_of(real) == {"deeplore"}
    assert not bar.mode.isHidden()


def test_the_views_show_the_run_of_another_system(real: MainWindow, qtbot: QtBot) -> None:
    real.chat.choose(5)
    real.run("system.world-info")
    settled(qtbot, real)
    real.selection.choose_entry(DAWNKEEP)
    assert "was found in message" in real.why.browser.toPlainText()
    real.selection.choose_entry(BELL)
    assert "None of its keys was found" in real.why.browser.toPlainText()
    assert real.trace.model.rowCount() > 0
    assert "entries" in real.chat.model.row(5).chip
    assert "replies run · World Info" in real.status._run.text()


@pytest.mark.always
def test_what_only_the_run_knows_is_explained_and_left_with_it(real: MainWindow, qtbot: QtBot) -> None:
    real.chat.choose(5)
    real.run("system.recap")
    settled(qtbot, real)
    row = real.trace.model.entry(0)
    assert row is not None
    assert row >= FOREIGN_IDS
    real.selection.choose_entry(row)
    drain()
    assert "has no recap" in real.why.browser.toPlainText()
    assert real.entry.empty.title.text() == "No note of the vault"
    assert not real.commands.actions["entry.preview"].isEnabled()
    assert real.commands.actions["copy.why"].isEnabled()
    real.why.copy()
    real.run("system.deeplore")
    settled(qtbot, real)
    assert real.selection.entry is None


def test_what_is_deeplores_says_that_another_system_is_chosen(real: MainWindow, qtbot: QtBot) -> None:
    real.chat.choose(5)
    real.run("system.hybrid")
    settled(qtbot, real)
    real.selection.choose_entry(BELL)
    assert real.features.why_not.search.obstacle == ""  # the system itself is asked what would help
    assert "Hybrid retrieval" in real.features.settings.pane.trial.waiting
    off = [real.commands.actions[name] for name in ("mode.two-stage", "behaviour.edit")]
    assert [(each.isEnabled(), each.text()) for each in off] == [
        (False, "Two-stage (Hybrid retrieval has no modes)"), (False, "Behaviour switches (Hybrid retrieval has none)"),
    ]  # fmt: skip
    real.run("system.deeplore")
    settled(qtbot, real)
    assert [(each.isEnabled(), each.text()) for each in off] == [(True, "Two-stage"), (True, "Behaviour switches…")]
    real.run("system.hybrid")
    settled(qtbot, real)
    simulator = real.session.runs.simulator(Generation(5))
    assert simulator is not None
    assert simulator.system.name == "hybrid"  # and DeepLore's is not at hand


def test_settings_are_changed_in_a_dialog_kept_and_replayed(real: MainWindow, qtbot: QtBot) -> None:
    real.run("system.world-info")
    settled(qtbot, real)
    before = real.session.runs.trace(Generation(7))
    real.run("system.settings")
    dialog = real.features.systems.dialog
    assert dialog is not None
    dialog.choose("depth")
    dialog.editor.moved.emit(dialog.editor.declaration, 0)
    assert "1 setting differs" in dialog._told.text()
    dialog.accept()
    settled(qtbot, real)
    file = real.features.systems.files.path("world-info")
    assert json.loads(file.read_text()) == {"world_info_depth": 0}
    assert real.session.choice.settings == WorldInfoSettings(depth=0)
    assert real.session.runs.trace(Generation(7)) is not before
    trace = real.session.runs.trace(Generation(5))
    assert trace is not None
    assert [injection.title for injection in trace.injections] == ["Rules"]  # no message is looked at
    assert "(1 changed)" in real.chat.modes.switches.text()


def test_the_dialog_finds_settings_and_puts_them_back(real: MainWindow) -> None:
    dialog = real.features.systems.open_settings("recap")
    assert len(shown(dialog.view.model)) == len(RecapSettings.model_fields)
    dialog.view.search.setText("no setting says this")
    assert len(shown(dialog.view.model)) == 0
    assert not dialog.view.nothing.isHidden()
    dialog.view.search.setText("")
    name, field = next((name, field) for name, field in RecapSettings.model_fields.items() if field.annotation is bool)
    dialog.set_value(name, not field.default)
    assert getattr(dialog.settings, name) is not field.default
    drain()
    assert dialog.outcome.text() == "The chat runs with DeepLore, so these settings are not tried out on it."
    assert dialog._told.text() == "1 setting differs from its default"
    other = next(key for key, each in RecapSettings.model_fields.items() if each.annotation is bool and key != name)
    dialog.set_value(other, not RecapSettings.model_fields[other].default)
    assert dialog._told.text() == "2 settings differ from their defaults"
    dialog.set_defaults()
    assert dialog.settings == RecapSettings()
    dialog.reject()
    drain()


def test_settings_of_the_chosen_system_are_found_by_their_words(real: MainWindow, qtbot: QtBot) -> None:
    real.run("system.hybrid")
    settled(qtbot, real)
    real.activateWindow()
    QTest.keyClick(QApplication.focusWidget() or real, Qt.Key.Key_P, Qt.KeyboardModifier.ControlModifier)
    picker = next(each for each in QApplication.topLevelWidgets() if isinstance(each, Picker) and each.isVisible())
    QTest.keyClicks(picker.field, "similarity threshold")
    QTest.keyClick(picker.field, Qt.Key.Key_Return)
    drain()
    dialog = real.features.systems.dialog
    assert dialog is not None
    assert dialog.view.model.setting(dialog.view.tree.currentIndex()).name == "semantic_threshold"
    assert dialog.editor.isAncestorOf(QApplication.focusWidget())
    dialog.reject()


@pytest.mark.long
def test_settings_of_the_chosen_system_are_copied_and_imported(real: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
    systems = real.features.systems
    real.run("system.world-info")
    systems.configure("world-info", WorldInfoSettings(depth=7))
    settled(qtbot, real)
    real.run("settings.copy_changes")
    assert "Scan depth (world_info_depth): 2 messages → 7 messages" in QGuiApplication.clipboard().text()
    real.run("system.settings")
    next(each for each in systems.dialog.findChildren(QPushButton) if each.text() == "Import…").click()
    taking = real.features.settings.dialog
    assert taking.windowTitle() == "Import settings of World Info"
    other = tmp_path / "other.json"
    other.write_text('{"world_info_depth": 3, "world_info_budget": 25}', encoding="utf-8")
    taking.place.setText(str(other))
    qtbot.waitUntil(lambda: len(taking.model.rows) == 1)
    taking.take.click()
    settled(qtbot, real)
    assert real.session.choices.systems["world-info"].depth == 3
    real.run("settings.import")
    QGuiApplication.clipboard().setText('{"world_info_depth": 2, "scanDepth": 3}')
    real.features.settings.dialog.paste()
    settled(qtbot, real)
    assert "“scanDepth”: there is no such setting" in real.features.settings.dialog.bar.label.text()
    real.features.settings.dialog.reject()
    real.session.parts.undo()
    assert real.session.choices.systems["world-info"].depth == 7


@pytest.mark.long
def test_settings_open_where_they_are_set(real: MainWindow, qtbot: QtBot) -> None:
    systems = real.features.systems
    real.run("system.settings")
    assert (real.current_pane(), systems.dialog) == (real.features.settings.pane, None)
    real.run("system.hybrid")
    settled(qtbot, real)
    real.run("system.settings")
    first = systems.dialog
    assert first is not None
    assert first.windowTitle() == "Settings of Hybrid retrieval"
    doors = [each.text() for each in first.findChildren(QPushButton)]
    assert ("Export…" in doors, "Lorebooks…" in doors) == (True, False)
    second = systems.open_settings("world-info")
    assert (first.isVisible(), systems.dialog) == (False, second)
    assert "Lorebooks…" in [each.text() for each in second.findChildren(QPushButton)]
    second.reject()
    assert systems.dialog is None
    books = systems.open_books()
    again = systems.open_books()
    assert (books.isVisible(), systems.books) == (False, again)
    again.accept()
    settled(qtbot, real)
    assert (systems.books, real.session.choice.system) == (None, "world-info")
    real.run("system.settings")
    door = next(each for each in systems.dialog.findChildren(QPushButton) if each.text() == "Export…")
    systems.dialog.set_value("depth", 7)
    door.click()
    settled(qtbot, real)
    assert (systems.dialog, real.session.choices.systems["world-info"].depth) == (None, 7)
    assert real.features.settings.dialog.windowTitle() == "Export settings of World Info"
    real.features.settings.dialog.reject()
    systems.configure("hybrid", HybridSettings(limit=2))
    assert real.session.parts.adjustments.undo_title == "Semantic top-K: 2 entries"
    systems.configure("hybrid", HybridSettings(limit=3, embedder=""))
    assert real.session.parts.adjustments.undo_title == "settings of Hybrid retrieval"
    real.session.parts.change("eight", {"depth": 8})
    assert real.session.parts.adjustments.undo_title == "eight"
    real.session.parts.change("nothing", {"depth": 8})
    assert real.session.parts.adjustments.undo_title == "eight"
    settled(qtbot, real)


@pytest.mark.always
def test_settings_that_cannot_be_kept_are_in_use_and_that_is_said(
    real: MainWindow, tmp_path: Path, qtbot: QtBot
) -> None:
    (tmp_path / "systems").write_text("no folder", encoding="utf-8")
    real.features.systems.configure("hybrid", HybridSettings(limit=2))
    settled(qtbot, real)
    assert real.session.choices.systems["hybrid"] == HybridSettings(limit=2)
    (text,) = [each for each in real.bars.texts if "Hybrid" in each]
    assert text.startswith("The settings of Hybrid retrieval are in use but could not be kept: ")


@pytest.mark.long
def test_systems_are_compared_copied_and_saved(real: MainWindow, tmp_path: Path, qtbot: QtBot) -> None:
    systems, actions = real.features.systems, real.commands.actions
    names = ("systems.copy", "systems.csv", "systems.picture")
    assert not any(actions[name].isEnabled() for name in names)
    real.run("systems.compare")
    assert real.current_pane() is real.docks["compare"].pane
    qtbot.waitUntil(lambda: systems.compare.found is not None)
    settled(qtbot, real)
    assert all(actions[name].isEnabled() for name in names)
    real.run("systems.copy")
    assert real.statusBar().currentMessage() == "The comparison was copied."
    assert QGuiApplication.clipboard().text().count("|") > 10
    for name, suffix in (("systems.csv", "csv"), ("systems.picture", "png")):
        real.run(name)
        asked = real.findChildren(QFileDialog)[-1]
        assert asked.defaultSuffix() == suffix
        asked.fileSelected.emit(str(tmp_path / f"out.{suffix}"))
        asked.close()
        settled(qtbot, real)
    assert (tmp_path / "out.png").read_bytes().startswith(b"\x89PNG")
    assert "," in (tmp_path / "out.csv").read_text(encoding="utf-8-sig").splitlines()[0]
    systems.save(tmp_path / "out.txt")
    assert real.bars.texts[-1] == "A comparison is saved as .csv or .png, not as .txt."
    assert not (tmp_path / "out.txt").exists()
    found = systems.compare.found
    systems.compare.jump.emit(Generation(5))
    assert (real.selection.message, real.selection.generation) == (5, Generation(5))
    real.show_pane("chat")
    real.run("systems.compare")  # what was found is still there
    assert systems.compare.found is found
    systems.compare.file_wanted.emit("hybrid")
    asked = next(each for each in real.findChildren(QFileDialog) if each.isVisible())
    assert asked.windowTitle() == "Compare Hybrid retrieval with the settings of a file"
    asked.close()
    real.run("systems.upgrade")
    assert systems.compare.chosen == list(UPGRADE)
    qtbot.waitUntil(lambda: systems.compare.found is not found)
    settled(qtbot, real)


@pytest.mark.long
def test_settings_come_back_at_the_next_start(
    make_window: Callable[..., MainWindow], tmp_path: Path, qtbot: QtBot
) -> None:
    project = make_project(tmp_path / "vault")
    first = make_window(project, make_simulator=Simulator)
    first.features.systems.configure("hybrid", HybridSettings(limit=1))
    first.run("system.hybrid")
    settled(qtbot, first)
    first.close()
    second = make_window(project, make_simulator=Simulator)
    settled(qtbot, second)
    assert second.session.choice.system == "hybrid"
    assert second.session.choice.settings == HybridSettings(limit=1)
    assert systems_of(second) == {"hybrid"}


def test_a_file_that_cannot_be_read_is_said(make_window: Callable[..., MainWindow], tmp_path: Path) -> None:
    folder = tmp_path / "systems"
    folder.mkdir()
    (folder / "hybrid.json").write_text("{")
    window = make_window(make_project())
    assert any("hybrid.json" in label for label in window.bars.texts)


def test_a_setting_that_cannot_be_used_is_said_and_the_window_goes_on(real: MainWindow, qtbot: QtBot) -> None:
    real.features.systems.configure("hybrid", HybridSettings(embedder="nobody"))
    settled(qtbot, real)
    real.run("system.hybrid")
    settled(qtbot, real)
    assert any("nobody" in text for text in real.bars.texts)
    assert not real.session.busy


def test_a_choice_is_remembered_by_chat(tmp_path: Path) -> None:
    def store() -> ChoiceStore:
        made = ChoiceStore()
        made.keep_in(QSettings(str(tmp_path / "w.ini"), QSettings.Format.IniFormat))
        return made

    store().save("one", RunChoice(Mode.AI_ONLY, system="hybrid"))
    found = store().load("one")
    assert found == RunChoice(Mode.AI_ONLY, system="hybrid", settings=HybridSettings())
    store().save("two", RunChoice(Mode.AI_ONLY))
    assert store().load("two") == RunChoice(Mode.AI_ONLY)


@pytest.mark.parametrize("kept", ["keywords-only@gone|stand-in||", "keywords-only|stand-in||"])
def test_a_system_that_is_not_known_any_more_counts_as_deeplore(tmp_path: Path, kept: str) -> None:
    settings = QSettings(str(tmp_path / "w.ini"), QSettings.Format.IniFormat)
    settings.setValue("runs/one", kept)
    store = ChoiceStore()
    store.keep_in(settings)
    assert store.load("one") == RunChoice()


def test_modes_and_switches_make_no_difference_to_another_system() -> None:
    one: dict[str, Any] = {"system": "hybrid", "settings": HybridSettings()}
    assert RunChoice(Mode.AI_ONLY, fixed=("a",), **one).effective == RunChoice(**one).effective
    assert not RunChoice(Mode.AI_ONLY, **one).asks_model


def test_the_timeline_names_what_only_the_runs_know(real: MainWindow, qtbot: QtBot) -> None:
    real.run("system.recap")
    settled(qtbot, real)
    real.show_pane("timeline")
    timeline = real.features.timeline.timeline
    qtbot.waitUntil(lambda: any("Welcome, traveller" in title for title in timeline.content.titles))


@pytest.mark.always
def test_that_a_system_has_no_numbers_is_said_in_their_place(real: MainWindow, qtbot: QtBot) -> None:
    real.chat.choose(5)
    real.run("system.recap")
    settled(qtbot, real)
    real.selection.choose_entry(BELL)
    real.why.show_scores(True)
    assert real.why.scores.nothing.isVisible()
    assert real.why.scores.nothing.text() == "No number decided about it in this run."
    assert not real.why.scores.tree.isVisible()  # no headings over nothing
    assert real.why.answers_button.isHidden()  # nothing brings a note into a recap


def test_what_is_said_for_a_moment_is_not_written_over(real: MainWindow, qtbot: QtBot) -> None:
    settled(qtbot, real)
    real.status.flash("Said for a moment.")
    real.session.state_changed.emit()
    assert real.status._vault.isHidden()
    real.status.clearMessage()
    assert not real.status._vault.isHidden()


def test_a_remark_on_a_system_goes_with_it(
    make_window: Callable[..., MainWindow], tmp_path: Path, qtbot: QtBot
) -> None:
    book, chat = tmp_path / "Sea.json", tmp_path / "chat.txt"
    entry = {"uid": 0, "key": ["bell"], "comment": "Bell", "content": "It rings.", "position": 0, "disable": True}
    book.write_text(json.dumps({"entries": {"0": entry}}), "utf-8")
    chat.write_text("Wren: The bell.\nAda: Yes.\n", "utf-8")
    window = make_window(open_project([book], chat), make_simulator=Simulator)

    def told() -> list[str]:
        settled(qtbot, window)
        return [text.partition(" scans no lorebook")[0] for text in window.bars.texts]

    window.run("system.deeplore")
    assert told() == ["DeepLore"]
    window.run("mode.two-stage")
    assert told() == ["DeepLore"], "it still holds, and is said once"
    window.run("system.world-info")
    assert told() == []
    window.run("system.hybrid")
    assert told() == ["Hybrid retrieval"]
