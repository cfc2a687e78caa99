"""The bar that says how the chat is run: what its menus offer, what is ticked, and what a choice tells."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QActionGroup
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QToolButton, QWidget
from pytestqt.qtbot import QtBot

from lorestudio.settings.worldinfo import WorldInfoSettings
from lorestudio.studio.project.answering import AnswerKind, Profile, Source
from lorestudio.studio.project.settings import Mode
from lorestudio.systems.registry import KINDS, MAIN
from lorestudio.ui.features.chat.pane import ModeBar, RunLine
from lorestudio.ui.shell.theme import Theme
from lorestudio.ui.state.choices import RunChoice

HOME, WORK = (Profile(name, url="http://127.0.0.1:1/v1") for name in ("Home", "Work"))
OTHER = next(name for name in KINDS if name != MAIN.name)


def shown(qtbot: QtBot, theme: Theme, choice: RunChoice, *profiles: Profile) -> ModeBar:
    bar = ModeBar(theme)
    qtbot.addWidget(bar)
    bar.show_choice(choice, profiles)
    return bar


def ticked(button: QToolButton) -> list[str]:
    return [action.text() for action in button.menu().actions() if action.isChecked()]


def offered(button: QToolButton) -> list[str]:
    return [action.text() for action in button.menu().actions() if action.isCheckable()]


def test_each_menu_offers_all_there_is_and_ticks_what_is_chosen(qtbot: QtBot, theme: Theme) -> None:
    source = Source(AnswerKind.PROVIDER, "Work")
    bar = shown(qtbot, theme, RunChoice(mode=Mode.TWO_STAGE, source=source), HOME, WORK)
    assert len(offered(bar.system)) == len(KINDS)
    assert len(offered(bar.mode)) == len(Mode)
    at_once = QToolButton.ToolButtonPopupMode.InstantPopup
    assert [button.popupMode() for button in (bar.system, bar.mode, bar.source)] == [at_once] * 3
    assert [len(ticked(button)) for button in (bar.system, bar.mode, bar.source)] == [1, 1, 1]
    assert (ticked(bar.mode)[0], ticked(bar.source)[0]) == (bar.mode.text(), bar.source.text())
    assert sum("Home" in text or "Work" in text for text in offered(bar.source)) == 2
    assert "no such profile" not in bar.source.toolTip()
    bar.show_choice(RunChoice(source=source), [HOME])  # a profile that was deleted is still what is chosen
    assert "Work" in ticked(bar.source)[0]
    assert "no such profile" in bar.source.toolTip()
    assert len(offered(bar.source)) == len(bar.source.findChild(QActionGroup).actions()) == 5


def test_another_source_takes_the_tick_over(qtbot: QtBot, theme: Theme) -> None:
    bar = shown(qtbot, theme, RunChoice(), HOME)
    bar.show_choice(RunChoice(), [HOME])
    for action in bar.source.menu().actions():
        if action.isCheckable():
            action.trigger()
            assert ticked(bar.source) == [action.text()]


def test_icons_say_whether_a_model_is_asked_and_who_answers(qtbot: QtBot, theme: Theme) -> None:
    bar = shown(qtbot, theme, RunChoice())

    def icon(button: QToolButton) -> object:
        return button.icon().pixmap(16, 16).toImage()

    for mode, name in ((Mode.KEYWORDS, "search"), (Mode.TWO_STAGE, "ai")):
        bar.show_choice(RunChoice(mode=mode), ())
        assert icon(bar.mode) == theme.icon(name).pixmap(16, 16).toImage()
    for kind, name in ((AnswerKind.STAND_IN, "dash"), (AnswerKind.TYPED, "pencil"), (AnswerKind.PROVIDER, "server")):
        bar.show_choice(RunChoice(source=Source(kind, "Home" if kind is AnswerKind.PROVIDER else "")), ())
        assert icon(bar.source) == theme.icon(name).pixmap(16, 16).toImage()
    assert icon(bar.switches) == theme.icon("switches", "text_muted").pixmap(16, 16).toImage()
    bar.show_choice(RunChoice(fixed=frozenset({"fill_count"})), ())
    assert icon(bar.switches) == theme.icon("switches", "accent").pixmap(16, 16).toImage()


def test_a_choice_tells_what_was_chosen(qtbot: QtBot, theme: Theme) -> None:
    bar = shown(qtbot, theme, RunChoice(), HOME)
    told: list[object] = []
    for signal in (bar.system_chosen, bar.mode_chosen, bar.source_chosen, bar.wanted):
        signal.connect(told.append)
    for button in (bar.system, bar.mode, bar.source):
        for action in button.menu().actions():
            if not action.isSeparator():
                action.trigger()
    assert told == [
        *KINDS, "system.settings", "worldinfo.books", "systems.compare", *Mode,
        Source(AnswerKind.STAND_IN), Source(AnswerKind.RECORDED), Source(AnswerKind.PROVIDER, "Home"),
        Source(AnswerKind.TYPED), "profiles.edit", "replay.fresh",
    ]  # fmt: skip


def test_another_system_has_its_settings_in_place_of_deeplores_switches(qtbot: QtBot, theme: Theme) -> None:
    for choice, door in ((RunChoice(), "behaviour.edit"), (RunChoice(system=OTHER), "system.settings")):
        bar = shown(qtbot, theme, choice)
        assert [button.isHidden() for button in (bar.mode, bar.source)] == [not choice.is_main] * 2
        with qtbot.waitSignal(bar.wanted) as told:
            QTest.mouseClick(bar.switches, Qt.MouseButton.LeftButton)
        assert told.args == [door]


def test_words_give_way_to_icons_from_the_right_where_room_ends(qtbot: QtBot, theme: Theme) -> None:
    bar = shown(qtbot, theme, RunChoice())
    bar.show()
    buttons, icon = (bar.system, bar.mode, bar.source), Qt.ToolButtonStyle.ToolButtonIconOnly
    kept = []
    for width in (900, 400, 330, 190):
        bar.resize(width, bar.height())
        alone = [button.toolButtonStyle() is icon for button in buttons]
        assert alone == sorted(alone)  # the last one gives way first
        kept.append(alone.count(False))
        assert bar.mode.toolTip()
    assert kept == sorted(kept, reverse=True)
    assert (kept[0], kept[-1]) == (3, 0)


def test_names_and_tips_say_what_is_chosen(qtbot: QtBot, theme: Theme) -> None:
    bar = shown(qtbot, theme, RunChoice(mode=Mode.TWO_STAGE, source=Source(AnswerKind.STAND_IN)))
    assert bar.mode.accessibleName() == f"Mode: {bar.mode.text()}"
    assert bar.source.accessibleName().startswith("Answers: ")
    assert "Nobody is asked" not in bar.source.toolTip()
    assert (bar.switches.text(), bar.switches.accessibleName()) == ("", "Behaviour switches: all as DeepLore")
    bar.show_choice(RunChoice(mode=Mode.KEYWORDS, fixed=frozenset({"fill_count", "other"})), ())
    assert "Nobody is asked in keywords-only mode." in bar.source.toolTip()
    assert (bar.switches.text(), bar.switches.toolTip()) == ("2", "Behaviour switches: 2 switches fixed")
    bar.show_choice(RunChoice(system="world-info", settings=WorldInfoSettings(depth=1)), ())
    assert (bar.switches.text(), bar.switches.accessibleName()[:12]) == ("Settings (1 changed)", "Settings of ")
    bar.show_choice(RunChoice(system="world-info"), ())
    assert bar.switches.text() == "Settings"


def test_the_line_says_how_the_chat_is_run_and_what_a_press_does(qtbot: QtBot, theme: Theme) -> None:
    holder = QWidget()
    qtbot.addWidget(holder)
    line = RunLine(theme, holder)
    holder.show()
    line.resize(900, 24)
    line.say(RunChoice(mode=Mode.TWO_STAGE, source=Source(AnswerKind.PROVIDER, "Home"), fixed=frozenset({"a"})), 1)
    parts = line.text().split(" · ")
    assert parts[2:] == ["1 set here", "Home", "1 switch fixed"]
    assert line.accessibleName() == f"How the chat is run: {line.text()}"
    assert line.toolTip().endswith("\nShow the controls for that")
    line.click()
    assert line.toolTip().endswith("\nFold the controls for that")
    line.say(RunChoice(source=Source(AnswerKind.TYPED)), 0)
    assert line.text().split(" · ")[2:] == ["typed"]
    line.say(RunChoice(fixed=("a",), system=OTHER), 0)
    assert " · " not in line.text()
    icon = line.icon().pixmap(16, 16).toImage()
    assert icon == theme.icon("chevron-down").pixmap(16, 16).toImage()
    line.click()
    assert line.icon().pixmap(16, 16).toImage() == theme.icon("chevron-right").pixmap(16, 16).toImage()
    line.resize(60, 24)
    assert line.text().count(" · ") == 0
    line.resize(900, 24)
    line.say(RunChoice(source=Source(AnswerKind.STAND_IN)), 8)
    whole = line.text()
    while line.text() == whole:
        line.resize(line.width() - 1, 24)
    assert line.text().endswith(" · 8 set here"), "who answers gives way to it in a narrow pane"
