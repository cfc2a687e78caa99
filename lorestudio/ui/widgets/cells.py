"""How cells are read and drawn: a `Column` says what is read off a row, a `Look` what is drawn, piece by piece.

`Cells` answer for a table or a tree of them; one delegate draws.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from msgspec import Struct
from PySide6.QtCore import QPointF, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter
from PySide6.QtWidgets import (
    QAbstractItemView,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionButton,
    QStyleOptionViewItem,
    QTreeView,
    QWidget,
)

from lorestudio.ui.shell.qt import (
    ACCESSIBLE_DESCRIPTION,
    ACCESSIBLE_TEXT,
    ALIGNMENT,
    CHECK,
    DISPLAY,
    ENTRY_ID,
    ITEM,
    LOOK,
    MARK,
    TOOLTIP,
    V_LEFT,
    V_RIGHT,
    Index,
    plain,
)
from lorestudio.ui.shell.theme import Theme, scaled
from lorestudio.ui.shell.words import tr
from lorestudio.ui.widgets.layouts import letters
from lorestudio.ui.widgets.paint import (
    Line,
    Mark,
    Wrapper,
    chip_width,
    draw_chip,
    draw_focus,
    draw_glyph,
    draw_mark,
    hairline,
    hatch,
    set_inks,
)

FIT: Final = -1
"""The width of a column that is as wide as its content."""


class Column(Struct, frozen=True):
    """What is read off a row: `words` is shown, `spoken` said where that differs, `tip` told to whoever points at it.

    `name` names the column for programs. `sort` is what rows are ordered by, their words where there is none; None
    stays at the end. `icon` is a glyph with a palette's colour, `tone` such a colour for the words ("" for that of all
    text), `bold` says whether they stand out. `look` is drawn by a `CellDelegate` in place of all that. A `width` is
    for usual letters, one of 0 takes what the others leave; `hidden` ones have to be asked for.
    One that says `again` what others say is not copied.
    """

    title: str
    words: Callable[[Any], str]
    name: str = ""
    help: str = ""
    width: int = 0
    numeric: bool = False
    hidden: bool = False
    again: bool = False
    sort: Callable[[Any], Any] | None = None
    icon: Callable[[Any], tuple[str, str] | None] | None = None
    tone: Callable[[Any], str] | None = None
    bold: Callable[[Any], bool] | None = None
    mark: Callable[[Any], Mark | None] | None = None
    look: Callable[[Any], Look | None] | None = None
    spoken: Callable[[Any], str] | None = None
    tip: Callable[[Any], str] | None = None


def titled(nothing: str = "nothing") -> Callable[[Any, Column], str]:
    """Cells that say their column's title first; `nothing` is said of empty ones."""
    return lambda row, column: f"{tr(column.title)}: {column.words(row) or tr(nothing)}"


def same_words(row: Any, column: Column) -> str:  # noqa: ANN401  # whatever the table is made of
    """Tips that say what the cell shows, for columns that are too narrow for it."""
    return column.words(row)


def state_column(title: str, look: Callable[[Any], tuple[str, str, str, str]], width: int) -> Column:
    """The state of a row, by its words, a glyph and its colour, and the colour of the words ("" for the usual one)."""
    return Column(
        title, lambda row: tr(look(row)[0]), width=width, icon=lambda row: look(row)[1:3], tone=lambda row: look(row)[3]
    )


