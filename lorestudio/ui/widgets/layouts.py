"""Rows, columns, labels and buttons, each in one expression: what a dialog or a pane is put together from.

Chips (rounded buttons and labels) stand beside each other in as many lines as they need.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, TypeAlias, TypeVar

from PySide6.QtCore import SIGNAL, QEvent, QObject, QPoint, QRect, QRectF, QSize, Qt, Signal, SignalInstance
from PySide6.QtGui import QKeyEvent, QPainter, QResizeEvent
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QBoxLayout,
    QButtonGroup,
    QComboBox,
    QDialog,
    QFrame,
    QHBoxLayout,
    QLabel,
    QLayout,
    QLineEdit,
    QMainWindow,
    QMenu,
    QPlainTextEdit,
    QProgressBar,
    QPushButton,
    QScrollArea,
    QSizePolicy,
    QSpinBox,
    QSplitter,
    QStackedWidget,
    QStyle,
    QStyleOptionComboBox,
    QTabWidget,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from lorestudio.ui.shell.qt import plain
from lorestudio.ui.shell.theme import Theme, fixed_font
from lorestudio.ui.shell.words import tr
from lorestudio.ui.widgets.paint import draw_box, draw_focus, hairline

Item: TypeAlias = QWidget | QLayout | tuple[QWidget | QLayout, int] | int
"""What stands in a row or a column: a widget or a layout, also with its stretch; a number is a stretch alone."""

Margins: TypeAlias = int | tuple[int, int, int, int]
"""Room around in pixels, the same on all sides or left, top, right and bottom."""

Slot: TypeAlias = Callable[..., object] | SignalInstance

_Layout = TypeVar("_Layout", bound=QLayout)
_Box = TypeVar("_Box", bound=QBoxLayout)
_Widget = TypeVar("_Widget", bound=QWidget)
_Button = TypeVar("_Button", bound=QAbstractButton)


def row(*items: Item, spacing: int | None = None, margins: Margins | None = None) -> QHBoxLayout:
    """These beside each other."""
    return _filled(QHBoxLayout(), items, spacing, margins)


def column(
    *items: Item, of: QWidget | None = None, spacing: int | None = None, margins: Margins | None = None
) -> QVBoxLayout:
    """These below each other; as the content `of` a widget, where one is given."""
    return _filled(QVBoxLayout(of) if of is not None else QVBoxLayout(), items, spacing, margins)


def tight(*items: Item, of: QWidget | None = None) -> QVBoxLayout:
    """A column without any room around and between."""
    return column(*items, of=of, spacing=0, margins=0)


def filling(place: QWidget, made: _Widget) -> _Widget:
    """What was made late for an empty place, now alone in it."""
    tight(made, of=place)
    made.show()  # at once, as the keyboard goes there: a layout shows it in the next turn
    return made


def with_margins(layout: _Layout, margins: Margins) -> _Layout:
    """The layout with this room around it."""
    layout.setContentsMargins(*(margins if isinstance(margins, tuple) else (margins,) * 4))
    return layout


def _filled(layout: _Box, items: tuple[Item, ...], spacing: int | None, margins: Margins | None) -> _Box:
    if margins is not None:
        with_margins(layout, margins)
    if spacing is not None:
        layout.setSpacing(spacing)
    for item in items:
        what, stretch = item if isinstance(item, tuple) else (item, 0)
        if isinstance(what, QWidget):
            layout.addWidget(what, stretch)
        elif isinstance(what, QLayout):
            layout.addLayout(what, stretch)
        else:
            layout.addStretch(what)
    return layout


def holding(layout: QLayout, parent: QWidget | None = None) -> QWidget:
    """A widget with this content."""
    widget = QWidget(parent)
    widget.setLayout(layout)
    return widget


def split(
    *parts: QWidget,
    of: QWidget | None = None,
    across: bool = False,
    sizes: tuple[int, ...] = (),
    stretch: int | tuple[int, ...] = (),
) -> QSplitter:
    """Parts that share the room as a person drags it, below each other or `across`; none can be dragged away.

    `sizes` are those at first, `stretch` is the part that takes what is left, or the share of each.
    """
    splitter = QSplitter(
        Qt.Orientation.Horizontal if across else Qt.Orientation.Vertical, of, childrenCollapsible=False
    )
    for part in parts:
        splitter.addWidget(part)
    shares = stretch if isinstance(stretch, tuple) else [int(place == stretch) for place in range(len(parts))]
    for place, share in enumerate(shares):
        splitter.setStretchFactor(place, share)
    if sizes:
        splitter.setSizes(list(sizes))
    return splitter


def stack(*pages: QWidget, of: QWidget | None = None) -> QStackedWidget:
    """Pages of which one is shown, the first at first."""
    made = QStackedWidget(of)
    for page in pages:
        made.addWidget(page)
    return made


def tabbed(parent: QWidget, name: str, *pages: tuple[QWidget, str]) -> QTabWidget:
    """Pages with their titles, of which one is shown, the first at first."""
    made = named(QTabWidget(parent, documentMode=True), name)
    for page, title in pages:
        made.addTab(page, title)
    return made


class TabCorner(QObject):
    """What stands beside tabs. Where `part` of it has no room there, it goes to a `place` of its own, and comes back.

    Tabs that have less room than they take are scrolled, and some of them are out of sight.
    """

    def __init__(self, tabs: QTabWidget, part: QWidget, place: QWidget, *others: QWidget) -> None:
        super().__init__(tabs)
        self._tabs, self._part, self._place, self._others = tabs, part, place, others
        self._line = row((part, 1), *others, spacing=8, margins=(6, 0, 8, 0))
        self._away = row(margins=(8, 4, 8, 0))
        place.setLayout(self._away)
        place.hide()
        tabs.setCornerWidget(holding(self._line))
        tabs.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Qt: the tabs have another width, or what stands beside them."""
        if watched is self._tabs and event.type() in {QEvent.Type.Resize, QEvent.Type.LayoutRequest}:
            self._fit()
        return super().eventFilter(watched, event)

    def _fit(self) -> None:
        part, room = self._part, self._tabs.width() - self._tabs.tabBar().sizeHint().width()
        wide = [part.minimumWidth() or part.sizeHint().width(), *(each.sizeHint().width() for each in self._others)]
        away = room < sum(wide) + self._line.spacing() * len(self._others) + 14
        if away is self._place.isHidden():
            keyboard = self._tabs.window().focusWidget()
            self._place.setVisible(away)
            (self._away if away else self._line).insertWidget(0, part, 1)
            if keyboard is part or part.isAncestorOf(keyboard):
                part.show()  # at once, as the keyboard goes there: a layout shows it in the next turn
                keyboard.setFocus()


