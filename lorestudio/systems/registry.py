"""The retrieval systems that a chat can be replayed with: what they are called, their settings, and running them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Final

from lorestudio.domain.lifecycle import CancelToken, Progress
from lorestudio.exchange.problems import InputError
from lorestudio.llm.vectors import KnownVectors, embedder_named
from lorestudio.settings.contextwindow import ContextWindowSettings
from lorestudio.settings.declaration import Section
from lorestudio.settings.facts import FactsSettings
from lorestudio.settings.files import parse_json, read_bytes
from lorestudio.settings.hybrid import HybridSettings
from lorestudio.settings.recap import RecapSettings
from lorestudio.settings.sections import assigned, read_section
from lorestudio.settings.worldinfo import WorldInfoSettings
from lorestudio.studio.project.project import Project
from lorestudio.studio.replay.system_simulator import SystemSimulator
from lorestudio.systems.base import System
from lorestudio.systems.contextwindow.counting import WordList, WordListCounter
from lorestudio.systems.contextwindow.system import ContextWindowSystem
from lorestudio.systems.contextwindow.words import VOCABULARY as CONTEXT_WINDOW_WORDS
from lorestudio.systems.deeplore.words import VOCABULARY as DEEPLORE_WORDS
from lorestudio.systems.facts.system import FactsSystem
from lorestudio.systems.facts.words import VOCABULARY as FACTS_WORDS
from lorestudio.systems.hybrid.system import HybridSystem
from lorestudio.systems.hybrid.words import VOCABULARY as HYBRID_WORDS
from lorestudio.systems.recap.system import RecapSystem
from lorestudio.systems.recap.words import VOCABULARY as RECAP_WORDS
from lorestudio.systems.worldinfo.books import world_info_system
from lorestudio.systems.worldinfo.settings_file import from_sillytavern, is_sillytavern
from lorestudio.systems.worldinfo.system import WorldInfoSystem
from lorestudio.systems.worldinfo.words import VOCABULARY as WORLD_INFO_WORDS
from lorestudio.trace.model import Trace
from lorestudio.trace.vocabulary import Vocabulary, plain

DEEPLORE: Final = "deeplore"
"""The main system. It has inputs of its own and is run by the simulator."""


@dataclass(frozen=True, slots=True)
class SystemKind:
    """A system beside DeepLore: its name on the command line, its title, what it does, and its settings.

    `make` makes one that is ready to decide; it raises InputError where a setting cannot be used.
    """

    name: str
    title: str
    summary: str
    settings: type[Section]
    make: Callable[[Section, Project], System] = field(repr=False)

    def read(self, path: Path | None = None, assignments: Sequence[str] = ()) -> Section:
        """Settings from a file, its defaults without one, changed by `NAME=VALUE`. Raises SettingsError."""
        return assigned(assignments, self.settings, self.settings() if path is None else self.read_file(path))

    def read_file(self, path: Path) -> Section:
        """Settings from a file of their keys; those of World Info also from SillyTavern's settings.json.

        Raises SettingsError.
        """
        if self.settings is WorldInfoSettings:
            document = parse_json(read_bytes(path), path)
            if isinstance(document, Mapping) and is_sillytavern(document):
                return from_sillytavern(document, path)
        return read_section(path, self.settings)


def kind_of(name: str) -> SystemKind:
    """The system of that name, with its hyphens or without. Raises InputError where there is none."""
    kind = KINDS.get(name) or _BY_LETTERS.get(name.replace("-", ""))
    if kind is None:
        raise InputError("--system", f"there is no system “{name}”. There are: {', '.join((DEEPLORE, *KINDS))}.")
    return kind


async def replay_with(
    project: Project,
    system: System,
    on_progress: Callable[[Progress], None] | None = None,
    cancel: CancelToken | None = None,
) -> tuple[Trace, ...]:
    """The traces of all generations of the project's chat, in order.

    A swipe begins from the state that the reply's first generation began from; the chat goes on from the active one,
    which comes last. Raises Cancelled at the next generation after a request to stop.
    """
    return await SystemSimulator(project, system).replay(on_progress, cancel)


def _world_info(settings: Section, project: Project) -> System:
    if not isinstance(settings, WorldInfoSettings):
        raise TypeError(f"{type(settings).__name__} are no settings of World Info")
    return world_info_system(settings, project)


def _hybrid(settings: Section, _project: Project) -> System:
    if not isinstance(settings, HybridSettings):
        raise TypeError(f"{type(settings).__name__} are no settings of hybrid retrieval")
    embedder = embedder_named(settings.embedder)
    return HybridSystem(settings, KnownVectors(embedder) if embedder is not None else None)


def _context_window(settings: Section, _project: Project) -> System:
    if not isinstance(settings, ContextWindowSettings):
        raise TypeError(f"{type(settings).__name__} are no settings of the context window")
    return ContextWindowSystem(settings, _counter(settings))


def _recap(settings: Section, project: Project) -> System:
    if not isinstance(settings, RecapSettings):
        raise TypeError(f"{type(settings).__name__} are no settings of recap memory")
    return RecapSystem.of(project, settings)


def _facts(settings: Section, project: Project) -> System:
    if not isinstance(settings, FactsSettings):
        raise TypeError(f"{type(settings).__name__} are no settings of fact memory")
    return FactsSystem.of(project, settings)


def _counter(settings: ContextWindowSettings) -> WordListCounter | None:
    if not settings.word_list:
        return None
    try:
        words = WordList.read(Path(settings.word_list).expanduser())
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8 text"
        raise InputError("wordList", f"{settings.word_list} cannot be read ({reason}).") from None
    if not words.words:
        raise InputError("wordList", f"{settings.word_list} holds no words. Give a file with a word a line.")
    return WordListCounter(words, settings)


KINDS: Final[Mapping[str, SystemKind]] = MappingProxyType(
    {
        kind.name: kind
        for kind in (
            SystemKind(
                "context-window",
                "Context window",
                "Weighted entries whose key or alias the text mentions, under a budget that they share with constant "
                "notes and the conversation.",
                ContextWindowSettings,
                _context_window,
            ),
            SystemKind(
                "facts",
                "Fact memory",
                "Facts that were drawn out of the chat and stored: the ones most like your last message go in, and the "
                "pinned ones.",
                FactsSettings,
                _facts,
            ),
            SystemKind(
                "hybrid",
                "Hybrid retrieval",
                "Keys choose the candidates, vectors rank them by likeness to the end of the chat, and the first few "
                "go in.",
                HybridSettings,
                _hybrid,
            ),
            SystemKind(
                "recap",
                "Recap memory",
                "What the chat remembers of itself: the running recap goes in, made of recaps of scenes.",
                RecapSettings,
                _recap,
            ),
            SystemKind(
                "world-info",
                "World Info",
                "SillyTavern's own scan: keys, recursion, groups, probability and timed effects, over the vault or a "
                "lorebook of SillyTavern's.",
                WorldInfoSettings,
                _world_info,
            ),
        )
    }
)
"""The systems beside DeepLore by their names."""

COMPARED_AT_FIRST: Final = (DEEPLORE, "hybrid", "world-info")
"""What is compared until somebody chooses otherwise: three that choose notes of the vault, each in another way."""

_BY_LETTERS: Final = MappingProxyType({name.replace("-", ""): kind for name, kind in KINDS.items()})

WORDS: Final[Mapping[str, Vocabulary[Trace]]] = MappingProxyType(
    {
        DEEPLORE: DEEPLORE_WORDS,
        "context-window": CONTEXT_WINDOW_WORDS,
        "facts": FACTS_WORDS,
        "hybrid": HYBRID_WORDS,
        "recap": RECAP_WORDS,
        "world-info": WORLD_INFO_WORDS,
    }
)
"""The words of every system by its name."""


def words_of(name: str) -> Vocabulary[Trace]:
    """The words in which the traces of a system are told; plain ones where nobody knows it."""
    return WORDS.get(name) or plain(name)


def remarks_of(system: System) -> tuple[str, ...]:
    """What a person should know of what the system was made with, such as a lorebook's parts that have no effect."""
    return system.remarks if isinstance(system, WorldInfoSystem) else ()