class Cells(Struct):
    """The cells of rows. `spoken`, `tip`, `about` and `entry` hold for all columns that say nothing of their own.

    `about` is what a screen reader says in addition, `entry` the id of the entry behind a row.
    """

    columns: tuple[Column, ...]
    theme: Theme | None = None
    spoken: Callable[[Any, Column], str] | None = None
    tip: Callable[[Any, Column], str] | None = None
    about: Callable[[Any], str] | None = None
    entry: Callable[[Any], int | None] | None = None

    def heading(self, section: int, role: int) -> object:
        """What the head of a column answers."""
        if not 0 <= section < len(self.columns):
            return None
        column = self.columns[section]
        if role in {DISPLAY, ACCESSIBLE_TEXT}:
            return tr(column.title)
        if role == TOOLTIP:
            return tr(column.help or column.title) or None
        return (V_RIGHT if column.numeric else V_LEFT) if role == ALIGNMENT else None

    def texts(self, rows: Iterable[Any]) -> list[list[str]]:
        """What is shown as texts, headings first where the columns have any."""
        columns = [column for column in self.columns if not column.again]
        heads = [tr(column.title) for column in columns]
        lines = [[column.words(row) for column in columns] for row in rows]
        return [heads, *lines] if any(heads) else lines

    def answer(self, row: Any, place: int, role: int) -> object:  # noqa: ANN401, PLR0911  # a table of roles
        """What the cell of a row in a column answers."""
        column = self.columns[place]
        if role == DISPLAY:
            return column.words(row)
        if role == ITEM:
            return row
        if role == ALIGNMENT:
            return V_RIGHT if column.numeric else V_LEFT
        if role == TOOLTIP:
            told = column.tip(row) if column.tip is not None else self.tip(row, column) if self.tip is not None else ""
            return plain(told) or None
        if role == ACCESSIBLE_TEXT:
            if column.spoken is not None:
                return column.spoken(row)
            return self.spoken(row, column) if self.spoken is not None else column.words(row)
        read = {
            LOOK: column.look, MARK: column.mark, ENTRY_ID: self.entry, ACCESSIBLE_DESCRIPTION: self.about,
        }.get(role)  # fmt: skip
        if read is not None:
            return read(row)
        if role == Qt.ItemDataRole.FontRole and column.bold is not None and column.bold(row):
            font = QFont()
            font.setWeight(QFont.Weight.DemiBold)
            return font
        return self._coloured(row, column, role)

    def _coloured(self, row: Any, column: Column, role: int) -> object:  # noqa: ANN401  # the row of any table
        theme = self.theme
        if theme is None:
            return None
        if role == Qt.ItemDataRole.DecorationRole and column.icon is not None:
            found = column.icon(row)
            return theme.icon(*found) if found is not None else None
        if role == Qt.ItemDataRole.ForegroundRole and column.tone is not None and (tone := column.tone(row)):
            return theme.color(tone)
        return None


def as_text(rows: Iterable[Sequence[str]]) -> str:
    """Texts of a table with tabulators between them, for spreadsheets and mails."""
    return "\n".join("\t".join(" ".join(cell.split()) for cell in row) for row in rows)


# ---- what is drawn --------------------------------------------------------------------------------------------------


class Canvas(Struct):
    """What pieces are drawn with: on a chosen row all colours are those for its ground.

    `larger` is how much larger than usual letters are.
    """

    painter: QPainter
    theme: Theme
    font: QFont
    chosen: bool
    larger: float = 1.0

    def ink(self, tone: str, *, steady: bool = False) -> QColor:
        """A colour of the palette as it is on this row; a `steady` one does not change."""
        return self.theme.color("on_accent_soft" if self.chosen and not steady else tone)


class Piece(ABC):
    """Something in a line of a cell, of a certain `width` or, with None, as wide as what is left."""

    width: float | None

    def room(self, canvas: Canvas) -> float | None:
        """How wide it is with the gap behind it; None for what is left."""
        return self.width

    @abstractmethod
    def draw(self, canvas: Canvas, box: QRectF) -> None:
        """Draw it in a box of that width, or of what there is."""


