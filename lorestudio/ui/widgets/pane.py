"""What every pane is: a named dock with a quiet title that can say what it shows, and what may stand in it.

Instead of nothing it shows what is missing, why, and what to do next. Inline messages are bars that say what happened,
why, and what can be done; a strip says that only some rows are shown, and shows all again. A line of two parts becomes
two lines where both do not fit beside each other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cached_property, partial
from typing import Final

from msgspec import Struct
from PySide6.QtCore import QEvent, QSize, Qt, QTimer, Signal
from PySide6.QtGui import (
    QCloseEvent,
    QFocusEvent,
    QFontMetricsF,
    QHideEvent,
    QKeyEvent,
    QPainter,
    QPaintEvent,
    QResizeEvent,
    QShowEvent,
)
from PySide6.QtWidgets import (
    QApplication,
    QBoxLayout,
    QDockWidget,
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QLayout,
    QLineEdit,
    QPlainTextEdit,
    QPushButton,
    QSizePolicy,
    QStackedWidget,
    QTextEdit,
    QToolButton,
    QWidget,
)

from lorestudio.ui.shell.qt import is_redo, later, move_keyboard, plain
from lorestudio.ui.shell.theme import Theme, glyph
from lorestudio.ui.shell.words import Notice, Tone, tr
from lorestudio.ui.widgets.layouts import (
    COPIED,
    Margins,
    Slot,
    button,
    column,
    iconed,
    label,
    paint_as,
    row,
    scrolled,
    stack,
    tight,
    tool,
    with_margins,
)
from lorestudio.ui.widgets.paint import whole_parts


def drop_all(layout: QLayout) -> None:
    """Take everything out of a layout; its widgets vanish at once, and are deleted when Qt gets to it."""
    while (item := layout.takeAt(0)) is not None:
        if (widget := item.widget()) is not None:
            widget.hide()
            widget.deleteLater()


GAP: Final = 8

TEXT_WIDTH: Final = 480
"""Longer lines are hard to read (device-independent pixels)."""


class EmptyPage(QWidget):
    """What is seen of an `EmptyState`."""

    SIDE = 24

    def __init__(self, theme: Theme, icon: str, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme, self._icon_name = theme, icon
        self.icon, self.title, self.text = QLabel(self), label(self, kind="title"), label(self, kind="muted")
        for part in (self.icon, self.title, self.text):
            part.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        for part in (self.title, self.text):
            part.setMaximumWidth(TEXT_WIDTH)
        self.buttons = row(spacing=GAP, margins=(0, 4, 0, 0))
        lines = (row(1, (part, 100), 1) for part in (self.title, self.text))
        column(2, self.icon, *lines, self.buttons, 3, of=self, spacing=8, margins=(self.SIDE, 18, self.SIDE, 18))
        theme.changed.connect(self._paint)
        self._paint()

    def _paint(self) -> None:
        self.icon.setPixmap(glyph(self._icon_name, self._theme.palette.text_faint, 28))


def _next_turn(timers: Iterable[QTimer]) -> None:
    """Let those that wait wait on: what is made has a turn of its own, and is seen before the next one is made."""
    for timer in timers:
        if timer.isActive():
            timer.start()


class EmptyState(QWidget):
    """A glyph, a title, a sentence and buttons, of which the first has the keyboard where the state is given it.

    `pressed` carries the id of the chosen button. Where they have no room beside each other, they stand in a column.
    Its `page` is made when somebody first sees it: most panes have something to show.
    """

    pressed = Signal(str)

    def __init__(self, theme: Theme, icon: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._made: list[QPushButton] = []
        self._said: tuple[str, str, tuple[tuple[str, str], ...]] = ("", "", ())
        self._offered: tuple[tuple[str, str], ...] | None = None
        self._theme, self._icon = theme, icon
        self._soon = later(self, self._look)
        self.setMinimumHeight(20)

    @cached_property
    def page(self) -> EmptyPage:
        """What is seen of it, which scrolls where there is too little room."""
        made = EmptyPage(self._theme, self._icon, self)
        self._area = scrolled(made, of=self)
        self._area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._area.verticalScrollBar().rangeChanged.connect(self._scrolls)
        tight(self._area, of=self).activate()
        self._area.show()  # at once, as the keyboard goes there: a layout shows it in the next turn
        self._fill(made)
        return made

    @property
    def title(self) -> QLabel:
        """What is missing."""
        return self.page.title

    @property
    def text(self) -> QLabel:
        """Why, and what can be done."""
        return self.page.text

    def say(self, title: str, text: str, buttons: tuple[tuple[str, str], ...] = ()) -> None:
        """Show these words; each button is its id and its title, the first is the one that most people want."""
        self._said = title, text, buttons
        self.setAccessibleName(title)
        self.setAccessibleDescription(text)
        if self._is_made:
            self._fill(self.page)

    def showEvent(self, event: QShowEvent) -> None:
        """Qt: somebody sees it, unless the pane turns to something else at once, as while a project is opened."""
        if not self._is_made:
            self._soon.start()

    def _look(self) -> None:
        if self.isVisible():
            self.page  # noqa: B018 # made
            _next_turn(state._soon for state in self.window().findChildren(EmptyState))  # noqa: SLF001  # of this class

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Qt: fold or unfold."""
        if self._is_made:
            self._arrange(self.page)

    @property
    def _is_made(self) -> bool:
        return "page" in vars(self)

    def _fill(self, page: EmptyPage) -> None:
        title, text, buttons = self._said
        page.title.setText(title)
        page.text.setText(text)
        self._area.setAccessibleName(title)
        if buttons == self._offered:
            return  # the one that has the keyboard, or is pressed just now, stays
        self._offered = buttons
        here = any(each.hasFocus() for each in self._made)
        self.setFocusProxy(None)  # type: ignore[arg-type] # the stubs know no None
        if here:  # a button that vanishes with it would send the keyboard out of the pane
            self.setFocus()
        drop_all(page.buttons)
        self._made = [
            button(page, caption, partial(self.pressed.emit, action), kind="" if place else "primary")
            for place, (action, caption) in enumerate(buttons)
        ]
        page.buttons.addStretch(1)
        for each in self._made:
            page.buttons.addWidget(each, 0, Qt.AlignmentFlag.AlignHCenter)
        page.buttons.addStretch(1)
        if self._made:
            self.setFocusProxy(self._made[0])
        if here:
            self.setFocus()
        self._arrange(page)

    def _scrolls(self, _least: int, most: int) -> None:
        """Tab comes to the words only where not all of them are in sight."""
        self._area.setFocusPolicy(Qt.FocusPolicy.StrongFocus if most else Qt.FocusPolicy.NoFocus)

    def _arrange(self, page: EmptyPage) -> None:
        needed = sum(each.sizeHint().width() + GAP for each in self._made) - GAP
        fits = needed <= self.width() - 2 * page.SIDE
        page.buttons.setDirection(QBoxLayout.Direction.LeftToRight if fits else QBoxLayout.Direction.TopToBottom)


