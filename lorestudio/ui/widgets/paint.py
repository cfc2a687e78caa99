"""Small things that several delegates draw: marks of states and of found keys, chips, boxes, and texts in lines.

A state has a glyph, a fill and a word, never a colour alone. Lines are broken fast enough for thousands of messages:
words are measured once and remembered. Which words of a message are keys of the chosen entry is told here, too.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import Final, TypeAlias

from msgspec import Struct
from PySide6.QtCore import QBuffer, QByteArray, QEvent, QPoint, QPointF, QRect, QRectF, QSize, Qt
from PySide6.QtGui import (
    QAccessible,
    QAccessibleEvent,
    QBrush,
    QColor,
    QFont,
    QFontMetricsF,
    QHelpEvent,
    QImage,
    QImageWriter,
    QPainter,
    QPen,
    QPixmap,
    QTextCharFormat,
)
from PySide6.QtSvg import QSvgGenerator
from PySide6.QtWidgets import QToolTip, QWidget

from lorestudio.domain.entry import OFF, Entry
from lorestudio.trace.found_keys import FoundKey, places_in
from lorestudio.trace.held_run import WouldCell, WouldState
from lorestudio.trace.journey import CellState, Fate, FateState, JourneyCell
from lorestudio.trace.model import Phase
from lorestudio.ui.shell.qt import V_LEFT, plain
from lorestudio.ui.shell.theme import Palette, Theme, drawn, glyph
from lorestudio.ui.shell.words import tr
from lorestudio.ui.widgets.rows import PictureMenu


class KeyMark(Struct, frozen=True):
    """Characters `start` to `end` of a message's text, or with `in_name` the speaker's name. `words` are its tooltip.

    `refine` marks a refine key; it is drawn with a broken line where a key has a full one. `lacking` marks a key that
    was not enough, for want of refine keys.
    """

    start: int
    end: int
    key: str
    words: str
    refine: bool = False
    in_name: bool = False
    lacking: bool = False

    def describe(self) -> str:
        """The mark in a few words, for screen readers."""
        if self.refine:
            return tr("the refine key “{key}” was found here", key=self.key)
        if self.lacking:
            return tr("the key “{key}” was found here, its refine keys were not", key=self.key)
        return tr("the key “{key}” was found here", key=self.key)


class KeyQuery(Struct, frozen=True):
    """What is to be marked: the keys of the entry called `title`, in the messages before `until`."""

    found: tuple[FoundKey, ...] = ()
    until: int = 0
    title: str = ""

    def marks(self, message: int, text: str) -> tuple[KeyMark, ...]:
        """The marks in one message with this text, in the order of the text; none lies over another.

        Where keys and refine keys meet, the key is marked.
        """
        if message >= self.until:
            return ()
        kept: list[KeyMark] = []
        for one in sorted(self.found, key=lambda one: one.refine):
            if one.message in {None, message}:
                words = self._words(one)
                for start, end in [(0, 1)] if one.in_name else places_in(one, message, text):
                    mark = KeyMark(start, end, one.key, words, one.refine, one.in_name, bool(one.missing))
                    beside = (each for each in kept if each.in_name is mark.in_name)
                    if not any(mark.start < each.end and each.start < mark.end for each in beside):
                        kept.append(mark)
        return tuple(sorted(kept, key=lambda mark: (not mark.in_name, mark.start)))

    def _words(self, one: FoundKey) -> str:
        if one.refine:
            words = tr("“{key}” is a refine key of “{title}”.", key=one.key, title=self.title)
        else:
            words = tr("“{key}” is a key of “{title}”.", key=one.key, title=self.title)
        others = [other for other in self.found if other.refine is not one.refine and other.message is not None]
        for other in others[:3]:
            kind = tr("Its key") if one.refine else tr("Its refine key")
            words += " " + tr("{kind} “{key}” is in #{message}.", kind=kind, key=other.key, message=other.message)
        return " ".join(part for part in (words, one.missing) if part)


class Mark(Struct, frozen=True):
    """A glyph (an icon's name), the fill behind it ("" for none), and the state in a word or two.

    A `hollow` one is what would have happened: its fill is only an outline.
    """

    icon: str
    fill: str
    word: str
    hollow: bool = False


_ADDED: Final = Mark("plus", "yellow", "candidate")
_PLACED: Final = Mark("check", "green", "injected")
_TRIMMED: Final = Mark("scissors", "green", "trimmed")
_PINNED: Final = Mark("star", "sky", "pinned")
_GATED: Final = Mark("cross", "orange", "gated out")
_COOLING: Final = Mark("pause", "grey", "cooling down")
_CUT: Final = Mark("scissors", "purple", "cut")
_REFUSED: Final = Mark("slash", "", "refused")
_ABSENT: Final = Mark("dot", "", "not a candidate")
_WOULD_PASS: Final = Mark("", "grey", "would pass", hollow=True)
_WOULD_TRIM: Final = Mark("scissors", "green", "would be trimmed", hollow=True)
BLANK: Final = Mark("", "", "not reached")
_DROPPED: Final = Mark("cross", "grey", "not selected")
DECIDING: Final = Mark("live", "", "being decided")
"""The stage runs and has not decided yet."""
BROKEN: Final = Mark("error", "", "failed")
"""The stage failed."""

_BY_REASON: Final = {
    "placed": _PLACED,
    "truncated": _TRIMMED,
    "pinned": _PINNED,
    "pin_upgraded": _PINNED,
    "ai_pick": Mark("plus", "sky", "chosen by AI"),
    "below_confidence": Mark("cross", "grey", "not sure enough"),
    "prefilter_dropped": Mark("cross", "grey", "other category"),
    "fell_back": Mark("plus", "vermilion", "taken instead"),
    "fallback_dropped": Mark("cross", "grey", "lost with the answer"),
    "not_offered": Mark("dash", "", "not offered to AI"),
    "cooling_down": _COOLING,
    "reinjection_pause": _COOLING,
}
_BY_STATE: Final = {
    CellState.ADDED: _ADDED,
    CellState.KEPT: Mark("check", "", "kept"),
    CellState.CHANGED: Mark("tilde", "", "changed"),
    CellState.REMOVED: _GATED,
    CellState.REFUSED: _REFUSED,
    CellState.ABSENT: _ABSENT,
    CellState.NOT_REACHED: BLANK,
}
_REMOVED_IN: Final = {Phase.BUDGET: _CUT, Phase.SELECT: _DROPPED, Phase.MATCH: _DROPPED, Phase.LOAD: _DROPPED}


def cell_mark(cell: JourneyCell, phase: Phase) -> Mark:
    """The mark of one cell of a journey."""
    reason = cell.verdict.reason if cell.verdict is not None else ""
    if reason in _BY_REASON:
        return _BY_REASON[reason]
    if cell.state is CellState.REMOVED:
        return _REMOVED_IN.get(phase, _GATED)
    if phase is Phase.INJECT and cell.state is CellState.KEPT and reason:
        return _PLACED
    return _BY_STATE[cell.state]


def would_mark(cell: WouldCell) -> Mark:
    """The mark of a stage that the entry did not reach: what it would have done."""
    if cell.state is WouldState.NOT_ASKED:
        return Mark("question", "sky", "not offered to AI", hollow=True)
    if cell.state is WouldState.STOP and cell.verdict is not None:
        known = _BY_REASON.get(cell.verdict.reason) or _REMOVED_IN.get(cell.phase, _GATED)
        return Mark(known.icon, known.fill or "grey", f"would be {known.word}", hollow=True)
    shortened = cell.state is WouldState.CHANGE and cell.verdict is not None and cell.verdict.reason == "truncated"
    return _WOULD_TRIM if shortened else _WOULD_PASS


def fate_mark(fate: Fate) -> Mark:
    """The mark of what became of an entry in the end."""
    if fate.state is FateState.INJECTED:
        return _PLACED
    if fate.state is FateState.TRUNCATED:
        return _TRIMMED
    if fate.state is FateState.REMOVED:
        return _BY_REASON.get(fate.reason) or _REMOVED_IN.get(fate.phase or Phase.GATE, _GATED)
    if fate.state is FateState.REFUSED:
        return _BY_REASON.get(fate.reason, _REFUSED)
    return _ADDED if fate.state is FateState.UNDECIDED else _ABSENT


class Kind(Struct, frozen=True):
    """What sort of entry a note is: a glyph and a word."""

    icon: str
    word: str


def entry_kind(entry: Entry) -> Kind:
    """The sort that matters most for when an entry goes in."""
    for flag, icon, word in (
        (bool(entry.system_fields.get(OFF)), "slash", "disabled, left out"),
        (entry.guide, "guide", "writing guide, never injected"),
        (entry.constant, "constant", "constant, always in"),
        (entry.seed, "seed", "seed, for the start of a chat"),
        (entry.bootstrap, "bootstrap", "bootstrap, in while the chat is short"),
    ):
        if flag:
            return Kind(icon, tr(word))
    return Kind("normal", tr("normal"))


def hairline(color: QColor, width: float = 1.0) -> QPen:
    """A pen of `width` device-independent pixels that no transformation widens."""
    pen = QPen(color, width)
    pen.setCosmetic(True)
    return pen


Pen: TypeAlias = QPen | QColor | Qt.PenStyle
Brush: TypeAlias = QBrush | QColor | Qt.BrushStyle


def set_inks(painter: QPainter, pen: Pen, brush: Brush | None = None, font: QFont | None = None) -> None:
    """Draw with these from now on; what is not given stays as it is."""
    painter.setPen(pen)
    if brush is not None:
        painter.setBrush(brush)
    if font is not None:
        painter.setFont(font)


def draw_box(painter: QPainter, box: QRectF, radius: float, pen: Pen, brush: Brush) -> None:
    """A rounded box with an edge whose middle lies half a pixel inside; the painter is as before then."""
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    set_inks(painter, pen, brush)
    painter.drawRoundedRect(box.adjusted(0.5, 0.5, -0.5, -0.5), radius, radius)
    painter.restore()


def text_format(palette: Palette, ink: str = "", ground: str = "") -> QTextCharFormat:
    """Letters of a text in a colour of the palette, and upon another one; "" leaves either as it is."""
    made = QTextCharFormat()
    if ink:
        made.setForeground(QColor(getattr(palette, ink)))
    if ground:
        made.setBackground(QColor(getattr(palette, ground)))
    return made


def hatch(color: QColor, theme: Theme) -> QBrush:
    """The pattern of what was cut, in a shade of `color` that stands out from a pane."""
    return QBrush(color if theme.palette.dark else color.darker(125), Qt.BrushStyle.BDiagPattern)


def draw_glyph(painter: QPainter, box: QRectF, name: str, color: str, size: int) -> None:
    """The icon `name` centred in `box`; `color` is `#RRGGBB`."""
    if name:
        corner = box.center() - QPointF(size / 2, size / 2)
        painter.drawPixmap(corner, glyph(name, color, size))


def draw_mark(painter: QPainter, box: QRectF, mark: Mark, theme: Theme, size: int = 18) -> None:
    """A mark centred in `box`: its glyph on its fill, or the bare glyph where it has none."""
    square = QRectF(box.center().x() - size / 2, box.center().y() - size / 2, size, size)
    if not mark.fill:
        ink = theme.palette.text_faint if mark.icon in {"check", "dot"} else theme.palette.text_muted
        draw_glyph(painter, square, mark.icon, ink, size - 4)
        return
    ground, ink = theme.palette.fill(mark.fill)
    if mark.hollow:
        _draw_hollow(painter, square, mark, theme, ground)
        return
    draw_box(painter, square, 4, hairline(theme.color("fill_edge")), QColor(ground))
    draw_glyph(painter, square, mark.icon, ink, size - 5)


def _draw_hollow(painter: QPainter, square: QRectF, mark: Mark, theme: Theme, edge: str) -> None:
    """An outline in the colour that the mark would be filled with; one without a glyph is small."""
    inset = 0.0 if mark.icon else square.width() / 3.6 - 0.5
    pen = hairline(QColor(edge) if theme.palette.dark else QColor(edge).darker(125), 1.3)
    if mark.icon:
        pen.setStyle(Qt.PenStyle.DashLine)
        pen.setDashPattern([2.2, 1.8])
    box = square.adjusted(inset, inset, -inset, -inset)
    draw_box(painter, box, 4 if mark.icon else 2, pen, Qt.BrushStyle.NoBrush)
    draw_glyph(painter, square, mark.icon, theme.palette.text_muted, round(square.width()) - 6)


def mark_pixmap(mark: Mark, theme: Theme, size: int) -> QPixmap:
    """A mark as a picture of `size` device-independent pixels."""
    return drawn(size, size, lambda painter: draw_mark(painter, QRectF(0, 0, size, size), mark, theme, size))


def chip_width(metrics: QFontMetricsF, text: str) -> float:
    """How wide a chip with `text` is."""
    return metrics.horizontalAdvance(text) + 16


def draw_key_mark(painter: QPainter, box: QRectF, mark: KeyMark, theme: Theme) -> None:
    """The ground behind a found key in `box`: filled with a full edge, for a refine key a broken edge without fill.

    A key that was not enough has a dotted line below, as the keys of entries that are stopped have in the bench.
    """
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    area = box.adjusted(-1.5, 0.5, 1.5, -0.5)
    if mark.refine:
        pen = QPen(theme.color("text"), 1.2, Qt.PenStyle.CustomDashLine)
        pen.setDashPattern([3.0, 2.0])
        set_inks(painter, pen, Qt.BrushStyle.NoBrush)
        area.adjust(0.5, 0.5, -0.5, -0.5)
    else:
        set_inks(painter, hairline(theme.color("border_strong")), theme.color("mark"))
    painter.drawRoundedRect(area, 3, 3)
    if mark.lacking:
        painter.setPen(QPen(theme.color("on_mark"), 1.6, Qt.PenStyle.DotLine))
        painter.drawLine(QPointF(area.left() + 1, area.bottom() - 1), QPointF(area.right() - 1, area.bottom() - 1))
    painter.restore()


def draw_chip(painter: QPainter, box: QRectF, text: str, ground: QColor, ink: QColor, edge: QColor) -> None:
    """A rounded chip with `text` in the painter's font."""
    painter.save()
    draw_box(painter, box, box.height() / 2, hairline(edge), ground)
    painter.setPen(ink)
    painter.drawText(box, Qt.AlignmentFlag.AlignCenter, text)
    painter.restore()


def draw_focus(painter: QPainter, rect: QRect | QRectF, theme: Theme) -> None:
    """The two pixel ring of what the keyboard is on."""
    ring = QRectF(rect).adjusted(0.5, 0.5, -0.5, -0.5)
    draw_box(painter, ring, 4, hairline(theme.color("focus"), 2), Qt.BrushStyle.NoBrush)


def draw_words(painter: QPainter, box: QRectF, text: str, align: int = V_LEFT) -> None:
    """A line of text in the painter's font, shortened where `box` is too narrow for it."""
    shown = QFontMetricsF(painter.font()).elidedText(text, Qt.TextElideMode.ElideRight, box.width())
    painter.drawText(box, align, shown)


def whole_parts(text: str, metrics: QFontMetricsF, width: float) -> str:
    """As many parts of a line ("one · two") from its start as there is room for in `width` pixels, none shortened."""
    parts = text.split(" · ")
    while parts and metrics.horizontalAdvance(" · ".join(parts)) > width:
        parts.pop()
    return " · ".join(parts)


# ---- painted widgets ------------------------------------------------------------------------------------------------


def tell(widget: QWidget, text: str) -> None:
    """What a painted widget shows now, for screen readers."""
    widget.setAccessibleDescription(text)
    QAccessible.updateAccessibility(QAccessibleEvent(widget, QAccessible.Event.DescriptionChanged))


def shows_tip(widget: QWidget, event: QEvent, words: Callable[[QPoint], str]) -> bool:
    """Whether an event asks for a tool tip, which is shown: the words about a place of the widget, "" for none."""
    if event.type() is not QEvent.Type.ToolTip or not isinstance(event, QHelpEvent):
        return False
    QToolTip.showText(event.globalPos(), plain(words(event.pos())), widget)
    return True


class Picture(PictureMenu, QWidget):
    """A painted widget that takes the keyboard, and says in words what is under the pointer."""

    def __init__(self, theme: Theme, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMouseTracking(True)
        self.setAccessibleName(name)

    @abstractmethod
    def words_at(self, point: QPoint) -> str:
        """What is said about a place, "" for nothing."""

    def event(self, event: QEvent) -> bool:
        """Qt: what is under the pointer."""
        return shows_tip(self, event, self.words_at) or super().event(event)


def png_bytes(image: QImage) -> bytes:
    """A picture as a PNG file."""
    buffer = QBuffer()
    buffer.open(QBuffer.OpenModeFlag.WriteOnly)
    QImageWriter(buffer, QByteArray(b"png")).write(image)
    return bytes(buffer.data().data())


def svg_bytes(size: QSize, title: str, draw: Callable[[QPainter], None]) -> bytes:
    """What is drawn in a room of that size as an SVG file."""
    buffer = QBuffer()
    buffer.open(QBuffer.OpenModeFlag.WriteOnly)
    made = QSvgGenerator()
    made.setOutputDevice(buffer)
    made.setSize(size)
    made.setViewBox(QRect(0, 0, size.width(), size.height()))
    made.setTitle(title)
    with QPainter(made) as painter:
        draw(painter)
    return bytes(buffer.data().data())


_REMEMBERED: Final = 50_000

Line: TypeAlias = tuple[int, int]
"""A line of a text, as start and end: `text[start:end]`."""


class Wrapper:
    """Breaks texts in one font. A word that is wider than a line is broken between characters."""

    def __init__(self, font: QFont) -> None:
        self.font = QFont(font)
        self.metrics = QFontMetricsF(self.font)
        self._widths: dict[str, float] = {}

    def width(self, piece: str) -> float:
        """The width of a piece of text in device-independent pixels."""
        known = self._widths.get(piece)
        if known is None:
            if len(self._widths) > _REMEMBERED:
                self._widths.clear()
            known = self._widths[piece] = self.metrics.horizontalAdvance(piece)
        return known

    def lines(self, text: str, width: float, most: int | None = None) -> list[Line]:
        """The lines of `text` in a column of `width` pixels; at least one, and not many more than `most`."""
        if most is not None:  # no line holds more characters than fit at half their usual width
            text = text[: round(most * 2 * width / max(1.0, self.metrics.averageCharWidth())) + 1]
        lines: list[Line] = []
        place = 0
        for paragraph in text.split("\n"):
            if most is not None and len(lines) > most:
                break
            self._break_paragraph(text, place, paragraph, width, lines)
            place += len(paragraph) + 1
        return lines

    def _break_paragraph(self, text: str, place: int, paragraph: str, width: float, lines: list[Line]) -> None:
        known, space = self._widths, self.width(" ")
        start = end = place
        used = 0.0
        for word in paragraph.split(" "):
            wide = known.get(word)
            if wide is None:
                wide = self.width(word)
            after = place + len(word)
            if used and used + space + wide > width:
                lines.append((start, end))
                start, used = place, 0.0
            if wide > width:
                start, used = self._break_word(text, start if used else place, after, width, lines)
            else:
                used += wide + (space if place > start else 0.0)
            end = after
            place = after + 1
        lines.append((start, end))

    def _break_word(self, text: str, start: int, end: int, width: float, lines: list[Line]) -> tuple[int, float]:
        used = 0.0
        for place in range(start, end):
            wide = self.width(text[place])
            if used + wide > width and place > start:
                lines.append((start, place))
                start, used = place, 0.0
            used += wide
        return start, used
