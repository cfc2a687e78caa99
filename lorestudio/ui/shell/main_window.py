"""The window: panes around one selection, menus from the action table, layout and theme remembered."""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import partial
from pathlib import Path

from PySide6.QtCore import QSettings, QSize, Qt, Signal
from PySide6.QtGui import QCloseEvent, QShowEvent
from PySide6.QtWidgets import (
    QApplication,
    QMainWindow,
    QVBoxLayout,
    QWidget,
)

from lorestudio.domain.chat import Generation
from lorestudio.domain.entry import VaultIndex
from lorestudio.studio.notes.recovery import Recovery
from lorestudio.studio.notes.snapshots import Snapshots
from lorestudio.ui.features.budget.pane import BudgetPane
from lorestudio.ui.features.chat.actions import CHAT_ACTIONS, ChatCommands
from lorestudio.ui.features.chat.pane import ChatPane
from lorestudio.ui.features.chat.replay import ReplayCommands
from lorestudio.ui.features.controls.actions import CONTROL_ACTIONS, ControlCommands
from lorestudio.ui.features.facts.actions import MemoryCommands
from lorestudio.ui.features.facts.pane import MEMORY_ACTIONS
from lorestudio.ui.features.graph.pane import GraphPane
from lorestudio.ui.features.notes.actions import EntryCommands
from lorestudio.ui.features.notes.pane import EntryPane
from lorestudio.ui.features.problems.pane import ProblemsPane
from lorestudio.ui.features.projects.actions import FirstLook, OpenCommands
from lorestudio.ui.features.proposals.actions import ProposalCommands
from lorestudio.ui.features.providers.actions import AnswerCommands
from lorestudio.ui.features.recap.actions import RECAP_ACTIONS, RecapCommands
from lorestudio.ui.features.reports.actions import ViewCommands
from lorestudio.ui.features.settings.actions import SettingsCommands
from lorestudio.ui.features.systems.actions import SystemCommands, system_actions
from lorestudio.ui.features.timeline.actions import TimelineCommands
from lorestudio.ui.features.trace.pane import TracePane
from lorestudio.ui.features.vault.actions import VaultCommands
from lorestudio.ui.features.vault.pane import VaultPane
from lorestudio.ui.features.why_not.actions import WhyNotCommands
from lorestudio.ui.features.why_not.pane import WhyPane
from lorestudio.ui.shell import layout
from lorestudio.ui.shell.actions import ACTIONS, Where, pane_action
from lorestudio.ui.shell.bars import DockTitles, StatusLine, TitleLine, at_next_turn
from lorestudio.ui.shell.command_group import CommandGroup, situation_of
from lorestudio.ui.shell.menus import Commands
from lorestudio.ui.shell.navigation import WORKSPACE_ACTIONS, GoCommands, WorkspaceCommands
from lorestudio.ui.shell.theme import CHOICES, Theme
from lorestudio.ui.shell.words import Notice, tr
from lorestudio.ui.state.drafts import Drafts, LivePreview
from lorestudio.ui.state.history import History
from lorestudio.ui.state.selection import Selection, same_numbers
from lorestudio.ui.state.session import Session
from lorestudio.ui.widgets import dialogs
from lorestudio.ui.widgets.bars import BarStack
from lorestudio.ui.widgets.pane import EmptyState, Pane, PaneDock
from lorestudio.vault.files import SaveError


