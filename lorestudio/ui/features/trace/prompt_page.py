"""The prompt of one generation as the model gets it: messages in order and role, parts coloured by origin.

Every message is a row with who speaks, and below it its parts with where each comes from.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from operator import attrgetter
from typing import Final

from msgspec import Struct
from PySide6.QtCore import QModelIndex, QObject, Qt, Signal
from PySide6.QtGui import QGuiApplication, QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QListView, QWidget

from lorestudio.domain.chat import Chat
from lorestudio.domain.records import replace
from lorestudio.domain.texts import shorten
from lorestudio.domain.tokens import CHARS_4, TokenCounter
from lorestudio.studio.prompt.assembly import assemble
from lorestudio.studio.prompt.setup import PromptSetup
from lorestudio.trace.budget import OTHER, origins
from lorestudio.trace.model import Trace
from lorestudio.trace.prompt import (
    AssembledMessage,
    AssembledPart,
    AssembledPrompt,
    Left,
    LeftOutPart,
    Origin,
    changed_words,
    prompt_as_markdown,
    prompt_as_text,
)
from lorestudio.ui.shell.jobs import Jobs, Newest
from lorestudio.ui.shell.qt import ITEM
from lorestudio.ui.shell.theme import Theme
from lorestudio.ui.shell.words import count, number, sentence_case, sentence_of, tr
from lorestudio.ui.widgets.cells import Body, CellDelegate, Chip, Column, Look, Strip, Words
from lorestudio.ui.widgets.layouts import holding, iconed, named, one_of, row, stack, tight, tool
from lorestudio.ui.widgets.pane import ElidedLabel, EmptyState, FoldingRow
from lorestudio.ui.widgets.record_table import RecordTable
from lorestudio.ui.widgets.rows import RowList

LEFT_WORDS: Final[Mapping[Left, str]] = {
    Left.NO_ROOM: "not sent: the context is full",
    Left.OUTLET_UNUSED: "not sent: no macro asks for this outlet",
    Left.NO_PLACE: "not sent: the host knows no such place",
    Left.SWITCHED_OFF: "not sent: switched off in the preset",
    Left.OTHER_KIND: "not sent: for other kinds of generations",
}

_GROUNDS: Final[Mapping[Origin, str]] = {
    Origin.FRAME: "neutral_soft",
    Origin.PRESET: "neutral_soft",
    Origin.CARD: "warning_soft",
    Origin.PERSONA: "accent_soft",
    Origin.CHAT: "raised",
    Origin.NOTE: "good_soft",
}


class PromptRow(Struct, frozen=True):
    """A row: the head of a message (`head`), a part of one, a part that is not sent (`lost` says why), or a `remark`.

    `tokens` are those the model bills; `counted` those that an injected entry had in the budget, None for everything
    else and where an entry stands in the prompt once more. `fill` is the fill of an entry's origin, `ground` the colour
    behind the word of any other.
    """

    title: str
    origin: str = ""
    tokens: int = 0
    text: str = ""
    fill: str = ""
    ground: str = "neutral_soft"
    head: bool = False
    entry: int | None = None
    message: int | None = None
    lost: str = ""
    estimate: bool = False
    remark: bool = False
    counted: int | None = None
    budget_estimate: bool = False

    @property
    def amount(self) -> str:
        """The tokens as shown; an estimate says that it is one. Of an entry those of the budget stand first."""
        if self.remark:
            return ""
        billed = _amount(self.tokens, estimate=self.estimate)
        counted = billed if self.counted is None else _amount(self.counted, estimate=self.budget_estimate)
        return billed if counted == billed else tr("{counted} · model {billed}", counted=counted, billed=billed)

    def describe(self) -> str:
        """The row in words."""
        if self.remark:
            return f"{tr(self.origin)}: {self.text}" if self.text else self.title
        tokens = self.tokens if self.counted is None else self.counted
        guessed = self.estimate if self.counted is None else self.budget_estimate
        size = count(tokens, "token", "tokens")
        billed = _amount(self.tokens, estimate=self.estimate)
        more = "" if self.tokens == tokens else tr("{billed} as the model counts", billed=billed)
        parts = [self.title, tr(self.origin), tr(self.lost), f"≈ {size}" if guessed else size, more]
        head = ", ".join(part for part in parts if part)
        return f"{head}. {shorten(self.text, 300)}" if self.text else head


def _amount(tokens: int, *, estimate: bool) -> str:
    return f"≈ {number(tokens)}" if estimate else number(tokens)


def prompt_rows(prompt: AssembledPrompt, trace: Trace, *, lore_only: bool = False) -> tuple[PromptRow, ...]:
    """The rows of a prompt in the order that the model reads; `lore_only` leaves out what is no lore.

    What the rows of entries have in the budget adds up to the run's lore.
    """
    words = {entry: (origin.word, origin.fill) for entry, origin in origins(trace).items()}
    shortened = {injection.entry for injection in trace.injections if injection.truncated}
    rows: list[PromptRow] = []
    for message in prompt.messages:
        parts = [part for part in message.parts if not lore_only or part.source.origin is Origin.ENTRY]
        if parts:
            rows.append(PromptRow(_head(message), tokens=message.tokens, head=True))
            rows += [_part(message, part, words, shortened) for part in parts]
    lost = [part for part in prompt.left_out if not lore_only or part.source.origin is Origin.ENTRY]
    if lost:
        rows.append(PromptRow(tr("Not in the prompt"), tokens=sum(part.tokens for part in lost), head=True))
        rows += [_lost(part, words) for part in lost]
    counted = {injection.entry: injection.tokens for injection in trace.injections}
    rows = [
        replace(
            each,
            estimate=not prompt.exact,
            budget_estimate=not trace.facts.get("counted_exactly", True),
            counted=counted.pop(each.entry, None) if each.entry is not None else None,
        )
        for each in rows
    ]
    return (*rows, *(() if lore_only else _remark_rows(prompt)))


def _remark_rows(prompt: AssembledPrompt) -> list[PromptRow]:
    """What could not be done as in the host."""
    rows = [PromptRow("", "remark", text=each, remark=True) for each in prompt.remarks]
    if prompt.unknown_macros:
        macros = ", ".join(prompt.unknown_macros)
        told = tr("Only SillyTavern can fill in {macros}; they stay as they are.", macros=macros)
        rows.append(PromptRow("", "macros", text=told, remark=True))
    return [PromptRow(tr("About this prompt"), head=True, remark=True), *rows] if rows else []


def _head(message: AssembledMessage) -> str:
    depth = message.depth
    where = tr("in the chat, depth {depth}", depth=number(depth)) if depth is not None else tr(message.section.value)
    name = f" ({message.name})" if message.name else ""
    return f"{sentence_case(tr(message.role.value))}{name} · {where}"


def _part(
    message: AssembledMessage, part: AssembledPart, words: Mapping[int, tuple[str, str]], shortened: set[int]
) -> PromptRow:
    source, text, changed = part.source, message.text_of(part).strip("\n"), changed_words(part.source)
    title, ground = f"{source.label} · {changed}" if changed else source.label, _GROUNDS.get(source.origin)
    word, fill = source.origin.value, ""
    if source.entry is not None:
        word, fill = words.get(source.entry, (OTHER.word, OTHER.fill))
        if source.entry in shortened:
            word = tr("{origin}, shortened", origin=word)
    return PromptRow(
        title, word, part.tokens, text, fill, ground or "neutral_soft", entry=source.entry, message=source.message
    )


def _lost(part: LeftOutPart, words: Mapping[int, tuple[str, str]]) -> PromptRow:
    source, lost = part.source, LEFT_WORDS[part.reason]
    word, fill = words.get(source.entry, ("", "")) if source.entry is not None else (source.origin.value, "")
    return PromptRow(source.label, word, part.tokens, fill=fill, entry=source.entry, message=source.message, lost=lost)


class PromptList(RecordTable):
    """The rows of a prompt: who speaks, then each part with a bar in the colour of its origin, its tokens and text."""

    def __init__(self, parent: QObject | None = None) -> None:
        column = Column("", lambda row: row.text or row.title, look=self._look, spoken=PromptRow.describe, tip=_tip)
        super().__init__([column], entry=attrgetter("entry"), parent=parent)
        self._cells.about = PromptRow.describe
        self._opened: set[int] = set()

    def toggle(self, place: int) -> None:
        """Show all of a part's text, or its beginning again."""
        row = self.row(place)
        if row is not None and not row.head:
            self._opened ^= {id(row)}
            self.touch(id(row))

    def place_of_entry(self, entry: int | None) -> int:
        """The first row of an entry, -1 where it has none."""
        return next((at for at, row in enumerate(self.rows) if entry is not None and row.entry == entry), -1)

    def _look(self, row: PromptRow) -> Look:
        amount = (Words(row.amount, tone="text_muted", gap=0),)
        if row.head:
            strip = Strip((Words(row.title, bold=True),), amount, 26)
            return Look((strip,), _SIDE, _SIDE, ground="raised", rule="top", ring=True)
        chip = Chip(tr(row.lost) if row.lost else tr(row.origin), row.fill, row.ground)
        entry = row.entry is not None
        most = 0 if id(row) in self._opened else FOLDED_LINES
        return Look(
            (Strip((chip, Words(row.title, bold=entry)), amount, 24),),
            _SIDE, _SIDE, 2, side="hatched" if row.lost else row.fill or row.ground, ring=True,
            body=Body(row.text, "text" if entry else "text_muted", most, "… more (X shows all)"),
        )  # fmt: skip


