"""Two parts beside each other, or below each other where there is little room."""

from __future__ import annotations

from itertools import pairwise

import pytest
from PySide6.QtCore import QEvent, QPoint, QRect, Qt, QTimer
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import (
    QApplication,
    QDockWidget,
    QLabel,
    QLineEdit,
    QMainWindow,
    QPlainTextEdit,
    QPushButton,
    QScrollArea,
    QTextEdit,
    QToolButton,
    QWidget,
)
from pytestqt.qtbot import QtBot

from lorestudio.ui.shell.theme import Theme, glyph, load_palettes
from lorestudio.ui.shell.words import Notice
from lorestudio.ui.widgets import pane as pane_module
from lorestudio.ui.widgets.layouts import column, holding, paint_as
from lorestudio.ui.widgets.pane import (
    BarStack,
    ElidedLabel,
    EmptyState,
    FilterStrip,
    FoldingRow,
    MessageBar,
    Pane,
    PaneDock,
    PaneTitle,
    PlannedPane,
    TonedBar,
)
from tests.ui.conftest import drain
from tests.ui.drawing import PaintWatch, drawn, words_drawn

pytestmark = pytest.mark.dressed


def test_the_second_part_goes_below_where_both_do_not_fit(qtbot: QtBot) -> None:
    first, second = ElidedLabel(), QLabel("what it is")
    first.setText("A title of some length")
    row = FoldingRow(first, second)
    qtbot.addWidget(row)
    row.resize(600, 60)
    row.show()
    drain()
    assert not row.folded
    assert second.geometry().left() >= first.geometry().right()
    assert second.width() <= second.sizeHint().width() + 2, "the first takes what is left"
    row.resize(first.sizeHint().width() + 20, 60)
    drain()
    assert row.folded
    assert second.geometry().top() >= first.geometry().bottom()
    first.setText("A")
    drain()
    assert not row.folded


def test_a_label_can_be_narrower_than_its_text(qtbot: QtBot) -> None:
    label = ElidedLabel()
    qtbot.addWidget(label)
    label.setText("A title of some length")
    assert label.minimumSizeHint().width() < label.sizeHint().width() // 2
    assert label.minimumSizeHint().height() == label.sizeHint().height()


class Watched(Pane):
    """Knows whether somebody sees it."""

    seen: bool | None = None

    def set_seen(self, seen: bool) -> None:
        self.seen = seen


def test_a_pane_knows_whether_it_is_seen_also_before_and_behind_another(qtbot: QtBot, theme: Theme) -> None:
    window = QMainWindow()
    qtbot.addWidget(window)
    panes = [Watched(name, name, theme) for name in ("Vault", "Search")]
    docks = [PaneDock(PlannedPane(pane.name, pane.title, lambda pane=pane: pane), theme, window) for pane in panes]
    for dock, pane in zip(docks, panes, strict=True):
        window.addDockWidget(Qt.DockWidgetArea.LeftDockWidgetArea, dock)
        dock.take(pane)
    assert [pane.seen for pane in panes] == [False, False]
    window.tabifyDockWidget(*docks)
    window.show()
    for front in (0, 1, 0):
        docks[front].raise_()
        drain()
        assert [pane.seen for pane in panes] == [front == 0, front == 1]
    docks[0].hide()
    drain()
    assert [pane.seen for pane in panes] == [False, True]


def test_the_bar_of_a_dock_takes_it_out_of_the_window_and_puts_it_back(qtbot: QtBot, theme: Theme) -> None:
    window = QMainWindow()
    qtbot.addWidget(window)
    dock = QDockWidget("Budget", window)
    bar = PaneTitle(dock, "Budget", theme)
    dock.setTitleBarWidget(bar)
    window.addDockWidget(Qt.DockWidgetArea.LeftDockWidgetArea, dock)
    window.show()
    floats, closes = bar.findChildren(QToolButton)
    assert (floats.accessibleName(), closes.accessibleName()) == ("Float Budget", "Close Budget")
    drain()
    name, note = bar.findChildren(QLabel)[:2]
    parts = (name, note, floats, closes)
    assert all(one.geometry().right() < two.geometry().left() for one, two in pairwise(parts))
    assert note.width() > name.width()
    for floating in (True, False):
        floats.click()
        assert dock.isFloating() is floating
    closes.click()
    assert dock.isHidden()


