"""The line at the bottom, and the title bars of the docks.

The line has the vault in numbers, the limits in force, and what is going on; the title bars show which dock has the
keyboard, and some say its name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from textwrap import fill

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QMainWindow, QSizePolicy, QStatusBar, QToolButton, QWidget
from shiboken6 import isValid

from lorestudio.studio.project.doctor import basis_of
from lorestudio.studio.project.project import Project
from lorestudio.ui.shell.qt import later, the_app
from lorestudio.ui.shell.words import count, number, tr
from lorestudio.ui.state.session import Session
from lorestudio.ui.widgets.layouts import label, named
from lorestudio.ui.widgets.pane import ElidedLabel, Pane, PaneDock


class DockTitles(QObject):
    """Follows the keyboard and where docks stand, once the window has its docks."""

    def __init__(
        self, window: QMainWindow, docks: Mapping[str, PaneDock], current_pane: Callable[[], Pane | None]
    ) -> None:
        super().__init__(window)
        self._window, self._docks, self._current_pane = window, docks, current_pane
        self._names_timer = later(self, self.show_names)
        the_app().focusChanged.connect(self._focus_changed)
        for dock in docks.values():
            dock.visibilityChanged.connect(lambda _visible: self._names_timer.start())
            dock.dockLocationChanged.connect(lambda _area: self._names_timer.start())

    def show_names(self) -> None:
        """A dock says its name where no tab does."""
        for dock in self._docks.values():
            if dock.bar is not None:
                dock.bar.show_name(all(other.isHidden() for other in self._window.tabifiedDockWidgets(dock)))

    def _focus_changed(self, _old: QWidget | None, _new: QWidget | None) -> None:
        current = self._current_pane()
        for dock in self._docks.values():
            if dock.bar is not None and isValid(dock.bar):  # a floating dock loses the keyboard while its window goes
                dock.bar.set_active(current is not None and dock.made is current)


FLASH_MS = 100
"""For each letter of a word in passing, and for forty at least."""
TIP_WIDTH = 90
"""Characters in a line of a tip; Qt does not break plain ones."""


class StatusLine(QStatusBar):
    """Follows a session."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self.setSizeGripEnabled(False)
        self._broken = label(self, wrap=False)
        self._vault, self._limits, self._run = (ElidedLabel(self) for _ in range(3))  # less where the window is narrow
        named(self._run, tr("Replay state"))
        for text in (self._vault, self._run):
            text.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Preferred)
        for part in (self._vault, self._broken, self._limits):
            self.addWidget(part)
        self.problems = named(QToolButton(self, autoRaise=True), tr("Problems"))
        """How many errors and warnings there are; a press shows them."""
        self.addPermanentWidget(self.problems)
        self.basis = named(QToolButton(self, autoRaise=True), tr("What answers rest on"))
        """What answers rest on, in words and with a tip; a press lets another tokenizer be chosen."""
        self._told_of: tuple[Project | None, str] = None, ""
        self._are_broken = 0
        self.addPermanentWidget(self.basis)
        self.addPermanentWidget(self._run)
        self.stop = named(QToolButton(self, autoRaise=True), tr("Stop reading (Ctrl+.)"))
        self.stop.setText(tr("Stop"))
        self.addPermanentWidget(self.stop)
        for signal in (session.project_changed, session.state_changed, session.choice_changed):
            signal.connect(self._show)
        session.traces_changed.connect(lambda _generations: self._show())
        self.messageChanged.connect(self._message_changed)
        self._show()

    def flash(self, text: str) -> None:
        """Say something that need not stay."""
        self.showMessage(text, FLASH_MS * max(40, len(text)))
        self._show()

    def show_problems(self, errors: int, warnings: int) -> None:
        """Say how many problems the notes have."""
        told = ", ".join((count(errors, "error", "errors"), count(warnings, "warning", "warnings")))
        self.problems.setText(told)
        named(self.problems, tr("Problems: {told}", told=told), tr("Show the problems"))
        self._show_doors()

    def _show_doors(self) -> None:
        """What is said ends with the key that takes it back: what is there at any time goes before that is cut off."""
        doors, letters = (self.problems, self.basis), self.fontMetrics()
        wide = letters.horizontalAdvance(self.currentMessage()) + 2 * letters.averageCharWidth()
        room = self._run.geometry().right() - sum(each.sizeHint().width() for each in (*doors, self._run))
        fits = not self.currentMessage() or wide < room
        for each in doors:
            each.setVisible(self._session.project is not None and bool(each.text()) and fits)

    def _message_changed(self, text: str) -> None:
        if not text:
            self._show()

    def _show(self) -> None:
        project, system = self._session.project, self._session.choice.system
        self._run.setText(self._running())
        self.stop.setVisible(self._session.reading.stoppable)
        if project is not None and (project is not self._told_of[0] or system != self._told_of[1]):
            self._told_of = project, system
            rests = basis_of(project, system)
            self.basis.setText(" · ".join(each.words for each in rests if each.words))
            told = "\n".join(fill(f"{tr(each.subject)}: {each.sentence}", TIP_WIDTH) for each in rests)
            named(self.basis, tr("What answers rest on: {words}", words=self.basis.text()), told)
            left_out = project.index.left_out
            self._are_broken = sum(note.problem.broken for note in left_out)
            parts = [count(len(project.index.entries), "entry", "entries")]
            if len(left_out) > self._are_broken:
                parts.append(tr("{notes} left out", notes=count(len(left_out) - self._are_broken, "note", "notes")))
            self._vault.setText(" · ".join(parts))
            self._broken.setText(f"▲ {count(self._are_broken, 'broken note', 'broken notes')}")
        if project is not None:
            self._limits.setText(_limits(project))
        free = project is not None and not self.currentMessage()  # Qt tells when what is said is gone
        main = self._session.choice.is_main  # the limits are DeepLore's
        for part, has in ((self._vault, True), (self._broken, self._are_broken > 0), (self._limits, main)):
            part.setVisible(free and has)  # Qt hides only those that are in sight already
        self._show_doors()

    def _running(self) -> str:
        session = self._session
        if session.busy:
            return session.activity
        if not session.generations:
            return tr("No chat")
        runs = session.runs
        # Out of date are the runs before a change; those of another choice say nothing of what is chosen now.
        replies = count(len(session.generations), "reply", "replies")
        done = number(len(runs.traces if runs.stale else runs.current))
        done = tr("{done} of {replies} run", done=done, replies=replies)
        tally = session.replays.tally
        last = f" · {tally.words}" if tally is not None and tally.begun and tally.kept else ""
        return f"{done}{last} · " + (tr("out of date") if runs.stale else session.choice.title)


def _limits(project: Project) -> str:
    """What is scanned, and what goes in at most."""
    settings = project.settings
    tokens, entries = (
        count(settings.max_tokens_budget, "token", "tokens"),
        count(settings.max_entries, "entry", "entries"),
    )
    tokens = tr("no token limit") if settings.unlimited_budget else tr("at most {tokens}", tokens=tokens)
    entries = tr("no entry limit") if settings.unlimited_entries else tr("at most {entries}", entries=entries)
    depth = number(settings.scan_depth)
    return tr("depth {depth} · {tokens} · {entries}", depth=depth, tokens=tokens, entries=entries)