def _tip(row: PromptRow) -> str:
    return "" if row.head else f"{row.title}\n{tr(row.origin)}"


FOLDED_LINES: Final = 3
"""Lines that a part shows until it is opened."""

_SIDE: Final = 10.0


logger = logging.getLogger(__name__)

WHOLE, LORE = 0, 1
"""What is shown: the whole prompt, or the lore in it."""

_PARTS: Final = ("Whole prompt", "Lore only")


class _PartsView(RowList):
    """Enter goes to what the part comes from, X or the space bar shows all of its text, Copy takes that."""

    opened = Signal(QModelIndex)
    folded = Signal(int)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Qt: the keys above."""
        if event.key() in {Qt.Key.Key_X, Qt.Key.Key_Space}:
            self.folded.emit(self.currentIndex().row())
        elif event.key() in {Qt.Key.Key_Return, Qt.Key.Key_Enter}:
            self.opened.emit(self.currentIndex())
        else:
            super().keyPressEvent(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Qt: another width breaks the lines anew."""
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self.scheduleDelayedItemsLayout()


class PromptPage(QWidget):
    """`entry_chosen` carries the entry of a chosen part, `message_chosen` the message of a part of the chat."""

    entry_chosen = Signal(int)
    message_chosen = Signal(int)
    copied = Signal(str)

    def __init__(self, theme: Theme, jobs: Jobs, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme, self._newest = theme, Newest(jobs)
        self._trace: Trace | None = None
        self.prompt: AssembledPrompt | None = None
        self._entry: int | None = None
        self._following = False
        bar = self._make_bar()
        self.model = PromptList(self)
        self.view = named(_PartsView(self), tr("Prompt, in the order that the model reads"))
        self.view.setModel(self.model)
        self.view.setItemDelegate(CellDelegate(theme, self.view, width=100))
        self.view.setVerticalScrollMode(QListView.ScrollMode.ScrollPerPixel)
        self.view.verticalScrollBar().setSingleStep(24)
        self.view.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.view.selectionModel().currentChanged.connect(self._row_chosen)
        self.view.opened.connect(self._open)
        self.view.folded.connect(self._toggle)
        self.view.doubleClicked.connect(lambda index: self._toggle(index.row()))
        self.empty = EmptyState(theme, "entry", self)
        self._pages = stack(self.view, self.empty)
        tight(bar, (self._pages, 1), of=self)

    def set_trace(
        self, trace: Trace | None, chat: Chat | None, setup: PromptSetup | None = None, counter: TokenCounter = CHARS_4
    ) -> None:
        """Put the prompt of a run together, off the GUI thread, and show it."""
        self._trace, self.prompt = trace, None
        if trace is None or chat is None:
            self._newest.cancel()
            self._show()
            return
        self._say_instead(tr("Putting the prompt together…"))
        title = tr("Putting the prompt together")
        self._newest.start(
            title, lambda _job: assemble(trace, chat, setup, counter), done=self._made, failed=self._failed
        )

    def choose_entry(self, entry: int | None) -> None:
        """Show where the chosen entry stands."""
        self._entry = entry
        place = self.model.place_of_entry(entry)
        self._following = True
        try:
            if place >= 0:
                self.view.setCurrentIndex(self.model.index(place, 0))
                self.view.scrollTo(self.model.index(place, 0), QListView.ScrollHint.PositionAtCenter)
            else:
                self.view.selectionModel().clear()
        finally:
            self._following = False

    def focus_target(self) -> QWidget:
        """The parts, or what stands in their place."""
        return self.view if self._pages.currentWidget() is self.view else self.empty

    def copy(self, *, markdown: bool = False) -> None:
        """The whole prompt as plain text, or as Markdown, on the clipboard."""
        if self.prompt is not None:
            write = prompt_as_markdown if markdown else prompt_as_text
            QGuiApplication.clipboard().setText(write(self.prompt))
            self.copied.emit(
                tr("The prompt was copied as Markdown.") if markdown else tr("The prompt was copied as text.")
            )

    def _make_bar(self) -> QWidget:
        self._shown = one_of(self, ((tr(name), tr("Show: {part}", part=tr(name))) for name in _PARTS))
        self._shown.idClicked.connect(lambda _place: self._show())
        self.note = named(ElidedLabel(self), "", kind="small")
        copy = tool(self, tr("Copy the prompt"), self.copy, tip=tr("Copy the prompt as text"))
        self.copy_button = iconed(self._theme, copy, "copy")
        bar = holding(row(*self._shown.buttons(), 1, self.copy_button, spacing=2, margins=0))
        return FoldingRow(bar, self.note, self, margins=(8, 4, 8, 2))

    def _made(self, prompt: AssembledPrompt) -> None:
        self.prompt = prompt
        self._show()

    def _failed(self, error: Exception) -> None:
        logger.error("the prompt could not be put together: %s", error, exc_info=error)
        self._say_instead(tr("The prompt could not be put together"), sentence_of(error))

    def _say_instead(self, title: str, text: str = "") -> None:
        self.empty.say(title, text)
        self._turn_to(self.empty)

    def _turn_to(self, page: QWidget) -> None:
        """Show the parts or what stands in their place; the keyboard goes along, not to whatever comes next."""
        here = self.focus_target().hasFocus()
        self._pages.setCurrentWidget(page)
        if here:
            page.setFocus()

    def _show(self) -> None:
        trace, prompt = self._trace, self.prompt
        rows: tuple[PromptRow, ...] = ()
        if trace is not None and prompt is not None:
            rows = prompt_rows(prompt, trace, lore_only=self._shown.checkedId() == LORE)
        self.model.set_rows(rows)
        self.note.setText(self._note(prompt))
        if rows:
            self._turn_to(self.view)
            self.choose_entry(self._entry)
        elif prompt is None:
            self._say_instead(tr("No prompt"), tr("A run shows here what the model would be sent."))
        else:
            self._say_instead(tr("No lore in this prompt"), tr("Nothing was handed over in this run."))

    def _note(self, prompt: AssembledPrompt | None) -> str:
        if prompt is None:
            return ""
        size = count(prompt.tokens, "token", "tokens")
        text = size if prompt.exact else f"≈ {size}"
        by_origin = [f"{tr(origin.value)} {number(tokens)}" for origin, tokens in prompt.tokens_by_origin.items()]
        if prompt.room is not None:
            text += tr(" of {room}", room=number(prompt.room))
        text = f"{text}: {', '.join(by_origin)}" if by_origin else text
        if not prompt.lore_tokens:
            return text
        exact = self._trace is None or bool(self._trace.facts.get("counted_exactly", True))
        lore = _amount(prompt.lore_tokens, estimate=not exact)
        return tr("SillyTavern: lore {lore} · model: {whole}", whole=text, lore=lore)

    def _row_chosen(self, current: QModelIndex, _previous: QModelIndex) -> None:
        part = current.data(ITEM)
        if isinstance(part, PromptRow) and part.entry is not None and not self._following:
            self._entry = part.entry
            self.entry_chosen.emit(part.entry)

    def _open(self, index: QModelIndex) -> None:
        part = index.data(ITEM)
        if isinstance(part, PromptRow) and part.entry is None and part.message is not None:
            self.message_chosen.emit(part.message)
        elif isinstance(part, PromptRow):
            self._toggle(index.row())

    def _toggle(self, place: int) -> None:
        self.model.toggle(place)
        self.view.scheduleDelayedItemsLayout()
