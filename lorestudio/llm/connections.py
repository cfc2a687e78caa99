"""The profiles that a person has, their keys, and how a profile is talked to."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import platformdirs

from lorestudio.llm.errors import AnsweringError
from lorestudio.llm.keys import Keys
from lorestudio.llm.profiles import Profile, ProfileFile, load_profiles, save_profiles

if TYPE_CHECKING:
    from lorestudio.llm.http_client import HttpChatClient


def _over_http(profile: Profile, keys: Keys) -> HttpChatClient:
    from lorestudio.llm.http_client import client_for  # noqa: PLC0415  # most commands ask nobody

    return client_for(profile, keys)


def default_profiles_path() -> Path:
    """The person's file of profiles; it holds no keys."""
    return platformdirs.user_config_path("lorestudio", appauthor=False) / "profiles.json"


@dataclass(frozen=True, slots=True)
class Connections:
    """The profiles in a file, their keys, and how a profile is talked to. Everything but `client` waits."""

    path: Path
    keys: Keys = field(default_factory=Keys)
    make_client: Callable[[Profile, Keys], HttpChatClient] = _over_http

    def load(self) -> ProfileFile:
        """The profiles. Raises SettingsError."""
        return load_profiles(self.path)

    def save(self, file: ProfileFile) -> None:
        """Write the profiles; what could not be read stays. Raises ProfileError or SettingsError."""
        save_profiles(self.path, file.profiles, file.unreadable)

    def client(self, profile: Profile) -> HttpChatClient:
        """The client of a profile."""
        return self.make_client(profile, self.keys)

    def find(self, name: str) -> Profile:
        """The profile called `name`. Raises AnsweringError where there is none."""
        profile = self.load().find(name)
        if profile is None:
            message = f"There is no provider profile called “{name}” any more. Choose another one under Answers."
            raise AnsweringError(message)
        return profile
