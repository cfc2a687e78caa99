"""The picker: what fits what was typed and in which order, and how one is picked."""

from __future__ import annotations

import sys
import unicodedata

import pytest
from PySide6.QtCore import QPoint, QRect, QSize, Qt
from PySide6.QtWidgets import QLabel, QWidget
from pytestqt.qtbot import QtBot

from lorestudio.ui.shell.qt import ACCESSIBLE_TEXT
from lorestudio.ui.shell.theme import Theme
from lorestudio.ui.widgets.picker import SHOWN, Choice, Picker, ranked, score
from tests.ui.conftest import drain
from tests.ui.drawing import drawn

NAMES = ("Replay all", "Open chat", "Save the reply", "Play on", "Repair")


@pytest.mark.parametrize(
    ("query", "names", "first"),
    [
        ("rep", {"Repair", "Replay all", "Save the reply"}, ""),
        ("play", {"Play on", "Replay all"}, "Play on"),
        ("ra", {"Replay all", "Repair"}, "Replay all"),  # the initials
        ("OPEN CH", {"Open chat"}, "Open chat"),
        ("zz", set(), ""),
        (" ", set(NAMES), NAMES[0]),
    ],
)
def test_what_begins_so_comes_first(query: str, names: set[str], first: str) -> None:
    found = [NAMES[place] for place in ranked(query, NAMES)]
    assert set(found) == names
    assert not first or found[0] == first
    assert (score(query, NAMES[0]) is None) == ("Replay all" not in names)


def test_nothing_is_loaded_to_compare_before_something_is_typed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "rapidfuzz", None)
    assert ranked(" ", NAMES) == list(range(len(NAMES)))
    with pytest.raises(ImportError):
        ranked("rep", NAMES)


def test_how_accents_are_encoded_does_not_matter() -> None:
    apart = unicodedata.normalize("NFD", "Café")
    assert ranked("café", [apart]) == ranked(apart, ["café"]) == [0]
    assert ranked(apart, ["Bell"], ["un café"]) == [0]


def test_of_titles_that_have_the_words_alike_the_one_that_says_little_else_comes_first() -> None:
    assert ranked("prompt", ["Card, persona and prompt", "Copy the whole prompt", "Show the prompt"]) == [2, 1, 0]


def test_more_words_count_less_and_favour_decides_between_equals() -> None:
    more = ["a dragon of ash", "dragonfly", ""]
    assert ranked("dragon ash", ["Skarn", "Bell", "Dragon ash"], more) == [2, 0]
    assert ranked("dr", ["Skarn", "Bell", "Crown"], more) == []  # too few letters to read that
    assert ranked("bell", ["Bell", "Bell"], favour=[0, 5]) == [1, 0]
    assert ranked("dragon", ["Skarn", "Ash"], ["a dragon", "of a dragon"], favour=[0, 5]) == [1, 0]
    assert ranked("", ["a", "b", "c"], favour=[1, 3, 2]) == [1, 2, 0]
    assert ranked("", ["b", "a"]) == [0, 1]


def test_of_very_many_the_likeliest_are_looked_at() -> None:
    names = [f"entry {place}" for place in range(600)] + ["the needle"]
    assert ranked("ne", names)[0] == 600
    assert len(ranked("e", names)) == 601


def make(theme: Theme, qtbot: QtBot, choices: list[Choice]) -> tuple[Picker, list[object]]:
    made = Picker(theme, "Find", "Type", choices)
    made.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose, False)
    qtbot.addWidget(made)
    told: list[object] = []
    made.chosen.connect(lambda choice: told.append(choice.title))
    made.picked.connect(told.append)
    made.wanted_new.connect(told.append)
    made.show()
    return made, told


CHOICES = [
    Choice("Alpha", "first", "A", 1), Choice("Beta", "", "", 2, enabled=False), Choice("Gamma", "", "", 3, more="Ray"),
]  # fmt: skip


def count_of(picker: Picker) -> list[str]:
    return [each.text() for each in picker.findChildren(QLabel) if each.isVisible()]


def test_keys_walk_and_enter_picks(theme: Theme, qtbot: QtBot) -> None:
    picker, told = make(theme, qtbot, CHOICES)
    down, up = Qt.Key.Key_Down, Qt.Key.Key_Up
    places = []
    for key in (up, down, down, down, Qt.Key.Key_PageUp, Qt.Key.Key_PageDown, up):
        qtbot.keyClick(picker.field, key)
        places.append(picker.view.currentIndex().row())
    assert places == [0, 1, 2, 2, 0, 2, 1]
    qtbot.keyClick(picker.field, Qt.Key.Key_Return)
    assert (told, picker.isVisible()) == ([], True)  # what is not available cannot be picked
    assert picker.view.currentIndex().data(ACCESSIBLE_TEXT) == "Beta, not available now"
    assert picker.view.model().index(0, 0).data(ACCESSIBLE_TEXT) == "Alpha, first, A"
    qtbot.keyClick(picker.field, up)
    qtbot.keyClick(picker.field, Qt.Key.Key_Return)
    assert (told, picker.isVisible()) == (["Alpha", 1], False)


