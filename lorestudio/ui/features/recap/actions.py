"""What can be done with the recaps of the chat that is open."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from lorestudio.studio.project.answering import AnswerKind, Source
from lorestudio.systems.recap import NAME
from lorestudio.ui.features.chat.actions import ChatFeature
from lorestudio.ui.features.recap.memory import ChatRecaps, NoRecaps
from lorestudio.ui.features.recap.queue import Enqueue, RecapQueue
from lorestudio.ui.shell.actions import Action, Need, Where
from lorestudio.ui.shell.feature import Context, Feature, Leave, late_pane
from lorestudio.ui.shell.words import Notice, tr
from lorestudio.ui.state.choices import short_source, source_title
from lorestudio.ui.widgets import dialogs
from lorestudio.ui.widgets.rows import action

if TYPE_CHECKING:
    from lorestudio.settings.recap import RecapSettings
    from lorestudio.systems.recap.overview import MessageRow, SceneRow, WalkRow
    from lorestudio.systems.recap.session import RecapEdits
    from lorestudio.ui.features.recap.pane import RecapPane

_MENU: Final = "Chat/Recap"
_USED: Final = {_MENU, "pane.recap"}
"""What stands in the menus once the pane was seen, or recap memory was chosen."""

MESSAGE_MENU: Final = ("", "recap.break")
"""What the menu on a message has of it."""


class RecapFeature(Feature):
    """Owns the pane, what is known of the chat's recaps, and the work on their queue."""

    def __init__(self, context: Context, chat: ChatFeature, configure: Callable[[str, RecapSettings], object]) -> None:
        """`configure` gives a system other settings."""
        super().__init__(context)
        self._chat, self._configure = chat, configure
        self.recaps = ChatRecaps(context.session, context.settings, self)
        self.recaps.copies = lambda: chat.files.backups
        self.queue = RecapQueue(self.recaps, self)
        self._followed: tuple[int, Path | None] | None = None
        self._waiting: list[Callable[[], object]] = []
        chat.message_menu += MESSAGE_MENU
        chat.hindrances.append(self.hinders)
        keep_chat = context.keep_chat
        context.keep_chat = lambda leave: (
            self.ask_before_closing(lambda: keep_chat(leave) or leave()) or keep_chat(leave)
        )

    @late_pane("recap", "Recap")
    def pane(self) -> RecapPane:
        """The recaps, and the work on their queue."""
        from lorestudio.ui.features.recap.pane import RecapPane

        context, recaps, pane = self.context, self.recaps, RecapPane(self.context.theme, self.home("recap"))
        pane.use_actions(context.commands)
        pane.looked_at.connect(recaps.want)
        pane.looked_at.connect(lambda: context.use(_USED))
        pane.again.connect(recaps.try_again)
        recaps.prompt_changed.connect(pane.prompt.show_prompt)
        self._connect_pages(pane)
        return pane

    def pane_made(self, _name: str) -> None:
        """Show what is known."""
        self._followed = None
        self._show()

    def actions(self) -> Iterable[Action]:
        """What can be done."""
        queue, recaps = self.queue, self.recaps
        there = self.context.has_chat.also(self._can_work, "The pane Recap says why this chat can get no recaps now.")
        waits = Need(lambda: bool(recaps.queue.left), "Nothing waits in the recap queue.")
        message = self.context.has_chat.also(lambda: self._chat.chosen is not None, "Choose a message first.")
        return (
            Action(
                "recap.run", "Make what is due", _MENU, 810,
                partial(self._queue, lambda session: session.enqueue_missing()), when=there, icon="play",
                tip="Queue every recap that is due, and work on the queue",
            ),
            Action(
                "recap.by_itself", "Keep recaps up to date", _MENU, 811, self._toggle_by_itself, when=there,
                icon="live", tip="Make recaps whenever the chat's file changes, as the recap settings say",
                ticked=lambda: recaps.by_itself,
            ),
            Action(
                "recap.pause", "Pause recap work", _MENU, 812, queue.pause, icon="pause",
                when=Need(lambda: queue.working and not recaps.queue.state.paused, "No recap work is under way."),
                tip="Finish the step under way and begin no other",
            ),
            Action(
                "recap.resume", "Go on with recap work", _MENU, 813, partial(self._when_ready, queue.begin),
                icon="play",
                when=waits.also(lambda: not queue.working or recaps.queue.state.paused, "It goes on already."),
                tip="Go on with what is queued",
            ),
            Action(
                "recap.clear_queue", "Empty the recap queue", _MENU, 814, queue.clear,
                when=waits, icon="stop", tip="Take all steps out of the queue",
            ),
            Action(
                "recap.message", "Recap this message", _MENU, 900, self.recap_message,
                when=there.also(message.met, message.why), icon="pencil",
                tip="Ask for the recap of the chosen message",
            ),
            Action(
                "recap.break", "Scene break after this message", _MENU, 901, self.toggle_break, ("D",), Where.CHAT,
                message.also(lambda: recaps.hindrance is not NoRecaps.NO_CHAT, there.why), "scissors",
                "Set or remove the end of a scene after the chosen message", text=self._break_words,
            ),
            Action(
                "recap.search", "Look for a scene break", _MENU, 902,
                partial(self._queue, lambda session: session.enqueue_search()), when=there, icon="search",
                tip="Have the next scene break looked for",
            ),
            Action(
                "recap.running", "Running recap of all scenes", _MENU, 903,
                partial(self._queue, lambda session: session.enqueue_running()), when=there, icon="lines",
                tip="Make a new version of all scenes but the newest, as the settings say",
            ),
            Action(
                "recap.adopt", "Use the running recap of the other chat", _MENU, 904,
                partial(self._edit, lambda edits: edits.adopt_running()), icon="lines",
                when=there.also(
                    lambda: recaps.picture is not None and bool(recaps.picture.notice),
                    "No other chat has one for this."
                ),
                tip="For a chat that was renamed or saved as another one",
            ),
            Action("recap.settings", "Recap settings…", _MENU, 1000, self.edit_settings, icon="switches"),
            Action(
                "recap.clear", "Take all recaps out of the chat…", _MENU, 1001, self._ask_clear,
                when=there.also(lambda: not queue.working, "Stop the recap work first."), icon="trash",
            ),
        )  # fmt: skip

    def begin(self) -> None:
        """Follow what is shown."""
        context, recaps = self.context, self.recaps
        recaps.changed.connect(self._show)
        self.queue.began.connect(lambda: context.bars.drop("recap"))  # what it says is about the work before
        self.queue.changed.connect(self._show_queue)
        self.queue.cost_known.connect(lambda cost: cost.ask(context.window))
        context.session.choice_changed.connect(self._show_queue)
        context.session.choice_changed.connect(
            lambda: context.use(_USED) if context.session.choice.system == NAME else None
        )
        context.session.state_changed.connect(self._show_unsaved)
        context.selection.generation_changed.connect(self._look)
        context.session.project_changed.connect(self._show)
        self._show()

    def _connect_pages(self, pane: RecapPane) -> None:
        for page in (pane.messages, pane.scenes, pane.running):
            page.edited.connect(self._edit)
            page.queued.connect(self._queue)
        for gone_to in (pane.messages.table.picked, pane.scenes.table.picked, pane.prompt.table.pressed):
            gone_to.connect(lambda row: self._chat.pane.choose(row.index))
        for rows in (pane.messages, pane.scenes, pane.prompt):
            go = action(tr("Go to the message"), partial(rows.with_row, self._go), rows)
            rows.table.offered.insert(0, go)
        pane.messages.table.offered += [self.context.action("recap.break"), self.context.action("recap.message")]
        pane.queue.asked.connect(lambda do: do(self.queue))

    def _go(self, row: MessageRow | SceneRow | WalkRow) -> None:
        self._chat.pane.choose(row.index)
        self.context.show("chat")

    def _can_work(self) -> bool:
        return self.recaps.hindrance is None and not self.recaps.problem

    def _break_words(self) -> str:
        picture, index = self.recaps.picture, self._chat.chosen
        ends = picture is not None and index is not None and any(row.index == index for row in picture.scenes)
        return tr("Remove the scene break after this message") if ends else tr("Scene break after this message")

    def hinders(self, source: Source) -> Notice | None:
        """Why a reply cannot be had from this source now, None where it can (rules: recap-memory 6.9).

        It cannot from a provider whose connection the queue is using.
        """
        if not self.queue.profile or source.kind is not AnswerKind.PROVIDER or source.profile != self.queue.profile:
            return None
        text = tr("Recap work is asking {name}, which would also write the reply. Pause it, or wait until it is done.")
        return Notice(text.format(name=source.profile), actions=("recap.pause", "pane.recap"), key="reply")

    def ask_before_closing(self, close: Leave) -> bool:
        """Ask before texts that are not kept are given up."""
        return self.is_made("recap") and self.pane.ask_before_leaving(close)

    def stop(self) -> None:
        """The window is closed."""
        self._waiting.clear()
        self.recaps.stop()

    # ---- what the actions do ----------------------------------------------------------------------------------------

    def recap_message(self) -> None:
        """Queue the recap of the chosen message."""
        index = self._chat.chosen
        if index is not None:
            self._queue(lambda session: session.enqueue_recap(index))

    def toggle_break(self) -> None:
        """Set the end of a scene after the chosen message, or take it away."""
        index = self._chat.chosen
        if index is not None:
            self._edit(lambda edits: edits.toggle_break(index))

    def edit_settings(self) -> None:
        """Show the settings of recap memory."""
        from lorestudio.ui.features.systems.dialogs import SystemSettingsDialog

        context = self.context
        intro = tr("They hold for every chat. Nothing is made by itself unless “Keep recaps up to date” is on.")
        dialog = SystemSettingsDialog(
            context.theme, tr("Recap settings"), intro, self.recaps.settings, context.window, brief=True
        )
        dialog.accepted_settings.connect(partial(self._configure, NAME))
        dialog.open()

    def _toggle_by_itself(self) -> None:
        on = not self.recaps.by_itself
        self.recaps.set_by_itself(on)
        if on:
            text = tr("Recaps are made from now on whenever the chat's file changes, by {who}.",
                      who=source_title(self.queue.source))  # fmt: skip
            self.context.say(Notice(text, actions=("recap.settings",), key="recap"))

    def _ask_clear(self) -> None:
        text = tr("All recaps, scene breaks, versions of the running recap and what is queued will be gone.")
        dialogs.confirm(
            self.context.window, tr("Take all recaps out"), text, tr("Take out"),
            partial(self._when_ready, self.queue.clear_recaps), tr("The messages themselves stay."),
        )  # fmt: skip

    def _edit(self, how: Callable[[RecapEdits], Awaitable[object]]) -> None:
        self._when_ready(partial(self.recaps.edit, how))

    def _queue(self, enqueue: Enqueue) -> None:
        self._when_ready(partial(self.queue.begin, enqueue))

    # ---- first things first -----------------------------------------------------------------------------------------

    def _when_ready(self, do: Callable[[], object]) -> None:
        """Do this once the chat's file is what is seen, and its recaps are read."""
        recaps = self.recaps
        if recaps.hindrance is not None:
            self.context.show("recap")  # it says why, and what to do
        elif recaps.unsaved:
            self._ask_save(partial(self._when_ready, do))
        elif recaps.open is None:
            self._waiting.append(do)
            recaps.want()
        else:
            do()

    def _ask_save(self, then: Callable[[], object]) -> None:
        def saved() -> None:
            if not self.recaps.unsaved:
                then()

        dialogs.propose(
            self.context.window, tr("Save the chat first"), tr("The chat has changes that are not in its file."),
            tr("Save chat"), lambda yes: self._chat.files.save(saved) if yes else None,
            tr("Recaps are made of what is in the file, and written into it."),
        )  # fmt: skip

    # ---- showing ----------------------------------------------------------------------------------------------------

    def _show(self) -> None:
        recaps = self.recaps
        if self.is_made("recap"):
            self.pane.show_recaps(recaps.picture, recaps.hindrance, recaps.problem, unsaved=recaps.unsaved)
        self._show_queue()
        self._look()
        if recaps.open is not None:
            waiting, self._waiting = self._waiting, []
            for do in waiting:
                self._when_ready(do)
        elif recaps.hindrance is not None or recaps.problem:
            self._waiting.clear()

    def _show_unsaved(self) -> None:
        recaps = self.recaps
        if recaps.picture is not None and self.is_made("recap"):
            self.pane.show_unsaved(recaps.picture, unsaved=recaps.unsaved)

    def _show_queue(self) -> None:
        source = self.queue.source
        if self.is_made("recap"):
            self.pane.show_queue(self.recaps.queue, short_source(source, tr("Stand-in")), source_title(source))
        self.context.actions_changed()

    def _look(self) -> None:
        """Follow the message that is looked at: its row, and the reply that its prompt is for."""
        selection = self.context.selection
        message = selection.message
        if message is None:
            self.recaps.look_at(None)
            if self.is_made("recap"):
                self.pane.prompt.show_prompt(None)
            return
        picture = self.recaps.picture
        if picture is not None and self._followed != (message, picture.path) and self.is_made("recap"):
            self._followed = message, picture.path
            self.pane.messages.view.choose(message)
        generation = selection.generation
        self.recaps.look_at(generation.message if generation is not None else message)
