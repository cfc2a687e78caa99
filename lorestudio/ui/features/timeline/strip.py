"""The whole chat in one strip under it: what each reply took of the budget, from where, and what was cut."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from enum import StrEnum
from functools import cached_property, partial
from typing import Final

import numpy as np
from msgspec import Struct
from PySide6.QtCore import QRectF, QSize, Signal
from PySide6.QtGui import QActionGroup, QBrush, QFontMetricsF, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QToolButton, QWidget

from lorestudio.domain.chat import Chat, Generation
from lorestudio.exchange.chats.recorded import noted_tokens
from lorestudio.studio.replay.timeline import TimelineTurn
from lorestudio.studio.verify.agreement import Agreement
from lorestudio.studio.verify.causes import Verified
from lorestudio.trace.budget import ORIGINS, BudgetOrigin
from lorestudio.trace.timeline import TurnSummary
from lorestudio.ui.features.timeline.map_content import label_of, shown_generations
from lorestudio.ui.features.timeline.turns import TimelineFeed
from lorestudio.ui.shell.qt import V_LEFT, later, plain
from lorestudio.ui.shell.theme import Theme, scaled
from lorestudio.ui.shell.words import count, number, tr
from lorestudio.ui.state.expected import ExpectedMark, ExpectedMarks
from lorestudio.ui.state.selection import Selection
from lorestudio.ui.state.session import Session
from lorestudio.ui.widgets.chart import BarChart, Bars, Layer, Shape, Signs
from lorestudio.ui.widgets.layouts import iconed, label, menu_of, named, row, stack, tight, tool
from lorestudio.ui.widgets.paint import hairline, hatch

REFRESH_MS: Final = 120
"""While replies are run the strip is drawn at most so often."""

HEIGHT: Final = 74
"""Of the bars with their numbers, in lines of text 5 (device-independent pixels at the usual size of letters)."""


class BarOrder(StrEnum):
    """How the replies of the strip are sorted."""

    CHAT = "chat"
    CUT = "most cut"
    CHANGED = "most changed"


AGREEMENT_SIGNS: Final[Mapping[Agreement, tuple[Shape, str]]] = {
    Agreement.AGREES: ("circle", "good"),
    Agreement.MAY_BE: ("triangle", "text_muted"),
    Agreement.DIFFERS: ("cross", "error"),
}
"""The shape and colour, in the row under the bars, of what became of a reply beside what was recorded of it."""

ORDERS: Final = {
    BarOrder.CHAT: "As in the chat",
    BarOrder.CUT: "Most cut first",
    BarOrder.CHANGED: "Most changed first",
}
"""What each order is called."""

PAGES: Final = ("Map of entries and replies", "Turns, as a table", "Entries, as a table", "Prompt cache")
"""What unfolds from the strip, in the order of the pages of the timeline's pane."""


class LegendPart(Struct, frozen=True):
    """What a word stands for: a fill, perhaps hatched; a word without a fill has its own sign."""

    word: str
    fill: str = ""
    hatched: bool = False


class Legend(QWidget):
    """What the layers of a chart stand for, in one line; how many there is no room for is said at its end."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._parts: tuple[LegendPart, ...] = ()
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)

    def say(self, parts: Sequence[LegendPart]) -> None:
        """Explain these."""
        self._parts = tuple(parts)
        words = ", ".join(part.word for part in parts)
        self.setAccessibleName(words)
        self.setToolTip(plain(words))
        self.update()

    def sizeHint(self) -> QSize:
        """Qt: a line."""
        return QSize(120, math.ceil(QFontMetricsF(self.font()).height()) + 2)

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Qt: squares with words."""
        painter, theme, font = QPainter(self), self._theme, scaled(self.font(), 0.88)
        metrics = QFontMetricsF(font)
        painter.setFont(font)
        left, high = 0.5, float(self.height())
        painter.setPen(theme.color("text_muted"))
        for place, part in enumerate(self._parts):
            fill, word = part.fill, part.word
            others = f"+{len(self._parts) - place}"
            wide, box = metrics.horizontalAdvance(word), 14 if fill else 0
            after = 0.0 if place + 1 == len(self._parts) else 8 + metrics.horizontalAdvance(others)
            if left + box + wide + after > self.width():
                painter.drawText(QRectF(left, 0, self.width() - left, high), V_LEFT, others)
                break
            if fill:
                painter.setPen(hairline(theme.color("fill_edge")))
                painter.setBrush(hatch(theme.fill(fill)[0], theme) if part.hatched else QBrush(theme.fill(fill)[0]))
                painter.drawRect(QRectF(left, high / 2 - 5, 10, 10))
                painter.setPen(theme.color("text_muted"))
            painter.drawText(QRectF(left + box, 0, wide + 2, high), V_LEFT, word)
            left += box + wide + 8
        painter.end()


