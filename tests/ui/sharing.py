"""A window that the tests of a module have one after another: put back after each, and compared with how it was lent.

What a test leaves otherwise and what cannot be put back ends the window: the next test has a new one then. So no test
depends on those that ran before it.
"""

from __future__ import annotations

import enum
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from PySide6.QtCore import QByteArray, QElapsedTimer, QEvent, QObject, QSettings, QSize, QTimer
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QAbstractSlider,
    QAbstractSpinBox,
    QApplication,
    QComboBox,
    QCompleter,
    QHeaderView,
    QLabel,
    QLineEdit,
    QPlainTextEdit,
    QProgressBar,
    QScrollBar,
    QSpinBox,
    QStackedWidget,
    QTabBar,
    QTextEdit,
    QWidget,
)
from shiboken6 import isValid

from lorestudio.domain.chat import Generation
from lorestudio.studio.project.project import Project
from lorestudio.ui.shell.main_window import MainWindow
from lorestudio.ui.state.choices import RunChoice
from lorestudio.ui.widgets.work_pane import KeyedText

SIZE = QSize(1280, 800)

TRIES = 3
SOON_MS = 200
"""So often a window that was put back is compared; in between it does what it meant to do this soon."""

Look = tuple[object, ...]
Held = dict[QObject, dict[str, object]]

_PLAIN = (bool, int, str, enum.Enum, Generation, type(None))
_PASSING = frozenset({"_asked", "_first", "_known", "_most", "_number", "_texts", "_tone", "_whole"})
"""What nobody looks at again.

Numbers that only grow, what was found out about entries, their texts in small letters, a height to the pixel, the tone
of a message that is gone, and whether a graph fits its room.
"""


def _look(widget: QWidget) -> Look:
    """What a person sees of a widget, but not to the pixel."""
    place = (type(widget).__name__, type(widget.parentWidget()).__name__)
    return (*place, widget.isEnabled(), widget.hasFocus(), widget.accessibleDescription(), *_content(widget))


def _content(widget: QWidget) -> Look:  # noqa: PLR0911 - a line for each kind
    if isinstance(widget, QLabel | QProgressBar | QAbstractSpinBox):
        return (widget.text(),)
    if isinstance(widget, QAbstractButton):
        return (widget.text(), widget.isChecked())
    if isinstance(widget, QComboBox):
        return (widget.currentText(), widget.count())
    if isinstance(widget, QLineEdit):
        return (widget.text(), widget.isReadOnly())
    if isinstance(widget, QPlainTextEdit | QTextEdit):
        return (widget.toPlainText(), widget.isReadOnly(), widget.document().isUndoAvailable())
    if isinstance(widget, QHeaderView):
        order = [widget.logicalIndex(place) for place in range(widget.count()) if not widget.isSectionHidden(place)]
        sorting = (widget.sortIndicatorSection(), widget.sortIndicatorOrder())
        return (*(sorting if widget.isSortIndicatorShown() else ()), *order)
    if isinstance(widget, QAbstractItemView):
        model, index = widget.model(), widget.currentIndex()
        return (model.rowCount() if model is not None else 0, index.row(), index.column())
    if isinstance(widget, QStackedWidget | QTabBar):
        return (widget.currentIndex(), widget.count())
    if isinstance(widget, QScrollBar):
        return (widget.value() > 0,)
    if isinstance(widget, QAbstractSlider):
        return (widget.value(), widget.maximum())
    return ()


def looks_of(window: MainWindow) -> Counter[Look]:
    """What a person sees of a window, its actions included; not what the clock decides, as when notes are checked."""
    checks, counted = window.context.layout.docks["problems"], window.context.status.problems
    found = looks_in(window, lambda widget: widget is counted or checks.isAncestorOf(widget))
    for name, action in window.context.commands.actions.items():
        found[name, action.text(), action.isEnabled(), action.isChecked(), action.shortcut().toString()] += 1
    return found


def looks_in(whole: QWidget, left_out: Callable[[QWidget], bool] = lambda _widget: False) -> Counter[Look]:
    """What a person sees of the parts of a widget, but for buttons in a line, which come and go slowly."""
    parts = [each for each in whole.findChildren(QWidget) if each.isVisible() and not left_out(each)]
    return Counter(_look(each) for each in parts if not isinstance(each.parentWidget(), QLineEdit))


def held_by(window: MainWindow) -> Held:
    """What the window, its features and panes, and its session note down in their attributes."""
    checks = window.features.problems.pane
    found: Held = {}
    for part in (window, window.session):
        for item in (part, *part.findChildren(QObject)):
            if type(item).__module__.startswith("lorestudio.") and not _is_in(item, checks):
                found[item] = _noted(item)
    return found


def _is_in(item: QObject | None, whole: QObject) -> bool:
    while item is not None and item is not whole:
        item = QObject.parent(item)  # a model's own is asked about rows
    return item is whole


def _noted(item: QObject) -> dict[str, object]:
    found: dict[str, object] = {}
    for name, value in vars(item).items():
        if name in _PASSING or value is None:
            continue
        if isinstance(value, _PLAIN):
            found[name] = value
        elif isinstance(value, dict) and value and _all_plain(value):
            found[name] = dict(value)
    return found


