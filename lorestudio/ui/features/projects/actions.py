"""Opening vaults, chats, lorebooks and the demo from the window, also by dropping them; the first look at the demo."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Final

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QDropEvent
from PySide6.QtWidgets import QApplication, QDockWidget, QPushButton, QWidget

from lorestudio.domain.file_names import underscored_name
from lorestudio.domain.records import replace
from lorestudio.exchange.chats.loading import chat_of_text
from lorestudio.exchange.chats.sillytavern import LoadedChat
from lorestudio.exchange.problems import Belongs, InputError
from lorestudio.studio.notes.trash import free_name
from lorestudio.studio.project.files import write_bytes
from lorestudio.studio.project.project import DEMO_LOOK, Project, is_demo, opens_as
from lorestudio.studio.project.sillytavern import BroughtChat, FoundChat, SillyTavernFolder, look_into, open_found
from lorestudio.studio.project.tokens import ESTIMATE, NamedTokenizer, tokenizer_files
from lorestudio.trace.model import Outcome, Trace
from lorestudio.ui.features.projects.coach import Coach
from lorestudio.ui.features.projects.start import RecentProject, RecentProjects, StartScreen
from lorestudio.ui.shell.actions import Action
from lorestudio.ui.shell.feature import Context, Feature
from lorestudio.ui.shell.words import Notice, count, tr
from lorestudio.ui.state.project_files import VAULT_CHANGED
from lorestudio.ui.widgets import dialogs
from lorestudio.ui.widgets.dialogs import Dialog
from lorestudio.ui.widgets.layouts import able, column, label, text_field
from lorestudio.ui.widgets.picker import Choice
from lorestudio.vault.files import utc_now

_FILE: Final = "\0file"
"""Stands for a file that is still to be chosen."""

_CHOICES: Final = {
    "vault": ("Open the folder with your notes", ""),
    "chat": ("Open a chat", "Chats (*.jsonl *.json *.txt);;All files (*)"),
    "tokenizer": ("Open a tokenizer's file", "Tokenizers and settings (*.json *.model *.tiktoken);;All files (*)"),
    "book": ("Open a lorebook", "Lorebooks and cards (*.json *.png *.charx *.lorebook);;All files (*)"),
    "sillytavern": ("Choose SillyTavern's folder", ""),
}
"""What is chosen: the dialog's title, and the kinds of files; a folder where there are none."""


def stopped_entry(trace: Trace, title: str = "") -> tuple[int, str] | None:
    """The entry that came furthest without going in, and the stage that stopped it; None where none was stopped.

    One that is called `title` comes before others.
    """
    stopped = [
        (verdict.entry, record.name)
        for record in reversed(trace.stages)
        for verdict in record.verdicts
        if verdict.outcome is Outcome.REMOVED
    ]
    meant = (one for one in stopped if one[0] in trace.entries and trace.entries[one[0]].title == title)
    return next(meant, stopped[0] if stopped else None)


COACHED: Final = "demo/coached"
"""Whether the minute on one note was shown to this person once."""

AT_ONCE: Final = "vault/at_once"
"""Whether this person wants changes on disk to be taken in without asking."""


