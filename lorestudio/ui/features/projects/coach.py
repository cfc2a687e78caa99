"""A minute on one note that was cut: why, what would bring it in, the change, before and after, and undo."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from msgspec import Struct
from PySide6.QtCore import Qt
from PySide6.QtGui import QKeyEvent

from lorestudio.domain.chat import Generation
from lorestudio.studio.project.project import DEMO_LOOK, is_demo
from lorestudio.ui.shell.feature import Context
from lorestudio.ui.shell.words import count, tr
from lorestudio.ui.widgets.layouts import button, column, label, named, row
from lorestudio.ui.widgets.pane import TonedBar

ENOUGH: Final = 1.3
"""So much larger the budget has to be for the note to fit."""


class CoachStep(Struct, frozen=True):
    """What is said, what the button says and does. With `reached`, the next step waits until that is so."""

    text: str
    button: str
    do: Callable[[], object]
    reached: Callable[[], bool] | None = None


class Coach(TonedBar):
    """A strip above the panes, none of which it covers; everything it does can be done without it, too."""

    def __init__(self, context: Context) -> None:
        super().__init__(context.theme, context.window, "accent")
        self._context = context
        self._place = 0
        self.count = label(self, kind="section", wrap=False)
        self.text = label(self)
        self.go = button(self, tr("Next"), self._do, kind="primary")
        self.skip = button(self, tr("Skip the rest"), self.end)
        words = column(self.count, self.text, spacing=2)
        self.setLayout(row((words, 1), self.skip, self.go, spacing=8, margins=(12, 6, 8, 6)))
        named(self, tr("A minute on one note"))
        context.session.traces_changed.connect(lambda _generations: self._look())
        context.session.project_changed.connect(self._leave)
        self.hide()

    def begin(self) -> None:
        """Begin with the first step; the demo is open."""
        self._place = 0
        self._choose()
        self._show()

    def end(self) -> None:
        """Leave the person to it, with the answers."""
        self.hide()
        self._context.show("trace")

    # ---- the steps --------------------------------------------------------------------------------------------------

    @property
    def steps(self) -> tuple[CoachStep, ...]:
        """What is said and done one after another, with the keys that are set now."""
        run, note = self._context.run, DEMO_LOOK[1]
        return (
            CoachStep(
                tr("“{note}” is what this reply is about, and yet it was left out of the prompt. Every note has its "
                   "answer on the right, in words.", note=note),
                tr("Why is it out?"), lambda: run("trace.why"),
            ),
            CoachStep(
                tr("The budget was spent before its turn came. What would bring it in? Single changes are tried with "
                   "the same engine, and only those that work are listed."),
                tr("Find out"), lambda: run("trace.why_not"),
            ),
            CoachStep(
                tr("Each of these was run. A larger token budget is the plainest: apply one of them, or have that one "
                   "applied."),
                tr("Raise the budget"), self._apply, self._is_in,
            ),
            CoachStep(
                tr("The chat was run again, and the note is in. Look at the run before and the run now beside each "
                   "other."),
                tr("Before and after"), lambda: run("compare.former"),
            ),
            CoachStep(
                tr("It was one step, and no file was written. {back}", back=self._context.takes_back), tr("Undo"),
                self._undo,
            ),
            CoachStep(
                tr("That is the whole of it: look, ask, change, compare, take back. It works the same with your own "
                   "notes. This minute is in the Help menu."),
                tr("Done"), self.end,
            ),
        )  # fmt: skip

    def _choose(self) -> None:
        """Look at the reply and the note that all of this is about."""
        session, selection = self._context.session, self._context.selection
        number, title = DEMO_LOOK
        selection.choose_message(number, session.generation_for(number))
        project = session.project
        for entry in project.index.entries if project is not None else ():
            if entry.title == title and selection.entry != entry.id:
                selection.choose_entry(entry.id)

    def _is_in(self) -> bool:
        generation: Generation | None = self._context.session.generation_for(DEMO_LOOK[0])
        trace = self._context.session.runs.trace(generation)
        return trace is not None and any(each.title == DEMO_LOOK[1] for each in trace.injections)

    def _apply(self) -> None:
        project = self._context.session.project
        if project is not None and not self._is_in():
            budget = round(project.settings.max_tokens_budget * ENOUGH, -2)
            settings = project.settings.model_copy(update={"max_tokens_budget": int(budget)})
            title = tr("token budget of {tokens}", tokens=count(int(budget), "token", "tokens"))
            self._context.session.parts.adjust(title, settings=settings)

    def _undo(self) -> None:
        """Take back what was applied, whichever of the two histories it is in."""
        adjusted = bool(self._context.session.parts.adjustments.undo_title)
        self._context.run("adjust.undo" if adjusted else "vault.undo")

    def _do(self) -> None:
        step = self.steps[self._place]
        if self._place < 2:
            self._choose()
        step.do()
        if step.reached is None and self.isVisible() and self._place + 1 < len(self.steps):
            self._place += 1
            self._show()
        elif step.reached is not None:
            self._look()

    def _look(self) -> None:
        """Go on as soon as the step has done what it is for, whoever did it."""
        step = self.steps[self._place]
        if self.isVisible() and step.reached is not None and step.reached():
            self._place += 1
            self._show()

    def _show(self) -> None:
        step, last = self.steps[self._place], len(self.steps) - 1
        self.count.setText(tr("A minute on one note · {place} of {all}", place=self._place + 1, all=last + 1))
        self.text.setText(step.text)
        self.go.setText(step.button)
        self.setAccessibleDescription(step.text)
        self.skip.setVisible(self._place < last)
        self.show()
        self.go.setFocus()

    def _leave(self) -> None:
        project = self._context.session.project
        if project is None or not is_demo(project):
            self.hide()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Qt: Escape skips the rest."""
        if event.key() == Qt.Key.Key_Escape:
            self.end()
        else:
            super().keyPressEvent(event)
