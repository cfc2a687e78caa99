"""What memories are looked at, and what a search among them found."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from lorestudio.domain.chat import Chat
from lorestudio.exchange.problems import InputError
from lorestudio.settings.facts import FactsSettings
from lorestudio.settings.hybrid import NO_EMBEDDER, STAND_IN
from lorestudio.studio.answering import AnswerSource, Connections
from lorestudio.studio.embedding import embedder_named
from lorestudio.studio.facts.session import FactsSession, store_path
from lorestudio.ui.words import tr

SYSTEM: Final = "facts"
MOST_FOUND: Final = 200
"""A search lists so many memories at most; what is less similar than that is like nothing in particular."""


@dataclass(frozen=True, slots=True)
class Place:
    """What memories are looked at: the settings, and the chat that is open."""

    settings: FactsSettings
    connections: Connections
    chat: Chat | None = None
    path: Path | None = None

    @property
    def embedder(self) -> str:
        """The profile that makes the vectors, "" where that is the stand-in."""
        name = self.settings.embedder
        return "" if name in {"", NO_EMBEDDER, STAND_IN} else name

    def open(self, answers: AnswerSource | None = None, model: str = "", *, writes: bool = False) -> FactsSession:
        """The file of memories, in a worker; where there is none yet, only one that `writes` makes it.

        Raises InputError and SettingsError.
        """
        embedder = embedder_named(self.settings.embedder, self.connections)
        if embedder is None:
            text = tr("Memories are kept with their vectors. Choose stand-in or a provider profile that makes them.")
            raise InputError(tr("Settings of fact memory"), text)
        missing = not writes and not store_path(self.settings).exists()
        return FactsSession(self.settings, None, answers, model, embedder, in_memory=missing)


@dataclass(frozen=True, slots=True)
class Hits:
    """What a search found: ids with their similarity, most similar first."""

    text: str
    scores: dict[str, float]