class ElidedLabel(QLabel):
    """One line; where there is no room for all of it its last parts are left out, and the whole is its tooltip.

    Of the first part its end is left out, or all of it where only `whole` ones are wanted.
    """

    def __init__(self, parent: QWidget | None = None, *, whole: bool = False) -> None:
        super().__init__(parent, textFormat=Qt.TextFormat.PlainText)
        self._whole = whole
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)

    def setText(self, text: str) -> None:
        """Qt: see the class."""
        super().setText(text)
        self.setToolTip(plain(text))

    def minimumSizeHint(self) -> QSize:
        """Qt: it can be as narrow as a few letters."""
        return QSize(self.fontMetrics().averageCharWidth() * 3, super().minimumSizeHint().height())

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Qt: draw what there is room for."""
        with QPainter(self) as painter:
            room = self.contentsRect()
            metrics = QFontMetricsF(self.font())
            shown = whole_parts(self.text(), metrics, room.width())
            if not shown and not self._whole:
                shown = metrics.elidedText(self.text(), Qt.TextElideMode.ElideRight, room.width())
            self.style().drawItemText(
                painter, room, int(self.alignment()), self.palette(), self.isEnabled(), shown, self.foregroundRole()
            )


class FoldingRow(QWidget):
    """`first` takes the room that `second` leaves; where there is too little for both, `second` stands below.

    What they need is their size hint; it is asked for again whenever one of them changes.
    """

    def __init__(self, first: QWidget, second: QWidget, parent: QWidget | None = None, *, margins: Margins = 0) -> None:
        super().__init__(parent)
        self.first, self.second = first, second
        self._grid = with_margins(QGridLayout(self), margins)
        self._grid.setHorizontalSpacing(GAP)
        self._grid.setVerticalSpacing(2)
        self._grid.setColumnStretch(0, 1)
        self._grid.addWidget(first, 0, 0)
        self._grid.addWidget(second, 0, 1)
        self.folded = False

    def sizeHint(self) -> QSize:
        """Qt: as wide as both beside each other, folded or not: else a row within another one stays folded."""
        wide = self.first.sizeHint().width() + GAP + self.second.sizeHint().width()
        return self._as_wide(wide, super().sizeHint())

    def minimumSizeHint(self) -> QSize:
        """Qt: as narrow as the wider of the two can be."""
        wide = max(self.first.minimumSizeHint().width(), self.second.minimumSizeHint().width())
        return self._as_wide(wide, self._grid.minimumSize())

    def _as_wide(self, parts: int, whole: QSize) -> QSize:
        margins = self._grid.contentsMargins()
        return QSize(parts + margins.left() + margins.right(), whole.height())

    def event(self, event: QEvent) -> bool:
        """Qt: a part or the row itself became wider or narrower."""
        if event.type() in (QEvent.Type.LayoutRequest, QEvent.Type.Resize):
            self._arrange()
        return super().event(event)

    def _arrange(self) -> None:
        folded = self.sizeHint().width() > self.width()
        if folded != self.folded:
            self.folded = folded
            self._grid.removeWidget(self.second)
            self._grid.addWidget(self.second, int(folded), 0 if folded else 1)


FLAT: Final = 1.3
"""A pane that is so much wider than tall is flat."""

CLEAR: Final = "filter.clear"


def filter_doors() -> tuple[tuple[str, str], ...]:
    """The button of an empty pane that has something, but nothing that fits the words in its search field."""
    return ((CLEAR, tr("Clear the filter")),)


class Pane(QWidget):
    """The content of a dock. `note_changed` carries a few words for the dock's title, `last_note` are those of now;
    `wanted` carries the id of an action that a button asks for, which the window does. `looked_at` and `looked_away`
    follow as it comes into sight and goes.

    A window title that it is given is the dock's from then on, where its content is called otherwise than `title`.

    `focus_target` is the widget that takes the keyboard when the pane is entered, `search_field` the one that searches
    it. `empty` stands in the place of other `pages` where there is nothing to show.
    """

    note_changed = Signal(str)
    wanted = Signal(str)
    looked_at = Signal()
    looked_away = Signal()
    last_note = ""
    empty: EmptyState
    pages: QStackedWidget
    search_field: QLineEdit | QPlainTextEdit | None = None

    def __init__(self, name: str, title: str, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("Pane")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setFocusPolicy(Qt.FocusPolicy.ClickFocus)
        self.name = name
        self.title = title
        self.theme = theme
        self.setAccessibleName(title)
        self.column = column(of=self, spacing=0, margins=(0, 0, 0, 2))
        self.note_changed.connect(self._keep_note)
        self._hand_on = later(self, self._pass_keyboard)  # a click that brings it here may turn to another page

    def or_empty(self, icon: str, *pages: QWidget) -> QStackedWidget:
        """These, the first at first, or that there is nothing to show, which has buttons for actions."""
        self.empty = EmptyState(self.theme, icon, self)
        self.empty.pressed.connect(self._press)
        self.pages = self.turning(*pages, self.empty)
        return self.pages

    def turning(self, *pages: QWidget) -> QStackedWidget:
        """Pages with which the keyboard turns; Qt gives it to whatever comes first on the next one, or to nothing."""
        made = stack(*pages, of=self)

        def turned(_place: int) -> None:
            focus = QApplication.focusWidget()
            if focus is not None and (focus is self or made.isAncestorOf(focus)):
                self.focus_target().setFocus()

        made.currentChanged.connect(turned)
        return made

    def say_empty(self, title: str, text: str, buttons: tuple[tuple[str, str], ...] = ()) -> None:
        """Say why there is nothing to show, and by which actions there would be."""
        self.empty.say(title, text, buttons)
        self.pages.setCurrentWidget(self.empty)

    def _press(self, name: str) -> None:
        """A button of `empty` was pressed."""
        if name == CLEAR and self.search_field is not None:
            self.search_field.clear()
            self.search_field.setFocus()
        else:
            self.wanted.emit(name)

    @property
    def is_flat(self) -> bool:
        """Whether what else stands below each other has more room beside each other."""
        return self.width() > FLAT * self.height()

    def focus_target(self) -> QWidget:
        """Where the keyboard goes when the pane is entered."""
        return self

    def showEvent(self, event: QShowEvent) -> None:
        """Qt: somebody looks."""
        self.looked_at.emit()

    def hideEvent(self, event: QHideEvent) -> None:
        """Qt: nobody looks any more."""
        self.looked_away.emit()

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Qt: a click beside its parts, or a part that went, has left the keyboard here, where keys do nothing."""
        super().focusInEvent(event)
        self._hand_on.start()

    def _pass_keyboard(self) -> None:
        target = self.focus_target()
        if self.hasFocus() and target is not self and target.isVisible():
            target.setFocus()

    def open_search(self) -> bool:
        """Go to the pane's search field; False where there is none, or nothing to search."""
        if self.search_field is None:
            return False
        self.search_field.setFocus()
        self.search_field.selectAll()
        return True

    def set_seen(self, seen: bool) -> None:
        """Whether somebody sees it: a tab behind another one is not seen, though Qt calls it visible."""

    def event(self, event: QEvent) -> bool:
        """Qt: where a field does not know a key for doing again, it is the field's nevertheless, not the pane's."""
        if isinstance(event, QKeyEvent) and is_redo(event):
            field = QApplication.focusWidget()
            if isinstance(field, QLineEdit | QTextEdit | QPlainTextEdit) and not field.isReadOnly():
                if event.type() is QEvent.Type.KeyPress:
                    field.redo()
                event.accept()
                return True
        return super().event(event)

    def _keep_note(self, note: str) -> None:
        self.last_note = note


