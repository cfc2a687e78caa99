"""What the window itself does: undo, finding, panes, looks and help, with keys and clicks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import pytest
import shiboken6
from PySide6.QtCore import QEvent, QObject, QPoint, Qt
from PySide6.QtGui import QGuiApplication, QKeyEvent, QKeySequence
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QApplication,
    QDialog,
    QLabel,
    QLineEdit,
    QPlainTextEdit,
    QPushButton,
    QTextBrowser,
    QToolButton,
)

from lorestudio.domain.records import replace
from lorestudio.domain.resources import VERSION, resource
from lorestudio.ui.shell.layout import WORKSPACES
from lorestudio.ui.shell.qt import is_redo
from lorestudio.ui.shell.shortcuts import ShortcutsDialog
from lorestudio.ui.shell.theme import load_palettes
from lorestudio.ui.shell.window_actions import KEPT
from lorestudio.ui.shell.words import Notice
from lorestudio.ui.widgets.picker import Choice, Picker
from tests.ui.conftest import drain, settle
from tests.ui.vaults import choose, open_vault, write_vault
from tests.ui.worlds import SKARN, make_project

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from lorestudio.ui.shell.main_window import MainWindow

CTRL, SHIFT = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier
Dialog = TypeVar("Dialog", bound=QDialog)


@pytest.fixture
def window(share_window: Callable[..., MainWindow]) -> MainWindow:
    return share_window(lambda folder: make_project(folder / "vault"))


def in_front(kind: type[Dialog]) -> Dialog:
    (found,) = [each for each in QApplication.topLevelWidgets() if isinstance(each, kind) and each.isVisible()]
    return found


def press(window: MainWindow, key: Qt.Key, modifiers: Any = Qt.KeyboardModifier.NoModifier) -> None:
    """A key to whatever has the keyboard."""
    QTest.keyClick(QApplication.focusWidget() or window, key, modifiers)
    drain()


@pytest.mark.parametrize(
    ("action", "pane"),
    [
        ("controls.focus", "chat"), ("find.vault", "search"), ("trace.ai", "trace"),
        ("trace.prompt", "trace"), ("trace.why", "trace"), ("trace.why_not", "trace"),
    ],
)  # fmt: skip
def test_an_action_whose_work_is_seen_in_a_pane_brings_it_into_sight(
    window: MainWindow, action: str, pane: str
) -> None:
    window.selection.choose_entry(SKARN)
    window.docks[pane].hide()
    drain()
    assert window.commands.actions[action].isEnabled()
    window.run(action)
    drain()
    assert not window.docks[pane].visibleRegion().isEmpty()
    settle(window)


def test_a_button_does_in_every_pane_what_its_action_does(window: MainWindow) -> None:
    """Those of the panes Entry and Problems were deaf: “Go to entry…” did nothing."""
    for feature in window.features:
        for pane in feature.panes:
            window.docks["search"].hide()
            pane.wanted.emit("find.vault")
            drain()
            assert not window.docks["search"].isHidden(), pane.name


@pytest.mark.parametrize("pane", ["budget", "chat", "compare", "timeline", "trace"])
def test_the_letters_of_runs_work_in_every_pane_that_shows_one(window: MainWindow, pane: str) -> None:
    window.show_pane(pane)
    settle(window)
    assert window.docks[pane].pane.isAncestorOf(QApplication.focusWidget())
    press(window, Qt.Key.Key_N)
    assert QApplication.focusWidget() is window.features.chat.composer.field


@pytest.mark.own_window
@pytest.mark.parametrize(("key", "modifiers"), [(Qt.Key.Key_Z, CTRL | SHIFT), (Qt.Key.Key_Y, CTRL)])
def test_a_change_is_taken_back_and_done_again_by_name(window: MainWindow, key: Qt.Key, modifiers: Any) -> None:
    actions, parts = window.commands.actions, window.session.parts
    window.show_pane("chat")
    drain()
    can = [actions[f"adjust.{name}"] for name in ("undo", "redo")]
    assert [each.isEnabled() for each in can] == [False, False]
    settings = window.session.project.settings
    parts.adjust("fewer entries", settings=settings.model_copy(update={"max_entries": 3}))
    settle(window)
    assert [(each.isEnabled(), "fewer entries" in each.text()) for each in can] == [(True, True), (False, False)]
    press(window, Qt.Key.Key_Z, CTRL)
    settle(window)
    assert window.status.currentMessage() == "Taken back: fewer entries."
    assert window.session.project.settings == settings
    assert [(each.isEnabled(), "fewer entries" in each.text()) for each in can] == [(False, False), (True, True)]
    press(window, key, modifiers)
    settle(window)
    assert window.status.currentMessage() == "Done again: fewer entries."
    assert window.session.project.settings.max_entries == 3
    parts.undo()
    settle(window)


@pytest.mark.always
def test_undo_where_it_undoes_nothing_says_which_key_does(
    make_window: Callable[..., MainWindow], tmp_path: Path
) -> None:
    window = make_window(make_project(tmp_path / "demo"))
    open_vault(window, write_vault(tmp_path / "vault"), tmp_path / "kept")
    window.vault.tree.setFocus()
    press(window, Qt.Key.Key_Z, CTRL)
    assert window.status.currentMessage() == "There is nothing to undo."
    choose(window, "Bell.md")
    window.run("note.enable")
    settle(window)
    title = window.features.vault.work.undo_title
    assert title
    window.trace.answers.setFocus()
    press(window, Qt.Key.Key_Z, CTRL)
    assert window.status.currentMessage() == f"Undo: {title} (Ctrl+Alt+Z)"
    settings = window.session.project.settings
    window.session.parts.adjust("fewer entries", settings=settings.model_copy(update={"max_entries": 3}))
    settle(window)
    window.vault.tree.setFocus()
    press(window, Qt.Key.Key_Z, CTRL)
    said = window.status.currentMessage()
    assert said == f"Undo: {title} (Ctrl+Alt+Z) · Undo: fewer entries (Ctrl+Z in the chat and the trace)"
    assert window.session.project.settings.max_entries == 3


@pytest.mark.own_window
def test_ctrl_y_does_a_fields_text_again_also_where_the_field_does_not_know_the_key(
    window: MainWindow, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On Linux and macOS fields know Ctrl+Shift+Z alone; Ctrl+Y comes to the pane, which has an action of that key."""
    parts, told = window.session.parts, list[str]()
    settings = window.session.project.settings
    parts.adjust("fewer entries", settings=settings.model_copy(update={"max_entries": 3}))
    settle(window)
    parts.undo()
    settle(window)
    assert window.commands.actions["adjust.redo"].isEnabled()
    monkeypatch.setattr(parts, "redo", lambda: told.append("redo"))
    window.show_pane("chat")
    press(window, Qt.Key.Key_F, CTRL)
    field = QApplication.focusWidget()
    assert isinstance(field, QLineEdit)

    class Elsewhere(QObject):
        def eventFilter(self, _field: QObject, event: QEvent) -> bool:  # noqa: N802 (Qt)
            event.ignore()
            return isinstance(event, QKeyEvent) and event.keyCombination() == CTRL | Qt.Key.Key_Y

    elsewhere, before = Elsewhere(field), field.text()
    QTest.keyClicks(field, "ink")
    press(window, Qt.Key.Key_Z, CTRL)
    assert field.text() == before
    field.installEventFilter(elsewhere)
    press(window, Qt.Key.Key_Y, CTRL)
    assert (field.text(), told) == ("ink", [])
    field.setReadOnly(True)
    press(window, Qt.Key.Key_Y, CTRL)
    assert told == ["redo"]
    field.removeEventFilter(elsewhere)
    field.setReadOnly(False)
    field.setText(before)