def test_a_label_leaves_its_last_parts_out_where_there_is_no_room(qtbot: QtBot) -> None:
    label = ElidedLabel()
    qtbot.addWidget(label)
    label.setText("Reply #5 · 5 entries · without 1 broken note")
    seen: dict[str, None] = {}
    for width in range(600, 80, -20):
        label.resize(width, 20)
        seen |= dict.fromkeys(words_drawn(label))
    assert list(seen) == ["Reply #5 · 5 entries · without 1 broken note", "Reply #5 · 5 entries", "Reply #5"]


def test_a_label_without_room_for_its_first_part_shows_how_it_begins(qtbot: QtBot) -> None:
    label = ElidedLabel()
    qtbot.addWidget(label)
    label.setText("Reading the vault of the harbour… · and more")
    label.resize(80, 20)
    (shown,) = words_drawn(label)
    assert shown.startswith("Rea")
    assert shown.endswith("…")
    assert label.toolTip() == label.text()


def test_the_first_button_of_an_empty_pane_takes_the_keyboard(qtbot: QtBot, theme: Theme) -> None:
    empty = EmptyState(theme, "trace")
    qtbot.addWidget(empty)
    empty.show()
    told: list[str] = []
    empty.pressed.connect(told.append)
    empty.say("No chat", "Open one.", (("chat.open", "Open…"), ("chat.new", "New…")))
    assert (empty.accessibleName(), empty.accessibleDescription()) == ("No chat", "Open one.")
    drain()
    empty.setFocus()
    first, second = empty.findChildren(QPushButton)
    assert (first.text(), empty.focusWidget() is first) == ("Open…", True)
    assert (first.property("kind") == "primary", second.property("kind") == "primary") == (True, False)
    second.click()
    assert told == ["chat.new"]
    second.setFocus()
    empty.say("No run", "Wait.", (("chat.open", "Open…"), ("chat.new", "New…")))
    drain()
    assert (empty.title.text(), empty.findChildren(QPushButton), second.hasFocus()) == ("No run", [first, second], True)
    empty.say("No run", "Wait.")
    drain()
    assert empty.findChildren(QPushButton) == []


def test_what_an_empty_pane_shows_is_made_when_somebody_sees_it(qtbot: QtBot, theme: Theme) -> None:
    empty = EmptyState(theme, "trace")
    qtbot.addWidget(empty)
    empty.say("No chat", "Open one.", (("chat.open", "Open…"),))
    assert (empty.accessibleName(), empty.accessibleDescription()) == ("No chat", "Open one.")
    empty.show()
    empty.hide()  # as while a project is opened: panes come into sight, and then have something to show
    drain()
    assert empty.findChildren(QWidget) == []
    empty.show()
    empty.setFocus()
    drain()
    (door,) = empty.findChildren(QPushButton)
    assert all(each.isVisible() for each in (empty.title, empty.text, door))
    assert (empty.title.text(), empty.text.text(), door.text()) == ("No chat", "Open one.", "Open…")
    assert empty.focusWidget() is door


def test_tab_comes_to_the_words_of_an_empty_pane_only_where_they_are_cut(qtbot: QtBot, theme: Theme) -> None:
    empty = EmptyState(theme, "trace")
    qtbot.addWidget(empty)
    empty.say("No chat", "Open one, and then look here for what became of every entry.")
    empty.show()
    stops = []
    for height in (400, 40, 400):
        empty.resize(300, height)
        drain()
        area = empty.findChild(QScrollArea)
        stops.append(area.focusPolicy() is Qt.FocusPolicy.StrongFocus)
    assert (stops, area.accessibleName()) == ([False, True, False], "No chat")


