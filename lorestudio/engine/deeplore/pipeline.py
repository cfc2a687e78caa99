"""The stages of a generation in order (spec: deeplore-engine 4, 5, 10)."""

from __future__ import annotations

from lorestudio.engine.deeplore.stages.active_character import ActiveCharacterStage
from lorestudio.engine.deeplore.stages.bm25 import BM25Stage
from lorestudio.engine.deeplore.stages.bookkeeping import BookkeepingStage
from lorestudio.engine.deeplore.stages.bootstrap import BootstrapStage
from lorestudio.engine.deeplore.stages.budget import BudgetStage
from lorestudio.engine.deeplore.stages.cascade_links import CascadeLinksStage
from lorestudio.engine.deeplore.stages.constants import ConstantsStage
from lorestudio.engine.deeplore.stages.contextual_gating import FinalGatingStage, GatingStage
from lorestudio.engine.deeplore.stages.duplicate_stripping import DuplicateStrippingStage
from lorestudio.engine.deeplore.stages.folder_filter import FolderFilterStage
from lorestudio.engine.deeplore.stages.keywords import KeywordsStage
from lorestudio.engine.deeplore.stages.match_order import MatchOrderStage
from lorestudio.engine.deeplore.stages.notes import NotesStage
from lorestudio.engine.deeplore.stages.pins_and_blocks import PinsAndBlocksStage
from lorestudio.engine.deeplore.stages.placement import PlacementStage
from lorestudio.engine.deeplore.stages.priority_order import PriorityOrderStage
from lorestudio.engine.deeplore.stages.recursion import RecursionStage
from lorestudio.engine.deeplore.stages.reinjection_cooldown import ReinjectionCooldownStage
from lorestudio.engine.deeplore.stages.requires_excludes import RequiresExcludesStage
from lorestudio.engine.deeplore.stages.snapshot import SnapshotStage
from lorestudio.engine.stage import Stage
from lorestudio.settings.deeplore import DeepLoreSettings


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


def selection(settings: DeepLoreSettings) -> tuple[Stage, ...]:
    """What decides between the matches; keywords-only orders and gates them."""
    del settings
    return (PriorityOrderStage(), GatingStage("contextual gating (selection)"), FolderFilterStage("folder filter"))


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


def stages(settings: DeepLoreSettings) -> tuple[Stage, ...]:
    """All stages of a generation up to the bookkeeping, which runs however the generation ends."""
    return (SnapshotStage(), *matching(), *selection(settings), *finishing())


def bookkeeping() -> Stage:
    """The stage that always runs last."""
    return BookkeepingStage()
