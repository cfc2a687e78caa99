"""Scores of the whole chat, what replies used and what they lack, what a change does, and every setting by a step."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import Any, Final

import numpy as np
from msgspec import Struct
from PySide6.QtCore import Signal
from PySide6.QtWidgets import QTabWidget, QWidget

from lorestudio.studio.tuning.effects import Effects, StepEffect, TurnEffect, moving_steps
from lorestudio.studio.tuning.scores import METRICS, Scores
from lorestudio.studio.tuning.scoring import ScoredChat, value_words
from lorestudio.trace.wording import signed_words
from lorestudio.ui.shell.theme import Theme
from lorestudio.ui.shell.words import number, tr
from lorestudio.ui.state.drafts import LiveEffects
from lorestudio.ui.widgets.cells import FIT, Column, titled
from lorestudio.ui.widgets.chart import BarChart, Bars, Layer
from lorestudio.ui.widgets.layouts import able, button, holding, label, named, row, split, stack, tight
from lorestudio.ui.widgets.pane import EmptyState, Pane
from lorestudio.ui.widgets.record_table import LateTable, RecordTable

OF_LABELS: Final = ("precision", "recall", "f1")


class MetricRow(Struct, frozen=True):
    """A metric of a run in words."""

    name: str
    title: str
    value: str
    interval: str


def metric_rows(found: ScoredChat, seed: int = 0) -> list[MetricRow]:
    """The metrics that there are, those against a model's selections last. `seed` is that of the intervals."""
    rows = [_metric_row(found.scores, name, "", seed) for name in METRICS]
    if found.silver_by:
        by = tr("selected by {who}", who=found.silver_by)
        rows += [_metric_row(found.silver, name, f" ({by})", seed) for name in OF_LABELS]
    return [each for each in rows if each.value]


def _metric_row(scores: Scores, name: str, against: str, seed: int) -> MetricRow:
    metric, value, interval = METRICS[name], scores.value(name), scores.interval(name, seed)
    ends = [value_words(each, metric.unit) for each in (interval.low, interval.high)] if interval is not None else []
    shown = value_words(value, metric.unit) if value is not None else ""
    return MetricRow(name + against, tr(metric.title) + against, shown, tr(" to ").join(ends))