@dataclass(frozen=True, slots=True)
class Words(Piece):
    """Words in a colour of the palette, shortened where there is no room; `share` is the most that they take of it.

    With a `width`, which is for usual letters, they take that, whatever they say. `ground` is a colour behind them.
    Those that wrap take as many lines as they need, from a row that is as high as these; one that has no room for two
    shortens them.
    """

    text: str
    tone: str = "text"
    scale: float = 1.0
    bold: bool = False
    steady: bool = False
    width: float = 0
    share: float = 1.0
    gap: float = 8
    right: bool = False
    middle: bool = False
    ground: str = ""
    struck: bool = False
    wraps: bool = False

    def room(self, canvas: Canvas) -> float | None:
        """See `Piece`."""
        if self.width:
            return self.width * canvas.larger + self.gap
        return QFontMetricsF(self._font(canvas)).horizontalAdvance(self.text) + self.gap

    def draw(self, canvas: Canvas, box: QRectF) -> None:
        """See `Piece`."""
        font = self._font(canvas)
        metrics = QFontMetricsF(font)
        area, whole = QRectF(box), metrics.horizontalAdvance(self.text)
        if self.wraps and whole > box.width() and box.height() >= 2 * metrics.height() - 1:
            self._draw_lines(canvas, box, font)
            return
        gap = 0 if self.wraps else self.gap
        area.setWidth(max(0.0, box.width() - gap if box.width() < whole + gap or self.width else whole + 1))
        painter = canvas.painter
        if self.ground:
            top = area.center().y() - metrics.height() / 2
            painter.fillRect(QRectF(area.left() - 1, top, min(whole, area.width()) + 2, metrics.height()),
                             canvas.theme.color(self.ground))  # fmt: skip
        set_inks(painter, canvas.ink(self.tone, steady=self.steady), font=font)
        mode = Qt.TextElideMode.ElideMiddle if self.middle else Qt.TextElideMode.ElideRight
        shown = self.text if whole <= area.width() else metrics.elidedText(self.text, mode, area.width())
        painter.drawText(area, V_RIGHT if self.right else V_LEFT, shown)

    def _draw_lines(self, canvas: Canvas, box: QRectF, font: QFont) -> None:
        wrapper, painter = Wrapper(font), canvas.painter
        lines, high = wrapper.lines(self.text, box.width()), wrapper.metrics.height()
        set_inks(painter, canvas.ink(self.tone, steady=self.steady), font=font)
        top = box.center().y() - len(lines) * high / 2
        for start, end in lines:
            painter.drawText(QRectF(box.left(), top, box.width() + 40, high), V_LEFT, self.text[start:end])
            top += high

    def _font(self, canvas: Canvas) -> QFont:
        font = scaled(canvas.font, self.scale, bold=self.bold)
        font.setStrikeOut(self.struck)
        return font


@dataclass(frozen=True, slots=True)
class Glyph(Piece):
    """An icon in a colour of the palette."""

    icon: str
    tone: str = "text_muted"
    size: int = 14
    width: float = 20
    steady: bool = False

    def draw(self, canvas: Canvas, box: QRectF) -> None:
        """See `Piece`."""
        square = QRectF(box.left(), box.top(), min(self.width, self.size + 2), box.height())
        draw_glyph(canvas.painter, square, self.icon, canvas.ink(self.tone, steady=self.steady).name(), self.size)


@dataclass(frozen=True, slots=True)
class Marked(Piece):
    """A mark: a glyph on its fill."""

    mark: Mark
    size: int = 18
    width: float = 25

    def draw(self, canvas: Canvas, box: QRectF) -> None:
        """See `Piece`."""
        square = QRectF(box.left(), box.top(), self.size + 1, box.height())
        draw_mark(canvas.painter, square, self.mark, canvas.theme, self.size)


@dataclass(frozen=True, slots=True)
class Swatch(Piece):
    """A small square: of a fill with its letter, or hatched with an icon where `icon` names one."""

    fill: str
    letter: str = ""
    icon: str = ""
    width: float = 22

    def draw(self, canvas: Canvas, box: QRectF) -> None:
        """See `Piece`."""
        painter, theme = canvas.painter, canvas.theme
        square = QRectF(box.left(), box.center().y() - 7, 14, 14)
        ground, ink = theme.fill(self.fill)
        set_inks(painter, hairline(theme.color("fill_edge")), theme.color("panel") if self.icon else ground)
        painter.drawRect(square)
        if self.icon:
            painter.setBrush(hatch(ground, theme))
            painter.drawRect(square)
            draw_glyph(painter, square, self.icon, theme.palette.text, 12)
        set_inks(painter, ink, font=scaled(canvas.font, 0.76, bold=True))
        painter.drawText(square, Qt.AlignmentFlag.AlignCenter, self.letter)


