"""A whole prompt as rows: every message with who speaks, and below it its parts with where each comes from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from PySide6.QtCore import QAbstractListModel, QObject

from lorestudio.trace.assembled import AssembledMessage, AssembledPart, AssembledPrompt, Left, LeftOutPart, Origin
from lorestudio.trace.model import Trace
from lorestudio.trace.origins import OTHER, origins
from lorestudio.trace.prompt_text import changed_words
from lorestudio.ui.qt import ACCESSIBLE_DESCRIPTION, ACCESSIBLE_TEXT, DISPLAY, ENTRY_ID, ITEM, NO_INDEX, TOOLTIP, Index
from lorestudio.ui.words import count, number, sentence_case, shorten, tr

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
    expanded: bool = False
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


class PromptList(QAbstractListModel):
    """`ITEM` is the row; texts for people and for screen readers say the same."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._rows: list[PromptRow] = []

    def set_rows(self, rows: tuple[PromptRow, ...]) -> None:
        """Show another prompt."""
        self.beginResetModel()
        self._rows = list(rows)
        self.endResetModel()

    def toggle(self, row: int) -> None:
        """Show all of a part's text, or its beginning again."""
        if 0 <= row < len(self._rows) and not self._rows[row].head:
            self._rows[row] = replace(self._rows[row], expanded=not self._rows[row].expanded)
            self.dataChanged.emit(self.index(row), self.index(row))

    def row_of(self, entry: int | None) -> int:
        """The first row of an entry, -1 where it has none."""
        return next((at for at, row in enumerate(self._rows) if entry is not None and row.entry == entry), -1)

    def rowCount(self, parent: Index = NO_INDEX) -> int:
        """Qt: messages and parts."""
        return 0 if parent.isValid() else len(self._rows)

    def data(self, index: Index, role: int = DISPLAY) -> object:
        """Qt: the row, or it in words."""
        if not 0 <= index.row() < len(self._rows):
            return None
        row = self._rows[index.row()]
        if role == ITEM:
            return row
        if role == ENTRY_ID:
            return row.entry
        if role == DISPLAY:
            return row.text or row.title
        if role in {ACCESSIBLE_TEXT, ACCESSIBLE_DESCRIPTION}:
            return row.describe()
        return f"{row.title}\n{tr(row.origin)}" if role == TOOLTIP and not row.head else None
