"""The chat and the replay: one row per message, and the controls that walk through them.

How it is run unfolds: the system, its mode, who answers where a model decides, and doors to what can be set.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Final

from PySide6.QtCore import QEvent, QModelIndex, QSignalBlocker, QSize, Qt, Signal, SignalInstance
from PySide6.QtGui import QAction, QActionGroup, QFontMetricsF, QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QLineEdit, QSizePolicy, QToolButton, QWidget

from lorestudio.domain.chat import Chat, Generation, Message, places_in
from lorestudio.domain.records import replace
from lorestudio.domain.texts import shorten
from lorestudio.settings.sections import dump_section
from lorestudio.studio.chat.editing import edit
from lorestudio.studio.project.answering import AnswerKind, Profile
from lorestudio.studio.project.settings import Mode
from lorestudio.systems.registry import KINDS
from lorestudio.trace.found_keys import keys_of
from lorestudio.trace.model import AS_STORED
from lorestudio.ui.features.chat.delegate import MessageDelegate
from lorestudio.ui.features.chat.message_list import MessageList
from lorestudio.ui.features.chat.model import ChatList
from lorestudio.ui.shell.qt import plain
from lorestudio.ui.shell.theme import Theme
from lorestudio.ui.shell.words import count, number, tr
from lorestudio.ui.state.choices import (
    SOURCE_ICONS,
    RunChoice,
    mode_caption,
    mode_help,
    source_help,
    source_title,
    sources,
    system_help,
    system_title,
)
from lorestudio.ui.state.selection import Selection
from lorestudio.ui.state.session import Session
from lorestudio.ui.widgets.layouts import able, column, holding, letters, menu_of, named, row, tool
from lorestudio.ui.widgets.paint import KeyQuery, whole_parts
from lorestudio.ui.widgets.pane import Pane
from lorestudio.ui.widgets.work_pane import ProgressStrip

LEAST_WIDTH = 190
"""So wide the bar is at least, with icons alone (device-independent pixels)."""

LONGEST_NAME = 27
"""Characters of an answer source that its button shows."""


class ModeBar(QWidget):
    """Shows a `RunChoice`; a choice is told by signals. `wanted` carries the id of an action.

    Mode, answers and switches are DeepLore's own, so they are hidden while another system is chosen.
    """

    system_chosen = Signal(str)
    mode_chosen = Signal(object)  # Mode
    source_chosen = Signal(object)  # Source
    wanted = Signal(str)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._choice = RunChoice()
        self.system, self.mode, self.source = self._button(), self._button(), self._button()
        self.switches = QToolButton(self, toolButtonStyle=Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self.switches.clicked.connect(
            lambda: self.wanted.emit("behaviour.edit" if self._choice.is_main else "system.settings")
        )
        line = row(self.system, self.mode, self.source, 1, self.switches, spacing=4, margins=(8, 0, 8, 4))
        line.setSizeConstraint(QBoxLayout.SizeConstraint.SetNoConstraint)  # see resizeEvent
        self.setLayout(line)
        self._fill(
            self.system, self.system_chosen, [(each, system_title(each), system_help(each)) for each in KINDS],
            (tr("Settings of the system…"), "system.settings"), (tr("Lorebooks of World Info…"), "worldinfo.books"),
            (tr("Compare systems…"), "systems.compare"),
        )  # fmt: skip
        self._fill(self.mode, self.mode_chosen, [(each, mode_caption(each), mode_help(each)) for each in Mode])
        theme.changed.connect(self._paint)
        self.show_choice(self._choice, ())

    def show_choice(self, choice: RunChoice, profiles: Sequence[Profile]) -> None:
        """Show what is chosen; `profiles` can be chosen too."""
        self._choice = choice
        system, mode, source = system_title(choice.system), mode_caption(choice.mode), source_title(choice.source)
        idle = "" if choice.asks_model else " " + tr("Nobody is asked in keywords-only mode.")
        helps = source_help(choice.source)
        if choice.source.profile and choice.source.profile not in {profile.name for profile in profiles}:
            helps = tr("There is no such profile any more. Choose who answers instead.")
        for button, text, name, tip in (
            (self.system, shorten(system, LONGEST_NAME), tr("System: {system}", system=system),
             tr("System: {system}. {help}", system=system, help=system_help(choice.system))),
            (self.mode, mode, tr("Mode: {mode}", mode=mode), tr("Mode. {help}", help=mode_help(choice.mode))),
            (self.source, shorten(source, LONGEST_NAME), tr("Answers: {source}", source=source),
             tr("Answers: {source}. {help}", source=source, help=helps) + idle),
        ):  # fmt: skip
            named(button, name, tip).setText(text)
        self._fill(
            self.source, self.source_chosen,
            [(each, source_title(each), source_help(each)) for each in sources(profiles, choice.source)],
            (tr("Provider profiles…"), "profiles.edit"), (tr("Replay, asking everything again…"), "replay.fresh"),
        )  # fmt: skip
        for button, chosen in ((self.system, choice.system), (self.mode, choice.mode), (self.source, choice.source)):
            for action in button.menu().actions():
                action.setChecked(action.data() == chosen)
        for button in (self.mode, self.source):
            button.setVisible(choice.is_main)
        self._show_door(choice)
        self._paint()
        self._fit()
        self._say_why()

    def changeEvent(self, event: QEvent) -> None:
        """Qt: without a project nothing can be chosen, and the buttons say so."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.EnabledChange:
            self._say_why()

    def _say_why(self) -> None:
        for button in (self.system, self.mode, self.source, self.switches):
            able(button, self.isEnabled(), tr("Open a vault, a lorebook or the demo first."))

    # ---- room -------------------------------------------------------------------------------------------------------

    def minimumSizeHint(self) -> QSize:
        """Qt: room for the icons alone."""
        return QSize(LEAST_WIDTH, super().minimumSizeHint().height())

    def resizeEvent(self, _event: QResizeEvent) -> None:
        """Qt: where there is no room for words, the buttons have their icon alone, and their words as tool tips."""
        self._fit()

    def _fit(self) -> None:
        styles = Qt.ToolButtonStyle
        buttons = [button for button in (self.system, self.mode, self.source) if not button.isHidden()]
        for button in buttons:
            button.setToolButtonStyle(styles.ToolButtonTextBesideIcon)
        room = self.width() - self.switches.sizeHint().width() - 32
        for button in reversed(buttons):
            if sum(each.sizeHint().width() + 4 for each in buttons) <= room:
                break
            button.setToolButtonStyle(styles.ToolButtonIconOnly)

    def _show_door(self, choice: RunChoice) -> None:
        """The button at the end: DeepLore's switches, or the settings of another system."""
        if choice.is_main:
            self.switches.setText(str(len(choice.fixed)) if choice.fixed else "")
            fixed = (
                count(len(choice.fixed), "switch fixed", "switches fixed") if choice.fixed else tr("all as DeepLore")
            )
            self.switches.setAccessibleName(tr("Behaviour switches: {fixed}", fixed=fixed))
        else:
            changed = len(dump_section(choice.settings)) if choice.settings is not None else 0
            self.switches.setText(tr("Settings ({changed} changed)", changed=changed) if changed else tr("Settings"))
            self.switches.setAccessibleName(tr("Settings of {system}", system=system_title(choice.system)))
        self.switches.setToolTip(plain(self.switches.accessibleName()))

    def _button(self) -> QToolButton:
        button = tool(self, "", kind="text", beside=True)
        menu_of(button, tips=True)
        return button

    def _fill(
        self,
        button: QToolButton,
        chosen: SignalInstance,
        choices: Iterable[tuple[object, str, str]],
        *doors: tuple[str, str],
    ) -> None:
        """Values to choose from, with titles and tips, in the button's menu; below them `doors` to actions."""
        menu, group = button.menu(), button.findChild(QActionGroup) or QActionGroup(button)  # one for all fillings
        menu.clear()
        for value, title, tip in choices:
            action = QAction(title, group, checkable=True, toolTip=tip)
            action.setData(value)
            action.triggered.connect(lambda _on=False, value=value: chosen.emit(value))
            menu.addAction(action)
        menu.addSeparator()
        for title, name in doors:
            menu.addAction(title, partial(self.wanted.emit, name))

    def _paint(self) -> None:
        self.system.setIcon(self._theme.icon("tree"))
        self.mode.setIcon(self._theme.icon("ai" if self._choice.asks_model else "search"))
        self.source.setIcon(self._theme.icon(SOURCE_ICONS[self._choice.source.kind]))
        self.switches.setIcon(self._theme.icon("switches", "accent" if self._choice.effective.fixed else "text_muted"))


