"""Card, persona and frame of the prompts in the window: asked for in a dialog, remembered for each chat."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from PySide6.QtCore import QObject, QSettings, Qt
from PySide6.QtWidgets import QWidget
from shiboken6 import isValid

from lorestudio.exchange.character_card import load_card
from lorestudio.exchange.chat_preset import load_preset
from lorestudio.exchange.group_file import load_group
from lorestudio.exchange.regex_scripts import load_scripts
from lorestudio.studio.keeping import chat_id
from lorestudio.studio.project import Project
from lorestudio.studio.prompt_keeping import kept_setup, restored, spelled
from lorestudio.studio.prompt_setup import PromptSetup
from lorestudio.ui import dialogs
from lorestudio.ui.notices import Notice
from lorestudio.ui.prompt_setup_dialog import PromptSetupDialog, Source
from lorestudio.ui.session import Session
from lorestudio.ui.words import sentence_of, tr


@dataclass(frozen=True, slots=True)
class _Kind:
    """How a file of a kind is asked for and read."""

    title: str
    filters: str
    reading: str
    load: Callable[[Path], object]


_KINDS: Final = {
    Source.CARD: _Kind(
        "Choose a character card", "Character cards (*.png *.json);;All files (*)", "Reading the card", load_card
    ),
    Source.PRESET: _Kind(
        "Choose a preset of chat completion, or SillyTavern's settings.json",
        "Presets (*.json *.settings);;All files (*)",
        "Reading the preset",
        load_preset,
    ),
    Source.REGEX: _Kind(
        "Choose regex scripts, or SillyTavern's settings.json",
        "Regex scripts (*.json);;All files (*)",
        "Reading the regex scripts",
        load_scripts,
    ),
    Source.GROUP: _Kind(
        "Choose a file of SillyTavern's groups folder",
        "Groups (*.json);;All files (*)",
        "Reading the group",
        load_group,
    ),
}


class PromptSetups(QObject):
    """What was chosen for each chat lies in the window's settings; a card is read again when its chat is opened."""

    def __init__(self, window: QWidget, session: Session, settings: QSettings, say: Callable[[Notice], None]) -> None:
        super().__init__(window)
        self._window, self._session, self._settings, self._say = window, session, settings, say

    def edit(self) -> PromptSetupDialog | None:
        """Ask for card, persona and the frame of the prompts."""
        project = self._session.project
        if project is None:
            return None
        user = project.chat.user_name if project.chat is not None else ""
        dialog = PromptSetupDialog(project.setup, user, project.chat_path, self._window)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.chosen.connect(self._take_setup)
        dialog.file_wanted.connect(lambda source: self._ask_file(dialog, Source(source)))
        dialog.open()
        return dialog

    def _ask_file(self, dialog: PromptSetupDialog, source: Source) -> None:
        kind = _KINDS[source]
        folder = f"folders/{source.value}"
        start = str(self._settings.value(folder, ""))

        def chosen(path: Path) -> None:
            self._settings.setValue(folder, str(path.parent))
            self._session.jobs.start(
                tr(kind.reading),
                lambda _report: kind.load(path),
                done=lambda content: dialog.take(content, path) if isValid(dialog) else None,
                failed=lambda error: dialog.refuse(error) if isValid(dialog) else self._failed(error),
            )

        dialogs.choose_file(self._window, tr(kind.title), start, tr(kind.filters), chosen)

    def _take_setup(self, setup: object) -> None:
        project = self._session.project
        if project is not None and isinstance(setup, PromptSetup):
            self._settings.setValue(f"prompts/{chat_id(project)}", spelled(setup))
            self._session.parts.take_setup(setup)

    def restore(self, project: Project) -> None:
        """What was chosen for this chat before; its files are read again."""
        text = str(self._settings.value(f"prompts/{chat_id(project)}", ""))
        if not text or project.setup != PromptSetup():
            return
        kept = kept_setup(text)

        def done(found: tuple[PromptSetup, tuple[str, ...]]) -> None:
            setup, problems = found
            now = self._session.project
            if now is not None and chat_id(now) == chat_id(project) and now.setup == PromptSetup():
                self._session.parts.take_setup(setup)
            if problems:
                self._say(Notice(" ".join(problems), "error", key="card"))

        if not kept.names_files:
            done(restored(kept, project.chat_path))
            return
        self._session.jobs.start(
            tr("Reading what the prompt is made of"),
            lambda _report: restored(kept, project.chat_path),
            done=done,
            failed=self._failed,
        )

    def _failed(self, error: Exception) -> None:
        self._say(Notice(sentence_of(error), "error", key="card"))
