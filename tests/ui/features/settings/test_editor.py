"""The list of settings and the one that is chosen, without a project: what rows say, what is found, what is shown."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from lorestudio.settings.declaration import NO_STAGE, Grouping
from lorestudio.settings.deeplore import DeepLoreSettings, declarations
from lorestudio.settings.sections import SettingChange
from lorestudio.studio.project.settings import SettingWarning
from lorestudio.ui.features.settings.editor import VALUE, SettingEditor, SettingsTree, SettingsView
from lorestudio.ui.features.settings.file_dialogs import left_behind
from lorestudio.ui.features.settings.trial import titles
from lorestudio.ui.shell.qt import ACCESSIBLE_TEXT, DISPLAY, TOOLTIP
from tests.ui.conftest import drain
from tests.ui.drawing import drawn

KNOWN = tuple(declarations())
NAMED = {each.name: each for each in KNOWN}
ALIAS = NAMED["scan_depth"].alias


@pytest.fixture
def model(theme):
    made = SettingsTree(theme, DeepLoreSettings(), KNOWN)
    yield made
    made.deleteLater()


@pytest.fixture
def view(theme, model, qtbot):
    made = SettingsView(theme, model)
    qtbot.addWidget(made)
    made.resize(500, 400)
    made.show()
    return made


@pytest.fixture
def editor(theme, qtbot):
    made = SettingEditor(theme, hint="Choose one.")
    qtbot.addWidget(made)
    made.resize(500, 300)
    made.show()
    return made


def names(model: SettingsTree) -> list[str]:
    return [row.setting.name for row in model.root.below() if row.setting is not None]


def node(model: SettingsTree, name: str):
    return model.node(model.place_of(name))


# ---- rows -----------------------------------------------------------------------------------------------------------


def test_settings_that_are_shown_already_are_not_shown_again(model, qtbot: QtBot) -> None:
    """They are told with every other reply and note."""
    warning = SettingWarning(ALIAS, "Odd.")
    model.set_settings(DeepLoreSettings(scan_depth=2), [warning])
    with qtbot.assertNotEmitted(model.dataChanged):
        model.set_settings(DeepLoreSettings(scan_depth=2), [warning])
    with qtbot.waitSignal(model.dataChanged):
        model.set_settings(DeepLoreSettings(scan_depth=2))


def test_a_row_and_its_heading_say_what_was_changed_and_what_speaks_against_it(model) -> None:
    heading = model.place_of("scan_depth").parent()
    plain, above = node(model, "scan_depth"), model.node(heading)
    calm = model.data(heading, ACCESSIBLE_TEXT)
    assert (model._icon(plain), model._icon(above)) == (("dot", "text_faint"), ("folder", "text_muted"))
    assert (model._stands_out(plain), model._stands_out(above), model.changed) == (False, True, 0)
    assert calm == f"{model.data(heading, DISPLAY)}, {model.rowCount(heading)} settings"
    model.set_settings(DeepLoreSettings(scan_depth=2))
    assert (model._icon(plain), model._icon(above)) == (("pencil", "accent"), ("folder", "accent"))
    assert (model._stands_out(plain), model.changed) == (True, 1)
    assert model.data(heading.siblingAtColumn(VALUE), DISPLAY) == "1 changed"
    assert model.data(heading, ACCESSIBLE_TEXT) == f"{calm}, 1 changed"
    place = model.place_of("scan_depth")
    assert model.data(place, ACCESSIBLE_TEXT) == "Scan depth, 2 messages, not the default"
    assert model.data(place, TOOLTIP) == f"{NAMED['scan_depth'].help}\n{ALIAS}"
    assert not model.data(heading, TOOLTIP)
    model.set_settings(DeepLoreSettings(), [SettingWarning(ALIAS, "Too few."), SettingWarning("", "All is odd.")])
    assert model._icon(plain) == ("warning", "warning")
    assert model.data(place, ACCESSIBLE_TEXT) == "Scan depth, 4 messages, Too few."
    assert model.data(place, TOOLTIP) == f"{NAMED['scan_depth'].help}\nToo few.\n{ALIAS}"
    assert model.general_warnings == ("All is odd.",)
    model.set_settings(DeepLoreSettings(), [SettingWarning(ALIAS, "Odd."), SettingWarning(ALIAS, "Bad.", "", True)])
    assert model._icon(plain) == ("error", "error")
    assert model.general_warnings == ()


def test_a_value_that_is_tried_out_stands_in_its_row_alone(model) -> None:
    place = model.place_of("scan_depth").siblingAtColumn(VALUE)
    model.try_value(NAMED["scan_depth"], 9)
    assert (model.data(place, DISPLAY), model.changed) == ("9 messages", 1)
    assert model.value(NAMED["max_entries"]) == NAMED["max_entries"].default
    model.try_value(None)
    assert (model.data(place, DISPLAY), model.changed) == ("4 messages", 0)


def test_what_is_shown_follows_words_changes_stages_and_what_few_people_need(model) -> None:
    few = {each.name for each in KNOWN if each.advanced}
    assert few
    assert few < set(names(model)) == set(NAMED)
    model.show_only(advanced=False)
    assert set(names(model)) == set(NAMED) - few
    title = next(each.title for each in KNOWN if each.advanced)
    model.show_only(title, advanced=False)  # asked for by words
    assert few & set(names(model))
    model.show_only(by=Grouping.STAGE)
    headings = [row.heading for row in model.root.children]
    assert headings[0] == "Snapshot"
    assert ("No stage of a run" in headings) == any(group.title == NO_STAGE for group in model.groups)
    model.show_only(changed=True)
    assert (names(model), model.rowCount()) == ([], 0)
    model.set_settings(DeepLoreSettings(scan_depth=2))
    assert names(model) == ["scan_depth"]
    assert not model.place_of("max_entries").isValid()


# ---- the list -------------------------------------------------------------------------------------------------------


def test_the_list_keeps_its_setting_and_says_when_nothing_is_there(view, model) -> None:
    chosen: list[object] = []
    view.chosen.connect(chosen.append)
    assert not view.advanced.isVisible()
    assert (view.tree.header().sectionSize(VALUE), view.tree.header().isVisible()) == (150, False)
    view.show_setting("max_entries")
    assert chosen == [NAMED["max_entries"]]
    view.changed_only.click()
    assert (view.nothing.isVisible(), view.tree.isVisible()) == (True, False)
    assert (view.nothing.title.text(), view.nothing.text.text()) == (
        "Nothing is changed",
        "Every setting has the value that DeepLore starts with.",
    )
    QTest.keyClicks(view.search, "no such words")
    assert view.nothing.title.text() == "No setting has these words"
    assert view.nothing.text.text().startswith("Words are looked for in titles, helps, DeepLore's keys and stages.")
    view.nothing.pressed.emit("all")
    assert (view.tree.isVisible(), view.search.text(), view.changed_only.isChecked()) == (True, "", False)
    assert model.setting(view.tree.currentIndex()) == NAMED["max_entries"]
    view.changed_only.click()
    view.show_setting("scan_depth")  # past the filter
    assert (view.changed_only.isChecked(), chosen[-1]) == (False, NAMED["scan_depth"])
    QTest.keyClicks(view.search, "maxTokensBudget")
    assert chosen[-1] == NAMED["max_tokens_budget"]  # the first that fits
    assert view.tree.isExpanded(view.tree.currentIndex().parent())
    entered: list[int] = []
    view.entered.connect(lambda: entered.append(1))
    QTest.keyClick(view.search, Qt.Key.Key_Return)
    assert entered == [1]
    QTest.keyClick(view.tree, Qt.Key.Key_Return)  # on the setting; on its heading it opens and closes that
    view.tree.setCurrentIndex(view.tree.currentIndex().parent())
    QTest.keyClick(view.tree, Qt.Key.Key_Return)
    assert entered == [1, 1]


def test_a_stage_opens_alone_and_headings_open_and_close(view, model) -> None:
    QTest.keyClicks(view.search, "depth")
    view.show_stage("budget")
    heading = view.tree.currentIndex()
    assert (view.search.text(), view.grouping.currentData()) == ("", Grouping.STAGE)
    assert (model.data(heading), view.tree.hasFocus()) == ("Budget", True)
    opened = [place for place in range(model.rowCount()) if view.tree.isExpanded(model.index(place, 0))]
    assert opened == [heading.row()]
    QTest.keyClick(view.tree, Qt.Key.Key_Return)
    assert not view.tree.isExpanded(heading)
    QTest.keyClick(view.tree, Qt.Key.Key_Return)
    assert view.tree.isExpanded(heading)
    view.show_stage("no such stage")
    assert view.tree.currentIndex() == heading


def test_a_brief_list_leaves_out_what_few_people_need(theme, model, qtbot) -> None:
    view = SettingsView(theme, model, opened=True, brief=True)
    qtbot.addWidget(view)
    view.show()
    few = next(each for each in KNOWN if each.advanced)
    assert (view.advanced.isVisible(), view.advanced.isChecked(), few.name in names(model)) == (True, False, False)
    assert all(view.tree.isExpanded(model.index(place, 0)) for place in range(model.rowCount()))
    view.show_setting(few.name)
    assert (view.advanced.isChecked(), model.setting(view.tree.currentIndex())) == (True, few)
    view.advanced.click()
    assert few.name not in names(model)


# ---- the chosen one -------------------------------------------------------------------------------------------------


def seen(editor: SettingEditor) -> dict[str, bool]:
    return {
        name: getattr(editor, name).isVisible()
        for name in ("range", "stages", "against", "reset", "bar", "keep", "back")
    }


def test_the_editor_shows_one_setting_with_all_about_it(editor) -> None:
    assert (editor.title.text(), editor.help.text()) == ("No setting chosen", "Choose one.")
    assert not any(seen(editor).values())
    depth = NAMED["scan_depth"]
    editor.show_setting(depth, depth.default)
    field = editor.field
    assert (editor.title.text(), editor.key.text(), editor.help.text()) == (depth.title, depth.alias, depth.help)
    assert editor.key.toolTip() == f"What it is called in files: {depth.alias}"
    assert editor.range.text() == f"{depth.low} to {depth.high} messages · default 4 messages"
    assert seen(editor) == dict.fromkeys(seen(editor), False) | {"range": True, "stages": True}
    editor.show_setting(depth, 2, [SettingWarning(ALIAS, "Too few.", "Take more."), SettingWarning(ALIAS, "Odd.")])
    assert editor.field is field
    assert (field.box.value(), editor.against.text()) == (2, "Too few. Take more.\nOdd.")
    assert (editor.reset.isVisible(), editor.reset.toolTip()) == (True, "Put it back to 4 messages")
    assert editor.reset.accessibleName() == "Reset Scan depth to 4 messages"
    editor.show_setting(depth, 2, enabled=False)
    assert (field.isEnabled(), editor.against.isVisible()) == (False, False)
    idle = next(each for each in KNOWN if not each.affects)
    editor.show_setting(idle, idle.default)
    assert editor.field is not field
    assert (editor.field.isEnabled(), editor.stages.text()) == (True, "Changes nothing in a run.")
    editor.say_nothing()
    assert (editor.field, editor.key.text(), editor.title.text()) == (None, "", "No setting chosen")
    editor.focus_field()
    assert not any(seen(editor).values())


def test_the_editor_tells_what_is_done_to_it(editor) -> None:
    told: list[object] = []
    editor.moved.connect(lambda setting, value: told.append((setting.name, value)))
    for name in ("kept", "given_up", "left"):
        getattr(editor, name).connect(lambda name=name: told.append(name))
    editor.show_setting(NAMED["scan_depth"], 2)
    editor.focus_field()
    assert editor.field.box.hasFocus()
    assert [editor.holds(each) for each in (None, editor, editor.field.box, editor.parentWidget())] == [
        False, True, True, False,
    ]  # fmt: skip
    QTest.keyClick(editor.field.box, Qt.Key.Key_Up)
    QTest.keyClick(editor.field.box, Qt.Key.Key_Escape)
    editor.show_result("Two leave.", pending=True, tone="good", current=False)
    assert (editor.result.text(), editor.result.isEnabled()) == ("Two leave.", False)
    assert "Two leave." in editor.result.toolTip(), "a low pane cuts the words off"
    assert (editor.keep.isVisible(), editor.back.isVisible(), editor.bar.accessibleName()) == (True, True, "Two leave.")
    QApplication.processEvents()
    assert editor.result.geometry().right() < editor.keep.x() < editor.keep.geometry().right() < editor.back.x()
    editor.keep.click()
    editor.back.click()
    QTest.keyClick(editor.field.box, Qt.Key.Key_Escape)
    QTest.keyClick(editor.field.box, Qt.Key.Key_Return)
    editor.reset.click()
    assert told == [
        ("scan_depth", 3),
        "left",
        "kept",
        "given_up",
        "given_up",
        ("scan_depth", 3),
        "kept",
        ("scan_depth", 4),
    ]
    assert editor.field.box.hasFocus()
    editor.show_result("It is read.", pending=False)
    assert (editor.bar.isVisible(), editor.keep.isVisible(), editor.result.isEnabled()) == (True, False, True)
    editor.show_result("", pending=False)
    assert not editor.bar.isVisible()


def test_links_to_stages_are_drawn_anew_with_the_colours(editor, theme) -> None:
    depth = NAMED["scan_depth"]
    editor.show_setting(depth, 2)
    for choice in ("dark", "light", "contrast"):
        theme.choose(choice)
        drain()
        inks = {each.fill for each in drawn(editor.stages) if each.words in depth.affects}
        assert inks == {theme.palette.accent.lower()}


# ---- in words -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("amount", "words"), [(1, "a0"), (6, "a0, a1, a2, a3, a4, a5"), (7, "a0, a1, a2, a3, a4, a5 and 1 other")]
)
def test_the_first_titles_stand_for_all(amount: int, words: str) -> None:
    changes: Any = [SimpleNamespace(title=f"a{place}") for place in range(amount)]
    assert titles(changes) == words


@pytest.mark.parametrize(
    ("local", "others", "ticked", "fixed", "said"),
    [
        (0, 0, 0, 0, []),
        (1, 0, 0, 0, ["1 setting stays here because they belong to this computer: tick them to take them."]),
        (0, 2, 0, 0, ["2 other differences are not ticked."]),
        (
            2, 2, 1, 1,
            [
                "2 settings stay here because they belong to this computer: tick them to take them.",
                "1 other difference is not ticked.",
                "1 behaviour switch set to fixed cannot go along: DeepLore keeps its own behaviour.",
            ],
        ),
    ],
)  # fmt: skip
def test_what_an_export_leaves_behind(local: int, others: int, ticked: int, fixed: int, said: list[str]) -> None:
    mine = [each for each in KNOWN if each.local][:local]
    changes = [
        SettingChange(each, each.default, each.default) for each in (*mine, *[e for e in KNOWN if not e.local][:others])
    ]
    chosen = {each.declaration.alias for each in changes[local : local + ticked]}
    assert left_behind(changes, chosen, fixed) == said


def test_parts_of_the_editor_stand_in_the_order_in_which_they_are_read(editor) -> None:
    depth = NAMED["scan_depth"]
    editor.show_setting(depth, 2, [SettingWarning(ALIAS, "Too few.")])
    editor.show_result("Two leave.", pending=True)
    QApplication.processEvents()
    parts = (editor.title, editor.field, editor.range, editor.help, editor.against, editor.stages, editor.bar)
    tops = [part.mapTo(editor, part.rect().topLeft()).y() for part in parts]
    assert tops == sorted(set(tops))
    left = [part.mapTo(editor, part.rect().topLeft()).x() for part in (editor.title, editor.key)]
    assert left == sorted(left)
    assert (
        editor.range.mapTo(editor, editor.range.rect().topLeft()).y()
        == editor.reset.mapTo(editor, editor.reset.rect().topLeft()).y()
    )
    assert editor.key.textInteractionFlags() & Qt.TextInteractionFlag.TextSelectableByMouse
    assert (editor.key.wordWrap(), editor.help.wordWrap()) == (False, True)
    assert editor.accessibleName() == depth.label
    assert editor._area.focusPolicy() is Qt.FocusPolicy.NoFocus
    page = editor._area.widget()
    for width in (500, 700):
        editor.resize(width, 300)
        QApplication.processEvents()
        assert page.width() == editor._area.viewport().width()


def test_another_setting_begins_at_its_top_and_the_same_one_stays(editor) -> None:
    depth = NAMED["scan_depth"]
    editor.resize(300, 90)
    editor.show_setting(depth, 2)
    QApplication.processEvents()
    bar = editor._area.verticalScrollBar()
    bar.setValue(bar.maximum())
    assert bar.value() > 0
    editor.show_setting(depth, 3)
    assert bar.value() > 0
    other = next(each for each in KNOWN if each.name != depth.name)
    editor.show_setting(other, other.default)
    assert bar.value() == 0


def test_links_of_the_editor_lead_to_a_stage(editor) -> None:
    told: list[str] = []
    editor.stage_wanted.connect(told.append)
    editor.show_setting(NAMED["scan_depth"], 2)
    editor.stages.linkActivated.emit("keywords")
    assert told == ["keywords"]
    assert editor.stages.textFormat() is Qt.TextFormat.RichText
    assert editor.result.textFormat() is Qt.TextFormat.PlainText
    assert not editor.stages.textInteractionFlags() & Qt.TextInteractionFlag.TextSelectableByMouse


def test_the_list_leaves_the_names_the_room_and_has_one_way_to_scroll(view) -> None:
    header = view.tree.header()
    for width in (500, 640):
        view.resize(width, 400)
        QApplication.processEvents()
        assert header.sectionSize(VALUE) == 150
        assert header.length() == view.tree.viewport().width()
    assert view.tree.horizontalScrollBarPolicy() is Qt.ScrollBarPolicy.ScrollBarAlwaysOff
    assert (view.tree.indentation(), view.tree.expandsOnDoubleClick()) == (17, False)
    header.resizeSection(VALUE, 200)
    assert header.sectionSize(VALUE) == 200