def test_ctrl_y_is_a_key_for_doing_again_on_every_desktop() -> None:
    class Elsewhere(QKeyEvent):
        def matches(self, _key: QKeySequence.StandardKey) -> bool:
            return False

    kind, key = QEvent.Type.KeyPress, Qt.Key.Key_Y
    pressed = [Elsewhere(kind, key, held) for held in (CTRL, CTRL | SHIFT, Qt.KeyboardModifier.NoModifier)]
    assert [is_redo(each) for each in pressed] == [True, False, False]


def test_find_opens_the_search_of_the_pane_and_of_no_other_one(window: MainWindow) -> None:
    window.show_pane("chat")
    press(window, Qt.Key.Key_F, CTRL)
    assert window.current_pane() is window.chat
    assert window.chat.isAncestorOf(QApplication.focusWidget())
    assert QApplication.focusWidget() is not window.chat.view
    window.show_pane("budget")  # has none
    press(window, Qt.Key.Key_F, CTRL)
    assert window.current_pane() is window.budget
    assert window.status.currentMessage() == "Budget has nothing to search in."
    QApplication.focusWidget().clearFocus()
    press(window, Qt.Key.Key_F, CTRL)
    assert window.current_pane() is window.vault
    assert QApplication.focusWidget() is not window.vault.focus_target()