@dataclass(frozen=True, slots=True)
class Chip(Piece):
    """A rounded word on a `fill`, or on a `ground` of the palette; it takes at most 60 % of the room."""

    text: str
    fill: str = ""
    ground: str = "neutral_soft"
    share: float = 0.6

    def room(self, canvas: Canvas) -> float | None:
        """See `Piece`."""
        return chip_width(QFontMetricsF(scaled(canvas.font, 0.86)), self.text) + 8

    def draw(self, canvas: Canvas, box: QRectF) -> None:
        """See `Piece`."""
        theme, painter = canvas.theme, canvas.painter
        painter.setFont(scaled(canvas.font, 0.86))
        chip = QRectF(box.left(), box.center().y() - 8, box.width() - 8, 16)
        told = QFontMetricsF(painter.font()).elidedText(self.text, Qt.TextElideMode.ElideRight, chip.width() - 12)
        ground, ink = theme.fill(self.fill) if self.fill else (theme.color(self.ground), theme.color("text"))
        draw_chip(painter, chip, told, ground, ink, theme.color("fill_edge" if self.fill else "border_strong"))


@dataclass(frozen=True, slots=True)
class Bar(Piece):
    """Parts from `start` to `end` (0 to 1) in a fill, or hatched where that is ""; it takes what is left.

    `line` is a place that a dashed line marks from top to bottom, `track` draws the whole length behind the parts.
    """

    parts: tuple[tuple[float, float, str], ...]
    height: float = 14
    track: bool = False
    line: float | None = None
    after: float = 8
    edge: str = "fill_edge"
    width: None = None

    def draw(self, canvas: Canvas, box: QRectF) -> None:
        """See `Piece`."""
        painter, theme = canvas.painter, canvas.theme
        wide, round_ = max(1.0, box.width() - self.after), 3 if self.track else 0
        whole = QRectF(box.left(), box.center().y() - self.height / 2, wide, self.height)
        if self.track:
            set_inks(painter, Qt.PenStyle.NoPen, theme.color("sunken"))
            painter.drawRoundedRect(whole, round_, round_)
        painter.setPen(hairline(theme.color(self.edge)))
        for start, end, fill in self.parts:
            if end <= start and self.track:
                continue
            part = QRectF(whole.left() + wide * start, whole.top(), max(1.0, wide * (end - start)), whole.height())
            painter.setBrush(theme.fill(fill)[0] if fill else hatch(theme.color("text_muted"), theme))
            painter.drawRoundedRect(part.adjusted(0.5, 0.5, -0.5, -0.5), round_, round_)
        if self.line is not None:
            pen = hairline(theme.color("text"), 1.5)
            pen.setStyle(Qt.PenStyle.DashLine)
            painter.setPen(pen)
            at = whole.left() + wide * self.line
            painter.drawLine(QPointF(at, box.top()), QPointF(at, box.bottom()))


class Strip(Struct, frozen=True):
    """One line of a cell: pieces from the left, and pieces at the right end.

    Its `height` is right for usual letters; one of 0 is that of the cell.
    """

    left: tuple[Piece, ...]
    right: tuple[Piece, ...] = ()
    height: float = 0


class Body(Struct, frozen=True):
    """Wrapped text below the strips; with `most`, so many lines and then `more` in place of the rest."""

    text: str
    tone: str = "text"
    most: int = 0
    more: str = ""


class Look(Struct, frozen=True):
    """What is drawn in a cell: strips from top to bottom, then a wrapped body.

    `left` and `right` are margins. `side` is a fill (or a ground of the palette) for a thin bar along the left,
    "hatched" for one that is hatched. `ground` is a colour behind it all, `rule` a line at the "top" or "bottom". A
    `ring` is drawn around the row that the keyboard is on.
    """

    strips: tuple[Strip, ...]
    left: float = 6
    right: float = 6
    top: float = 0
    side: str = ""
    ground: str = ""
    rule: str = ""
    ring: bool = False
    body: Body | None = None


def one_line(*left: Piece, right: Sequence[Piece] = (), margin: float = 6, ring: bool = False, rule: str = "") -> Look:
    """A cell of one line."""
    return Look((Strip(left, tuple(right)),), margin, margin, ring=ring, rule=rule)


_SIDE: Final = 4.0
_CHECK_ROOM: Final = 20.0
_BETWEEN: Final = 6
_BESIDE: Final = 14  # what a cell keeps free at the sides of its words
_REMEMBERED: Final = 4000