class ScoresPane(Pane):
    """`picked` carries a message or an entry to look at, either may be None."""

    picked = Signal(object, object)

    def __init__(self, theme: Theme, whole: LiveEffects, parent: QWidget | None = None) -> None:
        super().__init__("scores", tr("Scores"), theme, parent)
        self._whole = whole
        self.scores = self._sheet(tr("Scores"), _SCORES, attrgetter("name"))
        self.uses = self._sheet(tr("What replies used"), _USES, attrgetter("entry"))
        self.gaps = self._sheet(tr("Names without a note"), _GAPS, attrgetter("name"))
        self.effects = self._sheet(tr("What the change does"), _EFFECTS, attrgetter("generation"))
        self.steps = self._sheet(tr("Every setting by a step"), _STEPS, lambda each: (_setting(each), each.after))
        self.chart = BarChart(theme, tr("Expectations won and lost by every step"), self)
        self.chart.setMinimumHeight(90)
        self.empty, self.no_gaps = EmptyState(theme, "number", self), EmptyState(theme, "check", self)
        self.no_gaps.say(tr("No gaps"), tr("Names that are said often and lead to no entry stand here."))
        self._build()
        self._connect()
        self.show_nothing(tr("No vault"), tr("Open the folder with your notes and a chat."))
        self.show_effects()
        self.show_steps((), "")

    def _sheet(self, name: str, columns: Sequence[Column], key: Callable[[Any], object]) -> LateTable:
        told = titled("none")
        model = RecordTable(columns, theme=self.theme, key=key, spoken=told, tip=told, parent=self)
        return LateTable(self.theme, model, name, self)

    def _build(self) -> None:
        self.changed_words, self.steps_words = label(self), label(self, kind="small")
        self.changed_words.setContentsMargins(10, 6, 10, 4)
        self.try_button = button(self, tr("Try every setting"), lambda: self.wanted.emit("scores.steps"))
        self.stop_button = button(self, tr("Stop"), lambda: self.wanted.emit("scores.stop"))
        head = holding(row((self.steps_words, 1), self.try_button, self.stop_button, spacing=6, margins=(10, 4, 8, 4)))
        self.tabs = named(QTabWidget(self, documentMode=True), tr("Views of the scores"))
        self.scored = self.turning(self.scores, self.empty)
        self.tabs.addTab(self.scored, tr("Scores"))
        self.tabs.addTab(self.uses, tr("Use"))
        self.gaps_or_none = stack(self.gaps, self.no_gaps)
        self.tabs.addTab(self.gaps_or_none, tr("Gaps"))
        self.back_button = button(self, tr("Try no more"), lambda: self.wanted.emit("scores.back"), kind="small")
        told = row((self.changed_words, 1), self.back_button, spacing=6, margins=(0, 0, 8, 0))
        self.change_page = holding(tight(told, (self.effects, 1)))
        self.tabs.addTab(self.change_page, tr("This change"))
        self.steps_page = holding(tight(head, (split(self.chart, self.steps, sizes=(110, 160), stretch=1), 1)))
        self.tabs.addTab(self.steps_page, tr("Every setting"))
        self.column.addWidget(self.tabs, 1)

    def _connect(self) -> None:
        self.uses.picked.connect(lambda use: self.picked.emit(None, use.entry))
        self.gaps.picked.connect(lambda gap: self.picked.emit(gap.messages[0], None))
        self.effects.picked.connect(lambda turn: self.picked.emit(turn.generation, None))
        steps = self.steps
        self.chart.picked.connect(lambda place: steps.view.choose(steps.model.key_of(steps.model.row(place))))
        steps.chosen.connect(lambda each: self.chart.choose(steps.model.rows.index(each) if each else -1))
        self._whole.changed.connect(self.show_effects)
        self.empty.pressed.connect(self.wanted)

    def focus_target(self) -> QWidget:
        """The table in front, or the button that would fill it."""
        if self.tabs.currentIndex() == 0 and self.scored.currentWidget() is self.empty and self.empty.focusProxy():
            return self.empty
        return (self.scores, self.uses, self.gaps, self.effects, self.steps)[self.tabs.currentIndex()].view

    # ---- what is shown ----------------------------------------------------------------------------------------------

    def show_nothing(self, title: str, text: str, buttons: tuple[tuple[str, str], ...] = ()) -> None:
        """There are no scores, for this reason."""
        self.empty.say(title, text, buttons)
        for sheet in (self.scores, self.uses, self.gaps):
            sheet.model.set_rows(())
        self.gaps_or_none.setCurrentWidget(self.gaps)
        self.note_changed.emit("")
        self.scored.setCurrentWidget(self.empty)

    def show_scores(self, found: ScoredChat, rows: Sequence[MetricRow]) -> None:
        """Show the scores of the chat as it was run; `rows` are its `metric_rows`, which take their time."""
        self.scores.model.set_rows(rows)
        self.uses.model.set_rows(found.uses)
        self.gaps.model.set_rows(found.gaps)
        self.gaps_or_none.setCurrentWidget(self.gaps if found.gaps else self.no_gaps)
        self.tabs.setTabText(1, _counted(tr("Use"), len(found.dead)))
        self.tabs.setTabText(2, _counted(tr("Gaps"), len(found.gaps)))
        met = found.scores.value("met")
        self.note_changed.emit(tr("{share} met", share=value_words(met, "")) if met is not None else "")
        self.set_current(current=True)  # first, as what is grey takes no keyboard
        self.scored.setCurrentWidget(self.scores)

    def set_current(self, *, current: bool) -> None:
        """Grey the scores where they are those of a run that is not the newest."""
        for sheet in (self.scores, self.uses, self.gaps):
            able(sheet, current, tr("Of an earlier run, until all replies are run again."))

    def show_effects(self) -> None:
        """Show what is tried out and what it does, greyed until it is known of what is tried out now."""
        whole = self._whole
        found = whole.effects if whole.effects is not None else Effects()
        nothing = tr(
            "Move a setting or the budget, edit a note, or try a pin: here stands what that does to every reply."
        )
        self.changed_words.setText(whole.words or nothing)
        self.back_button.setVisible(whole.aside)
        first = {turn.generation for turn in found.worth_a_look} if found.complete else set()
        self.effects.model.set_rows([EffectRow(turn, turn.generation in first) for turn in found.changed])
        able(self.effects, whole.current, tr("Of what was tried before, until it is known of what is tried now."))

    def show_steps(self, steps: Sequence[StepEffect], words: str, *, running: bool = False) -> None:
        """Show what the steps do that change something, those that win most first."""
        moving = moving_steps(steps)
        self.steps.model.set_rows(moving)
        judged = any(each.effects.won or each.effects.lost for each in moving)
        self.chart.set_bars(_bars(moving, judged=judged))
        self.chart.setVisible(bool(moving))
        nothing = tr("Tries each setting alone, a step to either side, and says what that does to every reply.")
        self.steps_words.setText(words or nothing)
        self._able_steps(current=True)
        self.try_button.setVisible(not running)
        self.stop_button.setVisible(running)

    def outdate_steps(self) -> None:
        """The steps are of another run than that of now: greyed, until they are tried again."""
        self.show_steps(self.steps.model.rows, tr("Of an earlier run. Try again to see them now."))
        self._able_steps(current=False)

    def _able_steps(self, *, current: bool) -> None:
        for part in (self.steps, self.chart):
            able(part, current, self.steps_words.text())


