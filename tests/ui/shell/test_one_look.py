"""What holds for every pane of the window, so that they look and behave as one."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QMargins, QObject, Qt, Signal
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QAbstractSpinBox,
    QBoxLayout,
    QComboBox,
    QFormLayout,
    QGridLayout,
    QLabel,
    QLayout,
    QLineEdit,
    QProgressBar,
    QPushButton,
    QScrollArea,
    QSplitter,
    QStyle,
    QTableView,
    QTabWidget,
    QTextBrowser,
    QToolButton,
    QTreeView,
    QWidget,
)

from lorestudio.domain.entry import VaultIndex
from lorestudio.domain.records import replace
from lorestudio.studio.project.project import Project
from lorestudio.studio.replay.simulator import Simulator
from lorestudio.ui.shell.main_window import MainWindow
from lorestudio.ui.shell.qt import DISPLAY, TOOLTIP
from lorestudio.ui.widgets.pane import EmptyState, MessageBar
from lorestudio.ui.widgets.record_table import LateTable, RecordTable
from tests.ui.conftest import drain, settle
from tests.ui.shell.conftest import uneven, unplaced
from tests.ui.shell.test_connected import heard
from tests.ui.worlds import make_project


@pytest.fixture
def window(share_window: Callable[..., MainWindow]) -> MainWindow:
    """With all of its panes made."""

    def prepare(window: MainWindow) -> None:
        for dock in window.docks.values():
            assert dock.pane is not None
        drain()

    return share_window(lambda folder: make_project(folder / "vault"), prepare=prepare)


@pytest.fixture
def half_open(share_window: Callable[..., MainWindow], request: pytest.FixtureRequest) -> MainWindow:
    """With a vault and no chat, or with a chat and no vault; every pane was looked at."""

    def prepare(window: MainWindow) -> None:
        for name in window.docks:
            window.context.uncover(name)
            drain()
        settle(window)

    def vault(folder: Path) -> Project:
        return make_project(folder / "vault", chat=False)

    def chat(_folder: Path) -> Project:
        return replace(make_project(), index=VaultIndex())

    of = vault if request.param == "vault" else chat
    return share_window(of, prepare=prepare, make_simulator=Simulator)


def offered(pane: QWidget) -> dict[str, list[str]]:
    """What the empty pages of a pane that are its own say, with the buttons below."""
    pages = [each for each in pane.findChildren(EmptyState) if each.isVisibleTo(pane)]
    return {
        f"{each.title.text()}: {each.text.text()}": [each.text() for each in each.page.findChildren(QPushButton)]
        for each in pages
    }


@pytest.mark.parametrize("half_open", ["vault"], indirect=True)
def test_a_pane_that_wants_a_chat_opened_has_a_button_for_it(half_open: MainWindow) -> None:
    """In some the person was told to open one, and had to look for where that is done."""
    said = {
        name: (words, ways)
        for name, dock in half_open.docks.items()
        for words, ways in offered(dock.pane).items()
        if "chat" in words.lower() and "expected" not in words and name not in {"bench", "settings"}
    }
    assert set(said) >= {"chat", "trace", "timeline", "compare", "recap", "memories", "scores", "verify"}
    assert {name: words for name, (words, ways) in said.items() if "Open chat…" not in ways} == {}


@pytest.mark.parametrize("half_open", ["chat"], indirect=True)
def test_a_chat_without_a_vault_is_told_what_is_missing_and_how_to_open_it(half_open: MainWindow) -> None:
    """A folder without notes was spoken of, and a new note was offered, for which there is no folder."""
    (vault,) = offered(half_open.docks["vault"].pane).items()
    text = "No vault open: Open the notes or the lorebook that go with this chat."
    assert vault == (text, ["Open vault folder…", "Open lorebook…"])
    (rows,) = (ways for words, ways in offered(half_open.trace).items() if "No notes are open" in words)
    assert rows == ["Open vault folder…", "Open lorebook…"]
    bench = half_open.docks["bench"].pane
    half_open.context.uncover("trace")
    assert bench.visibleRegion().isEmpty()
    half_open.trace.nothing.pressed.emit("pane.bench")
    assert half_open.context.current_pane() is bench


def path_of(widget: QWidget) -> str:
    """Where a widget is, for whoever reads that a test has failed."""
    found = []
    at: QWidget | None = widget
    while at is not None:
        found.append(at.accessibleName() or type(at).__name__)
        at = at.parentWidget()
    return " < ".join(found)


def test_every_part_of_a_pane_has_a_place_in_it(window: MainWindow) -> None:
    panes = [dock.pane for dock in window.docks.values()]
    assert [path_of(each) for pane in panes for each in unplaced(pane)] == []


def test_no_part_of_a_pane_has_the_room_around_it_that_dialogs_have(window: MainWindow) -> None:
    """What a style leaves around the content of a dialog is wasted in a pane, and parts of it do not stand in line."""
    sides = [getattr(QStyle.PixelMetric, f"PM_Layout{side}Margin") for side in ("Left", "Top", "Right", "Bottom")]
    of_dialogs = QMargins(*map(window.style().pixelMetric, sides))
    layouts = [each for kind in (QBoxLayout, QFormLayout, QGridLayout) for each in window.findChildren(kind)]
    outer = [each for each in layouts if each.parent() is each.parentWidget()]
    assert len(outer) > 100
    assert [path_of(each.parentWidget()) for each in outer if each.contentsMargins() == of_dialogs] == []


def test_room_around_parts_and_between_them_goes_in_steps_of_two_pixels(window: MainWindow) -> None:
    """So that what stands below each other stands in line: each pane had steps of its own."""
    assert [path_of(layout.parentWidget()) for layout in window.findChildren(QLayout) if uneven(layout)] == []


def test_columns_are_given_even_widths(window: MainWindow) -> None:
    assert window.features.graph.pane.lists is not None  # whose tables are made then
    columns = [each for table in window.findChildren(RecordTable) for each in table.columns]
    assert sum(each.width > 0 for each in columns) > 60
    assert [each.title for each in columns if each.width > 0 and each.width % 2] == []


def test_shares_of_the_room_are_as_small_as_can_be(window: MainWindow) -> None:
    """Who takes all that is left has the share 1; where several do, their shares say how much more one gets."""
    shares = [
        (path_of(layout.parentWidget()), [layout.stretch(place) for place in range(layout.count())])
        for layout in window.findChildren(QBoxLayout)
    ]
    assert [(where, some) for where, some in shares if math.gcd(*some) > 1] == []


def test_pages_within_a_pane_have_flat_tabs(window: MainWindow) -> None:
    tabs = window.findChildren(QTabWidget)
    assert len(tabs) > 6
    assert [path_of(each) for each in tabs if not each.documentMode()] == []


@pytest.mark.parametrize("half_open", ["vault"], indirect=True)
def test_how_many_there_are_stands_in_brackets_in_every_tab(half_open: MainWindow) -> None:
    """“Gaps 19” stood beside “Use (12)”."""
    named = [tabs.tabText(place) for tabs in half_open.findChildren(QTabWidget) for place in range(tabs.count())]
    counted = [each for each in named if re.search(r"\d", each) and "≈" not in each]
    assert counted
    assert [each for each in counted if not re.search(r" \([\d,]+( \w+)?\)$", each)] == []


def test_buttons_that_do_the_same_look_the_same(window: MainWindow) -> None:
    """One of several is flat, a switch of its own in words has an edge: as flat words it looked like a heading."""
    buttons = [each for each in window.findChildren(QToolButton) if each.isCheckable() and each.text()]
    of_several = [each for each in buttons if each.group() is not None]
    assert len(of_several) > 3
    assert [path_of(each) for each in of_several if each.property("kind") or not each.toolTip()] == []
    alone = [each for each in buttons if each.group() is None and each.icon().isNull() and len(each.text()) > 3]
    assert len(alone) > 1
    assert [path_of(each) for each in alone if each.property("kind") != "text"] == []


def test_a_menu_comes_at_a_press_and_a_tip_says_more_than_the_word_on_the_button(window: MainWindow) -> None:
    """A menu that comes only when the button is held seems to be none; a tip is read before the word is."""
    at_once = {QToolButton.ToolButtonPopupMode.InstantPopup, QToolButton.ToolButtonPopupMode.MenuButtonPopup}
    buttons = window.findChildren(QToolButton)
    with_menus = [each for each in buttons if each.menu() is not None]
    assert len(with_menus) > 15
    assert [path_of(each) for each in with_menus if each.popupMode() not in at_once] == []
    shown = [each for each in buttons if each.toolButtonStyle() is not Qt.ToolButtonStyle.ToolButtonIconOnly]
    told = [each for each in (*shown, *window.findChildren(QPushButton)) if each.text() and each.toolTip()]
    assert len(told) > 50
    assert [path_of(each) for each in told if len(each.text()) >= len(each.toolTip())] == []


def test_an_empty_page_has_a_short_title_and_sentences_below_it(window: MainWindow) -> None:
    pages = [(each.accessibleName(), each.accessibleDescription()) for each in window.findChildren(EmptyState)]
    explained = [(title, text) for title, text in pages if text]
    assert len(explained) > 15
    assert [title for title, text in explained if not text.endswith((".", "…"))] == []
    assert [title for title, text in explained if title.endswith(".") or not 0 < len(title) < len(text)] == []


def test_the_buttons_of_every_empty_pane_do_what_they_say(window: MainWindow) -> None:
    panes = {name: dock.pane for name, dock in window.docks.items() if hasattr(dock.pane, "empty")}
    assert len(panes) > 8
    wanted: list[tuple[str, str]] = []
    for name, pane in panes.items():
        pane.wanted.connect(lambda what, name=name: wanted.append((name, what)))
        pane.empty.pressed.emit("pane.chat")
    assert wanted == [(name, "pane.chat") for name in panes]


def test_a_message_in_a_pane_has_its_buttons_below_it(window: MainWindow) -> None:
    """A pane may be narrow; in a dialog they stand beside it."""
    bars = [bar for dock in window.docks.values() for bar in dock.pane.findChildren(MessageBar)]
    assert len(bars) > 2
    assert [path_of(bar) for bar in bars if bar.layout().indexOf(bar.label) >= 0] == []


def test_links_are_followed_by_the_program_and_not_by_the_text(window: MainWindow) -> None:
    texts = window.findChildren(QTextBrowser)
    assert len(texts) > 2
    with_links = [each for each in texts if "Explanation" in each.accessibleName() or "call" in each.accessibleName()]
    assert len(with_links) > 1
    assert [path_of(each) for each in window.features.why_not.pane.findChildren(QTextBrowser) if each.openLinks()] == []
    assert not window.trace.ai.overview.openLinks()


def test_bars_of_progress_have_their_words_beside_them(window: MainWindow) -> None:
    bars = window.findChildren(QProgressBar)
    assert len(bars) > 3
    assert [path_of(each) for each in bars if each.isTextVisible()] == []


def test_what_scrolls_is_as_wide_as_its_pane(window: MainWindow) -> None:
    areas = window.findChildren(QScrollArea)
    assert len(areas) > 5
    assert [path_of(each) for each in areas if not each.widgetResizable()] == []


def test_words_beside_buttons_stay_in_one_line(window: MainWindow) -> None:
    features = window.features
    graph, timeline = features.graph.pane, features.timeline
    lines: dict[str, QLabel] = {
        "tokens of the bench": features.bench.pane.tokens,
        "budget": window.budget.slider.label,
        "edges": graph.lists.edges_title,
        "hits": graph.bar.hits,
        "depth": graph.bar.scope.text,
        "found in the call": window.trace.ai.finder.found,
        "seconds": window.trace.live.seconds,
        "state of the entry": window.why._state,
        "progress": graph.strip.label,
        "only some rows": window.trace.only.label,
        "vault": window.status._vault,
        "broken": window.status._broken,
        "run": window.status._run,
    }
    assert [name for name, each in lines.items() if each.wordWrap()] == []
    names = [each for each in timeline.compare.findChildren(QLabel) if each.text() in {"A", "B"}]
    assert [each.wordWrap() for each in names] == [False, False]
    assert [each.buddy() for each in names] == list(timeline.compare.sides)


def test_what_is_said_at_length_wraps_and_can_be_copied(window: MainWindow) -> None:
    said = [
        window.features.bench.pane.why,
        window.features.tuning.scores.steps_words,
        window.features.searching.pane.story,
    ]
    assert [each.wordWrap() for each in said] == [True] * 3


CHOICES = {
    "Severity": {"info": "All", "warning": "Warnings and errors", "error": "Errors"},
    "What colours stand for": {
        "type": "Kind", "community": "Community", "frequency": "Fired in this chat", "priority": "Priority",
        "centrality": "Centrality",
    },
    "Grouping": {"section": "By section", "stage": "By stage"},
    "Order of the entries": {
        "first appearance": "By turn", "how often": "By count", "folder": "By folder", "title": "By title",
    },
    "How the next point is chosen": {"optuna": "Guided", "random": "At random", "grid": "Every one"},
}  # fmt: skip


def test_what_there_is_to_choose_from_says_what_it_stands_for(window: MainWindow) -> None:
    def offered(box: QComboBox) -> dict[str, str]:
        return {str(box.itemData(place)): box.itemText(place) for place in range(box.count())}

    boxes = {each.accessibleName(): each for each in window.findChildren(QComboBox)}
    assert {name: offered(boxes[name]) for name in CHOICES} == CHOICES
    assert {name: list(offered(boxes[name])) for name in CHOICES} == {name: list(CHOICES[name]) for name in CHOICES}


MAY_BE_UNHEARD = {
    "RecordTable": {"changed", "ticked", "dropped"}, "RecordView": {"chosen", "picked", "pressed"},
    "LateTable": {"chosen", "picked", "pressed"}, "RecordTreeView": {"pressed"}, "PlaceTree": {"checks_changed"},
    "Pane": {"wanted", "looked_at", "looked_away"}, "BarChart": {"brushed"},
    "EmptyState": {"pressed"}, "MessageBar": {"pressed"}, "FinishedText": {"finished", "given_up"},
}  # fmt: skip
"""What tables, panes and their parts tell whoever likes to know."""


def test_whatever_each_part_of_the_window_tells_is_heard(window: MainWindow) -> None:
    known: list[str] = []
    unheard: list[str] = []
    for item in window.findChildren(QObject):
        for declaring in type(item).__mro__:
            if declaring.__module__.startswith("lorestudio.ui."):
                signals = {name for name, value in vars(declaring).items() if isinstance(value, Signal)}
                for name in signals - MAY_BE_UNHEARD.get(declaring.__name__, set()):
                    known.append(name)
                    if not heard(item, name):
                        where = path_of(item) if isinstance(item, QWidget) else type(item).__name__
                        unheard.append(f"{declaring.__name__}.{name} of {where}")
    assert len(known) > 200
    assert unheard == []


COUNTED = {
    "Centrality", "Connected", "Entries", "Expectations met", "Fired", "In", "Injected", "Keys", "Matched", "Mentions",
    "Out", "Priority", "Problems", "Recorded", "Similarity", "Tokens", "Tokens a reply", "Used", "held out",
}  # fmt: skip


def test_columns_of_numbers_and_no_others_stand_at_the_right(window: MainWindow) -> None:
    assert window.features.graph.pane.lists is not None  # whose tables are made then
    at_the_right: dict[str, set[bool]] = {}
    tables = [each for kind in (QTableView, QTreeView) for each in window.findChildren(kind) if each.model()]
    for view in tables:
        if "Answers" not in view.accessibleName():  # which draws its heads itself
            for head, right in heads_of(view):
                at_the_right.setdefault(head, set()).add(right)
    assert at_the_right.keys() >= COUNTED
    assert {head: right for head, right in at_the_right.items() if right != {head in COUNTED}} == {}


def heads_of(view: QAbstractItemView) -> list[tuple[str, bool]]:
    """The titles of columns, each with whether it stands at the right."""
    model, across = view.model(), Qt.Orientation.Horizontal
    role = Qt.ItemDataRole.TextAlignmentRole
    found = []
    for place in range(model.columnCount(view.rootIndex())):
        alignment = Qt.AlignmentFlag(model.headerData(place, across, role) or 0)
        found.append((str(model.headerData(place, across)), bool(alignment & Qt.AlignmentFlag.AlignRight)))
    return found


SHARED_ALIKE = {"Settings", "Expectations", "Recorded and replayed"}
"""Panes whose parts share all room as they were pulled."""

AS_WIDE_AS_ITS_BUTTONS = {"Composer", "ZoomBar", "ScopeBar", "Views of the timeline"}


def test_more_room_goes_to_a_part_that_was_chosen_for_it(window: MainWindow) -> None:
    def stretch(part: QWidget, *, across: bool) -> int:
        policy = part.sizePolicy()
        return policy.horizontalStretch() if across else policy.verticalStretch()

    splits = window.findChildren(QSplitter)
    assert len(splits) > 10
    for split in splits:
        across = split.orientation() is Qt.Orientation.Horizontal
        if not any(stretch(split.widget(place), across=across) for place in range(split.count())):
            assert set(path_of(split).split(" < ")) & SHARED_ALIKE, path_of(split)
    lines = [each for each in window.findChildren(QBoxLayout) if each.direction() is QBoxLayout.Direction.LeftToRight]
    assert len(lines) > 50
    for line in [each for each in lines if each.count() > 1]:
        items = [line.itemAt(place) for place in range(line.count())]
        taken = any(each.expandingDirections() & Qt.Orientation.Horizontal for each in items)
        if not taken and not any(line.stretch(place) for place in range(line.count())):
            assert set(path_of(line.parentWidget()).split(" < ")) & AS_WIDE_AS_ITS_BUTTONS, path_of(line.parentWidget())


PARTS = json.loads(Path(__file__).with_name("pane_table.json").read_text(encoding="utf-8"))


def test_every_part_of_a_pane_says_what_it_is_for(window: MainWindow) -> None:
    """What can be pressed, chosen or typed into, with its words, its name and its tip, and the heads of each table."""
    make_everything(window)
    assert {name: sorted(told_in(dock.pane)) for name, dock in window.docks.items()} == PARTS


def make_everything(window: MainWindow) -> None:
    """Pages and tables that are made when somebody looks."""
    assert window.features.graph.pane.lists is not None
    for tabs in window.findChildren(QTabWidget):
        for place in [*range(tabs.count()), tabs.currentIndex()]:
            tabs.setCurrentIndex(place)
    assert all(each.view for each in window.findChildren(LateTable))


def told_in(pane: QWidget) -> Iterator[list[str]]:
    for part in pane.findChildren(QAbstractButton):
        if (part.text() or part.accessibleName()) and not part.objectName().startswith("Scroll"):  # Qt's own at tabs
            yield [part.text(), part.accessibleName(), part.toolTip()]
    for part in [each for kind in (QComboBox, QLineEdit, QAbstractSpinBox) for each in pane.findChildren(kind)]:
        if part.accessibleName():
            yield [part.accessibleName(), part.toolTip()]
    for view in [each for kind in (QTableView, QTreeView) for each in pane.findChildren(kind) if each.model()]:
        model, columns = view.model(), range(view.model().columnCount(view.rootIndex()))
        heads = [model.headerData(at, Qt.Orientation.Horizontal, role) for at in columns for role in (DISPLAY, TOOLTIP)]
        yield [view.accessibleName(), *dict.fromkeys(str(each) for each in heads if each)]