def test_typing_finds_counts_and_goes_to_the_first(theme: Theme, qtbot: QtBot) -> None:
    picker, told = make(theme, qtbot, CHOICES)
    assert count_of(picker) == ["3 matches"]
    qtbot.keyClick(picker.field, Qt.Key.Key_Down)
    qtbot.keyClicks(picker.field, "ray")
    assert (count_of(picker), picker.view.currentIndex().data()) == (["1 match"], "Gamma")
    qtbot.keyClicks(picker.field, "zz")
    assert count_of(picker) == ["Nothing has these letters in this order."]
    qtbot.keyClick(picker.field, Qt.Key.Key_Return)
    assert told == []
    many = [Choice(f"entry {place}", "", "", place) for place in range(SHOWN + 5)]
    picker.field.clear()
    picker.add(many)
    assert count_of(picker) == [f"{SHOWN + 8} matches, of which the first {SHOWN} are shown"]
    assert picker.view.model().rowCount() == SHOWN


def test_nothing_to_pick_is_not_blamed_on_letters_that_nobody_typed(theme: Theme, qtbot: QtBot) -> None:
    picker, _told = make(theme, qtbot, [])
    assert count_of(picker) == ["0 matches"]
    qtbot.keyClicks(picker.field, "z")
    assert count_of(picker) == ["Nothing has these letters in this order."]


def test_the_row_stays_where_more_is_found_or_said(theme: Theme, qtbot: QtBot) -> None:
    picker, told = make(theme, qtbot, CHOICES)
    qtbot.keyClick(picker.field, Qt.Key.Key_End)
    qtbot.keyClick(picker.field, Qt.Key.Key_PageDown)
    picker.add([Choice("Delta", "", "", 4)])
    assert picker.view.currentIndex().data() == "Gamma"
    picker.replace([Choice(name, "", "", name) for name in ("Alpha", "Beta", "Gamma ray", "Delta")])
    picker.pick_current()
    assert told == ["Gamma ray", "Gamma ray"]


def test_something_new_is_asked_for_only_where_that_is_offered(theme: Theme, qtbot: QtBot) -> None:
    picker, told = make(theme, qtbot, CHOICES)
    shift = Qt.KeyboardModifier.ShiftModifier
    picker.set_hint("Shift+Enter makes one")
    qtbot.keyClick(picker.field, Qt.Key.Key_Return, shift)
    assert (told, picker.isVisible()) == ([], True)  # it has no name yet
    qtbot.keyClicks(picker.field, " Omega ")
    qtbot.keyClick(picker.field, Qt.Key.Key_Return, shift)
    assert (told, picker.isVisible()) == (["Omega"], False)
    picker, told = make(theme, qtbot, CHOICES)
    qtbot.keyClick(picker.field, Qt.Key.Key_Return, shift)
    assert told == ["Alpha", 1]


def test_what_is_not_available_is_faint(theme: Theme, qtbot: QtBot) -> None:
    picker, _told = make(theme, qtbot, CHOICES)
    picker.resize(500, 300)
    picker.view.clearSelection()
    ink = {each.words: each.fill for each in drawn(picker.view) if each.kind == "text"}
    names = ("text_faint", "border_strong", "text")
    assert [ink[words] for words in ("first", "Beta", "Gamma")] == [theme.color(name).name() for name in names]


def test_a_long_hint_leaves_its_title_whole(theme: Theme, qtbot: QtBot) -> None:
    many = ", ".join(["normal", "continue", "impersonate", "swipe", "regenerate", "quiet"] * 3)
    picker = Picker(theme, "Search over", "", [Choice("World Info: Kind of generation", "kind", many, 1)])
    qtbot.addWidget(picker)
    picker.resize(520, 200)
    picker.show()
    words = "".join(each.words for each in drawn(picker.view) if each.kind == "text")
    assert "World Info: Kind of generation" in words.replace("\N{NO-BREAK SPACE}", " ")


