"""Whether everything has room, and none too much: panes beside each other, words in fields, buttons and lines."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import TypeGuard

import pytest
from PySide6.QtCore import QEvent
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractScrollArea,
    QAbstractSpinBox,
    QApplication,
    QCheckBox,
    QComboBox,
    QDialogButtonBox,
    QLabel,
    QLineEdit,
    QPushButton,
    QTabBar,
    QTabWidget,
    QToolButton,
    QWidget,
)
from pytestqt.qtbot import QtBot

from lorestudio.ui.shell.layout import TUNE, WORKSPACES, WRITE
from lorestudio.ui.shell.main_window import MainWindow
from lorestudio.ui.widgets.pane import ElidedLabel
from tests.ui.conftest import drain, settle
from tests.ui.shell.conftest import dialogs

pytestmark = [pytest.mark.long, pytest.mark.dressed]
SIZES = pytest.mark.parametrize(
    ("size", "letters"), [((1280, 800), 1), ((1024, 640), 1), ((1024, 640), 1.5)], indirect=["letters"], ids=str
)


def pages(root: QWidget) -> Iterator[None]:
    """Once as it is, then with each tab in front; words that came last have the room of their layout."""
    QApplication.sendPostedEvents(None, QEvent.Type.LayoutRequest)
    yield
    for tabs in root.findChildren(QTabWidget):
        for place in range(tabs.count()):
            tabs.setCurrentIndex(place)
            drain()
            QApplication.sendPostedEvents(None, QEvent.Type.LayoutRequest)
            yield
        tabs.setCurrentIndex(0)


def cut_off(root: QWidget) -> set[str]:
    """Words that have less room than they take, of what can be seen."""
    return {words for each in root.findChildren(QWidget) for words, wide in needed(each) if wide > each.width()}


def needed(widget: QWidget) -> Iterator[tuple[str, int]]:
    """What a widget says, with the width (pixels) that this takes."""
    if widget.visibleRegion().isEmpty() or isinstance(widget, ElidedLabel):  # which shortens by whole parts
        return
    if isinstance(widget, QLineEdit):
        number = isinstance(widget.parent(), QAbstractSpinBox)
        words = widget.text() if number else widget.placeholderText()  # other texts may be as long as they like
        yield words, widget.fontMetrics().horizontalAdvance(words)
    elif isinstance(widget, QAbstractButton) and widget.text():
        yield widget.text(), widget.minimumSizeHint().width()
    elif isinstance(widget, QLabel) and widget.text():
        high = widget.heightForWidth(widget.width()) if widget.wordWrap() else 0
        yield widget.text(), widget.minimumSizeHint().width() if high <= widget.height() + 2 else widget.width() + 1


def misplaced(root: QWidget) -> set[tuple[str, ...]]:
    """Controls and words that lie over others of their parent, or have no room in it, as they do without a layout."""
    found: set[tuple[str, ...]] = set()
    for parent in (root, *root.findChildren(QWidget)):
        if isinstance(parent, _WITH_PARTS) or not parent.isVisible() or _scrolls(parent):
            continue
        parts = [each for each in parent.children() if _is_part(each)]
        found |= {_names(each) for each in parts if each.visibleRegion().isEmpty()}
        found |= {
            _names(one, other)
            for one, other in combinations(parts, 2)
            if one.geometry().adjusted(1, 1, -1, -1).intersects(other.geometry())
        }
    return found


def stretched(root: QWidget) -> set[tuple[str, ...]]:
    """Buttons and fields of one line with room that nobody needs."""
    seen = [each for each in root.findChildren(QWidget) if not each.visibleRegion().isEmpty()]
    wide = [
        (each.text(),)
        for each in seen
        if isinstance(each, QPushButton)
        and each.width() > each.sizeHint().width() + 1
        and not (each.text() in _FILLING or isinstance(each.parentWidget(), QDialogButtonBox))
    ]
    own = [each for each in seen if isinstance(each, _ONE_LINE) and not isinstance(each.parentWidget(), QTabBar)]
    high = [each for each in own if each.height() > each.sizeHint().height() + 1]  # a tab bar's arrows are Qt's
    return {*wide, *map(_names, high)}


_FILLING = {"Use", "Delete…", "Save current settings as…", "Add setting…"}
"""Buttons that fill the width of a list or of a pane."""

_ONE_LINE = (QPushButton, QToolButton, QCheckBox, QComboBox, QAbstractSpinBox)
_WITH_PARTS = (QLineEdit, QAbstractSpinBox, QComboBox, QAbstractScrollArea, QTabWidget, QTabBar)


def _names(*parts: QWidget) -> tuple[str, ...]:
    return tuple(f"{type(each).__name__} {each.accessibleName()}" for each in parts)


def _scrolls(widget: QWidget | None) -> bool:
    """Whether it is in an area that shows a part of it."""
    while widget is not None and not isinstance(widget, QAbstractScrollArea):
        widget = widget.parentWidget()
    return widget is not None


def _is_part(each: object) -> TypeGuard[QWidget]:
    if not isinstance(each, QWidget) or each.isWindow() or not each.isVisible():
        return False
    said = isinstance(each, QLabel) and bool(each.text())
    return said or isinstance(each, QAbstractButton | QLineEdit | QComboBox | QAbstractSpinBox | QAbstractScrollArea)


def wordless(root: QWidget) -> set[tuple[str, ...]]:
    """Buttons that say nothing, also those that are not seen yet, with what they are in."""
    found = [each for each in root.findChildren(QPushButton) if not each.text() and each.icon().isNull()]
    return {_names(each, each.parentWidget()) for each in found}


def wrong(root: QWidget) -> set[str | tuple[str, ...]]:
    """All that has too little room or too much, or nothing to say."""
    return cut_off(root) | misplaced(root) | stretched(root) | wordless(root)


@pytest.mark.parametrize(
    ("size", "letters"),
    [((1280, 800), 1), ((1024, 640), 1), ((1024, 640), 1.5), ((1280, 800), 1.5)],
    indirect=["letters"],
    ids=str,
)
def test_no_pane_covers_another_or_leaves_the_window(letters: float, studio: MainWindow, size: tuple[int, int]) -> None:
    del letters
    studio.resize(*size)
    layout = studio.context.layout
    for workspace in WORKSPACES:
        layout.enter(workspace)
        for name in layout.docks:
            studio.context.uncover(name)
            drain()
            places = [dock.geometry() for dock in layout.docks.values() if not dock.visibleRegion().isEmpty()]
            assert not any(one.intersects(other) for one, other in combinations(places, 2)), (workspace.name, name)
            assert all(studio.rect().contains(place) for place in places), (workspace.name, name)


@SIZES
def test_no_words_of_a_pane_are_cut_off(letters: float, studio: MainWindow, size: tuple[int, int]) -> None:
    del letters
    studio.resize(*size)
    layout = studio.context.layout
    for workspace in WORKSPACES:
        layout.enter(workspace)
        for name, dock in layout.docks.items():
            studio.context.uncover(name)
            settle(studio)
            for _ in pages(dock):
                assert wrong(dock) == set(), (workspace.name, name)


def in_whole(studio: MainWindow) -> int:
    """How many answers are seen in whole at the top: further down, one that was looked for has a button in its row."""
    answers = studio.docks["trace"].pane.answers
    answers.scrollToTop()
    rows = ((answers.rowViewportPosition(row), answers.rowHeight(row)) for row in range(answers.model().rowCount()))
    return sum(top >= 0 and top + high <= answers.viewport().height() for top, high in rows)


@pytest.mark.parametrize(("size", "least"), [((1280, 800), 5), ((1024, 640), 3)], ids=str)
def test_tuning_has_all_tabs_in_sight_and_several_answers(
    studio: MainWindow, size: tuple[int, int], least: int
) -> None:
    studio.resize(*size)
    studio.context.layout.enter(TUNE)
    settle(studio)
    bars = [each for each in studio.findChildren(QTabBar) if each.parent() is studio and each.isVisible()]
    assert len(bars) == 3
    assert [each for each in bars if each.sizeHint().width() > each.width()] == []
    assert in_whole(studio) >= least


def test_beside_a_note_a_low_window_shows_several_answers(studio: MainWindow) -> None:
    studio.resize(1280, 800)
    studio.context.layout.enter(WRITE)
    studio.context.selection.choose_entry(None)
    settle(studio)
    assert in_whole(studio) >= 3
    pane = studio.docks["trace"].pane  # which was wide before
    assert pane.filter.mapTo(pane.tabs, pane.filter.rect().topLeft()).y() < pane.tabs.tabBar().height()


def test_a_small_window_has_all_views_of_a_note_in_sight(studio: MainWindow) -> None:
    studio.resize(1024, 640)
    studio.context.uncover("entry")
    settle(studio)
    tabs = studio.docks["entry"].pane.tabs
    assert tabs.sizeHint().width() <= tabs.width()


def test_in_a_small_window_every_pane_beside_a_note_has_its_tab_in_sight(studio: MainWindow) -> None:
    studio.resize(1024, 640)
    studio.context.layout.enter(WRITE)
    settle(studio)
    rows = [each for each in studio.findChildren(QTabBar) if each.parent() is studio and each.isVisible()]
    assert any("Problems" in [each.tabText(place) for place in range(each.count())] for each in rows)
    assert [each for each in rows if each.sizeHint().width() > each.width()] == []


def test_a_small_window_says_in_one_line_all_of_how_the_chat_is_run(studio: MainWindow) -> None:
    studio.resize(1024, 640)
    settle(studio)
    line = studio.docks["chat"].pane.run_line
    assert line.text() == "DeepLore · keywords only · 8 set here · stand-in"
    assert line.toolTip().startswith(f"{line.text()}\n")


ASKED_FIRST = {"search", "bench", "expectations", "scores", "tuning", "verify"}
"""Panes whose title says nothing before something was searched, typed or begun."""

BEGUN_FIRST = {"graph", "search", "links", "bench", "tuning", "verify"}
"""Panes with a line of their own that says what came of what was begun there."""


def test_every_label_of_a_pane_that_is_seen_says_something(studio: MainWindow, qtbot: QtBot) -> None:
    silent: dict[str, set[str]] = {"title": set(), "inside": set()}
    qtbot.waitUntil(lambda: studio.features.problems.pane.problems is not None)  # the checks wait for a pause
    for name, dock in studio.context.layout.docks.items():
        studio.context.uncover(name)
        settle(studio)
        for each in dock.findChildren(QLabel):
            if not each.visibleRegion().isEmpty() and not each.text() and each.pixmap().isNull():
                silent["title" if each.objectName() == "PaneNote" else "inside"].add(name)
    assert silent == {"title": ASKED_FIRST, "inside": BEGUN_FIRST}


@pytest.mark.parametrize("letters", [1, 1.5], indirect=True)
def test_no_words_of_a_dialog_are_cut_off(letters: float, studio: MainWindow) -> None:
    del letters
    studio.resize(1024, 640)
    seen = 0
    for each, dialog in dialogs(studio):
        for _ in pages(dialog):
            assert wrong(dialog) == set(), each
            seen += 1
    assert seen > 40


@pytest.mark.parametrize("letters", [1.5], indirect=True)
def test_no_dialog_wants_more_room_than_a_small_screen_has(letters: float, studio: MainWindow) -> None:
    """Its buttons would be out of reach."""
    del letters
    studio.resize(1024, 640)
    wanted = {each: dialog.minimumSizeHint() for each, dialog in dialogs(studio)}
    assert len(wanted) > 30
    assert {each: size for each, size in wanted.items() if size.width() > 1024 or size.height() > 600} == {}