class MainWindow(QMainWindow):
    """One window on one session. `closed` follows the end of the window, after everything was saved or given up."""

    closed = Signal()

    def __init__(self, session: Session, theme: Theme, settings: QSettings) -> None:
        super().__init__()
        self.session, self.theme, self.settings = session, theme, settings
        session.choices.keep_in(settings)
        self.selection = Selection(self)
        self.drafts = Drafts(self)
        self.preview = LivePreview(
            self.drafts,
            session.jobs,
            lambda: session.project,
            lambda: session.runs.previewer(self.selection.generation),
            self,
        )
        self._actions_timer = at_next_turn(self, self.update_actions)
        self.history = History(self.selection, self)
        self._chat_settled = self._arranged = self._shown_state = False
        self._shown_index = VaultIndex()
        self.setWindowTitle("lorestudio")
        self.setWindowIcon(theme.icon("lorestudio", "accent"))
        self.setMinimumSize(720, 480)
        layout.prepare(self)
        session.project_changed.connect(self._make_room)  # before the panes fill: they are laid out once only
        self.vault = VaultPane(theme, session, self.selection, self.drafts)
        self.entry = EntryPane(theme, session, self.selection, self.drafts, session.jobs)
        self.chat = ChatPane(theme, session, self.selection)
        self.trace = TracePane(theme, session, self.selection)
        self.why = WhyPane(theme, session, self.selection)
        self.budget = BudgetPane(theme, session, self.selection)
        self.problems = ProblemsPane(theme, session, self.selection, self.drafts)
        self.graph = GraphPane(theme, session, self.selection, session.graphs_in)
        self.opening, self.going = OpenCommands(self), GoCommands(self)
        self.entry_commands, self.answers = EntryCommands(self), AnswerCommands(self)
        self.vault_commands, self.chat_commands = VaultCommands(self), ChatCommands(self)
        self.control_commands, self.settings_commands = ControlCommands(self), SettingsCommands(self)
        self.timeline_commands, self.view_commands = TimelineCommands(self), ViewCommands(self)
        self.replay_commands, self.why_not = ReplayCommands(self), WhyNotCommands(self)
        self.systems, self.recap_commands = SystemCommands(self), RecapCommands(self)
        self.memories, self.workspaces = MemoryCommands(self), WorkspaceCommands(self)
        self.groups: tuple[CommandGroup, ...] = (
            self.opening, self.going, self.entry_commands, self.answers,
            self.vault_commands, self.chat_commands, self.control_commands, self.settings_commands,
            self.timeline_commands, self.view_commands, self.replay_commands, self.why_not, self.systems,
            self.recap_commands, self.memories, self.workspaces,
        )  # fmt: skip
        self.panes: tuple[Pane, ...] = (
            self.vault, self.chat, self.entry, self.trace, self.why, self.budget, self.problems, self.graph,
            *(pane for group in self.groups for pane in group.panes),
        )  # fmt: skip
        self.docks = {pane.name: PaneDock(pane, theme, self) for pane in self.panes}
        pane_actions = [pane_action(place, pane.name, pane.title) for place, pane in enumerate(self.panes, start=1)]
        table = (
            *ACTIONS, *CHAT_ACTIONS, *CONTROL_ACTIONS, *system_actions(), *RECAP_ACTIONS, *MEMORY_ACTIONS,
            *WORKSPACE_ACTIONS, *pane_actions,
        )  # fmt: skip
        self.commands = Commands(self, table, self.run, theme)
        self.proposals = ProposalCommands(
            self, session, self.selection, theme, lambda: self.drafts.all, make_log=self.vault_commands.work.log_of
        )
        self._titles = DockTitles(self)
        self._handlers = self._make_handlers()
        self.bars = BarStack(theme, self.commands.title, self)
        self.welcome = EmptyState(theme, "lorestudio", self, large=True)
        self.status = StatusLine(session, self)
        self._build()
        self._connect()
        for group in self.groups:
            group.connect_window()
        self._make_room()
        self._show_project()
        self.update_actions()
        session.providers.load()

    # ---- building ---------------------------------------------------------------------------------------------------

    def _build(self) -> None:
        self.commands.fill_menu_bar(self.menuBar(), self)
        self.commands.attach(
            {
                Where.VAULT: (self.vault.tree, self.vault.table),
                Where.CHAT: (self.chat.view,),
                Where.TRACE: (self.trace,),
                Where.RUNS: (self.chat, self.trace, self.why, self.budget, *self.timeline_commands.panes),
                Where.TIMELINE: (self.timeline_commands.timeline,),
                Where.EDITOR: (self.entry.editor,),
                Where.MEMORIES: (self.memories.pane.memories.view,),
            }
        )
        holder = QWidget(self)
        column = QVBoxLayout(holder)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        self._title_line = TitleLine(self.theme, self.menuBar(), self.workspaces.make_button, self)
        self._title_line.searched.connect(partial(self.run, "go.command"))
        self._title_line.theme_switched.connect(self._flip_theme)
        column.addWidget(self._title_line)
        column.addWidget(self.bars)
        self.setMenuWidget(holder)
        self.welcome.say(
            tr("See what your lore does"),
            tr(
                "Open the folder that holds your notes, or look around in the demo first: it runs at once, offline, "
                "and shows for every reply which notes went into the prompt and why."
            ),
            (("vault.open", tr("Open vault folder…")), ("demo.open", tr("Open the demo"))),
        )
        self.setCentralWidget(self.welcome)
        self.setStatusBar(self.status)
        for name, button in self.chat.buttons.items():
            button.setDefaultAction(self.commands.actions[name])
        self.entry.save_button.setDefaultAction(self.commands.actions["entry.save"])
        for pane in self.panes:
            action = self.commands.actions[f"pane.{pane.name}"]
            action.setToolTip(tr("Show the pane and give it the keyboard"))

    def _connect(self) -> None:
        session, selection = self.session, self.selection
        session.project_changed.connect(self._show_project)
        session.state_changed.connect(self.actions_changed)
        session.state_changed.connect(self._forget_old_news)
        session.traces_changed.connect(lambda _generations: self.actions_changed())
        session.notice.connect(self.say)
        session.choice_changed.connect(self.actions_changed)
        for signal in (selection.generation_changed, selection.entry_changed, self.history.changed):
            signal.connect(self.actions_changed)
        self.drafts.changed.connect(lambda _path: self.actions_changed())
        self.preview.previewed.connect(session.runs.show_preview)
        self.preview.previewed.connect(self.entry.show_preview)
        session.preview_changed.connect(self.actions_changed)
        session.project_changed.connect(self.preview.forget)
        session.choice_changed.connect(self.preview.forget)
        session.traces_changed.connect(self._forget_preview)
        self.first_look = FirstLook(session, self.selection, self)  # after the panes chose a reply to look at
        selection.generation_changed.connect(self.preview.forget)
        self.proposals.locks_changed.connect(self.actions_changed)
        for emptiness in (self.welcome, self.bars, self.chat, self.trace):
            signal = emptiness.wanted if isinstance(emptiness, ChatPane | TracePane) else emptiness.pressed
            signal.connect(self.run)
        self.why.copy_button.clicked.disconnect()
        self.why.copy_button.clicked.connect(partial(self.run, "copy.why"))
        self.graph.opened.connect(partial(self.show_pane, "entry"))
        self.why.copied.connect(lambda: self.status.flash(tr("The explanation was copied.")))
        self.theme.changed.connect(self._paint)
        self.problems.counted.connect(self.status.show_problems)
        self.status.problems.clicked.connect(partial(self.show_pane, "problems"))
        self._paint()

    def _make_handlers(self) -> dict[str, Callable[[], object]]:
        handlers: dict[str, Callable[[], object]] = {
            "app.quit": self.close,
            "adjust.undo": self.session.parts.undo,
            "adjust.redo": self.session.parts.redo,
            "view.full_screen": self._toggle_full_screen,
            "help.details": self._show_details,
            "help.about": partial(dialogs.show_about, self),
        }
        for group in self.groups:
            handlers |= group.handlers()
        handlers |= {f"view.theme.{choice}": partial(self.choose_theme, choice) for choice in CHOICES}
        handlers |= self.proposals.handlers()
        handlers |= {f"pane.{pane.name}": partial(self.show_pane, pane.name) for pane in self.panes}
        return handlers

    # ---- what can be done -------------------------------------------------------------------------------------------

    def run(self, action: str) -> None:
        """Do what an action of the table says, once what becomes of an unsaved chat is decided where it leaves that."""
        if not self.chat_commands.before(action):
            self.do(action)

    def do(self, action: str) -> None:
        """Do what an action of the table says, without a question."""
        self._handlers[action]()
        self.update_actions()

    def keep_notes_safe(self, folder: Path) -> None:
        """Keep histories and unsaved texts in `folder` from now on, and offer what an earlier run has left there."""
        copies: Recovery | None = None
        try:
            copies = Recovery(folder / "recovery")
        except SaveError as error:
            self.say(Notice(str(error), "warning"))
        self.entry.safety.use(Snapshots(folder / "history"), copies)
        self.entry.safety.offer_found(self)
        self.vault_commands.keep_in(folder)
        self.chat_commands.keep_in(folder / "chats")

    def say(self, notice: Notice) -> None:
        """Show a message above the panes."""
        self.bars.add(notice)

    def show_pane(self, name: str) -> None:
        """Bring a pane to the front and give it the keyboard."""
        self.raise_pane(name)
        self.docks[name].pane.focus_target().setFocus(Qt.FocusReason.ShortcutFocusReason)

    def raise_pane(self, name: str) -> None:
        """Bring a pane to the front, and leave the keyboard where it is."""
        self.docks[name].show()
        self.docks[name].raise_()

    def cycle_panes(self, steps: int) -> None:
        """Give the keyboard to the next pane that is not closed."""
        shown = [pane for pane in self.panes if not self.docks[pane.name].isHidden()]
        current = self.current_pane()
        if shown:
            place = shown.index(current) if current in shown else (-1 if steps > 0 else 0)
            self.show_pane(shown[(place + steps) % len(shown)].name)

    def current_pane(self) -> Pane | None:
        """The pane that has the keyboard."""
        widget = QApplication.focusWidget()
        while widget is not None and not isinstance(widget, Pane):
            widget = widget.parentWidget()
        return widget

    def choose_theme(self, choice: str) -> None:
        """Take another theme and remember it."""
        self.settings.setValue("theme", choice)
        self.theme.choose(choice)
        self.update_actions()

    def actions_changed(self) -> None:
        """What can be done may be something else: look once everything that happens now has happened."""
        self._actions_timer.start()

    def update_actions(self) -> None:
        """Enable what makes sense now, and tick what is on."""
        self.commands.update(situation_of(self))
        actions = self.commands.actions
        for choice in CHOICES:
            actions[f"view.theme.{choice}"].setChecked(self.theme.choice == choice)
        actions["preview.toggle"].setChecked(not self.session.runs.preview_shown)
        actions["entry.lock"].setChecked(self.proposals.is_locked(self.selection.entry))
        actions["view.full_screen"].setChecked(self.isFullScreen())
        for group in self.groups:
            group.update(actions)
        steps = self.session.parts.adjustments
        for name, title in (("adjust.undo", steps.undo_title), ("adjust.redo", steps.redo_title)):
            words = tr(self.commands.title(name))
            actions[name].setText(tr("{verb}: {title}", verb=words.partition(" ")[0], title=title) if title else words)

    # ---- handlers ---------------------------------------------------------------------------------------------------

    def _toggle_full_screen(self) -> None:
        self.setWindowState(self.windowState() ^ Qt.WindowState.WindowFullScreen)

    def _flip_theme(self) -> None:
        self.choose_theme("light" if self.theme.palette.dark else "dark")

    def _show_details(self) -> None:
        dialogs.show_text(self, tr("Details"), self.bars.details() or tr("There was no problem so far."))

    # ---- following --------------------------------------------------------------------------------------------------

    def _make_room(self) -> None:
        project = self.session.project
        before, self._shown_index = self._shown_index, project.index if project is not None else VaultIndex()
        with self.vault_commands.leaving():
            if self.session.renewed:
                self.selection.find_again(before, self._shown_index)
            else:
                self.selection.clear()
        if not (self.session.renewed and same_numbers(before, self._shown_index)):
            self.history.clear()
        self.welcome.setVisible(project is None)
        if project is None:
            for dock in self.docks.values():
                dock.hide()
            self.welcome.focus_first()
        elif not self._arranged:
            self._arranged = True
            if not layout.restore(self, self.settings):
                self.workspaces.arrange()

    def _show_project(self) -> None:
        project = self.session.project
        if project is None:
            return
        self.setWindowTitle(f"{project.name} - lorestudio")
        if self.vault_commands.come_back() or self.session.renewed:
            return
        if project.chat is not None:
            # The last reply is what people ask about.
            replies = [item for item in self.session.generations if item.message < len(project.chat.messages)]
            self.chat.choose(replies[-1].message if replies else len(project.chat.messages))
        self.chat.view.setFocus()

    def _forget_old_news(self) -> None:
        if self.session.runs.replaying:
            self.bars.drop("replay")

    def _forget_preview(self, generations: Collection[Generation] | None) -> None:
        """What is tried out was tried on another run."""
        if generations is None or self.selection.generation in generations:
            self.preview.forget()

    def _paint(self) -> None:
        self.why.copy_button.setIcon(self.theme.icon("copy"))
        self.why.scores_button.setIcon(self.theme.icon("number"))
        self.setWindowIcon(self.theme.icon("lorestudio", "accent"))

    # ---- Qt ---------------------------------------------------------------------------------------------------------

    def sizeHint(self) -> QSize:
        """Qt: the size at the first start."""
        return QSize(1280, 800)

    def showEvent(self, event: QShowEvent) -> None:
        """Qt: sizes of panes hold only once the window has its size."""
        super().showEvent(event)
        if not self._shown_state:
            self._shown_state = True
            if self._arranged and not layout.restore(self, self.settings):
                self.workspaces.arrange()
            self._titles.show_names()

    def closeEvent(self, event: QCloseEvent) -> None:
        """Qt: nothing unsaved is lost without a question."""
        if self.entry_commands.ask_before_leaving():
            event.ignore()
            return
        if not self._chat_settled and self.chat_commands.files.ask_before_leaving(self._leave):
            event.ignore()
            return
        if self._arranged:
            layout.save(self, self.settings, self.workspaces.current)
        self.problems.stop()
        self.graph.stop()
        for group in self.groups:
            group.stop()
        self.session.close()
        self.entry.safety.close()
        event.accept()
        self.closed.emit()

    def _leave(self) -> None:
        """Close, whatever of the chat is not saved."""
        self._chat_settled = True
        self.close()
