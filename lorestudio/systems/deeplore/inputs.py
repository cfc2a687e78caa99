"""What a generation of DeepLore is made of: the moment, and what is DeepLore's own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from msgspec import Struct, field

from lorestudio.domain.entry import Entry
from lorestudio.domain.state import EngineState
from lorestudio.llm.messages import AnswerSource, NoAnswers
from lorestudio.settings.behaviour import FIXED, Behaviour
from lorestudio.settings.deeplore import DeepLoreSettings
from lorestudio.settings.rules import RuleSet
from lorestudio.systems.base import Moment
from lorestudio.systems.deeplore.matching.index import DeepLoreIndex
from lorestudio.systems.deeplore.matching.keys import KeyMatcher


class RandomSource(Protocol):
    """Numbers in [0, 1); `state` is where the stream stands."""

    state: int

    def next(self) -> float:
        """The next number."""


class Inputs(Struct, frozen=True):
    """The immutable inputs of one generation.

    `index` is the moment's vault prepared, `state` what the generation before left. `answers` is asked where a model
    has to decide; `model` is its model where the settings name none. `behaviour` says which quirks of DeepLore are
    mended. `random` makes the stream of random numbers from the state it stood at; where it is known how the lots of
    entries fell, `lots` says it.
    """

    moment: Moment
    index: DeepLoreIndex
    settings: DeepLoreSettings
    state: EngineState = field(default_factory=EngineState)
    answers: AnswerSource = field(default_factory=NoAnswers)
    model: str = ""
    behaviour: Behaviour = field(default_factory=Behaviour)
    random: Callable[[int], RandomSource] | None = None
    lots: Callable[[Entry], float] | None = None

    def is_fixed(self, switch: str) -> bool:
        """Whether the behaviour switch of this name is set to fixed."""
        choice: str = getattr(self.behaviour, switch)
        return choice == FIXED

    @property
    def rules(self) -> RuleSet:
        """Whose rules decide, rule by rule."""
        return self.settings.rule_set

    @property
    def reversed(self) -> bool:
        """Whether a higher priority is the more important one (rules: deeplore-newer 1.3)."""
        return self.rules.reversed_priority and self.settings.priority_reversed

    @property
    def matcher(self) -> KeyMatcher:
        """The matcher of all keys, by the settings' choice of case and whole words."""
        settings = self.settings
        return self.index.matcher(case_sensitive=settings.case_sensitive, whole_words=settings.match_whole_words)

    def depth_of(self, entry: Entry) -> float:
        """How many messages are searched for the entry's keys: its own scan depth, or that of the settings."""
        return self.settings.scan_depth if entry.scan_depth is None else entry.scan_depth

    @property
    def character(self) -> str:
        """Whose entry is the “active character”: the one that a person chose, else the chat's, "" for nobody."""
        chosen = self.moment.controls.character
        return self.moment.character if chosen is None else chosen