class PlannedPane(Struct, frozen=True):
    """A pane that may not be made yet: its name and title, and what gives it."""

    name: str
    title: str
    pane: Callable[[], Pane]


class PaneTitle(QWidget):
    """The bar on top of a dock: name, a note, float and close."""

    def __init__(self, dock: QDockWidget, title: str, theme: Theme) -> None:
        super().__init__(dock)
        self.setObjectName("PaneTitle")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._theme = theme
        self._name = QLabel(dock.windowTitle(), self)
        self._name.setObjectName("PaneName")
        dock.windowTitleChanged.connect(self._name.setText)
        self._note = ElidedLabel(self, whole=True)  # beside the pane's title
        self._note.setObjectName("PaneNote")
        self._note.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self._float = self._button(
            tr("Float {pane}", pane=title), "float", lambda: dock.setFloating(not dock.isFloating())
        )
        self._close = self._button(tr("Close {pane}", pane=title), "close", dock.close)
        self.setLayout(row(self._name, (self._note, 1), self._float, self._close, spacing=8, margins=(10, 2, 4, 2)))

    def follow(self, pane: Pane) -> None:
        """Show the notes of this pane."""
        pane.note_changed.connect(self._note.setText)
        self._note.setText(pane.last_note)

    def set_active(self, active: bool) -> None:
        """Show that the keyboard is in this pane."""
        if active != bool(self.property("active")):  # every bar is told whenever the keyboard goes anywhere
            paint_as(self, "active", active)

    def show_name(self, shown: bool) -> None:
        """Hide the name where a tab says it already."""
        self._name.setVisible(shown)

    def _button(self, text: str, icon: str, slot: Slot) -> QToolButton:
        made = iconed(self._theme, tool(self, text, slot), icon, "text_faint")
        made.setIconSize(QSize(14, 14))
        made.setFocusPolicy(Qt.FocusPolicy.TabFocus)  # a click leaves the keyboard where it is
        return made


