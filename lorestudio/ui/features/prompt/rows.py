"""A whole prompt as rows: every message with who speaks, and below it its parts with where each comes from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import Final

from PySide6.QtCore import QObject

from lorestudio.trace.assembled_prompt import (
    AssembledMessage,
    AssembledPart,
    AssembledPrompt,
    Left,
    LeftOutPart,
    Origin,
    changed_words,
)
from lorestudio.trace.budget import OTHER, origins
from lorestudio.trace.model import Trace
from lorestudio.ui.shell.words import count, number, sentence_case, shorten, tr
from lorestudio.ui.widgets.cells import Body, Chip, Column, Look, Strip, Words
from lorestudio.ui.widgets.record_table import RecordTable

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


@dataclass(frozen=True, slots=True)
class PromptRow:
    """A row: the head of a message (`head`), a part of one, a part that is not sent (`lost` says why), or a `remark`.

    `fill` is the fill of an entry's origin, `ground` the colour behind the word of any other.
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

    @property
    def amount(self) -> str:
        """The tokens as shown; an estimate says that it is one."""
        if self.remark:
            return ""
        return f"{'≈' if self.estimate else ''}{number(self.tokens)}"

    def describe(self) -> str:
        """The row in words."""
        if self.remark:
            return f"{tr(self.origin)}: {self.text}" if self.text else self.title
        size = count(self.tokens, "token", "tokens")
        parts = [self.title, tr(self.origin), tr(self.lost), f"≈ {size}" if self.estimate else size]
        head = ", ".join(part for part in parts if part)
        return f"{head}. {shorten(self.text, 300)}" if self.text else head


def prompt_rows(prompt: AssembledPrompt, trace: Trace, *, lore_only: bool = False) -> tuple[PromptRow, ...]:
    """The rows of a prompt in the order that the model reads; `lore_only` leaves out what is no lore."""
    came_from = origins(trace)
    words = {entry: (origin.word, origin.fill) for entry, origin in came_from.items()}
    shortened = {injection.entry for injection in trace.injections if injection.truncated}
    rows: list[PromptRow] = []
    for message in prompt.messages:
        parts = [part for part in message.parts if not lore_only or part.source.origin is Origin.ENTRY]
        if not parts:
            continue
        rows.append(PromptRow(_head(message), tokens=message.tokens, head=True, estimate=not prompt.exact))
        rows += [_part(message, part, words, shortened, estimate=not prompt.exact) for part in parts]
    lost = [part for part in prompt.left_out if not lore_only or part.source.origin is Origin.ENTRY]
    if lost:
        total = sum(part.tokens for part in lost)
        rows.append(PromptRow(tr("Not in the prompt"), tokens=total, head=True, estimate=not prompt.exact))
        rows += [_lost(part, words, estimate=not prompt.exact) for part in lost]
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
    message: AssembledMessage,
    part: AssembledPart,
    words: Mapping[int, tuple[str, str]],
    shortened: set[int],
    *,
    estimate: bool,
) -> PromptRow:
    source = part.source
    changed = changed_words(source)
    row = PromptRow(
        f"{source.label} · {changed}" if changed else source.label,
        source.origin.value,
        part.tokens,
        message.text_of(part).strip("\n"),
        ground=_GROUNDS.get(source.origin, "neutral_soft"),
        entry=source.entry,
        message=source.message,
        estimate=estimate,
    )
    if source.entry is None:
        return row
    word, fill = words.get(source.entry, (OTHER.word, OTHER.fill))
    if source.entry in shortened:
        word = tr("{origin}, shortened", origin=word)
    return replace(row, origin=word, fill=fill)


def _lost(part: LeftOutPart, words: Mapping[int, tuple[str, str]], *, estimate: bool) -> PromptRow:
    source = part.source
    word, fill = words.get(source.entry, ("", "")) if source.entry is not None else (source.origin.value, "")
    return PromptRow(
        source.label,
        word,
        part.tokens,
        fill=fill,
        entry=source.entry,
        message=source.message,
        lost=LEFT_WORDS[part.reason],
        estimate=estimate,
    )


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

    def is_open(self, place: int) -> bool:
        """Whether all of a part's text is shown."""
        return id(self.row(place)) in self._opened

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
