"""Opening vaults, chats and the demo from the window, and what is looked at first in the demo."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

from lorestudio.domain.resources import resource
from lorestudio.studio.project.tokens import ESTIMATE, NamedTokenizer, tokenizer_files
from lorestudio.trace.model import Outcome, Trace
from lorestudio.ui.shell.actions import Action
from lorestudio.ui.shell.feature import Feature
from lorestudio.ui.shell.words import tr
from lorestudio.ui.widgets import dialogs
from lorestudio.ui.widgets.picker import Choice

_FILE: Final = "\0file"
"""Stands for a file that is still to be chosen."""


def stopped_entry(trace: Trace) -> tuple[int, str] | None:
    """The entry that came furthest without going in, and the stage that stopped it; None where none was stopped."""
    for record in reversed(trace.stages):
        for verdict in record.verdicts:
            if verdict.outcome is Outcome.REMOVED:
                return verdict.entry, record.name
    return None


class ProjectsFeature(Feature):
    """Asks for the place, remembers the folder, and has it read.

    In the demo it chooses an entry that was stopped, once for each opening: every pane then shows what it is for.
    """

    _first_look_due = False

    def actions(self) -> Iterable[Action]:
        """What can be done."""
        now, reading = self.context, self.context.session.reading
        return (
            Action(
                "vault.open", "Open vault folder…", "File", 0, self._ask_vault, ("Ctrl+Shift+O",), when=now.idle,
                icon="folder", leaves_chat=True,
            ),
            Action(
                "vault.open_obsidian", "Open Obsidian vault…", "File", 5, self._ask_obsidian, when=now.idle,
                leaves_chat=True,
            ),
            Action(
                "chat.open", "Open chat…", "File", 10, self._ask_chat, ("Ctrl+Alt+O",), when=now.project_idle,
                icon="chat", leaves_chat=True,
            ),
            Action(
                "demo.open", "Open the demo", "File", 15, reading.open_demo, when=now.idle, icon="lorestudio",
                leaves_chat=True,
            ),
            Action(
                "project.tokenizer", "Count tokens with…", "Run", 247, self._ask_tokenizer, when=now.project_idle,
                tip="Choose who counts tokens: as SillyTavern's settings say, a tokenizer, its file, or an estimate",
            ),
            Action(
                "vault.reload", "Reload from disk", "File", 100, reading.reload, ("Ctrl+Shift+R", "F5"),
                when=now.project_idle, icon="reload", leaves_chat=True,
            ),
        )  # fmt: skip

    def begin(self) -> None:
        """The panes have chosen a reply to look at by now, whenever a project is shown."""
        self.context.session.project_changed.connect(self._begin_look)
        self.context.session.traces_changed.connect(lambda _generations: self._look())
        self.context.status.basis.clicked.connect(lambda: self.context.run("project.tokenizer"))

    def _begin_look(self) -> None:
        session, project = self.context.session, self.context.session.project
        path = project.chat_path if project is not None else None
        self._first_look_due = path is not None and path.is_relative_to(resource("demo")) and not session.renewed
        self._look()

    def _look(self) -> None:
        selection = self.context.selection
        trace = self.context.session.runs.trace(selection.generation) if self._first_look_due else None
        if trace is not None:
            self._first_look_due = False
            stopped = stopped_entry(trace)
            if stopped is not None and selection.entry is None and selection.left_out is None:
                selection.choose_entry(*stopped)

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
        if key != _FILE:
            self.context.session.parts.count_with(key)
            return
        start = str(self.context.settings.value("folders/tokenizer", ""))
        filters = tr("Tokenizers and settings (*.json *.model *.tiktoken);;All files (*)")
        dialogs.choose_file(self.context.window, tr("Open a tokenizer's file"), start, filters, self._count_with_file)

    def _count_with_file(self, path: Path) -> None:
        self.context.settings.setValue("folders/tokenizer", str(path.parent))
        self.context.session.parts.count_with(str(path))

    def _ask_obsidian(self) -> None:
        dialogs.ask_obsidian(
            self.context.window, lambda place, key: self.context.session.reading.open([place], key=key)
        )

    def _ask_vault(self) -> None:
        start = str(self.context.settings.value("folders/vault", ""))
        dialogs.choose_folder(self.context.window, tr("Open the folder with your notes"), start, self._open_vault)

    def _open_vault(self, path: Path) -> None:
        self.context.settings.setValue("folders/vault", str(path))
        self.context.session.reading.open([path])

    def _ask_chat(self) -> None:
        start = str(self.context.settings.value("folders/chat", ""))
        filters = tr("Chats (*.jsonl *.json *.txt);;All files (*)")
        dialogs.choose_file(self.context.window, tr("Open a chat"), start, filters, self._open_chat)

    def _open_chat(self, path: Path) -> None:
        self.context.settings.setValue("folders/chat", str(path.parent))
        self.context.session.reading.open_chat(path)