class PaneDock(QDockWidget):
    """A dock with our own title bar; the object name is what a saved layout knows it by.

    It is empty until somebody looks at it or asks for its pane: then `planned` makes that. Its bar is made once it
    stands somewhere. `left` follows it being closed while the keyboard was in it.
    """

    left = Signal()

    def __init__(self, planned: PlannedPane, theme: Theme, parent: QWidget) -> None:
        super().__init__(planned.title, parent)
        self.setObjectName(f"dock-{planned.name}")
        self.setAccessibleName(planned.title)
        self.planned, self._theme = planned, theme
        self.bar: PaneTitle | None = None
        self._in_sight = False
        self.soon = later(self, self._fill)
        """Runs while it is in sight without its pane."""
        self.visibilityChanged.connect(self._look)

    @property
    def pane(self) -> Pane:
        """What it holds; made when it was not yet."""
        return self.planned.pane()

    @property
    def made(self) -> Pane | None:
        """What it holds, None where that was not made yet."""
        widget = self.widget()
        return widget if isinstance(widget, Pane) else None

    def take(self, pane: Pane) -> None:
        """Hold this pane from now on."""
        self.setWidget(pane)
        pane.windowTitleChanged.connect(self._call)
        if self.bar is not None:
            self.bar.follow(pane)
        pane.set_seen(self._in_sight)

    def focusNextPrevChild(self, forward: bool) -> bool:
        """Qt: Tab and Shift+Tab go as the parts lie, in a window of its own as in the one for all."""
        return move_keyboard(self, forward=forward) if self.isWindow() else super().focusNextPrevChild(forward)

    def showEvent(self, event: QShowEvent) -> None:
        """Qt: it stands somewhere, be it behind others."""
        if self.bar is None:
            self.bar, pane = PaneTitle(self, self.planned.title, self._theme), self.made
            self.setTitleBarWidget(self.bar)
            if pane is not None:
                self.bar.follow(pane)

    def _call(self, title: str) -> None:
        self.setWindowTitle(title)
        self.setAccessibleName(title)

    def _look(self, seen: bool) -> None:
        self._in_sight, pane = seen, self.made
        if pane is not None:
            pane.set_seen(seen)
        elif seen:
            self.soon.start()  # docks that are arranged are in front for a moment each

    def _fill(self) -> None:
        if not self.visibleRegion().isEmpty():
            self.planned.pane()
            _next_turn(dock.soon for dock in self.window().findChildren(PaneDock))

    def closeEvent(self, event: QCloseEvent) -> None:
        """Qt: the keyboard would go to whatever happens to come next."""
        focus = QApplication.focusWidget()
        had_keyboard = focus is not None and self.isAncestorOf(focus)
        super().closeEvent(event)
        if had_keyboard:
            self.left.emit()


