"""The window: the panes of its features around one selection, menus from their actions, layout remembered."""

from __future__ import annotations

from contextlib import ExitStack, suppress
from functools import partial
from pathlib import Path

from PySide6.QtCore import QSettings, Signal
from PySide6.QtGui import QCloseEvent, QKeyEvent, QKeySequence, QMouseEvent, QResizeEvent
from PySide6.QtWidgets import QApplication, QMainWindow, QWidget

from lorestudio.domain.entry import VaultIndex
from lorestudio.domain.texts import shorten
from lorestudio.studio.project.answering import fault_report
from lorestudio.ui.features.every_feature import Features
from lorestudio.ui.shell.actions import Where, pane_action
from lorestudio.ui.shell.bars import DockTitles
from lorestudio.ui.shell.feature import Context
from lorestudio.ui.shell.layout import PANE_ORDER
from lorestudio.ui.shell.qt import later, move_keyboard, native, pressed_by_enter, the_app
from lorestudio.ui.shell.theme import Theme
from lorestudio.ui.shell.words import Notice, tr
from lorestudio.ui.state.selection import moved_files, same_numbers
from lorestudio.ui.state.session import Session
from lorestudio.ui.widgets.layouts import holding, row, tight


class MainWindow(QMainWindow):
    """One window on one session. `closed` follows the end of the window, after everything was saved or given up."""

    closed = Signal()
    went_wrong = Signal(object)
    """An exception that nobody caught."""

    def __init__(self, session: Session, theme: Theme, settings: QSettings) -> None:
        super().__init__()
        self._arranged = False
        self._shown_index = VaultIndex()
        self.session = session
        session.choices.keep_in(settings)
        self.context = context = Context(self, session, theme, settings)
        self.setWindowTitle("lorestudio")
        self.setMinimumSize(720, 480)
        session.project_changed.connect(self._make_room)  # before the panes fill: they are laid out once only
        self.features = Features(context)
        places = {name: place for place, name in enumerate(PANE_ORDER)}
        planned = (pane for each in self.features for pane in each.planned())
        panes = sorted(planned, key=lambda pane: places.get(pane.name, len(places)))
        context.layout.take(panes, (pane for each in self.features for pane in each.made_panes()), theme)
        actions = [action for each in self.features for action in each.actions()]
        for number, pane in enumerate(panes, start=1):
            actions.append(pane_action(number, pane.name, pane.title, partial(context.show, pane.name)))
        context.commands.take(
            actions, {place: keys for each in self.features for place, keys in each.view_keys.items()}
        )
        self._titles = DockTitles(self, context.layout.docks, context.current_pane)
        self.welcome = self.features.projects.start
        self._keyboard = later(self, self._take_keyboard)
        self._build()
        self._follow()
        for feature in self.features:
            for early in feature.panes:
                early.wanted.connect(self.context.run)
            feature.begin()
        theme.changed.connect(self._paint)
        self._paint()
        self._make_room()
        self._show_project()
        context.update_actions()
        session.providers.load()

    def keep_notes_safe(self, folder: Path) -> None:
        """Keep histories and unsaved texts in `folder` from now on, and offer what an earlier run has left there."""
        for feature in self.features:
            feature.keep_in(folder)

    def _tell_fault(self, error: BaseException) -> None:
        """Keep what is unsaved, and say what happened, with a report to pass on."""
        text = tr(
            "Something went wrong inside the program: {error}. What is not saved yet is kept and offered at the next "
            "start; the report helps to mend it.",
            error=shorten(str(error) or type(error).__name__, 200),
        )
        self.session.notice.emit(Notice(text, "error", details=fault_report(error), key="unexpected"))
        for feature in self.features:
            with suppress(Exception):  # what is told already must not tell itself without end
                feature.save_work()

    def _build(self) -> None:
        context = self.context
        context.commands.fill_menu_bar(self.menuBar())
        places: dict[Where, list[QWidget]] = {}
        for feature in self.features:
            for where, widgets in feature.places().items():
                places.setdefault(where, []).extend(widgets)
        context.commands.attach(places)
        title = row(
            self.menuBar(), 1, self.features.attach.sign, *self.features.window.buttons, spacing=4, margins=(0, 2, 8, 2)
        )
        self.setMenuWidget(holding(tight(title, context.bars, self.features.projects.coach), self))
        self.setCentralWidget(self.welcome)
        self.setStatusBar(context.status)
        context.bars.pressed.connect(context.run)

    def _follow(self) -> None:
        context, session, changed = self.context, self.session, self.context.actions_changed
        session.project_changed.connect(self._show_project)
        session.state_changed.connect(self._forget_old_news)
        session.traces_changed.connect(lambda _generations: changed())
        session.notice.connect(context.say)
        self.went_wrong.connect(self._tell_fault)
        for signal in (
            session.state_changed, session.choice_changed, session.preview_changed, context.history.changed,
            context.selection.generation_changed, context.selection.entry_changed,
        ):  # fmt: skip
            signal.connect(changed)
        context.drafts.changed.connect(lambda _path: changed())
        the_app().focusChanged.connect(self._nobody_has_the_keyboard)

    # ---- following --------------------------------------------------------------------------------------------------

    def _make_room(self) -> None:
        context, project = self.context, self.session.project
        before, self._shown_index = self._shown_index, project.index if project is not None else VaultIndex()
        with context.place.held():
            if self.session.renewed:
                context.selection.find_again(before, self._shown_index)
            else:
                context.selection.clear()
        if project is not None and context.place.is_same:
            moved = moved_files(project, before)  # also by another program, such as Obsidian
            context.place.moved(moved)
            context.history.moved(moved)
            numbers = self.session.renewed and same_numbers(before, self._shown_index)
            context.history.keep(self._shown_index, numbers=numbers)
        else:
            context.history.clear()
        self.welcome.setVisible(project is None)
        if project is None:
            if self._arranged:
                self._arranged = False
                context.layout.save()
                context.set_title("")
            context.layout.hide_all()
            self.welcome.focus_first()
        elif not self._arranged:
            self._arranged = True
            context.layout.restore()

    def _show_project(self) -> None:
        project = self.session.project
        if project is not None:
            self.context.set_title(project.name)
            self.context.place.restore()

    def _nobody_has_the_keyboard(self, _old: QWidget | None, new: QWidget | None) -> None:
        if new is None:
            self._keyboard.start()

    def _take_keyboard(self) -> None:
        """What had the keyboard is gone, a closed pane or a dialog: it goes where the next key makes sense."""
        if not self.isActiveWindow() or QApplication.focusWidget() is not None:
            return
        if self.session.project is None:
            self.welcome.focus_first()
        else:
            self.context.layout.focus_first()

    def _forget_old_news(self) -> None:
        if self.session.runs.replaying:
            self.context.bars.drop("replay")

    def _paint(self) -> None:
        self.setWindowIcon(self.context.theme.icon("lorestudio", "accent"))

    def begin_on_screen(self) -> None:
        """Be as large as at the end of the last run, or at the first start as the screen suggests."""
        self.context.layout.take_place()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Qt: another width or height may want another arrangement."""
        if self._arranged:
            self.context.layout.resized()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Qt: Enter presses the button that has the keyboard; Undo where nothing is undone says which key does what."""
        if event.matches(QKeySequence.StandardKey.Undo):
            self._say_undo()
        elif not pressed_by_enter(self, event):
            super().keyPressEvent(event)

    def _say_undo(self) -> None:
        ways = []
        for name, where in (("vault.undo", ""), ("adjust.undo", tr(Where.RUNS))):
            action = self.context.action(name)
            if action.isEnabled():
                ways.append(f"{action.text()} ({' '.join(filter(None, (native(action.shortcut()), where)))})")
        self.context.flash(" · ".join(ways) or tr("There is nothing to undo."))

    def focusNextPrevChild(self, forward: bool) -> bool:
        """Qt: Tab and Shift+Tab go as the parts lie."""
        return move_keyboard(self, forward=forward)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Qt: a window of docks has a ground only between them, so the person has dragged one's edge."""
        super().mouseReleaseEvent(event)
        self.context.layout.moved = True

    def closeEvent(self, event: QCloseEvent) -> None:
        """Qt: nothing unsaved is lost without a question."""
        if any(feature.ask_before_closing(self.close) for feature in self.features):
            event.ignore()
            return
        with ExitStack() as end:  # from the last to the first, though one fails: a program without a window must end
            end.callback(self.closed.emit)
            end.callback(event.accept)
            end.callback(self.context.closed.emit)
            end.callback(self.session.close)
            for feature in reversed(list(self.features)):
                end.callback(feature.stop)
            if self._arranged:
                end.callback(self.context.layout.save)
            end.callback(self.context.place.keep)