def named(widget: _Widget, name: str, tip: str = "", *, kind: str = "") -> _Widget:
    """The widget with what a screen reader says of it, what whoever points at it reads, and how it is painted."""
    if name:
        widget.setAccessibleName(name)
    if tip:
        widget.setToolTip(plain(tip))
    if kind:
        widget.setProperty("kind", kind)
    return widget


def paint_as(widget: QWidget, name: str, value: object) -> None:
    """Have a widget painted as the style sheet says of this property with this value."""
    widget.setProperty(name, value)
    widget.style().unpolish(widget)
    widget.style().polish(widget)


_FOLLOWED: Final = Qt.TextInteractionFlag.LinksAccessibleByMouse | Qt.TextInteractionFlag.LinksAccessibleByKeyboard


def label(
    parent: QWidget, text: str = "", kind: str = "", *, wrap: bool = True, selectable: bool = False, rich: bool = False,
    links: bool = False, yields: bool = False, top: bool = False, margins: tuple[int, int, int, int] = (0, 0, 0, 0),
) -> QLabel:  # fmt: skip
    """Words for people as they are, without markup, in as many lines as they need unless `wrap` is off.

    `rich` words are markup, and so are those with `links`, to which Tab comes; of what `yields`, less is seen where
    there is little room; `top` words begin at the top.
    """
    form = Qt.TextFormat.RichText if rich or links else Qt.TextFormat.PlainText
    made = named(QLabel(text, parent, wordWrap=wrap, textFormat=form), "", kind=kind)
    made.setContentsMargins(*margins)
    if selectable:
        made.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
    if links:
        made.setTextInteractionFlags(_FOLLOWED)
    if yields:
        policy = made.sizePolicy()  # which knows that more lines need more height
        policy.setHorizontalPolicy(QSizePolicy.Policy.Ignored)
        made.setSizePolicy(policy)
    if top:
        made.setAlignment(Qt.AlignmentFlag.AlignTop)
    return made


