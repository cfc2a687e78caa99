"""The chat and the replay: one row per message, and the controls that walk through them."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import QModelIndex, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QStackedWidget, QToolButton, QWidget

from lorestudio.domain.chat import Chat, Generation
from lorestudio.domain.lifecycle import Progress
from lorestudio.trace.found_keys import keys_of
from lorestudio.trace.model import Trace
from lorestudio.ui.features.chat.delegate import MessageDelegate
from lorestudio.ui.features.chat.message_list import MessageList
from lorestudio.ui.features.chat.mode_bar import ModeBar
from lorestudio.ui.features.chat.model import ChatList
from lorestudio.ui.shell.theme import Theme
from lorestudio.ui.shell.words import count, tr
from lorestudio.ui.state.selection import Selection
from lorestudio.ui.state.session import Session
from lorestudio.ui.widgets.marks import KeyQuery
from lorestudio.ui.widgets.pane import EmptyState, Pane
from lorestudio.ui.widgets.work_pane import ProgressStrip

LONG_SECONDS: Final = 0.4
"""A stage that takes longer is named beside the progress."""

CONTROLS: Final = ("message.first", "message.previous", "message.next", "message.last")


class _Number(QLineEdit):
    """A message's number; Enter goes there, Escape puts back what was."""

    left = Signal()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Qt: Escape gives the keyboard back."""
        if event.key() == Qt.Key.Key_Escape:
            self.left.emit()
        else:
            super().keyPressEvent(event)


class ChatPane(Pane):
    """Follows and sets the chosen message. `wanted` carries the id of an action that a button asks for."""

    wanted = Signal(str)

    def __init__(self, theme: Theme, session: Session, selection: Selection) -> None:
        super().__init__("chat", tr("Chat and replay"), theme)
        self._session, self._selection = session, selection
        self.model = ChatList(self)
        self.model.set_traces(self._trace_of)
        self.view = MessageList(self)
        self.view.setModel(self.model)
        self.delegate = MessageDelegate(theme, self.view)
        self.view.setItemDelegate(self.delegate)
        self.view.set_guess(self.model.lengths, self.delegate.guess)
        self.view.verticalScrollBar().setSingleStep(24)
        self.view.setMouseTracking(True)
        self.view.setEditTriggers(MessageList.EditTrigger.NoEditTriggers)
        self.view.setAccessibleName(tr("Messages"))
        self.empty = EmptyState(theme, "chat", self)
        self.empty.pressed.connect(self.wanted)
        self._pages = QStackedWidget(self)
        self._pages.addWidget(self.view)
        self._pages.addWidget(self.empty)
        self.strip = ProgressStrip(self)
        self.strip.cancelled.connect(lambda: self.wanted.emit("replay.cancel"))
        self.buttons: dict[str, QToolButton] = {}
        self.modes = ModeBar(theme, self)
        self.modes.wanted.connect(self.wanted)
        self.modes.mode_chosen.connect(lambda mode: session.replays.choose(mode=mode))
        self.modes.source_chosen.connect(lambda source: session.replays.choose(source=source))
        self.column.addWidget(self._make_controls())
        self.column.addWidget(self.modes)
        self.column.addWidget(self.strip)
        self.column.addWidget(self._pages, 1)
        self.delegate.swipe_wanted.connect(self.step_swipe)
        self.delegate.fold_wanted.connect(self.model.toggle_expanded)
        self.view.selectionModel().currentChanged.connect(self._chosen)
        session.project_changed.connect(self._show_project)
        session.traces_changed.connect(self._traces_changed)
        session.state_changed.connect(self._show_state)
        session.choice_changed.connect(self._show_choice)
        session.profiles_changed.connect(self._show_choice)
        session.live_changed.connect(self._show_live)
        session.progress.connect(self._show_progress)
        selection.generation_changed.connect(self._show_message)
        selection.entry_changed.connect(self._highlight)
        theme.changed.connect(self.view.viewport().update)
        self.model.marks_changed.connect(self.view.viewport().update)
        self._show_project()

    def focus_target(self) -> QWidget:
        """The messages."""
        return self.view

    def open_search(self) -> bool:
        """Go to the field for a message's number."""
        self.go.setFocus()
        self.go.selectAll()
        return True

    # ---- walking ----------------------------------------------------------------------------------------------------

    def choose(self, message: int) -> None:
        """Look at a message, with the swipe that is shown for it."""
        if 0 <= message < self.model.rowCount():
            generation = self._session.generation_for(message)
            if generation is not None and generation.message == message:
                generation = Generation(message, self.model.viewed_swipe(message))
            self._selection.choose_message(message, generation)

    def step(self, steps: int) -> None:
        """Go forward or back by so many messages."""
        now = self._selection.message
        last = self.model.rowCount() - 1
        self.choose(max(0, min(last, now + steps if now is not None else (0 if steps > 0 else last))))

    def go_to_end(self, *, last: bool) -> None:
        """Go to the first message, or to the reply to come."""
        self.choose(self.model.rowCount() - 1 if last else 0)

    def step_change(self, steps: int) -> None:
        """Go to the next or previous reply that injects other entries than the reply before it."""
        done = sorted({item.message for item in self._session.generations})
        changed, before = [], None
        for message in done:
            gist = self._session.runs.traces.gist(Generation(message, self.model.viewed_swipe(message)))
            now = gist.injected if gist is not None else None
            if now is not None and now != before:
                changed.append(message)
            before = now
        place = self._selection.message if self._selection.message is not None else -1
        later = [message for message in changed if (message > place if steps > 0 else message < place)]
        if later:
            self.choose(later[0] if steps > 0 else later[-1])

    def step_swipe(self, message: int, steps: int) -> None:
        """Look at another swipe of a message."""
        swipe = self.model.viewed_swipe(message) + steps
        if 0 <= swipe < self.model.swipes(message):
            self.model.view_swipe(message, swipe)
            generation = Generation(message, swipe)
            if generation in self._session.generations:
                self._selection.choose_message(message, generation)

    def show_generation(self, generation: Generation) -> None:
        """Look at one reply with one of its swipes."""
        if 0 <= generation.message < self.model.rowCount():
            if generation.swipe != self.model.viewed_swipe(generation.message):
                self.model.view_swipe(generation.message, generation.swipe)
            self._selection.choose_message(generation.message, generation)

    def flash(self, message: int) -> None:
        """Point at a message that was scrolled to, without choosing it."""
        self.delegate.point_at(message)
        self.view.viewport().update()

    def toggle_expanded(self) -> None:
        """Open or fold the chosen message."""
        if self._selection.message is not None:
            self.model.toggle_expanded(self._selection.message)
            self.view.scheduleDelayedItemsLayout()

    # ---- inside -----------------------------------------------------------------------------------------------------

    def _make_controls(self) -> QWidget:
        bar = QWidget(self)
        row = QHBoxLayout(bar)
        row.setContentsMargins(8, 4, 8, 4)
        row.setSpacing(2)
        for action in CONTROLS:
            self.buttons[action] = button = QToolButton(bar)
            row.addWidget(button)
            if action == "message.previous":
                self.go = _Number(bar)
                self.go.setFixedWidth(46)
                self.go.setAlignment(Qt.AlignmentFlag.AlignCenter)
                self.go.setAccessibleName(tr("Message number"))
                self.go.setToolTip(tr("Message number; Enter goes there (G)"))
                self.go.returnPressed.connect(self._go)
                self.go.left.connect(self._leave_number)
                row.addWidget(self.go)
        row.addStretch(1)
        self.buttons["replay.all"] = play = QToolButton(bar)
        play.setProperty("kind", "text")
        play.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        row.addWidget(play)
        return bar

    def _go(self) -> None:
        text = self.go.text().strip().lstrip("#")
        if text.isdecimal():
            self.choose(max(0, min(int(text), self.model.rowCount() - 1)))
        self._leave_number()

    def _leave_number(self) -> None:
        self._show_number()
        self.view.setFocus()

    def _show_number(self) -> None:
        message = self._selection.message
        self.go.setText("" if message is None else str(message))

    def _trace_of(self, message: int, swipe: int) -> Trace | None:
        return self._session.runs.traces.get(Generation(message, swipe))

    def _show_project(self) -> None:
        project = self._session.project
        chat = project.chat if project is not None else None
        if not self._session.renewed or chat is not self.model.chat:
            self._show_chat(chat)
        if project is None:
            self.empty.say(tr("No chat yet"), tr("Open a vault first, then the chat that used it."))
        else:
            self.empty.say(
                tr("This vault has no chat open"),
                tr("Open a chat file of SillyTavern (.jsonl) to see what every reply had in its prompt."),
                (
                    ("chat.open", tr("Open chat…")),
                    ("pane.bench", tr("Test a text")),
                    ("demo.open", tr("Open the demo")),
                ),
            )
        self._pages.setCurrentWidget(self.view if chat is not None else self.empty)
        name = project.chat_path.name if project is not None and project.chat_path is not None else ""
        messages = count(len(chat.messages), "message", "messages") if chat is not None else ""
        self.note_changed.emit(" · ".join(part for part in (name, messages) if part))
        self.go.setEnabled(chat is not None)
        self.modes.setEnabled(project is not None)

    def _show_chat(self, chat: Chat | None) -> None:
        """Show another chat; where it is the same one changed, the message that was looked at is looked at again."""
        message = self._selection.message if self._session.renewed else None
        self.model.set_chat(chat)
        if message is not None and self.model.rowCount():
            self.choose(min(message, self.model.rowCount() - 1))

    def _traces_changed(self, generations: tuple[Generation, ...] | None) -> None:
        self.model.refresh(tuple({item.message for item in generations}) if generations is not None else None)
        self._highlight()

    def _show_state(self) -> None:
        if self._session.busy:
            self.strip.start(self._session.activity, stoppable=self._session.runs.replaying)
        else:
            self.strip.finish()

    def _show_choice(self) -> None:
        self.modes.show_choice(self._session.choice, self._session.providers.file.profiles)

    def _show_live(self) -> None:
        live = self._session.replays.live
        if live is not None and live.elapsed() >= LONG_SECONDS:
            self.strip.show_stage(live.stage, live.elapsed())

    def _show_progress(self, progress: Progress) -> None:
        self.strip.set_progress(progress.done, progress.total)

    def _chosen(self, current: QModelIndex, _previous: QModelIndex) -> None:
        if current.isValid():
            self.choose(current.row())

    def _show_message(self) -> None:
        message = self._selection.message
        self.delegate.point_at(-1)
        self._show_number()
        if message is None:
            self.view.selectionModel().clear()
        elif self.view.currentIndex().row() != message:
            self.view.setCurrentIndex(self.model.index(message))
            self.view.scrollTo(self.model.index(message))
        self._highlight()

    def _highlight(self) -> None:
        """Mark the keys that decided about the chosen entry, in the messages that the chosen run looked at."""
        trace = self._session.runs.trace(self._selection.generation)
        generation, entry = self._selection.generation, self._selection.entry
        if trace is not None and generation is not None and entry is not None:
            title = trace.entries[entry].title if entry in trace.entries else ""
            self.model.highlight(KeyQuery(keys_of(trace, entry), generation.message, title))
        else:
            self.model.highlight(KeyQuery())
