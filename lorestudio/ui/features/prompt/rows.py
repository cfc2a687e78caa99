"""A whole prompt as rows: every message with who speaks, and below it its parts with where each comes from.

Rows of a prompt: who speaks, then each part with a bar in the colour of its origin, its tokens and its text.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from PySide6.QtCore import QAbstractListModel, QObject, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPainter
from PySide6.QtWidgets import QListView, QStyle, QStyledItemDelegate, QStyleOptionViewItem

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
from lorestudio.ui.shell.qt import (
    ACCESSIBLE_DESCRIPTION,
    ACCESSIBLE_TEXT,
    DISPLAY,
    ENTRY_ID,
    ITEM,
    NO_INDEX,
    TOOLTIP,
    Index,
)
from lorestudio.ui.shell.theme import Theme, scaled
from lorestudio.ui.shell.words import count, number, sentence_case, shorten, tr
from lorestudio.ui.widgets.paint import Line, Wrapper, chip_width, draw_chip, draw_focus, hairline, hatch

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


FOLDED_LINES: Final = 3
"""Lines that a part shows until it is opened."""

_SIDE, _BAR, _HEAD, _AMOUNT = 10.0, 4.0, 24.0, 74.0
_LEFT = int(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft)
_RIGHT = int(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight)


class PromptDelegate(QStyledItemDelegate):
    """Draws `PromptRow`s."""

    def __init__(self, theme: Theme, view: QListView, parent: QObject | None = None) -> None:
        super().__init__(parent or view)
        self._theme, self._view = theme, view
        self._wrapper: Wrapper | None = None
        self._lines: dict[tuple[str, int, bool], tuple[tuple[Line, ...], bool]] = {}

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        """Qt: as tall as the text needs in the view's width."""
        row = index.data(ITEM)
        if not isinstance(row, PromptRow):
            return QSize(100, 20)
        if row.head:
            return QSize(100, round(_HEAD + 2))
        lines, folded = self._broken(row)
        text = self._line_height() * (len(lines) + folded) if row.text else 0
        return QSize(100, round(_HEAD + text + 8))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Qt: draw a row."""
        row = index.data(ITEM)
        if not isinstance(row, PromptRow):
            return
        theme, rect = self._theme, QRectF(option.rect)
        chosen = bool(option.state & QStyle.StateFlag.State_Selected)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if chosen:
            painter.fillRect(rect, theme.color("accent_soft"))
        elif row.head:
            painter.fillRect(rect, theme.color("raised"))
        ink = theme.color("on_accent_soft" if chosen else "text")
        faint = theme.color("on_accent_soft" if chosen else "text_muted")
        if row.head:
            self._draw_head(painter, rect, row, ink, faint)
        else:
            self._draw_part(painter, rect, row, ink, faint)
        if chosen and option.state & QStyle.StateFlag.State_HasFocus:
            draw_focus(painter, rect, theme)
        painter.restore()

    # ---- inside -----------------------------------------------------------------------------------------------------

    def _draw_head(self, painter: QPainter, rect: QRectF, row: PromptRow, ink: QColor, faint: QColor) -> None:
        painter.setFont(scaled(self._font().font, 1.0, bold=True))
        painter.setPen(ink)
        box = rect.adjusted(_SIDE, 0, -_SIDE - _AMOUNT, 0)
        title = QFontMetricsF(painter.font()).elidedText(row.title, Qt.TextElideMode.ElideRight, box.width())
        painter.drawText(box, _LEFT, title)
        painter.setFont(self._font().font)
        painter.setPen(faint)
        painter.drawText(rect.adjusted(0, 0, -_SIDE, 0), _RIGHT, row.amount)
        painter.setPen(hairline(self._theme.color("border")))
        painter.drawLine(QPointF(rect.left(), rect.top() + 0.5), QPointF(rect.right(), rect.top() + 0.5))

    def _draw_part(self, painter: QPainter, rect: QRectF, row: PromptRow, ink: QColor, faint: QColor) -> None:
        theme = self._theme
        bar = QRectF(rect.left() + _SIDE, rect.top() + 3, _BAR, rect.height() - 6)
        ground, letter = theme.fill(row.fill) if row.fill else (theme.color(row.ground), theme.color("text"))
        if row.lost:
            painter.fillRect(bar, hatch(theme.color("text_muted"), theme))
        else:
            painter.setPen(hairline(theme.color("fill_edge") if row.fill else theme.color("border_strong")))
            painter.setBrush(ground)
            painter.drawRect(bar.adjusted(0.5, 0.5, -0.5, -0.5))
        line = QRectF(bar.right() + 8, rect.top() + 2, rect.right() - bar.right() - 8 - _SIDE - _AMOUNT, _HEAD)
        painter.setFont(scaled(self._font().font, 0.86))
        metrics = QFontMetricsF(painter.font())
        word = tr(row.lost) if row.lost else tr(row.origin)
        wide = min(chip_width(metrics, word), line.width() * 0.6)
        chip = QRectF(line.left(), line.center().y() - 8, wide, 16)
        told = metrics.elidedText(word, Qt.TextElideMode.ElideRight, wide - 12)
        draw_chip(painter, chip, told, ground, letter, theme.color("fill_edge" if row.fill else "border_strong"))
        painter.setFont(scaled(self._font().font, 1.0, bold=row.entry is not None))
        painter.setPen(ink)
        rest = line.adjusted(wide + 8, 0, 0, 0)
        title = QFontMetricsF(painter.font()).elidedText(row.title, Qt.TextElideMode.ElideRight, rest.width())
        painter.drawText(rest, _LEFT, title)
        painter.setFont(self._font().font)
        painter.setPen(faint)
        painter.drawText(QRectF(rect.left(), line.top(), rect.width() - _SIDE, _HEAD), _RIGHT, row.amount)
        self._draw_text(painter, line.left(), line.bottom(), row, ink, faint)

    def _draw_text(
        self, painter: QPainter, left: float, top: float, row: PromptRow, ink: QColor, faint: QColor
    ) -> None:
        if not row.text:
            return
        lines, folded = self._broken(row)
        height = self._line_height()
        painter.setPen(ink if row.entry is not None else faint)
        for start, end in lines:
            painter.drawText(QRectF(left, top, 4000, height), _LEFT, row.text[start:end])
            top += height
        if folded:
            painter.setPen(self._theme.color("accent"))
            painter.drawText(QRectF(left, top, 4000, height), _LEFT, tr("… more (X shows all)"))

    def _broken(self, row: PromptRow) -> tuple[tuple[Line, ...], bool]:
        """The lines that are shown, and whether there are more."""
        width = self._view.viewport().width()
        key = (row.text, width, row.expanded)
        found = self._lines.get(key)
        if found is None:
            if len(self._lines) > 4000:
                self._lines.clear()
            room = max(40.0, width - 2 * _SIDE - _BAR - 8)
            lines = self._font().lines(row.text, room, None if row.expanded else FOLDED_LINES + 2)
            folded = not row.expanded and len(lines) > FOLDED_LINES + 1
            found = self._lines[key] = tuple(lines[:FOLDED_LINES] if folded else lines), folded
        return found

    def _font(self) -> Wrapper:
        font = self._view.font()
        if self._wrapper is None or self._wrapper.font != font:
            self._wrapper = Wrapper(font)
            self._lines.clear()
        return self._wrapper

    def _line_height(self) -> float:
        return self._font().metrics.height() * 1.1