class ProjectsFeature(Feature):
    """Asks for the place, remembers the folder, and has it read. `start` is what the window shows without a project.

    In the demo it chooses an entry that was stopped, once for each opening: every pane then shows what it is for.
    """

    _first_look_due = False
    _remarked = ""

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._recent = RecentProjects(context.settings)
        self._folder: Path | None = None
        self.coach = Coach(context)
        self._coach_due = False
        self.start = StartScreen(context.theme, context.window)
        self.start.pressed.connect(context.run)
        self.start.wanted.connect(self._open_again)
        self.start.dropped.connect(self._drop_recent)
        self.start.show_recent(self._recent.load())
        self._drops = FileDrops(context.window, context.idle)
        self._drops.dropped.connect(self._take_dropped, Qt.ConnectionType.QueuedConnection)

    def actions(self) -> Iterable[Action]:
        """What can be done."""
        now, reading = self.context, self.context.session.reading
        opens = partial(Action, when=now.idle, leaves_chat=True)
        open_vault = partial(self._ask, "vault", lambda path: self._open([path]))
        open_book = partial(self._ask, "book", lambda path: self._open([path]))
        return (
            opens("vault.open", "Open vault folder…", "File", 0, open_vault, ("Ctrl+Shift+O",), icon="folder"),
            opens("vault.open_obsidian", "Open Obsidian vault…", "File", 5, self._ask_obsidian),
            opens(
                "chat.open", "Open chat…", "File", 10, partial(self._ask, "chat", self._open_chat), ("Ctrl+Alt+O",),
                icon="chat",
            ),
            opens(
                "chat.paste", "Paste a chat…", "File", 12, icon="copy",
                do=lambda: PasteDialog(self._take_text, self.context.window).open(),
                tip="Make a chat of any text in which “Name:” begins a message",
            ),
            opens("projects.recent", "Open recent…", "File", 13, self._ask_recent),
            Action(
                "project.close", "Close and go to the start", "File", 14, reading.close, when=now.project_idle,
                leaves_chat=True, tip="Show what can be opened; nothing of the project is changed",
            ),
            opens("demo.open", "Open the demo", "File", 15, reading.open_demo, icon="lorestudio"),
            Action(
                "project.tokenizer", "Count tokens with…", "Run/System", 247, self._ask_tokenizer,
                when=now.project_idle,
                tip="Choose who counts tokens: as SillyTavern's settings say, a tokenizer, its file, or an estimate",
            ),
            opens(
                "help.coach", "A minute on one note", "Help", 15, self._coach,
                tip="Why a note of the demo was cut, what would bring it in, before and after, and undo",
            ),
            opens(
                "demo.reset", "Reset the demo", "Help", 20, partial(reading.open_demo, reset=True),
                tip="Open the demo as it came with the program; what was done to it is kept beside it",
            ),
            opens(
                "demo.practice", "Practise on a broken copy", "Help", 22, reading.open_practice,
                tip="Open a copy of the demo with three faults, and what its story needs",
            ),
            opens(
                "book.open", "Open lorebook…", "File/Lorebooks", 6, open_book, icon="list",
                tip="A lorebook or a card alone, in the place of a vault: World Info runs over it",
            ),
            opens(
                "sillytavern.open", "Open SillyTavern's folder…", "File", 7,
                partial(self._ask, "sillytavern", self._look_into_sillytavern), icon="server",
                tip="Choose a chat, with what belongs to it; nothing is written there",
            ),
            Action(
                "sillytavern.edit", "Edit SillyTavern's lorebooks", "File/Lorebooks", 7, self._edit_sillytavern,
                when=now.project_idle.also(
                    lambda: (project := now.session.project) is not None and project.read_only and project.of_books,
                    "Open a chat of SillyTavern's folder first.",
                ),
                tip="Have changes of entries written into the lorebooks of the open chat",
            ),
            Action(
                "vault.reload", "Reload from disk", "File", 100, reading.reload, ("Ctrl+Shift+R", "F5"),
                when=now.project_idle, icon="reload", tip="Read the files again; unsaved changes stay",
            ),
            Action(
                "vault.at_once", "Always reload at once", "File", 101, self._take_at_once,
                ticked=lambda: reading.at_once,
                tip="Take in what Obsidian and others write into the vault, and replay, without asking",
            ),
        )  # fmt: skip

    def begin(self) -> None:
        """The panes have chosen a reply to look at by now, whenever a project is shown."""
        for dock in self.context.layout.docks.values():
            self._drops.follow(dock)
        self.context.session.project_changed.connect(self._begin_look)
        self.context.session.project_replaced.connect(self._forget_changes)
        reading = self.context.session.reading
        reading.as_read.connect(lambda: self.context.bars.drop(VAULT_CHANGED))
        reading.taken_in.connect(self.context.flash)
        reading.at_once = str(self.context.settings.value(AT_ONCE, "")) == "true"
        self.context.session.choice_changed.connect(self._forget_remarks)
        self.context.session.traces_changed.connect(lambda _generations: self._look())
        follower = self.context.session.chat_follower
        if follower is not None:
            follower.went_on.connect(self._say_more)
        self.context.status.basis.clicked.connect(lambda: self.context.run("project.tokenizer"))
        self.context.status.stop.clicked.connect(lambda: self.context.run("replay.cancel"))

    def _take_at_once(self) -> None:
        reading = self.context.session.reading
        reading.take_at_once(at_once=not reading.at_once)
        self.context.settings.setValue(AT_ONCE, str(reading.at_once).lower())
        self.context.actions_changed()

    def _forget_changes(self, before: Project | None, now: Project | None, _why: str) -> None:
        if before is None or now is None or before.vault_state is not now.vault_state:  # the vault was read anew
            self.context.bars.drop(VAULT_CHANGED)

    def _forget_remarks(self) -> None:
        """What was remarked of a project is about the system that ran it."""
        system = self.context.session.choice.system
        if system != self._remarked:
            self._remarked = system
            self.context.bars.drop("replayed")

    def _say_more(self, messages: int) -> None:
        if messages > 0:
            more = count(messages, "new message", "new messages")
            self.context.flash(tr("The chat went on: {more}.", more=more))

    def _begin_look(self) -> None:
        session, project = self.context.session, self.context.session.project
        self._first_look_due = project is not None and is_demo(project) and not session.renewed
        if self._first_look_due:
            self.context.selection.choose_message(DEMO_LOOK[0], session.generation_for(DEMO_LOOK[0]))
        if project is not None and not session.renewed:  # what was said of the one before is old
            for key in ("opened", "wrong-file", "replayed"):
                self.context.bars.drop(key)
            self._remarked = session.choice.system
        if project is not None:
            self._recent.add(project)
            self.start.show_recent(self._recent.load())
        self._look()

    def _look(self) -> None:
        selection = self.context.selection
        trace = self.context.session.runs.trace(selection.generation) if self._first_look_due else None
        if trace is not None:
            self._first_look_due = False
            stopped = stopped_entry(trace, DEMO_LOOK[1])
            if stopped is not None and selection.entry is None and selection.left_out is None:
                selection.choose_entry(*stopped)
            if self._coach_due or str(self.context.settings.value(COACHED, "")) != "true":
                self._coach_due = False
                self.context.settings.setValue(COACHED, "true")
                self.coach.begin()

    def _coach(self) -> None:
        """Show the demo, and what one does here in a minute."""
        project = self.context.session.project
        if project is not None and is_demo(project):
            self.coach.begin()
        else:
            self._coach_due = True
            self.context.session.reading.open_demo()

    def _ask_tokenizer(self) -> None:
        """Offer what there is; looking for the files waits for the disk."""
        session, project = self.context.session, self.context.session.project
        if project is None:
            return
        folders = project.counting.folders
        session.jobs.start(
            tr("Looking for tokenizers"),
            lambda _job: list(tokenizer_files(folders)),
            done=lambda found: self._offer(found, project.counting.asked),
            failed=session.fail,
        )

    def _offer(self, found: Sequence[tuple[NamedTokenizer, Path | None]], asked: str) -> None:
        now = tr("chosen now")
        fixed = (
            ("", tr("As SillyTavern's settings say"), tr("by its own rules, from the settings or the chat's folder")),
            (_FILE, tr("A tokenizer's file…"), tr("tokenizer.json, .model, .tiktoken, or SillyTavern's settings")),
            (ESTIMATE, tr("Estimate by script"), tr("without a tokenizer")),
        )
        choices = [Choice(title, detail, now if key == asked else "", key) for key, title, detail in fixed]
        if asked and asked not in {key for key, _, _ in fixed} and asked not in {each.name for each, _ in found}:
            choices.insert(0, Choice(asked, "", now, asked))
        for each, path in sorted(found, key=lambda item: item[1] is None):
            detail = tr("its file is not here: estimated") if path is None else str(path)
            choices.append(Choice(f"{each.name} · {each.title}", detail, now if each.name == asked else "", each.name))
        self.context.pick(tr("Count tokens with"), tr("Name of a tokenizer"), choices, self._count_with)

    def _count_with(self, key: str) -> None:
        count_with = self.context.session.parts.count_with
        if key == _FILE:
            self._ask("tokenizer", lambda path: count_with(str(path)))
        else:
            count_with(key)

    def _ask(self, name: str, chosen: Callable[[Path], object]) -> None:
        """Ask for one of `_CHOICES`, beginning where the last one was."""
        title, filters = map(tr, _CHOICES[name])
        dialogs.choose_again(self.context.window, self.context.settings, name, title, filters, chosen)

    def _remember(self, name: str, folder: Path) -> None:
        self.context.settings.setValue(f"folders/{name}", str(folder))

    def _ask_obsidian(self) -> None:
        dialogs.ask_obsidian(
            self.context.window, lambda place, key: self.context.session.reading.open([place], key=key)
        )

    def _open(self, vaults: Sequence[Path]) -> None:
        """Open vaults or lorebooks; a chat that was opened without lore is what they are opened for, so it stays.

        So does one of SillyTavern's folder for vaults, with all that belongs to it.
        """
        waiting, reading = self.context.session.project, self.context.session.reading
        if waiting is not None and waiting.chat_path is not None and not waiting.places:
            if waiting.read_only and all(path.is_dir() for path in vaults):
                names = ", ".join(path.name for path in vaults)
                reading.open_made(names, lambda: waiting.with_vaults(vaults), lambda: None)
                return
            if not waiting.index.entries:
                reading.open(vaults, waiting.chat_path, waiting.settings_path)
                return
        reading.open(vaults)

    def _open_chat(self, path: Path) -> None:
        if self.context.has_project():
            self.context.session.reading.open_chat(path)
        else:
            self.context.session.reading.open((), path, then=lambda: self._say_lore(path, has_books=False))

    # ---- what is dropped on the window ------------------------------------------------------------------------------

    def _take_dropped(self, paths: Sequence[Path]) -> None:
        """Open files and folders, once they are known to be something and an unsaved chat is decided on."""
        self.context.session.jobs.start(
            tr("Looking into {name}", name=paths[0].name),
            lambda _report: [(path, opens_as(path)) for path in paths],
            done=self._open_dropped,
            failed=self.context.failing("wrong-file", "warning"),
        )

    def _open_dropped(self, found: Sequence[tuple[Path, Belongs]]) -> None:
        chats = [path for path, what in found if what is Belongs.CHAT]
        lore = [path for path, what in found if what is not Belongs.CHAT]
        if len(chats) > 1:
            text = tr("One chat is open at a time. Drop one, alone or with its lore.")
            self.context.say(Notice(text, "warning", key="wrong-file"))
        elif not self.context.keep_chat(go := partial(self._open_dropped_now, chats, lore)):
            go()

    def _open_dropped_now(self, chats: Sequence[Path], lore: Sequence[Path]) -> None:
        if chats and lore:
            self.context.session.reading.open(lore, chats[0])
        elif lore:
            self._open(lore)
        else:
            self._remember("chat", chats[0].parent)
            self._open_chat(chats[0])

    # ---- what was open before ---------------------------------------------------------------------------------------

    def _ask_recent(self) -> None:
        projects = self._recent.load()
        choices = [Choice(one.title, one.detail, "", one) for one in projects]
        none = "" if projects else tr("Nothing was opened yet.")
        self.context.pick(tr("Open recent"), tr("Type a few letters of a vault"), choices, self._open_again, none)

    def _drop_recent(self, project: RecentProject) -> None:
        self._recent.drop(project)
        self.start.show_recent(self._recent.load())

    def _open_again(self, project: RecentProject) -> None:
        if project.missing:
            self._drop_recent(project)
            text = tr("{file} is not there any more, so “{title}” was taken off the list.",
                      file=project.missing, title=project.title)  # fmt: skip
            self.context.say(Notice(text, "warning", actions=("vault.open",), key="recent"))
            return
        chat, settings = (Path(name) if name else None for name in (project.chat, project.settings))
        self.context.session.reading.open(
            project.places, chat, settings, roles=project.roles, read_only=project.read_only
        )

    # ---- a lorebook, a chat of SillyTavern, a pasted one: none needs a vault ----------------------------------------

    def _look_into_sillytavern(self, path: Path) -> None:
        title = tr("Looking into {name}", name=path.name)
        failed = self.context.failing("opened", "warning")
        self.context.session.jobs.start(title, lambda _report: look_into(path), done=self._show_folder, failed=failed)

    def _show_folder(self, found: SillyTavernFolder) -> None:
        from lorestudio.ui.features.projects.folder_dialog import FolderDialog

        dialog = FolderDialog(self.context.theme, found, self.context.window)
        dialog.wanted.connect(lambda what: self._open_found(found, what))
        dialog.open()

    def _edit_sillytavern(self) -> None:
        """Let the lorebooks that belong to the chat be written; the chat stays with what belongs to it."""
        session = self.context.session
        if session.project is not None:
            why = tr("This run is from before the lorebooks could be edited.")
            session.set_project(replace(session.project, read_only=False), renewed=why)
            text = tr("What you save goes into SillyTavern's lorebooks. Reload its page then, or it writes over that.")
            self.context.say(Notice(text, key="opened"))

    def _open_found(self, folder: SillyTavernFolder, what: FoundChat | Path) -> None:
        """Open a lorebook of the folder, or a chat with what belongs to it."""
        session = self.context.session
        if isinstance(what, Path):
            self._remember("book", what.parent)
            self._open([what])
            return
        told: list[BroughtChat] = []

        def make() -> Project:
            told.append(open_found(folder, what))
            return told[0].project

        def done() -> None:
            opened = told[0]
            text = session.replays.take(opened.systems, opened.remarks)
            self._say_lore(what.path, bool(opened.project.books), filter(None, (text, *opened.remarks)))

        session.reading.open_made(what.path.name, make, done)

    def _say_lore(self, path: Path, has_books: bool, remarks: Iterable[str] = ()) -> None:
        """Say how the lore comes to a chat, and what is not there."""
        text = tr("{name} is open, without any lore yet. Open the vault that it used, or a lorebook.", name=path.name)
        if has_books:
            text = tr("{name} is open with its lorebooks. Is its lore in a vault? Open that.", name=path.name)
        self.context.say(Notice(" ".join((text, *remarks)), actions=("vault.open", "book.open"), key="opened"))

    def _take_text(self, text: str, chat: LoadedChat | None) -> None:
        """Keep a pasted chat as a file, so that it is there again at the next start, and open it."""
        folder = self._folder if self._folder is not None else Path(self.context.settings.fileName()).parent
        if chat is None:
            return
        name = chat.chat.character_name or tr("chat")
        suffix = "jsonl" if chat.chat.header else "txt"
        path = folder / "pasted" / f"{underscored_name(name, 'pasted')} {utc_now():%Y-%m-%d %H%M%S}.{suffix}"
        title, failed = tr("Keeping the pasted chat"), self.context.failing("opened")
        self.context.session.jobs.start(
            title, lambda _report: _write_new(path, text), done=self._open_chat, failed=failed
        )

    def keep_in(self, folder: Path) -> None:
        """Pasted chats lie beside what else the window keeps."""
        self._folder = folder.parent


