"""The text of the test bench, with the keys that were found in it marked where they stand.

What a tested text triggers, as a table: who goes in, then who does not, each with its key and the reason.

Draws the rows of the test bench: the mark of what became of an entry before its title.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from typing import Final

from PySide6.QtCore import QAbstractTableModel, QEvent, QObject, QRectF, Qt
from PySide6.QtGui import QFontMetricsF, QHelpEvent, QPainter, QTextCharFormat, QTextCursor
from PySide6.QtWidgets import (
    QPlainTextEdit,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableView,
    QTextEdit,
    QToolTip,
    QWidget,
)

from lorestudio.studio.tryout.bench import BenchRow
from lorestudio.ui.shell.qt import ACCESSIBLE_TEXT, DISPLAY, ENTRY_ID, HORIZONTAL, ITEM, MARK, NO_INDEX, TOOLTIP, Index
from lorestudio.ui.shell.theme import Theme, scaled
from lorestudio.ui.shell.words import number, tr
from lorestudio.ui.widgets.marks import Mark, fate_mark
from lorestudio.ui.widgets.paint import draw_focus, draw_mark, hairline

ENTRY, KEY, WHY, TOKENS = range(4)
COLUMNS: Final = ("Entry", "Key", "Why", "Tokens")


def key_words(row: BenchRow) -> str:
    """The keys that were found, "" for none."""
    return ", ".join(row.keys)


def why_words(row: BenchRow) -> str:
    """In a word or two: how it came in, or what stopped it."""
    if row.injected:
        return row.how or row.label
    return row.label


def full_words(row: BenchRow) -> str:
    """How it came in, and what settled it, in sentences."""
    settled = row.sentence if not row.injected or not row.how_sentence or row.label == "Shortened" else ""
    return " ".join(part for part in (row.how_sentence, settled) if part)


class BenchTable(QAbstractTableModel):
    """The rows of one result."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._rows: tuple[BenchRow, ...] = ()

    def set_rows(self, rows: Sequence[BenchRow]) -> None:
        """Show other rows."""
        self.beginResetModel()
        self._rows = tuple(rows)
        self.endResetModel()

    def row(self, number: int) -> BenchRow | None:
        """The row of that number."""
        return self._rows[number] if 0 <= number < len(self._rows) else None

    def row_of(self, entry: int | None) -> int:
        """The row of an entry, -1 where it has none."""
        return next((place for place, row in enumerate(self._rows) if row.entry == entry), -1)

    # ---- Qt ---------------------------------------------------------------------------------------------------------

    def rowCount(self, parent: Index = NO_INDEX) -> int:
        """Qt: one row an entry."""
        return 0 if parent.isValid() else len(self._rows)

    def columnCount(self, parent: Index = NO_INDEX) -> int:
        """Qt: entry, key, why, tokens."""
        return 0 if parent.isValid() else len(COLUMNS)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = DISPLAY) -> object:
        """Qt: the headings."""
        if orientation is HORIZONTAL and 0 <= section < len(COLUMNS):
            if role == DISPLAY:
                return tr(COLUMNS[section])
            if role == Qt.ItemDataRole.TextAlignmentRole:
                side = Qt.AlignmentFlag.AlignRight if section == TOKENS else Qt.AlignmentFlag.AlignLeft
                return int(side | Qt.AlignmentFlag.AlignVCenter)
        return None

    def data(self, index: Index, role: int = DISPLAY) -> object:  # noqa: PLR0911  # a table of roles
        """Qt: a cell."""
        row = self.row(index.row())
        if row is None:
            return None
        if role == ITEM:
            return row
        if role == ENTRY_ID:
            return row.entry
        if role == MARK:
            return fate_mark(row.fate) if index.column() == ENTRY else None
        if role == TOOLTIP:
            return full_words(row)
        if role == Qt.ItemDataRole.TextAlignmentRole and index.column() == TOKENS:
            return int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        words = {ENTRY: row.title, KEY: key_words(row), WHY: why_words(row), TOKENS: number(row.tokens)}
        if role == DISPLAY:
            return words[index.column()]
        if role == ACCESSIBLE_TEXT:
            if index.column() == ENTRY:
                return tr("{title}: {state}", title=row.title, state=tr(fate_mark(row.fate).word))
            return words[index.column()]
        return None