class ReplyStrip(QWidget):
    """`jump` carries a generation to go to, `brushed` the first and the last of those wanted (None: all).

    `unfolded` carries a page of the timeline's pane, `wanted` the id of an action.
    """

    jump = Signal(object)
    brushed = Signal(object)
    unfolded = Signal(int)
    wanted = Signal(str)

    def __init__(
        self,
        theme: Theme,
        session: Session,
        selection: Selection,
        feed: TimelineFeed,
        expected: ExpectedMarks,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._theme, self._expected = theme, expected
        self._session, self._selection, self._feed = session, selection, feed
        self._part: tuple[Generation, Generation] | None = None
        """The first and the last of the replies that are picked out."""
        self.generations: tuple[Generation, ...] = ()
        """The replies, in the order of the bars."""
        self.legend = Legend(theme, self)
        self.order = BarOrder.CHAT
        self._verified: Verified | None = None
        self._noted_chat: Chat | None = None
        self._noted: dict[Generation, int | None] = {}
        self.sort = self._menu("lines", "", tr("Order of the replies"))
        one_of = QActionGroup(self)
        self._orders = {
            order: one_of.addAction(self.sort.menu().addAction(tr(title), partial(self.order_by, order)))
            for order, title in ORDERS.items()
        }
        for choice in self._orders.values():
            choice.setCheckable(True)
        self._orders[self.order].setChecked(True)
        self.unfold = self._menu("columns", tr("Unfold"), tr("The map of entries and replies, and the same as tables"))
        for page, title in enumerate(PAGES):
            self.unfold.menu().addAction(tr(title), partial(self.unfolded.emit, page))
        self.nothing = named(label(self, kind="small", rich=True, margins=(8, 0, 8, 4)), tr("Tokens of every reply"))
        self.nothing.linkActivated.connect(self.wanted)
        self._pages = stack(self.nothing)
        head = row((self.legend, 1), self.sort, self.unfold, spacing=4, margins=(8, 2, 8, 0))
        tight(head, self._pages, of=self)
        self._pages.setFixedHeight(max(HEIGHT, 5 * self.fontMetrics().height()))
        self._refresh = later(self, self._fill, REFRESH_MS)
        feed.changed.connect(self._later)
        feed.replaced.connect(self._replaced)
        session.state_changed.connect(self._later)
        expected.changed.connect(self._later)
        selection.generation_changed.connect(self._show_chosen)
        self._fill()

    @cached_property
    def chart(self) -> BarChart:
        """The bars, made when there are some to draw."""
        made = BarChart(self._theme, tr("Tokens of every reply"), self, brush=True)
        self._pages.addWidget(made)
        made.picked.connect(lambda place: self.jump.emit(self.generations[place]))
        made.brushed.connect(self._brushed)
        made.addActions(self.actions())
        return made

    def order_by(self, order: BarOrder) -> None:
        """Sort the replies; those in the order of the chat can be picked out."""
        self.order = order
        self._orders[order].setChecked(True)
        sorted_by = "" if order is BarOrder.CHAT else tr(ORDERS[order])
        self.sort.setText(sorted_by)
        self.sort.setAccessibleName(tr("Order of the replies: {order}", order=tr(ORDERS[order])))
        if sorted_by:
            self._show_all()
        self._fill()

    def _menu(self, icon: str, text: str, name: str) -> QToolButton:
        made = iconed(self._theme, tool(self, text or name, text=text, tip=name, beside=True), icon)
        menu_of(made)
        return made

    # ---- filling ----------------------------------------------------------------------------------------------------

    def set_agreement(self, found: Verified | None) -> None:
        """Say of each bar what became of it beside what was recorded."""
        self._verified = found
        self._later()

    def _replaced(self) -> None:
        """Another chat or vault is shown."""
        self._show_all()
        self._later()

    def _show_all(self) -> None:
        """Pick none of the replies out any more."""
        if self._part is not None:
            self._part = None
            self.chart.brush(None)
            self.brushed.emit(None)

    def _later(self) -> None:
        """Follow soon: at once where nothing more is to be expected, else the seldomer the more bars there are."""
        pause = REFRESH_MS + len(self.generations) // 4 if self._session.runs.replaying or self._feed.busy else 0
        if not pause or not self._refresh.isActive():
            self._refresh.start(pause)

    def _fill(self) -> None:
        chat, feed = self._session.chat, self._feed
        self.setVisible(chat is not None)
        self.generations = line = self._line()
        known = [feed.turns[each].summary if each in feed.turns else None for each in line]
        had = {origin for one in known if one is not None for origin in one.by_origin}
        present = [origin for origin in ORIGINS if origin in had]
        last = len(chat.messages) if chat is not None else -1
        noted = self._noted_in(chat)
        held = {place: found for place, each in enumerate(line) if (found := self._expected.at(each, None)) is not None}
        signs = self._signs(line)
        parts = [LegendPart(tr(origin.word), origin.fill) for origin in present]
        if any(one.cut for one in known if one is not None):
            parts.insert(0, LegendPart(tr("cut"), "purple", hatched=True))  # first, so that there is room for it
        if any(each is not None for each in noted):
            parts.append(LegendPart(tr("◆ recorded in the chat")))
        if any(each.message == last for each in line):
            parts.append(LegendPart(tr("◇ expected next")))
        if held:
            parts.append(LegendPart(tr("● as it should be, ✕ not")))
        if signs:
            parts.append(LegendPart(tr("below: ● as recorded, ▲ may be, ✕ not")))
        self.legend.say(parts)
        if any(one is not None for one in known):
            self._draw(known, present, noted, held, signs, last)
            self._pages.setCurrentWidget(self.chart)
        else:
            self._say_why()
            self._pages.setCurrentWidget(self.nothing)
        self._mark_chosen()

    def _draw(
        self,
        known: Sequence[TurnSummary | None],
        present: Sequence[BudgetOrigin],
        noted: Sequence[int | None],
        held: Mapping[int, ExpectedMark],
        signs: Signs,
        last: int,
    ) -> None:
        """Bars of these replies, of which those that were not run are None, and what belongs to each."""
        line, turns, several = self.generations, self._feed.turns, self._feed.swiped
        layers = [
            Layer(origin.fill, np.array([one.by_origin.get(origin, 0) if one else 0 for one in known], dtype=float))
            for origin in present
        ]
        cut = np.array([one.cut if one else 0 for one in known], dtype=float)
        layers.append(Layer("purple", cut, beyond=True))
        budgets = [one.budget if one is not None and one.budget is not None else np.nan for one in known]
        marks = np.array([np.nan if each is None else each for each in noted], dtype=float)
        expected = next((place for place, each in enumerate(line) if each.message == last), -1)
        if expected >= 0 and (turn := known[expected]) is not None:
            marks[expected] = turn.tokens

        def name(place: int) -> str:
            return label_of(line[place], several, last)

        def words(place: int) -> str:
            told = reply_words(name(place), turns.get(line[place]), noted[place], expected=place == expected)
            found = self._verified.of(line[place]) if self._verified is not None else None
            beside = "" if found is None else tr("beside what was recorded: {words}", words=tr(found.verdict.value))
            wanted = held[place].words if place in held else ""
            return "\n".join(filter(None, ("; ".join(filter(None, (told, wanted))), beside)))

        flags = {place: found.met for place, found in held.items()}
        bars = Bars(layers, np.array(budgets, dtype=float), marks, expected, name, words, flags, signs)
        self.chart.set_bars(bars, brush=self.order is BarOrder.CHAT)
        if self._part is not None:
            first, end = self._part
            inside = [place for place, each in enumerate(line) if first <= each <= end]
            if 0 < len(inside) < len(line):
                self.chart.brush((inside[0], inside[-1] + 1))
            else:
                self._show_all()

    def _noted_in(self, chat: Chat | None) -> list[int | None]:
        """What the chat itself recorded of each reply; looked up again only in another chat."""
        if chat is not self._noted_chat:
            self._noted_chat, self._noted = chat, {}
        noted, messages = self._noted, chat.messages if chat is not None else ()
        for each in self.generations:
            if each not in noted:
                here = each.message < len(messages)
                noted[each] = noted_tokens(messages[each.message], each.swipe) if here else None
        return [noted[each] for each in self.generations]

    def _line(self) -> tuple[Generation, ...]:
        """The replies in the order that was chosen."""
        feed, turns = self._feed, self._feed.turns
        line = shown_generations(feed.generations, feed.line, self._selection.generation, swipes=False)
        if self.order is BarOrder.CHAT:
            return line
        cut = self.order is BarOrder.CUT
        amounts = {each: turn.summary.cut if cut else turn.changes.amount for each, turn in turns.items()}
        return tuple(sorted(line, key=lambda each: -amounts.get(each, -1)))

    def _signs(self, line: Sequence[Generation]) -> dict[int, tuple[Shape, str]]:
        """What became of replies beside their records, by the places of their bars; no sign without a record."""
        replies = self._verified.replies if self._verified is not None else ()
        known = {each.generation: AGREEMENT_SIGNS.get(each.verdict) for each in replies}
        return {place: sign for place, each in enumerate(line) if (sign := known.get(each)) is not None}

    def _say_why(self) -> None:
        if self._session.busy:
            self.nothing.setText(tr("The replies appear here as they are run."))
        elif self._session.runs.traces:
            self.nothing.setText(tr("The replies are being counted."))
        else:
            link = f"<a href='replay.all'>{tr('Replay all')}</a>"
            self.nothing.setText(tr("What each reply took of the budget appears here. {link}", link=link))

    def _show_chosen(self) -> None:
        chosen = self._selection.generation
        if chosen is not None and chosen in self._feed.columns and chosen not in self.generations:
            self._fill()  # another swipe of a reply is looked at
        else:
            self._mark_chosen()

    def _mark_chosen(self) -> None:
        chosen = self._selection.generation
        if self._pages.currentWidget() is not self.nothing:  # else its bars are those of another chat
            self.chart.choose(self.generations.index(chosen) if chosen in self.generations else -1)

    def _brushed(self, places: tuple[int, int] | None) -> None:
        self._part = (self.generations[places[0]], self.generations[places[1] - 1]) if places is not None else None
        self.brushed.emit(self._part)


def reply_words(name: str, turn: TimelineTurn | None, noted: int | None = None, *, expected: bool = False) -> str:
    """A bar in words: what went in, from where, what was cut, what changed, and what the chat's file has noted."""
    if turn is None:
        return tr("{reply}: not run yet", reply=name)
    summary, changes = turn.summary, turn.changes
    head = tr(
        "{reply}: {entries}, {tokens}",
        reply=tr("The reply to come, as expected now") if expected else name,
        entries=count(len(summary.injected), "entry", "entries"),
        tokens=count(summary.tokens, "token", "tokens"),
    )
    parts = [head]
    if summary.budget is not None:
        of = tr(" of {budget}", budget=number(summary.budget))
        if summary.used == summary.tokens:
            parts = [head + of]
        else:  # outlets do not count, or the conversation does, or all texts are counted as one
            parts.append(tr("budget: {used}", used=number(summary.used)) + of)
    if summary.by_origin:
        parts.append(", ".join(f"{number(tokens)} {tr(origin.word)}" for origin, tokens in summary.by_origin.items()))
    if summary.cut:
        parts.append(tr("cut: {tokens}", tokens=count(summary.cut, "token", "tokens")))
    if noted is not None:
        parts.append(tr("the chat's file has noted {tokens}", tokens=count(noted, "token", "tokens")))
    if turn.before is not None and changes.amount:
        parts.append(
            tr(
                "since #{before}: {entered} entered, {left} left",
                before=turn.before.message,
                entered=number(len(changes.entered)),
                left=number(len(changes.left)),
            )
        )
    return "; ".join(parts)
