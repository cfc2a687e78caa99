"""The stages of a generation in order (rules: deeplore 4, 5, 10)."""

from __future__ import annotations

from typing import Final, TypeAlias

from lorestudio.settings.deeplore import DeepLoreSettings
from lorestudio.systems.deeplore.inputs import Inputs
from lorestudio.systems.deeplore.stages.active_character import ActiveCharacterStage
from lorestudio.systems.deeplore.stages.ai_selection import AiSelectionStage
from lorestudio.systems.deeplore.stages.bm25 import BM25Stage
from lorestudio.systems.deeplore.stages.bookkeeping import BookkeepingStage
from lorestudio.systems.deeplore.stages.bootstrap import BootstrapStage
from lorestudio.systems.deeplore.stages.budget import BudgetStage
from lorestudio.systems.deeplore.stages.cascade_links import CascadeLinksStage
from lorestudio.systems.deeplore.stages.category_prefilter import CategoryPrefilterStage
from lorestudio.systems.deeplore.stages.constants import ConstantsStage
from lorestudio.systems.deeplore.stages.contextual_gating import FinalGatingStage, GatingStage
from lorestudio.systems.deeplore.stages.duplicate_stripping import DuplicateStrippingStage
from lorestudio.systems.deeplore.stages.folder_filter import FolderFilterStage
from lorestudio.systems.deeplore.stages.keywords import KeywordsStage
from lorestudio.systems.deeplore.stages.manifest import ManifestStage
from lorestudio.systems.deeplore.stages.match_order import MatchOrderStage
from lorestudio.systems.deeplore.stages.notes import NotesStage
from lorestudio.systems.deeplore.stages.pins_and_blocks import PinsAndBlocksStage
from lorestudio.systems.deeplore.stages.placement import PlacementStage
from lorestudio.systems.deeplore.stages.priority_order import PriorityOrderStage
from lorestudio.systems.deeplore.stages.recursion import RecursionStage
from lorestudio.systems.deeplore.stages.reinjection_cooldown import ReinjectionCooldownStage
from lorestudio.systems.deeplore.stages.requires_excludes import RequiresExcludesStage
from lorestudio.systems.deeplore.stages.snapshot import SnapshotStage
from lorestudio.systems.deeplore.stages.whole_vault import WholeVaultStage
from lorestudio.systems.deeplore.stages.wiki_links import WikiLinksStage
from lorestudio.systems.deeplore.state import RunState
from lorestudio.systems.ledger import Stage as AnyStage

Stage: TypeAlias = AnyStage[RunState, Inputs]
"""A stage of DeepLore."""

ASKING: Final = frozenset({"wiki links", "category prefilter", "manifest", "AI selection"})
"""Stages that choose, word or put the question to a model."""

SORTING: Final = frozenset({"match order"})
"""Matching stages that only put the candidates in order."""


def matching() -> tuple[Stage, ...]:
    """The keyword stage of DeepLore: from nothing to the ordered list of matched entries."""
    return (
        ConstantsStage(),
        BootstrapStage(),
        KeywordsStage(),
        ActiveCharacterStage(),
        CascadeLinksStage(),
        RecursionStage(),
        BM25Stage(),
        MatchOrderStage(),
    )


def two_stage() -> tuple[Stage, ...]:
    """Two-stage mode: the model chooses among the matches and what they link to."""
    return (*matching(), WikiLinksStage(), *ai_selection())


def ai_only() -> tuple[Stage, ...]:
    """AI-only mode: the model chooses among all entries."""
    return (WholeVaultStage(), *ai_selection())


def ai_selection() -> tuple[Stage, ...]:
    """From the candidates to the model's choice."""
    return (
        CategoryPrefilterStage(),
        GatingStage("pre-gating"),
        FolderFilterStage("pre-folder filter"),
        ManifestStage(),
        AiSelectionStage(),
    )


def keywords_only() -> tuple[Stage, ...]:
    """Keywords-only mode: the matches, ordered and gated."""
    return (
        *matching(),
        PriorityOrderStage(),
        GatingStage("contextual gating (selection)"),
        FolderFilterStage("folder filter"),
    )


def leaving() -> tuple[Stage, ...]:
    """What every selection by AI goes through at its end."""
    return (FolderFilterStage("folder filter"), PriorityOrderStage())


def finishing() -> tuple[Stage, ...]:
    """From the selection to the prompt."""
    return (
        PinsAndBlocksStage(),
        FinalGatingStage("contextual gating"),
        ReinjectionCooldownStage(),
        RequiresExcludesStage(),
        DuplicateStrippingStage(),
        BudgetStage(),
        PlacementStage(),
        NotesStage(),
    )


def selecting(settings: DeepLoreSettings) -> tuple[Stage, ...]:
    """The selection of the mode that the settings choose; an unknown mode is keywords-only."""
    if settings.ai_search_enabled and settings.ai_search_mode == "two-stage":
        return two_stage()
    if settings.ai_search_enabled and settings.ai_search_mode == "ai-only":
        return ai_only()
    return keywords_only()


def uses_ai(settings: DeepLoreSettings) -> bool:
    """Whether a model takes part in the selection."""
    return settings.ai_search_enabled and settings.ai_search_mode in {"two-stage", "ai-only"}


def stage_names(settings: DeepLoreSettings) -> frozenset[str]:
    """Names of all stages that a run with these settings may come to."""
    stages = [opening(), *selecting(settings), *finishing(), bookkeeping()]
    if uses_ai(settings):
        stages += [*matching(), *leaving()]
    return frozenset(stage.name for stage in stages)


def notes() -> Stage:
    """The notebook and the notepad, where they go in without lore."""
    return NotesStage()


def opening() -> Stage:
    """The stage that always runs first."""
    return SnapshotStage()


def bookkeeping() -> Stage:
    """The stage that always runs last."""
    return BookkeepingStage()