def test_panes_are_gone_round_both_ways(window: MainWindow) -> None:
    shown = [name for name, dock in window.docks.items() if not dock.isHidden()]
    window.show_pane(shown[0])
    gone = []
    for _ in shown:
        window.run("view.next_pane")
        gone.append(window.current_pane().name)
    assert gone == [*shown[1:], shown[0]]
    window.run("view.previous_pane")
    assert window.current_pane().name == shown[-1]
    for name, expected in (("view.next_pane", shown[0]), ("view.previous_pane", shown[-1])):
        QApplication.focusWidget().clearFocus()
        window.features.window._palette.setFocus()
        assert window.current_pane() is None
        window.run(name)
        assert window.current_pane().name == expected


@pytest.mark.always
@pytest.mark.own_window
def test_a_layout_that_is_reset_leaves_the_keyboard_where_it_was(window: MainWindow) -> None:
    window.show_pane("budget")
    assert window.current_pane() is window.budget
    window.docks["vault"].close()
    window.context.layout.save()
    assert window.settings.contains("window/state-debug")
    window.run("view.reset")
    assert not window.settings.contains("window/state-debug"), "the next start has it as it begins"
    drain()
    assert not window.docks["vault"].isHidden()
    assert window.current_pane() is window.budget
    window.show_pane("expectations")
    assert window.current_pane().name == "expectations"
    window.run("view.reset")
    drain()
    if window.docks["expectations"].isHidden():  # it goes where work begins
        assert window.current_pane() is window.chat


def test_a_workspace_is_entered_named_and_entered_once(window: MainWindow) -> None:
    layout, button = window.context.layout, window.features.window._workspace
    for workspace in WORKSPACES:
        window.run(f"workspace.{workspace.name}")
        drain()
        assert layout.current is workspace
        assert button.text() == workspace.title
        assert workspace.tip in button.toolTip()
    window.show_pane(last := WORKSPACES[-1].columns[0].stacks[0].panes[0])
    window.run(f"workspace.{WORKSPACES[-1].name}")
    drain()
    assert window.current_pane().name == last, "the keyboard stays where it is"
    settle(window)


def test_a_button_that_is_gone_does_not_follow_its_action(window: MainWindow) -> None:
    buttons = [QPushButton(window) for _ in range(2)]
    for each in buttons:
        window.context.enable_with(each, "replay.all")
    shiboken6.delete(buttons[0])
    action = window.context.action("replay.all")
    for enabled in (False, True):
        action.setEnabled(enabled)
        assert buttons[1].isEnabled() is enabled
    shiboken6.delete(buttons[1])


def test_looks_are_changed_and_ticked(window: MainWindow) -> None:
    actions, theme = window.commands.actions, window.theme

    def ticked() -> list[str]:
        return [name.rpartition(".")[2] for name in actions if "theme" in name and actions[name].isChecked()]

    switch = window.features.window._switch
    before = theme.palette.dark
    switch.click()
    assert (theme.palette.dark, ticked()) == (not before, [theme.choice])
    assert window.settings.value("theme") == theme.choice == ("light" if before else "dark")
    switch.click()
    assert theme.palette.dark is before
    window.run("view.theme.contrast")
    assert (theme.choice, ticked()) == ("contrast", ["contrast"])
    full = actions["view.full_screen"]
    assert not full.isChecked()
    window.run("view.full_screen")
    assert window.isFullScreen()
    assert full.isChecked()
    window.run("view.full_screen")
    assert not window.isFullScreen()
    assert not full.isChecked()


def test_what_went_wrong_last_is_told_and_copied(window: MainWindow) -> None:
    window.say(Notice("The tap drips.", "error", "line 7: drip", key="tap"))
    window.run("help.details")
    dialog = in_front(QDialog)
    assert dialog.windowTitle() == "Details"
    text = dialog.findChild(QPlainTextEdit).toPlainText()
    assert "line 7: drip" in text
    copy, close = sorted(dialog.findChildren(QPushButton), key=lambda each: each.text() != "Copy")
    copy.click()
    assert QGuiApplication.clipboard().text() == text
    close.click()
    assert not dialog.isVisible()


