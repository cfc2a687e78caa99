"""A row of small labels that wraps: the facts about an entry at a glance.

What an entry's keys find in the chat that is shown, as one sentence. Qt is not needed here.
"""

from __future__ import annotations

from typing import Final

from msgspec import Struct
from PySide6.QtCore import QPoint, QRect, QRectF
from PySide6.QtGui import QFontMetricsF, QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from lorestudio.studio.tryout.preview import EntryOutcome
from lorestudio.trace.matching.found_keys import WouldMatch
from lorestudio.ui.shell.theme import Theme, scaled
from lorestudio.ui.shell.words import count, number, tr
from lorestudio.ui.widgets.chips import Wrapping, in_lines
from lorestudio.ui.widgets.paint import draw_glyph, draw_words, hairline

_UNUSED: Final = {
    "constant": "The entry is constant, so its keys decide nothing.",
    "guide": "A guide never goes into the story, so its keys decide nothing.",
    "scan_depth_zero": "The scan depth is 0, so no message is searched for the keys.",
    "ai_only": "In AI-only mode the keys decide nothing.",
}


def match_words(match: WouldMatch) -> tuple[str, str]:
    """The sentence and its tone (good, neutral or warning). Messages are numbered as SillyTavern does, from 0."""
    if match.unused:
        return tr(_UNUSED.get(match.unused, "The keys decide nothing here.")), "neutral"
    found = [key for key in match.keys if key.found]
    hit = next((key for key in found if key.key == match.key), found[0] if found else None)
    if hit is None or hit.message is None:
        searched = count(match.messages, "message", "messages")
        return tr("Would not match: no key occurs in the last {messages}.", messages=searched), "neutral"
    where = tr("“{key}” in message #{message}", key=hit.key, message=number(hit.message))
    if hit.count > 1:
        where = tr("{where}, {times} in all", where=where, times=count(hit.count, "time", "times"))
    if match.missing_refine and any(each.found for each in match.refine_keys):
        return tr("Would not match: {where}, but its refine logic keeps it out.", where=where), "warning"
    if match.missing_refine:
        return tr("Would not match: {where}, but none of the refine keys.", where=where), "warning"
    others = len(found) - 1
    more = tr(" and {others}", others=count(others, "other key", "other keys")) if others else ""
    return tr("Would match: {where}{more}.", where=where, more=more), "good"


def outcome_words(outcome: EntryOutcome) -> tuple[str, str]:
    """What the run makes of the entry where the system cannot tell key by key, and the tone."""
    if outcome.goes_in:
        return tr("Would go in. {why}", why=outcome.sentence), "good"
    return tr("Would not go in. {why}", why=outcome.sentence), "neutral"


class NoteChip(Struct, frozen=True):
    """One label. `tone` is good, neutral, warning or error; `icon` may be ""."""

    text: str
    tone: str = "neutral"
    icon: str = ""


class ChipRow(Wrapping):
    """Chips in lines as wide as the widget; its accessible name lists them."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._chips: tuple[NoteChip, ...] = ()
        theme.changed.connect(self.update)

    def set_chips(self, chips: tuple[NoteChip, ...]) -> None:
        """Show other chips."""
        self._chips = chips
        self.setAccessibleName(", ".join(chip.text for chip in chips))
        self.setVisible(bool(chips))
        self.settle()
        self.update()

    def arrange(self, width: int, *, move: bool) -> int:
        """See `Wrapping`; the chips are drawn where they belong."""
        boxes = self._boxes(width)
        return boxes[-1].bottom() + 1 if boxes else 0

    def paintEvent(self, event: QPaintEvent) -> None:
        """Qt: draw the chips."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setFont(scaled(self.font(), 0.9))
        for chip, box in zip(self._chips, self._boxes(self.width()), strict=True):
            frame = QRectF(box).adjusted(0.5, 0.5, -0.5, -0.5)
            painter.setPen(hairline(self._theme.color("border")))
            painter.setBrush(self._theme.color(f"{chip.tone}_soft"))
            painter.drawRoundedRect(frame, 5, 5)
            left = frame.left() + 7
            if chip.icon:
                ink = getattr(self._theme.palette, chip.tone)
                draw_glyph(painter, QRectF(left, frame.top(), 13, frame.height()), chip.icon, ink, 13)
                left += 17
            painter.setPen(self._theme.color("text"))
            draw_words(painter, QRectF(left, frame.top(), frame.right() - left - 2, frame.height()), chip.text)

    def _boxes(self, width: int) -> list[QRect]:
        metrics, most = QFontMetricsF(scaled(self.font(), 0.9)), max(width, 40)
        wanted = (round(metrics.horizontalAdvance(chip.text) + 16 + (17 if chip.icon else 0)) for chip in self._chips)
        return in_lines(
            (min(wide, most) for wide in wanted), width, QPoint(), height=max(20, round(metrics.height()) + 6), gap=5
        )