class EffectRow(Struct, frozen=True):
    """A reply that a change changes; `first` is one to look at first."""

    turn: TurnEffect
    first: bool

    @property
    def generation(self) -> object:
        """The reply."""
        return self.turn.generation

    @property
    def expected(self) -> str:
        """The expectations that hold now, and those that hold no more."""
        won = [f"✓ {each.sentence}" for each in self.turn.won]
        return "; ".join([*won, *(f"✗ {each.sentence}" for each in self.turn.lost)])


def _bars(steps: Sequence[StepEffect], *, judged: bool) -> Bars:
    """Expectations won and lost by each step; without any, the replies that it changes."""

    def values(of: Callable[[Effects], int]) -> np.ndarray[Any, np.dtype[np.float64]]:
        return np.array([of(each.effects) for each in steps], dtype=np.float64)

    layers = [Layer("blue", values(lambda found: len(found.changed)))]
    if judged:
        won, lost = values(lambda found: found.won), values(lambda found: found.lost)
        layers = [Layer("green", won), Layer("vermilion", lost, beyond=True)]
    return Bars(
        layers if steps else [],
        label=lambda _place: "",  # the table below is in the same order
        words=lambda place: f"{_setting(steps[place])}, {_step(steps[place])}: {steps[place].effects.brief}",
    )


def _counted(title: str, amount: int) -> str:
    return f"{title} ({number(amount)})" if amount else title


def _changes(each: EffectRow) -> str:
    """Who enters and who leaves, as in the table of turns."""
    groups = (("+", each.turn.entered), ("\N{MINUS SIGN}", each.turn.left))
    return "   ".join(f"{sign} {', '.join(titles)}" for sign, titles in groups if titles)


def _setting(each: StepEffect) -> str:
    return tr(each.label)


def _step(each: StepEffect) -> str:
    return " → ".join(each.words)


_SCORES: Final = (
    Column("Score", lambda each: each.title),
    Column("Value", lambda each: each.value, width=FIT, numeric=True),
    Column("95 % interval", lambda each: each.interval, width=FIT, numeric=True),
)
_USES: Final = (
    Column(
        "Entry",
        lambda use: use.title,
        icon=lambda use: ("warning", "warning") if use.dead and not use.constant else None,
    ),
    Column("Replies", lambda use: number(use.replies), width=FIT, numeric=True, sort=attrgetter("replies")),
    Column("Used", lambda use: number(use.used), width=FIT, numeric=True, sort=attrgetter("used"),
           help="Replies that say its name, a key, or two of its rare words"),
    Column("Idle tokens", lambda use: number(use.idle), width=FIT, numeric=True, sort=attrgetter("idle"),
           help="Tokens in replies that did not use it"),
    Column("", lambda use: tr("constant") if use.constant else tr("never used") if use.dead else "", width=FIT),
)  # fmt: skip
_GAPS: Final = (
    Column("Name", lambda gap: gap.name),
    Column("Messages", lambda gap: number(len(gap.messages)), width=FIT, numeric=True,
           sort=lambda gap: len(gap.messages)),
    Column("A note called so, without the key", lambda gap: gap.near, width=200),
)  # fmt: skip
_EFFECTS: Final = (
    Column("Reply", lambda each: f"#{each.turn.generation.message}", width=64,
           icon=lambda each: ("star", "accent") if each.first else None, help="A star: look there first"),
    Column("Tokens", lambda each: signed_words(each.turn.tokens[1] - each.turn.tokens[0]), width=FIT, numeric=True,
           sort=lambda each: each.turn.tokens[1] - each.turn.tokens[0]),
    Column("What changes", _changes),
    Column("Expected", lambda each: each.expected, width=150,
           tone=lambda each: "error" if each.turn.lost else "good"),
)  # fmt: skip
_STEPS: Final = (
    Column("Setting", lambda each: tr(each.title), tip=_setting),
    Column("Step", _step, width=132),
    Column("Replies", lambda each: number(len(each.effects.changed)), width=58, numeric=True,
           sort=lambda each: len(each.effects.changed), help="Replies that it changes"),
    Column("Won", lambda each: f"+{each.effects.won}" if each.effects.won else "", width=46, numeric=True,
           sort=lambda each: each.effects.won, help="Expectations that hold now and did not"),
    Column("Lost", lambda each: f"−{each.effects.lost}" if each.effects.lost else "", width=46, numeric=True,
           sort=lambda each: each.effects.lost, help="Expectations that hold no more"),
    Column("Tokens", lambda each: signed_words(round(each.effects.tokens)), width=60, numeric=True,
           sort=lambda each: each.effects.tokens, help="Tokens more a reply"),
)  # fmt: skip