def _all_plain(table: dict[object, object]) -> bool:
    return all(isinstance(each, _PLAIN) for pair in table.items() for each in pair)


def _values(settings: QSettings) -> dict[str, object]:
    return {key: settings.value(key) for key in settings.allKeys()}


def files_in(folder: Path) -> dict[Path, bytes]:
    """The files below a folder with what is in them, but not the window's settings."""
    return {path: path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file() and path.suffix != ".ini"}


@dataclass
class _Lent:
    """How a window is when a test has it."""

    project: Project | None
    choice: RunChoice
    message: tuple[int | None, Generation | None]
    entry: tuple[int | None, str | None]
    layout: QByteArray
    focus: QWidget | None
    settings: dict[str, object]
    files: dict[Path, bytes]
    looks: Counter[Look]
    held: Held
    texts: dict[QLineEdit, str]
    tabs: dict[QTabBar, int]
    sliders: dict[QAbstractSlider, int]
    ticks: dict[QAbstractButton, bool]
    numbers: dict[QSpinBox, int]
    choices: dict[QComboBox, int]

    @classmethod
    def of(cls, window: MainWindow, folder: Path) -> _Lent:
        """As it is now; `folder` has its files."""
        session, selection = window.session, window.context.selection
        lines = [line for line in window.findChildren(QLineEdit) if not isinstance(line.parent(), QAbstractSpinBox)]
        return cls(
            session.project,
            session.choice,
            (selection.message, selection.generation),
            (selection.entry, selection.stage),
            window.saveState(),
            QApplication.focusWidget(),
            _values(window.context.settings),
            files_in(folder),
            looks_of(window),
            held_by(window),
            {line: line.text() for line in lines},
            {tabs: tabs.currentIndex() for tabs in window.findChildren(QTabBar) if tabs.parent() is not window},
            {slider: slider.value() for slider in window.findChildren(QAbstractSlider)},
            {button: button.isChecked() for button in window.findChildren(QAbstractButton) if button.isCheckable()},
            {box: box.value() for box in window.findChildren(QSpinBox)},
            {box: box.currentIndex() for box in window.findChildren(QComboBox)},
        )

    def is_like(self, window: MainWindow) -> bool:
        """Whether the window looks like this, and has noted down the same."""
        held = {item: _noted(item) for item in self.held if isValid(item)}
        return looks_of(window) == self.looks and all(self.held[item] == noted for item, noted in held.items())

    def is_untouched(self, window: MainWindow) -> bool:
        """Whether nothing is to be put back, which takes far longer than to see it."""
        asked: tuple[tuple[Mapping[Any, object], Callable[[Any], object]], ...] = (
            (self.texts, QLineEdit.text), (self.tabs, QTabBar.currentIndex), (self.sliders, QAbstractSlider.value),
            (self.ticks, QAbstractButton.isChecked), (self.numbers, QSpinBox.value),
            (self.choices, QComboBox.currentIndex),
        )  # fmt: skip
        return (
            self.is_chosen(window)
            and QApplication.focusWidget() is self.focus
            and window.size() == SIZE
            and not window.context.status.currentMessage()
            and window.saveState() == self.layout
            and _values(window.context.settings) == self.settings
            and all(ask(item) == value for known, ask in asked for item, value in known.items() if isValid(item))
        )

    def is_chosen(self, window: MainWindow) -> bool:
        """Whether the message and the entry are chosen that were."""
        selection = window.context.selection
        return self.message == (selection.message, selection.generation) and self.entry == (
            selection.entry, selection.stage,
        )  # fmt: skip

    def put_back_widgets(self) -> None:
        """As a person would do it, so that everybody is told."""
        for line, text in self.texts.items():
            if isValid(line) and line.text() != text:
                line.selectAll()
                line.insert(text)
        for tabs, place in self.tabs.items():
            if isValid(tabs) and tabs.currentIndex() != place:
                tabs.setCurrentIndex(place)
        for button, ticked in self.ticks.items():
            if isValid(button) and button.isChecked() != ticked and button.isEnabled():
                button.click()
        for number, value in self.numbers.items():
            if isValid(number) and number.value() != value:
                number.setValue(value)
        for box, place in self.choices.items():
            if isValid(box) and box.currentIndex() != place:
                box.setCurrentIndex(place)
                box.activated.emit(place)


