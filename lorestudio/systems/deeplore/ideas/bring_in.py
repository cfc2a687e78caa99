"""Which single changes could bring an entry in, by the stage that stopped it and the reason that it gave.

Nothing is decided here: the changes are only such as can concern that stage, and whether one of them works is found by
running the engine with it (`studio.tryout.why_not`). Where an amount is needed, all amounts are offered, least first.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from lorestudio.systems.changes import Option
from lorestudio.systems.deeplore.ideas import gates as gate_ideas
from lorestudio.systems.deeplore.ideas import matching as match_ideas
from lorestudio.systems.deeplore.ideas.situation import DeepLoreSituation, Maker
from lorestudio.trace.journey import FateState


def options(situation: DeepLoreSituation) -> tuple[Option, ...]:
    """What to try, likely ones first; none for an entry that went in."""
    end = situation.fate
    if end.state in {FateState.INJECTED, FateState.TRUNCATED}:
        return ()
    makers = _BY_REASON.get(end.reason, _NOT_MATCHED)
    found = [option for maker in makers for option in maker(situation) if len(option.steps)]
    return tuple(option for option in found if situation.editable or option.steps[0].note is None)


_NOT_MATCHED: Final[tuple[Maker, ...]] = (
    match_ideas.add_key,
    match_ideas.deeper,
    match_ideas.looser,
    match_ideas.new_chat,
    match_ideas.pin,
    match_ideas.constant,
    gate_ideas.modes,
)
_GATED: Final[tuple[Maker, ...]] = (match_ideas.pin, match_ideas.constant)
_CUT: Final[tuple[Maker, ...]] = (gate_ideas.earlier, gate_ideas.budget, match_ideas.pin)
_NOT_CHOSEN: Final[tuple[Maker, ...]] = (gate_ideas.model, match_ideas.pin, match_ideas.constant, gate_ideas.modes)

_BY_REASON: Final[Mapping[str, tuple[Maker, ...]]] = {
    "refine_blocked": (
        match_ideas.add_refine_key,
        match_ideas.drop_refine_keys,
        match_ideas.deeper,
        match_ideas.looser,
        match_ideas.pin,
        match_ideas.constant,
    ),
    "warmup_short": (match_ideas.warm, match_ideas.deeper, match_ideas.pin, match_ideas.constant),
    "probability_zero": (match_ideas.certain, match_ideas.pin, match_ideas.constant),
    "probability_lost": (match_ideas.certain, match_ideas.pin, match_ideas.constant),
    "cooling_down": (match_ideas.rested, match_ideas.pin, match_ideas.constant),
    "guide_hidden": (match_ideas.no_guide,),
    "gated_field": (gate_ideas.gates, *_GATED),
    "outside_folders": (gate_ideas.folders, *_GATED),
    "blocked": (gate_ideas.unblock,),
    "replaced_by_pin": (gate_ideas.unpin_other,),
    "reinjection_pause": (gate_ideas.shorter_pause, *_GATED),
    "missing_requirement": (gate_ideas.requires, match_ideas.pin_missing, *_GATED),
    "excluded_by": (gate_ideas.excludes, gate_ideas.earlier, *_GATED),
    "already_in_context": (gate_ideas.duplicates, *_GATED),
    "over_entry_cap": _CUT,
    "over_budget": _CUT,
    "behind_cut": _CUT,
    "ai_not_selected": _NOT_CHOSEN,
    "below_confidence": _NOT_CHOSEN,
    "not_offered": _NOT_CHOSEN,
    "nothing_offered": _NOT_CHOSEN,
    "prefilter_dropped": _NOT_CHOSEN,
    "fallback_dropped": _NOT_CHOSEN,
}