def test_buttons_of_a_narrow_empty_pane_stand_below_each_other(qtbot: QtBot, theme: Theme) -> None:
    empty = EmptyState(theme, "trace")
    qtbot.addWidget(empty)
    empty.show()
    for buttons in ((("a", "Open chat…"), ("b", "New chat…")), (("a", "Open chat…"), ("b", "New"), ("c", "Paste…"))):
        empty.say("No chat", "Open one.", buttons)
        drain()
        made = empty.findChildren(QPushButton)
        enough = sum(each.sizeHint().width() for each in made) + 8 * (len(made) - 1) + 48
        for width, rows in ((enough, 1), (enough - 1, len(made))):
            empty.resize(width, 400)
            drain()
            assert len({each.y() for each in made}) == rows
            assert all(each.visibleRegion().boundingRect() == each.rect() for each in made)
            assert all(each.width() == each.sizeHint().width() for each in made)


@pytest.mark.parametrize("stacked", [True, False])
def test_a_message_goes_with_its_cross_and_is_answered_by_its_buttons(
    qtbot: QtBot, theme: Theme, stacked: bool
) -> None:
    parent = QWidget()
    qtbot.addWidget(parent)
    bar = MessageBar(theme, parent, stacked=stacked)
    told: list[str] = []
    bar.closed.connect(lambda: told.append("closed"))
    bar.pressed.connect(told.append)
    parent.show()
    assert bar.isHidden()
    bar.say("It was written.", "good", (("undo", "Undo"),), "vault/Bell.md")
    assert (bar.isVisible(), bar.tone, bar.accessibleName()) == (True, "good", "It was written.")
    assert bar.label.toolTip() == "vault/Bell.md"
    next(each for each in bar.findChildren(QPushButton) if each.text() == "Undo").click()
    assert (told, bar.isVisible()) == (["undo"], True)
    next(each for each in bar.findChildren(QToolButton) if each.accessibleName() == "Dismiss this message").click()
    assert (told, bar.isHidden()) == (["undo", "closed"], True)


def test_what_an_empty_pane_says_stands_in_the_middle_and_a_little_higher(qtbot: QtBot, theme: Theme) -> None:
    empty = EmptyState(theme, "trace")
    qtbot.addWidget(empty)
    empty.resize(900, 900)
    empty.show()
    empty.say("No trace", "Replay the chat to see what became of each entry. " * 3)
    drain()
    icon, title, text = (
        QRect(each.mapTo(empty, QPoint()), each.size()) for each in (empty.page.icon, empty.title, empty.text)
    )
    assert icon.bottom() < title.top() < title.bottom() < text.top()
    assert icon.top() / (empty.height() - text.bottom()) == pytest.approx(2 / 3, abs=0.05)
    assert [each.center().x() for each in (icon, title, text)] == pytest.approx([450] * 3, abs=1)
    assert text.width() == empty.text.maximumWidth()


def test_an_empty_pane_shows_its_sign_in_the_colours_of_its_theme(qtbot: QtBot, theme: Theme) -> None:
    empty = EmptyState(theme, "trace")
    qtbot.addWidget(empty)
    shown = empty.page.icon.pixmap().toImage()
    assert shown == glyph("trace", theme.palette.text_faint, 28).toImage()
    theme.palette = load_palettes()["dark"]
    theme.changed.emit()
    assert empty.page.icon.pixmap().toImage() == glyph("trace", theme.palette.text_faint, 28).toImage() != shown
    assert empty.title.property("kind") == "title"


def test_an_empty_pane_has_the_ground_of_what_it_lies_in(qtbot: QtBot, theme: Theme) -> None:
    below = QWidget()
    qtbot.addWidget(below)
    below.setObjectName("below")
    below.setStyleSheet("#below { background: #123456 } QScrollArea { background: transparent }")
    empty = EmptyState(theme, "trace", below)
    empty.resize(300, 200)
    assert below.grab().toImage().pixelColor(3, 3).name() == "#123456"