class SharedWindow:
    """The window that the tests of a module share, while there is one; `folder` has its files."""

    def __init__(self, make_folder: Callable[[], Path], settle: Callable[[MainWindow], None]) -> None:
        """`settle` waits until nothing happens in a window."""
        self.window: MainWindow | None = None
        self.folder = Path()
        self._make_folder, self._settle = make_folder, settle
        self._as_lent: _Lent | None = None
        self._in_use = False
        self._kind = ""

    def lend(self, make: Callable[[Path], MainWindow], kind: str) -> MainWindow:
        """The window as it was lent before, else a new one with its files in the folder that `make` is given.

        One of another `kind` is closed.
        """
        if kind != self._kind:
            self.end()
        self._kind = kind
        if self.window is None:
            self.folder = self._make_folder()
            self.window = make(self.folder)
            self._wait(self.window)
            self._put_back(self.window, _Lent.of(self.window, self.folder))  # what is made on first use is there then
            self._wait(self.window)
            self._as_lent = _Lent.of(self.window, self.folder)
        elif (
            QApplication.activeWindow() is not self.window and self._as_lent is not None
        ):  # as after a test's own window
            self.window.activateWindow()
            QApplication.processEvents()
            if self._as_lent.focus is not None:
                self._as_lent.focus.setFocus()
        self._in_use = True
        return self.window

    def take_back(self) -> None:
        """A test is over: put the window back, and close it where that cannot be done."""
        if self._in_use and self.window is not None and self._as_lent is not None:
            self._in_use = False
            if not (
                self._can_be_put_back(self.window, self._as_lent) and self._is_put_back(self.window, self._as_lent)
            ):
                self.end()

    def _can_be_put_back(self, window: MainWindow, lent: _Lent) -> bool:
        others = [each for each in QApplication.topLevelWidgets() if each.isVisible() and each is not window]
        if others or window.isHidden():
            return False
        self._settle(window)
        session = window.session
        same = session.project is lent.project and session.choice == lent.choice
        same = same and window.context.theme.choice == "light"
        return same and not window.context.drafts.all and files_in(self.folder) == lent.files

    def _is_put_back(self, window: MainWindow, lent: _Lent) -> bool:
        if lent.is_untouched(window) and lent.is_like(window):
            window.context.history.clear()
            return True
        if lent.is_chosen(window):
            self._put_back(window, lent, choose=False)
            if lent.is_like(window):
                return True
        self._put_back(window, lent)
        for _ in range(TRIES):
            if lent.is_like(window):
                return True
            self._wait(window)
        return False

    def _wait(self, window: MainWindow) -> None:
        """Until it has done what it does soon."""
        clock = QElapsedTimer()
        clock.start()
        while is_due(window) and not clock.hasExpired(2 * SOON_MS):
            self._settle(window)

    def _put_back(self, window: MainWindow, lent: _Lent, *, choose: bool = True) -> None:
        """`choose` again what was chosen, too, which every pane follows: that takes longer than all else."""
        context = window.context
        context.bars.clear()
        context.status.clearMessage()
        if _values(context.settings) != lent.settings:
            context.settings.clear()
            for key, value in lent.settings.items():
                context.settings.setValue(key, value)
        window.resize(SIZE)
        lent.put_back_widgets()
        if window.saveState() != lent.layout:
            window.restoreState(lent.layout)
        if choose:
            context.selection.choose_message(*lent.message)
            context.selection.choose_entry(
                _in_sight(window)
            )  # where nothing is chosen then, views keep their row: this one
            self._settle(window)
            context.selection.choose_entry(*lent.entry)
        context.history.clear()
        _activate(window, lent.focus)
        self._settle(window)
        for slider, value in lent.sliders.items():
            if isValid(slider):
                slider.setValue(value)

    def end(self) -> None:
        """Close the window for good."""
        if self.window is None:
            return
        window, self.window, self._as_lent = self.window, None, None
        close(window)
        _delete()
        window.session.close()
        window.session.deleteLater()
        _delete()

    def owns(self, item: QObject) -> bool:
        """Whether something belongs to the shared window, and may be there after a test."""
        if self.window is None:
            return False
        if _is_in(item, self.window) or _is_in(item, self.window.session):
            return True
        return any(each.popup() is item for each in self.window.findChildren(QCompleter))


def is_due(window: MainWindow, soon_ms: int = SOON_MS) -> bool:
    """Whether it does something soon: some panes wait for a pause before they follow."""
    timers = [*window.findChildren(QTimer), *window.session.findChildren(QTimer)]
    return any(timer.isActive() and timer.isSingleShot() and timer.interval() <= soon_ms for timer in timers)


def _in_sight(window: MainWindow) -> int:
    """An entry that as many panes as possible show: one that was injected, if any was."""
    trace = window.session.runs.trace(window.context.selection.generation)
    return trace.injections[0].entry if trace is not None and trace.injections else 0


def _activate(window: MainWindow, focus: QWidget | None) -> None:
    if QApplication.activeWindow() is not window:
        window.activateWindow()
        QApplication.processEvents()
    if focus is not None and isValid(focus):
        focus.setFocus()


def close(window: MainWindow) -> None:
    """Close a window without a question, and have Qt delete it."""
    window.features.notes.pane.editor.form.take_typed()
    for path in list(window.context.drafts.all):
        window.context.drafts.drop(path)
    window.features.chat.composer.give_up()
    window.features.chat.settled = window.session.project  # a chat that a test changed need not be saved
    for text in window.findChildren(KeyedText):
        text.give_up()
    window.close()
    window.deleteLater()


def _delete() -> None:
    for _ in range(3):
        QApplication.processEvents()
        QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
