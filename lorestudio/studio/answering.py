"""Who answers for the model: the offline stand-in, recorded answers, or a provider whose answers are recorded."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import platformdirs

from lorestudio.domain.javascript import Json
from lorestudio.exchange.problems import InputError
from lorestudio.llm.answers import LiveAnswers
from lorestudio.llm.clients import client_for
from lorestudio.llm.messages import ChatRequest
from lorestudio.llm.profiles import Profile, load_profiles
from lorestudio.llm.protocol import AnswerSource
from lorestudio.llm.recorded import RecordedAnswers, answers_path
from lorestudio.llm.stand_in import StandInAnswers
from lorestudio.settings import dump, sanitise
from lorestudio.studio.project import Project

STAND_IN: Final = "stand-in"
RECORDED: Final = "recorded"

MODES: Final[dict[str, dict[str, Json]]] = {
    "keywords-only": {"aiSearchEnabled": False},
    "two-stage": {"aiSearchEnabled": True, "aiSearchMode": "two-stage"},
    "ai-only": {"aiSearchEnabled": True, "aiSearchMode": "ai-only"},
}
"""The three ways to select, with the two settings that DeepLore keeps them in."""


@dataclass(frozen=True, slots=True)
class Answering:
    """An answer source with its model. `live` is whether asking it may cost something; `holds` says what is free."""

    source: AnswerSource
    model: str = ""
    live: bool = False
    holds: Callable[[ChatRequest], bool] | None = None


def profiles_path() -> Path:
    """The file of the person's provider profiles."""
    return platformdirs.user_config_path("lorestudio") / "profiles.json"


def answering(choice: str, project: Project, profiles: Path | None = None) -> Answering:
    """The answer source of this name: `stand-in`, `recorded`, or a profile, whose answers are recorded beside the chat.

    Raises InputError for an unknown profile, and for recorded answers without a chat file. Waits for the disk.
    """
    if choice == STAND_IN:
        return Answering(StandInAnswers())
    if choice == RECORDED:
        recorded = RecordedAnswers(_recording(project))
        recorded.load()
        return Answering(recorded, holds=recorded.holds)
    profile = _profile(choice, profiles or profiles_path())
    live = LiveAnswers(client_for(profile))
    if project.chat_path is None:
        return Answering(live, profile.model, live=True)
    recorded = RecordedAnswers(_recording(project), live)
    recorded.load()
    return Answering(recorded, profile.model, live=True, holds=recorded.holds)


def with_mode(project: Project, mode: str) -> Project:
    """The project with another way to select. Raises InputError for an unknown one."""
    if mode not in MODES:
        raise InputError("mode", f"there is no mode “{mode}”. There are: {', '.join(MODES)}.")
    return replace(project, settings=sanitise({**dump(project.settings), **MODES[mode]}).settings)


def _recording(project: Project) -> Path:
    if project.chat_path is None:
        raise InputError("answers", "recorded answers lie beside a chat, and there is no chat. Open one first.")
    return answers_path(project.chat_path)


def _profile(name: str, path: Path) -> Profile:
    found = load_profiles(path)
    profile = found.find(name)
    if profile is None:
        known = ", ".join(profile.name for profile in found.profiles) or "none yet"
        raise InputError(path, f"there is no profile “{name}”. Profiles: {known}. Also: {STAND_IN}, {RECORDED}.")
    return profile