def test_other_words_of_an_empty_pane_have_other_buttons(qtbot: QtBot, theme: Theme) -> None:
    empty = EmptyState(theme, "trace")
    qtbot.addWidget(empty)
    empty.say("No chat", "Open one.", (("chat.open", "Open…"),))
    empty.say("No <b>vault</b>", "A & B")
    drain()
    assert empty.findChildren(QPushButton) == []
    assert empty.focusProxy() is None
    assert (empty.title.textFormat(), empty.text.textFormat()) == (Qt.TextFormat.PlainText,) * 2
    assert empty.title.wordWrap()
    assert empty.text.wordWrap()
    assert empty.text.maximumWidth() == empty.title.maximumWidth() == 480


@pytest.mark.parametrize("tone", ["neutral", "error"])
def test_a_bar_is_painted_in_its_tone(qtbot: QtBot, theme: Theme, tone: str) -> None:
    bar = TonedBar(theme)
    qtbot.addWidget(bar)
    bar.resize(200, 30)
    bar.show()
    qtbot.waitExposed(bar)
    drain()
    watch = PaintWatch(bar)
    bar.set_tone(tone)
    qtbot.waitUntil(lambda: watch.seen > 0)
    assert theme.color(f"{tone}_soft").name() in {each.fill for each in drawn(bar)}


def test_a_newer_message_takes_the_place_of_the_one_about_the_same(qtbot: QtBot, theme: Theme) -> None:
    bars = BarStack(theme, lambda action: f"Do {action}")
    qtbot.addWidget(bars)
    assert bars.isHidden()
    told: list[str] = []
    bars.pressed.connect(told.append)
    bars.add(Notice("One", key="a"))
    bars.add(Notice("Two", key="b", actions=("undo",), details="why"))
    bars.add(Notice("Three", key="a"))
    assert (bars.texts, bars.details()) == (["Three", "Two"], "why")
    bars.add(Notice("Two"))  # the same words again
    assert bars.texts == ["Two", "Three"]
    for place in range(3):
        bars.add(Notice(f"New {place}"))
    assert bars.texts == ["New 2", "New 1", "New 0"]
    drain()
    bars.resize(400, 200)
    bars.layout().activate()
    seen = sorted((each for each in bars.findChildren(MessageBar) if each.isVisibleTo(bars)), key=lambda bar: bar.y())
    assert [each.label.text() for each in seen] == bars.texts, "the newest stands on top"
    assert all(one.geometry().bottom() < other.y() for one, other in pairwise(seen))
    oldest = bars._bars[-1][1].findChildren(QToolButton)
    next(each for each in oldest if each.accessibleName() == "Dismiss this message").click()
    assert bars.texts == ["New 2", "New 1"]
    bars.add(Notice("Last", key="x", actions=("undo",), details="more"))
    drain()
    captions = [each.text() for each in bars.findChildren(QPushButton)]
    assert captions == ["Do undo", "Details"]
    for each in bars.findChildren(QPushButton):
        each.click()
    assert told == ["undo", "help.details"]
    bars.drop("nothing")
    assert len(bars.texts) == 3
    bars.drop("x")
    assert bars.texts == ["New 2", "New 1"]
    first = bars.findChildren(MessageBar)[-1]
    first.closed.emit()
    bars.clear()
    assert (bars.texts, bars.isHidden(), bars.details()) == ([], True, "")


def test_a_message_has_the_sign_of_its_tone(qtbot: QtBot, theme: Theme) -> None:
    parent = QWidget()
    qtbot.addWidget(parent)
    bar = MessageBar(theme, parent)
    for tone, icon in (("good", "check"), ("neutral", "info"), ("warning", "warning"), ("error", "error")):
        bar.say("Words", tone)
        assert bar._icon.pixmap().toImage() == theme.icon(icon, tone).pixmap(16, 16).toImage()
        assert bar.label.textInteractionFlags() & Qt.TextInteractionFlag.TextSelectableByMouse