def _write_new(path: Path, text: str) -> Path:
    """Write a file beside what is there already, as where another window pastes at the same time; where it is."""
    place = free_name(path) if path.exists() else path
    write_bytes(place, text.encode("utf-8"))
    return place


class FileDrops(QObject):
    """Takes what comes from other programs, before a field of the window takes its name for a text.

    `dropped` carries the paths, once the other program has its hands free; nothing is taken while not `ready`.
    """

    dropped = Signal(object)

    def __init__(self, window: QWidget, ready: Callable[[], bool]) -> None:
        super().__init__(window)
        self._window, self._ready = window, ready
        window.installEventFilter(self)

    def follow(self, dock: QDockWidget) -> None:
        """Take what is dropped on this dock, too, whenever it is a window of its own."""
        for signal in (dock.topLevelChanged, dock.visibilityChanged):
            signal.connect(lambda _on: self._watch(dock))

    def _watch(self, widget: QWidget) -> None:
        handle = widget.windowHandle()
        if handle is not None:
            handle.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Qt: the system's window, which there is from the first showing on, hears of a drop before its parts do."""
        if watched is self._window:
            if event.type() is QEvent.Type.Show:
                self._window.removeEventFilter(self)
                self._watch(self._window)
            return False
        if not isinstance(event, QDropEvent) or event.source() is not None:
            return False
        paths = [Path(url.toLocalFile()) for url in event.mimeData().urls() if url.isLocalFile()]
        if not paths:
            return False
        if QApplication.activeModalWidget() is not None or not self._ready():
            event.ignore()
            return True
        event.setDropAction(Qt.DropAction.CopyAction)
        event.accept()
        if event.type() is QEvent.Type.Drop:
            self.dropped.emit(paths)
        return True


