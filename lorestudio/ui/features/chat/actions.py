"""What can be done with the chat that is open: its file, its messages and swipes, the replies."""

from __future__ import annotations

import html
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Final

from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QWidget

from lorestudio.domain.chat import Chat, Message
from lorestudio.domain.texts import shorten
from lorestudio.exchange.chats.document import BrokenLine, ChatDocument
from lorestudio.studio.chat import editing
from lorestudio.studio.chat.editing import Voice
from lorestudio.studio.chat.saving import carry_answers, new_chat, save_branch
from lorestudio.studio.project.answering import AnswerKind, Source
from lorestudio.studio.project.basis import basis_path, keep_basis
from lorestudio.studio.project.project import Project
from lorestudio.ui.features.chat.composer import Composer
from lorestudio.ui.features.chat.files import ChatFiles
from lorestudio.ui.features.chat.pane import ChatPane
from lorestudio.ui.features.chat.prompt_setup import PromptSetups
from lorestudio.ui.features.chat.reply import ReplyWork, StreamingReply, local_now
from lorestudio.ui.features.chat.session_note import SessionNoteWork
from lorestudio.ui.shell.actions import Action, Need, Where
from lorestudio.ui.shell.feature import Context, Feature, Leave
from lorestudio.ui.shell.words import Notice, count, tr
from lorestudio.ui.state.undo import Adjustment
from lorestudio.ui.widgets import dialogs
from lorestudio.ui.widgets.layouts import iconed
from lorestudio.ui.widgets.picker import Choice
from lorestudio.ui.widgets.rows import passing_menu

MESSAGE_MENU: Final = (
    "message.edit", "message.insert", "message.hide", "message.since", "message.delete", "message.branch", "",
    "swipe.choose", "swipe.write", "swipe.delete", "", "reply.again",
)  # fmt: skip
"""The menu on a message; "" is a line between groups."""


BY_HAND: Final = ""
"""Who writes replies where the person does; until somebody was chosen, the offline stand-in leaves a placeholder."""

FOUND_LETTERS: Final = 90
"""So much of a message that the palette found is shown beside its number."""


