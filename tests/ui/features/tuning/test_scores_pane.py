"""The scores' pane alone: tables of scores, uses, gaps and steps, and the bars of the steps."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from pytestqt.qtbot import QtBot

from lorestudio.domain.chat import Generation
from lorestudio.domain.records import replace
from lorestudio.studio.replay.runs import TraceBook
from lorestudio.studio.tuning.effects import Effects, StepEffect, TurnEffect
from lorestudio.studio.tuning.expectations import Expectation, Should
from lorestudio.studio.tuning.scoring import scored
from lorestudio.ui.features.tuning.scores_pane import EffectRow, ScoresPane, metric_rows
from lorestudio.ui.shell.jobs import Jobs
from lorestudio.ui.shell.qt import ALIGNMENT, HORIZONTAL, V_RIGHT
from lorestudio.ui.shell.theme import Theme
from lorestudio.ui.state.drafts import LiveEffects
from tests.ui.worlds import make_project, make_trace


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
    pane.tabs.setCurrentIndex(0)
    assert pane.focus_target() is pane.scores.view, "it has nothing to press"
    pane.show_nothing("No chat open", "Open one.", (("chat.open", "Open chat…"),))
    assert pane.focus_target() is pane.empty
    pane.set_current(current=False)
    assert [sheet.view.isEnabled() for sheet in tables] == [False, False, False, False, True]
    assert pane.changed_words.text().startswith("Move a setting")


def test_steps_that_win_come_before_those_that_lose_in_bars_of_two_colours(pane: ScoresPane, theme: Theme) -> None:
    bell = Expectation(Should.IN, ("Bell.md",))
    wins = StepEffect("a", "A", "a", 1, 2, ("1", "2"), Effects((replace(turn(2, ("Bell",)), won=(bell,)),), 1))
    loses = StepEffect("b", "B", "b", 1, 2, ("1", "2"), Effects((replace(turn(2, (), ("Bell",)), lost=(bell,)),), 1))
    pane.show_steps([step("plain", turn(2, ("Skarn",))), loses, wins], "done")
    assert [row[0] for row in cells(pane)] == ["A", "Plain", "B"]
    assert [row[3:5] for row in cells(pane)] == [["+1", ""], ["", ""], ["", "−1"]]
    won, lost = pane.chart.bars.layers
    assert (won.fill, list(won.values), lost.fill, list(lost.values)) == ("green", [1, 0, 0], "vermilion", [0, 0, 1])
    pane.show_steps([wins], "done")
    assert len(pane.chart.bars.layers) == 2
    pane.steps.view.choose(pane.steps.model.key_of(wins))
    assert pane.chart.chosen == 0


def test_an_effect_in_words(pane: ScoresPane) -> None:
    """As in the timeline; a column for those who leave, mostly empty, took the room of those who enter."""
    bell, skarn = (Expectation(Should.IN, (f"{name}.md",)) for name in ("Bell", "Skarn"))
    row = EffectRow(replace(turn(4, ("Bell",), ("Skarn",), tokens=-3), won=(bell,), lost=(skarn,)), True)
    pane.effects.model.set_rows([row])
    assert [pane.effects.model.index(0, column).data() for column in range(pane.effects.model.columnCount())] == [
        "#4", "−3", "+ Bell   − Skarn", "✓ Bell should be in; ✗ Skarn should be in",
    ]  # fmt: skip
    pane.effects.model.set_rows([replace(row, turn=turn(4, (), ("Skarn", "Bell")))])
    assert pane.effects.model.index(0, 2).data() == "− Skarn, Bell"


def test_scores_are_counted_in_the_heads_of_their_tabs(pane: ScoresPane) -> None:
    heads: list[str] = []
    pane.note_changed.connect(heads.append)
    gap = SimpleNamespace(name="Anchor", messages=(3, 5), near="")
    use = SimpleNamespace(entry=1, title="Bell", replies=2, used=0, idle=40, dead=True, constant=False)
    used = SimpleNamespace(entry=2, title="Rules", replies=2, used=0, idle=10, dead=True, constant=True)
    scores = scored(make_project(), (), [("DeepLore", TraceBook.of([make_trace(5)]))])[0].scores
    found: Any = SimpleNamespace(
        scores=scores, silver=scores, silver_by="", uses=(use, used), dead=(use,), gaps=(gap, gap, gap)
    )
    pane.show_scores(found, metric_rows(found))
    assert [pane.tabs.tabText(place) for place in range(5)] == [
        "Scores", "Use (1)", "Gaps (3)", "This change", "Every setting",
    ]  # fmt: skip
    assert heads == [""], "nothing is expected"
    assert pane.scored.currentWidget() is pane.scores
    model = pane.uses.model
    assert [[model.index(row, column).data() for column in range(5)] for row in range(2)] == [
        ["Bell", "2", "0", "40", "never used"], ["Rules", "2", "0", "10", "constant"],
    ]  # fmt: skip
    plain = len(pane.scores.model.rows)
    found.silver_by = "gpt-4"
    pane.show_scores(found, metric_rows(found))
    added = pane.scores.model.rows[plain:]
    assert all(row.title.endswith(" (selected by gpt-4)") for row in added)
    told: list[object] = []
    pane.picked.connect(lambda message, entry: told.append((message, entry)))
    pane.gaps.view.picked.emit(gap)
    pane.uses.view.picked.emit(use)
    assert told == [(3, None), (None, 1)]
    pane.show_nothing("Nothing", "Run it.")
    assert [len(sheet.model.rows) for sheet in (pane.scores, pane.uses, pane.gaps)] == [0, 0, 0]
    assert heads[-1] == ""