_ICONS = {"good": "check", "neutral": "info", "warning": "warning", "error": "error"}


class TonedBar(QFrame):
    """A strip on the soft ground of its tone. It paints that itself: Qt's palette has no room for it."""

    def __init__(self, theme: Theme, parent: QWidget | None = None, tone: str = "neutral") -> None:
        super().__init__(parent)
        self.setObjectName("Bar")
        self._theme, self.tone = theme, tone

    def set_tone(self, tone: str) -> None:
        """Paint it in another tone."""
        self.tone = tone
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Qt: the ground, and the line below it."""
        with QPainter(self) as painter:
            painter.fillRect(event.rect(), self._theme.color(f"{self.tone}_soft"))
        super().paintEvent(event)


class MessageBar(TonedBar):
    """One message with its buttons. `closed` follows its cross, which hides it; `pressed` carries a button's id.

    A `stacked` bar has its buttons below the text, as a narrow pane needs it.
    """

    closed = Signal()
    pressed = Signal(str)

    def __init__(self, theme: Theme, parent: QWidget | None = None, *, stacked: bool = False) -> None:
        super().__init__(theme, parent)
        self._icon = QLabel(self)
        self.label = label(self)
        self.label.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        self.label.setTextInteractionFlags(COPIED)
        self._buttons = QHBoxLayout()
        close = tool(self, tr("Dismiss this message"), self.closed, tip=tr("Dismiss"))
        self._close = iconed(theme, close, "close", "text_muted")
        upper = Qt.AlignmentFlag.AlignTop if stacked else Qt.AlignmentFlag.AlignVCenter
        line = row(spacing=8, margins=(10, 4, 6, 4))
        line.addWidget(self._icon, 0, upper)
        if stacked:
            line.addLayout(column(self.label, row(self._buttons, 1), spacing=4), 1)
        else:
            line.addWidget(self.label, 1)
            line.addLayout(self._buttons)
        line.addWidget(self._close, 0, upper)
        self.setLayout(line)
        theme.changed.connect(self._paint)
        self.closed.connect(self.hide)
        self.hide()

    def say(
        self, text: str, tone: Tone = "neutral", buttons: tuple[tuple[str, str], ...] = (), details: str = ""
    ) -> None:
        """Show `text`; each button is its id and its title."""
        focus = QApplication.focusWidget()
        held = focus is not None and self.isAncestorOf(focus)
        self.set_tone(tone)
        self.label.setText(text)
        self.label.setToolTip(plain(details))
        self.setAccessibleName(text)
        drop_all(self._buttons)
        for action, title in buttons:
            self._buttons.addWidget(button(self, title, partial(self.pressed.emit, action)))
        self._paint()
        self.show()
        if held:  # on a button of before, which is gone
            self.focus_first()

    def focus_first(self) -> None:
        """Give the keyboard to the first button."""
        first = self._buttons.itemAt(0)
        widget = first.widget() if first is not None else None
        if widget is not None:
            widget.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def _paint(self) -> None:
        icon = self._theme.icon(_ICONS.get(self.tone, "info"), self.tone)
        self._icon.setPixmap(icon.pixmap(16, 16))


class BarStack(QWidget):
    """The messages of the window, newest on top, at most three; a notice with a known key replaces the older one."""

    pressed = Signal(str)
    MOST = 3

    def __init__(self, theme: Theme, title_of: Callable[[str], str], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme, self._title_of = theme, title_of
        self._column = tight(of=self)
        self._bars: list[tuple[Notice, MessageBar]] = []
        self.hide()

    @property
    def texts(self) -> list[str]:
        """What is said at present, newest first."""
        return [notice.text for notice, _bar in self._bars]

    def add(self, notice: Notice) -> None:
        """Show a notice."""
        for known, bar in list(self._bars):
            if known.text == notice.text or (notice.key and known.key == notice.key):
                self._remove(bar)
        bar = MessageBar(self._theme, self)
        bar.closed.connect(partial(self._remove, bar))
        bar.pressed.connect(self.pressed)
        buttons = tuple((action, self._title_of(action)) for action in notice.actions)
        if notice.details:
            buttons += (("help.details", tr("Details")),)
        bar.say(notice.text, notice.tone, buttons, notice.details)
        self._bars.insert(0, (notice, bar))
        self._column.insertWidget(0, bar)
        for _known, old in self._bars[self.MOST :]:
            self._remove(old)
        self.show()

    def drop(self, key: str) -> None:
        """Take the message with that key away: it is not true any more."""
        for known, bar in list(self._bars):
            if known.key == key:
                self._remove(bar)

    def clear(self) -> None:
        """Take all messages away."""
        for _notice, bar in list(self._bars):
            self._remove(bar)

    def details(self) -> str:
        """The details of the newest message that has some."""
        return next((notice.details for notice, _bar in self._bars if notice.details), "")

    def _remove(self, bar: MessageBar) -> None:
        self._bars = [pair for pair in self._bars if pair[1] is not bar]
        self._column.removeWidget(bar)
        bar.hide()
        bar.deleteLater()
        self.setVisible(bool(self._bars))


class FilterStrip(TonedBar):
    """`cleared` follows the button."""

    cleared = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(theme, parent)
        self.label = label(self, wrap=False, yields=True)
        self.button = button(self, tr("Show all"), self.cleared, name=tr("Show all rows again"))
        self.setLayout(row((self.label, 1), self.button, margins=(10, 2, 6, 2)))
        self.hide()

    def say(self, words: str) -> None:
        """What the rows are that are left."""
        self.label.setText(tr("Only: {words}", words=words))
        self.label.setToolTip(plain(self.label.text()))
        self.setAccessibleName(self.label.text())
        self.show()
