"""The field of every setting there is: what it shows, what it gives back, and what it leaves alone."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel, QStyle
from pytestqt.qtbot import QtBot

from lorestudio.domain.records import replace
from lorestudio.settings.declaration import Declaration, declared
from lorestudio.settings.deeplore import DeepLoreSettings
from lorestudio.systems.registry import KINDS
from lorestudio.ui.widgets.setting_fields import (
    ChoiceSettingField,
    LineSettingField,
    NumberSettingField,
    SwitchField,
    TextField,
    make_field,
)

SECTIONS = (DeepLoreSettings, *(type(kind.settings()) for kind in KINDS.values() if not kind.in_project))
ALL = tuple({(each.alias, each.group): each for section in SECTIONS for each in declared(section)}.values())
NUMBERS = [each for each in ALL if each.type in (int, float) and not each.choices]
RANGED = [each for each in NUMBERS if each.low is not None]


def heard(field: Any) -> list[object]:
    told: list[object] = []
    field.moved.connect(told.append)
    return told


def name_of(declaration: Declaration) -> str:
    return declaration.alias


@pytest.mark.parametrize("declaration", RANGED, ids=name_of)
def test_a_slider_reaches_both_ends_and_never_goes_back(qtbot: QtBot, declaration: Declaration) -> None:
    field = make_field(declaration)
    qtbot.addWidget(field)
    assert isinstance(field, NumberSettingField)
    told, slider = heard(field), field.slider
    field.set_value(declaration.default)
    assert told == []  # showing is no wish
    places = sorted({*range(slider.minimum(), slider.maximum() + 1, max(1, slider.maximum() // 40)), slider.maximum()})
    for place in (*places, places[0]):
        slider.setValue(place)
    first, *amounts = told if told[0] == declaration.low else [declaration.low, *told]
    assert first == amounts[-1] == declaration.low
    assert amounts[-2] == declaration.high
    assert all(one <= other for one, other in pairwise(amounts[:-1]))
    assert all(type(amount) is declaration.type for amount in told)


@pytest.mark.parametrize("declaration", NUMBERS, ids=name_of)
def test_a_number_is_shown_kept_in_its_range_and_given_as_it_is_typed(qtbot: QtBot, declaration: Declaration) -> None:
    field = make_field(declaration)
    qtbot.addWidget(field)
    assert isinstance(field, NumberSettingField)
    told = heard(field)
    low = 0 if declaration.low is None else declaration.low
    high = low + 20 if declaration.high is None else declaration.high
    beyond = high if declaration.high is None else high + 5
    for value, shown in ((declaration.default, declaration.default), (low - 5, low), (beyond, high)):
        field.set_value(value)
        assert field.box.value() == pytest.approx(shown)
        assert field.box.valueFromText(field.box.text()) == pytest.approx(shown)
    assert (field.slider is None) == (declaration.low is None or declaration.high is None)
    assert field.slider is None or field.slider.value() == field.slider.maximum()
    assert told == []
    field.set_value(low)
    typed = declaration.type(min(low + 100_000, high))
    field.box.selectAll()
    QTest.keyClicks(field.box, field.box.locale().toString(typed))
    assert told[-1] == typed
    assert type(told[-1]) is declaration.type
    QTest.keyClicks(field.box, field.box.locale().decimalPoint() + "5")
    assert field.box.valueFromText(field.box.text()) == told[-1]  # nothing behind a whole number
    if declaration.type is float:
        field.set_value(low + 0.125)
        assert field.box.valueFromText(field.box.text()) == low + 0.125


def test_the_unit_stands_behind_the_number(qtbot: QtBot) -> None:
    for declaration in NUMBERS:
        field = make_field(declaration)
        qtbot.addWidget(field)
        units = [each.text() for each in field.findChildren(QLabel) if each.text()]
        assert field.row.indexOf(field.unit) == field.row.indexOf(field.box) + 1
        assert units == ([declaration.unit] if declaration.unit else []), declaration.alias


def test_large_numbers_are_written_in_groups(qtbot: QtBot) -> None:
    field = make_field(replace(next(each for each in NUMBERS if each.type is int), low=0, high=20_000))
    qtbot.addWidget(field)
    field.set_value(12_500)
    assert field.box.text() == "12,500"
    without_end = make_field(replace(field.declaration, high=None))
    qtbot.addWidget(without_end)
    assert without_end.slider is None  # it would have no end


@pytest.mark.parametrize(("high", "step"), [(400, 1), (401, 10), (20_000, 10), (20_001, 100)])
def test_a_step_is_larger_where_the_range_is(qtbot: QtBot, high: int, step: int) -> None:
    whole = next(each for each in RANGED if each.type is int)
    field = make_field(replace(whole, low=0, high=high, default=0))
    qtbot.addWidget(field)
    assert isinstance(field, NumberSettingField)
    assert field.box.singleStep() == step


def test_scrolling_over_a_field_changes_nothing_until_it_has_the_keyboard(qtbot: QtBot) -> None:
    field = make_field(RANGED[0])
    qtbot.addWidget(field)
    assert isinstance(field, NumberSettingField)
    field.set_value(RANGED[0].low)
    field.show()
    told = heard(field)

    def scroll() -> None:
        for widget in (field.box, field.slider):
            centre = QPointF(widget.rect().center())
            QApplication.sendEvent(widget, QWheelEvent(
                centre, widget.mapToGlobal(centre), QPoint(), QPoint(0, 120), Qt.MouseButton.NoButton,
                Qt.KeyboardModifier.NoModifier, Qt.ScrollPhase.NoScrollPhase, False,
            ))  # fmt: skip

    scroll()
    assert told == []
    field.activateWindow()
    field.box.setFocus()
    qtbot.waitUntil(field.box.hasFocus)
    scroll()
    assert told


def test_enter_accepts_and_a_switch_says_what_it_is(qtbot: QtBot) -> None:
    by_kind: dict[type, Any] = {}
    for each in ALL:
        field = make_field(each)
        qtbot.addWidget(field)
        by_kind.setdefault(type(field), field)
        assert field.focus_target() is not field
    assert set(by_kind) == {SwitchField, NumberSettingField, ChoiceSettingField, LineSettingField, TextField}
    accepted: list[str] = []
    for kind, target, held in (
        (NumberSettingField, by_kind[NumberSettingField].box, Qt.KeyboardModifier.NoModifier),
        (LineSettingField, by_kind[LineSettingField].line, Qt.KeyboardModifier.NoModifier),
        (TextField, by_kind[TextField].text, Qt.KeyboardModifier.ControlModifier),
    ):
        by_kind[kind].accepted.connect(lambda kind=kind: accepted.append(kind.__name__))
        QTest.keyClick(target, Qt.Key.Key_Return, held)
    assert accepted == ["NumberSettingField", "LineSettingField", "TextField"]
    switch = by_kind[SwitchField]
    told = heard(switch)
    switch.set_value(True)
    assert (switch.box.text(), told) == ("on", [])
    switch.box.click()
    assert (switch.box.text(), told) == ("off", [False])


def test_a_value_that_is_none_of_the_choices_is_said(qtbot: QtBot) -> None:
    declaration = next(each for each in ALL if each.choices and each.type is str)
    field = make_field(declaration)
    qtbot.addWidget(field)
    assert isinstance(field, ChoiceSettingField)
    told = heard(field)
    field.set_value("nonsense")
    assert "“nonsense”, which is none of these" in field.odd.text()
    assert not any(button.isChecked() for button in field.buttons.values())
    value, button = next(iter(field.buttons.items()))
    button.click()
    assert told == [value]
    assert field.odd.isHidden()
    field.set_value(value)
    assert [one for one, each in field.buttons.items() if each.isChecked()] == [value]


@pytest.mark.parametrize(
    ("low", "high", "step"), [(0, 1, 0.05), (10, 12, 0.1), (0, 0.1, 0.01), (-1, 1, 0.1), (0, 100, 5)]
)
def test_a_step_of_a_fraction_is_a_twentieth_of_the_range(qtbot: QtBot, low: float, high: float, step: float) -> None:
    part = next(each for each in RANGED if each.type is float)
    field = make_field(replace(part, low=low, high=high, default=low))
    qtbot.addWidget(field)
    assert isinstance(field, NumberSettingField)
    assert field.box.singleStep() == pytest.approx(step)
    assert (field.box.minimum(), field.box.maximum()) == (low, high)


def test_a_slider_has_a_place_for_each_number_of_a_narrow_range(qtbot: QtBot) -> None:
    whole = next(each for each in RANGED if each.type is int)
    for high, places in ((400, 400), (401, 1000), (7, 7)):
        field = make_field(replace(whole, low=0, high=high, default=0))
        qtbot.addWidget(field)
        assert isinstance(field, NumberSettingField)
        assert (field.slider.maximum(), field.slider.pageStep()) == (places, max(1, places // 10))
        assert field.slider.accessibleName() == f"{whole.label}, slider"
    field = make_field(replace(whole, low=0, high=7, default=0))
    qtbot.addWidget(field)
    told = heard(field)
    for place in (3, 4):
        field.slider.setValue(place)
    assert told == [3, 4]


def test_a_field_is_called_as_its_setting_is(qtbot: QtBot) -> None:
    for declaration in ALL:
        field = make_field(declaration)
        qtbot.addWidget(field)
        if not declaration.choices:
            target = field.focus_target()
            assert (target.accessibleName(), target.accessibleDescription()) == (declaration.label, declaration.help)


@pytest.mark.parametrize("declaration", [each for each in ALL if each.least], ids=lambda each: each.name)
def test_the_least_value_stands_in_words_where_it_is_no_amount(qtbot: QtBot, declaration: Declaration) -> None:
    field = make_field(declaration)
    qtbot.addWidget(field)
    assert isinstance(field, NumberSettingField)
    assert declaration.low is not None
    told: list[object] = []
    field.moved.connect(told.append)
    for value in (declaration.low, declaration.low + 1):
        field.set_value(value)
        special = value == declaration.low
        assert (field.box.text() == declaration.least) is special
        assert field.unit.isHidden() is (special or not declaration.unit)
    field.box.selectAll()
    QTest.keyClicks(field.box, str(int(declaration.low)))
    QTest.keyClick(field.box, Qt.Key.Key_Return)
    assert (told[-1], field.box.text(), field.unit.isHidden()) == (declaration.low, declaration.least, True)


def test_a_choice_says_what_each_value_means(qtbot: QtBot) -> None:
    declaration = next(each for each in ALL if each.choices and each.type is str)
    field = make_field(declaration)
    qtbot.addWidget(field)
    assert isinstance(field, ChoiceSettingField)
    for value, text in declaration.choices.items():
        button = field.buttons[value]
        assert (button.text(), button.accessibleName()) == (str(value), f"{declaration.label}: {value}")
        assert button.accessibleDescription() == text
        (meaning,) = (each for each in field.findChildren(QLabel) if each.text() == text)
        mark = button.style().pixelMetric(QStyle.PixelMetric.PM_ExclusiveIndicatorWidth)
        assert meaning.indent() > mark  # it stands below the word, not below its mark
    first, *_others, last = field.buttons
    field.set_value(last)
    assert (field.focus_target(), field.odd.isHidden()) == (field.buttons[last], True)
    field.set_value("nonsense")
    assert field.focus_target() is field.buttons[first]
    field.set_value(1200)
    assert "“1,200”" in field.odd.text()


def test_what_is_shown_is_no_wish_and_the_cursor_stays(qtbot: QtBot) -> None:
    line = next(each for each in ALL if not each.choices and each.type is str and not each.long)
    text = next(each for each in ALL if each.long)
    for declaration in (line, text):
        field = make_field(declaration)
        qtbot.addWidget(field)
        told = heard(field)
        field.set_value("one two")
        assert told == []
        if isinstance(field, LineSettingField):
            field.line.setCursorPosition(3)
            field.set_value("one two")
            assert field.line.cursorPosition() == 3
            QTest.keyClicks(field.line, "x")
            assert told == ["onex two"]
        else:
            assert isinstance(field, TextField)
            QTest.keyClicks(field.text, "x")
            assert told == ["xone two"]
            high = field.text.fontMetrics().lineSpacing()
            assert (field.text.minimumHeight(), field.text.sizeHint().height()) == (3 * high + 14, 5 * high + 14)
            QTest.keyClick(field.text, Qt.Key.Key_Return)
            assert told[-1] == "x\none two"
