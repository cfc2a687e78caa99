"""What the reply that is looked at is given, and the walk over the recaps with its running total."""

from __future__ import annotations

from typing import Any, Final

from PySide6.QtWidgets import QLabel, QProgressBar

from lorestudio.systems.recap.overview import PromptAt
from lorestudio.trace.explain import explain
from lorestudio.trace.model import Trace
from lorestudio.ui.features.recap.pages import Page
from lorestudio.ui.shell.theme import Theme
from lorestudio.ui.shell.words import count, number, shorten, tr
from lorestudio.ui.widgets.record_table import RowColumn
from lorestudio.ui.widgets.text_field import SmallText

_PROMPT_STATES: Final = {
    "included": ("Fits", "check", "good", ""),
    "excluded": ("Left out", "slash", "text_muted", "text_muted"),
    "no_memory": ("No recap", "dash", "text_faint", "text_muted"),
    "over_limit": ("Does not fit", "cross", "error", "error"),
    "after_limit": ("Not tried", "dot", "text_faint", "text_muted"),
}


class PromptPage(Page):
    """Follows the reply that is looked at."""

    def __init__(self, theme: Theme) -> None:
        self._prompt: PromptAt | None = None
        columns = (
            RowColumn("#", lambda row: str(row.index), numeric=True),
            RowColumn("", lambda row: tr(_PROMPT_STATES[row.decision.value][0]), icon=_prompt_icon, tone=_tone),
            RowColumn("Total", self._total, numeric=True, tone=_tone),
            RowColumn("Recap", lambda row: shorten(row.recap, 160)),
        )
        super().__init__(
            theme, columns, lambda row: row.index, self._why, tr("Recaps that take part, newest message first"),
            (44, 108, 104),
        )  # fmt: skip
        self.empty.say(
            tr("No reply chosen"),
            tr("Choose a message in the chat to see what recap memory puts into the prompt of the reply."),
        )
        self.bar = QProgressBar(self)
        self.bar.setTextVisible(False)
        self.bar.setAccessibleName(tr("Tokens of the recaps that fit, against the limit"))
        self.why = QLabel(self)
        self.why.setProperty("kind", "small")
        self.why.setWordWrap(True)
        self.text = SmallText(self)
        self.text.setObjectName("Boxed")
        self.text.setReadOnly(True)
        self.text.setTabChangesFocus(True)
        self.text.setAccessibleName(tr("What goes into the prompt"))
        self.text.setPlaceholderText(tr("Nothing goes into the prompt: there is no running recap for this reply yet."))
        self.below.addWidget(self.bar)
        self.below.addWidget(self.why)
        self.below.addWidget(self.text, 1)
        self.view.chosen.connect(self._explain)
        self.show_prompt(None)

    def show_prompt(self, prompt: PromptAt | None) -> None:
        """Show what one reply is given."""
        self._prompt = prompt
        self.model.set_rows(prompt.rows if prompt is not None else ())
        self.text.setPlainText(prompt.text if prompt is not None else "")
        limit = prompt.limit if prompt is not None else None
        self.bar.setVisible(limit is not None)
        if prompt is None:
            self.say("")
            return
        if limit is not None:
            self.bar.setRange(0, max(int(limit), 1))
            self.bar.setValue(min(prompt.collected, max(int(limit), 1)))
        self.say(" ".join(_sentences(prompt)))
        self._explain(self.view.current)

    @property
    def _trace(self) -> Trace | None:
        return self._prompt.trace if self._prompt is not None else None

    def _total(self, row: Any) -> str:  # noqa: ANN401  # a `WalkRow`; models know no more
        if row.after is None:
            return ""
        limit = self._prompt.limit if self._prompt is not None else None
        return number(row.after) if limit is None else tr("{total} of {limit}", total=number(row.after),
                                                          limit=number(limit))  # fmt: skip

    def _explain(self, row: object) -> None:
        text = self._why(row) if row is not None else ""
        self.why.setText(text)
        self.why.setVisible(bool(text))

    def _why(self, row: Any) -> str:  # noqa: ANN401  # a `WalkRow`; models know no more
        trace = self._trace
        for name in ("inclusion walk", "exclusion tree"):
            record = trace.stage(name) if trace is not None else None
            for verdict in record.verdicts if record is not None else ():
                if verdict.entry == row.index and trace is not None:
                    said = explain(verdict, trace)
                    return " ".join(part for part in (f"#{row.index}:", said.sentence, said.fix) if part)
        return ""


def _sentences(prompt: PromptAt) -> list[str]:
    """The whole of it in words."""
    if prompt.version is None:
        told = [tr("Reply #{number} is given no running recap.", number=prompt.message)]
    else:
        told = [
            tr(
                "Reply #{number} is given version {version} of the running recap, {tokens}, {where}.",
                number=prompt.message, version=prompt.version, tokens=count(prompt.tokens, "token", "tokens"),
                where=prompt.where,
            )
        ]  # fmt: skip
    if prompt.hidden:
        told.append(tr("Messages before #{number} are hidden by scenes.", number=prompt.hidden))
    total = count(prompt.collected, "token", "tokens")
    if prompt.limit is None:
        told.append(tr("Recaps that take part: {total}; nobody knows the model's room, so there is no limit. It is set "
                       "at “Card, persona and prompt”.", total=total))  # fmt: skip
    else:
        told.append(
            tr("Recaps of messages are for reading: {total} of {limit} fit.", total=total, limit=number(prompt.limit))
        )
    return told


def _prompt_icon(row: Any) -> tuple[str, str]:  # noqa: ANN401  # a `WalkRow`; models know no more
    return _PROMPT_STATES[row.decision.value][1], _PROMPT_STATES[row.decision.value][2]


def _tone(row: Any) -> str:  # noqa: ANN401  # a `WalkRow`; models know no more
    return _PROMPT_STATES[row.decision.value][3]
