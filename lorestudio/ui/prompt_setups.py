"""Card, persona and frame of the prompts in the window: asked for in a dialog, remembered for each chat."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from PySide6.QtCore import QObject, QSettings, Qt
from PySide6.QtWidgets import QWidget

from lorestudio.exchange.character_card import load_card
from lorestudio.studio.keeping import chat_id
from lorestudio.studio.project import Project
from lorestudio.studio.prompt_setup import MAIN_PROMPT, REPLY_TOKENS, Persona, PromptSetup
from lorestudio.ui import dialogs
from lorestudio.ui.notices import Notice
from lorestudio.ui.prompt_setup_dialog import PromptSetupDialog
from lorestudio.ui.session import Session
from lorestudio.ui.words import sentence_of, tr


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
        dialog = PromptSetupDialog(project.setup, user, self._window)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.chosen.connect(self._take_setup)
        dialog.card_wanted.connect(lambda: self._ask_card(dialog))
        dialog.open()
        return dialog

    def _ask_card(self, dialog: PromptSetupDialog) -> None:
        start = str(self._settings.value("folders/card", ""))
        filters = tr("Character cards (*.png *.json);;All files (*)")

        def chosen(path: Path) -> None:
            self._settings.setValue("folders/card", str(path.parent))
            self._session.jobs.start(
                tr("Reading the card"),
                lambda _report: load_card(path),
                done=lambda card: dialog.take_card(card, path),
                failed=self._failed,
            )

        dialogs.choose_file(self._window, tr("Choose a character card"), start, filters, chosen)

    def _take_setup(self, setup: object) -> None:
        project = self._session.project
        if project is not None and isinstance(setup, PromptSetup):
            self._settings.setValue(f"prompts/{chat_id(project)}", _spelled(setup))
            self._session.take_setup(setup)

    def restore(self, project: Project) -> None:
        """What was chosen for this chat before; the card is read again."""
        kept = str(self._settings.value(f"prompts/{chat_id(project)}", ""))
        if not kept or project.setup != PromptSetup():
            return
        setup, path = _read(kept)

        def done(card: object) -> None:
            now = self._session.project
            if now is not None and chat_id(now) == chat_id(project) and now.setup == PromptSetup():
                self._session.take_setup(card if isinstance(card, PromptSetup) else setup)

        def failed(error: Exception) -> None:
            done(setup)
            self._failed(error)

        if path is None:
            done(setup)
            return
        found = path
        self._session.jobs.start(
            tr("Reading the card"),
            lambda _report: _with_card(setup, found),
            done=done,
            failed=failed,
        )

    def _failed(self, error: Exception) -> None:
        self._say(Notice(sentence_of(error), "error", key="card"))


def _with_card(setup: PromptSetup, path: Path) -> PromptSetup:
    return replace(setup, card=load_card(path), card_path=path)


def _spelled(setup: PromptSetup) -> str:
    return json.dumps(
        {
            "card": str(setup.card_path) if setup.card_path is not None else "",
            "name": setup.persona.name,
            "persona": setup.persona.text,
            "main": "" if setup.main == MAIN_PROMPT else setup.main,
            "post_history": setup.post_history,
            "context": setup.context_size,
            "reply": setup.reply_tokens,
        }
    )


def _read(text: str) -> tuple[PromptSetup, Path | None]:
    """What was kept; what cannot be read counts as not chosen."""
    try:
        kept = json.loads(text)
    except ValueError:
        return PromptSetup(), None
    if not isinstance(kept, dict):
        return PromptSetup(), None
    texts = {name: value for name, value in kept.items() if isinstance(value, str)}
    numbers = {name: value for name, value in kept.items() if isinstance(value, int) and value >= 0}
    setup = PromptSetup(
        persona=Persona(texts.get("name", ""), texts.get("persona", "")),
        main=texts.get("main") or MAIN_PROMPT,
        post_history=texts.get("post_history", ""),
        context_size=numbers.get("context", 0),
        reply_tokens=numbers.get("reply") or REPLY_TOKENS,
    )
    return setup, Path(texts["card"]) if texts.get("card") else None
