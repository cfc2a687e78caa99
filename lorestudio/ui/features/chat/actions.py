"""What can be done with the open chat: the handlers behind `CHAT_ACTIONS`, the composer, mounted by the main window.

What can be done with the chat that is open: its file, its messages, the replies.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu

from lorestudio.domain.chat import Chat
from lorestudio.exchange.chats.document import BrokenLine, ChatDocument
from lorestudio.studio.chat import editing
from lorestudio.studio.chat.editing import Voice
from lorestudio.studio.chat.saving import new_chat, save_branch
from lorestudio.studio.project.answering import AnswerKind, Source
from lorestudio.ui.features.chat.composer import Composer
from lorestudio.ui.features.chat.files import ChatFiles
from lorestudio.ui.features.chat.reply import ReplyCost, ReplyWork, local_now
from lorestudio.ui.features.chat.streaming_reply import ArrivingReply
from lorestudio.ui.features.prompt.setup import PromptSetups
from lorestudio.ui.features.recap.actions import MESSAGE_MENU as RECAP_MENU
from lorestudio.ui.shell.actions import Action, Where
from lorestudio.ui.shell.command_group import CommandGroup
from lorestudio.ui.shell.words import Notice, count, sentence_of, shorten, tr
from lorestudio.ui.widgets import dialogs

if TYPE_CHECKING:
    from lorestudio.ui.shell.main_window import MainWindow


CHAT_ACTIONS: Final = (
    Action("chat.new", "New chat…", "Chat", icon="plus", tip="Begin a chat that is in no file yet"),
    Action("chat.save", "Save chat", "Chat", ("Ctrl+Alt+S",), icon="save", tip="Write the chat into its file"),
    Action("chat.save_as", "Save chat as…", "Chat", ("Ctrl+Alt+Shift+S",), icon="save"),
    Action("chat.setup", "Card, persona and prompt…", "Chat", icon="key", tip="Who the character is and who you are"),
    Action("chat.broken", "Lines that cannot be read…", "Chat", icon="broken"),
    Action("compose.focus", "Write a message", "Chat", ("N",), Where.RUNS, icon="pencil", separator_before=True),
    Action("reply.get", "Get a reply", "Chat", ("R",), Where.CHAT, icon="play", tip="Have the next reply written"),
    Action(
        "reply.again",
        "Get another reply",
        "Chat",
        ("Shift+R",),
        Where.CHAT,
        icon="reload",
        tip="A new swipe of the last reply",
    ),
    Action("reply.stop", "Stop writing", "Chat", ("Ctrl+Alt+.",), icon="stop"),
    Action(
        "message.edit", "Edit message", "Chat", ("Return", "Enter"), Where.CHAT, icon="pencil", separator_before=True
    ),
    Action("message.insert", "Insert a message after this one", "Chat", ("I",), Where.CHAT, icon="plus"),
    Action("message.hide", "Hide from the model, or show", "Chat", ("H",), Where.CHAT, icon="hidden"),
    Action("message.delete", "Delete message", "Chat", ("Del",), Where.CHAT, icon="trash"),
    Action("message.branch", "Branch from here", "Chat", ("Shift+B",), Where.CHAT, icon="graph"),
    Action(
        "swipe.choose",
        "Go on with this swipe",
        "Chat",
        ("C",),
        Where.CHAT,
        icon="check",
        tip="Make the swipe that is shown the one that the chat goes on with",
        separator_before=True,
    ),
    Action("swipe.write", "Write another swipe", "Chat", ("Shift+N",), Where.CHAT, icon="plus"),
    Action("swipe.delete", "Delete this swipe", "Chat", ("Shift+Del",), Where.CHAT, icon="trash"),
)

MESSAGE_MENU: Final = (
    "message.edit", "message.insert", "message.hide", "message.delete", "message.branch", "", "swipe.choose",
    "swipe.write", "swipe.delete", "", "reply.get", "reply.again",
)  # fmt: skip
"""The menu on a message; "" is a line between groups."""


LEAVING: Final = frozenset({"chat.open", "chat.new", "vault.open", "vault.open_obsidian", "demo.open", "vault.reload"})
"""Actions that put another chat in the place of the one that is open."""

BY_HAND: Final = ""


class ChatCommands(CommandGroup):
    """Owns the composer, the chat's file and the reply under way. Every change of the chat is a step of the session."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window, self._session = window, window.session
        self.files = ChatFiles(window, window.session, window.settings, window.say)
        self.replies = ReplyWork(window.session, self)
        self.setups = PromptSetups(window, window.session, window.settings, window.say)
        self._looked_for: tuple[Chat | None, ChatDocument | None, tuple[BrokenLine, ...]] = (None, None, ())
        self.composer = Composer(window.chat)
        window.chat.column.addWidget(self.composer)
        self.composer.written.connect(self._write)
        self.composer.wanted.connect(window.run)
        self.composer.writer_chosen.connect(self._choose_writer)
        self.composer.left.connect(window.chat.view.setFocus)
        self.composer.kept.connect(self.replies.keep)
        self.composer.thrown_away.connect(self.replies.throw_away)
        self.arriving = ArrivingReply(window.chat)
        self.replies.began.connect(self._reply_began)
        self.replies.said.connect(self.composer.say_reply)
        self.replies.heard.connect(self.arriving.hear)
        self.replies.undecided.connect(self._reply_undecided)
        self.composer.changed.connect(self.arriving.put)
        self.composer.shown.connect(self.arriving.reveal)
        self.arriving.out_of_sight.connect(self.composer.offer_show)
        self.replies.ended.connect(self._reply_ended)
        self.replies.failed.connect(self._reply_failed)
        self.replies.shortened.connect(
            lambda text: window.say(Notice(text, "warning", actions=("chat.setup",), key="reply"))
        )
        self.replies.cost_known.connect(self._ask_cost)
        window.chat.delegate.edited.connect(self._edited)

    def keep_in(self, folder: Path) -> None:
        """Keep versions of chats that are overwritten in this folder."""
        self.files.backups = folder

    def handlers(self) -> dict[str, Callable[[], object]]:
        """What each action does."""
        return {
            "chat.new": self._new,
            "chat.save": self.files.save,
            "chat.save_as": self.files.save_as,
            "chat.setup": self.setups.edit,
            "chat.broken": self._show_broken,
            "compose.focus": self._focus,
            "reply.get": self.get_reply,
            "reply.again": self.get_another,
            "reply.stop": self.replies.stop,
            "message.edit": self.edit,
            "message.insert": self._insert,
            "message.hide": self._hide,
            "message.delete": self._delete,
            "message.branch": self._branch,
            "swipe.choose": self._choose_swipe,
            "swipe.write": self._write_swipe,
            "swipe.delete": self._delete_swipe,
        }

    def connect_window(self) -> None:
        """Follow the session; call it once the window has its actions."""
        window, session = self._window, self._session
        view = window.chat.view
        view.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        view.customContextMenuRequested.connect(self._show_menu)
        self.composer.reply_button.setIcon(window.theme.icon("play"))
        session.project_changed.connect(self._show_project)
        session.state_changed.connect(self._show_state)
        session.profiles_changed.connect(self._show_writers)
        session.setup_changed.connect(self._show_setup)
        window.selection.generation_changed.connect(window.actions_changed)
        window.theme.changed.connect(lambda: self.composer.reply_button.setIcon(window.theme.icon("play")))
        self._show_writers()
        self._show_project()

    def stop(self) -> None:
        """End the reply that is being written."""
        self.replies.stop()

    def update(self, actions: dict[str, QAction]) -> None:
        """Enable what makes sense now."""
        project, chat = self._session.project, self._chat
        place, busy = self._chosen, self._session.busy and not self._session.runs.replaying
        message = chat.messages[place] if chat is not None and place is not None else None
        viewed = self._window.chat.model.viewed_swipe(place) if place is not None else 0
        swipes = len(message.swipes) if message is not None else 0
        waiting = self.replies.busy
        enabled = {
            "chat.new": project is not None and not busy,
            "chat.save": self.files.unsaved,
            "chat.save_as": chat is not None,
            "chat.setup": project is not None,
            "chat.broken": bool(self._broken()),
            "compose.focus": chat is not None,
            "reply.get": chat is not None and not waiting,
            "reply.again": chat is not None and self._last_reply is not None and not waiting,
            "reply.stop": waiting,
            "message.edit": message is not None,
            "message.insert": message is not None,
            "message.hide": message is not None,
            "message.delete": message is not None,
            "message.branch": message is not None and project is not None and project.chat_path is not None,
            "swipe.choose": message is not None and viewed != message.swipe and viewed < swipes,
            "swipe.write": message is not None and not message.is_user,
            "swipe.delete": swipes > 1,
        }
        for name, on in enabled.items():
            actions[name].setEnabled(on)
        hidden = message is not None and message.is_system
        actions["message.hide"].setText(tr("Show to the model") if hidden else tr("Hide from the model"))

    def before(self, action: str) -> bool:
        """Whether an action has to wait for what becomes of the unsaved chat; it is done once that is decided."""
        return action in LEAVING and self.files.ask_before_leaving(partial(self._window.do, action))

    # ---- what there is ----------------------------------------------------------------------------------------------

    @property
    def _chat(self) -> Chat | None:
        project = self._session.project
        return project.chat if project is not None else None

    @property
    def _chosen(self) -> int | None:
        """The message that an action is about."""
        chat, place = self._chat, self._window.selection.message
        return place if chat is not None and place is not None and place < len(chat.messages) else None

    @property
    def _last_reply(self) -> int | None:
        """The last message where it is a reply, so that another can come in its place."""
        chat = self._chat
        if chat is None or not chat.messages:
            return None
        place, last = len(chat.messages) - 1, chat.messages[-1]
        return place if place and not last.is_user and last.scannable else None

    @property
    def writer(self) -> str:
        """Who writes replies: "" for the person, or the name of an answer source."""
        return str(self._window.settings.value("chat/writer", BY_HAND))

    def _broken(self) -> tuple[BrokenLine, ...]:
        """The lines of the file that cannot be read; looked for once for each state of the chat."""
        project = self._session.project
        if project is None or project.chat is None or project.document is None:
            return ()
        known, document, found = self._looked_for
        if known is not project.chat or document is not project.document:
            found = project.document.broken_lines(project.chat)
            self._looked_for = (project.chat, project.document, found)
        return found

    # ---- messages ---------------------------------------------------------------------------------------------------

    def change(self, title: str, chat: Chat, look_at: int | None = None) -> None:
        """One step: the chat as it is to be, and the notepad with what follows from it."""
        project = self._session.project
        if project is None or project.chat is None:
            return
        controls = editing.notes_followed(project.controls, project.chat, chat)
        self._session.parts.adjust(title, chat=chat, controls=controls)
        if look_at is not None:
            self._window.chat.choose(max(0, min(look_at, len(chat.messages))))

    def edit(self) -> None:
        """Edit the chosen message in its place."""
        place = self._chosen
        if place is not None:
            view = self._window.chat.view
            view.scrollTo(self._window.chat.model.index(place))
            view.edit(self._window.chat.model.index(place))

    def _write(self, text: str, voice: object) -> None:
        chat = self._chat
        if chat is None:
            return
        voice = Voice(str(voice))
        name = self._session.project.setup.user_name(chat) if self._session.project and voice is Voice.YOU else ""
        made = editing.append(chat, editing.new_message(chat, text, voice, local_now(), name=name))
        self.change(tr("message #{number}", number=len(chat.messages)), made, len(made.messages))
        self.composer.field.setFocus()
        if voice is Voice.YOU and self.writer:
            self.get_reply()

    def _edited(self, place: int, text: str) -> None:
        chat = self._chat
        if chat is not None and place < len(chat.messages):
            swipe = self._window.chat.model.viewed_swipe(place)
            made = editing.edit(chat, place, text, swipe if chat.messages[place].swipes else None)
            self.change(tr("edit of #{number}", number=place), made, place)

    def _insert(self) -> None:
        chat, place = self._chat, self._chosen
        if chat is None or place is None:
            return
        voice = Voice.CHARACTER if chat.messages[place].is_user else Voice.YOU
        made = editing.insert(chat, place + 1, editing.new_message(chat, "", voice, local_now()))
        self.change(tr("message after #{number}", number=place), made, place + 1)
        self.edit()

    def _hide(self) -> None:
        chat, place = self._chat, self._chosen
        if chat is not None and place is not None:
            hidden = not chat.messages[place].is_system
            title = tr("hide #{number}", number=place) if hidden else tr("show #{number}", number=place)
            self.change(title, editing.hide(chat, place, hidden=hidden), place)

    def _delete(self) -> None:
        chat, place = self._chat, self._chosen
        if chat is not None and place is not None:
            self.change(tr("delete #{number}", number=place), editing.delete(chat, place), place)
            text = tr("Message #{number} was deleted. Ctrl+Z brings it back.", number=place)
            self._window.status.flash(text)

    def _choose_swipe(self) -> None:
        chat, place = self._chat, self._chosen
        if chat is not None and place is not None:
            swipe = self._window.chat.model.viewed_swipe(place)
            self.change(tr("swipe {swipe} of #{number}", swipe=swipe + 1, number=place),
                        editing.choose_swipe(chat, place, swipe), place)  # fmt: skip

    def _write_swipe(self) -> None:
        chat, place = self._chat, self._chosen
        if chat is not None and place is not None:
            made = editing.add_swipe(chat, place, "", local_now())
            self.change(tr("another swipe of #{number}", number=place), made, place)
            self.edit()

    def _delete_swipe(self) -> None:
        chat, place = self._chat, self._chosen
        if chat is not None and place is not None and len(chat.messages[place].swipes) > 1:
            swipe = self._window.chat.model.viewed_swipe(place)
            title = tr("delete swipe {swipe} of #{number}", swipe=swipe + 1, number=place)
            self.change(title, editing.delete_swipe(chat, place, swipe), place)

    def _branch(self) -> None:
        project, place = self._session.project, self._chosen
        if project is None or project.chat is None or project.chat_path is None or place is None:
            return
        path, document = project.chat_path, project.document
        if document is None:
            return
        made = editing.branch(project.chat, place, path.stem, local_now())

        def done(branch: Path) -> None:
            if self._session.project is not None and self._session.project.chat is project.chat:
                self.change(tr("mark of the branch at #{number}", number=place), made.original, place)
            text = tr("The branch is in {name}, beside the chat. Open it with “Open chat…”.", name=branch.name)
            self._window.say(Notice(text, "good", key="chat", actions=("chat.open",)))

        self._session.jobs.start(
            tr("Making a branch"),
            lambda _report: save_branch(document, made, path.parent),
            done=done,
            failed=self._failed,
        )

    # ---- replies ----------------------------------------------------------------------------------------------------

    def get_reply(self) -> None:
        """Have the next reply written, or write it."""
        self._get(None)

    def get_another(self) -> None:
        """A new swipe of the last reply."""
        place = self._last_reply
        if place is not None:
            self._get(place)

    def _get(self, place: int | None) -> None:
        source = self._source()
        why = self._window.recap_commands.blocks(source) if source is not None else ""
        if why:
            self._window.say(Notice(why, actions=("recap.pause", "pane.recap"), key="reply"))
        elif source is not None:
            self.replies.start(source, place)
        elif place is not None:
            self._window.chat.choose(place)
            self._write_swipe()
        else:
            self.composer.voice.setCurrentIndex(self.composer.voice.findData(Voice.CHARACTER))
            self._focus()
            self._window.status.flash(tr("Write the reply, or choose at “Reply” who writes it."))

    def _source(self) -> Source | None:
        return Source.named(self.writer) if self.writer else None

    def _choose_writer(self, name: str) -> None:
        self._window.settings.setValue("chat/writer", name)
        self._show_writers()

    def _show_writers(self) -> None:
        profiles = self._session.providers.file.profiles
        names = [
            (BY_HAND, tr("I write replies myself")),
            (AnswerKind.RECORDED.value, tr("Recorded replies")),
            *((each.name, f"{each.name} · {each.model}" if each.model else each.name) for each in profiles),
        ]
        self.composer.show_writers(names, self.writer)

    def _reply_began(self) -> None:
        generation = self.replies.generation
        if generation is not None:
            self.arriving.begin(generation)  # first: what comes next makes the list lower
        self.composer.begin_reply("")

    def _reply_undecided(self, sentence: str) -> None:
        self.arriving.undecided()
        self.composer.ask_about(sentence, self.arriving.text)

    def _reply_ended(self) -> None:
        self.arriving.end()
        self.composer.end_reply()
        self._window.update_actions()

    def _reply_failed(self, sentence: str) -> None:
        text = tr("There is no reply. {sentence}", sentence=sentence)
        self._window.say(Notice(text, "error", actions=("reply.get", "profiles.edit"), key="reply"))

    def _ask_cost(self, cost: object) -> None:
        if not isinstance(cost, ReplyCost):
            return
        more = tr("The request holds card, persona, lore and chat. You are not asked again until the window is closed.")
        dialogs.ask_model(
            self._window, cost.profile, cost.sentence, more, lambda yes: self.replies.agree(cost.profile, yes)
        )

    # ---- the window's side ------------------------------------------------------------------------------------------

    def _new(self) -> None:
        project = self._session.project
        if project is None:
            return
        user = project.chat.user_name if project.chat is not None else ""

        def named(name: str) -> None:
            now = self._session.project
            if now is not None:
                self._session.parts.begin_chat(*new_chat(user or tr("You"), name, local_now()))
                self._focus()

        card = project.setup.card
        start = card.name if card is not None else project.chat.character_name if project.chat is not None else ""
        dialogs.ask_name(self._window, tr("New chat"), tr("With whom"), start, named)

    def _focus(self) -> None:
        self._window.raise_pane("chat")
        self.composer.field.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def _show_menu(self, place: QPoint) -> None:
        view = self._window.chat.view
        index = view.indexAt(place)
        if index.isValid():
            self._window.chat.choose(index.row())
        menu = QMenu(view)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        for name in (*MESSAGE_MENU, *RECAP_MENU):
            if name:
                menu.addAction(self._window.commands.actions[name])
            else:
                menu.addSeparator()
        menu.popup(view.viewport().mapToGlobal(place))

    def _show_project(self) -> None:
        project = self._session.project
        self.composer.setVisible(project is not None and project.chat is not None)
        if project is None:
            return
        if not self._session.renewed:
            self.setups.restore(project)
        self._show_setup()
        remarks: dict[int, list[str]] = {}
        for each in self._broken():
            remarks.setdefault(each.before, []).append(str(each.line.number))
        words = {
            place: tr("line {numbers} before this cannot be read", numbers=", ".join(numbers))
            for place, numbers in remarks.items()
        }
        self._window.chat.model.set_remarks(words)
        self._show_state()

    def _show_setup(self) -> None:
        project = self._session.project
        if project is not None and project.chat is not None:
            setup, chat = project.setup, project.chat
            self.composer.show_names(setup.user_name(chat), setup.character_name(chat))

    def _show_state(self) -> None:
        project = self._session.project
        if project is None or project.chat is None:
            return
        name = project.chat_path.name if project.chat_path is not None else tr("new chat")
        parts = [name, count(len(project.chat.messages), "message", "messages")]
        if self.files.unsaved:
            parts.insert(1, tr("● not saved"))
        self._window.chat.note_changed.emit(" · ".join(parts))

    def _show_broken(self) -> None:
        intro = tr("These lines stay in the file as they are. Mend them in a text editor, then reload.")
        lines = [
            tr("Line {number} {problem}:", number=each.line.number, problem=each.line.problem)
            + "\n"
            + shorten(each.line.text, 2000).encode("utf-8", "replace").decode()
            for each in self._broken()
        ]
        dialogs.show_text(self._window, tr("Lines that cannot be read"), "\n\n".join((intro, *lines)))

    def _failed(self, error: Exception) -> None:
        self._window.say(Notice(sentence_of(error), "error", key="chat"))