def show_words(place: QLabel, words: str) -> None:
    """Show these words, and the place for them only where there are any."""
    place.setText(words)
    place.setVisible(bool(words))


COPIED: Final = Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
"""A text that can be copied with the mouse and with the keyboard."""


def story_label(parent: QWidget) -> QLabel:
    """The place beside a table where the reasons for its chosen row stand, to be copied, too."""
    made = named(label(parent, top=True, margins=(10, 4, 10, 4)), tr("Why, for the chosen row"))
    made.setTextInteractionFlags(COPIED)
    return made


_WHY: Final = "whyNot"
"""The property of a widget with what its tooltip says of why it is grey."""


def able(widget: QWidget, can: bool, why: str) -> None:
    """Enable a button or the like, or let its tooltip say below what it does `why` it makes no sense now."""
    tip = widget.toolTip().removesuffix(str(widget.property(_WHY) or "")).rstrip("\n")
    said = "" if can else plain(why)
    widget.setEnabled(can)
    widget.setProperty(_WHY, said)
    widget.setToolTip("\n".join(filter(None, (tip, said))))


def button(
    parent: QWidget, text: str, clicked: Slot | None = None, *, kind: str = "", tip: str = "", name: str = ""
) -> QPushButton:
    """A button, which Enter elsewhere in a dialog does not press."""
    made = named(QPushButton(text, parent, autoDefault=False), name, tip, kind=kind)
    if clicked is not None:
        made.clicked.connect(clicked)
    return made


def small_button(parent: QWidget, text: str, tip: str = "", clicked: Slot | None = None) -> QPushButton:
    """A button of less weight."""
    return button(parent, text, clicked, kind="small", tip=tip)


def tool(
    parent: QWidget,
    name: str,
    clicked: Slot | None = None,
    *,
    text: str = "",
    tip: str = "",
    kind: str = "",
    checkable: bool = False,
    beside: bool = False,
) -> QToolButton:
    """A flat button, for an icon or a `text` or both `beside` each other; the tip is its name where it has none."""
    made = named(QToolButton(parent), name, tip or name, kind=kind)
    made.setText(text)
    made.setCheckable(checkable)
    if beside:
        made.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
    if clicked is not None:
        made.clicked.connect(clicked)
    return made


def menu_of(button: QToolButton, *, tips: bool = False) -> QMenu:
    """A menu that a press opens, with the tips of its actions where they say more than their titles."""
    menu = QMenu(button, toolTipsVisible=tips)
    button.setMenu(menu)
    button.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
    return menu


def iconed(theme: Theme, made: _Button, icon: str, tone: str = "text_muted") -> _Button:
    """A button with an icon in a colour of the theme, whichever it is."""

    def paint() -> None:
        made.setIcon(theme.icon(icon, tone))

    QObject.connect(theme, SIGNAL("changed()"), made, paint)  # for as long as the button is there
    paint()
    return made


def one_of(parent: QWidget, choices: Iterable[tuple[str, str]]) -> QButtonGroup:
    """Buttons by place of which one is down, the first at first; each has a text, and a name as its tip."""
    group = QButtonGroup(parent)
    for place, (text, name) in enumerate(choices):
        made = named(QToolButton(parent), name, name)
        made.setText(text)
        made.setCheckable(True)
        group.addButton(made, place)
    group.button(0).setChecked(True)
    return group


