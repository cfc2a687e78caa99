"""What can be done with the recaps of the chat that is open.

What the window does with recap memory: the pane and the handlers behind its actions, mounted by the main window.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMessageBox

from lorestudio.settings.recap import RecapSettings
from lorestudio.studio.project.answering import AnswerKind, Source
from lorestudio.systems.recap.session import RecapSession
from lorestudio.ui.features.recap.memory import NoRecaps, RecapDesk
from lorestudio.ui.features.recap.pane import RecapPane
from lorestudio.ui.features.recap.queue import Enqueue, RecapCost, RecapQueue
from lorestudio.ui.features.recap.settings_dialog import RecapSettingsDialog
from lorestudio.ui.shell.actions import Action, Where
from lorestudio.ui.shell.command_group import CommandGroup
from lorestudio.ui.shell.words import Notice, shorten, tr
from lorestudio.ui.state.choices import source_title
from lorestudio.ui.widgets import dialogs

if TYPE_CHECKING:
    from lorestudio.ui.shell.main_window import MainWindow


_MENU: Final = "Chat/Recap"

RECAP_ACTIONS: Final = (
    Action(
        "recap.run", "Make what is due", _MENU, icon="play", tip="Queue every recap that is due, and work on the queue",
        separator_before=True,
    ),
    Action(
        "recap.by_itself", "Keep recaps up to date", _MENU, icon="live", checkable=True,
        tip="Make recaps whenever the chat's file changes, as the recap settings say",
    ),
    Action("recap.pause", "Pause recap work", _MENU, icon="pause", tip="Finish the step under way and begin no other"),
    Action("recap.resume", "Go on with recap work", _MENU, icon="play", tip="Go on with what is queued"),
    Action("recap.clear_queue", "Empty the recap queue", _MENU, icon="stop", tip="Take all steps out of the queue"),
    Action(
        "recap.message", "Recap this message", _MENU, icon="pencil", tip="Ask for the recap of the chosen message",
        separator_before=True,
    ),
    Action(
        "recap.break", "Scene break after this message", _MENU, ("D",), Where.CHAT, icon="scissors",
        tip="Set or remove the end of a scene after the chosen message",
    ),
    Action("recap.search", "Look for a scene break", _MENU, icon="search", tip="Have the next scene break looked for"),
    Action("recap.running", "Running recap of all scenes", _MENU, icon="lines", tip="Make a new version of all scenes"),
    Action("recap.settings", "Recap settings…", _MENU, icon="switches", separator_before=True),
    Action("recap.clear", "Take all recaps out of the chat…", _MENU, icon="trash"),
)  # fmt: skip

MESSAGE_MENU: Final = ("", "recap.break", "recap.message")
"""What the menu on a message has of it."""


class RecapCommands(CommandGroup):
    """Owns the pane, the desk that knows the chat's recaps, and the work on their queue."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self.pane = RecapPane(window.theme)
        self.desk = RecapDesk(window.session, window.settings, self)
        self.queue = RecapQueue(self.desk, self)
        self.dialog: RecapSettingsDialog | None = None
        self._followed: tuple[int, Path | None] | None = None
        self._waiting: list[Callable[[], object]] = []

    @property
    def panes(self) -> tuple[RecapPane]:
        """The pane, hidden at first."""
        return (self.pane,)

    def handlers(self) -> dict[str, Callable[[], object]]:
        """What each action does."""
        return {
            "recap.run": partial(self._queue, RecapSession.enqueue_missing),
            "recap.pause": self.queue.pause,
            "recap.resume": partial(self._when_ready, self.queue.begin),
            "recap.clear_queue": self.queue.clear,
            "recap.message": self.recap_message,
            "recap.break": self.toggle_break,
            "recap.search": partial(self._queue, RecapSession.enqueue_search),
            "recap.running": partial(self._queue, RecapSession.enqueue_running),
            "recap.by_itself": self._toggle_by_itself,
            "recap.settings": self.edit_settings,
            "recap.clear": self._ask_clear,
        }

    def connect_window(self) -> None:
        """Follow what is shown; call it once the window has its actions."""
        window, desk, pane = self._window, self.desk, self.pane
        pane.use_actions(window.commands.actions)
        pane.wanted.connect(window.run)
        pane.seen.connect(desk.want)
        pane.again.connect(desk.try_again)
        desk.changed.connect(self._show)
        desk.prompt_changed.connect(pane.prompt.show_prompt)
        desk.told.connect(window.say)
        self.queue.changed.connect(self._show_queue)
        self.queue.cost_known.connect(self._ask_cost)
        window.session.choice_changed.connect(self._show_queue)
        window.session.state_changed.connect(self._show_unsaved)
        window.selection.generation_changed.connect(self._look)
        window.session.project_changed.connect(self._show)
        self._connect_pages()
        self._show()

    def _connect_pages(self) -> None:
        pane, desk, queue = self.pane, self.desk, self.queue
        messages, scenes, running = pane.messages, pane.scenes, pane.running

        def edit(how: Callable[..., Awaitable[object]]) -> Callable[..., None]:
            return lambda *values: self._when_ready(lambda: desk.edit(lambda edits: how(edits, *values)))

        messages.written.connect(edit(lambda edits, index, text: edits.edit_message(index, text)))
        messages.excluded.connect(edit(lambda edits, index, on: edits.exclude(index, wanted=on)))
        messages.pinned.connect(edit(lambda edits, index, on: edits.keep_hidden(index, wanted=on)))
        messages.wanted.connect(lambda index: self._queue(lambda one: one.enqueue_recap(index)))
        messages.view.picked.connect(lambda row: self._window.chat.choose(row.index))
        scenes.written.connect(edit(lambda edits, index, text: edits.edit_scene(index, text)))
        scenes.turned.connect(edit(lambda edits, index, step: edits.turn_scene(index, step)))
        scenes.toggled.connect(edit(lambda edits, index: edits.toggle_break(index)))
        scenes.wanted.connect(lambda index: self._queue(lambda one: one.enqueue_scene(index)))
        scenes.combined.connect(lambda index: self._queue(lambda one: one.enqueue_combine(index)))
        scenes.deleted.connect(self._ask_delete_scene)
        scenes.view.picked.connect(lambda row: self._window.chat.choose(row.index))
        running.written.connect(edit(lambda edits, text: edits.edit_running(text)))
        running.used.connect(edit(lambda edits, number: edits.use_running(number)))
        running.deleted.connect(self._ask_delete_version)
        pane.prompt.view.pressed.connect(lambda row: self._window.chat.choose(row.index))
        pane.queue.removed.connect(queue.remove)
        pane.queue.stopped_before.connect(queue.toggle_pause_before)
        pane.queue.hurried.connect(queue.hurry)
        pane.queue.emptied.connect(queue.clear)

    def update(self, actions: dict[str, QAction]) -> None:
        """Enable what makes sense now."""
        desk, queue = self.desk, self.desk.queue
        there = desk.hindrance is None and not desk.problem
        message = self._chosen is not None
        enabled = {
            "recap.run": there,
            "recap.pause": self.queue.working and not queue.state.paused,
            "recap.resume": bool(queue.left) and (not self.queue.working or queue.state.paused),
            "recap.clear_queue": bool(queue.left),
            "recap.message": there and message,
            "recap.break": message and desk.hindrance is not NoRecaps.NO_CHAT,
            "recap.search": there,
            "recap.running": there,
            "recap.by_itself": there,
            "recap.clear": there and not self.queue.working,
        }
        for name, on in enabled.items():
            actions[name].setEnabled(on)
        actions["recap.by_itself"].setChecked(desk.by_itself)
        picture = desk.picture
        index = self._chosen
        ends = picture is not None and index is not None and any(row.index == index for row in picture.scenes)
        actions["recap.break"].setText(
            tr("Remove the scene break after this message") if ends else tr("Scene break after this message")
        )

    def blocks(self, source: Source) -> str:
        """Why a reply cannot be had from this source now, "" where it can (rules: recap-memory 6.9).

        It cannot from a provider whose connection the queue is using.
        """
        if not self.queue.profile or source.kind is not AnswerKind.PROVIDER or source.profile != self.queue.profile:
            return ""
        text = tr("Recap work is asking {name}, which would also write the reply. Pause it, or wait until it is done.")
        return text.format(name=source.profile)

    def stop(self) -> None:
        """The window is closed."""
        self._waiting.clear()
        self.desk.stop()

    # ---- what the actions do ----------------------------------------------------------------------------------------

    def recap_message(self) -> None:
        """Queue the recap of the chosen message."""
        index = self._chosen
        if index is not None:
            self._queue(lambda session: session.enqueue_recap(index))

    def toggle_break(self) -> None:
        """Set the end of a scene after the chosen message, or take it away."""
        index = self._chosen
        if index is not None:
            self._when_ready(lambda: self.desk.edit(lambda edits: edits.toggle_break(index)))

    def edit_settings(self) -> None:
        """Show the settings of recap memory."""
        self.dialog = dialog = RecapSettingsDialog(self.desk.settings, self._window)
        dialog.accepted_settings.connect(self._use_settings)
        dialog.finished.connect(lambda _result: setattr(self, "dialog", None))
        dialog.open()

    def _use_settings(self, settings: object) -> None:
        if isinstance(settings, RecapSettings):
            self.desk.use_settings(settings)

    def _toggle_by_itself(self) -> None:
        on = not self.desk.by_itself
        self.desk.set_by_itself(on)
        if on:
            text = tr("Recaps are made from now on whenever the chat's file changes, by {who}.",
                      who=source_title(self.queue.source))  # fmt: skip
            self._window.say(Notice(text, actions=("recap.settings",), key="recap"))

    def _ask_clear(self) -> None:
        text = tr("All recaps, scene breaks, versions of the running recap and what is queued will be gone.")
        dialogs.confirm(
            self._window, tr("Take all recaps out"), text, tr("Take out"),
            partial(self._when_ready, self.queue.clear_recaps), tr("The messages themselves stay."),
        )  # fmt: skip

    def _ask_delete_scene(self, index: int) -> None:
        text = tr("The break, the scene's recaps, and the versions of the running recap that reach to it will be gone.")
        dialogs.confirm(
            self._window, tr("Delete scene"), text, tr("Delete"),
            lambda: self._when_ready(lambda: self.desk.edit(lambda edits: edits.delete_scene(index))),
            tr("Messages and their own recaps stay."),
        )  # fmt: skip

    def _ask_delete_version(self, version: int) -> None:
        text = tr("Version {number} of the running recap will be gone.", number=version)
        dialogs.confirm(
            self._window, tr("Delete version"), text, tr("Delete"),
            lambda: self._when_ready(lambda: self.desk.edit(lambda edits: edits.delete_running(version))),
        )  # fmt: skip

    def _queue(self, enqueue: Enqueue) -> None:
        self._when_ready(partial(self.queue.begin, enqueue))

    # ---- first things first -----------------------------------------------------------------------------------------

    def _when_ready(self, do: Callable[[], object]) -> None:
        """Do this once the chat's file is what is seen, and its recaps are read."""
        desk, window = self.desk, self._window
        if desk.hindrance is not None:
            window.show_pane("recap")  # it says why, and what to do
        elif desk.unsaved:
            self._ask_save(partial(self._when_ready, do))
        elif desk.open is None:
            self._waiting.append(do)
            desk.want()
        else:
            do()

    def _ask_save(self, then: Callable[[], object]) -> None:
        box = QMessageBox(self._window)
        box.setIcon(QMessageBox.Icon.NoIcon)
        box.setWindowTitle(tr("Save the chat first"))
        box.setText(tr("The chat has changes that are not in its file."))
        box.setInformativeText(tr("Recaps are made of what is in the file, and written into it."))
        save = box.addButton(tr("Save chat"), QMessageBox.ButtonRole.AcceptRole)
        box.addButton(QMessageBox.StandardButton.Cancel)
        box.setDefaultButton(save)

        def saved() -> None:
            if not self.desk.unsaved:
                then()

        save.clicked.connect(lambda: self._window.chat_commands.files.save(saved))
        box.finished.connect(box.deleteLater)
        box.open()

    def _ask_cost(self, cost: object) -> None:
        if not isinstance(cost, RecapCost):
            return
        more = tr("The requests hold texts of the chat. Found scenes may ask for more. It can be paused at any time.")
        dialogs.ask_model(
            self._window, cost.profile, cost.sentence, more, lambda yes: self.queue.agree(cost, agreed=yes)
        )

    # ---- showing ----------------------------------------------------------------------------------------------------

    @property
    def _chosen(self) -> int | None:
        """The message that an action is about."""
        project, place = self._window.session.project, self._window.selection.message
        chat = project.chat if project is not None else None
        return place if chat is not None and place is not None and place < len(chat.messages) else None

    def _show(self) -> None:
        desk = self.desk
        self.pane.show_recaps(desk.picture, desk.hindrance, desk.problem, unsaved=desk.unsaved)
        self._show_queue()
        self._look()
        if desk.open is not None:
            waiting, self._waiting = self._waiting, []
            for do in waiting:
                self._when_ready(do)
        elif desk.hindrance is not None or desk.problem:
            self._waiting.clear()

    def _show_unsaved(self) -> None:
        desk = self.desk
        if desk.picture is not None:
            self.pane.show_unsaved(desk.picture, unsaved=desk.unsaved)

    def _show_queue(self) -> None:
        source = self.queue.source
        self.pane.show_queue(self.desk.queue, _short(source), source_title(source))
        self._window.update_actions()

    def _look(self) -> None:
        """Follow the message that is looked at: its row, and the reply that its prompt is for."""
        selection = self._window.selection
        message = selection.message
        if message is None:
            self.desk.look_at(None)
            self.pane.prompt.show_prompt(None)
            return
        followed = (message, self.desk.picture.path if self.desk.picture is not None else None)
        if followed != self._followed:
            self._followed = followed
            self.pane.messages.view.choose(message)
        generation = selection.generation
        self.desk.look_at(generation.message if generation is not None else message)


def _short(source: Source) -> str:
    """Who writes, as short as a button needs it."""
    if source.kind is AnswerKind.PROVIDER:
        return shorten(source.profile, 18)
    return {AnswerKind.STAND_IN: tr("Stand-in"), AnswerKind.RECORDED: tr("Recorded")}.get(source.kind, tr("I type"))