class BenchDelegate(QStyledItemDelegate):
    """One line a row; the chosen row is ringed where the keyboard is."""

    def __init__(self, theme: Theme, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._theme = theme

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Qt: draw a cell."""
        theme, view = self._theme, option.widget
        chosen = bool(option.state & QStyle.StateFlag.State_Selected)
        box = QRectF(option.rect)
        painter.save()
        if chosen:
            painter.fillRect(box, theme.color("accent_soft"))
        painter.setPen(hairline(theme.color("border")))
        painter.drawLine(box.bottomLeft(), box.bottomRight())
        room = box.adjusted(8, 0, -8, 0)
        mark = index.data(MARK)
        if isinstance(mark, Mark):
            draw_mark(painter, QRectF(box.left() + 6, box.top(), 20, box.height()), mark, theme)
            room.setLeft(box.left() + 33)
        first = index.column() == ENTRY
        painter.setFont(scaled(option.font, 1.0 if first else 0.93, bold=first and chosen))
        ink = "on_accent_soft" if chosen else "text" if first else "text_muted"
        painter.setPen(theme.color(ink))
        side = Qt.AlignmentFlag.AlignRight if index.column() == TOKENS else Qt.AlignmentFlag.AlignLeft
        text = str(index.data(DISPLAY) or "")
        shown = QFontMetricsF(painter.font()).elidedText(text, Qt.TextElideMode.ElideRight, room.width())
        painter.drawText(room, int(side | Qt.AlignmentFlag.AlignVCenter), shown)
        if chosen and first and isinstance(view, QTableView) and view.hasFocus():
            draw_focus(painter, box.adjusted(1, 1, -1, -2), theme)
        painter.restore()


MOST_MARKS: Final = 2000
"""A text with more found keys is marked up to here."""


class BenchText(QPlainTextEdit):
    """A field for any text; `show_rows` marks the keys of a result, more strongly those of the chosen entry.

    Keys of entries that go in have a full line below, those of entries that are stopped a dotted one.
    """

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._rows: tuple[BenchRow, ...] = ()
        self._chosen: int | None = None
        self._text = ""
        self.setAccessibleName(tr("Text to test"))
        self.setTabChangesFocus(True)
        self.setObjectName("Diff")  # with an edge
        theme.changed.connect(self._mark)

    def show_rows(self, text: str, rows: Sequence[BenchRow]) -> None:
        """Mark the keys of these rows, which are about `text`; where another one stands here, nothing is marked."""
        self._text, self._rows = text, tuple(rows)
        self._mark()

    def choose(self, entry: int | None) -> None:
        """Mark the keys of this entry more strongly."""
        if entry != self._chosen:
            self._chosen = entry
            self._mark()

    def names_at(self, position: int) -> str:
        """Which keys of which entries stand at a place of the text (in Qt's count), line by line."""
        lines = []
        units = _Units(self._text)
        for row in self._rows:
            for place in row.places:
                start, end = units.at(place.start or 0), units.at(place.end or 0)
                if start <= position < end:
                    words = tr("“{key}” refines “{title}”") if place.refine else tr("“{key}” is a key of “{title}”")
                    lines.append(words.format(key=place.key, title=row.title))
        return "\n".join(dict.fromkeys(lines))

    def event(self, event: QEvent) -> bool:
        """Qt: what a marked word belongs to, under the mouse."""
        if event.type() is QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            place = self.viewport().mapFrom(self, event.pos())
            cursor = self.cursorForPosition(place)
            inside = self.cursorRect(cursor).adjusted(-12, 0, 12, 0).contains(place)
            QToolTip.showText(event.globalPos(), self.names_at(cursor.position()) if inside else "", self)
            return True
        return super().event(event)

    def _mark(self) -> None:
        if self.toPlainText() != self._text:
            self.setExtraSelections([])
            return
        units = _Units(self._text)
        found: list[QTextEdit.ExtraSelection] = []
        # The chosen entry's come last, so that they lie on top.
        for row in sorted(self._rows, key=lambda row: (row.entry == self._chosen, row.injected)):
            for place in row.places[: MOST_MARKS - len(found)]:
                cursor = QTextCursor(self.document())
                cursor.setPosition(units.at(place.start or 0))
                cursor.setPosition(units.at(place.end or 0), QTextCursor.MoveMode.KeepAnchor)
                selection = QTextEdit.ExtraSelection()
                selection.cursor = cursor
                selection.format = self._format(row)
                found.append(selection)
        self.setExtraSelections(found)

    def _format(self, row: BenchRow) -> QTextCharFormat:
        theme, look = self._theme, QTextCharFormat()
        if row.entry == self._chosen:
            ground, ink = theme.fill("yellow")
            look.setBackground(ground)
            look.setForeground(ink)
        else:
            look.setBackground(theme.color("mark"))
            look.setForeground(theme.color("on_mark"))
        lines = QTextCharFormat.UnderlineStyle
        look.setUnderlineStyle(lines.SingleUnderline if row.injected else lines.DotLine)
        look.setUnderlineColor(look.foreground().color())
        return look


class _Units:
    """Places of a text in Qt's count, which is of UTF-16 code units."""

    def __init__(self, text: str) -> None:
        self._double = [place for place, char in enumerate(text) if char > "\uffff"]

    def at(self, place: int) -> int:
        return place + bisect_left(self._double, place)
