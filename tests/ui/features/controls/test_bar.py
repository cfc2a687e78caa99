"""The bar of chips: keyboard, mouse, wrapping and folding."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtCore import QEvent, QPoint, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtTest import QTest

from lorestudio.ui.features.controls.bar import ControlBar
from lorestudio.ui.features.controls.chips import ControlChip
from lorestudio.ui.shell.theme import Theme, glyph
from lorestudio.ui.widgets.layouts import GAP
from tests.ui.conftest import drain
from tests.ui.drawing import drawn, image_of, words_drawn

pytestmark = pytest.mark.dressed


def chip(number: int, *, fixed: bool = False) -> ControlChip:
    change = None if fixed else (lambda controls: controls)
    return ControlChip(("pins", str(number)), "star", f"Pin: Entry {number}", f"tip {number}", change=change)


@pytest.fixture
def bar(qtbot, theme) -> Iterator[ControlBar]:
    made = ControlBar(theme)
    made.resize(420, 30)
    made.show()
    qtbot.waitExposed(made)
    made.activateWindow()
    yield made
    made.close()
    made.deleteLater()
    drain()


def keys(bar: ControlBar) -> list[str]:
    return [button.chip.key[1] for button in bar.chips]


def hidden_chips(bar: ControlBar) -> int:
    return sum(chip.isHidden() for chip in bar.chips)


def test_without_chips_it_says_so(bar: ControlBar) -> None:
    bar.set_chips([])
    assert bar.nothing.isVisible()
    bar.set_chips([chip(1)])
    assert not bar.nothing.isVisible()
    assert bar.chips[0].accessibleName() == "Pin: Entry 1. Delete removes it."
    assert bar.chips[0].toolTip() == "tip 1"


def test_arrows_walk_and_delete_removes(bar: ControlBar, qtbot) -> None:
    bar.set_chips([chip(1), chip(2), chip(3, fixed=True)])
    removed: list[object] = []
    bar.removed.connect(removed.append)
    bar.focus_chip()
    assert bar.chips[0].hasFocus()
    QTest.keyClick(bar.chips[0], Qt.Key.Key_Right)
    assert bar.chips[1].hasFocus()
    QTest.keyClick(bar.chips[1], Qt.Key.Key_Delete)
    QTest.keyClick(bar.chips[1], Qt.Key.Key_End)
    assert bar.chips[2].hasFocus()
    QTest.keyClick(bar.chips[2], Qt.Key.Key_Backspace)  # this one cannot be removed
    assert removed == [("pins", "2")]
    QTest.keyClick(bar.chips[2], Qt.Key.Key_Home)
    assert bar.chips[0].hasFocus()


def test_every_key_of_a_chip_leads_somewhere_within_the_bar(bar: ControlBar) -> None:
    bar.resize(900, 30)
    bar.set_chips([chip(number) for number in range(4)])
    key = Qt.Key
    for start, pressed, end in (
        (0, key.Key_Left, 0), (0, key.Key_Up, 0), (2, key.Key_Left, 1), (2, key.Key_Up, 1), (1, key.Key_Right, 2),
        (1, key.Key_Down, 2), (3, key.Key_Right, 3), (2, key.Key_Home, 0), (1, key.Key_End, 3),
    ):  # fmt: skip
        bar.focus_chip(start)
        QTest.keyClick(bar.chips[start], pressed)
        assert [place for place, each in enumerate(bar.chips) if each.hasFocus()] == [end]


def test_tab_reaches_one_chip_only_the_one_that_had_the_keyboard(bar: ControlBar) -> None:
    bar.set_chips([chip(1), chip(2), chip(3)])
    bar.focus_chip(1)
    strong = [button.focusPolicy() is Qt.FocusPolicy.StrongFocus for button in bar.chips]
    assert strong == [False, True, False]


@pytest.mark.parametrize("key", [Qt.Key.Key_Return, Qt.Key.Key_F2, Qt.Key.Key_Space])
def test_enter_changes_what_a_chip_stands_for(bar: ControlBar, key: Qt.Key) -> None:
    bar.set_chips([chip(1)])
    opened: list[object] = []
    bar.opened.connect(opened.append)
    bar.focus_chip()
    QTest.keyClick(bar.chips[0], key)
    assert opened == [("pins", "1")]


def test_the_cross_removes_and_the_rest_opens(bar: ControlBar) -> None:
    bar.set_chips([chip(1), chip(2, fixed=True)])
    removed: list[object] = []
    opened: list[object] = []
    bar.removed.connect(removed.append)
    bar.opened.connect(opened.append)
    left = Qt.MouseButton.LeftButton
    first, second = bar.chips
    QTest.mouseClick(first, left, pos=QPoint(first.width() - 8, 12))
    assert (removed, opened) == ([("pins", "1")], [])
    QTest.mouseClick(first, left, pos=QPoint(20, 12))
    QTest.mouseClick(second, left, pos=QPoint(second.width() - 8, 12))
    assert (len(removed), opened) == (1, [("pins", "1"), ("pins", "2")])


def test_the_keyboard_stays_where_it_was(bar: ControlBar) -> None:
    bar.set_chips([chip(1), chip(2), chip(3)])
    bar.focus_chip(1)
    bar.set_chips([chip(1), chip(3)])
    assert bar.chips[1].hasFocus()
    assert keys(bar) == ["1", "3"]
    bar.set_chips([chip(0), chip(1), chip(3)])
    assert bar.chips[2].hasFocus()  # it is the same chip as before


def test_the_last_chip_that_goes_leaves_the_keyboard_to_the_button_that_adds(bar: ControlBar) -> None:
    bar.set_chips([chip(1)])
    assert bar.chips[0].focusPolicy() is Qt.FocusPolicy.StrongFocus  # Tab finds it
    bar.focus_chip()
    bar.set_chips([])
    assert bar.add.hasFocus()
    bar.set_chips([chip(1), chip(2)])
    assert [each.focusPolicy() is Qt.FocusPolicy.StrongFocus for each in bar.chips] == [True, False]
    bar.add.clearFocus()
    bar.focus_chip()
    assert bar.chips[0].hasFocus()


@pytest.mark.parametrize("held", [Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.AltModifier])
def test_keys_that_mean_something_to_the_window_are_not_the_bars(bar: ControlBar, held: Qt.KeyboardModifier) -> None:
    bar.set_chips([chip(1), chip(2)])
    told: list[object] = []
    bar.removed.connect(told.append)
    bar.opened.connect(told.append)
    bar.focus_chip()
    for key in (Qt.Key.Key_Delete, Qt.Key.Key_Return, Qt.Key.Key_End):
        QTest.keyClick(bar.chips[0], key, held)
    assert (told, bar.chips[0].hasFocus()) == ([], True)


def test_the_cross_stands_out_under_the_mouse_and_another_button_takes_nothing(bar: ControlBar) -> None:
    bar.set_chips([chip(1), chip(2, fixed=True)])
    removed: list[object] = []
    bar.removed.connect(removed.append)
    first, fixed = bar.chips
    assert first.cursor().shape() is Qt.CursorShape.PointingHandCursor
    beside, cross = QPoint(first.width() // 2, 12), QPoint(first.width() - 8, 12)
    pictures = []
    for place in (beside, cross, cross):
        QTest.mouseMove(first, place)
        pictures.append(first.grab().toImage())
    assert pictures[0] != pictures[1] == pictures[2]
    QTest.mouseMove(fixed, QPoint(5, 12))
    assert not first._on_cross
    QTest.mouseClick(first, Qt.MouseButton.RightButton, pos=cross)
    QTest.mousePress(first, Qt.MouseButton.LeftButton, pos=cross)
    QTest.mouseRelease(first, Qt.MouseButton.LeftButton, pos=beside)  # let go elsewhere
    assert removed == []
    assert not fixed._on_cross
    QTest.mouseMove(fixed, QPoint(fixed.width() - 8, 12))
    assert not fixed._on_cross


def test_the_button_for_more_stands_behind_what_is_shown(bar: ControlBar) -> None:
    bar.set_chips([chip(number) for number in range(12)])
    folded = bar.height()
    shown = [button for button in bar.chips if not button.isHidden()]
    assert bar.more.accessibleName() == f"Show {12 - len(shown)} more choices for this chat"
    assert not bar.more.isChecked()
    bar.more.click()
    assert (bar.more.accessibleName(), bar.more.isChecked()) == ("Show less", True)
    last = bar.chips[-1].geometry()
    assert bar.more.y() >= last.y()
    assert bar.more.geometry().right() <= bar.width()
    assert bar.more.geometry().bottom() <= bar.height()
    assert not any(bar.more.geometry().intersects(button.geometry()) for button in bar.chips)
    bar.set_narrow(True)  # another kind of bar begins folded
    assert (bar.height(), bar.more.isChecked(), hidden_chips(bar) > 0) == (folded, False, True)
    assert bar.presets.toolButtonStyle() is Qt.ToolButtonStyle.ToolButtonIconOnly
    bar.set_narrow(False)
    assert bar.presets.toolButtonStyle() is Qt.ToolButtonStyle.ToolButtonTextBesideIcon
    bar.set_room(899)
    two = bar.height()
    bar.set_room(900)  # one line for each three hundred
    assert bar.height() > two > folded


def test_a_wide_bar_wraps_and_a_narrow_one_keeps_to_one_line(bar: ControlBar) -> None:
    bar.set_chips([chip(number) for number in range(12)])
    bar.set_room(2000)
    assert hidden_chips(bar) == 0
    tall = bar.height()
    lines = {button.y() for button in bar.chips}
    assert len(lines) > 2
    assert all(button.geometry().right() <= bar.width() for button in bar.chips)
    bar.set_narrow(True)
    shown = [button for button in bar.chips if not button.isHidden()]
    assert {button.y() for button in shown} == {0}
    assert bar.height() < tall
    assert 0 < len(shown) < 12
    assert bar.more.text() == f"+{12 - len(shown)}"
    assert not bar.more.geometry().intersects(shown[-1].geometry())
    assert bar.more.geometry().right() <= bar.width()
    for width in (200, 420, 900):  # as whoever arranges the bar asks, again and again
        assert bar.heightForWidth(width) > 0
        assert bar.more.text() == f"+{12 - len(shown)}", "asking for the height changes no number"


def test_what_is_folded_away_is_one_click_or_key_away(bar: ControlBar) -> None:
    bar.set_chips([chip(number) for number in range(12)])
    bar.set_narrow(True)
    assert hidden_chips(bar)
    QTest.mouseClick(bar.more, Qt.MouseButton.LeftButton)
    assert hidden_chips(bar) == 0
    assert bar.more.text() == "Less"
    QTest.mouseClick(bar.more, Qt.MouseButton.LeftButton)
    assert hidden_chips(bar)
    bar.focus_chip()
    QTest.keyClick(bar.chips[0], Qt.Key.Key_End)
    assert bar.chips[11].hasFocus()
    assert hidden_chips(bar) == 0


def test_few_chips_need_no_button_to_see_more(bar: ControlBar) -> None:
    bar.set_narrow(True)
    bar.set_chips([chip(1)])
    assert not bar.more.isVisible()
    assert hidden_chips(bar) == 0


def test_it_draws_in_both_themes(bar: ControlBar, theme) -> None:
    bar.set_chips([chip(1), ControlChip(("x",), "warning", "Odd", "tip", "not in the vault", "warning", short="O")])
    pictures = []
    for name in ("light", "dark"):
        theme.choose(name)
        pictures.append(bar.grab().toImage())
    assert pictures[0] != pictures[1]
    theme.choose("light")


def test_a_chip_says_what_it_stands_for_and_shortens_in_a_narrow_bar(bar: ControlBar, theme: Theme) -> None:
    made = ControlChip(("pins", "1"), "star", "Pin: The Crown", "tip", "filters 2", "warning", short="Crown")
    bar.set_chips([made, chip(2), chip(3, fixed=True)])
    shown = drawn(bar.chips[0])
    assert [each.words for each in shown if each.kind == "text"] == ["Pin: The Crown", "· filters 2"]
    inks = [each.fill for each in shown if each.kind == "text"]
    assert inks == [theme.color(name).name() for name in ("text", "text_muted")]
    images = [len([each for each in drawn(button) if each.kind == "image"]) for button in bar.chips]
    assert images == [1, 2, 1]  # what can be removed has a cross
    bar.set_narrow(True)
    assert words_drawn(bar.chips[0]) == ["Crown", "· filters 2"]


def test_a_warning_has_a_ground_and_a_sign_of_its_own(bar: ControlBar, theme: Theme) -> None:
    odd = ControlChip(("x",), "warning", "Odd", "tip", tone="warning")
    bar.set_chips([chip(1), odd])
    grounds = [drawn(button)[1] for button in bar.chips]  # after the window's own
    assert [(each.fill, each.edge) for each in grounds] == [
        (theme.color("raised").name(), theme.color("border").name()),
        (theme.color("warning_soft").name(), theme.color("warning").name()),
    ]
    signs = [next(each.image for each in drawn(button) if each.kind == "image") for button in bar.chips]
    tones = (theme.palette.text_muted, theme.palette.warning)
    assert signs == [image_of(glyph(button.chip.icon, tone, 13)) for button, tone in zip(bar.chips, tones, strict=True)]


def test_the_chip_with_the_keyboard_is_drawn_so_and_shows_its_cross(bar: ControlBar, theme: Theme) -> None:
    bar.set_chips([ControlChip(("x",), "star", "Pin", "tip", "filters 2", change=lambda controls: controls), chip(2)])
    bar.focus_chip(0)
    drain()
    inks = [[each.fill for each in drawn(button) if each.kind == "text"] for button in bar.chips]
    on = theme.color("on_accent_soft").name()
    assert inks == [[on, on], [theme.color("text").name()]]
    assert drawn(bar.chips[0])[1].fill == theme.color("accent_soft").name()


def test_text_detail_and_cross_stand_beside_each_other_within_the_chip(bar: ControlBar) -> None:
    bar.resize(900, 30)
    made = ControlChip(("x",), "star", "Pin: The Crown", "tip", "filters 2", change=lambda controls: controls)
    bar.set_chips([made, ControlChip(("y",), "star", "Pin: The Crown", "tip", "filters 2"), chip(3)])
    wide, fixed, short = (button.sizeHint().width() for button in bar.chips)
    assert wide > fixed > short - 40
    for button in bar.chips[:2]:
        text, detail = [each for each in drawn(button) if each.kind == "text"]
        assert (text.words, detail.words) == ("Pin: The Crown", "· filters 2")
        assert button.fontMetrics().horizontalAdvance(text.words) < detail.box.left() - text.box.left() < button.width()
    icon, cross = [each.box for each in drawn(bar.chips[0]) if each.kind == "image"]
    assert icon.right() < text.box.left()
    assert detail.box.left() < cross.left() < cross.right() <= bar.chips[0].width()


@pytest.mark.parametrize("narrow", [False, True])
def test_the_button_for_less_has_its_place_at_every_width(bar: ControlBar, narrow: bool) -> None:
    bar.set_chips([chip(number) for number in range(7)])
    bar.set_narrow(narrow)
    if not bar.more.isChecked():
        bar.more.click()
    for width in range(260, 700, 7):
        bar.resize(width, 30)
        drain()
        if bar.more.isVisible():
            assert not any(bar.more.geometry().intersects(button.geometry()) for button in bar.chips)
            assert bar.rect().contains(bar.more.geometry())
            last = bar.chips[-1].geometry()
            beside = last.right() + 1 + GAP + bar.more.width() <= width - 8  # the margin at the side
            assert (bar.more.y() == last.y()) is beside


def test_a_click_opens_the_chip_that_it_is_on(bar: ControlBar) -> None:
    bar.set_chips([chip(1), chip(2, fixed=True)])
    opened: list[object] = []
    bar.opened.connect(opened.append)
    for button in (bar.chips[1], bar.chips[0]):
        QTest.mouseClick(button, Qt.MouseButton.LeftButton, pos=QPoint(30, 8))
    assert opened == [("pins", "2"), ("pins", "1")]


@pytest.mark.parametrize(("from_right", "removes"), [(16, True), (17, True), (18, False), (30, False)])
def test_the_cross_begins_where_the_words_end(bar: ControlBar, from_right: int, removes: bool) -> None:
    bar.set_chips([chip(1)])
    told: list[str] = []
    bar.removed.connect(lambda _key: told.append("removed"))
    bar.opened.connect(lambda _key: told.append("opened"))
    button = bar.chips[0]
    at = QPoint(button.width() - from_right, 8)
    QTest.mousePress(button, Qt.MouseButton.LeftButton, pos=at)
    assert button.isDown()
    QTest.mouseRelease(button, Qt.MouseButton.LeftButton, pos=at)
    assert not button.isDown()
    assert told == ["removed" if removes else "opened"]


def test_a_chip_takes_the_keys_that_it_knows_and_leaves_the_others(bar: ControlBar) -> None:
    bar.set_chips([chip(1), chip(2)])
    none, keys = Qt.KeyboardModifier.NoModifier, Qt.Key

    def takes(key: Qt.Key, held: Qt.KeyboardModifier = none) -> bool:
        return bar.chip_key(bar.chips[0], QKeyEvent(QEvent.Type.KeyPress, key, held))

    assert all(takes(key) for key in (keys.Key_Left, keys.Key_Down, keys.Key_End, keys.Key_Delete, keys.Key_F2))
    assert not any(takes(key) for key in (keys.Key_A, keys.Key_Tab, keys.Key_Escape))
    for held in (Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.AltModifier):
        assert not any(takes(key, held) for key in (keys.Key_Left, keys.Key_Delete, keys.Key_Return))