def test_it_opens_in_the_upper_middle_of_its_window(theme: Theme, qtbot: QtBot) -> None:
    window = QWidget()
    qtbot.addWidget(window)
    picker, _told = make(theme, qtbot, CHOICES)
    sizes = (
        (QSize(900, 700), QSize(620, 420)), (QSize(700, 500), QSize(500, 300)), (QSize(500, 420), QSize(360, 240)),
    )  # fmt: skip
    for size, taken in sizes:
        window.setGeometry(QRect(QPoint(130, 90), size))
        picker.open_over(window)
        whole, place = window.geometry(), picker.geometry()
        assert place.size() == taken
        assert place.y() == whole.y() + 64
        assert whole.contains(place)
        assert abs(place.center().x() - whole.center().x()) <= 1
        assert place.center().y() < whole.center().y()
    assert picker.field.hasFocus()


def test_the_list_has_rows_of_one_height_and_leaves_the_keyboard_to_the_field(theme: Theme, qtbot: QtBot) -> None:
    picker, told = make(theme, qtbot, CHOICES)
    assert picker.view.sizeHintForRow(0) == 30
    assert picker.view.uniformItemSizes()
    assert (picker.field.isClearButtonEnabled(), picker.field.placeholderText()) == (True, "Type")
    assert (picker.windowTitle(), picker.accessibleName(), picker.field.accessibleName()) == ("Find",) * 3
    picker.field.setFocus()
    place = picker.view.visualRect(picker.view.model().index(0, 0)).center()
    picker.view.clicked.disconnect()
    qtbot.mouseClick(picker.view.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert not picker.view.hasFocus()
    assert told == []


def test_a_click_picks(theme: Theme, qtbot: QtBot) -> None:
    picker, told = make(theme, qtbot, CHOICES)
    place = picker.view.visualRect(picker.view.model().index(2, 0)).center()
    qtbot.mouseClick(picker.view.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert (told, picker.isVisible()) == (["Gamma", 3], False)


def test_a_hint_is_seen_only_where_there_is_one(theme: Theme, qtbot: QtBot) -> None:
    picker, _told = make(theme, qtbot, CHOICES)
    assert count_of(picker) == ["3 matches"]
    picker.set_hint("Shift+Enter makes one")
    assert count_of(picker) == ["3 matches", "Shift+Enter makes one"]
    picker.set_hint("")
    assert count_of(picker) == ["3 matches"]


def test_arrows_do_nothing_where_nothing_fits(theme: Theme, qtbot: QtBot) -> None:
    picker, told = make(theme, qtbot, CHOICES)
    qtbot.keyClicks(picker.field, "zz")
    qtbot.keyClick(picker.field, Qt.Key.Key_Down)
    assert (picker.view.currentIndex().isValid(), told, picker.field.text()) == (False, [], "zz")


def test_a_picker_is_gone_once_it_is_closed(theme: Theme, qtbot: QtBot) -> None:
    picker = Picker(theme, "Find", "Type", CHOICES)
    gone: list[bool] = []
    picker.destroyed.connect(lambda: gone.append(True))
    picker.show()
    picker.close()
    drain()
    assert gone == [True]


def test_what_was_said_of_choices_is_replaced_and_searched(theme: Theme, qtbot: QtBot) -> None:
    picker, _told = make(theme, qtbot, CHOICES)
    picker.replace([Choice("Alpha", "", "", 1, more="Zebra"), Choice("Beta", "", "", 2)])
    qtbot.keyClicks(picker.field, "zebra")
    assert picker.view.currentIndex().data() == "Alpha"
    picker.add([Choice("Zeta", "", "", 4, more="A zebra too")])
    assert picker.view.model().rowCount() == 2
    picker.field.clear()
    picker.replace([])
    assert not picker.view.currentIndex().isValid()


def test_what_a_text_says_is_told_around_the_words_that_were_typed(theme: Theme, qtbot: QtBot) -> None:
    text = f"The captain read both papers. {'And then he read on. ' * 8}Far above, the tower rings four bells."
    begins = Choice("#3 Wren", text[:90], "Message", 1, more=text)
    named = Choice("Bell Codes", "four strokes", "Entry", 2, more="The bell codes of the pilots.")
    picker = Picker(theme, "Find", "Type", [begins, named])
    qtbot.addWidget(picker)
    rows = picker.view.model()
    assert rows.index(0, 0).data(ACCESSIBLE_TEXT) == f"#3 Wren, {text[:90]}, Message"
    picker.field.setText("TOWER")
    assert rows.index(0, 0).data(ACCESSIBLE_TEXT) == (
        "#3 Wren, …then he read on. Far above, the tower rings four bells., Message"
    )
    picker.field.setText("bell")
    assert rows.index(0, 0).data(ACCESSIBLE_TEXT) == "Bell Codes, four strokes, Entry"  # its title says it
