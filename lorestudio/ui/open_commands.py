"""Opening vaults, chats and the demo from the window."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from lorestudio.ui import dialogs
from lorestudio.ui.command_group import CommandGroup
from lorestudio.ui.words import tr

if TYPE_CHECKING:
    from lorestudio.ui.main_window import MainWindow


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
