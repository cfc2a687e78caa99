"""A pane of something that is made of the chat: buttons and progress on top, its parts as tabs below.

A strip has what a running job does, how far it came, and a way to stop it. A text has buttons once it was
written; a table has a text below.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Final

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QAccessible, QAccessibleEvent, QResizeEvent
from PySide6.QtWidgets import QPushButton, QSizePolicy, QStackedWidget, QTabWidget, QToolButton, QWidget

from lorestudio.ui.shell.actions import Commands
from lorestudio.ui.shell.jobs import Beat
from lorestudio.ui.shell.theme import Theme
from lorestudio.ui.shell.words import count, number, tr
from lorestudio.ui.widgets import dialogs
from lorestudio.ui.widgets.cells import Column
from lorestudio.ui.widgets.layouts import (
    FinishedText,
    ProgressBar,
    able,
    button,
    column,
    holding,
    iconed,
    label,
    menu_of,
    named,
    row,
    show_words,
    small_button,
    split,
    tight,
)
from lorestudio.ui.widgets.pane import EmptyState, FoldingRow, Pane, TonedBar
from lorestudio.ui.widgets.record_table import LateTable, RecordTable, RecordView


class SmallText(FinishedText):
    """A text that asks for three lines and makes do with two."""

    def sizeHint(self) -> QSize:
        """Qt: see the class."""
        return QSize(200, self.fontMetrics().lineSpacing() * 3 + 16)

    def minimumSizeHint(self) -> QSize:
        """Qt: see the class."""
        return QSize(80, self.fontMetrics().lineSpacing() * 2 + 16)


class KeyedText(QWidget):
    """Shows the text of something known by a key. `written` carries that key and another text for it.

    What a person has written and not kept is there again whenever the same thing is shown. `left` follows Escape where
    nothing is to be given up.
    """

    written = Signal(object, str)
    left = Signal()

    def __init__(self, name: str, parent: QWidget | None = None, *, tip: str = "") -> None:
        super().__init__(parent)
        self._key: object = None
        self._text = ""
        self._sent: str | None = None
        self._drafts: dict[object, str] = {}
        self.gone: Callable[[object], bool] = lambda key: isinstance(key, tuple)  # of what has another key: see follow
        self.lines = named(SmallText(self, tabChangesFocus=True), name)
        self.lines.setObjectName("Boxed")
        keep_tip = tip or tr("Write it into the chat's file (Ctrl+Enter)")
        self.keep = button(self, tr("Keep"), self._keep, kind="primary", tip=keep_tip)
        self.back = button(self, tr("Back"), self._give_up, tip=tr("Give up what was written (Esc)"))
        column((self.lines, 1), row(1, self.keep, self.back, spacing=6), of=self, spacing=4, margins=0)
        self.lines.textChanged.connect(self._show_buttons)
        self.lines.finished.connect(self._keep)
        self.lines.given_up.connect(self._give_up)
        self._show_buttons()

    @property
    def changed(self) -> bool:
        """Whether a person has written something that is not kept."""
        return self.lines.toPlainText() != self._text and not self.lines.isReadOnly()

    @property
    def unkept(self) -> int:
        """How many texts a person has written and not kept, of what is not `gone`."""
        return sum(not self.gone(key) for key in self._drafts) + self.changed

    def show_text(self, key: object, text: str, *, editable: bool, placeholder: str = "") -> None:
        """Show the text of another thing, or what the same one says by now."""
        if key == self._key and text != self._text and self.lines.toPlainText() == self._sent:
            self.taken()
        if self.changed and self._key is not None:
            self._drafts[self._key] = self.lines.toPlainText()
        draft = self._drafts.pop(key, text) if editable else text
        self._key, self._text = key, text
        if self.lines.toPlainText() != draft:
            self.lines.setPlainText(draft)
        self.lines.setReadOnly(not editable)
        self.lines.setPlaceholderText(placeholder)
        self._show_buttons()

    def taken(self) -> None:
        """What was written last stands in the file now, whatever it was made of there."""
        if self.lines.toPlainText() == self._sent:
            self._text, self._sent = self._sent, None

    @property
    def begun(self) -> bool:
        """Whether a person has written something that is not kept, also of what is gone and may come back."""
        return bool(self._drafts) or self.changed

    def follow(self, where: Mapping[Any, object]) -> None:
        """Things have other keys now, those that are gone a tuple until they come back."""
        key = where.get(self._key)
        if self.changed and self._key is not None and isinstance(key, tuple):
            self._drafts[self._key] = self.lines.toPlainText()
            self.lines.setPlainText(self._text)
        self._drafts = {where.get(about, about): text for about, text in self._drafts.items()}
        self._key = None if isinstance(key, tuple) else key

    def forget(self) -> None:
        """Other things are shown from now on: what was written about the ones before is given up."""
        self._drafts.clear()
        self._key, self._text = None, ""
        self.lines.setPlainText("")

    def give_up(self) -> None:
        """Give up everything that is written and not kept."""
        self._drafts.clear()
        self.lines.setPlainText(self._text)

    def _show_buttons(self) -> None:
        for each in (self.keep, self.back):
            each.setVisible(self.changed)

    def _keep(self) -> None:
        if self.changed:
            self._sent = self.lines.toPlainText()
            self.written.emit(self._key, self._sent)

    def _give_up(self) -> None:
        if self.changed:
            self.lines.setPlainText(self._text)
        else:
            self.left.emit()


class RowsPage(QWidget):
    """`table` has the rows, `below` is the column under it. Without rows, `empty` stands in the table's place."""

    def __init__(
        self,
        theme: Theme,
        columns: Sequence[Column],
        key: Callable[[Any], object],
        tip: Callable[[Any], str],
        name: str,
        parent: QWidget | None = None,
        *,
        halved: bool = True,
    ) -> None:
        """With `halved`, rows and what is below them have the same room until somebody divides it."""
        super().__init__(parent)
        self.setAccessibleName(name)
        self._about: object = None
        self._divided = not halved
        self.model = RecordTable(columns, theme=theme, key=key, tip=lambda row, _column: tip(row), parent=self)
        listed, self.detail = QWidget(self), QWidget(self)
        self.splitter = split(listed, self.detail, of=self, stretch=0)
        self.table = LateTable(theme, self.model, name, listed)
        self.empty = EmptyState(theme, "list", listed)
        column(self.table, self.empty, of=listed, margins=0)
        self.words = label(self.detail, kind="small", selectable=True)
        self.below = column(self.words, of=self.detail, spacing=4, margins=(8, 4, 8, 6))
        self.splitter.splitterMoved.connect(self._divide)
        column(self.splitter, of=self, margins=0)
        self.model.changed.connect(self._show_rows)
        self._show_rows()

    @property
    def view(self) -> RecordView:
        """The table's view."""
        return self.table.view

    def say(self, text: str) -> None:
        """What there is to say about the chosen row, or about all of them."""
        show_words(self.words, text)

    def add_text(self, name: str) -> KeyedText:
        """A text of the chosen row below."""
        text = KeyedText(name, self.detail)
        self.below.addWidget(text, 1)
        text.left.connect(self.table.setFocus)
        return text

    def forget_others(self, about: object, text: KeyedText) -> None:
        """Give up what was written about something else."""
        if about != self._about:
            self._about = about
            text.forget()

    def row_button(self, text: str, tip: str, act: Callable[[Any], object]) -> QPushButton:
        """A small button that does something with the chosen row."""
        made = small_button(self.detail, text, tip, lambda: self.with_row(act))
        self.table.offered.append(made)
        return made

    def with_row(self, act: Callable[[Any], object]) -> None:
        """Do something with the chosen row, where there is one."""
        if self.table.current is not None:
            act(self.table.current)

    def add_row(self, *widgets: QWidget) -> None:
        """Put these beside each other at the bottom, the last one below the others where there is too little room."""
        others, last = (holding(row(*each, 1, spacing=6, margins=0)) for each in (widgets[:-1], widgets[-1:]))
        self.below.addWidget(FoldingRow(others, last, self.detail))

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Qt: rows and what is said about one share the room."""
        if not self._divided:
            self.splitter.setSizes([self.height() // 2, self.height() // 2])

    def _divide(self) -> None:
        self._divided = True

    def _show_rows(self) -> None:
        there = bool(self.model.rows)
        self.table.setVisible(there)
        self.empty.setVisible(not there)
        self.detail.setVisible(there)


ANNOUNCE_SECONDS: Final = 1.0
"""Screen readers hear about progress at most this often."""


class ProgressStrip(QWidget):
    """Hidden while nothing runs. `cancelled` follows the stop button."""

    cancelled = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.label = label(self, kind="small", wrap=False)
        self.bar = named(ProgressBar(self), tr("Progress"))
        self.stop = button(self, tr("Stop"), self.cancelled, tip=tr("Stop the replay (Ctrl+.)"))
        self.setLayout(row(self.label, (self.bar, 1), self.stop, spacing=10, margins=(10, 2, 8, 2)))
        self._beat = Beat(ANNOUNCE_SECONDS, at_once=True)
        self._reply = ""
        self._left = ""
        self._before = 0
        self._told = ""
        self.hide()

    def start(self, text: str, *, stoppable: bool, told: str = "") -> None:
        """Show that something began; how long it takes is not known yet.

        `told` says how far it is, with `{done}` and `{total}`; by default in replies.
        """
        self._told = told or tr("Reply {done} of {total}")
        self._reply, self._left, self._before = text, "", 0
        self.label.setText(text)
        self.bar.setRange(0, 0)
        self.stop.setVisible(stoppable)
        able(self.stop, True, "")
        self.show()

    def set_outlook(self, left: str, before: int) -> None:
        """What the next progress says besides: how long it will take, and how many replies come before a range."""
        self._left, self._before = left, before

    def set_progress(self, done: int, total: int) -> None:
        """Show how far the replay came."""
        self.bar.setRange(0, max(total, 1))
        self.bar.setValue(done)
        if self._before:
            text = tr("{done} done, replies before the range first", done=number(done))
        else:
            text = self._told.format(done=number(done), total=number(total))
        text = " · ".join(part for part in (text, self._left) if part)
        self._reply = text
        self.label.setText(text)
        self.setAccessibleDescription(text)
        if self._beat.due():
            QAccessible.updateAccessibility(QAccessibleEvent(self, QAccessible.Event.DescriptionChanged))

    def show_stage(self, stage: str, seconds: float) -> None:
        """Show the stage that takes its time; nothing while a stop is under way."""
        if self.stop.isEnabled() and stage:
            text = tr("{reply} · {stage} {seconds:.0f} s", reply=self._reply, stage=stage, seconds=seconds)
            self.label.setText(text)

    def stopping(self) -> None:
        """Show that the wish to stop was heard."""
        self.label.setText(tr("Stopping…"))
        able(self.stop, False, self.label.text())

    def finish(self) -> None:
        """Nothing runs any more."""
        self.hide()


_ANSWERS: Final = ("answers.stand-in", "answers.recorded", "answers.provider", "answers.typed")


class WorkPane(Pane):
    """`again` follows the wish to try once more.

    `state` says how the work stands, `asked` who does it, `notice` what is wrong with what is shown; `empty` takes the
    place of everything where there is nothing to show.
    """

    again = Signal()
    menu: ClassVar[Sequence[str]] = ()
    """Actions of the menu behind `more`; "" is a line between two."""

    def __init__(self, name: str, title: str, theme: Theme, icon: str, parent: QWidget | None = None) -> None:
        super().__init__(name, title, theme, parent)
        self.tabs = named(QTabWidget(self, documentMode=True, usesScrollButtons=True), title)
        self.parts = self.tabs.findChildren(QStackedWidget)[0]  # moved there later, a part would be dressed again
        self.buttons: dict[str, QToolButton] = {}
        self.more, self.asked = iconed(theme, QToolButton(self), "chevron-down"), QToolButton(self)
        self.state = label(self, kind="small")
        self.progress = ProgressBar(self)
        self.progress.hide()
        self.notice = TonedBar(self.theme, self, "warning")
        self.notice_text, self.notice_button = label(self), QPushButton(self)
        self._content = tight(self._make_notice(), (self.tabs, 1))
        self._whole = holding(self._content, self)
        self.column.addWidget(self.or_empty(icon, self._whole), 1)
        self.pages.setCurrentWidget(self.empty)

    def _make_notice(self) -> QWidget:
        self.notice_text.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        self.notice.setLayout(row((self.notice_text, 1), self.notice_button, margins=(10, 4, 8, 4)))
        self.notice.hide()
        return self.notice

    def _set_head(self, names: Sequence[str], with_text: Sequence[str], more: str, tip: str) -> None:
        """Buttons for these actions and `more`, which is called so, above the state and the progress."""
        for name in names:
            self.buttons[name] = each = QToolButton(self)
            each.setIconSize(QSize(15, 15))
            if name in with_text:
                each.setProperty("kind", "text")
                each.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        named(self.asked, "", kind="text")
        named(self.more, more, tip)
        doing = holding(row(*self.buttons.values(), self.more, 1, spacing=4, margins=0))
        line = FoldingRow(doing, holding(row(1, self.asked, margins=0)), self)
        head = column(line, self.state, self.progress, spacing=2, margins=(8, 4, 8, 4))
        self._content.insertWidget(0, holding(head, self))

    def focus_target(self) -> QWidget:
        """The rows of the part that is shown, or the field above them."""
        if self.pages.currentWidget() is self.empty:
            return self
        for widget in (getattr(self.tabs.currentWidget(), "view", None), self.search_field):
            if isinstance(widget, QWidget) and widget.isVisible():
                return widget
        return self.tabs.tabBar()

    def use_actions(self, commands: Commands) -> None:
        """Give the buttons and the two menus their actions."""
        for name, each in self.buttons.items():
            each.setDefaultAction(commands.actions[name])
        for holder, names in ((self.more, self.menu), (self.asked, _ANSWERS)):
            commands.fill(menu_of(holder), names)

    def ask_before_leaving(self, leave: Callable[[], object]) -> bool:
        """Ask before texts that were written and not kept are given up; False where there are none."""
        texts = self.findChildren(KeyedText)
        unkept = sum(each.unkept for each in texts)

        def give_up() -> None:
            for each in texts:
                each.give_up()
            leave()

        if unkept:
            text = tr("{texts} not been kept in “{pane}”.", texts=count(unkept, "text has", "texts have"),
                      pane=self.title)  # fmt: skip
            more = tr("What you wrote is gone otherwise; “Keep” below it keeps it.")
            dialogs.confirm(self.window(), tr("Texts that are not kept"), text, tr("Throw away"), give_up, more)
        return bool(unkept)

    def _say_asked(self, asked: str, name: str, spoken: str) -> None:
        """Who does the work: in short, for a screen reader, and in full."""
        self.asked.setText(asked)
        self.asked.setAccessibleName(name)
        self.asked.setToolTip(tr("{who}. Chosen for the runs of this chat as well.", who=spoken))

    def _press(self, name: str) -> None:
        if name == "again":
            self.again.emit()
        else:
            self.wanted.emit(name)