def test_without_a_problem_that_is_said(make_window: Callable[..., MainWindow]) -> None:
    window = make_window()
    window.run("help.details")
    dialog = in_front(QDialog)
    assert dialog.findChild(QPlainTextEdit).toPlainText() == "There was no problem so far."
    dialog.close()
    window.run("help.about")
    dialog = in_front(QDialog)
    assert dialog.windowTitle() == "About lorestudio"
    assert f"lorestudio {VERSION}" in dialog.findChild(QLabel).text()
    dialog.close()


@pytest.mark.always
@pytest.mark.own_window
def test_f1_tells_of_the_pane_and_of_its_keys(window: MainWindow) -> None:
    window.show_pane("trace")
    press(window, Qt.Key.Key_F1)
    dialog = in_front(QDialog)
    assert dialog.windowTitle() == window.trace.title
    words = dialog.findChild(QTextBrowser).toPlainText()
    told, _, keys = words.partition("Keys that work here")
    assert len(told) > 80
    assert "Why? for the chosen cell" in keys
    assert "\nW\n" in keys
    assert "Quit" not in keys, "what works everywhere is no key of the pane"
    dialog.close()
    window.activateWindow()
    drain()
    window.show_pane("budget")
    pane = window.current_pane()
    window.run("help.pane")
    dialog = in_front(QDialog)
    assert dialog.windowTitle() == pane.title
    dialog.close()
    drain()
    window.activateWindow()
    drain()
    window.show_pane("graph")
    window.run("help.pane")
    dialog = in_front(QDialog)
    words = dialog.findChild(QTextBrowser).toPlainText()
    of_views = {title: place for place, title, _ in window.commands.view_keys() if title in words}
    assert set(of_views.values()) == {"in the graph"}
    dialog.close()
    drain()
    window.activateWindow()
    drain()
    window.show_pane("scores")
    window.run("help.pane")
    dialog = in_front(QDialog)
    page = dialog.findChild(QTextBrowser)
    page.setFocus()
    for key in (Qt.Key.Key_Tab, Qt.Key.Key_Return):
        QTest.keyClick(page, key)
    heading = resource("docs", "tuning.md").read_text(encoding="utf-8").partition("\n")[0].removeprefix("# ")
    assert page.toPlainText().startswith(heading)
    dialog.close()
    drain()
    window.features.window._palette.setFocus()
    window.run("help.pane")
    assert in_front(ShortcutsDialog) is window.features.window.dialog
    window.run("help.shortcuts")
    assert in_front(ShortcutsDialog) is window.features.window.dialog, "the one before is closed"
    in_front(ShortcutsDialog).reject()


def test_the_palette_puts_first_what_was_found_lately(window: MainWindow) -> None:
    window.settings.setValue("palette/recent", "")

    def opened() -> Picker:
        window.features.window._palette.click()
        return in_front(Picker)

    picker = opened()
    titles = [each.title for each in picker._all]
    assert "Find anything" not in titles
    assert "Keyboard shortcuts" in titles
    first = picker.view.currentIndex().data()
    QTest.keyClicks(picker.field, "next pane")
    QTest.keyClick(picker.field, Qt.Key.Key_Return)
    drain()
    assert window.settings.value("palette/recent") == "action:view.next_pane"
    picker = opened()
    assert picker.view.currentIndex().data() == "Next pane" != first
    quit_, next_ = (next(each for each in picker._all if each.title == title) for title in ("Quit", "Next pane"))
    assert (quit_.detail, quit_.hint, next_.hint) == ("File", "Ctrl+Q", "F6")
    assert next_.favour > quit_.favour > 0
    able = {each.title: each.enabled for each in picker._all}
    assert able["Next pane"]
    assert not able["Redo setting or chat change"]
    picker.close()
    feature = window.features.window
    names = [f"action:{number}" for number in range(KEPT + 3)]
    for name in (*names, names[-2]):
        feature._remember(Choice("", "", "", None, name=name))
    assert feature._recent() == [names[-2], names[-1], *reversed(names[3:-2])]
    window.settings.setValue("palette/recent", "")


