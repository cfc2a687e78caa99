"""The messages with their recaps: what became of each, and its text to write.

What every page of the pane is: rows above, and below what there is to say about the chosen one.

The versions of the running recap: which one goes into the prompt, and its text.

What the reply that is looked at is given, and the walk over the recaps with its running total.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import (
    QCheckBox,
    QHBoxLayout,
    QLabel,
    QProgressBar,
    QPushButton,
    QSplitter,
    QVBoxLayout,
    QWidget,
)

from lorestudio.systems.recap.overview import MessageRow, PromptAt, RecapPicture, RecapState
from lorestudio.trace.explain import explain
from lorestudio.trace.model import Trace
from lorestudio.ui.shell.theme import Theme
from lorestudio.ui.shell.words import count, number, shorten, tr
from lorestudio.ui.widgets.cells import Column
from lorestudio.ui.widgets.pane import EmptyState
from lorestudio.ui.widgets.record_table import RecordTable, RecordView
from lorestudio.ui.widgets.work_pane import RecapText, SmallText


class Page(QWidget):
    """`view` is the table, `below` the column under it. Without rows, `empty` stands in the table's place."""

    def __init__(
        self,
        theme: Theme,
        columns: Sequence[Column],
        key: Callable[[Any], object],
        tip: Callable[[Any], str],
        name: str,
    ) -> None:
        super().__init__()
        self.setAccessibleName(name)
        self.theme = theme
        self._path: Path | None = None
        self._divided = False
        self.model = RecordTable(columns, theme=theme, key=key, tip=lambda row, _column: tip(row), parent=self)
        self.view = RecordView(theme, self.model, name, self)
        self.empty = EmptyState(theme, "list", self)
        self.words = QLabel(self)
        self.words.setProperty("kind", "small")
        self.words.setWordWrap(True)
        self.words.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.detail = QWidget(self)
        self.below = QVBoxLayout(self.detail)
        self.below.setContentsMargins(8, 4, 8, 6)
        self.below.setSpacing(4)
        self.below.addWidget(self.words)
        upper = QWidget(self)
        stack = QVBoxLayout(upper)
        stack.setContentsMargins(0, 0, 0, 0)
        stack.addWidget(self.view)
        stack.addWidget(self.empty)
        self.splitter = QSplitter(Qt.Orientation.Vertical, self)
        self.splitter.addWidget(upper)
        self.splitter.addWidget(self.detail)
        self.splitter.setStretchFactor(0, 1)
        self.splitter.setStretchFactor(1, 0)
        self.splitter.setChildrenCollapsible(False)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self.splitter)
        self.model.changed.connect(self._show_rows)
        self._show_rows()

    def say(self, text: str) -> None:
        """What there is to say about the chosen row, or about all of them."""
        self.words.setText(text)
        self.words.setVisible(bool(text))

    def forget_others(self, picture: RecapPicture | None, text: RecapText) -> None:
        """Give up what was written about another chat."""
        path = picture.path if picture is not None else None
        if path != self._path:
            self._path = path
            text.forget()

    def add_row(self, *widgets: QWidget) -> None:
        """Put these beside each other at the bottom."""
        row = QHBoxLayout()
        row.setSpacing(6)
        for widget in widgets:
            row.addWidget(widget)
        row.addStretch(1)
        self.below.addLayout(row)

    def small_button(self, text: str, tip: str) -> QPushButton:
        """A small button of this page."""
        button = QPushButton(text, self)
        button.setProperty("kind", "small")
        button.setToolTip(tip)
        return button

    def showEvent(self, event: QShowEvent) -> None:
        """Qt: rows and what is said about one share the room."""
        super().showEvent(event)
        if not self._divided:
            self._divided = True
            self.splitter.setSizes([self.height() // 2, self.height() // 2])

    def _show_rows(self) -> None:
        there = bool(self.model.rows)
        self.view.setVisible(there)
        self.empty.setVisible(not there)
        self.detail.setVisible(there)


_STATES: Final = {
    RecapState.NONE: ("No recap", "dash", "text_faint", ""),
    RecapState.INCLUDED: ("Recap", "check", "good", ""),
    RecapState.KEPT: ("Recap, left out", "check", "warning", "text_muted"),
    RecapState.EXCLUDED: ("Excluded", "slash", "text_muted", "text_muted"),
    RecapState.FAILED: ("Failed", "error", "error", "error"),
}
"""Words, glyph, its colour, and the colour of the words ("" for that of all text)."""


class MessagePage(Page):
    """`written` carries a position and a text, `excluded` and `pinned` a position and whether it is wanted.

    `wanted` carries the position of a message whose recap is to be made.
    """

    written = Signal(int, str)
    excluded = Signal(int, bool)
    pinned = Signal(int, bool)
    wanted = Signal(int)

    def __init__(self, theme: Theme) -> None:
        columns = (
            Column("#", lambda row: str(row.index), numeric=True, width=44),
            Column("Recap", self._state, icon=_icon, tone=lambda row: _STATES[row.state][3], width=112),
            Column("Also", self._also, width=92),
            Column("Message", lambda row: shorten(f"{row.speaker}: {row.text}", 160)),
        )
        self._picture: RecapPicture | None = None
        super().__init__(theme, columns, lambda row: row.index, self._tip, tr("Messages and their recaps"))
        self.text = RecapText(tr("Recap of the message"), self)
        self.exclude = QCheckBox(tr("Leave its recap out"), self)
        self.exclude.setToolTip(tr("Its recap stays in the file, and takes no part"))
        self.pin = QCheckBox(tr("Keep it hidden"), self)
        self.pin.setToolTip(tr("Hidden from the prompt, whatever hiding by scenes does"))
        self.below.addWidget(self.text, 1)
        self.text.left.connect(self.view.setFocus)
        self.again = self.small_button(tr("Make its recap"), tr("Ask for the recap of this message, also again"))
        self.add_row(self.exclude, self.pin, self.again)
        self.again.clicked.connect(lambda: self._with_row(lambda row: self.wanted.emit(row.index)))
        self.text.written.connect(lambda key, text: self.written.emit(int(key), text))
        self.exclude.clicked.connect(lambda on: self._with_row(lambda row: self.excluded.emit(row.index, on)))
        self.pin.clicked.connect(lambda on: self._with_row(lambda row: self.pinned.emit(row.index, on)))
        self.view.chosen.connect(self._show)
        self._show(None)

    def show_picture(self, picture: RecapPicture | None) -> None:
        """Show the messages of a chat."""
        self._picture = picture
        self.forget_others(picture, self.text)
        self.model.set_rows(picture.messages if picture is not None else ())

    def _with_row(self, do: Callable[[MessageRow], object]) -> None:
        row = self.view.current
        if isinstance(row, MessageRow):
            do(row)

    def _show(self, row: object) -> None:
        there = row if isinstance(row, MessageRow) else None
        for widget in (self.exclude, self.pin, self.again):
            widget.setEnabled(there is not None)
        self.exclude.setChecked(there is not None and there.state is RecapState.EXCLUDED)
        self.pin.setChecked(there is not None and there.pinned)
        if there is None:
            self.say(tr("Choose a message to read its recap, and to write it."))
            self.text.show_text(None, "", editable=False)
            return
        self.say(" ".join(self._sentences(there)))
        placeholder = tr("No recap yet. Write one, or have it made.")
        self.text.show_text(there.index, there.recap, editable=True, placeholder=placeholder)

    def _sentences(self, row: MessageRow) -> list[str]:
        """All that there is to say about a message."""
        told = [tr("#{number}, {name}.", number=row.index, name=row.speaker or tr("nobody"))]
        picture = self._picture
        if row.error:
            told.append(tr("The last attempt failed: {error}", error=row.error))
        if picture is not None and picture.trace is not None and row.index in picture.verdicts:
            why = explain(picture.verdicts[row.index], picture.trace)
            told += [part for part in (why.sentence, why.fix) if part]
        if row.stale:
            told.append(tr("The message was changed after its recap was made."))
        if row.edited:
            told.append(tr("The recap was written by hand."))
        if picture is not None and row.index in picture.in_running:
            told.append(tr("Its scene is part of the running recap."))
        if row.hidden:
            told.append(tr("It is hidden from the prompt."))
        return told

    def _state(self, row: MessageRow) -> str:
        return tr(_STATES[row.state][0])

    def _also(self, row: MessageRow) -> str:
        told = []
        if row.stale:
            told.append(tr("changed since"))
        if self._picture is not None and row.index in self._picture.in_running:
            told.append(tr("in running"))
        if row.hidden:
            told.append(tr("kept hidden") if row.pinned else tr("hidden"))
        if row.ends_scene:
            told.append(tr("ends scene"))
        if row.edited:
            told.append(tr("by hand"))
        return ", ".join(told)

    def _tip(self, row: MessageRow) -> str:
        return shorten(row.recap or row.text, 400)


def _icon(row: MessageRow) -> tuple[str, str]:
    return _STATES[row.state][1], _STATES[row.state][2]


class RunningPage(Page):
    """`written` carries a text for a new version, `used` and `deleted` a version's number."""

    written = Signal(str)
    used = Signal(int)
    deleted = Signal(int)

    def __init__(self, theme: Theme) -> None:
        self._current = -1
        columns = (
            Column("Version", lambda row: str(row.number), numeric=True, width=56),
            Column("", self._state, icon=self._icon, width=96),
            Column("Up to", lambda row: tr("#{number}", number=row.reaches), numeric=True, width=52),
            Column("Made", lambda row: _when(row.timestamp), width=112),
            Column("Text", lambda row: shorten(row.content, 160)),
        )
        super().__init__(
            theme, columns, lambda row: row.number, lambda row: shorten(row.content, 400),
            tr("Versions of the running recap"),
        )  # fmt: skip
        self.empty.say(
            tr("No running recap yet"),
            tr("It is made of the recaps of scenes, and it alone goes into the prompt. Have scenes recapped first."),
            (("recap.run", tr("Make what is due")),),
        )
        self.text = RecapText(tr("Running recap"), self)
        self.text.keep.setText(tr("Keep as a new version"))
        self.below.addWidget(self.text, 1)
        self.text.left.connect(self.view.setFocus)
        self.use = self.small_button(tr("Use this version"), tr("Let this version go into the prompt"))
        self.delete = self.small_button(tr("Delete version…"), tr("Delete this version"))
        self.add_row(self.use, self.delete)
        self.text.written.connect(lambda _key, text: self.written.emit(text))
        self.use.clicked.connect(lambda: self._act(self.used.emit))
        self.delete.clicked.connect(lambda: self._act(self.deleted.emit))
        self.view.chosen.connect(lambda _row: self._show())
        self._show()

    def show_picture(self, picture: RecapPicture | None) -> None:
        """Show the versions of a chat; without a choice, the one in force is looked at."""
        before = self._current
        self._current = picture.running.current if picture is not None else -1
        self.forget_others(picture, self.text)
        if before != self._current:
            self.text.taken()  # it is a version of its own
        self.model.set_rows(picture.running.versions if picture is not None else ())
        if self.view.current is None or before != self._current:
            self.view.choose(self._current)
        self._show()

    def _act(self, emit: object) -> None:
        row = self.view.current
        if row is not None and callable(emit):
            emit(row.number)

    def _show(self) -> None:
        row = self.view.current
        current = row is not None and row.number == self._current
        self.use.setEnabled(row is not None and not current)
        self.delete.setEnabled(row is not None)
        if row is None:
            self.say("")
            self.text.show_text(None, "", editable=False)
            return
        scenes = count(row.scene_count, "scene", "scenes")
        told = tr("Version {number} is made of {scenes} and reaches to #{last}.", number=row.number, scenes=scenes,
                  last=row.reaches)  # fmt: skip
        more = tr("It goes into the prompt.") if current else tr("Only the version in use can be written.")
        self.say(f"{told} {more}")
        self.text.show_text(row.number, row.content, editable=current)

    def _state(self, row: object) -> str:
        return tr("in use") if getattr(row, "number", None) == self._current else ""

    def _icon(self, row: object) -> tuple[str, str] | None:
        return ("check", "good") if getattr(row, "number", None) == self._current else None


def _when(ms: float | None) -> str:
    return f"{datetime.fromtimestamp(ms / 1000, UTC).astimezone():%Y-%m-%d %H:%M}" if ms else ""


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
            Column("#", lambda row: str(row.index), numeric=True, width=44),
            Column(
                "",
                lambda row: tr(_PROMPT_STATES[row.decision.value][0]),
                icon=_prompt_icon,
                tone=_prompt_tone,
                width=108,
            ),
            Column("Total", self._total, numeric=True, tone=_prompt_tone, width=104),
            Column("Recap", lambda row: shorten(row.recap, 160)),
        )
        super().__init__(
            theme, columns, lambda row: row.index, self._why, tr("Recaps that take part, newest message first"),
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
        self.say(" ".join(_prompt_sentences(prompt)))
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


def _prompt_sentences(prompt: PromptAt) -> list[str]:
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


def _prompt_tone(row: Any) -> str:  # noqa: ANN401  # a `WalkRow`; models know no more
    return _PROMPT_STATES[row.decision.value][3]