def test_the_title_of_a_dock_says_what_its_pane_says(qtbot: QtBot, theme: Theme) -> None:
    window = QMainWindow()
    qtbot.addWidget(window)
    pane = Watched("vault", "Vault", theme)
    pane.note_changed.emit("3 notes")
    dock = PaneDock(PlannedPane("vault", "Vault", lambda: pane), theme, window)
    window.addDockWidget(Qt.DockWidgetArea.LeftDockWidgetArea, dock)
    assert (dock.objectName(), dock.accessibleName(), dock.bar, dock.made) == ("dock-vault", "Vault", None, None)
    window.show()
    drain()
    dock.take(pane)
    assert (dock.made, dock.pane) == (pane, pane)
    assert dock.bar._note.text() == "3 notes"
    pane.note_changed.emit("4 notes")
    assert (dock.bar._note.text(), dock.bar._note.toolTip()) == ("4 notes", "4 notes")
    dock.bar.show_name(False)
    assert dock.bar._name.isHidden()
    dock.bar.set_active(True)
    assert dock.bar.property("active") is True
    assert dock.bar._float.focusPolicy() is Qt.FocusPolicy.TabFocus


def test_the_bar_of_a_dock_is_dressed_anew_only_when_the_keyboard_comes_or_goes(
    qtbot: QtBot, theme: Theme, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every bar is told whenever the keyboard goes anywhere."""
    dock, dressed = QDockWidget(), []
    qtbot.addWidget(dock)
    bar = PaneTitle(dock, "Budget", theme)

    def dress(widget: QWidget, name: str, value: object) -> None:
        paint_as(widget, name, value)
        dressed.append(value)

    monkeypatch.setattr(pane_module, "paint_as", dress)
    for active in (False, True, True, False, False):
        bar.set_active(active)
    assert dressed == [True, False]


def test_a_dock_makes_its_pane_when_somebody_looks_and_tells_that_the_keyboard_left(qtbot: QtBot, theme: Theme) -> None:
    window = QMainWindow()
    qtbot.addWidget(window)
    made: list[Pane] = []

    def make() -> Pane:
        made.append(Watched("vault", "Vault", theme))
        dock.take(made[-1])
        return made[-1]

    dock = PaneDock(PlannedPane("vault", "Vault", make), theme, window)
    window.addDockWidget(Qt.DockWidgetArea.LeftDockWidgetArea, dock)
    field = QLineEdit()
    window.setCentralWidget(field)
    assert made == []
    window.show()
    window.activateWindow()
    qtbot.waitUntil(lambda: len(made) == 1)
    field.setFocus()
    qtbot.waitUntil(field.hasFocus)
    left: list[bool] = []
    dock.left.connect(lambda: left.append(True))
    dock.close()
    assert left == []
    dock.show()
    made[0].setFocus()
    qtbot.waitUntil(made[0].hasFocus)
    dock.close()
    assert (left, len(made)) == ([True], 1)
    assert (made[0].focus_target(), made[0].open_search()) == (made[0], False)


def test_docks_that_come_into_sight_together_make_their_panes_in_turns(qtbot: QtBot, theme: Theme) -> None:
    window = QMainWindow()
    qtbot.addWidget(window)
    turns: list[str] = []

    def planned(name: str) -> PlannedPane:
        def make() -> Pane:
            pane = Watched(name, name, theme)
            docks[name].take(pane)
            QTimer.singleShot(0, window, lambda: turns.append(""))
            turns.append(name)
            return pane

        return PlannedPane(name, name, make)

    docks: dict[str, PaneDock] = {}
    for name in ("Vault", "Search", "Budget"):
        docks[name] = PaneDock(planned(name), theme, window)
        window.addDockWidget(Qt.DockWidgetArea.LeftDockWidgetArea, docks[name])
    window.resize(300, 600)
    window.show()
    docks["Search"].hide()  # it was in sight for a moment
    qtbot.waitUntil(lambda: len(turns) == 4)
    drain()
    assert turns == ["Vault", "", "Budget", ""]
    docks["Search"].show()
    qtbot.waitUntil(lambda: len(turns) == 6)
    assert turns[4:] == ["Search", ""]


@pytest.mark.parametrize("kind", [QLineEdit, QPlainTextEdit, QTextEdit])
def test_a_pane_does_again_what_its_field_undid_where_the_field_knows_no_key_for_it(
    qtbot: QtBot, theme: Theme, kind: type[QLineEdit]
) -> None:
    """On Linux and macOS Ctrl+Y comes to the pane: fields know Ctrl+Shift+Z alone."""
    pane, field = Pane("vault", "Vault", theme), kind()
    qtbot.addWidget(pane)
    pane.column.addWidget(field)
    pane.show()
    field.setFocus()
    qtbot.waitUntil(field.hasFocus)
    qtbot.keyClicks(field, "ink")
    said = field.text if isinstance(field, QLineEdit) else field.toPlainText
    field.undo()
    assert said() == ""

    def key(kind: QEvent.Type, which: Qt.Key = Qt.Key.Key_Y) -> bool:
        event = QKeyEvent(kind, which, Qt.KeyboardModifier.ControlModifier)
        event.ignore()
        QApplication.sendEvent(pane, event)
        return event.isAccepted()

    assert not key(QEvent.Type.KeyPress, Qt.Key.Key_X)
    assert said() == ""
    assert key(QEvent.Type.ShortcutOverride), "or an action of that key would be run"
    assert said() == ""
    assert key(QEvent.Type.KeyPress)
    assert said() == "ink"
    field.undo()
    field.setReadOnly(True)
    assert not key(QEvent.Type.ShortcutOverride)
    assert not key(QEvent.Type.KeyPress)
    assert said() == ""


def test_what_two_parts_need_is_that_of_the_wider_one(qtbot: QtBot) -> None:
    first, second = QLabel("one"), QLabel("a good deal wider than that")
    row = FoldingRow(first, second, margins=(5, 6, 7, 8))
    qtbot.addWidget(row)
    row.show()
    drain()
    assert row.minimumSizeHint().width() == second.minimumSizeHint().width() + 12
    need = first.sizeHint().width() + 8 + second.sizeHint().width() + 12
    for width, folded in ((need, False), (need - 1, True), (need, False)):
        row.setFixedWidth(width)
        drain()
        assert (row.width(), row.folded) == (width, folded)


def test_a_row_within_another_unfolds_as_soon_as_there_is_room_again(qtbot: QtBot) -> None:
    inner = FoldingRow(QLabel("a button of some width"), QLabel("and another one"))
    outer = FoldingRow(QLabel("a title"), inner)
    qtbot.addWidget(outer)
    outer.resize(600, 60)
    outer.show()
    drain()
    wide = inner.sizeHint().width()
    outer.resize(wide - 20, 100)
    drain()
    assert (outer.folded, inner.folded, inner.sizeHint().width()) == (True, True, wide)
    outer.resize(600, 60)
    drain()
    assert (outer.folded, inner.folded, inner.width()) == (False, False, wide)


def test_only_some_rows_are_shown_until_all_are_wanted(qtbot: QtBot, theme: Theme) -> None:
    parent = QWidget()
    qtbot.addWidget(parent)
    strip = FilterStrip(theme, parent)
    told: list[bool] = []
    strip.cleared.connect(lambda: told.append(True))
    parent.show()
    assert strip.isHidden()
    strip.say("cut by the budget")
    assert (strip.isVisible(), strip.label.text()) == (True, "Only: cut by the budget")
    strip.button.click()
    assert told == [True]


class TwoPages(Pane):
    """A field and a list of words, one of which is shown."""

    def __init__(self, theme: Theme) -> None:
        super().__init__("pages", "Pages", theme)
        self.first, self.second = QLineEdit(self), QLineEdit(self)
        self.button = QPushButton("Turn", self)
        for part in (self.first, self.second, self.button):
            self.column.addWidget(part)
        self.second.hide()

    def focus_target(self) -> QWidget:
        return self.first if self.first.isVisible() else self.second


def test_a_click_beside_the_parts_of_a_pane_gives_the_keyboard_to_what_heeds_it(qtbot: QtBot, theme: Theme) -> None:
    pane = TwoPages(theme)
    qtbot.addWidget(pane)
    pane.resize(300, 300)
    pane.show()
    qtbot.waitUntil(pane.isActiveWindow)
    beside = QPoint(2, pane.height() - 2)
    assert pane.childAt(beside) is None
    for shown, hidden in ((pane.first, pane.second), (pane.second, pane.first)):
        shown.show()
        hidden.hide()
        pane.button.setFocus()
        qtbot.mouseClick(pane, Qt.MouseButton.LeftButton, pos=beside)
        drain()
        assert shown.hasFocus()
    pane.setFocus()
    pane.button.setFocus()
    drain()
    assert pane.button.hasFocus(), "whoever moved on at once is left where they are"
    pane.button.hide()
    pane.setFocus()
    pane.second.hide()
    drain()
    assert pane.hasFocus(), "nothing that heeds it is in sight"


class Waiting(Pane):
    """Its list is there once somebody has asked for it."""

    def __init__(self, theme: Theme) -> None:
        super().__init__("waiting", "Waiting", theme)
        self.other, self.field = QLineEdit(self), QLineEdit(self)
        self.list = holding(column(self.other, self.field))
        self.column.addWidget(self.or_empty("check", self.list), 1)
        self.say_empty("Nothing yet", "Ask for it.", (("ask", "Ask"),))

    def focus_target(self) -> QWidget:
        return self.field if self.pages.currentWidget() is self.list else self.empty


def test_the_keyboard_stays_in_a_pane_whose_page_is_another_one(qtbot: QtBot, theme: Theme) -> None:
    window, pane = QMainWindow(), Waiting(theme)
    bar = QToolButton(window, text="Elsewhere", focusPolicy=Qt.FocusPolicy.StrongFocus)
    window.setMenuWidget(bar)
    window.setCentralWidget(pane)
    qtbot.addWidget(window)
    window.show()
    qtbot.waitUntil(window.isActiveWindow)
    pane.focus_target().setFocus()
    button = QApplication.focusWidget()
    assert isinstance(button, QPushButton)
    assert button.text() == "Ask"
    pane.say_empty("Looking…", "", ())
    drain()
    pane.pages.setCurrentWidget(pane.list)
    drain()
    assert pane.field.hasFocus()
    pane.say_empty("Nothing", "", (("ask", "Ask again"),))
    drain()
    assert QApplication.focusWidget().text() == "Ask again"
    pane.say_empty("Nothing", "", (("ask", "And again"),))
    drain()
    assert QApplication.focusWidget().text() == "And again"
    bar.setFocus()
    pane.pages.setCurrentWidget(pane.list)
    drain()
    assert bar.hasFocus(), "nobody is in the pane"


def test_each_of_several_empty_states_is_made_in_a_turn_of_its_own(
    qtbot: QtBot, qapp: QApplication, theme: Theme, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where nothing is chosen yet, five panes have one: made at once they would hold the window."""
    window, made = QWidget(), list[EmptyState]()
    qtbot.addWidget(window)
    states = [EmptyState(theme, "trace") for _ in range(4)]
    monkeypatch.setattr(EmptyState, "_fill", lambda state, _page: made.append(state))
    window.setLayout(column(*states))
    window.show()
    turns: list[int] = []
    while len(made) < len(states) and len(turns) < 20:
        before = len(made)
        qapp.processEvents()
        turns.append(len(made) - before)
    assert [turn for turn in turns if turn] == [1, 1, 1, 1]
    assert made == states
