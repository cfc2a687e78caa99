"""Expectations: what should be in the prompt, in how many replies it is, and what broke the rest."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct
from PySide6.QtWidgets import QWidget

from lorestudio.studio.tuning.checking import CheckedChat, CheckedExpectation
from lorestudio.ui.shell.theme import Theme
from lorestudio.ui.shell.words import count, number, tr
from lorestudio.ui.widgets.cells import Column
from lorestudio.ui.widgets.layouts import able, holding, label, row, split, story_label, tight, tool
from lorestudio.ui.widgets.pane import Pane
from lorestudio.ui.widgets.record_table import RecordTable, RecordView


class ExpectationRow(Struct, frozen=True):
    """An expectation that was checked, or a sentence on an item of the file that cannot be read."""

    place: int
    checked: CheckedExpectation | None
    problem: str = ""

    @property
    def sentence(self) -> str:
        """What is expected."""
        return self.checked.judged.called.sentence if self.checked is not None else tr("An item that cannot be read")

    @property
    def verdict(self) -> str:
        """What became of it."""
        return self.checked.verdict if self.checked is not None else tr("cannot be read")

    @property
    def sign(self) -> tuple[str, str]:
        """Its glyph and colour: met, broken, or nothing that could be judged."""
        if self.checked is None or self.checked.judged.problem:
            return "warning", "warning"
        if self.checked.breaks:
            return "cross", "error"
        return ("check", "good") if self.checked.replies else ("dash", "text_faint")

    @property
    def why(self) -> str:
        """The reason why it is not met, of the first reply in which it is not."""
        if self.checked is None or self.checked.judged.problem:
            return self.problem or (self.checked.judged.problem if self.checked is not None else "")
        return "".join(f"#{each.generation.message}: {each.why}" for each in self.checked.breaks[:1])

    @property
    def story(self) -> str:
        """All that is to be said of it, a line for each reply in which it is not met."""
        if self.checked is None or not self.checked.breaks:
            because = self.checked.expectation.because if self.checked is not None else ""
            return "\n".join(filter(None, (self.sentence, because, self.why)))
        return "\n".join(filter(None, (self.sentence, self.checked.expectation.because, *self.checked.lines)))


class ExpectationsPane(Pane):
    """A row for each expectation."""

    def __init__(self, theme: Theme) -> None:
        super().__init__("expectations", tr("Expectations"), theme)
        columns = (
            Column("Expected", lambda row: row.sentence, icon=lambda row: row.sign),
            Column("Result", lambda row: row.verdict, width=170),
        )
        self.model = RecordTable(
            columns, theme=theme, key=lambda row: row.place, tip=lambda row, _column: row.story, parent=self
        )
        self.view = RecordView(theme, self.model, tr("Expectations"), self)
        self.state = label(self, kind="small")
        tip = tr("Remove the chosen expectation from the file")
        self.remove = tool(self, "", lambda: self.wanted.emit("expect.remove"), text=tr("Remove"), tip=tip, kind="text")
        self.story = story_label(self)
        tip = tr("Say what is expected of the chosen entry")
        self.add = tool(self, tr("Add an expectation"), text=tr("Add"), tip=tip, kind="text")
        head = row((self.state, 1), self.add, self.remove, spacing=4, margins=(10, 4, 8, 4))
        whole = holding(tight(holding(tight(head)), (split(self.view, self.story), 1)))
        self.column.addWidget(self.or_empty("check", whole), 1)
        self.view.chosen.connect(self._explain)
        self.show_nothing(tr("No vault"), tr("Open the folder with your notes, and say what should be in the prompt."))

    def focus_target(self) -> QWidget:
        """The rows."""
        return self.view if self.model.rows else self.empty

    @property
    def current(self) -> ExpectationRow | None:
        """The row that is looked at."""
        found: ExpectationRow | None = self.view.current
        return found

    def show_nothing(self, title: str, text: str, buttons: tuple[tuple[str, str], ...] = ()) -> None:
        """There are no expectations, for this reason."""
        self.model.set_rows(())
        self.say_empty(title, text, buttons)
        self.state.setText("")
        self.note_changed.emit("")

    def show_checked(self, checked: CheckedChat, problems: Sequence[str], state: str = "") -> None:
        """Show what was checked, and what could not be read; `state` is said in place of the numbers."""
        rows = [ExpectationRow(place, each) for place, each in enumerate(checked.every)]
        rows += [ExpectationRow(len(rows) + place, None, problem) for place, problem in enumerate(problems)]
        self.model.set_rows(rows)
        failed = len(checked.failed) + len(problems)
        words = count(len(rows), "expectation", "expectations")
        done, note = tr("{all}: all met", all=words), "" if state else tr("all met")
        if failed:
            done = tr("{failed} of {all} not met", failed=number(failed), all=words)
            note = tr("{failed} not met", failed=number(failed))
        self.state.setText(state or done)
        self.note_changed.emit(note)
        self.pages.setCurrentIndex(0)
        if self.current is None and rows:
            self.view.choose(rows[0].place)

    def _explain(self, chosen: ExpectationRow | None) -> None:
        self.story.setText(chosen.story if chosen is not None else "")
        own = chosen is not None and chosen.checked is not None
        able(self.remove, own, tr("Choose an expectation of the file first."))
