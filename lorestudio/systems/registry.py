"""The retrieval systems there are: a package and a line here for each, or an installed package with an entry point.

A system is loaded when somebody first asks for it: a command that runs one does not wait for the others, nor does a
window that only lists them.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from types import MappingProxyType, ModuleType
from typing import Final

from lorestudio.exchange.problems import InputError
from lorestudio.settings.declaration import Section, declared
from lorestudio.systems.base import Scene, System, SystemKind
from lorestudio.systems.deeplore import system as deeplore
from lorestudio.systems.deeplore.scenario import RecordedFormat
from lorestudio.systems.scenarios import ScenarioFormat
from lorestudio.trace.model import Trace
from lorestudio.trace.vocabulary import Vocabulary, plain

MAIN: Final = deeplore.KIND
"""The system that a project is opened with: its settings are those of the project itself."""

BUILT_IN: Final[Mapping[str, str]] = MappingProxyType(
    {
        MAIN.name: "lorestudio.systems.deeplore.system",
        "context-window": "lorestudio.systems.contextwindow.system",
        "facts": "lorestudio.systems.facts.system",
        "hybrid": "lorestudio.systems.hybrid.system",
        "recap": "lorestudio.systems.recap.system",
        "world-info": "lorestudio.systems.worldinfo.books",
    }
)
"""The systems that come with the program, and the module in which each has its `KIND`; its package says its `TITLE` and
its `SUMMARY`."""

ENTRY_POINTS: Final = "lorestudio.systems"
"""The group of entry points by which an installed package registers a `SystemKind`, or a function that makes one."""

_NAME: Final = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
"""A name stands in names of files, on the command line and in what is kept of a chat."""


class Registered(Mapping[str, SystemKind]):
    """The systems by their names, the built-in ones first; installed ones are looked for when somebody first asks."""

    def __init__(self) -> None:
        self._known: tuple[Mapping[str, SystemKind | None], tuple[str, ...]] | None = None

    def __getitem__(self, name: str) -> SystemKind:
        return self._look()[0][name] or _built_in(name)

    def __iter__(self) -> Iterator[str]:
        return iter(self._look()[0])

    def __len__(self) -> int:
        return len(self._look()[0])

    def title(self, name: str) -> str:
        """What a person reads of the system of that name, which need not be loaded for it. Raises KeyError."""
        kind = self._look()[0][name]
        title: str = _package_of(name).TITLE if kind is None else kind.title
        return title

    def summary(self, name: str) -> str:
        """What the system of that name does, which need not be loaded for it. Raises KeyError."""
        kind = self._look()[0][name]
        summary: str = _package_of(name).SUMMARY if kind is None else kind.summary
        return summary

    @property
    def loaded(self) -> bool:
        """Whether all of them are there, so that nobody waits who asks for one."""
        known = self._look()[0].items()
        return all(kind is not None or hasattr(sys.modules.get(BUILT_IN[name]), "KIND") for name, kind in known)

    @property
    def problems(self) -> tuple[str, ...]:
        """Sentences about installed systems that cannot be used; all others are there."""
        return self._look()[1]

    def _look(self) -> tuple[Mapping[str, SystemKind | None], tuple[str, ...]]:
        if self._known is None:
            found: dict[str, SystemKind | None] = dict.fromkeys(BUILT_IN)
            problems: list[str] = []
            for point in sorted(entry_points(group=ENTRY_POINTS), key=lambda each: (_distribution(each), each.name)):
                try:
                    kind = _installed(point, found)
                    found[kind.name] = kind
                except InputError as error:
                    problems.append(f"An installed retrieval system cannot be used: {error}")
            self._known = (found, tuple(problems))
        return self._known


@cache  # asked thousands of times while a window opens
def _built_in(name: str) -> SystemKind:
    kind: SystemKind = import_module(BUILT_IN[name]).KIND
    return kind


def _package_of(name: str) -> ModuleType:
    return import_module(BUILT_IN[name].rpartition(".")[0])


def _distribution(point: EntryPoint) -> str:
    return point.dist.name if point.dist is not None else ""


def _installed(point: EntryPoint, known: Mapping[str, SystemKind | None]) -> SystemKind:
    """The system of an entry point. Raises InputError where it cannot be used, whatever its package does wrong."""
    where = f"“{point.name}” of the package {_distribution(point) or point.module}"
    try:
        made = point.load()
        kind = made() if callable(made) else made
    except Exception as error:
        raise InputError(where, f"{type(error).__name__}: {error}") from error
    if not isinstance(kind, SystemKind):
        raise InputError(where, f"{point.value} is no SystemKind, and makes none.")
    if not _NAME.fullmatch(kind.name):
        raise InputError(where, f"the name “{kind.name}” has other characters than a-z, 0-9 and single hyphens.")
    other = _written_otherwise(kind.name, known)
    if other:
        kind_there = known[other]
        title = _package_of(other).TITLE if kind_there is None else kind_there.title
        raise InputError(where, f"there is a system “{other}” already ({title}).")
    try:
        declared(type(kind.settings()))
    except Exception as error:
        raise InputError(where, f"its settings are not declared as such: {type(error).__name__}: {error}") from error
    return kind


KINDS: Final = Registered()
"""All systems."""

COMPARED_AT_FIRST: Final = (MAIN.name, "hybrid", "world-info")
"""What is compared until somebody chooses otherwise, with the chat's own: three that choose notes, each in its way."""


def known_name(name: str, option: str = "--system") -> str:
    """The name of a system that is written with its hyphens or without. Raises InputError where there is none.

    `option` is the one that gave the name.
    """
    known = _written_otherwise(name, KINDS)
    if not known:
        told = (f"there is no system “{name}”. There are: {', '.join(KINDS)}.", *KINDS.problems)
        raise InputError(option, " ".join(told))
    return known


def kind_of(name: str, option: str = "--system") -> SystemKind:
    """The system of that name (see `known_name`). Raises InputError where there is none."""
    return KINDS[known_name(name, option)]


def _written_otherwise(name: str, known: Iterable[str]) -> str:
    """The one of these names that differs from `name` in hyphens at most, "" where none does."""
    plain = name.replace("-", "")
    return next((each for each in known if each.replace("-", "") == plain), "")


def system_of(scene: Scene, kind: SystemKind = MAIN, settings: Section | None = None) -> System:
    """A system for a scene: with these settings, with its defaults, or the main one with the scene's own.

    Raises InputError where a setting cannot be used.
    """
    if settings is None:
        settings = kind.settings_in(scene.reading)
    return kind.make(settings, scene)


def in_project(name: str) -> bool:
    """Whether the settings of the system of that name are those of the project."""
    return name in KINDS and KINDS[name].in_project


def words_of(name: str) -> Vocabulary[Trace]:
    """The words in which the traces of a system are told; plain ones where nobody knows it."""
    return KINDS[name].words if name in KINDS else plain(name)


_FORMATS: Final[Mapping[str, ScenarioFormat]] = MappingProxyType({MAIN.name: RecordedFormat()})


def scenario_format(kind: SystemKind) -> ScenarioFormat:
    """How generations of a system stand in scenario files."""
    return _FORMATS.get(kind.name, _ANY_FORMAT)


_ANY_FORMAT: Final = ScenarioFormat()