def test_settings_of_one_name_do_not_keep_commands_away(window: MainWindow) -> None:
    window.settings.setValue("palette/recent", "")
    window.features.window._palette.click()
    picker = in_front(Picker)

    def found(words: str) -> list[str]:
        picker.field.clear()
        QTest.keyClicks(picker.field, words)
        return [picker.view.model().index(row, 0).data() for row in range(picker.view.model().rowCount())]

    titles = found("profile")
    alike = titles.count("Profile id")
    assert alike > 1
    first, second = titles.index("Profile id"), titles.index("Profile id", 1)
    between = titles[first + 1 : second]
    assert first == 0
    assert {"Settings profiles", "Provider profiles", "Save settings as a profile"} <= set(between)
    assert found("profile id")[:alike] == ["Profile id"] * alike
    picker.close()


@pytest.mark.always
def test_a_shortcut_is_set_in_the_window(make_window: Callable[..., MainWindow]) -> None:
    window = make_window(make_project())
    window.run("help.shortcuts")
    dialog = in_front(ShortcutsDialog)
    dialog.choose("view.next_pane")
    assert dialog.said.text() == "“Next pane” has F6. Press new keys in the field."
    assert (dialog.none.isEnabled(), dialog.reset.isEnabled(), dialog.reset_all.isEnabled()) == (True, False, False)
    row = dialog.view.currentIndex()
    font = row.data(Qt.ItemDataRole.FontRole)
    assert font is None or not font.bold()
    dialog.type("F9")
    dialog.set.click()
    assert window.commands.actions["view.next_pane"].shortcut().toString() == "F9"
    assert dialog.view.currentIndex().data(Qt.ItemDataRole.FontRole).bold()
    assert dialog.view.currentIndex().data(Qt.ItemDataRole.AccessibleTextRole).endswith("changed")
    assert (dialog.reset.isEnabled(), dialog.reset_all.isEnabled()) == (True, True)
    dialog.type("F6")
    dialog.set.click()
    assert dialog.chosen == {}, "as it came with the program"
    dialog.search.setText("no such thing")
    for each in (dialog.set, dialog.add, dialog.take, dialog.none, dialog.reset):
        each.click()
    assert dialog.said.text() == "Choose an action."
    assert dialog.chosen == {}
    dialog.reject()


def test_enter_presses_the_button_that_has_the_keyboard(window: MainWindow) -> None:
    palette = window.features.window._palette
    palette.setFocus()
    press(window, Qt.Key.Key_A)
    assert not [each for each in QApplication.topLevelWidgets() if isinstance(each, Picker) and each.isVisible()]
    press(window, Qt.Key.Key_Return)
    in_front(Picker).close()


def test_an_edge_of_a_dock_that_was_dragged_is_a_moved_pane(window: MainWindow) -> None:
    layout = window.context.layout
    layout.moved = False
    QTest.mouseClick(window, Qt.MouseButton.LeftButton, pos=QPoint(1, 1))
    assert layout.moved
    layout.moved = False


def test_news_of_a_replay_go_when_the_next_begins(window: MainWindow) -> None:
    window.say(Notice("It stopped.", "warning", key="replay"))
    window.say(Notice("The tap drips.", "warning", key="tap"))
    window.session.state_changed.emit()
    assert window.bars.texts == ["The tap drips.", "It stopped."]
    window.session.replays.run_all(fresh=True)
    assert window.bars.texts == ["The tap drips."]
    settle(window)
    window.bars.clear()


def test_a_dock_says_its_name_where_no_tab_does(window: MainWindow) -> None:
    def beside(name: str) -> bool:
        return any(not other.isHidden() for other in window.tabifiedDockWidgets(window.docks[name]))

    def says_it(name: str) -> bool:
        bar = window.docks[name].bar
        return bar.findChild(QLabel, "PaneName").isVisibleTo(bar)

    window._titles.show_names()
    shown = [name for name, dock in window.docks.items() if not dock.isHidden()]
    alone = [name for name in shown if not beside(name)]
    assert 0 < len(alone) < len(shown)
    assert [name for name in shown if says_it(name)] == alone


def test_the_status_line_has_all_its_parts(window: MainWindow) -> None:
    status = window.status
    window.features.problems.pane.look()
    settle(window)
    parts = [status.problems, status.basis, status._run]
    assert [part.isVisible() for part in parts] == [True] * 3
    places = [part.mapTo(window, QPoint()).x() for part in parts]
    assert places == sorted(places)
    assert len(set(places)) == 3
    assert places[0] > window.width() / 2, "at the end of the line"


