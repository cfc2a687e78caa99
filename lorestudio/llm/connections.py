"""Who answers: the profiles that a person has, how each is talked to, and a provider or a person as a source."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeVar

from msgspec import Struct, field

from lorestudio.domain.records import replace
from lorestudio.domain.resources import OWN_FOLDERS
from lorestudio.llm.errors import AnsweringError, ErrorKind, LlmError
from lorestudio.llm.keys import Keys
from lorestudio.llm.messages import ChatReply, ChatRequest
from lorestudio.llm.profiles import KeySource, Profile, ProfileFile, load_profiles, save_profiles

if TYPE_CHECKING:
    from lorestudio.llm.http.client import HttpChatClient


def _over_http(profile: Profile, keys: Keys) -> HttpChatClient:
    from lorestudio.llm.http.client import client_for  # noqa: PLC0415  # most commands ask nobody

    return client_for(profile, keys)


def default_profiles_path() -> Path:
    """The person's file of profiles; it holds no keys."""
    return OWN_FOLDERS.user_config_path / "profiles.json"


class Connections(Struct, frozen=True):
    """The profiles in a file, their keys, and how a profile is talked to. Everything but `client` waits."""

    path: Path
    keys: Keys = field(default_factory=Keys)
    make_client: Callable[[Profile, Keys], HttpChatClient] = _over_http

    def load(self) -> ProfileFile:
        """The profiles. Raises SettingsError."""
        return load_profiles(self.path)

    def save(self, file: ProfileFile) -> ProfileFile:
        """Write the profiles, and return them; what could not be read stays. Raises ProfileError or SettingsError."""
        save_profiles(self.path, file.profiles, file.unreadable)
        return file

    def put(self, profile: Profile, before: str) -> ProfileFile:
        """Write a profile in place of the one called `before`, or as the last; the profiles then. Raises as `save`."""
        file = self.load()
        profiles = list(file.profiles)
        place = next((place for place, each in enumerate(profiles) if each.name == before), len(profiles))
        profiles[place : place + 1] = [profile]
        return self.save(replace(file, profiles=tuple(profiles)))

    def remove(self, profile: Profile) -> tuple[ProfileFile, LlmError | None]:
        """Take a profile out of the file and its key out of the keyring: the profiles then, and why the key is still
        there. Raises as `save`.
        """
        file = self.load()
        written = self.save(replace(file, profiles=tuple(each for each in file.profiles if each.name != profile.name)))
        try:
            if profile.key_source is KeySource.KEYRING:
                self.keys.delete(profile.name)
        except LlmError as error:
            return written, error
        return written, None

    def client(self, profile: Profile) -> HttpChatClient:
        """The client of a profile."""
        return self.make_client(profile, self.keys)

    def find(self, name: str) -> Profile:
        """The profile called `name`. Raises AnsweringError where there is none."""
        profile = self.load().find(name)
        if profile is None:
            raise AnsweringError(
                f"There is no provider profile called “{name}” any more. Choose another one under Answers, or for "
                "replies at Reply."
            )
        return profile


MOST_FAILURES: Final = 3

Found = TypeVar("Found")


class Patience:
    """Has a provider asked until it failed three times in a row; each further question fails at once."""

    def __init__(self) -> None:
        self._failures = 0
        self._last: LlmError | None = None

    async def ask(self, question: Callable[[], Awaitable[Found]]) -> Found:
        """What the question brings. Raises LlmError."""
        if self._last is not None and self._failures >= MOST_FAILURES:
            raise self._last.given_up()
        try:
            found = await question()
        except LlmError as error:
            if error.kind is not ErrorKind.ABORTED:
                self._failures, self._last = self._failures + 1, error
            raise
        self._failures = 0
        return found


class LiveAnswers(Struct, frozen=True):
    """A provider is asked, now and at a cost.

    With `on_text` the reply is streamed, and `on_text` gets each piece as it arrives, on the event loop. Without
    `patience` it is asked however often it failed.
    """

    client: HttpChatClient
    on_text: Callable[[str], None] | None = None
    patience: Patience | None = None
    name: str = "live"

    @property
    def label(self) -> str:
        """The client's own label."""
        return self.client.label

    async def answer(self, request: ChatRequest) -> ChatReply:
        """The provider's reply. Raises LlmError; cancelling closes the connection."""
        if self.patience is None:
            return await self._asked(request)
        return await self.patience.ask(lambda: self._asked(request))

    async def _asked(self, request: ChatRequest) -> ChatReply:
        if self.on_text is None:
            return await self.client.complete(request)
        async with self.client.stream(request) as stream:
            async for piece in stream:
                self.on_text(piece)
                await asyncio.sleep(0)  # a server may send all at once, and the loop is the window's
            return stream.reply


class TypedAnswers(Struct, frozen=True):
    """A person types the answer. `ask` shows the request and waits; None means that the person declined."""

    ask: Callable[[ChatRequest], Awaitable[str | None]]
    name: str = "typed"
    label: str = "typed by you"

    async def answer(self, request: ChatRequest) -> ChatReply:
        """What the person typed. Raises LlmError of kind `aborted` when nothing was."""
        text = await self.ask(request)
        if text is None:
            raise LlmError(ErrorKind.ABORTED, "nobody typed an answer")
        return ChatReply(text, source=self.label)