LONG_SECONDS: Final = 0.4
"""A stage that takes longer is named beside the progress."""

CONTROLS: Final = ("message.first", "message.previous", "message.next", "message.last")


class RunLine(QToolButton):
    """One line on how the chat is run; pressed, it unfolds the controls for all of that, and folds them again."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent, autoRaise=True, toolButtonStyle=Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self.setCheckable(True)
        self._theme, self._text = theme, ""
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.toggled.connect(self._paint)
        theme.changed.connect(self._paint)
        self._paint()

    def say(self, choice: RunChoice, choices: int) -> None:
        """Say what is chosen, and how many `choices` there are for this chat."""
        kinds = AnswerKind
        who = {kinds.STAND_IN: tr("stand-in"), kinds.RECORDED: tr("recorded"), kinds.TYPED: tr("typed")}
        fixed = choice.effective.fixed
        parts = [system_title(choice.system), *([mode_caption(choice.mode).lower()] if choice.is_main else [])]
        # what gives way in a narrow pane stands last
        parts += [tr("{amount} set here", amount=number(choices))] if choices else []
        parts += [who.get(choice.source.kind, choice.source.profile)] if choice.is_main else []
        parts += [count(len(fixed), "switch fixed", "switches fixed")] if fixed else []
        self._text = " · ".join(parts)
        self._paint()

    def resizeEvent(self, _event: QResizeEvent) -> None:
        """Qt: as much of the line as there is room for."""
        self._paint()

    def _paint(self) -> None:
        does = tr("Fold the controls for that") if self.isChecked() else tr("Show the controls for that")
        named(self, tr("How the chat is run: {line}", line=self._text), f"{self._text}\n{does}")
        self.setIcon(self._theme.icon("chevron-down" if self.isChecked() else "chevron-right"))
        room = self.width() - self.iconSize().width() - _AROUND - self.fontMetrics().horizontalAdvance("  ")
        self.setText(whole_parts(self._text, QFontMetricsF(self.font()), room))


_AROUND: Final = 16
"""Pixels that a tool button needs around its icon and text, besides two spaces."""


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
    """Follows and sets the chosen message.

    Of a message that is being edited, `edit_overtaken` says that its text is another one by now, with its place;
    `edit_orphaned` that it is gone, with the place it had, and the message with the text that was written.
    """

    edit_overtaken = Signal(int)
    edit_orphaned = Signal(int, object)  # Message

    def __init__(self, theme: Theme, session: Session, selection: Selection) -> None:
        super().__init__("chat", tr("Chat"), theme)
        self._session, self._selection = session, selection
        self.model = ChatList(self)
        self.model.set_traces(lambda message, swipe: self._session.runs.traces.get(Generation(message, swipe)))
        self.view = named(MessageList(self), tr("Messages"))
        self.view.setModel(self.model)
        self.delegate = MessageDelegate(theme, self.view)
        self.view.setItemDelegate(self.delegate)
        self.view.set_guess(self.model.lengths, self.delegate.guess)
        self.view.verticalScrollBar().setSingleStep(24)
        self.view.setMouseTracking(True)
        self.view.setEditTriggers(MessageList.EditTrigger.NoEditTriggers)
        self.strip = ProgressStrip(self)
        self.strip.cancelled.connect(lambda: self.wanted.emit("replay.cancel"))
        self.modes = ModeBar(theme, self)
        self.modes.wanted.connect(self.wanted)
        self.modes.mode_chosen.connect(lambda mode: session.replays.choose(mode=mode))
        self.modes.source_chosen.connect(lambda source: session.replays.choose(source=source))
        self._choices = 0
        self.run_line = RunLine(theme, self)
        self._folding = column(self.modes, spacing=0, margins=0)
        self._folded = holding(self._folding, self)
        self._folded.hide()
        self.run_line.toggled.connect(self._folded.setVisible)
        self._line = holding(row((self.run_line, 1), margins=(6, 0, 8, 2)), self)
        for part in (self._make_controls(), self._line, self._folded, self.strip):
            self.column.addWidget(part)
        self.column.addWidget(self.or_empty("chat", self.view), 1)
        self.delegate.swipe_wanted.connect(self.step_swipe)
        self.delegate.fold_wanted.connect(self.model.toggle_expanded)
        self.view.selectionModel().currentChanged.connect(self._chosen)
        session.project_changed.connect(self._show_project)
        session.traces_changed.connect(self._traces_changed)
        session.state_changed.connect(self._show_state)
        session.choice_changed.connect(self._show_choice)
        session.profiles_changed.connect(self._show_choice)
        session.live_changed.connect(self._show_live)
        session.progress.connect(lambda progress: self.strip.set_progress(progress.done, progress.total))
        selection.generation_changed.connect(self._show_message)
        selection.entry_changed.connect(self._highlight)
        self.model.marks_changed.connect(self.view.viewport().update)
        self._show_project()

    def focus_target(self) -> QWidget:
        """The messages, or the ways to some."""
        return self.view if self.model.chat is not None else self.empty

    def fold_away(self, widget: QWidget) -> None:
        """Have a widget stand below the line that says how the chat is run, while that is unfolded."""
        self._folding.addWidget(widget)

    def count_choices(self, amount: int) -> None:
        """So many things are chosen for this chat."""
        self._choices = amount
        self.run_line.say(self._session.choice, amount)

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

    def _make_controls(self) -> QWidget:
        self.buttons = {name: QToolButton(self) for name in (*CONTROLS, "replay.all")}
        first, previous, after, last, play = self.buttons.values()
        named(play, "", kind="text").setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self.search_field = self.go = _Number(self)
        named(self.go, tr("Message number"), tr("Message number; Enter goes there (G)"))
        self.go.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.go.returnPressed.connect(self._go)
        self.go.left.connect(self._leave_number)
        return holding(row(first, previous, self.go, after, last, 1, play, spacing=2, margins=(8, 4, 8, 4)))

    def _go(self) -> None:
        text = self.go.text().strip().lstrip("#")
        if text.isdecimal():
            self.choose(max(0, min(int(text), self.model.rowCount() - 1)))
        self._leave_number()

    def _leave_number(self) -> None:
        self._show_number()
        self.view.setFocus()

    def _fit_number(self) -> None:
        """Give the field room for the highest number."""
        metrics = self.go.fontMetrics()
        digits = "0" * len(str(self.model.rowCount()))
        frame = self.go.minimumSizeHint().width() - metrics.maxWidth()
        self.go.setFixedWidth(max(round(46 * letters(self)), metrics.horizontalAdvance(digits) + frame))

    def _show_number(self) -> None:
        message = self._selection.message
        self.go.setText("" if message is None else str(message))

    def _show_project(self) -> None:
        project, chat = self._session.project, self._session.chat
        if not self._session.renewed or chat is not self.model.chat:
            self._show_chat(chat)
        if project is None:
            self.empty.say(tr("No chat yet"), tr("Open a vault first, then the chat that used it."))
        else:
            text = tr(
                "Open a chat file of SillyTavern (.jsonl), begin one, or paste its text: for every reply you see what "
                "went into its prompt. A text can be tried alone, too."
            )
            doors = (
                ("chat.open", "Open chat…"), ("chat.new", "New chat…"), ("chat.paste", "Paste a chat…"),
                ("pane.bench", "Test a text"),
            )  # fmt: skip
            self.empty.say(tr("No chat open"), text, tuple((name, tr(title)) for name, title in doors))
        self.pages.setCurrentWidget(self.view if chat is not None else self.empty)
        if chat is None:
            self.note_changed.emit("")
        able(self.go, chat is not None, tr("Open a chat or begin a new one first."))
        self.modes.setEnabled(project is not None)
        self._line.setVisible(project is not None)

    def _show_chat(self, chat: Chat | None) -> None:
        """Show another chat; where it is the same one changed, what was looked at and written in it stays."""
        before, message = self.model.chat, self._selection.message
        if not self._session.renewed or before is None or chat is None:
            self.model.set_chat(chat)
            self._fit_number()
            return
        places = places_in(chat.messages, before.messages)
        self._follow_edit(before, chat, places)
        with QSignalBlocker(self.view.selectionModel()):  # a row that is gone chooses no other one
            self.model.change_chat(chat, places)
        self._fit_number()
        if message is not None:
            below = next((now for was, now in places.items() if message <= was), message)
            self.choose(min(below, len(chat.messages)))
            # Also where it is the same one: a list without a current row goes to its first. Nothing moves for it.
            self.view.setAutoScroll(False)
            self.view.setCurrentIndex(self.model.index(self._selection.message or 0))
            self.view.setAutoScroll(True)

    def _follow_edit(self, before: Chat, after: Chat, places: Mapping[int, int]) -> None:
        """The field over a message that is the same one stays open; of one that is gone the text is handed on."""
        unfinished = self.delegate.unfinished()
        if unfinished is None:
            return
        row, text = unfinished
        if row not in places:
            self.delegate.give_up()
            alone = replace(before, messages=(replace(before.messages[row], line=None),))
            swipe = self.model.viewed_swipe(row) if before.messages[row].swipes else None
            self.edit_orphaned.emit(row, edit(alone, 0, text, swipe).messages[0])
        elif _texts(after.messages[places[row]]) != _texts(before.messages[row]):
            self.edit_overtaken.emit(places[row])

    def _traces_changed(self, generations: tuple[Generation, ...] | None) -> None:
        self.model.refresh(tuple({item.message for item in generations}) if generations is not None else None)
        self._highlight()

    def _show_state(self) -> None:
        if self._session.busy:
            stoppable = self._session.runs.replaying or self._session.reading.stoppable
            self.strip.start(self._session.activity, stoppable=stoppable)
        else:
            self.strip.finish()

    def _show_choice(self) -> None:
        self.modes.show_choice(self._session.choice, self._session.providers.file.profiles)
        self.run_line.say(self._session.choice, self._choices)

    def _show_live(self) -> None:
        live = self._session.replays.live
        if live is not None and live.elapsed() >= LONG_SECONDS:
            self.strip.show_stage(live.stage, live.elapsed())

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
        """Mark the keys that decided about the chosen entry, and say what the chosen run took messages for."""
        trace = self._session.runs.trace(self._selection.generation)
        generation, entry = self._selection.generation, self._selection.entry
        self.model.look_from(trace.seen if trace is not None else AS_STORED)
        if trace is not None and generation is not None and entry is not None:
            title = trace.entries[entry].title if entry in trace.entries else ""
            self.model.highlight(KeyQuery(keys_of(trace, entry), generation.message, title))
        else:
            self.model.highlight(KeyQuery())


def _texts(message: Message) -> tuple[str, ...]:
    return message.text, *message.swipes