class CellDelegate(QStyledItemDelegate):
    """Draws cells that have a `Look`, and leaves the others to Qt.

    `height` is that of a row in pixels, with usual letters; 0 for as tall as the font asks and the strips and the body
    of a cell need.
    """

    def __init__(self, theme: Theme, parent: QAbstractItemView, height: int = 0, width: int = 120) -> None:
        super().__init__(parent)
        self._theme, self._height, self._width = theme, height, width
        self._wrapper: Wrapper | None = None
        self._lines: dict[tuple[str, int, int], tuple[tuple[Line, ...], bool]] = {}

    def createEditor(self, parent: QWidget, option: QStyleOptionViewItem, index: Index) -> QWidget:
        """Qt: what is typed over is called as its cell."""
        editor = super().createEditor(parent, option, index)
        editor.setAccessibleName(str(index.data(DISPLAY) or ""))
        return editor

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        """Qt: what the strips and the wrapped text need."""
        look = index.data(LOOK)
        if not isinstance(look, Look):
            return self._wrapped(super().sizeHint(option, index), option, index)
        if self._height:
            return QSize(self._width, round(self._height * letters(option.widget)))
        least = max(23, round(QFontMetricsF(option.font).height()) + 7)
        tall = sum(strip.height for strip in look.strips) * letters(option.widget)
        if look.body is not None:
            lines, folded = self._broken(look, look.body, option)
            tall += (self._line_height() * (len(lines) + folded) if look.body.text else 0) + 8
        return QSize(self._width, round(tall) or least)

    @staticmethod
    def _wrapped(usual: QSize, option: QStyleOptionViewItem, index: Index) -> QSize:
        """The room for words that wrap in a column of a tree: Qt asks for it without the width of the column."""
        tree = option.widget
        if not isinstance(tree, QTreeView) or not tree.wordWrap():
            return usual
        group = index.model().hasChildren(index.model().index(index.row(), 0, index.parent()))
        wrapper = Wrapper(scaled(option.font, 1.0, bold=group))
        if group:  # it has its row for itself
            wide = tree.viewport().width() - tree.indentation()
        else:
            wide = tree.columnWidth(index.column()) - (0 if index.column() else 2 * tree.indentation())
        more = len(wrapper.lines(str(index.data(DISPLAY) or ""), max(wide - _BESIDE, 20.0))) - 1
        return QSize(usual.width(), usual.height() + round(more * wrapper.metrics.height()) + (_BETWEEN if more else 0))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Qt: draw a cell."""
        look, view, rect, theme = index.data(LOOK), option.widget, QRectF(option.rect), self._theme
        if not isinstance(look, Look):
            has_focus = option.state & QStyle.StateFlag.State_HasFocus
            option.state &= ~QStyle.StateFlag.State_HasFocus  # Qt's frame is another one, and reaches over the edge
            super().paint(painter, option, index)
            if has_focus:
                draw_focus(painter, rect, theme)
            return
        chosen = bool(option.state & QStyle.StateFlag.State_Selected)
        painter.save()
        if look.ground and not chosen:
            painter.fillRect(rect, theme.color(look.ground))
        view.style().drawPrimitive(QStyle.PrimitiveElement.PE_PanelItemViewItem, option, painter, view)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        box = rect.adjusted(look.left, look.top, -look.right, 0)
        state = index.data(CHECK)
        if state is not None:
            _draw_check(painter, option, Qt.CheckState(state), view)
            box.setLeft(box.left() + _CHECK_ROOM)
        if look.rule:
            painter.setPen(hairline(theme.color("border")))
            at = rect.top() + 0.5 if look.rule == "top" else rect.bottom() - 0.5
            painter.drawLine(QPointF(rect.left(), at), QPointF(rect.right(), at))
        if look.side:
            self._draw_side(painter, QRectF(box.left(), rect.top() + 3, _SIDE, rect.height() - 6), look.side)
            box.setLeft(box.left() + _SIDE + 8)
        canvas = Canvas(painter, theme, option.font, chosen, letters(view))
        for strip in look.strips:
            high = strip.height * canvas.larger
            _draw_strip(canvas, QRectF(box.left(), box.top(), box.width(), high or box.height()), strip)
            box.setTop(box.top() + high)
        if look.body is not None and look.body.text:
            self._draw_body(canvas, box, look.body, self._broken(look, look.body, option))
        if look.ring and chosen and option.state & QStyle.StateFlag.State_HasFocus:
            draw_focus(painter, rect, theme)
        painter.restore()

    def _draw_side(self, painter: QPainter, bar: QRectF, side: str) -> None:
        theme = self._theme
        if side == "hatched":
            painter.fillRect(bar, hatch(theme.color("text_muted"), theme))
            return
        filled = side in theme.palette.fills
        painter.setPen(hairline(theme.color("fill_edge" if filled else "border_strong")))
        painter.setBrush(theme.fill(side)[0] if filled else theme.color(side))
        painter.drawRect(bar.adjusted(0.5, 0.5, -0.5, -0.5))

    # ---- wrapped text -----------------------------------------------------------------------------------------------

    def _draw_body(self, canvas: Canvas, box: QRectF, body: Body, broken: tuple[tuple[Line, ...], bool]) -> None:
        lines, folded = broken
        painter, height, top = canvas.painter, self._line_height(), box.top()
        set_inks(painter, canvas.ink(body.tone), font=canvas.font)
        for start, end in lines:
            painter.drawText(QRectF(box.left(), top, 4000, height), V_LEFT, body.text[start:end])
            top += height
        if folded:
            painter.setPen(self._theme.color("accent"))
            painter.drawText(QRectF(box.left(), top, 4000, height), V_LEFT, tr(body.more))

    def _broken(self, look: Look, body: Body, option: QStyleOptionViewItem) -> tuple[tuple[Line, ...], bool]:
        """The lines that are shown, and whether there are more."""
        view = option.widget
        if not isinstance(view, QAbstractItemView):
            return (), False
        if self._wrapper is None or self._wrapper.font != view.font():
            self._wrapper, self._lines = Wrapper(view.font()), {}
        wide, known = view.viewport().width(), self._lines
        key = (body.text, wide, body.most)
        if key not in known:
            if len(known) > _REMEMBERED:
                known.clear()
            room = max(40.0, wide - look.left - look.right - (_SIDE + 8 if look.side else 0))
            lines = self._wrapper.lines(body.text, room, body.most + 2 if body.most else None)
            folded = bool(body.most) and len(lines) > body.most + 1
            known[key] = tuple(lines[: body.most] if folded else lines), folded
        return known[key]

    def _line_height(self) -> float:
        return self._wrapper.metrics.height() * 1.1 if self._wrapper is not None else 0.0


def _draw_strip(canvas: Canvas, box: QRectF, strip: Strip) -> None:
    """Pieces at the right end have their room first; those on the left share what remains."""
    right = box.right()
    for piece in reversed(strip.right):
        wide = min(piece.room(canvas) or 0.0, max(0.0, (right - box.left()) * getattr(piece, "share", 1.0)))
        piece.draw(canvas, QRectF(right - wide, box.top(), wide, box.height()))
        right -= wide
    left = box.left()
    for piece in strip.left:
        room, wanted = max(0.0, right - left), piece.room(canvas)
        wide = room if wanted is None else min(wanted, room * getattr(piece, "share", 1.0))
        if wide >= 1:
            piece.draw(canvas, QRectF(left, box.top(), wide, box.height()))
        left += wide


def _draw_check(painter: QPainter, option: QStyleOptionViewItem, state: Qt.CheckState, view: QWidget) -> None:
    button, size = QStyleOptionButton(), 15
    button.rect = QRect(option.rect.left() + 3, option.rect.center().y() - size // 2, size, size)
    on = {
        Qt.CheckState.Checked: QStyle.StateFlag.State_On,
        Qt.CheckState.Unchecked: QStyle.StateFlag.State_Off,
        Qt.CheckState.PartiallyChecked: QStyle.StateFlag.State_NoChange,
    }
    button.state = QStyle.StateFlag.State_Enabled | on[state]
    view.style().drawPrimitive(QStyle.PrimitiveElement.PE_IndicatorItemViewItemCheck, button, painter, view)