class SearchField(QLineEdit):
    """A field for what is looked for. Escape empties it; Down, and in a pane another Escape, lead to what is listed."""

    def __init__(
        self, parent: QWidget, name: str, placeholder: str = "", changed: Slot | None = None, tip: str = ""
    ) -> None:
        super().__init__(parent, placeholderText=placeholder, clearButtonEnabled=True)
        self._width = 0  # without the button that empties it
        named(self, name, tip)
        if changed is not None:
            self.textChanged.connect(changed)

    def sizeHint(self) -> QSize:
        """Qt: as wide as while it is empty: what is beside would move at the first letter."""
        size = super().sizeHint()
        if not (self.text() and self._width):
            self._width = size.width()
        return QSize(self._width, size.height())

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Qt: see the class."""
        leads = {Qt.Key.Key_Down} if isinstance(self.window(), QDialog) else {Qt.Key.Key_Down, Qt.Key.Key_Escape}
        if event.key() == Qt.Key.Key_Escape and self.text():
            self.clear()
        elif event.key() in leads and (listed := self._listed()) is not None:
            listed.setFocus()
        else:
            super().keyPressEvent(event)

    def _listed(self) -> QAbstractItemView | None:
        """The nearest list in sight of the pane or dialog that the field is in."""
        place = self.parentWidget()
        while place is not None and not isinstance(place, QMainWindow):
            for view in place.findChildren(QAbstractItemView):
                if view.isVisible() and view.focusPolicy() & Qt.FocusPolicy.TabFocus:
                    return view
            place = place.parentWidget()
        return None


SPACE: Final = 5
"""Between the edge of a number's field and the number (device-independent pixels); the style sheet cannot say it."""


class ProgressBar(QProgressBar):
    """A bar without a text. Qt's draws at once, at every value, all that waits to be drawn in its window."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent, textVisible=False)

    def setValue(self, value: int) -> None:
        """Show how far it is, with what else is drawn next."""
        self.setUpdatesEnabled(False)
        super().setValue(value)
        self.setUpdatesEnabled(True)


def number_field(
    parent: QWidget, name: str, low: int, high: int, value: int = 0, *, before: str = "", after: str = ""
) -> QSpinBox:
    """A whole number within limits, with words around it."""
    made = named(QSpinBox(parent, minimum=low, maximum=high, prefix=before, suffix=after), name)
    made.lineEdit().setAccessibleName(name)
    made.lineEdit().setTextMargins(SPACE, 0, 0, 0)
    made.setValue(value)
    return made


class _Combo(QComboBox):
    """Shortens what it has no room for; Qt cuts it off in the middle of a letter, as if that were all."""

    def initStyleOption(self, option: QStyleOptionComboBox) -> None:
        """Qt: see the class."""
        super().initStyleOption(option)
        part = QStyle.SubControl.SC_ComboBoxEditField
        room = self.style().subControlRect(QStyle.ComplexControl.CC_ComboBox, option, part, self).width()
        room += 1 - (0 if option.currentIcon.isNull() else option.iconSize.width() + 4)
        option.currentText = option.fontMetrics.elidedText(option.currentText, Qt.TextElideMode.ElideRight, room)


def combo(parent: QWidget, name: str, items: Mapping[Any, str] | None = None, *, least: int = 0) -> QComboBox:
    """One of several, by the titles of values; its tip and its list say `name` too.

    With `least` it wants room for so many letters, and a long title makes it no wider.
    """
    box = named(_Combo(parent), name, name)
    box.view().setAccessibleName(name)
    if least:
        box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        box.setMinimumContentsLength(least)
    for value, title in (items or {}).items():
        box.addItem(title, value)
    return box


def text_view(parent: QWidget, name: str, *, fixed: bool = False, object_name: str = "") -> QPlainTextEdit:
    """A text to read and to copy; `fixed` has all letters equally wide."""
    view = named(QPlainTextEdit(parent, readOnly=True), name)
    view.setObjectName(object_name)
    if fixed:
        view.setFont(fixed_font(parent.font().pointSizeF()))
    return view


def text_field(parent: QWidget, name: str, placeholder: str = "") -> QPlainTextEdit:
    """A field of several lines, with an edge; Tab goes on from it."""
    field = named(QPlainTextEdit(parent, tabChangesFocus=True, placeholderText=placeholder), name)
    field.setObjectName("Boxed")
    return field


class FinishedText(QPlainTextEdit):
    """A text that Ctrl+Enter finishes, and Escape gives up where that is heard.

    With `sends` Enter finishes it, too, and Shift+Enter breaks a line.
    """

    finished = Signal()
    given_up = Signal()
    sends = False

    def event(self, event: QEvent) -> bool:
        """Qt: Ctrl+Enter belongs to the field while it has the keyboard, not to what is around it."""
        if event.type() is QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent) and self._finishes(event):
            event.accept()
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Qt: finish or give up."""
        if self._finishes(event):
            self.finished.emit()
        elif event.key() == Qt.Key.Key_Escape and self.receivers(SIGNAL("given_up()")):
            self.given_up.emit()
        else:
            super().keyPressEvent(event)

    def _finishes(self, event: QKeyEvent) -> bool:
        control = bool(event.modifiers() & Qt.KeyboardModifier.ControlModifier)
        plain = self.sends and not event.modifiers() & Qt.KeyboardModifier.ShiftModifier
        return (control or plain) and event.key() in {Qt.Key.Key_Return, Qt.Key.Key_Enter}


