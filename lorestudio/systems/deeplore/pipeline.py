"""The stages of a generation in order (rules: deeplore 4, 5, 10)."""

from __future__ import annotations

from typing import Final, TypeAlias

from lorestudio.settings.deeplore import DeepLoreSettings
from lorestudio.systems.deeplore.inputs import Inputs
from lorestudio.systems.deeplore.stages import candidates, gates
from lorestudio.systems.deeplore.stages.ai_selection import ai_selection_stage, category_prefilter_stage, manifest_stage
from lorestudio.systems.deeplore.stages.bm25 import bm25_stage
from lorestudio.systems.deeplore.stages.bookkeeping import bookkeeping_stage
from lorestudio.systems.deeplore.stages.budget import budget_stage
from lorestudio.systems.deeplore.stages.order import match_order_stage, priority_order_stage
from lorestudio.systems.deeplore.stages.placement import notes_stage, placement_stage
from lorestudio.systems.deeplore.stages.recursion import recursion_stage
from lorestudio.systems.deeplore.stages.snapshot import snapshot_stage
from lorestudio.systems.deeplore.state import RunState
from lorestudio.systems.ledger import Stage as AnyStage

Stage: TypeAlias = AnyStage[RunState, Inputs]
"""A stage of DeepLore."""

ASKING: Final = frozenset({"wiki links", "category prefilter", "manifest", "AI selection"})
"""Stages that choose, word or put the question to a model."""

SORTING: Final = frozenset({"match order"})
"""Matching stages that only put the candidates in order."""


OPENING: Final[Stage] = snapshot_stage
"""The stage that always runs first."""

MATCHING: Final[tuple[Stage, ...]] = (
    candidates.constants_stage,
    candidates.bootstrap_stage,
    candidates.keywords_stage,
    candidates.active_character_stage,
    candidates.cascade_links_stage,
    recursion_stage,
    bm25_stage,
    match_order_stage,
)
"""The keyword stage of DeepLore: from nothing to the ordered list of matched entries."""

_AI_SELECTION: Final[tuple[Stage, ...]] = (
    category_prefilter_stage,
    gates.pre_gating_stage,
    gates.pre_folder_filter_stage,
    manifest_stage,
    ai_selection_stage,
)
"""From the candidates to the model's choice."""

TWO_STAGE: Final = (*MATCHING, candidates.wiki_links_stage, *_AI_SELECTION)
"""Two-stage mode: the model chooses among the matches and what they link to."""

AI_ONLY: Final = (candidates.whole_vault_stage, *_AI_SELECTION)
"""AI-only mode: the model chooses among all entries."""

KEYWORDS_ONLY: Final = (*MATCHING, gates.selection_gating_stage, gates.folder_filter_stage, priority_order_stage)
"""Keywords-only mode: the matches, gated and ordered."""

LEAVING: Final[tuple[Stage, ...]] = (gates.folder_filter_stage, priority_order_stage)
"""What every selection by AI goes through at its end."""

NOTES: Final[Stage] = notes_stage
"""The notebook and the notepad, which a fixed switch lets in without lore."""

FINISHING: Final[tuple[Stage, ...]] = (
    gates.pins_and_blocks_stage,
    gates.final_gating_stage,
    gates.reinjection_cooldown_stage,
    gates.RequiresExcludesStage(),
    gates.duplicate_stripping_stage,
    budget_stage,
    placement_stage,
    NOTES,
)
"""From the selection to the prompt."""

BOOKKEEPING: Final[Stage] = bookkeeping_stage
"""The stage that always runs last."""


def selecting(settings: DeepLoreSettings) -> tuple[Stage, ...]:
    """The selection of the mode that the settings choose; an unknown mode is keywords-only."""
    if not settings.uses_ai:
        return KEYWORDS_ONLY
    return TWO_STAGE if settings.ai_search_mode == "two-stage" else AI_ONLY


def stage_names(settings: DeepLoreSettings) -> frozenset[str]:
    """Names of all stages that a run with these settings may come to."""
    by_ai = (*MATCHING, *LEAVING) if settings.uses_ai else ()
    return frozenset(stage.name for stage in (OPENING, *selecting(settings), *by_ai, *FINISHING, BOOKKEEPING))
