"""The menus stay short, open by their letters, and what is rare stands in them once it was used."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QKeySequence
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QMenu, QMenuBar

from lorestudio.ui.shell.actions import MENUS, RARE, Where, conflicts, pane_action
from lorestudio.ui.shell.theme import ICONS
from lorestudio.ui.widgets.picker import Picker, ranked
from tests.ui.conftest import LONGEST_MENU, drain, settle
from tests.ui.worlds import CROWN, make_project


@pytest.mark.long
def test_no_two_actions_share_a_shortcut_where_both_work(table) -> None:
    assert conflicts(table) == []


def test_a_conflict_is_found(table) -> None:
    chat = next(action for action in table if action.id == "message.number")
    assert conflicts((*table, chat)) == [("G", "message.number", "message.number")]


def test_ids_are_unique_and_every_action_has_a_title_and_a_known_menu(table) -> None:
    ids = [action.id for action in table]
    assert len(ids) == len(set(ids))
    for action in table:
        assert action.title.strip()
        assert action.menu.partition("/")[0] in MENUS, f"{action.id} exists only as a shortcut"


def test_shortcuts_are_valid_and_icons_exist(table) -> None:
    for action in table:
        for shortcut in action.shortcuts:
            assert not QKeySequence(shortcut).isEmpty(), action.id
            assert QKeySequence(shortcut)[0].key() != Qt.Key.Key_unknown, action.id
        assert not action.icon or (ICONS / f"{action.icon}.svg").is_file(), action.id


def test_single_keys_belong_to_a_pane(table) -> None:
    for action in table:
        for shortcut in action.shortcuts:
            if len(shortcut) == 1 and shortcut != "?":
                assert action.where is not Where.WINDOW


@pytest.mark.parametrize(
    ("shortcut", "wanted"),
    [
        ("Ctrl+O", "go.entry"),
        ("Ctrl+P", "go.command"),
        ("Ctrl+Shift+P", "go.command"),
        ("Ctrl+Shift+F", "find.vault"),
        ("Ctrl+F", "find.pane"),
        ("Ctrl+G", "go.graph"),
        ("Ctrl+S", "entry.save"),
        ("F6", "view.next_pane"),
        ("Shift+F6", "view.previous_pane"),
        ("F11", "view.full_screen"),
        ("Ctrl+Q", "app.quit"),
        ("Ctrl+E", "entry.source"),
        ("Ctrl+R", "replay.all"),
        ("Ctrl+.", "replay.cancel"),
        ("Ctrl+Alt+1", "workspace.debug"),
        ("Alt+1", "mode.keywords-only"),
        ("G", "message.number"),
        ("J", "message.next_change"),
        ("K", "message.previous_change"),
        ("E", "trace.entry"),
        ("W", "trace.why"),
        ("X", "message.expand"),
        ("F", "trace.filter"),
        ("F1", "help.pane"),
        ("Shift+F1", "help.shortcuts"),
        ("?", "help.shortcuts"),
        ("Ctrl+Shift+R", "vault.reload"),
    ],
)
def test_the_keys_that_people_know(shortcut: str, wanted: str, table) -> None:
    assert [action.id for action in table if shortcut in action.shortcuts] == [wanted]


def test_panes_beyond_the_digits_have_no_shortcut() -> None:
    assert pane_action(9, "a", "A", print).shortcuts == ("Ctrl+9",)
    assert pane_action(10, "b", "B", print).shortcuts == ()


@pytest.fixture
def window(share_window):
    return share_window(lambda folder: make_project(folder / "vault"))


def menus(bar: QMenuBar | QMenu) -> list[QMenu]:
    below = [menu for action in bar.actions() if isinstance(menu := action.menu(), QMenu)]
    return [*below, *(inner for menu in below for inner in menus(menu))]


def shown_in(menu: QMenu) -> list[str]:
    return [action.text() for action in menu.actions() if not action.isSeparator() and action.isVisible()]


def palette(window) -> Picker:
    QTest.keyClick(QApplication.focusWidget() or window, Qt.Key.Key_P, Qt.KeyboardModifier.ControlModifier)
    return next(each for each in QApplication.topLevelWidgets() if isinstance(each, Picker) and each.isVisible())


def titles(picker: Picker) -> list[str]:
    model = picker.view.model()
    return [model.index(row, 0).data() for row in range(model.rowCount())]


def test_no_menu_is_longer_than_a_person_reads(window) -> None:
    for menu in menus(window.findChild(QMenuBar)):
        everything = [action for action in menu.actions() if not action.isSeparator()]
        assert len(everything) <= LONGEST_MENU, menu.title()


@pytest.mark.own_window
def test_each_menu_opens_by_its_letter_from_wherever_the_keyboard_is(window) -> None:
    letters = [menu.title().partition("&")[2][:1].upper() for menu in menus(window.findChild(QMenuBar))[:8]]
    assert len(set(letters)) == 8
    bar = window.findChild(QMenuBar)
    for pane in ("vault", "chat", "entry"):
        window.activateWindow()  # without a window manager nobody does so when a menu closes
        drain()
        window.show_pane(pane)
        QTest.keyClick(QApplication.focusWidget(), Qt.Key.Key_V, Qt.KeyboardModifier.AltModifier)
        assert bar.activeAction().text() == "&View"
        for menu in menus(bar):
            menu.close()
        bar.setActiveAction(None)
        drain()


def test_every_key_has_one_meaning_where_it_works(window) -> None:
    """Actions among each other, and the keys that views answer themselves against those that work everywhere."""
    table = window.commands.table.values()
    assert conflicts(table) == []
    everywhere = {QKeySequence(key).toString() for one in table if one.where is Where.WINDOW for key in one.shortcuts}
    answered = {
        (QKeySequence(key).toString(), title) for _place, title, keys in window.commands.view_keys() for key in keys
    }
    assert [each for each in answered if each[0] in everywhere] == []
    drawn = [key.toString() for action in window.commands.actions.values() for key in action.shortcuts()]
    assert {"Ctrl+Alt+1", "Ctrl+Alt+2", "Ctrl+Alt+3", "Ctrl+Alt+4"} <= set(drawn)
    assert all(drawn.count(f"Ctrl+Alt+{number}") == 1 for number in range(1, 5))


def test_the_keys_that_views_answer_are_keys_and_say_where_and_what_for(window) -> None:
    listed = window.commands.view_keys()
    assert len(listed) > 20
    assert [each for each in listed if not all(each) or any(QKeySequence(key).isEmpty() for key in each[2])] == []


def test_a_pane_that_stands_in_no_menu_yet_is_opened_by_the_palette(make_window, tmp_path) -> None:
    window = make_window(make_project(tmp_path / "vault"))
    assert not window.commands.actions["pane.memories"].isVisible()
    picker = palette(window)
    assert picker.field.placeholderText() == "An entry, a message, a setting, a command or a pane"
    QTest.keyClicks(picker.field, "memories")
    assert titles(picker)[0] == "Memories"
    QTest.keyClick(picker.field, Qt.Key.Key_Return)
    drain()
    assert not window.docks["memories"].isHidden()
    assert window.commands.actions["pane.memories"].isVisible()


@pytest.mark.long
def test_what_is_rare_is_found_and_stands_in_its_menu_once_it_was_used(make_window, tmp_path) -> None:
    window = make_window(make_project(tmp_path / "vault"))

    def in_sight(name: str) -> bool:
        found = [menu for menu in menus(window.findChild(QMenuBar)) if menu.title() == name]
        return found[0].menuAction().isVisible()

    assert not any(in_sight(name.rpartition("/")[2]) for name in RARE if "/" in name)
    assert "recap.break" not in window.commands.known(window.features.chat.message_menu)
    picker = palette(window)
    QTest.keyClicks(picker.field, "keep recaps up")
    assert titles(picker)[0] == "Keep recaps up to date"
    QTest.keyClicks(picker.field, "")
    picker.close()
    drain()
    window.run("recap.settings")
    assert in_sight("Recap")
    assert not in_sight("Memories")
    assert not window.commands.actions["pane.memories"].isVisible()
    window.show_pane("memories")
    assert window.commands.actions["pane.memories"].isVisible()
    assert in_sight("Memories")
    assert "recap.break" in window.commands.known(window.features.chat.message_menu)
    for dialog in QApplication.topLevelWidgets():
        if dialog is not window and dialog.isVisible():
            dialog.close()
    window.close()
    assert make_window().commands._menus["Chat/Recap"].menuAction().isVisible()


@pytest.mark.own_window
def test_a_system_that_is_chosen_brings_its_menus(window) -> None:
    def menu(path: str) -> bool:
        return window.commands._menus[path].menuAction().isVisible()

    assert menu("Entry/Proposals")
    assert menu("Run/System")
    window.settings.remove("menus/used")
    window.commands.show_used(window.context.used)
    for system, path, pane in (("recap", "Chat/Recap", "recap"), ("facts", "Chat/Memories", "memories")):
        shown = window.commands.actions[f"pane.{pane}"]
        assert (menu(path), shown.isVisible()) == (False, False)
        window.chat.modes.system_chosen.emit(system)
        assert (menu(path), shown.isVisible()) == (True, True)
    assert menu("Chat/Chosen memory")


@pytest.mark.always
@pytest.mark.own_window
def test_one_list_finds_entries_messages_settings_actions_and_panes(window) -> None:
    first = {}
    for query in ("Crown", "scan depth", "replay all", "timeline", "#1 "):
        window.activateWindow()
        drain()
        picker = palette(window)
        QTest.keyClicks(picker.field, query)
        index = picker.view.currentIndex()
        first[query] = (index.data(), index.data(Qt.ItemDataRole.UserRole).name.partition(":")[0])
        QTest.keyClick(picker.field, Qt.Key.Key_Return)
        drain()
    assert first["Crown"] == ("Crown", "note")
    assert first["scan depth"][1] == "setting"
    assert first["replay all"] == ("Replay all", "action")
    assert first["timeline"] == ("Timeline", "action")
    assert first["#1 "][1] == "message"
    settle(window)
    window.activateWindow()
    drain()
    assert window.selection.entry == CROWN
    assert window.selection.message == 1
    assert not window.docks["timeline"].isHidden()
    picker = palette(window)
    assert [title[:2] for title in titles(picker)[:2]] == ["#1", "Ti"], "what was found last comes first"
    picker.close()
    drain()


@pytest.mark.own_window
def test_words_inside_a_message_find_it(window) -> None:
    text = window.session.project.chat.messages[0].text
    words = " ".join(text.split()[-3:])
    picker = palette(window)
    QTest.keyClicks(picker.field, words)
    assert any(title.startswith("#0 ") for title in titles(picker))
    picker.close()
    drain()


def test_of_thousands_all_that_fit_are_found_the_likeliest_first() -> None:
    names = [
        f"{word} number {number}" for number in range(100) for word in ("Old Bell", "Lamp", "Tide", "Rebellion", "A")
    ]
    places = ranked("bell", names)
    assert {names[place].partition(" number")[0] for place in places} == {"Old Bell", "Rebellion"}
    assert len(places) == 200
    assert all(names[place].startswith("Old Bell") for place in places[:100])
    assert len(ranked("b", names)) == 500, "more than are looked at closely, and all there"


def test_words_inside_and_favour_decide_between_like_ones() -> None:
    assert ranked("fog", ["Bells", "Fog Tides", "Lamp"], ["the fog rings them", "", ""]) == [1, 0]
    assert ranked("fog", ["Bells", "Lamp"], ["the fog", "the fog"], [0.0, 5.0]) == [1, 0]
    assert ranked("", ["Bells", "Lamp"], (), [0.0, 5.0]) == [1, 0]
    assert ranked("fo", ["Bells"], ["the fog"]) == [], "two letters are in nearly every text"


def test_icons_in_menus_have_the_ink_of_the_theme(window) -> None:
    def inks() -> set[str]:
        image = window.commands.actions["replay.all"].icon().pixmap(32, 32).toImage()
        colors = (image.pixelColor(x, y) for x in range(image.width()) for y in range(image.height()))
        return {color.name() for color in colors if color.alpha() == 255}

    for name in ("dark", "light"):
        window.run(f"view.theme.{name}")
        assert inks() == {window.theme.color("text_muted").name()}