class PasteDialog(Dialog):
    """Takes a text and says at once what chat it is; `taken` gets both."""

    def __init__(self, taken: Callable[[str, LoadedChat | None], object], parent: QWidget) -> None:
        super().__init__(parent, tr("Paste a chat"), (620, 440))
        placeholder = tr("Wren: The fog is coming in.\nOttoline: Then shut the door, and tell me about the bells.")
        self.field = text_field(self, tr("The chat"), placeholder)
        self.said = label(self)
        self.open_button = QPushButton(tr("Open"), self)
        intro = tr("One message after another, each beginning with “Name:”. Lines of a SillyTavern chat work too.")
        column(label(self, intro, "muted"), (self.field, 1), self.said, self.answers(self.open_button), of=self)
        self._chat: LoadedChat | None = None
        self.field.textChanged.connect(self._read)
        self.accepted.connect(lambda: taken(self.field.toPlainText(), self._chat))
        self._read()

    def lost(self) -> str:
        """See `Dialog`."""
        return tr("The text would be lost.") if self.field.toPlainText().strip() else ""

    def _read(self) -> None:
        text, self._chat = self.field.toPlainText(), None
        try:
            self._chat = chat_of_text(text, tr("the text")) if text.strip() else None
        except InputError as error:
            self.said.setText(error.message)
        if self._chat is not None:
            messages = self._chat.chat.messages
            names = list(dict.fromkeys(message.name for message in messages if message.name))
            self.said.setText(tr("{messages} of {names}.", names=", ".join(names) or tr("nobody"),
                                 messages=count(len(messages), "message", "messages")))  # fmt: skip
        elif not text.strip():
            self.said.setText(tr("Nothing pasted yet."))
        may = self._chat is not None and bool(self._chat.chat.messages)
        able(self.open_button, may, tr("Paste a text with messages first."))
