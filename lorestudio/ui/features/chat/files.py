"""The chat's file in the window: saving it when asked, saving it elsewhere, and asking before it is left unsaved."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, QSettings
from PySide6.QtWidgets import QWidget

from lorestudio.domain.file_names import free_name, note_name, same_name
from lorestudio.domain.records import replace
from lorestudio.domain.resources import resource
from lorestudio.exchange.chats.document import ChatDocument, ChatFormat
from lorestudio.settings.files import READ_AT_MOST, read_whole
from lorestudio.studio.chat.saving import (
    ChatChangedError,
    ChatLosesError,
    ChatToSave,
    SavedChat,
    carry_answers,
    save_chat,
)
from lorestudio.studio.project.files import write_bytes
from lorestudio.studio.project.project import Project
from lorestudio.ui.features.chat.reply import local_now
from lorestudio.ui.shell.words import Notice, sentence_of, tr
from lorestudio.ui.state.session import Session
from lorestudio.ui.widgets import dialogs


class ChatFiles(QObject):
    """Writes the chat that is open, only when it is told to. `say` shows a notice."""

    def __init__(self, window: QWidget, session: Session, settings: QSettings, say: Callable[[Notice], None]) -> None:
        super().__init__(window)
        self._window, self._session, self._settings, self._say = window, session, settings, say
        self.backups: Path | None = None
        self._copy: Path | None = None

    @property
    def unsaved(self) -> bool:
        """Whether the chat, or what was chosen for it, is not as it stands in its file."""
        project, disk = self._session.project, self._session.parts.on_disk
        if project is None or project.chat is None or disk is None:
            return False
        return project.chat != disk.chat or project.controls != disk.controls

    def save(self, then: Callable[[], object] | None = None) -> None:
        """Write the chat into its file; ask for one where it has none, and for a demo."""
        project = self._session.project
        if project is None or project.chat is None:
            return
        path = project.chat_path
        if path is None or path.is_relative_to(resource("demo")):
            self.save_as(then)
        else:
            self._write(path, then)

    def save_as(self, then: Callable[[], object] | None = None) -> None:
        """Ask for a file, and write the chat into it."""
        project = self._session.project
        if project is None or project.chat is None:
            return

        def chosen(path: Path) -> None:
            self._settings.setValue("folders/chat", str(path.parent))
            self._write(path, then, elsewhere=True, overwrite=True)  # the dialog has asked

        self._ask_file(self._name(project), chosen, tr("Plain text (*.txt)"), tr("All files (*)"))

    def _ask_file(self, name: str, chosen: Callable[[Path], None], *filters: str) -> None:
        """Ask for a file where chats were saved last; `filters` are kinds besides that of SillyTavern's chats."""
        start = Path(str(self._settings.value("folders/chat", ""))) / name
        kinds = ";;".join((tr("SillyTavern chat (*.jsonl)"), *filters))
        dialogs.choose_new_file(self._window, tr("Save the chat as"), str(start), kinds, "jsonl", chosen)

    def ask_before_leaving(self, go: Callable[[], object]) -> bool:
        """Ask what becomes of an unsaved chat before `go`; False where there is nothing to ask."""
        if self.unsaved:
            dialogs.ask_either(
                self._window, tr("Unsaved chat"), tr("The chat has changes that are not in its file."),
                tr("Messages that you wrote, edits, or what you chose for this chat."),
                (tr("Save chat"), partial(self.save, go)), (tr("Throw away"), partial(self._throw_away, go)),
            )  # fmt: skip
        return self.unsaved

    # ---- after a fault ----------------------------------------------------------------------------------------------

    def keep_copy(self) -> None:
        """Write a chat that is not saved to where the next start offers it."""
        project, folder = self._session.project, self._unsaved
        if project is None or project.chat is None or folder is None or not self.unsaved:
            return
        wanted = ChatToSave(project.document or ChatDocument(), project.chat, project.controls, project.index.folders)
        others = {same_name(each.name): 1 for each in folder.glob("*")}  # of chats that nobody asked for yet
        path = self._copy = self._copy or folder / free_name(Path(self._name(project)).stem, ".jsonl", others)
        self._session.jobs.start(
            tr("Keeping the chat"),
            lambda _report: save_chat(wanted, path, None, local_now(), elsewhere=True, overwrite=True, lossy=True),
        )

    def offer_kept(self) -> None:
        """Ask what becomes of a chat that an earlier run kept; it stays where nobody answers."""
        kept = next(iter(sorted(self._unsaved.glob("*.jsonl"))), None) if self._unsaved is not None else None
        if kept is not None:
            dialogs.ask_either(
                self._window, tr("Unsaved chat"),
                tr("The chat {name} had unsaved changes when something went wrong.", name=kept.name),
                tr("It was kept as {path}.", path=kept),
                (tr("Save as…"), partial(self._save_kept, kept)),
                (tr("Throw away"), partial(kept.unlink, missing_ok=True)),
            )  # fmt: skip

    def _throw_away(self, go: Callable[[], object]) -> None:
        self._forget_copy()
        go()

    def _forget_copy(self) -> None:
        """The chat was saved or given up, so the next start need not offer it."""
        if self._copy is not None:
            self._copy.unlink(missing_ok=True)
            self._copy = None

    def _save_kept(self, kept: Path) -> None:
        def moved(path: Path) -> None:
            write_bytes(path, read_whole(kept, READ_AT_MOST))
            kept.unlink()

        def chosen(path: Path) -> None:
            self._session.jobs.start(
                tr("Saving the chat"), lambda _report: moved(path),
                failed=lambda error: self._say(Notice(sentence_of(error), "error", key="chat")),
            )  # fmt: skip

        self._ask_file(kept.name, chosen)

    @property
    def _unsaved(self) -> Path | None:
        """The folder of chats that could not be saved."""
        return self.backups.with_name("unsaved-chats") if self.backups is not None else None

    def _name(self, project: Project) -> str:
        if project.chat_path is not None:
            return project.chat_path.name
        name = project.chat.character_name if project.chat is not None else ""
        return f"{note_name(name, tr('chat'))}.jsonl"

    def _write(
        self,
        path: Path,
        then: Callable[[], object] | None,
        *,
        elsewhere: bool = False,
        overwrite: bool = False,
        lossy: bool = False,
    ) -> None:
        session, project = self._session, self._session.project
        if project is None or project.chat is None:
            return
        chat, controls = project.chat, project.controls
        document = project.document or ChatDocument()
        # A text that is saved under the name that it has stays what it is.
        elsewhere = elsewhere and path != project.chat_path
        wanted = ChatToSave(document, chat, controls, project.index.folders)
        lossy = lossy or (document.format is ChatFormat.PLAIN_TEXT and not elsewhere and not _gained(project))

        def work() -> SavedChat:
            saved = save_chat(
                wanted, path, self.backups, local_now(), elsewhere=elsewhere, overwrite=overwrite, lossy=lossy
            )
            remark = carry_answers(project.chat_path, path) if project.chat_path is not None else ""
            return replace(saved, remarks=(*saved.remarks, remark)) if remark else saved

        def done(saved: SavedChat) -> None:
            self._forget_copy()
            session.parts.chat_saved(saved.path, saved.document, chat, controls)
            kept = tr(" The version before it is kept in {folder}.", folder=saved.backup.parent) if saved.backup else ""
            text = tr("The chat was saved to {name}.", name=saved.path.name) + kept
            self._say(Notice(" ".join((text, *saved.remarks)), "warning" if saved.remarks else "good", key="chat"))
            if then is not None:
                then()

        def failed(error: Exception) -> None:
            again = {"overwrite": overwrite, "lossy": lossy}
            if isinstance(error, ChatChangedError):
                title, more = tr("The chat file was changed"), str(error.message)
                other, anyway, again["overwrite"] = tr("Save as…"), tr("Overwrite"), True
            elif isinstance(error, ChatLosesError):
                title, more = tr("Plain text cannot hold all of this chat"), "\n".join(error.losses)
                other, anyway, again["lossy"] = tr("Choose another file…"), tr("Save as text anyway"), True
            else:
                self._say(Notice(sentence_of(error), "error", key="chat"))
                return
            write = partial(self._write, path, then, elsewhere=elsewhere, **again)
            dialogs.ask_either(self._window, title, f"{title}.", more, (other, self.save_as), (anyway, write))

        session.jobs.start(tr("Saving the chat"), lambda _report: work(), done=done, failed=failed)


def _gained(project: Project) -> bool:
    """Whether a chat of a plain text has got what such a text cannot hold."""
    chat = project.chat
    return chat is not None and any(len(each.swipes) > 1 or each.is_system for each in chat.messages)
