"""Opening vaults, chats and the demo from the window.

What is looked at first, where nobody has chosen anything yet.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from lorestudio.domain.resources import resource
from lorestudio.trace.model import Outcome, Trace
from lorestudio.ui.shell.command_group import CommandGroup
from lorestudio.ui.shell.words import tr
from lorestudio.ui.state.selection import Selection
from lorestudio.ui.state.session import Session
from lorestudio.ui.widgets import dialogs

if TYPE_CHECKING:
    from lorestudio.ui.shell.main_window import MainWindow


def stopped_entry(trace: Trace) -> tuple[int, str] | None:
    """The entry that came furthest without going in, and the stage that stopped it; None where none was stopped."""
    for record in reversed(trace.stages):
        for verdict in record.verdicts:
            if verdict.outcome is Outcome.REMOVED:
                return verdict.entry, record.name
    return None


class FirstLook(QObject):
    """In the demo, chooses an entry that was stopped: every pane then shows what it is for. Once for each opening."""

    def __init__(self, session: Session, selection: Selection, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._session, self._selection = session, selection
        self._due = False
        session.project_changed.connect(self._begin)
        session.traces_changed.connect(lambda _generations: self._look())

    def _begin(self) -> None:
        project = self._session.project
        path = project.chat_path if project is not None else None
        self._due = path is not None and path.is_relative_to(resource("demo")) and not self._session.renewed
        self._look()

    def _look(self) -> None:
        trace = self._session.runs.trace(self._selection.generation) if self._due else None
        if trace is None:
            return
        self._due = False
        stopped = stopped_entry(trace)
        if stopped is not None and self._selection.entry is None and self._selection.left_out is None:
            self._selection.choose_entry(*stopped)


class OpenCommands(CommandGroup):
    """Asks for the place, remembers the folder, and has it read."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._reading, self._settings = window.session.reading, window.settings

    def handlers(self) -> dict[str, Callable[[], object]]:
        """What each action does."""
        return {
            "vault.open": self._ask_vault,
            "vault.open_obsidian": lambda: dialogs.ask_obsidian(self._window, self._open_obsidian),
            "vault.reload": self._reading.reload,
            "chat.open": self._ask_chat,
            "demo.open": self._reading.open_demo,
        }

    def _ask_vault(self) -> None:
        start = str(self._settings.value("folders/vault", ""))
        dialogs.choose_folder(self._window, tr("Open the folder with your notes"), start, self._open_vault)

    def _open_obsidian(self, place: str, key: str) -> None:
        self._reading.open([place], key=key)

    def _open_vault(self, path: Path) -> None:
        self._settings.setValue("folders/vault", str(path))
        self._reading.open([path])

    def _ask_chat(self) -> None:
        start = str(self._settings.value("folders/chat", ""))
        filters = tr("Chats (*.jsonl *.json *.txt);;All files (*)")
        dialogs.choose_file(self._window, tr("Open a chat"), start, filters, self._open_chat)

    def _open_chat(self, path: Path) -> None:
        self._settings.setValue("folders/chat", str(path.parent))
        self._reading.open_chat(path)
