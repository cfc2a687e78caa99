"""The settings pane: made from the declarations, tried out on the open reply, kept as steps that can be undone."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from PySide6.QtCore import QModelIndex, QPoint, QPointF, Qt
from PySide6.QtGui import QFontMetrics, QTextCursor, QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QPushButton, QToolButton, QWidget

from lorestudio.domain.records import replace
from lorestudio.settings.declaration import Grouping
from lorestudio.settings.deeplore import DeepLoreSettings, declarations
from lorestudio.studio.project.project import open_project
from lorestudio.studio.project.settings import SettingWarning
from lorestudio.studio.replay.simulator import Simulator
from lorestudio.ui.features.notes.pane import SOURCE
from lorestudio.ui.features.settings import pane as panes
from lorestudio.ui.features.settings.editor import SETTING, VALUE, SettingsTree
from lorestudio.ui.shell.qt import ACCESSIBLE_TEXT, DISPLAY
from lorestudio.ui.widgets.setting_fields import (
    ChoiceSettingField,
    LineSettingField,
    NumberSettingField,
    SwitchField,
    TextField,
    make_field,
)
from tests.ui.conftest import drain
from tests.ui.features.systems.test_choosing import shown


def named(name: str):
    return next(each for each in declarations() if each.name == name)


@pytest.fixture
def window(make_window, qtbot, tmp_path):
    folder = tmp_path / "vault"
    folder.mkdir()
    for title, key in (("Gate", "gate"), ("Tower", "tower")):
        text = f"---\ntags: [lorebook]\nkeys: [{key}]\n---\n# {title}\nIt is of stone.\n"
        (folder / f"{title}.md").write_text(text, encoding="utf-8")
    (folder / "World.md").write_text("---\ntags: [world]\nkeys: [gate]\n---\nRound.\n", encoding="utf-8")
    chat = tmp_path / "chat.jsonl"
    lines = [
        {},
        {"name": "Ada", "is_user": True, "mes": "The gate?"},
        {"name": "Bo", "mes": "Yes."},
        {"name": "Ada", "is_user": True, "mes": "And the tower?"},
        {"name": "Bo", "mes": "Yes."},
    ]
    chat.write_text("\n".join(json.dumps(line) for line in lines), encoding="utf-8")
    window = make_window(make_simulator=Simulator)
    window.session.set_project(open_project([folder], chat))
    settle(window, qtbot)
    window.run("go.settings")
    settle(window, qtbot)
    return window


def settle(window, qtbot) -> None:
    for _ in range(2):
        qtbot.waitUntil(lambda: not window.session.busy and window.session.jobs.idle)
        qtbot.wait(1)
    qtbot.waitUntil(lambda: not window.session.busy and window.session.jobs.idle)


def injected(window) -> list[str]:
    trace = window.session.runs.trace(window.selection.generation)
    return [trace.entries[one.entry].title for one in trace.injections]


def show(window, name: str):
    pane = window.features.settings.pane
    pane.view.show_setting(name)
    pane.editor.focus_field()
    return pane


# ---- a value is tried out, then kept or given up ---------------------------------------------------------------------


def test_moving_a_setting_shows_what_it_would_do_and_changes_nothing(window, qtbot) -> None:
    assert injected(window) == ["Gate", "Tower"]
    pane = show(window, "scan_depth")
    before = window.session.project
    pane.editor.field.box.setValue(1)
    qtbot.waitUntil(lambda: pane.trial.diff is not None)
    assert [change.title for change in pane.trial.diff.left] == ["Gate"]
    assert "− Leaves: Gate" in pane.editor.result.text()
    assert pane.editor.keep.isVisible()
    assert injected(window) == ["Tower"]
    assert "With Scan depth 1 message" in window.trace.summary.said
    assert window.session.project is before
    assert pane.model.data(pane.view.tree.currentIndex().siblingAtColumn(VALUE)) == "1 message"


@pytest.mark.long
def test_keep_applies_it_as_one_step_and_replays_the_chat(window, qtbot) -> None:
    pane = show(window, "scan_depth")
    pane.editor.field.box.setValue(1)
    qtbot.waitUntil(lambda: pane.trial.diff is not None)
    pane.editor.keep.click()
    settle(window, qtbot)
    assert window.session.project.settings.scan_depth == 1
    assert injected(window) == ["Tower"]
    assert window.session.runs.preview_of(window.selection.generation) is None
    assert not pane.trial.pending
    assert window.session.parts.adjustments.undo_title == "Scan depth: 1 message"
    window.run("adjust.undo")
    settle(window, qtbot)
    assert window.session.project.settings.scan_depth == 4
    assert injected(window) == ["Gate", "Tower"]
    assert pane.editor.field.box.value() == 4
    pane.view.tree.setFocus()
    QTest.keyClick(
        pane.view.tree, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier
    )
    settle(window, qtbot)
    assert window.session.project.settings.scan_depth == 1


def test_other_rules_are_chosen_like_a_setting_and_read_the_notes_anew(window, qtbot) -> None:
    """What notes say by 2.6 alone counts then, and lore of the reply before stays out (rules: deeplore-newer 1.8)."""
    pane = show(window, "rules")
    assert pane.editor.field.buttons["2.0.2"].isChecked()
    QTest.keyClick(pane.editor.field.buttons["2.6"], Qt.Key.Key_Space)
    assert pane.editor.field.buttons["2.6"].isChecked()
    pane.editor.keep.click()
    settle(window, qtbot)
    assert window.session.project.settings.rules == "2.6"
    assert injected(window) == ["Tower"]
    window.run("adjust.undo")
    settle(window, qtbot)
    assert window.session.project.settings.rules == "2.0.2"
    assert injected(window) == ["Gate", "Tower"]


@pytest.mark.always
def test_escape_gives_it_up(window, qtbot) -> None:
    pane = show(window, "scan_depth")
    pane.editor.field.box.setValue(1)
    qtbot.waitUntil(lambda: pane.trial.diff is not None)
    QTest.keyClick(pane.editor.field.box, Qt.Key.Key_Escape)
    assert not pane.trial.pending
    assert pane.editor.field.box.value() == 4
    assert not pane.editor.bar.isVisible()
    assert injected(window) == ["Gate", "Tower"]
    assert window.session.parts.adjustments.undo_title == ""
    QTest.keyClick(pane.editor.field.box, Qt.Key.Key_Escape)
    assert pane.view.tree.hasFocus()


def test_enter_keeps_and_so_does_leaving_the_field(window, qtbot) -> None:
    pane = show(window, "scan_depth")
    pane.editor.field.box.setValue(1)
    QTest.keyClick(pane.editor.field.box, Qt.Key.Key_Return)
    settle(window, qtbot)
    assert window.session.project.settings.scan_depth == 1
    pane.editor.field.box.setValue(3)
    pane.editor.keep.setFocus()
    assert pane.trial.pending, "a button of the editor is no leaving"
    pane.view.search.setFocus()
    settle(window, qtbot)
    assert window.session.project.settings.scan_depth == 3


@pytest.mark.always
def test_choosing_another_setting_keeps_the_one_before(window, qtbot) -> None:
    pane = show(window, "scan_depth")
    pane.editor.field.box.setValue(1)
    pane.view.show_setting("max_entries")
    settle(window, qtbot)
    assert window.session.project.settings.scan_depth == 1
    assert pane.editor.title.text() == "Most entries"


def test_moving_it_back_by_hand_ends_the_trial(window, qtbot) -> None:
    pane = show(window, "scan_depth")
    pane.editor.field.box.setValue(1)
    pane.editor.field.box.setValue(4)
    settle(window, qtbot)
    assert not pane.trial.pending
    assert injected(window) == ["Gate", "Tower"]


def test_the_newest_of_many_values_wins(window, qtbot) -> None:
    pane = show(window, "scan_depth")
    for depth in (9, 8, 7, 6, 5, 3, 2, 0):
        pane.editor.field.box.setValue(depth)
    settle(window, qtbot)
    assert pane.trial.change.after == 0
    assert pane.trial.is_current
    assert pane.editor.result.isEnabled()
    assert len(pane.trial.diff.left) == 2
    assert injected(window) == []


def test_the_result_of_the_value_before_is_greyed_until_the_new_one_is_there(window, qtbot) -> None:
    pane = show(window, "scan_depth")
    pane.editor.field.box.setValue(1)
    qtbot.waitUntil(lambda: pane.trial.is_current)
    assert pane.editor.bar.tone == "good"
    pane.editor.field.box.setValue(0)
    assert "− Leaves: Gate" in pane.editor.result.text()
    assert (pane.editor.result.isEnabled(), pane.editor.bar.tone) == (False, "neutral")
    qtbot.waitUntil(lambda: pane.trial.is_current)
    assert "− Leaves: Gate, Tower" in pane.editor.result.text()
    pane.trial.end()
    settle(window, qtbot)


def test_a_setting_that_is_tried_out_elsewhere_stands_in_the_field(window, qtbot) -> None:
    pane = show(window, "scan_depth")
    pane.view.tree.setCurrentIndex(QModelIndex())
    assert not pane.editor.isVisible()
    pane.trial.move(named("max_entries"), 1)
    qtbot.waitUntil(lambda: pane.trial.is_current)
    assert (pane.editor.declaration.name, pane.editor.field.box.value()) == ("max_entries", 1)
    assert (pane.editor.isVisible(), pane.editor.back.isVisible()) == (True, True)
    pane.editor.back.click()
    assert not pane.editor.isVisible()
    settle(window, qtbot)


@pytest.mark.always
def test_a_trial_that_fails_says_why_in_the_tone_of_an_error(window, qtbot) -> None:
    pane = show(window, "scan_depth")
    pane.editor.field.box.setValue(1)
    pane.trial._live.failed.emit(ValueError("The index is torn."))
    assert pane.editor.result.text().startswith("The index is torn.")
    assert pane.editor.bar.tone == "error"
    qtbot.waitUntil(lambda: pane.trial.is_current)
    assert pane.editor.bar.tone == "good"
    pane.trial.end()
    settle(window, qtbot)


def test_reset_tries_the_default(window, qtbot) -> None:
    window.session.parts.adjust("x", settings=window.session.project.settings.model_copy(update={"scan_depth": 1}))
    settle(window, qtbot)
    pane = show(window, "scan_depth")
    assert pane.editor.reset.isVisible()
    pane.editor.reset.click()
    qtbot.waitUntil(lambda: pane.trial.diff is not None)
    assert [change.title for change in pane.trial.diff.entered] == ["Gate"]
    assert not pane.editor.reset.isVisible()
    pane.trial.end()
    settle(window, qtbot)


def test_settings_that_decide_how_notes_are_read_are_tried_out_and_kept_too(window, qtbot) -> None:
    pane = show(window, "lorebook_tag")
    pane.editor.field.line.selectAll()
    QTest.keyClicks(pane.editor.field.line, "world")
    qtbot.waitUntil(lambda: pane.trial.diff is not None)
    settle(window, qtbot)
    assert [change.title for change in pane.trial.diff.entered] == ["World"]
    assert {change.title for change in pane.trial.diff.left} == {"Gate", "Tower"}
    pane.editor.keep.click()
    assert not pane.editor.field.isEnabled()
    settle(window, qtbot)
    assert pane.editor.field.isEnabled()
    assert [entry.title for entry in window.session.project.index.entries] == ["World"]


def test_what_changes_only_the_words_around_the_entries_is_said(window, qtbot) -> None:
    pane = show(window, "injection_template")
    pane.editor.field.text.setPlainText("<lore>{{content}}</lore>")
    qtbot.waitUntil(lambda: pane.trial.is_current)
    assert "the text around them or their place is another" in pane.editor.result.text()
    pane.trial.end()
    settle(window, qtbot)
    show(window, "max_entries").editor.field.box.setValue(9)
    qtbot.waitUntil(lambda: pane.trial.is_current)
    assert "No difference" in pane.editor.result.text()
    pane.trial.end()
    settle(window, qtbot)


def test_unsaved_texts_and_a_setting_are_tried_out_together(window, qtbot) -> None:
    window.selection.choose_entry(0)
    settle(window, qtbot)
    window.entry.toggle(SOURCE)
    body = window.entry.source
    body.setTextCursor(QTextCursor(body.document().find("gate")))
    body.textCursor().insertText("tower")
    settle(window, qtbot)
    pane = show(window, "scan_depth")
    pane.editor.field.box.setValue(1)
    qtbot.waitUntil(lambda: pane.trial.diff is not None)
    assert injected(window) == ["Gate", "Tower"]  # with the setting alone, Gate would have left
    told = window.trace.summary.said
    assert "the unsaved text of Gate.md" in told
    assert "Scan depth 1 message" in told
    pane.trial.end()
    settle(window, qtbot)


def test_a_warning_stands_beside_its_setting(window, qtbot) -> None:
    window.session.parts.adjust("x", settings=window.session.project.settings.model_copy(update={"scan_depth": 0}))
    settle(window, qtbot)
    pane = show(window, "scan_depth")
    assert "no entry can match" in pane.editor.against.text()
    index = pane.model.place_of("scan_depth")
    assert "no entry can match" in pane.model.data(index, ACCESSIBLE_TEXT)
    show(window, "max_entries")
    assert not pane.editor.against.isVisible()


def test_the_title_says_where_the_settings_came_from(window, qtbot) -> None:
    title = window.docks["settings"].bar._note
    assert title.text().startswith("DeepLore's defaults, switched on")
    window.session.parts.adjust("x", settings=window.session.project.settings.model_copy(update={"scan_depth": 1}))
    settle(window, qtbot)
    assert "1 changed here" in title.text()
    assert "2 not default" in title.text()  # being switched on is not the default


@pytest.mark.always
def test_what_is_said_against_all_settings_is_put_away_until_there_is_more(window, qtbot, monkeypatch) -> None:
    pane = window.features.settings.pane
    said = [SettingWarning("", "All is odd."), SettingWarning("scanDepth", "Too few.")]
    monkeypatch.setattr(panes, "setting_warnings", lambda *_all, **_more: said)
    pane.show_settings()
    assert (pane.warned.isVisible(), pane.warned.label.text()) == (True, "All is odd.")
    pane.warned.closed.emit()
    assert not pane.warned.isVisible()
    pane.show_settings()
    assert not pane.warned.isVisible()
    said.append(SettingWarning("", "It is late."))
    window.selection.choose_message(1, window.session.generations[0])
    settle(window, qtbot)
    assert (pane.warned.isVisible(), pane.warned.label.text()) == (True, "It is late.")
    said.append(SettingWarning("", "One more.\nAnd another."))
    pane.show_settings()
    drain()
    cross = next(each for each in pane.warned.findChildren(QToolButton) if each.toolTip() == "Dismiss")
    assert cross.y() == pane.warned.label.y()  # beside the first line
    said.clear()
    pane.show_settings()
    assert not pane.warned.isVisible(), "there is nothing against them any more"


def test_why_nothing_can_be_tried_out_is_said_and_it_is_once_it_can(window, qtbot) -> None:
    pane = show(window, "scan_depth")
    reply = window.selection.message, window.selection.generation
    window.selection.choose_message(None, None)
    pane.editor.field.box.setValue(1)
    assert pane.trial.words.startswith("Choose a reply in the chat to see what this would do to it.")
    assert pane.editor.keep.isVisible()
    window.selection.choose_message(*reply)
    qtbot.waitUntil(lambda: "Leaves: Gate" in pane.editor.result.text())
    window.run("system.world-info")
    settle(window, qtbot)
    assert "These are DeepLore's settings; the chat runs with World Info." in pane.editor.result.text()
    assert pane.editor.bar.tone == "neutral"
    pane.editor.back.click()
    assert (pane.trial.pending, pane.editor.bar.isVisible(), pane.editor.field.box.value()) == (False, False, 4)


def test_that_another_system_decides_is_said_at_once_with_a_way_to_its_settings(window, qtbot) -> None:
    pane = window.features.settings.pane
    assert pane.elsewhere.isHidden()
    window.run("system.world-info")
    settle(window, qtbot)
    assert pane.elsewhere.isVisible()
    assert pane.elsewhere.label.text() == "These are DeepLore's settings; the chat runs with World Info."
    (way,) = (each for each in pane.elsewhere.findChildren(QPushButton) if each.text() == "Settings of World Info…")
    QTest.mouseClick(way, Qt.MouseButton.LeftButton)
    settle(window, qtbot)
    dialog = window.features.systems.dialog
    assert dialog is not None
    dialog.reject()
    pane.elsewhere.closed.emit()
    window.session.parts.adjust("x", controls=replace(window.session.project.controls, notebook="n"))
    settle(window, qtbot)
    assert pane.elsewhere.isHidden(), "it was dismissed"
    window.run("system.hybrid")
    settle(window, qtbot)
    assert pane.elsewhere.label.text().endswith("the chat runs with Hybrid retrieval.")
    assert pane.elsewhere.isVisible()
    window.run("system.deeplore")
    settle(window, qtbot)
    assert pane.elsewhere.isHidden()


@pytest.mark.long
def test_a_trial_ends_with_the_settings_that_it_was_made_of(window, qtbot) -> None:
    pane = show(window, "scan_depth")
    pane.editor.field.box.setValue(1)
    project = window.session.project
    window.session.parts.adjust("x", controls=replace(project.controls, notebook="n"))
    settle(window, qtbot)
    assert (pane.trial.pending, pane.editor.field.box.value()) == (True, 1)
    window.session.parts.adjust("x", settings=project.settings.model_copy(update={"max_entries": 3}))
    settle(window, qtbot)
    assert (pane.trial.pending, pane.editor.field.box.value()) == (False, 4)
    assert window.session.project.settings.scan_depth == 4
    pane.trial.reading = True  # the vault is read, which fails
    pane.trial.changed.emit()
    assert (pane.editor.field.isEnabled(), pane.editor.result.text()) == (
        False, "The vault is being read with these settings…",
    )  # fmt: skip
    pane.trial.move(named("scan_depth"), 2)
    assert not pane.trial.pending
    window.session.state_changed.emit()
    assert (pane.editor.field.isEnabled(), pane.editor.bar.isVisible()) == (True, False)


# ---- finding ---------------------------------------------------------------------------------------------------------


def test_searching_opens_what_fits_and_says_when_nothing_does(window) -> None:
    pane = window.features.settings.pane
    QTest.keyClicks(pane.view.search, "maxTokens budget")
    assert len(shown(pane.model)) == 1
    assert pane.editor.title.text() == "Token budget"
    pane.view.search.setText("no such words")
    assert pane.view.nothing.isVisible()
    pane.view.nothing.pressed.emit("all")
    assert len(shown(pane.model)) == len(declarations())


def test_a_heading_that_says_nothing_of_its_settings_has_the_width_of_both_columns(window, qtbot) -> None:
    pane = window.features.settings.pane

    def headings() -> dict[str, tuple[str, bool]]:
        """What each says of its settings, and whether it takes both columns."""
        model, tree = pane.model, pane.view.tree
        rows = range(model.rowCount())
        said = {row: (model.index(row, VALUE).data(), tree.isFirstColumnSpanned(row, QModelIndex())) for row in rows}
        return {model.index(row, 0).data(): told for row, told in said.items()}

    assert headings()["AI selection: connection"] == ("", True)
    assert headings()["Fuzzy search"] == ("", True)
    pane.model.try_value(pane.model.setting(pane.model.place_of("fuzzy_search_enabled")), True)
    assert headings()["Fuzzy search"] == ("1 changed", False)
    pane.model.try_value(None)
    assert headings()["Fuzzy search"] == ("", True)
    settings = window.session.project.settings
    window.session.parts.adjust("x", settings=settings.model_copy(update={"fuzzy_search_enabled": True}))
    settle(window, qtbot)
    assert headings()["Fuzzy search"] == ("1 changed", False)
    pane.view.search.setText("fuzzy")
    assert headings()["Fuzzy search"] == ("1 changed", False)
    pane.view.search.clear()
    assert headings()["AI selection: connection"] == ("", True)


def test_grouped_by_stage_and_following_a_stage(window) -> None:
    pane = show(window, "max_entries")
    assert "budget" in pane.editor.stages.text()
    pane.editor.stages.linkActivated.emit("budget")
    assert pane.view.grouping.currentData() == Grouping.STAGE
    heading = pane.view.tree.currentIndex()
    assert pane.model.data(heading) == "Budget"
    names = {pane.model.setting(pane.model.index(row, 0, heading)).name for row in range(pane.model.rowCount(heading))}
    assert {"max_entries", "max_tokens_budget"} <= names


def test_only_what_was_changed(window, qtbot) -> None:
    pane = window.features.settings.pane
    pane.view.tree.setFocus()
    pane.view.search.setText("depth")
    window.run("find.pane")
    assert (pane.view.search.hasFocus(), pane.view.search.selectedText()) == (True, "depth")
    pane.view.search.clear()
    pane.view.changed_only.click()
    assert len(shown(pane.model)) == 1  # switched on
    window.session.parts.adjust("x", settings=window.session.project.settings.model_copy(update={"scan_depth": 1}))
    settle(window, qtbot)
    assert len(shown(pane.model)) == 2


def test_the_keyboard_goes_from_the_tree_to_the_field_and_back(window) -> None:
    pane = show(window, "scan_depth")
    pane.view.tree.setFocus()
    QTest.keyClick(pane.view.tree, Qt.Key.Key_Return)
    assert pane.editor.field.box.hasFocus()
    QTest.keyClick(pane.editor.field.box, Qt.Key.Key_Up)
    assert pane.trial.change.after == 5
    QTest.keyClick(pane.editor.field.box, Qt.Key.Key_Escape)
    QTest.keyClick(pane.editor.field.box, Qt.Key.Key_Escape)
    QTest.keyClick(pane.view.tree, Qt.Key.Key_Left)  # to the heading
    index = pane.view.tree.currentIndex()
    QTest.keyClick(pane.view.tree, Qt.Key.Key_Return)
    assert not pane.view.tree.isExpanded(index)


@pytest.mark.always
def test_over_a_lorebook_the_status_line_names_deeplores_settings_only_where_deeplore_decides(
    make_window, qtbot, tmp_path: Path
) -> None:
    book = tmp_path / "Book.json"
    book.write_text(json.dumps({"entries": {"0": {"uid": 0, "key": ["fog"], "content": "Grey."}}}), "utf-8")
    window = make_window()
    window.session.set_project(open_project([str(book)]))
    status = window.features.settings.status_button
    assert not status.isVisibleTo(window)
    window.session.replays.choose(system="deeplore")
    qtbot.waitUntil(lambda: status.isVisibleTo(window))
    window.session.replays.choose(system="world-info")
    qtbot.waitUntil(lambda: not status.isVisibleTo(window))


@pytest.mark.always
def test_without_a_vault_the_pane_says_what_to_do(make_window) -> None:
    window = make_window()
    window.docks["settings"].show()
    pane = window.features.settings.pane
    assert pane.empty.isVisibleTo(pane)
    assert not window.features.settings.status_button.isVisible()
    assert pane.focus_target() is pane
    assert window.docks["settings"].bar._note.text() == ""
    pane.trial.move(named("scan_depth"), 2)
    assert not pane.trial.pending


def test_the_model_is_a_well_formed_tree(theme, qtmodeltester) -> None:
    model = SettingsTree(theme, DeepLoreSettings(), declarations())
    qtmodeltester.check(model)
    model.show_only("", Grouping.STAGE)
    qtmodeltester.check(model)
    spoken = model.data(model.place_of("scan_depth"), ACCESSIBLE_TEXT)
    assert spoken == "Scan depth, 4 messages"
    assert model.data(model.index(0, SETTING), DISPLAY) == "Snapshot"


# ---- fields ----------------------------------------------------------------------------------------------------------


def test_every_setting_has_the_field_of_its_type_and_shows_its_default(qtbot, theme) -> None:
    kinds = {bool: SwitchField, int: NumberSettingField, float: NumberSettingField, str: LineSettingField}
    parent = QWidget()
    qtbot.addWidget(parent)
    for each in declarations():
        field = make_field(each, parent)
        wanted = ChoiceSettingField if each.choices else TextField if each.long else kinds[each.type]
        assert type(field) is wanted, each.name
        moved = []
        field.moved.connect(moved.append)
        field.set_value(each.default)
        assert moved == [], each.name
        assert field.focus_target().accessibleName(), each.name


@pytest.mark.parametrize("name", ["scan_depth", "max_tokens_budget", "ai_search_timeout", "fuzzy_search_min_score"])
def test_a_slider_reaches_both_ends_and_agrees_with_the_number(qtbot, theme, name) -> None:
    each = named(name)
    field = make_field(each)
    qtbot.addWidget(field)
    moved = []
    field.moved.connect(moved.append)
    field.set_value(each.default)
    for place, wanted in ((field.slider.maximum(), each.high), (0, each.low)):
        field.slider.setValue(place)
        assert moved[-1] == wanted
        assert field.box.value() == wanted
        assert type(moved[-1]) is each.type
    places = [field._place_of(field._amount_at(place)) for place in range(field.slider.maximum() + 1)]
    assert places == sorted(places)


def test_scrolling_over_a_field_changes_nothing(qtbot, theme) -> None:
    field = make_field(named("scan_depth"))
    qtbot.addWidget(field)
    field.set_value(4)
    field.show()
    field.clearFocus()
    field.box.clearFocus()
    for widget in (field.box, field.slider):
        event = QWheelEvent(
            QPointF(5, 5), QPointF(5, 5), QPoint(), QPoint(0, 120), Qt.MouseButton.NoButton,
            Qt.KeyboardModifier.NoModifier, Qt.ScrollPhase.NoScrollPhase, False,
        )  # fmt: skip
        QApplication.sendEvent(widget, event)
    assert field.box.value() == 4


def test_a_choice_says_what_each_means_and_what_a_value_is_that_is_none(qtbot, theme) -> None:
    field = make_field(named("ai_error_fallback"))
    qtbot.addWidget(field)
    moved = []
    field.moved.connect(moved.append)
    field.set_value("constants_only")
    assert field.buttons["constants_only"].isChecked()
    field.set_value("sometimes")
    assert not any(button.isChecked() for button in field.buttons.values())
    assert "“sometimes”" in field.odd.text()
    field.buttons["none"].click()
    assert moved == ["none"]
    place = make_field(named("injection_position"))
    qtbot.addWidget(place)
    place.set_value(1)
    assert place.buttons[1].isChecked()


def test_a_long_text_keeps_on_ctrl_enter(qtbot, theme) -> None:
    field = make_field(named("injection_template"))
    qtbot.addWidget(field)
    field.set_value("a\nb")
    accepted, moved = [], []
    field.accepted.connect(lambda: accepted.append(1))
    field.moved.connect(moved.append)
    QTest.keyClick(field.text, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    assert (accepted, moved) == ([1], [])
    QTest.keyClick(field.text, Qt.Key.Key_X)
    assert moved == ["xa\nb"]
    assert field.minimumSizeHint().height() >= QFontMetrics(field.font()).lineSpacing() * 3
