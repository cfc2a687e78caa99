"""The window: panes around one selection, menus from the action table, layout and theme remembered."""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import partial
from pathlib import Path

from PySide6.QtCore import QSettings, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QCloseEvent, QShowEvent
from PySide6.QtWidgets import (
    QApplication,
    QHBoxLayout,
    QMainWindow,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from lorestudio.domain.entry import Entry, LeftOutNote, VaultIndex
from lorestudio.studio.answering import AnswerKind, Question, Source
from lorestudio.studio.changes import ChangeSet
from lorestudio.studio.generation import Generation
from lorestudio.studio.modes import Mode
from lorestudio.studio.recovery import Recovery
from lorestudio.studio.snapshots import Snapshots
from lorestudio.trace.model import Turn
from lorestudio.trace.text import turn_words
from lorestudio.ui import dialogs, layout
from lorestudio.ui.actions import ACTIONS, Situation, Where, pane_action
from lorestudio.ui.behaviour_dialog import BehaviourDialog
from lorestudio.ui.chat_actions import CHAT_ACTIONS
from lorestudio.ui.chat_commands import ChatCommands
from lorestudio.ui.command_group import CommandGroup
from lorestudio.ui.control_actions import CONTROL_ACTIONS
from lorestudio.ui.control_commands import ControlCommands
from lorestudio.ui.drafts import Drafts
from lorestudio.ui.editor.live_preview import LivePreview
from lorestudio.ui.first_look import FirstLook
from lorestudio.ui.history import History
from lorestudio.ui.memories.actions import MEMORY_ACTIONS
from lorestudio.ui.memories.commands import MemoryCommands
from lorestudio.ui.menus import Commands
from lorestudio.ui.notices import Notice
from lorestudio.ui.panes.budget_pane import BudgetPane
from lorestudio.ui.panes.chat_pane import ChatPane
from lorestudio.ui.panes.entry_pane import EntryPane
from lorestudio.ui.panes.graph_pane import GraphPane
from lorestudio.ui.panes.problems_pane import ProblemsPane
from lorestudio.ui.panes.trace_pane import TracePane
from lorestudio.ui.panes.vault_pane import VaultPane
from lorestudio.ui.panes.why_pane import WhyPane
from lorestudio.ui.profiles_dialog import ProfilesDialog
from lorestudio.ui.proposal_commands import ProposalCommands
from lorestudio.ui.question_dialog import QuestionDialog
from lorestudio.ui.recap.actions import RECAP_ACTIONS
from lorestudio.ui.recap.commands import RecapCommands
from lorestudio.ui.replay_commands import ReplayCommands
from lorestudio.ui.replaying import Finished
from lorestudio.ui.selection import Selection, same_numbers
from lorestudio.ui.session import Session
from lorestudio.ui.settings_commands import SettingsCommands
from lorestudio.ui.status import StatusLine
from lorestudio.ui.systems.actions import SYSTEM_ACTIONS
from lorestudio.ui.systems.commands import SystemCommands
from lorestudio.ui.theme import CHOICES, Theme
from lorestudio.ui.timeline.commands import TimelineCommands
from lorestudio.ui.vault_commands import VaultCommands
from lorestudio.ui.view_commands import ViewCommands
from lorestudio.ui.why_not_commands import WhyNotCommands
from lorestudio.ui.widgets.bars import BarStack
from lorestudio.ui.widgets.empty import EmptyState
from lorestudio.ui.widgets.pane import Pane, PaneDock
from lorestudio.ui.widgets.picker import Choice, Picker
from lorestudio.ui.words import shorten, tr
from lorestudio.ui.workspace_commands import WORKSPACE_ACTIONS, WorkspaceCommands
from lorestudio.vault import SaveError


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
            lambda: session.previewer(self.selection.generation),
            self,
        )
        self._names_timer, self._actions_timer = map(self._at_next_turn, (self._show_names, self.update_actions))
        self.history = History(self.selection, self)
        self._leaving = self._chat_settled = False
        self._shown_index = VaultIndex()
        self._question: QuestionDialog | None = None
        self._arranged = False
        self._shown_state = False
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
        self.vault_commands, self.chat_commands = VaultCommands(self), ChatCommands(self)
        self.control_commands, self.settings_commands = ControlCommands(self), SettingsCommands(self)
        self.timeline_commands, self.view_commands = TimelineCommands(self), ViewCommands(self)
        self.replay_commands, self.why_not = ReplayCommands(self), WhyNotCommands(self)
        self.systems, self.recap_commands = SystemCommands(self), RecapCommands(self)
        self.memories, self.workspaces = MemoryCommands(self), WorkspaceCommands(self)
        self.groups: tuple[CommandGroup, ...] = (
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
            *ACTIONS, *CHAT_ACTIONS, *CONTROL_ACTIONS, *SYSTEM_ACTIONS, *RECAP_ACTIONS, *MEMORY_ACTIONS,
            *WORKSPACE_ACTIONS, *pane_actions,
        )  # fmt: skip
        self.commands = Commands(self, table, self.run, theme)
        self.proposals = ProposalCommands(
            self, session, self.selection, theme, lambda: self.drafts.all, make_log=self.vault_commands.work.log_of
        )
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
        session.load_profiles()

    # ---- building ---------------------------------------------------------------------------------------------------

    def _at_next_turn(self, work: Callable[[], None]) -> QTimer:
        """A timer that does the work once events have been handled, however often it was started until then."""
        timer = QTimer(self)
        timer.setSingleShot(True)
        timer.setInterval(0)
        timer.timeout.connect(work)
        return timer

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
        column.addWidget(self.bars)
        self.setMenuWidget(self._with_menu_bar(holder))
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

    def _with_menu_bar(self, below: QWidget) -> QWidget:
        """The menu bar with the search field's button and the theme switch, and the messages under it."""
        whole = QWidget(self)
        column = QVBoxLayout(whole)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        line = QWidget(whole)
        row = QHBoxLayout(line)
        row.setContentsMargins(0, 3, 8, 3)
        row.setSpacing(4)
        bar = self.menuBar()
        row.addWidget(bar)
        row.addStretch(1)
        self._search = QToolButton(line)
        self._search.setProperty("kind", "text")
        self._search.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self._search.setText(tr("Go to entry or command   Ctrl+P"))
        self._search.setAccessibleName(tr("Command palette"))
        self._search.clicked.connect(partial(self.run, "go.command"))
        self._theme_button = QToolButton(line)
        self._theme_button.setAccessibleName(tr("Switch between light and dark"))
        self._theme_button.setToolTip(tr("Switch between light and dark"))
        self._theme_button.clicked.connect(self._flip_theme)
        row.addWidget(self.workspaces.make_button(line))
        row.addWidget(self._search)
        row.addWidget(self._theme_button)
        column.addWidget(line)
        column.addWidget(below)
        return whole

    def _connect(self) -> None:
        session, selection = self.session, self.selection
        session.project_changed.connect(self._show_project)
        session.state_changed.connect(self.actions_changed)
        session.state_changed.connect(self._forget_old_news)
        session.traces_changed.connect(lambda _generations: self.actions_changed())
        session.notice.connect(self.say)
        session.choice_changed.connect(self.actions_changed)
        session.question.connect(self._ask_question)
        session.withdrawn.connect(self._withdraw_question)
        session.cost_known.connect(self._ask_cost)
        for signal in (selection.generation_changed, selection.entry_changed, self.history.changed):
            signal.connect(self.actions_changed)
        self.drafts.changed.connect(lambda _path: self.actions_changed())
        self.preview.previewed.connect(session.show_preview)
        self.preview.previewed.connect(self.entry.show_preview)
        session.preview_changed.connect(self.actions_changed)
        session.project_changed.connect(self.preview.forget)
        session.choice_changed.connect(self.preview.forget)
        session.traces_changed.connect(self._forget_preview)
        self.first_look = FirstLook(session, self.selection, self)  # after the panes chose a reply to look at
        selection.generation_changed.connect(self.preview.forget)
        self.entry.saved.connect(self._note_saved)
        self.entry.safety.restored.connect(self._go_to_restored)
        self.proposals.applied.connect(self._proposals_applied)
        self.proposals.locks_changed.connect(self.actions_changed)
        for emptiness in (self.welcome, self.bars, self.chat, self.trace):
            signal = emptiness.wanted if isinstance(emptiness, ChatPane | TracePane) else emptiness.pressed
            signal.connect(self.run)
        self.why.copy_button.clicked.disconnect()
        self.why.copy_button.clicked.connect(partial(self.run, "copy.why"))
        self.graph.opened.connect(partial(self.show_pane, "entry"))
        self.why.copied.connect(lambda: self.status.flash(tr("The explanation was copied.")))
        self.theme.changed.connect(self._paint)
        app = QApplication.instance()
        if isinstance(app, QApplication):
            app.focusChanged.connect(self._focus_changed)
        for dock in self.docks.values():
            dock.visibilityChanged.connect(lambda _visible: self._names_timer.start())
            dock.dockLocationChanged.connect(lambda _area: self._names_timer.start())
        self.problems.counted.connect(self.status.show_problems)
        self.status.problems.clicked.connect(partial(self.show_pane, "problems"))
        self._paint()

    def _make_handlers(self) -> dict[str, Callable[[], object]]:
        chat, trace, session = self.chat, self.trace, self.session
        handlers: dict[str, Callable[[], object]] = {
            "vault.open": self._ask_vault,
            "vault.open_obsidian": lambda: dialogs.ask_obsidian(self, self._open_obsidian),
            "chat.open": self._ask_chat,
            "demo.open": session.open_demo,
            "vault.reload": session.reload,
            "entry.save": self.entry.save,
            "app.quit": self.close,
            "go.command": self._open_palette,
            "go.graph": partial(self.show_pane, "graph"),
            "find.pane": self._find,
            "copy.why": self.why.copy,
            "copy.row": trace.copy_row,
            "copy.report": self._copy_report,
            "entry.back": self.history.back,
            "entry.forward": self.history.forward,
            "entry.previous": partial(self.vault.step, -1),
            "entry.next": partial(self.vault.step, 1),
            "entry.source": self._toggle_source,
            "entry.preview": self._toggle_text,
            "entry.add_property": self.entry.editor.form.open_choice,
            "entry.follow": self.entry.editor.body.follow,
            "entry.link": self.entry.editor.body.link_selection,
            "entry.comment": self.entry.editor.body.toggle_comment,
            "entry.history": self.entry.show_history,
            "entry.revert": self._ask_revert,
            "adjust.undo": session.undo_adjustment,
            "adjust.redo": session.redo_adjustment,
            "replay.all": session.replay,
            "replay.here": self._run_here,
            "replay.cancel": self._cancel,
            "replay.follow": self._follow_run,
            "replay.fresh": partial(session.replay, fresh=True),
            "answers.stand-in": partial(self._choose_source, AnswerKind.STAND_IN),
            "answers.recorded": partial(self._choose_source, AnswerKind.RECORDED),
            "answers.provider": self._choose_provider,
            "answers.typed": partial(self._choose_source, AnswerKind.TYPED),
            "profiles.edit": self.edit_profiles,
            "behaviour.edit": self.edit_behaviour,
            "trace.ai": self._show_ai,
            "message.first": partial(chat.go_to_end, last=False),
            "message.previous": partial(chat.step, -1),
            "message.next": partial(chat.step, 1),
            "message.last": partial(chat.go_to_end, last=True),
            "message.number": self._go_to_number,
            "message.previous_change": partial(chat.step_change, -1),
            "message.next_change": partial(chat.step_change, 1),
            "swipe.previous": partial(self._step_swipe, -1),
            "swipe.next": partial(self._step_swipe, 1),
            "message.expand": chat.toggle_expanded,
            "trace.entry": partial(self.show_pane, "entry"),
            "trace.why": partial(self.show_pane, "why"),
            "trace.filter": trace.open_search,
            "preview.toggle": session.toggle_preview,
            "view.next_pane": partial(self.cycle_panes, 1),
            "view.previous_pane": partial(self.cycle_panes, -1),
            "view.full_screen": self._toggle_full_screen,
            "help.details": self._show_details,
            "help.about": partial(dialogs.show_about, self),
        }
        for group in self.groups:
            handlers |= group.handlers()
        handlers |= {f"view.theme.{choice}": partial(self.choose_theme, choice) for choice in CHOICES}
        handlers |= {f"mode.{mode.value}": partial(self._choose_mode, mode) for mode in Mode}
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
        dock = self.docks[name]
        dock.show()
        dock.raise_()
        dock.pane.focus_target().setFocus(Qt.FocusReason.ShortcutFocusReason)

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

    def situation(self) -> Situation:
        """What can be done at the moment."""
        session, selection = self.session, self.selection
        project = session.project
        return Situation(
            project=project is not None,
            chat=project is not None and project.chat is not None,
            busy=session.busy,
            replaying=session.replaying,
            message=selection.generation is not None,
            trace=session.trace(selection.generation) is not None,
            entry=session.entry(selection.entry) is not None,
            row=selection.entry is not None,
            files=self.vault_commands.work.ready,
            notes=self.vault_commands.has_targets,
            undo=bool(self.vault_commands.work.undo_title),
            redo=bool(self.vault_commands.work.redo_title),
            adjusted=bool(session.adjustments.undo_title),
            taken_back=bool(session.adjustments.redo_title),
            note=self.entry.path is not None,
            why_not=selection.generation is not None and self.why_not.search.note is not None,
            unsaved=self.entry.unsaved,
            swipes=selection.message is not None and self.chat.model.swipes(selection.message) > 1,
            model=session.choice.asks_model,
            preview=session.preview_of(selection.generation) is not None,
            marked=self.timeline_commands.marked,
            back=self.history.can_go_back,
            forward=self.history.can_go_forward,
        )

    def actions_changed(self) -> None:
        """What can be done may be something else: look once everything that happens now has happened."""
        self._actions_timer.start()

    def update_actions(self) -> None:
        """Enable what makes sense now, and tick what is on."""
        self.commands.update(self.situation())
        actions = self.commands.actions
        for choice in CHOICES:
            actions[f"view.theme.{choice}"].setChecked(self.theme.choice == choice)
        for mode in Mode:
            actions[f"mode.{mode.value}"].setChecked(self.session.choice.mode is mode)
        for kind in AnswerKind:
            actions[f"answers.{kind.value}"].setChecked(self.session.choice.source.kind is kind)
        actions["preview.toggle"].setChecked(not self.session.preview_shown)
        actions["entry.lock"].setChecked(self.proposals.is_locked(self.selection.entry))
        actions["view.full_screen"].setChecked(self.isFullScreen())
        for group in self.groups:
            group.update(actions)
        steps = self.session.adjustments
        for name, title in (("adjust.undo", steps.undo_title), ("adjust.redo", steps.redo_title)):
            words = tr(self.commands.title(name))
            actions[name].setText(tr("{verb}: {title}", verb=words.partition(" ")[0], title=title) if title else words)

    # ---- handlers ---------------------------------------------------------------------------------------------------

    def _ask_vault(self) -> None:
        start = str(self.settings.value("folders/vault", ""))
        dialogs.choose_folder(self, tr("Open the folder with your notes"), start, self._open_vault)

    def _open_obsidian(self, place: str, key: str) -> None:
        self.session.open([place], key=key)

    def _open_vault(self, path: Path) -> None:
        self.settings.setValue("folders/vault", str(path))
        self.session.open([path])

    def _ask_chat(self) -> None:
        start = str(self.settings.value("folders/chat", ""))
        filters = tr("Chats (*.jsonl *.json *.txt);;All files (*)")
        dialogs.choose_file(self, tr("Open a chat"), start, filters, self._open_chat)

    def _open_chat(self, path: Path) -> None:
        self.settings.setValue("folders/chat", str(path.parent))
        self.session.open_chat(path)

    def _ask_revert(self) -> None:
        text = tr("The unsaved text of this note will be lost.")
        dialogs.confirm(self, tr("Throw away unsaved changes"), text, tr("Throw away"), self.entry.revert)

    def _open_palette(self) -> None:
        choices = [
            Choice(
                action.title.rstrip("…"),
                action.menu.replace("/", " › "),
                self.commands.actions[action.id].shortcut().toString(),
                action.id,
                self.commands.actions[action.id].isEnabled(),
            )
            for action in self.commands.table.values()
            if action.id != "go.command"
        ]
        self._pick(tr("Command palette"), tr("Type a few letters of a command"), choices, self.run_key)

    def _pick(self, title: str, placeholder: str, choices: list[Choice], picked: Callable[[object], None]) -> None:
        picker = Picker(self.theme, title, placeholder, choices, self)
        picker.picked.connect(picked)
        picker.open_over(self)

    def run_key(self, key: object) -> None:
        """Do what was picked in the palette."""
        self.run(str(key))

    def _find(self) -> None:
        pane = self.current_pane()
        if pane is None or not pane.open_search():
            self.show_pane("vault")
            self.vault.open_search()

    def _copy_report(self) -> None:
        self.trace.copy_report()
        self.status.flash(tr("The report was copied."))

    def _toggle_source(self) -> None:
        self.docks["entry"].show()
        self.docks["entry"].raise_()
        self.entry.toggle_source()

    def _toggle_text(self) -> None:
        self.docks["entry"].show()
        self.docks["entry"].raise_()
        self.entry.toggle_text()

    def _run_here(self) -> None:
        if self.selection.generation is not None:
            self.session.run_to(self.selection.generation)

    def _cancel(self) -> None:
        self.chat.strip.stopping()
        self.session.cancel()

    # ---- modes, answers, switches -----------------------------------------------------------------------------------

    def edit_profiles(self) -> ProfilesDialog:
        """Show the provider profiles."""
        dialog = ProfilesDialog(self.session, self.theme, self)
        dialog.open()
        return dialog

    def edit_behaviour(self) -> BehaviourDialog:
        """Show the behaviour switches."""
        dialog = BehaviourDialog(self.session.choice.fixed, self)
        dialog.accepted_switches.connect(self._choose_switches)
        dialog.open()
        return dialog

    def _choose_mode(self, mode: Mode) -> None:
        self.session.choose(mode=mode)

    def _choose_source(self, kind: AnswerKind) -> None:
        self.session.choose(source=Source(kind))

    def _choose_provider(self) -> None:
        profiles = self.session.profiles.profiles
        if not profiles:
            self.edit_profiles()
        elif len(profiles) == 1:
            self._pick_provider(profiles[0].name)
        else:
            choices = [Choice(profile.name, profile.model, profile.host, profile.name) for profile in profiles]
            self._pick(tr("Choose a provider"), tr("Type a few letters of a profile"), choices, self._pick_provider)

    def _pick_provider(self, name: object) -> None:
        self.session.choose(source=Source(AnswerKind.PROVIDER, str(name)))

    def _choose_switches(self, fixed: object) -> None:
        if isinstance(fixed, tuple):
            self.session.choose(fixed=fixed)

    def _show_ai(self) -> None:
        self.docks["trace"].show()
        self.docks["trace"].raise_()
        self.trace.show_ai()

    def _follow_run(self) -> None:
        live = self.session.live
        if live is not None:
            self.chat.show_generation(live.generation)

    def _ask_question(self, question: object) -> None:
        if isinstance(question, Question):
            live = self.session.live
            where = turn_words(Turn(live.generation.message, live.generation.swipe, 0)) if live else tr("This reply")
            dialog = self._question = QuestionDialog(question, where, self)
            dialog.finished.connect(partial(self._question_closed, dialog))
            dialog.open()

    def _withdraw_question(self, question: object) -> None:
        dialog = self._question
        if dialog is not None and dialog.question is question:
            dialog.withdraw()

    def _question_closed(self, dialog: QuestionDialog, _result: int) -> None:
        if self._question is dialog:
            self._question = None

    def _ask_cost(self, finished: object) -> None:
        if isinstance(finished, Finished):
            name = finished.wanted.choice.source.profile
            more = tr("Answers are recorded beside the chat; what is recorded is not asked for again.")
            dialogs.confirm(
                self,
                tr("Ask {name}?", name=name),
                finished.cost,
                tr("Ask {name}", name=name),
                partial(self.session.begin, finished),
                more,
            )

    def _go_to_number(self) -> None:
        self.docks["chat"].show()
        self.docks["chat"].raise_()
        self.chat.open_search()

    def _step_swipe(self, steps: int) -> None:
        if self.selection.message is not None:
            self.chat.step_swipe(self.selection.message, steps)

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
        if self.session.replaying:
            self.bars.drop("replay")

    def _go_to_restored(self, item: object) -> None:
        path = getattr(item, "path", None)
        project = self.session.project
        notes: tuple[Entry | LeftOutNote, ...] = ()
        if project is not None:
            notes = (*project.index.entries, *project.index.left_out)
        note = next((note for note in notes if self.session.note_path(note) == path), None)
        if isinstance(note, Entry):
            self.selection.choose_entry(note.id)
            self.show_pane("entry")
        elif note is not None:
            self.selection.choose_left_out(note)

    def _forget_preview(self, generations: Collection[Generation] | None) -> None:
        """What is tried out was tried on another run."""
        if generations is None or self.selection.generation in generations:
            self.preview.forget()

    def _note_saved(self, path: object) -> None:
        if isinstance(path, Path):
            self.session.notes_written([path])
            self.status.flash(tr("{name} was saved.", name=path.name))

    def _proposals_applied(self, changes: object) -> None:
        if isinstance(changes, ChangeSet) and changes.changes:
            self.session.notes_written([change.place for change in changes.changes])
            self.status.flash(changes.title)
            if not self.entry.unsaved:
                self.entry.revert()  # reads the shown note again

    def _focus_changed(self, _old: QWidget | None, _new: QWidget | None) -> None:
        current = self.current_pane()
        for dock in self.docks.values():
            dock.bar.set_active(dock.pane is current)

    def _show_names(self) -> None:
        for dock in self.docks.values():
            dock.bar.show_name(all(other.isHidden() for other in self.tabifiedDockWidgets(dock)))

    def _paint(self) -> None:
        self._search.setIcon(self.theme.icon("search"))
        self._theme_button.setIcon(self.theme.icon("contrast"))
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
            self._show_names()

    def closeEvent(self, event: QCloseEvent) -> None:
        """Qt: nothing unsaved is lost without a question."""
        if self.drafts.all and not self._leaving:
            event.ignore()
            names = [path.name for path in self.drafts.all]
            dialogs.ask_unsaved(self, names, self._answer_unsaved)
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

    def _answer_unsaved(self, answer: str) -> None:
        if answer == "discard":
            self._leaving = True
            self.close()
        elif answer == "save":
            self.entry.save_all(self._saved_all)

    def _saved_all(self, problems: list[str]) -> None:
        for problem in problems:
            self.say(Notice(shorten(problem, 300), "error"))
        if not problems:
            self.close()
