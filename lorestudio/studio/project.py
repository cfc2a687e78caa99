"""A project: vaults, a chat and settings, read together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from lorestudio.domain.chat import Chat
from lorestudio.domain.entry import VaultIndex
from lorestudio.domain.javascript import Json
from lorestudio.domain.state import ChatControls
from lorestudio.domain.tokens import CHARS_4, TokenCounter
from lorestudio.exchange.chat_metadata import existing_folders, read_controls
from lorestudio.exchange.chats import load_chat
from lorestudio.settings import Behaviour, DeepLoreSettings, load, sanitise
from lorestudio.studio.resources import resource
from lorestudio.vault import build_index, read_folder

_SWITCHED_ON: Final[dict[str, Json]] = {"enabled": True}
"""DeepLore itself starts switched off; whoever opens the studio wants to see it work."""


@dataclass(frozen=True, slots=True)
class Project:
    """A snapshot of everything that a run reads; a change makes a new one.

    `seed` begins the chat's stream of random numbers. `problems` are sentences for the person.
    """

    vault_folders: tuple[Path, ...]
    index: VaultIndex
    settings: DeepLoreSettings
    chat: Chat | None = None
    chat_path: Path | None = None
    settings_path: Path | None = None
    controls: ChatControls = field(default_factory=ChatControls)
    behaviour: Behaviour = field(default_factory=Behaviour)
    seed: int = 0
    counter: TokenCounter = CHARS_4
    problems: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The vaults' names, as a title."""
        return " + ".join(self.index.vaults) or "untitled"

    def with_chat(self, path: Path) -> Project:
        """The same project with another chat. Raises InputError where it cannot be used."""
        loaded = load_chat(path)
        controls = read_controls(loaded.chat.metadata)
        folders = existing_folders(controls.folders, self.index.folders)
        problems = [f"{path.name}: {problem}" for problem in loaded.problems]
        if folders != controls.folders:
            gone = ", ".join(folder for folder in controls.folders if folder not in folders)
            problems.append(f"{path.name}: the folder filter names folders that the vault does not have: {gone}.")
        return replace(
            self,
            chat=loaded.chat,
            chat_path=path,
            controls=replace(controls, folders=folders),
            problems=(*self.problems, *problems),
        )

    def reloaded(self) -> Project:
        """The project read from disk again."""
        return open_project(self.vault_folders, self.chat_path, self.settings_path, seed=self.seed)


def open_project(
    vaults: Sequence[Path], chat: Path | None = None, settings: Path | None = None, seed: int = 0
) -> Project:
    """Read vaults, chat and settings.

    Notes that cannot be read are part of the index as such. Raises InputError, SettingsError or VaultError (all with a
    sentence for the person) where the chat, the settings or a vault's folder cannot be used at all.
    """
    loaded = load(settings) if settings is not None else sanitise(_SWITCHED_ON)
    problems = list(loaded.problems)
    values = loaded.settings
    if not values.enabled:
        values = values.model_copy(update={"enabled": True})
        problems.append("DeepLore is switched off in these settings; the studio simulates it as switched on.")
    folders = tuple(path.expanduser().resolve() for path in vaults)
    index = build_index([read_folder(folder) for folder in folders], values, CHARS_4)
    problems += index.field_errors
    project = Project(folders, index, values, settings_path=settings, seed=seed, problems=tuple(problems))
    return project if chat is None else project.with_chat(chat.expanduser().resolve())


def demo_project() -> Project:
    """The vault, chat and settings that come with the program."""
    demo = resource("demo")
    return open_project([demo / "vault"], demo / "chat.jsonl", demo / "settings.json", seed=DEMO_SEED)


DEMO_SEED: Final = 3
"""Chosen so that each of the demo chat's probability notes loses a roll and wins one (see resources/demo/STORY.md)."""