class ChatFeature(Feature):
    """Owns the pane of the chat, its composer, the chat's file and the reply under way.

    Every change of the chat is a step of the session. Other features add to `message_menu`, the menu on a message, and
    to `hindrances`: each says why no reply can be had from a source now, None where it can.
    """

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        session, window = context.session, context.window
        self._session = session
        self.pane = ChatPane(context.theme, session, context.selection)
        self.panes = (self.pane,)
        self.message_menu: list[str] = list(MESSAGE_MENU)
        self.hindrances: list[Callable[[Source], Notice | None]] = []
        self.files = ChatFiles(window, session, context.settings, context.say)
        self.replies = ReplyWork(session, self)
        self.notes = SessionNoteWork(context, lambda: self._writing_source, self._offer_writers)
        self.setups = PromptSetups(context)
        self.settled: Project | None = None
        """With its chat as it is, nobody is asked any more what becomes of that."""
        self._looked_for: tuple[Chat | None, ChatDocument | None, tuple[BrokenLine, ...]] = (None, None, ())
        self.pane.run_line.setChecked(str(context.settings.value("chat/unfolded", "")) == "true")
        self.pane.run_line.toggled.connect(lambda on: context.settings.setValue("chat/unfolded", str(on).lower()))
        self.composer = Composer(self.pane)
        self.pane.column.addWidget(self.composer)
        self.composer.written.connect(self._write)
        self.composer.wanted.connect(context.run)
        self.composer.writer_chosen.connect(self._choose_writer)
        self.composer.left.connect(self.pane.view.setFocus)
        self.composer.kept.connect(self.replies.keep)
        self.composer.thrown_away.connect(self.replies.throw_away)
        self.streaming = StreamingReply(self.pane)
        self.replies.began.connect(self._reply_began)
        self.replies.said.connect(self.composer.reply_label.setText)
        self.replies.heard.connect(self.streaming.hear)
        self.replies.undecided.connect(self._reply_undecided)
        self.composer.changed.connect(self.streaming.put)
        self.composer.shown.connect(self.streaming.reveal)
        self.streaming.out_of_sight.connect(self.composer.offer_show)
        self.replies.ended.connect(self._reply_ended)
        self.replies.failed.connect(self._reply_failed)
        self.replies.placed.connect(self._reply_placed)
        self.replies.shortened.connect(
            lambda text: context.say(Notice(text, "warning", actions=("chat.setup",), key="reply"))
        )
        self.replies.cost_known.connect(lambda cost: cost.ask(context.window))
        self._unwritten = False
        self._gone: str | None = None
        self.pane.delegate.edited.connect(self._edited)
        self.pane.delegate.given_up.connect(self._given_up)
        self.pane.edit_overtaken.connect(self._tell_overtaken)
        # Once the chat as it is now is shown everywhere.
        self.pane.edit_orphaned.connect(self._put_back, Qt.ConnectionType.QueuedConnection)
        context.keep_chat = self.ask_before_leaving
        context.findable.append(self._findable)
        context.place.restored.connect(self._look_at_last_reply)

    def actions(self) -> Iterable[Action]:
        """What can be done."""
        now, chat = self.context, Where.CHAT
        has_chat = now.has_chat
        chosen = has_chat.also(lambda: self.chosen is not None, "Choose a message first.")
        silent = (lambda: not self.replies.busy), "A reply is being written: wait for it, or stop it first."
        return (
            Action(
                "chat.new", "New chat…", "Chat", 0, self._new, icon="plus", tip="Begin a chat that is in no file yet",
                leaves_chat=True,
                when=now.has_project.also(lambda: now.idle() or now.session.runs.replaying, now.idle.why),
            ),
            Action(
                "chat.save", "Save chat", "Chat", 5, self.files.save, ("Ctrl+Alt+S",),
                when=has_chat.also(lambda: self.files.unsaved, "Nothing of the chat is unsaved."), icon="save",
                tip="Write the chat into its file",
            ),
            Action(
                "chat.save_as", "Save chat as…", "Chat", 10, self.files.save_as, ("Ctrl+Alt+Shift+S",), when=has_chat,
                icon="save",
            ),
            Action(
                "chat.setup", "Card, persona and prompt…", "Chat", 15, self.setups.edit, when=now.has_project,
                icon="key", tip="Who the character is and who you are",
            ),
            Action(
                "chat.basis", "What answers rest on…", "Chat/Choices for this chat", 700, self._edit_basis,
                when=has_chat, icon="switches",
                tip="Hidden messages of the past, the text that is searched, and the context size",
            ),
            Action(
                "chat.broken", "Lines that cannot be read…", "Chat", 20, self._show_broken,
                when=has_chat.also(lambda: bool(self._broken()), "All lines of the chat's file can be read."),
                icon="broken",
            ),
            Action(
                "compose.focus", "Write a message", "Chat", 100, self._focus, ("N",), Where.RUNS, has_chat, "pencil"
            ),
            Action(
                "reply.get", "Get a reply", "Chat", 105, self.get_reply, ("R",), chat,
                has_chat.also(*silent), "play", "Have the next reply written",
            ),
            Action(
                "reply.again", "Get another reply", "Chat", 110, lambda: self.get_reply(self._last_reply), ("Shift+R",),
                chat,
                has_chat.also(lambda: self._last_reply is not None, "The last message is no reply.").also(*silent),
                "reload", "A new swipe of the last reply",
            ),
            Action(
                "reply.stop", "Stop writing", "Chat", 115, self.stop, ("Ctrl+Alt+.",), icon="stop",
                when=Need(lambda: self.replies.busy or self.notes.busy, "Nothing is being written."),
            ),
            Action(
                "chat.session_note", "Session note…", "Chat/Choices for this chat", 607, self.notes.show,
                when=has_chat, icon="pencil", tip="Read the last one, and have the next one written",
            ),
            Action("message.edit", "Edit message", "Chat/Message", 200, self.edit, ("Return", "Enter"), chat, chosen,
                "pencil", pane="chat"),
            Action(
                "message.insert", "Insert a message after this one", "Chat/Message", 205, self._insert, ("I",), chat,
                chosen, "plus", pane="chat",
            ),
            Action(
                "message.hide", "Hide from the model, or show", "Chat/Message", 210, self._hide, ("H",), chat,
                chosen, "hidden",
                text=self._hide_words,
            ),
            Action(
                "message.since", "Hidden since…", "Chat/Message", 212, lambda: self._edit_basis(self.chosen),
                when=chosen.also(self._is_hidden, "The message was never hidden."), icon="hidden",
                tip="Say which replies did not see this message",
            ),
            Action("message.delete", "Delete message", "Chat/Message", 215, self._delete, ("Del",), chat, chosen,
                "trash"),
            Action(
                "message.branch", "Branch from here", "Chat/Message", 220, self._branch, ("Shift+B",), chat,
                chosen.also(self._can_branch, "Save the chat into a file first."),
                "graph",
            ),
            Action(
                "swipe.choose", "Go on with this swipe", "Chat/Message", 300,
                partial(self._change_chosen, "swipe {swipe} of #{number}", editing.choose_swipe), ("C",), chat,
                chosen.also(self._can_choose_swipe, "The chat goes on with the swipe that is shown."), "check",
                "Make the swipe that is shown the one that the chat goes on with",
            ),
            Action(
                "swipe.write", "Write another swipe", "Chat/Message", 305, self._write_swipe, ("Shift+N",), chat,
                chosen.also(lambda: self._message is not None and not self._message.is_user, "Choose a reply first."),
                "plus",
            ),
            Action(
                "swipe.delete", "Delete this swipe", "Chat/Message", 310,
                partial(self._change_chosen, "delete swipe {swipe} of #{number}", editing.delete_swipe),
                ("Shift+Del",), chat,
                chosen.also(
                    lambda: self._message is not None and len(self._message.swipes) > 1, "It is the only one there is."
                ), "trash",
            ),
        )  # fmt: skip

    def _findable(self) -> Iterable[Choice]:
        """The messages, by their words."""
        chat = self._session.chat
        for place, message in enumerate(chat.messages if chat is not None else ()):
            title, kind = f"#{place} {message.name}", tr("Message")
            detail = shorten(message.text[: 2 * FOUND_LETTERS], FOUND_LETTERS)
            yield Choice(title, detail, kind, partial(self._look_at, place), name=f"message:{place}", more=message.text)

    def _look_at(self, place: int) -> None:
        self.context.show("chat")
        self.pane.choose(place)

    def places(self) -> Mapping[Where, Sequence[QWidget]]:
        """The messages; what is about runs works in the whole pane."""
        return {Where.CHAT: (self.pane.view,), Where.RUNS: (self.pane,)}

    def begin(self) -> None:
        """Follow the session."""
        context, session, view = self.context, self._session, self.pane.view
        for name, button in self.pane.buttons.items():
            button.setDefaultAction(context.action(name))
        view.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        view.customContextMenuRequested.connect(self._show_menu)
        session.project_changed.connect(self._show_project)
        session.state_changed.connect(self._show_state)
        session.profile_renamed.connect(self._follow_writer)
        session.profiles_changed.connect(self._look_for_writer)
        session.setup_changed.connect(self._show_setup)
        iconed(context.theme, self.composer.reply_button, "play")
        self._show_writers()
        self._show_project()

    def keep_in(self, folder: Path) -> None:
        """Keep versions of chats that are overwritten, and offer what an earlier run could not save."""
        self.files.backups = folder / "chats"
        self.files.offer_kept()

    def save_work(self) -> None:
        """Keep a copy of a chat that is not saved."""
        self.files.keep_copy()

    def ask_before_leaving(self, leave: Leave) -> bool:
        """Ask what becomes of what is written below the chat, and of a chat that is not saved."""
        self.pane.delegate.finish()

        def go() -> None:
            if not self.files.ask_before_leaving(leave):
                leave()

        if begun := self.composer.begun:
            dialogs.confirm(self.context.window, tr("Not in the chat yet"), begun, tr("Throw away"), go)
        return bool(begun) or self.files.ask_before_leaving(leave)

    def ask_before_closing(self, close: Leave) -> bool:
        """The same where no other chat takes its place, once for each state: the window may stay open after all."""

        def leave() -> None:
            self.composer.give_up()
            self.settled = self._session.project
            close()

        asks = bool(self.composer.begun) or self.settled is not self._session.project
        return asks and self.ask_before_leaving(leave)

    def stop(self) -> None:
        """End the reply and the session note that are being written."""
        self.replies.stop()
        self.notes.stop()

    # ---- what there is ----------------------------------------------------------------------------------------------

    @property
    def chosen(self) -> int | None:
        """The message that an action is about."""
        chat, place = self._session.chat, self.context.selection.message
        return place if chat is not None and place is not None and place < len(chat.messages) else None

    @property
    def _message(self) -> Message | None:
        chat, place = self._session.chat, self.chosen
        return chat.messages[place] if chat is not None and place is not None else None

    def _can_choose_swipe(self) -> bool:
        place, chat = self.chosen, self._session.chat
        if place is None or chat is None:
            return False
        message = chat.messages[place]
        return message.swipe != self.pane.model.viewed_swipe(place) < len(message.swipes)

    def _can_branch(self) -> bool:
        project = self._session.project
        return project is not None and project.chat_path is not None

    def _is_hidden(self) -> bool:
        return self._message is not None and self._message.was_hidden

    def _hide_words(self) -> str:
        hidden = self._message is not None and self._message.is_system
        return tr("Show to the model") if hidden else tr("Hide from the model")

    @property
    def _last_reply(self) -> int | None:
        """The last message where it is a reply, so that another can come in its place."""
        chat = self._session.chat
        if chat is None or not chat.messages:
            return None
        place, last = len(chat.messages) - 1, chat.messages[-1]
        return place if place and not last.is_user and last.scannable else None

    @property
    def writer(self) -> str:
        """Who writes replies: "" for the person, or the name of an answer source; the person where that is gone."""
        chosen = str(self.context.settings.value("chat/writer", AnswerKind.STAND_IN.value))
        return BY_HAND if chosen == self._gone else chosen

    @property
    def _writing_source(self) -> Source | None:
        """The answer source that writes replies, None where the person does."""
        return Source.named(self.writer) if self.writer else None

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
        basis = project.basis.followed(project.chat, chat)
        self._session.parts.adjust(title, chat=chat, controls=controls, basis=basis)
        if look_at is not None:
            self.pane.choose(max(0, min(look_at, len(chat.messages))))

    def edit(self, *, new: bool = False) -> None:
        """Edit the chosen message in its place; `new` says that there was nothing of it before, see `_given_up`."""
        place, self._unwritten = self.chosen, new
        if place is not None:
            view = self.pane.view
            view.scrollTo(self.pane.model.index(place))
            view.edit(self.pane.model.index(place))

    def _write(self, text: str, voice: object) -> None:
        chat = self._session.chat
        if chat is None:
            return
        voice = Voice(str(voice))
        name = self._session.project.setup.user_name(chat) if self._session.project and voice is Voice.YOU else ""
        made = editing.append(chat, editing.new_message(chat, text, voice, local_now(), name=name))
        self.change(tr("message #{number}", number=len(chat.messages)), made, len(made.messages))
        self.composer.field.setFocus()
        if voice is Voice.YOU and self.writer and self.context.settings.contains("chat/writer"):
            self.get_reply()

    def _edited(self, place: int, text: str) -> None:
        chat = self._session.chat
        if chat is not None and place < len(chat.messages):
            swipe = self.pane.model.viewed_swipe(place)
            made = editing.edit(chat, place, text, swipe if chat.messages[place].swipes else None)
            self.change(tr("edit of #{number}", number=place), made, place)

    def _tell_overtaken(self, place: int) -> None:
        text = tr(
            "Message #{number} was changed while you edit it. Your text takes the place of the new one; Escape leaves "
            "that as it is.", number=place,
        )  # fmt: skip
        self.context.say(Notice(text, "warning", key="chat"))

    def _put_back(self, place: int, message: Message) -> None:
        """A message was taken out while it was being edited: what was written is a step that brings it back."""
        chat = self._session.chat
        if chat is not None:
            place = min(place, len(chat.messages))
            self.change(tr("edit of #{number}", number=place), editing.insert(chat, place, message), place)
            text = tr("Message #{number} was taken out while you edited it. It is back with your text.", number=place)
            self.context.say(Notice(text, "warning", key="chat"))

    def _given_up(self) -> None:
        """Escape while a new message or swipe is written takes the empty one back, and nothing else."""
        chat, place, newest = self._session.chat, self.chosen, self._session.parts.adjustments.newest
        if not self._unwritten or chat is None or place is None or not isinstance(newest, Adjustment):
            return
        before, after = newest.before.chat, newest.after.chat
        if before is not None and before != after == chat and not chat.messages[place].text:
            self._session.parts.undo()
            self.pane.choose(place - (len(chat.messages) - len(before.messages)))

    def _change_chosen(self, title: str, edited: Callable[[Chat, int, int], Chat], look_on: int = 0) -> None:
        """One step at the chosen message; `edited` is given the chat, its place and the swipe that is shown of it.

        `title` has the place as `{number}` and the swipe as `{swipe}`. So many messages further on is looked at then.
        """
        chat, place = self._session.chat, self.chosen
        if chat is not None and place is not None:
            swipe = self.pane.model.viewed_swipe(place)
            self.change(tr(title, number=place, swipe=swipe + 1), edited(chat, place, swipe), place + look_on)

    def _insert(self) -> None:
        def edited(chat: Chat, place: int, _swipe: int) -> Chat:
            voice = Voice.CHARACTER if chat.messages[place].is_user else Voice.YOU
            return editing.insert(chat, place + 1, editing.new_message(chat, "", voice, local_now()))

        self._change_chosen("message after #{number}", edited, 1)
        self.edit(new=True)

    def _hide(self) -> None:
        hidden = self._message is not None and not self._message.is_system
        title = "hide #{number}" if hidden else "show #{number}"
        self._change_chosen(title, lambda chat, place, _swipe: editing.hide(chat, place, hidden=hidden))

    def _edit_basis(self, message: int | None = None) -> None:
        """Ask what answers about this chat rest on; `message` is one of which something is to be said."""
        from lorestudio.ui.features.chat.basis import BasisDialog

        project = self._session.project
        if project is not None and project.chat is not None:
            dialog = BasisDialog(self.context.theme, project, message, self.context.window)
            title = tr("what answers rest on")
            dialog.chosen.connect(lambda basis: self._session.parts.adjust(title, basis=basis))
            dialog.open()

    def _delete(self) -> None:
        place = self.chosen
        self._change_chosen("delete #{number}", lambda chat, place, _swipe: editing.delete(chat, place))
        self.context.flash(tr("Message #{number} was deleted. {back}", number=place, back=self.context.takes_back))

    def _write_swipe(self) -> None:
        title = "another swipe of #{number}"
        self._change_chosen(title, lambda chat, place, _swipe: editing.add_swipe(chat, place, local_now()))
        self.edit(new=True)

    def _branch(self) -> None:
        project, place = self._session.project, self.chosen
        if project is None or project.chat is None or project.chat_path is None or place is None:
            return
        path, document = project.chat_path, project.document
        if document is None:
            return
        made = editing.branch(project.chat, place, path.stem, local_now())

        def work() -> tuple[Path, str]:
            branch = save_branch(document, made, path.parent)
            keep_basis(basis_path(branch), project.basis.until(len(made.branch.messages)))
            return branch, carry_answers(path, branch)

        def done(written: tuple[Path, str]) -> None:
            branch, remark = written
            if self._session.project is not None and self._session.project.chat is project.chat:
                self.change(tr("mark of the branch at #{number}", number=place), made.original, place)
            text = tr("The branch is in {name}, beside the chat. Open it with “Open chat…”.", name=branch.name)
            told = " ".join(filter(None, (text, remark)))
            self.context.say(Notice(told, "warning" if remark else "good", key="chat", actions=("chat.open",)))

        self._session.jobs.start(
            tr("Making a branch"), lambda _report: work(), done=done, failed=self.context.failing("chat")
        )

    # ---- replies ----------------------------------------------------------------------------------------------------

    def get_reply(self, place: int | None = None) -> None:
        """Have a reply written, or write it: the next one, or a new swipe of the message at a place."""
        source = self._writing_source
        hindrance = next(filter(None, (why(source) for why in self.hindrances)), None) if source is not None else None
        if hindrance is not None:
            self.context.say(hindrance)
        elif source is not None:
            self.replies.start(source, place)
        elif place is not None:
            self.pane.choose(place)
            self._write_swipe()
        else:
            self.composer.voice.setCurrentIndex(self.composer.voice.findData(Voice.CHARACTER))
            self._focus()
            self.context.flash(tr("Write the reply, or choose at “Reply” who writes it."))

    def _offer_writers(self) -> None:
        self.context.uncover("chat")
        self.composer.offer_writers()

    def _choose_writer(self, name: str) -> None:
        self.context.settings.setValue("chat/writer", name)
        self._look_for_writer()

    def _look_for_writer(self) -> None:
        """Fall back on the person where the profile that was chosen is gone, and say so; it stays chosen, for it may
        come back.
        """
        before, self._gone = self._gone, None
        source = self._writing_source
        if source is not None and source.profile and self._session.providers.file.find(source.profile) is None:
            self._gone = source.profile
            text = tr(
                "There is no provider profile called “{name}” any more, so you write replies yourself, until you "
                "choose at “Reply” who writes them.", name=html.escape(source.profile),
            )  # fmt: skip
            self.composer.tell(f"{text} <a href='profiles.edit'>{tr('Provider profiles')}</a>")
        elif before is not None:
            self.composer.tell("")
        self._show_writers()

    def _follow_writer(self, before: str, now: str) -> None:
        if self.writer == before:
            self._choose_writer(now)

    def _show_writers(self) -> None:
        profiles = self._session.providers.file.profiles
        names = [
            (AnswerKind.STAND_IN.value, tr("Offline stand-in: a placeholder, no model is asked")),
            (BY_HAND, tr("I write replies myself")),
            (AnswerKind.RECORDED.value, tr("Recorded replies")),
            *((each.name, f"{each.name} · {each.model}" if each.model else each.name) for each in profiles),
        ]
        self.composer.show_writers(names, self.writer)

    def _reply_began(self) -> None:
        self.context.bars.drop("reply")  # what it says is about the one before
        generation = self.replies.generation
        if generation is not None:
            self.streaming.begin(generation)  # first: what comes next makes the list lower
        self.composer.begin_reply()

    def _reply_undecided(self, sentence: str) -> None:
        self.streaming.undecided()
        self.composer.ask_about(sentence, self.streaming.text)

    def _reply_ended(self) -> None:
        self.streaming.end()
        self.composer.end_reply()
        self.context.update_actions()

    def _reply_placed(self, source: Source) -> None:
        if source.kind is AnswerKind.STAND_IN:
            told = tr("The offline stand-in left a placeholder.")
            doors = (("profiles.edit", tr("Connect a model")), ("message.edit", tr("Edit it")))
            links = " · ".join(f"<a href='{name}'>{title}</a>" for name, title in doors)
            self.composer.tell(f"{told} {links}")
            self.pane.choose(len(self._session.chat.messages) - 1 if self._session.chat is not None else 0)
        else:
            self.notes.say_if_due()

    def _reply_failed(self, sentence: str, another: bool) -> None:
        text = tr("There is no reply. {sentence}", sentence=sentence)
        once_more = "reply.again" if another else "reply.get"
        self.context.say(Notice(text, "error", actions=(once_more, "profiles.edit"), key="reply"))

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
        dialogs.ask_name(self.context.window, tr("New chat"), tr("With whom"), start, named)

    def _focus(self) -> None:
        self.context.uncover("chat")
        self.composer.field.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def _look_at_last_reply(self, same: bool) -> None:
        """The last reply is what people ask about."""
        project = self._session.project
        if same or self._session.renewed or project is None:
            return
        if project.chat is not None:
            replies = [item for item in self._session.generations if item.message < len(project.chat.messages)]
            self.pane.choose(replies[-1].message if replies else len(project.chat.messages))
        self.pane.view.setFocus()

    def _show_menu(self, place: QPoint) -> None:
        view = self.pane.view
        index = view.indexAt(place)
        if index.isValid():
            self.pane.choose(index.row())
        menu = passing_menu(view)
        self.context.commands.fill(menu, self.context.commands.known(self.message_menu))
        menu.popup(view.viewport().mapToGlobal(place))

    def _show_project(self) -> None:
        project = self._session.project
        self.composer.setVisible(self._session.chat is not None)
        if project is None:
            return
        if not self._session.renewed:
            self.setups.restore(project)
            self.composer.field.clear()
        self._show_setup()
        remarks: dict[int, list[str]] = {}
        for each in self._broken():
            remarks.setdefault(each.before, []).append(str(each.line.number))
        words = {
            place: tr("line {numbers} before this cannot be read", numbers=", ".join(numbers))
            for place, numbers in remarks.items()
        }
        self.pane.model.set_remarks(words)

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
        self.pane.note_changed.emit(" · ".join(parts))

    def _show_broken(self) -> None:
        intro = tr("These lines stay in the file as they are. Mend them in a text editor, then reload.")
        lines = [
            tr("Line {number} {problem}:", number=each.line.number, problem=each.line.problem)
            + "\n"
            + shorten(each.line.text, 2000).encode("utf-8", "replace").decode()
            for each in self._broken()
        ]
        dialogs.show_text(self.context.window, tr("Lines that cannot be read"), "\n\n".join((intro, *lines)))
