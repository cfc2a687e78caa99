"""The scores' pane alone: tables of scores, uses, gaps and steps, and the bars of the steps."""

from __future__ import annotations

import pytest
from pytestqt.qtbot import QtBot

from lorestudio.domain.chat import Generation
from lorestudio.studio.tuning.effects import Effects, StepEffect, TurnEffect
from lorestudio.ui.features.tuning.scores_pane import EffectRow, ScoresPane
from lorestudio.ui.shell.jobs import Jobs
from lorestudio.ui.shell.qt import ALIGNMENT, HORIZONTAL, V_RIGHT
from lorestudio.ui.shell.theme import Theme
from lorestudio.ui.state.drafts import LiveEffects


def turn(message: int, entered: tuple[str, ...] = (), left: tuple[str, ...] = (), tokens: int = 0) -> TurnEffect:
    return TurnEffect(Generation(message), entered, left, (10, 10 + tokens))


def step(name: str, *turns: TurnEffect) -> StepEffect:
    return StepEffect(name, name.title(), f"{name} of matching", 4, 5, ("4", "5"), Effects(turns, len(turns)))


@pytest.fixture
def pane(theme: Theme, qtbot: QtBot) -> ScoresPane:
    made = ScoresPane(theme, LiveEffects(Jobs(), lambda: None))
    qtbot.addWidget(made)
    made.resize(600, 400)
    return made


def cells(pane: ScoresPane) -> list[list[str]]:
    model = pane.steps.model
    return [[model.index(row, column).data() for column in range(6)] for row in range(model.rowCount())]


def test_steps_that_change_most_come_first_and_those_that_change_nothing_are_left_out(pane: ScoresPane) -> None:
    one, two = step("depth", turn(2, ("Bell",), tokens=5)), step("budget", turn(2, ("Bell",)), turn(4, (), ("Skarn",)))
    pane.show_steps([one, step("nothing", turn(2)), two], "2 of 3", running=True)
    assert cells(pane) == [
        ["Budget", "4 → 5", "2", "", "", "+0"], ["Depth", "4 → 5", "1", "", "", "+5"],
    ]  # fmt: skip
    assert pane.steps_words.text() == "2 of 3"
    assert (pane.try_button.isHidden(), pane.stop_button.isHidden()) == (True, False)
    (layer,) = pane.chart.bars.layers  # nothing is expected: the replies that change
    assert list(layer.values) == [2, 1]
    assert pane.chart.bars.words(1).startswith("depth of matching, 4 → 5: ")
    pane.chart.picked.emit(1)
    assert pane.steps.view.current is one
    pane.outdate_steps()
    assert (pane.steps.view.isEnabled(), pane.chart.isEnabled(), len(cells(pane))) == (False, False, 2)
    assert pane.steps_words.text().startswith("Of an earlier run.")
    pane.show_steps((), "")
    assert (pane.steps.view.isEnabled(), pane.chart.isHidden(), pane.chart.bars.layers) == (True, True, [])
    assert pane.steps_words.text().startswith("Tries each setting alone")
    assert (pane.try_button.isHidden(), pane.stop_button.isHidden()) == (False, True)


def test_numbers_stand_at_the_right(pane: ScoresPane) -> None:
    right = {}
    for sheet in (pane.scores, pane.uses, pane.gaps, pane.effects, pane.steps):
        model = sheet.model
        heads = range(model.columnCount())
        right[sheet.view.accessibleName()] = [
            model.headerData(at, HORIZONTAL) for at in heads if model.headerData(at, HORIZONTAL, ALIGNMENT) == V_RIGHT
        ]
    assert right == {
        "Scores": ["Value", "95 % interval"], "What replies used": ["Replies", "Used", "Idle tokens"],
        "Names without a note": ["Messages"], "What the change does": ["Tokens"],
        "Every setting by a step": ["Replies", "Won", "Lost", "Tokens"],
    }  # fmt: skip


def test_a_row_of_a_table_leads_there(pane: ScoresPane) -> None:
    told: list[object] = []
    pane.picked.connect(lambda message, entry: told.append((message, entry)))
    pane.effects.view.picked.emit(EffectRow(turn(4), True))
    assert told == [(Generation(4), None)]


def test_each_tab_has_its_table_and_nothing_says_why(pane: ScoresPane) -> None:
    tables = (pane.scores, pane.uses, pane.gaps, pane.effects, pane.steps)
    for place, sheet in enumerate(tables):
        pane.tabs.setCurrentIndex(place)
        assert pane.focus_target() is sheet.view
    assert pane.empty.title.text() == "No vault"
    assert pane.scored.currentWidget() is pane.empty
    pane.set_current(current=False)
    assert [sheet.view.isEnabled() for sheet in tables] == [False, False, False, False, True]
    assert pane.changed_words.text().startswith("Move a setting")
