"""The retrieval systems there are: a package and a line here for each, or an installed package with an entry point."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from lorestudio.exchange.problems import InputError
from lorestudio.settings.declaration import Section
from lorestudio.systems.base import Scene, System, SystemKind
from lorestudio.systems.contextwindow import system as contextwindow
from lorestudio.systems.deeplore import system as deeplore
from lorestudio.systems.deeplore.scenario import RecordedFormat
from lorestudio.systems.facts import system as facts
from lorestudio.systems.hybrid import system as hybrid
from lorestudio.systems.recap import system as recap
from lorestudio.systems.scenarios import ScenarioFormat
from lorestudio.systems.worldinfo import books as worldinfo
from lorestudio.trace.model import Trace
from lorestudio.trace.vocabulary import Vocabulary, plain

MAIN: Final = deeplore.KIND
"""The system that a project is opened with: its settings are those of the project itself."""

KINDS: Final[Mapping[str, SystemKind]] = MappingProxyType(
    {kind.name: kind for kind in (MAIN, contextwindow.KIND, facts.KIND, hybrid.KIND, recap.KIND, worldinfo.KIND)}
)
"""The systems by their names."""

COMPARED_AT_FIRST: Final = (MAIN.name, hybrid.KIND.name, worldinfo.KIND.name)
"""What is compared until somebody chooses otherwise: three that choose notes of the vault, each in another way."""


def kind_of(name: str) -> SystemKind:
    """The system of that name, with its hyphens or without. Raises InputError where there is none."""
    plain = name.replace("-", "")
    kind = KINDS.get(name) or next((kind for kind in KINDS.values() if kind.name.replace("-", "") == plain), None)
    if kind is None:
        raise InputError("--system", f"there is no system “{name}”. There are: {', '.join(KINDS)}.")
    return kind


def system_of(scene: Scene, kind: SystemKind = MAIN, settings: Section | None = None) -> System:
    """A system for a scene: with these settings, with its defaults, or the main one with the scene's own.

    Raises InputError where a setting cannot be used.
    """
    if settings is None:
        settings = scene.reading if kind is MAIN else kind.settings()
    return kind.make(settings, scene)


def words_of(name: str) -> Vocabulary[Trace]:
    """The words in which the traces of a system are told; plain ones where nobody knows it."""
    return KINDS[name].words if name in KINDS else plain(name)


_FORMATS: Final[Mapping[str, ScenarioFormat]] = MappingProxyType({MAIN.name: RecordedFormat()})


def scenario_format(kind: SystemKind) -> ScenarioFormat:
    """How generations of a system stand in scenario files."""
    return _FORMATS.get(kind.name, _ANY_FORMAT)


_ANY_FORMAT: Final = ScenarioFormat()