def test_buttons_of_the_window_say_what_they_do_in_the_colours_of_its_theme(window: MainWindow) -> None:
    workspace, palette, switch = window.features.window.buttons
    assert (palette.text(), palette.accessibleName()) == ("Find anything   Ctrl+P", "Find anything")
    assert (switch.accessibleName(), switch.toolTip()) == ("Switch between light and dark",) * 2
    current = window.context.layout.current
    assert (workspace.text(), workspace.toolTip()) == (current.title, f"Workspace: {current.tip}")
    assert [action.text() for action in workspace.menu().actions()] == [each.title for each in WORKSPACES]
    assert workspace.menu().toolTipsVisible()
    assert workspace.popupMode() is QToolButton.ToolButtonPopupMode.InstantPopup
    for button in (workspace, palette):
        assert button.toolButtonStyle() is Qt.ToolButtonStyle.ToolButtonTextBesideIcon
        assert button.property("kind") == "text"
    before = [each.icon().pixmap(16).toImage() for each in (workspace, palette, switch)]
    icons = [window.theme.icon(name).pixmap(16).toImage() for name in ("columns", "search", "contrast")]
    assert before == icons
    light, window.theme.palette = window.theme.palette, load_palettes()["dark"]
    window.theme.changed.emit()
    assert [each.icon().pixmap(16).toImage() for each in (workspace, palette, switch)] != before
    window.theme.palette = light
    window.theme.changed.emit()
    assert [each.icon().pixmap(16).toImage() for each in (workspace, palette, switch)] == before


def test_the_button_finds_anything(window: MainWindow) -> None:
    _workspace, palette, _switch = window.features.window.buttons
    palette.click()
    found = in_front(Picker)
    found.close()
    drain()


def test_the_name_of_the_pane_with_the_keyboard_stands_out(window: MainWindow) -> None:
    for name in ("vault", "chat"):
        window.show_pane(name)
        drain()
        active = [each for each, dock in window.docks.items() if dock.bar is not None and dock.bar.property("active")]
        assert active == [name]


def test_a_click_on_the_ground_moves_the_keyboard_nowhere(window: MainWindow) -> None:
    window.show_pane("chat")
    window.context.layout.moved = False
    QTest.mouseClick(window, Qt.MouseButton.LeftButton, pos=QPoint(1, window.height() - 1))
    assert window.current_pane() is window.chat


def test_enter_that_is_held_down_presses_a_button_once(window: MainWindow) -> None:
    switch = window.features.window.buttons[-1]
    told: list[bool] = []
    switch.clicked.disconnect()
    switch.clicked.connect(lambda: told.append(True))
    switch.setFocus()
    for key, held in ((Qt.Key.Key_Return, False), (Qt.Key.Key_Enter, False), (Qt.Key.Key_Return, True)):
        event = QKeyEvent(QKeyEvent.Type.KeyPress, key, Qt.KeyboardModifier.NoModifier, "", held)
        window.keyPressEvent(event)
    switch.clicked.connect(window.features.window._flip_theme)
    assert told == [True, True]


def test_the_shortcuts_are_opened_once(window: MainWindow) -> None:
    window.run("help.shortcuts")
    first = in_front(ShortcutsDialog)
    window.run("help.shortcuts")
    drain()
    second = in_front(ShortcutsDialog)
    assert second is window.features.window.dialog
    assert second is not first
    second.close()


@pytest.mark.own_window
def test_what_acts_on_a_pane_brings_it_to_the_front(window: MainWindow, monkeypatch: pytest.MonkeyPatch) -> None:
    table = window.commands.table
    acting = [action for action in table.values() if action.pane]
    assert {"chat", "entry", "timeline", "trace", "vault"} == {action.pane for action in acting}
    window.chat.choose(2)
    for action in acting:
        monkeypatch.setitem(table, action.id, replace(action, do=int))
        dock = window.docks[action.pane]
        other = window.docks["bench"]
        window.tabifyDockWidget(dock, other)
        window.context.uncover("bench")
        drain()
        assert dock.visibleRegion().isEmpty()
        window.run(action.id)
        drain()
        assert not dock.visibleRegion().isEmpty(), action.id


def test_a_message_that_is_edited_from_elsewhere_is_in_sight(window: MainWindow) -> None:
    window.chat.choose(2)
    window.tabifyDockWidget(window.docks["chat"], window.docks["problems"])
    window.context.show("problems")
    drain()
    window.run("message.edit")
    settle(window)
    keyboard = window.focusWidget()
    assert isinstance(keyboard, QPlainTextEdit)
    assert not keyboard.visibleRegion().isEmpty()