USUAL_LINE: Final = 14
"""The height of a line in letters of the usual size (device-independent pixels)."""


def letters(widget: QWidget) -> float:
    """How much larger than usual a widget's letters are, 1 at least."""
    return max(1.0, widget.fontMetrics().height() / USUAL_LINE)


def resize_for_letters(dialog: QWidget, width: int, height: int) -> None:
    """Give a dialog a size that is right for usual letters: more for larger ones, and no more than the screen has."""
    factor = letters(dialog)
    most = dialog.screen().availableSize() * 0.95
    dialog.resize(min(round(width * factor), most.width()), min(round(height * factor), most.height()))


def scrolled(page: QWidget, name: str = "", *, of: QWidget | None = None, framed: bool = False) -> QScrollArea:
    """A page that is as wide as the room, and scrolls where it is higher."""
    area = named(QScrollArea(of, widgetResizable=True), name)
    if not framed:
        area.setFrameShape(QFrame.Shape.NoFrame)
    area.setWidget(page)
    page.setAutoFillBackground(False)  # Qt turns it on: the ground is that of what the page lies in
    return area


LOWEST = 24
"""So high a chip is at least (device-independent pixels): what is smaller is hard to hit."""
GAP = 4


def chip_height(widget: QWidget) -> int:
    """How high the chips of a widget are, in letters of its size."""
    return max(LOWEST, widget.fontMetrics().height() + 8)


def in_lines(
    widths: Iterable[int], right: int, corner: QPoint, left: int = 0, *, height: int, gap: int = GAP
) -> list[QRect]:
    """Boxes of these widths from `corner` on, each line between `left` and `right`."""
    boxes, at = [], QPoint(corner)
    for wide in widths:
        if at.x() > left and at.x() + wide > right:
            at = QPoint(left, at.y() + height + gap)
        boxes.append(QRect(at, QSize(wide, height)))
        at = at + QPoint(wide + gap, 0)
    return boxes


def draw_ground(painter: QPainter, button: QAbstractButton, theme: Theme, *, warning: bool) -> QRectF:
    """The ground of a chip, as mouse and keyboard stand to it; returns the box that it fills."""
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    ground = "warning_soft" if warning else "hover" if button.underMouse() else "raised"
    ground, box = "accent_soft" if button.hasFocus() else ground, QRectF(button.rect())
    draw_box(painter, box, 6, hairline(theme.color("warning" if warning else "border")), theme.color(ground))
    if button.hasFocus():
        draw_focus(painter, button.rect(), theme)
    return box.adjusted(0.5, 0.5, -0.5, -0.5)


class Wrapping(QWidget):
    """A widget that is as high as the lines of its content at its width."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        policy = QSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)

    @abstractmethod
    def arrange(self, width: int, *, move: bool) -> int:
        """How high the content is in this width; with `move`, put it in its place."""

    def settle(self) -> None:
        """The content is another one: take the height that it needs."""
        height = self.arrange(max(self.width(), 60), move=True)
        if height != self.minimumHeight():
            self.setFixedHeight(height)
            self.updateGeometry()

    def sizeHint(self) -> QSize:
        """Qt: one line at least."""
        return QSize(160, self.heightForWidth(max(self.width(), 160)))

    def heightForWidth(self, width: int) -> int:
        """Qt: as many lines as the content needs."""
        return self.arrange(width, move=False)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Qt: a narrower widget needs more lines."""
        self.settle()
